/* counts_image.c - sketches of counts from and to files */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "endian.h"
#include "error.h"
#include "file.h"
#include "identity.h"

#define SECTIONS_PLAIN 3
#define SECTIONS_TRACKING 5
#define SECTIONS_MOST (1 + SKETCH_MAX_PANES * SECTIONS_TRACKING)

/* The sections of a table; sums and keys of the tracked keys are NULL where there are
 * none. */
struct parts {
	const struct format_section *table, *sums, *key_sums, *cells, *keys;
};

static size_t sections_of_table(bool has_keys)
{
	return has_keys ? SECTIONS_TRACKING : SECTIONS_PLAIN;
}

/* What section i of a pane must be; a sketch without a window has but one pane. */
static struct format_section expected_section(size_t i, bool has_keys, uint32_t pane)
{
	static const uint32_t types[2][SECTIONS_TRACKING] = {
		{ FORMAT_TABLE, FORMAT_SUMS, FORMAT_CELLS },
		{ FORMAT_TABLE, FORMAT_SUMS, FORMAT_SUMS, FORMAT_CELLS, FORMAT_KEYS },
	};
	static const uint32_t odd[2][SECTIONS_TRACKING] = { { 0, 0, 0 }, { 0, 0, 1, 0, 1 } };
	uint32_t type = types[has_keys][i];

	return (struct format_section){
		.type = type,
		.index = type == FORMAT_TABLE ? pane : 2 * pane + odd[has_keys][i],
	};
}

static struct parts parts_of(const struct format_section *sections, bool has_keys)
{
	if (has_keys)
		return (struct parts){ sections, sections + 1, sections + 2, sections + 3,
				       sections + 4 };
	return (struct parts){ sections, sections + 1, NULL, sections + 2, NULL };
}

/* ------------------------------------------------------------------- reading */

/* What a file is made of: sections of so many tables, the first at `first`. */
struct arrangement {
	size_t first;
	uint32_t panes;
	bool has_keys;
};

