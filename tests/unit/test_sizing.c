/* test_sizing.c - rates, fills and plans against high precision, against filters
 * simulated bit by bit, and against exhaustive search */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "occupancy.h"
#include "portable.h"
#include "sizing.h"
#include "sizing_reference.h"
#include "sketch.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ------------------------------------------------------------------- helpers */

static void assert_near(double found, double expected, double relative)
{
	if (fabs(found - expected) <= relative * fabs(expected))
		return;
	print_error("%.17g is not within %g of %.17g\n", found, relative, expected);
	fail();
}

/* An upper bound: never below, by no more than `slack` above. */
static void assert_just_above(double bound, double truth, double slack)
{
	if (bound >= truth && bound <= truth * (1 + slack))
		return;
	print_error("%.17g is not just above %.17g\n", bound, truth);
	fail();
}

/* A sequence of numbers for inputs (Marsaglia, "Xorshift RNGs", 2003). */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static uint64_t below(uint64_t *state, uint64_t limit)
{
	return (uint64_t)((double)(next_random(state) >> 11) * 0x1p-53 * (double)limit);
}

static double between(uint64_t *state, double low, double high)
{
	return low + (double)(next_random(state) >> 11) * 0x1p-53 * (high - low);
}

static double log_between(uint64_t *state, double low, double high)
{
	return portable_exp(between(state, portable_log(low), portable_log(high)));
}

static struct sketch_params params_of(enum sketch_layout layout, uint32_t k, uint32_t g, uint64_t m,
				      uint64_t n)
{
	return (struct sketch_params){ .layout = layout, .k = k, .g = g, .m = m, .n = n, .p = 0.5 };
}

static struct sketch_params plan(const struct sketch_request *request)
{
	struct sketch_params params;
	struct sketch_error error;

	if (sketch_plan(request, &params, &error) != SKETCH_OK) {
		print_error("layout %d n %" PRIu64 " p %g m %" PRIu64 " k %u g %u: %s\n",
			    (int)request->layout, request->n, request->p, request->m, request->k,
			    request->g, error.text);
		fail();
	}
	assert_int_equal(sketch_params_check(&params, NULL), SKETCH_OK);
	return params;
}

static bool possible(struct sketch_request request)
{
	struct sketch_params params;

	return sketch_plan(&request, &params, NULL) == SKETCH_OK;
}

static void assert_refused(struct sketch_request request, enum sketch_status status,
			   const char *text)
{
	struct sketch_params params, before;
	struct sketch_error error = { 0 };

	memset(&params, 0x5a, sizeof params);
	before = params;
	assert_int_equal(sketch_plan(&request, &params, &error), status);
	assert_int_equal(error.status, status);
	assert_int_equal(error.errnum, 0);
	assert_string_equal(error.text, text);
	assert_memory_equal(&params, &before, sizeof params);
	assert_int_equal(sketch_plan(&request, &params, NULL), status);
}

/* ---------------------------------------------------------- portable functions */

static void functions__over_their_range__within_4_ulp(void **state)
{
	const double ulps = 4 * 0x1p-52;

	(void)state;
	for (size_t i = 0; i < LENGTH(function_values); i++) {
		double x = function_values[i].x;

		assert_near(portable_log(x), function_values[i].log, ulps);
		assert_near(portable_log1p(x), function_values[i].log1p, ulps);
		assert_near(portable_sqrt(x), function_values[i].sqrt, ulps);
		assert_near(portable_expm1(-x), function_values[i].expm1_minus, ulps);
		if (x < 1)
			assert_near(portable_log1p(-x), function_values[i].log1p_minus, ulps);
		if (x < 709) {
			assert_near(portable_exp(x), function_values[i].exp, ulps);
			assert_near(portable_expm1(x), function_values[i].expm1, ulps);
			assert_near(portable_exp(-x), function_values[i].exp_minus, ulps);
		}
	}
}

static void functions__at_the_edges__limits(void **state)
{
	(void)state;
	assert_true(portable_log(0) == -INFINITY);
	assert_true(isnan(portable_log(-1)));
	assert_true(isnan(portable_log(NAN)));
	assert_true(portable_log(INFINITY) == INFINITY);
	assert_near(portable_log(0x1p-1074), -744.4400719213812, 1e-15);
	assert_true(portable_log1p(-1) == -INFINITY);
	assert_true(isnan(portable_log1p(-2)));
	assert_true(isnan(portable_log1p(NAN)));
	assert_true(portable_log1p(INFINITY) == INFINITY);
	assert_true(portable_exp(-1e9) == 0);
	assert_true(portable_exp(-INFINITY) == 0);
	assert_true(portable_exp(0) == 1);
	assert_true(portable_exp(711) == INFINITY);
	assert_near(portable_exp(709.5), 1.3549863193146328e308, 1e-15);
	assert_true(isnan(portable_exp(NAN)));
	assert_true(portable_expm1(-INFINITY) == -1);
	assert_true(portable_expm1(0) == 0);
	assert_true(portable_expm1(1e4) == INFINITY);
	assert_true(isnan(portable_expm1(NAN)));
	assert_true(portable_power(0, 0) == 1);
	assert_true(portable_power(3, 5) == 243);
	assert_true(portable_power(0.5, 255) == 0x1p-255);
	assert_true(portable_sqrt(0) == 0);
	assert_true(portable_sqrt(144) == 12);
	assert_true(portable_sqrt(INFINITY) == INFINITY);
	assert_true(isnan(portable_sqrt(-1)));
	assert_near(portable_sqrt(0x1p-1074), 0x1p-537, 1e-15);
}

