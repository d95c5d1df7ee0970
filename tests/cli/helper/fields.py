"""fields.py - keys from fields on random data: a model, and awk and cut themselves"""

import random
import re
import shutil

from common import LONG, check, check_none, done, run, skip


def parse(spec):
    """The fields of a list: the numbers of closed ranges, the start of an open one, the
    highest number named."""
    numbers, open_from, highest = set(), None, 0
    for word in spec.split(","):
        low, dash, high = word.partition("-")
        if dash and not high:
            open_from = min(open_from or int(low), int(low))
            highest = max(highest, int(low))
        else:
            numbers.update(range(int(low), int(high or low) + 1))
            highest = max(highest, int(high or low))
    return numbers, open_from, highest


def quoted_fields(record, delimiter):
    """Fields where one that begins with a quote goes on to the closing quote."""
    fields, at, blanks = [], 0, delimiter is None
    while True:
        while blanks and record[at:at + 1] in (b" ", b"\t"):
            at += 1
        if blanks and at == len(record):
            return fields
        # A pair of quotes, or a backslash and any byte, or a byte that is neither.
        opened = re.match(rb'"(?:""|\\.|[^"\\])*(?:"|\\?\Z)', record[at:], re.S)
        end = at + (opened.end() if opened else 0)
        while end < len(record) and record[end:end + 1] not in ((b" ", b"\t") if blanks
                                                               else (delimiter,)):
            end += 1
        fields.append(record[at:end])
        if end == len(record):
            return fields
        at = end + 1


def key_of(record, spec, delimiter, quoted=False):
    numbers, open_from, highest = parse(spec)
    if quoted:
        fields, joint = quoted_fields(record, delimiter), delimiter or b" "
    elif delimiter is None:
        fields, joint = [f for f in re.split(rb"[ \t]+", record) if f], b" "
    else:
        fields, joint = record.split(delimiter), delimiter
    if len(fields) < highest:
        return None
    return joint.join(field for number, field in enumerate(fields, 1)
                      if number in numbers or (open_from and number >= open_from))


def random_spec(rng):
    words = []
    for _ in range(rng.randint(1, 3)):
        low = rng.randint(1, 5)
        words.append(rng.choice(("%d" % low, "%d" % low, "%d-%d" % (low, low + rng.randint(0, 2)),
                                 "%d-" % low)))
    return ",".join(words)


def random_record(rng, delimiter, quoted=False):
    alphabet = b"ab \t" if delimiter is None else b"ab" + delimiter * 2 + b" \t\r\0"
    if quoted:
        alphabet += b'""""\\' + (delimiter or b" ")
    return bytes(rng.choices(alphabet, k=rng.randint(0, 20 if quoted else 14)))


def lines(records):
    return b"".join(record + b"\n" for record in records)


