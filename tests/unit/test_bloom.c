/* Filters in memory: which bits a key sets, what is found, unions, what the bits
 * say, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bits.h"
#include "bloom.h"
#include "support.h"

/* The kernels that the tests of positions and of membership run on. */
static enum kernel_machine machine = KERNEL_PORTABLE;

static void use_machine(struct sketch_bloom *filter)
{
	for (size_t i = 0; i < filter->layer_count; i++)
		filter->layers[i].kernel = kernel_choose(&filter->layers[i].params, machine);
}

static struct sketch_bloom *make(const struct sketch_params *params)
{
	struct sketch_bloom *filter = filter_make(params);

	use_machine(filter);
	return filter;
}

/* Parameters at the limits of what is allowed. */
static size_t extreme_params(struct sketch_params params[16])
{
	size_t count = 0;

	params[count++] = params_classic(64, 1);
	params[count++] = params_classic(64, 255);
	params[count++] = params_classic(128, 2);
	params[count++] = params_classic((UINT64_C(1) << 20) + 64, 255);
	params[count++] = params_classic(UINT64_C(1) << 22, 3);
	params[count++] = params_blocked(1, 1, 1);
	params[count++] = params_blocked(1, 1, 8);
	params[count++] = params_blocked(1, 1, 255);
	params[count++] = params_blocked(3, 1, 57);
	params[count++] = params_blocked(2, 255, 255);
	params[count++] = params_blocked(2, 31, 248);
	params[count++] = params_blocked(5, 17, 255);
	params[count++] = params_blocked(8192, 1, 8);
	params[count++] = params_blocked(2048, 2, 14);
	return count;
}

static uint8_t *zeros(uint64_t bits)
{
	uint8_t *block = calloc((size_t)(bits / 8), 1);

	assert_non_null(block);
	return block;
}

static void assert_bits(struct sketch_bloom *filter, uint32_t layer, const uint8_t *expected)
{
	const struct sketch_params *params = sketch_bloom_params(filter, layer);
	struct bytes file = filter_bytes(filter);
	const uint8_t *bits = file_bits(&file, layer);

	assert_int_equal(section_find(&file, 3, layer).length, params->m / 8);
	if (memcmp(bits, expected, (size_t)(params->m / 8)) != 0)
		fail_msg("bits differ: layout %d, k %u, g %u, m %llu", (int)params->layout,
			 params->k, params->g, (unsigned long long)params->m);
	bytes_free(&file);
}

/* ----------------------------------------------------------------- positions */

static void check_bits_of_random_keys(struct dice *dice, const struct sketch_params *params,
				      size_t keys)
{
	struct sketch_bloom *filter = make(params);
	uint8_t *expected = zeros(params->m);
	struct sketch_hash batch[200];

	while (keys > 0) {
		size_t count = (size_t)dice_between(dice, 1, COUNT_OF(batch));

		if (count > keys)
			count = keys;
		for (size_t i = 0; i < count; i++) {
			batch[i] = dice_hash(dice);
			reference_add(expected, params, batch[i]);
		}
		sketch_bloom_add(filter, batch, count);
		keys -= count;
	}
	assert_bits(filter, 0, expected);
	free(expected);
	sketch_bloom_free(filter);
}

static void add__random_parameters__sets_the_bits_of_the_rule(void **state)
{
	struct dice dice = { 11 };
	const int sets = run_slow() ? 100 : 1000;

	(void)state;
	for (int i = 0; i < sets; i++) {
		struct sketch_params params = params_random(&dice);
		size_t few = (size_t)(params.m / params.k / 2);

		/* Few enough that not all bits are 1. */
		check_bits_of_random_keys(&dice, &params, (size_t)dice_below(&dice, few + 2));
	}
}

static void add__extreme_parameters__sets_the_bits_of_the_rule(void **state)
{
	struct dice dice = { 12 };
	struct sketch_params params[16];
	size_t count = extreme_params(params);

	(void)state;
	for (size_t i = 0; i < count; i++)
		for (size_t keys = 1; keys <= 1000; keys *= 10)
			check_bits_of_random_keys(&dice, &params[i], keys);
}

/* Halves where additions and products carry, or do not. */
static void add__hashes_at_the_ends_of_their_range__sets_the_bits_of_the_rule(void **state)
{
	static const uint64_t halves[] = {
		0,          1,         UINT64_MAX,        UINT64_MAX - 1,       UINT64_C(1) << 63,
		UINT32_MAX, INT64_MAX, UINT64_C(1) << 32, UINT64_C(0xff) << 56,
	};
	struct dice dice = { 13 };
	struct sketch_params extreme[16];
	size_t extremes = extreme_params(extreme);

	(void)state;
	for (int set = 0; set < 100; set++) {
		struct sketch_params params =
			(size_t)set < extremes ? extreme[set] : params_random(&dice);
		struct sketch_bloom *filter = make(&params);
		uint8_t *expected = zeros(params.m);

		for (size_t i = 0; i < COUNT_OF(halves); i++) {
			for (size_t j = 0; j < COUNT_OF(halves); j++) {
				struct sketch_hash hash = { halves[i], halves[j] };

				reference_add(expected, &params, hash);
				filter_add(filter, hash);
				assert_true(filter_has(filter, hash));
			}
		}
		assert_bits(filter, 0, expected);
		free(expected);
		sketch_bloom_free(filter);
	}
}

/* A gigabyte, of which a few pages are touched. */
static void add__beyond_32_bits__sets_the_bits_of_the_rule(void **state)
{
	const struct sketch_params params[] = { params_classic((UINT64_C(1) << 33) + 64, 3),
						params_classic(UINT64_C(3) << 32, 2),
						params_blocked((1 << 24) + 1, 1, 8),
						params_blocked((1 << 23) + 1, 2, 14) };
	struct dice dice = { 15 };

	(void)state;
	/* Instruments keep a shadow of each page. */
	if (run_slow() || sizeof(size_t) < 8)
		skip();
	for (size_t set = 0; set < COUNT_OF(params); set++) {
		struct sketch_bloom *filter = make(&params[set]);
		unsigned int beyond = 0;

		for (int i = 0; i < 8; i++) {
			struct sketch_hash hash = dice_hash(&dice);
			uint64_t positions[SKETCH_MAX_HASHES];

			assert_false(filter_has(filter, hash));
			filter_add(filter, hash);
			assert_true(filter_has(filter, hash));
			reference_positions(&params[set], hash, positions);
			for (uint32_t j = 0; j < params[set].k; j++) {
				assert_true(bits_test(filter->layers[0].bits, positions[j]));
				beyond += positions[j] > UINT32_MAX;
			}
		}
		assert_true(beyond > 0);
		sketch_bloom_free(filter);
	}
}

