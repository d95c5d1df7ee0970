/* Words of the command line beside slow and plain readings of them.
 *
 * The first byte of an input chooses the reader, the rest is the word.  The model reads a
 * number as a string of digits and moves the point along it. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "fuzz.h"
#include "number.h"

#define MOST_WORD 200
#define PLACES 1200 /* digits before the point, and as many after it */

const unsigned long fuzz_short = 200000;

/* -------------------------------------------------------------------- the model */

/* A number with its point in the middle: digits[PLACES] is the first after it. */
struct plain {
	uint8_t digits[2 * PLACES];
	bool beyond; /* digits that are not 0 lie outside, above or below */
	bool above;  /* above */
};

/* Reads digits, point and exponent; the rest of the word, NULL where there is no number. */
static const char *plain_read(const char *word, struct plain *plain)
{
	const char *at = word, *mantissa_end;
	long point = -1, digits = 0, exponent = 0, seen = 0;

	memset(plain, 0, sizeof *plain);
	for (; (*at >= '0' && *at <= '9') || (*at == '.' && point < 0); at++) {
		if (*at == '.')
			point = digits;
		else
			digits++;
	}
	/* A point without a digit after it is not part of a number. */
	if (digits == 0 || (point >= 0 && point == digits))
		return NULL;
	mantissa_end = at;
	if (point < 0)
		point = digits;
	if (*at == 'e' || *at == 'E') {
		int sign = at[1] == '-' ? -1 : 1;

		at += at[1] == '-' || at[1] == '+' ? 2 : 1;
		if (*at < '0' || *at > '9')
			return NULL;
		for (; *at >= '0' && *at <= '9'; at++)
			exponent = exponent < 100000 ? exponent * 10 + (*at - '0') : exponent;
		exponent *= sign;
	}
	for (const char *digit = word; digit < mantissa_end; digit++) {
		long place = PLACES - point - exponent + seen;

		if (*digit == '.')
			continue;
		seen++;
		if (*digit != '0' && (place < 0 || place >= 2 * PLACES)) {
			plain->beyond = true;
			plain->above |= place < 0;
		} else if (place >= 0 && place < 2 * PLACES) {
			plain->digits[place] = (uint8_t)(*digit - '0');
		}
	}
	return at;
}

static void plain_times(struct plain *plain, uint64_t factor)
{
	uint64_t carry = 0;

	for (size_t i = 2 * PLACES; i-- > 0;) {
		carry += plain->digits[i] * factor;
		plain->digits[i] = (uint8_t)(carry % 10);
		carry /= 10;
	}
	plain->above |= carry > 0;
}

/* The whole part: false where it is above the maximum.  *whole: nothing is after the
 * point. */
static bool plain_value(const struct plain *plain, uint64_t maximum, uint64_t *value, bool *whole)
{
	*value = 0;
	*whole = !plain->beyond;
	for (size_t i = 0; i < PLACES; i++) {
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, plain->digits[i], value))
			return false;
	}
	for (size_t i = PLACES; i < 2 * PLACES; i++)
		*whole = *whole && plain->digits[i] == 0;
	return !plain->above && *value <= maximum;
}

struct unit {
	const char *name;
	uint64_t factors[4]; /* 0 ends them */
};

static const struct unit counts[] = {
	{ "", { 1 } },        { "k", { 1000 } },       { "K", { 1000 } },
	{ "M", { 1000000 } }, { "G", { 1000000000 } }, { "T", { 1000000000, 1000 } },
	{ NULL, { 0 } },
};

static const struct unit durations[] = {
	{ "ms", { 1000000 } },          { "s", { 1000000000 } },
	{ "min", { 1000000000, 60 } },  { "h", { 1000000000, 3600 } },
	{ "d", { 1000000000, 86400 } }, { NULL, { 0 } },
};

static bool scale(struct plain *plain, const struct unit *units, const char *name)
{
	for (; units->name != NULL; units++) {
		if (strcmp(units->name, name) != 0)
			continue;
		for (size_t i = 0; i < 4 && units->factors[i] > 0; i++)
			plain_times(plain, units->factors[i]);
		return true;
	}
	return false;
}

