/* fuzz.h - what the fuzzers share
 *
 * A fuzzer, fuzz_X.c, takes any bytes and does with them what a program would, beside a
 * slow and simple model of the same; what the two disagree on ends the process.  It is
 * linked with libFuzzer (make fuzz), or with driver.c, which runs it over its seeds and
 * deterministic mutations of them (make check), or over files (to see a finding again). */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------- what a fuzzer gives */

/* One input; 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Hands out the inputs to begin with. */
typedef void fuzz_sink(void *context, const void *data, size_t size);
void fuzz_seeds(fuzz_sink *sink, void *context);

/* Mutations in a short run, so many that it takes a second or two. */
extern const unsigned long fuzz_short;

/* ---------------------------------------------------------- what it may use */

/* Ends the process with the text where the condition does not hold. */
#define fuzz_require(condition, ...)                                                               \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fuzz_fail(__FILE__, __LINE__, #condition, __VA_ARGS__);                    \
	} while (0)
void fuzz_fail(const char *file, int line, const char *condition, const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));

/* Whether what is said on standard error goes nowhere, but for what fuzz_fail says; with
 * FUZZ_MESSAGES in the environment nothing is held back. */
void fuzz_hush(bool hushed);

/* Bytes of the input, one decision after the other; 0 where there are no more. */
struct fuzz_bytes {
	const uint8_t *at, *end;
};
uint8_t fuzz_byte(struct fuzz_bytes *bytes);
uint32_t fuzz_u32(struct fuzz_bytes *bytes);
uint64_t fuzz_u64(struct fuzz_bytes *bytes);
/* 0 <= result < bound, which is at least 1. */
uint64_t fuzz_below(struct fuzz_bytes *bytes, uint64_t bound);

/* SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014). */
uint64_t fuzz_dice(uint64_t *state);

/* A regular file without a name that holds the bytes, at position 0. */
int fuzz_file(const void *data, size_t size);
/* All bytes of such a file; the caller frees. */
uint8_t *fuzz_content(int fd, size_t *size);

/* Hands out every file of a folder below the top of the source tree ($TOP, or the
 * working folder) whose name ends so; NULL: every one.  At most `most` bytes each. */
void fuzz_folder(const char *folder, const char *ending, size_t most, fuzz_sink *sink,
		 void *context);
/* A text without its NUL. */
void fuzz_text(const char *text, fuzz_sink *sink, void *context);

#endif
