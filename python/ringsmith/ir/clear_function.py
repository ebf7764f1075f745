# SPDX-License-Identifier: Apache-2.0
"""A function that the client applies in the clear between two rounds of a program (`rs.refresh`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError
from ringsmith.ir.numbers import integers, place_of, reals

Array = NDArray[Any]


@dataclass(frozen=True)
class ClearFunction:
    """A function of arrays, with the shape and the range that its results are declared to have.

    Without a name it gives the values back as they are. Its identity is what is declared, not the Python object:
    programs are compiled from the former alone, and files have the former alone.
    """

    name: str
    shape: tuple[int, ...]
    low: Any
    high: Any
    exact: bool
    function: Callable[[Array], Any] | None = field(default=None, repr=False, compare=False)

    def __call__(self, values: Array, slack: float = 0.0) -> Array:
        """Apply it; a result that leaves the range by at most `slack` is cut to it.

        Raises:
            InputError: the result has another shape, is no array of such numbers, or leaves the range; or the function
                was left behind when its program was written to a file.
        """
        if self.name and self.function is None:
            raise InputError(f"the function {self.name} is not in the file: rounds.with_functions({self.name}=...)")
        # A function may write into what it gets.
        result = values if self.function is None else self.function(values.copy())
        what = f"the result of {self.name or 'rs.refresh'}"
        array = (integers if self.exact else reals)(result, what)
        if array.shape != self.shape:
            raise InputError(f"{what} has shape {array.shape}, the kernel was traced with {self.shape}")
        return cut(array, self.low, self.high, slack, what)


def cut(values: Array, low: Any, high: Any, slack: float, what: str) -> Array:
    """Return values that leave low..high by at most `slack` cut to it; InputError for others. Errors show no value."""
    outside = np.asarray((values < low - slack) | (values > high + slack), dtype=bool)
    if outside.any():
        raise InputError(
            f"{what}{place_of(outside)} is outside the declared [{low:.15g}, {high:.15g}]; widen it in rs.refresh"
        )
    return np.clip(values, low, high) if slack else values
