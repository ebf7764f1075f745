# SPDX-License-Identifier: Apache-2.0
"""numpy's functions on traced tensors: which are supported, with which keywords; every other one is refused by name.

A function that only selects elements is applied by numpy itself to the elements' numbers, so that axes, orders and
indices mean what they mean there. Functions are looked up as objects: numpy.linalg has others of the same names.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.lib.stride_tricks import sliding_window_view

from ringsmith.errors import KernelError
from ringsmith.frontend import numpy_algebra, numpy_calculus, numpy_series, numpy_transforms, stacked_product
from ringsmith.frontend.refusals import REMEDIES, Refusing, numbers_of, remedy_for
from ringsmith.frontend.remedies import NORMS, of_norm, of_ufunc
from ringsmith.frontend.tensor import (
    NUMPY,
    Tensor,
    as_tensor,
    elementwise,
    joined,
    kind_of,
    matmul,
    together,
    viewed,
)
from ringsmith.ir import nodes
from ringsmith.ir.graph import Op
from ringsmith.location import here

Compute = Callable[..., Any]

UFUNCS: dict[Any, Compute] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.power: operator.pow,
    np.square: lambda x: x * x,
    np.matmul: matmul,
    np.conjugate: lambda x: x.conj(),
    np.vecdot: numpy_algebra.vecdot,
}
if hasattr(np, "matvec"):  # numpy 2.2
    UFUNCS |= {np.matvec: numpy_algebra.matvec, np.vecmat: numpy_algebra.vecmat}
#: Ufuncs that compute with values of every kind, and the keywords of those that take one.
GENERAL = [ufunc for ufunc in UFUNCS if ufunc.signature and ufunc is not np.matmul]
_UFUNC_KEYWORDS: dict[Any, tuple[str, ...]] = {np.vecdot: ("axis",)}
# Keywords of ufuncs, and the value of each that changes nothing.
_UFUNC_DEFAULTS: dict[str, Any] = {"where": True, "casting": "same_kind", "order": "K", "subok": True}


def call_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Compute a ufunc, or refuse it, its method or a keyword."""
    name = f"numpy.{ufunc.__name__}"
    if method != "__call__":
        raise KernelError(f"{name}.{method} is not supported in kernels; use np.sum, np.outer or the operators", here())
    if kwargs.get("out") is not None:
        raise KernelError(
            f"{name} into an array (out=, a += x): an encrypted value cannot be put there; write a = a + x", here()
        )
    taken = {keyword: kwargs[keyword] for keyword in _UFUNC_KEYWORDS.get(ufunc, ()) if keyword in kwargs}
    for keyword, value in kwargs.items():
        if keyword not in taken and value is not None and not _same(value, _UFUNC_DEFAULTS.get(keyword)):
            raise KernelError(f"{name}: {keyword}= is not supported in kernels", here())
    if ufunc in GENERAL:
        return told(name, UFUNCS[ufunc], inputs if kind_of(inputs) else together(inputs, here()), taken)
    if kind := kind_of(inputs):
        return kind.ufunc(ufunc, inputs)
    if ufunc not in UFUNCS:
        raise KernelError(f"{name} is not supported in kernels; {_remedy(ufunc, inputs)}", here())
    return UFUNCS[ufunc](*together(inputs, here())) if ufunc is not np.power else operator.pow(*inputs)


def _remedy(ufunc: Any, inputs: tuple[Any, ...]) -> str:
    return REMEDIES.get(ufunc.__name__) or of_ufunc(ufunc, numbers_of(inputs))


