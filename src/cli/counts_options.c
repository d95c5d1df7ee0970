#include "counts_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "number.h"
#include "open.h"
#include "system.h"

enum {
	OPTION_EPSILON = 340,
	OPTION_DELTA,
	OPTION_WIDTH,
	OPTION_DEPTH,
	OPTION_SIZE,
	OPTION_APPEND,
	OPTION_QUERY,
	OPTION_BOUNDS
};

/* Two to four rows do about equally well where the memory is the same: three. */
#define COUNTS_DEPTH 3
#define COUNTS_SIZE_BITS (UINT64_C(8) << 20)

/* -------------------------------------------------------------------- options */

static const struct option_spec counts_specs[] = {
	{ 'o', "output", "FILE", "save the sketch to FILE, replacing it as a whole" },
	{ OPTION_APPEND, "append", "FILE",
	  "add to the sketch in FILE; make it where it is absent" },
	{ OPTION_QUERY, "query", "SKETCH", "ask a saved sketch (can be repeated: their sum)" },
	{ OPTION_BOUNDS, "bounds", NULL, "print COUNT LOW HIGH KEY" },
	{ 'W', "weight-field", "N", "add the number in field N, not 1" },
	{ OPTION_SIZE, "size", "SIZE", "memory of the table (64KiB, 10MB) [1MiB]" },
	{ OPTION_EPSILON, "epsilon", "E", "counts at most E N too high: w = ceil(e/E)" },
	{ OPTION_DELTA, "delta", "D", "but for a share D of the keys: d = ceil(ln 1/D)" },
	{ OPTION_WIDTH, "width", "W", "cells of a row" },
	{ OPTION_DEPTH, "depth", "D", "rows, 1 to 64 [3]" },
	{ 's', "seed", "N", "seed of the hash [0]" },
};

static bool take_number(struct counts_options *options, int letter, const char *value)
{
	const uint64_t most = UINT64_C(1000000000000000000);
	struct number_error error;
	const char *name = "";
	bool good = false;

	switch (letter) {
	case OPTION_EPSILON:
		name = "--epsilon";
		good = number_probability(value, &options->epsilon, &error);
		break;
	case OPTION_DELTA:
		name = "--delta";
		good = number_probability(value, &options->delta, &error);
		break;
	case OPTION_WIDTH:
		name = "--width";
		good = number_count(value, 1, most, &options->width, &error);
		break;
	case OPTION_DEPTH:
		name = "--depth";
		good = number_count(value, 1, SKETCH_MAX_DEPTH, &options->depth, &error);
		break;
	case OPTION_SIZE:
		name = "--size";
		good = number_bits(value, SKETCH_MAX_BITS, &options->size_bits, &error);
		break;
	case 'W':
		name = "--weight-field";
		good = number_count(value, 1, most, &options->weight_field, &error);
		break;
	case 's':
		name = "--seed";
		good = number_count(value, 0, UINT32_MAX, &options->seed, &error);
		options->has_seed = true;
		break;
	}
	if (!good)
		message("%s: %s", name, error.text);
	return good;
}

static bool take_option(void *context, int letter, const char *value)
{
	struct counts_options *options = context;

	switch (letter) {
	case 'o':
		options->output = value;
		return true;
	case OPTION_APPEND:
		options->state.path = value;
		return true;
	case OPTION_QUERY:
		return words_add(&options->queries, value);
	case OPTION_BOUNDS:
		options->bounds = true;
		return true;
	default:
		return take_number(options, letter, value);
	}
}

struct option_group counts_option_group(struct counts_options *options)
{
	return (struct option_group){ "Counts", counts_specs,
				      sizeof counts_specs / sizeof *counts_specs, take_option,
				      options };
}

static bool has_size(const struct counts_options *options)
{
	return options->epsilon > 0 || options->delta > 0 || options->width > 0 ||
	       options->depth > 0 || options->size_bits > 0;
}

/* The exclusions; NULL where there is none. */
static const char *conflict(const struct counts_options *options)
{
	bool saves = options->output != NULL || options->state.path != NULL;

	if (options->output != NULL && options->state.path != NULL)
		return "--append and --output exclude each other";
	if (options->queries.count > 0 && saves)
		return "--query only reads: it excludes --output and --append";
	if (options->queries.count > 0 && (has_size(options) || options->has_seed))
		return "--query takes size and seed from the sketch";
	if (options->size_bits > 0 && (options->epsilon > 0 || options->width > 0))
		return "--size excludes --epsilon and --width";
	if (options->epsilon > 0 && options->width > 0)
		return "--epsilon and --width exclude each other";
	if (options->delta > 0 && options->depth > 0)
		return "--delta and --depth exclude each other";
	return NULL;
}

bool counts_options_check(const struct counts_options *options)
{
	const char *why = conflict(options);

	if (why != NULL) {
		option_complain("%s", why);
		return false;
	}
	return state_options_check(&options->state, "--append");
}

