/* cms-top - the heaviest keys of a stream, or of saved sketches */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "counts_options.h"
#include "json.h"
#include "message.h"
#include "number.h"
#include "option.h"
#include "output.h"
#include "parallel.h"
#include "records.h"
#include "system.h"

enum { OPTION_JSON = 300, OPTION_PAD, OPTION_MIN_SHARE };

#define TOP_KEYS 10
#define TOP_TRACKED 1000 /* at the least, and four times -k */

struct top {
	struct counts_options counts;
	struct record_options records;
	struct parallel_options parallel;
	uint64_t k;
	double min_share;
	bool json, pad;
	char *const *inputs;
	size_t input_count;
};

/* --------------------------------------------------------------- command line */

static const struct option_spec top_specs[] = {
	{ 'k', "keys", "K", "print the K heaviest keys [10]" },
	{ OPTION_MIN_SHARE, "min-share", "SHARE", "only keys with this share of the total (1%)" },
	{ OPTION_JSON, "json", NULL, "print one JSON object a line" },
	{ OPTION_PAD, "pad", NULL, "print the counts as uniq -c does" },
};

static bool take_option(void *context, int letter, const char *value)
{
	struct top *top = context;
	struct number_error error;

	switch (letter) {
	case OPTION_JSON:
		top->json = true;
		return true;
	case OPTION_PAD:
		top->pad = true;
		return true;
	case OPTION_MIN_SHARE:
		if (number_probability(value, &top->min_share, &error))
			return true;
		message("--min-share: %s", error.text);
		return false;
	}
	if (number_count(value, 0, UINT64_C(4000000), &top->k, &error))
		return true;
	message("--keys: %s", error.text);
	return false;
}

static const char *const examples[] = {
	"cms-top -k 20 < app.log",
	"cms-top -f 7 access.log; cms-top -Qf 6 access.log",
	"cms-top -f 1 -W 10 access.log",
	"cms-top --query all.cms",
	NULL,
};

static const char *const notes[] = {
	"A count is never below the truth; --bounds prints between what it surely lies.",
	NULL,
};

static bool check_options(const struct top *top)
{
	bool asks = top->counts.queries.count > 0;

	if (asks && (top->input_count > 0 || top->records.files0_from != NULL)) {
		option_complain("--query takes no inputs: the sketch has been made");
		return false;
	}
	if (asks && top->counts.weight_field > 0) {
		option_complain("--query excludes --weight-field");
		return false;
	}
	if (counts_to_stdout(&top->counts)) {
		option_complain("-o -: standard output has the heaviest keys; cms-count -o - can");
		return false;
	}
	if (top->pad && (top->json || top->counts.bounds)) {
		option_complain("--pad excludes --json and --bounds");
		return false;
	}
	return counts_options_check(&top->counts);
}

static enum option_outcome parse_args(struct top *top, int argc, char **argv, int *first)
{
	const struct option_group groups[] = {
		{ NULL, top_specs, sizeof top_specs / sizeof *top_specs, take_option, top },
		counts_option_group(&top->counts),
		state_option_group(&top->counts.state),
		record_option_group(&top->records),
		parallel_option_group(&top->parallel, "only 1: the answer depends on the order"),
		{ 0 },
	};
	const struct option_tool tool = {
		.name = "cms-top",
		.synopsis = "[-k K] [OPTION]... [INPUT]...\n"
			    "--query SKETCH [--query SKETCH]... [OPTION]...",
		.purpose = "Print the heaviest keys of a stream, in fixed memory.",
		.examples = examples,
		.notes = notes,
		.groups = groups,
	};
	enum option_outcome outcome = option_parse(&tool, argc, argv, first);

	if (outcome != OPTION_RUN)
		return outcome;
	top->inputs = argv + *first;
	top->input_count = (size_t)(argc - *first);
	if (!parallel_refuse(&top->parallel,
			     "which keys are kept depends on the order of the records") ||
	    !record_options_check(&top->records, argc - *first) || !check_options(top))
		return OPTION_BAD;
	return OPTION_RUN;
}

/* ------------------------------------------------------------------- printing */

