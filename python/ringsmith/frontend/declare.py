# SPDX-License-Identifier: Apache-2.0
"""Declarations of a kernel's arguments and result: shape, value range and packing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError
from ringsmith.ir.numbers import complexes, integers, place_of, reals
from ringsmith.scalars import is_number, is_whole

#: A packing by name, or a function (array, slots) -> 2-D array of one row of slot values for each ciphertext.
Pack = str | Callable[[NDArray[Any], int], NDArray[Any]]
#: How a result is read, by name or as a function (2-D array of all slots of all ciphertexts) -> array.
Unpack = str | Callable[[NDArray[Any]], NDArray[Any]]

PACKINGS = ("auto", "rows", "columns", "transposed", "each")
#: Packings that manual kernels have names for.
FIXED_PACKINGS = ("rows", "columns", "each")


def _checked_shape(shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Return the extents as ints; refuse one that is not positive, and an open one anywhere but first."""
    if any(isinstance(extent, tuple | list) for extent in shape):
        raise InputError(f"shape {shape}: give the extents one by one, as in rs.Encrypted(4, 4, bound=1.0)")
    if None in shape[1:]:
        raise InputError(f"shape {shape}: only the first extent may be None (taken from the data)")
    for extent in shape:
        if extent is not None and not (is_whole(extent) and extent >= 1):
            raise InputError(f"shape {shape}: extents are positive integers")
    return tuple(None if extent is None else int(extent) for extent in shape)


def _finite(end: Any) -> int | float | None:
    """Return an end of a range: an integer exactly, another number as float, None if it is no finite number."""
    if is_whole(end):
        return int(end)
    return float(end) if is_number(end) else None


class Argument:
    """A declared argument: `shape` (None as first extent: taken from the data) and bounds `low`, `high` of a value."""

    encrypted = False

    def __init__(
        self,
        *shape: int | None,
        bound: float | None = None,
        low: float | None = None,
        high: float | None = None,
        packing: Pack = "auto",
        complex: bool = False,
    ) -> None:
        """Declare by `bound` (largest magnitude) or by `low` and `high`; one of the two is required.

        `complex` (CKKS): complex numbers, real and imaginary part each in the range.
        """
        self.shape = _checked_shape(shape)
        if bound is not None and not (low is None and high is None):
            raise InputError("give bound=B, or low=A and high=B, not both")
        high = _finite(high if bound is None else bound)
        low = -high if bound is not None and high is not None else _finite(low)
        if low is None or high is None or low > high:
            raise InputError("give each argument its value range: bound=B (|value| <= B) or low=A, high=B, both finite")
        if isinstance(packing, str) and packing not in PACKINGS:
            raise InputError(f"packing {packing!r}: one of {', '.join(PACKINGS)}, or a function (array, slots) -> rows")
        #: Integers are kept exactly.
        self.low: int | float = low
        self.high: int | float = high
        self.packing = packing
        self.complex = bool(complex)

    def __repr__(self) -> str:
        """Return the declaration."""
        extents = "".join(f"{extent}, " for extent in self.shape)
        packing = "" if self.packing == "auto" else f", packing={self.packing!r}"
        numbers = ", complex=True" if self.complex else ""
        return f"{type(self).__name__}({extents}low={self.low}, high={self.high}{packing}{numbers})"

    def range(self, name: str, *, exact: bool) -> NDArray[Any]:
        """Return [low, high] as float64, or as the exact integers between them."""
        if not exact:
            return reals([self.low, self.high], f"argument {name}")
        low, high = math.ceil(self.low), math.floor(self.high)
        if low > high:
            raise InputError(f"argument {name}: no integer lies in the declared {self._between()}")
        return integers([low, high], f"argument {name}")

    def real_part(self) -> Argument:
        """Return the declaration of each part of a complex argument."""
        return type(self)(*self.shape, low=self.low, high=self.high, packing=self.packing)

    def _between(self) -> str:
        return f"[{self.low:.15g}, {self.high:.15g}]" if isinstance(self.high, float) else f"[{self.low}, {self.high}]"

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

    def check(self, name: str, values: Any, *, exact: bool) -> NDArray[Any]:
        """Return the values as float64 (or exact integers, or complex128) after checking that each is finite and inside
        the bounds.

        Errors name the place and the bound, never a value that could be a secret: errors end in logs.
        """
        if self.complex:
            array = complexes(values, f"argument {name}")
            parts = zip(parts_of(name), (array.real, array.imag), strict=True)
            real, imag = (self.real_part().check(own, part, exact=exact) for own, part in parts)
            return np.asarray(real + 1j * imag)
        array = (integers if exact else reals)(values, f"argument {name}")
        low, high = self.range(name, exact=exact).tolist()
        outside = np.asarray((array < low) | (array > high), dtype=bool)
        if outside.any():
            raise InputError(
                f"argument {name}{place_of(outside)} is outside the declared "
                f"{self._between()}; widen the bounds in the kernel or scale the data"
            )
        return array


