/* sizing.c - how often a filter errs, and how full it is
 *
 * Rates.  The textbook's (1 - e^{-kn/m})^k takes the expected number of ones for
 * the number itself and is below the truth; a filter sized by it breaks its
 * promise, though by little.  Exact rates of classic filters are known [1, 2]
 * but slow to compute; Goel and Gupta [3] have an upper bound as simple as the
 * textbook's formula, which is off by a factor of about 1 + k/n:
 *
 *	(1 - e^{-k (n + 1/2) / (m - 1)})^k.
 *
 * A blocked filter has g segments of B = m/(512 g) lines each.  A key puts h =
 * k/g bits into one line of each segment, and the choices are independent, so
 * its rate is exactly f^g, where f is the rate of one segment; occupancy.c
 * computes f.
 *
 * Fill.  A key leaves a given bit alone with a probability that depends on the
 * layout alone, and different keys are independent:
 *
 *	classic  (1 - 1/m)^k
 *	blocked  1 - c/B, where c is the fraction of its line that a key sets:
 *	         1/64 with one bit in each word, else 1 - (511/512)^h.
 *
 * The n-th power is the expected fraction of zeros; inverting it estimates n
 * from the ones [4].
 *
 * Deviation.  The variance of the fraction of zeros is the mean, over all pairs
 * of bits, of P(both are zero), less the square of P(one is zero).  Again P(both)
 * is an n-th power, of 1 - c2/B, say.  There are few sorts of pairs:
 *
 *	                           one in           c2
 *	a bit with itself          512 B            c
 *	two of the same line       512 B / 511      1 - (510/512)^h
 *	  one bit in each word:
 *	  of the same word         512 B / 63       2/64
 *	  of different words       512 B / 448      1 - (63/64)^2
 *	of different lines         the others       2 c
 *
 * and g segments that are independent have 1/g of the variance of one.  A
 * classic filter is one line of m bits with k n balls (the first and the last
 * sort alone, with 1 - 1/m and 1 - 2/m).  The difference P(both) - P(one)^2 is
 * computed as P(one)^2 (e^d - 1), where d is the logarithm of the quotient,
 * found without cancellation.
 *
 * [1] P. Bose et al., "On the false-positive rate of Bloom filters", Information
 *     Processing Letters 108 (2008), 210-213.
 * [2] K. Christensen, A. Roginsky, M. Jimeno, "A new analysis of the false
 *     positive rate of a Bloom filter", Information Processing Letters 110
 *     (2010), 944-949.
 * [3] A. Goel, P. Gupta, "Small subset queries and bloom filters using ternary
 *     associative memories, with applications", SIGMETRICS 2010.
 * [4] S. J. Swamidass, P. Baldi, "Mathematical correction for fingerprint
 *     similarity measures to improve chemical retrieval", J. Chem. Inf. Model. 47
 *     (2007), 952-964.
 */
#include "sizing.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "error.h"
#include "portable.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define LINE ((double)SKETCH_BLOCK_BITS)

/* Covers all rounding in a classic bound, which is below 255 times 2^-51. */
#define ROUNDING_UP (1 + 0x1p-40)

enum sketch_status sizing_refuse_range(struct sketch_error *error, const char *name, uint64_t value,
				       uint64_t least, uint64_t most)
{
	return error_set(error, SKETCH_RANGE,
			 "%s = %" PRIu64 " is out of range (%" PRIu64 " to %" PRIu64 ")", name,
			 value, least, most);
}

uint64_t sizing_unit(enum sketch_layout layout, uint32_t g)
{
	return layout == SKETCH_CLASSIC ? SKETCH_CLASSIC_UNIT : (uint64_t)SKETCH_BLOCK_BITS * g;
}

static enum sketch_status check_shape(const struct sketch_params *params,
				      struct sketch_error *error)
{
	uint32_t k = params->k, g = params->g;

	if (k < 1 || k > SKETCH_MAX_HASHES)
		return sizing_refuse_range(error, "k", k, 1, SKETCH_MAX_HASHES);
	switch (params->layout) {
	case SKETCH_CLASSIC:
		if (g != 0)
			return error_set(error, SKETCH_RANGE,
					 "g = %" PRIu32 " is out of range (0 where the "
					 "layout is classic)",
					 g);
		return SKETCH_OK;
	case SKETCH_BLOCKED:
		if (g < 1 || g > k)
			return sizing_refuse_range(error, "g", g, 1, k);
		if (k % g != 0)
			return error_set(error, SKETCH_RANGE,
					 "k = %" PRIu32 " is no multiple of g = %" PRIu32, k, g);
		return SKETCH_OK;
	default:
		return error_set(error, SKETCH_RANGE,
				 "layout %d is unknown (1 is classic, "
				 "2 blocked)",
				 (int)params->layout);
	}
}

enum sketch_status sizing_check_promise(uint64_t n, double p, struct sketch_error *error)
{
	if (n < 1)
		return sizing_refuse_range(error, "n", n, 1, UINT64_MAX);
	/* 1 is possible where the bound was taken for want of a p asked for */
	if (!(p > 0 && p <= 1))
		return error_set(error, SKETCH_RANGE, "p = %g is out of range (above 0, at most 1)",
				 p);
	return SKETCH_OK;
}

enum sketch_status sketch_params_check(const struct sketch_params *params,
				       struct sketch_error *error)
{
	enum sketch_status status = check_shape(params, error);
	uint64_t unit;

