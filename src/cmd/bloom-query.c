/* bloom-query - pass on the records that a Bloom filter may hold */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter.h"
#include "keying.h"
#include "message.h"
#include "open.h"
#include "option.h"
#include "output.h"
#include "parallel.h"
#include "pass.h"
#include "records.h"
#include "system.h"
#include "words.h"

enum { OPTION_ANNOTATE = 300 };

struct query {
	bool invert, count_only, quiet, annotate;
	bool filter_first; /* among the operands: no -F */
	struct words filters, keys;
	struct record_options records;
	struct parallel_options parallel;
	struct keying keying;
	struct operands inputs;
};

/* ------------------------------------------------------------- command line */

static const struct option_spec query_specs[] = {
	{ 'v', "invert-match", NULL, "pass on the records that are surely not in the filter" },
	{ 'c', "count", NULL, "print only the number of records selected" },
	{ 'q', "quiet", NULL, "print nothing, stop at the first record selected" },
	{ 'e', "key", "KEY", "ask for KEY; no INPUT, no reading (can be repeated)" },
	{ 'F', "filter", "FILE", "ask this filter; in any of them counts (can be repeated)" },
	{ OPTION_ANNOTATE, "annotate", NULL, "pass on all, after 1 or 0 and a tab" },
};

static bool take_option(void *context, int letter, const char *value)
{
	struct query *query = context;

	switch (letter) {
	case 'v':
		query->invert = true;
		break;
	case 'c':
		query->count_only = true;
		break;
	case 'q':
		query->quiet = true;
		break;
	case OPTION_ANNOTATE:
		query->annotate = true;
		break;
	case 'e':
		return words_add(&query->keys, value);
	case 'F':
		return words_add(&query->filters, value);
	}
	return true;
}

static const struct option_values values[] = {
	{ "filter", OPTION_FILTER_FILES },
	{ NULL, NULL },
};

static const char *const examples[] = {
	"bloom-query users.bloom < requests > maybe-known",
	"bloom-query -v users.bloom < requests > surely-new",
	"bloom-query -q -e alice users.bloom && echo maybe",
	"bloom-query -f 1 -F mon.bloom -F tue.bloom access.log",
	NULL,
};

static const char *const notes[] = {
	"Exit status: 0 some record was selected, 1 none, 2 trouble.",
	"A record passed on may be a false positive; one held back is surely absent.",
	NULL,
};

/* Finds the filters and the inputs among the operands. */
static bool sort_operands(struct query *query)
{
	if (query->filters.count > 0)
		return true;
	if (query->inputs.count == 0) {
		option_complain("which filter? Name its file");
		return false;
	}
	query->filter_first = true;
	query->inputs.count--;
	return words_add(&query->filters, *query->inputs.items++);
}

static bool check_modes(const struct query *query)
{
	if (query->annotate && (query->count_only || query->quiet || query->invert)) {
		option_complain("--annotate excludes --count, --quiet and --invert-match");
		return false;
	}
	return true;
}

static bool parse_args(struct query *query, int argc, char **argv, int *status)
{
	const struct option_group groups[] = {
		{ NULL, query_specs, sizeof query_specs / sizeof *query_specs, take_option, query },
		keying_option_group(&query->keying),
		record_option_group(&query->records),
		parallel_option_group(&query->parallel, "threads (0: all processors)"),
		{ 0 },
	};
	const struct option_tool tool = {
		.name = "bloom-query",
		.synopsis = "[OPTION]... FILTER [INPUT]...\n"
			    "[OPTION]... -F FILTER [-F FILTER]... [INPUT]...\n"
			    "[OPTION]... -e KEY [-e KEY]... FILTER",
		.purpose = "Pass on the records that a Bloom filter may hold.",
		.examples = examples,
		.notes = notes,
		.groups = groups,
		.values = values,
		.first_operand = OPTION_FILTER_FILES,
		.other_operands = OPTION_ANY_FILE,
		.instead = 'F',
	};

	if (!option_parse(&tool, argc, argv, &query->inputs, status))
		return false;
	return sort_operands(query) && record_options_check(&query->records, &query->inputs) &&
	       record_options_check_stdin(&query->records, &query->inputs, query->keys.count == 0,
					  &query->filters) &&
	       check_modes(query);
}

/* ---------------------------------------------------------------- the filters */

/* One of the two; a filter of DCSO's hashes keys by itself. */
struct asked {
	struct filter filter;
	struct sketch_dcso *dcso;
};

