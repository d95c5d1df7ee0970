"""watch_terminal.py - cms-top --watch on a terminal: what is sent, and what is seen in tmux"""

import contextlib
import fcntl
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time

from common import ENVIRONMENT, check, done, finish, restore_signals, run, skip, slow, spawn
from common import open_terminal, wait_until

ENTER = b"\033[?1049h\033[?7l\033[?25l"
LEAVE = b"\033[?25h\033[?7h\033[?1049l"


class Terminal:
    """A command on a terminal of its own, which it controls."""

    def __init__(self, arguments, stdin=subprocess.PIPE, columns=80, lines=24, **variables):
        environment = {name: value for name, value in ENVIRONMENT.items()
                       if name not in ("TERM", "NO_COLOR", "COLUMNS")}
        environment.update(variables)
        self.master, self.slave = open_terminal()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

        def begin():
            restore_signals()
            os.setsid()
            fcntl.ioctl(1, termios.TIOCSCTTY, 0)

        self.process = spawn(arguments, stdin=self.slave if stdin is None else stdin,
                             stdout=self.slave, stderr=self.slave, env=environment,
                             preexec_fn=begin)
        self.text = b""
        os.set_blocking(self.master, False)

    def read(self, condition, seconds=5.0):
        """Reads until what is there is enough; whether it was."""
        def enough():
            with contextlib.suppress(OSError):
                while piece := os.read(self.master, 65536):
                    self.text += piece
            return condition(self.text)
        return wait_until(enough, seconds * slow())

    def end(self):
        if self.process.stdin:
            self.process.stdin.close()
        result = finish(self.process)
        self.read(lambda text: False, 0.1 / slow())
        for descriptor in (self.master, self.slave):
            os.close(descriptor)
        return result


def frames_of(text):
    return text.split(b"\033[H")[1:]


# ---- what is sent
terminal = Terminal(["cms-top", "--watch=0.2"], TERM="xterm", LC_ALL="C.UTF-8")
terminal.process.stdin.write(b"a\nb\na\n")
drawn = terminal.read(lambda text: text.count(b"\033[H") >= 4)
result = terminal.end()
text = terminal.text
check(drawn and text.startswith(ENTER + b"\033[H") and text.count(ENTER) == 1,
      "the screen is taken once, by the first frame", text[:200])
head, _, last = text.partition(LEAVE)
check(last == b"        2   66.7 %  \033[36m" + "█".encode() * 19 + b"\033[m  a\r\n"
      + b"        1   33.3 %  \033[36m" + "█".encode() * 9 + "▌".encode() + b"\033[m" + b" " * 9
      + b"  b\r\n", "and given back before the list, which is that without --watch", last)
check(b"\033[2J" not in text and head.count(b"\033[J") == len(frames_of(text)),
      "frames are drawn over each other, and only what is below is erased", text)
lines = frames_of(head)[2].split(b"\r\r\n")
check(len(lines) == 4 and all(line.endswith(b"\033[K") for line in lines[:3]),
      "a line each, with the rest of the old one erased", lines)
check(re.fullmatch(rb"3 records, \+0 in 0\.\d s; 2 keys, every count exact\033\[K", lines[0])
      is not None, "what has been read, and what it means", lines[0])

# ---- of what the total is, where counts forget
for option, said in (("--window=300s", rb", last 5min: 3"),
                     ("--decay=60min", rb", half-life 1h: 3"),
                     ("--window=2", rb", last 2 records: 2")):
    terminal = Terminal(["cms-top", "--watch=0.2", option], TERM="xterm")
    terminal.process.stdin.write(b"a\nb\na\n")
    wanted = re.compile(rb"\033\[H3 records" + said + rb", \+0 in ")
    drawn = terminal.read(lambda text, wanted=wanted: wanted.search(text) is not None)
    terminal.end()
    check(drawn, "the title says what " + option + " counts", terminal.text)

