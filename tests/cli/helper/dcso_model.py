"""dcso_model.py - a .bloom file of DCSO, by the description in src/core/dcso.c"""

import math
import struct

M64 = (1 << 64) - 1
MODULUS, GENERATOR = (1 << 64) - 59, 18446744073709550147


class Dcso:
    def __init__(self, n, p, m=None, k=None, metadata=b""):
        self.n, self.p, self.inserts, self.metadata = n, p, 0, metadata
        self.m = m or math.floor(-n * math.log(p) / math.log(2)**2)
        self.k = k or math.ceil(self.m / n * math.log(2))
        self.bits = bytearray(-(-self.m // 64) * 8)

    def follow(self, h):
        """The positions from the hash of a key on, modulo the modulus."""
        h %= MODULUS
        for _ in range(self.k):
            h = (h * GENERATOR & M64) % MODULUS
            yield h % self.m

    def positions(self, key):
        h = 14695981039346656037
        for byte in key:
            h = h * 1099511628211 & M64 ^ byte
        return list(self.follow(h))

    def insert(self, key):
        new = False
        for at in self.positions(key):
            new = new or not self.bits[at // 8] >> at % 8 & 1
            self.bits[at // 8] |= 1 << at % 8
        self.inserts += new

    def is_set(self, positions):
        return all(self.bits[at // 8] >> at % 8 & 1 for at in positions)

    def has(self, key):
        return self.is_set(self.positions(key))

    def head(self, **changes):
        fields = {"flags": 1, "n": self.n, "p": self.p, "k": self.k, "m": self.m,
                  "inserts": self.inserts}
        fields.update(changes)
        return struct.pack("<QQdQQQ", *fields.values())

    def encode(self):
        return self.head() + bytes(self.bits) + self.metadata
