/* rates.h - how often a Bloom filter errs, by every formula in use
 *
 * k hashes, m bits, n keys; independent hashes, repeats allowed.  Each function
 * returns the expected rate of false positives over random hashes: 0 where n is
 * 0, else at least DBL_MIN (a rate too small for a double is not 0) and at most 1,
 * never NaN.  rates.c says where the formulas are from.
 *
 * These are for comparison; sketch_rate_bound is what sizes are made of. */
#ifndef CORE_RATES_H
#define CORE_RATES_H

#include <stdint.h>

#include "sketch.h"

/* (1 - e^{-kn/m})^k: the usual estimate, below the truth.  k >= 1, m > 0 and
 * n >= 0 need not be whole. */
double rates_exponential(double k, double m, double n);

/* (1 - (1 - 1/m)^{kn})^k: Bloom's own, still below the truth.  m >= 1. */
double rates_classic(uint32_t k, double m, double n);

/* The truth, within a relative error of 1e-12: k balls fall into bins that k n
 * balls have occupied.  1 <= k <= SKETCH_MAX_HASHES; m >= 1 and n are whole.  Takes
 * up to a second where k is above 200 and n a few thousand, else milliseconds. */
double rates_exact(uint32_t k, double m, double n);

/* The same two estimates for a blocked filter: they take the bits of one line for
 * independent, while the number of keys in a line varies.
 *   exponential  a Poisson number j, and (1 - e^{-jh/512})^h
 *   classic      a binomial number j, and (1 - (511/512)^{jh})^h; where h = 8,
 *                (1 - (63/64)^j)^8, which is exact
 * to the g-th power.  The bound of such a filter is exact but for 4e-12. */
double rates_blocked_exponential(const struct sketch_params *params, uint64_t n);
double rates_blocked_classic(const struct sketch_params *params, uint64_t n);

/* ---------------------------------------------------------------- textbook */

/* A filter by the textbook.  Real-valued: n, m, p, k; whole: the others. */
struct textbook {
	double n, m, p, k;
	double m_whole;    /* m rounded up */
	double k_whole;    /* k rounded to the nearest, halves up, at least 1 */
	double fill, rate; /* the exponential formula's, of n, m_whole and k_whole */
};

/* What is known; 0 stands for "not given".  m and n need not be whole. */
struct textbook_request {
	double n, m, p;
	uint32_t k;
};

/* Completes a request of which two or more of n, m and p are given:
 *   n p      m = -n ln p / (ln 2)^2, k = -log2 p
 *   m p      n = -m (ln 2)^2 / ln p, the same k
 *   n m      k = (m/n) ln 2, whether p is given or not
 *   k too    m = -k n / ln(1 - p^{1/k}), or n, or nothing
 * Where n and m are given, p becomes the rate of the real-valued k. */
struct textbook textbook_complete(const struct textbook_request *request);

#endif
