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

/* -j; `purpose` is its line of help. */
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
 * the reading failed.  The calling thread does all of the reading and is the first of the
 * workers; signals come to it alone.  The records' tally holds what all have seen.
 * Where there are two workers or more, the records must have been opened without idle
 * and tick, and no weights. */
bool parallel_stream(struct records *records, const struct parallel_worker *workers, size_t count);

#endif
