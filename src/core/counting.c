/* counting.c - Bloom filters that keys can be taken out of
 *
 * A bit of a Bloom filter has many owners, so it cannot be cleared when one of its
 * keys goes.  With a counter in place of each bit it can: adding a key raises its k
 * counters, taking it out lowers them, and a key may be there while none of its
 * counters is 0 (Fan, Cao, Almeida and Broder, "Summary cache", 2000, section V-C).
 *
 *        add apple 1,5   add berry 3,5   take out apple 1,5
 *     0 1 0 0 0 1 0 0    0 1 0 1 0 2 0 0    0 0 0 1 0 1 0 0    berry is still there
 *     0 1 2 3 4 5 6 7
 *
 * The counters that are not 0 are the bits of the plain filter of the same keys: the
 * positions, the sizes and the rates are those of positions.h and sizing.c, whatever
 * the layout.  What counters cost is 4, 8 or 16 times the memory.
 *
 * How many bits?  With k n / m <= ln 2, which no size of ours exceeds by much, a
 * counter is hit by Poisson(ln 2) keys, and reaches 15 with a probability of 1.6e-15:
 * of a filter for a thousand million keys hardly one counter does.  A counter that has
 * reached its largest value stays there for ever, since it no longer knows how many
 * keys own it: so overflow never makes a filter miss a key, it only leaves a bit that
 * cannot be cleared again.  What brings counters there is not many keys but the same key
 * many times: after 15 copies of it all of its counters stand still, and it can never be
 * taken out.  sketch_counting_overflow tells what to expect, sketch_counting_state what
 * happened.
 *
 * What is kept is a multiset: a key put in twice must be taken out twice.  Positions of
 * one key may coincide; the counter then is raised twice, and lowered twice, so that
 * (as long as none is full) all counters add up to k for each key in the filter.
 *
 * Taking out what is not there is refused as far as it shows, which is where one of the
 * counters is 0; nothing is changed then.  It does not show for the part p of keys that
 * are false positives.  Taking out one of these lowers counters of others, and these
 * may be missed from then on: no filter can help that, so only keys that were put in
 * should be taken out.
 *
 * The order of the input does not matter to what is stored while no counter is full:
 * sums commute.  Nor does it where some are, if nothing is taken out: the least of the
 * sum and the largest value commutes, too, so shards that are joined give the file of the
 * whole.  It does matter where a counter is full before keys are taken out, or where a
 * removal is refused that would not be later. */
#include <float.h>
#include <inttypes.h>

#include "bloom.h"
#include "endian.h"
#include "error.h"
#include "portable.h"
#include "positions.h"

/* Counters under way at once: of a whole batch where k is 8, and never less than one
 * key's. */
#define COUNTING_POSITIONS 512

/* ------------------------------------------------------------------ counters */

static inline __attribute__((always_inline)) unsigned int
counter_get(const uint8_t *counters, uint64_t at, unsigned int bits)
{
	if (bits == 4)
		return counters[at >> 1] >> (at & 1) * 4 & 15;
	if (bits == 8)
		return counters[at];
	return counters[2 * at] | (unsigned int)counters[2 * at + 1] << 8;
}

static inline __attribute__((always_inline)) void counter_put(uint8_t *counters, uint64_t at,
							      unsigned int bits, unsigned int value)
{
	unsigned int shift = (unsigned int)(at & 1) * 4;
	uint8_t *byte = counters + (at >> 1);

	if (bits == 4) {
		*byte = (uint8_t)((*byte & ~(15u << shift)) | value << shift);
	} else if (bits == 8) {
		counters[at] = (uint8_t)value;
	} else {
		counters[2 * at] = (uint8_t)value;
		counters[2 * at + 1] = (uint8_t)(value >> 8);
	}
}

static inline unsigned int counter_full(unsigned int bits)
{
	return (1u << bits) - 1;
}

static inline __attribute__((always_inline)) void counter_raise(uint8_t *counters, uint64_t at,
								unsigned int bits)
{
	unsigned int value = counter_get(counters, at, bits);

	if (value < counter_full(bits))
		counter_put(counters, at, bits, value + 1);
}

