/* test_scan.c - every machine's scanner against the plainest one, and the search for
 * one field against the general rule */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "field.h"
#include "scan.h"

#define MOST_BYTES 3000
#define MACHINES SCAN_MACHINES

static const struct touch no_touch;
static const struct sketch_secret secret = { { 1, 2, 3, 250, 251, 252 } };
static uint64_t random_state = 1;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Bytes in which separators are as frequent as they have to be to meet all cases. */
static size_t random_bytes(uint8_t bytes[MOST_BYTES + SCAN_PADDING], const char *frequent,
			   size_t kinds)
{
	size_t length = next_random() % (next_random() % 4 ? 700 : MOST_BYTES);
	unsigned int rarity = (unsigned int)(1 + next_random() % (next_random() % 8 ? 60 : 2));

	for (size_t i = 0; i < length + SCAN_PADDING; i++) {
		uint64_t draw = next_random();

		bytes[i] = draw % rarity == 0 ? (uint8_t)frequent[draw / 64 % kinds] :
						(uint8_t)(draw >> 32);
	}
	return length;
}

/* A copy in memory of its own with nothing but the padding behind, so that a sanitizer
 * sees what is read beyond. */
static uint8_t *tight_copy(const uint8_t *bytes, size_t length)
{
	uint8_t *copy = malloc(length + SCAN_PADDING);

	assert_non_null(copy);
	memcpy(copy, bytes, length + SCAN_PADDING);
	return copy;
}

static void records__any_bytes_and_limit__are_those_between_terminators(void **state)
{
	const struct scan_machine *machines[MACHINES];
	size_t count = scan_all(machines, MACHINES);
	uint8_t bytes[MOST_BYTES + SCAN_PADDING];

	(void)state;
	assert_in_range(count, 1, MACHINES);
	for (int round = 0; round < 3000; round++) {
		uint8_t terminator = round % 2 == 0 ? '\n' : '\0';
		size_t length = random_bytes(bytes, (const char[]){ (char)terminator, '\n' }, 2);
		size_t limit = 1 + next_random() % 20;
		uint8_t *copy = tight_copy(bytes, length);

		for (size_t m = 0; m < count; m++) {
			struct scan scan = { copy, copy + length, terminator };
			const uint8_t *starts[21 + SCAN_OVERSHOOT] = { copy };
			size_t found, expected = 0;
			const uint8_t *at = copy, *stop;

			found = machines[m]->records(&scan, limit, starts);
			while (expected < limit &&
			       (stop = memchr(at, terminator, (size_t)(copy + length - at)))) {
				assert_in_range(expected, 0, found - 1);
				assert_ptr_equal(starts[expected], at);
				assert_ptr_equal(starts[expected + 1], stop + 1);
				at = stop + 1;
				expected++;
			}
			assert_int_equal(found, expected);
			assert_ptr_equal(scan.from, found == limit ? at : copy + length);
		}
		free(copy);
	}
}

/* The key of one record, by the general rule. */
static bool key_of(const uint8_t *record, size_t length, const struct scan_keys *wanted,
		   uint8_t *scratch, const uint8_t **key, size_t *key_length, size_t *used)
{
	if (wanted->crlf && length > 0 && record[length - 1] == '\r')
		length--;
	return field_key(wanted->split, record, length, scratch, key, key_length, used);
}

static struct field_list list_of(const char *text)
{
	struct field_list list = { 0 };
	struct number_error error;

	assert_true(field_parse(text, &list, &error));
	return list;
}

/* A LIST of numbers and ranges: a few that are near, most often; or many, near each other
 * or not. */
static struct field_list random_list(void)
{
	static const char *const forms[] = { "%u,", "%u-%u,", "%u-,", "-%u," };
	uint64_t sort = next_random() % 16, count = next_random() % (sort == 0 ? 40 : 4) + 1;
	unsigned int reach = sort == 0 ? 100 : sort == 1 ? 200 : 12, near = 0;
	char text[400] = "";
	size_t used = 0;