/* ------------------------------------------------------------------------ rates */

static void bound__classic__formula(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(classic_bounds); i++) {
		struct sketch_params params =
			params_of(SKETCH_CLASSIC, classic_bounds[i].k, 0, classic_bounds[i].m, 1);

		assert_just_above(sketch_rate_bound(&params, classic_bounds[i].n),
				  classic_bounds[i].bound, 2e-12);
	}
}

static void bound__classic_small_m__above_exact_rate(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(classic_exacts); i++) {
		struct sketch_params params =
			params_of(SKETCH_CLASSIC, classic_exacts[i].k, 0, classic_exacts[i].m, 1);

		assert_true(sketch_rate_bound(&params, classic_exacts[i].n) >=
			    classic_exacts[i].rate);
	}
}

/* Figures of Christensen, Roginsky and Jimeno's kind for larger filters. */
static void bound__classic_known_exact_rates__just_above(void **state)
{
	static const struct {
		uint64_t m, n;
		uint32_t k;
		double rate;
	} known[] = { { 512, 53, 7, 0.0098368632387 },   { 1000, 69, 10, 0.000962688606104 },
		      { 1024, 107, 7, 0.0101995517371 }, { 1024, 128, 4, 0.0240544200415 },
		      { 4096, 427, 7, 0.0100233562679 }, { 10000, 1043, 7, 0.0100346114832 } };

	(void)state;
	for (size_t i = 0; i < LENGTH(known); i++) {
		struct sketch_params params =
			params_of(SKETCH_CLASSIC, known[i].k, 0, known[i].m, 1);

		assert_just_above(sketch_rate_bound(&params, known[i].n), known[i].rate, 0.07);
	}
}

static void bound__blocked__exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(blocked_rates); i++) {
		struct sketch_params params = params_of(SKETCH_BLOCKED, blocked_rates[i].k,
							blocked_rates[i].g, blocked_rates[i].m, 1);

		assert_just_above(sketch_rate_bound(&params, blocked_rates[i].n),
				  blocked_rates[i].rate, 4e-12 * blocked_rates[i].g);
	}
}

static void bound__no_keys__0(void **state)
{
	struct sketch_params params = params_of(SKETCH_CLASSIC, 3, 0, 64, 1);

	(void)state;
	assert_true(sketch_rate_bound(&params, 0) == 0);
	params = params_of(SKETCH_BLOCKED, 3, 1, 512, 1);
	assert_true(sketch_rate_bound(&params, 0) == 0);
}

static void bound__beyond_all_measure__1_and_not_0(void **state)
{
	static const uint32_t hashes[] = { 1, 2, 3, 8, 9, 255 };
	struct sketch_params params;

	(void)state;
	for (size_t i = 0; i < LENGTH(hashes); i++) {
		uint32_t k = hashes[i];

		params = params_of(SKETCH_CLASSIC, k, 0, 64, 1);
		assert_true(sketch_rate_bound(&params, UINT64_MAX) == 1);
		for (uint64_t lines = 1; lines <= 1000; lines *= 10) {
			params = params_of(SKETCH_BLOCKED, k, 1, 512 * lines, 1);
			assert_true(sketch_rate_bound(&params, UINT64_MAX) == 1);
			params = params_of(SKETCH_BLOCKED, k, k, 512 * k * lines, 1);
			assert_true(sketch_rate_bound(&params, UINT64_MAX) == 1);
		}
		params = params_of(SKETCH_CLASSIC, k, 0, UINT64_C(1) << 62, 1);
		assert_true(sketch_rate_bound(&params, 1) > 0);
		params = params_of(SKETCH_BLOCKED, k, k, (UINT64_C(1) << 53) * k, 1);
		assert_true(sketch_rate_bound(&params, 1) > 0);
	}
	params = params_of(SKETCH_CLASSIC, 1, 0, 1, 1);
	assert_true(sketch_rate_bound(&params, 1) == 1);
}

static void bound__more_keys_or_fewer_bits__rises(void **state)
{
	static const struct {
		uint32_t layout, k, g;
	} shapes[] = { { 1, 7, 0 }, { 1, 1, 0 },  { 2, 8, 1 },  { 2, 6, 1 },
		       { 2, 2, 1 }, { 2, 16, 2 }, { 2, 15, 3 }, { 2, 40, 1 } };

	(void)state;
	for (size_t i = 0; i < LENGTH(shapes); i++) {
		enum sketch_layout layout = (enum sketch_layout)shapes[i].layout;
		uint64_t unit = sizing_unit(layout, shapes[i].g);
		double last = 0;

		for (uint64_t n = 1; n < 2000000; n += n / 3 + 1) {
			struct sketch_params params =
				params_of(layout, shapes[i].k, shapes[i].g, unit * 40, n);
			double bound = sketch_rate_bound(&params, n);

			assert_true(bound >= last * (1 - 1e-11));
			params.m -= unit;
			assert_true(sketch_rate_bound(&params, n) >= bound * (1 - 1e-11));
			last = bound;
		}
		assert_true(last > 0.999);
	}
}

/* ------------------------------------------------------------- simulated filters */

struct sample {
	double rate, rate_error; /* mean over filters, and its standard error */
	double fill, deviation;
};

static double line_rate(const uint64_t *words, uint32_t hashes, double *ones)
{
	double product = 1, sum = 0;

	for (int w = 0; w < 8; w++) {
		double count = __builtin_popcountll(words[w]);

		product *= count / 64;
		sum += count;
	}
	*ones += sum;
	return hashes == 8 ? product : portable_power(sum / 512, hashes);
}

