# SPDX-License-Identifier: Apache-2.0
"""Interval arithmetic on tensors: bounds of a result from bounds of its operands, element by element.

Bounds of reals are float64; bounds of integers (BFV) are exact, int64 or Python's own. Integers beyond `CAP` count as
unbounded: then both ends are set there, so that differences of two such values stay unbounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebval

from ringsmith.ir.graph import Reals, Shape
from ringsmith.ir.numbers import INT64_LIMIT, exact, magnitude, narrowed

Interval = tuple[Reals, Reals]

# Pieces an interval is cut into before a polynomial is bounded on each; Horner's rule overestimates on wide ones.
_PIECES = 256
_CAP_BITS = 4096
#: Far beyond every plaintext modulus.
CAP = 1 << _CAP_BITS


def _computed(most: Any, function: Callable[..., tuple[Any, Any]], *intervals: Interval) -> Interval:
    """Apply a function of intervals whose values stay below `most`, in a type that holds them."""
    if not exact(intervals[0][0]):
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = function(*intervals)
        return _known(low, -math.inf), _known(high, math.inf)
    kind = np.dtype(np.int64 if max(most, *map(_most, intervals)) < INT64_LIMIT else object)
    low, high = function(*((low.astype(kind), high.astype(kind)) for low, high in intervals))
    return _settled(np.asarray(low, dtype=kind), np.asarray(high, dtype=kind))


def _known(end: Any, otherwise: float) -> Reals:
    """Return ends of intervals of reals: beyond the range of doubles an end may be no number, and there is none."""
    ends = np.asarray(end, dtype=np.float64)
    return np.where(np.isnan(ends), otherwise, ends) if np.isnan(ends).any() else ends


def _settled(low: Reals, high: Reals) -> Interval:
    """Return exact bounds in int64 if they fit, cut at the cap."""
    if low.dtype != object:
        return low, high
    if max(magnitude(low), magnitude(high)) > CAP:
        beyond = (low < -CAP) | (high > CAP)
        low, high = np.where(beyond, -CAP, low), np.where(beyond, CAP, high)
    narrow = narrowed(np.stack([low, high]))
    return np.asarray(narrow[0], dtype=narrow.dtype), np.asarray(narrow[1], dtype=narrow.dtype)


def _most(a: Interval) -> Any:
    return max(magnitude(a[0]), magnitude(a[1]))


def add(a: Interval, b: Interval) -> Interval:
    """Bound a sum."""
    return _computed(_most(a) + _most(b), lambda a, b: (a[0] + b[0], a[1] + b[1]), a, b)


def subtract(a: Interval, b: Interval) -> Interval:
    """Bound a difference of independent values."""
    return add(a, negate(b))


def negate(a: Interval) -> Interval:
    """Bound the negative."""
    return np.asarray(-a[1], dtype=a[1].dtype), np.asarray(-a[0], dtype=a[0].dtype)


def total(a: Interval, axis: int | None) -> Interval:
    """Bound a sum along an axis, or over everything."""
    return _computed(_most(a) * a[0].size, lambda a: (a[0].sum(axis=axis), a[1].sum(axis=axis)), a)


def multiply(a: Interval, b: Interval) -> Interval:
    """Bound a product of independent values."""
    return _computed(_most(a) * _most(b), _corners, a, b)


def _corners(a: Interval, b: Interval) -> tuple[Any, Any]:
    corners = np.stack([np.asarray(x * y, dtype=x.dtype) for x in a for y in b])
    return corners.min(axis=0), corners.max(axis=0)


def power(a: Interval, exponent: int) -> Interval:
    """Bound an integer power; an even one is never negative."""
    if exact(a[0]) and _most(a).bit_length() * exponent > 2 * _CAP_BITS:
        return _huge_power(a, exponent)
    # Only exact values need to know how large they get.
    return _computed(_most(a) ** exponent if exact(a[0]) else 0, lambda a: _powers(a, exponent), a)


def _powers(a: Interval, exponent: int) -> tuple[Any, Any]:
    kind = a[0].dtype
    low, high = np.asarray(a[0] ** exponent, dtype=kind), np.asarray(a[1] ** exponent, dtype=kind)
    if exponent % 2 == 1:
        return low, high
    straddles = (a[0] < 0) & (a[1] > 0)
    least = np.asarray(np.minimum(low, high), dtype=kind)
    return np.where(straddles, np.zeros((), dtype=kind), least), np.maximum(low, high)


def _huge_power(a: Interval, exponent: int) -> Interval:
    """Bound a power too large to write down: elements in -1..1 stay there, all others are unbounded."""
    small = (a[0] >= -1) & (a[1] <= 1)
    low, high = power((np.where(small, a[0], 0), np.where(small, a[1], 0)), 2 - exponent % 2)
    cap = np.asarray(CAP, dtype=object)
    return _settled(np.where(small, low.astype(object), -cap), np.where(small, high.astype(object), cap))


def matmul(a: Interval, b: Interval) -> Interval:
    """Bound a matrix product by midpoint m and radius r, both doubled: |c - ma mb| <= |ma| rb + ra |mb| + ra rb."""
    return _computed(16 * a[0].shape[-1] * _most(a) * _most(b), _matmul, a, b)


def _matmul(a: Interval, b: Interval) -> tuple[Any, Any]:
    middle_a, radius_a = a[0] + a[1], a[1] - a[0]
    middle_b, radius_b = b[0] + b[1], b[1] - b[0]
    middle = middle_a @ middle_b
    radius = np.abs(middle_a) @ radius_b + radius_a @ np.abs(middle_b) + radius_a @ radius_b
    if exact(a[0]):
        return -((radius - middle) // 4), (middle + radius) // 4
    return (middle - radius) / 4, (middle + radius) / 4


def linear(x: Interval, weights: Interval, entries: Mapping[str, Any], shape: Shape) -> Interval:
    """Bound a linear map by its entries: each product by its corners, then the sums."""
    picks, columns = entries["picks"], entries["columns"]
    corners = [w[picks] * end.reshape(-1)[columns] for w in weights for end in x]
    count = math.prod(shape)
    ends = (np.minimum.reduce(corners), np.maximum.reduce(corners)) if len(picks) else (np.zeros(0), np.zeros(0))
    low, high = (np.bincount(entries["rows"], weights=end, minlength=count).reshape(shape) for end in ends)
    return low, high


def polynomial(a: Interval, coefficients: Sequence[Any]) -> Interval:
    """Bound a polynomial (coefficients low first) on each element's interval, cut into pieces."""
    shape = a[0].shape
    if all((end == end.flat[0]).all() for end in a):
        a = (a[0].reshape(-1)[:1].reshape(()), a[1].reshape(-1)[:1].reshape(()))
    edges = _edges(a)
    pieces = (edges[:-1], edges[1:])
    kind = object if exact(a[0]) else np.float64
    last = np.full(pieces[0].shape, coefficients[-1], dtype=kind)
    result: Interval = (last, last)
    for coefficient in reversed(coefficients[:-1]):
        constant = np.asarray(coefficient, dtype=kind)
        result = add(multiply(result, pieces), (constant, constant))
    ends = (result[0].min(axis=0), result[1].max(axis=0))
    low, high = (np.broadcast_to(np.asarray(end, dtype=result[0].dtype), shape) for end in ends)
    return low, high


