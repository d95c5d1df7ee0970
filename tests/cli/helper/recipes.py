"""recipes.py - the recipes of sketch(7) and the examples of the other pages are run as they
stand there, each in a folder of its own, and their results compared with what plain Python
makes of the same data

A block is taken out of the page's source each time, so that a recipe that is changed runs
as changed, and one that nobody expects here is a failure.  For the sake of time alone
"-n 50M" is run as "-n 50k", unless LONG is set; and /srv is srv.
"""

import collections
import glob
import gzip
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess

import manual
from common import LONG, check, done, skip, slow, spawn
from dcso_model import Dcso

TOP, BIN = os.environ["TOP"], os.environ["BIN"]
HELPER = os.path.join(TOP, "tests", "cli", "helper")
WORK = os.getcwd()
SECTIONS = ("EXAMPLES", "RECIPES", "MANY PROCESSORS AND HOSTS")
STUBS = ("tail journalctl alerts slow-exact-lookup mail ssh scp sbatch hdfs hadoop").split()
CHERISHED = b"192.0.2.17"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def split(data):
    lines = data.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def join(lines):
    return b"".join(line + b"\n" for line in lines)


def sample(name):
    return split(read(os.path.join(TOP, "samples", name)))


# ------------------------------------------------ what the tools do, done another way


def first(lines, key=lambda line: line):
    """As awk '!seen[key]++'."""
    seen = set()
    return [line for line in lines if not (key(line) in seen or seen.add(key(line)))]


def field(*numbers):
    """The key of fields split at blanks, as awk splits them, joined by a blank."""
    return lambda line: b" ".join(line.split()[number - 1] for number in numbers)


def from_field(number):
    """The rest of a line from that field on."""
    return lambda line: re.match(rb"\s*(?:\S+\s+){%d}(.*)" % (number - 1), line)[1]


def quoted(*numbers):
    """The key of fields of a web log, where what stands in quotes is one."""
    def key(line):
        found = re.findall(rb'"[^"]*"|\S+', line)
        return b" ".join(found[number - 1] for number in numbers)
    return key


def tally(lines, key=lambda line: line, weight=lambda line: 1):
    counts = collections.Counter()
    for line in lines:
        counts[key(line)] += weight(line)
    return counts


def at_most(lines, limit, key=lambda line: line, least=1):
    """The records whose running count is from least to limit."""
    seen = collections.Counter()
    passed = []
    for line in lines:
        seen[key(line)] += 1
        if least <= seen[key(line)] <= limit:
            passed.append(line)
    return passed


# --------------------------------------------------------------------- the data

ACCESS, BEFORE = sample("access.log"), sample("access-1.log")
SYSLOG = sample("syslog.log")
# Without its stamps, which would make all lines different.
APP = [line.split(b",", 1)[-1] for line in sample("app.log")]
BLOCKED, USERS = sample("blocklist.txt"), sample("users.txt")
CLIENTS = first(ACCESS + BEFORE, field(1))
CLIENTS = [field(1)(line) for line in CLIENTS] + [b"192.0.2.255", CHERISHED]
BIG = [field(1, 7)(line) for line in ACCESS + BEFORE]
LOG, TODAY, IN = BIG[:2000], BIG[700:1900], BIG[500:2200]
STRANGERS = [b"stranger%d" % number for number in range(1000)]
REQUESTS = [name for number in range(1000)
            for name in (USERS[number * 7 % len(USERS)], STRANGERS[number * 13 % 800])]
# A repeat of the journal is a line again once its stamp, host and process are gone.
JOURNAL = [from_field(6)(line) for line in SYSLOG]
NAMED = [b"Mar  3 07:%02d:00 ns1 sshd[%d]: Failed password for root from 192.0.2.%d port %d ssh2"
         % (number % 60, 100 + number, 3 + number % 4, 2000 + number) for number in range(47)]
AUTH = SYSLOG + NAMED
TABLE = [b'%d,"one, two",%s' % (number, b'"%s"' % USERS[number % 9]) for number in range(60)]
FILES = {
    "access.log": ACCESS, "access-1.log": BEFORE, "mon.log": ACCESS, "day.log": ACCESS,
    "syslog.log": SYSLOG, "app.log": APP, "auth.log": AUTH, "blocklist.txt": BLOCKED,
    "users.txt": USERS, "known.txt": USERS, "keys": BIG, "keys.txt": STRANGERS,
    "requests": REQUESTS, "log": LOG, "today.log": TODAY, "in": IN, "candidates": TODAY,
    "clients": CLIENTS, "journal": JOURNAL, "raised": JOURNAL, "big.log": BIG,
    "host-log": LOG, "table.csv": TABLE, "sessions": USERS[:300], "begun": STRANGERS[:100],
    "ended": USERS[50:150], "day-1.log": ACCESS[:900], "day-2.log": ACCESS[900:],
    "day-3.log": BEFORE,
}
HOSTS = {"web1": ACCESS, "web2": BEFORE, "web3": ACCESS[500:1500]}


# -------------------------------------------------------------------- one recipe


