# SPDX-License-Identifier: Apache-2.0
"""State of one lowering, and the operands of its operations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringsmith.compiler.lowering.align import PlainView, combine, same_places
from ringsmith.compiler.lowering.choices import Choices
from ringsmith.compiler.lowering.diagonals import LinearMaps
from ringsmith.compiler.lowering.layout import Packed, spread
from ringsmith.compiler.lowering.moves import Mask
from ringsmith.compiler.lowering.places import placed_zeros
from ringsmith.compiler.lowering.sent import Sent, View
from ringsmith.ir.geometry import Slots
from ringsmith.ir.graph import Shape
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import Builder
from ringsmith.location import Location

#: A view whose layout would take more ciphertexts than this is never sent.
MOST_SENT = 64

Value = Packed | PlainView


@dataclass(frozen=True, eq=False)
class Context:
    """State of one lowering."""

    slots: Slots
    builder: Builder
    sent: Sent
    choices: Choices
    maps: LinearMaps


@dataclass(frozen=True, eq=False)
class Operand:
    """A value; `view` is set if the client could send it in any layout."""

    value: Value
    view: View | None = None

    @property
    def shape(self) -> Shape:
        """Shape of the tensor."""
        return self.value.shape if isinstance(self.value, Packed) else self.value.picked.shape

    def taken(self, kept: Mask, axis: int) -> Operand:
        """Return the view of what is kept along an axis."""
        view = self.view and View(self.view.name, np.compress(kept, self.view.picked, axis))
        if isinstance(self.value, Packed):
            x = self.value
            return Operand(x.view(np.compress(kept, x.ct, axis), np.compress(kept, x.slot, axis)), view)
        return Operand(PlainView(self.value.node, np.compress(kept, self.value.picked, axis)), view)

    def expanded(self, axis: int) -> Operand:
        """Return the view with an axis of extent 1 more."""
        view = self.view and View(self.view.name, np.expand_dims(self.view.picked, axis))
        if isinstance(self.value, Packed):
            x = self.value
            return Operand(x.view(np.expand_dims(x.ct, axis), np.expand_dims(x.slot, axis)), view)
        return Operand(PlainView(self.value.node, np.expand_dims(self.value.picked, axis)), view)

    def transposed(self) -> Operand:
        """Return the view with its axes in reverse."""
        view = self.view and View(self.view.name, self.view.picked.T)
        if isinstance(self.value, Packed):
            return Operand(self.value.view(self.value.ct.T, self.value.slot.T), view)
        return Operand(PlainView(self.value.node, self.value.picked.T), view)


def without_zeros(a: Operand, b: Operand) -> tuple[Operand, Operand]:
    """Return the factors of a @ b without the terms that are zero in all rows of a or in all columns of b."""
    kept = np.ones(a.shape[-1], dtype=bool)
    for one, axis in ((a.value, -1), (b.value, 0)):
        if isinstance(one, Packed):
            kept &= np.moveaxis(one.held, axis, 0).reshape(len(kept), -1).any(axis=1)
    # Of a product that is zero everywhere, one term stays.
    kept[0] |= not kept.any()
    return (a, b) if kept.all() else (a.taken(kept, -1), b.taken(kept, 0))


def placed(context: Context, x: Operand, where: Location) -> Operand:
    """Return an operand all of whose elements stand somewhere."""
    if isinstance(x.value, PlainView) or x.value.whole:
        return x
    return Operand(placed_zeros(context.builder, x.value, where), x.view)


def combined(context: Context, kind: Kind, a: Operand, b: Operand, place: int, where: Location) -> Packed:
    """Combine two packed tensors element by element; `place` is the node's in the graph.

    Operands that do not line up are moved, or the client sends one of them in the layout of the other.
    """
    left, right = a.value, b.value
    if not isinstance(left, Packed) or not isinstance(right, Packed):
        raise AssertionError("both operands are packed")
    shape = np.broadcast_shapes(left.shape, right.shape)
    targets = {
        "second sent like first": _target(context, left, shape, b.view),
        "first sent like second": _target(context, right, shape, a.view),
    }
    ways = {name: target for name, target in targets.items() if target is not None}
    if left is right or not ways or _line_up(left, right, shape, context.slots):
        return combine(context.builder, kind, left, right, where)
    way = context.choices.pick(("operands", place), [*ways, "moved"])
    if way == "second sent like first" and b.view:
        left, right = ways[way], _sent_like(context, b.view, ways[way], where)
    elif way == "first sent like second" and a.view:
        left, right = _sent_like(context, a.view, ways[way], where), ways[way]
    return combine(context.builder, kind, left, right, where)


def _line_up(left: Packed, right: Packed, shape: Shape, slots: Slots) -> bool:
    """Return whether operands line up as they are."""
    return same_places(spread(left.broadcast(shape).compact(), slots), right.broadcast(shape).compact(), slots)


def _target(context: Context, other: Packed, shape: Shape, view: View | None) -> Packed | None:
    """Return the layout in which a view would be sent to meet the other operand; None if there is none."""
    if view is None or not other.whole:
        return None
    target = spread(other.broadcast(shape).compact(), context.slots)
    return target if len(target.cts) <= MOST_SENT else None


def _sent_like(context: Context, view: View, target: Packed, where: Location) -> Packed:
    wide = View(view.name, np.broadcast_to(view.picked, target.shape))
    return context.sent.like(wide, target, context.slots, where)
