/* Is the rate of false positives what was promised?
 *
 * The promise is about the expectation over seeds, so many filters are filled under
 * different seeds, and each is asked for keys that it does not hold.  Filter f of F
 * has a rate r_f of its own, which follows from its bits; of Q keys asked it finds
 * X_f.  Four things are checked, each at a level of 10^-6 in one tail:
 *
 *   ceiling   The total X of the X_f against the bound.  The X_f scatter more than
 *             binomials do, because the r_f differ: by the design effect [1]
 *             d = 1 + (Q - 1) s^2 / (r (1 - r)), s^2 the variance of the r_f.  So
 *             X / d is held against the upper tail of a binomial with F Q / d trials.
 *   probes    X against the r_f that were there, in both tails.  Given the bits, X is
 *             a sum of binomials of unlike rates, whose tails are no heavier than
 *             those of the binomial of the mean rate [2]: no scatter to be allowed
 *             for.  This finds positions that hang together, whatever the bits are.
 *   bits      The mean of the r_f against the bound: no larger.  The mean of F rates
 *             differs from its expectation by t s / sqrt(F), t after Student [3].
 *   model     The same from below: the bound of a blocked filter is its expectation,
 *             that of a classic one is above it by at most half a key's worth.  A
 *             smaller mean would mean that the sizes are too large.
 *
 * Seeds are fixed, so a run either passes for ever or points at a fault.  Keys that
 * are present and keys that are asked for are alike as they are in practice: numbers
 * in sequence, long common prefixes, present keys with a letter more, random bytes.
 *
 * [1] Kish, "Survey sampling", 1965, section 5.4
 * [2] Hoeffding, "On the distribution of the number of successes in independent
 *     trials", 1956, theorem 5
 * [3] Student, "The probable error of a mean", 1908 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format.h"
#include "support.h"

#define LEVEL 1e-6
#define LEVEL_SIGMAS 4.754 /* of the normal distribution */
#define BATCH 256

/* ----------------------------------------------------------------- statistics */

/* The probability of exactly x successes. */
static double binomial(double trials, double rate, double x)
{
	double ways = lgamma(trials + 1) - lgamma(x + 1) - lgamma(trials - x + 1);

	return exp(ways + x * log(rate) + (trials - x) * log1p(-rate));
}

/* The probability of x or more (up), or of x or fewer.  trials may be no whole
 * number. */
static double binomial_tail(double trials, double rate, double x, bool up)
{
	double step = up ? 1 : -1;
	double mean = trials * rate, sum = 0;

	if (rate <= 0 || rate >= 1 || (up ? x <= mean : x >= mean))
		return 1;
	for (double term; x >= 0 && x <= trials; x += step) {
		term = binomial(trials, rate, x);
		sum += term;
		if (term <= sum * 1e-12)
			break;
	}
	return sum;
}

/* The quantile of Student's distribution at LEVEL; no smaller than it is, for what
 * lies between. */
static double student(unsigned int samples)
{
	static const struct {
		unsigned int samples;
		double quantile;
	} table[] = { { 2000, 4.77 }, { 1000, 4.79 }, { 300, 4.85 }, { 200, 4.90 },
		      { 100, 5.06 },  { 60, 5.28 },   { 40, 5.58 },  { 30, 5.92 } };

	for (size_t i = 0; i < COUNT_OF(table); i++)
		if (samples >= table[i].samples)
			return table[i].quantile;
	fail_msg("%u samples are too few", samples);
	return 0;
}

/* Chi-square for `freedom` degrees: the value exceeded with probability LEVEL, or
 * that not reached with it (Wilson and Hilferty, "The distribution of chi-square",
 * 1931). */
static double chi_square_limit(double freedom, bool up)
{
	double part = 2 / (9 * freedom);

	return freedom * pow(1 - part + (up ? 1 : -1) * LEVEL_SIGMAS * sqrt(part), 3);
}

/* ----------------------------------------------------------------------- keys */

enum family { NUMBERS, PATHS, EXTENDED, RANDOM, FAMILIES };

static size_t decimal(char *to, uint64_t number)
{
	char digits[20];
	size_t count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	for (size_t i = 0; i < count; i++)
		to[i] = digits[count - 1 - i];
	return count;
}

