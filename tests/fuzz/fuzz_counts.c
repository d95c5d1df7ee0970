/* Counts with weights beside an exact model: never below the truth; exact while all keys
 * fit; no key above the floor is missing; what is surely known is true; sums, and what
 * went through a file, likewise.
 *
 * An input is a table's parameters and then steps: keys are counted, in one of two
 * sketches; one goes through a file; the other is added to it and begun anew. */
#include <stdlib.h>
#include <string.h>

#include "kinds.h"

/* Some keys are longer than what is stored of them, and begin alike. */
#define KEYS 48
#define LONG_KEYS 6
#define MOST_STEPS 100
#define MOST_BATCH 200

const unsigned long fuzz_short = 1500;

struct model {
	struct sketch_counts *counts;
	uint64_t truth[KEYS], total;
	size_t distinct; /* that counted something */
	bool joined;     /* is a sum of others */
};

struct play {
	struct fuzz_bytes bytes;
	struct sketch_identity identity;
	struct sketch_counts_params params;
	struct model models[2];
	struct sketch_key keys[KEYS];
	uint8_t rooms[KEYS][8];
};

static uint8_t long_key[SKETCH_MAX_KEY + LONG_KEYS];

static void make_keys(struct play *play)
{
	memset(long_key, 'k', sizeof long_key);
	for (size_t i = 0; i < KEYS; i++) {
		struct sketch_key *key = &play->keys[i];

		if (i >= KEYS - LONG_KEYS) {
			key->data = long_key;
			key->length = SKETCH_MAX_KEY - 2 + (i - (KEYS - LONG_KEYS));
		} else {
			key->data = play->rooms[i];
			for (size_t left = i; left > 0; left /= 3)
				play->rooms[i][key->length++] = (uint8_t)("a\0\xff"[left % 3]);
		}
		/* Long ones take long; so once is enough. */
		key->hash = sketch_murmur3_x64_128(key->data, key->length, play->identity.seed);
	}
}

static uint64_t weight_of(struct fuzz_bytes *bytes)
{
	uint8_t way = fuzz_byte(bytes);

	switch (way % 16) {
	case 0:
		return 0;
	case 1:
		return fuzz_u32(bytes);
	case 2:
		return fuzz_u64(bytes);
	case 3:
		return UINT64_C(1) << way / 16 * 4;
	default:
		return way / 16 + 1;
	}
}

/* ------------------------------------------------------------------- checking */

static bool has_only(const struct model *model, const struct sketch_counts_params *params)
{
	return params->tracked > 0 && model->distinct <= params->tracked && !model->joined;
}

static void check_key(const struct play *play, const struct model *model, size_t number,
		      const struct sketch_counts_state *state)
{
	struct sketch_bounds bounds = sketch_counts_query(model->counts, &play->keys[number]);
	uint64_t truth = model->truth[number];

	fuzz_require(bounds.high >= truth, "key %zu counts %llu, and is said to count %llu", number,
		     (unsigned long long)truth, (unsigned long long)bounds.high);
	fuzz_require(!bounds.sure || bounds.low <= truth, "key %zu counts %llu, surely not %llu",
		     number, (unsigned long long)truth, (unsigned long long)bounds.low);
	fuzz_require(bounds.high <= state->total, "key %zu counts more than all", number);
	if (state->exact || has_only(model, &play->params))
		fuzz_require(bounds.high == truth && bounds.low == truth && bounds.sure,
			     "key %zu is not exact", number);
}

/* The place of a key among the heavy ones: the one that is stored so and as long. */
static bool is_among(const struct sketch_heavy *heavy, size_t count, const struct sketch_key *key)
{
	for (size_t i = 0; i < count; i++) {
		if (heavy[i].length == key->length &&
		    memcmp(heavy[i].data, key->data, heavy[i].stored) == 0)
			return true;
	}
	return false;
}

static void check_heavy(const struct play *play, const struct model *model,
			const struct sketch_counts_state *state)
{
	struct sketch_heavy heavy[KEYS];
	size_t count = sketch_counts_top(model->counts, heavy, KEYS);

	fuzz_require(count == state->tracked && count <= KEYS, "%zu tracked keys", count);
	for (size_t i = 1; i < count; i++)
		fuzz_require(heavy[i - 1].bounds.high >= heavy[i].bounds.high, "place %zu", i);
	for (size_t i = 0; i < KEYS && play->params.tracked > 0; i++) {
		fuzz_require(model->truth[i] <= state->floor ||
				     is_among(heavy, count, &play->keys[i]),
			     "key %zu counts %llu, the floor is %llu, and it is not there", i,
			     (unsigned long long)model->truth[i], (unsigned long long)state->floor);
	}
}

static void check_model(const struct play *play, const struct model *model)
{
	struct sketch_counts_state state;

	sketch_counts_state(model->counts, &state);
	fuzz_require(state.total == model->total, "the total");
	fuzz_require(!has_only(model, &play->params) || state.exact, "all keys fit");
	for (size_t i = 0; i < KEYS; i++)
		check_key(play, model, i, &state);
	check_heavy(play, model, &state);
}

