/* bloom-build - make a Bloom filter of the records of standard input or files */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter.h"
#include "message.h"
#include "number.h"
#include "option.h"
#include "records.h"
#include "system.h"

enum { OPTION_APPEND = 300, OPTION_NO_WAIT, OPTION_SAVE_EVERY };

struct build {
	struct sketch_request request; /* 0 where not given */
	bool has_layout, has_seed, no_wait;
	uint32_t seed;
	const char *output, *append;
	uint64_t save_every; /* nanoseconds, or 0 */
	struct record_options records;
	char *const *inputs;
	size_t input_count;
};

/* ------------------------------------------------------------- command line */

static const struct option_spec build_specs[] = {
	{ 'n', "keys", "N", "distinct keys to make room for (1000, 1e6, 10M)" },
	{ 'p', "rate", "P", "ceiling on false positives at N keys (0.01, 1%, 1e-6) [1%]" },
	{ 'm', "bits", "SIZE", "size of the filter (48000000 bits, 6MB, 6MiB, 48Mbit)" },
	{ 'k', "hashes", "K", "bits a key sets, 1 to 255" },
	{ 'L', "layout", "LAYOUT", "blocked (a key's bits share cache lines) or classic [blocked]" },
	{ 's', "seed", "N", "seed of the hash, to decorrelate filters used together [0]" },
	{ 'o', "output", "FILE", "write the filter to FILE, replacing it as a whole" },
	{ OPTION_APPEND, "append", "FILE", "add to the filter in FILE; make it where it is absent" },
	{ OPTION_NO_WAIT, "no-wait", NULL, "give up where another process has FILE locked" },
	{ OPTION_SAVE_EVERY, "save-every", "TIME", "while appending, save every 90s, 15min, 24h" },
};

static bool take_layout(struct build *build, const char *value)
{
	build->has_layout = true;
	if (strcmp(value, "blocked") == 0)
		build->request.layout = SKETCH_BLOCKED;
	else if (strcmp(value, "classic") == 0)
		build->request.layout = SKETCH_CLASSIC;
	else {
		message("--layout: '%s' is not a layout: write blocked or classic", value);
		return false;
	}
	return true;
}

static bool take_number(struct build *build, int letter, const char *value)
{
	struct number_error error;
	const char *name = "--keys";
	uint64_t number = 0;
	bool good = false;

	switch (letter) {
	case 'n':
		good = number_count(value, 1, UINT64_C(1000000000000000000), &build->request.n,
				    &error);
		break;
	case 'p':
		name = "--rate";
		good = number_probability(value, &build->request.p, &error);
		break;
	case 'm':
		name = "--bits";
		good = number_bits(value, SKETCH_MAX_BITS, &build->request.m, &error);
		break;
	case 'k':
		name = "--hashes";
		good = number_count(value, 1, SKETCH_MAX_HASHES, &number, &error);
		build->request.k = (uint32_t)number;
		break;
	case 's':
		name = "--seed";
		good = number_count(value, 0, UINT32_MAX, &number, &error);
		build->seed = (uint32_t)number;
		build->has_seed = true;
		break;
	case OPTION_SAVE_EVERY:
		name = "--save-every";
		good = number_duration(value, &build->save_every, &error);
		break;
	}
	if (!good)
		message("%s: %s", name, error.text);
	return good;
}

static bool take_option(void *context, int letter, const char *value)
{
	struct build *build = context;

	switch (letter) {
	case 'L':
		return take_layout(build, value);
	case 'o':
		build->output = value;
		return true;
	case OPTION_APPEND:
		build->append = value;
		return true;
	case OPTION_NO_WAIT:
		build->no_wait = true;
		return true;
	default:
		return take_number(build, letter, value);
	}
}

static const char *const examples[] = {
	"bloom-build -n 10M -p 0.001 -o users.bloom users.txt",
	"generate | bloom-build -n 1M > f.bloom",
	"bloom-build --append seen.bloom -n 1M < today.log",
	"bloom-build -f 1 -n 100k -o clients.bloom access.log",
	NULL,
};

