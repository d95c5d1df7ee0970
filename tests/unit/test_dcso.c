/* Filters of DCSO's: the hash and the bits it leads to, against a second, slow
 * implementation; headers that lie; samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcso.h"
#include "support.h"

/* ----------------------------------------------------------------- reference */

static uint64_t reference_fnv(const void *key, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		hash = hash * UINT64_C(0x100000001b3) ^ ((const uint8_t *)key)[i];
	return hash;
}

/* The bits of a key. */
static void reference_bits(const struct sketch_dcso_params *params, const void *key, size_t length,
			   uint64_t *positions)
{
	const uint64_t modulus = UINT64_C(18446744073709551557);
	uint64_t hash = reference_fnv(key, length) % modulus;

	for (uint64_t i = 0; i < params->k; i++) {
		hash = hash * UINT64_C(18446744073709550147) % modulus;
		positions[i] = hash % params->m;
	}
}

struct maker {
	struct sketch_dcso_params params;
	struct bytes bytes;
};

static struct maker begin(uint64_t n, double p, uint64_t k, uint64_t m)
{
	struct maker maker = { .params = { .n = n, .p = p, .k = k, .m = m } };
	uint64_t rate;

	maker.bytes.length = (size_t)(48 + (m + 63) / 64 * 8);
	maker.bytes.data = calloc(1, maker.bytes.length);
	assert_non_null(maker.bytes.data);
	memcpy(&rate, &p, sizeof rate);
	put64(maker.bytes.data, 1);
	put64(maker.bytes.data + 8, n);
	put64(maker.bytes.data + 16, rate);
	put64(maker.bytes.data + 24, k);
	put64(maker.bytes.data + 32, m);
	return maker;
}

static void put_in(struct maker *maker, const void *key, size_t length)
{
	uint64_t positions[64];

	reference_bits(&maker->params, key, length, positions);
	for (uint64_t i = 0; i < maker->params.k; i++) {
		uint8_t *word = maker->bytes.data + 48 + positions[i] / 64 * 8;

		put64(word, get64(word) | UINT64_C(1) << positions[i] % 64);
	}
}

static bool is_in(const struct maker *maker, const void *key, size_t length)
{
	uint64_t positions[64];

	reference_bits(&maker->params, key, length, positions);
	for (uint64_t i = 0; i < maker->params.k; i++) {
		if (!(get64(maker->bytes.data + 48 + positions[i] / 64 * 8) >> positions[i] % 64 &
		      1))
			return false;
	}
	return true;
}

static enum sketch_status reread(const struct bytes *bytes, struct sketch_dcso **dcso,
				 struct sketch_error *error)
{
	int fd = bytes_to_fd(bytes);
	struct sketch_file *file = NULL;
	enum sketch_status status =
		sketch_file_read(&file, fd, SKETCH_READ, UINT64_MAX, NULL, error);

	*dcso = NULL;
	if (status == SKETCH_OK)
		status = sketch_dcso_of_file(dcso, file, error);
	close(fd);
	return status;
}

static struct sketch_dcso *opened(const struct maker *maker)
{
	struct sketch_dcso *dcso;
	struct sketch_error error;

	assert_status(SKETCH_OK, reread(&maker->bytes, &dcso, &error), &error);
	return dcso;
}

/* -------------------------------------------------------------------- tests */

/* Vectors of Landon Curt Noll's page on FNV, for FNV-1 of 64 bits. */
static void reference__published_vectors__are_met(void **unused)
{
	(void)unused;
	assert_true(reference_fnv("", 0) == UINT64_C(0xcbf29ce484222325));
	assert_true(reference_fnv("a", 1) == UINT64_C(0xaf63bd4c8601b7be));
	assert_true(reference_fnv("foobar", 6) == UINT64_C(0x340d8765a4dda9c2));
}

static void test__any_keys__answers_as_the_reference(void **unused)
{
	static const uint64_t sizes[] = { 1, 63, 64, 65, 997, 1024, 9585 };
	struct dice dice = { 9 };

	(void)unused;
	for (size_t s = 0; s < COUNT_OF(sizes); s++) {
		struct maker maker = begin(100, 0.01, 1 + s, sizes[s]);
		uint8_t storage[300][90];
		const uint8_t *keys[300];
		size_t lengths[300];
		struct sketch_dcso *dcso;

		for (size_t i = 0; i < COUNT_OF(keys); i++) {
			keys[i] = storage[i];
			lengths[i] = (size_t)dice_below(&dice, sizeof storage[i]);
			dice_fill(&dice, storage[i], lengths[i]);
			if (i % 4 == 0 && i < sizes[s] / 8)
				put_in(&maker, keys[i], lengths[i]);
		}
		dcso = opened(&maker);
		for (size_t count = 0; count <= COUNT_OF(keys); count += 1 + count / 3) {
			uint64_t found[COUNT_OF(keys) / 64 + 1] = { 0 };

			sketch_dcso_test(dcso, keys, lengths, count, found);
			for (size_t i = 0; i < 64 * COUNT_OF(found); i++)
				assert_int_equal(found[i / 64] >> i % 64 & 1,
						 i < count && is_in(&maker, keys[i], lengths[i]));
		}
		sketch_dcso_free(dcso);
		bytes_free(&maker.bytes);
	}
}

