"""cms.py - counts: crafted files, golden files, what a terminal shows"""

import glob
import json
import os
import random
import re
import struct

from common import (check, check_none, content, done, golden_key, is_clean, key_file, load,
                    on_terminal, one_line, run, sanitized, save)

TOP = os.environ["TOP"]
GOLDEN = os.path.join(TOP, "tests", "golden")
M64 = (1 << 64) - 1


fmt = load("sketch-format")


def emptied(sketch):
    """Another without any record."""
    if isinstance(sketch, fmt.Ring):
        return fmt.Ring.planned(lambda: emptied(sketch.panes[0]), sketch.unit, sketch.length)
    decay = sketch.decay and fmt.Decay(sketch.decay.unit, sketch.decay.half_life)
    return fmt.Counts(sketch.w, sketch.d, sketch.update, sketch.most, sketch.seed,
                      sketch.transforms, bits=64 if decay else 32, decay=decay).begin()


# ---- golden files: counts as the independent writer has them, and written again
asked, written, shown, count = [], [], [], 0
for path in sorted(glob.glob(os.path.join(GOLDEN, "counts-*.cms"))):
    name = os.path.basename(path)[:-4]
    key = ["--key-file", key_file(golden_key())] if "keyed" in name else []
    sketch = fmt.decode(content(path), golden_key() if key else None)
    want = content(path[:-4] + ".counts")
    count += 1
    got = run(["cms-count", *key, "--query", path, "-d", "\t", "-f", "2-"], want)
    if (got.status, got.out, got.err) != (0, want, b""):
        asked.append("%s: %s" % (name, got))
    empty, timed = emptied(sketch), name.endswith("-time")
    save("again.cms", fmt.encode(empty))
    words = ["cms-count", *key, "-d", "\t", "-f", "2-", "-W", "1"]
    got = run([*words, "--append", "again.cms"], content(path[:-4] + ".input"))
    if not timed and (got.status != 0 or got.err or content("again.cms") != content(path)):
        written.append("%s: appended to an empty one: %s" % (name, got))
    if isinstance(sketch, fmt.Ring) or sketch.decay:
        pass
    elif sketch.update == fmt.PLAIN or sketch.most == 1000:
        words += ["--width", str(sketch.w), "--depth", str(sketch.d)]
        words += [] if key else ["-s", str(sketch.seed)]
        words += ["--plain"] if sketch.update == fmt.PLAIN else []
        words += ["-i"] if sketch.transforms else []
        got = run([*words, "-o", "new.cms"], content(path[:-4] + ".input"))
        if got.status != 0 or content("new.cms") != content(path):
            written.append("%s: made anew: %s" % (name, got))
    got = run(["sketch-merge", "-o", "merged.cms", path])
    if got.status != 0 or content("merged.cms") != content(path):
        written.append("%s: read and written: %s" % (name, got))
    facts, ours = fmt.describe(sketch), json.loads(run(["sketch-info", "--json", path]).out)
    if isinstance(sketch, fmt.Ring):
        panes = [(pane["total"], pane["in_table"], len(pane["tracked"])) for pane in facts["panes"]]
        if [(one["total"], one["in_table"], one["tracked"]) for one in ours["panes"]] != panes \
                or [ours["window"], ours["window_unit"], ours["span"], ours["stamp"]] != \
                [facts["window"][key] for key in ("length", "unit", "span", "stamp")]:
            shown.append("%s: other panes: %s" % (name, ours))
        continue
    if sketch.decay:
        decay = [sketch.decay.half_life, sketch.decay.now, fmt.UNIT_NAMES[sketch.decay.unit]]
        if [ours["decay"], ours["now"], ours["decay_unit"]] != decay \
                or b"%.3f" % ours["total"] != fmt.as_shown(sketch, sketch.decay.high(sketch.total),
                                                           1):
            shown.append("%s: another decay: %s" % (name, ours))
        continue
    for fact in ("w", "d", "cell", "hash", "seed", "key_fingerprint", "records", "total",
                 "in_table", "update", "tracked_most"):
        if ours.get(fact) != facts.get(fact):
            shown.append("%s: %s is %r, not %r" % (name, fact, ours.get(fact), facts.get(fact)))
    if ours["tracked"] != len(facts["tracked"]):
        shown.append("%s: %r tracked" % (name, ours["tracked"]))
    if sketch.most:
        # Of a long key what is stored is shown.
        top = [(one["count"], one["low"], one["key_hex"]) for one in facts["tracked"]]
        got = run(["cms-top", "--bounds", "-k", "100000", "--query", path]).out.split(b"\n")
        got = [line.split(b"\t", 3) for line in got[:-1]]
        if [(int(line[0]), int(line[1]), line[3].hex()) for line in got] != top:
            shown.append("%s: other tracked keys" % name)
