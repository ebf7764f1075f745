# SPDX-License-Identifier: Apache-2.0
"""Remedies for a kernel that no parameter set serves: the line where errors grow, and what the compiler tried with
success."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.compiler.growth import grown, outermost, products, ranges
from ringsmith.compiler.rounds import Part
from ringsmith.errors import RingsmithError
from ringsmith.frontend.definition import CERTAIN, PROBABLE, KernelDefinition, Measured, Shapes
from ringsmith.frontend.measured import measured, promised
from ringsmith.frontend.refresh import refresh
from ringsmith.frontend.tensor import Tensor
from ringsmith.frontend.trace import trace
from ringsmith.ir.graph import Graph, Node, Op, over
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
#: The same of a traced graph that the client helps with, and the number of its rounds.
InRounds = Callable[[Graph], tuple[int, int]]
#: A plaintext modulus that has slots in every ring.
_MODULUS = 786433


class Grows(StrEnum):
    """The quantity that no set has room for."""

    ERRORS = "errors and ranges grow most"
    VALUES = "values grow most"
    PRODUCTS = "most products follow each other"


def advice(kernel: KernelDefinition, shapes: Shapes, grows: Grows, attempt: Attempt, in_rounds: InRounds) -> str:
    """Return where errors, values or products grow and what makes the kernel compile, each remedy tried."""
    graph = promised(kernel, shapes, trace(kernel, shapes))
    line, told = _worst(graph, grows)
    tried = (_tried(text, changed, attempt) for text, changed in _remedies(kernel, shapes, graph, line, grows))
    aided = (_refreshed(graph, line, in_rounds) for _ in range(1))
    works = list(islice(_distinct(chain(tried, aided)), _NAMED))
    return "; ".join([*told, *(works or ["ask for less depth or precision"])])


def _distinct(remedies: Iterable[str]) -> Iterator[str]:
    """Yield the remedies that serve, none of a kind twice."""
    kinds: set[str] = set()
    for text in remedies:
        kind = text.partition("(")[0]
        if text and kind not in kinds:
            kinds.add(kind)
            yield text


def _worst(graph: Graph, grows: Grows) -> tuple[Location | None, list[str]]:
    """Return the line where it grows most, and that in words."""
    lines = {Grows.ERRORS: grown, Grows.VALUES: ranges, Grows.PRODUCTS: products}[grows](graph)
    if not lines or lines[0][1] < (1 if grows is Grows.PRODUCTS else _LEAST_GROWTH):
        return None, []
    where, more = lines[0]
    told = f"{grows} in line {where.line} ({where.text().strip()})"
    if grows is Grows.PRODUCTS:
        return where, [f"{told}, {more:.0f} of {sum(one for _, one in lines):.0f}"]
    return where, [f"{told}, by up to 2^{more:.0f}" if more < _UNBOUNDED else f"{told}, without bound"]


def _refreshed(graph: Graph, line: Location | None, in_rounds: InRounds) -> str:
    """Return the remedy of a client that encrypts a line's values anew, if it serves."""
    order = graph.nodes()
    own = {id(order[number]) for number in outermost(order, line.line)} - {id(graph.output)} if line else set()
    if line is None or not own:
        return ""
    made: dict[int, Node] = {}
    try:
        for node in order:
            new = over(node, made)
            made[id(node)] = refresh(Tensor(new)).node if id(node) in own and node.op is not Op.REFRESH else new
        degree, rounds = in_rounds(replace(graph, output=made[id(graph.output)]))
    except RingsmithError:
        return ""
    return f"rs.refresh(...) around line {line.line} compiles at n = {degree}, in {rounds} rounds"


def _tried(text: str, changed: KernelDefinition, attempt: Attempt) -> str:
    """Return a remedy with the degree at which it compiles, nothing if it does not."""
    try:
        return f"{text} compiles at n = {attempt(changed)}"
    except RingsmithError:
        return ""


def _remedies(
    kernel: KernelDefinition, shapes: Shapes, graph: Graph, line: Location | None, grows: Grows
) -> Iterator[tuple[str, KernelDefinition]]:
    """Yield the remedies to try, in words and as a kernel."""
    if kernel.params is not None:
        yield "without params= it", replace(kernel, params=None)
    if kernel.guarantee == CERTAIN and not kernel.publish:
        yield f'guarantee="{PROBABLE}"', replace(kernel, guarantee=PROBABLE)
    if kernel.measured is None and grows is not Grows.PRODUCTS:
        for said, margin in _MARGINS:
            yield from _of_ranges(kernel, shapes, graph, line, said, margin)
    if grows is Grows.VALUES and kernel.plain_modulus is None and not isinstance(kernel.function, Part):
        yield f"plain_modulus={_MODULUS}, by which results are reduced,", replace(kernel, plain_modulus=_MODULUS)


def _of_ranges(
    kernel: KernelDefinition, shapes: Shapes, graph: Graph, line: Location | None, said: str, margin: float
) -> Iterator[tuple[str, KernelDefinition]]:
    """Yield promises of ranges measured on random inputs: one around a line, and a calibration."""
    seen = _measured(kernel, shapes, margin)
    if seen is None:
        return
    own = [number for number in outermost(graph.nodes(), line.line) if number in seen.bounds] if line else []
    if own and line is not None:
        most = _rounded(max(seen.bounds[number] for number in own))
        made = replace(seen, bounds=dict.fromkeys(own, most))
        yield f"rs.within(..., {_shown(most)}) around line {line.line}", replace(kernel, measured=made)
    if not isinstance(kernel.function, Part):  # rs.calibrate takes no kernel of several rounds
        yield f"rs.calibrate(kernel, samples{said})", replace(kernel, measured=seen)


def _rounded(bound: Any) -> Any:
    """Return a bound in three digits; an integer as one that is no smaller."""
    if not isinstance(bound, int):
        return float(f"{bound:.3g}")
    unit = 10 ** max(len(str(bound)) - 3, 0)
    return -(-bound // unit) * unit


def _shown(bound: Any) -> str:
    return str(bound) if isinstance(bound, int) else f"{bound:g}"


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