/* What is to be printed. */
struct table {
	const struct top *top;
	struct output *out;
	const struct sketch_heavy *heavy;
	size_t count;
	uint64_t total;
	int columns; /* of the terminal; 0 where there is none */
};

static double share_of(const struct table *table, uint64_t count)
{
	return table->total == 0 ? 0 : (double)count / (double)table->total;
}

static void print_json(const struct table *table, const struct sketch_heavy *one)
{
	struct json json = { table->out, false };

	json_open(&json, NULL);
	json_count(&json, "count", one->bounds.high);
	json_count(&json, "low", one->bounds.low);
	json_count(&json, "high", one->bounds.high);
	json_number(&json, "share", share_of(table, one->bounds.high));
	if (one->length > one->stored)
		json_count(&json, "key_length", one->length);
	json_text(&json, "key", one->data, one->stored);
	json_close(&json);
	output_write(table->out, "\n", 1);
}

static void print_key(const struct table *table, const struct sketch_heavy *one)
{
	char end = table->top->records.zero_terminated ? '\0' : '\n';

	output_write(table->out, one->data, one->stored);
	output_write(table->out, &end, 1);
}

static void print_plain(const struct table *table, const struct sketch_heavy *one)
{
	if (table->top->pad)
		output_text(table->out, "%7" PRIu64 " ", one->bounds.high);
	else if (table->top->counts.bounds)
		output_text(table->out, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", one->bounds.high,
			    one->bounds.low, one->bounds.high);
	else
		output_text(table->out, "%" PRIu64 "\t", one->bounds.high);
	print_key(table, one);
}

/* For people: right-justified counts, the share of the total, a bar. */
static void print_pretty(const struct table *table, const struct sketch_heavy *one)
{
	static const char bar[] = "##########";
	double largest = (double)table->heavy[0].bounds.high;
	int marks = largest > 0 ? (int)((double)one->bounds.high / largest * 10 + 0.5) : 0;
	char count[32], low[32], shown[1024];
	size_t room = table->columns > 60 ? (size_t)table->columns - 40 : 20;

	number_grouped(count, one->bounds.high);
	output_text(table->out, "%15s", count);
	if (table->top->counts.bounds)
		output_text(table->out, " %15s", number_grouped(low, one->bounds.low));
	message_escape(shown, room < sizeof shown ? room : sizeof shown, (const char *)one->data,
		       one->stored);
	output_text(table->out, "  %5.1f %%  %-10.*s  %s\n",
		    100 * share_of(table, one->bounds.high), marks, bar, shown);
}

static void print_table(const struct table *table)
{
	for (size_t i = 0; i < table->count && !output_failed(table->out); i++) {
		const struct sketch_heavy *one = &table->heavy[i];

		if (share_of(table, one->bounds.high) < table->top->min_share)
			break;
		if (table->top->json)
			print_json(table, one);
		else if (table->columns > 0 && !table->top->pad)
			print_pretty(table, one);
		else
			print_plain(table, one);
	}
}

