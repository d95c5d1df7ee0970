"""guard.py - memory is asked about before it is taken"""

import os
import re
import resource
import time

from common import check, done, folder_state, is_clean, run, sanitized, skip, slow


def measured(arguments, **options):
    """A command's result, wall seconds and peak bytes; the latter no finer than our own."""
    begun = time.monotonic()
    result = run(arguments, b"a\n", **options)
    return result, time.monotonic() - begun


SIZE = re.compile(rb"\d[\d.,]* ?([KMGTPE]i?B|bytes)|\d{15,}")

for words in (["-n", "1000000000000000000", "-p", "0.01"],
              ["-n", "1e18", "-p", "0.01", "-L", "classic"],
              ["-n", "1e15", "-p", "1e-9"],
              ["-n", "10", "-m", "1152921504606846976"],
              ["-n", "10", "-m", "9223372036854775807", "-L", "classic"],
              ["-n", "10", "-m", "4000TB"]):
    name = "bloom-build " + " ".join(words)
    before = folder_state()
    result, seconds = measured(["bloom-build", *words, "-o", "guard.bloom"])
    check(is_clean(result, "bloom-build") and folder_state() == before,
          name + ": a clean error", result)
    check(SIZE.search(result.err), name + ": states the size", result)
    check(seconds < 1 * slow(), name + ": within a second", seconds)
    result = run(["bloom-build", *words])
    check(is_clean(result, "bloom-build"), name + ": to stdout likewise", result)

if sanitized():
    skip("the peak of memory", "a sanitizer's own")
    skip("a limit of address space", "a sanitizer's own")
else:
    # Far the largest child so far is Python's own copy before exec, some 20 MB.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    check(peak < 50e6, "none of them took 50 MB", peak)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))

    result = run(["bloom-build", "-n", "1e9", "-o", "guard.bloom"], b"a\n", preexec_fn=limit)
    check(is_clean(result, "bloom-build") and SIZE.search(result.err)
          and not os.path.exists("guard.bloom"),
          "more than RLIMIT_AS allows is refused with its size", result)
    result = run(["bloom-build", "-n", "1e6", "-o", "guard.bloom"], b"a\n", preexec_fn=limit)
    check(result.status == 0 and not result.err, "less than it allows is built", result)
done()
