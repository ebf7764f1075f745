# SPDX-License-Identifier: Apache-2.0
"""Magnitudes of a CKKS circuit's values, slot by slot: what a probable guarantee multiplies errors by. And what becomes
of errors that the author promised: they too go through linear steps slot by slot, each with its own factor.

Slots that hold nothing are 0, constants are their own magnitudes, arguments are anything within their declared range.
They do not depend on scales and levels: found once for all sets that a search tries at one degree. The engine finds the
same for a program it reads (crates/program/src/guarantee/ranges.rs).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ringsmith.ir.circuit import Circuit, Step
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import CIPHER_PRODUCTS, InputPacking, PlainOperand, Transform

Magnitudes = NDArray[np.float64]
#: Bytes of plaintexts that are kept for their next use.
_KEPT = 1 << 26
_PRODUCTS_WITH_PLAIN, _SUMS_WITH_PLAIN = (Kind.MULTIPLY_PLAIN,), (Kind.ADD_PLAIN, Kind.SUB_PLAIN)


@dataclass(frozen=True)
class Ranges:
    """Largest magnitudes of each step's slots, with all promises and without those that leave out slots; and of each
    transform the largest sum of |factor| over the terms that meet in a slot and the largest root of squares.

    `errors`: by step, what errors promised before it can do to its slots; infinite where that is not followed: without
    such promises, and where another one stands between the step and every result. `results`: by output, the same of the
    slots that are read.
    """

    promised: tuple[float, ...]
    everywhere: tuple[float, ...]
    norms: Mapping[Transform, tuple[float, float]]
    errors: tuple[float, ...]
    results: tuple[float, ...]


def messages(circuit: Circuit, set_scale: float) -> list[float]:
    """Return a bound on the slots of each step's value, without promises that leave out slots, as the engine's certain
    bounds have it; what is refreshed counts as larger where its scale is not the set's."""
    names = [name for name, packing in circuit.inputs.items() for _ in packing.gather]
    values: list[float] = []
    with np.errstate(over="ignore", invalid="ignore"):
        for step in circuit.steps:
            if step.kind is Kind.INPUT:
                values.append(float(circuit.bounds[names[len(values)]]))
            else:
                values.append(float(_message(circuit, step, [np.float64(values[arg]) for arg in step.args])))
    off = {step.args[0]: circuit.steps[step.args[0]].scale / set_scale for step in circuit.steps if step.refreshes}
    return [value * max(off.get(number, 1), 1 / off.get(number, 1)) for number, value in enumerate(values)]


def _message(circuit: Circuit, step: Step, args: list[np.float64]) -> Any:
    plain = float(circuit.plains[step.plain].bound) if step.plain >= 0 else 0.0
    if step.kind is Kind.ENCRYPT_ZERO:
        return 0.0
    if step.kind in (Kind.ADD, Kind.SUB):
        return args[0] + args[-1]
    if step.kind in CIPHER_PRODUCTS:
        return args[0] * args[-1]
    if step.kind in _SUMS_WITH_PLAIN:
        return args[0] + plain
    if step.kind in _PRODUCTS_WITH_PLAIN:
        return args[0] * plain
    if step.kind is Kind.WITHIN and step.everywhere:
        return min(args[0], step.bound)
    if step.transform is not None:
        factors = (circuit.plains[t.plain].bound if t.plain >= 0 else 1.0 for t in step.transform.terms)
        return args[0] * sum(map(float, factors))
    return args[0]


#: Under a program's first input: circuits are made anew for every scale, these are not.
_KNOWN: WeakKeyDictionary[InputPacking, dict[Any, Ranges]] = WeakKeyDictionary()


def ranges(circuit: Circuit) -> Ranges:
    """Return the ranges of a CKKS circuit."""
    known = _KNOWN.setdefault(next(iter(circuit.inputs.values())), {})
    read = tuple(None if own is None else np.asarray(own).tobytes() for own in (circuit.output.ct, circuit.output.slot))
    key = (circuit.plains, tuple(circuit.bounds.values()), tuple(map(_shape, circuit.steps)), circuit.outputs, read)
    if key not in known:
        known[key] = _found(circuit)
    return known[key]