static int terminal_columns(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Prints the heaviest of a sketch. */
static bool print_top(const struct top *top, struct output *out, const struct sketch_counts *counts)
{
	size_t room = (size_t)top->k;
	struct sketch_heavy *heavy = calloc(room + 1, sizeof *heavy);
	size_t known = heavy == NULL ? SIZE_MAX : sketch_counts_top(counts, heavy, room);
	struct sketch_counts_state state;
	struct table table = { .top = top, .out = out, .heavy = heavy };

	if (known == SIZE_MAX) {
		message("out of memory");
		free(heavy);
		return false;
	}
	sketch_counts_state(counts, &state);
	table.count = known < room ? known : room;
	table.total = state.total;
	table.columns = terminal_columns();
	print_table(&table);
	free(heavy);
	return !output_failed(out);
}

/* -------------------------------------------------------------------- running */

struct run {
	const struct top *top;
	struct counts_target target;
	struct records *records;
};

static bool save(void *context)
{
	struct run *run = context;

	return counts_save(&run->target, records_tally(run->records)->records);
}

static bool stream(struct run *run)
{
	struct records_batch batch;
	enum records_outcome outcome;

	while ((outcome = records_next(run->records, &batch)) == RECORDS_BATCH_READY) {
		uint64_t before = records_tally(run->records)->records - batch.count;

		if (!counts_add_batch(run->target.counts, &batch, run->top->counts.weight_field > 0,
				      before, NULL))
			return false;
	}
	return outcome == RECORDS_END;
}

/* Counts the inputs. */
static bool count_inputs(struct run *run)
{
	const struct top *top = run->top;
	const struct sketch_identity *identity = sketch_counts_identity(run->target.counts);
	struct records_setup setup = {
		.options = &top->records,
		.names = top->inputs,
		.count = top->input_count,
		.seed = identity->seed,
		.fold = identity->transforms & SKETCH_FOLD_ASCII,
		.keep_keys = true,
		.weight_field = top->counts.weight_field,
		.all_needed = top->counts.output != NULL || top->counts.state.path != NULL,
		.tick = top->counts.state.save_every > 0 ? save : NULL,
		.interval = top->counts.state.save_every,
		.context = run,
	};

	run->records = records_open(&setup);
	if (run->records == NULL)
		return false;
	counts_forbid(&run->target, run->records);
	return stream(run);
}

static bool tracks(const char *name, const struct sketch_counts *counts)
{
	if (sketch_counts_params(counts)->tracked > 0)
		return true;
	message("%s: keeps no keys: ask it for a key with cms-count --query",
		message_input_name(name));
	return false;
}

/* Adds up the sketches that are asked. */
static bool add_queries(struct run *run)
{
	const struct words *names = &run->top->counts.queries;
	struct sketch_counts *whole = counts_open(names->items[0]);

	run->target.counts = whole;
	if (whole == NULL || !tracks(names->items[0], whole))
		return false;
	for (size_t i = 1; i < names->count; i++) {
		struct sketch_counts *part =
			counts_named_twice(names->items, i) ? NULL : counts_open(names->items[i]);
		struct sketch_error error;
		bool good = part != NULL && tracks(names->items[i], part);

		if (good && sketch_counts_union(whole, part, &error) != SKETCH_OK) {
			message("%s and %s: %s", message_input_name(names->items[0]),
				message_input_name(names->items[i]), error.text);
			good = false;
		}
		sketch_counts_free(part);
		if (!good)
			return false;
	}
	return true;
}

static bool prepare(struct run *run)
{
	const struct top *top = run->top;
	uint64_t tracked = 4 * top->k > TOP_TRACKED ? 4 * top->k : TOP_TRACKED;

	if (top->counts.queries.count > 0)
		return add_queries(run);
	return counts_begin(&run->target, &top->counts, top->records.fold, tracked) &&
	       (top->counts.state.path == NULL ||
		tracks(top->counts.state.path, run->target.counts)) &&
	       count_inputs(run);
}

static int run_top(const struct top *top)
{
	struct run run = { .top = top };
	struct output *out = output_open(STDOUT_FILENO, "standard output");
	/* Printed first: what could not be printed is counted again by the next run. */
	bool good = out != NULL && prepare(&run) && print_top(top, out, run.target.counts) &&
		    output_flush(out) && (run.records == NULL || save(&run));
	bool trouble = run.records != NULL && records_trouble(run.records);

	if (good && run.records != NULL)
		records_warn_no_key(run.records);
	if (good && top->records.stats) {
		if (run.records != NULL)
			records_print_tally(run.records);
		counts_print_state(run.target.counts);
	}
	records_close(run.records);
	if (out != NULL)
		good = output_close(out) && good;
	counts_end(&run.target);
	return good && !trouble ? 0 : 2;
}

int main(int argc, char **argv)
{
	struct top top = { .k = TOP_KEYS, .records = RECORD_OPTIONS_NONE };
	int first = 0, status = 2;

	system_begin();
	message_begin("cms-top");
	switch (parse_args(&top, argc, argv, &first)) {
	case OPTION_DONE:
		status = first;
		break;
	case OPTION_BAD:
		break;
	case OPTION_RUN:
		status = run_top(&top);
		break;
	}
	free(top.counts.queries.items);
	if (system_signal() != 0)
		system_die_by_signal(system_signal());
	return status;
}
