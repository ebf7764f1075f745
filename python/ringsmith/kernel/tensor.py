# SPDX-License-Identifier: Apache-2.0
"""The tensor a kernel's function sees while it is traced: numpy's operators, recorded instead of computed."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import KernelError
from ringsmith.kernel import bounds
from ringsmith.kernel.graph import Node, Op, Reals, Shape, frozen
from ringsmith.kernel.location import Location, here

Operand = Any  # Tensor, number or array: what stands on the other side of an operator.


class Tensor:
    """A traced value. `shape`, `ndim` and `size` as in numpy; its elements are not known."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, node: Node) -> None:
        """Wrap a node of the graph."""
        self.node = node

    @property
    def shape(self) -> Shape:
        """Extent along each axis."""
        return self.node.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.node.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.node.shape))

    @property
    def T(self) -> Tensor:
        """The transposed tensor (axes reversed)."""
        return self.transpose()

    def __len__(self) -> int:
        """Return the extent of the first axis."""
        if not self.shape:
            raise KernelError("a scalar has no length", here())
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        """Iterate over the first axis."""
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        """Refuse: the value is encrypted."""
        raise KernelError("an encrypted value cannot decide a branch; compute both sides and combine them", here())

    def _compare(self, _other: Operand) -> bool:
        raise KernelError("comparisons have no encrypted form; approximate one with rs.polynomial", here())

    __lt__ = __le__ = __gt__ = __ge__ = _compare

    def __add__(self, other: Operand) -> Tensor:
        """Add element by element, with numpy's broadcasting."""
        return _elementwise(Op.ADD, self, other)

    def __radd__(self, other: Operand) -> Tensor:
        """Add element by element."""
        return _elementwise(Op.ADD, other, self)

    def __sub__(self, other: Operand) -> Tensor:
        """Subtract element by element."""
        return _elementwise(Op.SUB, self, other)

    def __rsub__(self, other: Operand) -> Tensor:
        """Subtract element by element."""
        return _elementwise(Op.SUB, other, self)

    def __mul__(self, other: Operand) -> Tensor:
        """Multiply element by element."""
        return _elementwise(Op.MULTIPLY, self, other)

    def __rmul__(self, other: Operand) -> Tensor:
        """Multiply element by element."""
        return _elementwise(Op.MULTIPLY, other, self)

    def __truediv__(self, other: Operand) -> Tensor:
        """Divide by a number or array known while tracing (a multiplication by its inverse)."""
        where = here()
        divisor = as_tensor(other, where)
        if divisor.node.op is not Op.CONSTANT or (divisor.node.low == 0).any():
            raise KernelError("only division by a non-zero constant can be computed encrypted", where)
        return _elementwise(Op.MULTIPLY, self, constant(1.0 / divisor.node.low, where))

    def __neg__(self) -> Tensor:
        """Negate."""
        node = self.node
        return _unary(Op.NEGATE, node, node.shape, -node.high, -node.low)

    def __pow__(self, exponent: int) -> Tensor:
        """Raise to a non-negative integer power."""
        where = here()
        if not isinstance(exponent, int | np.integer) or exponent < 0:
            raise KernelError(f"power {exponent!r}: only integers >= 0 can be computed encrypted", where)
        node = self.node
        if exponent == 0:
            return constant(np.ones(node.shape), where)
        if exponent == 1:
            return self
        low, high = bounds.power((node.low, node.high), int(exponent))
        return _unary(Op.POWER, node, node.shape, low, high, exponent=int(exponent))

    def __matmul__(self, other: Operand) -> Tensor:
        """Multiply matrices or vectors (at most two axes each)."""
        return _matmul(self, other)

    def __rmatmul__(self, other: Operand) -> Tensor:
        """Multiply matrices or vectors."""
        return _matmul(other, self)

    def __getitem__(self, index: Any) -> Tensor:
        """Select by integers, slices and ellipsis; costs nothing until the parts are combined with others."""
        where = here()
        try:
            picked = np.arange(self.size).reshape(self.shape)[index]
        except (IndexError, ValueError, TypeError) as error:
            raise KernelError(f"cannot select from shape {self.shape}: {error}", where) from None
        return _gather(Op.INDEX, self.node, np.asarray(picked), where)

    def reshape(self, *shape: Any) -> Tensor:
        """Return the same elements, row-major, under another shape."""
        where = here()
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        try:
            picked = np.arange(self.size).reshape(wanted)
        except ValueError as error:
            raise KernelError(str(error), where) from None
        return _gather(Op.RESHAPE, self.node, picked, where)

    def transpose(self, axes: Sequence[int] | None = None) -> Tensor:
        """Permute the axes (reversed by default)."""
        where = here()
        try:
            picked = np.arange(self.size).reshape(self.shape).transpose(axes)
        except ValueError as error:
            raise KernelError(str(error), where) from None
        return _gather(Op.TRANSPOSE, self.node, picked, where)

    def flatten(self) -> Tensor:
        """Return all elements along one axis."""
        return self.reshape(self.size)

    def rotate(self, steps: int, axis: int = -1) -> Tensor:
        """Rotate left by `steps` along an axis, as numpy.roll(x, -steps, axis)."""
        where = here()
        self._check_axis(axis, where)
        picked = np.roll(np.arange(self.size).reshape(self.shape), -operator.index(steps), axis=axis)
        return _gather(Op.ROTATE, self.node, picked, where)

    def sum(self, axis: int | None = None, dtype: None = None, out: None = None) -> Tensor:
        """Sum along one axis, or everything."""
        node, where = self.node, here()
        if axis is not None:
            self._check_axis(axis, where)
            axis %= max(self.ndim, 1)
        low, high = np.asarray(node.low.sum(axis=axis)), np.asarray(node.high.sum(axis=axis))
        return _unary(Op.SUM, node, low.shape, low, high, axis=axis)

    def mean(self, axis: int | None = None) -> Tensor:
        """Average along one axis, or over everything."""
        count = self.size if axis is None else self.shape[axis]
        return self.sum(axis) * (1.0 / count)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **_kwargs: Any) -> Tensor:
        """Let numpy arrays stand on the left of an operator; refuse functions that have no encrypted form."""
        action = _UFUNCS.get(ufunc.__name__)
        if method != "__call__" or action is None:
            raise KernelError(
                f"numpy.{ufunc.__name__} has no encrypted form; approximate it with rs.polynomial(x, coefficients)",
                here(),
            )
        first, *rest = (as_tensor(value, here()) for value in inputs)
        result: Tensor = action(first, *rest)
        return result

    def __array_function__(self, function: Any, _types: Any, args: Any, kwargs: Any) -> Tensor:
        """Map the few numpy functions that have an encrypted form."""
        action = _FUNCTIONS.get(function.__name__)
        if action is None:
            raise KernelError(f"numpy.{function.__name__} has no encrypted form", here())
        result: Tensor = action(*args, **kwargs)
        return result

    def __array__(self, *_args: Any, **_kwargs: Any) -> NDArray[Any]:
        """Refuse: the elements are not known."""
        raise KernelError("an encrypted tensor has no values to put into a numpy array", here())

    def _check_axis(self, axis: int, where: Location) -> None:
        if not -self.ndim <= axis < self.ndim:
            raise KernelError(f"axis {axis} of a tensor with {self.ndim} axes", where)


