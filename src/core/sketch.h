/* sketch.h - the public interface of libsketch
 *
 * Sketches are small summaries of streams too large to keep.  This library
 * holds Bloom filters ("have I seen this before?"), sizes them so that the
 * rate of false positives asked for is a ceiling and not a hope, and keeps
 * them in files that any machine reads (sketch-format(5)).
 *
 * Conventions
 *   - Nothing here prints, exits, or keeps global state.  Two objects may be
 *     used from two threads at once; one object may not, except that any
 *     number of threads may call functions that take it as const.
 *   - A function that can fail returns enum sketch_status; SKETCH_OK is 0.
 *     Where it also takes a struct sketch_error *, that argument may be NULL;
 *     otherwise it is filled on failure, and left alone on success.
 *   - On failure, out-parameters are as they were before the call.
 *   - Probabilities are fractions, strictly between 0 and 1 unless the text says
 *     otherwise.  Lengths are in bytes unless the name says bits.
 *   - Letters are the field's: n keys, m bits, k hashes, p rate of false
 *     positives, g cache lines a key.
 */
#ifndef SKETCH_H
#define SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ status */

enum sketch_status {
	SKETCH_OK = 0,
	SKETCH_RANGE,       /* an argument lies outside its range */
	SKETCH_UNREACHABLE, /* no parameters within the limits keep what was asked */
	SKETCH_NO_MEMORY,   /* the memory is not there, or the budget forbids it */
	SKETCH_IO,          /* a system call failed; error.errnum says how */
	SKETCH_FOREIGN,     /* not a sketch file at all */
	SKETCH_UNSUPPORTED, /* a sketch file from the future, or of another kind */
	SKETCH_TRUNCATED,   /* fewer bytes than the header says */
	SKETCH_LENGTHENED,  /* more bytes than the header says */
	SKETCH_DAMAGED,     /* a checksum or a field is wrong */
	SKETCH_MISMATCH,    /* two sketches differ in a field that must agree */
	SKETCH_BUSY,        /* another process holds the lock */
	SKETCH_INTERRUPTED, /* a signal came while waiting for a lock */
	SKETCH_FULL         /* a table has no room for another key */
};

/* What went wrong, in words for one line of a message: no newline, no file
 * name, no program name. */
struct sketch_error {
	enum sketch_status status;
	int errnum; /* errno of the failed call where status is SKETCH_IO, else 0 */
	char text[200];
};

/* The name of a status in words; static, never NULL. */
const char *sketch_status_text(enum sketch_status status);

/* The version of this library, as "MAJOR.MINOR.PATCH". */
const char *sketch_version(void);

/* -------------------------------------------------------------------- hash */

/* The two 64-bit halves of a key's 128-bit hash.  All positions of the key, in
 * every sketch, derive from these two numbers. */
struct sketch_hash {
	uint64_t h1, h2;
};

/* MurmurHash3_x64_128 (Appleby, 2011) of `length` bytes at `data` under a
 * 32-bit seed: the same two numbers on every machine, byte order and
 * alignment.  `data` may be NULL where length is 0.  No defence against people
 * who choose their keys: collisions are known that hold under every seed. */
struct sketch_hash sketch_murmur3_x64_128(const void *data, size_t length, uint32_t seed);

/* A secret key of a hash.  It is the caller's, who should overwrite it once it is used no
 * more; the library keeps no copy, and writes it nowhere. */
#define SKETCH_SECRET_BYTES 16
struct sketch_secret {
	uint8_t bytes[SKETCH_SECRET_BYTES];
};

/* SipHash-2-4 (Aumasson and Bernstein, 2012) with an output of 128 bits: h1 is its first
 * eight bytes, little-endian, h2 the others.  Who does not know the secret cannot find keys
 * whose hashes collide.  `data` may be NULL where length is 0. */
struct sketch_hash sketch_siphash_2_4_128(const void *data, size_t length,
					  const struct sketch_secret *secret);

/* A number that tells one secret from another, and nothing else of it or of any hash under
 * it: SipHash-2-4 with 64 bits of a text that sketch-format(5) names. */
uint64_t sketch_secret_fingerprint(const struct sketch_secret *secret);

/* The hash of a key by SipHash where there is a secret, else (NULL) by MurmurHash3. */
struct sketch_hash sketch_key_hash(const void *data, size_t length, uint32_t seed,
				   const struct sketch_secret *secret);

/* CRC-32C (Castagnoli; polynomial 0x1EDC6F41 reflected, initial value and final
 * xor 0xFFFFFFFF) of `length` bytes, continuing from `crc`, which is 0 for the
 * first call. */
uint32_t sketch_crc32c(uint32_t crc, const void *data, size_t length);

/* ------------------------------------------------------------------ sizing */

enum sketch_layout {
	SKETCH_CLASSIC = 1, /* each of the k bits is any of the m */
	SKETCH_BLOCKED = 2  /* the k bits lie in g lines of 512 bits, k/g in each */
};

#define SKETCH_MAX_HASHES 255
#define SKETCH_MAX_LAYERS 64
#define SKETCH_MAX_BITS ((uint64_t)INT64_MAX) /* m is below 2^63 */
#define SKETCH_CLASSIC_UNIT 64                /* a classic m is a multiple of this */
#define SKETCH_BLOCK_BITS 512                 /* a blocked m is a multiple of g times this */

/* The parameters of one layer of a filter: everything that decides which bits
 * a key sets, and what was promised. */
struct sketch_params {
	enum sketch_layout layout;
	uint32_t k; /* hashes, 1..SKETCH_MAX_HASHES; a multiple of g */
	uint32_t g; /* cache lines a key; 0 where layout is classic, else 1..k */
	uint64_t m; /* bits, 1..SKETCH_MAX_BITS; a multiple of 64 (classic) or of
	             * 512 g (blocked) */
	uint64_t n; /* capacity: keys, at least 1 */
	double p;   /* the ceiling asked for on the expected rate at n keys; where
	             * none was asked for, the bound at n keys: above 0, at most 1 */
};

