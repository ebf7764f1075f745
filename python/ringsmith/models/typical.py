# SPDX-License-Identifier: Apache-2.0
"""Errors that an evaluation typically has, by a simulation in the clear, held against those that are promised.

Bounds of noise take every value at the end of its range and every error with the worst sign: through many layers they
say nothing. With `inner_error=` a model promises the errors around its activations instead, as it promises their
ranges, and this says whether they are kept on the calibration data: each operation adds random errors as large as its
rounding and key switching make them under the compiled set, and each refresh, where the compiler placed it; they go
through the network as they would.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial.chebyshev import chebval
from numpy.typing import NDArray

from ringsmith.frontend.approximation import Approximation
from ringsmith.frontend.composite_sign import SignProduct
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.ir.circuit import Circuit
from ringsmith.models.network import (
    Activation,
    Affine,
    Input,
    Product,
    Sum,
    Value,
    Windows,
    applied,
    arguments,
    ordered,
)

Array = NDArray[np.float64]
#: Values with and without errors.
Pair = tuple[Array, Array]
Fitted = Approximation | SignProduct

#: Bits of the longest prime, and by how many a prime that is divided out may differ from the scale.
_LONGEST, _NEAR = 60, 0.7
#: Bits of room in the first prime for a layout of another degree.
_BESIDE = 8
#: Roundings and key switches of an operation, in roundings.
_DRAWS = 2.0
#: Samples that are simulated.
SAMPLES = 8
#: How many times the largest error that a simulation finds is kept as promised.
SAFETY = 8.0


@dataclass(frozen=True)
class Noise:
    """Deviations of the error in a slot: of a rounding, and of a plaintext's rounding beside a value of 1."""

    rounding: float
    plaintext: float

    @classmethod
    def of(cls, n: int, log2_scale: float) -> Noise:
        """Return those of a ring: n coefficients that are rounded to whole numbers, times a ternary secret."""
        scale = 2.0**log2_scale
        return cls(math.sqrt(n / 24 * (1 + 2 * n / 3)) / scale, math.sqrt(n / 24) / scale)


#: A promise of the circuit, by its bounds on magnitude and error.
Promise = tuple[float, float]


@dataclass(frozen=True)
class Refreshes:
    """Of a program's refreshes the deviation of the error in a slot, and which promises come next behind one; none
    comes behind `END`."""

    deviation: float = 0.0
    before: frozenset[Promise] = frozenset()
    #: In place of a promise: the result.
    END: ClassVar[Promise] = (math.inf, math.inf)

    @classmethod
    def of(cls, circuit: Circuit, added: float, failure_bits: int, log2_scale: float) -> Refreshes:
        """Return those of a circuit. `added`: the bound on the error that a refresh adds, exceeded with probability
        below 2^-failure_bits: it is made of draws, taken at their tail of that probability."""
        found: set[Promise] = set()
        # Of each step, the promises that its value comes to first.
        after: list[set[Promise]] = [set() for _ in circuit.steps]
        off = 0.0
        for number, step in reversed(list(enumerate(circuit.steps))):
            if step.refreshes:
                found |= after[number] or {cls.END}
                off = max(off, abs(math.log2(circuit.steps[step.args[0]].scale) - log2_scale))
            promised = math.isfinite(step.error)
            own = {(step.bound, step.error)} if promised else after[number]
            for argument in step.args:
                after[argument] |= own
        # Of another scale than the set's, what is refreshed counts as larger, and its error too.
        return cls(added * 4**off / math.sqrt(2 * math.log(2) * failure_bits), frozenset(found))


@dataclass
class Promises:
    """The errors promised around each activation and square: `share` of the extent of its values."""

    share: float
    results: dict[str, float] = field(default_factory=dict)

    def argument(self, low: float, high: float) -> float:
        """Return the error promised of what lies in low..high."""
        return self.share * (high - low)

    def result(self, layer: str, fitted: Fitted) -> tuple[float, float]:
        """Return the largest magnitude of an activation's result, and the error promised of it."""
        if layer not in self.results:
            x = np.linspace(fitted.low, fitted.high, 4097)
            self.results[layer] = float(np.abs(fitted.values(x)).max()) * 1.001
        bound = self.results[layer]
        return bound, 2 * self.share * max(bound, fitted.high - fitted.low)


def excess(
    form: Value, rows: Array, calibration: Mapping[str, Fitted], squares: Mapping[str, float], promises: Promises,
    noise: Noise, refreshes: Refreshes | None = None,
) -> float:  # fmt: skip
    """Return by what factor the largest error found exceeds what is promised, over all layers and samples (rows)."""
    simulation = _Simulation(calibration, squares, promises, noise, refreshes or Refreshes())
    simulation.place(form)
    known: dict[int, Pair] = {}
    for value in ordered(form):
        given = [known[id(argument)] for argument in arguments(value)]
        known[id(value)] = simulation.applied(value, given, rows)
    return simulation.worst


