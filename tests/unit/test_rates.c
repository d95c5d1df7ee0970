/* test_rates.c - the formulas against high precision, a published table, and each
 * other; round trips of the planner over random inputs */
#include "rates.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_case.h"
#include "portable.h"
#include "rates_reference.h"
#include "sizing.h"
#include "summary_cache.h"
#include "support.h"

static double unit_random(struct dice *dice)
{
	return (double)(dice_next(dice) >> 11) * 0x1p-53;
}

/* Between low and high, each order of magnitude as likely as the next. */
static double log_random(struct dice *dice, double low, double high)
{
	double from = portable_log(low), to = portable_log(high);

	return portable_exp(from + (to - from) * unit_random(dice));
}

static uint64_t whole_random(struct dice *dice, double low, double high)
{
	return (uint64_t)log_random(dice, low, high);
}

static double at_least_normal(double rate)
{
	return rate < DBL_MIN ? DBL_MIN : rate;
}

static void assert_rate(double rate)
{
	assert_true(rate >= DBL_MIN && rate <= 1);
}

/* a <= b but for rounding. */
static void assert_ordered(double a, double b)
{
	if (a <= b * (1 + 1e-12)) /* never where one is NaN */
		return;
	print_error("%.17g is above %.17g\n", a, b);
	fail();
}

/* ------------------------------------------------------------------ formulas */

static void rates__high_precision__within_1e_12(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rates); i++) {
		double m = (double)rates[i].m, n = (double)rates[i].n;
		uint32_t k = rates[i].k;

		assert_near(rates_exponential(k, m, n), at_least_normal(rates[i].exponential),
			    1e-12);
		assert_near(rates_classic(k, m, n), at_least_normal(rates[i].classic), 1e-12);
		assert_near(rates_exact(k, m, n), at_least_normal(rates[i].exact), 1e-12);
	}
}

static void rates__smallest_filter__five_eighths(void **state)
{
	(void)state;
	assert_true(rates_exact(2, 2, 1) == 0.625);
	assert_true(rates_classic(2, 2, 1) == 0.5625);
	assert_near(rates_exponential(2, 2, 1), 0.39957640089372803, 1e-15);
}

static void rates__no_keys__zero(void **state)
{
	struct sketch_params params = params_blocked(10, 1, 8);

	(void)state;
	assert_true(rates_exponential(7, 100, 0) == 0);
	assert_true(rates_classic(7, 100, 0) == 0);
	assert_true(rates_exact(7, 100, 0) == 0);
	assert_true(rates_blocked_exponential(&params, 0) == 0);
	assert_true(rates_blocked_classic(&params, 0) == 0);
}

static void rates__blocked__as_summed_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(blocked); i++) {
		struct sketch_params params = { .layout = SKETCH_BLOCKED,
						.k = blocked[i].k,
						.g = blocked[i].g,
						.m = blocked[i].m,
						.n = blocked[i].n };

		assert_near(rates_blocked_exponential(&params, params.n), blocked[i].exponential,
			    1e-12);
		assert_near(rates_blocked_classic(&params, params.n), blocked[i].classic, 1e-12);
		assert_ordered(rates_blocked_classic(&params, params.n),
			       sketch_rate_bound(&params, params.n));
	}
}

/* Half a unit of the last digit printed. */
static double half_unit(const char *printed)
{
	const char *point = strchr(printed, '.'), *exponent = strchr(printed, 'e');
	size_t end = exponent != NULL ? (size_t)(exponent - printed) : strlen(printed);
	size_t decimals = point != NULL ? end - (size_t)(point - printed) - 1 : 0;
	int power = exponent != NULL ? atoi(exponent + 1) : 0;

	return 0.5 * portable_exp(2.302585092994046 * (power - (int)decimals));
}

static void rates__summary_cache__every_cell(void **state)
{
	size_t cells = 0;

	(void)state;
	for (size_t row = 0; row < COUNT_OF(summary_cache); row++) {
		for (uint32_t k = 1; k <= 15 && summary_cache[row].printed[k - 1] != NULL; k++) {
			const char *printed = summary_cache[row].printed[k - 1];
			double rate = rates_exponential(k, summary_cache[row].bits_per_key, 1);

			assert_true(fabs(rate - strtod(printed, NULL)) <=
				    half_unit(printed) * 1.000001);
			cells++;
		}
	}
	assert_int_equal(cells, SUMMARY_CACHE_CELLS);
}

