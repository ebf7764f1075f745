# SPDX-License-Identifier: Apache-2.0
"""Places for elements that are zero and stand nowhere, where something is added to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ringsmith.compiler.lowering.layout import Packed, pack
from ringsmith.compiler.lowering.moves import Mask, aligned, fillings
from ringsmith.ir.geometry import Slots
from ringsmith.ir.graph import Shape
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import Builder
from ringsmith.location import Location


def nothing(builder: Builder, some: int, shape: Shape, where: Location) -> Packed:
    """Return a tensor of zeros, which needs no key: a ciphertext minus itself."""
    zero = builder.add(Kind.SUB, (some, some), where)
    ct, slot, period, gather = pack(shape, "rows", builder.slots)
    return Packed((zero,) * len(gather), ct, slot, period, np.ones_like(gather, dtype=bool))


def present(builder: Builder, x: Packed, where: Location) -> Packed:
    """Return the tensor, in places if none of its elements has one."""
    return x if x.held.any() or not x.ct.size else nothing(builder, x.cts[0], x.shape, where)


def extended(a: Packed, b: Packed, slots: Slots) -> Packed | None:
    """Return the places of a's elements, and of those that b alone holds; None if two of them would meet.

    An element that b alone holds stands where it moves with most of its ciphertext's common elements; those of a
    ciphertext without common elements keep their places in a ciphertext more.
    """
    ct, slot, cts = a.ct.copy(), a.slot.copy(), len(a.cts)
    both, alone = a.held & b.held, b.held & ~a.held
    period = a.period.join(b.period)
    for number in np.unique(b.ct[alone]):
        own, common = alone & (b.ct == number), both & (b.ct == number)
        if common.any():
            keys = a.ct[common] * slots.count + slots.minus(b.slot[common], a.slot[common], b.period)
            found, counts = np.unique(keys, return_counts=True)
            target, distance = divmod(int(found[np.argmax(counts)]), slots.count)
            back = int(slots.minus(np.asarray(0), np.asarray(distance), period))
        else:
            target, back, cts = cts, 0, cts + 1
        ct[own], slot[own] = target, slots.plus(b.slot[own], back, period)
    frame = Packed((0,) * cts, ct, slot, period, np.zeros((cts, slots.count), dtype=bool))
    return frame if _apart(frame, slots) else None


def _apart(frame: Packed, slots: Slots) -> bool:
    places = frame.ct[frame.held] * slots.count + slots.plus(frame.slot[frame.held], 0, frame.period)
    return len(np.unique(places)) == len(places)


def in_rows(a: Packed, b: Packed, slots: Slots) -> Packed:
    """Return places by rows for the elements that one of two tensors holds."""
    return _rows(a.shape, slots).only(a.held | b.held).compact()


def _rows(shape: Shape, slots: Slots) -> Packed:
    ct, slot, period, gather = pack(shape, "rows", slots)
    return Packed((0,) * len(gather), ct, slot, period, gather < 0)


def placed_zeros(builder: Builder, x: Packed, where: Location) -> Packed:
    """Return the tensor with a place for every element: where it continues its pattern into known zeros, else moved."""
    x = present(builder, x, where).compact()
    if x.whole:
        return x
    slots = builder.slots
    continued = _continued(x, slots)
    if continued is not None and x.zeros[continued.ct, continued.slot][~x.held].all():
        return continued
    return moved_to_rows(builder, x, where)


def moved_to_rows(builder: Builder, x: Packed, where: Location) -> Packed:
    """Return the tensor laid out by rows, with a place for every element."""
    target = _rows(x.shape, builder.slots)
    found = aligned(builder, x, target, fillings(x, target, builder.slots), where)
    zero = builder.add(Kind.SUB, (x.cts[0], x.cts[0]), where) if min(found.cts) < 0 else -1
    return replace(found, cts=tuple(zero if ct < 0 else ct for ct in found.cts))


def _continued(x: Packed, slots: Slots) -> Packed | None:
    """Return the tensor with its elements that stand nowhere at the places that equal steps along axes lead to."""
    if len(x.cts) > 1:
        return None
    held = np.argwhere(x.held)
    steps = [_step(x, axis, slots) for axis in range(len(x.shape))]
    grid = np.indices(x.shape).reshape(len(x.shape), -1).T - held[0]
    distances = np.asarray(grid @ np.array(steps, dtype=np.intp)).reshape(x.shape)
    start = int(x.slot[tuple(held[0])])
    slot = start // slots.width * slots.width + (start + distances) % x.period.width
    found = x.view(np.zeros_like(x.ct), slot)
    same = not slots.minus(slot, x.slot, x.period)[x.held].any()
    return found if same and _apart(found, slots) else None


def _step(x: Packed, axis: int, slots: Slots) -> int:
    """Return the slots from a held element to the next along an axis; 0 if no two of them follow each other."""
    ahead = np.take(x.held, range(1, x.shape[axis]), axis=axis) & np.take(x.held, range(x.shape[axis] - 1), axis=axis)
    if not ahead.any():
        return 0
    at = tuple(np.argwhere(ahead)[0])
    after = tuple(place + (number == axis) for number, place in enumerate(at))
    return int(x.slot[after] - x.slot[at])


def settled(builder: Builder, x: Packed, where: Location) -> Packed:
    """Return the tensor with its zeros in any slots that are known to be zero: what a result needs."""
    x = present(builder, x, where).compact()
    if x.whole:
        return x
    free = np.argwhere(x.zeros & ~_taken(x))
    if len(free):
        at, slot = free[0]
        return x.view(np.where(x.held, x.ct, at), np.where(x.held, x.slot, slot))
    zero = builder.add(Kind.SUB, (x.cts[0], x.cts[0]), where)
    zeros = np.concatenate([x.zeros, np.ones((1, builder.slots.count), dtype=bool)])
    return replace(x, cts=(*x.cts, zero), ct=np.where(x.held, x.ct, len(x.cts)), zeros=zeros)


def _taken(x: Packed) -> Mask:
    taken = np.zeros_like(x.zeros)
    taken[x.ct[x.held], x.slot[x.held]] = True
    return taken