/* SKETCH_OK where every field of *params lies in its range and they agree with
 * each other (p against n, m, k is not checked); SKETCH_RANGE otherwise, with
 * the field named in *error. */
enum sketch_status sketch_params_check(const struct sketch_params *params,
				       struct sketch_error *error);

/* What is known of a filter to be sized; 0 stands for "not given". */
struct sketch_request {
	enum sketch_layout layout; /* always given */
	uint64_t n;
	double p;
	uint64_t m; /* rounded down to the layout's unit, once g is known */
	uint32_t k;
	uint32_t g; /* blocked only; 0 lets the library choose */
};

/* Completes a request: finds the parameters not given so that
 * sketch_rate_bound(n) <= p, using only IEEE additions, multiplications,
 * divisions and square roots, so that every machine finds the same ones.
 *
 *   given      found
 *   n p        of all k the one with the smallest m (blocked: see below), m
 *   n p k      the smallest m
 *   n m        the k with the smallest bound; p is that bound
 *   n m k      p is the bound
 *   n m p      the least g that can keep p, and for it the smallest k that does,
 *              or SKETCH_UNREACHABLE
 *   n m p k    a check: SKETCH_UNREACHABLE where the bound exceeds p
 *   m p        the largest n, and the k that gives it
 *   m p k      the largest n
 *   m k        SKETCH_RANGE: n or p is missing; so is any other subset
 *
 * n may be up to 10^18, p as small as 1e-300.  Returns SKETCH_RANGE for a value
 * outside its range, SKETCH_UNREACHABLE where nothing within the limits of k
 * and m will do (text names the limit met or the nearest that is possible).
 *
 * Blocked, g not given: g is the least whose m is at most 10 % above that of the
 * best classic filter, else the one with the smallest m.  k = 8 g, one bit in each
 * 64-bit word of a line, is the fastest to probe, so it is taken where it costs at
 * most 3 % more bits than the best k for the same g.  Where p is known, g and this
 * form follow from p alone; so m never falls as n grows, nor as p falls, but for
 * those p where one more line begins (8.6e-4, 7.4e-7, 6.3e-10, ...): there m drops by
 * some percent, which was the price of fewer cache misses. */
enum sketch_status sketch_plan(const struct sketch_request *request, struct sketch_params *params,
			       struct sketch_error *error);

/* An upper bound on the expected rate of false positives after `keys` distinct
 * keys, over random seeds; 0 where keys is 0, never above 1.
 *   classic  (1 - e^{-k (n + 1/2) / (m - 1)})^k
 *            (Goel and Gupta, "Small subset queries and bloom filters using
 *            ternary associative memories", 2010, section on the upper bound)
 *   blocked  f^g, where f is the exact expectation over the binomial number of
 *            keys in a line: for k = 8 g a product over the eight words, else
 *            balls into 512 bins.  Lines of a key lie in g disjoint segments,
 *            which makes the product exact. */
double sketch_rate_bound(const struct sketch_params *params, uint64_t keys);

/* Expected fraction of bits set after `keys` distinct keys, and the standard
 * deviation of that fraction over random seeds. */
double sketch_fill_expected(const struct sketch_params *params, uint64_t keys);
double sketch_fill_deviation(const struct sketch_params *params, uint64_t keys);

/* The number of distinct keys most likely behind `ones` set bits, by inverting
 * sketch_fill_expected (Swamidass and Baldi 2007 for classic): INFINITY where
 * every bit is set. */
double sketch_distinct(const struct sketch_params *params, uint64_t ones);

/* ------------------------------------------------------------------ filter */

enum sketch_kind {
	SKETCH_KIND_BLOOM = 1,
	SKETCH_KIND_COUNTS = 2,
	SKETCH_KIND_COUNTING_BLOOM = 3,
	SKETCH_KIND_CUCKOO = 4,
	SKETCH_KIND_HYPERLOGLOG = 5
};

/* "Bloom filter", "count-min sketch", ...; NULL for a number not assigned. */
const char *sketch_kind_name(uint32_t kind);

/* How the layers of a filter belong together. */
enum sketch_arrangement {
	SKETCH_SINGLE = 0, /* one layer */
	SKETCH_LADDER = 1, /* layers opened one after another as the filter grew */
	SKETCH_WINDOW = 2  /* generations of a window */
};

#define SKETCH_FAMILY_MURMUR3 1u /* MurmurHash3_x64_128 and position rule 1 */
#define SKETCH_FAMILY_SIPHASH 2u /* SipHash-2-4 of 128 bits and position rule 1 */
#define SKETCH_FOLD_ASCII 1u     /* key transform: A-Z were hashed as a-z */

/* What all layers of a filter share. */
struct sketch_identity {
	uint32_t family;     /* SKETCH_FAMILY_... */
	uint32_t transforms; /* 0 or SKETCH_FOLD_ASCII */
	uint32_t seed;       /* of family MURMUR3; else 0 */
	enum sketch_arrangement arrangement;
	uint64_t key_fingerprint; /* of family SIPHASH, sketch_secret_fingerprint; else 0 */
};

struct sketch_bloom;

/* A new filter with every bit 0: *filter is the caller's, to be freed with
 * sketch_bloom_free.  `budget` is the most bytes it may take (and SIZE_MAX / 2,
 * where that is less); a larger filter gives SKETCH_NO_MEMORY with the size it
 * would need in *error, before any memory is taken.  1 <= layers <= SKETCH_MAX_LAYERS. */
enum sketch_status sketch_bloom_new(struct sketch_bloom **filter,
				    const struct sketch_identity *identity,
				    const struct sketch_params *layers, size_t layer_count,
				    uint64_t budget, struct sketch_error *error);

/* Frees the filter and what it maps; NULL is allowed. */
void sketch_bloom_free(struct sketch_bloom *filter);

