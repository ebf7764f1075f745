# SPDX-License-Identifier: Apache-2.0
"""ReLU and |x| by the sign of x, composed of minimax polynomials: far fewer levels than one polynomial of that error.

sign(x) is p_k(... p_1(x)), odd polynomials: p_1 is the best of its degree on [g, 1] for a gap g, each next one on what
the one before leaves of it around 1 (Lee, Lee, No, Kim: Minimax approximation of sign function by composite polynomial,
ePrint 2020/834). Below the gap the sign is anything from 0 to about 1, where x is small: the gap is chosen so that x
times the sign errs no more there than it does above.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebval
from numpy.typing import NDArray

from ringsmith.errors import InputError, KernelError
from ringsmith.frontend import fidelity, tensor
from ringsmith.frontend.known_reals import known_reals
from ringsmith.frontend.tensor import Tensor
from ringsmith.ir.evaluate import outside
from ringsmith.location import here
from ringsmith.scalars import is_whole

Array = NDArray[np.float64]
#: Functions that are x (a + b sign(x)): a and b.
FUNCTIONS = {"relu": (0.5, 0.5), "abs": (0.0, 1.0)}
#: Largest degree of one polynomial, and polynomials of a composition.
MOST_DEGREE, MOST_STAGES = 63, 6
#: Degrees that fill their levels, of which the compositions for a wanted error are made.
_FULL = (7, 15, 31)
#: Points on which an error is found, and steps of exchanging them.
_POINTS, _EXCHANGES = 4001, 60
#: By what part of its reach a polynomial's interval is wider than the values before it: noise adds to them.
_ROOM = 1e-3
#: Least gap that is tried, as a power of two.
_LEAST_GAP = -40.0


@dataclass(frozen=True)
class SignProduct:
    """x (a + b sign(x)) on [low, high] with a sign composed of polynomials: call it in kernels and on arrays.

    `stages` are the Chebyshev coefficients of each polynomial with the reach r of its interval [-r, r]; the last one
    gives a + b sign(x). `error` is the largest deviation from the function on many points of the interval.
    """

    name: str
    low: float
    high: float
    stages: tuple[tuple[tuple[float, ...], float], ...]
    error: float

    @property
    def degrees(self) -> tuple[int, ...]:
        """The degree of each polynomial."""
        return tuple(len(coefficients) - 1 for coefficients, _ in self.stages)

    @property
    def degree(self) -> int:
        """The degree of the whole."""
        return math.prod(self.degrees) + 1

    @property
    def depth(self) -> int:
        """The levels it takes: of all polynomials, and of the product with x."""
        return _depth(self.degrees)

    def __call__(self, x: Any) -> Any:
        """Evaluate element by element: a tensor in a kernel, else numbers, KernelError for those outside."""
        if isinstance(x, Tensor):
            own: Any = x
            for coefficients, reach in self.stages:
                own = tensor.chebyshev(own, coefficients, -reach, reach)
            return x * own
        values = known_reals(x, self.name)
        themselves = fidelity.instead(self.exact, values, self.low, self.high)
        if themselves is not None:
            return themselves
        if (broken := outside(values, self.low, self.high)) is not None:
            raise KernelError(f"{self.name}: {broken}", here())
        found = self.values(values)
        fidelity.note(self.name, self.exact, self.error, values, found)
        return found

    def exact(self, x: Array) -> Array:
        """Return the function's own values."""
        a, b = FUNCTIONS[self.name]
        return np.asarray(x * (a + b * np.sign(x)))

    def values(self, x: Array) -> Array:
        """Return the polynomials' values of any numbers; outside of the interval they mean nothing."""
        return np.asarray(x * _composed(x, self.stages))

    def __repr__(self) -> str:
        """Return function, interval, degrees, levels and error as text."""
        told = ", ".join(map(str, self.degrees))
        return (
            f"<{self.name} on [{self.low:g}, {self.high:g}]: sign by degrees {told}, {self.depth} levels, "
            f"error {self.error:.2g}>"
        )


