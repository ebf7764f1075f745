# SPDX-License-Identifier: Apache-2.0
"""Products of stacks of matrices (three axes and more) as numpy.matmul, numpy.dot and numpy.inner have them.

The graph knows products of vectors and matrices. A stack times one matrix is one product of all rows; a stack times a
stack is a product of each pair where an operand is plain, else all products of elements and one sum.
"""

from __future__ import annotations

import numpy as np

from ringsmith.errors import KernelError
from ringsmith.frontend.tensor import NUMPY, Tensor, joined, matmul, viewed
from ringsmith.ir.nodes import broadcast
from ringsmith.location import here

#: Most pairs of stacks with a plain operand that are multiplied pair by pair.
_MOST_PAIRS = 64


def stacked(a: Tensor, b: Tensor) -> Tensor:
    """Return numpy.matmul of tensors of which one has three axes or more."""
    if not (a.ndim and b.ndim) or a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise KernelError(
            f"matmul: shapes {a.shape} and {b.shape}; the last axis of the first and the last but one of the second "
            "need a common extent",
            here(),
        )
    if b.ndim <= 2:
        return matmul(a.reshape(-1, a.shape[-1]), b).reshape(a.shape[:-1] + b.shape[1:]).copy()
    if a.ndim <= 2:
        return _swapped(stacked(_swapped(b), a.T if a.ndim == 2 else a), axes=a.ndim)
    outer = broadcast("matmul", a.shape[:-2], b.shape[:-2], here())
    a, b = (viewed(x, lambda e: np.broadcast_to(e, outer + e.shape[-2:])) for x in (a, b))
    if (a.node.encrypted and b.node.encrypted) or int(np.prod(outer)) > _MOST_PAIRS:
        return (a.reshape(*a.shape, 1) * b.reshape(*outer, 1, *b.shape[-2:])).sum(axis=-2)
    left, right = (x.reshape(-1, *x.shape[-2:]) for x in (a, b))
    pairs = [matmul(left[i], right[i]) for i in range(len(left))]
    return joined(pairs, np.stack).reshape(*outer, a.shape[-2], b.shape[-1]).copy()


def _swapped(tensor: Tensor, axes: int = 2) -> Tensor:
    """Return the tensor with its last two axes exchanged; as it is where the product had a vector (`axes` 1)."""
    result: Tensor = tensor if axes < 2 else viewed(tensor, lambda e: np.swapaxes(e, -1, -2))
    return result


def dot(a: Tensor, b: Tensor) -> Tensor:
    """Return numpy.dot: the last axis of `a` with the last but one of `b`, for all pairs of the other indices."""
    if max(a.ndim, b.ndim) <= 2:
        return matmul(a, b)
    _common(a, b, "dot", -2 if b.ndim > 1 else 0)
    columns = viewed(b, lambda e: np.moveaxis(e, -2, 0).reshape(a.shape[-1], -1)) if b.ndim > 1 else b
    rest = b.shape[:-2] + b.shape[-1:] if b.ndim > 1 else ()
    return matmul(a.reshape(-1, a.shape[-1]), columns).reshape(a.shape[:-1] + rest).copy()


def inner(a: Tensor, b: Tensor) -> Tensor:
    """Return numpy.inner: the last axes of both, for all pairs of the other indices."""
    if max(a.ndim, b.ndim) <= 2:
        return matmul(a, b.T)
    _common(a, b, "inner", -1)
    product = matmul(a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1]).T)
    return product.reshape(a.shape[:-1] + b.shape[:-1]).copy()


def _common(a: Tensor, b: Tensor, name: str, axis: int) -> None:
    """Refuse operands whose contracted axes have different extents."""
    if a.shape[-1] != b.shape[axis]:
        raise KernelError(f"{name}: shapes {a.shape} and {b.shape} have no common extent to sum over", here())


NUMPY["stacked"] = stacked