/* Key i of a family: a present one, or an absent one that is like them. */
static struct sketch_hash key_hash(enum family family, uint64_t i, uint64_t present, bool absent,
				   uint32_t seed)
{
	static const char prefix[] = "https://www.example.org/catalogue/2024/item?id=";
	struct dice dice = { i << 1 | absent };
	char key[80];
	size_t length;

	switch (family) {
	case NUMBERS:
		length = decimal(key, absent ? present + i : i);
		break;
	case PATHS:
		memcpy(key, prefix, sizeof prefix - 1);
		length = sizeof prefix - 1;
		length += decimal(key + length, 1000000000000 + (absent ? present + i : i));
		break;
	case EXTENDED:
		length = decimal(key, absent ? i % present : i);
		if (absent) {
			key[length++] = '/';
			length += decimal(key + length, i / present);
		}
		break;
	default:
		length = 16;
		dice_fill(&dice, key, length);
		break;
	}
	return sketch_murmur3_x64_128(key, length, seed);
}

/* -------------------------------------------------------------------- measure */

struct measure {
	uint64_t keys;             /* in each filter */
	unsigned int filters;      /* F */
	uint64_t probes;           /* Q */
	unsigned int counter_bits; /* 0: a plain filter */
	/* results */
	uint64_t found; /* X */
	double rate;    /* mean of the r_f */
	double scatter; /* standard deviation of the r_f */
};

static uint32_t seed_of(unsigned int filter)
{
	/* Neighbouring seeds, as people choose them, and ones with high bits. */
	return filter % 2 ? filter : UINT32_MAX - 3 * filter;
}

/* To every second key of a counting filter comes one that is absent in the end, and asked
 * for then: it is put in before, and taken out after. */
static void fill_and_clear(struct sketch_bloom *filter, enum family family, uint64_t keys,
			   uint32_t seed)
{
	for (uint64_t i = 0; i < keys; i++) {
		struct sketch_hash key = key_hash(family, i, keys, false, seed);
		struct sketch_hash other = key_hash(family, i, keys, true, seed);
		uint64_t removed;

		if (i % 2 == 0)
			sketch_bloom_add(filter, &other, 1);
		sketch_bloom_add(filter, &key, 1);
		if (i % 2 == 0)
			assert_int_equal(sketch_counting_remove(filter, &other, 1, &removed), 1);
	}
}

static void fill_filter(struct sketch_bloom *filter, enum family family, uint64_t keys,
			uint32_t seed)
{
	struct sketch_hash hashes[BATCH];
	size_t count = 0;

	for (uint64_t i = 0; i < keys; i++) {
		hashes[count++] = key_hash(family, i, keys, false, seed);
		if (count == BATCH || i + 1 == keys) {
			sketch_bloom_add(filter, hashes, count);
			count = 0;
		}
	}
}

static uint64_t bits_of(uint64_t word)
{
	uint64_t count = 0;

	for (; word; word &= word - 1)
		count++;
	return count;
}

static uint64_t probe_filter(struct sketch_bloom *filter, enum family family, uint64_t keys,
			     uint64_t probes, uint32_t seed)
{
	struct sketch_hash hashes[BATCH];
	uint64_t verdicts[BATCH / 64], found = 0;
	size_t count = 0;

	for (uint64_t i = 0; i < probes; i++) {
		hashes[count++] = key_hash(family, i, keys, true, seed);
		if (count < BATCH && i + 1 < probes)
			continue;
		assert_status(SKETCH_OK, sketch_bloom_test(filter, hashes, count, verdicts, NULL),
			      NULL);
		for (size_t word = 0; 64 * word < count; word++)
			found += bits_of(verdicts[word]);
		count = 0;
	}
	return found;
}

static void measure(const struct sketch_params *params, struct measure *m)
{
	double sum = 0, squares = 0;

	m->found = 0;
	for (unsigned int f = 0; f < m->filters; f++) {
		struct sketch_identity identity = IDENTITY;
		struct sketch_bloom *filter = NULL;
		struct sketch_bloom_state now;
		enum family family = (enum family)(f % FAMILIES);

		identity.seed = seed_of(f);
		if (m->counter_bits == 0) {
			assert_status(SKETCH_OK,
				      sketch_bloom_new(&filter, &identity, params, 1, UINT64_MAX,
						       NULL),
				      NULL);
			fill_filter(filter, family, m->keys, identity.seed);
		} else {
			assert_status(SKETCH_OK,
				      sketch_counting_new(&filter, &identity, params,
							  m->counter_bits, UINT64_MAX, NULL),
				      NULL);
			fill_and_clear(filter, family, m->keys, identity.seed);
		}
		assert_status(SKETCH_OK, sketch_bloom_state(filter, 0, &now, NULL), NULL);
		sum += now.rate;
		squares += now.rate * now.rate;
		m->found += probe_filter(filter, family, m->keys, m->probes, identity.seed);
		sketch_bloom_free(filter);
	}
	m->rate = sum / m->filters;
	m->scatter = m->filters < 2 ? 0 : sqrt(fmax(0, squares - sum * m->rate) / (m->filters - 1));
}

