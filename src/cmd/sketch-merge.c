/* sketch-merge - join compatible sketch files */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "counts_options.h"
#include "distinct.h"
#include "filter.h"
#include "message.h"
#include "open.h"
#include "option.h"
#include "system.h"

enum { OPTION_STATS = 300 };

struct merge {
	const char *output; /* NULL: standard output */
	bool stats;
	struct operands inputs;
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
	"sketch-merge -o all.cms host1.cms host2.cms; cms-top --query all.cms",
	"sketch-merge host*.bloom | sketch-info -",
	NULL,
};

static const char *const notes[] = {
	"Of filters, and of sketches of distinct keys, the result is that of all keys;",
	"counts and counters add up.  Files must agree in kind, size, seed and hash",
	"family; else the field is named.",
	NULL,
};

static bool parse_args(struct merge *merge, int argc, char **argv, int *status)
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
		.first_operand = OPTION_SKETCH_FILES,
		.other_operands = OPTION_SKETCH_FILES,
	};

	if (!option_parse(&tool, argc, argv, &merge->inputs, status))
		return false;
	if (merge->inputs.count == 0) {
		option_complain("which files? \"-\" stands for standard input");
		return false;
	}
	if (merge->output == NULL && isatty(STDOUT_FILENO)) {
		option_complain(
			"a sketch is binary and standard output is a terminal: use -o FILE, "
			"or a pipe");
		return false;
	}
	return true;
}

/* ------------------------------------------------------------------ running */

/* Counts added to themselves would be doubled: a file that is the output as well is a
 * slip, like one that is named twice. */
static bool is_output(const struct merge *merge, size_t index)
{
	const char *name = merge->inputs.items[index];

	if (merge->output == NULL || !open_same_file(name, merge->output))
		return false;
	message("%s: is the output, too: its counts would be added to themselves",
		message_input_name(name));
	return true;
}

static bool is_counted_twice(const struct merge *merge, size_t index)
{
	return is_output(merge, index) || counts_named_twice(merge->inputs.items, index);
}

/* "first and other: what differs" */
static void report_mismatch(const struct merge *merge, size_t index,
			    const struct sketch_error *error)
{
	message("%s and %s: %s", message_input_name(merge->inputs.items[0]),
		message_input_name(merge->inputs.items[index]), error->text);
}

static bool join_filter(const struct merge *merge, size_t index, struct filter *whole)
{
	struct filter part = { NULL, NULL };
	struct sketch_error error;
	bool good = filter_open(&part, merge->inputs.items[index], SKETCH_READ);

	system_guard_mapping(merge->inputs.items[index]);
	if (good && filter_union(whole, &part, &error) != SKETCH_OK) {
		report_mismatch(merge, index, &error);
		good = false;
	}
	filter_free(&part);
	system_guard_mapping(NULL);
	return good;
}

static bool join_counts(const struct merge *merge, size_t index, struct sketch_counts *whole)
{
	struct sketch_counts *part = counts_open(merge->inputs.items[index]);
	struct sketch_error error;
	bool good = part != NULL;

	if (good && sketch_counts_union(whole, part, &error) != SKETCH_OK) {
		report_mismatch(merge, index, &error);
		good = false;
	}
	sketch_counts_free(part);
	return good;
}

static bool save(const struct merge *merge, open_writer *writer, void *whole)
{
	struct sketch_save *save = NULL;
	int fd = -1;
	bool good = (merge->output == NULL || open_target(&save, merge->output, &fd)) &&
		    open_target_write(&save, merge->output, fd, writer, whole);

	sketch_save_abort(save);
	return good;
}

static void print_tally(const struct merge *merge, uint64_t records)
{
	message("%zu file%s, %" PRIu64 " records", merge->inputs.count,
		merge->inputs.count == 1 ? "" : "s", records);
}

/* Joins the files one by one: two at the most are in memory. */
static bool merge_filters(const struct merge *merge, struct sketch_file *first)
{
	struct filter whole = { NULL, NULL };
	bool good = filter_of_file(&whole, merge->inputs.items[0], first);
	/* Where copies count a filter is not to be added to itself. */
	bool adds_up = good && filter_can_remove(&whole);

	for (size_t i = 0; good && i < merge->inputs.count; i++)
		good = (!adds_up || !is_counted_twice(merge, i)) &&
		       (i == 0 || join_filter(merge, i, &whole));
	good = good && save(merge, filter_write, &whole);
	if (good)
		filter_warn_past_capacity(merge->output, &whole);
	if (good && merge->stats) {
		print_tally(merge, filter_records(&whole));
		filter_print_state(&whole);
	}
	filter_free(&whole);
	return good;
}

static bool merge_counts(const struct merge *merge, struct sketch_file *first)
{
	struct sketch_counts *whole = counts_of_file(merge->inputs.items[0], first);
	bool good = whole != NULL;

	for (size_t i = 0; good && i < merge->inputs.count; i++)
		good = !is_counted_twice(merge, i) && (i == 0 || join_counts(merge, i, whole));
	good = good && save(merge, counts_write, whole);
	if (good && merge->stats) {
		print_tally(merge, sketch_counts_records(whole));
		counts_print_state(whole);
	}
	sketch_counts_free(whole);
	return good;
}

/* A key that is in two of them, or in one that is named twice, is one key. */
static bool merge_distinct(const struct merge *merge, struct sketch_file *first)
{
	struct sketch_hll *whole = distinct_of_file(merge->inputs.items[0], first);
	bool good = whole != NULL;

	for (size_t i = 1; good && i < merge->inputs.count; i++) {
		struct sketch_hll *part = distinct_open(merge->inputs.items[i]);

		good = part != NULL &&
		       distinct_join(whole, merge->inputs.items[0], part, merge->inputs.items[i]);
		sketch_hll_free(part);
	}
	good = good && save(merge, distinct_write, whole);
	if (good && merge->stats) {
		print_tally(merge, sketch_hll_records(whole));
		distinct_print_state(whole);
	}
	sketch_hll_free(whole);
	return good;
}

/* The first file says what is to be joined. */
static int run_merge(const struct merge *merge)
{
	struct sketch_file *first = open_sketch(merge->inputs.items[0], SKETCH_WRITABLE);
	bool good;

	if (first == NULL)
		return 2;
	switch (sketch_file_kind(first)) {
	case SKETCH_KIND_COUNTS:
		good = merge_counts(merge, first);
		break;
	case SKETCH_KIND_HYPERLOGLOG:
		good = merge_distinct(merge, first);
		break;
	default:
		good = merge_filters(merge, first);
	}
	return good ? 0 : 2;
}

int main(int argc, char **argv)
{
	struct merge merge = { 0 };
	int status;

	system_begin();
	message_begin("sketch-merge");
	if (parse_args(&merge, argc, argv, &status))
		status = run_merge(&merge);
	return system_end(status);
}
