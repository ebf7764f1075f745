# SPDX-License-Identifier: Apache-2.0
"""A trained model that scores encrypted samples: its kernel, its calibration, its accuracy side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError
from ringsmith.frontend.approximation import FUNCTIONS, Approximation, approximate
from ringsmith.frontend.declare import Encrypted
from ringsmith.ir.evaluate import chebyshev, outside
from ringsmith.ir.numbers import reals
from ringsmith.models.network import Activation, Affine, Input, Product, Sum, Value, evaluate, ordered
from ringsmith.runtime.kernel import Kernel, kernel
from ringsmith.runtime.program import Program

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Options:
    """Options of a model's conversion to a kernel.

    `degree` of the approximations, or the `error` that they reach at most; `margin`: by what part of their extent the
    ranges found in the calibration data are widened on each side; `rows`: samples in one encrypted call (1: a vector,
    else a ciphertext for each feature); `tolerance`: the error of a score.
    """

    degree: int | None = None
    error: float | None = None
    margin: float = 0.1
    rows: int = 1
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        """Check what the kernel does not check itself."""
        if not (isinstance(self.margin, int | float) and 0 <= self.margin <= 10):
            raise InputError(f"margin={self.margin!r}: a number from 0 to 10, a part of the range")
        if not (isinstance(self.rows, int) and self.rows >= 1):
            raise InputError(f"rows={self.rows!r}: how many samples one call takes, at least 1")
        if self.degree is not None and self.error is not None:
            raise InputError("give degree or error, not both")


def options_of(given: Mapping[str, Any]) -> Options:
    """Return options by name."""
    unknown = sorted(set(given) - set(Options.__dataclass_fields__))
    if unknown:
        raise InputError(f"unknown option {unknown[0]}; there are {', '.join(Options.__dataclass_fields__)}")
    return Options(**given)


@dataclass(frozen=True)
class Accuracy:
    """How a model does in the clear, with its polynomials, and encrypted: shares of right labels, or R² of values.

    `outside` counts the rows on which an approximation left its interval; `difference` is the largest difference of an
    encrypted score from the polynomials'.
    """

    measure: str
    rows: int
    clear: float
    polynomial: float
    encrypted: float
    outside: int
    difference: float

    def __repr__(self) -> str:
        """Return the three side by side."""
        three = f"clear {self.clear:.4f}, polynomial {self.polynomial:.4f}, encrypted {self.encrypted:.4f}"
        left = f"; {self.outside} left an interval" if self.outside else ""
        return f"<{self.measure} of {self.rows} rows: {three}{left}; scores differ by {self.difference:.1e}>"


@dataclass(frozen=True)
class Model:
    """A trained model as a kernel: `model(x)` scores encrypted samples with fresh keys, `predict` names their classes.

    The client scales each feature from its calibrated range, `low` to `high`, to [-1, 1]: that is the argument of
    `kernel`; `encode` does it. `calibration` holds each activation's approximation with its interval and error.
    """

    name: str
    result: Value
    low: Array
    high: Array
    classes: NDArray[Any] | None
    calibration: dict[str, Approximation]
    options: Options

    @property
    def features(self) -> int:
        """Numbers of a sample."""
        return len(self.low)

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel: `x` of shape (features,), or (rows, features) for more than one row; gives the scores."""
        scaled = self._scaled
        applied = self.calibration

        def model(x: Any) -> Any:
            return evaluate(scaled, x, lambda value, argument: applied[value.layer](argument))

        shape = (self.features,) if self.options.rows == 1 else (self.options.rows, self.features)
        packing = "rows" if self.options.rows == 1 else "columns"
        declared = kernel(
            x=Encrypted(*shape, bound=1.0, packing=packing), tolerance=self.options.tolerance, name=self.name
        )
        return declared(model)

    @cached_property
    def program(self) -> Program:
        """The compiled kernel."""
        return self.kernel.compile()

    @cached_property
    def _scaled(self) -> Value:
        """The result as it is computed from features in [-1, 1]."""
        half, middle = (self.high - self.low) / 2, (self.high + self.low) / 2
        return _replaced(self.result, half, middle)

    def encode(self, x: Any) -> Array:
        """Return samples (rows, features), or one (features,), scaled to [-1, 1]; refuse what is outside its range."""
        rows = self._rows(x)
        place = np.argwhere((rows < self.low) | (rows > self.high))
        if len(place):
            row, feature = place[0]
            raise InputError(
                f"row {row}, feature {feature} is outside the calibrated range [{self.low[feature]:g}, "
                f"{self.high[feature]:g}]; calibrate with data that hold such rows, or a larger margin"
            )
        half = (self.high - self.low) / 2
        encoded = np.clip((rows - (self.high + self.low) / 2) / half, -1.0, 1.0)
        return encoded if np.ndim(x) > 1 else encoded[0]

    def _rows(self, x: Any) -> Array:
        rows = reals(x, "samples")
        rows = rows.reshape(1, -1) if rows.ndim == 1 else rows.reshape(len(rows), -1)
        if rows.shape[1] != self.features:
            raise InputError(f"samples of shape {np.shape(x)}: the model takes {self.features} features a row")
        return rows

    def clear(self, x: Any, *, polynomial: bool = False) -> Array:
        """Return the scores (rows, outputs) in the clear: of the model itself, or with its polynomials."""

        def exact(value: Activation, argument: Array) -> Array:
            return np.asarray(FUNCTIONS[value.function](argument))

        def fitted(value: Activation, argument: Array) -> Array:
            p = self.calibration[value.layer]
            return chebyshev(argument, p.coefficients, p.low, p.high)

        return np.asarray(evaluate(self.result, self._rows(x), fitted if polynomial else exact))

    def __call__(self, x: Any) -> Array:
        """Return the scores (rows, outputs) of samples that are encrypted, evaluated and decrypted with fresh keys."""
        rows, size = np.atleast_2d(self.encode(x)), self.options.rows
        client = self.program.client()
        server = self.program.server(client.evaluation_keys)
        found = []
        for start in range(0, len(rows), size):
            given = rows[start : start + size]
            padded = np.vstack([given, np.zeros((size - len(given), self.features))])
            answer = server.evaluate(client.encrypt(x=padded[0] if size == 1 else padded))
            found.append(client.decrypt(answer).reshape(size, -1)[: len(given)])
        return np.vstack(found)

    def labels(self, scores: Array) -> NDArray[Any]:
        """Return what scores mean: the class of the largest, or of the sign of a single one; values of a regression."""
        if self.classes is None:
            return scores[:, 0] if scores.shape[1] == 1 else scores
        if scores.shape[1] == 1:
            return np.asarray(self.classes[(scores[:, 0] > 0).astype(int)])
        return np.asarray(self.classes[scores.argmax(axis=1)])

    def predict(self, x: Any) -> NDArray[Any]:
        """Return classes (or values) of encrypted samples."""
        return self.labels(self(x))

    def compare(self, x: Any, y: Any, *, rows: int | None = None) -> Accuracy:
        """Score `rows` samples (all by default) in the clear, with the polynomials, and encrypted, against `y`."""
        x, y = np.asarray(x)[:rows], np.asarray(y)[:rows]
        if len(x) != len(y) or len(x) == 0:
            raise InputError(f"{len(x)} samples and {len(y)} answers; as many of each are needed, at least one")
        clear, fitted, found = self.clear(x), self.clear(x, polynomial=True), self(x)
        a, b, c = (self._right(self.labels(scores), y) for scores in (clear, fitted, found))
        measure = "accuracy" if self.classes is not None else "R²"
        return Accuracy(measure, len(x), a, b, c, self._outside(x), float(np.abs(found - fitted).max()))

    def _right(self, found: NDArray[Any], y: NDArray[Any]) -> float:
        if self.classes is not None:
            return float(np.mean(found == y))
        return 1.0 - float(np.sum((found - y) ** 2) / max(np.sum((y - np.mean(y, axis=0)) ** 2), 1e-300))

    def _outside(self, x: Any) -> int:
        """Return on how many rows an approximation leaves its interval."""
        left = np.zeros(len(self._rows(x)), dtype=bool)

        def watched(value: Activation, argument: Array) -> Array:
            p = self.calibration[value.layer]
            for row, numbers in enumerate(argument):
                left[row] |= outside(numbers, p.low, p.high) is not None
            return chebyshev(argument, p.coefficients, p.low, p.high)

        evaluate(self.result, self._rows(x), watched)
        return int(left.sum())

    def __repr__(self) -> str:
        """Return name, sizes and approximations."""
        outputs = self.result.size
        fits = "".join(f"\n  {layer}: {p!r}" for layer, p in self.calibration.items())
        return f"<model {self.name}: {self.features} features, {outputs} score{'s' * (outputs > 1)}{fits}>"


