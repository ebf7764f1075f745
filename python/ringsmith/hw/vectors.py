# SPDX-License-Identifier: Apache-2.0
"""Known answers of a transform by its definition, in Python integers: no fast algorithm, nothing shared with the RTL.

The forward transform of a over x^n + 1 in bit-reversed order is A[i] = sum_j a[j] psi^((2 brv(i) + 1) j) modulo m, psi
the smallest primitive 2n-th root of unity.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ringsmith._native import is_prime
from ringsmith.errors import ParameterError


@dataclass(frozen=True)
class LaneVector:
    """One lane: modulus, root, twiddle table (psi^brv(j)), input and its transform, each of n entries."""

    modulus: int
    psi: int
    table: tuple[int, ...]
    values: tuple[int, ...]
    transform: tuple[int, ...]


def prime_below(bits: int, n: int, skip: int = 0) -> int:
    """The largest prime of `bits` bits that is 1 modulo 2n, after `skip` larger ones."""
    candidate = ((1 << bits) - 2) // (2 * n) * (2 * n) + 1
    while candidate.bit_length() == bits:
        if is_prime(candidate):
            if skip == 0:
                return candidate
            skip -= 1
        candidate -= 2 * n
    raise ParameterError(f"no prime of {bits} bits is 1 modulo {2 * n}: use more bits or a smaller n")


def smallest_root(modulus: int, n: int) -> int:
    """The smallest primitive 2n-th root of unity."""
    root = next(r for g in range(2, modulus) if pow(r := pow(g, (modulus - 1) // (2 * n), modulus), n, modulus) != 1)
    square, power, best = root * root % modulus, root, root
    for _ in range(n):
        power = power * square % modulus
        best = min(best, power)
    return best


def reversed_bits(value: int, bits: int) -> int:
    """`value` with its `bits` bits in opposite order."""
    return int(f"{value:0{bits}b}"[::-1], 2)


def twiddle_table(modulus: int, psi: int, n: int) -> list[int]:
    """psi^brv(j) for j from 0 to n - 1: the one table of a transform size, which the hardware is loaded with."""
    bits = n.bit_length() - 1
    return [pow(psi, reversed_bits(j, bits), modulus) for j in range(n)]


def transform(values: Sequence[int], modulus: int, psi: int) -> tuple[int, ...]:
    """The forward transform of n values by its definition."""
    n = len(values)
    powers = _powers(modulus, psi, n)
    order = [reversed_bits(i, n.bit_length() - 1) for i in range(n)]
    return tuple(sum(a * powers[(2 * k + 1) * j % (2 * n)] for j, a in enumerate(values)) % modulus for k in order)


def lane_vector(modulus: int, n: int, *, seed: int) -> LaneVector:
    """A random polynomial and its transform for one lane's modulus, a prime that is 1 modulo 2n."""
    psi = smallest_root(modulus, n)
    rng = random.Random(seed)
    values = tuple(rng.randrange(modulus) for _ in range(n))
    return LaneVector(modulus, psi, tuple(twiddle_table(modulus, psi, n)), values, transform(values, modulus, psi))


def _powers(modulus: int, psi: int, n: int) -> list[int]:
    """The powers of psi from 0 to 2n - 1."""
    powers = [1]
    for _ in range(2 * n - 1):
        powers.append(powers[-1] * psi % modulus)
    return powers
