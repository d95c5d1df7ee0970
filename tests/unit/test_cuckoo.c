/* Cuckoo filters: the table against its description, membership against the exact multiset
 * of keys, the rate against its bound, what is full, what is planned, unions, files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuckoo.h"
#include "format.h"
#include "support.h"

static struct sketch_cuckoo *make(uint32_t f, uint64_t buckets)
{
	const struct sketch_identity identity = IDENTITY;
	const struct sketch_cuckoo_params params = { f, buckets, 4 * buckets, 0.5 };
	struct sketch_cuckoo *cuckoo = NULL;
	struct sketch_error error;

	assert_status(SKETCH_OK, sketch_cuckoo_new(&cuckoo, &identity, &params, UINT64_MAX, &error),
		      &error);
	return cuckoo;
}

static enum sketch_status put_in(struct sketch_cuckoo *cuckoo, struct sketch_hash hash)
{
	size_t done = 7;
	enum sketch_status status = sketch_cuckoo_add(cuckoo, &hash, 1, &done, NULL);

	assert_int_equal(done, status == SKETCH_OK);
	return status;
}

static bool take_out(struct sketch_cuckoo *cuckoo, struct sketch_hash hash)
{
	uint64_t removed;
	size_t count = sketch_cuckoo_remove(cuckoo, &hash, 1, &removed);

	assert_int_equal(removed, count);
	return count == 1;
}

static bool has(struct sketch_cuckoo *cuckoo, struct sketch_hash hash)
{
	uint64_t found;

	assert_status(SKETCH_OK, sketch_cuckoo_test(cuckoo, &hash, 1, &found, NULL), NULL);
	assert_in_range(found, 0, 1);
	return found;
}

static struct sketch_hash hash_of(uint64_t key)
{
	struct dice dice = { key };

	return dice_hash(&dice);
}

static struct bytes bytes_of(struct sketch_cuckoo *cuckoo)
{
	int fd = bytes_begin();

	assert_status(SKETCH_OK, sketch_cuckoo_write(cuckoo, fd, NULL), NULL);
	return bytes_end(fd);
}

static enum sketch_status read_bytes(struct sketch_cuckoo **cuckoo, const struct bytes *bytes,
				     enum sketch_access access, struct sketch_error *error)
{
	int fd = bytes_to_fd(bytes);
	struct sketch_file *file;
	enum sketch_status status = sketch_file_read(&file, fd, access, UINT64_MAX, NULL, error);

	close(fd);
	return status == SKETCH_OK ? sketch_cuckoo_of_file(cuckoo, file, error) : status;
}

/* ------------------------------------------------------- the table, as described */

/* Slot s of bucket b, bit by bit. */
static uint64_t slot_of(const struct bytes *file, uint32_t f, uint64_t b, unsigned int s)
{
	const uint8_t *table = file->data + section_find(file, FORMAT_BUCKETS, 0).offset;
	uint64_t value = 0;

	for (uint32_t bit = 0; bit < f; bit++) {
		uint64_t at = (4 * b + s) * f + bit;

		value |= (uint64_t)(table[at / 8] >> at % 8 & 1) << bit;
	}
	return value;
}

static unsigned int copies_in(const struct bytes *file, uint32_t f, uint64_t buckets,
			      struct sketch_hash hash)
{
	uint64_t fingerprint = 1 + reference_upper(hash.h2, (UINT64_C(1) << f) - 1);
	uint64_t first = reference_upper(hash.h1, buckets),
		 sum = reference_upper(reference_mix(fingerprint), buckets);
	uint64_t second = (sum + buckets - first) % buckets;
	unsigned int copies = 0;

	for (unsigned int s = 0; s < 4; s++) {
		copies += slot_of(file, f, first, s) == fingerprint;
		if (second != first)
			copies += slot_of(file, f, second, s) == fingerprint;
	}
	return copies;
}

/* Every size of a fingerprint, odd and even numbers of buckets, filled until no more go in:
 * what is found is what lies where the page says. */