const struct sketch_identity *sketch_bloom_identity(const struct sketch_bloom *filter);
size_t sketch_bloom_layers(const struct sketch_bloom *filter);
const struct sketch_params *sketch_bloom_params(const struct sketch_bloom *filter, size_t layer);

/* Records read into the filter, repeats included: a note kept in the file; the
 * library never changes it by itself but adds it up in sketch_bloom_union. */
uint64_t sketch_bloom_records(const struct sketch_bloom *filter);
void sketch_bloom_set_records(struct sketch_bloom *filter, uint64_t records);

/* Adds `count` keys, given by their hashes, to the last layer.  The filter must
 * be writable: made by sketch_bloom_new or read with SKETCH_WRITABLE. */
void sketch_bloom_add(struct sketch_bloom *filter, const struct sketch_hash *hashes, size_t count);

/* Which of `count` keys may be in any layer?  Bit i % 64 of found[i / 64] is 1
 * where key i may be there, 0 where it surely is not; bits past count are 0.
 * A mapped filter verifies a chunk before its first use, so this may return
 * SKETCH_DAMAGED, with found undefined. */
enum sketch_status sketch_bloom_test(struct sketch_bloom *filter, const struct sketch_hash *hashes,
				     size_t count, uint64_t *found, struct sketch_error *error);

/* As sketch_bloom_test on the last layer, in order, adding each key after it
 * was tested: of two equal keys in one call the second is found. */
void sketch_bloom_test_and_add(struct sketch_bloom *filter, const struct sketch_hash *hashes,
			       size_t count, uint64_t *found);

/* The parameters of rung 0, 1, 2, ... of a ladder for the rate p: rung i has room
 * for 65536 * 4^i keys at p / 2^(i+1), so that all rungs together keep p. */
enum sketch_status sketch_ladder_rung(enum sketch_layout layout, double p, size_t rung,
				      struct sketch_params *params, struct sketch_error *error);

/* As sketch_bloom_test_and_add, over all layers: a key that is found in an older
 * one is not added to the last.  A ladder opens its next rung at the very key that
 * fills the last one, so equal keys in equal order give equal filters however
 * they are cut into calls.  Fails where a rung does not fit the budget that the
 * filter was made or read with (SKETCH_NO_MEMORY) or there can be no other
 * (SKETCH_UNREACHABLE): the keys before were added, the filter stays usable. */
enum sketch_status sketch_bloom_insert(struct sketch_bloom *filter,
				       const struct sketch_hash *hashes, size_t count,
				       uint64_t *found, struct sketch_error *error);

/* ---------------------------------------------------------------- counting */

/* A counting Bloom filter (Fan, Cao, Almeida and Broder, "Summary cache", 2000): a filter
 * of a single layer with a counter in place of each bit, so that keys can be taken out
 * again.  It is a multiset: a key put in twice is there until it was taken out twice.  All
 * functions of a filter do for it what they do for the plain filter of the keys that are
 * in it; bits set are counters that are not 0; of a union the counters are the sums.  A
 * counter that reached its largest value stays there, so a key is never missed, and its
 * copies beyond are forgotten. */

/* A new one, with counters of 4, 8 or 16 bits; params->m is their number.  Else as
 * sketch_bloom_new; identity->arrangement must be SKETCH_SINGLE. */
enum sketch_status sketch_counting_new(struct sketch_bloom **filter,
				       const struct sketch_identity *identity,
				       const struct sketch_params *params,
				       unsigned int counter_bits, uint64_t budget,
				       struct sketch_error *error);

/* Bits of a counter; 0 in a plain filter. */
unsigned int sketch_bloom_counter_bits(const struct sketch_bloom *filter);

/* Takes keys out, each once, in order; the filter must be counting, and writable.  A key
 * that surely is not there is refused, and changes nothing.  Bit i % 64 of removed[i / 64]
 * is 1 where key i was taken out, bits past count are 0; returns how many were.  A key
 * that was never put in but is found (a false positive) is not refused, and takes others'
 * counts away: they may be missed from then on. */
size_t sketch_counting_remove(struct sketch_bloom *filter, const struct sketch_hash *hashes,
			      size_t count, uint64_t *removed);

/* What the counters of a counting filter hold. */
struct sketch_counting_state {
	uint64_t full; /* counters at their largest value, which stay there */
	uint64_t sum;  /* of all; k times the keys, copies included, where none is full */
	unsigned int largest;
};

/* Reads the whole payload; it is verified first. */
enum sketch_status sketch_counting_state(struct sketch_bloom *filter,
					 struct sketch_counting_state *state,
					 struct sketch_error *error);

/* An upper bound on the expected number of full counters after `keys` distinct keys, each
 * put in once: m P(Poisson(k keys / m) >= 2^counter_bits - 1), or Chernoff's bound where
 * k/g bits fall anywhere in a line (counting.c); at least DBL_MIN where keys is not 0. */
double sketch_counting_overflow(const struct sketch_params *params, unsigned int counter_bits,
				uint64_t keys);

/* ------------------------------------------------------------------ window */

/* Membership in the recent past only.  Time, counted in records or in
 * nanoseconds, is cut into generations of one span each; generation s lasts from
 * s * span to (s + 1) * span.  Two are kept, the current one and the one before:
 * a key put in during generation s is found until generation s + 2 begins, that
 * is for at least one span and at most two.  Each is sized for n keys at p / 2. */
enum sketch_window_unit { SKETCH_WINDOW_RECORDS = 1, SKETCH_WINDOW_NANOSECONDS = 2 };

struct sketch_window {
	enum sketch_window_unit unit;
	uint64_t span;    /* of a generation, in that unit; at least 1 */
	int64_t landmark; /* nanoseconds: when stamp 0 began, after 1970-01-01 UTC;
	                   * records: 0 */
	uint64_t stamp;   /* of the current generation; stamp * span is below 2^63 */
	uint64_t records; /* read in the current generation */
};