struct run {
	const struct query *query;
	struct asked *filters;
	bool has_dcso;
	struct output *out; /* in memory where others have theirs, too */
	struct output *final;
	struct touch touch;
	/* How records are hashed as they are read: with the first filter's seed (0 where
	 * that has none) or under its secret, and folded where every filter folds.  A filter
	 * that wants it otherwise makes its own hashes of the keys, which are not folded
	 * then. */
	uint32_t seed;
	const struct sketch_secret *secret; /* or NULL */
	bool fold;
	uint64_t selected, found;
	bool done; /* --quiet has its answer */
};

static bool folds(const struct asked *asked)
{
	return asked->dcso == NULL &&
	       filter_identity(&asked->filter)->transforms & SKETCH_FOLD_ASCII;
}

static uint32_t seed_of(const struct asked *asked)
{
	return asked->dcso != NULL ? 0 : filter_identity(&asked->filter)->seed;
}

static const struct sketch_secret *secret_of(const struct run *run, const struct asked *asked)
{
	return asked->dcso != NULL ?
		       NULL :
		       keying_secret(&run->query->keying, filter_identity(&asked->filter));
}

/* Of several filters some may have a key and others none. */
static bool check_key(const struct run *run, const char *name, const struct asked *asked)
{
	return secret_of(run, asked) == NULL ||
	       keying_fits(&run->query->keying, message_input_name(name),
			   filter_identity(&asked->filter));
}

static bool open_filter(struct run *run, const char *name, enum sketch_access access,
			struct asked *asked)
{
	struct sketch_file *file = open_sketch(name, access);

	if (file == NULL)
		return false;
	if (sketch_file_kind(file) != SKETCH_KIND_DCSO)
		return filter_of_file(&asked->filter, name, file) && check_key(run, name, asked);
	run->has_dcso = true;
	asked->dcso = filter_dcso_of_file(name, file);
	return asked->dcso != NULL;
}

/* Whether the first input is the filter, and what stands in its place is none; of a pipe
 * that cannot be told before it is read. */
static bool are_reversed(const struct query *query)
{
	const char *filter = query->filters.items[0];
	struct stat st;

	if (!query->filter_first || query->inputs.count == 0 || strcmp(filter, "-") == 0 ||
	    (stat(filter, &st) == 0 && !S_ISREG(st.st_mode)))
		return false;
	return !open_is_sketch(filter) && open_is_sketch(query->inputs.items[0]);
}

/* Reads all filters before anything is written. */
static bool open_filters(struct run *run)
{
	const struct words *names = &run->query->filters;
	/* What is verified as it is used cannot be used by several at once. */
	enum sketch_access access =
		run->query->parallel.threads > 1 ? SKETCH_VERIFIED : SKETCH_READ;
	bool keyed = false;

	if (are_reversed(run->query)) {
		option_complain("'%s' is no filter, but '%s' is: it comes first", names->items[0],
				run->query->inputs.items[0]);
		return false;
	}
	run->filters = calloc(names->count, sizeof *run->filters);
	if (run->filters == NULL) {
		message("out of memory");
		return false;
	}
	run->fold = true;
	for (size_t i = 0; i < names->count; i++) {
		if (!open_filter(run, names->items[i], access, &run->filters[i]))
			return false;
		if (run->query->records.fold && !folds(&run->filters[i])) {
			message("%s: --ignore-case contradicts the filter, whose keys were not "
				"folded",
				message_input_name(names->items[i]));
			return false;
		}
		run->fold = run->fold && folds(&run->filters[i]);
		keyed = keyed || secret_of(run, &run->filters[i]) != NULL;
	}
	if (run->query->keying.path != NULL && !keyed) {
		message("%s: was made without a key: --key-file does not fit %s",
			message_input_name(names->items[0]),
			names->count == 1 ? "it" : "it, nor the others");
		return false;
	}
	run->seed = seed_of(&run->filters[0]);
	run->secret = secret_of(run, &run->filters[0]);
	/* The lines of others are elsewhere. */
	if (run->filters[0].dcso == NULL &&
	    filter_kind(&run->filters[0].filter) == SKETCH_KIND_BLOOM)
		touch_filter(&run->touch, run->filters[0].filter.bloom, false);
	system_guard_mapping(names->count == 1 ? names->items[0] : "a filter");
	return true;
}

/* The hash of one key that was not folded yet; false without memory. */
static bool hash_key(const uint8_t *key, size_t length, bool fold, uint32_t seed,
		     const struct sketch_secret *secret, struct sketch_hash *hash)
{
	uint8_t *folded;

	if (!fold) {
		*hash = sketch_key_hash(key, length, seed, secret);
		return true;
	}
	folded = malloc(length + 1);
	if (folded == NULL) {
		message("out of memory");
		return false;
	}
	records_fold(folded, key, length);
	*hash = sketch_key_hash(folded, length, seed, secret);
	free(folded);
	return true;
}

