/* Counting filters: the counters against a model of them, membership against the exact
 * multiset of keys, what is refused, full counters, unions, files. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bloom.h"
#include "format.h"
#include "support.h"

static const unsigned int widths[] = { 4, 8, 16 };

static struct sketch_bloom *make(const struct sketch_params *params, unsigned int bits)
{
	const struct sketch_identity identity = IDENTITY;
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;

	assert_status(SKETCH_OK,
		      sketch_counting_new(&filter, &identity, params, bits, UINT64_MAX, &error),
		      &error);
	return filter;
}

static bool take_out(struct sketch_bloom *filter, struct sketch_hash hash)
{
	uint64_t removed;
	size_t count = sketch_counting_remove(filter, &hash, 1, &removed);

	assert_int_equal(removed, count);
	return count == 1;
}

/* --------------------------------------------------------------------- model */

/* A number for each counter, by the words of the format page. */
struct model {
	struct sketch_params params;
	unsigned int bits, full;
	unsigned int *counters;
};

static struct model model_make(const struct sketch_params *params, unsigned int bits)
{
	struct model model = { *params, bits, (1u << bits) - 1,
			       calloc((size_t)params->m, sizeof(unsigned int)) };

	assert_non_null(model.counters);
	return model;
}

static void model_add(struct model *model, struct sketch_hash hash)
{
	uint64_t at[SKETCH_MAX_HASHES];

	reference_positions(&model->params, hash, at);
	for (uint32_t i = 0; i < model->params.k; i++)
		if (model->counters[at[i]] < model->full)
			model->counters[at[i]]++;
}

static bool model_remove(struct model *model, struct sketch_hash hash)
{
	uint64_t at[SKETCH_MAX_HASHES];
	unsigned int before[SKETCH_MAX_HASHES];

	reference_positions(&model->params, hash, at);
	for (uint32_t i = 0; i < model->params.k; i++)
		before[i] = model->counters[at[i]];
	for (uint32_t i = 0; i < model->params.k; i++) {
		if (model->counters[at[i]] == 0) {
			for (uint32_t j = 0; j < model->params.k; j++)
				model->counters[at[j]] = before[j];
			return false;
		}
		if (model->counters[at[i]] < model->full)
			model->counters[at[i]]--;
	}
	return true;
}

static bool model_has(const struct model *model, struct sketch_hash hash)
{
	uint64_t at[SKETCH_MAX_HASHES];

	reference_positions(&model->params, hash, at);
	for (uint32_t i = 0; i < model->params.k; i++)
		if (model->counters[at[i]] == 0)
			return false;
	return true;
}

/* The counters of the file, and what the state says of them. */
static void assert_counters(struct sketch_bloom *filter, const struct model *model)
{
	struct bytes file = filter_bytes(filter);
	struct section section = section_find(&file, FORMAT_COUNTERS, 0);
	const uint8_t *data = file.data + section.offset;
	struct sketch_counting_state state, expected = { 0 };
	struct sketch_bloom_state whole;
	uint64_t used = 0;

	assert_int_equal(section.length, model->params.m / 8 * model->bits);
	for (uint64_t i = 0; i < model->params.m; i++) {
		unsigned int want = model->counters[i];
		unsigned int got = model->bits == 4 ?
					   (unsigned int)data[i / 2] >> (i % 2 * 4) & 15u :
				   model->bits == 8 ? (unsigned int)data[i] :
						      data[2 * i] + 256u * data[2 * i + 1];

		if (got != want)
			fail_msg("counter %llu is %u, not %u", (unsigned long long)i, got, want);
		expected.sum += want;
		expected.full += want == model->full;
		expected.largest = want > expected.largest ? want : expected.largest;
		used += want > 0;
	}
	assert_status(SKETCH_OK, sketch_counting_state(filter, &state, NULL), NULL);
	assert_int_equal(state.sum, expected.sum);
	assert_int_equal(state.full, expected.full);
	assert_int_equal(state.largest, expected.largest);
	assert_status(SKETCH_OK, sketch_bloom_state(filter, 0, &whole, NULL), NULL);
	assert_int_equal(whole.ones, used);
	bytes_free(&file);
}

