# SPDX-License-Identifier: Apache-2.0
"""coxHE's benchmark d: an encrypted 1x10 matrix times a plain column of 10, one row per ciphertext.

The products of the slots are summed by 4 rotations: 4 key switches.
"""

from __future__ import annotations

import numpy as np
from data import patients, weights
from packing import plain_inner_product

import ringsmith as rs

ROWS, COLUMNS = 1, 10


def sample(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """One patient, ten measurements, and the weights of a linear model."""
    return {"a": patients(ROWS, COLUMNS), "b": weights(rng, COLUMNS)[None, :]}


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The matrix product in the clear; b holds the column as a row."""
    return a @ b.T


@rs.kernel(
    scheme="ckks",
    mode="manual",
    name="matmul-plain-1x10",
    variant="published",
    params="coxhe-8192-210",
    failure_bits=40,  # the paper's primes and scale have room for no more
    a=rs.Encrypted(ROWS, COLUMNS, bound=1.0, packing="rows"),
    b=rs.Plain(1, COLUMNS, bound=1.0, packing="rows"),
    output=rs.Output(ROWS, 1, packing="each"),
    tolerance=2e-3,
    sample=sample,
    reference=reference,
)
def published(a, b):
    """One row per ciphertext: 4 key switches."""
    return [[plain_inner_product(a[i], b[0], COLUMNS)] for i in range(ROWS)]
