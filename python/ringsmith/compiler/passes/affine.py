# SPDX-License-Identifier: Apache-2.0
"""Affine parts of a graph as one product with a matrix: recurrences, filters, steps of linear systems.

A part made of sums, differences, products with constants and selections is y = M x + c of what goes into it, whatever
the number of its steps. M and c are its values on the unit vectors and on zero. A product with M takes one level where
the steps take one each. M may act alike on all vectors along an axis, or on each element by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.compiler.passes.affine_values import Values, known_constants
from ringsmith.ir import nodes
from ringsmith.ir.graph import Graph, Node, Op, over
from ringsmith.ir.numbers import integers

Array = NDArray[Any]

#: Fewest products with constants in a row, or parts of a join, of a part that is considered.
_DEEP, _JOINED = 3, 8
#: Products with constants in a row from which a matrix is always cheaper.
_TOO_DEEP = 16
#: Most tensors that go into a part, elements of its matrix, and parts that are tried one by one.
_MOST_LEAVES, _MOST_ELEMENTS, _MOST_PARTS = 16, 1 << 22, 8
_MOVES = (Op.ADD, Op.SUB, Op.NEGATE, Op.SUM, Op.INDEX, Op.JOIN)
_PRODUCTS = (Op.MULTIPLY, Op.MATMUL)
#: Makes a part's result of the tensors that go into it.
Form = Callable[[Sequence[Node]], Node]


@dataclass(frozen=True, eq=False)
class Part:
    """An affine part: its result, what goes into it, its nodes with arguments before users, and the products with
    constants on the longest way through it."""

    root: Node
    leaves: tuple[Node, ...]
    inner: tuple[Node, ...]
    form: Form
    depth: int


def folded(graph: Graph, price: Callable[[Graph], float]) -> Graph:
    """Return the graph with those affine parts as products that make it cheaper; `price` may be infinite."""
    parts = list(affine_parts(graph))
    if not parts:
        return graph
    taken = frozenset(range(len(parts)))
    best = with_matrices(graph, parts)
    least = price(best)
    if max(part.depth for part in parts) < _TOO_DEEP and (before := price(graph)) < least:
        taken, best, least = frozenset(), graph, before
    for number in range(len(parts) if 1 < len(parts) <= _MOST_PARTS else 0):
        changed = taken ^ {number}
        trial = with_matrices(graph, [parts[k] for k in sorted(changed)])
        if (own := price(trial)) < least:
            taken, best, least = changed, trial, own
    return best


def with_matrices(graph: Graph, parts: Sequence[Part]) -> Graph:
    """Return the graph with these parts as products."""
    chosen = {id(part.root): part for part in parts}
    made: dict[int, Node] = {}
    for node in graph.nodes():
        part = chosen.get(id(node))
        if part is None:
            made[id(node)] = over(node, made)
        else:
            made[id(node)] = _tight(node, part.form([made[id(leaf)] for leaf in part.leaves]))
    return replace(graph, output=made[id(graph.output)])


def _tight(root: Node, made: Node) -> Node:
    """Return a part's result under the tighter of two bounds, both of which hold."""
    return made if made.bound <= root.bound else replace(made, low=root.low, high=root.high)


def affine_parts(graph: Graph) -> Iterator[Part]:
    """Yield the largest affine parts that may be worth a matrix, arguments before users."""
    order = graph.nodes()
    known = known_constants(order)
    affine = {id(node): _is_affine(node, known) for node in order}
    outer = {id(arg) for node in order if not affine[id(node)] for arg in node.args} | {id(graph.output)}
    deep = _depths(order, affine)
    for node in order:
        wanted = node.encrypted and affine[id(node)] and id(node) in outer
        if wanted and (part := _part(node, affine, known, deep)):
            yield part


def _is_affine(node: Node, known: Mapping[int, Array]) -> bool:
    """Return whether a node is affine in its arguments that are not known, clear ones included."""
    if id(node) in known or node.op not in (*_MOVES, *_PRODUCTS):
        return False
    return node.op in _MOVES or any(id(arg) in known for arg in node.args)


def _depths(order: Sequence[Node], affine: Mapping[int, bool]) -> dict[int, int]:
    """Return how many products with constants follow each other inside the affine part that ends at each node."""
    found: dict[int, int] = {}
    for node in order:
        below = max((found[id(arg)] for arg in node.args), default=0)
        found[id(node)] = below + (node.op in _PRODUCTS) if affine[id(node)] else 0
    return found


