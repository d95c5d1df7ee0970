/* ladder.c - filters that grow
 *
 * A Bloom filter has the size it was made with.  One that is to grow is a
 * ladder of layers, each sized for four times the keys of the one before and
 * half its rate; a key is in the filter if it is in any layer, and a new key
 * goes to the last (Almeida, Baquero, Preguica and Hutchison, "Scalable Bloom
 * filters", 2007).  The rates sum up to less than the rate promised, however
 * many layers there are:
 *
 *     layer        0       1       2       3    ...
 *     keys     65536   4 x   16 x    64 x       (1.4 M keys in three layers)
 *     rate       p/2     p/4     p/8    p/16     sum < p
 *
 * Every ladder for the same p has the same rungs, so that files made apart can
 * be joined.
 *
 * When is a layer full?  When its bits say so: with as many set as its number
 * of keys is expected to set.  No count of keys is kept, which a file could lose
 * or two runs count differently.  The next layer opens exactly at the key that
 * fills the last one, wherever a read or a batch ends, so that the same input
 * gives the same file.  Bits are not counted key by key for that: a key sets k
 * bits at most, so after one count of the layer a number of keys is known that
 * cannot fill it; only close to the end are they counted one by one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "bloom.h"
#include "endian.h"
#include "error.h"
#include "positions.h"

#define LADDER_KEYS UINT64_C(65536)
#define LADDER_GROWTH 4
#define LADDER_LEAST_RATE 1e-280

/* With fewer keys to go, counting each is cheaper than counting the layer. */
#define LADDER_CLOSE 4096

/* --------------------------------------------------------------------- rungs */

enum sketch_status sketch_ladder_rung(enum sketch_layout layout, double p, size_t rung,
				      struct sketch_params *params, struct sketch_error *error)
{
	struct sketch_request request = { .layout = layout, .n = LADDER_KEYS, .p = p / 2 };

	/* So that the last rung there can be, of 10^18 keys, has a rate that can be
	 * planned. */
	if (!(p >= LADDER_LEAST_RATE && p < 1))
		return error_set(
			error, SKETCH_RANGE,
			"p = %g is out of range for a filter that grows (%g to less than 1)", p,
			LADDER_LEAST_RATE);

	for (size_t i = 0; i < rung; i++) {
		if (__builtin_mul_overflow(request.n, LADDER_GROWTH, &request.n))
			return error_set(error, SKETCH_UNREACHABLE, "a ladder has no rung %zu",
					 rung);
		request.p /= 2;
	}
	return sketch_plan(&request, params, error);
}

/* The rung above a layer. */
static enum sketch_status next_rung(const struct sketch_params *last, struct sketch_params *next,
				    struct sketch_error *error)
{
	struct sketch_request request = { .layout = last->layout, .p = last->p / 2 };

	if (__builtin_mul_overflow(last->n, LADDER_GROWTH, &request.n))
		return error_set(error, SKETCH_UNREACHABLE,
				 "a ladder cannot grow beyond %" PRIu64 " keys", last->n);
	return sketch_plan(&request, next, error);
}

static enum sketch_status open_layer(struct sketch_bloom *filter, struct sketch_error *error)
{
	struct sketch_params params;
	struct layer *layer = &filter->layers[filter->layer_count];
	enum sketch_status status;
	uint64_t bytes;

	if (filter->layer_count == SKETCH_MAX_LAYERS)
		return error_set(error, SKETCH_UNREACHABLE, "a ladder has at most %d layers",
				 SKETCH_MAX_LAYERS);
	status = next_rung(&filter->layers[filter->layer_count - 1].params, &params, error);
	if (status != SKETCH_OK)
		return status;
	bytes = sketch_bloom_payload(filter) + params.m / 8;
	layer_begin(layer, &params);
	if (bytes > filter->budget)
		return error_set(error, SKETCH_NO_MEMORY,
				 "needs %" PRIu64 " bytes of memory to grow, and %" PRIu64
				 " are to be had",
				 bytes, filter->budget);
	if (!layer_allocate(layer))
		return error_set(error, SKETCH_NO_MEMORY,
				 "needs %" PRIu64
				 " bytes of memory to grow, and the system refuses them",
				 bytes);
	filter->layer_count++;
	return SKETCH_OK;
}

/* ------------------------------------------------------------------ counting */

