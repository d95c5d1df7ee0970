/* lanes.h - eight keys side by side, a 64-bit lane of a vector for each, with AVX-512
 *
 * One key's hash is a chain of steps that wait for each other, while most of the processor
 * idles.  Eight keys at once take hardly longer than one: of 86 bytes they cost 5.5 ns each
 * and not 13.6, with the 64-bit multiplication and rotation of AVX-512.  (AVX2 has neither:
 * four lanes of it came to 11 ns, too little gained for a second form of everything.)
 *
 * Keys differ in length: in the steps that are not whole in all of them, bytes behind a
 * key's end are made 0, and a hash leaves out what its lane has no part in. */
#ifndef CORE_LANES_H
#define CORE_LANES_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sketch.h"

#define LANES 8

/* Bytes behind a key that may be read. */
#define LANES_PADDING 16

#define LANES_INLINE                                                                               \
	static inline __attribute__((always_inline, target("avx512f,avx512dq,avx512bw")))

/* Eight keys; `length` is in the order that lanes_words has. */
struct lanes {
	const uint8_t *const *keys;
	const size_t *lengths;
	__m512i length;
	size_t longest, shortest;
};

LANES_INLINE __m512i lanes_of(uint64_t value)
{
	return _mm512_set1_epi64((long long)value);
}

/* False where one by one is faster: some key is much longer than the others.  A step of
 * all costs what three of one cost, and all that is no step some 64 bytes less. */
LANES_INLINE bool lanes_begin(struct lanes *lanes, const uint8_t *const *keys,
			      const size_t *lengths)
{
	__m512i length = _mm512_loadu_si512(lengths);

	lanes->keys = keys;
	lanes->lengths = lengths;
	lanes->longest = _mm512_reduce_max_epu64(length);
	lanes->shortest = _mm512_reduce_min_epu64(length);
	lanes->length = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), length);
	/* Where eight times the shortest is enough, the sum need not be known. */
	return lanes->longest <= 64 + 2 * lanes->shortest ||
	       lanes->longest <= 64 + (uint64_t)_mm512_reduce_add_epi64(length) / 3;
}

/* The 16 bytes behind `at` bytes of key i, or behind its end. */
LANES_INLINE __m128i lanes_part(const struct lanes *lanes, int i, size_t at, bool whole)
{
	if (!whole && lanes->lengths[i] < at)
		at = lanes->lengths[i];
	return _mm_loadu_si128((const __m128i *)(const void *)(lanes->keys[i] + at));
}

LANES_INLINE __m512i lanes_four(const struct lanes *lanes, int i, size_t at, bool whole)
{
	__m512i four = _mm512_castsi128_si512(lanes_part(lanes, i, at, whole));

	four = _mm512_mask_broadcast_i64x2(four, 0x0c, lanes_part(lanes, i + 1, at, whole));
	four = _mm512_mask_broadcast_i64x2(four, 0x30, lanes_part(lanes, i + 2, at, whole));
	return _mm512_mask_broadcast_i64x2(four, 0xc0, lanes_part(lanes, i + 3, at, whole));
}

/* The first `count` bytes of each word, as many as there are; none where it is below 0. */
LANES_INLINE __m512i lanes_keep(__m512i words, __m512i count)
{
	__m512i bits = _mm512_slli_epi64(_mm512_max_epi64(count, _mm512_setzero_si512()), 3);

	return _mm512_andnot_si512(_mm512_sllv_epi64(lanes_of(UINT64_MAX), bits), words);
}

/* Two words of each key, from byte `at` on.  `whole`: every key has all 16 bytes; else what
 * is behind a key's end is 0. */
LANES_INLINE void lanes_words(const struct lanes *lanes, size_t at, bool whole, __m512i words[2])
{
	__m512i low = lanes_four(lanes, 0, at, whole), high = lanes_four(lanes, 4, at, whole);
	__m512i left = _mm512_sub_epi64(lanes->length, lanes_of(at));

	words[0] = _mm512_unpacklo_epi64(low, high);
	words[1] = _mm512_unpackhi_epi64(low, high);
	if (!whole) {
		words[0] = lanes_keep(words[0], left);
		words[1] = lanes_keep(words[1], _mm512_sub_epi64(left, lanes_of(8)));
	}
}

LANES_INLINE void lanes_end(__m512i h1, __m512i h2, struct sketch_hash hashes[LANES])
{
	const __m512i first = _mm512_setr_epi64(0, 8, 2, 10, 4, 12, 6, 14);
	const __m512i second = _mm512_setr_epi64(1, 9, 3, 11, 5, 13, 7, 15);

	_mm512_storeu_si512(hashes, _mm512_permutex2var_epi64(h1, first, h2));
	_mm512_storeu_si512(hashes + 4, _mm512_permutex2var_epi64(h1, second, h2));
}

#endif
