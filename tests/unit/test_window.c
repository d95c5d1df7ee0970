/* Windows: filters that forget */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format.h"
#include "support.h"

static const enum sketch_layout layouts[] = { SKETCH_CLASSIC, SKETCH_BLOCKED };

static struct sketch_bloom *window_make(enum sketch_layout layout, uint64_t n, double p,
					const struct sketch_window *window)
{
	struct sketch_request request = { .layout = layout, .n = n, .p = p };
	struct sketch_identity identity = IDENTITY;
	struct sketch_bloom *filter = NULL;
	struct sketch_params params;
	struct sketch_error error;

	identity.arrangement = SKETCH_WINDOW;
	assert_status(SKETCH_OK, sketch_plan(&request, &params, &error), &error);
	assert_status(SKETCH_OK,
		      sketch_window_new(&filter, &identity, &params, window, UINT64_MAX, &error),
		      &error);
	return filter;
}

static struct sketch_window of_records(uint64_t span)
{
	return (struct sketch_window){ .unit = SKETCH_WINDOW_RECORDS, .span = span };
}

static struct sketch_window of_time(uint64_t span, uint64_t stamp)
{
	return (struct sketch_window){ .unit = SKETCH_WINDOW_NANOSECONDS,
				       .span = span,
				       .landmark = 123456789,
				       .stamp = stamp };
}

static struct sketch_window get(const struct sketch_bloom *filter)
{
	struct sketch_window window;

	assert_true(sketch_window_get(filter, &window));
	return window;
}

static struct sketch_hash hash_number(uint64_t number)
{
	return sketch_murmur3_x64_128(&number, sizeof number, 0);
}

static bool see(struct sketch_bloom *filter, uint64_t number, bool refresh)
{
	struct sketch_hash hash = hash_number(number);
	uint64_t found = 2;

	sketch_window_insert(filter, &hash, 1, refresh, &found);
	assert_true(found < 2);
	return found;
}

/* -------------------------------------------------------------------- making */

static void new__of_records__starts_at_stamp_1_without_a_landmark(void **state)
{
	struct sketch_window asked = of_records(60), window;
	struct sketch_bloom *filter;

	(void)state;
	asked.landmark = 77;
	filter = window_make(SKETCH_BLOCKED, 60, 0.01, &asked);
	window = get(filter);
	assert_true(window.unit == SKETCH_WINDOW_RECORDS && window.span == 60);
	assert_true(window.landmark == 0 && window.stamp == 1 && window.records == 0);
	assert_int_equal(sketch_bloom_layers(filter), 2);
	sketch_bloom_free(filter);
}

static void new__of_time__keeps_landmark_and_stamp(void **state)
{
	struct sketch_window asked = of_time(3600, 55), window;
	struct sketch_bloom *filter = window_make(SKETCH_CLASSIC, 60, 0.01, &asked);

	(void)state;
	window = get(filter);
	assert_true(window.unit == SKETCH_WINDOW_NANOSECONDS && window.span == 3600);
	assert_true(window.landmark == 123456789 && window.stamp == 55);
	sketch_bloom_free(filter);
}

static void new__out_of_range__is_refused(void **state)
{
	struct sketch_identity identity = IDENTITY;
	struct sketch_params params = params_classic(640, 5);
	struct sketch_window window = of_records(0);
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;

	(void)state;
	identity.arrangement = SKETCH_WINDOW;
	assert_status(SKETCH_RANGE,
		      sketch_window_new(&filter, &identity, &params, &window, 1000, &error), NULL);
	assert_error(SKETCH_RANGE, &error);
	window.span = 1;
	window.unit = (enum sketch_window_unit)3;
	assert_status(SKETCH_RANGE,
		      sketch_window_new(&filter, &identity, &params, &window, 1000, &error), NULL);
	assert_error(SKETCH_RANGE, &error);
	window.unit = SKETCH_WINDOW_RECORDS;
	identity.arrangement = SKETCH_LADDER;
	assert_status(SKETCH_RANGE,
		      sketch_window_new(&filter, &identity, &params, &window, 1000, &error), NULL);
	assert_error(SKETCH_RANGE, &error);
	identity.arrangement = SKETCH_WINDOW;
	/* One generation fits the budget, two do not. */
	assert_status(SKETCH_NO_MEMORY,
		      sketch_window_new(&filter, &identity, &params, &window, 159, &error), NULL);
	assert_error(SKETCH_NO_MEMORY, &error);
	assert_null(filter);
	assert_status(SKETCH_OK,
		      sketch_window_new(&filter, &identity, &params, &window, 160, &error), &error);
	sketch_bloom_free(filter);
}