static void add__other_order_and_other_batches__gives_the_same_file(void **state)
{
	struct dice dice = { 14 };

	(void)state;
	for (int set = 0; set < 30; set++) {
		struct sketch_params params = params_random(&dice);
		struct sketch_bloom *a = make(&params);
		struct sketch_bloom *b = make(&params);
		struct sketch_hash keys[300];
		struct bytes file_a, file_b;

		for (size_t i = 0; i < COUNT_OF(keys); i++)
			keys[i] = dice_hash(&dice);
		sketch_bloom_add(a, keys, COUNT_OF(keys));
		for (size_t i = COUNT_OF(keys); i-- > 0;)
			sketch_bloom_add(b, &keys[i], 1);
		file_a = filter_bytes(a);
		file_b = filter_bytes(b);
		assert_true(bytes_equal(&file_a, &file_b));
		bytes_free(&file_a);
		bytes_free(&file_b);
		sketch_bloom_free(a);
		sketch_bloom_free(b);
	}
}

/* The walk of the classroom: eight bits, two positions a key. */
static void walk__eight_bits_with_given_positions__goes_as_taught(void **state)
{
	uint8_t bits = 0;

	(void)state;
	bits_set(&bits, 1); /* apple */
	bits_set(&bits, 5);
	bits_set(&bits, 3); /* berry */
	bits_set(&bits, 6);
	assert_int_equal(bits, 0x6a);
	assert_true(bits_test(&bits, 1) && bits_test(&bits, 5));
	assert_true(bits_test(&bits, 3) && bits_test(&bits, 6));
	assert_false(bits_test(&bits, 0) && bits_test(&bits, 3)); /* cherry: absent */
	assert_true(bits_test(&bits, 1) && bits_test(&bits, 6));  /* date: a false positive */
}

/* A hash whose two positions among 64 bits are those wanted. */
static struct sketch_hash hash_at(uint64_t first, uint64_t second)
{
	struct sketch_params params = params_classic(64, 2);
	struct sketch_hash hash = { first << 58, 0 };
	uint64_t positions[SKETCH_MAX_HASHES];

	do {
		hash.h2++;
		reference_positions(&params, hash, positions);
	} while (positions[0] != first || positions[1] != second);
	return hash;
}

/* The same walk through a filter, in the first eight of its bits. */
static void walk__filter_with_given_positions__goes_as_taught(void **state)
{
	struct sketch_params params = params_classic(64, 2);
	struct sketch_bloom *filter = make(&params);
	uint8_t expected[8] = { 0x6a };

	(void)state;
	filter_add(filter, hash_at(1, 5));
	filter_add(filter, hash_at(3, 6));
	assert_bits(filter, 0, expected);
	assert_true(filter_has(filter, hash_at(1, 5)));
	assert_true(filter_has(filter, hash_at(3, 6)));
	assert_false(filter_has(filter, hash_at(0, 3)));
	assert_true(filter_has(filter, hash_at(1, 6)));
	sketch_bloom_free(filter);
}

/* ---------------------------------------------------------------- membership */

static const size_t counts[] = { 0, 1, 2, 63, 64, 65, 127, 128, 129, 1000 };

#define CANARY UINT64_C(0x5a5a5a5a5a5a5a5a)
#define FOUND_WORDS (1000 / 64 + 3)

/* Verdict i; the test fails where a bit past count, or a word past the last, was
 * touched. */
static void assert_found(const uint64_t found[FOUND_WORDS], const bool *expected, size_t count)
{
	size_t words = (count + 63) / 64;

	for (size_t i = 0; i < 64 * words; i++) {
		bool verdict = found[i / 64] >> i % 64 & 1;

		if (verdict != (i < count && expected[i]))
			fail_msg("of %zu keys, key %zu: %d", count, i, (int)verdict);
	}
	for (size_t i = words; i < FOUND_WORDS; i++)
		assert_true(found[i] == CANARY);
}

static void fill_canary(uint64_t found[FOUND_WORDS])
{
	for (size_t i = 0; i < FOUND_WORDS; i++)
		found[i] = CANARY;
}

static void test__present_and_absent_keys_of_each_count__found_as_by_the_rule(void **state)
{
	struct dice dice = { 21 };
	struct sketch_params extreme[16];
	size_t extremes = extreme_params(extreme);

	(void)state;
	for (size_t set = 0; set < (run_slow() ? 40u : 300u); set++) {
		struct sketch_params params = set < extremes ? extreme[set] : params_random(&dice);
		struct sketch_bloom *filter = make(&params);
		uint8_t *bits = zeros(params.m);
		struct sketch_hash keys[1000];
		bool expected[1000];
		uint64_t found[FOUND_WORDS];
		size_t in = (size_t)dice_below(&dice, 1 + params.m / params.k);

		in = in > 500 ? 500 : in;
		for (size_t i = 0; i < COUNT_OF(keys); i++)
			keys[i] = i < 2 * in && i % 2 ? keys[i - 1] : dice_hash(&dice);
		for (size_t i = 0; i < in; i++) {
			sketch_bloom_add(filter, &keys[2 * i], 1);
			reference_add(bits, &params, keys[2 * i]);
		}
		for (size_t i = 0; i < COUNT_OF(keys); i++)
			expected[i] = reference_test(bits, &params, keys[i]);
		for (size_t c = 0; c < COUNT_OF(counts); c++) {
			fill_canary(found);
			assert_status(SKETCH_OK,
				      sketch_bloom_test(filter, keys, counts[c], found, NULL),
				      NULL);
			assert_found(found, expected, counts[c]);
		}
		assert_bits(filter, 0, bits);
		free(bits);
		sketch_bloom_free(filter);
	}
}

static void test__empty_filter__finds_nothing(void **state)
{
	struct dice dice = { 22 };

	(void)state;
	for (int set = 0; set < 100; set++) {
		struct sketch_params params = params_random(&dice);
		struct sketch_bloom *filter = make(&params);

		assert_false(filter_has(filter, dice_hash(&dice)));
		assert_false(filter_has(filter, hash_text("", 0)));
		sketch_bloom_free(filter);
	}
}

