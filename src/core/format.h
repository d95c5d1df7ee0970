/* format.h - the bytes of a sketch file, version 1
 *
 * sketch-format(5) is the specification; this is the same in C.  All integers
 * are little-endian, all offsets count from the first byte of the file, every
 * byte not assigned is 0 and checked to be.
 *
 *   +--------------------+ 0
 *   | header   128 bytes |
 *   +--------------------+ 128
 *   | section table      |  32 bytes a section
 *   +--------------------+ then, each at the next multiple of 64, in table order:
 *   | LAYER 0 .. L-1     |  64 bytes each
 *   | WINDOW 0           |  64 bytes, where the arrangement is a window
 *   | SUMS 0 .. L-1      |  4 bytes for every 64 KiB chunk of BITS
 *   | BITS 0 .. L-1      |  m/8 bytes each
 *   +--------------------+ file length: the end of the last section, unpadded
 *
 * Header
 *   offset  bytes  field
 *        0      8  magic: 89 53 4b 45 0d 0a 1a 0a  (\x89 S K E \r \n \x1a \n)
 *        8      4  format version, 1
 *       12      4  kind (enum sketch_kind)
 *       16      4  must-understand flags: a reader refuses a bit it does not know
 *                    bit 0  the key of the hash is kept elsewhere; bytes 40-55 are 0
 *       20      4  may-ignore flags: a reader keeps none, refuses none
 *       24      8  length of the file
 *       32      4  number of sections, 1..1024
 *       36      4  hash family: the hash and the rule from hash to positions
 *                    1  MurmurHash3_x64_128, position rule 1
 *                    2  SipHash-2-4 of 128 bits under a key, position rule 1; goes
 *                       with the flag that the key is kept elsewhere
 *       40     16  seed or key; family 1: the 32-bit seed, then twelve 0 bytes
 *       56      8  fingerprint of the seed or key; family 1: h1 of
 *                    MurmurHash3_x64_128 of bytes 40-55 under seed 0; family 2:
 *                    SipHash-2-4 of 64 bits of a fixed text under the key
 *       64      4  key transforms: bit 0  A-Z hashed as a-z
 *       68      4  arrangement of the layers: 0 single, 1 ladder, 2 window
 *       72      8  records read, repeats included
 *       80     40  0
 *      120      4  CRC-32C of the section table
 *      124      4  CRC-32C of bytes 0..123
 *
 * Section table, an entry
 *        0      4  type: 1 LAYER, 2 SUMS, 3 BITS; for counts 4 TABLE, 5 CELLS,
 *                    6 KEYS; for windows 7 WINDOW, of counts 8 RING; for
 *                    HyperLogLog 11 PRECISION, 12 REGISTERS, 13 HASHES; for
 *                    counting filters 14 COUNTING, 15 COUNTERS; for cuckoo filters
 *                    16 CUCKOO, 17 BUCKETS.  Types of 0x80000000 and more may be
 *                    ignored by a reader that does not know them, others not
 *        4      4  index: the layer the section belongs to
 *        8      8  offset, a multiple of 64
 *       16      8  length
 *       24      4  CRC-32C of the section's bytes; of a chunked section (BITS,
 *                    CELLS, KEYS, REGISTERS, HASHES, COUNTERS, BUCKETS): of the
 *                    bytes of the SUMS section with its index
 *       28      4  0
 *   Sections lie in table order, each at the least multiple of 64 at or after the
 *   end of the one before (the first: of the table); the bytes between are 0.
 *
 * LAYER
 *        0      4  layout: 1 classic, 2 blocked
 *        4      4  k
 *        8      4  g (0 for classic)
 *       12      4  0
 *       16      8  m
 *       24      8  n, the capacity
 *       32      8  p, IEEE 754 binary64
 *       40      8  records of this generation (windows), else 0
 *       48      8  generation stamp (windows), else 0
 *       56      8  0
 *
 * WINDOW
 *        0      4  unit: 1 records, 2 nanoseconds
 *        4      4  generations: the number of layers, whose stamps ascend
 *        8      8  span of a generation, at least 1
 *       16      8  landmark, i64: when stamp 0 began, in nanoseconds after
 *                    1970-01-01 00:00:00 UTC; 0 for unit 1
 *       24      8  stamp of the current generation: that of the last layer; at most
 *                    2^62, and times span below 2^63 for unit 2
 *       32     32  0
 *
 * A counting Bloom filter has LAYER 0, COUNTING 0, SUMS 0, COUNTERS 0 and arrangement
 * 0; m of its LAYER is a number of counters.
 *
 * COUNTING
 *        0      4  bits of a counter: 4, 8 or 16
 *        4     60  0
 *
 * COUNTERS: m counters in place of the bits.  Counter i of 4 bits is the low half of
 *   byte i / 2 where i is even, else the high one; of 8 bits, byte i; of 16 bits, bytes
 *   2 i and 2 i + 1, little-endian.
 *
 * A cuckoo filter has CUCKOO 0, SUMS 0, BUCKETS 0 and arrangement 0.
 *
 * CUCKOO
 *        0      4  f, bits of a fingerprint: 6 to 56
 *        4      4  slots of a bucket: 4
 *        8      8  buckets, at least 1; 4 f buckets is below 2^63
 *       16      8  n, the capacity
 *       24      8  p, IEEE 754 binary64
 *       32     32  0
 *
 * BUCKETS: slot s of bucket b is the f bits from bit (4 b + s) f on, as a number whose
 *   lowest bit comes first; 0 is an empty slot.  Then 0 bits up to a multiple of 64, and
 *   64 more.
 *
 * A file of counts has TABLE 0, SUMS 0, SUMS 1, CELLS 0, KEYS 1 and arrangement 0;
 * where no keys are tracked, SUMS 1 and KEYS 1 are left out.  With a window it has
 * RING 0, then for each pane i, the oldest first, TABLE i, SUMS 2i, SUMS 2i+1,
 * CELLS 2i, KEYS 2i+1.
 *
 * RING
 *        0      4  unit: 1 records, 2 nanoseconds
 *        4      4  panes, 1..64: the number of tables
 *        8      8  span of a pane, at least 1
 *       16      8  length of the window, 1..2^62; (panes - 1) * span is at least
 *                    that (unit 2), or one less (unit 1)
 *       24      8  stamp of the current pane, the last; at most 2^62, and times
 *                    span below 2^63 for unit 2
 *       32      8  records in the current pane, at most span; 0 for unit 2
 *       40     24  0
 *
 * TABLE
 *        0      4  d, rows
 *        4      4  bits of a cell: 32 or 64
 *        8      4  update rule: 1 conservative, 2 plain
 *       12      4  unit of decay: 0 none, 1 records, 2 nanoseconds
 *       16      8  w, cells of a row
 *       24      8  total N of all that was counted
 *       32      8  the part of it that went to the cells
 *       40      8  decay landmark, a multiple of the half-life, not after now
 *       48      8  decay half-life, 1..2^62; 0 where there is none
 *       56      8  tracked keys, the most that KEYS may hold; 0 for update rule 2
 *       64      8  floor: when sketches were joined, no key that is not in KEYS
 *                    counted more
 *       72      8  decay: now, the moment the counts stand for, below 2^63
 *       80     48  0
 * Where counts decay, cells have 64 bits, the update rule is 1, and all counts are in
 * units of 2^-20 at the landmark.
 *
 * CELLS: row by row; the cell of a key in row r is number r * w + hi(u(r) * w).
 *
 * KEYS, a record: sorted by h1, then h2, then the stored bytes
 *        0      4  s, bytes of the key that are stored, at most 4096
 *        4      4  flags: bit 0, the key is longer than that
 *        8      8  length of the whole key
 *       16     16  h1, h2 of the whole key
 *       32      8  count: the truth is not above it
 *       40      8  error: the truth is not below count - error
 *       48      s  the first bytes of the key, then 0 up to a multiple of 8
 *
 * A HyperLogLog file has PRECISION 0, SUMS 0, then REGISTERS 0 or, of at most
 * 2^precision / 8 keys, HASHES 0; and arrangement 0.
 *
 * PRECISION
 *        0      4  precision, 4..21
 *        4      4  bits of a register: 8
 *        8     56  0
 *
 * REGISTERS: 2^precision bytes, not all of them 0; of the keys whose h1 has the
 *   register's number in its upper bits, the largest number of 0 bits that follow
 *   these, plus 1: at most 65 - precision.
 *
 * HASHES: h1 of each key as u64, ascending, none twice.
 *
 * BITS: bit i of the layer is bit i mod 8 (1 << (i % 8)) of byte i / 8.
 *
 * Chunks: bytes 0..65535 of the section, 65536..131071, ...; the last one may
 * be shorter.  SUMS holds the CRC-32C of each, in order, as u32.
 */