/* ---------------------------------------------------------------------- checks */

static void complain(const struct sketch_params *params, const struct measure *m, double bound,
		     const char *what)
{
	fail_msg("%s: layout %d, k %u, g %u, m %llu, p %g, %llu keys: bound %.6g, by bits %.6g "
		 "(scatter %.2g), found %llu of %u x %llu (%.6g)",
		 what, (int)params->layout, params->k, params->g, (unsigned long long)params->m,
		 params->p, (unsigned long long)m->keys, bound, m->rate, m->scatter,
		 (unsigned long long)m->found, m->filters, (unsigned long long)m->probes,
		 (double)m->found / m->filters / (double)m->probes);
}

/* Few filters tell little about their scatter; but at capacity large ones scatter
 * little.  Where there are many filters, it is checked that it is below this. */
static double scatter_limit(const struct sketch_params *params, const struct measure *m)
{
	return (2 + 0.4 * params->k) * m->rate / sqrt((double)m->keys);
}

/* How much a bound may be above the expectation. */
static double slack(const struct sketch_params *params, uint64_t keys)
{
	/* (1 - e^(-k (n + 1/2) / (m - 1)))^k grows by at most the factor 1 + k / 2n of
	 * the half key, and by that of m / (m - 1). */
	if (params->layout == SKETCH_CLASSIC)
		return params->k * (0.5 / (double)keys + 1 / (double)(params->m - 1)) + 1e-6;
	return 1e-4;
}

static void check_measure(const struct sketch_params *params, const struct measure *m)
{
	double bound = sketch_rate_bound(params, m->keys);
	double trials = m->filters * (double)m->probes, found = (double)m->found;
	double scatter = m->scatter, design, error;

	/* Where bits seldom coincide, it may be that they never did. */
	scatter = fmax(scatter, m->rate * params->k * sketch_fill_deviation(params, m->keys) /
					sketch_fill_expected(params, m->keys));
	if (m->filters >= 30) {
		error = student(m->filters) * scatter / sqrt(m->filters);
		if (m->keys >= 1000 && m->keys == params->n && scatter > scatter_limit(params, m))
			complain(params, m, bound, "scatter");
	} else {
		scatter = scatter_limit(params, m);
		error = LEVEL_SIGMAS * scatter / sqrt(m->filters);
	}
	if (m->rate > bound + error)
		complain(params, m, bound, "bits above bound");
	if (m->rate < bound * (1 - slack(params, m->keys)) - error)
		complain(params, m, bound, "bits below model");
	if (binomial_tail(trials, m->rate, found, true) < LEVEL)
		complain(params, m, bound, "more found than the bits say");
	if (binomial_tail(trials, m->rate, found, false) < LEVEL)
		complain(params, m, bound, "fewer found than the bits say");
	design = 1 + ((double)m->probes - 1) * scatter * scatter / (m->rate * (1 - m->rate));
	if (m->rate < 1 &&
	    binomial_tail(trials / design, bound, floor(found / design), true) < LEVEL)
		complain(params, m, bound, "more found than the bound says");
}

/* Adds about `effort` keys to filters, and asks for as many. */
static void check_counters(const struct sketch_params *params, uint64_t keys, uint64_t effort,
			   unsigned int counter_bits)
{
	struct measure m = { .keys = keys, .counter_bits = counter_bits };
	uint64_t filters;

	effort = run_slow() ? effort / 10 : run_long() ? effort * 20 : effort;
	filters = effort / keys;
	filters = filters < 2 ? 2 : filters > 300 ? 300 : filters;
	m.filters = (unsigned int)filters;
	/* Rare events take more, and small filters are soon asked. */
	if (sketch_rate_bound(params, keys) < 1e-5 && keys <= 10000)
		effort *= 10;
	m.probes = effort / filters;
	measure(params, &m);
	check_measure(params, &m);
}

static void check_effort(const struct sketch_params *params, uint64_t keys, uint64_t effort)
{
	check_counters(params, keys, effort, 0);
}

/* Rates far too small to be met depend on the rare filter that has lost much by
 * chance, and there is no telling their scatter from a few hundred. */
static void check_rate(const struct sketch_params *params, uint64_t keys)
{
	if (sketch_rate_bound(params, keys) > 1e-9)
		check_effort(params, keys, 100000);
}

static struct sketch_params plan(const struct sketch_request *request)
{
	struct sketch_params params;
	struct sketch_error error;

	assert_status(SKETCH_OK, sketch_plan(request, &params, &error), &error);
	return params;
}

