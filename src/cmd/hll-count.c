/* hll-count - how many distinct records are there? */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "distinct.h"
#include "json.h"
#include "keying.h"
#include "message.h"
#include "number.h"
#include "open.h"
#include "option.h"
#include "output.h"
#include "parallel.h"
#include "records.h"
#include "state.h"
#include "system.h"
#include "words.h"

enum {
	OPTION_APPEND = 300,
	OPTION_QUERY,
	OPTION_PRECISION,
	OPTION_ERROR,
	OPTION_BOUNDS,
	OPTION_JSON
};

/* 16 KiB, which stay in the first cache, and a standard error below 1 %. */
#define COUNT_PRECISION 14

struct count {
	const char *output;
	struct state_options state; /* --append */
	struct words queries;
	uint64_t precision, seed; /* precision: 0 where it was not given */
	double error;             /* the same */
	bool has_seed, bounds, json, quiet;
	struct keying keying;
	struct record_options records;
	struct parallel_options parallel;
	struct operands inputs;
};

/* --------------------------------------------------------------- command line */

static const struct option_spec count_specs[] = {
	{ 'o', "output", "FILE", "save the sketch to FILE, replacing it as a whole" },
	{ OPTION_APPEND, "append", "FILE", "add to the sketch in FILE; make it if absent" },
	{ OPTION_QUERY, "query", "SKETCH",
	  "ask a saved sketch (can be repeated: all their keys together)" },
	{ OPTION_ERROR, "error", "E", "a standard error of at most E of the number (1%)" },
	{ OPTION_PRECISION, "precision", "P", "2^P registers, 4 to 21 [14: 0.81 %]" },
	{ OPTION_BOUNDS, "bounds", NULL, "print DISTINCT LOW HIGH, right with confidence 0.95" },
	{ OPTION_JSON, "json", NULL, "print a JSON object" },
	{ 'q', "quiet", NULL, "with --output or --append: print nothing" },
	{ 's', "seed", "N", "seed of the hash [0]" },
};

static bool take_number(struct count *count, int letter, const char *value)
{
	struct number_error error;
	const char *name;
	bool good;

	if (letter == OPTION_ERROR) {
		name = "--error";
		good = number_probability(value, &count->error, &error);
	} else if (letter == OPTION_PRECISION) {
		name = "--precision";
		good = number_count(value, SKETCH_HLL_LEAST_PRECISION, SKETCH_HLL_MOST_PRECISION,
				    &count->precision, &error);
	} else {
		name = "--seed";
		good = number_count(value, 0, UINT32_MAX, &count->seed, &error);
		count->has_seed = true;
	}
	if (!good)
		message("%s: %s", name, error.text);
	return good;
}

static bool take_option(void *context, int letter, const char *value)
{
	struct count *count = context;

	switch (letter) {
	case 'o':
		count->output = value;
		return true;
	case OPTION_APPEND:
		count->state.path = value;
		return true;
	case OPTION_QUERY:
		return words_add(&count->queries, value);
	case OPTION_BOUNDS:
		count->bounds = true;
		return true;
	case OPTION_JSON:
		count->json = true;
		return true;
	case 'q':
		count->quiet = true;
		return true;
	default:
		return take_number(count, letter, value);
	}
}

static const struct option_values values[] = {
	{ "append", OPTION_DISTINCT_FILES },
	{ "query", OPTION_DISTINCT_FILES },
	{ NULL, NULL },
};

static const char *const examples[] = {
	"hll-count < app.log",
	"hll-count -f 1 access.log",
	"hll-count --bounds -f 1 access.log*",
	"hll-count -q -o mon.hll mon.log; hll-count --query mon.hll --query tue.hll",
	NULL,
};

static const char *const notes[] = {
	"Up to 2^P / 8 distinct keys (2048) are counted exactly.  Beyond, one result in",
	"three is off by more than one standard error, one in twenty by more than two.",
	NULL,
};

static bool saves(const struct count *count)
{
	return count->output != NULL || count->state.path != NULL;
}

static bool to_stdout(const struct count *count)
{
	return count->output != NULL && strcmp(count->output, "-") == 0;
}

static bool reads_records(const struct count *count)
{
	return count->inputs.count > 0 || count->records.zero_terminated ||
	       record_options_need_records(&count->records);
}