/* Finds out how many bits of the layer are set and how many keys are safe. */
static void count_layer(struct layer *layer)
{
	const struct sketch_params *params = &layer->params;

	if (layer->full_at == 0) {
		double fill = sketch_fill_expected(params, params->n);

		layer->full_at = (uint64_t)(fill * (double)params->m);
	}
	layer->ones = layer_count_ones(layer);
	layer->counted = true;
	layer->safe_keys = 0;
	if (layer->ones < layer->full_at)
		layer->safe_keys = (layer->full_at - 1 - layer->ones) / params->k;
	if (layer->safe_keys < LADDER_CLOSE)
		layer->safe_keys = 0;
}

static bool is_full(struct layer *layer)
{
	if (!layer->counted && layer->safe_keys == 0)
		count_layer(layer);
	return layer->counted && layer->ones >= layer->full_at;
}

static unsigned int ones_in_lines(const struct layer *layer, struct sketch_hash hash)
{
	unsigned int ones = 0;

	for (uint32_t j = 0; j < layer->params.g; j++) {
		uint64_t line =
			j * layer->lines + positions_below(positions_u(hash, j), layer->lines);
		const uint8_t *bytes = layer->bits + line * (SKETCH_BLOCK_BITS / 8);

		for (int w = 0; w < 8; w++)
			ones += (unsigned int)__builtin_popcountll(load_u64(bytes + 8 * w));
	}
	return ones;
}

static unsigned int set_classic(const struct layer *layer, struct sketch_hash hash)
{
	unsigned int set = 0;

	for (uint32_t i = 0; i < layer->params.k; i++) {
		uint64_t at = positions_below(positions_u(hash, i), layer->params.m);

		set += !bits_test(layer->bits, at);
		bits_set(layer->bits, at);
	}
	return set;
}

/* Adds one key, counting the bits it sets; whether all were set before. */
static bool add_counted(struct layer *layer, struct sketch_hash hash)
{
	unsigned int before, set;

	if (layer->params.layout == SKETCH_CLASSIC) {
		set = set_classic(layer, hash);
	} else {
		before = ones_in_lines(layer, hash);
		layer->kernel->add(layer, &hash, 1);
		set = ones_in_lines(layer, hash) - before;
	}
	layer->ones += set;
	return set == 0;
}

/* ----------------------------------------------------------------- inserting */

/* Adds keys to the last layer, as many as it takes before it is full. */
static size_t fill_layer(struct layer *layer, const struct sketch_hash *hashes, size_t count,
			 uint64_t *found)
{
	size_t done = 0;

	*found = 0;
	/* All were in older layers: what is known of this one stands. */
	if (count == 0 || is_full(layer))
		return 0;
	if (layer->safe_keys >= count) {
		uint64_t fresh;

		*found = layer->kernel->test_and_add(layer, hashes, count);
		fresh = (uint64_t)(count - (size_t)__builtin_popcountll(*found));
		layer->safe_keys -= fresh;
		layer->counted = false;
		return count;
	}
	if (!layer->counted)
		count_layer(layer);
	if (layer->safe_keys >= count)
		return fill_layer(layer, hashes, count, found);
	/* The count stands as long as it is kept up to date. */
	layer->safe_keys = 0;
	while (done < count && layer->ones < layer->full_at) {
		*found |= (uint64_t)add_counted(layer, hashes[done]) << done;
		done++;
	}
	return done;
}

/* At most KERNEL_BATCH keys: those that an older layer has are not added. */
static enum sketch_status insert_batch(struct sketch_bloom *filter,
				       const struct sketch_hash *hashes, size_t count,
				       uint64_t *found, struct sketch_error *error)
{
	struct sketch_hash fresh[KERNEL_BATCH];
	uint8_t places[KERNEL_BATCH];
	uint64_t old = 0, in_last;
	size_t left = 0, done;

	for (size_t i = 0; i + 1 < filter->layer_count; i++)
		old |= filter->layers[i].kernel->test(&filter->layers[i], hashes, count);
	for (size_t i = 0; i < count; i++) {
		fresh[left] = hashes[i];
		places[left] = (uint8_t)i;
		left += !(old >> i & 1);
	}
	*found = old;
	done = fill_layer(&filter->layers[filter->layer_count - 1], fresh, left, &in_last);
	for (size_t i = 0; i < done; i++)
		*found |= (in_last >> i & 1) << places[i];
	if (done == left)
		return SKETCH_OK;
	/* The layer filled up on the way: the rest are asked and added anew, since
	 * an older key of this batch may be among them. */
	{
		size_t rest = places[done];
		uint64_t more;
		enum sketch_status status = open_layer(filter, error);

		if (status == SKETCH_OK)
			status = insert_batch(filter, hashes + rest, count - rest, &more, error);
		if (status != SKETCH_OK)
			return status;
		*found = (*found & ((UINT64_C(1) << rest) - 1)) | more << rest;
		return SKETCH_OK;
	}
}

