/* counts.h - inside of struct sketch_counts */
#ifndef CORE_COUNTS_H
#define CORE_COUNTS_H

#include "region.h"
#include "sketch.h"
#include "tracked.h"

struct sketch_counts {
	struct sketch_identity identity;
	struct sketch_counts_params params;
	uint64_t records, total, in_table, budget;
	uint64_t floor;      /* from a union: no key that is not tracked counted more then */
	bool wide;           /* cells of 64 bits */
	struct region cells; /* row by row, little-endian */
	struct tracked tracked;
};

/* Bytes of all cells, or UINT64_MAX where that is no number. */
uint64_t counts_bytes(const struct sketch_counts_params *params, bool wide);

enum sketch_status counts_check(const struct sketch_counts_params *params,
				struct sketch_error *error);

#endif