#ifndef CORE_FORMAT_H
#define CORE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sketch.h"

#define FORMAT_VERSION 1u
#define FORMAT_MAGIC 8u
#define FORMAT_HEADER_BYTES 128u
#define FORMAT_ENTRY_BYTES 32u
#define FORMAT_LAYER_BYTES 64u
#define FORMAT_WINDOW_BYTES 64u
#define FORMAT_RING_BYTES 64u
#define FORMAT_COUNTING_BYTES 64u
#define FORMAT_CUCKOO_BYTES 64u
#define FORMAT_TABLE_BYTES 128u
#define FORMAT_KEY_BYTES 48u /* and what is stored of the key */
#define FORMAT_PRECISION_BYTES 64u
#define FORMAT_ALIGNMENT 64u
#define FORMAT_CHUNK_BYTES 65536u
#define FORMAT_MAX_SECTIONS 1024u
#define FORMAT_MAX_STAMP (UINT64_C(1) << 62)
#define FORMAT_FLAG_KEY_ELSEWHERE 1u
#define FORMAT_TYPE_IGNORABLE 0x80000000u

enum format_type {
	FORMAT_LAYER = 1,
	FORMAT_SUMS = 2,
	FORMAT_BITS = 3,
	FORMAT_TABLE = 4,
	FORMAT_CELLS = 5,
	FORMAT_KEYS = 6,
	FORMAT_WINDOW = 7,
	FORMAT_RING = 8,
	FORMAT_PRECISION = 11,
	FORMAT_REGISTERS = 12,
	FORMAT_HASHES = 13,
	FORMAT_COUNTING = 14,
	FORMAT_COUNTERS = 15,
	FORMAT_CUCKOO = 16,
	FORMAT_BUCKETS = 17
};

