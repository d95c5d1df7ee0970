/* Counts that forget: windows against an exact sliding window, decay against an exact
 * sum, what is admitted, what is read again and what is added up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counts.h"
#include "counts_support.h"
#include "decay.h"
#include "format.h"
#include "support.h"

/* ------------------------------------------------------------------- the truth */

/* Every record there ever was, and what it counts for. */
struct event {
	uint64_t time; /* records: its number, from 0; else nanoseconds */
	uint32_t key;
	uint64_t weight;
};

/* Keys are the numbers below `keys`, in eight bytes each. */
struct history {
	size_t keys, used, room;
	uint64_t *numbers;
	struct event *events;
	uint64_t now, records;
};

static struct history history_make(size_t keys)
{
	struct history history = { .keys = keys, .room = 1000 };

	history.numbers = calloc(keys, sizeof *history.numbers);
	history.events = calloc(history.room, sizeof *history.events);
	assert_true(history.numbers != NULL && history.events != NULL);
	for (size_t i = 0; i < keys; i++)
		history.numbers[i] = i;
	return history;
}

static void history_free(struct history *history)
{
	free(history->numbers);
	free(history->events);
}

static void remember(struct history *history, struct event event)
{
	if (history->used == history->room) {
		history->room *= 2;
		history->events = realloc(history->events, history->room * sizeof *history->events);
		assert_non_null(history->events);
	}
	history->events[history->used++] = event;
}

static struct sketch_key key_at(const struct history *history, size_t key, uint64_t weight)
{
	return (struct sketch_key){ (const uint8_t *)&history->numbers[key], 8,
				    sketch_murmur3_x64_128(&history->numbers[key], 8, 0), weight };
}

/* ------------------------------------------------------------------- sketches */

static const struct sketch_identity identity = { SKETCH_FAMILY_MURMUR3, 0, 0, SKETCH_SINGLE, 0 };

static struct sketch_counts *windowed(uint64_t w, uint64_t tracked, enum sketch_update update,
				      enum sketch_window_unit unit, uint64_t length, uint64_t now)
{
	struct sketch_counts_params params = { 3, w, update, tracked };
	struct sketch_pane_window window = { .unit = unit, .length = length };
	struct sketch_counts *counts = NULL;
	struct sketch_error error;

	sketch_counts_window_plan(&window);
	assert_status(SKETCH_OK,
		      sketch_counts_new_window(&counts, &identity, &params, &window, now,
					       UINT64_MAX, &error),
		      &error);
	return counts;
}

static struct sketch_counts *decaying(uint64_t w, uint64_t tracked, enum sketch_window_unit unit,
				      uint64_t half_life, uint64_t now)
{
	struct sketch_counts_params params = { 3, w, SKETCH_CONSERVATIVE, tracked };
	struct sketch_decay decay = { unit, half_life, now };
	struct sketch_counts *counts = NULL;
	struct sketch_error error;

	assert_status(SKETCH_OK,
		      sketch_counts_new_decay(&counts, &identity, &params, &decay, UINT64_MAX,
					      &error),
		      &error);
	return counts;
}

/* Saved, read, and the same when saved again. */
static struct sketch_counts *resumed(struct sketch_counts *counts)
{
	struct bytes bytes = counts_written(counts), again;
	struct sketch_counts *read;
	struct sketch_error error;

	assert_status(SKETCH_OK, counts_reread(&bytes, UINT64_MAX, &read, &error), &error);
	again = counts_written(read);
	assert_true(bytes_equal(&bytes, &again));
	bytes_free(&bytes);
	bytes_free(&again);
	sketch_counts_free(counts);
	return read;
}

static bool by_time(const struct sketch_counts *counts)
{
	struct sketch_pane_window window;
	struct sketch_decay decay;

	if (sketch_counts_window(counts, &window))
		return window.unit == SKETCH_WINDOW_NANOSECONDS;
	assert_true(sketch_counts_decay(counts, &decay));
	return decay.unit == SKETCH_WINDOW_NANOSECONDS;
}

/* Adds so many records, in calls of any length. */
static void feed(struct sketch_counts *counts, struct history *history, struct dice *dice,
		 size_t records, unsigned int weights)
{
	struct sketch_key batch[150];
	uint64_t estimates[150];
	struct sketch_error error;

	while (records > 0) {
		size_t length = (size_t)dice_between(dice, 1, records < 150 ? records : 150), done;

		for (size_t i = 0; i < length; i++) {
			struct event event = { history->now,
					       (uint32_t)draw_key(dice, history->keys),
					       draw_weight(dice, weights) };

			if (!by_time(counts))
				event.time = history->records;
			history->records++;
			batch[i] = key_at(history, event.key, event.weight);
			remember(history, event);
		}
		assert_status(SKETCH_OK,
			      sketch_counts_add(counts, batch, length,
						dice_below(dice, 2) ? estimates : NULL, &done,
						&error),
			      &error);
		assert_int_equal(done, length);
		records -= length;
	}
}

static void pass_time(struct sketch_counts *counts, struct history *history, uint64_t step)
{
	history->now += step;
	sketch_counts_advance(counts, history->now);
}

/* ----------------------------------------------------------------- exact window */

/* What was put in from `first` on, for each key. */
static void sum_since(const struct history *history, uint64_t first, uint64_t *truth)
{
	memset(truth, 0, history->keys * sizeof *truth);
	for (size_t i = 0; i < history->used; i++) {
		if (history->events[i].time >= first)
			truth[history->events[i].key] += history->events[i].weight;
	}
}

/* The first time that a count covers, from the rule and not from the sketch; and that it
 * is no more and no less than was asked for. */
static uint64_t first_covered(const struct history *history, enum sketch_window_unit unit,
			      uint64_t length)
{
	bool records = unit == SKETCH_WINDOW_RECORDS;
	uint64_t span = (length + 7) / 8, before = (length - records + span - 1) / span;
	uint64_t last = records ? history->records - (history->records > 0) : history->now;
	uint64_t pane = last / span, first = pane < before ? 0 : (pane - before) * span;
	uint64_t covered = last + records - first;

	assert_true(before <= 8);
	if (first > 0) {
		assert_true(covered >= length);
		assert_true(covered <= length + 2 * span - (records ? 2 : 1));
		if (length % 8 == 0)
			assert_true(covered <= length + span);
	}
	return first;
}

static void check_top(const struct sketch_counts *counts, const struct history *history,
		      const uint64_t *truth)
{
	struct sketch_counts_state state;
	struct sketch_heavy *heavy;
	bool *named = calloc(history->keys, sizeof *named);
	size_t used;

	sketch_counts_state(counts, &state);
	heavy = calloc((size_t)state.tracked + 1, sizeof *heavy);
	used = sketch_counts_top(counts, heavy, (size_t)state.tracked);
	assert_int_equal(used, state.tracked);
	assert_int_equal(sketch_counts_top(counts, heavy, 0), used);
	for (size_t i = 0; i < used; i++) {
		uint64_t key;

		assert_int_equal(heavy[i].length, 8);
		memcpy(&key, heavy[i].data, 8);
		assert_false(named[key]);
		named[key] = true;
		assert_true(heavy[i].bounds.sure);
		assert_true(heavy[i].bounds.low <= truth[key]);
		assert_true(heavy[i].bounds.high >= truth[key]);
		if (i > 0)
			assert_true(heavy[i - 1].bounds.high >= heavy[i].bounds.high);
	}
	for (size_t key = 0; key < history->keys; key++) {
		if (!named[key])
			assert_true(truth[key] <= state.floor);
	}
	free(named);
	free(heavy);
}

