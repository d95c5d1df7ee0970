/* Ladders: filters that grow, and the joining of them */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bloom.h"
#include "format.h"
#include "support.h"

static const enum sketch_layout layouts[] = { SKETCH_CLASSIC, SKETCH_BLOCKED };

/* A ladder that begins with a layer for n keys at p. */
static struct sketch_bloom *ladder_make(enum sketch_layout layout, uint64_t n, double p,
					uint32_t seed, uint64_t budget)
{
	struct sketch_request request = { .layout = layout, .n = n, .p = p };
	struct sketch_identity identity = IDENTITY;
	struct sketch_bloom *filter = NULL;
	struct sketch_params params;
	struct sketch_error error;

	identity.arrangement = SKETCH_LADDER;
	identity.seed = seed;
	assert_status(SKETCH_OK, sketch_plan(&request, &params, &error), &error);
	assert_status(SKETCH_OK, sketch_bloom_new(&filter, &identity, &params, 1, budget, &error),
		      &error);
	return filter;
}

/* The same key for the same number, under any of many names. */
static struct sketch_hash hash_number(uint64_t space, uint64_t number)
{
	uint64_t key[2] = { space, number };

	return sketch_murmur3_x64_128(key, sizeof key, 0);
}

static void insert(struct sketch_bloom *filter, const struct sketch_hash *hashes, size_t count,
		   uint64_t *found)
{
	struct sketch_error error;

	assert_status(SKETCH_OK, sketch_bloom_insert(filter, hashes, count, found, &error), &error);
}

static void insert_numbers(struct sketch_bloom *filter, uint64_t space, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		struct sketch_hash hash = hash_number(space, i);
		uint64_t found;

		insert(filter, &hash, 1, &found);
	}
}

static void assert_holds(struct sketch_bloom *filter, uint64_t space, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		assert_true(filter_has(filter, hash_number(space, i)));
}

/* --------------------------------------------------------------------- rungs */

static void rung__of_any_number__has_four_times_the_keys_at_half_the_rate(void **state)
{
	static const double rates[] = { 0.5, 0.01, 1e-6, 1e-12 };

	(void)state;
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		for (size_t r = 0; r < COUNT_OF(rates); r++) {
			double sum = 0, share = rates[r];

			for (size_t i = 0; i < 10; i++) {
				struct sketch_request request = { .layout = layouts[l] };
				struct sketch_params rung, plan;

				share /= 2;
				request.n = UINT64_C(65536) << 2 * i;
				request.p = share;
				assert_status(SKETCH_OK,
					      sketch_ladder_rung(layouts[l], rates[r], i, &rung,
								 NULL),
					      NULL);
				assert_status(SKETCH_OK, sketch_plan(&request, &plan, NULL), NULL);
				assert_true(rung.n == request.n && rung.p == share);
				assert_true(rung.m == plan.m && rung.k == plan.k &&
					    rung.g == plan.g && rung.layout == layouts[l]);
				sum += sketch_rate_bound(&rung, rung.n);
			}
			assert_true(sum <= rates[r]);
		}
	}
}

static void rung__beyond_all_numbers_of_keys__is_refused(void **state)
{
	static const size_t rungs[] = { 22, 24, 40, 64, 1000000 };
	struct sketch_params params = { .n = 77 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rungs); i++) {
		struct sketch_error error;
		enum sketch_status status =
			sketch_ladder_rung(SKETCH_CLASSIC, 0.01, rungs[i], &params, &error);

		assert_true(status == SKETCH_RANGE || status == SKETCH_UNREACHABLE);
		assert_error(status, &error);
		assert_int_equal(params.n, 77);
	}
}

static void grow__past_the_first_rungs__opens_those_of_the_contract(void **state)
{
	uint64_t count = 65536 * 5 + 20000;

	(void)state;
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		struct sketch_params rung;
		struct sketch_bloom *filter = NULL;
		struct sketch_identity identity = IDENTITY;

		identity.arrangement = SKETCH_LADDER;
		assert_status(SKETCH_OK, sketch_ladder_rung(layouts[l], 0.01, 0, &rung, NULL),
			      NULL);
		assert_status(SKETCH_OK,
			      sketch_bloom_new(&filter, &identity, &rung, 1, UINT64_MAX, NULL),
			      NULL);
		insert_numbers(filter, 1, 0, count);
		assert_int_equal(sketch_bloom_layers(filter), 3);
		for (size_t i = 0; i < 3; i++) {
			const struct sketch_params *params = sketch_bloom_params(filter, i);

			sketch_ladder_rung(layouts[l], 0.01, i, &rung, NULL);
			assert_true(params->n == rung.n && params->p == rung.p);
			assert_true(params->m == rung.m && params->k == rung.k &&
				    params->g == rung.g);
		}
		sketch_bloom_free(filter);
	}
}