static void check_grid(enum sketch_layout layout)
{
	static const double rates[] = { 0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6 };
	uint64_t largest = run_slow() ? 10000 : run_long() ? 10000000 : 1000000;

	for (uint64_t n = 10; n <= largest; n *= 10) {
		for (size_t i = 0; i < COUNT_OF(rates); i++) {
			struct sketch_request request = { .layout = layout, .n = n, .p = rates[i] };
			struct sketch_params params = plan(&request);

			assert_true(sketch_rate_bound(&params, n) <= rates[i]);
			check_effort(&params, n, 500000);
		}
	}
}

static void rate__classic_as_planned__keeps_the_bound(void **state)
{
	(void)state;
	check_grid(SKETCH_CLASSIC);
}

static void rate__blocked_as_planned__is_the_bound(void **state)
{
	(void)state;
	check_grid(SKETCH_BLOCKED);
}

/* The same where keys have come and gone. */
static void rate__counting_as_planned__keeps_the_bound(void **state)
{
	static const double rates[] = { 0.5, 0.01, 1e-4 };
	static const unsigned int counters[] = { 4, 8, 16 };
	uint64_t largest = run_slow() ? 1000 : run_long() ? 1000000 : 100000;

	(void)state;
	for (uint64_t n = 10; n <= largest; n *= 10) {
		for (size_t i = 0; i < 2 * COUNT_OF(rates); i++) {
			struct sketch_request request = { .layout = i % 2 ? SKETCH_CLASSIC :
									    SKETCH_BLOCKED,
							  .n = n,
							  .p = rates[i / 2] };
			struct sketch_params params = plan(&request);

			check_counters(&params, n, 200000, counters[i % 3]);
		}
	}
}

/* ---------------------------------------------------------------- cuckoo filters
 *
 * Their bound holds for every table, not only in the mean: so each table's rate, which
 * follows from what it holds, must be at most the bound, and as its expectation is over the
 * absent key alone there is no scatter to be allowed for: X is held against the tails of a
 * binomial of F Q trials, of the mean of the r_f in both directions (probes), of the bound
 * upwards (ceiling).  A table for n keys takes them but for a chance of one in ten thousand
 * (room). */
struct tables {
	uint64_t filters, probes, full;
	uint64_t found;
	double rate;
};

/* Half of the keys share the table with as many that are absent in the end, and are taken
 * out again before the other half comes; false where there was no room. */
static bool fill_table(struct sketch_cuckoo *cuckoo, enum family family, uint64_t keys,
		       uint32_t seed)
{
	for (uint64_t i = 0; i < keys + 2 * (keys / 2); i++) {
		/* keys / 2 others in, keys / 2 in, the others out, the rest in. */
		uint64_t half = keys / 2, turn = half == 0 ? 3 : i / half < 3 ? i / half : 3;
		bool other = turn == 0 || turn == 2;
		uint64_t number = other ? i % half : turn == 1 ? i - half : i - 2 * half;
		struct sketch_hash key = key_hash(family, number, keys, other, seed);
		uint64_t removed;
		size_t done = 1;

		if (turn == 2)
			done = sketch_cuckoo_remove(cuckoo, &key, 1, &removed);
		else
			(void)sketch_cuckoo_add(cuckoo, &key, 1, &done, NULL);
		assert_true(done == 1 || turn != 2);
		if (done == 0)
			return false;
	}
	return true;
}

static uint64_t probe_table(struct sketch_cuckoo *cuckoo, enum family family, uint64_t keys,
			    uint64_t probes, uint32_t seed)
{
	uint64_t found = 0;

	for (uint64_t i = 0; i < probes;) {
		struct sketch_hash hashes[64];
		uint64_t verdict;
		size_t count = 0;

		for (; count < COUNT_OF(hashes) && i < probes; i++)
			hashes[count++] = key_hash(family, i, keys, true, seed);
		assert_status(SKETCH_OK, sketch_cuckoo_test(cuckoo, hashes, count, &verdict, NULL),
			      NULL);
		found += bits_of(verdict);
	}
	return found;
}

static void measure_tables(const struct sketch_cuckoo_params *params, struct tables *tables)
{
	double bound = sketch_cuckoo_rate_bound(params, params->n);

	for (unsigned int f = 0; f < tables->filters; f++) {
		struct sketch_identity identity = IDENTITY;
		struct sketch_cuckoo_state now;
		struct sketch_cuckoo *cuckoo;
		enum family family = (enum family)(f % FAMILIES);

		identity.seed = seed_of(f);
		assert_status(SKETCH_OK,
			      sketch_cuckoo_new(&cuckoo, &identity, params, UINT64_MAX, NULL),
			      NULL);
		if (!fill_table(cuckoo, family, params->n, identity.seed))
			tables->full++;
		assert_status(SKETCH_OK, sketch_cuckoo_state(cuckoo, &now, NULL), NULL);
		assert_true(now.entries <= params->n);
		assert_true(now.rate <= bound);
		tables->rate += now.rate / (double)tables->filters;
		tables->found +=
			probe_table(cuckoo, family, params->n, tables->probes, identity.seed);
		sketch_cuckoo_free(cuckoo);
	}
}

