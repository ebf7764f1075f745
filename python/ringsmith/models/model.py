# SPDX-License-Identifier: Apache-2.0
"""A trained model that scores encrypted samples: its kernel, its calibration, its accuracy side by side."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError, KernelError, ParameterError, RingsmithError
from ringsmith.frontend.approximation import Approximation
from ringsmith.frontend.composite_sign import SignProduct
from ringsmith.frontend.declare import Encrypted
from ringsmith.frontend.tensor import Tensor, within
from ringsmith.ir.evaluate import outside
from ringsmith.ir.numbers import reals
from ringsmith.ir.sparse_map import SparseMap
from ringsmith.models.decision import Decision
from ringsmith.models.network import (
    MOST_MERGED,
    Activation,
    Affine,
    Input,
    Product,
    Sum,
    Value,
    Windows,
    entries,
    evaluate,
    is_sparse,
    merged,
    merged_entries,
    rebuilt,
    scaling,
)
from ringsmith.models.options import Options
from ringsmith.models.typical import SAFETY, Noise, Promises, Refreshes, excess, with_scale
from ringsmith.progress import tell, telling
from ringsmith.runtime.cost import Cost, amount
from ringsmith.runtime.kernel import Kernel, kernel, layout_price
from ringsmith.runtime.program import Program
from ringsmith.scalars import whole

Array = NDArray[np.float64]

#: Bytes that compilation holds for each entry of a layer at its fullest: two indices, a weight's number, their copies
#: in orders of their own. Measured while layouts of the 37 million entries of `bench/resnet20.py` were searched.
_BYTES = 125
#: Error of a score where none is asked for: absolute, and of scores far apart as a part of their extent.
_TOLERANCE, _RELATIVE_TOLERANCE = 1e-3, 1e-5


#: Scales that are tried for the errors that are promised inside.
_ATTEMPTS = 5


class IntervalWarning(UserWarning):
    """Samples on which an activation's argument leaves the interval of its polynomial: their scores may be wrong."""


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
    `deviation` is by how much the polynomials move a score of the calibration data at most, `share` the same as a part
    of that score's extent; `extent` is the largest of the scores' extents. `squares` holds the largest magnitude that
    is promised of what each square is taken of. `shares` makes probabilities of scores, where they follow from them.
    """

    name: str
    result: Value
    low: Array
    high: Array
    decision: Decision
    calibration: dict[str, Approximation | SignProduct]
    options: Options
    deviation: float = 0.0
    share: float = 0.0
    extent: float = 0.0
    squares: Mapping[str, float] = field(default_factory=dict)
    sample: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    shares: Callable[[Array], Array] | None = None

    @property
    def tolerance(self) -> float:
        """The error of a score beside the polynomials that is asked for."""
        asked = self.options.tolerance
        return max(_TOLERANCE, _RELATIVE_TOLERANCE * self.extent) if asked is None else asked

    @property
    def classes(self) -> Any:
        """Names of the classes; None where scores are values."""
        return self.decision.classes

    @property
    def features(self) -> int:
        """Numbers of a sample."""
        return len(self.low)

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel: `x` of shape (features,), or (rows, features) for more than one row; gives the scores."""
        return self._kernel(self._form, self.tolerance)

    def _kernel(self, form: Value, tolerance: float) -> Kernel:
        """Return the kernel of a form of the network, of features in [-1, 1]."""
        applied, squares = self.calibration, self.squares
        promises = None if self.options.inner_error is None else Promises(self.options.inner_error)

        def squared(value: Product, argument: Any) -> Any:
            bound = squares.get(value.layer)
            if bound is None or not isinstance(argument, Tensor):
                return argument
            return within(argument, bound, promises.argument(-bound, bound) if promises else None)

        def activated(value: Activation, argument: Any) -> Any:
            fitted = applied[value.layer]
            if promises is None or not isinstance(argument, Tensor):
                return fitted(argument)
            reach = max(abs(fitted.low), abs(fitted.high))
            made = fitted(within(argument, reach, promises.argument(fitted.low, fitted.high)))
            return within(made, *promises.result(value.layer, fitted))

        def model(x: Any) -> Any:
            return evaluate(form, x, activated, squared)

        shape = (self.features,) if self.options.rows == 1 else (self.options.rows, self.features)
        packing = "rows" if self.options.rows == 1 else "columns"
        given: dict[str, Any] = {"tolerance": tolerance, "name": self.name, **self.options.kernel}
        if "precision" in given:
            del given["tolerance"]
        return kernel(x=Encrypted(*shape, bound=1.0, packing=packing), **given)(model)

    @cached_property
    def program(self) -> Program:
        """The compiled kernel; InputError if its memory exceeds the option `memory_limit`."""
        limit = self.options.memory_limit
        if limit is not None and (cost := self.cost()).total_memory > limit:
            raise InputError(
                f"{self.name}: an evaluation takes about {amount(cost.total_memory)}, {amount(cost.key_memory)} of it "
                f"for keys, and memory_limit={limit}; keys_limit={max(cost.key_bytes // 2, 1)} asks for fewer keys, a "
                f"larger tolerance= for fewer primes, or allow memory_limit={cost.total_memory}"
            )
        return self._compiled

    def cost(self) -> Cost:
        """Return what an evaluation takes, before any key is made: parameters, levels, refreshes, bytes of keys, memory
        and messages, the time of one thread of this processor."""
        return self._compiled.cost()

    @cached_property
    def _compiled(self) -> Program:
        count = entries(self._form)
        if count > self.options.most_entries:
            raise InputError(
                f"{self.name}: the matrices of its layers have {count} entries, {_memory(count)} or more to compile; "
                f"fewer filters or smaller images do, or allow most_entries={count}"
            )
        with telling(None):
            tell(f"{self.name}: layers of {count} entries")
            program = self.kernel.compile()
            return program if self.options.inner_error is None else self._kept(program)

    def _kept(self, program: Program) -> Program:
        """Return the program, or one of a larger scale, whose errors in a simulation on the calibration data stay well
        within what is promised of them."""
        share = self.options.inner_error or 0.0
        rows, found = self.encode(self.sample), math.inf
        for _ in range(_ATTEMPTS):
            params = program.params
            tell(f"{self.name}: errors in a simulation at scale 2^{params.log2_scale:.0f}")
            noise = Noise.of(params.n, params.log2_scale)
            own = Promises(share)
            found = excess(self._form, rows, self.calibration, self.squares, own, noise, _refreshes(program))
            if found * SAFETY <= 1:
                return program
            if not math.isfinite(found) or program.native.refreshes or "params" in self.options.kernel:
                break
            program = self._with_scale(params, math.ceil(math.log2(found * SAFETY)))
        raise InputError(
            f"{self.name}: errors around its activations reach {found:.2g} times what inner_error={share:g} promises, "
            f"in a simulation on the calibration data, and 1/{SAFETY:g} is needed; allow "
            f"inner_error={share * found * SAFETY:.2g}"
        )

    def _with_scale(self, params: Any, more: int) -> Program:
        """Return the program compiled for a scale that is `more` bits larger, in the least ring that is secure."""
        failure: RingsmithError | None = None
        primes = len(params.moduli)
        for n in (params.n, 2 * params.n, 4 * params.n):
            # More digits have fewer special primes, which count for security.
            for dnum in sorted({params.dnum, min(2 * params.dnum, primes), primes}):
                try:
                    return self.kernel.options(params=with_scale(params, n, dnum, more)).compile()
                except (ParameterError, KernelError) as error:
                    failure = failure or error
        raise InputError(
            f"{self.name}: inner_error={self.options.inner_error:g} takes a scale of 2^{params.log2_scale + more:.0f}: "
            f"{failure}; a larger inner_error= takes a smaller one"
        )

    @property
    def entries(self) -> int:
        """Entries of the matrices of all layers: what time and memory of the compilation go with."""
        return entries(self._form)

    @cached_property
    def _form(self) -> Value:
        """The network as it is computed from features in [-1, 1]: its convolutions as such, or all that is affine
        merged into matrices, whichever is cheaper."""
        if not is_sparse(self.result):
            return self._scaled(self.result)
        dense = merged_entries(self.result)
        if self.options.rows > 1:
            # A ciphertext for each feature: products with numbers, which have no diagonals.
            if dense > self.options.most_entries:
                raise InputError(
                    f"{self.name}: rows={self.options.rows} takes the layers as matrices, {dense} entries; rows=1 "
                    f"takes convolutions as they are, or allow most_entries={dense}"
                )
            return self._scaled(merged(self.result))
        own = self._scaled(self.result)
        if dense > MOST_MERGED:
            return own
        tell(f"{self.name}: its convolutions as such, or merged into matrices of {dense} entries")
        forms = [own, self._scaled(merged(self.result))]
        prices = [layout_price(self._kernel(form, self.tolerance)) for form in forms]
        return forms[int(np.argmin(prices))]

    def _scaled(self, result: Value) -> Value:
        """Return a form of the network as it is computed from features in [-1, 1]."""
        return _replaced(result, (self.high - self.low) / 2, (self.high + self.low) / 2)

    def encode(self, x: Any) -> Array:
        """Return samples (rows, features), or one (features,), scaled to [-1, 1].

        What is outside of its range is refused, or moved to the range's end with the option `clip`.
        """
        rows = self._rows(x)
        place = np.argwhere((rows < self.low) | (rows > self.high))
        if len(place) and not self.options.clip:
            raise InputError(self._refusal(rows, *place[0]))
        half = (self.high - self.low) / 2
        encoded = np.clip((rows - (self.high + self.low) / 2) / half, -1.0, 1.0)
        return encoded if np.ndim(x) > 1 else encoded[0]

    def _refusal(self, rows: Array, row: int, feature: int) -> str:
        if self.options.domain is not None:
            return (
                f"row {row}, feature {feature} is {rows[row, feature]:g}, outside the domain [{self.low[feature]:g}, "
                f"{self.high[feature]:g}]; state a wider domain=, or clip=True moves it to the end"
            )
        return (
            f"row {row}, feature {feature} is {rows[row, feature]:g}, outside the calibrated range "
            f"[{self.low[feature]:g}, {self.high[feature]:g}]; state the features' range, as domain=(0, 1) or (low, "
            "high) for each feature, calibrate with data that hold such rows, or clip=True moves it to the end"
        )

    def _held(self, x: Any) -> Array:
        """Return samples as the encrypted model sees them: with `clip` within their ranges."""
        rows = self._rows(x)
        return np.clip(rows, self.low, self.high) if self.options.clip else rows

    def _rows(self, x: Any) -> Array:
        rows = reals(x, "samples")
        rows = rows.reshape(1, -1) if rows.ndim == 1 else rows.reshape(len(rows), -1)
        if rows.shape[1] != self.features:
            raise InputError(f"samples of shape {np.shape(x)}: the model takes {self.features} features a row")
        return rows

    def clear(self, x: Any, *, polynomial: bool = False) -> Array:
        """Return the scores (rows, outputs) in the clear: of the model itself, or with its polynomials."""

        def exact(value: Activation, argument: Array) -> Array:
            return np.asarray(value.exact(argument))

        def fitted(value: Activation, argument: Array) -> Array:
            p = self.calibration[value.layer]
            return p.values(argument)

        return np.asarray(evaluate(self.result, self._rows(x), fitted if polynomial else exact))

    def __call__(self, x: Any) -> Array:
        """Return the scores (rows, outputs) of samples that are encrypted, evaluated and decrypted with fresh keys."""
        rows, size = np.atleast_2d(self.encode(x)), self.options.rows
        self._warn(x)
        client = self.program.client()
        server = self.program.server(client.evaluation_keys)
        found = []
        for start in range(0, len(rows), size):
            given = rows[start : start + size]
            padded = np.vstack([given, np.zeros((size - len(given), self.features))])
            answer = server.evaluate(client.encrypt(x=padded[0] if size == 1 else padded))
            found.append(client.decrypt(answer).reshape(size, -1)[: len(given)])
        return np.vstack(found)

    def _warn(self, x: Any) -> None:
        left = self._leaving(x)
        if left:
            layer, rows = next(iter(left.items()))
            warnings.warn(
                f"{int(rows.sum())} of {len(rows)} samples, the first in row {int(rows.argmax())}, leave the interval "
                f"of {layer}: their scores may be wrong; calibrate with data that hold such rows, or a larger margin",
                IntervalWarning,
                stacklevel=3,
            )

    def labels(self, scores: Array) -> NDArray[Any]:
        """Return what scores mean: classes, labels of 0 and 1, or values (docs/models.md)."""
        return self.decision.labels(np.asarray(scores))

    def predict(self, x: Any) -> NDArray[Any]:
        """Return classes (or values) of encrypted samples."""
        return self.labels(self(x))

    def probabilities(self, scores: Array) -> Array:
        """Return what scores mean as probabilities (rows, classes); InputError: none follow from them."""
        return self._shares()(np.asarray(scores))

    def predict_proba(self, x: Any) -> Array:
        """Return the probabilities (rows, classes) of encrypted samples; InputError: none follow from scores."""
        made = self._shares()
        return made(self(x))

    def _shares(self) -> Callable[[Array], Array]:
        if self.shares is None:
            raise InputError(
                f"{self.name}: no probabilities follow from its scores; a LogisticRegression, or a "
                "CalibratedClassifierCV around the estimator, has some"
            )
        return self.shares

    def compare(self, x: Any, y: Any, *, rows: int | None = None) -> Accuracy:
        """Score `rows` samples (all by default) in the clear, with the polynomials, and encrypted, against `y`."""
        rows = None if rows is None else whole("compare: rows", rows)
        x, y = np.asarray(x)[:rows], np.asarray(y)[:rows]
        if len(x) != len(y) or len(x) == 0:
            raise InputError(f"{len(x)} samples and {len(y)} answers; as many of each are needed, at least one")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IntervalWarning)  # the result counts these rows
            clear, fitted, found = self.clear(x), self.clear(self._held(x), polynomial=True), self(x)
        a, b, c = (self._right(self.labels(scores), y) for scores in (clear, fitted, found))
        measure = "accuracy" if self.classes is not None else "R²"
        return Accuracy(measure, len(x), a, b, c, self._outside(x), float(np.abs(found - fitted).max()))

    def _right(self, found: NDArray[Any], y: NDArray[Any]) -> float:
        if self.classes is not None:
            return float(np.mean(found == y))
        return 1.0 - float(np.sum((found - y) ** 2) / max(np.sum((y - np.mean(y, axis=0)) ** 2), 1e-300))

    def _outside(self, x: Any) -> int:
        """Return on how many rows an approximation leaves its interval."""
        left = self._leaving(x).values()
        return int(np.any(list(left), axis=0).sum()) if left else 0

    def _leaving(self, x: Any) -> dict[str, NDArray[np.bool_]]:
        """Return which rows leave the interval of an approximation, by layer, for the layers that any row leaves."""
        rows = self._held(x)
        left: dict[str, NDArray[np.bool_]] = {}

        def watched(value: Activation, argument: Array) -> Array:
            p = self.calibration[value.layer]
            found = np.array([outside(numbers, p.low, p.high) is not None for numbers in argument])
            if found.any():
                left[value.layer] = found
            return p.values(argument)

        def squared(value: Product, argument: Array) -> Array:
            bound = self.squares.get(value.layer, np.inf) * (1 + 1e-9)
            beyond: NDArray[np.bool_] = np.asarray((np.abs(argument) > bound).any(axis=1))
            if beyond.any():
                left[value.layer] = beyond
            return argument

        evaluate(self.result, rows, watched, squared)
        return left

    def __repr__(self) -> str:
        """Return name, sizes and approximations."""
        outputs = self.result.size
        fits = "".join(f"\n  {layer}: {p!r}" for layer, p in self.calibration.items())
        moved = f"\n  moves a score of the calibration data by {self.deviation:.2g}, {self.share:.2%} of its extent"
        return (
            f"<model {self.name}: {self.features} features, {outputs} score{'s' * (outputs > 1)}{fits}"
            f"{moved if self.calibration else ''}>"
        )


