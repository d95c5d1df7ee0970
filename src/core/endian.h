/* endian.h - little-endian integers in bytes, by shifts
 *
 * Compilers turn each of these into one load or store where the machine is
 * little-endian itself, so there is no second way for that case. */
#ifndef CORE_ENDIAN_H
#define CORE_ENDIAN_H

#include <stdint.h>

static inline uint32_t load_u32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static inline uint64_t load_u64(const uint8_t *bytes)
{
	return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
	       (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
	       (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

static inline void store_u32(uint8_t *bytes, uint32_t value)
{
	bytes[0] = (uint8_t)value;
	bytes[1] = (uint8_t)(value >> 8);
	bytes[2] = (uint8_t)(value >> 16);
	bytes[3] = (uint8_t)(value >> 24);
}

static inline void store_u64(uint8_t *bytes, uint64_t value)
{
	bytes[0] = (uint8_t)value;
	bytes[1] = (uint8_t)(value >> 8);
	bytes[2] = (uint8_t)(value >> 16);
	bytes[3] = (uint8_t)(value >> 24);
	bytes[4] = (uint8_t)(value >> 32);
	bytes[5] = (uint8_t)(value >> 40);
	bytes[6] = (uint8_t)(value >> 48);
	bytes[7] = (uint8_t)(value >> 56);
}

#endif
