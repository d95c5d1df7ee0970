"""damage.py - a filter cut at every length, with every bit flipped; noise; lies in the header

Whatever is done to a file, a reader refuses it in one line, or, where the damage lies in
a part that it does not read, answers as it would have before.
"""

import itertools
import os
import random
import struct
import time

from common import (LONG, check, check_none, done, finish, is_clean, peak_memory, run, sanitized,
                    skip, slow, spawn, wait_drained)

BITS = 384  # where the bits of one layer begin, up to 16 chunks


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)


def read(name):
    with open(name, "rb") as file:
        return file.read()


def make(name, text, *words):
    result = run(["bloom-build", *words, "-o", name], text)
    assert result.status == 0, result
    return read(name)


class Gang:
    """Runs many short commands, a few at a time; each has a file of input and two of
    output, used again and again, for starting a process is what costs most here."""

    WIDTH = 3

    def __init__(self, judge):
        self.judge, self.running, self.program = judge, [], None
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        self.slots = [("slot%d" % i, os.open("slot%d.out" % i, flags, 0o600),
                       os.open("slot%d.err" % i, flags, 0o600)) for i in range(self.WIDTH)]
        self.null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def start(self, label, arguments, data):
        """The name of a file with the data is put behind the arguments."""
        if len(self.running) >= self.WIDTH:
            self.reap()
        slot = self.slots.pop()
        name, out, err = slot
        write(name, data)
        for descriptor in (out, err):
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
        program = os.path.join(os.environ["BIN"], arguments[0])
        pid = os.posix_spawn(program, [*arguments, name], os.environ,
                             file_actions=[(os.POSIX_SPAWN_DUP2, self.null, 0),
                                           (os.POSIX_SPAWN_DUP2, out, 1),
                                           (os.POSIX_SPAWN_DUP2, err, 2)])
        self.running.append((label, pid, slot))

    def reap(self):
        label, pid, slot = self.running.pop(0)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self.judge(label, status, os.pread(slot[1], 65536, 0), os.pread(slot[2], 65536, 0))
        self.slots.append(slot)

    def finish(self):
        while self.running:
            self.reap()
        os.close(self.null)
        for name, out, err in self.slots:
            os.close(out)
            os.close(err)
            for suffix in ("", ".out", ".err"):
                if os.path.exists(name + suffix):
                    os.unlink(name + suffix)


def query_all(variants, keys, tool="bloom-query"):
    """Asks every variant for keys that are in it; faults where it is not refused in a line."""
    faults = []

    def judge(label, status, out, err):
        good = (status == 2 and out == b"" and err.startswith(tool.encode() + b": ")
                and err.count(b"\n") == 1 and err.endswith(b"\n") and len(err) < 400)
        if not good:
            faults.append("%s: status %r, %r, %r" % (label, status, out[:60], err[:200]))

    gang = Gang(judge)
    words = [word for key in keys for word in ("-e", key)]
    for label, data in variants:
        gang.start(label, [tool, "-v", *words], data)
        if len(faults) > 20:
            break
    gang.finish()
    return faults


def info_all(variants, batch=400):
    """Shows them all to sketch-info, many at a time: a line on stderr for each, no more."""
    faults, pending = [], []

    def flush():
        names = []
        for number, (_, data) in enumerate(pending):
            names.append("w%04d" % number)
            write(names[-1], data)
        result = run(["sketch-info", "--json", *names])
        lines = result.err.splitlines()
        if result.status != 2 or len(lines) != len(names):
            missing = [label for name, (label, _) in zip(names, pending)
                       if not any(b" " + name.encode() + b":" in line for line in lines)]
            faults.append("status %r, %d lines for %d files; none for %s"
                          % (result.status, len(lines), len(names), missing[:5]))
        for name, line in zip(names, lines):
            if not line.startswith(b"sketch-info: " + name.encode() + b": "):
                faults.append("%s: %r" % (name, line[:200]))
                break
        for name in names:
            os.unlink(name)
        pending.clear()

    for variant in variants:
        pending.append(variant)
        if len(pending) == batch:
            flush()
    if pending:
        flush()
    return faults


def cuts(data, lengths=None):
    for length in lengths if lengths is not None else range(len(data)):
        yield "cut to %d" % length, data[:length]


