/* fpr-calc - how large a sketch must be, how often it errs, and whether that is true */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "chart.h"
#include "filter.h"
#include "message.h"
#include "number.h"
#include "open.h"
#include "option.h"
#include "plan_case.h"
#include "plan_counts.h"
#include "plan_cuckoo.h"
#include "plan_curve.h"
#include "plan_explain.h"
#include "plan_file.h"
#include "plan_options.h"
#include "plan_report.h"
#include "sheet.h"
#include "simulate.h"
#include "system.h"

enum {
	OPTION_BITS_PER_KEY = 300,
	OPTION_LOAD,
	OPTION_UNTIL,
	OPTION_WHAT_IF,
	OPTION_TABLE,
	OPTION_COMPARE,
	OPTION_KEY_BYTES,
	OPTION_ADVICE,
	OPTION_CURVE,
	OPTION_EXPLAIN,
	OPTION_SIMULATE,
	OPTION_QUERIES,
	OPTION_PROGRESS,
	OPTION_FILE,
	OPTION_JSON,
	OPTION_PRINT,
	OPTION_TSV,
	OPTION_ASCII
};

/* Of a cuckoo filter where neither -p nor -m says, as bloom-build's. */
#define CUCKOO_RATE 0.01

#define USUAL_KEY_BYTES 20
#define CURVES "n k bits" /* what --curve takes */

struct calc {
	struct plan_options plan;
	double bits_per_key, load, until;
	struct plan_change change;
	bool changes, table, compare, advice, explain, json, tsv, ascii;
	uint64_t key_bytes; /* or 0 */
	enum plan_curve curve;
	uint64_t simulate;  /* filters, or 0 */
	bool count_filters; /* their number was given */
	uint64_t queries;
	bool progress;
	const char *file, *print;
	struct plan_counts counts;
};

/* ------------------------------------------------------------- command line */

static const struct option_spec ratio_specs[] = {
	{ OPTION_BITS_PER_KEY, "bits-per-key", "C", "m/n, instead of -n or -m or both" },
	{ OPTION_LOAD, "load", "A", "n/m, the same the other way round (0.1, 70%)" },
};

static const struct option_spec question_specs[] = {
	{ OPTION_UNTIL, "until", "P", "how many keys until the rate is P?" },
	{ OPTION_WHAT_IF, "what-if", "X=VALUE",
	  "what if n=2M, or m=6MB, or k=3, and the rest stays?" },
	{ OPTION_TABLE, "table", NULL, "the rate for each k, its gain, and advice" },
	{ OPTION_COMPARE, "compare", NULL, "bytes of other structures for the same keys" },
	{ OPTION_KEY_BYTES, "key-bytes", "N", "mean length of a key, for --compare [20]" },
	{ OPTION_ADVICE, "advice", NULL, "a few words of advice" },
	{ OPTION_CURVE, "curve", "X", "draw the rate over n, k or bits (a key)" },
	{ OPTION_EXPLAIN, "explain", NULL, "derive it step by step, as at a blackboard" },
	{ OPTION_SIMULATE, "simulate", "[=FILTERS]", "build filters, and measure their rate [50]" },
	{ OPTION_QUERIES, "queries", "N", "keys to ask each simulated filter for" },
	{ OPTION_PROGRESS, "progress", NULL, "show the progress of a simulation" },
	{ OPTION_FILE, "file", "FILE", "ask this filter; - is standard input" },
};

static const struct option_spec output_specs[] = {
	{ OPTION_JSON, "json", NULL, "print one JSON object" },
	{ OPTION_PRINT, "print", "NAME", "print one value: p, m, k, n, bytes or another" },
	{ OPTION_TSV, "tsv", NULL, "print a curve as numbers" },
	{ OPTION_ASCII, "ascii", NULL, "draw a curve in ASCII" },
};

