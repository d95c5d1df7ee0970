#include "cutter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "murmur3.h"

#define CUTTER_SPLIT ((size_t)4096) /* a longer record is split byte by byte */

void cutter_rules_make(struct cutter_rules *rules, const struct records_setup *setup)
{
	const struct record_options *options = setup->options;
	const struct field_range *range = options->fields.ranges;
	bool no_fields = !options->has_fields && setup->weight_field == 0;

	*rules = (struct cutter_rules){
		.options = options,
		.seed = setup->seed,
		.fold = setup->fold,
		.keep_keys = setup->keep_keys,
		.weight_field = setup->weight_field,
		.terminator = options->zero_terminated ? '\0' : '\n',
		.plain = no_fields && !options->crlf && !setup->fold,
		.scan = scan_best(),
		.split = { options->fields, options->delimiter, options->zero_terminated,
			   options->quoted },
	};
	rules->weights = rules->split;
	rules->weights.list = (struct field_list){ 1,
						   { { setup->weight_field, setup->weight_field } },
						   setup->weight_field };
	rules->field = options->quoted ? rules->scan->quoted_field : rules->scan->field;
	if (options->has_fields && options->fields.count == 1 && range->first == range->last &&
	    !(options->zero_terminated && options->delimiter == FIELD_BLANKS))
		rules->one_field = options->fields.needed;
	rules->many_fields = !no_fields && (rules->one_field == 0 || setup->weight_field > 0);
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
	for (size_t i = 0; i < length; i += MURMUR3_PADDING) {
		for (size_t j = 0; j < MURMUR3_PADDING; j++)
			to[i + j] = fold(from[i + j]);
	}
}

static bool scratch_room(struct cutter *cutter, size_t size)
{
	uint8_t *grown;

	if (size + MURMUR3_PADDING <= cutter->scratch_size)
		return true;
	grown = realloc(cutter->scratch, 2 * size + MURMUR3_PADDING);
	if (grown == NULL) {
		message("out of memory");
		return false;
	}
	cutter->scratch = grown;
	cutter->scratch_size = 2 * size + MURMUR3_PADDING;
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

/* The weight of record i of a batch: false where it lacks one; *good tells of a bad
 * one. */
static bool find_weight(const struct cutter *cutter, struct records_batch *batch, size_t i,
			size_t length, const uint64_t *ends, bool *good)
{
	const uint8_t *field;
	size_t field_length, used;
	uint64_t before = cutter->tally.records - batch->count;

	if (!field_key(&cutter->rules->weights, batch->starts[i], length, ends, NULL, &field,
		       &field_length, &used))
		return false;
	if (cutter->rules->weights.quoted && field_length > 1 && field[0] == '"' &&
	    field[field_length - 1] == '"') {
		field++;
		field_length -= 2;
	}
	if (!read_weight(field, field_length, &batch->weights[i])) {
		refuse_weight(cutter, batch->starts[i], length, before + i + 1, field,
			      field_length);
		*good = false;
	}
	return true;
}

/* Finds the key of record i: false where it lacks one, or has a bad weight (*good).
 * *used is what was taken of the scratch memory. */
static bool find_key(struct cutter *cutter, struct records_batch *batch, size_t i, uint8_t *scratch,
		     size_t *used, bool *good)
{
	const struct cutter_rules *rules = cutter->rules;
	const struct record_options *options = rules->options;
	const uint8_t *record = batch->starts[i], *key = record;
	bool cut = batch->unterminated && i + 1 == batch->count, found = true;
	size_t length = (size_t)(batch->starts[i + 1] - record) - (cut ? 0 : 1), whole;
	uint64_t words[FIELD_ENDS(CUTTER_SPLIT)], *ends = NULL;

	if (options->crlf && length > 0 && record[length - 1] == '\r')
		length--;
	whole = length;
	*used = 0;
	if (whole <= CUTTER_SPLIT && rules->many_fields) {
		ends = words;
		rules->scan->ends(record, whole, &rules->split, ends);
	}
	if (rules->one_field > 0)
		found = rules->field(record, whole, options->delimiter, rules->one_field, &key,
				     &length);
	else if (options->has_fields)
		found = field_key(&rules->split, record, whole, ends, scratch, &key, &length, used);
	if (found && rules->weight_field > 0 && !find_weight(cutter, batch, i, whole, ends, good)) {
		found = false;
		cutter->tally.without_weight++;
	}
	if (found && rules->fold) {
		fold_padded(scratch, key, length);
		key = scratch;
		*used = length;
	}
	batch->keys[i] = key;
	batch->key_lengths[i] = length;
	return found;
}

/* The usual case of make_keys: one field, as it is, of records with their terminators. */
static void make_field_keys(struct cutter *cutter, struct records_batch *batch)
{
	const struct scan_field wanted = { cutter->rules->options->delimiter,
					   cutter->rules->one_field,
					   cutter->rules->options->crlf,
					   cutter->rules->options->quoted,
					   cutter->rules->seed,
					   cutter->touch };

	for (size_t i = 0; i < batch->count; i += 64) {
		size_t count = batch->count - i < 64 ? batch->count - i : 64;

		batch->keyed[i / 64] =
			cutter->rules->scan->keys(&wanted, &batch->starts[i], count,
						  &batch->keys[i], &batch->key_lengths[i],
						  &batch->hashes[i]);
		cutter->tally.without_key +=
			count - (size_t)__builtin_popcountll(batch->keyed[i / 64]);
	}
}

/* Finds and hashes the key of each record where it is not simply the record. */
static bool make_keys(struct cutter *cutter, struct records_batch *batch)
{
	bool good = true;
	uint8_t *scratch;
	size_t used;

	/* No key is longer than its record. */
	if (!scratch_room(cutter, (size_t)(batch->starts[batch->count] - batch->starts[0])))
		return false;
	scratch = cutter->scratch;
	for (size_t i = 0; i < batch->count; i++) {
		if (find_key(cutter, batch, i, scratch, &used, &good)) {
			batch->hashes[i] = murmur3_padded(batch->keys[i], batch->key_lengths[i],
							  cutter->rules->seed);
			touch_key(cutter->touch, batch->hashes[i]);
			scratch += used;
		} else {
			batch->keyed[i / 64] &= ~(UINT64_C(1) << i % 64);
			cutter->tally.without_key++;
		}
		if (!good)
			return false;
	}
	return true;
}

static void note_keys(struct records_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		batch->keys[i] = batch->starts[i];
		batch->key_lengths[i] = (size_t)(batch->starts[i + 1] - batch->starts[i]) - 1;
	}
	if (batch->unterminated)
		batch->key_lengths[batch->count - 1]++;
}

