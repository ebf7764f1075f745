# SPDX-License-Identifier: Apache-2.0
"""Values made of several tensors, such as real and imaginary parts.

A numpy function that selects, joins or adds elements is linear, so it is applied to each part by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ringsmith.errors import KernelError
from ringsmith.frontend.numpy_functions import FUNCTIONS, JOINS, VIEWS, signature_of
from ringsmith.frontend.refusals import IN_ARRAY, Refusing, refusal
from ringsmith.frontend.tensor import NUMPY, Tensor, as_tensor
from ringsmith.ir.graph import Op, Shape
from ringsmith.location import here

Part = Callable[[Any], Any]

#: The linear functions, and which of their parameters are values.
LINEAR: dict[Any, tuple[str, ...]] = {
    **{function: keywords[:1] for function, keywords in (*VIEWS.items(), *JOINS.items())},
    np.append: ("arr", "values"),
    np.insert: ("arr", "values"),
    np.block: ("arrays",),
    np.diag: ("v",),
    np.diagflat: ("v",),
    np.gradient: ("f",),
    np.where: ("x", "y"),
    np.sum: ("a", "initial"),
    np.mean: ("a",),
    np.cumsum: ("a",),
    np.diff: ("a",),
    np.pad: ("array", "constant_values"),
    np.copy: ("a",),
}
# Values that are one number, known while tracing.
_NUMBERS = ("initial", "constant_values")
_SHAPES = (np.shape, np.ndim, np.size)
# Methods with numpy's meaning, by the function that computes them.
_METHODS: dict[str, Any] = {
    "copy": np.copy,
    "transpose": np.transpose,
    "flatten": np.ravel,
    "ravel": np.ravel,
    "squeeze": np.squeeze,
    "swapaxes": np.swapaxes,
    "repeat": np.repeat,
    "take": np.take,
    "diagonal": np.diagonal,
    "sum": np.sum,
    "mean": np.mean,
    "var": np.var,
    "cumsum": np.cumsum,
    "dot": np.dot,
}


def values_of(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
    """Return a linear function's values, those of sequences one by one."""
    given = _bound(function, args, kwargs)
    found = [given[name] for name in LINEAR[function] if given.get(name) is not None]
    depth = 1 if function is not np.block else None
    return [one for value in found for one in _flat(value, depth)]


def _flat(value: Any, depth: int | None) -> list[Any]:
    """Return the values of a sequence, of one nested that deep (None: any)."""
    if not isinstance(value, list | tuple) or depth == 0:
        return [value]
    return [one for part in value for one in _flat(part, depth and depth - 1)]


def _mapped(value: Any, part: Part, depth: int | None) -> Any:
    """Apply a function to the values of a sequence, of one nested that deep (None: any)."""
    if not isinstance(value, list | tuple) or depth == 0:
        return part(value)
    return [_mapped(one, part, depth and depth - 1) for one in value]


def by_part(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], part: Part) -> Any:
    """Apply a linear function with one part in place of each value."""
    given = _bound(function, args, kwargs)
    for name in LINEAR[function]:
        value = given.get(name)
        if value is not None:
            given[name] = _mapped(value, part, 1 if function is not np.block else None)
            if name in _NUMBERS:
                given[name] = _number(name, given[name])
    parameters = signature_of(function).parameters.values()
    first = tuple(given.pop(p.name) for p in parameters if p.kind is p.POSITIONAL_ONLY and p.name in given)
    named = [p.name for p in parameters if p.name in given]
    if not first:
        first = (given.pop(named[0]),)
    several = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")
    first = (*first, *given.pop(several, ()))
    return NUMPY["function"](function, first, given)


def _number(name: str, value: Tensor) -> Any:
    if value.node.op is not Op.CONSTANT or value.shape:
        raise KernelError(f"{name}= is one number known while tracing", here())
    return value.node.low.item()


def _bound(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(signature_of(function).bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise KernelError(f"numpy.{function.__name__}: {error}", here()) from None


def zeros(tensor: Tensor) -> Tensor:
    """Return a known zero of a tensor's shape."""
    return as_tensor(np.zeros(tensor.shape, dtype=np.int64), here(), like=tensor)


class Partwise(Refusing):
    """A value made of tensors of one shape. A subclass says what operators, ufuncs and functions do."""

    __slots__ = ()

    @property
    def _parts(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _of_parts(self, parts: list[Tensor]) -> Any:
        raise NotImplementedError

    @property
    def _is_encrypted(self) -> bool:
        return any(part.node.encrypted for part in self._parts)

    @property
    def shape(self) -> Shape:
        """Extent along each axis."""
        return self._parts[0].shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._parts[0].ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._parts[0].size

    @property
    def T(self) -> Any:
        """The transposed value (axes reversed)."""
        return NUMPY["function"](np.transpose, (self,), {})

    @property
    def mT(self) -> Any:
        """The value with its last two axes exchanged."""
        return NUMPY["function"](np.matrix_transpose, (self,), {})

    def __len__(self) -> int:
        """Return the extent of the first axis."""
        return len(self._parts[0])

    def __iter__(self) -> Any:
        """Iterate over the first axis."""
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        """Select as numpy does, by an index known while tracing."""
        return self._of_parts([part[index] for part in self._parts])

    def __pos__(self) -> Any:
        """Return a copy."""
        return self._of_parts([+part for part in self._parts])

    def reshape(self, *shape: Any, **more: Any) -> Any:
        """Return the same elements under another shape."""
        return self._of_parts([part.reshape(*shape, **more) for part in self._parts])

    def rotate(self, steps: int, axis: int = -1) -> Any:
        """Rotate left by `steps` along an axis."""
        return self._of_parts([part.rotate(steps, axis) for part in self._parts])

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Compute numpy's ufuncs that have an encrypted form, refuse the others."""
        return NUMPY["ufunc"](ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, _types: Any, args: Any, kwargs: Any) -> Any:
        """Compute numpy's functions that have an encrypted form, refuse the others."""
        return NUMPY["function"](function, args, kwargs)

    __array__ = refusal(*IN_ARRAY)


def _method(name: str, function: Any) -> Any:
    def method(self: Partwise, *args: Any, **kwargs: Any) -> Any:
        if name == "transpose" and args:
            args = (args[0] if len(args) == 1 else args,)
        return NUMPY["function"](function, (self, *args), kwargs)

    method.__name__, method.__doc__ = name, f"As numpy.{function.__name__}."
    return method


def _in_place(sign: str) -> Any:
    def method(self: Partwise, _other: Any) -> Any:
        raise KernelError(f"x {sign}= ... would change an array in place; write x = x {sign} ...", here())

    return method


for _name, _function in _METHODS.items():
    setattr(Partwise, _name, _method(_name, _function))
for _name, _sign in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "matmul": "@"}.items():
    setattr(Partwise, f"__i{_name}__", _in_place(_sign))


def shape_function(function: Any) -> bool:
    """Return whether a function only asks for the shape."""
    return function in _SHAPES


def supported(function: Any) -> bool:
    """Return whether numpy's function has an encrypted form at all."""
    return function in FUNCTIONS
