/* records.h - records in: the path that all tools share
 *
 * Reads the inputs one after another and hands out their records in batches,
 * each with its key's hash.  A record is what lies before a terminator (newline,
 * or NUL with -z), of any bytes and any length, the empty one included; a last
 * record without its terminator counts; no record spans two inputs.
 *
 * What begins as a sketch or a compressed file does is no input of records: it is refused as
 * one that cannot be read.
 *
 * Memory depends on the longest record, not on the stream. */
#ifndef CLI_RECORDS_H
#define CLI_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "field.h"
#include "option.h"
#include "scan.h"
#include "sketch.h"
#include "touch.h"
#include "words.h"

/* ------------------------------------------------------------------ options */

/* What the shared options say of records and their keys. */
struct record_options {
	bool zero_terminated, fold, crlf, has_fields, quoted, progress, stats;
	int delimiter; /* a byte, or FIELD_BLANKS */
	struct field_list fields;
	const char *files0_from;
};

/* The group of shared options, for a tool's table; `options` is filled as they
 * are read and must have been set to RECORD_OPTIONS_NONE. */
#define RECORD_OPTIONS_NONE ((struct record_options){ .delimiter = FIELD_BLANKS })
struct option_group record_option_group(struct record_options *options);

/* Whether the options agree with each other and with the inputs that are operands; else a
 * message. */
bool record_options_check(const struct record_options *options, const struct operands *inputs);

/* Whether any of them is of no use where no record is read: all but --zero-terminated,
 * which is about output, too, and --stats. */
bool record_options_need_records(const struct record_options *options);

/* Whether standard input is at most one thing among `sketches` and the inputs, of which it
 * is one where none is named and `otherwise`; else a message. */
bool record_options_check_stdin(const struct record_options *options, const struct operands *inputs,
				bool otherwise, const struct words *sketches);

/* ------------------------------------------------------------------ records */

#define RECORDS_BATCH 128

struct records_batch {
	size_t count; /* 1..RECORDS_BATCH */
	/* Record i is the bytes from starts[i] to starts[i + 1], terminator included,
	 * but for the last one where `unterminated`.  What is behind is the scanner's. */
	const uint8_t *starts[RECORDS_BATCH + 1 + SCAN_OVERSHOOT];
	bool unterminated;
	/* Bit i % 64 of keyed[i / 64]: record i has a key.  Its hash, folded where
	 * that was asked for; meaningless where there is no key. */
	uint64_t keyed[RECORDS_BATCH / 64];
	struct sketch_hash hashes[RECORDS_BATCH];
	/* The keys themselves. */
	const uint8_t *keys[RECORDS_BATCH];
	size_t key_lengths[RECORDS_BATCH];
	/* What each counts for, where a field of weights was asked for. */
	uint64_t weights[RECORDS_BATCH];
};

/* What was read, for summaries. */
struct records_tally {
	uint64_t records, without_key, bytes, inputs;
	uint64_t without_weight; /* of those without a key: they lack that field */
};

struct records_setup {
	const struct record_options *options;
	struct operands inputs; /* none stands for "-" */
	uint32_t seed;
	/* Keys are hashed by SipHash under it, not by MurmurHash3 under the seed; NULL: not.
	 * To be kept by the caller until the records are closed. */
	const struct sketch_secret *secret;
	bool fold;             /* keys are folded (asked for, or as the filter says) */
	uint64_t weight_field; /* the field that holds the weight; 0: none does.  A record
	                        * that lacks it has no key; a field that is no number
	                        * from 0 to 2^64 - 1, nor "-" for 0, ends it all */
	bool all_needed;       /* an input that cannot be read ends it all; else it is
	                  * passed over, and records_trouble tells */
	/* What to do with an operand that is no file, to which the operand is added ("for a
	 * key: -e "); may be NULL. */
	const char *absent;
	/* Called before a read that would block, so that output can be flushed; false
	 * ends the reading.  May be NULL. */
	bool (*idle)(void *context);
	/* Called when `interval` nanoseconds have passed since it last was, and where
	 * system_woken says so, between batches; false ends the reading.  May be NULL. */
	bool (*tick)(void *context);
	uint64_t interval;
	void *context;
	/* What is asked for as soon as a key is hashed; may change between batches.  NULL:
	 * nothing. */
	const struct touch *touch;
};

struct records;

/* NULL where there is no memory (a message was printed). */
struct records *records_open(const struct records_setup *setup);

/* A regular file that no input may be, for it is an output: an input with this
 * device and inode is refused. */
#define RECORDS_FORBIDDEN 4
void records_forbid(struct records *records, const struct stat *output);

enum records_outcome {
	RECORDS_BATCH_READY, /* valid until the next call */
	RECORDS_END,         /* no more, or interrupted (system_signal) */
	RECORDS_FAILED       /* a message was printed: all_needed, or no memory, or idle
	                      * or tick said so */
};
enum records_outcome records_next(struct records *records, struct records_batch *batch);

/* For several threads (parallel.h), which read in turns: the rules for cutting, and the
 * next bytes that hold whole records only, of one input, in the memory of *bytes, all 0 at
 * first; records_free_block frees it.  One thread may read while others cut what they have
 * read.  What they have seen is to be added to the tally. */
struct cutter_bytes;
struct cutter_rules;
const struct cutter_rules *records_rules(const struct records *records);
enum records_outcome records_next_block(struct records *records, struct cutter_bytes *bytes);
void records_free_block(struct cutter_bytes *bytes);
void records_add_tally(struct records *records, const struct records_tally *tally);

/* From now on `interval` nanoseconds are to pass until the next tick. */
void records_tick_after(struct records *records, uint64_t interval);

/* Another function for `idle` of the setup, with a context of its own for it and tick. */
void records_set_idle(struct records *records, bool (*idle)(void *context), void *context);

/* Whether an input was passed over. */
bool records_trouble(const struct records *records);

const struct records_tally *records_tally(const struct records *records);

/* Says so on standard error where fields were asked for and no record had them. */
void records_warn_no_key(const struct records *records);

/* "tool: 10 records, 860 bytes, 1 input, 0 without key" */
void records_print_tally(const struct records *records);

void records_close(struct records *records);

/* Copies a key with A-Z as a-z. */
void records_fold(uint8_t *to, const uint8_t *from, size_t length);

#endif