class Recipe:
    """A block of a page in a folder of its own, where an expectation runs and judges it."""

    def __init__(self, block, number, siblings):
        self.block, self.siblings = block, siblings
        self.faults, self.out, self.err = [], [], []
        self.patience = 60
        self.root = os.path.join(WORK, "recipe.%d" % number)
        self.folder = os.path.join(self.root, "here")
        for name in ("here", "log", "hosts", "home", "hdfs/filters", "hdfs/logs"):
            os.makedirs(os.path.join(self.root, name))
        for name, lines in FILES.items():
            self.write(name, lines)
        os.symlink(os.path.join(TOP, "samples"), os.path.join(self.folder, "samples"))
        for host, lines in HOSTS.items():
            self.write("../hosts/%s/access.log" % host, lines)
        # Whoever types a recipe has a SHELL; without one parallel goes by its parents.
        self.environment = dict(
            os.environ, LC_ALL="C", HOME=os.path.join(self.root, "home"), SHELL="/bin/bash",
            PATH=os.path.join(WORK, "stubs") + ":" + os.environ["PATH"])

    def write(self, name, lines):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(join(lines))

    def lines(self, name):
        return split(read(os.path.join(self.folder, name)))

    def text_of(self, name):
        """Another block of the same page, for those that need what it makes."""
        return next(block.text() for block in self.siblings if name in block.name)

    def shell(self, script, stdin=b""):
        shell = spawn(["bash", "-c", script], cwd=self.folder, env=self.environment,
                      start_new_session=True)
        try:
            out, err = shell.communicate(stdin, timeout=self.patience)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            out, err = shell.communicate()
            err += b"took more than %d s" % self.patience
        return shell.returncode, out, err

    def prepare(self, script):
        status, _, err = self.shell("set -e\n" + script)
        if status != 0 or err:
            self.faults.append("preparing: status %d, %r" % (status, err))

    def run(self, stdin=b"", statuses=None, said=None, **environment):
        """Runs the commands one after the other in one shell.  Each has to end with status
        0, or as statuses has it by number, and to say nothing on stderr that the page does
        not show, or said has as a pattern."""
        self.environment.update(environment)
        commands = self.block.commands()
        if commands[0][0] == "./script":
            path = os.path.join(self.folder, "script")
            with open(path, "w") as file:
                file.write(sized(self.block.text()))
            os.chmod(path, 0o755)
        script = "set -o pipefail\n"
        for number, (command, _) in enumerate(commands):
            waited = "wait\n" if command.endswith("&") else ""
            script += "{ %s\n%s} >../log/out.%d 2>../log/err.%d\necho $? >../log/status.%d\n" % (
                sized(command), waited, number, number, number)
        status, out, err = self.shell(script, stdin)
        self.out, self.err = [], []
        if status != 0 or out or err:
            self.faults.append("the shell: status %d, %r %r" % (status, out, err))
            return
        for number, (command, shown) in enumerate(commands):
            out, err, status = (read(os.path.join(self.root, "log", "%s.%d" % (what, number)))
                                for what in ("out", "err", "status"))
            self.out.append(split(out))
            self.err.append(err)
            self.judge(command, shown, int(status), (statuses or {}).get(number, 0), out, err,
                       (said or {}).get(number))

    def judge(self, command, shown, status, wanted, out, err, said):
        # The writer into a head that has seen enough.
        if status == 141 and "| head" in command:
            status = 0
        if status != wanted:
            self.faults.append("%s: status %d, not %d: %r" % (command, status, wanted, err))
        if shown is not None:
            # A line that the page has to break goes on behind a blank.
            self.equal((out + err).decode(), shown.replace("\n ", " "), command)
        elif said is None and err or said is not None and not re.search(said, err):
            self.faults.append("%s: stderr says %r" % (command, err))

    def equal(self, got, wanted, what):
        if got != wanted:
            self.faults += ["%s:" % what, "got  %s" % brief(got), "want %s" % brief(wanted)]

    def holds(self, condition, what):
        if not condition:
            self.faults.append(what)

    def near(self, got, wanted, what):
        self.holds(abs(got - wanted) <= 0.02 * wanted, "%s: %d, not about %d" % (what, got, wanted))

    def maybe(self, passed, asked, known, rate, what, key=lambda line: line):
        """What a filter lets through: in order all that is known, and no more than chance
        allows of the distinct strangers."""
        self.equal([line for line in passed if key(line) in known],
                   [line for line in asked if key(line) in known], what)
        strangers = {key(line) for line in asked} - known
        wrong = {key(line) for line in passed} - known
        self.holds(wrong <= strangers, what + ": lines that were not asked")
        self.holds(len(wrong) <= 3 * rate * len(strangers) + 5 * rate ** 0.5,
                   what + ": %d of %d strangers pass" % (len(wrong), len(strangers)))

    def whole(self, name, lines, options=""):
        """A filter is, byte for byte, that of all these lines."""
        found = json.loads(self.shell("sketch-info --json " + name)[1])
        self.write("../whole", lines)
        self.prepare("bloom-build -n %d -p %r %s -o ../whole.bloom ../whole"
                     % (found["n"], found["p"], options))
        self.equal(read(os.path.join(self.folder, name)),
                   read(os.path.join(self.root, "whole.bloom")), name + " and that of the whole")

    def has(self, name, keys, options=""):
        """A filter has all these keys."""
        self.write("../keys", keys)
        _, out, _ = self.shell("bloom-query %s %s < ../keys" % (options, name))
        self.equal(split(out), keys, "the keys of " + name)

    def top(self, lines, counts, limit=10, places=0):
        """A list of the heaviest is that of the exact counts, in any order of equal ones."""
        pairs = [line.strip().split(None if b"\t" not in line else b"\t", 1) for line in lines]
        got = [(float(count), key) for count, key in pairs]
        best = sorted(counts.values(), reverse=True)[:limit]
        self.equal([count for count, _ in got], [float(count) for count in best], "the counts")
        self.equal([(count, key) for count, key in got if counts[key] != count], [],
                   "keys whose count is another")
        self.equal(len({key for _, key in got}), len(got), "the number of different keys")


def brief(value):
    text = repr(value)
    return text if len(text) <= 250 else text[:120] + " ... " + text[-120:]


