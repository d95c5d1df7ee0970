/* rates.c - how often a Bloom filter errs, by every formula in use
 *
 * After n keys, k n balls fell into m bins.  A given bin is still empty with the
 * probability
 *
 *	(1 - 1/m)^{kn}, which is about q = e^{-kn/m},
 *
 * and Bloom's formula [1] takes the k further balls, those of a key that was not
 * added, for independent draws: (1 - (1 - 1/m)^{kn})^k.  They are not, for all of
 * them depend on how many bins happen to be occupied; by Jensen's inequality both
 * that formula and the exponential one are below the truth [2, 3].  For m = 2,
 * k = 2, n = 1 they give 9/16 and 0.3996, and the truth is 5/8.
 *
 * The truth.  The k further balls fall into D different bins.  Let c(d, t) be the
 * probability that d given bins are all occupied after t balls: then the rate is
 * the sum over d of P(D = d) c(d, kn), and as in occupancy.c
 *
 *	c(d, t) = c(d, t-1) + d/m (c(d-1, t-1) - c(d, t-1)).
 *
 * For t balls that takes k t steps.  The terms that are added up are positive, and
 * what the sums lose is carried along [4], so the error does not grow with t.
 *
 * Where t is large, c has another form.  By inclusion and exclusion it is
 *
 *	c(d, t) = sum over i of (-1)^i C(d, i) (1 - i/m)^t,
 *
 * which cancels terribly; but (1 - i/m)^t = q^i exp(-t i^2/2m^2 - t i^3/3m^3 ...),
 * and the second factor is a power series in i that is close to 1.  With q^i alone
 * the sum is (1 - q)^d.  With i^r q^i, it is what the r-th power of the operator
 * q d/dq makes of that, and by Stirling's numbers of the second kind S(r, j),
 *
 *	(1 - q)^d  sum over j of S(r, j) d (d-1) ... (d-j+1) (-q/(1-q))^j.
 *
 * So with a(r) for the coefficients of that power series, and w(j) for the sum over
 * r of a(r) S(r, j), which do not depend on d,
 *
 *	c(d, t) = (1 - q)^d  sum over j of w(j) d (d-1) ... (d-j+1) (-q/(1-q))^j.
 *
 * Its terms fall like those of e^{k/2n}, and it is used where k/2n is below 1/34.
 *
 * [1] B. H. Bloom, "Space/time trade-offs in hash coding with allowable errors",
 *     Communications of the ACM 13 (1970), 422-426.
 * [2] P. Bose et al., "On the false-positive rate of Bloom filters", Information
 *     Processing Letters 108 (2008), 210-213.
 * [3] K. Christensen, A. Roginsky, M. Jimeno, "A new analysis of the false
 *     positive rate of a Bloom filter", Information Processing Letters 110
 *     (2010), 944-949.
 * [4] D. E. Knuth, "The Art of Computer Programming", volume 2, section 4.2.2:
 *     the rounding error of a sum is itself a double.
 */
#include "rates.h"

#include <float.h>
#include <stdbool.h>

#include "occupancy.h"
#include "portable.h"
#include "sizing.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define LOG_2 0.6931471805599453
#define LINE ((double)SKETCH_BLOCK_BITS)
#define WORD (LINE / OCCUPANCY_WORDS)

/* Steps of the chain that take no time worth saving. */
#define CHEAP_STEPS 2e6
#define SERIES_KEYS 17 /* times k: from so many keys on the series converges fast */
#define SERIES_TERMS 32

/* Above so many balls a bin, each of 255 bins is empty with less than 1e-17. */
#define SATURATED 50

/* x^k for 0 <= x <= 1; exact to the last places where k is whole and fits. */
static double power(double x, double k)
{
	if (k < UINT32_MAX && k == (double)(uint32_t)k)
		return portable_power(x, (uint32_t)k);
	return portable_exp(k * portable_log(x));
}

double rates_exponential(double k, double m, double n)
{
	if (n == 0)
		return 0;
	return sizing_within_bounds(power(-portable_expm1(-k * n / m), k));
}

double rates_classic(uint32_t k, double m, double n)
{
	if (n == 0)
		return 0;
	return sizing_within_bounds(power(-portable_expm1(k * n * portable_log1p(-1 / m)), k));
}

/* --------------------------------------------------------------------- exact */

