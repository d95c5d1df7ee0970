/* Counts in memory and in files: never below the truth, bounds that hold, exact while
 * it can be, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counts.h"
#include "counts_support.h"
#include "format.h"
#include "support.h"

/* ----------------------------------------------------------------- sketches */

static struct sketch_counts *make(uint64_t w, uint32_t d, enum sketch_update update,
				  uint64_t tracked, uint32_t seed, uint64_t budget)
{
	struct sketch_counts_params params = { d, w, update, tracked };
	struct sketch_identity identity = IDENTITY;
	struct sketch_counts *counts;
	struct sketch_error error;

	identity.seed = seed;
	assert_status(SKETCH_OK, sketch_counts_new(&counts, &identity, &params, budget, &error),
		      &error);
	return counts;
}

static struct sketch_counts *conservative(uint64_t w, uint32_t d, uint64_t tracked)
{
	return make(w, d, SKETCH_CONSERVATIVE, tracked, 0, UINT64_MAX);
}

static struct sketch_counts *plain(uint64_t w, uint32_t d)
{
	return make(w, d, SKETCH_PLAIN, 0, 0, UINT64_MAX);
}

static struct sketch_key key_of_bytes(const void *data, size_t length, uint64_t weight,
				      uint32_t seed)
{
	return (struct sketch_key){ data, length, sketch_murmur3_x64_128(data, length, seed),
				    weight };
}

static struct sketch_key key_of_text(const char *text, uint64_t weight)
{
	return key_of_bytes(text, strlen(text), weight, 0);
}

static uint64_t add(struct sketch_counts *counts, struct sketch_key key)
{
	uint64_t estimate = 0;
	size_t done = 7;
	struct sketch_error error;

	assert_status(SKETCH_OK, sketch_counts_add(counts, &key, 1, &estimate, &done, &error),
		      &error);
	assert_int_equal(done, 1);
	return estimate;
}

static uint64_t high(const struct sketch_counts *counts, struct sketch_key key)
{
	return sketch_counts_query(counts, &key).high;
}

static struct sketch_counts_state state_of(const struct sketch_counts *counts)
{
	struct sketch_counts_state state;

	sketch_counts_state(counts, &state);
	return state;
}

static struct sketch_counts *read_again(const struct bytes *bytes)
{
	struct sketch_counts *counts;
	struct sketch_error error;

	assert_status(SKETCH_OK, counts_reread(bytes, UINT64_MAX, &counts, &error), &error);
	return counts;
}

static void assert_same_file(const struct sketch_counts *a, const struct sketch_counts *b)
{
	struct bytes one = counts_written(a), other = counts_written(b);

	assert_true(bytes_equal(&one, &other));
	bytes_free(&one);
	bytes_free(&other);
}

static void unite(struct sketch_counts *into, const struct sketch_counts *from)
{
	struct sketch_error error;

	assert_status(SKETCH_OK, sketch_counts_union(into, from, &error), &error);
}

/* ------------------------------------------------------------------- a model */

/* The truth: keys are the numbers below `count`, in eight bytes each. */
struct model {
	size_t count;
	uint64_t *numbers, *truth;
	struct sketch_key *keys;
};

static struct model model_make(size_t count, uint32_t seed)
{
	struct model model = { count, calloc(count, 8), calloc(count, 8),
			       calloc(count, sizeof *model.keys) };

	assert_true(model.numbers != NULL && model.truth != NULL && model.keys != NULL);
	for (size_t i = 0; i < count; i++) {
		model.numbers[i] = i;
		model.keys[i] = key_of_bytes(&model.numbers[i], 8, 1, seed);
	}
	return model;
}

static void model_free(struct model *model)
{
	free(model->numbers);
	free(model->truth);
	free(model->keys);
}

/* Adds so many records in calls of any length; no estimate may be below the truth up to
 * its record. */
static void feed(struct sketch_counts *counts, struct model *model, struct dice *dice,
		 size_t records, unsigned int weights)
{
	struct sketch_key batch[200];
	uint64_t estimates[200], truth[200];
	struct sketch_error error;

	while (records > 0) {
		size_t length = dice_between(dice, 1, records < 200 ? records : 200), done;

		for (size_t i = 0; i < length; i++) {
			size_t key = draw_key(dice, model->count);

			batch[i] = model->keys[key];
			batch[i].weight = draw_weight(dice, weights);
			truth[i] = model->truth[key] += batch[i].weight;
		}
		assert_status(SKETCH_OK,
			      sketch_counts_add(counts, batch, length, estimates, &done, &error),
			      &error);
		assert_int_equal(done, length);
		for (size_t i = 0; i < length; i++)
			assert_true(estimates[i] >= truth[i]);
		records -= length;
	}
}

/* Everything that a sketch promises. */
static void check_all(const struct sketch_counts *counts, const struct model *model)
{
	struct sketch_counts_state state = state_of(counts);
	uint64_t total = 0, apart = 0;
	size_t tracked = 0;

	for (size_t i = 0; i < model->count; i++) {
		struct sketch_bounds bounds = sketch_counts_query(counts, &model->keys[i]);
		uint32_t place = tracked_find(&counts->tracked, &model->keys[i]);

		total += model->truth[i];
		assert_true(bounds.high >= model->truth[i]);
		assert_true(bounds.low <= bounds.high);
		if (bounds.sure)
			assert_true(bounds.low <= model->truth[i]);
		if (state.exact)
			assert_true(bounds.sure && bounds.low == bounds.high);
		if (place != TRACKED_NONE) {
			assert_true(bounds.sure);
			apart += bounds.low;
			tracked++;
		} else {
			assert_true(model->truth[i] <= state.floor);
		}
	}
	assert_int_equal(state.total, total);
	assert_int_equal(state.tracked, tracked);
	assert_int_equal(state.in_table + apart, total);
	assert_int_equal(counts->params.update == SKETCH_PLAIN ? total : state.in_table,
			 state.in_table);
}

static uint64_t any_tracked(struct dice *dice)
{
	static const uint64_t some[] = { 0, 1, 2, 3, 10, 64, 300, 1000, 2500 };

	return some[dice_below(dice, COUNT_OF(some))];
}

/* -------------------------------------------------------------------- sizing */

static void plan__published_table__gives_w_and_d(void **unused)
{
	static const struct {
		double epsilon, delta;
		uint64_t w;
		uint32_t d;
	} rows[] = {
		{ 0.001, 0.001, 2719, 7 },       { 0.05, 0.01, 55, 5 },
		{ 0.001, 0.002, 2719, 7 },       { 0.01, 0.05, 272, 3 },
		{ 0.2, 0.317310508, 14, 2 },     { 0.1, 0.045500264, 28, 4 },
		{ 0.05, 0.002699796, 55, 6 },    { 0.01, 0.01, 272, 5 },
		{ 0.0001, 0.00001, 27183, 12 },  { 0.5, 0.5, 6, 1 },
		{ 0.999999999, 0.999999, 3, 1 },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct sketch_counts_params params = { 0 };
		struct sketch_error error;

		assert_status(SKETCH_OK,
			      sketch_counts_plan(rows[i].epsilon, rows[i].delta, &params, &error),
			      &error);
		assert_int_equal(params.w, rows[i].w);
		assert_int_equal(params.d, rows[i].d);
		assert_true(sketch_counts_epsilon(&params) <= rows[i].epsilon);
		assert_true(sketch_counts_delta(&params) <= rows[i].delta);
	}
}

