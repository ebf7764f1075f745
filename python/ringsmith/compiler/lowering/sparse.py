# SPDX-License-Identifier: Apache-2.0
"""Linear maps by their entries: convolutions, and the dense layers behind them, by their diagonals alone.

Result element i stands in slot q(i), the operand's element j in slot p(j); entry (i, j) belongs to the diagonal
p(j) - q(i), whatever the layouts are. A diagonal's plaintext holds entries and zeros: paddings and what a stride leaves
out cost nothing, a map takes one level, and nothing of the size of a matrix is ever made.

An image stands row by row, a channel in a block of slots. Where results repeat with a shorter period than the operand,
partial sums of all blocks stand a period apart and are added by rotations: diagonals are counted modulo the result's
period.
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np

from ringsmith.compiler.lowering.context import MOST_SENT, Context, Operand
from ringsmith.compiler.lowering.diagonals import Block, LinearMaps, Way
from ringsmith.compiler.lowering.image_layouts import blocks
from ringsmith.compiler.lowering.layout import Packed, power_of_two
from ringsmith.compiler.lowering.places import placed_zeros
from ringsmith.compiler.lowering.reduce import shifted_sum
from ringsmith.ir.geometry import Slots
from ringsmith.ir.graph import Node
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import Builder, Terms


def applied(context: Context, operand: Operand, node: Node, place: int) -> Packed:
    """Return a linear map of a packed tensor; `place` is the node's in the graph."""
    x = _operand(context, operand, node, place)
    if len(node.attributes["rows"]) == 0:
        return _zeros(context.builder, x, node)
    ways = context.maps.ways(x, node)
    names = [way.layout.name for way in ways]
    chosen = ways[names.index(context.choices.pick(("linear map", place), names))]
    return _multiplied(context, x, node, chosen)


def _operand(context: Context, operand: Operand, node: Node, place: int) -> Packed:
    """Return the operand; of an argument, as the client sends it as an image, or as it stands."""
    x = operand.value
    if not isinstance(x, Packed):
        raise AssertionError("an encrypted operand is packed")
    view, shape = operand.view, x.shape
    if view is not None and len(shape) == 3:
        layout = blocks("", np.arange(math.prod(shape[1:])), np.zeros(1, dtype=np.intp), shape[0], context.slots)
        if layout is not None and layout.cts <= MOST_SENT:
            options = ["sent as an image", "as it stands"]
            if context.choices.pick(("image", place), options) == options[0]:
                gather = np.full((layout.cts, context.slots.count), -1, dtype=np.intp)
                gather[layout.ct, layout.slot] = view.picked.reshape(-1)
                ct, slot, period = layout.ct.reshape(shape), layout.slot.reshape(shape), Slots(1, layout.period)
                return context.sent.laid(view, ct, slot, period, context.slots.repeat(gather, period), node.where)
    return (x if x.whole else placed_zeros(context.builder, x, node.where)).compact()


def _multiplied(context: Context, x: Packed, node: Node, way: Way) -> Packed:
    """Return the map of a tensor by some transforms."""
    builder, slots = context.builder, context.slots
    layout, period = way.layout, Slots(1, way.layout.period)
    cts, zeros = [], []
    for target in range(layout.cts):
        parts = [
            builder.transform(x.cts[block.source], _terms(builder, context.maps, way, block), node.where)
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


def _terms(builder: Builder, maps: LinearMaps, way: Way, block: Block) -> Terms:
    """Return the terms of a transform: of each diagonal the plaintext that holds its entries."""
    terms: dict[int, dict[int, int]] = {}
    for giant, baby, plain in maps.terms(way, block):
        terms.setdefault(giant, {})[baby] = builder.plains.shared(plain)
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
