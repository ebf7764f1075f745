# SPDX-License-Identifier: Apache-2.0
"""`rs.approximate`: functions that no ring has, as polynomials on an interval, with their error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError, KernelError
from ringsmith.frontend import fidelity, tensor
from ringsmith.frontend.composite_sign import sign_product
from ringsmith.frontend.known_reals import known_reals
from ringsmith.frontend.pointwise import Function, Pointwise
from ringsmith.frontend.series import MOST_DEGREE, Series
from ringsmith.frontend.tensor import Tensor
from ringsmith.ir.evaluate import chebyshev, outside
from ringsmith.location import here
from ringsmith.scalars import is_number, is_whole

#: The degree of a composite sign whose degrees follow from an error.
COMPOSITE = "composite"
#: Degree and error where neither is given.
_DEFAULT_DEGREE = 15


@dataclass(frozen=True)
class Approximation:
    """A polynomial in place of a function on [low, high]: call it in kernels, on tensors and arrays of any shape.

    `coefficients` are those of Chebyshev's T_k((2 x - low - high) / (high - low)). `error` is the largest deviation
    from the function, measured on 16385 points of the interval. Outside of it the polynomial means nothing: the values
    it is called with are promised to lie inside, which `Kernel.clear` and `rs.run` check. `function` is the one it
    stands for, which `rs.run` compares with; None where it is not known, as after pickling.
    """

    name: str
    low: float
    high: float
    coefficients: tuple[float, ...]
    error: float
    function: Pointwise | None = field(default=None, repr=False, compare=False)

    @property
    def degree(self) -> int:
        """The degree."""
        return len(self.coefficients) - 1

    @property
    def depth(self) -> int:
        """The levels it takes; one more where the interval has to be scaled to [-1, 1] and nothing before can do it."""
        return self.degree.bit_length()

    def __call__(self, x: Any) -> Any:
        """Evaluate element by element: a tensor in a kernel, else numbers."""
        if isinstance(x, Tensor):
            return tensor.chebyshev(x, self.coefficients, self.low, self.high)
        values = known_reals(x, self.name)
        themselves = fidelity.instead(self.function, values, self.low, self.high)
        if themselves is not None:
            return themselves
        broken = outside(values, self.low, self.high)
        if broken is not None:
            raise KernelError(f"{self.name}: {broken}", here())
        found = chebyshev(values, self.coefficients, self.low, self.high)
        fidelity.note(self.name, self.function, self.error, values, found)
        return found

    def values(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the polynomial's values of any numbers; outside of the interval they mean nothing."""
        return chebyshev(x, self.coefficients, self.low, self.high)

    def __reduce__(self) -> Any:
        """Pickle the polynomial; its function may be a lambda, which no pickle holds."""
        return type(self), (self.name, self.low, self.high, self.coefficients, self.error)

    def __repr__(self) -> str:
        """Return function, interval, degree, levels and error as text."""
        cost = f"degree {self.degree}, {self.depth} levels"
        return f"<{self.name} on [{self.low:g}, {self.high:g}]: {cost}, error {self.error:.2g}>"