for variables, colours in (({"TERM": "xterm", "NO_COLOR": "1"}, False),
                           ({"TERM": "xterm", "NO_COLOR": ""}, True)):
    terminal = Terminal(["cms-top", "--watch=0.2"], **variables)
    terminal.process.stdin.write(b"a\nb\na\n")
    drawn = terminal.read(lambda text: text.count(b"\033[H") >= 2)
    terminal.end()
    check(drawn and (b"\033[36m" in terminal.text) == colours and b"\xe2" not in terminal.text
          and b"####" in terminal.text, "colours where the environment is %r" % variables,
          terminal.text)
for variables in ({"TERM": "dumb"}, {"TERM": ""}, {}):
    terminal = Terminal(["cms-top", "--watch=0.2"], **variables)
    terminal.process.stdin.write(b"a\nb\na\n")
    block = b"        2   66.7 %  ###################  a\r\n        1   33.3 %  ##########"
    drawn = terminal.read(lambda text: text.count(b"\r\n\r\n" + block) >= 2)
    terminal.end()
    check(drawn and terminal.text.startswith(block) and b"\033" not in terminal.text,
          "blocks where the cursor cannot be moved: %r" % variables, terminal.text)
for options in (["--json"], ["--pad"]):
    terminal = Terminal(["cms-top", "--watch=0.2", *options], TERM="xterm")
    terminal.process.stdin.write(b"a\nb\na\n")
    drawn = terminal.read(lambda text: text.count(b"\r\n\r\n") >= 2)
    terminal.end()
    check(drawn and b"\033" not in terminal.text, "blocks by " + options[0], terminal.text)

# ---- what changed since the frame before
FRAME_ROW = re.compile(rb"^ *\d+ +([\d,]+) +[\d.]+ %  #+ +((?:[+-][\d,]+|new)?)  (\w+)\033\[K",
                       re.M)


def frames_with_changes(text):
    """Of each frame the count and the change of each key."""
    return [{key: (int(count.replace(b",", b"")), change)
             for count, change, key in FRAME_ROW.findall(frame)}
            for frame in frames_of(text.partition(LEAVE)[0])]


terminal = Terminal(["cms-top", "--watch=0.2"], TERM="xterm", NO_COLOR="1")
rng = random.Random(5)
end = time.monotonic() + 2
while time.monotonic() < end:
    terminal.process.stdin.write(b"%c\n" % rng.choice(b"abcdefgh"))
    terminal.process.stdin.write(b"heavy\n" * rng.randrange(3000))
    terminal.read(lambda text: False, 0.03 / slow())
terminal.end()
frames = frames_with_changes(terminal.text)
wrong, changes = [], set()
for before, now in zip(frames, frames[1:]):
    for key, (count, change) in now.items():
        more = count - before.get(key, (0, b""))[0]
        changes.add(change)
        if change != (b"+" + f"{more:,}".encode() if more else b""):
            wrong.append((key, before.get(key), now[key]))
check(not wrong and len(frames) >= 8 // slow() and b"" in changes and b"+1" in changes
      and any(b"," in change for change in changes),
      "a change is the difference to the frame before", wrong, len(frames), changes)
check(all(change == b"" for _, change in frames[0].values()), "the first has none", frames[0])

terminal = Terminal(["cms-top", "--watch=0.2", "-k", "5"], TERM="xterm", NO_COLOR="1")
terminal.process.stdin.write(b"".join(b"k%d\n" % i for i in range(5000)))
terminal.read(lambda text: b"5,000 records, +0 in" in text)
terminal.process.stdin.write(b"fresh\n" * 100)
terminal.read(lambda text: b"  fresh" in text)
terminal.end()
shown = [frame[b"fresh"] for frame in frames_with_changes(terminal.text) if b"fresh" in frame]
check(shown and shown[0] == (100, b"new") and b"1,000 keys tracked, floor " in terminal.text,
      "a key that was not known before is new, where not all are", shown, terminal.text[-600:])

