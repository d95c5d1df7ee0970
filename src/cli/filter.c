#include "filter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "message.h"
#include "open.h"

/* ------------------------------------------------------------- of any kind */

bool filter_is_none(const struct filter *filter)
{
	return filter->bloom == NULL && filter->cuckoo == NULL;
}

bool filter_of_file(struct filter *filter, const char *name, struct sketch_file *file)
{
	struct sketch_error error;
	uint32_t kind = sketch_file_kind(file);
	bool cuckoo = kind == SKETCH_KIND_CUCKOO;
	enum sketch_status status = cuckoo ? sketch_cuckoo_of_file(&filter->cuckoo, file, &error) :
					     sketch_bloom_of_file(&filter->bloom, file, &error);

	if (status == SKETCH_OK)
		return true;
	open_refused(name, kind,
		     cuckoo || kind == SKETCH_KIND_BLOOM || kind == SKETCH_KIND_COUNTING_BLOOM,
		     &error);
	return false;
}

bool filter_open(struct filter *filter, const char *name, enum sketch_access access)
{
	struct sketch_file *file = open_sketch(name, access);

	return file != NULL && filter_of_file(filter, name, file);
}

void filter_free(struct filter *filter)
{
	sketch_bloom_free(filter->bloom);
	sketch_cuckoo_free(filter->cuckoo);
	*filter = (struct filter){ NULL, NULL };
}

uint32_t filter_kind(const struct filter *filter)
{
	if (filter->cuckoo != NULL)
		return SKETCH_KIND_CUCKOO;
	return sketch_bloom_counter_bits(filter->bloom) > 0 ? SKETCH_KIND_COUNTING_BLOOM :
							      SKETCH_KIND_BLOOM;
}

const char *filter_kind_name(const struct filter *filter)
{
	return sketch_kind_name(filter_kind(filter));
}

bool filter_can_remove(const struct filter *filter)
{
	return filter_kind(filter) != SKETCH_KIND_BLOOM;
}

const struct sketch_identity *filter_identity(const struct filter *filter)
{
	return filter->cuckoo != NULL ? sketch_cuckoo_identity(filter->cuckoo) :
					sketch_bloom_identity(filter->bloom);
}

uint64_t filter_records(const struct filter *filter)
{
	return filter->cuckoo != NULL ? sketch_cuckoo_records(filter->cuckoo) :
					sketch_bloom_records(filter->bloom);
}

void filter_set_records(struct filter *filter, uint64_t records)
{
	if (filter->cuckoo != NULL)
		sketch_cuckoo_set_records(filter->cuckoo, records);
	else
		sketch_bloom_set_records(filter->bloom, records);
}

enum sketch_status filter_test(struct filter *filter, const struct sketch_hash *hashes,
			       size_t count, uint64_t *found, struct sketch_error *error)
{
	if (filter->cuckoo != NULL)
		return sketch_cuckoo_test(filter->cuckoo, hashes, count, found, error);
	return sketch_bloom_test(filter->bloom, hashes, count, found, error);
}

enum sketch_status filter_union(struct filter *into, struct filter *from,
				struct sketch_error *error)
{
	if (into->bloom != NULL && from->bloom != NULL)
		return sketch_bloom_union(into->bloom, from->bloom, error);
	if (into->cuckoo != NULL && from->cuckoo != NULL)
		return sketch_cuckoo_union(into->cuckoo, from->cuckoo, error);
	*error = (struct sketch_error){ .status = SKETCH_MISMATCH };
	snprintf(error->text, sizeof error->text, "kind differs: a %s and a %s",
		 filter_kind_name(into), filter_kind_name(from));
	return error->status;
}

enum sketch_status filter_write(void *filter, int fd, struct sketch_error *error)
{
	struct filter *any = filter;

	return any->cuckoo != NULL ? sketch_cuckoo_write(any->cuckoo, fd, error) :
				     sketch_bloom_write(any->bloom, fd, error);
}