static void plan__out_of_range__is_refused_and_leaves_all(void **unused)
{
	static const double bad[] = { 0, 1, -0.5, 2, NAN, INFINITY };
	struct sketch_counts_params params = { .d = 7, .w = 9 };
	struct sketch_error error;

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		assert_int_equal(SKETCH_RANGE, sketch_counts_plan(bad[i], 0.5, &params, &error));
		assert_error(SKETCH_RANGE, &error);
		assert_int_equal(SKETCH_RANGE, sketch_counts_plan(0.5, bad[i], &params, &error));
	}
	assert_int_equal(SKETCH_UNREACHABLE, sketch_counts_plan(1e-300, 0.5, &params, &error));
	assert_int_equal(SKETCH_UNREACHABLE, sketch_counts_plan(0.5, 1e-29, &params, &error));
	assert_error(SKETCH_UNREACHABLE, &error);
	assert_int_equal(params.d, 7);
	assert_int_equal(params.w, 9);
}

static void new__out_of_range_or_too_large__is_refused_before_memory_is_taken(void **unused)
{
	static const struct {
		struct sketch_counts_params params;
		enum sketch_status status;
	} cases[] = {
		{ { 0, 10, SKETCH_PLAIN, 0 }, SKETCH_RANGE },
		{ { 65, 10, SKETCH_PLAIN, 0 }, SKETCH_RANGE },
		{ { 3, 0, SKETCH_PLAIN, 0 }, SKETCH_RANGE },
		{ { 3, 10, SKETCH_PLAIN, 1 }, SKETCH_RANGE },
		{ { 3, 10, SKETCH_CONSERVATIVE, (1 << 24) + 1 }, SKETCH_RANGE },
		{ { 3, 10, (enum sketch_update)0, 0 }, SKETCH_RANGE },
		{ { 3, 10, (enum sketch_update)3, 0 }, SKETCH_RANGE },
		{ { 64, UINT64_MAX, SKETCH_PLAIN, 0 }, SKETCH_NO_MEMORY },
		{ { 64, UINT64_MAX / 64 + 1, SKETCH_PLAIN, 0 }, SKETCH_NO_MEMORY },
		{ { 64, UINT64_MAX / 256 + 1, SKETCH_PLAIN, 0 }, SKETCH_NO_MEMORY },
		{ { 1, UINT64_C(1) << 62, SKETCH_PLAIN, 0 }, SKETCH_NO_MEMORY },
		{ { 1, 2501, SKETCH_PLAIN, 0 }, SKETCH_NO_MEMORY },
		{ { 1, 1, SKETCH_CONSERVATIVE, 10000 }, SKETCH_NO_MEMORY },
	};
	struct sketch_identity identity = IDENTITY;

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct sketch_counts *counts = (struct sketch_counts *)&identity;
		struct sketch_error error;

		assert_int_equal(cases[i].status,
				 sketch_counts_new(&counts, &identity, &cases[i].params, 10000,
						   &error));
		assert_error(cases[i].status, &error);
		assert_ptr_equal(counts, &identity);
	}
	sketch_counts_free(make(2500, 1, SKETCH_PLAIN, 0, 0, 10000));
	sketch_counts_free(NULL);
}

/* ---------------------------------------------------------------- given cells */

/* A hash whose cells are these columns, counted from 1. */
static struct sketch_hash hash_at(const struct sketch_counts *counts, const uint64_t *columns)
{
	struct dice dice = { 41 };

