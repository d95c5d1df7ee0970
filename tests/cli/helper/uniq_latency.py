"""uniq_latency.py - records written into an idle pipe, one at a time, through bloom-uniq

Each has to come out within a tenth of a second.  The machine may be busy with other
things, so it is the median of twenty that counts.
"""

import statistics
import time

from common import check, done, finish, read_within, slow, spawn


def times(options, make, separator=b"\n", count=20):
    process = spawn(["bloom-uniq", *options])
    waits, wrong = [], []
    for number in range(count):
        record = make(number)
        begun = time.monotonic()
        process.stdin.write(record + separator)
        out = b""
        while len(out) < len(record) + 1 and time.monotonic() < begun + 2:
            out += read_within(process.stdout.fileno(), 2)
        waits.append(time.monotonic() - begun)
        if out != record + separator:
            wrong.append((number, out[:80]))
            break
    process.stdin.close()
    result = finish(process)
    check(not wrong and statistics.median(waits) < 0.1 * slow() and result.out == b""
          and result.status == 0, "bloom-uniq %s: within 100 ms" % " ".join(options), wrong,
          waits, result)


times([], lambda i: b"line %d" % i)
times(["-n", "1000"], lambda i: b"line %d" % i)
times(["-z"], lambda i: b"line\n%d" % i, b"\0")
times(["-f", "2"], lambda i: b"x %d" % i)
times(["--window", "10"], lambda i: b"line %d" % i)
times(["--window", "1h", "-n", "100"], lambda i: b"line %d" % i)
times(["--state", "idle.bloom"], lambda i: b"line %d" % i)
times(["--stats"], lambda i: b"%d" % i * 10000, count=5)

# A duplicate is held back, and what follows it is not.
process = spawn(["bloom-uniq", "--duplicates", "held"])
process.stdin.write(b"a\na\n")
first = read_within(process.stdout.fileno(), 2)
time.sleep(0.15 * slow())
with open("held", "rb") as file:
    held = file.read()
process.stdin.write(b"a\nb\nc")
second = read_within(process.stdout.fileno(), 2)
early = read_within(process.stdout.fileno(), 0.2)
check((first, held, second, early) == (b"a\n", b"a\n", b"b\n", b""),
      "held back at once, too, and a part of a record waits", first, held, second, early)
process.stdin.close()
check(finish(process).out == b"c\n", "until the end")

# An endless one that is interrupted ends by the signal.
process = spawn(["bloom-uniq"])
process.stdin.write(b"a\n")
read_within(process.stdout.fileno(), 2)
process.send_signal(2)
check(finish(process).status == -2, "interrupted while idle")
done()
