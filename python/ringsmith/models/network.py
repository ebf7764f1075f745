# SPDX-License-Identifier: Apache-2.0
"""A model as arithmetic: affine maps, sums and products of vectors, and activations, which are approximated.

Values are vectors of a sample, or rows of several samples. Whatever is affine, layer upon layer, is one matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Input:
    """The features of a sample."""

    size: int


@dataclass(frozen=True, eq=False)
class Affine:
    """x @ matrix + shift, of (inputs, outputs) and (outputs,)."""

    argument: Value
    matrix: Array
    shift: Array

    @property
    def size(self) -> int:
        """Number of outputs."""
        return len(self.shift)


@dataclass(frozen=True, eq=False)
class Activation:
    """A function of one number, element by element: `function` is the name of a ready approximation."""

    argument: Value
    function: str
    layer: str

    @property
    def size(self) -> int:
        """Number of outputs."""
        return self.argument.size


@dataclass(frozen=True, eq=False)
class Sum:
    """a + b."""

    a: Value
    b: Value

    @property
    def size(self) -> int:
        """Number of outputs."""
        return self.a.size


@dataclass(frozen=True, eq=False)
class Product:
    """a * b, element by element."""

    a: Value
    b: Value

    @property
    def size(self) -> int:
        """Number of outputs."""
        return self.a.size


Value = Input | Affine | Activation | Sum | Product
#: Computes an activation of known or encrypted numbers.
Activate = Callable[[Activation, Any], Any]


def affine(argument: Value, matrix: Array, shift: Array) -> Affine:
    """Return x @ matrix + shift; of another such map, the map that does both at once."""
    if isinstance(argument, Affine):
        return Affine(argument.argument, argument.matrix @ matrix, argument.shift @ matrix + shift)
    return Affine(argument, matrix, shift)


def arguments(value: Value) -> tuple[Value, ...]:
    """Return the operands of a value."""
    match value:
        case Input():
            return ()
        case Affine() | Activation():
            return (value.argument,)
        case _:
            return (value.a, value.b)


def ordered(result: Value) -> list[Value]:
    """Return every value behind the result, arguments first."""
    order: dict[int, Value] = {}
    pending: list[tuple[Value, bool]] = [(result, False)]
    while pending:
        value, ready = pending.pop()
        if ready:
            order.setdefault(id(value), value)
        elif id(value) not in order:
            pending.append((value, True))
            pending.extend((argument, False) for argument in reversed(arguments(value)))
    return list(order.values())


def activations(result: Value) -> Iterator[Activation]:
    """Yield the activations in order of computation."""
    return (value for value in ordered(result) if isinstance(value, Activation))


def evaluate(result: Value, x: Any, activate: Activate) -> Any:
    """Compute the result of features (size,) or rows of them, numbers or tensors."""
    known: dict[int, Any] = {}
    for value in ordered(result):
        given = [known[id(argument)] for argument in arguments(value)]
        match value:
            case Input():
                known[id(value)] = x
            case Affine():
                known[id(value)] = given[0] @ value.matrix + value.shift
            case Activation():
                known[id(value)] = activate(value, given[0])
            case Sum():
                known[id(value)] = given[0] + given[1]
            case Product():
                known[id(value)] = given[0] * given[1]
    return known[id(result)]