static bool take_flag(struct calc *calc, int letter)
{
	switch (letter) {
	case OPTION_TABLE:
		return calc->table = calc->advice = true;
	case OPTION_COMPARE:
		return calc->compare = true;
	case OPTION_ADVICE:
		return calc->advice = true;
	case OPTION_EXPLAIN:
		return calc->explain = true;
	case OPTION_PROGRESS:
		return calc->progress = true;
	case OPTION_JSON:
		return calc->json = true;
	case OPTION_TSV:
		return calc->tsv = true;
	case OPTION_ASCII:
		return calc->ascii = true;
	}
	return false;
}

static bool take_count(struct calc *calc, int letter, const char *value, struct number_error *error)
{
	switch (letter) {
	case OPTION_KEY_BYTES:
		return number_count(value, 1, 1000000000, &calc->key_bytes, error);
	case OPTION_QUERIES:
		return number_count(value, 1, UINT64_C(1000000000000), &calc->queries, error);
	case OPTION_SIMULATE:
		calc->count_filters = value != NULL;
		calc->simulate = SIMULATE_FILTERS;
		return value == NULL || number_count(value, 1, 1000000, &calc->simulate, error);
	}
	return false;
}

static bool take_real(struct calc *calc, int letter, const char *value, struct number_error *error)
{
	switch (letter) {
	case OPTION_BITS_PER_KEY:
		return plan_case_ratio(value, &calc->bits_per_key, error);
	case OPTION_LOAD:
		return plan_case_ratio(value, &calc->load, error);
	case OPTION_UNTIL:
		return number_probability(value, &calc->until, error);
	case OPTION_WHAT_IF:
		calc->changes = true;
		return plan_report_parse_change(value, &calc->change, error);
	}
	return take_count(calc, letter, value, error);
}

static bool take_curve(struct calc *calc, const char *value)
{
	static const enum plan_curve curves[] = { CURVE_KEYS, CURVE_HASHES, CURVE_BITS };
	size_t place;

	if (!option_word("curve", value, CURVES, "a thing to draw a curve over", &place))
		return false;
	calc->curve = curves[place];
	return true;
}

static const char *name_of(int letter)
{
	static const struct {
		const struct option_spec *specs;
		size_t count;
	} groups[] = {
		{ ratio_specs, sizeof ratio_specs / sizeof *ratio_specs },
		{ question_specs, sizeof question_specs / sizeof *question_specs },
		{ output_specs, sizeof output_specs / sizeof *output_specs },
	};

	for (size_t group = 0; group < sizeof groups / sizeof *groups; group++) {
		for (size_t i = 0; i < groups[group].count; i++) {
			if (groups[group].specs[i].letter == letter)
				return groups[group].specs[i].name;
		}
	}
	return "";
}

static bool take_option(void *context, int letter, const char *value)
{
	struct calc *calc = context;
	struct number_error error;

	switch (letter) {
	case OPTION_FILE:
		calc->file = value;
		return true;
	case OPTION_PRINT:
		calc->print = value;
		return true;
	case OPTION_CURVE:
		return take_curve(calc, value);
	}
	if (take_flag(calc, letter) || take_real(calc, letter, value, &error))
		return true;
	message("--%s: %s", name_of(letter), error.text);
	return false;
}

static const struct option_values values[] = {
	PLAN_OPTION_VALUES,           PLAN_KIND_OPTION_VALUES,
	{ "curve", CURVES },          { "file", OPTION_FILTER_FILES },
	{ "print", "p m k n bytes" }, { NULL, NULL },
};

static const char *const examples[] = {
	"fpr-calc -n 1M -p 1%                            # how big?",
	"fpr-calc -m 6MB -n 1e6 -k 3 --layout classic    # how wrong?",
	"fpr-calc -m 6MB -p 0.001                        # how many keys?",
	"fpr-calc -n 1M -p 0.01 --simulate               # is it true?",
	"fpr-calc --file users.bloom --until 1%          # how long will it do?",
	NULL,
};

static const char *const more[] = { "Counting sketches", NULL };

static const char *const notes[] = {
	"Of -n, -p, -m and -k two or three are enough.  \"used\" is the very filter that",
	"bloom-build makes, \"textbook\" what is usually written.",
	NULL,
};

/* ------------------------------------------------------- what goes with what */

