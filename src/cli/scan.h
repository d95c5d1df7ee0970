/* scan.h - finding the ends of records, as fast as the machine can */
#ifndef CLI_SCAN_H
#define CLI_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "field.h"
#include "sketch.h"
#include "touch.h"

/* Bytes behind the data that the scanner may read, never use. */
#define SCAN_PADDING 64

struct scan {
	const uint8_t *from; /* where to look on; advanced by the scan */
	const uint8_t *end;  /* of the data */
	uint8_t terminator;
	uint32_t seed;             /* of the hash */
	const struct touch *touch; /* what to ask for once a key is hashed */
};

/* One field of every record as its key. */
struct scan_field {
	int delimiter;
	uint64_t number; /* from 1 */
	bool crlf;       /* a CR at the record's end belongs to no field */
	bool quoted;
	uint32_t seed; /* of the hash */
	const struct touch *touch;
};

struct scan_machine {
	/* Finds at most `limit` records that end before scan->end: starts[0] is where the
	 * first begins (given), starts[i + 1] becomes the byte behind the terminator of
	 * record i.  hashes, where not NULL, gets each record's hash without its
	 * terminator.  Returns the number of records found. */
	size_t (*records)(struct scan *scan, size_t limit, const uint8_t **starts,
			  struct sketch_hash *hashes);

	/* Bit i % 64 of ends[i / 64], for 0 <= i <= length and to the end of that word:
	 * whether byte i ends a field, as field_key wants to know it.  Behind the record
	 * SCAN_PADDING bytes may be read. */
	void (*ends)(const uint8_t *record, size_t length, const struct field_split *split,
		     uint64_t *ends);

	/* One field, as field.h splits a record (a newline is no blank), of `count` records, at
	 * most 64, each with its terminator: record i is
	 * the bytes from starts[i] to starts[i + 1].  Bit i of the result is whether it
	 * has the field; then keys[i], lengths[i] and, where hashes is not NULL, hashes[i] are
	 * set. */
	uint64_t (*keys)(const struct scan_field *wanted, const uint8_t *const *starts,
			 size_t count, const uint8_t **keys, size_t *lengths,
			 struct sketch_hash *hashes);
};

/* The fastest that this processor runs. */
const struct scan_machine *scan_best(void);

/* All that this processor runs, the portable one first; for tests. */
size_t scan_all(const struct scan_machine **machines, size_t room);

#endif