# Frames come at 0.1 s, 3.1 s and so on; the one after a resize is between two of them.
terminal = Terminal(["cms-top", "--watch=3"], TERM="xterm", NO_COLOR="1")
terminal.process.stdin.write(b"a\n")
terminal.read(lambda text: b"  a" in text)
terminal.process.stdin.write(b"a\n" * 5)
terminal.read(lambda text: b"+5  a" in text)
before = len(frames_of(terminal.text))
fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 70, 0, 0))
terminal.read(lambda text: len(frames_of(text)) > before and text.endswith(b"\033[J"))
terminal.end()
shown = [frame.get(b"a") for frame in frames_with_changes(terminal.text)]
check(shown[before - 1:before + 1] == [(6, b"+5"), (6, b"+5")],
      "a frame after a resize shows the same changes again", shown, terminal.text)

# A window of a few lines has keys first, then what is read, then the names of the columns.
for lines, texts in ((1, [b"  a"]), (2, [b"4 records", b"  a"]),
                     (3, [b"4 records", b"  a", b"  b"]),
                     (4, [b"4 records", b"  key", b"  a", b"  b"])):
    terminal = Terminal(["cms-top", "--watch=0.2"], lines=lines, TERM="xterm", NO_COLOR="1")
    terminal.process.stdin.write(b"a\nb\na\nc\n")
    terminal.read(lambda text: len(frames_of(text)) >= 4)
    terminal.end()
    shown = frames_of(terminal.text)[2].split(b"\r\r\n")
    check(len(shown) == lines and all(text in line for text, line in zip(texts, shown)),
          "a window of %d lines" % lines, shown)

# ---- an input that ends before there is anything to see
terminal = Terminal(["cms-top", "--watch"], TERM="xterm", NO_COLOR="1")
terminal.process.stdin.write(b"a\n")
result = terminal.end()
check(result.status == 0 and b"\033" not in terminal.text
      and terminal.text == b"        1  100.0 %  ###################  a\r\n",
      "a short input takes no screen", terminal.text)

# ---- the terminal as the input
terminal = Terminal(["cms-top", "--watch=0.2"], stdin=None, TERM="xterm")
before = termios.tcgetattr(terminal.slave)
terminal.read(lambda text: b"\033[H" in text)
os.write(terminal.master, b"typed\ntyped\n")
drawn = terminal.read(lambda text: re.search(rb" 2 .*  typed\033", text) is not None)
modes = termios.tcgetattr(terminal.slave)
os.write(terminal.master, b"\x04")
ended = wait_until(lambda: terminal.process.poll() is not None, 5 * slow())
terminal.end()
check(drawn and modes == before and ended and terminal.process.returncode == 0,
      "what is typed is read in lines, and the terminal's modes are left alone", terminal.text)

# ---- messages last
os.mkfifo("later")
terminal = Terminal(["cms-top", "--watch=0.2", "-", "missing", "later"], TERM="xterm")
terminal.process.stdin.write(b"a\n")
terminal.read(lambda text: b"\033[H" in text)
terminal.process.stdin.close()
with open("later", "wb", buffering=0) as later:
    later.write(b"b\n")
    again = terminal.read(lambda text: text.count(ENTER) == 2 and b"b\033" in text)
terminal.process.stdin = None
result = terminal.end()
shown = terminal.text
check(again and LEAVE + b"cms-top: missing: No such file or directory\r\n" + ENTER in shown
      and result.status == 2, "a message is written to the screen that stays", shown)

# ---- the terminal hangs up
terminal = Terminal(["cms-top", "--watch=0.2", "-o", "hangup.cms"], TERM="xterm")
terminal.process.stdin.write(b"a\nb\na\n")
terminal.read(lambda text: b"a\033" in text)
os.close(terminal.slave)
os.close(terminal.master)
ended = wait_until(lambda: terminal.process.poll() is not None, 5 * slow())
check(ended and terminal.process.returncode == -signal.SIGHUP,
      "a terminal that hangs up ends it by the signal", terminal.process.returncode)
check(run(["cms-top", "--query", "hangup.cms"]).out == b"2\ta\n1\tb\n", "with the file saved")


