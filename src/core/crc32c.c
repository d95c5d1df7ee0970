/* crc32c.c - CRC-32C, the checksum of headers and chunks
 *
 * A cyclic redundancy check is the remainder of the message, read as a
 * polynomial over GF(2), modulo a generator; Castagnoli's (1993) notices every
 * error of up to 32 neighbouring bits, so every flipped bit, and it is the one
 * that processors compute by themselves.
 *
 * Two ways to the same number:
 *   - portable: eight table look-ups take eight bytes a step (Kounavis and
 *     Berry, "Novel table lookup-based algorithms for high-performance CRC
 *     generation", 2008).  A table entry is linear in its index, so the 2048
 *     entries are written as exclusive-ors of 64 constants: entry 1 << b of
 *     table j is x^(8 j + 39 - b) modulo the generator.
 *   - x86 with SSE 4.2 and PCLMULQDQ: the crc32 instruction has a latency of
 *     three cycles but one can start every cycle, so three stretches of the
 *     message run side by side; their remainders are then moved by multiplying
 *     with x^(8 n) (Gopal et al., "Fast CRC computation for iSCSI polynomial
 *     using CRC32 instruction", 2011). */
#include "crc32c.h"

#include "endian.h"

#define CRC_BIT(index, bit, constant) (((index) >> (bit)&1) ? UINT32_C(constant) : 0)
#define CRC_ENTRY(i, c0, c1, c2, c3, c4, c5, c6, c7)                                               \
	(CRC_BIT(i, 0, c0) ^ CRC_BIT(i, 1, c1) ^ CRC_BIT(i, 2, c2) ^ CRC_BIT(i, 3, c3) ^           \
	 CRC_BIT(i, 4, c4) ^ CRC_BIT(i, 5, c5) ^ CRC_BIT(i, 6, c6) ^ CRC_BIT(i, 7, c7))
#define CRC_4(i, ...)                                                                              \
	CRC_ENTRY(i, __VA_ARGS__), CRC_ENTRY((i) + 1, __VA_ARGS__),                                \
		CRC_ENTRY((i) + 2, __VA_ARGS__), CRC_ENTRY((i) + 3, __VA_ARGS__)
#define CRC_16(i, ...)                                                                             \
	CRC_4(i, __VA_ARGS__), CRC_4((i) + 4, __VA_ARGS__), CRC_4((i) + 8, __VA_ARGS__),           \
		CRC_4((i) + 12, __VA_ARGS__)
#define CRC_64(i, ...)                                                                             \
	CRC_16(i, __VA_ARGS__), CRC_16((i) + 16, __VA_ARGS__), CRC_16((i) + 32, __VA_ARGS__),      \
		CRC_16((i) + 48, __VA_ARGS__)
#define CRC_TABLE(...)                                                                             \
	{                                                                                          \
		CRC_64(0, __VA_ARGS__), CRC_64(64, __VA_ARGS__), CRC_64(128, __VA_ARGS__),         \
			CRC_64(192, __VA_ARGS__)                                                   \
	}

static const uint32_t crc_tables[8][256] = {
	CRC_TABLE(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf, 0x105ec76f, 0x20bd8ede,
		  0x417b1dbc, 0x82f63b78),
	CRC_TABLE(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8, 0x3fc5f181, 0x7f8be302,
		  0xff17c604, 0xfbc3faf9),
	CRC_TABLE(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5, 0x70a27d8a, 0xe144fb14,
		  0xc76580d9, 0x8b277743),
	CRC_TABLE(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6, 0xe964b13d, 0xd725148b,
		  0xaba65fe7, 0x52a0c93f),
	CRC_TABLE(0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91, 0x8f2261d3, 0x1ba8b557,
		  0x37516aae, 0x6ea2d55c),
	CRC_TABLE(0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f, 0xc00c303e, 0x85f4168d,
		  0x0e045beb, 0x1c08b7d6),
	CRC_TABLE(0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53, 0x9c5bfaa6, 0x3d5b83bd,
		  0x7ab7077a, 0xf56e0ef4),
	CRC_TABLE(0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da, 0x847609b4, 0x0d006599,
		  0x1a00cb32, 0x34019664),
};

uint32_t crc32c_portable(uint32_t crc, const uint8_t *data, size_t length)
{
	const uint32_t(*t)[256] = crc_tables;

	crc = ~crc;
	for (; length >= 8; data += 8, length -= 8) {
		uint32_t low = load_u32(data) ^ crc, high = load_u32(data + 4);

		crc = t[7][low & 255] ^ t[6][low >> 8 & 255] ^ t[5][low >> 16 & 255] ^
		      t[4][low >> 24] ^ t[3][high & 255] ^ t[2][high >> 8 & 255] ^
		      t[1][high >> 16 & 255] ^ t[0][high >> 24];
	}
	for (; length > 0; data++, length--)
		crc = crc >> 8 ^ t[0][(crc ^ *data) & 255];
	return ~crc;
}

#if defined(__x86_64__) && !defined(SKETCH_PORTABLE)

#include <nmmintrin.h>
#include <wmmintrin.h>

#define CRC_STRETCH 4096

/* The remainder `crc`, moved ahead by the bits that `power` stands for: power is
 * x^(bits - 33) modulo the generator, since the carry-less product of two
 * reflected words is one place off and the crc32 instruction adds 32. */
static __attribute__((target("sse4.2,pclmul"))) uint64_t crc_move(uint64_t crc, uint32_t power)
{
	__m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)crc),
					       _mm_cvtsi32_si128((int)power), 0);

	return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

static __attribute__((target("sse4.2,pclmul"))) uint32_t
crc32c_x86(uint32_t start, const uint8_t *data, size_t length)
{
	uint64_t crc = ~start;

	for (; length >= 3 * CRC_STRETCH; data += 3 * CRC_STRETCH, length -= 3 * CRC_STRETCH) {
		uint64_t second = 0, third = 0;

		for (size_t i = 0; i < CRC_STRETCH; i += 8) {
			crc = _mm_crc32_u64(crc, load_u64(data + i));
			second = _mm_crc32_u64(second, load_u64(data + i + CRC_STRETCH));
			third = _mm_crc32_u64(third, load_u64(data + i + 2 * CRC_STRETCH));
		}
		crc = crc_move(crc, 0x54a86326) ^ crc_move(second, 0x82f89c77) ^ third;
	}
	for (; length >= 8; data += 8, length -= 8)
		crc = _mm_crc32_u64(crc, load_u64(data));
	for (; length > 0; data++, length--)
		crc = _mm_crc32_u8((uint32_t)crc, *data);
	return ~(uint32_t)crc;
}

uint32_t sketch_crc32c(uint32_t crc, const void *data, size_t length)
{
	if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"))
		return crc32c_x86(crc, data, length);
	return crc32c_portable(crc, data, length);
}

#else

uint32_t sketch_crc32c(uint32_t crc, const void *data, size_t length)
{
	return crc32c_portable(crc, data, length);
}

#endif
