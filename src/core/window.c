/* window.c - filters that forget
 *
 * To remember the last W records a filter would have to clear bits, which it
 * cannot: a bit has many owners.  So whole filters are forgotten.  Two take
 * turns, each for one span: the current one takes the keys, both are asked, and
 * at the end of a span the older is cleared and becomes the current one.
 *
 *     stamp        0          1          2          3
 *     time    |----------|----------|----------|----------|
 *     filter A  takes      is asked   takes      is asked
 *     filter B             takes      is asked   takes
 *                   ^ a key put in here is found until ^ here at the latest
 *
 * This is double buffering (Chang, Feng and Li, "Approximate caches for packet
 * classification", 2004) in the form where both buffers are always asked (Yoon,
 * "Aging Bloom filter with two active buffers for dynamic sets", 2010).
 * Age-partitioned filters (Almeida, Baquero and Shtul, 2020) need less memory
 * for the same window, but spread a key over one slice for each of its hashes:
 * 20 and more cache misses a key at p = 1e-6 where two blocked generations have
 * four. */
#include <string.h>

#include "bloom.h"
#include "error.h"
#include "format.h"

#define WINDOW_GENERATIONS 2

static enum sketch_status check_window(const struct sketch_identity *identity,
				       const struct sketch_window *window,
				       struct sketch_error *error)
{
	if (identity->arrangement != SKETCH_WINDOW)
		return error_set(error, SKETCH_RANGE, "the arrangement of a window is another");
	if (window->unit != SKETCH_WINDOW_RECORDS && window->unit != SKETCH_WINDOW_NANOSECONDS)
		return error_set(error, SKETCH_RANGE, "window unit %d is unknown",
				 (int)window->unit);
	if (window->span == 0)
		return error_set(error, SKETCH_RANGE, "a window of 0");
	return SKETCH_OK;
}

enum sketch_status sketch_window_new(struct sketch_bloom **filter,
				     const struct sketch_identity *identity,
				     const struct sketch_params *generation,
				     const struct sketch_window *window, uint64_t budget,
				     struct sketch_error *error)
{
	struct sketch_params layers[WINDOW_GENERATIONS] = { *generation, *generation };
	enum sketch_status status = check_window(identity, window, error);

	if (status == SKETCH_OK)
		status = bloom_make(filter, identity, layers, WINDOW_GENERATIONS, 0, budget, error);
	if (status != SKETCH_OK)
		return status;
	(*filter)->window = *window;
	if (window->unit == SKETCH_WINDOW_RECORDS)
		(*filter)->window.landmark = 0;
	/* Stamps ascend, so the first generation is number 1: number 0 was empty. */
	(*filter)->window.stamp = window->stamp > 0 ? window->stamp : 1;
	for (size_t i = 0; i < WINDOW_GENERATIONS; i++)
		(*filter)->layers[i].stamp = (*filter)->window.stamp + i - (WINDOW_GENERATIONS - 1);
	(*filter)->layers[WINDOW_GENERATIONS - 1].records = window->records;
	return SKETCH_OK;
}

bool sketch_window_get(const struct sketch_bloom *filter, struct sketch_window *window)
{
	if (filter->identity.arrangement != SKETCH_WINDOW)
		return false;
	*window = filter->window;
	window->records = filter->layers[filter->layer_count - 1].records;
	return true;
}

void sketch_window_advance(struct sketch_bloom *filter, uint64_t stamp)
{
	size_t count = filter->layer_count;

	if (filter->window.unit == SKETCH_WINDOW_NANOSECONDS &&
	    stamp > format_last_stamp(filter->window.span))
		stamp = format_last_stamp(filter->window.span);
	if (stamp <= filter->window.stamp)
		return;
	/* However long nothing came, no more generations can be forgotten than there
	 * are. */
	for (size_t i = 0; i < count && filter->window.stamp + i < stamp; i++) {
		struct layer oldest = filter->layers[0];

		memmove(filter->layers, filter->layers + 1, (count - 1) * sizeof oldest);
		memset(oldest.bits, 0, (size_t)oldest.bytes);
		oldest.records = 0;
		filter->layers[count - 1] = oldest;
	}
	/* At the last stamp that a file can have, records go on and its number stays. */
	if (stamp > FORMAT_MAX_STAMP)
		stamp = FORMAT_MAX_STAMP;
	for (size_t i = 0; i < count; i++)
		filter->layers[i].stamp = stamp + i - (count - 1);
	filter->window.stamp = stamp;
}

/* At most KERNEL_BATCH keys. */
static uint64_t insert_batch(const struct sketch_bloom *filter, const struct sketch_hash *hashes,
			     size_t count, bool refresh)
{
	const struct layer *current = &filter->layers[filter->layer_count - 1];
	struct sketch_hash fresh[KERNEL_BATCH];
	uint8_t places[KERNEL_BATCH];
	uint64_t old = 0, in_current, found;
	size_t left = 0;

	for (size_t i = 0; i + 1 < filter->layer_count; i++)
		old |= filter->layers[i].kernel->test(&filter->layers[i], hashes, count);
	if (refresh)
		return old | current->kernel->test_and_add(current, hashes, count);
	for (size_t i = 0; i < count; i++) {
		fresh[left] = hashes[i];
		places[left] = (uint8_t)i;
		left += !(old >> i & 1);
	}
	in_current = current->kernel->test_and_add(current, fresh, left);
	found = old;
	for (size_t i = 0; i < left; i++)
		found |= (in_current >> i & 1) << places[i];
	return found;
}

void sketch_window_insert(struct sketch_bloom *filter, const struct sketch_hash *hashes,
			  size_t count, bool refresh, uint64_t *found)
{
	for (size_t done = 0; done < count; done += KERNEL_BATCH) {
		size_t batch = count - done < KERNEL_BATCH ? count - done : KERNEL_BATCH;

		found[done / KERNEL_BATCH] = insert_batch(filter, hashes + done, batch, refresh);
	}
	filter->layers[filter->layer_count - 1].records += count;
}
