# SPDX-License-Identifier: Apache-2.0
"""Remedies: why an estimator is refused, and what would do in its place."""

from __future__ import annotations

from typing import Any

from ringsmith.models.structure import members

_COMPARES = (
    "it compares numbers, which no polynomial does; a linear model, or an MLPClassifier or MLPRegressor, fitted to the "
    "same data would do"
)
_SEARCHES = "it searches among the training samples; NearestCentroid or KMeans, whose scores are affine, would do"
_CLASSES = (
    "its classes do not follow from scores that are affine or a polynomial of low degree; LogisticRegression, "
    "LinearSVC, SVC(kernel='poly'), LinearDiscriminantAnalysis or MLPClassifier would do"
)
_VALUES = "its predict is not affine nor a polynomial of low degree; Ridge, SVR(kernel='poly') or MLPRegressor would do"
_MOVES = "its transform is not affine nor a polynomial of low degree; StandardScaler, PCA or RBFSampler would do"
_NOTHING = "it has neither predict nor transform for new samples; KMeans, PCA or a classifier would do"
_CLIENT = "it reads words or categories, which a client turns into numbers before it encrypts them"
#: Attributes by which estimators are known, and what to say of them.
_KNOWN = (
    (("tree_", "_predictors", "X_thresholds_", "bin_edges_", "quantiles_", "bsplines_", "init_"), _COMPARES),
    (("_fit_method", "X_", "_fit_X", "nbrs_", "outlier_label_"), _SEARCHES),
    (("categories_", "category_count_", "vocabulary_", "input_type", "analyzer", "sparse_output_"), _CLIENT),
    (("cluster_centers_",), "it compares distances one after the other; KMeans, whose scores are affine, would do"),
)


def remedy(model: Any) -> str:
    """Return why an estimator is refused and what would do."""
    if not hasattr(model, "predict") and not hasattr(model, "transform"):
        return _NOTHING
    kernel = getattr(model, "kernel_", getattr(model, "kernel", None))
    if kernel is not None:
        name = kernel if isinstance(kernel, str) else type(kernel).__name__
        return f"kernel {name!r} is no polynomial; a linear or polynomial one would do, or RBFSampler before LinearSVC"
    for names, told in _KNOWN:
        if any(hasattr(one, name) for one in (model, _part(model)) for name in names):
            return told
    if hasattr(model, "predict"):
        return _CLASSES if hasattr(model, "classes_") else _VALUES
    return _MOVES


def _part(model: Any) -> Any:
    """Return the first estimator of an ensemble, or None."""
    part = members(model)
    while part is not None and not hasattr(part, "predict"):
        part = next(iter(part), None)
    return part
