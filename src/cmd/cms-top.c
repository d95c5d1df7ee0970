/* cms-top - the heaviest keys of a stream, or of saved sketches */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chart.h"
#include "counts_options.h"
#include "duration.h"
#include "json.h"
#include "live.h"
#include "message.h"
#include "number.h"
#include "option.h"
#include "output.h"
#include "parallel.h"
#include "records.h"
#include "rows.h"
#include "sheet.h"
#include "system.h"

enum { OPTION_JSON = 300, OPTION_PAD, OPTION_MIN_SHARE, OPTION_WATCH };

#define TOP_KEYS 10
#define TOP_TRACKED 1000 /* at the least, and four times -k */

#define SECOND UINT64_C(1000000000)
#define WATCH_USUAL SECOND
#define WATCH_LEAST (SECOND / 10)
#define WATCH_MOST (86400 * SECOND)
#define WATCH_FIRST (SECOND / 10) /* an input that ends before is not worth a screen */

struct top {
	struct counts_options counts;
	struct record_options records;
	struct parallel_options parallel;
	uint64_t k;
	double min_share;
	bool json, pad;
	uint64_t watch;  /* nanoseconds; 0: not at all */
	bool watch_bare; /* without a number of seconds */
	struct operands inputs;
};

/* --------------------------------------------------------------- command line */

static const struct option_spec top_specs[] = {
	{ 'k', "keys", "K", "print the K heaviest keys [10]" },
	{ OPTION_MIN_SHARE, "min-share", "SHARE", "only keys with this share of the total (1%)" },
	{ 'n', NULL, NULL, NULL }, /* as head has it: for a hint */
	{ OPTION_JSON, "json", NULL, "print one JSON object a line" },
	{ OPTION_PAD, "pad", NULL, "print the counts as uniq -c does" },
	{ OPTION_WATCH, "watch", "[=SECONDS]", "show the list each second [1] while it is made" },
};

