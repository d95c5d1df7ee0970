/* image.c - Bloom filters from and to files
 *
 * The bits of the layers are used where they lie in the file's image. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bloom.h"
#include "endian.h"
#include "error.h"
#include "file.h"
#include "format.h"
#include "identity.h"

/* ------------------------------------------------------------------ parsing */

/* The sections of a filter by layer: the table holds all LAYER sections, then
 * WINDOW or COUNTING where there is one, then all SUMS, then all BITS or COUNTERS, each
 * by ascending index; then those that may be ignored. */
struct parts {
	size_t layers;
	const struct format_section *layer, *extra, *sums, *bits;
};

/* The type of the section that is there once, or 0. */
static uint32_t extra_type(uint32_t kind, uint32_t arrangement)
{
	return kind == SKETCH_KIND_COUNTING_BLOOM ? FORMAT_COUNTING :
	       arrangement == SKETCH_WINDOW       ? FORMAT_WINDOW :
						    0;
}

/* What section i of a filter with that many layers must be; type 0 behind all. */
static struct format_section expected_section(size_t i, size_t layers, uint32_t extra)
{
	uint32_t bits = extra == FORMAT_COUNTING ? FORMAT_COUNTERS : FORMAT_BITS;
	struct format_section section = { .index = (uint32_t)i };

	if (i < layers) {
		section.type = FORMAT_LAYER;
	} else if (extra != 0 && i == layers) {
		section.type = extra;
		section.index = 0;
	} else {
		i -= layers + (extra != 0);
		section.type = i < layers ? FORMAT_SUMS : i < 2 * layers ? bits : 0;
		section.index = (uint32_t)(i % layers);
	}
	return section;
}

static enum sketch_status refuse_section(const struct format_section *section, uint32_t kind,
					 struct sketch_error *error)
{
	bool counting = kind == SKETCH_KIND_COUNTING_BLOOM;
	uint32_t bits = counting ? FORMAT_COUNTERS : FORMAT_BITS;
	uint32_t extra = counting ? FORMAT_COUNTING : FORMAT_WINDOW;

	if (section->type == FORMAT_LAYER || section->type == FORMAT_SUMS ||
	    section->type == bits || section->type == extra)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: section of type %" PRIu32 ", index %" PRIu32
				 " out of order, missing or double",
				 section->type, section->index);
	return error_set(error, SKETCH_UNSUPPORTED,
			 "sections of type %" PRIu32 " are not supported in a %s (this reads %s)",
			 section->type, sketch_kind_name(kind),
			 counting ? "1, 2, 14 and 15" : "1 to 3, and 7");
}

static enum sketch_status sort_sections(struct parts *parts, const struct format_section *sections,
					const struct format_header *header,
					struct sketch_error *error)
{
	uint32_t extra = extra_type(header->kind, header->arrangement);
	size_t count = header->sections, layers = 0, needed;

	while (layers < count && sections[layers].type == FORMAT_LAYER)
		layers++;
	if (layers < 1 || layers > SKETCH_MAX_LAYERS)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: %zu layers (1 to %d are possible)", layers,
				 SKETCH_MAX_LAYERS);
	needed = 3 * layers + (extra != 0);
	for (size_t i = 0; i < count; i++) {
		const struct format_section *section = &sections[i];
		struct format_section expected = expected_section(i, layers, extra);

		if (i < needed ?
			    section->type != expected.type || section->index != expected.index :
			    section->type < FORMAT_TYPE_IGNORABLE)
			return refuse_section(section, header->kind, error);
	}
	if (count < needed)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: %zu layers, and a section is missing", layers);
	*parts = (struct parts){ layers, sections, sections + layers,
				 sections + layers + (extra != 0),
				 sections + 2 * layers + (extra != 0) };
	return SKETCH_OK;
}

/* Checks one layer's sections against its parameters. */
static enum sketch_status check_layer(const uint8_t *image, const struct parts *parts, size_t i,
				      bool in_window, unsigned int counter_bits,
				      struct format_layer *decoded, struct sketch_error *error)
{
	const struct format_section *layer = &parts->layer[i], *sums = &parts->sums[i],
				    *bits = &parts->bits[i];
	unsigned int width = counter_bits > 0 ? counter_bits : 1;
	enum sketch_status status;

