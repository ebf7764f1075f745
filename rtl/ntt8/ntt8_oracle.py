# SPDX-License-Identifier: Apache-2.0
"""The 8-point negacyclic transform by its definition: evaluation at the odd powers of psi, in Python integers."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass

N = 8


def parameter(name: str, default: int) -> int:
    """A parameter of the design under test, from the environment of the checks."""
    return int(os.environ.get(f"PARAM_{name}", str(default)))


def bit_reverse(index: int) -> int:
    """The three bits of an index, reversed."""
    return int(f"{index:03b}"[::-1], 2)


@dataclass(frozen=True)
class Ring:
    """Z_m[x]/(x^8 + 1) with m = 1 mod 16 and psi its smallest primitive 16th root of unity."""

    modulus: int
    psi: int

    @classmethod
    def largest(cls, bits: int) -> Ring:
        """The ring of the largest prime of `bits` bits that is 1 modulo 16."""
        candidate = (1 << bits) - 15
        while not _is_prime(candidate):
            candidate -= 16
        return cls(candidate, _smallest_root(candidate))

    def twiddles(self) -> list[int]:
        """psi^brv(i), the table the hardware takes."""
        return [pow(self.psi, bit_reverse(i), self.modulus) for i in range(N)]

    def barrett(self, width: int) -> int:
        """floor(2^(k + width + 2) / m), k the bits of m."""
        return (1 << (self.modulus.bit_length() + width + 2)) // self.modulus

    def forward(self, poly: list[int]) -> list[int]:
        """Position i holds the value at psi^(2 brv(i) + 1)."""
        points = [pow(self.psi, 2 * bit_reverse(i) + 1, self.modulus) for i in range(N)]
        return [sum(c * pow(x, j, self.modulus) for j, c in enumerate(poly)) % self.modulus for x in points]

    def polynomials(self, count: int, seed: int) -> list[list[int]]:
        """Extreme polynomials first, then random ones."""
        top = self.modulus - 1
        fixed = [[0] * N, [top] * N, [1] + [0] * 7, [0] * 7 + [top], [top, 0] * 4]
        draw = random.Random(seed)
        return (fixed + [[draw.randrange(self.modulus) for _ in range(N)] for _ in range(count)])[:count]


def _is_prime(value: int) -> bool:
    return all(pow(base, value - 1, value) == 1 for base in (2, 3, 5, 7)) and all(
        value % d for d in range(3, 1000, 2) if d < value
    )


def _smallest_root(modulus: int) -> int:
    for base in range(2, modulus):
        root = pow(base, (modulus - 1) // 16, modulus)
        if pow(root, 8, modulus) == modulus - 1:
            return min(pow(root, odd, modulus) for odd in range(1, 16, 2))
    raise ValueError(f"{modulus} has no primitive 16th root of unity")
