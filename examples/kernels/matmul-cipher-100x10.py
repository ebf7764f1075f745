# SPDX-License-Identifier: Apache-2.0
"""coxHE's benchmark h: an encrypted 100x10 matrix times an encrypted column of 10, one row per ciphertext.

Published: each row on its own, 500 key switches. Ours puts all rows into one ciphertext, ten values in a block of
sixteen slots, and sums all blocks at once.
"""

from __future__ import annotations

import numpy as np
from data import patients, weights
from packing import cipher_inner_product

import ringsmith as rs

ROWS, COLUMNS = 100, 10


def sample(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A hundred patients, ten measurements each, and the weights of a linear model."""
    return {"a": patients(ROWS, COLUMNS), "b": weights(rng, COLUMNS)[None, :]}


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The matrix product in the clear; b holds the column as a row."""
    return a @ b.T


@rs.kernel(
    scheme="ckks",
    mode="manual",
    name="matmul-cipher-100x10",
    variant="published",
    params="coxhe-8192-210",
    failure_bits=40,  # the paper's primes and scale have room for no more
    a=rs.Encrypted(ROWS, COLUMNS, bound=1.0, packing="rows"),
    b=rs.Encrypted(1, COLUMNS, bound=1.0, packing="rows"),
    output=rs.Output(ROWS, 1, packing="each"),
    tolerance=2e-3,
    sample=sample,
    reference=reference,
)
def published(a, b):
    """One row per ciphertext: 500 key switches."""
    return [[cipher_inner_product(a[i], b[0], COLUMNS)] for i in range(ROWS)]


@rs.kernel(
    scheme="ckks",
    name="matmul-cipher-100x10",
    variant="ours",
    a=rs.Encrypted(ROWS, COLUMNS, bound=1.0, packing="rows"),
    b=rs.Encrypted(1, COLUMNS, bound=1.0, packing="rows"),
    tolerance=2e-3,
    sample=sample,
    reference=reference,
)
def ours(a, b):
    """All rows in one ciphertext."""
    return a @ b.T
