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

#define MOST_BYTES 700
#define MACHINES 8

static const struct touch no_touch;
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
	size_t length = next_random() % MOST_BYTES;
	unsigned int rarity = (unsigned int)(1 + next_random() % 60);

	for (size_t i = 0; i < MOST_BYTES + SCAN_PADDING; i++) {
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
			struct scan scan = { copy, copy + length, terminator, 7, &no_touch };
			const uint8_t *starts[21] = { copy };
			struct sketch_hash hashes[20];
			size_t found, expected = 0;
			const uint8_t *at = copy, *stop;

			found = machines[m]->records(&scan, limit, starts,
						     round % 3 == 0 ? NULL : hashes);
			while (expected < limit &&
			       (stop = memchr(at, terminator, (size_t)(copy + length - at)))) {
				struct sketch_hash hash =
					sketch_murmur3_x64_128(at, (size_t)(stop - at), 7);

				assert_in_range(expected, 0, found - 1);
				assert_ptr_equal(starts[expected], at);
				assert_ptr_equal(starts[expected + 1], stop + 1);
				if (round % 3 != 0) {
					assert_true(hashes[expected].h1 == hash.h1);
					assert_true(hashes[expected].h2 == hash.h2);
				}
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

/* A LIST of one to four numbers and ranges. */
static struct field_list random_list(void)
{
	struct field_list list = { 0 };
	struct number_error error;
	char text[100] = "";
	size_t used = 0;

	for (uint64_t i = next_random() % 4 + 1; i > 0; i--) {
		unsigned int first = (unsigned int)(next_random() % 12 + 1);
		unsigned int last = first + (unsigned int)(next_random() % 30);
		static const char *const forms[] = { "%u,", "%u-%u,", "%u-,", "-%u," };

		used += (size_t)snprintf(text + used, sizeof text - used, forms[next_random() % 4],
					 first, last);
	}
	text[used - 1] = '\0';
	assert_true(field_parse(text, &list, &error));
	return list;
}

/* Records one after another, each of which ends in a line feed, but for the last. */
static size_t cut_records(uint8_t *bytes, size_t length, const uint8_t **starts, size_t most)
{
	size_t count = 0;

	starts[0] = bytes;
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
					     .delimiter = round % 2 == 0 ? FIELD_BLANKS : ',',
					     .newline_blank = round % 5 == 0,
					     .quoted = round % 3 == 0 };
		struct scan_keys wanted = { &split, round % 4 == 0, 0, NULL };
		const char *frequent = round % 7 == 0 ? "     " : " \t,\n\"";
		size_t length = random_bytes(bytes, frequent, 5), records;
		uint8_t *copy = tight_copy(bytes, length), *room = malloc(length + SCAN_PADDING);
		const uint8_t *starts[65], *keys[64];
		size_t lengths[64];

		assert_non_null(room);
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

/* Every machine against the general rule, over records of bytes of which `frequent` come
 * often. */
static void compare_keys(bool quoted, const char *frequent, size_t kinds, int rounds)
{
	const struct scan_machine *machines[MACHINES];
	size_t count = scan_all(machines, MACHINES), with_field = 0, without = 0;
	uint8_t bytes[MOST_BYTES + SCAN_PADDING];

	for (int round = 0; round < rounds; round++) {
		uint64_t number = 1 + next_random() % (round % 5 ? 6 : 40);
		struct field_split split = { .list = { 1, { { number, number } }, number },
					     .delimiter = round % 2 == 0 ? FIELD_BLANKS : ',',
					     .newline_blank = round % 7 == 0,
					     .quoted = quoted };
		struct scan_keys wanted = { &split, round % 3 == 0, 5, &no_touch };
		size_t length = random_bytes(bytes, frequent, kinds), records;
		uint8_t *copy = tight_copy(bytes, length);
		const uint8_t *starts[65], *keys[64];
		struct sketch_hash hashes[64];
		size_t lengths[64];

		records = cut_records(copy, length, starts, 64);
		for (size_t m = 0; m < count; m++) {
			uint64_t found =
				machines[m]->field(&wanted, starts, records, keys, lengths, hashes);

			assert_true(records == 64 || found >> records == 0);
			for (size_t i = 0; i < records; i++) {
				size_t whole = (size_t)(starts[i + 1] - starts[i]) - 1;
				size_t key_length = 0, used;
				const uint8_t *key = NULL;
				struct sketch_hash hash;
				bool there = key_of(starts[i], whole, &wanted, NULL, &key,
						    &key_length, &used);

				assert_int_equal(found >> i & 1, there);
				*(there ? &with_field : &without) += 1;
				if (!there)
					continue;
				hash = sketch_murmur3_x64_128(key, key_length, 5);
				assert_ptr_equal(keys[i], key);
				assert_int_equal(lengths[i], key_length);
				assert_true(hashes[i].h1 == hash.h1 && hashes[i].h2 == hash.h2);
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
}

static void field__any_quotes_and_backslashes__are_those_of_the_general_rule(void **state)
{
	(void)state;
	compare_keys(true, " \t,\n\r\"", 6, 6000);
	compare_keys(true, " \t,\"\\", 5, 40000);
	compare_keys(true, " ,\" ,\"\"\"", 8, 40000);
	compare_keys(true, " ,\" ,\"\\\\\\\\", 10, 40000);
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
		cmocka_unit_test(field__any_number_and_delimiter__are_those_of_the_general_rule),
		cmocka_unit_test(field__any_quotes_and_backslashes__are_those_of_the_general_rule),
		cmocka_unit_test(best__any_processor__is_the_last_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
