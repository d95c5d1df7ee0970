"""watch.py - cms-top --watch where standard output is no terminal: blocks of lists"""

import json
import os
import signal
import time

from common import check, check_none, done, finish, read_within, restore_signals, run, slow, spawn
from common import wait_until


def watch(*options, **more):
    return spawn(["cms-top", *options], preexec_fn=restore_signals, **more)


def read_until(process, condition, seconds=10):
    """What comes until it is enough."""
    out, end = b"", time.monotonic() + seconds * slow()
    while not condition(out) and time.monotonic() < end:
        out += read_within(process.stdout.fileno(), 0.05)
    return out


def blocks_of(out):
    return [block.splitlines() for block in out.strip(b"\n").split(b"\n\n")]


# ---- blocks, while the input is idle
process = watch("--watch=0.2")
early = read_within(process.stdout.fileno(), 0.7)
check(early == b"", "nothing is printed where there is nothing yet", early)
process.stdin.write(b"a\nb\na\n")
out = read_until(process, lambda out: out.count(b"\n\n") >= 3)
check(blocks_of(out)[:3] == [[b"2\ta", b"1\tb"]] * 3,
      "an idle input does not stop the blocks, with an empty line between them", out)
process.stdin.write(b"b\nb\n\n")
out = read_until(process, lambda out: b"3\tb" in out)
check(blocks_of(out)[-1][0] == b"3\tb", "what came since is in the next", out)
process.stdin.close()
result = finish(process)
last = blocks_of(out + result.out)[-1]
check(result.status == 0 and not result.err and last == [b"3\tb", b"2\ta", b"1\t"],
      "and the last block is that of the end of the input", result)

# ---- a burst
waits, lacking = [], []
process = watch("--watch=0.5")
process.stdin.write(b"first\n")
read_until(process, lambda out: b"first" in out)
for number in range(5):
    time.sleep(0.07 * number)
    key = b"burst%d" % number
    begun = time.monotonic()
    process.stdin.write((key + b"\n") * 50000)
    out = read_until(process, lambda out, key=key: b"50000\t" + key in out)
    waits.append(time.monotonic() - begun)
    if b"50000\t" + key not in out:
        lacking.append((number, out[:200]))
process.stdin.close()
finish(process)
check(not lacking and sorted(waits)[2] < 0.5 + 0.1 * slow() and max(waits) < 0.5 + 0.5 * slow(),
      "a burst of 50000 records is whole in the next block", lacking, waits)

# ---- an input that never pauses
process = watch("--watch=0.2", "-k", "3")
begun, stamps, out = time.monotonic(), [], b""
os.set_blocking(process.stdin.fileno(), False)
while time.monotonic() < begun + 2:
    try:
        process.stdin.write(b"x\ny\nx\n" * 20000)
    except BlockingIOError:
        pass
    piece = read_within(process.stdout.fileno(), 0)
    stamps += [time.monotonic()] * piece.count(b"\ty\n")
    out += piece
gaps = [b - a for a, b in zip(stamps, stamps[1:])]
check(len(stamps) >= 8 // slow() and max(gaps, default=9) < 0.4 * slow(),
      "nor does one that never pauses", stamps, gaps)
process.stdin.close()
result = finish(process)
counts = [int(block[0].split(b"\t")[0]) for block in blocks_of(out + result.out)]
check(counts == sorted(counts) and result.status == 0, "its counts grow", counts)

# ---- other forms
for options, want in ((["--pad"], b"      2 a\n      1 b\n\n      2 a\n"),
                      (["--bounds"], b"2\t2\t2\ta\n1\t1\t1\tb\n\n2\t2\t2\ta\n"),
                      (["-k", "1"], b"2\ta\n\n2\ta\n"),
                      (["--min-share", "60%"], b"2\ta\n\n2\ta\n"),
                      (["-z"], b"1\ta\nb\na\n\0\0" b"1\ta\nb\na\n\0\0")):
    process = watch("--watch=0.1", *options)
    process.stdin.write(b"a\nb\na\n\0" if options == ["-z"] else b"a\nb\na\n")
    out = read_until(process, lambda out, want=want: len(out) >= len(want))
    process.stdin.close()
    result = finish(process)
    check(out.startswith(want) and result.status == 0, " ".join(options), out, result)