def model(rounds, quoted=False):
    rng = random.Random(7)
    built, found, left, noted = [], [], [], []
    for _ in range(rounds):
        delimiter = rng.choice((None, None, b",", b"\t", b" ", b"\xff"))
        words = ["-f", random_spec(rng)]
        if delimiter is not None:
            words += ["-d", b"\\t" if delimiter == b"\t" and rng.random() < 0.5 else delimiter]
        if quoted:
            words.append("-Q")
        records = [random_record(rng, delimiter, quoted) for _ in range(200)]
        keys = [key_of(record, words[1], delimiter, quoted) for record in records]
        known = sorted({key for key in keys if key is not None})
        what = "%r" % words

        # Built from fields is built from the keys; records of the file count keys.
        by_field = run(["bloom-build", "-n", "500", "-p", "1e-9", "-o", "a", *words],
                       lines(records))
        by_key = run(["bloom-build", "-n", "500", "-p", "1e-9", "-o", "b"],
                     lines(key for key in keys if key is not None))
        if by_field.status or by_key.status:
            built.append("%s: %s" % (what, by_field))
            continue
        probe = run(["bloom-query", "-v", "a"], lines(known))
        if probe.out:
            built.append("%s: lacks %r" % (what, probe.out[:100]))
        others = [b"nokey%d" % i for i in range(100)]
        probe = run(["bloom-query", "a"], lines(others))
        if probe.out:
            built.append("%s: holds %r" % (what, probe.out[:100]))
        with open("a", "rb") as first, open("b", "rb") as second:
            if first.read()[384:] != second.read()[384:]:
                built.append("%s: other bits than from the keys" % what)

        # Half of the keys, as whole records; the records asked by field.
        chosen = set(rng.sample(known, len(known) // 2))
        run(["bloom-build", "-n", "500", "-p", "1e-9", "-o", "half"], lines(sorted(chosen)))
        yes = lines(r for r, key in zip(records, keys) if key in chosen)
        no = lines(r for r, key in zip(records, keys) if key not in chosen)
        notes = b"".join((b"1\t" if key in chosen else b"0\t") + r + b"\n"
                         for r, key in zip(records, keys))
        for option, want, faults in (([], yes, found), (["-v"], no, left),
                                     (["--annotate"], notes, noted)):
            result = run(["bloom-query", *option, *words, "half"], lines(records))
            if result.out != want:
                faults.append("%s %s: %r, not %r" % (what, option, result.out[:120], want[:120]))
    option = "-Qf" if quoted else "-f"
    check_none(built, "bloom-build %s: the keys of the model and no others" % option)
    check_none(found, "bloom-query %s: the records of the model" % option)
    check_none(left, "bloom-query %s -v: all the others, with those that lack the field" % option)
    check_none(noted, "bloom-query %s --annotate: the verdicts of the model" % option)


def against(program, faults, words, command, records):
    """Every key that awk or cut prints is found, record by record, and nothing else is."""
    printed = run(command, lines(records))
    if printed.status:
        faults.append("%s: %s" % (command, printed))
        return
    run(["bloom-build", "-n", "2000", "-p", "1e-9", "-o", "tool", *words], lines(records))
    missing = run(["bloom-query", "-v", "tool"], printed.out).out
    run(["bloom-build", "-n", "2000", "-p", "1e-9", "-o", "theirs"], printed.out)
    result = run(["bloom-query", *words, "theirs"], lines(records))
    if missing or result.out != lines(records):
        faults.append("%s %s: lacks %r" % (program, words, missing[:100]))


def others(rounds):
    rng = random.Random(11)
    if shutil.which("awk"):
        faults = []
        for _ in range(rounds):
            first, second = sorted(rng.sample(range(1, 4), 2))
            records = [r for r in (random_record(rng, None) for _ in range(400))
                       if len(r.split()) >= second]
            against("awk", faults, ["-f", "%d,%d" % (first, second)],
                    ["awk", "{print $%d, $%d}" % (first, second)], records)
            against("awk", faults, ["-f", str(second)], ["awk", "{print $%d}" % second], records)
        check_none(faults, "as awk prints them")
    else:
        skip("as awk prints them", "no awk")
    faults = []
    for _ in range(rounds):
        spec = random_spec(rng)
        highest = parse(spec)[2]
        records = [r.replace(b"\0", b"0") for r in (random_record(rng, b",") for _ in range(600))]
        records = [r for r in records if r.count(b",") + 1 >= max(highest, 2)]
        against("cut", faults, ["-d", ",", "-f", spec], ["cut", "-d,", "-f", spec], records)
    check_none(faults, "as cut prints them")


def long_records():
    """Fields of records that do not fit a buffer."""
    records = [b" ".join(b"%d" % (i * j) for i in range(30000)) for j in (1, 2, 3)]
    records += [b"x" * 300000 + b" needle " + b"y" * 300000, b"z " + b"w" * 1000000]
    text = lines(records)
    run(["bloom-build", "-n", "10", "-p", "1e-9", "-o", "long"], b"needle\n89997\n")
    result = run(["bloom-query", "-f", "2", "long"], text)
    check(result.out == records[3] + b"\n", "a field in a record of 600 kB", len(result.out))
    result = run(["bloom-query", "-f", "30000", "long"], text)
    check(result.out == records[2] + b"\n", "the 30000th field", len(result.out), result.err)


if __name__ == "__main__":
    model(300 if LONG else 60)
    model(300 if LONG else 60, quoted=True)
    others(60 if LONG else 12)
    long_records()
    done()
