# SPDX-License-Identifier: Apache-2.0
"""Ranges measured on samples: promises (`rs.within`) that a graph takes along where they tighten its bounds.

Errors of products grow with the magnitude of their factors, and a BFV result needs a plaintext modulus for its largest
value: there, and only there, a measured range stands in for the one that interval arithmetic gives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError, KernelError
from ringsmith.frontend.declare import parts_of
from ringsmith.frontend.definition import KernelDefinition, Measured, Shapes
from ringsmith.frontend.trace import trace
from ringsmith.ir import nodes
from ringsmith.ir.evaluate import evaluate
from ringsmith.ir.graph import Graph, Node, Op, content_hash

Array = NDArray[Any]

#: A range that is not this much smaller than the one that is known gains less than it could cost.
_GAIN = 2.0


def measured(
    kernel: KernelDefinition, shapes: Shapes, samples: Sequence[Mapping[str, Array]], margin: float
) -> Measured:
    """Return bounds of a kernel's inner values, their ranges on samples widened by `margin`, where they are of use."""
    graph = trace(kernel, shapes)
    order = graph.nodes()
    wanted = _useful(graph)
    seen: dict[int, tuple[Any, Any]] = {}
    for arrays in samples:
        values = evaluate(order, _parts(kernel, arrays))
        for number in wanted:
            own = values[id(order[number])]
            low, high = seen.get(number, (own.min(), own.max()))
            seen[number] = min(low, own.min()), max(high, own.max())
    exact = graph.output.exact
    found = {number: max(map(abs, widened(*ends, margin, exact=exact))) for number, ends in seen.items()}
    kept = {number: bound for number, bound in found.items() if bound > 0 and _GAIN * bound <= order[number].bound}
    return Measured(len(samples), margin, dict(shapes), content_hash(order), kept)


def widened(low: Any, high: Any, margin: float, *, exact: bool) -> tuple[Any, Any]:
    """Return a range widened on each side by a part of its extent; integers stay integers."""
    reach = margin * float(high - low)
    if exact:
        return int(low) - math.ceil(reach), int(high) + math.ceil(reach)
    return float(low) - reach, float(high) + reach


def promised(kernel: KernelDefinition, shapes: Shapes, graph: Graph) -> Graph:
    """Return the graph with the kernel's measured ranges as promises; KernelError if it is not the one measured."""
    made = kernel.measured
    if made is None:
        return graph
    order = graph.nodes()
    if made.content != content_hash(order):
        changed = "shapes other than those" if dict(shapes) != made.shapes else "other values of what it captures than"
        raise KernelError(
            f"kernel {kernel.name} was calibrated with {changed} it is compiled with; calibrate it anew: "
            "rs.calibrate(kernel, samples)",
            kernel.where,
        )
    new: dict[int, Node] = {}
    for number, node in enumerate(order):
        args = tuple(new[id(arg)] for arg in node.args)
        same = all(one is other for one, other in zip(args, node.args, strict=True))
        own = node if same else _remade(node, args)
        if number in made.bounds and own.bound > made.bounds[number]:
            own = nodes.within(own, made.bounds[number], node.where)
        new[id(node)] = own
    return replace(graph, output=new[id(graph.output)])


def held(kernel: KernelDefinition, arrays: Mapping[str, Array]) -> None:
    """Fail if values in the clear break a range that was measured."""
    if kernel.measured is None:
        return
    shapes = {name: array.shape for name, array in arrays.items()}
    graph = promised(kernel, shapes, trace(kernel, shapes))
    evaluate(graph.nodes(), _parts(kernel, arrays))


def _parts(kernel: KernelDefinition, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return arrays as a graph has them: complex ones in two parts."""
    found: dict[str, Array] = {}
    for name, array in arrays.items():
        if kernel.arguments[name].complex:
            found |= zip(parts_of(name), (np.real(array), np.imag(array)), strict=True)
        else:
            found[name] = array
    return found


def _useful(graph: Graph) -> list[int]:
    """Return the values whose range bears on noise or modulus: encrypted factors of products, in BFV the result.

    Products of a tree are left alone: they are put together anew in another order. One that is used twice is not.
    """
    order, uses = graph.nodes(), graph.uses()
    number = {id(node): place for place, node in enumerate(order)}
    found = {number[id(graph.output)]} if graph.output.exact else set()
    for node in order:
        if node.op is Op.REFRESH:
            raise InputError("a client-aided kernel has declared ranges between its rounds; calibrate its parts")
        encrypted = [arg for arg in node.args if arg.encrypted]
        if node.op is Op.POWER or (node.op in (Op.MULTIPLY, Op.MATMUL) and len(encrypted) == len(node.args)):
            found |= {number[id(arg)] for arg in encrypted if arg.op not in (Op.MULTIPLY, Op.INPUT)}
        if node.op is Op.MULTIPLY and node.encrypted and uses[id(node)] > 1:
            found.add(number[id(node)])
    return sorted(found)


def _remade(node: Node, args: tuple[Node, ...]) -> Node:
    """Return a node of other arguments, its bounds found anew."""
    attributes, where = node.attributes, node.where
    match node.op:
        case Op.ADD | Op.SUB | Op.MULTIPLY:
            return nodes.elementwise(node.op, args[0], args[1], where)
        case Op.NEGATE:
            return nodes.negate(args[0], where)
        case Op.POWER:
            return nodes.power(args[0], attributes["exponent"], where)
        case Op.POLYNOMIAL:
            return nodes.polynomial(args[0], attributes["coefficients"], where)
        case Op.CHEBYSHEV:
            return nodes.chebyshev(args[0], attributes["coefficients"], attributes["low"], attributes["high"], where)
        case Op.MATMUL:
            return nodes.matmul(args[0], args[1], where)
        case Op.LINEAR:
            return nodes.linear(args[0], args[1], attributes, node.shape, where)
        case Op.SUM:
            return nodes.total(args[0], attributes["axis"], where)
        case Op.INDEX:
            return nodes.gather(args[0], attributes["gather"], where)
        case Op.JOIN:
            return nodes.join(args, attributes["gather"], where)
        case Op.WITHIN:
            refreshed, error = "bootstraps" in attributes, attributes.get("error")
            return nodes.within(args[0], attributes["bound"], where, bootstraps=refreshed, error=error)
    return replace(node, args=args)