static void get__of_a_filter_without__is_false_and_leaves_it(void **state)
{
	struct sketch_params params = params_classic(640, 5);
	struct sketch_bloom *filter = filter_make(&params);
	struct sketch_window window = of_records(5);

	(void)state;
	assert_false(sketch_window_get(filter, &window));
	assert_int_equal(window.span, 5);
	sketch_bloom_free(filter);
}

/* ------------------------------------------------------- against an exact one */

#define DOMAIN 300

/* For each key the generation that it was last put in; 0 where it never was. */
struct model {
	uint64_t stamp, records, put_in[DOMAIN];
};

static bool model_see(struct model *model, uint64_t key, bool refresh)
{
	bool known = model->put_in[key] != 0 && model->put_in[key] + 2 > model->stamp;

	if (refresh || !known)
		model->put_in[key] = model->stamp;
	model->records++;
	return known;
}

static void check_against_model(enum sketch_layout layout, bool refresh, uint64_t seed)
{
	struct dice dice = { seed };
	struct model model = { .stamp = 1 };
	struct sketch_window window = of_time(1000, 1);
	struct sketch_bloom *filter = window_make(layout, 500, 1e-15, &window);

	for (int round = 0; round < 400; round++) {
		struct sketch_hash hashes[200];
		uint64_t found[4], keys[200];
		size_t count = (size_t)dice_below(&dice, 201);

		for (size_t i = 0; i < count; i++) {
			keys[i] = dice_below(&dice, DOMAIN);
			hashes[i] = hash_number(keys[i]);
		}
		sketch_window_insert(filter, hashes, count, refresh, found);
		for (size_t i = 0; i < count; i++)
			assert_int_equal(found[i / 64] >> i % 64 & 1,
					 model_see(&model, keys[i], refresh));
		for (uint64_t key = 0; key < DOMAIN; key++)
			assert_int_equal(filter_has(filter, hash_number(key)),
					 model.put_in[key] != 0 &&
						 model.put_in[key] + 2 > model.stamp);
		assert_int_equal(get(filter).records, model.records);
		if (dice_below(&dice, 2)) {
			static const uint64_t steps[] = { 0, 1, 1, 1, 2, 3, 1000000 };
			uint64_t step = steps[dice_below(&dice, COUNT_OF(steps))];

			if (step > 0)
				model.records = 0;
			model.stamp += step;
			sketch_window_advance(filter, model.stamp);
			sketch_window_advance(filter, model.stamp - (model.stamp > 1));
			assert_int_equal(get(filter).stamp, model.stamp);
		}
	}
	sketch_bloom_free(filter);
}

static void insert__any_keys_and_advances__knows_what_an_exact_one_knows(void **state)
{
	(void)state;
	for (size_t l = 0; l < COUNT_OF(layouts); l++)
		for (uint64_t seed = 0; seed < 3; seed++) {
			check_against_model(layouts[l], true, seed);
			check_against_model(layouts[l], false, seed);
		}
}

/* Sighted at every phase of a generation: known for span records at least, for two
 * spans at most. */
static void insert__one_key__is_known_for_one_span_at_least_and_two_at_most(void **state)
{
	uint64_t span = 12;

	(void)state;
	for (uint64_t phase = 0; phase < 2 * span; phase++) {
		for (uint64_t gap = 1; gap <= 3 * span; gap++) {
			struct sketch_window window = of_records(span);
			struct sketch_bloom *filter =
				window_make(SKETCH_BLOCKED, span, 1e-15, &window);
			bool known = false;

			for (uint64_t i = 0; i <= phase + gap; i++) {
				bool mine = i == phase || i == phase + gap;

				if (get(filter).records == span)
					sketch_window_advance(filter, get(filter).stamp + 1);
				known = see(filter, mine ? 1000000 : i, true);
			}
			if (gap <= span)
				assert_true(known);
			if (gap >= 2 * span)
				assert_false(known);
			sketch_bloom_free(filter);
		}
	}
}

