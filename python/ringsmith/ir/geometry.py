# SPDX-License-Identifier: Apache-2.0
"""The slots of a ciphertext: rows of equal width, which rotations turn alike.

A ciphertext of BFV has two rows of n/2 slots, one of CKKS has one. Slot s is number s % width of row s // width. What
moves slots is the group Z_rows x Z_width: a rotation adds to the column, the row swap to the row. Its
elements, the *distances*, are numbered as the slots are: distance d leads from slot 0 to slot d.

Vectors of slots may repeat. Their *period* is a geometry too: what stands in its rows and columns stands again in all
others. Slots keep their numbers among all slots, whatever the period.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.intp]
Array = NDArray[Any]


@dataclass(frozen=True)
class Slots:
    """`rows` of `width` slots, both powers of two."""

    rows: int
    width: int

    @property
    def count(self) -> int:
        """All slots."""
        return self.rows * self.width

    def first(self, count: int) -> Slots:
        """Return the geometry of the first `count` slots (a power of two): part of a row or whole rows."""
        return Slots(max(count // self.width, 1), min(count, self.width))

    def join(self, other: Slots) -> Slots:
        """Return the least period that two repeat with."""
        return Slots(max(self.rows, other.rows), max(self.width, other.width))

    @overload
    def plus(self, slot: int, distance: int, period: Slots) -> int: ...
    @overload
    def plus(self, slot: Any, distance: Any, period: Slots) -> Index: ...
    def plus(self, slot: Any, distance: Any, period: Slots) -> Any:
        """Return the slots at a distance from others, the first of those that a period makes alike."""
        row = (slot // self.width + distance // self.width) % period.rows
        return row * self.width + (slot + distance) % period.width

    def minus(self, slot: Index, other: Index, period: Slots) -> Index:
        """Return the distances from `other` to `slot`, the least of those that a period makes alike."""
        row = (slot // self.width - other // self.width) % period.rows
        return np.asarray(row * self.width + (slot - other) % period.width)

    def repeat(self, values: Array, period: Slots) -> Array:
        """Return slots (the last axis) with the first period's values in all others."""
        shape = values.shape[:-1]
        kept = values.reshape(*shape, self.rows, self.width)[..., : period.rows, : period.width]
        copies = (1,) * len(shape) + (self.rows // period.rows, self.width // period.width)
        return np.tile(kept, copies).reshape(values.shape)

    def turned(self, values: Array, distance: int) -> Array:
        """Return slots (the last axis) moved by a distance: slot 0 receives slot `distance`."""
        grid = values.reshape(*values.shape[:-1], self.rows, self.width)
        return np.roll(grid, (-(distance // self.width), -distance), (-2, -1)).reshape(values.shape)


def slots_of(scheme: str, n: int) -> Slots:
    """Return the slots of a scheme's ciphertexts at a ring degree."""
    return Slots(2 if scheme == "bfv" else 1, n // 2)
