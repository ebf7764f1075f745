# SPDX-License-Identifier: Apache-2.0
"""Values of an affine part of a graph on many inputs at once: each tensor has a last axis more, of the inputs' number.

Integers are exact: int64 while bounds of the values say that they fit, else Python's own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.ir.evaluate import evaluate
from ringsmith.ir.graph import Node, Op
from ringsmith.ir.numbers import INT64_LIMIT, exact, magnitude

Array = NDArray[Any]

#: Most elements that one tensor may have, with its last axis, and all of a part together.
_MOST, _MOST_TOGETHER = 1 << 23, 1 << 27


def known_constants(order: Iterable[Node]) -> dict[int, Array]:
    """Return the values of the nodes that depend on constants alone, by id(node)."""
    known: dict[int, Node] = {}
    for node in order:
        if node.op is Op.CONSTANT or (node.args and all(id(arg) in known for arg in node.args)):
            known[id(node)] = node
    return evaluate(known.values(), {})


class Values:
    """One walk over a part; `known` are the values of constants."""

    def __init__(self, known: Mapping[int, Array]) -> None:
        """Start with the constants' values."""
        self.known, self.count = known, 1

    def run(self, inner: Sequence[Node], given: Mapping[int, Array]) -> Array | None:
        """Return the value of the last node of a part; None where that is too much work."""
        self.count = next(iter(given.values())).shape[-1]
        sizes = [node.low.size * self.count for node in inner]
        if max(sizes) > _MOST or sum(sizes) > _MOST_TOGETHER:
            return None
        values = dict(given)
        left = Counter(id(arg) for node in inner for arg in node.args)
        for node in inner:
            values[id(node)] = self._value(node, values)
            left.subtract(map(id, node.args))
            for arg in node.args:
                if not left[id(arg)] and id(arg) not in given:
                    values.pop(id(arg), None)
        return values[id(inner[-1])]

    def _value(self, node: Node, values: Mapping[int, Array]) -> Array:
        """Return a node's value."""
        if node.op in (Op.MULTIPLY, Op.MATMUL):
            return self._product(node, values)
        args = [values[id(arg)] if id(arg) in values else self._constant(self.known[id(arg)]) for arg in node.args]
        match node.op:
            case Op.ADD | Op.SUB:
                a, b = _wide(sum(map(magnitude, args)), *args)
                a, b = (_ranked(own, len(node.shape) + 1) for own in (a, b))
                return np.asarray(a + b if node.op is Op.ADD else a - b)
            case Op.NEGATE:
                return np.asarray(-args[0])
            case Op.SUM:
                return self._sum(args[0], node.attributes["axis"])
        parts = [arg.reshape(-1, self.count) for arg in args]
        kind = np.result_type(*parts)
        flat = parts[0] if len(parts) == 1 else np.concatenate([part.astype(kind) for part in parts])
        return np.asarray(flat[node.attributes["gather"]])

    def _constant(self, value: Array) -> Array:
        return np.broadcast_to(value[..., None], (*value.shape, self.count))

    def _sum(self, value: Array, axis: int | None) -> Array:
        """Return the sum along an axis, or over all but the last."""
        count = math.prod(value.shape[:-1]) if axis is None else value.shape[axis]
        (value,) = _wide(count * magnitude(value), value)
        return np.asarray(value.reshape(-1, self.count).sum(axis=0) if axis is None else value.sum(axis=axis))

    def _product(self, node: Node, values: Mapping[int, Array]) -> Array:
        """Return the product of a value and a constant."""
        first = id(node.args[0]) not in self.known
        x = values[id(node.args[0 if first else 1])]
        factor = self.known[id(node.args[1 if first else 0])]
        inner = node.args[0].shape[-1] if node.op is Op.MATMUL else 1
        x, factor = _wide(inner * magnitude(x) * magnitude(factor), x, factor)
        if node.op is Op.MULTIPLY:
            rank = len(node.shape) + 1
            return np.asarray(_ranked(x, rank) * _ranked(factor[..., None], rank))
        if not first:
            return np.asarray(np.tensordot(factor, x, axes=(factor.ndim - 1, 0)))
        product = np.tensordot(x, factor, axes=(x.ndim - 2, 0))
        return np.asarray(np.moveaxis(product, x.ndim - 2, -1))


def _ranked(value: Array, rank: int) -> Array:
    """Return a value whose last axis stays last, with as many axes as that, as numpy broadcasts them."""
    return value.reshape(*(1,) * (rank - value.ndim), *value.shape)


def _wide(most: Any, *values: Array) -> tuple[Array, ...]:
    """Return integers in a type that holds magnitudes up to `most`; reals as they are."""
    if not exact(values[0]):
        return values
    kind = np.dtype(np.int64 if most < INT64_LIMIT and all(v.dtype != object for v in values) else object)
    return tuple(value.astype(kind, copy=False) for value in values)
