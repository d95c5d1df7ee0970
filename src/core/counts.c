/* counts.c - how often was a key seen?
 *
 * A count-min sketch (Cormode and Muthukrishnan, "An improved data stream
 * summary: the count-min sketch and its applications", 2005) is d rows of w
 * counters.  A key has one counter in each row; others share it, so no counter
 * is below the key's count, and the least of them is the estimate.
 *
 *       "History of Japan", twice      (1,1) (2,2) (1,3)    as (column, row)
 *       "European history", once       (1,1) (3,2) (2,3)
 *
 *     row 1    3  0  0           History of Japan: min(3, 2, 2) = 2
 *     row 2    0  2  1           European history: min(3, 1, 1) = 1
 *     row 3    2  1  0           "hello" at (1,1) (3,2) (1,3): min(3, 1, 2) = 1
 *
 * Conservative update (Estan and Varghese, "New directions in traffic
 * measurement and accounting", 2002) raises a counter only as far as the new
 * estimate of the key asks for: what is higher already was raised by others.
 *
 * The heaviest keys are kept by name beside the table and do not touch it, which
 * makes their counts exact and spares the others their collisions (Roy, Khan and
 * Alonso, "Augmented sketch: faster and more accurate stream processing", 2016).
 * As long as all keys fit there, everything is exact.  Then a key whose
 * estimate exceeds the least count of those kept takes that one's place.  Of a kept
 * key,
 *
 *     count           is not below the truth: the estimate at which it came in,
 *                     and all since;
 *     count - error   is not above it: what was seen since; and this is what the
 *                     table does not know, so it is put there when the key goes.
 *
 * A key that is not kept had, when it was last seen, an estimate not above the
 * least count then, which never falls: so any key above the least count now is
 * among those kept.  */
#include "counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "duration.h"
#include "endian.h"
#include "error.h"
#include "identity.h"
#include "portable.h"
#include "positions.h"

/* -------------------------------------------------------------------- sizing */

#define EULER 2.718281828459045

enum sketch_status sketch_counts_plan(double epsilon, double delta,
				      struct sketch_counts_params *params,
				      struct sketch_error *error)
{
	double rows, cells;

	if (!(epsilon > 0 && epsilon < 1))
		return error_set(error, SKETCH_RANGE, "epsilon = %g is not between 0 and 1",
				 epsilon);
	if (!(delta > 0 && delta < 1))
		return error_set(error, SKETCH_RANGE, "delta = %g is not between 0 and 1", delta);
	cells = EULER / epsilon;
	if (cells >= 1e18)
		return error_set(error, SKETCH_UNREACHABLE, "epsilon = %g needs %g cells a row",
				 epsilon, cells);
	rows = -portable_log(delta);
	if (rows > SKETCH_MAX_DEPTH)
		return error_set(error, SKETCH_UNREACHABLE, "delta = %g needs more than %d rows",
				 delta, SKETCH_MAX_DEPTH);
	params->w = (uint64_t)cells + ((double)(uint64_t)cells < cells);
	params->d = (uint32_t)rows + ((double)(uint32_t)rows < rows);
	return SKETCH_OK;
}

double sketch_counts_epsilon(const struct sketch_counts_params *params)
{
	return EULER / (double)params->w;
}

double sketch_counts_delta(const struct sketch_counts_params *params)
{
	return portable_exp(-(double)params->d);
}

uint64_t counts_bytes(const struct sketch_counts_params *params, bool wide)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(params->w, (uint64_t)params->d, &bytes) ||
	    __builtin_mul_overflow(bytes, wide ? 8 : 4, &bytes))
		return UINT64_MAX;
	return bytes;
}

enum sketch_status counts_check(const struct sketch_counts_params *params,
				struct sketch_error *error)
{
	if (params->update != SKETCH_CONSERVATIVE && params->update != SKETCH_PLAIN)
		return error_set(error, SKETCH_RANGE, "update rule %d is unknown",
				 (int)params->update);
	if (params->d < 1 || params->d > SKETCH_MAX_DEPTH)
		return error_set(error, SKETCH_RANGE, "d = %" PRIu32 " is out of range (1 to %d)",
				 params->d, SKETCH_MAX_DEPTH);
	if (params->w < 1)
		return error_set(error, SKETCH_RANGE, "w = 0 is out of range");
	if (params->tracked > TRACKED_MOST ||
	    (params->update == SKETCH_PLAIN && params->tracked > 0))
		return error_set(error, SKETCH_RANGE,
				 "%" PRIu64 " tracked keys are out of range (0 to %" PRIu64 ")",
				 params->tracked,
				 params->update == SKETCH_PLAIN ? 0 : TRACKED_MOST);
	return SKETCH_OK;
}

/* ------------------------------------------------------------ life and death */

static enum sketch_status make(struct sketch_counts **counts,
			       const struct sketch_identity *identity,
			       const struct sketch_counts_params *params, bool wide,
			       uint64_t budget, struct sketch_error *error)
{
	enum sketch_status status = counts_check(params, error);
	uint64_t bytes = counts_bytes(params, wide), all;
	struct sketch_counts *made;

	if (status != SKETCH_OK)
		return status;
	status = identity_check_single(identity, error);
	if (status != SKETCH_OK)
		return status;
	if (__builtin_add_overflow(bytes, params->tracked * sizeof(struct tracked_key), &all))
		all = UINT64_MAX;
	budget = region_budget(budget);
	if (all > budget)
		return error_set(error, SKETCH_NO_MEMORY,
				 "%" PRIu32 " rows of %" PRIu64 " cells need %" PRIu64
				 "%s bytes of memory, and %" PRIu64 " are to be had",
				 params->d, params->w, all, all == UINT64_MAX ? " or more" : "",
				 budget);
	made = calloc(1, sizeof *made);
	if (made == NULL || !tracked_make(&made->tracked, (size_t)params->tracked)) {
		free(made);
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	}
	made->identity = *identity;
	made->params = *params;
	made->budget = budget;
	made->wide = wide;
	if (!region_new(&made->cells, (size_t)bytes)) {
		sketch_counts_free(made);
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	}
	*counts = made;
	return SKETCH_OK;
}

