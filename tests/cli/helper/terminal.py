"""terminal.py - what is different on a terminal, and what is not"""

import contextlib
import json
import os
import select
import time

from common import ENVIRONMENT, check, done, finish, is_clean, open_terminal
from common import restore_signals, run, spawn


def read_terminal(master, seconds, until=None):
    """What appears within so many seconds, or until some bytes did."""
    text, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        ready, _, _ = select.select([master], [], [], max(0, end - time.monotonic()))
        if not ready:
            break
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
        if until is not None and until in text:
            break
    return text


def on_terminal(arguments, streams, stdin=b"", seconds=0.0, **variables):
    """Runs a command with some of its streams on a terminal; the rest are pipes.

    Its input is held open for so many seconds.  Gives the status, what the terminal
    showed, and what the pipes took."""
    master, slave = open_terminal()
    options = {stream: slave for stream in streams}
    options["env"] = dict(ENVIRONMENT, **variables)
    process = spawn(arguments, preexec_fn=restore_signals, start_new_session=True, **options)
    os.close(slave)
    shown = b""
    if "stdin" not in streams:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(stdin)
        end = time.monotonic() + seconds
        while time.monotonic() < end and process.poll() is None:
            shown += read_terminal(master, 0.1)
            try:
                process.stdin.write(stdin)
            except BrokenPipeError:
                break
        process.stdin.close()
    result = finish(process)
    shown += read_terminal(master, 0.2)
    os.close(master)
    return result, shown


run(["bloom-build", "-n", "10", "-p", "1e-9", "-o", "t.bloom"], b"alice\nbob\n")

# ---- binary never goes to a terminal
for arguments in (["bloom-build", "-n", "10"], ["bloom-build", "-n", "10", "-o", "-"],
                  ["bloom-build", "-n", "10", "-o", "/dev/stdout"]):
    result, shown = on_terminal(arguments, ["stdout"], b"alice\n")
    check(result.status == 2 and shown == b"" and result.err.count(b"\n") == 1
          and b"terminal" in result.err,
          " ".join(arguments) + " to a terminal is refused", result, shown)
master, slave = open_terminal()
result = run(["bloom-build", "-n", "10", "-o", os.ttyname(slave)], b"alice\n")
check(is_clean(result, "bloom-build", (b"terminal",)) and read_terminal(master, 0.1) == b"",
      "bloom-build -o TERMINAL is refused", result)
result, shown = on_terminal(["bloom-build", "-n", "10", "-o", "u.bloom"], ["stdout", "stderr"],
                            b"alice\n")
check(result.status == 0 and shown == b"", "with -o a file it may be one", result, shown)

# ---- text does
result, shown = on_terminal(["bloom-query", "t.bloom"], ["stdout", "stderr"], b"alice\ncarol\n")
check(result.status == 0 and shown == b"alice\r\n", "bloom-query writes to a terminal",
      result, shown)
result, shown = on_terminal(["sketch-info", "t.bloom"], ["stdout", "stderr"])
check(result.status == 0 and b"bloom" in shown.lower()
      and (b"classic" in shown or b"blocked" in shown), "sketch-info writes to a terminal",
      result, shown)
os.link("t.bloom", "odd\x1b[2Jname")
result, shown = on_terminal(["sketch-info", "odd\x1b[2Jname"], ["stdout", "stderr"])
check(result.status == 0 and b"odd" in shown and b"\x1b[2J" not in shown,
      "where control bytes are escaped", result, shown)
result = run(["sketch-info", "t.bloom"])
check(b"\033" not in result.out and b"\t" in result.out,
      "and elsewhere without escapes, with tabs", result)

# ---- JSON is for programs, which may well be given a terminal
records = b"a\nb\na\n\x1b[2J\n\xff\n" + b"x" * 5000 + b"\n"
run(["cms-count", "-o", "ever.cms"], records)
run(["cms-count", "--window=1h", "-o", "window.cms"], records)
run(["cms-count", "--decay=1000d", "-o", "decay.cms"], records)
run(["hll-count", "-q", "-o", "t.hll"], records)
run(["bloom-build", "--kind", "cuckoo", "-n", "10", "-o", "t.cuckoo"], b"alice\n")
for arguments in (
        ["cms-top", "--json"], ["cms-top", "--json", "--bounds"],
        ["cms-top", "--json", "--window=10"], ["cms-top", "--json", "--decay=2", "-k", "3"],
        ["cms-top", "--json", "--watch=60"], ["cms-top", "--json", "--query", "ever.cms"],
        ["cms-top", "--json", "--query", "window.cms"],
        ["cms-top", "--json", "--bounds", "--query", "window.cms"],
        ["cms-top", "--json", "--query", "decay.cms"],
        ["hll-count", "--json"], ["hll-count", "--json", "--query", "t.hll"],
        ["sketch-info", "--json", "t.bloom", "odd\x1b[2Jname", "ever.cms", "window.cms",
         "decay.cms", "t.hll", "t.cuckoo"],
        ["fpr-calc", "--json", "-n", "1M", "-p", "1%", "--table", "--compare", "--curve", "k"],
        ["fpr-calc", "--json", "--file", "t.bloom", "--advice"],
        ["fpr-calc", "--json", "--cms", "--epsilon", "0.01"]):
    stdin = b"" if "--query" in arguments else records
    plain = run(arguments, stdin)
    result, shown = on_terminal(arguments, ["stdout", "stderr"], stdin)
    objects = [json.loads(line) for line in plain.out.splitlines()]
    check(result.status == 0 and objects and shown == plain.out.replace(b"\n", b"\r\n"),
          " ".join(arguments).replace("\x1b", "?") + ": the same bytes on a terminal",
          result, shown, plain.out)

