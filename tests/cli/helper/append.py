"""append.py - several processes at one filter, and signals to them"""

import os
import random
import signal
import time

from common import (LONG, check, check_none, done, finish, folder_state, info, is_clean,
                    restore_signals, run, slow, spawn, wait_drained, wait_until)


def keys(first, last):
    return b"".join(b"key %d\n" % i for i in range(first, last))


def built(name, text, n="100000"):
    result = run(["bloom-build", "-n", n, "-p", "1e-6", "-o", name], text)
    assert result.status == 0, result
    with open(name, "rb") as file:
        return file.read()


def content(name):
    with open(name, "rb") as file:
        return file.read()


def locked(name):
    """Whether anybody holds a lock on the file of that name."""
    try:
        inode = os.stat(name).st_ino
    except OSError:
        return False
    with open("/proc/locks") as locks:
        return any(line.split()[-3].endswith(":%d" % inode) for line in locks if "->" not in line)


STOOD = set(os.listdir(".")) | {"f", "made", "whole"}


def beside():
    """What is in the folder now that was not made by this test."""
    return sorted(set(os.listdir(".")) - STOOD)


def start(*words, name="f", **options):
    options.setdefault("preexec_fn", restore_signals)
    return spawn(["bloom-build", *words, "--append", name], **options)


def holder(name="f", text=b"held\n", *words):
    """An append that waits for more input, the lock in its hands."""
    process = start(*words, name=name)
    process.stdin.write(text)
    wait_drained(process.stdin.fileno())
    held = wait_until(lambda: locked(name), 5)
    return process, held


def parallel():
    for name, make in (("to a file that is there", True), ("that they make", False)):
        for _ in range(5 if LONG else 2):
            if os.path.exists("f"):
                os.unlink("f")
            if make:
                built("f", b"")
            count = 8
            texts = [keys(i * 1000, i * 1000 + 1000) for i in range(count)]
            running = []
            for text in texts:
                process = start("-n", "100000", "-p", "1e-6")
                running.append((process, text))
            for process, text in running:
                process.stdin.write(text)
                process.stdin.close()
            results = [finish(process) for process, _ in running]
            whole = built("whole", b"".join(texts))
            faults = [str(r) for r in results if (r.status, r.err) != (0, b"")]
            if content("f") != whole:
                lost = run(["bloom-query", "-v", "-c", "f"], b"".join(texts)).out
                faults.append("not the filter of the whole; %r keys lost" % lost)
            if beside():
                faults.append("left over: %r" % beside())
            check_none(faults, "%d appends in parallel %s lose nothing" % (count, name))


def racing():
    """Many short ones, two at a time, with folders of another name in between."""
    built("f", b"")
    faults = []
    texts = [keys(i * 10, i * 10 + 10) for i in range(60)]
    for at in range(0, len(texts), 3):
        running = [start() for _ in range(3)]
        for process, text in zip(running, texts[at:at + 3]):
            process.stdin.write(text)
            process.stdin.close()
        faults += [str(r) for r in map(finish, running) if (r.status, r.err) != (0, b"")]
    if content("f") != built("whole", b"".join(texts)):
        faults.append("not the filter of the whole")
    check_none(faults, "60 short appends, three at a time")


def waiting():
    built("f", keys(0, 10))
    first, held = holder()
    check(held, "an append holds a lock on the file while it reads")
    result = run(["bloom-build", "--no-wait", "--append", "f"], b"late\n")
    check(is_clean(result, "bloom-build", (b"f",)), "--no-wait gives up, status 2", result)
    second = start()
    second.stdin.write(b"second\n")
    second.stdin.close()
    third = start()
    third.stdin.write(b"third\n")
    time.sleep(0.3)
    check(second.poll() is None, "without it, the next one waits")
    check(run(["bloom-query", "-e", "key 1", "f"]).out == b"key 1\n", "a query does not")
    third.send_signal(signal.SIGTERM)
    result = finish(third, 10)
    check(result.status == -signal.SIGTERM and not result.out and not result.err,
          "one that waits dies by its signal", result)
    first.stdin.close()
    results = [finish(first), finish(second)]
    check(all((r.status, r.err) == (0, b"") for r in results), "both end well", *results)
    check(content("f") == built("whole", keys(0, 10) + b"held\nsecond\n"),
          "and what both read is there, but not what the signalled one did")
    check(not locked("f") and not beside(), "no lock and nothing else is left", beside())
    result = run(["bloom-build", "--no-wait", "--append", "f"], b"free\n")
    check(result.status == 0 and not result.err, "--no-wait takes a free file", result)

    first, _ = holder()
    first.kill()
    first.wait()
    result = run(["bloom-build", "--no-wait", "--append", "f"], b"free\n")
    check(result.status == 0 and not result.err, "kill -9 leaves no lock", result)
    if os.path.exists("made"):
        os.unlink("made")
    first, held = holder("made", b"one\n", "-n", "100", "-p", "1e-6")
    second = start(name="made")
    second.stdin.write(b"two\n")
    second.stdin.close()
    time.sleep(0.2)
    first.stdin.close()
    results = [finish(first), finish(second)]
    check(all((r.status, r.err) == (0, b"") for r in results)
          and info("made")["records"] == 2, "one that waits for a file in the making finds it made",
          *results)


