# SPDX-License-Identifier: Apache-2.0
"""Fewer rotation keys: rotations that are used least are made of powers of two, each by a rotation of its own.

A distance has a signed binary form without neighbouring digits (Reitwiesner, 1960), so that log2(slots) keys each way
serve all distances; plain binary takes half as many keys and more rotations. A linear transform with such a rotation
becomes rotations, products and sums, which share what they can.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ringsmith.ir.geometry import Slots
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import SlotOp, SlotProgram, Transform, rotation
from ringsmith.location import Location
from ringsmith.progress import tell

#: The distances, powers of two, that one is made of.
Digits = Callable[[int, Slots], tuple[int, ...]]


def signed(distance: int, slots: Slots) -> tuple[int, ...]:
    """Return the signed powers of two, no two of them neighbours, that a distance is the sum of."""
    found, power = [], 1
    while distance:
        if distance % 2:
            digit = 2 - distance % 4
            found.append(rotation(digit * power, slots))
            distance -= digit
        distance, power = distance // 2, power * 2
    return tuple(one for one in found if one)


def unsigned(distance: int, slots: Slots) -> tuple[int, ...]:
    """Return the powers of two that a distance to the left is the sum of."""
    distance %= slots.width
    return tuple(rotation(1 << k, slots) for k in range(distance.bit_length()) if distance >> k & 1)


def rotations(program: SlotProgram) -> Counter[int]:
    """Return how often each rotation is used."""
    found: Counter[int] = Counter()
    for op in program.ops:
        if op.transform is not None:
            found.update(op.transform.rotations)
        elif op.kind is Kind.ROTATE:
            found[op.steps] += 1
    return found


def with_few_keys(program: SlotProgram, most: int) -> SlotProgram:
    """Return the program with at most `most` rotation keys, or with the fewest that powers of two allow."""
    used = rotations(program)
    if len(used) <= most:
        return program
    tell(f"{len(used)} rotations, of which {most} may have keys: the others made of powers of two")
    order = [distance for distance, _ in used.most_common()]
    for digits in (signed, unsigned):
        for count in range(min(most, len(order)), -1, -1):
            kept = set(order[:count])
            keys = kept | {digit for distance in order[count:] for digit in digits(distance, program.slots)}
            if len(keys) <= most:
                return _Rewriting(program, frozenset(keys), digits).run()
    return _Rewriting(program, frozenset(), unsigned).run()


def in_chains(program: SlotProgram) -> SlotProgram:
    """Return the program with the rotations of its transforms one after the other, by the few distances between them.

    The rotations of a convolution's operand lie a pixel and a row apart: two keys serve them all. Giant steps are taken
    as Horner's rule has it, each time a sum is rotated further. It takes as many rotations as before, none of which
    shares its decomposition with others.
    """
    tell(f"{len(rotations(program))} rotations, one after the other by the distances between them")
    return _Chaining(program, frozenset(), signed).run()


@dataclass
class _Rewriting:
    """One walk over a program."""

    program: SlotProgram
    keys: frozenset[int]
    digits: Digits
    ops: list[SlotOp] = field(default_factory=list)
    known: dict[SlotOp, int] = field(default_factory=dict)

    def run(self) -> SlotProgram:
        number: dict[int, int] = {}
        for old, op in enumerate(self.program.ops):
            moved = replace(op, args=tuple(number[arg] for arg in op.args))
            number[old] = self._emit(moved) if self._kept(op) else self._expanded(moved)
        outputs = tuple(number[output] for output in self.program.outputs)
        return replace(self.program, ops=tuple(self.ops), outputs=outputs)

    def _kept(self, op: SlotOp) -> bool:
        own = op.transform.rotations if op.transform is not None else [op.steps] if op.kind is Kind.ROTATE else []
        return self.keys.issuperset(own)

    def _emit(self, op: SlotOp) -> int:
        if op.kind in (Kind.INPUT, Kind.WITHIN) or op not in self.known:
            self.known[op] = len(self.ops)
            self.ops.append(op)
        return self.known[op]

    def _expanded(self, op: SlotOp) -> int:
        if op.transform is not None:
            return self._summed(op.args[0], op.transform, op.where)
        return self._turned(op.args[0], op.steps, op.where)

    def _turned(self, arg: int, distance: int, where: Location) -> int:
        for step in [distance] if distance in self.keys else self.digits(distance, self.program.slots):
            arg = self._emit(SlotOp(Kind.ROTATE, (arg,), where, steps=step))
        return arg

    def _summed(self, arg: int, transform: Transform, where: Location) -> int:
        total = -1
        for giant in transform.giants:
            own = -1
            for term in giant.terms:
                part = self._turned(arg, term.rotation, where)
                if term.plain >= 0:
                    part = self._emit(SlotOp(Kind.MULTIPLY_PLAIN, (part,), where, plain=term.plain))
                own = self._added(own, part, where)
            total = self._added(total, self._turned(own, giant.rotation, where), where)
        return total

    def _added(self, total: int, part: int, where: Location) -> int:
        return part if total < 0 else self._emit(SlotOp(Kind.ADD, (total, part), where))


#: Transforms of at most this number of rotations stay as they are.
_SHORT = 2


class _Chaining(_Rewriting):
    """A walk that takes transforms apart into chains of rotations."""

    def _kept(self, op: SlotOp) -> bool:
        return op.transform is None or len(op.transform.rotations) <= _SHORT

    def _summed(self, arg: int, transform: Transform, where: Location) -> int:
        turned = self._chain(arg, {term.rotation for term in transform.terms}, where)
        total, at = -1, 0
        for giant in reversed(transform.giants):
            if total >= 0:
                total = self._turn(total, at - giant.rotation, where)
            for term in giant.terms:
                part = turned[term.rotation]
                if term.plain >= 0:
                    part = self._emit(SlotOp(Kind.MULTIPLY_PLAIN, (part,), where, plain=term.plain))
                total = self._added(total, part, where)
            at = giant.rotation
        return self._turn(total, at, where)

    def _chain(self, arg: int, wanted: set[int], where: Location) -> dict[int, int]:
        """Return a ciphertext's rotations: from 0 up and down, or all from the least on, whichever takes fewer keys."""
        ways: list[tuple[int, int, int, list[tuple[int, int]]]] = []
        for start in (0, min(wanted)):
            up = [start, *sorted(by for by in wanted if by > start)]
            down = [start, *sorted((by for by in wanted if by < start), reverse=True)]
            steps = [(a, b) for own in (up, down) for a, b in itertools.pairwise(own)]
            keys = {b - a for a, b in steps} | ({start} - {0})
            ways.append((len(keys), len(ways), start, steps))
        _, _, start, steps = min(ways)
        found = {start: self._turn(arg, start, where)}
        for before, by in steps:
            found[by] = self._turn(found[before], by - before, where)
        return found

    def _turn(self, arg: int, distance: int, where: Location) -> int:
        steps = rotation(distance, self.program.slots)
        return self._emit(SlotOp(Kind.ROTATE, (arg,), where, steps=steps)) if steps else arg