/* False where it is 0. */
static inline __attribute__((always_inline)) bool counter_lower(uint8_t *counters, uint64_t at,
								unsigned int bits)
{
	unsigned int value = counter_get(counters, at, bits);

	if (value > 0 && value < counter_full(bits))
		counter_put(counters, at, bits, value - 1);
	return value > 0;
}

/* ----------------------------------------------------------------- positions */

static uint64_t *line_positions(const struct layer *layer, struct sketch_hash hash, uint32_t j,
				uint64_t *at)
{
	uint64_t u = positions_u(hash, j), v = positions_v(hash, j), z = v;
	uint64_t base = (j * layer->lines + positions_below(u, layer->lines)) * SKETCH_BLOCK_BITS;

	if (layer->per_line == POSITIONS_WORDS) {
		for (unsigned int w = 0; w < POSITIONS_WORDS; w++)
			*at++ = base + 64 * w + positions_in_word(v, w);
		return at;
	}
	/* As positions_in_line, which knows no repeats. */
	for (uint32_t i = 0; i < layer->per_line; i++) {
		if (i > 0 && i % 7 == 0)
			z = murmur3_mix(v + i / 7 * (u | 1));
		*at++ = base + (z >> 9 * (i % 7) & 511);
	}
	return at;
}

/* The k positions of a key, repeats included; returns what is behind them. */
static uint64_t *key_positions(const struct layer *layer, struct sketch_hash hash, uint64_t *at)
{
	if (layer->params.layout == SKETCH_BLOCKED) {
		for (uint32_t j = 0; j < layer->params.g; j++)
			at = line_positions(layer, hash, j, at);
		return at;
	}
	for (uint32_t i = 0; i < layer->params.k; i++)
		*at++ = positions_below(positions_u(hash, i), layer->params.m);
	return at;
}

/* ------------------------------------------------------------------- kernels */

enum walk { WALK_ADD, WALK_TEST, WALK_TEST_AND_ADD, WALK_REMOVE };

/* Lowers all counters of a key, or none. */
static inline __attribute__((always_inline)) bool remove_key(uint8_t *counters, const uint64_t *at,
							     uint32_t k, unsigned int bits)
{
	uint32_t i = 0;

	while (i < k && counter_lower(counters, at[i], bits))
		i++;
	if (i == k)
		return true;
	/* A full counter was not lowered, and a lowered one is not full. */
	while (i-- > 0)
		counter_raise(counters, at[i], bits);
	return false;
}

static inline __attribute__((always_inline)) bool
visit_key(uint8_t *counters, const uint64_t *at, uint32_t k, enum walk walk, unsigned int bits)
{
	bool all = true;

	if (walk == WALK_REMOVE)
		return remove_key(counters, at, k, bits);
	for (uint32_t i = 0; walk != WALK_ADD && i < k && all; i++)
		all = counter_get(counters, at[i], bits) != 0;
	for (uint32_t i = 0; walk != WALK_TEST && i < k; i++)
		counter_raise(counters, at[i], bits);
	return all;
}

/* As in kernel.c: first all places of a batch are asked for, then they are visited. */
static inline __attribute__((always_inline)) uint64_t
counting_walk(const struct layer *layer, const struct sketch_hash *hashes, size_t count,
	      enum walk walk, unsigned int bits)
{
	uint64_t positions[COUNTING_POSITIONS], verdict = 0;
	uint32_t k = layer->params.k;
	size_t step = COUNTING_POSITIONS / k;

	for (size_t first = 0; first < count; first += step) {
		size_t last = count - first < step ? count : first + step;
		uint64_t *end = positions;

		for (size_t i = first; i < last; i++)
			end = key_positions(layer, hashes[i], end);
		for (const uint64_t *at = positions; at < end; at++) {
			/* What it is for must be a constant, where nothing is optimised, too. */
			if (walk == WALK_TEST)
				__builtin_prefetch(layer->bits + *at * bits / 8);
			else
				__builtin_prefetch(layer->bits + *at * bits / 8, 1);
		}
		for (size_t i = first; i < last; i++)
			verdict |= (uint64_t)visit_key(layer->bits, positions + (i - first) * k, k,
						       walk, bits)
				   << i;
	}
	return verdict;
}

