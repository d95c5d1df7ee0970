/* output.h - bytes out, every failure seen at the time
 *
 * Buffers small pieces and hands large ones to the kernel straight from where
 * they lie.  The first failed write is remembered and ends the output: EPIPE
 * silently (the reader went away), anything else with one message.  All
 * functions return false from then on.  A write that a signal interrupts is taken
 * up again, and a descriptor that does not block is waited for. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OUTPUT_BUFFER ((size_t)256 << 10)
#define OUTPUT_DIRECT ((size_t)16 << 10) /* a piece of this size or more is not copied */

/* Visible for output_write alone. */
struct output {
	uint8_t *buffer; /* page-aligned */
	size_t used;     /* bytes in it that were not written yet */
	size_t limit;    /* of the buffer; 0 once a write failed: nothing fits then */
	const char *name;
	int fd; /* -1: memory */
};

/* An output on the descriptor; `name` is for messages ("standard output") and
 * must stay valid.  A pipe is made larger where the system allows.  NULL where
 * there is no memory (a message was printed). */
struct output *output_open(int fd, const char *name);

/* An output that keeps its bytes in memory, which grows with them; NULL where there is
 * none (a message was printed). */
struct output *output_open_memory(void);

/* Writes and flushes what `memory` holds to an output, and empties it; false where either
 * of them failed. */
bool output_take(struct output *output, struct output *memory);

/* What output_write does where the bytes do not just fit the buffer. */
bool output_write_slowly(struct output *output, const void *data, size_t length);

/* Appends bytes; they are copied, or written before the call returns.  `data` may
 * be NULL where length is 0.  Inlined, as it is called for every few records. */
static inline bool output_write(struct output *output, const void *data, size_t length)
{
	/* A length of 0 wraps around, and so goes the slow way like a large one. */
	if (length - 1 < OUTPUT_DIRECT - 1 && length <= output->limit - output->used) {
		memcpy(output->buffer + output->used, data, length);
		output->used += length;
		return true;
	}
	return output_write_slowly(output, data, length);
}

bool output_text(struct output *output, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes what is buffered. */
bool output_flush(struct output *output);

/* Flushes, frees, and returns whether every byte was taken.  The descriptor
 * itself is closed, too, so that an error reported only then is seen; 0, 1 and 2
 * are taken again at once, as by system_begin. */
bool output_close(struct output *output);

/* Whether a write failed. */
static inline bool output_failed(const struct output *output)
{
	return output->limit == 0;
}

#endif