static const char *const notes[] = {
	"Without -o and --append the filter goes to standard output.",
	"Past N keys nothing is lost: the rate of false positives rises, with a warning.",
	NULL,
};

static enum option_outcome parse_args(struct build *build, int argc, char **argv, int *first)
{
	const struct option_group groups[] = {
		{ NULL, build_specs, sizeof build_specs / sizeof *build_specs, take_option, build },
		record_option_group(&build->records),
		{ 0 },
	};
	const struct option_tool tool = {
		.name = "bloom-build",
		.synopsis = "-n N [-p P] [-o FILE] [OPTION]... [INPUT]...\n"
			    "-m SIZE [-o FILE] [OPTION]... [INPUT]...\n"
			    "--append FILE [OPTION]... [INPUT]...",
		.purpose = "Make a Bloom filter of the records of standard input or files.",
		.examples = examples,
		.notes = notes,
		.groups = groups,
	};
	enum option_outcome outcome = option_parse(&tool, argc, argv, first);

	if (outcome != OPTION_RUN)
		return outcome;
	build->inputs = argv + *first;
	build->input_count = (size_t)(argc - *first);
	if (!record_options_check(&build->records, argc - *first))
		return OPTION_BAD;
	if (build->append != NULL && build->output != NULL) {
		option_complain("--append and --output exclude each other");
		return OPTION_BAD;
	}
	if (build->append == NULL && (build->no_wait || build->save_every > 0)) {
		option_complain("%s needs --append",
				build->no_wait ? "--no-wait" : "--save-every");
		return OPTION_BAD;
	}
	return OPTION_RUN;
}

/* --------------------------------------------------------------- the filter */

/* Sizes and makes a new filter. */
static struct sketch_bloom *make_filter(const struct build *build)
{
	struct sketch_request request = build->request;
	struct sketch_identity identity = {
		.family = SKETCH_FAMILY_MURMUR3,
		.transforms = build->records.fold ? SKETCH_FOLD_ASCII : 0,
		.seed = build->seed,
		.arrangement = SKETCH_SINGLE,
	};
	struct sketch_bloom *filter = NULL;
	struct sketch_params params;
	struct sketch_error error;

	if (request.n == 0 && request.m == 0) {
		option_complain("how many distinct keys? Give -n N, or the size by -m SIZE");
		return NULL;
	}
	/* The rate is promised unless the size and the number of keys decide it. */
	if (request.p == 0 && (request.n == 0 || request.m == 0))
		request.p = 0.01;
	if (sketch_plan(&request, &params, &error) != SKETCH_OK) {
		message("%s", error.text);
		return NULL;
	}
	if (sketch_bloom_new(&filter, &identity, &params, 1, system_memory(), &error) !=
	    SKETCH_OK) {
		message("a filter for %" PRIu64 " keys %s", params.n, error.text);
		return NULL;
	}
	return filter;
}

static bool contradicts(const char *file, const char *field, uint64_t has, uint64_t asked)
{
	message("%s: %s differs: the file has %" PRIu64 ", the command line says %" PRIu64, file,
		field, has, asked);
	return true;
}

/* Whether the command line says anything else than the file to be added to. */
static bool contradicts_file(const struct build *build, const struct sketch_bloom *filter)
{
	const struct sketch_identity *identity = sketch_bloom_identity(filter);
	const struct sketch_params *params =
		sketch_bloom_params(filter, sketch_bloom_layers(filter) - 1);
	const struct sketch_request *asked = &build->request;
	uint64_t unit = params->layout == SKETCH_CLASSIC ? SKETCH_CLASSIC_UNIT :
							   SKETCH_BLOCK_BITS * params->g;
	char has[32], says[32];

	if (build->has_layout && asked->layout != params->layout) {
		message("%s: layout differs: the file has %s, the command line says %s",
			build->append, filter_layout_name(params->layout),
			filter_layout_name(asked->layout));
		return true;
	}
	if (asked->m != 0 && asked->m / unit * unit != params->m)
		return contradicts(build->append, "m", params->m, asked->m);
	if (asked->k != 0 && asked->k != params->k)
		return contradicts(build->append, "k", params->k, asked->k);
	if (asked->n != 0 && asked->n != params->n)
		return contradicts(build->append, "n", params->n, asked->n);
	if (build->has_seed && build->seed != identity->seed)
		return contradicts(build->append, "seed", identity->seed, build->seed);
	if (asked->p != 0 && memcmp(&asked->p, &params->p, sizeof params->p) != 0) {
		message("%s: p differs: the file has %s, the command line says %s", build->append,
			number_print(has, params->p), number_print(says, asked->p));
		return true;
	}
	if (build->records.fold && !(identity->transforms & SKETCH_FOLD_ASCII)) {
		message("%s: ignore-case differs: the file's keys were not folded", build->append);
		return true;
	}
	return false;
}

