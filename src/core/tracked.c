#include "tracked.h"

#include <stdlib.h>
#include <string.h>

#include "decay.h"
#include "endian.h"

#define TRACKED_FIRST 1024

/* What the slot of a key holds. */
static uint32_t entry_of(const struct tracked *tracked, uint32_t place)
{
	return tracked_tag(tracked->keys[place].hash) << TRACKED_PLACE_BITS | place;
}

static uint32_t place_of(uint32_t entry)
{
	return entry & (uint32_t)(TRACKED_MOST - 1);
}

static void fill_slot(struct tracked *tracked, uint32_t place)
{
	size_t slot = tracked_home(tracked, tracked->keys[place].hash);

	while (tracked->slots[slot] != TRACKED_NONE)
		slot = (slot + 1) & tracked->mask;
	tracked->slots[slot] = entry_of(tracked, place);
}

/* Memory follows use, not what a file's header claims to need. */
static bool grow(struct tracked *tracked, size_t room)
{
	struct tracked_key *keys = realloc(tracked->keys, room * sizeof *keys);
	struct tracked_node *heap;
	uint64_t *before;
	uint32_t *slots;
	size_t count = 8;

	if (keys == NULL)
		return false;
	memset(keys + tracked->room, 0, (room - tracked->room) * sizeof *keys);
	tracked->keys = keys;
	before = realloc(tracked->before, room * sizeof *before);
	if (before == NULL)
		return false;
	tracked->before = before;
	heap = realloc(tracked->heap, room * sizeof *heap);
	if (heap == NULL)
		return false;
	tracked->heap = heap;
	/* A quarter full at the most: most look-ups are of keys that are not there. */
	while (count < 4 * room)
		count *= 2;
	slots = malloc(count * sizeof *slots);
	if (slots == NULL)
		return false;
	memset(slots, 0xff, count * sizeof *slots);
	free(tracked->slots);
	tracked->slots = slots;
	tracked->mask = count - 1;
	tracked->room = room;
	for (size_t i = 0; i < tracked->used; i++)
		fill_slot(tracked, (uint32_t)i);
	return true;
}

bool tracked_make(struct tracked *tracked, size_t capacity)
{
	*tracked = (struct tracked){ .capacity = capacity };
	if (capacity == 0 || grow(tracked, capacity < TRACKED_FIRST ? capacity : TRACKED_FIRST))
		return true;
	tracked_free(tracked);
	return false;
}

static bool make_room(struct tracked *tracked)
{
	size_t twice = 2 * tracked->room;

	return tracked->used < tracked->room ||
	       grow(tracked, twice < tracked->capacity ? twice : tracked->capacity);
}

void tracked_free(struct tracked *tracked)
{
	/* A place beyond `used` may own bytes, left by an insert that failed. */
	for (size_t i = 0; tracked->keys != NULL && i < tracked->room; i++)
		free(tracked->keys[i].stored);
	free(tracked->keys);
	free(tracked->slots);
	free(tracked->heap);
	free(tracked->before);
	*tracked = (struct tracked){ 0 };
}

/* ------------------------------------------------------------------- by hash */

/* Whether two runs of bytes are equal.  Keys are short: a call of memcmp costs more
 * than what it does. */
static inline bool equal_bytes(const uint8_t *a, const uint8_t *b, size_t length)
{
	size_t last = length - 8;

	if (length < 8) {
		for (size_t i = 0; i < length; i++) {
			if (a[i] != b[i])
				return false;
		}
		return true;
	}
	for (size_t i = 0; i < last; i += 8) {
		if (load_u64(a + i) != load_u64(b + i))
			return false;
	}
	return load_u64(a + last) == load_u64(b + last);
}

bool tracked_is(const struct tracked *tracked, uint32_t place, const struct sketch_key *key)
{
	const struct tracked_key *there = &tracked->keys[place];

	/* Equal hashes are no proof, whatever the odds; beyond the bytes that are kept
	 * they have to do. */
	return there->hash.h1 == key->hash.h1 && there->hash.h2 == key->hash.h2 &&
	       there->length == key->length &&
	       equal_bytes(there->stored, key->data, there->stored_length);
}

uint32_t tracked_find(const struct tracked *tracked, const struct sketch_key *key)
{
	uint32_t tag = tracked_tag(key->hash);

	if (tracked->used == 0)
		return TRACKED_NONE;
	for (size_t slot = tracked_home(tracked, key->hash);; slot = (slot + 1) & tracked->mask) {
		uint32_t entry = tracked->slots[slot];

		if (entry == TRACKED_NONE)
			return entry;
		if (entry >> TRACKED_PLACE_BITS == tag && tracked_is(tracked, place_of(entry), key))
			return place_of(entry);
	}
}