/* --------------------------------------------------------------------- making */

/* Completes what was asked for. */
static bool plan(const struct counts_options *options, struct sketch_counts_params *params)
{
	struct sketch_counts_params other = { .w = 1, .d = COUNTS_DEPTH };
	uint64_t bits = options->size_bits > 0 ? options->size_bits : COUNTS_SIZE_BITS;
	struct sketch_error error;

	if ((options->epsilon > 0 || options->delta > 0) &&
	    sketch_counts_plan(options->epsilon > 0 ? options->epsilon : 0.5,
			       options->delta > 0 ? options->delta : 0.5, &other,
			       &error) != SKETCH_OK) {
		message("%s", error.text);
		return false;
	}
	params->d = options->depth > 0 ? (uint32_t)options->depth :
		    options->delta > 0 ? other.d :
					 COUNTS_DEPTH;
	params->w = options->width > 0   ? options->width :
		    options->epsilon > 0 ? other.w :
					   bits / 32 / params->d;
	if (params->w > 0)
		return true;
	message("--size: %" PRIu64 " bits are too few for %" PRIu32 " rows of cells of 32", bits,
		params->d);
	return false;
}

struct sketch_counts *counts_make(const struct counts_options *options, bool fold, uint64_t tracked)
{
	struct sketch_identity identity = {
		.family = SKETCH_FAMILY_MURMUR3,
		.transforms = fold ? SKETCH_FOLD_ASCII : 0,
		.seed = (uint32_t)options->seed,
	};
	struct sketch_counts_params params = {
		.update = options->plain ? SKETCH_PLAIN : SKETCH_CONSERVATIVE,
		.tracked = options->plain ? 0 : tracked,
	};
	struct sketch_counts *counts = NULL;
	struct sketch_error error;

	if (!plan(options, &params))
		return NULL;
	if (sketch_counts_new(&counts, &identity, &params, system_memory(), &error) == SKETCH_OK)
		return counts;
	message("%s", error.text);
	return NULL;
}

struct sketch_counts *counts_of_file(const char *name, struct sketch_file *file)
{
	struct sketch_counts *counts = NULL;
	struct sketch_error error;

	if (sketch_counts_of_file(&counts, file, &error) != SKETCH_OK)
		message_file(message_input_name(name), &error);
	return counts;
}

struct sketch_counts *counts_open(const char *name)
{
	struct sketch_file *file = open_sketch(name, SKETCH_WRITABLE);

	return file == NULL ? NULL : counts_of_file(name, file);
}

bool counts_named_twice(const char *const *names, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (open_same_file(names[i], names[index])) {
			message("%s: named twice: its counts would be added to themselves",
				names[index]);
			return true;
		}
	}
	return false;
}

/* --------------------------------------------------------------------- target */

static bool differs(const char *file, const char *field, uint64_t has, uint64_t asked)
{
	message("%s: %s differs: the file has %" PRIu64 ", the command line says %" PRIu64, file,
		field, has, asked);
	return true;
}

/* Whether a size was asked for that is not the sketch's; what was not asked for is
 * taken from it. */
static bool contradicts_size(const struct counts_options *options, const char *file,
			     const struct sketch_counts_params *has)
{
	struct counts_options completed = *options;
	struct sketch_counts_params asked = *has;

	if (!has_size(options))
		return false;
	if (options->depth == 0 && options->delta == 0)
		completed.depth = has->d;
	if (options->width == 0 && options->epsilon == 0 && options->size_bits == 0)
		completed.width = has->w;
	if (!plan(&completed, &asked))
		return true;
	if (asked.d != has->d)
		return differs(file, "d", has->d, asked.d);
	return asked.w != has->w && differs(file, "w", has->w, asked.w);
}

/* Whether the command line says anything else than the sketch to be added to. */
static bool contradicts(const struct counts_options *options, bool fold,
			const struct sketch_counts *counts)
{
	const struct sketch_counts_params *has = sketch_counts_params(counts);
	const struct sketch_identity *identity = sketch_counts_identity(counts);
	const char *file = options->state.path;

	if (contradicts_size(options, file, has))
		return true;
	if (options->has_seed && options->seed != identity->seed)
		return differs(file, "seed", identity->seed, options->seed);
	if (options->plain && has->update != SKETCH_PLAIN) {
		message("%s: update rule differs: the file's is conservative, not plain", file);
		return true;
	}
	if (fold && !(identity->transforms & SKETCH_FOLD_ASCII)) {
		message("%s: ignore-case differs: the file's keys were not folded", file);
		return true;
	}
	return false;
}

static bool begin_append(struct counts_target *target, bool fold)
{
	const struct counts_options *options = target->options;
	struct sketch_file *file;

	system_catch_signals();
	target->state = state_open(&options->state);
	if (target->state == NULL)
		return false;
	if (state_is_new(target->state))
		return true;
	if (!state_read(target->state, &file))
		return false;
	target->counts = counts_of_file(options->state.path, file);
	if (target->counts == NULL || contradicts(options, fold, target->counts))
		return false;
	target->before = sketch_counts_records(target->counts);
	return true;
}

