/* HyperLogLog sketches: what they are depends on the set of keys alone; exact while they
 * can be; files read back; and what is refused.  How near the numbers are to the truth
 * is for tests/stat/test_distinct.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format.h"
#include "hll.h"
#include "hll_estimate.h"
#include "support.h"

/* ----------------------------------------------------------------- sketches */

static struct sketch_hll *make(uint32_t precision)
{
	struct sketch_identity identity = IDENTITY;
	struct sketch_hll *hll = NULL;
	struct sketch_error error;

	assert_status(SKETCH_OK, sketch_hll_new(&hll, &identity, precision, UINT64_MAX, &error),
		      &error);
	return hll;
}

static struct sketch_hll_state state_of(const struct sketch_hll *hll)
{
	struct sketch_hll_state state;

	sketch_hll_state(hll, &state);
	return state;
}

static void add_hash(struct sketch_hll *hll, uint64_t h1)
{
	struct sketch_hash hash = { h1, 0 };

	sketch_hll_add(hll, &hash, 1);
}

static struct bytes written(const struct sketch_hll *hll)
{
	struct sketch_error error;
	int fd = bytes_begin();

	assert_status(SKETCH_OK, sketch_hll_write(hll, fd, &error), &error);
	return bytes_end(fd);
}

/* The status of reading it; *hll is NULL unless it is SKETCH_OK. */
static enum sketch_status reread(const struct bytes *bytes, struct sketch_hll **hll,
				 struct sketch_error *error)
{
	int fd = bytes_to_fd(bytes);
	struct sketch_file *file = NULL;
	enum sketch_status status =
		sketch_file_read(&file, fd, SKETCH_WRITABLE, UINT64_MAX, NULL, error);

	*hll = NULL;
	if (status == SKETCH_OK)
		status = sketch_hll_of_file(hll, file, error);
	close(fd);
	return status;
}

static void assert_same_file(const struct sketch_hll *a, const struct sketch_hll *b)
{
	struct bytes one = written(a), other = written(b);

	assert_true(bytes_equal(&one, &other));
	bytes_free(&one);
	bytes_free(&other);
}

static void join(struct sketch_hll *into, const struct sketch_hll *from)
{
	struct sketch_error error;

	assert_status(SKETCH_OK, sketch_hll_union(into, from, &error), &error);
}

/* Different hashes, in the order of the dice. */
static struct sketch_hash *dice_hashes(uint64_t seed, size_t count)
{
	struct sketch_hash *hashes = malloc((count + 1) * sizeof *hashes);
	struct dice dice = { seed };

	assert_non_null(hashes);
	for (size_t i = 0; i < count; i++)
		hashes[i] = dice_hash(&dice);
	return hashes;
}

static struct sketch_hll *filled(uint32_t precision, size_t count)
{
	struct sketch_hll *hll = make(precision);
	struct sketch_hash *hashes = dice_hashes(11, count);

	sketch_hll_add(hll, hashes, count);
	sketch_hll_set_records(hll, count);
	free(hashes);
	return hll;
}

/* -------------------------------------------------------------------- sizing */

static void plan__any_error__gives_the_least_precision_that_keeps_it(void **unused)
{
	static const struct {
		double error;
		uint32_t precision;
	} cases[] = { { 0.99, 4 },
		      { 0.26, 4 },
		      { 0.25, 5 },
		      { 0.02, 12 },
		      { 0.0163, 12 },
		      { 0.01, 14 },
		      { 0.0081, 14 },
		      { 0.008, 15 },
		      { 0.005, 16 },
		      { 0.0041, 16 },
		      { 0.001, 21 } /* 20: 0.00101 */,
		      { 0.0007160, 21 } };
	struct sketch_error error;
	uint32_t precision = 99;

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		assert_status(SKETCH_OK, sketch_hll_plan(cases[i].error, &precision, &error),
			      &error);
		assert_int_equal(precision, cases[i].precision);
	}
	precision = 99;
	assert_int_equal(SKETCH_UNREACHABLE, sketch_hll_plan(0.0007158, &precision, &error));
	assert_error(SKETCH_UNREACHABLE, &error);
	assert_int_equal(SKETCH_RANGE, sketch_hll_plan(0, &precision, &error));
	assert_int_equal(SKETCH_RANGE, sketch_hll_plan(NAN, &precision, &error));
	assert_int_equal(precision, 99);
}

