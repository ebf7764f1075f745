# SPDX-License-Identifier: Apache-2.0
"""Estimators that are no polynomial of low degree as a whole, by their parts: perceptrons, kernels, ensembles.

What is built here is a guess from fitted attributes, to be compared with the estimator itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError
from ringsmith.models.network import Activation, Sum, Value, affine
from ringsmith.models.probing import MOST_POWER, Map, monomials, power, two_axes

Array = NDArray[np.float64]

_ACTIVATIONS = {"relu": "relu", "tanh": "tanh", "logistic": "sigmoid"}


def structures(model: Any, name: str) -> Iterator[Map]:
    """Yield maps of features to scores that an estimator's attributes describe."""
    if hasattr(model, "coefs_") and hasattr(model, "intercepts_"):
        yield perceptron(model, name)
    if getattr(model, "kernel", None) in ("poly", "polynomial") and hasattr(model, "dual_coef_"):
        yield _kernel_machine(model)
    if hasattr(model, "powers_"):
        yield _powers(np.asarray(model.powers_))
    if hasattr(model, "random_offset_") and hasattr(model, "random_weights_"):
        yield _cosines(model, name)


def unwrapped(model: Any) -> Any:
    """Return the estimator that a search has found, or that is frozen."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif type(model).__name__ == "FrozenEstimator":
            model = model.estimator
        else:
            return model


def members(model: Any) -> Any:
    """Return the fitted members of an ensemble as it holds them, in a list or an array; None: it is no ensemble."""
    calibrated = getattr(model, "calibrated_classifiers_", None)
    return getattr(model, "estimators_", None) if calibrated is None else [one.estimator for one in calibrated]


def perceptron(model: Any, name: str) -> Map:
    """Return a multi-layer perceptron up to its last affine map."""
    kind = model.activation
    if kind not in ("identity", *_ACTIVATIONS):
        known = ", ".join(["identity", *_ACTIVATIONS])
        raise InputError(f"from_sklearn: activation {kind!r} of {name}; supported are {known}")
    layers = list(zip(model.coefs_, model.intercepts_, strict=True))

    def made(value: Value) -> Value:
        for number, (weights, shift) in enumerate(layers):
            value = affine(value, two_axes(weights), np.asarray(shift, dtype=np.float64))
            if number < len(layers) - 1 and kind != "identity":
                value = Activation(value, _ACTIVATIONS[kind], f"{name}.{kind}[{number}]")
        return value

    return made


def _kernel_machine(model: Any) -> Map:
    """Return (gamma x·v + coef0)^degree of the vectors v, and the weights of each."""
    vectors = two_axes(getattr(model, "support_vectors_", getattr(model, "X_fit_", None)))
    given = getattr(model, "_gamma", model.gamma)
    gamma = 1 / vectors.shape[1] if given is None else float(given)
    degree = int(model.degree)
    if degree != model.degree or not 1 <= degree <= MOST_POWER:
        raise InputError(f"from_sklearn: kernel='poly' of degree={model.degree}; an integer from 1 to {MOST_POWER}")
    weights = _weights(model, len(vectors))
    shift = np.broadcast_to(np.asarray(getattr(model, "intercept_", 0.0), dtype=np.float64), weights.shape[1:])
    coef0 = np.full(len(vectors), float(model.coef0))
    return lambda value: affine(power(affine(value, gamma * vectors.T, coef0), degree), weights, shift)


def _weights(model: Any, vectors: int) -> Array:
    """Return the weights (vectors, scores) of a kernel machine; a score for each pair of more than two classes."""
    dual = model.dual_coef_
    dual = np.asarray(dual.toarray() if hasattr(dual, "toarray") else dual, dtype=np.float64)
    if dual.shape[0] == vectors and not hasattr(model, "support_vectors_"):
        return dual.reshape(vectors, -1)
    if len(dual) == 1:
        return dual.T
    # Of the pair (i, j), vectors of class i have their weights in row j - 1, those of class j in row i (libsvm).
    ends = np.cumsum(model.n_support_)
    classes = [slice(end - count, end) for end, count in zip(ends, model.n_support_, strict=True)]
    pairs = list(combinations(range(len(classes)), 2))
    weights = np.zeros((vectors, len(pairs)))
    for column, (i, j) in enumerate(pairs):
        weights[classes[i], column] = dual[j - 1, classes[i]]
        weights[classes[j], column] = dual[i, classes[j]]
    return weights


def _powers(powers: NDArray[Any]) -> Map:
    """Return the monomials of a PolynomialFeatures: those of degree 0 and 1 are affine."""
    size = powers.shape[1]
    factors = [tuple(np.repeat(np.arange(size), row).tolist()) for row in powers]
    high = [column for column, one in enumerate(factors) if len(one) > 1]
    matrix, shift = np.zeros((size, len(factors))), np.zeros(len(factors))
    for column, one in enumerate(factors):
        if len(one) == 1:
            matrix[one[0], column] = 1.0
        elif not one:
            shift[column] = 1.0
    placed = np.zeros((len(high), len(factors)))
    placed[np.arange(len(high)), high] = 1.0

    def made(value: Value) -> Value:
        flat = affine(value, matrix, shift)
        if not high:
            return flat
        products = monomials(affine(value, np.eye(size), np.zeros(size)), [factors[column] for column in high])
        return Sum(affine(products, placed, np.zeros(len(factors))), flat)

    return made


def _cosines(model: Any, name: str) -> Map:
    """Return the features of an RBFSampler."""
    weights, offset = two_axes(model.random_weights_), np.asarray(model.random_offset_, dtype=np.float64)
    scale = np.sqrt(2.0 / len(offset))

    def made(value: Value) -> Value:
        inner = Activation(affine(value, weights, offset), "cos", f"{name}.cos")
        return affine(inner, scale * np.eye(len(offset)), np.zeros(len(offset)))

    return made


def beside(maps: list[Map], widths: list[int]) -> Map:
    """Return maps of one argument, their outputs one after the other."""
    total = sum(widths)

    def made(value: Value) -> Value:
        found: Value | None = None
        start = 0
        for one, width in zip(maps, widths, strict=True):
            part = affine(one(value), np.eye(width, total, start), np.zeros(total))
            found = part if found is None else Sum(found, part)
            start += width
        assert found is not None
        return found

    return made