/* ------------------------------------------------- against a slow, simple one */

#define MODEL_LAYERS 8

struct model {
	size_t count;
	struct sketch_params params[MODEL_LAYERS];
	uint8_t *bits[MODEL_LAYERS];
	size_t opened_at[MODEL_LAYERS]; /* the key, counted from 0 */
};

static uint64_t count_ones(const uint8_t *bits, uint64_t m)
{
	uint64_t ones = 0;

	for (uint64_t i = 0; i < m / 8; i++)
		ones += (uint64_t)__builtin_popcount(bits[i]);
	return ones;
}

static void model_open(struct model *model, const struct sketch_params *params, size_t at)
{
	model->params[model->count] = *params;
	model->bits[model->count] = calloc(1, params->m / 8);
	assert_non_null(model->bits[model->count]);
	model->opened_at[model->count++] = at;
	assert_true(model->count < MODEL_LAYERS);
}

static bool model_insert(struct model *model, struct sketch_hash hash, size_t at)
{
	struct sketch_params *last = &model->params[model->count - 1];
	double full = sketch_fill_expected(last, last->n) * (double)last->m;
	bool had;

	for (size_t i = 0; i + 1 < model->count; i++)
		if (reference_test(model->bits[i], &model->params[i], hash))
			return true;
	if (count_ones(model->bits[model->count - 1], last->m) >= (uint64_t)full) {
		struct sketch_request request = { .layout = last->layout,
						  .n = 4 * last->n,
						  .p = last->p / 2 };
		struct sketch_params next;

		had = reference_test(model->bits[model->count - 1], last, hash);
		assert_status(SKETCH_OK, sketch_plan(&request, &next, NULL), NULL);
		model_open(model, &next, at);
		if (had)
			return true;
	}
	last = &model->params[model->count - 1];
	had = reference_test(model->bits[model->count - 1], last, hash);
	reference_add(model->bits[model->count - 1], last, hash);
	return had;
}

/* 0: of random length */
static const size_t cuts[] = { 1, 64, 63, 65, 1000, 100000, 0 };

static void check_against_model(enum sketch_layout layout, uint64_t n, double p,
				const struct sketch_hash *hashes, size_t count)
{
	struct sketch_bloom *first = ladder_make(layout, n, p, 0, UINT64_MAX);
	struct model model = { 0 };
	uint64_t *said = calloc(count / 64 + 2, 8), *found = calloc(count / 64 + 2, 8);
	struct dice dice = { n };

	assert_true(said && found);
	model_open(&model, sketch_bloom_params(first, 0), 0);
	for (size_t i = 0; i < count; i++)
		said[i / 64] |= (uint64_t)model_insert(&model, hashes[i], i) << i % 64;
	sketch_bloom_free(first);
	for (size_t c = 0; c < COUNT_OF(cuts); c++) {
		struct sketch_bloom *filter = ladder_make(layout, n, p, 0, UINT64_MAX);
		struct bytes bytes;

		for (size_t done = 0, size; done < count; done += size) {
			size = cuts[c] ? cuts[c] : (size_t)dice_between(&dice, 1, 300);
			size = size < count - done ? size : count - done;
			insert(filter, hashes + done, size, found);
			for (size_t i = 0; i < size; i++)
				assert_int_equal(found[i / 64] >> i % 64 & 1,
						 said[(done + i) / 64] >> (done + i) % 64 & 1);
		}
		assert_int_equal(sketch_bloom_layers(filter), model.count);
		bytes = filter_bytes(filter);
		for (size_t i = 0; i < model.count; i++)
			assert_memory_equal(file_bits(&bytes, (uint32_t)i), model.bits[i],
					    model.params[i].m / 8);
		bytes_free(&bytes);
		sketch_bloom_free(filter);
	}
	assert_true(model.count > 2);
	for (size_t i = 0; i < model.count; i++)
		free(model.bits[i]);
	free(said);
	free(found);
}