/* A stream in which keys come again, soon and late, within a call and across. */
static void test_and_add__repeats_within_a_call__each_after_the_first_is_found(void **state)
{
	struct dice dice = { 23 };
	struct sketch_params extreme[16];
	size_t extremes = extreme_params(extreme);

	(void)state;
	for (size_t set = 0; set < (run_slow() ? 40u : 150u); set++) {
		struct sketch_params params = set < extremes ? extreme[set] : params_random(&dice);
		struct sketch_bloom *filter = make(&params);
		uint8_t *bits = zeros(params.m);

		for (size_t c = 0; c < COUNT_OF(counts); c++) {
			struct sketch_hash keys[1000];
			bool expected[1000];
			uint64_t found[FOUND_WORDS];

			for (size_t i = 0; i < counts[c]; i++) {
				size_t back = 1 + (size_t)dice_below(&dice, set % 2 ? 4 : 400);

				keys[i] = i >= back && dice_below(&dice, 2) ? keys[i - back] :
									      dice_hash(&dice);
				expected[i] = reference_test(bits, &params, keys[i]);
				reference_add(bits, &params, keys[i]);
			}
			fill_canary(found);
			sketch_bloom_test_and_add(filter, keys, counts[c], found);
			assert_found(found, expected, counts[c]);
		}
		assert_bits(filter, 0, bits);
		free(bits);
		sketch_bloom_free(filter);
	}
}

static void test_and_add__one_key_a_thousand_times__found_all_but_once(void **state)
{
	struct sketch_params params[] = { params_classic(6400, 7), params_blocked(10, 1, 8),
					  params_blocked(10, 2, 14) };

	(void)state;
	for (size_t set = 0; set < COUNT_OF(params); set++) {
		struct sketch_bloom *filter = make(&params[set]);
		struct sketch_hash keys[1000];
		bool expected[1000];
		uint64_t found[FOUND_WORDS];

		for (size_t i = 0; i < COUNT_OF(keys); i++) {
			keys[i] = hash_text("again", 0);
			expected[i] = i > 0;
		}
		fill_canary(found);
		sketch_bloom_test_and_add(filter, keys, COUNT_OF(keys), found);
		assert_found(found, expected, COUNT_OF(keys));
		sketch_bloom_free(filter);
	}
}

/* ------------------------------------------------------------------- layers */

static const struct sketch_identity ladder = { SKETCH_FAMILY_MURMUR3, 0, 9, SKETCH_LADDER, 0 };

/* Three layers, unlike in everything.  The first two hold the keys given. */
static struct sketch_bloom *layered(const struct sketch_hash *first,
				    const struct sketch_hash *second)
{
	const struct sketch_params params[3] = { params_classic(1024, 3), params_blocked(4, 2, 16),
						 params_blocked(6, 1, 5) };
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;
	struct bytes file;

	assert_status(SKETCH_OK, sketch_bloom_new(&filter, &ladder, params, 3, UINT64_MAX, &error),
		      &error);
	assert_int_equal(sketch_bloom_layers(filter), 3);
	assert_int_equal(sketch_bloom_payload(filter), (1024 + 4096 + 3072) / 8);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(sketch_bloom_params(filter, i)->m, params[i].m);
	/* Only the last layer can be added to, so the others are set in the file. */
	file = filter_bytes(filter);
	sketch_bloom_free(filter);
	reference_add(file_bits(&file, 0), &params[0], *first);
	reference_add(file_bits(&file, 1), &params[1], *second);
	file_seal(&file);
	filter = filter_from_bytes(&file, SKETCH_WRITABLE);
	bytes_free(&file);
	return filter;
}

static void test__key_in_any_layer__is_found(void **state)
{
	struct sketch_hash keys[4] = { hash_text("first", 9), hash_text("second", 9),
				       hash_text("third", 9), hash_text("none", 9) };
	struct sketch_bloom *filter = layered(&keys[0], &keys[1]);
	uint64_t found = 0;

	(void)state;
	filter_add(filter, keys[2]);
	assert_status(SKETCH_OK, sketch_bloom_test(filter, keys, 4, &found, NULL), NULL);
	assert_int_equal(found, 7);
	sketch_bloom_free(filter);
}

static void add__filter_of_layers__goes_to_the_last(void **state)
{
	struct sketch_hash keys[2] = { hash_text("first", 9), hash_text("second", 9) };
	struct sketch_hash third = hash_text("third", 9);
	struct sketch_bloom *filter = layered(&keys[0], &keys[1]);
	struct bytes before = filter_bytes(filter);
	uint8_t expected[3072 / 8] = { 0 };

	(void)state;
	filter_add(filter, third);
	assert_bits(filter, 0, file_bits(&before, 0));
	assert_bits(filter, 1, file_bits(&before, 1));
	reference_add(expected, sketch_bloom_params(filter, 2), third);
	assert_bits(filter, 2, expected);
	bytes_free(&before);
	sketch_bloom_free(filter);
}

static void test_and_add__filter_of_layers__looks_at_the_last_only(void **state)
{
	struct sketch_hash keys[3] = { hash_text("first", 9), hash_text("second", 9) };
	struct sketch_bloom *filter = layered(&keys[0], &keys[1]);
	uint64_t found = 0;

	(void)state;
	keys[2] = keys[0];
	sketch_bloom_test_and_add(filter, keys, 3, &found);
	assert_int_equal(found, 4);
	sketch_bloom_free(filter);
}

static void union__filters_of_layers__joins_each_layer(void **state)
{
	struct sketch_hash keys[6];
	struct sketch_bloom *a, *b;
	uint64_t found = 0;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		const char name[2] = { (char)('a' + i), 0 };

		keys[i] = hash_text(name, 9);
	}
	a = layered(&keys[0], &keys[1]);
	b = layered(&keys[2], &keys[3]);
	filter_add(a, keys[4]);
	filter_add(b, keys[5]);
	assert_status(SKETCH_OK, sketch_bloom_union(a, b, NULL), NULL);
	assert_status(SKETCH_OK, sketch_bloom_test(a, keys, 6, &found, NULL), NULL);
	assert_int_equal(found, 63);
	sketch_bloom_free(a);
	sketch_bloom_free(b);
}

/* The union of three ladders in the order given. */
static struct bytes joined(const struct bytes ladders[3], const size_t order[3])
{
	struct sketch_bloom *into = filter_from_bytes(&ladders[order[0]], SKETCH_WRITABLE);
	struct sketch_error error;
	struct bytes file;

	for (size_t i = 1; i < 3; i++) {
		struct sketch_bloom *from = filter_from_bytes(&ladders[order[i]], SKETCH_READ);

		assert_status(SKETCH_OK, sketch_bloom_union(into, from, &error), &error);
		sketch_bloom_free(from);
	}
	file = filter_bytes(into);
	sketch_bloom_free(into);
	return file;
}