enum sketch_status sketch_counts_new(struct sketch_counts **counts,
				     const struct sketch_identity *identity,
				     const struct sketch_counts_params *params, uint64_t budget,
				     struct sketch_error *error)
{
	return make(counts, identity, params, false, budget, error);
}

static enum sketch_status check_decay(const struct sketch_counts_params *params,
				      const struct sketch_decay *decay, struct sketch_error *error)
{
	if (params->update != SKETCH_CONSERVATIVE)
		return error_set(error, SKETCH_RANGE,
				 "a plain table does not decay: rounded counts do not add up");
	if (decay->unit != SKETCH_WINDOW_RECORDS && decay->unit != SKETCH_WINDOW_NANOSECONDS)
		return error_set(error, SKETCH_RANGE, "decay unit %d is unknown", (int)decay->unit);
	if (decay->half_life < 1 || decay->half_life > UINT64_C(1) << 62 ||
	    decay->now > (uint64_t)INT64_MAX)
		return error_set(error, SKETCH_RANGE, "half-life or moment is out of range");
	return SKETCH_OK;
}

enum sketch_status sketch_counts_new_decay(struct sketch_counts **counts,
					   const struct sketch_identity *identity,
					   const struct sketch_counts_params *params,
					   const struct sketch_decay *decay, uint64_t budget,
					   struct sketch_error *error)
{
	enum sketch_status status = check_decay(params, decay, error);
	struct sketch_counts *made = NULL;

	if (status == SKETCH_OK)
		status = make(&made, identity, params, true, budget, error);
	if (status != SKETCH_OK)
		return status;
	if (!decay_make(&made->decay, decay)) {
		sketch_counts_free(made);
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	}
	*counts = made;
	return SKETCH_OK;
}

void sketch_counts_free(struct sketch_counts *counts)
{
	if (counts == NULL)
		return;
	ring_free(counts->ring);
	decay_free(&counts->decay);
	tracked_free(&counts->tracked);
	region_free(&counts->cells);
	free(counts);
}

void counts_clear(struct sketch_counts *counts)
{
	/* A table that was widened has room to spare, and is as a new one. */
	if (counts->in_table > 0)
		memset(counts->cells.data, 0, (size_t)counts_bytes(&counts->params, counts->wide));
	counts->wide = false;
	counts->total = counts->in_table = counts->floor = 0;
	tracked_clear(&counts->tracked);
}

const struct sketch_identity *sketch_counts_identity(const struct sketch_counts *counts)
{
	return &counts->identity;
}

const struct sketch_counts_params *sketch_counts_params(const struct sketch_counts *counts)
{
	return &counts->params;
}

uint64_t sketch_counts_records(const struct sketch_counts *counts)
{
	return counts->records;
}

void sketch_counts_set_records(struct sketch_counts *counts, uint64_t records)
{
	counts->records = records;
}

/* --------------------------------------------------------------------- cells */

static inline uint64_t cell_get(const struct sketch_counts *counts, uint64_t cell)
{
	return counts->wide ? load_u64(counts->cells.data + 8 * cell) :
			      load_u32(counts->cells.data + 4 * cell);
}

static inline void cell_set(struct sketch_counts *counts, uint64_t cell, uint64_t value)
{
	if (counts->wide)
		store_u64(counts->cells.data + 8 * cell, value);
	else
		store_u32(counts->cells.data + 4 * cell, (uint32_t)value);
}

static inline uint64_t cell_of(const struct sketch_counts *counts, struct sketch_hash hash,
			       uint32_t row)
{
	uint64_t w = counts->params.w;

	return row * w + positions_below(positions_u(hash, row), w);
}

static inline void find_cells(const struct sketch_counts *counts, struct sketch_hash hash,
			      uint64_t *cells)
{
	uint32_t row = 0;

	do {
		cells[row] = cell_of(counts, hash, row);
	} while (++row < counts->params.d);
}

static inline uint64_t least_of(const struct sketch_counts *counts, const uint64_t *cells)
{
	uint64_t least = cell_get(counts, cells[0]);

	for (uint32_t row = 1; row < counts->params.d; row++) {
		uint64_t value = cell_get(counts, cells[row]);

		least = value < least ? value : least;
	}
	return least;
}

/* Makes all cells 64 bits wide; false where that memory is not to be had. */
static bool widen(struct sketch_counts *counts)
{
	uint64_t cells = counts->params.w * counts->params.d;
	struct region wide;

	if (counts_bytes(&counts->params, true) > counts->budget ||
	    !region_new(&wide, (size_t)(8 * cells)))
		return false;
	for (uint64_t i = 0; i < cells; i++)
		store_u64(wide.data + 8 * i, load_u32(counts->cells.data + 4 * i));
	region_free(&counts->cells);
	counts->cells = wide;
	counts->wide = true;
	return true;
}

/* Whether every cell can hold the value. */
static bool make_wide_enough(struct sketch_counts *counts, uint64_t value)
{
	return counts->wide || value <= UINT32_MAX || widen(counts);
}

/* Adds a weight to a key's cells; *estimate is what the least of them was before
 * and becomes what it is now. */
