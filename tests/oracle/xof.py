# SPDX-License-Identifier: Apache-2.0
"""Seeds, streams and samplers in plain Python, written from docs/format.md."""

import hashlib
import struct

_MASK32 = 0xFFFFFFFF


def _quarter(s: list[int], a: int, b: int, c: int, d: int) -> None:
    """One ChaCha quarter round (RFC 8439, section 2.1)."""
    for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = (s[x] + s[y]) & _MASK32
        v = s[z] ^ s[x]
        s[z] = (v << turn | v >> (32 - turn)) & _MASK32


def chacha20_block(key: bytes, counter: int) -> bytes:
    """The 64-byte block number `counter` under a zero nonce with a 64-bit counter."""
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *struct.unpack("<8I", key)]
    start += [counter & _MASK32, counter >> 32, 0, 0]
    s = list(start)
    for _ in range(10):
        for i in range(4):
            _quarter(s, i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            _quarter(s, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<16I", *((x + y) & _MASK32 for x, y in zip(s, start, strict=True)))


class Stream:
    """The byte stream of (seed, label, index)."""

    def __init__(self, seed: bytes, label: str, index: int) -> None:
        """Start the stream at its first byte."""
        text = b"ringsmith.xof.2" + seed + bytes([len(label)]) + label.encode() + struct.pack("<Q", index)
        self._key = hashlib.sha256(text).digest()
        self._counter = 0
        self._buffer = b""

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        while len(self._buffer) < count:
            self._buffer += chacha20_block(self._key, self._counter)
            self._counter += 1
        out, self._buffer = self._buffer[:count], self._buffer[count:]
        return out


def bind(seed: bytes, role: str, fingerprint: bytes, about: bytes = b"") -> bytes:
    """The seed of a role under a parameter set, for the objects that `about` names."""
    text = b"ringsmith.bind.2" + seed + bytes([len(role)]) + role.encode() + fingerprint + about
    return hashlib.sha256(text).digest()


def derive(seed: bytes, label: str, index: int) -> bytes:
    """The child seed of (label, index)."""
    return Stream(seed, label, index).take(32)


def uniform(stream: Stream, modulus: int, count: int, word_bytes: int = 8) -> list[int]:
    """Residues by rejection of masked little-endian words."""
    mask = (1 << modulus.bit_length()) - 1
    out: list[int] = []
    while len(out) < count:
        value = int.from_bytes(stream.take(word_bytes), "little") & mask
        if value < modulus:
            out.append(value)
    return out


def ternary(stream: Stream, count: int) -> list[int]:
    """Sixteen base-3 digits of each 128-bit fraction, minus one."""
    out: list[int] = []
    while len(out) < count:
        word = int.from_bytes(stream.take(16), "little")
        for _ in range(16):
            word *= 3
            out.append((word >> 128) - 1)
            word &= (1 << 128) - 1
    return out[:count]


def binary(stream: Stream, count: int) -> list[int]:
    """Bits, lowest first."""
    data = stream.take((count + 7) // 8)
    return [data[i // 8] >> (i % 8) & 1 for i in range(count)]


def binomial(stream: Stream, eta: int, count: int) -> list[int]:
    """Difference of two sums of eta bits."""
    half = (eta + 7) // 8
    mask = (1 << eta) - 1

    def ones() -> int:
        return (int.from_bytes(stream.take(half), "little") & mask).bit_count()

    return [ones() - ones() for _ in range(count)]
