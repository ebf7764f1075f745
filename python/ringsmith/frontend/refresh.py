# SPDX-License-Identifier: Apache-2.0
"""`rs.refresh`: a value goes to the client in the middle of a kernel, is decrypted, changed in the clear, encrypted."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError, KernelError, RingsmithError
from ringsmith.files import reason
from ringsmith.frontend.declare import Encrypted
from ringsmith.frontend.partwise import Partwise
from ringsmith.frontend.refusals import Refusing
from ringsmith.frontend.tensor import Tensor
from ringsmith.ir import nodes
from ringsmith.ir.clear_function import ClearFunction
from ringsmith.ir.graph import Node
from ringsmith.ir.numbers import integers, narrowed, reals
from ringsmith.location import here

Array = NDArray[Any]
#: Tolerated excess of an array computed in float64 over its range.
_ROUNDING = 1e-9
# Shares of an argument's range that a function is tried at, to learn the shape of its result: most functions are
# defined for the larger values, some for one half of the range only.
_PROBES = (0.85, 0.6, 0.15, 0.5)
_STEPS = 1 << 20


def refresh(
    x: Any,
    function: Callable[[Array], Any] | None = None,
    *,
    bound: float | None = None,
    low: float | None = None,
    high: float | None = None,
    packing: str = "auto",
    shape: Any = None,
) -> Any:
    """Send x to the client, which decrypts it, applies `function` in the clear and encrypts the result anew.

    `function` is any function of one array to one array, such as a comparison, a sort or a maximum; it runs at the
    client only. Its results lie in low..high, or within `bound`: the client refuses others. Without a function the
    value stays as it is, and its range too; the ciphertext is as fresh as an argument's. `packing` as of an argument.
    `shape` is that of the results; without it the function is called while tracing, on values from the range of x.

    What the function makes of the error of a CKKS value is its own: the kernel's tolerance holds for each round.
    """
    if isinstance(x, Tensor):
        return _traced(x, function, (bound, low, high), packing, shape)
    if isinstance(x, Partwise):
        raise KernelError("rs.refresh takes one tensor: real and imaginary part, sum and divisor go apart", here())
    if isinstance(x, Refusing):
        raise KernelError("rs.refresh: a manual kernel is one program; write it as an automatic one", here())
    return _known(x, function, (bound, low, high))


def _traced(
    x: Tensor, function: Callable[[Array], Any] | None, ends: tuple[float | None, ...], packing: str, shape: Any
) -> Tensor:
    where, node = here(), x.node
    if not node.encrypted:
        raise KernelError("rs.refresh of a plain value: only an encrypted one goes to the client", where)
    if function is not None and not callable(function):
        raise KernelError(f"rs.refresh: {function!r} is no function", where)
    try:
        declared = Encrypted(*node.shape, **_ends(node, function, ends), packing=packing)
        if callable(packing):
            raise InputError("a packing function needs mode='manual'")
        limits = declared.range("rs.refresh", exact=node.exact).tolist()
        found = node.shape if function is None else _shape(node, function, shape)
        Encrypted(*found, bound=0)
    except InputError as error:
        raise KernelError(f"rs.refresh: {error}", where) from None
    low, high = limits
    applied = ClearFunction(_name(function), found, low, high, node.exact, function)
    return Tensor(nodes.refresh(node, applied, packing, where))


def _ends(node: Node, function: Callable[[Array], Any] | None, ends: tuple[float | None, ...]) -> dict[str, Any]:
    """Return the declared range; without one and without a function, that of the value."""
    bound, low, high = ends
    if bound is None and low is None and high is None:
        if function is not None:
            raise InputError("declare the range of the function's results: bound=B, or low=A and high=B")
        low, high = node.low.min(), node.high.max()
    return {"bound": bound, "low": low, "high": high}


def _shape(node: Node, function: Callable[[Array], Any], shape: Any) -> tuple[int, ...]:
    """Return the shape of what a function gives: as declared, or that of calls on values from the argument's range."""
    if shape is not None:
        extents = shape if isinstance(shape, tuple | list) else (shape,)
        return tuple(extent for extent in Encrypted(*extents, bound=0).shape if extent is not None)
    failure: Exception | None = None
    for share in _PROBES:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = np.asarray(function(_probe(node, share)))
        except RingsmithError:
            raise
        except Exception as error:
            failure = failure or error
            continue
        finite = np.nan_to_num(result, posinf=0, neginf=0) if result.dtype.kind == "f" else result
        return (integers if node.exact else reals)(finite, "the function's result").shape
    raise InputError(
        f"the function fails on values from the range of its argument: {reason(failure or ValueError())}; narrow that "
        "range, or declare the shape of the result: rs.refresh(x, function, low=A, high=B, shape=(...))"
    )


def _probe(node: Node, share: float) -> Array:
    """Return values around a share of the range, no two alike if it can be: zeros are where quotients and logarithms
    end."""
    spread = share + 0.1 * (np.linspace(0, 1, max(node.low.size, 1)).reshape(node.shape) - 0.5)
    if not node.exact:
        return np.asarray(node.low + (node.high - node.low) * spread, dtype=np.float64)
    steps = np.round(spread * _STEPS).astype(np.int64).astype(object)
    ends = node.low.astype(object), node.high.astype(object)
    return narrowed(ends[0] + (ends[1] - ends[0]) * steps // _STEPS)


def _known(x: Any, function: Callable[[Array], Any] | None, ends: tuple[float | None, ...]) -> Array:
    """Apply the function to known numbers, and hold its declared range against them."""
    values = np.asarray(x)
    exact = values.dtype.kind in "biuO"
    values = narrowed(values) if values.dtype == object else values
    bound, low, high = ends
    if function is None and bound is None and low is None and high is None:
        return values
    result = np.asarray(values if function is None else function(values.copy()))
    low, high = Encrypted(*result.shape, bound=bound, low=low, high=high).range("rs.refresh", exact=exact).tolist()
    held = ClearFunction("", result.shape, low, high, exact)
    return held(result, 0.0 if exact else _ROUNDING * max(high - low, 1))


def _name(function: Callable[[Array], Any] | None) -> str:
    if function is None:
        return ""
    name = getattr(function, "__name__", type(function).__name__)
    return name if name.isidentifier() else "function"