enum sketch_status filter_add(struct filter *filter, const struct sketch_hash *hashes, size_t count,
			      struct sketch_error *error)
{
	uint64_t found[RECORDS_BATCH / 64];
	size_t done;

	if (filter->cuckoo != NULL)
		return sketch_cuckoo_add(filter->cuckoo, hashes, count, &done, error);
	if (filter_identity(filter)->arrangement != SKETCH_SINGLE)
		return sketch_bloom_insert(filter->bloom, hashes, count, found, error);
	sketch_bloom_add(filter->bloom, hashes, count);
	return SKETCH_OK;
}

size_t filter_remove(struct filter *filter, const struct sketch_hash *hashes, size_t count)
{
	uint64_t removed[RECORDS_BATCH / 64];

	if (filter->cuckoo != NULL)
		return sketch_cuckoo_remove(filter->cuckoo, hashes, count, removed);
	return sketch_counting_remove(filter->bloom, hashes, count, removed);
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

/* ------------------------------------------------------------------- a state */

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
	if (!filter_of_file(&kept->filter, options->path, file))
		return false;
	kept->before = filter_records(&kept->filter);
	return true;
}

bool filter_save(struct filter_state *kept, uint64_t records)
{
	uint64_t total;

	if (records == kept->saved && !state_is_new(kept->state))
		return true;
	if (kept->removes)
		total = kept->before > records ? kept->before - records : 0;
	else if (__builtin_add_overflow(kept->before, records, &total))
		total = UINT64_MAX;
	filter_set_records(&kept->filter, total);
	if (!state_save(kept->state, filter_write, &kept->filter))
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

static void warn_bloom(const char *name, struct sketch_bloom *filter)
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

static void warn_cuckoo(const char *name, struct sketch_cuckoo *cuckoo)
{
	uint64_t n = sketch_cuckoo_params(cuckoo)->n;
	struct sketch_cuckoo_state state;
	char now[32];

	if (sketch_cuckoo_records(cuckoo) > n &&
	    sketch_cuckoo_state(cuckoo, &state, NULL) == SKETCH_OK && state.past_capacity)
		message("%s%swarning: holds %" PRIu64 " keys, made for %" PRIu64
			"; it is %.1f %% full and soon will take no more; false positives now %s",
			name == NULL ? "" : name, name == NULL ? "" : ": ", state.entries, n,
			100 * state.load, filter_print_rate(now, state.rate));
}

void filter_warn_past_capacity(const char *name, struct filter *filter)
{
	if (filter->cuckoo != NULL)
		warn_cuckoo(name, filter->cuckoo);
	else
		warn_bloom(name, filter->bloom);
}

static void print_bloom(struct sketch_bloom *filter)
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

static void print_cuckoo(struct sketch_cuckoo *cuckoo)
{
	struct sketch_cuckoo_state state;
	char rate[32];

	if (sketch_cuckoo_state(cuckoo, &state, NULL) != SKETCH_OK)
		return;
	message("filter: %" PRIu64 " buckets of %d slots, %.3g %% of them full, %" PRIu64
		" keys, false positives now %s",
		sketch_cuckoo_params(cuckoo)->buckets, SKETCH_CUCKOO_SLOTS, 100 * state.load,
		state.entries, filter_print_rate(rate, state.rate));
}

void filter_print_state(struct filter *filter)
{
	struct sketch_counting_state counters;

	if (filter->cuckoo != NULL) {
		print_cuckoo(filter->cuckoo);
		return;
	}
	print_bloom(filter->bloom);
	if (sketch_bloom_counter_bits(filter->bloom) > 0 &&
	    sketch_counting_state(filter->bloom, &counters, NULL) == SKETCH_OK)
		message("filter: counters of %u bits, %" PRIu64 " of them full",
			sketch_bloom_counter_bits(filter->bloom), counters.full);
}