/* A new filter of two generations, each with the parameters given; identity's
 * arrangement must be SKETCH_WINDOW.  Else as sketch_bloom_new. */
enum sketch_status sketch_window_new(struct sketch_bloom **filter,
				     const struct sketch_identity *identity,
				     const struct sketch_params *generation,
				     const struct sketch_window *window, uint64_t budget,
				     struct sketch_error *error);

/* What the window of a filter is by now; false where it has none. */
bool sketch_window_get(const struct sketch_bloom *filter, struct sketch_window *window);

/* Makes `stamp` the current generation, forgetting what is too old; a stamp that
 * is not later than the current one changes nothing. */
void sketch_window_advance(struct sketch_bloom *filter, uint64_t stamp);

/* Asks both generations for each key, in order, and puts it into the current one:
 * always where `refresh`, so that a key is remembered from its last sighting; else
 * only where it was not found, so that it is remembered from its first.  No generation begins
 * by itself: of records no more than span - records are to be put in before
 * sketch_window_advance, or more than two spans are remembered, and the file that is written
 * is refused as damaged. */
void sketch_window_insert(struct sketch_bloom *filter, const struct sketch_hash *hashes,
			  size_t count, bool refresh, uint64_t *found);

/* ------------------------------------------------------------------- union */

/* SKETCH_OK where the two filters may be joined: identity, the bits of a counter and the
 * first layer's layout, m, k, g agree, and neither has a window.  Else SKETCH_MISMATCH; text
 * names the field and both values. */
enum sketch_status sketch_bloom_compatible(const struct sketch_bloom *a,
					   const struct sketch_bloom *b,
					   struct sketch_error *error);

/* Makes `into` the union of both; records add up.  Of filters with a single layer
 * the bits are or-ed.  A ladder keeps all layers of both in an order of their own
 * (by size, then by their bytes), equal ones once, so the same files give the same
 * union in any order; the rates of the layers add up, too.  `into` must be writable,
 * both compatible; `from` is verified first.  On failure `into` is as before. */
enum sketch_status sketch_bloom_union(struct sketch_bloom *into, struct sketch_bloom *from,
				      struct sketch_error *error);

/* What the bits of one layer say. */
struct sketch_bloom_state {
	uint64_t ones;      /* bits set */
	double fill;        /* ones / m */
	double rate;        /* rate of false positives now: classic (ones/m)^k; blocked,
	                  * for each segment the mean over its lines of the product
	                  * over the words of fill (k = 8 g), or of fill^(k/g), and
	                  * the product of that over the segments */
	double distinct;    /* sketch_distinct(params, ones) */
	bool past_capacity; /* fill exceeds that of n keys by more than 4 standard
	                     * deviations */
};

/* Counts the bits of a layer, 0 <= layer < sketch_bloom_layers.  Reads the whole
 * payload; it is verified first. */
enum sketch_status sketch_bloom_state(struct sketch_bloom *filter, size_t layer,
				      struct sketch_bloom_state *state, struct sketch_error *error);

/* Bytes of the bits of all layers, as in a file. */
uint64_t sketch_bloom_payload(const struct sketch_bloom *filter);

/* ------------------------------------------------------------------ cuckoo */

#define SKETCH_CUCKOO_SLOTS 4 /* of a bucket */
#define SKETCH_CUCKOO_LEAST_BITS 6
#define SKETCH_CUCKOO_MOST_BITS 56
#define SKETCH_CUCKOO_MOST_KEYS UINT64_C(1000000000000000)

/* The parameters of a cuckoo filter (Fan, Andersen, Kaminsky and Mitzenmacher 2014): a
 * table of fingerprints, four to a bucket, of which a key has two. */
struct sketch_cuckoo_params {
	uint32_t f;       /* bits of a fingerprint, SKETCH_CUCKOO_LEAST_BITS to .._MOST_BITS */
	uint64_t buckets; /* at least 1; 4 f buckets is below 2^63 */
	uint64_t n;       /* capacity: keys, at least 1 */
	double p;         /* as in struct sketch_params */
};

/* Finds f and buckets for n keys: with p, of all f the one that takes the fewest bits and
 * keeps sketch_cuckoo_rate_bound(n) <= p; with m, which is bits, the largest f that has
 * room for n keys in them; with both a check.  0 stands for p or m not given.  A table so
 * made has room for n different keys but for a chance of one in ten thousand.
 * SKETCH_RANGE, SKETCH_UNREACHABLE. */
enum sketch_status sketch_cuckoo_plan(uint64_t n, double p, uint64_t m,
				      struct sketch_cuckoo_params *params,
				      struct sketch_error *error);

/* An upper bound on the expected rate of false positives while `keys` keys, copies
 * included, are in it: 2 keys / (buckets (2^f - 1)), at most 1.  It holds for every table,
 * in expectation over the absent key alone. */
double sketch_cuckoo_rate_bound(const struct sketch_cuckoo_params *params, uint64_t keys);

/* Bytes of the table, as in a file. */
uint64_t sketch_cuckoo_size(const struct sketch_cuckoo_params *params);

struct sketch_cuckoo;

/* A new one, empty; as sketch_bloom_new.  identity->arrangement must be SKETCH_SINGLE. */
enum sketch_status sketch_cuckoo_new(struct sketch_cuckoo **cuckoo,
				     const struct sketch_identity *identity,
				     const struct sketch_cuckoo_params *params, uint64_t budget,
				     struct sketch_error *error);
void sketch_cuckoo_free(struct sketch_cuckoo *cuckoo);

const struct sketch_identity *sketch_cuckoo_identity(const struct sketch_cuckoo *cuckoo);
const struct sketch_cuckoo_params *sketch_cuckoo_params(const struct sketch_cuckoo *cuckoo);
uint64_t sketch_cuckoo_records(const struct sketch_cuckoo *cuckoo);
void sketch_cuckoo_set_records(struct sketch_cuckoo *cuckoo, uint64_t records);