@dataclass(frozen=True)
class Composition:
    """Polynomials applied one after the other, in place of a function with a jump: `error` holds outside of the gap."""

    name: str
    low: float
    high: float
    gap: float
    stages: tuple[Approximation, ...]
    error: float
    scale: float = 1.0
    shift: float = 0.0

    def _itself(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the function's own values."""
        return np.asarray(np.sign(x) * self.scale + self.shift)

    @property
    def degree(self) -> int:
        """The degree of the whole."""
        return math.prod(stage.degree for stage in self.stages)

    @property
    def depth(self) -> int:
        """The levels of all stages."""
        return sum(stage.depth for stage in self.stages)

    def __call__(self, x: Any) -> Any:
        """Evaluate element by element: a tensor in a kernel, else numbers."""
        if isinstance(x, Tensor):
            return self._composed(x)
        values = known_reals(x, self.name)
        themselves = fidelity.instead(self._itself, values, self.low, self.high)
        if themselves is not None:
            return themselves
        found = self._composed(values)
        fidelity.note(self.name, self._itself, self.error, values, found, self.gap)
        return found

    def _composed(self, x: Any) -> Any:
        for stage in self.stages:
            x = stage(x)
        if self.scale != 1.0:
            x = x * self.scale
        return x + self.shift if self.shift else x

    def __repr__(self) -> str:
        """Return function, interval, gap, stages, levels and error as text."""
        return (
            f"<{self.name} on [{self.low:g}, {self.high:g}] without ]-{self.gap:g}, {self.gap:g}[: "
            f"{len(self.stages)} polynomials, {self.depth} levels, error {self.error:.2g}>"
        )


def approximate(
    function: Function | str,
    low: float,
    high: float,
    *,
    degree: int | str | Sequence[int] | None = None,
    error: float | None = None,
    gap: float | None = None,
) -> Any:
    """Return a polynomial in place of a function on [low, high]: an `Approximation`, callable in kernels.

    `function` maps each element of an array by itself, takes one number (as math.sin does), or is the name of a ready
    one: sigmoid, tanh, relu, gelu, silu, softplus, exp, log, sqrt, inverse, inverse_sqrt, abs, sin, cos; or sign,
    positive (1 for x > 0, else 0), which are composed of polynomials and right for |x| >= `gap`. One that looks at
    several elements, such as a softmax or a sort, is refused. Give the `degree` (15 if nothing is given), or the
    largest `error` (absolute, on the interval): the least degree that reaches it is taken. The fit is least squares at
    Chebyshev nodes. relu and abs are also computed by a sign that is composed of polynomials, with fewer levels for a
    small error: `degree` a tuple of their odd degrees, such as (15, 15, 27), or "composite" for those that `error` asks
    for.
    """
    low, high = _interval(low, high)
    if error is not None and not (_number(error) and error > 0):
        raise InputError(f"approximate: error={error!r}; a positive number")
    if isinstance(function, str) and function in _STEPS:
        return _composed(function, low, high, degree, error, gap)
    if gap is not None:
        raise InputError(f"approximate: gap= belongs to {' and '.join(_STEPS)}")
    called = _named(function)
    if isinstance(degree, str) and degree == COMPOSITE:
        if error is None:
            raise InputError(f"approximate: degree={COMPOSITE!r} takes the degrees that error= asks for; give error=")
        return sign_product(called.name, low, high, error=error)
    if degree is not None and error is not None:
        raise InputError("approximate: give degree or error, not both")
    if isinstance(degree, tuple | list):
        return sign_product(called.name, low, high, degree)
    series = Series(called, low, high)
    if degree is None and error is not None:
        degree = series.least_degree(error)
    degree = _DEFAULT_DEGREE if degree is None else _degree(degree)
    coefficients = series.coefficients[: degree + 1].tolist()
    return Approximation(called.name, low, high, tuple(coefficients), series.error(degree), called)


def _number(value: Any) -> bool:
    return is_number(value)


def _interval(low: Any, high: Any) -> tuple[float, float]:
    if not (_number(low) and _number(high) and low < high):
        raise InputError(f"approximate: the interval [{low!r}, {high!r}]; two finite numbers, low < high")
    return float(low), float(high)


def _degree(degree: Any) -> int:
    if not (is_whole(degree) and 1 <= degree <= MOST_DEGREE):
        raise InputError(f"approximate: degree={degree!r}; an integer from 1 to {MOST_DEGREE}")
    return int(degree)


def _named(function: Function | str) -> Pointwise:
    """Return a function with what it is called."""
    if isinstance(function, str):
        if function not in FUNCTIONS:
            known = ", ".join([*FUNCTIONS, *_STEPS])
            raise InputError(f"approximate: no function is named {function!r}; one of {known}, or a function of arrays")
        return Pointwise(FUNCTIONS[function], function)
    if not callable(function):
        raise InputError(f"approximate: a {type(function).__name__}; a function of arrays or the name of one is meant")
    return Pointwise(function, getattr(function, "__name__", type(function).__name__))


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(0.5 + 0.5 * np.tanh(x / 2))


#: The ready names.
FUNCTIONS: dict[str, Callable[[NDArray[np.float64]], Any]] = {
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0.0),
    "gelu": lambda x: x * np.vectorize(math.erf)(x / math.sqrt(2)) / 2 + x / 2,
    "silu": lambda x: x * _sigmoid(x),
    "softplus": lambda x: np.logaddexp(0.0, x),
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "inverse": lambda x: 1 / x,
    "inverse_sqrt": lambda x: 1 / np.sqrt(x),
    "abs": np.abs,
    "sin": np.sin,
    "cos": np.cos,
}
# Functions with a jump at 0, from sign: scale and shift.
_STEPS = {"sign": (1.0, 0.0), "positive": (0.5, 0.5)}
#: Odd polynomials of degree 7 that map [-1, 1] to itself (Cheon et al., ePrint 2019/1234, section 3): the one that
#: draws small values apart fastest, and the one that flattens what is near 1.
_FAR = np.array([0, 4589, 0, -16577, 0, 25614, 0, -12860]) / 1024
_NEAR = np.array([0, 35, 0, -35, 0, 21, 0, -5]) / 16
#: More stages than any ring has levels for.
_MOST_STAGES = 24


def _composed(name: str, low: float, high: float, degree: Any, error: float | None, gap: float | None) -> Composition:
    if degree is not None:
        raise InputError(f"approximate: {name} is composed of polynomials; give gap= and error=, not degree=")
    reach = max(abs(low), abs(high))
    if gap is None or not (_number(gap) and 0 < gap < reach):
        raise InputError(f"approximate: {name} jumps at 0; give gap=G, 0 < G < {reach:g}: it is right for |x| >= G")
    scale, shift = _STEPS[name]
    wanted = (2.0**-10 if error is None else error) / scale
    stages, reached = _stages(gap / reach, wanted, name)
    return Composition(name, -reach, reach, gap, _placed(stages, reach, name), reached * scale, scale, shift)


def _stages(least: float, error: float, name: str) -> tuple[list[NDArray[np.float64]], float]:
    """Return the polynomials that bring [least, 1] to within `error` of 1, and how near that is."""
    x = np.concatenate([[least], np.geomspace(least, 1.0, 4096), np.linspace(least, 1.0, 4096)])
    stages: list[NDArray[np.float64]] = []
    while (left := float(np.abs(x - 1).max())) > error:
        if len(stages) == _MOST_STAGES:
            raise InputError(
                f"approximate: {name} is within {left:.3g} after {len(stages)} polynomials; a larger gap or error"
            )
        # `_FAR` maps to within a quarter of 1, and no nearer.
        chosen = _FAR if x.min() < 0.6 else _NEAR
        stages.append(chosen)
        x = np.clip(np.polynomial.polynomial.polyval(x, chosen), -1.0, 1.0)
    return stages, left


def _placed(stages: list[NDArray[np.float64]], reach: float, name: str) -> tuple[Approximation, ...]:
    """Return the stages as polynomials, the first on [-reach, reach], the others on [-1, 1]."""
    turned = [tuple(np.polynomial.chebyshev.poly2cheb(stage).tolist()) for stage in stages]
    reaches = [reach] + [1.0] * (len(stages) - 1)
    return tuple(Approximation(name, -r, r, c, 0.0) for r, c in zip(reaches, turned, strict=True))