	for (;;) {
		struct sketch_hash hash = dice_hash(&dice);
		bool there = true;

		for (uint32_t row = 0; row < counts->params.d; row++) {
			uint64_t u = hash.h1;

			/* mix(h1 + row (h2 | 1)), as the format's page says it */
			if (row > 0) {
				u += row * (hash.h2 | 1);
				u = (u ^ u >> 33) * UINT64_C(0xff51afd7ed558ccd);
				u = (u ^ u >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
				u ^= u >> 33;
			}
			there = there && (uint64_t)((double)counts->params.w * 0x1p-64 *
						    (double)u) == columns[row] - 1;
		}
		if (there)
			return hash;
	}
}

static void add__classroom_table__gives_its_estimates(void **unused)
{
	static const uint64_t japan[] = { 1, 2, 1 }, europe[] = { 1, 3, 2 }, hello[] = { 1, 3, 1 };
	static const uint32_t want[] = { 3, 0, 0, 0, 2, 1, 2, 1, 0 };
	static const uint32_t raised[] = { 2, 0, 0, 0, 2, 1, 2, 1, 0 };

	(void)unused;
	for (int way = 0; way < 2; way++) {
		struct sketch_counts *counts = way == 0 ? plain(3, 3) : conservative(3, 3, 0);
		struct sketch_key a = key_of_text("History of Japan", 1);
		struct sketch_key b = key_of_text("European history", 1);
		struct sketch_key c = key_of_text("hello", 1);

		a.hash = hash_at(counts, japan);
		b.hash = hash_at(counts, europe);
		c.hash = hash_at(counts, hello);
		assert_int_equal(add(counts, a), 1);
		assert_int_equal(add(counts, a), 2);
		assert_int_equal(add(counts, b), 1);
		for (size_t i = 0; i < COUNT_OF(want); i++)
			assert_int_equal(get32(counts->cells.data + 4 * i),
					 way == 0 ? want[i] : raised[i]);
		assert_int_equal(high(counts, a), 2);
		assert_int_equal(high(counts, b), 1);
		assert_int_equal(high(counts, c), 1);
		sketch_counts_free(counts);
	}
}

static void add__two_keys_in_two_by_two__echo_is_the_query_and_not_below(void **unused)
{
	struct dice dice = { 5 };

	(void)unused;
	for (int i = 0; i < 200; i++) {
		struct sketch_counts *counts =
			make(2, 2, i % 2 ? SKETCH_PLAIN : SKETCH_CONSERVATIVE, 0, 0, UINT64_MAX);
		struct sketch_key foo = key_of_text("foo", 10), bar = key_of_text("bar", 42);
		uint64_t echo;

		foo.hash = dice_hash(&dice);
		bar.hash = dice_hash(&dice);
		echo = add(counts, foo);
		assert_true(echo >= 10 && echo == high(counts, foo));
		echo = add(counts, bar);
		assert_true(echo >= 42 && echo == high(counts, bar));
		assert_true(high(counts, foo) >= 10);
		sketch_counts_free(counts);
	}
}

/* --------------------------------------------------------------- the promises */

static void add__any_stream__is_never_below_and_bounds_hold(void **unused)
{
	struct dice dice = { 1 };

	(void)unused;
	for (size_t round = 0; round < effort(240); round++) {
		enum sketch_update update = round % 4 == 3 ? SKETCH_PLAIN : SKETCH_CONSERVATIVE;
		uint32_t seed = (uint32_t)dice_next(&dice);
		uint32_t d = (uint32_t)dice_between(&dice, 1, dice_below(&dice, 8) ? 6 : 64);
		uint64_t w = dice_between(&dice, 1, dice_below(&dice, 2) ? 30 : 2000);
		struct model model = model_make((size_t)dice_between(&dice, 1, 3000), seed);
		struct sketch_counts *counts =
			make(w, d, update, update == SKETCH_PLAIN ? 0 : any_tracked(&dice), seed,
			     UINT64_MAX);

		for (int part = 0; part < 2; part++) {
			feed(counts, &model, &dice, (size_t)dice_below(&dice, 8000),
			     (unsigned int)(round / 4 % 4));
			check_all(counts, &model);
		}
		model_free(&model);
		sketch_counts_free(counts);
	}
}

static void union__of_two_to_ten__bounds_hold_and_go_on_holding(void **unused)
{
	struct dice dice = { 2 };

	(void)unused;
	for (size_t round = 0; round < effort(120); round++) {
		enum sketch_update update = round % 4 == 3 ? SKETCH_PLAIN : SKETCH_CONSERVATIVE;
		uint32_t d = (uint32_t)dice_between(&dice, 1, 5);
		uint64_t w = dice_between(&dice, 1, dice_below(&dice, 2) ? 30 : 1000);
		size_t parts = (size_t)dice_between(&dice, 2, 10);
		struct model model = model_make((size_t)dice_between(&dice, 1, 2000), 0);
		struct sketch_counts *whole = NULL;
		bool tracks = update == SKETCH_CONSERVATIVE && round % 8 != 2;

		for (size_t i = 0; i < parts; i++) {
			struct sketch_counts *part =
				make(w, d, update, tracks ? any_tracked(&dice) : 0, 0, UINT64_MAX);
			struct model own = model_make(model.count, 0);

			feed(part, &own, &dice, (size_t)dice_below(&dice, 3000),
			     (unsigned int)dice_below(&dice, 4));
			for (size_t key = 0; key < model.count; key++)
				model.truth[key] += own.truth[key];
			model_free(&own);
			if (whole == NULL) {
				whole = part;
				continue;
			}
			/* Either may be the one that is kept. */
			if (dice_below(&dice, 2)) {
				struct sketch_counts *swap = whole;

				whole = part;
				part = swap;
			}
			unite(whole, part);
			sketch_counts_free(part);
			check_all(whole, &model);
			if (dice_below(&dice, 3) == 0)
				feed(whole, &model, &dice, (size_t)dice_below(&dice, 2000), 1);
		}
		check_all(whole, &model);
		feed(whole, &model, &dice, 3000, 0);
		check_all(whole, &model);
		model_free(&model);
		sketch_counts_free(whole);
	}
}

static void union__with_one_that_tracks_none__bounds_hold(void **unused)
{
	struct dice dice = { 22 };

	(void)unused;
	for (int way = 0; way < 4; way++) {
		struct model model = model_make(300, 0), part = model_make(300, 0);
		struct sketch_counts *a = conservative(50, 3, way & 1 ? 10 : 0);
		struct sketch_counts *b = conservative(50, 3, way & 1 ? 0 : 10);

		feed(a, &model, &dice, 3000, 1);
		if (way & 2)
			feed(b, &part, &dice, 3000, 1);
		for (size_t i = 0; i < 300; i++)
			model.truth[i] += part.truth[i];
		unite(a, b);
		check_all(a, &model);
		feed(a, &model, &dice, 3000, 1);
		check_all(a, &model);
		model_free(&model);
		model_free(&part);
		sketch_counts_free(a);
		sketch_counts_free(b);
	}
}

static void add__while_all_keys_fit__is_exact(void **unused)
{
	struct sketch_counts *counts = conservative(1, 1, 500);
	struct sketch_counts *other = conservative(1, 1, 200);
	struct model model = model_make(501, 0), part = model_make(150, 0);
	struct dice dice = { 3 };
	struct sketch_key last = model.keys[500];

	(void)unused;
	feed(other, &part, &dice, 5000, 2);
	assert_true(state_of(other).exact);
	model.count = 500;
	feed(counts, &model, &dice, 50000, 2);
	for (size_t i = 0; i < 150; i++)
		model.truth[i] += part.truth[i];
	unite(counts, other);
	check_all(counts, &model);
	assert_true(state_of(counts).exact);
	assert_int_equal(state_of(counts).floor, 0);
	for (size_t i = 0; i < 500; i++)
		assert_int_equal(high(counts, model.keys[i]), model.truth[i]);
	assert_int_equal(high(counts, last), 0);
	assert_true(sketch_counts_query(counts, &last).sure);
	for (size_t i = 0; i < 500; i++) {
		model.truth[i]++;
		add(counts, model.keys[i]);
	}
	assert_true(state_of(counts).exact);
	assert_int_equal(add(counts, last), 1);
	assert_false(state_of(counts).exact);
	sketch_counts_free(counts);
	sketch_counts_free(other);
	model_free(&model);
	model_free(&part);
}

/* Of `tries` independent trials, each with at most that chance, more than this happen
 * with a chance below 1e-9: six standard deviations, and some for small numbers. */
static double most_of(double tries, double chance)
{
	return tries * chance + 6 * sqrt(tries * chance * (1 - chance)) + 6;
}

/* As many keys as there are places: none was left out, and so none is above the floor. */
static void union__of_full_ones_with_the_same_keys__stays_exact(void **unused)
{
	struct sketch_counts *counts = conservative(10, 2, 3), *other = conservative(10, 2, 3);
	static const char *const names[] = { "apple", "berry", "cherry" };

	(void)unused;
	for (size_t i = 0; i < 3; i++) {
		add(counts, key_of_text(names[i], 5 + i));
		add(other, key_of_text(names[i], 70 - i));
	}
	assert_true(state_of(counts).exact);
	assert_int_equal(state_of(counts).floor, 0);
	unite(counts, other);
	assert_true(state_of(counts).exact);
	assert_int_equal(state_of(counts).floor, 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(high(counts, key_of_text(names[i], 0)), 75);
	sketch_counts_free(counts);
	sketch_counts_free(other);
}

static void query__excess_above_epsilon_n__is_rarer_than_delta(void **unused)
{
	static const uint32_t depths[] = { 1, 2, 3, 5 };
	size_t seeds = effort(400);

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(depths); i++) {
		for (int way = 0; way < 2; way++) {
			double ours = 0, all = 0, share = exp(-(double)depths[i]);
			struct dice dice = { 4 };

			/* One key a seed is independent of the others; all of one seed
			 * are not, but their mean is bounded as well. */
			for (size_t seed = 0; seed < seeds; seed++) {
				struct model model = model_make(600, (uint32_t)seed);
				struct sketch_counts *counts =
					make(40, depths[i],
					     way ? SKETCH_PLAIN : SKETCH_CONSERVATIVE, way ? 0 : 5,
					     (uint32_t)seed, UINT64_MAX);
				double slack;

				feed(counts, &model, &dice, 1500, 0);
				slack = sketch_counts_epsilon(&counts->params) *
					(double)state_of(counts).in_table;
				for (size_t key = 0; key < model.count; key++) {
					struct sketch_bounds bounds =
						sketch_counts_query(counts, &model.keys[key]);
					double excess = (double)(bounds.high - model.truth[key]);

					all += excess > slack;
					ours += key == 300 && excess > slack;
					if (excess <= slack)
						assert_true(bounds.low <= model.truth[key]);
				}
				model_free(&model);
				sketch_counts_free(counts);
			}
			assert_true(ours <= most_of((double)seeds, share));
			assert_true(all <= share * 600 * (double)seeds);
		}
	}
}

static void top__any_stream__is_sorted_without_repeats_and_names_what_is_heavy(void **unused)
{
	struct dice dice = { 6 };

	(void)unused;
	for (size_t round = 0; round < effort(40); round++) {
		struct model model = model_make(2000, 0);
		uint64_t capacity = dice_between(&dice, 1, 1500);
		struct sketch_counts *counts =
			conservative(dice_between(&dice, 1, 300), 3, capacity);
		struct sketch_heavy heavy[1500];
		size_t room = (size_t)dice_below(&dice, 1500), used;
		bool seen[2000] = { false };

		feed(counts, &model, &dice, 10000, (unsigned int)(round % 3));
		used = sketch_counts_top(counts, heavy, room);
		assert_int_equal(used, state_of(counts).tracked);
		for (size_t i = 0; i < used && i < room; i++) {
			uint64_t key;

			assert_int_equal(heavy[i].length, 8);
			memcpy(&key, heavy[i].data, 8);
			assert_true(key < 2000 && !seen[key]);
			seen[key] = true;
			assert_true(heavy[i].bounds.low <= model.truth[key]);
			assert_true(heavy[i].bounds.high >= model.truth[key]);
			if (i == 0)
				continue;
			assert_true(heavy[i].bounds.high <= heavy[i - 1].bounds.high);
			if (heavy[i].bounds.high == heavy[i - 1].bounds.high)
				assert_true(memcmp(heavy[i - 1].data, heavy[i].data, 8) < 0);
		}
		for (size_t i = 0; i < model.count && room >= used; i++)
			assert_true(seen[i] || model.truth[i] <= state_of(counts).floor);
		model_free(&model);
		sketch_counts_free(counts);
	}
}

static void add__in_calls_of_any_length__gives_equal_files(void **unused)
{
	static const size_t steps[] = { 1, 2, 63, 64, 65, 1000 };
	static const uint32_t depths[] = { 1, 3, 8, 9, 64 };
	struct dice dice = { 7 };

	(void)unused;
	for (size_t i = 0; i < 2 * COUNT_OF(depths); i++) {
		struct model model = model_make(700, 0);
		struct sketch_key *keys = calloc(6000, sizeof *keys);
		struct bytes first = { 0 };
		uint64_t sums[COUNT_OF(steps)] = { 0 };

		assert_non_null(keys);
		for (size_t j = 0; j < 6000; j++) {
			keys[j] = model.keys[draw_key(&dice, 700)];
			keys[j].weight = dice_below(&dice, 5);
		}
		for (size_t s = 0; s < COUNT_OF(steps); s++) {
			struct sketch_counts *counts = i % 2 ? plain(40, depths[i / 2]) :
							       conservative(40, depths[i / 2], 30);
			uint64_t estimates[1000];
			struct bytes bytes;

			for (size_t at = 0; at < 6000;) {
				size_t length = 6000 - at < steps[s] ? 6000 - at : steps[s], done;

				assert_int_equal(SKETCH_OK,
						 sketch_counts_add(counts, keys + at, length,
								   estimates, &done, NULL));
				for (size_t j = 0; j < length; j++)
					sums[s] = 31 * sums[s] + estimates[j];
				at += length;
			}
			bytes = counts_written(counts);
			if (s == 0)
				first = bytes_copy(&bytes);
			assert_true(bytes_equal(&first, &bytes));
			assert_int_equal(sums[0], sums[s]);
			bytes_free(&bytes);
			sketch_counts_free(counts);
		}
		bytes_free(&first);
		free(keys);
		model_free(&model);
	}
}

static void add__of_weight_0__counts_nothing(void **unused)
{
	struct sketch_counts *counts = conservative(3, 2, 2);

	(void)unused;
	assert_int_equal(add(counts, key_of_text("a", 0)), 0);
	assert_int_equal(state_of(counts).tracked, 0);
	assert_int_equal(add(counts, key_of_text("a", 3)), 3);
	assert_int_equal(add(counts, key_of_text("a", 0)), 3);
	assert_int_equal(state_of(counts).total, 3);
	sketch_counts_free(counts);
}

static void add__late_rare_keys__bounds_show_what_they_inherit(void **unused)
{
	static const char stream[] = "XXYZABCXXAAA123456";
	struct sketch_counts *counts = conservative(4, 1, 3);
	struct sketch_heavy heavy[3];

	(void)unused;
	for (size_t i = 0; stream[i] != '\0'; i++)
		add(counts, key_of_bytes(&stream[i], 1, 1, 0));
	assert_int_equal(sketch_counts_top(counts, heavy, 3), 3);
	for (size_t i = 0; i < 3; i++) {
		uint64_t truth = 0;

		for (size_t j = 0; stream[j] != '\0'; j++)
			truth += stream[j] == (char)heavy[i].data[0];
		assert_true(heavy[i].bounds.low <= truth && truth <= heavy[i].bounds.high);
	}
	sketch_counts_free(counts);
}

/* ------------------------------------------------------------- large numbers */

static void add__beyond_32_bits__widens_once_and_only_then(void **unused)
{
	(void)unused;
	for (int way = 0; way < 2; way++) {
		struct sketch_counts *counts = way == 0 ? plain(64, 3) : conservative(64, 3, 0);
		struct sketch_key a = key_of_text("a", UINT32_MAX), b = key_of_text("b", 7);

		add(counts, b);
		assert_int_equal(add(counts, a), UINT32_MAX);
		/* The largest value of a cell is a value like any other. */
		assert_int_equal(state_of(counts).cell_bits, 32);
		assert_int_equal(high(counts, a), UINT32_MAX);
		a.weight = 0;
		assert_int_equal(add(counts, a), UINT32_MAX);
		assert_int_equal(state_of(counts).cell_bits, 32);
		a.weight = 1;
		assert_int_equal(add(counts, a), UINT64_C(1) << 32);
		assert_int_equal(state_of(counts).cell_bits, 64);
		assert_int_equal(high(counts, b), 7);
		a.weight = UINT64_C(1) << 40;
		assert_int_equal(add(counts, a), (UINT64_C(1) << 32) + (UINT64_C(1) << 40));
		sketch_counts_free(counts);
	}
}

static void add__step_of_two_across_the_largest__is_noticed(void **unused)
{
	(void)unused;
	for (int way = 0; way < 2; way++) {
		struct sketch_counts *counts = way == 0 ? plain(8, 2) : conservative(8, 2, 0);

		add(counts, key_of_text("a", UINT32_MAX - 1));
		assert_int_equal(add(counts, key_of_text("a", 2)), UINT64_C(1) << 32);
		assert_int_equal(high(counts, key_of_text("a", 0)), UINT64_C(1) << 32);
		sketch_counts_free(counts);
	}
}

static void add__evicted_key_beyond_32_bits__goes_to_the_table_whole(void **unused)
{
	struct sketch_counts *counts = conservative(64, 3, 1);
	const uint64_t large = UINT64_C(5) << 33;

	(void)unused;
	add(counts, key_of_text("a", large));
	assert_int_equal(state_of(counts).cell_bits, 32);
	assert_int_equal(add(counts, key_of_text("b", large + 1)), large + 1);
	assert_int_equal(state_of(counts).cell_bits, 64);
	assert_int_equal(high(counts, key_of_text("a", 0)), large);
	assert_int_equal(state_of(counts).in_table, large);
	sketch_counts_free(counts);
}

static void add__wider_cells_refused__stops_there_and_stays_usable(void **unused)
{
	(void)unused;
	for (int way = 0; way < 3; way++) {
		struct sketch_counts *counts =
			make(64, 3, way == 0 ? SKETCH_PLAIN : SKETCH_CONSERVATIVE, way == 2 ? 1 : 0,
			     0, 64 * 3 * 4 + (way == 2 ? 200 : 0));
		struct sketch_key keys[] = { key_of_text("a", 5), key_of_text("b", 6),
					     key_of_text("a", UINT64_C(1) << 33),
					     key_of_text("c", UINT64_C(1) << 34) };
		struct bytes before, after;
		uint64_t estimates[4];
		struct sketch_error error;
		size_t done, good = way == 2 ? 3 : 2;

		assert_int_equal(SKETCH_NO_MEMORY,
				 sketch_counts_add(counts, keys, 4, estimates, &done, &error));
		assert_error(SKETCH_NO_MEMORY, &error);
		assert_int_equal(done, good);
		before = counts_written(counts);
		assert_int_equal(SKETCH_NO_MEMORY,
				 sketch_counts_add(counts, keys + good, 1, NULL, &done, &error));
		assert_int_equal(done, 0);
		after = counts_written(counts);
		assert_true(bytes_equal(&before, &after));
		assert_true(high(counts, keys[0]) >= 5);
		assert_true(add(counts, key_of_text("b", 1)) >= 7);
		bytes_free(&before);
		bytes_free(&after);
		sketch_counts_free(counts);
	}
}

static void add__total_beyond_64_bits__is_refused_where_it_happens(void **unused)
{
	(void)unused;
	for (int way = 0; way < 3; way++) {
		struct sketch_counts *counts =
			way == 0 ? plain(8, 2) : conservative(8, 2, way == 1 ? 0 : 2);
		struct sketch_key keys[] = { key_of_text("a", UINT64_C(1) << 63),
					     key_of_text("b", (UINT64_C(1) << 63) - 2),
					     key_of_text("a", 2), key_of_text("c", 1) };
		struct sketch_error error;
		uint64_t estimates[4];
		size_t done = 9;

		assert_int_equal(SKETCH_RANGE,
				 sketch_counts_add(counts, keys, 4, estimates, &done, &error));
		assert_error(SKETCH_RANGE, &error);
		assert_int_equal(done, 2);
		assert_int_equal(state_of(counts).total, UINT64_MAX - 1);
		assert_true(high(counts, keys[0]) >= UINT64_C(1) << 63);
		assert_true(add(counts, key_of_text("c", 1)) >= 1);
		assert_int_equal(state_of(counts).total, UINT64_MAX);
		assert_int_equal(SKETCH_RANGE,
				 sketch_counts_add(counts, keys + 3, 1, NULL, &done, &error));
		assert_int_equal(done, 0);
		sketch_counts_free(counts);
	}
}

static void union__total_beyond_64_bits__is_refused_and_changes_nothing(void **unused)
{
	struct sketch_counts *a = conservative(8, 2, 2), *b = conservative(8, 2, 2);
	struct bytes before, after;
	struct sketch_error error;

	(void)unused;
	add(a, key_of_text("a", UINT64_C(1) << 63));
	add(b, key_of_text("b", UINT64_C(1) << 63));
	before = counts_written(a);
	assert_int_equal(SKETCH_RANGE, sketch_counts_union(a, b, &error));
	assert_error(SKETCH_RANGE, &error);
	after = counts_written(a);
	assert_true(bytes_equal(&before, &after));
	bytes_free(&before);
	bytes_free(&after);
	sketch_counts_free(a);
	sketch_counts_free(b);
}

/* ---------------------------------------------------------------------- keys */

static void add__long_keys__differ_in_their_tails(void **unused)
{
	enum { LENGTH = 10000 };
	static uint8_t one[LENGTH], other[LENGTH];
	struct sketch_counts *counts = conservative(50, 3, 20), *again;
	static const size_t lengths[] = { 4095, 4096, 4097, LENGTH - 1, LENGTH };
	struct sketch_heavy heavy[20];
	struct bytes bytes;

	(void)unused;
	memset(one, 'x', LENGTH);
	memset(other, 'x', LENGTH);
	other[LENGTH - 1] = 'y';
	for (size_t i = 0; i < COUNT_OF(lengths); i++)
		for (size_t times = 0; times <= i; times++)
			add(counts, key_of_bytes(one, lengths[i], 1, 0));
	add(counts, key_of_bytes(other, LENGTH, 100, 0));
	add(counts, key_of_bytes("", 0, 50, 0));
	add(counts, key_of_bytes("\0", 1, 40, 0));
	bytes = counts_written(counts);
	again = read_again(&bytes);
	for (int way = 0; way < 2; way++) {
		const struct sketch_counts *asked = way == 0 ? counts : again;

		for (size_t i = 0; i < COUNT_OF(lengths); i++)
			assert_int_equal(high(asked, key_of_bytes(one, lengths[i], 0, 0)), i + 1);
		assert_int_equal(high(asked, key_of_bytes(other, LENGTH, 0, 0)), 100);
		assert_int_equal(high(asked, key_of_bytes(NULL, 0, 0, 0)), 50);
		assert_int_equal(high(asked, key_of_bytes("\0", 1, 0, 0)), 40);
		assert_int_equal(sketch_counts_top(asked, heavy, 20), 8);
		assert_int_equal(heavy[0].length, LENGTH);
		assert_int_equal(heavy[0].stored, SKETCH_MAX_KEY);
		assert_int_equal(heavy[1].length, 0);
		assert_int_equal(heavy[7].length, 4095);
		assert_int_equal(heavy[7].stored, 4095);
	}
	assert_same_file(counts, again);
	bytes_free(&bytes);
	sketch_counts_free(counts);
	sketch_counts_free(again);
}

static void add__equal_hashes_of_other_keys__are_kept_apart(void **unused)
{
	struct sketch_counts *counts = conservative(8, 2, 4);
	struct sketch_key a = key_of_text("one", 3), b = key_of_text("two", 4),
			  c = key_of_text("ones", 5);

	(void)unused;
	b.hash = c.hash = a.hash;
	assert_int_equal(add(counts, a), 3);
	assert_int_equal(add(counts, b), 4);
	assert_int_equal(add(counts, c), 5);
	assert_int_equal(high(counts, a), 3);
	sketch_counts_free(counts);
}

/* --------------------------------------------------------------------- unions */

static void union__of_ten_plain_shards__is_the_file_of_the_whole(void **unused)
{
	struct dice dice = { 8 };

	(void)unused;
	for (unsigned int weights = 0; weights < 4; weights++) {
		struct sketch_counts *whole = plain(300, 4), *shards[10], *sum = plain(300, 4);
		struct model model = model_make(5000, 0);
		uint64_t records[10] = { 0 };

		for (size_t i = 0; i < 10; i++)
			shards[i] = plain(300, 4);
		for (size_t i = 0; i < 20000; i++) {
			struct sketch_key key = model.keys[draw_key(&dice, 5000)];
			size_t shard = (size_t)dice_below(&dice, 10);

			key.weight = draw_weight(&dice, weights);
			add(whole, key);
			add(shards[shard], key);
			records[shard]++;
		}
		sketch_counts_set_records(whole, 20000);
		for (size_t i = 0; i < 10; i++) {
			size_t shard = (3 * i + 1) % 10;

			sketch_counts_set_records(shards[shard], records[shard]);
			unite(sum, shards[shard]);
			sketch_counts_free(shards[shard]);
		}
		assert_int_equal(state_of(whole).cell_bits, weights < 2 ? 32 : 64);
		assert_same_file(whole, sum);
		sketch_counts_free(whole);
		sketch_counts_free(sum);
		model_free(&model);
	}
}

static void union__sum_of_cells_beyond_32_bits__widens(void **unused)
{
	struct sketch_counts *a = plain(4, 2), *b = plain(4, 2);

	(void)unused;
	add(a, key_of_text("k", UINT32_MAX));
	add(b, key_of_text("k", 2));
	unite(a, b);
	assert_int_equal(high(a, key_of_text("k", 0)), UINT64_C(0x100000001));
	assert_int_equal(state_of(a).cell_bits, 64);
	unite(b, a);
	assert_int_equal(high(b, key_of_text("k", 0)), UINT64_C(0x100000003));
	sketch_counts_free(a);
	sketch_counts_free(b);
}

static void union__of_what_differs__names_the_field(void **unused)
{
	struct sketch_counts *a = conservative(8, 2, 4), *others[] = {
		conservative(9, 2, 4), conservative(8, 3, 4),
		plain(8, 2),           make(8, 2, SKETCH_CONSERVATIVE, 4, 1, UINT64_MAX),
		conservative(8, 2, 4),
	};
	static const char *const words[] = { "w", "d", "rule", "seed", "case" };
	struct bytes before = counts_written(a), after;

	(void)unused;
	others[4]->identity.transforms = SKETCH_FOLD_ASCII;
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		struct sketch_error error;

		assert_int_equal(SKETCH_MISMATCH, sketch_counts_union(a, others[i], &error));
		assert_error(SKETCH_MISMATCH, &error);
		assert_true(has_word(error.text, words[i]));
		assert_int_equal(SKETCH_MISMATCH, sketch_counts_compatible(others[i], a, NULL));
		sketch_counts_free(others[i]);
	}
	after = counts_written(a);
	assert_true(bytes_equal(&before, &after));
	bytes_free(&before);
	bytes_free(&after);
	sketch_counts_free(a);
}

