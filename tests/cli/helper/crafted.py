"""crafted.py - the files of scripts/make-damaged, each wrong in one field, checksums right

FOLDER/refused and FOLDER/accepted say of each what a reader has to find.
"""

import os
import re
import sys

from common import check, check_none, done, one_line, run

TOP = os.environ["TOP"]
made = run([sys.executable, os.path.join(TOP, "scripts", "make-damaged"), "crafted"])
check(made.status == 0 and not made.err, "make-damaged makes them", made)


def listing(name):
    with open(os.path.join("crafted", name), encoding="ascii") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def says(message, word, piped):
    """Whether the word is there; a pipe that promises more than the machine has is not
    waited for to show that it does not keep it."""
    return (word == "-" or re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(word), message)
            or piped and word == "truncated" and "bytes of memory" in message)


faults, unnamed, count = {}, [], 0
for name, word, status in listing("refused"):
    path = os.path.join("crafted", name)
    with open(path, "rb") as file:
        content = file.read()
    count += 1
    for arguments, stdin in ((["bloom-query", "-e", "key-1", path], b""),
                             (["bloom-query", "-v", "-e", "key-1", "/dev/stdin"], content),
                             (["sketch-info", "--json", "-"], content),
                             (["bloom-build", "--append", path], b"x\n")):
        if arguments[0] == "bloom-build" and not content:
            continue  # an empty file is one to be made
        tool = " ".join(arguments[:2]) if arguments[0] == "bloom-build" else arguments[0]
        result = run(arguments, stdin)
        bad = faults.setdefault("%s refuses each in a line" % tool, [])
        # A sound header above damaged bits may be shown by sketch-info all the same.
        shown = arguments[0] == "sketch-info" and status == "damaged" and word == "checksum"
        if result.status != 2 or result.out and not shown or not one_line(result.err, arguments[0]):
            bad.append("%s: %s: %s" % (name, " ".join(arguments), result))
        elif not says(result.err.decode(), word, bool(stdin)):
            unnamed.append("%s: %r is not in %r" % (name, word, result.err))
    with open(path, "rb") as file:
        if file.read() != content:
            faults.setdefault("none is changed", []).append(name)
for tool in sorted(faults):
    check_none(faults[tool], "%d crafted files: %s" % (count, tool))
check_none(sorted(set(unnamed)), "and says which field it is")

faults = []
for name, _, _ in listing("accepted"):
    path = os.path.join("crafted", name)
    result = run(["bloom-query", "-e", "key-1", path])
    if (result.status, result.out, result.err) != (0, b"key-1\n", b""):
        faults.append("%s: %s" % (name, result))
    result = run(["sketch-info", path])
    if result.status != 0 or result.err or not result.out:
        faults.append("%s: %s" % (name, result))
check_none(faults, "odd files that are right are read")
done()
