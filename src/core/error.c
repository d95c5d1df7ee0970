#include "error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum sketch_status(error_set)(struct sketch_error *error, enum sketch_status status,
			      const char *format, ...)
{
	va_list arguments;

	if (error == NULL)
		return status;
	error->status = status;
	error->errnum = 0;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof error->text, format, arguments);
	va_end(arguments);
	return status;
}

enum sketch_status(error_io)(struct sketch_error *error, int errnum, const char *what)
{
	error_set(error, SKETCH_IO, "%s", what);
	if (error != NULL)
		error->errnum = errnum;
	return SKETCH_IO;
}

enum sketch_status(error_damaged)(struct sketch_error *error, const char *what)
{
	return error_set(error, SKETCH_DAMAGED, "damaged: %s", what);
}

enum sketch_status(error_budget)(struct sketch_error *error, uint64_t bytes, uint64_t budget)
{
	return error_set(error, SKETCH_NO_MEMORY,
			 "needs %" PRIu64 " bytes of memory, and %" PRIu64 " are to be had", bytes,
			 budget);
}

enum sketch_status error_differ(struct sketch_error *error, const char *field, uint64_t a,
				uint64_t b)
{
	return error_set(error, SKETCH_MISMATCH, "%s differs: %" PRIu64 " and %" PRIu64, field, a,
			 b);
}

const char *sketch_status_text(enum sketch_status status)
{
	static const char *const texts[] = {
		[SKETCH_OK] = "no error",
		[SKETCH_RANGE] = "out of range",
		[SKETCH_UNREACHABLE] = "no parameters will do",
		[SKETCH_NO_MEMORY] = "not enough memory",
		[SKETCH_IO] = "input or output failed",
		[SKETCH_FOREIGN] = "not a sketch file",
		[SKETCH_UNSUPPORTED] = "not supported by this version",
		[SKETCH_TRUNCATED] = "truncated",
		[SKETCH_LENGTHENED] = "longer than it says",
		[SKETCH_DAMAGED] = "damaged",
		[SKETCH_MISMATCH] = "sketches do not match",
		[SKETCH_BUSY] = "in use by another process",
		[SKETCH_INTERRUPTED] = "interrupted",
		[SKETCH_FULL] = "full",
	};

	if ((unsigned int)status < sizeof texts / sizeof *texts)
		return texts[status];
	return "unknown status";
}

const char *sketch_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[SKETCH_KIND_BLOOM] = "Bloom filter",
		[SKETCH_KIND_COUNTS] = "count-min sketch",
		[SKETCH_KIND_COUNTING_BLOOM] = "counting Bloom filter",
		[SKETCH_KIND_CUCKOO] = "cuckoo filter",
		[SKETCH_KIND_HYPERLOGLOG] = "HyperLogLog sketch",
	};

	return kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

const char *sketch_version(void)
{
	return "0.1.0";
}
