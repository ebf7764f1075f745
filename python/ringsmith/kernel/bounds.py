# SPDX-License-Identifier: Apache-2.0
"""Interval arithmetic on tensors: bounds of a result from bounds of its operands, element by element."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ringsmith.kernel.graph import Reals

Interval = tuple[Reals, Reals]

# Pieces an interval is cut into before a polynomial is bounded on each; Horner's rule overestimates on wide ones.
_PIECES = 256


def multiply(a: Interval, b: Interval) -> Interval:
    """Bound a product of independent values."""
    corners = np.stack(np.broadcast_arrays(a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]))
    return corners.min(axis=0), corners.max(axis=0)


def power(a: Interval, exponent: int) -> Interval:
    """Bound an integer power; an even one is never negative."""
    low, high = a[0] ** exponent, a[1] ** exponent
    if exponent % 2 == 1:
        return low, high
    straddles = (a[0] < 0) & (a[1] > 0)
    return np.where(straddles, 0.0, np.minimum(low, high)), np.maximum(low, high)


def matmul(a: Interval, b: Interval) -> Interval:
    """Bound a matrix product by midpoint and radius: |c - ma mb| <= |ma| rb + ra |mb| + ra rb."""
    middle_a, radius_a = (a[0] + a[1]) / 2, (a[1] - a[0]) / 2
    middle_b, radius_b = (b[0] + b[1]) / 2, (b[1] - b[0]) / 2
    middle = middle_a @ middle_b
    radius = np.abs(middle_a) @ radius_b + radius_a @ np.abs(middle_b) + radius_a @ radius_b
    return np.asarray(middle - radius), np.asarray(middle + radius)


def polynomial(a: Interval, coefficients: Sequence[float]) -> Interval:
    """Bound a polynomial (coefficients low first) on each element's interval, cut into pieces."""
    cuts = np.linspace(0.0, 1.0, _PIECES + 1).reshape((-1,) + (1,) * a[0].ndim)
    edges = a[0] + cuts * (a[1] - a[0])
    left, right = edges[:-1], edges[1:]
    low = np.full_like(left, coefficients[-1])
    high = low.copy()
    for coefficient in reversed(coefficients[:-1]):
        low, high = multiply((low, high), (left, right))
        low, high = low + coefficient, high + coefficient
    return low.min(axis=0), high.max(axis=0)
