/* field.h - which part of a record is its key
 *
 * A LIST as in cut: numbers from 1 and ranges, "2", "1,3", "2-4", "4-", "-3"; the
 * fields come in the order of the record, each once.  Fields are split at runs of
 * blanks as awk splits (blanks at both ends ignored; a blank is space or tab, and a newline
 * where records end with NUL), or at every delimiter byte as cut splits.  Several
 * fields are joined by the delimiter, or by one space: the key is what cut or awk
 * would print.
 *
 * Where quotes are heeded, a field that begins with " goes on, whatever separators come,
 * to the closing quote, and from there to the next separator; all of it, quotes included,
 * is the field.  Inside, a backslash takes the byte behind it along, and "" is no end.
 * One that is never closed goes on to the end of the record.  A quote anywhere else is a
 * byte as any other.
 *
 * A record lacks a key where it has fewer fields than the highest one named; an
 * open range "4-" names 4. */
#ifndef CLI_FIELD_H
#define CLI_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number.h"

#define FIELD_BLANKS (-1)
#define FIELD_MAX_RANGES 256

struct field_list {
	size_t count;
	struct field_range {
		uint64_t first, last; /* last is UINT64_MAX where open */
	} ranges[FIELD_MAX_RANGES];   /* ascending, disjoint, not adjacent */
	uint64_t needed;              /* the highest field named */
};

/* Reads a LIST, or fills *error and returns false. */
bool field_parse(const char *word, struct field_list *list, struct number_error *error);

struct field_split {
	struct field_list list;
	int delimiter;      /* a byte, or FIELD_BLANKS; neither " nor \\ where quoted */
	bool newline_blank; /* a newline separates fields, too */
	bool quoted;        /* quotes are heeded */
};

/* The key of a record, found byte by byte: true and *key, *length, which point into the
 * record where the key is one piece of it, else into `scratch`, which has room for the
 * record's length; *used is what was taken of it.  False where it lacks one.  scan.h has
 * the same for many records at once. */
bool field_key(const struct field_split *split, const uint8_t *record, size_t record_length,
	       uint8_t *scratch, const uint8_t **key, size_t *length, size_t *used);

#endif
