/* Records, fields and keys beside a slow and plain reading of them.
 *
 * An input is 8 bytes of options, then the text, which is cut into two files: regular
 * ones, or pipes; every read brings as little as the options say.  In a text that may
 * swell, a byte from 0xf0 on repeats the next one 2^(its low bits) times, so that records
 * come to be longer than any buffer. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cutter.h"
#include "field.h"
#include "foreign.h"
#include "fuzz.h"
#include "records.h"

/* More than the reader's buffer and what it carries over. */
#define MOST_TEXT ((size_t)400 << 10)
#define MOST_READS 4096

const unsigned long fuzz_short = 3000;

struct options {
	struct record_options record;
	uint64_t weight_field;
	uint32_t seed;
	const struct sketch_secret *secret;
	bool fold, piped, swells;
	bool blocks;     /* as several threads read: whole blocks, cut elsewhere */
	unsigned pieces; /* 0: whole; else the most that a read brings */
	size_t cut;
};

static const struct sketch_secret secret = { { 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233 } };

struct text {
	uint8_t *data;
	size_t size;
};

/* ------------------------------------------------------------- short reads */

static unsigned pieces;

/* In the C library's place: what a read brings is up to the input. */
ssize_t read(int fd, void *data, size_t size)
{
	if (pieces > 0 && size > pieces)
		size = pieces;
	return syscall(SYS_read, fd, data, size);
}

/* ------------------------------------------------------------------ the model */

static bool is_blank(uint8_t byte, bool newline)
{
	return byte == ' ' || byte == '\t' || (newline && byte == '\n');
}

static bool is_separator(const struct options *options, uint8_t byte)
{
	if (options->record.delimiter != FIELD_BLANKS)
		return byte == options->record.delimiter;
	return is_blank(byte, options->record.zero_terminated);
}

/* The end of the quoted part that begins at i: behind its quote, or of the record. */
static size_t behind_quotes(const uint8_t *record, size_t size, size_t i)
{
	for (i++; i < size; i++) {
		bool pair = record[i] == '"' && i + 1 < size && record[i + 1] == '"';

		if (record[i] == '\\' || pair)
			i++;
		else if (record[i] == '"')
			return i + 1;
	}
	return size;
}

/* The field that begins at *i or behind; *i moves on. */
static bool plain_next(const struct options *options, const uint8_t *record, size_t size, size_t *i,
		       size_t *from, size_t *to)
{
	bool blanks = options->record.delimiter == FIELD_BLANKS;

	while (blanks && *i < size && is_separator(options, record[*i]))
		++*i;
	/* One past the end stands for: there are no more. */
	if (blanks ? *i >= size : *i > size)
		return false;
	*from = *to = *i;
	if (options->record.quoted && *to < size && record[*to] == '"')
		*to = behind_quotes(record, size, *to);
	while (*to < size && !is_separator(options, record[*to]))
		++*to;
	*i = blanks ? *to : *to + 1;
	return true;
}

static uint64_t fields_of(const struct options *options, const uint8_t *record, size_t size)
{
	uint64_t count = 0;
	size_t at = 0, from, to;

	while (plain_next(options, record, size, &at, &from, &to))
		count++;
	return count;
}

static bool is_named(const struct field_list *list, uint64_t number)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->ranges[i].first <= number && number <= list->ranges[i].last)
			return true;
	}
	return false;
}

/* The key of a record into `key`, which has room for it; false where it lacks one. */
static bool plain_key(const struct options *options, const uint8_t *record, size_t size,
		      uint8_t *key, size_t *length)
{
	const struct record_options *record_options = &options->record;
	uint64_t count = fields_of(options, record, size);
	bool begun = false;
	size_t at = 0, from, to;

	*length = 0;
	if (!record_options->has_fields) {
		memcpy(key, record, size);
		*length = size;
	}
	for (uint64_t i = 1; record_options->has_fields && i <= count; i++) {
		fuzz_require(plain_next(options, record, size, &at, &from, &to),
			     "the model lost field %llu", (unsigned long long)i);
		if (!is_named(&record_options->fields, i))
			continue;
		if (begun)
			key[(*length)++] = record_options->delimiter == FIELD_BLANKS ?
						   ' ' :
						   (uint8_t)record_options->delimiter;
		begun = true;
		memcpy(key + *length, record + from, to - from);
		*length += to - from;
	}
	for (size_t i = 0; i < *length && options->fold; i++)
		key[i] = (uint8_t)(key[i] >= 'A' && key[i] <= 'Z' ? key[i] + 32 : key[i]);
	return !record_options->has_fields || count >= record_options->fields.needed;
}

