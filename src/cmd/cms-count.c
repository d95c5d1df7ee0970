/* cms-count - how often was each record seen so far? */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counts_options.h"
#include "identity.h"
#include "message.h"
#include "number.h"
#include "option.h"
#include "output.h"
#include "parallel.h"
#include "pass.h"
#include "records.h"
#include "system.h"

enum { OPTION_ANNOTATE = 300, OPTION_AT_MOST, OPTION_AT_LEAST, OPTION_PLAIN };

/* Heaviest keys kept beside the table: exact where there are no more in all. */
#define COUNT_TRACKED 1000

struct count {
	struct counts_options counts;
	struct record_options records;
	struct parallel_options parallel;
	bool annotate, has_most, has_least;
	uint64_t at_most, at_least;
	struct words keys; /* -e */
	struct operands inputs;
};

/* --------------------------------------------------------------- command line */

static const struct option_spec count_specs[] = {
	{ OPTION_AT_MOST, "at-most", "N", "pass on a record until its count exceeds N" },
	{ OPTION_AT_LEAST, "at-least", "N", "pass on a record once its count reaches N" },
	{ OPTION_ANNOTATE, "annotate", NULL, "print the count and a tab before each record" },
	{ 'e', "key", "KEY", "with --query: ask for KEY (can be repeated)" },
	{ OPTION_PLAIN, "plain", NULL, "a linear sketch without tracked keys" },
};

static bool take_option(void *context, int letter, const char *value)
{
	struct count *count = context;
	struct number_error error;
	bool most = letter == OPTION_AT_MOST;

	switch (letter) {
	case OPTION_ANNOTATE:
		count->annotate = true;
		return true;
	case OPTION_PLAIN:
		count->counts.plain = true;
		return true;
	case 'e':
		return words_add(&count->keys, value);
	}
	*(most ? &count->has_most : &count->has_least) = true;
	if (number_count(value, 0, UINT64_MAX, most ? &count->at_most : &count->at_least, &error))
		return true;
	message("--%s: %s", most ? "at-most" : "at-least", error.text);
	return false;
}

static const struct option_values values[] = {
	COUNTS_OPTION_VALUES,
	{ NULL, NULL },
};

static const char *const examples[] = {
	"cms-count < app.log",
	"tail -F app.log | cms-count --at-most 5 --window=1min",
	"cms-count -o day.cms < app.log; cms-count --query day.cms -e 'disk full'",
	NULL,
};

static const char *const notes[] = {
	"No count is below the truth.  --at-most with --window or --decay is a throttle.",
	NULL,
};

/* Only sums of plain sketches do not depend on which thread took which record. */
static bool check_threads(const struct count *count)
{
	const char *why = NULL;

	if (count->parallel.threads == 1)
		return true;
	if (count->counts.queries.count > 0)
		why = "--threads excludes --query";
	else if (count->annotate || count->has_most || count->has_least)
		why = "--threads: a running count depends on all records before it; "
		      "--plain -o FILE can be shared out";
	else if (!count->counts.plain && count->counts.state.path == NULL)
		why = "--threads needs --plain: conservative counts depend on the order of records";
	else if (count->counts.window.length > 0)
		why = "--threads excludes --window: what is forgotten depends on the order of "
		      "records";
	else if (count->counts.weight_field > 0 || count->counts.state.save_every > 0)
		why = "--threads excludes --weight-field and --save-every";
	if (why != NULL)
		option_complain("%s", why);
	return why == NULL;
}

