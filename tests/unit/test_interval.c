/* test_interval.c - quantiles against tables, and that intervals hold what they say */
#include "interval.h"

#include <math.h>

#include "support.h"

static void student__tables__to_nine_digits(void **state)
{
	(void)state;
	assert_near(interval_student(1, 0.025), 12.7062047362, 1e-9);
	assert_near(interval_student(4, 0.0001), 13.0336717209, 1e-9);
	assert_near(interval_student(49, 0.025), 2.00957523713, 1e-9);
	assert_near(interval_student(999, 0.025), 1.96234146113, 1e-9);
	assert_near(interval_student(1e6, 0.025), 1.95996635682, 1e-9);
	assert_near(interval_student(2, 0.25), 0.816496580928, 1e-9);
}

/* The limits are the roots of binomial tails, here summed up term by term. */
static double tail_from(double hits, double queries, double rate)
{
	double weight = pow(1 - rate, queries), below = 0;

	for (double x = 0; x < hits; x++) {
		below += weight;
		weight *= (queries - x) / (x + 1) * rate / (1 - rate);
	}
	return 1 - below;
}

static void proportion__binomial_tails__are_the_limits(void **state)
{
	static const double cases[][2] = {
		{ 5, 100 }, { 1, 10 }, { 9, 10 }, { 50, 300 }, { 3, 700 }
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		double hits = cases[i][0], queries = cases[i][1];
		struct interval interval = interval_proportion(hits, queries, 0.025);

		assert_near(tail_from(hits, queries, interval.low), 0.025, 1e-8);
		assert_near(tail_from(hits + 1, queries, interval.high), 0.975, 1e-8);
	}
}

static void proportion__none_or_all__open_on_one_side(void **state)
{
	struct interval interval = interval_proportion(0, 5e7, 0.025);

	(void)state;
	assert_true(interval.low == 0);
	/* (1 - high)^queries = tail */
	assert_near(interval.high, 3.688879454113936 / 5e7, 1e-7);
	interval = interval_proportion(10, 10, 0.025);
	assert_true(interval.high == 1);
	assert_near(interval.low, pow(0.025, 0.1), 1e-9);
}

static void interval__scatter__widens(void **state)
{
	struct interval_sample alike = { .filters = 4, .queries = 10000, .hits = 400 };
	struct interval_sample apart = alike;
	struct interval narrow, wide;

	(void)state;
	alike.squares = 90.0 * 90 + 110 * 110 + 95 * 95 + 105 * 105;
	apart.squares = 10.0 * 10 + 190 * 190 + 50 * 50 + 150 * 150;
	narrow = interval_of(&alike, 0.025);
	wide = interval_of(&apart, 0.025);
	assert_string_equal(narrow.method, "Student's t over the filters");
	/* mean 100, standard deviation 9.129, t of 3 degrees 3.182 */
	assert_near(narrow.low, (100 - 3.18244630528 * 9.12870929175 / 2) / 10000, 1e-9);
	assert_near(narrow.high, (100 + 3.18244630528 * 9.12870929175 / 2) / 10000, 1e-9);
	assert_true(wide.high - wide.low > 3 * (narrow.high - narrow.low));
}

static void interval__few_hits__by_their_number(void **state)
{
	struct interval_sample few = { .filters = 10, .queries = 1000, .hits = 5, .squares = 5 };
	struct interval_sample clotted = few;
	struct interval pooled = interval_proportion(5, 10000, 0.025), found;

	(void)state;
	found = interval_of(&few, 0.025);
	assert_true(found.low == pooled.low && found.high == pooled.high);
	clotted.squares = 25; /* all of them in one filter */
	found = interval_of(&clotted, 0.025);
	assert_true(found.low < pooled.low && found.high > pooled.high);
	few = (struct interval_sample){
		.filters = 1, .queries = 1000, .hits = 500, .squares = 250000
	};
	assert_string_equal(interval_of(&few, 0.025).method, "Clopper-Pearson");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(student__tables__to_nine_digits),
		cmocka_unit_test(proportion__binomial_tails__are_the_limits),
		cmocka_unit_test(proportion__none_or_all__open_on_one_side),
		cmocka_unit_test(interval__scatter__widens),
		cmocka_unit_test(interval__few_hits__by_their_number),
	};

	return cmocka_run_group_tests_name("interval", tests, NULL, NULL);
}
