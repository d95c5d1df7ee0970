#include "simulate.h"

#include <inttypes.h>
#include <stdio.h>

#include "message.h"
#include "number.h"
#include "progress.h"
#include "system.h"

#define BATCH 256
#define KEY_BYTES 8
#define TAIL 0.025 /* of a 95 % interval, on each side */
#define STRICT_TAIL 1e-4
#define QUERIES_MOST 5e7 /* of all filters, where nobody asked for more */
#define QUERIES_LEAST 1000
#define HITS_WANTED 2e4

/* Keys that take ten minutes, at 60 ns each. */
#define KEYS_MOST 1e10

uint64_t simulate_queries(double p, uint64_t filters)
{
	double queries = HITS_WANTED / p;

	if (queries > QUERIES_MOST)
		queries = QUERIES_MOST;
	queries /= (double)filters;
	return queries > QUERIES_LEAST ? (uint64_t)queries : QUERIES_LEAST;
}

/* ---------------------------------------------------------------------- keys */

/* The hashes of the numbers from `first` on. */
static void hash_numbers(struct sketch_hash *hashes, uint64_t first, size_t count, uint32_t seed)
{
	for (size_t i = 0; i < count; i++) {
		uint8_t key[KEY_BYTES];

		for (int byte = 0; byte < KEY_BYTES; byte++)
			key[byte] = (uint8_t)((first + i) >> (8 * byte));
		hashes[i] = sketch_murmur3_x64_128(key, sizeof key, seed);
	}
}

static size_t least(uint64_t left)
{
	return left < BATCH ? (size_t)left : BATCH;
}

static uint64_t count_found(const uint64_t found[BATCH / 64])
{
	uint64_t count = 0;

	for (size_t i = 0; i < BATCH / 64; i++)
		count += (uint64_t)__builtin_popcountll(found[i]);
	return count;
}

/* -------------------------------------------------------------------- filters */

/* How far all of it has come, in bytes of keys. */
struct pace {
	struct progress progress;
	uint64_t bytes;
};

static void step(struct pace *pace, size_t keys)
{
	pace->bytes += keys * KEY_BYTES;
	progress_update(&pace->progress, pace->bytes);
}

static void insert_keys(struct sketch_bloom *filter, uint64_t keys, uint32_t seed,
			struct pace *pace)
{
	struct sketch_hash hashes[BATCH];

	for (uint64_t at = 0; at < keys; at += BATCH) {
		size_t count = least(keys - at);

		hash_numbers(hashes, at, count, seed);
		sketch_bloom_add(filter, hashes, count);
		step(pace, count);
	}
}

static bool ask(struct sketch_bloom *filter, uint64_t first, uint64_t queries, uint32_t seed,
		struct pace *pace, uint64_t *hits)
{
	struct sketch_hash hashes[BATCH];
	struct sketch_error error;

	*hits = 0;
	for (uint64_t at = 0; at < queries; at += BATCH) {
		uint64_t found[BATCH / 64] = { 0 };
		size_t count = least(queries - at);

		hash_numbers(hashes, first + at, count, seed);
		if (sketch_bloom_test(filter, hashes, count, found, &error) != SKETCH_OK) {
			message("%s", error.text);
			return false;
		}
		*hits += count_found(found);
		step(pace, count);
	}
	return true;
}

static bool simulate_one(const struct simulation *simulation, uint32_t seed, struct pace *pace,
			 uint64_t *hits)
{
	const struct sketch_params *params = &simulation->params;
	struct sketch_identity identity = {
		.family = SKETCH_FAMILY_MURMUR3,
		.seed = seed,
		.arrangement = SKETCH_SINGLE,
	};
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;
	bool good;

	if (sketch_bloom_new(&filter, &identity, params, 1, system_memory(), &error) != SKETCH_OK) {
		message("--simulate: a filter for %" PRIu64 " keys %s", params->n, error.text);
		return false;
	}
	insert_keys(filter, params->n, seed, pace);
	good = ask(filter, params->n, simulation->queries, seed, pace, hits);
	sketch_bloom_free(filter);
	return good;
}