/* A header as numbers. */
struct format_header {
	uint32_t version, kind, must_understand;
	uint64_t length;
	uint32_t sections, family;
	uint8_t seed[16];
	uint64_t fingerprint;
	uint32_t transforms, arrangement;
	uint64_t records;
	uint32_t table_sum;
};

struct format_section {
	uint32_t type, index;
	uint64_t offset, length;
	uint32_t sum;
};

/* The last stamp of a window in nanoseconds: time stands still there. */
static inline uint64_t format_last_stamp(uint64_t span)
{
	uint64_t last = (uint64_t)INT64_MAX / span;

	return last < FORMAT_MAX_STAMP ? last : FORMAT_MAX_STAMP;
}

/* Where a section may begin at the earliest after a byte. */
static inline uint64_t format_align(uint64_t offset)
{
	return (offset + FORMAT_ALIGNMENT - 1) / FORMAT_ALIGNMENT * FORMAT_ALIGNMENT;
}

static inline uint64_t format_chunks(uint64_t bytes)
{
	return bytes / FORMAT_CHUNK_BYTES + (bytes % FORMAT_CHUNK_BYTES != 0);
}

/* The fingerprint of family 1 for 16 bytes of seed. */
uint64_t format_fingerprint(const uint8_t seed[16]);

/* The CRC-32C of a header's bytes 0..123. */
uint32_t format_header_sum(const uint8_t *bytes);

/* Reads a header from the first `length` bytes of a file (fewer than 128 is a
 * failure that says so) and checks all that can be checked without the rest.
 * `info` may be NULL; it is filled once version, kind and length are known. */
enum sketch_status format_decode_header(const uint8_t *bytes, size_t length,
					struct format_header *header, struct sketch_file_info *info,
					struct sketch_error *error);

/* Reads the table behind a header, checks the order and bounds of the sections
 * against header->length, and that the bytes between them are 0.  `bytes` is
 * the whole file, header->length bytes; `sections` has room for
 * header->sections. */
enum sketch_status format_decode_table(const uint8_t *bytes, const struct format_header *header,
				       struct format_section *sections, struct sketch_error *error);

/* What a LAYER section says. */
struct format_layer {
	struct sketch_params params;
	uint64_t records, stamp; /* of a generation; else 0 */
};

/* Reads a LAYER section; only a window's may have records and a stamp. */
enum sketch_status format_decode_layer(const uint8_t *bytes, bool in_window,
				       struct format_layer *layer, struct sketch_error *error);

/* Reads a WINDOW section for a filter of so many layers; window->records is left
 * as it is. */
enum sketch_status format_decode_window(const uint8_t *bytes, size_t layers,
					struct sketch_window *window, struct sketch_error *error);

/* Reads a COUNTING section. */
enum sketch_status format_decode_counting(const uint8_t *bytes, unsigned int *counter_bits,
					  struct sketch_error *error);

void format_encode_header(uint8_t *bytes, const struct format_header *header);
void format_encode_section(uint8_t *bytes, const struct format_section *section);
void format_encode_layer(uint8_t *bytes, const struct format_layer *layer);
void format_encode_window(uint8_t *bytes, size_t layers, const struct sketch_window *window);
void format_encode_counting(uint8_t *bytes, unsigned int counter_bits);

/* Reads the numbers of a CUCKOO section, unchecked. */
void format_decode_cuckoo(const uint8_t *bytes, struct sketch_cuckoo_params *params);
void format_encode_cuckoo(uint8_t *bytes, const struct sketch_cuckoo_params *params);

/* Whether these bytes are the magic, or as much of it as there are. */
bool format_begins(const uint8_t *bytes, size_t length);

#endif