class Encrypted(Argument):
    """An argument the client encrypts, or the result of another kernel, which stays encrypted."""

    encrypted = True

    def __init__(
        self,
        *shape: int | None,
        bound: float | None = None,
        low: float | None = None,
        high: float | None = None,
        packing: Pack = "auto",
        complex: bool = False,
        of: Any = None,
    ) -> None:
        """Declare as `Argument`, or as the result `of` another kernel, whose shape and range it then has:
        `rs.compile([f, g])` compiles both."""
        #: The kernel whose result it is.
        self.of = of
        if of is None:
            super().__init__(*shape, bound=bound, low=low, high=high, packing=packing, complex=complex)
            return
        if not hasattr(of, "arguments") or not hasattr(of, "function"):
            raise InputError(f"of={of!r}: the kernel whose result this is, as rs.Encrypted(of=f)")
        if shape or complex or packing != "auto" or not (bound is None and low is None and high is None):
            raise InputError("rs.Encrypted(of=f) has the shape, range and layout of the result of f; give nothing else")
        super().__init__(low=0, high=0)

    def __repr__(self) -> str:
        """Return the declaration."""
        return super().__repr__() if self.of is None else f"Encrypted(of={self.of.name})"

    def fix(self, name: str, shape: tuple[int, ...] | None) -> tuple[int, ...]:
        """Return the shape; that of another kernel's result is known where values are."""
        if self.of is None:
            return super().fix(name, shape)
        if shape is None:
            raise InputError(self._unknown(name))
        return shape

    def range(self, name: str, *, exact: bool) -> NDArray[Any]:
        """Return [low, high]; that of another kernel's result is found when both are compiled together."""
        if self.of is None:
            return super().range(name, exact=exact)
        raise InputError(self._unknown(name))

    def check(self, name: str, values: Any, *, exact: bool) -> NDArray[Any]:
        """Return checked values; of another kernel's result any finite ones."""
        if self.of is None:
            return super().check(name, values, exact=exact)
        if not exact and np.iscomplexobj(values):
            return complexes(values, f"argument {name}")
        return (integers if exact else reals)(values, f"argument {name}")

    def around(self, values: NDArray[Any]) -> Encrypted:
        """Return the declaration; of another kernel's result one that these values fit."""
        if self.of is None:
            return self
        return Encrypted(*values.shape, low=values.min().item(), high=values.max().item())

    def _unknown(self, name: str) -> str:
        return (
            f"argument {name} is the result of {self.of.name}; compile both, rs.compile([{self.of.name}, ...]), and "
            f"hand the result over: server.evaluate(..., {name}=result)"
        )


class Plain(Argument):
    """An argument that the evaluating server sees in the clear."""


def parts_of(name: str) -> tuple[str, str]:
    """Return the names of a complex argument's parts in a program."""
    return f"{name}.real", f"{name}.imag"


def real_arguments(arguments: Mapping[str, Argument]) -> dict[str, Argument]:
    """Return the arguments as a program has them: a complex one as its two parts."""
    found: dict[str, Argument] = {}
    for name, argument in arguments.items():
        found |= dict.fromkeys(parts_of(name), argument.real_part()) if argument.complex else {name: argument}
    return found


class Output:
    """How the result of a manual kernel is read: its shape, and the packing or function that unpacks the slots."""

    def __init__(self, *shape: int, packing: Unpack = "rows") -> None:
        """Declare the result's shape and packing."""
        checked = _checked_shape(shape)
        if None in checked:
            raise InputError(f"shape {shape}: an output's extents are positive integers")
        if isinstance(packing, str) and packing not in FIXED_PACKINGS:
            raise InputError(f"packing {packing!r}: one of {', '.join(FIXED_PACKINGS)}, or a function (rows) -> array")
        self.shape = tuple(extent for extent in checked if extent is not None)
        self.packing = packing

    def __repr__(self) -> str:
        """Return the declaration."""
        return f"Output({', '.join(map(str, self.shape))}{', ' * bool(self.shape)}packing={self.packing!r})"