static void insert__seen_all_the_time__is_forgotten_only_since_first(void **state)
{
	struct sketch_window window = of_time(10, 1);
	struct sketch_bloom *last = window_make(SKETCH_BLOCKED, 10, 1e-9, &window);
	struct sketch_bloom *first = window_make(SKETCH_BLOCKED, 10, 1e-9, &window);

	(void)state;
	assert_false(see(last, 1, true));
	assert_false(see(first, 1, false));
	for (uint64_t stamp = 2; stamp < 40; stamp++) {
		sketch_window_advance(last, stamp);
		sketch_window_advance(first, stamp);
		assert_true(see(last, 1, true));
		/* In generation 1 it is new, in 2 known, in 3 new, ... */
		assert_int_equal(see(first, 1, false), stamp % 2 == 0);
		assert_true(see(first, 1, false));
	}
	sketch_bloom_free(last);
	sketch_bloom_free(first);
}

static void insert__equal_keys_in_one_call__second_is_found(void **state)
{
	(void)state;
	for (int refresh = 0; refresh < 2; refresh++) {
		struct sketch_window window = of_records(1000);
		struct sketch_bloom *filter = window_make(SKETCH_CLASSIC, 1000, 1e-12, &window);
		struct sketch_hash hashes[150];
		uint64_t found[3];

		for (size_t i = 0; i < 150; i++)
			hashes[i] = hash_number(i % 75);
		sketch_window_insert(filter, hashes, 150, refresh, found);
		for (size_t i = 0; i < 150; i++)
			assert_int_equal(found[i / 64] >> i % 64 & 1, i >= 75);
		sketch_bloom_free(filter);
	}
}

/* ------------------------------------------------------------------ advancing */

static void advance__by_any_number__forgets_as_many_generations(void **state)
{
	static const uint64_t steps[] = { 0, 1, 2, 3, 1000, UINT64_C(900000000000000000) };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		struct sketch_window window = of_time(10, 10);
		struct sketch_bloom *filter = window_make(SKETCH_CLASSIC, 100, 1e-12, &window);
		struct bytes file;

		see(filter, 1, true);
		sketch_window_advance(filter, 11);
		see(filter, 2, true);
		sketch_window_advance(filter, 11 + steps[i]);
		assert_int_equal(filter_has(filter, hash_number(1)), steps[i] < 1);
		assert_int_equal(filter_has(filter, hash_number(2)), steps[i] < 2);
		assert_int_equal(get(filter).stamp, 11 + steps[i]);
		assert_int_equal(get(filter).records, steps[i] == 0);
		/* What it writes it reads: the stamps follow each other. */
		file = filter_bytes(filter);
		sketch_bloom_free(filter);
		filter = filter_from_bytes(&file, SKETCH_WRITABLE);
		assert_int_equal(get(filter).stamp, 11 + steps[i]);
		sketch_bloom_free(filter);
		bytes_free(&file);
	}
}

static void advance__to_the_past__changes_nothing(void **state)
{
	struct sketch_window window = of_time(10, 50);
	struct sketch_bloom *filter = window_make(SKETCH_BLOCKED, 100, 1e-9, &window);
	struct bytes before;

	(void)state;
	see(filter, 1, true);
	before = filter_bytes(filter);
	sketch_window_advance(filter, 50);
	sketch_window_advance(filter, 49);
	sketch_window_advance(filter, 0);
	assert_filter_bytes(filter, &before);
	bytes_free(&before);
	sketch_bloom_free(filter);
}

static void advance__a_thousand_times__takes_no_more_memory(void **state)
{
	struct sketch_window window = of_time(10, 1);
	struct sketch_bloom *filter = window_make(SKETCH_BLOCKED, 100, 1e-3, &window);
	uint64_t payload = sketch_bloom_payload(filter);
	struct sketch_bloom_state state_now;

	(void)state;
	for (uint64_t stamp = 1; stamp < 1000; stamp++) {
		sketch_window_advance(filter, stamp);
		for (uint64_t i = 0; i < 100; i++)
			see(filter, 100 * stamp + i, true);
		assert_int_equal(sketch_bloom_layers(filter), 2);
		assert_int_equal(sketch_bloom_payload(filter), payload);
		for (size_t i = 0; i < 2; i++) {
			sketch_bloom_state(filter, i, &state_now, NULL);
			assert_false(state_now.past_capacity);
		}
	}
	sketch_bloom_free(filter);
}

