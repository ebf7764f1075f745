# SPDX-License-Identifier: Apache-2.0
"""The schedule's claims on the golden model: same residues and order as in place, banks, distances."""

from __future__ import annotations

import random

import pytest
from golden import (
    bank,
    find_psi,
    forward_in_place,
    inverse_in_place,
    prime_above,
    prime_below,
    stage_distance,
    steps,
    transform,
    twiddle_table,
)

SIZES = [(1 << log2n, 1 << log2p) for log2n in range(3, 9) for log2p in range(6) if 4 << log2p <= 1 << log2n]


@pytest.mark.parametrize(("n", "p"), SIZES)
@pytest.mark.parametrize("cyclic", [False, True])
def test_same_residues_in_the_same_order(n, p, cyclic):
    modulus = prime_above(20, 2 * n)
    table = twiddle_table(modulus, find_psi(modulus, n), n)
    source = random.Random(n * p)
    data = [source.randrange(modulus) for _ in range(n)]
    values = transform(data, table, modulus, p, cyclic=cyclic)
    assert values == forward_in_place(data, table, modulus, cyclic=cyclic)
    assert values != data
    back = transform(values, table, modulus, p, inverse=True, cyclic=cyclic)
    assert back == inverse_in_place(values, table, modulus, cyclic=cyclic) == data


@pytest.mark.parametrize(("n", "p"), SIZES)
def test_the_transform_is_the_evaluation(n, p):
    """Position i holds the value at psi^(2 brv(i) + 1): a multiplication of polynomials modulo x^n + 1."""
    modulus = prime_above(20, 2 * n)
    table = twiddle_table(modulus, find_psi(modulus, n), n)
    source = random.Random(n)
    a, b = ([source.randrange(modulus) for _ in range(n)] for _ in range(2))
    product = [0] * n
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            product[(i + j) % n] += x * y if i + j < n else -x * y
    values = zip(transform(a, table, modulus, p), transform(b, table, modulus, p), strict=True)
    pointwise = [x * y % modulus for x, y in values]
    assert transform(pointwise, table, modulus, p, inverse=True) == [x % modulus for x in product]


@pytest.mark.parametrize(("n", "p"), SIZES)
@pytest.mark.parametrize("inverse", [False, True])
def test_banks_and_distance(n, p, inverse):
    for step in steps(n, p, inverse=inverse):
        assert bank(step.reads[0]) != bank(step.reads[1])
        assert bank(step.writes[0]) != bank(step.writes[1])
    assert stage_distance(n, p, inverse=inverse) == n // (4 * p)


@pytest.mark.parametrize(("bits", "step", "prime"), [(14, 1024, 15361), (13, 1024, None), (12, 512, None)])
def test_prime_search_ends(bits, step, prime):
    """The largest prime of a size; an error where no smaller number can be one."""
    if prime:
        assert prime_below(bits, step) == prime
    else:
        with pytest.raises(ValueError, match=f"no prime below 2\\^{bits} is 1 modulo {step}"):
            prime_below(bits, step)