/* One filter of ideal hashes: its rate for keys that were not added, given its
 * bits, and the fraction of ones. */
static void simulate(uint64_t *random, uint32_t g, uint32_t hashes, uint64_t lines, uint64_t n,
		     double *rate, double *fill)
{
	uint64_t *words = calloc(lines * 8, sizeof *words);
	double ones = 0, sum;

	assert_non_null(words);
	*rate = 1;
	for (uint32_t segment = 0; segment < g; segment++) {
		memset(words, 0, lines * 64);
		for (uint64_t key = 0; key < n; key++) {
			uint64_t *line = words + 8 * below(random, lines);

			for (uint32_t i = 0; i < hashes; i++) {
				uint64_t word = hashes == 8 ? i : below(random, 8);

				line[word] |= UINT64_C(1) << below(random, 64);
			}
		}
		sum = 0;
		for (uint64_t i = 0; i < lines; i++)
			sum += line_rate(words + 8 * i, hashes, &ones);
		*rate *= sum / (double)lines;
	}
	*fill = ones / (double)(512 * lines * g);
	free(words);
}

static struct sample simulate_many(uint64_t seed, int filters, uint32_t g, uint32_t hashes,
				   uint64_t lines, uint64_t n)
{
	double rate_sum = 0, rate_squares = 0, fill_sum = 0, fill_squares = 0, rate, fill;
	struct sample sample;

	for (int i = 0; i < filters; i++) {
		simulate(&seed, g, hashes, lines, n, &rate, &fill);
		rate_sum += rate;
		rate_squares += rate * rate;
		fill_sum += fill;
		fill_squares += fill * fill;
	}
	sample.rate = rate_sum / filters;
	sample.rate_error = sqrt((rate_squares / filters - sample.rate * sample.rate) / filters);
	sample.fill = fill_sum / filters;
	sample.deviation = sqrt(fill_squares / filters - sample.fill * sample.fill);
	return sample;
}

/* The means of 2000 filters are close to normal: 4.5 standard errors are missed once
 * in 150 000 times.  A sample's standard deviation has about itself / sqrt(2 * 2000)
 * for a standard error, so 8 % are five of them. */
static void bound_and_fill__simulated_filters__agree(void **state)
{
	static const struct {
		uint32_t g, hashes;
		uint64_t lines, n;
	} cases[] = { { 1, 8, 1, 60 },  { 1, 8, 2, 100 },  { 1, 8, 20, 1000 }, { 2, 8, 5, 200 },
		      { 1, 6, 1, 50 },  { 1, 6, 10, 500 }, { 1, 3, 4, 400 },   { 2, 5, 8, 300 },
		      { 3, 7, 3, 120 }, { 1, 1, 3, 700 },  { 4, 2, 2, 200 },   { 1, 12, 6, 150 } };
	const int filters = 2000;

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct sketch_params params =
			params_of(SKETCH_BLOCKED, cases[i].g * cases[i].hashes, cases[i].g,
				  512 * cases[i].g * cases[i].lines, 1);
		struct sample sample = simulate_many(i + 1, filters, cases[i].g, cases[i].hashes,
						     cases[i].lines, cases[i].n);
		double deviation = sketch_fill_deviation(&params, cases[i].n);

		assert_true(fabs(sketch_rate_bound(&params, cases[i].n) - sample.rate) <=
			    4.5 * sample.rate_error);
		assert_true(fabs(sketch_fill_expected(&params, cases[i].n) - sample.fill) <=
			    4.5 * deviation / sqrt(filters));
		assert_near(sample.deviation, deviation, 0.08);
	}
}

/* ------------------------------------------------------------------------- fill */

static void fill__expected_and_deviation__as_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(fills); i++) {
		struct sketch_params params = params_of((enum sketch_layout)fills[i].layout,
							fills[i].k, fills[i].g, fills[i].m, 1);
		double deviation = sketch_fill_deviation(&params, fills[i].n);

		assert_near(sketch_fill_expected(&params, fills[i].n), fills[i].expected, 1e-13);
		if (fills[i].deviation < 1e-8 * fills[i].expected)
			assert_true(deviation >= 0 && deviation < 1e-8);
		else
			assert_near(deviation, fills[i].deviation, 1e-9);
	}
}

static void fill_deviation__one_and_two_lines__as_whole_distribution(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(deviations); i++) {
		struct sketch_params params = params_of(SKETCH_BLOCKED, deviations[i].k,
							deviations[i].g, deviations[i].m, 1);

		assert_near(sketch_fill_deviation(&params, deviations[i].n),
			    deviations[i].deviation, 1e-12);
	}
}

static void fill__no_keys__0(void **state)
{
	struct sketch_params params = params_of(SKETCH_CLASSIC, 3, 0, 64, 1);

	(void)state;
	assert_true(sketch_fill_expected(&params, 0) == 0);
	assert_true(sketch_fill_deviation(&params, 0) == 0);
	params = params_of(SKETCH_BLOCKED, 8, 1, 512, 1);
	assert_true(sketch_fill_expected(&params, 0) == 0);
	assert_true(sketch_fill_deviation(&params, 0) == 0);
}

