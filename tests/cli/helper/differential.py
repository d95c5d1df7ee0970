"""differential.py - the tools on random records with random options, beside an exact model

    differential.py ROUNDS [FIRST]

Round N draws records and options from the dice N, and runs every tool on them, so a round
that failed can be seen again alone: "differential.py 1 N".  Filters are given a rate of
1e-9 and less, at which these rounds see no false positive; what a tool may do wrongly, and
how often, is for the tests of rates.  What must never be is a key that is missed, a count
below the truth, a record that is lost, changed or moved.
"""

import math
import os
import random
import re
import shutil
import sys
from collections import Counter

from common import check_none, done, info, run
from fields import key_of, random_record, random_spec

MARGIN = 6  # records shown of a fault


class Case:
    """One set of records and the options that say what their keys are."""

    def __init__(self, rng):
        self.rng = rng
        self.zero = rng.random() < 0.2
        self.crlf = rng.random() < 0.2
        self.fold = rng.random() < 0.3
        self.quoted = False
        self.spec = self.delimiter = None
        if rng.random() < 0.6:
            self.spec = random_spec(rng)
            self.delimiter = rng.choice((None, None, b",", b"\t", b":", b"\xff"))
            self.quoted = rng.random() < 0.3
        # A newline is a blank where records end with NUL, which the model of fields is not
        # for: there are none in such records.
        self.end = b"\0" if self.zero else b"\n"
        self.inputs = [self.records() for _ in range(rng.choice((1, 1, 2, 3)))]
        self.unended = [bool(rng.random() < 0.3) for _ in self.inputs]

    def one(self):
        rng = self.rng
        way = rng.random()
        if self.spec is not None and way < 0.5:
            record = random_record(rng, self.delimiter, self.quoted)
        elif way < 0.9:
            record = b"%s %d,%d\t%d:x" % (rng.choice((b"Key", b"key", b"", b"\xc3\xa9")),
                                          rng.randrange(self.range), rng.randrange(5),
                                          rng.randrange(3))
        else:
            record = bytes(rng.choices(range(256), k=rng.choice((0, 1, 5, 40, 3000))))
        if rng.random() < 0.2:
            record += b"\r"
        return record.translate(None, b"\n\0")

    def records(self):
        self.range = self.rng.choice((3, 50, 2000))
        return [self.one() for _ in range(self.rng.choice((0, 1, 7, 130, 600)))]

    def key(self, record):
        if self.crlf and record.endswith(b"\r"):
            record = record[:-1]
        if self.spec is not None:
            record = key_of(record, self.spec, self.delimiter, self.quoted)
        if record is not None and self.fold:
            record = bytes(b + 32 if 65 <= b <= 90 else b for b in record)
        return record

    def all(self):
        """The records of all inputs, as the tools see them: an input that ends without its
        terminator has an empty last record less."""
        return [record for records in self.read() for record in records]

    def read(self):
        for records, unended in zip(self.inputs, self.unended):
            yield records[:-1] if unended and records and not records[-1] else records

    def words(self, fold=True):
        words = []
        if self.spec is not None:
            words += [self.rng.choice(("-f", "--field=")), self.spec]
            if words[-2] == "--field=":
                words[-2:] = ["--field=" + self.spec]
            if self.delimiter is not None:
                words += ["-d", self.delimiter]
            if self.quoted:
                words.append("-Q")
        words += ["--crlf"] * self.crlf + ["-z"] * self.zero + ["-i"] * (self.fold and fold)
        return words

    def join(self, records):
        return b"".join(record + self.end for record in records)

    def write(self):
        """The inputs as files; their names."""
        names = []
        for number, (records, unended) in enumerate(zip(self.inputs, self.unended)):
            data = self.join(records)
            names.append("input%d" % number)
            with open(names[-1], "wb") as file:
                file.write(data[:-1] if unended else data)
        with open("names", "wb") as file:
            file.write(b"".join(name.encode() + b"\0" for name in names))
        return names


