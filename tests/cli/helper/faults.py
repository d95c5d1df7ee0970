"""faults.py - every call to the system fails once, and no tool does worse than say so

For each job and class of calls the first, the second, ... is made to fail by
tests/faults/preload.c, until the job runs through untouched.  Each time it has to
    - end by itself, soon, with status 0 or 2 (1 where that is the answer), by no signal;
    - have done all of its work right where that is 0 or 1, and said nothing;
    - have said why in lines that begin with its name where it is 2, and have put out the
      beginning of the right answer at most;
    - have left each file that it replaces as it was or as it should be, in mode as well,
      and one more file at the most, which a run without faults clears.
To be given: the library.  "LONG=1" tries every call; else calls late in a long row are
sampled.
"""

import errno
import itertools
import os
import shutil
import struct
import sys

from common import ENVIRONMENT, LONG, check, check_none, done, key_file, run, skip

LIBRARY = sys.argv[1]
COUNTS_ITSELF = ENVIRONMENT.get("TEST_VARIANT") == "cov"
LOG = os.path.abspath(".tap/struck")

# What fails, how; 0 is a call that is cut short.
FAULTS = [("alloc", errno.ENOMEM), ("open", errno.EMFILE), ("open", errno.EACCES),
          ("read", errno.EIO), ("read", errno.EINTR), ("read", 0),
          ("write", errno.ENOSPC), ("write", errno.EIO), ("write", errno.EINTR), ("write", 0),
          ("name", errno.EIO), ("name", errno.ENOSPC), ("sync", errno.EIO),
          ("sync", errno.ENOSPC), ("stat", errno.EIO), ("close", errno.EIO),
          ("close", errno.EINTR), ("lock", errno.ENOLCK), ("lock", errno.EOPNOTSUPP),
          ("misc", errno.EINTR), ("misc", errno.EINVAL), ("thread", errno.EAGAIN)]
# Those that a tool gets round, whichever call it is.
HARMLESS = {("read", errno.EINTR), ("read", 0), ("write", errno.EINTR), ("write", 0),
            ("close", errno.EINTR)}


def lines(*ranges):
    return b"".join(b"key %d\n" % i for part in ranges for i in range(*part))


LIST, MORE = lines((0, 300)), lines((200, 400))
PART, REST = lines((0, 100)), lines((100, 180))  # of LIST, to be taken out
# Another program's filter: 961 bits, of which every second is set.
DCSO = struct.pack("<QQdQQQ", 1, 100, 0.01, 7, 961, 480) + b"\x55" * 120 + b"\1" + bytes(7)
STREAM = b"".join(b"key %d %d\n" % (i * i % 40, i % 7) for i in range(300))


class Job:
    """A command; `targets` are the files that it replaces, `stream` those it writes on the
    way.  One that goes on without an input that cannot be read may make its targets as
    `without` does, the command for no input."""

    def __init__(self, name, arguments, stdin=b"", targets=(), stream=(), without=None):
        self.name, self.arguments, self.stdin = name, arguments, stdin
        self.targets, self.stream, self.without = targets, stream, without


