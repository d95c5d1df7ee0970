/* dcso.c - asking the .bloom files of DCSO
 *
 * Lists of hashes to be looked up are published in this format, which bloom, flor,
 * fleur and poppy (in version 1) write alike.  All numbers are little-endian:
 *
 *        0  u64  flags: version 1 in the lowest byte, the rest 0
 *        8  u64  n, the capacity
 *       16  f64  p
 *       24  u64  k
 *       32  u64  m
 *       40  u64  insertions that set a new bit
 *       48       ceil(m / 64) words of 64 bits; bit i is bit i mod 64 of word i / 64
 *                then data of the user's own, to the end of the file
 *
 * A key is hashed with FNV-1 of 64 bits (Fowler, Noll, Vo: multiply, then exclusive
 * or); with M = 2^64 - 59, h(0) is that modulo M, and
 *
 *     h(i) = (h(i - 1) G mod 2^64) mod M,   bit i is h(i) mod m,   i = 1..k.
 *
 * G is -1469 modulo 2^64.  So for an m with a large power of 2 in it all bits of a key
 * follow from its first, but for what the odd part of m mixes in, and keys collide in
 * all bits at once.  The fill does not show that.  At 90 % of its capacity, where 0.6 %
 * was due, a filter of 2^20 bits said maybe to 21 % of absent keys, one of 9 2^14 to
 * 1.4 %.  An odd m, however small, mixes all.
 *
 * There is no magic and no checksum.  What the header says is compared with itself and
 * with the bytes present; of damage to the bits nobody can tell. */
#include "dcso.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "endian.h"
#include "error.h"
#include "file.h"
#include "murmur3.h"
#include "portable.h"

#define DCSO_MODULUS (UINT64_MAX - 58) /* 2^64 - 59 */
#define DCSO_GENERATOR (UINT64_MAX - 1468)
#define DCSO_VERSION 1
/* k is about log2(1 / p), and no double is below 2^-1074. */
#define DCSO_MOST_HASHES 1100
/* Odd parts of an even m below this leave the bits of a key dependent: false positives
 * are then at least a fifth more (measured; 35 times as many where m is a power of 2). */
#define DCSO_LEAST_ODD 64
#define DCSO_BATCH 64
#define DCSO_LANES 4
/* Of dependent bits the rate is measured, with so many hashes. */
#define DCSO_SAMPLES 1000000
#define DCSO_SEED (UINT64_C(1) << 63) /* no seed of anybody else's sample */

struct sketch_dcso {
	struct sketch_dcso_params params;
	struct region image;
	const uint8_t *bits;
};

/* -------------------------------------------------------------------- header */

bool dcso_is(const uint8_t *bytes, size_t length)
{
	return length >= 8 && load_u64(bytes) == DCSO_VERSION;
}

static enum sketch_status damaged(struct sketch_error *error, const char *field)
{
	return error_set(error, SKETCH_DAMAGED,
			 "damaged, or not a DCSO filter, though it begins like one: %s", field);
}

/* The bytes of the bits. */
static uint64_t word_bytes(uint64_t m)
{
	return (m / 64 + (m % 64 != 0)) * 8;
}

enum sketch_status dcso_decode_header(const uint8_t *bytes, size_t length,
				      struct sketch_dcso_params *params, uint64_t *needed,
				      struct sketch_error *error)
{
	struct sketch_dcso_params p;
	uint64_t rate;

	if (length < DCSO_HEADER_BYTES)
		return error_set(error, SKETCH_TRUNCATED,
				 "truncated: %zu of the %u bytes of a DCSO header, if it is one",
				 length, DCSO_HEADER_BYTES);
	rate = load_u64(bytes + 16);
	p.n = load_u64(bytes + 8);
	memcpy(&p.p, &rate, sizeof p.p);
	p.k = load_u64(bytes + 24);
	p.m = load_u64(bytes + 32);
	p.inserts = load_u64(bytes + 40);
	if (p.n < 1)
		return damaged(error, "n = 0");
	if (!(p.p > 0 && p.p < 1))
		return damaged(error, "p is not between 0 and 1");
	if (p.k < 1 || p.k > DCSO_MOST_HASHES)
		return error_set(
			error, SKETCH_DAMAGED,
			"damaged, or not a DCSO filter, though it begins like one: k = %" PRIu64
			" (1 to %d are possible)",
			p.k, DCSO_MOST_HASHES);
	if (p.m < 1 || p.m > SKETCH_MAX_BITS)
		return error_set(
			error, SKETCH_DAMAGED,
			"damaged, or not a DCSO filter, though it begins like one: m = %" PRIu64,
			p.m);
	if (p.inserts > p.m)
		return damaged(error, "more insertions than bits");
	p.dependent = p.k > 1 && p.m % 2 == 0 && p.m >> __builtin_ctzll(p.m) < DCSO_LEAST_ODD;
	p.metadata = 0;
	*params = p;
	*needed = DCSO_HEADER_BYTES + word_bytes(p.m);
	return SKETCH_OK;
}