static void check_against_model(struct dice *dice, const struct sketch_params *params,
				unsigned int bits)
{
	struct sketch_bloom *filter = make(params, bits);
	struct model model = model_make(params, bits);
	struct sketch_hash pool[40];

	for (size_t i = 0; i < COUNT_OF(pool); i++)
		pool[i] = dice_hash(dice);
	for (size_t round = 0; round < 30; round++) {
		struct sketch_hash batch[150];
		size_t count = dice_between(dice, 0, COUNT_OF(batch));
		uint64_t result[(COUNT_OF(batch) + 63) / 64] = { 0 }, what = dice_below(dice, 4);

		for (size_t i = 0; i < count; i++)
			batch[i] = pool[dice_below(dice, COUNT_OF(pool))];
		if (what == 0)
			sketch_bloom_add(filter, batch, count);
		else if (what == 1)
			sketch_bloom_test_and_add(filter, batch, count, result);
		else if (what == 2)
			sketch_counting_remove(filter, batch, count, result);
		else
			assert_status(SKETCH_OK,
				      sketch_bloom_test(filter, batch, count, result, NULL), NULL);
		for (size_t i = 0; i < count; i++) {
			bool expected = what == 2 ? model_remove(&model, batch[i]) :
						    model_has(&model, batch[i]);

			if (what < 2)
				model_add(&model, batch[i]);
			if (what > 0)
				assert_int_equal(result[i / 64] >> i % 64 & 1, expected);
		}
	}
	assert_counters(filter, &model);
	free(model.counters);
	sketch_bloom_free(filter);
}

static void add_remove_test__random_filters__agree_with_the_model(void **unused)
{
	struct dice dice = { 11 };

	(void)unused;
	for (size_t i = 0; i < (run_slow() ? 30 : 300); i++) {
		struct sketch_params params = params_random(&dice);

		check_against_model(&dice, &params, widths[i % COUNT_OF(widths)]);
	}
}

static void add_remove_test__extreme_parameters__agree_with_the_model(void **unused)
{
	const struct sketch_params extremes[] = {
		params_classic(64, 1),      params_classic(64, 255),   params_blocked(1, 1, 1),
		params_blocked(1, 1, 8),    params_blocked(1, 1, 255), params_blocked(2, 255, 255),
		params_blocked(2, 31, 248), params_blocked(3, 1, 57),
	};
	struct dice dice = { 12 };

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(extremes); i++)
		for (size_t w = 0; w < COUNT_OF(widths); w++)
			check_against_model(&dice, &extremes[i], widths[w]);
}

/* ------------------------------------------------------------------ multiset */

#define POOL 20000

/* Keys come and go at random; after each stretch every key that is in the exact multiset
 * is found.  Only what was put in is taken out. */
static void check_multiset(const struct sketch_params *params, unsigned int bits, uint64_t seed,
			   size_t operations)
{
	struct dice dice = { seed };
	struct sketch_bloom *filter = make(params, bits);
	unsigned char *copies = calloc(POOL, 1);

	assert_non_null(copies);
	for (size_t done = 0; done < operations; done++) {
		size_t key = dice_below(&dice, POOL);
		struct dice of_key = { key };
		struct sketch_hash hash = dice_hash(&of_key);

		/* Never so many copies of one that its counters could be full. */
		if (copies[key] > 0 && (copies[key] == 3 || dice_below(&dice, 2))) {
			assert_true(take_out(filter, hash));
			copies[key]--;
		} else {
			filter_add(filter, hash);
			copies[key]++;
		}
		if ((done + 1) % (operations / 8) != 0)
			continue;
		for (size_t i = 0; i < POOL; i++) {
			struct dice again = { i };

			if (copies[i] > 0 && !filter_has(filter, dice_hash(&again)))
				fail_msg("key %zu of %u copies is missed", i, copies[i]);
		}
	}
	free(copies);
	sketch_bloom_free(filter);
}

static void multiset__millions_come_and_go__none_is_missed(void **unused)
{
	const struct sketch_params layouts[] = { params_classic(64 * 3000, 7),
						 params_blocked(400, 1, 8),
						 params_blocked(200, 2, 14) };

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(layouts); i++)
		check_multiset(&layouts[i], widths[i], 100 + i, run_slow() ? 200000 : 2000000);
}

/* What is left has the very bits of the plain filter of what is left: so its rate is that
 * of a plain filter, which tests/stat measures. */