/* Everything that a window promises. */
static void check_window(const struct sketch_counts *counts, const struct history *history,
			 enum sketch_window_unit unit, uint64_t length)
{
	uint64_t *truth = calloc(history->keys, sizeof *truth), total = 0, panes = 0;
	struct sketch_counts_state state, pane;
	struct sketch_pane_window window;

	sum_since(history, first_covered(history, unit, length), truth);
	sketch_counts_state(counts, &state);
	for (size_t i = 0; i < history->keys; i++) {
		struct sketch_key key = key_at(history, i, 0);
		struct sketch_bounds bounds = sketch_counts_query(counts, &key);

		total += truth[i];
		assert_true(bounds.high >= truth[i]);
		assert_true(bounds.low <= bounds.high);
		if (bounds.sure)
			assert_true(bounds.low <= truth[i]);
		if (state.exact)
			assert_true(bounds.sure && bounds.low == bounds.high);
	}
	assert_int_equal(state.total, total);
	assert_true(sketch_counts_window(counts, &window));
	for (uint32_t i = 0; i < window.panes; i++) {
		sketch_counts_state(sketch_counts_pane(counts, i), &pane);
		panes += pane.total;
	}
	assert_int_equal(panes, total);
	if (counts->params.tracked > 0)
		check_top(counts, history, truth);
	free(truth);
}

static void window__any_stream_saved_anywhere__bounds_hold(void **unused)
{
	static const uint64_t tracked[] = { 0, 1, 7, 60, 500 };
	struct dice dice = { 71 };

	(void)unused;
	for (size_t round = 0; round < effort(120); round++) {
		enum sketch_window_unit unit =
			round % 2 ? SKETCH_WINDOW_RECORDS : SKETCH_WINDOW_NANOSECONDS;
		enum sketch_update update = round % 5 == 4 ? SKETCH_PLAIN : SKETCH_CONSERVATIVE;
		uint64_t length = dice_between(&dice, 1, round % 3 ? 2000 : 20);
		struct history history = history_make((size_t)dice_between(&dice, 1, 800));
		struct sketch_counts *counts;

		history.now = dice_below(&dice, 2) ? UINT64_C(1796070000000000000) : 0;
		counts = windowed(dice_between(&dice, 1, 300),
				  update == SKETCH_PLAIN ? 0 : tracked[dice_below(&dice, 5)],
				  update, unit, length, history.now);
		for (int part = 0; part < 8; part++) {
			feed(counts, &history, &dice, (size_t)dice_below(&dice, 700),
			     (unsigned int)(round / 4 % 3));
			if (dice_below(&dice, 3) == 0)
				counts = resumed(counts);
			pass_time(counts, &history, dice_below(&dice, length / 2 + 2));
			check_window(counts, &history, unit, length);
		}
		pass_time(counts, &history, 20 * length);
		check_window(counts, &history, unit, length);
		history_free(&history);
		sketch_counts_free(counts);
	}
}

static void window__running_estimates__are_what_a_query_says(void **unused)
{
	struct dice dice = { 72 };

	(void)unused;
	for (size_t round = 0; round < effort(40); round++) {
		uint64_t length = dice_between(&dice, 1, 200);
		struct history history = history_make(100);
		struct sketch_counts *counts =
			windowed(round % 2 ? 20 : 200, round % 3 ? 8 : 500, SKETCH_CONSERVATIVE,
				 SKETCH_WINDOW_RECORDS, length, 0);
		uint64_t truth[100];

		for (int i = 0; i < 900; i++) {
			size_t key = draw_key(&dice, 100), done;
			struct sketch_key one = key_at(&history, key, 1);
			uint64_t estimate;

			remember(&history, (struct event){ history.records++, (uint32_t)key, 1 });
			assert_int_equal(SKETCH_OK, sketch_counts_add(counts, &one, 1, &estimate,
								      &done, NULL));
			assert_int_equal(estimate, sketch_counts_query(counts, &one).high);
			sum_since(&history, first_covered(&history, SKETCH_WINDOW_RECORDS, length),
				  truth);
			assert_true(estimate >= truth[key]);
		}
		history_free(&history);
		sketch_counts_free(counts);
	}
}

static void window__in_calls_of_any_length__gives_equal_files_and_estimates(void **unused)
{
	struct dice dice = { 73 };
	struct history history = history_make(400);
	struct sketch_counts *at_once, *by_one;
	struct sketch_key keys[3000];
	uint64_t some[3000], others[3000];
	struct bytes a, b;
	size_t done;

	(void)unused;
	at_once = windowed(60, 30, SKETCH_CONSERVATIVE, SKETCH_WINDOW_RECORDS, 777, 0);
	by_one = windowed(60, 30, SKETCH_CONSERVATIVE, SKETCH_WINDOW_RECORDS, 777, 0);
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		keys[i] = key_at(&history, draw_key(&dice, 400), 1 + i % 3);
	assert_int_equal(SKETCH_OK, sketch_counts_add(at_once, keys, 3000, some, &done, NULL));
	assert_int_equal(done, 3000);
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		assert_int_equal(SKETCH_OK,
				 sketch_counts_add(by_one, &keys[i], 1, &others[i], &done, NULL));
	}
	assert_memory_equal(some, others, sizeof some);
	a = counts_written(at_once);
	b = counts_written(by_one);
	assert_true(bytes_equal(&a, &b));
	bytes_free(&a);
	bytes_free(&b);
	sketch_counts_free(at_once);
	sketch_counts_free(by_one);
	history_free(&history);
}

static void window__cells_beyond_32_bits__are_forgotten_with_their_pane(void **unused)
{
	struct history history = history_make(50);
	struct sketch_counts *counts =
		windowed(5, 2, SKETCH_CONSERVATIVE, SKETCH_WINDOW_NANOSECONDS, 80, 1000);
	struct sketch_counts_state state;
	size_t done;

	(void)unused;
	for (size_t i = 0; i < 50; i++) {
		struct sketch_key key = key_at(&history, i, (UINT64_C(1) << 33) + i);

		assert_int_equal(SKETCH_OK, sketch_counts_add(counts, &key, 1, NULL, &done, NULL));
	}
	sketch_counts_state(counts, &state);
	assert_int_equal(state.cell_bits, 64);
	assert_int_equal(state.bytes, 8 * 15 + 8 * 15 * 4);
	counts = resumed(counts);
	sketch_counts_advance(counts, 1089);
	sketch_counts_state(counts, &state);
	assert_int_equal(state.total, 50 * (UINT64_C(1) << 33) + 49 * 25);
	sketch_counts_advance(counts, 1090);
	sketch_counts_state(counts, &state);
	assert_int_equal(state.total, 0);
	assert_int_equal(state.cell_bits, 32);
	assert_true(state.exact);
	history_free(&history);
	sketch_counts_free(counts);
}