static void grow__however_the_calls_are_cut__is_as_key_by_key(void **state)
{
	static const struct {
		uint64_t n, distinct;
		double p;
	} cases[] = { { 1, 30, 0.5 },    { 10, 300, 0.1 },  { 100, 2300, 0.01 },
		      { 30, 700, 1e-6 }, { 64, 1500, 0.3 }, { 300, 2500, 1e-9 } };
	size_t count = 5000;
	struct sketch_hash *hashes = malloc(count * sizeof *hashes);

	(void)state;
	assert_non_null(hashes);
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		for (size_t i = 0; i < COUNT_OF(cases); i++) {
			struct dice dice = { 100 * l + i };

			for (size_t j = 0; j < count; j++)
				hashes[j] = hash_number(i, dice_below(&dice, cases[i].distinct));
			check_against_model(layouts[l], cases[i].n, cases[i].p, hashes, count);
		}
	}
	free(hashes);
}

/* The rungs that the tools use take the fast way, which counts bits seldom. */
static void grow__with_many_keys__is_the_same_for_all_cuts(void **state)
{
	static const size_t sizes[] = { 1, 64, 1000, 0 };
	size_t count = 200000;
	struct sketch_hash *hashes = malloc(count * sizeof *hashes);
	uint64_t *found = calloc(count / 64 + 1, 8);

	(void)state;
	assert_true(hashes && found);
	for (size_t i = 0; i < count; i++)
		hashes[i] = hash_number(9, i % 3 == 2 ? i / 2 : i);
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		struct bytes expected = { NULL, 0 };
		struct dice dice = { 4 };

		for (size_t c = 0; c < COUNT_OF(sizes); c++) {
			struct sketch_bloom *filter =
				ladder_make(layouts[l], 20000, 0.005, 0, UINT64_MAX);

			for (size_t done = 0, size; done < count; done += size) {
				size = sizes[c] ? sizes[c] : (size_t)dice_between(&dice, 1, 9000);
				size = size < count - done ? size : count - done;
				insert(filter, hashes + done, size, found);
			}
			assert_int_equal(sketch_bloom_layers(filter), 3);
			if (c == 0)
				expected = filter_bytes(filter);
			assert_filter_bytes(filter, &expected);
			sketch_bloom_free(filter);
		}
		bytes_free(&expected);
	}
	free(hashes);
	free(found);
}

static void grow__equal_keys_in_one_call_across_an_opening__second_is_found(void **state)
{
	(void)state;
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		/* Whatever the place of the opening in the call. */
		for (uint64_t lead = 0; lead < 40; lead++) {
			struct sketch_bloom *filter =
				ladder_make(layouts[l], 200, 1e-9, 0, UINT64_MAX);
			struct sketch_hash hashes[128];
			uint64_t found[2] = { 0, 0 };

			for (size_t i = 0; i < 64; i++) {
				hashes[i] = hash_number(3, 170 + lead + i);
				hashes[127 - i] = hashes[i];
			}
			insert_numbers(filter, 3, 0, 170 + lead);
			insert(filter, hashes, 128, found);
			assert_true(found[0] == 0);
			assert_true(found[1] == UINT64_MAX);
			assert_int_equal(sketch_bloom_layers(filter), 2);
			sketch_bloom_free(filter);
		}
	}
}

/* ------------------------------------------------------------------- budgets */

static void grow__beyond_the_budget__is_refused_and_stays_usable(void **state)
{
	(void)state;
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		struct sketch_bloom *filter = ladder_make(layouts[l], 1000, 1e-9, 0, 50000);
		struct sketch_error error = { 0 };
		enum sketch_status status = SKETCH_OK;
		struct bytes before, after;
		uint64_t i = 0, found;

		/* The second layer fits, the third does not. */
		for (; status == SKETCH_OK && i < 20000; i++) {
			struct sketch_hash hash = hash_number(5, i);

			status = sketch_bloom_insert(filter, &hash, 1, &found, &error);
		}
		assert_status(SKETCH_NO_MEMORY, status, &error);
		assert_error(SKETCH_NO_MEMORY, &error);
		assert_in_range(i, 4500, 5500);
		assert_int_equal(sketch_bloom_layers(filter), 2);
		assert_holds(filter, 5, 0, i - 1);
		before = filter_bytes(filter);
		for (int again = 0; again < 3; again++) {
			struct sketch_hash hash = hash_number(6, (uint64_t)again);

			assert_status(SKETCH_NO_MEMORY,
				      sketch_bloom_insert(filter, &hash, 1, &found, NULL), NULL);
		}
		after = filter_bytes(filter);
		assert_true(bytes_equal(&before, &after));
		sketch_bloom_free(filter);
		filter = filter_from_bytes(&after, SKETCH_WRITABLE);
		insert_numbers(filter, 6, 0, 100);
		assert_int_equal(sketch_bloom_layers(filter), 3);
		assert_holds(filter, 5, 0, i - 1);
		sketch_bloom_free(filter);
		bytes_free(&before);
		bytes_free(&after);
	}
}

