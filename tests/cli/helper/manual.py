"""manual.py - the literal blocks of a manual page, as the reader sees them, and the
commands in them
"""

import re
import subprocess

ESCAPES = {r"\e": "\\", r"\(rs": "\\", r"\&": "", r"\(dq": '"', r"\(ha": "^", r"\-": "-"}
TEXT = re.compile(r"(\.Ss |\.Sh |\.Pp|\.br|\.El|\.It |\.Bl )")


def plain(line):
    """A line of mdoc without its escapes."""
    return re.sub(r"\\\(..|\\.", lambda match: ESCAPES[match[0]], line)


class Block:
    """A literal block: its page, its name, its lines.  It is named by the paragraph that
    leads to it, or where there is none by its subsection."""

    def __init__(self, page, name, lines):
        self.page, self.name, self.lines = page, name, lines

    def text(self):
        return "".join(line + "\n" for line in self.lines)

    def commands(self):
        """[command, output or None]: behind "$ " where the block has prompts, and then with
        the lines shown below it; else all complete commands."""
        if self.lines[0].startswith("#!"):
            return [["./script", None]]
        prompts = any(line.startswith("$ ") for line in self.lines)
        commands = []
        open_ended = False
        for line in self.lines:
            if open_ended:
                line = re.sub("^> ", "", line) if prompts else line
                commands[-1][0] += "\n" + line
            elif prompts and not line.startswith("$ "):
                commands[-1][1] = (commands[-1][1] or "") + line + "\n"
                continue
            elif line:
                commands.append([line[2:] if prompts else line, None])
            open_ended = bool(line) and not complete(commands[-1][0])
        return commands


def complete(command):
    """Whether a shell would not ask for more."""
    if command.endswith("\\"):
        return False
    done = subprocess.run(["bash", "-n", "-c", command], capture_output=True)
    return b"unexpected end of file" not in done.stderr and \
        b"unexpected EOF" not in done.stderr and done.returncode == 0


def blocks(path, page, wanted):
    """The literal blocks of those sections of a page for whose title wanted(title) holds."""
    found = []
    section = title = ""
    lead = []
    inside = None
    with open(path) as file:
        for line in file.read().splitlines():
            if inside is not None:
                if line == ".Ed":
                    name = plain(" ".join(lead)) or title
                    if wanted(section):
                        found.append(Block(page, name, inside))
                    inside, lead = None, []
                else:
                    inside.append(plain(line))
            elif line.startswith(".Bd -literal"):
                inside = []
            elif TEXT.match(line):
                lead = []
                if line.startswith(".Sh "):
                    section = title = line[4:]
                if line.startswith(".Ss "):
                    title = plain(line[4:])
            else:
                lead.append(re.sub(r"^\.[A-Z][a-z] ", "", line))
    return found