bool counts_begin(struct counts_target *target, const struct counts_options *options, bool fold,
		  uint64_t tracked)
{
	target->options = options;
	if (options->state.path != NULL && !begin_append(target, fold))
		return false;
	if (target->counts == NULL)
		target->counts = counts_make(options, fold, tracked);
	if (target->counts == NULL)
		return false;
	if (options->output == NULL)
		return true;
	if (counts_to_stdout(options))
		return true;
	return open_target(&target->save, options->output, &target->fd);
}

bool counts_to_stdout(const struct counts_options *options)
{
	return options->output != NULL && strcmp(options->output, "-") == 0;
}

void counts_forbid(const struct counts_target *target, struct records *records)
{
	struct stat st;

	if (target->state != NULL && state_stat(target->state, &st))
		records_forbid(records, &st);
	if (target->options->output != NULL && stat(target->options->output, &st) == 0)
		records_forbid(records, &st);
}

static enum sketch_status write_counts(void *counts, int fd, struct sketch_error *error)
{
	return sketch_counts_write(counts, fd, error);
}

static bool save_output(struct counts_target *target)
{
	struct sketch_error error;
	bool standard = target->save == NULL;
	enum sketch_status status =
		sketch_counts_write(target->counts, standard ? STDOUT_FILENO : target->fd, &error);

	if (status == SKETCH_OK && !standard) {
		status = sketch_save_commit(target->save, &error);
		target->save = NULL;
	}
	if (status != SKETCH_OK && error.errnum != EPIPE)
		message_file(standard ? "standard output" : target->options->output, &error);
	return status == SKETCH_OK;
}

bool counts_save(struct counts_target *target, uint64_t records)
{
	uint64_t total;

	if (__builtin_add_overflow(target->before, records, &total))
		total = UINT64_MAX;
	sketch_counts_set_records(target->counts, total);
	if (target->options->output != NULL)
		return save_output(target);
	if (target->state == NULL || (records == target->saved && !state_is_new(target->state)))
		return true;
	if (!state_save(target->state, write_counts, target->counts))
		return false;
	target->saved = records;
	return true;
}

void counts_end(struct counts_target *target)
{
	sketch_save_abort(target->save);
	state_close(target->state);
	sketch_counts_free(target->counts);
}

/* --------------------------------------------------------------------- adding */

bool counts_add_batch(struct sketch_counts *counts, const struct records_batch *batch,
		      bool weighted, uint64_t records_before, uint64_t *estimates)
{
	struct sketch_key keys[RECORDS_BATCH];
	uint64_t of_keys[RECORDS_BATCH];
	uint8_t places[RECORDS_BATCH];
	struct sketch_error error;
	size_t kept = 0, done;

	for (size_t i = 0; i < batch->count; i++) {
		if (!(batch->keyed[i / 64] >> i % 64 & 1))
			continue;
		keys[kept] =
			(struct sketch_key){ batch->keys[i], batch->key_lengths[i],
					     batch->hashes[i], weighted ? batch->weights[i] : 1 };
		places[kept++] = (uint8_t)i;
	}
	if (sketch_counts_add(counts, keys, kept, estimates == NULL ? NULL : of_keys, &done,
			      &error) != SKETCH_OK) {
		message("record %" PRIu64 ": %s", records_before + places[done] + 1, error.text);
		return false;
	}
	if (estimates != NULL) {
		memset(estimates, 0, batch->count * sizeof *estimates);
		for (size_t i = 0; i < kept; i++)
			estimates[places[i]] = of_keys[i];
	}
	return true;
}

/* ------------------------------------------------------------------- printing */

void counts_print_state(const struct sketch_counts *counts)
{
	const struct sketch_counts_params *params = sketch_counts_params(counts);
	struct sketch_counts_state state;
	double slack;

	sketch_counts_state(counts, &state);
	if (state.exact) {
		message("total %" PRIu64 " of %" PRIu64 " keys, every count exact", state.total,
			state.tracked);
		return;
	}
	slack = sketch_counts_epsilon(params) * (double)state.in_table;
	message("total %" PRIu64 ", in the table %" PRIu64 ": there a count is at most %.0f too "
		"high with confidence %.4g",
		state.total, state.in_table, slack, 1 - sketch_counts_delta(params));
	if (params->tracked > 0)
		message("%" PRIu64 " keys tracked: any key that counts more than %" PRIu64
			" is among them",
			state.tracked, state.floor);
}

size_t counts_digits(char out[20], uint64_t value)
{
	char reversed[20];
	size_t length = 0;

	do {
		reversed[length++] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	for (size_t i = 0; i < length; i++)
		out[i] = reversed[length - 1 - i];
	return length;
}
