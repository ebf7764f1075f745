# SPDX-License-Identifier: Apache-2.0
"""Where the elements of a tensor stand: ciphertext and slot of each, what repeats, and what is known to be zero.

A view (slice, transposition, rotation, broadcast) only changes the map; ciphertexts are touched when two operands
have to line up. Slots outside the map hold anything, unless `zeros` says 0. All cts of one tensor repeat with one
`period` (a power of two dividing the slots); mapped slots are below it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ringsmith.kernel.graph import Shape
from ringsmith.kernel.slots import Index


@dataclass(frozen=True, eq=False)
class Packed:
    """A packed tensor: `cts` are operations of the program, element e is slot `slot[e]` of `cts[ct[e]]`.

    `zeros` has shape (len(cts), slots).
    """

    cts: tuple[int, ...]
    ct: Index
    slot: Index
    period: int
    zeros: NDArray[np.bool_]

    @property
    def shape(self) -> Shape:
        """Shape of the tensor."""
        return self.ct.shape

    def view(self, ct: Index, slot: Index) -> Packed:
        """Return the same ciphertexts under another map."""
        return replace(self, ct=ct, slot=slot)

    def gather(self, picked: Index) -> Packed:
        """Return the view whose element e is element `picked[e]` (row-major)."""
        return self.view(self.ct.reshape(-1)[picked], self.slot.reshape(-1)[picked])

    def broadcast(self, shape: Shape) -> Packed:
        """Return the view of a larger shape, as numpy broadcasts."""
        return self.view(np.broadcast_to(self.ct, shape), np.broadcast_to(self.slot, shape))

    def elements_of(self) -> list[Index]:
        """Return, for each ciphertext, the elements (row-major) that stand in it."""
        order = np.argsort(self.ct, axis=None, kind="stable")
        ends = np.searchsorted(self.ct.reshape(-1)[order], np.arange(1, len(self.cts)))
        return list(np.split(order, ends))

    def fills(self) -> bool:
        """Tell whether every slot holds an element or is known to be zero."""
        held = self.zeros[:, : self.period].copy()
        held[self.ct, self.slot] = True
        return bool(held.all())

    def compact(self) -> Packed:
        """Return the tensor without ciphertexts that no element uses."""
        used, ct = np.unique(self.ct, return_inverse=True)
        if len(used) == len(self.cts):
            return self
        return replace(self, cts=tuple(self.cts[i] for i in used), ct=ct.reshape(self.shape), zeros=self.zeros[used])


def power_of_two(count: int) -> int:
    """Return the smallest power of two that is at least `count`."""
    return 1 << (count - 1).bit_length()


def pack(shape: Shape, packing: str, slots: int) -> tuple[Index, Index, int, Index]:
    """Lay out a tensor: maps (ct, slot), the period, and for each ciphertext the element in each slot (-1: zero)."""
    elements = np.arange(int(np.prod(shape))).reshape(shape)
    if packing == "each":
        ct, slot, period = elements, np.zeros(shape, dtype=np.intp), 1
    elif packing == "columns":
        width = shape[-1] if shape else 1
        flat = elements.reshape(-1, width)
        chunk_ct, flat_slot, period = _lay_vectors(1, len(flat), slots)
        chunks = int(chunk_ct.max()) + 1
        ct = (np.arange(width)[None, :] * chunks + chunk_ct.reshape(-1, 1)).reshape(shape)
        slot = np.broadcast_to(flat_slot.reshape(-1, 1), flat.shape).reshape(shape)
    else:
        width = shape[-1] if shape else 1
        rows = elements.size // width
        row_ct, row_slot, period = _lay_vectors(rows, width, slots)
        ct, slot = row_ct.reshape(shape), row_slot.reshape(shape)
    fill = np.full((int(ct.max()) + 1, period), -1, dtype=np.intp)
    fill[ct.reshape(-1), slot.reshape(-1)] = elements.reshape(-1)
    return ct.astype(np.intp), slot.astype(np.intp), period, np.tile(fill, (1, slots // period))


def _lay_vectors(rows: int, width: int, slots: int) -> tuple[Index, Index, int]:
    """Place `rows` vectors: each padded to a power of two; several in one ciphertext or one over several."""
    padded = power_of_two(width)
    column = np.arange(width)[None, :]
    row = np.arange(rows)[:, None]
    if padded > slots:
        chunks = -(-width // slots)
        return row * chunks + column // slots, np.broadcast_to(column % slots, (rows, width)), slots
    per_ct = slots // padded
    ct = np.broadcast_to(row // per_ct, (rows, width))
    slot = (row % per_ct) * padded + column
    return ct, slot, min(power_of_two(rows) * padded, slots)


def spread(tensor: Packed, slots: int) -> Packed:
    """Return a view without two elements in one place: copies go to the repetitions, then to repeated ciphertexts."""
    place = (tensor.ct * slots + tensor.slot).reshape(-1)
    order = np.argsort(place, kind="stable")
    ranked = place[order]
    starts = np.r_[0, np.flatnonzero(np.diff(ranked)) + 1]
    rank_sorted = np.arange(len(place)) - np.repeat(starts, np.diff(np.r_[starts, len(place)]))
    if not rank_sorted.any():
        return tensor
    rank = np.empty_like(place)
    rank[order] = rank_sorted
    rank = rank.reshape(tensor.shape)
    repeats = min(slots // tensor.period, power_of_two(int(rank.max()) + 1))
    slot = tensor.slot + tensor.period * (rank % repeats)
    copies = int(rank.max()) // repeats + 1
    ct = tensor.ct + len(tensor.cts) * (rank // repeats)
    return Packed(tensor.cts * copies, ct, slot, tensor.period * repeats, np.tile(tensor.zeros, (copies, 1))).compact()
