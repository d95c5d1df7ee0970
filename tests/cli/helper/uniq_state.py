"""uniq_state.py - bloom-uniq --state: signals, kill -9, saves in between, two at once"""

import os
import random
import signal
import threading
import time

from common import (LONG, check, check_none, done, finish, info, is_clean, read_within,
                    restore_signals, run, slow, spawn, wait_drained, wait_until)

UNIQ = ["bloom-uniq", "-n", "1000000"]


def fresh(*names):
    for name in names:
        if os.path.exists(name):
            os.unlink(name)


def lines(first, last):
    return b"".join(b"key %d\n" % i for i in range(first, last))


def start(*words, state="s", **options):
    options.setdefault("preexec_fn", restore_signals)
    return spawn([*UNIQ, *words, "--state", state], **options)


def beside():
    return sorted(name for name in os.listdir(".") if name.startswith(".") and name != ".tap")


def endless(state="s"):
    """bloom-uniq at an endless input, its output in a file."""
    out = open("endless.out", "wb")
    source = spawn(["seq", "1", "100000000"], stderr=None, preexec_fn=restore_signals)
    process = start("--no-wait", state=state, stdin=source.stdout, stdout=out)
    source.stdout.close()
    out.close()
    return source, process


def passed():
    """What went out, but for a last line that is not complete."""
    with open("endless.out", "rb") as file:
        return file.read().split(b"\n")[:-1]


def signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        name = signal.Signals(number).name
        fresh("s")
        source, process = endless()
        wait_until(lambda: os.path.getsize("endless.out") > 500000, 20)
        process.send_signal(number)
        result = finish(process, 20)
        source.kill()
        source.wait()
        out = passed()
        check(result.status == -number and not result.err,
              name + ": an endless one dies by it, quietly", result)
        check(os.path.exists("s") and os.path.getsize("s") > 0 and not beside(),
              name + ": the state is saved, and nothing else left", os.listdir("."))
        count = len(out)
        check(out == [b"%d" % i for i in range(1, count + 1)] and info("s")["records"] >= count,
              name + ": whole lines went out", count, out[-3:])
        known = int(run(["bloom-query", "-c", "s"], b"".join(line + b"\n" for line in out)).out)
        check(known == count, name + ": all that went out is remembered", known, count)
        late = b"%d\n" % (count + 1)
        result = run([*UNIQ, "--state", "s"], late)
        check(result.out == late, name + ": what did not go out is not", result)

    # While it waits for input.
    fresh("s")
    process = start()
    process.stdin.write(lines(0, 10))
    first = read_within(process.stdout.fileno(), 5)
    process.send_signal(signal.SIGTERM)
    result = finish(process)
    check(first == lines(0, 10) and result.status == -signal.SIGTERM and info("s")["records"] == 10,
          "TERM while idle saves", result)
    before = os.stat("s")
    process = start()
    time.sleep(0.2 * slow())
    process.send_signal(signal.SIGTERM)
    result = finish(process)
    check(result.status == -signal.SIGTERM and os.stat("s").st_ino == before.st_ino,
          "TERM before anything was read leaves the file alone", result)

    def nohup():
        restore_signals()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process = start(preexec_fn=nohup)
    process.stdin.write(b"one\n")
    read_within(process.stdout.fileno(), 5)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.1)
    check(process.poll() is None, "under nohup, HUP does not end it")
    process.stdin.close()
    check(finish(process).status == 0, "and it ends well")


def killed():
    """Whatever was passed on by all runs together lacks nothing, however often they
    are killed; and the state is whole every time."""
    fresh("s")
    rng = random.Random(7)
    text = lines(0, 300000)
    out, broken, killings = set(), [], 0
    for number in range(12 if not LONG else 100):
        with open("killed.out", "wb") as file:
            process = start("--save-every", "20ms", stdout=file)
            feeder = threading.Thread(target=feed, args=(process, text))
            feeder.start()
            time.sleep(rng.random() * 0.3)
            if process.poll() is None:
                process.kill()
                killings += 1
            process.wait()
            feeder.join()
            process.stderr.close()
        with open("killed.out", "rb") as file:
            out.update(file.read().split(b"\n")[:-1])
        if os.path.exists("s") and os.path.getsize("s") > 0:
            result = run(["sketch-info", "s"])
            if result.status != 0:
                broken.append(str(result))
    result = run([*UNIQ, "--state", "s"], text)
    out.update(result.out.split(b"\n")[:-1])
    missing = set(text.split(b"\n")[:-1]) - out
    check(result.status == 0 and not missing,
          "killed %d times: what was not remembered passes again, nothing is lost" % killings,
          result.err, len(missing))
    check_none(broken, "and the state is whole every time")
    check(run([*UNIQ, "--state", "s"], text).out == b"", "and complete in the end")
    check(not beside(), "nothing is left beside it", beside())


