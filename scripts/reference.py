"""reference.py - what rates-reference and sizing-reference share: functions in many
digits, and tables in C."""
from decimal import Decimal
from fractions import Fraction
from math import factorial
from textwrap import fill


def decimal(x):
    """The Decimal of a Fraction."""
    return Decimal(x.numerator) / Decimal(x.denominator)


def log1p(x):
    """The logarithm of 1 + x; by its series where 1 + x would lose digits."""
    if abs(x) < Decimal("1e-15"):
        return sum((-1) ** (i + 1) * x ** i / i for i in range(1, 12))
    return (1 + x).ln()


def expm1(x):
    if abs(x) < Decimal("1e-15"):
        return sum(x ** i / factorial(i) for i in range(1, 12))
    return x.exp() - 1


def classic_exact(m, k, n):
    """By rational arithmetic, ball by ball: the probability that k balls fall into bins
    that k n balls have occupied."""
    state = {0: Fraction(1)}
    for _ in range(k * n):
        after = {}
        for o, s in state.items():
            after[o] = after.get(o, 0) + s * Fraction(o, m)
            if o < m:
                after[o + 1] = after.get(o + 1, 0) + s * Fraction(m - o, m)
        state = after
    return decimal(sum(s * Fraction(o, m) ** k for o, s in state.items()))


def number(x):
    if isinstance(x, Decimal):
        return repr(float(x))
    if isinstance(x, str):
        return x
    return f"UINT64_C({x})" if x > 2**31 else str(x)


def table(name, fields, rows):
    print(f"\nstatic const struct {{\n\t{fields}\n}} {name}[] = {{")
    for row in rows:
        print(fill("{ " + ", ".join(number(x) for x in row) + " },", 92,
                   initial_indent="\t", subsequent_indent="\t  ", expand_tabs=False))
    print("};")


def header(module, print_tables):
    """The whole file, around its tables."""
    print(f"/* Made by scripts/{module}-reference; do not edit. */")
    print("/* clang-format off */")
    guard = f"UNIT_{module.upper()}_REFERENCE_H"
    print(f"#ifndef {guard}\n#define {guard}\n")
    print("#include <stdint.h>")
    print_tables()
    print("\n#endif")
