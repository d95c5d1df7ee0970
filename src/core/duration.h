/* duration.h - lengths of time as people write them */
#ifndef CORE_DURATION_H
#define CORE_DURATION_H

#include <stdint.h>

#include "sketch.h"

#define DURATION_TEXT 32

/* Nanoseconds in the largest unit of which they are a whole number ("90s", "5min", "24h",
 * "7d", "500ms"), else as seconds ("1.000000001s"): what the tools read as the same number.
 * Returns out. */
char *duration_text(char out[DURATION_TEXT], uint64_t nanoseconds);

/* The same, or "500 records". */
char *duration_or_records(char out[DURATION_TEXT], enum sketch_window_unit unit, uint64_t length);

#endif
