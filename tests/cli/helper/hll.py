"""hll.py - distinct keys: golden files, random streams, crafted files, a terminal"""

import glob
import json
import os
import random
import struct

from common import (check, check_none, content, done, golden_key, is_clean, key_file, load,
                    on_terminal, run, save)

TOP = os.environ["TOP"]
GOLDEN = os.path.join(TOP, "tests", "golden")


fmt = load("sketch-format")


# ---- golden files: the number of the independent writer, and written again
numbers, written, shown, count = [], [], [], 0
for path in sorted(glob.glob(os.path.join(GOLDEN, "hll-*.hll"))):
    name = os.path.basename(path)[:-4]
    key = ["--key-file", key_file(golden_key())] if "keyed" in name else []
    sketch = fmt.decode(content(path), golden_key() if key else None)
    want, error = map(int, content(path[:-4] + ".distinct").split())
    keys = content(path[:-4] + ".input")
    count += 1
    got = run(["hll-count", "--query", path])
    if (got.status, got.out, got.err) != (0, b"%d\n" % want, b""):
        numbers.append("%s: not %d: %s" % (name, want, got))
    words = ["--precision", str(sketch.precision), *(key or ["-s", str(sketch.seed)])]
    words += ["-i"] if sketch.transforms else []
    got = run(["hll-count", "-q", "-o", "new.hll", *words], keys)
    if got.status != 0 or got.err or content("new.hll") != content(path):
        written.append("%s: made anew: %s" % (name, got))
    save("again.hll", fmt.encode(fmt.Hll(sketch.precision, sketch.seed, sketch.transforms)))
    backwards = b"".join(key + b"\n" for key in reversed(keys.split(b"\n")[:-1]))
    got = run(["hll-count", *key, "-q", "--append", "again.hll"], backwards)
    if got.status != 0 or got.err or content("again.hll") != content(path):
        written.append("%s: appended to an empty one: %s" % (name, got))
    got = run(["sketch-merge", "-o", "merged.hll", path])
    if got.status != 0 or content("merged.hll") != content(path):
        written.append("%s: read and written: %s" % (name, got))
    facts, ours = fmt.describe(sketch), json.loads(run(["sketch-info", "--json", path]).out)
    for fact in ("precision", "registers", "zero_registers", "hash", "seed", "key_fingerprint",
                 "records", "exact"):
        if ours.get(fact) != facts.get(fact):
            shown.append("%s: %s is %r, not %r" % (name, fact, ours.get(fact), facts.get(fact)))
    if ours["distinct"] != want or round(ours["error"] * 1e6) != error:
        shown.append("%s: %r and %r" % (name, ours["distinct"], ours["error"]))
check(count >= 8, "there are golden files of distinct keys", count)
check_none(numbers, "golden files give the number of the independent writer")
check_none(written, "and are made anew from their keys, byte for byte")
check_none(shown, "sketch-info shows what the independent reader finds")

# ---- random streams, both writers
faults = []
rng = random.Random(23)
for number in range(16):
    precision, seed = rng.randint(4, 12), rng.getrandbits(32)
    most = (1 << precision) // 8
    different = rng.choice([most - 1, most, most + 1, 3 * most, 20])
    keys = [bytes(rng.choice(b"ab\0\xff \r") for _ in range(rng.randint(0, 40)))
            for _ in range(different)]
    stream = [rng.choice(keys) for _ in range(2 * different)]
    mine = fmt.Hll(precision, seed)
    for key in stream:
        mine.add(key)
    result = run(["hll-count", "-s", str(seed), "--precision", str(precision), "-o", "ours.hll"],
                 b"".join(key + b"\n" for key in stream))
    if result.out != b"%d\n" % round(mine.state()[0]) or content("ours.hll") != fmt.encode(mine):
        faults.append("stream %d: %s, not %r" % (number, result, mine.state()))
check_none(faults, "random streams: the file and the number of the independent writer")


# ---- crafted files, every checksum right
def sealed(head, kind, body, **fields):
    return fmt.assemble([(fmt.PRECISION, 0, head), (fmt.SUMS, 0, fmt.chunk_sums(body)),
                         (kind, 0, body)], kind=fmt.HLL, **fields)