/* B, kB, KiB, bit, kbit, Kibit and so on; the prefix in either case. */
static bool scale_bits(struct plain *plain, const char *name)
{
	static const char letters[] = "kmgt";
	const char *at = *name == '\0' ? NULL : strchr(letters, *name | 0x20);
	size_t power = at == NULL || *at == '\0' ? 0 : (size_t)(at - letters) + 1;
	bool binary = power > 0 && name[1] == 'i';
	const char *rest = name + (power > 0) + binary;

	if (*name == '\0')
		return true;
	if (strcmp(rest, "B") != 0 && strcmp(rest, "bit") != 0)
		return false;
	for (size_t i = 0; i < power; i++)
		plain_times(plain, binary ? 1024 : 1000);
	plain_times(plain, *rest == 'B' ? 8 : 1);
	return true;
}

/* -------------------------------------------------------------------- comparing */

static void check_error(const char *word, const struct number_error *error)
{
	fuzz_require(error->text[0] != '\0', "'%s' is refused without a word", word);
	for (const char *at = error->text; *at != '\0'; at++)
		fuzz_require((unsigned char)*at >= 0x20 && *at != 0x7f, "a control byte for '%s'",
			     word);
}

static void agree(const char *word, bool got, uint64_t value, bool wanted, uint64_t right,
		  const struct number_error *error)
{
	fuzz_require(got == wanted, "'%s': %s, should be %s", word, got ? "read" : error->text,
		     wanted ? "read" : "refused");
	if (got)
		fuzz_require(value == right, "'%s' is %llu, not %llu", word,
			     (unsigned long long)value, (unsigned long long)right);
	else
		check_error(word, error);
	fuzz_require(got || value == 77, "'%s' is refused, and the value changed", word);
}

static void check_count(const char *word, uint64_t minimum, uint64_t maximum)
{
	struct plain plain;
	struct number_error error = { "" };
	const char *rest = plain_read(word, &plain);
	uint64_t value = 77, right = 0;
	bool got = number_count(word, minimum, maximum, &value, &error), whole = false;
	bool wanted = rest != NULL && scale(&plain, counts, rest) &&
		      plain_value(&plain, maximum, &right, &whole) && whole && right >= minimum;

	agree(word, got, value, wanted, right, &error);
}

static void check_bits(const char *word, uint64_t maximum)
{
	struct plain plain;
	struct number_error error = { "" };
	const char *rest = plain_read(word, &plain);
	uint64_t value = 77, right = 0;
	bool got = number_bits(word, maximum, &value, &error), whole = false;
	bool wanted = rest != NULL && scale_bits(&plain, rest) &&
		      plain_value(&plain, maximum, &right, &whole) && whole && right >= 1;

	agree(word, got, value, wanted, right, &error);
}

static void check_duration(const char *word)
{
	const uint64_t hundred_years = UINT64_C(36525) * 86400 * 1000000000;
	struct plain plain;
	struct number_error error = { "" };
	const char *rest = plain_read(word, &plain);
	uint64_t value = 77, right = 0;
	bool got = number_duration(word, &value, &error), whole = false;
	bool wanted = rest != NULL && scale(&plain, durations, rest) &&
		      plain_value(&plain, hundred_years, &right, &whole) && right >= 1;

	/* Digits behind the 64th count for nothing: a nanosecond less, where they would. */
	if (wanted && got && value + 1 == right && strcspn(word, "eEmshd") > 64)
		return;
	/* Not a nanosecond more than a hundred years. */
	if (wanted && right == hundred_years && !whole)
		return;
	agree(word, got, value, wanted, right, &error);
}

/* The double nearest to the digits, by the C library, with the point where a percent
 * sign puts it. */
static void check_probability(const char *word)
{
	struct plain plain;
	struct number_error error = { "" };
	const char *rest = plain_read(word, &plain);
	bool percent = rest != NULL && strcmp(rest, "%") == 0;
	char text[2 * PLACES + 2];
	double value = 77, right = 0;
	bool got = number_probability(word, &value, &error), wanted;

	if (plain.beyond && !plain.above)
		return; /* far below what a double can be, or digits that hardly matter */
	memmove(text, plain.digits, PLACES - (percent ? 2 : 0));
	memmove(text + PLACES - (percent ? 2 : 0) + 1, plain.digits + PLACES - (percent ? 2 : 0),
		PLACES + (percent ? 2 : 0));
	for (size_t i = 0; i < 2 * PLACES + 1; i++)
		text[i] = (char)(text[i] + '0');
	text[PLACES - (percent ? 2 : 0)] = '.';
	text[2 * PLACES + 1] = '\0';
	if (rest != NULL && (percent || *rest == '\0') && !plain.above)
		right = strtod(text, NULL);
	wanted = right >= DBL_MIN && right < 1;
	fuzz_require(got == wanted, "'%s' (%g): %s", word, right, got ? "read" : error.text);
	fuzz_require(value == (got ? right : 77), "'%s' is %.17g, not %.17g", word, value, right);
	if (!got)
		check_error(word, &error);
}

