/* sketch-info - what a sketch file is, how full, how wrong by now, and whether it
 * is intact */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "counts_options.h"
#include "distinct.h"
#include "duration.h"
#include "facts.h"
#include "filter.h"
#include "message.h"
#include "open.h"
#include "option.h"
#include "output.h"
#include "system.h"

enum { OPTION_JSON = 300, OPTION_CHECK };

struct info {
	bool json, check;
	struct operands files;
};

/* ------------------------------------------------------------- command line */

static const struct option_spec info_specs[] = {
	{ OPTION_JSON, "json", NULL, "print one JSON object a line" },
	{ OPTION_CHECK, "check", NULL, "status 1 where a filter is past its capacity" },
};

static bool take_option(void *context, int letter, const char *value)
{
	struct info *info = context;

	(void)value;
	if (letter == OPTION_JSON)
		info->json = true;
	else
		info->check = true;
	return true;
}

static const char *const examples[] = {
	"sketch-info users.bloom",
	"cat f.bloom | sketch-info -",
	"sketch-info --json *.bloom",
	"sketch-info --check seen.bloom || echo 'rebuild it larger'",
	NULL,
};

static const char *const notes[] = {
	"Every checksum is verified.  Status: 0 intact, 1 past capacity (--check), 2",
	"trouble.",
	NULL,
};

static bool parse_args(struct info *info, int argc, char **argv, int *status)
{
	const struct option_group groups[] = {
		{ NULL, info_specs, sizeof info_specs / sizeof *info_specs, take_option, info },
		{ 0 },
	};
	const struct option_tool tool = {
		.name = "sketch-info",
		.synopsis = "[OPTION]... [FILE]...",
		.purpose = "Tell what sketch files are, how full, how wrong by now, and whether "
			   "intact.",
		.examples = examples,
		.notes = notes,
		.groups = groups,
		.first_operand = OPTION_SKETCH_FILES,
		.other_operands = OPTION_SKETCH_FILES,
	};
	static const char *const standard_input[] = { "-" };

	if (!option_parse(&tool, argc, argv, &info->files, status))
		return false;
	if (info->files.count > 0)
		return true;
	if (isatty(STDIN_FILENO)) {
		option_complain("which file?");
		return false;
	}
	info->files = (struct operands){ standard_input, 1 };
	return true;
}

/* ------------------------------------------------------------------- filters */

/* A layer, or the whole of several: parameters that differ between the layers
 * are 0 there. */
struct part {
	const char *layout;
	uint32_t k, g;
	uint64_t n, m, ones;
	double p, fill, rate, distinct;
	bool past_capacity;
};

static bool look_at_layer(struct sketch_bloom *filter, size_t layer, struct part *part,
			  struct sketch_error *error)
{
	const struct sketch_params *params = sketch_bloom_params(filter, layer);
	struct sketch_bloom_state state;

	if (sketch_bloom_state(filter, layer, &state, error) != SKETCH_OK)
		return false;
	*part = (struct part){
		.layout = filter_layout_name(params->layout),
		.k = params->k,
		.g = params->g,
		.n = params->n,
		.m = params->m,
		.ones = state.ones,
		.p = params->p,
		.fill = state.fill,
		.rate = state.rate,
		.distinct = state.distinct,
		.past_capacity = state.past_capacity,
	};
	return true;
}

/* What all layers are together: an absent key passes where it passes in any. */
static struct part whole_of(const struct part *layers, size_t count)
{
	struct part whole = layers[0];
	double absent = 1 - whole.rate;

	for (size_t i = 1; i < count; i++) {
		const struct part *layer = &layers[i];

		if (strcmp(whole.layout, layer->layout) != 0)
			whole.layout = "mixed";
		if (whole.k != layer->k)
			whole.k = 0;
		if (whole.g != layer->g)
			whole.g = 0;
		whole.n = whole.n + layer->n < whole.n ? UINT64_MAX : whole.n + layer->n;
		whole.m += layer->m;
		whole.ones += layer->ones;
		whole.distinct += layer->distinct;
		absent *= 1 - layer->rate;
		whole.past_capacity = whole.past_capacity || layer->past_capacity;
	}
	if (count > 1) {
		whole.rate = 1 - absent;
		whole.fill = (double)whole.ones / (double)whole.m;
	}
	return whole;
}

