/* bits.h - a string of bits as a file holds it: bit i is bit i mod 8 of byte i / 8; and the
 * bits of a word */
#ifndef CORE_BITS_H
#define CORE_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline void bits_set(uint8_t *bits, uint64_t position)
{
	bits[position >> 3] = (uint8_t)(bits[position >> 3] | 1u << (position & 7));
}

static inline bool bits_test(const uint8_t *bits, uint64_t position)
{
	return bits[position >> 3] >> (position & 7) & 1;
}

/* The lowest `count` bits, all where it is 64 or more. */
static inline uint64_t bits_below(uint64_t count)
{
	return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

#endif
