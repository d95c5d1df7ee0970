/* siphash_lanes.h - SipHash-2-4 with 128 bits of eight keys at once (see lanes.h) */
#ifndef CORE_SIPHASH_LANES_H
#define CORE_SIPHASH_LANES_H

#include "endian.h"
#include "lanes.h"
#include "siphash.h"

struct siphash_lanes {
	__m512i v0, v1, v2, v3;
};

LANES_INLINE void siphash_lanes_stir(struct siphash_lanes *state, int rounds)
{
	__m512i v0 = state->v0, v1 = state->v1, v2 = state->v2, v3 = state->v3;

	for (int i = 0; i < rounds; i++) {
		v0 = _mm512_add_epi64(v0, v1);
		v2 = _mm512_add_epi64(v2, v3);
		v1 = _mm512_xor_si512(_mm512_rol_epi64(v1, 13), v0);
		v3 = _mm512_xor_si512(_mm512_rol_epi64(v3, 16), v2);
		v0 = _mm512_rol_epi64(v0, 32);
		v2 = _mm512_add_epi64(v2, v1);
		v0 = _mm512_add_epi64(v0, v3);
		v1 = _mm512_xor_si512(_mm512_rol_epi64(v1, 17), v2);
		v3 = _mm512_xor_si512(_mm512_rol_epi64(v3, 21), v0);
		v2 = _mm512_rol_epi64(v2, 32);
	}
	*state = (struct siphash_lanes){ v0, v1, v2, v3 };
}

LANES_INLINE void siphash_lanes_absorb(struct siphash_lanes *state, __m512i word)
{
	state->v3 = _mm512_xor_si512(state->v3, word);
	siphash_lanes_stir(state, SIPHASH_ROUNDS_A_WORD);
	state->v0 = _mm512_xor_si512(state->v0, word);
}

/* The word at byte `at`, of those keys that have one there, if only their last, which is
 * of 0 to 7 bytes and has the length in its highest. */
LANES_INLINE void siphash_lanes_absorb_some(struct siphash_lanes *state, const struct lanes *lanes,
					    size_t at, __m512i word)
{
	__mmask8 some = _mm512_cmpge_epu64_mask(lanes->length, lanes_of(at));
	__mmask8 last = some & _mm512_cmplt_epu64_mask(lanes->length, lanes_of(at + 8));
	struct siphash_lanes next = *state;

	word = _mm512_mask_or_epi64(word, last, word, _mm512_slli_epi64(lanes->length, 56));
	siphash_lanes_absorb(&next, word);
	state->v0 = _mm512_mask_mov_epi64(state->v0, some, next.v0);
	state->v1 = _mm512_mask_mov_epi64(state->v1, some, next.v1);
	state->v2 = _mm512_mask_mov_epi64(state->v2, some, next.v2);
	state->v3 = _mm512_mask_mov_epi64(state->v3, some, next.v3);
}

LANES_INLINE __m512i siphash_lanes_together(const struct siphash_lanes *state)
{
	return _mm512_xor_si512(_mm512_xor_si512(state->v0, state->v1),
				_mm512_xor_si512(state->v2, state->v3));
}

/* hashes[i] is siphash_128 of the lengths[i] bytes at keys[i], behind which LANES_PADDING
 * bytes may be read.  False, and nothing done, where one by one is faster. */
LANES_INLINE bool siphash_lanes(const uint8_t *const keys[LANES], const size_t lengths[LANES],
				const struct sketch_secret *secret,
				struct sketch_hash hashes[LANES])
{
	uint64_t low = load_u64(secret->bytes), high = load_u64(secret->bytes + 8);
	struct siphash_lanes state = {
		lanes_of(low ^ SIPHASH_START_0),
		lanes_of(high ^ SIPHASH_START_1 ^ SIPHASH_MARK_128),
		lanes_of(low ^ SIPHASH_START_2),
		lanes_of(high ^ SIPHASH_START_3),
	};
	struct lanes lanes;
	__m512i words[2], h1;
	size_t at = 0;

	if (!lanes_begin(&lanes, keys, lengths))
		return false;
	for (; at + 16 <= lanes.shortest; at += 16) {
		lanes_words(&lanes, at, true, words);
		siphash_lanes_absorb(&state, words[0]);
		siphash_lanes_absorb(&state, words[1]);
	}
	for (; at <= lanes.longest; at += 16) {
		lanes_words(&lanes, at, false, words);
		siphash_lanes_absorb_some(&state, &lanes, at, words[0]);
		if (at + 8 <= lanes.longest)
			siphash_lanes_absorb_some(&state, &lanes, at + 8, words[1]);
	}
	state.v2 = _mm512_xor_si512(state.v2, lanes_of(SIPHASH_MARK_128));
	siphash_lanes_stir(&state, SIPHASH_ROUNDS_AT_END);
	h1 = siphash_lanes_together(&state);
	state.v1 = _mm512_xor_si512(state.v1, lanes_of(SIPHASH_MARK_SECOND));
	siphash_lanes_stir(&state, SIPHASH_ROUNDS_AT_END);
	lanes_end(h1, siphash_lanes_together(&state), hashes);
	return true;
}

#endif
