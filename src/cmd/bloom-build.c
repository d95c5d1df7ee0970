/* bloom-build - make a Bloom filter of the records of standard input or files */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter.h"
#include "message.h"
#include "open.h"
#include "option.h"
#include "parallel.h"
#include "plan_options.h"
#include "records.h"
#include "state.h"
#include "system.h"

enum { OPTION_APPEND = 300, OPTION_REMOVE_FROM, OPTION_STRICT };

#define BUILD_RATE 0.01 /* where none is asked for */

struct build {
	struct plan_options plan;
	struct state_options state; /* --append, --remove-from */
	bool appends, removes, strict, outputs;
	struct record_options records;
	struct parallel_options parallel;
	const char *output;
	struct operands inputs;
};

/* ------------------------------------------------------------- command line */

static const struct option_spec build_specs[] = {
	{ 'o', "output", "FILE", "write the filter to FILE, replacing it as a whole" },
	{ OPTION_APPEND, "append", "FILE", "add to the filter in FILE; make it if absent" },
	{ OPTION_REMOVE_FROM, "remove-from", "FILE",
	  "take keys out of the filter in FILE (see --kind)" },
	{ OPTION_STRICT, "strict", NULL, "with --remove-from: all of the keys, or none" },
};

static bool take_option(void *context, int letter, const char *value)
{
	struct build *build = context;

	switch (letter) {
	case OPTION_APPEND:
		build->state.path = value;
		build->appends = true;
		break;
	case OPTION_REMOVE_FROM:
		build->state.path = value;
		build->removes = true;
		break;
	case OPTION_STRICT:
		build->strict = true;
		break;
	case 'o':
		/* "-" is standard output, as without the option. */
		build->output = strcmp(value, "-") == 0 ? NULL : value;
		build->outputs = true;
		break;
	}
	return true;
}

static const struct option_values values[] = {
	{ "append", OPTION_FILTER_FILES },
	{ "remove-from", OPTION_FILTER_FILES },
	PLAN_OPTION_VALUES,
	PLAN_KIND_OPTION_VALUES,
	{ NULL, NULL },
};

static const char *const examples[] = {
	"bloom-build -n 10M -p 0.001 -o users.bloom users.txt",
	"bloom-build -f 1 --append clients.bloom < access.log",
	"bloom-build --kind counting -n 1M -o live.bloom sessions.txt",
	"bloom-build --remove-from live.bloom ended.txt",
	NULL,
};

static const char *const notes[] = {
	"The rate is 1% unless -p says else.  Without -n and -m the filter grows; past",
	"-n nothing is lost, but false positives rise, with a warning.",
	NULL,
};

/* What is wrong with the options together, or NULL. */
static const char *fault_of_options(const struct build *build)
{
	if (build->appends + build->removes + build->outputs > 1)
		return build->removes ? "--remove-from excludes --append and --output" :
					"--append and --output exclude each other";
	if (build->strict && !build->removes)
		return "--strict needs --remove-from";
	/* What was saved in between could not be taken back. */
	if (build->strict && build->state.save_every > 0)
		return "--strict and --save-every exclude each other";
	return NULL;
}

static bool parse_args(struct build *build, int argc, char **argv, int *status)
{
	const struct option_group groups[] = {
		{ NULL, build_specs, sizeof build_specs / sizeof *build_specs, take_option, build },
		state_option_group(&build->state),
		plan_option_group(&build->plan),
		keying_option_group(&build->plan.keying),
		plan_kind_option_group(&build->plan),
		record_option_group(&build->records),
		parallel_option_group(&build->parallel,
				      "threads, with -n or -m (0: all processors)"),
		{ 0 },
	};
	const struct option_tool tool = {
		.name = "bloom-build",
		.synopsis = "[-n N] [-p P] [-o FILE] [OPTION]... [INPUT]...\n"
			    "-m SIZE [-o FILE] [OPTION]... [INPUT]...\n"
			    "--append FILE [OPTION]... [INPUT]...\n"
			    "--remove-from FILE [--strict] [OPTION]... [INPUT]...",
		.purpose = "Make a Bloom filter of the records of standard input or files.",
		.examples = examples,
		.notes = notes,
		.groups = groups,
		.values = values,
		.first_operand = OPTION_ANY_FILE,
		.other_operands = OPTION_ANY_FILE,
	};
	const char *fault;

	if (!option_parse(&tool, argc, argv, &build->inputs, status))
		return false;
	fault = fault_of_options(build);
	if (fault != NULL) {
		option_complain("%s", fault);
		return false;
	}
	if (build->parallel.threads > 1 && build->state.save_every > 0) {
		option_complain("--threads excludes --save-every");
		return false;
	}
	return plan_kind_check(&build->plan) &&
	       keying_check(&build->plan.keying, build->plan.has_seed) &&
	       record_options_check(&build->records, &build->inputs) &&
	       state_options_check(&build->state, build->removes ? "--remove-from" : "--append");
}

