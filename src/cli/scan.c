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

/* Several fields of a longer record are found byte by byte. */
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

/* ------------------------------------------------------------------ splitting */

/* function(arguments..., delimiter, newline, quoted) of a field_split, compiled for each
 * sort: of quotes and newlines nothing is to be seen where there are none. */
#define SPLIT_CALL(split, function, ...)                                                           \
	((split)->delimiter != FIELD_BLANKS ?                                                      \
		 (split)->quoted ?                                                                 \
		 function(__VA_ARGS__, (uint8_t)(split)->delimiter, false, true) :                 \
		 function(__VA_ARGS__, (uint8_t)(split)->delimiter, false, false) :                \
	 (split)->newline_blank ? function(__VA_ARGS__, FIELD_BLANKS, true, (split)->quoted) :     \
	 (split)->quoted        ? function(__VA_ARGS__, FIELD_BLANKS, false, true) :               \
				  function(__VA_ARGS__, FIELD_BLANKS, false, false))

/* --------------------------------------------------------------------- bits */

static inline uint64_t shifted_parity(uint64_t bits)
{
	for (int step = 1; step < 64; step *= 2)
		bits ^= bits << step;
	return bits;
}

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

static inline uint64_t bytes_equal(uint64_t word, uint8_t byte)
{
	return zero_bytes(word ^ byte * UINT64_C(0x0101010101010101));
}

/* Gathers bits 7, 15, ... 63, of which no others are 1, in one byte. */
static inline uint64_t gather(uint64_t bits)
{
	return (bits >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

static inline uint64_t portable_mask(const uint8_t *bytes, uint8_t terminator)
{
	uint64_t mask = 0;

	for (int i = 0; i < 8; i++)
		mask |= gather(bytes_equal(load_u64(bytes + 8 * i), terminator)) << (8 * i);
	return mask;
}

static inline uint64_t portable_blanks(const uint8_t *bytes, bool newline)
{
	uint64_t mask = 0;

	for (int i = 0; i < 8; i++) {
		uint64_t word = load_u64(bytes + 8 * i);
		uint64_t blanks = bytes_equal(word, ' ') | bytes_equal(word, '\t');

		if (newline)
			blanks |= bytes_equal(word, '\n');
		mask |= gather(blanks) << (8 * i);
	}
	return mask;
}

#define SCAN(name) portable_##name
#define SCAN_LANES 1
#define portable_parity shifted_parity
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

static inline uint64_t sse2_blanks(const uint8_t *bytes, bool newline)
{
	uint64_t blanks = sse2_mask(bytes, ' ') | sse2_mask(bytes, '\t');

	return newline ? blanks | sse2_mask(bytes, '\n') : blanks;
}

#define SCAN(name) sse2_##name
#define SCAN_LANES 1
#define sse2_parity shifted_parity
#define sse2_hash_lanes hash_one
#define SCAN_TARGET
#include "scan_body.h"

/* The product without carries by a word of ones. */
static inline __attribute__((target("pclmul"))) uint64_t multiplied_parity(uint64_t bits)
{
	__m128i product =
		_mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits), _mm_set1_epi8(-1), 0);

	return (uint64_t)_mm_cvtsi128_si64(product);
}

#define AVX2_TARGET "avx2,bmi,popcnt,pclmul"

/* The top bit of each of 64 bytes. */
static inline __attribute__((target(AVX2_TARGET))) uint64_t avx2_bits(__m256i low, __m256i high)
{
	return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
							     << 32;
}

static inline __attribute__((target(AVX2_TARGET))) uint64_t avx2_mask(const uint8_t *bytes,
								      uint8_t terminator)
{
	const __m256i *parts = (const __m256i *)(const void *)bytes;
	__m256i pattern = _mm256_set1_epi8((char)terminator);

	return avx2_bits(_mm256_cmpeq_epi8(_mm256_loadu_si256(parts), pattern),
			 _mm256_cmpeq_epi8(_mm256_loadu_si256(parts + 1), pattern));
}

/* Entry h is the blank whose low four bits are h, else 0xff: no byte below 0x80 is that, and
 * for one from there on a shuffle gives 0. */
static inline __attribute__((target(AVX2_TARGET))) __m128i blanks_by_half(bool newline)
{
	return _mm_setr_epi8(' ', -1, -1, -1, -1, -1, -1, -1, -1, '\t', newline ? '\n' : -1, -1, -1,
			     -1, -1, -1);
}

static inline __attribute__((target(AVX2_TARGET))) uint64_t avx2_blanks(const uint8_t *bytes,
									bool newline)
{
	const __m256i *parts = (const __m256i *)(const void *)bytes;
	__m256i blank = _mm256_broadcastsi128_si256(blanks_by_half(newline));
	__m256i low = _mm256_loadu_si256(parts), high = _mm256_loadu_si256(parts + 1);

	return avx2_bits(_mm256_cmpeq_epi8(low, _mm256_shuffle_epi8(blank, low)),
			 _mm256_cmpeq_epi8(high, _mm256_shuffle_epi8(blank, high)));
}

#define SCAN(name) avx2_##name
#define SCAN_LANES 1
#define avx2_parity multiplied_parity
#define avx2_hash_lanes hash_one
#define SCAN_TARGET __attribute__((target(AVX2_TARGET)))
#include "scan_body.h"

#define AVX512_TARGET "avx512bw,avx512cd,avx512dq,bmi,bmi2,popcnt,pclmul"

static inline __attribute__((target(AVX512_TARGET))) uint64_t avx512_mask(const uint8_t *bytes,
									  uint8_t terminator)
{
	return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(bytes),
				      _mm512_set1_epi8((char)terminator));
}

static inline __attribute__((target(AVX512_TARGET))) uint64_t avx512_blanks(const uint8_t *bytes,
									    bool newline)
{
	__m512i blank = _mm512_broadcast_i32x4(blanks_by_half(newline));
	__m512i part = _mm512_loadu_si512(bytes);

	return _mm512_cmpeq_epi8_mask(part, _mm512_shuffle_epi8(blank, part));
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

#define SCAN(name) avx512_##name
#define SCAN_LANES LANES
#define avx512_parity multiplied_parity
#define SCAN_TARGET __attribute__((target(AVX512_TARGET)))
#include "scan_body.h"

#include "scan_lanes.h"

size_t scan_all(const struct scan_machine **machines, size_t room)
{
	const struct scan_machine *all[SCAN_MACHINES] = { &portable_machine, &sse2_machine };
	size_t count = 2;
	bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		    __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("pclmul");

	if (avx2)
		all[count++] = &avx2_machine;
	if (avx2 && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")) {
		all[count++] = &avx512_machine;
		all[count++] = &eight_machine;
	}
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
	const struct scan_machine *all[SCAN_MACHINES];

	return all[scan_all(all, SCAN_MACHINES) - 1];
}
