#include "span.h"

#include <string.h>

#include "duration.h"
#include "message.h"
#include "number.h"

bool span_parse(const char *option, const char *value, struct span *span)
{
	struct number_error error;
	bool good;

	/* What ends like a number is one, M is a million; else it can only be a duration,
	 * and the error says so: m may have been meant for minutes. */
	if (*value != '\0' && strchr("0123456789kKMGT", value[strlen(value) - 1]) == NULL) {
		span->unit = SKETCH_WINDOW_NANOSECONDS;
		good = number_duration(value, &span->length, &error);
	} else {
		span->unit = SKETCH_WINDOW_RECORDS;
		good = number_count(value, 1, UINT64_C(1000000000000000000), &span->length, &error);
	}
	/* A number that is too small or large for one, or lacks its unit, is told so. */
	if (!good && (value[strspn(value, "0123456789")] == '\0' ||
		      strstr(error.text, "did you mean") != NULL))
		message("%s: %s", option, error.text);
	else if (!good)
		message("%s: '%s' is neither a number of records (1000, 10k) nor a duration (90s, "
			"5min, 24h)",
			option, value);
	return good;
}

const char *span_unit_name(enum sketch_window_unit unit)
{
	return unit == SKETCH_WINDOW_RECORDS ? "records" : "nanoseconds";
}

bool span_differs(const char *file, const char *field, const struct span *has,
		  const struct span *asked)
{
	char one[DURATION_TEXT], other[DURATION_TEXT];

	message("%s: %s differs: the file has %s, the command line says %s", file, field,
		has->length == 0 ? "none" : duration_or_records(one, has->unit, has->length),
		duration_or_records(other, asked->unit, asked->length));
	return true;
}