#define COUNTING_KERNEL(bits)                                                                      \
	static void add_##bits(const struct layer *layer, const struct sketch_hash *hashes,        \
			       size_t count)                                                       \
	{                                                                                          \
		counting_walk(layer, hashes, count, WALK_ADD, bits);                               \
	}                                                                                          \
	static uint64_t test_##bits(const struct layer *layer, const struct sketch_hash *hashes,   \
				    size_t count)                                                  \
	{                                                                                          \
		return counting_walk(layer, hashes, count, WALK_TEST, bits);                       \
	}                                                                                          \
	static uint64_t test_and_add_##bits(const struct layer *layer,                             \
					    const struct sketch_hash *hashes, size_t count)        \
	{                                                                                          \
		return counting_walk(layer, hashes, count, WALK_TEST_AND_ADD, bits);               \
	}                                                                                          \
	static uint64_t remove_##bits(const struct layer *layer, const struct sketch_hash *hashes, \
				      size_t count)                                                \
	{                                                                                          \
		return counting_walk(layer, hashes, count, WALK_REMOVE, bits);                     \
	}                                                                                          \
	static const struct kernel kernel_##bits = { add_##bits, test_##bits, test_and_add_##bits };

COUNTING_KERNEL(4)
COUNTING_KERNEL(8)
COUNTING_KERNEL(16)

void layer_make_counting(struct layer *layer, unsigned int bits)
{
	layer->counter_bits = bits;
	layer->bytes = layer->params.m / 8 * bits;
	layer->kernel = bits == 4 ? &kernel_4 : bits == 8 ? &kernel_8 : &kernel_16;
}

/* --------------------------------------------------------- a filter of counters */

enum sketch_status sketch_counting_new(struct sketch_bloom **filter,
				       const struct sketch_identity *identity,
				       const struct sketch_params *params,
				       unsigned int counter_bits, uint64_t budget,
				       struct sketch_error *error)
{
	if (counter_bits != 4 && counter_bits != 8 && counter_bits != 16)
		return error_set(error, SKETCH_RANGE,
				 "counters of %u bits are out of range (4, 8 or 16)", counter_bits);
	if (identity->arrangement != SKETCH_SINGLE)
		return error_set(error, SKETCH_RANGE, "a counting filter has a single layer");
	return bloom_make(filter, identity, params, 1, counter_bits, budget, error);
}

unsigned int sketch_bloom_counter_bits(const struct sketch_bloom *filter)
{
	return filter->layers[0].counter_bits;
}

size_t sketch_counting_remove(struct sketch_bloom *filter, const struct sketch_hash *hashes,
			      size_t count, uint64_t *removed)
{
	const struct layer *layer = &filter->layers[0];
	size_t total = 0;

	for (size_t done = 0; done < count; done += KERNEL_BATCH) {
		size_t batch = count - done < KERNEL_BATCH ? count - done : KERNEL_BATCH;
		uint64_t verdict =
			layer->counter_bits == 4 ? remove_4(layer, hashes + done, batch) :
			layer->counter_bits == 8 ? remove_8(layer, hashes + done, batch) :
						   remove_16(layer, hashes + done, batch);

		removed[done / KERNEL_BATCH] = verdict;
		total += (size_t)__builtin_popcountll(verdict);
	}
	return total;
}

/* ------------------------------------------------------------------- all counters */

