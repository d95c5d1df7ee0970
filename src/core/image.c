/* image.c - filters from and to files
 *
 * A file is taken as one stretch of memory, the image: mapped where it is a
 * regular file that is only read, else read.  The bits of the layers are used
 * where they lie in it.  Nothing is allocated by what a header claims before
 * the claim was compared with the bytes that are there; from a pipe the image
 * grows as they arrive. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bloom.h"
#include "endian.h"
#include "error.h"
#include "format.h"

/* ------------------------------------------------------------------ parsing */

/* The sections of a filter by layer: the table holds all LAYER sections, then all
 * SUMS, then all BITS, each by ascending index; then those that may be ignored. */
struct parts {
	size_t layers;
	const struct format_section *layer, *sums, *bits;
};

static enum sketch_status refuse_section(const struct format_section *section,
					 struct sketch_error *error)
{
	if (section->type >= FORMAT_LAYER && section->type <= FORMAT_BITS)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: section of type %" PRIu32 ", index %" PRIu32
				 " out of order, missing or double",
				 section->type, section->index);
	return error_set(error, SKETCH_UNSUPPORTED,
			 "sections of type %" PRIu32
			 " are not supported in a Bloom filter (this reads 1 to 3)",
			 section->type);
}

static enum sketch_status sort_sections(struct parts *parts, const struct format_section *sections,
					size_t count, struct sketch_error *error)
{
	size_t layers = 0;

	while (layers < count && sections[layers].type == FORMAT_LAYER)
		layers++;
	if (layers < 1 || layers > SKETCH_MAX_LAYERS)
		return error_set(error, SKETCH_DAMAGED, "damaged: %zu layers (1 to %d are possible)",
				 layers, SKETCH_MAX_LAYERS);
	for (size_t i = 0; i < count || i < 3 * layers; i++) {
		const struct format_section *section = &sections[i];

		if (i == count)
			return error_set(error, SKETCH_DAMAGED,
					 "damaged: %zu layers, and a section is missing", layers);
		if (i < 3 * layers ? section->type != FORMAT_LAYER + i / layers ||
					     section->index != i % layers :
				     section->type < FORMAT_TYPE_IGNORABLE)
			return refuse_section(section, error);
	}
	*parts = (struct parts){ layers, sections, sections + layers, sections + 2 * layers };
	return SKETCH_OK;
}

/* Checks one layer's sections against its parameters. */
static enum sketch_status check_layer(const uint8_t *image, const struct parts *parts, size_t i,
				      struct sketch_params *params, struct sketch_error *error)
{
	const struct format_section *layer = &parts->layer[i], *sums = &parts->sums[i],
				    *bits = &parts->bits[i];
	enum sketch_status status;

	if (layer->length != FORMAT_LAYER_BYTES ||
	    sketch_crc32c(0, image + layer->offset, FORMAT_LAYER_BYTES) != layer->sum)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: checksum or length of the parameters of layer %zu", i);
	status = format_decode_layer(image + layer->offset, params, error);
	if (status != SKETCH_OK)
		return status;
	if (bits->length != params->m / 8 || sums->length != 4 * format_chunks(bits->length))
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: layer %zu of %" PRIu64 " bits has %" PRIu64
				 " bytes of bits, %" PRIu64 " of checksums",
				 i, params->m, bits->length, sums->length);
	if (sketch_crc32c(0, image + sums->offset, (size_t)sums->length) != sums->sum ||
	    bits->sum != sums->sum)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: checksum of the checksums of layer %zu is wrong", i);
	return SKETCH_OK;
}

static enum sketch_status attach_layer(struct layer *layer, uint8_t *image,
				       const struct format_section *sums,
				       const struct format_section *bits,
				       struct sketch_error *error)
{
	uint64_t chunks = format_chunks(layer->bytes);