static void take_out__half_of_the_keys__leaves_the_bits_of_the_others(void **unused)
{
	struct dice dice = { 21 };
	size_t compared = 0;

	(void)unused;
	for (size_t set = 0; set < 60; set++) {
		struct sketch_params params = params_random(&dice);
		unsigned int width = widths[1 + set % 2];
		struct sketch_bloom *counting = make(&params, width), *plain = filter_make(&params);
		struct sketch_hash keys[100];

		for (size_t i = 0; i < COUNT_OF(keys); i++)
			keys[i] = dice_hash(&dice);
		sketch_bloom_add(counting, keys, COUNT_OF(keys));
		sketch_bloom_add(plain, keys, COUNT_OF(keys) / 2);
		for (size_t i = COUNT_OF(keys); i-- > COUNT_OF(keys) / 2;) {
			struct sketch_counting_state state;

			/* A full counter forgets how many it had: not the case meant here. */
			assert_status(SKETCH_OK, sketch_counting_state(counting, &state, NULL),
				      NULL);
			if (state.full > 0)
				break;
			assert_true(take_out(counting, keys[i]));
			if (i > COUNT_OF(keys) / 2)
				continue;
			compared++;
			for (size_t j = 0; j < 2000; j++) {
				struct sketch_hash hash = dice_hash(&dice);

				assert_int_equal(filter_has(counting, hash),
						 filter_has(plain, hash));
			}
			struct sketch_bloom_state a, b;

			assert_status(SKETCH_OK, sketch_bloom_state(counting, 0, &a, NULL), NULL);
			assert_status(SKETCH_OK, sketch_bloom_state(plain, 0, &b, NULL), NULL);
			assert_int_equal(a.ones, b.ones);
			assert_near(a.rate, b.rate, 1e-12);
			assert_near(a.distinct, b.distinct, 1e-12);
		}
		sketch_bloom_free(counting);
		sketch_bloom_free(plain);
	}
	assert_in_range(compared, 40, 60);
}

static void take_out__key_put_in_twice__is_there_until_taken_out_twice(void **unused)
{
	const struct sketch_params params = params_blocked(4, 1, 8);
	struct sketch_hash apple = hash_text("apple", 0);

	(void)unused;
	for (size_t w = 0; w < COUNT_OF(widths); w++) {
		struct sketch_bloom *filter = make(&params, widths[w]);

		filter_add(filter, apple);
		filter_add(filter, apple);
		assert_true(take_out(filter, apple));
		assert_true(filter_has(filter, apple));
		assert_true(take_out(filter, apple));
		assert_false(filter_has(filter, apple));
		assert_false(take_out(filter, apple));
		sketch_bloom_free(filter);
	}
}

static void take_out__key_that_is_not_there__changes_nothing(void **unused)
{
	struct dice dice = { 31 };

	(void)unused;
	for (size_t set = 0; set < 200; set++) {
		struct sketch_params params = params_random(&dice);
		struct sketch_bloom *filter = make(&params, widths[set % 3]);
		struct bytes before, after;

		for (size_t i = 0; i < 30; i++)
			filter_add(filter, dice_hash(&dice));
		before = filter_bytes(filter);
		for (size_t i = 0; i < 50; i++) {
			struct sketch_hash hash = dice_hash(&dice);

			if (!filter_has(filter, hash))
				assert_false(take_out(filter, hash));
		}
		after = filter_bytes(filter);
		assert_true(bytes_equal(&before, &after));
		bytes_free(&before);
		bytes_free(&after);
		sketch_bloom_free(filter);
	}
}

/* A key whose positions coincide has a counter of 2 or more; where it is 1 the key is not
 * there, though no counter is 0. */
static void take_out__coinciding_positions_of_another__is_refused(void **unused)
{
	const struct sketch_params params = params_classic(64, 2);
	struct sketch_bloom *filter = make(&params, 4);
	struct dice dice = { 32 };
	struct sketch_hash twice, once;
	uint64_t at[SKETCH_MAX_HASHES], other[SKETCH_MAX_HASHES];

	(void)unused;
	do {
		twice = dice_hash(&dice);
		reference_positions(&params, twice, at);
	} while (at[0] != at[1]);
	do {
		once = dice_hash(&dice);
		reference_positions(&params, once, other);
	} while ((other[0] == at[0]) == (other[1] == at[0]));
	filter_add(filter, once);
	assert_true(filter_has(filter, twice));
	assert_false(take_out(filter, twice));
	assert_true(filter_has(filter, once));
	filter_add(filter, twice);
	assert_true(take_out(filter, twice));
	assert_true(take_out(filter, once));
	sketch_bloom_free(filter);
}