JOBS = [
    Job("build", ["bloom-build", "-n", "1000", "-o", "f", "list", "more"], targets=["f"]),
    Job("build, growing", ["bloom-build", "-o", "new", "list", "more"], targets=["new"]),
    Job("build, to a pipe", ["bloom-build", "-n", "1000", "list"]),
    Job("build, names in a list", ["bloom-build", "-n", "900", "--files0-from=names", "-o", "f"],
        targets=["f"]),
    Job("append", ["bloom-build", "--append", "f", "more"], targets=["f"]),
    Job("append, absent", ["bloom-build", "-n", "500", "--append", "new", "-"], MORE,
        targets=["new"]),
    Job("query", ["bloom-query", "f", "list", "more"]),
    Job("query -v, two filters", ["bloom-query", "-v", "-F", "f", "-F", "g", "-"], MORE),
    Job("query, filter in a pipe", ["bloom-query", "-", "more"], "f"),
    Job("query -e", ["bloom-query", "-e", "key 1", "-e", "other", "f"]),
    Job("build -j", ["bloom-build", "-j", "3", "-n", "1000", "-o", "f", "list", "more"],
        targets=["f"]),
    Job("query -j", ["bloom-query", "-j", "3", "-v", "f", "list", "more"]),
    Job("query -j, a pipe", ["bloom-query", "-j", "2", "--annotate", "f"], LIST),
    Job("count -j", ["cms-count", "-j", "2", "--plain", "-o", "new", "list"], targets=["new"]),
    Job("uniq", ["bloom-uniq", "-f", "2"], STREAM),
    Job("uniq --state", ["bloom-uniq", "--state", "f", "more"], targets=["f"]),
    Job("uniq --state, absent", ["bloom-uniq", "--state", "new", "--duplicates", "twice", "-f",
                                 "2", "stream"], targets=["new"], stream=["twice"],
        without=["bloom-uniq", "--state", "new", "/dev/null"]),
    Job("uniq --window", ["bloom-uniq", "-n", "50", "--window", "100", "--state", "w", "-f", "2"],
        STREAM, targets=["w"]),
    Job("count", ["cms-count", "-f", "2", "stream", "stream"]),
    Job("count -o", ["cms-count", "-f", "2", "-W", "3", "-o", "c", "stream"], targets=["c"]),
    Job("count --append", ["cms-count", "-f", "2", "--append", "c", "-"], STREAM,
        targets=["c"]),
    Job("count --query", ["cms-count", "--query", "c", "--query", "d", "--bounds", "more"]),
    Job("top", ["cms-top", "-f", "2", "stream"]),
    Job("top -o", ["cms-top", "-f", "2", "-o", "new", "-k", "3", "-"], STREAM, targets=["new"]),
    Job("top --query", ["cms-top", "--query", "c", "--json"]),
    Job("merge", ["sketch-merge", "-o", "new", "f", "g"], targets=["new"]),
    Job("merge into one of them", ["sketch-merge", "-o", "f", "f", "g"], targets=["f"]),
    Job("merge of growing ones", ["sketch-merge", "ladder", "ladder2"]),
    Job("merge of counts", ["sketch-merge", "-o", "c", "d", "e"], targets=["c"]),
    Job("distinct", ["hll-count", "-f", "2", "--bounds", "stream", "more"]),
    Job("distinct -o", ["hll-count", "-f", "2", "-o", "h", "stream"], targets=["h"]),
    Job("distinct --append", ["hll-count", "-q", "-f", "2", "--append", "h", "-"], STREAM,
        targets=["h"]),
    Job("distinct -j", ["hll-count", "-q", "-j", "2", "-f", "2", "-o", "new", "stream"],
        targets=["new"]),
    Job("distinct --query", ["hll-count", "--query", "h", "--query", "i", "--json"]),
    Job("merge of distinct ones", ["sketch-merge", "-o", "h", "h", "i"], targets=["h"]),
    *[job for kind, into, other in (("counting", "k", "l"), ("cuckoo", "u", "v")) for job in (
        Job("build " + kind, ["bloom-build", "--kind", kind, "-n", "1000", "-o", into, "list",
                              "more"], targets=[into]),
        Job("append, " + kind, ["bloom-build", "--append", into, "-"], MORE, targets=[into]),
        Job("remove-from, " + kind, ["bloom-build", "--remove-from", into, "part", "-"], REST,
            targets=[into]),
        Job("remove-from --strict, " + kind, ["bloom-build", "--strict", "--remove-from", into,
                                              "-"], REST, targets=[into]),
        Job("query -j, " + kind, ["bloom-query", "-j", "2", "-F", into, "-F", other, "list"]),
        Job("merge of %s ones" % kind, ["sketch-merge", "-o", "new", into, other],
            targets=["new"]),
        Job("merge of %s ones, to a pipe" % kind, ["sketch-merge", "-", other], into),
        Job("info --json, " + kind, ["sketch-info", "--json", into]))],
    Job("build --key-file", ["bloom-build", "--key-file", "key", "-n", "1000", "-o", "f", "list"],
        targets=["f"]),
    Job("append --key-file", ["bloom-build", "--key-file", "key", "--append", "keyed", "more"],
        targets=["keyed"]),
    Job("query --key-file", ["bloom-query", "--key-file", "key", "-F", "f", "-F", "keyed", "list"]),
    Job("query of another format", ["bloom-query", "-F", "dcso", "-F", "f", "list"]),
    Job("info of another format, pipe", ["sketch-info", "--json", "-"], "dcso"),
    Job("info", ["sketch-info", "f", "c", "w", "ladder", "h", "i", "dcso"]),
    Job("info --json, pipe", ["sketch-info", "--json", "-"], "c"),
    Job("fpr-calc --file", ["fpr-calc", "--file", "f", "--until", "5%"]),
    Job("fpr-calc", ["fpr-calc", "-n", "1k", "-p", "1%", "--table"]),
    Job("fpr-calc --simulate", ["fpr-calc", "-n", "100", "-p", "10%", "--simulate=2",
                                "--queries=500"]),
]