static bool check_options(struct count *count)
{
	bool asks = count->counts.queries.count > 0;

	if (asks && (count->has_most || count->annotate)) {
		option_complain("--query excludes --at-most and --annotate");
		return false;
	}
	if (asks && (count->counts.plain || count->counts.weight_field > 0)) {
		option_complain("--query excludes --plain and --weight-field");
		return false;
	}
	if (count->has_most && count->has_least && count->at_least > count->at_most) {
		option_complain("--at-least %" PRIu64 " and --at-most %" PRIu64
				": no count is both, and nothing could pass",
				count->at_least, count->at_most);
		return false;
	}
	if (!asks && (count->counts.bounds || count->keys.count > 0)) {
		option_complain("%s needs --query", count->counts.bounds ? "--bounds" : "--key");
		return false;
	}
	/* By default each record gets its count; a sketch that is saved is enough by
	 * itself. */
	if (!count->has_most && !count->has_least && count->counts.output == NULL &&
	    count->counts.state.path == NULL)
		count->annotate = true;
	if (counts_to_stdout(&count->counts) &&
	    (count->annotate || count->has_most || count->has_least || isatty(STDOUT_FILENO))) {
		option_complain("-o -: standard output is taken by records, or is a terminal");
		return false;
	}
	return check_threads(count) && counts_options_check(&count->counts) &&
	       record_options_check_stdin(&count->records, &count->inputs, count->keys.count == 0,
					  &count->counts.queries);
}

