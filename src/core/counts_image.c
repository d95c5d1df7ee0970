/* counts_image.c - sketches of counts from and to files */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "endian.h"
#include "error.h"
#include "file.h"

#define SECTIONS_PLAIN 3
#define SECTIONS_MOST 5

/* The sections of a file of counts; sums and keys of the tracked keys are NULL where
 * there are none. */
struct parts {
	const struct format_section *table, *sums, *key_sums, *cells, *keys;
};

/* What section i must be. */
static struct format_section expected_section(size_t i, bool has_keys)
{
	static const uint32_t types[2][SECTIONS_MOST] = {
		{ FORMAT_TABLE, FORMAT_SUMS, FORMAT_CELLS },
		{ FORMAT_TABLE, FORMAT_SUMS, FORMAT_SUMS, FORMAT_CELLS, FORMAT_KEYS },
	};
	static const uint32_t indexes[2][SECTIONS_MOST] = { { 0, 0, 0 }, { 0, 0, 1, 0, 1 } };

	return (struct format_section){ .type = types[has_keys][i], .index = indexes[has_keys][i] };
}

static struct parts parts_of(const struct format_section *sections, bool has_keys)
{
	if (has_keys)
		return (struct parts){ sections, sections + 1, sections + 2, sections + 3,
				       sections + 4 };
	return (struct parts){ sections, sections + 1, NULL, sections + 2, NULL };
}

/* ------------------------------------------------------------------- reading */

static enum sketch_status damaged(struct sketch_error *error, const char *what)
{
	return error_set(error, SKETCH_DAMAGED, "damaged: %s", what);
}

static enum sketch_status sort_sections(struct parts *parts, const struct sketch_file *file,
					struct sketch_error *error)
{
	size_t count = file->header.sections, needed;
	bool has_keys = count > 2 && file->sections[2].type == FORMAT_SUMS;

	needed = has_keys ? SECTIONS_MOST : SECTIONS_PLAIN;
	for (size_t i = 0; i < count; i++) {
		const struct format_section *section = &file->sections[i];

		if (i >= needed && section->type >= FORMAT_TYPE_IGNORABLE)
			continue;
		if (i >= needed || section->type != expected_section(i, has_keys).type ||
		    section->index != expected_section(i, has_keys).index)
			return error_set(error,
					 section->type > FORMAT_WINDOW ? SKETCH_UNSUPPORTED :
									 SKETCH_DAMAGED,
					 "section of type %" PRIu32 ", index %" PRIu32
					 " in a place where a count-min sketch has none",
					 section->type, section->index);
	}
	if (count < needed)
		return damaged(error, "a section is missing");
	*parts = parts_of(file->sections, has_keys);
	return SKETCH_OK;
}

static bool sums_agree(const uint8_t *image, const struct format_section *sums,
		       const struct format_section *section)
{
	return sums->length == 4 * format_chunks(section->length) && sums->sum == section->sum &&
	       sketch_crc32c(0, image + sums->offset, (size_t)sums->length) == sums->sum &&
	       file_check_chunks(image + section->offset, section->length, image + sums->offset);
}

static bool is_zero(const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] != 0)
			return false;
	}
	return true;
}

/* Reads TABLE into a sketch that is nothing else yet. */
static enum sketch_status decode_table(struct sketch_counts *counts, const uint8_t *image,
				       const struct format_section *section,
				       struct sketch_error *error)
{
	const uint8_t *table = image + section->offset;
	uint32_t bits = load_u32(table + 4), update = load_u32(table + 8);
	struct sketch_error reason;

	if (section->length != FORMAT_TABLE_BYTES ||
	    sketch_crc32c(0, table, FORMAT_TABLE_BYTES) != section->sum)
		return damaged(error, "checksum or length of the table's parameters");
	if (load_u64(table + 40) != 0 || load_u64(table + 48) != 0)
		return error_set(error, SKETCH_UNSUPPORTED, "counts that decay are not supported");
	if (bits != 32 && bits != 64)
		return error_set(error, SKETCH_UNSUPPORTED,
				 "cells of %" PRIu32
				 " bits are not supported (this reads 32 and 64)",
				 bits);
	counts->params.d = load_u32(table);
	counts->params.update = (enum sketch_update)update;
	counts->params.w = load_u64(table + 16);
	counts->params.tracked = load_u64(table + 56);
	counts->wide = bits == 64;
	counts->total = load_u64(table + 24);
	counts->in_table = load_u64(table + 32);
	counts->floor = load_u64(table + 64);
	if (counts_check(&counts->params, &reason) != SKETCH_OK)
		return damaged(error, reason.text);
	if (load_u32(table + 12) != 0 || !is_zero(table + 72, 56) ||
	    counts->in_table > counts->total || counts->floor > counts->total)
		return damaged(error, "the table's parameters");
	return SKETCH_OK;
}

