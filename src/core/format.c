#include "format.h"

#include <inttypes.h>
#include <string.h>

#include "endian.h"
#include "error.h"
#include "murmur3.h"

/* The high bit catches a 7-bit transfer, \r\n and \n one that converts line
 * ends, \x1a a program that stops at the end of a DOS text. */
static const uint8_t format_magic[FORMAT_MAGIC] = { 0x89, 'S', 'K', 'E', '\r', '\n', 0x1a, '\n' };

uint64_t format_fingerprint(const uint8_t seed[16])
{
	return murmur3(seed, 16, 0).h1;
}

uint32_t format_header_sum(const uint8_t *bytes)
{
	return sketch_crc32c(0, bytes, FORMAT_HEADER_BYTES - 4);
}

static bool all_zero(const uint8_t *bytes, uint64_t length)
{
	for (uint64_t i = 0; i < length; i++) {
		if (bytes[i] != 0)
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------- magic */

bool format_begins(const uint8_t *bytes, size_t length)
{
	return memcmp(bytes, format_magic, length < FORMAT_MAGIC ? length : FORMAT_MAGIC) == 0;
}

/* Says what a file is that does not begin with our magic. */
static enum sketch_status refuse_foreign(const uint8_t *bytes, size_t length,
					 struct sketch_error *error)
{
	const char *what = "not a sketch file";

	if (length == 0)
		what = "empty, not a sketch file";
	else if (length < sizeof format_magic && memcmp(bytes, format_magic, length) == 0)
		return error_set(error, SKETCH_TRUNCATED, "truncated: %zu of the header's %u bytes",
				 length, FORMAT_HEADER_BYTES);
	else if (length >= 4 && memcmp(bytes + 1, format_magic + 1, 3) == 0)
		what = "a sketch file damaged by a transfer in text mode: copy it again as binary";
	else if (length >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
		what = "compressed by gzip: pipe it through gzip -dc first";
	return error_set(error, SKETCH_FOREIGN, "%s", what);
}

/* ------------------------------------------------------------------ header */

/* A field that this version cannot handle: from the future where the checksum
 * is right, more likely damage where it is wrong. */
static enum sketch_status refuse_field(const char *name, uint64_t found, const char *supported,
				       bool sound, struct sketch_error *error)
{
	if (!sound)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: header checksum is wrong; %s is %" PRIu64
				 ", supported: %s",
				 name, found, supported);
	return error_set(error, SKETCH_UNSUPPORTED,
			 "%s %" PRIu64 " is not supported (this reads %s)", name, found, supported);
}

static enum sketch_status check_header(const uint8_t *bytes, const struct format_header *header,
				       struct sketch_error *error)
{
	bool sound = format_header_sum(bytes) == load_u32(bytes + 124);
	bool keyed = header->family == SKETCH_FAMILY_SIPHASH;
	bool elsewhere = header->must_understand & FORMAT_FLAG_KEY_ELSEWHERE;

	if (header->family != SKETCH_FAMILY_MURMUR3 && header->family != SKETCH_FAMILY_SIPHASH)
		return refuse_field("hash family", header->family, "1 and 2", sound, error);
	if (!sound)
		return error_damaged(error, "header checksum is wrong");
	if (sketch_kind_name(header->kind) == NULL)
		return refuse_field("kind", header->kind, "1 to 5", sound, error);
	if (header->must_understand & ~FORMAT_FLAG_KEY_ELSEWHERE)
		return error_set(error, SKETCH_UNSUPPORTED,
				 "needs features that this version lacks (flags %#" PRIx32
				 ", supported: %#x)",
				 header->must_understand, FORMAT_FLAG_KEY_ELSEWHERE);
	if (elsewhere && !keyed)
		return error_set(error, SKETCH_UNSUPPORTED,
				 "its hash needs a key that is kept elsewhere, which hash "
				 "family %" PRIu32 " does not have",
				 header->family);
	if (keyed && !elsewhere)
		return error_set(error, SKETCH_UNSUPPORTED,
				 "the key of its hash is not kept elsewhere, which hash "
				 "family %" PRIu32 " demands",
				 header->family);
	if (header->sections < 1 || header->sections > FORMAT_MAX_SECTIONS)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: %" PRIu32 " sections (1 to %u are possible)",
				 header->sections, FORMAT_MAX_SECTIONS);
	if (header->transforms & ~SKETCH_FOLD_ASCII)
		return refuse_field("key transform", header->transforms, "0 and 1", sound, error);
	if (header->arrangement > SKETCH_WINDOW)
		return refuse_field("arrangement of layers", header->arrangement, "0 to 2", sound,
				    error);
	if (keyed && !all_zero(header->seed, sizeof header->seed))
		return error_damaged(error, "there are bytes where a key has no place");
	if (!keyed && (!all_zero(header->seed + 4, 12) ||
		       header->fingerprint != format_fingerprint(header->seed)))
		return error_damaged(error, "the seed does not match its fingerprint");
	if (!all_zero(bytes + 80, 40))
		return error_damaged(error, "reserved bytes are not 0");
	return SKETCH_OK;
}

enum sketch_status format_decode_header(const uint8_t *bytes, size_t length,
					struct format_header *header, struct sketch_file_info *info,
					struct sketch_error *error)
{
	struct format_header h;
	enum sketch_status status;

	if (length < sizeof format_magic || memcmp(bytes, format_magic, sizeof format_magic) != 0)
		return refuse_foreign(bytes, length, error);
	if (length >= 12 && load_u32(bytes + 8) != FORMAT_VERSION)
		return refuse_field("format version", load_u32(bytes + 8), "1", true, error);
	if (length < FORMAT_HEADER_BYTES)
		return error_set(error, SKETCH_TRUNCATED, "truncated: %zu of the header's %u bytes",
				 length, FORMAT_HEADER_BYTES);
	h.version = load_u32(bytes + 8);
	h.kind = load_u32(bytes + 12);
	h.must_understand = load_u32(bytes + 16);
	h.length = load_u64(bytes + 24);
	h.sections = load_u32(bytes + 32);
	h.family = load_u32(bytes + 36);
	memcpy(h.seed, bytes + 40, sizeof h.seed);
	h.fingerprint = load_u64(bytes + 56);
	h.transforms = load_u32(bytes + 64);
	h.arrangement = load_u32(bytes + 68);
	h.records = load_u64(bytes + 72);
	h.table_sum = load_u32(bytes + 120);
	if (info != NULL)
		*info = (struct sketch_file_info){ h.version, h.kind, h.length };
	status = check_header(bytes, &h, error);
	if (status != SKETCH_OK)
		return status;
	*header = h;
	return SKETCH_OK;
}

void format_encode_header(uint8_t *bytes, const struct format_header *header)
{
	memset(bytes, 0, FORMAT_HEADER_BYTES);
	memcpy(bytes, format_magic, sizeof format_magic);
	store_u32(bytes + 8, header->version);
	store_u32(bytes + 12, header->kind);
	store_u32(bytes + 16, header->must_understand);
	store_u64(bytes + 24, header->length);
	store_u32(bytes + 32, header->sections);
	store_u32(bytes + 36, header->family);
	memcpy(bytes + 40, header->seed, sizeof header->seed);
	store_u64(bytes + 56, header->fingerprint);
	store_u32(bytes + 64, header->transforms);
	store_u32(bytes + 68, header->arrangement);
	store_u64(bytes + 72, header->records);
	store_u32(bytes + 120, header->table_sum);
	store_u32(bytes + 124, format_header_sum(bytes));
}

/* ----------------------------------------------------------- section table */

static enum sketch_status check_section(const struct format_section *section, uint64_t previous_end,
					const uint8_t *bytes, uint64_t file_length,
					struct sketch_error *error)
{
	if (section->offset != format_align(previous_end) || section->offset > file_length ||
	    section->length > file_length - section->offset)
		return error_set(
			error, SKETCH_DAMAGED,
			"damaged: section at %" PRIu64 ", %" PRIu64
			" bytes, does not follow the one before within the file's %" PRIu64,
			section->offset, section->length, file_length);
	if (!all_zero(bytes + previous_end, section->offset - previous_end))
		return error_damaged(error, "bytes between the sections are not 0");
	return SKETCH_OK;
}

enum sketch_status format_decode_table(const uint8_t *bytes, const struct format_header *header,
				       struct format_section *sections, struct sketch_error *error)
{
	const uint8_t *entry = bytes + FORMAT_HEADER_BYTES;
	uint64_t table_length = (uint64_t)header->sections * FORMAT_ENTRY_BYTES;
	uint64_t end = FORMAT_HEADER_BYTES + table_length;

	if (header->length < end)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: a file of %" PRIu64 " bytes cannot hold %" PRIu32
				 " sections",
				 header->length, header->sections);
	if (sketch_crc32c(0, entry, (size_t)table_length) != header->table_sum)
		return error_damaged(error, "checksum of the section table is wrong");
	for (uint32_t i = 0; i < header->sections; i++, entry += FORMAT_ENTRY_BYTES) {
		struct format_section *s = &sections[i];
		enum sketch_status status;

		s->type = load_u32(entry);
		s->index = load_u32(entry + 4);
		s->offset = load_u64(entry + 8);
		s->length = load_u64(entry + 16);
		s->sum = load_u32(entry + 24);
		if (load_u32(entry + 28) != 0)
			return error_damaged(error, "reserved bytes are not 0");
		status = check_section(s, end, bytes, header->length, error);
		if (status != SKETCH_OK)
			return status;
		end = s->offset + s->length;
	}
	if (end != header->length)
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: sections end at %" PRIu64 ", the file at %" PRIu64, end,
				 header->length);
	return SKETCH_OK;
}

