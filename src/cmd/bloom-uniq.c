/* bloom-uniq - pass on each record the first time its key is seen */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter.h"
#include "loss.h"
#include "message.h"
#include "open.h"
#include "option.h"
#include "output.h"
#include "parallel.h"
#include "pass.h"
#include "plan_options.h"
#include "records.h"
#include "span.h"
#include "state.h"
#include "system.h"

enum { OPTION_STATE = 300, OPTION_DUPLICATES, OPTION_WINDOW, OPTION_SINCE_FIRST };

/* A false positive loses a line here, so the rate is low where none is asked for. */
#define UNIQ_RATE 1e-6

struct uniq {
	struct plan_options plan;
	struct state_options state;
	struct record_options records;
	struct parallel_options parallel;
	const char *duplicates;
	bool has_window, since_first;
	struct sketch_window window; /* unit and span */
	struct operands inputs;
};

/* ------------------------------------------------------------- command line */

static const struct option_spec uniq_specs[] = {
	{ OPTION_STATE, "state", "FILE", "remember across runs in FILE; make it if absent" },
	{ OPTION_DUPLICATES, "duplicates", "FILE", "write the records held back to FILE" },
	{ OPTION_WINDOW, "window", "N|DURATION",
	  "forget a key after one to two windows (1M; 24h)" },
	{ OPTION_SINCE_FIRST, "since-first", NULL,
	  "a window begins with the first sighting of a key" },
};

static bool take_window(struct uniq *uniq, const char *value)
{
	struct span span;

	if (!span_parse("--window", value, &span))
		return false;
	uniq->has_window = true;
	uniq->window.unit = span.unit;
	uniq->window.span = span.length;
	return true;
}

static bool take_option(void *context, int letter, const char *value)
{
	struct uniq *uniq = context;

	switch (letter) {
	case OPTION_STATE:
		uniq->state.path = value;
		break;
	case OPTION_DUPLICATES:
		uniq->duplicates = value;
		break;
	case OPTION_SINCE_FIRST:
		uniq->since_first = true;
		break;
	case OPTION_WINDOW:
		return take_window(uniq, value);
	}
	return true;
}

static const struct option_values values[] = {
	{ "state", "*.bloom" },
	PLAN_OPTION_VALUES,
	{ NULL, NULL },
};

static const char *const examples[] = {
	"journalctl -f -o cat | bloom-uniq",
	"bloom-uniq --state seen.bloom < today.log > new.log",
	"bloom-uniq -f 7 access.log",
	"bloom-uniq -n 100k --window 1h --since-first < alerts",
	NULL,
};

static const char *const notes[] = {
	"Unless -p says else the rate is 1e-6: of a million new records one is lost.",
	"Without -n and -m the memory grows with the number of distinct keys.",
	NULL,
};

/* What the options say together. */
static bool check_options(const struct uniq *uniq)
{
	bool by_time = uniq->window.unit == SKETCH_WINDOW_NANOSECONDS;

	if (uniq->duplicates != NULL && strcmp(uniq->duplicates, "-") == 0) {
		option_complain("--duplicates needs a file: standard output has the others");
		return false;
	}
	if (uniq->since_first && !uniq->has_window && uniq->state.path == NULL) {
		option_complain("--since-first needs --window");
		return false;
	}
	if (uniq->has_window && by_time && uniq->plan.request.n == 0 && uniq->state.path == NULL) {
		option_complain("--window by time needs --keys: the most keys in one window");
		return false;
	}
	return keying_check(&uniq->plan.keying, uniq->plan.has_seed) &&
	       state_options_check(&uniq->state, "--state");
}

