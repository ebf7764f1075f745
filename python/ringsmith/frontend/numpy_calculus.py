# SPDX-License-Identifier: Apache-2.0
"""numpy's polynomials and gradients of a tensor's elements, and the covariance of its rows."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.typing import NDArray

from ringsmith.errors import KernelError
from ringsmith.frontend.numpy_algebra import as_traced
from ringsmith.frontend.numpy_series import around_zero
from ringsmith.frontend.refusals import Refusing
from ringsmith.frontend.tensor import (
    NUMPY,
    Tensor,
    as_tensor,
    elementwise,
    joined,
    matmul,
    polynomial,
    together,
    viewed,
)
from ringsmith.ir.graph import Op
from ringsmith.location import here
from ringsmith.scalars import is_number

#: Elements along an axis that a derivative looks at, at most.
_NEIGHBOURS = 3


def polyval(p: Any, x: Any) -> Any:
    """Return numpy.polyval, the highest power first, in the fewest levels; encrypted coefficients take one product."""
    if isinstance(p, Refusing):
        return _encrypted_coefficients(p, x)
    coefficients = np.asarray(p)
    if coefficients.ndim != 1:
        raise KernelError(f"polyval: the coefficients have {coefficients.ndim} axes; one is needed", here())
    ascending = coefficients[::-1].tolist() or [0]
    return polynomial(x, ascending) if isinstance(x, Tensor) else x.polynomial(ascending)


def _encrypted_coefficients(p: Any, x: Any) -> Any:
    """Return the sum of p[i] x^(degree - i)."""
    if p.ndim != 1:
        raise KernelError(f"polyval: the coefficients have {p.ndim} axes; one is needed", here())
    degree, known = len(p) - 1, as_traced(x)
    if isinstance(known, Refusing):
        traced: Any = known
        return sum((p[i] * traced ** (degree - i) for i in range(degree)), p[degree] + 0 * traced)
    return (np.vander(known.reshape(-1), degree + 1) @ p).reshape(known.shape)


# ------------------------------------------------------------------------------------------------ gradients


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Return numpy.gradient: each element by its neighbours along an axis, weighted as numpy weights them."""
    tensor = as_tensor(f, here())
    axes = tuple(range(tensor.ndim)) if axis is None else normalize_axis_tuple(axis, tensor.ndim)
    if len(varargs) not in (0, 1, len(axes)) or (len(varargs) == 1 != len(axes) and np.ndim(varargs[0])):
        raise TypeError(f"{len(varargs)} spacings for {len(axes)} axes; one number, or one for each axis")
    if edge_order > 2:
        raise ValueError(f"edge_order={edge_order}: 1 or 2")
    spacings = varargs if len(varargs) == len(axes) else (varargs or (1,)) * len(axes)
    found = [_along(tensor, one, step, edge_order) for one, step in zip(axes, spacings, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _along(tensor: Tensor, axis: int, spacing: Any, edge_order: Any) -> Any:
    """Return the gradient along one axis: numpy's own, of unit vectors, has the weights."""
    count = tensor.shape[axis]
    with np.errstate(all="ignore"):
        weights = np.gradient(np.eye(count), spacing, axis=0, edge_order=edge_order)
    if not np.isfinite(weights).all():
        raise ValueError(f"a spacing of {spacing!r} leaves no distance between neighbours")
    divisor = 1
    if tensor.node.exact:
        divisor = _divisor(spacing)
        weights = np.rint(weights * divisor).astype(np.int64)
    total: Any = None
    for column, weight in _neighbours(weights):
        own = viewed(tensor, partial(np.take, indices=column, axis=axis))
        part = own * weight.reshape([count if one == axis else 1 for one in range(tensor.ndim)])
        total = part if total is None else total + part
    return NUMPY["quotient"](total, abs(divisor)) if tensor.node.exact else total


def _divisor(spacing: Any) -> int:
    """Return what makes the weights of evenly spaced elements integers."""
    if np.ndim(spacing) or not is_number(spacing) or spacing != int(spacing) or spacing == 0:
        raise KernelError(
            f"gradient: a spacing of {spacing!r} leaves the integers, on which BFV computes; one whole number, or "
            'scheme="ckks"',
            here(),
        )
    return 2 * abs(int(spacing))


def _neighbours(weights: NDArray[Any]) -> list[tuple[NDArray[np.int64], NDArray[Any]]]:
    """Return columns and weights, one of each for each row, whose sum is the product with a matrix of few entries."""
    count = len(weights)
    rows = np.arange(count)
    ends = [(row != 0).nonzero()[0] for row in weights]
    if max(map(len, ends)) < _NEIGHBOURS:
        columns = [np.array([end[side] if len(end) else 0 for end in ends]) for side in (0, -1)]
    else:
        first = np.clip(rows - 1, 0, count - _NEIGHBOURS)
        columns = [first + place for place in range(_NEIGHBOURS)]
    return [(column, weights[rows, column]) for column in columns]


# ------------------------------------------------------------------------------------------------ covariance


def covariance(
    m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None,
) -> Any:  # fmt: skip
    """Return numpy.cov for weights that are known while tracing, in two levels.

    With weights w of total W and the divisor f: sum w x y / f - sum w x sum w y / (W f), of each variable with its
    range around 0.
    """
    for name, value in {"rowvar": rowvar, "bias": bias, "ddof": ddof}.items():
        if isinstance(value, Refusing):
            raise KernelError(f"{name}= must be known while tracing", here())
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f"ddof={ddof}: an integer is needed")
    x = _variables(m, y, bool(rowvar))
    freedom = int(not bias) if ddof is None else int(ddof)
    weights, divisor = _weights(x.shape[1], freedom, fweights, aweights)
    total = x.shape[1] if weights is None else weights.sum()
    if not divisor > 0:
        raise KernelError(
            f"cov: ddof={freedom} leaves nothing of {total:g} observations; a smaller one is needed", here()
        )
    moved = around_zero(x, axis=1)
    found = _exact(moved, weights, total, divisor) if x.node.exact else _real(moved, weights, float(total), divisor)
    return found[0, 0] if len(x) == 1 else found


def _variables(m: Any, y: Any, rowvar: bool) -> Tensor:
    """Return all variables, a row each."""
    if y is None:
        return _rows(as_tensor(m, here()), rowvar)
    first, second = together((m, y), here())
    upper, lower = _rows(first, rowvar), second.reshape(1, -1) if second.ndim < 2 else second
    if max(first.ndim, second.ndim) > 2:
        raise ValueError("two axes at most: variables and observations")
    lower = lower.T if not rowvar and len(lower) != 1 else lower
    return joined((upper, lower), np.concatenate)


def _rows(tensor: Tensor, rowvar: bool) -> Tensor:
    if tensor.ndim > 2:
        raise ValueError("two axes at most: variables and observations")
    if tensor.ndim < 2:
        return tensor.reshape(1, -1)
    return tensor if rowvar else tensor.T


def _weights(count: int, freedom: int, fweights: Any, aweights: Any) -> tuple[NDArray[Any] | None, Any]:
    """Return the weight of each observation, None if all are 1, and the divisor."""
    given = {"fweights": fweights, "aweights": aweights}
    known = {name: _weight(name, value, count) for name, value in given.items() if value is not None}
    if not known:
        return None, count - freedom
    weights = math.prod(known.values())
    total = weights.sum()
    if freedom == 0 or "aweights" not in known:
        return weights, total - freedom
    return weights, total - freedom * (weights * known["aweights"]).sum() / total


def _weight(name: str, value: Any, count: int) -> Any:
    if isinstance(value, Refusing):
        raise KernelError(f"{name}= must be known while tracing, a tensor's elements are not", here())
    known = np.asarray(value, dtype=np.float64)
    if known.shape != (count,) or (known < 0).any() or not np.isfinite(known).all():
        raise ValueError(f"{name}= is one number, at least 0, for each of {count} observations")
    if name == "fweights" and (known != np.rint(known)).any():
        raise TypeError("fweights= counts observations: integers")
    return known


def _real(x: Tensor, weights: NDArray[Any] | None, total: float, divisor: float) -> Tensor:
    weighted = x if weights is None else x * weights
    means = weighted.sum(axis=1) * (1 / math.sqrt(total * divisor))
    return matmul(weighted, x.T) * (1 / divisor) - _outer(means)


def _exact(x: Tensor, weights: NDArray[Any] | None, total: Any, divisor: Any) -> Any:
    """Return it as integers over total * divisor."""
    if any(one != np.rint(one) for one in (total, divisor, *(() if weights is None else weights))):
        raise KernelError(
            'cov: aweights= leave the integers, on which BFV computes; fweights=, or scheme="ckks"', here()
        )
    weighted = x if weights is None else x * weights.astype(np.int64)
    sums = weighted.sum(axis=1)
    return NUMPY["quotient"](matmul(weighted, x.T) * int(total) - _outer(sums), int(total) * int(divisor))


def _outer(values: Tensor) -> Tensor:
    return elementwise(Op.MULTIPLY, values.reshape(-1, 1), values.reshape(1, -1))