static void union__ladders_in_any_order__gives_the_same_file(void **state)
{
	static const size_t orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					     { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	struct bytes ladders[3], first = { NULL, 0 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const char names[3] = { (char)('a' + i), 'x', 'y' };
		struct sketch_hash hashes[3];
		struct sketch_bloom *filter;

		for (size_t j = 0; j < 3; j++)
			hashes[j] = sketch_murmur3_x64_128(&names[j], 1, 9);
		/* The second layer is the same in each of them. */
		filter = layered(&hashes[0], &hashes[1]);
		filter_add(filter, hashes[i == 2 ? 2 : 0]);
		sketch_bloom_set_records(filter, 3);
		ladders[i] = filter_bytes(filter);
		sketch_bloom_free(filter);
	}
	for (size_t o = 0; o < COUNT_OF(orders); o++) {
		struct bytes file = joined(ladders, orders[o]);

		if (o == 0)
			first = bytes_copy(&file);
		assert_true(bytes_equal(&file, &first));
		bytes_free(&file);
	}
	bytes_free(&first);
	for (size_t i = 0; i < 3; i++)
		bytes_free(&ladders[i]);
}

/* Each layer that is in both counts once. */
static void union__ladder_with_its_like__is_the_same(void **state)
{
	struct sketch_hash keys[2] = { hash_text("first", 9), hash_text("second", 9) };
	struct sketch_bloom *a = layered(&keys[0], &keys[1]);
	struct sketch_bloom *b = layered(&keys[0], &keys[1]);
	struct bytes once, twice;

	(void)state;
	assert_status(SKETCH_OK, sketch_bloom_union(a, b, NULL), NULL);
	assert_int_equal(sketch_bloom_layers(a), 3);
	once = filter_bytes(a);
	assert_status(SKETCH_OK, sketch_bloom_union(a, b, NULL), NULL);
	twice = filter_bytes(a);
	assert_true(bytes_equal(&once, &twice));
	assert_true(filter_has(a, keys[0]) && filter_has(a, keys[1]));
	bytes_free(&once);
	bytes_free(&twice);
	sketch_bloom_free(a);
	sketch_bloom_free(b);
}

static void union__more_layers_than_there_can_be__is_refused(void **state)
{
	struct sketch_params params[SKETCH_MAX_LAYERS];
	struct sketch_bloom *into = NULL, *from = NULL;
	struct sketch_error error;
	struct bytes before, after;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(params); i++)
		params[i] = params_classic(64 * (i + 1), 1);
	assert_status(SKETCH_OK,
		      sketch_bloom_new(&into, &ladder, params, COUNT_OF(params), UINT64_MAX, NULL),
		      NULL);
	assert_status(SKETCH_OK, sketch_bloom_new(&from, &ladder, params, 1, UINT64_MAX, NULL),
		      NULL);
	filter_add(from, hash_text("one more", 9));
	before = filter_bytes(into);
	assert_int_not_equal(sketch_bloom_union(into, from, &error), SKETCH_OK);
	assert_error(error.status, &error);
	after = filter_bytes(into);
	assert_true(bytes_equal(&before, &after));
	bytes_free(&before);
	bytes_free(&after);
	sketch_bloom_free(into);
	sketch_bloom_free(from);
}

/* -------------------------------------------------------------------- union */

static void union__shards__equal_the_filter_of_the_whole(void **state)
{
	struct dice dice = { 31 };
	struct sketch_params extreme[16];
	size_t extremes = extreme_params(extreme);

	(void)state;
	for (size_t set = 0; set < 100; set++) {
		struct sketch_params params = set < extremes ? extreme[set] : params_random(&dice);
		struct sketch_bloom *whole = filter_make(&params);
		struct sketch_bloom *shard[2] = { filter_make(&params), filter_make(&params) };
		struct bytes before = { NULL, 0 }, after, expected;

		for (uint64_t i = 0; i < 200; i++) {
			struct sketch_hash hash = dice_hash(&dice);

			filter_add(whole, hash);
			filter_add(shard[dice_below(&dice, 2)], hash);
		}
		sketch_bloom_set_records(whole, 5000000007);
		sketch_bloom_set_records(shard[0], 5000000000);
		sketch_bloom_set_records(shard[1], 7);
		before = filter_bytes(shard[1]);
		assert_status(SKETCH_OK, sketch_bloom_union(shard[0], shard[1], NULL), NULL);
		assert_true(sketch_bloom_records(shard[0]) == 5000000007);
		expected = filter_bytes(whole);
		after = filter_bytes(shard[0]);
		assert_true(bytes_equal(&after, &expected));
		bytes_free(&after);
		after = filter_bytes(shard[1]);
		assert_true(bytes_equal(&after, &before));
		bytes_free(&before);
		bytes_free(&after);
		bytes_free(&expected);
		sketch_bloom_free(whole);
		sketch_bloom_free(shard[0]);
		sketch_bloom_free(shard[1]);
	}
}

/* The number is a note, no reason to refuse. */
static void union__records_beyond_64_bits__stay_at_the_largest(void **state)
{
	struct sketch_params params = params_classic(640, 5);
	struct sketch_bloom *a = filter_make(&params), *b = filter_make(&params);

	(void)state;
	sketch_bloom_set_records(a, UINT64_MAX - 1);
	sketch_bloom_set_records(b, 2);
	filter_add(b, hash_text("b", 0));
	assert_status(SKETCH_OK, sketch_bloom_union(a, b, NULL), NULL);
	assert_true(sketch_bloom_records(a) == UINT64_MAX);
	assert_true(filter_has(a, hash_text("b", 0)));
	sketch_bloom_free(a);
	sketch_bloom_free(b);
}

static void union__filter_with_itself__keeps_its_bits(void **state)
{
	struct sketch_params params = params_classic(640, 5);
	struct sketch_bloom *filter = filter_make(&params);
	struct bytes before;

	(void)state;
	for (uint64_t i = 0; i < 20; i++)
		filter_add(filter, (struct sketch_hash){ i << 60, i * i << 50 });
	before = filter_bytes(filter);
	assert_status(SKETCH_OK, sketch_bloom_union(filter, filter, NULL), NULL);
	assert_bits(filter, 0, file_bits(&before, 0));
	bytes_free(&before);
	sketch_bloom_free(filter);
}

/* Two filters that differ in one field, and words that name it and both values, up
 * to a NULL. */
