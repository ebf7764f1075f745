# SPDX-License-Identifier: Apache-2.0
"""numpy's functions that are sums, differences and paddings of a tensor's elements, made of ringsmith's operations."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ringsmith.errors import KernelError
from ringsmith.frontend.tensor import NUMPY, Tensor, as_tensor, joined, matmul, viewed, within
from ringsmith.location import here
from ringsmith.scalars import is_number

#: Sums up to each of more elements than this are made row by row.
_MOST_AT_ONCE = 256
#: Part of its middle by which values of a range may be further from that than half its extent.
_ROUNDING = 2.0**-50
#: Modes of numpy.pad that only repeat elements.
_REPEATING = ("edge", "reflect", "symmetric", "wrap")


def variance(tensor: Tensor, axes: tuple[int, ...], total: Any, ddof: Any, keepdims: bool) -> Any:
    """Return sum x^2 / (count - ddof) - sum(x)^2 / (count (count - ddof)) in two levels, of x with its range around 0.

    Each sum is divided before it is multiplied, so that nothing grows with the count. `total(x, axes, keepdims)` sums.
    """
    if not is_number(ddof):
        raise KernelError("ddof= is a number known while tracing", here())
    count = math.prod(tensor.shape[axis] for axis in axes)
    if count <= ddof:
        raise KernelError(f"ddof={ddof} leaves nothing of {count} elements; a smaller one is needed", here())
    tensor = around_zero(tensor)
    if tensor.node.exact:
        return _exact_variance(tensor, count, axes, total, ddof, keepdims)
    freedom = count - float(ddof)
    squares = total(tensor * tensor, axes, keepdims) * (1.0 / freedom)
    mean = total(tensor, axes, keepdims) * (1.0 / math.sqrt(count * freedom))
    result: Tensor = squares - mean * mean
    return result


def around_zero(tensor: Tensor, axis: int | None = None) -> Tensor:
    """Return a tensor less the middle of its range (along an axis), where one is far from 0: spreads are the same, of
    less."""
    low, high = tensor.node.low.min(axis=axis, keepdims=True), tensor.node.high.max(axis=axis, keepdims=True)
    if tensor.node.exact:
        low, high = low.astype(object), high.astype(object)
    middle = (low + high) // 2 if tensor.node.exact else (low + high) / 2
    if not (abs(middle) > high - low).any():
        return tensor
    moved = tensor - middle
    # The engine knows magnitudes, not ranges: it is told what follows from the range, and the rounding of floats.
    return moved if tensor.node.exact else within(moved, float(((high - low) / 2 + _ROUNDING * abs(middle)).max()))


def _exact_variance(tensor: Tensor, count: int, axes: tuple[int, ...], total: Any, ddof: Any, keepdims: bool) -> Any:
    """Return (count sum(x^2) - sum(x)^2) / (count (count - ddof)): an exact integer and its divisor."""
    if ddof != int(ddof):
        raise KernelError(f"ddof={ddof}: a whole number in BFV, whose divisors are integers", here())
    sums = total(tensor, axes, keepdims)
    return NUMPY["quotient"](total(tensor * tensor, axes, keepdims) * count - sums * sums, count * (count - int(ddof)))


def cumulative_sum(a: Any, axis: Any = None) -> Tensor:
    """Return numpy.cumsum: a product with the matrix whose entries are 1 on and above the diagonal, one level."""
    tensor = as_tensor(a, here())
    if axis is None:
        tensor, axis = tensor.reshape(-1), 0
    axis = operator.index(axis)
    if not -tensor.ndim <= axis < tensor.ndim:
        raise KernelError(
            f"axis {axis} of a tensor with {tensor.ndim} axes; from {-tensor.ndim} to {tensor.ndim - 1}", here()
        )
    if tensor.ndim == 1 and tensor.size > _MOST_AT_ONCE:
        return _sums_by_rows(tensor)
    moved = viewed(tensor, lambda elements: np.moveaxis(elements, axis, -1))
    sums = matmul(moved.reshape(-1, moved.shape[-1]), np.triu(np.ones((moved.shape[-1],) * 2, dtype=np.int64)))
    return sums.reshape(moved.shape)._viewed(lambda elements: np.moveaxis(elements, -1, axis)).copy()


def _sums_by_rows(flat: Tensor) -> Tensor:
    """Return the sums up to each element of a vector, as a table: inside its row, and of the rows before.

    Its matrices are as large as the axes, not as their product. Rows of a power of two stand as the vector does.
    """
    columns = 1 << ((flat.size - 1).bit_length() + 1) // 2
    rows = -(-flat.size // columns)
    table = padded(flat, (0, rows * columns - flat.size)).reshape(rows, columns)
    inside = matmul(table, np.triu(np.ones((columns, columns), dtype=np.int64)))
    above = matmul(np.tril(np.ones((rows, rows), dtype=np.int64), -1), table)
    return (inside + matmul(above, np.ones((columns, columns), dtype=np.int64))).reshape(-1)[: flat.size].copy()


def difference(a: Any, n: Any = 1, axis: Any = -1) -> Tensor:
    """Return numpy.diff."""
    tensor, times = as_tensor(a, here()), operator.index(n)
    if times < 0:
        raise KernelError(f"diff: n={times} is negative; at least 0 differences can be taken", here())
    if tensor.ndim == 0:
        raise KernelError("diff needs at least one axis; a tensor with 0 axes has no neighbours", here())
    for _ in range(times):
        later = viewed(tensor, lambda x: np.take(x, range(1, x.shape[axis]), axis=axis))
        tensor = later - viewed(tensor, lambda x: np.take(x, range(x.shape[axis] - 1), axis=axis))
    return tensor.copy() if times == 0 else tensor


def padded(array: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = None) -> Tensor:
    """Return numpy.pad in the modes that repeat elements or take one constant."""
    tensor = as_tensor(array, here())
    if mode == "constant":
        if constant_values is not None and np.ndim(constant_values):
            raise KernelError("constant_values= is one number here; pad side by side for several", here())
        return joined(
            (tensor, 0 if constant_values is None else constant_values),
            lambda numbered: np.pad(numbered[0], pad_width, constant_values=int(numbered[1])),
        )
    if mode not in _REPEATING:
        raise KernelError(f"mode={mode!r} is not supported in kernels; constant, {', '.join(_REPEATING)} are", here())
    if constant_values is not None:
        raise KernelError(f"constant_values= goes with mode='constant', not with {mode!r}; leave it out", here())
    padded_view: Tensor = viewed(tensor, lambda elements: np.pad(elements, pad_width, mode=mode))
    return padded_view.copy()