static bool parse_args(struct uniq *uniq, int argc, char **argv, int *status)
{
	const struct option_group groups[] = {
		{ NULL, uniq_specs, sizeof uniq_specs / sizeof *uniq_specs, take_option, uniq },
		state_option_group(&uniq->state),
		plan_option_group(&uniq->plan),
		keying_option_group(&uniq->plan.keying),
		record_option_group(&uniq->records),
		parallel_option_group(&uniq->parallel, NULL),
		{ 0 },
	};
	const struct option_tool tool = {
		.name = "bloom-uniq",
		.synopsis = "[OPTION]... [INPUT]...\n"
			    "--state FILE [OPTION]... [INPUT]...",
		.purpose = "Pass on each record the first time its key is seen.",
		.examples = examples,
		.notes = notes,
		.groups = groups,
		.values = values,
		.first_operand = OPTION_ANY_FILE,
		.other_operands = OPTION_ANY_FILE,
	};

	if (!option_parse(&tool, argc, argv, &uniq->inputs, status))
		return false;
	return parallel_refuse(&uniq->parallel,
			       "whether a record is new depends on all records before it") &&
	       record_options_check(&uniq->records, &uniq->inputs) && check_options(uniq);
}

/* --------------------------------------------------------------- under way */

struct run {
	const struct uniq *uniq;
	struct filter_state kept; /* its state is NULL but for --state */
	struct records *records;
	struct touch touch;
	struct output *out, *held_out; /* standard output; --duplicates */
	uint64_t passed, held;

	/* Windows by time: the monotonic clock at landmark + 0, so that a clock that
	 * is set does not matter within a run. */
	uint64_t epoch;

	/* For the summary: where the filter was when the present stretch began. */
	size_t layers_before;
	double keys_before, expected_loss;
	uint64_t passed_before;
	bool past_capacity; /* of a generation */
	double worst_rate;
};

static bool in_window(const struct run *run)
{
	return sketch_bloom_identity(run->kept.filter.bloom)->arrangement == SKETCH_WINDOW;
}

static uint8_t terminator(const struct run *run)
{
	return run->uniq->records.zero_terminated ? '\0' : '\n';
}

/* ------------------------------------------------------------------ windows */

/* The file knows the wall clock; from here on the monotonic clock counts.  A wall
 * clock that went back since stands still until it catches up. */
static void start_clock(struct run *run)
{
	struct sketch_window window;
	uint64_t now = system_wall_clock(), clock = system_clock(), elapsed;

	if (!sketch_window_get(run->kept.filter.bloom, &window) ||
	    window.unit != SKETCH_WINDOW_NANOSECONDS)
		return;
	elapsed = now - (uint64_t)window.landmark;
	if ((int64_t)elapsed < 0 || elapsed < window.stamp * window.span) {
		/* A clock that was right now and then was ahead, or is behind. */
		if (window.stamp * window.span - elapsed > window.span)
			message("%s: warning: was saved later than now by the clock; nothing is "
				"forgotten until then",
				run->uniq->state.path);
		elapsed = window.stamp * window.span;
	}
	/* May wrap around; only differences are used. */
	run->epoch = clock - elapsed;
}

/* Adds what was lost in the generation that ends, and looks whether it held more
 * keys than it was made for. */
static void close_generation(struct run *run)
{
	size_t last = sketch_bloom_layers(run->kept.filter.bloom) - 1;
	uint64_t n = sketch_bloom_params(run->kept.filter.bloom, last)->n;
	struct sketch_bloom_state state;
	struct sketch_window window;
	double keys;

	if (!sketch_window_get(run->kept.filter.bloom, &window))
		return;
	if (run->uniq->records.stats) {
		keys = loss_keys(run->kept.filter.bloom, last);
		run->expected_loss +=
			(double)(run->passed - run->passed_before) *
			loss_per_pass(run->kept.filter.bloom, last, run->keys_before, keys);
	}
	run->keys_before = 0;
	run->passed_before = run->passed;
	if (window.records > n &&
	    sketch_bloom_state(run->kept.filter.bloom, last, &state, NULL) == SKETCH_OK &&
	    state.past_capacity) {
		run->past_capacity = true;
		if (state.rate > run->worst_rate)
			run->worst_rate = state.rate;
	}
}

static void advance(struct run *run, uint64_t stamp)
{
	struct sketch_window window;

	if (!sketch_window_get(run->kept.filter.bloom, &window) || stamp <= window.stamp)
		return;
	close_generation(run);
	sketch_window_advance(run->kept.filter.bloom, stamp);
}

