/* counts.h - inside of struct sketch_counts */
#ifndef CORE_COUNTS_H
#define CORE_COUNTS_H

#include "decay.h"
#include "region.h"
#include "sketch.h"
#include "tracked.h"

/* A window: the panes, oldest first.  The sketch that has it has neither cells nor keys
 * of its own. */
struct ring {
	struct sketch_pane_window window;
	struct sketch_counts *panes[SKETCH_MAX_PANES];
};

struct sketch_counts {
	struct sketch_identity identity;
	struct sketch_counts_params params;
	uint64_t records, total, in_table, budget;
	uint64_t floor;      /* from a union: no key that is not tracked counted more then */
	bool wide;           /* cells of 64 bits */
	struct region cells; /* row by row, little-endian */
	struct tracked tracked;
	struct decay decay; /* counts are units of it, where there is one */
	struct ring *ring;  /* or NULL */
};

/* Bytes of all cells, or UINT64_MAX where that is no number. */
uint64_t counts_bytes(const struct sketch_counts_params *params, bool wide);

enum sketch_status counts_check(const struct sketch_counts_params *params,
				struct sketch_error *error);

/* Forgets everything; the memory stays. */
void counts_clear(struct sketch_counts *counts);

static inline bool counts_decays(const struct sketch_counts *counts)
{
	return counts->decay.half_life > 0;
}

/* A new sketch that is the sum of two without windows, whose decay is at the same
 * landmark. */
enum sketch_status counts_sum(struct sketch_counts **sum, const struct sketch_counts *a,
			      const struct sketch_counts *b, struct sketch_error *error);

/* As error_differ, of two spans: "window differs: 5min and 500 records". */
enum sketch_status counts_spans_differ(struct sketch_error *error, const char *field,
				       const enum sketch_window_unit units[2],
				       const uint64_t lengths[2]);

/* What the table says of a key, whether or not it is tracked. */
uint64_t counts_estimate(const struct sketch_counts *counts, struct sketch_hash hash);

#define COUNTS_BATCH 64                 /* the most keys that are added at a time */
#define COUNTS_CELLS (8 * COUNTS_BATCH) /* and the most cells of theirs */

/* The same in steps: the d cells of a key, asking the processor for them, and the least
 * of what they hold. */
void counts_find_cells(const struct sketch_counts *counts, struct sketch_hash hash,
		       uint64_t *cells);
void counts_prefetch(const struct sketch_counts *counts, const uint64_t *cells);
uint64_t counts_least(const struct sketch_counts *counts, const uint64_t *cells);

/* What a call to add keys is asked for. */
struct adding {
	const struct sketch_key *keys;
	size_t count;
	uint64_t *estimates; /* or NULL */
	bool *admitted;      /* or NULL: all are */
	uint64_t limit;
};

/* Adds to one table; `ring` is the window whose current pane it is, or NULL. */
enum sketch_status counts_add(struct sketch_counts *counts, const struct ring *ring,
			      const struct adding *adding, size_t *done,
			      struct sketch_error *error);

/* ring.c: what the functions of sketch.h do where there is a window. */
enum sketch_status ring_make(struct ring **ring, const struct sketch_pane_window *window,
			     struct sketch_error *error);
void ring_free(struct ring *ring);
enum sketch_status ring_add(struct sketch_counts *counts, const struct adding *adding, size_t *done,
			    struct sketch_error *error);
struct sketch_bounds ring_query(const struct sketch_counts *counts, const struct sketch_key *key);
size_t ring_top(const struct sketch_counts *counts, struct sketch_heavy *heavy, size_t room);
void ring_state(const struct sketch_counts *counts, struct sketch_counts_state *state);
enum sketch_status ring_compatible(const struct ring *a, const struct ring *b,
				   struct sketch_error *error);
enum sketch_status ring_sum(struct sketch_counts **sum, const struct sketch_counts *a,
			    const struct sketch_counts *b, struct sketch_error *error);

/* What the panes but the current one have of some keys, at most COUNTS_BATCH: the sum of
 * their estimates.  Where bit i of `tracked` is set the current one tracks key i, at
 * places[i]. */
void ring_before(const struct ring *ring, const struct sketch_key *keys, size_t count,
		 uint64_t tracked, const uint32_t *places, uint64_t *before);

/* The total of all panes but the current one. */
uint64_t ring_other_total(const struct ring *ring);

static inline struct sketch_counts *ring_current(const struct ring *ring)
{
	return ring->panes[ring->window.panes - 1];
}

#endif