def _remedy_of_norm(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Return the remedy for a norm by its arguments; nothing for other functions."""
    if function not in NORMS or not args or not isinstance(args[0], Tensor):
        return ""
    given = dict(zip(NORMS[function], args[1:], strict=False)) | dict(kwargs)
    return of_norm(function, args[0].ndim, given).words(numbers_of(args))


def _same(value: Any, default: Any) -> bool:
    """Return whether a keyword's value is the one that changes nothing."""
    return value is default or (isinstance(value, bool | str) and type(value) is type(default) and value == default)


@dataclass(frozen=True)
class Supported:
    """Implementation of a function, and the keywords it takes; all others are refused."""

    compute: Compute
    keywords: tuple[str, ...]


def call_function(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Compute a numpy function, or refuse it or a keyword."""
    name = f"{function.__module__}.{function.__name__}"
    if kind := kind_of((*args, *kwargs.values())):
        return told(name, kind.function, (function, args, kwargs), {})
    if function not in FUNCTIONS:
        remedy = _remedy_of_norm(function, args, kwargs) or remedy_for(function.__name__, args[0] if args else None)
        raise KernelError(f"{name} is not supported in kernels; {remedy}", here())
    found, signature = FUNCTIONS[function], signature_of(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise KernelError(f"{name}: {error}", here()) from None
    for keyword, value in list(bound.arguments.items()):
        if keyword not in found.keywords:
            if not _same(value, signature.parameters[keyword].default):
                raise KernelError(f"{name}: {keyword}= is not supported in kernels", here())
            del bound.arguments[keyword]
    return told(name, found.compute, bound.args, bound.kwargs)


def told(name: str, compute: Compute, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Compute, and refuse by a function's name the arguments it fails on."""
    try:
        return compute(*args, **kwargs)
    except (ValueError, TypeError, IndexError, AttributeError) as error:
        raise KernelError(f"{name}: {error}", here()) from None


@cache
def signature_of(function: Any) -> inspect.Signature:
    """Return numpy's signature of a function; those written in C do not tell it."""
    stated = _STATED.get(function)
    return inspect.signature(function if stated is None else stated)


_STATED: dict[Any, Callable[..., Any]] = {
    np.concatenate: lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": None,
    np.dot: lambda a, b, out=None: None,
    np.pad: lambda array, pad_width, mode="constant", *, constant_values=None: None,
    np.inner: lambda a, b, /: None,
    np.where: lambda condition, x, y, /: None,
}


def _known(**values: Any) -> None:
    """Refuse tensors where a value must be known while tracing."""
    for name, value in values.items():
        parts = value if isinstance(value, tuple | list) else (value,)
        if any(isinstance(part, Refusing) for part in parts):
            raise KernelError(f"{name} must be known while tracing, a tensor's elements are not", here())


# ------------------------------------------------------------------------------------------------ selections


def _view(function: Any) -> Compute:
    """Return a function that lets numpy select elements by their numbers."""

    def compute(array: Any, *args: Any, **kwargs: Any) -> Any:
        _known(**{f"argument {number}": value for number, value in enumerate(args, start=2)}, **kwargs)
        _check_order(function, args, kwargs)
        return viewed(as_tensor(array, here()), lambda elements: function(elements, *args, **kwargs))

    return compute


def _check_order(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Refuse the orders A and K of reshape and ravel: a tensor has no place in memory that they could follow."""
    given = signature_of(function).bind(None, *args, **kwargs).arguments.get("order", "C")
    if given not in ("C", "F", "c", "f"):
        raise KernelError(f"order={given!r} follows the layout in memory, which a tensor does not have; C or F", here())


def _join(function: Any) -> Compute:
    """Return a function that lets numpy join the numbers of all parts' elements."""

    def compute(parts: Any, axis: Any = 0) -> Tensor:
        _known(axis=axis)
        given = {"axis": axis} if "axis" in JOINS[function] else {}
        return joined(list(parts), lambda numbered: function(numbered, **given))

    return compute


def _append(arr: Any, values: Any, axis: int | None = None) -> Tensor:
    _known(axis=axis)
    return joined((arr, values), lambda numbered: np.append(numbered[0], numbered[1], axis=axis))


def _insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Tensor:
    _known(obj=obj, axis=axis)
    return joined((arr, values), lambda numbered: np.insert(numbered[0], obj, numbered[1], axis=axis))


def _diagonal_of(function: Any) -> Compute:
    """Return numpy.diag or numpy.diagflat: the elements of a diagonal, or zeros beside them."""

    def compute(v: Any, k: Any = 0) -> Tensor:
        _known(k=k)

        def placed(numbered: list[Any]) -> Any:
            elements, zero = numbered
            found = function(elements + 1, k)
            return np.where(found, found - 1, zero)

        return joined((as_tensor(v, here()), 0), placed)

    return compute


def _block(arrays: Any) -> Tensor:
    """Return numpy.block of nested lists."""
    parts: list[Any] = []

    def gathered(value: Any) -> Any:
        if isinstance(value, list):
            return [gathered(one) for one in value]
        parts.append(value)
        return len(parts) - 1

    nested = gathered(arrays)

    def placed(numbered: list[Any]) -> Any:
        def own(value: Any) -> Any:
            return [own(one) for one in value] if isinstance(value, list) else numbered[value]

        return np.block(own(nested))

    return joined(parts, placed)


def at_least(function: Any) -> Compute:
    """Return numpy.atleast_1d, atleast_2d or atleast_3d."""

    def shaped(value: Any) -> Any:
        shape = function(np.broadcast_to(0, np.shape(value))).shape
        return value if shape == np.shape(value) else numpy_algebra.as_traced(value).reshape(shape)

    def compute(*arys: Any) -> Any:
        found = tuple(map(shaped, arys))
        return found[0] if len(found) == 1 else found

    return compute


def _where(condition: Any, x: Any, y: Any) -> Tensor:
    if isinstance(condition, Refusing):
        raise KernelError(
            "numpy.where: the condition must be known while tracing; with c in {0, 1}, write c * x + (1 - c) * y",
            here(),
        )
    _known(condition=condition)
    return joined((x, y), lambda numbered: np.where(condition, *numbered))


# ------------------------------------------------------------------------------------------------ sums and products


def _sum(a: Any, axis: Any = None, keepdims: Any = False, initial: Any = 0, where: Any = True) -> Tensor:
    _known(axis=axis, keepdims=keepdims, initial=initial, where=where)
    tensor, place = as_tensor(a, here()), here()
    axes = _axes(tensor, axis)
    if where is not True:
        tensor = tensor * _mask(tensor, where).astype(np.int64)
    node = tensor.node
    if len(axes) == tensor.ndim and axes:
        node = nodes.total(node, None, place)
    else:
        for one in sorted(axes, reverse=True):
            node = nodes.total(node, one, place)
    result = Tensor(node) + initial if _scalar(initial) else Tensor(node)
    if not keepdims:
        return result
    return result.reshape(tuple(1 if i in axes else extent for i, extent in enumerate(tensor.shape))).copy()


def _scalar(initial: Any) -> bool:
    """Return whether there is something to add."""
    if np.ndim(initial):
        raise KernelError("initial= is one number", here())
    return bool(initial != 0)


def _axes(tensor: Tensor, axis: Any) -> tuple[int, ...]:
    """Return the axes of a reduction, counted from 0."""
    if axis is None:
        return tuple(range(tensor.ndim))
    try:
        return tuple(int(one) for one in normalize_axis_tuple(axis, tensor.ndim))
    except (ValueError, TypeError) as error:
        raise KernelError(f"axis {axis} of a tensor with {tensor.ndim} axes: {error}", here()) from None


def _mask(tensor: Tensor, where: Any) -> Any:
    """Return which elements count, under the tensor's shape."""
    mask = np.asarray(where)
    if mask.dtype != np.bool_:
        raise KernelError(f"where= is an array of booleans, not of {mask.dtype}", here())
    return np.broadcast_to(mask, tensor.shape)


def _mean(a: Any, axis: Any = None, keepdims: Any = False, where: Any = True) -> Any:
    tensor = as_tensor(a, here())
    total = _sum(tensor, axis=axis, keepdims=keepdims, where=where)
    axes = _axes(tensor, axis)
    if where is True:
        count = math.prod(tensor.shape[one] for one in axes)
        return NUMPY["quotient"](total, count) if tensor.node.exact else total * (1.0 / count)
    count = _mask(tensor, where).sum(axis=axes, keepdims=bool(keepdims))
    if (count == 0).any():
        raise KernelError("where= leaves no element to average", here())
    if tensor.node.exact:
        least = math.lcm(*np.unique(count).tolist())
        return NUMPY["quotient"](total * (least // count), least)
    return elementwise(Op.MULTIPLY, total, 1.0 / count)


def _var(a: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    _known(axis=axis, ddof=ddof, keepdims=keepdims)
    tensor = as_tensor(a, here())
    return numpy_series.variance(tensor, _axes(tensor, axis), _sum, ddof, bool(keepdims))


def _prod(a: Any, axis: Any = None, keepdims: Any = False) -> Tensor:
    _known(axis=axis, keepdims=keepdims)
    tensor = as_tensor(a, here())
    return numpy_algebra.product(tensor, _axes(tensor, axis), bool(keepdims))


def _known_but_first(compute: Compute) -> Compute:
    """Return a function whose further arguments are known while tracing."""

    def checked(a: Any, *args: Any, **kwargs: Any) -> Any:
        _known(**{f"argument {number}": value for number, value in enumerate(args, start=2)}, **kwargs)
        return compute(a, *args, **kwargs)

    return checked


def _dot(a: Any, b: Any) -> Tensor:
    x, y = together((a, b), here())
    return elementwise(Op.MULTIPLY, x, y) if not (x.ndim and y.ndim) else stacked_product.dot(x, y)


def _inner(a: Any, b: Any) -> Tensor:
    x, y = together((a, b), here())
    return elementwise(Op.MULTIPLY, x, y) if not (x.ndim and y.ndim) else stacked_product.inner(x, y)


def _outer(a: Any, b: Any) -> Tensor:
    x, y = together((a, b), here())
    return x.reshape(-1, 1) * y.reshape(1, -1)


# ------------------------------------------------------------------------------------------------ the table


def _about(function: Any) -> Compute:
    """Return a function that tells shape, number of axes or size."""
    return lambda a, *args: function(np.broadcast_to(0, a.shape), *args)


VIEWS: dict[Any, tuple[str, ...]] = {
    np.transpose: ("a", "axes"),
    np.matrix_transpose: ("x",),
    np.reshape: ("a", "shape", "order", "copy"),
    np.ravel: ("a", "order"),
    np.squeeze: ("a", "axis"),
    np.expand_dims: ("a", "axis"),
    np.moveaxis: ("a", "source", "destination"),
    np.rollaxis: ("a", "axis", "start"),
    np.swapaxes: ("a", "axis1", "axis2"),
    np.roll: ("a", "shift", "axis"),
    np.flip: ("m", "axis"),
    np.fliplr: ("m",),
    np.flipud: ("m",),
    np.rot90: ("m", "k", "axes"),
    np.repeat: ("a", "repeats", "axis"),
    np.tile: ("A", "reps"),
    np.take: ("a", "indices", "axis", "mode"),
    np.take_along_axis: ("arr", "indices", "axis"),
    np.delete: ("arr", "obj", "axis"),
    np.diagonal: ("a", "offset", "axis1", "axis2"),
    np.broadcast_to: ("array", "shape"),
    np.split: ("ary", "indices_or_sections", "axis"),
    np.array_split: ("ary", "indices_or_sections", "axis"),
    np.hsplit: ("ary", "indices_or_sections"),
    np.vsplit: ("ary", "indices_or_sections"),
    np.dsplit: ("ary", "indices_or_sections"),
    np.resize: ("a", "new_shape"),
    sliding_window_view: ("x", "window_shape", "axis"),
    np.fft.fftshift: ("x", "axes"),
    np.fft.ifftshift: ("x", "axes"),
}
if hasattr(np, "unstack"):  # numpy 2.1
    VIEWS[np.unstack] = ("x", "axis")
JOINS: dict[Any, tuple[str, ...]] = {
    np.concatenate: ("arrays", "axis"),
    np.stack: ("arrays", "axis"),
    np.vstack: ("tup",),
    np.hstack: ("tup",),
    np.dstack: ("tup",),
    np.column_stack: ("tup",),
}
_TRANSFORMED = ("a", "n", "axis", "norm")
FUNCTIONS: dict[Any, Supported] = {
    **{function: Supported(_view(function), keywords) for function, keywords in VIEWS.items()},
    **{function: Supported(_join(function), keywords) for function, keywords in JOINS.items()},
    np.append: Supported(_append, ("arr", "values", "axis")),
    np.insert: Supported(_insert, ("arr", "obj", "values", "axis")),
    np.block: Supported(_block, ("arrays",)),
    np.diag: Supported(_diagonal_of(np.diag), ("v", "k")),
    np.diagflat: Supported(_diagonal_of(np.diagflat), ("v", "k")),
    **{f: Supported(at_least(f), ("arys",)) for f in (np.atleast_1d, np.atleast_2d, np.atleast_3d)},
    np.where: Supported(_where, ("condition", "x", "y")),
    np.sum: Supported(_sum, ("a", "axis", "keepdims", "initial", "where")),
    np.mean: Supported(_mean, ("a", "axis", "keepdims", "where")),
    np.var: Supported(_var, ("a", "axis", "ddof", "keepdims")),
    np.cumsum: Supported(_known_but_first(numpy_series.cumulative_sum), ("a", "axis")),
    np.diff: Supported(_known_but_first(numpy_series.difference), ("a", "n", "axis")),
    np.pad: Supported(_known_but_first(numpy_series.padded), ("array", "pad_width", "mode", "constant_values")),
    np.prod: Supported(_prod, ("a", "axis", "keepdims")),
    np.trace: Supported(_known_but_first(numpy_algebra.trace), ("a", "offset", "axis1", "axis2")),
    np.tril: Supported(_known_but_first(numpy_algebra.triangle(np.tril)), ("m", "k")),
    np.triu: Supported(_known_but_first(numpy_algebra.triangle(np.triu)), ("m", "k")),
    np.average: Supported(_known_but_first(numpy_algebra.average), ("a", "axis", "weights", "keepdims")),
    np.linalg.matrix_power: Supported(_known_but_first(numpy_algebra.matrix_power), ("a", "n")),
    np.kron: Supported(numpy_algebra.kronecker, ("a", "b")),
    np.convolve: Supported(numpy_algebra.convolve, ("a", "v", "mode")),
    np.correlate: Supported(numpy_algebra.correlate, ("a", "v", "mode")),
    np.einsum: Supported(numpy_algebra.einsum, ("operands",)),
    np.polyval: Supported(numpy_calculus.polyval, ("p", "x")),
    np.gradient: Supported(_known_but_first(numpy_calculus.gradient), ("f", "varargs", "axis", "edge_order")),
    np.cov: Supported(numpy_calculus.covariance, ("m", "y", "rowvar", "bias", "ddof", "fweights", "aweights")),
    **{f: Supported(numpy_transforms.transform(f), _TRANSFORMED) for f in (np.fft.fft, np.fft.ifft, np.fft.rfft)},
    np.fft.irfft: Supported(numpy_transforms.back_to_reals, _TRANSFORMED),
    np.linalg.vecdot: Supported(numpy_algebra.vecdot, ("x1", "x2", "axis")),
    np.dot: Supported(_dot, ("a", "b")),
    np.inner: Supported(_inner, ("a", "b")),
    np.outer: Supported(_outer, ("a", "b")),
    np.real: Supported(lambda val: as_tensor(val, here()).real, ("val",)),
    np.imag: Supported(lambda val: as_tensor(val, here()).imag, ("val",)),
    np.copy: Supported(lambda a, order="K": as_tensor(a, here()).copy(order), ("a", "order")),
    np.shape: Supported(_about(np.shape), ("a",)),
    np.ndim: Supported(_about(np.ndim), ("a",)),
    np.size: Supported(_about(np.size), ("a", "axis")),
}

#: Functions that compute with values of every kind.
OF_EVERY_KIND = (np.atleast_1d, np.atleast_2d, np.atleast_3d, np.polyval, np.linalg.vecdot)

NUMPY["ufunc"] = call_ufunc
NUMPY["function"] = call_function


def documented() -> str:
    """Return the list of supported functions and keywords as it stands in docs/python.md."""
    functions = [f"`{named(f)}({', '.join(found.keywords)})`" for f, found in FUNCTIONS.items()]
    return ", ".join(sorted(f"`{u.__name__}`" for u in UFUNCS)) + "; " + ", ".join(sorted(functions))


def named(function: Any) -> str:
    """Return a function's name as it stands after `np.`."""
    return f"{function.__module__}.{function.__name__}".partition(".")[2]