static void fill__countless_keys__1_without_deviation(void **state)
{
	static const uint32_t hashes[] = { 1, 3, 8 };

	(void)state;
	for (size_t i = 0; i < LENGTH(hashes); i++) {
		struct sketch_params params = params_of(SKETCH_CLASSIC, hashes[i], 0, 640, 1);

		assert_true(sketch_fill_expected(&params, UINT64_MAX) == 1);
		assert_true(sketch_fill_deviation(&params, UINT64_MAX) == 0);
		params = params_of(SKETCH_BLOCKED, hashes[i], 1, 5120, 1);
		assert_true(sketch_fill_expected(&params, UINT64_MAX) == 1);
		assert_true(sketch_fill_deviation(&params, UINT64_MAX) == 0);
	}
}

static void distinct__expected_fill__keys_again(void **state)
{
	static const struct {
		uint32_t layout, k, g;
		uint64_t m;
	} shapes[] = { { 1, 7, 0, 1 << 20 },
		       { 1, 1, 0, 1 << 20 },
		       { 2, 8, 1, 1 << 20 },
		       { 2, 6, 2, 1 << 20 },
		       { 2, 48, 3, 1536 * 700 } };

	(void)state;
	for (size_t i = 0; i < LENGTH(shapes); i++) {
		struct sketch_params params = params_of((enum sketch_layout)shapes[i].layout,
							shapes[i].k, shapes[i].g, shapes[i].m, 1);

		for (uint64_t n = 1000; n <= 200000; n *= 2) {
			double ones = sketch_fill_expected(&params, n) * (double)params.m;
			double one = sketch_distinct(&params, (uint64_t)ones + 1) -
				     sketch_distinct(&params, (uint64_t)ones);

			if (ones + 1 >= (double)params.m)
				break;
			assert_true(fabs(sketch_distinct(&params, (uint64_t)ones) - (double)n) <=
				    one * 1.000001);
		}
	}
}

static void distinct__empty_and_full__0_and_infinity(void **state)
{
	struct sketch_params params = params_of(SKETCH_CLASSIC, 7, 0, 640, 1);

	(void)state;
	assert_true(sketch_distinct(&params, 0) == 0);
	assert_true(sketch_distinct(&params, 640) == INFINITY);
	assert_true(sketch_distinct(&params, 641) == INFINITY);
	assert_true(sketch_distinct(&params, 639) < 1000);
	params = params_of(SKETCH_BLOCKED, 8, 1, 512, 1);
	assert_true(sketch_distinct(&params, 0) == 0);
	assert_near(sketch_distinct(&params, 8), 1, 1e-12);
	assert_true(sketch_distinct(&params, 512) == INFINITY);
}

/* ----------------------------------------------------------------- params_check */

static void assert_check(struct sketch_params params, const char *text)
{
	struct sketch_error error = { 0 };

	assert_int_equal(sketch_params_check(&params, &error), SKETCH_RANGE);
	assert_int_equal(error.status, SKETCH_RANGE);
	assert_string_equal(error.text, text);
	assert_int_equal(sketch_params_check(&params, NULL), SKETCH_RANGE);
}

static void params_check__each_field_wrong__named(void **state)
{
	const struct sketch_params classic = {
		.layout = SKETCH_CLASSIC, .k = 7, .m = 640, .n = 9, .p = 0.01
	};
	const struct sketch_params blocked = {
		.layout = SKETCH_BLOCKED, .k = 16, .g = 2, .m = 4096, .n = 9, .p = 0.01
	};
	struct sketch_params params;

	(void)state;
	assert_int_equal(sketch_params_check(&classic, NULL), SKETCH_OK);
	assert_int_equal(sketch_params_check(&blocked, NULL), SKETCH_OK);
	params = classic, params.k = 0;
	assert_check(params, "k = 0 is out of range (1 to 255)");
	params = classic, params.k = 300;
	assert_check(params, "k = 300 is out of range (1 to 255)");
	params = classic, params.g = 1;
	assert_check(params, "g = 1 is out of range (0 where the layout is classic)");
	params = classic, params.m = 0;
	assert_check(params, "m = 0 is out of range (64 to 9223372036854775744)");
	params = classic, params.m = UINT64_C(1) << 63;
	assert_check(params, "m = 9223372036854775808 is out of range (64 to "
			     "9223372036854775744)");
	params = classic, params.m = 650;
	assert_check(params, "m = 650 is no multiple of 64");
	params = classic, params.n = 0;
	assert_check(params, "n = 0 is out of range (1 to 18446744073709551615)");
	params = classic, params.p = 0;
	assert_check(params, "p = 0 is out of range (above 0, at most 1)");
	params = classic, params.p = 1.5;
	assert_check(params, "p = 1.5 is out of range (above 0, at most 1)");
	params = classic, params.p = NAN;
	assert_int_equal(sketch_params_check(&params, NULL), SKETCH_RANGE);
	params = classic, params.layout = (enum sketch_layout)7;
	assert_check(params, "layout 7 is unknown (1 is classic, 2 blocked)");
	params = blocked, params.g = 0;
	assert_check(params, "g = 0 is out of range (1 to 16)");
	params = blocked, params.g = 17;
	assert_check(params, "g = 17 is out of range (1 to 16)");
	params = blocked, params.g = 3;
	assert_check(params, "k = 16 is no multiple of g = 3");
	params = blocked, params.m = 512;
	assert_check(params, "m = 512 is out of range (1024 to 9223372036854774784)");
	params = blocked, params.m = 4096 + 512;
	assert_check(params, "m = 4608 is no multiple of 1024");
}

/* ------------------------------------------------------------------------- plans */

static struct sketch_request random_request(uint64_t *random)
{
	struct sketch_request request = { 0 };

