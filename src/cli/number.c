#include "number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "message.h"

/* Digits kept of a number.  Where more than these matter, the number has more than
 * 20 places before the point or more than 43 after it: it is too large for 64 bits,
 * or a fraction of a bit in every unit there is (a TiB has 2^43 bits).  Of durations,
 * which are rounded down, the digits behind these can be worth a nanosecond. */
#define DIGITS 64
#define DIGITS_OF_UNIT 24
#define EXPONENT_LIMIT 1000000000
#define HUNDRED_YEARS (UINT64_C(36525) * 86400 * 1000000000)
#define WORD_SHOWN 64

/* digits[0] .. digits[count - 1] as a whole number, times 10^exponent. */
struct decimal {
	uint8_t digits[DIGITS + DIGITS_OF_UNIT]; /* the first is not 0 */
	size_t count;
	int64_t exponent;
	bool more;       /* digits after these were dropped, and not all were 0 */
	size_t mantissa; /* bytes of the word before its exponent */
	int64_t written; /* the exponent of the word, 0 where it has none */
};

enum wholeness { WHOLE, FRACTION, ABOVE };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void append_digit(struct decimal *number, char digit, bool after_point)
{
	if (after_point)
		number->exponent--;
	if (number->count == 0 && digit == '0')
		return;
	if (number->count < DIGITS) {
		number->digits[number->count++] = (uint8_t)(digit - '0');
	} else {
		number->exponent++;
		number->more |= digit != '0';
	}
}

/* Reads "e6", "E-6", or nothing; returns the rest, NULL where an e has no number. */
static const char *read_exponent(const char *at, struct decimal *number)
{
	bool negative;

	if (*at != 'e' && *at != 'E')
		return at;
	at++;
	negative = *at == '-';
	if (*at == '-' || *at == '+')
		at++;
	if (!is_digit(*at))
		return NULL;
	for (; is_digit(*at); at++)
		if (number->written < EXPONENT_LIMIT)
			number->written = number->written * 10 + (*at - '0');
	if (negative)
		number->written = -number->written;
	return at;
}

/* Reads the number that the word begins with; returns the rest of the word, or NULL
 * where no number, or a half one (1. 1e), stands there. */
static const char *read_decimal(const char *word, struct decimal *number)
{
	const char *at;
	bool after_point = false;

	*number = (struct decimal){ 0 };
	for (at = word; is_digit(*at) || (*at == '.' && !after_point); at++) {
		if (is_digit(*at)) {
			append_digit(number, *at, after_point);
		} else if (is_digit(at[1])) {
			after_point = true;
		} else {
			return NULL;
		}
	}
	if (at == word)
		return NULL;
	number->mantissa = (size_t)(at - word);
	at = read_exponent(at, number);
	number->exponent += number->written;
	return at;
}

/* The product of all factors for one number has less than DIGITS_OF_UNIT digits. */
static void multiply(struct decimal *number, unsigned factor)
{
	unsigned carry = 0;

	for (size_t i = number->count; i-- > 0;) {
		carry += number->digits[i] * factor;
		number->digits[i] = (uint8_t)(carry % 10);
		carry /= 10;
	}
	for (; carry > 0; carry /= 10) {
		memmove(number->digits + 1, number->digits, number->count++);
		number->digits[0] = (uint8_t)(carry % 10);
	}
}

/* The number rounded down to a whole one; *value is set unless that is ABOVE. */
static enum wholeness whole_part(struct decimal *number, uint64_t maximum, uint64_t *value)
{
	uint64_t whole = 0;
	int64_t places;

	while (number->count > 0 && number->digits[number->count - 1] == 0) {
		number->count--;
		number->exponent++;
	}
	places = number->count > 0 ? (int64_t)number->count + number->exponent : 0;
	if (places > 20) /* 2^64 has 20 */
		return ABOVE;
	for (int64_t i = 0; i < places; i++) {
		uint64_t digit = (size_t)i < number->count ? number->digits[i] : 0;

		if (digit > maximum || whole > (maximum - digit) / 10)
			return ABOVE;
		whole = whole * 10 + digit;
	}
	*value = whole;
	return number->count > 0 && (number->exponent < 0 || number->more) ? FRACTION : WHOLE;
}

static char *show(char shown[WORD_SHOWN], const char *word)
{
	return message_escape(shown, WORD_SHOWN, word, strlen(word));
}

/* ------------------------------------------------------------------- count */