def sign_product(name: str, low: float, high: float, degrees: Any = None, error: float | None = None) -> SignProduct:
    """Return ReLU or |x| on [low, high] by polynomials of these degrees, or the fewest levels that reach an `error`.

    InputError for degrees that are not odd whole numbers from 3 to 63, one to six of them, and for an error that no
    composition reaches.
    """
    if name not in FUNCTIONS:
        known = " and ".join(FUNCTIONS)
        raise InputError(f"approximate: {name}: a composite sign serves {known}; give one degree, or error=")
    reach = max(abs(low), abs(high))
    if degrees is not None:
        return _placed(name, low, high, checked(degrees))
    assert error is not None
    # Below the least gap a sign is as good as none: no composition needs to be looked at then.
    within_reach = error >= reach * FUNCTIONS[name][1] * 2.0 ** (_LEAST_GAP - 2)
    for own in _orders() if within_reach else ():
        if _error(own) * reach * FUNCTIONS[name][1] <= error:
            return _placed(name, low, high, own)
    raise InputError(
        f"approximate: {name} on [{low:g}, {high:g}] by a composite sign: error={error:g} is beyond what {MOST_STAGES} "
        "polynomials reach; a larger error, or a smaller interval"
    )


def checked(degrees: Any) -> tuple[int, ...]:
    """Return the degrees of a composite sign; InputError for others."""
    given = tuple(degrees) if isinstance(degrees, Sequence | np.ndarray) and not isinstance(degrees, str) else ()
    good = all(is_whole(one) and 3 <= one <= MOST_DEGREE and one % 2 == 1 for one in given)
    if not good or not 1 <= len(given) <= MOST_STAGES:
        raise InputError(
            f"approximate: degrees {degrees!r} of a composite sign; one to {MOST_STAGES} odd whole numbers from 3 to "
            f"{MOST_DEGREE}, such as (15, 15, 27)"
        )
    return tuple(map(int, given))


def _orders() -> Iterator[tuple[int, ...]]:
    """Yield degrees of compositions by levels, those of smaller error first."""
    every = [
        own for count in range(1, MOST_STAGES + 1) for own in itertools.combinations_with_replacement(_FULL, count)
    ]
    by_depth = sorted(every, key=_depth)
    for _, group in itertools.groupby(by_depth, key=_depth):
        yield from sorted(group, key=_error)


def _depth(degrees: Sequence[int]) -> int:
    return sum(degree.bit_length() for degree in degrees) + 1


def _placed(name: str, low: float, high: float, degrees: tuple[int, ...]) -> SignProduct:
    """Return the composition on [low, high], the error found on many points."""
    stages, reach = list(_stages(degrees)[0]), max(abs(low), abs(high))
    stages[0] = stages[0][0], reach
    (last, own), (a, b) = stages[-1], FUNCTIONS[name]
    scaled = [b * c for c in last]
    scaled[0] += a
    made = SignProduct(name, low, high, (*stages[:-1], (tuple(scaled), own)), 0.0)
    near = np.geomspace(reach * 2.0**-24, reach, 8 * _POINTS)
    points = np.concatenate([near, -near, np.linspace(low, high, 4 * _POINTS)])
    points = points[(points >= low) & (points <= high)]
    return SignProduct(name, low, high, made.stages, float(np.abs(made.values(points) - made.exact(points)).max()))


def _composed(x: Any, stages: Sequence[tuple[tuple[float, ...], float]]) -> Array:
    for coefficients, reach in stages:
        x = chebval(np.asarray(x) / reach, np.asarray(coefficients))
    return np.asarray(x)


def _error(degrees: tuple[int, ...]) -> float:
    """Return the largest deviation of x sign(x) on [-1, 1]."""
    return _stages(degrees)[1]


