# SPDX-License-Identifier: Apache-2.0
"""Bringing two packed tensors into line, and elementwise operations on them.

Where one operand of a sum has elements that stand nowhere, being zero, the other's elements take the places to which
they move with their neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringsmith.compiler.lowering.layout import Packed, spread
from ringsmith.compiler.lowering.moves import aligned, cost_of, fillings
from ringsmith.compiler.lowering.places import extended, in_rows, placed_zeros, present
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.graph import Node, Op
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import Builder
from ringsmith.location import Location


@dataclass(frozen=True, eq=False)
class PlainView:
    """A plain tensor under a shape: element e is element `picked[e]` (row-major) of `node`."""

    node: Node
    picked: Index

    @classmethod
    def of(cls, node: Node) -> PlainView:
        """Return the node under its own shape."""
        return cls(node, np.arange(int(np.prod(node.shape))).reshape(node.shape))

    def broadcast(self, shape: tuple[int, ...]) -> PlainView:
        """Return the view of a larger shape."""
        return PlainView(self.node, np.broadcast_to(self.picked, shape))


def same_places(a: Packed, b: Packed, slots: Slots) -> bool:
    """Return whether two tensors of one shape already line up, ciphertext by ciphertext."""
    if len(a.cts) != len(b.cts) or not np.array_equal(a.ct, b.ct):
        return False
    common = Slots(min(a.period.rows, b.period.rows), min(a.period.width, b.period.width))
    return not slots.minus(a.slot, b.slot, common)[a.held].any()


def _common_slots(a: Packed, b: Packed, slots: Slots) -> Index:
    """Return where the elements of two tensors that line up stand in the least period of both."""
    tall, wide = (a if a.period.rows >= b.period.rows else b), (a if a.period.width >= b.period.width else b)
    return np.asarray(tall.slot // slots.width * slots.width + wide.slot % slots.width)


def _line_up(builder: Builder, a: Packed, b: Packed, where: Location) -> tuple[Packed, Packed]:
    """Align one of two tensors of the same shape to the other, whichever is cheaper."""
    a, b = spread(a.compact(), builder.slots), b.compact()
    if same_places(a, b, builder.slots):
        return a, b
    to_b = spread(b, builder.slots)
    if same_places(a, to_b, builder.slots):
        return a, to_b
    if (a.held != b.held).any():
        return _united(builder, a, to_b, where)
    forth, back = fillings(b, a, builder.slots), fillings(a, to_b, builder.slots)
    if cost_of(forth, builder.slots) <= cost_of(back, builder.slots):
        return a, aligned(builder, b, a, forth, where)
    return aligned(builder, a, to_b, back, where), to_b


def _united(builder: Builder, a: Packed, b: Packed, where: Location) -> tuple[Packed, Packed]:
    """Align two tensors that hold different elements in places for all of them, the cheapest found."""
    slots = builder.slots
    frames = [frame for frame in (extended(a, b, slots), extended(b, a, slots)) if frame is not None]
    ways = [(frame, fillings(a, frame, slots), fillings(b, frame, slots)) for frame in frames or [in_rows(a, b, slots)]]
    frame, left, right = min(ways, key=lambda way: cost_of(way[1], slots) + cost_of(way[2], slots))
    return aligned(builder, a, frame, left, where), aligned(builder, b, frame, right, where)


def combine(builder: Builder, kind: Kind, a: Packed, b: Packed, where: Location) -> Packed:
    """Add, subtract or multiply two packed tensors element by element (numpy broadcasting)."""
    if kind is Kind.MULTIPLY and a is b:
        return square(builder, a, where)
    shape = np.broadcast_shapes(a.shape, b.shape)
    a, b = a.broadcast(shape), b.broadcast(shape)
    if kind is Kind.MULTIPLY and not (a.whole and b.whole):
        both = a.held & b.held
        a, b = (present(builder, one.only(both), where) for one in (a, b))
    left, right = _line_up(builder, a, b, where)
    cts = tuple(_pair(builder, kind, *pair, where) for pair in zip(left.cts, right.cts, strict=True))
    joined = left.zeros | right.zeros if kind is Kind.MULTIPLY else left.zeros & right.zeros
    slot = _common_slots(left, right, builder.slots)
    return Packed(cts, left.ct, slot, left.period.join(right.period), joined)


def _pair(builder: Builder, kind: Kind, left: int, right: int, where: Location) -> int:
    """Combine two ciphertexts, of which one of a sum's may be nothing (-1)."""
    if right < 0:
        return left
    if left < 0:
        return builder.add(Kind.NEGATE, (right,), where) if kind is Kind.SUB else right
    return builder.add(kind, (left, right), where)


def square(builder: Builder, x: Packed, where: Location) -> Packed:
    """Square element by element."""
    x = x.compact()
    cts = tuple(builder.add(Kind.SQUARE, (ct,), where) for ct in x.cts)
    return Packed(cts, x.ct, x.slot, x.period, x.zeros)


def negate(builder: Builder, x: Packed, where: Location) -> Packed:
    """Negate element by element."""
    x = x.compact()
    cts = tuple(builder.add(Kind.NEGATE, (ct,), where) for ct in x.cts)
    return Packed(cts, x.ct, x.slot, x.period, x.zeros)


def combine_plain(builder: Builder, kind: Kind, x: Packed, plain: PlainView, where: Location) -> Packed:
    """Combine a packed tensor with a plain one (`kind` is add_plain, sub_plain or multiply_plain)."""
    shape = np.broadcast_shapes(x.shape, plain.picked.shape)
    placed = spread(x.broadcast(shape).compact(), builder.slots)
    picked = np.broadcast_to(plain.picked, shape).reshape(-1)
    same = np.unique(plain.node.low.reshape(-1)[picked])
    constant = plain.node.op is Op.CONSTANT and same.size == 1
    if constant and same[0] == (1.0 if kind is Kind.MULTIPLY_PLAIN else 0.0):
        return placed  # x * 1, x + 0
    if kind is not Kind.MULTIPLY_PLAIN and not _stays(placed, plain, picked):
        placed = placed_zeros(builder, placed, where)
    # A product with a number that has to be masked anyway is masked by its plaintext.
    everywhere = constant and kind is Kind.MULTIPLY_PLAIN and (placed.whole or placed.fills(builder.slots))
    cts, zeros = [], []
    slots = placed.slot.reshape(-1)
    for number, here in enumerate(placed.elements_of()):
        gather = np.full(builder.slots.count, picked[0] if everywhere else -1, dtype=np.intp)
        if not everywhere:
            gather[slots[here]] = picked[here]
            gather = builder.slots.repeat(gather, placed.period)
        cts.append(builder.add(kind, (placed.cts[number],), where, builder.plains.number(plain.node, gather)))
        untouched = gather < 0
        zero = placed.zeros[number]
        zeros.append(zero | untouched if kind is Kind.MULTIPLY_PLAIN else zero & untouched)
    return Packed(tuple(cts), placed.ct, placed.slot, placed.period, np.stack(zeros))


def _stays(x: Packed, plain: PlainView, picked: Index) -> bool:
    """Return whether every element that stands nowhere stays zero when a plain one is added."""
    if x.whole:
        return True
    added = plain.node.low.reshape(-1)[picked[~x.held.reshape(-1)]]
    return plain.node.op is Op.CONSTANT and not added.any()