/* The keys of a call that come before the one that does not fit are in. */
static void grow__refused_in_the_middle_of_a_call__keys_before_are_in(void **state)
{
	struct sketch_bloom *filter = ladder_make(SKETCH_CLASSIC, 1000, 1e-9, 0, 10000);
	struct sketch_hash hashes[2000];
	uint64_t found[32];
	size_t held = 0;

	(void)state;
	for (size_t i = 0; i < 2000; i++)
		hashes[i] = hash_number(8, i);
	assert_status(SKETCH_NO_MEMORY, sketch_bloom_insert(filter, hashes, 2000, found, NULL),
		      NULL);
	while (held < 2000 && filter_has(filter, hashes[held]))
		held++;
	assert_in_range(held, 900, 1100);
	for (size_t i = held; i < 2000; i++)
		assert_false(filter_has(filter, hashes[i]));
	sketch_bloom_free(filter);
}

/* -------------------------------------------------------------- never a miss */

static void insert__a_million_random_operations__never_misses_a_key(void **state)
{
	uint32_t distinct = 400000;
	size_t operations = run_slow() ? 200000 : 1000000;
	uint8_t *inside = calloc(1, distinct);

	(void)state;
	assert_non_null(inside);
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		struct sketch_bloom *filter = ladder_make(layouts[l], 16384, 0.005, 0, UINT64_MAX);
		struct dice dice = { 17 + l };
		double news = 0, wrong = 0;

		memset(inside, 0, distinct);
		for (size_t i = 0; i < operations; i++) {
			uint32_t key = (uint32_t)dice_below(&dice, distinct);
			struct sketch_hash hash = hash_number(2, key);
			uint64_t found = 0;

			if (dice_below(&dice, 4) == 0) {
				found = filter_has(filter, hash);
				assert_true(found || inside[key] != 1);
				continue;
			}
			insert(filter, &hash, 1, &found);
			assert_true(found || !inside[key]);
			if (!inside[key]) {
				news++;
				wrong += (double)found;
			}
			inside[key] = 1;
		}
		/* p is 0.01; 4.9 standard deviations are one in two million. */
		assert_true(wrong <= 0.01 * news + 4.9 * 0.1 * __builtin_sqrt(news));
		assert_true(wrong > 0);
		sketch_bloom_free(filter);
	}
	free(inside);
}

/* ------------------------------------------------------------ save and go on */

static void save__in_the_middle__goes_on_as_if_never_stopped(void **state)
{
	(void)state;
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		struct sketch_bloom *whole = ladder_make(layouts[l], 500, 0.01, 7, UINT64_MAX);
		struct bytes expected, part;
		struct dice dice = { l };

		insert_numbers(whole, 1, 0, 9000);
		assert_int_equal(sketch_bloom_layers(whole), 3);
		expected = filter_bytes(whole);
		sketch_bloom_free(whole);
		for (int round = 0; round < 8; round++) {
			struct sketch_bloom *filter =
				ladder_make(layouts[l], 500, 0.01, 7, UINT64_MAX);

			for (uint64_t at = 0, next; at < 9000; at = next) {
				next = at + dice_between(&dice, 1, round < 4 ? 3000 : 300);
				next = next < 9000 ? next : 9000;
				insert_numbers(filter, 1, at, next);
				part = filter_bytes(filter);
				sketch_bloom_free(filter);
				filter = filter_from_bytes(&part, SKETCH_WRITABLE);
				bytes_free(&part);
			}
			assert_filter_bytes(filter, &expected);
			sketch_bloom_free(filter);
		}
		bytes_free(&expected);
	}
}

/* ------------------------------------------------------------------- joining */

