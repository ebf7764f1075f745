# SPDX-License-Identifier: Apache-2.0
"""The ring of the 8-point transform and what its hardware is told about it."""

from __future__ import annotations

import random
from dataclasses import dataclass

from dv import oracle
from dv.primes import prime_below

N = 8


@dataclass(frozen=True)
class Ring:
    """Z_m[x]/(x^8 + 1) with m = 1 mod 16 and psi its smallest primitive 16th root of unity."""

    modulus: int
    psi: int

    @classmethod
    def largest(cls, bits: int) -> Ring:
        """The ring of the largest prime of `bits` bits that is 1 modulo 16."""
        modulus = prime_below(bits, 2 * N)
        return cls(modulus, oracle.root(modulus, N))

    def twiddles(self) -> list[int]:
        """psi^brv(i), the table the hardware takes."""
        return oracle.twiddle_table(self.modulus, self.psi, N)

    def barrett(self, width: int) -> int:
        """floor(2^(k + width + 2) / m), k the bits of m."""
        return (1 << (self.modulus.bit_length() + width + 2)) // self.modulus

    def forward(self, poly: list[int]) -> list[int]:
        """Position i holds the value at psi^(2 brv(i) + 1)."""
        return oracle.forward(poly, self.psi, self.modulus)

    def polynomials(self, count: int, seed: int) -> list[list[int]]:
        """Extreme polynomials first, then random ones."""
        top = self.modulus - 1
        fixed = [[0] * N, [top] * N, [1] + [0] * 7, [0] * 7 + [top], [top, 0] * 4]
        draw = random.Random(seed)
        return (fixed + [[draw.randrange(self.modulus) for _ in range(N)] for _ in range(count)])[:count]
