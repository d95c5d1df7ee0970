"""stress.py - many processes write to one file and read it, all at once

    stress.py WRITERS READERS SECONDS

Writers add keys of their own, one small batch after the other, to a filter, a state, and
counts, or move them in and out of a counting and a cuckoo filter;
readers ask for keys that were there before, and must find them every time.  In the
end everything that any writer put in is there, once.
"""

import os
import random
import sys
import threading
import time

from common import check, check_none, done, info, run

WRITERS, READERS, SECONDS = (int(word) for word in sys.argv[1:4])
BATCH = 20


class Worker(threading.Thread):
    """One process after the other until the time is up."""

    def __init__(self, number, until):
        super().__init__()
        self.rng = random.Random(number)
        self.number, self.until, self.rounds, self.faults = number, until, 0, []

    def run(self):
        while time.monotonic() < self.until or self.rounds == 0:
            self.work(self.rounds)
            self.rounds += 1

    def expect(self, result, status, out, what):
        if (result.status, result.err) != (status, b"") or out is not None and result.out != out:
            self.faults.append("%s: %s" % (what, result))

    def batch(self, number):
        return b"".join(b"w%d-%d-%d\n" % (self.number, number, i) for i in range(BATCH))


class Builder(Worker):
    def work(self, number):
        self.expect(run(["bloom-build", "--append", "filter"], self.batch(number)), 0, b"",
                    "bloom-build --append")


class Uniq(Worker):
    def work(self, number):
        keys = self.batch(number)
        # All of them are new, and those that everybody knows are not.
        self.expect(run(["bloom-uniq", "--state", "state"], keys + b"common\n" + keys), 0, keys,
                    "bloom-uniq --state")


class Counter(Worker):
    def work(self, number):
        self.expect(run(["cms-count", "--append", "counts"], self.batch(number) + b"common\n"), 0,
                    b"", "cms-count --append")


class Mover(Worker):
    """Puts keys in, and takes those of its round before out again."""

    def work(self, number):
        name = ("counting", "cuckoo")[number % 2]
        self.expect(run(["bloom-build", "--append", name], self.batch(number)), 0, b"",
                    "bloom-build --append " + name)
        if number >= 2:
            self.expect(run(["bloom-build", "--strict", "--remove-from", name],
                            self.batch(number - 2)), 0, b"", "bloom-build --remove-from " + name)

    def left(self, name):
        """The keys that it did not take out of a filter."""
        return b"".join(self.batch(i) for i in range(max(0, self.rounds - 2), self.rounds)
                        if ("counting", "cuckoo")[i % 2] == name)


class Merger(Worker):
    """Replaces a file that others read, without a claim."""

    def work(self, number):
        self.expect(run(["sketch-merge", "-o", "merged", "first", "second"]), 0, b"",
                    "sketch-merge")


class Reader(Worker):
    def work(self, number):
        way = self.rng.randrange(6)
        if way == 0:
            self.expect(run(["bloom-query", "-e", "common", "filter"]), 0, b"common\n",
                        "bloom-query")
        elif way == 1:
            name = self.rng.choice(("filter", "state", "counts", "merged", "counting", "cuckoo"))
            result = run(["sketch-info", "--json", name])
            self.expect(result, 0, None, "sketch-info " + name)
        elif way == 2:
            result = run(["cms-count", "--query", "counts", "-e", "common"])
            if result.status != 0 or result.err or not result.out.endswith(b"\tcommon\n"):
                self.faults.append("cms-count --query: %s" % result)
        elif way == 3:
            self.expect(run(["bloom-query", "-F", "state", "-F", "merged", "-c"], b"common\n"),
                        0, b"1\n", "bloom-query -F")
        elif way == 4:
            self.expect(run(["bloom-query", "-e", "common", "counting"]), 0, b"common\n",
                        "bloom-query counting")
            self.expect(run(["bloom-query", "-e", "common", "cuckoo"]), 0, b"common\n",
                        "bloom-query cuckoo")
        else:
            with open("filter", "rb") as file:
                self.expect(run(["bloom-query", "-q", "-e", "common", "/dev/stdin"],
                                file.read()), 0, b"", "bloom-query of a pipe")


def main():
    run(["bloom-build", "-n", "300000", "-p", "1e-9", "-o", "filter"], b"common\n")
    run(["bloom-uniq", "-n", "300000", "-p", "1e-9", "--state", "state"], b"common\n")
    run(["cms-count", "--plain", "-o", "counts"], b"common\n")
    for name in ("first", "second", "merged"):
        run(["bloom-build", "-n", "100000", "-o", name], b"common\n" + name.encode() + b"\n")
    for name in ("counting", "cuckoo"):
        run(["bloom-build", "--kind", name, "-n", "10000", "-p", "1e-9", "-o", name],
            b"common\n")
    until = time.monotonic() + SECONDS
    kinds = (Builder, Uniq, Counter, Mover, Merger)
    workers = [kinds[i % len(kinds)](i, until) for i in range(WRITERS)]
    workers += [Reader(WRITERS + i, until) for i in range(READERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    rounds = {kind: [w for w in workers if isinstance(w, kind)] for kind in (*kinds, Reader)}
    print("# rounds: %s" % ", ".join("%s %d" % (kind.__name__, sum(w.rounds for w in group))
                                     for kind, group in rounds.items()))
    check_none([fault for w in workers if not isinstance(w, Reader) for fault in w.faults],
               "%d writers for %d s: each does its work" % (WRITERS, SECONDS))
    check_none([fault for w in rounds[Reader] for fault in w.faults],
               "%d readers: each time a whole file" % READERS)
    for kind, name in ((Builder, "filter"), (Uniq, "state")):
        keys = b"".join(w.batch(i) for w in rounds[kind] for i in range(w.rounds))
        lost = run(["bloom-query", "-v", name], keys)
        check(lost.out == b"" and lost.status == 1, name + ": no key is lost", lost)
    for name in ("counting", "cuckoo"):
        keys = b"".join(w.left(name) for w in rounds[Mover])
        lost = run(["bloom-query", "-v", name], keys + b"common\n")
        check(lost.out == b"" and lost.status == 1, name + ": no key is lost", lost)
        count = keys.count(b"\n") + 1
        check(info(name)["records"] == count, name + ": what was taken out is gone", info(name),
              count)
        gone = b"".join(w.batch(i) for w in rounds[Mover] for i in range(w.rounds - 2))
        check(run(["bloom-query", "-c", name], gone).out == b"0\n", name + ": all of it")
    check(info("cuckoo")["entries"] == info("cuckoo")["records"], "cuckoo: once each",
          info("cuckoo"))
    count = sum(w.rounds for w in rounds[Builder]) * BATCH + 1
    check(info("filter")["records"] == count, "filter: every record is counted once",
          info("filter"), count)
    count = sum(w.rounds for w in rounds[Counter])
    check(info("counts")["total"] == count * (BATCH + 1) + 1, "counts: nothing is lost",
          info("counts"), count)
    left = [name for name in os.listdir(".") if name.startswith(".") and name != ".tap"]
    check(not left, "nothing is left over", left)
    done()


main()
