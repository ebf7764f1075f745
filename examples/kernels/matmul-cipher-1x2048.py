# SPDX-License-Identifier: Apache-2.0
"""coxHE's benchmark e: an encrypted 1x2048 matrix times an encrypted column of 2048, one row per ciphertext.

The products of the slots are summed by 11 rotations after one relinearisation: 12 key switches.
"""

from __future__ import annotations

import numpy as np
from data import pixels, weights
from packing import cipher_inner_product

import ringsmith as rs

ROWS, COLUMNS = 1, 2048


def sample(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The pixels of thirty-two handwritten digits in one row, and the weights of a linear model."""
    return {"a": pixels(COLUMNS)[None, :], "b": weights(rng, COLUMNS)[None, :]}


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The matrix product in the clear; b holds the column as a row."""
    return a @ b.T


@rs.kernel(
    scheme="ckks",
    mode="manual",
    name="matmul-cipher-1x2048",
    variant="published",
    params="coxhe-8192-210",
    failure_bits=40,  # the paper's primes and scale have room for no more
    a=rs.Encrypted(ROWS, COLUMNS, bound=1.0, packing="rows"),
    b=rs.Encrypted(1, COLUMNS, bound=1.0, packing="rows"),
    output=rs.Output(ROWS, 1, packing="each"),
    tolerance=0.1,
    sample=sample,
    reference=reference,
)
def published(a, b):
    """One row per ciphertext: 12 key switches."""
    return [[cipher_inner_product(a[i], b[0], COLUMNS)] for i in range(ROWS)]
