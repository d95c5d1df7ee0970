/* ring.c - counts of the recent past
 *
 * A count-min sketch cannot forget a record, which it no longer knows.  So whole
 * sketches are forgotten.  Time is cut into panes of one span each, and of the
 * window's panes each has a sketch of its own: the current one takes the records, all
 * are asked, and when a span is over the oldest is emptied and becomes the current
 * one (as in Papapetrou, Garofalakis and Deligiannakis, "Sketch-based querying of
 * distributed sliding-window data streams", 2012, but for the whole sketch instead
 * of each of its counters: one record then touches one table, as without a window).
 *
 *     stamp      0     1     2     3     4     5     6     7     8     9
 *     time    |-----|-----|-----|-----|-----|-----|-----|-----|-----|-----|
 *                                                                    ^ now
 *                   |<-------------- a count covers ---------------->|
 *
 * With eight panes before the current one a count covers eight spans and a part of
 * the ninth: at least what was asked for, and at most an eighth more.  Fewer panes
 * would cover too much; more would leave each too small a part of the memory, and
 * all of them are asked for each count.
 *
 * All panes have the same rows, so that the key of a pane shares its cells with the
 * same others in each.  Therefore the sum of the estimates is at most that of one
 * table with the sums of all cells, and is too high by more than epsilon N with
 * probability at most delta, N being the sum of what is in the tables.
 *
 * Panes are numbered from the beginning of 1970, or of the stream: so windows in time
 * of several hosts have the same panes, and can be added pane by pane. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "error.h"
#include "format.h"

#define WINDOW_PANES 9

/* -------------------------------------------------------------- life and death */

void sketch_counts_window_plan(struct sketch_pane_window *window)
{
	uint64_t before = WINDOW_PANES - 1, reach = window->length;

	/* The record that has just come is in the current pane; an instant is not. */
	if (window->unit == SKETCH_WINDOW_RECORDS)
		reach--;
	window->span = window->length / before + (window->length % before != 0);
	window->panes = (uint32_t)(1 + reach / window->span + (reach % window->span != 0));
}

/* Whether the panes before the current one reach back as far as they must. */
static bool reaches(const struct sketch_pane_window *window)
{
	uint64_t reach = window->length - (window->unit == SKETCH_WINDOW_RECORDS);

	if (window->panes == 1)
		return reach == 0;
	return window->span >= reach / (window->panes - 1) + (reach % (window->panes - 1) != 0);
}

static enum sketch_status check_window(const struct sketch_pane_window *window,
				       struct sketch_error *error)
{
	if (window->unit != SKETCH_WINDOW_RECORDS && window->unit != SKETCH_WINDOW_NANOSECONDS)
		return error_set(error, SKETCH_RANGE, "window unit %d is unknown",
				 (int)window->unit);
	if (window->length < 1 || window->length > UINT64_C(1) << 62 || window->span < 1 ||
	    window->panes < 1 || window->panes > SKETCH_MAX_PANES || !reaches(window))
		return error_set(error, SKETCH_RANGE,
				 "a window of %" PRIu64 " in %" PRIu32 " panes of %" PRIu64,
				 window->length, window->panes, window->span);
	return SKETCH_OK;
}

enum sketch_status ring_make(struct ring **ring, const struct sketch_pane_window *window,
			     struct sketch_error *error)
{
	enum sketch_status status = check_window(window, error);

	if (status != SKETCH_OK)
		return status;
	*ring = calloc(1, sizeof **ring);
	if (*ring == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	(*ring)->window = *window;
	return SKETCH_OK;
}

void ring_free(struct ring *ring)
{
	for (uint32_t i = 0; ring != NULL && i < ring->window.panes; i++)
		sketch_counts_free(ring->panes[i]);
	free(ring);
}

/* What has the panes, without any yet. */
static enum sketch_status make_holder(struct sketch_counts **counts,
				      const struct sketch_identity *identity,
				      const struct sketch_counts_params *pane,
				      const struct sketch_pane_window *window, uint64_t budget,
				      struct sketch_error *error)
{
	struct sketch_counts *made = calloc(1, sizeof *made);
	enum sketch_status status;

