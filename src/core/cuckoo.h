/* cuckoo.h - inside of struct sketch_cuckoo */
#ifndef CORE_CUCKOO_H
#define CORE_CUCKOO_H

#include <stdbool.h>
#include <stdint.h>

#include "file.h"
#include "region.h"
#include "sketch.h"

struct sketch_cuckoo {
	struct sketch_identity identity;
	struct sketch_cuckoo_params params;
	uint64_t records, budget;
	uint64_t entries; /* fingerprints in the table, where it is writable */
	bool writable;
	uint8_t *table;           /* cuckoo_bytes(&params) of them */
	struct region own, image; /* what the table lies in, the one or the other */
	struct chunks chunks;     /* of a mapped file */
};

/* Bytes of a table: its slots, then 0 up to a multiple of 8, and 8 bytes of 0 more, so that
 * eight bytes can be loaded from where any slot begins.  The parameters must be valid. */
uint64_t cuckoo_bytes(const struct sketch_cuckoo_params *params);

/* SKETCH_RANGE, with the field named, where parameters are not valid. */
enum sketch_status cuckoo_check(const struct sketch_cuckoo_params *params,
				struct sketch_error *error);

/* The fingerprints in the table. */
uint64_t cuckoo_count(const struct sketch_cuckoo *cuckoo);

#endif