def constant(values: Any, where: Location) -> Tensor:
    """Return a tensor of known finite values."""
    array: Reals = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise KernelError("a constant must be finite", where)
    return Tensor(Node(Op.CONSTANT, (), array.shape, False, array, array, where, frozen({"value": array})))


def as_tensor(value: Operand, where: Location) -> Tensor:
    """Return a tensor from a tensor, a number or an array."""
    if isinstance(value, Tensor):
        return value
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        array = np.asarray(None)
    if array.dtype.kind not in "bifu":
        raise KernelError(f"cannot compute with a {type(value).__name__}; numbers, arrays and tensors are meant", where)
    return constant(array, where)


def stack(parts: Sequence[Operand], axis: int = 0) -> Tensor:
    """Join tensors of one shape along a new axis."""
    return _join(Op.STACK, parts, axis)


def concatenate(parts: Sequence[Operand], axis: int = 0) -> Tensor:
    """Join tensors along an axis they have."""
    return _join(Op.CONCATENATE, parts, axis)


def within(x: Tensor, bound: float) -> Tensor:
    """Promise that every element's magnitude is at most `bound`, where the analysis would have to assume more."""
    where = here()
    if not (np.isfinite(bound) and bound > 0):
        raise KernelError(f"within: the bound {bound!r} must be positive and finite", where)
    low, high = np.maximum(x.node.low, -bound), np.minimum(x.node.high, bound)
    return _unary(Op.WITHIN, x.node, x.shape, np.minimum(low, high), np.maximum(low, high), bound=float(bound))


def polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Evaluate a polynomial with real coefficients, constant term first, with the fewest levels."""
    where = here()
    trimmed = [float(c) for c in coefficients]
    while len(trimmed) > 1 and trimmed[-1] == 0.0:
        trimmed.pop()
    if not trimmed or not np.isfinite(trimmed).all():
        raise KernelError("a polynomial needs at least one coefficient, all finite", where)
    if len(trimmed) == 1:
        return constant(np.full(x.shape, trimmed[0]), where)
    low, high = bounds.polynomial((x.node.low, x.node.high), trimmed)
    return _unary(Op.POLYNOMIAL, x.node, x.shape, low, high, coefficients=tuple(trimmed))


def _unary(op: Op, node: Node, shape: Shape, low: Reals, high: Reals, **attributes: Any) -> Tensor:
    """Make a node of one argument."""
    return Tensor(Node(op, (node,), shape, node.encrypted, low, high, here(), frozen(attributes)))


def _gather(op: Op, node: Node, picked: NDArray[np.intp], where: Location) -> Tensor:
    """Make a view: element e of the result is element `picked[e]` (row-major) of the argument."""
    if picked.size == 0:
        raise KernelError(f"{op} of shape {node.shape} leaves no element", where)
    low, high = node.low.reshape(-1)[picked], node.high.reshape(-1)[picked]
    return Tensor(Node(op, (node,), picked.shape, node.encrypted, low, high, where, frozen({"gather": picked})))


def _elementwise(op: Op, left: Operand, right: Operand) -> Tensor:
    """Make an elementwise node of two operands."""
    where = here()
    a, b = as_tensor(left, where).node, as_tensor(right, where).node
    try:
        shape = np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise KernelError(f"{op}: shapes {a.shape} and {b.shape} do not fit together", where) from None
    if op is Op.ADD:
        low, high = a.low + b.low, a.high + b.high
    elif op is Op.SUB:
        low, high = a.low - b.high, a.high - b.low
    elif a is b:
        low, high = bounds.power((a.low, a.high), 2)
    else:
        low, high = bounds.multiply((a.low, a.high), (b.low, b.high))
    return Tensor(Node(op, (a, b), shape, a.encrypted or b.encrypted, np.asarray(low), np.asarray(high), where))


def _matmul(left: Operand, right: Operand) -> Tensor:
    """Make a matrix product node."""
    where = here()
    a, b = as_tensor(left, where).node, as_tensor(right, where).node
    fits = len(a.shape) in (1, 2) and len(b.shape) in (1, 2) and a.shape[-1] == b.shape[0]
    if not fits:
        raise KernelError(
            f"matmul: shapes {a.shape} and {b.shape}; vectors or matrices with a common inner extent", where
        )
    low, high = bounds.matmul((a.low, a.high), (b.low, b.high))
    return Tensor(Node(Op.MATMUL, (a, b), low.shape, a.encrypted or b.encrypted, low, high, where))


def _join(op: Op, parts: Sequence[Operand], axis: int) -> Tensor:
    """Make a stack or a concatenation."""
    where = here()
    nodes = [as_tensor(part, where).node for part in parts]
    join = np.stack if op is Op.STACK else np.concatenate
    try:
        low = join([node.low for node in nodes], axis=axis)
        high = join([node.high for node in nodes], axis=axis)
    except ValueError as error:
        raise KernelError(f"{op}: {error}", where) from None
    encrypted = any(node.encrypted for node in nodes)
    return Tensor(Node(op, tuple(nodes), low.shape, encrypted, low, high, where, frozen({"axis": axis})))


_UFUNCS: dict[str, Any] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "negative": operator.neg,
    "matmul": operator.matmul,
    "divide": operator.truediv,
    "square": lambda x: x * x,
}
_FUNCTIONS: dict[str, Any] = {
    "sum": lambda x, axis=None, **_: x.sum(axis),
    "mean": lambda x, axis=None, **_: x.mean(axis),
    "stack": stack,
    "concatenate": concatenate,
    "transpose": lambda x, axes=None: x.transpose(axes),
    "reshape": lambda x, shape, **_: x.reshape(shape),
    "dot": operator.matmul,
    "roll": lambda x, shift, axis=-1: x.rotate(-shift, axis),
}
