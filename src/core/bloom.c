/* bloom.c - Bloom filters of one or more layers
 *
 * A Bloom filter (Burton Bloom, 1970) is m bits, at first 0.  Adding a key sets
 * the k bits that its hash chooses; a key may have been added if all of its bits
 * are set, and surely was not if one is 0.
 *
 *        apple 1,5         berry 3,6
 *     0 1 0 1 0 1 1 0      date 1,6: both set, by others: a false positive
 *     0 1 2 3 4 5 6 7      cherry 0,3: bit 0 is 0: surely absent
 *
 * Bits are never cleared, so nothing that was added is ever missed, and the
 * filter of a union is the union (or) of the filters.
 *
 * Which bits: positions.h.  How many: sizing.c.  How they are probed: kernel.c.
 * How they are kept: format.h, image.c.  Filters whose keys can be taken out again
 * have counters for bits: counting.c. */
#include "bloom.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "endian.h"
#include "error.h"
#include "format.h"
#include "identity.h"
#include "positions.h"

/* ------------------------------------------------------------ life and death */

void layer_begin(struct layer *layer, const struct sketch_params *params)
{
	*layer = (struct layer){
		.params = *params,
		.bytes = params->m / 8,
		.kernel = kernel_choose(params, kernel_best()),
	};
	if (params->layout == SKETCH_BLOCKED) {
		layer->lines = params->m / SKETCH_BLOCK_BITS / params->g;
		layer->per_line = params->k / params->g;
	}
}

bool layer_allocate(struct layer *layer)
{
	if (!region_new(&layer->own, (size_t)layer->bytes))
		return false;
	layer->bits = layer->own.data;
	return true;
}

struct sketch_bloom *bloom_frame(const struct sketch_identity *identity,
				 const struct sketch_params *layers, size_t layer_count)
{
	size_t room = identity->arrangement == SKETCH_LADDER ? SKETCH_MAX_LAYERS : layer_count;
	struct sketch_bloom *filter = calloc(1, sizeof *filter + room * sizeof filter->layers[0]);

	if (filter == NULL)
		return NULL;
	filter->identity = *identity;
	filter->layer_count = layer_count;
	for (size_t i = 0; i < layer_count; i++)
		layer_begin(&filter->layers[i], &layers[i]);
	return filter;
}

static enum sketch_status check_identity(const struct sketch_identity *identity, size_t layer_count,
					 struct sketch_error *error)
{
	enum sketch_status status = identity_check(identity, error);

	if (status != SKETCH_OK)
		return status;
	if (layer_count < 1 || layer_count > SKETCH_MAX_LAYERS)
		return error_set(error, SKETCH_RANGE, "%zu layers are out of range (1 to %d)",
				 layer_count, SKETCH_MAX_LAYERS);
	if (identity->arrangement == SKETCH_SINGLE && layer_count != 1)
		return error_set(error, SKETCH_RANGE, "%zu layers in a filter of a single one",
				 layer_count);
	return SKETCH_OK;
}

/* Each layer is below 2^60 bytes, so 64 of them can wrap. */
uint64_t params_payload(const struct sketch_params *layers, size_t layer_count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < layer_count; i++) {
		if (__builtin_add_overflow(total, layers[i].m / 8, &total))
			return UINT64_MAX;
	}
	return total;
}

enum sketch_status sketch_bloom_new(struct sketch_bloom **filter,
				    const struct sketch_identity *identity,
				    const struct sketch_params *layers, size_t layer_count,
				    uint64_t budget, struct sketch_error *error)
{
	if (identity->arrangement == SKETCH_WINDOW)
		return error_set(error, SKETCH_RANGE, "a window is made by sketch_window_new");
	return bloom_make(filter, identity, layers, layer_count, 0, budget, error);
}

enum sketch_status bloom_make(struct sketch_bloom **filter, const struct sketch_identity *identity,
			      const struct sketch_params *layers, size_t layer_count,
			      unsigned int counter_bits, uint64_t budget,
			      struct sketch_error *error)
{
	enum sketch_status status = check_identity(identity, layer_count, error);
	struct sketch_bloom *made;
	uint64_t bytes;

