"""fpr_terminal.py - what fpr-calc shows on a terminal"""

import os
import struct
import fcntl
import termios

from common import ENVIRONMENT, check, done, finish, open_terminal, read_to_end, spawn


def shown(arguments, columns=0, **variables):
    """Status and text of a command whose stdout and stderr are a terminal."""
    master, slave = open_terminal()
    if columns:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in ENVIRONMENT.items()
                   if name not in ("TERM", "NO_COLOR", "COLUMNS")}
    environment.update(variables)
    process = spawn(arguments, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    text = read_to_end(master)
    result = finish(process)
    os.close(master)
    return result.status, text.decode().replace("\r\n", "\n")


plan = ["fpr-calc", "-n", "1M", "-p", "1%", "--table", "--compare"]
status, text = shown(plan, TERM="xterm")
check(status == 0 and "\t" not in text.split("advice")[0], "padded by blanks, not tabs", text)
check("10,099,712" in text and "1.3 MB" in text and "1 %" in text,
      "thousands, sizes and rates for people", text)
check("\033[1m" in text and "\033[0m" in text, "bold headings", text)
for variables in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}, {}):
    status, text = shown(plan, **variables)
    check(status == 0 and "\033" not in text, "no escapes where the environment is %r" % variables,
          text)
status, text = shown(plan, TERM="xterm", NO_COLOR="")
check("\033[1m" in text, "an empty NO_COLOR is none", text)
lines = shown(plan)[1].split("\n\n")[0].split("\n")
check(len({len(line) for line in lines}) == 1, "columns are aligned", lines)

for columns in (60, 120):
    status, text = shown(["fpr-calc", "-n", "1M", "-p", "1%", "--curve", "n"], columns,
                         LC_ALL="C.UTF-8")
    widest = max(len(line) for line in text.split("\n"))
    check(status == 0 and widest == columns and "●" in text,
          "a curve is as wide as the terminal: %d" % columns, widest)
for columns in (24, 60, 80):
    status, text = shown(["fpr-calc", "-n", "1M", "-p", "1%", "--advice"], columns)
    advice = text.split("\n\n")[1].split("\n")
    words = " ".join(text.split("\n\n")[1].split())
    check(status == 0 and max(map(len, advice)) <= columns
          and all(line.startswith(("advice  ", 8 * " ")) for line in advice[:-1])
          and "instead of 1 %, so when in doubt plan for more" in words,
          "advice in %d columns: broken at blanks" % columns, text)
    status, text = shown(["fpr-calc", "-n", "1M", "-p", "1%", "--compare"], columns)
    table = text.split("\n\n")[1].rstrip("\n").split("\n")
    note = table[0].index("note")
    check(status == 0 and all(len(line) <= max(columns, note + 16) for line in table)
          and all(line[note - 2:note] == "  " for line in table)
          and "the keys themselves: a pointer, 75 % full, and 16 bytes of overhead; exact"
          in " ".join(line[note:].strip() for line in table),
          "notes in %d columns: below each other" % columns, text)
status, text = shown(["fpr-calc", "-n", "10k", "-p", "1%"])
check("\nn                    10,000    10,000\n" in text and "  95,850.6\n" in text,
      "thousands in both columns, whole or not", text)
status, text = shown(["fpr-calc", "-n", "1000", "-p", "1%", "--simulate=3", "--queries", "100"])
check(status == 0 and "\r" not in text, "no progress where stdout is a terminal, too", text)
status, text = shown(["fpr-calc", "-n", "1000"])
check(status == 2 and text.count("\n") == 1, "an error is one line", text)
done()