def _refreshes(program: Program) -> Refreshes:
    """Return what a simulation takes of a program's refreshes."""
    native = program.native.bootstrapping
    if native is None:
        return Refreshes()
    failure_bits = program.native.guarantee["failure_bits"]
    return Refreshes.of(program.circuit, native.added(failure_bits), failure_bits, program.params.log2_scale)


def _memory(count: int) -> str:
    """Return the memory that a number of entries takes, in words."""
    return f"about {max(count * _BYTES / 1e9, 0.01):.2g} GB"


def _replaced(result: Value, half: Array, middle: Array) -> Value:
    """Return the result computed from u instead of the input x = middle + half * u."""

    def unscaled(value: Value) -> Value:
        return Affine(value, scaling(half), middle) if isinstance(value, Input) else value

    def made(value: Value, given: tuple[Value, ...]) -> Value | None:
        match value:
            case Affine(argument=Input()):
                own = value.matrix
                if isinstance(own, SparseMap):
                    return Affine(given[0], own.scaled(half), own(middle) + value.shift)
                return Affine(given[0], half[:, None] * own, middle @ own + value.shift)
            case Activation():
                return Activation(unscaled(given[0]), value.function, value.layer)
            case Windows():
                return Windows(unscaled(given[0]), value.shape, value.kernel)
            case Sum():
                return Sum(unscaled(given[0]), unscaled(given[1]))
            case Product():
                a = unscaled(given[0])
                return Product(a, a if value.a is value.b else unscaled(given[1]), value.layer)
        return None

    return rebuilt(result, made)