def signalled():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        name = signal.Signals(number).name
        built("f", keys(0, 10))
        before = os.stat("f").st_ino
        process, _ = holder("f", keys(10, 5000))
        time.sleep(0.1 * slow())
        process.send_signal(number)
        result = finish(process, 10)
        check(result.status == -number and not result.out and not result.err,
              name + ": an append dies by it, quietly", result)
        check(content("f") == built("whole", keys(0, 5000)) and os.stat("f").st_ino != before,
              name + ": and has saved what it had read")
        check(not beside() and not locked("f"), name + ": nothing is left over", beside())
        if os.path.exists("made"):
            os.unlink("made")
        process, _ = holder("made", keys(0, 100), "-n", "100000", "-p", "1e-6")
        time.sleep(0.1 * slow())
        process.send_signal(number)
        result = finish(process, 10)
        check(result.status == -number and os.path.exists("made")
              and content("made") == built("whole", keys(0, 100)),
              name + ": a file in the making is saved, too", result)

    # A signal before anything was read leaves the file, or its absence, alone.
    built("f", keys(0, 10))
    before = folder_state()
    process, _ = holder("f", b"")
    process.send_signal(signal.SIGTERM)
    result = finish(process, 10)
    check(result.status == -signal.SIGTERM and folder_state() == before,
          "a signal before the first record: the file is untouched", result)
    if os.path.exists("made"):
        os.unlink("made")
    process, _ = holder("made", b"", "-n", "10")
    process.send_signal(signal.SIGTERM)
    result = finish(process, 10)
    check(result.status == -signal.SIGTERM
          and (not os.path.exists("made") or info("made")["records"] == 0),
          "and no file is made, none of 0 bytes above all", result)

    # Signals that were ignored stay ignored: nohup.
    def nohup():
        restore_signals()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process = start(preexec_fn=nohup)
    process.stdin.write(b"one\n")
    wait_drained(process.stdin.fileno())
    time.sleep(0.1)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.1)
    check(process.poll() is None, "under nohup, HUP does not end it")
    process.stdin.write(b"two\n")
    process.stdin.close()
    result = finish(process)
    out = run(["bloom-query", "-e", "one", "-e", "two", "f"]).out
    check(result.status == 0 and out == b"one\ntwo\n", "and everything is saved", result, out)

    # Two signals in a row do not tear the save.
    faults = []
    rng = random.Random(3)
    for _ in range(10):
        built("f", keys(0, 10), "3000000")
        old = content("f")
        process, _ = holder("f", keys(10, 20))
        time.sleep(0.05 * slow())
        process.send_signal(signal.SIGTERM)
        time.sleep(rng.random() * 0.03)
        process.send_signal(signal.SIGINT)
        result = finish(process, 10)
        if result.status not in (-signal.SIGTERM, -signal.SIGINT) or result.err:
            faults.append(str(result))
        new = built("whole", keys(0, 20), "3000000")
        if content("f") not in (old, new):
            faults.append("torn")
    check_none(faults, "a second signal does not tear the save")
    os.unlink("whole")

    # A build that is no append is dropped by a signal: old file, nothing beside it.
    built("f", keys(0, 10))
    old = content("f")
    for number in (signal.SIGINT, signal.SIGTERM):
        process = spawn(["bloom-build", "-n", "100", "-o", "f"], preexec_fn=restore_signals)
        process.stdin.write(keys(0, 100))
        wait_drained(process.stdin.fileno())
        time.sleep(0.1)
        process.send_signal(number)
        result = finish(process, 10)
        check(result.status == -number and content("f") == old and not beside(),
              "-o: %s leaves the old file" % signal.Signals(number).name, result, beside())


def in_between():
    built("f", b"")
    process = start("--save-every", "300ms")
    saved = False
    for i in range(40):
        try:
            process.stdin.write(b"now %d\n" % i)
        except BrokenPipeError:
            break
        time.sleep(0.1)
        if run(["bloom-query", "-q", "-e", "now 0", "f"]).status == 0:
            saved = True
            break
    alive = process.poll() is None
    result = run(["bloom-build", "--no-wait", "--append", "f"], b"x\n")
    check(saved and alive, "--save-every saves in between", saved, alive)
    check(result.status == 2, "and keeps the lock across it", result)
    process.stdin.close()
    result = finish(process)
    check(result.status == 0 and not result.err, "and ends well", result)
    out = run(["bloom-query", "-c", "f"], b"".join(b"now %d\n" % j for j in range(i + 1))).out
    check(out == b"%d\n" % (i + 1), "with everything in it", out)
    for word in ("5", "0s", "-1s", "", "1 s", "s", "5x", "nan", "101y"):
        result = run(["bloom-build", "--save-every=" + word, "--append", "f"], b"x\n")
        check(is_clean(result, "bloom-build", (word.encode(),)),
              "--save-every=%s is refused, and shown" % word, result)


parallel()
racing()
waiting()
signalled()
in_between()
done()