	if (sort == 2)
		count = 4 + next_random() % 16;
	for (uint64_t i = 0; i < count; i++) {
		unsigned int first = (unsigned int)(next_random() % reach + 1);
		unsigned int last =
			first + (unsigned int)(next_random() % (next_random() % 4 ? 3 : 30));
		const char *form = forms[sort == 0 ? 0 : next_random() % 4];

		if (sort == 2) {
			first = near + 1 + (unsigned int)(next_random() % 3);
			last = near = first + (unsigned int)(next_random() % 2);
			form = forms[1];
		}
		used += (size_t)snprintf(text + used, sizeof text - used, form, first, last);
	}
	text[used - 1] = '\0';
	return list_of(text);
}

/* A delimiter; the bytes have it where they had commas. */
static int random_delimiter(uint8_t *bytes, size_t length)
{
	static const uint8_t some[] = { ',', ',', ';', 0x80, 0xac, 0xff, 1 };
	uint8_t delimiter = some[next_random() % sizeof some];

	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == ',')
			bytes[i] = delimiter;
	}
	return delimiter;
}

/* Records one after another: each ends with a line feed, but for the last; or with any
 * byte. */
static size_t cut_records(uint8_t *bytes, size_t length, const uint8_t **starts, size_t most)
{
	static const size_t usual[] = { 0, 0, 8, 40, 90, 130, 250 };
	size_t count = 0, width = usual[next_random() % 7];

	starts[0] = bytes;
	if (most == 1)
		width = length;
	if (width > 0) {
		/* Of about the same length, and ended by whatever is there. */
		for (size_t at = 0; at < length && count < most;) {
			size_t left = length - at, next = 1 + width / 2 + next_random() % width;

			/* There are 64 bytes in a word. */
			if (next_random() % 4 == 0)
				next = (next + 32) / 64 * 64 + next_random() % 3;
			next += next == 0;
			at += next < left && most > 1 ? next : left;
			starts[++count] = bytes + at;
		}
		return count;
	}
	for (size_t i = 0; i < length && count < most; i++) {
		if (bytes[i] == '\n')
			starts[++count] = bytes + i + 1;
	}
	/* A last record ends with any byte: the machine does not look at it. */
	if (count < most && starts[count] < bytes + length)
		starts[++count] = bytes + length;
	return count;
}

static void fields__any_list_of_any_machine__are_those_of_the_general_rule(void **state)
{
	const struct scan_machine *machines[MACHINES];
	size_t count = scan_all(machines, MACHINES), with_key = 0, joined = 0;
	uint8_t bytes[MOST_BYTES + SCAN_PADDING], one[MOST_BYTES];

	(void)state;
	for (int round = 0; round < 40000; round++) {
		struct field_split split = { .list = random_list(),
					     .delimiter = FIELD_BLANKS,
					     .newline_blank = round % 5 == 0,
					     .quoted = round % 3 == 0 };
		struct scan_keys wanted = { &split, round % 4 == 0 };
		const char *frequent = round % 7 == 0  ? "     " :
				       round % 11 == 0 ? ",,,,," :
							 " \t,\n\"";
		size_t length = random_bytes(bytes, frequent, 5), records;
		uint8_t *copy, *room = malloc(length + SCAN_PADDING);
		const uint8_t *starts[65], *keys[64];
		size_t lengths[64];

		assert_non_null(room);
		if (round % 2 != 0)
			split.delimiter = random_delimiter(bytes, length + SCAN_PADDING);
		copy = tight_copy(bytes, length);
		records = cut_records(copy, length, starts, round % 3 == 0 ? 1 : 64);
		for (size_t m = 0; m < count; m++) {
			uint8_t *at = room;
			uint64_t found =
				machines[m]->fields(&wanted, starts, records, keys, lengths, &at);

			assert_true(records == 64 || found >> records == 0);
			for (size_t i = 0; i < records; i++) {
				size_t whole = (size_t)(starts[i + 1] - starts[i]) - 1, used = 0;
				size_t key_length = 0;
				const uint8_t *key = NULL;
				bool there = key_of(starts[i], whole, &wanted, one, &key,
						    &key_length, &used);

				assert_int_equal(found >> i & 1, there);
				with_key += there && m == 0;
				joined += there && m == 0 && used > 0;
				if (!there)
					continue;
				assert_int_equal(lengths[i], key_length);
				assert_memory_equal(keys[i], key, key_length);
				/* One piece where it can be. */
				assert_int_equal(keys[i] >= room && keys[i]<at, used> 0);
			}
		}
		free(room);
		free(copy);
	}
	assert_true(with_key > 9000 && joined > 3000);
}

