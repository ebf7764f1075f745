# SPDX-License-Identifier: Apache-2.0
"""Residues modulo an odd number below 2^64, as arrays of uint64: the operations of a trace, exact.

Products are Montgomery's: a b / 2^64 mod q from the upper half of a b, for a of any 64 bits and b < q.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


def _high(a: Words, b: Words | np.uint64) -> Words:
    """Return the upper 64 bits of a product."""
    a0, a1, b0, b1 = a & _LOW, a >> _HALF, b & _LOW, b >> _HALF
    cross, other = a0 * b1, a1 * b0
    middle = (a0 * b0 >> _HALF) + (cross & _LOW) + (other & _LOW)
    high: Words = a1 * b1 + (cross >> _HALF) + (other >> _HALF) + (middle >> _HALF)
    return high


class Modulus:
    """Arithmetic modulo an odd q < 2^64 on arrays of words below q; arrays of one shape, or a column of constants."""

    def __init__(self, q: int) -> None:
        """Prepare the constants of q."""
        self.q = q
        self._q = np.uint64(q)
        self._inverse = np.uint64(pow(q, -1, 2**64))
        self._square = np.array([2**128 % q], dtype=np.uint64)

    def constants(self, values: list[int]) -> Words:
        """Return factors for `times`."""
        return np.array([value * 2**64 % self.q for value in values], dtype=np.uint64)

    def times(self, a: Words, factors: Words) -> Words:
        """Return a c mod q for any words a and factors that `constants` made of c."""
        high, low = _high(a, factors), _high(a * factors * self._inverse, self._q)
        return np.where(high < low, high - low + self._q, high - low)

    def mul(self, a: Words, b: Words) -> Words:
        """Return a b mod q."""
        return self.times(self.times(a, b), self._square)

    def scale(self, a: Words, factor: int) -> Words:
        """Return a c mod q for any words a."""
        return self.times(a, self.constants([factor]))

    def add(self, a: Words, b: Words) -> Words:
        """Return a + b mod q."""
        total = a + b
        return np.where((total >= self._q) | (total < a), total - self._q, total)

    def sub(self, a: Words, b: Words) -> Words:
        """Return a - b mod q."""
        return np.where(a < b, a - b + self._q, a - b)

    def neg(self, a: Words) -> Words:
        """Return -a mod q."""
        return np.where(a == 0, a, self._q - a)


@lru_cache(maxsize=256)
def modulus(q: int) -> Modulus:
    """Return the arithmetic of q."""
    return Modulus(q)


@lru_cache(maxsize=32)
def bit_reversed(n: int) -> NDArray[np.int64]:
    """Return the bit reversals of 0 to n - 1."""
    found = np.zeros(1, dtype=np.int64)
    while len(found) < n:
        found = np.concatenate([2 * found, 2 * found + 1])
    return found


@lru_cache(maxsize=128)
def _factors(q: int, root: int, n: int) -> Words:
    """Return the powers of a 2n-th root in the order in which the butterflies take them."""
    powers, power = [], 1
    for _ in range(n):
        powers.append(power)
        power = power * root % q
    return modulus(q).constants(powers)[bit_reversed(n)]


def transform(a: Words, root: int, q: int) -> Words:
    """Return the values at the odd powers of a 2n-th root of unity, in bit-reversed order."""
    ring, factors, values, m = modulus(q), _factors(q, root, len(a)), a, 1
    while m < len(a):
        pairs = values.reshape(m, 2, -1)
        u, v = pairs[:, 0], ring.times(pairs[:, 1], factors[m : 2 * m, None])
        values = np.stack([ring.add(u, v), ring.sub(u, v)], axis=1)
        m *= 2
    return values.reshape(-1)


def inverse(values: Words, root: int, q: int) -> Words:
    """Return the coefficients whose values `transform` gives with the same root."""
    n = len(values)
    ring, factors, a, m = modulus(q), _factors(q, pow(root, -1, q), n), values, n // 2
    while m:
        pairs = a.reshape(m, 2, -1)
        u, v = pairs[:, 0], pairs[:, 1]
        a = np.stack([ring.add(u, v), ring.times(ring.sub(u, v), factors[m : 2 * m, None])], axis=1)
        m //= 2
    return ring.scale(a.reshape(-1), pow(n, -1, q))


@lru_cache(maxsize=64)
def smallest_root(q: int, n: int) -> int:
    """Return the smallest primitive 2n-th root of unity modulo q, 0 if there is none: what recorders leave out."""
    if (q - 1) % (2 * n):
        return 0
    candidates = (pow(base, (q - 1) // (2 * n), q) for base in range(2, 200))
    root = next((one for one in candidates if pow(one, n, q) == q - 1), 0)
    square, found, power = root * root % q, root, root
    for _ in range(n):
        found, power = min(found, power), power * square % q
    return found


def permuted_values(a: Words, g: int) -> Words:
    """Return the values of a(x^g), in the order of `transform`."""
    n, order = len(a), bit_reversed(len(a))
    moved: Words = a[order[((2 * order + 1) * (g % (2 * n)) % (2 * n)) >> 1]]
    return moved


def permuted_coefficients(a: Words, g: int, q: int) -> Words:
    """Return the coefficients of a(x^g) modulo x^n + 1."""
    n = len(a)
    places = np.arange(n) * (g % (2 * n)) % (2 * n)
    out = np.empty_like(a)
    out[places % n] = np.where(places < n, a, modulus(q).neg(a))
    return out


def shifted(a: Words, offset: int, q: int) -> Words:
    """Return the coefficients of a x^(-offset) modulo x^n + 1."""
    n = len(a)
    whole = np.concatenate([a, modulus(q).neg(a)])
    turned: Words = whole[(np.arange(n) + offset % (2 * n)) % (2 * n)]
    return turned


def quotient(rows: list[Words], moduli: list[int]) -> Words:
    """Return round(sum of y_k / q_k), in fixed point as docs/arithmetic.md has it."""
    fraction = 51 + min(q.bit_length() for q in moduli)
    scales = [((1 << fraction) + q // 2) // q for q in moduli]
    total = sum(row.astype(object) * scale for row, scale in zip(rows, scales, strict=True))
    return np.array((total + (1 << fraction - 1)) >> fraction, dtype=np.uint64)