/* The exclusions; NULL where there is none. */
static const char *conflict(const struct count *count)
{
	bool asks = count->queries.count > 0;

	if (count->output != NULL && count->state.path != NULL)
		return "--append and --output exclude each other";
	if (asks && saves(count))
		return "--query only reads: it excludes --output and --append (sketch-merge joins)";
	if (asks && reads_records(count))
		return "--query takes no inputs and none of their options: the sketch has been "
		       "made; for several, repeat --query, or join them with sketch-merge";
	if (asks && (count->precision > 0 || count->error > 0 || count->has_seed))
		return "--query takes precision and seed from the sketch";
	if (count->precision > 0 && count->error > 0)
		return "--precision and --error exclude each other";
	if (count->bounds && count->json)
		return "--bounds and --json exclude each other: --json has the bounds";
	if (count->parallel.threads > 1 && (asks || count->state.save_every > 0))
		return "--threads excludes --query and --save-every";
	if (count->quiet && !saves(count))
		return "--quiet needs --output or --append";
	if (count->quiet && (count->bounds || count->json))
		return "--quiet excludes --bounds and --json";
	if (to_stdout(count) && (count->bounds || count->json || isatty(STDOUT_FILENO)))
		return "-o -: standard output is taken by the number, or is a terminal";
	return NULL;
}

static bool check_options(struct count *count)
{
	const char *why = conflict(count);
	struct sketch_error error;
	uint32_t precision = 0;

	if (why != NULL) {
		option_complain("%s", why);
		return false;
	}
	if (count->error > 0 && sketch_hll_plan(count->error, &precision, &error) != SKETCH_OK) {
		message("--error: %s", error.text);
		return false;
	}
	if (precision > 0)
		count->precision = precision;
	if (to_stdout(count))
		count->quiet = true;
	return keying_check(&count->keying, count->has_seed) &&
	       state_options_check(&count->state, "--append");
}

static bool parse_args(struct count *count, int argc, char **argv, int *status)
{
	const struct option_group groups[] = {
		{ NULL, count_specs, sizeof count_specs / sizeof *count_specs, take_option, count },
		keying_option_group(&count->keying),
		state_option_group(&count->state),
		record_option_group(&count->records),
		parallel_option_group(&count->parallel, "threads (0: all processors)"),
		{ 0 },
	};
	const struct option_tool tool = {
		.name = "hll-count",
		.synopsis = "[OPTION]... [INPUT]...\n"
			    "--query SKETCH [--query SKETCH]... [--bounds | --json]",
		.purpose = "Print the number of distinct records of a stream, from fixed memory.",
		.examples = examples,
		.notes = notes,
		.groups = groups,
		.values = values,
		.first_operand = OPTION_ANY_FILE,
		.other_operands = OPTION_ANY_FILE,
	};

	if (!option_parse(&tool, argc, argv, &count->inputs, status))
		return false;
	return record_options_check(&count->records, &count->inputs) && check_options(count);
}

/* ------------------------------------------------------------------- printing */

static void print_json(struct output *out, const struct sketch_hll *hll,
		       const struct sketch_hll_state *state)
{
	struct json json = { out, false };

	json_open(&json, NULL);
	json_number(&json, "distinct", rint(state->distinct));
	json_number(&json, "low", floor(state->low));
	json_number(&json, "high", ceil(state->high));
	json_number(&json, "confidence", 0.95);
	json_number(&json, "error", state->error);
	json_truth(&json, "exact", state->exact);
	json_count(&json, "records", sketch_hll_records(hll));
	json_count(&json, "precision", sketch_hll_precision(hll));
	json_close(&json);
	output_write(out, "\n", 1);
}

/* With separators for people. */
static void print_number(struct output *out, double value, const char *end)
{
	char text[32];

	if (isatty(STDOUT_FILENO) && value < 18e18)
		number_grouped(text, (uint64_t)rint(value));
	else
		distinct_text(text, value);
	output_text(out, "%s%s", text, end);
}

