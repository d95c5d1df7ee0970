/* Words of the command line, and numbers in print. */
#include "duration.h"
#include "number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define COUNT_LIMIT UINT64_C(1000000000000000000)
#define UNTOUCHED UINT64_C(0x5eed5eed5eed5eed)

/* ------------------------------------------------------------------- count */

static void assert_count(const char *word, uint64_t expected)
{
	struct number_error error = { "" };
	uint64_t value = UNTOUCHED;

	if (!number_count(word, 0, UINT64_MAX, &value, &error))
		fail_msg("'%s' refused: %s", word, error.text);
	if (value != expected)
		fail_msg("'%s' gave %llu", word, (unsigned long long)value);
}

static void assert_no_count(const char *word, uint64_t minimum, uint64_t maximum, const char *text)
{
	struct number_error error = { "" };
	uint64_t value = UNTOUCHED;

	if (number_count(word, minimum, maximum, &value, &error))
		fail_msg("'%s' gave %llu", word, (unsigned long long)value);
	assert_true(value == UNTOUCHED);
	assert_string_equal(error.text, text);
}

static void count__every_form__is_exact(void **state)
{
	(void)state;
	assert_count("1000", 1000);
	assert_count("0", 0);
	assert_count("1e6", 1000000);
	assert_count("1E6", 1000000);
	assert_count("1e+6", 1000000);
	assert_count("1.5e6", 1500000);
	assert_count("1.5e1", 15);
	assert_count("1500e-2", 15);
	assert_count("10k", 10000);
	assert_count("10K", 10000);
	assert_count("10M", 10000000);
	assert_count("1.5M", 1500000);
	assert_count(".5k", 500);
	assert_count("2G", 2000000000);
	assert_count("1T", 1000000000000);
	assert_count("1.000", 1);
	assert_count("123456789012345678", 123456789012345678);
	assert_count("9007199254740993", 9007199254740993); /* 2^53 + 1: no double */
	assert_count("9.007199254740993e15", 9007199254740993);
	assert_count("18446744073709551615", UINT64_MAX);
	assert_count("1.8446744073709551615e19", UINT64_MAX);
}

static void count__leading_zeros__mean_nothing(void **state)
{
	(void)state;
	assert_count("0100", 100);
	assert_count("08", 8);
	assert_count("0000000000000000000000000000000000000000000000000000000000000000000000000"
		     "00000000000000001",
		     1);
	assert_count("0e999999999999999999999", 0);
	assert_count("0.000000000000000000000000000000000000000000000000000000000000000000000000"
		     "0000001e79",
		     1);
}

static void count__faulty_words__refused_whole(void **state)
{
	static const char *const words[] = {
		"",      "3x2",   "1e400",   "18446744073709551616",
		"0x10",  "1e",    "1_00",    "1,0000",
		"+5",    " 5",    "5 ",      "-1",
		"nan",   "inf",   "1.5",     "1e-1",
		"1.",    ".",     "1..5",    "1.2.",
		"k",     "10Mi",  "10MiB",   "m",
		"10kk",  "=1000", "1e+",     "e6",
		"1000x", "1e6x",  "2^10",    "1e99999999999999999999",
		"1.1e0", "1e19T", "0.0001k", "\xd9\xa1", /* an Arabic digit */
	};
	char expected[240];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		snprintf(expected, sizeof expected,
			 "'%s' is not a whole number from 0 to 18446744073709551615 "
			 "(1000, 1e6, 10k, 10M, 2G)",
			 words[i]);
		assert_no_count(words[i], 0, UINT64_MAX, expected);
	}
}

