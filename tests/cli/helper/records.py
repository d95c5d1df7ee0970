"""records.py - long records, records across the edges of buffers, and slow writers

The same bytes come as a file, through a pipe, in random pieces and one byte at a
time; filters and answers have to be the same to the byte.
"""

import os
import random
import sys
import threading

from common import check, check_none, done, finish, run, spawn, wait_until, peak_memory, \
    sanitized, skip


def feed(process, pieces):
    def write():
        try:
            for piece in pieces:
                process.stdin.write(piece)
            process.stdin.close()
        except (BrokenPipeError, ValueError):
            pass
    thread = threading.Thread(target=write)
    thread.start()
    return thread


def trickled(arguments, pieces):
    process = spawn(arguments)
    output = []
    reader = threading.Thread(target=lambda: output.append(process.stdout.read()))
    reader.start()
    writer = feed(process, pieces)
    writer.join(60)
    reader.join(60)
    err = process.stderr.read()
    return process.wait(60), output[0], err


def bytewise(data):
    return (data[i:i + 1] for i in range(len(data)))


def pieces(data, seed, largest):
    rng = random.Random(seed)
    at = 0
    while at < len(data):
        size = rng.randint(1, largest)
        yield data[at:at + size]
        at += size


def arrivals(name, data, slow=True, options=()):
    """Build and query the data in every way; half of its records are in the filter."""
    separator = b"\0" if "-z" in options else b"\n"
    records = data.split(separator)
    if records[-1] == b"":
        records.pop()
    with open("whole", "wb") as file:
        file.write(data)
    base = ["bloom-build", "-n", str(2 * len(records) + 10), "-p", "1e-9", *options]
    built = run([*base, "whole"])
    check(built.status == 0 and not built.err, name + ": built from a file",
          built.status, built.err)
    ways = [("a pipe", [data]), ("pieces up to 10000", pieces(data, 1, 10000)),
            ("pieces up to 7", pieces(data, 2, 7) if slow else pieces(data, 2, 70000))]
    if slow:
        ways.append(("single bytes", bytewise(data)))
    for way, parts in ways:
        result = trickled(base, parts)
        check(result == (0, built.out, b""), "%s: the same from %s" % (name, way),
              result[0], result[2])
    held = records[::2]
    with open("half.bloom", "wb") as file:
        file.write(run([*base, "-"], separator.join(held) + separator).out)
    chosen = set(held)
    for option, wanted in (([], True), (["-v"], False)):
        want = b"".join(r + separator for r in records if (r in chosen) == wanted)
        query = ["bloom-query", *options, *option, "half.bloom"]
        status = 0 if want else 1
        result = run([*query, "whole"])
        check((result.status, result.out, result.err) == (status, want, b""),
              "%s: query %s of a file" % (name, " ".join(option)), result.status, result.err)
        ways = [("a pipe", [data]), ("pieces", pieces(data, 3, 5000))]
        if slow:
            ways.append(("single bytes", bytewise(data)))
        for way, parts in ways:
            result = trickled(query, parts)
            check(result == (status, want, b""),
                  "%s: query %s of %s" % (name, " ".join(option), way), result[0], result[2])


def edges(delta):
    """Lines whose newlines lie about the edges that buffers have."""
    lines, at = [], 0
    for edge in (4096, 8192, 16384, 65536, 131072, 262144):
        length = edge + delta - at - 10
        lines += [b"%d" % edge + b"x" * (length - len(str(edge))), b"%08d" % edge]
        at += length + 10
    return b"".join(line + b"\n" for line in lines)


def boundary(count):
    """Long lines that differ at the ends only."""
    return b"".join(b"%02d" % i + b"y" * (4088 + i % 9) + b"%02d\n" % (i * 7 % 100)
                    for i in range(count))


arrivals("lines of about 4096 bytes", boundary(10))
arrivals("forty lines of about 4096 bytes", boundary(40), slow=False)
for shift in (-1, 0, 1, 2):
    arrivals("newlines about the edges of buffers, %+d" % shift, edges(shift), slow=False)