	request.layout = next_random(random) & 1 ? SKETCH_CLASSIC : SKETCH_BLOCKED;
	request.n = (uint64_t)log_between(random, 1, next_random(random) & 1 ? 1e4 : 1e15);
	request.p = next_random(random) & 1 ? between(random, 0.0001, 0.9999) :
					      log_between(random, 1e-12, 0.5);
	if (next_random(random) % 4 == 0) {
		request.k = (uint32_t)below(random, 24) + 1;
		if (request.layout == SKETCH_BLOCKED && (next_random(random) & 1))
			request.g = 1 + (request.k % 2 == 0);
	}
	return request;
}

/* The bound with one unit of m less; 1 where there is none. */
static double bound_of_smaller(struct sketch_params params)
{
	params.m -= sizing_unit(params.layout, params.g);
	return params.m == 0 ? 1 : sketch_rate_bound(&params, params.n);
}

static void plan__random_n_and_p__least_m_that_keeps_p(void **state)
{
	uint64_t random = 11;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct sketch_request request = random_request(&random);
		struct sketch_params found;

		if (!possible(request)) {
			assert_int_not_equal(request.k, 0); /* a few k would need 2^63 bits */
			continue;
		}
		found = plan(&request);
		assert_int_equal(found.n, request.n);
		assert_true(found.p == request.p);
		if (request.k != 0)
			assert_int_equal(found.k, request.k);
		if (request.g != 0)
			assert_int_equal(found.g, request.g);
		assert_true(sketch_rate_bound(&found, found.n) <= request.p);
		assert_true(bound_of_smaller(found) > request.p);
	}
}

/* Field by field: between them there may be bytes that nobody sets. */
static void assert_same(const struct sketch_params *a, const struct sketch_params *b)
{
	assert_int_equal(a->layout, b->layout);
	assert_int_equal(a->k, b->k);
	assert_int_equal(a->g, b->g);
	assert_int_equal(a->m, b->m);
	assert_int_equal(a->n, b->n);
	assert_memory_equal(&a->p, &b->p, sizeof a->p);
}

static void plan__what_was_found_given_again__the_same(void **state)
{
	uint64_t random = 12;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct sketch_request request = random_request(&random);
		struct sketch_params found, again;

		if (!possible(request))
			continue;
		found = plan(&request);
		request = (struct sketch_request){ found.layout, found.n, found.p,
						   found.m,      found.k, found.g };
		again = plan(&request);
		assert_same(&again, &found);

		request.m = 0;
		again = plan(&request);
		assert_int_equal(again.m, found.m);

		request.m = found.m;
		request.p = 0;
		again = plan(&request);
		assert_true(again.p <= found.p);
		assert_true(again.p == sketch_rate_bound(&again, again.n));

		request.p = found.p;
		request.n = 0;
		again = plan(&request);
		assert_true(again.n >= found.n);
		assert_true(sketch_rate_bound(&again, again.n) <= found.p);
		assert_true(again.n == UINT64_C(1000000000000000000) ||
			    sketch_rate_bound(&again, again.n + 1) > found.p);

		request.n = found.n;
		request.m -= sizing_unit(found.layout, found.g);
		if (request.m != 0)
			assert_false(possible(request));
	}
}

static void plan__m_and_p__holds_at_least_the_keys_it_was_sized_for(void **state)
{
	uint64_t random = 13;

	(void)state;
	for (int i = 0; i < 500; i++) {
		struct sketch_request request = random_request(&random);
		struct sketch_params found, again;

		request.k = request.g = 0;
		found = plan(&request);
		request.n = 0;
		request.m = found.m + below(&random, 64);
		again = plan(&request);
		assert_int_equal(again.g, found.g);
		assert_int_equal(again.m, found.m);
		assert_true(again.n >= found.n);
	}
}

static void plan__classic_n_and_p__least_of_all_k(void **state)
{
	uint64_t random = 14;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct sketch_request request = random_request(&random);
		struct sketch_params found, other;

		request.layout = SKETCH_CLASSIC;
		request.k = request.g = 0;
		found = plan(&request);
		for (uint32_t k = 1; k <= SKETCH_MAX_HASHES; k++) {
			request.k = k;
			if (sketch_plan(&request, &other, NULL) != SKETCH_OK)
				continue;
			assert_true(k < found.k ? other.m > found.m : other.m >= found.m);
		}
	}
}

static void plan__blocked_n_and_p__within_3_percent_of_all_k_for_g(void **state)
{
	uint64_t random = 15;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct sketch_request request = random_request(&random);
		struct sketch_params found, other;
		bool words;

		request.layout = SKETCH_BLOCKED;
		request.k = request.g = 0;
		found = plan(&request);
		words = found.k == 8 * found.g;
		request.g = found.g;
		for (uint32_t k = found.g; k <= 40 * found.g && k <= 255; k += found.g) {
			request.k = k;
			if (sketch_plan(&request, &other, NULL) != SKETCH_OK)
				continue;
			if (!words && k < found.k)
				assert_true(other.m > found.m);
			else if (!words)
				assert_true(other.m >= found.m);
			else if (request.n > 1000000) /* units do not matter there */
				assert_true((double)found.m <= 1.0301 * (double)other.m);
		}
	}
}

static void plan__blocked_n_and_p__least_g_within_10_percent(void **state)
{
	uint64_t random = 16;

	(void)state;
	for (int i = 0; i < 60; i++) {
		struct sketch_request request = { .layout = SKETCH_BLOCKED, .n = 1000000000 };
		struct sketch_params found, classic, fewer;

		request.p = log_between(&random, 1e-20, 0.9);
		found = plan(&request);
		request.layout = SKETCH_CLASSIC;
		classic = plan(&request);
		assert_true((double)found.m <= 1.1001 * (double)classic.m);
		request.layout = SKETCH_BLOCKED;
		for (request.g = 1; request.g < found.g; request.g++) {
			fewer = plan(&request);
			assert_true((double)fewer.m > 1.0999 * (double)classic.m);
		}
	}
}