static bool scale_count(const char *suffix, struct decimal *number)
{
	static const struct {
		const char *suffix;
		int exponent;
	} suffixes[] = { { "", 0 }, { "k", 3 }, { "K", 3 }, { "M", 6 }, { "G", 9 }, { "T", 12 } };

	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		if (strcmp(suffix, suffixes[i].suffix) == 0) {
			number->exponent += suffixes[i].exponent;
			return true;
		}
	}
	return false;
}

static bool read_count(const char *word, uint64_t minimum, uint64_t maximum, uint64_t *value)
{
	struct decimal number;
	const char *rest = read_decimal(word, &number);
	uint64_t result;

	if (rest == NULL || !scale_count(rest, &number) ||
	    whole_part(&number, maximum, &result) != WHOLE || result < minimum)
		return false;
	*value = result;
	return true;
}

/* "1,000" and "1_000": a mark before three digits and no more. */
static bool splits_thousands(const char *word, const char *at)
{
	return (*at == ',' || *at == '_') && at > word && is_digit(at[-1]) &&
	       strspn(at + 1, "0123456789") == 3;
}

/* What a word may have been meant for: digits without marks between them, a suffix in
 * capitals and without a unit. */
static void mend_count(char mended[WORD_SHOWN], const char *word)
{
	size_t length = 0;

	for (const char *at = word; *at != '\0' && length < WORD_SHOWN - 1; at++) {
		if (!splits_thousands(word, at))
			mended[length++] = *at;
	}
	if (length > 2 && (mended[length - 1] | 32) == 'b' && !is_digit(mended[length - 2]))
		length--;
	mended[length] = '\0';
	if (length > 1 && strchr("mgt", mended[length - 1]) != NULL)
		mended[length - 1] ^= 32;
}

bool number_count(const char *word, uint64_t minimum, uint64_t maximum, uint64_t *value,
		  struct number_error *error)
{
	char shown[WORD_SHOWN], mended[WORD_SHOWN], hint[WORD_SHOWN + 24] = "";
	uint64_t meant;

	if (read_count(word, minimum, maximum, value))
		return true;
	mend_count(mended, word);
	if (strlen(word) < WORD_SHOWN && read_count(mended, minimum, maximum, &meant))
		snprintf(hint, sizeof hint, "; did you mean %s?", mended);
	else if (maximum >= 1000000)
		snprintf(hint, sizeof hint, " (1000, 1e6, 10k, 10M, 2G)");
	snprintf(error->text, sizeof error->text, "'%s' is not a whole number from %llu to %llu%s",
		 show(shown, word), (unsigned long long)minimum, (unsigned long long)maximum, hint);
	return false;
}

/* ------------------------------------------------------------- probability */

struct fraction {
	double value;
	bool percent;   /* written so */
	bool below_one; /* the number written, whatever it was rounded to */
	bool above_zero;
};

/* Reads the word as a double; false where it is no number, with or without a
 * percent sign.  That is taken off the exponent before the one rounding there is:
 * as a quotient, 0.7% would be another number than 0.007. */
static bool read_fraction(const char *word, struct fraction *fraction)
{
	char text[1024];
	struct decimal number;
	const char *rest = read_decimal(word, &number);
	int64_t shift;

	if (rest == NULL || number.mantissa > sizeof text - 32)
		return false;
	fraction->percent = strcmp(rest, "%") == 0;
	if (*rest != '\0' && !fraction->percent)
		return false;
	shift = fraction->percent ? -2 : 0;
	snprintf(text, sizeof text, "%.*se%lld", (int)number.mantissa, word,
		 (long long)(number.written + shift));
	fraction->value = strtod(text, NULL);
	fraction->above_zero = number.count > 0;
	fraction->below_one = (int64_t)number.count + number.exponent + shift <= 0;
	return true;
}

/* "1,5%", as it is written in many countries. */
static bool mend_point(char mended[WORD_SHOWN], const char *word)
{
	struct fraction fraction;
	char *comma;

	if (strlen(word) >= WORD_SHOWN)
		return false;
	strcpy(mended, word);
	comma = strchr(mended, ',');
	if (comma == NULL)
		return false;
	*comma = '.';
	return read_fraction(mended, &fraction) && fraction.value >= DBL_MIN && fraction.value < 1;
}

