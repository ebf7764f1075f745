# SPDX-License-Identifier: Apache-2.0
"""Sums along an axis of a packed tensor: additions of ciphertexts first, then rotations.

The rotations are summed in stages of which each is one linear transform without plaintexts, or by doubling, whichever
costs less. Terms that go on in the next row of slots are summed in each row, and the rows are added last: one row swap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.compiler.lowering import cost
from ringsmith.compiler.lowering.align import combine
from ringsmith.compiler.lowering.layout import Packed, power_of_two, scattered
from ringsmith.compiler.lowering.moves import masked
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import Builder
from ringsmith.location import Location

#: A ciphertext, and where it is zero.
Value = tuple[int, NDArray[np.bool_]]

#: Terms at unequal distances from which a mask, which costs a level, is worth it.
_MASKED = 8


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
    merged = _merge(builder, x, groups, where) if x.whole else None
    if merged is not None:
        x, groups = merged
    total: Packed | None = None
    for group in groups:
        held = group.ct >= 0
        if not held.any():
            continue
        part = _reduce(builder, x.view(group.ct[held], group.rows[0][held]), [row[held] for row in group.rows], where)
        part = part if held.all() else scattered(part, held)
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


@dataclass(frozen=True)
class _Progression:
    """Terms at equal distances: term i stands `i * stride` slots after the first, counted along the rows of slots.

    `turns`: they wrap around inside their row instead of going on in the next one.
    """

    stride: int
    turns: bool

    def distances(self, numbers: Index, slots: Slots) -> Index:
        """Return the distances of terms from the first."""
        distances = self.stride * numbers
        return np.asarray(distances % slots.width if self.turns else distances)


def _progression(rows: list[Index], period: Slots, slots: Slots) -> _Progression | None:
    """Return how the terms follow each other; None unless they do at equal distances."""
    stride = int(slots.minus(rows[1], rows[0], period).flat[0])
    if stride == 0:
        return None
    found = _Progression(stride, turns=True)
    if stride < period.width and _follows(rows, found, period, slots):
        return found
    found = _Progression(stride, turns=False)
    whole = period == slots and slots.width % stride == 0 and len(rows) * stride <= slots.count
    return found if whole and _follows(rows, found, period, slots) else None


def _follows(rows: list[Index], found: _Progression, period: Slots, slots: Slots) -> bool:
    """Return whether all terms stand where a progression from the first one has them."""
    distances = found.distances(np.arange(len(rows)), slots)
    expected = slots.plus(rows[0], distances.reshape(-1, *[1] * rows[0].ndim), period)
    return not slots.minus(np.stack(rows), expected, period).any()


def _reduce(builder: Builder, x: Packed, rows: list[Index], where: Location) -> Packed:
    """Sum terms that stand in the same ciphertexts at `rows` of slots; the result stands at the first one."""
    if len(rows) == 1:
        return x.view(x.ct, rows[0])
    slots = builder.slots
    found = _progression(rows, x.period, slots)
    if found is None:
        rows = sorted(rows, key=lambda row: row.tolist())
        found = _progression(rows, x.period, slots)
    if found is not None:
        return _sum(builder, x.view(x.ct, rows[0]), rows, found, where)
    parts = _by_row(rows, slots)
    if len(parts) == 1 and (done := _uneven(builder, x, rows, where)) is not None:
        return done
    total: Packed | None = None
    for part in parts if len(parts) > 1 else [[row] for row in rows]:
        own = _reduce(builder, x, part, where)
        total = own if total is None else combine(builder, Kind.ADD, total, own, where)
    if total is None:
        raise AssertionError("there are at least two terms")
    return total


def _uneven(builder: Builder, x: Packed, rows: list[Index], where: Location) -> Packed | None:
    """Sum terms of one row of slots, in rising order, whose distances differ; None if that is best done one by one."""
    if (filled := _filled(x, rows, builder.slots)) is not None:
        return _reduce(builder, x, filled, where)
    if (nested := _nested(builder, x, rows, where)) is not None:
        return nested
    if len(rows) < _MASKED:
        return None
    # A mask makes zeros of what stands between the terms.
    held = x.view(np.broadcast_to(x.ct, (len(rows), *x.shape)), np.stack(rows))
    clean = masked(builder, held, where)
    clean = clean.view(clean.ct[0], clean.slot[0])
    filled = _filled(clean, rows, builder.slots)
    return None if filled is None else _reduce(builder, clean, filled, where)


def _filled(x: Packed, rows: list[Index], slots: Slots) -> list[Index] | None:
    """Return the terms with those places between them that are known to be zero; None unless all others are."""
    offsets = np.stack(rows) - rows[0]
    if (offsets != offsets[:, :1]).any() or not offsets[1:].all():
        return None
    own = offsets[:, 0]
    stride = math.gcd(*own.tolist())
    every = rows[0][None, :] + stride * np.arange(own.max() // stride + 1)[:, None]
    between = np.delete(every, own // stride, axis=0)
    if not len(between) or not x.zeros[x.ct, between].all():
        return None
    return list(every)


def _nested(builder: Builder, x: Packed, rows: list[Index], where: Location) -> Packed | None:
    """Sum equal runs of terms at equal distances, then their sums; None if there are no such runs."""
    every = np.stack(rows)
    steps = np.diff(every[:, 0])
    length = int(np.argmax(steps != steps[0])) + 1
    if length < 2 or len(rows) % length:
        return None
    runs = every.reshape(-1, length, *x.shape)
    terms = [runs[:, number] for number in range(length)]
    found = _progression(terms, x.period, builder.slots)
    if found is None:
        return None
    sums = _sum(builder, x.view(np.broadcast_to(x.ct, terms[0].shape), terms[0]), terms, found, where)
    return _reduce(builder, sums.view(sums.ct[0], sums.slot[0]), list(sums.slot), where)


def _by_row(rows: list[Index], slots: Slots) -> list[list[Index]]:
    """Group terms by the rows of slots that their elements stand in."""
    parts: dict[bytes, list[Index]] = {}
    for row in rows:
        parts.setdefault((row // slots.width).tobytes(), []).append(row)
    return list(parts.values())


def _sum(builder: Builder, x: Packed, rows: list[Index], found: _Progression, where: Location) -> Packed:
    """Sum terms at equal distances; x is the view of the first."""
    slots, count = builder.slots, len(rows)
    padded = power_of_two(count)
    after = found.distances(np.arange(count, padded), slots).tolist()
    if all(x.zeros[x.ct, slots.plus(rows[0], distance, x.period)].all() for distance in after):
        count = padded
    x = x.compact()
    done = [_added(builder, (ct, zero), found, count, where) for ct, zero in zip(x.cts, x.zeros, strict=True)]
    cts, zeros = tuple(ct for ct, _ in done), np.stack([zero for _, zero in done])
    period = _circle(x.period, found, count)
    return Packed(cts, x.ct, slots.plus(x.slot, 0, period), period, zeros)


def _circle(period: Slots, found: _Progression, count: int) -> Slots:
    """Return the period of the sum of `count` terms: terms all around a row, or around all rows, make it shorter."""
    stride, around = found.stride, count * found.stride
    if found.turns:
        return Slots(period.rows, stride) if around == period.width and power_of_two(stride) == stride else period
    return period.first(stride) if around == period.count else period


def _added(builder: Builder, value: Value, found: _Progression, count: int, where: Location) -> Value:
    """Return the sum of a ciphertext moved by `count` distances, and where it is zero."""
    slots = builder.slots
    in_row = slots.width // found.stride
    if found.turns or count <= in_row:
        return shifted_sum(builder, value, found.stride, count, where)
    # The next row's share is moved in one step.
    first, rest = (shifted_sum(builder, value, found.stride, part, where) for part in (in_row, count - in_row))
    return _plus(builder, first, _turned(builder, rest, slots.width, where), where)


def _turned(builder: Builder, value: Value, distance: int, where: Location) -> Value:
    return builder.turn(value[0], distance, where), builder.slots.turned(value[1], distance)


def _plus(builder: Builder, a: Value, b: Value, where: Location) -> Value:
    return builder.add(Kind.ADD, (a[0], b[0]), where), a[1] & b[1]


def shifted_sum(builder: Builder, value: Value, stride: int, count: int, where: Location) -> Value:
    """Return the sum of the first `count` rotations of a ciphertext by multiples of `stride`, and where it is zero."""
    # Around the row and on, the same rotation comes again, which a transform adds only once.
    once = count * stride <= builder.slots.width
    way = _staged if once and cost.total(cost.stages(count)) <= cost.doubling(count) else _doubling
    return way(builder, value, stride, count, where)


def _staged(builder: Builder, value: Value, stride: int, count: int, where: Location) -> Value:
    """Return such a sum in stages."""
    (ct, zero), slots = value, builder.slots
    for radix in cost.stages(count):
        steps = [stride * i % slots.width for i in range(radix)]
        if radix == 2:
            ct = builder.add(Kind.ADD, (ct, builder.turn(ct, steps[1], where)), where)
        else:
            ct = builder.transform(ct, {0: dict.fromkeys(steps, -1)}, where)
        zero = np.logical_and.reduce([slots.turned(zero, by) for by in steps])
        stride *= radix
    return ct, zero


def _doubling(builder: Builder, value: Value, stride: int, count: int, where: Location) -> Value:
    """Return such a sum by doubling, with a rotation more for each further binary digit of `count`."""

    def turned(a: Value, steps: int) -> Value:
        return _turned(builder, a, steps % builder.slots.width, where)

    block, length = value, 1
    total: Value | None = None
    offset = 0
    while True:
        if count & length:
            part = turned(block, stride * offset)
            total = part if total is None else _plus(builder, total, part, where)
            offset += length
        if 2 * length > count:
            break
        block, length = _plus(builder, block, turned(block, stride * length), where), 2 * length
    if total is None:
        raise AssertionError("count is at least one")
    return total
