/* hll_estimate.c - from registers to the number of distinct keys
 *
 * Among n keys a register gets about n / m = x, a Poisson number.  Each key sets it to
 * at least k with probability 2^-(k - 1), so with y = x 2^-k and q = 64 - precision
 *
 *     P(0) = e^-x,   P(k) = e^-y - e^-2y  (k = 1..q),   P(q + 1) = 1 - e^-y  (y = x 2^-q).
 *
 * The x under which the registers are most likely is where the derivative of the
 * logarithm of their product is 0 (Ertl, "New cardinality estimation algorithms for
 * HyperLogLog sketches", 2017, section 4): with c(k) registers of value k
 *
 *     sum of c(k) g(y) over k = 1..q + 1  =  x a,    g(y) = y / (e^y - 1),
 *     a = sum of c(k) 2^-k over k = 0..q.
 *
 * g falls from 1 to 0, so there is one such x, and nothing to be pieced together: few
 * keys, many, and more than there are hashes are one formula.
 *
 * Its variance is 1 / (m A) x^2 with A = x^2 times Fisher's information of a register,
 * its relative bias -T / (2 m A^2) (Cox and Snell, "A general definition of residuals",
 * 1968) with T = x^3 sum of P' P'' / P; the bias is taken off.  Both suppose that n
 * itself is Poisson; it is a given number, which makes the variance less by n.  For
 * large x, A is (pi^2 / 6 - 1) / ln 2. */
#include "hll_estimate.h"

#include <math.h>

#include "hll.h"
#include "portable.h"

/* y / (e^y - 1) */
static double share(double y)
{
	return y > 700 ? 0 : y / portable_expm1(y);
}

/* The left side of the equation less the right one: falls in x. */
static double slope(const uint64_t *registers, uint32_t q, double a, double x)
{
	double sum = 0, y = x;

	for (uint32_t k = 1; k <= q; k++) {
		y /= 2;
		if (registers[k] > 0)
			sum += (double)registers[k] * share(y);
	}
	return sum + (double)registers[q + 1] * share(y) - x * a;
}

/* The x that makes the registers most likely. */
static double likeliest(const uint64_t *registers, uint32_t precision)
{
	uint32_t q = 64 - precision;
	double a = 0, power = 1, low = 0, high, middle;

	for (uint32_t k = 0; k <= q; k++, power /= 2)
		a += (double)registers[k] * power;
	/* g is below 1. */
	high = ((double)hll_registers(precision) - (double)registers[0]) / a;
	if (!(high > 0 && high < INFINITY))
		return high;
	for (;;) {
		middle = low + (high - low) / 2;
		if (!(middle > low && middle < high))
			return high;
		if (slope(registers, q, a, middle) > 0)
			low = middle;
		else
			high = middle;
	}
}

/* A and T of the essay. */
struct moments {
	double information, skew;
};

static struct moments moments_at(double x, uint32_t q)
{
	double rest = portable_exp(-x), y = x, e = 1, not_e = 1;
	struct moments sum = { x * x * rest, -x * x * x * rest };

	for (uint32_t k = 1; k <= q; k++) {
		y /= 2;
		e = portable_exp(-y);
		not_e = -portable_expm1(-y);
		sum.information += y * y * e * (2 * e - 1) * (2 * e - 1) / not_e;
		sum.skew += y * y * y * e * (2 * e - 1) * (1 - 4 * e) / not_e;
	}
	sum.information += y * y * e * e / not_e;
	sum.skew -= y * y * y * e * e / not_e;
	return sum;
}

double hll_estimate(const uint64_t registers[HLL_VALUES], uint32_t precision)
{
	double m = (double)hll_registers(precision), x = likeliest(registers, precision);
	struct moments at;

	if (!(x > 0 && x < INFINITY))
		return x;
	at = moments_at(x, 64 - precision);
	/* Where but a few registers are not full, information runs out, and with it all
	 * that could be said of a bias. */
	if (!(at.information > 1e-3 * (x < 1 ? x : 1)))
		return m * x;
	return m * x / (1 - at.skew / (2 * m * at.information * at.information));
}

double hll_estimate_error(double distinct, uint32_t precision)
{
	double m = (double)hll_registers(precision);
	double information = moments_at(distinct / m, 64 - precision).information;
	double variance = 1 / (m * information) - 1 / distinct;

	return variance > 0 ? portable_sqrt(variance) : 0;
}