static uint64_t low_bits(size_t count)
{
	return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

/* Takes records, hashed where the record is the key: 0 where there is no whole one. */
static size_t take_records(const struct cutter *cutter, struct cutter_bytes *bytes,
			   struct records_batch *batch)
{
	const struct cutter_rules *rules = cutter->rules;
	struct scan scan = { bytes->searched, bytes->end, rules->terminator, rules->seed,
			     cutter->touch };
	size_t count;

	batch->starts[0] = bytes->begin;
	batch->unterminated = false;
	count = rules->scan->records(&scan, RECORDS_BATCH, batch->starts,
				     rules->plain ? batch->hashes : NULL);
	bytes->begin += batch->starts[count] - batch->starts[0];
	bytes->searched += scan.from - bytes->searched;
	if (count == 0 && bytes->ended && bytes->begin < bytes->end) {
		/* The last one, without its terminator. */
		batch->unterminated = true;
		batch->starts[1] = bytes->end;
		if (rules->plain)
			batch->hashes[0] =
				murmur3_padded(bytes->begin, (size_t)(bytes->end - bytes->begin),
					       rules->seed);
		bytes->begin = bytes->searched = bytes->end;
		count = 1;
	}
	return count;
}

bool cutter_next(struct cutter *cutter, struct cutter_bytes *bytes, struct records_batch *batch)
{
	const struct cutter_rules *rules = cutter->rules;

	batch->count = take_records(cutter, bytes, batch);
	if (batch->count == 0)
		return true;
	cutter->tally.records += batch->count;
	batch->keyed[0] = low_bits(batch->count);
	batch->keyed[1] = batch->count > 64 ? low_bits(batch->count - 64) : 0;
	if (rules->one_field > 0 && !batch->unterminated && !rules->fold &&
	    rules->weight_field == 0)
		make_field_keys(cutter, batch);
	else if (!rules->plain)
		return make_keys(cutter, batch);
	else if (rules->keep_keys)
		note_keys(batch);
	return true;
}

void cutter_end(struct cutter *cutter)
{
	free(cutter->scratch);
	cutter->scratch = NULL;
	cutter->scratch_size = 0;
}