static void add_test__every_fingerprint__lies_in_one_of_its_buckets(void **unused)
{
	(void)unused;
	for (uint32_t f = SKETCH_CUCKOO_LEAST_BITS; f <= SKETCH_CUCKOO_MOST_BITS; f++) {
		uint64_t buckets = 40 + f % 7, keys = 0;
		struct sketch_cuckoo *cuckoo = make(f, buckets);
		struct sketch_cuckoo_state state;
		struct bytes file;

		while (put_in(cuckoo, hash_of(1000 * f + keys)) == SKETCH_OK)
			keys++;
		file = bytes_of(cuckoo);
		for (uint64_t i = 0; i < 500; i++) {
			struct sketch_hash hash = hash_of(1000 * f + i);
			unsigned int copies = copies_in(&file, f, buckets, hash);

			assert_int_equal(has(cuckoo, hash), copies > 0);
			assert_true(copies > 0 || i >= keys);
		}
		assert_status(SKETCH_OK, sketch_cuckoo_state(cuckoo, &state, NULL), NULL);
		assert_int_equal(state.entries, keys);
		assert_true(state.load > 0.85 && state.load <= 1);
		assert_true(state.kinds <= keys && state.kinds > 0);
		bytes_free(&file);
		sketch_cuckoo_free(cuckoo);
	}
}

/* The rate of the state is what all pairs of a bucket and a fingerprint give. */
static void state__rate__is_the_part_of_all_pairs_that_are_found(void **unused)
{
	struct dice dice = { 5 };

	(void)unused;
	for (size_t set = 0; set < 20; set++) {
		uint32_t f = 6 + (uint32_t)set % 4;
		uint64_t buckets = dice_between(&dice, 1, 40), most = (UINT64_C(1) << f) - 1;
		struct sketch_cuckoo *cuckoo = make(f, buckets);
		struct sketch_cuckoo_state state;
		uint64_t keys = dice_below(&dice, 3 * buckets), found = 0;

		for (uint64_t i = 0; i < keys; i++)
			(void)put_in(cuckoo, hash_of(dice_below(&dice, 2 * keys)));
		for (uint64_t bucket = 0; bucket < buckets; bucket++) {
			for (uint64_t x = 1; x <= most; x++) {
				/* The hash in the middle of what leads to the two. */
				struct sketch_hash hash = {
					UINT64_MAX / buckets * bucket + UINT64_MAX / buckets / 2,
					UINT64_MAX / most * (x - 1) + UINT64_MAX / most / 2,
				};

				found += has(cuckoo, hash);
			}
		}
		assert_status(SKETCH_OK, sketch_cuckoo_state(cuckoo, &state, NULL), NULL);
		assert_near(state.rate, (double)found / ((double)buckets * (double)most), 1e-12);
		assert_true(state.rate <= 2 * (double)state.entries /
						  ((double)buckets * (double)most) * (1 + 1e-12));
		sketch_cuckoo_free(cuckoo);
	}
}

/* ---------------------------------------------------------------------- multiset */

#define POOL 20000

static void check_multiset(uint32_t f, uint64_t buckets, size_t operations)
{
	struct dice dice = { f };
	struct sketch_cuckoo *cuckoo = make(f, buckets);
	unsigned char *copies = calloc(POOL, 1);
	size_t held = 0, full = 0;

	assert_non_null(copies);
	for (size_t done = 0; done < operations; done++) {
		size_t key = dice_below(&dice, POOL);

		if (copies[key] > 0 && dice_below(&dice, 2)) {
			assert_true(take_out(cuckoo, hash_of(key)));
			copies[key]--;
			held--;
		} else if (put_in(cuckoo, hash_of(key)) == SKETCH_OK) {
			copies[key]++;
			held++;
		} else {
			full++;
		}
		if ((done + 1) % (operations / 8) != 0)
			continue;
		for (size_t i = 0; i < POOL; i++)
			if (copies[i] > 0 && !has(cuckoo, hash_of(i)))
				fail_msg("key %zu of %u copies is missed", i, copies[i]);
	}
	print_message("f %u: %zu keys at the end, %zu times full\n", f, held, full);
	assert_int_equal(cuckoo->entries, held);
	assert_int_equal(cuckoo_count(cuckoo), held);
	for (size_t i = 0; i < POOL; i++)
		for (; copies[i] > 0; copies[i]--)
			assert_true(take_out(cuckoo, hash_of(i)));
	assert_int_equal(cuckoo_count(cuckoo), 0);
	sketch_cuckoo_free(cuckoo);
	free(copies);
}

