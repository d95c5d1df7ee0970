/* foreign.c - inputs that are no records
 *
 * Any bytes may be a record, so what is refused must begin with more than chance or text
 * can make: our magic is eight bytes.  The formats of compressors begin with
 *
 *     gzip   1f 8b 08, flags of which three bits are 0, four bytes of time, a byte that
 *            is 0, 2 or 4, and one that names a system: up to 13, or 255
 *     bzip2  "BZh", 1 to 9, and six digits of pi (of its root where it is empty)
 *     xz     fd "7zXZ" 00
 *     zstd   28 b5 2f fd
 *
 * (RFC 1952; the xz file format 1.2.1; RFC 8878.)  Of these only bzip2's is text, ten
 * letters that nobody writes. */
#include "foreign.h"

#include <stdio.h>
#include <string.h>

#include "endian.h"
#include "format.h"
#include "sketch.h"

#define GZIP_HEADER 10

/* Where the kind of a sketch stands in its file. */
#define KIND_OFFSET 12
#define KIND_END 16

struct magic {
	const char *tool; /* takes -dc */
	const char *bytes;
	size_t length;
};

static const struct magic magics[] = {
	{ "gzip", "\x1f\x8b\x08", 3 },
	{ "bzip2", "BZh.1AY&SY", 10 },
	{ "bzip2", "BZh.\x17rE8P\x90", 10 },
	{ "xz",
	  "\xfd"
	  "7zXZ",
	  6 },
	{ "zstd", "\x28\xb5\x2f\xfd", 4 },
};

/* A byte of bzip2's magic is one of nine. */
static bool fits(const struct magic *magic, const uint8_t *bytes, size_t i)
{
	if (magic->bytes[i] == '.')
		return bytes[i] >= '1' && bytes[i] <= '9';
	return bytes[i] == (uint8_t)magic->bytes[i];
}

static enum foreign look_at_magic(const struct magic *magic, const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < magic->length && i < length; i++) {
		if (!fits(magic, bytes, i))
			return FOREIGN_NOT;
	}
	return length < magic->length ? FOREIGN_UNDECIDED : FOREIGN_IS;
}

/* The rest of gzip's header, for three bytes are few. */
static enum foreign look_at_gzip(const uint8_t *bytes, size_t length)
{
	if (length < GZIP_HEADER)
		return FOREIGN_UNDECIDED;
	if (bytes[3] & 0xe0 || bytes[8] > 4 || bytes[8] & 1 || (bytes[9] > 13 && bytes[9] < 255))
		return FOREIGN_NOT;
	return FOREIGN_IS;
}

static enum foreign look_for_compressed(const uint8_t *bytes, size_t length, char why[FOREIGN_TEXT])
{
	enum foreign all = FOREIGN_NOT;

	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
		enum foreign one = look_at_magic(&magics[i], bytes, length);

		if (one == FOREIGN_IS && i == 0)
			one = look_at_gzip(bytes, length);
		if (one == FOREIGN_IS)
			snprintf(why, FOREIGN_TEXT, "is compressed by %s: pipe it through %s -dc",
				 magics[i].tool, magics[i].tool);
		all = one > all ? one : all;
	}
	return all;
}

const char *foreign_asker(uint32_t kind)
{
	switch (kind) {
	case SKETCH_KIND_COUNTS:
		return "ask it with cms-top --query or cms-count --query";
	case SKETCH_KIND_HYPERLOGLOG:
		return "ask it with hll-count --query";
	case SKETCH_KIND_BLOOM:
	case SKETCH_KIND_COUNTING_BLOOM:
	case SKETCH_KIND_CUCKOO:
		return "bloom-query asks it, sketch-merge joins it to others of its kind";
	}
	return "sketch-info says more";
}

static enum foreign look_for_sketch(const uint8_t *bytes, size_t length, bool ended,
				    char why[FOREIGN_TEXT])
{
	uint32_t kind = 0;

	if (!format_begins(bytes, length))
		return FOREIGN_NOT;
	if (length < KIND_END && !ended)
		return FOREIGN_UNDECIDED;
	if (length < FORMAT_MAGIC)
		return FOREIGN_NOT;
	if (length >= KIND_END)
		kind = load_u32(bytes + KIND_OFFSET);
	snprintf(why, FOREIGN_TEXT, "is a %s, not records: %s",
		 sketch_kind_name(kind) != NULL ? sketch_kind_name(kind) : "sketch",
		 foreign_asker(kind));
	return FOREIGN_IS;
}

enum foreign foreign_look(const uint8_t *bytes, size_t length, bool ended, char why[FOREIGN_TEXT])
{
	enum foreign sketch = look_for_sketch(bytes, length, ended, why);
	enum foreign answer =
		sketch != FOREIGN_NOT ? sketch : look_for_compressed(bytes, length, why);

	return answer == FOREIGN_UNDECIDED && ended ? FOREIGN_NOT : answer;
}
