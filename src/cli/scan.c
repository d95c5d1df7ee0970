/* scan.c - finding the ends of records
 *
 * Sixty-four bytes at a time are compared with the terminator and become one
 * word of bits; each 1 is the end of a record.  Calling memchr for every record
 * costs twice to four times as much at the usual lengths. */
#include "scan.h"

#include "endian.h"
#include "field_walk.h"
#include "murmur3.h"
#include "siphash.h"

/* A longer record is split byte by byte. */
#define SCAN_LONGEST ((size_t)4096)

_Static_assert(FIELD_PADDING <= SCAN_PADDING && MURMUR3_PADDING <= SCAN_PADDING,
	       "what may be read behind a record");

/* ------------------------------------------------------------------ quotes */

/* What the bytes of a record that were looked at leave behind for the next 64: the
 * first bit of each says something of the byte before, all bits of `inside`. */
struct quotes {
	uint64_t inside;  /* is it in quotes?  All bits or none */
	uint64_t opens;   /* would a quote behind it open a field, or go on with one? */
	uint64_t escapes; /* does it take the next byte along? */
};

/* Bit i is the sum, modulo 2, of bits 0 to i. */
static inline uint64_t running_parity(uint64_t bits)
{
	for (int step = 1; step < 64; step *= 2)
		bits ^= bits << step;
	return bits;
}

/* The bytes behind a backslash that are taken along by it: of a run of backslashes each
 * second one is, and what follows a run of an odd number. */
static inline uint64_t escaped_bytes(uint64_t backslashes, uint64_t *escapes)
{
	uint64_t escaped = *escapes, first = 0;

	for (backslashes &= ~escaped; backslashes != 0; backslashes &= ~(first | first << 1)) {
		first = backslashes & -backslashes;
		escaped |= first << 1;
	}
	*escapes = first >> 63;
	return escaped;
}

/* The bytes in quotes, the opening one included and the closing one not.
 *
 * Quotes that open and close in turn are a running parity, which no branch has to
 * guess.  But only those quotes do that which begin a field, end one, or come second of
 * two; where the parity opens a quote elsewhere, that is a byte as any other, and what is
 * behind it is worked out again.  A quote that is escaped outside of quotes is no first
 * byte of a field, for the backslash would be, so where a run of backslashes lies is of
 * no account. */
static inline uint64_t quoted_bytes(uint64_t quotes, uint64_t backslashes, uint64_t separators,
				    struct quotes *state)
{
	uint64_t inside, may_open, stray;

	if ((backslashes | state->escapes) != 0)
		quotes &= ~escaped_bytes(backslashes, &state->escapes);
	for (;; quotes ^= stray & -stray) {
		inside = running_parity(quotes) ^ state->inside;
		may_open = (separators | quotes) & ~inside;
		stray = quotes & inside & ~(may_open << 1 | state->opens);
		if (stray == 0)
			break;
	}
	state->inside = -(inside >> 63);
	state->opens = may_open >> 63;
	return inside;
}

/* ------------------------------------------------------------------ records */

/* Those of 64 bytes at `at` that are no longer of a record. */
static inline __attribute__((always_inline)) uint64_t beyond_end(size_t length, size_t at)
{
	return length - at < 64 ? ~UINT64_C(0) << (length - at) : 0;
}

/* The length of a record that ends where the next one starts. */
static inline __attribute__((always_inline)) size_t length_of(const struct scan_keys *wanted,
							      const uint8_t *const *starts)
{
	size_t length = (size_t)(starts[1] - starts[0]) - 1;

	return length - (wanted->crlf && length > 0 && starts[0][length - 1] == '\r');
}

/* --------------------------------------------------------------------- bits */

static inline uint64_t nth_bit(uint64_t bits, uint64_t n)
{
	for (; n > 1; n--)
		bits &= bits - 1;
	return bits & -bits;
}

/* ------------------------------------------------------------------- hashes */

static inline __attribute__((always_inline)) void hash_each(const struct scan_hashing *wanted,
							    const uint8_t *const *keys,
							    const size_t *lengths, size_t count,
							    struct sketch_hash *hashes, bool keyed)
{
	for (size_t i = 0; i < count; i++)
		hashes[i] = keyed ? siphash_128(keys[i], lengths[i], wanted->secret) :
				    murmur3_padded(keys[i], lengths[i], wanted->seed);
}

/* For machines that hash no keys together. */
static inline __attribute__((always_inline)) void hash_one(const struct scan_hashing *wanted,
							   const uint8_t *const *keys,
							   const size_t *lengths,
							   struct sketch_hash *hashes, bool keyed)
{
	hash_each(wanted, keys, lengths, 1, hashes, keyed);
}