/* Two hosts, each with a clock of its own that is right. */
static void window__union_of_two_in_time__is_that_of_both(void **unused)
{
	struct dice dice = { 74 };

	(void)unused;
	for (size_t round = 0; round < effort(60); round++) {
		enum sketch_update update = round % 4 == 3 ? SKETCH_PLAIN : SKETCH_CONSERVATIVE;
		uint64_t length = dice_between(&dice, 1, 1000), start = dice_below(&dice, 5000);
		uint64_t w = dice_between(&dice, 1, 200);
		struct history both = history_make(300);
		struct sketch_counts *hosts[2];
		struct sketch_error error;

		both.now = start;
		for (int i = 0; i < 2; i++)
			hosts[i] = windowed(w, update == SKETCH_PLAIN ? 0 : 40 + 60 * (uint64_t)i,
					    update, SKETCH_WINDOW_NANOSECONDS, length, start);
		for (int part = 0; part < 6; part++) {
			struct sketch_counts *host = hosts[dice_below(&dice, 2)];

			/* The other one may lag behind by any time. */
			pass_time(host, &both, dice_below(&dice, length));
			feed(host, &both, &dice, (size_t)dice_below(&dice, 400),
			     (unsigned int)(round % 3));
		}
		if (round % 2)
			hosts[1] = resumed(hosts[1]);
		assert_status(SKETCH_OK, sketch_counts_union(hosts[0], hosts[1], &error), &error);
		check_window(hosts[0], &both, SKETCH_WINDOW_NANOSECONDS, length);
		hosts[0] = resumed(hosts[0]);
		pass_time(hosts[0], &both, dice_below(&dice, length));
		feed(hosts[0], &both, &dice, 200, 0);
		check_window(hosts[0], &both, SKETCH_WINDOW_NANOSECONDS, length);
		history_free(&both);
		sketch_counts_free(hosts[0]);
		sketch_counts_free(hosts[1]);
	}
}

static void window__plain_union__is_the_file_of_the_whole(void **unused)
{
	struct dice dice = { 75 };
	struct history history = history_make(100);
	struct sketch_counts *whole, *parts[2];
	struct bytes a, b;
	uint64_t now = 123456;

	(void)unused;
	whole = windowed(20, 0, SKETCH_PLAIN, SKETCH_WINDOW_NANOSECONDS, 800, now);
	for (int i = 0; i < 2; i++)
		parts[i] = windowed(20, 0, SKETCH_PLAIN, SKETCH_WINDOW_NANOSECONDS, 800, now);
	for (int i = 0; i < 2000; i++) {
		struct sketch_key key = key_at(&history, draw_key(&dice, 100), 1);
		size_t done;

		now += dice_below(&dice, 3);
		sketch_counts_advance(whole, now);
		sketch_counts_advance(parts[i % 2], now);
		assert_int_equal(SKETCH_OK, sketch_counts_add(whole, &key, 1, NULL, &done, NULL));
		assert_int_equal(SKETCH_OK,
				 sketch_counts_add(parts[i % 2], &key, 1, NULL, &done, NULL));
	}
	assert_int_equal(SKETCH_OK, sketch_counts_union(parts[0], parts[1], NULL));
	sketch_counts_advance(parts[0], now);
	a = counts_written(whole);
	b = counts_written(parts[0]);
	assert_true(bytes_equal(&a, &b));
	bytes_free(&a);
	bytes_free(&b);
	sketch_counts_free(whole);
	sketch_counts_free(parts[0]);
	sketch_counts_free(parts[1]);
	history_free(&history);
}

static void window__excess_above_epsilon_n__is_rarer_than_delta(void **unused)
{
	struct dice dice = { 76 };
	struct history history = history_make(4000);
	struct sketch_counts *counts =
		windowed(200, 10, SKETCH_CONSERVATIVE, SKETCH_WINDOW_RECORDS, 8000, 0);
	uint64_t *truth = calloc(4000, sizeof *truth);
	size_t wrong = 0;

	(void)unused;
	feed(counts, &history, &dice, 20000, 0);
	sum_since(&history, first_covered(&history, SKETCH_WINDOW_RECORDS, 8000), truth);
	for (size_t i = 0; i < 4000; i++) {
		struct sketch_key key = key_at(&history, i, 0);

		wrong += sketch_counts_query(counts, &key).low > truth[i];
	}
	/* delta = exp(-3) = 0.0498 of 4000 keys: 199 are expected at the very most. */
	assert_true(wrong <= 199);
	free(truth);
	sketch_counts_free(counts);
	history_free(&history);
}

static void window__total_beyond_64_bits__is_refused_over_all_panes(void **unused)
{
	struct history history = history_make(3);
	struct sketch_counts *counts = windowed(10, 5, SKETCH_CONSERVATIVE,
						SKETCH_WINDOW_NANOSECONDS, 80, 0),
			     *other = windowed(10, 5, SKETCH_CONSERVATIVE,
					       SKETCH_WINDOW_NANOSECONDS, 80, 0);
	struct sketch_key huge = key_at(&history, 0, UINT64_MAX), one = key_at(&history, 1, 1);
	struct sketch_error error;
	size_t done;

	(void)unused;
	assert_int_equal(SKETCH_OK, sketch_counts_add(counts, &huge, 1, NULL, &done, NULL));
	sketch_counts_advance(counts, 20);
	assert_int_equal(SKETCH_RANGE, sketch_counts_add(counts, &one, 1, NULL, &done, &error));
	assert_error(SKETCH_RANGE, &error);
	assert_int_equal(done, 0);
	assert_int_equal(SKETCH_OK, sketch_counts_add(other, &one, 1, NULL, &done, NULL));
	assert_int_equal(SKETCH_RANGE, sketch_counts_union(counts, other, &error));
	assert_error(SKETCH_RANGE, &error);
	assert_int_equal(sketch_counts_query(counts, &huge).high, UINT64_MAX);
	sketch_counts_advance(counts, 90);
	assert_int_equal(SKETCH_OK, sketch_counts_add(counts, &one, 1, NULL, &done, NULL));
	sketch_counts_free(counts);
	sketch_counts_free(other);
	history_free(&history);
}

static void window__fill__is_the_mean_of_the_panes(void **unused)
{
	struct history history = history_make(2);
	struct sketch_counts *counts = windowed(2, 0, SKETCH_PLAIN, SKETCH_WINDOW_RECORDS, 4, 0);
	struct sketch_key key = key_at(&history, 1, 1);
	struct sketch_pane_window window;
	size_t done;

	(void)unused;
	assert_true(sketch_counts_window(counts, &window) && window.span == 1);
	for (uint32_t i = 1; i <= window.panes; i++) {
		assert_int_equal(SKETCH_OK, sketch_counts_add(counts, &key, 1, NULL, &done, NULL));
		assert_true(sketch_counts_fill(counts, 0) == 0.5 * i / window.panes);
	}
	sketch_counts_free(counts);
	history_free(&history);
}

/* Panes of the other alone are made anew: they, too, have what memory there was. */
static void window__union_with_another_time__keeps_the_budget(void **unused)
{
	struct history history = history_make(3);
	struct sketch_key most = key_at(&history, 0, UINT32_MAX), one = key_at(&history, 0, 1);
	struct sketch_counts_params params = { 3, 100, SKETCH_PLAIN, 0 };
	struct sketch_pane_window window = { .unit = SKETCH_WINDOW_NANOSECONDS, .length = 8 };
	struct sketch_counts *counts, *later;
	struct sketch_error error;
	size_t done;

	(void)unused;
	sketch_counts_window_plan(&window);
	/* For cells of 32 bits, but not for wider ones. */
	assert_status(SKETCH_OK,
		      sketch_counts_new_window(&counts, &identity, &params, &window, 0,
					       1200 * (uint64_t)window.panes, &error),
		      &error);
	later = windowed(100, 0, SKETCH_PLAIN, SKETCH_WINDOW_NANOSECONDS, 8, 100);
	assert_int_equal(SKETCH_OK, sketch_counts_add(later, &most, 1, NULL, &done, NULL));
	assert_status(SKETCH_OK, sketch_counts_union(counts, later, &error), &error);
	assert_int_equal(SKETCH_NO_MEMORY, sketch_counts_add(counts, &one, 1, NULL, &done, &error));
	assert_int_equal(sketch_counts_query(counts, &one).high, UINT32_MAX);
	sketch_counts_free(counts);
	sketch_counts_free(later);
	history_free(&history);
}

