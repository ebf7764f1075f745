# SPDX-License-Identifier: Apache-2.0
"""The tensor a kernel's function sees while it is traced: numpy's operators, recorded instead of computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np

from ringsmith.errors import KernelError
from ringsmith.frontend.refusals import IN_ARRAY, Refusing, refusal
from ringsmith.frontend.remedies import DIVIDED, INTEGERS, REALS, ROOT
from ringsmith.ir import nodes
from ringsmith.ir.graph import Node, Op, Shape
from ringsmith.ir.sparse_map import SparseMap
from ringsmith.location import Location, here
from ringsmith.scalars import is_number, whole

Operand = Any  # Tensor, number or array: what stands on the other side of an operator.

#: Handlers of numpy's ufuncs and functions; `numpy_functions` fills it.
NUMPY: dict[str, Callable[..., Any]] = {}


@dataclass(frozen=True)
class Kind:
    """A kind of values made of several tensors: whether a value is one, and what computes with it."""

    claims: Callable[[Any], bool]
    computed: Callable[[Op, Any, Any], Any]
    divided: Callable[[Any, Any], Any]
    ufunc: Callable[[Any, tuple[Any, ...]], Any]
    function: Callable[..., Any]


#: The kinds there are; `complex_tensor` and `quotient` fill it.
KINDS: list[Kind] = []


def kind_of(values: Iterable[Any]) -> Kind | None:
    """Return the kind that has to compute with these values, None if they are tensors and real numbers."""
    given = list(values)
    return next((kind for kind in KINDS if any(kind.claims(value) for value in given)), None)


class Tensor(Refusing):
    """A traced value. `shape`, `ndim` and `size` as in numpy; its elements are not known."""

    __slots__ = ("_owns", "node")

    def __init__(self, node: Node, *, owns: bool = True) -> None:
        """Wrap a node of the graph; `owns` tells whether numpy would have made a new array here, not a view."""
        self.node = node
        self._owns = owns

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse what would change a numpy array (x.shape = ..., x.flat = ...)."""
        if name not in Tensor.__slots__:
            raise KernelError(f"x.{name} = ...: tensors are not changed in place", here())
        super().__setattr__(name, value)

    @property
    def _is_encrypted(self) -> bool:
        return self.node.encrypted

    @property
    def _numbers(self) -> str:
        return INTEGERS if self.node.exact else REALS

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

    @property
    def mT(self) -> Tensor:
        """The tensor with its last two axes exchanged."""
        return self._numpy(np.matrix_transpose)

    @property
    def real(self) -> Tensor:
        """The real part: the tensor itself."""
        self._owns = False
        return Tensor(self.node, owns=False)

    @property
    def imag(self) -> Tensor:
        """The imaginary part: zeros."""
        return Tensor(constant(np.zeros(self.shape, dtype=np.int64), here(), like=self))

    def conj(self) -> Tensor:
        """Return the complex conjugate: a copy."""
        return self.copy()

    conjugate = conj

    def __repr__(self) -> str:
        """Return shape and secrecy."""
        return f"<{'encrypted' if self._is_encrypted else 'plain'} tensor of shape {self.shape}>"

    def __len__(self) -> int:
        """Return the extent of the first axis."""
        if not self.shape:
            raise KernelError("a scalar has no length", here())
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        """Iterate over the first axis."""
        return (self[i] for i in range(len(self)))

    def __copy__(self) -> Tensor:
        """Return a copy."""
        return self.copy()

    def __deepcopy__(self, _memo: Any) -> Tensor:
        """Return a copy of the same traced value."""
        return self.copy()

    def __add__(self, other: Operand) -> Tensor:
        """Add element by element, with numpy's broadcasting."""
        return elementwise(Op.ADD, self, other)

    def __radd__(self, other: Operand) -> Tensor:
        """Add element by element."""
        return elementwise(Op.ADD, other, self)

    def __sub__(self, other: Operand) -> Tensor:
        """Subtract element by element."""
        return elementwise(Op.SUB, self, other)

    def __rsub__(self, other: Operand) -> Tensor:
        """Subtract element by element."""
        return elementwise(Op.SUB, other, self)

    def __mul__(self, other: Operand) -> Tensor:
        """Multiply element by element."""
        return elementwise(Op.MULTIPLY, self, other)

    def __rmul__(self, other: Operand) -> Tensor:
        """Multiply element by element."""
        return elementwise(Op.MULTIPLY, other, self)

    def __truediv__(self, other: Operand) -> Tensor:
        """Divide by a number or array known while tracing (a multiplication by its inverse); CKKS only."""
        where = here()
        if kind := kind_of([other]):
            return cast(Tensor, kind.divided(self, other))
        if self.node.exact:
            raise KernelError(
                f"a division (/) leaves the integers, on which BFV computes; {DIVIDED.words(INTEGERS)}", where
            )
        divisor = as_tensor(other, where).node
        if divisor.op is not Op.CONSTANT or (divisor.low == 0).any():
            raise KernelError(
                f"only division by a non-zero constant can be computed encrypted; {DIVIDED.words(REALS)}", where
            )
        return elementwise(Op.MULTIPLY, self, 1.0 / divisor.low)

    def __neg__(self) -> Tensor:
        """Negate."""
        return Tensor(nodes.negate(self.node, here()))

    def __pos__(self) -> Tensor:
        """Return a copy."""
        return self.copy()

    def __pow__(self, exponent: int, modulus: None = None) -> Tensor:
        """Raise to a non-negative integer power."""
        where = here()
        if modulus is not None:
            raise KernelError(
                "pow() with a modulus cannot be computed encrypted; BFV computes modulo plain_modulus", where
            )
        if not isinstance(exponent, int | np.integer) or exponent < 0:
            raise KernelError(
                f"power {exponent!r}: only integers >= 0, the same for all elements, can be computed; a root or "
                f"another power: {ROOT.words(self._numbers)}",
                where,
            )
        if exponent == 0:
            return Tensor(constant(np.ones(self.shape, dtype=np.int64), where, like=self))
        return self.copy() if exponent == 1 else Tensor(nodes.power(self.node, int(exponent), where))

    def __matmul__(self, other: Operand) -> Tensor:
        """Multiply matrices, vectors or stacks of matrices."""
        return matmul(self, other)

    def __rmatmul__(self, other: Operand) -> Tensor:
        """Multiply matrices, vectors or stacks of matrices."""
        return matmul(other, self)

    def __iadd__(self, other: Operand) -> Tensor:
        """Add in place, where numpy would change no other array."""
        return self._in_place("+", self + other)

    def __isub__(self, other: Operand) -> Tensor:
        """Subtract in place."""
        return self._in_place("-", self - other)

    def __imul__(self, other: Operand) -> Tensor:
        """Multiply in place."""
        return self._in_place("*", self * other)

    def __itruediv__(self, other: Operand) -> Tensor:
        """Divide in place by a known number or array."""
        return self._in_place("/", self / other)

    def __ipow__(self, exponent: int) -> Tensor:  # type: ignore[misc]
        """Raise to a power in place."""
        return self._in_place("**", self**exponent)

    def __imatmul__(self, other: Operand) -> Tensor:
        """Multiply matrices in place."""
        return self._in_place("@", self @ other)

    def _in_place(self, sign: str, result: Tensor) -> Tensor:
        """Take over a result as numpy does: a scalar is replaced, an array changed for everyone who holds it."""
        if not self._owns:
            raise KernelError(
                f"x {sign}= ... would change an argument, or an array that shares its elements; write x = x {sign} ...",
                here(),
            )
        if not self.shape:
            return result
        if result.shape != self.shape:
            raise KernelError(f"x {sign}= ...: the result's shape {result.shape} is not {self.shape}", here())
        self.node = result.node
        return self

    def __getitem__(self, index: Any) -> Tensor:
        """Select as numpy does, by an index known while tracing; costs nothing until parts are combined."""
        if any(isinstance(part, Tensor) for part in (index if isinstance(index, tuple) else (index,))):
            raise KernelError("an index must be known while tracing, a tensor's elements are not", here())
        return self._viewed(lambda elements: elements[index])

    def copy(self, order: str = "C") -> Tensor:
        """Return a copy; the order in memory (C, F, A, K) has no meaning for a tensor."""
        if order not in tuple("CFAKcfak"):
            raise KernelError(f"order={order!r}: one of C, F, A, K", here())
        return Tensor(self.node)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Tensor:
        """Return the same elements under another shape, read and written in the given order."""
        return self._numpy(np.reshape, shape[0] if len(shape) == 1 else shape, order=order, copy=copy)

    def transpose(self, *axes: Any) -> Tensor:
        """Permute the axes (reversed by default)."""
        return self._numpy(np.transpose, axes[0] if len(axes) == 1 else axes or None)

    def flatten(self, order: str = "C") -> Tensor:
        """Return all elements along one axis."""
        return self._numpy(np.ravel, order=order).copy()

    def ravel(self, order: str = "C") -> Tensor:
        """Return all elements along one axis."""
        return self._numpy(np.ravel, order=order)

    def squeeze(self, axis: Any = None) -> Tensor:
        """Drop axes of extent 1."""
        return self._numpy(np.squeeze, axis=axis)

    def swapaxes(self, axis1: int, axis2: int) -> Tensor:
        """Exchange two axes."""
        return self._numpy(np.swapaxes, axis1, axis2)

    def repeat(self, repeats: Any, axis: int | None = None) -> Tensor:
        """Repeat elements."""
        return self._numpy(np.repeat, repeats, axis=axis)

    def take(self, indices: Any, axis: int | None = None, out: None = None, mode: str = "raise") -> Tensor:
        """Select by known indices along an axis."""
        return self._numpy(np.take, indices, axis=axis, out=out, mode=mode)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """Select a diagonal."""
        return self._numpy(np.diagonal, offset=offset, axis1=axis1, axis2=axis2)

    def dot(self, other: Operand, out: None = None) -> Tensor:
        """Multiply as numpy.dot."""
        return self._numpy(np.dot, other, out=out)

    def sum(self, axis: Any = None, dtype: None = None, out: None = None, **more: Any) -> Tensor:
        """Sum as numpy.sum: axis, keepdims, initial and where."""
        return self._numpy(np.sum, axis=axis, dtype=dtype, out=out, **more)

    def mean(self, axis: Any = None, dtype: None = None, out: None = None, **more: Any) -> Tensor:
        """Average as numpy.mean: axis, keepdims and where."""
        return self._numpy(np.mean, axis=axis, dtype=dtype, out=out, **more)

    def var(self, axis: Any = None, dtype: None = None, out: None = None, ddof: float = 0, **more: Any) -> Tensor:
        """Return the variance as numpy.var: axis, ddof and keepdims; two levels."""
        return self._numpy(np.var, axis=axis, dtype=dtype, out=out, ddof=ddof, **more)

    def cumsum(self, axis: int | None = None, dtype: None = None, out: None = None) -> Tensor:
        """Return the sums of the elements up to each as numpy.cumsum; one level, two for many."""
        return self._numpy(np.cumsum, axis=axis, dtype=dtype, out=out)

    def rotate(self, steps: int, axis: int = -1) -> Tensor:
        """Rotate left by `steps` along an axis, as numpy.roll(x, -steps, axis)."""
        return self._viewed(lambda elements: np.roll(elements, -whole("rotate: steps", steps), axis=axis))

    def _numpy(self, function: Any, *args: Any, **kwargs: Any) -> Tensor:
        result: Tensor = NUMPY["function"](function, (self, *args), kwargs)
        return result

    def _viewed(self, select: Callable[[Any], Any]) -> Tensor:
        result: Tensor = viewed(self, select)
        return result

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Compute numpy's ufuncs that have an encrypted form, refuse the others."""
        return NUMPY["ufunc"](ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, _types: Any, args: Any, kwargs: Any) -> Any:
        """Compute numpy's functions that have an encrypted form, refuse the others."""
        return NUMPY["function"](function, args, kwargs)

    __array__ = refusal(*IN_ARRAY)


