/* Keys that come and go, in millions, beside an exact model: is any missed, ever?
 *
 * Of a universe of keys the model knows how many copies of each are in the filter.  Each
 * step draws a key and puts it in or, if the model has one, takes a copy out, so that the
 * filter stays near the number of keys that it is made for.  Of what the filter says
 *
 *   found     every key of the model has to be: those that just moved after each batch, all
 *             of them now and then
 *   removed   a copy that the model has can always be taken out
 *   refused   a key that the filter does not find cannot be taken out, and nothing changes
 *   state     at the end it is that of a filter made anew of what is left, in any order: to
 *             the byte where it is counting (and no counter got full), else in what its
 *             fingerprints are; and when all has gone, nothing is left.
 *
 * The steps are those of fixed dice; LONG=1 takes fifty times as many. */
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define UNIVERSE 40000
#define CAPACITY 20000
#define BATCH 64

/* ------------------------------------------------------------ either kind of filter */

struct filter {
	struct sketch_bloom *counting; /* one of the two */
	struct sketch_cuckoo *cuckoo;
};

struct shape {
	unsigned int counter_bits; /* 0: a cuckoo filter */
	enum sketch_layout layout;
	double p;
	unsigned int copies; /* of a key, at the most */
	uint64_t most;       /* copies of all keys, at the most */
};

static struct filter make(const struct shape *shape)
{
	struct sketch_identity identity = IDENTITY;
	struct filter filter = { NULL, NULL };

	if (shape->counter_bits == 0) {
		struct sketch_cuckoo_params params;

		assert_int_equal(sketch_cuckoo_plan(CAPACITY, shape->p, 0, &params, NULL),
				 SKETCH_OK);
		assert_int_equal(sketch_cuckoo_new(&filter.cuckoo, &identity, &params, UINT64_MAX,
						   NULL),
				 SKETCH_OK);
	} else {
		struct sketch_request request = { .layout = shape->layout,
						  .n = CAPACITY,
						  .p = shape->p };
		struct sketch_params params;

		assert_int_equal(sketch_plan(&request, &params, NULL), SKETCH_OK);
		assert_int_equal(sketch_counting_new(&filter.counting, &identity, &params,
						     shape->counter_bits, UINT64_MAX, NULL),
				 SKETCH_OK);
	}
	return filter;
}

static void end(struct filter filter)
{
	sketch_bloom_free(filter.counting);
	sketch_cuckoo_free(filter.cuckoo);
}

/* How many of the keys went in. */
static size_t put_in(struct filter filter, const struct sketch_hash *hashes, size_t count)
{
	struct sketch_error error;
	size_t done = count;

	if (filter.counting != NULL)
		sketch_bloom_add(filter.counting, hashes, count);
	else if (sketch_cuckoo_add(filter.cuckoo, hashes, count, &done, &error) != SKETCH_OK)
		assert_error(SKETCH_FULL, &error);
	return done;
}

static uint64_t take_out(struct filter filter, const struct sketch_hash *hashes, size_t count)
{
	uint64_t removed = 0;

	assert_true(count <= 64);
	if (count > 0 && filter.counting != NULL)
		sketch_counting_remove(filter.counting, hashes, count, &removed);
	else if (count > 0)
		sketch_cuckoo_remove(filter.cuckoo, hashes, count, &removed);
	return removed;
}

static uint64_t ask(struct filter filter, const struct sketch_hash *hashes, size_t count)
{
	uint64_t found = 0;

	assert_true(count <= 64);
	if (filter.counting != NULL)
		assert_int_equal(sketch_bloom_test(filter.counting, hashes, count, &found, NULL),
				 SKETCH_OK);
	else
		assert_int_equal(sketch_cuckoo_test(filter.cuckoo, hashes, count, &found, NULL),
				 SKETCH_OK);
	return found;
}

