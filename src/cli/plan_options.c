#include "plan_options.h"

#include <inttypes.h>
#include <string.h>

#include "filter.h"
#include "message.h"
#include "number.h"
#include "system.h"

static const struct option_spec plan_specs[] = {
	{ 'n', "keys", "N", "distinct keys to make room for (1000, 1e6, 10M)" },
	{ 'p', "rate", "P", "ceiling on false positives at N keys (0.01, 1%, 1e-6)" },
	{ 'm', "bits", "SIZE", "size of the filter (48000000 bits, 6MB, 6MiB, 48Mbit)" },
	{ 'k', "hashes", "K", "bits a key sets, 1 to 255" },
	{ 'L', "layout", "LAYOUT",
	  "blocked (a key's bits share cache lines) or classic [blocked]" },
	{ 's', "seed", "N", "seed of the hash, to decorrelate filters used together [0]" },
};

/* ------------------------------------------------------------------- options */

static bool take_layout(struct plan_options *options, const char *value)
{
	options->has_layout = true;
	if (strcmp(value, "blocked") == 0)
		options->request.layout = SKETCH_BLOCKED;
	else if (strcmp(value, "classic") == 0)
		options->request.layout = SKETCH_CLASSIC;
	else {
		message("--layout: '%s' is not a layout: write blocked or classic", value);
		return false;
	}
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

/* -------------------------------------------------------------------- filter */

bool plan_complete(const struct plan_options *options, double rate, struct sketch_params *params,
		   bool *grows)
{
	struct sketch_request request = options->request;
	struct sketch_error error;
	enum sketch_status status;

	*grows = request.n == 0 && request.m == 0;
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
	return (struct sketch_identity){
		.family = SKETCH_FAMILY_MURMUR3,
		.transforms = fold ? SKETCH_FOLD_ASCII : 0,
		.seed = options->seed,
		.arrangement = arrangement,
	};
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
	status = sketch_bloom_new(&filter, &identity, &params, 1, system_memory(), &error);
	return made(filter, status, &params, &error);
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

static bool differs(const char *file, const char *field, uint64_t has, uint64_t asked)
{
	message("%s: %s differs: the file has %" PRIu64 ", the command line says %" PRIu64, file,
		field, has, asked);
	return true;
}

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
		return differs(file, "m", has->m, asked->m);
	if (asked->k != 0 && asked->k != has->k)
		return differs(file, "k", has->k, asked->k);
	if (asked->n != 0 && asked->n != has->n)
		return differs(file, "n", has->n, asked->n);
	return false;
}

bool plan_contradicts(const struct plan_options *options, bool fold, const char *file,
		      const struct sketch_bloom *filter)
{
	const struct sketch_identity *identity = sketch_bloom_identity(filter);
	const struct sketch_params *has = sketch_bloom_params(filter, 0);
	const struct sketch_request *asked = &options->request;
	struct sketch_request generation = *asked;
	/* Layers share what was promised: each later one of a ladder has half. */
	double promised = identity->arrangement == SKETCH_SINGLE ? has->p : 2 * has->p;
	char first[32], second[32];

	if (options->has_layout && asked->layout != has->layout) {
		message("%s: layout differs: the file has %s, the command line says %s", file,
			filter_layout_name(has->layout), filter_layout_name(asked->layout));
		return true;
	}
	/* The size of a window is that of its generations together. */
	if (identity->arrangement == SKETCH_WINDOW)
		generation.m /= sketch_bloom_layers(filter);
	if (contradicts_size(&generation, file, has, identity->arrangement == SKETCH_LADDER))
		return true;
	if (options->has_seed && options->seed != identity->seed)
		return differs(file, "seed", identity->seed, options->seed);
	if (asked->p != 0 && memcmp(&asked->p, &promised, sizeof promised) != 0) {
		message("%s: p differs: the file has %s, the command line says %s", file,
			number_print(first, promised), number_print(second, asked->p));
		return true;
	}
	if (fold && !(identity->transforms & SKETCH_FOLD_ASCII)) {
		message("%s: ignore-case differs: the file's keys were not folded", file);
		return true;
	}
	return false;
}