@lru_cache(512)
def _stages(degrees: tuple[int, ...]) -> tuple[tuple[tuple[tuple[float, ...], float], ...], float]:
    """Return the polynomials on [-1, 1] with the gap that leaves the least error of x sign(x), and that error."""
    x = np.concatenate([np.geomspace(2.0**-42, 1.0, _POINTS), np.linspace(0.0, 1.0, _POINTS)])

    def error(log2_gap: float) -> float:
        return float(np.abs(x * (_composed(x, _with_gap(degrees, 2.0**log2_gap)) - 1)).max())

    # Errors above the gap grow as it shrinks, those below fall with it: one least value.
    low, high, ratio = _LEAST_GAP, -1.0, (math.sqrt(5) - 1) / 2
    inner = [high - ratio * (high - low), low + ratio * (high - low)]
    found = [error(one) for one in inner]
    while high - low > 0.02:
        if found[0] < found[1]:
            high, inner, found = inner[1], [0.0, inner[0]], [0.0, found[0]]
            inner[0] = high - ratio * (high - low)
            found[0] = error(inner[0])
        else:
            low, inner, found = inner[0], [inner[1], 0.0], [found[1], 0.0]
            inner[1] = low + ratio * (high - low)
            found[1] = error(inner[1])
    best = inner[int(np.argmin(found))]
    return _with_gap(degrees, 2.0**best), min(found)


def _with_gap(degrees: Sequence[int], gap: float) -> tuple[tuple[tuple[float, ...], float], ...]:
    """Return the polynomials that bring [gap, 1] as near to 1 as they can, each with the reach of its interval."""
    stages, low, high = [], gap, 1.0
    for number, degree in enumerate(degrees):
        reach = high * (1 + _ROOM) if number else high
        coefficients, left = _best(degree, low / reach, high / reach)
        stages.append((coefficients, reach))
        low, high = max(1 - left, 2.0**_LEAST_GAP), 1 + left
    return tuple(stages)


def _best(degree: int, low: float, high: float) -> tuple[tuple[float, ...], float]:
    """Return the odd polynomial in the Chebyshev basis that errs least from 1 on [low, high], and its error: Remez's
    exchange on points of the interval."""
    count = (degree + 1) // 2
    along = np.sin(np.linspace(0, np.pi / 2, _POINTS)) ** 2
    points = np.unique(
        np.clip(np.concatenate([low + (high - low) * along, np.geomspace(low, high, _POINTS)]), low, high)
    )
    basis = np.cos(np.outer(np.arccos(np.clip(points, -1, 1)), 2 * np.arange(count) + 1))
    # Above a small gap the extremes lie about where those of T_degree do.
    start = low + (high - low) * np.sin(np.arange(count + 1) * np.pi / (2 * count))
    chosen = np.searchsorted(points, np.clip(start, low, high))
    signs = (-1.0) ** np.arange(count + 1)
    best, least = np.zeros(count), np.inf
    for _ in range(_EXCHANGES):
        found = np.linalg.lstsq(np.column_stack([basis[chosen], signs]), np.ones(count + 1), rcond=None)[0]
        rest = basis @ found[:-1] - 1
        worst = float(np.abs(rest).max())
        if worst < least:
            best, least = found[:-1], worst
        if worst <= abs(found[-1]) * (1 + 1e-6) + 1e-15:
            break
        chosen = _exchanged(rest, count + 1)
        if len(chosen) < count + 1:
            break
    coefficients = np.zeros(degree + 1)
    coefficients[1::2] = best
    return tuple(coefficients.tolist()), least


def _exchanged(rest: Array, count: int) -> NDArray[np.intp]:
    """Return where the rest is largest between its changes of sign, `count` places in a row with the largest in it."""
    edges = np.flatnonzero(np.sign(rest[1:]) != np.sign(rest[:-1])) + 1
    runs = np.split(np.arange(len(rest)), edges)
    peaks = np.array([run[int(np.argmax(np.abs(rest[run])))] for run in runs])
    while len(peaks) > count:
        ends = np.abs(rest[peaks[[0, -1]]])
        peaks = peaks[1:] if ends[0] < ends[1] else peaks[:-1]
    return peaks
