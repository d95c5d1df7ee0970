/* cuckoo_image.c - cuckoo filters from and to files
 *
 * The table is used where it lies in the file's image. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cuckoo.h"
#include "endian.h"
#include "error.h"
#include "file.h"
#include "identity.h"

#define SECTIONS 3

static const uint32_t section_types[SECTIONS] = { FORMAT_CUCKOO, FORMAT_SUMS, FORMAT_BUCKETS };

static enum sketch_status check_sections(const struct sketch_file *file, struct sketch_error *error)
{
	size_t count = file->header.sections;

	for (size_t i = 0; i < count; i++) {
		uint32_t type = file->sections[i].type,
			 expected = i < SECTIONS ? section_types[i] : 0;

		if (i >= SECTIONS && type >= FORMAT_TYPE_IGNORABLE)
			continue;
		if (type == expected && file->sections[i].index == 0)
			continue;
		if (type == FORMAT_CUCKOO || type == FORMAT_SUMS || type == FORMAT_BUCKETS)
			return error_set(error, SKETCH_DAMAGED,
					 "damaged: section of type %" PRIu32 ", index %" PRIu32
					 " out of order, missing or double",
					 type, file->sections[i].index);
		return error_set(error, SKETCH_UNSUPPORTED,
				 "a section of type %" PRIu32
				 " is not supported in a cuckoo filter (this reads 2, 16 and 17)",
				 type);
	}
	return count < SECTIONS ? error_damaged(error, "a section is missing") : SKETCH_OK;
}

static enum sketch_status decode_params(struct sketch_cuckoo_params *params, const uint8_t *image,
					const struct format_section *section,
					struct sketch_error *error)
{
	const uint8_t *bytes = image + section->offset;
	struct sketch_error reason;

	if (section->length != FORMAT_CUCKOO_BYTES ||
	    sketch_crc32c(0, bytes, FORMAT_CUCKOO_BYTES) != section->sum)
		return error_damaged(error, "checksum or length of section CUCKOO is wrong");
	if (load_u32(bytes + 4) != SKETCH_CUCKOO_SLOTS)
		return error_set(error, SKETCH_UNSUPPORTED,
				 "buckets of %" PRIu32 " slots are not supported (this reads 4)",
				 load_u32(bytes + 4));
	format_decode_cuckoo(bytes, params);
	if (load_u64(bytes + 32) != 0 || load_u64(bytes + 40) != 0 || load_u64(bytes + 48) != 0 ||
	    load_u64(bytes + 56) != 0)
		return error_damaged(error, "reserved bytes are not 0");
	if (cuckoo_check(params, &reason) != SKETCH_OK)
		return error_damaged(error, reason.text);
	return SKETCH_OK;
}

/* Whether the bits behind the last slot are 0. */
static bool is_padded(const struct sketch_cuckoo *cuckoo)
{
	uint64_t bits = cuckoo->params.buckets * SKETCH_CUCKOO_SLOTS * cuckoo->params.f;
	uint64_t bytes = cuckoo_bytes(&cuckoo->params);
	uint64_t rest = bits % 64 == 0 ? 0 : load_u64(cuckoo->table + bytes - 16) >> bits % 64;

	return rest == 0 && load_u64(cuckoo->table + bytes - 8) == 0;
}

static enum sketch_status attach_table(struct sketch_cuckoo *cuckoo, uint8_t *image,
				       const struct format_section *sums,
				       const struct format_section *buckets,
				       struct sketch_error *error)
{
	if (buckets->length != cuckoo_bytes(&cuckoo->params) ||
	    sums->length != 4 * format_chunks(buckets->length))
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: %" PRIu64 " buckets of %" PRIu32
				 " bits a slot have %" PRIu64 " bytes, %" PRIu64 " of checksums",
				 cuckoo->params.buckets, cuckoo->params.f, buckets->length,
				 sums->length);
	if (sketch_crc32c(0, image + sums->offset, (size_t)sums->length) != sums->sum ||
	    buckets->sum != sums->sum)
		return error_damaged(error, "checksum of the checksums is wrong");
	cuckoo->table = image + buckets->offset;
	if (!chunks_begin(&cuckoo->chunks, cuckoo->table, buckets->length, image + sums->offset))
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	return SKETCH_OK;
}

/* The filter that the sections describe; the file goes over to it. */
static enum sketch_status build(struct sketch_cuckoo *cuckoo, struct sketch_file *file,
				struct sketch_error *error)
{
	enum sketch_status status;

