/* state.h - a filter that is kept in a file from run to run
 *
 * Claimed for as long as the run lasts, so that two runs cannot undo each other's
 * work; read, changed, and saved as a whole. */
#ifndef CLI_STATE_H
#define CLI_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

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

/* Claims the file, which is made where it is absent, and reads the filter in it:
 * NULL after a message, or after a signal that ended the waiting.  *filter becomes
 * NULL where the file holds none yet; else it is writable and the caller's. */
struct state *state_open(const struct state_options *options, struct sketch_bloom **filter);

/* Saves the filter, whose records become those of the file before and `records` of
 * this run; nothing is written where this run has read nothing new.  False after a
 * message. */
bool state_save(struct state *state, struct sketch_bloom *filter, uint64_t records);

/* The file itself, which no input may be. */
bool state_stat(const struct state *state, struct stat *st);

/* Ends the claim; NULL is allowed. */
void state_close(struct state *state);

#endif