/* Frees the slot of a place, moving back what had to step over it. */
static void empty_slot(struct tracked *tracked, uint32_t place)
{
	uint32_t *slots = tracked->slots, entry = entry_of(tracked, place);
	size_t mask = tracked->mask, gap = tracked_home(tracked, tracked->keys[place].hash), slot;

	while (slots[gap] != entry)
		gap = (gap + 1) & mask;
	for (slot = (gap + 1) & mask; slots[slot] != TRACKED_NONE; slot = (slot + 1) & mask) {
		size_t wish = tracked_home(tracked, tracked->keys[place_of(slots[slot])].hash);

		if (((slot - wish) & mask) >= ((slot - gap) & mask)) {
			slots[gap] = slots[slot];
			gap = slot;
		}
	}
	slots[gap] = TRACKED_NONE;
}

/* ------------------------------------------------------------------ by count */

static void sink(struct tracked *tracked, size_t at)
{
	struct tracked_node *heap = tracked->heap, node = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= tracked->used)
			break;
		if (child + 1 < tracked->used && heap[child + 1].count < heap[child].count)
			child++;
		if (heap[child].count >= node.count)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = node;
}

static void rise(struct tracked *tracked, size_t at)
{
	struct tracked_node *heap = tracked->heap, node = heap[at];

	while (at > 0 && heap[(at - 1) / 2].count > node.count) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = node;
}

uint32_t tracked_least(struct tracked *tracked)
{
	struct tracked_node *top = &tracked->heap[0];

	while (top->count != tracked->keys[top->key].count) {
		top->count = tracked->keys[top->key].count;
		sink(tracked, 0);
	}
	return top->key;
}

/* ---------------------------------------------------------------------- keys */

static bool store_key(struct tracked_key *place, const struct sketch_key *key)
{
	uint32_t length = key->length < SKETCH_MAX_KEY ? (uint32_t)key->length : SKETCH_MAX_KEY;

	if (length > place->room || place->stored == NULL) {
		uint32_t room = length < 32 ? 32 : length;
		uint8_t *grown = realloc(place->stored, room);

		if (grown == NULL)
			return false;
		place->stored = grown;
		place->room = room;
	}
	if (length > 0)
		memcpy(place->stored, key->data, length);
	place->stored_length = length;
	place->length = key->length;
	place->hash = key->hash;
	return true;
}

bool tracked_insert(struct tracked *tracked, const struct sketch_key *key, uint64_t count,
		    uint64_t error)
{
	uint32_t place = (uint32_t)tracked->used;
	struct tracked_key *made;

	if (!make_room(tracked) || !store_key(&tracked->keys[place], key))
		return false;
	made = &tracked->keys[place];
	made->count = count;
	made->error = error;
	tracked->before[place] = TRACKED_NOT_ASKED;
	tracked->used++;
	fill_slot(tracked, place);
	tracked->heap[place] = (struct tracked_node){ count, place };
	rise(tracked, place);
	return true;
}

bool tracked_replace(struct tracked *tracked, uint32_t place, const struct sketch_key *key,
		     uint64_t count, uint64_t error)
{
	struct tracked_key *there = &tracked->keys[place];

	empty_slot(tracked, place);
	if (!store_key(there, key)) {
		fill_slot(tracked, place);
		return false;
	}
	there->count = count;
	there->error = error;
	tracked->before[place] = TRACKED_NOT_ASKED;
	fill_slot(tracked, place);
	tracked->heap[0] = (struct tracked_node){ count, place };
	sink(tracked, 0);
	return true;
}

void tracked_clear(struct tracked *tracked)
{
	if (tracked->used > 0)
		memset(tracked->slots, 0xff, (tracked->mask + 1) * sizeof *tracked->slots);
	tracked->used = 0;
}

uint64_t tracked_halve(struct tracked *tracked, uint64_t halvings)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < tracked->used; i++) {
		struct tracked_key *key = &tracked->keys[i];
		uint64_t known = halvings < 64 ? (key->count - key->error) >> halvings : 0;

		key->count = decay_halved(key->count, halvings);
		key->error = key->count - known;
		sum += known;
		/* Rounding keeps the order of a heap, and never raises a node above its key. */
		tracked->heap[i].count = decay_halved(tracked->heap[i].count, halvings);
	}
	return sum;
}

int tracked_compare(const struct tracked_key *a, const struct tracked_key *b)
{
	size_t common = a->stored_length < b->stored_length ? a->stored_length : b->stored_length;
	int order = memcmp(a->stored, b->stored, common);

	if (order != 0)
		return order;
	return a->length < b->length ? -1 : a->length > b->length;
}
