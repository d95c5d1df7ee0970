"""common.py - what the helpers of the command tests share

A helper prints "ok - NAME" or "not ok - NAME" for each test and "done" last; lib.sh
numbers them.  It runs in the folder of its test.
"""

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time

LONG = os.environ.get("LONG", "") not in ("", "0")
ENVIRONMENT = dict(os.environ, LC_ALL="C")


def check(passed, name, *details):
    print(("ok - " if passed else "not ok - ") + name.replace("#", ""))
    if not passed:
        for detail in details:
            for line in str(detail).splitlines()[:8]:
                print("# " + line[:300])
    sys.stdout.flush()
    return bool(passed)


def check_none(faults, name):
    """Passes where the list of faults is empty, else shows the first few."""
    return check(not faults, name, "%d faults" % len(faults), *faults[:6])


def skip(name, reason):
    print("ok - %s # SKIP %s" % (name, reason))


def done():
    print("done")


def key_file(secret, path="secret.key"):
    """A file with a key of 16 bytes, as the tools want it."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(secret.hex().encode() + b"\n")
    return path


def golden_key():
    """The key of the golden files that have one."""
    with open(os.path.join(os.environ["TOP"], "tests", "golden", "keyed.key"), "rb") as file:
        return bytes.fromhex(file.read().decode())


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __str__(self):
        return "status %r, stdout %r, stderr %r" % (self.status, self.out[:200], self.err[:300])


def run(arguments, stdin=b"", timeout=60, **options):
    """Runs a command: status as in waitstatus (negative for a signal), stdout, stderr."""
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=options.pop("env", ENVIRONMENT),
                               **options)
    try:
        out, err = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return Result("timeout", out, err)
    return Result(process.returncode, out, err)


def spawn(arguments, **options):
    """Starts a command with stdin, stdout and stderr as pipes, unbuffered."""
    for stream in ("stdin", "stdout", "stderr"):
        options.setdefault(stream, subprocess.PIPE)
    return subprocess.Popen(arguments, bufsize=0, env=options.pop("env", ENVIRONMENT), **options)


def finish(process, timeout=30):
    """Waits for a command to end by itself, and gives what it still had to say."""
    if process.stdin and process.stdin.closed:
        process.stdin = None  # communicate would flush it
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return Result("timeout", out or b"", err or b"")
    return Result(process.returncode, out or b"", err or b"")


def one_line(err, tool):
    """Whether stderr is one line that begins with the tool's name."""
    return (err.startswith(tool.encode() + b": ") and err.endswith(b"\n")
            and err.count(b"\n") == 1 and b"\r" not in err and b"\033" not in err)


def is_clean(result, tool, words=()):
    """A clean error: status 2, one line on stderr with all words, nothing on stdout."""
    return (result.status == 2 and not result.out and one_line(result.err, tool)
            and all(word.lower() in result.err.lower() for word in words))


def info(path):
    result = run(["sketch-info", "--json", path])
    return json.loads(result.out)


def wait_drained(descriptor, timeout=10):
    """Waits until the reader has taken every byte out of a pipe."""
    import array
    import fcntl
    import termios
    held = array.array("i", [1])
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        fcntl.ioctl(descriptor, termios.FIONREAD, held)
        if held[0] == 0:
            return True
        time.sleep(0.005)
    return False


def read_within(descriptor, seconds, size=65536):
    """What arrives within so many seconds, or b'' where nothing does."""
    ready, _, _ = select.select([descriptor], [], [], seconds)
    return os.read(descriptor, size) if ready else b""


def read_to_end(descriptor):
    """What a terminal shows until the last who had it open is gone."""
    text = b""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:
            return text
        if not piece:
            return text
        text += piece


def open_terminal(opener=pty.openpty):
    """A pseudo-terminal, of both ends.  A chroot may have none: what needs one, and all
    behind it, is skipped there."""
    try:
        return opener()
    except OSError as error:
        skip("what needs a terminal", error)
        done()
        sys.stdout.flush()
        os._exit(0)


def on_terminal(words, stdin):
    """A command whose output is a terminal without colours, and what that shows."""
    master, slave = open_terminal()
    process = spawn(words, stdout=slave, preexec_fn=restore_signals, start_new_session=True,
                    env=dict(ENVIRONMENT, NO_COLOR="1"))
    os.close(slave)
    process.stdin.write(stdin)
    process.stdin.close()
    text = read_to_end(master)
    os.close(master)
    return finish(process), text.replace(b"\r\n", b"\n")


def load(name):
    """A program of scripts/ as a module."""
    import importlib.machinery
    import importlib.util
    path = os.path.join(os.environ["TOP"], "scripts", name)
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def content(path):
    with open(path, "rb") as file:
        return file.read()


def save(path, data):
    with open(path, "wb") as file:
        file.write(data)


def wait_until(condition, timeout=10, step=0.01):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(step)
    return bool(condition())


def peak_memory(pid):
    """The most bytes that were resident so far (VmHWM), exec's past not included."""
    with open("/proc/%d/status" % pid) as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def sanitized():
    """Whether the tools carry a sanitizer, or run in an emulator (then they are scripts):
    both need memory and time of their own."""
    with open(os.path.join(os.environ["BIN"], "bloom-build"), "rb") as program:
        code = program.read()
    return b"__asan_init" in code or not code.startswith(b"\x7fELF")


def slow():
    """A factor for limits of time: sanitizers and simulators are slow."""
    return 10 if sanitized() else 1


def folder_state(path="."):
    """Every file of a folder with its inode, times, mode and bytes; .tap left out."""
    state = {}
    for name in sorted(os.listdir(path)):
        if name == ".tap":
            continue
        full = os.path.join(path, name)
        status = os.lstat(full)
        content = b""
        if os.path.isfile(full) and status.st_size < 4000000:
            with contextlib.suppress(OSError), open(full, "rb") as file:
                content = file.read()
        state[name] = (status.st_ino, status.st_mtime_ns, status.st_mode, status.st_size, content)
    return state


def restore_signals():
    """For a child: the default action for what Python or the runner ignores."""
    for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
