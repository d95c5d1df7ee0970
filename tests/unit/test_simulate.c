/* test_simulate.c - simulations are repeatable, and their intervals hold the truth as
 * often as they say */
#include "simulate.h"

#include <math.h>
#include <string.h>

#include "capture.h"
#include "rates.h"

static struct simulation small_case(enum sketch_layout layout, uint32_t seed)
{
	struct sketch_request request = { .layout = layout, .n = 200, .p = 0.02 };
	struct simulation simulation = { .filters = 20, .queries = 1000, .seed = seed };

	assert_int_equal(sketch_plan(&request, &simulation.params, NULL), SKETCH_OK);
	return simulation;
}

static double truth_of(const struct sketch_params *params)
{
	if (params->layout == SKETCH_BLOCKED)
		return sketch_rate_bound(params, params->n);
	return rates_exact(params->k, (double)params->m, (double)params->n);
}

/* How many of the runs have the truth in their interval. */
static int covered(enum sketch_layout layout, int runs, int *holding)
{
	struct simulation_result result;
	int inside = 0;

	*holding = 0;
	for (int i = 0; i < runs; i++) {
		/* seeds that no other run has */
		struct simulation simulation = small_case(layout, 1000000 + 20 * (uint32_t)i);
		double truth = truth_of(&simulation.params);

		assert_true(simulate_filters(&simulation, &result));
		inside += result.interval.low <= truth && truth <= result.interval.high;
		*holding += result.holds;
	}
	return inside;
}

/* Of 1000 runs 950 are expected inside, with a standard deviation of 6.9: 95 % and no
 * more than 2 % off.  Of 60 runs, 57 and 1.7: fewer than 50 have a probability below
 * 3e-4.  A bound that holds is doubted in one run of 10000 at the most. */
static void simulate__many_runs__interval_holds_the_truth(void **state)
{
	int runs = run_long() ? 1000 : 60;
	int least = run_long() ? 930 : 50, most = run_long() ? 970 : 60, holding;

	(void)state;
	for (int layout = SKETCH_CLASSIC; layout <= SKETCH_BLOCKED; layout++) {
		int inside = covered((enum sketch_layout)layout, runs, &holding);

		print_message("%d of %d inside\n", inside, runs);
		assert_in_range(inside, least, most);
		assert_true(holding >= runs - 2);
	}
}

static void simulate__same_seed__same_result(void **state)
{
	struct simulation simulation = small_case(SKETCH_BLOCKED, 7);
	struct simulation_result first, second;

	(void)state;
	assert_true(simulate_filters(&simulation, &first));
	assert_true(simulate_filters(&simulation, &second));
	assert_int_equal(first.sample.hits, second.sample.hits);
	assert_true(first.interval.low == second.interval.low);
	simulation.seed = 100;
	assert_true(simulate_filters(&simulation, &second));
	assert_true(first.sample.squares != second.sample.squares);
}

/* A filter with a third too few bits does not keep the bound of the right one. */
static void simulate__bound_broken__said_so(void **state)
{
	struct simulation simulation = small_case(SKETCH_CLASSIC, 1);
	struct simulation_result result;
	struct interval interval;
	double bound = sketch_rate_bound(&simulation.params, simulation.params.n);

	(void)state;
	assert_true(simulate_filters(&simulation, &result));
	assert_true(result.holds);
	simulation.params.m = simulation.params.m * 2 / 3 / 64 * 64;
	assert_true(simulate_filters(&simulation, &result));
	interval = interval_of(&result.sample, 1e-4);
	assert_true(interval.low > bound);
}

static void queries__any_rate__within_reason(void **state)
{
	(void)state;
	assert_int_equal(simulate_queries(0.01, 50), 40000);
	assert_int_equal(simulate_queries(0.5, 1000), 1000);
	assert_int_equal(simulate_queries(1e-9, 50), 1000000);
	assert_int_equal(simulate_queries(1e-300, 1), 50000000);
}

/* Too large a task is refused before it begins. */
static int try_too_much(void *context)
{
	struct simulation simulation = small_case(SKETCH_BLOCKED, 1);
	struct simulation_result result;

	(void)context;
	simulation.params.n = UINT64_C(1000000000000);
	return simulate_filters(&simulation, &result);
}

static void simulate__too_many_keys__refused_in_one_line(void **state)
{
	struct capture capture;

	(void)state;
	capture_run(&capture, try_too_much, NULL);
	assert_int_equal(capture.status, 0);
	assert_non_null(strstr(capture.err, "minutes"));
	assert_ptr_equal(strchr(capture.err, '\n'), capture.err + capture.err_length - 1);
}

/* The rate of a filter as its bits have it, beside what random keys say. */
static void simulate_file__one_filter__rate_of_its_bits(void **state)
{
	struct simulation simulation = small_case(SKETCH_BLOCKED, 3);
	struct sketch_bloom *filter = filter_make(&simulation.params);
	struct sketch_bloom_state bits;
	struct simulation_result result;
	struct dice dice = { 9 };

	(void)state;
	for (int i = 0; i < 200; i++)
		filter_add(filter, dice_hash(&dice));
	assert_int_equal(sketch_bloom_state(filter, 0, &bits, NULL), SKETCH_OK);
	assert_true(simulate_file(filter, "f", 400000, 5, bits.rate, &result));
	assert_true(result.holds);
	assert_true(result.interval.low <= bits.rate && bits.rate <= result.interval.high);
	assert_near(result.rate, bits.rate, 0.05);
	sketch_bloom_free(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simulate__many_runs__interval_holds_the_truth),
		cmocka_unit_test(simulate__same_seed__same_result),
		cmocka_unit_test(simulate__bound_broken__said_so),
		cmocka_unit_test(queries__any_rate__within_reason),
		cmocka_unit_test(simulate__too_many_keys__refused_in_one_line),
		cmocka_unit_test(simulate_file__one_filter__rate_of_its_bits),
	};

	return cmocka_run_group_tests_name("simulate", tests, NULL, NULL);
}
