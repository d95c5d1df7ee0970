#include "counts_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "duration.h"
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
	OPTION_BOUNDS,
	OPTION_WINDOW,
	OPTION_DECAY
};

/* Two to four rows do about equally well where the memory is the same: three. */
#define COUNTS_DEPTH 3
#define COUNTS_SIZE_BITS (UINT64_C(8) << 20)

/* -------------------------------------------------------------------- options */

static const struct option_spec counts_specs[] = {
	{ 'o', "output", "FILE", "save the sketch to FILE, replacing it as a whole" },
	{ OPTION_APPEND, "append", "FILE", "add to the sketch in FILE; make it if absent" },
	{ OPTION_QUERY, "query", "SKETCH", "ask a saved sketch (can be repeated: their sum)" },
	{ OPTION_BOUNDS, "bounds", NULL, "print COUNT LOW HIGH KEY" },
	{ 'W', "weight-field", "N", "add the number in field N, not 1" },
	{ OPTION_WINDOW, "window", "N|DURATION",
	  "only the last N records (10k), or DURATION (5min)" },
	{ OPTION_DECAY, "decay", "HALFLIFE", "halve each count in N records (10k), or DURATION" },
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
	case OPTION_WINDOW:
		return span_parse("--window", value, &options->window);
	case OPTION_DECAY:
		return span_parse("--decay", value, &options->decay);
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
		return "--query only reads: it excludes --output and --append (sketch-merge joins)";
	if (options->queries.count > 0 && (has_size(options) || options->has_seed))
		return "--query takes size and seed from the sketch";
	if (options->queries.count > 0 && (options->window.length > 0 || options->decay.length > 0))
		return "--query takes window and decay from the sketch";
	if (options->window.length > 0 && options->decay.length > 0)
		return "--window and --decay exclude each other";
	if (options->plain && options->decay.length > 0)
		return "--plain and --decay exclude each other: rounded counts do not add up";
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
	return keying_check(&options->keying, options->has_seed) &&
	       state_options_check(&options->state, "--append");
}

/* --------------------------------------------------------------------- making */

static struct sketch_pane_window window_of(const struct span *span)
{
	struct sketch_pane_window window = { .unit = span->unit, .length = span->length };

	sketch_counts_window_plan(&window);
	return window;
}

/* Completes what was asked for, for one of so many tables with cells of so many bits. */
static bool plan(const struct counts_options *options, uint64_t tables, unsigned int cell,
		 struct sketch_counts_params *params)
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
					   bits / cell / params->d / tables;
	if (params->w > 0)
		return true;
	if (tables > 1)
		message("--size: %" PRIu64 " bits are too few for %" PRIu64 " panes of %" PRIu32
			" rows of cells of %u",
			bits, tables, params->d, cell);
	else
		message("--size: %" PRIu64 " bits are too few for %" PRIu32 " rows of cells of %u",
			bits, params->d, cell);
	return false;
}

static enum sketch_status make(const struct counts_options *options,
			       const struct sketch_identity *identity,
			       const struct sketch_counts_params *params,
			       struct sketch_counts **counts, struct sketch_error *error)
{
	struct sketch_pane_window window;
	struct sketch_decay decay = { options->decay.unit, options->decay.length, 0 };

	if (options->window.length > 0) {
		window = window_of(&options->window);
		return sketch_counts_new_window(counts, identity, params, &window,
						system_wall_clock(), system_memory(), error);
	}
	if (options->decay.length == 0)
		return sketch_counts_new(counts, identity, params, system_memory(), error);
	if (decay.unit == SKETCH_WINDOW_NANOSECONDS)
		decay.now = system_wall_clock();
	return sketch_counts_new_decay(counts, identity, params, &decay, system_memory(), error);
}

struct sketch_counts *counts_make(const struct counts_options *options, bool fold, uint64_t tracked)
{
	struct sketch_identity identity =
		keying_identity(&options->keying, (uint32_t)options->seed, fold, SKETCH_SINGLE);
	struct sketch_counts_params params = {
		.update = options->plain ? SKETCH_PLAIN : SKETCH_CONSERVATIVE,
		.tracked = options->plain ? 0 : tracked,
	};
	struct sketch_counts *counts = NULL;
	struct sketch_error error;

	uint64_t tables = options->window.length > 0 ? window_of(&options->window).panes : 1;