static void bound__dense_grid__above_the_truth(void **state)
{
	(void)state;
	for (double m = 2; m <= 48; m++) {
		for (uint32_t k = 1; k <= 10; k++) {
			for (double n = 1; n <= 40; n++) {
				double exact = rates_exact(k, m, n);

				assert_true(sizing_classic_bound(k, m, n) >= exact * (1 - 1e-15));
				assert_ordered(rates_exponential(k, m, n), rates_classic(k, m, n));
				assert_ordered(rates_classic(k, m, n), exact);
			}
		}
	}
	for (size_t i = 0; i < COUNT_OF(rates); i++) {
		if (rates[i].m > 1)
			assert_true(sizing_classic_bound(rates[i].k, (double)rates[i].m,
							 (double)rates[i].n) >= rates[i].exact);
	}
}

static void rates__random_inputs__in_order_and_monotone(void **state)
{
	struct dice dice = { 5 };

	(void)state;
	for (int i = 0; i < 100000; i++) {
		double m = (double)whole_random(&dice, 2, 0x1p63);
		double n = (double)whole_random(&dice, 1, 1e18);
		uint32_t k = (uint32_t)whole_random(&dice, 1, 256);
		double exponential = rates_exponential(k, m, n), classic = rates_classic(k, m, n);
		double bound = sizing_classic_bound(k, m, n);

		assert_rate(exponential);
		assert_rate(classic);
		assert_ordered(exponential, classic);
		assert_ordered(classic, bound);
		assert_ordered(exponential, rates_exponential(k, m, n * 1.001));
		assert_ordered(rates_exponential(k, m * 1.001, n), exponential);
		assert_ordered(classic, rates_classic(k, m, n * 1.001));
		assert_ordered(rates_classic(k, m * 1.001, n), classic);
		assert_ordered(bound, sizing_classic_bound(k, m, n * 1.001));
		assert_ordered(sizing_classic_bound(k, m * 1.001, n), bound);
		/* the chain takes its time */
		if (k * k * n > 3e4 && (k * k * n <= 2e6 || n < 17 * k) && i % 200 != 0)
			continue;
		assert_rate(rates_exact(k, m, n));
		assert_ordered(classic, rates_exact(k, m, n));
		assert_ordered(rates_exact(k, m, n), bound);
	}
}

/* Where one way of computing ends and the other begins, there is no step. */
static void exact__chain_and_series__meet(void **state)
{
	static const struct {
		uint32_t k;
		double m, last; /* n of the chain */
	} seams[] = {
		{ 2, 1e6, 500000 }, { 7, 1e6, 40816 }, { 30, 1e5, 2222 }, { 100, 2e5, 1699 }
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(seams); i++) {
		uint32_t k = seams[i].k;
		double m = seams[i].m, n = seams[i].last;
		double before = rates_exact(k, m, n - 1), last = rates_exact(k, m, n);
		double first = rates_exact(k, m, n + 1), after = rates_exact(k, m, n + 2);

		/* the third difference of ln p = k ln(about n) + ... is about 2k/n^3 */
		double third = portable_log(after) - 3 * portable_log(first) +
			       3 * portable_log(last) - portable_log(before);

		assert_true(fabs(third) <= 3 * k / (n * n * n) + 1e-11);
	}
}

/* ------------------------------------------------------------------ textbook */

static struct textbook complete(double n, double m, double p, uint32_t k)
{
	return textbook_complete(&(struct textbook_request){ .n = n, .m = m, .p = p, .k = k });
}

static void textbook__sizes_asked_for__to_the_last_digits(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		struct textbook book = complete((double)sizes[i].n, 0, sizes[i].p, 0);

		assert_near(book.m, sizes[i].m, 1e-14);
		assert_near(book.k, sizes[i].k, 1e-14);
		if (sizes[i].m < 1e15)
			assert_true(book.m_whole == ceil(sizes[i].m));
		assert_true(book.k_whole == fmax(floor(sizes[i].k + 0.5), 1));
		assert_rate(book.rate);
	}
}

static void textbook__what_people_asked__as_computed(void **state)
{
	struct textbook book = complete(100000, 0, 0.01, 0);

	(void)state;
	assert_true(book.m_whole == 958506 && book.k_whole == 7);
	assert_near(book.rate, 0.0100392, 1e-6);
	assert_true(complete(1e6, 0, 0.03, 0).k_whole == 5);
	assert_true(complete(1e6, 0, 0.0001, 0).k_whole == 13);
	assert_true(complete(1000, 0, 0.01, 0).m_whole == 9586);
	book = complete(1e10, 0, 0.00001, 0);
	assert_true(book.m_whole == 239626459435.0 && book.k_whole == 17);
	assert_true(plan_case_bytes(complete(536870912, 0, 0.001, 0).m_whole) == 964863569);
	assert_true(plan_case_bytes(complete(1073741824, 0, 0.001, 0).m_whole) == 1929727138);
	book = complete(1e6, 48e6, 0, 3);
	assert_near(book.rate, 2.224e-4, 1e-4);
	assert_near(complete(1e6, 48e7, 0, 3).rate, 2.4186e-7, 1e-4);
	assert_near(complete(1e6, 48e6, 0, 0).k, 33.27, 1e-4);
	assert_near(complete(0.7, 1, 0, 0).k, 0.99021, 1e-5);
}

