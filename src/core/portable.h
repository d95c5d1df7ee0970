/* portable.h - elementary functions with the same bits on every machine
 *
 * A filter's size is computed from logarithms, and a C library's logarithm
 * differs in its last bits from the next one's.  These are made of IEEE 754
 * binary64 additions, multiplications and divisions alone, each rounded to
 * nearest, so a size never depends on where it was found.  They are within
 * 4 units in the last place of the true value, which the tests hold them to.
 *
 * NaN gives NaN.  None of them sets errno or needs libm. */
#ifndef CORE_PORTABLE_H
#define CORE_PORTABLE_H

#include <float.h>
#include <stdint.h>

/* Wider intermediates or reassociation would break the promise in silence. */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1
#error "double must be evaluated as double: on 32-bit x86 add -msse2 -mfpmath=sse"
#endif
#ifdef __FAST_MATH__
#error "-ffast-math would make the sizes of filters depend on the compiler"
#endif

/* The natural logarithm; -INFINITY at 0, NaN below. */
double portable_log(double x);

/* log(1 + x), exact to the last places for small x; -INFINITY at -1. */
double portable_log1p(double x);

/* e^x; 0 where the result would be below the normal numbers (x < -708). */
double portable_exp(double x);

/* e^x - 1, exact to the last places for small x. */
double portable_expm1(double x);

/* x^exponent for x >= 0, within exponent + 1 units in the last place, and
 * monotonic in x: a larger x never gives a smaller power. */
double portable_power(double x, uint32_t exponent);

/* The square root of x >= 0. */
double portable_sqrt(double x);

#endif
