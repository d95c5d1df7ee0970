/* interval.c - how far a measured rate may be from the true one
 *
 * A simulated filter is one draw of a random thing: its rate differs from that of
 * the next, and the queries put to one filter say nothing of that.  An interval
 * from all queries together, as if each were independent, is too narrow; one over
 * the filters is not.
 *
 * Both distributions needed are incomplete beta functions.  These come from
 * Lentz's continued fraction, and their inverses from bisection: a few hundred
 * evaluations, of which a report needs four. */
#include "interval.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "portable.h"

/* ln gamma(x) for x > 0 by Stirling's series, from where it is exact enough. */
static double log_gamma(double x)
{
	double shift = 0, inverse, square;

	for (; x < 15; x++)
		shift += portable_log(x);
	inverse = 1 / x;
	square = inverse * inverse;
	return (x - 0.5) * portable_log(x) - x + 0.91893853320467274 - shift +
	       inverse * (1.0 / 12 -
			  square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680))));
}

static double not_zero(double x)
{
	return x < 1e-300 && x > -1e-300 ? 1e-300 : x;
}

/* The continued fraction of the incomplete beta function. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), product = d;

	for (int i = 1; i < 20000; i++) {
		double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
		double step;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		product *= d * c;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = d * c;
		product *= step;
		if (step > 1 - 1e-15 && step < 1 + 1e-15)
			break;
	}
	return product;
}

/* The probability that a beta variable is below x. */
static double beta_below(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x >= 1;
	front = portable_exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * portable_log(x) +
			     b * portable_log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* The x that a beta variable is below with the given probability. */
static double beta_quantile(double a, double b, double probability)
{
	double low = 0, high = 1;

	while (high - low > low * 1e-14 && high > DBL_MIN) {
		/* small numbers by their exponent first */
		double middle = low > 0 && high < 4 * low ? low + (high - low) / 2 :
				low > 0                   ? portable_sqrt(low * high) :
							    high / 1024;

		if (beta_below(a, b, middle) < probability)
			low = middle;
		else
			high = middle;
		if (low == 0 && high < 1e-290)
			break;
	}
	return low + (high - low) / 2;
}

double interval_student(double freedom, double tail)
{
	double x = beta_quantile(freedom / 2, 0.5, 2 * tail);

	return portable_sqrt(freedom * (1 - x) / x);
}

struct interval interval_proportion(double hits, double queries, double tail)
{
	struct interval interval = { 0, 1, "Clopper-Pearson" };

	if (hits > 0)
		interval.low = beta_quantile(hits, queries - hits + 1, tail);
	if (hits < queries)
		interval.high = beta_quantile(hits + 1, queries - hits, 1 - tail);
	return interval;
}

/* The variance of the hits of a filter, over that of a binomial number. */
static double dispersion(const struct interval_sample *sample, double mean, double variance)
{
	double rate = mean / (double)sample->queries;
	double binomial = mean * (1 - rate);

	return binomial > 0 && variance > binomial ? variance / binomial : 1;
}

struct interval interval_of(const struct interval_sample *sample, double tail)
{
	double filters = (double)sample->filters, queries = (double)sample->queries;
	double mean = (double)sample->hits / filters, variance = 0, factor, half;
	struct interval interval;

	if (sample->filters > 1)
		variance = fmax((sample->squares - filters * mean * mean) / (filters - 1), 0);
	if (sample->filters > 1 && sample->hits >= INTERVAL_FEW && variance > 0) {
		half = interval_student(filters - 1, tail) * portable_sqrt(variance / filters);
		interval.low = fmax((mean - half) / queries, 0);
		interval.high = fmin((mean + half) / queries, 1);
		interval.method = "Student's t over the filters";
		return interval;
	}
	factor = dispersion(sample, mean, variance);
	interval = interval_proportion((double)sample->hits / factor, filters * queries / factor,
				       tail);
	if (sample->filters > 1)
		interval.method = "Clopper-Pearson by the dispersion between filters";
	return interval;
}