static void check_byte(const char *word)
{
	static const char escapes[] = "t\tn\nr\r0\0\\\\";
	struct number_error error = { "" };
	uint8_t value = 77;
	bool got = number_byte(word, &value, &error), wanted = strlen(word) == 1;
	uint8_t right = (uint8_t)word[0];

	if (word[0] == '\\' && word[1] != '\0' && word[2] == '\0') {
		for (size_t i = 0; i + 1 < sizeof escapes; i += 2) {
			if (escapes[i] == word[1]) {
				wanted = true;
				right = (uint8_t)escapes[i + 1];
			}
		}
	}
	/* A lone backslash may be either. */
	if (strcmp(word, "\\") == 0)
		return;
	fuzz_require(got == wanted && value == (got ? right : 77), "'%s': %d, %u", word, got,
		     value);
	if (!got)
		check_error(word, &error);
}

/* The shortest text that is the same number. */
static void check_print(uint64_t bits)
{
	char text[32], shorter[40];
	double value, digits = 0;

	memcpy(&value, &bits, sizeof value);
	if (!isfinite(value))
		return;
	number_print(text, value);
	fuzz_require(strtod(text, NULL) == value, "%.17g is shown as %s", value, text);
	if (strchr(text, 'e') == NULL)
		return;
	for (const char *at = text; *at != 'e'; at++)
		digits += *at >= '0' && *at <= '9';
	if (digits > 1) {
		snprintf(shorter, sizeof shorter, "%.*e", (int)digits - 2, value);
		fuzz_require(strtod(shorter, NULL) != value, "%s would do for %s", shorter, text);
	}
}

/* ------------------------------------------------------------------------ fields */

/* Marks fields 1 to 63 that a LIST names; false where it is none.  *open is the first of
 * those that go on for ever, or 0. */
static bool plain_list(const char *word, bool named[64], uint64_t *open, uint64_t *highest)
{
	const char *at = word;

	*open = *highest = 0;
	do {
		uint64_t ends[2] = { 0, 0 };
		bool given[2] = { false, false }, dash = false;

		for (int side = 0; side < 2; side++) {
			for (; *at >= '0' && *at <= '9'; at++, given[side] = true) {
				if (__builtin_mul_overflow(ends[side], 10, &ends[side]) ||
				    __builtin_add_overflow(ends[side], (uint64_t)(*at - '0'),
							   &ends[side]) ||
				    ends[side] == UINT64_MAX)
					return false;
			}
			if (side == 0 && *at == '-') {
				dash = true;
				at++;
			} else if (side == 0) {
				break;
			}
		}
		if ((!given[0] && !given[1]) || (given[0] && ends[0] == 0) ||
		    (given[1] && ends[1] == 0))
			return false;
		if (!given[0])
			ends[0] = 1;
		if (!dash)
			ends[1] = ends[0];
		else if (!given[1])
			ends[1] = UINT64_MAX;
		if (ends[1] < ends[0])
			return false;
		for (uint64_t i = ends[0]; i <= ends[1] && i < 64; i++)
			named[i] = true;
		if (ends[1] == UINT64_MAX && (*open == 0 || ends[0] < *open))
			*open = ends[0];
		*highest = ends[0] > *highest ? ends[0] : *highest;
		if (ends[1] != UINT64_MAX && ends[1] > *highest)
			*highest = ends[1];
	} while (*at++ == ',');
	return at[-1] == '\0';
}