/* ----------------------------------------------------------------- exact decay */

static void decay__powers__are_those_of_two(void **unused)
{
	static const uint64_t lives[] = {
		1, 2, 3, 7, 1000, 86399, UINT64_C(60000000000), UINT64_C(3155760000000000000)
	};
	struct dice dice = { 80 };
	volatile long double one = 1;

	(void)unused;
	/* The reference wants a mantissa of 64 bits, which some machines lack, and
	 * valgrind. */
	if (one + 0x1p-62L == one)
		skip();
	for (size_t i = 0; i < 4000; i++) {
		uint64_t life = lives[i % COUNT_OF(lives)], rest = dice_below(&dice, life);
		struct sketch_decay moment = { SKETCH_WINDOW_NANOSECONDS, life, rest };
		uint64_t units,
			weight = dice_below(&dice, UINT64_C(1) << dice_between(&dice, 1, 40));
		long double grown = exp2l((long double)rest / (long double)life);
		struct decay decay;

		assert_true(decay_make(&decay, &moment));
		assert_true(decay_weigh(&decay, weight, &units));
		assert_true(units >= (long double)weight * grown * 0x1p20L * (1 - 0x1p-60L));
		assert_true(units <= (long double)weight * grown * 0x1p20L * (1 + 0x1p-32L) + 1);
		units = dice_next(&dice) >> dice_below(&dice, 40);
		assert_true(decay_high(&decay, units) >= units / grown * (1 - 0x1p-60L));
		assert_true(decay_high(&decay, units) <= units / grown * (1 + 0x1p-31L) + 1);
		assert_true(decay_low(&decay, units) <= units / grown);
		assert_true(decay_low(&decay, units) >= units / grown * (1 - 0x1p-18L) - 2);
		decay_free(&decay);
	}
}

/* Rounding up must not make a count grow as it ages. */
static void decay__a_moment_later__is_no_more_than_before(void **unused)
{
	static const uint64_t lives[] = { 3, 1000, UINT64_C(1) << 40, UINT64_C(1) << 62 };

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(lives); i++) {
		struct sketch_decay moment = { SKETCH_WINDOW_NANOSECONDS, lives[i], 1 };
		struct decay decay;

		assert_true(decay_make(&decay, &moment));
		for (unsigned int bits = 0; bits < 64; bits++) {
			uint64_t units = UINT64_C(1) << bits;

			assert_true(decay_high(&decay, units) <= units);
			assert_true(decay_high(&decay, units - 1) <= units - 1);
		}
		decay_free(&decay);
	}
}

static void decay__of_whole_half_lives__is_exact(void **unused)
{
	struct sketch_decay moment = { SKETCH_WINDOW_NANOSECONDS, 1000, 7000 };
	struct decay decay;
	uint64_t units;

	(void)unused;
	assert_true(decay_make(&decay, &moment));
	for (uint64_t i = 0; i <= DECAY_MOST_DOUBLINGS; i++) {
		decay_move(&decay, 7000 + 1000 * i);
		assert_true(decay_weigh(&decay, 3, &units) == (i < DECAY_MOST_DOUBLINGS + 1));
		assert_int_equal(units, (UINT64_C(3) << 20) << i);
		assert_int_equal(decay_high(&decay, units), UINT64_C(3) << 20);
		assert_int_equal(decay_high(&decay, UINT64_C(1) << 44),
				 i == 0 ? UINT64_C(1) << 44 : (UINT64_C(1) << 44) >> i);
		if (i == DECAY_MOST_DOUBLINGS - 1)
			break;
	}
	decay_move(&decay, 7000 + 1000 * (DECAY_MOST_DOUBLINGS + 1));
	assert_false(decay_weigh(&decay, 1, &units));
	decay_move(&decay, 7000 + 1000 * 70);
	assert_int_equal(decay_high(&decay, UINT64_MAX), 1);
	assert_int_equal(decay_high(&decay, 0), 0);
	assert_int_equal(decay_low(&decay, UINT64_MAX), 0);
	decay_move(&decay, 5);
	assert_int_equal(decay.now, 7000 + 1000 * 70);
	decay_free(&decay);
}

static void sum_decayed(const struct history *history, bool records, uint64_t life,
			long double *truth)
{
	/* The last record is as old as nothing. */
	uint64_t now = records ? history->records - (history->records > 0) : history->now;

	for (size_t i = 0; i < history->keys; i++)
		truth[i] = 0;
	for (size_t i = 0; i < history->used; i++) {
		const struct event *event = &history->events[i];

		truth[event->key] += (long double)event->weight *
				     exp2l(-(long double)(now - event->time) / (long double)life);
	}
}

/* Everything that decay promises. */
static void check_decay(const struct sketch_counts *counts, const struct history *history,
			bool records, uint64_t life)
{
	long double *truth = calloc(history->keys, sizeof *truth), total = 0;
	const long double one = SKETCH_DECAY_ONE, exactly = 1 - 0x1p-55L;
	struct sketch_counts_state state;
	struct sketch_heavy *heavy;
	bool *named = calloc(history->keys, sizeof *named);
	size_t used;

	sum_decayed(history, records, life, truth);
	sketch_counts_state(counts, &state);
	for (size_t i = 0; i < history->keys; i++) {
		struct sketch_key key = key_at(history, i, 0);
		struct sketch_bounds bounds = sketch_counts_query(counts, &key);

		total += truth[i];
		assert_true(bounds.high >= truth[i] * one * exactly);
		assert_true(bounds.low <= bounds.high);
		if (bounds.sure)
			assert_true(bounds.low * exactly <= truth[i] * one);
		if (!state.exact)
			continue;
		/* Two units by halving, one by rounding. */
		assert_true(bounds.sure);
		assert_true(bounds.high <= truth[i] * one * (1 + 0x1p-19L) + 3);
		assert_true(bounds.low >= truth[i] * one * (1 - 0x1p-18L) - 3);
	}
	assert_true(state.total >= total * one * exactly);
	assert_true(state.total <= total * one * (1 + 0x1p-19L) + 3);
	heavy = calloc((size_t)state.tracked + 1, sizeof *heavy);
	used = sketch_counts_top(counts, heavy, (size_t)state.tracked);
	assert_int_equal(used, state.tracked);
	for (size_t i = 0; i < used; i++) {
		uint64_t key;

		memcpy(&key, heavy[i].data, 8);
		named[key] = true;
		assert_true(heavy[i].bounds.sure);
		assert_true(heavy[i].bounds.low * exactly <= truth[key] * one);
		assert_true(heavy[i].bounds.high >= truth[key] * one * exactly);
		if (i > 0)
			assert_true(heavy[i - 1].bounds.high >= heavy[i].bounds.high);
	}
	for (size_t i = 0; i < history->keys && counts->params.tracked > 0; i++) {
		if (!named[i])
			assert_true(truth[i] * one * exactly <= state.floor);
	}
	free(truth);
	free(named);
	free(heavy);
}

