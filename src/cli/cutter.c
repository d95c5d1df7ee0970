#include "cutter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "message.h"

void cutter_rules_make(struct cutter_rules *rules, const struct records_setup *setup)
{
	const struct record_options *options = setup->options;
	const struct field_range *range = options->fields.ranges;

	*rules = (struct cutter_rules){
		.options = options,
		.seed = setup->seed,
		.secret = setup->secret,
		.fold = setup->fold,
		.weight_field = setup->weight_field,
		.terminator = options->zero_terminated ? '\0' : '\n',
		.scan = scan_best(),
		.split = { options->fields, options->delimiter, options->zero_terminated,
			   options->quoted },
	};
	rules->weights = rules->split;
	rules->weights.list = (struct field_list){ 1,
						   { { setup->weight_field, setup->weight_field } },
						   setup->weight_field };
	rules->one_field =
		options->has_fields && options->fields.count == 1 && range->first == range->last;
}

static inline uint8_t fold(uint8_t byte)
{
	return (uint8_t)(byte + ((uint8_t)(byte - 'A') < 26 ? 'a' - 'A' : 0));
}

void records_fold(uint8_t *to, const uint8_t *from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		to[i] = fold(from[i]);
}

/* The same in pieces that make one vector, over the end of both: there is padding. */
static void fold_padded(uint8_t *to, const uint8_t *from, size_t length)
{
	enum { PIECE = 16 };

	for (size_t i = 0; i < length; i += PIECE) {
		for (size_t j = 0; j < PIECE; j++)
			to[i + j] = fold(from[i + j]);
	}
}

static bool scratch_room(struct cutter *cutter, size_t size)
{
	uint8_t *grown;

	if (size + SCAN_PADDING <= cutter->scratch_size)
		return true;
	grown = realloc(cutter->scratch, 2 * size + SCAN_PADDING);
	if (grown == NULL) {
		message("out of memory");
		return false;
	}
	cutter->scratch = grown;
	cutter->scratch_size = 2 * size + SCAN_PADDING;
	return true;
}

/* Reads a weight; false where it is none. */
static bool read_weight(const uint8_t *field, size_t length, uint64_t *weight)
{
	uint64_t value = 0;
	bool good = length > 0;

	if (length == 1 && field[0] == '-') {
		*weight = 0;
		return true;
	}
	for (size_t i = 0; i < length && good; i++)
		good = field[i] >= '0' && field[i] <= '9' &&
		       !__builtin_mul_overflow(value, 10, &value) &&
		       !__builtin_add_overflow(value, (uint64_t)(field[i] - '0'), &value);
	*weight = value;
	return good;
}

/* Blanks in quotes move the fields behind them; `record` has `size` bytes. */
static void refuse_weight(const struct cutter *cutter, const uint8_t *record, size_t size,
			  uint64_t number, const uint8_t *field, size_t length)
{
	bool quotes = !cutter->rules->weights.quoted && memchr(record, '"', size) != NULL;
	char shown[80];

	message("%s: record %" PRIu64 ": '%s' is no weight from 0 to 2^64 - 1%s",
		message_input_name(cutter->name), number,
		message_escape(shown, sizeof shown, (const char *)field, length),
		quotes ? " (fields in quotes? see -Q)" : "");
}

/* What the fields named are of each record that has them: one, or several, put together at
 * *room where they are not one piece of the record. */
static void find_fields(const struct cutter_rules *rules, const struct records_batch *batch,
			const struct field_split *split, const uint8_t **fields, size_t *lengths,
			uint8_t **room, uint64_t found[RECORDS_BATCH / 64])
{
	const struct scan_keys wanted = { split, rules->options->crlf };
	/* To the machine every record has a terminator. */
	const uint8_t *last[] = { batch->starts[0], batch->starts[1] + 1 };
	const uint8_t *const *starts = batch->unterminated ? last : batch->starts;

	for (size_t i = 0; i < batch->count; i += 64) {
		size_t count = batch->count - i < 64 ? batch->count - i : 64;

		found[i / 64] = room != NULL ? rules->scan->fields(&wanted, &starts[i], count,
								   &fields[i], &lengths[i], room) :
					       rules->scan->field(&wanted, &starts[i], count,
								  &fields[i], &lengths[i]);
	}
}

/* The key of each record: the record, or the fields asked for. */
static void find_keys(const struct cutter_rules *rules, struct records_batch *batch, uint8_t **room)
{
	const uint8_t **starts = batch->starts;
	size_t count = batch->count, *lengths = batch->key_lengths;

	if (rules->options->has_fields) {
		find_fields(rules, batch, &rules->split, batch->keys, lengths,
			    rules->one_field ? NULL : room, batch->keyed);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		batch->keys[i] = starts[i];
		lengths[i] = (size_t)(starts[i + 1] - starts[i]) - 1;
	}
	lengths[count - 1] += batch->unterminated;
	for (size_t i = 0; rules->options->crlf && i < count; i++)
		lengths[i] -= lengths[i] > 0 && starts[i][lengths[i] - 1] == '\r';
}

