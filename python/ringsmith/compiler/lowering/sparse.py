# SPDX-License-Identifier: Apache-2.0
"""Linear maps by their entries: convolutions, and the dense layers behind them, by their diagonals alone.

Result element i stands in slot q(i), the operand's element j in slot p(j); entry (i, j) belongs to the diagonal
p(j) - q(i), whatever the layouts are. A diagonal's plaintext holds entries and zeros: paddings and what a stride leaves
out cost nothing, a map takes one level, and nothing of the size of a matrix is ever made.

An image stands row by row, a channel in a block of slots. A stride of s leaves s * s times as many slots as elements:
channels share a block then, each at another offset of the gaps ("multiplexed", Lee et al., ICML 2022). Where results
repeat with a shorter period than the operand, partial sums of all blocks stand a period apart and are added by
rotations: diagonals are counted modulo the result's period.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ringsmith.compiler.lowering import cost
from ringsmith.compiler.lowering.context import MOST_SENT, Context, Operand
from ringsmith.compiler.lowering.layout import Packed, power_of_two
from ringsmith.compiler.lowering.places import placed_zeros
from ringsmith.compiler.lowering.reduce import shifted_sum
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.graph import Node, Shape
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import Builder, Terms

#: A layout is not offered when by itself it costs this multiple of the cheapest; most layouts that are offered.
_HOPELESS, _MOST_LAYOUTS = 3.0, 4


@dataclass(frozen=True, eq=False)
class _Layout:
    """Where elements stand: of each, row-major, ciphertext and slot, all within the first `period` slots."""

    name: str
    ct: Index
    slot: Index
    period: int

    @property
    def cts(self) -> int:
        return int(self.ct.max()) + 1


@dataclass(frozen=True, eq=False)
class _Block:
    """What leads from one ciphertext to another: of each entry its number, rotations and the slot of its product."""

    source: int
    target: int
    entries: Index
    giants: Index
    babies: Index
    slots: Index

    def cost(self) -> float:
        """Return the price of the transform."""
        giants, babies = (int(np.count_nonzero(np.unique(own))) for own in (self.giants, self.babies))
        return cost.transform(babies, giants, len(np.unique(self.giants + self.babies)))


@dataclass(frozen=True, eq=False)
class _Way:
    """A layout of the result, and the transforms that make it; partial sums stand `layout.period` slots apart."""

    layout: _Layout
    width: int
    blocks: list[_Block]

    @property
    def cost(self) -> float:
        """The price, that of the sums and of ciphertexts beyond the first included."""
        sums = cost.summed(self.width // self.layout.period) * self.layout.cts
        return sum(block.cost() for block in self.blocks) + sums + cost.CIPHERTEXT * (self.layout.cts - 1)


def applied(context: Context, operand: Operand, node: Node, place: int) -> Packed:
    """Return a linear map of a packed tensor; `place` is the node's in the graph."""
    x = _operand(context, operand, node, place)
    entries = node.attributes
    if len(entries["rows"]) == 0:
        return _zeros(context.builder, x, node)
    ways = sorted(
        (_way(x, layout, entries) for layout in _layouts(x, node.shape, entries["stride"], context.slots)),
        key=lambda way: way.cost,
    )
    ways = [way for way in ways if way.cost <= _HOPELESS * ways[0].cost][:_MOST_LAYOUTS]
    names = [way.layout.name for way in ways]
    chosen = ways[names.index(context.choices.pick(("linear map", place), names))]
    return _multiplied(context.builder, x, node, chosen)


