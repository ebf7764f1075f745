# SPDX-License-Identifier: Apache-2.0
"""The graph of a traced kernel: tensor operations with shapes, value ranges and places in the user's file.

It is independent of scheme, ring degree and packing. `low` and `high` bound every element of a node (arrays of
the node's shape), so that later stages can choose scales and plaintext moduli and refuse what would overflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.kernel.location import Location

Reals = NDArray[np.float64]
Shape = tuple[int, ...]


class Op(StrEnum):
    """The tensor operations a kernel is made of."""

    INPUT = "input"
    CONSTANT = "constant"
    ADD = "add"
    SUB = "sub"
    NEGATE = "negate"
    MULTIPLY = "multiply"
    POWER = "power"
    POLYNOMIAL = "polynomial"
    MATMUL = "matmul"
    SUM = "sum"
    INDEX = "index"
    RESHAPE = "reshape"
    TRANSPOSE = "transpose"
    ROTATE = "rotate"
    STACK = "stack"
    CONCATENATE = "concatenate"
    WITHIN = "within"


@dataclass(frozen=True, eq=False)
class Node:
    """One tensor value: how it is made, its shape, whether it is encrypted, and bounds of its elements."""

    op: Op
    args: tuple[Node, ...]
    shape: Shape
    encrypted: bool
    low: Reals
    high: Reals
    where: Location
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """Return a picklable state (a mapping proxy is not)."""
        return {**self.__dict__, "attributes": dict(self.attributes)}

    @property
    def bound(self) -> float:
        """Return the largest magnitude an element can have."""
        if self.low.size == 0:
            return 0.0
        return float(max(np.max(np.abs(self.low)), np.max(np.abs(self.high))))


@dataclass(frozen=True, eq=False)
class Graph:
    """A traced kernel: its inputs by name, in order of declaration, and its result."""

    name: str
    inputs: Mapping[str, Node]
    output: Node

    def __getstate__(self) -> dict[str, Any]:
        """Return a picklable state."""
        return {**self.__dict__, "inputs": dict(self.inputs)}

    def nodes(self) -> list[Node]:
        """Return every node the result depends on, arguments before users."""
        order: list[Node] = []
        seen: set[int] = set()
        stack: list[tuple[Node, bool]] = [(self.output, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                order.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack.extend((arg, False) for arg in reversed(node.args))
        return order


def frozen(attributes: dict[str, Any]) -> Mapping[str, Any]:
    """Return a read-only view of a node's attributes."""
    return MappingProxyType(attributes)
