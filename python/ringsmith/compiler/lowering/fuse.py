# SPDX-License-Identifier: Apache-2.0
"""Sums of rotations of one ciphertext, each perhaps times a plaintext, as linear transforms.

That is what shifted views come to that are weighed and added (convolutions, pooling), and moves under masks. A product
that is rotated is the rotation times the rotated plaintext. Many rotations are made of baby steps and giant steps. A
rotation that something else needs too stays by itself: rotations of one ciphertext share their decomposition either
way, and in a transform it would be made twice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace

import numpy as np

from ringsmith.compiler.lowering import cost
from ringsmith.compiler.lowering.moves import stepped
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import PlainOperand, SlotOp, SlotProgram, Terms, Transform

_LINEAR = (Kind.ADD, Kind.SUB, Kind.NEGATE)
# Rotations from which on a transform saves more than its longer products cost.
_LEAST = 2
# Terms from which on baby steps and giant steps are tried.
_MANY = 16


@dataclass(frozen=True)
class _Leaf:
    """A summand: an operation, and the rotation of `source` times a plaintext (-1: none) that it is.

    `inside`: the plaintext multiplied before the rotation.
    """

    sign: int
    op: int
    source: int
    rotation: int = 0
    plain: int = -1
    inside: bool = False


def fuse(program: SlotProgram) -> SlotProgram:
    """Return the program with linear transforms in place of such sums."""
    return _Fusion(program).run()


class _Fusion:
    """One pass over a program."""

    def __init__(self, program: SlotProgram) -> None:
        self.program = program
        self.uses = Counter(arg for op in program.ops for arg in op.args)
        self.uses.update(program.outputs)
        self.ops: list[SlotOp] = []
        self.number: dict[int, int] = {}
        self.plains = list(program.plains)
        self.turned: dict[tuple[int, int], int] = {}

    def run(self) -> SlotProgram:
        inner = self._inner()
        whole = (n for n, op in enumerate(self.program.ops) if op.kind in _LINEAR and n not in inner)
        sums = {number: self._leaves(number, inner) for number in whole}
        groups = {number: self._groups(leaves) for number, leaves in sums.items()}
        groups = {number: found for number, found in groups.items() if found}
        if not groups:
            return self.program
        gone = self._gone(groups, inner)
        for number, op in enumerate(self.program.ops):
            if number in groups:
                self.number[number] = self._sum(op, sums[number], groups[number])
            elif number not in gone:
                self.number[number] = self._emit(replace(op, args=tuple(self.number[arg] for arg in op.args)))
        outputs = tuple(self.number[output] for output in self.program.outputs)
        return replace(self.program, ops=tuple(self.ops), plains=tuple(self.plains), outputs=outputs).compact()

    def _emit(self, op: SlotOp) -> int:
        self.ops.append(op)
        return len(self.ops) - 1

    def _inner(self) -> set[int]:
        """Return the sums that are part of one larger sum alone."""
        ops = self.program.ops
        args = (arg for op in ops if op.kind in _LINEAR for arg in op.args)
        return {arg for arg in args if ops[arg].kind in _LINEAR and self.uses[arg] == 1}

    def _leaves(self, number: int, inner: set[int]) -> list[_Leaf]:
        """Return the summands of a sum, left to right."""
        leaves: list[_Leaf] = []
        stack = [(1, number)]
        while stack:
            sign, at = stack.pop()
            op = self.program.ops[at]
            if op.kind not in _LINEAR or (at != number and at not in inner):
                leaves.append(self._leaf(sign, at))
            elif op.kind is Kind.NEGATE:
                stack.append((-sign, op.args[0]))
            else:
                stack.append((-sign if op.kind is Kind.SUB else sign, op.args[1]))
                stack.append((sign, op.args[0]))
        return leaves

    def _leaf(self, sign: int, number: int) -> _Leaf:
        ops = self.program.ops
        source, plain, rotation, inside = number, -1, 0, False
        if self._is_product(number):
            source, plain = ops[number].args[0], ops[number].plain
        if ops[source].kind is Kind.ROTATE and self.uses[source] == 1:
            source, rotation = ops[source].args[0], ops[source].steps
            if plain < 0 and self._is_product(source):
                source, plain, inside = ops[source].args[0], ops[source].plain, True
        return _Leaf(sign, number, source, rotation, plain, inside)

    def _is_product(self, number: int) -> bool:
        """Return whether an operation with one use is a product with a plaintext.

        A factor needs no encoding and no level, so it stays a product of its own.
        """
        op = self.program.ops[number]
        is_product = op.kind is Kind.MULTIPLY_PLAIN and self.program.plains[op.plain].integer is None
        return is_product and self.uses[number] == 1

    def _plain(self, leaf: _Leaf) -> int:
        """Return the plaintext of a leaf's term, which is multiplied after the rotation."""
        if not leaf.inside or leaf.rotation == 0:
            return leaf.plain
        return self._turned(leaf.plain, leaf.rotation)

    def _turned(self, plain: int, distance: int) -> int:
        """Return the plaintext with its slots moved by a distance."""
        steps = distance % self.program.slots.width
        operand = self.plains[plain]
        gather = operand.gather
        if steps == 0 or operand.integer is not None or (gather == gather[0]).all():
            return plain
        if (plain, steps) not in self.turned:
            self.turned[plain, steps] = len(self.plains)
            self.plains.append(PlainOperand(operand.node, self.program.slots.turned(gather, steps)))
        return self.turned[plain, steps]

    def _steps(self, group: list[_Leaf]) -> Terms:
        """Return the terms of a transform, by baby steps and giant steps where there are many and that costs less."""
        terms = {leaf.rotation: self._plain(leaf) for leaf in group}
        if len(terms) < _MANY:
            return {0: terms}
        steps = stepped(np.array(list(terms)), self.program.slots)
        babies, giants = (np.count_nonzero(np.unique(own)) for own in (steps.babies, steps.giants))
        if cost.transform(int(babies), int(giants), 0) >= cost.transform(len(terms) - 1, 0, 0):
            return {0: terms}
        found: dict[int, dict[int, int]] = defaultdict(dict)
        for plain, giant, baby in zip(terms.values(), steps.giants.tolist(), steps.babies.tolist(), strict=True):
            # The giant step moves the products to their places.
            found[giant][baby] = plain if plain < 0 else self._turned(plain, -giant)
        return found

    def _groups(self, leaves: list[_Leaf]) -> list[list[_Leaf]]:
        """Return the summands that make a transform each: of one source, added, all with plaintexts or all without."""
        found: dict[tuple[int, bool], dict[int, _Leaf]] = defaultdict(dict)
        for leaf in leaves:
            if leaf.sign > 0:
                found[leaf.source, leaf.plain >= 0].setdefault(leaf.rotation, leaf)
        return [list(group.values()) for group in found.values() if len(group.keys() - {0}) >= _LEAST]

    def _gone(self, groups: dict[int, list[list[_Leaf]]], inner: set[int]) -> set[int]:
        """Return the operations that transforms take the place of, and the inner sums around them."""
        gone = self._inside(groups, inner)
        for leaf in (leaf for found in groups.values() for group in found for leaf in group):
            at = leaf.op
            while at != leaf.source:
                gone.add(at)
                at = self.program.ops[at].args[0]
        return gone

    def _inside(self, groups: dict[int, list[list[_Leaf]]], inner: set[int]) -> set[int]:
        """Return the inner sums of sums with transforms."""
        found: set[int] = set()
        pending = list(groups)
        while pending:
            for arg in self.program.ops[pending.pop()].args:
                if arg in inner:
                    found.add(arg)
                    pending.append(arg)
        return found

    def _sum(self, op: SlotOp, leaves: list[_Leaf], groups: list[list[_Leaf]]) -> int:
        terms = []
        taken: set[int] = set()
        for group in groups:
            transform = Transform.of(self._steps(group), self.program.slots)
            source = self.number[group[0].source]
            terms.append((1, self._emit(SlotOp(Kind.LINEAR_TRANSFORM, (source,), op.where, transform=transform))))
            taken.update(map(id, group))
        terms += [(leaf.sign, self.number[leaf.op]) for leaf in leaves if id(leaf) not in taken]
        total = terms[0][1]
        for sign, term in terms[1:]:
            total = self._emit(SlotOp(Kind.ADD if sign > 0 else Kind.SUB, (total, term), op.where))
        return total
