# SPDX-License-Identifier: Apache-2.0
"""A circuit's steps as the engine takes them: for a program, and for a circuit that bounds are asked of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ringsmith import _native
from ringsmith.compiler.params.ranges import ranges
from ringsmith.ir.circuit import Circuit, Step
from ringsmith.ir.slot_program import Transform


@dataclass
class Steps:
    """Writes steps to `target`, and their transforms: each once for every scale of its plaintexts."""

    target: _native.ProgramBuilder | _native.Circuit
    norms: Mapping[Transform, tuple[float, float]] | None = None
    transforms: dict[tuple[Transform, float], int] = field(default_factory=dict)

    def write(self, step: Step, **place: int) -> None:
        """Write a step; `place` is where it stands, in a program."""
        native = _native.Step(
            step.kind, step.args, step.level, float(step.scale), step.size, plaintext=step.plain,
            plain_scale=float(step.plain_scale), rotation=step.steps, bound=float(step.bound),
            everywhere=step.everywhere, error=float(step.error), transform=self._transform(step), **place,
        )  # fmt: skip
        self.target.step(native)

    def _transform(self, step: Step) -> int:
        """Return the number of a step's transform at its scale, added if it is new; -1 for none."""
        transform = step.transform
        if transform is None:
            return -1
        key = (transform, step.plain_scale)
        if key not in self.transforms:
            giants = [(g.rotation, [(t.rotation, t.plain) for t in g.terms]) for g in transform.giants]
            known = (self.norms[transform],) if self.norms else ()
            self.transforms[key] = self.target.transform(float(step.plain_scale), giants, *known)
        return self.transforms[key]


def _real(value: Any) -> float:
    """Return a magnitude as a double; exact ones may exceed its range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def described(
    circuit: Circuit, encryption: str, *, with_ranges: bool = False,
    refresh: tuple[_native.Bootstrapping, int] | None = None,
) -> _native.Circuit:  # fmt: skip
    """Return a circuit as far as its noise goes, its inputs encrypted under the `secret` or the `public` key.

    `refresh`: the bootstrapping of its refreshes, and failure bits of each noise in it.
    `with_ranges`: with what is known of its values slot by slot, which a probable guarantee reckons with.
    """
    inputs = [_real(circuit.bounds[name]) for name, packing in circuit.inputs.items() for _ in packing.gather]
    plaintexts = [(plain.constant, plain.integer, _real(plain.bound)) for plain in circuit.plains]
    received = [
        noise
        for packing in circuit.inputs.values()
        for noise in (packing.handed.noise if packing.handed else cast(list[None], [None] * len(packing.gather)))
    ]
    uniform = [plain.uniform for plain in circuit.plains]
    native = _native.Circuit(circuit.scheme, encryption, inputs, list(circuit.outputs), plaintexts, received, uniform)
    if refresh is not None:
        native.bootstrapping(*refresh)
    found = ranges(circuit) if with_ranges and circuit.scheme == "ckks" else None
    steps = Steps(native, found.norms if found else None)
    for step in circuit.steps:
        steps.write(step)
    if found:
        native.magnitudes(list(found.promised), list(found.everywhere))
        native.promised_errors(list(found.errors), list(found.results))
    return native
