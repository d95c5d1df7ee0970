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
#define SCAN_PADDING 128

/* Starts behind those asked for that it may write, never counts. */
#define SCAN_OVERSHOOT 64

struct scan {
	const uint8_t *from; /* where to look on; advanced by the scan */
	const uint8_t *end;  /* of the data */
	uint8_t terminator;
};

/* Some fields of every record as its key. */
struct scan_keys {
	const struct field_split *split;
	bool crlf; /* a CR at the record's end belongs to no field */
};

/* How keys are hashed. */
struct scan_hashing {
	uint32_t seed;
	const struct touch *touch;          /* what to ask for once a key is hashed */
	const struct sketch_secret *secret; /* NULL: MurmurHash3; else SipHash under it */
};

struct scan_machine {
	/* Finds at most `limit` records that end before scan->end: starts[0] is where the
	 * first begins (given), starts[i + 1] becomes the byte behind the terminator of
	 * record i.  Returns the number of records found; there must be room for `limit` + 1
	 * starts and SCAN_OVERSHOOT more. */
	size_t (*records)(struct scan *scan, size_t limit, const uint8_t **starts);

	/* The keys of `count` records, at most 64, each with its terminator: record i is the
	 * bytes from starts[i] to starts[i + 1].  Bit i of the result is whether it has a
	 * key, of which `field` finds the only field; `fields` puts one together of several
	 * (see field.h), in memory at *room where it is no piece of the record, which then
	 * goes on behind it: there must be room for all records, and SCAN_PADDING bytes
	 * more. */
	uint64_t (*field)(const struct scan_keys *wanted, const uint8_t *const *starts,
			  size_t count, const uint8_t **keys, size_t *lengths);
	uint64_t (*fields)(const struct scan_keys *wanted, const uint8_t *const *starts,
			   size_t count, const uint8_t **keys, size_t *lengths, uint8_t **room);

	/* Hashes those of 64 keys whose bit in `present` is 1; behind each SCAN_PADDING
	 * bytes may be read. */
	void (*hash)(const struct scan_hashing *wanted, const uint8_t *const *keys,
		     const size_t *lengths, uint64_t present, struct sketch_hash *hashes);
};

/* The fastest that this processor runs. */
const struct scan_machine *scan_best(void);

/* All that this processor runs, SCAN_MACHINES at most, the portable one first; for tests. */
#define SCAN_MACHINES 5
size_t scan_all(const struct scan_machine **machines, size_t room);

#endif
