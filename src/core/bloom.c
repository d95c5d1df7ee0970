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
 * How they are kept: format.h, image.c. */
#include "bloom.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "endian.h"
#include "error.h"
#include "format.h"
#include "positions.h"

/* ------------------------------------------------------------ life and death */

struct sketch_bloom *bloom_frame(const struct sketch_identity *identity,
				 const struct sketch_params *layers, size_t layer_count)
{
	struct sketch_bloom *filter =
		calloc(1, sizeof *filter + layer_count * sizeof filter->layers[0]);
	enum kernel_machine machine = kernel_best();

	if (filter == NULL)
		return NULL;
	filter->identity = *identity;
	filter->layer_count = layer_count;
	for (size_t i = 0; i < layer_count; i++) {
		struct layer *layer = &filter->layers[i];

		layer->params = layers[i];
		layer->bytes = layers[i].m / 8;
		layer->kernel = kernel_choose(&layers[i], machine);
		if (layers[i].layout == SKETCH_BLOCKED) {
			layer->lines = layers[i].m / SKETCH_BLOCK_BITS / layers[i].g;
			layer->per_line = layers[i].k / layers[i].g;
		}
	}
	return filter;
}

static enum sketch_status check_identity(const struct sketch_identity *identity,
					 size_t layer_count, struct sketch_error *error)
{
	if (identity->family != SKETCH_FAMILY_MURMUR3)
		return error_set(error, SKETCH_RANGE, "hash family %" PRIu32 " is unknown",
				 identity->family);
	if (identity->transforms & ~SKETCH_FOLD_ASCII)
		return error_set(error, SKETCH_RANGE, "key transform %" PRIu32 " is unknown",
				 identity->transforms);
	if (layer_count < 1 || layer_count > SKETCH_MAX_LAYERS)
		return error_set(error, SKETCH_RANGE, "%zu layers are out of range (1 to %d)",
				 layer_count, SKETCH_MAX_LAYERS);
	if (identity->arrangement == SKETCH_SINGLE && layer_count != 1)
		return error_set(error, SKETCH_RANGE, "%zu layers in a filter of a single one",
				 layer_count);
	return SKETCH_OK;
}

/* The bytes that all layers take; each is below 2^60, so 64 of them can wrap. */
static uint64_t payload_of(const struct sketch_params *layers, size_t layer_count)
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
	enum sketch_status status = check_identity(identity, layer_count, error);
	struct sketch_bloom *made;
	uint64_t bytes;

	for (size_t i = 0; i < layer_count && status == SKETCH_OK; i++)
		status = sketch_params_check(&layers[i], error);
	if (status != SKETCH_OK)
		return status;
	bytes = payload_of(layers, layer_count);
	if (bytes > budget || bytes > SIZE_MAX / 2)
		return error_set(error, SKETCH_NO_MEMORY,
				 "needs %" PRIu64 " bytes of memory, and %" PRIu64
				 " are to be had",
				 bytes, budget);
	made = bloom_frame(identity, layers, layer_count);
	if (made == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	made->writable = true;
	for (size_t i = 0; i < layer_count; i++) {
		struct layer *layer = &made->layers[i];

		if (!region_new(&layer->own, (size_t)layer->bytes)) {
			sketch_bloom_free(made);
			return error_set(error, SKETCH_NO_MEMORY,
					 "needs %" PRIu64 " bytes of memory, and the system "
					 "refuses them",
					 bytes);
		}
		layer->bits = layer->own.data;
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
		free(filter->layers[i].verified);
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
	uint64_t begin = chunk * FORMAT_CHUNK_BYTES, bit = UINT64_C(1) << chunk % 64;
	uint64_t left = layer->bytes - begin;
	size_t length = left < FORMAT_CHUNK_BYTES ? (size_t)left : FORMAT_CHUNK_BYTES;

	if (layer->unverified == 0 || layer->verified[chunk / 64] & bit)
		return SKETCH_OK;
	if (sketch_crc32c(0, layer->bits + begin, length) != load_u32(layer->sums + 4 * chunk))
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: wrong checksum of bits %" PRIu64 " to %" PRIu64
				 " of layer %zu",
				 begin * 8, (begin + length) * 8 - 1, index);
	layer->verified[chunk / 64] |= bit;
	layer->unverified--;
	return SKETCH_OK;
}