static inline bool add_to_cells(struct sketch_counts *counts, const uint64_t *cells,
				uint64_t weight, uint64_t *estimate)
{
	uint64_t target = *estimate + weight, most = target;

	/* No sum here can overflow: no cell exceeds the total of all weights. */
	if (counts->params.update == SKETCH_PLAIN) {
		for (uint32_t row = 0; row < counts->params.d; row++) {
			uint64_t sum = cell_get(counts, cells[row]) + weight;

			most = sum > most ? sum : most;
		}
	}
	if (!make_wide_enough(counts, most))
		return false;
	for (uint32_t row = 0; row < counts->params.d; row++) {
		uint64_t value = cell_get(counts, cells[row]);

		if (counts->params.update == SKETCH_PLAIN)
			cell_set(counts, cells[row], value + weight);
		else if (value < target)
			cell_set(counts, cells[row], target);
	}
	counts->in_table += weight;
	*estimate = target;
	return true;
}

/* Of counts that decay a key's cells may be below its count by what was rounded since
 * it came. */
static void raise_cells(struct sketch_counts *counts, const uint64_t *cells, uint64_t target)
{
	for (uint32_t row = 0; row < counts->params.d; row++) {
		if (cell_get(counts, cells[row]) < target)
			cell_set(counts, cells[row], target);
	}
}

/* Puts into the table what it does not know of a tracked key. */
static bool put_back(struct sketch_counts *counts, const struct tracked_key *key)
{
	uint64_t cells[SKETCH_MAX_DEPTH], unknown = key->count - key->error, now;

	find_cells(counts, key->hash, cells);
	now = least_of(counts, cells);
	if (!add_to_cells(counts, cells, unknown, &now))
		return false;
	if (counts_decays(counts))
		raise_cells(counts, cells, key->count);
	return true;
}

/* ---------------------------------------------------------------------- decay */

/* Moves the landmark to the last one before now, so that weights have room again.
 * What is known by name is rounded down; the table answers for the rest of the
 * total, which is rounded up. */
static void lift(struct sketch_counts *counts, uint64_t doublings)
{
	uint64_t cells = counts->params.w * counts->params.d;

	for (uint64_t i = 0; i < cells && counts->in_table > 0; i++)
		cell_set(counts, i, decay_halved(cell_get(counts, i), doublings));
	counts->total = decay_halved(counts->total, doublings);
	counts->floor = decay_halved(counts->floor, doublings);
	counts->in_table = counts->total - tracked_halve(&counts->tracked, doublings);
	decay_lift(&counts->decay, doublings);
}

/* The weight in units now; false where the total has no room for it. */
static bool weigh(struct sketch_counts *counts, uint64_t weight, uint64_t *units)
{
	struct decay *decay = &counts->decay;

	if (decay->unit == SKETCH_WINDOW_RECORDS)
		decay_move(decay, decay->now + 1);
	if (decay_weigh(decay, weight, units) && *units <= UINT64_MAX - counts->total)
		return true;
	lift(counts, decay->doublings);
	return decay_weigh(decay, weight, units) && *units <= UINT64_MAX - counts->total;
}

/* ---------------------------------------------------------------------- adding */

/* Gives the place of the least tracked key to another, whose cells say `estimate`:
 * what the table does not know of the one that goes is put there. */
static bool take_place(struct sketch_counts *counts, uint32_t place, const struct sketch_key *key,
		       uint64_t estimate)
{
	return put_back(counts, &counts->tracked.keys[place]) &&
	       tracked_replace(&counts->tracked, place, key, estimate + key->weight, estimate);
}

/* Adds a key that is not tracked; its cells are given.  *changed becomes true where it
 * is tracked from now on. */
static bool add_untracked(struct sketch_counts *counts, const struct sketch_key *key,
			  const uint64_t *cells, uint64_t *estimate, bool *changed)
{
	struct tracked *tracked = &counts->tracked;
	uint64_t known = least_of(counts, cells), sum = known + key->weight;

	*estimate = sum;
	if (key->weight == 0)
		return true;
	if (tracked->used < tracked->capacity) {
		*changed = tracked_insert(tracked, key, sum, known);
		return *changed;
	}
	if (tracked->capacity > 0 && sum > tracked->heap[0].count) {
		uint32_t place = tracked_least(tracked);

		if (sum > tracked->keys[place].count) {
			*changed = true;
			return take_place(counts, place, key, known);
		}
	}
	*estimate = known;
	return add_to_cells(counts, cells, key->weight, estimate);
}

/* A batch being added: bit i of `tracked` is whether key i is tracked, at places[i];
 * else its cells are cells[i d] to cells[i d + d - 1]. */
struct batch {
	const struct sketch_key *keys;
	size_t count;
	uint64_t *estimates;
	uint64_t tracked;
	uint32_t places[COUNTS_BATCH];
	uint64_t cells[COUNTS_CELLS];
};

/* Looks all keys up.  Whether a key is tracked is as good as random to the processor,
 * so that is a bit and not a branch; keys are then taken by sort. */
static void look_up(const struct sketch_counts *counts, struct batch *batch)
{
	const struct tracked *tracked = &counts->tracked;
	uint64_t guessed = 0;

	batch->tracked = 0;
	if (tracked->used == 0)
		return;
	for (size_t i = 0; i < batch->count; i++)
		tracked_prefetch(tracked, batch->keys[i].hash);
	for (size_t i = 0; i < batch->count; i++) {
		uint32_t place = tracked_guess(tracked, batch->keys[i].hash);

		batch->places[i] = place;
		guessed |= (uint64_t)(place != TRACKED_NONE) << i;
	}
	batch->tracked = guessed;
	for (; guessed != 0; guessed &= guessed - 1) {
		size_t i = (size_t)__builtin_ctzll(guessed);

		if (tracked_is(tracked, batch->places[i], &batch->keys[i]))
			continue;
		batch->places[i] = tracked_find(tracked, &batch->keys[i]);
		if (batch->places[i] == TRACKED_NONE)
			batch->tracked &= ~(UINT64_C(1) << i);
	}
}

/* Finds the cells of the keys of a batch that are not tracked, and asks the processor
 * for them. */
