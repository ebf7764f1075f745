# SPDX-License-Identifier: Apache-2.0
"""Maps by what they compute: affine ones and polynomials of low degree, found by evaluating a function on a box.

A map is taken when it agrees with the function on the box's points, which no coefficient was computed from. So a
function that compares or clips somewhere in its box is not taken for what it is elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from ringsmith.models.network import Activation, Input, Product, Sum, Value, affine, evaluate, ordered

Array = NDArray[np.float64]
#: Rows of numbers to rows of numbers.
Rows = Callable[[Array], Array]
#: The value that a map makes of its argument.
Map = Callable[[Value], Value]

#: Largest degree that is looked for, and rows of one evaluation.
MOST_DEGREE = 5
_ROWS = 512
#: Largest exponent that is computed by squares: larger ones take more levels than a secure set has.
MOST_POWER = 64
#: Difference of a map from its function that is rounding, as a part of the function's extent.
_ROUNDING = 1e-6
#: Inputs of a quadratic form that is asked for in full, and products of a polynomial of higher degree.
_MOST_INPUTS, _MOST_PRODUCTS = 128, 1024
#: Points of a box beside the data.
_RANDOM = 192


@dataclass(frozen=True, eq=False)
class Box:
    """Ranges of a map's inputs, and points (rows, inputs) on which the map is compared with its function."""

    low: Array
    high: Array
    points: Array

    @classmethod
    def of(cls, low: Array, high: Array, data: Array) -> Box:
        """Return the box with points of the data, random ones, corners, and data with some numbers at an end."""
        rng = np.random.default_rng(0)
        chosen = data[np.linspace(0, len(data) - 1, min(len(data), _ROWS)).astype(int)]
        inner = rng.uniform(low, high, (_RANDOM, len(low)))
        corners = np.where(rng.random((_RANDOM, len(low))) < 0.5, low, high)
        mixed = np.where(rng.random(corners.shape) < 0.2, corners, chosen[rng.integers(len(chosen), size=_RANDOM)])
        return cls(low, high, np.vstack([chosen, inner, corners, mixed]))

    @classmethod
    def around(cls, points: Array) -> Box:
        """Return the box of points that another map gave."""
        low, high = points.min(axis=0), points.max(axis=0)
        flat = high <= low
        extent = np.where(flat, np.maximum(np.abs(high), 1.0) * 1e-3, 0.0)
        return cls(low - extent, high + extent, points)

    @property
    def size(self) -> int:
        """Number of inputs."""
        return len(self.low)

    @property
    def half(self) -> Array:
        """Half of each range."""
        return (self.high - self.low) / 2

    @property
    def middle(self) -> Array:
        """Middle of each range."""
        return (self.high + self.low) / 2

    def at(self, function: Rows, u: Array) -> Array:
        """Return a function's values at points of [-1, 1]."""
        return in_parts(function, self.middle + self.half * u)

    def scaled(self, value: Value) -> Value:
        """Return a value of the box scaled to [-1, 1]."""
        return affine(value, np.diag(1 / self.half), -self.middle / self.half)


def in_parts(function: Rows, rows: Array) -> Array:
    """Return a function's values (rows, outputs), some hundred rows at a time."""
    parts = [two_axes(function(rows[start : start + _ROWS])) for start in range(0, len(rows), _ROWS)]
    return np.vstack(parts)


def two_axes(values: object) -> Array:
    """Return values as (rows, outputs)."""
    dense = values.toarray() if hasattr(values, "toarray") else values
    found = np.asarray(dense, dtype=np.float64)
    return found.reshape(len(found), -1)


def exact(value: Activation, argument: Array) -> Array:
    """Return an activation's function itself of known numbers."""
    return np.asarray(value.exact(argument))


def applied(made: Map, size: int, points: Array) -> Array:
    """Return what a map of `size` inputs makes of points."""
    return np.asarray(evaluate(made(Input(size)), points, exact))


def agrees(found: Array, expected: Array) -> bool:
    """Return whether two arrays (rows, outputs) differ by rounding only."""
    if found.shape != expected.shape or not (np.isfinite(found).all() and np.isfinite(expected).all()):
        return False
    allowed = _ROUNDING * np.ptp(expected, axis=0) + 1e-11 * np.abs(expected).max(initial=0.0)
    return bool((np.abs(found - expected) <= allowed + 1e-300).all())


def held(made: Map, function: Rows, box: Box) -> bool:
    """Return whether a map agrees with the function on the box's points."""
    return agrees(applied(made, box.size, box.points), in_parts(function, box.points))


def degree(function: Rows, box: Box) -> int | None:
    """Return the degree of a function on the box, by straight lines through it; None: no polynomial of low degree."""
    rng = np.random.default_rng(1)
    t = np.cos(np.pi * (np.arange(2 * MOST_DEGREE + 3) + 0.5) / (2 * MOST_DEGREE + 3))
    ends = rng.choice([-1.0, 1.0], (8, box.size)) * rng.uniform(0.5, 1.0, (8, box.size))
    values = [box.at(function, t[:, None] * end) for end in ends]
    extent = max(float(np.ptp(found, axis=0).max(initial=0.0)) for found in values)
    rounding = _ROUNDING * extent + 1e-13 * max(float(np.abs(found).max(initial=0.0)) for found in values)
    for most in range(MOST_DEGREE + 1):
        fits = [np.polynomial.chebyshev.chebfit(t, found, most) for found in values]
        fitted = (np.polynomial.chebyshev.chebval(t, c).T for c in fits)
        left = [np.abs(found - own).max(initial=0.0) for found, own in zip(fitted, values, strict=True)]
        if max(left) <= rounding:
            return most
    return None