static struct sketch_bloom *part_of(enum sketch_layout layout, size_t number)
{
	static const uint64_t sizes[] = { 2000, 300, 9000, 0, 460 };
	struct sketch_bloom *filter = ladder_make(layout, 400, 0.01, 3, UINT64_MAX);

	insert_numbers(filter, number, 0, sizes[number]);
	sketch_bloom_set_records(filter, sizes[number] + 1);
	return filter;
}

static struct sketch_bloom *join_parts(enum sketch_layout layout, const size_t *order, size_t count)
{
	struct sketch_bloom *whole = part_of(layout, order[0]);
	struct sketch_error error;

	for (size_t i = 1; i < count; i++) {
		struct sketch_bloom *part = part_of(layout, order[i]);
		struct bytes bytes = filter_bytes(part);
		/* Mapped or in memory, it must not matter. */
		struct sketch_bloom *read = filter_from_bytes(&bytes, SKETCH_READ);

		assert_status(SKETCH_OK, sketch_bloom_union(whole, i % 2 ? read : part, &error),
			      &error);
		sketch_bloom_free(part);
		sketch_bloom_free(read);
		bytes_free(&bytes);
	}
	return whole;
}

static void join__in_any_order__gives_the_same_bytes(void **state)
{
	size_t order[5] = { 0, 1, 2, 3, 4 };

	(void)state;
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		struct sketch_bloom *whole = join_parts(layouts[l], order, 5);
		struct bytes expected = filter_bytes(whole);
		struct dice dice = { 50 + l };

		/* 3 layers of parts 0 and 2, one of each other. */
		assert_holds(whole, 0, 0, 2000);
		assert_holds(whole, 1, 0, 300);
		assert_holds(whole, 2, 0, 9000);
		assert_holds(whole, 4, 0, 460);
		assert_int_equal(sketch_bloom_records(whole), 2000 + 300 + 9000 + 460 + 5);
		for (size_t i = 1; i < sketch_bloom_layers(whole); i++)
			assert_true(sketch_bloom_params(whole, i - 1)->n <=
				    sketch_bloom_params(whole, i)->n);
		sketch_bloom_free(whole);
		for (int round = 0; round < 20; round++) {
			for (size_t i = 5; i-- > 1;) {
				size_t other = (size_t)dice_below(&dice, i + 1), kept = order[i];

				order[i] = order[other];
				order[other] = kept;
			}
			whole = join_parts(layouts[l], order, 5);
			assert_filter_bytes(whole, &expected);
			sketch_bloom_free(whole);
		}
		bytes_free(&expected);
	}
}

static void join__equal_layers__are_kept_once(void **state)
{
	(void)state;
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		struct sketch_bloom *whole = part_of(layouts[l], 2), *same = part_of(layouts[l], 2);
		struct bytes expected;

		sketch_bloom_set_records(same, 0);
		expected = filter_bytes(whole);
		assert_status(SKETCH_OK, sketch_bloom_union(whole, same, NULL), NULL);
		assert_filter_bytes(whole, &expected);
		sketch_bloom_free(same);

		/* One that went on from there shares the layers that were full. */
		same = filter_from_bytes(&expected, SKETCH_WRITABLE);
		insert_numbers(same, 2, 9000, 12000);
		assert_status(SKETCH_OK, sketch_bloom_union(whole, same, NULL), NULL);
		assert_int_equal(sketch_bloom_layers(whole), sketch_bloom_layers(same) + 1);
		assert_holds(whole, 2, 0, 12000);
		sketch_bloom_free(whole);
		sketch_bloom_free(same);
		bytes_free(&expected);
	}
}