/* Roomy, and so small that insertions fail all the time. */
static void multiset__millions_come_and_go__none_is_missed(void **unused)
{
	size_t operations = run_slow() ? 20000 : 1200000;

	(void)unused;
	check_multiset(12, 20000, operations);
	check_multiset(29, 20001, operations / 3);
	check_multiset(8, 2500, operations / 100);
	check_multiset(17, 2501, operations / 100);
}

static void add__ninth_copy__is_refused_and_changes_nothing(void **unused)
{
	struct sketch_cuckoo *cuckoo = make(10, 101);
	struct sketch_hash apple = hash_text("apple", 0);
	struct sketch_hash batch[] = { hash_text("a", 0), apple, hash_text("b", 0) };
	struct sketch_error error;
	struct bytes before, after;
	size_t done;

	(void)unused;
	for (size_t i = 0; i < 8; i++)
		assert_status(SKETCH_OK, put_in(cuckoo, apple), NULL);
	assert_status(SKETCH_FULL, sketch_cuckoo_add(cuckoo, batch, 3, &done, &error), &error);
	assert_int_equal(done, 1);
	assert_non_null(strstr(error.text, "8 copies"));
	before = bytes_of(cuckoo);
	assert_status(SKETCH_FULL, put_in(cuckoo, apple), NULL);
	after = bytes_of(cuckoo);
	assert_true(bytes_equal(&before, &after));
	assert_true(has(cuckoo, batch[0]));
	for (size_t i = 0; i < 8; i++)
		assert_true(take_out(cuckoo, apple));
	assert_false(take_out(cuckoo, apple));
	assert_false(has(cuckoo, apple));
	bytes_free(&before);
	bytes_free(&after);
	sketch_cuckoo_free(cuckoo);
}

static void add__full_table__is_refused_with_its_load_and_changes_nothing(void **unused)
{
	struct sketch_cuckoo *cuckoo = make(9, 500);
	uint64_t keys = 0;

	(void)unused;
	while (put_in(cuckoo, hash_of(keys)) == SKETCH_OK)
		keys++;
	for (uint64_t i = 0; i < 50; i++) {
		struct bytes before = bytes_of(cuckoo), after;
		struct sketch_hash hash = hash_of(keys + i);
		struct sketch_error error;
		size_t done;

		if (sketch_cuckoo_add(cuckoo, &hash, 1, &done, &error) == SKETCH_OK) {
			bytes_free(&before);
			continue;
		}
		assert_error(SKETCH_FULL, &error);
		assert_non_null(strstr(error.text, "a load of 9"));
		after = bytes_of(cuckoo);
		assert_true(bytes_equal(&before, &after));
		bytes_free(&before);
		bytes_free(&after);
	}
	for (uint64_t i = 0; i < keys; i++)
		assert_true(has(cuckoo, hash_of(i)));
	sketch_cuckoo_free(cuckoo);
}

/* How full a table gets of keys that come so many times each. */
static double load_of_copies(unsigned int copies)
{
	const uint64_t buckets = run_slow() ? 1009 : 10007;
	struct sketch_cuckoo *cuckoo = make(16, buckets);
	struct sketch_cuckoo_state state;
	uint64_t keys = 0;

	while (put_in(cuckoo, hash_of(keys / copies)) == SKETCH_OK)
		keys++;
	for (uint64_t i = 0; i < keys; i++)
		assert_true(has(cuckoo, hash_of(i / copies)));
	assert_status(SKETCH_OK, sketch_cuckoo_state(cuckoo, &state, NULL), NULL);
	assert_int_equal(state.entries, keys);
	print_message("# %u copies of each key: full at %.3f\n", copies, state.load);
	sketch_cuckoo_free(cuckoo);
	return state.load;
}

/* Large tables of which every key is there twice, or four times, are those of two slots a
 * bucket, or of one: they get full at 89.7 % and 50 % (Cain, Sanders and Wormald 2007).
 * Small ones vary, and may take a little more. */
static void add__copies__fill_the_table_no_earlier_than_they_must(void **unused)
{
	(void)unused;
	assert_true(load_of_copies(1) > 0.93);
	assert_true(load_of_copies(2) > 0.84);
	assert_true(load_of_copies(4) > 0.4);
}

