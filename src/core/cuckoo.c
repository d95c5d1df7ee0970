/* cuckoo.c - filters that keep fingerprints, and can let them go
 *
 * A cuckoo filter is a table of small fingerprints of keys (Fan, Andersen, Kaminsky and
 * Mitzenmacher, "Cuckoo filter: practically better than Bloom", 2014).  A key has two
 * buckets of four slots each, and its fingerprint of f bits lies in one of the eight
 * slots; it may be in the filter if its fingerprint is in either bucket.  Taking a key
 * out empties one slot.
 *
 *      bucket   0      1      2      3      4            f = 4, of 0 to f an empty one
 *            | 7a0 | .... | 1c9f | 3...  | b2..|
 *                      \__________/
 *                 apple: fingerprint 9, buckets 2 and 1
 *
 * Where both buckets are full, something there moves to its own other bucket, and so on.
 * The other bucket of a fingerprint must follow from the fingerprint and the bucket it is
 * in, for the key is gone by then.  The paper takes the exclusive or of the bucket and a
 * hash of the fingerprint, which needs a power of two of buckets, and so up to twice the
 * memory.  Here it is
 *
 *      other(i, x) = (H(x) - i) mod buckets          other(other(i, x), x) = i
 *
 * which is its own inverse whatever the number of buckets.  (Where 2 i = H(x) both are the
 * same bucket; that is so for one or two of all buckets.)  The bucket comes from h1, the
 * fingerprint, which is never 0, from h2, both by multiply-shift: positions.h.
 *
 * How often it errs.  An absent key comes with any bucket i and any of the 2^f - 1
 * fingerprints x with equal chance.  For a fixed table, the expected number of slots that
 * match in bucket i is entries / buckets / (2^f - 1), and so it is in bucket other(i, x),
 * since for each x that is a permutation of all buckets.  So
 *
 *      rate <= 2 entries / (buckets (2^f - 1))
 *
 * whatever the table holds, for any table and not only in the mean over seeds; with all
 * slots taken that is the 2b / 2^f of the paper, but for its last digits.  The plan makes
 * this bound at n entries at most p: of all f the one with the fewest bits, where more
 * buckets and a bit less are weighed against each other.
 *
 * How full it gets.  A place for a new fingerprint is searched breadth first: the buckets
 * one move away, then two, ... until one has an empty slot, and only then are the
 * fingerprints on the way moved, the last one first.  So an insertion that fails has
 * changed nothing at all, and no fingerprint is ever left over.  The search goes through
 * slots in their order: no dice are thrown, and equal keys in equal order give equal
 * tables.  Another order gives another table of the same fingerprints.
 *
 * The load at which a table of four slots a bucket gets full is 98.0 % for a large one
 * (Cain, Sanders and Wormald, "The random graph threshold for k-orientability and a fast
 * algorithm for optimal multiple-choice allocation", 2007); the search finds its way up to
 * 97.6 % here.  Small tables vary: slots_for says what n keys are given, which is a load of
 * at most 95 %.
 *
 * It is a multiset of at most eight copies of a key: each takes a slot of the same two
 * buckets.  Keys of the same fingerprint and buckets are copies of each other.  Copies fill
 * a table early, for they have nowhere else to go: where every key is there twice a large
 * one is full at some 89 %, where it is there four times at 49 %, as tables of two slots and
 * of one would be (89.7 % and 50 %; ibid.).  So n stands for different keys.  Taking out
 * what was never put in takes the fingerprint of another key, at the rate of false
 * positives; that key is missed from then on.
 *
 * Slots are f bits, one after another, without padding: a bucket of up to 16 bits a slot
 * is read by one load, and its four slots are compared at once. */
#include "cuckoo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "endian.h"
#include "error.h"
#include "identity.h"
#include "portable.h"
#include "positions.h"
#include "sizing.h"

#define SLOTS SKETCH_CUCKOO_SLOTS
#define BATCH 64