static void check_mismatch(const struct sketch_identity *identity_a,
			   const struct sketch_params *params_a, size_t layers_a,
			   const struct sketch_identity *identity_b,
			   const struct sketch_params *params_b, size_t layers_b,
			   const char *const *words)
{
	struct sketch_bloom *a = NULL, *b = NULL;
	struct sketch_error error;
	struct bytes before, after;

	assert_status(SKETCH_OK,
		      sketch_bloom_new(&a, identity_a, params_a, layers_a, UINT64_MAX, NULL), NULL);
	assert_status(SKETCH_OK,
		      sketch_bloom_new(&b, identity_b, params_b, layers_b, UINT64_MAX, NULL), NULL);
	filter_add(a, hash_text("a", 0));
	filter_add(b, hash_text("b", 0));
	before = filter_bytes(a);
	assert_status(SKETCH_MISMATCH, sketch_bloom_compatible(a, b, &error), &error);
	assert_error(SKETCH_MISMATCH, &error);
	for (size_t i = 0; words[i]; i++)
		if (!has_word(error.text, words[i]))
			fail_msg("\"%s\" lacks \"%s\"", error.text, words[i]);
	assert_status(SKETCH_MISMATCH, sketch_bloom_compatible(b, a, NULL), NULL);
	assert_status(SKETCH_MISMATCH, sketch_bloom_union(a, b, &error), &error);
	assert_error(SKETCH_MISMATCH, &error);
	after = filter_bytes(a);
	assert_true(bytes_equal(&before, &after));
	bytes_free(&before);
	bytes_free(&after);
	sketch_bloom_free(a);
	sketch_bloom_free(b);
}

static void compatible__one_parameter_differs__names_it_and_both_values(void **state)
{
	struct sketch_params classic = params_classic(640, 5);
	struct sketch_params other_m = params_classic(704, 5);
	struct sketch_params other_k = params_classic(640, 9);
	struct sketch_params one_line = params_blocked(2, 1, 8);
	struct sketch_params two_lines = params_blocked(1, 2, 8);
	struct sketch_params not_blocked = params_classic(1024, 8);

	(void)state;
	check_mismatch(&IDENTITY, &classic, 1, &IDENTITY, &other_m, 1,
		       (const char *const[]){ "m", "640", "704", NULL });
	check_mismatch(&IDENTITY, &classic, 1, &IDENTITY, &other_k, 1,
		       (const char *const[]){ "k", "5", "9", NULL });
	check_mismatch(&IDENTITY, &one_line, 1, &IDENTITY, &two_lines, 1,
		       (const char *const[]){ "g", "1", "2", NULL });
	check_mismatch(&IDENTITY, &one_line, 1, &IDENTITY, &not_blocked, 1,
		       (const char *const[]){ "layout", "blocked", "classic", NULL });
}

static void compatible__identity_differs__names_the_field(void **state)
{
	struct sketch_params params[1] = { params_classic(640, 5) };
	struct sketch_identity seeded = IDENTITY, folded = IDENTITY, laddered = IDENTITY;

	(void)state;
	seeded.seed = 4000000091;
	folded.transforms = SKETCH_FOLD_ASCII;
	laddered.arrangement = SKETCH_LADDER;
	check_mismatch(&IDENTITY, params, 1, &seeded, params, 1,
		       (const char *const[]){ "seed", "0", "4000000091", NULL });
	check_mismatch(&IDENTITY, params, 1, &folded, params, 1, (const char *const[]){ NULL });
	check_mismatch(&IDENTITY, params, 1, &laddered, params, 1,
		       (const char *const[]){ "arrangement", NULL });
}

/* In either order the promise of the union is that with the smaller capacity, and
 * with equal ones that with the smaller rate. */
static void union__capacity_and_rate_differ__keeps_the_smaller_promise(void **state)
{
	static const struct {
		uint64_t n;
		double p;
	} promises[] = { { 7, 0.3 }, { 100, 0.001 }, { 100, 0.01 } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(promises); i++) {
		for (size_t j = 0; j < COUNT_OF(promises); j++) {
			struct sketch_params a = params_classic(640, 5), b = a;
			const struct sketch_params *kept;
			struct sketch_bloom *into, *from;
			size_t smaller = i < j ? i : j;

			a.n = promises[i].n;
			a.p = promises[i].p;
			b.n = promises[j].n;
			b.p = promises[j].p;
			into = filter_make(&a);
			from = filter_make(&b);
			assert_status(SKETCH_OK, sketch_bloom_compatible(into, from, NULL), NULL);
			assert_status(SKETCH_OK, sketch_bloom_union(into, from, NULL), NULL);
			kept = sketch_bloom_params(into, 0);
			assert_true(kept->n == promises[smaller].n);
			assert_true(kept->p == promises[smaller].p);
			sketch_bloom_free(into);
			sketch_bloom_free(from);
		}
	}
}

/* -------------------------------------------------------------------- state */

static void check_state(struct sketch_bloom *filter, uint32_t layer)
{
	const struct sketch_params *params = sketch_bloom_params(filter, layer);
	struct sketch_bloom_state state;
	struct bytes file = filter_bytes(filter);
	const uint8_t *bits = file_bits(&file, layer);
	uint64_t ones = 0;
	double limit;

	for (uint64_t i = 0; i < params->m; i++)
		ones += bits[i / 8] >> i % 8 & 1;
	assert_status(SKETCH_OK, sketch_bloom_state(filter, layer, &state, NULL), NULL);
	assert_true(state.ones == ones);
	assert_near(state.fill, (double)ones / (double)params->m, 1e-15);
	assert_near(state.rate, reference_rate(bits, params), 1e-11);
	assert_near(state.distinct, sketch_distinct(params, ones), 1e-12);
	limit = sketch_fill_expected(params, params->n) +
		4 * sketch_fill_deviation(params, params->n);
	assert_int_equal(state.past_capacity, state.fill > limit);
	bytes_free(&file);
}

static void state__random_filters__equals_definitions(void **state)
{
	struct dice dice = { 41 };
	struct sketch_params extreme[16];
	size_t extremes = extreme_params(extreme);

	(void)state;
	for (size_t set = 0; set < (run_slow() ? 30u : 200u); set++) {
		struct sketch_params params = set < extremes ? extreme[set] : params_random(&dice);
		struct sketch_bloom *filter;

		params.n = dice_between(&dice, 1, 400);
		filter = filter_make(&params);
		check_state(filter, 0);
		for (uint64_t i = dice_below(&dice, 2 + params.m / params.k); i > 0; i--)
			filter_add(filter, dice_hash(&dice));
		check_state(filter, 0);
		sketch_bloom_free(filter);
	}
}

