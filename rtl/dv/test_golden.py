# SPDX-License-Identifier: Apache-2.0
"""The schedule's claims on the golden model: same residues and order as by definition, banks, distances."""

from __future__ import annotations

import random

import pytest

from dv.golden import bank, stage_distance, steps, transform
from dv.oracle import forward, inverse, root, twiddle_table
from dv.primes import prime_above

SIZES = [(1 << log2n, 1 << log2p) for log2n in range(3, 9) for log2p in range(6) if 4 << log2p <= 1 << log2n]


@pytest.mark.parametrize(("n", "p"), SIZES)
@pytest.mark.parametrize("cyclic", [False, True])
def test_same_residues_in_the_same_order(n, p, cyclic):
    modulus = prime_above(20, 2 * n)
    psi = root(modulus, n)
    table = twiddle_table(modulus, psi, n)
    source = random.Random(n * p)
    data = [source.randrange(modulus) for _ in range(n)]
    values = transform(data, table, modulus, p, cyclic=cyclic)
    assert values == forward(data, psi, modulus, cyclic=cyclic)
    assert values != data
    back = transform(values, table, modulus, p, inverse=True, cyclic=cyclic)
    assert back == inverse(values, psi, modulus, cyclic=cyclic) == data


@pytest.mark.parametrize(("n", "p"), SIZES)
@pytest.mark.parametrize("inverse", [False, True])
def test_banks_and_distance(n, p, inverse):
    for step in steps(n, p, inverse=inverse):
        assert bank(step.reads[0]) != bank(step.reads[1])
        assert bank(step.writes[0]) != bank(step.writes[1])
    assert stage_distance(n, p, inverse=inverse) == n // (4 * p)
