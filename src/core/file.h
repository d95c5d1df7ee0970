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

/* The sums of all chunks of a section, 4 bytes each; and whether they are right. */
void file_sum_chunks(const uint8_t *bytes, uint64_t length, uint8_t *sums);
bool file_check_chunks(const uint8_t *bytes, uint64_t length, const uint8_t *sums);

#endif
