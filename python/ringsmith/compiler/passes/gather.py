# SPDX-License-Identifier: Apache-2.0
"""Loops over elements as operations on arrays: equal computations on many small operands are made once, on all.

Nodes of one form (the same operations above elements of the same tensors) are a family: `x[i] * y[i]` for every i. None
of them depends on another one, since its form would be higher. Each large family becomes one node with a first axis
that counts its members. A chain of sums is one sum of its terms, whatever their order: terms of one family are added
along that axis. The work is linear in the nodes and their elements.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ringsmith.ir import nodes
from ringsmith.ir.graph import Graph, Node, Op, Shape, over
from ringsmith.ir.numbers import integers
from ringsmith.location import Location

#: Fewest members of a family: altogether, and for each element that one member has.
_LEAST, _FOR_EACH = 8, 4
#: Most elements of a family's array.
_MOST = 1 << 22
_LINEAR = (Op.ADD, Op.SUB, Op.NEGATE)
_UNARY = (Op.NEGATE, Op.POWER, Op.POLYNOMIAL, Op.CHEBYSHEV, Op.WITHIN)
#: Terms of a sum, each with its sign.
Terms = list[tuple[int, Node]]


def gathered(graph: Graph) -> Graph:
    """Return the graph with its repeated small computations gathered into arrays."""
    if len(graph.nodes()) < 2 * _LEAST:
        return graph
    return replace(graph, output=_Gathering(graph).run())


@dataclass(eq=False)
class _Family:
    """Nodes of one form, each with its place along the first axis of `node`."""

    form: int
    members: list[Node] = field(default_factory=list)
    place: dict[int, int] = field(default_factory=dict)
    node: Node | None = None

    def add(self, node: Node) -> None:
        self.place[id(node)] = len(self.members)
        self.members.append(node)

    @property
    def large(self) -> bool:
        """Return whether an array of the members is worth it."""
        size = int(np.prod(self.members[0].shape))
        return _MOST // size >= len(self.members) >= max(_LEAST, _FOR_EACH * size)


class _Gathering:
    """One pass over a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.order, self.uses = graph, graph.nodes(), graph.uses()
        self.numbers: dict[Any, int] = {}
        self.form: dict[int, int] = {}
        self.height: dict[int, int] = {}
        self.views: dict[int, tuple[Node, Any]] = {}
        self.terms: dict[int, Terms] = {}
        self.families: dict[int, _Family] = {}
        self.made: dict[int, Node] = {}

    def run(self) -> Node:
        """Return the result's node, made anew."""
        inner = self._inner()
        for node in self.order:
            self._describe(node, inner)
        gone = self._gone(inner)
        units = [node for node in self.order if id(node) not in gone and self._is_first(node)]
        if not any(self._is_gathered(node) for node in units):
            return self.graph.output
        for node in sorted(units, key=lambda node: self.height[id(node)]):
            self._make(node)
        return self._now(self.graph.output)

    # ---------------------------------------------------------------------------------------------- forms

    def _inner(self) -> set[int]:
        """Return the sums that are part of one other sum alone, of the same shape."""
        sums = [node for node in self.order if _is_sum(node)]
        args = ((node, arg) for node in sums for arg in node.args)
        return {id(a) for node, a in args if _is_sum(a) and self.uses[id(a)] == 1 and a.shape == node.shape}

    def _describe(self, node: Node, inner: set[int]) -> None:
        """Find form and height of a node whose arguments have theirs; part of a larger sum has none."""
        self.height[id(node)] = 1 + max((self.height[id(arg)] for arg in node.args), default=0)
        if node.op is Op.INDEX:
            self.views[id(node)] = self._view(node)
        if id(node) in inner:
            return
        if _is_sum(node):
            self.terms[id(node)] = self._terms(node, inner)
        key = self._key(node)
        self.form[id(node)] = self.numbers.setdefault(key, len(self.numbers))
        if node.op not in (Op.CONSTANT, Op.INDEX, Op.INPUT):
            self.families.setdefault(self.form[id(node)], _Family(self.form[id(node)])).add(node)

    def _view(self, node: Node) -> tuple[Node, Any]:
        """Return the tensor that a selection selects from in the end, and what it selects."""
        source, picked = node.args[0], node.attributes["gather"]
        if id(source) in self.views:
            source, earlier = self.views[id(source)]
            picked = earlier.reshape(-1)[picked]
        return source, picked

    def _terms(self, node: Node, inner: set[int]) -> Terms:
        """Return the terms of a sum, left to right."""
        found: Terms = []
        pending = [(1, node)]
        while pending:
            sign, one = pending.pop()
            if one is not node and id(one) not in inner:
                found.append((sign, one))
                continue
            if len(one.args) == 2:
                pending.append((-sign if one.op is Op.SUB else sign, one.args[1]))
            pending.append((-sign if one.op is Op.NEGATE else sign, one.args[0]))
        return found

    def _key(self, node: Node) -> Any:
        """Return what nodes of one form have in common."""
        own = (node.op, node.shape)
        if node.op is Op.CONSTANT:
            return own
        if node.op is Op.INDEX:
            return *own, id(self.views[id(node)][0])
        if id(node) in self.terms:
            count = Counter((sign, self.form[id(term)]) for sign, term in self.terms[id(node)])
            return *own[1:], "terms", tuple(sorted(count.items()))
        args = tuple(self.form.get(id(arg), -1) for arg in node.args)
        if node.op is Op.MULTIPLY or node.op in _UNARY or _is_product_or_total(node):
            return *own, args, tuple(sorted((name, repr(value)) for name, value in node.attributes.items()))
        return node.op, id(node)

    def _gone(self, inner: set[int]) -> set[int]:
        """Return the partial sums that nothing needs, since the sums around them are made of their terms."""
        gone = set()
        for node in self.order:
            if id(node) not in self.terms or not self._is_gathered(node):
                continue
            pending = list(node.args)
            while pending:
                arg = pending.pop()
                if id(arg) in inner:
                    gone.add(id(arg))
                    pending.extend(arg.args)
        return gone

    def _family(self, node: Node) -> _Family | None:
        """Return the large family of a node."""
        found = self.families.get(self.form.get(id(node), -1))
        return found if found is not None and found.large else None

    def _is_first(self, node: Node) -> bool:
        family = self._family(node)
        return family is None or family.members[0] is node

    def _groups(self, terms: Terms) -> dict[tuple[int, int], list[Node]]:
        """Return the terms by sign and form."""
        groups: dict[tuple[int, int], list[Node]] = defaultdict(list)
        for sign, term in terms:
            groups[sign, self.form[id(term)]].append(term)
        return groups

    def _is_gathered(self, node: Node) -> bool:
        """Return whether a node is of a large family, or a sum with many terms of one form."""
        return self._family(node) is not None or (id(node) in self.terms and self._large_groups(node))

    def _large_groups(self, node: Node) -> bool:
        found = self._groups(self.terms[id(node)]).values()
        return any(len(terms) >= max(_LEAST, _FOR_EACH * int(np.prod(node.shape))) for terms in found)

    # ---------------------------------------------------------------------------------------------- nodes made anew

    def _make(self, node: Node) -> None:
        """Make a node anew, or the array of its family."""
        family = self._family(node)
        if family is not None:
            family.node = self._array(family)
        elif id(node) in self.terms and self._large_groups(node):
            self.made[id(node)] = self._sum(node)
        elif node.op is Op.JOIN:
            self.made[id(node)] = self._join(node)
        elif node.op is Op.INDEX:
            source, picked = self.views[id(node)]
            self.made[id(node)] = _picked(self._now(source), picked, node.where)
        else:
            for arg in node.args:
                self._now(arg)
            self.made[id(node)] = over(node, self.made)

    def _now(self, node: Node) -> Node:
        """Return a node as it is now; a family's member is an element of the family's array."""
        if id(node) not in self.made:
            self.made[id(node)] = self._stack([node], single=True)
        return self.made[id(node)]

    def _stack(self, members: Sequence[Node], *, single: bool = False) -> Node:
        """Return nodes of one form along a first axis; without it where they are the same or `single`."""
        where, first = members[0].where, members[0]
        if single or all(member is first for member in members):
            members, single = [first], True
        family = self._family(first)
        if family is not None:
            places = np.array([family.place[id(member)] for member in members])
            size = int(np.prod(first.shape))
            picked = places[:, None] * size + np.arange(size)
            source = family.node
        elif first.op is Op.CONSTANT:
            return self._constants(members)
        elif first.op is Op.INDEX:
            source = self._now(self.views[id(first)][0])
            picked = np.stack([self.views[id(member)][1] for member in members])
        else:
            return self._now(first) if single else self._apart(members)
        if source is None:
            raise AssertionError("a family is made before its users")
        return _picked(source, picked.reshape(first.shape if single else (len(members), *first.shape)), where)

    def _constants(self, members: Sequence[Node]) -> Node:
        first = members[0]
        values = np.stack([member.low for member in members])
        if (values == values[:1]).all():
            return first
        return nodes.constant(values if values.dtype.kind == "f" else integers(values, "constants"), first.where,
                              exact=first.exact)  # fmt: skip

    def _apart(self, members: Sequence[Node]) -> Node:
        """Join nodes that are no family."""
        unique = list({id(member): member for member in members}.values())
        place = {id(member): number for number, member in enumerate(unique)}
        size = int(np.prod(members[0].shape))
        rows = np.array([place[id(member)] for member in members])[:, None] * size + np.arange(size)
        parts = [self._now(member) for member in unique]
        return nodes.join(parts, rows.reshape(len(members), *members[0].shape), members[0].where)

    def _array(self, family: _Family) -> Node:
        """Return the node that computes all members of a family."""
        first, count = family.members[0], len(family.members)
        if id(first) in self.terms:
            found = self._sums(family)
        else:
            stacks = [self._stack(args) for args in zip(*(member.args for member in family.members), strict=True)]
            pairs = zip(stacks, first.args, strict=True)
            lanes = [len(stack.shape) > len(arg.shape) for stack, arg in pairs]
            found = _applied(first, stacks, lanes)
        return _spread(found, (count, *first.shape), first.where)

    def _sums(self, family: _Family) -> Node:
        """Return sums of terms of the same forms, one of each member of a family."""
        each = [self._groups(self.terms[id(member)]) for member in family.members]
        rank = len(family.members[0].shape)
        total: Node | None = None
        for (sign, _), terms in sorted(each[0].items(), key=lambda item: -item[0][0]):
            own = [groups[sign, self.form[id(terms[0])]] for groups in each]
            total = _added(total, sign, self._column(own, rank), family.members[0].where)
        if total is None:
            raise AssertionError("a sum has terms")
        return total

    def _column(self, terms: list[list[Node]], rank: int) -> Node:
        """Return the sums of rows of terms of one form; few terms are added one by one."""
        width, where = len(terms[0]), terms[0][0].where
        if width > 2:
            flat = self._stack([term for row in terms for term in row])
            shape = terms[0][0].shape
            flat = _spread(flat, (len(terms) * width, *shape), where)
            return nodes.total(_reshaped(flat, (len(terms), width, *shape), where), 1, where)
        columns = [self._stack([row[k] for row in terms]) for k in range(width)]
        columns = [_aligned(c, len(c.shape) > len(terms[0][0].shape), rank, where) for c in columns]
        return columns[0] if width == 1 else nodes.elementwise(Op.ADD, columns[0], columns[1], where)

    def _sum(self, node: Node) -> Node:
        """Return a sum whose terms of one family are added along an axis."""
        total: Node | None = None
        groups = self._groups(self.terms[id(node)])
        for (sign, _), terms in sorted(groups.items(), key=lambda item: -item[0][0]):
            if len(terms) >= _LEAST:
                stack = _spread(self._stack(terms), (len(terms), *terms[0].shape), node.where)
                total = _added(total, sign, nodes.total(stack, 0, node.where), node.where)
                continue
            for term in terms:
                total = _added(total, sign, self._now(term), node.where)
        if total is None:
            raise AssertionError("a sum has terms")
        return _spread(total, node.shape, node.where)

    def _join(self, node: Node) -> Node:
        """Return a join of whole families where it has members of them."""
        parts: list[Node] = []
        start: dict[int, int] = {}
        numbers, end = [], 0
        for arg in node.args:
            family, size = self._family(arg), int(np.prod(arg.shape))
            part = family.node if family is not None else self._now(arg)
            if part is None:
                raise AssertionError("a family is made before its users")
            if id(part) not in start:
                start[id(part)] = end
                parts.append(part)
                end += int(np.prod(part.shape))
            first = start[id(part)] + (family.place[id(arg)] * size if family is not None else 0)
            numbers.append(np.arange(first, first + size))
        picked = np.concatenate(numbers)[node.attributes["gather"]]
        return _picked(parts[0], picked, node.where) if len(parts) == 1 else nodes.join(parts, picked, node.where)