/* ---------------------------------------------------------------- portable */

/* Bit 7 of every byte that is 0, exactly (no borrow runs into a neighbour). */
static inline uint64_t zero_bytes(uint64_t word)
{
	const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);

	return ~(((word & low) + low) | word | low);
}

static inline uint64_t portable_mask(const uint8_t *bytes, uint8_t terminator)
{
	uint64_t pattern = terminator * UINT64_C(0x0101010101010101), mask = 0;

	for (int i = 0; i < 8; i++) {
		uint64_t zeros = zero_bytes(load_u64(bytes + 8 * i) ^ pattern) >> 7;

		/* Gathers bits 0, 8, ... 56 in the top byte. */
		mask |= (zeros * UINT64_C(0x0102040810204080) >> 56) << (8 * i);
	}
	return mask;
}

#define SCAN(name) portable_##name
#define SCAN_LANES 1
#define portable_nth nth_bit
#define portable_hash_lanes hash_one
#define SCAN_TARGET
#include "scan_body.h"

#if defined(__x86_64__) && !defined(SKETCH_PORTABLE)

#include "murmur3_lanes.h"
#include "siphash_lanes.h"

_Static_assert(LANES_PADDING <= SCAN_PADDING, "what may be read behind a key");

static inline uint64_t sse2_mask(const uint8_t *bytes, uint8_t terminator)
{
	__m128i pattern = _mm_set1_epi8((char)terminator);
	uint64_t mask = 0;

	for (int i = 0; i < 4; i++) {
		__m128i part = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * i));
		uint32_t equal = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(part, pattern));

		mask |= (uint64_t)equal << (16 * i);
	}
	return mask;
}

#define SCAN(name) sse2_##name
#define SCAN_LANES 1
#define sse2_nth nth_bit
#define sse2_hash_lanes hash_one
#define SCAN_TARGET
#include "scan_body.h"

static inline __attribute__((target("avx2,bmi,popcnt"))) uint64_t avx2_mask(const uint8_t *bytes,
									    uint8_t terminator)
{
	const __m256i *parts = (const __m256i *)(const void *)bytes;
	__m256i pattern = _mm256_set1_epi8((char)terminator);
	__m256i low = _mm256_cmpeq_epi8(_mm256_loadu_si256(parts), pattern);
	__m256i high = _mm256_cmpeq_epi8(_mm256_loadu_si256(parts + 1), pattern);

	return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
							     << 32;
}

#define SCAN(name) avx2_##name
#define SCAN_LANES 1
#define avx2_nth nth_bit
#define avx2_hash_lanes hash_one
#define SCAN_TARGET __attribute__((target("avx2,bmi,popcnt")))
#include "scan_body.h"

#define AVX512_TARGET "avx512bw,avx512dq,bmi,bmi2,popcnt"

static inline __attribute__((target(AVX512_TARGET))) uint64_t avx512_mask(const uint8_t *bytes,
									  uint8_t terminator)
{
	return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(bytes),
				      _mm512_set1_epi8((char)terminator));
}

static inline __attribute__((always_inline, target(AVX512_TARGET))) void
avx512_hash_lanes(const struct scan_hashing *wanted, const uint8_t *const *keys,
		  const size_t *lengths, struct sketch_hash *hashes, bool keyed)
{
	bool done = keyed ? siphash_lanes(keys, lengths, wanted->secret, hashes) :
			    murmur3_lanes(keys, lengths, wanted->seed, hashes);

	if (!done)
		hash_each(wanted, keys, lengths, LANES, hashes, keyed);
}

/* Processors that take many steps for it have no AVX-512. */
static inline __attribute__((always_inline, target(AVX512_TARGET))) uint64_t
avx512_nth(uint64_t bits, uint64_t n)
{
	return _pdep_u64(UINT64_C(1) << (n - 1), bits);
}

#define SCAN(name) avx512_##name
#define SCAN_LANES LANES
#define SCAN_TARGET __attribute__((target(AVX512_TARGET)))
#include "scan_body.h"

size_t scan_all(const struct scan_machine **machines, size_t room)
{
	const struct scan_machine *all[4] = { &portable_machine, &sse2_machine };
	size_t count = 2;

	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"))
		all[count++] = &avx2_machine;
	if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
		all[count++] = &avx512_machine;
	for (size_t i = 0; i < count && i < room; i++)
		machines[i] = all[i];
	return count;
}

#else

size_t scan_all(const struct scan_machine **machines, size_t room)
{
	if (room > 0)
		machines[0] = &portable_machine;
	return 1;
}

#endif

const struct scan_machine *scan_best(void)
{
	const struct scan_machine *all[4];

	return all[scan_all(all, 4) - 1];
}
