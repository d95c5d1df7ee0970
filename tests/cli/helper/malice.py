"""malice.py - keys made so that MurmurHash3_x64_128 has one hash for all, under every seed

    malice.py PLACES > keys      2^PLACES keys, of 32 bytes a place, one a line

Aumasson, Bernstein and Bosslet ("Hash-flooding DoS reloaded", 2012) found the fault: the
words of a key go through bijections that have no secret, and so whoever makes the key
chooses what reaches the state.  Two blocks of 16 bytes, words a, b and c, d, do:

    h1 ^= f1(a);  h1 = (rotl(h1, 27) + h2) * 5 + constant
    h2 ^= f2(b);  h2 = (rotl(h2, 31) + h1) * 5 + constant
    h1 ^= f1(c);  ...

Let f1(a) differ in bit 36.  Rotated, that is bit 63 of h1, where a sum has no carry to give
away, and five times 2^63 is 2^63: h1 differs in its highest bit, for certain, whatever the
state was.  Let f2(b) differ in bit 32: rotated that is bit 63, too, and the sum with h1,
which differs there as well, is the same again.  Let f1(c) differ in bit 63: h1 is the same
again.  So a pair of blocks has a twin that leaves the same state; n pairs in a row, each as
it is or as its twin, are 2^n keys with one hash.

The words are searched so that no byte of either is a blank, a control or a capital: each key
is one field of a line, and folding does not help.
"""

import itertools
import random
import struct
import sys

M64 = (1 << 64) - 1
C1, C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
ALLOWED = bytes(byte for byte in range(33, 256) if byte != 127 and not 65 <= byte <= 90)


def rotl(x, r):
    return ((x << r) | (x >> (64 - r))) & M64


def lane(word, first, turn, second):
    return rotl(word * first & M64, turn) * second & M64


def unlane(value, first, turn, second):
    return rotl(value * pow(second, -1, 1 << 64) & M64, 64 - turn) * pow(first, -1, 1 << 64) & M64


def twins(dice, constants, bit):
    """Two words of bytes allowed, whose values in the state differ in one bit."""
    while True:
        word = bytes(dice.choices(ALLOWED, k=8))
        value = lane(struct.unpack("<Q", word)[0], *constants) ^ 1 << bit
        twin = struct.pack("<Q", unlane(value, *constants))
        if not twin.translate(None, ALLOWED):
            return word, twin


def pair_of_blocks():
    dice = random.Random(2012)
    one, two = (C1, 31, C2), (C2, 33, C1)
    a, b, c = (twins(dice, *what) for what in ((one, 36), (two, 32), (one, 63)))
    return [a[i] + b[i] + c[i] + b"-thesame" for i in range(2)]


def main(places):
    for choice in itertools.product(pair_of_blocks(), repeat=places):
        sys.stdout.buffer.write(b"".join(choice) + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