def head(precision=4, bits=8, rest=bytes(56)):
    return struct.pack("<II", precision, bits) + rest


def hashes(*values):
    return struct.pack("<%dQ" % len(values), *values)


full = bytes([3] * 16)
REGISTERS, HASHES = fmt.REGISTERS, fmt.HASHES
refused = {
    "precision 0": sealed(head(0), REGISTERS, full),
    "precision 3": sealed(head(3), REGISTERS, full[:8]),
    "precision 22": sealed(head(22), REGISTERS, full),
    "precision 68": sealed(head(68), REGISTERS, full),
    "precision 2^32 - 1": sealed(head((1 << 32) - 1), REGISTERS, full),
    "registers of 6 bits": sealed(head(bits=6), REGISTERS, full[:12]),
    "registers of 0 bits": sealed(head(bits=0), REGISTERS, full),
    "a reserved byte": sealed(head(rest=bytes(55) + b"\1"), REGISTERS, full),
    "a register too few": sealed(head(), REGISTERS, full[:15]),
    "a register too many": sealed(head(), REGISTERS, full + b"\1"),
    "no registers": sealed(head(), REGISTERS, b""),
    "registers of a greater precision": sealed(head(21), REGISTERS, full),
    "a register above 61": sealed(head(), REGISTERS, full[:15] + b"\x3e"),
    "a register of 255": sealed(head(), REGISTERS, b"\xff" + full[1:]),
    "registers that are all 0": sealed(head(), REGISTERS, bytes(16)),
    "too many hashes": sealed(head(), HASHES, hashes(1, 2, 3)),
    "half a hash": sealed(head(), HASHES, hashes(1, 2)[:12]),
    "hashes that descend": sealed(head(), HASHES, hashes(2, 1)),
    "a hash twice": sealed(head(), HASHES, hashes(2, 2)),
    "the hash 0 twice": sealed(head(), HASHES, hashes(0, 0)),
    "layers": sealed(head(), REGISTERS, full, arrangement=fmt.LADDER),
    "a window": sealed(head(), REGISTERS, full, arrangement=fmt.WINDOWED),
    "a short precision": sealed(head()[:56], REGISTERS, full),
    "a long precision": sealed(head() + bytes(8), REGISTERS, full),
    "registers and hashes": fmt.assemble(
        [(fmt.PRECISION, 0, head()), (fmt.SUMS, 0, fmt.chunk_sums(full)), (REGISTERS, 0, full),
         (HASHES, 0, full)], kind=fmt.HLL),
    "no content": fmt.assemble([(fmt.PRECISION, 0, head()), (fmt.SUMS, 0, b"")], kind=fmt.HLL),
    "no sums": fmt.assemble([(fmt.PRECISION, 0, head()), (REGISTERS, 0, full)], kind=fmt.HLL),
    "no precision": fmt.assemble([(fmt.SUMS, 0, fmt.chunk_sums(full)), (REGISTERS, 0, full)],
                                 kind=fmt.HLL),
    "registers 1": fmt.assemble(
        [(fmt.PRECISION, 0, head()), (fmt.SUMS, 0, fmt.chunk_sums(full)), (REGISTERS, 1, full)],
        kind=fmt.HLL),
    "another order": fmt.assemble(
        [(fmt.SUMS, 0, fmt.chunk_sums(full)), (fmt.PRECISION, 0, head()), (REGISTERS, 0, full)],
        kind=fmt.HLL),
    "sums of something else": fmt.assemble(
        [(fmt.PRECISION, 0, head()), (fmt.SUMS, 0, fmt.chunk_sums(bytes(16))),
         (REGISTERS, 0, full)], kind=fmt.HLL),
    "sums too long": fmt.assemble(
        [(fmt.PRECISION, 0, head()), (fmt.SUMS, 0, fmt.chunk_sums(full) + bytes(4)),
         (REGISTERS, 0, full)], kind=fmt.HLL),
    "bits of a filter": fmt.assemble(
        [(fmt.PRECISION, 0, head()), (fmt.SUMS, 0, fmt.chunk_sums(full)), (fmt.BITS, 0, full)],
        kind=fmt.HLL),
    "the sections of counts": fmt.assemble(fmt.counts_sections(fmt.Counts(4, 1).begin()),
                                           kind=fmt.HLL),
    "as counts": fmt.assemble(fmt.hll_sections(fmt.Hll(4)), kind=fmt.COUNTS),
    "as a filter": fmt.assemble(fmt.hll_sections(fmt.Hll(4)), kind=fmt.BLOOM),
}
tools, leaky, judged = [], [], []
for name, data in refused.items():
    save("crafted.hll", data)
    try:
        fmt.decode(bytes(data))
        judged.append(name)
    except fmt.Refused:
        pass
    for words, stdin in ((["hll-count", "--query", "crafted.hll"], b""),
                         (["hll-count", "--query", "-"], bytes(data)),
                         (["hll-count", "--append", "crafted.hll"], b"a\n"),
                         (["sketch-merge", "-o", "u.hll", "crafted.hll"], b""),
                         (["sketch-info", "crafted.hll"], b"")):
        result = run(words, stdin)
        if not is_clean(result, words[0]):
            tools.append("%s: %s: %s" % (name, " ".join(words), result))
    if content("crafted.hll") != bytes(data) or os.path.exists("u.hll"):
        leaky.append(name)