/* ---------------------------------------------------------------------- steps */

static void begin(const struct play *play, struct model *model)
{
	struct sketch_error error;

	*model = (struct model){ 0 };
	fuzz_require(sketch_counts_new(&model->counts, &play->identity, &play->params, KINDS_BUDGET,
				       &error) == SKETCH_OK,
		     "%s", error.text);
}

/* Counts some keys at once; what would exceed 2^64 ends it at that key. */
static void count_some(struct play *play, struct model *model)
{
	struct sketch_key keys[MOST_BATCH];
	size_t numbers[MOST_BATCH], count = fuzz_below(&play->bytes, MOST_BATCH) + 1, done;
	uint64_t estimates[MOST_BATCH];
	struct sketch_error error;
	enum sketch_status status;

	for (size_t i = 0; i < count; i++) {
		numbers[i] = fuzz_byte(&play->bytes) % KEYS;
		keys[i] = play->keys[numbers[i]];
		keys[i].weight = weight_of(&play->bytes);
	}
	status = sketch_counts_add(model->counts, keys, count, estimates, &done, &error);
	for (size_t i = 0; i < done; i++) {
		uint64_t *truth = &model->truth[numbers[i]];

		model->distinct += *truth == 0 && keys[i].weight > 0;
		*truth += keys[i].weight;
		model->total += keys[i].weight;
		fuzz_require(estimates[i] >= *truth, "the estimate of key %zu", numbers[i]);
		fuzz_require(!has_only(model, &play->params) || estimates[i] == *truth,
			     "the estimate of key %zu is not exact", numbers[i]);
	}
	if (done < count)
		fuzz_require(status == SKETCH_RANGE &&
				     keys[done].weight > UINT64_MAX - model->total,
			     "status %d at key %zu: %s", (int)status, done, error.text);
	else
		fuzz_require(status == SKETCH_OK, "all were added: %s", error.text);
}

static void through_file(struct model *model)
{
	struct loaded loaded = { kind_of(SKETCH_KIND_COUNTS), model->counts, { SKETCH_OK, 0, "" } };
	size_t size;
	uint8_t *file = kinds_save(&loaded, &size);

	kinds_release(&loaded);
	loaded = kinds_load(file, size, SKETCH_WRITABLE, size % 2 == 0);
	fuzz_require(loaded.sketch != NULL, "%s", loaded.error.text);
	model->counts = loaded.sketch;
	free(file);
}

static void join(struct play *play)
{
	struct model *into = &play->models[0], *from = &play->models[1];
	struct sketch_error error;
	enum sketch_status status = sketch_counts_union(into->counts, from->counts, &error);

	if (from->total > UINT64_MAX - into->total) {
		fuzz_require(status == SKETCH_RANGE, "a total beyond 2^64");
		return;
	}
	fuzz_require(status == SKETCH_OK, "%s", error.text);
	into->joined = true;
	into->total += from->total;
	for (size_t i = 0; i < KEYS; i++)
		into->truth[i] += from->truth[i];
	sketch_counts_free(from->counts);
	begin(play, from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct play play = { .bytes = { data, data + size } };
	uint8_t seed = fuzz_byte(&play.bytes);

	play.identity =
		(struct sketch_identity){ SKETCH_FAMILY_MURMUR3, 0, seed, SKETCH_SINGLE, 0 };
	play.params.d = (uint32_t)fuzz_below(&play.bytes, 5) + 1;
	play.params.w = fuzz_below(&play.bytes, 256) % 40 + 1;
	play.params.update = seed % 4 == 0 ? SKETCH_PLAIN : SKETCH_CONSERVATIVE;
	if (play.params.update == SKETCH_CONSERVATIVE)
		play.params.tracked = fuzz_below(&play.bytes, 256) % (KEYS + 2);
	make_keys(&play);
	begin(&play, &play.models[0]);
	begin(&play, &play.models[1]);
	for (int step = 0; step < MOST_STEPS && play.bytes.at < play.bytes.end; step++) {
		uint8_t way = fuzz_byte(&play.bytes);
		struct model *model = &play.models[way % 2];

		if (way % 32 >= 6)
			count_some(&play, model);
		else if (way % 32 >= 2)
			through_file(model);
		else
			join(&play);
		check_model(&play, model);
	}
	sketch_counts_free(play.models[0].counts);
	sketch_counts_free(play.models[1].counts);
	return 0;
}

void fuzz_seeds(fuzz_sink *sink, void *context)
{
	static uint8_t data[3000];
	uint64_t dice = 5;

	for (uint8_t i = 0; i < 40; i++) {
		for (size_t j = 0; j < sizeof data; j++)
			data[j] = (uint8_t)fuzz_dice(&dice);
		data[0] = i;
		/* Few keys, small weights: many come back. */
		for (size_t j = 4; i % 3 == 0 && j < sizeof data; j++)
			data[j] = (uint8_t)(data[j] % 9);
		sink(context, data, 100 + 72 * (size_t)i);
	}
}