# ---- facts for people
run(["bloom-build", "-n", "100", "-L", "classic", "-o", "half.bloom"], b"".join(
    b"%d\n" % number for number in range(100)))
fill = float(run(["sketch-info", "half.bloom"]).out.split(b"fill\t")[1].split()[0])
for locale, full, part, empty in (("C", "#", "#", "."), ("C.UTF-8", "█", "█▏▎▍▌▋▊▉", " ")):
    result, shown = on_terminal(["sketch-info", "half.bloom"], ["stdout"], LC_ALL=locale)
    gauge = shown.decode().split("fill             ")[1].split("\r")[0]
    check(len(gauge) == 22 + len(" %.1f %%" % (100 * fill))
          and gauge[1:21] == full * int(20 * fill) + gauge[1 + int(20 * fill)]
          + empty * (19 - int(20 * fill)) and gauge[1 + int(20 * fill)] in part + empty
          and gauge[21:] == "] %.1f %%" % (100 * fill), "a gauge where the locale is " + locale,
          gauge, fill)
run(["cms-count", "-o", "t.cms"], b"a\nb\n")
result, shown = on_terminal(["sketch-info", "t.cms"], ["stdout"])
check(b"epsilon          3.11e-05\r\n" in shown and b"delta            4.98 %\r\n" in shown,
      "errors are rounded", shown)
run(["bloom-uniq", "--window", "9", "--state", "w.bloom"], b"a\nb\n")
run(["bloom-build", "--kind", "counting", "-n", "9", "-o", "n.bloom"], b"a\nb\n")
result, shown = on_terminal(["sketch-info", "w.bloom", "n.bloom"], ["stdout"])
for part in (False, True):
    names = [line for line in shown.split(b"\r\n") if line and (b"layer." in line) == part]
    columns = {len(line) - len(line.split(b"  ", 1)[1].lstrip()) for line in names}
    check(names and len(columns) == 1, "values are one below the other: "
          + ("of the whole", "of the layers")[part], shown)
result, shown = on_terminal(["bloom-query", "--help"], ["stdout", "stderr"])
check(result.status == 0 and b"--annotate" in shown, "so does --help", result, shown)
os.write(master, b"carol\nalice\n\x04")
process = spawn(["bloom-query", "t.bloom"], stdin=slave)
result = finish(process)
check(result.status == 0 and result.out == b"alice\n",
      "bloom-query reads from a terminal to the end of file", result)
os.close(slave)
os.close(master)

# ---- progress
result = run(["bloom-query", "t.bloom"], b"alice\n" * 1000)
check(result.err == b"", "no progress where stderr is no terminal", result.err)
result = run(["bloom-query", "--progress", "t.bloom"], b"alice\n" * 1000)
check(b"\r" not in result.err and b"\033" not in result.err,
      "forced progress elsewhere draws nothing", result.err)
for arguments in (["bloom-query", "-c", "t.bloom"], ["bloom-build", "-n", "10", "-o", "u.bloom"]):
    name = arguments[0]
    result, shown = on_terminal(arguments, ["stderr"], b"alice\nbob\n", seconds=1.9)
    check(result.status == 0 and b"\r" in shown and name.encode() in shown and b"B" in shown,
          name + ": progress after a second where stderr is a terminal and stdout is not",
          result, shown)
    result, shown = on_terminal(arguments, ["stderr"], b"alice\nbob\n", seconds=0.3)
    check(result.status == 0 and shown == b"", name + ": none within the first", result, shown)
result, shown = on_terminal(["bloom-query", "-v", "t.bloom"], ["stdout", "stderr"], b"alice\n",
                            seconds=1.6)
check(shown == b"", "none where stdout is a terminal, too", shown)
result, shown = on_terminal(["bloom-query", "-v", "--progress", "t.bloom"], ["stdout", "stderr"],
                            b"alice\n", seconds=1.6)
check(b"\r" in shown and b"B" in shown, "unless by --progress", shown)
done()
