"""roundtrip.py - build, then query in another process: every key is found

First every small n of a sample against four rates, then random sets of parameters.
The generator is seeded: a fault can be had again.
"""

import math
import random

from common import LONG, check_none, done, run, sanitized


def trial(words, keys, faults, separator=b"\n", query=()):
    text = b"".join(key + separator for key in keys)
    command = ["bloom-build", *words, "-o", "f.bloom"]
    result = run(command, text)
    if result.status != 0 or result.out:
        faults.append("%s (%d keys): %s" % (" ".join(command), len(keys), result))
        return
    result = run(["bloom-query", *query, "f.bloom"], text)
    if (result.status, result.out, result.err) != (0 if keys else 1, text, b""):
        missing = run(["bloom-query", *query, "-v", "f.bloom"], text).out
        faults.append("%s (%d keys): query gives status %r, lacks %r, %r"
                      % (" ".join(command), len(keys), result.status, missing[:100], result.err))


def small():
    faults = []
    sample = [1, 2, 3, 64, 511, 2000]
    if LONG:
        sample = range(1, 2001)
    elif not sanitized():
        sample = [*range(1, 12), 15, 16, 17, 31, 63, 64, 65, 100, 127, 128, 255, 511, 512, 513, 777,
                  1000, 1024, 1999, 2000]
    for n in sample:
        for p in ("0.5", "0.1", "0.01", "1e-5"):
            for layout in ("classic", "blocked"):
                trial(["-L", layout, "-n", str(n), "-p", p],
                      [b"key %d" % i for i in range(n)], faults)
    check_none(faults, "n from 1 to 2000, p of 0.5, 0.1, 0.01 and 1e-5")


def random_sets(count):
    faults = []
    rng = random.Random(20240229)
    for number in range(count):
        n = int(math.exp(rng.uniform(0, math.log(3000))))
        layout = rng.choice(("classic", "blocked"))
        words = ["-L", layout, "-s", str(rng.choice((0, 1, 4294967295, rng.getrandbits(32))))]
        shape = rng.choice(("n p", "n p", "n m", "n m k", "n k p"))
        bits = n * rng.choice((1, 4, 10, 40)) + 20000
        p = 10 ** rng.uniform(-12, -0.01)
        if "n" in shape:
            words += ["-n", str(n)]
        if "p" in shape:
            words += ["-p", repr(max(p, 1e-3) if "k" in shape else p)]
        if "m" in shape:
            words += ["-m", str(bits)]
        if "k" in shape:
            words += ["-k", str(rng.choice((1, 2, 3, 7, 8, 16)))]
        query, separator = [], b"\n"
        if rng.random() < 0.2:
            words += ["-z"]
            query += ["-z"]
            separator = b"\0"
        if rng.random() < 0.2:
            words += ["-i"]
        length = rng.choice((0, 1, 4, 16, 30, 200))
        keys = []
        for _ in range(rng.choice((n, n, n, n // 2, 2 * n + 1) if n < 1500 else (n,))):
            key = bytes(rng.choices(range(256), k=rng.randint(0, length)))
            keys.append(key.replace(separator, b"#"))
        # Past the capacity a warning is in order, and no key may be lost all the same.
        trial(words, keys, faults, separator, query)
        if len(faults) > 20:
            break
    check_none(faults, "%d random sets of parameters" % count)


small()
random_sets(5000 if LONG else 200 if sanitized() else 1000)
done()