/* A key under another's hash could be there twice, and never be found. */
static bool has_hash(const struct sketch_key *key, uint32_t seed)
{
	struct sketch_hash hash = sketch_murmur3_x64_128(key->data, key->length, seed);

	return hash.h1 == key->hash.h1 && hash.h2 == key->hash.h2;
}

/* Reads one record of KEYS; *at moves behind it. */
static bool decode_key(struct sketch_counts *counts, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *record = *at;
	uint64_t padded, length;
	struct sketch_key key;
	uint32_t stored, flags;
	uint64_t count, wrong;

	if (end - record < FORMAT_KEY_BYTES)
		return false;
	stored = load_u32(record);
	flags = load_u32(record + 4);
	length = load_u64(record + 8);
	padded = (stored + UINT64_C(7)) / 8 * 8;
	count = load_u64(record + 32);
	wrong = load_u64(record + 40);
	if (stored > SKETCH_MAX_KEY || (uint64_t)(end - record) < FORMAT_KEY_BYTES + padded ||
	    flags != (length > stored) ||
	    (flags != 0 ? stored < SKETCH_MAX_KEY : length != stored) || length > SIZE_MAX ||
	    count == 0 || wrong > count || count > counts->total || wrong > counts->in_table ||
	    !is_zero(record + FORMAT_KEY_BYTES + stored, (size_t)(padded - stored)))
		return false;
	key = (struct sketch_key){ record + FORMAT_KEY_BYTES,
				   (size_t)length,
				   { load_u64(record + 16), load_u64(record + 24) },
				   0 };
	*at = record + FORMAT_KEY_BYTES + padded;
	if (flags == 0 && !has_hash(&key, counts->identity.seed))
		return false;
	return counts->tracked.used < counts->tracked.capacity &&
	       tracked_find(&counts->tracked, &key) == TRACKED_NONE &&
	       tracked_insert(&counts->tracked, &key, count, wrong);
}

/* The order of KEYS. */
static int by_hash(const void *a, const void *b)
{
	const struct tracked_key *p = *(const struct tracked_key *const *)a;
	const struct tracked_key *q = *(const struct tracked_key *const *)b;

	if (p->hash.h1 != q->hash.h1)
		return p->hash.h1 < q->hash.h1 ? -1 : 1;
	if (p->hash.h2 != q->hash.h2)
		return p->hash.h2 < q->hash.h2 ? -1 : 1;
	return tracked_compare(p, q);
}

static enum sketch_status decode_keys(struct sketch_counts *counts, const uint8_t *image,
				      const struct format_section *section,
				      struct sketch_error *error)
{
	const uint8_t *at = image + section->offset, *end = at + section->length;

	while (at < end) {
		const struct tracked_key *one, *before;
		size_t used;

		if (!decode_key(counts, &at, end))
			return damaged(error, "a tracked key");
		used = counts->tracked.used;
		one = &counts->tracked.keys[used - 1];
		before = used < 2 ? NULL : one - 1;
		if (before != NULL && by_hash(&before, &one) >= 0)
			return damaged(error, "the order of the tracked keys");
	}
	return SKETCH_OK;
}

/* Whether every weight of the total is in the cells or with one key, and no cell holds
 * more than went to them: sums of what is read then do not overflow. */
static bool adds_up(const struct sketch_counts *counts)
{
	uint64_t cells = counts->params.w * counts->params.d, left = counts->total, value;

	for (uint64_t i = 0; i < cells; i++) {
		value = counts->wide ? load_u64(counts->cells.data + 8 * i) :
				       load_u32(counts->cells.data + 4 * i);
		if (value > counts->in_table)
			return false;
	}
	for (size_t i = 0; i < counts->tracked.used; i++) {
		value = counts->tracked.keys[i].count - counts->tracked.keys[i].error;
		if (value > left)
			return false;
		left -= value;
	}
	return left == counts->in_table;
}

/* Copies the cells; what they and the keys need was checked against the bytes that
 * are there. */