static void union__of_records__adds_up_and_stays_at_the_most(void **unused)
{
	struct sketch_counts *a = plain(8, 2), *b = plain(8, 2);

	(void)unused;
	sketch_counts_set_records(a, 5);
	sketch_counts_set_records(b, UINT64_MAX - 6);
	unite(a, b);
	assert_int_equal(sketch_counts_records(a), UINT64_MAX - 1);
	unite(a, b);
	assert_int_equal(sketch_counts_records(a), UINT64_MAX);
	sketch_counts_free(a);
	sketch_counts_free(b);
}

/* ---------------------------------------------------------------------- files */

static void write__any_sketch__is_read_and_written_again_the_same(void **unused)
{
	struct dice dice = { 9 };

	(void)unused;
	for (size_t round = 0; round < effort(60); round++) {
		bool linear = round % 3 == 2;
		struct model model = model_make((size_t)dice_between(&dice, 1, 1500), 3);
		struct sketch_counts *counts =
			make(dice_between(&dice, 1, round % 10 ? 200 : 30000),
			     (uint32_t)dice_between(&dice, 1, 6),
			     linear ? SKETCH_PLAIN : SKETCH_CONSERVATIVE,
			     linear ? 0 : any_tracked(&dice), 3, UINT64_MAX);
		struct sketch_counts *again;
		struct bytes bytes;

		feed(counts, &model, &dice, (size_t)dice_below(&dice, 4000),
		     (unsigned int)dice_below(&dice, 4));
		sketch_counts_set_records(counts, dice_next(&dice));
		bytes = counts_written(counts);
		again = read_again(&bytes);
		assert_same_file(counts, again);
		check_all(again, &model);
		assert_int_equal(sketch_counts_records(counts), sketch_counts_records(again));
		assert_memory_equal(sketch_counts_identity(counts), sketch_counts_identity(again),
				    sizeof(struct sketch_identity));
		feed(again, &model, &dice, 1000, 1);
		check_all(again, &model);
		bytes_free(&bytes);
		sketch_counts_free(counts);
		sketch_counts_free(again);
		model_free(&model);
	}
}

