# SPDX-License-Identifier: Apache-2.0
"""numpy's Fourier transforms of one axis: products with numpy's own matrices, complex where the result is."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ringsmith.errors import KernelError
from ringsmith.frontend.refusals import Refusing
from ringsmith.frontend.remedies import INTEGERS, QUOTIENT
from ringsmith.location import here

#: Elements of a transform, at most: its matrix has as many rows.
_MOST = 4096


def transform(function: Any) -> Callable[..., Any]:
    """Return fft, ifft or rfft as a product with the transforms of unit vectors; one level."""

    def compute(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        count = _extent(a, axis) if n is None else operator.index(n)
        return _product(a, axis, count, lambda: function(np.eye(_checked(count)), axis=0, norm=norm).T)

    return compute


def back_to_reals(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """Return irfft: a product of the real and one of the imaginary parts."""
    count = 2 * (_extent(a, axis) - 1) if n is None else operator.index(n)
    taken = _checked(count) // 2 + 1
    real, imag = (np.fft.irfft(unit * np.eye(taken), count, axis=0, norm=norm).T for unit in (1, 1j))
    return _product(np.real(a), axis, taken, lambda: real) + _product(np.imag(a), axis, taken, lambda: imag)


def _extent(a: Any, axis: Any) -> int:
    if not a.ndim or not -a.ndim <= operator.index(axis) < a.ndim:
        raise IndexError(f"axis {axis} of a tensor with {a.ndim} axes")
    return int(a.shape[axis])


def _checked(count: int) -> int:
    if count < 1:
        raise ValueError(f"{count} elements; at least 1 is needed")
    if count > _MOST:
        raise KernelError(
            f"a transform of {count} elements; at most {_MOST}: its matrix has as many rows. A reshape to two axes and "
            "two smaller transforms with twiddle factors between them do the same",
            here(),
        )
    return count


def _product(a: Any, axis: Any, count: int, matrix: Callable[[], Any]) -> Any:
    """Return the first `count` elements along an axis, zeros beyond the last, times a matrix."""
    if isinstance(count, Refusing) or isinstance(axis, Refusing):
        raise KernelError("n= and axis= must be known while tracing", here())
    if a._numbers in (INTEGERS, QUOTIENT):
        raise KernelError(
            'a Fourier transform leaves the integers, on which BFV computes; make the kernel with scheme="ckks"', here()
        )
    _extent(a, axis)
    moved = np.moveaxis(a, axis, -1)
    taken = moved[..., : _checked(count)]
    if short := count - taken.shape[-1]:
        taken = np.pad(taken, [(0, 0)] * (taken.ndim - 1) + [(0, short)])
    return np.moveaxis(taken @ matrix(), -1, axis)
