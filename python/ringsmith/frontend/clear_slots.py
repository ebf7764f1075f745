# SPDX-License-Identifier: Apache-2.0
"""A manual kernel's ciphertexts in the clear: arrays of all slots, which move as the slots of a ciphertext do."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ringsmith.ir.geometry import Array, Slots


class ClearSlots(np.ndarray[Any, Any]):
    """An array of the slots of one ciphertext; what is computed from it has the same slots."""

    slots: Slots | None

    @classmethod
    def of(cls, values: Array, slots: Slots) -> Self:
        """Return an array of `slots.count` values as slots."""
        made = values.view(cls)
        made.slots = slots
        return made

    def __array_finalize__(self, parent: Any) -> None:
        """Keep the slots of what this is computed from."""
        self.slots = getattr(parent, "slots", None)


def slots_held(x: Any) -> Slots | None:
    """Return the slots of an array that has all those of a ciphertext; None for any other object."""
    slots = x.slots if isinstance(x, ClearSlots) else None
    return slots if slots is not None and x.shape == (slots.count,) else None


def turned(x: Any, distance: int, slots: Slots) -> ClearSlots:
    """Return the slots of an array moved by a distance."""
    return ClearSlots.of(slots.turned(np.asarray(x), distance), slots)