static void take_out__key_that_is_not_there__changes_nothing(void **unused)
{
	struct sketch_cuckoo *cuckoo = make(12, 50);
	struct bytes before, after;

	(void)unused;
	for (uint64_t i = 0; i < 150; i++)
		assert_status(SKETCH_OK, put_in(cuckoo, hash_of(i)), NULL);
	before = bytes_of(cuckoo);
	for (uint64_t i = 1000; i < 1200; i++)
		if (!has(cuckoo, hash_of(i)))
			assert_false(take_out(cuckoo, hash_of(i)));
	after = bytes_of(cuckoo);
	assert_true(bytes_equal(&before, &after));
	bytes_free(&before);
	bytes_free(&after);
	sketch_cuckoo_free(cuckoo);
}

static void add__one_call_or_many__the_same_table(void **unused)
{
	struct sketch_hash keys[1000];

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		keys[i] = hash_of(i);
	for (uint32_t f = 7; f < 20; f++) {
		struct sketch_cuckoo *one = make(f, 265), *many = make(f, 265);
		struct dice dice = { f };
		struct bytes a, b;
		size_t done;

		assert_status(SKETCH_OK, sketch_cuckoo_add(one, keys, COUNT_OF(keys), &done, NULL),
			      NULL);
		for (size_t i = 0, step; i < COUNT_OF(keys); i += step) {
			step = dice_between(&dice, 1, 150);
			if (step > COUNT_OF(keys) - i)
				step = COUNT_OF(keys) - i;
			assert_status(SKETCH_OK,
				      sketch_cuckoo_add(many, keys + i, step, &done, NULL), NULL);
			assert_int_equal(done, step);
		}
		a = bytes_of(one);
		b = bytes_of(many);
		assert_true(bytes_equal(&a, &b));
		bytes_free(&a);
		bytes_free(&b);
		sketch_cuckoo_free(one);
		sketch_cuckoo_free(many);
	}
}

/* -------------------------------------------------------------------------- plan */

static double bits_of(const struct sketch_cuckoo_params *params)
{
	return (double)params->buckets * params->f;
}

static void plan__n_and_p__keeps_p_with_the_fewest_bits(void **unused)
{
	struct dice dice = { 9 };

	(void)unused;
	for (size_t set = 0; set < 2000; set++) {
		double p = pow(10, -(double)dice_below(&dice, 1500) / 100) * 0.999;
		uint64_t n = dice_between(&dice, 1, UINT64_C(1) << dice_between(&dice, 1, 40));
		struct sketch_cuckoo_params params, other;
		struct sketch_error error;
		double least = ceil(((double)n / 0.95 + sqrt((double)n) / 2 + 16) / 4);

		assert_status(SKETCH_OK, sketch_cuckoo_plan(n, p, 0, &params, &error), &error);
		assert_true(sketch_cuckoo_rate_bound(&params, n) <= p);
		assert_near(params.p, p, 0);
		assert_int_equal(params.n, n);
		assert_true((double)params.buckets >= least);
		/* One bucket less is too few or breaks p; another f is no smaller. */
		other = params;
		other.buckets--;
		assert_true((double)other.buckets < least ||
			    sketch_cuckoo_rate_bound(&other, n) > p * (1 - 1e-9));
		for (other.f = SKETCH_CUCKOO_LEAST_BITS; other.f <= SKETCH_CUCKOO_MOST_BITS;
		     other.f++) {
			other.buckets = (uint64_t)(bits_of(&params) / other.f);
			if (bits_of(&other) < bits_of(&params) * (1 - 1e-12))
				assert_true((double)other.buckets < least ||
					    sketch_cuckoo_rate_bound(&other, n) > p * (1 - 1e-9));
		}
	}
}

static void plan__n_and_m__uses_m_for_the_longest_fingerprint(void **unused)
{
	struct dice dice = { 10 };

	(void)unused;
	for (size_t set = 0; set < 500; set++) {
		uint64_t n = dice_between(&dice, 100, 10000000);
		uint64_t m = n * dice_between(&dice, 8, 50) + dice_below(&dice, 64);
		struct sketch_cuckoo_params params;

		if (sketch_cuckoo_plan(n, 0, m, &params, NULL) != SKETCH_OK) {
			assert_true(m < n * 10);
			continue;
		}
		assert_true(8 * sketch_cuckoo_size(&params) <= m);
		assert_near(params.p, sketch_cuckoo_rate_bound(&params, n), 0);
		assert_true(params.f == SKETCH_CUCKOO_MOST_BITS ||
			    (params.f + 1) * ((double)n / 0.95) * 1.06 > (double)m - 1000);
		assert_status(SKETCH_OK, sketch_cuckoo_plan(n, params.p, m, &params, NULL), NULL);
		assert_status(SKETCH_UNREACHABLE,
			      sketch_cuckoo_plan(n, params.p / 1.01, m, &params, NULL), NULL);
	}
}

