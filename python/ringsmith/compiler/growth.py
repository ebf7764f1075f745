# SPDX-License-Identifier: Apache-2.0
"""Lines of a kernel where ranges and errors grow: a unit of error at every operation, carried through the graph."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from ringsmith.ir.graph import Graph, Node, Op
from ringsmith.location import Location

Errors = NDArray[np.float64]


def grown(graph: Graph) -> list[tuple[Location, float]]:
    """Return the lines along the way by which most error reaches the result, with log2 of the factor by which each
    raises it; the largest first."""
    errors: dict[int, float] = {}
    held: dict[int, Errors] = {}
    with np.errstate(all="ignore"):
        for node in graph.nodes():
            held[id(node)] = np.broadcast_to(_error(node, [held[id(arg)] for arg in node.args]), node.shape)
            errors[id(node)] = _log2(_largest(held[id(node)]))
    return _by_line(graph, errors)


def ranges(graph: Graph) -> list[tuple[Location, float]]:
    """Return the lines along the way of the largest integers, with log2 of the factor by which each raises them."""
    return _by_line(graph, {id(node): float(int(node.bound).bit_length()) for node in graph.nodes()})


def products(graph: Graph) -> list[tuple[Location, float]]:
    """Return the lines along the way with most products of ciphertexts, with the number that each has of them."""
    depths: dict[int, float] = {}
    for node in graph.nodes():
        depths[id(node)] = max((depths[id(arg)] for arg in node.args), default=0) + _depth(node)
    return _by_line(graph, depths)


def _depth(node: Node) -> int:
    """Return the products of ciphertexts that follow each other in a node."""
    match node.op:
        case Op.MULTIPLY | Op.MATMUL:
            return int(all(arg.encrypted for arg in node.args))
        case Op.POWER:
            return int(node.attributes["exponent"] - 1).bit_length()
        case Op.POLYNOMIAL | Op.CHEBYSHEV:
            return (len(node.attributes["coefficients"]) - 1).bit_length()
    return 0


def _by_line(graph: Graph, reached: dict[int, float]) -> list[tuple[Location, float]]:
    """Return the lines along the way of the largest arguments, with what each adds; the largest first."""
    lines: dict[int, tuple[Location, float]] = {}
    node = graph.output
    while encrypted := [arg for arg in node.args if arg.encrypted]:
        worst = max(encrypted, key=lambda arg: reached[id(arg)])
        more = max(reached[id(node)] - reached[id(worst)], 0.0)
        lines[node.where.line] = node.where, lines.get(node.where.line, (node.where, 0.0))[1] + more
        node = worst
    return sorted(lines.values(), key=lambda line: -line[1])


def outermost(nodes: Sequence[Node], line: int) -> list[int]:
    """Return the numbers of the encrypted nodes that are whole expressions of a line: no other there takes them."""
    own = {number: node for number, node in enumerate(nodes) if node.encrypted and node.where.line == line}
    widths: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, node in own.items():
        widths[node.where.column, node.where.end_column].append(number)
    widest = max(widths, key=lambda span: span[1] - span[0], default=None)
    return widths[widest] if widest is not None else []


def _error(node: Node, errors: list[Errors]) -> Any:
    """Return the error of a node's elements for those of its arguments; one unit more where something is rounded."""
    if not node.encrypted:
        return np.zeros(())
    match node.op:
        case Op.ADD | Op.SUB:
            return errors[0] + errors[1]
        case Op.MULTIPLY:
            return _most(node.args[0]) * errors[1] + errors[0] * _most(node.args[1]) + 1
        case Op.MATMUL:
            return _most(node.args[0]) @ errors[1] + errors[0] @ _most(node.args[1]) + 1
        case Op.LINEAR:
            own, entries = np.broadcast_to(errors[0], node.args[0].shape).reshape(-1), node.attributes
            terms = _most(node.args[1])[entries["picks"]] * own[entries["columns"]]
            return np.bincount(entries["rows"], weights=terms, minlength=node.low.size).reshape(node.shape) + 1
        case Op.SUM:
            return errors[0].sum(axis=node.attributes["axis"])
        case Op.INDEX | Op.JOIN:
            return np.concatenate([one.reshape(-1) for one in errors])[node.attributes["gather"]]
        case Op.POWER | Op.POLYNOMIAL | Op.CHEBYSHEV:
            return _slope(node) * errors[0] + 1
        case Op.NEGATE | Op.WITHIN:
            return errors[0]
    return np.ones(())


def _slope(node: Node) -> Any:
    """Return a bound on the derivative of a node of one argument."""
    most, attributes = _most(node.args[0]), node.attributes
    if node.op is Op.POWER:
        exponent = attributes["exponent"]
        return exponent * most ** (exponent - 1)
    coefficients = np.asarray(attributes["coefficients"], dtype=np.float64)
    if node.op is Op.POLYNOMIAL:
        return sum(k * abs(c) * most ** (k - 1) for k, c in enumerate(coefficients) if k)
    slope = np.abs(chebyshev.chebval(np.linspace(-1, 1, 16 * len(coefficients)), chebyshev.chebder(coefficients))).max()
    return 2 * slope / (attributes["high"] - attributes["low"])


def _most(node: Node) -> Errors:
    return np.asarray(np.maximum(np.abs(node.low), np.abs(node.high)), dtype=np.float64)


def _largest(errors: Errors) -> float:
    found = float(errors.max())
    return math.inf if math.isnan(found) else found


def _log2(value: float) -> float:
    """Return log2 of an error, as if infinity were the largest double."""
    return min(math.log2(max(value, 1.0)), 1024.0) if value < math.inf else 1024.0
