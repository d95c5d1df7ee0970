"""info.py - sketch-info --json against what is known of the filters"""

import json
import math
import os
import sys

from common import check, check_none, done, run

NAMES = "kind layout hash seed n m k g p rate bytes records fill distinct checksum".split()


def show(*files):
    result = run(["sketch-info", "--json", *files])
    return result, [json.loads(line, parse_constant=lambda word: word)
                    for line in result.out.splitlines()]


result, (f, g, empty) = show("f.bloom", "g.bloom", "empty.bloom")
for name, item in (("f", f), ("g", g), ("empty", empty)):
    missing = [key for key in NAMES if key not in item]
    check(not missing, name + ": has every name", missing, item)
check((f["layout"], f["seed"], f["n"], f["k"], f["p"], f["records"])
      == ("classic", 42, 1000, 7, 0.01, 2000), "f: as it was built", f)
check(not f["g"], "f: no g where the layout is classic", f["g"])
check((g["layout"], g["seed"], g["n"], g["p"], g["records"])
      == ("blocked", 0, 50000, 0.001, 1000), "g: as it was built", g)
check(g["g"] >= 1 and g["k"] % g["g"] == 0, "g: k is a multiple of g", g)
check("bloom" in str(f["kind"]).lower() and "murmur" in str(f["hash"]).lower(),
      "kind and hash have names", f["kind"], f["hash"])
check(f["bytes"] == f["m"] // 8 and g["bytes"] == g["m"] // 8, "bytes are those of the bits",
      f["bytes"], os.path.getsize("f.bloom"))
check(f["checksum"] == g["checksum"] == empty["checksum"]
      and str(f["checksum"]).lower() in ("ok", "good", "valid", "intact", "true"),
      "checksum is good", f["checksum"])
check((empty["records"], empty["fill"], empty["rate"], empty["distinct"]) == (0, 0, 0, 0),
      "empty: all zero", empty)
for name, item in (("f", f), ("g", g)):
    with open(name + ".bloom", "rb") as file:
        bits = file.read()[384:] if item["bytes"] <= 16 * 65536 else b""
    ones = sum(byte.bit_count() for byte in bits)
    check(math.isclose(item["fill"], ones / item["m"], rel_tol=1e-6), name + ": fill is ones / m",
          item["fill"], ones / item["m"])
    check(abs(item["distinct"] / 1000 - 1) < 0.05, name + ": distinct is about 1000",
          item["distinct"])
    # A random key's fill: the textbook's, which both layouts share to a percent.
    usual = -math.expm1(-item["k"] * 1000 / item["m"])
    check(abs(item["fill"] / usual - 1) < 0.05, name + ": fill is as expected",
          item["fill"], usual)
check(math.isclose(f["rate"], f["fill"] ** 7, rel_tol=1e-6), "f: the rate is fill^k", f)
check(0 < g["rate"] < 1e-9 * 1e3, "g: nearly empty, the rate is next to nothing", g["rate"])

# The rate of a blocked filter is a mean over its lines, and so above that of its fill.
run(["bloom-build", "-L", "blocked", "-n", "50000", "-p", "0.01", "-o", "h.bloom"],
    b"".join(b"%d\n" % i for i in range(50000)))
_, (h,) = show("h.bloom")
check(0.0085 < h["rate"] < 0.0115 and h["rate"] > h["fill"] ** h["k"],
      "blocked: the rate at capacity is about p", h)
absent = run(["bloom-query", "-c", "h.bloom"], b"".join(b"no %d\n" % i for i in range(200000)))
hits = int(absent.out)
deviation = math.sqrt(200000 * h["rate"])
check(abs(hits - 200000 * h["rate"]) < 4.5 * deviation,
      "blocked: and the rate is what a query finds", hits, 200000 * h["rate"])
check(abs(h["distinct"] / 50000 - 1) < 0.02, "blocked: distinct is about 50000", h["distinct"])

# Names of files are text that others chose.
odd = {"with blank": None, 'with"quote\\': None, "with\nnewline": None, "with\x1bescape": None,
       "\u00fc": None}
faults = []
for name in odd:
    with open("empty.bloom", "rb") as file, open(name, "wb") as copy:
        copy.write(file.read())
result, items = show(*odd)
if result.status != 0 or len(items) != len(odd):
    faults.append(str(result))
result = run(["sketch-info", *odd])
if any(line and line.count(b"\t") != 1 for line in result.out.splitlines()):
    faults.append("a line that is no NAME<TAB>VALUE: %r" % result.out)
raw = b"not \xff utf-8"
os.rename("\u00fc".encode() if sys.getfilesystemencoding() == "utf-8" else "\u00fc", raw)
result = run(["sketch-info", "--json", raw])
try:
    result.out.decode("utf-8")
    json.loads(result.out)
except ValueError as error:
    faults.append("%s: %s" % (error, result))
check_none(faults, "names of files that are odd")

# Every value is the same from a file and from a pipe.
with open("g.bloom", "rb") as file:
    content = file.read()
piped = json.loads(run(["sketch-info", "--json", "-"], content).out)
check(all(piped[name] == g[name] for name in NAMES), "a pipe shows what a file shows", piped, g)
done()