check_none(judged, "%d crafted files: the independent reader refuses each" % len(refused))
check_none(tools, "so do all tools, in a line")
check_none(leaky, "and nothing is changed or made")
save("odd.hll", fmt.assemble(
    [(fmt.PRECISION, 0, head()), (fmt.SUMS, 0, fmt.chunk_sums(hashes(0, (1 << 64) - 1))),
     (HASHES, 0, hashes(0, (1 << 64) - 1)), (fmt.IGNORABLE, 0, b"note")], kind=fmt.HLL))
result = run(["hll-count", "--query", "odd.hll"])
check((result.status, result.out, result.err) == (0, b"2\n", b""),
      "a section to be skipped is; the least and the greatest hash", result)
save("full.hll", sealed(head(), REGISTERS, bytes([61] * 16)))
result = run(["hll-count", "--bounds", "--query", "full.hll"])
check((result.status, result.out, result.err) == (0, b"inf\t3\tinf\n", b""),
      "registers that are all full: no number", result)
result = run(["hll-count", "--json", "--query", "full.hll"])
check(json.loads(result.out)["distinct"] is None, "which is null in JSON", result)
result = run(["sketch-info", "full.hll"])
check(result.status == 0 and b"distinct\tinf\n" in result.out, "and inf in sketch-info", result)
for n in range(1, 16):
    save("nearly.hll", sealed(head(), REGISTERS, bytes([61] * n + [60] * (16 - n))))
    result = run(["hll-count", "--bounds", "--query", "nearly.hll"])
    if result.status != 0 or result.err or len(result.out.split()) != 3:
        check(False, "registers that are nearly full", result)

# ---- a file cut at every length, every bit flipped
faults = []
for data in (content(os.path.join(GOLDEN, "hll-least.hll")),
             content(os.path.join(GOLDEN, "hll-least-exact.hll"))):
    variants = [data[:length] for length in range(len(data))]
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        variants.append(bytes(changed))
    for start in range(0, len(variants), 400):
        names = []
        for number, variant in enumerate(variants[start:start + 400]):
            names.append("v%04d" % number)
            save(names[-1], variant)
        result = run(["sketch-info", *names])
        lines = result.err.splitlines()
        if result.status != 2 or result.out or len(lines) != len(names) or not all(
                line.startswith(b"sketch-info: " + name.encode() + b": ")
                for line, name in zip(lines, names)):
            faults.append("from %d: %s" % (start, result))
        for name in names:
            os.unlink(name)
check_none(faults, "cut at every length, every bit flipped: refused in a line each")

# ---- a terminal
stream = b"".join(b"%d\n" % i for i in range(2000))
result, text = on_terminal(["hll-count", "--bounds"], stream)
check(text == b"2,000\t2,000\t2,000\n" and result.status == 0, "on a terminal: digits in groups",
      result, text)
result, text = on_terminal(["hll-count", "-o", "-"], b"")
check(result.status == 2 and not text and is_clean(result, "hll-count"),
      "-o - to a terminal is refused", result, text)
done()