arrivals("empty lines at both ends", b"\n\n" + boundary(2) + b"\n\n\n" + b"tail")
arrivals("short lines", b"".join(b"%d\n" % (i * i) for i in range(3000)) + b"no newline")
arrivals("records with NUL at the end", boundary(4).replace(b"\n", b"\0") + b"new\nline\0\0last",
         options=["-z"])
arrivals("lines of 64 KiB and a byte",
         b"".join(bytes([letter]) * 65537 + b"\n" for letter in b"abcabd") + b"a" * 65536 + b"\n",
         slow=False)
million = b"A" * (1 << 20)
arrivals("lines of 1 MiB that differ in the last byte",
         b"\n".join((million, million + b"B", b"short", million[:-1] + b"C", million[1:])) + b"\n",
         slow=False)
arrivals("every byte", b"".join(bytes([b, c]) + b"\n" for b in range(256) for c in (0, 13, 128, 255)
                                if b != 10))
naughty = ["", "undefined", "NULL", "\\", "'", '"', "--", "-e", "-", "%s%n", "$(id)", "`id`", "*",
           "\u202etest", "\u2066", "\ufeff", "\ufffe", "\u0000x", "\u00e9", "e\u0301", "\u3042",
           "\U0001f4a9", "\u200b", "\u00a0", "\u2028", "\u0085", "\x1b[31m", "\x07", "\t", " ",
           "../../etc/passwd", "1e400", "0x0", "\\n", "a\tb", "\x7f", "\r", "x\r"]
arrivals("naughty strings", "\n".join(naughty).encode() + b"\n\xff\n\xc0\x80\n\xed\xa0\x80\n\xf8\n")

# 64 MiB without one newline is a record of 64 MiB; but memory follows the record, not the stream.
if sanitized():
    skip("memory does not follow the stream", "a sanitizer's own")
else:
    run(["bloom-build", "-n", "100000", "-o", "small.bloom"], b"a\n")
    size = os.path.getsize("small.bloom")
    for command in (["bloom-query", "-v", "small.bloom"], ["bloom-query", "-c", "small.bloom"],
                    ["bloom-build", "-n", "100000"]):
        process = spawn(command, stdout=open(os.devnull, "wb"))
        line = b"".join(b"%d some more or less usual line of a log\n" % i for i in range(20000))
        for _ in range(50):
            process.stdin.write(line)
        memory = peak_memory(process.pid)
        process.stdin.close()
        result = finish(process)
        check(memory < size + (8 << 20) and result.status in (0, 1),
              " ".join(command) + ": 46 MB pass through 8 MiB and the filter",
              "%d resident" % memory, result)

# Resident: the filter and 8 MiB, to the end of the save.
if sanitized():
    skip("memory is the filter and 8 MiB", "a sanitizer's own")
else:
    launcher = ("import os, sys\n"
                "_, status, usage = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:],"
                " os.environ), 0)\n"
                "open('usage', 'w').write('%d %d' % (status, usage.ru_maxrss))\n")
    text = b"".join(b"%d\n" % i for i in range(40000))
    for command, target in ((["bloom-build", "-n", "5M", "-p", "1e-6", "-o", "large.bloom"], None),
                            (["bloom-build", "--append", "large.bloom"], None),
                            (["bloom-query", "-c", "large.bloom"], None),
                            (["bloom-query", "-c", "-e", "1", "-"], "large.bloom"),
                            (["sketch-info", "large.bloom"], None),
                            (["sketch-info", "-"], "large.bloom")):
        content = open(target, "rb").read() if target else text
        # A child counts what its parent had before exec, so that has to be little.
        result = run([sys.executable, "-S", "-E", "-c", launcher, *command], content)
        with open("usage", encoding="ascii") as file:
            status, memory = map(int, file.read().split())
        memory, size = memory * 1024, os.path.getsize("large.bloom")
        check(status == 0 and memory <= size + (8 << 20),
              " ".join(command) + ": memory is the filter and 8 MiB",
              "%d resident, %d the filter" % (memory, size), result)
done()