def calibrated(
    name: str, result: Value, data: Any, classes: Sequence[Any] | None, options: Options, features: int
) -> Model:
    """Return the model with the ranges of its features and activations as the calibration data have them."""
    rows = reals(data, "calibration data")
    if rows.ndim < 2 or len(rows) == 0 or rows[0].size != features:
        raise InputError(
            f"calibration data of shape {rows.shape}: rows of {features} features are needed, as in the training"
        )
    rows = rows.reshape(len(rows), -1)
    low, high = _widened(rows.min(axis=0), rows.max(axis=0), options.margin)
    found: dict[str, Approximation] = {}

    def fitted(value: Activation, argument: Array) -> Array:
        ends = _widened(argument.min(), argument.max(), options.margin)
        p = approximate(value.function, float(ends[0]), float(ends[1]), **_fit(options))
        found[value.layer] = p
        return np.asarray(FUNCTIONS[value.function](argument))

    evaluate(result, rows, fitted)
    return Model(name, result, low, high, None if classes is None else np.asarray(list(classes)), found, options)


def _fit(options: Options) -> dict[str, Any]:
    if options.error is not None:
        return {"error": options.error}
    return {"degree": 7 if options.degree is None else options.degree}


def _widened(low: Any, high: Any, margin: float) -> tuple[Any, Any]:
    """Return a range widened on each side; one of no extent gets some."""
    extent = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0) * 1e-3)
    return low - margin * extent, high + margin * extent + np.where(high > low, 0.0, extent)


