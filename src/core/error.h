/* error.h - filling in a struct sketch_error */
#ifndef CORE_ERROR_H
#define CORE_ERROR_H

#include "sketch.h"

/* Fills *error, if there is one, and returns the status. */
enum sketch_status error_set(struct sketch_error *error, enum sketch_status status,
			     const char *format, ...) __attribute__((format(printf, 3, 4)));

/* SKETCH_IO with the errno given; the text says what was attempted, or "". */
enum sketch_status error_io(struct sketch_error *error, int errnum, const char *what);

/* SKETCH_DAMAGED, "damaged: what". */
enum sketch_status error_damaged(struct sketch_error *error, const char *what);

/* SKETCH_NO_MEMORY, of so many bytes where the budget is less. */
enum sketch_status error_budget(struct sketch_error *error, uint64_t bytes, uint64_t budget);

/* SKETCH_MISMATCH, "field differs: a and b". */
enum sketch_status error_differ(struct sketch_error *error, const char *field, uint64_t a,
				uint64_t b);

/* An analyser looks at one source at a time: here it sees which status comes back. */
#ifdef SKETCH_ANALYSED
#define error_set(error, status, ...) ((void)error_set(error, status, __VA_ARGS__), (status))
#define error_io(error, errnum, what) ((void)error_io(error, errnum, what), SKETCH_IO)
#define error_damaged(error, what) ((void)error_damaged(error, what), SKETCH_DAMAGED)
#define error_budget(error, bytes, budget)                                                         \
	((void)error_budget(error, bytes, budget), SKETCH_NO_MEMORY)
#endif

#endif
