/* occupancy.h - how often one line of a blocked filter says yes
 *
 * A line is 512 bits.  Each key that falls into it sets `hashes` of them: one in
 * each of its eight 64-bit words where hashes is 8, else anywhere, repeats
 * allowed.  A key that was not added finds all of its own bits set with the
 * probability hit(x), where x keys fell into the line.  occupancy.c says how
 * that is computed. */
#ifndef CORE_OCCUPANCY_H
#define CORE_OCCUPANCY_H

#include <stdint.h>

#include "sketch.h"

#define OCCUPANCY_WORDS 8 /* so many hashes mean one in each word */

/* After so many bits set at random, a given one of the 512 is still clear with a
 * probability below 1.3e-14: the line is taken to be full. */
#define OCCUPANCY_FULL 16384

/* hit(x) for the x asked for so far: some 70 kB, which the caller provides. */
struct occupancy {
	uint32_t hashes;
	uint32_t known; /* hit[0..known-1] are valid */
	double hit[OCCUPANCY_FULL / 2 + 1];
	double distinct[SKETCH_MAX_HASHES + 1];
	double covered[SKETCH_MAX_HASHES + 1];
};

/* Makes *line ready for lines of `hashes` bits a key, 1..SKETCH_MAX_HASHES.  What
 * it knows already is kept where it was made ready for as many before; to begin
 * with, line->hashes must be 0. */
void occupancy_ready(struct occupancy *line, uint32_t hashes);

/* An upper bound on the expectation of hit(X) where X of `keys` keys, each with
 * probability 1/blocks, fell into the line: at most 4e-12 (relative) above the
 * truth, never below it.  keys >= 1; blocks >= 1, not necessarily whole. */
double occupancy_rate(struct occupancy *line, double keys, double blocks);

/* The fraction of a line's bits that one key sets, in expectation. */
double occupancy_share(uint32_t hashes);

#endif