/* Sixteen records alike, words of six letters but for one byte: that of each machine against
 * the general rule. */
static void compare_blank(size_t length, size_t at, char byte, const struct scan_keys *wanted)
{
	const struct scan_machine *machines[MACHINES];
	size_t count = scan_all(machines, MACHINES), lengths[16], key_length, used;
	uint8_t bytes[16 * 300 + SCAN_PADDING] = { 0 }, room[16 * 300 + SCAN_PADDING], one[300];
	const uint8_t *starts[17] = { bytes }, *keys[16], *key;

	for (size_t i = 0; i < 16; i++) {
		uint8_t *record = &bytes[i * (length + 1)];

		for (size_t j = 0; j < length; j++)
			record[j] = j % 7 == 6 ? ' ' : 'a';
		record[at] = (uint8_t)byte;
		starts[i + 1] = record + length + 1;
	}
	assert_true(key_of(bytes, length, wanted, one, &key, &key_length, &used));
	for (size_t m = 0; m < count; m++) {
		uint8_t *to = room;

		assert_int_equal(machines[m]->fields(wanted, starts, 16, keys, lengths, &to),
				 0xffff);
		for (size_t i = 0; i < 16; i++) {
			assert_int_equal(lengths[i], key_length);
			assert_memory_equal(keys[i], key, key_length);
		}
	}
}

static void fields__a_blank_anywhere__is_no_part_of_the_key_but_a_joint(void **state)
{
	static const size_t around[] = { 64, 128, 192 };
	static const char *const lists[] = { "1-", "2-", "2-4", "1,3-" };

	(void)state;
	for (size_t l = 0; l < 4; l++) {
		struct field_split split = { .list = list_of(lists[l]), .delimiter = FIELD_BLANKS };
		struct scan_keys wanted = { &split, false };

		for (size_t w = 0; w < 3; w++) {
			for (size_t length = around[w] - 2; length <= around[w] + 2; length++) {
				for (size_t at = 0; at < length; at++) {
					compare_blank(length, at, ' ', &wanted);
					compare_blank(length, at, '\t', &wanted);
				}
			}
		}
	}
}

/* Every machine against the general rule, over records of bytes of which `frequent` come
 * often. */
static void compare_keys(bool quoted, const char *frequent, size_t kinds, int rounds)
{
	const struct scan_machine *machines[MACHINES];
	size_t count = scan_all(machines, MACHINES), with_field = 0, without = 0;
	uint8_t bytes[MOST_BYTES + SCAN_PADDING];

	for (int round = 0; round < rounds; round++) {
		uint64_t number = 1 + next_random() % (round % 5 ? 6 : 120);
		struct field_split split = { .list = { 1, { { number, number } }, number },
					     .delimiter = FIELD_BLANKS,
					     .newline_blank = round % 7 == 0,
					     .quoted = quoted };
		struct scan_keys wanted = { &split, round % 3 == 0 };
		size_t length = random_bytes(bytes, frequent, kinds), records;
		const uint8_t *starts[65], *keys[64];
		size_t lengths[64];
		uint8_t *copy;

		if (round % 2 != 0)
			split.delimiter = random_delimiter(bytes, length + SCAN_PADDING);
		copy = tight_copy(bytes, length);
		records = cut_records(copy, length, starts, 64);
		for (size_t m = 0; m < count; m++) {
			uint64_t found =
				machines[m]->field(&wanted, starts, records, keys, lengths);

			assert_true(records == 64 || found >> records == 0);
			for (size_t i = 0; i < records; i++) {
				size_t whole = (size_t)(starts[i + 1] - starts[i]) - 1;
				size_t key_length = 0, used;
				const uint8_t *key = NULL;
				bool there = key_of(starts[i], whole, &wanted, NULL, &key,
						    &key_length, &used);

				assert_int_equal(found >> i & 1, there);
				*(there ? &with_field : &without) += 1;
				if (!there)
					continue;
				assert_ptr_equal(keys[i], key);
				assert_int_equal(lengths[i], key_length);
			}
		}
		free(copy);
	}
	assert_true(with_field > 1000 && without > 1000);
}