/* Full buckets that a search goes through at the most: with 256 of them a large table gets
 * 96.7 % full, with 4096 97.8 %. */
#define CUCKOO_NODES 2048

/* ------------------------------------------------------------------ parameters */

static double fingerprints(uint32_t f)
{
	return (double)((UINT64_C(1) << f) - 1);
}

double sketch_cuckoo_rate_bound(const struct sketch_cuckoo_params *params, uint64_t keys)
{
	/* Rounded up: three roundings of a relative 2^-53 each. */
	double rate = 2 * (double)keys / ((double)params->buckets * fingerprints(params->f)) *
		      (1 + 0x1p-50);

	return rate < 1 ? rate : 1;
}

enum sketch_status cuckoo_check(const struct sketch_cuckoo_params *params,
				struct sketch_error *error)
{
	uint64_t most;

	if (params->f < SKETCH_CUCKOO_LEAST_BITS || params->f > SKETCH_CUCKOO_MOST_BITS)
		return sizing_refuse_range(error, "f", params->f, SKETCH_CUCKOO_LEAST_BITS,
					   SKETCH_CUCKOO_MOST_BITS);
	most = SKETCH_MAX_BITS / (SLOTS * params->f);
	if (params->buckets < 1 || params->buckets > most)
		return sizing_refuse_range(error, "buckets", params->buckets, 1, most);
	return sizing_check_promise(params->n, params->p, error);
}

uint64_t cuckoo_bytes(const struct sketch_cuckoo_params *params)
{
	uint64_t bits = params->buckets * SLOTS * params->f;

	return (bits / 64 + (bits % 64 != 0)) * 8 + 8;
}

uint64_t sketch_cuckoo_size(const struct sketch_cuckoo_params *params)
{
	return cuckoo_bytes(params);
}

/* The slots that n keys want, so that they find room but for a chance of one in ten
 * thousand.  A large table takes 97.6 % before a search fails.  Of small ones the share
 * varies with a deviation of about 0.13 / sqrt(buckets), which is some sqrt(slots) / 4
 * slots, and the smallest are at the mercy of a few keys that share their buckets. */
static double slots_for(uint64_t n)
{
	return (double)n / 0.95 + portable_sqrt((double)n) / 2 + 16;
}

/* x rounded up. */
static uint64_t ceiling(double x)
{
	uint64_t whole = (uint64_t)x;

	return (double)whole < x ? whole + 1 : whole;
}

/* The least number of buckets for n keys and the rate p, or 0 where it is none below 2^63
 * bits, or the rate asks for more than twice the room: one bit more is the better way then. */
static uint64_t least_buckets(uint64_t n, double p, uint32_t f)
{
	double most = (double)(SKETCH_MAX_BITS / (SLOTS * f)) / 2;
	double room = slots_for(n) / SLOTS;
	double rate = p > 0 ? 2 * (double)n / (p * fingerprints(f)) * (1 + 0x1p-48) : 0;
	double least = room > rate ? room : rate;

	return least < most && rate <= 2 * room ? ceiling(least) : 0;
}

/* Of all f the one with the fewest bits. */
static bool plan_by_rate(struct sketch_cuckoo_params *params)
{
	uint64_t best = 0;

	for (uint32_t f = SKETCH_CUCKOO_LEAST_BITS; f <= SKETCH_CUCKOO_MOST_BITS; f++) {
		uint64_t buckets = least_buckets(params->n, params->p, f);

		if (buckets == 0 || (best != 0 && buckets * f >= best))
			continue;
		best = buckets * f;
		params->f = f;
		params->buckets = buckets;
	}
	return best != 0;
}

/* The largest f for which all fits into m bits, and as many buckets as do. */
static bool plan_by_size(uint64_t m, struct sketch_cuckoo_params *params)
{
	for (uint32_t f = SKETCH_CUCKOO_MOST_BITS; f >= SKETCH_CUCKOO_LEAST_BITS; f--) {
		params->f = f;
		params->buckets = m < 128 ? 0 : (m - 64) / 64 * 64 / (SLOTS * f);
		if (params->buckets > 0 && params->buckets >= least_buckets(params->n, 0, f))
			return true;
	}
	return false;
}