/* The hashes that one filter asks for: those of the batch where they fit, else
 * `own`; NULL without memory. */
static const struct sketch_hash *hashes_for(const struct run *run, const struct asked *filter,
					    const struct records_batch *batch,
					    struct sketch_hash *own)
{
	const struct sketch_secret *secret = secret_of(run, filter);
	uint32_t seed = seed_of(filter);

	if (seed == run->seed && secret == run->secret && folds(filter) == run->fold)
		return batch->hashes;
	for (size_t i = 0; i < batch->count; i++) {
		if (batch->keyed[i / 64] >> i % 64 & 1 &&
		    !hash_key(batch->keys[i], batch->key_lengths[i], folds(filter), seed, secret,
			      &own[i]))
			return NULL;
	}
	return own;
}

/* Asks a filter of DCSO's about the records that have a key. */
static void ask_dcso(const struct sketch_dcso *dcso, const struct records_batch *batch,
		     uint64_t found[PASS_WORDS])
{
	const uint8_t *keys[RECORDS_BATCH];
	size_t lengths[RECORDS_BATCH], places[RECORDS_BATCH], kept = 0;
	uint64_t in[PASS_WORDS] = { 0 };

	for (size_t i = 0; i < batch->count; i++) {
		if (!(batch->keyed[i / 64] >> i % 64 & 1))
			continue;
		keys[kept] = batch->keys[i];
		lengths[kept] = batch->key_lengths[i];
		places[kept++] = i;
	}
	sketch_dcso_test(dcso, keys, lengths, kept, in);
	for (size_t i = 0; i < kept; i++)
		found[places[i] / 64] |= (in[i / 64] >> i % 64 & 1) << places[i] % 64;
}

/* Asks every filter: found gets a bit for each record whose key is in any. */
static bool ask(struct run *run, const struct records_batch *batch, uint64_t found[PASS_WORDS])
{
	struct sketch_hash own[RECORDS_BATCH] = { 0 };
	uint64_t in[PASS_WORDS] = { 0 };
	struct sketch_error error;

	for (size_t i = 0; i < run->query->filters.count; i++) {
		struct asked *filter = &run->filters[i];
		const struct sketch_hash *hashes;

		if (filter->dcso != NULL) {
			ask_dcso(filter->dcso, batch, found);
			continue;
		}
		hashes = hashes_for(run, filter, batch, own);
		if (hashes == NULL)
			return false;
		if (filter_test(&filter->filter, hashes, batch->count, in, &error) != SKETCH_OK) {
			message_file(message_input_name(run->query->filters.items[i]), &error);
			return false;
		}
		for (size_t w = 0; w < PASS_WORDS; w++)
			found[w] |= in[w] & batch->keyed[w];
	}
	return true;
}

/* ------------------------------------------------------------------- output */

static uint8_t terminator(const struct run *run)
{
	return run->query->records.zero_terminated ? '\0' : '\n';
}

static bool annotate(struct run *run, const struct records_batch *batch,
		     const uint64_t found[PASS_WORDS])
{
	for (size_t i = 0; i < batch->count; i++) {
		const char *mark = found[i / 64] >> i % 64 & 1 ? "1\t" : "0\t";

		if (!output_write(run->out, mark, 2) ||
		    !pass_range(run->out, batch, i, i + 1, terminator(run)))
			return false;
	}
	return true;
}

/* Decides on a batch: false ends the run. */
static bool answer(struct run *run, const struct records_batch *batch)
{
	const struct query *query = run->query;
	uint64_t found[PASS_WORDS] = { 0 }, present[PASS_WORDS], selected[PASS_WORDS];

	if (!ask(run, batch, found))
		return false;
	pass_present(batch, present);
	for (size_t w = 0; w < PASS_WORDS; w++) {
		selected[w] = query->invert ? present[w] & ~found[w] : found[w];
		run->selected += (uint64_t)__builtin_popcountll(selected[w]);
		run->found += (uint64_t)__builtin_popcountll(found[w]);
	}
	if (query->quiet) {
		run->done = run->selected > 0;
		return true;
	}
	if (query->count_only)
		return true;
	return query->annotate ? annotate(run, batch, found) :
				 pass_selected(run->out, batch, selected, terminator(run));
}

static bool flush(void *context)
{
	const struct run *run = context;

	return output_flush(run->out);
}

/* ------------------------------------------------------------------ running */

static enum parallel_step answer_batch(void *context, struct records_batch *batch)
{
	struct run *run = context;

	if (!answer(run, batch))
		return PARALLEL_FAILED;
	return run->done ? PARALLEL_STOP : PARALLEL_ON;
}