static void state__filter_of_layers__is_of_the_layer_asked(void **state)
{
	struct sketch_hash keys[2] = { hash_text("first", 9), hash_text("second", 9) };
	struct sketch_bloom *filter = layered(&keys[0], &keys[1]);

	(void)state;
	for (uint32_t layer = 0; layer < 3; layer++)
		check_state(filter, layer);
	sketch_bloom_free(filter);
}

static void state__no_keys__is_all_zero(void **state)
{
	struct dice dice = { 42 };

	(void)state;
	for (int set = 0; set < 50; set++) {
		struct sketch_params params = params_random(&dice);
		struct sketch_bloom *filter = filter_make(&params);
		struct sketch_bloom_state now;

		assert_status(SKETCH_OK, sketch_bloom_state(filter, 0, &now, NULL), NULL);
		assert_true(now.ones == 0 && now.fill == 0 && now.rate == 0 && now.distinct == 0);
		assert_false(now.past_capacity);
		sketch_bloom_free(filter);
	}
}

static void state__every_bit_set__is_saturated(void **state)
{
	struct dice dice = { 43 };

	(void)state;
	for (int set = 0; set < 50; set++) {
		struct sketch_params params = params_random(&dice);
		struct sketch_bloom *filter;
		struct sketch_bloom_state now;
		struct bytes file;

		params.n = 1;
		filter = filter_make(&params);
		file = filter_bytes(filter);
		sketch_bloom_free(filter);
		memset(file_bits(&file, 0), 0xff, (size_t)(params.m / 8));
		file_seal(&file);
		filter = filter_from_bytes(&file, SKETCH_READ);
		assert_status(SKETCH_OK, sketch_bloom_state(filter, 0, &now, NULL), NULL);
		assert_true(now.ones == params.m && now.fill == 1 && now.rate == 1);
		assert_true(isinf(now.distinct) && now.distinct > 0);
		/* One key may set all 64 bits there are. */
		if (params.k < params.m / 16)
			assert_true(now.past_capacity);
		assert_true(filter_has(filter, dice_hash(&dice)));
		bytes_free(&file);
		sketch_bloom_free(filter);
	}
}

/* At n keys the warning is a matter of 1 in 30,000; at twice n it is certain. */
static void state__keys_added__estimates_them_and_warns_past_capacity(void **state)
{
	static const struct sketch_request requests[] = {
		{ SKETCH_CLASSIC, 10000, 0.01, 0, 0, 0 },
		{ SKETCH_BLOCKED, 10000, 0.01, 0, 0, 0 },
		{ SKETCH_BLOCKED, 10000, 1e-6, 0, 0, 0 },
		{ SKETCH_BLOCKED, 10000, 0.001, 0, 6, 1 },
	};
	struct dice dice = { 44 };

	(void)state;
	for (size_t set = 0; set < COUNT_OF(requests); set++) {
		struct sketch_params params;
		struct sketch_bloom *filter;
		struct sketch_bloom_state now;

		assert_status(SKETCH_OK, sketch_plan(&requests[set], &params, NULL), NULL);
		filter = filter_make(&params);
		for (uint64_t i = 1; i <= 20000; i++) {
			filter_add(filter, dice_hash(&dice));
			if (i % 5000 != 0)
				continue;
			assert_status(SKETCH_OK, sketch_bloom_state(filter, 0, &now, NULL), NULL);
			assert_near(now.distinct, (double)i, 0.03);
			assert_int_equal(now.past_capacity, i > 10000);
		}
		sketch_bloom_free(filter);
	}
}

/* ------------------------------------------------------------------ refusals */

static enum sketch_status try_new(const struct sketch_identity *identity,
				  const struct sketch_params *params, size_t layers,
				  uint64_t budget, struct sketch_error *error)
{
	struct sketch_bloom *const before = (struct sketch_bloom *)&before;
	struct sketch_bloom *filter = before;
	enum sketch_status status;

	memset(error, 0, sizeof *error);
	status = sketch_bloom_new(&filter, identity, params, layers, budget, error);
	if (status == SKETCH_OK)
		sketch_bloom_free(filter);
	else
		assert_ptr_equal(filter, before);
	return status;
}

static void check_bad_params(struct sketch_params params, const char *field)
{
	struct sketch_error error;

	assert_status(SKETCH_RANGE, try_new(&IDENTITY, &params, 1, UINT64_MAX, &error), &error);
	assert_error(SKETCH_RANGE, &error);
	if (!has_word(error.text, field))
		fail_msg("\"%s\" lacks \"%s\"", error.text, field);
	assert_status(SKETCH_RANGE, sketch_params_check(&params, &error), &error);
	assert_status(SKETCH_RANGE, sketch_params_check(&params, NULL), NULL);
}

#define CLASSIC(...) ((struct sketch_params){ .layout = SKETCH_CLASSIC, __VA_ARGS__ })
#define BLOCKED(...) ((struct sketch_params){ .layout = SKETCH_BLOCKED, __VA_ARGS__ })

static void new__parameter_out_of_range__is_refused_by_name(void **state)
{
	(void)state;
	check_bad_params(CLASSIC(.k = 0, .m = 64, .n = 1, .p = .5), "k");
	check_bad_params(CLASSIC(.k = 256, .m = 64, .n = 1, .p = .5), "k");
	check_bad_params(CLASSIC(.k = 1, .m = 0, .n = 1, .p = .5), "m");
	check_bad_params(CLASSIC(.k = 1, .m = 65, .n = 1, .p = .5), "m");
	check_bad_params(CLASSIC(.k = 1, .m = 32, .n = 1, .p = .5), "m");
	check_bad_params(CLASSIC(.k = 1, .m = UINT64_C(1) << 63, .n = 1, .p = .5), "m");
	check_bad_params(CLASSIC(.k = 1, .g = 1, .m = 512, .n = 1, .p = .5), "g");
	check_bad_params(CLASSIC(.k = 1, .m = 64, .n = 0, .p = .5), "n");
	check_bad_params(CLASSIC(.k = 1, .m = 64, .n = 1, .p = 0), "p");
	check_bad_params(CLASSIC(.k = 1, .m = 64, .n = 1, .p = 1.000001), "p");
	check_bad_params(CLASSIC(.k = 1, .m = 64, .n = 1, .p = -.5), "p");
	check_bad_params(CLASSIC(.k = 1, .m = 64, .n = 1, .p = (double)NAN), "p");
	check_bad_params(CLASSIC(.k = 1, .m = 64, .n = 1, .p = (double)INFINITY), "p");
	check_bad_params(BLOCKED(.k = 8, .g = 0, .m = 512, .n = 1, .p = .5), "g");
	check_bad_params(BLOCKED(.k = 8, .g = 9, .m = 512 * 9, .n = 1, .p = .5), "g");
	check_bad_params(BLOCKED(.k = 8, .g = 3, .m = 512 * 3, .n = 1, .p = .5), "k");
	check_bad_params(BLOCKED(.k = 256, .g = 32, .m = 512 * 32, .n = 1, .p = .5), "k");
	check_bad_params(BLOCKED(.k = 8, .g = 2, .m = 512, .n = 1, .p = .5), "m");
	check_bad_params(BLOCKED(.k = 8, .g = 2, .m = 512 * 3, .n = 1, .p = .5), "m");
	check_bad_params(BLOCKED(.k = 8, .g = 1, .m = 0, .n = 1, .p = .5), "m");
	check_bad_params((struct sketch_params){ 0, 1, 0, 64, 1, .5 }, "layout");
	check_bad_params((struct sketch_params){ 3, 1, 0, 64, 1, .5 }, "layout");
}