enum sketch_status sketch_cuckoo_plan(uint64_t n, double p, uint64_t m,
				      struct sketch_cuckoo_params *params,
				      struct sketch_error *error)
{
	struct sketch_cuckoo_params found = { .n = n, .p = p };

	if (n < 1 || n > SKETCH_CUCKOO_MOST_KEYS)
		return sizing_refuse_range(error, "n", n, 1, SKETCH_CUCKOO_MOST_KEYS);
	if (p == 0 && m == 0)
		return error_set(error, SKETCH_RANGE, "p or m is missing");
	if (p != 0 && !(p > 0 && p < 1))
		return error_set(error, SKETCH_RANGE, "p = %g is out of range (above 0, below 1)",
				 p);
	if (m == 0 && !plan_by_rate(&found))
		return error_set(error, SKETCH_UNREACHABLE,
				 "p = %g is out of reach: %d bits a fingerprint keep %.2g at the "
				 "least",
				 p, SKETCH_CUCKOO_MOST_BITS,
				 SLOTS * 2 / fingerprints(SKETCH_CUCKOO_MOST_BITS));
	if (m != 0 && !plan_by_size(m, &found))
		return error_set(error, SKETCH_UNREACHABLE,
				 "%" PRIu64 " bits are too few for %" PRIu64
				 " fingerprints of %d bits",
				 m, n, SKETCH_CUCKOO_LEAST_BITS);
	if (m != 0 && p != 0 && sketch_cuckoo_rate_bound(&found, n) > p)
		return error_set(error, SKETCH_UNREACHABLE,
				 "%" PRIu64 " bits for %" PRIu64 " keys keep p = %.3g, not %g", m,
				 n, sketch_cuckoo_rate_bound(&found, n), p);
	if (p == 0)
		found.p = sketch_cuckoo_rate_bound(&found, n);
	*params = found;
	return SKETCH_OK;
}

/* ----------------------------------------------------------------------- slots */

/* Where a key may be. */
struct place {
	uint64_t first, second, fingerprint;
};

static inline uint64_t slot_mask(const struct sketch_cuckoo *cuckoo)
{
	return (UINT64_C(1) << cuckoo->params.f) - 1;
}

static inline uint64_t slot_bit(const struct sketch_cuckoo *cuckoo, uint64_t bucket,
				unsigned int slot)
{
	return (bucket * SLOTS + slot) * cuckoo->params.f;
}

static inline uint64_t slot_get(const struct sketch_cuckoo *cuckoo, uint64_t bucket,
				unsigned int slot)
{
	uint64_t bit = slot_bit(cuckoo, bucket, slot);

	return load_u64(cuckoo->table + bit / 8) >> bit % 8 & slot_mask(cuckoo);
}

static void slot_put(struct sketch_cuckoo *cuckoo, uint64_t bucket, unsigned int slot,
		     uint64_t fingerprint)
{
	uint64_t bit = slot_bit(cuckoo, bucket, slot);
	uint8_t *at = cuckoo->table + bit / 8;
	uint64_t others = load_u64(at) & ~(slot_mask(cuckoo) << bit % 8);

	store_u64(at, others | fingerprint << bit % 8);
}

/* The first slot of a bucket with that fingerprint, or with none where it is 0; SLOTS if
 * there is none such. */
static unsigned int slot_find(const struct sketch_cuckoo *cuckoo, uint64_t bucket,
			      uint64_t fingerprint)
{
	unsigned int slot = 0;

	while (slot < SLOTS && slot_get(cuckoo, bucket, slot) != fingerprint)
		slot++;
	return slot;
}

