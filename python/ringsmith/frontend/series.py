# SPDX-License-Identifier: Apache-2.0
"""Functions as Chebyshev series: least squares at Chebyshev nodes, and the error that they leave."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebinterpolate, chebval
from numpy.typing import NDArray

from ringsmith.errors import InputError

Array = NDArray[np.float64]
Function = Callable[[Any], Any]

#: The largest degree: ten levels.
MOST_DEGREE = 1023
#: Nodes of the fit: truncating the series through them is the least-squares polynomial at them (their T_k are
#: orthogonal), for every degree at once.
_NODES = 2048
#: Points on which an error is measured.
_POINTS = 8 * _NODES + 1


class Series:
    """A function on an interval, to be cut at any degree."""

    def __init__(self, function: Function, low: float, high: float, name: str) -> None:
        """Sample `function` on [low, high]."""
        self.function, self.low, self.high, self.name = function, low, high, name

    def x(self, u: Array) -> Array:
        """Return the points of the interval for points of [-1, 1]."""
        # The ends themselves, and nothing beyond them by rounding: the function may be undefined there.
        return np.clip((self.low + self.high) / 2 + (self.high - self.low) / 2 * u, self.low, self.high)

    def sampled(self, u: Array) -> Array:
        """Return the function's values at points of [-1, 1]."""
        points = self.x(np.asarray(u))
        with np.errstate(all="ignore"):
            values = np.asarray(self.function(points))
        if values.shape != points.shape:
            raise InputError(
                f"approximate: {self.name} gives shape {values.shape} for points of shape {points.shape}; "
                "it has to work element by element (np.vectorize makes a function do so)"
            )
        if values.dtype.kind not in "biuf":
            raise InputError(f"approximate: {self.name} gives {values.dtype} values; real numbers are needed")
        bad = ~np.isfinite(values)
        if bad.any():
            raise InputError(
                f"approximate: {self.name} is {values[bad][0]} at {points[bad][0]:g}; "
                "take an interval on which it is finite"
            )
        return values.astype(np.float64)

    @cached_property
    def coefficients(self) -> Array:
        """The series through all nodes."""
        return np.asarray(chebinterpolate(self.sampled, _NODES - 1))  # type: ignore[type-var]

    @cached_property
    def _measured(self) -> tuple[Array, Array]:
        u = np.cos(np.linspace(0.0, np.pi, _POINTS))
        return u, self.sampled(u)

    def error(self, degree: int) -> float:
        """Return the largest deviation of the series cut at a degree, on many points of the interval."""
        u, values = self._measured
        return float(np.abs(chebval(u, self.coefficients[: degree + 1]) - values).max())

    def least_degree(self, error: float) -> int:
        """Return the least degree that the error is reached with; refuse one that no degree reaches."""
        least, most = 1, 1
        while self.error(most) > error:
            if most == MOST_DEGREE:
                raise InputError(
                    f"approximate: {self.name} on [{self.low:g}, {self.high:g}] has error {self.error(most):.3g} with "
                    f"degree {most}, the largest, {error:g} is wanted; take a shorter interval or a larger error"
                )
            least, most = most + 1, min(2 * most + 1, MOST_DEGREE)
        while least < most:
            middle = (least + most) // 2
            least, most = (least, middle) if self.error(middle) <= error else (middle + 1, most)
        return most