void format_encode_section(uint8_t *bytes, const struct format_section *section)
{
	store_u32(bytes, section->type);
	store_u32(bytes + 4, section->index);
	store_u64(bytes + 8, section->offset);
	store_u64(bytes + 16, section->length);
	store_u32(bytes + 24, section->sum);
	store_u32(bytes + 28, 0);
}

/* ------------------------------------------------------------------- layer */

enum sketch_status format_decode_layer(const uint8_t *bytes, bool in_window,
				       struct format_layer *layer, struct sketch_error *error)
{
	struct sketch_params p;
	struct sketch_error reason;
	uint32_t layout = load_u32(bytes);
	uint64_t rate = load_u64(bytes + 32);

	if (layout != SKETCH_CLASSIC && layout != SKETCH_BLOCKED)
		return error_set(error, SKETCH_UNSUPPORTED,
				 "layout %" PRIu32 " is not supported (this reads 1 and 2)",
				 layout);
	p.layout = (enum sketch_layout)layout;
	p.k = load_u32(bytes + 4);
	p.g = load_u32(bytes + 8);
	p.m = load_u64(bytes + 16);
	p.n = load_u64(bytes + 24);
	memcpy(&p.p, &rate, sizeof p.p);
	if (load_u32(bytes + 12) != 0 || load_u64(bytes + 56) != 0 ||
	    (!in_window && !all_zero(bytes + 40, 16)))
		return error_damaged(error, "reserved bytes are not 0");
	if (sketch_params_check(&p, &reason) != SKETCH_OK)
		return error_damaged(error, reason.text);
	*layer = (struct format_layer){ p, load_u64(bytes + 40), load_u64(bytes + 48) };
	return SKETCH_OK;
}