	for (size_t i = 0; i < layer_count && status == SKETCH_OK; i++)
		status = sketch_params_check(&layers[i], error);
	if (status != SKETCH_OK)
		return status;
	bytes = params_payload(layers, layer_count);
	/* m is below 2^63, and only a single layer has counters. */
	if (counter_bits > 0)
		bytes *= counter_bits;
	budget = region_budget(budget);
	if (bytes > budget)
		return error_budget(error, bytes, budget);
	made = bloom_frame(identity, layers, layer_count);
	if (made == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	made->writable = true;
	made->budget = budget;
	if (counter_bits > 0)
		layer_make_counting(&made->layers[0], counter_bits);
	for (size_t i = 0; i < layer_count; i++) {
		if (!layer_allocate(&made->layers[i])) {
			sketch_bloom_free(made);
			return error_set(error, SKETCH_NO_MEMORY,
					 "needs %" PRIu64 " bytes of memory, and the system "
					 "refuses them",
					 bytes);
		}
	}
	*filter = made;
	return SKETCH_OK;
}

void sketch_bloom_free(struct sketch_bloom *filter)
{
	if (filter == NULL)
		return;
	for (size_t i = 0; i < filter->layer_count; i++) {
		region_free(&filter->layers[i].own);
		chunks_end(&filter->layers[i].chunks);
	}
	region_free(&filter->image);
	free(filter);
}

/* --------------------------------------------------------------- questions */

const struct sketch_identity *sketch_bloom_identity(const struct sketch_bloom *filter)
{
	return &filter->identity;
}

size_t sketch_bloom_layers(const struct sketch_bloom *filter)
{
	return filter->layer_count;
}

const struct sketch_params *sketch_bloom_params(const struct sketch_bloom *filter, size_t layer)
{
	return &filter->layers[layer].params;
}

uint64_t sketch_bloom_records(const struct sketch_bloom *filter)
{
	return filter->records;
}

void sketch_bloom_set_records(struct sketch_bloom *filter, uint64_t records)
{
	filter->records = records;
}

uint64_t sketch_bloom_payload(const struct sketch_bloom *filter)
{
	uint64_t total = 0;

	for (size_t i = 0; i < filter->layer_count; i++)
		total += filter->layers[i].bytes;
	return total;
}

/* ---------------------------------------------------------------- verifying */

enum sketch_status layer_verify_chunk(struct layer *layer, size_t index, uint64_t chunk,
				      struct sketch_error *error)
{
	uint64_t begin = chunk * FORMAT_CHUNK_BYTES, left = layer->bytes - begin;
	uint64_t end = begin + (left < FORMAT_CHUNK_BYTES ? left : FORMAT_CHUNK_BYTES);

	if (chunks_verify(&layer->chunks, chunk))
		return SKETCH_OK;
	return error_set(error, SKETCH_DAMAGED,
			 "damaged: wrong checksum of bits %" PRIu64 " to %" PRIu64 " of layer %zu",
			 begin * 8, end * 8 - 1, index);
}

enum sketch_status layer_verify(struct layer *layer, size_t index, struct sketch_error *error)
{
	for (uint64_t chunk = 0; layer->chunks.unverified > 0; chunk++) {
		enum sketch_status status = layer_verify_chunk(layer, index, chunk, error);

		if (status != SKETCH_OK)
			return status;
	}
	return SKETCH_OK;
}

enum sketch_status sketch_bloom_verify(struct sketch_bloom *filter, struct sketch_error *error)
{
	for (size_t i = 0; i < filter->layer_count; i++) {
		enum sketch_status status = layer_verify(&filter->layers[i], i, error);

		if (status != SKETCH_OK)
			return status;
	}
	return SKETCH_OK;
}

/* Verifies the chunks that the keys are about to touch. */
static enum sketch_status verify_touched(struct layer *layer, size_t index,
					 const struct sketch_hash *hashes, size_t count,
					 struct sketch_error *error)
{
	const struct sketch_params *params = &layer->params;
	bool blocked = params->layout == SKETCH_BLOCKED;
	uint32_t probes = blocked ? params->g : params->k;
	unsigned int width = layer->counter_bits > 0 ? layer->counter_bits : 1;

	for (size_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < probes; j++) {
			uint64_t u = positions_u(hashes[i], j);
			uint64_t bit =
				blocked ? (j * layer->lines + positions_below(u, layer->lines)) *
						  SKETCH_BLOCK_BITS :
					  positions_below(u, params->m);
			enum sketch_status status =
				layer_verify_chunk(layer, index,
						   bit / 8 * width / FORMAT_CHUNK_BYTES, error);

			if (status != SKETCH_OK)
				return status;
		}
	}
	return SKETCH_OK;
}

/* ------------------------------------------------------------ add and test */

static size_t batch_at(size_t done, size_t count)
{
	return count - done < KERNEL_BATCH ? count - done : KERNEL_BATCH;
}

