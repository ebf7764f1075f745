# SPDX-License-Identifier: Apache-2.0
"""CKKS slots in SEAL's order. SEAL's slot j is the value at the root to the 3^j, ours i that at the root to the 5^i.

Modulo 2n, 3 is -5^t for an odd t, so SEAL's slot j is ours t·j modulo n/2, conjugated for odd j. BFV has one order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ringsmith import _native
from ringsmith.errors import InputError
from ringsmith.interchange.ring import owner_of

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
        n = context.n
        element = pow(_SEAL, steps % (n // 2), 2 * n)
        self._context = context
        self._owner = owner_of(keys)
        self._images = _images(n, element)
        # Switching from s(x^g) to s adds to c_0 what relinearising a c_2 under the same halves adds.
        self._key = _native.RelinKey.from_halves(context, self._owner, keys.halves(element))

    def __call__(self, evaluator: _native.CkksEvaluator, ciphertext: _native.CkksCiphertext) -> _native.CkksCiphertext:
        """Return the rotated ciphertext. Raises InputError for one of three polynomials."""
        residues = ciphertext.residues()[:, :, self._images]
        if len(residues) != 2:
            raise InputError("a product of three polynomials is rotated; relinearize it first")
        parts = np.stack([residues[0], np.zeros_like(residues[0]), residues[1]])
        owner = owner_of(ciphertext)
        moved = _native.CkksCiphertext.from_residues(self._context, owner, ciphertext.scale, parts)
        return evaluator.relinearize(moved, self._key)


def _images(n: int, element: int) -> npt.NDArray[np.int64]:
    """Return which place of the values moves to each place: values stand at odd powers of a root, bit-reversed."""
    bits = n.bit_length() - 1
    reversed_places = np.array([int(f"{j:0{bits}b}"[::-1], 2) for j in range(n)])
    powers = (2 * reversed_places + 1) * element % (2 * n)
    images: npt.NDArray[np.int64] = reversed_places[(powers - 1) // 2]
    return images