/* ------------------------------------------------------------ life and death */

enum sketch_status sketch_dcso_of_file(struct sketch_dcso **dcso, struct sketch_file *file,
				       struct sketch_error *error)
{
	struct sketch_dcso *made = calloc(1, sizeof *made);
	enum sketch_status status = SKETCH_OK;
	uint64_t needed = 0;

	if (made == NULL)
		status = error_set(error, SKETCH_NO_MEMORY, "out of memory");
	else if (file->header.kind != SKETCH_KIND_DCSO)
		status = error_set(error, SKETCH_UNSUPPORTED, "holds a %s, not a filter of DCSO's",
				   sketch_kind_name(file->header.kind));
	if (status == SKETCH_OK)
		status = dcso_decode_header(file->bytes.data, file->bytes.length, &made->params,
					    &needed, error);
	if (status == SKETCH_OK) {
		made->params.metadata = file->header.length - needed;
		made->image = file->bytes;
		made->bits = made->image.data + DCSO_HEADER_BYTES;
		file->bytes = (struct region){ NULL, 0 };
		/* What lies behind bit m - 1 of the last word is nobody's. */
		if (made->params.m % 64 != 0 &&
		    load_u64(made->bits + word_bytes(made->params.m) - 8) >> made->params.m % 64 !=
			    0)
			status = damaged(error, "bits behind the last are set");
	}
	sketch_file_free(file);
	if (status != SKETCH_OK) {
		sketch_dcso_free(made);
		return status;
	}
	*dcso = made;
	return SKETCH_OK;
}

void sketch_dcso_free(struct sketch_dcso *dcso)
{
	if (dcso == NULL)
		return;
	region_free(&dcso->image);
	free(dcso);
}

const struct sketch_dcso_params *sketch_dcso_params(const struct sketch_dcso *dcso)
{
	return &dcso->params;
}

/* --------------------------------------------------------------------- hash */

static inline uint64_t fnv_step(uint64_t hash, uint8_t byte)
{
	return (hash * UINT64_C(1099511628211)) ^ byte;
}

static inline uint64_t modulo(uint64_t x)
{
	return x >= DCSO_MODULUS ? x - DCSO_MODULUS : x;
}

/* Hashes several keys side by side: each step of one waits for the one before. */
static void hash_lanes(const uint8_t *const keys[DCSO_LANES], const size_t lengths[DCSO_LANES],
		       uint64_t hashes[DCSO_LANES])
{
	uint64_t state[DCSO_LANES];
	size_t common = SIZE_MAX;

	for (int lane = 0; lane < DCSO_LANES; lane++) {
		state[lane] = UINT64_C(14695981039346656037);
		common = lengths[lane] < common ? lengths[lane] : common;
	}
	for (size_t i = 0; i < common; i++) {
		for (int lane = 0; lane < DCSO_LANES; lane++)
			state[lane] = fnv_step(state[lane], keys[lane][i]);
	}
	for (int lane = 0; lane < DCSO_LANES; lane++) {
		for (size_t i = common; i < lengths[lane]; i++)
			state[lane] = fnv_step(state[lane], keys[lane][i]);
		hashes[lane] = modulo(state[lane]);
	}
}