static void count__meant_otherwise__hinted(void **state)
{
	static const char *const cases[][2] = {
		{ "1,000", "1000" },   { "1,234,567", "1234567" }, { "1_000", "1000" },
		{ "1_000k", "1000k" }, { "10m", "10M" },           { "2g", "2G" },
		{ "1.5t", "1.5T" },    { "10MB", "10M" },          { "10mb", "10M" },
		{ "5kB", "5k" },       { "1,000mB", "1000M" },
	};
	char expected[240];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		snprintf(expected, sizeof expected,
			 "'%s' is not a whole number from 1 to 1000000000000000000; "
			 "did you mean %s?",
			 cases[i][0], cases[i][1]);
		assert_no_count(cases[i][0], 1, COUNT_LIMIT, expected);
	}
	assert_no_count("1,000", 1, 255, "'1,000' is not a whole number from 1 to 255");
	assert_no_count("0,000", 1, 255, "'0,000' is not a whole number from 1 to 255");
	/* Longer than what is kept of it, it might come out as another number. */
	assert_no_count("100000000000000000000000000000000000000000000000000000000000000,000e-60",
			1, 255,
			"'100000000000000000000000000000000000000000000000000000000000...' is "
			"not a whole number from 1 to 255");
}

static void count__faulty_word__named_with_the_range(void **state)
{
	(void)state;
	assert_no_count("3x2", 1, COUNT_LIMIT,
			"'3x2' is not a whole number from 1 to 1000000000000000000 "
			"(1000, 1e6, 10k, 10M, 2G)");
	assert_no_count("1000\r", 1, 255, "'1000\\r' is not a whole number from 1 to 255");
	assert_no_count("1\033[2J", 1, 255, "'1\\033[2J' is not a whole number from 1 to 255");
	assert_no_count("0", 1, 255, "'0' is not a whole number from 1 to 255");
	assert_no_count("256", 1, 255, "'256' is not a whole number from 1 to 255");
	assert_no_count("9", 0, 8, "'9' is not a whole number from 0 to 8");
	assert_no_count("1", 0, 0, "'1' is not a whole number from 0 to 0");
	assert_no_count("1000000000000000001", 1, COUNT_LIMIT,
			"'1000000000000000001' is not a whole number from 1 to "
			"1000000000000000000 (1000, 1e6, 10k, 10M, 2G)");
}

static void count__very_long_word__cut_in_the_message(void **state)
{
	struct number_error error = { "" };
	uint64_t value = UNTOUCHED;
	char *word = malloc(100001);

	(void)state;
	assert_non_null(word);
	memset(word, '9', 100000);
	word[100000] = '\0';
	assert_false(number_count(word, 1, COUNT_LIMIT, &value, &error));
	assert_non_null(strstr(error.text, "9...' is not a whole number from 1 to 1000000000"));
	memset(word, '0', 100000);
	word[1] = '.';
	word[99999] = '1';
	assert_false(number_count(word, 1, COUNT_LIMIT, &value, &error));
	assert_true(value == UNTOUCHED);
	free(word);
}

static void count__range_met_exactly__accepted(void **state)
{
	struct number_error error;
	uint64_t value = 0;

	(void)state;
	assert_true(number_count("255", 1, 255, &value, &error));
	assert_int_equal(value, 255);
	assert_true(number_count("1", 1, 255, &value, &error));
	assert_int_equal(value, 1);
	assert_true(number_count("0", 0, 0, &value, &error));
	assert_int_equal(value, 0);
}

static void count__random_numbers_in_many_forms__read_back(void **state)
{
	struct dice dice = { 20 };

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t number = dice_next(&dice) >> dice_below(&dice, 64);
		char digits[32], word[64];
		size_t length, cut;

		snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
		length = strlen(digits);
		cut = dice_below(&dice, length) + 1;
		if (cut < length)
			snprintf(word, sizeof word, "%.*s.%se%zu", (int)cut, digits, digits + cut,
				 length - cut);
		else
			snprintf(word, sizeof word, "%s0.00e-1", digits);
		assert_count(word, number);
	}
}

/* ------------------------------------------------------------- probability */

