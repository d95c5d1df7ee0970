/* hll_estimate.h - what the registers of a HyperLogLog sketch say */
#ifndef CORE_HLL_ESTIMATE_H
#define CORE_HLL_ESTIMATE_H

#include <stdint.h>

#define HLL_VALUES 62 /* of a register: 0 to 65 - precision */

/* The number of distinct keys from the number of registers of each value: INFINITY
 * where all have the largest. */
double hll_estimate(const uint64_t registers[HLL_VALUES], uint32_t precision);

/* The standard error of that for so many keys, as a fraction of their number. */
double hll_estimate_error(double distinct, uint32_t precision);

#endif