static void plan__larger_n__never_smaller_m(void **state)
{
	static const double rates[] = { 0.999, 0.9,  0.5,  0.1,  0.03, 0.01,
					1e-3,  5e-4, 1e-4, 1e-6, 1e-9, 1e-15 };

	(void)state;
	for (int layout = SKETCH_CLASSIC; layout <= SKETCH_BLOCKED; layout++) {
		for (size_t i = 0; i < LENGTH(rates); i++) {
			struct sketch_request request = { .layout = (enum sketch_layout)layout,
							  .p = rates[i] };
			uint64_t last = 0;

			for (request.n = 1; request.n < UINT64_C(100000000000);
			     request.n += request.n < 100 ? 1 : request.n / 6) {
				struct sketch_params found = plan(&request);

				assert_true(found.m >= last);
				last = found.m;
			}
		}
	}
}

/* Where p falls so far that a line is added, m may fall by up to 8 %. */
static void plan__smaller_p__never_smaller_m_for_the_same_g(void **state)
{
	static const uint64_t keys[] = { 1, 10, 1000, 1000000, UINT64_C(1000000000000) };

	(void)state;
	for (int layout = SKETCH_CLASSIC; layout <= SKETCH_BLOCKED; layout++) {
		for (size_t i = 0; i < LENGTH(keys); i++) {
			struct sketch_request request = { .layout = (enum sketch_layout)layout,
							  .n = keys[i] };
			struct sketch_params last = { 0 }, found;

			for (request.p = 0.99999; request.p > 1e-10; request.p *= 0.91) {
				found = plan(&request);
				assert_true(found.g >= last.g);
				if (found.g == last.g)
					assert_true(found.m >= last.m);
				else if (keys[i] >= 1000000)
					assert_true((double)found.m >= 0.92 * (double)last.m);
				last = found;
			}
		}
	}
}

static void plan__n_m_p__least_lines_and_for_them_the_smallest_k(void **state)
{
	uint64_t random = 17;

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct sketch_request request = random_request(&random);
		struct sketch_params found;

		request.k = request.g = 0;
		found = plan(&request);
		request.m = (uint64_t)((double)found.m * between(&random, 0.95, 3));
		if (request.m < 512)
			continue;
		if (!possible(request)) {
			for (request.k = 1; request.k <= 40; request.k++)
				assert_false(possible(request));
			continue;
		}
		found = plan(&request);
		assert_true(sketch_rate_bound(&found, found.n) <= request.p);
		assert_true(request.m - found.m < sizing_unit(found.layout, found.g));
		request.g = found.g;
		for (request.k = 1; request.k < found.k; request.k++)
			assert_false(possible(request));
		request.k = 0;
		for (request.g = 1; request.g < found.g; request.g++)
			assert_false(possible(request));
	}
}

static void plan__n_and_m__least_bound(void **state)
{
	uint64_t random = 18;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct sketch_request request = { 0 };
		struct sketch_params found, other, smaller;
		bool words;

		request.layout = next_random(&random) & 1 ? SKETCH_CLASSIC : SKETCH_BLOCKED;
		request.n = (uint64_t)log_between(&random, 1, 1e9);
		request.m = 512 + (uint64_t)((double)request.n * between(&random, 0.2, 40));
		found = plan(&request);
		assert_true(found.p == sketch_rate_bound(&found, found.n));
		request.g = found.g;
		words = found.g != 0 && found.k == 8 * found.g;
		for (uint32_t h = 1; h <= 60 && h * (found.g + !found.g) <= 255; h++) {
			request.k = h * (found.g + !found.g);
			other = plan(&request);
			if (!words) {
				assert_true(h == 8 || found.p <= other.p);
				continue;
			}
			/* whole lines: not finer than this where there are few */
			if (found.m < 1000000)
				continue;
			smaller = other;
			smaller.m = (uint64_t)((double)found.m / 1.031);
			assert_true(found.p <= sketch_rate_bound(&smaller, found.n));
		}
	}
}

static void plan__published_sizes__reached(void **state)
{
	static const struct {
		double p, bits;
		uint32_t k, g;
	} known[] = { { 1e-2, 10.10, 8, 1 },
		      { 1e-3, 15.7, 8, 1 },
		      { 1e-4, 20.2, 16, 2 },
		      { 1e-6, 31.5, 16, 2 } };

	(void)state;
	for (size_t i = 0; i < LENGTH(known); i++) {
		struct sketch_request request = { .layout = SKETCH_BLOCKED,
						  .n = 10000000,
						  .p = known[i].p };
		struct sketch_params found = plan(&request);

		assert_int_equal(found.k, known[i].k);
		assert_int_equal(found.g, known[i].g);
		assert_near((double)found.m / 1e7, known[i].bits, 0.002);
	}
}

/* The textbook's size for a million keys at 1 %, 9585059 bits, gives 0.0100392. */
static void plan__classic_million_at_1_percent__above_textbook(void **state)
{
	struct sketch_request request = { .layout = SKETCH_CLASSIC, .n = 100000, .p = 0.01 };
	struct sketch_params found = plan(&request);

	(void)state;
	assert_int_equal(found.k, 7);
	assert_true(found.m > 959296 && found.m < 959296 + 4 * 64);
	found.m = 958528;
	assert_true(sketch_rate_bound(&found, found.n) > 0.01);
}