static void check_list(const char *word)
{
	static struct field_list list;
	struct number_error error = { "" };
	bool named[64] = { false }, listed[64] = { false };
	uint64_t open, highest;
	bool wanted = plain_list(word, named, &open, &highest);
	bool got = field_parse(word, &list, &error);

	fuzz_require(got == wanted, "'%s': %s", word, got ? "read" : error.text);
	if (!got) {
		check_error(word, &error);
		return;
	}
	fuzz_require(list.needed == highest, "'%s' needs %llu", word,
		     (unsigned long long)list.needed);
	for (size_t i = 0; i < list.count; i++) {
		fuzz_require(list.ranges[i].first <= list.ranges[i].last, "range %zu", i);
		fuzz_require(i == 0 || list.ranges[i - 1].last + 1 < list.ranges[i].first,
			     "'%s': ranges %zu and the one before", word, i);
		for (uint64_t f = list.ranges[i].first; f <= list.ranges[i].last && f < 64; f++)
			listed[f] = true;
	}
	fuzz_require((list.ranges[list.count - 1].last == UINT64_MAX) == (open > 0), "'%s'", word);
	fuzz_require(memcmp(named, listed, sizeof named) == 0, "'%s'", word);
}

/* ------------------------------------------------------------------------- inputs */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t limits[] = { 1, 255, 1000000, INT64_MAX, UINT64_MAX };
	struct fuzz_bytes bytes = { data, data + size };
	uint8_t way = fuzz_byte(&bytes);
	uint64_t limit = limits[way / 8 % 5];
	char word[MOST_WORD + 1];
	size_t length = (size_t)(bytes.end - bytes.at);

	length = length > MOST_WORD ? MOST_WORD : length;
	memcpy(word, bytes.at, length);
	word[length] = '\0';
	switch (way % 8) {
	case 0:
	case 1:
		check_count(word, way % 2, limit);
		break;
	case 2:
		check_bits(word, limit);
		break;
	case 3:
		check_probability(word);
		break;
	case 4:
		check_duration(word);
		break;
	case 5:
		check_byte(word);
		break;
	case 6:
		check_list(word);
		break;
	default:
		check_print(fuzz_u64(&bytes));
	}
	return 0;
}

void fuzz_seeds(fuzz_sink *sink, void *context)
{
	static const char *const words[] = {
		"0",
		"1",
		"1000",
		"1e6",
		"1.5e6",
		"10k",
		"10M",
		"2G",
		"1T",
		"18446744073709551615",
		"18446744073709551616",
		"9223372036854775807",
		"1.5",
		"1.50",
		"0.5k",
		"00012",
		"1e400",
		"1e-400",
		"3x2",
		"",
		"-1",
		"+1",
		"nan",
		"inf",
		"0x10",
		"1,000",
		"1_0",
		" 1",
		"1 ",
		".5",
		"5.",
		".",
		"e6",
		"1e",
		"1e+",
		"1e-0",
		"1E3",
		"6MB",
		"6MiB",
		"6Mbit",
		"6M",
		"48e6",
		"1B",
		"0.125B",
		"0.1B",
		"1.00000000000000000000000000000000000000000000001kB",
		"1TiB",
		"0.00000000000011368683772161602973937988281250TiB",
		"1Kibit",
		"1kib",
		"1b",
		"0.01",
		"1e-6",
		"1%",
		"0.1%",
		"100%",
		"99.99999999999999999999%",
		"0.7%",
		"50%%",
		"2.3e-308",
		"2.2e-308",
		"0.99999999999999999",
		"0.9999999999999999",
		"1e-320%",
		"90s",
		"15min",
		"24h",
		"7d",
		"500ms",
		"1.5h",
		"0.0000000001s",
		"36525d",
		"36526d",
		"36525.0000000000001d",
		"5",
		"5m",
		"5S",
		"\\t",
		"\\0",
		"\\\\",
		"\\x",
		",",
		"\t",
		"\xff",
		"\xc3\xa9",
		"2",
		"1,3",
		"2-4",
		"4-",
		"-3",
		"3-2",
		"1,,2",
		"0",
		"0-3",
		"1-0",
		"-",
		"1--2",
		"18446744073709551614",
		"5-7,1-2,6-9,3",
		"2-,1",
		"1-1,2-2",
		"63-,62",
		/* More digits than are kept. */
		"222.9222222222222222222222222222222222222222222222222222222222222232222222d",
		"1.0000000000000000000000000000000000000000000000000000000000000000000000100",
		"10000000000000000000000000000000000000000000000000000000000000000000000000e-73",
		"10000000000000000000000000000000000000000000000000000000000000000000010000e-73",
		"0.000000000000000000000000000000000000000000000000000000000000000000000010",
	};
	char input[MOST_WORD];

	for (int way = 0; way < 40; way++) {
		for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
			int length = snprintf(input, sizeof input, "%c%s", way, words[i]);

			input[0] = (char)way;
			sink(context, input, (size_t)length);
		}
	}
}