static void error__many_keys_and_few__is_what_the_theory_says(void **unused)
{
	const double pi = 3.14159265358979323846;

	(void)unused;
	for (uint32_t p = SKETCH_HLL_LEAST_PRECISION; p <= SKETCH_HLL_MOST_PRECISION; p++) {
		double m = ldexp(1, (int)p), all = sqrt(log(2) / (pi * pi / 6 - 1) / m);

		assert_near(sketch_hll_error(p), all, 1e-14);
		/* Fisher's information oscillates in the fifth place. */
		assert_near(hll_estimate_error(1e6 * m, p), all, 2e-5);
		/* Few keys: pairs that share a register cannot be told apart. */
		assert_near(hll_estimate_error(1e-4 * m, p), sqrt(0.5 / m), 1e-3);
		for (double n = m / 8; n < 1e13; n *= 1.7)
			assert_true(hll_estimate_error(n, p) <= all * (1 + 2e-5));
	}
}

static void new__out_of_range_or_too_large__is_refused(void **unused)
{
	static const uint32_t precisions[] = { 0, 3, 22, 64, UINT32_MAX };
	struct sketch_identity identity = IDENTITY;
	struct sketch_hll *hll = NULL;
	struct sketch_error error;

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(precisions); i++) {
		assert_int_equal(SKETCH_RANGE, sketch_hll_new(&hll, &identity, precisions[i],
							      UINT64_MAX, &error));
		assert_error(SKETCH_RANGE, &error);
		assert_true(has_word(error.text, "precision"));
	}
	assert_int_equal(SKETCH_NO_MEMORY, sketch_hll_new(&hll, &identity, 14, 1000, &error));
	assert_error(SKETCH_NO_MEMORY, &error);
	identity.arrangement = SKETCH_LADDER;
	assert_int_equal(SKETCH_RANGE, sketch_hll_new(&hll, &identity, 14, UINT64_MAX, &error));
	identity = IDENTITY;
	identity.family = 3;
	assert_int_equal(SKETCH_RANGE, sketch_hll_new(&hll, &identity, 14, UINT64_MAX, &error));
	identity = IDENTITY;
	identity.transforms = 2;
	assert_int_equal(SKETCH_RANGE, sketch_hll_new(&hll, &identity, 14, UINT64_MAX, &error));
	assert_null(hll);
}

/* -------------------------------------------------------------------- adding */

static void add__up_to_an_eighth__is_exact_and_then_an_estimate(void **unused)
{
	(void)unused;
	for (uint32_t p = SKETCH_HLL_LEAST_PRECISION; p <= 16; p++) {
		size_t most = (size_t)1 << (p - 3);
		struct sketch_hash *hashes = dice_hashes(p, most + 1);
		struct sketch_hll *hll = make(p);
		struct sketch_hll_state state;

		for (size_t i = 0; i < most; i++) {
			sketch_hll_add(hll, hashes, i + 1);
			if (i + 9 > most || i < 9) {
				state = state_of(hll);
				assert_true(state.exact && state.distinct == (double)i + 1);
			}
		}
		sketch_hll_add(hll, hashes, most + 1);
		state = state_of(hll);
		assert_false(state.exact);
		assert_true(state.distinct >= (double)most + 1 && state.low >= (double)most + 1);
		assert_true(state.high >= state.distinct && state.error > 0);
		sketch_hll_free(hll);
		free(hashes);
	}
}

/* As in a file made by somebody who wants its readers to take for ever: 2^18 hashes in
 * one run of slots are 3e10 steps, a minute's work. */
static void add__hashes_that_begin_alike__take_no_longer(void **unused)
{
	struct sketch_hll *hll = make(SKETCH_HLL_MOST_PRECISION), *other;
	uint64_t most = hll_most_hashes(SKETCH_HLL_MOST_PRECISION);
	clock_t begun = clock(), limit = (run_slow() ? 50 : 5) * CLOCKS_PER_SEC;
	struct sketch_error error;
	struct bytes bytes;

	(void)unused;
	for (uint64_t i = 0; i < most; i++)
		add_hash(hll, i);
	assert_true(state_of(hll).exact && state_of(hll).distinct == (double)most);
	bytes = written(hll);
	assert_status(SKETCH_OK, reread(&bytes, &other, &error), &error);
	join(other, hll);
	assert_true(state_of(other).distinct == (double)most);
	assert_true(clock() - begun < limit);
	bytes_free(&bytes);
	sketch_hll_free(hll);
	sketch_hll_free(other);
}