def feed(process, text):
    try:
        process.stdin.write(text)
        process.stdin.close()
    except (BrokenPipeError, OSError):
        pass


def in_between():
    fresh("s")
    process = start("--save-every", "200ms")
    out = b""
    saved = False
    for i in range(60):
        process.stdin.write(b"now %d\n" % i)
        out += read_within(process.stdout.fileno(), 2)
        time.sleep(0.05)
        if os.path.getsize("s") > 0 and run(["bloom-query", "-q", "-e", "now 0", "s"]).status == 0:
            saved = True
            break
    check(saved and process.poll() is None, "--save-every saves in between")
    result = run([*UNIQ, "--no-wait", "--state", "s"], b"x\n")
    check(is_clean(result, "bloom-uniq", (b"s",)), "and keeps the lock: --no-wait gives up", result)
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    process.stderr.close()
    result = run([*UNIQ, "--no-wait", "--state", "s"], b"now 0\nnew\n")
    check((result.status, result.out) == (0, b"new\n"),
          "a dead holder holds nobody up, and what it saved is known", result)


def waiting():
    fresh("s")
    first = start()
    first.stdin.write(b"a\n")
    read_within(first.stdout.fileno(), 5)
    second = start()
    second.stdin.write(b"a\nb\n")
    second.stdin.close()
    third = start()
    time.sleep(0.3)
    check(second.poll() is None and not read_within(second.stdout.fileno(), 0.1),
          "the second waits for the first, and passes nothing meanwhile")
    third.send_signal(signal.SIGINT)
    result = finish(third)
    check(result.status == -signal.SIGINT and not result.err, "one that waits dies by its signal",
          result)
    first.stdin.write(b"b\n")
    first.stdin.close()
    results = [finish(first), finish(second)]
    check(results[0].out == b"b\n" and results[1].out == b""
          and all(r.status == 0 and not r.err for r in results),
          "then it knows all that the first passed", *results)
    first = start()
    wait_until(lambda: first.poll() is not None, 0.2)
    first.kill()
    finish(first)
    check(run([*UNIQ, "--no-wait", "--state", "s"], b"c\n").out == b"c\n", "kill -9 leaves no lock")


def together():
    """Several writers, over and over: every line passes exactly once in all of them."""
    fresh("s")
    out, faults = [], []
    end = time.monotonic() + (60 if LONG else 4)
    lock = threading.Lock()

    def writer(seed):
        rng = random.Random(seed)
        while time.monotonic() < end:
            at = rng.randrange(30000)
            result = run([*UNIQ, "--state", "s"], lines(at, at + rng.randrange(1, 2000)))
            with lock:
                if result.status != 0 or result.err:
                    faults.append(str(result))
                out.extend(result.out.split(b"\n")[:-1])

    threads = [threading.Thread(target=writer, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rest = run([*UNIQ, "--state", "s"], lines(0, 32000)).out.split(b"\n")[:-1]
    check_none(faults, "two writers at once")
    check(len(out) == len(set(out)), "nothing passed twice", len(out), len(set(out)))
    check(sorted(out + rest) == sorted(lines(0, 32000).split(b"\n")[:-1]) and len(out) > 100,
          "nothing was lost", len(out), len(rest))
    known = int(run(["bloom-query", "-c", "s"], b"".join(line + b"\n" for line in out)).out)
    check(known == len(out) and not beside(), "all that passed is remembered", known, len(out))


signals()
killed()
in_between()
waiting()
together()
done()