/* ----------------------------------------------------------------- the promise */

/* Both generations with all their n keys, p / 2 each: p together. */
static void rate__of_both_generations_together__is_at_most_p(void **state)
{
	static const double rates[] = { 0.01, 0.001 };
	uint64_t n = 20000, queries = run_slow() ? 100000 : 400000;

	(void)state;
	for (size_t l = 0; l < COUNT_OF(layouts); l++) {
		for (size_t r = 0; r < COUNT_OF(rates); r++) {
			struct sketch_window window = of_records(n);
			struct sketch_bloom *filter =
				window_make(layouts[l], n, rates[r] / 2, &window);
			double expected = rates[r] * (double)queries;
			uint64_t wrong = 0;

			for (uint64_t i = 0; i < 2 * n; i++) {
				if (i == n)
					sketch_window_advance(filter, 2);
				see(filter, i, true);
			}
			for (uint64_t i = 0; i < queries; i++)
				wrong += filter_has(filter, hash_number(2 * n + i));
			/* 4.9 standard deviations: once in two million. */
			assert_true((double)wrong <= expected + 4.9 * __builtin_sqrt(expected));
			assert_true((double)wrong > expected / 2);
			sketch_bloom_free(filter);
		}
	}
}

/* ----------------------------------------------------------------------- files */

static void save__in_the_middle__goes_on_as_if_never_stopped(void **state)
{
	(void)state;
	for (int unit = 1; unit <= 2; unit++) {
		struct sketch_window window = unit == 1 ? of_records(100) : of_time(100, 7);
		struct sketch_bloom *whole = window_make(SKETCH_BLOCKED, 100, 0.01, &window);
		struct sketch_bloom *parts = window_make(SKETCH_BLOCKED, 100, 0.01, &window);
		struct dice dice = { 3 };
		struct bytes expected;

		for (uint64_t i = 0; i < 1000; i++) {
			uint64_t key = dice_below(&dice, 150);

			if (get(whole).records == 100) {
				sketch_window_advance(whole, get(whole).stamp + 1);
				sketch_window_advance(parts, get(parts).stamp + 1);
			}
			assert_int_equal(see(whole, key, i % 3 != 0), see(parts, key, i % 3 != 0));
			if (i % 37 == 0 || i % 100 == 99) {
				struct bytes file = filter_bytes(parts);

				sketch_bloom_free(parts);
				parts = filter_from_bytes(&file, SKETCH_WRITABLE);
				bytes_free(&file);
			}
		}
		expected = filter_bytes(whole);
		assert_filter_bytes(parts, &expected);
		bytes_free(&expected);
		sketch_bloom_free(whole);
		sketch_bloom_free(parts);
	}
}

/* A file with the last stamp there can be is read, so it must be one that can be gone on
 * with, and read again. */
static void save__at_the_last_stamp__goes_on_and_is_read_again(void **state)
{
	(void)state;
	for (int unit = 1; unit <= 2; unit++) {
		struct sketch_window window = of_records(100);
		struct sketch_bloom *filter;

		window.stamp = FORMAT_MAX_STAMP;
		if (unit == 2)
			window = of_time(100, (uint64_t)INT64_MAX / 100);
		filter = window_make(SKETCH_BLOCKED, 100, 0.01, &window);
		assert_false(see(filter, 1, false));
		for (int turns = 1; turns <= 3; turns++) {
			struct bytes file;

			sketch_window_advance(filter, get(filter).stamp + 1);
			file = filter_bytes(filter);
			sketch_bloom_free(filter);
			filter = filter_from_bytes(&file, SKETCH_WRITABLE);
			bytes_free(&file);
			assert_int_equal(get(filter).stamp, window.stamp);
		}
		/* Records are forgotten; time stands still. */
		assert_int_equal(see(filter, 1, false), unit == 2);
		sketch_bloom_free(filter);
	}
}

