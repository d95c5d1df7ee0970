/* hll_image.c - HyperLogLog sketches from and to files */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "endian.h"
#include "error.h"
#include "file.h"
#include "hll.h"
#include "identity.h"

#define SECTIONS 3

/* ------------------------------------------------------------------- reading */

/* PRECISION, SUMS, and REGISTERS or HASHES; then those that may be ignored. */
static enum sketch_status check_sections(const struct sketch_file *file, struct sketch_error *error)
{
	static const uint32_t types[SECTIONS] = { FORMAT_PRECISION, FORMAT_SUMS, FORMAT_REGISTERS };

	for (size_t i = 0; i < file->header.sections; i++) {
		const struct format_section *section = &file->sections[i];
		bool known = section->type <= FORMAT_HASHES;

		if (i >= SECTIONS && section->type >= FORMAT_TYPE_IGNORABLE)
			continue;
		if (i < SECTIONS && section->index == 0 &&
		    (section->type == types[i] || (i == 2 && section->type == FORMAT_HASHES)))
			continue;
		return error_set(error, known ? SKETCH_DAMAGED : SKETCH_UNSUPPORTED,
				 "section of type %" PRIu32 ", index %" PRIu32
				 " in a place where a HyperLogLog sketch has none",
				 section->type, section->index);
	}
	if (file->header.sections < SECTIONS)
		return error_damaged(error, "a section is missing");
	return SKETCH_OK;
}

static enum sketch_status decode_precision(const uint8_t *image,
					   const struct format_section *section,
					   uint32_t *precision, struct sketch_error *error)
{
	const uint8_t *bytes = image + section->offset;
	struct sketch_error reason;

	if (section->length != FORMAT_PRECISION_BYTES ||
	    sketch_crc32c(0, bytes, FORMAT_PRECISION_BYTES) != section->sum)
		return error_damaged(error, "checksum or length of the precision");
	*precision = load_u32(bytes);
	if (hll_check_precision(*precision, &reason) != SKETCH_OK)
		return error_damaged(error, reason.text);
	if (load_u32(bytes + 4) != 8)
		return error_set(error, SKETCH_UNSUPPORTED,
				 "registers of %" PRIu32 " bits are not supported (this reads 8)",
				 load_u32(bytes + 4));
	for (size_t i = 8; i < FORMAT_PRECISION_BYTES; i++) {
		if (bytes[i] != 0)
			return error_damaged(error, "reserved bytes of the precision are not 0");
	}
	return SKETCH_OK;
}

/* Compares the length of the content with the precision, and all checksums. */
static enum sketch_status check_content(const struct sketch_file *file, uint32_t precision,
					struct sketch_error *error)
{
	const struct format_section *sums = &file->sections[1], *content = &file->sections[2];
	const uint8_t *image = file->bytes.data;
	uint64_t most = hll_registers(precision);

	if (content->type == FORMAT_REGISTERS ? content->length != most :
						content->length > most || content->length % 8 != 0)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: %" PRIu64 " bytes of %s for precision %" PRIu32,
				 content->length,
				 content->type == FORMAT_REGISTERS ? "registers" : "hashes",
				 precision);
	if (sums->length != 4 * format_chunks(content->length) || sums->sum != content->sum ||
	    sketch_crc32c(0, image + sums->offset, (size_t)sums->length) != sums->sum ||
	    !file_check_chunks(image + content->offset, content->length, image + sums->offset))
		return error_damaged(error, "checksum of the registers or hashes is wrong");
	return SKETCH_OK;
}

static enum sketch_status decode_registers(struct sketch_hll *hll, const uint8_t *bytes,
					   struct sketch_error *error)
{
	uint64_t m = hll_registers(hll->precision);
	uint8_t most = 0;

	for (uint64_t i = 0; i < m; i++)
		most = bytes[i] > most ? bytes[i] : most;
	if (most == 0 || most > 65 - hll->precision)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: the largest register is %d (1 to %" PRIu32
				 " are possible)",
				 most, 65 - hll->precision);
	memcpy(hll->registers.data, bytes, (size_t)m);
	hll->dense = true;
	region_free(&hll->table);
	return SKETCH_OK;
}

static enum sketch_status decode_hashes(struct sketch_hll *hll, const uint8_t *bytes,
					uint64_t length, struct sketch_error *error)
{
	uint64_t before = 0;

	for (uint64_t at = 0; at < length; at += 8) {
		uint64_t hash = load_u64(bytes + at);

		if (at > 0 && hash <= before)
			return error_damaged(error, "the order of the hashes");
		hll_add_one(hll, hash);
		before = hash;
	}
	return SKETCH_OK;
}

