#include "plan_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "filter.h"
#include "message.h"
#include "number.h"
#include "state.h"
#include "system.h"

static const struct option_spec plan_specs[] = {
	{ 'n', "keys", "N", "distinct keys to make room for (1000, 1e6, 10M)" },
	{ 'p', "rate", "P", "ceiling on false positives at N keys (1%, 1e-6)" },
	{ 'm', "bits", "SIZE", "size of the filter (6MB, 6MiB, 48Mbit)" },
	{ 'k', "hashes", "K", "bits a key sets, 1 to 255" },
	{ 'L', "layout", "LAYOUT", "blocked (few cache lines) or classic [blocked]" },
	{ 's', "seed", "N", "seed of the hash [0]" },
};

/* ------------------------------------------------------------------- options */

static bool take_layout(struct plan_options *options, const char *value)
{
	static const enum sketch_layout layouts[] = { SKETCH_BLOCKED, SKETCH_CLASSIC };
	size_t place;

	if (!option_word("layout", value, PLAN_LAYOUTS, "a layout", &place))
		return false;
	options->has_layout = true;
	options->request.layout = layouts[place];
	return true;
}

static bool take_plan_option(void *context, int letter, const char *value)
{
	struct plan_options *options = context;
	struct sketch_request *request = &options->request;
	struct number_error error;
	const char *name = "";
	uint64_t number = 0;
	bool good = false;

	switch (letter) {
	case 'L':
		return take_layout(options, value);
	case 'n':
		name = "--keys";
		good = number_count(value, 1, UINT64_C(1000000000000000000), &request->n, &error);
		break;
	case 'p':
		name = "--rate";
		good = number_probability(value, &request->p, &error);
		break;
	case 'm':
		name = "--bits";
		good = number_bits(value, SKETCH_MAX_BITS, &request->m, &error);
		break;
	case 'k':
		name = "--hashes";
		good = number_count(value, 1, SKETCH_MAX_HASHES, &number, &error);
		request->k = (uint32_t)number;
		break;
	case 's':
		name = "--seed";
		good = number_count(value, 0, UINT32_MAX, &number, &error);
		options->seed = (uint32_t)number;
		options->has_seed = true;
		break;
	}
	if (!good)
		message("%s: %s", name, error.text);
	return good;
}

struct option_group plan_option_group(struct plan_options *options)
{
	return (struct option_group){ "Size", plan_specs, sizeof plan_specs / sizeof *plan_specs,
				      take_plan_option, options };
}

/* ---------------------------------------------------------------------- kind */

enum { OPTION_KIND = 340, OPTION_COUNTER_BITS };

#define PLAN_COUNTER_BITS 4

static const struct option_spec kind_specs[] = {
	{ OPTION_KIND, "kind", "KIND", "bloom; for --remove-from counting, cuckoo [bloom]" },
	{ OPTION_COUNTER_BITS, "counter-bits", "N", "of each counter: 4, 8 or 16 [4]" },
};

static bool take_kind(struct plan_options *options, const char *value)
{
	static const enum sketch_kind kinds[] = { SKETCH_KIND_BLOOM, SKETCH_KIND_COUNTING_BLOOM,
						  SKETCH_KIND_CUCKOO };
	size_t place;

	if (!option_word("kind", value, PLAN_KINDS, "a kind of filter", &place))
		return false;
	options->has_kind = true;
	options->kind = kinds[place];
	return true;
}

static bool take_kind_option(void *context, int letter, const char *value)
{
	struct plan_options *options = context;
	size_t place;

	if (letter == OPTION_KIND)
		return take_kind(options, value);
	if (!option_word("counter-bits", value, PLAN_COUNTER_SIZES, "a size of a counter", &place))
		return false;
	options->counter_bits = 4u << place;
	return true;
}

struct option_group plan_kind_option_group(struct plan_options *options)
{
	return (struct option_group){ "Kind", kind_specs, sizeof kind_specs / sizeof *kind_specs,
				      take_kind_option, options };
}

bool plan_kind_check(const struct plan_options *options)
{
	if (options->kind == SKETCH_KIND_CUCKOO &&
	    (options->has_layout || options->request.k != 0)) {
		option_complain("--kind cuckoo excludes --layout and --hashes: it keeps "
				"fingerprints, not bits");
		return false;
	}
	if (options->counter_bits == 0 || options->kind == SKETCH_KIND_COUNTING_BLOOM)
		return true;
	option_complain("--counter-bits needs --kind counting: other filters have no counters");
	return false;
}

unsigned int plan_counter_bits(const struct plan_options *options)
{
	if (options->kind != SKETCH_KIND_COUNTING_BLOOM)
		return 0;
	return options->counter_bits > 0 ? options->counter_bits : PLAN_COUNTER_BITS;
}

