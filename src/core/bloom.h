/* bloom.h - inside of struct sketch_bloom */
#ifndef CORE_BLOOM_H
#define CORE_BLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file.h"
#include "region.h"
#include "sketch.h"

/* The most keys a kernel takes at once: as many as there are bits in a verdict,
 * and about as many cache misses as it pays to have under way. */
#define KERNEL_BATCH 64

struct layer {
	struct sketch_params params;
	uint64_t records, stamp; /* of a generation; else 0 */
	uint8_t *bits;
	uint64_t bytes;            /* m / 8, or of m counters */
	uint64_t lines;            /* blocked: lines in each of the g segments */
	uint32_t per_line;         /* blocked: k / g */
	unsigned int counter_bits; /* 4, 8, 16 where m counters stand for the bits; else 0 */
	const struct kernel *kernel;
	struct region own; /* where bits are not part of an image */
	/* The last layer of a ladder: it is full with this many bits set; so many
	 * keys can be added before they must be counted again; and how many are set,
	 * where `counted`. */
	uint64_t full_at, safe_keys, ones;
	bool counted;
	struct chunks chunks; /* of a mapped file */
};

/* How one kind of layer is probed.  Each takes count <= KERNEL_BATCH keys; bit i
 * of a verdict is key i. */
struct kernel {
	void (*add)(const struct layer *, const struct sketch_hash *, size_t count);
	uint64_t (*test)(const struct layer *, const struct sketch_hash *, size_t count);
	uint64_t (*test_and_add)(const struct layer *, const struct sketch_hash *, size_t count);
};

enum kernel_machine { KERNEL_PORTABLE, KERNEL_AVX2, KERNEL_AVX512 };

/* The widest this processor runs. */
enum kernel_machine kernel_best(void);

/* The kernel for a layer on at most that machine; every machine sets and finds
 * the same bits. */
const struct kernel *kernel_choose(const struct sketch_params *params, enum kernel_machine machine);

struct sketch_bloom {
	struct sketch_identity identity;
	uint64_t records;
	uint64_t budget;             /* bytes that all layers may take */
	struct sketch_window window; /* where the arrangement is one; stamp and records
	                              * of each generation are in its layer */
	bool writable;
	struct region image; /* the file that the layers' bits lie in, if any */
	size_t layer_count;
	struct layer layers[]; /* SKETCH_MAX_LAYERS in a ladder, which may grow */
};

/* Sets what follows from its parameters in a layer without bits. */
void layer_begin(struct layer *layer, const struct sketch_params *params);

/* Takes zeroed memory for the bits of a layer; false where there is none. */
bool layer_allocate(struct layer *layer);

/* The number of bits set, or of counters that are not 0. */
uint64_t layer_count_ones(const struct layer *layer);

/* The bytes that all layers take; UINT64_MAX where that is no number. */
uint64_t params_payload(const struct sketch_params *layers, size_t layer_count);

/* sketch_bloom_new for every arrangement; with counters of so many bits, or 0. */
enum sketch_status bloom_make(struct sketch_bloom **filter, const struct sketch_identity *identity,
			      const struct sketch_params *layers, size_t layer_count,
			      unsigned int counter_bits, uint64_t budget,
			      struct sketch_error *error);

/* A filter whose layers have parameters but no bits yet; NULL without memory. */
struct sketch_bloom *bloom_frame(const struct sketch_identity *identity,
				 const struct sketch_params *layers, size_t layer_count);

/* Makes counters of so many bits (4, 8 or 16) of the bits of a layer that has no memory
 * yet. */
void layer_make_counting(struct layer *layer, unsigned int bits);

/* How many of the 64 counters from 64 * word on are not 0. */
unsigned int layer_counters_used(const struct layer *layer, uint64_t word);

/* Adds the counters of two layers alike, up to what a counter holds. */
void layer_add_counters(struct layer *into, const struct layer *from);

/* Makes `into` hold the layers of both ladders; on failure it is as before. */
enum sketch_status ladder_join(struct sketch_bloom *into, const struct sketch_bloom *from,
			       struct sketch_error *error);

/* Verifies one chunk of a mapped layer, unless it was. */
enum sketch_status layer_verify_chunk(struct layer *layer, size_t index, uint64_t chunk,
				      struct sketch_error *error);
enum sketch_status layer_verify(struct layer *layer, size_t index, struct sketch_error *error);

#endif