enum weight { WEIGHT_NONE, WEIGHT_GOOD, WEIGHT_BAD };

static enum weight plain_weight(const struct options *options, const uint8_t *record, size_t size,
				uint64_t *weight)
{
	size_t at = 0, from = 0, to = 0;
	uint64_t value = 0;

	for (uint64_t i = 0; i < options->weight_field; i++) {
		if (!plain_next(options, record, size, &at, &from, &to))
			return WEIGHT_NONE;
	}
	*weight = 0;
	if (options->record.quoted && to - from > 1 && record[from] == '"' &&
	    record[to - 1] == '"') {
		from++;
		to--;
	}
	if (to - from == 1 && record[from] == '-')
		return WEIGHT_GOOD;
	for (size_t i = from; i < to; i++) {
		uint64_t digit;

		if (record[i] < '0' || record[i] > '9')
			return WEIGHT_BAD;
		digit = (uint64_t)(record[i] - '0');
		if (value > (UINT64_MAX - digit) / 10)
			return WEIGHT_BAD;
		value = value * 10 + digit;
	}
	*weight = value;
	return to > from ? WEIGHT_GOOD : WEIGHT_BAD;
}

/* ------------------------------------------------------------------ comparing */

/* What is left to be read. */
struct place {
	struct text texts[2];
	size_t input, at;
	uint64_t records, keyless, weightless;
};

/* The next record, with *ended where its terminator is there. */
static bool next_record(struct place *place, uint8_t terminator, const uint8_t **record,
			size_t *size, bool *ended)
{
	while (place->input < 2 && place->at == place->texts[place->input].size) {
		place->input++;
		place->at = 0;
	}
	if (place->input == 2)
		return false;
	const struct text *text = &place->texts[place->input];
	const uint8_t *begin = text->data + place->at;
	const uint8_t *end = memchr(begin, terminator, text->size - place->at);

	*record = begin;
	*ended = end != NULL;
	*size = *ended ? (size_t)(end - begin) : text->size - place->at;
	place->at += *size + *ended;
	place->records++;
	return true;
}

/* A record that was handed out beside the model's. */
static void check_record(const struct options *options, struct place *place,
			 const struct records_batch *batch, size_t i, uint8_t *room)
{
	const uint8_t *record, *got = batch->starts[i];
	size_t size, length, key_size;
	bool ended, cut = batch->unterminated && i + 1 == batch->count, keyed;
	uint64_t number = place->records, weight = 0;

	fuzz_require(next_record(place, options->record.zero_terminated ? 0 : '\n', &record, &size,
				 &ended),
		     "record %llu is one too many", (unsigned long long)number);
	length = (size_t)(batch->starts[i + 1] - got);
	fuzz_require(length == size + ended && memcmp(got, record, length) == 0 && cut == !ended,
		     "record %llu, of %zu bytes, has %zu", (unsigned long long)number, size,
		     length);
	if (options->record.crlf && size > 0 && record[size - 1] == '\r')
		size--;
	keyed = plain_key(options, record, size, room, &key_size);
	if (keyed && options->weight_field > 0) {
		enum weight found = plain_weight(options, record, size, &weight);

		fuzz_require(found != WEIGHT_BAD, "record %llu has no weight",
			     (unsigned long long)number);
		keyed = found == WEIGHT_GOOD;
		place->weightless += !keyed;
	}
	place->keyless += !keyed;
	fuzz_require((batch->keyed[i / 64] >> i % 64 & 1) == keyed, "the key of record %llu",
		     (unsigned long long)number);
	if (!keyed)
		return;
	struct sketch_hash hash = sketch_key_hash(room, key_size, options->seed, options->secret);

	fuzz_require(hash.h1 == batch->hashes[i].h1 && hash.h2 == batch->hashes[i].h2,
		     "the hash of record %llu", (unsigned long long)number);
	fuzz_require(batch->key_lengths[i] == key_size &&
			     memcmp(batch->keys[i], room, key_size) == 0,
		     "the key of record %llu", (unsigned long long)number);
	fuzz_require(options->weight_field == 0 || batch->weights[i] == weight,
		     "the weight of record %llu", (unsigned long long)number);
}

