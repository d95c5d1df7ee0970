/* duration.h - lengths of time as people write them */
#ifndef CORE_DURATION_H
#define CORE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "sketch.h"

#define DURATION_TEXT 32

/* Nanoseconds in the largest unit of which they are a whole number ("90s", "5min", "7d",
 * "500ms"; a day alone is "24h"), else as seconds ("1.000000001s"): what the tools read as
 * the same number.  Returns out. */
char *duration_text(char out[DURATION_TEXT], uint64_t nanoseconds);

/* The same, or "500 records". */
char *duration_or_records(char out[DURATION_TEXT], enum sketch_window_unit unit, uint64_t length);

/* A moment, in nanoseconds since 1970-01-01 UTC, to the second:
 * "2026-11-30 22:10:05 UTC". */
char *duration_moment(char out[DURATION_TEXT], int64_t moment);

/* How long ago something was, in one unit: "6s", "119s", "3min", "5h", "2d"; rounded down,
 * or where `most` up, to be no less than that. */
char *duration_age(char out[DURATION_TEXT], uint64_t nanoseconds, bool most);

#endif