def constant(value: Any, where: Location, *, like: Tensor) -> Node:
    """Return a node of known values: exact integers beside BFV's tensors, reals beside CKKS's."""
    return nodes.constant(value, where, exact=like.node.exact)


def as_tensor(value: Operand, where: Location, *, like: Tensor | None = None) -> Tensor:
    """Return a tensor from a tensor, a number or an array; `like` tells whether numbers are exact."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, str | bytes | dict | set) or value is None or callable(value):
        raise KernelError(f"cannot compute with a {type(value).__name__}; numbers, arrays and tensors are meant", where)
    if isinstance(value, np.ndarray) and value.dtype == object and any(isinstance(v, Tensor) for v in value.flat):
        raise KernelError("an object array of tensors; " + IN_ARRAY[1], where)
    return Tensor(nodes.constant(value, where, exact=like is not None and like.node.exact))


def together(values: Sequence[Operand], where: Location) -> list[Tensor]:
    """Return operands as tensors, numbers among them as exact as the tensors."""
    like = next((value for value in values if isinstance(value, Tensor)), None)
    return [as_tensor(value, where, like=like) for value in values]


def elementwise(op: Op, left: Operand, right: Operand) -> Tensor:
    """Add, subtract or multiply element by element."""
    if kind := kind_of((left, right)):
        return cast(Tensor, kind.computed(op, left, right))
    where = here()
    a, b = together((left, right), where)
    return Tensor(nodes.elementwise(op, a.node, b.node, where))


def matmul(left: Operand, right: Operand) -> Tensor:
    """Multiply matrices, vectors or stacks of matrices."""
    if kind := kind_of((left, right)):
        return cast(Tensor, kind.computed(Op.MATMUL, left, right))
    where = here()
    a, b = together((left, right), where)
    if max(a.ndim, b.ndim) > 2:
        return cast(Tensor, NUMPY["stacked"](a, b))
    return Tensor(nodes.matmul(a.node, b.node, where))


def linear(x: Any, made: SparseMap) -> Any:
    """Return a linear map of a tensor, or of numbers, by its entries that are not zero."""
    if not isinstance(x, Tensor):
        return made(np.asarray(x).reshape(-1)).reshape(made.made)
    where = here()
    if x.shape != made.given:
        raise KernelError(f"a linear map of shape {made.given} and a tensor of shape {x.shape}", where)
    entries = {"rows": made.rows, "columns": made.columns, "picks": made.picks, "stride": made.stride}
    return Tensor(nodes.linear(x.node, constant(made.weights, where, like=x), entries, made.made, where))


def viewed(tensor: Tensor, select: Callable[[Any], Any]) -> Any:
    """Apply a selection of elements: `select` gets each element's number under the tensor's shape.

    numpy itself selects, so every index and keyword means what it means there. A list of selections gives a list.
    """
    where = here()
    try:
        picked = select(_elements(tensor.shape))
    except (IndexError, ValueError, TypeError, OverflowError) as error:
        raise KernelError(f"cannot select from shape {tensor.shape}: {error}", where) from None
    if isinstance(picked, list | tuple):
        return type(picked)(_picked(tensor, part, where) for part in picked)
    return _picked(tensor, picked, where)


@lru_cache(maxsize=16)
def _elements(shape: Shape) -> Any:
    """Return each element's number under a shape, read-only: loops over a tensor's elements share it."""
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    numbers.flags.writeable = False
    return numbers


def _picked(tensor: Tensor, picked: Any, where: Location) -> Tensor:
    """Return the tensor of the picked elements; a single one (numpy's scalar) shares nothing, an array may."""
    scalar = not isinstance(picked, np.ndarray)
    if not scalar:
        tensor._owns = False
    return Tensor(nodes.gather(tensor.node, np.asarray(picked), where), owns=scalar)


def joined(parts: Sequence[Operand], join: Callable[[list[Any]], Any]) -> Tensor:
    """Join tensors, numbers and arrays: `join` gets an array of element numbers for each and gives one array."""
    where = here()
    tensors = together(list(parts), where)
    ends = np.cumsum([0] + [tensor.size for tensor in tensors])
    numbered = [np.arange(e, e + t.size).reshape(t.shape) for e, t in zip(ends, tensors, strict=False)]
    try:
        picked = np.asarray(join(numbered))
    except (IndexError, ValueError, TypeError) as error:
        raise KernelError(f"cannot join shapes {', '.join(str(t.shape) for t in tensors)}: {error}", where) from None
    return Tensor(nodes.join([t.node for t in tensors], picked, where))


def within(x: Tensor, bound: float, error: float | None = None) -> Tensor:
    """Promise that every element's magnitude is at most `bound`, where the analysis would have to assume more, and that
    the evaluation's error is at most `error`."""
    where = here()
    if not (is_number(bound) and bound > 0):
        raise KernelError(f"within: the bound {bound!r} must be a positive finite number", where)
    if error is not None and x.node.exact:
        raise KernelError("within: error= belongs to CKKS; BFV computes without errors", where)
    x._owns = False
    most = int(bound // 1) if x.node.exact else float(bound)
    own = error if x.node.encrypted else None
    return Tensor(nodes.within(x.node, most, where, error=own), owns=False)


def bootstrap(x: Tensor) -> Tensor:
    """Mark a place where ciphertexts are refreshed."""
    where = here()
    if x.node.exact:
        raise KernelError("rs.bootstrap belongs to CKKS; BFV has no bootstrapping", where)
    if not x.node.encrypted:
        raise KernelError("rs.bootstrap of a plain value: only an encrypted one has levels", where)
    x._owns = False
    return Tensor(nodes.within(x.node, float(x.node.bound), where, bootstraps=True), owns=False)


def polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Evaluate a polynomial with real coefficients, constant term first, with the fewest levels."""
    where = here()
    if isinstance(coefficients, Tensor) or any(isinstance(c, Tensor) for c in coefficients):
        raise KernelError("the coefficients of a polynomial must be known while tracing", where)
    values = constant(coefficients, where, like=x).low
    if values.ndim != 1 or not values.size:
        raise KernelError("a polynomial needs a list of at least one coefficient", where)
    trimmed = values.tolist()
    while len(trimmed) > 1 and trimmed[-1] == 0:
        trimmed.pop()
    if len(trimmed) == 1:
        return Tensor(constant(np.full(x.shape, trimmed[0], dtype=values.dtype), where, like=x))
    return Tensor(nodes.polynomial(x.node, trimmed, where))


def chebyshev(x: Tensor, coefficients: Sequence[float], low: float, high: float) -> Tensor:
    """Evaluate sum_k c_k T_k(u), u = (2 x - low - high) / (high - low), of values promised to lie in low..high."""
    where = here()
    if x.node.exact:
        raise KernelError(
            'an approximation computes on reals, BFV on integers; make the kernel with scheme="ckks"', where
        )
    trimmed = list(coefficients)
    while len(trimmed) > 1 and trimmed[-1] == 0:
        trimmed.pop()
    if len(trimmed) == 1:
        return Tensor(constant(np.full(x.shape, trimmed[0]), where, like=x))
    if x.node.encrypted:
        return Tensor(nodes.chebyshev(x.node, trimmed, low, high, where))
    return _plain_chebyshev(x, trimmed, low, high, where)


def _plain_chebyshev(x: Tensor, coefficients: Sequence[float], low: float, high: float, where: Location) -> Tensor:
    """Evaluate it on plain operands, by operations of plaintext expressions."""
    u = within(x * (2 / (high - low)) - (low + high) / (high - low), 1.0)
    terms = [Tensor(constant(np.ones(x.shape), where, like=x)), u]
    for k in range(2, len(coefficients)):
        other = terms[k % 2]
        terms.append(within(2.0 * terms[k - k // 2] * terms[k // 2] - other, 1.0))
    total = terms[0] * coefficients[0]
    for term, coefficient in zip(terms[1:], coefficients[1:], strict=False):
        total = total + term * coefficient
    return total