enum sketch_status sketch_bloom_insert(struct sketch_bloom *filter,
				       const struct sketch_hash *hashes, size_t count,
				       uint64_t *found, struct sketch_error *error)
{
	bool grows = filter->identity.arrangement == SKETCH_LADDER;

	if (!grows) {
		sketch_bloom_test_and_add(filter, hashes, count, found);
		return SKETCH_OK;
	}
	for (size_t done = 0; done < count; done += KERNEL_BATCH) {
		size_t batch = count - done < KERNEL_BATCH ? count - done : KERNEL_BATCH;
		enum sketch_status status = insert_batch(filter, hashes + done, batch,
							 &found[done / KERNEL_BATCH], error);

		if (status != SKETCH_OK)
			return status;
	}
	return SKETCH_OK;
}

/* ------------------------------------------------------------------- joining */

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Where bits and n and m agree: a key's bits differ with k and g, and p is kept. */
static int compare_rest(const struct sketch_params *p, const struct sketch_params *q)
{
	int order = compare((uint64_t)p->layout, (uint64_t)q->layout);

	if (order == 0)
		order = compare(p->k, q->k);
	if (order == 0)
		order = compare(p->g, q->g);
	if (order == 0)
		order = (p->p > q->p) - (p->p < q->p);
	return order;
}

/* The order of layers in a file: by the rung, then by what they hold; 0 where they
 * are the same layer. */
static int compare_layers(const void *a, const void *b)
{
	const struct layer *p = a, *q = b;
	int order = compare(p->params.n, q->params.n);

	if (order == 0)
		order = compare(p->bytes, q->bytes);
	if (order == 0)
		order = memcmp(p->bits, q->bits, (size_t)p->bytes);
	if (order == 0)
		order = compare_rest(&p->params, &q->params);
	return order;
}

static bool has_layer(const struct sketch_bloom *filter, const struct layer *layer)
{
	for (size_t i = 0; i < filter->layer_count; i++) {
		if (compare_layers(&filter->layers[i], layer) == 0)
			return true;
	}
	return false;
}

/* Which layers of `from` are new to `into`, and the bytes they take. */
static size_t new_layers(const struct sketch_bloom *into, const struct sketch_bloom *from,
			 const struct layer *news[SKETCH_MAX_LAYERS], uint64_t *bytes)
{
	size_t count = 0;

	*bytes = 0;
	for (size_t i = 0; i < from->layer_count; i++) {
		if (!has_layer(into, &from->layers[i])) {
			news[count++] = &from->layers[i];
			*bytes += from->layers[i].bytes;
		}
	}
	return count;
}

enum sketch_status ladder_join(struct sketch_bloom *into, const struct sketch_bloom *from,
			       struct sketch_error *error)
{
	const struct layer *news[SKETCH_MAX_LAYERS];
	uint64_t bytes;
	size_t count = new_layers(into, from, news, &bytes), before = into->layer_count;

	if (before + count > SKETCH_MAX_LAYERS)
		return error_set(error, SKETCH_UNREACHABLE,
				 "%zu layers together, and a file has at most %d: make the filters "
				 "with -n",
				 before + count, SKETCH_MAX_LAYERS);
	bytes += sketch_bloom_payload(into);
	if (bytes > into->budget)
		return error_budget(error, bytes, into->budget);
	for (size_t i = 0; i < count; i++) {
		struct layer *layer = &into->layers[before + i];

		layer_begin(layer, &news[i]->params);
		if (!layer_allocate(layer)) {
			while (i-- > 0)
				region_free(&into->layers[before + i].own);
			return error_set(error, SKETCH_NO_MEMORY, "out of memory");
		}
		memcpy(layer->bits, news[i]->bits, (size_t)layer->bytes);
	}
	into->layer_count += count;
	qsort(into->layers, into->layer_count, sizeof into->layers[0], compare_layers);
	return SKETCH_OK;
}
