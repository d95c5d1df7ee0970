/* siphash.c - SipHash-2-4, for keys that somebody chooses who wishes us ill
 *
 * MurmurHash3 is fast and spreads any keys but those that were made against it: its lanes
 * take each word of the key through a bijection that has no secret, so that differences
 * can be planned which cancel out whatever the seed is, and any number of keys made that
 * have one hash [2].  SipHash [1] is a pseudo-random function: without its key of 128 bits
 * nobody can tell its values from random ones, though they may ask for as many as they
 * like, and so nobody can find two keys that collide, but by trying as often as chance
 * demands.
 *
 * Four words of state begin as the key, under constants.  Each word of the input is put
 * into v3, stirred by two rounds, and put into v0; the last word has the input's length in
 * its highest byte.  Then a constant is put into v2, four rounds follow, and the four
 * words together are the output.  For 128 bits another constant says so at the start and
 * at the end, and after one more constant and four more rounds the state is read again.
 *
 * A round adds, rotates and xors:
 *
 *     v0 += v1   v1 <<< 13   v1 ^= v0   v0 <<< 32
 *     v2 += v3   v3 <<< 16   v3 ^= v2
 *     v0 += v3   v3 <<< 21   v3 ^= v0
 *     v2 += v1   v1 <<< 17   v1 ^= v2   v2 <<< 32
 *
 * [1] J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012.
 * [2] J.-P. Aumasson, D. J. Bernstein, M. Bosslet, "Hash-flooding DoS reloaded", 2012. */
#include "siphash.h"

#include "endian.h"

struct state {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotate(uint64_t x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

static inline __attribute__((always_inline)) void stir(struct state *state, int rounds)
{
	uint64_t v0 = state->v0, v1 = state->v1, v2 = state->v2, v3 = state->v3;

	for (int i = 0; i < rounds; i++) {
		v0 += v1;
		v2 += v3;
		v1 = rotate(v1, 13) ^ v0;
		v3 = rotate(v3, 16) ^ v2;
		v0 = rotate(v0, 32);
		v2 += v1;
		v0 += v3;
		v1 = rotate(v1, 17) ^ v2;
		v3 = rotate(v3, 21) ^ v0;
		v2 = rotate(v2, 32);
	}
	*state = (struct state){ v0, v1, v2, v3 };
}

static inline __attribute__((always_inline)) void absorb(struct state *state, uint64_t word)
{
	state->v3 ^= word;
	stir(state, SIPHASH_ROUNDS_A_WORD);
	state->v0 ^= word;
}

static inline uint64_t together(const struct state *state)
{
	return state->v0 ^ state->v1 ^ state->v2 ^ state->v3;
}

/* The 0 to 7 bytes that are left behind whole words, and the length; reads nothing else. */
static inline uint64_t last_word(const uint8_t *data, size_t length)
{
	uint64_t word = (uint64_t)length << 56;
	size_t left = length % 8;

	if (left == 0)
		return word;
	if (length > 8)
		return word | load_u64(data + length - 8) >> (8 * (8 - left));
	for (size_t i = 0; i < left; i++)
		word |= (uint64_t)data[i] << (8 * i);
	return word;
}

/* The state behind the input; `mark` tells the lengths of the output apart. */
static inline __attribute__((always_inline)) struct state
absorb_all(const uint8_t *data, size_t length, const struct sketch_secret *secret, uint64_t mark)
{
	uint64_t low = load_u64(secret->bytes), high = load_u64(secret->bytes + 8);
	struct state state = {
		low ^ SIPHASH_START_0,
		high ^ SIPHASH_START_1 ^ mark,
		low ^ SIPHASH_START_2,
		high ^ SIPHASH_START_3,
	};

	for (size_t at = 0; at + 8 <= length; at += 8)
		absorb(&state, load_u64(data + at));
	absorb(&state, last_word(data, length));
	return state;
}

uint64_t siphash_64(const void *data, size_t length, const struct sketch_secret *secret)
{
	struct state state = absorb_all(data, length, secret, 0);

	state.v2 ^= 0xff;
	stir(&state, SIPHASH_ROUNDS_AT_END);
	return together(&state);
}

struct sketch_hash siphash_128(const void *data, size_t length, const struct sketch_secret *secret)
{
	struct state state = absorb_all(data, length, secret, SIPHASH_MARK_128);
	struct sketch_hash hash;

	state.v2 ^= SIPHASH_MARK_128;
	stir(&state, SIPHASH_ROUNDS_AT_END);
	hash.h1 = together(&state);
	state.v1 ^= SIPHASH_MARK_SECOND;
	stir(&state, SIPHASH_ROUNDS_AT_END);
	hash.h2 = together(&state);
	return hash;
}
