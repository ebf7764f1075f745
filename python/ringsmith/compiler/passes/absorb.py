# SPDX-License-Identifier: Apache-2.0
"""The scaling of a polynomial's argument to [-1, 1], absorbed into the plaintexts that the argument is made with.

Multiplying by a number takes a level; where the argument is a product with plaintexts already, as x @ W + b is, they
take the factor along and the level is saved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ringsmith.compiler.lowering.basis import chebyshev_of, is_low
from ringsmith.ir import nodes
from ringsmith.ir.graph import Graph, Node, Op, over


def absorbed(graph: Graph) -> Graph:
    """Return the graph with the arguments of polynomials scaled where that is free."""
    if graph.output.exact:
        return graph
    return replace(graph, output=_Walk(graph.uses()).visit(graph))


@dataclass
class _Walk:
    """One walk over a graph; `uses` counts the users of each node."""

    uses: Counter[int]
    made: dict[int, Node] = field(default_factory=dict)

    def visit(self, graph: Graph) -> Node:
        for node in graph.nodes():
            self.made[id(node)] = self._polynomial(over(node, self.made), node)
        return self.made[id(graph.output)]

    def _polynomial(self, node: Node, original: Node) -> Node:
        """Return a polynomial of the scaled argument, where there is one; `original` is the node before the walk."""
        if not node.encrypted or node.op not in (Op.POLYNOMIAL, Op.CHEBYSHEV):
            return node
        coefficients, low, high = _series(node)
        if (low, high) == (-1.0, 1.0):
            return node
        factor, shift = 2 / (high - low), -(high + low) / (high - low)
        scaled = self._scaled(node.args[0], factor, self.uses[id(original.args[0])])
        if scaled is None:
            return node
        where = node.where
        if shift:
            scaled = nodes.elementwise(Op.ADD, scaled, nodes.constant(shift, where, exact=False), where)
        return nodes.chebyshev(scaled, coefficients, -1.0, 1.0, where)

    def _scaled(self, node: Node, factor: float, uses: int = 1) -> Node | None:
        """Return factor * node if that takes no further level, for a node with no other user."""
        if not node.encrypted:
            return nodes.elementwise(Op.MULTIPLY, node, nodes.constant(factor, node.where, exact=False), node.where)
        how = _SCALING.get(node.op)
        return how(self, node, factor) if how is not None and uses == 1 else None

    def _arg(self, node: Node, number: int, factor: float) -> Node | None:
        return self._scaled(node.args[number], factor, self.uses[id(node.args[number])])

    def _all(self, node: Node, factor: float) -> Node | None:
        """Scale every argument of a linear operation."""
        args = [self._arg(node, number, factor) for number in range(len(node.args))]
        found = [arg for arg in args if arg is not None]
        if len(found) < len(args):
            return None
        ends = sorted((factor * node.low, factor * node.high), key=lambda end: float(np.sum(end)))
        return replace(node, args=tuple(found), low=ends[0], high=ends[1])

    def _one(self, node: Node, factor: float) -> Node | None:
        """Scale one factor of a product, the plain one if there is one."""
        for number in sorted(range(2), key=lambda k: node.args[k].encrypted):
            arg = self._arg(node, number, factor)
            if arg is not None:
                a, b = (arg if k == number else node.args[k] for k in range(2))
                return (
                    nodes.matmul(a, b, node.where)
                    if node.op is Op.MATMUL
                    else nodes.elementwise(node.op, a, b, node.where)
                )
        return None

    def _weights(self, node: Node, factor: float) -> Node:
        """Scale the weights of a linear map."""
        x, weights = node.args
        own = nodes.elementwise(Op.MULTIPLY, weights, nodes.constant(factor, node.where, exact=False), node.where)
        return nodes.linear(x, own, node.attributes, node.shape, node.where)

    def _coefficients(self, node: Node, factor: float) -> Node:
        """Scale a polynomial's coefficients."""
        scaled = [c * factor for c in node.attributes["coefficients"]]
        if node.op is Op.POLYNOMIAL:
            return nodes.polynomial(node.args[0], scaled, node.where)
        return nodes.chebyshev(node.args[0], scaled, node.attributes["low"], node.attributes["high"], node.where)

    def _promise(self, node: Node, factor: float) -> Node | None:
        arg = self._arg(node, 0, factor)
        if arg is None:
            return None
        bound, bootstraps = abs(node.attributes["bound"] * factor), "bootstraps" in node.attributes
        error = node.attributes.get("error")
        error = None if error is None else abs(error * factor)
        return nodes.within(arg, bound, node.where, bootstraps=bootstraps, error=error)


_SCALING: dict[Op, Callable[[_Walk, Node, float], Node | None]] = {
    **dict.fromkeys((Op.ADD, Op.SUB, Op.NEGATE, Op.SUM, Op.INDEX, Op.JOIN), _Walk._all),
    **dict.fromkeys((Op.MULTIPLY, Op.MATMUL), _Walk._one),
    **dict.fromkeys((Op.POLYNOMIAL, Op.CHEBYSHEV), _Walk._coefficients),
    Op.LINEAR: _Walk._weights,
    Op.WITHIN: _Walk._promise,
}


def _series(node: Node) -> tuple[list[float], float, float]:
    """Return Chebyshev coefficients and interval of a polynomial; [-1, 1] if it stays as it is."""
    if node.op is Op.CHEBYSHEV:
        return list(node.attributes["coefficients"]), node.attributes["low"], node.attributes["high"]
    most = float(node.args[0].bound)
    if is_low(node.attributes["coefficients"]) or most <= 1:
        return [], -1.0, 1.0
    return chebyshev_of(node.attributes["coefficients"], most), -most, most
