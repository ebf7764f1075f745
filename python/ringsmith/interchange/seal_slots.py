# SPDX-License-Identifier: Apache-2.0
"""CKKS slots in SEAL's order. SEAL's slot j is the value at the root to the 3^j, ours i that at the root to the 5^i.

Modulo 2n, 3 is -5^t for an odd t, so SEAL's slot j is ours t·j modulo n/2, conjugated for odd j. BFV has one order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ringsmith import _native

_SEAL, _OURS = 3, 5


def places(n: int) -> npt.NDArray[np.int64]:
    """Return for each of SEAL's n/2 slots the place of ours that holds it."""
    step, power = 0, 1
    while power != 2 * n - _SEAL:
        step, power = step + 1, power * _OURS % (2 * n)
    return np.arange(n // 2) * step % (n // 2)


def to_ours(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a vector of n/2 numbers in SEAL's order as ours encode it."""
    made = np.empty_like(values)
    made[places(2 * len(values))] = _conjugated(values)
    return made


def to_seals(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a vector of n/2 numbers that ours decoded in SEAL's order."""
    return _conjugated(values[places(2 * len(values))])


def _conjugated(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.where(np.arange(len(values)) % 2 == 1, np.conj(values), values)


class Rotation:
    """SEAL's rotation of CKKS slots to the left: the automorphism x -> x^(3^steps) under a key of SEAL's."""

    def __init__(self, context: _native.CkksContext, keys: _native.GaloisKeys, steps: int) -> None:
        """Prepare the rotation by `steps` slots (negative: right). Raises KeyMismatchError where its key is missing."""
        self.element = element(context.n, steps)
        self._keys = keys
        if self.element != 1:
            keys.halves(self.element)

    def __call__(self, evaluator: _native.CkksEvaluator, ciphertext: _native.CkksCiphertext) -> _native.CkksCiphertext:
        """Return the rotated ciphertext. Raises InputError for one of three polynomials."""
        return evaluator.automorphism(ciphertext, self.element, self._keys)


def element(n: int, steps: int) -> int:
    """Return the exponent of SEAL's rotation by `steps` slots to the left."""
    return pow(_SEAL, steps % (n // 2), 2 * n)


def slot_sum(
    evaluator: _native.CkksEvaluator, ciphertext: _native.CkksCiphertext, n: int, keys: _native.GaloisKeys
) -> _native.CkksCiphertext:
    """Return the sum of all n/2 slots in every slot; needs SEAL's keys for 1, 2, 4, … n/4 steps.

    Raises:
        InputError: a ciphertext of three polynomials, or too small a degree.
        KeyMismatchError: a key is missing.
    """
    steps = 1
    while steps < n // 2:
        ciphertext = evaluator.add(ciphertext, evaluator.automorphism(ciphertext, element(n, steps), keys))
        steps *= 2
    return ciphertext