static void params_check__extreme_parameters__are_ok(void **state)
{
	struct sketch_params params[16];
	size_t count = extreme_params(params);

	(void)state;
	for (size_t i = 0; i < count; i++)
		assert_status(SKETCH_OK, sketch_params_check(&params[i], NULL), NULL);
	params[0] = CLASSIC(.k = 255, .m = SKETCH_MAX_BITS - 63, .n = UINT64_MAX, .p = 1e-300);
	assert_status(SKETCH_OK, sketch_params_check(&params[0], NULL), NULL);
	params[0] = BLOCKED(.k = 255, .g = 255, .m = 512 * 255, .n = 1, .p = 1);
	assert_status(SKETCH_OK, sketch_params_check(&params[0], NULL), NULL);
}

static void new__bad_identity_or_layers__is_refused(void **state)
{
	struct sketch_identity family = IDENTITY, transforms = IDENTITY, arrangement = IDENTITY;
	struct sketch_params params[SKETCH_MAX_LAYERS + 1];
	struct sketch_error error;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(params); i++)
		params[i] = params_classic(64, 1);
	family.family = 3;
	transforms.transforms = 2;
	arrangement.arrangement = 3;
	assert_status(SKETCH_RANGE, try_new(&family, params, 1, UINT64_MAX, &error), &error);
	assert_error(SKETCH_RANGE, &error);
	assert_status(SKETCH_RANGE, try_new(&transforms, params, 1, UINT64_MAX, &error), &error);
	assert_error(SKETCH_RANGE, &error);
	assert_status(SKETCH_RANGE, try_new(&arrangement, params, 1, UINT64_MAX, &error), &error);
	assert_error(SKETCH_RANGE, &error);
	assert_status(SKETCH_RANGE, try_new(&ladder, params, 0, UINT64_MAX, &error), &error);
	assert_error(SKETCH_RANGE, &error);
	assert_status(SKETCH_RANGE,
		      try_new(&ladder, params, SKETCH_MAX_LAYERS + 1, UINT64_MAX, &error), &error);
	assert_error(SKETCH_RANGE, &error);
	assert_status(SKETCH_OK, try_new(&ladder, params, SKETCH_MAX_LAYERS, UINT64_MAX, &error),
		      &error);
	/* A single arrangement has one layer. */
	assert_status(SKETCH_RANGE, try_new(&IDENTITY, params, 2, UINT64_MAX, &error), &error);
	/* The last of several layers is looked at as well. */
	params[4].k = 0;
	assert_status(SKETCH_RANGE, try_new(&ladder, params, 5, UINT64_MAX, &error), &error);
}

static void new__beyond_budget__is_refused_with_its_size_and_takes_no_memory(void **state)
{
	struct sketch_params params = params_classic(UINT64_C(1) << 40, 7);
	struct sketch_error error;
	long before = run_pages(false);

	(void)state;
	assert_status(SKETCH_NO_MEMORY, try_new(&IDENTITY, &params, 1, UINT64_C(1) << 30, &error),
		      &error);
	assert_error(SKETCH_NO_MEMORY, &error);
	/* 137,438,953,472 bytes, 137.4 GB or 128 GiB */
	if (!strstr(error.text, "137") && !strstr(error.text, "128"))
		fail_msg("\"%s\" does not state the size", error.text);
	assert_in_range(labs(run_pages(false) - before), 0, 256);
	params = params_classic(UINT64_C(1) << 23, 7);
	assert_status(SKETCH_NO_MEMORY, try_new(&IDENTITY, &params, 1, 1 << 19, &error), &error);
	assert_status(SKETCH_OK, try_new(&IDENTITY, &params, 1, 1 << 21, &error), &error);
	assert_status(SKETCH_NO_MEMORY, try_new(&IDENTITY, &params, 1, 0, &error), &error);
}

static void new__beyond_address_space__is_refused(void **state)
{
	struct sketch_params params = params_classic(SKETCH_MAX_BITS - 63, 7);
	struct sketch_error error;

	(void)state;
	assert_status(SKETCH_NO_MEMORY, try_new(&IDENTITY, &params, 1, UINT64_MAX, &error), &error);
	assert_error(SKETCH_NO_MEMORY, &error);
}

/* 64 layers of 2^58 + 8 bytes: 2^64 + 512, which is 512 to who does not look. */
static void new__size_of_layers_beyond_64_bits__is_refused(void **state)
{
	struct sketch_params params[SKETCH_MAX_LAYERS];
	struct sketch_error error;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(params); i++)
		params[i] = params_classic((UINT64_C(1) << 61) + 64, 1);
	assert_status(SKETCH_NO_MEMORY,
		      try_new(&ladder, params, COUNT_OF(params), UINT64_C(1) << 30, &error),
		      &error);
	assert_status(SKETCH_NO_MEMORY,
		      try_new(&ladder, params, COUNT_OF(params), UINT64_MAX, &error), &error);
}

static void new__a_gigabyte__is_not_touched_until_used(void **state)
{
	struct sketch_params params = params_classic((UINT64_C(1) << 33) + 512, 7);
	struct sketch_bloom *filter;
	long before = run_pages(true);

	(void)state;
	/* An instrument keeps notes of its own about memory. */
	if (run_slow())
		skip();
	filter = filter_make(&params);
	filter_add(filter, hash_text("a", 0));
	assert_true(filter_has(filter, hash_text("a", 0)));
	assert_false(filter_has(filter, hash_text("b", 0)));
	assert_in_range(run_pages(true) - before, 0, 64 * 1024 * 1024 / sysconf(_SC_PAGESIZE));
	sketch_bloom_free(filter);
}

