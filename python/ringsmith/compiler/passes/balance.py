# SPDX-License-Identifier: Apache-2.0
"""Product trees of least depth: x * x * x * x in two levels, a * b * c * d as (a * b) * (c * d)."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import count

from ringsmith.ir import nodes
from ringsmith.ir.graph import Graph, Node, Op, over


def balanced(graph: Graph) -> Graph:
    """Return the graph with those product trees rebuilt that become shallower."""
    return replace(graph, output=_Walk(graph.uses()).visit(graph))


@dataclass
class _Walk:
    """One walk over a graph: each node as it is now, and the products on the longest way to it."""

    uses: Counter[int]
    made: dict[int, Node] = field(default_factory=dict)
    depths: dict[int, int] = field(default_factory=dict)

    def visit(self, graph: Graph) -> Node:
        order = graph.nodes()
        inner = {id(arg) for node in order if _is_product(node) for arg in node.args if self._is_inner(arg)}
        for node in order:
            made = over(node, self.made)
            if _is_product(node) and id(node) not in inner:
                made = self._rebuilt(node, made)
            self.made[id(node)] = made
            self._measure(made)
        return self.made[id(graph.output)]

    def _is_inner(self, node: Node) -> bool:
        return _is_product(node) and self.uses[id(node)] == 1

    def _measure(self, node: Node) -> int:
        """Return the depth of a node whose arguments have theirs."""
        below = max((self.depths[id(arg)] for arg in node.args), default=0)
        self.depths[id(node)] = below + _own_depth(node)
        return self.depths[id(node)]

    def _factors(self, node: Node) -> list[Node]:
        """Return the factors of a product tree, as they are now."""
        found: list[Node] = []
        pending = list(reversed(node.args))
        while pending:
            arg = pending.pop()
            if self._is_inner(arg):
                pending.extend(reversed(arg.args))
            else:
                found.append(self.made[id(arg)])
        return found

    def _rebuilt(self, node: Node, made: Node) -> Node:
        """Return the shallowest tree of a product's factors, or the product if that is as shallow."""
        factors = self._factors(node)
        if len(factors) < 3:
            return made
        before = self._measure(made)
        # Different factors of one depth meet first, then their equal products, which are made once: (x y) (x y).
        seen: Counter[int] = Counter()
        order = count()
        heap = []
        for factor in factors:
            heap.append((self.depths[id(factor)], seen[id(factor)] * len(factors), next(order), factor))
            seen[id(factor)] += 1
        heapq.heapify(heap)
        products: dict[tuple[int, int], tuple[Node, int]] = {}
        while len(heap) > 1:
            _, _, _, a = heapq.heappop(heap)
            _, _, _, b = heapq.heappop(heap)
            key = (id(a), id(b))
            if key not in products:
                made_here = nodes.elementwise(Op.MULTIPLY, a, b, node.where)
                products[key] = (made_here, next(order))
            product, number = products[key]
            heapq.heappush(heap, (self._measure(product), number, next(order), product))
        shallow = heap[0][3]
        if self.depths[id(shallow)] >= before:
            return made
        return replace(shallow, low=node.low, high=node.high)


def _is_product(node: Node) -> bool:
    return node.op is Op.MULTIPLY and node.encrypted


def _own_depth(node: Node) -> int:
    """Return the levels that an operation takes (about: a product with integers may take none)."""
    if not node.encrypted:
        return 0
    attributes = node.attributes
    match node.op:
        case Op.MULTIPLY | Op.MATMUL:
            return 1 if not node.exact or all(arg.encrypted for arg in node.args) else 0
        case Op.LINEAR:
            return 1
        case Op.POWER:
            return (int(attributes["exponent"]) - 1).bit_length()
        case Op.POLYNOMIAL | Op.CHEBYSHEV:
            return (len(attributes["coefficients"]) - 1).bit_length()
    return 0