static void decay__any_stream_saved_anywhere__bounds_hold(void **unused)
{
	static const uint64_t tracked[] = { 0, 1, 7, 60, 900 };
	struct dice dice = { 81 };

	(void)unused;
	for (size_t round = 0; round < effort(120); round++) {
		bool records = round % 2;
		enum sketch_window_unit unit =
			records ? SKETCH_WINDOW_RECORDS : SKETCH_WINDOW_NANOSECONDS;
		uint64_t life = dice_between(&dice, 1, round % 3 ? 3000 : 20);
		struct history history = history_make((size_t)dice_between(&dice, 1, 800));
		struct sketch_counts *counts;

		/* The age of each record is what counts, not the number of the year. */
		history.now = records ? 0 : UINT64_C(1796070000000000000);
		counts = decaying(dice_between(&dice, 1, 300), tracked[dice_below(&dice, 5)], unit,
				  life, history.now);
		for (int part = 0; part < 8; part++) {
			feed(counts, &history, &dice, (size_t)dice_below(&dice, 700),
			     (unsigned int)(round / 4 % 3));
			if (dice_below(&dice, 3) == 0)
				counts = resumed(counts);
			if (!records)
				pass_time(counts, &history,
					  dice_below(&dice,
						     dice_below(&dice, 8) ? life + 2 : 90 * life));
			check_decay(counts, &history, records, life);
		}
		history_free(&history);
		sketch_counts_free(counts);
	}
}

static void decay__landmark_moved_often__bounds_hold(void **unused)
{
	struct dice dice = { 82 };

	(void)unused;
	for (size_t round = 0; round < effort(24); round++) {
		struct history history = history_make(200);
		struct sketch_counts *counts =
			decaying(30, round % 3 ? 20 : 300, SKETCH_WINDOW_NANOSECONDS, 1000, 0);

		for (int part = 0; part < 300; part++) {
			feed(counts, &history, &dice, 20, 2);
			pass_time(counts, &history, dice_below(&dice, 3000));
			if (part % 30 == 29)
				check_decay(counts, &history, false, 1000);
		}
		assert_true(counts->decay.landmark > 200000);
		history_free(&history);
		sketch_counts_free(counts);
	}
}

static void decay__union_in_time__is_that_of_both_at_the_later_moment(void **unused)
{
	struct dice dice = { 83 };

	(void)unused;
	for (size_t round = 0; round < effort(60); round++) {
		uint64_t life = dice_between(&dice, 1, 1000), w = dice_between(&dice, 1, 200);
		struct history both = history_make(300);
		struct sketch_counts *hosts[2];
		struct sketch_error error;

		both.now = dice_below(&dice, 100000);
		for (int i = 0; i < 2; i++)
			hosts[i] = decaying(w, round % 2 ? 400 : 40 + 60 * (uint64_t)i,
					    SKETCH_WINDOW_NANOSECONDS, life, both.now);
		for (int part = 0; part < 6; part++) {
			struct sketch_counts *host = hosts[dice_below(&dice, 2)];

			pass_time(host, &both, dice_below(&dice, 30 * life));
			feed(host, &both, &dice, (size_t)dice_below(&dice, 400),
			     (unsigned int)(round % 3));
		}
		assert_status(SKETCH_OK, sketch_counts_union(hosts[0], hosts[1], &error), &error);
		assert_int_equal(sketch_counts_moment(hosts[0]), both.now);
		check_decay(hosts[0], &both, false, life);
		hosts[0] = resumed(hosts[0]);
		pass_time(hosts[0], &both, dice_below(&dice, life));
		feed(hosts[0], &both, &dice, 200, 0);
		check_decay(hosts[0], &both, false, life);
		history_free(&both);
		sketch_counts_free(hosts[0]);
		sketch_counts_free(hosts[1]);
	}
}

static void decay__total_beyond_2_44__is_refused_and_has_room_again_later(void **unused)
{
	const uint64_t most = UINT64_C(1) << 43;
	struct history history = history_make(3);
	struct sketch_counts *counts = decaying(10, 5, SKETCH_WINDOW_NANOSECONDS, 100, 1000);
	struct sketch_counts *other = decaying(10, 5, SKETCH_WINDOW_NANOSECONDS, 100, 1100);
	struct sketch_key half = key_at(&history, 0, most), one = key_at(&history, 1, 1);
	struct sketch_key quarter = key_at(&history, 1, most / 2);
	struct sketch_error error;
	size_t done;

	(void)unused;
	assert_int_equal(SKETCH_OK, sketch_counts_add(counts, &half, 1, NULL, &done, NULL));
	assert_int_equal(SKETCH_RANGE, sketch_counts_add(counts, &half, 1, NULL, &done, &error));
	assert_error(SKETCH_RANGE, &error);
	assert_int_equal(done, 0);
	assert_int_equal(SKETCH_OK, sketch_counts_add(counts, &one, 1, NULL, &done, NULL));
	/* At 1100 what was 2^43 is 2^42, and the landmark moves for it to have room. */
	sketch_counts_advance(counts, 1100);
	assert_int_equal(SKETCH_OK, sketch_counts_add(counts, &quarter, 1, NULL, &done, NULL));
	assert_int_equal(sketch_counts_query(counts, &half).high, (most / 2) << 20);
	assert_int_equal(SKETCH_OK, sketch_counts_add(other, &half, 1, NULL, &done, NULL));
	assert_int_equal(SKETCH_OK, sketch_counts_add(other, &quarter, 1, NULL, &done, NULL));
	assert_int_equal(SKETCH_RANGE, sketch_counts_union(counts, other, &error));
	assert_error(SKETCH_RANGE, &error);
	sketch_counts_advance(other, 1300);
	assert_int_equal(SKETCH_OK, sketch_counts_union(counts, other, &error));
	assert_int_equal(sketch_counts_moment(counts), 1300);
	sketch_counts_free(counts);
	sketch_counts_free(other);
	history_free(&history);
}

/* -------------------------------------------------------------------- admitting */

/* Of each key no more than the limit within what a window covers: exactly that many
 * while every count is exact, and never more. */
static void admit__in_a_window__reaches_the_limit_and_never_exceeds_it(void **unused)
{
	struct dice dice = { 90 };

	(void)unused;
	for (size_t round = 0; round < effort(60); round++) {
		bool exact = round % 2, records = round % 4 < 2;
		enum sketch_window_unit unit =
			records ? SKETCH_WINDOW_RECORDS : SKETCH_WINDOW_NANOSECONDS;
		uint64_t length = dice_between(&dice, 1, 300), limit = dice_below(&dice, 6);
		struct history history = history_make(60);
		struct sketch_counts *counts = windowed(30, exact ? 60 : 5, SKETCH_CONSERVATIVE,
							unit, length, history.now);
		uint64_t truth[60];

		for (int i = 0; i < 1500; i++) {
			size_t key = draw_key(&dice, 60), done = 0;
			struct sketch_key one = key_at(&history, key, 1);
			bool admitted, fits;

			if (!records)
				pass_time(counts, &history, dice_below(&dice, 3));
			history.records++;
			sum_since(&history, first_covered(&history, unit, length), truth);
			fits = truth[key] + 1 <= limit;
			assert_int_equal(SKETCH_OK,
					 sketch_counts_admit(counts, &one, 1, limit, &admitted,
							     NULL, &done, NULL));
			assert_int_equal(done, 1);
			if (exact)
				assert_int_equal(admitted, fits);
			assert_true(fits || !admitted);
			if (admitted)
				remember(&history, (struct event){ records ? history.records - 1 :
									     history.now,
								   (uint32_t)key, 1 });
			if (i % 400 == 0)
				counts = resumed(counts);
		}
		check_window(counts, &history, unit, length);
		history_free(&history);
		sketch_counts_free(counts);
	}
}

