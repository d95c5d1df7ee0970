/* Is the number of distinct keys as near to the truth as is said?
 *
 * Of S sketches under different seeds let r_i = estimate / truth - 1, and e the standard
 * error that the theory gives at this number (from Fisher's information, see
 * hll_estimate.c).  Checked are, each at a level of 10^-6 in either tail,
 *
 *   mean      of the r_i against 0: it scatters by e / sqrt(S).
 *   spread    their root mean square against e: that of S normal numbers scatters by
 *             e / sqrt(2 S).  An estimate from thousands of registers is a mean of as
 *             many small parts, so the r_i are as good as normal.
 *   interval  how many of the intervals miss the truth, against the binomial of 5 %.
 *             Where registers are few the logarithm is normal in a first approximation
 *             only: there at most 8 % may miss.
 *
 * Up to 10^6 keys are hashed.  Beyond, the registers themselves are drawn: with a Poisson
 * number of keys of mean n each register is independent of the others, and at most k
 * with probability exp(-n / m 2^-k); so it is the least k for which n / m 2^-k is
 * at most a number drawn from the exponential distribution.  (That n varies adds 1 / n
 * to the variance.)
 *
 * Seeds are fixed, so a run either passes for ever or points at a fault. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hll_estimate.h"
#include "support.h"

#define LEVEL_SIGMAS 4.754 /* of the normal distribution, at 1e-6 */
#define SIGMAS_95 1.959963984540054

/* ------------------------------------------------------------------ a sample */

struct sample {
	double truth;
	unsigned int size, missed;
	double sum, squares;
};

static void note(struct sample *sample, double estimate, double low, double high)
{
	double off = estimate / sample->truth - 1;

	sample->size++;
	sample->sum += off;
	sample->squares += off * off;
	sample->missed += !(low <= sample->truth && sample->truth <= high);
}

/* `few`: registers are so few that theory's second order shows. */
static void judge(const struct sample *sample, uint32_t precision, double error, bool few)
{
	double size = sample->size, mean = sample->sum / size;
	double spread = sqrt(sample->squares / size), missed = sample->missed / size;
	double m = ldexp(1, (int)precision), slack = few ? 1 / (4 * m) : 0;

	print_message("# precision %2u, n %9.4g: mean %+.5f, spread %.5f, theory %.5f, "
		      "outside of the interval %.3f\n",
		      precision, sample->truth, mean, spread, error, missed);
	assert_true(fabs(mean) <= LEVEL_SIGMAS * error / sqrt(size) + slack);
	assert_true(spread >= error * (1 - LEVEL_SIGMAS / sqrt(2 * size)));
	assert_true(spread <= error * (1 + LEVEL_SIGMAS / sqrt(2 * size)) + slack);
	assert_true(missed <= (few ? 0.08 : 0.05) + LEVEL_SIGMAS * sqrt(0.05 * 0.95 / size));
}

/* ------------------------------------------------------------ sketches of keys */

static struct sketch_hll *make(uint32_t precision, uint32_t seed)
{
	struct sketch_identity identity = IDENTITY;
	struct sketch_hll *hll = NULL;

	identity.seed = seed;
	assert_int_equal(SKETCH_OK, sketch_hll_new(&hll, &identity, precision, UINT64_MAX, NULL));
	return hll;
}

/* Keys number from..to-1: 8 bytes each. */
static void add_keys(struct sketch_hll *hll, uint64_t from, uint64_t to)
{
	uint32_t seed = sketch_hll_identity(hll)->seed;

	while (from < to) {
		struct sketch_hash hashes[128];
		size_t count = 0;

		for (; count < COUNT_OF(hashes) && from < to; count++, from++) {
			uint8_t key[8];

			put64(key, from);
			hashes[count] = sketch_murmur3_x64_128(key, sizeof key, seed);
		}
		sketch_hll_add(hll, hashes, count);
	}
}

static unsigned int seeds(unsigned int many)
{
	return run_slow() ? many / 10 : many;
}

static void count__up_to_an_eighth_of_the_registers__is_exact_under_1000_seeds(void **unused)
{
	static const uint64_t counts[] = { 0, 1, 10, 1000, 2048 };

	(void)unused;
	for (uint32_t seed = 0; seed < seeds(1000); seed++) {
		struct sketch_hll *hll = make(14, seed);
		uint64_t added = 0;

		for (size_t i = 0; i < COUNT_OF(counts); i++) {
			struct sketch_hll_state state;

			add_keys(hll, added, counts[i]);
			add_keys(hll, 0, counts[i]);
			added = counts[i];
			sketch_hll_state(hll, &state);
			assert_true(state.exact);
			assert_true(state.distinct == (double)added &&
				    state.low == state.distinct && state.high == state.distinct &&
				    state.error == 0);
		}
		sketch_hll_free(hll);
	}
}

/* One sketch a seed, looked at at each of the counts. */
static void measure(uint32_t precision, const uint64_t *counts, size_t number, unsigned int size)
{
	struct sample samples[8] = { { 0 } };

	assert_true(number <= COUNT_OF(samples));
	for (size_t i = 0; i < number; i++)
		samples[i].truth = (double)counts[i];
	for (uint32_t seed = 0; seed < size; seed++) {
		struct sketch_hll *hll = make(precision, seed);
		uint64_t added = 0;

		for (size_t i = 0; i < number; i++) {
			struct sketch_hll_state state;

			add_keys(hll, added, counts[i]);
			added = counts[i];
			sketch_hll_state(hll, &state);
			assert_false(state.exact);
			note(&samples[i], state.distinct, state.low, state.high);
		}
		sketch_hll_free(hll);
	}
	for (size_t i = 0; i < number; i++)
		judge(&samples[i], precision, hll_estimate_error(samples[i].truth, precision),
		      precision < 8);
}

