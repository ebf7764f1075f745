# SPDX-License-Identifier: Apache-2.0
"""A model as arithmetic: affine maps, sums and products of vectors, and activations, which are approximated.

Values are vectors of a sample, or rows of several samples. Affine maps that follow each other are one: matrices always,
maps by their entries (convolutions) where that leaves them sparse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.frontend.approximation import FUNCTIONS
from ringsmith.frontend.tensor import linear
from ringsmith.ir.graph import Shape
from ringsmith.ir.sparse_map import SparseMap, of_matrix, sparse_map

Array = NDArray[np.float64]
#: A function of each element of an array by itself.
Pointwise = Callable[[Array], Any]
#: Maps become one where that leaves at most this multiple of their entries, or few entries in all.
_DENSER, _FEW = 2.0, 1 << 16
#: Entries of matrices that the merged form of a network may have.
MOST_MERGED = 1 << 18


@dataclass(frozen=True, eq=False)
class Input:
    """The features of a sample."""

    size: int


@dataclass(frozen=True, eq=False)
class Affine:
    """x @ matrix + shift, of (inputs, outputs) and (outputs,); the matrix may be given by its entries."""

    argument: Value
    matrix: Array | SparseMap
    shift: Array

    @property
    def size(self) -> int:
        """Number of outputs."""
        return len(self.shift)

    @property
    def entries(self) -> int:
        """Entries of the matrix, those that are not zero of a sparse one."""
        return self.matrix.size

    @property
    def map(self) -> SparseMap:
        """The matrix by its entries."""
        own = self.matrix
        return own if isinstance(own, SparseMap) else of_matrix(own, (self.argument.size,), (self.size,))


@dataclass(frozen=True, eq=False)
class Windows:
    """Sums of an image's windows that lie side by side: of a shape (channels, height, width), `kernel` high and wide.

    Encrypted, they are rotations and sums: no level, no plaintext.
    """

    argument: Value
    shape: Shape
    kernel: tuple[int, int]

    @property
    def made(self) -> Shape:
        """Shape of the result."""
        return self.shape[0], self.shape[1] // self.kernel[0], self.shape[2] // self.kernel[1]

    @property
    def size(self) -> int:
        """Number of outputs."""
        return math.prod(self.made)

    def __call__(self, x: Any) -> Any:
        """Return the sums of an image or of rows of them, numbers or a tensor."""
        rows = x.shape[:-1] if len(x.shape) == 2 else ()
        found = x.reshape(*rows, *self.shape)
        for axis, (step, count) in enumerate(zip(self.kernel, self.made[1:], strict=True)):
            rest = (slice(None),) * (1 - axis)
            parts = [found[(..., slice(at, at + step * count, step), *rest)] for at in range(step)]
            found = parts[0]
            for part in parts[1:]:
                found = found + part
        return found.reshape(*rows, self.size)


@dataclass(frozen=True, eq=False)
class Activation:
    """A function of one number, element by element: `function` is one of arrays, or the name of a ready one."""

    argument: Value
    function: str | Pointwise
    layer: str

    @property
    def exact(self) -> Pointwise:
        """The function of arrays."""
        return FUNCTIONS[self.function] if isinstance(self.function, str) else self.function

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
    """a * b, element by element; a square that has a layer's name has a calibrated range before it."""

    a: Value
    b: Value
    layer: str = ""

    @property
    def size(self) -> int:
        """Number of outputs."""
        return self.a.size


Value = Input | Affine | Windows | Activation | Sum | Product
#: Computes an activation of known or encrypted numbers.
Activate = Callable[[Activation, Any], Any]
#: Gives the factor of a square, of known or encrypted numbers.
Squared = Callable[[Product, Any], Any]


def affine(argument: Value, matrix: Array | SparseMap, shift: Array) -> Value:
    """Return x @ matrix + shift; of another such map, the map that does both at once where that is no denser."""
    if not isinstance(argument, Affine):
        return Affine(argument, matrix, shift)
    first = argument.matrix
    if not isinstance(first, SparseMap) and not isinstance(matrix, SparseMap):
        return Affine(argument.argument, first @ matrix, argument.shift @ matrix + shift)
    own = argument.map
    made = matrix if isinstance(matrix, SparseMap) else of_matrix(matrix, (own.height,), (len(shift),))
    made = made.shaped(own.made, made.made) if math.prod(made.given) == own.height else made
    pooled = _side_by_side(own) if isinstance(first, SparseMap) and not argument.shift.any() else None
    if pooled is not None and made.size > own.size:
        kernel, share = pooled
        return Affine(Windows(argument.argument, own.given, kernel), made.scaled(share), shift)
    if own.products(made) > max(_DENSER * max(own.size, made.size), _FEW):
        return Affine(argument, made, shift)
    return Affine(argument.argument, own.then(made), made(argument.shift) + shift)