/* Puts `count` keys in, in order, each as one more copy of itself; the filter must be
 * writable.  *done becomes the number that were: all, or those before the first that finds
 * no room (SKETCH_FULL, for which nothing was moved): the table is full, or holds eight
 * copies of it already. */
enum sketch_status sketch_cuckoo_add(struct sketch_cuckoo *cuckoo, const struct sketch_hash *hashes,
				     size_t count, size_t *done, struct sketch_error *error);

/* As sketch_bloom_test and sketch_counting_remove. */
enum sketch_status sketch_cuckoo_test(struct sketch_cuckoo *cuckoo,
				      const struct sketch_hash *hashes, size_t count,
				      uint64_t *found, struct sketch_error *error);
size_t sketch_cuckoo_remove(struct sketch_cuckoo *cuckoo, const struct sketch_hash *hashes,
			    size_t count, uint64_t *removed);

/* SKETCH_OK where the two may be joined: identity, f and buckets agree. */
enum sketch_status sketch_cuckoo_compatible(const struct sketch_cuckoo *a,
					    const struct sketch_cuckoo *b,
					    struct sketch_error *error);

/* Puts the fingerprints of `from` into `into`, which must be writable, in the order of its
 * table; records add up.  SKETCH_FULL where there is no room for all.  On failure `into`
 * is as before. */
enum sketch_status sketch_cuckoo_union(struct sketch_cuckoo *into, struct sketch_cuckoo *from,
				       struct sketch_error *error);

/* What the table holds. */
struct sketch_cuckoo_state {
	uint64_t entries;   /* fingerprints: keys, copies included */
	uint64_t kinds;     /* of them, different ones in different pairs of buckets: keys that
	                   * can be told apart, at most the number of different keys */
	double load;        /* entries / slots */
	double rate;        /* of false positives now: the part of all pairs of a bucket and a
	                   * fingerprint that are found */
	bool past_capacity; /* more entries than n */
};

/* Reads the whole table; it is verified first. */
enum sketch_status sketch_cuckoo_state(struct sketch_cuckoo *cuckoo,
				       struct sketch_cuckoo_state *state,
				       struct sketch_error *error);

/* ------------------------------------------------------------------ counts */

/* How a table of counts takes an occurrence. */
enum sketch_update {
	SKETCH_CONSERVATIVE = 1, /* raises only cells that must be raised (Estan and
	                          * Varghese 2002), and keeps the heaviest keys beside
	                          * the table, where their counts are exact since they
	                          * came there */
	SKETCH_PLAIN = 2         /* adds to every cell: linear, no keys kept */
};

#define SKETCH_MAX_DEPTH 64
#define SKETCH_MAX_KEY 4096 /* bytes of a tracked key that are kept */

/* The parameters of a count-min sketch (Cormode and Muthukrishnan 2005). */
struct sketch_counts_params {
	uint32_t d; /* rows, 1..SKETCH_MAX_DEPTH */
	uint64_t w; /* cells of a row, at least 1 */
	enum sketch_update update;
	uint64_t tracked; /* the most keys kept beside the table, up to 2^24; 0 where
	                   * update is plain */
};

/* d = ceil(ln(1 / delta)) and w = ceil(e / epsilon): an estimate exceeds the truth
 * by more than epsilon N with probability at most delta, N being the total in the
 * table (Cormode and Muthukrishnan 2005, theorem 1).  0 < epsilon, delta < 1. */
enum sketch_status sketch_counts_plan(double epsilon, double delta,
				      struct sketch_counts_params *params,
				      struct sketch_error *error);

/* The other way: epsilon = e / w, delta = e^-d. */
double sketch_counts_epsilon(const struct sketch_counts_params *params);
double sketch_counts_delta(const struct sketch_counts_params *params);

/* A key with its hash under the sketch's seed, and what it counts for. */
struct sketch_key {
	const uint8_t *data; /* after its transforms */
	size_t length;
	struct sketch_hash hash;
	uint64_t weight;
};

struct sketch_counts;

/* A new sketch of nothing, to be freed with sketch_counts_free.  Cells have 32 bits
 * and all become 64 bits wide at the first that overflows.  identity->arrangement
 * must be SKETCH_SINGLE.  `budget` as in sketch_bloom_new. */
enum sketch_status sketch_counts_new(struct sketch_counts **counts,
				     const struct sketch_identity *identity,
				     const struct sketch_counts_params *params, uint64_t budget,
				     struct sketch_error *error);
void sketch_counts_free(struct sketch_counts *counts);

const struct sketch_identity *sketch_counts_identity(const struct sketch_counts *counts);
const struct sketch_counts_params *sketch_counts_params(const struct sketch_counts *counts);
uint64_t sketch_counts_records(const struct sketch_counts *counts);
void sketch_counts_set_records(struct sketch_counts *counts, uint64_t records);

/* Adds `count` keys in order.  *done becomes the number that were added: all, or
 * those before the one at which the total would exceed 2^64 - 1 (SKETCH_RANGE) or
 * wider cells were refused (SKETCH_NO_MEMORY).  estimates, where not NULL, gets for
 * each the estimate of its count up to and with it: never below the truth. */
enum sketch_status sketch_counts_add(struct sketch_counts *counts, const struct sketch_key *keys,
				     size_t count, uint64_t *estimates, size_t *done,
				     struct sketch_error *error);

/* The same, but a key is added only where its estimate with it does not exceed `limit`
 * (in parts of sketch_counts_one); admitted[i] says whether it was.  So no more than the
 * limit of a key is ever admitted within what the counts remember.  *done counts those
 * that were not admitted, too, and their estimates mean nothing. */
enum sketch_status sketch_counts_admit(struct sketch_counts *counts, const struct sketch_key *keys,
				       size_t count, uint64_t limit, bool *admitted,
				       uint64_t *estimates, size_t *done,
				       struct sketch_error *error);