static inline __attribute__((always_inline)) void
find_batch_cells(const struct sketch_counts *counts, struct batch *batch, uint32_t d)
{
	uint64_t left = bits_below(batch->count) & ~batch->tracked;
	unsigned int width = counts->wide ? 8 : 4;

	for (; left != 0; left &= left - 1) {
		size_t i = (size_t)__builtin_ctzll(left);
		uint64_t *cells = &batch->cells[i * d];

		for (uint32_t row = 0; row < d; row++) {
			cells[row] = cell_of(counts, batch->keys[i].hash, row);
			__builtin_prefetch(counts->cells.data + cells[row] * width, 1);
		}
	}
}

/* Adds to the tracked keys among those that `of` names. */
static void add_tracked(struct sketch_counts *counts, struct batch *batch, uint64_t of)
{
	for (of &= batch->tracked; of != 0; of &= of - 1) {
		size_t i = (size_t)__builtin_ctzll(of);
		struct tracked_key *known = &counts->tracked.keys[batch->places[i]];

		known->count += batch->keys[i].weight;
		if (batch->estimates != NULL)
			batch->estimates[i] = known->count;
	}
}

/* Adds a key to its cells where that is all there is to do: they have 32 bits and keep
 * them, and the sum is not above `most`. */
static inline __attribute__((always_inline)) bool add_narrow(struct sketch_counts *counts,
							     const uint64_t *cells, uint32_t d,
							     bool plain, uint64_t weight,
							     uint64_t most, uint64_t *estimate)
{
	uint8_t *data = counts->cells.data;
	uint32_t values[SKETCH_MAX_DEPTH], least = UINT32_MAX, highest = 0, target;

	for (uint32_t row = 0; row < d; row++) {
		values[row] = load_u32(data + 4 * cells[row]);
		least = values[row] < least ? values[row] : least;
		highest = values[row] > highest ? values[row] : highest;
	}
	if (weight > most || (plain ? highest : least) > most - weight)
		return false;
	target = least + (uint32_t)weight;
	for (uint32_t row = 0; row < d; row++) {
		uint32_t raised = values[row] > target ? values[row] : target;

		store_u32(data + 4 * cells[row], plain ? values[row] + (uint32_t)weight : raised);
	}
	counts->in_table += weight;
	*estimate = target;
	return true;
}

/* The highest sum that add_narrow may make: where all places of tracked keys are taken,
 * what the least of them surely has. */
static bool narrow_most(const struct sketch_counts *counts, uint64_t *most)
{
	const struct tracked *tracked = &counts->tracked;

	*most = UINT32_MAX;
	if (counts->wide || tracked->used < tracked->capacity)
		return false;
	if (tracked->capacity > 0 && tracked->heap[0].count < UINT32_MAX)
		*most = tracked->heap[0].count;
	return true;
}

/* Adds the keys of a batch up to the first that changes which ones are tracked, and with
 * it.  To the others the order between tracked and untracked keys is all the same, so the
 * untracked ones go first; only what may take the place of the least tracked key must
 * know all counts before it.  *done becomes the number added. */
static inline __attribute__((always_inline)) bool add_looked_up(struct sketch_counts *counts,
								struct batch *batch, uint32_t d,
								bool plain, size_t *done)
{
	uint64_t left = bits_below(batch->count) & ~batch->tracked, added = 0, most;
	bool narrow = narrow_most(counts, &most), changed = false;

	for (; left != 0 && !changed; left &= left - 1) {
		size_t i = (size_t)__builtin_ctzll(left);
		const struct sketch_key *key = &batch->keys[i];
		const uint64_t *cells = &batch->cells[i * d];
		uint64_t estimate;

		if (!narrow || !add_narrow(counts, cells, d, plain, key->weight, most, &estimate)) {
			add_tracked(counts, batch, bits_below(i) & ~added);
			added = bits_below(i);
			*done = i;
			if (!add_untracked(counts, key, cells, &estimate, &changed))
				return false;
			narrow = narrow_most(counts, &most);
		}
		if (batch->estimates != NULL)
			batch->estimates[i] = estimate;
		*done = i + 1;
	}
	if (!changed)
		*done = batch->count;
	add_tracked(counts, batch, bits_below(*done) & ~added);
	return true;
}

/* As many of the keys, which were looked up, as are worth a batch; the usual numbers of
 * rows are constants to the compiler. */
static bool add_batch(struct sketch_counts *counts, struct batch *batch, size_t *done)
{
	uint32_t d = counts->params.d;
	bool plain = counts->params.update == SKETCH_PLAIN;

	if (d == 3 && !plain) {
		find_batch_cells(counts, batch, 3);
		return add_looked_up(counts, batch, 3, false, done);
	}
	find_batch_cells(counts, batch, d);
	return plain ? add_looked_up(counts, batch, d, true, done) :
		       add_looked_up(counts, batch, d, false, done);
}

static uint64_t in_ones(const struct sketch_counts *counts, uint64_t count)
{
	return counts_decays(counts) ? decay_high(&counts->decay, count) : count;
}

static enum sketch_status refuse_total(const struct sketch_counts *counts,
				       struct sketch_error *error)
{
	return error_set(error, SKETCH_RANGE, "the total of all counts would exceed %s",
			 counts_decays(counts) ? "the most that can decay, 2^43 to 2^44" :
						 "2^64 - 1");
}

/* Looks again for key i where an earlier one may have changed who is tracked. */
static bool find_again(const struct sketch_counts *counts, struct batch *batch, size_t i)
{
	uint64_t bit = UINT64_C(1) << i;

	if (batch->tracked & bit && tracked_is(&counts->tracked, batch->places[i], &batch->keys[i]))
		return true;
	batch->places[i] = tracked_find(&counts->tracked, &batch->keys[i]);
	if (batch->places[i] != TRACKED_NONE)
		return true;
	if (batch->tracked & bit)
		find_cells(counts, batch->keys[i].hash, &batch->cells[i * counts->params.d]);
	return false;
}

