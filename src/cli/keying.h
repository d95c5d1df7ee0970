/* keying.h - the secret key of a hash, as a file on the command line names it */
#ifndef CLI_KEYING_H
#define CLI_KEYING_H

#include <stdbool.h>

#include "option.h"
#include "sketch.h"

/* --key-file; all 0 to begin with.  It is copied nowhere, but pointed at. */
struct keying {
	const char *path; /* NULL: no key was named */
	struct sketch_secret secret;
	uint64_t fingerprint;
};

/* The group of --key-file. */
struct option_group keying_option_group(struct keying *keying);

/* Whether it goes together with what else was given; else a message. */
bool keying_check(const struct keying *keying, bool has_seed);

/* Reads the key if one was named: 32 hexadecimal digits, one line, which in a regular file
 * only its owner may read, the user or root.  False after a message, which there is, too,
 * where it is the file that standard output goes to or `output` names (NULL, "-": none):
 * what was hashed under a key that is written over can never be asked again. */
bool keying_read(struct keying *keying, const char *output);

/* Overwrites the key. */
void keying_end(struct keying *keying);

/* Hash family, seed and fingerprint of a sketch to be made. */
struct sketch_identity keying_identity(const struct keying *keying, uint32_t seed, bool fold,
				       enum sketch_arrangement arrangement);

/* Whether keys can be hashed for the sketch that a file holds: the key is the right one, or
 * it is not keyed and none was given.  Else a message. */
bool keying_fits(const struct keying *keying, const char *file,
		 const struct sketch_identity *identity);

/* The same where no key need be hashed: none has to be given. */
bool keying_agrees(const struct keying *keying, const char *file,
		   const struct sketch_identity *identity);

/* The secret for keys of a sketch that fits; NULL where it is not keyed. */
const struct sketch_secret *keying_secret(const struct keying *keying,
					  const struct sketch_identity *identity);

#endif
