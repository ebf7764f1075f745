# SPDX-License-Identifier: Apache-2.0
"""Moduli and operands that the arithmetic tests share: both ends of the range, extreme and random operands."""

from __future__ import annotations

import random
from collections.abc import Iterator

from dv.primes import prime_above, prime_below


def any_moduli(width: int, smallest: int) -> list[int]:
    """Moduli for Barrett and additions: the smallest and the largest of the range, odd, even, prime."""
    low = 1 << (smallest - 1)
    return [low + 1, 2 * low - 1, (1 << width - 1) + 1, (1 << width) - 1, (1 << width) - 2, prime_below(width, 2)]


def word_moduli(width: int, word: int) -> list[int]:
    """Primes 1 modulo 2^word for Montgomery: the largest and the smallest of `width` bits, and a short one."""
    found = [prime_below(width, 1 << word), prime_above(width, 1 << word)]
    if width > word + 6:
        found.append(prime_above(word + 5, 1 << word))
    return found


def operands(modulus: int, count: int, seed: int) -> Iterator[tuple[int, int]]:
    """All pairs of 0, 1, m - 1 and their neighbours, then random pairs."""
    edges = (0, 1, 2, modulus // 2, modulus - 2, modulus - 1)
    yield from ((a, b) for a in edges for b in edges)
    source = random.Random(seed)
    yield from ((source.randrange(modulus), source.randrange(modulus)) for _ in range(count))


def signed(value: int, bits: int) -> int:
    """Read `bits` bits as two's complement."""
    return value - (1 << bits) if value >> (bits - 1) else value
