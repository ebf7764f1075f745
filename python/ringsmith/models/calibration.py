# SPDX-License-Identifier: Apache-2.0
"""Calibration: ranges of features and activations in data, and degrees that keep the scores what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError
from ringsmith.frontend.approximation import COMPOSITE, Approximation, approximate
from ringsmith.frontend.composite_sign import FUNCTIONS as OF_SIGN
from ringsmith.frontend.composite_sign import SignProduct
from ringsmith.ir.numbers import reals
from ringsmith.models.decision import Decision
from ringsmith.models.model import Model
from ringsmith.models.network import Activation, Product, Value, activations, evaluate
from ringsmith.models.options import Options, domain_of
from ringsmith.models.typical import SAMPLES
from ringsmith.progress import tell

Array = NDArray[np.float64]
#: Degrees that are tried, each the most of its number of levels.
_DEGREES = (7, 15, 31, 63, 127)
#: Degrees of a composite sign that are tried with `sign=True`.
_SIGNS = ((15,), (7, 7), (15, 15), (7, 15, 15), (15, 15, 27), (15, 31, 31), (31, 31, 31), (15, 15, 31, 31))
#: What stands for an activation.
Fitted = Approximation | SignProduct


def data_rows(data: Any) -> Array:
    """Return calibration data as rows (rows, features)."""
    rows = reals(data.toarray() if hasattr(data, "toarray") else data, "calibration data")
    if rows.ndim < 2 or rows.size == 0:
        raise InputError(f"calibration data of shape {rows.shape}: rows of features are needed, as in the training")
    return rows.reshape(len(rows), -1)


def ranges(rows: Array, size: int, options: Options) -> tuple[Array, Array]:
    """Return the range of each feature: the stated domain, or that of the data, widened."""
    if rows.shape[1] != size:
        raise InputError(
            f"calibration data of shape {rows.shape}: rows of {size} features are needed, as in the training"
        )
    stated = domain_of(options, size)
    if stated is None:
        return widened(rows.min(axis=0), rows.max(axis=0), options.margin)
    place = np.argwhere((rows < stated[0]) | (rows > stated[1]))
    if len(place):
        row, feature = place[0]
        raise InputError(
            f"calibration data: row {row}, feature {feature} is {rows[row, feature]:g}, outside of the domain "
            f"[{stated[0][feature]:g}, {stated[1][feature]:g}]"
        )
    return stated


def calibrated(name: str, result: Value, rows: Array, decision: Decision, options: Options) -> Model:
    """Return the model with the ranges of its features and activations as the calibration data have them."""
    low, high = ranges(rows, rows.shape[1], options)
    inner: dict[str, tuple[float, float]] = {}

    def watched(value: Activation, argument: Array) -> Array:
        ends = widened(argument.min(), argument.max(), options.margin)
        inner[value.layer] = float(ends[0]), float(ends[1])
        return np.asarray(value.exact(argument))

    squares: dict[str, float] = {}

    def squared(value: Product, argument: Array) -> Array:
        if value.layer:
            squares[value.layer] = float(np.abs(argument).max()) * (1 + 2 * options.margin)
        return argument

    clear = np.asarray(evaluate(result, rows, watched, squared))
    if not np.isfinite(clear).all():
        raise InputError("the model's scores of the calibration data are not finite; scale the features")
    fits = _fitted(result, rows, clear, inner, options)
    extent = float(np.ptp(clear, axis=0).max())
    return Model(
        name,
        result,
        low,
        high,
        decision,
        fits.calibration,
        options,
        fits.deviation,
        fits.share,
        extent,
        squares,
        rows[:SAMPLES],
    )


@dataclass(frozen=True)
class _Fits:
    """Approximations, and by how much they move a score of the calibration data, also as a part of its extent."""

    calibration: dict[str, Fitted]
    deviation: float
    share: float


def _fitted(result: Value, rows: Array, clear: Array, inner: dict[str, tuple[float, float]], options: Options) -> _Fits:
    """Return approximations that move no score by more than `options.deviation` of its extent."""
    found = None
    for fit, sign in _fits(options, result) if inner else [({"degree": 1}, {})]:
        if inner:
            told = {**fit, "sign": sign["degree"]} if sign else fit
            tell(f"activations as polynomials of {' '.join(f'{name} {value}' for name, value in told.items())}")
        known = {
            v.layer: approximate(v.function, *inner[v.layer], **(sign if sign and v.function in OF_SIGN else fit))
            for v in activations(result)
        }
        moved = np.abs(scores(result, known, rows) - clear).max(axis=0)
        found = _Fits(known, float(moved.max()), float((moved / _extents(clear)).max()))
        if options.deviation is None or found.share <= options.deviation:
            return found
    assert found is not None
    raise InputError(_refusal(found, clear, options))


def _fits(options: Options, result: Value) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return options of `approximate` that are tried in order: for most activations, and for those by a sign (none:
    like the others)."""
    if options.error is not None:
        fits: list[dict[str, Any]] = [{"error": options.error}]
    else:
        fits = [{"degree": one} for one in ([options.degree] if options.degree is not None else _DEGREES)]
    signs: list[dict[str, Any]] = [{}]
    if options.sign is True:
        by_error = options.error is not None
        signs = [{"degree": COMPOSITE, **fits[0]}] if by_error else [{"degree": one} for one in _SIGNS]
    elif options.sign is not None:
        signs = [{"degree": tuple(options.sign)}]
    if all(value.function in OF_SIGN for value in activations(result)) and signs != [{}]:
        fits = fits[:1]
    count = max(len(fits), len(signs))
    return [(fits[min(k, len(fits) - 1)], signs[min(k, len(signs) - 1)]) for k in range(count)]


def _extents(clear: Array) -> Array:
    """Return the extent of each score; one that hardly moves beside the others is held to a part of theirs."""
    extent = np.ptp(clear, axis=0)
    least = max(float(extent.max()) * 0.01, float(np.abs(clear).max()) * 1e-3, 1e-300)
    return np.asarray(np.maximum(extent, least))


def _refusal(found: _Fits, clear: Array, options: Options) -> str:
    worst = max(found.calibration.values(), key=lambda p: p.error)
    tried = f"error={options.error:g}" if options.error is not None else f"degree {worst.degree}"
    largest = "" if options.degree is not None or options.error is not None else ", the largest tried,"
    allowed = np.ceil(found.share * 1.01 * 1e3) / 1e3
    sooner = "leave out degree= and error= (the degree is raised until it is enough), " if not largest else ""
    return (
        f"polynomials of {tried}{largest} move a score of the calibration data by {found.deviation:.3g}, "
        f"{found.share:.1%} of its extent ({options.deviation:.1%} is allowed); {worst.name} has error "
        f"{worst.error:.2g} on [{worst.low:g}, {worst.high:g}]; {sooner}scale the features (StandardScaler), train "
        f"with a larger alpha, or allow deviation={allowed:g}"
    )


def scores(result: Value, known: dict[str, Fitted], rows: Array) -> Array:
    """Return the scores that the polynomials give in the clear."""

    def fitted(value: Activation, argument: Array) -> Array:
        p = known[value.layer]
        return p.values(argument)

    return np.asarray(evaluate(result, rows, fitted))


def widened(low: Any, high: Any, margin: float) -> tuple[Any, Any]:
    """Return a range widened on each side; one of no extent gets some."""
    extent = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0) * 1e-3)
    return low - margin * extent, high + margin * extent + np.where(high > low, 0.0, extent)