def flips(data, bits=None):
    for bit in bits if bits is not None else range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        yield "byte %d bit %d" % (bit // 8, bit % 8), bytes(changed)


def small():
    keys = ["alice", "bob"]
    text = b"alice\nbob\n"
    for layout in ("classic", "blocked"):
        data = make("small", text, "-n", "2", "-p", "0.1", "-L", layout)
        check(len(data) < 500, layout + ": a small filter", len(data))
        # Starting a process is what costs, above all under a sanitizer.
        few = 1 if LONG else 13 if sanitized() else 1 if layout == "classic" else 5
        check_none(query_all(cuts(data, range(0, len(data), few)), keys),
                   layout + ": cut at every length, asked")
        check_none(info_all(cuts(data)), layout + ": cut at every length, shown")
        every = range(0, 8 * len(data), few)
        check_none(query_all(flips(data, every), keys), layout + ": every bit flipped, asked")
        check_none(info_all(flips(data)), layout + ": every bit flipped, shown")
        longer = [("longer by %d" % n, data + bytes(n)) for n in (1, 2, 7, 8, 56, 64, 4096)]
        longer += [("and itself", data + data), ("and a newline", data + b"\n")]
        check_none(query_all(longer, keys), layout + ": lengthened, asked")
        check_none(info_all(longer), layout + ": lengthened, shown")
        rng = random.Random(1)
        noisy = []
        for number in range(1000 if LONG else 100):
            changed = bytearray(data)
            for _ in range(rng.randint(2, 6)):
                changed[rng.randrange(len(data))] = rng.randrange(256)
            if changed != data:
                noisy.append(("noise %d" % number, bytes(changed)))
        check_none(query_all(noisy, keys), layout + ": several bytes replaced, asked")
        check_none(info_all(noisy), layout + ": several bytes replaced, shown")


def noise():
    rng = random.Random(2)
    variants = [("%d random bytes" % n, rng.randbytes(n)) for n in range(201)]
    magic = bytes.fromhex("89534b450d0a1a0a")
    variants += [("magic and %d random bytes" % n, magic + rng.randbytes(n))
                 for n in range(0, 201, 3)]
    variants += [("magic, version 1, kind 1 and %d random bytes" % n,
                  magic + struct.pack("<II", 1, 1) + rng.randbytes(n)) for n in range(0, 400, 7)]
    variants += [("%d zeros" % n, bytes(n)) for n in (1, 8, 128, 392, 100000)]
    check_none(query_all(variants, ["x"]), "random bytes, 0 to 200, asked")
    check_none(info_all(variants), "random bytes, 0 to 200, shown")


def chunks():
    """A filter of several chunks: damage is found in a chunk that is used; elsewhere an
    answer may be given, but only the right one."""
    for layout in ("classic", "blocked"):
        text = b"".join(b"key %d\n" % i for i in range(2000))
        data = make("large", text, "-n", "150000", "-p", "0.01", "-L", layout)
        bits = len(data) - BITS
        check(bits > 131072, layout + ": a filter of %d chunks" % (-(-bits // 65536)))
        rng = random.Random(4)
        wrong, unseen, untouched, lines = [], [], 0, text.splitlines(True)
        for number in range(30):
            at = BITS + rng.randrange(bits)
            changed = bytearray(data)
            changed[at] ^= 1 << rng.randrange(8)
            write("flipped", changed)
            result = run(["bloom-query", "-v", "flipped"], text)
            if result.status != 2 or result.out or result.err.count(b"\n") != 1:
                wrong.append("all keys, byte %d: %s" % (at, result))
            some = b"".join(rng.sample(lines, 3))
            result = run(["bloom-query", "-v", "flipped"], some)
            if result.out or result.status not in (1, 2) or result.err.count(b"\n") > 1:
                wrong.append("three keys, byte %d: %s" % (at, result))
            untouched += result.status == 1
            result = run(["sketch-info", "flipped"])
            if result.status != 2 or b"flipped" not in result.err or result.err.count(b"\n") != 1:
                unseen.append("byte %d: %s" % (at, result))
            before = read("flipped")
            result = run(["bloom-build", "--append", "flipped"], b"x\n")
            if not is_clean(result, "bloom-build", (b"flipped",)) or read("flipped") != before:
                unseen.append("append, byte %d: %s" % (at, result))
        check_none(wrong, layout + ": a flipped bit is never a wrong 'absent'")
        check_none(unseen, layout + ": sketch-info and --append see every one")
        if layout == "blocked":
            check(untouched > 0, "blocked: chunks not touched are not read", untouched)
        lengths = sorted(rng.sample(range(len(data)), 60))
        check_none(query_all(cuts(data, lengths), ["key 1"]), layout + ": cut anywhere")
        result = run(["bloom-query", "/dev/stdin", "-e", "key 1"], data[:-1])
        check(is_clean(result, "bloom-query"), layout + ": cut, in a pipe", result)
        result = run(["bloom-query", "/dev/stdin", "-e", "key 1"], data + b"\0")
        check(is_clean(result, "bloom-query"), layout + ": lengthened, in a pipe", result)
        changed = bytearray(data)
        changed[-1] ^= 1
        result = run(["bloom-query", "/dev/stdin", "-e", "key 1"], bytes(changed))
        check(is_clean(result, "bloom-query"), layout + ": damaged, in a pipe", result)


def shrinks():
    """A mapped file that becomes shorter under the reader: a message, not SIGBUS."""
    text = b"".join(b"key %d\n" % i for i in range(20000))
    data = make("large", text, "-n", "3000000", "-p", "0.01")
    for option in ("-v", "-c", "--annotate"):
        write("shrinking", data)
        process = spawn(["bloom-query", option, "shrinking"])
        process.stdin.write(b"key 1\n")
        wait_drained(process.stdin.fileno())
        time.sleep(0.1 * slow())
        os.truncate("shrinking", 400)
        try:
            process.stdin.write(text)
        except BrokenPipeError:
            pass
        process.stdin.close()
        result = finish(process)
        wrong = option == "-v" and result.out.replace(b"key 1\n", b"", 1)
        check(result.status == 2 and result.err.startswith(b"bloom-query: ")
              and result.err.count(b"\n") == 1 and b"shrinking" in result.err and not wrong,
              option + ": a file that shrinks is a message and status 2", result)
    write("replaced", data)
    process = spawn(["bloom-query", "-v", "replaced"])
    process.stdin.write(b"key 1\n")
    wait_drained(process.stdin.fileno())
    time.sleep(0.1 * slow())
    run(["bloom-build", "-n", "10", "-o", "replaced"], b"other\n")
    process.stdin.write(text)
    process.stdin.close()
    result = finish(process)
    check((result.status, result.out, result.err) == (1, b"", b""),
          "one that is replaced is read on as it was", result)


def cheap():
    """A header that speaks of much costs little, from a file and from a pipe."""
    crc_table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        crc_table.append(byte)

    def crc32c(data):
        crc = 0xFFFFFFFF
        for byte in data:
            crc = crc >> 8 ^ crc_table[(crc ^ byte) & 255]
        return crc ^ 0xFFFFFFFF

    def lie(data, place, number, size, extra=b""):
        """The same header with another number in its first section, of which a payload of
        that size follows: all of it consistent, without the payload."""
        last = 128 + 32 * (struct.unpack_from("<I", data, 32)[0] - 1)
        end = struct.unpack_from("<Q", data, last - 32 + 8)[0]  # where SUMS begin
        sums = 4 * -(-size // 65536)
        at = -(-(end + sums) // 64) * 64
        changed = bytearray(data[:end])
        struct.pack_into("<Q", changed, place, number)
        struct.pack_into("<Q", changed, last - 32 + 16, sums)
        struct.pack_into("<QQ", changed, last + 8, at, size)
        struct.pack_into("<Q", changed, 24, at + size)
        struct.pack_into("<I", changed, 128 + 24, crc32c(changed[256:320]))
        struct.pack_into("<I", changed, 120, crc32c(changed[128:last + 32]))
        struct.pack_into("<I", changed, 124, crc32c(changed[:124]))
        return bytes(changed) + extra

    small = make("small", b"alice\n", "-n", "2", "-p", "0.1", "-L", "classic")
    counting = make("small", b"alice\n", "-n", "2", "-L", "classic", "--kind", "counting")
    cuckoo = make("small", b"alice\n", "-n", "2", "--kind", "cuckoo")
    f = struct.unpack_from("<I", cuckoo, 256)[0]
    # Of each kind a file, where its number of bits, counters or buckets is, what a number of
    # that many bits is, and what it takes.
    kinds = {"bits": (small, 272, lambda m: m, lambda m: m // 8),
             "counters": (counting, 272, lambda m: m // 4, lambda m: m // 2),
             "buckets": (cuckoo, 264, lambda m: m // (4 * f),
                         lambda n: (4 * f * n + 63) // 64 * 8 + 8)}
    for name, (data, place, _, size_of) in kinds.items():
        number = struct.unpack_from("<Q", data, place)[0]
        same = lie(data, place, number, size_of(number))
        check(same == data[:len(same)], name + ": the header made here is the one that was built")
    faults, peak = [], 0
    lies = [(name, power, extra) for name in kinds for power in (20, 30, 33, 40, 50, 62)
            for extra in (b"", bytes(64), bytes(100000))]
    for name, power, extra in lies:
        data, place, number_of, size_of = kinds[name]
        number = number_of(1 << power)
        lied = lie(data, place, number, size_of(number), extra)
        write("lie", lied)
        for arguments, stdin in ((["bloom-query", "-e", "alice", "lie"], b""),
                                 (["bloom-query", "-e", "alice", "/dev/stdin"], lied),
                                 (["sketch-info", "lie"], b""),
                                 (["sketch-info", "-"], lied),
                                 (["bloom-build", "--append", "lie"], b"x\n")):
            begun = time.monotonic()
            result = run(arguments, stdin)
            seconds = time.monotonic() - begun
            label = "2^%d bits of %s, %d bytes, %s" % (power, name, len(lied),
                                                       " ".join(arguments))
            if not is_clean(result, arguments[0]):
                faults.append("%s: %s" % (label, result))
            elif seconds > 1 * slow():
                faults.append("%s: %.1f s" % (label, seconds))
    check_none(faults, "headers that promise much: refused at once")
    if sanitized():
        skip("for little memory", "a sanitizer's own")
    else:
        for name, tool in itertools.product(kinds, ("bloom-query", "sketch-info")):
            data, place, number_of, size_of = kinds[name]
            number = number_of(1 << 33)
            lied = lie(data, place, number, size_of(number), bytes(100000))
            process = spawn([tool, *(["-e", "x"] if tool == "bloom-query" else []), "-"])
            process.stdin.write(lied)
            wait_drained(process.stdin.fileno())
            time.sleep(0.05)
            peak = max(peak, peak_memory(process.pid))
            process.stdin.close()
            finish(process)
        check(0 < peak < 50e6, "for little memory", peak)




small()
noise()
chunks()
shrinks()
cheap()
done()