static void plan__extremes__within_limits(void **state)
{
	static const struct sketch_request requests[] = {
		{ SKETCH_CLASSIC, 1, 0.999, 0, 0, 0 },
		{ SKETCH_CLASSIC, 1, 1e-300, 0, 0, 0 },
		{ SKETCH_CLASSIC, UINT64_C(1000000000000000000), 0.5, 0, 0, 0 },
		{ SKETCH_CLASSIC, 1000, 0, SKETCH_MAX_BITS, 0, 0 },
		{ SKETCH_CLASSIC, 0, 0.9, SKETCH_MAX_BITS, 0, 0 },
		{ SKETCH_CLASSIC, UINT64_C(1000000000000000000), 0, 64, 0, 0 },
		{ SKETCH_BLOCKED, 1, 0.999, 0, 0, 0 },
		{ SKETCH_BLOCKED, 1, 1e-300, 0, 0, 0 },
		{ SKETCH_BLOCKED, 1000, 1e-300, 0, 0, 0 },
		{ SKETCH_BLOCKED, UINT64_C(1000000000000000000), 0.5, 0, 0, 0 },
		{ SKETCH_BLOCKED, 1000, 0, SKETCH_MAX_BITS, 0, 0 },
		{ SKETCH_BLOCKED, 0, 0.9, SKETCH_MAX_BITS, 0, 0 },
		{ SKETCH_BLOCKED, UINT64_C(1000000000000000000), 0, 512, 0, 0 },
		{ SKETCH_BLOCKED, 100, 0.9999999999999999, 0, 0, 0 },
		{ SKETCH_BLOCKED, 100, 0.01, 0, 255, 0 },
		{ SKETCH_BLOCKED, 100, 0.01, 0, 0, 255 },
		{ SKETCH_BLOCKED, 0, 1e-6, 512, 0, 0 }
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(requests); i++) {
		struct sketch_params found = plan(&requests[i]);

		assert_true(sketch_rate_bound(&found, found.n) <= found.p);
	}
}

static void plan__out_of_range_or_missing__named(void **state)
{
	const struct sketch_request given = { .layout = SKETCH_BLOCKED, .n = 1000, .p = 0.01 };
	struct sketch_request request;

	(void)state;
	request = given, request.k = 300;
	assert_refused(request, SKETCH_RANGE, "k = 300 is out of range (1 to 255)");
	request = given, request.g = 300;
	assert_refused(request, SKETCH_RANGE, "g = 300 is out of range (1 to 255)");
	request = given, request.k = 10, request.g = 3;
	assert_refused(request, SKETCH_RANGE, "k = 10 is no multiple of g = 3");
	request = given, request.layout = SKETCH_CLASSIC, request.g = 3;
	assert_refused(request, SKETCH_RANGE, "g = 3 is given, but a classic filter has no lines");
	request = given, request.layout = (enum sketch_layout)0;
	assert_refused(request, SKETCH_RANGE, "layout 0 is unknown (1 is classic, 2 blocked)");
	request = given, request.n = UINT64_C(1000000000000000001);
	assert_refused(request, SKETCH_RANGE,
		       "n = 1000000000000000001 is out of range (1 to "
		       "1000000000000000000)");
	request = given, request.p = 1;
	assert_refused(request, SKETCH_RANGE, "p = 1 is out of range (1e-300 to less than 1)");
	request = given, request.p = -0.5;
	assert_refused(request, SKETCH_RANGE, "p = -0.5 is out of range (1e-300 to less than 1)");
	request = given, request.p = 1e-301;
	assert_refused(request, SKETCH_RANGE, "p = 1e-301 is out of range (1e-300 to less than 1)");
	request = given, request.p = NAN;
	assert_false(possible(request));
	request = given, request.m = 500;
	assert_refused(request, SKETCH_RANGE,
		       "m = 500 is out of range (512 to "
		       "9223372036854775807)");
	request = given, request.m = 1000, request.g = 2;
	assert_refused(request, SKETCH_RANGE,
		       "m = 1000 is out of range (1024 to "
		       "9223372036854775807)");
	request = given, request.p = 0;
	assert_refused(request, SKETCH_RANGE, "p or m is missing");
	request = given, request.n = 0;
	assert_refused(request, SKETCH_RANGE, "n or m is missing");
	request = given, request.n = 0, request.p = 0, request.m = 4096, request.k = 3;
	assert_refused(request, SKETCH_RANGE, "n or p is missing");
	request = given, request.n = 0, request.p = 0;
	assert_refused(request, SKETCH_RANGE,
		       "two of n, p and m are needed: one of them is "
		       "missing");
}