/* Reads the filter to be added to. */
static struct sketch_bloom *read_claimed(const struct build *build, struct sketch_claim *claim)
{
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;

	if (sketch_bloom_read(&filter, sketch_claim_fd(claim), SKETCH_WRITABLE, system_memory(),
			      NULL, &error) != SKETCH_OK) {
		message_file(build->append, &error);
		return NULL;
	}
	if (sketch_bloom_identity(filter)->arrangement != SKETCH_SINGLE) {
		message("%s: a filter of several layers cannot be added to", build->append);
		sketch_bloom_free(filter);
		return NULL;
	}
	if (contradicts_file(build, filter)) {
		sketch_bloom_free(filter);
		return NULL;
	}
	return filter;
}

/* Locks the file to be added to, waiting where that is wanted. */
static struct sketch_claim *claim_file(const struct build *build)
{
	struct sketch_claim *claim = NULL;
	struct sketch_error error;
	enum sketch_status status = sketch_claim(&claim, build->append, false, &error);

	if (status == SKETCH_BUSY && !build->no_wait) {
		if (isatty(STDERR_FILENO))
			message("%s: in use by another process, waiting", build->append);
		status = sketch_claim(&claim, build->append, true, &error);
	}
	if (status == SKETCH_OK)
		return claim;
	if (status != SKETCH_INTERRUPTED)
		message_file(build->append, &error);
	return NULL;
}

/* ------------------------------------------------------------------ running */

/* What is under way. */
struct run {
	const struct build *build;
	struct sketch_bloom *filter;
	struct sketch_claim *claim; /* --append */
	struct sketch_save *save;   /* --output */
	int fd;                     /* where the filter goes, but for a claim */
	struct records *records;
	uint64_t before; /* records in the file before */
	uint64_t saved;  /* records read when it was last saved */
};

/* Adds the keys of a batch. */
static void add_batch(struct run *run, struct records_batch *batch)
{
	size_t kept = 0;

	for (size_t i = 0; i < batch->count; i++) {
		if (batch->keyed[i / 64] >> i % 64 & 1)
			batch->hashes[kept++] = batch->hashes[i];
	}
	sketch_bloom_add(run->filter, batch->hashes, kept);
}

static bool save_claimed(struct run *run)
{
	uint64_t read = records_tally(run->records)->records;
	struct sketch_error error;

	if (read == run->saved && !sketch_claim_is_empty(run->claim))
		return true;
	sketch_bloom_set_records(run->filter, run->before + read);
	if (sketch_claim_commit(run->claim, run->filter, &error) != SKETCH_OK) {
		message_file(run->build->append, &error);
		return false;
	}
	run->saved = read;
	return true;
}

static bool save_on_tick(void *context)
{
	return save_claimed(context);
}

static bool report_unless_pipe(const char *name, const struct sketch_error *error)
{
	if (error->errnum != EPIPE)
		message_file(name, error);
	return false;
}

static bool save_output(struct run *run)
{
	const char *name = run->build->output == NULL ? "standard output" : run->build->output;
	struct sketch_error error;
	enum sketch_status status;

	if (run->claim != NULL)
		return save_claimed(run);
	sketch_bloom_set_records(run->filter, records_tally(run->records)->records);
	if (sketch_bloom_write(run->filter, run->fd, &error) != SKETCH_OK)
		return report_unless_pipe(name, &error);
	if (run->save != NULL) {
		status = sketch_save_commit(run->save, &error);
		run->save = NULL;
		return status == SKETCH_OK || report_unless_pipe(name, &error);
	}
	return true;
}

