/* CRC-32C against published values and a bit-at-a-time loop. */
#include <stdlib.h>
#include <string.h>

#include "crc32c.h"
#include "support.h"

static void assert_crc(const uint8_t *data, size_t length, uint32_t expected)
{
	uint32_t got = sketch_crc32c(0, data, length);

	if (got != expected)
		fail_msg("%zu bytes: %08x, expected %08x", length, got, expected);
}

static void crc32c__check_string__gives_e3069283(void **state)
{
	(void)state;
	assert_crc((const uint8_t *)"123456789", 9, 0xe3069283);
}

/* RFC 3720, appendix B.4 */
static void crc32c__vectors_of_rfc3720__match(void **state)
{
	/* An iSCSI command PDU */
	static const uint8_t command[48] = {
		[0] = 0x01,  [1] = 0xc0,  [16] = 0x14, [22] = 0x04,
		[27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02,
	};
	uint8_t data[32];

	(void)state;
	memset(data, 0, sizeof data);
	assert_crc(data, sizeof data, 0x8a9136aa);
	memset(data, 0xff, sizeof data);
	assert_crc(data, sizeof data, 0x62a8ab43);
	for (unsigned int i = 0; i < 32; i++)
		data[i] = (uint8_t)i;
	assert_crc(data, sizeof data, 0x46dd794e);
	for (unsigned int i = 0; i < 32; i++)
		data[i] = (uint8_t)(31 - i);
	assert_crc(data, sizeof data, 0x113fdb5c);
	assert_crc(command, sizeof command, 0xd9963a56);
}

static void crc32c__no_bytes__gives_back_the_start(void **state)
{
	(void)state;
	assert_int_equal(sketch_crc32c(0, "x", 0), 0);
	assert_int_equal(sketch_crc32c(0xe3069283, "x", 0), 0xe3069283);
}

static void crc32c__every_length_and_alignment__equals_reference(void **state)
{
	struct dice dice = { 1 };
	uint8_t *page = aligned_alloc(64, 512);

	(void)state;
	assert_non_null(page);
	for (size_t length = 0; length <= 300; length++) {
		for (size_t alignment = 0; alignment < 16; alignment++) {
			uint32_t start = (uint32_t)dice_next(&dice);

			dice_fill(&dice, page, 512);
			assert_int_equal(sketch_crc32c(start, page + alignment, length),
					 reference_crc32c(start, page + alignment, length));
		}
	}
	free(page);
}

static void crc32c__block_of_exact_length__reads_nothing_beyond(void **state)
{
	struct dice dice = { 2 };

	(void)state;
	for (size_t length = 1; length <= 300; length++) {
		uint8_t *block = malloc(length);

		assert_non_null(block);
		dice_fill(&dice, block, length);
		assert_crc(block, length, reference_crc32c(0, block, length));
		free(block);
	}
}

/* Long runs may be taken in several streams at once; so all about the sizes where
 * such code changes its stride, and random ones. */
static void crc32c__long_runs__equal_reference(void **state)
{
	struct dice dice = { 3 };
	const size_t room = 1 << 18;
	uint8_t *data = malloc(room);

	(void)state;
	assert_non_null(data);
	dice_fill(&dice, data, room);
	for (size_t power = 9; power <= 17; power++) {
		for (size_t i = 0; i < 12; i++) {
			size_t length = ((size_t)1 << power) + i - 6;
			size_t offset = dice_below(&dice, 64);

			assert_crc(data + offset, length,
				   reference_crc32c(0, data + offset, length));
			assert_crc(data + offset, 3 * length / 2,
				   reference_crc32c(0, data + offset, 3 * length / 2));
		}
	}
	for (int i = 0; i < 100; i++) {
		size_t length = dice_below(&dice, 50000);
		size_t offset = dice_below(&dice, 4096);

		assert_crc(data + offset, length, reference_crc32c(0, data + offset, length));
	}
	free(data);
}

static void crc32c__split_at_any_point__gives_the_same(void **state)
{
	struct dice dice = { 4 };
	uint8_t data[1100];

	(void)state;
	dice_fill(&dice, data, sizeof data);
	for (size_t length = 0; length <= sizeof data; length += length < 80 ? 1 : 255) {
		uint32_t whole = reference_crc32c(0, data, length);

		for (size_t split = 0; split <= length; split++) {
			uint32_t first = sketch_crc32c(0, data, split);

			assert_int_equal(sketch_crc32c(first, data + split, length - split), whole);
		}
	}
}

static void crc32c__many_random_pieces__give_the_same(void **state)
{
	struct dice dice = { 5 };
	const size_t room = 300000;
	uint8_t *data = malloc(room);
	uint32_t whole;

	(void)state;
	assert_non_null(data);
	dice_fill(&dice, data, room);
	whole = sketch_crc32c(0, data, room);
	assert_int_equal(whole, reference_crc32c(0, data, room));
	for (int i = 0; i < 50; i++) {
		size_t most = i % 2 ? 100 : 30000;
		uint32_t crc = 0;

		for (size_t done = 0, piece; done < room; done += piece) {
			piece = dice_below(&dice, most);
			if (piece > room - done)
				piece = room - done;
			crc = sketch_crc32c(crc, data + done, piece);
		}
		assert_int_equal(crc, whole);
	}
	free(data);
}

static void crc32c__single_flipped_bit__changes_it(void **state)
{
	uint8_t data[128] = { 0 };
	uint32_t before = sketch_crc32c(0, data, sizeof data);

	(void)state;
	for (unsigned int bit = 0; bit < 8 * sizeof data; bit++) {
		data[bit / 8] = (uint8_t)(1u << bit % 8);
		assert_int_not_equal(sketch_crc32c(0, data, sizeof data), before);
		data[bit / 8] = 0;
	}
}

/* Where the processor has instructions for it, nothing else runs the other way. */
static void portable__every_length__is_the_same(void **state)
{
	static uint8_t bytes[70000];
	uint32_t random = 1;

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++) {
		random = random * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(random >> 24);
	}
	assert_true(crc32c_portable(0, (const uint8_t *)"123456789", 9) == UINT32_C(0xe3069283));
	for (size_t length = 0; length < sizeof bytes; length += length < 300 ? 1 : 6977) {
		for (size_t at = 0; at < 9 && at + length <= sizeof bytes; at++)
			assert_true(crc32c_portable(7, bytes + at, length) ==
				    sketch_crc32c(7, bytes + at, length));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc32c__check_string__gives_e3069283),
		cmocka_unit_test(crc32c__vectors_of_rfc3720__match),
		cmocka_unit_test(crc32c__no_bytes__gives_back_the_start),
		cmocka_unit_test(crc32c__every_length_and_alignment__equals_reference),
		cmocka_unit_test(crc32c__block_of_exact_length__reads_nothing_beyond),
		cmocka_unit_test(crc32c__long_runs__equal_reference),
		cmocka_unit_test(crc32c__split_at_any_point__gives_the_same),
		cmocka_unit_test(crc32c__many_random_pieces__give_the_same),
		cmocka_unit_test(crc32c__single_flipped_bit__changes_it),
		cmocka_unit_test(portable__every_length__is_the_same),
	};

	return cmocka_run_group_tests_name("crc32c", tests, NULL, NULL);
}