/* The same bits are not the same layer where the keys' bits are others. */
static void join__equal_bits_of_unequal_layers__are_kept_both(void **state)
{
	static const struct sketch_params second[] = {
		{ SKETCH_CLASSIC, 5, 0, 640, 100, 0.01 },
		{ SKETCH_CLASSIC, 3, 0, 640, 100, 0.01 },
		{ SKETCH_CLASSIC, 5, 0, 640, 100, 0.25 },
	};
	struct sketch_identity identity = IDENTITY;
	struct bytes one, other;

	(void)state;
	identity.arrangement = SKETCH_LADDER;
	for (size_t i = 1; i < COUNT_OF(second); i++) {
		struct sketch_params a[] = { params_classic(128, 2), second[0] };
		struct sketch_params b[] = { params_classic(128, 2), second[i] };
		struct sketch_bloom *p = NULL, *q = NULL;

		a[0].n = b[0].n = 10;
		assert_status(SKETCH_OK, sketch_bloom_new(&p, &identity, a, 2, 1000, NULL), NULL);
		assert_status(SKETCH_OK, sketch_bloom_new(&q, &identity, b, 2, 1000, NULL), NULL);
		one = filter_bytes(p);
		other = filter_bytes(q);
		assert_status(SKETCH_OK, sketch_bloom_union(p, q, NULL), NULL);
		assert_int_equal(sketch_bloom_layers(p), 3);
		sketch_bloom_free(q);
		sketch_bloom_free(p);
		p = filter_from_bytes(&one, SKETCH_WRITABLE);
		q = filter_from_bytes(&other, SKETCH_WRITABLE);
		assert_status(SKETCH_OK, sketch_bloom_union(p, q, NULL), NULL);
		bytes_free(&one);
		one = filter_bytes(p);
		sketch_bloom_free(p);
		p = filter_from_bytes(&other, SKETCH_WRITABLE);
		sketch_bloom_free(q);
		q = filter_from_bytes(&one, SKETCH_WRITABLE);
		assert_status(SKETCH_OK, sketch_bloom_union(p, q, NULL), NULL);
		assert_filter_bytes(p, &one);
		sketch_bloom_free(p);
		sketch_bloom_free(q);
		bytes_free(&one);
		bytes_free(&other);
	}
}

static void join__more_than_64_layers__is_refused_and_nothing_changed(void **state)
{
	struct sketch_bloom *whole = ladder_make(SKETCH_BLOCKED, 10, 0.1, 0, UINT64_MAX);
	struct sketch_error error;
	struct bytes before;

	(void)state;
	insert_numbers(whole, 0, 0, 3);
	for (uint64_t i = 1; i < SKETCH_MAX_LAYERS; i++) {
		struct sketch_bloom *part = ladder_make(SKETCH_BLOCKED, 10, 0.1, 0, UINT64_MAX);

		insert_numbers(part, i, 0, 3);
		assert_status(SKETCH_OK, sketch_bloom_union(whole, part, &error), &error);
		sketch_bloom_free(part);
	}
	assert_int_equal(sketch_bloom_layers(whole), SKETCH_MAX_LAYERS);
	before = filter_bytes(whole);
	for (uint64_t i = 64; i < 67; i++) {
		struct sketch_bloom *part = ladder_make(SKETCH_BLOCKED, 10, 0.1, 0, UINT64_MAX);

		insert_numbers(part, i, 0, 3);
		assert_status(SKETCH_UNREACHABLE, sketch_bloom_union(whole, part, &error), NULL);
		assert_error(SKETCH_UNREACHABLE, &error);
		assert_true(has_word(error.text, "64"));
		assert_filter_bytes(whole, &before);
		sketch_bloom_free(part);
	}
	/* Full of layers, it still takes keys until the last is full. */
	{
		struct sketch_hash hash = hash_number(99, 0);
		enum sketch_status status = SKETCH_OK;
		uint64_t found;

		for (uint64_t i = 0; i < 1000 && status == SKETCH_OK; i++) {
			hash = hash_number(99, i);
			status = sketch_bloom_insert(whole, &hash, 1, &found, NULL);
		}
		assert_true(status == SKETCH_UNREACHABLE || status == SKETCH_OK);
		assert_int_equal(sketch_bloom_layers(whole), SKETCH_MAX_LAYERS);
	}
	bytes_free(&before);
	sketch_bloom_free(whole);
}

static void join__beyond_the_budget__is_refused_and_nothing_changed(void **state)
{
	struct sketch_bloom *whole = ladder_make(SKETCH_CLASSIC, 1000, 0.01, 0, 2000);
	struct sketch_bloom *part = ladder_make(SKETCH_CLASSIC, 1000, 0.01, 0, UINT64_MAX);
	struct sketch_error error;
	struct bytes before;

	(void)state;
	insert_numbers(whole, 0, 0, 10);
	insert_numbers(part, 1, 0, 10);
	before = filter_bytes(whole);
	assert_status(SKETCH_NO_MEMORY, sketch_bloom_union(whole, part, &error), NULL);
	assert_error(SKETCH_NO_MEMORY, &error);
	assert_filter_bytes(whole, &before);
	bytes_free(&before);
	sketch_bloom_free(whole);
	sketch_bloom_free(part);
}

