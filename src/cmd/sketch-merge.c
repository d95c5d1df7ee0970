/* sketch-merge - join compatible sketch files */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "message.h"
#include "option.h"
#include "system.h"

enum { OPTION_STATS = 300 };

struct merge {
	const char *output; /* NULL: standard output */
	bool stats;
	char *const *inputs;
	size_t input_count;
};

/* ------------------------------------------------------------- command line */

static const struct option_spec merge_specs[] = {
	{ 'o', "output", "FILE", "write the result to FILE, which may be an input" },
	{ OPTION_STATS, "stats", NULL, "print a summary to standard error at the end" },
};

static bool take_option(void *context, int letter, const char *value)
{
	struct merge *merge = context;

	if (letter == 'o')
		merge->output = strcmp(value, "-") == 0 ? NULL : value;
	else
		merge->stats = true;
	return true;
}

static const char *const examples[] = {
	"sketch-merge -o week.bloom mon.bloom tue.bloom wed.bloom",
	"sketch-merge -o all.bloom all.bloom today.bloom",
	"sketch-merge host*.bloom | sketch-info -",
	NULL,
};

static const char *const notes[] = {
	"Of Bloom filters the result is what one filter of all their keys would be.",
	"Files must agree in layout, m, k, g, seed and hash family; else the field is named.",
	NULL,
};

static enum option_outcome parse_args(struct merge *merge, int argc, char **argv, int *first)
{
	const struct option_group groups[] = {
		{ NULL, merge_specs, sizeof merge_specs / sizeof *merge_specs, take_option, merge },
		{ 0 },
	};
	const struct option_tool tool = {
		.name = "sketch-merge",
		.synopsis = "[-o FILE] [--stats] SKETCH...",
		.purpose = "Join compatible sketch files.",
		.examples = examples,
		.notes = notes,
		.groups = groups,
	};
	enum option_outcome outcome = option_parse(&tool, argc, argv, first);

	if (outcome != OPTION_RUN)
		return outcome;
	merge->inputs = argv + *first;
	merge->input_count = (size_t)(argc - *first);
	if (merge->input_count == 0) {
		option_complain("which files? \"-\" stands for standard input");
		return OPTION_BAD;
	}
	if (merge->output == NULL && isatty(STDOUT_FILENO)) {
		option_complain("a sketch is binary and standard output is a terminal: use -o FILE, "
				"or a pipe");
		return OPTION_BAD;
	}
	return OPTION_RUN;
}

/* ------------------------------------------------------------------ running */

/* Joins the files one by one: two at the most are in memory. */
static struct sketch_bloom *join(const struct merge *merge)
{
	struct sketch_bloom *whole = filter_open(merge->inputs[0], SKETCH_WRITABLE);

	for (size_t i = 1; whole != NULL && i < merge->input_count; i++) {
		struct sketch_bloom *part = filter_open(merge->inputs[i], SKETCH_READ);
		struct sketch_error error;
		bool good = part != NULL;

		system_guard_mapping(merge->inputs[i]);
		if (good && sketch_bloom_union(whole, part, &error) != SKETCH_OK) {
			message("%s and %s: %s", message_input_name(merge->inputs[0]),
				message_input_name(merge->inputs[i]), error.text);
			good = false;
		}
		sketch_bloom_free(part);
		system_guard_mapping(NULL);
		if (!good) {
			sketch_bloom_free(whole);
			whole = NULL;
		}
	}
	return whole;
}

/* A single file may have a window; several would have different times. */
static bool save(const struct merge *merge, struct sketch_bloom *whole)
{
	const char *name = merge->output == NULL ? "standard output" : merge->output;
	struct sketch_save *save = NULL;
	struct sketch_error error;
	int fd = STDOUT_FILENO;
	enum sketch_status status = SKETCH_OK;

	if (merge->output != NULL)
		status = sketch_save_begin(&save, merge->output, &fd, &error);
	if (status == SKETCH_OK)
		status = sketch_bloom_write(whole, fd, &error);
	if (status == SKETCH_OK && save != NULL) {
		status = sketch_save_commit(save, &error);
		save = NULL;
	}
	sketch_save_abort(save);
	if (status != SKETCH_OK && error.errnum != EPIPE)
		message_file(name, &error);
	return status == SKETCH_OK;
}

static int run_merge(const struct merge *merge)
{
	struct sketch_bloom *whole = join(merge);
	bool good = whole != NULL && save(merge, whole);

	if (good)
		filter_warn_past_capacity(merge->output, whole);
	if (good && merge->stats) {
		message("%zu files, %" PRIu64 " records", merge->input_count,
			sketch_bloom_records(whole));
		filter_print_state(whole);
	}
	sketch_bloom_free(whole);
	return good ? 0 : 2;
}

int main(int argc, char **argv)
{
	struct merge merge = { 0 };
	int first = 0;

	system_begin();
	message_begin("sketch-merge");
	switch (parse_args(&merge, argc, argv, &first)) {
	case OPTION_DONE:
		return first;
	case OPTION_BAD:
		return 2;
	case OPTION_RUN:
		break;
	}
	return run_merge(&merge);
}
