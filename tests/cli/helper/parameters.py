"""parameters.py - what bloom-build finds, against the formulas

Classic filters are checked against (1 - e^(-k (n + 1/2) / (m - 1)))^k, inverted here;
blocked ones for what follows from the definition whatever the arithmetic.
"""

import math
import random

from common import check, check_none, done, info, run

UNIT = 64


def bound(m, k, n):
    return (-math.expm1(-k * (n + 0.5) / (m - 1))) ** k


def bits_needed(n, p, k):
    """The real m at which the bound is p."""
    return 1 + k * (n + 0.5) / -math.log1p(-p ** (1 / k))


def up(bits):
    return int(-(-bits // UNIT)) * UNIT


def keys_possible(m, p, k):
    return math.floor((m - 1) * -math.log1p(-p ** (1 / k)) / k - 0.5)


def build(*words, layout="classic"):
    result = run(["bloom-build", "-L", layout, *words, "-o", "p.bloom"], b"a\n")
    if result.status != 0 or result.err:
        return None, "%s: %s" % (" ".join(words), result)
    return info("p.bloom"), None


def near(a, b, tolerance=1e-9):
    return abs(a - b) <= tolerance * abs(b)


def classic():
    faults = {}

    def fault(name, text):
        faults.setdefault(name, []).append(text)

    def given(name, *words):
        found, text = build(*words)
        faults.setdefault(name, [])
        if text:
            fault(name, text)
        return found

    for n in (1, 2, 10, 1000, 100000, 12345):
        for p in (0.5, 0.25, 0.03, 0.01, 1e-3, 1e-6, 1e-9):
            name = "n p: the smallest m of all k, and n and p as given"
            found = given(name, "-n", str(n), "-p", repr(p))
            if found:
                want = min(up(bits_needed(n, p, k)) for k in range(1, 256))
                if (found["m"] != want or found["n"] != n or found["p"] != p
                        or not bound(want, found["k"], n) <= p * (1 + 1e-12)):
                    fault(name, "n %d p %g: %s, m should be %d" % (n, p, found, want))
            for k in (1, 3, 7):
                if bits_needed(n, p, k) > 1e8:
                    continue
                name = "n p k: the smallest m"
                found = given(name, "-n", str(n), "-p", repr(p), "-k", str(k))
                if found and (found["m"], found["k"]) != (up(bits_needed(n, p, k)), k):
                    fault(name, "n %d p %g k %d: %s, m should be %d"
                          % (n, p, k, found, up(bits_needed(n, p, k))))
    for n, m in ((10, 1000), (1000, 10000), (1000, 100000), (50000, 333333), (7, 64), (1, 127)):
        whole = m - m % UNIT
        bounds = {k: bound(whole, k, n) for k in range(1, 256)}
        best = min(bounds.values())
        name = "n m: m rounded down to 64, the k with the smallest bound, which is p"
        found = given(name, "-n", str(n), "-m", str(m))
        if found and not (found["m"] == whole and near(bounds[found["k"]], best)
                          and near(found["p"], best)):
            fault(name, "n %d m %d: %s, p should be %g" % (n, m, found, best))
        for k in (1, 2, 5, 30, 255):
            name = "n m k: p is the bound"
            found = given(name, "-n", str(n), "-m", str(m), "-k", str(k))
            if found and not ((found["m"], found["k"]) == (whole, k)
                              and near(found["p"], bounds[k])):
                fault(name, "n %d m %d k %d: %s, p should be %g" % (n, m, k, found, bounds[k]))
        for p in (0.9, 0.3, 0.1, 0.01, 1e-4):
            keeps = [k for k in bounds if bounds[k] <= p]
            if not keeps:
                continue
            name = "n m p: the smallest k that keeps p"
            found = given(name, "-n", str(n), "-m", str(m), "-p", repr(p))
            if found and (found["m"], found["k"], found["p"]) != (whole, keeps[0], p):
                fault(name, "n %d m %d p %g: %s, k should be %d" % (n, m, p, found, keeps[0]))
            name = "n m p k: where they agree"
            found = given(name, "-n", str(n), "-m", str(m), "-p", repr(p), "-k", str(keeps[0]))
            if found and (found["m"], found["k"]) != (whole, keeps[0]):
                fault(name, "n %d m %d p %g k %d: %s" % (n, m, p, keeps[0], found))
    for m, p in ((64000, 0.01), (1000000, 1e-6), (4096, 0.5), (6400, 0.001)):
        name = "m p: the most keys"
        found = given(name, "-m", str(m), "-p", repr(p))
        want = max(keys_possible(m, p, k) for k in range(1, 256))
        if found and not (found["n"] == want and keys_possible(m, p, found["k"]) == want):
            fault(name, "m %d p %g: %s, n should be %d" % (m, p, found, want))
        for k in (1, 4, 9):
            if keys_possible(m, p, k) < 1:
                continue
            name = "m p k: the most keys"
            found = given(name, "-m", str(m), "-p", repr(p), "-k", str(k))
            if found and (found["n"], found["k"]) != (keys_possible(m, p, k), k):
                fault(name, "m %d p %g k %d: %s, n should be %d"
                      % (m, p, k, found, keys_possible(m, p, k)))
    for name, list_of_faults in faults.items():
        check_none(list_of_faults, "classic: " + name)
    found, text = build("-n", "100000", "-p", "0.01")
    check(found and found["m"] > 958506 and found["k"] == 7,
          "more bits than the textbook's 958506, whose rate is above 0.01", text, found)


def blocked():
    faults, larger = [], []
    for n in (1, 10, 1000, 100000, 3000000):
        before = 0
        for p in (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9):
            found, text = build("-n", str(n), "-p", repr(p), layout="blocked")
            if text:
                faults.append(text)
                continue
            m, k, g = found["m"], found["k"], found["g"]
            best = n * math.log2(1 / p) / math.log(2)
            if (g < 1 or k % g or m % (512 * g) or m < best or found["n"] != n
                    or found["p"] != p):
                faults.append("n %d p %g: %s" % (n, p, found))
            if n >= 100000 and m > 1.16 * best:
                larger.append("n %d p %g: %s, optimum %d" % (n, p, found, best))
            if m < before:
                faults.append("n %d p %g: m %d is less than for a larger p" % (n, p, m))
            before = m
    check_none(faults, "blocked: k a multiple of g, m of 512 g, and no less than the optimum")
    check_none(larger, "blocked: a few percent above the optimum at most")
    faults = []
    for n, m, k in ((10, 4096, 8), (1000, 10000, 8), (1000, 16384, 5), (200, 4000, 16)):
        found, text = build("-n", str(n), "-m", str(m), "-k", str(k), layout="blocked")
        if text:
            faults.append(text)
        elif not (found["k"] == k and m - 512 * found["g"] < found["m"] <= m
                  and found["m"] % (512 * found["g"]) == 0 and 0 < found["p"] < 1):
            faults.append("n %d m %d k %d: %s" % (n, m, k, found))
    check_none(faults, "blocked: m rounded down to a multiple of 512 g, p its bound")
    faults = []
    for n, m, p in ((1000, 16384, 0.01), (1000, 32768, 1e-4), (100000, 2000000, 1e-3)):
        found, text = build("-n", str(n), "-m", str(m), "-p", repr(p), layout="blocked")
        if text:
            faults.append(text)
            continue
        same, text = build("-n", str(n), "-m", str(m), "-k", str(found["k"]), layout="blocked")
        if text or same["p"] > p:
            faults.append("n %d m %d p %g: k %d gives %s" % (n, m, p, found["k"], text or same))
    check_none(faults, "blocked: the k found for n m p keeps p")
    faults = []
    for m, p in ((64000, 0.01), (6000000, 1e-6)):
        found, text = build("-m", str(m), "-p", repr(p), layout="blocked")
        if text:
            faults.append(text)
            continue
        n, k = found["n"], str(found["k"])
        here, _ = build("-n", str(n), "-m", str(m), "-k", k, layout="blocked")
        above, _ = build("-n", str(n + 1), "-m", str(m), "-k", k, layout="blocked")
        if not (here and above and here["p"] <= p < above["p"]):
            faults.append("m %d p %g: %s; p at n %s, at n + 1 %s"
                          % (m, p, found, here and here["p"], above and above["p"]))
    check_none(faults, "blocked: one key more than the n found for m p would break p")


def monotone():
    for layout in ("classic", "blocked"):
        faults, before = [], 0
        for n in sorted(random.Random(5).sample(range(1, 200000), 60)):
            found, text = build("-n", str(n), "-p", "0.001", layout=layout)
            if text or found["m"] < before:
                faults.append(text or "n %d: m %d after %d" % (n, found["m"], before))
            else:
                before = found["m"]
        check_none(faults, layout + ": m does not fall as n grows")
        faults, before = [], 1 << 62
        for p in [i / 1000 for i in range(1, 1000, 13)] + [0.283, 0.284, 0.999]:
            found, text = build("-n", "5000", "-p", repr(p), layout=layout)
            if text:
                faults.append(text)
            elif p not in (0.283, 0.284, 0.999):
                if found["m"] > before:
                    faults.append("p %g: m %d after %d" % (p, found["m"], before))
                before = found["m"]
        check_none(faults, layout + ": m does not grow with p, up to 0.999")


classic()
blocked()
monotone()
done()
