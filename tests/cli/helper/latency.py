"""latency.py - records written into an idle pipe, one at a time

Each has to come out within a tenth of a second.  The machine may be busy with other
things, so it is the median of twenty that counts.
"""

import statistics
import time

from common import check, done, finish, read_within, run, slow, spawn

run(["bloom-build", "-n", "100", "-p", "1e-9", "-o", "f.bloom"], b"alice\n")


def times(options, record, answer, separator=b"\n", count=20):
    process = spawn(["bloom-query", *options, "f.bloom"])
    waits, wrong = [], []
    for number in range(count):
        begun = time.monotonic()
        process.stdin.write(record + separator)
        out = b""
        while len(out) < len(answer) + 1 and time.monotonic() < begun + 2:
            out += read_within(process.stdout.fileno(), 2)
        waits.append(time.monotonic() - begun)
        if out != answer + separator:
            wrong.append((number, out))
            break
    process.stdin.close()
    result = finish(process)
    check(not wrong and statistics.median(waits) < 0.1 * slow() and result.out == b"",
          "bloom-query %s: within 100 ms" % " ".join(options), wrong, waits, result)


times([], b"alice", b"alice")
times(["-v"], b"bob", b"bob")
times(["--annotate"], b"bob", b"0\tbob")
times(["-z"], b"alice", b"alice", b"\0")
times(["-f", "2"], b"x alice", b"x alice")
times(["-d", ",", "-f", "2"], b"x,alice", b"x,alice")
times(["-v", "--stats"], b"x" * 100000, b"x" * 100000, count=5)

# A record in pieces, and one that is held back until it is complete.
process = spawn(["bloom-query", "f.bloom"])
process.stdin.write(b"al")
early = read_within(process.stdout.fileno(), 0.2)
process.stdin.write(b"ice\nali")
out = read_within(process.stdout.fileno(), 2)
check((early, out) == (b"", b"alice\n"), "a record in two pieces", early, out)
early = read_within(process.stdout.fileno(), 0.2)
process.stdin.write(b"ce")
early += read_within(process.stdout.fileno(), 0.2)
process.stdin.close()
out = read_within(process.stdout.fileno(), 2)
check((early, out) == (b"", b"alice\n"), "a last record without newline, at the end of file",
      early, out)
check(finish(process).status == 0, "and the end")

# Many in one write, the last of them not complete.
process = spawn(["bloom-query", "f.bloom"])
process.stdin.write(b"alice\n" * 1000 + b"alice")
out = b""
while len(out) < 6000:
    piece = read_within(process.stdout.fileno(), 2)
    if not piece:
        break
    out += piece
check(out == b"alice\n" * 1000, "a thousand at once, and a part", len(out))
process.stdin.close()
check(finish(process).out == b"alice\n", "which follows")

# -q ends at the first answer, with the pipe still open.
process = spawn(["bloom-query", "-q", "f.bloom"])
process.stdin.write(b"alice\n")
ended = False
for _ in range(40):
    if process.poll() is not None:
        ended = True
        break
    time.sleep(0.05)
process.stdin.close()
check(ended and finish(process).status == 0, "-q ends at the first that is held")
done()
