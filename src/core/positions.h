/* positions.h - from a key's hash to the bits it owns: position rule 1
 *
 * Everything derives from the two 64-bit halves of one hash (Kirsch and
 * Mitzenmacher, "Less hashing, same performance: building a better Bloom
 * filter", 2006).  Their plain progression h1 + i h2 loses too much when p is
 * small, for keys then collide in whole progressions; so each term is mixed
 * until it behaves as a hash of its own.  The odd multiplier keeps the terms of
 * a key apart whatever its hash.
 *
 *   u(0) = h1,  u(i) = mix(h1 + i (h2 | 1))      which bit, or which line
 *   v(0) = h2,  v(j) = mix(h2 - j (h1 | 1))      which bits of line j
 *
 * (Minus, for h1 + (h2 | 1) and h2 + (h1 | 1) are equal for every other key, and
 * line and bits must not hang together.)
 *
 * A number below n is the upper half of u n: no division, no bias above n 2^-64,
 * no power of two needed. */
#ifndef CORE_POSITIONS_H
#define CORE_POSITIONS_H

#include <stdint.h>

#include "murmur3.h"
#include "sketch.h"

/* A line whose k/g is this takes one bit in each of its eight words. */
#define POSITIONS_WORDS 8

static inline uint64_t positions_below(uint64_t hash, uint64_t n)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)hash * n >> 64);
#else
	uint64_t low = (hash & 0xffffffff) * (n & 0xffffffff);
	uint64_t middle1 = (hash >> 32) * (n & 0xffffffff) + (low >> 32);
	uint64_t middle2 = (hash & 0xffffffff) * (n >> 32) + (middle1 & 0xffffffff);

	return (hash >> 32) * (n >> 32) + (middle1 >> 32) + (middle2 >> 32);
#endif
}

static inline uint64_t positions_u(struct sketch_hash hash, uint32_t i)
{
	return i == 0 ? hash.h1 : murmur3_mix(hash.h1 + i * (hash.h2 | 1));
}

static inline uint64_t positions_v(struct sketch_hash hash, uint32_t j)
{
	return j == 0 ? hash.h2 : murmur3_mix(hash.h2 - j * (hash.h1 | 1));
}

/* Bit within word `word` of a line that takes one bit a word. */
static inline unsigned int positions_in_word(uint64_t v, unsigned int word)
{
	return v >> (6 * word) & 63;
}

/* The bits of a line that takes `h` bits anywhere, or-ed into the eight words of
 * `mask`: seven 9-bit fields from each term of a third progression. */
static inline void positions_in_line(uint64_t u, uint64_t v, uint32_t h, uint64_t mask[8])
{
	uint64_t z = v;

	for (uint32_t i = 0, field = 0, term = 1; i < h; i++, field++) {
		unsigned int bit;

		if (field == 7) {
			z = murmur3_mix(v + term * (u | 1));
			term++;
			field = 0;
		}
		bit = z >> (9 * field) & 511;
		mask[bit / 64] |= UINT64_C(1) << bit % 64;
	}
}

#endif