/* What is known of a key's count: low <= truth <= high.  high is sure; low is sure
 * where `sure`, else right with probability at least 1 - delta.  As all counts here, in
 * parts of sketch_counts_one. */
struct sketch_bounds {
	uint64_t low, high;
	bool sure;
};
struct sketch_bounds sketch_counts_query(const struct sketch_counts *counts,
					 const struct sketch_key *key);

/* One tracked key. */
struct sketch_heavy {
	const uint8_t *data;   /* `stored` bytes; valid until the sketch changes */
	size_t stored, length; /* length of the whole key */
	struct sketch_bounds bounds;
};

/* The tracked keys, heaviest first (by high; equal ones in the order of their
 * bytes), at most `room` of them; returns how many there are.  Needs memory of its
 * own: SIZE_MAX where there is none. */
size_t sketch_counts_top(const struct sketch_counts *counts, struct sketch_heavy *heavy,
			 size_t room);

/* What a sketch holds: of a window, all panes together. */
struct sketch_counts_state {
	uint64_t total;         /* of all weights */
	uint64_t in_table;      /* of it, what went to the table */
	uint64_t tracked;       /* keys kept beside it */
	uint64_t floor;         /* any key that counts more is among them */
	bool exact;             /* all keys are: every count is the truth (but for the
	                         * rounding of one that decays) */
	unsigned int cell_bits; /* 32 or 64: of the widest pane */
	uint64_t bytes;         /* of all cells */
};
void sketch_counts_state(const struct sketch_counts *counts, struct sketch_counts_state *state);

/* The fraction of a row's cells that are not 0; 0 <= row < d. */
double sketch_counts_fill(const struct sketch_counts *counts, uint32_t row);

/* SKETCH_OK where the two may be added: identity, d, w and update rule agree, and what they
 * forget.  By time, that is: the last records of two streams are not those of both. */
enum sketch_status sketch_counts_compatible(const struct sketch_counts *a,
					    const struct sketch_counts *b,
					    struct sketch_error *error);

/* SKETCH_OK where, by what they forget, counts of the two may be added; else SKETCH_MISMATCH. */
enum sketch_status sketch_counts_forget_alike(const struct sketch_counts *a,
					      const struct sketch_counts *b,
					      struct sketch_error *error);

/* Adds `from` to `into`.  Plain sketches add up to that of both streams, bit for
 * bit.  Of conservative ones every bound stays true: a key tracked in one is
 * counted by the other's estimate where that does not track it.  SKETCH_RANGE where
 * the totals exceed 2^64 - 1.  On failure `into` is as before. */
enum sketch_status sketch_counts_union(struct sketch_counts *into, const struct sketch_counts *from,
				       struct sketch_error *error);

/* ------------------------------------------------------- counts that forget */

/* Counts of the recent past only.  Time, counted in records or in nanoseconds, is cut
 * into panes of one span each; pane s lasts from s * span to (s + 1) * span.  Each is a
 * sketch of its own, of which the current one and so many before it are kept that a
 * count covers at least `length`: with P panes (P - 1) * span of time or a little more,
 * and less than P * span; of records more than (P - 1) * span, up to and with the
 * last, and at most P * span.
 * A bound of a key is the sum of those of the panes. */
struct sketch_pane_window {
	enum sketch_window_unit unit;
	uint64_t length;  /* what a count covers at least; 1 to 2^62 */
	uint64_t span;    /* of a pane */
	uint32_t panes;   /* with the current one: 1 to SKETCH_MAX_PANES */
	uint64_t stamp;   /* of the current pane; stamp * span is below 2^63 */
	uint64_t records; /* unit records: taken by the current pane */
};

#define SKETCH_MAX_PANES 64

/* Fills in span and panes for unit and length: a ring of nine, which covers at most an
 * eighth more than was asked for (and what rounding the span up brings); or of fewer,
 * where the length is so short. */
void sketch_counts_window_plan(struct sketch_pane_window *window);

/* A new sketch with a window, each pane with the parameters given; length, span and
 * panes of the window as sketch_counts_window_plan made them.  It begins at the moment `now`
 * (nanoseconds since 1970-01-01 UTC, below 2^63; records: any).  Else as
 * sketch_counts_new. */
enum sketch_status sketch_counts_new_window(struct sketch_counts **counts,
					    const struct sketch_identity *identity,
					    const struct sketch_counts_params *pane,
					    const struct sketch_pane_window *window, uint64_t now,
					    uint64_t budget, struct sketch_error *error);

/* Counts that decay: what was counted at the time t counts 2^-((now - t) / half_life).
 * Counts are in parts of SKETCH_DECAY_ONE, high rounded up and low rounded down. */
struct sketch_decay {
	enum sketch_window_unit unit;
	uint64_t half_life; /* 1 to 2^62 */
	uint64_t now;       /* nanoseconds since 1970-01-01 UTC, or records so far: a record
	                     * comes one later than the one before, and counts 1 then */
};

#define SKETCH_DECAY_ONE (UINT64_C(1) << 20)

/* A new sketch that decays, which takes 8 w d bytes; only a conservative one can.  Where
 * the total would exceed 2^44 sketch_counts_add refuses (SKETCH_RANGE), and does so the
 * sooner the later in a half-life it is, but not below 2^43.  Else as
 * sketch_counts_new. */
enum sketch_status sketch_counts_new_decay(struct sketch_counts **counts,
					   const struct sketch_identity *identity,
					   const struct sketch_counts_params *params,
					   const struct sketch_decay *decay, uint64_t budget,
					   struct sketch_error *error);

/* Moves on to the moment `now`, in nanoseconds since 1970-01-01 UTC: what is too old is
 * forgotten, without any record coming.  An earlier moment changes nothing, and nothing
 * does where time is counted in records or nothing is forgotten. */
void sketch_counts_advance(struct sketch_counts *counts, uint64_t now);

/* The moment that the counts stand for, of a window when its pane began; 0 where they do
 * not depend on the clock. */