static void save__of_any_window__says_so_in_the_file(void **state)
{
	struct sketch_window window = of_time(UINT64_C(86400000000000), 20000);
	struct sketch_bloom *filter;
	struct section section;
	struct bytes file;
	const uint8_t *at;

	(void)state;
	window.landmark = -5;
	filter = window_make(SKETCH_CLASSIC, 100, 0.01, &window);
	see(filter, 1, true);
	see(filter, 2, true);
	file = filter_bytes(filter);
	assert_int_equal(get32(file.data + 68), SKETCH_WINDOW);
	assert_int_equal(get32(file.data + 32), 7);
	section = section_find(&file, FORMAT_WINDOW, 0);
	assert_int_equal(section.length, FORMAT_WINDOW_BYTES);
	assert_int_equal(section.entry, FORMAT_HEADER_BYTES + 2 * FORMAT_ENTRY_BYTES);
	at = file.data + section.offset;
	assert_int_equal(get32(at), 2);
	assert_int_equal(get32(at + 4), 2);
	assert_true(get64(at + 8) == UINT64_C(86400000000000));
	assert_true(get64(at + 16) == UINT64_MAX - 4);
	assert_int_equal(get64(at + 24), 20000);
	at = file.data + section_find(&file, FORMAT_LAYER, 1).offset;
	assert_int_equal(get64(at + 40), 2);
	assert_int_equal(get64(at + 48), 20000);
	at = file.data + section_find(&file, FORMAT_LAYER, 0).offset;
	assert_int_equal(get64(at + 40), 0);
	assert_int_equal(get64(at + 48), 19999);
	bytes_free(&file);
	sketch_bloom_free(filter);
}

static struct bytes window_file(void)
{
	struct sketch_window window = of_records(50);
	struct sketch_bloom *filter = window_make(SKETCH_BLOCKED, 50, 0.01, &window);
	struct bytes file;

	for (uint64_t i = 0; i < 80; i++) {
		if (i == 50)
			sketch_window_advance(filter, 2);
		see(filter, i, true);
	}
	file = filter_bytes(filter);
	sketch_bloom_free(filter);
	return file;
}

static enum sketch_status read_status(const struct bytes *file, enum sketch_access access)
{
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;
	int fd = bytes_to_fd(file);
	enum sketch_status status =
		sketch_bloom_read(&filter, fd, access, UINT64_MAX, NULL, &error);

	close(fd);
	if (status != SKETCH_OK) {
		assert_null(filter);
		assert_error(status, &error);
	}
	sketch_bloom_free(filter);
	return status;
}

/* No generation begins by itself, whatever is put in. */
static void insert__more_than_a_span__is_in_one_generation_and_no_file(void **state)
{
	struct sketch_window window = of_records(50);
	struct sketch_bloom *filter = window_make(SKETCH_BLOCKED, 1000, 1e-6, &window);
	struct bytes file;

	(void)state;
	for (uint64_t i = 0; i < 50; i++)
		see(filter, i, true);
	file = filter_bytes(filter);
	assert_status(SKETCH_OK, read_status(&file, SKETCH_READ), NULL);
	bytes_free(&file);
	for (uint64_t i = 50; i < 200; i++)
		assert_false(see(filter, i, true));
	assert_true(get(filter).stamp == 1 && get(filter).records == 200);
	assert_true(see(filter, 0, true));
	file = filter_bytes(filter);
	assert_status(SKETCH_DAMAGED, read_status(&file, SKETCH_READ), NULL);
	bytes_free(&file);
	sketch_bloom_free(filter);
}

static void read__any_flipped_bit_of_the_window__is_noticed(void **state)
{
	struct bytes file = window_file();
	struct section section = section_find(&file, FORMAT_WINDOW, 0);

	(void)state;
	for (size_t i = 0; i < 8 * section.length; i++) {
		uint8_t *byte = file.data + section.offset + i / 8;

		*byte = (uint8_t)(*byte ^ 1 << i % 8);
		assert_status(SKETCH_DAMAGED, read_status(&file, SKETCH_READ), NULL);
		assert_status(SKETCH_DAMAGED, read_status(&file, SKETCH_WRITABLE), NULL);
		*byte = (uint8_t)(*byte ^ 1 << i % 8);
	}
	assert_status(SKETCH_OK, read_status(&file, SKETCH_READ), NULL);
	for (size_t length = 0; length < file.length; length++) {
		struct bytes part = { file.data, length };

		assert_true(read_status(&part, SKETCH_READ) != SKETCH_OK);
	}
	bytes_free(&file);
}