static void check_tables(const struct sketch_cuckoo_params *params, uint64_t effort)
{
	double bound = sketch_cuckoo_rate_bound(params, params->n), trials, found;
	struct tables tables = { 0 };

	effort = run_slow() ? effort / 10 : run_long() ? effort * 20 : effort;
	tables.filters = effort / params->n;
	tables.filters = tables.filters < 2 ? 2 : tables.filters > 300 ? 300 : tables.filters;
	tables.probes = effort / tables.filters;
	measure_tables(params, &tables);
	trials = (double)(tables.filters * tables.probes);
	found = (double)tables.found;
	if (binomial_tail(trials, bound, found, true) < LEVEL ||
	    binomial_tail(trials, tables.rate, found, true) < LEVEL ||
	    binomial_tail(trials, tables.rate, found, false) < LEVEL)
		fail_msg("f %u, %llu buckets, n %llu, p %g: bound %.6g, by the tables %.6g, found "
			 "%llu of %llu x %llu",
			 params->f, (unsigned long long)params->buckets,
			 (unsigned long long)params->n, params->p, bound, tables.rate,
			 (unsigned long long)tables.found, (unsigned long long)tables.filters,
			 (unsigned long long)tables.probes);
	if (binomial_tail((double)tables.filters, 1e-4, (double)tables.full, true) < LEVEL)
		fail_msg("f %u, n %llu: %llu of %llu tables had no room", params->f,
			 (unsigned long long)params->n, (unsigned long long)tables.full,
			 (unsigned long long)tables.filters);
}

static void rate__cuckoo_as_planned__keeps_the_bound(void **state)
{
	/* 1e-9 is too rare to be found: there the tables' own rates are checked. */
	static const double rates[] = { 0.5, 0.2, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9 };
	uint64_t largest = run_slow() ? 1000 : run_long() ? 10000000 : 100000;

	(void)state;
	for (uint64_t n = 1; n <= largest; n *= 10) {
		for (size_t i = 0; i < COUNT_OF(rates); i++) {
			struct sketch_cuckoo_params params;

			assert_status(SKETCH_OK, sketch_cuckoo_plan(n, rates[i], 0, &params, NULL),
				      NULL);
			assert_true(sketch_cuckoo_rate_bound(&params, n) <= rates[i]);
			check_tables(&params, 200000);
		}
	}
}

