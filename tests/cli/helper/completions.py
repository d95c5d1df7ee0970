"""What an interactive shell makes of a line and a tab

    completions.py SHELL FOLDER     bash or zsh, with the completions in FOLDER

Runs the shell on a terminal in a folder of files, types lines, and has the shell itself say
by a key what its line has become.
"""

import os
import pty
import select
import shutil
import signal
import sys
import time

from common import open_terminal

TAB, SAY, CLEAR = "\t", "\x18", "\x15"
FILES = ["a.bloom", "b.cuckoo", "two words.bloom", "c.cms", "d.hll", "bother", "else"]
LIMIT = 30

# A line, and what it has become; where a shell leaves no blank or another, None stands for
# "as bash has it".
LINES = [
    ("bloom-build --lay", "bloom-build --layout="),
    ("bloom-build --layout=cl", "bloom-build --layout=classic "),
    ("bloom-build -L b", "bloom-build -L blocked "),
    ("bloom-build -zLb", "bloom-build -zLblocked "),
    ("bloom-build --kind cu", "bloom-build --kind cuckoo "),
    ("bloom-query b", "bloom-query b.cuckoo "),
    ("bloom-query t", "bloom-query two\\ words.bloom "),
    ("bloom-query a.bloom bo", "bloom-query a.bloom bother "),
    ("bloom-query -F a.bloom bo", "bloom-query -F a.bloom bother "),
    ("bloom-query --filter=b", "bloom-query --filter=b.cuckoo "),
    ("bloom-query e", "bloom-query else "),
    ("cms-top --query ", "cms-top --query c.cms "),
    ("hll-count --files0-from=bo", "hll-count --files0-from=bother "),
    ("sketch-merge -o el", "sketch-merge -o else "),
    ("fpr-calc --curve bi", "fpr-calc --curve bits "),
    ("bloom-build -n ", "bloom-build -n "),
    ("bloom-build -- bo", "bloom-build -- bother "),
]

BASH = """PS1='ready> '
bind 'set enable-bracketed-paste off'
say() { printf '%%s\\n' "$READLINE_LINE" >said; }
bind -x '"\\C-x": say'
for file in '%(folder)s'/bash/*; do . "$file"; done
"""

ZSH = """PS1='ready> '
unsetopt zle_bracketed_paste beep
unset zle_bracketed_paste
fpath=('%(folder)s/zsh' $fpath)
autoload -Uz compinit
compinit -u -D
say() { print -r -- "$BUFFER" >said }
zle -N say
bindkey '^X' say
bindkey '^U' kill-whole-line
"""


class Shell:
    def __init__(self, name, folder):
        self.said = os.path.join(os.getcwd(), "said")
        self.shown = b""
        with open(".startup", "w", encoding="utf-8") as file:
            file.write((BASH if name == "bash" else ZSH) % {"folder": folder})
        argv = (["bash", "--norc", "--noprofile", "-i"] if name == "bash" else ["zsh", "-f", "-i"])
        self.child, self.terminal = open_terminal(pty.fork)
        if self.child == 0:
            os.environ.update(TERM="dumb", LC_ALL="C", HISTFILE="", PS1="start> ")
            os.execvp(argv[0], argv)
        self.read_until(b"> " if name == "bash" else b"% ", b"# ")
        self.type(". ./.startup\n")
        self.read_until(b"ready> ")

    def read_until(self, *ends):
        until = time.monotonic() + LIMIT
        while time.monotonic() < until and not any(end in self.shown for end in ends):
            if select.select([self.terminal], [], [], 1)[0]:
                try:
                    self.shown += os.read(self.terminal, 4096)
                except OSError:
                    return

    def type(self, text):
        self.shown = b""
        os.write(self.terminal, text.encode())

    def line_after_tab(self, line):
        if os.path.exists(self.said):
            os.unlink(self.said)
        self.type(line + TAB + SAY)
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            if select.select([self.terminal], [], [], 0.05)[0]:
                self.shown += os.read(self.terminal, 4096)
            if os.path.exists(self.said):
                with open(self.said, encoding="utf-8") as file:
                    said = file.read()
                if said.endswith("\n"):
                    self.type(CLEAR)
                    return said[:-1]
        return f"nothing was said; shown: {self.shown!r}"

    def end(self):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)


def main():
    name, folder = sys.argv[1:]
    if not shutil.which(name):
        print(f"ok - {name} completes lines # SKIP {name} is not there")
        print("done")
        return
    os.makedirs(f"{name}.d")
    os.chdir(f"{name}.d")
    for file in FILES:
        with open(file, "w", encoding="utf-8"):
            pass
    shell = Shell(name, folder)
    for line, want in LINES:
        got = shell.line_after_tab(line)
        if got.rstrip(" ") == want.rstrip(" "):
            print(f"ok - {name}: '{line}' and a tab")
        else:
            print(f"not ok - {name}: '{line}' and a tab")
            print(f"# got:  {got}\n# want: {want}")
    shell.end()
    print("done")


main()