/* Makes or reads the filter, and opens the place it goes to. */
static bool prepare(struct run *run)
{
	const struct build *build = run->build;
	struct sketch_error error;

	if (build->append != NULL) {
		system_catch_signals();
		run->claim = claim_file(build);
		if (run->claim == NULL)
			return false;
		run->filter = sketch_claim_is_empty(run->claim) ? make_filter(build) :
								  read_claimed(build, run->claim);
	} else {
		if (build->output == NULL && isatty(STDOUT_FILENO)) {
			option_complain("a filter is binary and standard output is a terminal: "
					"use -o FILE, or a pipe");
			return false;
		}
		run->filter = make_filter(build);
	}
	if (run->filter == NULL)
		return false;
	run->before = sketch_bloom_records(run->filter);
	run->fd = STDOUT_FILENO;
	if (build->output != NULL &&
	    sketch_save_begin(&run->save, build->output, &run->fd, &error) != SKETCH_OK) {
		message_file(build->output, &error);
		return false;
	}
	return true;
}

static bool open_records(struct run *run)
{
	const struct build *build = run->build;
	const struct sketch_identity *identity = sketch_bloom_identity(run->filter);
	struct records_setup setup = {
		.options = &build->records,
		.names = build->inputs,
		.count = build->input_count,
		.seed = identity->seed,
		.fold = identity->transforms & SKETCH_FOLD_ASCII,
		.all_needed = true,
		.tick = build->save_every > 0 ? save_on_tick : NULL,
		.interval = build->save_every,
		.context = run,
	};
	const char *target = build->append != NULL ? build->append : build->output;
	struct stat output;

	run->records = records_open(&setup);
	if (run->records == NULL)
		return false;
	if (target == NULL ? fstat(STDOUT_FILENO, &output) == 0 : stat(target, &output) == 0)
		records_forbid(run->records, &output);
	return true;
}

static bool stream(struct run *run)
{
	struct records_batch batch;
	enum records_outcome outcome;

	while ((outcome = records_next(run->records, &batch)) == RECORDS_BATCH_READY)
		add_batch(run, &batch);
	return outcome == RECORDS_END;
}

static void report(struct run *run)
{
	const struct build *build = run->build;
	const char *name = build->append != NULL ? build->append : build->output;
	struct sketch_bloom_state state;
	char rate[32];

	records_warn_no_key(run->records);
	filter_warn_past_capacity(name, run->filter);
	if (!build->records.stats)
		return;
	records_print_tally(run->records);
	if (sketch_bloom_state(run->filter, 0, &state, NULL) == SKETCH_OK)
		message("filter: %" PRIu64 " bits, %.4g of them set, about %.0f distinct keys, "
			"false positives now %s",
			sketch_bloom_params(run->filter, 0)->m, state.fill, state.distinct,
			filter_print_rate(rate, state.rate));
}

static bool run_build(const struct build *build)
{
	struct run run = { .build = build };
	bool good = prepare(&run) && open_records(&run) && stream(&run) && save_output(&run);

	if (good)
		report(&run);
	records_close(run.records);
	sketch_save_abort(run.save);
	sketch_claim_release(run.claim);
	sketch_bloom_free(run.filter);
	return good;
}

int main(int argc, char **argv)
{
	struct build build = { .request.layout = SKETCH_BLOCKED, .records = RECORD_OPTIONS_NONE };
	int first = 0;
	bool good;

	system_begin();
	message_begin("bloom-build");
	switch (parse_args(&build, argc, argv, &first)) {
	case OPTION_DONE:
		return first;
	case OPTION_BAD:
		return 2;
	case OPTION_RUN:
		break;
	}
	good = run_build(&build);
	if (system_signal() != 0)
		system_die_by_signal(system_signal());
	return good ? 0 : 2;
}
