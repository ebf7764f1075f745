# SPDX-License-Identifier: Apache-2.0
"""Complex numbers in CKKS kernels: a real and an imaginary tensor, each with slots of its own.

Conjugation and parts cost nothing and take no key; a product of two complex values takes four products of reals, summed
before they are relinearised, so two relinearisations. Parts known to be zero cost nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ringsmith.errors import InputError, KernelError
from ringsmith.frontend.numpy_functions import FUNCTIONS, OF_EVERY_KIND
from ringsmith.frontend.partwise import LINEAR, Partwise, by_part, shape_function, supported, zeros
from ringsmith.frontend.refusals import remedy_for
from ringsmith.frontend.remedies import COMPLEX
from ringsmith.frontend.tensor import KINDS, NUMPY, Kind, Tensor, as_tensor, elementwise, matmul
from ringsmith.frontend.tensor import within as promised
from ringsmith.ir import nodes
from ringsmith.ir.graph import Node, Op
from ringsmith.ir.numbers import complexes
from ringsmith.location import Location, here

_ABSOLUTE = "use rs.abs_squared(z), or its root by rs.approximate"
_PARTS = "treat z.real and z.imag apart"


class ComplexTensor(Partwise):
    """A traced complex value: `real` and `imag` are tensors of one shape."""

    __slots__ = ("_imag", "_real")

    def __init__(self, real: Tensor, imag: Tensor) -> None:
        """Join two parts, broadcast against each other."""
        if real.node.exact:
            raise KernelError(
                'BFV computes on integers; complex numbers need scheme="ckks", or pass both parts as arguments', here()
            )
        shape = nodes.broadcast("complex", real.shape, imag.shape, here())
        self._real, self._imag = (_broadcast(part, shape) for part in (real, imag))

    @property
    def _parts(self) -> tuple[Tensor, ...]:
        return self._real, self._imag

    @property
    def _numbers(self) -> str:
        return COMPLEX

    def _of_parts(self, parts: list[Tensor]) -> ComplexTensor:
        return ComplexTensor(*parts)

    @property
    def real(self) -> Tensor:
        """The real part."""
        return Tensor(self._real.node, owns=False)

    @property
    def imag(self) -> Tensor:
        """The imaginary part."""
        return Tensor(self._imag.node, owns=False)

    def __repr__(self) -> str:
        """Return shape and secrecy."""
        return f"<{'encrypted' if self._is_encrypted else 'plain'} complex tensor of shape {self.shape}>"

    def conj(self) -> ComplexTensor:
        """Return the complex conjugate; free."""
        return ComplexTensor(self._real, _negative(self._imag))

    conjugate = conj

    def abs_squared(self) -> Tensor:
        """Return |z|^2 = re^2 + im^2: one relinearisation."""
        return _plus(_times(operator.mul, self._real, self._real), _times(operator.mul, self._imag, self._imag))

    def within(self, bound: float) -> ComplexTensor:
        """Promise |z| <= bound, so that neither part exceeds it."""
        return ComplexTensor(*(part if _is_zero(part) else promised(part, bound) for part in self._parts))

    def polynomial(self, coefficients: Sequence[complex]) -> Any:
        """Evaluate a polynomial, constant term first, ceil(log2(degree + 1)) products deep: by powers of two."""
        given = list(coefficients)
        if not given or any(isinstance(one, Tensor | Partwise) for one in given):
            raise KernelError("a polynomial needs a list of at least one coefficient known while tracing", here())
        powers = {1: self}
        while 2 * max(powers) < len(given):
            powers[2 * max(powers)] = powers[max(powers)] * powers[max(powers)]
        return _halves(given, powers, self) + self * 0

    def __add__(self, other: Any) -> Any:
        """Add element by element."""
        return computed(Op.ADD, self, other)

    def __radd__(self, other: Any) -> Any:
        """Add element by element."""
        return computed(Op.ADD, other, self)

    def __sub__(self, other: Any) -> Any:
        """Subtract element by element."""
        return computed(Op.SUB, self, other)

    def __rsub__(self, other: Any) -> Any:
        """Subtract element by element."""
        return computed(Op.SUB, other, self)

    def __mul__(self, other: Any) -> Any:
        """Multiply element by element."""
        return computed(Op.MULTIPLY, self, other)

    def __rmul__(self, other: Any) -> Any:
        """Multiply element by element."""
        return computed(Op.MULTIPLY, other, self)

    def __matmul__(self, other: Any) -> Any:
        """Multiply matrices or vectors."""
        return computed(Op.MATMUL, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        """Multiply matrices or vectors."""
        return computed(Op.MATMUL, other, self)

    def __truediv__(self, other: Any) -> Any:
        """Divide by a number or array known while tracing."""
        return divided(self, other)

    def __neg__(self) -> ComplexTensor:
        """Negate."""
        return ComplexTensor(*map(_negative, self._parts))

    def __pow__(self, exponent: int, modulus: None = None) -> Any:
        """Raise to a non-negative integer power, in ceil(log2(exponent)) levels."""
        if modulus is not None or not isinstance(exponent, int | np.integer) or exponent < 0:
            raise KernelError(
                f"power {exponent!r}: only integers >= 0, the same for all elements, can be computed", here()
            )
        return self.polynomial([1]) if exponent == 0 else _power(self, int(exponent), {1: self})


def _power(base: ComplexTensor, exponent: int, known: dict[int, Any]) -> Any:
    if exponent not in known:
        half = 1 << (exponent - 1).bit_length() - 1
        known[exponent] = _power(base, half, known) * _power(base, exponent - half, known)
    return known[exponent]


def _halves(coefficients: Sequence[complex], powers: Mapping[int, Any], x: ComplexTensor) -> Any:
    """Evaluate by p(x) = low(x) + x^h high(x), h the largest power of two up to the degree."""
    if len(coefficients) == 1:
        return complex(coefficients[0])
    half = 1 << (len(coefficients) - 1).bit_length() - 1
    return _halves(coefficients[:half], powers, x) + powers[half] * _halves(coefficients[half:], powers, x)


def of(value: Any, where: Location) -> ComplexTensor:
    """Return a value as complex: a tensor without an imaginary part, or known numbers."""
    if isinstance(value, ComplexTensor):
        return value
    if isinstance(value, Tensor):
        return ComplexTensor(value, zeros(value))
    if isinstance(value, Partwise):
        raise KernelError("complex numbers do not meet a quotient of BFV", where)
    if not is_complex(value):
        real = as_tensor(value, where)
        return ComplexTensor(real, zeros(real))
    known = _known(value, "a constant", where)
    return ComplexTensor(*(Tensor(nodes.constant(part, where, exact=False)) for part in (known.real, known.imag)))


def _known(value: Any, what: str, where: Location) -> Any:
    try:
        return complexes(value, what)
    except InputError as error:
        raise KernelError(str(error), where) from None


def is_complex(value: Any) -> bool:
    """Return whether a value is complex: by its type, or because a number in it is."""
    if isinstance(value, list | tuple):
        return any(is_complex(one) for one in value)
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind == "c"
    return isinstance(value, ComplexTensor | complex)


def computed(op: Op, left: Any, right: Any) -> Any:
    """Add, subtract or multiply two values of which one is complex."""
    where = here()
    for value in (left, right):
        if isinstance(value, Tensor) and value.node.exact:
            ComplexTensor(value, zeros(value))
    a, b = of(left, where), of(right, where)
    if op is Op.ADD:
        return ComplexTensor(_plus(a.real, b.real), _plus(a.imag, b.imag))
    if op is Op.SUB:
        return ComplexTensor(_minus(a.real, b.real), _minus(a.imag, b.imag))
    return _product(matmul if op is Op.MATMUL else operator.mul, a, b)


def _product(multiply: Callable[..., Any], a: ComplexTensor, b: ComplexTensor) -> ComplexTensor:
    """Compute (ar + i ai)(br + i bi) with any bilinear product."""
    if multiply is not operator.mul and a.ndim == b.ndim == 1 and a.shape == b.shape and multiply is not np.outer:
        # One sum of products for each part takes fewer rotations than four.
        total: ComplexTensor = (a * b).sum()
        return total
    real = _minus(_times(multiply, a.real, b.real), _times(multiply, a.imag, b.imag))
    if a is b and multiply is operator.mul:
        return ComplexTensor(real, _times(multiply, a.real * 2, b.imag))
    return ComplexTensor(real, _plus(_times(multiply, a.real, b.imag), _times(multiply, a.imag, b.real)))


def divided(left: Any, right: Any) -> Any:
    """Divide by known numbers: a multiplication by their inverses."""
    where = here()
    if isinstance(right, Tensor | Partwise):
        raise KernelError("only division by a non-zero constant can be computed encrypted", where)
    known = _known(right, "a divisor", where)
    if (known == 0).any():
        raise KernelError("only division by a non-zero constant can be computed encrypted", where)
    return computed(Op.MULTIPLY, left, 1.0 / known if known.imag.any() else 1.0 / known.real)


def _is_zero(part: Tensor) -> bool:
    return part.node.op is Op.CONSTANT and not np.any(part.node.low)


def _negative(part: Tensor) -> Tensor:
    return part if _is_zero(part) else -part


def _broadcast(part: Tensor, shape: tuple[int, ...]) -> Tensor:
    if part.shape == shape:
        return part
    result: Tensor = NUMPY["function"](np.broadcast_to, (part, shape), {})
    return result


def _plus(a: Tensor, b: Tensor) -> Tensor:
    if not (_is_zero(a) or _is_zero(b)):
        return elementwise(Op.ADD, a, b)
    return _broadcast(b if _is_zero(a) else a, nodes.broadcast("add", a.shape, b.shape, here()))


def _minus(a: Tensor, b: Tensor) -> Tensor:
    return elementwise(Op.SUB, a, b) if not (_is_zero(a) or _is_zero(b)) else _plus(a, _negative(b))


def _times(multiply: Callable[..., Any], a: Tensor, b: Tensor) -> Tensor:
    """Multiply; a part known to be zero only gives a shape."""
    if not (_is_zero(a) or _is_zero(b)):
        product: Tensor = multiply(a, b)
        return product
    try:
        shape = np.shape(multiply(np.broadcast_to(0.0, a.shape), np.broadcast_to(0.0, b.shape)))
    except ValueError as error:
        raise KernelError(f"multiply: shapes {a.shape} and {b.shape}: {error}", here()) from None
    return as_tensor(np.zeros(shape), here())


# ------------------------------------------------------------------------------------------------ numpy

_UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: lambda a, b: computed(Op.ADD, a, b),
    np.subtract: lambda a, b: computed(Op.SUB, a, b),
    np.multiply: lambda a, b: computed(Op.MULTIPLY, a, b),
    np.matmul: lambda a, b: computed(Op.MATMUL, a, b),
    np.divide: divided,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.power: operator.pow,
    np.square: lambda z: z * z,
    np.conjugate: lambda z: of(z, here()).conj(),
}


def _bilinear(function: Any) -> Callable[..., Any]:
    """Return a function of two values as numpy's, linear in each."""

    def compute(a: Any, b: Any) -> ComplexTensor:
        return _product(function, of(a, here()), of(b, here()))

    return compute


