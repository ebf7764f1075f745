# SPDX-License-Identifier: Apache-2.0
"""The transform by its definition, in Python integers: no butterflies, no twiddle table, no order of memory words.

A polynomial modulo x^n - c^2 is its remainders modulo x^(n/2) - c and x^(n/2) + c (Chinese remainder theorem), and so
on down to x - z, where the remainder is the value at z. From x^n + 1 = x^n - psi^n on that gives the values at the odd
powers of psi, the value at psi^(2 brv(i) + 1) in position i; from x^n - 1 on, cyclic, those at its even powers.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate, repeat

from ringsmith.hw.vectors import reversed_bits, smallest_root, twiddle_table

__all__ = ["bit_reverse", "forward", "inverse", "root", "twiddle_table"]

Poly = list[int]


def forward(poly: Poly, psi: int, modulus: int, *, cyclic: bool = False) -> Poly:
    """Values of `poly` (n coefficients, n a power of two) at powers of psi, a primitive 2n-th root of unity."""
    n = len(poly)
    return _values(poly, 0 if cyclic else n, _powers(psi, 2 * n, modulus), modulus)


def inverse(values: Poly, psi: int, modulus: int, *, cyclic: bool = False) -> Poly:
    """The polynomial with these values: the inverse of `forward`."""
    n = len(values)
    return _polynomial(values, 0 if cyclic else n, _powers(pow(psi, -1, modulus), 2 * n, modulus), modulus)


@lru_cache
def root(modulus: int, n: int) -> int:
    """The smallest primitive 2n-th root of unity modulo a prime that is 1 modulo 2n."""
    return smallest_root(modulus, n)


def bit_reverse(value: int, bits: int) -> int:
    """Reverse the low `bits` bits of `value`."""
    return reversed_bits(value, bits)


def _powers(base: int, count: int, modulus: int) -> list[int]:
    return list(accumulate(repeat(base, count - 1), lambda a, b: a * b % modulus, initial=1))


def _values(poly: Poly, exponent: int, powers: list[int], modulus: int) -> Poly:
    """Of a polynomial modulo x^len - psi^exponent."""
    half = len(poly) // 2
    if not half:
        return [poly[0] % modulus]
    # With c = psi^(exponent / 2), x^half is c in the first ring and -c, n powers of psi further on, in the second.
    c, low, high = powers[exponent // 2], poly[:half], poly[half:]
    first = [(a + c * b) % modulus for a, b in zip(low, high, strict=True)]
    second = [(a - c * b) % modulus for a, b in zip(low, high, strict=True)]
    return [
        *_values(first, exponent // 2, powers, modulus),
        *_values(second, exponent // 2 + len(powers) // 2, powers, modulus),
    ]


def _polynomial(values: Poly, exponent: int, inverses: list[int], modulus: int) -> Poly:
    """Modulo x^len - psi^exponent, from its values; `inverses` are powers of 1 / psi."""
    half = len(values) // 2
    if not half:
        return list(values)
    first = _polynomial(values[:half], exponent // 2, inverses, modulus)
    second = _polynomial(values[half:], exponent // 2 + len(inverses) // 2, inverses, modulus)
    by2 = (modulus + 1) // 2
    low = [(a + b) * by2 % modulus for a, b in zip(first, second, strict=True)]
    high = [(a - b) * by2 * inverses[exponent // 2] % modulus for a, b in zip(first, second, strict=True)]
    return low + high