static void assert_probability(const char *word, double expected)
{
	struct number_error error = { "" };
	double value = -1;

	if (!number_probability(word, &value, &error))
		fail_msg("'%s' refused: %s", word, error.text);
	if (value != expected)
		fail_msg("'%s' gave %.17g", word, value);
}

static void assert_no_probability(const char *word, const char *text)
{
	struct number_error error = { "" };
	double value = -1;

	if (number_probability(word, &value, &error))
		fail_msg("'%s' gave %.17g", word, value);
	assert_true(value == -1);
	assert_string_equal(error.text, text);
}

static void probability__every_form__correctly_rounded(void **state)
{
	(void)state;
	assert_probability("0.01", 0.01);
	assert_probability("1e-6", 1e-6);
	assert_probability("1E-06", 1e-6);
	assert_probability(".5", 0.5);
	assert_probability("00.25", 0.25);
	assert_probability("1%", 0.01);
	assert_probability("0.1%", 0.001);
	assert_probability("7%", 0.07); /* 7.0 / 100 is 0.07 as well, 0.07 * 100 is not 7 */
	assert_probability("0.7%", 0.007);
	assert_probability("1e-3%", 1e-5);
	assert_probability("99.9%", 0.999);
	assert_probability("1e-300", 1e-300);
	assert_probability("2.2250738585072014e-308", DBL_MIN);
	assert_probability("0.99999999999999988897769753748434595763683319091796875",
			   1 - DBL_EPSILON / 2);
}

static void probability__every_percentage__equals_its_fraction(void **state)
{
	(void)state;
	for (int i = 1; i < 100000; i++) {
		char percent[32], fraction[32];

		snprintf(percent, sizeof percent, "%d.%03d%%", i / 1000, i % 1000);
		snprintf(fraction, sizeof fraction, "0.%05d", i);
		assert_probability(percent, strtod(fraction, NULL));
	}
}

static void probability__faulty_words__refused_whole(void **state)
{
	static const char *const words[] = {
		"",       "0",        "0.0",   "0%",    "-0.01",
		"+0.01",  " 0.5",     "0.5 ",  "nan",   "inf",
		"0x1p-3", "1e",       "0,0,1", "1/100", "100%",
		"150%",   "1e400",    "100",   "0.5%%", "%",
		"0.01p",  "1e-400%x", ".",     "5.",    "0e-999999999999999999999",
	};
	char expected[240];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		snprintf(expected, sizeof expected,
			 "'%s' is not a probability strictly between 0 and 1 (0.01, 1e-6, 1%%)",
			 words[i]);
		assert_no_probability(words[i], expected);
	}
}

static void probability__meant_as_percentage__hinted(void **state)
{
	(void)state;
	assert_no_probability("5", "'5' is not a probability strictly between 0 and 1; "
				   "did you mean 5%?");
	assert_no_probability("1", "'1' is not a probability strictly between 0 and 1; "
				   "did you mean 1%?");
	assert_no_probability("99.5", "'99.5' is not a probability strictly between 0 and 1; "
				      "did you mean 99.5%?");
}

static void probability__decimal_comma__hinted(void **state)
{
	(void)state;
	assert_no_probability("0,01", "'0,01' is not a probability strictly between 0 and 1; "
				      "did you mean 0.01?");
	assert_no_probability("1,5%", "'1,5%' is not a probability strictly between 0 and 1; "
				      "did you mean 1.5%?");
	assert_no_probability("150,5%", "'150,5%' is not a probability strictly between 0 and 1 "
					"(0.01, 1e-6, 1%)");
}

static void probability__that_would_round_to_0_or_1__refused_as_such(void **state)
{
	(void)state;
	assert_no_probability("1e-400", "'1e-400' is too small for a probability strictly "
					"between 0 and 1, at least 2.3e-308");
	assert_no_probability("1e-310", "'1e-310' is too small for a probability strictly "
					"between 0 and 1, at least 2.3e-308");
	assert_no_probability("1e-99999999999999999999%",
			      "'1e-99999999999999999999%' is too small for a probability "
			      "strictly between 0 and 1, at least 2.3e-308");
	assert_no_probability("0.99999999999999999999",
			      "'0.99999999999999999999' is too close to 1 for a probability "
			      "strictly between 0 and 1");
}