static void plan_and_new__wrong_arguments__are_refused(void **unused)
{
	static const struct sketch_cuckoo_params wrong[] = {
		{ 5, 10, 10, 0.1 },  { 57, 10, 10, 0.1 },
		{ 10, 0, 10, 0.1 },  { 10, (UINT64_C(1) << 63) / 40 + 1, 10, 0.1 },
		{ 10, 10, 0, 0.1 },  { 10, 10, 10, 0 },
		{ 10, 10, 10, 1.5 }, { 10, 10, 10, NAN },
	};
	const struct sketch_cuckoo_params right = { 10, 10, 10, 0.1 };
	struct sketch_identity identity = IDENTITY;
	struct sketch_cuckoo_params params;
	struct sketch_cuckoo *cuckoo = NULL;
	struct sketch_error error;

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		assert_status(SKETCH_RANGE,
			      sketch_cuckoo_new(&cuckoo, &identity, &wrong[i], UINT64_MAX, &error),
			      &error);
		assert_error(SKETCH_RANGE, &error);
	}
	assert_status(SKETCH_NO_MEMORY, sketch_cuckoo_new(&cuckoo, &identity, &right, 63, &error),
		      &error);
	assert_non_null(strstr(error.text, "64"));
	identity.arrangement = SKETCH_LADDER;
	assert_status(SKETCH_RANGE,
		      sketch_cuckoo_new(&cuckoo, &identity, &right, UINT64_MAX, &error), &error);
	assert_null(cuckoo);
	assert_status(SKETCH_RANGE, sketch_cuckoo_plan(0, 0.1, 0, &params, NULL), NULL);
	assert_status(SKETCH_RANGE,
		      sketch_cuckoo_plan(SKETCH_CUCKOO_MOST_KEYS + 1, 0.1, 0, &params, NULL), NULL);
	assert_status(SKETCH_RANGE, sketch_cuckoo_plan(9, 0, 0, &params, NULL), NULL);
	assert_status(SKETCH_RANGE, sketch_cuckoo_plan(9, 1, 0, &params, NULL), NULL);
	assert_status(SKETCH_RANGE, sketch_cuckoo_plan(9, NAN, 0, &params, NULL), NULL);
	assert_status(SKETCH_UNREACHABLE, sketch_cuckoo_plan(1000, 1e-17, 0, &params, &error),
		      &error);
	assert_status(SKETCH_UNREACHABLE, sketch_cuckoo_plan(1000, 0, 100, &params, NULL), NULL);
	assert_status(SKETCH_OK,
		      sketch_cuckoo_plan(SKETCH_CUCKOO_MOST_KEYS, 1e-6, 0, &params, NULL), NULL);
}

/* A table as planned has room for n: of R tables none may fail, where the chance of each is
 * promised to be below 1e-4; and with 10 % more none may stay unnoticed. */
static void plan__n_keys__find_room(void **unused)
{
	static const uint64_t numbers[] = { 1, 2, 3, 5, 9, 20, 50, 100, 300, 1000, 5000 };
	static const double rates[] = { 0.5, 0.03, 1e-4, 1e-9 };
	unsigned int failed = 0, tables = 0, rounds = run_slow() ? 10 : 100;
	uint64_t key = 0;

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(numbers) * COUNT_OF(rates) * rounds; i++) {
		uint64_t n = numbers[i % COUNT_OF(numbers)];
		struct sketch_identity identity = IDENTITY;
		struct sketch_cuckoo_params params;
		struct sketch_cuckoo *cuckoo = NULL;
		uint64_t held = 0;

		if (n > 300 && i / COUNT_OF(numbers) % 10 != 0)
			continue;
		assert_status(SKETCH_OK,
			      sketch_cuckoo_plan(n, rates[i / COUNT_OF(numbers) % COUNT_OF(rates)],
						 0, &params, NULL),
			      NULL);
		assert_status(SKETCH_OK,
			      sketch_cuckoo_new(&cuckoo, &identity, &params, UINT64_MAX, NULL),
			      NULL);
		while (held < n && put_in(cuckoo, hash_of(key++)) == SKETCH_OK)
			held++;
		failed += held < n;
		tables++;
		sketch_cuckoo_free(cuckoo);
	}
	print_message("%u of %u tables had no room for n keys\n", failed, tables);
	/* P(Poisson(0.44) >= 6) is below 1e-5, for the 4400 tables at most. */
	assert_true(failed < 6);
}