# ---- what is seen
class Tmux:
    """A shell in a window of its own server."""

    def __init__(self, columns, lines):
        self.folder = tempfile.mkdtemp(prefix="watch.", dir="/tmp")
        self.environment = dict(ENVIRONMENT, LC_ALL="C.UTF-8")
        self.environment.pop("TMUX", None)
        self.ask("new-session", "-d", "-x", str(columns), "-y", str(lines),
                 "bash --norc --noprofile")
        self.type("PS1='$ '; clear", "Enter")
        self.seen(lambda lines: lines == ["$"])

    def ask(self, *words):
        command = ["tmux", "-u", "-f", "/dev/null", "-S", self.folder + "/socket", *words]
        return subprocess.run(command, env=self.environment, capture_output=True, check=False,
                              encoding="utf-8", errors="replace").stdout

    def type(self, *keys):
        self.ask("send-keys", *keys)

    def lines(self):
        return self.ask("capture-pane", "-p").rstrip("\n").split("\n")

    def seen(self, condition, seconds=5):
        return wait_until(lambda: condition(self.lines()), seconds * slow(), 0.05)

    def is_clean(self):
        """Cursor shown, lines wrap, no alternate screen."""
        asked = "#{cursor_flag} #{wrap_flag} #{alternate_on}"
        return self.ask("display-message", "-p", asked).strip() == "1 1 0"

    def end(self):
        self.ask("kill-server")
        shutil.rmtree(self.folder, ignore_errors=True)


KEYS = {b"/index.html": 5000, "/漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字".encode(): 2500,
        b"/\033[31mred\007": 1250, b"/" + b"long" * 100: 625, "/e\u0301\u00e9".encode(): 300,
        b"/\377\376bytes": 150}
TOTAL = sum(KEYS.values())
ROW = re.compile(r" +(\d+) +([\d,]+) +(\d+\.\d) %  ([█▏▎▍▌▋▊▉]*) +((?:[+-][\d,]+|new)?)  (\S.*)")


def columns_of(line):
    wide = sum(1 for c in line if "\u1100" <= c <= "\u115f" or "\u3000" <= c <= "\ud7a3")
    return len(line) + wide - line.count("\u0301")


def faults_of(lines, columns, rows):
    """What is wrong with a screen of so many columns that shows all keys."""
    faults = []
    if not re.match(r"[\d,]+ records", lines[0]) or not lines[1].endswith("key"):
        faults.append("above: %r" % lines[:2])
    table = [line for line in lines[2:] if line != ""]
    if len(table) != rows or "" in lines[2:2 + rows]:
        faults.append("%d rows" % len(table))
    keys = set()
    for line in table:
        match = ROW.fullmatch(line)
        if not match or columns_of(line) > columns - 1:
            faults.append("row: %r" % line)
            continue
        keys.add(columns_of(line[:match.start(6)]))
    if len(keys) > 1 or (keys and keys.pop() != len(lines[1]) - 3):
        faults.append("keys are not in a column")
    counts = [int(ROW.fullmatch(line)[2].replace(",", "")) for line in table
              if ROW.fullmatch(line)]
    if counts != sorted(counts, reverse=True):
        faults.append("not by count: %r" % counts)
    return faults


def start(tmux, command):
    """Runs a command in the shell that reads what is written to the pipe it gives."""
    with contextlib.suppress(FileExistsError):
        os.mkfifo("feed")
    tmux.type("clear; cd %s; %s" % (os.getcwd(), command), "Enter")
    return open("feed", "wb", buffering=0)


def feed(pipe):
    pipe.write(b"".join((key + b"\n") * count for key, count in KEYS.items()))


def full(lines, columns, times):
    text = "\n".join(lines)
    return f"{times * 5000:,} " in text and not faults_of(lines, columns, len(KEYS))


