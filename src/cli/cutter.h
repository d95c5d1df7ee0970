/* cutter.h - records and their keys, out of bytes in memory
 *
 * What is left of reading records once bytes are there: it does no I/O, and any number
 * of cutters can follow the same rules at the same time, in as many threads. */
#ifndef CLI_CUTTER_H
#define CLI_CUTTER_H

#include "records.h"
#include "scan.h"

/* How records end and what their keys are; the same for all inputs. */
struct cutter_rules {
	const struct record_options *options;
	uint32_t seed;
	const struct sketch_secret *secret; /* or NULL */
	bool fold;
	uint64_t weight_field;
	uint8_t terminator;
	const struct scan_machine *scan;
	bool one_field; /* is the key */
	struct field_split split, weights;
};

void cutter_rules_make(struct cutter_rules *rules, const struct records_setup *setup);

/* Bytes of one input, and behind them SCAN_PADDING more that may be read.  Records begin
 * at `begin`; up to `searched` there is no further terminator; the data ends at `end`. */
struct cutter_bytes {
	uint8_t *base; /* the memory, `size` bytes */
	size_t size;
	uint8_t *begin, *searched, *end;
	bool ended; /* the input has no more: what is left is a record, too */
};

struct cutter {
	const struct cutter_rules *rules;
	const char *name;          /* of the input, for messages */
	const struct touch *touch; /* asked for once a key is hashed; never NULL */
	uint8_t *scratch;          /* keys that had to be copied */
	size_t scratch_size;
	struct records_tally tally; /* but for bytes and inputs */
};

/* Takes the next records out of the bytes: a batch that is valid until the bytes change
 * and until the next call.  A batch of none where there is no whole record.  False after
 * a message: no memory, or a bad weight. */
bool cutter_next(struct cutter *cutter, struct cutter_bytes *bytes, struct records_batch *batch);

/* Frees what it owns. */
void cutter_end(struct cutter *cutter);

#endif