/* -------------------------------------------------------------------------- rate */

/* Of Q absent keys X are found.  The bound holds for the table at hand, in expectation over
 * the key, so X is binomial: X <= Q r + 4.8 sqrt(Q r), and one more for small numbers, is
 * exceeded with a probability of about 1e-6 where the rate r is right (normal tail of 4.8
 * deviations: 8e-7), and as rarely is Q r - 4.8 sqrt(Q r) not reached. */
static void rate__tables_of_n_keys__is_that_of_the_state_and_below_p(void **unused)
{
	static const double rates[] = { 0.1, 0.03, 0.01, 1e-3, 1e-4 };
	uint64_t keys = run_slow() ? 2000 : 20000, key = 0;

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(rates); i++) {
		struct sketch_identity identity = IDENTITY;
		struct sketch_cuckoo_params params;
		struct sketch_cuckoo *cuckoo = NULL;
		struct sketch_cuckoo_state state;
		double asked = run_slow() ? 100000 : 2000000, found = 0;

		assert_status(SKETCH_OK, sketch_cuckoo_plan(keys, rates[i], 0, &params, NULL),
			      NULL);
		assert_status(SKETCH_OK,
			      sketch_cuckoo_new(&cuckoo, &identity, &params, UINT64_MAX, NULL),
			      NULL);
		for (uint64_t k = 0; k < keys; k++)
			assert_status(SKETCH_OK, put_in(cuckoo, hash_of(key++)), NULL);
		for (double q = 0; q < asked; q++)
			found += has(cuckoo, hash_of(key++));
		assert_status(SKETCH_OK, sketch_cuckoo_state(cuckoo, &state, NULL), NULL);
		print_message("p %g: bound %.4g, state %.4g, measured %.4g\n", rates[i],
			      sketch_cuckoo_rate_bound(&params, keys), state.rate, found / asked);
		assert_true(state.rate <= sketch_cuckoo_rate_bound(&params, keys));
		assert_true(found <= asked * state.rate + 4.8 * sqrt(asked * state.rate) + 1);
		assert_true(found >= asked * state.rate - 4.8 * sqrt(asked * state.rate) - 1);
		sketch_cuckoo_free(cuckoo);
	}
}

/* -------------------------------------------------------------------------- union */

static void union__of_two__holds_the_copies_of_both(void **unused)
{
	(void)unused;
	for (uint32_t f = 8; f < 40; f += 5) {
		struct sketch_cuckoo *a = make(f, 300), *b = make(f, 300);

		for (uint64_t i = 0; i < 600; i++)
			assert_status(SKETCH_OK, put_in(a, hash_of(i)), NULL);
		for (uint64_t i = 400; i < 900; i++)
			assert_status(SKETCH_OK, put_in(b, hash_of(i)), NULL);
		sketch_cuckoo_set_records(a, 600);
		sketch_cuckoo_set_records(b, UINT64_MAX - 7);
		assert_status(SKETCH_OK, sketch_cuckoo_union(a, b, NULL), NULL);
		assert_int_equal(a->entries, 1100);
		assert_int_equal(cuckoo_count(a), 1100);
		assert_int_equal(sketch_cuckoo_records(a), UINT64_MAX);
		for (uint64_t i = 0; i < 900; i++)
			assert_true(has(a, hash_of(i)));
		for (uint64_t i = 0; i < 600; i++)
			assert_true(take_out(a, hash_of(i)));
		for (uint64_t i = 400; i < 900; i++)
			assert_true(take_out(a, hash_of(i)));
		assert_int_equal(cuckoo_count(a), 0);
		sketch_cuckoo_free(a);
		sketch_cuckoo_free(b);
	}
}