def _part(root: Node, affine: Mapping[int, bool], known: Mapping[int, Array], deep: Mapping[int, int]) -> Part | None:
    """Return the part that ends at a node, if it is one that may be worth a matrix and can have one."""
    inner, leaves = _inside(root, affine, known)
    joined = any(node.op is Op.JOIN and len(node.args) >= _JOINED for node in inner)
    # Each tensor that goes in takes a matrix of its own.
    if deep[id(root)] < _DEEP * len(leaves) and not (joined and len(leaves) == 1):
        return None
    if not 0 < len(leaves) <= _MOST_LEAVES or not any(leaf.encrypted for leaf in leaves):
        return None
    form = _Forms(root, leaves, inner, known).find()
    return None if form is None else Part(root, tuple(leaves), tuple(inner), form, deep[id(root)])


def _inside(root: Node, affine: Mapping[int, bool], known: Mapping[int, Array]) -> tuple[list[Node], list[Node]]:
    """Return a part's nodes, arguments before users, and the tensors that go into it."""
    inner: dict[int, Node] = {}
    leaves: dict[int, Node] = {}
    pending = [(root, False)]
    while pending:
        node, ready = pending.pop()
        if ready:
            inner.setdefault(id(node), node)
        elif not affine[id(node)]:
            if id(node) not in known:
                leaves[id(node)] = node
        elif id(node) not in inner:
            pending.append((node, True))
            pending.extend((arg, False) for arg in reversed(node.args))
    return list(inner.values()), list(leaves.values())