uint64_t sketch_counts_moment(const struct sketch_counts *counts);

/* What stands for a count of 1: SKETCH_DECAY_ONE where counts decay, else 1. */
uint64_t sketch_counts_one(const struct sketch_counts *counts);

/* The window or the decay; false where there is none. */
bool sketch_counts_window(const struct sketch_counts *counts, struct sketch_pane_window *window);
bool sketch_counts_decay(const struct sketch_counts *counts, struct sketch_decay *decay);

/* A pane of a window, the oldest being 0: valid until the sketch changes. */
const struct sketch_counts *sketch_counts_pane(const struct sketch_counts *counts, uint32_t pane);
/* ------------------------------------------------------------- HyperLogLog */

/* How many distinct keys were seen?  2^precision registers (Flajolet, Fusy, Gandouet
 * and Meunier 2007); up to 2^precision / 8 keys their hashes themselves, so that the
 * number is exact.  What a sketch is depends on the set of keys alone: not on their
 * order, their repeats, or how they were split and joined. */
#define SKETCH_HLL_LEAST_PRECISION 4
#define SKETCH_HLL_MOST_PRECISION 21

struct sketch_hll;

/* The standard error of the number of distinct keys, as a fraction of it, where keys
 * are many: sqrt(ln 2 / (pi^2 / 6 - 1) / 2^precision), 1.0367 / sqrt(registers), the
 * least that the registers allow.  It is never more where they are few. */
double sketch_hll_error(uint32_t precision);

/* The least precision whose standard error is at most `error`; SKETCH_UNREACHABLE
 * where none is, with the least possible in the text. */
enum sketch_status sketch_hll_plan(double error, uint32_t *precision, struct sketch_error *failure);

/* A new sketch of nothing, to be freed with sketch_hll_free.  identity->arrangement
 * must be SKETCH_SINGLE.  `budget` as in sketch_bloom_new. */
enum sketch_status sketch_hll_new(struct sketch_hll **hll, const struct sketch_identity *identity,
				  uint32_t precision, uint64_t budget, struct sketch_error *error);
void sketch_hll_free(struct sketch_hll *hll);

const struct sketch_identity *sketch_hll_identity(const struct sketch_hll *hll);
uint32_t sketch_hll_precision(const struct sketch_hll *hll);
uint64_t sketch_hll_records(const struct sketch_hll *hll);
void sketch_hll_set_records(struct sketch_hll *hll, uint64_t records);

/* Adds `count` keys, given by their hashes. */
void sketch_hll_add(struct sketch_hll *hll, const struct sketch_hash *hashes, size_t count);

/* What a sketch says. */
struct sketch_hll_state {
	double distinct;  /* the most likely number of distinct keys (Ertl 2017, section 4),
	                  * less its first-order bias (Cox and Snell 1968); INFINITY
	                  * where every register is full */
	double low, high; /* hold the truth with a probability of 95 % */
	double error;     /* one standard error as a fraction of distinct, at this number */
	bool exact;       /* distinct is the number of different hashes; error is 0 */
	uint64_t zero;    /* registers that are 0; where exact there are none yet */
};
void sketch_hll_state(const struct sketch_hll *hll, struct sketch_hll_state *state);

/* SKETCH_OK where the two may be joined: precision and identity agree. */
enum sketch_status sketch_hll_compatible(const struct sketch_hll *a, const struct sketch_hll *b,
					 struct sketch_error *error);

/* Makes `into` the sketch of the keys of both; records add up. */
enum sketch_status sketch_hll_union(struct sketch_hll *into, const struct sketch_hll *from,
				    struct sketch_error *error);

/* -------------------------------------------------------------------- file */

enum sketch_access {
	SKETCH_READ,     /* a regular file is mapped and each chunk verified before its
	                 * first use; anything else is read to its end and verified */
	SKETCH_VERIFIED, /* the same, but every chunk is verified at once */
	SKETCH_WRITABLE  /* read into memory, every chunk verified */
};

/* What sketch_file_kind says of a .bloom file of DCSO, which is no sketch file of ours,
 * and so has none of our kinds. */
#define SKETCH_KIND_DCSO 0x4f534344u

/* What a file's header says before its kind is known to matter. */
struct sketch_file_info {
	uint32_t version, kind;
	uint64_t length; /* bytes */
};

/* A sketch file of any kind, read or mapped, and found whole but for the checksums
 * of its chunks. */
struct sketch_file;

/* Reads the sketch file behind the descriptor, from its current position
 * (which must be 0 for a regular file) to its end; the descriptor stays open
 * and the caller's.  The header is checked against the bytes present before
 * anything is allocated; from a pipe, memory is taken as bytes arrive, at most
 * `budget`.  `info` may be NULL; it is filled as soon as the header is known to
 * be one of ours, even where the call then fails.
 * SKETCH_FOREIGN, _UNSUPPORTED, _TRUNCATED, _LENGTHENED, _DAMAGED, _NO_MEMORY,
 * _IO; text says which value was found and which are supported. */
enum sketch_status sketch_file_read(struct sketch_file **file, int fd, enum sketch_access access,
				    uint64_t budget, struct sketch_file_info *info,
				    struct sketch_error *error);

uint32_t sketch_file_kind(const struct sketch_file *file);

/* NULL is allowed. */
void sketch_file_free(struct sketch_file *file);

/* The Bloom filter, plain or counting, that a file holds; SKETCH_UNSUPPORTED where it is
 * of another kind.  The file is used up and freed, whatever the outcome. */
enum sketch_status sketch_bloom_of_file(struct sketch_bloom **filter, struct sketch_file *file,
					struct sketch_error *error);

/* Both in one. */
enum sketch_status sketch_bloom_read(struct sketch_bloom **filter, int fd,
				     enum sketch_access access, uint64_t budget,
				     struct sketch_file_info *info, struct sketch_error *error);