	if (made == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	status = ring_make(&made->ring, window, error);
	if (status != SKETCH_OK) {
		free(made);
		return status;
	}
	made->identity = *identity;
	made->params = *pane;
	made->budget = region_budget(budget);
	*counts = made;
	return SKETCH_OK;
}

/* Of nanoseconds. */
static uint64_t stamp_of(const struct sketch_pane_window *window, uint64_t now)
{
	uint64_t stamp = now / window->span, last = format_last_stamp(window->span);

	return stamp < last ? stamp : last;
}

enum sketch_status sketch_counts_new_window(struct sketch_counts **counts,
					    const struct sketch_identity *identity,
					    const struct sketch_counts_params *pane,
					    const struct sketch_pane_window *window, uint64_t now,
					    uint64_t budget, struct sketch_error *error)
{
	struct sketch_counts *made = NULL;
	enum sketch_status status = make_holder(&made, identity, pane, window, budget, error);

	for (uint32_t i = 0; status == SKETCH_OK && i < window->panes; i++)
		status = sketch_counts_new(&made->ring->panes[i], identity, pane,
					   budget / window->panes, error);
	if (status != SKETCH_OK) {
		sketch_counts_free(made);
		return status;
	}
	made->ring->window.records = 0;
	made->ring->window.stamp =
		window->unit == SKETCH_WINDOW_NANOSECONDS ? stamp_of(window, now) : 0;
	*counts = made;
	return SKETCH_OK;
}

/* --------------------------------------------------------------------- turning */

static void turn_to(struct ring *ring, uint64_t stamp)
{
	struct sketch_pane_window *window = &ring->window;
	uint32_t panes = window->panes;

	/* However long nothing came, no more can be forgotten than there is. */
	for (uint32_t i = 0; i < panes && window->stamp + i < stamp; i++) {
		struct sketch_counts *oldest = ring->panes[0];

		memmove(ring->panes, ring->panes + 1, (panes - 1) * sizeof *ring->panes);
		counts_clear(oldest);
		ring->panes[panes - 1] = oldest;
	}
	/* At the last stamp that a file can have, time goes on and its number stays. */
	window->stamp = stamp < FORMAT_MAX_STAMP ? stamp : FORMAT_MAX_STAMP;
	window->records = 0;
}

void sketch_counts_advance(struct sketch_counts *counts, uint64_t now)
{
	struct ring *ring = counts->ring;

	if (counts_decays(counts) && counts->decay.unit == SKETCH_WINDOW_NANOSECONDS)
		decay_move(&counts->decay, now);
	if (ring != NULL && ring->window.unit == SKETCH_WINDOW_NANOSECONDS &&
	    stamp_of(&ring->window, now) > ring->window.stamp)
		turn_to(ring, stamp_of(&ring->window, now));
}

uint64_t sketch_counts_moment(const struct sketch_counts *counts)
{
	const struct ring *ring = counts->ring;

	if (counts_decays(counts) && counts->decay.unit == SKETCH_WINDOW_NANOSECONDS)
		return counts->decay.now;
	if (ring != NULL && ring->window.unit == SKETCH_WINDOW_NANOSECONDS)
		return ring->window.stamp * ring->window.span;
	return 0;
}

bool sketch_counts_window(const struct sketch_counts *counts, struct sketch_pane_window *window)
{
	if (counts->ring != NULL)
		*window = counts->ring->window;
	return counts->ring != NULL;
}

const struct sketch_counts *sketch_counts_pane(const struct sketch_counts *counts, uint32_t pane)
{
	return counts->ring->panes[pane];
}

/* ---------------------------------------------------------------------- adding */

enum sketch_status ring_add(struct sketch_counts *counts, const struct adding *adding, size_t *done,
			    struct sketch_error *error)
{
	struct ring *ring = counts->ring;
	struct sketch_pane_window *window = &ring->window;
	bool by_records = window->unit == SKETCH_WINDOW_RECORDS;

