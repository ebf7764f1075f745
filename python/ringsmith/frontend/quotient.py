# SPDX-License-Identifier: Apache-2.0
"""Quotients in BFV kernels: an exact tensor of integers over one known divisor, as a mean is.

Nothing is divided while encrypted: the divisor is part of the program, and the client divides by it after decryption.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ringsmith.errors import KernelError
from ringsmith.frontend import tensor as tensors
from ringsmith.frontend.numpy_functions import FUNCTIONS, OF_EVERY_KIND
from ringsmith.frontend.partwise import LINEAR, Partwise, by_part, shape_function, supported, values_of
from ringsmith.frontend.refusals import remedy_for
from ringsmith.frontend.remedies import QUOTIENT, of_ufunc
from ringsmith.frontend.tensor import KINDS, NUMPY, Kind, Tensor, as_tensor, elementwise, matmul
from ringsmith.ir.graph import Op
from ringsmith.location import here

#: Divisors travel as 64 bits.
_MOST = (1 << 64) - 1


class Quotient(Partwise):
    """A traced value: integers over a divisor, at least 1."""

    __slots__ = ("divisor", "numerator")

    def __init__(self, numerator: Tensor, divisor: int) -> None:
        """Join both."""
        if divisor > _MOST:
            raise KernelError(
                f"a divisor of {divisor.bit_length()} bits; at most 64 are kept: return sums, divide after decryption",
                here(),
            )
        self.numerator, self.divisor = numerator, divisor

    @property
    def _parts(self) -> tuple[Tensor, ...]:
        return (self.numerator,)

    @property
    def _numbers(self) -> str:
        return QUOTIENT

    def _of_parts(self, parts: list[Tensor]) -> Quotient:
        return Quotient(parts[0], self.divisor)

    def __repr__(self) -> str:
        """Return shape, secrecy and divisor."""
        return f"<{self.numerator!r} over {self.divisor}>"

    def within(self, bound: float) -> Quotient:
        """Promise |value| <= bound."""
        return Quotient(tensors.within(self.numerator, bound * self.divisor), self.divisor)

    def polynomial(self, coefficients: Sequence[Any]) -> Quotient:
        """Evaluate a polynomial with integer coefficients, constant term first: over divisor^degree."""
        degree = len(coefficients) - 1
        scaled = [c * self.divisor ** (degree - i) for i, c in enumerate(coefficients)]
        return Quotient(tensors.polynomial(self.numerator, scaled), self.divisor ** max(degree, 0))

    def conj(self) -> Quotient:
        """Return a copy: integers are real."""
        return Quotient(+self.numerator, self.divisor)

    conjugate = conj

    def __add__(self, other: Any) -> Quotient:
        """Add element by element."""
        return computed(Op.ADD, self, other)

    def __radd__(self, other: Any) -> Quotient:
        """Add element by element."""
        return computed(Op.ADD, other, self)

    def __sub__(self, other: Any) -> Quotient:
        """Subtract element by element."""
        return computed(Op.SUB, self, other)

    def __rsub__(self, other: Any) -> Quotient:
        """Subtract element by element."""
        return computed(Op.SUB, other, self)

    def __mul__(self, other: Any) -> Quotient:
        """Multiply element by element."""
        return computed(Op.MULTIPLY, self, other)

    def __rmul__(self, other: Any) -> Quotient:
        """Multiply element by element."""
        return computed(Op.MULTIPLY, other, self)

    def __matmul__(self, other: Any) -> Quotient:
        """Multiply matrices or vectors."""
        return computed(Op.MATMUL, self, other)

    def __rmatmul__(self, other: Any) -> Quotient:
        """Multiply matrices or vectors."""
        return computed(Op.MATMUL, other, self)

    def __truediv__(self, other: Any) -> Quotient:
        """Divide by an integer known while tracing."""
        return divided(self, other)

    def __neg__(self) -> Quotient:
        """Negate."""
        return Quotient(-self.numerator, self.divisor)

    def __pow__(self, exponent: int, modulus: None = None) -> Quotient:
        """Raise to a non-negative integer power."""
        return Quotient(self.numerator.__pow__(exponent, modulus), self.divisor ** int(exponent))


def of(value: Any, like: Tensor) -> Quotient:
    """Return a value over its divisor, 1 for tensors and known integers."""
    return value if isinstance(value, Quotient) else Quotient(as_tensor(value, here(), like=like), 1)


def is_quotient(value: Any) -> bool:
    """Return whether a value, or one of a sequence of values, is a quotient."""
    if isinstance(value, list | tuple):
        return any(is_quotient(one) for one in value)
    return isinstance(value, Quotient)


def _over(value: Quotient, divisor: int) -> Tensor:
    """Return the numerator over a multiple of the divisor."""
    factor = divisor // value.divisor
    if factor == 1:
        return value.numerator
    if value.numerator.node.op is Op.CONSTANT:
        return as_tensor(value.numerator.node.low.astype(object) * factor, here(), like=value.numerator)
    return value.numerator * factor


def computed(op: Op, left: Any, right: Any) -> Quotient:
    """Add, subtract or multiply two values of which one is a quotient."""
    like = next(value.numerator for value in (left, right) if isinstance(value, Quotient))
    a, b = of(left, like), of(right, like)
    if op in (Op.ADD, Op.SUB):
        common = math.lcm(a.divisor, b.divisor)
        return Quotient(elementwise(op, _over(a, common), _over(b, common)), common)
    multiply = matmul if op is Op.MATMUL else operator.mul
    return Quotient(multiply(a.numerator, b.numerator), a.divisor * b.divisor)


def divided(left: Any, right: Any) -> Quotient:
    """Divide by one known integer other than 0: it becomes part of the divisor."""
    if not isinstance(left, Quotient) or not isinstance(right, int | np.integer) or right == 0:
        raise KernelError("a quotient of BFV is divided by one integer known while tracing, not 0", here())
    return Quotient(left.numerator if right > 0 else -left.numerator, left.divisor * abs(int(right)))


_UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: lambda a, b: computed(Op.ADD, a, b),
    np.subtract: lambda a, b: computed(Op.SUB, a, b),
    np.multiply: lambda a, b: computed(Op.MULTIPLY, a, b),
    np.matmul: lambda a, b: computed(Op.MATMUL, a, b),
    np.divide: divided,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.power: operator.pow,
    np.square: lambda x: x * x,
}


def _product(function: Any) -> Callable[..., Quotient]:
    def compute(a: Any, b: Any) -> Quotient:
        like = next(value.numerator for value in (a, b) if isinstance(value, Quotient))
        x, y = of(a, like), of(b, like)
        return Quotient(function(x.numerator, y.numerator), x.divisor * y.divisor)

    return compute


def _again(function: Any) -> Callable[..., Any]:
    """Return a function that divides once more: a mean of means, a variance of quotients (of squares)."""
    power = 2 if function is np.var else 1

    def compute(a: Quotient, *args: Any, **kwargs: Any) -> Any:
        found = function(a.numerator, *args, **kwargs)
        if isinstance(found, tuple):
            return tuple(over(one, a) for one in found)
        return over(found, a)

    def over(found: Quotient, a: Quotient) -> Quotient:
        return Quotient(found.numerator, found.divisor * a.divisor**power)

    return compute


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{function: _product(function) for function in (np.dot, np.inner, np.outer)},
    **{function: _again(function) for function in (np.mean, np.var, np.gradient)},
    **{function: FUNCTIONS[function].compute for function in OF_EVERY_KIND},
}


def call_ufunc(ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """Compute a ufunc of quotients, or refuse it."""
    if ufunc not in _UFUNCS:
        remedy = of_ufunc(ufunc, QUOTIENT)
        raise KernelError(f"numpy.{ufunc.__name__} is not supported of quotients; {remedy}", here())
    return _UFUNCS[ufunc](*inputs)


def call_function(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Compute a numpy function of quotients, or refuse it."""
    if function in _FUNCTIONS:
        return _FUNCTIONS[function](*args, **kwargs)
    if function in LINEAR:
        values = values_of(function, args, kwargs)
        like = next(value.numerator for value in values if isinstance(value, Quotient))
        common = math.lcm(*(of(value, like).divisor for value in values))
        found = by_part(function, args, kwargs, lambda value: _over(of(value, like), common))
        if isinstance(found, list | tuple):
            return type(found)(Quotient(one, common) for one in found)
        return Quotient(found, common)
    if shape_function(function):
        return function(np.broadcast_to(0, args[0].shape), *args[1:], **kwargs)
    remedy = "use the sum" if supported(function) else remedy_for(function.__name__, args[0] if args else None)
    raise KernelError(f"numpy.{function.__name__} is not supported of quotients; {remedy}", here())


KINDS.append(Kind(is_quotient, computed, divided, call_ufunc, call_function))
NUMPY["quotient"] = Quotient