	if (layer->length != FORMAT_LAYER_BYTES ||
	    sketch_crc32c(0, image + layer->offset, FORMAT_LAYER_BYTES) != layer->sum)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: checksum or length of the parameters of layer %zu", i);
	status = format_decode_layer(image + layer->offset, in_window, decoded, error);
	if (status != SKETCH_OK)
		return status;
	/* m is below 2^63: of 16 bits each they are fewer than 2^64 bytes. */
	if (bits->length != decoded->params.m / 8 * width ||
	    sums->length != 4 * format_chunks(bits->length))
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: layer %zu of %" PRIu64 " bits has %" PRIu64
				 " bytes of bits, %" PRIu64 " of checksums",
				 i, decoded->params.m, bits->length, sums->length);
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
	layer->bits = image + bits->offset;
	if (chunks_begin(&layer->chunks, layer->bits, layer->bytes, image + sums->offset))
		return SKETCH_OK;
	return error_set(error, SKETCH_NO_MEMORY, "out of memory");
}

/* Reads the WINDOW section: generations are alike, their stamps ascend, and the last
 * is the current one. */
static enum sketch_status check_window(const uint8_t *image, const struct parts *parts,
				       const struct format_layer *layers,
				       struct sketch_window *window, struct sketch_error *error)
{
	const struct format_section *section = parts->extra;
	const uint8_t *bytes = image + section->offset;
	const struct format_layer *last = &layers[parts->layers - 1];
	enum sketch_status status;

	if (section->length != FORMAT_WINDOW_BYTES ||
	    sketch_crc32c(0, bytes, FORMAT_WINDOW_BYTES) != section->sum)
		return error_damaged(error, "checksum of the window is wrong");
	status = format_decode_window(bytes, parts->layers, window, error);
	if (status != SKETCH_OK)
		return status;
	window->records = last->records;
	for (size_t i = 1; i < parts->layers; i++) {
		if (layers[i].stamp <= layers[i - 1].stamp ||
		    layers[i].params.m != layers[0].params.m)
			return error_damaged(
				error, "the generations of the window do not follow each other");
	}
	if (window->stamp > FORMAT_MAX_STAMP || (window->unit == SKETCH_WINDOW_NANOSECONDS &&
						 window->stamp > format_last_stamp(window->span)))
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: generation %" PRIu64 " of a window of %" PRIu64,
				 window->stamp, window->span);
	if (last->stamp != window->stamp ||
	    (window->unit == SKETCH_WINDOW_RECORDS && window->records > window->span))
		return error_damaged(error, "the window's current generation is not its last");
	return SKETCH_OK;
}

/* Reads the COUNTING section. */
static enum sketch_status check_counting(const uint8_t *image, const struct parts *parts,
					 unsigned int *counter_bits, struct sketch_error *error)
{
	const struct format_section *section = parts->extra;
	const uint8_t *bytes = image + section->offset;

	if (section->length != FORMAT_COUNTING_BYTES ||
	    sketch_crc32c(0, bytes, FORMAT_COUNTING_BYTES) != section->sum)
		return error_damaged(error, "checksum or length of section COUNTING is wrong");
	return format_decode_counting(bytes, counter_bits, error);
}

/* The filter that the sections describe. */
static enum sketch_status build(struct sketch_bloom **filter, const struct format_header *header,
				const struct parts *parts, uint8_t *image,
				struct sketch_error *error)
{
	struct format_layer layers[SKETCH_MAX_LAYERS];
	struct sketch_params params[SKETCH_MAX_LAYERS];
	struct sketch_window window = { 0 };
	struct sketch_identity identity = identity_of_header(header);
	bool in_window = identity.arrangement == SKETCH_WINDOW;
	unsigned int counter_bits = 0;
	enum sketch_status status = SKETCH_OK;
	struct sketch_bloom *made;

