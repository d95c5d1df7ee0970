"""fpr.py - fpr-calc and bloom-build agree; m behaves; tables from elsewhere"""

import csv
import json
import math
import os
import random

from common import LONG, check, check_none, done, info, one_line, run, skip

random.seed(5)


def columns(*arguments):
    result = run(["fpr-calc", "--json", *arguments])
    return json.loads(result.out) if result.status == 0 else None


def sample():
    """Arguments that both tools understand, as large as a test may build."""
    n = int(10 ** random.uniform(0, 5))
    p = "%.*g" % (random.randint(1, 4), 10 ** random.uniform(-9, -0.01))
    m = int(64 * 10 ** random.uniform(1, 4.5))
    k = str(random.randint(1, 30))
    chosen = random.choice(["np", "npk", "nm", "nmk", "mp", "mpk", "nmp"])
    words = ["-L", random.choice(["classic", "blocked"])]
    for letter, value in (("n", str(n)), ("p", p), ("m", str(m)), ("k", k)):
        if letter in chosen:
            words += ["-" + letter, value]
    return words


# ---- to the bit
faults, refused = [], 0
for _ in range(2000 if LONG else 150):
    words = sample()
    planned = run(["fpr-calc", *words, "--json"])
    built = run(["bloom-build", *words, "-o", "f.bloom"])
    used = json.loads(planned.out)["used"] if planned.status == 0 else {"refused": ""}
    if "refused" in used:
        refused += 1
        if built.status != 2:
            faults.append((words, planned, built))
        continue
    made = info("f.bloom") if built.status == 0 else {}
    for name in ("n", "m", "k", "g", "p", "layout", "bytes"):
        if made.get(name) != used[name]:
            faults.append((words, name, made.get(name), used[name]))
    printed = run(["fpr-calc", *words, "--print", "m"]).out
    if printed != b"%d\n" % made.get("m", 0):
        faults.append((words, "--print m", printed))
check_none(faults, "fpr-calc and bloom-build agree to the bit, or both refuse")
check(refused < 100 or LONG, "few of these are refused", refused)

# ---- monotone
faults, before = [], math.inf
for i in range(1, 1000, 23):
    m = columns("-L", "classic", "-n", "1000", "-p", "0.%03d" % i)["used"]["m"]
    if m > before:
        faults.append((i, m, before))
    before = m
check_none(faults, "m never grows with p, from 0.001 to 0.990")
faults, before = [], 0
for power in range(0, 60, 2):
    m = columns("-n", str(2 ** power), "-p", "0.5")["used"]["m"]
    if m < before:
        faults.append((power, m))
    before = m
check_none(faults, "m grows with n, up to 2^58")

# ---- JSON
result = run(["fpr-calc", "-n", "1M", "-p", "1%", "--json", "--until", "2%", "--what-if", "n=2M",
              "--table", "--compare", "--curve", "k", "--simulate=3", "--queries", "1000"])
whole = json.loads(result.out)
check(result.out.count(b"\n") == 1 and list(whole) ==
      ["used", "textbook", "table", "compare", "curve", "advice"], "one JSON object", result)
check(set(whole["used"]) == set(whole["textbook"]) and whole["textbook"]["g"] is None,
      "used and textbook have the same names", whole)
check(all(isinstance(text, str) for text in whole["advice"]) and whole["advice"], "advice: texts")
check(whole["used"]["what_if_n"] == 2000000 and whole["used"]["bound_holds"] == "yes",
      "answers are in it", whole["used"])
check(columns("--bits-per-key", "10")["used"]["n"] is None, "what is not known is null")
check("1e+18" in str(columns("-n", "1e18", "-p", "0.01")["textbook"]["n"]), "large numbers")

# ---- tables that lie beside the source tree
shared = os.path.join(os.environ["TOP"], "..", "shared", "cases", "tables")


def rows(name):
    with open(os.path.join(shared, name), encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def close(a, b, relative):
    return abs(a - b) <= relative * abs(b)


if not os.path.isdir(shared):
    skip("tables of published values", "none beside the source tree")
    done()
    raise SystemExit

faults = []
for row in rows("cao_fpr_table.csv"):
    book = columns("--bits-per-key", row["m_over_n"], "-k", row["k"])["textbook"]
    digits = len(row["printed"].split("e")[0].split(".")[1])
    unit = 10.0 ** -digits * (float("1e" + row["printed"].split("e")[1])
                              if "e" in row["printed"] else 1)
    if abs(book["rate"] - float(row["printed"])) > 0.5000001 * unit or \
            not close(book["rate"], float(row["asymptotic"]), 1e-11):
        faults.append((row, book["rate"]))
check_none(faults, "each cell of a published table of rates")

faults = []
for row in rows("exact_fpr.csv"):
    book = columns("-L", "classic", "-m", row["m"], "-k", row["k"], "-n", row["n"])["textbook"]
    want = [float(row[name]) for name in ("exact", "classic", "asymptotic")]
    if row["exact_fraction"]:
        above, below = row["exact_fraction"].split("/")
        want[0] = int(above) / int(below)
    # the file's decimals are as many as it has
    exact = 1e-12 if row["exact_fraction"] else 1e-11
    if not (close(book["rate_exact"], want[0], exact) and
            close(book["rate_classic"], want[1], 1e-11) and
            close(book["rate_exponential"], want[2], 1e-11)):
        faults.append((row, book))
check_none(faults, "each row of the exact rates")

faults = []
for row in rows("sizing.csv"):
    if int(row["n"]) > 10 ** 18:
        continue
    book = columns("-n", row["n"], "-p", row["p"])["textbook"]
    small = float(row["m_real"]) < 1e15
    if not (close(book["m"], float(row["m_real"]), 1e-15) or
            abs(book["m"] - float(row["m_real"])) <= 1e-6) or \
            abs(book["k"] - float(row["k_real"])) > 1e-6 or \
            book["k_whole"] != max(int(row["k_round"]), 1) or \
            (small and (book["m_whole"] != int(row["m_ceil"]) or
                        book["bytes"] != int(row["bytes_ceil"]))):
        faults.append((row, book))
check_none(faults, "each row of the sizes, textbook")

faults = []
for row in rows("cms_sizing.csv"):
    both = columns("--cms", "--epsilon", row["eps"], "--delta", row["delta"])
    got = [both[column][name] for column in ("used", "textbook") for name in ("w", "d")]
    if got != [int(row[name]) for name in ("wA", "dA", "wB", "dB")]:
        faults.append((row, got))
check_none(faults, "each row of the count-min sizes")

clean = run(["fpr-calc", "-n", "18446744073709551615", "-p", "0.01"])
check(clean.status == 2 and one_line(clean.err, "fpr-calc"), "2^64 - 1 keys are refused", clean)
done()