	*done = 0;
	while (*done < adding->count) {
		struct adding part = *adding;
		enum sketch_status status;
		size_t added;

		if (by_records && window->records == window->span)
			turn_to(ring, window->stamp + 1);
		part.keys += *done;
		part.count -= *done;
		if (by_records && part.count > window->span - window->records)
			part.count = (size_t)(window->span - window->records);
		part.estimates = adding->estimates == NULL ? NULL : adding->estimates + *done;
		part.admitted = adding->admitted == NULL ? NULL : adding->admitted + *done;
		status = counts_add(ring_current(ring), ring, &part, &added, error);
		*done += added;
		if (by_records)
			window->records += added;
		if (status != SKETCH_OK)
			return status;
	}
	return SKETCH_OK;
}

uint64_t ring_other_total(const struct ring *ring)
{
	uint64_t total = 0;

	/* Together with the current one it has 64 bits: more is refused. */
	for (uint32_t i = 0; i + 1 < ring->window.panes; i++)
		total += ring->panes[i]->total;
	return total;
}

/* Keys that the older panes are asked for; the places of their cells are the same in all
 * of them. */
struct asked {
	size_t count;
	const struct sketch_key *keys[COUNTS_BATCH];
	uint64_t cells[COUNTS_CELLS], sums[COUNTS_BATCH];
};

/* Adds what one pane has of them. */
static void sum_pane(const struct sketch_counts *pane, struct asked *asked)
{
	const struct tracked *tracked = &pane->tracked;
	uint32_t d = pane->params.d;
	uint64_t in_cells = 0;

	for (size_t i = 0; i < asked->count && tracked->used > 0; i++)
		tracked_prefetch(tracked, asked->keys[i]->hash);
	for (size_t i = 0; i < asked->count; i++) {
		uint32_t place = tracked->used == 0 ? TRACKED_NONE :
						      tracked_guess(tracked, asked->keys[i]->hash);

		if (place != TRACKED_NONE && !tracked_is(tracked, place, asked->keys[i]))
			place = tracked_find(tracked, asked->keys[i]);
		if (place != TRACKED_NONE) {
			asked->sums[i] += tracked->keys[place].count;
		} else {
			in_cells |= UINT64_C(1) << i;
			counts_prefetch(pane, &asked->cells[i * d]);
		}
	}
	for (; in_cells != 0 && pane->in_table > 0; in_cells &= in_cells - 1) {
		size_t i = (size_t)__builtin_ctzll(in_cells);

		asked->sums[i] += counts_least(pane, &asked->cells[i * d]);
	}
}

/* Older panes do not change while the current one is current.  So they are asked once
 * only for a key that is tracked: most records are of such. */
void ring_before(const struct ring *ring, const struct sketch_key *keys, size_t count,
		 uint64_t tracked, const uint32_t *places, uint64_t *before)
{
	const struct sketch_counts *current = ring_current(ring);
	uint64_t *known = current->tracked.before;
	uint8_t numbers[COUNTS_BATCH];
	struct asked asked;

	asked.count = 0;
	for (size_t i = 0; i < count; i++) {
		before[i] = tracked >> i & 1 ? known[places[i]] : TRACKED_NOT_ASKED;
		if (before[i] != TRACKED_NOT_ASKED)
			continue;
		counts_find_cells(current, keys[i].hash,
				  &asked.cells[asked.count * current->params.d]);
		asked.sums[asked.count] = 0;
		asked.keys[asked.count] = &keys[i];
		numbers[asked.count++] = (uint8_t)i;
	}
	for (uint32_t p = 0; p + 1 < ring->window.panes; p++) {
		if (ring->panes[p]->total > 0)
			sum_pane(ring->panes[p], &asked);
	}
	for (size_t j = 0; j < asked.count; j++) {
		size_t i = numbers[j];

		before[i] = asked.sums[j];
		if (tracked >> i & 1)
			known[places[i]] = before[i];
	}
}

/* ---------------------------------------------------------------------- asking */

/* Adds up what all panes know of a key.  What comes from tables is too high by no more
 * than epsilon times all that is in these tables. */
struct sketch_bounds ring_query(const struct sketch_counts *counts, const struct sketch_key *key)
{
	const struct ring *ring = counts->ring;
	struct sketch_bounds bounds = { 0, 0, true };
	uint64_t estimates = 0, in_tables = 0;
	double slack;

