# SPDX-License-Identifier: Apache-2.0
"""Layout of a tensor: ciphertext and slot of each element, repetition, and slots known to be zero.

A view (slice, transposition, rotation, broadcast) only changes the map; ciphertexts are touched when two operands
have to line up. Slots outside the map hold anything, unless `zeros` says 0. Elements that are zero, as those of a
padding, need not stand anywhere: their ciphertext is -1. All cts of one tensor repeat with one
`period`; mapped slots are the first ones of it. A vector that fits into a row of slots stands in one row, one that
does not starts at the first slot and goes on in the next row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.graph import Shape


@dataclass(frozen=True, eq=False)
class Packed:
    """A packed tensor: `cts` are operations of the program, element e is slot `slot[e]` of `cts[ct[e]]`.

    `ct[e]` is -1, and `slot[e]` 0, where the element is zero and stands nowhere. `zeros` has shape (len(cts), slots).
    """

    cts: tuple[int, ...]
    ct: Index
    slot: Index
    period: Slots
    zeros: NDArray[np.bool_]

    @property
    def shape(self) -> Shape:
        """Shape of the tensor."""
        return self.ct.shape

    @property
    def held(self) -> NDArray[np.bool_]:
        """Which elements stand somewhere."""
        return self.ct >= 0

    @property
    def whole(self) -> bool:
        """Return whether all elements stand somewhere."""
        return bool(self.held.all())

    def only(self, kept: NDArray[np.bool_]) -> Packed:
        """Return the view in which the elements that are not kept stand nowhere."""
        return self.view(np.where(kept, self.ct, -1), np.where(kept, self.slot, 0))

    def view(self, ct: Index, slot: Index) -> Packed:
        """Return the same ciphertexts under another map."""
        return replace(self, ct=ct, slot=slot)

    def gather(self, picked: Index) -> Packed:
        """Return the view whose element e is element `picked[e]` (row-major); -1 picks a zero."""
        found = self.view(self.ct.reshape(-1)[picked], self.slot.reshape(-1)[picked])
        return found if (picked >= 0).all() else found.only((picked >= 0) & found.held)

    def broadcast(self, shape: Shape) -> Packed:
        """Return the view of a larger shape, as numpy broadcasts."""
        return self.view(np.broadcast_to(self.ct, shape), np.broadcast_to(self.slot, shape))

    def elements_of(self) -> list[Index]:
        """Return, for each ciphertext, the elements (row-major) that stand in it."""
        order = np.argsort(self.ct, axis=None, kind="stable")
        order = order[np.count_nonzero(self.ct < 0) :]
        ends = np.searchsorted(self.ct.reshape(-1)[order], np.arange(1, len(self.cts)))
        return list(np.split(order, ends))

    def fills(self, slots: Slots) -> bool:
        """Return whether every slot holds an element or is known to be zero."""
        held = np.zeros_like(self.zeros)
        held[self.ct[self.held], self.slot[self.held]] = True
        return bool((self.zeros | slots.repeat(held, self.period)).all())

    def compact(self) -> Packed:
        """Return the tensor without ciphertexts that no element uses."""
        used = np.unique(self.ct[self.held])
        if len(used) == len(self.cts):
            return self
        ct = np.where(self.held, np.searchsorted(used, self.ct), -1)
        return replace(self, cts=tuple(self.cts[i] for i in used), ct=ct, zeros=self.zeros[used])


def power_of_two(count: int) -> int:
    """Return the smallest power of two that is at least `count`."""
    return 1 << (count - 1).bit_length()


def pack(shape: Shape, packing: str, slots: Slots) -> tuple[Index, Index, Slots, Index]:
    """Lay out a tensor: maps (ct, slot), the period, and for each ciphertext the element in each slot (-1: zero)."""
    elements = np.arange(int(np.prod(shape))).reshape(shape)
    if packing == "transposed":
        ct, slot, period, gather = pack(shape[::-1], "rows", slots)
        return ct.T, slot.T, period, np.where(gather < 0, -1, elements.T.reshape(-1)[gather])
    if packing == "each":
        ct, slot, period = elements, np.zeros(shape, dtype=np.intp), Slots(1, 1)
    elif packing == "columns":
        width = shape[-1] if shape else 1
        flat = elements.reshape(-1, width)
        chunk_ct, flat_slot, period = _lay_vectors(1, len(flat), slots)
        chunks = int(chunk_ct.max()) + 1
        ct = (np.arange(width)[None, :] * chunks + chunk_ct.reshape(-1, 1)).reshape(shape)
        slot = np.broadcast_to(flat_slot.reshape(-1, 1), flat.shape).reshape(shape)
    elif packing == "blocks":
        # One block for each index of the first axis, whatever the ciphertexts; all other axes padded to powers of two.
        extents = [power_of_two(extent) for extent in shape[1:]]
        block_ct, block_slot, period = _lay_vectors(shape[0], math.prod(extents), slots)
        inner = np.ravel_multi_index(tuple(np.indices(shape[1:])), extents)
        ct, slot = block_ct[:, inner], block_slot[:, inner]
    else:
        width = shape[-1] if shape else 1
        rows = elements.size // width
        row_ct, row_slot, period = _lay_vectors(rows, width, slots)
        ct, slot = row_ct.reshape(shape), row_slot.reshape(shape)
    fill = np.full((int(ct.max()) + 1, slots.count), -1, dtype=np.intp)
    fill[ct.reshape(-1), slot.reshape(-1)] = elements.reshape(-1)
    return ct.astype(np.intp), slot.astype(np.intp), period, slots.repeat(fill, period)


def packings(shape: Shape) -> list[str]:
    """Return the packings by rows, and by blocks where these are others and shifts of inner axes stay inside them."""
    blocks = len(shape) > 2 and any(power_of_two(extent) != extent for extent in shape[1:-1])
    return ["rows", "blocks"] if blocks else ["rows"]


def _lay_vectors(count: int, length: int, slots: Slots) -> tuple[Index, Index, Slots]:
    """Place vectors: each padded to a power of two; several in one ciphertext or one over several."""
    padded = power_of_two(length)
    element = np.arange(length)[None, :]
    vector = np.arange(count)[:, None]
    if padded > slots.count:
        chunks = -(-length // slots.count)
        slot = np.broadcast_to(element % slots.count, (count, length))
        return vector * chunks + element // slots.count, slot, slots
    per_ct = slots.count // padded
    ct = np.broadcast_to(vector // per_ct, (count, length))
    slot = (vector % per_ct) * padded + element
    return ct, slot, slots.first(min(power_of_two(count) * padded, slots.count))


def spread(tensor: Packed, slots: Slots) -> Packed:
    """Return a view without two elements in one place: copies go to the repetitions, then to repeated ciphertexts."""
    if not tensor.whole:
        return scattered(spread(tensor.view(tensor.ct[tensor.held], tensor.slot[tensor.held]), slots), tensor.held)
    place = (tensor.ct * slots.count + tensor.slot).reshape(-1)
    order = np.argsort(place, kind="stable")
    ranked = place[order]
    starts = np.r_[0, np.flatnonzero(np.diff(ranked)) + 1]
    rank_sorted = np.arange(len(place)) - np.repeat(starts, np.diff(np.r_[starts, len(place)]))
    if not rank_sorted.any():
        return tensor
    rank = np.empty_like(place)
    rank[order] = rank_sorted
    rank = rank.reshape(tensor.shape)
    period = tensor.period
    repeats = min(slots.count // period.count, power_of_two(int(rank.max()) + 1))
    # Along a row first.
    across = min(slots.width // period.width, repeats)
    slot = tensor.slot + period.width * (rank % across) + slots.width * period.rows * (rank % repeats // across)
    copies = int(rank.max()) // repeats + 1
    ct = tensor.ct + len(tensor.cts) * (rank // repeats)
    wider = Slots(period.rows * (repeats // across), period.width * across)
    return Packed(tensor.cts * copies, ct, slot, wider, np.tile(tensor.zeros, (copies, 1))).compact()


def scattered(values: Packed, held: NDArray[np.bool_]) -> Packed:
    """Return the tensor whose held elements, in order, are those of a vector; the others stand nowhere."""
    ct, slot = np.full(held.shape, -1, dtype=np.intp), np.zeros(held.shape, dtype=np.intp)
    ct[held], slot[held] = values.ct, values.slot
    return values.view(ct, slot)