def sized(command):
    command = command.replace("/srv/", "srv/")
    planned = LONG or " -m " in command or "fpr-calc" in command
    return command if planned else re.sub(r"(?<= -n )(\d+)M\b", r"\1k", command)


EXPECTATIONS = []


def recipe(page, name, needs=()):
    """Expects of the block of that page in whose name these words are what the function
    behind says."""
    def keep(function):
        EXPECTATIONS.append((page, name, needs, function))
        return function
    return keep


def lacking(program):
    if program == "parallel":
        done = subprocess.run("parallel --version", shell=True, capture_output=True)
        return b"GNU" not in done.stdout
    return shutil.which(program) is None


# ------------------------------------------------------------ filters and queries

KNOWN = set(USERS)
NEW = [line for line in ACCESS if field(1)(line) not in {field(1)(line) for line in BEFORE}]
BLOCKED_REQUESTS = [line for line in ACCESS if field(1)(line) in set(BLOCKED)]


@recipe("bloom-build.1", "names surely not among them")
def _(t):
    t.run()
    new = t.lines("surely-new")
    t.maybe([line for line in REQUESTS if line not in set(new)], REQUESTS, KNOWN, 0.001, "known")
    t.holds(not KNOWN & set(new), "a known one is called new")


@recipe("bloom-build.1", "without a file between")
@recipe("sketch-info.1", "One that was never saved")
def _(t):
    t.run()
    facts = dict(line.split(b"\t") for line in t.out[0])
    t.equal([facts[name] for name in (b"file", b"records", b"checksum")],
            [b"-", b"2000", b"ok"], "the facts")
    t.near(int(facts[b"distinct"]), len(BY_CLIENT), "distinct")


@recipe("bloom-build.1", "Every night, add the day's clients")
@recipe("bloom-build.1", "The same with no idea how many")
def _(t):
    t.run()
    t.write("day.log", BEFORE)
    t.run()
    t.has("clients.bloom", ACCESS + BEFORE, "-f 1")
    t.maybe(split(t.shell("bloom-query clients.bloom < requests")[1]), REQUESTS, set(), 1e-4,
            "strangers")
    if b"\nlayers\t1\n" in t.shell("sketch-info clients.bloom")[1] and "-n" in t.block.text():
        t.prepare("cat access.log access-1.log > both")
        t.whole("clients.bloom", ACCESS + BEFORE, "-f 1")


@recipe("bloom-build.1", "All that a machine logs")
@recipe("sketch.7", "A stream that never ends")
def _(t):
    t.prepare("bloom-build -n 1k -p 1e-6 -o block.bloom blocklist.txt")
    t.run()
    name = re.search(r"--append (\S+)", t.block.text())[1]
    t.has(name, JOURNAL)
    if len(t.out) > 1:
        t.equal(t.out[1], BLOCKED_REQUESTS, "requests from the list")


@recipe("bloom-build.1", "The names of all files")
def _(t):
    t.write("odd\nname", [])
    t.run()
    names = t.shell("find . -type f ! -name names.bloom -print0")[1]
    t.equal(t.shell("bloom-query -z names.bloom", names)[1], names, "the names")
    t.holds(b"odd\nname" in names, "the odd one is among them")


@recipe("bloom-build.1", "The best that 6 megabytes can do")
def _(t):
    t.run()
    t.has("best.bloom", STRANGERS)
    bytes_ = json.loads(t.shell("sketch-info --json best.bloom")[1])["bytes"]
    t.holds(5.9e6 < bytes_ <= 6e6 + 4096, "of %d bytes" % bytes_)


@recipe("bloom-query.1", "What to look up, and what surely is new")
def _(t):
    t.prepare("bloom-build -n 400 -o users.bloom users.txt")
    t.run()
    known, new = t.lines("maybe-known"), t.lines("surely-new")
    t.maybe(known, REQUESTS, KNOWN, 0.01, "known")
    t.equal(tally(known) + tally(new), tally(REQUESTS), "both together")


@recipe("bloom-query.1", "One name in a script")
def _(t):
    t.prepare("bloom-build -n 400 -o users.bloom users.txt")
    t.run(statuses={0: 1})
    t.equal(t.out[0], [], "a stranger")
    t.prepare("echo alice | bloom-build --append users.bloom")
    t.run()
    t.equal(t.out[0], [b"maybe"], "a key")


@recipe("bloom-query.1", "Requests, as they happen, from addresses of a block list")
def _(t):
    t.run()
    t.equal(t.out[1], BLOCKED_REQUESTS, "requests from the list")


@recipe("bloom-query.1", "The same with no doubt left")
@recipe("sketch.7", "look at what is left, which is little")
def _(t):
    t.prepare("bloom-build -n 150 -p 0.05 -o block.bloom blocklist.txt")
    t.run()
    t.equal(t.out[-1], [field(1)(line) for line in BLOCKED_REQUESTS], "exactly those listed")


@recipe("bloom-query.1", "How many of today's clients")
def _(t):
    t.prepare("head -n 500 access-1.log | bloom-build -n 1k -p 1e-6 -f 1 -o monday.bloom\n"
              "tail -n 500 access-1.log | bloom-build -n 1k -p 1e-6 -f 1 -o tuesday.bloom")
    t.run()
    t.equal(t.out[0], [b"%d" % (len(ACCESS) - len(NEW))], "records of clients seen before")


@recipe("bloom-query.1", "Count both kinds in one pass")
def _(t):
    t.prepare("bloom-build -n 150 -p 1e-6 -o block.bloom blocklist.txt")
    t.run()
    some = len(BLOCKED_REQUESTS)
    t.equal([line.split() for line in t.out[0]],
            [[b"%d" % (len(ACCESS) - some), b"0"], [b"%d" % some, b"1"]], "the counts")


