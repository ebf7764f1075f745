# SPDX-License-Identifier: Apache-2.0
"""coxHE's benchmark a: an encrypted 100x10 matrix times a plain vector of 10, one value per ciphertext.

Slots are the batch axis: slot j of every ciphertext belongs to the j-th problem, so nothing is ever rotated. The
published run fills one slot (1000 ciphertexts, 1000 plain multiplications, 900 additions). Ours lays the hundred
rows in the slots instead: ten ciphertexts, ten multiplications, nine additions.
"""

from __future__ import annotations

import functools
import operator

import numpy as np
from data import patients, weights

import ringsmith as rs

ROWS, COLUMNS = 100, 10


def sample(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A hundred patients, ten measurements each, and the weights of a linear model."""
    return {"a": patients(ROWS, COLUMNS), "b": weights(rng, COLUMNS)}


@rs.kernel(
    scheme="ckks",
    mode="manual",
    name="dot-plain-batch-axis",
    variant="published",
    params="coxhe-8192-210",
    a=rs.Encrypted(ROWS, COLUMNS, bound=1.0, packing="each"),
    b=rs.Plain(COLUMNS, bound=1.0, packing="each"),
    output=rs.Output(ROWS, packing="each"),
    tolerance=1e-4,
    sample=sample,
    reference=operator.matmul,
)
def published(a, b):
    """One value per ciphertext: 1000 plain multiplications, 900 additions, no key switch."""
    return [functools.reduce(operator.add, (a[i, k] * b[k] for k in range(COLUMNS))) for i in range(ROWS)]


@rs.kernel(
    scheme="ckks",
    name="dot-plain-batch-axis",
    variant="ours",
    a=rs.Encrypted(ROWS, COLUMNS, bound=1.0, packing="columns"),
    b=rs.Plain(COLUMNS, bound=1.0),
    tolerance=1e-4,
    sample=sample,
    reference=operator.matmul,
)
def ours(a, b):
    """One column per ciphertext, the hundred rows in its slots: 10 plain multiplications, 9 additions."""
    return a @ b
