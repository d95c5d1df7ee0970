/* murmur3_lanes.h - MurmurHash3_x64_128 of eight keys at once (see lanes.h) */
#ifndef CORE_MURMUR3_LANES_H
#define CORE_MURMUR3_LANES_H

#include "lanes.h"
#include "murmur3.h"

LANES_INLINE __m512i murmur3_lanes_five_times(__m512i x)
{
	return _mm512_add_epi64(x, _mm512_slli_epi64(x, 2));
}

/* The finaliser, murmur3_mix. */
LANES_INLINE __m512i murmur3_lanes_mix(__m512i x)
{
	x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 33));
	x = _mm512_mullo_epi64(x, lanes_of(UINT64_C(0xff51afd7ed558ccd)));
	x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 33));
	x = _mm512_mullo_epi64(x, lanes_of(UINT64_C(0xc4ceb9fe1a85ec53)));
	return _mm512_xor_si512(x, _mm512_srli_epi64(x, 33));
}

/* 16 bytes of each key; in lanes that are not in `whole` they are a tail, which has no
 * part in the rotations. */
LANES_INLINE void murmur3_lanes_step(__m512i *h1, __m512i *h2, const __m512i words[2],
				     __mmask8 whole)
{
	const __m512i a = lanes_of(UINT64_C(0x87c37b91114253d5));
	const __m512i b = lanes_of(UINT64_C(0x4cf5ad432745937f));
	__m512i k1 = _mm512_rol_epi64(_mm512_mullo_epi64(words[0], a), 31);
	__m512i k2 = _mm512_rol_epi64(_mm512_mullo_epi64(words[1], b), 33);
	__m512i next;

	*h1 = _mm512_xor_si512(*h1, _mm512_mullo_epi64(k1, b));
	next = murmur3_lanes_five_times(_mm512_add_epi64(_mm512_rol_epi64(*h1, 27), *h2));
	*h1 = _mm512_mask_add_epi64(*h1, whole, next, lanes_of(0x52dce729));
	*h2 = _mm512_xor_si512(*h2, _mm512_mullo_epi64(k2, a));
	next = murmur3_lanes_five_times(_mm512_add_epi64(_mm512_rol_epi64(*h2, 31), *h1));
	*h2 = _mm512_mask_add_epi64(*h2, whole, next, lanes_of(0x38495ab5));
}

/* hashes[i] is that of the lengths[i] bytes at keys[i], behind which LANES_PADDING bytes
 * may be read.  False, and nothing done, where one by one is faster. */
LANES_INLINE bool murmur3_lanes(const uint8_t *const keys[LANES], const size_t lengths[LANES],
				uint32_t seed, struct sketch_hash hashes[LANES])
{
	struct lanes lanes;
	__m512i h1 = lanes_of(seed), h2 = h1, words[2];
	size_t at = 0;

	if (!lanes_begin(&lanes, keys, lengths))
		return false;
	for (; at + 16 <= lanes.shortest; at += 16) {
		lanes_words(&lanes, at, true, words);
		murmur3_lanes_step(&h1, &h2, words, 0xff);
	}
	/* A lane that has ended takes zeros, which change nothing. */
	for (; at < lanes.longest; at += 16) {
		lanes_words(&lanes, at, false, words);
		murmur3_lanes_step(&h1, &h2, words,
				   _mm512_cmpge_epu64_mask(lanes.length, lanes_of(at + 16)));
	}
	h1 = _mm512_xor_si512(h1, lanes.length);
	h2 = _mm512_xor_si512(h2, lanes.length);
	h1 = _mm512_add_epi64(h1, h2);
	h2 = _mm512_add_epi64(h2, h1);
	h1 = murmur3_lanes_mix(h1);
	h2 = murmur3_lanes_mix(h2);
	h1 = _mm512_add_epi64(h1, h2);
	h2 = _mm512_add_epi64(h2, h1);
	lanes_end(h1, h2, hashes);
	return true;
}

#endif
