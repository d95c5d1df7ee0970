/* support.h - what the tests share: repeatable dice, bytes in memory, a scratch
 * folder, other processes, and a second, slow and simple implementation of what
 * decides the bits of a filter and the bytes of its file, to disagree with. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

#include "sketch.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* ------------------------------------------------------------- assertions */

/* The status expected, else the test fails and shows both and the error's text. */
#define assert_status(expected, status, error)                                                     \
	support_status(expected, status, error, __FILE__, __LINE__)
void support_status(enum sketch_status expected, enum sketch_status status,
		    const struct sketch_error *error, const char *file, int line);

/* |a - b| <= tolerance max(|a|, |b|).  NaN is near nothing, infinity near itself. */
#define assert_near(a, b, tolerance) support_near(a, b, tolerance, __FILE__, __LINE__)
void support_near(double a, double b, double tolerance, const char *file, int line);

/* An error fit for one line of a message: status as given, some text, no newline. */
#define assert_error(status, error) support_error(status, error, __FILE__, __LINE__)
void support_error(enum sketch_status status, const struct sketch_error *error, const char *file,
		   int line);

/* Does `text` hold `word` with no letter, digit or _ beside it? */
bool has_word(const char *text, const char *word);

/* ------------------------------------------------------------ environment */

/* May this run take minutes? */
bool run_long(void);

/* Is the program slowed down by an instrument (sanitizers, valgrind)? */
bool run_slow(void);

/* Pages of this process: all, or the resident ones. */
long run_pages(bool resident);

/* The path of a file under the top of the source tree. */
void top_path(char path[512], const char *name);

/* The path of a file among the cases handed over; false where there is none. */
bool shared_path(char path[512], const char *name);

/* ------------------------------------------------------------------- dice */

/* SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014). */
struct dice {
	uint64_t state;
};

uint64_t dice_next(struct dice *dice);
uint64_t dice_below(struct dice *dice, uint64_t bound);
uint64_t dice_between(struct dice *dice, uint64_t low, uint64_t high);
void dice_fill(struct dice *dice, void *data, size_t length);
struct sketch_hash dice_hash(struct dice *dice);

/* ------------------------------------------------------------------ bytes */

struct bytes {
	uint8_t *data;
	size_t length;
};

void bytes_free(struct bytes *bytes);
struct bytes bytes_copy(const struct bytes *bytes);
bool bytes_equal(const struct bytes *a, const struct bytes *b);

/* Everything from the descriptor's position to its end. */
struct bytes bytes_from_fd(int fd);
/* data is NULL where the file cannot be opened. */
struct bytes bytes_from_file(const char *path);
void bytes_to_file(const struct bytes *bytes, const char *path);

/* A regular file without a name that holds the bytes, at position 0. */
int bytes_to_fd(const struct bytes *bytes);
/* An empty one; and all that was written to it, which closes it. */
int bytes_begin(void);
struct bytes bytes_end(int fd);

uint32_t get32(const uint8_t *from);
uint64_t get64(const uint8_t *from);
void put32(uint8_t *to, uint32_t value);
void put64(uint8_t *to, uint64_t value);

/* Bytes of hexadecimal digits; of "30*255", the byte 255 times; of "(empty)" or
 * "", none.  The caller frees. */
struct bytes bytes_from_hex(const char *text);

/* -------------------------------------------------------------- reference */

/* CRC-32C, a bit at a time. */
uint32_t reference_crc32c(uint32_t crc, const uint8_t *data, size_t length);

/* The last mixing of MurmurHash3, and the upper half of a product. */
uint64_t reference_mix(uint64_t x);
uint64_t reference_upper(uint64_t a, uint64_t b);

/* The positions of a key by rule 1, as sketch-format(5) writes it: k of them,
 * repeats included, in 0..m-1. */
void reference_positions(const struct sketch_params *params, struct sketch_hash hash,
			 uint64_t positions[SKETCH_MAX_HASHES]);
void reference_add(uint8_t *bits, const struct sketch_params *params, struct sketch_hash hash);
bool reference_test(const uint8_t *bits, const struct sketch_params *params,
		    struct sketch_hash hash);
/* The current rate, from the definition. */
double reference_rate(const uint8_t *bits, const struct sketch_params *params);

/* A section of a file in memory, found by type and index; the test fails where
 * there is none.  `entry` is the offset of its entry in the table. */
struct section {
	size_t entry;
	size_t offset;
	size_t length;
};
struct section section_find(const struct bytes *file, uint32_t type, uint32_t index);
uint8_t *file_bits(const struct bytes *file, uint32_t layer);

/* Makes all checksums of the file right again, as far as its sections lie in it. */
void file_seal(struct bytes *file);

/* ----------------------------------------------------------------- filters */

struct sketch_params params_classic(uint64_t m, uint32_t k);
/* m = 512 g blocks */
struct sketch_params params_blocked(uint64_t blocks, uint32_t g, uint32_t k);

/* Parameters of at most about 20,000 bits: classic, one bit a word, or free. */
struct sketch_params params_random(struct dice *dice);

#define IDENTITY ((struct sketch_identity){ SKETCH_FAMILY_MURMUR3, 0, 0, SKETCH_SINGLE, 0 })

struct sketch_bloom *filter_make(const struct sketch_params *params);
struct sketch_bloom *filter_from_bytes(const struct bytes *file, enum sketch_access access);
struct bytes filter_bytes(struct sketch_bloom *filter);
void assert_filter_bytes(struct sketch_bloom *filter, const struct bytes *expected);
void filter_add(struct sketch_bloom *filter, struct sketch_hash hash);
bool filter_has(struct sketch_bloom *filter, struct sketch_hash hash);
struct sketch_hash hash_text(const char *text, uint32_t seed);

/* ----------------------------------------------------------------- scratch */

/* A folder for one test's files, below TMPDIR or /tmp. */
struct scratch {
	char path[256];
};

void scratch_make(struct scratch *scratch);
void scratch_path(const struct scratch *scratch, char path[512], const char *name);
/* The number of names in the folder. */
size_t scratch_count(const struct scratch *scratch);
/* Removes the folder with what it holds. */
void scratch_remove(struct scratch *scratch);

/* --------------------------------------------------------------- processes */

/* Runs body(context) in a child, which ends with the status it returns and never
 * comes back into the test. */
pid_t child_start(int (*body)(void *context), void *context);
/* Its status, or 128 and its signal. */
int child_end(pid_t child);
int child_run(int (*body)(void *context), void *context);

void sleep_ms(long milliseconds);

#endif