def _side_by_side(pooling: SparseMap) -> tuple[tuple[int, int], float] | None:
    """Return the kernel of an average of windows that lie side by side, and the share of each element."""
    if len(pooling.given) != 3 or len(pooling.made) != 3 or len(pooling.weights) != 1 or pooling.stride == (1, 1):
        return None
    kernel, share = pooling.stride, float(pooling.weights[0])
    windows = Windows(Input(pooling.width), pooling.given, kernel)
    if windows.made != pooling.made or pooling.size != pooling.height * math.prod(kernel):
        return None
    x = np.random.default_rng(5).uniform(1, 2, pooling.width)
    return (kernel, share) if np.allclose(pooling(x), share * windows(x), rtol=1e-12) else None


def arguments(value: Value) -> tuple[Value, ...]:
    """Return the operands of a value."""
    match value:
        case Input():
            return ()
        case Affine() | Activation() | Windows():
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


def evaluate(result: Value, x: Any, activate: Activate, squared: Squared = lambda _, x: x) -> Any:
    """Compute the result of features (size,) or rows of them, numbers or tensors."""
    known: dict[int, Any] = {}
    for value in ordered(result):
        given = [known[id(argument)] for argument in arguments(value)]
        match value:
            case Input():
                known[id(value)] = x
            case Affine():
                known[id(value)] = applied(value, given[0])
            case Windows():
                known[id(value)] = value(given[0])
            case Activation():
                known[id(value)] = activate(value, given[0])
            case Sum():
                known[id(value)] = given[0] + given[1]
            case Product() if value.a is value.b:
                factor = squared(value, given[0])
                known[id(value)] = factor * factor
            case Product():
                known[id(value)] = given[0] * given[1]
    return known[id(result)]


def applied(value: Affine, x: Any) -> Any:
    """Return an affine map of numbers or of a tensor."""
    own = value.matrix
    if not isinstance(own, SparseMap):
        return x @ own + value.shift
    if isinstance(x, np.ndarray):
        return own(x) + value.shift
    made = linear(x.reshape(own.given), own).reshape(value.size)
    return made + value.shift if value.shift.any() else made


def rebuilt(result: Value, made: Callable[[Value, tuple[Value, ...]], Value | None]) -> Value:
    """Return the network with each value as `made` of it and its new operands; None: the same of those."""
    known: dict[int, Value] = {}
    for value in ordered(result):
        given = tuple(known[id(argument)] for argument in arguments(value))
        own = made(value, given)
        known[id(value)] = _over(value, given) if own is None else own
    return known[id(result)]


def _over(value: Value, given: tuple[Value, ...]) -> Value:
    match value:
        case Input():
            return value
        case Affine():
            return Affine(given[0], value.matrix, value.shift)
        case Windows():
            return Windows(given[0], value.shape, value.kernel)
        case Activation():
            return Activation(given[0], value.function, value.layer)
        case Sum():
            return Sum(*given)
        case Product():
            return Product(given[0], given[1], value.layer)


def is_sparse(result: Value) -> bool:
    """Return whether a network has maps by their entries."""
    return any(isinstance(value, Affine) and isinstance(value.matrix, SparseMap) for value in ordered(result))


def entries(result: Value) -> int:
    """Return the entries of the matrices of all layers."""
    return sum(value.entries for value in ordered(result) if isinstance(value, Affine))


def merged_entries(result: Value) -> int:
    """Return about how many entries the matrices of the merged form have, without making them."""
    order = ordered(result)
    last = {id(argument) for value in order if not _is_affine(value) for argument in arguments(value)} | {id(result)}
    return sum(_source(value).size * value.size for value in order if _is_affine(value) and id(value) in last)


def _is_affine(value: Value) -> bool:
    return isinstance(value, Affine | Windows)


def _source(value: Value) -> Value:
    while isinstance(value, Affine | Windows):
        value = value.argument
    return value


def merged(result: Value) -> Value:
    """Return the network whose layers are matrices, all that is affine from one activation to the next in one."""

    def made(value: Value, given: tuple[Value, ...]) -> Value | None:
        match value:
            case Affine():
                own = value.matrix
                return affine(given[0], own.dense() if isinstance(own, SparseMap) else own, value.shift)
            case Windows():
                every = value(np.eye(value.argument.size))
                return affine(given[0], every, np.zeros(value.size))
        return None

    return rebuilt(result, made)


def scaling(factors: Array) -> Array | SparseMap:
    """Return the map of each element by a factor: a matrix where that is small."""
    if len(factors) <= 64:
        return np.diag(factors)
    every = np.arange(len(factors))
    return sparse_map((len(factors),), (len(factors),), every, every, factors)