/* -------------------------------------------------------------------- bits */

static void assert_bits(const char *word, uint64_t expected)
{
	struct number_error error = { "" };
	uint64_t value = UNTOUCHED;

	if (!number_bits(word, INT64_MAX, &value, &error))
		fail_msg("'%s' refused: %s", word, error.text);
	if (value != expected)
		fail_msg("'%s' gave %llu", word, (unsigned long long)value);
}

static void assert_no_bits(const char *word, const char *hint)
{
	struct number_error error = { "" };
	uint64_t value = UNTOUCHED;
	char expected[240];

	if (number_bits(word, INT64_MAX, &value, &error))
		fail_msg("'%s' gave %llu", word, (unsigned long long)value);
	assert_true(value == UNTOUCHED);
	snprintf(expected, sizeof expected,
		 "'%s' is not a size from 1 to 9223372036854775807 bits%s", word, hint);
	assert_string_equal(error.text, expected);
}

static void bits__every_unit__is_exact(void **state)
{
	(void)state;
	assert_bits("48000000", 48000000);
	assert_bits("48e6", 48000000);
	assert_bits("1B", 8);
	assert_bits("6kB", 48000);
	assert_bits("6KB", 48000);
	assert_bits("6MB", 48000000);
	assert_bits("6mB", 48000000);
	assert_bits("1GB", 8000000000);
	assert_bits("1TB", 8000000000000);
	assert_bits("1KiB", 8192);
	assert_bits("1kiB", 8192);
	assert_bits("6MiB", 50331648);
	assert_bits("1GiB", UINT64_C(1) << 33);
	assert_bits("1TiB", UINT64_C(1) << 43);
	assert_bits("7bit", 7);
	assert_bits("1kbit", 1000);
	assert_bits("48Mbit", 48000000);
	assert_bits("1Gbit", 1000000000);
	assert_bits("1Tbit", 1000000000000);
	assert_bits("1Kibit", 1024);
	assert_bits("1Mibit", 1 << 20);
	assert_bits("1Gibit", 1 << 30);
	assert_bits("1Tibit", UINT64_C(1) << 40);
	assert_bits("9223372036854775807", INT64_MAX);
}

static void bits__fraction_that_gives_whole_bits__accepted(void **state)
{
	(void)state;
	assert_bits("1.5MB", 12000000);
	assert_bits("0.5KiB", 4096);
	assert_bits("0.125B", 1);
	assert_bits("1.5MiB", 12582912);
	assert_bits("0.0009765625KiB", 8);
	/* 2^-43: the most decimals that any unit can make whole. */
	assert_bits("0.0000000000001136868377216160297393798828125TiB", 1);
	assert_bits("1048575.9999999999998863131622783839702606201171875TiB",
		    (UINT64_C(1) << 63) - 1);
}

static void bits__faulty_words__refused_whole(void **state)
{
	static const char *const words[] = {
		"",           "0",
		"0MB",        "-1",
		"0.1B",       "0.1",
		"1.5",        "6 MB",
		"6MBit",      "6Mbits",
		"6iB",        "6PB",
		"1e400",      "9223372036854775808",
		"1048576TiB", "2000000TB",
		"0x10",       "6M B",
		"6MBB",       "nan",
		"B",          "MB",
		"6Miib",      "0.00000000000011368683772161602973937988281251TiB",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(words); i++)
		assert_no_bits(words[i], " (48000000, 48e6, 6MB, 6MiB, 48Mbit)");
}