def with_scale(params: Any, n: int, dnum: int, more: int) -> ParamRequest:
    """Return a parameter set of degree n like another, in `dnum` digits, its scale and primes longer by some bits."""
    scale = round(params.log2_scale) + more

    def longer(place: int, prime: int) -> int:
        # Those that are divided out are near the scale; the first ones hold the result.
        divided = place > 0 and abs(math.log2(prime) - params.log2_scale) < _NEAR
        return min(scale if divided else math.ceil(math.log2(prime)) + more + beside * (place == 0), _LONGEST)

    # Another degree has other layouts: what stands beside the result may be larger.
    beside = _BESIDE if n > params.n else 0
    # A digit of the keys is no longer than the special primes together.
    digit = -(-len(params.moduli) // dnum)
    data = tuple(longer(place, prime) for place, prime in enumerate(params.moduli))
    most = max(sum(data[k : k + digit]) for k in range(0, len(data), digit))
    count = -(-most // _LONGEST)
    special = (-(-most // count),) * count
    return ParamRequest(
        n=n, data_bits=data, special_bits=special, dnum=dnum, log2_scale=scale, name="chosen",
        source="chosen for this kernel and the errors promised inside it",
    )  # fmt: skip


@dataclass
class _Simulation:
    calibration: Mapping[str, Fitted]
    squares: Mapping[str, float]
    promises: Promises
    noise: Noise
    refreshes: Refreshes
    worst: float = 0.0
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(11))
    #: Values, by identity, that may be refreshed before the next promise about them.
    refreshed: set[int] = field(default_factory=set)

    def place(self, form: Value) -> None:
        """Find the values that may be refreshed. A refresh between two promises may stand at any value there."""
        after: dict[int, set[Promise]] = {id(form): {Refreshes.END}}
        for value in reversed(ordered(form)):
            if after[id(value)] & self.refreshes.before:
                self.refreshed.add(id(value))
            own = self._before(value)
            for argument in arguments(value):
                after.setdefault(id(argument), set()).update(after[id(value)] if own is None else {own})

    def _before(self, value: Value) -> Promise | None:
        """Return the promise about what a value is made of."""
        if isinstance(value, Activation):
            fitted = self.calibration[value.layer]
            return max(abs(fitted.low), abs(fitted.high)), self.promises.argument(fitted.low, fitted.high)
        bound = self.squares.get(value.layer) if isinstance(value, Product) else None
        return None if bound is None else (bound, self.promises.argument(-bound, bound))

    def applied(self, value: Value, given: list[Pair], rows: Array) -> Pair:
        """Return a value and the same with errors, those of refreshes among them."""
        exact, found = self._made(value, given, rows)
        if id(value) in self.refreshed:
            found = found + self.random.normal(size=found.shape) * self.refreshes.deviation
        return exact, found

    def _made(self, value: Value, given: list[Pair], rows: Array) -> Pair:
        match value:
            case Input():
                return rows, self._drawn(rows, 1.0)
            case Affine():
                x, y = (applied(value, own) for own in given[0])
                each = math.sqrt(value.entries / max(value.size, 1)) * float(np.sqrt(np.mean(given[0][0] ** 2)))
                return x, self._drawn(y, 1.0 + each * self.noise.plaintext / self.noise.rounding)
            case Windows():
                return value(given[0][0]), value(given[0][1])
            case Sum():
                return given[0][0] + given[1][0], given[0][1] + given[1][1]
            case Product():
                return self._product(value, given)
            case Activation():
                return self._activated(value, given[0])

    def _drawn(self, x: Array, times: float) -> Array:
        return x + self.random.normal(size=x.shape) * (times * _DRAWS * self.noise.rounding)

    def _product(self, value: Product, given: list[Pair]) -> Pair:
        (x, y), (z, w) = given
        made = x * z, self._drawn(y * w, 1.0)
        bound = self.squares.get(value.layer)
        if bound is not None:
            self._held(given[0], self.promises.argument(-bound, bound))
            self._held(made, 2 * self.promises.share * bound * bound)
        return made

    def _activated(self, value: Activation, given: Pair) -> Pair:
        fitted = self.calibration[value.layer]
        self._held(given, self.promises.argument(fitted.low, fitted.high))
        promise = self.promises.result(value.layer, fitted)
        inside = self.refreshes.deviation if promise in self.refreshes.before else 0.0
        made = fitted.values(given[0]), self._with_errors(fitted, given[1], inside)
        self._held(made, promise[1])
        return made

    def _with_errors(self, fitted: Fitted, x: Array, inside: float) -> Array:
        """Return an activation of values with errors, each polynomial with those of its own; `inside`: the deviation of
        what a refresh among its powers adds."""

        def drawn(value: Array, times: float) -> Array:
            return self._drawn(value, times) + self.random.normal(size=value.shape) * (times * inside)

        if isinstance(fitted, Approximation):
            return drawn(fitted.values(x), float(np.abs(fitted.coefficients).sum()))
        own = x
        for coefficients, reach in fitted.stages:
            own = drawn(chebval(own / reach, np.asarray(coefficients)), float(np.abs(coefficients).sum()))
        return drawn(x * own, 1.0)

    def _held(self, pair: Pair, promised: float) -> None:
        found = float(np.abs(pair[0] - pair[1]).max(initial=0.0))
        self.worst = max(self.worst, found / promised if found == found else math.inf)