/* Adds key i, if that is admitted; `before` is what older panes have of it. */
static enum sketch_status add_single(struct sketch_counts *counts, struct batch *batch, size_t i,
				     const struct adding *adding, uint64_t others, uint64_t before,
				     bool *admitted, struct sketch_error *error)
{
	uint64_t *cells = &batch->cells[i * counts->params.d], total, known, estimate;
	bool tracked = find_again(counts, batch, i), changed;
	struct sketch_key key = batch->keys[i];

	if (counts_decays(counts) && !weigh(counts, key.weight, &key.weight))
		return refuse_total(counts, error);
	if (__builtin_add_overflow(counts->total, key.weight, &total) ||
	    total > UINT64_MAX - others)
		return refuse_total(counts, error);
	known = tracked ? counts->tracked.keys[batch->places[i]].count : least_of(counts, cells);
	estimate = known + key.weight;
	*admitted = adding->admitted == NULL || in_ones(counts, before + estimate) <= adding->limit;
	if (!*admitted)
		return SKETCH_OK;
	if (tracked)
		counts->tracked.keys[batch->places[i]].count = estimate;
	else if (!add_untracked(counts, &key, cells, &estimate, &changed))
		return error_set(error, SKETCH_NO_MEMORY, "out of memory for %s",
				 "wider cells or a longer key");
	counts->total = total;
	if (batch->estimates != NULL)
		batch->estimates[i] = in_ones(counts, before + estimate);
	return SKETCH_OK;
}

/* One key after the other: where not all may be admitted, or each weighs what its moment
 * says. */
static enum sketch_status add_singly(struct sketch_counts *counts, struct batch *batch,
				     const struct adding *adding, uint64_t others,
				     const uint64_t *before, size_t *done,
				     struct sketch_error *error)
{
	find_batch_cells(counts, batch, counts->params.d);
	for (size_t i = 0; i < batch->count; i++) {
		bool admitted;
		enum sketch_status status =
			add_single(counts, batch, i, adding, others, before[i], &admitted, error);

		if (status != SKETCH_OK)
			return status;
		if (adding->admitted != NULL)
			adding->admitted[*done] = admitted;
		*done += 1;
	}
	return SKETCH_OK;
}

/* The number of keys, at most `count`, whose weights the total can take; `others` are
 * part of it, too. */
static size_t within_total(const struct sketch_counts *counts, uint64_t others,
			   const struct sketch_key *keys, size_t count)
{
	uint64_t total = counts->total + others;

	for (size_t i = 0; i < count; i++) {
		if (__builtin_add_overflow(total, keys[i].weight, &total))
			return i;
	}
	return count;
}

/* Adds a batch, or the first keys of it, all at once. */
static enum sketch_status add_together(struct sketch_counts *counts, struct batch *batch,
				       uint64_t others, const uint64_t *before, size_t *done,
				       struct sketch_error *error)
{
	size_t added = 0;
	bool good;

	batch->count = within_total(counts, others, batch->keys, batch->count);
	if (batch->count == 0)
		return refuse_total(counts, error);
	good = add_batch(counts, batch, &added);
	for (size_t i = 0; i < added; i++)
		counts->total += batch->keys[i].weight;
	for (size_t i = 0; i < added && others > 0 && batch->estimates != NULL; i++)
		batch->estimates[i] += before[i];
	*done += added;
	if (!good)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory for %s",
				 "wider cells or a longer key");
	return SKETCH_OK;
}

enum sketch_status counts_add(struct sketch_counts *counts, const struct ring *ring,
			      const struct adding *adding, size_t *done, struct sketch_error *error)
{
	uint64_t others = ring == NULL ? 0 : ring_other_total(ring), before[COUNTS_BATCH] = { 0 };
	bool singly = counts_decays(counts) || adding->admitted != NULL;
	bool asks = others > 0 && (adding->estimates != NULL || adding->admitted != NULL);
	size_t most = COUNTS_CELLS / counts->params.d, step, known = 0; /* of before */
	struct batch batch;

	if (most > COUNTS_BATCH)
		most = COUNTS_BATCH;
	step = most;
	*done = 0;
	while (*done < adding->count) {
		size_t from = *done, left = adding->count - from, count;
		enum sketch_status status;

		batch.keys = adding->keys + from;
		batch.estimates = adding->estimates == NULL ? NULL : adding->estimates + from;
		batch.count = count = left < step ? left : step;
		look_up(counts, &batch);
		/* What older panes have does not depend on what was added since. */
		if (asks && count > known) {
			ring_before(ring, batch.keys + known, count - known, batch.tracked >> known,
				    batch.places + known, before + known);
			known = count;
		}
		status = singly ? add_singly(counts, &batch, adding, others, before, done, error) :
				  add_together(counts, &batch, others, before, done, error);
		if (status != SKETCH_OK)
			return status;
		known -= known < *done - from ? known : *done - from;
		memmove(before, before + (*done - from), known * sizeof *before);
		/* Where many keys change places, little is looked up in vain. */
		step = *done - from < count ? COUNTS_BATCH / 8 : 2 * step;
		step = step < most ? step : most;
	}
	return SKETCH_OK;
}

enum sketch_status sketch_counts_add(struct sketch_counts *counts, const struct sketch_key *keys,
				     size_t count, uint64_t *estimates, size_t *done,
				     struct sketch_error *error)
{
	const struct adding adding = { keys, count, estimates, NULL, 0 };

	return counts->ring != NULL ? ring_add(counts, &adding, done, error) :
				      counts_add(counts, NULL, &adding, done, error);
}