PREPARED = [
    (["bloom-build", "-n", "1000", "-o", "f", "list"], b""),
    (["bloom-build", "-n", "1000", "-o", "g", "stream"], b""),
    (["bloom-build", "-n", "900", "--key-file", "key", "-o", "keyed", "list"], b""),
    (["bloom-build", "-o", "ladder", "list"], b""),
    (["bloom-build", "-o", "ladder2", "more"], b""),
    (["bloom-uniq", "-n", "50", "--window", "100", "--state", "w", "-f", "2"], STREAM),
    (["cms-count", "--size", "4KiB", "-o", "c", "-f", "2", "stream"], b""),
    (["cms-count", "--size", "4KiB", "-o", "d", "-f", "3", "stream"], b""),
    (["cms-count", "--size", "4KiB", "-o", "e", "list"], b""),
    (["hll-count", "-q", "--precision", "6", "-o", "h", "list"], b""),
    (["hll-count", "-q", "--precision", "6", "-o", "i", "-f", "2", "stream"], b""),
    *[(["bloom-build", "--kind", kind, "-n", "1000", "-o", name, source], b"")
      for kind, names in (("counting", "kl"), ("cuckoo", "uv"))
      for name, source in zip(names, ("list", "more"))],
]


def content(path):
    try:
        with open(path, "rb") as file:
            return file.read(), os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        return None


def prepare():
    """The folder "kept", whose files each round finds again in the folder "work"."""
    os.makedirs("kept")
    for name, data in (("list", LIST), ("more", MORE), ("stream", STREAM),
                       ("part", PART), ("names", b"list\0more\0"), ("dcso", DCSO)):
        with open(os.path.join("kept", name), "wb") as file:
            file.write(data)
    key_file(bytes(range(16)), os.path.join("kept", "key"))
    for arguments, stdin in PREPARED:
        result = run(arguments, stdin, cwd="kept")
        assert result.status == 0, result
    for name in "fcwhku":
        os.chmod(os.path.join("kept", name), 0o604)


def restore(names=None):
    if names is None:
        shutil.rmtree("work", ignore_errors=True)
        shutil.copytree("kept", "work")
        return
    for name in os.listdir("work"):
        if name not in KEPT:
            os.unlink(os.path.join("work", name))
    for name in names:
        if name in KEPT:
            path = os.path.join("work", name)
            if os.path.exists(path):
                os.unlink(path)
            shutil.copy(os.path.join("kept", name), path)


def stdin_of(job):
    return KEPT[job.stdin] if isinstance(job.stdin, str) else job.stdin


def attempt(job, **faults):
    if os.path.exists(LOG):
        os.unlink(LOG)
    environment = dict(ENVIRONMENT, LD_PRELOAD=LIBRARY, FAULT_LOG=LOG)
    environment.update({"FAULT_" + name.upper(): str(value) for name, value in faults.items()})
    result = run(job.arguments, stdin_of(job), timeout=20, cwd="work", env=environment)
    struck = None
    if os.path.exists(LOG):
        with open(LOG, encoding="ascii") as file:
            struck = file.read().strip()
    return result, struck


