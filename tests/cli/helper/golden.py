"""golden.py - what scripts/sketch-format writes, the tools write; what it reads, they show"""

import glob
import json
import os
import sys

from common import check, check_none, done, golden_key, key_file, run

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


def hash_words(facts):
    """What makes the independent writer, and a tool, hash as a file of these facts does."""
    if "seed" in facts:
        return ["--seed", str(facts["seed"])], []
    return ["--key", golden_key().hex()], ["--key-file", key_file(golden_key())]


def with_words(facts):
    """The words that make the independent writer write an empty file of these facts."""
    layer = facts["layers"][0]
    words = ["--layout", layer["layout"], "--n", str(layer["n"]), "--p", repr(layer["p"]),
             "--m", str(layer["m"]), "--k", str(layer["k"]), *hash_words(facts)[0]]
    words += ["--g", str(layer["g"])] if layer["g"] else []
    words += ["--fold"] if facts["fold"] else []
    return words + (["--counter-bits", str(facts["counter_bits"])]
                    if "counter_bits" in facts else [])


def changed_by(facts, words, *parts):
    """The file that bloom-build leaves of an empty one, and its results."""
    with open("again", "wb") as file:
        file.write(theirs("write", *words))
    key = hash_words(facts)[1]
    results = [run(["bloom-build", *key, option, "again"], part) for option, part in parts]
    return content("again"), results


written, halves, shown, count = [], [], [], 0
for path in sorted(glob.glob(os.path.join(GOLDEN, "*.bloom"))):
    name = os.path.basename(path)[:-6]
    facts = json.loads(theirs("json", path))
    result = run(["sketch-info", "--json", path])
    ours = json.loads(result.out)
    layer = facts["layers"][0]
    for key in ("hash", "seed", "key_fingerprint", "records"):
        if ours.get(key) != facts.get(key):
            shown.append("%s: %s is %r, not %r" % (name, key, ours.get(key), facts.get(key)))
    if len(facts["layers"]) > 1 or facts.get("arrangement", "single") != "single":
        continue
    for key in ("layout", "n", "m", "k", "p", "fill"):
        if ours.get(key) != layer[key]:
            shown.append("%s: %s is %r, not %r" % (name, key, ours.get(key), layer[key]))
    if (ours.get("g") or 0) != layer["g"]:
        shown.append("%s: g is %r, not %r" % (name, ours.get("g"), layer["g"]))

    for key in ("counter_bits", "counters_full", "counter_largest"):
        if ours.get(key) != facts.get(key):
            shown.append("%s: %s is %r, not %r" % (name, key, ours.get(key), facts.get(key)))

    # An empty file of the same parameters, by the independent writer; the keys, by ours.
    counting = "counter_bits" in facts
    words = with_words(facts)
    keys = content(path[:-6] + (".input" if counting else ".keys"))
    remove = [("--remove-from", content(path[:-6] + ".removed"))] if counting else []
    again, results = changed_by(facts, words, ("--append", keys), *remove)
    count += 1
    if any(result.status != 0 for result in results) or again != content(path):
        written.append("%s: %s" % (name, results))
    lines = [key + b"\n" for key in keys.split(b"\n")[:-1]]
    again, _ = changed_by(facts, words, ("--append", b"".join(lines[1::2])),
                          ("--append", b"".join(lines[::2])), *remove)
    if again != content(path):
        halves.append(name)
check(count >= 10, "filters of one layer to write again", count)
check_none(written, "keys appended to an empty file give the golden one, byte for byte")
check_none(halves, "and so do its two halves, the second one first")
check_none(shown, "sketch-info shows what the independent reader finds")

# Cuckoo filters, which depend on the order of their keys.
written, count = [], 0


def cuckoo_words(facts):
    words = ["--cuckoo", "f=%d,buckets=%d,n=%d,p=%r" % (facts["fingerprint"], facts["buckets"],
                                                        facts["n"], facts["p"])]
    return words + hash_words(facts)[0] + (["--fold"] if facts["fold"] else [])


for path in sorted(glob.glob(os.path.join(GOLDEN, "*.cuckoo"))):
    name = os.path.basename(path)[:-7]
    facts = json.loads(theirs("json", path))
    ours = json.loads(run(["sketch-info", "--json", path]).out)
    for key in "seed key_fingerprint records n p m fingerprint buckets entries fill rate".split():
        if ours.get(key) != facts.get(key) and \
                (key != "rate" or abs(ours[key] - facts[key]) > 1e-15):
            shown.append("%s: %s is %r, not %r" % (name, key, ours.get(key), facts.get(key)))
    lines = content(path[:-7] + ".input").splitlines(keepends=True)
    half = len(lines) // 2
    again, results = changed_by(facts, cuckoo_words(facts), ("--append", b"".join(lines[:half])),
                                ("--append", b"".join(lines[half:])),
                                ("--remove-from", content(path[:-7] + ".removed")))
    count += 1
    if any(result.status != 0 for result in results) or again != content(path):
        written.append("%s: %s" % (name, results))
check(count >= 10, "cuckoo filters to write again", count)
check_none(written, "the same keys in the same order give the golden one, in one run or two")
check_none(shown, "sketch-info shows of them what the independent reader finds")

# The other way: what the tools built, the independent reader reads.
faults = []
for number, words in enumerate((["-n", "100"], ["-n", "100", "-L", "classic", "-s", "77"],
                                ["-n", "1000", "-p", "1e-5", "-i"],
                                ["-n", "50", "-m", "4096", "-k", "8", "-L", "blocked"],
                                ["-n", "3", "-p", "0.9"], ["-n", "200000", "-p", "0.001"],
                                ["--kind", "counting", "-n", "100"],
                                ["--kind", "counting", "-n", "100", "-L", "classic"],
                                ["--kind", "counting", "--counter-bits", "16", "-n", "100",
                                 "-m", "16kbit"])):
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
    if theirs("write", *with_words(facts), stdin=text) != content("ours.bloom"):
        faults.append("%s: not the bytes of the independent writer" % words)
check_none(faults, "what the tools build, the independent reader and writer agree with")

faults = []
for words in (["-n", "1000"], ["-n", "700", "-p", "1e-6", "-s", "5"], ["-n", "30", "-p", "0.5"],
              ["-n", "500", "-m", "900B", "-i"]):
    # As many keys as there is room for: different ones; and of four copies each, which fill
    # both buckets of a key, so that the search goes far.
    for copies, keys in ((1, int(words[1])), (4, int(words[1]) * 9 // 100)):
        text = b"".join(b"Key %d\n" % i * copies for i in range(keys))
        result = run(["bloom-build", "--kind", "cuckoo", *words, "-o", "ours.cuckoo"], text)
        facts = json.loads(theirs("json", "ours.cuckoo"))
        if result.status != 0 or \
                theirs("write", *cuckoo_words(facts), stdin=text) != content("ours.cuckoo"):
            faults.append("%s, %d copies: not the bytes of the independent writer: %s" % (
                words, copies, result))
check_none(faults, "and so with cuckoo filters")
done()