static void plan__unreachable__names_what_would_do(void **state)
{
	struct sketch_request request = { .layout = SKETCH_CLASSIC,
					  .p = 0.01,
					  .n = UINT64_C(1000000000000000000) };

	(void)state;
	assert_refused(request, SKETCH_UNREACHABLE,
		       "n = 1000000000000000000 at p = 0.01 needs "
		       "1199119339635388416 bytes; the limit is 1152921504606846975 bytes");
	request.p = 1e-300;
	assert_refused(request, SKETCH_UNREACHABLE,
		       "n = 1000000000000000000 at p = 1e-300 needs "
		       "4.62e+20 bytes; the limit is 1152921504606846975 bytes");
	request.layout = SKETCH_BLOCKED;
	request.p = 0.01;
	assert_refused(request, SKETCH_UNREACHABLE,
		       "n = 1000000000000000000 at p = 0.01 needs "
		       "1262413466555612672 bytes; the limit is 1152921504606846975 bytes");
	request = (struct sketch_request){ SKETCH_CLASSIC, 1000000, 0.01, 9500000, 0, 0 };
	assert_refused(request, SKETCH_UNREACHABLE,
		       "m = 9500000 does not keep p = 0.01 for n = "
		       "1000000; m = 9593024 would");
	request = (struct sketch_request){ SKETCH_BLOCKED, 1000000, 0.01, 8000000, 7, 0 };
	assert_refused(request, SKETCH_UNREACHABLE,
		       "m = 8000000 does not keep p = 0.01 for n = "
		       "1000000 with k = 7; m = 9929728 would");
	request = (struct sketch_request){ SKETCH_CLASSIC, 0, 1e-300, 512, 0, 0 };
	assert_refused(request, SKETCH_UNREACHABLE,
		       "m = 512 does not keep p = 1e-300 even for "
		       "one key; m = 5568 would");
	request = (struct sketch_request){
		SKETCH_CLASSIC, UINT64_C(1000000000000000000), 0.01, 64000, 0, 0
	};
	assert_refused(request, SKETCH_UNREACHABLE,
		       "m = 64000 does not keep p = 0.01 for n = "
		       "1000000000000000000");
}

static void plan__bound_is_1__p_is_1(void **state)
{
	struct sketch_request request = { .layout = SKETCH_CLASSIC, .n = 1000000, .m = 64 };

	(void)state;
	assert_true(plan(&request).p == 1);
}

/* --------------------------------------------------------------------- portability */

static void digest(uint64_t *sum, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		*sum = (*sum ^ bytes[i]) * UINT64_C(0x100000001b3);
}

static void digest_double(uint64_t *sum, double x)
{
	uint8_t bytes[8];
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	for (size_t i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(bits >> (8 * i));
	digest(sum, bytes, sizeof bytes);
}

/* The last bit of each of some 13 000 results enters one number, which must be the
 * same for every compiler, optimisation and machine. */
static void results__on_any_machine__same_bits(void **state)
{
	uint64_t random = 19, sum = UINT64_C(0xcbf29ce484222325);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct sketch_request request = random_request(&random);
		struct sketch_params found;

		if (!possible(request))
			continue;
		found = plan(&request);
		digest_double(&sum, (double)found.m);
		digest_double(&sum, found.k);
		digest_double(&sum, found.g);
		for (uint64_t n = found.n / 2 + 1; n < found.n * 8; n *= 2) {
			digest_double(&sum, sketch_rate_bound(&found, n));
			digest_double(&sum, sketch_fill_expected(&found, n));
			digest_double(&sum, sketch_fill_deviation(&found, n));
		}
		digest_double(&sum, sketch_distinct(&found, found.m / 3));
	}
	if (sum != UINT64_C(0x64a250295aa41bdb)) {
		print_error("the digest is %016" PRIx64 "\n", sum);
		fail();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions__over_their_range__within_4_ulp),
		cmocka_unit_test(functions__at_the_edges__limits),
		cmocka_unit_test(bound__classic__formula),
		cmocka_unit_test(bound__classic_small_m__above_exact_rate),
		cmocka_unit_test(bound__classic_known_exact_rates__just_above),
		cmocka_unit_test(bound__blocked__exact),
		cmocka_unit_test(bound__no_keys__0),
		cmocka_unit_test(bound__beyond_all_measure__1_and_not_0),
		cmocka_unit_test(bound__more_keys_or_fewer_bits__rises),
		cmocka_unit_test(bound_and_fill__simulated_filters__agree),
		cmocka_unit_test(fill__expected_and_deviation__as_reference),
		cmocka_unit_test(fill_deviation__one_and_two_lines__as_whole_distribution),
		cmocka_unit_test(fill__no_keys__0),
		cmocka_unit_test(fill__countless_keys__1_without_deviation),
		cmocka_unit_test(distinct__expected_fill__keys_again),
		cmocka_unit_test(distinct__empty_and_full__0_and_infinity),
		cmocka_unit_test(params_check__each_field_wrong__named),
		cmocka_unit_test(plan__random_n_and_p__least_m_that_keeps_p),
		cmocka_unit_test(plan__what_was_found_given_again__the_same),
		cmocka_unit_test(plan__m_and_p__holds_at_least_the_keys_it_was_sized_for),
		cmocka_unit_test(plan__classic_n_and_p__least_of_all_k),
		cmocka_unit_test(plan__blocked_n_and_p__within_3_percent_of_all_k_for_g),
		cmocka_unit_test(plan__blocked_n_and_p__least_g_within_10_percent),
		cmocka_unit_test(plan__larger_n__never_smaller_m),
		cmocka_unit_test(plan__smaller_p__never_smaller_m_for_the_same_g),
		cmocka_unit_test(plan__n_m_p__least_lines_and_for_them_the_smallest_k),
		cmocka_unit_test(plan__n_and_m__least_bound),
		cmocka_unit_test(plan__published_sizes__reached),
		cmocka_unit_test(plan__classic_million_at_1_percent__above_textbook),
		cmocka_unit_test(plan__extremes__within_limits),
		cmocka_unit_test(plan__out_of_range_or_missing__named),
		cmocka_unit_test(plan__unreachable__names_what_would_do),
		cmocka_unit_test(plan__bound_is_1__p_is_1),
		cmocka_unit_test(results__on_any_machine__same_bits)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
