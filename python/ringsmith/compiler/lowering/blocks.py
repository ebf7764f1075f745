# SPDX-License-Identifier: Apache-2.0
"""A plain matrix times many encrypted vectors, each in a block of slots, by diagonals of partial sums.

A block has `length` places, `stride` slots apart. The vector's elements stand in some of them, in any order, and what
stands between them meets zeros of the matrix: a change of shape before a product costs nothing. For results
i < `parts`, a power of two, place p = i + parts t holds the t-th partial sum of result i: the sum over the distances d
of W[i, p + d] x[p + d]. So `parts` distances are enough however long the vectors are, and a sum of the partial sums
ends it (the hybrid of Juvekar et al., GAZELLE, USENIX Security 2018; diagonals as in Halevi and Shoup, CRYPTO 2014).
All blocks of a ciphertext are done at once.

Places go around where a block is all that repeats; they may reach into what the block before leaves free otherwise, and
where nothing is free, negative distances take their part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ringsmith.compiler.lowering import cost
from ringsmith.compiler.lowering.align import PlainView
from ringsmith.compiler.lowering.layout import Packed, power_of_two
from ringsmith.compiler.lowering.reduce import Value, shifted_sum
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.slot_program import Builder
from ringsmith.location import Location


@dataclass(frozen=True, eq=False)
class Blocks:
    """Vectors along the last axis of a tensor, each in the same places of its block.

    `first` is the slot of a block from which places count, `columns[place]` the element that stands there or -1.
    `around`: the block is all that repeats, so its places go around.
    """

    stride: int
    length: int
    first: int
    around: bool
    columns: Index

    def origin(self, x: Packed, slots: Slots) -> Index:
        """Return the slot of each vector's place 0, with a last axis of extent 1."""
        begin = int(np.flatnonzero(self.columns == 0)[0])
        return slots.plus(x.slot[..., :1], -begin * self.stride % slots.width, x.period)


