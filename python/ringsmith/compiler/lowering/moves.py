# SPDX-License-Identifier: Apache-2.0
"""Moving a tensor's elements to the places of another's, and masks.

A whole ciphertext that moves by one distance takes a rotation, and a row swap where that leads to another row. Parts
that move by different distances are rotated, masked and added, without the mask where the other parts are known to be
zero; many of them are one linear transform by baby steps and giant steps. Zeros that stand nowhere take a mask at most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringsmith.compiler.lowering.layout import Packed
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.graph import Node, Op, frozen
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import Builder
from ringsmith.location import Location

Mask = NDArray[np.bool_]

#: Fewest moves of one ciphertext for which baby steps and giant steps are tried.
_MANY = 6

_ONE = np.ones((), dtype=np.int64)
ONE = Node(Op.CONSTANT, (), (), False, _ONE, _ONE, Location("<mask>", 0, 0, 0), frozen({"value": _ONE}))


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


@dataclass(frozen=True, eq=False)
class Filling:
    """The moves that fill a ciphertext, and the places of elements that are zero."""

    moves: list[_Move]
    holes: Index


def fillings(source: Packed, target: Packed, slots: Slots) -> list[Filling]:
    """Return what fills each ciphertext of the target."""
    src_ct, src_slot = source.ct.reshape(-1), source.slot.reshape(-1)
    dst_slot = target.slot.reshape(-1)
    key = src_ct * slots.count + slots.minus(src_slot, dst_slot, source.period)
    found = []
    for every in target.elements_of():
        here = every[src_ct[every] >= 0]
        order = np.argsort(key[here], kind="stable")
        keys, starts = np.unique(key[here][order], return_index=True)
        groups = np.split(dst_slot[here][order], starts[1:]) if len(here) else []
        moves = [_Move(*divmod(int(k), slots.count), own) for k, own in zip(keys, groups, strict=True)]
        found.append(Filling(moves, dst_slot[every[src_ct[every] < 0]]))
    return found


def cost_of(all_fillings: Sequence[Filling], slots: Slots) -> float:
    """Return a figure that grows with the key switches and masks that filling would take."""
    total = 0.0
    for filling in all_fillings:
        if len(filling.moves) == 1:
            total += filling.moves[0].key_switches(slots) + (len(filling.holes) > 0)
            continue
        for together in _together(filling.moves, slots):
            switches = sum(max(1, move.key_switches(slots)) for move in together)
            least = _stepped(together, slots).rotations if len(together) >= _MANY else switches
            total += len(together) + min(switches, least)
    return total


def _together(moves: list[_Move], slots: Slots) -> list[list[_Move]]:
    """Group moves by their source and by whether they swap rows."""
    found: dict[tuple[int, int], list[_Move]] = {}
    for move in moves:
        found.setdefault((move.source, move.distance // slots.width), []).append(move)
    return list(found.values())


@dataclass(frozen=True)
class Stepped:
    """Distances as giant and baby steps: number m is `giants[m] + babies[m]`, modulo the width of a row."""

    giants: Index
    babies: Index

    @property
    def rotations(self) -> int:
        """How many rotations take a key."""
        return sum(int(np.count_nonzero(np.unique(own))) for own in (self.giants, self.babies))


def _stepped(moves: list[_Move], slots: Slots) -> Stepped:
    return stepped(np.array([move.distance for move in moves]), slots)


def stepped(rotations: Index, slots: Slots) -> Stepped:
    """Return the steps that take the fewest rotations, among those of evenly spaced giants."""
    distances = rotations % slots.width
    order = np.sort(distances)
    gaps = np.diff(np.r_[order, order[0] + slots.width])
    start = int(order[(np.argmax(gaps) + 1) % len(order)])
    offsets = (distances - start) % slots.width
    unit = math.gcd(*offsets.tolist()) or 1
    numbers = offsets // unit
    # Of a full range, as many babies as giants are best; of a sparse one it is hard to tell.
    most = int(numbers.max()) + 1
    babies = {*range(1, min(most, 3 * math.isqrt(most)) + 1), *(1 << k for k in range(most.bit_length()))}
    ways = [Stepped(numbers // b * b * unit, start + numbers % b * unit) for b in sorted(babies)]
    return min(ways, key=lambda way: way.rotations)


def aligned(builder: Builder, source: Packed, target: Packed, filled: Sequence[Filling], where: Location) -> Packed:
    """Return the source's elements in the places of the target's (same shapes; no two targets in one place).

    A ciphertext into which nothing moves has the number -1.
    """
    slots = builder.slots
    cts, zeros, single = [], [], True
    both = source.period.join(target.period)
    for filling in filled:
        single &= len(filling.moves) == 1 and not len(filling.holes)
        number, zero = _assemble(builder, source, filling, both, where)
        cts.append(number)
        zeros.append(zero)
    period = source.period if single else both
    return Packed(tuple(cts), target.ct, slots.plus(target.slot, 0, period), period, np.stack(zeros))


def _assemble(builder: Builder, source: Packed, filling: Filling, period: Slots, where: Location) -> tuple[int, Mask]:
    """Add the moves into one ciphertext, in which a period repeats; return it and where it is zero."""
    builder.room_for(len(filling.moves))
    if len(filling.moves) == 1 and not len(filling.holes):
        (move,) = filling.moves
        zero = builder.slots.turned(source.zeros[move.source], move.distance)
        return builder.turn(source.cts[move.source], move.distance, where), zero
    filled = _mask(filling.holes, period, builder.slots)
    for move in filling.moves:
        filled |= _mask(move.places, period, builder.slots)
    total, zero = -1, np.ones(builder.slots.count, dtype=bool)
    for together in _together(filling.moves, builder.slots):
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
    builder: Builder, source: Packed, moves: list[_Move], steps: Stepped, period: Slots, where: Location
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