	if (!plan(options, tables, options->decay.length > 0 ? 64 : 32, &params))
		return NULL;
	if (make(options, &identity, &params, &counts, &error) == SKETCH_OK)
		return counts;
	message("%s", error.text);
	return NULL;
}

struct sketch_counts *counts_of_file(const char *name, struct sketch_file *file)
{
	struct sketch_counts *counts = NULL;
	struct sketch_error error;
	uint32_t kind = sketch_file_kind(file);

	if (sketch_counts_of_file(&counts, file, &error) != SKETCH_OK)
		open_refused(name, kind, kind == SKETCH_KIND_COUNTS, &error);
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
				message_input_name(names[index]));
			return true;
		}
	}
	return false;
}

/* --------------------------------------------------------------------- target */

/* Whether a size was asked for that is not the sketch's; what was not asked for is
 * taken from it. */
static bool contradicts_size(const struct counts_options *options, const char *file,
			     const struct sketch_counts *counts)
{
	const struct sketch_counts_params *has = sketch_counts_params(counts);
	struct counts_options completed = *options;
	struct sketch_counts_params asked = *has;
	struct sketch_pane_window window = { .panes = 1 };

	if (!has_size(options))
		return false;
	if (options->depth == 0 && options->delta == 0)
		completed.depth = has->d;
	if (options->width == 0 && options->epsilon == 0 && options->size_bits == 0)
		completed.width = has->w;
	(void)sketch_counts_window(counts, &window);
	if (!plan(&completed, window.panes, sketch_counts_one(counts) > 1 ? 64 : 32, &asked))
		return true;
	if (asked.d != has->d)
		return state_differs(file, "d", has->d, asked.d);
	return asked.w != has->w && state_differs(file, "w", has->w, asked.w);
}

/* Whether a window or decay (`field`) was asked for that is not the sketch's `has`. */
static bool contradicts_span(const char *file, const char *field, const struct span *has,
			     const struct span *asked)
{
	if (asked->length == 0 || (asked->unit == has->unit && asked->length == has->length))
		return false;
	return span_differs(file, field, has, asked);
}

static bool contradicts_forgetting(const struct counts_options *options, const char *file,
				   const struct sketch_counts *counts)
{
	struct sketch_pane_window window = { 0 };
	struct sketch_decay decay;
	struct span length, half_life = { 0 };

	(void)sketch_counts_window(counts, &window);
	length = (struct span){ window.unit, window.length };
	if (sketch_counts_decay(counts, &decay))
		half_life = (struct span){ decay.unit, decay.half_life };
	return contradicts_span(file, "window", &length, &options->window) ||
	       contradicts_span(file, "decay", &half_life, &options->decay);
}

/* Whether the command line says anything else than the sketch to be added to. */
static bool contradicts(const struct counts_options *options, bool fold,
			const struct sketch_counts *counts)
{
	const struct sketch_counts_params *has = sketch_counts_params(counts);
	const char *file = options->state.path;

	if (contradicts_size(options, file, counts) ||
	    contradicts_forgetting(options, file, counts))
		return true;
	if (!keying_fits(&options->keying, file, sketch_counts_identity(counts)))
		return true;
	if (options->plain && has->update != SKETCH_PLAIN) {
		message("%s: update rule differs: the file's is conservative, not plain", file);
		return true;
	}
	return state_contradicts(file, sketch_counts_identity(counts),
				 options->has_seed ? &options->seed : NULL, fold);
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
	target->saved_moment = sketch_counts_moment(target->counts);
	return true;
}

/* The file knows the time of day; from here on the monotonic clock counts, so that a
 * clock that is set does not matter within a run.  One that went back since stands
 * still until it catches up. */
static void start_clock(struct counts_target *target)
{
	uint64_t now = system_wall_clock(), moment = sketch_counts_moment(target->counts);
	struct sketch_pane_window window;
	struct sketch_decay decay;
	uint64_t little = 0;

	if (moment > now) {
		/* A clock that was right now and then was ahead, or is behind. */
		if (sketch_counts_window(target->counts, &window))
			little = window.span;
		else if (sketch_counts_decay(target->counts, &decay))
			little = decay.half_life;
		if (moment - now > little)
			message("%s: warning: was saved later than now by the clock; nothing is "
				"forgotten until then",
				target->options->state.path);
		now = moment;
	}
	/* May wrap around; only differences are used. */
	target->epoch = now - system_clock();
}

void counts_advance(struct counts_target *target)
{
	sketch_counts_advance(target->counts, target->epoch + system_clock());
}

