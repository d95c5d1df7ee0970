/* kinds.h - the kinds of sketch files there are, for what treats all of them alike
 *
 * A new kind of sketch is a row in the table of kinds.c: the file loader, the merge and
 * the damage are then tried on it, too.  Its golden files are found by their ending
 * and by the kind in their header. */
#ifndef TESTS_FUZZ_KINDS_H
#define TESTS_FUZZ_KINDS_H

#include "fuzz.h"
#include "sketch.h"

struct kind {
	uint32_t number;
	const char *ending; /* of its golden files */
	/* As sketch_X_of_file. */
	enum sketch_status (*of_file)(void **sketch, struct sketch_file *file,
				      struct sketch_error *error);
	enum sketch_status (*verify)(void *sketch, struct sketch_error *error);
	enum sketch_status (*write)(void *sketch, int fd, struct sketch_error *error);
	enum sketch_status (*unite)(void *into, void *from, struct sketch_error *error);
	void (*release)(void *sketch);
	/* Asks all that can be asked, and checks that it makes sense; changes nothing. */
	enum sketch_status (*ask)(void *sketch, struct sketch_error *error);
	/* Puts something in, and checks that it is there. */
	void (*change)(void *sketch);
	/* What `both`, the union, has to know that one of its parts knows. */
	void (*compare)(void *both, void *part);
};

extern const struct kind kinds[];
extern const size_t kinds_count;

/* NULL where there is none of that number. */
const struct kind *kind_of(uint32_t number);

#define KINDS_BUDGET ((uint64_t)16 << 20)

/* A sketch from a file in memory: through a regular file, or through a pipe. */
struct loaded {
	const struct kind *kind;
	void *sketch; /* NULL where it was refused */
	struct sketch_error error;
};
struct loaded kinds_load(const uint8_t *data, size_t size, enum sketch_access access, bool piped);
/* The file of a sketch; the caller frees. */
uint8_t *kinds_save(const struct loaded *loaded, size_t *size);
void kinds_release(struct loaded *loaded);

/* Makes every checksum right again, as far as the sections lie within the file. */
void kinds_seal(uint8_t *data, size_t size);

/* The golden files of a kind, none larger than `most`. */
void kinds_golden(const struct kind *kind, size_t most, fuzz_sink *sink, void *context);

/* All files there are to begin with: the golden ones, and those that
 * scripts/make-damaged left in build/damaged; none larger than `most`. */
void kinds_seeds(size_t most, fuzz_sink *sink, void *context);

#endif
