# SPDX-License-Identifier: Apache-2.0
"""The byte format, written from docs/format.md."""

import hashlib
import struct

import xxhash

from .ring import Poly


def fingerprint(params_object: bytes) -> bytes:
    """Of a parameter set: the first half of SHA-256 of its payload."""
    return hashlib.sha256(params_object[32:-8]).digest()[:16]


def unseal(data: bytes, tag: int, params: bytes) -> bytes:
    """The payload of an object, its envelope checked."""
    magic, version, got_tag, got_params, length = struct.unpack_from("<4sHH16sQ", data)
    assert (magic, version, got_tag) == (b"RSMI", 3, tag)
    assert got_params == params
    assert length == len(data) - 40
    assert data[-8:] == xxhash.xxh3_64_intdigest(data[:-8]).to_bytes(8, "little")
    return data[32:-8]


class Reader:
    """A cursor over a payload."""

    def __init__(self, payload: bytes) -> None:
        """Start at the front."""
        self.rest = payload

    def take(self, count: int) -> bytes:
        """The next bytes."""
        assert count <= len(self.rest)
        out, self.rest = self.rest[:count], self.rest[count:]
        return out

    def number(self, size: int) -> int:
        """A little-endian integer."""
        return int.from_bytes(self.take(size), "little")

    def residues(self, modulus: int, count: int) -> Poly:
        """Bit-packed residues."""
        bits = modulus.bit_length()
        packed = int.from_bytes(self.take((count * bits + 7) // 8), "little")
        out = [packed >> (i * bits) & ((1 << bits) - 1) for i in range(count)]
        assert packed >> (count * bits) == 0
        assert all(x < modulus for x in out)
        return out

    def poly(self, moduli: list[int], n: int) -> list[Poly]:
        """All limbs of a polynomial."""
        return [self.residues(m, n) for m in moduli]
