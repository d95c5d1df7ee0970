/* The bounded set of keys: found by hash, the least by count */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "tracked.h"

#define KEYS_MOST 6000

/* The same, kept as simply as can be. */
struct model {
	size_t used;
	uint64_t number[KEYS_MOST], count[KEYS_MOST], error[KEYS_MOST];
};

/* How the hash of a number is made: well, or so that many share a slot, also the last
 * ones, whose chains wrap around. */
enum spread { SPREAD_WELL, SPREAD_CLUSTERS, SPREAD_END, SPREAD_ONE };

static struct sketch_key key_of(const uint64_t *number, enum spread spread)
{
	struct sketch_key key = { (const uint8_t *)number, sizeof *number,
				  sketch_murmur3_x64_128(number, sizeof *number, 0), 0 };

	if (spread == SPREAD_CLUSTERS)
		key.hash.h1 = *number % 7 * 5;
	else if (spread == SPREAD_END)
		key.hash.h1 = UINT64_MAX - *number % 3;
	else if (spread == SPREAD_ONE)
		key.hash = (struct sketch_hash){ 9, 9 };
	return key;
}

static size_t model_find(const struct model *model, uint64_t number)
{
	size_t i = 0;

	while (i < model->used && model->number[i] != number)
		i++;
	return i;
}

static uint64_t model_least(const struct model *model)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < model->used; i++)
		least = model->count[i] < least ? model->count[i] : least;
	return least;
}

/* Both hold the same keys with the same counts, and none else. */
static void compare(const struct tracked *tracked, const struct model *model, uint64_t numbers,
		    enum spread spread)
{
	size_t found = 0;

	assert_int_equal(tracked->used, model->used);
	for (uint64_t number = 0; number < numbers; number++) {
		struct sketch_key key = key_of(&number, spread);
		uint32_t place = tracked_find(tracked, &key);
		size_t at = model_find(model, number);

		assert_int_equal(place == TRACKED_NONE, at == model->used);
		if (place == TRACKED_NONE)
			continue;
		found++;
		assert_true(tracked_is(tracked, place, &key));
		assert_int_equal(tracked->keys[place].count, model->count[at]);
		assert_int_equal(tracked->keys[place].error, model->error[at]);
	}
	assert_int_equal(found, model->used);
}

/* One step of use: a known key counts on, an unknown one comes in or takes the place of
 * the least. */
static void step(struct tracked *tracked, struct model *model, struct dice *dice, uint64_t numbers,
		 enum spread spread)
{
	uint64_t number = dice_below(dice, numbers), weight = dice_below(dice, 20);
	struct sketch_key key = key_of(&number, spread);
	uint32_t place = tracked_find(tracked, &key);
	size_t at = model_find(model, number);

	assert_int_equal(place == TRACKED_NONE, at == model->used);
	if (place != TRACKED_NONE) {
		tracked->keys[place].count += weight;
		model->count[at] += weight;
		return;
	}
	if (tracked->used < tracked->capacity) {
		assert_true(tracked_insert(tracked, &key, weight, weight / 2));
		at = model->used++;
	} else {
		uint64_t least = model_least(model), leaving;

		place = tracked_least(tracked);
		assert_int_equal(tracked->keys[place].count, least);
		memcpy(&leaving, tracked->keys[place].stored, sizeof leaving);
		at = model_find(model, leaving);
		assert_true(at < model->used && model->count[at] == least);
		weight += least;
		assert_true(tracked_replace(tracked, place, &key, weight, weight / 2));
	}
	model->number[at] = number;
	model->count[at] = weight;
	model->error[at] = weight / 2;
}

static void use__of_any_keys__agrees_with_a_list(void **unused)
{
	static const size_t capacities[] = { 1, 2, 3, 7, 8, 50, 200 };
	static struct model model;
	struct dice dice = { 11 };

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(capacities); i++) {
		for (int spread = SPREAD_WELL; spread <= SPREAD_ONE; spread++) {
			uint64_t numbers = 3 * capacities[i] + 1;
			struct tracked tracked;

			model.used = 0;
			assert_true(tracked_make(&tracked, capacities[i]));
			for (size_t n = 0; n < 40 * capacities[i] + 200; n++) {
				step(&tracked, &model, &dice, numbers, (enum spread)spread);
				if (n % 50 == 0)
					compare(&tracked, &model, numbers, (enum spread)spread);
			}
			compare(&tracked, &model, numbers, (enum spread)spread);
			tracked_free(&tracked);
		}
	}
}

static void insert__beyond_the_first_room__grows_up_to_capacity(void **unused)
{
	static struct model model;
	struct dice dice = { 12 };
	struct tracked tracked;

	(void)unused;
	model.used = 0;
	assert_true(tracked_make(&tracked, 5000));
	assert_true(tracked.room < 5000);
	for (uint64_t number = 0; number < 5000; number++) {
		struct sketch_key key = key_of(&number, SPREAD_WELL);

		assert_int_equal(tracked_find(&tracked, &key), TRACKED_NONE);
		assert_true(tracked_insert(&tracked, &key, number * 7919 % 5000 + 1, 0));
		model.number[model.used] = number;
		model.error[model.used] = 0;
		model.count[model.used++] = number * 7919 % 5000 + 1;
	}
	assert_int_equal(tracked.room, 5000);
	compare(&tracked, &model, 5100, SPREAD_WELL);
	for (int i = 0; i < 300; i++)
		step(&tracked, &model, &dice, 6000, SPREAD_WELL);
	compare(&tracked, &model, 6000, SPREAD_WELL);
	tracked_free(&tracked);
}

