# SPDX-License-Identifier: Apache-2.0
"""Z_m[x]/(x^8 + 1) on the host: the table for the hardware, and the transform in software (merged psi, in place)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ringsmith.hw.vectors import smallest_root, twiddle_table

N = 8
LOG_N = 3


@dataclass(frozen=True)
class Ring:
    """The ring of a prime 1 mod 16; psi is its smallest primitive 16th root of unity."""

    modulus: int

    @cached_property
    def twiddles(self) -> list[int]:
        """psi^brv(i): the table of both directions."""
        return twiddle_table(self.modulus, self.psi, N)

    @cached_property
    def psi(self) -> int:
        """The smallest primitive 16th root of unity."""
        return smallest_root(self.modulus, N)

    def barrett(self, word_bits: int) -> int:
        """floor(2^(k + W + 2) / m) with k the bits of m."""
        return (1 << (self.modulus.bit_length() + word_bits + 2)) // self.modulus

    def forward(self, poly: list[int]) -> list[int]:
        """Cooley-Tukey, natural order in, bit-reversed evaluation order out."""
        values, m = list(poly), self.modulus
        for stage in range(LOG_N):
            blocks, half = 1 << stage, N >> (stage + 1)
            for block in range(blocks):
                factor = self.twiddles[blocks + block]
                for i in range(2 * half * block, 2 * half * block + half):
                    u, v = values[i], values[i + half] * factor % m
                    values[i], values[i + half] = (u + v) % m, (u - v) % m
        return values

    def inverse(self, values: list[int]) -> list[int]:
        """Gentleman-Sande with a halving a stage: the inverse of `forward`."""
        poly, m = list(values), self.modulus
        half_one = (m + 1) // 2
        for stage in reversed(range(LOG_N)):
            blocks, half = 1 << stage, N >> (stage + 1)
            for block in range(blocks):
                factor = self.twiddles[2 * blocks - 1 - block]
                for i in range(2 * half * block, 2 * half * block + half):
                    u, v = poly[i], poly[i + half]
                    poly[i], poly[i + half] = (u + v) * half_one % m, (v - u) * half_one * factor % m
        return poly
