# SPDX-License-Identifier: Apache-2.0
"""Functions as Chebyshev series: least squares at Chebyshev nodes, and the error that they leave."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.polynomial.chebyshev import chebinterpolate, chebval
from numpy.typing import NDArray

from ringsmith.errors import InputError
from ringsmith.frontend.pointwise import Pointwise

Array = NDArray[np.float64]

#: The largest degree: ten levels.
MOST_DEGREE = 1023
#: Nodes of the fit: truncating the series through them is the least-squares polynomial at them (their T_k are
#: orthogonal), for every degree at once.
_NODES = 2048
#: Points on which an error is measured.
_POINTS = 8 * _NODES + 1


class Series:
    """A function on an interval, to be cut at any degree."""

    def __init__(self, function: Pointwise, low: float, high: float) -> None:
        """Sample `function` on [low, high]; InputError if it does not compute point by point."""
        self.function, self.low, self.high, self.name = function, low, high, function.name
        self.function.hold(*self._measured_at())

    def x(self, u: Array) -> Array:
        """Return the points of the interval for points of [-1, 1]."""
        # The ends themselves, and nothing beyond them by rounding: the function may be undefined there.
        return np.clip((self.low + self.high) / 2 + (self.high - self.low) / 2 * u, self.low, self.high)

    def sampled(self, u: Array) -> Array:
        """Return the function's values at points of [-1, 1]."""
        return self.function(self.x(np.asarray(u)))

    @cached_property
    def coefficients(self) -> Array:
        """The series through all nodes."""
        return np.asarray(chebinterpolate(self.sampled, _NODES - 1))  # type: ignore[type-var]

    @cached_property
    def _measured(self) -> tuple[Array, Array]:
        u = np.cos(np.linspace(0.0, np.pi, _POINTS))
        return u, self.sampled(u)

    def _measured_at(self) -> tuple[Array, Array]:
        u, values = self._measured
        return self.x(u), values

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
