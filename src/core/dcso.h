/* dcso.h - recognising the .bloom files of DCSO, and their headers */
#ifndef CORE_DCSO_H
#define CORE_DCSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sketch.h"

#define DCSO_HEADER_BYTES 48u

/* Whether a file that begins like this is one, or the beginning of one. */
bool dcso_is(const uint8_t *bytes, size_t length);

/* Reads the header from the first `length` bytes of a file; *needed is the length of
 * header and bits, behind which anything may follow. */
enum sketch_status dcso_decode_header(const uint8_t *bytes, size_t length,
				      struct sketch_dcso_params *params, uint64_t *needed,
				      struct sketch_error *error);

#endif