	if (identity.arrangement == SKETCH_SINGLE && parts->layers != 1)
		return error_set(error, SKETCH_DAMAGED, "damaged: %zu layers in arrangement %d",
				 parts->layers, (int)identity.arrangement);
	if (header->kind == SKETCH_KIND_COUNTING_BLOOM)
		status = check_counting(image, parts, &counter_bits, error);
	for (size_t i = 0; i < parts->layers && status == SKETCH_OK; i++) {
		status = check_layer(image, parts, i, in_window, counter_bits, &layers[i], error);
		params[i] = layers[i].params;
	}
	if (status == SKETCH_OK && in_window)
		status = check_window(image, parts, layers, &window, error);
	if (status != SKETCH_OK)
		return status;
	made = bloom_frame(&identity, params, parts->layers);
	if (made == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	made->records = header->records;
	made->window = window;
	if (counter_bits > 0)
		layer_make_counting(&made->layers[0], counter_bits);
	for (size_t i = 0; i < parts->layers && status == SKETCH_OK; i++) {
		status = attach_layer(&made->layers[i], image, &parts->sums[i], &parts->bits[i],
				      error);
		made->layers[i].records = layers[i].records;
		made->layers[i].stamp = layers[i].stamp;
	}
	if (status != SKETCH_OK) {
		sketch_bloom_free(made);
		return status;
	}
	*filter = made;
	return SKETCH_OK;
}

/* ------------------------------------------------------------------ reading */

enum sketch_status sketch_bloom_of_file(struct sketch_bloom **filter, struct sketch_file *file,
					struct sketch_error *error)
{
	bool counting = file->header.kind == SKETCH_KIND_COUNTING_BLOOM;
	enum sketch_status status =
		counting ? SKETCH_OK : file_expect_kind(file, SKETCH_KIND_BLOOM, error);
	struct sketch_bloom *made = NULL;
	struct parts parts;

	if (counting && file->header.arrangement != SKETCH_SINGLE)
		status = error_damaged(error, "arrangement of a counting filter is not single");
	if (status == SKETCH_OK)
		status = sort_sections(&parts, file->sections, &file->header, error);
	if (status == SKETCH_OK)
		status = build(&made, &file->header, &parts, file->bytes.data, error);
	if (status == SKETCH_OK) {
		/* The bits stay where they are; the file goes over to the filter. */
		made->image = file->bytes;
		file->bytes = (struct region){ NULL, 0 };
		made->writable = file->access == SKETCH_WRITABLE;
		made->budget = file->budget;
		if (!file->mapped || file->access != SKETCH_READ)
			status = sketch_bloom_verify(made, error);
	}
	sketch_file_free(file);
	if (status != SKETCH_OK) {
		sketch_bloom_free(made);
		return status;
	}
	*filter = made;
	return SKETCH_OK;
}

enum sketch_status sketch_bloom_read(struct sketch_bloom **filter, int fd,
				     enum sketch_access access, uint64_t budget,
				     struct sketch_file_info *info, struct sketch_error *error)
{
	struct sketch_file *file;
	enum sketch_status status = sketch_file_read(&file, fd, access, budget, info, error);