/* The weight of each record that has a key, which it else has not; false after a message
 * on a bad one. */
static bool find_weights(struct cutter *cutter, struct records_batch *batch)
{
	const struct cutter_rules *rules = cutter->rules;
	uint64_t found[RECORDS_BATCH / 64], before = cutter->tally.records - batch->count;
	const uint8_t *fields[RECORDS_BATCH];
	size_t lengths[RECORDS_BATCH];

	find_fields(rules, batch, &rules->weights, fields, lengths, NULL, found);
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t bit = UINT64_C(1) << i % 64;
		const uint8_t *field;
		size_t length;

		if (!(batch->keyed[i / 64] & bit))
			continue;
		if (!(found[i / 64] & bit)) {
			batch->keyed[i / 64] &= ~bit;
			cutter->tally.without_weight++;
			continue;
		}
		field = fields[i];
		length = lengths[i];
		if (rules->weights.quoted && length > 1 && field[0] == '"' &&
		    field[length - 1] == '"') {
			field++;
			length -= 2;
		}
		if (read_weight(field, length, &batch->weights[i]))
			continue;
		refuse_weight(cutter, batch->starts[i],
			      (size_t)(batch->starts[i + 1] - batch->starts[i]), before + i + 1,
			      field, length);
		return false;
	}
	return true;
}

static void fold_keys(struct records_batch *batch, uint8_t *room)
{
	for (size_t i = 0; i < batch->count; i++) {
		if (!(batch->keyed[i / 64] >> i % 64 & 1))
			continue;
		fold_padded(room, batch->keys[i], batch->key_lengths[i]);
		batch->keys[i] = room;
		room += batch->key_lengths[i];
	}
}

static void hash_keys(const struct cutter *cutter, struct records_batch *batch)
{
	const struct cutter_rules *rules = cutter->rules;
	const struct scan_hashing wanted = { rules->seed, cutter->touch, rules->secret };

	for (size_t i = 0; i < batch->count; i += 64)
		rules->scan->hash(&wanted, &batch->keys[i], &batch->key_lengths[i],
				  batch->keyed[i / 64], &batch->hashes[i]);
}

/* Finds and hashes the key of each record. */
static bool make_keys(struct cutter *cutter, struct records_batch *batch)
{
	const struct cutter_rules *rules = cutter->rules;
	size_t bytes = (size_t)(batch->starts[batch->count] - batch->starts[0]);
	bool joins = rules->options->has_fields && !rules->one_field;
	uint8_t *room;

	/* No key is longer than its record; one that was joined is copied again to be
	 * folded. */
	if (!scratch_room(cutter, bytes * ((size_t)joins + rules->fold)))
		return false;
	room = cutter->scratch;
	find_keys(rules, batch, &room);
	if (rules->weight_field > 0 && !find_weights(cutter, batch))
		return false;
	if (rules->fold)
		fold_keys(batch, room);
	hash_keys(cutter, batch);
	for (size_t i = 0; i < batch->count; i += 64) {
		size_t count = batch->count - i < 64 ? batch->count - i : 64;

		cutter->tally.without_key +=
			count - (size_t)__builtin_popcountll(batch->keyed[i / 64]);
	}
	return true;
}

/* Finds records; none where there is no whole one. */
static void find_records(const struct cutter_rules *rules, struct cutter_bytes *bytes,
			 struct records_batch *batch)
{
	struct scan scan = { bytes->searched, bytes->end, rules->terminator };

	batch->starts[0] = bytes->begin;
	batch->unterminated = false;
	batch->count = rules->scan->records(&scan, RECORDS_BATCH, batch->starts);
	bytes->begin += batch->starts[batch->count] - batch->starts[0];
	bytes->searched += scan.from - bytes->searched;
	if (batch->count == 0 && bytes->ended && bytes->begin < bytes->end) {
		/* The last one, without its terminator. */
		batch->unterminated = true;
		batch->starts[1] = bytes->end;
		bytes->begin = bytes->searched = bytes->end;
		batch->count = 1;
	}
}

bool cutter_next(struct cutter *cutter, struct cutter_bytes *bytes, struct records_batch *batch)
{
	find_records(cutter->rules, bytes, batch);
	if (batch->count == 0)
		return true;
	cutter->tally.records += batch->count;
	batch->keyed[0] = bits_below(batch->count);
	batch->keyed[1] = batch->count > 64 ? bits_below(batch->count - 64) : 0;
	return make_keys(cutter, batch);
}

void cutter_end(struct cutter *cutter)
{
	free(cutter->scratch);
	cutter->scratch = NULL;
	cutter->scratch_size = 0;
}