static inline uint64_t other_bucket(const struct sketch_cuckoo *cuckoo, uint64_t bucket,
				    uint64_t fingerprint)
{
	uint64_t buckets = cuckoo->params.buckets;
	uint64_t sum = positions_below(murmur3_mix(fingerprint), buckets);

	return sum >= bucket ? sum - bucket : sum + (buckets - bucket);
}

static inline struct place place_of(const struct sketch_cuckoo *cuckoo, struct sketch_hash hash)
{
	struct place place;

	place.first = positions_below(hash.h1, cuckoo->params.buckets);
	place.fingerprint = 1 + positions_below(hash.h2, slot_mask(cuckoo));
	place.second = other_bucket(cuckoo, place.first, place.fingerprint);
	return place;
}

uint64_t cuckoo_count(const struct sketch_cuckoo *cuckoo)
{
	uint64_t count = 0;

	for (uint64_t bucket = 0; bucket < cuckoo->params.buckets; bucket++) {
		for (unsigned int slot = 0; slot < SLOTS; slot++)
			count += slot_get(cuckoo, bucket, slot) != 0;
	}
	return count;
}

/* ---------------------------------------------------------------- life and death */

enum sketch_status sketch_cuckoo_new(struct sketch_cuckoo **cuckoo,
				     const struct sketch_identity *identity,
				     const struct sketch_cuckoo_params *params, uint64_t budget,
				     struct sketch_error *error)
{
	enum sketch_status status = cuckoo_check(params, error);
	struct sketch_cuckoo *made;
	uint64_t bytes;

	if (status != SKETCH_OK)
		return status;
	status = identity_check_single(identity, error);
	if (status != SKETCH_OK)
		return status;
	bytes = cuckoo_bytes(params);
	budget = region_budget(budget);
	if (bytes > budget)
		return error_budget(error, bytes, budget);
	made = calloc(1, sizeof *made);
	if (made == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	made->identity = *identity;
	made->params = *params;
	made->budget = budget;
	made->writable = true;
	if (!region_new(&made->own, (size_t)bytes)) {
		free(made);
		return error_set(error, SKETCH_NO_MEMORY,
				 "needs %" PRIu64 " bytes of memory, and the system refuses them",
				 bytes);
	}
	made->table = made->own.data;
	*cuckoo = made;
	return SKETCH_OK;
}

void sketch_cuckoo_free(struct sketch_cuckoo *cuckoo)
{
	if (cuckoo == NULL)
		return;
	region_free(&cuckoo->own);
	region_free(&cuckoo->image);
	chunks_end(&cuckoo->chunks);
	free(cuckoo);
}

const struct sketch_identity *sketch_cuckoo_identity(const struct sketch_cuckoo *cuckoo)
{
	return &cuckoo->identity;
}

const struct sketch_cuckoo_params *sketch_cuckoo_params(const struct sketch_cuckoo *cuckoo)
{
	return &cuckoo->params;
}

uint64_t sketch_cuckoo_records(const struct sketch_cuckoo *cuckoo)
{
	return cuckoo->records;
}

void sketch_cuckoo_set_records(struct sketch_cuckoo *cuckoo, uint64_t records)
{
	cuckoo->records = records;
}

/* -------------------------------------------------------------------- verifying */

static enum sketch_status verify_chunk(struct sketch_cuckoo *cuckoo, uint64_t chunk,
				       struct sketch_error *error)
{
	if (chunks_verify(&cuckoo->chunks, chunk))
		return SKETCH_OK;
	return error_set(error, SKETCH_DAMAGED,
			 "damaged: wrong checksum of the buckets from byte %" PRIu64 " on",
			 chunk * FORMAT_CHUNK_BYTES);
}

enum sketch_status sketch_cuckoo_verify(struct sketch_cuckoo *cuckoo, struct sketch_error *error)
{
	enum sketch_status status = SKETCH_OK;

