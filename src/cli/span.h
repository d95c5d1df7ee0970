/* span.h - how far back to look: a number of records, or a duration */
#ifndef CLI_SPAN_H
#define CLI_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "sketch.h"

struct span {
	enum sketch_window_unit unit;
	uint64_t length; /* records or nanoseconds, at least 1; 0 where none was given */
};

/* Reads "1000", "10k", or "90s", "5min", "24h"; false after a message that names the
 * option. */
bool span_parse(const char *option, const char *value, struct span *span);

/* "records" or "nanoseconds". */
const char *span_unit_name(enum sketch_window_unit unit);

/* Says that a file has another span than was asked for, or none; true. */
bool span_differs(const char *file, const char *field, const struct span *has,
		  const struct span *asked);

#endif