	layer->bits = image + bits->offset;
	layer->sums = image + sums->offset;
	layer->verified = calloc((size_t)(chunks / 64 + 1), sizeof *layer->verified);
	if (layer->verified == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	layer->unverified = chunks;
	return SKETCH_OK;
}

static enum sketch_status build(struct sketch_bloom **filter, const struct format_header *header,
				const struct parts *parts, uint8_t *image,
				struct sketch_error *error)
{
	struct sketch_params params[SKETCH_MAX_LAYERS];
	struct sketch_identity identity = {
		.family = header->family,
		.transforms = header->transforms,
		.seed = load_u32(header->seed),
		.arrangement = (enum sketch_arrangement)header->arrangement,
	};
	struct sketch_bloom *made;

	for (size_t i = 0; i < parts->layers; i++) {
		enum sketch_status status = check_layer(image, parts, i, &params[i], error);
		if (status != SKETCH_OK)
			return status;
	}
	if (identity.arrangement == SKETCH_SINGLE && parts->layers != 1)
		return error_set(error, SKETCH_DAMAGED, "damaged: %zu layers in arrangement %d",
				 parts->layers, (int)identity.arrangement);
	made = bloom_frame(&identity, params, parts->layers);
	if (made == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	made->records = header->records;
	for (size_t i = 0; i < parts->layers; i++) {
		enum sketch_status status = attach_layer(&made->layers[i], image, &parts->sums[i],
							 &parts->bits[i], error);
		if (status != SKETCH_OK) {
			sketch_bloom_free(made);
			return status;
		}
	}
	*filter = made;
	return SKETCH_OK;
}

/* A filter whose bits lie in the image; the image stays the caller's. */
static enum sketch_status parse(struct sketch_bloom **filter, const struct format_header *header,
				uint8_t *image, struct sketch_error *error)
{
	struct format_section *sections;
	struct parts parts = { 0 };
	enum sketch_status status;

	sections = malloc(header->sections * sizeof *sections);
	if (sections == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	status = format_decode_table(image, header, sections, error);
	if (status == SKETCH_OK)
		status = sort_sections(&parts, sections, header->sections, error);
	if (status == SKETCH_OK)
		status = build(filter, header, &parts, image, error);
	free(sections);
	return status;
}

/* ------------------------------------------------------------------ reading */

/* Reads until the buffer is full or the input ends. */
static enum sketch_status read_fully(int fd, uint8_t *buffer, size_t length, size_t *done,
				     struct sketch_error *error)
{
	while (*done < length) {
		size_t want = length - *done, most = (size_t)1 << 30;
		ssize_t got = read(fd, buffer + *done, want < most ? want : most);

		if (got == 0)
			return SKETCH_OK;
		if (got < 0 && errno != EINTR)
			return error_io(error, errno, "");
		if (got > 0)
			*done += (size_t)got;
	}
	return SKETCH_OK;
}

static enum sketch_status compare_length(uint64_t present, uint64_t declared,
					 struct sketch_error *error)
{
	if (present < declared)
		return error_set(error, SKETCH_TRUNCATED,
				 "truncated: %" PRIu64 " of %" PRIu64 " bytes", present, declared);
	if (present > declared)
		return error_set(error, SKETCH_LENGTHENED,
				 "damaged: %" PRIu64 " bytes follow the %" PRIu64
				 " that belong to it",
				 present - declared, declared);
	return SKETCH_OK;
}

/* Reads what follows the `done` bytes already in the region, to the end of the
 * input, which must come where the header says. */
static enum sketch_status slurp(int fd, struct region *region, size_t done, uint64_t declared,
				struct sketch_error *error)
{
	enum sketch_status status;
	size_t excess = 0;
	uint8_t extra;

	while (done < declared) {
		size_t before = done;

		if (done == region->length) {
			uint64_t twice = 2 * (uint64_t)done;

			if (!region_grow(region, (size_t)(twice < declared ? twice : declared)))
				return error_set(error, SKETCH_NO_MEMORY, "out of memory");
		}
		status = read_fully(fd, region->data, region->length, &done, error);
		if (status != SKETCH_OK)
			return status;
		if (done == before)
			return compare_length(done, declared, error);
	}
	status = read_fully(fd, &extra, 1, &excess, error);
	if (status != SKETCH_OK)
		return status;
	if (excess > 0)
		return error_set(error, SKETCH_LENGTHENED,
				 "damaged: more bytes follow the %" PRIu64 " that belong to it",
				 declared);
	return SKETCH_OK;
}

/* Puts the whole file into memory: at once where its size is known to be what
 * the header says, else as it arrives. */
static enum sketch_status load(struct region *region, int fd, const uint8_t *start,
			       uint64_t declared, bool known, uint64_t budget,
			       struct sketch_error *error)
{
	size_t first = (size_t)1 << 20;

	if (declared > budget || declared > SIZE_MAX / 4)
		return error_set(error, SKETCH_NO_MEMORY,
				 "needs %" PRIu64 " bytes of memory, and %" PRIu64
				 " are to be had",
				 declared, budget);
	if (known || declared < first)
		first = (size_t)declared;
	if (first < FORMAT_HEADER_BYTES)
		return compare_length(FORMAT_HEADER_BYTES, declared, error);
	if (!region_new(region, first))
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	memcpy(region->data, start, FORMAT_HEADER_BYTES);
	return slurp(fd, region, FORMAT_HEADER_BYTES, declared, error);
}

static enum sketch_status fetch(struct region *region, int fd, enum sketch_access access,
				uint64_t budget, struct format_header *header,
				struct sketch_file_info *info, struct sketch_error *error)
{
	uint8_t start[FORMAT_HEADER_BYTES];
	enum sketch_status status;
	struct stat st;
	size_t got = 0;

	if (fstat(fd, &st) != 0)
		return error_io(error, errno, "");
	status = read_fully(fd, start, sizeof start, &got, error);
	if (status == SKETCH_OK)
		status = format_decode_header(start, got, header, info, error);
	if (status != SKETCH_OK)
		return status;
	if (header->kind != SKETCH_KIND_BLOOM)
		return error_set(error, SKETCH_UNSUPPORTED, "holds a %s, not a Bloom filter",
				 sketch_kind_name(header->kind));
	if (!S_ISREG(st.st_mode))
		return load(region, fd, start, header->length, false, budget, error);
	status = compare_length((uint64_t)st.st_size, header->length, error);
	if (status != SKETCH_OK)
		return status;
	if (access == SKETCH_WRITABLE)
		return load(region, fd, start, header->length, true, budget, error);
	if (header->length > SIZE_MAX || !region_map(region, fd, (size_t)header->length))
		return error_io(error, errno, "cannot map it");
	return SKETCH_OK;
}

enum sketch_status sketch_bloom_read(struct sketch_bloom **filter, int fd,
				     enum sketch_access access, uint64_t budget,
				     struct sketch_file_info *info, struct sketch_error *error)
{
	struct region image = { NULL, 0 };
	struct sketch_bloom *read = NULL;
	struct format_header header;
	enum sketch_status status;
	struct stat st;
	bool lazy;

	status = fetch(&image, fd, access, budget, &header, info, error);
	if (status == SKETCH_OK)
		status = parse(&read, &header, image.data, error);
	if (status != SKETCH_OK) {
		region_free(&image);
		return status;
	}
	read->image = image;
	read->writable = access == SKETCH_WRITABLE;
	lazy = access == SKETCH_READ && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	if (!lazy)
		status = sketch_bloom_verify(read, error);
	if (status != SKETCH_OK) {
		sketch_bloom_free(read);
		return status;
	}
	*filter = read;
	return SKETCH_OK;
}

/* ------------------------------------------------------------------ writing */

static enum sketch_status write_fully(int fd, const uint8_t *bytes, uint64_t length,
				      struct sketch_error *error)
{
	while (length > 0) {
		size_t most = (size_t)1 << 30;
		ssize_t put = write(fd, bytes, length < most ? (size_t)length : most);

		if (put < 0 && errno != EINTR)
			return error_io(error, errno, "");
		if (put > 0) {
			bytes += put;
			length -= (uint64_t)put;
		}
	}
	return SKETCH_OK;
}

/* Where each section goes; returns the length of the file. */
static uint64_t place_sections(const struct sketch_bloom *filter, struct format_section *sections)
{
	size_t count = filter->layer_count;
	uint64_t end = FORMAT_HEADER_BYTES + 3 * count * FORMAT_ENTRY_BYTES;

	for (size_t i = 0; i < 3 * count; i++) {
		const struct layer *layer = &filter->layers[i % count];
		struct format_section *section = &sections[i];

		section->type = i < count ? FORMAT_LAYER : i < 2 * count ? FORMAT_SUMS : FORMAT_BITS;
		section->index = (uint32_t)(i % count);
		section->offset = format_align(end);
		section->length = section->type == FORMAT_LAYER ? FORMAT_LAYER_BYTES :
				  section->type == FORMAT_SUMS ? 4 * format_chunks(layer->bytes) :
								 layer->bytes;
		end = section->offset + section->length;
	}
	return end;
}

static void sum_chunks(const struct layer *layer, uint8_t *sums)
{
	for (uint64_t at = 0; at < layer->bytes; at += FORMAT_CHUNK_BYTES, sums += 4) {
		uint64_t left = layer->bytes - at;
		size_t length = left < FORMAT_CHUNK_BYTES ? (size_t)left : FORMAT_CHUNK_BYTES;

		store_u32(sums, sketch_crc32c(0, layer->bits + at, length));
	}
}

/* Everything of a file that comes before the first bits, into `bytes`. */
static void encode_front(const struct sketch_bloom *filter, struct format_section *sections,
			 uint64_t file_length, uint8_t *bytes)
{
	size_t count = filter->layer_count;
	uint8_t *table = bytes + FORMAT_HEADER_BYTES;
	struct format_header header = {
		.version = FORMAT_VERSION,
		.kind = SKETCH_KIND_BLOOM,
		.length = file_length,
		.sections = (uint32_t)(3 * count),
		.family = filter->identity.family,
		.transforms = filter->identity.transforms,
		.arrangement = (uint32_t)filter->identity.arrangement,
		.records = filter->records,
	};

	for (size_t i = 0; i < count; i++) {
		const struct layer *layer = &filter->layers[i];
		uint8_t *params = bytes + sections[i].offset;
		uint8_t *sums = bytes + sections[count + i].offset;

		format_encode_layer(params, &layer->params);
		sections[i].sum = sketch_crc32c(0, params, FORMAT_LAYER_BYTES);
		sum_chunks(layer, sums);
		sections[count + i].sum =
			sketch_crc32c(0, sums, (size_t)sections[count + i].length);
		sections[2 * count + i].sum = sections[count + i].sum;
	}
	for (size_t i = 0; i < 3 * count; i++)
		format_encode_section(table + i * FORMAT_ENTRY_BYTES, &sections[i]);
	header.table_sum = sketch_crc32c(0, table, 3 * count * FORMAT_ENTRY_BYTES);
	store_u32(header.seed, filter->identity.seed);
	format_encode_header(bytes, &header);
}

enum sketch_status sketch_bloom_write(struct sketch_bloom *filter, int fd,
				      struct sketch_error *error)
{
	static const uint8_t zeros[FORMAT_ALIGNMENT];
	struct format_section sections[3 * SKETCH_MAX_LAYERS] = { 0 };
	const struct format_section *bits = &sections[2 * filter->layer_count];
	uint64_t length, end;
	enum sketch_status status = sketch_bloom_verify(filter, error);
	uint8_t *front;

	if (status != SKETCH_OK)
		return status;
	length = place_sections(filter, sections);
	front = calloc(1, (size_t)bits[0].offset);
	if (front == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	encode_front(filter, sections, length, front);
	status = write_fully(fd, front, bits[0].offset, error);
	end = bits[0].offset;
	for (size_t i = 0; i < filter->layer_count && status == SKETCH_OK; i++) {
		status = write_fully(fd, zeros, bits[i].offset - end, error);
		if (status == SKETCH_OK)
			status = write_fully(fd, filter->layers[i].bits, bits[i].length, error);
		end = bits[i].offset + bits[i].length;
	}
	free(front);
	return status;
}