static void rate__each_k_and_g__keeps_the_bound(void **state)
{
	static const struct {
		enum sketch_layout layout;
		uint32_t k, g;
		double p;
	} shapes[] = {
		{ SKETCH_CLASSIC, 1, 0, 0.05 },   { SKETCH_CLASSIC, 2, 0, 0.05 },
		{ SKETCH_CLASSIC, 3, 0, 0.01 },   { SKETCH_CLASSIC, 5, 0, 0.01 },
		{ SKETCH_CLASSIC, 13, 0, 1e-4 },  { SKETCH_CLASSIC, 30, 0, 1e-5 },
		{ SKETCH_CLASSIC, 255, 0, 0.01 }, { SKETCH_BLOCKED, 1, 1, 0.1 },
		{ SKETCH_BLOCKED, 2, 1, 0.05 },   { SKETCH_BLOCKED, 2, 2, 0.05 },
		{ SKETCH_BLOCKED, 5, 1, 0.01 },   { SKETCH_BLOCKED, 5, 5, 0.01 },
		{ SKETCH_BLOCKED, 7, 1, 0.01 },   { SKETCH_BLOCKED, 8, 1, 0.01 },
		{ SKETCH_BLOCKED, 8, 2, 0.01 },   { SKETCH_BLOCKED, 9, 1, 0.01 },
		{ SKETCH_BLOCKED, 12, 1, 1e-3 },  { SKETCH_BLOCKED, 15, 1, 1e-3 },
		{ SKETCH_BLOCKED, 16, 2, 1e-4 },  { SKETCH_BLOCKED, 18, 2, 1e-4 },
		{ SKETCH_BLOCKED, 24, 3, 1e-4 },  { SKETCH_BLOCKED, 24, 4, 1e-4 },
		{ SKETCH_BLOCKED, 30, 1, 0.01 },  { SKETCH_BLOCKED, 32, 2, 1e-3 },
		{ SKETCH_BLOCKED, 32, 4, 1e-4 },  { SKETCH_BLOCKED, 60, 2, 1e-3 },
		{ SKETCH_BLOCKED, 90, 3, 1e-3 },  { SKETCH_BLOCKED, 120, 4, 1e-3 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(shapes); i++) {
		for (uint64_t n = 100; n <= 10000; n *= 10) {
			struct sketch_request request = { .layout = shapes[i].layout,
							  .n = n,
							  .p = shapes[i].p,
							  .k = shapes[i].k,
							  .g = shapes[i].g };
			struct sketch_params params = plan(&request);

			assert_true(sketch_rate_bound(&params, n) <= request.p);
			check_rate(&params, n);
		}
	}
}

/* Sizes at which a range reduction by remainder, or by a mask, goes wrong. */
static void rate__m_of_many_factors_of_two__keeps_the_bound(void **state)
{
	static const uint64_t sizes[] = { 1 << 9,          1 << 12,   1 << 16, 1 << 20,
					  3 << 10,         3 << 18,   5 << 15, (1 << 20) - 512,
					  (1 << 20) + 512, 512 * 1009 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		struct sketch_request classic = {
			SKETCH_CLASSIC, sizes[i] / 10, 0, sizes[i], 7, 0
		};
		struct sketch_request blocked = {
			SKETCH_BLOCKED, sizes[i] / 12, 0, sizes[i], 8, 1
		};
		struct sketch_params params = plan(&classic);

		assert_true(params.m == sizes[i]);
		check_rate(&params, params.n);
		params = plan(&blocked);
		assert_true(params.m == sizes[i]);
		check_rate(&params, params.n);
	}
}

static void rate__tiny_m__keeps_the_bound(void **state)
{
	static const uint32_t hashes[] = { 1, 3, 8, 20 };

	(void)state;
	for (uint64_t m = 64; m <= 256; m += 64) {
		for (size_t i = 0; i < COUNT_OF(hashes); i++) {
			struct sketch_params params = params_classic(m, hashes[i]);

			for (uint64_t keys = 1; keys * hashes[i] <= 2 * m; keys *= 3)
				check_rate(&params, keys);
		}
	}
	for (uint64_t blocks = 1; blocks <= 3; blocks++) {
		for (size_t i = 0; i < COUNT_OF(hashes); i++) {
			struct sketch_params one = params_blocked(blocks, 1, hashes[i]);
			struct sketch_params two = params_blocked(blocks, 2, 2 * hashes[i]);

			for (uint64_t keys = 1; keys * hashes[i] <= 512 * blocks; keys *= 5) {
				check_rate(&one, keys);
				check_rate(&two, keys);
			}
		}
	}
}

/* One and three keys at rates where less than one bit a key would do. */
static void rate__smallest_requests__keep_the_bound(void **state)
{
	static const double rates[] = { 0.99, 0.5, 0.1, 1e-3 };

	(void)state;
	for (uint64_t n = 1; n <= 4; n++) {
		for (size_t i = 0; i < COUNT_OF(rates); i++) {
			struct sketch_request classic = { SKETCH_CLASSIC, n, rates[i], 0, 0, 0 };
			struct sketch_request blocked = { SKETCH_BLOCKED, n, rates[i], 0, 0, 0 };
			struct sketch_params params = plan(&classic);

			check_rate(&params, n);
			params = plan(&blocked);
			check_rate(&params, n);
		}
	}
}

static void rate__fewer_and_more_keys_than_planned__keeps_the_bound_of_that_number(void **state)
{
	static const struct sketch_request requests[] = {
		{ SKETCH_CLASSIC, 10000, 0.01, 0, 0, 0 },
		{ SKETCH_BLOCKED, 10000, 0.01, 0, 0, 0 },
		{ SKETCH_BLOCKED, 10000, 1e-6, 0, 0, 0 },
		{ SKETCH_BLOCKED, 10000, 0.001, 0, 10, 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(requests); i++) {
		struct sketch_params params = plan(&requests[i]);

		for (uint64_t keys = 2500; keys <= 40000; keys *= 2)
			check_rate(&params, keys);
	}
}

/* Two filters used together are to be wrong about different keys. */
static void rate__neighbouring_seeds__are_wrong_independently(void **state)
{
	const uint64_t keys = 10000, probes = run_slow() ? 100000 : 1000000;

	(void)state;
	for (int layout = SKETCH_CLASSIC; layout <= SKETCH_BLOCKED; layout++) {
		struct sketch_request request = { (enum sketch_layout)layout, keys, 0.1, 0, 0, 0 };
		struct sketch_params params = plan(&request);
		struct sketch_bloom *filter[2];
		struct sketch_bloom_state now[2];
		double both, found = 0;

		for (uint32_t i = 0; i < 2; i++) {
			filter[i] = filter_make(&params);
			fill_filter(filter[i], NUMBERS, keys, i);
			assert_status(SKETCH_OK, sketch_bloom_state(filter[i], 0, &now[i], NULL),
				      NULL);
		}
		for (uint64_t i = 0; i < probes; i++)
			found += filter_has(filter[0], key_hash(NUMBERS, i, keys, true, 0)) &&
				 filter_has(filter[1], key_hash(NUMBERS, i, keys, true, 1));
		both = now[0].rate * now[1].rate;
		assert_true(binomial_tail((double)probes, both, found, true) > LEVEL);
		assert_true(binomial_tail((double)probes, both, found, false) > LEVEL);
		sketch_bloom_free(filter[0]);
		sketch_bloom_free(filter[1]);
	}
}

/* -------------------------------------------------------------------- positions */

/* A filter of which all bits but one are set: it says absent exactly to the keys that
 * have a position there. */
static struct sketch_bloom *all_but(const struct sketch_params *params, uint64_t position)
{
	struct sketch_bloom *filter = filter_make(params);
	struct bytes file = filter_bytes(filter);
	uint8_t *bits = file_bits(&file, 0);

	sketch_bloom_free(filter);
	memset(bits, 0xff, (size_t)(params->m / 8));
	bits[position / 8] = (uint8_t)(bits[position / 8] & ~(1u << position % 8));
	file_seal(&file);
	filter = filter_from_bytes(&file, SKETCH_READ);
	bytes_free(&file);
	return filter;
}

/* The probability that a key has a position at a given bit. */
static double share(const struct sketch_params *params)
{
	double blocks = (double)params->m / 512 / params->g;
	double one;

	if (params->layout == SKETCH_CLASSIC)
		return 1 - pow(1 - 1 / (double)params->m, params->k);
	one = params->k == 8 * params->g ? 1.0 / 64 : 1 - pow(511.0 / 512, params->k / params->g);
	return one / blocks;
}

/* Each bit is taken by its share of the keys. */
static void positions__every_bit_of_small_filters__equally_often(void **state)
{
	const struct sketch_params shapes[] = {
		params_classic(64, 1),    params_classic(64, 2),    params_classic(192, 3),
		params_classic(320, 20),  params_blocked(1, 1, 1),  params_blocked(1, 1, 8),
		params_blocked(1, 1, 15), params_blocked(3, 1, 30), params_blocked(1, 2, 16),
		params_blocked(1, 3, 60),
	};
	const uint64_t keys = run_slow() ? 500 : run_long() ? 50000 : 2000;

	(void)state;
	for (size_t s = 0; s < COUNT_OF(shapes); s++) {
		double part = share(&shapes[s]), chi_square = 0;

		for (uint64_t bit = 0; bit < shapes[s].m; bit++) {
			struct sketch_bloom *filter = all_but(&shapes[s], bit);
			uint64_t taken = keys;

			taken -= probe_filter(filter, NUMBERS, 0, keys, 7);
			sketch_bloom_free(filter);
			assert_true(binomial_tail((double)keys, part, (double)taken, true) >
				    LEVEL / (double)shapes[s].m);
			assert_true(binomial_tail((double)keys, part, (double)taken, false) >
				    LEVEL / (double)shapes[s].m);
			chi_square +=
				pow((double)taken - (double)keys * part, 2) / ((double)keys * part);
		}
		/* Only for one position a key are the counts those of balls in bins. */
		if (shapes[s].k == 1) {
			double freedom = (double)shapes[s].m - 1;

			assert_true(chi_square < chi_square_limit(freedom, true));
			assert_true(chi_square > chi_square_limit(freedom, false));
		}
	}
}

#define BINS 4096

struct output {
	struct sketch_bloom *filter;
	int to, from;
};

static int write_out(void *context)
{
	const struct output *output = context;

	close(output->from);
	return sketch_bloom_write(output->filter, output->to, NULL) != SKETCH_OK;
}

static void read_exactly(int fd, uint8_t *to, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t got = read(fd, to + done, length - done);

		assert_true(got > 0);
		done += (size_t)got;
	}
}

/* The bits set in each of BINS parts of a filter that is too large to be had twice:
 * its file comes through a pipe. */
static void count_bins(struct sketch_bloom *filter, uint64_t bins[BINS])
{
	static uint8_t chunk[FORMAT_CHUNK_BYTES];
	const uint64_t m = sketch_bloom_params(filter, 0)->m;
	struct output output = { filter, -1, -1 };
	struct bytes head = { chunk, 256 };
	size_t skip_bytes;
	int ends[2];
	pid_t writer;

	memset(bins, 0, BINS * sizeof *bins);
	assert_int_equal(pipe(ends), 0);
	output.from = ends[0];
	output.to = ends[1];
	writer = child_start(write_out, &output);
	close(ends[1]);
	read_exactly(ends[0], chunk, 256);
	skip_bytes = section_find(&head, FORMAT_BITS, 0).offset - 256;
	for (size_t part; skip_bytes > 0; skip_bytes -= part) {
		part = skip_bytes < sizeof chunk ? skip_bytes : sizeof chunk;
		read_exactly(ends[0], chunk, part);
	}
	for (uint64_t byte = 0, length; byte < m / 8; byte += length) {
		length = m / 8 - byte < sizeof chunk ? m / 8 - byte : sizeof chunk;
		read_exactly(ends[0], chunk, (size_t)length);
		for (uint64_t i = 0; i < length; i++)
			for (unsigned int bit = 0; chunk[i] >> bit; bit++)
				if (chunk[i] >> bit & 1)
					bins[(uint64_t)((double)(8 * (byte + i) + bit) / (double)m *
							BINS)]++;
	}
	close(ends[0]);
	assert_int_equal(child_end(writer), 0);
}

static void check_spread(const struct sketch_params *params, uint64_t keys)
{
	static uint64_t bins[BINS];
	struct sketch_bloom *filter = filter_make(params);
	struct sketch_bloom_state now;
	double chi_square = 0, expected, lower = 0, upper = 0;

	fill_filter(filter, NUMBERS, keys, 3);
	assert_status(SKETCH_OK, sketch_bloom_state(filter, 0, &now, NULL), NULL);
	count_bins(filter, bins);
	sketch_bloom_free(filter);
	expected = (double)now.ones / BINS;
	for (size_t i = 0; i < BINS; i++) {
		assert_true(bins[i] > 0);
		chi_square += pow((double)bins[i] - expected, 2) / expected;
		*(i < BINS / 2 ? &lower : &upper) += (double)bins[i];
	}
	if (chi_square > chi_square_limit(BINS - 1, true) ||
	    chi_square < chi_square_limit(BINS - 1, false))
		fail_msg("layout %d, m %llu: chi-square %.1f for %d degrees of freedom",
			 (int)params->layout, (unsigned long long)params->m, chi_square, BINS - 1);
	assert_true(fabs(lower - upper) < LEVEL_SIGMAS * sqrt(lower + upper));
}

/* k is 1 for blocked filters: more bits of a key in one line would count as one. */
static void positions__millions_of_bits__evenly_spread(void **state)
{
	const struct sketch_params shapes[] = {
		params_classic(UINT64_C(1) << 25, 4),
		params_classic((UINT64_C(3) << 24) + 64, 4),
		params_blocked(1 << 16, 1, 1),
		params_blocked(1 << 15, 2, 2),
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(shapes); i++)
		check_spread(&shapes[i], 200000 / shapes[i].k);
}

static void positions__beyond_32_bits__evenly_spread(void **state)
{
	const struct sketch_params shapes[] = {
		params_classic(UINT64_C(3) << 29, 4),
		params_classic((UINT64_C(1) << 33) + 512, 4),
		params_blocked((1 << 24) + 1, 1, 1),
		params_blocked((1 << 23) + 1, 2, 2),
	};

	(void)state;
	/* A gigabyte. */
	if (!run_long() || run_slow())
		skip();
	for (size_t i = 0; i < COUNT_OF(shapes); i++)
		check_spread(&shapes[i], 800000 / shapes[i].k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate__classic_as_planned__keeps_the_bound),
		cmocka_unit_test(rate__blocked_as_planned__is_the_bound),
		cmocka_unit_test(rate__counting_as_planned__keeps_the_bound),
		cmocka_unit_test(rate__cuckoo_as_planned__keeps_the_bound),
		cmocka_unit_test(rate__each_k_and_g__keeps_the_bound),
		cmocka_unit_test(rate__m_of_many_factors_of_two__keeps_the_bound),
		cmocka_unit_test(rate__tiny_m__keeps_the_bound),
		cmocka_unit_test(rate__smallest_requests__keep_the_bound),
		cmocka_unit_test(
			rate__fewer_and_more_keys_than_planned__keeps_the_bound_of_that_number),
		cmocka_unit_test(rate__neighbouring_seeds__are_wrong_independently),
		cmocka_unit_test(positions__every_bit_of_small_filters__equally_often),
		cmocka_unit_test(positions__millions_of_bits__evenly_spread),
		cmocka_unit_test(positions__beyond_32_bits__evenly_spread),
	};

	return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}