def chebyshev(coefficients: Sequence[float]) -> tuple[float, float]:
    """Bound sum_k c_k T_k on [-1, 1]: a polynomial of degree d is at most max / cos(d pi / 2 N) between N > d Chebyshev
    points (Ehlich and Zeller, 1964)."""
    degree = len(coefficients) - 1
    count = 64 * degree
    values = chebval(np.cos((np.arange(count) + 0.5) * np.pi / count), np.asarray(coefficients, dtype=np.float64))
    low, high = float(values.min()), float(values.max())
    spread = (high - low) / 2 / math.cos(degree * math.pi / (2 * count))
    # Rounding error of the sum in float64.
    slack = 1e-14 * float(np.abs(coefficients).sum()) * (degree + 1)
    return (low + high) / 2 - spread - slack, (low + high) / 2 + spread + slack


def _edges(a: Interval) -> Reals:
    """Return the ends of the pieces of each interval along a new first axis; integers lie between integers."""
    cuts = np.arange(_PIECES + 1).reshape((-1,) + (1,) * a[0].ndim)
    if not exact(a[0]):
        return np.asarray(a[0] + cuts / _PIECES * (a[1] - a[0]))
    low, width = a[0].astype(object), a[1].astype(object) - a[0].astype(object)
    return np.asarray(low + cuts.astype(object) * width // _PIECES, dtype=object)


def limit(a: Interval, bound: Any) -> Interval | None:
    """Return the part of an interval that lies in -bound..bound; None if an element has none."""
    most = np.asarray(bound, dtype=object if exact(a[0]) else np.float64)
    low = np.asarray(np.maximum(a[0], -most), dtype=most.dtype)
    high = np.asarray(np.minimum(a[1], most), dtype=most.dtype)
    return None if (low > high).any() else _settled(low, high)
