# SPDX-License-Identifier: Apache-2.0
"""Remedies for a kernel that no parameter set serves: the line where errors grow, and what the compiler tried with
success."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ringsmith.compiler.growth import grown, outermost
from ringsmith.errors import RingsmithError
from ringsmith.frontend.definition import CERTAIN, PROBABLE, KernelDefinition, Measured, Shapes
from ringsmith.frontend.measured import measured, promised
from ringsmith.frontend.trace import trace
from ringsmith.ir.graph import Graph
from ringsmith.location import Location

#: Random inputs on which ranges are measured for a trial.
_SAMPLES = 16
#: Margins of a calibration in words, and those they are tried with: the ranges of other samples are a little wider.
_MARGINS = (("", 0.75), (", margin=0.1", 0.2))
#: Remedies that are named; after those no other is tried.
_NAMED = 2
#: A line is named from this factor in bits on.
_LEAST_GROWTH = 4.0
#: Bits from which on a factor exceeds the range of doubles.
_UNBOUNDED = 1000.0

#: Returns the ring degree that a kernel compiles at; RingsmithError if it does not.
Attempt = Callable[[KernelDefinition], int]


def advice(kernel: KernelDefinition, shapes: Shapes, attempt: Attempt) -> str:
    """Return where errors grow and what makes the kernel compile, each remedy tried."""
    graph = promised(kernel, shapes, trace(kernel, shapes))
    line, told = _worst(graph)
    tried = (_tried(text, changed, attempt) for text, changed in _remedies(kernel, shapes, graph, line))
    works = list(islice((text for text in tried if text), _NAMED))
    return "; ".join([*told, *(works or ["ask for less depth or precision"])])


def _worst(graph: Graph) -> tuple[Location | None, list[str]]:
    """Return the line where errors grow most, and that in words."""
    lines = grown(graph)
    if not lines or lines[0][1] < _LEAST_GROWTH:
        return None, []
    where, bits = lines[0]
    factor = f"by up to 2^{bits:.0f}" if bits < _UNBOUNDED else "without bound"
    return where, [f"errors and ranges grow most in line {where.line} ({where.text().strip()}), {factor}"]


def _tried(text: str, changed: KernelDefinition, attempt: Attempt) -> str:
    """Return a remedy with the degree at which it compiles, nothing if it does not."""
    try:
        return f"{text} compiles at n = {attempt(changed)}"
    except RingsmithError:
        return ""


def _remedies(
    kernel: KernelDefinition, shapes: Shapes, graph: Graph, line: Location | None
) -> Iterator[tuple[str, KernelDefinition]]:
    """Yield the remedies to try, in words and as a kernel."""
    if kernel.guarantee == CERTAIN and not kernel.publish:
        yield f'guarantee="{PROBABLE}"', replace(kernel, guarantee=PROBABLE)
    if kernel.measured is None:
        for said, margin in _MARGINS:
            yield from _of_ranges(kernel, shapes, graph, line, said, margin)


def _of_ranges(
    kernel: KernelDefinition, shapes: Shapes, graph: Graph, line: Location | None, said: str, margin: float
) -> Iterator[tuple[str, KernelDefinition]]:
    """Yield promises of ranges measured on random inputs: one around a line, and a calibration."""
    ranges = _measured(kernel, shapes, margin)
    if ranges is None:
        return
    own = [number for number in outermost(graph.nodes(), line.line) if number in ranges.bounds] if line else []
    if own and line is not None:
        most = float(f"{max(ranges.bounds[number] for number in own):.3g}")
        made = replace(ranges, bounds=dict.fromkeys(own, most))
        yield f"rs.within(..., {most:g}) around line {line.line}", replace(kernel, measured=made)
    yield f"rs.calibrate(kernel, samples{said})", replace(kernel, measured=ranges)


def _measured(kernel: KernelDefinition, shapes: Shapes, margin: float) -> Measured | None:
    """Return ranges on random inputs within the declared ranges; None where they cannot be computed."""
    rng = np.random.default_rng(0)
    try:
        rows = [{name: _random(kernel, name, shapes[name], rng) for name in kernel.arguments} for _ in range(_SAMPLES)]
        return measured(kernel, shapes, rows, margin)
    except (RingsmithError, ArithmeticError):
        return None


def _random(
    kernel: KernelDefinition, name: str, shape: tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.generic]:
    """Return values of an argument, uniform in its range."""
    argument = kernel.arguments[name]
    if kernel.scheme == "bfv":
        low, high = argument.range(name, exact=True)
        return rng.integers(int(low), int(high), shape, endpoint=True)
    low, high = argument.range(name, exact=False)
    real = rng.uniform(low, high, shape)
    return real + 1j * rng.uniform(low, high, shape) if argument.complex else real
