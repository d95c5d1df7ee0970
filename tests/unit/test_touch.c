/* What is asked for in advance is what the kernels use. */
#include <string.h>

#include "bloom.h"
#include "support.h"
#include "touch.h"

static struct sketch_bloom *make(enum sketch_layout layout, uint64_t n, double p)
{
	struct sketch_request request = { .layout = layout, .n = n, .p = p };
	struct sketch_identity identity = IDENTITY;
	struct sketch_params params;
	struct sketch_bloom *filter = NULL;
	struct sketch_error error;

	assert_status(SKETCH_OK, sketch_plan(&request, &params, &error), &error);
	assert_status(SKETCH_OK,
		      sketch_bloom_new(&filter, &identity, &params, 1, UINT64_MAX, &error), &error);
	return filter;
}

static uint64_t line_of(const struct touch_probe *probe, struct sketch_hash hash)
{
	return positions_below(positions_u(hash, probe->j), probe->count);
}

static void touch__filter_that_is_added_to__names_every_line_a_key_sets(void **unused)
{
	static const double rates[] = { 0.01, 1e-5, 1e-8, 1e-12 };

	(void)unused;
	for (size_t r = 0; r < COUNT_OF(rates); r++) {
		struct sketch_bloom *filter = make(SKETCH_BLOCKED, 500000, rates[r]);
		uint32_t g = sketch_bloom_params(filter, 0)->g;
		const struct layer *layer = &filter->layers[0];
		struct touch touch;

		touch_filter(&touch, filter, true);
		assert_int_equal(touch.count, g);
		for (uint64_t key = 0; key < 300; key++) {
			struct sketch_hash hash = sketch_murmur3_x64_128(&key, 8, 0);
			uint64_t ones = 0;

			sketch_bloom_add(filter, &hash, 1);
			for (uint32_t j = 0; j < g; j++) {
				const uint8_t *line = touch.probes[j].lines +
						      64 * line_of(&touch.probes[j], hash);

				assert_true(line >= layer->bits &&
					    line + 64 <= layer->bits + layer->bytes);
				for (size_t i = 0; i < 64; i++)
					ones += (uint64_t)__builtin_popcount(line[i]);
				memset((uint8_t *)(uintptr_t)line, 0, 64);
				touch_key(&touch, hash);
			}
			assert_true(ones > g);
			/* Nothing was set anywhere else. */
			assert_int_equal(layer_count_ones(layer), 0);
		}
		sketch_bloom_free(filter);
	}
}

static void touch__filter_that_is_asked__names_the_first_line_only(void **unused)
{
	struct sketch_bloom *filter = make(SKETCH_BLOCKED, 500000, 1e-8);
	struct touch touch;

	(void)unused;
	touch_filter(&touch, filter, false);
	assert_int_equal(touch.count, 1);
	assert_int_equal(touch.probes[0].j, 0);
	assert_ptr_equal(touch.probes[0].lines, filter->layers[0].bits);
	sketch_bloom_free(filter);
}

static void touch__small_or_classic_or_counting_filter__names_nothing(void **unused)
{
	struct sketch_bloom *small = make(SKETCH_BLOCKED, 1000, 0.01);
	struct sketch_bloom *classic = make(SKETCH_CLASSIC, 1000000, 0.01);
	struct sketch_bloom *blocked = make(SKETCH_BLOCKED, 1000000, 0.01);
	struct sketch_bloom *counting = NULL;
	struct touch touch = { .count = 9 };

	(void)unused;
	/* A line of counters is several lines long. */
	assert_status(SKETCH_OK,
		      sketch_counting_new(&counting, sketch_bloom_identity(blocked),
					  sketch_bloom_params(blocked, 0), 4, UINT64_MAX, NULL),
		      NULL);
	touch_filter(&touch, blocked, true);
	assert_int_equal(touch.count, 1);
	touch_filter(&touch, counting, true);
	assert_int_equal(touch.count, 0);
	sketch_bloom_free(blocked);
	sketch_bloom_free(counting);
	touch_filter(&touch, small, true);
	assert_int_equal(touch.count, 0);
	touch_filter(&touch, classic, true);
	assert_int_equal(touch.count, 0);
	sketch_bloom_free(small);
	sketch_bloom_free(classic);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(touch__filter_that_is_added_to__names_every_line_a_key_sets),
		cmocka_unit_test(touch__filter_that_is_asked__names_the_first_line_only),
		cmocka_unit_test(touch__small_or_classic_or_counting_filter__names_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