def _variance(a: Any, **more: Any) -> Any:
    z = of(a, here())
    return np.var(z.real, **more) + np.var(z.imag, **more)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.dot: _bilinear(np.dot),
    np.inner: _bilinear(np.inner),
    np.outer: _bilinear(np.outer),
    np.var: _variance,
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag,
    **{f: FUNCTIONS[f].compute for f in (*OF_EVERY_KIND, np.fft.fft, np.fft.ifft, np.fft.irfft)},
}


def call_ufunc(ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """Compute a ufunc of complex values, or refuse it."""
    if ufunc not in _UFUNCS:
        remedy = _ABSOLUTE if ufunc is np.absolute else _PARTS
        raise KernelError(f"numpy.{ufunc.__name__} is not supported of complex tensors; {remedy}", here())
    return _UFUNCS[ufunc](*inputs)


def call_function(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Compute a numpy function of complex values, or refuse it."""
    where = here()
    if function in LINEAR:
        parts = [
            by_part(function, args, kwargs, lambda value: of(value, where).real),
            by_part(function, args, kwargs, lambda value: of(value, where).imag),
        ]
        if isinstance(parts[0], list | tuple):
            return type(parts[0])(ComplexTensor(*pair) for pair in zip(*parts, strict=True))
        return ComplexTensor(*parts)
    if shape_function(function):
        return function(np.broadcast_to(0, args[0].shape), *args[1:], **kwargs)
    if function not in _FUNCTIONS:
        remedy = _PARTS if supported(function) else remedy_for(function.__name__, of(args[0], where) if args else None)
        raise KernelError(f"numpy.{function.__name__} is not supported of complex tensors; {remedy}", where)
    return _FUNCTIONS[function](*args, **kwargs)


def joined(value: ComplexTensor, where: Location) -> Node:
    """Return one node: a first axis of extent 2 for real and imaginary part."""
    picked = np.arange(2 * value.size).reshape(2, *value.shape)
    return nodes.join([value.real.node, value.imag.node], picked, where)


KINDS.append(Kind(is_complex, computed, divided, call_ufunc, call_function))