@dataclass(frozen=True, eq=False)
class _Forms:
    """The forms that a part's map may have."""

    root: Node
    leaves: Sequence[Node]
    inner: Sequence[Node]
    known: Mapping[int, Array]

    def find(self) -> Form | None:
        """Return the simplest form: element by element, along an axis, or any matrix; None if none is small enough."""
        zero = self._value([np.zeros(leaf.shape, dtype=self._kind) for leaf in self.leaves])
        if zero is None or not self._finite(zero):
            return None
        own = (self._by_element(zero) or self._by_vector(zero)) if len(self.leaves) == 1 else None
        return own or self._matrix(zero)

    @property
    def _kind(self) -> Any:
        return np.int64 if self.root.exact else np.float64

    def _finite(self, values: Array) -> bool:
        return values.dtype != np.float64 or bool(np.isfinite(values).all())

    def _values(self, columns: Sequence[Array]) -> Array | None:
        """Return the part's results of columns of each leaf, in the last axis."""
        return Values(self.known).run(self.inner, dict(zip(map(id, self.leaves), columns, strict=True)))

    def _value(self, given: Sequence[Array]) -> Array | None:
        found = self._values([value[..., None] for value in given])
        return None if found is None else found[..., 0]

    def _by_element(self, zero: Array) -> Form | None:
        """Return the form of a map that scales each element of one tensor."""
        (leaf,) = self.leaves
        if leaf.shape != self.root.shape or not leaf.encrypted:
            return None
        ones = self._value([np.ones(leaf.shape, dtype=self._kind)])
        if ones is None or not self._same(lambda x: (ones - zero) * x + zero):
            return None
        return lambda args: self._plus(self._scaled(args[0], ones - zero), zero)

    def _by_vector(self, zero: Array) -> Form | None:
        """Return the form of a map that is the same for all vectors beside one axis of one tensor."""
        (leaf,), root = self.leaves, self.root
        pairs = [(p, q) for p, one in enumerate(leaf.shape) for q, two in enumerate(root.shape) if one == two > 1]
        for p, q in sorted(pairs, key=lambda pair: -leaf.shape[pair[0]]):
            form = self._beside(p, q, zero)
            if form is not None:
                return form
        return None

    def _beside(self, p: int, q: int, zero: Array) -> Form | None:
        matrix = self._along(p, q, zero)
        if matrix is None or not self._same(lambda x: _applied(x, matrix, p, q, self.root.shape) + zero):
            return None
        return lambda args: self._plus(self._rows(args[0], matrix, p, q), zero)

    def _same(self, made: Callable[[Array], Array]) -> bool:
        """Return whether a form gives the part's results on random values: a linear map that differs differs almost
        everywhere."""
        random = np.random.default_rng(7)
        shape = self.leaves[0].shape
        for _ in range(2):
            signs = random.choice([-1, 1], shape)
            size = random.integers(1, 1 << 40, shape).astype(object) if self.root.exact else random.uniform(1, 2, shape)
            found = self._value([signs * size])
            if found is None or not self._finite(found):
                return False
            expected = made(signs * size)
            close = 2.0**-44 * float(np.abs(found).max())
            if (found != expected).any() if self.root.exact else (np.abs(found - expected) > close).any():
                return False
        return True

    def _along(self, p: int, q: int, zero: Array) -> Array | None:
        """Return the matrix by which vector 0 beside axis p is mapped to result 0 beside axis q, if it is small."""
        leaf, root = self.leaves[0], self.root
        columns = leaf.low.size // leaf.shape[p]
        if columns * (root.low.size // root.shape[q]) > _MOST_ELEMENTS:
            return None
        units = np.zeros((leaf.shape[p], columns, columns), dtype=self._kind)
        units[0] = np.eye(columns, dtype=self._kind)
        rest = leaf.shape[:p] + leaf.shape[p + 1 :]
        found = self._values([np.moveaxis(units.reshape(leaf.shape[p], *rest, columns), 0, p)])
        if found is None:
            return None
        own = np.moveaxis(found - zero[..., None], q, 0)[0]
        return own.reshape(-1, columns) if self._finite(own) else None

    def _matrix(self, zero: Array) -> Form | None:
        """Return the form of any map."""
        sizes = [leaf.low.size for leaf in self.leaves]
        total = sum(sizes)
        if total * self.root.low.size > _MOST_ELEMENTS:
            return None
        ends = np.cumsum(sizes)[:-1]
        units = np.split(np.eye(total, dtype=self._kind), ends)
        given = [own.reshape(*leaf.shape, total) for leaf, own in zip(self.leaves, units, strict=True)]
        found = self._values(given)
        if found is None or not self._finite(found):
            return None
        matrix = (found - zero[..., None]).reshape(-1, total)
        terms = [(n, own) for n, own in enumerate(np.split(matrix, ends, axis=1)) if (own != 0).any()]
        if not any(self.leaves[number].encrypted for number, _ in terms):
            return None
        return lambda args: self._plus(self._shaped([self._product(own, args[n]) for n, own in terms]), zero)

    # ---------------------------------------------------------------------------------------------- nodes

    def _constant(self, values: Array) -> Node:
        exact = self.root.exact
        return nodes.constant(integers(values, "a matrix") if exact else values, self.root.where, exact=exact)

    def _plus(self, node: Node, offset: Array) -> Node:
        if not (offset != 0).any():
            return node
        return nodes.elementwise(Op.ADD, node, self._constant(offset), self.root.where)

    def _scaled(self, node: Node, factors: Array) -> Node:
        if (factors == 1).all():
            return node
        same = (factors == factors.reshape(-1)[0]).all()
        own = factors.reshape(-1)[0].reshape(()) if same and factors.dtype != object else factors
        return nodes.elementwise(Op.MULTIPLY, node, self._constant(np.asarray(own)), self.root.where)

    def _rows(self, node: Node, matrix: Array, p: int, q: int) -> Node:
        """Return the products of the vectors beside axis p with a matrix, which stand beside axis q."""
        table = np.moveaxis(np.arange(node.low.size).reshape(node.shape), p, 0).reshape(node.shape[p], -1)
        product = nodes.matmul(_viewed(node, table), self._constant(matrix.T.copy()), self.root.where)
        shape = self.root.shape
        back = np.arange(product.low.size).reshape(shape[q], *shape[:q], *shape[q + 1 :])
        return _viewed(product, np.moveaxis(back, 0, q))

    def _shaped(self, terms: Sequence[Node]) -> Node:
        """Return the sum of vectors in the result's shape."""
        total = reduce(lambda a, b: nodes.elementwise(Op.ADD, a, b, self.root.where), terms)
        return _viewed(total, np.arange(total.low.size).reshape(self.root.shape))

    def _product(self, matrix: Array, node: Node) -> Node:
        """Return the product of a matrix and all elements of a tensor, a vector."""
        flat = _viewed(node, np.arange(node.low.size))
        product = nodes.matmul(self._constant(matrix[0] if len(matrix) == 1 else matrix), flat, self.root.where)
        return _viewed(product, np.arange(len(matrix)))


def _applied(x: Array, matrix: Array, p: int, q: int, shape: tuple[int, ...]) -> Array:
    """Return what `_Forms._rows` computes."""
    rows = np.moveaxis(x, p, 0).reshape(x.shape[p], -1)
    product = rows @ matrix.T.astype(rows.dtype)
    return np.moveaxis(product.reshape(shape[q], *shape[:q], *shape[q + 1 :]), 0, q)


def _viewed(node: Node, picked: Array) -> Node:
    """Return a selection; the node itself where that is all of it as it is."""
    same = picked.shape == node.shape and np.array_equal(picked.reshape(-1), np.arange(node.low.size))
    return node if same else nodes.gather(node, picked, node.where)
