"""uniq_window.py - bloom-uniq --window by time: within a run and from run to run"""

import os
import time

from common import check, check_none, done, finish, info, read_within, run, slow, spawn

SPAN = 0.5 * min(slow(), 3)  # what is found is measured; longer spans only take longer
WINDOW = ["bloom-uniq", "-n", "1000", "-p", "1e-9", "--window", "%dms" % (SPAN * 1000)]


def ask(process, record):
    """Whether a record is passed on, and the moments before and after."""
    before = time.monotonic()
    process.stdin.write(record + b"\n")
    marker = b"marker %d\n" % time.monotonic_ns()
    process.stdin.write(marker)
    out = b""
    while not out.endswith(marker):
        piece = read_within(process.stdout.fileno(), 5)
        if not piece:
            break
        out += piece
    return out != marker, before, time.monotonic()


def sightings(since_first):
    """One key again and again, at uneven distances: known where it has to be, and
    new where it has to be; in between either is right."""
    process = spawn(WINDOW + (["--since-first"] if since_first else []))
    faults, seen = [], None
    known = new = 0
    for pause in (0, 0.3, 0.6, 0.8, 2.3, 0.1, 0.9, 2.1, 1.5, 0.2, 1.3, 0.4, 0.7, 0.9, 2.2, 0.5):
        time.sleep(pause * SPAN)
        passed, before, after = ask(process, b"the key")
        if seen:
            least, most = before - seen[1], after - seen[0]
            if most < SPAN and passed:
                faults.append("new after %.3f of a window" % (most / SPAN))
            if least > 2 * SPAN and not passed:
                faults.append("known after %.3f windows" % (least / SPAN))
            known += not passed
            new += passed
        if seen is None or passed or not since_first:
            seen = (before, after)
    process.stdin.close()
    result = finish(process)
    check_none(faults, "a key is known for one window at least and two at most%s"
               % (", since first" if since_first else ""))
    check(known > 3 and new > 1 and result.status == 0 and not result.err, "both happened", known,
          new, result)


def runs():
    """The same with a run for every record: the wall clock, in the file."""
    for since_first in (False, True):
        state = "runs-%d" % since_first
        faults, seen = [], None
        command = WINDOW + ["--state", state] + (["--since-first"] if since_first else [])
        known = new = 0
        for pause in (0, 0.4, 0.7, 2.1, 0.2, 2.5, 0.8, 0.6, 1.4, 0.3, 2.05, 0.9):
            time.sleep(pause * SPAN)
            before = time.monotonic()
            result = run(command, b"the key\n")
            after = time.monotonic()
            passed = result.out == b"the key\n"
            if result.status != 0 or result.err:
                faults.append(str(result))
            if seen:
                least, most = before - seen[1], after - seen[0]
                if most < SPAN and passed:
                    faults.append("new after %.3f of a window" % (most / SPAN))
                if least > 2 * SPAN and not passed:
                    faults.append("known after %.3f windows" % (least / SPAN))
                known += not passed
                new += passed
            if seen is None or passed or not since_first:
                seen = (before, after)
        check_none(faults, "from run to run as well%s" % (", since first" if since_first else ""))
        check(known > 1 and new > 1, "both happened", known, new)
        check(info(state)["records"] == 12, "records add up")


def idle():
    """However long nothing comes, the first that does is fresh; nothing is written."""
    process = spawn(WINDOW + ["--state", "idle", "--save-every", "50ms"])
    ask(process, b"a")
    time.sleep(0.2)
    before = os.stat("idle").st_mtime_ns
    time.sleep(2.2 * SPAN)
    after = os.stat("idle").st_mtime_ns
    passed, _, _ = ask(process, b"a")
    process.stdin.close()
    result = finish(process)
    check(passed and result.status == 0, "after two idle windows a key is new", result)
    check(before == after, "and the idle time wrote nothing")


def durations():
    for word in ("1h", "90s", "15min", "24h", "7d", "36525d", "1ms"):
        text = b"a\n" if word == "1ms" else b"a\na\n"
        result = run(["bloom-uniq", "-n", "100", "--window", word], text)
        check((result.status, result.out, result.err) == (0, b"a\n", b""), "--window " + word,
              result)
    for word in ("36525d", "1h"):
        for _ in range(2):
            result = run(["bloom-uniq", "-n", "100", "--window", word, "--state", word], b"a\n")
        check((result.status, result.out, result.err) == (0, b"", b""),
              "--window %s, kept" % word, result)


sightings(False)
sightings(True)
runs()
idle()
durations()
done()
