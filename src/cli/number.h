/* number.h - words of the command line that stand for numbers
 *
 * A word is read whole or refused.  Each function returns true and sets *value,
 * or returns false, leaves *value alone and fills *error with one line that
 * shows the word (escaped) and the permitted range, and hints at the likely
 * intent where there is one ("did you mean 5%?").  Digits are decimal, a leading
 * zero means nothing; no sign, no blank, no hex, no group separators. */
#ifndef CLI_NUMBER_H
#define CLI_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_error {
	char text[240];
};

/* A whole number of things: 1000, 1e6, 1.5e6, 10k, 10M, 2G, 1T (decimal; k or K).
 * Exact: 1.5 is refused, 1.5e1 is 15.  minimum <= value <= maximum. */
bool number_count(const char *word, uint64_t minimum, uint64_t maximum, uint64_t *value,
		  struct number_error *error);

/* A probability, strictly between 0 and 1: 0.01, 1e-6, 1%, .5, 0.1%; correctly
 * rounded, so that 1% and 0.01 are the same double.  Refused where it is less than
 * the least normal double (2.2e-308), or rounds to 1. */
bool number_probability(const char *word, double *value, struct number_error *error);

/* A number of bits, 1..maximum: bits (48000000, 48e6), or a size with its unit:
 * B kB MB GB TB, KiB MiB GiB TiB, bit kbit Mbit Gbit Tbit, Kibit Mibit Gibit
 * Tibit (k, m, g, t in either case; B is a byte, b nothing).  A bare suffix, as in
 * 6M, is refused with a hint: 6MB or 6Mbit?  A fraction that does not give whole
 * bits is refused. */
bool number_bits(const char *word, uint64_t maximum, uint64_t *value, struct number_error *error);

/* A duration in nanoseconds, above 0: 90s 15min 24h 7d, 500ms; fractions
 * allowed (1.5h) and rounded down to the nanosecond, after their first 64 digits; no unit
 * is refused with a hint, as is m.  At most 100 years (36525d). */
bool number_duration(const char *word, uint64_t *value, struct number_error *error);

/* Seconds as a number alone (2, 0.5), or a duration as above, in nanoseconds; from
 * `minimum` to `maximum`, which are nanoseconds too, and whole milliseconds. */
bool number_seconds(const char *word, uint64_t minimum, uint64_t maximum, uint64_t *value,
		    struct number_error *error);

/* One byte: itself, or \t \n \r \0 \\ , for --delimiter. */
bool number_byte(const char *word, uint8_t *value, struct number_error *error);

/* The decimal text of the fewest digits that reads back as the same double
 * ("0.01", "1e-06"); whole numbers below 10^15 without an exponent ("1200000").
 * `out` holds at least 32 bytes. */
char *number_print(char out[32], double value);

/* 1234567 as "1,234,567" for tables that people read; bytes as "1.2 MB", "512 MB"
 * (decimal units, rounded to nearest, a decimal below 100).  `out` holds at least
 * 32 bytes. */
char *number_grouped(char out[32], uint64_t value);
char *number_size(char out[32], uint64_t bytes);

#endif