static void new__given_parameters__are_told_again(void **state)
{
	const struct sketch_identity identity = { SKETCH_FAMILY_MURMUR3, SKETCH_FOLD_ASCII,
						  0xfedcba98, SKETCH_SINGLE, 0 };
	struct dice dice = { 51 };

	(void)state;
	for (int set = 0; set < 50; set++) {
		struct sketch_params params = params_random(&dice);
		const struct sketch_params *told;
		const struct sketch_identity *who;
		struct sketch_bloom *filter = NULL;

		assert_status(SKETCH_OK,
			      sketch_bloom_new(&filter, &identity, &params, 1, UINT64_MAX, NULL),
			      NULL);
		told = sketch_bloom_params(filter, 0);
		assert_true(told->layout == params.layout && told->k == params.k);
		assert_true(told->g == params.g && told->m == params.m);
		assert_true(told->n == params.n && told->p == params.p);
		who = sketch_bloom_identity(filter);
		assert_true(who->family == SKETCH_FAMILY_MURMUR3 && who->seed == 0xfedcba98);
		assert_true(who->transforms == SKETCH_FOLD_ASCII);
		assert_true(who->arrangement == SKETCH_SINGLE);
		assert_int_equal(sketch_bloom_layers(filter), 1);
		assert_int_equal(sketch_bloom_payload(filter), params.m / 8);
		assert_int_equal(sketch_bloom_records(filter), 0);
		sketch_bloom_free(filter);
	}
	sketch_bloom_free(NULL);
}

static void status_text__every_status__has_words_of_its_own(void **state)
{
	(void)state;
	for (int a = SKETCH_OK; a <= SKETCH_INTERRUPTED; a++) {
		const char *text = sketch_status_text((enum sketch_status)a);

		assert_non_null(text);
		assert_true(*text);
		for (int b = SKETCH_OK; b < a; b++)
			assert_string_not_equal(text, sketch_status_text((enum sketch_status)b));
	}
	assert_non_null(sketch_status_text((enum sketch_status)1000));
	assert_non_null(sketch_version());
}

static void kind_name__assigned_and_not__is_words_or_null(void **state)
{
	(void)state;
	assert_string_equal(sketch_kind_name(SKETCH_KIND_BLOOM), "Bloom filter");
	for (uint32_t kind = 1; kind <= SKETCH_KIND_HYPERLOGLOG; kind++)
		assert_non_null(sketch_kind_name(kind));
	assert_null(sketch_kind_name(0));
	assert_null(sketch_kind_name(SKETCH_KIND_HYPERLOGLOG + 1));
	assert_null(sketch_kind_name(UINT32_MAX));
}

int main(void)
{
	/* What a key sets and finds, the same on every machine. */
	const struct CMUnitTest kernels[] = {
		cmocka_unit_test(add__random_parameters__sets_the_bits_of_the_rule),
		cmocka_unit_test(add__extreme_parameters__sets_the_bits_of_the_rule),
		cmocka_unit_test(add__hashes_at_the_ends_of_their_range__sets_the_bits_of_the_rule),
		cmocka_unit_test(add__beyond_32_bits__sets_the_bits_of_the_rule),
		cmocka_unit_test(add__other_order_and_other_batches__gives_the_same_file),
		cmocka_unit_test(walk__filter_with_given_positions__goes_as_taught),
		cmocka_unit_test(test__present_and_absent_keys_of_each_count__found_as_by_the_rule),
		cmocka_unit_test(test__empty_filter__finds_nothing),
		cmocka_unit_test(
			test_and_add__repeats_within_a_call__each_after_the_first_is_found),
		cmocka_unit_test(test_and_add__one_key_a_thousand_times__found_all_but_once),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walk__eight_bits_with_given_positions__goes_as_taught),
		cmocka_unit_test(test__key_in_any_layer__is_found),
		cmocka_unit_test(add__filter_of_layers__goes_to_the_last),
		cmocka_unit_test(test_and_add__filter_of_layers__looks_at_the_last_only),
		cmocka_unit_test(union__filters_of_layers__joins_each_layer),
		cmocka_unit_test(union__ladders_in_any_order__gives_the_same_file),
		cmocka_unit_test(union__ladder_with_its_like__is_the_same),
		cmocka_unit_test(union__more_layers_than_there_can_be__is_refused),
		cmocka_unit_test(union__shards__equal_the_filter_of_the_whole),
		cmocka_unit_test(union__records_beyond_64_bits__stay_at_the_largest),
		cmocka_unit_test(union__filter_with_itself__keeps_its_bits),
		cmocka_unit_test(compatible__one_parameter_differs__names_it_and_both_values),
		cmocka_unit_test(compatible__identity_differs__names_the_field),
		cmocka_unit_test(union__capacity_and_rate_differ__keeps_the_smaller_promise),
		cmocka_unit_test(state__random_filters__equals_definitions),
		cmocka_unit_test(state__filter_of_layers__is_of_the_layer_asked),
		cmocka_unit_test(state__no_keys__is_all_zero),
		cmocka_unit_test(state__every_bit_set__is_saturated),
		cmocka_unit_test(state__keys_added__estimates_them_and_warns_past_capacity),
		cmocka_unit_test(new__parameter_out_of_range__is_refused_by_name),
		cmocka_unit_test(params_check__extreme_parameters__are_ok),
		cmocka_unit_test(new__bad_identity_or_layers__is_refused),
		cmocka_unit_test(new__beyond_budget__is_refused_with_its_size_and_takes_no_memory),
		cmocka_unit_test(new__beyond_address_space__is_refused),
		cmocka_unit_test(new__size_of_layers_beyond_64_bits__is_refused),
		cmocka_unit_test(new__a_gigabyte__is_not_touched_until_used),
		cmocka_unit_test(new__given_parameters__are_told_again),
		cmocka_unit_test(status_text__every_status__has_words_of_its_own),
		cmocka_unit_test(kind_name__assigned_and_not__is_words_or_null),
	};

	static const char *const names[] = { "kernels, portable", "kernels, AVX2",
					     "kernels, AVX-512" };
	int failed = 0;

	for (int m = KERNEL_PORTABLE; m <= (int)kernel_best(); m++) {
		machine = (enum kernel_machine)m;
		failed += cmocka_run_group_tests_name(names[m], kernels, NULL, NULL);
	}
	return failed + cmocka_run_group_tests_name("bloom", tests, NULL, NULL);
}