/* Where reading failed: a bad weight among the next records. */
static bool has_bad_weight(const struct options *options, struct place *place, uint8_t *room)
{
	for (int i = 0; i < RECORDS_BATCH; i++) {
		const uint8_t *record;
		size_t size, length;
		uint64_t weight;
		bool ended;

		if (!next_record(place, options->record.zero_terminated ? 0 : '\n', &record, &size,
				 &ended))
			return false;
		if (options->record.crlf && size > 0 && record[size - 1] == '\r')
			size--;
		if (plain_key(options, record, size, room, &length) &&
		    plain_weight(options, record, size, &weight) == WEIGHT_BAD)
			return true;
	}
	return false;
}

/* The next batch, straight from the reader or out of a block. */
static enum records_outcome next_batch(const struct options *options, struct records *records,
				       struct cutter *cutter, struct cutter_bytes *block,
				       struct records_batch *batch)
{
	if (!options->blocks)
		return records_next(records, batch);
	for (;;) {
		enum records_outcome outcome;

		fuzz_require(block->base == NULL || cutter_next(cutter, block, batch), "no memory");
		if (block->base != NULL && batch->count > 0)
			return RECORDS_BATCH_READY;
		fuzz_require(block->begin == block->end, "a block holds half a record");
		outcome = records_next_block(records, block);
		if (outcome != RECORDS_BATCH_READY)
			return outcome;
	}
}

static void check_all(const struct options *options, struct records *records, struct place *place)
{
	static struct records_batch batch;
	const struct records_tally *tally = records_tally(records);
	uint8_t *room = malloc(place->texts[0].size + place->texts[1].size + 1);
	static const struct touch none;
	struct cutter cutter = { .rules = records_rules(records),
				 .name = "a block",
				 .touch = &none };
	struct cutter_bytes block = { 0 };
	enum records_outcome outcome;

	while ((outcome = next_batch(options, records, &cutter, &block, &batch)) ==
	       RECORDS_BATCH_READY) {
		fuzz_require(batch.count >= 1 && batch.count <= RECORDS_BATCH, "%zu records",
			     batch.count);
		for (size_t i = 0; i < batch.count; i++)
			check_record(options, place, &batch, i, room);
	}
	records_add_tally(records, &cutter.tally);
	cutter_end(&cutter);
	records_free_block(&block);
	if (outcome == RECORDS_FAILED) {
		fuzz_require(options->weight_field > 0 && has_bad_weight(options, place, room),
			     "it failed after record %llu", (unsigned long long)place->records);
	} else {
		uint64_t before = place->records;
		const uint8_t *record;
		size_t size;
		bool ended;

		fuzz_require(!next_record(place, options->record.zero_terminated ? 0 : '\n',
					  &record, &size, &ended),
			     "it ended after record %llu", (unsigned long long)before);
		fuzz_require(tally->records == before && tally->without_key == place->keyless &&
				     tally->without_weight == place->weightless &&
				     tally->inputs == 2 &&
				     tally->bytes == place->texts[0].size + place->texts[1].size,
			     "the tally");
		fuzz_require(!records_trouble(records), "no trouble");
	}
	free(room);
}

/* -------------------------------------------------------------------- inputs */