static void add__the_hash_0__is_one_key(void **unused)
{
	struct sketch_hll *hll = make(5), *other = make(5);

	(void)unused;
	add_hash(hll, 0);
	add_hash(hll, 0);
	assert_true(state_of(hll).distinct == 1);
	add_hash(other, UINT64_MAX);
	add_hash(other, 1);
	join(other, hll);
	join(hll, other);
	assert_true(state_of(hll).distinct == 3);
	assert_same_file(hll, other);
	for (uint64_t i = 0; i < 2; i++) {
		add_hash(hll, i + 2);
		add_hash(other, i + 2);
	}
	assert_false(state_of(hll).exact);
	/* 60 bits of 0 and more: the largest value there is. */
	assert_int_equal(hll->registers.data[0], 65 - 5);
	assert_int_equal(hll->registers.data[31], 1);
	sketch_hll_free(hll);
	sketch_hll_free(other);
}

static void add__hashes__raise_the_register_that_the_page_says(void **unused)
{
	static const struct {
		uint64_t hash;
		uint8_t index, value;
	} cases[] = {
		{ UINT64_C(0x60b0000000000000), 6, 5 },  /* 0110 00001011 */
		{ UINT64_C(0x6900000000000000), 6, 1 },  /* 0110 1001 */
		{ UINT64_C(0xb78c000000000000), 11, 2 }, /* 1011 0111 */
		{ UINT64_C(0x3000000000000001), 3, 60 }, { UINT64_C(0x4000000000000000), 4, 61 },
		{ UINT64_C(0xffffffffffffffff), 15, 1 },
	};
	struct sketch_hll *hll = make(4);
	uint8_t expected[16] = { 0 };

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		add_hash(hll, cases[i].hash);
		if (cases[i].value > expected[cases[i].index])
			expected[cases[i].index] = cases[i].value;
	}
	assert_true(hll->dense);
	assert_memory_equal(hll->registers.data, expected, sizeof expected);
	sketch_hll_free(hll);
}

/* The property that merging rests on: however the keys of a set are ordered, repeated,
 * cut into calls, put into parts, saved and joined, the file is the same. */
static void any_way__of_the_same_keys__is_the_same_file(void **unused)
{
	struct dice dice = { 77 };

	(void)unused;
	for (int round = 0; round < 300; round++) {
		uint32_t p = (uint32_t)dice_between(&dice, 4, 9);
		size_t most = (size_t)1 << (p - 3), parts = dice_between(&dice, 1, 5);
		/* On both sides of the change, and often just there. */
		size_t count = round % 3 == 0 ? most + (size_t)(round / 3 % 2) :
						(size_t)dice_below(&dice, 4 * most);
		struct sketch_hash *hashes = dice_hashes(dice_next(&dice), count);
		struct sketch_hll *whole = make(p), *part[5], *sum;

		if (count > 0 && round % 4 == 0)
			hashes[dice_below(&dice, count)].h1 = 0;
		sketch_hll_add(whole, hashes, count);
		for (size_t i = 0; i < parts; i++)
			part[i] = make(p);
		for (size_t i = count; i-- > 0;) {
			size_t other = (size_t)dice_below(&dice, i + 1);

			sketch_hll_add(part[dice_below(&dice, parts)], &hashes[i], 1);
			sketch_hll_add(part[dice_below(&dice, parts)], &hashes[other], i - other);
		}
		for (size_t i = 1; i < parts; i++) {
			struct bytes bytes = written(part[i]);
			struct sketch_error error;

			sketch_hll_free(part[i]);
			assert_status(SKETCH_OK, reread(&bytes, &part[i], &error), &error);
			bytes_free(&bytes);
		}
		sum = part[dice_below(&dice, parts)];
		for (size_t i = 0; i < parts; i++) {
			if (part[i] != sum)
				join(sum, part[i]);
		}
		assert_same_file(whole, sum);
		for (size_t i = 0; i < parts; i++)
			sketch_hll_free(part[i]);
		sketch_hll_free(whole);
		free(hashes);
	}
}

/* --------------------------------------------------------------------- union */

static void union__with_itself__adds_nothing_but_records(void **unused)
{
	static const size_t counts[] = { 0, 100, 5000 };

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(counts); i++) {
		struct sketch_hll *hll = filled(10, counts[i]), *before = filled(10, counts[i]);

		join(hll, hll);
		assert_int_equal(sketch_hll_records(hll), 2 * counts[i]);
		sketch_hll_set_records(hll, counts[i]);
		assert_same_file(hll, before);
		sketch_hll_set_records(hll, UINT64_MAX);
		join(hll, before);
		assert_true(sketch_hll_records(hll) == UINT64_MAX);
		sketch_hll_free(hll);
		sketch_hll_free(before);
	}
}