static bool asks_of_filter(const struct calc *calc)
{
	return calc->until > 0 || calc->changes || calc->table || calc->compare || calc->advice ||
	       calc->explain || calc->curve != CURVE_NONE || calc->simulate > 0;
}

/* Questions that are asked of bits, and would have no or another answer of counters. */
static bool asks_of_bits(const struct calc *calc)
{
	return calc->bits_per_key > 0 || calc->load > 0 || calc->changes || calc->compare ||
	       calc->explain || calc->curve != CURVE_NONE;
}

static bool sizes_filter(const struct calc *calc)
{
	const struct sketch_request *request = &calc->plan.request;

	return calc->plan.has_kind || request->n != 0 || request->p != 0 || request->m != 0 ||
	       request->k != 0 || calc->plan.has_layout || calc->bits_per_key > 0 || calc->load > 0;
}

static const char *fault_of_modes(const struct calc *calc)
{
	bool counts = calc->counts.cms || calc->counts.hll;

	if (calc->counts.cms + calc->counts.hll + (calc->file != NULL) > 1)
		return "--cms, --hll and --file exclude each other";
	if (counts && (sizes_filter(calc) || asks_of_filter(calc)))
		return "--cms and --hll have options of their own; those of filters do not apply";
	if (calc->file != NULL && sizes_filter(calc))
		return "--file has its kind, n, p, m, k and layout: none of them can be given";
	if (calc->plan.kind == SKETCH_KIND_CUCKOO &&
	    (asks_of_filter(calc) || calc->bits_per_key > 0 || calc->load > 0))
		return "--kind cuckoo goes with -n, -p and -m: the other questions are about bits";
	if (calc->plan.kind != SKETCH_KIND_BLOOM && asks_of_bits(calc))
		return "--kind goes with -n, -p, -m, -k, --layout, --until, --table, --advice and "
		       "--simulate: the other questions are about bits";
	return plan_counts_fault(&calc->counts);
}

static const char *fault_of_output(const struct calc *calc)
{
	if (calc->queries > 0 && calc->simulate == 0)
		return "--queries needs --simulate";
	if (calc->key_bytes > 0 && !calc->compare)
		return "--key-bytes needs --compare";
	if ((calc->plan.has_seed || calc->progress) && calc->simulate == 0)
		return "--seed and --progress need --simulate";
	if (calc->file != NULL && calc->count_filters)
		return "--file has one filter: write --simulate without a number";
	if ((calc->tsv || calc->ascii) && calc->curve == CURVE_NONE)
		return "--tsv and --ascii need --curve";
	if (calc->tsv && calc->ascii)
		return "--tsv and --ascii exclude each other";
	if (calc->json && (calc->print != NULL || calc->explain || calc->tsv || calc->ascii))
		return "--json excludes --print, --explain, --tsv and --ascii";
	return NULL;
}

static bool parse_args(struct calc *calc, int argc, char **argv, int *status)
{
	const struct option_group groups[] = {
		plan_option_group(&calc->plan),
		{ "", ratio_specs, sizeof ratio_specs / sizeof *ratio_specs, take_option, calc },
		plan_kind_option_group(&calc->plan),
		{ "Questions", question_specs, sizeof question_specs / sizeof *question_specs,
		  take_option, calc },
		plan_counts_option_group(&calc->counts),
		{ "Output", output_specs, sizeof output_specs / sizeof *output_specs, take_option,
		  calc },
		{ 0 },
	};
	const struct option_tool tool = {
		.name = "fpr-calc",
		.synopsis = "[-n N] [-p P] [-m SIZE] [-k K] [OPTION]...\n"
			    "--file FILE [OPTION]...\n"
			    "--cms | --hll [OPTION]...",
		.purpose =
			"Plan a filter: from what is known of keys, rate and size find the rest.",
		.examples = examples,
		.notes = notes,
		.groups = groups,
		.more = more,
		.values = values,
	};
	struct operands operands;
	const char *fault;

	if (!option_parse(&tool, argc, argv, &operands, status))
		return false;
	if (!plan_kind_check(&calc->plan))
		return false;
	fault = fault_of_modes(calc);
	if (fault == NULL)
		fault = fault_of_output(calc);
	if (fault != NULL) {
		option_complain("%s", fault);
		return false;
	}
	if (operands.count > 0) {
		option_complain("'%s' is one word too many", operands.items[0]);
		return false;
	}
	return true;
}

