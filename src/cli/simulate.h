/* simulate.h - measures the rate of filters that are really built */
#ifndef CLI_SIMULATE_H
#define CLI_SIMULATE_H

#include <stdbool.h>

#include "interval.h"
#include "sketch.h"

#define SIMULATE_FILTERS 50

struct simulation {
	struct sketch_params params; /* of the filters, each with params.n keys */
	uint64_t filters;            /* at least 1 */
	uint64_t queries;            /* to each filter, at least 1 */
	uint32_t seed;               /* of the first filter; the others follow it */
	bool progress;               /* shown whatever standard error is */
};

struct simulation_result {
	struct interval_sample sample;
	double rate;
	struct interval interval; /* 95 % */
	bool holds;               /* the measured rate is not above the bound by more than chance
	             * brings about once in ten thousand times */
};

/* As many queries a filter as tell the rate p to about a percent, within reason. */
uint64_t simulate_queries(double p, uint64_t filters);

/* Builds the filters one after another.  The keys are the numbers from 0, eight
 * bytes each, so that the seed alone makes one filter differ from the next; the
 * queries go on from there, so none was inserted.  False, after a message, where
 * that is too much for the memory or for ten minutes. */
bool simulate_filters(const struct simulation *simulation, struct simulation_result *result);

/* Asks one filter that exists for random keys of 16 bytes, which nobody inserted
 * but for a chance of 2^-128 or so.  `bound` as for `holds`.  False, after a
 * message that names the file, where the filter is damaged. */
bool simulate_file(struct sketch_bloom *filter, const char *name, uint64_t queries, uint32_t seed,
		   double bound, struct simulation_result *result);

/* The same of a filter of DCSO's, for hashes as random keys have them. */
void simulate_dcso(const struct sketch_dcso *dcso, uint64_t queries, uint32_t seed, double bound,
		   struct simulation_result *result);

#endif