/* distinct[d]: the probability that k balls fall into d of m bins, d <= most. */
static void fill_distinct(double *distinct, uint32_t most, uint32_t k, double m)
{
	distinct[0] = 1;
	for (uint32_t d = 1; d <= most; d++)
		distinct[d] = 0;
	for (uint32_t ball = 1; ball <= k; ball++) {
		for (uint32_t d = most; d > 0; d--)
			distinct[d] = distinct[d] * (d / m) + distinct[d - 1] * ((m - (d - 1)) / m);
		distinct[0] = 0;
	}
}

/* covered[d] = c(d, t) by the chain. */
static void cover_by_chain(double *covered, uint32_t most, double m, uint64_t t)
{
	double lost[SKETCH_MAX_HASHES + 1] = { 0 };

	covered[0] = 1;
	for (uint32_t d = 1; d <= most; d++)
		covered[d] = 0;
	for (uint64_t ball = 0; ball < t; ball++) {
		for (uint32_t d = most; d > 0; d--) {
			double old = covered[d];
			double more = d / m * (covered[d - 1] - old) + lost[d];
			double sum = old + more, taken = sum - old;

			lost[d] = (old - (sum - taken)) + (more - taken);
			covered[d] = sum;
		}
	}
}

/* w(j) of the series.  Everything is in units of i = m / sqrt(t), in which all of it
 * is about 1 or less, whatever m and t: a(r) = (-1/2)^{r/2} / (r/2)! or thereabouts. */
static void fill_weights(double *weights, double root, double unit)
{
	double logs[SERIES_TERMS + 1] = { 0 }, series[SERIES_TERMS + 1] = { 1 };
	double stirling[SERIES_TERMS + 1] = { 1 }; /* S(r, j) unit^{r-j} */
	double part = root;                        /* t^{1-r/2} */

	for (int r = 2; r <= SERIES_TERMS; r++) {
		part /= root;
		logs[r] = -part; /* r times the coefficient of i^r in the exponent */
	}
	for (int r = 1; r <= SERIES_TERMS; r++) {
		for (int j = 2; j <= r; j++)
			series[r] += logs[j] * series[r - j];
		series[r] /= r;
	}
	weights[0] = 1;
	for (int j = 1; j <= SERIES_TERMS; j++)
		weights[j] = 0;
	for (int r = 1; r <= SERIES_TERMS; r++) {
		for (int j = r; j > 0; j--) {
			stirling[j] = j * unit * stirling[j] + stirling[j - 1];
			weights[j] += series[r] * stirling[j];
		}
		stirling[0] = 0;
	}
}

/* covered[d] = c(d, t) by the series. */
static void cover_by_series(double *covered, uint32_t most, double m, double t)
{
	double occupied = -portable_expm1(-t / m);
	double root = portable_sqrt(t), unit = root / m;
	double odds = unit / portable_expm1(t / m); /* q/(1-q), in units of i */
	double weights[SERIES_TERMS + 1];

	fill_weights(weights, root, unit);
	for (uint32_t d = 0; d <= most; d++) {
		double sum = 0, term = 1;

		for (uint32_t j = 0; j <= SERIES_TERMS && j <= d; j++) {
			sum += weights[j] * term;
			term *= -odds * (d - j);
		}
		covered[d] = portable_power(occupied, d) * sum;
	}
}

double rates_exact(uint32_t k, double m, double n)
{
	double distinct[SKETCH_MAX_HASHES + 1], covered[SKETCH_MAX_HASHES + 1];
	double t = k * n, rate = 0;
	uint32_t most = m < k ? (uint32_t)m : k; /* so many different bins */

	if (n == 0)
		return 0;
	if (t / m > SATURATED)
		return 1;
	if (sizing_classic_bound(k, m, n) <= DBL_MIN)
		return DBL_MIN;
	if (k == 1) /* then the balls are independent */
		return rates_classic(k, m, n);
	if (k * t <= CHEAP_STEPS || n < SERIES_KEYS * k)
		cover_by_chain(covered, most, m, (uint64_t)t);
	else
		cover_by_series(covered, most, m, t);
	fill_distinct(distinct, most, k, m);
	for (uint32_t d = 1; d <= most; d++)
		rate += distinct[d] * covered[d];
	return sizing_within_bounds(rate);
}

