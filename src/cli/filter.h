/* filter.h - filters by name, for the tools that read them */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include <stdbool.h>

#include "sketch.h"
#include "state.h"

/* Reads the Bloom filter in a file, "-" standing for standard input, or prints
 * why not and returns NULL.  A filter is refused where it would not fit this
 * machine. */
struct sketch_bloom *filter_open(const char *name, enum sketch_access access);

/* The same of a file that was read; it is used up. */
struct sketch_bloom *filter_of_file(const char *name, struct sketch_file *file);

/* A filter of DCSO's in a file that was read, which is used up; NULL after a message.
 * Where its bits are dependent a warning says so. */
struct sketch_dcso *filter_dcso_of_file(const char *name, struct sketch_file *file);

/* A filter that is kept in a file from run to run. */
struct filter_state {
	struct sketch_bloom *filter;
	struct state *state;
	uint64_t before; /* records in the file when it was read */
	uint64_t saved;  /* records of this run that it holds by now */
};

/* Claims the file and reads the filter in it, NULL where it holds none yet.  False
 * after a message or a signal. */
bool filter_claim(struct filter_state *kept, const struct state_options *options);

/* Saves it with the records of the file before and `records` of this run; nothing is
 * written where this run has read nothing new.  False after a message. */
bool filter_save(struct filter_state *kept, uint64_t records);

/* "classic" or "blocked". */
const char *filter_layout_name(enum sketch_layout layout);

/* Says on standard error where a layer holds more keys than it was made for, and
 * what its rate is by now; `name` is the file's, or NULL.  Layers whose number
 * of records cannot exceed their capacity are not looked at. */
void filter_warn_past_capacity(const char *name, struct sketch_bloom *filter);

/* "tool: filter: 9600 bits, 0.5 of them set, ..." for --stats. */
void filter_print_state(struct sketch_bloom *filter);

/* A rate for people: three significant digits, "1.23 %" or "4.5e-07". */
char *filter_print_rate(char out[32], double rate);

#endif
