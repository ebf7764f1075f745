# SPDX-License-Identifier: Apache-2.0
"""Answers of fitted estimators: functions that give scores, and the decision that makes answers of them.

An estimator is known by its methods and fitted attributes. Which of several answers is an estimator's own is asked of
its `predict`: the decision has to give the same on every point of the box.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError
from ringsmith.models.decision import Decision, Largest, Pairs, Several, Signs, Values
from ringsmith.models.probing import Box, Rows, agrees, applied, in_parts, two_axes
from ringsmith.models.structure import perceptron

Array = NDArray[np.float64]

#: Methods that score classes, dearest last; the private ones are naive Bayes' and mixtures' logarithms.
_SCORES = (
    "decision_function", "predict_joint_log_proba", "_joint_log_likelihood", "_estimate_weighted_log_prob",
    "predict_log_proba", "predict_proba",
)  # fmt: skip
#: Gaps between classes, as parts of the scores' extent, that rounding may close.
_CLOSE = 1e-7
#: Part of the points on which a decision has to be beyond rounding.
_SURE = 0.5


@dataclass(frozen=True, eq=False)
class Answer:
    """Scores of rows, and what they mean.

    `parts`: fitted estimators whose scores are the columns, where there are. `shares` makes probabilities of scores,
    where they follow from them.
    """

    scores: Rows
    decision: Decision
    parts: tuple[Any, ...] = ()
    shares: Rows | None = None

    def is_of(self, predict: Callable[[Array], Any], box: Box) -> bool:
        """Return whether the decision gives what `predict` gives on the box's points, near ties aside."""
        try:
            return self._agrees(predict, box)
        except (InputError, ValueError, TypeError, IndexError, AttributeError):
            return False  # scores that the estimator does not have

    def _agrees(self, predict: Callable[[Array], Any], box: Box) -> bool:
        scores = in_parts(self.scores, box.points)
        expected = np.asarray(predict(box.points))
        found = self.decision.labels(scores)
        if self.decision.classes is None:
            return agrees(two_axes(found), two_axes(expected))
        sure = self.decision.gap(scores) > _CLOSE * max(float(np.abs(scores).max(initial=0.0)), 1e-300)
        same = found.reshape(len(found), -1) == expected.reshape(len(expected), -1)
        return bool(same.all() or (sure.mean() > _SURE and same[sure].all()))


def answers(model: Any, points: Array) -> Iterator[Answer]:
    """Yield the answers that an estimator may have, simplest first; `points` are rows it takes."""
    if hasattr(model, "classes_") or getattr(model, "multilabel_", False):
        yield from _classes(model, points)
    elif not hasattr(model, "predict"):
        if hasattr(model, "transform"):
            yield Answer(model.transform, Values())
    elif (centres := getattr(model, "subcluster_centers_", getattr(model, "cluster_centers_", None))) is not None:
        yield _nearest(two_axes(centres), np.asarray(getattr(model, "subcluster_labels_", np.arange(len(centres)))))
    elif hasattr(model, "decision_function"):
        yield from _scored(model, np.array([-1, 1]))
    elif hasattr(model, "predict_proba"):
        yield from _scored(model, np.arange(getattr(model, "n_components", 1)))
    else:
        yield from _values(model)


def _values(model: Any) -> Iterator[Answer]:
    yield Answer(model.predict, Values())
    inner, back = getattr(model, "regressor_", None), getattr(model, "transformer_", None)
    if inner is not None and back is not None:
        yield Answer(inner.predict, Values(lambda scores: back.inverse_transform(scores)), (inner,))
    parts = getattr(model, "estimators_", None)
    if isinstance(parts, list) and all(hasattr(part, "predict") for part in parts):
        yield Answer(lambda rows: np.column_stack([part.predict(rows) for part in parts]), Values(), tuple(parts))
    # Regressions with a link: Poisson's, Gamma's and Tweedie's give the exponential of an affine map.
    yield Answer(lambda rows: np.log(model.predict(rows)), Values(np.exp))


def _classes(model: Any, points: Array) -> Iterator[Answer]:
    classes = getattr(model, "classes_", None)
    parts = getattr(model, "estimators_", None)
    if _several(classes):
        yield from _targets(model, classes, points)
        return
    names = np.asarray(classes)
    yield from _pairs(model, names)
    if getattr(model, "centroids_", None) is not None:
        yield _nearest(two_axes(model.centroids_), names)
    if hasattr(model, "coefs_"):
        yield from _perceptron(model, names)
    if getattr(model, "multilabel_", False) or _labels(model):
        yield Answer(_method(model, "decision_function"), Signs(names), _tuple(parts))
        return
    yield from _scored(model, names, _tuple(parts))
    yield from _thresholds(model, names)


