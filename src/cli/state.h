/* state.h - a filter that is kept in a file from run to run
 *
 * Claimed for as long as the run lasts, so that two runs cannot undo each other's
 * work; read, changed, and saved as a whole. */
#ifndef CLI_STATE_H
#define CLI_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "open.h"
#include "option.h"
#include "sketch.h"

/* The options of the tools that keep state. */
struct state_options {
	const char *path; /* NULL: none is kept */
	bool no_wait;
	uint64_t save_every; /* nanoseconds; 0: only at the end */
};

/* The group of --no-wait and --save-every; the option for the path is the tool's
 * own. */
struct option_group state_option_group(struct state_options *options);

/* Whether they go together; `path_option` names the tool's option. */
bool state_options_check(const struct state_options *options, const char *path_option);

struct state;

/* Claims the file, which is made where it is absent: NULL after a message, or
 * after a signal that ended the waiting. */
struct state *state_open(const struct state_options *options);

/* Whether the file holds nothing yet. */
bool state_is_new(const struct state *state);

/* Reads the sketch in the file, writable; there must be one.  False after a message. */
bool state_read(struct state *state, struct sketch_file **file);

/* Saves a sketch by what writes it to a descriptor.  False after a message. */
bool state_save(struct state *state, open_writer *writer, void *sketch);

/* Says that the file has another value than was asked for; true. */
bool state_differs(const char *file, const char *field, uint64_t has, uint64_t asked);

/* Whether another seed was asked for than that of the sketch in the file, if any was, or
 * that keys be folded that were not; with a message then. */
bool state_contradicts(const char *file, const struct sketch_identity *has, const uint64_t *seed,
		       bool fold);

/* The file itself, which no input may be. */
bool state_stat(const struct state *state, struct stat *st);

/* Ends the claim; NULL is allowed. */
void state_close(struct state *state);

#endif
