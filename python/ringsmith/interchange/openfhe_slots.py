# SPDX-License-Identifier: Apache-2.0
"""BFV slots in OpenFHE's order: its rows turn with the generator 5, ours with 3. CKKS has one order.

OpenFHE's slot j of the first row is the value at the root to the 5^j, of the second one at that to the -5^j.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ringsmith import _native

_OPENFHE, _OURS = 5, 3


def places(n: int) -> npt.NDArray[np.int64]:
    """Return for each of OpenFHE's n slots of BFV the place of ours that holds it."""
    ours = np.zeros(2 * n, np.int64)
    power, other = 1, 1
    for j in range(n // 2):
        ours[power], ours[2 * n - power] = j, j + n // 2
        power = power * _OURS % (2 * n)
    found = np.zeros(n, np.int64)
    for j in range(n // 2):
        found[j], found[j + n // 2] = ours[other], ours[2 * n - other]
        other = other * _OPENFHE % (2 * n)
    return found


def to_ours(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a vector of n integers in OpenFHE's order as ours encode it."""
    made = np.empty_like(values)
    made[places(len(values))] = values
    return made


def to_openfhes(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a vector of n integers that ours decoded in OpenFHE's order."""
    found: npt.NDArray[Any] = values[places(len(values))]
    return found


def element(n: int, steps: int) -> int:
    """Return the exponent of OpenFHE's rotation by `steps` slots to the left, in both schemes."""
    return pow(_OPENFHE, steps % (n // 2), 2 * n)


def rotated(
    evaluator: _native.BfvEvaluator, ciphertext: _native.BfvCiphertext, n: int, steps: int, keys: _native.GaloisKeys
) -> _native.BfvCiphertext:
    """Return OpenFHE's rotation of BFV's rows to the left by `steps` (negative: right), with its key.

    Raises:
        InputError: a ciphertext of three polynomials.
        KeyMismatchError: a key is missing.
    """
    return evaluator.automorphism(ciphertext, element(n, steps), keys)