class Judge:
    """What a job does when nothing fails, and whether it may do what it did."""

    def __init__(self, job):
        self.job, self.names = job, [*job.targets, *job.stream]
        restore(self.names)
        self.old = {name: content(os.path.join("work", name)) for name in self.names}
        self.right = run(job.arguments, stdin_of(job), cwd="work")
        assert self.right.status in (0, 1) and not self.right.err, self.right
        self.without = {}
        if job.without:
            restore(self.names)
            run(job.without, cwd="work")
            self.without = {name: content(os.path.join("work", name)) for name in self.names}
            restore(self.names)
            run(job.arguments, stdin_of(job), cwd="work")
        self.new = {name: content(os.path.join("work", name)) for name in self.names}
        self.files = set(os.listdir("work"))

    def faults(self, result, struck, harmless, kept=False):
        """What is wrong with a result, in words."""
        tool = self.job.arguments[0]
        # Neither a message that cannot be written, nor a standard output that cannot even be
        # taken again by /dev/null or "/".
        mute = struck == "write 2" or bool(
            kept and struck and struck.split()[0] in ("write", "writev", "open"))
        if result.status == self.right.status:
            if result.out != self.right.out:
                yield "status %d, but not all of the answer" % result.status
            if result.err and not mute:
                yield "status %d with a message" % result.status
        elif result.status != 2:
            yield "status %r" % result.status
        else:
            said = result.err.splitlines()
            if not mute and not said or any(not line.startswith(tool.encode() + b": ")
                                            for line in said):
                yield "status 2, without a message"
            if len(said) > 1 and not kept:
                yield "status 2, with several messages"
            # What only reads goes on with the other inputs, so lines may be missing.
            left = iter(self.right.out.splitlines(True))
            if tool != "sketch-info" and not self.right.out.startswith(result.out) and not all(
                    line in left for line in result.out.splitlines(True)):
                yield "status 2, and an answer that is not part of the right one"
            if harmless:
                yield "not got round"
        for name in self.job.targets:
            now = content(os.path.join("work", name))
            allowed = [self.old[name], self.without.get(name)]
            if self.old[name] is None and now and not now[0]:
                allowed.append(now)  # an empty file counts as none
            if now != self.new[name] and (result.status != 2 or now not in allowed):
                yield "%s is neither old nor new" % name if result.status == 2 else \
                    "%s is not the new one" % name
        for name in self.job.stream:
            now = content(os.path.join("work", name)) or (b"", 0)
            if result.status != 2 and now != self.new[name] or \
                    not self.new[name][0].startswith(now[0]):
                yield "%s is not what it should be" % name
        extra = set(os.listdir("work")) - self.files
        if len(extra) > 1:
            yield "left over: %s" % sorted(extra)
        elif extra and self.job.targets:
            run(self.job.arguments, stdin_of(self.job), cwd="work")
            if set(os.listdir("work")) - self.files:
                yield "left over for ever: %s" % sorted(extra)
        elif extra:
            yield "made a file: %s" % sorted(extra)


def calls():
    """The numbers of the calls to fail: all; or, in short, the first ones and some."""
    if LONG:
        return itertools.count(1)
    return itertools.chain(range(1, 8), itertools.count(8, 5))


def each_call(job, judge, chosen):
    """Lets one call after the other fail; the number of calls, and what went wrong."""
    wrong, tried = [], 0
    for class_, number in chosen:
        # All files have names on some file systems until they are complete, on others not.
        ways = [{}, {"named": 1}, {"keep": 1}, {"keep": 1, "named": 1}]
        if not LONG:
            ways = [ways[len(job.name) % 4]]
        for way in ways:
            keep = "keep" in way
            if keep and number == errno.EINTR:
                continue  # a signal comes once in a while, not instead of every call
            restore(judge.names)
            for call in calls():
                faults = dict(way, **{"class": class_, "call": call, "error": number})
                result, struck = attempt(job, **faults)
                if struck is None:
                    break
                tried += 1
                harmless = (class_, number) in HARMLESS and not keep
                for fault in judge.faults(result, struck, harmless, keep):
                    wrong.append("%s: %s %d (%s)%s: %s: %s" % (
                        job.name, class_, call, os.strerror(number) if number else "short",
                        "".join(" and " + word for word in way), struck, fault))
                    wrong.append("    %s" % result)
                restore(judge.names)
        restore(judge.names)
    return tried, wrong