	return status == SKETCH_OK ? sketch_bloom_of_file(filter, file, error) : status;
}

/* ------------------------------------------------------------------ writing */

/* The sections of a file to be written. */
struct plan {
	size_t count;
	struct format_section sections[3 * SKETCH_MAX_LAYERS + 1];
	struct parts parts;
	uint64_t length; /* of the file */
};

static uint64_t section_length(const struct sketch_bloom *filter,
			       const struct format_section *section)
{
	uint64_t bytes = filter->layers[section->index].bytes;

	switch (section->type) {
	case FORMAT_LAYER:
		return FORMAT_LAYER_BYTES;
	case FORMAT_WINDOW:
		return FORMAT_WINDOW_BYTES;
	case FORMAT_COUNTING:
		return FORMAT_COUNTING_BYTES;
	case FORMAT_SUMS:
		return 4 * format_chunks(bytes);
	default:
		return bytes;
	}
}

static uint32_t kind_of(const struct sketch_bloom *filter)
{
	return sketch_bloom_counter_bits(filter) > 0 ? SKETCH_KIND_COUNTING_BLOOM :
						       SKETCH_KIND_BLOOM;
}

/* Decides where each section goes. */
static void place_sections(const struct sketch_bloom *filter, struct plan *plan)
{
	size_t layers = filter->layer_count, front;
	uint32_t extra = extra_type(kind_of(filter), (uint32_t)filter->identity.arrangement);
	uint64_t end;

	front = layers + (extra != 0);
	plan->count = 2 * layers + front;
	end = FORMAT_HEADER_BYTES + plan->count * FORMAT_ENTRY_BYTES;
	for (size_t i = 0; i < plan->count; i++) {
		struct format_section *section = &plan->sections[i];

		*section = expected_section(i, layers, extra);
		section->offset = format_align(end);
		section->length = section_length(filter, section);
		end = section->offset + section->length;
	}
	plan->parts = (struct parts){ layers, plan->sections, plan->sections + layers,
				      plan->sections + front, plan->sections + front + layers };
	plan->length = end;
}

/* One layer's sections but for the bits themselves, and all their checksums. */
static void encode_layer(const struct layer *layer, struct plan *plan, size_t i, uint8_t *bytes)
{
	struct format_section *entry = &plan->sections[i];
	struct format_section *sums = &plan->sections[plan->parts.sums - plan->sections + (long)i];
	struct format_section *bits = &plan->sections[plan->parts.bits - plan->sections + (long)i];
	struct format_layer fields = { layer->params, layer->records, layer->stamp };

	format_encode_layer(bytes + entry->offset, &fields);
	entry->sum = sketch_crc32c(0, bytes + entry->offset, FORMAT_LAYER_BYTES);
	file_sum_chunks(layer->bits, layer->bytes, bytes + sums->offset);
	sums->sum = sketch_crc32c(0, bytes + sums->offset, (size_t)sums->length);
	bits->sum = sums->sum;
}

/* Everything of a file that comes before the first bits, into `bytes`. */
static void encode_front(const struct sketch_bloom *filter, struct plan *plan, uint8_t *bytes)
{
	size_t layers = filter->layer_count;
	uint8_t *table = bytes + FORMAT_HEADER_BYTES;
	struct format_header header = {
		.version = FORMAT_VERSION,
		.kind = kind_of(filter),
		.length = plan->length,
		.sections = (uint32_t)plan->count,
		.records = filter->records,
	};

	struct format_section *extra = &plan->sections[layers];

	for (size_t i = 0; i < layers; i++)
		encode_layer(&filter->layers[i], plan, i, bytes);
	if (extra->type == FORMAT_WINDOW)
		format_encode_window(bytes + extra->offset, layers, &filter->window);
	if (extra->type == FORMAT_COUNTING)
		format_encode_counting(bytes + extra->offset, sketch_bloom_counter_bits(filter));
	if (extra->type == FORMAT_WINDOW || extra->type == FORMAT_COUNTING)
		extra->sum = sketch_crc32c(0, bytes + extra->offset, (size_t)extra->length);
	for (size_t i = 0; i < plan->count; i++)
		format_encode_section(table + i * FORMAT_ENTRY_BYTES, &plan->sections[i]);
	header.table_sum = sketch_crc32c(0, table, plan->count * FORMAT_ENTRY_BYTES);
	identity_to_header(&filter->identity, &header);
	format_encode_header(bytes, &header);
}

enum sketch_status sketch_bloom_write(struct sketch_bloom *filter, int fd,
				      struct sketch_error *error)
{
	static const uint8_t zeros[FORMAT_ALIGNMENT];
	struct plan plan = { 0 };
	enum sketch_status status = sketch_bloom_verify(filter, error);
	const struct format_section *bits;
	uint8_t *front;
	uint64_t end;

	if (status != SKETCH_OK)
		return status;
	place_sections(filter, &plan);
	bits = plan.parts.bits;
	end = bits[0].offset;
	front = calloc(1, (size_t)end);
	if (front == NULL)
		return error_set(error, SKETCH_NO_MEMORY, "out of memory");
	encode_front(filter, &plan, front);
	status = file_write(fd, front, end, error);
	for (size_t i = 0; i < filter->layer_count && status == SKETCH_OK; i++) {
		status = file_write(fd, zeros, bits[i].offset - end, error);
		if (status == SKETCH_OK)
			status = file_write(fd, filter->layers[i].bits, bits[i].length, error);
		end = bits[i].offset + bits[i].length;
	}
	free(front);
	return status;
}