/* Makes the sketch of a file that is known to be whole. */
static enum sketch_status build(struct sketch_hll **hll, const struct sketch_file *file,
				uint32_t precision, struct sketch_error *error)
{
	const struct format_section *content = &file->sections[2];
	const uint8_t *bytes = file->bytes.data + content->offset;
	struct sketch_identity identity = identity_of_header(&file->header);
	enum sketch_status status = sketch_hll_new(hll, &identity, precision, file->budget, error);

	if (status != SKETCH_OK)
		return status;
	sketch_hll_set_records(*hll, file->header.records);
	return content->type == FORMAT_REGISTERS ?
		       decode_registers(*hll, bytes, error) :
		       decode_hashes(*hll, bytes, content->length, error);
}

enum sketch_status sketch_hll_of_file(struct sketch_hll **hll, struct sketch_file *file,
				      struct sketch_error *error)
{
	enum sketch_status status = file_expect_kind(file, SKETCH_KIND_HYPERLOGLOG, error);
	struct sketch_hll *made = NULL;
	uint32_t precision = 0;

	if (status == SKETCH_OK && file->header.arrangement != SKETCH_SINGLE)
		status = error_damaged(error, "a HyperLogLog sketch in layers");
	if (status == SKETCH_OK)
		status = check_sections(file, error);
	if (status == SKETCH_OK)
		status = decode_precision(file->bytes.data, &file->sections[0], &precision, error);
	if (status == SKETCH_OK)
		status = check_content(file, precision, error);
	if (status == SKETCH_OK)
		status = build(&made, file, precision, error);
	sketch_file_free(file);
	if (status != SKETCH_OK) {
		sketch_hll_free(made);
		return status;
	}
	*hll = made;
	return SKETCH_OK;
}

/* ------------------------------------------------------------------- writing */

/* Where the sections go; returns the length of the file. */
static uint64_t place_sections(const struct sketch_hll *hll, struct format_section *sections)
{
	uint64_t content = hll->dense ? hll_registers(hll->precision) : 8 * hll->hashes;
	uint64_t end = FORMAT_HEADER_BYTES + SECTIONS * FORMAT_ENTRY_BYTES;

	sections[0] = (struct format_section){ FORMAT_PRECISION, 0, 0, FORMAT_PRECISION_BYTES, 0 };
	sections[1] = (struct format_section){ FORMAT_SUMS, 0, 0, 4 * format_chunks(content), 0 };
	sections[2] = (struct format_section){ hll->dense ? FORMAT_REGISTERS : FORMAT_HASHES, 0, 0,
					       content, 0 };
	for (size_t i = 0; i < SECTIONS; i++) {
		sections[i].offset = format_align(end);
		end = sections[i].offset + sections[i].length;
	}
	return end;
}

/* Everything but header and table; false without memory for a list of the hashes. */
static bool encode_sections(const struct sketch_hll *hll, struct format_section *sections,
			    uint8_t *image)
{
	uint8_t *precision = image + sections[0].offset, *sums = image + sections[1].offset;
	uint8_t *content = image + sections[2].offset;
	uint64_t *hashes;

	store_u32(precision, hll->precision);
	store_u32(precision + 4, 8);
	if (hll->dense) {
		memcpy(content, hll->registers.data, (size_t)sections[2].length);
	} else {
		hashes = malloc((size_t)(hll->hashes + 1) * sizeof *hashes);
		if (hashes == NULL)
			return false;
		hll_list(hll, hashes);
		for (uint64_t i = 0; i < hll->hashes; i++)
			store_u64(content + 8 * i, hashes[i]);
		free(hashes);
	}
	file_sum_chunks(content, sections[2].length, sums);
	sections[0].sum = sketch_crc32c(0, precision, FORMAT_PRECISION_BYTES);
	sections[1].sum = sketch_crc32c(0, sums, (size_t)sections[1].length);
	sections[2].sum = sections[1].sum;
	return true;
}

static void encode_front(const struct sketch_hll *hll, const struct format_section *sections,
			 uint64_t length, uint8_t *image)
{
	uint8_t *table = image + FORMAT_HEADER_BYTES;
	struct format_header header = {
		.version = FORMAT_VERSION,
		.kind = SKETCH_KIND_HYPERLOGLOG,
		.length = length,
		.sections = SECTIONS,
		.records = hll->records,
	};

	for (size_t i = 0; i < SECTIONS; i++)
		format_encode_section(table + i * FORMAT_ENTRY_BYTES, &sections[i]);
	header.table_sum = sketch_crc32c(0, table, SECTIONS * FORMAT_ENTRY_BYTES);
	identity_to_header(&hll->identity, &header);
	format_encode_header(image, &header);
}

enum sketch_status sketch_hll_write(const struct sketch_hll *hll, int fd,
				    struct sketch_error *error)
{
	struct format_section sections[SECTIONS];
	uint64_t length = place_sections(hll, sections);
	uint8_t *image = calloc(1, (size_t)length);
	enum sketch_status status;

	if (image == NULL || !encode_sections(hll, sections, image)) {
		free(image);
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	}
	encode_front(hll, sections, length, image);
	status = file_write(fd, image, length, error);
	free(image);
	return status;
}