/* h(0) of each key; of a lane too many, that of no bytes. */
static void hash_keys(const uint8_t *const *keys, const size_t *lengths, size_t count,
		      uint64_t *hashes)
{
	for (size_t at = 0; at < count; at += DCSO_LANES) {
		const uint8_t *lane_keys[DCSO_LANES] = { NULL };
		size_t lane_lengths[DCSO_LANES] = { 0 }, some = count - at;
		uint64_t lane_hashes[DCSO_LANES];

		some = some < DCSO_LANES ? some : DCSO_LANES;
		memcpy(lane_keys, keys + at, some * sizeof *keys);
		memcpy(lane_lengths, lengths + at, some * sizeof *lengths);
		hash_lanes(lane_keys, lane_lengths, lane_hashes);
		memcpy(hashes + at, lane_hashes, some * sizeof *hashes);
	}
}

/* -------------------------------------------------------------------- asking */

static inline uint64_t next_hash(uint64_t hash)
{
	return modulo(hash * DCSO_GENERATOR);
}

/* Whether all bits are set that follow from h(1), the first of which is bit `first`. */
static bool has_bits(const struct sketch_dcso *dcso, uint64_t hash, uint64_t first)
{
	if (!bits_test(dcso->bits, first))
		return false;
	for (uint64_t i = 2; i <= dcso->params.k; i++) {
		hash = next_hash(hash);
		if (!bits_test(dcso->bits, hash % dcso->params.m))
			return false;
	}
	return true;
}

/* At most DCSO_BATCH hashes h(0); bit i of the result is hash i.  The first bits are
 * asked for together: of absent keys most go no further. */
static uint64_t test_batch(const struct sketch_dcso *dcso, uint64_t *hashes, size_t count)
{
	uint64_t firsts[DCSO_BATCH], found = 0;

	for (size_t i = 0; i < count; i++) {
		hashes[i] = next_hash(hashes[i]);
		firsts[i] = hashes[i] % dcso->params.m;
		__builtin_prefetch(dcso->bits + firsts[i] / 8);
	}
	for (size_t i = 0; i < count; i++)
		found |= (uint64_t)has_bits(dcso, hashes[i], firsts[i]) << i;
	return found;
}

void sketch_dcso_test(const struct sketch_dcso *dcso, const uint8_t *const *keys,
		      const size_t *lengths, size_t count, uint64_t *found)
{
	for (size_t at = 0; at < count; at += DCSO_BATCH) {
		size_t some = count - at < DCSO_BATCH ? count - at : DCSO_BATCH;
		uint64_t hashes[DCSO_BATCH];

		hash_keys(keys + at, lengths + at, some, hashes);
		found[at / 64] = test_batch(dcso, hashes, some);
	}
}

uint64_t sketch_dcso_sample(const struct sketch_dcso *dcso, uint64_t seed, uint64_t queries)
{
	uint64_t hits = 0;

	for (uint64_t done = 0; done < queries;) {
		size_t some = queries - done < DCSO_BATCH ? (size_t)(queries - done) : DCSO_BATCH;
		uint64_t hashes[DCSO_BATCH];

		for (size_t i = 0; i < some; i++, done++)
			hashes[i] = modulo(murmur3_mix(murmur3_mix(seed + 1) + done));
		hits += (uint64_t)__builtin_popcountll(test_batch(dcso, hashes, some));
	}
	return hits;
}

void sketch_dcso_state(const struct sketch_dcso *dcso, struct sketch_bloom_state *state)
{
	const struct sketch_dcso_params *own = &dcso->params;
	struct sketch_params params = {
		SKETCH_CLASSIC, (uint32_t)own->k, 0, own->m, own->n, own->p
	};
	struct sketch_bloom_state s = { 0 };

	for (uint64_t at = 0; at < word_bytes(own->m); at += 8)
		s.ones += (uint64_t)__builtin_popcountll(load_u64(dcso->bits + at));
	s.fill = (double)s.ones / (double)own->m;
	s.rate = own->dependent ?
			 (double)sketch_dcso_sample(dcso, DCSO_SEED, DCSO_SAMPLES) / DCSO_SAMPLES :
			 portable_power(s.fill, params.k);
	s.distinct = sketch_distinct(&params, s.ones);
	s.past_capacity = (double)s.ones > (sketch_fill_expected(&params, own->n) +
					    4 * sketch_fill_deviation(&params, own->n)) *
							   (double)own->m +
						   0.5;
	*state = s;
}