bool counts_forgets(const struct sketch_counts *counts)
{
	struct sketch_pane_window window;
	struct sketch_decay decay;

	return sketch_counts_window(counts, &window) || sketch_counts_decay(counts, &decay);
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
	start_clock(target);
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
	if (target->options->output != NULL && !counts_to_stdout(target->options) &&
	    stat(target->options->output, &st) == 0)
		records_forbid(records, &st);
}

enum sketch_status counts_write(void *counts, int fd, struct sketch_error *error)
{
	return sketch_counts_write(counts, fd, error);
}

bool counts_save(struct counts_target *target, uint64_t records)
{
	uint64_t total;

	if (__builtin_add_overflow(target->before, records, &total))
		total = UINT64_MAX;
	sketch_counts_set_records(target->counts, total);
	counts_advance(target);
	if (target->options->output != NULL)
		return open_target_write(&target->save, target->options->output, target->fd,
					 counts_write, target->counts);
	if (target->state == NULL || (records == target->saved && !state_is_new(target->state) &&
				      sketch_counts_moment(target->counts) == target->saved_moment))
		return true;
	if (!state_save(target->state, counts_write, target->counts))
		return false;
	target->saved = records;
	target->saved_moment = sketch_counts_moment(target->counts);
	return true;
}

void counts_end(struct counts_target *target)
{
	sketch_save_abort(target->save);
	state_close(target->state);
	sketch_counts_free(target->counts);
}

/* --------------------------------------------------------------------- adding */

static bool add_batch(struct sketch_counts *counts, const struct records_batch *batch,
		      bool weighted, uint64_t records_before, const uint64_t *limit, bool *admitted,
		      uint64_t *estimates)
{
	struct sketch_key keys[RECORDS_BATCH];
	uint64_t of_keys[RECORDS_BATCH];
	bool of_admitted[RECORDS_BATCH];
	uint8_t places[RECORDS_BATCH];
	uint64_t *wanted = estimates == NULL ? NULL : of_keys;
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
	if ((limit == NULL ? sketch_counts_add(counts, keys, kept, wanted, &done, &error) :
			     sketch_counts_admit(counts, keys, kept, *limit, of_admitted, wanted,
						 &done, &error)) != SKETCH_OK) {
		message("record %" PRIu64 ": %s", records_before + places[done] + 1, error.text);
		return false;
	}
	for (size_t i = 0; i < batch->count && estimates != NULL; i++)
		estimates[i] = 0;
	for (size_t i = 0; i < kept && estimates != NULL; i++)
		estimates[places[i]] = of_keys[i];
	for (size_t i = 0; i < batch->count && limit != NULL; i++)
		admitted[i] = true;
	for (size_t i = 0; i < kept && limit != NULL; i++)
		admitted[places[i]] = of_admitted[i];
	return true;
}

bool counts_add_batch(struct sketch_counts *counts, const struct records_batch *batch,
		      bool weighted, uint64_t records_before, uint64_t *estimates)
{
	return add_batch(counts, batch, weighted, records_before, NULL, NULL, estimates);
}

bool counts_admit_batch(struct sketch_counts *counts, const struct records_batch *batch,
			bool weighted, uint64_t records_before, uint64_t limit, bool *admitted,
			uint64_t *estimates)
{
	return add_batch(counts, batch, weighted, records_before, &limit, admitted, estimates);
}

/* ------------------------------------------------------------------- printing */

/* So many spans of a pane and `more`, or the most there is: a file may have any span. */
static uint64_t spans(const struct sketch_pane_window *window, uint64_t count, uint64_t more)
{
	uint64_t length;

	if (__builtin_mul_overflow(count, window->span, &length) ||
	    __builtin_add_overflow(length, more, &length))
		return UINT64_MAX;
	return length;
}

/* How much is remembered, where not all is. */
static void print_forgetting(const struct sketch_counts *counts)
{
	struct sketch_pane_window window;
	struct sketch_decay decay;
	char length[DURATION_TEXT], most[DURATION_TEXT];

	if (sketch_counts_window(counts, &window)) {
		if (window.unit == SKETCH_WINDOW_RECORDS)
			message("a count covers the last %" PRIu64 " to %" PRIu64 " records",
				spans(&window, window.panes - 1, 1),
				spans(&window, window.panes, 0));
		else
			message("a count covers the last %s to %s",
				duration_text(length, spans(&window, window.panes - 1, 0)),
				duration_text(most, spans(&window, window.panes, 0)));
	} else if (sketch_counts_decay(counts, &decay)) {
		message("a count halves every %s",
			duration_or_records(length, decay.unit, decay.half_life));
	}
}

