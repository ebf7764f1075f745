# SPDX-License-Identifier: Apache-2.0
"""The oracle of the transform against evaluation point by point, and its use: products modulo x^n + 1."""

from __future__ import annotations

import random

import pytest

from dv.oracle import bit_reverse, forward, inverse, root, twiddle_table
from dv.primes import prime_above

SIZES = [2, 4, 8, 64]


def polynomial(modulus: int, n: int, seed: int) -> list[int]:
    draw = random.Random(seed)
    return [draw.randrange(modulus) for _ in range(n)]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("cyclic", [False, True])
def test_each_position_is_a_value(n, cyclic):
    modulus, bits = prime_above(20, 2 * n), n.bit_length() - 1
    psi, poly = root(modulus, n), polynomial(modulus, n, seed=n)
    points = [pow(psi, 2 * bit_reverse(i, bits) + (not cyclic), modulus) for i in range(n)]
    values = [sum(a * pow(x, j, modulus) for j, a in enumerate(poly)) % modulus for x in points]
    assert forward(poly, psi, modulus, cyclic=cyclic) == values
    assert inverse(values, psi, modulus, cyclic=cyclic) == poly


@pytest.mark.parametrize("n", SIZES)
def test_products_of_values_are_the_negacyclic_product(n):
    modulus = prime_above(20, 2 * n)
    psi, a, b = root(modulus, n), polynomial(modulus, n, seed=1), polynomial(modulus, n, seed=2)
    product = [0] * n
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            product[(i + j) % n] += x * y if i + j < n else -x * y
    pairs = zip(forward(a, psi, modulus), forward(b, psi, modulus), strict=True)
    assert inverse([x * y % modulus for x, y in pairs], psi, modulus) == [x % modulus for x in product]


def test_table():
    """Entry j is psi to the reversed j; entry n/2 is psi, from which a driver's table can be read back."""
    assert twiddle_table(17, 3, 8) == [1, 13, 9, 15, 3, 5, 10, 11]