/* --------------------------------------------------------------- full counters */

static void overflow__more_copies_than_a_counter_holds__the_key_stays_for_ever(void **unused)
{
	const struct sketch_params params = params_classic(1024, 7);
	struct sketch_hash apple = hash_text("apple", 0), berry = hash_text("berry", 0);

	(void)unused;
	for (size_t w = 0; w < COUNT_OF(widths); w++) {
		struct sketch_bloom *filter = make(&params, widths[w]);
		struct sketch_counting_state state;
		size_t most = ((size_t)1 << widths[w]) - 1;

		for (size_t i = 0; i + 1 < most; i++)
			filter_add(filter, apple);
		assert_status(SKETCH_OK, sketch_counting_state(filter, &state, NULL), NULL);
		assert_int_equal(state.full, 0);
		assert_int_equal(state.largest, most - 1);
		for (size_t i = 0; i < 5; i++)
			filter_add(filter, apple);
		filter_add(filter, berry);
		assert_status(SKETCH_OK, sketch_counting_state(filter, &state, NULL), NULL);
		assert_int_equal(state.full, params.k);
		for (size_t i = 0; i < most + 10; i++)
			assert_true(take_out(filter, apple));
		assert_true(filter_has(filter, apple));
		assert_true(take_out(filter, berry));
		assert_false(filter_has(filter, berry));
		sketch_bloom_free(filter);
	}
}

/* P(Poisson(mean) >= least) by summing what is below it. */
static double tail_by_complement(double mean, unsigned int least)
{
	double term = exp(-mean), sum = term;

	for (unsigned int i = 1; i < least; i++) {
		term *= mean / i;
		sum += term;
	}
	return 1 - sum;
}

static void overflow__bound__is_the_tail_where_that_can_be_summed(void **unused)
{
	const struct sketch_params params = params_classic(64000, 8);

	(void)unused;
	for (uint64_t keys = 24000; keys <= 100000; keys += 4000) {
		double mean = (double)keys * 8 / 64000;
		double bound = sketch_counting_overflow(&params, 4, keys) / 64000;

		/* The rest of the series is bounded by a geometric one, 1 + mean / (least + 1)
		 * + ... : at most as much too high as that exceeds the true rest. */
		assert_true(bound >= tail_by_complement(mean, 15) * (1 - 1e-9));
		assert_true(bound <= tail_by_complement(mean, 15) * 1.5);
	}
	assert_true(sketch_counting_overflow(&params, 4, 0) == 0);
	assert_near(sketch_counting_overflow(&params, 4, UINT64_MAX), 64000, 1e-12);
	assert_true(sketch_counting_overflow(&params, 16, 1) >= DBL_MIN);
}

/* Of many filters the mean number of full counters is at most the bound and 5 standard
 * deviations of the mean, and not far below it: a Chernoff bound is the loosest. */
static void overflow__overfull_filters__keep_the_bound(void **unused)
{
	const struct sketch_params layouts[] = { params_classic(6400, 8), params_blocked(12, 1, 8),
						 params_blocked(12, 1, 12),
						 params_blocked(6, 2, 14) };
	struct dice dice = { 41 };

	(void)unused;
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		const struct sketch_params *params = &layouts[l];
		uint64_t keys = params->m * 6 / params->k;
		double bound = sketch_counting_overflow(params, 4, keys), sum = 0, squares = 0;
		double mean, deviation;
		unsigned int filters = 200;

		for (unsigned int f = 0; f < filters; f++) {
			struct sketch_bloom *filter = make(params, 4);
			struct sketch_counting_state state;

			for (uint64_t i = 0; i < keys; i++)
				filter_add(filter, dice_hash(&dice));
			assert_status(SKETCH_OK, sketch_counting_state(filter, &state, NULL), NULL);
			sum += (double)state.full;
			squares += (double)state.full * (double)state.full;
			sketch_bloom_free(filter);
		}
		mean = sum / filters;
		deviation = sqrt((squares / filters - mean * mean) / filters);
		print_message("%zu: %.3f full counters, bound %.3f\n", l, mean, bound);
		assert_true(mean <= bound + 5 * deviation);
		assert_true(mean >= bound / 20);
	}
}

/* -------------------------------------------------------------------- unions */

