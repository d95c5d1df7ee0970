/* portable.c - elementary functions with the same bits on every machine
 *
 * log      x = 2^e y with y in [sqrt(1/2), sqrt(2)); with s = (y-1)/(y+1),
 *          log y = 2 (s + s^3/3 + s^5/5 + ...), and |s| < 0.172 makes twelve
 *          terms enough.  y - 1 is exact, so the result is good near 1 too.
 * expm1    x = e log 2 + r with |r| <= (log 2)/2 and the Taylor series of r, to
 *          r^14; e^x - 1 = 2^e (e^r - 1) + (2^e - 1).
 * log1p    by way of log, with the correction for the rounding of 1 + x that
 *          Kahan gave for the HP-15C [1].
 * sqrt     Heron's rule from a guess made of the exponent.
 *
 * log 2 is split in two, the first part with enough trailing zeros that its
 * product with any exponent is exact.
 *
 * [1] W. Kahan, "Mathematics written in sand", 1983, on log(1 + x).
 */
#include "portable.h"

#include <math.h>
#include <string.h>

/* gcc obeys -ffp-contract=off (and needs it); clang also this. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define LOG2_HIGH 0x1.62e42fefa3800p-1
#define LOG2_LOW 0x1.ef35793c76730p-45
#define SQRT_HALF 0x1.6a09e667f3bcdp-1
#define EXPONENT_BIAS 1023
#define FRACTION_BITS 52

static uint64_t bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static double of_bits(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

/* 2^e for a normal result. */
static double power_of_two(int e)
{
	return of_bits((uint64_t)(e + EXPONENT_BIAS) << FRACTION_BITS);
}

/* x = 2^*exponent times the result, which lies in [1/2, 1); x is normal. */
static double split(double x, int *exponent)
{
	uint64_t bits = bits_of(x);
	uint64_t fraction = bits & ((UINT64_C(1) << FRACTION_BITS) - 1);

	*exponent = (int)(bits >> FRACTION_BITS) - (EXPONENT_BIAS - 1);
	return of_bits(fraction | (uint64_t)(EXPONENT_BIAS - 1) << FRACTION_BITS);
}

double portable_log(double x)
{
	double y, s, square, series;
	int e, subnormal = 0;

	if (!(x > 0))
		return x == 0 ? -INFINITY : NAN;
	if (x > DBL_MAX)
		return x;
	if (x < DBL_MIN) {
		x *= 0x1p54;
		subnormal = 54;
	}
	y = split(x, &e);
	e -= subnormal;
	if (y < SQRT_HALF) {
		y *= 2;
		e--;
	}
	s = (y - 1) / (y + 1);
	square = s * s;
	series = 0;
	for (int odd = 23; odd >= 3; odd -= 2)
		series = (series + 1.0 / odd) * square;
	return e * LOG2_HIGH + (2 * s + (2 * s * series + e * LOG2_LOW));
}

double portable_log1p(double x)
{
	double sum = 1 + x;

	if (sum == 1 || sum > DBL_MAX)
		return x;
	if (!(sum > 0))
		return portable_log(sum);
	return portable_log(sum) * (x / (sum - 1));
}

/* e^x - 1 = 2^*exponent (result + 1) - 1 for -708 <= x <= 710. */
static double reduced_expm1(double x, int *exponent)
{
	static const double factorial[] = { 1,       1,        2,         6,          24,
					    120,     720,      5040,      40320,      362880,
					    3628800, 39916800, 479001600, 6227020800, 87178291200 };
	double scaled = x / (LOG2_HIGH + LOG2_LOW);
	int e = (int)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
	double r = (x - e * LOG2_HIGH) - e * LOG2_LOW;
	double series = 0;

	for (int i = 14; i >= 2; i--)
		series = (series + 1 / factorial[i]) * r;
	*exponent = e;
	return r + series * r;
}

double portable_exp(double x)
{
	double rest;
	int e;

	if (x != x)
		return x;
	if (x < -708)
		return 0;
	if (x > 710)
		return INFINITY;
	rest = reduced_expm1(x, &e);
	/* in two steps, since 2^1024 is no double */
	return (1 + rest) * power_of_two(e - 1) * 2;
}

double portable_expm1(double x)
{
	double rest, scale;
	int e;

	if (x < -50)
		return -1;
	if (!(x < 50))
		return portable_exp(x); /* the 1 is below the last place */
	rest = reduced_expm1(x, &e);
	scale = power_of_two(e);
	return scale * rest + (scale - 1);
}

double portable_power(double x, uint32_t exponent)
{
	double power = 1;

	for (; exponent != 0; exponent >>= 1) {
		if (exponent & 1)
			power *= x;
		x *= x;
	}
	return power;
}

double portable_sqrt(double x)
{
	double root;

	if (!(x > 0) || x > DBL_MAX)
		return x < 0 ? NAN : x;
	if (x < DBL_MIN)
		return portable_sqrt(x * 0x1p108) * 0x1p-54;
	/* half the exponent and the leading fraction bits: within 7 % */
	root = of_bits((bits_of(x) >> 1) + ((uint64_t)EXPONENT_BIAS << (FRACTION_BITS - 1)));
	for (int i = 0; i < 5; i++)
		root = 0.5 * (root + x / root);
	return root;
}
