# SPDX-License-Identifier: Apache-2.0
"""The graph of a traced kernel: tensor operations with shapes, value ranges and places in the user's file.

It is independent of ring degree and packing. `low` and `high` bound every element of a node (arrays of the node's
shape), so that later stages can choose scales and plaintext moduli and refuse what would overflow; they are exact
integers for BFV and float64 for CKKS.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.ir.numbers import exact, magnitude
from ringsmith.ir.reading import Reading
from ringsmith.location import Location

#: float64, or exact integers (int64 or object).
Reals = NDArray[Any]
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
    CHEBYSHEV = "chebyshev"
    MATMUL = "matmul"
    LINEAR = "linear"
    SUM = "sum"
    INDEX = "index"
    JOIN = "join"
    WITHIN = "within"
    REFRESH = "refresh"


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
    def exact(self) -> bool:
        """Return whether the values are exact integers (BFV)."""
        return exact(self.low)

    @property
    def bound(self) -> Any:
        """Return the largest magnitude an element can have: an int if exact, else a float."""
        return max(magnitude(self.low), magnitude(self.high))


@dataclass(frozen=True, eq=False)
class Graph:
    """A traced kernel: its inputs by name, in order of declaration, its result, and how its numbers are read."""

    name: str
    inputs: Mapping[str, Node]
    output: Node
    reading: Reading = field(default_factory=Reading)

    def __getstate__(self) -> dict[str, Any]:
        """Return a picklable state."""
        return {**self.__dict__, "inputs": dict(self.inputs)}

    def nodes(self) -> list[Node]:
        """Return every node the result depends on, arguments before users."""
        return ordered([self.output])

    def least_depth(self) -> int:
        """Return how many products of encrypted values follow each other at least."""
        depth: dict[int, int] = {}
        for node in self.nodes():
            own = int(node.op in (Op.MULTIPLY, Op.MATMUL) and all(arg.encrypted for arg in node.args))
            if node.op is Op.POWER:
                own = (node.attributes["exponent"] - 1).bit_length()
            depth[id(node)] = own + max((depth[id(arg)] for arg in node.args), default=0)
        return depth[id(self.output)]

    def uses(self) -> Counter[int]:
        """Return how often each node is an argument, by its identity."""
        return Counter(id(arg) for node in self.nodes() for arg in node.args)


def over(node: Node, made: Mapping[int, Node]) -> Node:
    """Return a node with its arguments as they were `made` anew, by identity: itself if they are the same."""
    args = tuple(made[id(arg)] for arg in node.args)
    same = all(new is old for new, old in zip(args, node.args, strict=True))
    return node if same else replace(node, args=args)


def ordered(roots: Iterable[Node]) -> list[Node]:
    """Return every node behind the roots, arguments before users."""
    order: dict[int, Node] = {}
    stack = [(node, False) for node in reversed(list(roots))]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.setdefault(id(node), node)
        elif id(node) not in order:
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(node.args))
    return list(order.values())


def content_hash(nodes: list[Node]) -> bytes:
    """Return a hash of what nodes compute (arguments before users), without the places in the user's file."""
    digest = hashlib.sha256()
    number: dict[int, int] = {}
    for node in nodes:
        number[id(node)] = len(number)
        args = tuple(number[id(arg)] for arg in node.args)
        facts = [(name, _plain(value)) for name, value in sorted(node.attributes.items())]
        bounds = (_plain(node.low), _plain(node.high))
        digest.update(repr((node.op.value, args, node.shape, node.encrypted, bounds, facts)).encode())
    return digest.digest()


def _plain(value: Any) -> Any:
    """Return a value whose text tells all of its content."""
    if not isinstance(value, np.ndarray):
        return value
    content = repr(value.tolist()).encode() if value.dtype == object else np.ascontiguousarray(value).tobytes()
    return value.dtype.str, value.shape, hashlib.sha256(content).hexdigest()


def frozen(attributes: dict[str, Any]) -> Mapping[str, Any]:
    """Return a read-only view of a node's attributes."""
    return MappingProxyType(attributes)