void format_encode_layer(uint8_t *bytes, const struct format_layer *layer)
{
	const struct sketch_params *params = &layer->params;
	uint64_t rate;

	memset(bytes, 0, FORMAT_LAYER_BYTES);
	memcpy(&rate, &params->p, sizeof rate);
	store_u32(bytes, (uint32_t)params->layout);
	store_u32(bytes + 4, params->k);
	store_u32(bytes + 8, params->g);
	store_u64(bytes + 16, params->m);
	store_u64(bytes + 24, params->n);
	store_u64(bytes + 32, rate);
	store_u64(bytes + 40, layer->records);
	store_u64(bytes + 48, layer->stamp);
}

/* ------------------------------------------------------------------ window */

enum sketch_status format_decode_window(const uint8_t *bytes, size_t layers,
					struct sketch_window *window, struct sketch_error *error)
{
	uint32_t unit = load_u32(bytes), generations = load_u32(bytes + 4);
	uint64_t span = load_u64(bytes + 8), landmark = load_u64(bytes + 16);

	if (unit != SKETCH_WINDOW_RECORDS && unit != SKETCH_WINDOW_NANOSECONDS)
		return error_set(error, SKETCH_UNSUPPORTED,
				 "window unit %" PRIu32 " is not supported (this reads 1 and 2)",
				 unit);
	if (generations != layers || span == 0 || !all_zero(bytes + 32, 32) ||
	    (unit == SKETCH_WINDOW_RECORDS && landmark != 0))
		return error_set(error, SKETCH_DAMAGED,
				 "damaged: a window of %" PRIu32 " generations of %" PRIu64
				 " in %zu layers",
				 generations, span, layers);
	window->unit = (enum sketch_window_unit)unit;
	window->span = span;
	window->landmark = (int64_t)landmark;
	window->stamp = load_u64(bytes + 24);
	return SKETCH_OK;
}