static void print_part(struct facts *facts, const struct part *part)
{
	facts_word(facts, "layout", part->layout);
	facts_count(facts, "n", part->n);
	facts_rate(facts, "p", part->p);
	facts_count(facts, "m", part->m);
	if (part->k > 0)
		facts_count(facts, "k", part->k);
	else
		facts_none(facts, "k");
	if (part->g > 0)
		facts_count(facts, "g", part->g);
	else
		facts_none(facts, "g");
	facts_fill(facts, "fill", part->fill);
	facts_rate(facts, "rate", part->rate);
	facts_keys(facts, "distinct", part->distinct);
	facts_truth(facts, "past_capacity", part->past_capacity);
}

/* What every kind of sketch has. */
static void print_common(struct facts *facts, const char *file, const char *kind,
			 const struct sketch_identity *identity, uint64_t records, uint64_t bytes)
{
	char fingerprint[17];

	facts_word(facts, "file", file);
	facts_word(facts, "kind", kind);
	facts_count(facts, "version", 1);
	if (identity->family == SKETCH_FAMILY_SIPHASH) {
		snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, identity->key_fingerprint);
		facts_word(facts, "hash", "siphash_2_4_128");
		facts_word(facts, "key_fingerprint", fingerprint);
	} else {
		facts_word(facts, "hash", "murmur3_x64_128");
		facts_count(facts, "seed", identity->seed);
	}
	facts_truth(facts, "ignore_case", identity->transforms & SKETCH_FOLD_ASCII);
	facts_count(facts, "records", records);
	facts_bytes(facts, "bytes", bytes);
}

/* Beside nanoseconds what people read: "5min". */
static void print_duration(struct facts *facts, const char *name, enum sketch_window_unit unit,
			   uint64_t length)
{
	char text[DURATION_TEXT];

	if (unit == SKETCH_WINDOW_NANOSECONDS)
		facts_word(facts, name, duration_text(text, length));
}

/* And of moments: "2026-11-30 22:10:05 UTC". */
static void print_moment(struct facts *facts, const char *name, int64_t moment)
{
	char text[DURATION_TEXT];

	facts_word(facts, name, duration_moment(text, moment));
}

static void print_arrangement(struct facts *facts, const struct sketch_bloom *filter)
{
	struct sketch_window window;
	bool has = sketch_window_get(filter, &window);
	int64_t began;

	facts_word(facts, "arrangement",
		   has                                                         ? "window" :
		   sketch_bloom_identity(filter)->arrangement == SKETCH_LADDER ? "ladder" :
										 "single");
	if (!has) {
		facts_none(facts, "window");
		return;
	}
	facts_count(facts, "window", window.span);
	facts_word(facts, "window_unit", span_unit_name(window.unit));
	if (window.unit != SKETCH_WINDOW_NANOSECONDS)
		return;
	print_duration(facts, "window_duration", window.unit, window.span);
	/* A file may say anything. */
	if (!__builtin_add_overflow(window.landmark, window.stamp * window.span, &began))
		print_moment(facts, "began", began);
}

