# SPDX-License-Identifier: Apache-2.0
"""coxHE's benchmark b: an encrypted 100x10 matrix times an encrypted vector of 10, one value per ciphertext.

Relinearisation and rescaling are put off to the end of each sum, so 1000 multiplications need only 100 of either.
Ours lays the hundred rows in the slots and repeats each weight in all of them: one sum, one relinearisation.
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


def repeated(values: np.ndarray, _slots: int) -> np.ndarray:
    """One ciphertext per weight, the weight in one slot per row."""
    return np.repeat(values[:, None], ROWS, axis=1)


@rs.kernel(
    scheme="ckks",
    mode="manual",
    name="dot-cipher-batch-axis",
    variant="published",
    params="coxhe-8192-210",
    a=rs.Encrypted(ROWS, COLUMNS, bound=1.0, packing="each"),
    b=rs.Encrypted(COLUMNS, bound=1.0, packing="each"),
    output=rs.Output(ROWS, packing="each"),
    tolerance=1e-4,
    sample=sample,
    reference=operator.matmul,
)
def published(a, b):
    """One value per ciphertext: 1000 multiplications, 900 additions, 100 relinearisations and rescales."""
    sums = [functools.reduce(operator.add, (a[i, k] * b[k] for k in range(COLUMNS))) for i in range(ROWS)]
    return [rs.rescale(rs.relinearize(total)) for total in sums]


@rs.kernel(
    scheme="ckks",
    mode="manual",
    name="dot-cipher-batch-axis",
    variant="ours",
    params="coxhe-8192-210",
    a=rs.Encrypted(ROWS, COLUMNS, bound=1.0, packing="columns"),
    b=rs.Encrypted(COLUMNS, bound=1.0, packing=repeated),
    output=rs.Output(ROWS, packing="columns"),
    tolerance=1e-4,
    sample=sample,
    reference=operator.matmul,
)
def ours(a, b):
    """One column per ciphertext, the hundred rows in its slots: 10 multiplications, 1 relinearisation."""
    total = functools.reduce(operator.add, (a[k] * b[k] for k in range(COLUMNS)))
    return rs.rescale(rs.relinearize(total))
