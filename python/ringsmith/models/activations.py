# SPDX-License-Identifier: Apache-2.0
"""Functions of one number in networks of ONNX: those that are an operator, and those that several nodes make.

x * sigmoid(x), or x/2 * (1 + erf(x / √2)) as PyTorch writes a GELU, are one function of x: approximated as one, they
take neither the product's level nor a second polynomial.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.frontend.approximation import FUNCTIONS
from ringsmith.ir.sparse_map import SparseMap
from ringsmith.models.network import Activation, Affine, Pointwise, Product, Sum, Value, applied

Array = NDArray[np.float64]
Attributes = Mapping[str, Any]
#: Makes an activation of a node's attributes and its other inputs, None where left out.
_Make = Callable[[Attributes, Sequence[Any]], str | Pointwise]

_erf = np.vectorize(math.erf, otypes=[np.float64])
#: Nodes behind a product that are looked at for a value that it is a function of.
_MOST_BEHIND = 64
#: Largest relative difference of two values that are one, in float64.
_SAME = 1e-10


def activation(kind: str, attributes: Attributes, others: Sequence[Any]) -> str | Pointwise:
    """Return the function of an operator of `ACTIVATIONS`: the name of a ready one, or one of arrays."""
    made = ACTIVATIONS[kind](attributes, others)
    return made if isinstance(made, str) else _called(kind.lower(), made)


def _called(name: str, function: Pointwise) -> Pointwise:
    """Return a function under a name, which reports of calibrations and errors show."""

    def named(x: Array) -> Array:
        return np.asarray(function(x))

    named.__name__ = name
    return named


def power_of(exponent: float) -> Pointwise:
    """Return x^exponent."""
    return _called(f"power {exponent:g}", lambda x: x**exponent)


def fused(kind: str, a: Value, b: Value, layer: str) -> Activation | None:
    """Return a * b ("Mul") or a / b ("Div") as one activation where both are functions, element by element, of one
    value; None if not.

    The value nearest to them counts. Products of polynomials of it stay products: they are exact.
    """
    behind: dict[int, Value] = {}
    for value in (a, b):
        _look_behind(value, behind)
    for base in reversed(behind.values()):
        curves = _Curves(base)
        first, second = curves.of(a), curves.of(b)
        if first is not None and second is not None:
            if kind == "Mul" and not curves.approximated:
                return None
            return Activation(base, _joined(kind, first, second), layer)
    return None


def _joined(kind: str, a: Pointwise, b: Pointwise) -> Pointwise:
    if kind == "Add":
        return lambda x: a(x) + b(x)
    if kind == "Div":
        return _called("quotient", lambda x: a(x) / b(x))
    return _called("product", lambda x: a(x) * b(x))


# ---------------------------------------------------------------------------------------------- operators


def _ready(name: str) -> _Make:
    return lambda attributes, others: name


def _plain(function: Pointwise) -> _Make:
    return lambda attributes, others: function


def _clip(attributes: Attributes, others: Sequence[Any]) -> Pointwise:
    ends = [*others, None, None][:2]
    low, high = (
        attributes.get(name) if end is None else float(end) for name, end in zip(("min", "max"), ends, strict=True)
    )
    return lambda x: np.clip(x, -np.inf if low is None else low, np.inf if high is None else high)


def _leaky_relu(attributes: Attributes, others: Sequence[Any]) -> Pointwise:
    leak = attributes.get("alpha", 0.01)
    return lambda x: np.where(x < 0, leak * x, x)


def _hard_sigmoid(attributes: Attributes, others: Sequence[Any]) -> Pointwise:
    slope, shift = attributes.get("alpha", 0.2), attributes.get("beta", 0.5)
    return lambda x: np.clip(slope * x + shift, 0.0, 1.0)


def _below(x: Array) -> Array:
    """Return e^x - 1 of what is negative, else 0."""
    return np.asarray(np.expm1(np.minimum(x, 0.0)))


def _elu(attributes: Attributes, others: Sequence[Any]) -> Pointwise:
    alpha = attributes.get("alpha", 1.0)
    return lambda x: np.maximum(x, 0.0) + alpha * _below(x)


def _celu(attributes: Attributes, others: Sequence[Any]) -> Pointwise:
    alpha = attributes.get("alpha", 1.0)
    return lambda x: np.maximum(x, 0.0) + alpha * _below(x / alpha)


def _selu(attributes: Attributes, others: Sequence[Any]) -> Pointwise:
    alpha, gamma = attributes.get("alpha", 1.6732632423543772), attributes.get("gamma", 1.0507009873554805)
    return lambda x: gamma * (np.maximum(x, 0.0) + alpha * _below(x))


def _gelu(attributes: Attributes, others: Sequence[Any]) -> str | Pointwise:
    if attributes.get("approximate", b"none") != b"tanh":
        return "gelu"
    return lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _swish(attributes: Attributes, others: Sequence[Any]) -> Pointwise:
    alpha = attributes.get("alpha", 1.0)
    return lambda x: x * FUNCTIONS["sigmoid"](alpha * x)


#: The activations by their operators of ONNX.
ACTIVATIONS: dict[str, _Make] = {
    "Relu": _ready("relu"),
    "Sigmoid": _ready("sigmoid"),
    "Tanh": _ready("tanh"),
    "Softplus": _ready("softplus"),
    "Exp": _ready("exp"),
    "Log": _ready("log"),
    "Sqrt": _ready("sqrt"),
    "Reciprocal": _ready("inverse"),
    "Abs": _ready("abs"),
    "Sin": _ready("sin"),
    "Cos": _ready("cos"),
    "Tan": _plain(np.tan),
    "Asin": _plain(np.arcsin),
    "Acos": _plain(np.arccos),
    "Atan": _plain(np.arctan),
    "Sinh": _plain(np.sinh),
    "Cosh": _plain(np.cosh),
    "Asinh": _plain(np.arcsinh),
    "Acosh": _plain(np.arccosh),
    "Atanh": _plain(np.arctanh),
    "Erf": _plain(_erf),
    "Gelu": _gelu,
    "Swish": _swish,
    "Mish": _plain(lambda x: x * np.tanh(np.logaddexp(0.0, x))),
    "Elu": _elu,
    "Celu": _celu,
    "Selu": _selu,
    "Softsign": _plain(lambda x: x / (1 + np.abs(x))),
    "Clip": _clip,
    "LeakyRelu": _leaky_relu,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _plain(lambda x: x * np.clip(x / 6 + 0.5, 0.0, 1.0)),
}


# ---------------------------------------------------------------------------------------------- several nodes as one


def _look_behind(value: Value, found: dict[int, Value]) -> None:
    """Add what a value may be a function of element by element, the farthest first."""
    pending = [(value, False)]
    while pending:
        value, ready = pending.pop()
        if ready:
            found.setdefault(id(value), value)
        elif id(value) not in found and len(found) + len(pending) < _MOST_BEHIND:
            pending.append((value, True))
            pending.extend((argument, False) for argument in _elementwise(value))


def _elementwise(value: Value) -> Iterator[Value]:
    """Yield the operands of a value each element of which is made of the same element of those."""
    match value:
        case Activation():
            yield value.argument
        case Sum() | Product():
            yield value.a
            yield value.b
        case Affine() if _line(value, value.argument) is not None:
            yield value.argument
        case _:
            return


class _Curves:
    """Values as functions of the elements of one of them."""

    def __init__(self, base: Value) -> None:
        self.base = base
        #: Whether one of the functions is not a polynomial.
        self.approximated = False
        self._known: dict[int, Pointwise | None] = {}

    def of(self, value: Value) -> Pointwise | None:
        """Return the function that makes each element of a value of the same element of the base; None: none does."""
        if id(value) not in self._known:
            self._known[id(value)] = self._of(value)
        return self._known[id(value)]

    def _of(self, value: Value) -> Pointwise | None:
        if value is self.base:
            return lambda x: x
        match value:
            case Activation():
                inner = self.of(value.argument)
                self.approximated |= inner is not None
                return None if inner is None else _after(value.exact, inner)
            case Sum() | Product():
                a, b = self.of(value.a), self.of(value.b)
                if a is None or b is None:
                    return None
                return _joined("Add" if isinstance(value, Sum) else "Mul", a, b)
            case Affine():
                for of in (self.base, value.argument):
                    line = _line(value, of)
                    inner = None if line is None else self.of(of)
                    if line is not None and inner is not None:
                        return _after(_on_line(*line), inner)
        return None


def _after(outer: Pointwise, inner: Pointwise) -> Pointwise:
    return lambda x: outer(inner(x))


def _on_line(factor: float, shift: float) -> Pointwise:
    return lambda x: factor * x + shift


def _line(value: Affine, of: Value) -> tuple[float, float] | None:
    """Return the factor and shift that make every element of a value of the same element of its operand, or of another
    affine map of that; None if there are none. Found on random numbers: maps that differ do almost everywhere.
    """
    beside = isinstance(of, Affine) and of.argument is value.argument
    if of.size != value.size or not (beside or (of is value.argument and _is_diagonal(value.matrix))):
        return None
    given = np.random.default_rng(11).uniform(1, 2, (3, value.argument.size))
    made = np.asarray(applied(value, given)).reshape(-1)
    source = np.asarray(applied(of, given) if beside and isinstance(of, Affine) else given).reshape(-1)
    low, high = source.argmin(), source.argmax()
    if source[low] == source[high]:
        return None
    factor = float((made[high] - made[low]) / (source[high] - source[low]))
    shift = float(made[low] - factor * source[low])
    near = np.abs(factor * source + shift - made) <= _SAME * float(np.abs(made).max() + np.abs(factor * source).max())
    return (factor, shift) if near.all() else None


def _is_diagonal(matrix: Array | SparseMap) -> bool:
    if isinstance(matrix, SparseMap):
        return bool(np.array_equal(matrix.rows, matrix.columns))
    return bool(np.count_nonzero(matrix) == np.count_nonzero(np.diagonal(matrix)))