process = watch("--watch=0.1", "--json")
process.stdin.write(b"a\nb\na\n")
out = read_until(process, lambda out: out.count(b"\n\n") >= 2)
objects = [[json.loads(line) for line in block] for block in blocks_of(out)[:2]]
blocks = [[row["count"] for row in block] for block in objects]
check(blocks == [[2, 1], [2, 1]], "--json", out)
times = [{row["time"] for row in block} for block in objects]
check(all(len(one) == 1 and abs(min(one) - time.time()) < 60 for one in times),
      "each block of them says when it was", out)
process.stdin.close()
result = finish(process)
last = [json.loads(line) for line in blocks_of(out + result.out)[-1]]
check([sorted(row) for row in last] == [["count", "high", "key", "low", "share"]] * 2,
      "the last one is as without --watch", result)

# ---- signals: the list, the file, and death by the signal
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    process = watch("--watch=60", "-o", "signal.cms")
    process.stdin.write(b"a\nb\na\n")
    time.sleep(0.2 * slow())
    early = read_within(process.stdout.fileno(), 0)
    process.send_signal(number)
    result = finish(process)
    name = signal.Signals(number).name
    check(early == b"" and result.status == -number and result.out == b"2\ta\n1\tb\n"
          and not result.err, name + " ends it with the list", result)
    asked = run(["cms-top", "--query", "signal.cms"])
    check(asked.out == b"2\ta\n1\tb\n", "and the file is saved", asked)
    os.unlink("signal.cms")

# ---- two clocks
for watched, every in (("60", "300ms"), ("0.1", "300ms"), ("0.3", "60s")):
    process = watch("--watch=" + watched, "--save-every", every, "--append", "clock.cms")
    process.stdin.write(b"a\nb\na\n")
    out = read_until(process, lambda out: out != b"", 1.5 if watched != "60" else 0.2)
    saved = wait_until(lambda: run(["cms-top", "--query", "clock.cms"]).out == b"2\ta\n1\tb\n",
                       2 * slow() if every != "60s" else 0.2)
    process.stdin.close()
    result = finish(process)
    check((out != b"") == (watched != "60") and saved == (every != "60s") and result.status == 0,
          "--watch=%s beside --save-every=%s" % (watched, every), out, saved, result)
    os.unlink("clock.cms")

# ---- who reads goes away, or there is no room
process = watch("--watch=0.1")
process.stdin.write(b"a\n")
read_until(process, lambda out: out != b"")
process.stdout.close()
process.stdout = None
check(wait_until(lambda: process.poll() is not None, 5 * slow())
      and process.returncode == -signal.SIGPIPE, "ends with its reader", process.returncode)
with open("/dev/full", "wb") as full:
    process = watch("--watch=0.1", stdout=full)
    process.stdin.write(b"a\n")
    ended = wait_until(lambda: process.poll() is not None, 5 * slow())
    process.stdin.close()
    process.stdin = None
    err = process.stderr.read()
    check(ended and process.returncode == 2 and err.count(b"\n") == 1
          and b"standard output" in err, "a full disk is found at the first block", err)

# ---- nothing of it changes what is counted
faults = []
lines = b"".join(b"key%d\n" % (i * i % 977) for i in range(200000))
with open("lines", "wb") as file:
    file.write(lines)
for options in (["-k", "20"], ["-k", "20", "--size", "1KiB", "--bounds"], ["--json"]):
    plain = run(["cms-top", *options, "lines"]).out
    watched = run(["cms-top", "--watch=0.1", *options, "lines"]).out
    if watched.rsplit(b"\n\n", 1)[-1] != plain:
        faults.append(options)
check_none(faults, "the last block is what is printed without --watch")
done()
