#include "filter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "message.h"
#include "open.h"

struct sketch_bloom *filter_of_file(const char *name, struct sketch_file *file)
{
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;

	if (sketch_bloom_of_file(&filter, file, &error) != SKETCH_OK)
		message_file(message_input_name(name), &error);
	return filter;
}

struct sketch_bloom *filter_open(const char *name, enum sketch_access access)
{
	struct sketch_file *file = open_sketch(name, access);

	return file == NULL ? NULL : filter_of_file(name, file);
}

struct sketch_dcso *filter_dcso_of_file(const char *name, struct sketch_file *file)
{
	struct sketch_dcso *dcso = NULL;
	const struct sketch_dcso_params *params;
	struct sketch_error error;

	if (sketch_dcso_of_file(&dcso, file, &error) != SKETCH_OK) {
		message_file(message_input_name(name), &error);
		return NULL;
	}
	params = sketch_dcso_params(dcso);
	if (params->dependent)
		message("%s: warning: of m = %" PRIu64 " the odd part is %" PRIu64
			": in this format the bits of a key then hang together, and false "
			"positives are more than planned (sketch-info measures them)",
			message_input_name(name), params->m,
			params->m >> __builtin_ctzll(params->m));
	return dcso;
}

bool filter_claim(struct filter_state *kept, const struct state_options *options)
{
	struct sketch_file *file;

	kept->state = state_open(options);
	if (kept->state == NULL)
		return false;
	if (state_is_new(kept->state))
		return true;
	if (!state_read(kept->state, &file))
		return false;
	kept->filter = filter_of_file(options->path, file);
	if (kept->filter == NULL)
		return false;
	kept->before = sketch_bloom_records(kept->filter);
	return true;
}

static enum sketch_status write_filter(void *filter, int fd, struct sketch_error *error)
{
	return sketch_bloom_write(filter, fd, error);
}

bool filter_save(struct filter_state *kept, uint64_t records)
{
	uint64_t total;

	if (records == kept->saved && !state_is_new(kept->state))
		return true;
	if (__builtin_add_overflow(kept->before, records, &total))
		total = UINT64_MAX;
	sketch_bloom_set_records(kept->filter, total);
	if (!state_save(kept->state, write_filter, kept->filter))
		return false;
	kept->saved = records;
	return true;
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
	message("%s%swarning: holds %s, made for %" PRIu64 "; false positives now %s, planned %s",
		name == NULL ? "" : name, name == NULL ? "" : ": ", held, params->n,
		filter_print_rate(now, state->rate), filter_print_rate(asked, params->p));
}

/* Layers that were joined from several ladders promise less together than one. */
static void warn_ladder(const char *name, const struct sketch_bloom *filter)
{
	double promised = 2 * sketch_bloom_params(filter, 0)->p, bound = 0;
	char together[32], asked[32];

	for (size_t i = 0; i < sketch_bloom_layers(filter); i++)
		bound += sketch_bloom_params(filter, i)->p;
	if (bound > promised)
		message("%s%swarning: %zu layers, which together keep %s, not %s",
			name == NULL ? "" : name, name == NULL ? "" : ": ",
			sketch_bloom_layers(filter), filter_print_rate(together, bound),
			filter_print_rate(asked, promised));
}

void filter_warn_past_capacity(const char *name, struct sketch_bloom *filter)
{
	const struct sketch_params *params = sketch_bloom_params(filter, 0);
	struct sketch_bloom_state state;

	switch (sketch_bloom_identity(filter)->arrangement) {
	case SKETCH_LADDER:
		warn_ladder(name, filter);
		break;
	case SKETCH_SINGLE:
		if (sketch_bloom_records(filter) > params->n &&
		    sketch_bloom_state(filter, 0, &state, NULL) == SKETCH_OK && state.past_capacity)
			warn_layer(name, params, &state);
		break;
	case SKETCH_WINDOW:
		/* Its generations come and go; bloom-uniq looks at each as it ends. */
		break;
	}
}

void filter_print_state(struct sketch_bloom *filter)
{
	double absent = 1, distinct = 0;
	uint64_t ones = 0, bits = 0;
	char rate[32], keys[40] = "more keys than can be told";

	for (size_t i = 0; i < sketch_bloom_layers(filter); i++) {
		struct sketch_bloom_state state;

		if (sketch_bloom_state(filter, i, &state, NULL) != SKETCH_OK)
			return;
		ones += state.ones;
		bits += sketch_bloom_params(filter, i)->m;
		distinct += state.distinct;
		absent *= 1 - state.rate;
	}
	if (isfinite(distinct))
		snprintf(keys, sizeof keys, "about %.0f distinct keys", distinct);
	message("filter: %" PRIu64 " bits, %.3g %% of them set, %s, false positives now %s", bits,
		100 * (double)ones / (double)bits, keys, filter_print_rate(rate, 1 - absent));
}
