# SPDX-License-Identifier: Apache-2.0
"""Bringing two packed tensors into line, and elementwise operations on them.

Aligning costs a rotation where a whole ciphertext moves by one distance, and a row swap where that leads to
another row; parts that move by different distances are rotated, masked and added, without the mask where the other
parts are known to be zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.compiler.lowering.layout import Packed, spread
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.graph import Node, Op, frozen
from ringsmith.ir.slot_program import Builder, Kind
from ringsmith.location import Location

Mask = NDArray[np.bool_]

#: From so many moves of one ciphertext on, baby steps and giant steps are tried; giants are this far apart at most.
_MANY, _MOST_BABIES = 6, 256

_ONE = np.ones((), dtype=np.int64)
ONE = Node(Op.CONSTANT, (), (), False, _ONE, _ONE, Location("<mask>", 0, 0, 0), frozen({"value": _ONE}))


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


@dataclass(frozen=True, eq=False)
class _Move:
    """Elements of one source ciphertext that move by one distance: `places` is where they arrive."""

    source: int
    distance: int
    places: Index

    def key_switches(self, slots: Slots) -> int:
        """Return how many key switches moving takes."""
        return int(self.distance >= slots.width) + int(self.distance % slots.width != 0)


def _mask(used: Index, period: Slots, slots: Slots) -> Mask:
    """Return a mask of all slots with the given slots of each period set."""
    mask = np.zeros(slots.count, dtype=bool)
    mask[slots.plus(used, 0, period)] = True
    return slots.repeat(mask, period)


def _moves(source: Packed, target: Packed, slots: Slots) -> Iterator[list[_Move]]:
    """Yield, for each ciphertext of the target, the moves that fill it."""
    src_ct, src_slot = source.ct.reshape(-1), source.slot.reshape(-1)
    dst_slot = target.slot.reshape(-1)
    key = src_ct * slots.count + slots.minus(src_slot, dst_slot, source.period)
    for here in target.elements_of():
        keys, places = key[here], dst_slot[here]
        order = np.argsort(keys, kind="stable")
        found, starts = np.unique(keys[order], return_index=True)
        groups = np.split(places[order], starts[1:])
        yield [_Move(*divmod(int(k), slots.count), own) for k, own in zip(found, groups, strict=True)]


def _cost(all_moves: Iterable[list[_Move]], slots: Slots) -> float:
    """Return a figure that grows with the key switches and masks that aligning would take."""
    total = 0.0
    for moves in all_moves:
        if len(moves) == 1:
            total += moves[0].key_switches(slots)
            continue
        for together in _together(moves, slots):
            switches = sum(max(1, move.key_switches(slots)) for move in together)
            total += len(together) + min(switches, _stepped(together, slots).rotations)
    return total


def _together(moves: list[_Move], slots: Slots) -> list[list[_Move]]:
    """Group moves by their source and by whether they swap rows."""
    found: dict[tuple[int, int], list[_Move]] = {}
    for move in moves:
        found.setdefault((move.source, move.distance // slots.width), []).append(move)
    return list(found.values())


@dataclass(frozen=True)
class _Stepped:
    """Distances as giant and baby steps: that of move m is `giants[m] + babies[m]`."""

    giants: Index
    babies: Index

    @property
    def rotations(self) -> int:
        """How many rotations take a key."""
        return sum(int(np.count_nonzero(np.unique(own))) for own in (self.giants, self.babies))


def _stepped(moves: list[_Move], slots: Slots) -> _Stepped:
    """Return the steps that take the fewest rotations, among those of evenly spaced giants."""
    distances = np.array([move.distance % slots.width for move in moves])
    order = np.sort(distances)
    gaps = np.diff(np.r_[order, order[0] + slots.width])
    start = int(order[(np.argmax(gaps) + 1) % len(order)])
    offsets = (distances - start) % slots.width
    unit = math.gcd(*offsets.tolist()) or 1
    numbers = offsets // unit
    most = min(int(numbers.max()) + 1, _MOST_BABIES)
    ways = [_Stepped(numbers // b * b * unit, start + numbers % b * unit) for b in range(1, most + 1)]
    return min(ways, key=lambda way: way.rotations)


def _aligned(
    builder: Builder, source: Packed, target: Packed, all_moves: Iterable[list[_Move]], where: Location
) -> Packed:
    """Return the source's elements in the places of the target's (same shapes; no two targets in one place)."""
    slots = builder.slots
    cts, zeros, single = [], [], True
    both = source.period.join(target.period)
    for moves in all_moves:
        single &= len(moves) == 1
        number, zero = _assemble(builder, source, moves, both, where)
        cts.append(number)
        zeros.append(zero)
    period = source.period if single else both
    return Packed(tuple(cts), target.ct, slots.plus(target.slot, 0, period), period, np.stack(zeros))


def _assemble(builder: Builder, source: Packed, moves: list[_Move], period: Slots, where: Location) -> tuple[int, Mask]:
    """Add the moves into one ciphertext, in which a period repeats; return it and where it is zero."""
    builder.room_for(len(moves))
    filled = np.logical_or.reduce([_mask(move.places, period, builder.slots) for move in moves])
    total, zero = -1, np.ones(builder.slots.count, dtype=bool)
    for together in _together(moves, builder.slots):
        for part, part_zero in _moved(builder, source, together, period, filled, where):
            total = part if total < 0 else builder.add(Kind.ADD, (total, part), where)
            zero &= part_zero
    return total, zero


def _moved(
    builder: Builder, source: Packed, moves: list[_Move], period: Slots, filled: Mask, where: Location
) -> list[tuple[int, Mask]]:
    """Return ciphertexts whose sum holds the elements of one source moved, each with where it is zero.

    What arrives in the `filled` slots of other moves is masked.
    """
    if len(moves) >= _MANY:
        steps = _stepped(moves, builder.slots)
        if steps.rotations < len(moves) - 1:
            return [_in_steps(builder, source, moves, steps, period, where)]
    found = []
    for move in moves:
        mask = _mask(move.places, period, builder.slots)
        part = builder.turn(source.cts[move.source], move.distance, where)
        part_zero = builder.slots.turned(source.zeros[move.source], move.distance)
        if (filled & ~mask & ~part_zero).any():
            plain = builder.plains.number(ONE, np.where(mask, 0, -1))
            part = builder.add(Kind.MULTIPLY_PLAIN, (part,), where, plain)
            part_zero = part_zero | ~mask
        found.append((part, part_zero))
    return found


def _in_steps(
    builder: Builder, source: Packed, moves: list[_Move], steps: _Stepped, period: Slots, where: Location
) -> tuple[int, Mask]:
    """Return one linear transform by baby steps and giant steps that makes all moves, under masks."""
    slots = builder.slots
    terms: dict[int, dict[int, int]] = {}
    zero = np.ones(slots.count, dtype=bool)
    for move, giant, baby in zip(moves, steps.giants.tolist(), steps.babies.tolist(), strict=True):
        mask = _mask(move.places, period, slots)
        zero &= ~mask
        # The giant step moves the products to their places.
        plain = builder.plains.number(ONE, np.where(slots.turned(mask, -giant % slots.width), 0, -1))
        terms.setdefault(giant, {})[baby] = plain
    turned = builder.turn(source.cts[moves[0].source], moves[0].distance // slots.width * slots.width, where)
    return builder.transform(turned, terms, where), zero


def masked(builder: Builder, x: Packed, where: Location) -> Packed:
    """Return the tensor with zeros in all slots where none of its elements stands; that may take a product."""
    x = x.compact()
    cts, zeros = [], []
    for number, here in enumerate(x.elements_of()):
        mask = _mask(x.slot.reshape(-1)[here], x.period, builder.slots)
        ct = x.cts[number]
        if not (mask | x.zeros[number]).all():
            ct = builder.add(Kind.MULTIPLY_PLAIN, (ct,), where, builder.plains.number(ONE, np.where(mask, 0, -1)))
        cts.append(ct)
        zeros.append(x.zeros[number] | ~mask)
    return Packed(tuple(cts), x.ct, x.slot, x.period, np.stack(zeros))


def same_places(a: Packed, b: Packed, slots: Slots) -> bool:
    """Tell whether two tensors of one shape already line up, ciphertext by ciphertext."""
    if len(a.cts) != len(b.cts) or not np.array_equal(a.ct, b.ct):
        return False
    common = Slots(min(a.period.rows, b.period.rows), min(a.period.width, b.period.width))
    return not slots.minus(a.slot, b.slot, common).any()


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
    forth, back = list(_moves(b, a, builder.slots)), list(_moves(a, to_b, builder.slots))
    if _cost(forth, builder.slots) <= _cost(back, builder.slots):
        return a, _aligned(builder, b, a, forth, where)
    return _aligned(builder, a, to_b, back, where), to_b


def combine(builder: Builder, kind: Kind, a: Packed, b: Packed, where: Location) -> Packed:
    """Add, subtract or multiply two packed tensors element by element (numpy broadcasting)."""
    if kind is Kind.MULTIPLY and a is b:
        return square(builder, a, where)
    shape = np.broadcast_shapes(a.shape, b.shape)
    left, right = _line_up(builder, a.broadcast(shape), b.broadcast(shape), where)
    cts = tuple(builder.add(kind, pair, where) for pair in zip(left.cts, right.cts, strict=True))
    joined = left.zeros | right.zeros if kind is Kind.MULTIPLY else left.zeros & right.zeros
    slot = _common_slots(left, right, builder.slots)
    return Packed(cts, left.ct, slot, left.period.join(right.period), joined)


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
    everywhere = constant and kind is Kind.MULTIPLY_PLAIN
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