static void read__window_field_out_of_range__is_refused(void **state)
{
	static const struct {
		const char *what;
		size_t offset; /* in WINDOW, or, from 100 on, in LAYER 0; from 200 in LAYER 1 */
		uint64_t value;
		enum sketch_status status;
	} lies[] = {
		{ "unit", 0, UINT64_C(2) << 32, SKETCH_UNSUPPORTED },
		{ "unit", 0, UINT64_C(2) << 32 | 3, SKETCH_UNSUPPORTED },
		{ "generations", 0, UINT64_C(1) << 32 | 1, SKETCH_DAMAGED },
		{ "generations", 0, UINT64_C(3) << 32 | 1, SKETCH_DAMAGED },
		{ "span", 8, 0, SKETCH_DAMAGED },
		{ "span below records", 8, 29, SKETCH_DAMAGED },
		{ "landmark of records", 16, 1, SKETCH_DAMAGED },
		{ "stamp", 24, 1, SKETCH_DAMAGED },
		{ "stamp", 24, 3, SKETCH_DAMAGED },
		{ "not assigned", 32, 1, SKETCH_DAMAGED },
		{ "not assigned", 56, UINT64_C(1) << 63, SKETCH_DAMAGED },
		{ "first stamp", 148, 2, SKETCH_DAMAGED },
		{ "first stamp", 148, UINT64_MAX, SKETCH_DAMAGED },
		{ "last stamp", 248, 1, SKETCH_DAMAGED },
		{ "last stamp", 248, 3, SKETCH_DAMAGED },
		{ "records", 240, 51, SKETCH_DAMAGED },
		{ "records", 240, UINT64_MAX, SKETCH_DAMAGED },
		{ "records, right", 240, 50, SKETCH_OK },
		{ "span, right", 8, 30, SKETCH_OK },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lies); i++) {
		struct bytes file = window_file();
		size_t kind = lies[i].offset / 100;
		struct section section =
			kind == 0 ? section_find(&file, FORMAT_WINDOW, 0) :
				    section_find(&file, FORMAT_LAYER, (uint32_t)kind - 1);

		put64(file.data + section.offset + lies[i].offset % 100, lies[i].value);
		file_seal(&file);
		for (int access = SKETCH_READ; access <= SKETCH_WRITABLE; access++) {
			enum sketch_status status = read_status(&file, (enum sketch_access)access);

			if (status != lies[i].status)
				print_error("%s: %llu\n", lies[i].what,
					    (unsigned long long)lies[i].value);
			assert_status(lies[i].status, status, NULL);
		}
		bytes_free(&file);
	}
}