def see_live(columns):
    tmux = Tmux(columns, 24)
    with start(tmux, "cms-top --watch=0.3 feed") as pipe:
        feed(pipe)
        shown = tmux.seen(lambda lines: full(lines, columns, 1))
        lines = tmux.lines()
        check(shown, "%d columns: rows in columns, none too wide" % columns,
              *faults_of(lines, columns, len(KEYS)), *lines)
        text = "\n".join(lines)
        check("\\033[31mred\\007" in text and "\\377\\376bytes" in text and "e\u0301\u00e9" in text
              and re.search("longlong.*…$", text, re.M) is not None
              and ("漢字" * 10 in text) == (columns > 100),
              "%d columns: control bytes escaped, long keys cut" % columns, *lines)
        feed(pipe)
        shown = tmux.seen(lambda lines: full(lines, columns, 2))
        check(shown, "%d columns: what came since is added" % columns, *tmux.lines())
        for other, lines in ((130, 24), (60, 10), (columns, 24)):
            tmux.ask("resize-window", "-x", str(other), "-y", str(lines))
            shown = tmux.seen(lambda lines, other=other: full(lines, other, 2))
            check(shown, "resized to %d columns: redrawn, with nothing left over" % other,
                  *faults_of(tmux.lines(), other, len(KEYS)), *tmux.lines())
        tmux.ask("resize-window", "-x", str(columns), "-y", "5")
        check(tmux.seen(lambda lines: not faults_of(lines, columns, 3)),
              "a window of five lines shows the first three", *tmux.lines())
        tmux.ask("resize-window", "-x", str(columns), "-y", "24")
        tmux.seen(lambda lines: full(lines, columns, 2))
        tmux.type("C-z")
        stopped = tmux.seen(lambda lines: any("Stopped" in line for line in lines))
        check(stopped and tmux.is_clean() and not any("█" in line for line in tmux.lines()),
              "stopped, it leaves the screen to the shell", *tmux.lines())
        tmux.type("bg", "Enter")
        time.sleep(0.7)
        check(tmux.is_clean() and not any("█" in line for line in tmux.lines()),
              "in the background it draws nothing", *tmux.lines())
        tmux.type("fg", "Enter")
        check(tmux.seen(lambda lines: full(lines, columns, 2)), "and goes on drawing",
              *tmux.lines())
        tmux.type("C-c")
        tmux.seen(lambda lines: lines[-1:] == ["$"])
        lines = [line for line in tmux.lines() if line != ""]
        check(tmux.is_clean(), "ended, it leaves a cursor and lines that wrap")
        table = lines[-1 - len(KEYS):-1]
        check([re.match(" +([0-9,]+) ", line)[1] for line in table]
              == [f"{2 * count:,}" for count in KEYS.values()]
              and all(columns_of(line) < columns for line in table),
              "and the list, as without --watch", *lines)
        check(not any("records" in line for line in lines), "and nothing of what it drew", *lines)
    tmux.end()


def see_plain(columns):
    """The list on a terminal without --watch."""
    tmux = Tmux(columns, 24)
    with start(tmux, "cms-top feed") as pipe:
        feed(pipe)
    tmux.seen(lambda lines: lines[-1:] == ["$"] and len(lines) > len(KEYS))
    lines = tmux.lines()[-1 - len(KEYS):-1]
    table = [re.fullmatch(r" +([\d,]+) +(\d+\.\d) %  ([█▏▎▍▌▋▊▉]*) *  (\S.*)", line)
             for line in lines]
    check(all(table) and len({columns_of(row.string[:row.start(4)]) for row in table}) == 1
          and max(map(columns_of, lines)) == columns - 1,
          "%d columns, without --watch: as wide as the window, in columns" % columns, *lines)
    check([(row[1], row[2]) for row in table if row]
          == [(f"{count:,}", "%.1f" % (100 * count / TOTAL)) for count in KEYS.values()],
          "%d columns: counts in groups, and shares" % columns, *lines)
    bars = [len(row[3].rstrip("▏▎▍▌▋▊▉")) for row in table if row]
    check(bars[0] > 10 and all(abs(bar - bars[0] * count / 5000) <= 1
                               for bar, count in zip(bars, KEYS.values())),
          "%d columns: bars by count" % columns, *lines)
    tmux.end()


if shutil.which("tmux") is None:
    skip("what is seen on a terminal", "no tmux")
else:
    for width in (80, 200):
        see_live(width)
        see_plain(width)
done()