@recipe("bloom-query.1", "Which of these files are on a published list")
def _(t):
    listed = Dcso(1000, 1e-4)
    for number in range(4):
        t.write("%d.iso" % number, [b"image", b"%d" % number])
        if number % 2:
            listed.insert(hashlib.sha1(b"image\n%d\n" % number).hexdigest().upper().encode())
    with open(os.path.join(t.folder, "hashlookup-full.bloom"), "wb") as file:
        file.write(listed.encode())
    t.run()
    t.equal([line.split()[1] for line in t.out[0]], [b"1.iso", b"3.iso"], "those listed")


@recipe("sketch.7", "Only the records that may be known go on")
def _(t):
    t.run()
    t.maybe(t.out[1], REQUESTS, KNOWN, 0.01, "looked up")


@recipe("sketch.7", "What is new today")
def _(t):
    t.run()
    t.equal(t.out[1], NEW, "new requests")


@recipe("sketch.7", "A filter of the sessions that are open")
def _(t):
    t.write("requests", USERS + STRANGERS)
    t.run()
    opened = (set(USERS[:300]) | set(STRANGERS[:100])) - set(USERS[50:150])
    t.maybe(t.out[3], USERS + STRANGERS, opened, 0.001, "open ones")
    t.write("ended", [b"never begun"])
    t.prepare("bloom-build --kind cuckoo -n 1k -o open.bloom sessions")
    status, _, err = t.shell(t.block.commands()[2][0])
    t.holds(status == 2 and err, "what was never put in is refused")


@recipe("sketch.7", "Appending takes a lock")
def _(t):
    os.mkdir(os.path.join(t.folder, "srv"))
    command = sized(t.block.commands()[0][0])
    t.write("other", STRANGERS)
    t.prepare("%s & %s; wait" % (command, command.replace("host-log", "other")))
    t.run()
    t.whole("srv/seen.bloom", LOG + STRANGERS + LOG)


@recipe("sketch.7", "One small filter for each large archive")
def _(t):
    archives = {"1.log.gz": BEFORE + [CHERISHED + b" is here"], "2.log.gz": ACCESS[:300],
                "3.log.gz": ACCESS[300:] + [CHERISHED + b" is here, too"]}
    for name, lines in archives.items():
        with gzip.open(os.path.join(t.folder, name), "wb") as file:
            file.write(join(line for line in lines
                            if field(1)(line) != CHERISHED or b"here" in line))
    t.run()
    t.equal(t.out[1], [CHERISHED + b" is here", CHERISHED + b" is here, too"], "what is found")


# -------------------------------------------------------------------------- dedup


@recipe("bloom-uniq.1", "All that is logged, each message once")
@recipe("sketch.7", "Each line once, as it comes")
def _(t):
    t.run()
    wanted = [first(JOURNAL), first(ACCESS, field(1)), first(ACCESS, field(1, 7))]
    t.equal(t.out, wanted[:len(t.out)], "the first of each")


@recipe("bloom-uniq.1", "The first request of each client")
def _(t):
    t.run()
    t.equal(t.out, [first(ACCESS, field(1)), first(ACCESS, field(1, 7))], "the first of each")


def new_of_two_runs(t):
    t.run()
    t.equal(t.lines("new.log"), first(TODAY), "the first run")
    t.write("today.log", LOG)
    t.run()
    t.equal(t.lines("new.log"), [line for line in first(LOG) if line not in set(TODAY)],
            "the second run")


@recipe("bloom-uniq.1", "What is new since the last run")
@recipe("sketch.7", "What no run before has passed on")
def _(t):
    new_of_two_runs(t)
    t.run()
    t.equal(t.lines("new.log"), [], "a third of the same lines")


@recipe("bloom-uniq.1", "A stream that never ends")
@recipe("sketch.7", "For a stream that never ends:")
def _(t):
    t.run()
    t.equal(t.out[0], first(APP), "the first of each")
    t.run()
    t.equal(t.out[0], [], "a second run")


@recipe("sketch.7", "Each host keeps a state of its own")
def _(t):
    command = sized(t.block.commands()[0][0])
    parts = [BIG[number::3] for number in range(3)]
    for number, lines in enumerate(parts, 1):
        t.write("log", lines)
        t.prepare("%s; mv seen.bloom host%d.bloom" % (command, number))
    t.write("log", LOG)
    t.write("candidates", TODAY + STRANGERS)
    t.run()
    t.equal(t.lines("new"), first(LOG), "one host alone")
    t.whole("all.bloom", BIG)
    t.equal(t.out[2], STRANGERS, "what is new to all")


@recipe("sketch.7", "Within the last million lines, or the last day")
def _(t):
    t.run()
    t.equal(t.out, [first(LOG), first(LOG)], "the first of each")
    t.run()
    t.equal(t.out, [first(LOG), []], "a second run")