def _operand(context: Context, operand: Operand, node: Node, place: int) -> Packed:
    """Return the operand; of an argument, as the client sends it as an image, or as it stands."""
    x = operand.value
    if not isinstance(x, Packed):
        raise AssertionError("an encrypted operand is packed")
    view, shape = operand.view, x.shape
    if view is not None and len(shape) == 3:
        layout = _blocks("", np.arange(math.prod(shape[1:])), np.zeros(1, dtype=np.intp), shape[0], context.slots)
        if layout is not None and layout.cts <= MOST_SENT:
            options = ["sent as an image", "as it stands"]
            if context.choices.pick(("image", place), options) == options[0]:
                gather = np.full((layout.cts, context.slots.count), -1, dtype=np.intp)
                gather[layout.ct, layout.slot] = view.picked.reshape(-1)
                ct, slot, period = layout.ct.reshape(shape), layout.slot.reshape(shape), Slots(1, layout.period)
                return context.sent.laid(view, ct, slot, period, context.slots.repeat(gather, period), node.where)
    return (x if x.whole else placed_zeros(context.builder, x, node.where)).compact()


# ---------------------------------------------------------------------------------------------- layouts of a result


def _layouts(x: Packed, shape: Shape, stride: tuple[int, int], slots: Slots) -> Iterator[_Layout]:
    """Yield layouts of a result: one element after the other, and images on the operand's grid."""
    size = math.prod(shape)
    every = np.arange(size)
    period = min(power_of_two(size), slots.width)
    yield _Layout("one after the other", every // slots.width, every % slots.width, period)
    grid = _grid(x, shape, stride)
    if grid is None:
        return
    places, gaps = grid
    shared = 1
    while shared <= min(len(gaps), power_of_two(shape[0])):
        name = f"{shared} channels in a block" if shared > 1 else "a block for each channel"
        layout = _blocks(name, places, gaps[:shared], shape[0], slots)
        if layout is not None:
            yield layout
        shared *= 2


def _grid(x: Packed, shape: Shape, stride: tuple[int, int]) -> tuple[Index, Index] | None:
    """Return where a channel's elements stand on the operand's grid, and the offsets of its gaps; None without one."""
    if len(x.shape) != 3 or len(shape) != 3 or (x.ct[0] != x.ct[0, 0, 0]).any():
        return None
    first, (_, height, width) = x.slot[0], x.shape
    across = int(first[0, 1] - first[0, 0]) if width > 1 else 1
    down = int(first[1, 0] - first[0, 0]) if height > 1 else across * width
    y, column = np.indices(first.shape)
    if across < 1 or down < 1 or down % across or (first - first[0, 0] != y * down + column * across).any():
        return None
    y, column = np.indices(shape[1:])
    places = (y * down * stride[0] + column * across * stride[1]).reshape(-1)
    gap_down, gap_across = np.indices((across * stride[0], across * stride[1]))
    return places, (gap_down * (down // across) + gap_across).reshape(-1)


def _blocks(name: str, places: Index, gaps: Index, channels: int, slots: Slots) -> _Layout | None:
    """Return the layout of channels in blocks, as many in one as there are gaps; None if elements collide."""
    block = power_of_two(int(places.max() + gaps.max()) + 1)
    if block > slots.width or len(np.unique(places[:, None] + gaps)) < places.size * gaps.size:
        return None
    number = np.arange(channels) // len(gaps)
    each = slots.width // block
    count = power_of_two(int(number.max()) + 1)
    slot = (number % each * block + gaps[np.arange(channels) % len(gaps)])[:, None] + places
    ct = np.broadcast_to((number // each)[:, None], slot.shape)
    return _Layout(name, ct.reshape(-1).astype(np.intp), slot.reshape(-1), min(count, each) * block)


# ---------------------------------------------------------------------------------------------- diagonals


def _way(x: Packed, layout: _Layout, entries: Mapping[str, Any]) -> _Way:
    """Return the transforms that make a result in a layout."""
    period = x.period.width
    base, width = min(period, layout.period), max(period, layout.period)
    given = x.slot.reshape(-1)[entries["columns"]] % period
    made = layout.slot[entries["rows"]]
    pair = x.ct.reshape(-1)[entries["columns"]] * layout.cts + layout.ct[entries["rows"]]
    order = np.argsort(pair, kind="stable")
    pairs, starts = np.unique(pair[order], return_index=True)
    blocks = []
    for number, own in zip(pairs, np.split(order, starts[1:]), strict=True):
        distance, inverse = np.unique((given[own] - made[own]) % base, return_inverse=True)
        giant, baby = _steps(distance, base)
        giants, babies = giant[inverse], baby[inverse]
        # A step more or less of the period leads to another partial sum, or to the same slot.
        slots = (given[own] - giants - babies) % period if layout.period <= period else made[own]
        blocks.append(_Block(*divmod(int(number), layout.cts), own, giants, babies, slots))
    return _Way(layout, width, blocks)


def _steps(distances: Index, base: int) -> tuple[Index, Index]:
    """Return each distance modulo `base` as a giant and a baby step, the cheapest by powers of two."""
    gaps = np.diff(np.r_[distances, distances[0] + base])
    after = int(distances[(int(np.argmax(gaps)) + 1) % len(distances)])
    ways: list[tuple[float, int, Index, Index]] = []
    for start in dict.fromkeys((0, after)):
        number = (distances - start) % base
        # From the end of the largest gap, distances just below zero stay negative.
        begin = start - base if start > base // 2 else start
        for bits in range(base.bit_length()):
            giant = number >> bits << bits
            baby = number - giant + begin
            babies, giants = (int(np.count_nonzero(np.unique(own))) for own in (baby, giant))
            ways.append((cost.transform(babies, giants, 0), len(ways), giant, baby))
    _, _, giant, baby = min(ways, key=lambda way: way[:2])
    return giant, baby


def _multiplied(builder: Builder, x: Packed, node: Node, way: _Way) -> Packed:
    """Return the map of a tensor by some transforms."""
    slots, layout, period = builder.slots, way.layout, Slots(1, way.layout.period)
    cts, zeros = [], []
    for target in range(layout.cts):
        parts = [
            builder.transform(x.cts[block.source], _terms(builder, node, block, way.width), node.where)
            for block in way.blocks
            if block.target == target
        ]
        zero = np.ones(slots.count, dtype=bool)
        zero[layout.slot[layout.ct == target]] = False
        zero = slots.repeat(zero, period)
        if not parts:
            parts, zero = [builder.add(Kind.SUB, (x.cts[0], x.cts[0]), node.where)], np.ones_like(zero)
        total = reduce(lambda a, b: builder.add(Kind.ADD, (a, b), node.where), parts)
        if way.width > layout.period:
            total, _ = shifted_sum(builder, (total, zero), layout.period, way.width // layout.period, node.where)
        cts.append(total)
        zeros.append(zero)
    ct, slot = layout.ct.reshape(node.shape), layout.slot.reshape(node.shape)
    return Packed(tuple(cts), ct, slot, period, np.stack(zeros))


def _terms(builder: Builder, node: Node, block: _Block, width: int) -> Terms:
    """Return the terms of a transform: of each diagonal the plaintext that holds its entries."""
    slots, picks, repeated = builder.slots, node.attributes["picks"], Slots(1, width)
    steps = block.giants * (4 * slots.width) + block.babies
    order = np.argsort(steps, kind="stable")
    _, starts = np.unique(steps[order], return_index=True)
    terms: dict[int, dict[int, int]] = {}
    for own in np.split(order, starts[1:]):
        giant, baby = int(block.giants[own[0]]), int(block.babies[own[0]])
        gather = np.full(slots.count, -1, dtype=np.intp)
        gather[block.slots[own]] = picks[block.entries[own]]
        # The giant step moves the products to their places.
        moved = slots.turned(slots.repeat(gather, repeated), -giant % slots.width)
        terms.setdefault(giant, {})[baby] = builder.plains.number(node.args[1], moved)
    return terms


def _zeros(builder: Builder, x: Packed, node: Node) -> Packed:
    """Return the result of a map without entries."""
    zero = builder.add(Kind.SUB, (x.cts[0], x.cts[0]), node.where)
    size = math.prod(node.shape)
    every = np.arange(size).reshape(node.shape)
    width = builder.slots.width
    count = -(-size // width)
    zeros = np.ones((count, builder.slots.count), dtype=bool)
    return Packed((zero,) * count, every // width, every % width, Slots(1, min(power_of_two(size), width)), zeros)