static bool tell_filter(struct facts *facts, const char *file, struct sketch_bloom *filter,
			bool *past)
{
	struct part layers[SKETCH_MAX_LAYERS] = { 0 }, whole;
	size_t count = sketch_bloom_layers(filter);
	unsigned int counter_bits = sketch_bloom_counter_bits(filter);
	struct sketch_counting_state counters;
	struct sketch_error error;

	for (size_t i = 0; i < count; i++) {
		if (!look_at_layer(filter, i, &layers[i], &error)) {
			message_file(message_input_name(file), &error);
			return false;
		}
	}
	/* It was found whole. */
	if (counter_bits > 0)
		(void)sketch_counting_state(filter, &counters, NULL);
	whole = whole_of(layers, count);
	/* The first layer of a ladder, and each generation of a window, has half of what
	 * was asked for. */
	if (sketch_bloom_identity(filter)->arrangement != SKETCH_SINGLE)
		whole.p = 2 * layers[0].p;
	*past = *past || whole.past_capacity;
	facts_open(facts);
	print_common(facts, file, counter_bits > 0 ? "counting" : "bloom",
		     sketch_bloom_identity(filter), sketch_bloom_records(filter),
		     sketch_bloom_payload(filter));
	print_part(facts, &whole);
	print_arrangement(facts, filter);
	if (counter_bits > 0) {
		facts_count(facts, "counter_bits", counter_bits);
		facts_count(facts, "counters_full", counters.full);
		facts_count(facts, "counter_largest", counters.largest);
	}
	facts_word(facts, "checksum", "ok");
	if (!facts->as_json)
		facts_count(facts, "layers", count);
	facts_open_list(facts, "layers");
	for (size_t i = 0; i < count && (count > 1 || facts->as_json); i++) {
		facts_open_element(facts, "layer", i);
		print_part(facts, &layers[i]);
		facts_close_element(facts);
	}
	facts_close_list(facts);
	facts_close(facts);
	return true;
}

/* --------------------------------------------------------------------- cuckoo */

static bool tell_cuckoo(struct facts *facts, const char *file, struct sketch_cuckoo *cuckoo,
			bool *past)
{
	const struct sketch_cuckoo_params *params = sketch_cuckoo_params(cuckoo);
	uint64_t slots = params->buckets * SKETCH_CUCKOO_SLOTS;
	struct sketch_cuckoo_state state;
	struct sketch_error error;

	if (sketch_cuckoo_state(cuckoo, &state, &error) != SKETCH_OK) {
		message_file(message_input_name(file), &error);
		return false;
	}
	*past = *past || state.past_capacity;
	facts_open(facts);
	print_common(facts, file, "cuckoo", sketch_cuckoo_identity(cuckoo),
		     sketch_cuckoo_records(cuckoo), sketch_cuckoo_size(params));
	facts_count(facts, "n", params->n);
	facts_rate(facts, "p", params->p);
	facts_count(facts, "m", slots * params->f);
	facts_count(facts, "fingerprint", params->f);
	facts_count(facts, "buckets", params->buckets);
	facts_count(facts, "slots", slots);
	facts_count(facts, "entries", state.entries);
	facts_fill(facts, "fill", state.load);
	facts_rate(facts, "rate", state.rate);
	facts_count(facts, "distinct", state.kinds);
	facts_truth(facts, "past_capacity", state.past_capacity);
	facts_word(facts, "checksum", "ok");
	facts_close(facts);
	return true;
}

/* --------------------------------------------------------------------- counts */

/* A count, with three decimals where it decays. */
static void print_number(struct facts *facts, const char *name, uint64_t count, uint64_t one,
			 enum counts_rounding rounding)
{
	char text[COUNTS_TEXT + 1];

	if (one == 1)
		facts_count(facts, name, count);
	else
		facts_digits(facts, name, counts_string(text, count, one, rounding));
}

static void print_window(struct facts *facts, const struct sketch_counts *counts)
{
	struct sketch_pane_window window;
	struct sketch_decay decay;

	if (sketch_counts_window(counts, &window)) {
		facts_count(facts, "window", window.length);
		facts_word(facts, "window_unit", span_unit_name(window.unit));
		facts_count(facts, "span", window.span);
		facts_count(facts, "stamp", window.stamp);
		print_duration(facts, "window_duration", window.unit, window.length);
		print_duration(facts, "span_duration", window.unit, window.span);
		if (window.unit == SKETCH_WINDOW_NANOSECONDS)
			print_moment(facts, "began", (int64_t)(window.stamp * window.span));
		if (!facts->as_json)
			facts_count(facts, "panes", window.panes);
	} else {
		facts_none(facts, "window");
	}
	if (sketch_counts_decay(counts, &decay)) {
		facts_count(facts, "decay", decay.half_life);
		facts_word(facts, "decay_unit", span_unit_name(decay.unit));
		facts_count(facts, "now", decay.now);
		print_duration(facts, "decay_duration", decay.unit, decay.half_life);
		if (decay.unit == SKETCH_WINDOW_NANOSECONDS)
			print_moment(facts, "now_utc", (int64_t)decay.now);
	} else {
		facts_none(facts, "decay");
	}
}