	for (uint64_t chunk = 0; cuckoo->chunks.unverified > 0 && status == SKETCH_OK; chunk++)
		status = verify_chunk(cuckoo, chunk, error);
	return status;
}

/* A bucket may lie in two chunks. */
static enum sketch_status verify_bucket(struct sketch_cuckoo *cuckoo, uint64_t bucket,
					struct sketch_error *error)
{
	uint64_t first = slot_bit(cuckoo, bucket, 0) / 8;
	uint64_t last = (slot_bit(cuckoo, bucket, SLOTS) - 1) / 8;
	enum sketch_status status = verify_chunk(cuckoo, first / FORMAT_CHUNK_BYTES, error);

	return status == SKETCH_OK ? verify_chunk(cuckoo, last / FORMAT_CHUNK_BYTES, error) :
				     status;
}

/* ----------------------------------------------------------------------- asking */

/* Slots that are compared at once, how often, and where their fields are. */
struct compare {
	unsigned int at_once;
	uint64_t lowest, highest, all; /* bits of each field; all bits of all */
};

static struct compare compare_of(uint32_t f)
{
	struct compare compare = { f <= 16 ? 4 : f <= 28 ? 2 : 1, 0, 0, 0 };

	for (unsigned int i = 0; i < compare.at_once; i++)
		compare.lowest |= UINT64_C(1) << i * f;
	compare.highest = compare.lowest << (f - 1);
	compare.all = compare.highest | (compare.highest - compare.lowest);
	return compare;
}

/* Whether a bucket has the fingerprint.  A field of `differ` that is 0 is found by the
 * borrow that it takes (Mycroft, 1987); what is found above one is not looked at. */
static inline __attribute__((always_inline)) bool bucket_has(const struct sketch_cuckoo *cuckoo,
							     const struct compare *compare,
							     unsigned int at_once, uint64_t bucket,
							     uint64_t fingerprint)
{
	uint64_t bit = slot_bit(cuckoo, bucket, 0), found = 0;

	for (unsigned int i = 0; i < SLOTS; i += at_once, bit += at_once * cuckoo->params.f) {
		uint64_t word = load_u64(cuckoo->table + bit / 8) >> bit % 8 & compare->all;
		uint64_t differ = word ^ fingerprint * compare->lowest;

		found |= (differ - compare->lowest) & ~differ & compare->highest;
	}
	return found != 0;
}

static inline __attribute__((always_inline)) uint64_t
test_batch(const struct sketch_cuckoo *cuckoo, const struct compare *compare, unsigned int at_once,
	   const struct place *places, size_t count)
{
	uint64_t verdict = 0;

	for (size_t i = 0; i < count; i++) {
		bool found = bucket_has(cuckoo, compare, at_once, places[i].first,
					places[i].fingerprint) ||
			     bucket_has(cuckoo, compare, at_once, places[i].second,
					places[i].fingerprint);

		verdict |= (uint64_t)found << i;
	}
	return verdict;
}

/* The places of a batch, whose buckets are on their way then. */
static inline size_t find_places(const struct sketch_cuckoo *cuckoo,
				 const struct sketch_hash *hashes, size_t count,
				 struct place places[BATCH], bool write)
{
	count = count < BATCH ? count : BATCH;
	for (size_t i = 0; i < count; i++) {
		places[i] = place_of(cuckoo, hashes[i]);
		if (write) {
			__builtin_prefetch(cuckoo->table + slot_bit(cuckoo, places[i].first, 0) / 8,
					   1);
			continue;
		}
		__builtin_prefetch(cuckoo->table + slot_bit(cuckoo, places[i].first, 0) / 8);
		__builtin_prefetch(cuckoo->table + slot_bit(cuckoo, places[i].second, 0) / 8);
	}
	return count;
}

static enum sketch_status verify_places(struct sketch_cuckoo *cuckoo, const struct place *places,
					size_t count, struct sketch_error *error)
{
	enum sketch_status status = SKETCH_OK;

	for (size_t i = 0; i < count && status == SKETCH_OK && cuckoo->chunks.unverified > 0; i++) {
		status = verify_bucket(cuckoo, places[i].first, error);
		if (status == SKETCH_OK)
			status = verify_bucket(cuckoo, places[i].second, error);
	}
	return status;
}

enum sketch_status sketch_cuckoo_test(struct sketch_cuckoo *cuckoo,
				      const struct sketch_hash *hashes, size_t count,
				      uint64_t *found, struct sketch_error *error)
{
	struct compare compare = compare_of(cuckoo->params.f);
	struct place places[BATCH];

	for (size_t done = 0, batch; done < count; done += batch) {
		enum sketch_status status;
		uint64_t *word = &found[done / BATCH];

		batch = find_places(cuckoo, hashes + done, count - done, places, false);
		status = verify_places(cuckoo, places, batch, error);
		if (status != SKETCH_OK)
			return status;
		if (compare.at_once == 4)
			*word = test_batch(cuckoo, &compare, 4, places, batch);
		else if (compare.at_once == 2)
			*word = test_batch(cuckoo, &compare, 2, places, batch);
		else
			*word = test_batch(cuckoo, &compare, 1, places, batch);
	}
	return SKETCH_OK;
}

/* ------------------------------------------------------------------- putting in */

/* A bucket that is reached by moving the fingerprint in a slot of the node before. */
struct node {
	uint64_t bucket;
	uint32_t before; /* itself where it is a bucket of the key */
	uint32_t slot;
};

/* Whether a bucket is among those on the way to a node: a way that comes twice to one
 * cannot be gone. */
static bool is_on_way(const struct node *nodes, uint32_t at, uint64_t bucket)
{
	while (nodes[at].bucket != bucket && nodes[at].before != at)
		at = nodes[at].before;
	return nodes[at].bucket == bucket;
}

/* Moves the fingerprints on the way to a node, the last one to the empty slot of a bucket
 * beyond it, and puts the new one where the first was. */
static void go_way(struct sketch_cuckoo *cuckoo, const struct node *nodes, uint32_t at,
		   unsigned int from, uint64_t bucket, unsigned int empty, uint64_t fingerprint)
{
	for (;;) {
		uint64_t moved = slot_get(cuckoo, nodes[at].bucket, from);

		slot_put(cuckoo, bucket, empty, moved);
		bucket = nodes[at].bucket;
		empty = from;
		if (nodes[at].before == at)
			break;
		from = nodes[at].slot;
		at = nodes[at].before;
	}
	slot_put(cuckoo, bucket, empty, fingerprint);
}

/* Makes room in one of the two full buckets and puts the fingerprint there; false where no
 * way is found. */
static bool push_in(struct sketch_cuckoo *cuckoo, const struct place *place)
{
	struct node nodes[CUCKOO_NODES] = { { place->first, 0, 0 }, { place->second, 1, 0 } };
	uint32_t count = place->first == place->second ? 1 : 2;

	for (uint32_t at = 0; at < count; at++) {
		for (unsigned int slot = 0; slot < SLOTS; slot++) {
			uint64_t moved = slot_get(cuckoo, nodes[at].bucket, slot);
			uint64_t bucket = other_bucket(cuckoo, nodes[at].bucket, moved);
			unsigned int empty;

			/* Another copy leads nowhere else: with copies the search would go
			 * through the same few buckets until it may go no further. */
			if (slot_find(cuckoo, nodes[at].bucket, moved) < slot ||
			    is_on_way(nodes, at, bucket))
				continue;
			empty = slot_find(cuckoo, bucket, 0);
			if (empty < SLOTS) {
				go_way(cuckoo, nodes, at, slot, bucket, empty, place->fingerprint);
				return true;
			}
			if (count < CUCKOO_NODES)
				nodes[count++] = (struct node){ bucket, at, slot };
		}
	}
	return false;
}

static bool put_in(struct sketch_cuckoo *cuckoo, const struct place *place)
{
	uint64_t bucket = place->first;
	unsigned int empty = slot_find(cuckoo, bucket, 0);

	if (empty == SLOTS) {
		bucket = place->second;
		empty = slot_find(cuckoo, bucket, 0);
	}
	if (empty < SLOTS)
		slot_put(cuckoo, bucket, empty, place->fingerprint);
	else if (!push_in(cuckoo, place))
		return false;
	cuckoo->entries++;
	return true;
}

static unsigned int copies_in(const struct sketch_cuckoo *cuckoo, uint64_t bucket,
			      uint64_t fingerprint)
{
	unsigned int copies = 0;

	for (unsigned int slot = 0; slot < SLOTS; slot++)
		copies += slot_get(cuckoo, bucket, slot) == fingerprint;
	return copies;
}

static enum sketch_status refuse_full(const struct sketch_cuckoo *cuckoo, const struct place *place,
				      struct sketch_error *error)
{
	double slots = (double)cuckoo->params.buckets * SLOTS;
	unsigned int copies = copies_in(cuckoo, place->first, place->fingerprint);