static void admit__in_calls_of_any_length__admits_the_same(void **unused)
{
	struct dice dice = { 91 };
	struct history history = history_make(200);
	struct sketch_key keys[2000];
	bool some[2000], others[2000];

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		keys[i] = key_at(&history, draw_key(&dice, 200), 1 + i % 4);
	for (int kind = 0; kind < 3; kind++) {
		struct sketch_counts *sketches[2];
		size_t done;

		for (int i = 0; i < 2; i++) {
			struct sketch_counts_params params = { 3, 40, SKETCH_CONSERVATIVE, 30 };

			sketches[i] = kind == 0 ? windowed(40, 30, SKETCH_CONSERVATIVE,
							   SKETCH_WINDOW_RECORDS, 300, 0) :
				      kind == 1 ? decaying(40, 30, SKETCH_WINDOW_RECORDS, 100, 0) :
						  NULL;
			if (kind == 2)
				assert_int_equal(SKETCH_OK,
						 sketch_counts_new(&sketches[i], &identity, &params,
								   UINT64_MAX, NULL));
		}
		assert_int_equal(SKETCH_OK, sketch_counts_admit(sketches[0], keys, 2000,
								9 * sketch_counts_one(sketches[0]),
								some, NULL, &done, NULL));
		assert_int_equal(done, 2000);
		for (size_t i = 0; i < COUNT_OF(keys); i++)
			assert_int_equal(SKETCH_OK,
					 sketch_counts_admit(sketches[1], &keys[i], 1,
							     9 * sketch_counts_one(sketches[1]),
							     &others[i], NULL, &done, NULL));
		assert_memory_equal(some, others, sizeof some);
		sketch_counts_free(sketches[0]);
		sketch_counts_free(sketches[1]);
	}
	history_free(&history);
}

/* ------------------------------------------------------------------ what differs */

static void assert_mismatch(struct sketch_counts *a, struct sketch_counts *b, const char *word)
{
	struct bytes before = counts_written(a), after;
	struct sketch_error error;

	assert_int_equal(SKETCH_MISMATCH, sketch_counts_union(a, b, &error));
	assert_error(SKETCH_MISMATCH, &error);
	if (!has_word(error.text, word))
		fail_msg("%s: %s", word, error.text);
	after = counts_written(a);
	assert_true(bytes_equal(&before, &after));
	bytes_free(&before);
	bytes_free(&after);
	sketch_counts_free(a);
	sketch_counts_free(b);
}

static struct sketch_counts *in_time(uint64_t length)
{
	return windowed(10, 5, SKETCH_CONSERVATIVE, SKETCH_WINDOW_NANOSECONDS, length, 0);
}

static struct sketch_counts *for_ever(void)
{
	struct sketch_counts_params params = { 3, 10, SKETCH_CONSERVATIVE, 5 };
	struct sketch_counts *counts = NULL;

	assert_int_equal(SKETCH_OK,
			 sketch_counts_new(&counts, &identity, &params, UINT64_MAX, NULL));
	return counts;
}

static void union__of_what_forgets_otherwise__names_the_field(void **unused)
{
	struct sketch_counts *other = in_time(80);

	(void)unused;
	assert_mismatch(in_time(80), for_ever(), "window");
	assert_mismatch(for_ever(), in_time(80), "window");
	assert_mismatch(decaying(10, 5, SKETCH_WINDOW_NANOSECONDS, 9, 0), for_ever(), "decay");
	assert_mismatch(in_time(80), in_time(81), "window");
	assert_mismatch(in_time(80),
			windowed(10, 5, SKETCH_CONSERVATIVE, SKETCH_WINDOW_RECORDS, 80, 0),
			"records");
	assert_mismatch(windowed(10, 5, SKETCH_CONSERVATIVE, SKETCH_WINDOW_RECORDS, 80, 0),
			windowed(10, 5, SKETCH_CONSERVATIVE, SKETCH_WINDOW_RECORDS, 80, 0),
			"records");
	assert_mismatch(decaying(10, 5, SKETCH_WINDOW_NANOSECONDS, 9, 0),
			decaying(10, 5, SKETCH_WINDOW_NANOSECONDS, 10, 0), "half-life");
	assert_mismatch(decaying(10, 5, SKETCH_WINDOW_NANOSECONDS, 9, 0),
			decaying(10, 5, SKETCH_WINDOW_RECORDS, 9, 0), "records");
	assert_mismatch(decaying(10, 5, SKETCH_WINDOW_RECORDS, 9, 0),
			decaying(10, 5, SKETCH_WINDOW_RECORDS, 9, 0), "records");
	other->ring->window.span++;
	assert_mismatch(in_time(80), other, "span");
	other = windowed(10, 5, SKETCH_CONSERVATIVE, SKETCH_WINDOW_NANOSECONDS, 8, 0);
	/* Another writer may have chosen other panes. */
	sketch_counts_free(other->ring->panes[8]);
	other->ring->window.panes = 8;
	assert_mismatch(in_time(8), other, "panes");
}

static void new__out_of_range__is_refused(void **unused)
{
	struct sketch_counts_params params = { 3, 10, SKETCH_CONSERVATIVE, 5 }, plain = params;
	static const struct sketch_pane_window windows[] = {
		{ (enum sketch_window_unit)3, 8, 1, 9, 0, 0 },
		{ SKETCH_WINDOW_NANOSECONDS, 0, 1, 9, 0, 0 },
		{ SKETCH_WINDOW_NANOSECONDS, 8, 0, 9, 0, 0 },
		{ SKETCH_WINDOW_NANOSECONDS, 8, 1, 0, 0, 0 },
		{ SKETCH_WINDOW_NANOSECONDS, 8, 1, 65, 0, 0 },
		{ SKETCH_WINDOW_NANOSECONDS, 8, 1, 8, 0, 0 },
		{ SKETCH_WINDOW_NANOSECONDS, 1, 1, 1, 0, 0 },
		{ SKETCH_WINDOW_RECORDS, 8, 1, 7, 0, 0 },
		{ SKETCH_WINDOW_RECORDS, UINT64_MAX, UINT64_C(1) << 61, 9, 0, 0 },
	};
	static const struct sketch_decay decays[] = {
		{ (enum sketch_window_unit)0, 5, 0 },
		{ SKETCH_WINDOW_NANOSECONDS, 0, 0 },
		{ SKETCH_WINDOW_NANOSECONDS, UINT64_MAX, 0 },
		{ SKETCH_WINDOW_NANOSECONDS, 5, UINT64_MAX },
	};
	struct sketch_decay decay = { SKETCH_WINDOW_RECORDS, 5, 0 };
	struct sketch_pane_window window = { SKETCH_WINDOW_RECORDS, 80, 10, 9, 0, 0 };
	struct sketch_counts *counts = NULL;
	struct sketch_error error;

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(windows); i++) {
		assert_int_equal(SKETCH_RANGE,
				 sketch_counts_new_window(&counts, &identity, &params, &windows[i],
							  0, UINT64_MAX, &error));
		assert_error(SKETCH_RANGE, &error);
	}
	for (size_t i = 0; i < COUNT_OF(decays); i++) {
		assert_int_equal(SKETCH_RANGE,
				 sketch_counts_new_decay(&counts, &identity, &params, &decays[i],
							 UINT64_MAX, &error));
		assert_error(SKETCH_RANGE, &error);
	}
	plain.update = SKETCH_PLAIN;
	plain.tracked = 0;
	assert_int_equal(SKETCH_RANGE, sketch_counts_new_decay(&counts, &identity, &plain, &decay,
							       UINT64_MAX, &error));
	assert_error(SKETCH_RANGE, &error);
	assert_int_equal(SKETCH_NO_MEMORY, sketch_counts_new_window(&counts, &identity, &params,
								    &window, 0, 1000, &error));
	assert_int_equal(SKETCH_NO_MEMORY,
			 sketch_counts_new_decay(&counts, &identity, &params, &decay, 200, &error));
	assert_null(counts);
}