static void params__of_any_m__say_where_bits_are_dependent(void **unused)
{
	static const struct {
		uint64_t m, k;
		bool dependent;
	} cases[] = { { 1 << 20, 7, true }, { 1 << 20, 1, false }, { 9 << 14, 7, true },
		      { 126, 7, true },     { 130, 7, false },     { 63, 7, false },
		      { 65 << 4, 7, false } };

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct maker maker = begin(100, 0.01, cases[i].k, cases[i].m);
		struct sketch_dcso *dcso = opened(&maker);

		assert_int_equal(sketch_dcso_params(dcso)->dependent, cases[i].dependent);
		sketch_dcso_free(dcso);
		bytes_free(&maker.bytes);
	}
}

static void state__bits_all_set__says_so(void **unused)
{
	struct maker maker = begin(10, 0.01, 7, 130);
	struct sketch_bloom_state state;
	struct sketch_dcso *dcso;

	(void)unused;
	memset(maker.bytes.data + 48, 0xff, 16);
	put64(maker.bytes.data + 64, 3);
	dcso = opened(&maker);
	sketch_dcso_state(dcso, &state);
	assert_int_equal(state.ones, 130);
	assert_true(state.fill == 1 && state.rate == 1 && state.distinct == INFINITY);
	assert_true(state.past_capacity);
	assert_int_equal(sketch_dcso_sample(dcso, 5, 1000), 1000);
	sketch_dcso_free(dcso);
	bytes_free(&maker.bytes);
}

static void sample__half_full__finds_the_power_of_the_fill(void **unused)
{
	struct maker maker = begin(10000, 0.01, 7, 95851);
	struct dice dice = { 4 };
	struct sketch_bloom_state state;
	struct sketch_dcso *dcso;
	double hits;

	(void)unused;
	for (int i = 0; i < 10000; i++) {
		uint64_t key = dice_next(&dice);

		put_in(&maker, &key, sizeof key);
	}
	dcso = opened(&maker);
	sketch_dcso_state(dcso, &state);
	assert_near(state.rate, pow(state.fill, 7), 1e-12);
	assert_near(state.distinct, 10000, 0.02);
	assert_false(state.past_capacity);
	hits = (double)sketch_dcso_sample(dcso, 1, 1000000);
	/* Five standard deviations, and what one filter differs from its fill. */
	assert_true(fabs(hits - 1e6 * state.rate) < 5 * sqrt(1e6 * state.rate) + 300);
	assert_true(sketch_dcso_sample(dcso, 1, 1000000) == (uint64_t)hits);
	sketch_dcso_free(dcso);
	bytes_free(&maker.bytes);
}

static void read__header_that_lies__is_refused(void **unused)
{
	static const struct {
		size_t at;
		uint64_t value;
		enum sketch_status status;
	} cases[] = {
		{ 0, 2, SKETCH_FOREIGN },
		{ 0, 257, SKETCH_FOREIGN },
		{ 8, 0, SKETCH_DAMAGED },
		{ 16, 0, SKETCH_DAMAGED },
		{ 16, UINT64_C(0x3ff0000000000000), SKETCH_DAMAGED }, /* 1 */
		{ 16, UINT64_C(0x7ff8000000000000), SKETCH_DAMAGED }, /* not a number */
		{ 16, UINT64_C(0xbf847ae147ae147b), SKETCH_DAMAGED }, /* -0.01 */
		{ 24, 0, SKETCH_DAMAGED },
		{ 24, 1101, SKETCH_DAMAGED },
		{ 24, UINT64_MAX, SKETCH_DAMAGED },
		{ 32, 0, SKETCH_DAMAGED },
		{ 32, 1 + (UINT64_C(1) << 40), SKETCH_TRUNCATED },
		{ 32, UINT64_C(1) << 63, SKETCH_DAMAGED },
		{ 32, UINT64_MAX, SKETCH_DAMAGED },
		{ 40, 101, SKETCH_DAMAGED },
		{ 56, UINT64_C(1) << 36, SKETCH_DAMAGED }, /* bit 100 of 100 */
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct maker maker = begin(10, 0.01, 7, 100);
		struct sketch_dcso *dcso;
		struct sketch_error error;

		put64(maker.bytes.data + cases[i].at, cases[i].value);
		assert_status(cases[i].status, reread(&maker.bytes, &dcso, &error), &error);
		assert_error(cases[i].status, &error);
		assert_null(dcso);
		bytes_free(&maker.bytes);
	}
}

static void read__as_any_kind_of_ours__is_refused(void **unused)
{
	struct maker maker = begin(10, 0.01, 7, 100);
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;

	(void)unused;
	for (int access = SKETCH_READ; access <= SKETCH_WRITABLE; access++) {
		int fd = bytes_to_fd(&maker.bytes);

		assert_status(SKETCH_UNSUPPORTED,
			      sketch_bloom_read(&filter, fd, (enum sketch_access)access, UINT64_MAX,
						NULL, &error),
			      &error);
		assert_non_null(strstr(error.text, "DCSO"));
		assert_null(filter);
		close(fd);
	}
	bytes_free(&maker.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reference__published_vectors__are_met),
		cmocka_unit_test(test__any_keys__answers_as_the_reference),
		cmocka_unit_test(params__of_any_m__say_where_bits_are_dependent),
		cmocka_unit_test(state__bits_all_set__says_so),
		cmocka_unit_test(sample__half_full__finds_the_power_of_the_fill),
		cmocka_unit_test(read__header_that_lies__is_refused),
		cmocka_unit_test(read__as_any_kind_of_ours__is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