static void field__any_number_and_delimiter__are_those_of_the_general_rule(void **state)
{
	(void)state;
	compare_keys(false, " \t,\n\r\"", 6, 6000);
	compare_keys(false, " \t,", 3, 20000);
	compare_keys(false, ",,,", 3, 3000);
}

static void field__any_quotes_and_backslashes__are_those_of_the_general_rule(void **state)
{
	(void)state;
	compare_keys(true, " \t,\n\r\"", 6, 6000);
	compare_keys(true, " \t,\"\\", 5, 40000);
	compare_keys(true, " ,\" ,\"\"\"", 8, 40000);
	compare_keys(true, " ,\" ,\"\\\\\\\\", 10, 40000);
}

/* Keys of lengths that are alike, or not at all, at places anywhere; some are absent. */
static uint64_t random_keys(const uint8_t *bytes, const uint8_t *keys[64], size_t lengths[64])
{
	size_t most = 1 + next_random() % (next_random() % 2 ? 40 : MOST_BYTES);
	size_t spread = next_random() % 3 ? 1 + next_random() % most : most;
	uint64_t present = ~UINT64_C(0);

	for (int i = 0; i < 64; i++) {
		/* Now and then one is much longer than those beside it. */
		size_t length = next_random() % 50 ? most - next_random() % spread : MOST_BYTES;

		/* As many end where the padding begins as elsewhere. */
		lengths[i] = next_random() % 40 ? length : 0;
		keys[i] =
			bytes + (next_random() % 2 ? MOST_BYTES - lengths[i] :
						     next_random() % (MOST_BYTES - lengths[i] + 1));
	}
	for (uint64_t absent = next_random() % 4; absent > 1; absent--)
		present &= ~(UINT64_C(1) << next_random() % 64);
	return next_random() % 2 ? present : present >> next_random() % 64;
}

static void hash__keys_of_any_lengths__is_that_of_each_by_itself(void **state)
{
	const struct scan_machine *machines[MACHINES];
	size_t count = scan_all(machines, MACHINES);
	uint8_t bytes[MOST_BYTES + SCAN_PADDING], *copy;

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)next_random();
	copy = tight_copy(bytes, MOST_BYTES);
	for (int round = 0; round < 5000; round++) {
		struct scan_hashing murmur = { (uint32_t)next_random(), &no_touch, NULL };
		struct scan_hashing keyed = { 7, &no_touch, &secret };
		const uint8_t *keys[64];
		size_t lengths[64];
		uint64_t present = random_keys(copy, keys, lengths);

		for (size_t m = 0; m < count; m++) {
			const struct sketch_hash none = { (uint64_t)round, 9 };
			struct sketch_hash hashes[64], keyeds[64];

			for (int i = 0; i < 64; i++)
				hashes[i] = keyeds[i] = none;
			machines[m]->hash(&murmur, keys, lengths, present, hashes);
			machines[m]->hash(&keyed, keys, lengths, present, keyeds);
			for (int i = 0; i < 64; i++) {
				bool there = present >> i & 1;
				struct sketch_hash one =
					there ? sketch_murmur3_x64_128(keys[i], lengths[i],
								       murmur.seed) :
						none;
				struct sketch_hash other =
					there ? sketch_siphash_2_4_128(keys[i], lengths[i],
								       &secret) :
						none;

				assert_memory_equal(&hashes[i], &one, sizeof one);
				assert_memory_equal(&keyeds[i], &other, sizeof other);
			}
		}
	}
	free(copy);
}

static void best__any_processor__is_the_last_of_all(void **state)
{
	const struct scan_machine *machines[MACHINES];
	size_t count = scan_all(machines, MACHINES);

	(void)state;
	assert_ptr_equal(scan_best(), machines[count - 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records__any_bytes_and_limit__are_those_between_terminators),
		cmocka_unit_test(fields__any_list_of_any_machine__are_those_of_the_general_rule),
		cmocka_unit_test(fields__a_blank_anywhere__is_no_part_of_the_key_but_a_joint),
		cmocka_unit_test(field__any_number_and_delimiter__are_those_of_the_general_rule),
		cmocka_unit_test(field__any_quotes_and_backslashes__are_those_of_the_general_rule),
		cmocka_unit_test(hash__keys_of_any_lengths__is_that_of_each_by_itself),
		cmocka_unit_test(best__any_processor__is_the_last_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