static void plan__any_length__covers_it_and_no_more_than_an_eighth_beyond(void **unused)
{
	(void)unused;
	for (uint64_t length = 1; length < 3000; length++) {
		for (int unit = 1; unit <= 2; unit++) {
			struct sketch_pane_window window = {
				.unit = (enum sketch_window_unit)unit,
				.length = length,
			};
			uint64_t least, most;

			sketch_counts_window_plan(&window);
			least = (window.panes - 1) * window.span + (unit == 1);
			most = window.panes * window.span;
			assert_true(window.panes <= 9);
			assert_true(least >= length);
			assert_true(least < length + window.span);
			assert_true(most < length + 2 * window.span + (unit == 2));
			if (length % 8 == 0)
				assert_true(most <= length + length / 8);
		}
	}
}

/* ------------------------------------------------------------------------ files */

static struct bytes small_window(void)
{
	struct history history = history_make(9);
	struct sketch_counts *counts =
		windowed(3, 2, SKETCH_CONSERVATIVE, SKETCH_WINDOW_RECORDS, 4, 0);
	struct dice dice = { 95 };
	struct bytes bytes;

	feed(counts, &history, &dice, 40, 0);
	bytes = counts_written(counts);
	sketch_counts_free(counts);
	history_free(&history);
	return bytes;
}

static struct bytes small_decay(void)
{
	struct history history = history_make(9);
	struct sketch_counts *counts = decaying(3, 2, SKETCH_WINDOW_RECORDS, 4, 0);
	struct dice dice = { 96 };
	struct bytes bytes;

	feed(counts, &history, &dice, 60, 0);
	bytes = counts_written(counts);
	sketch_counts_free(counts);
	history_free(&history);
	return bytes;
}

static void read__any_flipped_bit_or_other_length__is_refused(void **unused)
{
	(void)unused;
	for (int kind = 0; kind < 2; kind++) {
		struct bytes whole = kind == 0 ? small_window() : small_decay();
		struct sketch_counts *counts;
		struct sketch_error error;

		for (size_t bit = 0; bit < 8 * whole.length; bit++) {
			whole.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_not_equal(SKETCH_OK,
					     counts_reread(&whole, UINT64_MAX, &counts, &error));
			assert_error(error.status, &error);
			whole.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		for (size_t length = 0; length < whole.length; length++) {
			struct bytes cut = { whole.data, length };

			assert_int_not_equal(SKETCH_OK,
					     counts_reread(&cut, UINT64_MAX, &counts, &error));
		}
		assert_int_equal(SKETCH_OK, counts_reread(&whole, UINT64_MAX, &counts, &error));
		sketch_counts_free(counts);
		bytes_free(&whole);
	}
}

/* A file of 4096 bytes: its header, and a table of 124 sections without any bytes, which
 * begin where the file ends. */
static struct bytes empty_sections(const uint32_t *types, size_t count)
{
	struct bytes file = { calloc(1, 4096), 4096 };
	struct format_header header = { .version = FORMAT_VERSION,
					.kind = SKETCH_KIND_COUNTS,
					.length = 4096,
					.sections = 124,
					.family = SKETCH_FAMILY_MURMUR3,
					.fingerprint = format_fingerprint((uint8_t[16]){ 0 }) };

	assert_non_null(file.data);
	for (uint32_t i = 0; i < header.sections; i++) {
		struct format_section section = {
			.type = i < count ? types[i] : FORMAT_TYPE_IGNORABLE,
			.index = i < count ? 0 : i,
			.offset = 4096,
		};

		format_encode_section(file.data + FORMAT_HEADER_BYTES + i * FORMAT_ENTRY_BYTES,
				      &section);
	}
	format_encode_header(file.data, &header);
	file_seal(&file);
	return file;
}

/* What is read behind the file's last page is nobody's, or belongs to one of these. */
static void read__section_at_the_very_end__nothing_behind_the_file_is_read(void **unused)
{
	static const uint32_t types[][3] = { { FORMAT_RING, FORMAT_TABLE, FORMAT_SUMS },
					     { FORMAT_TABLE, FORMAT_SUMS, FORMAT_CELLS } };
	void *guards[64];

	(void)unused;
	for (size_t i = 0; i < 64; i++) {
		guards[i] = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(guards[i] != MAP_FAILED);
	}
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		struct bytes file = empty_sections(types[i], 3);
		struct sketch_counts *counts;
		struct sketch_error error;

		assert_int_equal(SKETCH_DAMAGED, counts_reread(&file, UINT64_MAX, &counts, &error));
		assert_true(has_word(error.text, "length"));
		bytes_free(&file);
	}
	for (size_t i = 0; i < 64; i++)
		munmap(guards[i], 4096);
}

struct alteration {
	size_t at;
	int bytes;
	uint64_t value;
	enum sketch_status status;
};

static void assert_altered(struct bytes file, uint32_t type, uint32_t index,
			   const struct alteration *change)
{
	struct section section = section_find(&file, type, index);
	uint8_t *field = file.data + section.offset + change->at;
	struct sketch_counts *counts;
	struct sketch_error error;

	if (change->bytes == 4)
		put32(field, (uint32_t)change->value);
	else
		put64(field, change->value);
	file_seal(&file);
	if (counts_reread(&file, UINT64_MAX, &counts, &error) != change->status)
		fail_msg("%zu: %llu: %s", change->at, (unsigned long long)change->value,
			 counts == NULL ? error.text : "accepted");
	if (counts == NULL)
		assert_error(change->status, &error);
	sketch_counts_free(counts);
	bytes_free(&file);
}

