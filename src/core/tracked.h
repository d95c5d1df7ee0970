/* tracked.h - a bounded set of keys with their counts
 *
 * Found by hash; the one with the least count is found by a heap. */
#ifndef CORE_TRACKED_H
#define CORE_TRACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sketch.h"

#define TRACKED_NONE UINT32_MAX
#define TRACKED_PLACE_BITS 24
#define TRACKED_MOST (UINT64_C(1) << TRACKED_PLACE_BITS)

struct tracked_key {
	struct sketch_hash hash;
	uint64_t count;  /* the truth is not above it, */
	uint64_t error;  /* nor below count - error, which is what is in no cell */
	uint64_t length; /* of the whole key */
	uint8_t *stored; /* its first bytes, SKETCH_MAX_KEY at the most */
	uint32_t stored_length, room;
};

#define TRACKED_NOT_ASKED UINT64_MAX

struct tracked {
	size_t capacity, used;
	size_t room; /* keys that there is memory for; grows with use */
	struct tracked_key *keys;
	uint64_t *before; /* of each key what older panes of a window have of it, or
	                   * TRACKED_NOT_ASKED; apart, for a key to have a cache line */
	/* Places in keys by hash, under seven bits of the hash: most keys that are not
	 * here are told from those that are without a look at any key.  A free slot is
	 * TRACKED_NONE, which has an eighth bit. */
	uint32_t *slots;
	size_t mask; /* number of slots - 1 */
	/* A heap of keys by the count they had when they were last placed in it: counts
	 * only grow, so the order is put right when the least is asked for, and an
	 * occurrence of a tracked key costs the heap nothing. */
	struct tracked_node {
		uint64_t count;
		uint32_t key;
	} * heap;
};

/* False where there is no memory; then nothing is to be freed. */
bool tracked_make(struct tracked *tracked, size_t capacity);
void tracked_free(struct tracked *tracked);

/* The place of a key, or TRACKED_NONE. */
uint32_t tracked_find(const struct tracked *tracked, const struct sketch_key *key);

/* Whether the key at a place is this one. */
bool tracked_is(const struct tracked *tracked, uint32_t place, const struct sketch_key *key);

/* Where a key is probably: tracked_is has the last word.  TRACKED_NONE where it
 * surely is not. */
static inline uint32_t tracked_guess(const struct tracked *tracked, struct sketch_hash hash);

/* Asks the processor for what tracked_guess will need. */
static inline void tracked_prefetch(const struct tracked *tracked, struct sketch_hash hash);

/* Puts in a key that is not there; there must be room.  False without memory: then
 * nothing changed. */
bool tracked_insert(struct tracked *tracked, const struct sketch_key *key, uint64_t count,
		    uint64_t error);

/* The place of a key with the least count; there must be one. */
uint32_t tracked_least(struct tracked *tracked);

/* Puts a key in place of the one that tracked_least found. */
bool tracked_replace(struct tracked *tracked, uint32_t place, const struct sketch_key *key,
		     uint64_t count, uint64_t error);

/* Forgets all keys; the memory stays. */
void tracked_clear(struct tracked *tracked);

/* Halves all counts so many times: count rounded up, and down what is known by name,
 * count - error, of which the sum is returned. */
uint64_t tracked_halve(struct tracked *tracked, uint64_t halvings);

/* Order of two keys by their bytes; then by length. */
int tracked_compare(const struct tracked_key *a, const struct tracked_key *b);

/* -------------------------------------------------------------------- inlined */

static inline size_t tracked_home(const struct tracked *tracked, struct sketch_hash hash)
{
	return (size_t)hash.h1 & tracked->mask;
}

static inline uint32_t tracked_tag(struct sketch_hash hash)
{
	return (uint32_t)(hash.h1 >> 57);
}

static inline void tracked_prefetch(const struct tracked *tracked, struct sketch_hash hash)
{
	__builtin_prefetch(&tracked->slots[tracked_home(tracked, hash)]);
}

static inline uint32_t tracked_guess(const struct tracked *tracked, struct sketch_hash hash)
{
	size_t slot = tracked_home(tracked, hash);
	uint32_t tag = tracked_tag(hash), entry = tracked->slots[slot];

	while (entry != TRACKED_NONE && entry >> TRACKED_PLACE_BITS != tag) {
		slot = (slot + 1) & tracked->mask;
		entry = tracked->slots[slot];
	}
	return entry == TRACKED_NONE ? entry : entry & (TRACKED_MOST - 1);
}

#endif
