/* murmurhash.h - in place of libmurmurhash, for machines that it is not to be had for
 *
 * The same hash, a byte at a time, from the description in sketch-format(5). */
#ifndef STAND_IN_MURMURHASH_H
#define STAND_IN_MURMURHASH_H

#include <stdint.h>

static inline uint64_t stand_in_rotated(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static inline uint64_t stand_in_word(const uint8_t *at, uint64_t count)
{
	uint64_t word = 0;

	for (uint64_t i = 0; i < count && i < 8; i++)
		word |= (uint64_t)at[i] << (8 * i);
	return word;
}

static inline uint64_t stand_in_mixed(uint64_t x)
{
	x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

static inline void lmmh_x64_128(const void *key, unsigned int length, uint32_t seed,
				uint64_t out[2])
{
	const uint64_t c1 = UINT64_C(0x87c37b91114253d5), c2 = UINT64_C(0x4cf5ad432745937f);
	const uint8_t *at = key;
	uint64_t h1 = seed, h2 = seed;

	for (uint64_t left = length; left > 0; left -= left < 16 ? left : 16, at += 16) {
		uint64_t k1 = stand_in_word(at, left);
		uint64_t k2 = left > 8 ? stand_in_word(at + 8, left - 8) : 0;

		h1 ^= stand_in_rotated(k1 * c1, 31) * c2;
		if (left >= 16)
			h1 = (stand_in_rotated(h1, 27) + h2) * 5 + 0x52dce729;
		h2 ^= stand_in_rotated(k2 * c2, 33) * c1;
		if (left >= 16)
			h2 = (stand_in_rotated(h2, 31) + h1) * 5 + 0x38495ab5;
	}
	h1 ^= length;
	h2 ^= length;
	h1 += h2;
	h2 += h1;
	h1 = stand_in_mixed(h1);
	h2 = stand_in_mixed(h2);
	out[0] = h1 + h2;
	out[1] = h2 + out[0];
}

#endif