def affine_map(function: Rows, box: Box) -> Map:
    """Return the affine map that a function is, by the ends of each range."""
    up, down, shift = _ends(function, box)
    return lambda value: affine(box.scaled(value), (up - down) / 2, shift)


def _ends(function: Rows, box: Box) -> tuple[Array, Array, Array]:
    """Return a function's values where each input is at its upper end, at its lower end, and all in the middle."""
    unit = np.eye(box.size)
    found = box.at(function, np.vstack([unit, -unit, np.zeros((1, box.size))]))
    return found[: box.size], found[box.size : -1], found[-1]


def polynomial_maps(function: Rows, box: Box, most: int) -> Iterator[Map]:
    """Yield maps that a function of degree `most` may be, to be compared with it."""
    if most <= 1:
        yield affine_map(function, box)
        return
    if most == 2:
        yield quadratic_map(function, box, crossed=False)
        if box.size <= _MOST_INPUTS:
            yield quadratic_map(function, box, crossed=True)
    if products(box.size, most) <= _MOST_PRODUCTS:
        yield monomial_map(function, box, most)


def products(size: int, most: int) -> int:
    """Return the number of monomials of a degree in `size` variables."""
    return math.comb(size + most, most)


def hidden(made: Map, size: int) -> int:
    """Return how many products of two numbers a map takes."""
    return sum(value.size for value in ordered(made(Input(size))) if isinstance(value, Product))


def quadratic_map(function: Rows, box: Box, *, crossed: bool) -> Map:
    """Return the quadratic function as squares of linear forms: the eigenvectors of its matrix, output by output.

    Without `crossed`, the forms are the inputs themselves.
    """
    unit = np.eye(box.size)
    up, down, shift = _ends(function, box)
    linear, squares = (up - down) / 2, (up + down) / 2 - shift
    if not crossed:
        return _of_squares(box, unit, squares, linear, shift)
    pairs = list(combinations(range(box.size), 2))
    both = box.at(function, np.array([unit[i] + unit[j] for i, j in pairs]).reshape(-1, box.size))
    forms, weights = [], []
    for output in range(len(shift)):
        matrix = np.diag(squares[:, output])
        for (i, j), value in zip(pairs, both[:, output], strict=True):
            matrix[i, j] = matrix[j, i] = (value - up[i, output] - up[j, output] + shift[output]) / 2
        values, vectors = np.linalg.eigh(matrix)
        kept = np.abs(values) > 1e-10 * max(np.abs(values).max(initial=0.0), 1e-300)
        forms.append(vectors[:, kept])
        weight = np.zeros((int(kept.sum()), len(shift)))
        weight[:, output] = values[kept]
        weights.append(weight)
    return _of_squares(box, np.hstack(forms), np.vstack(weights), linear, shift)


def _of_squares(box: Box, forms: Array, weights: Array, linear: Array, shift: Array) -> Map:
    """Return (u @ forms)² @ weights + u @ linear + shift."""

    def made(value: Value) -> Value:
        u = box.scaled(value)
        form = affine(u, forms, np.zeros(forms.shape[1]))
        return Sum(affine(Product(form, form), weights, shift), affine(u, linear, np.zeros(len(shift))))

    return made


def monomial_map(function: Rows, box: Box, most: int) -> Map:
    """Return a polynomial of the degree by its monomials, whose coefficients fit it at random points."""
    rng = np.random.default_rng(2)
    powers = [p for d in range(2, most + 1) for p in combinations_with_replacement(range(box.size), d)]
    u = rng.uniform(-1.0, 1.0, (3 * products(box.size, most), box.size))
    columns = np.column_stack([np.ones(len(u)), u, *(u[:, power].prod(axis=1) for power in powers)])
    found = np.linalg.lstsq(columns, box.at(function, u), rcond=None)[0]
    shift, linear, rest = found[0], found[1 : 1 + box.size], found[1 + box.size :]
    kept = np.abs(rest).max(axis=1, initial=0.0) > 1e-10 * max(np.abs(found).max(initial=0.0), 1e-300)
    chosen = [power for power, k in zip(powers, kept, strict=True) if k]

    def made(value: Value) -> Value:
        u = box.scaled(value)
        flat = affine(u, linear, np.zeros(len(shift)))
        return Sum(affine(monomials(u, chosen), rest[kept], shift), flat) if chosen else affine(u, linear, shift)

    return made


def monomials(value: Value, powers: list[tuple[int, ...]]) -> Value:
    """Return products of a value's entries: `powers` names the entries of each."""
    factors: list[Value] = []
    for place in range(max(map(len, powers))):
        matrix, shift = np.zeros((value.size, len(powers))), np.zeros(len(powers))
        for column, power in enumerate(powers):
            if place < len(power):
                matrix[power[place], column] = 1.0
            else:
                shift[column] = 1.0
        factors.append(affine(value, matrix, shift))
    return product(factors)


def product(factors: list[Value]) -> Value:
    """Return the product of values, as flat as it can be."""
    while len(factors) > 1:
        pairs: list[Value] = [Product(a, b) for a, b in zip(factors[::2], factors[1::2], strict=False)]
        factors = pairs + factors[len(factors) - len(factors) % 2 :]
    return factors[0]


def power(value: Value, exponent: int, layer: str = "") -> Value:
    """Return a value to a power of at least 1, by squares; the value's own square has the name of a layer."""
    if exponent == 1:
        return value
    half = power(value, exponent // 2, layer)
    square = Product(half, half, layer if half is value else "")
    return Product(square, value) if exponent % 2 else square