	if (place->second != place->first)
		copies += copies_in(cuckoo, place->second, place->fingerprint);
	/* Buckets that others share may have room for fewer than eight. */
	if (copies >= SLOTS)
		return error_set(error, SKETCH_FULL,
				 "has %u copies of a key, and room for no more: put each in once",
				 copies);
	return error_set(error, SKETCH_FULL,
			 "is full: it holds %" PRIu64 " keys, a load of %.1f %%, and was made for "
			 "%" PRIu64,
			 cuckoo->entries, 100 * (double)cuckoo->entries / slots, cuckoo->params.n);
}

enum sketch_status sketch_cuckoo_add(struct sketch_cuckoo *cuckoo, const struct sketch_hash *hashes,
				     size_t count, size_t *done, struct sketch_error *error)
{
	struct place places[BATCH];

	*done = 0;
	while (*done < count) {
		size_t batch = find_places(cuckoo, hashes + *done, count - *done, places, true);

		for (size_t i = 0; i < batch; i++, ++*done) {
			if (!put_in(cuckoo, &places[i]))
				return refuse_full(cuckoo, &places[i], error);
		}
	}
	return SKETCH_OK;
}

/* --------------------------------------------------------------------- taking out */

static bool take_from(struct sketch_cuckoo *cuckoo, uint64_t bucket, uint64_t fingerprint)
{
	unsigned int slot = slot_find(cuckoo, bucket, fingerprint);

	if (slot == SLOTS)
		return false;
	slot_put(cuckoo, bucket, slot, 0);
	cuckoo->entries--;
	return true;
}

size_t sketch_cuckoo_remove(struct sketch_cuckoo *cuckoo, const struct sketch_hash *hashes,
			    size_t count, uint64_t *removed)
{
	struct place places[BATCH];
	size_t total = 0;

	for (size_t done = 0, batch; done < count; done += batch) {
		uint64_t verdict = 0;

		batch = find_places(cuckoo, hashes + done, count - done, places, true);
		for (size_t i = 0; i < batch; i++) {
			bool gone = take_from(cuckoo, places[i].first, places[i].fingerprint) ||
				    take_from(cuckoo, places[i].second, places[i].fingerprint);

			verdict |= (uint64_t)gone << i;
			total += gone;
		}
		removed[done / BATCH] = verdict;
	}
	return total;
}

/* -------------------------------------------------------------------------- union */

enum sketch_status sketch_cuckoo_compatible(const struct sketch_cuckoo *a,
					    const struct sketch_cuckoo *b,
					    struct sketch_error *error)
{
	enum sketch_status status = identity_compare(&a->identity, &b->identity, error);

