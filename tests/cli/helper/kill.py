"""kill.py - kill -9 at any moment of a save: the old file or the new one, whole"""

import os
import random
import time

from common import LONG, check, check_none, content, done, run, save, spawn


def killed(name, old, command, complete, rounds):
    """Runs the command again and again on a fresh old file, kills it somewhere, and
    looks; now and then it is left to end, which has to clear what was left over."""
    os.makedirs("k", exist_ok=True)
    target = os.path.join("k", "f")
    durations = []
    for _ in range(3):
        save(target, old)
        begun = time.monotonic()
        result = run([*command, target], b"new\n")
        durations.append(time.monotonic() - begun)
        assert result.status == 0, result
    new = content(target)
    assert new != old
    whole = sorted(durations)[1]
    rng = random.Random(rounds)
    torn, left, kept, seen = [], [], [], {"old": 0, "new": 0, "left": 0}
    for number in range(rounds):
        save(target, old)
        process = spawn([*command, target])
        try:
            process.stdin.write(b"new\n")
        except BrokenPipeError:
            pass  # one that reads nothing has ended already, on a machine that has much to do
        process.stdin.close()
        time.sleep(rng.random() * 1.05 * whole)
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
        now = content(target)
        if now not in (old, new):
            torn.append("round %d: %d bytes, neither old nor new" % (number, len(now)))
        seen["new" if now == new else "old"] += 1
        others = [other for other in os.listdir("k") if other != "f"]
        seen["left"] += bool(others)
        if len(others) > 1:
            left.append("round %d: %r" % (number, others))
        if number % 10 == 9:
            result = run([*command, target], b"new\n")
            others = [other for other in os.listdir("k") if other != "f"]
            if result.status != 0 or others:
                kept.append("round %d: %s, %r" % (number, result, others))
            if complete(content(target)) is not True:
                kept.append("round %d: the next write is not whole" % number)
    print("# %s: %r in %d rounds of up to %.0f ms" % (name, seen, rounds, whole * 1050))
    check_none(torn, "%s: %d times killed, the old file or the new one" % (name, rounds))
    check_none(left, name + ": at most one left over")
    check_none(kept, name + ": and gone after the next write")
    for other in os.listdir("k"):
        os.unlink(os.path.join("k", other))


rounds = 1000 if LONG else 200
run(["bloom-build", "-n", "2000000", "-p", "0.001", "-s", "1", "-o", "old"], b"old\n")
old = content("old")
check(len(old) > 3000000, "a filter that takes a while to save", len(old))
fresh = run(["bloom-build", "-n", "2000000", "-p", "0.001", "-s", "2"], b"new\n").out
killed("bloom-build -o", old, ["bloom-build", "-n", "2000000", "-p", "0.001", "-s", "2", "-o"],
       lambda now: now == fresh, rounds)


def holds_both(now):
    save("now", now)
    return run(["bloom-query", "-v", "-e", "old", "-e", "new", "now"]).status == 1


killed("bloom-build --append", old, ["bloom-build", "--append"], holds_both, rounds)

# The others share the code that saves, but not what they do before and after it.
few = 1000 if LONG else 50
killed("bloom-uniq --state", old, ["bloom-uniq", "--state"], holds_both, few)
run(["cms-count", "--size", "8MB", "--plain", "-o", "counts"], b"old\n")


def counts_both(now):
    save("now", now)
    out = run(["cms-count", "--query", "now", "-e", "old", "-e", "new"]).out
    # What was done in earlier rounds may have been saved before the kill.
    return out.startswith(b"1\told\n") and int(out.splitlines()[1].split(b"\t")[0]) >= 1


killed("cms-count --append", content("counts"), ["cms-count", "--append"], counts_both, few)
run(["cms-top", "--size", "8MB", "-o", "top"], b"old\n")
killed("cms-top --append", content("top"), ["cms-top", "--append"], counts_both, few)
save("fresh", run(["bloom-build", "-n", "2000000", "-p", "0.001", "-s", "1"], b"new\n").out)
killed("sketch-merge -o", old, ["sketch-merge", "fresh", "old", "-o"], holds_both, few)
many = b"".join(b"key %d\n" % i for i in range(30000))
run(["hll-count", "-q", "--precision", "21", "-o", "distinct"], many)
check(len(content("distinct")) > 200000, "a HyperLogLog sketch of 256 KB and more",
      len(content("distinct")))
with_new = run(["hll-count", "--precision", "21"], many + b"new\n").out


def is_one_more(now):
    save("now", now)
    return run(["hll-count", "--query", "now"]).out == with_new


killed("hll-count --append", content("distinct"), ["hll-count", "-q", "--append"], is_one_more, few)


# Filters that keys can be taken out of.
def still_holds(now):
    save("now", now)
    return (run(["bloom-query", "-c", "-e", "old", "-e", "new", "now"]).out == b"1\n" and
            run(["bloom-query", "-e", "old", "now"]).out == b"old\n")


for kind in ("counting", "cuckoo"):
    # About as large as the ones above; the second copy makes nothing new of what is found.
    size = ["--kind", kind, "-n", "700000" if kind == "counting" else "2000000", "-p", "0.001"]
    run(["bloom-build", *size, "-o", kind], b"old\n")
    with_both = run(["bloom-build", *size], b"old\nnew\n").out
    killed("bloom-build --append, " + kind, content(kind), ["bloom-build", "--append"],
           holds_both, few)
    killed("bloom-build --remove-from, " + kind, with_both, ["bloom-build", "--remove-from"],
           still_holds, few)

done()
