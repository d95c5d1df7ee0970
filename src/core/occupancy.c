/* occupancy.c - how often one line of a blocked filter says yes
 *
 * The usual formula for a Bloom filter takes its bits for independent and every
 * part of it for equally full.  Neither holds in a line of 512 bits: the number
 * of keys in a line varies, and a line with more than its share errs far more
 * often [1].  Here both are accounted for exactly.
 *
 * Given x keys in the line.  Where each key sets one bit in each of eight words
 * of 64, the words are independent and
 *
 *	hit(x) = (1 - (63/64)^x)^8.
 *
 * Otherwise h x balls fell into 512 bins, and h further ones, the bits of the
 * key that was not added, must all fall into occupied bins.  The classical way
 * is the distribution of the number of occupied bins, 512 states wide [2].  It
 * is shorter to look at it from the other side.  The h further balls fall into D
 * different bins, h at most.  Let c(d, t) be the probability that d given bins
 * are all occupied after t balls.  The first ball falls into one of the d, which
 * leaves d - 1 to be occupied by the others, or beside them:
 *
 *	c(d, t) = d/512 c(d-1, t-1) + (512-d)/512 c(d, t-1),
 *	c(0, t) = 1, c(d, 0) = 0 for d > 0,
 *	hit(x)  = sum over d of P(D = d) c(d, h x).
 *
 * Every term is positive, so nothing cancels, and every coefficient is exact in
 * binary: after t balls the relative error is at most 2 t units in the last
 * place.
 *
 * The number of keys in a line is binomial.  Its weights follow from one another
 * by their ratio, starting with 1 at the mode; dividing by their sum makes them
 * probabilities, with no factorial or logarithm.  The sum stops where what is
 * left, with hit(x) <= 1, adds less than 1e-16 to it, and that is added, so that
 * the result stays an upper bound.
 *
 * [1] F. Putze, P. Sanders, J. Singler, "Cache-, hash- and space-efficient Bloom
 *     filters", WEA 2007, section 3.
 * [2] K. Christensen, A. Roginsky, M. Jimeno, "A new analysis of the false
 *     positive rate of a Bloom filter", Information Processing Letters 110
 *     (2010), 944-949.
 */
#include "occupancy.h"

#include "portable.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define BITS ((double)SKETCH_BLOCK_BITS)
#define WORD_BITS (BITS / OCCUPANCY_WORDS)
#define NEGLIGIBLE 1e-16

/* Covers all rounding: the recurrences stay within 7e-13. */
#define ROUNDING_UP (1 + 0x1p-40)

static double minimum(double a, double b)
{
	return a < b ? a : b;
}

double occupancy_share(uint32_t hashes)
{
	if (hashes == OCCUPANCY_WORDS)
		return 1 / WORD_BITS;
	return -portable_expm1(hashes * portable_log1p(-1 / BITS));
}

/* distinct[d]: the probability that `hashes` balls fall into d different bins. */
static void fill_distinct(struct occupancy *line)
{
	double *distinct = line->distinct;

	distinct[0] = 1;
	for (uint32_t d = 1; d <= line->hashes; d++)
		distinct[d] = 0;
	for (uint32_t ball = 1; ball <= line->hashes; ball++) {
		for (uint32_t d = ball; d > 0; d--)
			distinct[d] = distinct[d] * (d / BITS) +
				      distinct[d - 1] * ((BITS - (d - 1)) / BITS);
		distinct[0] = 0;
	}
}

void occupancy_ready(struct occupancy *line, uint32_t hashes)
{
	if (line->hashes == hashes)
		return;
	line->hashes = hashes;
	line->known = 1;
	line->hit[0] = 0;
	fill_distinct(line);
	line->covered[0] = 1;
	for (uint32_t d = 1; d <= hashes; d++)
		line->covered[d] = 0;
}

/* hit(x) for the next x by the words' formula; covered[0] is (63/64)^x. */
static double next_by_words(struct occupancy *line)
{
	line->covered[0] *= (WORD_BITS - 1) / WORD_BITS;
	return portable_power(1 - line->covered[0], OCCUPANCY_WORDS);
}

/* hit(x) for the next x by the chain; covered[d] is c(d, h x). */
static double next_by_chain(struct occupancy *line)
{
	double *covered = line->covered;
	double chance = 0;

	for (uint32_t ball = 0; ball < line->hashes; ball++) {
		for (uint32_t d = line->hashes; d > 0; d--)
			covered[d] = covered[d] * ((BITS - d) / BITS) + covered[d - 1] * (d / BITS);
	}
	for (uint32_t d = 1; d <= line->hashes; d++)
		chance += line->distinct[d] * covered[d];
	return minimum(chance, 1);
}

/* hit(keys); 1 where the line is taken to be full. */
static double hit(struct occupancy *line, double keys)
{
	uint32_t x;

	if (keys * line->hashes >= OCCUPANCY_FULL)
		return 1;
	x = (uint32_t)keys;
	for (; line->known <= x; line->known++)
		line->hit[line->known] =
			line->hashes == OCCUPANCY_WORDS ? next_by_words(line) : next_by_chain(line);
	return line->hit[x];
}

/* The expectation of hit over the binomial distribution, 1 < blocks. */
static double expected_hit(struct occupancy *line, double keys, double blocks)
{
	double odds = 1 / (blocks - 1);
	double mode = (double)(uint64_t)minimum((keys + 1) / blocks, keys);
	double weight = 1, total = 1, yes = hit(line, mode);
	double ratio, rest;

	for (double x = mode; x > 0; x--) {
		weight *= x / ((keys - x + 1) * odds);
		if (weight * x <= NEGLIGIBLE)
			break;
		total += weight;
		yes += weight * hit(line, x - 1);
	}
	weight = 1;
	for (double x = mode;; x++) {
		ratio = (keys - x) / (x + 1) * odds;
		weight *= ratio;
		/* the ratios fall, so the weights left are below a geometric series */
		rest = ratio < 1 ? weight / (1 - ratio) : weight * (keys - x);
		if (rest <= yes * NEGLIGIBLE)
			break;
		total += weight;
		yes += weight * hit(line, x + 1);
	}
	return (yes + rest) / total;
}

double occupancy_rate(struct occupancy *line, double keys, double blocks)
{
	double mean = keys / blocks;
	double rate;

	if (line->hashes == 1) /* the mean of 1 - (511/512)^X is in closed form */
		rate = -portable_expm1(keys * portable_log1p(-1 / (BITS * blocks)));
	else if (blocks <= 1)
		rate = hit(line, keys);
	else if (mean * line->hashes > 2 * OCCUPANCY_FULL + 100 * line->hashes)
		rate = 1; /* fewer keys than fill it: below e^(-mean/8) (Chernoff) */
	else
		rate = expected_hit(line, keys, blocks);
	return minimum(rate * ROUNDING_UP, 1);
}