static enum sketch_status decode_cells(struct sketch_counts *counts, const uint8_t *image,
				       const struct parts *parts, struct sketch_error *error)
{
	uint64_t bytes = counts_bytes(&counts->params, counts->wide);

	if (parts->cells->length != bytes)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: %" PRIu32 " rows of %" PRIu64 " cells in %" PRIu64
				 " bytes",
				 counts->params.d, counts->params.w, parts->cells->length);
	if ((parts->keys != NULL) != (counts->params.tracked > 0))
		return damaged(error, "tracked keys where there are none, or none where there are");
	if (!sums_agree(image, parts->sums, parts->cells) ||
	    (parts->keys != NULL && !sums_agree(image, parts->key_sums, parts->keys)))
		return damaged(error, "checksum of the cells or of the tracked keys is wrong");
	if (bytes > counts->budget)
		return error_set(error, SKETCH_NO_MEMORY,
				 "needs %" PRIu64 " bytes of memory, and %" PRIu64 " are to be had",
				 bytes, counts->budget);
	if (!region_new(&counts->cells, (size_t)bytes) ||
	    !tracked_make(&counts->tracked, (size_t)counts->params.tracked))
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	memcpy(counts->cells.data, image + parts->cells->offset, (size_t)bytes);
	return SKETCH_OK;
}

enum sketch_status sketch_counts_of_file(struct sketch_counts **counts, struct sketch_file *file,
					 struct sketch_error *error)
{
	enum sketch_status status = file_expect_kind(file, SKETCH_KIND_COUNTS, error);
	struct sketch_counts *made = calloc(1, sizeof *made);
	const uint8_t *image = file->bytes.data;
	struct parts parts = { 0 };

	if (made == NULL && status == SKETCH_OK)
		status = error_set(error, SKETCH_NO_MEMORY, "out of memory");
	if (status == SKETCH_OK && file->header.arrangement != SKETCH_SINGLE)
		status = damaged(error, "counts in layers");
	if (status == SKETCH_OK)
		status = sort_sections(&parts, file, error);
	if (status == SKETCH_OK)
		status = decode_table(made, image, parts.table, error);
	if (status == SKETCH_OK) {
		made->identity =
			(struct sketch_identity){ file->header.family, file->header.transforms,
						  load_u32(file->header.seed), SKETCH_SINGLE };
		made->records = file->header.records;
		made->budget = file->budget;
		status = decode_cells(made, image, &parts, error);
	}
	if (status == SKETCH_OK && parts.keys != NULL)
		status = decode_keys(made, image, parts.keys, error);
	if (status == SKETCH_OK && !adds_up(made))
		status = damaged(error, "the counts do not add up to the total");
	sketch_file_free(file);
	if (status != SKETCH_OK) {
		sketch_counts_free(made);
		return status;
	}
	*counts = made;
	return SKETCH_OK;
}

/* ------------------------------------------------------------------- writing */

static uint64_t key_bytes(const struct tracked_key *key)
{
	return FORMAT_KEY_BYTES + (key->stored_length + UINT64_C(7)) / 8 * 8;
}

/* The KEYS section, of `length` bytes; NULL without memory. */
static uint8_t *encode_keys(const struct tracked *tracked, uint64_t *length)
{
	const struct tracked_key **order = malloc((tracked->used + 1) * sizeof *order);
	uint8_t *bytes, *at;

	*length = 0;
	for (size_t i = 0; i < tracked->used; i++)
		*length += key_bytes(&tracked->keys[i]);
	bytes = order == NULL ? NULL : calloc(1, (size_t)*length + 1);
	for (size_t i = 0; i < tracked->used && bytes != NULL; i++)
		order[i] = &tracked->keys[i];
	if (bytes != NULL)
		qsort(order, tracked->used, sizeof *order, by_hash);
	at = bytes;
	for (size_t i = 0; i < tracked->used && bytes != NULL; i++) {
		const struct tracked_key *key = order[i];

		store_u32(at, key->stored_length);
		store_u32(at + 4, key->length > key->stored_length);
		store_u64(at + 8, key->length);
		store_u64(at + 16, key->hash.h1);
		store_u64(at + 24, key->hash.h2);
		store_u64(at + 32, key->count);
		store_u64(at + 40, key->error);
		memcpy(at + FORMAT_KEY_BYTES, key->stored, key->stored_length);
		at += key_bytes(key);
	}
	free(order);
	return bytes;
}