unsigned int layer_counters_used(const struct layer *layer, uint64_t word)
{
	unsigned int bits = layer->counter_bits, used = 0;
	const uint8_t *at = layer->bits + word * 8 * bits;

	/* Each field of a word gets its own lowest bit where any of its bits is 1. */
	for (unsigned int i = 0; i < bits; i++, at += 8) {
		uint64_t x = load_u64(at), lowest = bits == 4 ? UINT64_C(0x1111111111111111) :
						    bits == 8 ? UINT64_C(0x0101010101010101) :
								UINT64_C(0x0001000100010001);

		for (unsigned int by = bits / 2; by > 0; by /= 2)
			x |= x >> by;
		used += (unsigned int)__builtin_popcountll(x & lowest);
	}
	return used;
}

void layer_add_counters(struct layer *into, const struct layer *from)
{
	unsigned int bits = into->counter_bits, full = counter_full(bits);

	for (uint64_t at = 0; at < into->params.m; at++) {
		unsigned int more = counter_get(from->bits, at, bits), sum;

		if (more == 0)
			continue;
		sum = counter_get(into->bits, at, bits) + more;
		counter_put(into->bits, at, bits, sum < full ? sum : full);
	}
}

enum sketch_status sketch_counting_state(struct sketch_bloom *filter,
					 struct sketch_counting_state *state,
					 struct sketch_error *error)
{
	struct layer *layer = &filter->layers[0];
	enum sketch_status status = layer_verify(layer, 0, error);
	struct sketch_counting_state s = { 0 };
	unsigned int full = counter_full(layer->counter_bits);

	if (status != SKETCH_OK)
		return status;
	for (uint64_t at = 0; at < layer->params.m; at++) {
		unsigned int value = counter_get(layer->bits, at, layer->counter_bits);

		s.sum += value;
		s.full += value == full;
		s.largest = value > s.largest ? value : s.largest;
	}
	*state = s;
	return SKETCH_OK;
}

/* ------------------------------------------------------------------------ overflow */

/* An upper bound on P(Poisson(mean) >= least), from its first term and the quotient of
 * the next two; log_factorial is that of least.  A binomial of the same mean has the
 * lighter tail (Anderson and Samuels, "Some inequalities among binomial and Poisson
 * probabilities", 1967). */
static double poisson_tail(double mean, double least, double log_factorial)
{
	double first;

	if (mean >= least)
		return 1;
	first = portable_exp(least * portable_log(mean) - mean - log_factorial);
	first /= 1 - mean / (least + 1);
	return first < 1 ? first : 1;
}

/* Of a line whose bits fall anywhere the keys come in bunches, of h hits each.  Chernoff's
 * bound is at most some ten times too high: the hits of one key have the moment generating
 * function 1 + (M - 1) / lines, where M(s) <= e^{h (e^s - 1) / 512}; so for any s the tail is
 * at most e^{keys (M - 1) - s least}, where keys is that of a line.  The exponent is convex in
 * s. */
static double bunched_exponent(double s, double keys, double hashes, double least)
{
	return keys * portable_expm1(hashes * portable_expm1(s) / SKETCH_BLOCK_BITS) - s * least;
}

static double bunched_tail(double keys, double hashes, double least)
{
	double low = 0, high = 20;

	for (int i = 0; i < 100; i++) {
		double third = (high - low) / 3;

		if (bunched_exponent(low + third, keys, hashes, least) <=
		    bunched_exponent(high - third, keys, hashes, least))
			high -= third;
		else
			low += third;
	}
	return portable_exp(bunched_exponent(low, keys, hashes, least));
}

double sketch_counting_overflow(const struct sketch_params *params, unsigned int counter_bits,
				uint64_t keys)
{
	double m = (double)params->m, least = counter_full(counter_bits), log_factorial = 0, tail;
	double hits = (double)keys * params->k / m;

	if (keys == 0)
		return 0;
	for (double i = 2; i <= least; i++)
		log_factorial += portable_log(i);
	if (params->layout == SKETCH_CLASSIC || params->k == POSITIONS_WORDS * params->g ||
	    hits >= least)
		tail = poisson_tail(hits, least, log_factorial);
	else
		tail = bunched_tail((double)keys * SKETCH_BLOCK_BITS * params->g / m,
				    (double)params->k / params->g, least);
	return tail * m < DBL_MIN ? DBL_MIN : tail * m;
}