static void print_panes(struct facts *facts, const struct sketch_counts *counts)
{
	struct sketch_pane_window window;

	if (!sketch_counts_window(counts, &window))
		return;
	facts_open_list(facts, "panes");
	for (uint32_t i = 0; i < window.panes; i++) {
		struct sketch_counts_state state;

		sketch_counts_state(sketch_counts_pane(counts, i), &state);
		facts_open_element(facts, "pane", i);
		facts_count(facts, "total", state.total);
		facts_count(facts, "in_table", state.in_table);
		facts_truth(facts, "exact", state.exact);
		facts_count(facts, "tracked", state.tracked);
		facts_close_element(facts);
	}
	facts_close_list(facts);
}

static void tell_counts(struct facts *facts, const char *file, const struct sketch_counts *counts)
{
	const struct sketch_counts_params *params = sketch_counts_params(counts);
	uint64_t one = sketch_counts_one(counts);
	struct sketch_pane_window window;
	struct sketch_counts_state state;

	sketch_counts_state(counts, &state);
	facts_open(facts);
	print_common(facts, file, "counts", sketch_counts_identity(counts),
		     sketch_counts_records(counts), state.bytes);
	facts_count(facts, "w", params->w);
	facts_count(facts, "d", params->d);
	facts_count(facts, "cell", state.cell_bits);
	facts_word(facts, "update", params->update == SKETCH_PLAIN ? "plain" : "conservative");
	facts_rate(facts, "epsilon", sketch_counts_epsilon(params));
	facts_rate(facts, "delta", sketch_counts_delta(params));
	print_number(facts, "total", state.total, one, COUNTS_NEAREST);
	print_number(facts, "in_table", state.in_table, one, COUNTS_UP);
	facts_truth(facts, "exact", state.exact);
	facts_count(facts, "tracked", state.tracked);
	facts_count(facts, "tracked_most", params->tracked);
	if (sketch_counts_window(counts, &window))
		facts_word(facts, "tracked_most_of", "each pane");
	if (params->tracked > 0)
		print_number(facts, "floor", state.floor, one, COUNTS_UP);
	else
		facts_none(facts, "floor");
	print_window(facts, counts);
	facts_word(facts, "checksum", "ok");
	facts_open_list(facts, "rows");
	for (uint32_t row = 0; row < params->d; row++) {
		facts_open_element(facts, "row", row);
		facts_fill(facts, "fill", sketch_counts_fill(counts, row));
		facts_close_element(facts);
	}
	facts_close_list(facts);
	print_panes(facts, counts);
	facts_close(facts);
}

/* ---------------------------------------------------------------- HyperLogLog */

static void tell_distinct(struct facts *facts, const char *file, const struct sketch_hll *hll)
{
	uint32_t precision = sketch_hll_precision(hll);
	struct sketch_hll_state state;

	sketch_hll_state(hll, &state);
	facts_open(facts);
	print_common(facts, file, "hyperloglog", sketch_hll_identity(hll), sketch_hll_records(hll),
		     state.exact ? 8 * (uint64_t)state.distinct : UINT64_C(1) << precision);
	facts_count(facts, "precision", precision);
	facts_count(facts, "registers", UINT64_C(1) << precision);
	facts_rate(facts, "error_planned", sketch_hll_error(precision));
	facts_truth(facts, "exact", state.exact);
	if (state.exact)
		facts_none(facts, "zero_registers");
	else
		facts_count(facts, "zero_registers", state.zero);
	facts_keys(facts, "distinct", state.distinct);
	facts_keys(facts, "low", floor(state.low));
	facts_keys(facts, "high", ceil(state.high));
	facts_rate(facts, "error", state.error);
	facts_word(facts, "checksum", "ok");
	facts_close(facts);
}