static void union__of_what_differs__names_the_field_and_changes_nothing(void **unused)
{
	struct sketch_identity folded = IDENTITY, seeded = IDENTITY;
	struct sketch_hll *hll = filled(10, 500), *before = filled(10, 500), *others[3];
	const char *const words[] = { "precision", "seed", "ignore-case" };
	struct sketch_error error;

	(void)unused;
	folded.transforms = SKETCH_FOLD_ASCII;
	seeded.seed = 7;
	others[0] = make(11);
	assert_int_equal(SKETCH_OK, sketch_hll_new(&others[1], &seeded, 10, UINT64_MAX, NULL));
	assert_int_equal(SKETCH_OK, sketch_hll_new(&others[2], &folded, 10, UINT64_MAX, NULL));
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		assert_int_equal(SKETCH_MISMATCH, sketch_hll_union(hll, others[i], &error));
		assert_error(SKETCH_MISMATCH, &error);
		assert_non_null(strstr(error.text, words[i]));
		assert_same_file(hll, before);
		sketch_hll_free(others[i]);
	}
	sketch_hll_free(hll);
	sketch_hll_free(before);
}

/* ----------------------------------------------------------------- estimating */

static void estimate__registers_all_full__is_infinite_and_without_bounds(void **unused)
{
	(void)unused;
	for (uint32_t p = SKETCH_HLL_LEAST_PRECISION; p <= SKETCH_HLL_MOST_PRECISION; p++) {
		uint64_t values[HLL_VALUES] = { 0 }, m = UINT64_C(1) << p;

		values[0] = m;
		assert_true(hll_estimate(values, p) == 0);
		values[0] = 0;
		values[65 - p] = m;
		assert_true(hll_estimate(values, p) == INFINITY);
		values[65 - p] = m - 1;
		values[64 - p] = 1;
		assert_true(hll_estimate(values, p) > 0x1p63);
		assert_true(isfinite(hll_estimate(values, p)));
	}
}

static void estimate__more_of_any_value__is_never_less(void **unused)
{
	struct dice dice = { 5 };

	(void)unused;
	for (int round = 0; round < 2000; round++) {
		uint32_t p = (uint32_t)dice_between(&dice, 4, 14);
		uint64_t values[HLL_VALUES] = { 0 };
		uint32_t top = 65 - p, at;
		double before;

		for (uint64_t i = 0; i < UINT64_C(1) << p; i++)
			values[dice_below(&dice, dice_below(&dice, top) + 1)]++;
		before = hll_estimate(values, p);
		do {
			at = (uint32_t)dice_below(&dice, top);
		} while (values[at] == 0);
		values[at]--;
		values[dice_between(&dice, at + 1, top)]++;
		assert_true(hll_estimate(values, p) >= before * (1 - 1e-9));
	}
}

/* --------------------------------------------------------------------- files */

static void read__any_flipped_bit_or_other_length__is_refused(void **unused)
{
	static const size_t counts[] = { 0, 3, 9 };

	(void)unused;
	for (size_t c = 0; c < COUNT_OF(counts); c++) {
		struct sketch_hll *hll = filled(6, counts[c]), *again;
		struct bytes bytes = written(hll);
		struct sketch_error error;

		sketch_hll_free(hll);
		for (size_t bit = 0; bit < 8 * bytes.length; bit++) {
			bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_not_equal(SKETCH_OK, reread(&bytes, &again, &error));
			assert_error(error.status, &error);
			assert_null(again);
			bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		for (size_t length = 0; length < bytes.length; length++) {
			struct bytes cut = { bytes.data, length };

			assert_int_not_equal(SKETCH_OK, reread(&cut, &again, &error));
			assert_error(error.status, &error);
		}
		bytes_free(&bytes);
	}
}

/* A file whose PRECISION or content has other bytes, and every checksum right. */
static void refuse(size_t count, uint32_t type, size_t offset, const void *data, size_t length,
		   enum sketch_status expected)
{
	struct sketch_hll *hll = filled(6, count), *again;
	struct bytes bytes = written(hll);
	struct sketch_error error;

	memcpy(bytes.data + section_find(&bytes, type, 0).offset + offset, data, length);
	file_seal(&bytes);
	assert_status(expected, reread(&bytes, &again, &error), &error);
	assert_error(expected, &error);
	assert_null(strstr(error.text, "checksum"));
	bytes_free(&bytes);
	sketch_hll_free(hll);
}

static void read__resealed_as_it_was__is_accepted(void **unused)
{
	static const size_t counts[] = { 0, 3, 9 };

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(counts); i++) {
		struct sketch_hll *hll = filled(6, counts[i]), *again;
		struct bytes bytes = written(hll);
		struct sketch_error error;

		file_seal(&bytes);
		assert_status(SKETCH_OK, reread(&bytes, &again, &error), &error);
		assert_same_file(hll, again);
		bytes_free(&bytes);
		sketch_hll_free(hll);
		sketch_hll_free(again);
	}
}