check(count >= 20, "there are golden files of counts", count)
check_none(asked, "golden files give the counts of the independent writer")
check_none(written, "and are made anew from their records, byte for byte")
check_none(shown, "sketch-info and cms-top show what the independent reader finds")


# ---- random streams, both writers
faults = []
rng = random.Random(17)
for number in range(12):
    w, d, seed = rng.randint(1, 60), rng.randint(1, 6), rng.getrandbits(32)
    keys = [bytes(rng.choice(b"ab\0\xff \r") for _ in range(rng.randint(0, 40)))
            for _ in range(60)]
    stream = [rng.choice(keys) for _ in range(600)]
    plain = number % 2 == 0
    mine = fmt.Counts(w, d, fmt.PLAIN if plain else fmt.CONSERVATIVE, 0 if plain else 1000,
                      seed).begin()
    for key in stream:
        mine.add(key)
    got = run(["cms-count", *(["--plain"] if plain else []), "--width", str(w), "--depth", str(d),
               "-s", str(seed), "-o", "random.cms"], b"".join(key + b"\n" for key in stream))
    if got.status != 0 or content("random.cms") != fmt.encode(mine):
        faults.append("w %d, d %d, plain %s: %s" % (w, d, plain, got))
check_none(faults, "random keys: the file of the independent writer")

faults = []
for number in range(12):
    w, d, span = rng.randint(1, 60), rng.randint(1, 6), rng.randint(1, 400)
    stream = [rng.choice([b"a", b"bb", b"", b"c\xff"]) + b"%d" % (rng.random() * rng.random() * 40)
              for _ in range(1500)]
    if number % 2:
        mine = fmt.Counts(w, d, most=1000, bits=64, decay=fmt.Decay(fmt.RECORDS, span)).begin()
    else:
        mine = fmt.Ring.planned(lambda: fmt.Counts(w, d, most=1000).begin(), fmt.RECORDS, span)
    for key in stream:
        mine.add(key)
    option = "--decay" if number % 2 else "--window"
    words = ["cms-count", option, str(span), "--width", str(w), "--depth", str(d)]
    got = run([*words, "-o", "random.cms"], b"".join(key + b"\n" for key in stream))
    if got.status != 0 or got.err or content("random.cms") != fmt.encode(mine):
        faults.append("w %d, d %d, %s %d: %s" % (w, d, option, span, got))
    for part in range(0, 1500, 250):
        got = run([*words, "--append", "parts%d" % number],
                  b"".join(key + b"\n" for key in stream[part:part + 250]))
    if content("parts%d" % number) != fmt.encode(mine):
        faults.append("w %d, d %d, %s %d, in parts: %s" % (w, d, option, span, got))
check_none(faults, "the same with a window or decay, in one run or six")


# ---- crafted files, every checksum right
def sealed(table, cells, keys=None, **fields):
    sections = [(fmt.TABLE, 0, table), (fmt.SUMS, 0, fmt.chunk_sums(cells)), (fmt.CELLS, 0, cells)]
    if keys is not None:
        sections[2:2] = [(fmt.SUMS, 1, fmt.chunk_sums(keys))]
        sections.append((fmt.KEYS, 1, keys))
    return fmt.assemble(sections, **{"kind": fmt.COUNTS, **fields})


def table(d=1, bits=32, update=1, zero=0, w=4, total=9, in_table=0, landmark=0, half_life=0,
          most=10, floor=0, rest=bytes(56)):
    return struct.pack("<IIIIQQQqQQQ", d, bits, update, zero, w, total, in_table, landmark,
                       half_life, most, floor) + rest


def tracked(key, count, error=0, stored=None, length=None, flags=None, hashed=None):
    stored = key[:4096] if stored is None else stored
    length = len(key) if length is None else length
    flags = int(length > len(stored)) if flags is None else flags
    return struct.pack("<IIQQQQQ", len(stored), flags, length, *(hashed or fmt.murmur3(key)), count,
                       error) + stored + bytes(-len(stored) % 8)


A, B = sorted((tracked(key, number) for key, number in ((b"a", 4), (b"b", 5))),
              key=lambda record: struct.unpack_from("<QQ", record, 16))