/* The layer that takes keys; what a ladder knew of its bits no longer holds. */
static const struct layer *layer_to_change(struct sketch_bloom *filter)
{
	struct layer *layer = &filter->layers[filter->layer_count - 1];

	layer->counted = false;
	layer->safe_keys = 0;
	return layer;
}

void sketch_bloom_add(struct sketch_bloom *filter, const struct sketch_hash *hashes, size_t count)
{
	const struct layer *layer = layer_to_change(filter);

	for (size_t done = 0; done < count; done += KERNEL_BATCH)
		layer->kernel->add(layer, hashes + done, batch_at(done, count));
}

enum sketch_status sketch_bloom_test(struct sketch_bloom *filter, const struct sketch_hash *hashes,
				     size_t count, uint64_t *found, struct sketch_error *error)
{
	for (size_t done = 0; done < count; done += KERNEL_BATCH) {
		size_t batch = batch_at(done, count);
		uint64_t verdict = 0;

		for (size_t i = 0; i < filter->layer_count; i++) {
			struct layer *layer = &filter->layers[i];

			if (layer->chunks.unverified > 0) {
				enum sketch_status status =
					verify_touched(layer, i, hashes + done, batch, error);
				if (status != SKETCH_OK)
					return status;
			}
			verdict |= layer->kernel->test(layer, hashes + done, batch);
		}
		found[done / KERNEL_BATCH] = verdict;
	}
	return SKETCH_OK;
}

void sketch_bloom_test_and_add(struct sketch_bloom *filter, const struct sketch_hash *hashes,
			       size_t count, uint64_t *found)
{
	const struct layer *layer = layer_to_change(filter);

	for (size_t done = 0; done < count; done += KERNEL_BATCH)
		found[done / KERNEL_BATCH] =
			layer->kernel->test_and_add(layer, hashes + done, batch_at(done, count));
}

/* -------------------------------------------------------------------- union */

static const char *layout_name(enum sketch_layout layout)
{
	return layout == SKETCH_CLASSIC ? "classic" : "blocked";
}

static enum sketch_status compare_params(const struct sketch_params *p,
					 const struct sketch_params *q, struct sketch_error *error)
{
	if (p->layout != q->layout)
		return error_set(error, SKETCH_MISMATCH, "layout differs: %s and %s",
				 layout_name(p->layout), layout_name(q->layout));
	if (p->m != q->m)
		return error_differ(error, "m", p->m, q->m);
	if (p->k != q->k)
		return error_differ(error, "k", p->k, q->k);
	if (p->g != q->g)
		return error_differ(error, "g", p->g, q->g);
	return SKETCH_OK;
}

enum sketch_status sketch_bloom_compatible(const struct sketch_bloom *a,
					   const struct sketch_bloom *b, struct sketch_error *error)
{
	static const char *const arrangements[] = { "one filter of fixed size", "a growing one",
						    "one with a window" };
	const struct sketch_identity *p = &a->identity, *q = &b->identity;
	unsigned int counters = sketch_bloom_counter_bits(a);
	enum sketch_status status;

	if (counters != sketch_bloom_counter_bits(b)) {
		if (counters == 0 || sketch_bloom_counter_bits(b) == 0)
			return error_set(error, SKETCH_MISMATCH,
					 "kind differs: one is a counting filter, one a plain one");
		return error_differ(error, "bits of a counter", counters,
				    sketch_bloom_counter_bits(b));
	}
	if (p->arrangement != q->arrangement)
		return error_set(error, SKETCH_MISMATCH, "arrangement differs: %s and %s",
				 arrangements[p->arrangement], arrangements[q->arrangement]);
	if (p->arrangement == SKETCH_WINDOW)
		return error_set(error, SKETCH_MISMATCH,
				 "filters with a window cannot be joined: their times differ");
	status = identity_compare(p, q, error);
	/* Ladders that begin alike go on alike. */
	return status != SKETCH_OK ?
		       status :
		       compare_params(&a->layers[0].params, &b->layers[0].params, error);
}

/* Equal sizes may have been made for different numbers of keys: the smaller promise
 * stands, whichever comes first. */
static void join_promises(struct sketch_params *into, const struct sketch_params *from)
{
	if (from->n < into->n || (from->n == into->n && from->p < into->p)) {
		into->n = from->n;
		into->p = from->p;
	}
}

static void join_layers(struct layer *into, const struct layer *from)
{
	join_promises(&into->params, &from->params);
	if (into->counter_bits > 0) {
		layer_add_counters(into, from);
		return;
	}
	for (uint64_t at = 0; at < into->bytes; at++)
		into->bits[at] |= from->bits[at];
}

