/* siphash.h - SipHash-2-4, a hash under a secret key */
#ifndef CORE_SIPHASH_H
#define CORE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#include "sketch.h"

/* What the state begins as under the key, what tells that 128 bits are asked for, and what
 * is put in before the second 64 of them. */
#define SIPHASH_START_0 UINT64_C(0x736f6d6570736575)
#define SIPHASH_START_1 UINT64_C(0x646f72616e646f6d)
#define SIPHASH_START_2 UINT64_C(0x6c7967656e657261)
#define SIPHASH_START_3 UINT64_C(0x7465646279746573)
#define SIPHASH_MARK_128 0xee
#define SIPHASH_MARK_SECOND 0xdd
#define SIPHASH_ROUNDS_A_WORD 2
#define SIPHASH_ROUNDS_AT_END 4

/* SipHash-2-4 of 64 bits, as in the paper, of `length` bytes; `data` may be NULL where
 * length is 0.  No function of the same key with 128 bits: neither tells of the other. */
uint64_t siphash_64(const void *data, size_t length, const struct sketch_secret *secret);

/* The same of 128 bits: the first eight bytes of the output are h1, little-endian. */
struct sketch_hash siphash_128(const void *data, size_t length, const struct sketch_secret *secret);

#endif