static void join__unlike_ladders__are_refused_by_the_field(void **state)
{
	struct sketch_bloom *whole = ladder_make(SKETCH_CLASSIC, 100, 0.01, 0, UINT64_MAX);
	struct sketch_params single = *sketch_bloom_params(whole, 0);
	struct {
		struct sketch_bloom *filter;
		const char *word;
	} others[] = {
		{ ladder_make(SKETCH_CLASSIC, 100, 0.01, 5, UINT64_MAX), "seed" },
		{ ladder_make(SKETCH_BLOCKED, 100, 0.01, 0, UINT64_MAX), "layout" },
		{ ladder_make(SKETCH_CLASSIC, 100, 0.001, 0, UINT64_MAX), "m" },
		{ filter_make(&single), "arrangement" },
	};
	struct bytes before = filter_bytes(whole);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		struct sketch_error error;

		assert_status(SKETCH_MISMATCH, sketch_bloom_union(whole, others[i].filter, &error),
			      NULL);
		assert_error(SKETCH_MISMATCH, &error);
		if (!has_word(error.text, others[i].word))
			fail_msg("\"%s\" does not name %s", error.text, others[i].word);
		assert_filter_bytes(whole, &before);
		sketch_bloom_free(others[i].filter);
	}
	bytes_free(&before);
	sketch_bloom_free(whole);
}

static void join__damaged_operand__is_refused_and_nothing_changed(void **state)
{
	struct sketch_bloom *part = part_of(SKETCH_BLOCKED, 2), *whole = part_of(SKETCH_BLOCKED, 1);
	struct bytes file = filter_bytes(part), before = filter_bytes(whole);
	struct sketch_bloom *read;
	struct sketch_error error;

	(void)state;
	file.data[file.length - 1] ^= 4;
	read = filter_from_bytes(&file, SKETCH_READ);
	assert_status(SKETCH_DAMAGED, sketch_bloom_union(whole, read, &error), NULL);
	assert_error(SKETCH_DAMAGED, &error);
	assert_filter_bytes(whole, &before);
	sketch_bloom_free(read);
	sketch_bloom_free(part);
	sketch_bloom_free(whole);
	bytes_free(&file);
	bytes_free(&before);
}

static void join__then_grown__goes_on_above_the_last_layer(void **state)
{
	size_t order[] = { 0, 2 };

	(void)state;
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		struct sketch_bloom *whole = join_parts(layouts[l], order, 2), *again;
		size_t layers = sketch_bloom_layers(whole);
		uint64_t n = sketch_bloom_params(whole, layers - 1)->n;
		struct bytes file = filter_bytes(whole);

		again = filter_from_bytes(&file, SKETCH_WRITABLE);
		insert_numbers(whole, 7, 0, 26000);
		assert_int_equal(sketch_bloom_layers(whole), layers + 1);
		assert_int_equal(sketch_bloom_params(whole, layers)->n, 4 * n);
		assert_holds(whole, 7, 0, 26000);
		assert_holds(whole, 0, 0, 2000);
		/* Joined in memory or read from the file, it is the same. */
		insert_numbers(again, 7, 0, 26000);
		bytes_free(&file);
		file = filter_bytes(whole);
		assert_filter_bytes(again, &file);
		bytes_free(&file);
		sketch_bloom_free(again);
		sketch_bloom_free(whole);
	}
}

/* ------------------------------------------------------------------- golden */

