"""golden.py - what scripts/sketch-format writes, the tools write; what it reads, they show"""

import glob
import json
import os
import sys

from common import check, check_none, done, run

TOP = os.environ["TOP"]
GOLDEN = os.path.join(TOP, "tests", "golden")


def theirs(command, *words, stdin=b""):
    result = run([sys.executable, os.path.join(TOP, "scripts", "sketch-format"), command, *words],
                 stdin)
    assert result.status == 0, result
    return result.out


def content(path):
    with open(path, "rb") as file:
        return file.read()


written, halves, shown, count = [], [], [], 0
for path in sorted(glob.glob(os.path.join(GOLDEN, "*.bloom"))):
    name = os.path.basename(path)[:-6]
    facts = json.loads(theirs("json", path))
    result = run(["sketch-info", "--json", path])
    ours = json.loads(result.out)
    layer = facts["layers"][0]
    for key, value in (("seed", facts["seed"]), ("records", facts["records"])):
        if ours.get(key) != value:
            shown.append("%s: %s is %r, not %r" % (name, key, ours.get(key), value))
    if len(facts["layers"]) > 1 or facts["arrangement"] != "single":
        continue
    for key in ("layout", "n", "m", "k", "p", "fill"):
        if ours.get(key) != layer[key]:
            shown.append("%s: %s is %r, not %r" % (name, key, ours.get(key), layer[key]))
    if (ours.get("g") or 0) != layer["g"]:
        shown.append("%s: g is %r, not %r" % (name, ours.get("g"), layer["g"]))

    # An empty file of the same parameters, by the independent writer; the keys, by ours.
    words = ["--layout", layer["layout"], "--n", str(layer["n"]), "--p", repr(layer["p"]),
             "--m", str(layer["m"]), "--k", str(layer["k"]), "--seed", str(facts["seed"])]
    if layer["g"]:
        words += ["--g", str(layer["g"])]
    if facts["fold"]:
        words += ["--fold"]
    empty = theirs("write", *words)
    keys = content(path[:-6] + ".keys")
    with open("again", "wb") as file:
        file.write(empty)
    result = run(["bloom-build", "--append", "again"], keys)
    count += 1
    if result.status != 0 or content("again") != content(path):
        written.append("%s: %s" % (name, result))
    lines = [key + b"\n" for key in keys.split(b"\n")[:-1]]
    with open("again", "wb") as file:
        file.write(empty)
    for part in (lines[::2], lines[1::2]):
        result = run(["bloom-build", "--append", "again"], b"".join(part))
    if content("again") != content(path):
        halves.append(name)
check(count >= 10, "filters of one layer to write again", count)
check_none(written, "keys appended to an empty file give the golden one, byte for byte")
check_none(halves, "and so do its two halves")
check_none(shown, "sketch-info shows what the independent reader finds")

# The other way: what the tools built, the independent reader reads.
faults = []
for number, words in enumerate((["-n", "100"], ["-n", "100", "-L", "classic", "-s", "77"],
                                ["-n", "1000", "-p", "1e-5", "-i"],
                                ["-n", "50", "-m", "4096", "-k", "8", "-L", "blocked"],
                                ["-n", "3", "-p", "0.9"], ["-n", "200000", "-p", "0.001"])):
    text = b"".join(b"Key %d\n" % i for i in range(40)) + b"\n\0\xff\n"
    result = run(["bloom-build", *words, "-o", "ours.bloom"], text)
    facts = json.loads(theirs("json", "ours.bloom"))
    ours = json.loads(run(["sketch-info", "--json", "ours.bloom"]).out)
    layer = facts["layers"][0]
    for key in ("layout", "n", "m", "k", "p"):
        if ours[key] != layer[key]:
            faults.append("%s: %s: %r, %r" % (words, key, ours[key], layer[key]))
    absent = b"".join(b"No %d\n" % i for i in range(300))
    for probe in (text, absent):
        mine = run(["bloom-query", "ours.bloom"], probe).out
        result = run([sys.executable, os.path.join(TOP, "scripts", "sketch-format"), "query",
                      "ours.bloom"], probe)
        if mine != result.out or (probe is text and mine != text):
            faults.append("%s: %r, %r" % (words, mine[:80], result))
    given = ["--layout", layer["layout"], "--n", str(layer["n"]), "--p", repr(layer["p"]),
             "--m", str(layer["m"]), "--k", str(layer["k"]), "--seed", str(facts["seed"])]
    given += ["--g", str(layer["g"])] if layer["g"] else []
    given += ["--fold"] if facts["fold"] else []
    if theirs("write", *given, stdin=text) != content("ours.bloom"):
        faults.append("%s: not the bytes of the independent writer" % words)
check_none(faults, "what the tools build, the independent reader and writer agree with")
done()