	for (uint32_t p = 0; p < ring->window.panes; p++) {
		const struct sketch_counts *pane = ring->panes[p];
		uint32_t place = tracked_find(&pane->tracked, key);
		uint64_t estimate;

		if (place != TRACKED_NONE) {
			const struct tracked_key *known = &pane->tracked.keys[place];

			bounds.high += known->count;
			bounds.low += known->count - known->error;
			continue;
		}
		estimate = counts_estimate(pane, key->hash);
		bounds.high += estimate;
		bounds.sure = bounds.sure && estimate == 0;
		estimates += estimate;
		in_tables += pane->in_table;
	}
	slack = sketch_counts_epsilon(&counts->params) * (double)in_tables;
	if (slack < (double)estimates)
		bounds.low += estimates - (uint64_t)slack;
	return bounds;
}

/* Whether a pane later than this one tracks the key as well. */
static bool comes_later(const struct ring *ring, uint32_t pane, const struct sketch_key *key)
{
	for (uint32_t p = pane + 1; p < ring->window.panes; p++) {
		if (tracked_find(&ring->panes[p]->tracked, key) != TRACKED_NONE)
			return true;
	}
	return false;
}

/* The bounds of a key that is listed: low is what is known by name alone, to be sure. */
static struct sketch_bounds listed(const struct sketch_counts *counts, const struct sketch_key *key)
{
	struct sketch_bounds bounds = ring_query(counts, key);

	if (bounds.sure)
		return bounds;
	bounds = (struct sketch_bounds){ 0, bounds.high, true };
	for (uint32_t p = 0; p < counts->ring->window.panes; p++) {
		const struct tracked *tracked = &counts->ring->panes[p]->tracked;
		uint32_t place = tracked_find(tracked, key);

		if (place != TRACKED_NONE)
			bounds.low += tracked->keys[place].count - tracked->keys[place].error;
	}
	return bounds;
}

static int by_weight(const void *a, const void *b)
{
	const struct sketch_heavy *p = a, *q = b;
	size_t common = p->stored < q->stored ? p->stored : q->stored;
	int order;

	if (p->bounds.high != q->bounds.high)
		return p->bounds.high > q->bounds.high ? -1 : 1;
	order = memcmp(p->data, q->data, common);
	if (order != 0)
		return order;
	return p->length < q->length ? -1 : p->length > q->length;
}

/* Goes through the keys that any pane tracks, each once; `list` may be NULL. */
static size_t collect(const struct sketch_counts *counts, struct sketch_heavy *list)
{
	const struct ring *ring = counts->ring;
	size_t used = 0;

	for (uint32_t p = 0; p < ring->window.panes; p++) {
		const struct tracked *tracked = &ring->panes[p]->tracked;

		for (size_t i = 0; i < tracked->used; i++) {
			const struct tracked_key *one = &tracked->keys[i];
			struct sketch_key key = { one->stored, (size_t)one->length, one->hash, 0 };

			if (comes_later(ring, p, &key))
				continue;
			if (list != NULL)
				list[used] = (struct sketch_heavy){ one->stored, one->stored_length,
								    (size_t)one->length,
								    listed(counts, &key) };
			used++;
		}
	}
	return used;
}

size_t ring_top(const struct sketch_counts *counts, struct sketch_heavy *heavy, size_t room)
{
	size_t used = collect(counts, NULL);
	struct sketch_heavy *list;

	if (used == 0 || room == 0)
		return used;
	list = malloc(used * sizeof *list);
	if (list == NULL)
		return SIZE_MAX;
	(void)collect(counts, list);
	qsort(list, used, sizeof *list, by_weight);
	memcpy(heavy, list, (used < room ? used : room) * sizeof *heavy);
	free(list);
	return used;
}

void ring_state(const struct sketch_counts *counts, struct sketch_counts_state *state)
{
	struct sketch_counts_state all = { .exact = true };

	for (uint32_t p = 0; p < counts->ring->window.panes; p++) {
		struct sketch_counts_state pane;

		sketch_counts_state(counts->ring->panes[p], &pane);
		all.total += pane.total;
		all.in_table += pane.in_table;
		all.floor += pane.floor;
		all.exact = all.exact && pane.exact;
		all.cell_bits = pane.cell_bits > all.cell_bits ? pane.cell_bits : all.cell_bits;
		all.bytes += pane.bytes;
	}
	all.tracked = collect(counts, NULL);
	*state = all;
}

/* ----------------------------------------------------------------------- union */

enum sketch_status ring_compatible(const struct ring *a, const struct ring *b,
				   struct sketch_error *error)
{
	const struct sketch_pane_window *p = &a->window, *q = &b->window;