static void least__after_counts_grew__is_the_least_now(void **unused)
{
	struct dice dice = { 13 };
	struct tracked tracked;

	(void)unused;
	assert_true(tracked_make(&tracked, 300));
	for (uint64_t number = 0; number < 300; number++) {
		struct sketch_key key = key_of(&number, SPREAD_WELL);

		assert_true(tracked_insert(&tracked, &key, dice_below(&dice, 10), 0));
	}
	for (int i = 0; i < 5000; i++) {
		uint64_t least = UINT64_MAX;
		uint32_t place;

		tracked.keys[dice_below(&dice, 300)].count += dice_below(&dice, 100);
		for (size_t k = 0; k < 300; k++)
			least = tracked.keys[k].count < least ? tracked.keys[k].count : least;
		place = tracked_least(&tracked);
		assert_int_equal(tracked.keys[place].count, least);
		/* What stands in front of the heap is never above it. */
		assert_true(tracked.heap[0].count == least);
		if (i % 3 == 0)
			tracked.keys[place].count += dice_below(&dice, 50);
	}
	tracked_free(&tracked);
}

static void make__of_none__holds_none(void **unused)
{
	uint64_t number = 1;
	struct sketch_key key = key_of(&number, SPREAD_WELL);
	struct tracked tracked;

	(void)unused;
	assert_true(tracked_make(&tracked, 0));
	assert_int_equal(tracked_find(&tracked, &key), TRACKED_NONE);
	tracked_free(&tracked);
}

static void make__of_the_most__takes_memory_only_with_use(void **unused)
{
	uint64_t number = 1;
	struct sketch_key key = key_of(&number, SPREAD_WELL);
	struct tracked tracked;

	(void)unused;
	assert_true(tracked_make(&tracked, TRACKED_MOST));
	assert_true(tracked.room <= 1024);
	assert_true(tracked_insert(&tracked, &key, 3, 1));
	assert_int_equal(tracked_find(&tracked, &key), 0);
	tracked_free(&tracked);
}

static void replace__by_keys_of_any_length__stores_what_is_kept(void **unused)
{
	static const size_t lengths[] = { 0, 1, 31, 32, 33, 100, 4095, 4096, 4097, 9000, 3, 0 };
	static uint8_t data[9000];
	struct tracked tracked;

	(void)unused;
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)(i * 31 + 7);
	assert_true(tracked_make(&tracked, 1));
	for (size_t i = 0; i < COUNT_OF(lengths); i++) {
		struct sketch_key key = { data, lengths[i],
					  sketch_murmur3_x64_128(data, lengths[i], 0), 0 };
		uint32_t stored =
			lengths[i] < SKETCH_MAX_KEY ? (uint32_t)lengths[i] : SKETCH_MAX_KEY;

		if (i == 0)
			assert_true(tracked_insert(&tracked, &key, 1, 0));
		else
			assert_true(tracked_replace(&tracked, tracked_least(&tracked), &key, i, 0));
		assert_int_equal(tracked_find(&tracked, &key), 0);
		assert_int_equal(tracked.keys[0].stored_length, stored);
		assert_int_equal(tracked.keys[0].length, lengths[i]);
		assert_memory_equal(tracked.keys[0].stored, data, stored);
	}
	tracked_free(&tracked);
}

static void compare__of_keys__goes_by_bytes_then_length(void **unused)
{
	uint8_t a[] = { 'a' }, ab[] = { 'a', 'b' }, high[] = { 0xff }, none[] = { 0 };
	const struct tracked_key keys[] = {
		{ .stored = none, .stored_length = 0, .length = 0 },
		{ .stored = none, .stored_length = 1, .length = 1 },
		{ .stored = a, .stored_length = 1, .length = 1 },
		{ .stored = ab, .stored_length = 2, .length = 2 },
		{ .stored = ab, .stored_length = 2, .length = 9 },
		{ .stored = high, .stored_length = 1, .length = 1 },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		for (size_t j = 0; j < COUNT_OF(keys); j++) {
			int order = tracked_compare(&keys[i], &keys[j]);

			assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(use__of_any_keys__agrees_with_a_list),
		cmocka_unit_test(insert__beyond_the_first_room__grows_up_to_capacity),
		cmocka_unit_test(least__after_counts_grew__is_the_least_now),
		cmocka_unit_test(make__of_none__holds_none),
		cmocka_unit_test(make__of_the_most__takes_memory_only_with_use),
		cmocka_unit_test(replace__by_keys_of_any_length__stores_what_is_kept),
		cmocka_unit_test(compare__of_keys__goes_by_bytes_then_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
