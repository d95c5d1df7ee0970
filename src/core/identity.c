#include "identity.h"

#include <inttypes.h>
#include <string.h>

#include "endian.h"
#include "error.h"
#include "siphash.h"

/* What the fingerprint of a key is the hash of.  It is one of 64 bits, which no key of a
 * sketch ever gets, so that the fingerprint tells of no key's hash. */
static const char fingerprint_text[] = "sketch: fingerprint of a hash key";

uint64_t sketch_secret_fingerprint(const struct sketch_secret *secret)
{
	return siphash_64(fingerprint_text, sizeof fingerprint_text - 1, secret);
}

struct sketch_hash sketch_siphash_2_4_128(const void *data, size_t length,
					  const struct sketch_secret *secret)
{
	return siphash_128(data, length, secret);
}

struct sketch_hash sketch_key_hash(const void *data, size_t length, uint32_t seed,
				   const struct sketch_secret *secret)
{
	return secret != NULL ? siphash_128(data, length, secret) :
				sketch_murmur3_x64_128(data, length, seed);
}

enum sketch_status identity_check(const struct sketch_identity *identity,
				  struct sketch_error *error)
{
	if (identity->family != SKETCH_FAMILY_MURMUR3 && identity->family != SKETCH_FAMILY_SIPHASH)
		return error_set(error, SKETCH_RANGE, "hash family %" PRIu32 " is unknown",
				 identity->family);
	if (identity->family == SKETCH_FAMILY_MURMUR3 ? identity->key_fingerprint != 0 :
							identity->seed != 0)
		return error_set(error, SKETCH_RANGE,
				 "hash family %" PRIu32 " goes with a %s, not with a %s",
				 identity->family,
				 identity->family == SKETCH_FAMILY_MURMUR3 ? "seed" : "key",
				 identity->family == SKETCH_FAMILY_MURMUR3 ? "key" : "seed");
	if (identity->transforms & ~SKETCH_FOLD_ASCII)
		return error_set(error, SKETCH_RANGE, "key transform %" PRIu32 " is unknown",
				 identity->transforms);
	if ((unsigned int)identity->arrangement > SKETCH_WINDOW)
		return error_set(error, SKETCH_RANGE, "arrangement %d is unknown",
				 (int)identity->arrangement);
	return SKETCH_OK;
}

enum sketch_status identity_check_single(const struct sketch_identity *identity,
					 struct sketch_error *error)
{
	enum sketch_status status = identity_check(identity, error);

	if (status == SKETCH_OK && identity->arrangement != SKETCH_SINGLE)
		return error_set(error, SKETCH_RANGE, "arrangement %d is for filters of layers",
				 (int)identity->arrangement);
	return status;
}

enum sketch_status identity_compare(const struct sketch_identity *a,
				    const struct sketch_identity *b, struct sketch_error *error)
{
	if (a->family != b->family)
		return error_set(error, SKETCH_MISMATCH,
				 "hash family differs: only one of the two has a key");
	if (a->seed != b->seed)
		return error_differ(error, "seed", a->seed, b->seed);
	if (a->key_fingerprint != b->key_fingerprint)
		return error_set(error, SKETCH_MISMATCH,
				 "key fingerprint differs: %016" PRIx64 " and %016" PRIx64,
				 a->key_fingerprint, b->key_fingerprint);
	if (a->transforms != b->transforms)
		return error_set(error, SKETCH_MISMATCH,
				 "ignore-case differs: only one of the two folds its keys");
	return SKETCH_OK;
}

struct sketch_identity identity_of_header(const struct format_header *header)
{
	bool keyed = header->family == SKETCH_FAMILY_SIPHASH;

	return (struct sketch_identity){
		.family = header->family,
		.transforms = header->transforms,
		.seed = keyed ? 0 : load_u32(header->seed),
		.arrangement = (enum sketch_arrangement)header->arrangement,
		.key_fingerprint = keyed ? header->fingerprint : 0,
	};
}

void identity_to_header(const struct sketch_identity *identity, struct format_header *header)
{
	bool keyed = identity->family == SKETCH_FAMILY_SIPHASH;

	header->family = identity->family;
	header->transforms = identity->transforms;
	header->arrangement = (uint32_t)identity->arrangement;
	header->must_understand = keyed ? FORMAT_FLAG_KEY_ELSEWHERE : 0;
	memset(header->seed, 0, sizeof header->seed);
	if (!keyed)
		store_u32(header->seed, identity->seed);
	header->fingerprint = keyed ? identity->key_fingerprint : format_fingerprint(header->seed);
}