static bool take_option(void *context, int letter, const char *value)
{
	struct top *top = context;
	struct number_error error;

	switch (letter) {
	case 'n':
		option_complain("unknown option '-n' (did you mean '-k'?)");
		return false;
	case OPTION_JSON:
		top->json = true;
		return true;
	case OPTION_PAD:
		top->pad = true;
		return true;
	case OPTION_WATCH:
		top->watch = WATCH_USUAL;
		top->watch_bare = value == NULL;
		if (value == NULL ||
		    number_seconds(value, WATCH_LEAST, WATCH_MOST, &top->watch, &error))
			return true;
		message("--watch: %s", error.text);
		return false;
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

static const struct option_values values[] = {
	COUNTS_OPTION_VALUES,
	{ NULL, NULL },
};

static const char *const examples[] = {
	"cms-top -k 20 < app.log; cms-top -Qf 6 access.log",
	"tail -F access.log | cms-top -Qf 6 --window=5min --watch",
	"tail -F access.log | cms-top -f 1 --window=5min --watch=2 > blocks",
	"cms-top -Qf 1 -W 8 -o all.cms access.log; cms-top --query all.cms",
	NULL,
};

static const char *const notes[] = {
	"No count is below the truth; --bounds prints between what it surely lies.",
	NULL,
};

/* A number behind --watch that is no file was meant for it. */
static bool check_watch_value(const struct top *top)
{
	struct number_error error;
	uint64_t interval;

	for (size_t i = 0; top->watch_bare && i < top->inputs.count; i++) {
		const char *name = top->inputs.items[i];

		if (access(name, F_OK) == 0 ||
		    !number_seconds(name, WATCH_LEAST, WATCH_MOST, &interval, &error))
			continue;
		option_complain("--watch takes a number only behind =, as in --watch=%s; a file "
				"of this name there is not",
				name);
		return false;
	}
	return true;
}

static bool check_watch(const struct top *top)
{
	const char *why = NULL;

	if (top->watch == 0)
		return true;
	if (!check_watch_value(top))
		return false;
	if (top->counts.queries.count > 0)
		why = "--watch follows inputs, and --query reads none";
	else if (top->k == 0)
		why = "--watch would show nothing of -k 0";
	else if (top->records.progress)
		why = "--watch shows how far it has come: it excludes --progress";
	if (why != NULL)
		option_complain("%s", why);
	return why == NULL;
}

static bool check_options(const struct top *top)
{
	bool asks = top->counts.queries.count > 0;

	if (asks && (top->inputs.count > 0 || record_options_need_records(&top->records))) {
		option_complain("--query takes no inputs and none of their options: the sketch has "
				"been made; for several, repeat --query, or join them with "
				"sketch-merge");
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
	return check_watch(top) && counts_options_check(&top->counts);
}

static bool parse_args(struct top *top, int argc, char **argv, int *status)
{
	const struct option_group groups[] = {
		{ NULL, top_specs, sizeof top_specs / sizeof *top_specs, take_option, top },
		counts_option_group(&top->counts),
		keying_option_group(&top->counts.keying),
		state_option_group(&top->counts.state),
		record_option_group(&top->records),
		parallel_option_group(&top->parallel, NULL),
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
		.values = values,
		.first_operand = OPTION_ANY_FILE,
		.other_operands = OPTION_ANY_FILE,
	};

	if (!option_parse(&tool, argc, argv, &top->inputs, status))
		return false;
	return parallel_refuse(&top->parallel,
			       "which keys are kept depends on the order of the records") &&
	       record_options_check(&top->records, &top->inputs) && check_options(top);
}

/* ------------------------------------------------------------------- printing */

/* The heaviest of a sketch. */
struct table {
	const struct top *top;
	struct output *out;
	struct sketch_heavy *heavy;
	size_t known, count;          /* of them; `count` are to be printed */
	const struct rows_plan *rows; /* for a terminal, else NULL */
	struct sketch_counts_state state;
	uint64_t one;  /* what stands for a count of 1 */
	uint64_t time; /* of a list that is shown meanwhile: when, in seconds; else 0 */
};

static double share_of(const struct table *table, uint64_t count)
{
	return table->state.total == 0 ? 0 : (double)count / (double)table->state.total;
}

static void json_bound(struct json *json, const struct table *table, const char *name,
		       uint64_t count, enum counts_rounding rounding)
{
	char text[COUNTS_TEXT + 1];

	json_digits(json, name, counts_string(text, count, table->one, rounding));
}

static void print_json(const struct table *table, const struct sketch_heavy *one)
{
	struct json json = { table->out, false };

	json_open(&json, NULL);
	if (table->time > 0)
		json_count(&json, "time", table->time);
	json_bound(&json, table, "count", one->bounds.high, COUNTS_NEAREST);
	json_bound(&json, table, "low", one->bounds.low, COUNTS_DOWN);
	json_bound(&json, table, "high", one->bounds.high, COUNTS_UP);
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
	char count[COUNTS_TEXT + 1], low[COUNTS_TEXT + 1], high[COUNTS_TEXT + 1];
	uint64_t part = table->one;

	counts_string(count, one->bounds.high, part, COUNTS_NEAREST);
	if (table->top->pad)
		output_text(table->out, "%7s ", count);
	else if (table->top->counts.bounds)
		output_text(table->out, "%s\t%s\t%s\t", count,
			    counts_string(low, one->bounds.low, part, COUNTS_DOWN),
			    counts_string(high, one->bounds.high, part, COUNTS_UP));
	else
		output_text(table->out, "%s\t", count);
	print_key(table, one);
}

static void print_row(const struct table *table, size_t i)
{
	const struct sketch_heavy *one = &table->heavy[i];
	struct rows_entry entry;

	if (table->top->json) {
		print_json(table, one);
	} else if (table->rows != NULL) {
		entry = rows_entry_of(one, table->state.total, table->heavy->bounds.high);
		rows_print(table->rows, table->out, i + 1, &entry);
		output_write(table->out, "\n", 1);
	} else {
		print_plain(table, one);
	}
}

/* Fills the table, which is freed by freeing its keys: at least -k of them, if there are as
 * many, or `room`.  False after a message. */
static bool take_table(struct table *table, const struct sketch_counts *counts, size_t room)
{
	size_t k = (size_t)table->top->k;

	room = room > k ? room : k;
	table->heavy = calloc(room + 1, sizeof *table->heavy);
	table->known =
		table->heavy == NULL ? SIZE_MAX : sketch_counts_top(counts, table->heavy, room);
	if (table->known == SIZE_MAX) {
		message("out of memory");
		free(table->heavy);
		return false;
	}
	table->known = table->known < room ? table->known : room;
	sketch_counts_state(counts, &table->state);
	table->one = sketch_counts_one(counts);
	/* What has decayed to nothing is no heavy key. */
	while (table->count < table->known && table->count < k &&
	       table->heavy[table->count].bounds.high > counts_up_to(0, table->one) &&
	       share_of(table, table->heavy[table->count].bounds.high) >= table->top->min_share)
		table->count++;
	return true;
}

/* On a terminal counts that decay are whole numbers, as others are. */
static void make_whole(struct table *table)
{
	uint64_t one = table->one, half = one / 2;

	if (one == 1)
		return;
	for (size_t i = 0; i < table->known; i++) {
		struct sketch_bounds *bounds = &table->heavy[i].bounds;

		bounds->high = bounds->high / one + (bounds->high % one >= half);
		bounds->low /= one;
	}
	table->state.total = table->state.total / one + (table->state.total % one >= half);
	table->state.floor = table->state.floor / one + (table->state.floor % one > 0);
	table->one = 1;
}

/* Whether rows end with a newline whatever ends records. */
static bool is_text(const struct table *table)
{
	return table->top->json || table->rows != NULL || !table->top->records.zero_terminated;
}

/* Above a list on a terminal: as of when a saved sketch is, and, where two numbers stand in
 * front of a key, their names. */
static void print_titles(const struct table *table, const struct sketch_counts *counts)
{
	const struct rows_style *style = &table->rows->style;
	char saved[COUNTS_SAVED_TEXT];

	if (table->top->counts.queries.count > 0 && counts_saved_text(saved, counts)) {
		rows_print_text(table->out, style->unicode, (const uint8_t *)saved, strlen(saved),
				style->columns - 1, false);
		output_write(table->out, "\n", 1);
	}
	if (table->top->counts.bounds) {
		rows_print_heading(table->rows, table->out);
		output_write(table->out, "\n", 1);
	}
}

/* Prints the heaviest of a sketch; the end of a record comes first where there was another
 * such block (*printed).  `time` is as in struct table. */
static bool print_top(const struct top *top, struct output *out, const struct sketch_counts *counts,
		      uint64_t time, bool *printed)
{
	const struct rows_style style = { .columns = chart_columns(out->fd),
					  .unicode = chart_unicode(),
					  .colours = sheet_colours(),
					  .lows = top->counts.bounds };
	struct table table = { .top = top, .out = out, .time = time };
	struct rows_entry first;
	struct rows_plan rows;
	bool for_people = !top->pad && !top->json && isatty(out->fd) == 1;

	if (!take_table(&table, counts, 0))
		return false;
	if (for_people)
		make_whole(&table);
	if (table.count > 0) {
		first = rows_entry_of(table.heavy, table.state.total, table.heavy->bounds.high);
		rows_lay_out(&rows, &style, &first, 1);
		if (for_people)
			table.rows = &rows;
		if (*printed)
			output_write(out, is_text(&table) ? "\n" : "", 1);
		*printed = true;
	}
	if (table.rows != NULL)
		print_titles(&table, counts);
	for (size_t i = 0; i < table.count && !output_failed(out); i++)
		print_row(&table, i);
	free(table.heavy);
	return !output_failed(out);
}

/* -------------------------------------------------------------------- running */

struct run {
	const struct top *top;
	struct counts_target target;
	struct records *records;
	struct output *out;
	struct live *live; /* NULL where no screen is drawn on, or no longer */
	bool screen;       /* one was to be */
	bool printed;      /* a list went out already */
	uint64_t next_show, next_save;
};

static bool save(struct run *run)
{
	return counts_save(&run->target, records_tally(run->records)->records);
}

static bool is_live(const struct top *top)
{
	return top->watch > 0 && !top->json && !top->pad && live_possible(STDOUT_FILENO);
}

/* What the total is of: "last 5min: ", "half-life 10s: ", or "total ". */
static void say_span(char *out, size_t size, const struct sketch_counts *counts)
{
	struct sketch_pane_window window;
	struct sketch_decay decay;
	char text[DURATION_TEXT];

	if (sketch_counts_window(counts, &window))
		snprintf(out, size,
			 "last %s: ", duration_or_records(text, window.unit, window.length));
	else if (sketch_counts_decay(counts, &decay))
		snprintf(out, size,
			 "half-life %s: ", duration_or_records(text, decay.unit, decay.half_life));
	else
		snprintf(out, size, "total ");
}

/* "12,345 records", and the total where it is another number, or of something else. */
static void say_what(char *out, size_t size, const struct run *run, uint64_t total)
{
	uint64_t records = records_tally(run->records)->records;
	char first[32], second[32], span[DURATION_TEXT + 16], more[120] = "";

	if (total != records || counts_forgets(run->target.counts)) {
		say_span(span, sizeof span, run->target.counts);
		snprintf(more, sizeof more, ", %s%s", span, number_grouped(second, total));
	}
	snprintf(out, size, "%s record%s%s", number_grouped(first, records),
		 records == 1 ? "" : "s", more);
}

static void say_state(char *out, size_t size, const struct sketch_counts_state *state)
{
	char keys[32], floor[32];

	number_grouped(keys, state->tracked);
	if (state->exact)
		snprintf(out, size, "%s key%s, every count exact", keys,
			 state->tracked == 1 ? "" : "s");
	else
		snprintf(out, size, "%s keys tracked, floor %s", keys,
			 number_grouped(floor, state->floor));
}

static bool draw(struct run *run, bool timed)
{
	struct table table = { .top = run->top, .out = run->out };
	char what[200], state[100];
	struct live_table shown;

	if (!take_table(&table, run->target.counts, LIVE_KNOWN))
		return false;
	make_whole(&table);
	say_what(what, sizeof what, run, table.state.total);
	say_state(state, sizeof state, &table.state);
	shown = (struct live_table){ table.heavy,
				     table.known,
				     table.count,
				     table.state.exact && table.known == table.state.tracked,
				     table.state.total,
				     what,
				     state };
	/* Of a terminal that has gone a signal tells. */
	(void)live_draw(run->live, &shown, timed);
	free(table.heavy);
	return true;
}

/* Shows the list as it is now; `timed` where it is time to. */
static bool show(struct run *run, bool timed)
{
	counts_advance(&run->target);
	if (run->live != NULL)
		return draw(run, timed);
	return !timed || (print_top(run->top, run->out, run->target.counts,
				    system_wall_clock() / SECOND, &run->printed) &&
			  output_flush(run->out));
}

/* The next time after `last` that is still to come, so that a delay does not add up. */
static uint64_t next_time(uint64_t last, uint64_t interval, uint64_t now)
{
	return last + interval > now ? last + interval : now + interval;
}

/* Shows and saves as often as was asked for. */
static bool tick(void *context)
{
	struct run *run = context;
	uint64_t every = run->top->counts.state.save_every, watch = run->top->watch;
	uint64_t now = system_clock(), next = UINT64_MAX;
	bool show_now = watch > 0 && now >= run->next_show;
	bool save_now = every > 0 && now >= run->next_save;
	bool woken = system_woken();

	if (woken)
		system_sleep();
	if (save_now && !save(run))
		return false;
	if ((show_now || woken) && !show(run, show_now))
		return false;
	now = system_clock();
	if (show_now)
		run->next_show = next_time(run->next_show, watch, now);
	if (save_now)
		run->next_save = next_time(run->next_save, every, now);
	if (watch > 0)
		next = run->next_show;
	if (every > 0 && run->next_save < next)
		next = run->next_save;
	records_tick_after(run->records, next > now ? next - now : 0);
	return true;
}

/* Sets the times for what is to be done while the inputs are read; false after a message. */
static bool begin_ticks(struct run *run)
{
	const struct top *top = run->top;
	uint64_t now = system_clock(), first = top->watch;

	run->next_save = now + top->counts.state.save_every;
	if (top->watch == 0)
		return true;
	system_catch_signals();
	run->screen = is_live(top);
	if (run->screen) {
		run->live = live_open(run->out, top->counts.bounds);
		first = WATCH_FIRST;
	}
	run->next_show = now + first;
	return run->live != NULL || !run->screen;
}

static bool stream(struct run *run)
{
	struct records_batch batch;
	enum records_outcome outcome;

	while ((outcome = records_next(run->records, &batch)) == RECORDS_BATCH_READY) {
		uint64_t before = records_tally(run->records)->records - batch.count;

		counts_advance(&run->target);
		if (!counts_add_batch(run->target.counts, &batch, run->top->counts.weight_field > 0,
				      before, NULL))
			return false;
	}
	/* Saved sketches are shown as they were, others as of now. */
	counts_advance(&run->target);
	return outcome == RECORDS_END;
}

/* Counts the inputs. */
static bool count_inputs(struct run *run)
{
	const struct top *top = run->top;
	const struct sketch_identity *identity = sketch_counts_identity(run->target.counts);
	struct records_setup setup = {
		.options = &top->records,
		.inputs = top->inputs,
		.seed = identity->seed,
		.secret = keying_secret(&top->counts.keying, identity),
		.fold = identity->transforms & SKETCH_FOLD_ASCII,
		.weight_field = top->counts.weight_field,
		.all_needed = top->counts.output != NULL || top->counts.state.path != NULL,
		.tick = top->watch > 0 || top->counts.state.save_every > 0 ? tick : NULL,
		.context = run,
	};
	bool good;

	if (!begin_ticks(run))
		return false;
	run->records = records_open(&setup);
	good = run->records != NULL;
	if (good) {
		counts_forbid(&run->target, run->records);
		good = stream(run);
	}
	live_close(run->live);
	run->live = NULL;
	return good;
}

static bool tracks(const char *name, const struct sketch_counts *counts)
{
	if (sketch_counts_params(counts)->tracked > 0)
		return true;
	message("%s: keeps no keys: ask it for a key with cms-count --query",
		message_input_name(name));
	return false;
}

/* Whether a saved sketch can be shown; for that no key is hashed. */
static bool shows(const struct top *top, const char *name, const struct sketch_counts *counts)
{
	return tracks(name, counts) && keying_agrees(&top->counts.keying, message_input_name(name),
						     sketch_counts_identity(counts));
}

/* Adds up the sketches that are asked. */
static bool add_queries(struct run *run)
{
	const struct words *names = &run->top->counts.queries;
	struct sketch_counts *whole = counts_open(names->items[0]);

	run->target.counts = whole;
	if (whole == NULL || !shows(run->top, names->items[0], whole))
		return false;
	for (size_t i = 1; i < names->count; i++) {
		struct sketch_counts *part =
			counts_named_twice(names->items, i) ? NULL : counts_open(names->items[i]);
		struct sketch_error error;
		bool good = part != NULL && shows(run->top, names->items[i], part);

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

/* Prints the list at the end.  Where the terminal hung up nobody sees it any more, and what
 * was counted is to be saved all the same. */
static bool print_last(struct run *run)
{
	return (print_top(run->top, run->out, run->target.counts, 0, &run->printed) &&
		output_flush(run->out)) ||
	       (run->screen && system_signal() == SIGHUP);
}

static int run_top(const struct top *top)
{
	struct run run = { .top = top, .out = output_open(STDOUT_FILENO, "standard output") };
	/* Printed first: what could not be printed is counted again by the next run. */
	bool good = run.out != NULL && prepare(&run) && print_last(&run) &&
		    (run.records == NULL || save(&run));
	bool trouble = run.records != NULL && records_trouble(run.records);

	if (good && run.records != NULL)
		records_warn_no_key(run.records);
	if (good && top->records.stats) {
		if (run.records != NULL)
			records_print_tally(run.records);
		if (top->counts.queries.count > 0)
			counts_print_saved(run.target.counts);
		else
			counts_print_state(run.target.counts);
	}
	records_close(run.records);
	if (run.out != NULL)
		good = output_close(run.out) && good;
	counts_end(&run.target);
	return good && !trouble ? 0 : 2;
}

int main(int argc, char **argv)
{
	struct top top = { .k = TOP_KEYS, .records = RECORD_OPTIONS_NONE };
	int status;

	system_begin();
	message_begin("cms-top");
	if (parse_args(&top, argc, argv, &status))
		status = keying_read(&top.counts.keying, top.counts.output) ? run_top(&top) : 2;
	keying_end(&top.counts.keying);
	free(top.counts.queries.items);
	return system_end(status);
}
