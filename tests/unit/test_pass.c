/* Records out, byte for byte */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pass.h"
#include "support.h"

/* A batch of that many records of 0 to 5 bytes, in `text`. */
static void fill_batch(struct records_batch *batch, uint8_t text[8 * RECORDS_BATCH], size_t count,
		       bool unterminated, struct dice *dice)
{
	uint8_t *at = text;

	memset(batch, 0, sizeof *batch);
	batch->count = count;
	batch->unterminated = unterminated;
	for (size_t i = 0; i < count; i++) {
		size_t length = (size_t)dice_below(dice, 6);

		batch->starts[i] = at;
		memset(at, 'a' + (int)(i % 26), length);
		at += length;
		if (i + 1 < count || !unterminated)
			*at++ = '\n';
	}
	batch->starts[count] = at;
}

static struct bytes passed(const struct records_batch *batch, const uint64_t *selected)
{
	int fd = bytes_begin();
	struct output *out = output_open(dup(fd), "test");

	assert_non_null(out);
	assert_true(pass_selected(out, batch, selected, '\n'));
	assert_true(output_close(out));
	return bytes_end(fd);
}

static void present__of_any_count__are_the_first(void **state)
{
	struct records_batch *batch = calloc(1, sizeof *batch);
	uint64_t present[PASS_WORDS];

	(void)state;
	assert_non_null(batch);
	for (batch->count = 1; batch->count <= RECORDS_BATCH; batch->count++) {
		pass_present(batch, present);
		for (size_t i = 0; i < RECORDS_BATCH; i++)
			assert_int_equal(present[i / 64] >> i % 64 & 1, i < batch->count);
	}
	free(batch);
}

static void check_selection(const struct records_batch *batch, const uint64_t *selected)
{
	uint8_t expected[8 * RECORDS_BATCH];
	size_t length = 0;
	struct bytes bytes = passed(batch, selected);

	for (size_t i = 0; i < batch->count; i++) {
		size_t size = (size_t)(batch->starts[i + 1] - batch->starts[i]);

		if (!(selected[i / 64] >> i % 64 & 1))
			continue;
		memcpy(expected + length, batch->starts[i], size);
		length += size;
		if (batch->unterminated && i + 1 == batch->count)
			expected[length++] = '\n';
	}
	assert_int_equal(bytes.length, length);
	assert_memory_equal(bytes.data, expected, length);
	bytes_free(&bytes);
}

static void selected__of_any_batch__go_out_in_order(void **state)
{
	static const size_t counts[] = { 1, 2, 63, 64, 65, 127, 128 };
	struct records_batch *batch = malloc(sizeof *batch);
	uint8_t text[8 * RECORDS_BATCH];
	struct dice dice = { 9 };

	(void)state;
	assert_non_null(batch);
	for (size_t c = 0; c < COUNT_OF(counts); c++) {
		for (int round = 0; round < 60; round++) {
			uint64_t present[PASS_WORDS], selected[PASS_WORDS];

			fill_batch(batch, text, counts[c], round % 2, &dice);
			pass_present(batch, present);
			for (size_t w = 0; w < PASS_WORDS; w++) {
				uint64_t bits = dice_next(&dice);

				/* None, all, few, many, half. */
				bits = round % 5 == 0 ? 0 : round % 5 == 1 ? ~UINT64_C(0) : bits;
				if (round % 5 == 2)
					bits &= dice_next(&dice) & dice_next(&dice);
				if (round % 5 == 3)
					bits |= dice_next(&dice) | dice_next(&dice);
				selected[w] = bits & present[w];
			}
			check_selection(batch, selected);
		}
	}
	free(batch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(present__of_any_count__are_the_first),
		cmocka_unit_test(selected__of_any_batch__go_out_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
