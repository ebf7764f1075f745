# SPDX-License-Identifier: Apache-2.0
"""`rs.from_sklearn`: fitted linear models, perceptrons and pipelines of scikit-learn.

A model is known by the class it has or inherits from; scikit-learn itself is not imported.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ringsmith.errors import InputError
from ringsmith.models.model import Model, calibrated, options_of
from ringsmith.models.network import Activation, Input, Value, affine

_LINEAR = ("LogisticRegression", "LinearSVC", "LinearRegression", "Ridge", "RidgeClassifier")
_PERCEPTRONS = ("MLPClassifier", "MLPRegressor")
_SCALERS = ("StandardScaler",)
_KNOWN = (*_LINEAR, *_PERCEPTRONS, *_SCALERS, "Pipeline")
_ACTIVATIONS = {"relu": "relu", "tanh": "tanh", "logistic": "sigmoid"}


def from_sklearn(model: Any, data: Any, **options: Any) -> Model:
    """Return a fitted scikit-learn model as a kernel over encrypted samples.

    LogisticRegression, LinearSVC, RidgeClassifier, LinearRegression, Ridge, MLPClassifier, MLPRegressor, StandardScaler
    before them, in a Pipeline. `data` (rows, features) calibrate the ranges of features and activations: training data
    will do. Options: `degree=7` or `error=` of the activations' approximations, `margin=0.1`, `rows=1` samples a call,
    `tolerance=1e-3` of the scores.
    """
    steps = _steps(model)
    last = steps[-1][1]
    kind = _kind(last)
    if kind in _SCALERS:
        raise InputError(f"from_sklearn: the pipeline ends with {kind}; a classifier or a regression has to follow")
    features = _features(steps[0][1])
    value: Value = Input(features)
    for name, step in steps:
        value = _applied(value, step, name)
    classes = getattr(last, "classes_", None)
    return calibrated(type(last).__name__.lower(), value, data, classes, options_of(options), features)


def _steps(model: Any) -> list[tuple[str, Any]]:
    """Return the fitted steps of a model by name, pipelines unrolled."""
    if _kind(model) != "Pipeline":
        return [(type(model).__name__, model)]
    return [inner for name, step in model.steps if step not in (None, "passthrough") for inner in _named(name, step)]


def _named(name: str, step: Any) -> list[tuple[str, Any]]:
    inner = _steps(step)
    return inner if len(inner) > 1 else [(name, inner[0][1])]


def _kind(model: Any) -> str:
    """Return the supported class that a model has."""
    for found in type(model).__mro__:
        if found.__module__.startswith("sklearn.") and found.__name__ in _KNOWN:
            return found.__name__
    raise InputError(f"from_sklearn: a {type(model).__name__} is not supported; supported are {', '.join(_KNOWN)}")


def _features(step: Any) -> int:
    count = getattr(step, "n_features_in_", None)
    if count is None:
        raise InputError(f"from_sklearn: the {type(step).__name__} is not fitted; call its fit(X, y) first")
    return int(count)


def _applied(value: Value, step: Any, name: str) -> Value:
    """Return the output of a fitted step for a value."""
    kind = _kind(step)
    if kind in _SCALERS:
        return _standardized(value, step)
    if not hasattr(step, "coef_" if kind in _LINEAR else "coefs_"):
        raise InputError(f"from_sklearn: the {kind} is not fitted; call its fit(X, y) first")
    if kind in _LINEAR:
        weights = np.atleast_2d(np.asarray(step.coef_, dtype=np.float64)).T
        shift = np.broadcast_to(np.asarray(step.intercept_, dtype=np.float64), weights.shape[1:])
        return affine(value, weights, shift)
    return _perceptron(value, step, name)


def _standardized(value: Value, step: Any) -> Value:
    size = _features(step)
    scale = np.ones(size) if step.scale_ is None else np.asarray(step.scale_, dtype=np.float64)
    mean = np.zeros(size) if not step.with_mean else np.asarray(step.mean_, dtype=np.float64)
    return affine(value, np.diag(1 / scale), -mean / scale)


def _perceptron(value: Value, step: Any, name: str) -> Value:
    for number, (weights, shift) in enumerate(zip(step.coefs_, step.intercepts_, strict=True)):
        value = affine(value, np.asarray(weights, dtype=np.float64), np.asarray(shift, dtype=np.float64))
        if number < len(step.coefs_) - 1 and step.activation != "identity":
            if step.activation not in _ACTIVATIONS:
                known = ", ".join(["identity", *_ACTIVATIONS])
                raise InputError(f"from_sklearn: activation {step.activation!r} of {name}; supported are {known}")
            value = Activation(value, _ACTIVATIONS[step.activation], f"{name}.{step.activation}[{number}]")
    return value