static bool pass_block(void *context)
{
	struct run *run = context;

	return output_take(run->final, run->out);
}

/* Each thread answers as a run of its own, into memory; what it found is added up. */
static bool share_out(struct run *run, struct records *records)
{
	size_t count = (size_t)run->query->parallel.threads;
	struct run *runs = calloc(count, sizeof *runs);
	struct parallel_worker *workers = calloc(count, sizeof *workers);
	bool good = runs != NULL && workers != NULL;

	if (!good)
		message("out of memory");
	for (size_t i = 0; good && i < count; i++) {
		runs[i] = *run;
		runs[i].final = run->out;
		runs[i].selected = runs[i].found = 0;
		runs[i].out = output_open_memory();
		good = runs[i].out != NULL;
		workers[i] =
			(struct parallel_worker){ answer_batch, pass_block, &runs[i], run->touch };
	}
	good = good && parallel_stream(records, workers, count);
	for (size_t i = 0; runs != NULL && i < count; i++) {
		run->selected += runs[i].selected;
		run->found += runs[i].found;
		run->done = run->done || runs[i].done;
		if (runs[i].out != NULL)
			(void)output_close(runs[i].out);
	}
	free(workers);
	free(runs);
	return good;
}

static bool stream(struct run *run, struct records *records)
{
	const struct parallel_worker alone = { .batch = answer_batch, .context = run };

	return run->query->parallel.threads > 1 ? share_out(run, records) :
						  parallel_stream(records, &alone, 1);
}

static bool ask_inputs(struct run *run, bool *trouble)
{
	const struct query *query = run->query;
	struct records_setup setup = {
		.options = &query->records,
		.inputs = query->inputs,
		.seed = run->seed,
		.secret = run->secret,
		.fold = run->fold,
		.absent = "for a key: -e ",
		.idle = flush,
		.context = run,
		.touch = &run->touch,
	};
	struct records *records = records_open(&setup);
	struct stat output;
	bool good = records != NULL;

	if (!good)
		return false;
	if (fstat(STDOUT_FILENO, &output) == 0)
		records_forbid(records, &output);
	good = stream(run, records);
	if (good)
		records_warn_no_key(records);
	if (good && query->records.stats) {
		records_print_tally(records);
		message("%" PRIu64 " maybe in the filter, %" PRIu64 " surely not", run->found,
			records_tally(records)->records - run->found);
	}
	*trouble = records_trouble(records);
	records_close(records);
	return good;
}

/* One batch of one record for a key of the command line. */
static bool ask_key(struct run *run, const char *key)
{
	struct records_batch batch = { .count = 1, .unterminated = true, .keyed = { 1 } };

	batch.starts[0] = batch.keys[0] = (const uint8_t *)key;
	batch.key_lengths[0] = strlen(key);
	batch.starts[1] = batch.starts[0] + batch.key_lengths[0];
	return hash_key(batch.keys[0], batch.key_lengths[0], run->fold, run->seed, run->secret,
			&batch.hashes[0]) &&
	       answer(run, &batch);
}

static bool ask_all(struct run *run, bool *trouble)
{
	const struct query *query = run->query;

	for (size_t i = 0; i < query->keys.count && !run->done; i++) {
		if (!ask_key(run, query->keys.items[i]))
			return false;
	}
	if (run->done || (query->keys.count > 0 && query->inputs.count == 0 &&
			  query->records.files0_from == NULL))
		return true;
	return ask_inputs(run, trouble);
}

static int run_query(const struct query *query)
{
	struct run run = { .query = query };
	bool trouble = false, good = open_filters(&run);

	if (good) {
		run.out = output_open(STDOUT_FILENO, "standard output");
		good = run.out != NULL && ask_all(&run, &trouble);
	}
	if (good && query->count_only && !query->quiet)
		good = output_text(run.out, "%" PRIu64 "\n", run.selected);
	if (run.out != NULL)
		good = output_close(run.out) && good;
	for (size_t i = 0; run.filters != NULL && i < query->filters.count; i++) {
		filter_free(&run.filters[i].filter);
		sketch_dcso_free(run.filters[i].dcso);
	}
	free(run.filters);
	/* As grep -q: what was found is found, whatever else failed. */
	if (query->quiet && good && run.done)
		return 0;
	return !good || trouble ? 2 : run.selected > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct query query = { .records = RECORD_OPTIONS_NONE };
	int status;

	system_begin();
	message_begin("bloom-query");
	if (parse_args(&query, argc, argv, &status))
		status = keying_read(&query.keying, NULL) ? run_query(&query) : 2;
	keying_end(&query.keying);
	free(query.filters.items);
	free(query.keys.items);
	return system_end(status);
}
