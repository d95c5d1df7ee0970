/* sizing.h - what the parts of the sizing module share */
#ifndef CORE_SIZING_H
#define CORE_SIZING_H

#include <stdint.h>

#include "occupancy.h"
#include "sketch.h"

/* The rate, but at least DBL_MIN and at most 1. */
double sizing_within_bounds(double rate);

/* k n / m where (1 - e^{-kn/m})^k, the rate of a large classic filter, is p. */
double sizing_classic_load(double p, double k);

/* The upper bound on the rate of a classic filter, as sketch_rate_bound says;
 * m >= 1 and keys >= 1 need not be whole. */
double sizing_classic_bound(uint32_t k, double m, double keys);

/* sketch_rate_bound, keeping in *line what may serve again for the same k and g;
 * *line is only used where the layout is blocked. */
double sizing_rate_bound(const struct sketch_params *params, uint64_t keys, struct occupancy *line);

/* The least size, of which every other is a multiple: bits. */
uint64_t sizing_unit(enum sketch_layout layout, uint32_t g);

/* "name = value is out of range (least to most)", as SKETCH_RANGE. */
enum sketch_status sizing_refuse_range(struct sketch_error *error, const char *name, uint64_t value,
				       uint64_t least, uint64_t most);

/* SKETCH_OK where a filter can be for n keys at a rate p; else SKETCH_RANGE. */
enum sketch_status sizing_check_promise(uint64_t n, double p, struct sketch_error *error);

#endif