/* -------------------------------------------------------------------- filter */

/* What cannot grow must know its keys. */
static bool has_keys(const struct plan_options *options)
{
	if (options->request.n == 0)
		option_complain("--kind needs --keys: only a plain Bloom filter grows with its "
				"keys");
	return options->request.n != 0;
}

bool plan_complete_cuckoo(const struct plan_options *options, double rate,
			  struct sketch_cuckoo_params *params)
{
	const struct sketch_request *asked = &options->request;
	double p = asked->p == 0 && asked->m == 0 ? rate : asked->p;
	struct sketch_error error;

	if (!has_keys(options))
		return false;
	if (sketch_cuckoo_plan(asked->n, p, asked->m, params, &error) == SKETCH_OK)
		return true;
	message("%s", error.text);
	return false;
}

bool plan_complete(const struct plan_options *options, double rate, struct sketch_params *params,
		   bool *grows)
{
	struct sketch_request request = options->request;
	struct sketch_error error;
	enum sketch_status status;

	*grows = request.n == 0 && request.m == 0;
	if (options->kind != SKETCH_KIND_BLOOM && !has_keys(options))
		return false;
	if (plan_counter_bits(options) > 0)
		request.m /= plan_counter_bits(options);
	if (*grows && request.k != 0) {
		option_complain(
			"--hashes needs --keys or --bits: a filter that grows chooses its own");
		return false;
	}
	/* The rate is promised unless the size and the number of keys decide it. */
	if (request.p == 0 && (request.n == 0 || request.m == 0))
		request.p = rate;
	status = *grows ? sketch_ladder_rung(request.layout, request.p, 0, params, &error) :
			  sketch_plan(&request, params, &error);
	if (status != SKETCH_OK)
		message("%s", error.text);
	return status == SKETCH_OK;
}

static struct sketch_identity identity_of(const struct plan_options *options, bool fold,
					  enum sketch_arrangement arrangement)
{
	return keying_identity(&options->keying, options->seed, fold, arrangement);
}

static struct sketch_bloom *made(struct sketch_bloom *filter, enum sketch_status status,
				 const struct sketch_params *params,
				 const struct sketch_error *error)
{
	if (status == SKETCH_OK)
		return filter;
	message("a filter for %" PRIu64 " keys %s", params->n, error->text);
	return NULL;
}

struct sketch_bloom *plan_make_filter(const struct plan_options *options, double rate, bool fold)
{
	struct sketch_identity identity;
	struct sketch_bloom *filter = NULL;
	struct sketch_params params;
	struct sketch_error error;
	enum sketch_status status;
	bool grows;

	if (!plan_complete(options, rate, &params, &grows))
		return NULL;
	identity = identity_of(options, fold, grows ? SKETCH_LADDER : SKETCH_SINGLE);
	if (plan_counter_bits(options) > 0)
		status = sketch_counting_new(&filter, &identity, &params,
					     plan_counter_bits(options), system_memory(), &error);
	else
		status = sketch_bloom_new(&filter, &identity, &params, 1, system_memory(), &error);
	return made(filter, status, &params, &error);
}

struct sketch_cuckoo *plan_make_cuckoo(const struct plan_options *options, double rate, bool fold)
{
	struct sketch_identity identity = identity_of(options, fold, SKETCH_SINGLE);
	struct sketch_cuckoo *cuckoo = NULL;
	struct sketch_cuckoo_params params;
	struct sketch_error error;

	if (!plan_complete_cuckoo(options, rate, &params))
		return NULL;
	if (sketch_cuckoo_new(&cuckoo, &identity, &params, system_memory(), &error) != SKETCH_OK)
		message("a filter for %" PRIu64 " keys %s", params.n, error.text);
	return cuckoo;
}

struct sketch_bloom *plan_make_window(const struct plan_options *options, double rate, bool fold,
				      const struct sketch_window *window, uint64_t records)
{
	struct sketch_identity identity = identity_of(options, fold, SKETCH_WINDOW);
	struct plan_options generation = *options;
	struct sketch_bloom *filter = NULL;
	struct sketch_params params;
	struct sketch_error error;
	enum sketch_status status;
	bool grows;

	generation.request.p /= 2;
	generation.request.m /= 2;
	if (generation.request.n == 0)
		generation.request.n = records;
	if (!plan_complete(&generation, rate / 2, &params, &grows))
		return NULL;
	status = sketch_window_new(&filter, &identity, &params, window, system_memory(), &error);
	return made(filter, status, &params, &error);
}

/* ------------------------------------------------------------- contradictions */