/* ------------------------------------------------------------------ printing */

/* What was found, and is to be printed once all of it is. */
struct answer {
	struct sheet main, table, compare, curve;
	struct plan_case filter;
	struct plan_file file;
	bool has_filter, has_file; /* which of these there are */
	double p;                  /* of the file's advice */
};

/* The i-th advice, NULL after the last. */
static const char *advice(const struct answer *answer, size_t i, char text[240])
{
	if (answer->has_file)
		return i > 0 ? NULL : plan_file_advice(&answer->file, answer->p, text);
	return plan_report_advice(&answer->filter, i, text);
}

static void complain_of_row(const struct sheet *sheet, const char *name)
{
	size_t best = SIZE_MAX;
	const char *nearest = NULL;

	for (size_t i = 0; i < sheet->row_count; i++) {
		const struct cell *first = sheet->cells[i];

		if (first->kind == CELL_WORD && option_nearer(name, first->word, &best))
			nearest = first->word;
	}
	if (nearest != NULL)
		option_complain("--print: there is no '%s' in the table (did you mean %s?)", name,
				nearest);
	else
		option_complain("--print: there is no '%s' in the table", name);
}

static bool print_value(const struct calc *calc, const struct answer *answer, struct output *out)
{
	bool filter = answer->has_filter;
	const char *name = filter && strcmp(calc->print, "p") == 0 ? "rate" : calc->print;
	const struct cell *row = sheet_find(&answer->main, name);
	char text[32];

	if (row == NULL)
		complain_of_row(&answer->main, calc->print);
	else if (row[1].kind == CELL_NONE && filter && !answer->filter.made)
		message("%s", answer->filter.refusal);
	else if (row[1].kind == CELL_NONE)
		message("--print: %s is not known%s", calc->print,
			filter && !answer->filter.sized ? " from a ratio: give -n or -m, too" : "");
	else
		return output_text(out, "%s\n", cell_text(text, &row[1]));
	return false;
}

static void print_json(const struct calc *calc, const struct answer *answer, struct output *out)
{
	struct json json = { out, false };
	char text[240];

	json_open(&json, NULL);
	sheet_json_columns(&answer->main, &json);
	if (calc->table)
		sheet_json_rows(&answer->table, &json, "table");
	if (calc->compare)
		sheet_json_rows(&answer->compare, &json, "compare");
	if (calc->curve != CURVE_NONE)
		sheet_json_rows(&answer->curve, &json, "curve");
	if (calc->advice) {
		json_open_array(&json, "advice");
		for (size_t i = 0; advice(answer, i, text) != NULL; i++)
			json_word(&json, NULL, text);
		json_close_array(&json);
	}
	json_close(&json);
	output_write(out, "\n", 1);
}

static void print_curve(const struct calc *calc, const struct answer *answer, struct output *out,
			bool terminal)
{
	if (calc->tsv)
		sheet_print(&answer->curve, out, terminal);
	else
		plan_curve_draw(&answer->curve, &answer->filter, calc->curve, out,
				chart_columns(STDOUT_FILENO), calc->ascii || !chart_unicode());
}

static void print_advice(const char *text, struct output *out, bool terminal)
{
	static const char name[] = "advice  ";

	if (terminal) {
		output_text(out, "%s", name);
		sheet_fold(out, text, sizeof name - 1);
		output_write(out, "\n", 1);
	} else {
		output_text(out, "advice\t%s\n", text);
	}
}