static struct bytes small_file(void)
{
	struct sketch_counts *counts = conservative(3, 2, 3);
	static const char *const words[] = { "one", "two", "three", "four", "five", "four" };
	struct bytes bytes;

	for (size_t i = 0; i < COUNT_OF(words); i++)
		add(counts, key_of_text(words[i], i + 1));
	sketch_counts_set_records(counts, 6);
	bytes = counts_written(counts);
	sketch_counts_free(counts);
	return bytes;
}

static void read__any_flipped_bit_or_other_length__is_refused(void **unused)
{
	struct bytes whole = small_file();
	struct sketch_counts *counts;
	struct sketch_error error;

	(void)unused;
	for (size_t bit = 0; bit < 8 * whole.length; bit++) {
		whole.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_not_equal(SKETCH_OK, counts_reread(&whole, UINT64_MAX, &counts, &error));
		assert_error(error.status, &error);
		whole.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t length = 0; length < whole.length; length++) {
		struct bytes cut = { whole.data, length };

		assert_int_not_equal(SKETCH_OK, counts_reread(&cut, UINT64_MAX, &counts, &error));
		assert_error(error.status, &error);
	}
	sketch_counts_free(read_again(&whole));
	bytes_free(&whole);
}

static void assert_refused(struct bytes *file, enum sketch_status status)
{
	struct sketch_counts *counts;
	struct sketch_error error;

	file_seal(file);
	assert_status(status, counts_reread(file, UINT64_MAX, &counts, &error), &error);
	assert_error(status, &error);
	bytes_free(file);
}

