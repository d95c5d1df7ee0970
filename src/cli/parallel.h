/* parallel.h - the records of a stream shared out among threads
 *
 * For work whose result does not depend on which thread does what: the input is cut
 * into blocks of whole records, and each block is one thread's.  What goes out can be put
 * back into the order of the input. */
#ifndef CLI_PARALLEL_H
#define CLI_PARALLEL_H

#include "option.h"
#include "records.h"

#define PARALLEL_MOST 256

/* -j; `purpose` is its line of help, NULL where it is only refused: then there is none. */
struct parallel_options {
	struct option_spec spec;
	uint64_t threads; /* 1 where it was not given */
};
struct option_group parallel_option_group(struct parallel_options *options, const char *purpose);

/* For tools whose answer does depend: true where one thread is all that was asked for, else
 * false after a message that says why. */
bool parallel_refuse(const struct parallel_options *options, const char *why);

enum parallel_step {
	PARALLEL_ON,
	PARALLEL_STOP,  /* nothing further is needed */
	PARALLEL_FAILED /* a message was printed */
};

/* One of the threads, and what it does. */
struct parallel_worker {
	enum parallel_step (*batch)(void *context, struct records_batch *batch);
	/* Called after the last batch of a block, by one thread at a time and in the order
	 * of the input; false after a message.  May be NULL.  Not called where there is
	 * one worker only. */
	bool (*block)(void *context);
	void *context;
	struct touch touch; /* where its keys will be looked for; not where it is alone */
};

/* Reads to the end, or until a worker wants no more; false after a message, and where
 * the reading failed.  The calling thread is the first of the workers, who read in turns.
 * The records' tally holds what all have seen.
 * Where there are two workers or more, the records must have been opened without tick and
 * weights, and their idle is not called: all that was read goes out before a read that
 * would block. */
bool parallel_stream(struct records *records, const struct parallel_worker *workers, size_t count);

/* What several threads can add up, each in one of its own. */
struct parallel_sum {
	enum parallel_step (*batch)(void *sum, struct records_batch *batch);
	/* An empty one like the first, of at most `budget` bytes, or NULL and *error. */
	void *(*like)(const void *first, uint64_t budget, struct sketch_error *error);
	enum sketch_status (*join)(void *into, void *from, struct sketch_error *error);
	void (*free)(void *sum);
	/* Where its keys will be looked for; may be NULL. */
	void (*touch)(struct touch *touch, const void *sum);
};

/* As parallel_stream, with `threads` threads, two or more; *first is the first's and
 * gets what all have. */
bool parallel_add_up(struct records *records, const struct parallel_sum *how, void *first,
		     size_t threads);

#endif