@recipe("bloom-uniq.1", "An alert at most once in an hour")
@recipe("sketch.7", "An alert at most once an hour")
def _(t):
    t.run()
    t.equal(t.out[0], first(JOURNAL), "each once")
    # The same by records, which a test can make pass: raised without pause, it is heard
    # again, and never twice within a window.
    command = t.block.commands()[0][0].replace("-n 100k --window 1h", "--window 100")
    t.write("raised", [b"%d" % number if number % 50 else b"disk full"
                       for number in range(1000)])
    heard = [int(number) * 50 for number, line in
             enumerate(split(t.shell(command + " | grep -n disk")[1]))]
    t.holds(1000 // 200 <= len(heard) <= 1000 // 100, "heard %d times" % len(heard))


@recipe("bloom-uniq.1", "The cheap filter before the expensive check")
@recipe("sketch.7", "What is surely new needs no check")
def _(t):
    t.prepare("bloom-uniq --state seen.bloom < today.log > /dev/null")
    t.run()
    before = set(TODAY)
    new = [line for line in first(IN) if line not in before]
    t.equal(t.lines("new"), new, "new ones")
    t.equal(tally(t.out[1]) + tally(new), tally(IN), "what is looked up, and what is new")


@recipe("bloom-uniq.1", "Exactly what awk")
@recipe("sketch.7", "Without an authority the input itself is one")
def _(t):
    t.run()
    t.equal(t.out[1], first(LOG), "each line once")
    # With a filter that is far too small it is exact all the same.
    one, two = (command for command, _ in t.block.commands())
    poor = one.replace("bloom-uniq", "bloom-uniq -n 50 -p 0.5")
    _, out, _ = t.shell("%s 2> ../full; %s" % (poor, two))
    t.equal(split(out), first(LOG), "by a filter that is too small")
    t.holds(len(t.lines("held")) > len(LOG) - len(first(LOG)), "it held back too many")


@recipe("sketch.7", "That prints exactly what")
def _(t):
    t.prepare("bloom-uniq -n 50 -p 0.5 --duplicates held log > /dev/null 2> ../full")
    t.run()
    twice = {line for line, count in tally(LOG).items() if count > 1}
    t.equal(sorted(t.out[0]), sorted(twice), "the lines that repeat")


@recipe("bloom-uniq.1", "How much was repeated")
def _(t):
    t.run(said={0: rb"2000 records"})
    kept = len(first(ACCESS))
    t.holds(b"%d passed, %d held back, of these 0" % (kept, 2000 - kept) in t.err[0], t.err[0])


# -------------------------------------------------------------------------- counts

BY_CLIENT = tally(ACCESS, field(1))
BY_BYTES = tally(ACCESS, quoted(1), lambda line: int(quoted(8)(line).replace(b"-", b"0")))
MESSAGE = from_field(6)


@recipe("cms-count.1", "Each line with the number of times")
@recipe("cms-count.1", "Is every count still exact")
@recipe("cms-top.1", "The same with bounds, by far too small a table")
@recipe("cms-top.1", "What is asked for; a request stands in quotes")
@recipe("cms-top.1", "The busiest clients of a web log")
@recipe("cms-count.1", "Of requests, whose quotes are a part of the key")
@recipe("hll-count.1", "How many clients, how many pages")
@recipe("hll-count.1", "Within which bounds")
def _(t):
    t.prepare("cms-count -f 1 -o day.cms access.log > /dev/null")
    t.run(said={0: b""})
    for (command, shown), out in zip(t.block.commands(), t.out):
        t.holds(shown is not None or command.startswith("cms-count -Qf 6 -o"),
                "%s: the page shows no output" % command)
    if "-W 8" in t.block.text():
        t.top(t.out[1], BY_BYTES, 3)


@recipe("cms-count.1", "At most three lines of each client")
def _(t):
    t.run()
    t.equal(t.out[0], at_most(ACCESS, 3, field(1)), "three of each")


def throttled(t):
    t.run()
    wanted = at_most(SYSLOG, 5, MESSAGE)
    t.equal(t.out[0], wanted, "five of each")
    t.equal(t.out[1], at_most(SYSLOG[:600], 5, MESSAGE), "five of each in the first run")
    t.write("new.log", SYSLOG[600:])
    before = t.out[1]
    t.run()
    t.equal(before + t.out[1], wanted, "five of each in two runs")


@recipe("cms-count.1", "What syslog daemons do by themselves")
@recipe("sketch.7", "Of each message at most five a minute")
def _(t):
    t.write("new.log", SYSLOG[:600])
    throttled(t)


@recipe("cms-count.1", "A client at the moment of its hundredth request")
def _(t):
    often = [line for line in ACCESS if field(1)(line) == b"192.0.2.134"]
    lines = ACCESS + often + ACCESS
    t.write("access.log", lines)
    t.run()
    t.equal(t.out[0], at_most(lines, 100, field(1), least=100), "the hundredth of each")
    t.holds(t.out[0], "there is one")


@recipe("cms-count.1", "Count a day, then ask for some keys")
@recipe("sketch.7", "Count now, ask later")
def _(t):
    t.run()
    t.equal(t.out[0], [], "what is printed as it counts")
    t.equal(t.out[1], [b"%d\t%s" % (BY_CLIENT[key], key) for key in CLIENTS], "counts of keys")
    asked = re.search(r"-e (\S+)", t.block.text())[1].encode()
    t.equal(t.out[2], [b"%d\t%d\t%d\t%s" % (*[BY_CLIENT[asked]] * 3, asked)], "one with bounds")
    if len(t.out) > 3:
        t.top(t.out[3], BY_CLIENT)


@recipe("cms-count.1", "Those of a list that came often on two hosts")
def _(t):
    t.prepare("cms-count -f 1 -o web1.cms access.log > /dev/null\n"
              "for i in $(seq 30); do cat access-1.log; done | cms-count -f 1 -o web2.cms "
              "> /dev/null")
    t.run()
    both = tally(ACCESS + 30 * BEFORE, field(1))
    t.equal(t.out[0], [b"%d\t%s" % (both[key], key) for key in CLIENTS if both[key] >= 1000],
            "those that came often")
    t.holds(t.out[0], "there are some")


@recipe("cms-count.1", "Count for ever, from run to run, bytes")
def _(t):
    t.run()
    t.run()
    _, out, _ = t.shell("cms-count --query bytes.cms clients")
    t.equal(split(out), [b"%d\t%s" % (2 * BY_BYTES[key], key) for key in CLIENTS],
            "bytes of two runs")


@recipe("cms-top.1", "Paths with a twentieth of all requests")
def _(t):
    t.run()
    t.equal(t.out[0], [b"%d\t%s" % (count, key) for key, count in tally(ACCESS, field(7)).items()
                       if count >= 100], "a twentieth or more")
    _, out, _ = t.shell("cut -d ' ' -f 7 access.log | sort | uniq -c | sort -rn | head")
    t.top(t.out[1], tally(ACCESS, field(7)))
    t.equal([line.split()[0] for line in t.out[1]], [line.split()[0] for line in split(out)],
            "the counts of sort | uniq -c")
    t.equal({line.index(line.split()[1]) for line in t.out[1]},
            {line.index(line.split()[1]) for line in split(out)}, "the column of the keys")


@recipe("cms-top.1", "The heaviest of the last thousand requests only")
def _(t):
    t.run()
    t.top(t.out[2], BY_CLIENT)


@recipe("sketch.7", "Within the last five minutes, as saved")
def _(t):
    t.write("new.log", BEFORE)
    t.run()
    t.top(t.out[1], BY_CLIENT)
    rounded = [line.replace(b".000", b"") for line in t.out[2]]
    t.top(rounded, tally(BEFORE, field(1)))


@recipe("cms-top.1", "What comes most just now, by the second")
@recipe("cms-top.1", "The same of the last five minutes only; and")
@recipe("sketch.7", "Live, redrawn each second")
@recipe("sketch.7", "While they come, in place of")
def _(t):
    t.run()
    t.top(t.out[0], tally(ACCESS, quoted(6)) if "-Qf 6" in t.block.text() else BY_CLIENT)
    if len(t.out) > 1:
        t.top(t.lines("blocks")[-10:], BY_CLIENT)


@recipe("cms-top.1", "Three hosts, one answer")
@recipe("sketch-merge.1", "The busiest clients of three hosts")
def _(t):
    t.prepare("for h in web1 web2 web3; do\n"
              "cms-top -k 0 -f 1 -o $h.cms ../hosts/$h/access.log; done")
    t.run()
    together = [line for lines in HOSTS.values() for line in lines]
    t.top(t.out[2 if "ssh" in t.block.text() else 1], tally(together, field(1)))
    if "total" in t.block.text():
        t.equal(t.out[2], [b"total\t%d" % len(together)], "the total")


@recipe("cms-top.1", "Of all runs since the file was made")
@recipe("sketch.7", "From run to run, added up in one file")
def _(t):
    t.run()
    t.run()
    t.top(t.out[0], tally(ACCESS + ACCESS, field(1)))


@recipe("sketch.7", "codes of status for a machine to read")
def _(t):
    t.run()
    t.top(t.out[0], BY_CLIENT)
    t.top(t.out[1], BY_BYTES)
    fields = [line.split(b"\t") for line in t.out[2]]
    t.top([count + b"\t" + key for count, _, _, key in fields], tally(ACCESS, field(7)), 100)
    t.holds(all(low == count == high for count, low, high, _ in fields), "bounds of exact ones")
    codes = tally(ACCESS, field(9))
    t.equal([(row["key"].encode(), row["count"], row["share"]) for row in
             map(json.loads, t.out[3])],
            [(key, count, count / 2000) for key, count in codes.most_common() if count >= 20],
            "objects")


@recipe("sketch.7", "what stands in quotes is one field")
def _(t):
    t.run()
    t.top(t.out[0], tally(ACCESS, quoted(6)))
    t.top(t.out[1], tally(ACCESS, quoted(10)), 20)
    t.equal(t.out[2], first(ACCESS, quoted(1, 10)), "the first of each pair")
    t.top(t.out[3], tally(TABLE, lambda line: line.split(b",")[3]))


@recipe("sketch.7", "At most three of each line in a run")
def _(t):
    t.write("app.log", APP * 5)
    t.run()
    t.equal(t.out[0], at_most(APP * 5, 3), "three of each")
    tenth = []
    seen = collections.Counter()
    for line in AUTH:
        failed = re.search(rb"Failed password for .* from (\S+) port", line)
        if failed:
            seen[failed[1]] += 1
            tenth += [failed[1]] if seen[failed[1]] == 10 else []
    t.equal(t.out[1], tenth, "the addresses, once each")
    t.holds(len(tenth) > 2, "there are some")


@recipe("sketch.7", "Give all of them the same options", needs=("parallel",))
def _(t):
    t.run()
    t.top(t.out[3], tally(ACCESS + BEFORE, field(1)))


@recipe("sketch.7", "A first pass finds the keys that can be heavy")
def _(t):
    t.run()
    t.top(t.out[1], BY_CLIENT)


# -------------------------------------------------------------- numbers of distinct


@recipe("hll-count.1", "A sketch for each day, and the visitors of the week")
@recipe("sketch.7", "Visitors of a day, and of a week")
def _(t):
    t.prepare("hll-count -q -f 1 -o tue.hll access-1.log\n"
              "hll-count -q -o wed.hll users.txt")
    t.run()
    day = b"%d" % len(BY_CLIENT)
    week = b"%d" % (len(tally(ACCESS + BEFORE, field(1))) + len(USERS))
    t.equal(t.out[0], [day], "of a day")
    t.equal(t.out[-1], [b"\t".join([week] * 3) if "--bounds" in t.block.text() else week],
            "of the week")


@recipe("hll-count.1", "Visitors ever")
def _(t):
    t.run()
    t.write("access.log", BEFORE)
    t.run()
    t.equal(t.out[0], [], "what is printed")
    t.equal(split(t.shell("hll-count --query ever.hll")[1]),
            [b"%d" % len(tally(ACCESS + BEFORE, field(1)))], "of both runs")


@recipe("hll-count.1", "Pairs of client and page")
def _(t):
    t.run()
    t.equal(t.out[0], [b"%d" % len(tally(ACCESS, field(1, 7)))], "pairs")


# -------------------------------------------------------------------- plans and facts


@recipe("fpr-calc.1", "How large is a filter")
@recipe("fpr-calc.1", "A classic filter of six megabytes")
@recipe("fpr-calc.1", "The best k for that size")
@recipe("fpr-calc.1", "How many keys fit into six megabytes")
@recipe("fpr-calc.1", "Ten bits a key and three hashes")
@recipe("fpr-calc.1", "The number of keys doubles")
@recipe("fpr-calc.1", "Two bits, two hashes, one key")
@recipe("fpr-calc.1", "Is it true?")
@recipe("fpr-calc.1", "A count-min sketch whose counts are right")
def _(t):
    t.run()
    t.holds(all(shown for _, shown in t.block.commands()), "all show what they print")


@recipe("fpr-calc.1", "In a script, make a filter")
def _(t):
    t.run(free="100000")
    t.has("keys.bloom", BIG)
    size = os.path.getsize(os.path.join(t.folder, "keys.bloom"))
    t.prepare("rm keys.bloom")
    last = len(t.block.commands()) - 1
    t.run(statuses={last: 1}, free="%d" % (size // 2))
    t.holds(not os.path.exists(os.path.join(t.folder, "keys.bloom")), "none where it is too large")


@recipe("sketch-info.1", "All filters of a folder")
@recipe("sketch-info.1", "Only the rates")
def _(t):
    t.prepare("bloom-build -n 1k -o one.bloom users.txt; bloom-build -n 1k -o two.bloom keys.txt")
    t.run()
    t.equal([line for line in t.out[0] if line.startswith(b"file")],
            [b"file\tone.bloom", b"file\ttwo.bloom"], "both")
    rates = [float(line.split(b"\t")[1]) for line in t.out[0] if line.startswith(b"rate")]
    t.holds(len(rates) == 2 and rates[0] < rates[1] <= 0.0101, "rates %r" % rates)


@recipe("sketch-info.1", "In a nightly job, say so")
def _(t):
    t.prepare("bloom-build -n 1k -o seen.bloom users.txt")
    t.run()
    t.holds(not os.path.exists(os.path.join(t.folder, "mailed")), "no mail while there is room")
    t.prepare("bloom-build -n 100 -o seen.bloom users.txt 2> ../past")
    t.run()
    t.holds(b"past_capacity\tyes" in t.lines("mailed"), "what the mail says")


@recipe("sketch-info.1", "How large is the sum of all counts")
def _(t):
    t.prepare("cms-count -f 1 -o day.cms access.log > /dev/null")
    t.run()
    t.equal(t.out[0], [b"total\t2000", b"exact\tyes", b"floor\t0"], "the facts")


# ----------------------------------------------------------- parts, hosts, processors


@recipe("sketch-merge.1", "The week from its days")
def _(t):
    for number, day in enumerate(("mon", "tue", "wed"), 1):
        t.prepare("bloom-build -n 5k -o %s.bloom day-%d.log" % (day, number))
    t.run()
    t.whole("week.bloom", ACCESS + BEFORE)


@recipe("sketch-merge.1", "Add today's to all that were before")
def _(t):
    t.prepare("bloom-build -n 5k -o all.bloom big.log; bloom-build -n 5k -o today.bloom keys.txt")
    t.run()
    t.whole("all.bloom", BIG + STRANGERS)


@recipe("sketch-merge.1", "How many different keys do all hosts")
def _(t):
    t.prepare("for h in 1 2 3; do\n"
              "bloom-build -n 5k -f 1 -o host$h.bloom ../hosts/web$h/access.log; done")
    t.run()
    name, count = t.out[0][0].split(b"\t")
    t.equal(name, b"distinct", "the name")
    t.near(int(count), len(tally(ACCESS + BEFORE, field(1))), "distinct")


@recipe("sketch-merge.1", "A filter made by all processors", needs=("parallel",))
@recipe("sketch.7", "GNU parallel cuts a file at ends of lines", needs=("parallel",))
def _(t):
    t.run()
    t.whole("big.bloom", BIG)


@recipe("sketch.7", "share their work out among threads")
def _(t):
    t.prepare("bloom-build -n 5k -p 1e-6 -o known.bloom log")
    t.run()
    t.whole("big.bloom", BIG)
    t.equal(t.lines("new.log"), [line for line in BIG if line not in set(LOG)], "new ones")


@recipe("sketch.7", "questions are dealt out in the same way", needs=("parallel",))
def _(t):
    t.prepare("bloom-build -n 5k -p 1e-6 -o known.bloom log")
    t.write("big.log", [b"new %s" % line if number % 5 else line
                        for number, line in enumerate(BIG)])
    t.run()
    known = set(LOG)
    t.equal(t.out[0], [line for line in t.lines("big.log") if line not in known], "in order")


@recipe("sketch.7", "Files go out and filters come back", needs=("parallel", "rsync"))
def _(t):
    t.run()
    t.whole("days.bloom", ACCESS + BEFORE, "-f 1")
    t.whole("hosts.bloom", ACCESS + BEFORE, "-f 1")
    left = [name for host in HOSTS for name in os.listdir(os.path.join(t.root, "hosts", host))]
    t.equal(left, ["access.log"] * len(HOSTS), "what is left on the hosts")


@recipe("sketch.7", "Of a file let each process take", needs=("parallel",))
def _(t):
    t.run()
    t.equal(t.lines("new.log"), first(BIG), "each line once, in order")


@recipe("sketch.7", "Then all lines of a key must come to the same", needs=("parallel",))
def _(t):
    # "parallel --shard cat", too, is at times found waiting when its work is done.
    t.patience = 10 * slow()
    for _ in range(5):
        t.faults = []
        t.run()
        if not any("took more than" in fault for fault in t.faults):
            break
    t.holds(set(t.out[0]) <= set(ACCESS), "lines of the input")
    t.equal(tally(t.out[0], field(1)), tally(BY_CLIENT), "one of each client")
    t.equal(sorted(t.out[1]), sorted(first(LOG)), "each line once")


@recipe("sketch.7", "Have one filter for all, asked by all processors")
def _(t):
    new_of_two_runs(t)
    t.has("seen.bloom", LOG)


@recipe("sketch.7", "A Slurm array")
def _(t):
    for part in ("00", "07", "99"):
        t.write("logs/%s.log" % part, [part.encode()] + BIG)
    os.mkdir(os.path.join(t.folder, "parts"))
    for task in ("0", "7", "99"):
        t.run(SLURM_ARRAY_TASK_ID=task)
    t.equal(sorted(os.listdir(os.path.join(t.folder, "parts"))),
            ["00.bloom", "07.bloom", "99.bloom"], "the parts")
    t.whole("parts/07.bloom", [b"07"] + BIG)


@recipe("sketch.7", "A file appears only when it is complete")
def _(t):
    t.prepare("mkdir parts\nfor i in 1 2 3; do\n"
              "bloom-build -n 5k -o parts/$i.bloom day-$i.log; done")
    t.run()
    t.whole("all.bloom", ACCESS + BEFORE)


@recipe("sketch.7", "each mapper puts its own into the file system")
def _(t):
    t.run(stdin=join(LOG), mapreduce_task_id="task_7")
    t.whole("../hdfs/filters/task_7.bloom", LOG)


@recipe("sketch.7", "Hadoop streaming")
def _(t):
    for number in range(3):
        t.write("../hdfs/logs/%d" % number, BIG[number::3])
    with open(os.path.join(t.folder, "mapper.sh"), "w") as file:
        file.write(sized(t.text_of("each mapper puts its own")))
    t.run()
    t.whole("all.bloom", BIG)
    t.equal(t.shell("cat ../hdfs/filters.log/part-*")[1], b"", "records that come out")


# ----------------------------------------------------------------- figures in the text


def expected_of(page):
    return [entry for entry in EXPECTATIONS if entry[0] == page]


def check_block(block, number, siblings):
    title = "%s: %s" % (block.page, block.name[-70:])
    fitting = [entry for entry in expected_of(block.page) if entry[1] in block.name]
    if len(fitting) != 1:
        check(False, title, "%d expectations of this block in recipes.py" % len(fitting),
              block.text())
        return None
    _, _, needs, function = fitting[0]
    missing = [program for program in needs if lacking(program)]
    if missing:
        skip(title, "no " + " and no ".join(missing))
        return fitting[0]
    recipe_ = Recipe(block, number, siblings)
    try:
        function(recipe_)
    except Exception as error:  # an output of another shape is a fault, not the end
        recipe_.faults.append("%s: %s" % (type(error).__name__, error))
    if check(not recipe_.faults, title, *recipe_.faults):
        shutil.rmtree(recipe_.root)
    return fitting[0]


def check_sizing():
    """The figures of "Sizing" in sketch(7) are those of fpr-calc."""
    with open(os.path.join(TOP, "man", "sketch.7")) as file:
        text = " ".join(file.read().split())

    def calc(words, what):
        done = subprocess.run(["fpr-calc", *words.split(), "--print", what],
                              capture_output=True, check=True)
        return float(done.stdout)

    found = re.search(r"a million keys take ([\d.]+) megabytes at 0.01, ([\d.]+) at 0.001, "
                      r"([\d.]+) at 1e-6", text)
    sizes = ["%.1f" % (calc("-n 1M -p " + rate, "bytes") / 1e6)
             for rate in ("0.01", "0.001", "1e-6")]
    check(found and list(found.groups()) == sizes, "sketch.7: megabytes for a million keys",
          found and found.groups(), sizes)
    found = re.search(r"at twice n 0.01 has become ([\d.]+)", text)
    rate = calc("-n 1M -p 0.01 --what-if n=2M", "what_if_rate")
    check(found and found[1].rstrip(".") == "%.2f" % rate, "sketch.7: the rate at twice n",
          found and found[1], rate)
    found = re.search(r"a megabyte, the default, means (\d+) in a million", text)
    epsilon = calc("--cms --size 1MiB --depth 3", "epsilon")
    check(found and int(found[1]) == round(epsilon * 1e6), "sketch.7: the error of counts",
          found and found[1], epsilon)


os.mkdir("stubs")
for stub in STUBS:
    os.symlink(os.path.join(HELPER, "recipe-stub"), os.path.join("stubs", stub))
met, total = [], 0
for path in sorted(glob.glob(os.path.join(TOP, "man", "*.[17]"))):
    page = os.path.basename(path)
    if not page.startswith("sketch-speed"):
        found = manual.blocks(path, page, lambda section: section in SECTIONS)
        for block in found:
            total += 1
            met.append(check_block(block, total, found))
for entry in EXPECTATIONS:
    if entry not in met:
        check(False, "%s has a block '%s'" % entry[:2])
check(total > 80, "many blocks were found", total)
# Else nothing would be held back, and half of the recipes would prove nothing.
for lines in (LOG, TODAY, IN, JOURNAL, ACCESS, APP):
    check(len(first(lines)) < len(lines), "data repeats", lines[0])
check(len(at_most(SYSLOG, 5, MESSAGE)) < len(at_most(SYSLOG, 6, MESSAGE)), "messages are many")
check_sizing()
done()