/* n, m and k of a ladder are its own affair. */
static bool contradicts_size(const struct sketch_request *asked, const char *file,
			     const struct sketch_params *has, bool grows)
{
	uint64_t unit =
		has->layout == SKETCH_CLASSIC ? SKETCH_CLASSIC_UNIT : SKETCH_BLOCK_BITS * has->g;

	if (grows && (asked->n != 0 || asked->m != 0 || asked->k != 0)) {
		message("%s: the file grows; %s cannot be given", file,
			asked->n != 0 ? "n" :
			asked->m != 0 ? "m" :
					"k");
		return true;
	}
	if (asked->m != 0 && asked->m / unit * unit != has->m)
		return state_differs(file, "m", has->m, asked->m);
	if (asked->k != 0 && asked->k != has->k)
		return state_differs(file, "k", has->k, asked->k);
	if (asked->n != 0 && asked->n != has->n)
		return state_differs(file, "n", has->n, asked->n);
	return false;
}

static bool contradicts_kind(const struct plan_options *options, const char *file, uint32_t kind,
			     unsigned int counter_bits)
{
	if (options->has_kind && (uint32_t)options->kind != kind) {
		message("%s: kind differs: the file is a %s, the command line says %s", file,
			sketch_kind_name(kind), sketch_kind_name((uint32_t)options->kind));
		return true;
	}
	if (options->counter_bits != 0 && options->counter_bits != counter_bits)
		return state_differs(file, "bits of a counter", counter_bits,
				     options->counter_bits);
	return false;
}

/* What every kind has. */
static bool contradicts_rest(const struct plan_options *options, bool fold, const char *file,
			     const struct sketch_identity *identity, double promised)
{
	double asked = options->request.p;
	uint64_t seed = options->seed;
	char first[32], second[32];

	if (!keying_fits(&options->keying, file, identity))
		return true;
	if (asked != 0 && memcmp(&asked, &promised, sizeof promised) != 0) {
		message("%s: p differs: the file has %s, the command line says %s", file,
			number_print(first, promised), number_print(second, asked));
		return true;
	}
	return state_contradicts(file, identity, options->has_seed ? &seed : NULL, fold);
}

bool plan_contradicts(const struct plan_options *options, bool fold, const char *file,
		      const struct sketch_bloom *filter)
{
	unsigned int counter_bits = sketch_bloom_counter_bits(filter);
	const struct sketch_identity *identity = sketch_bloom_identity(filter);
	const struct sketch_params *has = sketch_bloom_params(filter, 0);
	const struct sketch_request *asked = &options->request;
	struct sketch_request generation = *asked;
	/* Layers share what was promised: each later one of a ladder has half. */
	double promised = identity->arrangement == SKETCH_SINGLE ? has->p : 2 * has->p;

	if (contradicts_kind(options, file,
			     counter_bits > 0 ? SKETCH_KIND_COUNTING_BLOOM : SKETCH_KIND_BLOOM,
			     counter_bits))
		return true;
	if (options->has_layout && asked->layout != has->layout) {
		message("%s: layout differs: the file has %s, the command line says %s", file,
			filter_layout_name(has->layout), filter_layout_name(asked->layout));
		return true;
	}
	/* The size of a window is that of its generations together. */
	if (identity->arrangement == SKETCH_WINDOW)
		generation.m /= sketch_bloom_layers(filter);
	/* So is that of counters: their number is the m of the file. */
	if (counter_bits > 0)
		generation.m /= counter_bits;
	if (contradicts_size(&generation, file, has, identity->arrangement == SKETCH_LADDER))
		return true;
	return contradicts_rest(options, fold, file, identity, promised);
}

bool plan_contradicts_cuckoo(const struct plan_options *options, bool fold, const char *file,
			     const struct sketch_cuckoo *cuckoo)
{
	const struct sketch_cuckoo_params *has = sketch_cuckoo_params(cuckoo);
	const struct sketch_request *asked = &options->request;
	struct sketch_cuckoo_params same;

	if (contradicts_kind(options, file, SKETCH_KIND_CUCKOO, 0))
		return true;
	if (options->has_layout || asked->k != 0) {
		message("%s: a cuckoo filter has no layout and no hashes", file);
		return true;
	}
	if (asked->n != 0 && asked->n != has->n)
		return state_differs(file, "n", has->n, asked->n);
	/* What is asked for is a size at the most: it must lead to this table. */
	if (asked->m != 0 && (sketch_cuckoo_plan(has->n, 0, asked->m, &same, NULL) != SKETCH_OK ||
			      same.f != has->f || same.buckets != has->buckets))
		return state_differs(file, "m", 8 * sketch_cuckoo_size(has), asked->m);
	return contradicts_rest(options, fold, file, sketch_cuckoo_identity(cuckoo), has->p);
}