	if (status != SKETCH_OK)
		return status;
	if (a->params.f != b->params.f)
		return error_differ(error, "bits of a fingerprint", a->params.f, b->params.f);
	if (a->params.buckets != b->params.buckets)
		return error_differ(error, "number of buckets", a->params.buckets,
				    b->params.buckets);
	return SKETCH_OK;
}

/* Puts every fingerprint of `from` where it belongs; one of its two buckets is known. */
static enum sketch_status join_tables(struct sketch_cuckoo *into, const struct sketch_cuckoo *from,
				      struct sketch_error *error)
{
	for (uint64_t bucket = 0; bucket < from->params.buckets; bucket++) {
		for (unsigned int slot = 0; slot < SLOTS; slot++) {
			struct place place = { bucket, 0, slot_get(from, bucket, slot) };

			if (place.fingerprint == 0)
				continue;
			place.second = other_bucket(into, bucket, place.fingerprint);
			if (!put_in(into, &place))
				return refuse_full(into, &place, error);
		}
	}
	return SKETCH_OK;
}

enum sketch_status sketch_cuckoo_union(struct sketch_cuckoo *into, struct sketch_cuckoo *from,
				       struct sketch_error *error)
{
	enum sketch_status status = sketch_cuckoo_compatible(into, from, error);
	uint64_t bytes = cuckoo_bytes(&into->params), entries = into->entries;
	struct region before;

