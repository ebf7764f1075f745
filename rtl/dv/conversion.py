# SPDX-License-Identifier: Apache-2.0
"""Base conversion in Python integers: the exact value, the definition, the words that configure the unit."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

GUARD = 4
PRIME, PRIME_AUX, FACTOR, RECIPROCAL, ROW, MULTIPLE, MODULUS, MODULUS_AUX, SHAPE = range(9)


@dataclass(frozen=True)
class Arithmetic:
    """Of the unit under test: word bits, reduction (0 Barrett, 1 Montgomery) and Montgomery word bits."""

    width: int
    kind: int
    word: int

    def factor(self, guard: int) -> int:
        """The factor of a constant that cancels the reduction: 2^(w s) for s steps of Montgomery, 1 with Barrett."""
        return 1 << self.word * -(-(self.width + guard) // self.word) if self.kind else 1

    def aux(self, modulus: int, guard: int) -> int:
        """Barrett's reciprocal and bit length in one word."""
        bits = modulus.bit_length()
        return (1 << bits + self.width + guard + 2) // modulus << 8 | bits


@dataclass(frozen=True)
class Conversion:
    """x modulo `source` to every p of `target`: centred lift, or with `numerator` t the value round(t x / D).

    Lane `first` of the hardware has the first of `source`, lane 0 that of `target`.
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    numerator: int = 0
    first: int = 0

    @property
    def product(self) -> int:
        """D, the product of the source."""
        return math.prod(self.source)

    @property
    def own(self) -> bool:
        """Whether residues modulo the target take part."""
        return self.numerator != 0

    @property
    def steps(self) -> int:
        """Products a coefficient and output."""
        return len(self.source) + self.own

    @property
    def min_bits(self) -> int:
        """Bits of the narrowest q_i."""
        return min(q.bit_length() for q in self.source)

    @property
    def factors(self) -> list[int]:
        """f_i."""
        return [(self.numerator or 1) * pow(self.product // q, -1, q) % q for q in self.source]

    @property
    def reciprocals(self) -> list[int]:
        """C_i."""
        return [((1 << 51 + self.min_bits) + q // 2) // q for q in self.source]

    def row(self, p: int) -> list[int]:
        """m_ij of the modulus p."""
        if self.own:
            return [-pow(q, -1, p) % p for q in self.source]
        return [self.product // q % p for q in self.source]

    def kept(self, p: int) -> int:
        """own_j; a lift may end in its own primes, so nothing is inverted there."""
        return self.own and self.numerator * pow(self.product, -1, p) % p

    def correction(self, p: int) -> int:
        """c_j."""
        return 1 if self.own else -self.product % p

    def defined(self, x: Sequence[int], kept: Sequence[int]) -> list[int]:
        """The definition of docs/arithmetic.md on residues: what every engine gives."""
        y = [a * f % q for a, f, q in zip(x, self.factors, self.source, strict=True)]
        bits = 51 + self.min_bits
        v = sum(a * c for a, c in zip(y, self.reciprocals, strict=True)) + (1 << bits - 1) >> bits
        return [
            (sum(a * m for a, m in zip(y, self.row(p), strict=True)) + v * self.correction(p) + a * self.kept(p)) % p
            for p, a in zip(self.target, kept, strict=True)
        ]

    def exact(self, value: int) -> set[int]:
        """The result for the integer: one, or at the seam of the rounding both that the definition allows."""
        scaled = (self.numerator or 1) * value
        bound = sum(1 << q.bit_length() - self.min_bits for q in self.source)
        rest = (scaled + self.product // 2) % self.product - self.product // 2
        results = {(scaled - rest) // self.product if self.own else rest}
        if (self.product - 2 * abs(rest)) << 52 <= 2 * self.product * (bound + 1):
            side = self.product if rest < 0 else -self.product
            results.add((scaled - rest - side) // self.product if self.own else rest + side)
        return results

    def values(self, count: int, seed: int) -> Iterator[int]:
        """Integers modulo D (and the kept moduli): ends, both sides of the rounding's seam ever closer, random ones."""
        source, whole = random.Random(seed), self.product * (math.prod(self.target) if self.own else 1)
        inverse = pow(self.numerator or 1, -1, self.product)
        # t x is this modulo D.
        half = self.product // 2
        seams = [half, half + 1, half - 1, half + 2, 0, 1, self.product - 1]
        seams += [
            half + sign * (self.product >> shift) for shift in (40, 46, 50, 51, 52, 53, 54, 60) for sign in (1, -1)
        ]
        for place in range(count):
            kind = place % 4
            if kind == 0:
                yield seams[place // 4 % len(seams)] * inverse % self.product % whole
            elif kind == 1 and self.own:
                lifted = seams[place // 4 % len(seams)] * inverse % self.product
                yield (lifted + self.product * source.randrange(whole // self.product)) % whole
            else:
                yield source.randrange(whole)

    def extremes(self) -> Iterator[tuple[list[int], list[int]]]:
        """Residues at their ends, and y at its end: every residue 0, 1 or m - 1, whatever value that is."""
        for pick in (lambda m: 0, lambda m: 1, lambda m: m - 1):
            for other in (lambda m: 0, lambda m: m - 1):
                yield [pick(q) for q in self.source], [other(p) for p in self.target]
        largest = [(q - 1) * pow(f, -1, q) % q for q, f in zip(self.source, self.factors, strict=True)]
        yield largest, [p - 1 for p in self.target]

    def words(self, build: Arithmetic, number: int, base: int, lanes: int) -> Iterator[tuple[int, int, int, int]]:
        """Configuration words (sel, lane, idx, data); lanes beyond the target get a modulus and rows of zero."""
        first = base + self.own
        columns = zip(self.source, self.factors, self.reciprocals, strict=True)
        for i, (q, f, c) in enumerate(columns):
            yield PRIME, 0, first + i, q
            yield PRIME_AUX, 0, first + i, build.aux(q, 0)
            yield FACTOR, 0, first + i, f * build.factor(0) % q
            yield RECIPROCAL, 0, first + i, c
        for lane in range(lanes):
            real = lane < len(self.target)
            p = self.target[lane] if real else self.source[0]
            rows = [self.kept(p)] * self.own + self.row(p) if real else [0] * self.steps
            correction = self.correction(p) if real else 0
            for s, m in enumerate(rows):
                yield ROW, lane, base + s, m * build.factor(GUARD) % p
            for v in range(len(self.source) + 1):
                yield MULTIPLE, lane, base + v, v * correction % p
            yield MODULUS, lane, number, p
            yield MODULUS_AUX, lane, number, build.aux(p, GUARD)
        yield SHAPE, 0, number, self.first << 19 | self.min_bits << 12 | self.own << 11 | len(self.source) << 7 | base