static void textbook__random_inputs__round_trip(void **state)
{
	struct dice dice = { 6 };

	(void)state;
	for (int i = 0; i < 100000; i++) {
		double n = (double)whole_random(&dice, 1, 1e18);
		double p = log_random(&dice, 1e-280, 0.999); /* of 1e-300 m may be infinite */
		uint32_t k = (uint32_t)dice_between(&dice, 0, 255);
		struct textbook book = complete(n, 0, p, k), back = complete(0, book.m, p, k);
		struct textbook more = complete(n * 1.01, 0, p, k);

		assert_true(book.m > 0 && book.k > 0 && book.k_whole >= 1);
		assert_near(back.n, n, 1e-12);
		assert_near(back.k, book.k, 1e-12);
		assert_near(rates_exponential(book.k, book.m, n), p, 1e-9);
		assert_near(complete(n, book.m, 0, 0).k, book.m / n * 0.6931471805599453, 1e-12);
		assert_true(more.m > book.m);
		assert_true(complete(n, 0, p * 0.99, k).m > book.m);
		assert_rate(book.rate);
	}
}

/* ------------------------------------------------------------------- planner */

static struct sketch_request random_request(struct dice *dice)
{
	return (struct sketch_request){
		.layout = dice_below(dice, 2) ? SKETCH_CLASSIC : SKETCH_BLOCKED,
		.n = whole_random(dice, 1, 1e14),
		.p = log_random(dice, dice_below(dice, 4) ? 1e-9 : 1e-40, 0.999),
	};
}

static struct sketch_params planned(struct sketch_request request)
{
	struct sketch_error error = { 0 };
	struct sketch_params params;

	assert_status(SKETCH_OK, sketch_plan(&request, &params, &error), &error);
	return params;
}

static void check_round_trip(const struct sketch_request *request)
{
	struct sketch_params params = planned(*request), other;
	uint64_t unit = sizing_unit(params.layout, params.g);
	struct sketch_request same = *request;

	assert_true(sketch_rate_bound(&params, params.n) <= request->p);
	/* the same k and g: no smaller m, more for one key more, more for a smaller p */
	same.k = params.k;
	same.g = params.g;
	other = params;
	other.m -= unit;
	if (other.m > 0)
		assert_true(sketch_rate_bound(&other, params.n) > request->p);
	same.n = request->n + request->n / 100 + 1;
	assert_true(planned(same).m >= params.m);
	same.n = request->n;
	same.p = request->p * 0.99;
	assert_true(planned(same).m >= params.m);
	/* and back: m and p have room for n, n and m have a k that keeps p */
	assert_true(plan_case_keys_until(&params, request->p) >= params.n);
	same = *request;
	same.m = params.m;
	other = planned(same);
	assert_true(sketch_rate_bound(&other, other.n) <= request->p);
	assert_true(other.g < params.g || (other.g == params.g && other.k <= params.k));
	same.p = 0;
	if (params.layout == SKETCH_CLASSIC)
		assert_true(planned(same).p <= request->p);
}

static void plan__random_inputs__round_trip(void **state)
{
	struct dice dice = { 7 };
	int runs = run_long() ? 100000 : run_slow() ? 200 : 600;

	(void)state;
	for (int i = 0; i < runs; i++) {
		struct sketch_request request = random_request(&dice);

		check_round_trip(&request);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates__high_precision__within_1e_12),
		cmocka_unit_test(rates__smallest_filter__five_eighths),
		cmocka_unit_test(rates__no_keys__zero),
		cmocka_unit_test(rates__blocked__as_summed_up),
		cmocka_unit_test(rates__summary_cache__every_cell),
		cmocka_unit_test(bound__dense_grid__above_the_truth),
		cmocka_unit_test(rates__random_inputs__in_order_and_monotone),
		cmocka_unit_test(exact__chain_and_series__meet),
		cmocka_unit_test(textbook__sizes_asked_for__to_the_last_digits),
		cmocka_unit_test(textbook__what_people_asked__as_computed),
		cmocka_unit_test(textbook__random_inputs__round_trip),
		cmocka_unit_test(plan__random_inputs__round_trip),
	};

	return cmocka_run_group_tests_name("rates", tests, NULL, NULL);
}