/* ------------------------------------------------------------------ running */

/* What is under way. */
struct run {
	const struct build *build;
	struct filter_state kept; /* its state is NULL but for --append, --remove-from */
	struct sketch_save *save; /* --output */
	int fd;
	struct records *records;
	struct touch touch;
	uint64_t changed; /* keys put in or taken out, where copies count */
	uint64_t refused; /* keys not taken out, since they were not there */
};

static size_t keyed_hashes(struct records_batch *batch)
{
	size_t kept = 0;

	for (size_t i = 0; i < batch->count; i++) {
		batch->hashes[kept] = batch->hashes[i];
		kept += batch->keyed[i / 64] >> i % 64 & 1;
	}
	return kept;
}

/* The largest layer of a filter that grows is another one now and then. */
static void follow_growth(struct run *run)
{
	if (run->kept.filter.bloom != NULL)
		touch_filter(&run->touch, run->kept.filter.bloom, true);
}

/* Adds the keys of a batch, or takes them out. */
static enum parallel_step take_batch(void *context, struct records_batch *batch)
{
	struct run *run = context;
	size_t kept = keyed_hashes(batch), removed;
	struct sketch_error error;

	if (run->build->removes) {
		removed = filter_remove(&run->kept.filter, batch->hashes, kept);
		run->changed += removed;
		run->refused += kept - removed;
		return PARALLEL_ON;
	}
	run->changed += kept;
	if (filter_add(&run->kept.filter, batch->hashes, kept, &error) == SKETCH_OK) {
		follow_growth(run);
		return PARALLEL_ON;
	}
	message("the filter %s%s", error.text,
		error.status != SKETCH_FULL || run->kept.state == NULL ? "" :
		run->kept.saved > 0 ? "; the file is as it was saved last" :
				      "; the file is unchanged");
	return PARALLEL_FAILED;
}

/* Of a plain filter the records read; of one that counts copies the keys. */
static uint64_t records_of(const struct run *run)
{
	return filter_can_remove(&run->kept.filter) ? run->changed :
						      records_tally(run->records)->records;
}

static bool save_state(void *context)
{
	struct run *run = context;

	return filter_save(&run->kept, records_of(run));
}

static bool save_output(struct run *run)
{
	if (run->kept.state != NULL)
		return save_state(run);
	filter_set_records(&run->kept.filter, records_of(run));
	return open_target_write(&run->save, run->build->output, run->fd, filter_write,
				 &run->kept.filter);
}

/* "3 of 100 keys were not in the filter", which is an error where none may be. */
static bool check_refused(const struct run *run)
{
	if (run->refused == 0)
		return true;
	message("%s: %s%" PRIu64 " of %" PRIu64 " keys could not be taken out: they were not there"
		"%s",
		run->build->state.path, run->build->strict ? "" : "warning: ", run->refused,
		run->refused + run->changed, run->build->strict ? "; the file is unchanged" : "");
	return !run->build->strict;
}

/* Whether keys can be taken out of the filter, if there is one. */
static bool check_removal(const struct run *run)
{
	const struct filter *filter = &run->kept.filter;
	const char *path = run->build->state.path;

	if (filter_is_none(filter))
		message("%s: there is no filter to take keys out of", path);
	else if (!filter_can_remove(filter))
		message("%s: is a plain Bloom filter, whose bits have many owners: keys can be "
			"taken "
			"out of one made with --kind counting or cuckoo",
			path);
	return !filter_is_none(filter) && filter_can_remove(filter);
}

/* Reads the filter to be added to, or none where it is to be made. */
static bool prepare_state(struct run *run)
{
	const struct build *build = run->build;

	system_catch_signals();
	if (!filter_claim(&run->kept, &build->state))
		return false;
	if (build->removes && !check_removal(run))
		return false;
	if (filter_is_none(&run->kept.filter))
		return true;
	if (filter_identity(&run->kept.filter)->arrangement == SKETCH_WINDOW) {
		message("%s: is a Bloom filter with a window: bloom-uniq --state adds to it",
			build->state.path);
		return false;
	}
	if (run->kept.filter.cuckoo != NULL)
		return !plan_contradicts_cuckoo(&build->plan, build->records.fold,
						build->state.path, run->kept.filter.cuckoo);
	return !plan_contradicts(&build->plan, build->records.fold, build->state.path,
				 run->kept.filter.bloom);
}

static bool make_filter(struct run *run)
{
	const struct build *build = run->build;

	if (build->plan.kind == SKETCH_KIND_CUCKOO)
		run->kept.filter.cuckoo =
			plan_make_cuckoo(&build->plan, BUILD_RATE, build->records.fold);
	else
		run->kept.filter.bloom =
			plan_make_filter(&build->plan, BUILD_RATE, build->records.fold);
	return !filter_is_none(&run->kept.filter);
}