/* Says in time what would take too long. */
static bool check_time(const struct simulation *simulation)
{
	double keys = (double)simulation->filters *
		      ((double)simulation->params.n + (double)simulation->queries);
	char minutes[32];

	if (keys <= KEYS_MOST)
		return true;
	snprintf(minutes, sizeof minutes, "%.3g", keys / KEYS_MOST * 10);
	message("--simulate: %" PRIu64 " filters of %" PRIu64 " keys, with %" PRIu64
		" queries each, would take some %s minutes; simulate fewer filters, or a smaller "
		"case with the same bits per key",
		simulation->filters, simulation->params.n, simulation->queries, minutes);
	return false;
}

static void conclude(struct simulation_result *result, double bound)
{
	const struct interval_sample *sample = &result->sample;

	result->rate = (double)sample->hits / ((double)sample->filters * (double)sample->queries);
	result->interval = interval_of(sample, TAIL);
	result->holds = interval_of(sample, STRICT_TAIL).low <= bound;
}

bool simulate_filters(const struct simulation *simulation, struct simulation_result *result)
{
	struct pace pace = { .bytes = 0 };
	bool good = check_time(simulation);
	uint64_t hits;

	if (!good)
		return false;
	*result = (struct simulation_result){ .sample = { .filters = simulation->filters,
							  .queries = simulation->queries } };
	progress_begin(&pace.progress, simulation->progress);
	progress_expect(&pace.progress, simulation->filters * KEY_BYTES *
						(simulation->params.n + simulation->queries));
	for (uint64_t i = 0; i < simulation->filters && good; i++) {
		good = simulate_one(simulation, simulation->seed + (uint32_t)i, &pace, &hits);
		if (good) {
			result->sample.hits += hits;
			result->sample.squares += (double)hits * (double)hits;
		}
	}
	progress_end(&pace.progress);
	if (good)
		conclude(result, sketch_rate_bound(&simulation->params, simulation->params.n));
	return good;
}

/* ----------------------------------------------------------------------- file */

/* SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ mixed >> 31;
}

static void hash_random(struct sketch_hash *hashes, size_t count, uint64_t *state, uint32_t seed)
{
	for (size_t i = 0; i < count; i++) {
		uint8_t key[16];

		for (size_t half = 0; half < sizeof key; half += 8) {
			uint64_t random = next_random(state);

			for (size_t byte = 0; byte < 8; byte++)
				key[half + byte] = (uint8_t)(random >> (8 * byte));
		}
		hashes[i] = sketch_murmur3_x64_128(key, sizeof key, seed);
	}
}

bool simulate_file(struct sketch_bloom *filter, const char *name, uint64_t queries, uint32_t seed,
		   double bound, struct simulation_result *result)
{
	uint32_t hash_seed = sketch_bloom_identity(filter)->seed;
	struct sketch_hash hashes[BATCH];
	struct sketch_error error;
	uint64_t state = seed;

	*result = (struct simulation_result){ .sample = { .filters = 1, .queries = queries } };
	for (uint64_t at = 0; at < queries; at += BATCH) {
		uint64_t found[BATCH / 64] = { 0 };
		size_t count = least(queries - at);

		hash_random(hashes, count, &state, hash_seed);
		if (sketch_bloom_test(filter, hashes, count, found, &error) != SKETCH_OK) {
			message_file(message_input_name(name), &error);
			return false;
		}
		result->sample.hits += count_found(found);
	}
	conclude(result, bound);
	return true;
}

void simulate_dcso(const struct sketch_dcso *dcso, uint64_t queries, uint32_t seed, double bound,
		   struct simulation_result *result)
{
	*result = (struct simulation_result){ .sample = { .filters = 1, .queries = queries } };
	result->sample.hits = sketch_dcso_sample(dcso, seed, queries);
	conclude(result, bound);
}