def _is_sum(node: Node) -> bool:
    return node.op in _LINEAR and node.encrypted


def _is_product_or_total(node: Node) -> bool:
    """Return whether a node is the product of two vectors, or a sum of all elements."""
    if node.op is Op.MATMUL:
        return all(len(arg.shape) == 1 for arg in node.args)
    return node.op is Op.SUM and node.attributes["axis"] is None


def _picked(source: Node, picked: Any, where: Location) -> Node:
    """Return a selection, or the source itself where that is all of it in order."""
    if picked.shape == source.shape and np.array_equal(picked.reshape(-1), np.arange(picked.size)):
        return source
    if source.op is Op.INDEX:
        source, picked = source.args[0], source.attributes["gather"].reshape(-1)[picked]
        return _picked(source, picked, where)
    return nodes.gather(source, picked, where)


def _reshaped(node: Node, shape: Shape, where: Location) -> Node:
    return _picked(node, np.arange(int(np.prod(shape))).reshape(shape), where)


def _spread(node: Node, shape: Shape, where: Location) -> Node:
    """Return a node broadcast to a shape."""
    numbered = np.arange(int(np.prod(node.shape))).reshape(node.shape)
    return _picked(node, np.broadcast_to(numbered, shape), where)


def _aligned(node: Node, lanes: bool, rank: int, where: Location) -> Node:
    """Return a stack whose members have `rank` axes, as numpy broadcasts them."""
    if not lanes or len(node.shape) == rank + 1:
        return node
    own = node.shape[1:]
    return _reshaped(node, (node.shape[0], *(1,) * (rank - len(own)), *own), where)


