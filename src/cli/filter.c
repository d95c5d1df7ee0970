#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "system.h"

struct sketch_bloom *filter_open(const char *name, enum sketch_access access)
{
	bool standard = strcmp(name, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;

	if (fd < 0) {
		message_errno(name, errno);
		return NULL;
	}
	if (sketch_bloom_read(&filter, fd, access, system_memory(), NULL, &error) != SKETCH_OK)
		message_file(message_input_name(name), &error);
	if (!standard)
		close(fd);
	return filter;
}

const char *filter_layout_name(enum sketch_layout layout)
{
	return layout == SKETCH_CLASSIC ? "classic" : "blocked";
}

char *filter_print_rate(char out[32], double rate)
{
	if (rate >= 0.0001)
		snprintf(out, 32, "%.3g %%", rate * 100);
	else
		snprintf(out, 32, "%.3g", rate);
	return out;
}

static void warn_layer(const char *name, const struct sketch_params *params,
		       const struct sketch_bloom_state *state)
{
	char now[32], asked[32], held[40] = "more keys than can be told";

	if (isfinite(state->distinct))
		snprintf(held, sizeof held, "about %.0f keys", state->distinct);
	message("%s%swarning: holds %s, made for %" PRIu64
		"; false positives now %s, planned %s",
		name == NULL ? "" : name, name == NULL ? "" : ": ", held, params->n,
		filter_print_rate(now, state->rate), filter_print_rate(asked, params->p));
}

void filter_warn_past_capacity(const char *name, struct sketch_bloom *filter)
{
	size_t last = sketch_bloom_layers(filter) - 1;
	const struct sketch_params *params = sketch_bloom_params(filter, last);
	struct sketch_bloom_state state;

	if (sketch_bloom_records(filter) <= params->n)
		return;
	if (sketch_bloom_state(filter, last, &state, NULL) == SKETCH_OK && state.past_capacity)
		warn_layer(name, params, &state);
}
