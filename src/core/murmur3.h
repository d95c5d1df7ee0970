/* murmur3.h - MurmurHash3_x64_128, to be inlined where records are scanned
 *
 * Austin Appleby's MurmurHash3 of 2011 in its 128-bit form for 64-bit machines.
 * Two lanes of 64 bits take 16 bytes of the key a step; what is left at the end
 * (the tail, 0 to 15 bytes, as if followed by zeros) goes through the same
 * multiplications but not through the lanes' own rotation; the length is mixed
 * in last, and each lane passes a finaliser in which every input bit reaches
 * every output bit.
 *
 * The tail decides the speed of short keys.  A loop or a switch over its bytes
 * costs more than the rest of the hash, and reading it through plain char is
 * the classical fault (bytes of 0x80 and more get their sign extended).  Here
 * it is read as whole words and cut by shifts, which needs no branch on its
 * length. */
#ifndef CORE_MURMUR3_H
#define CORE_MURMUR3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endian.h"
#include "sketch.h"

/* Bytes behind a key that murmur3_padded may read (never use). */
#define MURMUR3_PADDING 16

static inline uint64_t murmur3_rotate(uint64_t x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

/* The finaliser: a bijection in which a flipped input bit flips each output bit
 * with probability one half. */
static inline uint64_t murmur3_mix(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	x ^= x >> 33;
	return x;
}

static inline uint64_t murmur3_lane1(uint64_t k)
{
	k *= UINT64_C(0x87c37b91114253d5);
	return murmur3_rotate(k, 31) * UINT64_C(0x4cf5ad432745937f);
}

static inline uint64_t murmur3_lane2(uint64_t k)
{
	k *= UINT64_C(0x4cf5ad432745937f);
	return murmur3_rotate(k, 33) * UINT64_C(0x87c37b91114253d5);
}

/* The first `length` bytes, 0..8, of a word's worth of bytes; the others 0. */
static inline uint64_t murmur3_keep(uint64_t word, size_t length)
{
	return length == 0 ? 0 : word & (~UINT64_C(0) >> (64 - 8 * length));
}

/* `length` bytes, 1..15, as two words, reading nothing else. */
static inline void murmur3_short_tail(const uint8_t *tail, size_t length, uint64_t *k1,
				      uint64_t *k2)
{
	if (length >= 8) {
		*k1 = load_u64(tail);
		/* The last eight bytes; those that k1 has already are shifted out. */
		*k2 = length == 8 ? 0 : load_u64(tail + length - 8) >> (8 * (16 - length));
	} else if (length >= 4) {
		uint64_t low = load_u32(tail), high = load_u32(tail + length - 4);

		*k1 = low | high << (8 * (length - 4));
		*k2 = 0;
	} else {
		*k1 = (uint64_t)tail[0] | (uint64_t)tail[length / 2] << (8 * (length / 2)) |
		      (uint64_t)tail[length - 1] << (8 * (length - 1));
		*k2 = 0;
	}
}

static inline struct sketch_hash murmur3_finish(uint64_t h1, uint64_t h2, uint64_t length)
{
	h1 ^= length;
	h2 ^= length;
	h1 += h2;
	h2 += h1;
	h1 = murmur3_mix(h1);
	h2 = murmur3_mix(h2);
	h1 += h2;
	h2 += h1;
	return (struct sketch_hash){ h1, h2 };
}

static inline __attribute__((always_inline)) struct sketch_hash
murmur3_body(const uint8_t *data, size_t length, uint32_t seed, bool padded)
{
	uint64_t h1 = seed, h2 = seed, k1, k2;
	const uint8_t *block = data, *end = data + (length & ~(size_t)15);
	size_t tail = length & 15;

	for (; block != end; block += 16) {
		h1 ^= murmur3_lane1(load_u64(block));
		h1 = (murmur3_rotate(h1, 27) + h2) * 5 + 0x52dce729;
		h2 ^= murmur3_lane2(load_u64(block + 8));
		h2 = (murmur3_rotate(h2, 31) + h1) * 5 + 0x38495ab5;
	}
	/* A lane that takes 0 stays as it is, so an empty tail needs no branch. */
	if (padded) {
		k1 = murmur3_keep(load_u64(end), tail < 8 ? tail : 8);
		k2 = murmur3_keep(load_u64(end + 8), tail < 8 ? 0 : tail - 8);
		h2 ^= murmur3_lane2(k2);
		h1 ^= murmur3_lane1(k1);
	} else if (tail != 0) {
		murmur3_short_tail(end, tail, &k1, &k2);
		h2 ^= murmur3_lane2(k2);
		h1 ^= murmur3_lane1(k1);
	}
	return murmur3_finish(h1, h2, length);
}

static inline struct sketch_hash murmur3(const uint8_t *data, size_t length, uint32_t seed)
{
	return murmur3_body(data, length, seed, false);
}

/* The same hash of a key behind which MURMUR3_PADDING bytes may be read. */
static inline struct sketch_hash murmur3_padded(const uint8_t *data, size_t length, uint32_t seed)
{
	return murmur3_body(data, length, seed, true);
}

#endif