/* The cuckoo filter that a file holds, as sketch_bloom_of_file; all of a mapped file
 * verified; and writes it, as sketch_bloom_write. */
enum sketch_status sketch_cuckoo_of_file(struct sketch_cuckoo **cuckoo, struct sketch_file *file,
					 struct sketch_error *error);
enum sketch_status sketch_cuckoo_verify(struct sketch_cuckoo *cuckoo, struct sketch_error *error);
enum sketch_status sketch_cuckoo_write(struct sketch_cuckoo *cuckoo, int fd,
				       struct sketch_error *error);

/* The sketch of counts that a file holds, as sketch_bloom_of_file. */
enum sketch_status sketch_counts_of_file(struct sketch_counts **counts, struct sketch_file *file,
					 struct sketch_error *error);

/* Writes the sketch's file to the descriptor. */
enum sketch_status sketch_counts_write(const struct sketch_counts *counts, int fd,
				       struct sketch_error *error);

/* The HyperLogLog sketch that a file holds, as sketch_bloom_of_file; and its file. */
enum sketch_status sketch_hll_of_file(struct sketch_hll **hll, struct sketch_file *file,
				      struct sketch_error *error);
enum sketch_status sketch_hll_write(const struct sketch_hll *hll, int fd,
				    struct sketch_error *error);

/* -------------------------------------------------------------------- DCSO */

/* A Bloom filter in the format of DCSO's bloom, version 1, to be asked and never
 * written.  It has no checksums: a changed bit cannot be noticed. */
struct sketch_dcso;

struct sketch_dcso_params {
	uint64_t n, k, m;
	double p;          /* asked for at n keys; the textbook's formula gave m and k */
	uint64_t inserts;  /* keys put in that set a new bit */
	uint64_t metadata; /* bytes of the user's behind the filter */
	bool dependent;    /* m is even and its odd part below 64, so that the bits of a key
	                    * hang together: false positives are more than the fill
	                    * says, up to 35 times */
};

/* The filter that a file holds, as sketch_bloom_of_file. */
enum sketch_status sketch_dcso_of_file(struct sketch_dcso **dcso, struct sketch_file *file,
				       struct sketch_error *error);
void sketch_dcso_free(struct sketch_dcso *dcso);

const struct sketch_dcso_params *sketch_dcso_params(const struct sketch_dcso *dcso);

/* Which of `count` keys may be there?  Bits as of sketch_bloom_test. */
void sketch_dcso_test(const struct sketch_dcso *dcso, const uint8_t *const *keys,
		      const size_t *lengths, size_t count, uint64_t *found);

/* How many of `queries` hashes drawn by seed are found, as absent keys would be. */
uint64_t sketch_dcso_sample(const struct sketch_dcso *dcso, uint64_t seed, uint64_t queries);

/* What its bits say, as of a classic filter; where they are dependent the rate is
 * measured, by a million hashes. */
void sketch_dcso_state(const struct sketch_dcso *dcso, struct sketch_bloom_state *state);

/* --------------------------------------------------------- filters in files */

/* Verifies every chunk not verified yet. */
enum sketch_status sketch_bloom_verify(struct sketch_bloom *filter, struct sketch_error *error);

/* Writes the filter's file to the descriptor, from its current position on:
 * the same bytes for equal filters on every machine. */
enum sketch_status sketch_bloom_write(struct sketch_bloom *filter, int fd,
				      struct sketch_error *error);

/* A file being replaced as a whole.  sketch_save_begin makes a new file beside
 * the target (following a symbolic link), open for writing at *fd and unknown
 * by name where the file system allows; sketch_save_commit syncs it, gives it
 * the mode and, where permitted, the owner of the file it replaces (else 0666
 * less umask), renames it over the target and syncs the folder;
 * sketch_save_abort drops it; both free *save.  Killed at any moment, the
 * target is the old file or the new one, whole; a left-over is cleared by the
 * next sketch_save_begin for that target.  A target that exists and is no
 * regular file (a pipe, a device) is written to directly. */
struct sketch_save;
enum sketch_status sketch_save_begin(struct sketch_save **save, const char *target, int *fd,
				     struct sketch_error *error);
enum sketch_status sketch_save_commit(struct sketch_save *save, struct sketch_error *error);
void sketch_save_abort(struct sketch_save *save);

/* An exclusive claim on a file that is read, changed and replaced.
 * sketch_claim opens the file at `path` (made empty where absent) and locks its
 * inode, checking after a wait that the path still names it.  While it is held,
 * every other claim on the path waits, across replacements by
 * sketch_claim_commit, until sketch_claim_release, or the end of the process.
 * With `wait` false a held lock gives SKETCH_BUSY at once; a signal while
 * waiting gives SKETCH_INTERRUPTED where its handler was installed without
 * SA_RESTART. */
struct sketch_claim;
enum sketch_status sketch_claim(struct sketch_claim **claim, const char *path, bool wait,
				struct sketch_error *error);

/* The descriptor to read the claimed file from, at position 0; an empty file
 * (sketch_claim_is_empty) holds no sketch yet. */
int sketch_claim_fd(const struct sketch_claim *claim);
bool sketch_claim_is_empty(const struct sketch_claim *claim);

/* Replaces the claimed file: sketch_claim_begin gives a descriptor to write the new
 * one to, as sketch_save_begin; sketch_claim_commit ends that as
 * sketch_save_commit, and the claim goes over to the new file;
 * sketch_save_abort drops it, and the claim stays where it was. */
enum sketch_status sketch_claim_begin(struct sketch_claim *claim, struct sketch_save **save,
				      int *fd, struct sketch_error *error);
enum sketch_status sketch_claim_commit(struct sketch_claim *claim, struct sketch_save *save,
				       struct sketch_error *error);

/* Ends the claim and frees it; an empty file that the claim made is removed
 * again. NULL is allowed. */
void sketch_claim_release(struct sketch_claim *claim);

#ifdef __cplusplus
}
#endif

#endif