static void bits__suffix_without_bits_or_bytes__hinted(void **state)
{
	(void)state;
	assert_no_bits("6M", "; did you mean 6MB or 6Mbit?");
	assert_no_bits("1.5k", "; did you mean 1.5kB or 1.5kbit?");
	assert_no_bits("6Mi", "; did you mean 6MiB or 6Mibit?");
	assert_no_bits("6Mb", "; did you mean 6MB or 6Mbit?");
	assert_no_bits("6b", "; did you mean 6B or 6bit?");
}

static void bits__above_the_maximum__refused(void **state)
{
	struct number_error error;
	uint64_t value = 0;

	(void)state;
	assert_true(number_bits("1KiB", 8192, &value, &error));
	assert_int_equal(value, 8192);
	assert_false(number_bits("1KiB", 8191, &value, &error));
	assert_string_equal(error.text, "'1KiB' is not a size from 1 to 8191 bits "
					"(48000000, 48e6, 6MB, 6MiB, 48Mbit)");
}

/* ---------------------------------------------------------------- duration */

static void assert_duration(const char *word, uint64_t expected)
{
	struct number_error error = { "" };
	uint64_t value = UNTOUCHED;

	if (!number_duration(word, &value, &error))
		fail_msg("'%s' refused: %s", word, error.text);
	if (value != expected)
		fail_msg("'%s' gave %llu", word, (unsigned long long)value);
}

static void assert_no_duration(const char *word, const char *hint)
{
	struct number_error error = { "" };
	uint64_t value = UNTOUCHED;
	char expected[240];

	assert_false(number_duration(word, &value, &error));
	assert_true(value == UNTOUCHED);
	snprintf(expected, sizeof expected, "'%s' is not a duration above 0 and up to 36525d%s",
		 word, hint);
	assert_string_equal(error.text, expected);
}

static void duration__every_unit__in_nanoseconds(void **state)
{
	const uint64_t second = 1000000000;

	(void)state;
	assert_duration("500ms", second / 2);
	assert_duration("90s", 90 * second);
	assert_duration("15min", 900 * second);
	assert_duration("24h", 86400 * second);
	assert_duration("7d", second * 86400 * 7);
	assert_duration("1.5h", 5400 * second);
	assert_duration(".5s", second / 2);
	assert_duration("1e-9s", 1);
	assert_duration("36525d", second * 86400 * 36525);
	/* 0.333... of an hour in thirteen digits, rounded down. */
	assert_duration("0.3333333333333h", UINT64_C(1199999999999));
}

static void duration_text__any__is_read_as_the_same(void **state)
{
	static const char *const typed[] = { "500ms", "90s",    "5min",         "24h",
					     "7d",    "36525d", "0.000000001s", "1.000000001s" };
	char text[DURATION_TEXT];
	struct dice dice = { 22 };
	struct number_error error;
	uint64_t value, again;

	(void)state;
	for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
		assert_true(number_duration(typed[i], &value, &error));
		assert_string_equal(typed[i], duration_text(text, value));
	}
	/* Of every size, and multiples of every unit. */
	for (unsigned int i = 0; i < 20000; i++) {
		value = dice_next(&dice) >> (3 + i % 60);
		value -= i % 3 == 0 ? value % UINT64_C(60000000000) : 0;
		if (value == 0 || value > UINT64_C(36525) * 86400 * 1000000000)
			continue;
		assert_true(number_duration(duration_text(text, value), &again, &error));
		assert_int_equal(value, again);
	}
	assert_string_equal("1 record", duration_or_records(text, SKETCH_WINDOW_RECORDS, 1));
	assert_string_equal("10000 records",
			    duration_or_records(text, SKETCH_WINDOW_RECORDS, 10000));
}

