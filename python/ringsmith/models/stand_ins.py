# SPDX-License-Identifier: Apache-2.0
"""Estimators' own code on scores in place of features: the client's part of ensembles, and probabilities.

A calibrated, voting, bagged, boosted or stacked ensemble is no polynomial as a whole, but its members' scores may be:
these are computed encrypted, and the client makes the ensemble's answer of them by the ensemble's own code, with
stand-ins for the members that take a row's scores from their columns of it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.models.answers import Answer, answers
from ringsmith.models.decision import Combined, Pairs
from ringsmith.models.probing import Box, Rows, degree, in_parts
from ringsmith.models.structure import members, structures, unwrapped

Array = NDArray[np.float64]
#: Difference of probabilities that is rounding.
_ROUNDING = 1e-6


def all_answers(model: Any, points: Array) -> Iterator[Answer]:
    """Yield the answers that an estimator may have, its own before that by its members; `points` are rows it takes."""
    # What a bag of classifiers says is not what its own decision_function says, though it may be on all of the points.
    bagged = hasattr(model, "estimators_features_") and hasattr(model, "classes_")
    if not bagged:
        yield from answers(model, points)
    found = []
    for member, features in _members(model):
        scored = _scored(member, features, points)
        if scored is None:
            return
        found.append(scored)
    if found:
        yield _of_members(model, found, points)


def with_probabilities(answer: Answer, model: Any, points: Array, given: Any) -> Answer:
    """Return an answer with what makes probabilities (rows, classes) of its scores, where there is such a thing.

    `given` are the points as the estimator takes them.
    """
    if not hasattr(model, "predict_proba"):
        return answer
    scores = in_parts(answer.scores, points)
    for made in (lambda: _stand_in(model, answer, slice(None)).predict_proba, lambda: _shares):
        try:
            shares = made()
            found, expected = shares(scores), model.predict_proba(given)
            same = np.shape(found) == np.shape(expected) and np.allclose(found, expected, rtol=0, atol=_ROUNDING)
        except Exception:  # an estimator's own code may raise anything of what it was not made for
            continue
        if same:
            return replace(answer, shares=shares)
    return answer


@dataclass(frozen=True, eq=False)
class _Member:
    """A member of an ensemble, with its scores as a function of the ensemble's rows."""

    model: Any
    answer: Answer
    scores: Rows


def _members(model: Any) -> list[tuple[Any, Any]]:
    """Return the fitted members of an ensemble, each with the features it looks at."""
    found = members(model)
    if not isinstance(found, list) or not all(hasattr(member, "predict") for member in found):
        return []
    features = getattr(model, "estimators_features_", None) or [slice(None)] * len(found)
    return list(zip(found, features, strict=True))


def _scored(model: Any, features: Any, points: Array) -> _Member | None:
    """Return a member with one of the answers that are what it says itself; None: none has scores to be encrypted."""
    box = Box.around(points[:, features])
    own = [answer for answer in all_answers(model, box.points) if answer.is_of(model.predict, box)]
    built = next(structures(_last(model), ""), None) is not None
    chosen = next((answer for answer in own if built or degree(answer.scores, box) is not None), None)
    if chosen is None:
        return None
    chosen = with_probabilities(chosen, model, box.points, box.points)
    scores = chosen.scores
    return _Member(model, chosen, lambda rows: scores(np.asarray(rows)[:, features]))


def _of_members(model: Any, found: list[_Member], points: Array) -> Answer:
    """Return the members' scores, side by side, and the decision that makes the ensemble's answer of them."""
    ends = np.cumsum([in_parts(member.scores, points[:1]).shape[1] for member in found])
    columns = [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    made = [_stand_in(member.model, member.answer, own) for member, own in zip(found, columns, strict=True)]
    attributes: dict[str, Any] = {"estimators_": made}
    if hasattr(model, "calibrated_classifiers_"):
        calibrated = zip(model.calibrated_classifiers_, made, strict=True)
        attributes = {"calibrated_classifiers_": [_with(one, estimator=member) for one, member in calibrated]}
    if hasattr(model, "estimators_features_"):
        attributes["estimators_features_"] = [np.arange(ends[-1])] * len(made)
    if hasattr(model, "n_jobs"):
        attributes["n_jobs"] = 1
    ensemble = _with(model, **attributes)
    vars(ensemble).pop("feature_names_in_", None)
    with suppress(AttributeError):  # a property, of the first member's
        ensemble.n_features_in_ = int(ends[-1])

    def scores(rows: Array) -> Array:
        return np.hstack([in_parts(member.scores, rows) for member in found])

    parts = () if hasattr(model, "estimators_features_") else tuple(member.model for member in found)
    return Answer(scores, Combined(ensemble, getattr(model, "classes_", None)), parts)


def _stand_in(model: Any, answer: Answer, columns: slice) -> Any:
    """Return an estimator whose scores are columns of the rows that it is given."""
    own, decision = _last(model), answer.decision
    methods: dict[str, Rows] = {"predict": decision.labels}
    if isinstance(decision, Combined):
        names = ("predict_proba", "decision_function")
        methods |= {name: getattr(decision.ensemble, name) for name in names if hasattr(decision.ensemble, name)}
    elif hasattr(own, "decision_function"):
        methods["decision_function"] = lambda rows: _flat(decision.ranks(rows) if isinstance(decision, Pairs) else rows)
    if answer.shares is not None:
        methods["predict_proba"] = answer.shares
    return _with(own, **{name: _of_columns(method, columns) for name, method in methods.items()})


def _of_columns(method: Rows, columns: slice) -> Rows:
    return lambda rows: method(np.asarray(rows)[:, columns])


def _with(model: Any, **attributes: Any) -> Any:
    changed = copy.copy(model)
    vars(changed).update(attributes)
    return changed


def _last(model: Any) -> Any:
    """Return the estimator whose scores a pipeline or a search gives."""
    while hasattr(model := unwrapped(model), "named_steps"):
        model = model.steps[-1][1]
    return model


def _flat(scores: Array) -> Array:
    """Return scores as scikit-learn's decision functions do: a single one without an axis of its own."""
    return scores[:, 0] if scores.shape[1] == 1 else scores


def _shares(scores: Array) -> Array:
    """Return the probabilities (rows, classes) of logarithms; of a single score, those of two classes."""
    logarithms = np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores
    shares = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