/* ------------------------------------------------------------------- blocked */

/* How the number of keys in a line is distributed, and what is assumed of a line
 * that has j of them. */
struct lines {
	double keys, blocks;
	uint32_t hashes;
	bool poisson;
};

/* The chance of j + 1 keys in a line as a multiple of that of j. */
static double next_weight(const struct lines *lines, double j)
{
	if (lines->poisson)
		return lines->keys / lines->blocks / (j + 1);
	return (lines->keys - j) / ((j + 1) * (lines->blocks - 1));
}

static double line_says_yes(const struct lines *lines, double j)
{
	uint32_t h = lines->hashes;

	if (lines->poisson)
		return portable_power(-portable_expm1(-j * h / LINE), h);
	if (h == OCCUPANCY_WORDS)
		return portable_power(-portable_expm1(j * portable_log1p(-1 / WORD)), h);
	return portable_power(-portable_expm1(j * h * portable_log1p(-1 / LINE)), h);
}

/* The mean over all numbers of keys, outwards from the most likely one. */
static double mean_over_lines(const struct lines *lines)
{
	double mean = lines->keys / lines->blocks, mode = (double)(uint64_t)mean;
	double weight = 1, total = 1, yes = line_says_yes(lines, mode);

	if (!lines->poisson && lines->blocks <= 1)
		return line_says_yes(lines, lines->keys);
	for (double j = mode; j > 0 && weight > 1e-18; j--) {
		weight /= next_weight(lines, j - 1);
		total += weight;
		yes += weight * line_says_yes(lines, j - 1);
	}
	weight = 1;
	for (double j = mode;; j++) {
		double ratio = next_weight(lines, j);

		weight *= ratio;
		/* what is left is below a geometric series, and each line below 1 */
		if (weight <= 0 || (ratio < 0.9 && weight * 10 <= yes * 1e-17))
			break;
		total += weight;
		yes += weight * line_says_yes(lines, j + 1);
	}
	return yes / total;
}

static double blocked_rate(const struct sketch_params *params, uint64_t n, bool poisson)
{
	struct lines lines = {
		.keys = (double)n,
		.blocks = (double)(params->m / ((uint64_t)SKETCH_BLOCK_BITS * params->g)),
		.hashes = params->k / params->g,
		.poisson = poisson,
	};

	if (n == 0)
		return 0;
	if (lines.keys / lines.blocks * lines.hashes > 4 * OCCUPANCY_FULL)
		return 1;
	return sizing_within_bounds(portable_power(mean_over_lines(&lines), params->g));
}

double rates_blocked_exponential(const struct sketch_params *params, uint64_t n)
{
	return blocked_rate(params, n, true);
}

double rates_blocked_classic(const struct sketch_params *params, uint64_t n)
{
	return blocked_rate(params, n, false);
}

/* ------------------------------------------------------------------ textbook */

/* Whole numbers are exact up to 2^53, and all doubles are whole beyond. */
static double rounded_up(double x)
{
	double whole;

	if (!(x < 0x1p53))
		return x;
	whole = (double)(uint64_t)x;
	return whole < x ? whole + 1 : whole;
}

struct textbook textbook_complete(const struct textbook_request *request)
{
	double n = request->n, m = request->m, p = request->p, k = request->k;
	struct textbook book;
	double log_p = p > 0 ? portable_log(p) : 0;

	if (n != 0 && m != 0)
		k = k != 0 ? k : m / n * LOG_2;
	else if (k == 0)
		k = -log_p / LOG_2;
	if (m == 0)
		m = request->k != 0 ? k * n / sizing_classic_load(p, k) :
				      -n * log_p / (LOG_2 * LOG_2);
	else if (n == 0)
		n = request->k != 0 ? m * sizing_classic_load(p, k) / k :
				      -m * (LOG_2 * LOG_2) / log_p;
	else
		p = rates_exponential(k, m, n);
	book = (struct textbook){ .n = n, .m = m, .p = p, .k = k };
	book.m_whole = rounded_up(m);
	book.k_whole = k < 1.5 ? 1 : k < 0x1p52 ? (double)(uint64_t)(k + 0.5) : k;
	book.fill = -portable_expm1(-book.k_whole * n / book.m_whole);
	book.rate = rates_exponential(book.k_whole, book.m_whole, n);
	return book;
}