static void print_text(const struct calc *calc, const struct answer *answer, struct output *out)
{
	bool terminal = isatty(STDOUT_FILENO) == 1;
	char text[240];

	/* numbers alone, for a program that draws the curve */
	if (calc->tsv) {
		print_curve(calc, answer, out, terminal);
		return;
	}
	sheet_print(&answer->main, out, terminal);
	if (calc->table) {
		output_write(out, "\n", 1);
		sheet_print(&answer->table, out, terminal);
	}
	if (calc->compare) {
		output_write(out, "\n", 1);
		sheet_print(&answer->compare, out, terminal);
	}
	if (calc->curve != CURVE_NONE) {
		output_write(out, "\n", 1);
		print_curve(calc, answer, out, terminal);
	}
	if (calc->explain) {
		output_write(out, "\n", 1);
		plan_explain(&answer->filter, out);
	}
	if (calc->advice)
		output_write(out, "\n", 1);
	for (size_t i = 0; calc->advice && advice(answer, i, text) != NULL; i++)
		print_advice(text, out, terminal);
}

static bool print_answer(const struct calc *calc, const struct answer *answer)
{
	struct output *out = output_open(STDOUT_FILENO, "standard output");
	bool good = out != NULL;

	if (!good)
		return false;
	if (calc->print != NULL)
		good = print_value(calc, answer, out);
	else if (calc->json)
		print_json(calc, answer, out);
	else
		print_text(calc, answer, out);
	return output_close(out) && good;
}

/* ------------------------------------------------------------------- running */

static bool simulate(const struct calc *calc, struct answer *answer)
{
	const struct sketch_params *used = &answer->filter.used;
	double bound = sketch_rate_bound(used, used->n);
	struct simulation simulation = {
		.params = *used,
		.filters = calc->simulate,
		.queries =
			calc->queries > 0 ? calc->queries : simulate_queries(bound, calc->simulate),
		.seed = calc->plan.seed,
		.progress = calc->progress,
	};
	struct simulation_result result;

	if (!simulate_filters(&simulation, &result))
		return false;
	plan_report_simulation(&answer->main, &result, bound);
	return true;
}

/* The questions that a case can be asked, beside simulation. */
static bool ask_case(const struct calc *calc, struct answer *answer)
{
	const struct plan_case *filter = &answer->filter;

	if (calc->changes && !plan_report_change(&answer->main, filter, &calc->change))
		return false;
	if (calc->table)
		plan_report_hashes(&answer->table, filter);
	if (calc->compare)
		plan_report_compare(&answer->compare, filter,
				    calc->key_bytes > 0 ? calc->key_bytes : USUAL_KEY_BYTES);
	if (calc->curve != CURVE_NONE)
		plan_curve_fill(&answer->curve, filter, calc->curve);
	return true;
}

/* What needs a filter, or its size, and has none. */
static bool check_case(const struct calc *calc, const struct plan_case *filter)
{
	bool needs_size = calc->changes || calc->compare || calc->simulate > 0;
	bool needs_filter = needs_size || calc->table || calc->curve != CURVE_NONE;

	if (!filter->made && needs_filter) {
		message("%s", filter->refusal);
		return false;
	}
	if (!filter->sized && needs_size) {
		option_complain("--what-if, --compare and --simulate need -n or -m");
		return false;
	}
	return true;
}

static bool run_case(const struct calc *calc, struct answer *answer)
{
	const struct plan_question question = {
		.request = calc->plan.request,
		.bits_per_key = calc->bits_per_key,
		.load = calc->load,
		.counter_bits = plan_counter_bits(&calc->plan),
	};
	struct plan_case *filter = &answer->filter;

	if (!plan_case_complete(&question, filter) || !check_case(calc, filter))
		return false;
	answer->has_filter = true;
	plan_report_case(&answer->main, filter);
	if (calc->until > 0)
		plan_report_until(&answer->main, filter, calc->until);
	if (!ask_case(calc, answer) || (calc->simulate > 0 && !simulate(calc, answer)))
		return false;
	return print_answer(calc, answer);
}

/* The filter of --file: one of the two. */
struct existing {
	struct sketch_bloom *bloom;
	struct sketch_dcso *dcso;
};