static void union__too_many__is_refused_and_changes_nothing(void **unused)
{
	struct sketch_cuckoo *a = make(12, 100), *b = make(12, 100);
	struct bytes before, after;
	struct sketch_error error;

	(void)unused;
	for (uint64_t i = 0; i < 300; i++) {
		assert_status(SKETCH_OK, put_in(a, hash_of(i)), NULL);
		assert_status(SKETCH_OK, put_in(b, hash_of(1000 + i)), NULL);
	}
	before = bytes_of(a);
	assert_status(SKETCH_FULL, sketch_cuckoo_union(a, b, &error), &error);
	after = bytes_of(a);
	assert_true(bytes_equal(&before, &after));
	assert_int_equal(a->entries, 300);
	bytes_free(&before);
	bytes_free(&after);
	sketch_cuckoo_free(a);
	sketch_cuckoo_free(b);
}

static void union__other_parameters__is_refused_and_names_the_field(void **unused)
{
	struct sketch_cuckoo *a = make(12, 100), *bits = make(13, 100), *buckets = make(12, 101);
	struct sketch_cuckoo *seed = make(12, 100), *fold = make(12, 100);
	struct sketch_error error;

	(void)unused;
	seed->identity.seed = 3;
	fold->identity.transforms = SKETCH_FOLD_ASCII;
	assert_status(SKETCH_MISMATCH, sketch_cuckoo_union(a, bits, &error), &error);
	assert_non_null(strstr(error.text, "fingerprint"));
	assert_status(SKETCH_MISMATCH, sketch_cuckoo_union(a, buckets, &error), &error);
	assert_non_null(strstr(error.text, "buckets"));
	assert_status(SKETCH_MISMATCH, sketch_cuckoo_union(a, seed, &error), &error);
	assert_non_null(strstr(error.text, "seed"));
	assert_status(SKETCH_MISMATCH, sketch_cuckoo_union(a, fold, &error), &error);
	assert_non_null(strstr(error.text, "ignore-case"));
	sketch_cuckoo_free(a);
	sketch_cuckoo_free(bits);
	sketch_cuckoo_free(buckets);
	sketch_cuckoo_free(seed);
	sketch_cuckoo_free(fold);
}

/* -------------------------------------------------------------------------- files */

static void read__damaged_chunk__matters_where_it_is_touched(void **unused)
{
	/* 25000 buckets of 6.5 bytes: three chunks, with buckets across their ends. */
	struct sketch_cuckoo *cuckoo = make(13, 25000);
	struct sketch_error error;
	struct bytes file;
	size_t refused = 0, answered = 0;
	struct section table;
	uint64_t found;

	(void)unused;
	for (uint64_t i = 0; i < 50000; i++)
		assert_status(SKETCH_OK, put_in(cuckoo, hash_of(i)), NULL);
	file = bytes_of(cuckoo);
	sketch_cuckoo_free(cuckoo);
	table = section_find(&file, FORMAT_BUCKETS, 0);
	assert_in_range(table.length, 2 * FORMAT_CHUNK_BYTES + 1, 3 * FORMAT_CHUNK_BYTES);
	file.data[table.offset + 2 * FORMAT_CHUNK_BYTES + 5] ^= 4;
	assert_status(SKETCH_OK, read_bytes(&cuckoo, &file, SKETCH_READ, &error), &error);
	for (uint64_t i = 0; i < 1000; i++) {
		struct sketch_hash hash = hash_of(i);
		enum sketch_status status = sketch_cuckoo_test(cuckoo, &hash, 1, &found, &error);

		if (status == SKETCH_OK)
			assert_int_equal(found, 1);
		else
			assert_error(SKETCH_DAMAGED, &error);
		answered += status == SKETCH_OK;
		refused += status != SKETCH_OK;
	}
	assert_in_range(answered, 200, 900);
	assert_in_range(refused, 100, 800);
	assert_status(SKETCH_DAMAGED, sketch_cuckoo_verify(cuckoo, &error), &error);
	sketch_cuckoo_free(cuckoo);
	cuckoo = NULL;
	assert_status(SKETCH_DAMAGED, read_bytes(&cuckoo, &file, SKETCH_VERIFIED, &error), &error);
	assert_status(SKETCH_DAMAGED, read_bytes(&cuckoo, &file, SKETCH_WRITABLE, &error), &error);
	assert_null(cuckoo);
	bytes_free(&file);
}