/* The small file with a field of a section changed; `bytes` is 4 or 8. */
static struct bytes altered(uint32_t type, uint32_t index, size_t at, int bytes, uint64_t value)
{
	struct bytes file = small_file();
	struct section section = section_find(&file, type, index);
	uint8_t *field = file.data + section.offset + at;

	if (bytes == 4)
		put32(field, (uint32_t)value);
	else
		put64(field, value);
	return file;
}

static void read__table_field_out_of_range__is_refused(void **unused)
{
	static const struct {
		size_t at;
		int bytes;
		uint64_t value;
		enum sketch_status status;
	} cases[] = {
		{ 0, 4, 0, SKETCH_DAMAGED },
		{ 0, 4, 1, SKETCH_DAMAGED },
		{ 0, 4, 3, SKETCH_DAMAGED },
		{ 0, 4, 65, SKETCH_DAMAGED },
		{ 0, 4, UINT32_MAX, SKETCH_DAMAGED },
		{ 4, 4, 0, SKETCH_UNSUPPORTED },
		{ 4, 4, 16, SKETCH_UNSUPPORTED },
		{ 4, 4, 64, SKETCH_DAMAGED },
		{ 8, 4, 0, SKETCH_DAMAGED },
		{ 8, 4, 2, SKETCH_DAMAGED },
		{ 8, 4, 3, SKETCH_DAMAGED },
		{ 8, 4, UINT32_MAX, SKETCH_DAMAGED },
		{ 12, 4, 1, SKETCH_DAMAGED },
		{ 12, 4, 3, SKETCH_UNSUPPORTED },
		{ 16, 8, 0, SKETCH_DAMAGED },
		{ 16, 8, 2, SKETCH_DAMAGED },
		{ 16, 8, 4, SKETCH_DAMAGED },
		{ 16, 8, UINT64_C(1) << 61, SKETCH_DAMAGED },
		{ 16, 8, (UINT64_C(1) << 61) + 3, SKETCH_DAMAGED },
		{ 16, 8, (UINT64_C(1) << 63) + 3, SKETCH_DAMAGED },
		{ 16, 8, UINT64_MAX, SKETCH_DAMAGED },
		{ 24, 8, 0, SKETCH_DAMAGED },
		{ 24, 8, 22, SKETCH_DAMAGED },
		{ 24, 8, UINT64_MAX, SKETCH_DAMAGED },
		{ 32, 8, 0, SKETCH_DAMAGED },
		{ 32, 8, 22, SKETCH_DAMAGED },
		{ 32, 8, UINT64_MAX, SKETCH_DAMAGED },
		{ 40, 8, 1, SKETCH_DAMAGED },
		{ 48, 8, 1, SKETCH_DAMAGED },
		{ 56, 8, 0, SKETCH_DAMAGED },
		{ 56, 8, 2, SKETCH_DAMAGED },
		{ 56, 8, (1 << 24) + 1, SKETCH_DAMAGED },
		{ 56, 8, UINT64_MAX, SKETCH_DAMAGED },
		{ 64, 8, 22, SKETCH_DAMAGED },
		{ 64, 8, UINT64_MAX, SKETCH_DAMAGED },
		{ 72, 8, 1, SKETCH_DAMAGED },
		{ 120, 8, UINT64_C(1) << 63, SKETCH_DAMAGED },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct bytes file =
			altered(FORMAT_TABLE, 0, cases[i].at, cases[i].bytes, cases[i].value);

		assert_refused(&file, cases[i].status);
	}
}