def _added(total: Node | None, sign: int, term: Node, where: Location) -> Node:
    if total is None:
        return term if sign > 0 else nodes.negate(term, where)
    return nodes.elementwise(Op.ADD if sign > 0 else Op.SUB, total, term, where)


def _applied(first: Node, stacks: Sequence[Node], lanes: Sequence[bool]) -> Node:
    """Return the operation of a family's first member on all members' arguments."""
    where, attributes = first.where, first.attributes
    rank = max(len(arg.shape) for arg in first.args)
    args = [_aligned(stack, lane, rank, where) for stack, lane in zip(stacks, lanes, strict=True)]
    match first.op:
        case Op.MULTIPLY:
            return nodes.elementwise(Op.MULTIPLY, args[0], args[1], where)
        case Op.POWER:
            return nodes.power(args[0], attributes["exponent"], where)
        case Op.POLYNOMIAL:
            return nodes.polynomial(args[0], attributes["coefficients"], where)
        case Op.CHEBYSHEV:
            return nodes.chebyshev(args[0], attributes["coefficients"], attributes["low"], attributes["high"], where)
        case Op.WITHIN:
            refreshed, error = "bootstraps" in attributes, attributes.get("error")
            return nodes.within(args[0], attributes["bound"], where, bootstraps=refreshed, error=error)
        case Op.NEGATE:
            return nodes.negate(args[0], where)
        case Op.SUM:
            if not lanes[0]:
                return nodes.total(args[0], None, where)
            return nodes.total(_reshaped(args[0], (args[0].shape[0], args[0].low[0].size), where), 1, where)
    if all(lanes):
        return nodes.total(nodes.elementwise(Op.MULTIPLY, args[0], args[1], where), 1, where)
    return nodes.matmul(args[1], args[0], where) if lanes[1] else nodes.matmul(args[0], args[1], where)
