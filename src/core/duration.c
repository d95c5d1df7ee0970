#include "duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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

char *duration_moment(char out[DURATION_TEXT], int64_t moment)
{
	/* Towards the past, also before 1970. */
	time_t seconds = (time_t)(moment / (int64_t)SECOND - (moment % (int64_t)SECOND < 0));
	struct tm parts;

	if (gmtime_r(&seconds, &parts) == NULL ||
	    strftime(out, DURATION_TEXT, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
		snprintf(out, DURATION_TEXT, "%" PRId64 " s after 1970", (int64_t)seconds);
	return out;
}

char *duration_age(char out[DURATION_TEXT], uint64_t nanoseconds, bool most)
{
	size_t i = 0;
	uint64_t age;

	/* "90s" says more than "1min"; and the last but one is whole seconds. */
	while (strcmp(units[i].name, "s") != 0 && nanoseconds < 2 * units[i].length)
		i++;
	age = nanoseconds / units[i].length;
	age += most && nanoseconds % units[i].length > 0;
	snprintf(out, DURATION_TEXT, "%" PRIu64 "%s", age, units[i].name);
	return out;
}