zeros = bytes(16)
whole = 256 * b"x" + 4000 * b"y"
refused = {
    "keys unsorted": sealed(table(), zeros, B + A),
    "a key twice": sealed(table(total=8), zeros, tracked(b"a", 4) + tracked(b"a", 4)),
    "a key twice, under another hash": sealed(
        table(total=8), zeros, b"".join(sorted((tracked(b"a", 4), tracked(b"a", 4, hashed=(1, 1))),
                                               key=lambda one: one[16:24][::-1]))),
    "more keys than may be tracked": sealed(table(most=1), zeros, A + B),
    "error above count": sealed(table(total=4), zeros, tracked(b"a", 4, 5)),
    "error without a cell": sealed(table(total=3), zeros, tracked(b"a", 4, 1)),
    "count above total": sealed(table(total=3), zeros, tracked(b"a", 4)),
    "count of 0": sealed(table(total=0), zeros, tracked(b"a", 0)),
    "counts below total": sealed(table(total=10), zeros, A + B),
    "more than 4096 bytes stored": sealed(table(total=4), zeros,
                                          tracked(whole, 4, stored=whole[:4104])),
    "fewer stored of a longer key": sealed(table(total=4), zeros,
                                           tracked(whole, 4, stored=whole[:100])),
    "a flag for what is whole": sealed(table(total=4), zeros, tracked(b"a", 4, flags=1)),
    "no flag for what is cut": sealed(table(total=4), zeros, tracked(whole, 4, flags=0)),
    "an unknown flag": sealed(table(total=4), zeros, tracked(b"a", 4, flags=2)),
    "the length beyond the section": sealed(table(total=4), zeros, tracked(b"a", 4)[:-8]),
    "half a record": sealed(table(total=4), zeros, tracked(b"a", 4)[:40]),
    "padding that is not 0": sealed(table(total=4), zeros, tracked(b"a", 4)[:-1] + b"x"),
    "w d beyond 2^64": sealed(table(d=4, w=1 << 62), zeros, A + B),
    "w d 4 beyond 2^64": sealed(table(d=1, w=(1 << 62) + 4), zeros, A + B),
    "w and d beyond memory": sealed(table(d=64, w=1 << 32), zeros, A + B),
    "w too small": sealed(table(w=3), zeros, A + B),
    "w 0": sealed(table(w=0), b"", A + B),
    "d 0": sealed(table(d=0), b"", A + B),
    "d 65": sealed(table(d=65, w=1), bytes(260), A + B),
    "8-bit cells": sealed(table(bits=8), zeros, A + B),
    "64-bit cells in half the room": sealed(table(bits=64), zeros, A + B),
    "tracked beyond 2^24": sealed(table(most=(1 << 24) + 1), zeros, A + B),
    "tracked in a plain one": sealed(table(update=2), zeros, A + B),
    "no tracked keys but a section": sealed(table(most=0), zeros, A + B),
    "tracked keys but no section": sealed(table(total=0), zeros),
    "update rule 3": sealed(table(update=3), zeros, A + B),
    "decay": sealed(table(half_life=1), zeros, A + B),
    "a reserved byte": sealed(table(rest=bytes(55) + b"\1"), zeros, A + B),
    "a cell above its part": sealed(table(total=10, in_table=1), bytes(15) + b"\1", A + B),
    "T above N": sealed(table(total=1, in_table=2), zeros, b""),
    "a floor above N": sealed(table(floor=10), zeros, A + B),
    "layers": sealed(table(), zeros, A + B, arrangement=fmt.LADDER),
    "a short table": sealed(table()[:120], zeros, A + B),
    "a long table": sealed(table() + bytes(8), zeros, A + B),
    "no table": fmt.assemble([(fmt.SUMS, 0, fmt.chunk_sums(zeros)), (fmt.CELLS, 0, zeros)],
                             kind=fmt.COUNTS),
    "keys before cells": fmt.assemble(
        [(fmt.TABLE, 0, table()), (fmt.SUMS, 0, fmt.chunk_sums(zeros)),
         (fmt.SUMS, 1, fmt.chunk_sums(A + B)), (fmt.KEYS, 1, A + B), (fmt.CELLS, 0, zeros)],
        kind=fmt.COUNTS),
    "bits of a filter": fmt.assemble(
        [(fmt.TABLE, 0, table(most=0, total=0)), (fmt.SUMS, 0, fmt.chunk_sums(zeros)),
         (fmt.CELLS, 0, zeros), (fmt.BITS, 0, zeros)], kind=fmt.COUNTS),
}


