# SPDX-License-Identifier: Apache-2.0
"""numpy's functions of linear algebra and signals, made of products, sums and selections of a tensor's elements."""

from __future__ import annotations

import operator
import string
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.lib.stride_tricks import sliding_window_view

from ringsmith.errors import KernelError
from ringsmith.frontend.refusals import Refusing
from ringsmith.frontend.tensor import Tensor, as_tensor, joined, matmul, together, viewed
from ringsmith.location import here


def product(tensor: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    """Return numpy.prod by a tree: as many levels of multiplication as its count of elements has binary digits."""
    rest = [one for one in range(tensor.ndim) if one not in axes]
    shape = tuple(tensor.shape[one] for one in rest)
    left = viewed(tensor, lambda e: np.transpose(e, (*axes, *rest)).reshape(-1, *shape))
    while len(left) > 1:
        half = len(left) // 2
        paired = left[:half] * left[half : 2 * half]
        left = paired if len(left) % 2 == 0 else joined((paired, left[2 * half :]), np.concatenate)
    result: Tensor = left[0]
    kept = tuple(1 if one in axes else extent for one, extent in enumerate(tensor.shape))
    return result.reshape(kept).copy() if keepdims else result


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return numpy.trace."""
    return as_tensor(a, here()).diagonal(offset, axis1, axis2).sum(axis=-1)


def triangle(function: Any) -> Any:
    """Return numpy.tril or numpy.triu: elements beyond the diagonal are zeros, which take no product."""

    def compute(m: Any, k: int = 0) -> Tensor:
        tensor = as_tensor(m, here())
        shape = (tensor.shape * 2)[-2:] if tensor.ndim == 1 else tensor.shape
        mask = function(np.ones(shape[-2:], dtype=bool), k)
        return joined((tensor, 0), lambda numbered: np.where(mask, *numbered))

    return compute


def kronecker(a: Any, b: Any) -> Tensor:
    """Return numpy.kron."""
    x, y = together((a, b), here())
    axes = max(x.ndim, y.ndim)
    rows, columns = ((1,) * (axes - one.ndim) + one.shape for one in (x, y))
    left = x.reshape(tuple(extent for own in rows for extent in (own, 1)))
    right = y.reshape(tuple(extent for own in columns for extent in (1, own)))
    return (left * right).reshape(tuple(r * c for r, c in zip(rows, columns, strict=True))).copy()


def _windows(a: Any, v: Any, mode: str) -> tuple[Any, Tensor]:
    """Return the windows of the longer of two vectors, a row each, and the shorter one."""
    if mode not in ("full", "same", "valid"):
        raise KernelError(f"mode={mode!r}: full, same or valid", here())
    x, y = together((a, v), here())
    if x.ndim > 1 or y.ndim > 1:
        raise ValueError(f"one axis is needed; the arrays have {x.ndim} and {y.ndim}")
    long, short = x.reshape(-1), y.reshape(-1)
    ahead = {"full": len(short) - 1, "same": len(short) // 2, "valid": 0}[mode]
    behind = {"full": len(short) - 1, "same": len(short) - 1 - len(short) // 2, "valid": 0}[mode]
    zeros = [[0] * ahead, [0] * behind]
    padded = joined((zeros[0], long, zeros[1]), np.concatenate) if ahead or behind else long
    return viewed(padded, lambda e: sliding_window_view(e, len(short))), short


def convolve(a: Any, v: Any, mode: str = "full") -> Tensor:
    """Return numpy.convolve: a product of the windows of the longer vector with the shorter one, reversed."""
    x, y = together((a, v), here())
    long, short = (x, y) if x.size >= y.size else (y, x)
    windows, kernel = _windows(long, short, mode)
    return matmul(windows, kernel[::-1])


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """Return numpy.correlate, which turns the result round where the second vector is the longer one."""
    x, y = together((a, v), here())
    if not x.ndim or not y.ndim:
        raise ValueError("two vectors are needed; a single number is none")
    return convolve(x, y.reshape(-1)[::-1], mode) if x.size >= y.size else correlate(y, x, mode)[::-1]


def vecdot(x1: Any, x2: Any, axis: Any = -1) -> Any:
    """Return numpy.vecdot: inner products along an axis, of the conjugate of the first."""
    x, y = (as_traced(one) for one in (x1, x2))
    if not x.ndim or not y.ndim or x.shape[axis] != y.shape[axis]:
        raise ValueError(f"vectors of one length are needed along axis {axis}; the shapes are {x.shape} and {y.shape}")
    left, right = (one if axis in (-1, one.ndim - 1) else np.moveaxis(one, axis, -1) for one in (x, y))
    if left.ndim == right.ndim == 1:
        return left.conj() @ right
    return (left.conj() * right).sum(axis=-1)


def matvec(x1: Any, x2: Any) -> Any:
    """Return numpy.matvec: stacks of matrices times stacks of vectors."""
    x, y = (as_traced(one) for one in (x1, x2))
    if x.ndim < 2 or not y.ndim:
        raise ValueError(f"a matrix and a vector are needed; the shapes are {x.shape} and {y.shape}")
    if y.ndim == 1:
        return x @ y
    return y @ np.matrix_transpose(x) if x.ndim == 2 else (x @ y.reshape(*y.shape, 1))[..., 0]


def vecmat(x1: Any, x2: Any) -> Any:
    """Return numpy.vecmat: conjugates of stacks of vectors times stacks of matrices."""
    x, y = (as_traced(one) for one in (x1, x2))
    if y.ndim < 2 or not x.ndim:
        raise ValueError(f"a vector and a matrix are needed; the shapes are {x.shape} and {y.shape}")
    if x.ndim == 1 or y.ndim == 2:
        return x.conj() @ y
    return (x.conj().reshape(*x.shape[:-1], 1, x.shape[-1]) @ y)[..., 0, :]


def as_traced(value: Any) -> Any:
    """Return a traced value as it is, and known numbers as an array."""
    return value if isinstance(value, Refusing) else np.asarray(value)


def average(a: Any, axis: Any = None, weights: Any = None, keepdims: Any = False) -> Any:
    """Return numpy.average for weights that are known while tracing."""
    tensor = as_tensor(a, here())
    if weights is None:
        return tensor.mean(axis=axis, keepdims=keepdims)
    known = np.asarray(weights)
    if known.shape != tensor.shape:
        if axis is None or known.shape != tuple(np.shape(np.broadcast_to(0, tensor.shape))[i] for i in _tuple(axis)):
            raise ValueError(f"weights of shape {known.shape} for a tensor of shape {tensor.shape}")
        axes = normalize_axis_tuple(axis, tensor.ndim)
        extents = [tensor.shape[one] if one in axes else 1 for one in range(tensor.ndim)]
        known = np.transpose(known, np.argsort(axes)).reshape(extents)
    share = known / np.broadcast_to(known, tensor.shape).sum(axis=axis, keepdims=True)
    return (tensor * share).sum(axis=axis, keepdims=keepdims)


def _tuple(axis: Any) -> tuple[int, ...]:
    return tuple(axis) if isinstance(axis, tuple) else (axis,)


def matrix_power(a: Any, n: int) -> Tensor:
    """Return numpy.linalg.matrix_power for exponents from 1 on, by squarings."""
    tensor, exponent = as_tensor(a, here()), operator.index(n)
    if tensor.ndim < 2 or tensor.shape[-1] != tensor.shape[-2]:
        raise ValueError(f"square matrices are needed, not shape {tensor.shape}")
    if exponent < 1:
        raise KernelError(f"n={exponent}: from 1 on; an inverse of encrypted matrices has no bound", here())
    result: Tensor | None = None
    while exponent:
        if exponent & 1:
            result = tensor if result is None else matmul(result, tensor)
        exponent >>= 1
        tensor = matmul(tensor, tensor) if exponent else tensor
    assert result is not None
    return result


# ------------------------------------------------------------------------------------------------ einsum


def einsum(subscripts: Any, *operands: Any) -> Tensor:
    """Return numpy.einsum of letters without an ellipsis: products of matrices two by two, from the left."""
    if not isinstance(subscripts, str) or "." in subscripts:
        raise KernelError("einsum takes its subscripts as one string of letters, without an ellipsis", here())
    text = subscripts.replace(" ", "")
    given, arrow, result = text.partition("->")
    names = given.split(",")
    if not arrow:
        result = "".join(sorted(one for one in set(given) - {","} if given.count(one) == 1))
    _check(names, result, operands)
    parts = [_own(part, name) for part, name in zip(together(operands, here()), names, strict=True)]
    left, own = parts[0]
    for number, (right, other) in enumerate(parts[1:], start=2):
        later = set(result).union(*(name for _, name in parts[number:]))
        left, own = _pair(left, own, right, other, later)
    left, own = _summed(left, own, set(result))
    ordered: Tensor = viewed(left, lambda e: np.transpose(e, [own.index(one) for one in result]))
    return ordered


def _check(names: Sequence[str], result: str, operands: Sequence[Any]) -> None:
    if len(names) != len(operands):
        raise ValueError(f"{len(names)} subscripts for {len(operands)} operands")
    letters = set("".join(names))
    if not letters <= set(string.ascii_letters) or not set(result) <= letters or len(set(result)) < len(result):
        raise ValueError("subscripts are letters; those of the result stand in an operand, each once")
    extents: dict[str, int] = {}
    for name, operand in zip(names, operands, strict=True):
        if len(name) != np.ndim(operand):
            raise ValueError(f"{name!r} has {len(name)} letters, its operand {np.ndim(operand)} axes")
        for one, extent in zip(name, np.shape(operand), strict=True):
            if extents.setdefault(one, extent) != extent:
                raise ValueError(f"{one!r} is {extents[one]} and {extent} long")


def _own(part: Tensor, name: str) -> tuple[Tensor, str]:
    """Return the diagonal of letters that one operand has more than once."""
    for one in name:
        while name.count(one) > 1:
            first, second = name.index(one), name.rindex(one)
            part = part.diagonal(0, first, second)
            name = "".join(other for place, other in enumerate(name) if place not in (first, second)) + one
    return part, name


def _summed(part: Tensor, name: str, kept: set[str]) -> tuple[Tensor, str]:
    """Return a part summed over the letters that nothing else has."""
    axes = tuple(place for place, one in enumerate(name) if one not in kept)
    return (part.sum(axis=axes) if axes else part), "".join(one for one in name if one in kept)


def _pair(left: Tensor, own: str, right: Tensor, other: str, later: set[str]) -> tuple[Tensor, str]:
    """Return the product of two parts, summed over what they share and nothing later needs."""
    left, own = _summed(left, own, later | set(other))
    right, other = _summed(right, other, later | set(own))
    both = [one for one in own if one in other]
    batch, inner = [one for one in both if one in later], [one for one in both if one not in later]
    rows, columns = [one for one in own if one not in both], [one for one in other if one not in both]
    x = _blocks(left, own, (batch, rows, inner))
    y = _blocks(right, other, (batch, inner, columns))
    extents = dict(zip(own + other, left.shape + right.shape, strict=True))
    product = matmul(x, y) if inner else x * y
    name = "".join((*batch, *rows, *columns))
    return product.reshape(tuple(extents[one] for one in name)), name


def _blocks(part: Tensor, name: str, groups: Sequence[Sequence[str]]) -> Tensor:
    """Return a part with its batch axes, then two axes: each of the other two groups merged into one."""
    extents = dict(zip(name, part.shape, strict=True))
    batch, first, second = ([extents[one] for one in group] for group in groups)
    order = [name.index(one) for group in groups for one in group]
    shape = (*batch, int(np.prod(first)), int(np.prod(second)))
    merged: Tensor = viewed(part, lambda e: np.transpose(e, order).reshape(shape))
    return merged