enum sketch_status sketch_counts_admit(struct sketch_counts *counts, const struct sketch_key *keys,
				       size_t count, uint64_t limit, bool *admitted,
				       uint64_t *estimates, size_t *done,
				       struct sketch_error *error)
{
	const struct adding adding = { keys, count, estimates, admitted, limit };

	return counts->ring != NULL ? ring_add(counts, &adding, done, error) :
				      counts_add(counts, NULL, &adding, done, error);
}

/* -------------------------------------------------------------------- asking */

void counts_find_cells(const struct sketch_counts *counts, struct sketch_hash hash, uint64_t *cells)
{
	find_cells(counts, hash, cells);
}

void counts_prefetch(const struct sketch_counts *counts, const uint64_t *cells)
{
	for (uint32_t row = 0; row < counts->params.d; row++)
		__builtin_prefetch(counts->cells.data + cells[row] * (counts->wide ? 8 : 4));
}

uint64_t counts_least(const struct sketch_counts *counts, const uint64_t *cells)
{
	return least_of(counts, cells);
}

uint64_t counts_estimate(const struct sketch_counts *counts, struct sketch_hash hash)
{
	uint64_t cells[SKETCH_MAX_DEPTH];

	find_cells(counts, hash, cells);
	return least_of(counts, cells);
}

/* In the table's own units. */
static struct sketch_bounds bounds_of(const struct sketch_counts *counts,
				      const struct sketch_key *key)
{
	uint32_t place = tracked_find(&counts->tracked, key);
	struct sketch_bounds bounds = { 0, 0, true };
	double slack;

	if (place != TRACKED_NONE) {
		const struct tracked_key *known = &counts->tracked.keys[place];

		bounds.high = known->count;
		bounds.low = known->count - known->error;
		return bounds;
	}
	bounds.high = counts_estimate(counts, key->hash);
	if (bounds.high == 0)
		return bounds;
	slack = sketch_counts_epsilon(&counts->params) * (double)counts->in_table;
	/* Cells are rounded up each time that they are halved: by two units at the most in
	 * all, for what was rounded up before is halved as well. */
	if (counts_decays(counts))
		slack += 2;
	bounds.sure = false;
	/* What a count is too high by is a whole number. */
	if (slack < (double)bounds.high)
		bounds.low = bounds.high - (uint64_t)slack;
	return bounds;
}

static struct sketch_bounds bounds_now(const struct sketch_counts *counts,
				       struct sketch_bounds bounds)
{
	if (!counts_decays(counts))
		return bounds;
	return (struct sketch_bounds){ decay_low(&counts->decay, bounds.low),
				       decay_high(&counts->decay, bounds.high), bounds.sure };
}

struct sketch_bounds sketch_counts_query(const struct sketch_counts *counts,
					 const struct sketch_key *key)
{
	if (counts->ring != NULL)
		return ring_query(counts, key);
	return bounds_now(counts, bounds_of(counts, key));
}

static uint64_t floor_now(const struct sketch_counts *counts)
{
	const struct tracked *tracked = &counts->tracked;
	uint64_t least = UINT64_MAX;

	if (tracked->capacity == 0)
		return counts->total;
	if (tracked->used < tracked->capacity)
		return counts->floor;
	for (size_t i = 0; i < tracked->used; i++)
		least = tracked->keys[i].count < least ? tracked->keys[i].count : least;
	return least > counts->floor ? least : counts->floor;
}

/* Whether no key was ever left out.  Of counts that decay the table answers for what
 * was rounded, without having been touched. */
static bool is_exact(const struct sketch_counts *counts)
{
	uint64_t cells = counts->params.w * counts->params.d;

	if (counts->floor > 0 || (counts->in_table > 0 && !counts_decays(counts)))
		return false;
	for (uint64_t i = 0; i < cells && counts->in_table > 0; i++) {
		if (cell_get(counts, i) > 0)
			return false;
	}
	return true;
}

void sketch_counts_state(const struct sketch_counts *counts, struct sketch_counts_state *state)
{
	if (counts->ring != NULL) {
		ring_state(counts, state);
		return;
	}
	*state = (struct sketch_counts_state){
		.total = in_ones(counts, counts->total),
		.in_table = in_ones(counts, counts->in_table),
		.tracked = counts->tracked.used,
		.floor = in_ones(counts, floor_now(counts)),
		.exact = is_exact(counts),
		.cell_bits = counts->wide ? 64 : 32,
		.bytes = counts_bytes(&counts->params, counts->wide),
	};
	/* With nothing in the table no key is left out. */
	if (state->exact)
		state->floor = 0;
}

double sketch_counts_fill(const struct sketch_counts *counts, uint32_t row)
{
	uint64_t w = counts->params.w, filled = 0;
	double sum = 0;

	if (counts->ring != NULL) {
		for (uint32_t i = 0; i < counts->ring->window.panes; i++)
			sum += sketch_counts_fill(counts->ring->panes[i], row);
		return sum / counts->ring->window.panes;
	}
	for (uint64_t i = 0; i < w; i++)
		filled += cell_get(counts, row * w + i) != 0;
	return (double)filled / (double)w;
}

/* Heaviest first, equal ones by their bytes. */
static int by_weight(const void *a, const void *b)
{
	const struct tracked_key *p = *(const struct tracked_key *const *)a;
	const struct tracked_key *q = *(const struct tracked_key *const *)b;

	if (p->count != q->count)
		return p->count > q->count ? -1 : 1;
	return tracked_compare(p, q);
}

