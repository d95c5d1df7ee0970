/* hll.h - inside of struct sketch_hll */
#ifndef CORE_HLL_H
#define CORE_HLL_H

#include "region.h"
#include "sketch.h"

struct sketch_hll {
	struct sketch_identity identity;
	uint32_t precision;
	uint64_t records;
	/* Few keys: h1 of each, by linear probing; 0 is a free slot, and the hash 0 is
	 * kept beside them. */
	struct region table;
	uint64_t hashes; /* in it, 0 included */
	uint64_t salt;   /* decides the slots, which must not be known to whoever made the
	                  * hashes; nothing that goes out depends on it */
	bool has_zero;
	/* Many: a byte for each register. */
	bool dense;
	struct region registers;
};

static inline uint64_t hll_registers(uint32_t precision)
{
	return UINT64_C(1) << precision;
}

/* The most hashes that are kept as they are: in a file they are as long as the
 * registers. */
static inline uint64_t hll_most_hashes(uint32_t precision)
{
	return hll_registers(precision) / 8;
}

static inline uint64_t hll_slots(uint32_t precision)
{
	return 2 * hll_most_hashes(precision);
}

enum sketch_status hll_check_precision(uint32_t precision, struct sketch_error *error);

/* The hashes, ascending, into room for hll->hashes of them. */
void hll_list(const struct sketch_hll *hll, uint64_t *hashes);

/* Adds h1 of a key. */
void hll_add_one(struct sketch_hll *hll, uint64_t hash);

#endif