enum sketch_status layer_verify(struct layer *layer, size_t index, struct sketch_error *error)
{
	for (uint64_t chunk = 0; layer->unverified > 0; chunk++) {
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

	for (size_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < probes; j++) {
			uint64_t u = positions_u(hashes[i], j);
			uint64_t bit = blocked ? (j * layer->lines +
						  positions_below(u, layer->lines)) *
							 SKETCH_BLOCK_BITS :
						 positions_below(u, params->m);
			enum sketch_status status = layer_verify_chunk(
				layer, index, bit / 8 / FORMAT_CHUNK_BYTES, error);

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

void sketch_bloom_add(struct sketch_bloom *filter, const struct sketch_hash *hashes, size_t count)
{
	const struct layer *layer = &filter->layers[filter->layer_count - 1];

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

			if (layer->unverified > 0) {
				enum sketch_status status = verify_touched(layer, i, hashes + done,
									   batch, error);
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
	const struct layer *layer = &filter->layers[filter->layer_count - 1];

	for (size_t done = 0; done < count; done += KERNEL_BATCH)
		found[done / KERNEL_BATCH] =
			layer->kernel->test_and_add(layer, hashes + done, batch_at(done, count));
}

/* -------------------------------------------------------------------- union */

static enum sketch_status differ(struct sketch_error *error, const char *field, uint64_t a,
				 uint64_t b)
{
	return error_set(error, SKETCH_MISMATCH, "%s differs: %" PRIu64 " and %" PRIu64, field, a,
			 b);
}

static const char *layout_name(enum sketch_layout layout)
{
	return layout == SKETCH_CLASSIC ? "classic" : "blocked";
}

enum sketch_status sketch_bloom_compatible(const struct sketch_bloom *a,
					   const struct sketch_bloom *b,
					   struct sketch_error *error)
{
	if (a->identity.family != b->identity.family)
		return differ(error, "hash family", a->identity.family, b->identity.family);
	if (a->identity.seed != b->identity.seed)
		return differ(error, "seed", a->identity.seed, b->identity.seed);
	if (a->identity.transforms != b->identity.transforms)
		return error_set(error, SKETCH_MISMATCH,
				 "ignore-case differs: only one of the two folds its keys");
	if (a->identity.arrangement != b->identity.arrangement)
		return differ(error, "arrangement", a->identity.arrangement,
			      b->identity.arrangement);
	if (a->layer_count != b->layer_count)
		return differ(error, "number of layers", a->layer_count, b->layer_count);
	for (size_t i = 0; i < a->layer_count; i++) {
		const struct sketch_params *p = &a->layers[i].params, *q = &b->layers[i].params;

		if (p->layout != q->layout)
			return error_set(error, SKETCH_MISMATCH, "layout differs: %s and %s",
					 layout_name(p->layout), layout_name(q->layout));
		if (p->m != q->m)
			return differ(error, "m", p->m, q->m);
		if (p->k != q->k)
			return differ(error, "k", p->k, q->k);
		if (p->g != q->g)
			return differ(error, "g", p->g, q->g);
	}
	return SKETCH_OK;
}

enum sketch_status sketch_bloom_union(struct sketch_bloom *into, struct sketch_bloom *from,
				      struct sketch_error *error)
{
	enum sketch_status status = sketch_bloom_compatible(into, from, error);
	uint64_t records;

	if (status == SKETCH_OK)
		status = sketch_bloom_verify(from, error);
	if (status != SKETCH_OK)
		return status;
	if (__builtin_add_overflow(into->records, from->records, &records))
		return error_set(error, SKETCH_RANGE, "more than 2^64 records in all");
	for (size_t i = 0; i < into->layer_count; i++) {
		uint8_t *to = into->layers[i].bits;
		const uint8_t *bits = from->layers[i].bits;

		for (uint64_t at = 0; at < into->layers[i].bytes; at++)
			to[at] |= bits[at];
	}
	into->records = records;
	return SKETCH_OK;
}

/* -------------------------------------------------------------------- state */

static uint64_t count_ones(const uint8_t *bits, uint64_t bytes)
{
	uint64_t ones = 0;

	for (uint64_t at = 0; at < bytes; at += 8)
		ones += (uint64_t)__builtin_popcountll(load_u64(bits + at));
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

/* The probability that an absent key finds its bits set in this line. */
static double line_rate(const struct layer *layer, const uint8_t *line, uint64_t *ones)
{
	double product = 1;
	uint64_t sum = 0;

	for (int w = 0; w < 8; w++) {
		int in_word = __builtin_popcountll(load_u64(line + 8 * w));

		sum += (uint64_t)in_word;
		product *= in_word / 64.0;
	}
	*ones += sum;
	if (layer->per_line == POSITIONS_WORDS)
		return product;
	return power((double)sum / SKETCH_BLOCK_BITS, layer->per_line);
}

static double blocked_rate(const struct layer *layer, uint64_t *ones)
{
	const uint8_t *line = layer->bits;
	double rate = 1;

	for (uint32_t j = 0; j < layer->params.g; j++) {
		double sum = 0;

		for (uint64_t i = 0; i < layer->lines; i++, line += SKETCH_BLOCK_BITS / 8)
			sum += line_rate(layer, line, ones);
		rate *= sum / (double)layer->lines;
	}
	return rate;
}

enum sketch_status sketch_bloom_state(struct sketch_bloom *filter, size_t layer,
				      struct sketch_bloom_state *state,
				      struct sketch_error *error)
{
	struct layer *l = &filter->layers[layer];
	const struct sketch_params *params = &l->params;
	enum sketch_status status = layer_verify(l, layer, error);
	struct sketch_bloom_state s = { 0 };

	if (status != SKETCH_OK)
		return status;
	if (params->layout == SKETCH_CLASSIC) {
		s.ones = count_ones(l->bits, l->bytes);
		s.rate = power((double)s.ones / (double)params->m, params->k);
	} else {
		s.rate = blocked_rate(l, &s.ones);
	}
	s.fill = (double)s.ones / (double)params->m;
	s.distinct = sketch_distinct(params, s.ones);
	s.past_capacity = s.fill > sketch_fill_expected(params, params->n) +
					   4 * sketch_fill_deviation(params, params->n);
	*state = s;
	return SKETCH_OK;
}