def _replaced(result: Value, half: Array, middle: Array) -> Value:
    """Return the result computed from u instead of the input x = middle + half * u."""
    made: dict[int, Value] = {}
    for value in ordered(result):
        made[id(value)] = _rebuilt(value, made, half, middle)
    return made[id(result)]


def _rebuilt(value: Value, made: dict[int, Value], half: Array, middle: Array) -> Value:
    """Return a value with its arguments as they are made."""
    match value:
        case Input():
            return value
        case Affine(argument=Input() as source):
            return Affine(source, half[:, None] * value.matrix, middle @ value.matrix + value.shift)
        case Affine():
            return Affine(made[id(value.argument)], value.matrix, value.shift)
        case Activation():
            return Activation(_unscaled(value.argument, made, half, middle), value.function, value.layer)
        case Sum():
            return Sum(_unscaled(value.a, made, half, middle), _unscaled(value.b, made, half, middle))
        case Product():
            return Product(_unscaled(value.a, made, half, middle), _unscaled(value.b, made, half, middle))


def _unscaled(value: Value, made: dict[int, Value], half: Array, middle: Array) -> Value:
    """Return a value; where it is the input itself, as it was before it was scaled."""
    return Affine(value, np.diag(half), middle) if isinstance(value, Input) else made[id(value)]