static void read__field_out_of_range__is_refused(void **unused)
{
	static const uint8_t precisions[] = { 0, 3, 5, 7, 22, 255 }, zeros[64] = { 0 };
	static const uint8_t bits[] = { 0, 6, 7, 9 }, one = 1, large = 65 - 6 + 1;

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(precisions); i++)
		refuse(9, FORMAT_PRECISION, 0, &precisions[i], 1, SKETCH_DAMAGED);
	for (size_t i = 0; i < COUNT_OF(bits); i++)
		refuse(9, FORMAT_PRECISION, 4, &bits[i], 1, SKETCH_UNSUPPORTED);
	for (size_t offset = 8; offset < FORMAT_PRECISION_BYTES; offset++)
		refuse(3, FORMAT_PRECISION, offset, &one, 1, SKETCH_DAMAGED);
	refuse(9, FORMAT_REGISTERS, 0, zeros, 64, SKETCH_DAMAGED);
	refuse(9, FORMAT_REGISTERS, 63, &large, 1, SKETCH_DAMAGED);
	/* Hashes that descend, or are there twice. */
	refuse(3, FORMAT_HASHES, 16, zeros, 8, SKETCH_DAMAGED);
	refuse(3, FORMAT_HASHES, 0, "\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16, SKETCH_DAMAGED);
}

static void read__of_another_kind__says_so(void **unused)
{
	struct sketch_params params = params_classic(64, 2);
	struct sketch_bloom *filter = filter_make(&params), *other = NULL;
	struct sketch_hll *hll = filled(6, 3), *again;
	struct bytes of_filter = filter_bytes(filter), of_hll = written(hll);
	struct sketch_error error;
	int fd = bytes_to_fd(&of_hll);

	(void)unused;
	assert_int_equal(SKETCH_UNSUPPORTED, reread(&of_filter, &again, &error));
	assert_error(SKETCH_UNSUPPORTED, &error);
	assert_int_equal(SKETCH_UNSUPPORTED,
			 sketch_bloom_read(&other, fd, SKETCH_READ, UINT64_MAX, NULL, &error));
	assert_non_null(strstr(error.text, "HyperLogLog"));
	close(fd);
	bytes_free(&of_filter);
	bytes_free(&of_hll);
	sketch_bloom_free(filter);
	sketch_hll_free(hll);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan__any_error__gives_the_least_precision_that_keeps_it),
		cmocka_unit_test(error__many_keys_and_few__is_what_the_theory_says),
		cmocka_unit_test(new__out_of_range_or_too_large__is_refused),
		cmocka_unit_test(add__up_to_an_eighth__is_exact_and_then_an_estimate),
		cmocka_unit_test(add__hashes_that_begin_alike__take_no_longer),
		cmocka_unit_test(add__the_hash_0__is_one_key),
		cmocka_unit_test(add__hashes__raise_the_register_that_the_page_says),
		cmocka_unit_test(any_way__of_the_same_keys__is_the_same_file),
		cmocka_unit_test(union__with_itself__adds_nothing_but_records),
		cmocka_unit_test(union__of_what_differs__names_the_field_and_changes_nothing),
		cmocka_unit_test(estimate__registers_all_full__is_infinite_and_without_bounds),
		cmocka_unit_test(estimate__more_of_any_value__is_never_less),
		cmocka_unit_test(read__any_flipped_bit_or_other_length__is_refused),
		cmocka_unit_test(read__resealed_as_it_was__is_accepted),
		cmocka_unit_test(read__field_out_of_range__is_refused),
		cmocka_unit_test(read__of_another_kind__says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
