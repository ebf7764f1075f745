# SPDX-License-Identifier: Apache-2.0
"""The group method of data handling: layers of quadratic nodes of two inputs, each fitted by ridge regression.

Layers of 8, 4, 2 and 1 nodes z = a0 + a1 x + a2 y + a3 xy + a4 x^2 + a5 y^2. In every layer each pair of inputs is
fitted on the training part, the ridge parameter is the one that serves a validation part best, and the nodes that do
best there are kept; at last those that feed nothing are pruned. The published program chooses by the very part that it
reports on; here that part, the last third, has no say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from smart_grid.data import Rows

Array = NDArray[np.float64]
Rounding = Callable[[Array], Array]

WIDTHS = (8, 4, 2, 1)
RIDGES = 10.0 ** np.arange(-5, 6)
COEFFICIENTS = 6


def terms(x: Array, y: Array) -> Array:
    """Return the six terms of a node, a row for each input."""
    return np.column_stack([np.ones_like(x), x, y, x * y, x * x, y * y])


@dataclass(frozen=True)
class Node:
    """A node of the outputs `first` and `second` of the layer before."""

    first: int
    second: int
    coefficients: Array

    def evaluate(self, inputs: Array) -> Array:
        """Return its output for each row."""
        return terms(inputs[:, self.first], inputs[:, self.second]) @ self.coefficients


@dataclass(frozen=True)
class Network:
    """Pruned layers; the last has one node. The first one's inputs are numbers of columns."""

    layers: tuple[tuple[Node, ...], ...]

    @property
    def inputs(self) -> list[int]:
        """The columns that it reads, rising."""
        return sorted({column for node in self.layers[0] for column in (node.first, node.second)})

    @property
    def nodes(self) -> Iterator[Node]:
        """All nodes."""
        return (node for layer in self.layers for node in layer)

    def predict(self, inputs: Array) -> Array:
        """Return the forecast of each row of all columns."""
        for layer in self.layers:
            inputs = np.column_stack([node.evaluate(inputs) for node in layer])
        return inputs[:, 0]


@dataclass(frozen=True)
class _Moments:
    """What mean squared errors of all coefficients follow from: products of terms, and of terms and targets."""

    terms: Array
    targets: Array
    square: float
    count: int

    @classmethod
    def of(cls, x: Array, y: Array, targets: Array) -> _Moments:
        six = terms(x, y)
        return cls(six.T @ six, six.T @ targets, float(targets @ targets), len(targets))

    def ridge(self, size: int = COEFFICIENTS) -> Array:
        """Return the fits with the first `size` terms, one row a ridge parameter; the other coefficients are 0."""
        systems = self.terms[:size, :size] + RIDGES[:, None, None] * np.eye(size)
        fits = np.zeros((len(RIDGES), COEFFICIENTS))
        fits[:, :size] = np.linalg.solve(systems, np.broadcast_to(self.targets[:size, None], (len(RIDGES), size, 1)))[
            ..., 0
        ]
        return fits

    def errors(self, fits: Array) -> Array:
        """Return the mean squared error of each fit."""
        return (np.einsum("ri,ij,rj->r", fits, self.terms, fits) - 2 * fits @ self.targets + self.square) / self.count


#: Coefficients of nodes with squares and products, and of those without.
CURVED, STRAIGHT = 6, 3


def train(training: Rows, validation: Rows) -> Network:
    """Train as published: every node has all six terms."""
    return next(trained(training, validation, lambda coefficients: coefficients, (CURVED,)))


def trained(
    training: Rows, validation: Rows, rounding: Rounding, sizes: Sequence[int] = (CURVED, STRAIGHT)
) -> Iterator[Network]:
    """Train on one part, choose by another, and yield a network for each choice of size of each layer's nodes.

    `rounding`: rounding of coefficients by the encoder.
    """

    def grown(layers: list[list[Node]], seen: Array, judged: Array) -> Iterator[Network]:
        if len(layers) == len(WIDTHS):
            yield _pruned(layers)
            return
        parts = (Rows(seen, training.targets), Rows(judged, validation.targets))
        for nodes in _layer(*parts, rounding, sizes, WIDTHS[len(layers)]):
            outputs = [np.column_stack([node.evaluate(part) for node in nodes]) for part in (seen, judged)]
            yield from grown([*layers, nodes], *outputs)

    return grown([], training.inputs, validation.inputs)


def _layer(training: Rows, validation: Rows, rounding: Rounding, sizes: Sequence[int], width: int) -> list[list[Node]]:
    """Return the best nodes of each size, over all pairs of inputs."""
    found: list[list[tuple[float, Node]]] = [[] for _ in sizes]
    x, y = training.inputs, validation.inputs
    for first, second in combinations(range(x.shape[1]), 2):
        seen = _Moments.of(x[:, first], x[:, second], training.targets)
        judged = _Moments.of(y[:, first], y[:, second], validation.targets)
        for nodes, size in zip(found, sizes, strict=True):
            fits = rounding(seen.ridge(size))
            errors = judged.errors(fits)
            best = int(errors.argmin())
            nodes.append((float(errors[best]), Node(first, second, fits[best])))
    return [[node for _, node in sorted(nodes, key=lambda pair: pair[0])[:width]] for nodes in found]


def _pruned(layers: list[list[Node]]) -> Network:
    """Keep the nodes that the last one's output depends on, and number those of each layer anew."""
    kept: list[tuple[Node, ...]] = [tuple(layers[-1])]
    for layer in reversed(layers[:-1]):
        used = sorted({number for node in kept[0] for number in (node.first, node.second)})
        at = {number: place for place, number in enumerate(used)}
        kept[0] = tuple(Node(at[node.first], at[node.second], node.coefficients) for node in kept[0])
        kept.insert(0, tuple(layer[number] for number in used))
    return Network(tuple(kept))


def linear(training: Rows, validation: Rows) -> Callable[[Array], Array]:
    """Return ridge regression on all columns, its parameter chosen by the validation part."""
    ones = lambda inputs: np.column_stack([np.ones(len(inputs)), inputs])  # noqa: E731
    x = ones(training.inputs)
    systems = x.T @ x + RIDGES[:, None, None] * np.eye(x.shape[1])
    fits = [np.linalg.solve(system, x.T @ training.targets) for system in systems]
    best = min(fits, key=lambda fit: mse(validation.targets, ones(validation.inputs) @ fit))
    return lambda inputs: ones(inputs) @ best


def mse(targets: Array, forecasts: Array) -> float:
    """Return the mean squared error."""
    return float(np.mean((forecasts - targets) ** 2))


def mape(targets: Array, forecasts: Array) -> float:
    """Return the mean absolute error relative to the target, in percent."""
    return float(100 * np.mean(np.abs(forecasts - targets) / targets))