static bool simulate_existing(const struct calc *calc, const struct existing *existing,
			      struct answer *answer)
{
	double rate = answer->file.rate;
	uint64_t queries =
		calc->queries > 0 ? calc->queries : simulate_queries(fmax(rate, 1e-12), 1);
	struct simulation_result result;

	if (existing->dcso != NULL)
		simulate_dcso(existing->dcso, queries, calc->plan.seed, rate, &result);
	else if (!simulate_file(existing->bloom, calc->file, queries, calc->plan.seed, rate,
				&result))
		return false;
	plan_report_simulation(&answer->main, &result, rate);
	return true;
}

static bool ask_file(const struct calc *calc, const struct existing *existing,
		     struct answer *answer)
{
	struct plan_file *file = &answer->file;
	/* Until when a filter that grows keeps p above its own is no number. */
	bool needs_one = calc->changes || calc->table || calc->compare || calc->explain ||
			 calc->curve != CURVE_NONE;

	if (existing->dcso != NULL)
		plan_file_read_dcso(existing->dcso, file);
	else if (!plan_file_read(existing->bloom, calc->file, file))
		return false;
	if (calc->until > 0 && !file->single) {
		message("%s: %s", message_input_name(calc->file),
			file->grows ? "grows with its keys and keeps its p: there is no until" :
				      "forgets its keys: there is no until");
		return false;
	}
	if (file->counter_bits > 0 && asks_of_bits(calc)) {
		message("%s: a filter of counters cannot be asked that: it is about bits",
			message_input_name(calc->file));
		return false;
	}
	if (needs_one && (!file->single || !(file->distinct >= 0.5 && isfinite(file->distinct)))) {
		message("%s: %s cannot be asked that", message_input_name(calc->file),
			!file->single         ? "a filter that grows or has a window" :
			file->distinct >= 0.5 ? "a filter whose every bit is set" :
						"an empty filter");
		return false;
	}
	answer->filter = file->now;
	answer->has_filter = answer->has_file = true;
	answer->p = calc->until > 0 ? calc->until : file->p;
	plan_file_report(&answer->main, file, answer->p);
	return ask_case(calc, answer) &&
	       (calc->simulate == 0 || simulate_existing(calc, existing, answer)) &&
	       print_answer(calc, answer);
}

static bool run_file(const struct calc *calc, struct answer *answer)
{
	struct sketch_file *file = open_sketch(calc->file, SKETCH_READ);
	struct existing existing = { NULL, NULL };
	struct filter filter = { NULL, NULL };
	bool good;

	if (file == NULL)
		return false;
	system_guard_mapping(calc->file);
	if (sketch_file_kind(file) == SKETCH_KIND_DCSO) {
		existing.dcso = filter_dcso_of_file(calc->file, file);
		good = existing.dcso != NULL;
	} else {
		good = filter_of_file(&filter, calc->file, file);
		existing.bloom = filter.bloom;
	}
	if (filter.cuckoo != NULL) {
		message("%s: is a cuckoo filter: sketch-info tells how full it is, and its rate",
			message_input_name(calc->file));
		good = false;
	}
	good = good && ask_file(calc, &existing, answer);
	filter_free(&filter);
	sketch_dcso_free(existing.dcso);
	system_guard_mapping(NULL);
	return good;
}

static bool run_calc(const struct calc *calc)
{
	static struct answer answer;

	if (calc->file != NULL)
		return run_file(calc, &answer);
	if (calc->counts.cms || calc->counts.hll)
		return plan_counts_report(&calc->counts, &answer.main) &&
		       print_answer(calc, &answer);
	if (calc->plan.kind == SKETCH_KIND_CUCKOO)
		return plan_cuckoo_report(&calc->plan, CUCKOO_RATE, &answer.main) &&
		       print_answer(calc, &answer);
	return run_case(calc, &answer);
}

int main(int argc, char **argv)
{
	struct calc calc = { .plan = PLAN_OPTIONS_NONE };
	int status;

	system_begin();
	message_begin("fpr-calc");
	if (parse_args(&calc, argc, argv, &status))
		status = run_calc(&calc) ? 0 : 2;
	return system_end(status);
}