static bool print_answer(const struct count *count, struct output *out,
			 const struct sketch_hll *hll)
{
	struct sketch_hll_state state;

	if (count->quiet)
		return true;
	sketch_hll_state(hll, &state);
	if (count->json) {
		print_json(out, hll, &state);
	} else {
		print_number(out, state.distinct, count->bounds ? "\t" : "\n");
		if (count->bounds) {
			print_number(out, floor(state.low), "\t");
			print_number(out, ceil(state.high), "\n");
		}
	}
	return output_flush(out);
}

/* -------------------------------------------------------------------- running */

struct run {
	const struct count *count;
	struct sketch_hll *hll;
	struct state *state;      /* --append */
	struct sketch_save *save; /* --output */
	int fd;
	uint64_t before, saved; /* records: in the file at first; of this run, saved */
	struct records *records;
};

static struct sketch_hll *make(const struct count *count)
{
	struct sketch_identity identity = keying_identity(&count->keying, (uint32_t)count->seed,
							  count->records.fold, SKETCH_SINGLE);
	uint32_t precision = count->precision > 0 ? (uint32_t)count->precision : COUNT_PRECISION;
	struct sketch_hll *hll = NULL;
	struct sketch_error error;

	if (sketch_hll_new(&hll, &identity, precision, system_memory(), &error) != SKETCH_OK)
		message("%s", error.text);
	return hll;
}

/* Whether the command line says anything else than the sketch to be added to. */
static bool contradicts(const struct count *count, const struct sketch_hll *hll)
{
	const char *file = count->state.path;

	if (count->precision > 0 && count->precision != sketch_hll_precision(hll))
		return state_differs(file, "precision", sketch_hll_precision(hll),
				     count->precision);
	return !keying_fits(&count->keying, file, sketch_hll_identity(hll)) ||
	       state_contradicts(file, sketch_hll_identity(hll),
				 count->has_seed ? &count->seed : NULL, count->records.fold);
}

static bool begin_append(struct run *run)
{
	struct sketch_file *file;

	run->state = state_open(&run->count->state);
	if (run->state == NULL)
		return false;
	if (state_is_new(run->state))
		return true;
	if (!state_read(run->state, &file))
		return false;
	run->hll = distinct_of_file(run->count->state.path, file);
	if (run->hll == NULL || contradicts(run->count, run->hll))
		return false;
	run->before = sketch_hll_records(run->hll);
	return true;
}

/* Opens a sketch that is asked, for which no key is hashed. */
static struct sketch_hll *open_query(const struct count *count, const char *name)
{
	struct sketch_hll *hll = distinct_open(name);

	if (hll == NULL ||
	    keying_agrees(&count->keying, message_input_name(name), sketch_hll_identity(hll)))
		return hll;
	sketch_hll_free(hll);
	return NULL;
}

/* All sketches that are asked, joined. */
static bool join_queries(struct run *run)
{
	const struct words *names = &run->count->queries;

	run->hll = open_query(run->count, names->items[0]);
	for (size_t i = 1; run->hll != NULL && i < names->count; i++) {
		struct sketch_hll *part = open_query(run->count, names->items[i]);
		bool good = part != NULL &&
			    distinct_join(run->hll, names->items[0], part, names->items[i]);

		sketch_hll_free(part);
		if (!good)
			return false;
	}
	return run->hll != NULL;
}

static void note_records(struct run *run)
{
	uint64_t total;

	if (__builtin_add_overflow(run->before, records_tally(run->records)->records, &total))
		total = UINT64_MAX;
	sketch_hll_set_records(run->hll, total);
}

static bool save(void *context)
{
	struct run *run = context;
	uint64_t records = records_tally(run->records)->records;

	note_records(run);
	if (run->count->output != NULL)
		return open_target_write(&run->save, run->count->output, run->fd, distinct_write,
					 run->hll);
	if (run->state == NULL || (records == run->saved && !state_is_new(run->state)))
		return true;
	if (!state_save(run->state, distinct_write, run->hll))
		return false;
	run->saved = records;
	return true;
}

/* Adds the records that have a key. */
static enum parallel_step take_batch(void *hll, struct records_batch *batch)
{
	struct sketch_hash hashes[RECORDS_BATCH];
	size_t kept = 0;

	for (size_t i = 0; i < batch->count; i++) {
		hashes[kept] = batch->hashes[i];
		kept += batch->keyed[i / 64] >> i % 64 & 1;
	}
	sketch_hll_add(hll, hashes, kept);
	return PARALLEL_ON;
}