	if (file->header.arrangement != SKETCH_SINGLE)
		return error_damaged(error, "arrangement of a cuckoo filter is not single");
	status = check_sections(file, error);
	if (status == SKETCH_OK)
		status =
			decode_params(&cuckoo->params, file->bytes.data, &file->sections[0], error);
	if (status == SKETCH_OK)
		status = attach_table(cuckoo, file->bytes.data, &file->sections[1],
				      &file->sections[2], error);
	if (status != SKETCH_OK)
		return status;
	cuckoo->identity = identity_of_header(&file->header);
	cuckoo->records = file->header.records;
	cuckoo->budget = file->budget;
	cuckoo->writable = file->access == SKETCH_WRITABLE;
	cuckoo->image = file->bytes;
	file->bytes = (struct region){ NULL, 0 };
	if (!file->mapped || file->access != SKETCH_READ)
		status = sketch_cuckoo_verify(cuckoo, error);
	if (status == SKETCH_OK && !is_padded(cuckoo))
		status = error_damaged(error, "bits behind the last bucket are not 0");
	if (status == SKETCH_OK && cuckoo->writable)
		cuckoo->entries = cuckoo_count(cuckoo);
	return status;
}

enum sketch_status sketch_cuckoo_of_file(struct sketch_cuckoo **cuckoo, struct sketch_file *file,
					 struct sketch_error *error)
{
	enum sketch_status status = file_expect_kind(file, SKETCH_KIND_CUCKOO, error);
	struct sketch_cuckoo *made = status == SKETCH_OK ? calloc(1, sizeof *made) : NULL;

	if (status == SKETCH_OK && made == NULL)
		status = error_set(error, SKETCH_NO_MEMORY, "out of memory");
	if (status == SKETCH_OK)
		status = build(made, file, error);
	sketch_file_free(file);
	if (status != SKETCH_OK) {
		sketch_cuckoo_free(made);
		return status;
	}
	*cuckoo = made;
	return SKETCH_OK;
}

/* ------------------------------------------------------------------- writing */

/* Everything that comes before the table, into `front`. */
static void encode_front(const struct sketch_cuckoo *cuckoo, struct format_section *sections,
			 uint8_t *front)
{
	uint8_t *table = front + FORMAT_HEADER_BYTES, *sums = front + sections[1].offset;
	struct format_header header = {
		.version = FORMAT_VERSION,
		.kind = SKETCH_KIND_CUCKOO,
		.length = sections[2].offset + sections[2].length,
		.sections = SECTIONS,
		.records = cuckoo->records,
	};

	format_encode_cuckoo(front + sections[0].offset, &cuckoo->params);
	sections[0].sum = sketch_crc32c(0, front + sections[0].offset, FORMAT_CUCKOO_BYTES);
	file_sum_chunks(cuckoo->table, sections[2].length, sums);
	sections[1].sum = sketch_crc32c(0, sums, (size_t)sections[1].length);
	sections[2].sum = sections[1].sum;
	for (size_t i = 0; i < SECTIONS; i++)
		format_encode_section(table + i * FORMAT_ENTRY_BYTES, &sections[i]);
	header.table_sum = sketch_crc32c(0, table, SECTIONS * FORMAT_ENTRY_BYTES);
	identity_to_header(&cuckoo->identity, &header);
	format_encode_header(front, &header);
}

enum sketch_status sketch_cuckoo_write(struct sketch_cuckoo *cuckoo, int fd,
				       struct sketch_error *error)
{
	uint64_t bytes = cuckoo_bytes(&cuckoo->params);
	uint64_t lengths[SECTIONS] = { FORMAT_CUCKOO_BYTES, 4 * format_chunks(bytes), bytes };
	uint64_t end = FORMAT_HEADER_BYTES + SECTIONS * FORMAT_ENTRY_BYTES;
	enum sketch_status status = sketch_cuckoo_verify(cuckoo, error);
	struct format_section sections[SECTIONS] = { 0 };
	uint8_t *front;

	if (status != SKETCH_OK)
		return status;
	for (size_t i = 0; i < SECTIONS; i++) {
		sections[i].type = section_types[i];
		sections[i].offset = format_align(end);
		sections[i].length = lengths[i];
		end = sections[i].offset + lengths[i];
	}
	front = calloc(1, (size_t)sections[2].offset);
	if (front == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	encode_front(cuckoo, sections, front);
	status = file_write(fd, front, sections[2].offset, error);
	if (status == SKETCH_OK)
		status = file_write(fd, cuckoo->table, bytes, error);
	free(front);
	return status;
}