/* What a window's pane covers has no finer moment than when the pane began. */
bool counts_saved_text(char out[COUNTS_SAVED_TEXT], const struct sketch_counts *counts)
{
	uint64_t moment = sketch_counts_moment(counts), now = system_wall_clock();
	char at[DURATION_TEXT], span[DURATION_TEXT], age[DURATION_TEXT];
	struct sketch_pane_window window;
	bool coarse = sketch_counts_window(counts, &window);
	int length;

	if (moment == 0)
		return false;
	length = snprintf(out, COUNTS_SAVED_TEXT, "as it was at %s%s%s",
			  duration_moment(at, (int64_t)moment), coarse ? " or up to " : "",
			  coarse ? duration_text(span, window.span) : "");
	if (moment > now)
		snprintf(out + length, COUNTS_SAVED_TEXT - (size_t)length,
			 "%s, later than now by the clock", coarse ? " after" : "");
	else
		snprintf(out + length, COUNTS_SAVED_TEXT - (size_t)length, "%s%s ago",
			 coarse ? " after, at most " : ", ",
			 duration_age(age, now - moment, coarse));
	return true;
}

void counts_print_saved(const struct sketch_counts *counts)
{
	char text[COUNTS_SAVED_TEXT];

	if (counts_saved_text(text, counts))
		message("%s", text);
	counts_print_state(counts);
}

void counts_print_state(const struct sketch_counts *counts)
{
	const struct sketch_counts_params *params = sketch_counts_params(counts);
	uint64_t one = sketch_counts_one(counts);
	char total[COUNTS_TEXT + 1], in_table[COUNTS_TEXT + 1], least[COUNTS_TEXT + 1];
	struct sketch_counts_state state;
	double slack;

	print_forgetting(counts);
	sketch_counts_state(counts, &state);
	counts_string(total, state.total, one, COUNTS_NEAREST);
	if (state.exact) {
		message("total %s of %" PRIu64 " keys, every count exact%s", total, state.tracked,
			one > 1 ? " but for rounding" : "");
		return;
	}
	slack = sketch_counts_epsilon(params) * (double)state.in_table / (double)one;
	message("total %s, in the table %s: there a count is at most %.*f too "
		"high with confidence %.4g",
		total, counts_string(in_table, state.in_table, one, COUNTS_UP), one > 1 ? 3 : 0,
		slack, 1 - sketch_counts_delta(params));
	if (params->tracked > 0)
		message("%" PRIu64 " keys tracked: any key that counts more than %s"
			" is among them",
			state.tracked, counts_string(least, state.floor, one, COUNTS_UP));
}

static size_t digits_of(char *out, uint64_t value)
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

/* Thousandths of a count in parts of `one`, which is a power of two up to 2^20. */
static uint64_t thousandths(uint64_t count, uint64_t one, enum counts_rounding rounding)
{
	uint64_t part = count % one * 1000;

	part += rounding == COUNTS_UP ? one - 1 : rounding == COUNTS_NEAREST ? one / 2 : 0;
	return count / one * 1000 + part / one;
}

size_t counts_text(char out[COUNTS_TEXT], uint64_t count, uint64_t one,
		   enum counts_rounding rounding)
{
	uint64_t rest;
	size_t length;

	if (one == 1)
		return digits_of(out, count);
	rest = thousandths(count, one, rounding);
	length = digits_of(out, rest / 1000);
	out[length++] = '.';
	for (uint64_t place = 100; place > 0; place /= 10)
		out[length++] = (char)('0' + rest / place % 10);
	return length;
}

const char *counts_string(char out[COUNTS_TEXT + 1], uint64_t count, uint64_t one,
			  enum counts_rounding rounding)
{
	out[counts_text(out, count, one, rounding)] = '\0';
	return out;
}

/* Nearest to a whole number of thousandths is what is less than half of one away. */
uint64_t counts_from(uint64_t count, uint64_t one)
{
	return count > UINT64_MAX / one ? UINT64_MAX : count == 0 ? 0 : count * one - one / 2000;
}

uint64_t counts_up_to(uint64_t count, uint64_t one)
{
	return count >= UINT64_MAX / one ? UINT64_MAX : count * one + one / 2000;
}