static bool parse_args(struct count *count, int argc, char **argv, int *status)
{
	const struct option_group groups[] = {
		{ NULL, count_specs, sizeof count_specs / sizeof *count_specs, take_option, count },
		counts_option_group(&count->counts),
		keying_option_group(&count->counts.keying),
		state_option_group(&count->counts.state),
		record_option_group(&count->records),
		parallel_option_group(&count->parallel, "threads for --plain (0: all processors)"),
		{ 0 },
	};
	const struct option_tool tool = {
		.name = "cms-count",
		.synopsis = "[-o FILE] [OPTION]... [INPUT]...\n"
			    "--query SKETCH [-e KEY]... [OPTION]... [INPUT]...",
		.purpose = "Count the records of a stream in fixed memory.",
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

/* -------------------------------------------------------------------- running */

struct run {
	const struct count *count;
	struct counts_target target;
	struct sketch_counts **asked; /* --query */
	struct output *out;
	struct records *records;
	bool throttles;        /* counts what it passes on */
	uint64_t passed, held; /* then */
};

static uint8_t terminator(const struct run *run)
{
	return run->count->records.zero_terminated ? '\0' : '\n';
}

static bool print_count(struct run *run, uint64_t value, uint64_t one,
			enum counts_rounding rounding)
{
	char text[COUNTS_TEXT + 1];
	size_t length = counts_text(text, value, one, rounding);

	text[length] = '\t';
	return output_write(run->out, text, length + 1);
}

static bool flush(void *context)
{
	const struct run *run = context;

	return output_flush(run->out);
}

static bool save(void *context)
{
	struct run *run = context;

	return flush(run) && counts_save(&run->target, records_tally(run->records)->records);
}

/* Which records of a batch go out; those without a key are not counted, so that no
 * count can hold them back, nor let them pass by reaching one. */
static void select_records(const struct run *run, const struct records_batch *batch,
			   const uint64_t *estimates, uint64_t selected[PASS_WORDS])
{
	const struct count *count = run->count;
	uint64_t one = sketch_counts_one(run->target.counts);
	uint64_t most = counts_up_to(count->at_most, one),
		 least = counts_from(count->at_least, one);

	pass_present(batch, selected);
	for (size_t i = 0; i < batch->count; i++) {
		bool held = (count->has_most && estimates[i] > most) ||
			    (count->has_least && estimates[i] < least);

		selected[i / 64] &= ~((uint64_t)held << i % 64);
	}
}

/* Counts a batch but for what would exceed the most; the others go out. */
static bool throttle(struct run *run, const struct records_batch *batch, uint64_t before,
		     uint64_t *estimates, uint64_t selected[PASS_WORDS])
{
	const struct count *count = run->count;
	uint64_t one = sketch_counts_one(run->target.counts);
	bool admitted[RECORDS_BATCH];

	if (!counts_admit_batch(run->target.counts, batch, count->counts.weight_field > 0, before,
				counts_up_to(count->at_most, one), admitted, estimates))
		return false;
	pass_present(batch, selected);
	for (size_t i = 0; i < batch->count; i++) {
		selected[i / 64] &= ~((uint64_t)!admitted[i] << i % 64);
		run->passed += admitted[i];
		run->held += !admitted[i];
	}
	return true;
}

static bool take_batch(struct run *run, const struct records_batch *batch)
{
	const struct count *count = run->count;
	bool selects = count->has_most || count->has_least;
	uint64_t estimates[RECORDS_BATCH], selected[PASS_WORDS];
	uint64_t before = records_tally(run->records)->records - batch->count;
	uint64_t one = sketch_counts_one(run->target.counts);

	counts_advance(&run->target);
	if (run->throttles) {
		if (!throttle(run, batch, before, count->annotate ? estimates : NULL, selected))
			return false;
	} else if (!counts_add_batch(run->target.counts, batch, count->counts.weight_field > 0,
				     before, selects || count->annotate ? estimates : NULL))
		return false;
	if (!selects && !count->annotate)
		return true;
	if (!run->throttles)
		select_records(run, batch, estimates, selected);
	if (!count->annotate)
		return pass_selected(run->out, batch, selected, terminator(run));
	for (size_t i = 0; i < batch->count; i++) {
		if (selected[i / 64] >> i % 64 & 1 &&
		    (!print_count(run, estimates[i], one, COUNTS_NEAREST) ||
		     !pass_range(run->out, batch, i, i + 1, terminator(run))))
			return false;
	}
	return true;
}

/* --------------------------------------------------------------------- asking */

/* Sketches that forget by time are asked for the same moment: the latest of them. */
static void bring_together(struct run *run)
{
	size_t count = run->count->counts.queries.count;
	uint64_t latest = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t moment = sketch_counts_moment(run->asked[i]);

		latest = moment > latest ? moment : latest;
	}
	for (size_t i = 0; i < count; i++)
		sketch_counts_advance(run->asked[i], latest);
}

/* Whether the sketch may be added to the first: of one seed, and what each has forgotten
 * the same, or their sum would mean nothing.  Of different sizes they may be. */
static bool adds_up(const struct run *run, size_t i)
{
	const struct words *names = &run->count->counts.queries;
	const struct sketch_identity *first = sketch_counts_identity(run->asked[0]);
	const struct sketch_identity *identity = sketch_counts_identity(run->asked[i]);
	struct sketch_error error;

	if (i == 0 ||
	    (identity_compare(first, identity, &error) == SKETCH_OK &&
	     sketch_counts_forget_alike(run->asked[0], run->asked[i], &error) == SKETCH_OK))
		return true;
	message("%s and %s: %s", message_input_name(names->items[0]),
		message_input_name(names->items[i]), error.text);
	return false;
}

static bool open_sketches(struct run *run)
{
	const struct words *names = &run->count->counts.queries;

	run->asked = calloc(names->count, sizeof *run->asked);
	if (run->asked == NULL) {
		message("out of memory");
		return false;
	}
	for (size_t i = 0; i < names->count; i++) {
		if (counts_named_twice(names->items, i))
			return false;
		run->asked[i] = counts_open(names->items[i]);
		if (run->asked[i] == NULL || !adds_up(run, i) ||
		    !keying_fits(&run->count->counts.keying, message_input_name(names->items[i]),
				 sketch_counts_identity(run->asked[i])))
			return false;
	}
	bring_together(run);
	if (run->count->records.fold &&
	    !(sketch_counts_identity(run->asked[0])->transforms & SKETCH_FOLD_ASCII)) {
		message("%s: --ignore-case contradicts the sketch, whose keys were not folded",
			message_input_name(names->items[0]));
		return false;
	}
	return true;
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The sum over the sketches: of bounds that hold the sum holds. */
static bool answer(struct run *run, const uint8_t *data, size_t length, struct sketch_hash hash)
{
	const struct count *count = run->count;
	struct sketch_key key = { data, length, hash, 0 };
	uint64_t low = 0, high = 0, one = sketch_counts_one(run->asked[0]);

	for (size_t i = 0; i < count->counts.queries.count; i++) {
		struct sketch_bounds bounds = sketch_counts_query(run->asked[i], &key);

		low = add_up(low, bounds.low);
		high = add_up(high, bounds.high);
	}
	if (count->has_least && high < counts_from(count->at_least, one))
		return true;
	if (!print_count(run, high, one, COUNTS_NEAREST) ||
	    (count->counts.bounds &&
	     (!print_count(run, low, one, COUNTS_DOWN) || !print_count(run, high, one, COUNTS_UP))))
		return false;
	return output_write(run->out, data, length) &&
	       output_write(run->out, (const uint8_t[]){ terminator(run) }, 1);
}

static bool answer_batch(struct run *run, const struct records_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		if (batch->keyed[i / 64] >> i % 64 & 1 &&
		    !answer(run, batch->keys[i], batch->key_lengths[i], batch->hashes[i]))
			return false;
	}
	return true;
}

static bool answer_words(struct run *run)
{
	const struct sketch_identity *identity = sketch_counts_identity(run->asked[0]);
	const struct sketch_secret *secret = keying_secret(&run->count->counts.keying, identity);
	const struct words *words = &run->count->keys;

	for (size_t i = 0; i < words->count; i++) {
		size_t length = strlen(words->items[i]);
		uint8_t *key = malloc(length + 1);
		bool good = key != NULL;

		if (!good)
			message("out of memory");
		else if (identity->transforms & SKETCH_FOLD_ASCII)
			records_fold(key, (const uint8_t *)words->items[i], length);
		else
			memcpy(key, words->items[i], length);
		good = good && answer(run, key, length,
				      sketch_key_hash(key, length, identity->seed, secret));
		free(key);
		if (!good)
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------ all */

static enum parallel_step add_plain(void *counts, struct records_batch *batch)
{
	return counts_add_batch(counts, batch, false, 0, NULL) ? PARALLEL_ON : PARALLEL_FAILED;
}

static void *counts_like(const void *counts, uint64_t budget, struct sketch_error *error)
{
	struct sketch_counts *made = NULL;

	(void)sketch_counts_new(&made, sketch_counts_identity(counts), sketch_counts_params(counts),
				budget, error);
	return made;
}

static enum sketch_status join_counts(void *into, void *from, struct sketch_error *error)
{
	return sketch_counts_union(into, from, error);
}

static void free_counts(void *counts)
{
	sketch_counts_free(counts);
}

/* Plain counts add up to what one thread would have made, byte for byte. */
static bool share_out(struct run *run)
{
	static const struct parallel_sum shared = { add_plain, counts_like, join_counts,
						    free_counts, NULL };

	return parallel_add_up(run->records, &shared, run->target.counts,
			       (size_t)run->count->parallel.threads);
}

static bool stream(struct run *run, bool asks)
{
	struct records_batch batch;
	enum records_outcome outcome;

	if (run->count->parallel.threads > 1)
		return share_out(run);
	while ((outcome = records_next(run->records, &batch)) == RECORDS_BATCH_READY) {
		if (!(asks ? answer_batch(run, &batch) : take_batch(run, &batch)))
			return false;
	}
	return outcome == RECORDS_END;
}

static bool open_records(struct run *run, bool asks)
{
	const struct count *count = run->count;
	const struct sketch_identity *identity =
		sketch_counts_identity(asks ? run->asked[0] : run->target.counts);
	struct records_setup setup = {
		.options = &count->records,
		.inputs = count->inputs,
		.seed = identity->seed,
		.secret = keying_secret(&count->counts.keying, identity),
		.fold = identity->transforms & SKETCH_FOLD_ASCII,
		.weight_field = count->counts.weight_field,
		.all_needed = count->counts.output != NULL || count->counts.state.path != NULL,
		.absent = asks ? "for a key: -e " : NULL,
		.idle = flush,
		.tick = count->counts.state.save_every > 0 ? save : NULL,
		.interval = count->counts.state.save_every,
		.context = run,
	};
	struct stat out;

	run->records = records_open(&setup);
	if (run->records == NULL)
		return false;
	if (fstat(STDOUT_FILENO, &out) == 0)
		records_forbid(run->records, &out);
	if (!asks)
		counts_forbid(&run->target, run->records);
	return true;
}

/* Where counts are forgotten, --at-most counts what is passed on: else what never stops
 * would be held back for ever. */
static bool begin_throttle(struct run *run)
{
	const struct count *count = run->count;

	run->throttles = count->has_most && counts_forgets(run->target.counts);
	if (!run->throttles || !count->has_least)
		return true;
	option_complain("--at-most counts what is passed on, with --window or --decay, and "
			"excludes --at-least");
	return false;
}

/* Whether the file to be added to is one whose counts do not depend on the order of
 * records. */
static bool can_share_out(const struct run *run)
{
	const struct sketch_counts *counts = run->target.counts;
	const char *why = NULL;

	if (counts_forgets(counts))
		why = "forgets, so its counts depend on the order of records";
	else if (sketch_counts_params(counts)->update != SKETCH_PLAIN)
		why = state_is_new(run->target.state) ?
			      "is made without --plain, so its counts depend on the order of "
			      "records" :
			      "is conservative, so its counts depend on the order of records";
	if (why != NULL)
		message("%s: --threads: %s", run->count->counts.state.path, why);
	return why == NULL;
}

static bool run_all(struct run *run)
{
	const struct count *count = run->count;
	bool asks = count->counts.queries.count > 0;

	if (asks ? !open_sketches(run) :
		   !counts_begin(&run->target, &count->counts, count->records.fold,
				 COUNT_TRACKED) ||
			    !begin_throttle(run))
		return false;
	if (count->parallel.threads > 1 && !can_share_out(run))
		return false;
	run->out = output_open(STDOUT_FILENO, "standard output");
	if (run->out == NULL || (asks && !answer_words(run)))
		return false;
	/* Keys on the command line are all there is to ask, unless inputs are named. */
	if (count->keys.count > 0 && count->inputs.count == 0 && count->records.files0_from == NULL)
		return true;
	return open_records(run, asks) && stream(run, asks) && (asks || save(run));
}

static void report(struct run *run)
{
	if (run->records != NULL)
		records_warn_no_key(run->records);
	if (!run->count->records.stats)
		return;
	if (run->records != NULL)
		records_print_tally(run->records);
	if (run->throttles)
		message("%" PRIu64 " passed on, and these are counted; %" PRIu64 " held back",
			run->passed, run->held);
	if (run->target.counts != NULL)
		counts_print_state(run->target.counts);
	for (size_t i = 0; i < run->count->counts.queries.count; i++)
		counts_print_saved(run->asked[i]);
}

static int run_count(const struct count *count)
{
	struct run run = { .count = count };
	bool good = run_all(&run), trouble = run.records != NULL && records_trouble(run.records);

	if (good)
		report(&run);
	records_close(run.records);
	if (run.out != NULL)
		good = output_close(run.out) && good;
	for (size_t i = 0; run.asked != NULL && i < count->counts.queries.count; i++)
		sketch_counts_free(run.asked[i]);
	free(run.asked);
	counts_end(&run.target);
	return good && !trouble ? 0 : 2;
}

int main(int argc, char **argv)
{
	struct count count = { .records = RECORD_OPTIONS_NONE };
	int status;

	system_begin();
	message_begin("cms-count");
	if (parse_args(&count, argc, argv, &status))
		status = keying_read(&count.counts.keying, count.counts.output) ?
				 run_count(&count) :
				 2;
	keying_end(&count.counts.keying);
	free(count.counts.queries.items);
	free(count.keys.items);
	return system_end(status);
}