def _shape(step: Step) -> tuple[Any, ...]:
    return step.kind, step.args, step.plain, step.steps, step.bound, step.everywhere, step.error, step.transform


def _found(circuit: Circuit) -> Ranges:
    partial = any(step.kind is Kind.WITHIN and not step.everywhere for step in circuit.steps)
    walk = _Walk(circuit, (True, False) if partial else (True,))
    with np.errstate(over="ignore", invalid="ignore"):
        found = list(walk.run())
    promised, everywhere = (tuple(values[own] for values in found) for own in (0, walk.kinds - 1))
    errors = tuple(values[-1] if len(values) > walk.kinds else np.inf for values in found)
    return Ranges(promised, everywhere, walk.norms, errors, tuple(walk.results))


def _promises_error(step: Step) -> bool:
    return step.kind is Kind.WITHIN and math.isfinite(step.error)


def _followed(circuit: Circuit) -> set[int]:
    """Return the steps whose errors reach a result without a promise about them between; none where none is
    promised."""
    if not any(map(_promises_error, circuit.steps)):
        return set()
    followed = set(circuit.outputs)
    for number, step in reversed(list(enumerate(circuit.steps))):
        if number in followed and not _promises_error(step):
            followed.update(step.args)
    return followed


def _read(circuit: Circuit) -> dict[int, list[tuple[int, Any]]]:
    """Return the outputs that each step is, each with its slots that are read."""
    found: dict[int, list[tuple[int, Any]]] = {}
    packing = circuit.output
    for output, step in enumerate(circuit.outputs):
        slots: Any = slice(None)
        if packing.ct is not None and packing.slot is not None:
            cts, places = np.broadcast_arrays(packing.ct, packing.slot)
            slots = places[cts == output]
        found.setdefault(step, []).append((output, slots))
    return found


def _largest(slots: Magnitudes) -> list[float]:
    """Return the largest of each row; NaN comes from values beyond the range of doubles."""
    return [most if most == most else np.inf for most in slots.max(axis=1, initial=0.0).tolist()]


def _of_plain(plain: PlainOperand) -> Magnitudes:
    gather = plain.gather
    used = gather >= 0
    if not plain.constant:
        return np.where(used, float(plain.bound), 0.0)
    node = plain.node
    ends = np.maximum(np.abs(node.low), np.abs(node.high)).reshape(-1)
    return np.where(used, ends[np.maximum(gather, 0)], 0.0)