static void encode_table(const struct sketch_counts *counts, uint8_t *table)
{
	store_u32(table, counts->params.d);
	store_u32(table + 4, counts->wide ? 64 : 32);
	store_u32(table + 8, (uint32_t)counts->params.update);
	store_u64(table + 16, counts->params.w);
	store_u64(table + 24, counts->total);
	store_u64(table + 32, counts->in_table);
	store_u64(table + 56, counts->params.tracked);
	store_u64(table + 64, counts->floor);
}

/* Where the sections go; returns the length of the file. */
static uint64_t place_sections(struct format_section *sections, bool has_keys, uint64_t cell_bytes,
			       uint64_t keys_length)
{
	size_t count = has_keys ? SECTIONS_MOST : SECTIONS_PLAIN;
	uint64_t end = FORMAT_HEADER_BYTES + count * FORMAT_ENTRY_BYTES;

	for (size_t i = 0; i < count; i++) {
		struct format_section *section = &sections[i];
		uint64_t chunked = i == 2 && has_keys ? keys_length : cell_bytes;

		*section = expected_section(i, has_keys);
		section->offset = format_align(end);
		section->length = section->type == FORMAT_TABLE ? FORMAT_TABLE_BYTES :
				  section->type == FORMAT_SUMS  ? 4 * format_chunks(chunked) :
				  section->type == FORMAT_CELLS ? cell_bytes :
								  keys_length;
		end = section->offset + section->length;
	}
	return end;
}

static void encode_front(const struct sketch_counts *counts, struct format_section *sections,
			 size_t count, uint64_t file_length, uint8_t *front)
{
	uint8_t *table = front + FORMAT_HEADER_BYTES;
	struct format_header header = {
		.version = FORMAT_VERSION,
		.kind = SKETCH_KIND_COUNTS,
		.length = file_length,
		.sections = (uint32_t)count,
		.family = counts->identity.family,
		.transforms = counts->identity.transforms,
		.records = counts->records,
	};

	for (size_t i = 0; i < count; i++)
		format_encode_section(table + i * FORMAT_ENTRY_BYTES, &sections[i]);
	header.table_sum = sketch_crc32c(0, table, count * FORMAT_ENTRY_BYTES);
	store_u32(header.seed, counts->identity.seed);
	format_encode_header(front, &header);
}

enum sketch_status sketch_counts_write(const struct sketch_counts *counts, int fd,
				       struct sketch_error *error)
{
	static const uint8_t zeros[FORMAT_ALIGNMENT];
	bool has_keys = counts->params.tracked > 0;
	struct format_section sections[SECTIONS_MOST] = { 0 };
	struct parts parts = parts_of(sections, has_keys);
	uint64_t cell_bytes = counts_bytes(&counts->params, counts->wide), keys_length, length;
	uint8_t *keys = encode_keys(&counts->tracked, &keys_length), *front;
	enum sketch_status status;
	size_t front_length;

	length = place_sections(sections, has_keys, cell_bytes, keys_length);
	front_length = (size_t)parts.cells->offset;
	front = calloc(1, front_length);
	if (keys == NULL || front == NULL) {
		free(keys);
		free(front);
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	}
	encode_table(counts, front + parts.table->offset);
	sections[0].sum = sketch_crc32c(0, front + parts.table->offset, FORMAT_TABLE_BYTES);
	for (size_t i = 1; i <= (has_keys ? 2 : 1); i++) {
		struct format_section *of = &sections[has_keys ? i + 2 : 2];
		uint8_t *sums = front + sections[i].offset;

		file_sum_chunks(of->type == FORMAT_CELLS ? counts->cells.data : keys, of->length,
				sums);
		of->sum = sections[i].sum = sketch_crc32c(0, sums, (size_t)sections[i].length);
	}
	encode_front(counts, sections, has_keys ? SECTIONS_MOST : SECTIONS_PLAIN, length, front);
	status = file_write(fd, front, front_length, error);
	if (status == SKETCH_OK)
		status = file_write(fd, counts->cells.data, cell_bytes, error);
	if (status == SKETCH_OK && has_keys)
		status = file_write(fd, zeros,
				    parts.keys->offset - parts.cells->offset - cell_bytes, error);
	if (status == SKETCH_OK && has_keys)
		status = file_write(fd, keys, keys_length, error);
	free(keys);
	free(front);
	return status;
}
