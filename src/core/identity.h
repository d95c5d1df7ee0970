/* identity.h - what sketches of every kind have in common */
#ifndef CORE_IDENTITY_H
#define CORE_IDENTITY_H

#include "format.h"
#include "sketch.h"

/* SKETCH_OK where hash family, key transforms and arrangement are known and go together;
 * else SKETCH_RANGE. */
enum sketch_status identity_check(const struct sketch_identity *identity,
				  struct sketch_error *error);

/* The same of a sketch that has no layers, whose arrangement can only be SKETCH_SINGLE. */
enum sketch_status identity_check_single(const struct sketch_identity *identity,
					 struct sketch_error *error);

/* SKETCH_OK where a key has the same hash in both, whatever the arrangement; else
 * SKETCH_MISMATCH, with the field named. */
enum sketch_status identity_compare(const struct sketch_identity *a,
				    const struct sketch_identity *b, struct sketch_error *error);

/* What the header of a file says of it, and the same into one that is to be written. */
struct sketch_identity identity_of_header(const struct format_header *header);
void identity_to_header(const struct sketch_identity *identity, struct format_header *header);

#endif