	if (status == SKETCH_OK)
		status = sketch_cuckoo_verify(from, error);
	if (status != SKETCH_OK)
		return status;
	if (!region_new(&before, (size_t)bytes))
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	memcpy(before.data, into->table, (size_t)bytes);
	status = join_tables(into, from, error);
	if (status != SKETCH_OK) {
		memcpy(into->table, before.data, (size_t)bytes);
		into->entries = entries;
	}
	region_free(&before);
	if (status != SKETCH_OK)
		return status;
	if (from->params.n < into->params.n ||
	    (from->params.n == into->params.n && from->params.p < into->params.p)) {
		into->params.n = from->params.n;
		into->params.p = from->params.p;
	}
	if (__builtin_add_overflow(into->records, from->records, &into->records))
		into->records = UINT64_MAX;
	return SKETCH_OK;
}

/* -------------------------------------------------------------------------- state */

/* Whether the fingerprint in a slot is the first of its kind: no slot before it in its
 * bucket has the same, and the other bucket has none or is a later one. */
static bool is_first(const struct sketch_cuckoo *cuckoo, uint64_t bucket, unsigned int slot,
		     uint64_t other)
{
	uint64_t fingerprint = slot_get(cuckoo, bucket, slot);

	return slot_find(cuckoo, bucket, fingerprint) == slot &&
	       (other >= bucket || slot_find(cuckoo, other, fingerprint) == SLOTS);
}

enum sketch_status sketch_cuckoo_state(struct sketch_cuckoo *cuckoo,
				       struct sketch_cuckoo_state *state,
				       struct sketch_error *error)
{
	const struct sketch_cuckoo_params *params = &cuckoo->params;
	enum sketch_status status = sketch_cuckoo_verify(cuckoo, error);
	struct sketch_cuckoo_state s = { 0 };
	double pairs = 0;

	if (status != SKETCH_OK)
		return status;
	for (uint64_t bucket = 0; bucket < params->buckets; bucket++) {
		for (unsigned int slot = 0; slot < SLOTS; slot++) {
			uint64_t fingerprint = slot_get(cuckoo, bucket, slot), other;

			if (fingerprint == 0)
				continue;
			s.entries++;
			other = other_bucket(cuckoo, bucket, fingerprint);
			if (is_first(cuckoo, bucket, slot, other)) {
				s.kinds++;
				pairs += other == bucket ? 1 : 2;
			}
		}
	}
	s.load = (double)s.entries / ((double)params->buckets * SLOTS);
	s.rate = pairs / ((double)params->buckets * fingerprints(params->f));
	s.past_capacity = s.entries > params->n;
	*state = s;
	return SKETCH_OK;
}
