#include "duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

static const struct {
	const char *name;
	uint64_t length, least; /* a day alone is better known as 24h */
} units[] = {
	{ "d", 86400 * SECOND, 2 * 86400 * SECOND },
	{ "h", 3600 * SECOND, 3600 * SECOND },
	{ "min", 60 * SECOND, 60 * SECOND },
	{ "s", SECOND, 0 },
	{ "ms", SECOND / 1000, 0 },
};

char *duration_text(char out[DURATION_TEXT], uint64_t nanoseconds)
{
	size_t length;

	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (nanoseconds < units[i].least || nanoseconds % units[i].length != 0)
			continue;
		snprintf(out, DURATION_TEXT, "%" PRIu64 "%s", nanoseconds / units[i].length,
			 units[i].name);
		return out;
	}
	snprintf(out, DURATION_TEXT, "%" PRIu64 ".%09" PRIu64, nanoseconds / SECOND,
		 nanoseconds % SECOND);
	length = strlen(out);
	while (out[length - 1] == '0')
		length--;
	memcpy(out + length, "s", 2);
	return out;
}

char *duration_or_records(char out[DURATION_TEXT], enum sketch_window_unit unit, uint64_t length)
{
	if (unit == SKETCH_WINDOW_NANOSECONDS)
		return duration_text(out, length);
	snprintf(out, DURATION_TEXT, "%" PRIu64 " record%s", length, length == 1 ? "" : "s");
	return out;
}
