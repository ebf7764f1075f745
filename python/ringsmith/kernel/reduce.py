# SPDX-License-Identifier: Apache-2.0
"""Sums along an axis of a packed tensor: additions of ciphertexts first, then rotations.

The rotations are summed in stages of which each is one linear transform without plaintexts, or by doubling, whichever
costs less.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ringsmith.kernel import cost
from ringsmith.kernel.align import combine
from ringsmith.kernel.layout import Packed, power_of_two
from ringsmith.kernel.location import Location
from ringsmith.kernel.slots import Builder, Index, Kind, Transform

Zeros = NDArray[np.bool_]


@dataclass
class _Group:
    """Terms that stand in the same ciphertexts: `ct[e]` of each result element, one row of slots for each term."""

    ct: Index
    rows: list[Index]


def sum_axis(builder: Builder, x: Packed, axis: int, where: Location) -> Packed:
    """Sum along one axis; the result is a view without it."""
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    x = x.compact()
    ct = np.moveaxis(x.ct, axis, 0).reshape(x.shape[axis], -1)
    slot = np.moveaxis(x.slot, axis, 0).reshape(x.shape[axis], -1)
    groups = _group(ct, slot)
    merged = _merge(builder, x, groups, where)
    if merged is not None:
        x, groups = merged
    total: Packed | None = None
    for group in groups:
        part = _reduce(builder, x.view(group.ct, group.rows[0]), group.rows, where)
        total = part if total is None else combine(builder, Kind.ADD, total, part, where)
    if total is None:
        raise AssertionError("an axis has at least one element")
    return total.view(total.ct.reshape(shape), total.slot.reshape(shape))


def _group(ct: Index, slot: Index) -> list[_Group]:
    """Group the terms by the ciphertexts they stand in."""
    groups: dict[bytes, _Group] = {}
    for ct_row, slot_row in zip(ct, slot, strict=True):
        groups.setdefault(ct_row.tobytes(), _Group(ct_row, [])).rows.append(slot_row)
    return list(groups.values())


def _merge(builder: Builder, x: Packed, groups: list[_Group], where: Location) -> tuple[Packed, list[_Group]] | None:
    """Add whole ciphertexts across groups when what one lacks is known to be zero there; None if that is unsound."""
    if len(groups) == 1:
        return None
    patterns = {row.tobytes(): row for group in groups for row in group.rows}
    for group in groups:
        own = {row.tobytes() for row in group.rows}
        if len(own) != len(group.rows):
            return None
        for key, row in patterns.items():
            if key not in own and not x.zeros[group.ct, row].all():
                return None
    tuples, ct = np.unique(np.stack([group.ct for group in groups], axis=1), axis=0, return_inverse=True)
    cts, zeros = [], []
    for members in tuples:
        total = x.cts[members[0]]
        for member in members[1:]:
            total = builder.add(Kind.ADD, (total, x.cts[member]), where)
        cts.append(total)
        zeros.append(x.zeros[members].all(axis=0))
    ct = ct.reshape(-1)
    rows = list(patterns.values())
    return Packed(tuple(cts), ct, rows[0], x.period, np.stack(zeros)), [_Group(ct, rows)]


def _stride(rows: list[Index], period: int) -> int | None:
    """Return the common distance from each row to the next, or None."""
    steps = {int(step) for a, b in pairwise(rows) for step in np.unique((b - a) % period)}
    return steps.pop() if len(steps) == 1 else None


def _reduce(builder: Builder, x: Packed, rows: list[Index], where: Location) -> Packed:
    """Sum terms that stand in the same ciphertexts at `rows` of slots; the result stands at the first row."""
    count = len(rows)
    if count == 1:
        return x
    stride = _stride(rows, x.period)
    if stride is None or stride == 0:
        total = x
        for row in rows[1:]:
            total = combine(builder, Kind.ADD, total, x.view(x.ct, row), where)
        return total
    padded = power_of_two(count)
    if all(x.zeros[x.ct, (rows[0] + stride * i) % x.period].all() for i in range(count, padded)):
        count = padded
    x = x.compact()
    x = shifted_sum(builder, x, stride, count, where)
    full_circle = count * stride == x.period and power_of_two(stride) == stride
    period = stride if full_circle else x.period
    return Packed(x.cts, x.ct, x.slot % period, period, x.zeros)


def shifted_sum(builder: Builder, x: Packed, stride: int, count: int, where: Location) -> Packed:
    """Return the sum of the first `count` rotations by multiples of `stride`, in the same places."""
    # Terms that come round again are one rotation several times, which no transform has.
    once = count * stride <= builder.slots
    way = _staged if once and cost.total(cost.stages(count)) <= cost.doubling(count) else _doubling
    done = [way(builder, ct, zero, stride, count, where) for ct, zero in zip(x.cts, x.zeros, strict=True)]
    cts, zeros = tuple(ct for ct, _ in done), np.stack([zero for _, zero in done])
    return Packed(cts, x.ct, x.slot, x.period, zeros)


def _staged(builder: Builder, ct: int, zero: Zeros, stride: int, count: int, where: Location) -> tuple[int, Zeros]:
    """Return the sum of `count` rotations of a ciphertext by multiples of `stride`, and where it is zero, in stages."""
    for radix in cost.stages(count):
        steps = [stride * i for i in range(radix)]
        if radix == 2:
            turned = builder.add(Kind.ROTATE, (ct,), where, steps=stride)
            ct = builder.add(Kind.ADD, (ct, turned), where)
        else:
            ct = builder.transform(ct, Transform.of({0: dict.fromkeys(steps, -1)}, builder.slots), where)
        zero = np.logical_and.reduce([np.roll(zero, -by) for by in steps])
        stride *= radix
    return ct, zero


def _doubling(builder: Builder, ct: int, zero: Zeros, stride: int, count: int, where: Location) -> tuple[int, Zeros]:
    """Return the sum of `count` rotations of a ciphertext by multiples of `stride`, and where it is zero."""

    def turned(value: tuple[int, Zeros], steps: int) -> tuple[int, Zeros]:
        return builder.add(Kind.ROTATE, (value[0],), where, steps=steps), np.roll(value[1], -steps)

    def plus(a: tuple[int, Zeros], b: tuple[int, Zeros]) -> tuple[int, Zeros]:
        return builder.add(Kind.ADD, (a[0], b[0]), where), a[1] & b[1]

    block, length = (ct, zero), 1
    total: tuple[int, Zeros] | None = None
    offset = 0
    while True:
        if count & length:
            part = turned(block, stride * offset)
            total = part if total is None else plus(total, part)
            offset += length
        if 2 * length > count:
            break
        block, length = plus(block, turned(block, stride * length)), 2 * length
    if total is None:
        raise AssertionError("count is at least one")
    return total