	const enum sketch_window_unit units[] = { p->unit, q->unit };

	if (p->unit != q->unit || p->length != q->length)
		return counts_spans_differ(error, "window", units,
					   (const uint64_t[]){ p->length, q->length });
	if (p->span != q->span)
		return counts_spans_differ(error, "span of a pane", units,
					   (const uint64_t[]){ p->span, q->span });
	if (p->panes != q->panes)
		return error_differ(error, "number of panes", p->panes, q->panes);
	if (p->unit == SKETCH_WINDOW_RECORDS)
		return error_set(error, SKETCH_MISMATCH,
				 "window of records: the last of two streams are not the last of "
				 "both; windows of time can be merged");
	return SKETCH_OK;
}

/* The pane of a stamp, or NULL where it is forgotten or was not yet: that wraps around. */
static const struct sketch_counts *pane_at(const struct ring *ring, uint64_t stamp)
{
	uint64_t back = ring->window.stamp - stamp;

	return back >= ring->window.panes ? NULL : ring->panes[ring->window.panes - 1 - back];
}

/* Adds up the panes of the same stamps, those of the later of the two. */
static enum sketch_status sum_panes(struct ring *made, const struct ring *a, const struct ring *b,
				    const struct sketch_counts *none, struct sketch_error *error)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < made->window.panes; i++) {
		uint64_t stamp = made->window.stamp - (made->window.panes - 1 - i);
		const struct sketch_counts *one = pane_at(a, stamp), *other = pane_at(b, stamp);
		enum sketch_status status;

		one = one == NULL ? none : one;
		other = other == NULL ? none : other;
		if (__builtin_add_overflow(total, one->total, &total) ||
		    __builtin_add_overflow(total, other->total, &total))
			return error_set(error, SKETCH_RANGE,
					 "the total of all counts would exceed 2^64 - 1");
		status = counts_sum(&made->panes[i], one, other, error);
		if (status != SKETCH_OK)
			return status;
	}
	return SKETCH_OK;
}

enum sketch_status ring_sum(struct sketch_counts **sum, const struct sketch_counts *a,
			    const struct sketch_counts *b, struct sketch_error *error)
{
	struct sketch_pane_window window = a->ring->window;
	struct sketch_counts_params params = a->params;
	struct sketch_counts *made = NULL, *none = NULL;
	enum sketch_status status;

	if (b->ring->window.stamp > window.stamp)
		window.stamp = b->ring->window.stamp;
	if (b->params.tracked > params.tracked)
		params.tracked = b->params.tracked;
	status = make_holder(&made, &a->identity, &params, &window, a->budget, error);
	if (status == SKETCH_OK)
		status = sketch_counts_new(&none, &a->identity, &params,
					   ring_current(a->ring)->budget, error);
	if (status == SKETCH_OK)
		status = sum_panes(made->ring, a->ring, b->ring, none, error);
	sketch_counts_free(none);
	if (status != SKETCH_OK) {
		sketch_counts_free(made);
		return status;
	}
	*sum = made;
	return SKETCH_OK;
}
