/* counts_support.h - what the tests of counts share */
#ifndef TESTS_COUNTS_SUPPORT_H
#define TESTS_COUNTS_SUPPORT_H

#include "support.h"

/* The file of a sketch. */
struct bytes counts_written(const struct sketch_counts *counts);

/* The status of reading it; *counts is NULL unless it is SKETCH_OK. */
enum sketch_status counts_reread(const struct bytes *bytes, uint64_t budget,
				 struct sketch_counts **counts, struct sketch_error *error);

/* A key, below count, of a skewed stream: about as many of each octave. */
size_t draw_key(struct dice *dice, size_t count);

/* A weight: 1; below 4; mostly below 1000 and now and then up to 2^33; about 2^32. */
uint64_t draw_weight(struct dice *dice, unsigned int kind);

/* How often something is to be tried that usually is so often: less where every step is
 * slow, more where there is time. */
size_t effort(size_t usual);

#endif
