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

#include "endian.h"
#include "error.h"
#include "portable.h"
#include "positions.h"

#define COUNTS_BATCH 64
#define COUNTS_CELLS (8 * COUNTS_BATCH) /* of a batch */

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

enum sketch_status sketch_counts_new(struct sketch_counts **counts,
				     const struct sketch_identity *identity,
				     const struct sketch_counts_params *params, uint64_t budget,
				     struct sketch_error *error)
{
	enum sketch_status status = counts_check(params, error);
	uint64_t bytes = counts_bytes(params, false), all;
	struct sketch_counts *made;

	if (status != SKETCH_OK)
		return status;
	if (identity->family != SKETCH_FAMILY_MURMUR3 || identity->arrangement != SKETCH_SINGLE ||
	    identity->transforms & ~SKETCH_FOLD_ASCII)
		return error_set(error, SKETCH_RANGE, "hash family, transforms or arrangement");
	if (__builtin_add_overflow(bytes, params->tracked * sizeof(struct tracked_key), &all))
		all = UINT64_MAX;
	if (all > budget || all > SIZE_MAX / 4)
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
	if (!region_new(&made->cells, (size_t)bytes)) {
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
	tracked_free(&counts->tracked);
	region_free(&counts->cells);
	free(counts);
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

/* ---------------------------------------------------------------------- adding */

/* Gives the place of the least tracked key to another, whose cells say `estimate`:
 * what the table does not know of the one that goes is put there. */
static bool take_place(struct sketch_counts *counts, uint32_t place, const struct sketch_key *key,
		       uint64_t estimate)
{
	const struct tracked_key *leaving = &counts->tracked.keys[place];
	uint64_t cells[SKETCH_MAX_DEPTH], unknown = leaving->count - leaving->error, now;

	find_cells(counts, leaving->hash, cells);
	now = least_of(counts, cells);
	return add_to_cells(counts, cells, unknown, &now) &&
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

static inline uint64_t bits_below(size_t count)
{
	return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

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

/* As many of the keys as are worth a batch; the usual numbers of rows are constants to
 * the compiler. */
static bool add_batch(struct sketch_counts *counts, struct batch *batch, size_t *done)
{
	uint32_t d = counts->params.d;
	bool plain = counts->params.update == SKETCH_PLAIN;

	look_up(counts, batch);
	if (d == 3 && !plain) {
		find_batch_cells(counts, batch, 3);
		return add_looked_up(counts, batch, 3, false, done);
	}
	find_batch_cells(counts, batch, d);
	return plain ? add_looked_up(counts, batch, d, true, done) :
		       add_looked_up(counts, batch, d, false, done);
}

/* The number of keys, at most `count`, whose weights the total can take. */
static size_t within_total(const struct sketch_counts *counts, const struct sketch_key *keys,
			   size_t count)
{
	uint64_t total = counts->total;

	for (size_t i = 0; i < count; i++) {
		if (__builtin_add_overflow(total, keys[i].weight, &total))
			return i;
	}
	return count;
}

enum sketch_status sketch_counts_add(struct sketch_counts *counts, const struct sketch_key *keys,
				     size_t count, uint64_t *estimates, size_t *done,
				     struct sketch_error *error)
{
	size_t most = COUNTS_CELLS / counts->params.d, step;
	struct batch batch;

	if (most > COUNTS_BATCH)
		most = COUNTS_BATCH;
	step = most;
	*done = 0;
	while (*done < count) {
		size_t left = count - *done, added = 0;
		bool good;

		batch.keys = keys + *done;
		batch.estimates = estimates == NULL ? NULL : estimates + *done;
		batch.count = within_total(counts, batch.keys, left < step ? left : step);
		if (batch.count == 0)
			return error_set(error, SKETCH_RANGE,
					 "the total of all counts would exceed 2^64 - 1");
		good = add_batch(counts, &batch, &added);
		for (size_t i = 0; i < added; i++)
			counts->total += batch.keys[i].weight;
		*done += added;
		if (!good)
			return error_set(error, SKETCH_NO_MEMORY, "out of memory for %s",
					 "wider cells or a longer key");
		/* Where many keys change places, little is looked up in vain. */
		step = added < batch.count ? COUNTS_BATCH / 8 : 2 * step;
		step = step < most ? step : most;
	}
	return SKETCH_OK;
}

/* -------------------------------------------------------------------- asking */

static uint64_t estimate_of(const struct sketch_counts *counts, struct sketch_hash hash)
{
	uint64_t cells[SKETCH_MAX_DEPTH];

	find_cells(counts, hash, cells);
	return least_of(counts, cells);
}

struct sketch_bounds sketch_counts_query(const struct sketch_counts *counts,
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
	bounds.high = estimate_of(counts, key->hash);
	if (bounds.high == 0)
		return bounds;
	slack = sketch_counts_epsilon(&counts->params) * (double)counts->in_table;
	bounds.sure = false;
	/* What a count is too high by is a whole number. */
	if (slack < (double)bounds.high)
		bounds.low = bounds.high - (uint64_t)slack;
	return bounds;
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

void sketch_counts_state(const struct sketch_counts *counts, struct sketch_counts_state *state)
{
	*state = (struct sketch_counts_state){
		.total = counts->total,
		.in_table = counts->in_table,
		.tracked = counts->tracked.used,
		.floor = floor_now(counts),
		.exact = counts->in_table == 0 && counts->floor == 0,
		.cell_bits = counts->wide ? 64 : 32,
	};
	/* With nothing in the table no key is left out. */
	if (state->exact)
		state->floor = 0;
}

double sketch_counts_fill(const struct sketch_counts *counts, uint32_t row)
{
	uint64_t w = counts->params.w, filled = 0;

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
			.bounds = { order[i]->count - order[i]->error, order[i]->count, true },
		};
	free(order);
	return used;
}

/* --------------------------------------------------------------------- union */

static enum sketch_status differ(struct sketch_error *error, const char *field, uint64_t a,
				 uint64_t b)
{
	return error_set(error, SKETCH_MISMATCH, "%s differs: %" PRIu64 " and %" PRIu64, field, a,
			 b);
}

enum sketch_status sketch_counts_compatible(const struct sketch_counts *a,
					    const struct sketch_counts *b,
					    struct sketch_error *error)
{
	if (a->params.update != b->params.update)
		return error_set(error, SKETCH_MISMATCH,
				 "update rule differs: one is plain, one conservative");
	if (a->params.d != b->params.d)
		return differ(error, "d", a->params.d, b->params.d);
	if (a->params.w != b->params.w)
		return differ(error, "w", a->params.w, b->params.w);
	if (a->identity.family != b->identity.family)
		return differ(error, "hash family", a->identity.family, b->identity.family);
	if (a->identity.seed != b->identity.seed)
		return differ(error, "seed", a->identity.seed, b->identity.seed);
	if (a->identity.transforms != b->identity.transforms)
		return error_set(error, SKETCH_MISMATCH,
				 "ignore-case differs: only one of the two folds its keys");
	return SKETCH_OK;
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
			estimate = estimate_of(other, both.hash);
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
		uint64_t cells[SKETCH_MAX_DEPTH], estimate;

		if (i < made->tracked.capacity) {
			good = tracked_insert(&made->tracked, &key, one->count, one->error);
			continue;
		}
		if (one->count > made->floor)
			made->floor = one->count;
		find_cells(made, one->hash, cells);
		estimate = least_of(made, cells);
		good = add_to_cells(made, cells, one->count - one->error, &estimate);
	}
	free(order);
	return good;
}

/* A sketch that is the sum of both, with new memory for all. */
static enum sketch_status sum_of(struct sketch_counts **sum, const struct sketch_counts *a,
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
	status = sketch_counts_new(&made, &a->identity, &params, a->budget, error);
	if (status == SKETCH_OK) {
		combine(a, b, false, list, &used);
		combine(b, a, true, list, &used);
		made->total = a->total + b->total;
		made->floor = params.tracked == 0 ? 0 : floor_now(a) + floor_now(b);
		if (a->in_table == 0 && a->floor == 0 && b->in_table == 0 && b->floor == 0)
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

enum sketch_status sketch_counts_union(struct sketch_counts *into, const struct sketch_counts *from,
				       struct sketch_error *error)
{
	enum sketch_status status = sketch_counts_compatible(into, from, error);
	struct sketch_counts *sum = NULL, swap;
	uint64_t total, records;

	if (status != SKETCH_OK)
		return status;
	if (__builtin_add_overflow(into->total, from->total, &total))
		return error_set(error, SKETCH_RANGE,
				 "the total of all counts would exceed 2^64 - 1");
	status = sum_of(&sum, into, from, error);
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