size_t sketch_counts_top(const struct sketch_counts *counts, struct sketch_heavy *heavy,
			 size_t room)
{
	const struct tracked *tracked = &counts->tracked;
	const struct tracked_key **order;
	size_t used = tracked->used;

	if (counts->ring != NULL)
		return ring_top(counts, heavy, room);
	if (used == 0 || room == 0)
		return used;
	order = malloc(used * sizeof *order);
	if (order == NULL)
		return SIZE_MAX;
	for (size_t i = 0; i < used; i++)
		order[i] = &tracked->keys[i];
	qsort(order, used, sizeof *order, by_weight);
	for (size_t i = 0; i < used && i < room; i++)
		heavy[i] = (struct sketch_heavy){
			.data = order[i]->stored,
			.stored = order[i]->stored_length,
			.length = (size_t)order[i]->length,
			.bounds = bounds_now(
				counts, (struct sketch_bounds){ order[i]->count - order[i]->error,
								order[i]->count, true }),
		};
	free(order);
	return used;
}

/* --------------------------------------------------------------------- union */

enum sketch_status counts_spans_differ(struct sketch_error *error, const char *field,
				       const enum sketch_window_unit units[2],
				       const uint64_t lengths[2])
{
	char one[DURATION_TEXT], other[DURATION_TEXT];

	return error_set(error, SKETCH_MISMATCH, "%s differs: %s and %s", field,
			 duration_or_records(one, units[0], lengths[0]),
			 duration_or_records(other, units[1], lengths[1]));
}

static enum sketch_status decay_alike(const struct sketch_counts *a, const struct sketch_counts *b,
				      struct sketch_error *error)
{
	const enum sketch_window_unit units[] = { a->decay.unit, b->decay.unit };
	const uint64_t lengths[] = { a->decay.half_life, b->decay.half_life };

	if (a->decay.unit != b->decay.unit || a->decay.half_life != b->decay.half_life)
		return counts_spans_differ(error, "half-life", units, lengths);
	if (a->decay.unit == SKETCH_WINDOW_RECORDS)
		return error_set(error, SKETCH_MISMATCH,
				 "decay by records: which of the two streams' records came later "
				 "is not known; decay by time can be merged");
	return SKETCH_OK;
}

enum sketch_status sketch_counts_forget_alike(const struct sketch_counts *a,
					      const struct sketch_counts *b,
					      struct sketch_error *error)
{
	bool windows = a->ring != NULL && b->ring != NULL;
	bool decays = counts_decays(a) && counts_decays(b);

	if (windows)
		return ring_compatible(a->ring, b->ring, error);
	if (decays)
		return decay_alike(a, b, error);
	if ((a->ring != NULL && counts_decays(b)) || (b->ring != NULL && counts_decays(a)))
		return error_set(error, SKETCH_MISMATCH, "one has a window, one decays");
	if (a->ring != NULL || b->ring != NULL)
		return error_set(error, SKETCH_MISMATCH,
				 "window differs: only one of the two has one");
	if (counts_decays(a) || counts_decays(b))
		return error_set(error, SKETCH_MISMATCH,
				 "decay differs: only one of the two decays");
	return SKETCH_OK;
}

enum sketch_status sketch_counts_compatible(const struct sketch_counts *a,
					    const struct sketch_counts *b,
					    struct sketch_error *error)
{
	enum sketch_status status = sketch_counts_forget_alike(a, b, error);

	/* First, since it goes with another size where memory is the same. */
	if (status != SKETCH_OK)
		return status;
	if (a->params.update != b->params.update)
		return error_set(error, SKETCH_MISMATCH,
				 "update rule differs: one is plain, one conservative");
	if (a->params.d != b->params.d)
		return error_differ(error, "d", a->params.d, b->params.d);
	if (a->params.w != b->params.w)
		return error_differ(error, "w", a->params.w, b->params.w);
	return identity_compare(&a->identity, &b->identity, error);
}

static struct sketch_key key_of(const struct tracked_key *tracked)
{
	return (struct sketch_key){ tracked->stored, (size_t)tracked->length, tracked->hash, 0 };
}

/* What both know of the tracked keys of one: count and error with the other's
 * estimate, or with its own knowledge where it tracks the key as well. */
static void combine(const struct sketch_counts *one, const struct sketch_counts *other,
		    bool skip_common, struct tracked_key *list, size_t *used)
{
	for (size_t i = 0; i < one->tracked.used; i++) {
		struct tracked_key both = one->tracked.keys[i];
		struct sketch_key key = key_of(&both);
		uint32_t place = tracked_find(&other->tracked, &key);
		uint64_t estimate;

		if (place != TRACKED_NONE && skip_common)
			continue;
		if (place != TRACKED_NONE) {
			both.count += other->tracked.keys[place].count;
			both.error += other->tracked.keys[place].error;
		} else {
			estimate = counts_estimate(other, both.hash);
			both.count += estimate;
			both.error += estimate;
		}
		list[(*used)++] = both;
	}
}

/* The sum of the cells of both; a plain one's may be above 32 bits. */
static bool add_cells(struct sketch_counts *into, const struct sketch_counts *from)
{
	uint64_t cells = into->params.w * into->params.d;
	bool wide = into->wide || from->wide;

	for (uint64_t i = 0; i < cells && !wide; i++)
		wide = cell_get(into, i) + cell_get(from, i) > UINT32_MAX;
	if (wide && !into->wide && !widen(into))
		return false;
	for (uint64_t i = 0; i < cells; i++)
		cell_set(into, i, cell_get(into, i) + cell_get(from, i));
	into->in_table += from->in_table;
	return true;
}

/* Puts the heaviest of the list into a new table of tracked keys, the others into
 * the cells; false without memory. */
static bool keep_heaviest(struct sketch_counts *made, const struct tracked_key *list, size_t used)
{
	const struct tracked_key **order = malloc((used + 1) * sizeof *order);
	bool good = order != NULL;

	for (size_t i = 0; i < used && good; i++)
		order[i] = &list[i];
	if (good)
		qsort(order, used, sizeof *order, by_weight);
	for (size_t i = 0; i < used && good; i++) {
		const struct tracked_key *one = order[i];
		struct sketch_key key = key_of(one);

		if (i < made->tracked.capacity) {
			good = tracked_insert(&made->tracked, &key, one->count, one->error);
			continue;
		}
		if (one->count > made->floor)
			made->floor = one->count;
		good = put_back(made, one);
	}
	free(order);
	return good;
}

