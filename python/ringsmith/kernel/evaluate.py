# SPDX-License-Identifier: Apache-2.0
"""Clear evaluation of a graph in numpy: for its plain parts at run time, and as a reference in tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.kernel.graph import Node, Op

Array = NDArray[Any]


def _polynomial(node: Node, x: Array) -> Array:
    result = np.full_like(x, node.attributes["coefficients"][-1])
    for coefficient in reversed(node.attributes["coefficients"][:-1]):
        result = result * x + coefficient
    return result


def _gather(node: Node, x: Array) -> Array:
    return np.asarray(x.reshape(-1)[node.attributes["gather"]])


_ACTIONS: dict[Op, Callable[..., Any]] = {
    Op.CONSTANT: lambda node: node.attributes["value"],
    Op.ADD: lambda node, a, b: a + b,
    Op.SUB: lambda node, a, b: a - b,
    Op.NEGATE: lambda node, a: -a,
    Op.MULTIPLY: lambda node, a, b: a * b,
    Op.POWER: lambda node, a: a ** node.attributes["exponent"],
    Op.POLYNOMIAL: _polynomial,
    Op.MATMUL: lambda node, a, b: a @ b,
    Op.SUM: lambda node, a: a.sum(axis=node.attributes["axis"]),
    Op.WITHIN: lambda node, a: a,
    Op.INDEX: _gather,
    Op.RESHAPE: _gather,
    Op.TRANSPOSE: _gather,
    Op.ROTATE: _gather,
    Op.STACK: lambda node, *parts: np.stack(parts, axis=node.attributes["axis"]),
    Op.CONCATENATE: lambda node, *parts: np.concatenate(parts, axis=node.attributes["axis"]),
}


def evaluate(nodes: Iterable[Node], inputs: Mapping[str, Array]) -> dict[int, Array]:
    """Return the value of each node by id(node); `nodes` has arguments before users, inputs are looked up by name."""
    values: dict[int, Array] = {}
    for node in nodes:
        if node.op is Op.INPUT:
            values[id(node)] = np.asarray(inputs[node.attributes["name"]])
        else:
            values[id(node)] = np.asarray(_ACTIONS[node.op](node, *(values[id(arg)] for arg in node.args)))
    return values