enum sketch_status sketch_bloom_union(struct sketch_bloom *into, struct sketch_bloom *from,
				      struct sketch_error *error)
{
	enum sketch_status status = sketch_bloom_compatible(into, from, error);

	if (status == SKETCH_OK)
		status = sketch_bloom_verify(from, error);
	if (status == SKETCH_OK && into->identity.arrangement == SKETCH_LADDER)
		status = ladder_join(into, from, error);
	else if (status == SKETCH_OK)
		join_layers(&into->layers[0], &from->layers[0]);
	if (status != SKETCH_OK)
		return status;
	if (__builtin_add_overflow(into->records, from->records, &into->records))
		into->records = UINT64_MAX;
	return SKETCH_OK;
}

/* -------------------------------------------------------------------- state */

/* Compiled for processors that count bits by themselves, where there are such. */
#if defined(__x86_64__) && !defined(SKETCH_PORTABLE)
static __attribute__((target("popcnt"))) uint64_t count_ones_popcnt(const uint8_t *bits,
								    uint64_t bytes)
{
	uint64_t ones = 0;

	for (uint64_t at = 0; at < bytes; at += 8)
		ones += (uint64_t)__builtin_popcountll(load_u64(bits + at));
	return ones;
}
#endif

uint64_t layer_count_ones(const struct layer *layer)
{
	uint64_t ones = 0;

	if (layer->counter_bits > 0) {
		for (uint64_t word = 0; word < layer->params.m / 64; word++)
			ones += layer_counters_used(layer, word);
		return ones;
	}
#if defined(__x86_64__) && !defined(SKETCH_PORTABLE)
	if (__builtin_cpu_supports("popcnt"))
		return count_ones_popcnt(layer->bits, layer->bytes);
#endif
	for (uint64_t at = 0; at < layer->bytes; at += 8)
		ones += (uint64_t)__builtin_popcountll(load_u64(layer->bits + at));
	return ones;
}

static double power(double base, uint32_t exponent)
{
	double result = 1;

	for (; exponent > 0; exponent >>= 1, base *= base) {
		if (exponent & 1)
			result *= base;
	}
	return result;
}

static unsigned int ones_in_word(const struct layer *layer, uint64_t word)
{
	if (layer->counter_bits > 0)
		return layer_counters_used(layer, word);
	return (unsigned int)__builtin_popcountll(load_u64(layer->bits + 8 * word));
}

/* The probability that an absent key finds its bits set in the line of that number. */
static double line_rate(const struct layer *layer, uint64_t line, uint64_t *ones)
{
	double product = 1;
	uint64_t sum = 0;

	for (unsigned int w = 0; w < 8; w++) {
		unsigned int in_word = ones_in_word(layer, 8 * line + w);

		sum += in_word;
		product *= in_word / 64.0;
	}
	*ones += sum;
	if (layer->per_line == POSITIONS_WORDS)
		return product;
	return power((double)sum / SKETCH_BLOCK_BITS, layer->per_line);
}

static double blocked_rate(const struct layer *layer, uint64_t *ones)
{
	uint64_t line = 0;
	double rate = 1;

	for (uint32_t j = 0; j < layer->params.g; j++) {
		double sum = 0;

		for (uint64_t i = 0; i < layer->lines; i++, line++)
			sum += line_rate(layer, line, ones);
		rate *= sum / (double)layer->lines;
	}
	return rate;
}

enum sketch_status sketch_bloom_state(struct sketch_bloom *filter, size_t layer,
				      struct sketch_bloom_state *state, struct sketch_error *error)
{
	struct layer *l = &filter->layers[layer];
	const struct sketch_params *params = &l->params;
	enum sketch_status status = layer_verify(l, layer, error);
	struct sketch_bloom_state s = { 0 };

	if (status != SKETCH_OK)
		return status;
	if (params->layout == SKETCH_CLASSIC) {
		s.ones = layer_count_ones(l);
		s.rate = power((double)s.ones / (double)params->m, params->k);
	} else {
		s.rate = blocked_rate(l, &s.ones);
	}
	s.fill = (double)s.ones / (double)params->m;
	s.distinct = sketch_distinct(params, s.ones);
	/* Half a bit more, for where the deviation is 0 and the expectation rounded. */
	s.past_capacity = (double)s.ones > (sketch_fill_expected(params, params->n) +
					    4 * sketch_fill_deviation(params, params->n)) *
							   (double)params->m +
						   0.5;
	*state = s;
	return SKETCH_OK;
}
