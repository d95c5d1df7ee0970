/* interval.h - how far a measured rate may be from the true one */
#ifndef CLI_INTERVAL_H
#define CLI_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

/* What was seen of several filters, each asked `queries` times. */
struct interval_sample {
	uint64_t filters, queries; /* at least 1 each */
	uint64_t hits;             /* of all filters */
	double squares;            /* sum over the filters of hits^2 */
};

struct interval {
	double low, high; /* rates; 0 <= low <= high <= 1 */
	const char *method;
};

/* An interval for the expected rate that misses it with the probability `tail` on
 * each side, 0 < tail < 1/2.  Each filter counts as one observation, so that the
 * scatter between filters is in it: Student's t over the filters' rates, or, where
 * there are fewer than INTERVAL_FEW hits or but one filter, Clopper and Pearson's
 * for the hits of all, their number divided by the dispersion between filters
 * (variance over that of a binomial number) where that is above 1. */
#define INTERVAL_FEW 100
struct interval interval_of(const struct interval_sample *sample, double tail);

/* The two limits of Clopper and Pearson (1934) for hits out of queries, neither
 * necessarily whole. */
struct interval interval_proportion(double hits, double queries, double tail);

/* The value that Student's t with `freedom` degrees exceeds with probability
 * `tail`. */
double interval_student(double freedom, double tail);

#endif