	if (status != SKETCH_OK)
		return status;
	unit = sizing_unit(params->layout, params->g);
	if (params->m < unit || params->m > SKETCH_MAX_BITS)
		return sizing_refuse_range(error, "m", params->m, unit,
					   SKETCH_MAX_BITS - SKETCH_MAX_BITS % unit);
	if (params->m % unit != 0)
		return error_set(error, SKETCH_RANGE, "m = %" PRIu64 " is no multiple of %" PRIu64,
				 params->m, unit);
	return sizing_check_promise(params->n, params->p, error);
}

static double lines_of_a_segment(const struct sketch_params *params)
{
	return (double)(params->m / ((uint64_t)SKETCH_BLOCK_BITS * params->g));
}

/* A bound that underflows must not become a promise of 0. */
double sizing_within_bounds(double rate)
{
	if (rate < DBL_MIN)
		return DBL_MIN;
	return rate < 1 ? rate : 1;
}

double sizing_classic_load(double p, double k)
{
	double log_fill = portable_log(p) / k;

	/* the form that keeps all digits of 1 - e^log_fill */
	if (log_fill < -1)
		return -portable_log1p(-portable_exp(log_fill));
	return -portable_log(-portable_expm1(log_fill));
}

double sizing_classic_bound(uint32_t k, double m, double keys)
{
	double fill = -portable_expm1(-(k * (keys + 0.5)) / (m - 1));

	return sizing_within_bounds(portable_power(fill, k) * ROUNDING_UP);
}

double sizing_rate_bound(const struct sketch_params *params, uint64_t keys, struct occupancy *line)
{
	double rate;

	if (keys == 0)
		return 0;
	if (params->layout == SKETCH_CLASSIC)
		return sizing_classic_bound(params->k, (double)params->m, (double)keys);
	occupancy_ready(line, params->k / params->g);
	rate = occupancy_rate(line, (double)keys, lines_of_a_segment(params));
	return sizing_within_bounds(portable_power(rate, params->g));
}

double sketch_rate_bound(const struct sketch_params *params, uint64_t keys)
{
	struct occupancy line;

	line.hashes = 0;
	return sizing_rate_bound(params, keys, &line);
}

/* The logarithm of the probability that one key leaves a given bit alone. */
static double log_spared(const struct sketch_params *params)
{
	if (params->layout == SKETCH_CLASSIC)
		return params->k * portable_log1p(-1 / (double)params->m);
	return portable_log1p(-occupancy_share(params->k / params->g) / lines_of_a_segment(params));
}

double sketch_fill_expected(const struct sketch_params *params, uint64_t keys)
{
	if (keys == 0)
		return 0; /* not 0 times -INFINITY */
	return -portable_expm1((double)keys * log_spared(params));
}

double sketch_distinct(const struct sketch_params *params, uint64_t ones)
{
	double m = (double)params->m;
	double log_zeros;

	if (ones == 0)
		return 0;
	if (ones >= params->m)
		return INFINITY;
	/* the form that keeps all digits of the rarer of ones and zeros */
	if (ones < params->m / 2)
		log_zeros = portable_log1p(-(double)ones / m);
	else
		log_zeros = portable_log((double)(params->m - ones) / m);
	return log_zeros / log_spared(params);
}

/* P(both zero) - P(one zero)^2, where log_one is the logarithm of P(one zero),
 * and that of P(both zero) is 2 log_one + log_quotient. */
static double covariance(double log_one, double log_quotient)
{
	if (log_quotient > 1) /* the product of a huge and a tiny number otherwise */
		return portable_exp(2 * log_one + log_quotient) - portable_exp(2 * log_one);
	return portable_exp(2 * log_one) * portable_expm1(log_quotient);
}

/* The covariance of two bits of a line of `lines`, of which a key sets the first
 * with the probability `share`, as the second, and either with `either`, once it
 * falls into the line. */
static double covariance_in_line(double keys, double lines, double share, double either)
{
	double others = lines - share;
	double quotient = ((2 * share - either) * lines - share * share) / (others * others);

	return covariance(keys * portable_log1p(-share / lines), keys * portable_log1p(quotient));
}

static double classic_variance(double m, double balls)
{
	double log_one = balls * portable_log1p(-1 / m);
	double same = covariance(log_one, -log_one);
	double others = covariance(log_one, balls * portable_log1p(-1 / ((m - 1) * (m - 1))));

	return same / m + others * ((m - 1) / m);
}

static double segment_variance(uint32_t hashes, double lines, double keys)
{
	double share = occupancy_share(hashes);
	double log_one = keys * portable_log1p(-share / lines);
	double odds = share / (lines - share);
	double sum = covariance(log_one, -log_one);
	double either;

	if (hashes == OCCUPANCY_WORDS) {
		either = share + share * (1 - share);
		sum += covariance_in_line(keys, lines, share, 2 * share) * 63 +
		       covariance_in_line(keys, lines, share, either) * 448;
	} else {
		either = -portable_expm1(hashes * portable_log1p(-2 / LINE));
		sum += covariance_in_line(keys, lines, share, either) * 511;
	}
	sum += covariance(log_one, keys * portable_log1p(-odds * odds)) * (LINE * (lines - 1));
	return sum / (LINE * lines);
}

double sketch_fill_deviation(const struct sketch_params *params, uint64_t keys)
{
	double variance;

	if (keys == 0)
		return 0;
	if (params->layout == SKETCH_CLASSIC)
		variance = classic_variance((double)params->m, (double)keys * params->k);
	else
		variance = segment_variance(params->k / params->g, lines_of_a_segment(params),
					    (double)keys) /
			   params->g;
	/* of few keys in many bits nothing but rounding may be left */
	return variance > 0 ? portable_sqrt(variance) : 0;
}