class Round:
    def __init__(self, number):
        self.number, self.faults = number, []
        self.rng = random.Random(number)
        self.case = Case(self.rng)
        self.names = self.case.write()
        self.records = self.case.all()
        self.keys = [self.case.key(record) for record in self.records]

    def wrong(self, words, what):
        self.faults.append("round %d: %r: %s" % (self.number, words, what))

    def run(self, words, stdin=b"", status=0, sure=True):
        """Runs a command that has to succeed; its output.  Where no record has the field
        that was asked for, there is a message."""
        result = run(words, stdin)
        keyless = any(self.keys) is False and all(key is None for key in self.keys)
        if result.status not in ((status,) if isinstance(status, int) else status):
            self.wrong(words, result)
        elif result.err and sure and not (keyless and b"no record has field" in result.err):
            self.wrong(words, result)
        return result.out

    def compare(self, words, got, want):
        if got == want:
            return
        ours, right = got.split(self.case.end), want.split(self.case.end)
        at = next((i for i, (a, b) in enumerate(zip(ours, right)) if a != b),
                  min(len(ours), len(right)))
        self.wrong(words, "record %d: %r, not %r" % (at, ours[at:at + MARGIN],
                                                     right[at:at + MARGIN]))

    def inputs(self):
        """Operands, a list of them, or standard input; and the bytes of that."""
        way = self.rng.random()
        if way < 0.2:
            return ["--files0-from=names"], b""
        if way < 0.4 and len(self.names) == 1:
            with open(self.names[0], "rb") as file:
                return [], file.read()
        if way < 0.6:
            with open(self.names[-1], "rb") as file:
                return [*self.names[:-1], "-"], file.read()
        return self.names, b""

    def threads(self):
        return self.rng.choice(([], ["-j", "2"], ["-j5"], ["--threads=1"]))

    def filter_words(self):
        rng = self.rng
        words = rng.choice((["-n", "5000"], ["-n", "300"], []))
        # Past its n a filter is wrong more often than these rounds can do with.
        if words == ["-n", "300"] and len(self.records) > 300:
            words = ["-n", "5000"]
        words += ["-p", rng.choice(("1e-9", "1e-12"))]
        words += rng.choice(([], ["-L", "classic"], ["-L", "blocked"]))
        return words + rng.choice(([], ["-s", "7"]))

    # -------------------------------------------------------------- the tools

    def filters(self):
        """Build, append, merge, query: of half of the records, of all, of others."""
        known = {key for key in self.keys if key is not None}
        words = ["bloom-build", *self.filter_words(), *self.case.words()]
        operands, stdin = self.inputs()
        threads = self.threads() if "-n" in words else []
        self.run([*words, *threads, "-o", "all.bloom", *operands], stdin, sure=False)
        half = len(self.records) // 2
        first, second = (self.case.join(part) for part in (self.records[:half],
                                                           self.records[half:]))
        self.run([*words, "-o", "a.bloom"], first, sure=False)
        self.run([*words, "-o", "b.bloom"], second, sure=False)
        if "-n" in words:
            self.run(["sketch-merge", "-o", "merged.bloom", "a.bloom", "b.bloom"], sure=False)
            self.same(words, "merged.bloom", "all.bloom", "a merge is not the whole")
        self.run([*words, "--append", "a.bloom"], second, sure=False)
        self.same(words, "a.bloom", "all.bloom", "an append is not the whole")
        if info("all.bloom")["records"] != len(self.records):
            self.wrong(words, "it says %r records, not %d" % (info("all.bloom")["records"],
                                                              len(self.records)))
        # Records that are known, and others, in one order.
        others = [self.case.one() for _ in range(60)]
        asked = self.records + others
        self.rng.shuffle(asked)
        keys = [self.case.key(record) for record in asked]
        selected = [key is not None and key in known for key in keys]
        data = self.case.join(asked)
        words = self.case.words(fold=self.rng.random() < 0.5)
        for option, kept in ((None, True), ("-v", False)):
            want = [record for record, is_in in zip(asked, selected) if is_in == kept]
            command = ["bloom-query", *([option] if option else []), *words, *self.threads(),
                       "all.bloom"]
            self.compare(command, self.run(command, data, 0 if want else 1, False),
                         self.case.join(want))
        command = ["bloom-query", "--annotate", *words, *self.threads(), "all.bloom"]
        self.compare(command, self.run(command, data, (0, 1), False), self.case.join(
            b"%d\t%s" % (is_in, record) for record, is_in in zip(asked, selected)))
        command = ["bloom-query", "-c", *words, "-F", "b.bloom", "-F", "all.bloom"]
        self.compare(command, self.run(command, data, (0, 1), False),
                     b"%d\n" % sum(selected))

    def same(self, words, one, other, what):
        with open(one, "rb") as a, open(other, "rb") as b:
            if a.read() != b.read():
                self.wrong(words, what)

    def uniq(self):
        """In one run, and in two with a state."""
        seen, passed, held = set(), [], []
        for record, key in zip(self.records, self.keys):
            (held if key is not None and key in seen else passed).append(record)
            if key is not None:
                seen.add(key)
        words = ["bloom-uniq", *self.filter_words(), *self.case.words()]
        operands, stdin = self.inputs()
        command = [*words, "--duplicates=twice", *operands]
        self.compare(command, self.run(command, stdin, sure=False), self.case.join(passed))
        with open("twice", "rb") as file:
            self.compare(command, file.read(), self.case.join(held))
        cut = self.rng.randint(0, len(self.records))
        out = b""
        for part in (self.records[:cut], self.records[cut:]):
            out += self.run([*words, "--state", "state.bloom"], self.case.join(part), sure=False)
        self.compare([*words, "--state"], out, self.case.join(passed))

    def window(self):
        """By records: known for one span and what is left of the one before."""
        span = self.rng.choice((1, 2, 10, 100))
        first = self.rng.random() < 0.5
        old, current, count, passed = set(), set(), 0, []
        for record, key in zip(self.records, self.keys):
            if key is None:
                passed.append(record)
                continue
            if count == span:
                old, current, count = current, set(), 0
            count += 1
            known = key in current or key in old
            if not known:
                passed.append(record)
            if not first or not known:
                current.add(key)
        words = ["bloom-uniq", "-p", "1e-9", "--window", str(span), *self.case.words(),
                 *(["--since-first"] if first else [])]
        data = self.case.join(self.records)
        self.compare(words, self.run(words, data, sure=False), self.case.join(passed))
        out, at = b"", 0
        while at < len(self.records) or at == 0:
            step = self.rng.randint(1, len(self.records) + 1)
            out += self.run([*words, "--state", "window.bloom"],
                            self.case.join(self.records[at:at + step]), sure=False)
            at += step
        self.compare([*words, "--state"], out, self.case.join(passed))

    def counts(self):
        """Running counts; small tables, in which counts may be too high; saved ones."""
        running, so_far = Counter(), []
        for key in self.keys:
            if key is not None:
                running[key] += 1
            so_far.append(running[key] if key is not None else 0)
        exact = len(running) <= 1000
        words = self.case.words()
        operands, stdin = self.inputs()
        command = ["cms-count", *words, *operands]
        if exact:
            self.compare(command, self.run(command, stdin), self.case.join(
                b"%d\t%s" % pair for pair in zip(so_far, self.records)))
        low = self.rng.randint(0, 4)
        high = self.rng.randint(low, 8)
        command = ["cms-count", "--at-least=%d" % low, "--at-most=%d" % high, *words]
        if exact:
            self.compare(command, self.run(command, self.case.join(self.records)),
                         self.case.join(record for record, count in zip(self.records, so_far)
                                        if low <= count <= high))
        size = self.rng.choice((["--width=7", "--depth=2"], ["--width=100"], []))
        plain = self.rng.choice(([], ["--plain"]))
        threads = self.threads() if plain else []
        command = ["cms-count", *size, *plain, *words, *threads, "-o", "counts.cms", *operands]
        self.run(command, stdin)
        half = len(self.records) // 2
        for name, part in (("a.cms", self.records[:half]), ("b.cms", self.records[half:])):
            self.run(["cms-count", *size, *plain, *words, "-o", name], self.case.join(part),
                     sure=False)
        self.run(["sketch-merge", "-o", "merged.cms", "a.cms", "b.cms"])
        if plain:
            self.same(command, "merged.cms", "counts.cms", "plain counts are not linear")
        # Keys with the terminator's byte cannot be; a fold is in the file.
        keys = sorted(running)[:200] + [b"other", b""]
        for name in ("counts.cms", "merged.cms"):
            command = ["cms-count", "--query", name, "--bounds", *["-z"] * self.case.zero]
            out = self.run(command, self.case.join(keys)).split(self.case.end)[:-1]
            if len(out) != len(keys):
                self.wrong(command, "%d answers to %d questions" % (len(out), len(keys)))
                continue
            for key, line in zip(keys, out):
                count, _, most, shown = line.split(b"\t", 3)
                if shown != key or int(count) < running[key] or int(most) != int(count):
                    self.wrong(command, "%r counts %d: %r" % (key, running[key], line))
                    break
                if exact and not plain and int(count) != running[key]:
                    self.wrong(command, "%r counts %d exactly: %r" % (key, running[key], line))
                    break
        command = ["cms-top", "-k", "2000", "--bounds", *["-z"] * self.case.zero, "--query",
                   "merged.cms"]
        if exact and not plain and not any(b"\t" in key or len(key) > 4096 for key in running):
            out = self.run(command).split(self.case.end)[:-1]
            got = {line.split(b"\t", 3)[3]: int(line.split(b"\t")[0]) for line in out}
            if got != dict(running):
                self.wrong(command, "not the counts there are: %r" % sorted(
                    set(got.items()) ^ set(running.items()))[:MARGIN])


    def multisets(self):
        """Keys put in and taken out, of filters whose false positives come seldom or often.

        Beside an exact model; but a key that is found and is not there cannot be refused, and
        takes what belongs to others.  Of such a filter only keys that are there are taken
        out, until the end: then keys that are not, and each that is not refused has to be one
        that the filter itself took for present."""
        rng = self.rng
        kind = rng.choice(("counting", "cuckoo"))
        rate = rng.choice(("1e-9", "0.2"))
        most = 8 if kind == "cuckoo" else 14
        options = ["--kind", kind, "-n", "5000", "-p", rate, *rng.choice(([], ["-s", "7"]))]
        if kind == "counting":
            options += rng.choice(([], ["-L", "classic"], ["--counter-bits=8"]))
        words = self.case.words()
        model = Counter()
        self.run(["bloom-build", *options, *words, "-o", "m"], sure=False)
        for _ in range(rng.randint(2, 6)):
            model = self.move(model, most, words)
            self.all_there(options, model, words)
        self.refused(options, model, words)

    def move(self, model, most, words):
        """Some come, in a step of its own or through a merge, or some go; the model then."""
        rng = self.rng
        known = [(key, record) for key, record in zip(self.keys, self.records)
                 if key is not None]
        now, records = Counter(model), []
        if rng.random() < 0.6 or not model:
            for key, record in rng.choices(known, k=min(len(known), rng.randint(1, 400))):
                # Of a cuckoo filter eight copies are possible, if no other key shares the
                # buckets, which at the higher rate may be: so three.
                if now[key] < min(most, 3):
                    now[key] += 1
                    records.append(record)
            command = ["bloom-build", *words, "--append", "m"]
        else:
            for key, record in rng.sample(known, rng.randint(1, len(known))):
                if now[key] > 0 and rng.random() < 0.7:
                    now[key] -= 1
                    records.append(record)
            command = ["bloom-build", *words, "--strict", "--remove-from", "m"]
        self.run(command, self.case.join(records), sure=False)
        return +now

    def all_there(self, options, model, words):
        """No key of the model is missed, and records are counted."""
        asked = [record for key, record in zip(self.keys, self.records) if model[key]]
        command = ["bloom-query", "-v", *words, "m"]
        self.compare(options + command, self.run(command, self.case.join(asked), 1, False), b"")
        if info("m")["records"] != sum(model.values()):
            self.wrong(options, "it says %r records, not %d" % (info("m")["records"],
                                                                sum(model.values())))

    def refused(self, options, model, words):
        """Others are taken out one by one: the filter refuses all that it does not find."""
        known = set(self.keys)
        others = {}
        for _ in range(300):
            record = self.case.one()
            key = self.case.key(record)
            if key is not None and key not in known:
                others[key] = record
        if not others:
            return
        data = self.case.join(others.values())
        command = ["bloom-query", "-c", *words, "m"]
        found = int(self.run(command, data, (0, 1), False))
        before = info("m")["records"]
        result = run(["bloom-build", *words, "--remove-from", "m"], data)
        taken = before - info("m")["records"]
        said = re.search(rb"(\d+) of (\d+) keys", result.err)
        refused = int(said[1]) if said else 0
        # Taking one out may make the next one absent, but none present.  One alone may be
        # found and still not be taken out: where two of its counters are the same one, which
        # would have to be 2.
        if result.status != 0 or taken > found or taken < (found > 1) or \
                refused + taken != len(others) or (said and int(said[2]) != len(others)):
            self.wrong(options, "%d of %d others were found, %d taken out: %s" % (
                found, len(others), taken, result))

    def distinct(self):
        """hll-count: exact while keys are few, within five standard errors where not, and
        the same whole or in parts."""
        truth = len({key for key in self.keys if key is not None})
        precision = self.rng.choice((6, 10, 14))
        words = ["--precision=%d" % precision, *self.case.words()]
        operands, stdin = self.inputs()
        command = ["hll-count", *words, *self.threads(), "-o", "all.hll", *operands]
        out = int(self.run(command, stdin, sure=False))
        exact = 8 * truth <= 1 << precision
        if out != truth and (exact or abs(math.log(max(out, 1) / truth)) >
                             5 * 1.0367 / 2 ** (precision / 2)):
            self.wrong(command, "%d, not %d" % (out, truth))
        cut = self.rng.randint(0, len(self.records))
        for name, part in (("a.hll", self.records[:cut]), ("b.hll", self.records[cut:])):
            self.run(["hll-count", *words, "-q", "-o", name], self.case.join(part), sure=False)
        self.run(["sketch-merge", "-o", "merged.hll", "b.hll", "a.hll"])
        self.same(command, "merged.hll", "all.hll", "a merge is not the whole")
        self.run(["hll-count", *words, "-q", "--append", "a.hll"],
                 self.case.join(self.records[cut:]), sure=False)
        self.same(command, "a.hll", "all.hll", "an append is not the whole")


def main():
    rounds = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    faults = {"filters": [], "uniq": [], "window": [], "counts": [], "multisets": [],
              "distinct": []}
    top = os.getcwd()
    for number in range(first, first + rounds):
        os.makedirs("round")
        os.chdir("round")
        now = Round(number)
        for part in faults:
            getattr(now, part)()
            faults[part] += now.faults
            now.faults = []
        os.chdir(top)
        shutil.rmtree("round")
    for part, found in faults.items():
        check_none(found, "%d rounds of random records and options: %s" % (rounds, part))
    done()


main()