void format_encode_window(uint8_t *bytes, size_t layers, const struct sketch_window *window)
{
	memset(bytes, 0, FORMAT_WINDOW_BYTES);
	store_u32(bytes, (uint32_t)window->unit);
	store_u32(bytes + 4, (uint32_t)layers);
	store_u64(bytes + 8, window->span);
	store_u64(bytes + 16, (uint64_t)window->landmark);
	store_u64(bytes + 24, window->stamp);
}

/* ---------------------------------------------------------------- counting */

enum sketch_status format_decode_counting(const uint8_t *bytes, unsigned int *counter_bits,
					  struct sketch_error *error)
{
	uint32_t bits = load_u32(bytes);

	if (bits != 4 && bits != 8 && bits != 16)
		return error_set(error, SKETCH_UNSUPPORTED,
				 "counters of %" PRIu32
				 " bits are not supported (this reads 4, 8 and 16)",
				 bits);
	if (!all_zero(bytes + 4, FORMAT_COUNTING_BYTES - 4))
		return error_damaged(error, "reserved bytes are not 0");
	*counter_bits = bits;
	return SKETCH_OK;
}

void format_encode_counting(uint8_t *bytes, unsigned int counter_bits)
{
	memset(bytes, 0, FORMAT_COUNTING_BYTES);
	store_u32(bytes, counter_bits);
}

/* ------------------------------------------------------------------ cuckoo */

void format_decode_cuckoo(const uint8_t *bytes, struct sketch_cuckoo_params *params)
{
	uint64_t rate = load_u64(bytes + 24);

	params->f = load_u32(bytes);
	params->buckets = load_u64(bytes + 8);
	params->n = load_u64(bytes + 16);
	memcpy(&params->p, &rate, sizeof params->p);
}

void format_encode_cuckoo(uint8_t *bytes, const struct sketch_cuckoo_params *params)
{
	uint64_t rate;

	memset(bytes, 0, FORMAT_CUCKOO_BYTES);
	memcpy(&rate, &params->p, sizeof rate);
	store_u32(bytes, params->f);
	store_u32(bytes + 4, SKETCH_CUCKOO_SLOTS);
	store_u64(bytes + 8, params->buckets);
	store_u64(bytes + 16, params->n);
	store_u64(bytes + 24, rate);
}
