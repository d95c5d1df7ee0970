/* file.h - inside of struct sketch_file: a whole file as one stretch of memory */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"
#include "region.h"
#include "sketch.h"

struct sketch_file {
	struct region bytes;
	struct format_header header;
	struct format_section *sections; /* header.sections of them */
	enum sketch_access access;
	uint64_t budget;
	bool mapped; /* and so not verified yet, and not to be written to */
};

/* SKETCH_UNSUPPORTED, naming both kinds, where the file holds another. */
enum sketch_status file_expect_kind(const struct sketch_file *file, enum sketch_kind kind,
				    struct sketch_error *error);

/* Writes all bytes. */
enum sketch_status file_write(int fd, const uint8_t *bytes, uint64_t length,
			      struct sketch_error *error);

/* A section that is cut into chunks, of which each is verified before its first use. */
struct chunks {
	const uint8_t *bytes, *sums;
	uint64_t length;
	uint64_t *verified; /* a bit for each chunk found right */
	uint64_t unverified;
};

/* All chunks are to be verified; false without memory. */
bool chunks_begin(struct chunks *chunks, const uint8_t *bytes, uint64_t length,
		  const uint8_t *sums);
void chunks_end(struct chunks *chunks);

/* Whether the chunk of that number is right. */
bool chunks_verify(struct chunks *chunks, uint64_t chunk);

/* The sums of all chunks of a section, 4 bytes each; and whether they are right. */
void file_sum_chunks(const uint8_t *bytes, uint64_t length, uint8_t *sums);
bool file_check_chunks(const uint8_t *bytes, uint64_t length, const uint8_t *sums);

#endif
