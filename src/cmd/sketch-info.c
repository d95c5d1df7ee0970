/* sketch-info - what a sketch file is, how full, how wrong by now, and whether it
 * is intact */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "json.h"
#include "message.h"
#include "number.h"
#include "option.h"
#include "output.h"
#include "system.h"

enum { OPTION_JSON = 300, OPTION_CHECK };

struct info {
	bool json, check;
	char *const *files;
	size_t file_count;
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
	"Every checksum is verified.  Status: 0 intact, 1 past capacity (--check), 2 trouble.",
	NULL,
};

static enum option_outcome parse_args(struct info *info, int argc, char **argv, int *first)
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
	};
	enum option_outcome outcome = option_parse(&tool, argc, argv, first);

	if (outcome != OPTION_RUN)
		return outcome;
	if (*first < argc) {
		info->files = argv + *first;
		info->file_count = (size_t)(argc - *first);
	} else if (isatty(STDIN_FILENO)) {
		option_complain("which file?");
		return OPTION_BAD;
	}
	return OPTION_RUN;
}

/* ------------------------------------------------------------- what is known */

/* A layer, or the whole of several: parameters that differ between the layers
 * are 0 there. */
struct facts {
	const char *layout;
	uint32_t k, g;
	uint64_t n, m, ones;
	double p, fill, rate, distinct;
	bool past_capacity;
};

static bool layer_facts(struct sketch_bloom *filter, size_t layer, struct facts *facts,
			struct sketch_error *error)
{
	const struct sketch_params *params = sketch_bloom_params(filter, layer);
	struct sketch_bloom_state state;