static bool may_share(const struct build *build, const struct filter *filter)
{
	if (build->parallel.threads == 1 ||
	    (!filter_can_remove(filter) && filter_identity(filter)->arrangement == SKETCH_SINGLE))
		return true;
	if (filter_can_remove(filter))
		option_complain("--threads is for plain Bloom filters: a %s takes its keys one "
				"after another",
				filter_kind_name(filter));
	else if (build->state.path != NULL)
		message("%s: --threads: the filter grows with its keys, one after another",
			build->state.path);
	else
		option_complain("--threads needs -n or -m: a filter that grows takes its keys "
				"one after another");
	return false;
}

/* Makes or reads the filter, and opens the place it goes to. */
static bool prepare(struct run *run)
{
	const struct build *build = run->build;

	if (build->state.path != NULL && !prepare_state(run))
		return false;
	if (build->state.path == NULL && build->output == NULL && isatty(STDOUT_FILENO)) {
		option_complain("a filter is binary and standard output is a terminal: "
				"use -o FILE, or a pipe");
		return false;
	}
	if (filter_is_none(&run->kept.filter) && !make_filter(run))
		return false;
	if (!may_share(build, &run->kept.filter))
		return false;
	return build->output == NULL || open_target(&run->save, build->output, &run->fd);
}

/* The file that is being made, which no input may be. */
static bool stat_target(const struct run *run, struct stat *st)
{
	if (run->kept.state != NULL)
		return state_stat(run->kept.state, st);
	return run->build->output != NULL ? stat(run->build->output, st) == 0 :
					    fstat(STDOUT_FILENO, st) == 0;
}

static bool open_records(struct run *run)
{
	const struct build *build = run->build;
	const struct sketch_identity *identity = filter_identity(&run->kept.filter);
	struct records_setup setup = {
		.options = &build->records,
		.inputs = build->inputs,
		.seed = identity->seed,
		.secret = keying_secret(&build->plan.keying, identity),
		.fold = identity->transforms & SKETCH_FOLD_ASCII,
		.all_needed = true,
		.tick = build->state.save_every > 0 ? save_state : NULL,
		.interval = build->state.save_every,
		.context = run,
		.touch = &run->touch,
	};
	struct stat target;

	run->records = records_open(&setup);
	if (run->records == NULL)
		return false;
	if (stat_target(run, &target))
		records_forbid(run->records, &target);
	return true;
}

static enum parallel_step add_alone(void *filter, struct records_batch *batch)
{
	sketch_bloom_add(filter, batch->hashes, keyed_hashes(batch));
	return PARALLEL_ON;
}

static void *filter_like(const void *filter, uint64_t budget, struct sketch_error *error)
{
	struct sketch_bloom *made = NULL;

	(void)sketch_bloom_new(&made, sketch_bloom_identity(filter), sketch_bloom_params(filter, 0),
			       1, budget, error);
	return made;
}

static enum sketch_status join_filters(void *into, void *from, struct sketch_error *error)
{
	return sketch_bloom_union(into, from, error);
}

static void free_filter(void *filter)
{
	sketch_bloom_free(filter);
}

static void touch_added(struct touch *touch, const void *filter)
{
	touch_filter(touch, filter, true);
}

/* The union of filters is what one thread would have made, byte for byte. */
static bool stream(struct run *run)
{
	static const struct parallel_sum shared = { add_alone, filter_like, join_filters,
						    free_filter, touch_added };
	const struct parallel_worker alone = { .batch = take_batch, .context = run };
	size_t threads = (size_t)run->build->parallel.threads;

	follow_growth(run);
	return threads > 1 ?
		       parallel_add_up(run->records, &shared, run->kept.filter.bloom, threads) :
		       parallel_stream(run->records, &alone, 1);
}

static void report(struct run *run)
{
	const struct build *build = run->build;

	records_warn_no_key(run->records);
	filter_warn_past_capacity(build->state.path != NULL ? build->state.path : build->output,
				  &run->kept.filter);
	if (build->records.stats) {
		records_print_tally(run->records);
		if (build->removes)
			message("%" PRIu64 " keys taken out", run->changed);
		filter_print_state(&run->kept.filter);
	}
}

static bool run_build(const struct build *build)
{
	struct run run = { .build = build, .kept.removes = build->removes };
	bool good = prepare(&run) && open_records(&run) && stream(&run) && check_refused(&run) &&
		    save_output(&run);

	if (good)
		report(&run);
	records_close(run.records);
	sketch_save_abort(run.save);
	state_close(run.kept.state);
	filter_free(&run.kept.filter);
	return good;
}

int main(int argc, char **argv)
{
	struct build build = { .plan = PLAN_OPTIONS_NONE, .records = RECORD_OPTIONS_NONE };
	int status;

	system_begin();
	message_begin("bloom-build");
	if (parse_args(&build, argc, argv, &status))
		status = keying_read(&build.plan.keying, build.output) && run_build(&build) ? 0 : 2;
	keying_end(&build.plan.keying);
	return system_end(status);
}