/* HyperLogLog as published counts by another rule below 2.5 m, and is off where they
 * meet: from 2.5 m to 5 m.  Here one rule serves all. */
static void count__around_the_former_transition__keeps_the_standard_error(void **unused)
{
	static const uint64_t counts[] = { 3000, 10000, 32768, 40960, 49152, 65536, 81920 };

	(void)unused;
	measure(14, counts, COUNT_OF(counts), seeds(1000));
}

static void count__few_registers__keeps_the_standard_error(void **unused)
{
	static const uint64_t counts4[] = { 10, 40, 80, 1000, 30000 };
	static const uint64_t counts8[] = { 100, 640, 1280, 10000, 30000 };
	static const uint64_t counts11[] = { 1000, 5120, 10240, 30000 };

	(void)unused;
	measure(4, counts4, COUNT_OF(counts4), seeds(1000));
	measure(8, counts8, COUNT_OF(counts8), seeds(1000));
	measure(11, counts11, COUNT_OF(counts11), seeds(1000));
}

static void count__of_a_million__keeps_the_standard_error(void **unused)
{
	static const uint64_t counts[] = { 1000000 };

	(void)unused;
	measure(14, counts, 1, run_long() ? 1000 : seeds(100));
}

/* ----------------------------------------------------------- registers alone */

/* The estimate from registers, below the number at which a sketch needs them: the
 * registers are made here, bit by bit. */
static void estimate__of_few_keys__is_right_without_their_hashes(void **unused)
{
	static const uint64_t counts[] = { 1, 10, 100, 1000 };
	static uint8_t registers[1 << 12];

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(counts); i++) {
		struct sample sample = { .truth = (double)counts[i] };
		double error = hll_estimate_error(sample.truth, 12);

		for (unsigned int seed = 0; seed < seeds(1000); seed++) {
			struct dice dice = { UINT64_C(1) << 40 | seed };
			uint64_t values[HLL_VALUES] = { 0 };
			double estimate;

			memset(registers, 0, sizeof registers);
			for (uint64_t n = 0; n < counts[i]; n++) {
				uint64_t hash = dice_next(&dice);
				uint8_t rank = 1;

				while (rank < 53 && !(hash >> (52 - rank) & 1))
					rank++;
				if (rank > registers[hash >> 52])
					registers[hash >> 52] = rank;
			}
			for (size_t r = 0; r < sizeof registers; r++)
				values[registers[r]]++;
			estimate = hll_estimate(values, 12);
			note(&sample, estimate, estimate / exp(SIGMAS_95 * error) - 1,
			     estimate * exp(SIGMAS_95 * error) + 1);
			/* Of so few keys hardly two share a register: what is left is what
			 * the registers cannot tell apart, a fraction of a key. */
			if (counts[i] == 1)
				assert_true(fabs(estimate - 1) < 1e-3);
		}
		if (counts[i] > 10)
			judge(&sample, 12, error, false);
		else
			assert_true(fabs(sample.sum / sample.size) < error);
	}
}

/* A number drawn from the exponential distribution. */
static double exponential(struct dice *dice)
{
	return -log(((double)(dice_next(dice) >> 11) + 0.5) * 0x1p-53);
}

/* Draws all registers for about n keys, as numbers of each value. */
static void draw(struct dice *dice, double n, uint32_t precision, uint64_t values[HLL_VALUES])
{
	uint64_t m = UINT64_C(1) << precision;

	memset(values, 0, HLL_VALUES * sizeof *values);
	for (uint64_t i = 0; i < m; i++) {
		double level = n / (double)m / exponential(dice);
		int k = level <= 1 ? 0 : ilogb(level);

		/* the least k with 2^k >= level */
		k += level > 1 && ldexp(1, k) < level;
		values[k > 65 - (int)precision ? 65 - (int)precision : k]++;
	}
}

static void simulate(uint32_t precision, double n, unsigned int size)
{
	struct sample sample = { .truth = n };
	double error = sqrt(pow(hll_estimate_error(n, precision), 2) + 1 / n);

	for (unsigned int seed = 0; seed < size; seed++) {
		struct dice dice = { UINT64_C(0x9e37) << 40 | seed };
		uint64_t values[HLL_VALUES];
		double estimate, own;

		draw(&dice, n, precision, values);
		estimate = hll_estimate(values, precision);
		own = hll_estimate_error(estimate, precision);
		note(&sample, estimate, estimate / exp(SIGMAS_95 * own),
		     estimate * exp(SIGMAS_95 * own));
	}
	judge(&sample, precision, error, precision < 8);
}

static void estimate__of_10_6_to_10_18__keeps_the_standard_error(void **unused)
{
	static const double counts[] = { 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e18 };

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(counts); i++)
		simulate(14, counts[i], seeds(1000));
}

static void estimate__at_any_precision__keeps_the_standard_error(void **unused)
{
	(void)unused;
	for (uint32_t precision = 4; precision <= 21; precision++)
		simulate(precision, 3e9,
			 precision < 13 ? seeds(1000) :
			 precision < 17 ? seeds(200) :
					  10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			count__up_to_an_eighth_of_the_registers__is_exact_under_1000_seeds),
		cmocka_unit_test(count__around_the_former_transition__keeps_the_standard_error),
		cmocka_unit_test(count__few_registers__keeps_the_standard_error),
		cmocka_unit_test(count__of_a_million__keeps_the_standard_error),
		cmocka_unit_test(estimate__of_few_keys__is_right_without_their_hashes),
		cmocka_unit_test(estimate__of_10_6_to_10_18__keeps_the_standard_error),
		cmocka_unit_test(estimate__at_any_precision__keeps_the_standard_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
