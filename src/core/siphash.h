/* siphash.h - SipHash-2-4, a hash under a secret key */
#ifndef CORE_SIPHASH_H
#define CORE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#include "sketch.h"

/* SipHash-2-4 of 64 bits, as in the paper, of `length` bytes; `data` may be NULL where
 * length is 0.  No function of the same key with 128 bits: neither tells of the other. */
uint64_t siphash_64(const void *data, size_t length, const struct sketch_secret *secret);

/* The same of 128 bits: the first eight bytes of the output are h1, little-endian. */
struct sketch_hash siphash_128(const void *data, size_t length, const struct sketch_secret *secret);

#endif
