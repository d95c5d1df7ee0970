/* counts_options.h - what cms-count and cms-top share */
#ifndef CLI_COUNTS_OPTIONS_H
#define CLI_COUNTS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "keying.h"
#include "option.h"
#include "records.h"
#include "sketch.h"
#include "span.h"
#include "state.h"
#include "words.h"

/* What was given; 0 where it was not. */
struct counts_options {
	double epsilon, delta;
	uint64_t width, depth, size_bits;
	uint64_t weight_field, seed;
	bool has_seed, plain, bounds;
	struct keying keying; /* has a group of its own; read before use */
	struct span window, decay;
	const char *output;
	struct state_options state; /* --append */
	struct words queries;
};

/* Rows of struct option_values for these options. */
/* clang-format off */
#define COUNTS_OPTION_VALUES { "append", OPTION_COUNTS_FILES }, { "query", OPTION_COUNTS_FILES }
/* clang-format on */

/* The group of these options; `options` must be zeroed to begin with. */
struct option_group counts_option_group(struct counts_options *options);

/* Whether they go together; else a message. */
bool counts_options_check(const struct counts_options *options);

/* A new sketch of the size asked for, 1 MiB by default; NULL after a message. */
struct sketch_counts *counts_make(const struct counts_options *options, bool fold,
				  uint64_t tracked);

/* Reads a sketch of counts from a file, "-" for standard input; NULL after a message. */
struct sketch_counts *counts_open(const char *name);

/* The same of a file that was read; it is used up. */
struct sketch_counts *counts_of_file(const char *name, struct sketch_file *file);

/* Writes it to a descriptor: an open_writer of a struct sketch_counts. */
enum sketch_status counts_write(void *counts, int fd, struct sketch_error *error);

/* Whether the file names[index] was named before, with a message then: its
 * counts would be added to themselves. */
bool counts_named_twice(const char *const *names, size_t index);

/* Whether the sketch goes to standard output ("-o -"). */
bool counts_to_stdout(const struct counts_options *options);

/* A sketch that is being made or added to, and where it goes. */
struct counts_target {
	const struct counts_options *options;
	struct sketch_counts *counts;
	struct state *state;      /* --append */
	struct sketch_save *save; /* --output */
	int fd;
	uint64_t before, saved;
	uint64_t epoch;        /* what the monotonic clock lacks to the time of day */
	uint64_t saved_moment; /* that the file stands for */
};

/* Claims, reads or makes the sketch; false after a message or a signal. */
bool counts_begin(struct counts_target *target, const struct counts_options *options, bool fold,
		  uint64_t tracked);

/* Brings counts that forget by time to the present, which without it stands still; to
 * be called before records are added, and before what is remembered is shown. */
void counts_advance(struct counts_target *target);

/* Whether old counts are forgotten, by a window or decay. */
bool counts_forgets(const struct sketch_counts *counts);

/* What no input may be. */
void counts_forbid(const struct counts_target *target, struct records *records);

/* Saves it, if it goes anywhere; `records` were read in this run. */
bool counts_save(struct counts_target *target, uint64_t records);

/* Frees all; what was not saved is dropped. */
void counts_end(struct counts_target *target);

/* Adds the records of a batch that have a key; estimates, where not NULL, has room
 * for one for each record, 0 for those without a key.  False after a message. */
bool counts_add_batch(struct sketch_counts *counts, const struct records_batch *batch,
		      bool weighted, uint64_t records_before, uint64_t *estimates);

/* The same, but a record is added only where its count with it does not exceed `limit`;
 * admitted has room for each of the batch: those without a key are. */
bool counts_admit_batch(struct sketch_counts *counts, const struct records_batch *batch,
			bool weighted, uint64_t records_before, uint64_t limit, bool *admitted,
			uint64_t *estimates);

/* "as it was at 2026-11-30 22:10:05 UTC, 6s ago", of a saved sketch that forgets by time;
 * false, and nothing, of another. */
#define COUNTS_SAVED_TEXT 160
bool counts_saved_text(char out[COUNTS_SAVED_TEXT], const struct sketch_counts *counts);

/* Says that, and the state. */
void counts_print_saved(const struct sketch_counts *counts);

/* "tool: total 10, exact" and what else --stats says of counts. */
void counts_print_state(const struct sketch_counts *counts);

/* How a count that decays is rounded to its three decimals. */
enum counts_rounding { COUNTS_NEAREST, COUNTS_DOWN, COUNTS_UP };

/* A count in parts of `one` (sketch_counts_one) in decimal digits, without a final NUL;
 * returns their number. */
#define COUNTS_TEXT 24
size_t counts_text(char out[COUNTS_TEXT], uint64_t count, uint64_t one,
		   enum counts_rounding rounding);

/* The same with one; returns out. */
const char *counts_string(char out[COUNTS_TEXT + 1], uint64_t count, uint64_t one,
			  enum counts_rounding rounding);

/* The counts that are printed as `count` or more, and as no more than it, in parts of
 * `one`: from the first to the second. */
uint64_t counts_from(uint64_t count, uint64_t one);
uint64_t counts_up_to(uint64_t count, uint64_t one);

#endif