def pane(number, tables=b"", keys=A + B, cells=zeros):
    """The sections of a pane."""
    at = 2 * number
    return [(fmt.TABLE, number, tables or table()), (fmt.SUMS, at, fmt.chunk_sums(cells)),
            (fmt.SUMS, at + 1, fmt.chunk_sums(keys)), (fmt.CELLS, at, cells),
            (fmt.KEYS, at + 1, keys)]


def ringed(unit=2, panes=3, span=10, length=20, stamp=5, taken=0, rest=bytes(24), tables=None,
           index=0, more=()):
    """A window of three panes."""
    ring = struct.pack("<IIQQQQ", unit, panes, span, length, stamp, taken) + rest
    sections = [(fmt.RING, index, ring)]
    for number in range(3):
        sections += pane(number, (tables or {}).get(number, b""))
    return fmt.assemble([*sections, *more], kind=fmt.COUNTS)


def decayed(unit=1, landmark=90, half_life=10, now=95, most=10, bits=64, update=1):
    """The table of counts that decay."""
    return struct.pack("<IIIIQQQQQQQQ", 1, bits, update, unit, 4, 9, 0, landmark, half_life, most,
                       0, now) + bytes(48)


wider = bytes(32)
fmt.decode(bytes(ringed()))
fmt.decode(bytes(sealed(decayed(), wider, A + B)))
refused.update({
    "a window in unit 0": ringed(unit=0),
    "a window in unit 3": ringed(unit=3),
    "no panes": ringed(panes=0),
    "fewer panes than tables": ringed(panes=2, length=10),
    "more panes than tables": ringed(panes=4),
    "more panes than there may be": ringed(panes=65),
    "2^32 panes": ringed(panes=(1 << 32) - 1),
    "a span of 0": ringed(span=0),
    "a window of 0": ringed(length=0),
    "a window longer than its panes": ringed(length=21),
    "a window of 2^64": ringed(length=(1 << 64) - 1),
    "a stamp beyond 2^63 in time": ringed(stamp=1 << 60),
    "a stamp beyond 2^62": ringed(unit=1, span=1, length=3, stamp=(1 << 62) + 1),
    "records in a pane of time": ringed(taken=1),
    "more records than a pane has": ringed(unit=1, taken=11),
    "a reserved byte of a window": ringed(rest=bytes(23) + b"\1"),
    "a short window": fmt.assemble([(fmt.RING, 0, bytes(40)), *pane(0)], kind=fmt.COUNTS),
    "an index of the window": ringed(index=1),
    "a window alone": fmt.assemble([(fmt.RING, 0, struct.pack("<IIQQQQ", 2, 1, 10, 1, 5, 0)
                                     + bytes(24))], kind=fmt.COUNTS),
    "two windows": ringed(more=[(fmt.RING, 0, bytes(64))]),
    "a window behind its panes": fmt.assemble([*pane(0), (fmt.RING, 0, bytes(64))],
                                              kind=fmt.COUNTS),
    "a pane of another width": ringed(tables={1: table(w=2)}),
    "a pane of more tracked keys": ringed(tables={2: table(most=11)}),
    "a pane that decays": ringed(tables={0: decayed(bits=32)}),
    "a window in a filter's file": fmt.assemble([(fmt.RING, 0, bytes(64))]),
    "decay in unit 3": sealed(decayed(unit=3), wider, A + B),
    "decay without a unit": sealed(decayed(unit=0), wider, A + B),
    "a half-life of 0": sealed(decayed(half_life=0), wider, A + B),
    "a half-life above 2^62": sealed(decayed(half_life=(1 << 62) + 1, landmark=0), wider, A + B),
    "a landmark that is no multiple": sealed(decayed(landmark=91), wider, A + B),
    "a landmark after now": sealed(decayed(landmark=100), wider, A + B),
    "now beyond 2^63": sealed(decayed(now=1 << 63), wider, A + B),
    "decay in cells of 32 bits": sealed(decayed(bits=32), zeros, A + B),
    "decay of a plain table": sealed(decayed(update=2), wider, A + B),
})
tools, leaky, judged = [], [], []
for name, data in refused.items():
    save("crafted.cms", data)
    try:
        fmt.decode(bytes(data))
        judged.append(name)
    except fmt.Refused:
        pass
    for words, stdin in ((["cms-count", "--query", "crafted.cms", "-e", "a"], b""),
                         (["cms-count", "--query", "-", "-e", "a"], bytes(data)),
                         (["cms-top", "--query", "crafted.cms"], b""),
                         (["cms-top", "--append", "crafted.cms"], b"a\n"),
                         (["sketch-merge", "-o", "u.cms", "crafted.cms"], b""),
                         (["sketch-info", "crafted.cms"], b"")):
        result = run(words, stdin)
        if not is_clean(result, words[0]):
            tools.append("%s: %s: %s" % (name, " ".join(words), result))
    if content("crafted.cms") != bytes(data) or os.path.exists("u.cms"):
        leaky.append(name)
