# SPDX-License-Identifier: Apache-2.0
"""Declarations of a kernel's arguments and result: shape, value range and packing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError

#: A packing by name, or a function (array, slots) -> 2-D array of one row of slot values for each ciphertext.
Pack = str | Callable[[NDArray[Any], int], NDArray[Any]]
#: How a result is read, by name or as a function (2-D array of all slots of all ciphertexts) -> array.
Unpack = str | Callable[[NDArray[Any]], NDArray[Any]]

PACKINGS = ("rows", "columns", "each")


def _check_shape(shape: tuple[int | None, ...]) -> None:
    """Refuse an extent that is not positive, and an open extent anywhere but first."""
    for axis, extent in enumerate(shape):
        if extent is None:
            if axis:
                raise InputError(f"shape {shape}: only the first extent may be None (taken from the data)")
        elif extent < 1:
            raise InputError(f"shape {shape}: extents are positive integers")


class Argument:
    """A declared argument: `shape` (None as first extent: taken from the data) and bounds `low`, `high` of a value."""

    encrypted = False

    def __init__(
        self,
        *shape: int | None,
        bound: float | None = None,
        low: float | None = None,
        high: float | None = None,
        packing: Pack = "rows",
    ) -> None:
        """Declare by `bound` (largest magnitude) or by `low` and `high`; one of the two is required."""
        _check_shape(shape)
        if bound is not None:
            low, high = -bound, bound
        if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)) or low > high:
            raise InputError("give each argument its value range: bound=B (|value| <= B) or low=A, high=B, both finite")
        if isinstance(packing, str) and packing not in PACKINGS:
            raise InputError(f"packing {packing!r}: one of {', '.join(PACKINGS)}, or a function (array, slots) -> rows")
        self.shape = shape
        self.low = float(low)
        self.high = float(high)
        self.packing = packing

    def fix(self, name: str, shape: tuple[int, ...] | None) -> tuple[int, ...]:
        """Return the shape with an open first extent filled from `shape`."""
        if None not in self.shape:
            fixed = tuple(extent for extent in self.shape if extent is not None)
            if shape is not None and shape != fixed:
                raise InputError(f"argument {name} has shape {shape}, the kernel declares {fixed}")
            return fixed
        if shape is None:
            raise InputError(f"argument {name}: give its shape, the first extent is open ({self.shape})")
        if len(shape) != len(self.shape) or shape[1:] != self.shape[1:] or shape[0] < 1:
            wanted = ("any", *self.shape[1:])
            raise InputError(f"argument {name} has shape {shape}, the kernel declares ({', '.join(map(str, wanted))})")
        return shape

    def check(self, name: str, values: NDArray[Any], *, integers: bool) -> NDArray[Any]:
        """Return the values as float64 (or int64) after checking that each is finite and inside the bounds."""
        if values.dtype.kind not in "bifu":
            raise InputError(f"argument {name}: {values.dtype} values; real numbers are needed")
        bad = ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(values.shape, dtype=bool)
        if bad.any():
            raise InputError(f"argument {name}{_at(bad)} is {values[bad][0]}; every value must be finite")
        outside = (values < self.low) | (values > self.high)
        if outside.any():
            raise InputError(
                f"argument {name}{_at(outside)} is {values[outside][0]}, outside the declared "
                f"[{self.low:g}, {self.high:g}]; widen the bounds in the kernel or scale the data"
            )
        if not integers:
            return np.asarray(values, dtype=np.float64, order="C")
        fractional = values != np.floor(values)
        if fractional.any():
            raise InputError(f"argument {name}{_at(fractional)} is {values[fractional][0]}; BFV computes on integers")
        return np.asarray(values, dtype=np.int64, order="C")


class Encrypted(Argument):
    """An argument the client encrypts."""

    encrypted = True


class Plain(Argument):
    """An argument known in the clear to whoever evaluates the kernel."""


class Output:
    """How the result of a manual kernel is read: its shape, and the packing or function that unpacks the slots."""

    def __init__(self, *shape: int, packing: Unpack = "rows") -> None:
        """Declare the result's shape and packing."""
        _check_shape(shape)
        self.shape = shape
        self.packing = packing


def _at(mask: NDArray[np.bool_]) -> str:
    """Return `[row, column]` of the first set element."""
    return str([int(i) for i in np.argwhere(mask)[0]]) if mask.ndim else ""