static void duration_moment__any__is_utc_to_the_second(void **state)
{
	char text[DURATION_TEXT];

	(void)state;
	assert_string_equal("1970-01-01 00:00:00 UTC", duration_moment(text, 999999999));
	assert_string_equal("1969-12-31 23:59:59 UTC", duration_moment(text, -1));
	assert_string_equal("1969-12-31 23:59:59 UTC", duration_moment(text, -1000000000));
	/* date -u -d @1577836800, and the last second that fits. */
	assert_string_equal("2020-01-01 00:00:00 UTC",
			    duration_moment(text, INT64_C(1577836800000000000)));
	assert_string_equal("2262-04-11 23:47:16 UTC", duration_moment(text, INT64_MAX));
}

static void duration_age__any__is_in_one_unit(void **state)
{
	const uint64_t second = 1000000000;
	char text[DURATION_TEXT];

	(void)state;
	assert_string_equal("0s", duration_age(text, second - 1, false));
	assert_string_equal("6s", duration_age(text, 6 * second, false));
	assert_string_equal("119s", duration_age(text, 119 * second, false));
	assert_string_equal("2min", duration_age(text, 179 * second, false));
	assert_string_equal("119min", duration_age(text, 7199 * second, false));
	assert_string_equal("47h", duration_age(text, 172799 * second, false));
	assert_string_equal("2d", duration_age(text, 172800 * second, false));
	assert_string_equal("213503d", duration_age(text, UINT64_MAX, false));
}

static void duration_age__at_most__is_never_less(void **state)
{
	const uint64_t second = 1000000000;
	char text[DURATION_TEXT];
	struct dice dice = { 23 };
	struct number_error error;
	uint64_t value, age;

	(void)state;
	assert_string_equal("0s", duration_age(text, 0, true));
	assert_string_equal("1s", duration_age(text, 1, true));
	assert_string_equal("6s", duration_age(text, 6 * second, true));
	assert_string_equal("120s", duration_age(text, 120 * second - 1, true));
	assert_string_equal("2min", duration_age(text, 120 * second, true));
	assert_string_equal("3min", duration_age(text, 120 * second + 1, true));
	assert_string_equal("4min", duration_age(text, 239 * second, true));
	for (unsigned int i = 0; i < 1000; i++) {
		value = dice_next(&dice) >> (3 + i % 60);
		if (value == 0 || value > UINT64_C(36525) * 86400 * 1000000000)
			continue;
		assert_true(number_duration(duration_age(text, value, true), &age, &error));
		assert_true(age >= value && age / 2 < value + second);
	}
}

/* A day is 86400 s, so 0.9222..., for ever, of one is 79680 s: 64 digits of it are less. */
static void duration__more_digits_than_are_kept__a_nanosecond_less_at_most(void **state)
{
	const uint64_t exact = (UINT64_C(222) * 86400 + 79680) * 1000000000;

	(void)state;
	/* 64 digits; ten more, which alone would make it enough; and the 64th does. */
	assert_duration("222.9222222222222222222222222222222222222222222222222222222222222d",
			exact - 1);
	assert_duration("222.9222222222222222222222222222222222222222222222222222222222222"
			"3222222222d",
			exact - 1);
	assert_duration("222.9222222222222222222222222222222222222222222222222222222222223d",
			exact);
}

static void duration__faulty_words__refused_whole(void **state)
{
	static const char *const words[] = {
		"",
		"0s",
		"-1s",
		"s",
		"1 s",
		"1sec",
		"1hour",
		"1d12h",
		"1H",
		"nan",
		"36526d",
		"1e400s",
		"1e-10s",
		"1w",
		"36525.00000000001d",
		"36525.00000000000000000000000000000000000001d",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(words); i++)
		assert_no_duration(words[i], " (500ms, 90s, 15min, 24h, 7d)");
}

static void duration__no_unit_or_m__hinted(void **state)
{
	(void)state;
	assert_no_duration("90", "; did you mean 90s?");
	assert_no_duration("1.5", "; did you mean 1.5s?");
	assert_no_duration("5m", "; did you mean 5min?");
}