check_none(judged, "%d crafted files: the independent reader refuses each" % len(refused))
check_none(tools, "so do all tools, in a line")
check_none(leaky, "and nothing is changed or made")
# An address space that could not hold what the field promises.
save("room.cms", sealed(table(most=1 << 24), zeros, A + B))
limit = [] if sanitized() or os.environ.get("TEST_VARIANT") == "tsan" else \
    ["prlimit", "--as=200000000"]
result = run([*limit, "cms-top", "--query", "room.cms"])
check(result.status == 0 and result.out == b"5\tb\n4\ta\n" and not result.err,
      "room for 2^24 keys with two in it takes no memory for more", result)
save("ignorable.cms", fmt.assemble(
    [(fmt.TABLE, 0, table(most=0, total=0)), (fmt.SUMS, 0, fmt.chunk_sums(zeros)),
     (fmt.CELLS, 0, zeros), (fmt.IGNORABLE, 0, b"note")], kind=fmt.COUNTS))
result = run(["cms-count", "--query", "ignorable.cms", "-e", "a"])
check(result.status == 0 and result.out == b"0\ta\n", "a section to be skipped is", result)

# ---- a terminal
stream = b"heavy\n" * 1234567 + b"\x1b[31mred\n" * 300000 + b"tab\there\n" * 65433
result, text = on_terminal(["cms-top"], stream)
rows = text.split(b"\n")[:-1]
check(result.status == 0 and not result.err and len(rows) == 3, "cms-top on a terminal", result,
      text)
bars = [row.count(b"#") for row in rows]
check(b"1,234,567" in rows[0] and b"77.2 %" in rows[0] and bars[0] >= 10
      and rows[0].endswith(b"heavy"), "has digits in groups, the share, a bar", rows[0])
check(bars == [round(bars[0] * count / 1234567) for count in (1234567, 300000, 65433)],
      "which is as long as the count", text)
check(len({len(row.split(b"%")[0]) for row in rows}) == 1
      and [row.rindex(b"  ") + 2 for row in rows] == [len(rows[0]) - len(b"heavy")] * 3,
      "in columns", text)
check(b"\x1b" not in text and b"\t" not in text, "control bytes are escaped", text)
result, text = on_terminal(["cms-top", "--bounds"], b"a\nb\na\n")
lines = [line.split() for line in text.splitlines()]
check(result.status == 0 and lines[0] == [b"count", b"low", b"share", b"key"]
      and lines[1][:2] == [b"2", b"2"], "with --bounds, both, and which is which", text)
run(["cms-top", "--decay=1h", "-o", "saved.cms"], b"a\nb\na\n")
result, text = on_terminal(["cms-top", "--query", "saved.cms"], b"")
title = rb"as it was at 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC, \d+s ago\n"
check(result.status == 0 and len(text.splitlines()) == 3 and re.match(title, text) is not None,
      "of a saved sketch that forgets: as of when", text)
run(["cms-top", "-o", "saved.cms"], b"a\nb\na\n")
result, text = on_terminal(["cms-top", "--query", "saved.cms"], b"")
check(result.status == 0 and len(text.splitlines()) == 2, "but not of others", text)
result, text = on_terminal(["cms-top", "--pad"], b"a\nb\na\n")
check(text == b"      2 a\n      1 b\n", "--pad is for people already", text)
result, text = on_terminal(["cms-top", "--json"], b"a\n")
check(json.loads(text)["count"] == 1, "--json is the same everywhere", text)
result, text = on_terminal(["cms-top"], b"x" * 5000 + b"\n")
check(len(text) == 80 and text.endswith(b"xxx...\n"), "a long key is cut to the width", text)
result = run(["cms-top"], b"a\x1b[31m\n")
check(result.out == b"1\ta\x1b[31m\n", "elsewhere every byte as it is", result)
done()