@dataclass(frozen=True)
class Way:
    """Distances from `low` on, `baby` numbers to a giant step, and the places `start` to `start + places`.

    `parts` places hold the results, the others are `sums` further partial sums of each.
    """

    blocks: Blocks
    parts: int
    low: int
    distances: tuple[int, ...]
    start: int
    places: int
    sums: int
    baby: int = 1
    cost: float = 0.0

    def of(self, matrix: PlainView, cts: int) -> Way:
        """Return the way for a matrix and a number of ciphertexts: the distances of its diagonals, in steps."""
        own = self.distances
        if (matrix.picked < 0).any():
            own = tuple(distance for distance in own if (_diagonal(matrix, self, distance) >= 0).any())

        def costs(baby: int) -> float:
            giants, babies = {d // baby for d in own} - {0}, {d % baby for d in own} - {0}
            return cost.transform(len(babies), len(giants), len(own))

        most = power_of_two(len(self.distances)).bit_length()
        baby = min((1 << k for k in range(most)), key=lambda baby: (costs(baby), baby))
        return replace(self, distances=own, baby=baby, cost=cts * (costs(baby) + cost.summed(self.sums)))


def blocks_of(x: Packed, slots: Slots) -> Blocks | None:
    """Return how the vectors along the last axis lie; None if they do not all lie alike in one row of slots each."""
    slot = slots.plus(x.slot, 0, x.period).reshape(-1, x.shape[-1])
    ct, row = x.ct.reshape(slot.shape), slot // slots.width
    if (ct != ct[:, :1]).any() or (row != row[:, :1]).any() or len(np.unique(ct * slots.count + slot)) < slot.size:
        return None
    starts = slot[:, 0] % slots.width
    turned = _offsets(slot, lambda offsets: offsets % x.period.width)
    if turned is None:
        return None
    # The largest power of two that divides all offsets.
    stride = math.gcd(*turned.tolist(), x.period.width) if turned.any() else 1
    length = x.period.width // stride
    if _aligned(starts, stride, length):
        return _blocks(turned, int(starts[0]), stride, length, around=True)
    straight = _offsets(slot, lambda offsets: offsets)
    if straight is None:
        return None
    least = int(straight.min())
    while not _aligned(starts + least, stride, length):
        length //= 2
    if (int(starts[0]) + least) % (stride * length) // stride + np.ptp(straight) // stride >= length:
        return None
    return _blocks(straight - least, int(starts[0]) + least, stride, length, around=False)


def _offsets(slot: Index, of: Callable[[Index], Index]) -> Index | None:
    """Return how far each element of a vector is from the first one; None unless that is the same in all vectors."""
    found = of(slot - slot[:, :1])
    return found[0] if (found == found[0]).all() else None


def _blocks(offsets: Index, start: int, stride: int, length: int, *, around: bool) -> Blocks:
    """Return blocks of vectors whose elements stand at offsets from a slot."""
    places = offsets // stride
    columns = np.full(length, -1, dtype=np.intp)
    columns[places] = np.arange(len(places))
    return Blocks(stride, length, start % (stride * length) // stride * stride, around, columns[: places.max() + 1])


def _aligned(starts: Index, stride: int, length: int) -> bool:
    """Return whether blocks of that length begin alike, and whether each has one vector at most for each lane."""
    inside = starts % (stride * length) // stride
    return bool((inside == inside[0]).all())


def ways(x: Packed, matrix: PlainView, slots: Slots) -> list[Way]:
    """Return the ways to multiply by a matrix, whose picks of -1 are zeros, cheapest first."""
    blocks = blocks_of(x, slots)
    if blocks is None:
        return []
    found = []
    parts = power_of_two(len(matrix.picked))
    if parts > blocks.length and blocks.around and parts * blocks.stride <= slots.width:
        found.append(_way(blocks, parts, (0, blocks.length), (0, parts)))
    while parts <= blocks.length:
        found.append(_way(blocks, parts, *_reach(blocks, parts)))
        parts *= 2
    return sorted((way.of(matrix, len(x.cts)) for way in found), key=lambda way: way.cost)


def _reach(blocks: Blocks, parts: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the distances and places, as (first, count), for partial sums that far apart."""
    if blocks.around:
        return (0, parts), (0, blocks.length)
    begin = blocks.first // blocks.stride
    needed = -(-len(blocks.columns) // parts) * parts
    if parts + needed <= blocks.length and begin == 0:
        return (0, parts), (-parts, parts + needed)
    return (1 - parts, 2 * parts - 1), (0, needed)


def _way(blocks: Blocks, parts: int, distances: tuple[int, int], places: tuple[int, int]) -> Way:
    (low, count), (start, extent) = distances, places
    return Way(blocks, parts, low, tuple(range(low, low + count)), start, extent, extent // parts)


def multiply(builder: Builder, x: Packed, matrix: PlainView, way: Way, where: Location) -> Packed:
    """Return the tensor of x's shape but for the last axis, which is that of matrix @ (a vector of x)."""
    x = x.compact()
    slots, blocks = builder.slots, way.blocks
    rows = matrix.picked.shape[0]
    period = x.period
    if way.parts > blocks.length:
        period = Slots(period.rows, way.parts * blocks.stride)
    terms, touched = _terms(builder, matrix, way, period)
    done = []
    for ct in x.cts:
        value = builder.transform(ct, terms, where), ~touched
        done.append(_summed(builder, value, way, where))
    cts, zeros = tuple(ct for ct, _ in done), np.stack([zero for _, zero in done])
    slot = slots.plus(blocks.origin(x, slots), blocks.stride * (way.start + np.arange(rows)) % slots.width, period)
    if blocks.around and way.parts < blocks.length:
        period = Slots(period.rows, way.parts * blocks.stride)
        slot = slots.plus(slot, 0, period)
    return Packed(cts, np.broadcast_to(x.ct[..., :1], slot.shape), slot, period, zeros)


def _summed(builder: Builder, value: Value, way: Way, where: Location) -> Value:
    """Return a ciphertext with its partial sums added up."""
    stride = way.blocks.stride * way.parts
    return shifted_sum(builder, value, stride, way.sums, where) if way.sums > 1 else value


def _terms(
    builder: Builder, matrix: PlainView, way: Way, period: Slots
) -> tuple[dict[int, dict[int, int]], NDArray[np.bool_]]:
    """Return the transform's terms, and which slots its products touch."""
    slots, blocks = builder.slots, way.blocks
    span = max(blocks.length, way.parts) * blocks.stride
    terms: dict[int, dict[int, int]] = {}
    touched = np.zeros(slots.count, dtype=bool)
    for distance in way.distances:
        gather = _diagonal(matrix, way, distance)
        if (gather < 0).all():
            continue
        block = _in_slots(gather, way, span)
        everywhere = slots.repeat(np.pad(block, (0, slots.count - span), constant_values=-1), Slots(1, span))
        touched |= everywhere >= 0
        giant = distance // way.baby * way.baby
        moved = slots.turned(everywhere, -giant * blocks.stride % slots.width)
        plain = builder.plains.number(matrix.node, moved)
        terms.setdefault(giant * blocks.stride % slots.width, {})[(distance - giant) * blocks.stride] = plain
    return terms, touched


def _diagonal(matrix: PlainView, way: Way, distance: int) -> Index:
    """Return, for each place, the matrix element that meets the vector's element at the distance; -1: none, or zero."""
    rows, length = matrix.picked.shape[0], way.blocks.length
    place = np.arange(way.start, way.start + way.places)
    i, j = place % way.parts, place + distance
    if way.blocks.around:
        j = j % length
    elif way.low < 0:
        # Of the vector's elements in the place's part.
        j = np.where(j // way.parts == place // way.parts, j, -1)
    places = way.blocks.columns
    column = np.where((j >= 0) & (j < len(places)), places[np.clip(j, 0, len(places) - 1)], -1)
    return np.where((i < rows) & (column >= 0), matrix.picked[np.minimum(i, rows - 1), column], -1)


def _in_slots(gather: Index, way: Way, span: int) -> Index:
    """Return the elements of a block's slots: every lane of a stride alike."""
    blocks = way.blocks
    block = np.full(span, -1, dtype=np.intp)
    place = np.arange(way.start, way.start + way.places)
    for lane in range(blocks.stride):
        block[(blocks.first + lane + place * blocks.stride) % span] = gather
    return block