static enum sketch_status check_sections(const struct sketch_file *file,
					 const struct arrangement *all, struct sketch_error *error)
{
	size_t each = sections_of_table(all->has_keys), needed = all->first + all->panes * each;

	for (size_t i = all->first; i < file->header.sections; i++) {
		const struct format_section *section = &file->sections[i];
		size_t place = i - all->first;
		struct format_section expected =
			expected_section(place % each, all->has_keys, (uint32_t)(place / each));

		if (i >= needed && section->type >= FORMAT_TYPE_IGNORABLE)
			continue;
		if (i >= needed || section->type != expected.type ||
		    section->index != expected.index)
			return error_set(error,
					 section->type > FORMAT_RING ? SKETCH_UNSUPPORTED :
								       SKETCH_DAMAGED,
					 "section of type %" PRIu32 ", index %" PRIu32
					 " in a place where a count-min sketch has none",
					 section->type, section->index);
	}
	if (file->header.sections < needed)
		return error_damaged(error, "a section is missing");
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

static enum sketch_status decode_decay(struct sketch_counts *counts, const uint8_t *table,
				       struct sketch_error *error)
{
	uint32_t unit = load_u32(table + 12);
	uint64_t landmark = load_u64(table + 40);
	struct sketch_decay decay = { (enum sketch_window_unit)unit, load_u64(table + 48),
				      load_u64(table + 72) };

	if (unit == 0) {
		if (landmark != 0 || decay.half_life != 0 || decay.now != 0)
			return error_damaged(error, "decay without a unit");
		return SKETCH_OK;
	}
	if (unit != SKETCH_WINDOW_RECORDS && unit != SKETCH_WINDOW_NANOSECONDS)
		return error_set(error, SKETCH_UNSUPPORTED,
				 "decay unit %" PRIu32 " is not supported (this reads 1 and 2)",
				 unit);
	if (decay.half_life < 1 || decay.half_life > UINT64_C(1) << 62 || landmark > decay.now ||
	    decay.now > (uint64_t)INT64_MAX || landmark % decay.half_life != 0 ||
	    counts->params.update != SKETCH_CONSERVATIVE || !counts->wide)
		return error_damaged(error, "the decay of the table");
	decay.now = landmark;
	if (!decay_make(&counts->decay, &decay))
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	decay_move(&counts->decay, load_u64(table + 72));
	return SKETCH_OK;
}

/* Reads TABLE into a sketch that is nothing else yet. */
static enum sketch_status decode_table(struct sketch_counts *counts, const uint8_t *image,
				       const struct format_section *section,
				       struct sketch_error *error)
{
	const uint8_t *table = image + section->offset;
	uint32_t bits, update;
	struct sketch_error reason;

	/* Before anything of it is read: the file may end here. */
	if (section->length != FORMAT_TABLE_BYTES ||
	    sketch_crc32c(0, table, FORMAT_TABLE_BYTES) != section->sum)
		return error_damaged(error, "checksum or length of the table's parameters");
	bits = load_u32(table + 4);
	update = load_u32(table + 8);
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
		return error_damaged(error, reason.text);
	if (!is_zero(table + 80, 48) || counts->in_table > counts->total ||
	    counts->floor > counts->total)
		return error_damaged(error, "the table's parameters");
	return decode_decay(counts, table, error);
}

/* A key under another's hash could be there twice, and never be found.  Under a secret,
 * which is not at hand, its hash has to be believed. */
static bool has_hash(const struct sketch_key *key, const struct sketch_identity *identity)
{
	struct sketch_hash hash;

	if (identity->family != SKETCH_FAMILY_MURMUR3)
		return true;
	hash = sketch_murmur3_x64_128(key->data, key->length, identity->seed);
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

	if ((size_t)(end - record) < FORMAT_KEY_BYTES)
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
	if (flags == 0 && !has_hash(&key, &counts->identity))
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
			return error_damaged(error, "a tracked key");
		used = counts->tracked.used;
		one = &counts->tracked.keys[used - 1];
		before = used < 2 ? NULL : one - 1;
		if (before != NULL && by_hash(&before, &one) >= 0)
			return error_damaged(error, "the order of the tracked keys");
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
		return error_damaged(error,
				     "tracked keys where there are none, or none where there are");
	if (!sums_agree(image, parts->sums, parts->cells) ||
	    (parts->keys != NULL && !sums_agree(image, parts->key_sums, parts->keys)))
		return error_damaged(error,
				     "checksum of the cells or of the tracked keys is wrong");
	if (bytes > counts->budget)
		return error_budget(error, bytes, counts->budget);
	if (!region_new(&counts->cells, (size_t)bytes) ||
	    !tracked_make(&counts->tracked, (size_t)counts->params.tracked))
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	memcpy(counts->cells.data, image + parts->cells->offset, (size_t)bytes);
	return SKETCH_OK;
}

/* A sketch with the identity of the file and nothing else. */
static struct sketch_counts *new_holder(const struct sketch_file *file, uint32_t panes)
{
	struct sketch_counts *made = calloc(1, sizeof *made);

	if (made == NULL)
		return NULL;
	made->identity = identity_of_header(&file->header);
	made->budget = file->budget / panes;
	return made;
}

static enum sketch_status decode_pane(struct sketch_counts **pane, const struct sketch_file *file,
				      const struct arrangement *all, uint32_t number,
				      struct sketch_error *error)
{
	size_t at = all->first + number * sections_of_table(all->has_keys);
	const struct parts parts = parts_of(file->sections + at, all->has_keys);
	const uint8_t *image = file->bytes.data;
	struct sketch_counts *made = new_holder(file, all->panes);
	enum sketch_status status;

	if (made == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	status = decode_table(made, image, parts.table, error);
	if (status == SKETCH_OK)
		status = decode_cells(made, image, &parts, error);
	if (status == SKETCH_OK && parts.keys != NULL)
		status = decode_keys(made, image, parts.keys, error);
	if (status == SKETCH_OK && !adds_up(made))
		status = error_damaged(error, "the counts do not add up to the total");
	if (status != SKETCH_OK) {
		sketch_counts_free(made);
		return status;
	}
	*pane = made;
	return SKETCH_OK;
}

static enum sketch_status decode_ring(struct ring **ring, const struct sketch_file *file,
				      struct sketch_error *error)
{
	const struct format_section *section = &file->sections[0];
	const uint8_t *bytes = file->bytes.data + section->offset;
	struct sketch_pane_window window;
	struct sketch_error reason;
	uint32_t unit;
	uint64_t records;

	/* Before anything of it is read: the file may end here. */
	if (section->index != 0 || section->length != FORMAT_RING_BYTES ||
	    sketch_crc32c(0, bytes, FORMAT_RING_BYTES) != section->sum)
		return error_damaged(error, "checksum, index or length of the window");
	unit = load_u32(bytes);
	window = (struct sketch_pane_window){ (enum sketch_window_unit)unit, load_u64(bytes + 16),
					      load_u64(bytes + 8),           load_u32(bytes + 4),
					      load_u64(bytes + 24),          load_u64(bytes + 32) };
	records = unit == SKETCH_WINDOW_RECORDS ? window.span : 0;
	if (unit != SKETCH_WINDOW_RECORDS && unit != SKETCH_WINDOW_NANOSECONDS)
		return error_set(error, SKETCH_UNSUPPORTED,
				 "window unit %" PRIu32 " is not supported (this reads 1 and 2)",
				 unit);
	if (!is_zero(bytes + 40, 24) || window.records > records ||
	    window.stamp > FORMAT_MAX_STAMP ||
	    (unit == SKETCH_WINDOW_NANOSECONDS && window.span > 0 &&
	     window.stamp > format_last_stamp(window.span)))
		return error_damaged(error, "the parameters of the window");
	switch (ring_make(ring, &window, &reason)) {
	case SKETCH_OK:
		return SKETCH_OK;
	case SKETCH_NO_MEMORY:
		return error_set(error, SKETCH_NO_MEMORY, "%s", reason.text);
	default:
		return error_damaged(error, reason.text);
	}
}

/* Whether a pane belongs to the others: of the same shape, without decay, and their
 * totals can be added. */
static bool fits(const struct sketch_counts *pane, const struct sketch_counts *first,
		 uint64_t *total)
{
	const struct sketch_counts_params *p = &pane->params, *q = &first->params;

	return p->d == q->d && p->w == q->w && p->update == q->update && p->tracked == q->tracked &&
	       !counts_decays(pane) && !__builtin_add_overflow(*total, pane->total, total);
}

static enum sketch_status decode_panes(struct sketch_counts *holder, const struct sketch_file *file,
				       const struct arrangement *all, struct sketch_error *error)
{
	struct sketch_counts **panes = holder->ring->panes;
	uint64_t total = 0;

	for (uint32_t i = 0; i < all->panes; i++) {
		enum sketch_status status = decode_pane(&panes[i], file, all, i, error);

		if (status != SKETCH_OK)
			return status;
		if (!fits(panes[i], panes[0], &total))
			return error_damaged(error,
					     "the panes of the window do not fit each other");
	}
	holder->params = panes[0]->params;
	return SKETCH_OK;
}

static enum sketch_status decode(struct sketch_counts **counts, const struct sketch_file *file,
				 struct sketch_error *error)
{
	bool windowed = file->sections[0].type == FORMAT_RING;
	struct arrangement all = { .first = windowed, .panes = 1 };
	struct sketch_counts *made;
	enum sketch_status status = SKETCH_OK;

	all.has_keys = file->header.sections > all.first + 2 &&
		       file->sections[all.first + 2].type == FORMAT_SUMS;
	if (!windowed) {
		status = check_sections(file, &all, error);
		return status == SKETCH_OK ? decode_pane(counts, file, &all, 0, error) : status;
	}
	made = new_holder(file, 1);
	if (made == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	status = decode_ring(&made->ring, file, error);
	if (status == SKETCH_OK) {
		all.panes = made->ring->window.panes;
		status = check_sections(file, &all, error);
	}
	if (status == SKETCH_OK)
		status = decode_panes(made, file, &all, error);
	if (status != SKETCH_OK) {
		sketch_counts_free(made);
		return status;
	}
	*counts = made;
	return SKETCH_OK;
}

enum sketch_status sketch_counts_of_file(struct sketch_counts **counts, struct sketch_file *file,
					 struct sketch_error *error)
{
	enum sketch_status status = file_expect_kind(file, SKETCH_KIND_COUNTS, error);
	struct sketch_counts *made = NULL;

	if (status == SKETCH_OK && file->header.arrangement != SKETCH_SINGLE)
		status = error_damaged(error, "counts in layers");
	if (status == SKETCH_OK)
		status = decode(&made, file, error);
	if (status == SKETCH_OK)
		made->records = file->header.records;
	sketch_file_free(file);
	if (status == SKETCH_OK)
		*counts = made;
	return status;
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
	if (counts_decays(counts)) {
		store_u32(table + 12, (uint32_t)counts->decay.unit);
		store_u64(table + 40, counts->decay.landmark);
		store_u64(table + 48, counts->decay.half_life);
		store_u64(table + 72, counts->decay.now);
	}
	store_u64(table + 16, counts->params.w);
	store_u64(table + 24, counts->total);
	store_u64(table + 32, counts->in_table);
	store_u64(table + 56, counts->params.tracked);
	store_u64(table + 64, counts->floor);
}

static void encode_ring(const struct sketch_pane_window *window, uint8_t *bytes)
{
	store_u32(bytes, (uint32_t)window->unit);
	store_u32(bytes + 4, window->panes);
	store_u64(bytes + 8, window->span);
	store_u64(bytes + 16, window->length);
	store_u64(bytes + 24, window->stamp);
	store_u64(bytes + 32, window->records);
}

/* A file to be: its sections and their bytes, in order. */
struct image {
	size_t count;
	bool failed; /* no memory */
	struct piece {
		struct format_section section; /* without offset */
		const uint8_t *bytes;
		uint8_t *owned; /* to be freed, or NULL */
	} pieces[SECTIONS_MOST];
};

/* Appends a section of `length` bytes of memory that the image owns. */
static uint8_t *append_owned(struct image *image, struct format_section section, uint64_t length)
{
	struct piece *piece = &image->pieces[image->count++];
	uint8_t *bytes = calloc(1, (size_t)length + 1);

	image->failed = image->failed || bytes == NULL;
	section.length = length;
	*piece = (struct piece){ section, bytes, bytes };
	return bytes;
}

/* Appends the sums of a chunked section; the sum is that of both. */
static void append_sums(struct image *image, struct format_section section, const uint8_t *chunked,
			uint64_t length, uint32_t *sum)
{
	uint64_t sums_length = 4 * format_chunks(length);
	uint8_t *sums = append_owned(image, section, sums_length);

	if (sums == NULL || chunked == NULL)
		return;
	file_sum_chunks(chunked, length, sums);
	*sum = sketch_crc32c(0, sums, (size_t)sums_length);
	image->pieces[image->count - 1].section.sum = *sum;
}

static void append_chunked(struct image *image, struct format_section section, const uint8_t *bytes,
			   uint64_t length, uint32_t sum, uint8_t *owned)
{
	section.length = length;
	section.sum = sum;
	image->pieces[image->count++] = (struct piece){ section, bytes, owned };
}

/* Appends the sections of one table. */
static void append_table(struct image *image, const struct sketch_counts *counts, uint32_t pane)
{
	bool has_keys = counts->params.tracked > 0;
	uint64_t cells_length = counts_bytes(&counts->params, counts->wide), keys_length;
	uint8_t *table =
		append_owned(image, expected_section(0, has_keys, pane), FORMAT_TABLE_BYTES);
	uint8_t *keys = has_keys ? encode_keys(&counts->tracked, &keys_length) : NULL;
	uint32_t cells_sum = 0, keys_sum = 0;

	image->failed = image->failed || (has_keys && keys == NULL);
	if (table != NULL) {
		encode_table(counts, table);
		image->pieces[image->count - 1].section.sum =
			sketch_crc32c(0, table, FORMAT_TABLE_BYTES);
	}
	append_sums(image, expected_section(1, has_keys, pane), counts->cells.data, cells_length,
		    &cells_sum);
	if (has_keys)
		append_sums(image, expected_section(2, has_keys, pane), keys, keys_length,
			    &keys_sum);
	append_chunked(image, expected_section(has_keys ? 3 : 2, has_keys, pane),
		       counts->cells.data, cells_length, cells_sum, NULL);
	if (has_keys)
		append_chunked(image, expected_section(4, has_keys, pane), keys, keys_length,
			       keys_sum, keys);
}

static void append_all(struct image *image, const struct sketch_counts *counts)
{
	const struct ring *ring = counts->ring;
	uint8_t *bytes;

	if (ring == NULL) {
		append_table(image, counts, 0);
		return;
	}
	bytes = append_owned(image, (struct format_section){ .type = FORMAT_RING },
			     FORMAT_RING_BYTES);
	if (bytes != NULL) {
		encode_ring(&ring->window, bytes);
		image->pieces[0].section.sum = sketch_crc32c(0, bytes, FORMAT_RING_BYTES);
	}
	for (uint32_t i = 0; i < ring->window.panes; i++)
		append_table(image, ring->panes[i], i);
}

/* Header and section table, once it is known where the sections go. */
static uint8_t *encode_front(const struct sketch_counts *counts, struct image *image,
			     uint64_t *length)
{
	size_t table_length = image->count * FORMAT_ENTRY_BYTES;
	uint8_t *front = calloc(1, FORMAT_HEADER_BYTES + table_length);
	struct format_header header = {
		.version = FORMAT_VERSION,
		.kind = SKETCH_KIND_COUNTS,
		.length = FORMAT_HEADER_BYTES + table_length,
		.sections = (uint32_t)image->count,
		.records = counts->records,
	};

	if (front == NULL)
		return NULL;
	*length = header.length;
	for (size_t i = 0; i < image->count; i++) {
		struct format_section *section = &image->pieces[i].section;

		section->offset = format_align(header.length);
		header.length = section->offset + section->length;
		format_encode_section(front + FORMAT_HEADER_BYTES + i * FORMAT_ENTRY_BYTES,
				      section);
	}
	header.table_sum = sketch_crc32c(0, front + FORMAT_HEADER_BYTES, table_length);
	identity_to_header(&counts->identity, &header);
	format_encode_header(front, &header);
	return front;
}

static enum sketch_status write_image(const struct sketch_counts *counts, struct image *image,
				      int fd, struct sketch_error *error)
{
	static const uint8_t zeros[FORMAT_ALIGNMENT];
	uint64_t at = 0;
	uint8_t *front = image->failed ? NULL : encode_front(counts, image, &at);
	enum sketch_status status;

	if (front == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	status = file_write(fd, front, at, error);
	for (size_t i = 0; i < image->count && status == SKETCH_OK; i++) {
		const struct piece *piece = &image->pieces[i];

		status = file_write(fd, zeros, piece->section.offset - at, error);
		if (status == SKETCH_OK)
			status = file_write(fd, piece->bytes, piece->section.length, error);
		at = piece->section.offset + piece->section.length;
	}
	free(front);
	return status;
}

enum sketch_status sketch_counts_write(const struct sketch_counts *counts, int fd,
				       struct sketch_error *error)
{
	struct image *image = calloc(1, sizeof *image);
	enum sketch_status status;

	if (image == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	append_all(image, counts);
	status = write_image(counts, image, fd, error);
	for (size_t i = 0; i < image->count; i++)
		free(image->pieces[i].owned);
	free(image);
	return status;
}