class _Walk:
    """Goes along the steps once; a value is kept until its last use, with a row for each of `promises`: whether those
    that leave out slots count. Where promised errors are followed, what they do to the slots is a row more."""

    def __init__(self, circuit: Circuit, promises: tuple[bool, ...]) -> None:
        self._circuit = circuit
        self._promises = promises
        #: Rows of magnitudes.
        self.kinds = len(promises)
        self._plains: dict[int, Magnitudes] = {}
        self._values: dict[int, Magnitudes] = {}
        self._last = {arg: number for number, step in enumerate(circuit.steps) for arg in step.args}
        self._inputs = self._packed()
        self._followed = _followed(circuit)
        self._read = _read(circuit) if self._followed else {}
        self.norms: dict[Transform, tuple[float, float]] = {}
        self.results = [np.inf] * len(circuit.outputs)

    def run(self) -> Iterator[list[float]]:
        """Yield the largest of each row of each step."""
        for number, step in enumerate(self._circuit.steps):
            value = self._applied(step, number in self._followed)
            for arg in set(step.args):
                if self._last[arg] == number:
                    del self._values[arg]
            if number in self._last:
                self._values[number] = value
            if number in self._followed:
                for output, slots in self._read.get(number, ()):
                    (self.results[output],) = _largest(value[-1:, slots])
            yield _largest(value)

    def _packed(self) -> Iterator[Magnitudes]:
        for name, packing in self._circuit.inputs.items():
            bound = float(self._circuit.bounds[name])
            # What another program leaves beside its result is no zero.
            noise = packing.handed.noise if packing.handed else [(0.0, 0.0, 0.0)] * len(packing.gather)
            for gather, (_, promised, everywhere) in zip(packing.gather, noise, strict=True):
                others = [promised if own else everywhere for own in self._promises]
                held = np.ones(len(gather), dtype=bool) if packing.pack is not None else gather >= 0
                yield np.where(held, bound, np.array(others)[:, None])

    def _applied(self, step: Step, followed: bool) -> Magnitudes:
        """Return the rows of a step, with one for errors if they are `followed`."""
        rows = self.kinds + followed
        # An operand may be followed for the sake of others; one that is not stands before a promise.
        args = [self._values[arg][:rows] for arg in step.args]
        slots = self._circuit.slots.count
        if step.kind is Kind.INPUT:
            return np.vstack([next(self._inputs), np.zeros((rows - self.kinds, slots))])
        if step.kind is Kind.ENCRYPT_ZERO:
            return np.zeros((rows, slots))
        if step.kind in (Kind.ADD, Kind.SUB):
            return args[0] + args[-1]
        if step.kind in CIPHER_PRODUCTS:
            return self._product(args[0], args[-1])
        if step.kind in _SUMS_WITH_PLAIN:
            return np.asarray(args[0] + np.where(self._magnitudes(rows), self._plain(step.plain), 0.0))
        if step.kind in _PRODUCTS_WITH_PLAIN:
            return args[0] * self._plain(step.plain)
        if step.kind is Kind.ROTATE:
            return np.roll(args[0], -step.steps, axis=1)
        if step.kind is Kind.WITHIN:
            return self._within(step, args[0], followed)
        if step.transform is not None:
            return self._transformed(args[0], step.transform)
        return args[0]

    def _magnitudes(self, rows: int) -> NDArray[np.bool_]:
        """Return of each row whether it is of magnitudes, not of errors."""
        return (np.arange(rows) < self.kinds)[:, None]

    def _product(self, a: Magnitudes, b: Magnitudes) -> Magnitudes:
        """Return the product of values; of errors (|a| + e)(|b| + f) - |a||b|, of magnitudes with all promises."""
        kinds = self.kinds
        errors = a[:1] * b[kinds:] + a[kinds:] * (b[:1] + b[kinds:])
        return np.vstack([a[:kinds] * b[:kinds], errors])

    def _within(self, step: Step, value: Magnitudes, followed: bool) -> Magnitudes:
        """Return a value of which something is promised: magnitudes, and errors from what is promised of them on."""
        counts = np.array([own or step.everywhere for own in self._promises])[:, None]
        values = value[: self.kinds]
        values = np.where(counts, np.minimum(values, step.bound), values)
        if not followed:
            return values
        errors = np.full_like(values[:1], step.error) if _promises_error(step) else value[self.kinds :]
        return np.vstack([values, errors])

    def _transformed(self, value: Magnitudes, transform: Transform) -> Magnitudes:
        """Apply a transform, and to ones for its norms."""
        slots = self._circuit.slots.count
        result, sums, squares = np.zeros_like(value), np.zeros(slots), np.zeros(slots)
        babies = {by: np.roll(value, -by, axis=1) for by in {term.rotation for term in transform.terms}}
        for giant in transform.giants:
            inner, own, square = np.zeros_like(value), np.zeros(slots), np.zeros(slots)
            for term in giant.terms:
                factor = self._plain(term.plain) if term.plain >= 0 else np.ones(slots)
                inner += babies[term.rotation] * factor
                own += factor
                square += np.square(factor)
            # Slot j of the result takes slot j + rotation of the giant's sum.
            result += np.roll(inner, -giant.rotation, axis=1)
            sums += np.roll(own, -giant.rotation)
            squares += np.roll(square, -giant.rotation)
        self.norms[transform] = float(sums.max()), float(np.sqrt(squares.max()))
        return result

    def _plain(self, number: int) -> Magnitudes:
        """Return a plaintext's magnitudes; those of a large program's diagonals are not all kept."""
        if number in self._plains:
            return self._plains[number]
        found = _of_plain(self._circuit.plains[number])
        if len(self._plains) * found.nbytes < _KEPT:
            self._plains[number] = found
        return found
