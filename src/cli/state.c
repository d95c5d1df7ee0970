#include "state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "number.h"
#include "open.h"
#include "system.h"

enum { OPTION_NO_WAIT = 320, OPTION_SAVE_EVERY };

/* ------------------------------------------------------------------- options */

static const struct option_spec state_specs[] = {
	{ OPTION_NO_WAIT, "no-wait", NULL, "give up where another process has FILE locked" },
	{ OPTION_SAVE_EVERY, "save-every", "DURATION", "save FILE every 90s, 15min, 24h, too" },
};

static bool take_state_option(void *context, int letter, const char *value)
{
	struct state_options *options = context;
	struct number_error error;

	if (letter == OPTION_NO_WAIT) {
		options->no_wait = true;
		return true;
	}
	if (number_duration(value, &options->save_every, &error))
		return true;
	message("--save-every: %s", error.text);
	return false;
}

struct option_group state_option_group(struct state_options *options)
{
	return (struct option_group){ "", state_specs, sizeof state_specs / sizeof *state_specs,
				      take_state_option, options };
}

bool state_options_check(const struct state_options *options, const char *path_option)
{
	if (options->path != NULL && strcmp(options->path, "-") == 0) {
		option_complain("%s needs a file: a pipe cannot be read and replaced", path_option);
		return false;
	}
	if (options->path != NULL || (!options->no_wait && options->save_every == 0))
		return true;
	option_complain("%s needs %s", options->no_wait ? "--no-wait" : "--save-every",
			path_option);
	return false;
}

/* --------------------------------------------------------------------- state */

struct state {
	const char *path;
	struct sketch_claim *claim;
};

/* Locks the file, waiting where that is wanted. */
static bool claim_file(struct state *state, bool wait)
{
	struct sketch_error error;
	enum sketch_status status = sketch_claim(&state->claim, state->path, false, &error);

	if (status == SKETCH_BUSY && wait) {
		if (isatty(STDERR_FILENO))
			message("%s: in use by another process, waiting", state->path);
		status = sketch_claim(&state->claim, state->path, true, &error);
	}
	if (status != SKETCH_OK && status != SKETCH_INTERRUPTED)
		message_file(state->path, &error);
	if (status != SKETCH_OK || !open_is_stdout(sketch_claim_fd(state->claim)))
		return status == SKETCH_OK;
	message("%s: is the output, too", state->path);
	return false;
}

struct state *state_open(const struct state_options *options)
{
	struct state *state = calloc(1, sizeof *state);

	if (state == NULL) {
		message("out of memory");
		return NULL;
	}
	state->path = options->path;
	if (!claim_file(state, !options->no_wait)) {
		state_close(state);
		return NULL;
	}
	return state;
}

bool state_is_new(const struct state *state)
{
	return sketch_claim_is_empty(state->claim);
}

bool state_read(struct state *state, struct sketch_file **file)
{
	struct sketch_error error;

	if (sketch_file_read(file, sketch_claim_fd(state->claim), SKETCH_WRITABLE, system_memory(),
			     NULL, &error) == SKETCH_OK)
		return true;
	message_file(state->path, &error);
	return false;
}

bool state_save(struct state *state, open_writer *writer, void *sketch)
{
	struct sketch_save *save;
	struct sketch_error error;
	int fd;
	enum sketch_status status = sketch_claim_begin(state->claim, &save, &fd, &error);

	if (status == SKETCH_OK) {
		status = writer(sketch, fd, &error);
		if (status == SKETCH_OK)
			status = sketch_claim_commit(state->claim, save, &error);
		else
			sketch_save_abort(save);
	}
	if (status != SKETCH_OK)
		message_file(state->path, &error);
	return status == SKETCH_OK;
}

bool state_differs(const char *file, const char *field, uint64_t has, uint64_t asked)
{
	message("%s: %s differs: the file has %" PRIu64 ", the command line says %" PRIu64, file,
		field, has, asked);
	return true;
}

bool state_contradicts(const char *file, const struct sketch_identity *has, const uint64_t *seed,
		       bool fold)
{
	if (seed != NULL && *seed != has->seed)
		return state_differs(file, "seed", has->seed, *seed);
	if (!fold || has->transforms & SKETCH_FOLD_ASCII)
		return false;
	message("%s: ignore-case differs: the file's keys were not folded", file);
	return true;
}

bool state_stat(const struct state *state, struct stat *st)
{
	return fstat(sketch_claim_fd(state->claim), st) == 0;
}

void state_close(struct state *state)
{
	if (state == NULL)
		return;
	sketch_claim_release(state->claim);
	free(state);
}