/* An empty one that counts in the same units. */
static enum sketch_status new_like(struct sketch_counts **made, const struct sketch_counts *like,
				   const struct sketch_counts_params *params,
				   struct sketch_error *error)
{
	const struct sketch_decay decay = { like->decay.unit, like->decay.half_life,
					    like->decay.landmark };
	enum sketch_status status;

	if (!counts_decays(like))
		return sketch_counts_new(made, &like->identity, params, like->budget, error);
	status =
		sketch_counts_new_decay(made, &like->identity, params, &decay, like->budget, error);
	if (status == SKETCH_OK)
		decay_move(&(*made)->decay, like->decay.now);
	return status;
}

/* A sketch that is the sum of both, with new memory for all. */
enum sketch_status counts_sum(struct sketch_counts **sum, const struct sketch_counts *a,
			      const struct sketch_counts *b, struct sketch_error *error)
{
	struct sketch_counts_params params = a->params;
	struct tracked_key *list = malloc((a->tracked.used + b->tracked.used + 1) * sizeof *list);
	struct sketch_counts *made = NULL;
	enum sketch_status status;
	size_t used = 0;

	if (b->params.tracked > params.tracked)
		params.tracked = b->params.tracked;
	if (list == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	status = new_like(&made, a, &params, error);
	if (status == SKETCH_OK) {
		combine(a, b, false, list, &used);
		combine(b, a, true, list, &used);
		made->total = a->total + b->total;
		made->floor = params.tracked == 0 ? 0 : floor_now(a) + floor_now(b);
		if (is_exact(a) && is_exact(b))
			made->floor = 0;
		if (!add_cells(made, a) || !add_cells(made, b) ||
		    !keep_heaviest(made, list, used)) {
			sketch_counts_free(made);
			status = error_set(error, SKETCH_NO_MEMORY, "out of memory");
		}
	}
	free(list);
	if (status == SKETCH_OK)
		*sum = made;
	return status;
}

/* A copy that decays from a landmark so many half-lives later. */
static enum sketch_status lifted(struct sketch_counts **copy, const struct sketch_counts *counts,
				 uint64_t now, uint64_t doublings, struct sketch_error *error)
{
	struct sketch_counts *nothing = NULL;
	enum sketch_status status = new_like(&nothing, counts, &counts->params, error);

	if (status == SKETCH_OK)
		status = counts_sum(copy, counts, nothing, error);
	sketch_counts_free(nothing);
	if (status != SKETCH_OK)
		return status;
	decay_move(&(*copy)->decay, now);
	lift(*copy, doublings);
	return SKETCH_OK;
}

/* The sum of two that decay, at the later of their moments, from a landmark at which
 * the total has room. */
static enum sketch_status decayed_sum(struct sketch_counts **sum, const struct sketch_counts *a,
				      const struct sketch_counts *b, struct sketch_error *error)
{
	const struct decay *p = &a->decay, *q = &b->decay;
	uint64_t now = p->now > q->now ? p->now : q->now, life = p->half_life;
	uint64_t landmark = p->landmark > q->landmark ? p->landmark : q->landmark;
	struct sketch_counts *one = NULL, *other = NULL;
	enum sketch_status status = SKETCH_OK;

	for (int try = 0; try < 2 && status == SKETCH_OK; try++) {
		sketch_counts_free(one);
		sketch_counts_free(other);
		one = other = NULL;
		status = lifted(&one, a, now, (landmark - p->landmark) / life, error);
		if (status == SKETCH_OK)
			status = lifted(&other, b, now, (landmark - q->landmark) / life, error);
		if (status != SKETCH_OK || one->total <= UINT64_MAX - other->total)
			break;
		landmark = now - now % life;
	}
	if (status == SKETCH_OK && one->total > UINT64_MAX - other->total)
		status = refuse_total(a, error);
	if (status == SKETCH_OK)
		status = counts_sum(sum, one, other, error);
	sketch_counts_free(one);
	sketch_counts_free(other);
	return status;
}

static enum sketch_status any_sum(struct sketch_counts **sum, const struct sketch_counts *a,
				  const struct sketch_counts *b, struct sketch_error *error)
{
	if (a->ring != NULL)
		return ring_sum(sum, a, b, error);
	if (counts_decays(a))
		return decayed_sum(sum, a, b, error);
	if (a->total > UINT64_MAX - b->total)
		return refuse_total(a, error);
	return counts_sum(sum, a, b, error);
}

enum sketch_status sketch_counts_union(struct sketch_counts *into, const struct sketch_counts *from,
				       struct sketch_error *error)
{
	enum sketch_status status = sketch_counts_compatible(into, from, error);
	struct sketch_counts *sum = NULL, swap;
	uint64_t records;

	if (status == SKETCH_OK)
		status = any_sum(&sum, into, from, error);
	if (status != SKETCH_OK)
		return status;
	if (__builtin_add_overflow(into->records, from->records, &records))
		records = UINT64_MAX;
	sum->records = records;
	swap = *into;
	*into = *sum;
	*sum = swap;
	sketch_counts_free(sum);
	return SKETCH_OK;
}

/* ----------------------------------------------------------------- forgetting */

uint64_t sketch_counts_one(const struct sketch_counts *counts)
{
	return counts_decays(counts) ? SKETCH_DECAY_ONE : 1;
}

bool sketch_counts_decay(const struct sketch_counts *counts, struct sketch_decay *decay)
{
	*decay = (struct sketch_decay){ counts->decay.unit, counts->decay.half_life,
					counts->decay.now };
	return counts_decays(counts);
}