/* Keys of one batch: cut where a generation of records ends. */
static void insert_in_window(struct run *run, const struct sketch_hash *hashes, size_t count,
			     uint64_t found[PASS_WORDS])
{
	bool refresh = !run->uniq->since_first;
	struct sketch_window window;

	(void)sketch_window_get(run->kept.filter.bloom, &window);
	if (window.unit == SKETCH_WINDOW_NANOSECONDS) {
		advance(run, (system_clock() - run->epoch) / window.span);
		sketch_window_insert(run->kept.filter.bloom, hashes, count, refresh, found);
		return;
	}
	for (size_t done = 0; done < count;) {
		uint64_t piece[PASS_WORDS], room = window.span - window.records;
		size_t size = count - done < room ? count - done : (size_t)room;

		if (size == 0) {
			advance(run, window.stamp + 1);
		} else {
			sketch_window_insert(run->kept.filter.bloom, hashes + done, size, refresh,
					     piece);
			for (size_t i = 0; i < size; i++)
				found[(done + i) / 64] |= (piece[i / 64] >> i % 64 & 1)
							  << (done + i) % 64;
			done += size;
		}
		(void)sketch_window_get(run->kept.filter.bloom, &window);
	}
}

/* ------------------------------------------------------------------ a batch */

/* Tests and adds keys, in order. */
static bool insert(struct run *run, const struct sketch_hash *hashes, size_t count,
		   uint64_t found[PASS_WORDS])
{
	struct sketch_error error;

	touch_filter(&run->touch, run->kept.filter.bloom, true);
	if (in_window(run)) {
		insert_in_window(run, hashes, count, found);
		return true;
	}
	if (sketch_bloom_insert(run->kept.filter.bloom, hashes, count, found, &error) == SKETCH_OK)
		return true;
	message("the filter %s", error.text);
	return false;
}

/* Which records of a batch were seen before; those without a key never were. */
static bool seen_before(struct run *run, struct records_batch *batch, uint64_t seen[PASS_WORDS])
{
	uint64_t present[PASS_WORDS], found[PASS_WORDS] = { 0 };
	uint8_t places[RECORDS_BATCH];
	size_t kept = 0;

	pass_present(batch, present);
	if (memcmp(present, batch->keyed, sizeof present) == 0)
		return insert(run, batch->hashes, batch->count, seen);
	for (size_t i = 0; i < batch->count; i++) {
		batch->hashes[kept] = batch->hashes[i];
		places[kept] = (uint8_t)i;
		kept += batch->keyed[i / 64] >> i % 64 & 1;
	}
	if (!insert(run, batch->hashes, kept, found))
		return false;
	for (size_t i = 0; i < kept; i++)
		seen[places[i] / 64] |= (found[i / 64] >> i % 64 & 1) << places[i] % 64;
	return true;
}

static bool take_batch(struct run *run, struct records_batch *batch)
{
	uint64_t seen[PASS_WORDS] = { 0 }, fresh[PASS_WORDS];

	if (!seen_before(run, batch, seen))
		return false;
	pass_present(batch, fresh);
	for (size_t w = 0; w < PASS_WORDS; w++) {
		fresh[w] &= ~seen[w];
		run->passed += (uint64_t)__builtin_popcountll(fresh[w]);
		run->held += (uint64_t)__builtin_popcountll(seen[w]);
	}
	if (run->held_out != NULL && !pass_selected(run->held_out, batch, seen, terminator(run)))
		return false;
	return pass_selected(run->out, batch, fresh, terminator(run));
}

/* ------------------------------------------------------------------- output */

static bool flush(void *context)
{
	const struct run *run = context;

	return output_flush(run->out) && (run->held_out == NULL || output_flush(run->held_out));
}

/* What was not passed on must not be remembered: so first the records, then the
 * state. */