static void read__window_out_of_range__is_refused(void **unused)
{
	/* Of a window of 4 records: span 1, 4 panes. */
	static const struct alteration cases[] = {
		{ 0, 4, 0, SKETCH_UNSUPPORTED },
		{ 0, 4, 3, SKETCH_UNSUPPORTED },
		{ 0, 4, 2, SKETCH_DAMAGED },
		{ 4, 4, 0, SKETCH_DAMAGED },
		{ 4, 4, 3, SKETCH_DAMAGED },
		{ 4, 4, 5, SKETCH_DAMAGED },
		{ 4, 4, 64, SKETCH_DAMAGED },
		{ 4, 4, 65, SKETCH_DAMAGED },
		{ 4, 4, UINT32_MAX, SKETCH_DAMAGED },
		{ 8, 8, 0, SKETCH_DAMAGED },
		{ 8, 8, 2, SKETCH_OK },
		{ 16, 8, 0, SKETCH_DAMAGED },
		{ 16, 8, 3, SKETCH_OK },
		{ 16, 8, 5, SKETCH_DAMAGED },
		{ 16, 8, UINT64_MAX, SKETCH_DAMAGED },
		{ 24, 8, UINT64_C(1) << 62, SKETCH_OK },
		{ 24, 8, (UINT64_C(1) << 62) + 1, SKETCH_DAMAGED },
		{ 32, 8, 0, SKETCH_OK },
		{ 32, 8, 2, SKETCH_DAMAGED },
		{ 40, 8, 1, SKETCH_DAMAGED },
		{ 56, 8, UINT64_C(1) << 63, SKETCH_DAMAGED },
	};
	static const struct alteration tables[] = {
		{ 12, 4, 1, SKETCH_DAMAGED },
		{ 56, 8, 3, SKETCH_DAMAGED },
		{ 16, 8, 2, SKETCH_DAMAGED },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_altered(small_window(), FORMAT_RING, 0, &cases[i]);
	for (uint32_t pane = 0; pane < 4; pane++) {
		for (size_t i = 0; i < COUNT_OF(tables); i++)
			assert_altered(small_window(), FORMAT_TABLE, pane, &tables[i]);
	}
}

static void read__decay_out_of_range__is_refused(void **unused)
{
	static const struct alteration cases[] = {
		{ 12, 4, 0, SKETCH_DAMAGED },
		{ 12, 4, 3, SKETCH_UNSUPPORTED },
		{ 12, 4, 2, SKETCH_OK },
		{ 4, 4, 32, SKETCH_DAMAGED },
		{ 8, 4, 2, SKETCH_DAMAGED },
		{ 40, 8, 3, SKETCH_DAMAGED },
		{ 40, 8, UINT64_MAX - 3, SKETCH_DAMAGED },
		{ 48, 8, 0, SKETCH_DAMAGED },
		{ 48, 8, (UINT64_C(1) << 62) + 1, SKETCH_DAMAGED },
		{ 72, 8, UINT64_C(1) << 63, SKETCH_DAMAGED },
		{ 80, 8, 1, SKETCH_DAMAGED },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_altered(small_decay(), FORMAT_TABLE, 0, &cases[i]);
}

/* A pane that belongs to a sketch of another shape, and totals that cannot be added. */
static void read__panes_that_do_not_fit__is_refused(void **unused)
{
	struct sketch_counts *counts =
		windowed(4, 0, SKETCH_CONSERVATIVE, SKETCH_WINDOW_NANOSECONDS, 8, 0);
	struct sketch_counts_params params = { 3, 5, SKETCH_CONSERVATIVE, 0 };
	struct history history = history_make(2);
	struct sketch_key huge = key_at(&history, 0, UINT64_MAX);
	struct sketch_counts **panes = counts->ring->panes, *read;
	struct sketch_error error;
	struct bytes file;
	size_t done;

	(void)unused;
	for (int i = 0; i < 2; i++)
		assert_int_equal(SKETCH_OK,
				 sketch_counts_add(panes[i], &huge, 1, NULL, &done, NULL));
	file = counts_written(counts);
	assert_int_equal(SKETCH_DAMAGED, counts_reread(&file, UINT64_MAX, &read, &error));
	bytes_free(&file);
	counts_clear(panes[1]);
	sketch_counts_free(panes[2]);
	assert_int_equal(SKETCH_OK,
			 sketch_counts_new(&panes[2], &identity, &params, UINT64_MAX, NULL));
	file = counts_written(counts);
	assert_int_equal(SKETCH_DAMAGED, counts_reread(&file, UINT64_MAX, &read, &error));
	bytes_free(&file);
	sketch_counts_free(counts);
	history_free(&history);
}

static void add_one(struct sketch_counts *counts, const struct history *history, size_t key)
{
	struct sketch_key one = key_at(history, key, 1);
	struct sketch_error error;
	size_t done;

	assert_status(SKETCH_OK, sketch_counts_add(counts, &one, 1, NULL, &done, &error), &error);
}

static uint64_t count_of(const struct sketch_counts *counts, const struct history *history,
			 size_t key)
{
	struct sketch_key asked = key_at(history, key, 0);

	return sketch_counts_query(counts, &asked).high;
}

/* A file with the last stamp or moment there can be is read, so it must be one that can
 * be gone on with, and read again. */
static void save__at_the_last_stamp__goes_on_and_is_read_again(void **unused)
{
	struct history history = history_make(9);
	struct sketch_counts *counts =
		windowed(5, 9, SKETCH_CONSERVATIVE, SKETCH_WINDOW_RECORDS, 4, 0);

	(void)unused;
	counts->ring->window.stamp = FORMAT_MAX_STAMP;
	for (size_t i = 0; i < 9; i++) {
		add_one(counts, &history, i);
		counts = resumed(counts);
		for (size_t k = 0; k < 9; k++)
			assert_int_equal(count_of(counts, &history, k), k <= i && k + 4 > i);
	}
	sketch_counts_free(counts);
	counts = windowed(5, 9, SKETCH_CONSERVATIVE, SKETCH_WINDOW_NANOSECONDS, 8,
			  (uint64_t)INT64_MAX);
	for (uint64_t i = 0; i < 3; i++) {
		sketch_counts_advance(counts, (uint64_t)INT64_MAX + 1000 * i);
		add_one(counts, &history, 1);
		counts = resumed(counts);
		assert_int_equal(count_of(counts, &history, 1), i + 1);
	}
	sketch_counts_free(counts);
	for (int unit = SKETCH_WINDOW_RECORDS; unit <= SKETCH_WINDOW_NANOSECONDS; unit++) {
		counts = decaying(5, 9, (enum sketch_window_unit)unit, 1, (uint64_t)INT64_MAX);
		for (uint64_t i = 0; i < 3; i++) {
			sketch_counts_advance(counts, (uint64_t)INT64_MAX + 1000 * i);
			add_one(counts, &history, 1);
			counts = resumed(counts);
			assert_int_equal(count_of(counts, &history, 1),
					 (i + 1) * sketch_counts_one(counts));
		}
		sketch_counts_free(counts);
	}
	history_free(&history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(window__any_stream_saved_anywhere__bounds_hold),
		cmocka_unit_test(window__running_estimates__are_what_a_query_says),
		cmocka_unit_test(window__in_calls_of_any_length__gives_equal_files_and_estimates),
		cmocka_unit_test(window__cells_beyond_32_bits__are_forgotten_with_their_pane),
		cmocka_unit_test(window__union_of_two_in_time__is_that_of_both),
		cmocka_unit_test(window__plain_union__is_the_file_of_the_whole),
		cmocka_unit_test(window__excess_above_epsilon_n__is_rarer_than_delta),
		cmocka_unit_test(window__total_beyond_64_bits__is_refused_over_all_panes),
		cmocka_unit_test(window__fill__is_the_mean_of_the_panes),
		cmocka_unit_test(window__union_with_another_time__keeps_the_budget),
		cmocka_unit_test(decay__powers__are_those_of_two),
		cmocka_unit_test(decay__a_moment_later__is_no_more_than_before),
		cmocka_unit_test(decay__of_whole_half_lives__is_exact),
		cmocka_unit_test(decay__any_stream_saved_anywhere__bounds_hold),
		cmocka_unit_test(decay__landmark_moved_often__bounds_hold),
		cmocka_unit_test(decay__union_in_time__is_that_of_both_at_the_later_moment),
		cmocka_unit_test(decay__total_beyond_2_44__is_refused_and_has_room_again_later),
		cmocka_unit_test(admit__in_a_window__reaches_the_limit_and_never_exceeds_it),
		cmocka_unit_test(admit__in_calls_of_any_length__admits_the_same),
		cmocka_unit_test(union__of_what_forgets_otherwise__names_the_field),
		cmocka_unit_test(new__out_of_range__is_refused),
		cmocka_unit_test(plan__any_length__covers_it_and_no_more_than_an_eighth_beyond),
		cmocka_unit_test(read__any_flipped_bit_or_other_length__is_refused),
		cmocka_unit_test(read__section_at_the_very_end__nothing_behind_the_file_is_read),
		cmocka_unit_test(read__window_out_of_range__is_refused),
		cmocka_unit_test(read__decay_out_of_range__is_refused),
		cmocka_unit_test(read__panes_that_do_not_fit__is_refused),
		cmocka_unit_test(save__at_the_last_stamp__goes_on_and_is_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