/* From the records of another writer to the very bytes of its file. */
static void insert__records_of_a_golden_file__give_the_file(void **state)
{
	static const struct {
		const char *name;
		struct sketch_params params;
		struct sketch_window window;
		uint32_t seed, transforms;
		bool refresh;
	} cases[] = {
		{ "window-records",
		  { SKETCH_CLASSIC, 6, 0, 64 * 11, 60, 0.01 },
		  { SKETCH_WINDOW_RECORDS, 60, 0, 1, 0 },
		  0,
		  0,
		  true },
		{ "window-first",
		  { SKETCH_BLOCKED, 8, 1, 1024, 60, 0.01 },
		  { SKETCH_WINDOW_RECORDS, 40, 0, 1, 0 },
		  77,
		  0,
		  false },
		{ "window-time",
		  { SKETCH_BLOCKED, 16, 2, 1024, 60, 0.001 },
		  { SKETCH_WINDOW_NANOSECONDS, UINT64_C(3600000000000),
		    INT64_C(1577836800000000000), 20000, 0 },
		  0,
		  SKETCH_FOLD_ASCII,
		  true },
		{ "window-before-1970",
		  { SKETCH_CLASSIC, 6, 0, 64 * 11, 60, 0.01 },
		  { SKETCH_WINDOW_NANOSECONDS, UINT64_C(3155760000000000000),
		    -INT64_C(3155760000000000000), 2, 0 },
		  0,
		  0,
		  true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct sketch_identity identity = { SKETCH_FAMILY_MURMUR3, cases[i].transforms,
						    cases[i].seed, SKETCH_WINDOW, 0 };
		struct sketch_bloom *filter = NULL;
		char name[128], path[512];
		struct bytes input, expected;
		uint64_t records = 0;

		snprintf(name, sizeof name, "tests/golden/%s.input", cases[i].name);
		top_path(path, name);
		input = bytes_from_file(path);
		snprintf(name, sizeof name, "tests/golden/%s.bloom", cases[i].name);
		top_path(path, name);
		expected = bytes_from_file(path);
		assert_true(input.data && expected.data);
		assert_status(SKETCH_OK,
			      sketch_window_new(&filter, &identity, &cases[i].params,
						&cases[i].window, UINT64_MAX, NULL),
			      NULL);
		for (uint8_t *at = input.data, *end; at < input.data + input.length; at = end + 1) {
			struct sketch_hash hash;
			uint64_t found;

			end = memchr(at, '\n', (size_t)(input.data + input.length - at));
			assert_non_null(end);
			if (cases[i].window.unit == SKETCH_WINDOW_NANOSECONDS) {
				char *key;

				sketch_window_advance(filter, strtoull((const char *)at, &key, 10));
				at = (uint8_t *)key + 1;
			} else if (get(filter).records == cases[i].window.span) {
				sketch_window_advance(filter, get(filter).stamp + 1);
			}
			hash = sketch_murmur3_x64_128(at, (size_t)(end - at), cases[i].seed);
			sketch_window_insert(filter, &hash, 1, cases[i].refresh, &found);
			records++;
		}
		sketch_bloom_set_records(filter, records);
		assert_filter_bytes(filter, &expected);
		bytes_free(&input);
		bytes_free(&expected);
		sketch_bloom_free(filter);
	}
}

static void join__of_windows__is_refused_by_name(void **state)
{
	struct sketch_window window = of_records(50);
	struct sketch_bloom *a = window_make(SKETCH_BLOCKED, 50, 0.01, &window);
	struct sketch_bloom *b = window_make(SKETCH_BLOCKED, 50, 0.01, &window);
	struct sketch_bloom *single = filter_make(sketch_bloom_params(a, 0));
	struct sketch_error error;

	(void)state;
	assert_status(SKETCH_MISMATCH, sketch_bloom_union(a, b, &error), NULL);
	assert_error(SKETCH_MISMATCH, &error);
	assert_true(has_word(error.text, "window"));
	assert_status(SKETCH_MISMATCH, sketch_bloom_union(single, b, &error), NULL);
	assert_true(has_word(error.text, "window"));
	assert_status(SKETCH_MISMATCH, sketch_bloom_union(a, single, &error), NULL);
	assert_true(has_word(error.text, "window"));
	sketch_bloom_free(a);
	sketch_bloom_free(b);
	sketch_bloom_free(single);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new__of_records__starts_at_stamp_1_without_a_landmark),
		cmocka_unit_test(new__of_time__keeps_landmark_and_stamp),
		cmocka_unit_test(new__out_of_range__is_refused),
		cmocka_unit_test(get__of_a_filter_without__is_false_and_leaves_it),
		cmocka_unit_test(insert__any_keys_and_advances__knows_what_an_exact_one_knows),
		cmocka_unit_test(insert__one_key__is_known_for_one_span_at_least_and_two_at_most),
		cmocka_unit_test(insert__seen_all_the_time__is_forgotten_only_since_first),
		cmocka_unit_test(insert__equal_keys_in_one_call__second_is_found),
		cmocka_unit_test(advance__by_any_number__forgets_as_many_generations),
		cmocka_unit_test(advance__to_the_past__changes_nothing),
		cmocka_unit_test(advance__a_thousand_times__takes_no_more_memory),
		cmocka_unit_test(rate__of_both_generations_together__is_at_most_p),
		cmocka_unit_test(save__in_the_middle__goes_on_as_if_never_stopped),
		cmocka_unit_test(save__at_the_last_stamp__goes_on_and_is_read_again),
		cmocka_unit_test(save__of_any_window__says_so_in_the_file),
		cmocka_unit_test(insert__more_than_a_span__is_in_one_generation_and_no_file),
		cmocka_unit_test(read__any_flipped_bit_of_the_window__is_noticed),
		cmocka_unit_test(read__window_field_out_of_range__is_refused),
		cmocka_unit_test(insert__records_of_a_golden_file__give_the_file),
		cmocka_unit_test(join__of_windows__is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