/* ----------------------------------------------------------------- seconds */

static void assert_no_seconds(const char *word)
{
	struct number_error error = { "" };
	uint64_t value = UNTOUCHED;
	char expected[200];

	assert_false(number_seconds(word, 100000000, 60000000000, &value, &error));
	assert_true(value == UNTOUCHED);
	snprintf(expected, sizeof expected,
		 "'%s' is not a time from 0.1 to 60 seconds (2, 0.5, 500ms, 1min)", word);
	assert_string_equal(error.text, expected);
}

static void seconds__number_or_duration__in_nanoseconds(void **state)
{
	static const struct {
		const char *word;
		uint64_t value;
	} right[] = {
		{ "1", 1000000000 },    { "2.5", 2500000000 },   { ".2", 200000000 },
		{ "0.1", 100000000 },   { "1e-1", 100000000 },   { "60", 60000000000 },
		{ "500ms", 500000000 }, { "1min", 60000000000 }, { "3s", 3000000000 },
		{ "0.25s", 250000000 },
	};
	struct number_error error;
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(right); i++) {
		assert_true(number_seconds(right[i].word, 100000000, 60000000000, &value, &error));
		assert_true(value == right[i].value);
	}
}

static void seconds__faulty_or_out_of_range__refused_whole(void **state)
{
	static const char *const words[] = { "",     "0",   "0.09", "60.1", "-1",   "x",  "2x",
					     "1e10", "nan", "2min", "1 ",   " 1",   "1m", "1,5",
					     "inf",  "+1",  "1ss",  "99ms", "1e-9", "1h", "." };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(words); i++)
		assert_no_seconds(words[i]);
}

/* -------------------------------------------------------------------- byte */

static void byte__itself_or_an_escape__accepted(void **state)
{
	static const struct {
		const char *word;
		uint8_t byte;
	} cases[] = {
		{ ",", ',' },    { "\t", '\t' },  { " ", ' ' },     { "\\", '\\' },
		{ "t", 't' },    { "\xff", 255 }, { "\\t", '\t' },  { "\\n", '\n' },
		{ "\\r", '\r' }, { "\\0", 0 },    { "\\\\", '\\' },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct number_error error = { "" };
		uint8_t byte = 77;

		if (!number_byte(cases[i].word, &byte, &error))
			fail_msg("%s", error.text);
		assert_int_equal(byte, cases[i].byte);
	}
}

static void byte__none_or_several__refused(void **state)
{
	static const char *const words[] = { "", ",,", "\\x", "\\tt", "\\00", "\xc3\xa9" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		struct number_error error = { "" };
		char expected[240];
		uint8_t byte = 77;

		assert_false(number_byte(words[i], &byte, &error));
		assert_int_equal(byte, 77);
		snprintf(expected, sizeof expected,
			 "'%s' is not one byte (itself, or \\t, \\n, \\r, \\0, \\\\)", words[i]);
		assert_string_equal(error.text, expected);
	}
}

/* ---------------------------------------------------------------- printing */

static void print__known_numbers__in_fewest_digits(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 0.01, "0.01" },
		{ 1e-6, "1e-06" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1200000, "1200000" },
		{ 999999999999999, "999999999999999" },
		{ 1e17, "1e+17" },
		{ 1234.5, "1234.5" },
		{ -0.5, "-0.5" },
		{ -3, "-3" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ INFINITY, "inf" },
	};
	char out[32];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_string_equal(number_print(out, cases[i].value), cases[i].text);
	assert_non_null(strstr(number_print(out, NAN), "nan"));
}

static void print__random_doubles__read_back(void **state)
{
	struct dice dice = { 21 };
	char out[32];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = dice_next(&dice);
		double value;

		memcpy(&value, &bits, sizeof value);
		if (isfinite(value) && strtod(number_print(out, value), NULL) != value)
			fail_msg("%.17g printed as %s", value, out);
	}
}