static uint64_t first_bits(size_t count)
{
	return count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* ------------------------------------------------------------------------- the model */

struct model {
	const struct shape *shape;
	struct sketch_hash hashes[UNIVERSE];
	uint8_t copies[UNIVERSE];
	uint64_t total;            /* of all copies */
	uint64_t in, out, no_room; /* steps so far */
	uint64_t refused;
};

static void begin(struct model *model, const struct shape *shape)
{
	memset(model, 0, sizeof *model);
	model->shape = shape;
	for (uint64_t i = 0; i < UNIVERSE; i++) {
		uint8_t key[8];

		put64(key, i);
		model->hashes[i] = sketch_murmur3_x64_128(key, sizeof key, 0);
	}
}

/* Puts keys in, as many as there may be. */
static void come(struct model *model, struct filter filter, struct dice *dice)
{
	struct sketch_hash hashes[BATCH];
	size_t keys[BATCH], count = 0, done;

	for (size_t i = dice_below(dice, BATCH) + 1; i > 0; i--) {
		size_t key = dice_below(dice, UNIVERSE);

		if (model->copies[key] >= model->shape->copies ||
		    model->total >= model->shape->most)
			continue;
		model->copies[key]++;
		model->total++;
		keys[count] = key;
		hashes[count++] = model->hashes[key];
	}
	done = put_in(filter, hashes, count);
	model->in += done;
	model->no_room += done < count;
	for (size_t i = done; i < count; i++) {
		model->copies[keys[i]]--;
		model->total--;
	}
	assert_true(ask(filter, hashes, done) == first_bits(done));
}

/* Takes keys out that are there. */
static void go(struct model *model, struct filter filter, struct dice *dice)
{
	struct sketch_hash hashes[BATCH], left[BATCH];
	size_t keys[BATCH], count = 0, still = 0;

	for (size_t i = dice_below(dice, BATCH) + 1; i > 0; i--) {
		size_t key = dice_below(dice, UNIVERSE);

		if (model->copies[key] == 0)
			continue;
		model->copies[key]--;
		model->total--;
		keys[count] = key;
		hashes[count++] = model->hashes[key];
	}
	assert_true(take_out(filter, hashes, count) == first_bits(count));
	model->out += count;
	for (size_t i = 0; i < count; i++)
		if (model->copies[keys[i]] > 0)
			left[still++] = hashes[i];
	assert_true(ask(filter, left, still) == first_bits(still));
}

/* Tries to take out what the filter knows is not there. */
static void refuse(struct model *model, struct filter filter, struct dice *dice)
{
	struct sketch_hash hashes[BATCH], absent[BATCH];
	uint64_t found;
	size_t count = 0;

	for (size_t i = 0; i < BATCH; i++)
		hashes[i] = dice_hash(dice);
	found = ask(filter, hashes, BATCH);
	for (size_t i = 0; i < BATCH; i++)
		if (!(found >> i & 1))
			absent[count++] = hashes[i];
	assert_true(take_out(filter, absent, count) == 0);
	model->refused += count;
}

static void all_are_there(const struct model *model, struct filter filter)
{
	struct sketch_hash hashes[BATCH];
	size_t count = 0;

	for (size_t i = 0; i < UNIVERSE; i++) {
		if (model->copies[i] > 0)
			hashes[count++] = model->hashes[i];
		if (count == BATCH || i + 1 == UNIVERSE) {
			assert_true(ask(filter, hashes, count) == first_bits(count));
			count = 0;
		}
	}
}

/* A filter of what is left, put in backwards. */
static struct filter anew(const struct model *model, const struct shape *shape)
{
	struct filter filter = make(shape);

	for (size_t i = UNIVERSE; i-- > 0;)
		for (unsigned int copy = 0; copy < model->copies[i]; copy++)
			assert_int_equal(put_in(filter, &model->hashes[i], 1), 1);
	return filter;
}

static void is_as_anew(const struct model *model, struct filter filter, const struct shape *shape)
{
	struct filter other = anew(model, shape);

	if (filter.counting != NULL) {
		struct bytes ours = filter_bytes(filter.counting);
		struct bytes theirs = filter_bytes(other.counting);
		struct sketch_counting_state state;

		assert_int_equal(sketch_counting_state(filter.counting, &state, NULL), SKETCH_OK);
		assert_true(state.full > 0 || bytes_equal(&ours, &theirs));
		assert_true(state.full > 0 ||
			    state.sum == model->total * sketch_bloom_params(filter.counting, 0)->k);
		bytes_free(&ours);
		bytes_free(&theirs);
	} else {
		struct sketch_cuckoo_state ours, theirs;

		assert_int_equal(sketch_cuckoo_state(filter.cuckoo, &ours, NULL), SKETCH_OK);
		assert_int_equal(sketch_cuckoo_state(other.cuckoo, &theirs, NULL), SKETCH_OK);
		assert_true(ours.entries == model->total);
		assert_true(ours.entries == theirs.entries && ours.kinds == theirs.kinds &&
			    ours.rate == theirs.rate);
	}
	end(other);
}

static void take_out_all(struct model *model, struct filter filter)
{
	for (size_t i = 0; i < UNIVERSE; i++)
		for (; model->copies[i] > 0; model->copies[i]--)
			assert_true(take_out(filter, &model->hashes[i], 1) == 1);
	if (filter.counting != NULL) {
		struct sketch_counting_state state;

		assert_int_equal(sketch_counting_state(filter.counting, &state, NULL), SKETCH_OK);
		assert_true(state.largest == 0 || state.full > 0);
	} else {
		struct sketch_cuckoo_state state;

		assert_int_equal(sketch_cuckoo_state(filter.cuckoo, &state, NULL), SKETCH_OK);
		assert_true(state.entries == 0 && state.rate == 0);
	}
}

static void churn(const struct shape *shape)
{
	const uint64_t steps = run_slow() ? 50000 : run_long() ? 20000000 : 400000;
	static struct model model;
	struct filter filter = make(shape);
	struct dice dice = { 11 };

	begin(&model, shape);
	for (unsigned long round = 0; model.in + model.out < steps; round++) {
		/* Filling up, then to and fro, with waves down to half. */
		bool more = model.total < shape->most / 2 || round % 4096 < 2048;

		if (dice_below(&dice, 8) < (more ? 5u : 3u))
			come(&model, filter, &dice);
		else
			go(&model, filter, &dice);
		if (round % 16 == 0)
			refuse(&model, filter, &dice);
		if (round % 4096 == 0)
			all_are_there(&model, filter);
	}
	print_message(
		"# %s, p = %g, %u copies: %llu in, %llu out, %llu refused, %llu without room\n",
		shape->counter_bits == 0 ? "cuckoo" : "counting", shape->p, shape->copies,
		(unsigned long long)model.in, (unsigned long long)model.out,
		(unsigned long long)model.refused, (unsigned long long)model.no_room);
	/* It is made for as many keys, so hardly ever full; copies share their buckets. */
	assert_true(model.no_room * 10000 <= model.in);
	assert_true(model.refused > 0);
	all_are_there(&model, filter);
	is_as_anew(&model, filter, shape);
	take_out_all(&model, filter);
	end(filter);
}

static void churn__counting__never_misses_a_key(void **unused)
{
	static const struct shape shapes[] = { { 4, SKETCH_BLOCKED, 0.01, 3, CAPACITY },
					       { 4, SKETCH_CLASSIC, 0.5, 3, CAPACITY },
					       { 8, SKETCH_BLOCKED, 1e-4, 3, CAPACITY },
					       { 16, SKETCH_CLASSIC, 0.01, 3, CAPACITY } };

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(shapes); i++)
		churn(&shapes[i]);
}

static void churn__cuckoo__never_misses_a_key(void **unused)
{
	/* Fingerprints of few bits, which are often alike, to many: four, two and one are
	 * compared at once. */
	static const double rates[] = { 0.2, 0.02, 1e-3, 1e-5, 1e-8, 1e-15 };

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(rates); i++) {
		churn(&(struct shape){ 0, SKETCH_BLOCKED, rates[i], 1, CAPACITY });
		/* Copies share their two buckets, so that they fill a table earlier. */
		churn(&(struct shape){ 0, SKETCH_BLOCKED, rates[i], 3, CAPACITY * 3 / 4 });
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(churn__counting__never_misses_a_key),
		cmocka_unit_test(churn__cuckoo__never_misses_a_key),
	};

	return cmocka_run_group_tests_name("churn", tests, NULL, NULL);
}