static void union__of_shards__is_the_filter_of_the_whole(void **unused)
{
	struct dice dice = { 51 };

	(void)unused;
	for (size_t set = 0; set < 60; set++) {
		struct sketch_params params = params_random(&dice);
		unsigned int width = widths[set % 3];
		struct sketch_bloom *whole = make(&params, width), *parts[2];
		struct bytes a, b;

		parts[0] = make(&params, width);
		parts[1] = make(&params, width);
		/* Few keys with many copies: some counters of 4 bits are full. */
		for (size_t i = 0; i < 200; i++) {
			struct dice few = { dice_below(&dice, 30) };
			struct sketch_hash hash = dice_hash(&few);

			filter_add(whole, hash);
			filter_add(parts[dice_below(&dice, 2)], hash);
		}
		sketch_bloom_set_records(whole, 200);
		sketch_bloom_set_records(parts[0], 150);
		sketch_bloom_set_records(parts[1], 50);
		assert_status(SKETCH_OK, sketch_bloom_union(parts[0], parts[1], NULL), NULL);
		a = filter_bytes(whole);
		b = filter_bytes(parts[0]);
		assert_true(bytes_equal(&a, &b));
		bytes_free(&a);
		bytes_free(&b);
		sketch_bloom_free(whole);
		sketch_bloom_free(parts[0]);
		sketch_bloom_free(parts[1]);
	}
}

static void union__other_counters__is_refused_and_says_so(void **unused)
{
	const struct sketch_params params = params_classic(1024, 7);
	struct sketch_bloom *four = make(&params, 4), *eight = make(&params, 8),
			    *plain = filter_make(&params);
	struct sketch_error error;

	(void)unused;
	assert_status(SKETCH_MISMATCH, sketch_bloom_union(four, eight, &error), &error);
	assert_non_null(strstr(error.text, "counter"));
	assert_status(SKETCH_MISMATCH, sketch_bloom_union(plain, four, &error), &error);
	assert_non_null(strstr(error.text, "kind"));
	assert_status(SKETCH_MISMATCH, sketch_bloom_union(four, plain, &error), &error);
	assert_non_null(strstr(error.text, "kind"));
	sketch_bloom_free(four);
	sketch_bloom_free(eight);
	sketch_bloom_free(plain);
}

/* ------------------------------------------------------------------- refusals */

static void new__wrong_arguments__are_refused(void **unused)
{
	const struct sketch_params params = params_classic(1024, 7);
	struct sketch_params largest = params_classic((UINT64_C(1) << 63) - 64, 7);
	struct sketch_identity identity = IDENTITY;
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;

	(void)unused;
	for (unsigned int bits = 0; bits < 40; bits++) {
		if (bits == 4 || bits == 8 || bits == 16)
			continue;
		assert_status(SKETCH_RANGE,
			      sketch_counting_new(&filter, &identity, &params, bits, UINT64_MAX,
						  &error),
			      &error);
		assert_error(SKETCH_RANGE, &error);
	}
	assert_status(SKETCH_NO_MEMORY,
		      sketch_counting_new(&filter, &identity, &params, 4, 511, &error), &error);
	assert_non_null(strstr(error.text, "512"));
	assert_status(SKETCH_NO_MEMORY,
		      sketch_counting_new(&filter, &identity, &largest, 16, UINT64_MAX, &error),
		      &error);
	identity.arrangement = SKETCH_LADDER;
	assert_status(SKETCH_RANGE,
		      sketch_counting_new(&filter, &identity, &params, 4, UINT64_MAX, &error),
		      &error);
	assert_null(filter);
}

/* ---------------------------------------------------------------------- files */

/* Two chunks; a bit of the second is flipped. */
static void read__damaged_chunk__matters_where_it_is_touched(void **unused)
{
	const struct sketch_params params = params_classic(UINT64_C(2) * 2 * FORMAT_CHUNK_BYTES, 1);
	struct sketch_bloom *filter = make(&params, 4);
	struct dice dice = { 61 };
	struct bytes file;
	struct section counters;
	struct sketch_hash low, high;
	struct sketch_error error;
	struct sketch_counting_state state;
	uint64_t found;

	(void)unused;
	do
		low = dice_hash(&dice);
	while (low.h1 >> 63 != 0);
	do
		high = dice_hash(&dice);
	while (high.h1 >> 63 != 1);
	filter_add(filter, low);
	filter_add(filter, high);
	file = filter_bytes(filter);
	sketch_bloom_free(filter);
	counters = section_find(&file, FORMAT_COUNTERS, 0);
	assert_int_equal(counters.length, 2 * FORMAT_CHUNK_BYTES);
	file.data[counters.offset + counters.length - 1] ^= 0x20;
	filter = filter_from_bytes(&file, SKETCH_READ);
	assert_true(filter_has(filter, low));
	assert_status(SKETCH_DAMAGED, sketch_bloom_test(filter, &high, 1, &found, &error), &error);
	assert_status(SKETCH_DAMAGED, sketch_counting_state(filter, &state, &error), &error);
	sketch_bloom_free(filter);
	for (size_t a = 0; a < 2; a++) {
		int fd = bytes_to_fd(&file);

		filter = NULL;
		assert_status(SKETCH_DAMAGED,
			      sketch_bloom_read(&filter, fd, a ? SKETCH_WRITABLE : SKETCH_VERIFIED,
						UINT64_MAX, NULL, &error),
			      &error);
		close(fd);
	}
	bytes_free(&file);
}