static void grouped__every_length__comma_each_third(void **state)
{
	char out[32];

	(void)state;
	assert_string_equal(number_grouped(out, 0), "0");
	assert_string_equal(number_grouped(out, 999), "999");
	assert_string_equal(number_grouped(out, 1000), "1,000");
	assert_string_equal(number_grouped(out, 1234567), "1,234,567");
	assert_string_equal(number_grouped(out, 123456), "123,456");
	assert_string_equal(number_grouped(out, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void size__edges_of_units__round_up_into_the_next(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 B" },
		{ 999, "999 B" },
		{ 1000, "1.0 kB" },
		{ 1049, "1.0 kB" },
		{ 1050, "1.1 kB" },
		{ 99949, "99.9 kB" },
		{ 99950, "100 kB" },
		{ 999499, "999 kB" },
		{ 999500, "1.0 MB" },
		{ 1200000, "1.2 MB" },
		{ 512000000, "512 MB" },
		{ 8000000000, "8.0 GB" },
		{ UINT64_C(12300000000000), "12.3 TB" },
		{ UINT64_C(999499999999999999), "999 PB" },
		{ UINT64_C(999500000000000000), "1.0 EB" },
		{ UINT64_MAX, "18.4 EB" },
	};
	char out[32];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_string_equal(number_size(out, cases[i].bytes), cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(count__every_form__is_exact),
		cmocka_unit_test(count__leading_zeros__mean_nothing),
		cmocka_unit_test(count__faulty_words__refused_whole),
		cmocka_unit_test(count__meant_otherwise__hinted),
		cmocka_unit_test(count__faulty_word__named_with_the_range),
		cmocka_unit_test(count__very_long_word__cut_in_the_message),
		cmocka_unit_test(count__range_met_exactly__accepted),
		cmocka_unit_test(count__random_numbers_in_many_forms__read_back),
		cmocka_unit_test(probability__every_form__correctly_rounded),
		cmocka_unit_test(probability__every_percentage__equals_its_fraction),
		cmocka_unit_test(probability__faulty_words__refused_whole),
		cmocka_unit_test(probability__meant_as_percentage__hinted),
		cmocka_unit_test(probability__decimal_comma__hinted),
		cmocka_unit_test(probability__that_would_round_to_0_or_1__refused_as_such),
		cmocka_unit_test(bits__every_unit__is_exact),
		cmocka_unit_test(bits__fraction_that_gives_whole_bits__accepted),
		cmocka_unit_test(bits__faulty_words__refused_whole),
		cmocka_unit_test(bits__suffix_without_bits_or_bytes__hinted),
		cmocka_unit_test(bits__above_the_maximum__refused),
		cmocka_unit_test(duration__every_unit__in_nanoseconds),
		cmocka_unit_test(duration_text__any__is_read_as_the_same),
		cmocka_unit_test(duration_moment__any__is_utc_to_the_second),
		cmocka_unit_test(duration_age__any__is_in_one_unit),
		cmocka_unit_test(duration_age__at_most__is_never_less),
		cmocka_unit_test(duration__more_digits_than_are_kept__a_nanosecond_less_at_most),
		cmocka_unit_test(duration__faulty_words__refused_whole),
		cmocka_unit_test(duration__no_unit_or_m__hinted),
		cmocka_unit_test(seconds__number_or_duration__in_nanoseconds),
		cmocka_unit_test(seconds__faulty_or_out_of_range__refused_whole),
		cmocka_unit_test(byte__itself_or_an_escape__accepted),
		cmocka_unit_test(byte__none_or_several__refused),
		cmocka_unit_test(print__known_numbers__in_fewest_digits),
		cmocka_unit_test(print__random_doubles__read_back),
		cmocka_unit_test(grouped__every_length__comma_each_third),
		cmocka_unit_test(size__edges_of_units__round_up_into_the_next),
	};

	return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
