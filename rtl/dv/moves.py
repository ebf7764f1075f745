# SPDX-License-Identifier: Apache-2.0
"""Moves between words and lanes in Python integers: automorphisms of values, digits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dv import oracle


def permuted(values: list[int], element: int) -> list[int]:
    """Values in the transform's order of a(x^g), from those of a: the value at exponent e is that at g e."""
    n = len(values)
    bits = n.bit_length() - 1
    at = {2 * oracle.bit_reverse(i, bits) + 1: value for i, value in enumerate(values)}
    return [at[element * (2 * oracle.bit_reverse(i, bits) + 1) % (2 * n)] for i in range(n)]


@dataclass(frozen=True)
class Digit:
    """By lane the lane it gets its residues from, the prime of that lane, its own prime."""

    sources: tuple[int, ...]
    primes: tuple[int, ...]
    targets: tuple[int, ...]

    def defined(self, rows: list[list[int]]) -> list[list[int]]:
        """The centred representatives' residues; primes are odd, so that no half is met."""
        shares = zip(self.sources, self.primes, self.targets, strict=True)
        return [[(x if 2 * x < q else x - q) % p for x in rows[source]] for source, q, p in shares]

    def words(self, width: int) -> Iterator[int]:
        """Configuration words, lane by lane."""
        for source, q, p in zip(self.sources, self.primes, self.targets, strict=True):
            yield source << 128 | (p - q) % (1 << width) << 64 | (q + 1) // 2