def limited(job, judge):
    """The limits that a system knows: of descriptors, of address space, of the size of
    files.  Below some of them the tool cannot even be started."""
    wrong, tried = [], 0
    limits = [["--nofile=%d" % n] for n in range(3, 12)]
    limits += [["--as=%d" % (n << 14)] for n in range(150, 500, 2 if LONG else 29)]
    limits += [["--fsize=%d" % n] for n in (0, 1, 127, 128, 1000, 1700, 4096)]
    for limit in limits:
        result = run(["env", "--ignore-signal=XFSZ", "prlimit", *limit, *job.arguments],
                     stdin_of(job), timeout=20, cwd="work")
        loader = result.status in (125, 126, 127) or b"error while loading" in result.err
        if not loader:
            tried += 1
            for fault in judge.faults(result, None, False, True):
                wrong += ["%s: %s: %s" % (job.name, *limit, fault), "    %s" % result]
        restore(judge.names)
    return tried, wrong


def storm(job, judge, apart):
    wrong = []
    for _ in range(20 if LONG else 2):
        result, _ = attempt(job, storm=apart)
        if result.status != judge.right.status:
            wrong.append("%s: a signal every %d us: %s" % (job.name, apart, result))
        wrong += ["%s: a signal every %d us: %s" % (job.name, apart, fault)
                  for fault in judge.faults(result, None, True)]
        restore(judge.names)
    return wrong


prepare()
KEPT = {}
for entry in os.listdir("kept"):
    KEPT[entry] = content(os.path.join("kept", entry))[0]
restore()
chosen_jobs = [job for job in JOBS if not sys.argv[2:] or job.name in sys.argv[2:]]
wrong_of = {class_: [] for class_, _ in FAULTS}
tried_of = dict.fromkeys(wrong_of, 0)
interrupted, cramped, cramped_count = [], [], 0
for position, one in enumerate(chosen_jobs):
    judge_of_one = Judge(one)
    restore(judge_of_one.names)
    for turn, (name_of_class, error_number) in enumerate(FAULTS):
        # In short, each job meets every class, and the errors of a class take turns.
        same = [other for other in FAULTS if other[0] == name_of_class]
        if not LONG and same[position % len(same)] != (name_of_class, error_number):
            continue
        count, found = each_call(one, judge_of_one, [(name_of_class, error_number)])
        tried_of[name_of_class] += count
        wrong_of[name_of_class] += found
    interrupted += storm(one, judge_of_one, 300)
    interrupted += storm(one, judge_of_one, 1000)
    if (LONG or position % 3 == 0) and not COUNTS_ITSELF:
        count, found = limited(one, judge_of_one)
        cramped_count += count
        cramped += found
for name_of_class, found in wrong_of.items():
    check(tried_of[name_of_class] > 0, "%s: calls of the class are made" % name_of_class)
    check_none(found, "%s: %d calls of %d jobs fail, one after the other" % (
        name_of_class, tried_of[name_of_class], len(chosen_jobs)))
    if found and LONG:
        with open("/dev/stderr", "w", encoding="utf-8") as all_of_them:
            all_of_them.write("".join("# %s\n" % line for line in found))
CRAMPED = "%d runs with few descriptors, little memory, small files" % cramped_count
if COUNTS_ITSELF:
    skip(CRAMPED, "what counts the lines that were run is short of them, too")
else:
    check_none(cramped, CRAMPED)
check_none(interrupted, "signals that only interrupt, every 0.3 and 1 ms")
done()