static void read__tracked_key_out_of_range__is_refused(void **unused)
{
	static const struct {
		size_t at;
		int bytes;
		uint64_t value;
	} cases[] = {
		{ 0, 4, 0 },           { 0, 4, 4097 },
		{ 0, 4, UINT32_MAX },  { 0, 4, UINT32_MAX - 6 },
		{ 4, 4, 1 },           { 4, 4, 2 },
		{ 8, 8, 0 },           { 8, 8, 100 },
		{ 8, 8, UINT64_MAX },  { 16, 8, 0 },
		{ 16, 8, UINT64_MAX }, { 24, 8, 5 },
		{ 32, 8, 0 },          { 32, 8, 22 },
		{ 32, 8, UINT64_MAX }, { 40, 8, 22 },
		{ 40, 8, UINT64_MAX }, { 48, 8, UINT64_MAX },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct bytes file =
			altered(FORMAT_KEYS, 1, cases[i].at, cases[i].bytes, cases[i].value);

		assert_refused(&file, SKETCH_DAMAGED);
	}
}

static void read__tracked_keys_in_other_order_or_twice__is_refused(void **unused)
{
	(void)unused;
	for (int way = 0; way < 2; way++) {
		/* Each word of the file has at most eight bytes: records of 56. */
		struct bytes file = small_file();
		struct section keys = section_find(&file, FORMAT_KEYS, 1);
		uint8_t *at = file.data + keys.offset, first[56];

		assert_int_equal(keys.length, 3 * 56);
		memcpy(first, at, 56);
		if (way == 0)
			memcpy(at, at + 56, 56);
		memcpy(at + 56, first, 56);
		assert_refused(&file, SKETCH_DAMAGED);
	}
}

static void read__cells_that_do_not_add_up__is_refused(void **unused)
{
	struct bytes file = altered(FORMAT_CELLS, 0, 0, 4, UINT32_MAX);

	(void)unused;
	assert_refused(&file, SKETCH_DAMAGED);
	file = altered(FORMAT_CELLS, 0, 20, 4, 1000);
	assert_refused(&file, SKETCH_DAMAGED);
}

static void read__sections_that_overlap_or_lack__is_refused(void **unused)
{
	static const size_t fields[] = { 0, 4, 8, 16 };

	(void)unused;
	for (size_t entry = 0; entry < 5; entry++) {
		for (size_t i = 0; i < COUNT_OF(fields); i++) {
			static const uint64_t values[] = { 0,
							   1,
							   2,
							   3,
							   4,
							   64,
							   320,
							   384,
							   448,
							   640,
							   UINT64_MAX,
							   UINT64_MAX - 63,
							   UINT64_C(1) << 63 };

			for (size_t v = 0; v < COUNT_OF(values); v++) {
				struct bytes file = small_file();
				uint8_t *at = file.data + FORMAT_HEADER_BYTES +
					      entry * FORMAT_ENTRY_BYTES + fields[i];
				bool wide = fields[i] >= 8;
				uint64_t value = wide ? values[v] : (uint32_t)values[v];
				struct sketch_counts *counts;
				struct sketch_error error;

				if ((wide ? get64(at) : get32(at)) == value) {
					bytes_free(&file);
					continue;
				}
				if (wide)
					put64(at, value);
				else
					put32(at, (uint32_t)value);
				/* What becomes of the chunks is no matter: the table is
				 * wrong. */
				put32(file.data + 120,
				      reference_crc32c(0, file.data + FORMAT_HEADER_BYTES,
						       5 * FORMAT_ENTRY_BYTES));
				put32(file.data + 124, reference_crc32c(0, file.data, 124));
				assert_int_not_equal(SKETCH_OK, counts_reread(&file, UINT64_MAX,
									      &counts, &error));
				assert_error(error.status, &error);
				bytes_free(&file);
			}
		}
	}
}

