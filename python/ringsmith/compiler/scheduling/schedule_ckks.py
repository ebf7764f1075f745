# SPDX-License-Identifier: Apache-2.0
"""CKKS: where to relinearise, rescale and drop primes, so that the scales of all additions match exactly.

Every ciphertext used by a product, a rotation or as a result is *normal*: two polynomials, and after `depth`
rescales its scale is that depth's own, D(d+1) = D(d)^2 / q(d). Products are *raw*: scale D(d)^2, three polynomials if
both factors were encrypted. Sums are collected whole: products are added raw, so that one relinearisation and one
rescale serve the sum (lazy relinearisation). A plaintext's scale is free: it is chosen so that its product lands on
the scale of the sum, whatever depth the ciphertext came from (as in the reduced-error variants of RNS-CKKS, Kim,
Papadimitriou, Polyakov, CT-RSA 2022). Depths here count from the top; moduli enter in `resolve`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ringsmith.compiler.lowering.moves import ONE
from ringsmith.ir.circuit import Circuit, OutputPacking, Step
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import CIPHER_PRODUCTS, PlainOperand, SlotOp, SlotProgram, Transform
from ringsmith.location import Location
from ringsmith.progress import tell

_LINEAR = (Kind.ADD, Kind.SUB, Kind.NEGATE, Kind.ADD_PLAIN, Kind.SUB_PLAIN)

# How a plaintext is scaled: none, 1 (an integer in all slots), the ciphertext's own, or so that the product is raw.
_NO_PLAIN, _UNIT, _SAME, _TO_RAW = range(4)


@dataclass(slots=True, eq=False)
class _Planned:
    """A step whose level and scale follow from its depth (rescales before it) and whether it is raw."""

    kind: Kind
    args: tuple[int, ...]
    where: Location
    depth: int
    raw: bool
    size: int
    plain: int = -1
    plain_mode: int = _NO_PLAIN
    plain_from: int = 0
    steps: int = 0
    bound: float = math.inf
    everywhere: bool = False
    error: float = math.inf
    transform: Transform | None = None


@dataclass(frozen=True)
class _Term:
    """A summand: a slot operation or, for op < 0, the plaintext `plain`."""

    sign: int
    op: int
    plain: int = -1


@dataclass(frozen=True)
class Schedule:
    """A slot program with its relinearisations and rescales; `depth` rescales are needed in all."""

    program: SlotProgram
    planned: tuple[_Planned, ...]
    plains: tuple[PlainOperand, ...]
    outputs: tuple[int, ...]
    depth: int
    #: Results keep the level that they are found at, for a program that takes them.
    keep: bool = False
    #: The depth of refreshed ciphertexts, at which everything starts; 0 where nothing is refreshed.
    fresh: int = 0

    def refreshed(self) -> list[_Planned]:
        """Return the operands of all refreshes."""
        return [self.planned[own.args[0]] for own in self.planned if own.kind is Kind.BOOTSTRAP]

    def resolved(self, moduli: Sequence[int], log2_scale: float) -> Circuit:
        """Return the circuit for a chain of at least `depth + 1` primes."""
        return resolve(self, moduli, log2_scale)


def schedule(program: SlotProgram, *, keep: bool = False, fresh: int = 0) -> Schedule:
    """Place relinearisations, rescales and prime drops; results `keep` their levels for another program. `fresh`: the
    depth of refreshed ciphertexts."""
    return replace(_Scheduler(program, fresh).run(), keep=keep, fresh=fresh)


#: Primes of other sizes than the scale drive it away, twice as fast at each level; held here, its error is too large.
_FARTHEST = 2.0**300


def scales(moduli: Sequence[int], log2_scale: float, fresh: int = 0) -> list[float]:
    """Return the scale at each depth for a chain (first prime first); moduli[-1] is dropped first. Down to depth
    `fresh` primes are dropped without a rescale."""
    chain = [2.0**log2_scale] * (fresh + 1)
    for prime in reversed(moduli[1 : len(moduli) - fresh]):
        chain.append(min(max(chain[-1] ** 2 / prime, 1 / _FARTHEST), _FARTHEST))
    return chain


def resolve(scheduled: Schedule, moduli: Sequence[int], log2_scale: float) -> Circuit:
    """Fill in levels and scales for a chain of at least `depth + 1` primes."""
    tell(f"{len(scheduled.planned)} steps, {len(moduli)} primes, scale 2^{log2_scale:g}")
    top = len(moduli) - 1
    chain = scales(moduli, log2_scale, scheduled.fresh)
    steps = []
    for planned in scheduled.planned:
        scale = chain[planned.depth] ** 2 if planned.raw else chain[planned.depth]
        if planned.plain_mode == _TO_RAW:
            plain_scale = scale / chain[planned.plain_from]
        else:
            plain_scale = scale if planned.plain_mode == _SAME else 1.0
        if planned.kind is Kind.MOD_DROP:
            scale = chain[planned.plain_from]
        steps.append(
            Step(
                planned.kind, planned.args, planned.where, top - planned.depth, scale, planned.size,
                planned.plain, plain_scale, planned.steps, planned.bound, planned.everywhere, planned.error,
                planned.transform,
            )
        )  # fmt: skip
    outputs = scheduled.outputs
    if not scheduled.keep:
        steps, outputs = _drop_outputs(steps, outputs, top - scheduled.depth)
    program = scheduled.program
    output = OutputPacking(program.output_ct.shape, program.output_ct, program.output_slot)
    return Circuit(
        "ckks", program.slots, program.inputs, program.bounds, tuple(steps), scheduled.plains, outputs, output
    )


def _drop_outputs(steps: list[Step], outputs: tuple[int, ...], floor: int) -> tuple[list[Step], tuple[int, ...]]:
    """Drop the primes above level `floor` that results no longer need: fewer bytes to send back."""
    dropped = []
    for number in outputs:
        step = steps[number]
        if step.level > floor:
            steps.append(Step(Kind.MOD_DROP, (number,), step.where, floor, step.scale, step.size))
            number = len(steps) - 1
        dropped.append(number)
    return steps, tuple(dropped)


def _is_plain_product(op: SlotOp) -> bool:
    """Return whether an operation multiplies one ciphertext by plaintexts."""
    return op.kind is Kind.MULTIPLY_PLAIN or (op.kind is Kind.LINEAR_TRANSFORM and bool(op.plains))


class _Scheduler:
    """One pass over a slot program."""

    def __init__(self, program: SlotProgram, fresh: int = 0) -> None:
        self.program = program
        self.fresh = fresh
        self.planned: list[_Planned] = []
        self.plains = list(program.plains)
        self.uses = Counter(arg for op in program.ops for arg in op.args)
        self.uses.update(program.outputs)
        self.inlined = self._find_inlined()
        self.first = [
            depth
            for packing in program.inputs.values()
            for depth in (packing.handed.depths if packing.handed else (0,) * len(packing.gather))
        ]
        self.raw: dict[int, int] = {}
        self.normal: dict[int, int] = {}
        self.adjusted: dict[tuple[int, int], int] = {}
        self._one = -1

    def run(self) -> Schedule:
        for number in range(len(self.program.ops)):
            if number not in self.inlined:
                self._materialize(number)
                if self.fresh and number + 1 == len(self.first):
                    self._drop_inputs()
        outputs = tuple(self._normal(number) for number in self.program.outputs)
        depth = max((planned.depth for planned in self.planned), default=0)
        return Schedule(self.program, tuple(self.planned), tuple(self.plains), outputs, depth)

    def _drop_inputs(self) -> None:
        """Bring the inputs, which come first, to the level that refreshes leave: there all scales are those of one
        chain."""
        for number in range(len(self.first)):
            self.normal[number] = self._dropped(self.normal[number], self.fresh, self.program.ops[number].where)

    def _find_inlined(self) -> set[int]:
        """Return the sums and products with one use, and that in a sum: they are computed as part of it."""
        ops = self.program.ops
        inlined = set()
        for op in ops:
            if op.kind in _LINEAR:
                for arg in op.args:
                    inside = ops[arg].kind in (*_LINEAR, *CIPHER_PRODUCTS) or _is_plain_product(ops[arg])
                    if inside and self.uses[arg] == 1:
                        inlined.add(arg)
        return inlined

    def _emit(self, planned: _Planned) -> int:
        self.planned.append(planned)
        return len(self.planned) - 1

    def _materialize(self, number: int) -> None:
        """Compute an operation in raw or normal form."""
        op = self.program.ops[number]
        if op.kind is Kind.INPUT:
            # Inputs are the first operations.
            self.normal[number] = self._emit(_Planned(Kind.INPUT, (), op.where, self.first[number], False, 2))
        elif op.kind is Kind.BOOTSTRAP:
            refreshed = _Planned(Kind.BOOTSTRAP, (self._normal(op.args[0]),), op.where, self.fresh, False, 2)
            self.normal[number] = self._emit(refreshed)
        elif op.kind is Kind.ROTATE or (op.kind is Kind.LINEAR_TRANSFORM and not op.plains):
            x = self._normal(op.args[0])
            depth = self.planned[x].depth
            turned = _Planned(op.kind, (x,), op.where, depth, False, 2, steps=op.steps, transform=op.transform)
            self.normal[number] = self._emit(turned)
        elif op.kind is Kind.WITHIN:
            x = self._normal(op.args[0])
            depth = self.planned[x].depth
            promise = _Planned(
                Kind.WITHIN, (x,), op.where, depth, False, 2, bound=op.bound, everywhere=op.everywhere, error=op.error
            )  # fmt: skip
            self.normal[number] = self._emit(promise)
        elif op.kind in _LINEAR:
            self._sum(number, self._terms(number))
        elif op.kind is Kind.MULTIPLY_PLAIN and self.program.plains[op.plain].integer is not None:
            self.normal[number] = self._integer_product(number)
        else:
            self._product(number, self._product_depth(number))

    def _terms(self, number: int) -> list[_Term]:
        """Collect the summands of a sum, through inner sums that have no other use."""
        terms: list[_Term] = []
        stack = [_Term(1, number)]
        while stack:
            term = stack.pop()
            op = self.program.ops[term.op]
            if op.kind not in _LINEAR or (term.op != number and term.op not in self.inlined):
                terms.append(term)
                continue
            second = -term.sign if op.kind in (Kind.SUB, Kind.SUB_PLAIN) else term.sign
            if op.kind in (Kind.ADD_PLAIN, Kind.SUB_PLAIN):
                terms.append(_Term(second, -1, op.plain))
            if op.kind is Kind.NEGATE:
                stack.append(_Term(-term.sign, op.args[0]))
            else:
                stack.extend(_Term(second, arg) for arg in op.args[1:])
                stack.append(_Term(term.sign, op.args[0]))
        return terms

    def _is_raw_product(self, number: int) -> bool:
        op = self.program.ops[number]
        if op.kind is Kind.MULTIPLY_PLAIN:
            return self.program.plains[op.plain].integer is None
        return op.kind in CIPHER_PRODUCTS or _is_plain_product(op)

    def _joins_raw(self, number: int) -> bool:
        """Return whether a summand is a product that has not been normalised for another use."""
        return self._is_raw_product(number) and number not in self.normal

    def _depth(self, number: int) -> int:
        return self.planned[self._normal(number)].depth

    def _product_depth(self, number: int) -> int:
        """Return the depth at which a product is raw (the least possible)."""
        if number in self.raw:
            return self.planned[self.raw[number]].depth
        return max(self._depth(arg) for arg in self.program.ops[number].args)

    def _product(self, number: int, depth: int) -> int:
        """Compute a product raw at a depth."""
        if number in self.raw and self.planned[self.raw[number]].depth == depth:
            return self.raw[number]
        op = self.program.ops[number]
        if _is_plain_product(op):
            step = self._scaled(self._normal(op.args[0]), op, depth)
        else:
            args = tuple(self._at_depth(arg, depth) for arg in op.args)
            step = self._emit(_Planned(op.kind, args, op.where, depth, True, 3))
        self.raw.setdefault(number, step)
        return step

    def _scaled(self, x: int, op: SlotOp, depth: int) -> int:
        """Multiply a normal ciphertext by an operation's plaintexts so that the product is raw at `depth`."""
        source = self.planned[x].depth
        if source < depth:
            x = self._dropped(x, depth, op.where)
        product = _Planned(op.kind, (x,), op.where, depth, True, 2, op.plain, _TO_RAW, source, transform=op.transform)
        return self._emit(product)

    def _dropped(self, x: int, depth: int, where: Location) -> int:
        key = (x, depth)
        if key not in self.adjusted:
            source = self.planned[x].depth
            drop = _Planned(Kind.MOD_DROP, (x,), where, depth, False, 2, plain_from=source)
            self.adjusted[key] = self._emit(drop)
        return self.adjusted[key]

    def _integer_product(self, number: int) -> int:
        op = self.program.ops[number]
        x = self._normal(op.args[0])
        depth = self.planned[x].depth
        return self._emit(_Planned(Kind.MULTIPLY_PLAIN, (x,), op.where, depth, False, 2, op.plain, _UNIT))

    def _times_one(self, x: int, depth: int, where: Location) -> int:
        """Multiply a normal ciphertext by 1 so that the product is raw at `depth`."""
        return self._scaled(x, SlotOp(Kind.MULTIPLY_PLAIN, (), where, self._unit()), depth)

    def _unit(self) -> int:
        """Return the plaintext 1."""
        if self._one < 0:
            self._one = len(self.plains)
            self.plains.append(PlainOperand(ONE, np.zeros(self.program.slots.count, dtype=np.intp)))
        return self._one

    def _normal(self, number: int) -> int:
        """Return an operation's normal form, relinearising and rescaling its raw form the first time."""
        if number not in self.normal:
            if number not in self.raw:
                self._materialize(number)
            if number not in self.normal:
                self.normal[number] = self._normalize(self.raw[number])
        return self.normal[number]

    def _normalize(self, raw: int) -> int:
        value = self.planned[raw]
        if value.size == 3:
            return self._emit(_Planned(Kind.RELINEARIZE_RESCALE, (raw,), value.where, value.depth + 1, False, 2))
        return self._emit(_Planned(Kind.RESCALE, (raw,), value.where, value.depth + 1, False, 2))

    def _at_depth(self, number: int, depth: int) -> int:
        """Return a normal form at a given depth or deeper than the operation's own."""
        x = self._normal(number)
        if self.planned[x].depth == depth:
            return x
        key = (-1 - x, depth)
        if key not in self.adjusted:
            where = self.program.ops[number].where
            raw = self._times_one(x, depth - 1, where)
            self.adjusted[key] = self._emit(_Planned(Kind.RESCALE, (raw,), where, depth, False, 2))
        return self.adjusted[key]

    def _sum(self, number: int, terms: list[_Term]) -> None:
        """Compute a sum: raw where products allow it, the rest after the rescale."""
        where = self.program.ops[number].where
        products = [t for t in terms if t.op >= 0 and self._joins_raw(t.op)]
        if len(products) == 1 and self.uses[products[0].op] > 1:
            products = []  # It is needed in normal form elsewhere too: one rescale serves both.
        raised = set(map(id, products))
        values = [t for t in terms if t.op >= 0 and id(t) not in raised]
        plains = [t for t in terms if t.op < 0]
        ends = [self._product_depth(t.op) + 1 for t in products] + [self._depth(t.op) for t in values]
        depth = max(ends)
        raw: list[tuple[int, int]] = []
        late: list[tuple[int, int]] = []
        for term in products:
            # Deeper factors are cheaper than a relinearisation of its own; another user may want the least depth.
            own = _is_plain_product(self.program.ops[term.op]) or term.op in self.inlined
            if self._product_depth(term.op) + 1 == depth or own:
                raw.append((term.sign, self._product(term.op, depth - 1)))
            else:
                values.append(term)
        for term in values:
            x = self._normal(term.op)
            if self.planned[x].depth == depth:
                late.append((term.sign, x))
            else:
                raw.append((term.sign, self._times_one(x, depth - 1, where)))
        self._finish_sum(number, raw, late, plains)

    def _finish_sum(
        self, number: int, raw: list[tuple[int, int]], late: list[tuple[int, int]], plains: list[_Term]
    ) -> None:
        where = self.program.ops[number].where
        if raw and not late and not plains:
            self.raw[number] = self._accumulate(raw, where)
            return
        if raw:
            sign = -1 if all(sign < 0 for sign, _ in raw) else 1
            late.append((sign, self._normalize(self._accumulate([(sign * s, x) for s, x in raw], where))))
        total = self._accumulate(late, where)
        for term in plains:
            kind = Kind.ADD_PLAIN if term.sign > 0 else Kind.SUB_PLAIN
            depth = self.planned[total].depth
            total = self._emit(_Planned(kind, (total,), where, depth, False, 2, term.plain, _SAME))
        self.normal[number] = total

    def _accumulate(self, terms: list[tuple[int, int]], where: Location) -> int:
        """Add signed ciphertexts of one depth and form; starts from a positive one where there is one."""
        terms = sorted(terms, key=lambda term: term[0] < 0)
        sign, total = terms[0]
        first = self.planned[total]
        if sign < 0:
            total = self._emit(_Planned(Kind.NEGATE, (total,), where, first.depth, first.raw, first.size))
        for sign, x in terms[1:]:
            size = max(self.planned[total].size, self.planned[x].size)
            kind = Kind.ADD if sign > 0 else Kind.SUB
            total = self._emit(_Planned(kind, (total, x), where, first.depth, first.raw, size))
        return total