static bool save(void *context)
{
	struct run *run = context;

	if (!flush(run))
		return false;
	return run->kept.state == NULL ||
	       filter_save(&run->kept, records_tally(run->records)->records);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What else the file is: an output or the state, which it must not write over; else
 * NULL. */
static const char *is_output(const struct run *run, const struct stat *file)
{
	struct stat st;

	if (run->kept.state != NULL && state_stat(run->kept.state, &st) && is_same(&st, file))
		return "the state";
	if (fstat(STDOUT_FILENO, &st) == 0 && is_same(&st, file))
		return "standard output";
	return NULL;
}

/* Whether a name among the inputs is the file. */
static bool is_input(const struct uniq *uniq, const struct stat *file)
{
	struct stat st;

	if (uniq->inputs.count == 0 && uniq->records.files0_from == NULL)
		return open_stat("-", &st) && is_same(&st, file);
	for (size_t i = 0; i < uniq->inputs.count; i++) {
		if (open_stat(uniq->inputs.items[i], &st) && is_same(&st, file))
			return true;
	}
	return false;
}

/* Opens the file for duplicates, which is emptied only once it is known to be none
 * of the inputs; of a list of inputs that cannot be known in advance. */
static bool open_duplicates(struct run *run, struct stat *st)
{
	const struct uniq *uniq = run->uniq;
	const char *name = uniq->duplicates;
	int fd = open(name, O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC, 0666);

	if (fd < 0 || fstat(fd, st) != 0) {
		message_errno(name, errno);
	} else if (S_ISREG(st->st_mode) && is_input(uniq, st)) {
		message("%s: is an input, too", name);
	} else if (S_ISREG(st->st_mode) && is_output(run, st) != NULL) {
		message("%s: is %s, too", name, is_output(run, st));
	} else if (S_ISREG(st->st_mode) && st->st_size > 0 && uniq->records.files0_from != NULL) {
		message("%s: must be empty or absent where --files0-from names the inputs", name);
	} else if (S_ISREG(st->st_mode) && ftruncate(fd, 0) != 0) {
		message_errno(name, errno);
	} else {
		run->held_out = output_open(fd, name);
		return run->held_out != NULL;
	}
	if (fd >= 0)
		close(fd);
	return false;
}

/* ------------------------------------------------------------------ running */

/* Whether the window asked for is another than that of the file. */
static bool contradicts_window(const struct uniq *uniq, const struct sketch_bloom *filter)
{
	struct sketch_window window;
	bool has = sketch_window_get(filter, &window);
	struct span of_file = { 0 };

	if (!uniq->has_window)
		return false;
	if (has && window.unit == uniq->window.unit && window.span == uniq->window.span)
		return false;
	if (has)
		of_file = (struct span){ window.unit, window.span };
	return span_differs(uniq->state.path, "window", &of_file,
			    &(struct span){ uniq->window.unit, uniq->window.span });
}

/* Nothing is ever taken out here, so what can be is only larger. */
static bool check_kind(const struct run *run)
{
	const struct filter *filter = &run->kept.filter;

	if (filter_is_none(filter) || !filter_can_remove(filter))
		return true;
	message("%s: is a %s, which bloom-build --append adds to and bloom-query asks; bloom-uniq "
		"takes no key out, and a plain Bloom filter is smaller",
		run->uniq->state.path, filter_kind_name(filter));
	return false;
}

static struct sketch_bloom *make_filter(const struct uniq *uniq)
{
	struct sketch_window window = uniq->window;
	bool by_records = window.unit == SKETCH_WINDOW_RECORDS;

	if (!uniq->has_window)
		return plan_make_filter(&uniq->plan, UNIQ_RATE, uniq->records.fold);
	if (!by_records && uniq->plan.request.n == 0) {
		option_complain("--window by time needs --keys: the most keys in one window");
		return NULL;
	}
	/* The first generation, whose stamp is 1, begins now. */
	if (!by_records)
		window.landmark = (int64_t)(system_wall_clock() - window.span);
	return plan_make_window(&uniq->plan, UNIQ_RATE, uniq->records.fold, &window,
				by_records ? window.span : 0);
}

static bool prepare(struct run *run)
{
	const struct uniq *uniq = run->uniq;

	if (uniq->state.path != NULL) {
		system_catch_signals();
		if (!filter_claim(&run->kept, &uniq->state) || !check_kind(run))
			return false;
		if (run->kept.filter.bloom != NULL &&
		    (plan_contradicts(&uniq->plan, uniq->records.fold, uniq->state.path,
				      run->kept.filter.bloom) ||
		     contradicts_window(uniq, run->kept.filter.bloom)))
			return false;
	}
	if (run->kept.filter.bloom == NULL)
		run->kept.filter.bloom = make_filter(uniq);
	if (run->kept.filter.bloom == NULL)
		return false;
	if (uniq->since_first && !in_window(run)) {
		option_complain("--since-first needs --window");
		return false;
	}
	start_clock(run);
	run->layers_before = sketch_bloom_layers(run->kept.filter.bloom);
	if (run->kept.state != NULL)
		run->keys_before = loss_keys(run->kept.filter.bloom, run->layers_before - 1);
	return true;
}

static bool open_streams(struct run *run)
{
	const struct uniq *uniq = run->uniq;
	const struct sketch_identity *identity = sketch_bloom_identity(run->kept.filter.bloom);
	struct records_setup setup = {
		.options = &uniq->records,
		.inputs = uniq->inputs,
		.seed = identity->seed,
		.secret = keying_secret(&uniq->plan.keying, identity),
		.fold = identity->transforms & SKETCH_FOLD_ASCII,
		.idle = flush,
		.tick = uniq->state.save_every > 0 ? save : NULL,
		.interval = uniq->state.save_every,
		.context = run,
		.touch = &run->touch,
	};
	struct stat out, duplicates, state;

	run->out = output_open(STDOUT_FILENO, "standard output");
	if (run->out == NULL || (uniq->duplicates != NULL && !open_duplicates(run, &duplicates)))
		return false;
	run->records = records_open(&setup);
	if (run->records == NULL)
		return false;
	if (fstat(STDOUT_FILENO, &out) == 0)
		records_forbid(run->records, &out);
	if (uniq->duplicates != NULL)
		records_forbid(run->records, &duplicates);
	if (run->kept.state != NULL && state_stat(run->kept.state, &state))
		records_forbid(run->records, &state);
	return true;
}

static bool stream(struct run *run)
{
	struct records_batch batch;
	enum records_outcome outcome;

	while ((outcome = records_next(run->records, &batch)) == RECORDS_BATCH_READY) {
		if (!take_batch(run, &batch))
			return false;
	}
	return outcome == RECORDS_END;
}

static void print_stats(struct run *run)
{
	if (!in_window(run))
		run->expected_loss = loss_since(run->kept.filter.bloom, run->layers_before,
						run->keys_before, (double)run->passed);
	records_print_tally(run->records);
	message("%" PRIu64 " passed, %" PRIu64 " held back, of these %.3g expected to be wrongly",
		run->passed, run->held, run->expected_loss);
	filter_print_state(&run->kept.filter);
}

static void report(struct run *run)
{
	char rate[32];

	if (in_window(run))
		close_generation(run);
	records_warn_no_key(run->records);
	/* What is not kept was not told yet how much it read. */
	if (run->kept.state == NULL)
		sketch_bloom_set_records(run->kept.filter.bloom,
					 records_tally(run->records)->records);
	if (run->past_capacity)
		message("warning: a window held more than the %" PRIu64
			" keys it was made for; false positives were up to %s",
			sketch_bloom_params(run->kept.filter.bloom, 0)->n,
			filter_print_rate(rate, run->worst_rate));
	else
		filter_warn_past_capacity(run->uniq->state.path, &run->kept.filter);
	if (run->uniq->records.stats)
		print_stats(run);
}

static int run_uniq(const struct uniq *uniq)
{
	struct run run = { .uniq = uniq };
	bool good = prepare(&run) && open_streams(&run) && stream(&run) && save(&run);
	bool trouble = run.records != NULL && records_trouble(run.records);

	if (good)
		report(&run);
	records_close(run.records);
	if (run.held_out != NULL)
		good = output_close(run.held_out) && good;
	if (run.out != NULL)
		good = output_close(run.out) && good;
	state_close(run.kept.state);
	filter_free(&run.kept.filter);
	return good && !trouble ? 0 : 2;
}

int main(int argc, char **argv)
{
	struct uniq uniq = { .plan = PLAN_OPTIONS_NONE, .records = RECORD_OPTIONS_NONE };
	int status;

	system_begin();
	message_begin("bloom-uniq");
	if (parse_args(&uniq, argc, argv, &status))
		status = keying_read(&uniq.plan.keying, uniq.duplicates) ? run_uniq(&uniq) : 2;
	keying_end(&uniq.plan.keying);
	return system_end(status);
}