bool number_probability(const char *word, double *value, struct number_error *error)
{
	struct fraction fraction = { 0 };
	bool number = read_fraction(word, &fraction);
	const char *fault = "is not a probability", *hint = " (0.01, 1e-6, 1%)";
	char shown[WORD_SHOWN], mended[WORD_SHOWN], meant[WORD_SHOWN + 32];

	if (number && fraction.value >= DBL_MIN && fraction.value < 1) {
		*value = fraction.value;
		return true;
	}
	show(shown, word);
	if (fraction.above_zero && fraction.value < DBL_MIN) {
		fault = "is too small for a probability";
		hint = ", at least 2.3e-308";
	} else if (fraction.above_zero && fraction.below_one) {
		fault = "is too close to 1 for a probability";
		hint = "";
	} else if (number && !fraction.percent && fraction.value >= 1 && fraction.value < 100) {
		snprintf(meant, sizeof meant, "; did you mean %s%%?", shown);
		hint = meant;
	} else if (mend_point(mended, word)) {
		snprintf(meant, sizeof meant, "; did you mean %s?", mended);
		hint = meant;
	}
	snprintf(error->text, sizeof error->text, "'%s' %s strictly between 0 and 1%s", shown,
		 fault, hint);
	return false;
}

/* -------------------------------------------------------------------- bits */

/* The letter's place in "kmgt", from 1; 0 where it is none of them. */
static unsigned prefix_power(char letter)
{
	static const char prefixes[] = "kmgtKMGT";
	const char *at = letter != '\0' ? strchr(prefixes, letter) : NULL;

	return at != NULL ? (unsigned)(at - prefixes) % 4 + 1 : 0;
}

/* Turns the number into bits; false where the unit is none. */
static bool scale_bits(const char *unit, struct decimal *number)
{
	unsigned power = prefix_power(*unit);
	bool binary = power > 0 && unit[1] == 'i';

	if (*unit == '\0')
		return true;
	unit += (power > 0) + binary;
	if (strcmp(unit, "B") == 0)
		multiply(number, 8);
	else if (strcmp(unit, "bit") != 0)
		return false;
	if (!binary)
		number->exponent += 3 * power;
	for (; binary && power > 0; power--)
		multiply(number, 1024);
	return true;
}

/* Whether the unit lacks no more than the word that says bits or bytes; *length is
 * that of its prefix. */
static bool lacks_unit(const char *unit, size_t *length)
{
	bool prefix = prefix_power(*unit) > 0;

	*length = prefix ? 1u + (unit[1] == 'i') : 0;
	unit += *length;
	return strcmp(unit, "b") == 0 || (prefix && *unit == '\0');
}

bool number_bits(const char *word, uint64_t maximum, uint64_t *value, struct number_error *error)
{
	struct decimal number;
	const char *unit = read_decimal(word, &number);
	char shown[WORD_SHOWN], hint[2 * WORD_SHOWN] = "";
	size_t prefix;
	uint64_t result;

	if (unit != NULL && scale_bits(unit, &number) &&
	    whole_part(&number, maximum, &result) == WHOLE && result > 0) {
		*value = result;
		return true;
	}
	show(shown, word);
	if (unit != NULL && lacks_unit(unit, &prefix) && strlen(word) < WORD_SHOWN / 2) {
		int stem = (int)(unit - word) + (int)prefix;

		snprintf(hint, sizeof hint, "; did you mean %.*sB or %.*sbit?", stem, word, stem,
			 word);
	} else {
		snprintf(hint, sizeof hint, " (48000000, 48e6, 6MB, 6MiB, 48Mbit)");
	}
	snprintf(error->text, sizeof error->text, "'%s' is not a size from 1 to %llu bits%s", shown,
		 (unsigned long long)maximum, hint);
	return false;
}

/* ---------------------------------------------------------------- duration */

static bool scale_duration(const char *unit, struct decimal *number)
{
	static const struct {
		const char *unit;
		unsigned factor;
		int exponent; /* of ten, in nanoseconds */
	} units[] = {
		{ "ms", 1, 6 }, { "s", 1, 9 }, { "min", 6, 10 }, { "h", 36, 11 }, { "d", 864, 11 },
	};

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (strcmp(unit, units[i].unit) == 0) {
			multiply(number, units[i].factor);
			number->exponent += units[i].exponent;
			return true;
		}
	}
	return false;
}

/* Reads a duration up to a hundred years; unit where there is none is `bare`, NULL for
 * not at all.  Sets *unit to what stands behind the number. */
