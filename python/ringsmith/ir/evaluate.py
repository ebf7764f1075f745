# SPDX-License-Identifier: Apache-2.0
"""Clear evaluation of a graph in numpy: the exact reference, and constants before a program exists.

Integers stay exact: a node is computed in int64 if its bounds say that its values fit, else in Python's own integers.
When a program runs, the engine evaluates its plain expressions (crates/program/src/evaluate.rs), modulo t or in
doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebval
from numpy.typing import NDArray

from ringsmith.errors import KernelError
from ringsmith.ir.graph import Node, Op
from ringsmith.ir.numbers import exact, narrowed

Array = NDArray[Any]

# A promise about reals holds up to rounding in float64.
_ROUNDING = 1e-9


def _polynomial(node: Node, x: Array) -> Array:
    result = np.full_like(x, node.attributes["coefficients"][-1])
    for coefficient in reversed(node.attributes["coefficients"][:-1]):
        result = result * x + coefficient
    return result


def _chebyshev(node: Node, x: Array) -> Array:
    low, high = node.attributes["low"], node.attributes["high"]
    broken = outside(x, low, high)
    if broken is not None:
        raise KernelError(broken, node.where)
    return chebyshev(x, node.attributes["coefficients"], low, high)


def chebyshev(x: Array, coefficients: Sequence[float], low: float, high: float) -> Array:
    """Return sum_k c_k T_k(u) of values in low..high, u = (2 x - low - high) / (high - low)."""
    values = np.asarray(x, dtype=np.float64)
    return np.asarray(chebval((2 * values - low - high) / (high - low), np.asarray(coefficients)))


def outside(values: Array, low: float, high: float) -> str | None:
    """Return what values break the promise to lie in low..high, or None (up to rounding)."""
    room = _ROUNDING * max(abs(low), abs(high))
    bad = (np.asarray(values) < low - room) | (np.asarray(values) > high + room)
    if not np.any(bad):
        return None
    worst = np.asarray(values)[np.asarray(bad)].reshape(-1)[0]
    return f"the polynomial stands for its function on [{low:g}, {high:g}], a value is {worst:g}; widen the interval"


def _linear(node: Node, x: Array, weights: Array) -> Array:
    entries = node.attributes
    terms = weights[entries["picks"]] * x.reshape(-1)[entries["columns"]]
    return np.bincount(entries["rows"], weights=terms, minlength=node.low.size).reshape(node.shape)


def _gather(node: Node, *parts: Array) -> Array:
    flat = parts[0].reshape(-1) if len(parts) == 1 else np.concatenate([part.reshape(-1) for part in parts])
    return np.asarray(flat[node.attributes["gather"]])


def _within(node: Node, x: Array) -> Array:
    broken = broken_promise(x, node.attributes["bound"])
    if broken is not None:
        raise KernelError(broken, node.where)
    return x


def broken_promise(values: Array, bound: Any) -> str | None:
    """Return what a promise |value| <= bound hides, or None if it holds (reals up to rounding)."""
    room = bound if exact(values) else bound * (1 + _ROUNDING)
    held = np.abs(values) <= room
    if np.all(held):
        return None
    worst = np.asarray(values)[~np.asarray(held)].reshape(-1)[0]
    return f"within: the promise |value| <= {bound} is false, a value is {worst}"


def _refresh(node: Node, x: Array) -> Array:
    function = node.attributes["function"]
    return np.asarray(function(narrowed(x) if x.dtype == object else x))


_ACTIONS: dict[Op, Callable[..., Any]] = {
    Op.CONSTANT: lambda node: node.attributes["value"],
    Op.ADD: lambda node, a, b: a + b,
    Op.SUB: lambda node, a, b: a - b,
    Op.NEGATE: lambda node, a: -a,
    Op.MULTIPLY: lambda node, a, b: a * b,
    Op.POWER: lambda node, a: a ** node.attributes["exponent"],
    Op.POLYNOMIAL: _polynomial,
    Op.CHEBYSHEV: _chebyshev,
    Op.MATMUL: lambda node, a, b: a @ b,
    Op.LINEAR: _linear,
    Op.SUM: lambda node, a: a.sum(axis=node.attributes["axis"]),
    Op.WITHIN: _within,
    Op.REFRESH: _refresh,
    Op.INDEX: _gather,
    Op.JOIN: _gather,
}


def evaluate(nodes: Iterable[Node], inputs: Mapping[str, Array]) -> dict[int, Array]:
    """Return the value of each node by id(node); `nodes` has arguments before users, inputs are looked up by name."""
    values: dict[int, Array] = {}
    for node in nodes:
        if node.op is Op.INPUT:
            value = inputs[node.attributes["name"]]
        else:
            args = (values[id(arg)] for arg in node.args)
            wide = node.low.dtype == object
            value = _ACTIONS[node.op](node, *((arg.astype(object) for arg in args) if wide else args))
        # Sums and products that end below 2^63 are right even where int64 wraps on the way.
        values[id(node)] = np.asarray(value, dtype=node.low.dtype)
    return values