/* The rungs and the very keys that open them, by another writer. */
static void grow__keys_of_a_golden_file__give_the_file(void **state)
{
	static const struct {
		const char *name;
		struct sketch_params first;
	} cases[] = { { "grown-classic", { SKETCH_CLASSIC, 4, 0, 448, 40, 0.01 } },
		      { "grown-blocked", { SKETCH_BLOCKED, 8, 1, 512, 40, 0.01 } } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct sketch_identity identity = IDENTITY;
		struct sketch_bloom *filter = NULL;
		char name[128], path[512];
		struct bytes keys, expected;
		uint64_t records = 0, found;

		identity.arrangement = SKETCH_LADDER;
		snprintf(name, sizeof name, "tests/golden/%s.keys", cases[i].name);
		top_path(path, name);
		keys = bytes_from_file(path);
		snprintf(name, sizeof name, "tests/golden/%s.bloom", cases[i].name);
		top_path(path, name);
		expected = bytes_from_file(path);
		assert_true(keys.data && expected.data);
		assert_status(SKETCH_OK,
			      sketch_bloom_new(&filter, &identity, &cases[i].first, 1, UINT64_MAX,
					       NULL),
			      NULL);
		for (size_t start = 0, length; start < keys.length;
		     start += length + 1, records++) {
			const uint8_t *end = memchr(keys.data + start, '\n', keys.length - start);
			struct sketch_hash hash;

			assert_non_null(end);
			length = (size_t)(end - keys.data) - start;
			hash = sketch_murmur3_x64_128(keys.data + start, length, 0);
			insert(filter, &hash, 1, &found);
		}
		sketch_bloom_set_records(filter, records);
		assert_filter_bytes(filter, &expected);
		bytes_free(&keys);
		bytes_free(&expected);
		sketch_bloom_free(filter);
	}
}

/* Close to full every new key is counted; a batch of old ones must not make the whole
 * layer be counted anew. */
static void insert__only_keys_of_older_layers__keeps_the_count(void **state)
{
	struct sketch_identity identity = { .family = SKETCH_FAMILY_MURMUR3,
					    .arrangement = SKETCH_LADDER };
	struct sketch_bloom *filter = NULL;
	struct sketch_params rung;
	struct sketch_hash old[64];
	uint64_t found, number = 0;
	struct layer *last;

	(void)state;
	assert_int_equal(sketch_ladder_rung(SKETCH_BLOCKED, 0.01, 0, &rung, NULL), SKETCH_OK);
	assert_int_equal(sketch_bloom_new(&filter, &identity, &rung, 1, UINT64_MAX, NULL),
			 SKETCH_OK);
	for (size_t i = 0; i < 64; i++)
		old[i] = sketch_murmur3_x64_128(&i, sizeof i, 1);
	assert_int_equal(sketch_bloom_insert(filter, old, 64, &found, NULL), SKETCH_OK);
	do {
		struct sketch_hash hash = sketch_murmur3_x64_128(&number, sizeof number, 2);

		number++;
		assert_int_equal(sketch_bloom_insert(filter, &hash, 1, &found, NULL), SKETCH_OK);
		last = &filter->layers[filter->layer_count - 1];
	} while (filter->layer_count < 2 || !last->counted || last->safe_keys != 0);
	assert_int_equal(sketch_bloom_insert(filter, old, 64, &found, NULL), SKETCH_OK);
	assert_true(found == ~UINT64_C(0));
	assert_true(last->counted);
	sketch_bloom_free(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rung__of_any_number__has_four_times_the_keys_at_half_the_rate),
		cmocka_unit_test(rung__beyond_all_numbers_of_keys__is_refused),
		cmocka_unit_test(grow__past_the_first_rungs__opens_those_of_the_contract),
		cmocka_unit_test(grow__however_the_calls_are_cut__is_as_key_by_key),
		cmocka_unit_test(grow__with_many_keys__is_the_same_for_all_cuts),
		cmocka_unit_test(grow__equal_keys_in_one_call_across_an_opening__second_is_found),
		cmocka_unit_test(grow__beyond_the_budget__is_refused_and_stays_usable),
		cmocka_unit_test(grow__refused_in_the_middle_of_a_call__keys_before_are_in),
		cmocka_unit_test(insert__a_million_random_operations__never_misses_a_key),
		cmocka_unit_test(save__in_the_middle__goes_on_as_if_never_stopped),
		cmocka_unit_test(join__in_any_order__gives_the_same_bytes),
		cmocka_unit_test(join__equal_layers__are_kept_once),
		cmocka_unit_test(join__equal_bits_of_unequal_layers__are_kept_both),
		cmocka_unit_test(join__more_than_64_layers__is_refused_and_nothing_changed),
		cmocka_unit_test(join__beyond_the_budget__is_refused_and_nothing_changed),
		cmocka_unit_test(join__unlike_ladders__are_refused_by_the_field),
		cmocka_unit_test(join__damaged_operand__is_refused_and_nothing_changed),
		cmocka_unit_test(join__then_grown__goes_on_above_the_last_layer),
		cmocka_unit_test(grow__keys_of_a_golden_file__give_the_file),
		cmocka_unit_test(insert__only_keys_of_older_layers__keeps_the_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