static struct options read_options(struct fuzz_bytes *bytes)
{
	static const char *const lists[] = { "1",  "2",    "3",   "1,3",     "2-4", "2-",
					     "-2", "1,4-", "5,2", "1-3,3-5", "7",   "1-" };
	static const char delimiters[] = { ',', '\t', ' ', ':', '\0', '\r', 'a', '\xff' };
	struct options options = { .record = RECORD_OPTIONS_NONE };
	struct number_error error;
	uint8_t flags = fuzz_byte(bytes), more = fuzz_byte(bytes), list = fuzz_byte(bytes);

	options.record.zero_terminated = flags & 1;
	options.fold = flags & 2;
	options.record.crlf = flags & 4;
	options.record.has_fields = flags & 16;
	options.piped = flags & 32;
	options.swells = flags & 64;
	options.record.quoted = options.record.has_fields && flags & 128;
	if (options.record.has_fields)
		field_parse(lists[list % (sizeof lists / sizeof *lists)], &options.record.fields,
			    &error);
	if (more % 2 == 1)
		options.record.delimiter = (uint8_t)delimiters[more / 2 % 8];
	if (more >= 192)
		options.weight_field = more / 16 % 4 + 1u;
	options.seed = fuzz_byte(bytes);
	options.blocks = options.seed % 2 == 1 && options.weight_field == 0;
	options.secret = options.seed % 4 >= 2 ? &secret : NULL;
	/* Most often whole, else 1 byte and more. */
	options.pieces = fuzz_byte(bytes);
	options.pieces = options.pieces < 128 ? 0 : 1u << (options.pieces - 128) / 8;
	options.cut = (size_t)fuzz_byte(bytes) << 16 | (size_t)fuzz_byte(bytes) << 8;
	options.cut |= fuzz_byte(bytes);
	return options;
}

static struct text swell(const struct options *options, const struct fuzz_bytes *bytes)
{
	struct text text = { malloc(MOST_TEXT), 0 };

	for (const uint8_t *at = bytes->at; at < bytes->end && text.size < MOST_TEXT; at++) {
		size_t times = 1;

		if (options->swells && *at >= 0xf0 && at + 1 < bytes->end) {
			times = (size_t)1 << (*at & 15) << 2;
			at++;
		}
		if (times > MOST_TEXT - text.size)
			times = MOST_TEXT - text.size;
		memset(text.data + text.size, *at, times);
		text.size += times;
	}
	return text;
}

/* A descriptor to read a text from: a file, or a pipe that holds all of it. */
static int source(const struct text *text, bool piped)
{
	int ends[2];

	if (piped && pipe2(ends, O_CLOEXEC) == 0) {
		bool held = (text->size <= 65536 || fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) > 0) &&
			    (text->size == 0 ||
			     write(ends[1], text->data, text->size) == (ssize_t)text->size);

		close(ends[1]);
		if (held)
			return ends[0];
		close(ends[0]);
	}
	return fuzz_file(text->data, text->size);
}

/* Whether an input is refused by its first bytes: more of them never change what fewer have
 * decided. */
static bool is_refused(const uint8_t *data, size_t size)
{
	enum foreign answer = FOREIGN_UNDECIDED, all;
	char why[FOREIGN_TEXT];

	for (size_t length = 0; length <= size && length <= FOREIGN_LENGTH; length++) {
		enum foreign one = foreign_look(data, length, false, why);

		fuzz_require(answer == FOREIGN_UNDECIDED || one == answer,
			     "byte %zu changes what the input is", length);
		answer = one;
	}
	all = foreign_look(data, size, true, why);
	fuzz_require(all != FOREIGN_UNDECIDED, "undecided at the end");
	fuzz_require(answer == FOREIGN_UNDECIDED || all == answer, "the end changes what it is");
	fuzz_require(size < FOREIGN_LENGTH || answer == all, "undecided of enough");
	return all == FOREIGN_IS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, data + size };
	struct options options = read_options(&bytes);
	struct text text = swell(&options, &bytes);
	size_t cut = options.cut % (text.size + 1);
	bool refused = is_refused(text.data, cut);
	struct place place = { .texts = { { text.data, cut },
					  { text.data + cut, text.size - cut } } };
	int fds[2] = { source(&place.texts[0], options.piped),
		       source(&place.texts[1], options.piped) };
	char names[2][40];
	const char *const operands[2] = { names[0], names[1] };
	struct records_setup setup = { .options = &options.record,
				       .inputs = { operands, 2 },
				       .seed = options.seed,
				       .secret = options.secret,
				       .fold = options.fold,
				       .weight_field = options.weight_field };
	struct records *records;

	refused = is_refused(text.data + cut, text.size - cut) || refused;
	for (int i = 0; i < 2; i++)
		snprintf(names[i], sizeof names[i], "/proc/self/fd/%d", fds[i]);
	records = records_open(&setup);
	fuzz_require(records != NULL, "no memory");
	pieces = options.pieces;
	while (pieces > 0 && text.size / pieces > MOST_READS)
		pieces *= 2;
	/* That a weight is bad would be told each time. */
	fuzz_hush(options.weight_field > 0);
	if (!refused)
		check_all(&options, records, &place);
	fuzz_hush(false);
	pieces = 0;
	records_close(records);
	close(fds[0]);
	close(fds[1]);
	free(text.data);
	return 0;
}

