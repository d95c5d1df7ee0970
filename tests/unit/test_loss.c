/* How many records are expected to be held back wrongly */
#include <math.h>
#include <string.h>

#include "loss.h"
#include "support.h"

static struct sketch_hash hash_number(uint64_t number, uint32_t seed)
{
	return sketch_murmur3_x64_128(&number, sizeof number, seed);
}

static struct sketch_bloom *make(enum sketch_layout layout, uint64_t n, double p, uint32_t seed,
				 enum sketch_arrangement arrangement)
{
	struct sketch_request request = { .layout = layout, .n = n, .p = p };
	struct sketch_identity identity = { SKETCH_FAMILY_MURMUR3, 0, seed, arrangement, 0 };
	struct sketch_bloom *filter = NULL;
	struct sketch_params params;

	assert_status(SKETCH_OK, sketch_plan(&request, &params, NULL), NULL);
	assert_status(SKETCH_OK, sketch_bloom_new(&filter, &identity, &params, 1, UINT64_MAX, NULL),
		      NULL);
	return filter;
}

/* Feeds distinct keys; how many of them were taken for known. */
static uint64_t feed(struct sketch_bloom *filter, uint32_t seed, uint64_t from, uint64_t to)
{
	uint64_t held = 0;

	for (uint64_t i = from; i < to; i++) {
		struct sketch_hash hash = hash_number(i, seed);
		uint64_t found;

		assert_status(SKETCH_OK, sketch_bloom_insert(filter, &hash, 1, &found, NULL), NULL);
		held += found;
	}
	return held;
}

static void keys__of_a_layer__are_those_put_in(void **state)
{
	struct sketch_bloom *filter = make(SKETCH_BLOCKED, 10000, 0.01, 0, SKETCH_SINGLE);
	struct bytes file;
	uint64_t m = sketch_bloom_params(filter, 0)->m;

	(void)state;
	assert_true(loss_keys(filter, 0) == 0);
	feed(filter, 0, 0, 7000);
	assert_near(loss_keys(filter, 0), 7000, 0.02);
	/* With every bit set there is no telling; it stays a number. */
	file = filter_bytes(filter);
	memset(file_bits(&file, 0), 0xff, m / 8);
	file_seal(&file);
	sketch_bloom_free(filter);
	filter = filter_from_bytes(&file, SKETCH_WRITABLE);
	assert_true(loss_keys(filter, 0) == (double)m);
	sketch_bloom_free(filter);
	bytes_free(&file);
}

static void per_pass__of_one_layer__is_the_odds_of_the_mean(void **state)
{
	static const struct {
		double from, to;
	} spans[] = { { 0, 10000 }, { 0, 100 }, { 2000, 9000 }, { 9000, 30000 }, { 500, 500 } };

	(void)state;
	for (int layout = SKETCH_CLASSIC; layout <= SKETCH_BLOCKED; layout++) {
		struct sketch_bloom *filter =
			make((enum sketch_layout)layout, 10000, 0.02, 0, SKETCH_SINGLE);
		const struct sketch_params *params = sketch_bloom_params(filter, 0);

		for (size_t i = 0; i < COUNT_OF(spans); i++) {
			int steps = 2000;
			double sum = 0;

			for (int s = 0; s < steps; s++) {
				double keys = spans[i].from +
					      (spans[i].to - spans[i].from) * (s + 0.5) / steps;
				double rate = sketch_rate_bound(params, (uint64_t)keys);

				sum += rate / steps;
			}
			assert_near(loss_per_pass(filter, 0, spans[i].from, spans[i].to),
				    sum / (1 - sum), 0.01);
		}
		assert_true(loss_per_pass(filter, 0, 0, 0) == 0);
		sketch_bloom_free(filter);
	}
}

static void per_pass__of_a_full_filter__is_a_number(void **state)
{
	struct sketch_bloom *filter = make(SKETCH_CLASSIC, 10, 0.01, 0, SKETCH_SINGLE);
	double loss;

	(void)state;
	feed(filter, 0, 0, 10000);
	loss = loss_per_pass(filter, 0, 0, 1e9);
	assert_true(isfinite(loss) && loss > 0);
	sketch_bloom_free(filter);
}

static void since__the_start__with_nothing_new_is_0(void **state)
{
	struct sketch_bloom *filter = make(SKETCH_BLOCKED, 1000, 0.01, 0, SKETCH_SINGLE);

	(void)state;
	assert_true(loss_since(filter, 1, 0, 0) == 0);
	feed(filter, 0, 0, 1000);
	assert_true(loss_since(filter, 1, loss_keys(filter, 0), 0) == 0);
	sketch_bloom_free(filter);
}

/* Over many seeds, what is expected and what happened agree. */
static void check_average(enum sketch_layout layout, enum sketch_arrangement arrangement,
			  uint64_t n, uint64_t before, uint64_t keys)
{
	int seeds = run_slow() ? 20 : 60;
	double sum = 0, squares = 0, expected = 0, error;

	for (int seed = 0; seed < seeds; seed++) {
		struct sketch_bloom *filter = make(layout, n, 0.02, (uint32_t)seed, arrangement);
		size_t layers;
		double start, held;

		feed(filter, (uint32_t)seed, 0, before);
		layers = sketch_bloom_layers(filter);
		start = loss_keys(filter, layers - 1);
		held = (double)feed(filter, (uint32_t)seed, before, before + keys);
		sum += held;
		squares += held * held;
		expected += loss_since(filter, layers, start, (double)keys - held);
		sketch_bloom_free(filter);
	}
	error = sqrt((squares - sum * sum / seeds) / (seeds - 1) * seeds);
	if (fabs(sum - expected) > 3.5 * error + 0.03 * expected)
		fail_msg("%g held back of %g expected, one standard error is %g", sum, expected,
			 error);
}

static void since__over_many_seeds__is_what_happens(void **state)
{
	(void)state;
	for (int layout = SKETCH_CLASSIC; layout <= SKETCH_BLOCKED; layout++) {
		enum sketch_layout l = (enum sketch_layout)layout;

		check_average(l, SKETCH_SINGLE, 5000, 0, 5000);
		check_average(l, SKETCH_SINGLE, 5000, 2500, 4000);
		check_average(l, SKETCH_SINGLE, 5000, 5000, 10000);
		check_average(l, SKETCH_LADDER, 500, 0, 8000);
		check_average(l, SKETCH_LADDER, 500, 1500, 6000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys__of_a_layer__are_those_put_in),
		cmocka_unit_test(per_pass__of_one_layer__is_the_odds_of_the_mean),
		cmocka_unit_test(per_pass__of_a_full_filter__is_a_number),
		cmocka_unit_test(since__the_start__with_nothing_new_is_0),
		cmocka_unit_test(since__over_many_seeds__is_what_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