static void read__room_for_2_24_keys_with_few__takes_no_memory_for_them(void **unused)
{
	struct bytes file = altered(FORMAT_TABLE, 0, 56, 8, 1 << 24);
	struct sketch_counts *counts;

	(void)unused;
	file_seal(&file);
	counts = read_again(&file);
	assert_true(counts->tracked.room <= 1024);
	assert_int_equal(counts->tracked.capacity, 1 << 24);
	bytes_free(&file);
	sketch_counts_free(counts);
}

static void read__beyond_the_budget__is_refused(void **unused)
{
	struct sketch_counts *counts = plain(5000, 3);
	struct bytes bytes = counts_written(counts);
	struct sketch_error error;

	(void)unused;
	sketch_counts_free(counts);
	assert_int_equal(SKETCH_NO_MEMORY, counts_reread(&bytes, 59999, &counts, &error));
	assert_error(SKETCH_NO_MEMORY, &error);
	bytes_free(&bytes);
}

static void read__of_another_kind__says_so(void **unused)
{
	struct sketch_params params = params_classic(64, 2);
	struct sketch_bloom *filter = filter_make(&params);
	struct bytes bytes = filter_bytes(filter), counts_bytes = small_file();
	struct sketch_counts *counts;
	struct sketch_error error;
	struct sketch_bloom *other = NULL;
	int fd = bytes_to_fd(&counts_bytes);

	(void)unused;
	assert_int_equal(SKETCH_UNSUPPORTED, counts_reread(&bytes, UINT64_MAX, &counts, &error));
	assert_error(SKETCH_UNSUPPORTED, &error);
	assert_int_equal(SKETCH_UNSUPPORTED,
			 sketch_bloom_read(&other, fd, SKETCH_WRITABLE, UINT64_MAX, NULL, &error));
	assert_error(SKETCH_UNSUPPORTED, &error);
	close(fd);
	bytes_free(&bytes);
	bytes_free(&counts_bytes);
	sketch_bloom_free(filter);
}

/* -------------------------------------------------------------------- golden */

static void read__golden_files__are_written_again_the_same(void **unused)
{
	static const char *const names[] = {
		"counts-plain",        "counts-wide",          "counts-exact",
		"counts-folded",       "counts-empty",         "counts-window-records",
		"counts-window-few",   "counts-window-plain",  "counts-window-evicted",
		"counts-window-empty", "counts-window-time",   "counts-decay-records",
		"counts-decay-fast",   "counts-decay-evicted", "counts-decay-untracked",
		"counts-decay-time",   "counts-keyed",         "counts-keyed-plain"
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		char name[64], path[512];
		struct sketch_counts *counts;
		struct bytes bytes, again;

		snprintf(name, sizeof name, "tests/golden/%s.cms", names[i]);
		top_path(path, name);
		bytes = bytes_from_file(path);
		assert_non_null(bytes.data);
		counts = read_again(&bytes);
		again = counts_written(counts);
		assert_true(bytes_equal(&bytes, &again));
		bytes_free(&bytes);
		bytes_free(&again);
		sketch_counts_free(counts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan__published_table__gives_w_and_d),
		cmocka_unit_test(plan__out_of_range__is_refused_and_leaves_all),
		cmocka_unit_test(new__out_of_range_or_too_large__is_refused_before_memory_is_taken),
		cmocka_unit_test(add__classroom_table__gives_its_estimates),
		cmocka_unit_test(add__two_keys_in_two_by_two__echo_is_the_query_and_not_below),
		cmocka_unit_test(add__any_stream__is_never_below_and_bounds_hold),
		cmocka_unit_test(union__of_two_to_ten__bounds_hold_and_go_on_holding),
		cmocka_unit_test(union__with_one_that_tracks_none__bounds_hold),
		cmocka_unit_test(add__while_all_keys_fit__is_exact),
		cmocka_unit_test(union__of_full_ones_with_the_same_keys__stays_exact),
		cmocka_unit_test(query__excess_above_epsilon_n__is_rarer_than_delta),
		cmocka_unit_test(
			top__any_stream__is_sorted_without_repeats_and_names_what_is_heavy),
		cmocka_unit_test(add__in_calls_of_any_length__gives_equal_files),
		cmocka_unit_test(add__of_weight_0__counts_nothing),
		cmocka_unit_test(add__late_rare_keys__bounds_show_what_they_inherit),
		cmocka_unit_test(add__beyond_32_bits__widens_once_and_only_then),
		cmocka_unit_test(add__step_of_two_across_the_largest__is_noticed),
		cmocka_unit_test(add__evicted_key_beyond_32_bits__goes_to_the_table_whole),
		cmocka_unit_test(add__wider_cells_refused__stops_there_and_stays_usable),
		cmocka_unit_test(add__total_beyond_64_bits__is_refused_where_it_happens),
		cmocka_unit_test(union__total_beyond_64_bits__is_refused_and_changes_nothing),
		cmocka_unit_test(add__long_keys__differ_in_their_tails),
		cmocka_unit_test(add__equal_hashes_of_other_keys__are_kept_apart),
		cmocka_unit_test(union__of_ten_plain_shards__is_the_file_of_the_whole),
		cmocka_unit_test(union__sum_of_cells_beyond_32_bits__widens),
		cmocka_unit_test(union__of_what_differs__names_the_field),
		cmocka_unit_test(union__of_records__adds_up_and_stays_at_the_most),
		cmocka_unit_test(write__any_sketch__is_read_and_written_again_the_same),
		cmocka_unit_test(read__any_flipped_bit_or_other_length__is_refused),
		cmocka_unit_test(read__table_field_out_of_range__is_refused),
		cmocka_unit_test(read__tracked_key_out_of_range__is_refused),
		cmocka_unit_test(read__tracked_keys_in_other_order_or_twice__is_refused),
		cmocka_unit_test(read__cells_that_do_not_add_up__is_refused),
		cmocka_unit_test(read__sections_that_overlap_or_lack__is_refused),
		cmocka_unit_test(read__room_for_2_24_keys_with_few__takes_no_memory_for_them),
		cmocka_unit_test(read__beyond_the_budget__is_refused),
		cmocka_unit_test(read__of_another_kind__says_so),
		cmocka_unit_test(read__golden_files__are_written_again_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