	if (sketch_bloom_state(filter, layer, &state, error) != SKETCH_OK)
		return false;
	*facts = (struct facts){
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
static struct facts whole_facts(const struct facts *layers, size_t count)
{
	struct facts whole = layers[0];
	double absent = 1 - whole.rate, promised = 1 - whole.p;

	for (size_t i = 1; i < count; i++) {
		const struct facts *layer = &layers[i];

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
		promised *= 1 - layer->p;
	}
	/* Growth opens a layer when the last is full; only the last can be overfull. */
	whole.past_capacity = layers[count - 1].past_capacity;
	if (count > 1) {
		whole.rate = 1 - absent;
		whole.p = 1 - promised;
		whole.fill = (double)whole.ones / (double)whole.m;
	}
	return whole;
}

/* --------------------------------------------------------------------- JSON */

static void json_facts(struct json *json, const struct facts *facts)
{
	json_word(json, "layout", facts->layout);
	json_count(json, "n", facts->n);
	json_count(json, "m", facts->m);
	if (facts->k > 0)
		json_count(json, "k", facts->k);
	else
		json_null(json, "k");
	if (facts->g > 0)
		json_count(json, "g", facts->g);
	else
		json_null(json, "g");
	json_number(json, "p", facts->p);
	json_number(json, "rate", facts->rate);
	json_number(json, "fill", facts->fill);
	json_number(json, "distinct", isfinite(facts->distinct) ? rint(facts->distinct) : INFINITY);
	json_truth(json, "past_capacity", facts->past_capacity);
}

static void print_json(struct output *out, const char *file, const struct sketch_bloom *filter,
		       const struct facts *layers, const struct facts *whole)
{
	const struct sketch_identity *identity = sketch_bloom_identity(filter);
	struct json json = { out, false };

	json_open(&json, NULL);
	json_word(&json, "file", file);
	json_word(&json, "kind", "bloom");
	json_count(&json, "version", 1);
	json_word(&json, "hash", "murmur3_x64_128");
	json_count(&json, "seed", identity->seed);
	json_truth(&json, "ignore_case", identity->transforms & SKETCH_FOLD_ASCII);
	json_facts(&json, whole);
	json_count(&json, "bytes", sketch_bloom_payload(filter));
	json_count(&json, "records", sketch_bloom_records(filter));
	json_word(&json, "checksum", "ok");
	json_open_array(&json, "layers");
	for (size_t i = 0; i < sketch_bloom_layers(filter); i++) {
		json_open(&json, NULL);
		json_facts(&json, &layers[i]);
		json_close(&json);
	}
	json_close_array(&json);
	json_close(&json);
	output_write(out, "\n", 1);
}

/* -------------------------------------------------------------------- table */

struct table {
	struct output *out;
	bool terminal;
	char prefix[32]; /* of the names: "" or "layer.0." */
};

#define TABLE_NAME_WIDTH 14

static void row(const struct table *table, const char *name, const char *value)
{
	char full[64];

	snprintf(full, sizeof full, "%s%s", table->prefix, name);
	if (table->terminal)
		output_text(table->out, "%-*s  %s\n", TABLE_NAME_WIDTH, full, value);
	else
		output_text(table->out, "%s\t%s\n", full, value);
}

static void row_count(const struct table *table, const char *name, uint64_t value)
{
	char text[32];

	if (table->terminal)
		number_grouped(text, value);
	else
		snprintf(text, sizeof text, "%" PRIu64, value);
	row(table, name, text);
}

static void row_number(const struct table *table, const char *name, double value)
{
	char text[32];

	if (table->terminal)
		filter_print_rate(text, value);
	else
		number_print(text, value);
	row(table, name, text);
}

static void row_distinct(const struct table *table, double distinct)
{
	if (!isfinite(distinct))
		row(table, "distinct", "inf");
	else if (distinct < 18e18)
		row_count(table, "distinct", (uint64_t)rint(distinct));
	else
		row_number(table, "distinct", distinct);
}

/* How full, as a bar of 20 where people look. */
static void row_fill(const struct table *table, double fill)
{
	static const char full[] = "####################", empty[] = "....................";
	int width = (int)(sizeof full - 1), marks = (int)(fill * width + 0.5);
	char text[64];

	if (!table->terminal) {
		row_number(table, "fill", fill);
		return;
	}
	snprintf(text, sizeof text, "[%.*s%.*s] %.1f %%", marks, full, width - marks, empty,
		 fill * 100);
	row(table, "fill", text);
}

static void rows_of_facts(const struct table *table, const struct facts *facts)
{
	row(table, "layout", facts->layout);
	row_count(table, "n", facts->n);
	row_number(table, "p", facts->p);
	row_count(table, "m", facts->m);
	if (facts->k > 0)
		row_count(table, "k", facts->k);
	if (facts->g > 0)
		row_count(table, "g", facts->g);
	row_fill(table, facts->fill);
	row_number(table, "rate", facts->rate);
	row_distinct(table, facts->distinct);
	row(table, "past_capacity", facts->past_capacity ? "yes" : "no");
}

static void print_table(struct output *out, const char *file, const struct sketch_bloom *filter,
			const struct facts *layers, const struct facts *whole, bool separate)
{
	const struct sketch_identity *identity = sketch_bloom_identity(filter);
	size_t count = sketch_bloom_layers(filter);
	struct table table = { out, isatty(STDOUT_FILENO) == 1, "" };
	char shown[256], size[32];

	if (separate)
		output_write(out, "\n", 1);
	row(&table, "file",
	    table.terminal ? message_escape(shown, sizeof shown, file, strlen(file)) : file);
	row(&table, "kind", "bloom");
	row(&table, "version", "1");
	row(&table, "hash", "murmur3_x64_128");
	row_count(&table, "seed", identity->seed);
	row(&table, "ignore_case", identity->transforms & SKETCH_FOLD_ASCII ? "yes" : "no");
	row_count(&table, "records", sketch_bloom_records(filter));
	if (table.terminal)
		row(&table, "bytes", number_size(size, sketch_bloom_payload(filter)));
	else
		row_count(&table, "bytes", sketch_bloom_payload(filter));
	rows_of_facts(&table, whole);
	row(&table, "checksum", "ok");
	row_count(&table, "layers", count);
	for (size_t i = 0; i < count && count > 1; i++) {
		snprintf(table.prefix, sizeof table.prefix, "layer.%zu.", i);
		rows_of_facts(&table, &layers[i]);
	}
}

/* ------------------------------------------------------------------ running */

/* What became of the files so far. */
struct tally {
	bool told, past;
};

/* Tells of one file: false where that failed. */
static bool tell(const struct info *info, struct output *out, const char *file,
		 struct tally *tally)
{
	struct facts layers[SKETCH_MAX_LAYERS], whole;
	struct sketch_bloom *filter = filter_open(file, SKETCH_READ);
	struct sketch_error error;
	bool good = filter != NULL;

	if (!good)
		return false;
	system_guard_mapping(file);
	for (size_t i = 0; i < sketch_bloom_layers(filter) && good; i++)
		good = layer_facts(filter, i, &layers[i], &error);
	if (!good) {
		message_file(message_input_name(file), &error);
	} else {
		whole = whole_facts(layers, sketch_bloom_layers(filter));
		if (info->json)
			print_json(out, file, filter, layers, &whole);
		else
			print_table(out, file, filter, layers, &whole, tally->told);
		tally->told = true;
		tally->past = tally->past || whole.past_capacity;
	}
	sketch_bloom_free(filter);
	system_guard_mapping(NULL);
	return good;
}

static int run_info(const struct info *info)
{
	struct output *out = output_open(STDOUT_FILENO, "standard output");
	struct tally tally = { false, false };
	bool good = out != NULL;

	for (size_t i = 0; out != NULL && i < info->file_count && !output_failed(out); i++)
		good = tell(info, out, info->files[i], &tally) && good;
	if (out != NULL)
		good = output_close(out) && good;
	if (!good)
		return 2;
	return info->check && tally.past ? 1 : 0;
}

int main(int argc, char **argv)
{
	static char *standard_input[] = { "-" };
	struct info info = { .files = standard_input, .file_count = 1 };
	int first = 0;

	system_begin();
	message_begin("sketch-info");
	switch (parse_args(&info, argc, argv, &first)) {
	case OPTION_DONE:
		return first;
	case OPTION_BAD:
		return 2;
	case OPTION_RUN:
		break;
	}
	return run_info(&info);
}