def _tuple(parts: Any) -> tuple[Any, ...]:
    return tuple(parts) if isinstance(parts, list) else ()


def _perceptron(model: Any, classes: NDArray[Any]) -> Iterator[Answer]:
    """Yield the numbers before the last activation: probabilities may be 0 in floating point."""

    def scores(rows: Array) -> Array:
        return applied(perceptron(model, "layers"), rows.shape[1], rows)

    yield Answer(scores, Signs(classes) if _labels(model) else Largest(classes))


def _several(classes: Any) -> bool:
    """Return whether the classes are those of several targets."""
    return isinstance(classes, list) and all(np.ndim(one) == 1 for one in classes) and len(classes) > 0


def _labels(model: Any) -> bool:
    """Return whether a classifier was fitted to an indicator of several labels."""
    kind = getattr(getattr(model, "_label_binarizer", None), "y_type_", "")
    return str(kind).startswith("multilabel")


def _method(model: Any, name: str) -> Rows:
    return lambda rows: two_axes(getattr(model, name)(rows))


def _scored(model: Any, classes: NDArray[Any], parts: tuple[Any, ...] = ()) -> Iterator[Answer]:
    """Yield scores of classes: as they are, and relative to the first class, which drops what classes share."""
    for name in _SCORES:
        if not hasattr(model, name):
            continue
        scores = _method(model, name)
        if name == "predict_proba":
            scores = _logarithm(scores)
        yield Answer(scores, Largest(classes), parts)
        if len(classes) > 1:
            yield Answer(_relative(scores), Largest(classes))


def _logarithm(scores: Rows) -> Rows:
    return lambda rows: np.log(scores(rows))


def _relative(scores: Rows) -> Rows:
    def relative(rows: Array) -> Array:
        found = scores(rows)
        if found.shape[1] == 1:
            return found
        difference = found - found[:, :1]
        return difference[:, 1:] if found.shape[1] == 2 else difference

    return relative


def _thresholds(model: Any, classes: NDArray[Any]) -> Iterator[Answer]:
    """Yield scores of two classes less the threshold that an estimator around another one sets."""
    threshold = getattr(model, "best_threshold_", getattr(model, "threshold", None))
    inner = getattr(model, "estimator_", None)
    if inner is None or not isinstance(threshold, float | np.floating) or len(classes) != 2:
        return
    if hasattr(inner, "decision_function"):
        yield Answer(lambda rows: two_axes(inner.decision_function(rows)) - threshold, Largest(classes))
    if hasattr(inner, "predict_proba") and 0 < threshold < 1:
        odds = _relative(_logarithm(_method(inner, "predict_proba")))
        yield Answer(lambda rows: odds(rows) - np.log(threshold / (1 - threshold)), Largest(classes))


def _pairs(model: Any, classes: NDArray[Any]) -> Iterator[Answer]:
    """Yield the scores of pairs of classes, whose votes the client counts."""
    if getattr(model, "decision_function_shape", None) is not None and len(classes) > 2:
        paired = copy.copy(model)
        paired.decision_function_shape, paired.break_ties = "ovo", False
        confident = bool(model.break_ties and model.decision_function_shape == "ovr")
        yield Answer(_method(paired, "decision_function"), Pairs(classes, confident))
    parts, pairs = getattr(model, "estimators_", None), getattr(model, "pairwise_indices_", ())
    count = len(classes) * (len(classes) - 1) // 2
    if pairs is None and parts is not None and len(parts) == count:
        # An estimator of a pair scores its second class.
        yield Answer(
            lambda rows: -np.column_stack([two_axes(part.decision_function(rows)) for part in parts]),
            Pairs(classes, confident=True),
        )


def _targets(model: Any, classes: Any, points: Array) -> Iterator[Answer]:
    """Yield the scores of several targets, each of a classifier of its own."""
    parts = getattr(model, "estimators_", None)
    if not isinstance(parts, list) or len(parts) != len(classes):
        return
    found = [next(answers(part, points), None) for part in parts]
    if any(one is None for one in found):
        return
    chosen = [one for one in found if one is not None]

    def scores(rows: Array) -> Array:
        return np.hstack([two_axes(one.scores(rows)) for one in chosen])

    widths = tuple(two_axes(one.scores(points[:1])).shape[1] for one in chosen)
    yield Answer(scores, Several(tuple(one.decision for one in chosen), widths), tuple(parts))


def _nearest(centres: Array, names: NDArray[Any]) -> Answer:
    """Return 2 x·c - |c|² of the centres c: -|x - c|² without what all centres share."""
    norms = (centres * centres).sum(axis=1)
    return Answer(lambda rows: 2 * two_axes(rows) @ centres.T - norms, Largest(names))