/* ------------------------------------------------------------------------ DCSO */

static void tell_dcso(struct facts *facts, const char *file, const struct sketch_dcso *dcso,
		      bool *past)
{
	const struct sketch_dcso_params *params = sketch_dcso_params(dcso);
	struct sketch_bloom_state state;

	sketch_dcso_state(dcso, &state);
	*past = *past || state.past_capacity;
	facts_open(facts);
	facts_word(facts, "file", file);
	facts_word(facts, "kind", "dcso");
	facts_count(facts, "version", 1);
	facts_word(facts, "hash", "fnv1_64");
	facts_count(facts, "inserts", params->inserts);
	facts_bytes(facts, "bytes", (params->m + 63) / 64 * 8);
	facts_word(facts, "layout", "classic");
	facts_count(facts, "n", params->n);
	facts_rate(facts, "p", params->p);
	facts_count(facts, "m", params->m);
	facts_count(facts, "k", params->k);
	facts_fill(facts, "fill", state.fill);
	facts_rate(facts, "rate", state.rate);
	facts_truth(facts, "dependent", params->dependent);
	facts_keys(facts, "distinct", state.distinct);
	facts_truth(facts, "past_capacity", state.past_capacity);
	facts_count(facts, "metadata", params->metadata);
	facts_word(facts, "checksum", "none");
	facts_close(facts);
}

/* ------------------------------------------------------------------ running */

static bool tell_foreign(struct facts *facts, const char *file, struct sketch_file *read,
			 bool *past)
{
	struct sketch_dcso *dcso = filter_dcso_of_file(file, read);
	bool good = dcso != NULL;

	if (good)
		tell_dcso(facts, file, dcso, past);
	sketch_dcso_free(dcso);
	return good;
}

static bool tell_hll(struct facts *facts, const char *file, struct sketch_file *read)
{
	struct sketch_hll *hll = distinct_of_file(file, read);
	bool good = hll != NULL;

	if (good)
		tell_distinct(facts, file, hll);
	sketch_hll_free(hll);
	return good;
}

/* Tells of one file: false where that failed. */
static bool tell(struct facts *facts, const char *file, bool *past)
{
	struct sketch_file *read = open_sketch(file, SKETCH_READ);
	struct sketch_counts *counts;
	struct filter filter = { NULL, NULL };
	bool good;

	if (read == NULL)
		return false;
	system_guard_mapping(file);
	if (sketch_file_kind(read) == SKETCH_KIND_COUNTS) {
		counts = counts_of_file(file, read);
		good = counts != NULL;
		if (good)
			tell_counts(facts, file, counts);
		sketch_counts_free(counts);
	} else if (sketch_file_kind(read) == SKETCH_KIND_HYPERLOGLOG) {
		good = tell_hll(facts, file, read);
	} else if (sketch_file_kind(read) == SKETCH_KIND_DCSO) {
		good = tell_foreign(facts, file, read, past);
	} else {
		good = filter_of_file(&filter, file, read) &&
		       (filter.cuckoo != NULL ? tell_cuckoo(facts, file, filter.cuckoo, past) :
						tell_filter(facts, file, filter.bloom, past));
		filter_free(&filter);
	}
	system_guard_mapping(NULL);
	return good;
}

static int run_info(const struct info *info)
{
	struct output *out = output_open(STDOUT_FILENO, "standard output");
	bool good = out != NULL, past = false;
	struct facts facts;

	facts_begin(&facts, out, info->json);
	for (size_t i = 0; out != NULL && i < info->files.count && !output_failed(out); i++)
		good = tell(&facts, info->files.items[i], &past) && good;
	if (out != NULL)
		good = output_close(out) && good;
	if (!good)
		return 2;
	return info->check && past ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct info info = { 0 };
	int status;

	system_begin();
	message_begin("sketch-info");
	if (parse_args(&info, argc, argv, &status))
		status = run_info(&info);
	return system_end(status);
}