/* Each bit of a small file: flipped, it is refused, but for those that may be ignored. */
static void read__any_bit_flipped__is_refused(void **unused)
{
	const struct sketch_params params = params_classic(128, 3);
	struct sketch_bloom *filter = make(&params, 4);
	struct bytes file;

	(void)unused;
	filter_add(filter, hash_text("apple", 0));
	file = filter_bytes(filter);
	sketch_bloom_free(filter);
	for (size_t bit = 0; bit < 8 * file.length; bit++) {
		int fd;

		file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		fd = bytes_to_fd(&file);
		filter = NULL;
		if (sketch_bloom_read(&filter, fd, SKETCH_VERIFIED, UINT64_MAX, NULL, NULL) ==
		    SKETCH_OK)
			fail_msg("bit %zu of byte %zu may be flipped", bit % 8, bit / 8);
		close(fd);
		file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	bytes_free(&file);
}

static void write__then_read__goes_on_as_if_nothing_had_been(void **unused)
{
	struct dice dice = { 71 };

	(void)unused;
	for (size_t set = 0; set < 30; set++) {
		struct sketch_params params = params_random(&dice);
		struct sketch_bloom *kept = make(&params, widths[set % 3]), *read;
		struct sketch_hash keys[50];
		struct bytes a, b;

		for (size_t i = 0; i < COUNT_OF(keys); i++)
			keys[i] = dice_hash(&dice);
		sketch_bloom_add(kept, keys, COUNT_OF(keys));
		a = filter_bytes(kept);
		read = filter_from_bytes(&a, SKETCH_WRITABLE);
		assert_int_equal(sketch_bloom_counter_bits(read), widths[set % 3]);
		assert_int_equal(sketch_bloom_payload(read), params.m / 8 * widths[set % 3]);
		bytes_free(&a);
		for (size_t i = 0; i < 20; i++)
			assert_int_equal(take_out(read, keys[i]), take_out(kept, keys[i]));
		a = filter_bytes(kept);
		b = filter_bytes(read);
		assert_true(bytes_equal(&a, &b));
		bytes_free(&a);
		bytes_free(&b);
		sketch_bloom_free(kept);
		sketch_bloom_free(read);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add_remove_test__random_filters__agree_with_the_model),
		cmocka_unit_test(add_remove_test__extreme_parameters__agree_with_the_model),
		cmocka_unit_test(multiset__millions_come_and_go__none_is_missed),
		cmocka_unit_test(take_out__half_of_the_keys__leaves_the_bits_of_the_others),
		cmocka_unit_test(take_out__key_put_in_twice__is_there_until_taken_out_twice),
		cmocka_unit_test(take_out__key_that_is_not_there__changes_nothing),
		cmocka_unit_test(take_out__coinciding_positions_of_another__is_refused),
		cmocka_unit_test(
			overflow__more_copies_than_a_counter_holds__the_key_stays_for_ever),
		cmocka_unit_test(overflow__bound__is_the_tail_where_that_can_be_summed),
		cmocka_unit_test(overflow__overfull_filters__keep_the_bound),
		cmocka_unit_test(union__of_shards__is_the_filter_of_the_whole),
		cmocka_unit_test(union__other_counters__is_refused_and_says_so),
		cmocka_unit_test(new__wrong_arguments__are_refused),
		cmocka_unit_test(read__damaged_chunk__matters_where_it_is_touched),
		cmocka_unit_test(read__any_bit_flipped__is_refused),
		cmocka_unit_test(write__then_read__goes_on_as_if_nothing_had_been),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