void fuzz_seeds(fuzz_sink *sink, void *context)
{
	static const char *const texts[] = {
		"a b c\nd e f\n\n  g\th \n",
		"a,b,c\n,,\nd\n,e\n",
		"one\r\ntwo\r\n\r\nthree\r",
		"k 1\nk 2\nl -\nm 18446744073709551615\n",
		"k 1\nk x\n",
		"k \"12\"\n\"k\" \"-\"\n",
		"k 18446744073709551616\n",
		"\n\n\n",
		"",
		"x",
		"\xf9q\nend\n",
		"\xffq\xffq\xffq\n\xf3\nlast",
		"\xf8\n\xf8z",
		"a \"b c\" d\n\"a\"b \"c\n\"\\\" \"\"x\" y\n",
		"\"a,b\"\"c\",d,e\"f,g\"\n,\"\",\"\n",
		"A:b:C:d:E\nA:B\n::::::::\n",
		"\xf4 \xf4\t a \xf4\n",
		"q\xffr\xff\n\xff\xff\n",
	};
	/* Swelling, whole as one file, in reads of 16 to 2^15 bytes: records longer than what
	 * the reader moves, whose ends lie where reads begin and end. */
	static const char *const long_ones[] = { "\xfdq\xfcq\n\xfcq\xf9q\n", "\xfeq\n\xf9z",
						 "\xfcq\xfbq\xf4\n\xfcq", "a b\xfd \xfd \xfd c\n",
						 "\xfc,\xfb,q\xfa,\n\xfeq\n\n" };
	uint8_t input[400];
	uint64_t dice = 7;

	for (uint8_t size = 32; size < 128; size = (uint8_t)(size + 8)) {
		for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
			size_t length = strlen(long_ones[i]);
			const uint8_t options[8] = { (uint8_t)(64 | (size & 8) << 1), 1, 1, 0,
						     (uint8_t)(128 + size) };

			memcpy(input, options, sizeof options);
			memcpy(input + 8, long_ones[i], length);
			sink(context, input, 8 + length);
		}
		/* 64 KiB and one read: here the buffer grows, just before the terminator. */
		memcpy(input + 8, "\xfeq\xf0q\nlast", 9);
		input[10] = (uint8_t)(0xf0 + (size / 8 - 2) % 16);
		sink(context, input, 8 + 9);
	}
	for (int round = 0; round < 12; round++) {
		for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
			size_t length = strlen(texts[i]);

			for (size_t j = 0; j < 8; j++)
				input[j] = (uint8_t)fuzz_dice(&dice);
			memcpy(input + 8, texts[i], length);
			/* Records that end with NUL. */
			for (size_t j = 8; input[0] & 1 && j < 8 + length; j++)
				input[j] = (uint8_t)(input[j] == '\n' && fuzz_dice(&dice) % 4 > 0 ?
							     0 :
							     input[j]);
			sink(context, input, 8 + length);
		}
	}
}