static void *hll_like(const void *hll, uint64_t budget, struct sketch_error *error)
{
	struct sketch_hll *made = NULL;

	(void)sketch_hll_new(&made, sketch_hll_identity(hll), sketch_hll_precision(hll), budget,
			     error);
	return made;
}

static enum sketch_status join_hlls(void *into, void *from, struct sketch_error *error)
{
	return sketch_hll_union(into, from, error);
}

static void free_hll(void *hll)
{
	sketch_hll_free(hll);
}

/* A union is what one thread would have made, byte for byte. */
static bool stream(struct run *run)
{
	static const struct parallel_sum shared = { take_batch, hll_like, join_hlls, free_hll,
						    NULL };
	const struct parallel_worker alone = { .batch = take_batch, .context = run->hll };
	size_t threads = (size_t)run->count->parallel.threads;

	return threads > 1 ? parallel_add_up(run->records, &shared, run->hll, threads) :
			     parallel_stream(run->records, &alone, 1);
}

static void forbid_outputs(const struct run *run)
{
	struct stat st;

	if (run->state != NULL && state_stat(run->state, &st))
		records_forbid(run->records, &st);
	if (run->count->output != NULL && !to_stdout(run->count) &&
	    stat(run->count->output, &st) == 0)
		records_forbid(run->records, &st);
	if (to_stdout(run->count) && fstat(STDOUT_FILENO, &st) == 0)
		records_forbid(run->records, &st);
}

static bool count_inputs(struct run *run)
{
	const struct count *count = run->count;
	const struct sketch_identity *identity = sketch_hll_identity(run->hll);
	struct records_setup setup = {
		.options = &count->records,
		.inputs = count->inputs,
		.seed = identity->seed,
		.secret = keying_secret(&count->keying, identity),
		.fold = identity->transforms & SKETCH_FOLD_ASCII,
		/* The number of a part would pass for that of the whole. */
		.all_needed = true,
		.tick = count->state.save_every > 0 ? save : NULL,
		.interval = count->state.save_every,
		.context = run,
	};
	bool good;

	run->records = records_open(&setup);
	if (run->records == NULL)
		return false;
	forbid_outputs(run);
	good = stream(run);
	note_records(run);
	return good;
}

static bool prepare(struct run *run)
{
	const struct count *count = run->count;

	if (count->queries.count > 0)
		return join_queries(run);
	/* What was counted until a signal came is an answer; but no file that is made
	 * is to pass for the whole. */
	if (count->output == NULL)
		system_catch_signals();
	if (count->state.path != NULL && !begin_append(run))
		return false;
	if (run->hll == NULL)
		run->hll = make(count);
	if (run->hll == NULL)
		return false;
	if (count->output != NULL && !to_stdout(count) &&
	    !open_target(&run->save, count->output, &run->fd))
		return false;
	return count_inputs(run);
}

static void report(const struct run *run)
{
	if (run->records != NULL)
		records_warn_no_key(run->records);
	if (!run->count->records.stats)
		return;
	if (run->records != NULL)
		records_print_tally(run->records);
	distinct_print_state(run->hll);
}

static int run_count(const struct count *count)
{
	struct run run = { .count = count };
	struct output *out = output_open(STDOUT_FILENO, "standard output");
	/* Printed first: what could not be printed is counted again by the next run. */
	bool good = out != NULL && prepare(&run) && print_answer(count, out, run.hll) &&
		    (run.records == NULL || save(&run));
	bool trouble = run.records != NULL && records_trouble(run.records);

	if (good)
		report(&run);
	records_close(run.records);
	if (out != NULL)
		good = output_close(out) && good;
	sketch_save_abort(run.save);
	state_close(run.state);
	sketch_hll_free(run.hll);
	return good && !trouble ? 0 : 2;
}

int main(int argc, char **argv)
{
	struct count count = { .records = RECORD_OPTIONS_NONE };
	int status;

	system_begin();
	message_begin("hll-count");
	if (parse_args(&count, argc, argv, &status))
		status = keying_read(&count.keying, count.output) ? run_count(&count) : 2;
	keying_end(&count.keying);
	free(count.queries.items);
	return system_end(status);
}