static bool read_duration(const char *word, const char *bare, const char **unit, uint64_t *value)
{
	struct decimal number;
	enum wholeness wholeness;

	*unit = read_decimal(word, &number);
	if (*unit == NULL ||
	    !scale_duration(**unit == '\0' && bare != NULL ? bare : *unit, &number))
		return false;
	wholeness = whole_part(&number, HUNDRED_YEARS, value);
	return wholeness != ABOVE && *value > 0 &&
	       !(wholeness == FRACTION && *value == HUNDRED_YEARS);
}

bool number_duration(const char *word, uint64_t *value, struct number_error *error)
{
	char shown[WORD_SHOWN], hint[2 * WORD_SHOWN];
	const char *unit;
	uint64_t result;

	if (read_duration(word, NULL, &unit, &result)) {
		*value = result;
		return true;
	}
	show(shown, word);
	if (unit != NULL && (*unit == '\0' || strcmp(unit, "m") == 0))
		snprintf(hint, sizeof hint, "; did you mean %s%s?", shown,
			 *unit != '\0' ? "in" : "s");
	else
		snprintf(hint, sizeof hint, " (500ms, 90s, 15min, 24h, 7d)");
	snprintf(error->text, sizeof error->text,
		 "'%s' is not a duration above 0 and up to 36525d%s", shown, hint);
	return false;
}

bool number_seconds(const char *word, uint64_t minimum, uint64_t maximum, uint64_t *value,
		    struct number_error *error)
{
	char shown[WORD_SHOWN], least[32], most[32];
	const char *unit;
	uint64_t result;

	if (read_duration(word, "s", &unit, &result) && result >= minimum && result <= maximum) {
		*value = result;
		return true;
	}
	show(shown, word);
	snprintf(error->text, sizeof error->text,
		 "'%s' is not a time from %s to %s seconds (2, 0.5, 500ms, 1min)", shown,
		 number_print(least, (double)minimum / 1e9),
		 number_print(most, (double)maximum / 1e9));
	return false;
}

/* -------------------------------------------------------------------- byte */

bool number_byte(const char *word, uint8_t *value, struct number_error *error)
{
	static const char escapes[] = { 't', '\t', 'n', '\n', 'r', '\r', '0', '\0', '\\', '\\' };
	char shown[WORD_SHOWN];

	if (strlen(word) == 1) {
		*value = (uint8_t)word[0];
		return true;
	}
	for (size_t i = 0; i < sizeof escapes; i += 2) {
		if (word[0] == '\\' && word[1] == escapes[i] && word[2] == '\0') {
			*value = (uint8_t)escapes[i + 1];
			return true;
		}
	}
	snprintf(error->text, sizeof error->text,
		 strcasecmp(word, "tab") == 0 ?
			 "'%s' is not one byte; did you mean \\t?" :
			 "'%s' is not one byte (itself, or \\t, \\n, \\r, \\0, \\\\)",
		 show(shown, word));
	return false;
}

/* ---------------------------------------------------------------- printing */

char *number_print(char out[32], double value)
{
	if (fabs(value) < 1e15 && value == (double)(int64_t)value) {
		snprintf(out, 32, "%lld", (long long)value);
		return out;
	}
	for (int digits = 1; digits <= DBL_DECIMAL_DIG; digits++) {
		snprintf(out, 32, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			break;
	}
	return out;
}

char *number_grouped(char out[32], uint64_t value)
{
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = '\0';
	return out;
}

/* value / divisor, halves up; no sum that could overflow. */
static uint64_t divide_rounded(uint64_t value, uint64_t divisor)
{
	return value / divisor + (value % divisor >= divisor - divisor / 2);
}

char *number_size(char out[32], uint64_t bytes)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB", "PB", "EB" };
	uint64_t unit = 1000;
	size_t i = 0;

	if (bytes < 1000) {
		snprintf(out, 32, "%llu B", (unsigned long long)bytes);
		return out;
	}
	/* 999.5 kB and more would round to 1000 kB: that is 1.0 MB. */
	for (; i + 1 < sizeof units / sizeof units[0] && divide_rounded(bytes, unit) >= 1000; i++)
		unit *= 1000;
	if (divide_rounded(bytes, unit / 10) < 1000)
		snprintf(out, 32, "%llu.%llu %s",
			 (unsigned long long)(divide_rounded(bytes, unit / 10) / 10),
			 (unsigned long long)(divide_rounded(bytes, unit / 10) % 10), units[i]);
	else
		snprintf(out, 32, "%llu %s", (unsigned long long)divide_rounded(bytes, unit),
			 units[i]);
	return out;
}