static void read__any_bit_flipped__is_refused(void **unused)
{
	struct sketch_cuckoo *cuckoo = make(11, 7);
	struct bytes file;

	(void)unused;
	for (uint64_t i = 0; i < 15; i++)
		assert_status(SKETCH_OK, put_in(cuckoo, hash_of(i)), NULL);
	file = bytes_of(cuckoo);
	sketch_cuckoo_free(cuckoo);
	for (size_t bit = 0; bit < 8 * file.length; bit++) {
		file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		cuckoo = NULL;
		if (read_bytes(&cuckoo, &file, SKETCH_VERIFIED, NULL) == SKETCH_OK)
			fail_msg("bit %zu of byte %zu may be flipped", bit % 8, bit / 8);
		file.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	bytes_free(&file);
}

static void write__then_read__goes_on_as_if_nothing_had_been(void **unused)
{
	(void)unused;
	for (uint32_t f = 6; f <= 56; f += 5) {
		struct sketch_cuckoo *kept = make(f, 263), *read = NULL;
		struct bytes a, b;

		for (uint64_t i = 0; i < 900; i++)
			assert_status(SKETCH_OK, put_in(kept, hash_of(i)), NULL);
		a = bytes_of(kept);
		assert_status(SKETCH_OK, read_bytes(&read, &a, SKETCH_WRITABLE, NULL), NULL);
		assert_int_equal(read->entries, 900);
		assert_int_equal(read->params.f, kept->params.f);
		assert_int_equal(read->params.buckets, kept->params.buckets);
		assert_int_equal(read->params.n, kept->params.n);
		assert_true(read->params.p == kept->params.p);
		bytes_free(&a);
		for (uint64_t i = 900; i < 980; i++)
			assert_int_equal(put_in(read, hash_of(i)), put_in(kept, hash_of(i)));
		a = bytes_of(kept);
		b = bytes_of(read);
		assert_true(bytes_equal(&a, &b));
		bytes_free(&a);
		bytes_free(&b);
		sketch_cuckoo_free(kept);
		sketch_cuckoo_free(read);
	}
}

static void read__another_kind__is_refused_by_name(void **unused)
{
	const struct sketch_params params = params_classic(64, 2);
	struct sketch_bloom *filter = filter_make(&params);
	struct bytes file = filter_bytes(filter);
	struct sketch_cuckoo *cuckoo = NULL;
	struct sketch_error error;

	(void)unused;
	assert_status(SKETCH_UNSUPPORTED, read_bytes(&cuckoo, &file, SKETCH_READ, &error), &error);
	assert_non_null(strstr(error.text, "Bloom filter, not a cuckoo filter"));
	assert_null(cuckoo);
	bytes_free(&file);
	sketch_bloom_free(filter);
	sketch_cuckoo_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add_test__every_fingerprint__lies_in_one_of_its_buckets),
		cmocka_unit_test(state__rate__is_the_part_of_all_pairs_that_are_found),
		cmocka_unit_test(multiset__millions_come_and_go__none_is_missed),
		cmocka_unit_test(add__ninth_copy__is_refused_and_changes_nothing),
		cmocka_unit_test(add__full_table__is_refused_with_its_load_and_changes_nothing),
		cmocka_unit_test(add__copies__fill_the_table_no_earlier_than_they_must),
		cmocka_unit_test(take_out__key_that_is_not_there__changes_nothing),
		cmocka_unit_test(add__one_call_or_many__the_same_table),
		cmocka_unit_test(plan__n_and_p__keeps_p_with_the_fewest_bits),
		cmocka_unit_test(plan__n_and_m__uses_m_for_the_longest_fingerprint),
		cmocka_unit_test(plan_and_new__wrong_arguments__are_refused),
		cmocka_unit_test(plan__n_keys__find_room),
		cmocka_unit_test(rate__tables_of_n_keys__is_that_of_the_state_and_below_p),
		cmocka_unit_test(union__of_two__holds_the_copies_of_both),
		cmocka_unit_test(union__too_many__is_refused_and_changes_nothing),
		cmocka_unit_test(union__other_parameters__is_refused_and_names_the_field),
		cmocka_unit_test(read__damaged_chunk__matters_where_it_is_touched),
		cmocka_unit_test(read__any_bit_flipped__is_refused),
		cmocka_unit_test(write__then_read__goes_on_as_if_nothing_had_been),
		cmocka_unit_test(read__another_kind__is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
