# SPDX-License-Identifier: Apache-2.0
"""`rs.from_sklearn`: fitted estimators and pipelines, by what they compute.

An estimator is known by what its methods give on numbers, not by its class: where its scores are affine or a polynomial
of low degree, they become one; perceptrons, polynomial kernels and ensembles are taken apart. Everything is compared
with the estimator itself before it is taken. scikit-learn is not imported.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError, RingsmithError
from ringsmith.models.answers import Answer
from ringsmith.models.calibration import calibrated, data_rows, ranges
from ringsmith.models.model import Model
from ringsmith.models.network import Input
from ringsmith.models.options import options_of
from ringsmith.models.probing import Box, Map, Rows, applied, degree, held, hidden, in_parts, polynomial_maps, two_axes
from ringsmith.models.remedies import remedy
from ringsmith.models.stand_ins import all_answers, with_probabilities
from ringsmith.models.structure import beside, structures, unwrapped
from ringsmith.progress import tell, telling

Array = NDArray[np.float64]


@telling(None)
def from_sklearn(model: Any, data: Any, **options: Any) -> Model:
    """Return a fitted scikit-learn estimator or pipeline as a kernel over encrypted samples.

    Whatever has scores that are affine or a polynomial of low degree: linear models, discriminant analysis, naive
    Bayes, support vectors with kernel="linear" or "poly", KMeans, mixtures, PCA, scalers, searches and ensembles of
    them; and MLPClassifier, MLPRegressor, RBFSampler by approximation. `data` (rows, features) calibrate the ranges of
    features and activations: training data will do. Options: `ringsmith.models.options.Options`, and those of
    `rs.kernel`, such as `keys_limit=`.
    """
    tell("from_sklearn: ranges of the calibration data")
    found = options_of(options)
    rows = data_rows(data)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        steps = _steps(model)
        size = _features(steps[0].model, rows)
        low, high = ranges(rows, size, found)
        first = _first(model, data)
        made, answer = _converted(steps, Box.of(low, high, rows), first)
    kind, result = type(steps[-1].model).__name__, made(Input(size))
    if result.size == 0:
        raise InputError(f"from_sklearn: {kind}, as fitted, gives no number; fitted to other data it would do")
    return replace(calibrated(kind.lower(), result, rows, answer.decision, found), shares=answer.shares)


@dataclass(frozen=True, eq=False)
class _Step:
    """A fitted step of a model, by its name; `place` is its number in the outermost pipeline."""

    name: str
    model: Any
    place: int


def _steps(model: Any) -> list[_Step]:
    """Return the fitted steps of a model, pipelines unrolled, those inside of searches too."""
    inner = unwrapped(model)
    if not hasattr(inner, "named_steps"):
        return [_Step(type(inner).__name__, inner, 0)]
    found = []
    for place, (name, step) in enumerate(inner.steps):
        if step is None or isinstance(step, str):
            continue
        parts = _steps(step)
        found += [_Step(name if len(parts) == 1 else part.name, part.model, place) for part in parts]
    if not found:
        raise InputError("from_sklearn: the pipeline has no step that computes anything; give the estimator behind it")
    return found


def _features(step: Any, rows: Array) -> int:
    """Return the number of features of a model; refuse objects without fit, predict or transform."""
    kind = type(step).__name__
    if not any(hasattr(step, method) for method in ("fit", "predict", "transform")):
        raise InputError(f"from_sklearn: {kind} is not supported; a fitted estimator of scikit-learn is needed")
    count = getattr(step, "n_features_in_", None)
    if count is None and hasattr(step, "get_params") and not any(name.endswith("_") for name in vars(step)):
        tags = getattr(step, "__sklearn_tags__", lambda: None)()
        if getattr(tags, "requires_fit", True):
            raise InputError(f"from_sklearn: the {kind} is not fitted; call its fit(X, y) first")
    return rows[0].size if count is None else int(count)


def _first(model: Any, data: Any) -> Callable[[Array], Any]:
    """Return what rows are given to a model as: a table with the columns that it was fitted to, or an array."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or not hasattr(data, "columns") or not hasattr(data, "iloc"):
        return lambda rows: rows
    return lambda rows: type(data)(rows, columns=list(names))


def _converted(steps: list[_Step], box: Box, first: Callable[[Array], Any]) -> tuple[Map, Answer]:
    """Return the map of a model's features to its scores, and the answer it stands for."""
    *before, last = steps
    transforms = [
        _called(step, "transform", first if number == 0 else None, _by_client(step))
        for number, step in enumerate(before)
    ]
    boxes = [box]
    for transform in transforms:
        boxes.append(Box.around(in_parts(transform, boxes[-1].points)))
    given = first if not before else None
    refusals: list[InputError] = []
    for answer in _own_answers(last, boxes[-1], given):
        try:
            made = _chain(before, transforms, boxes, last, answer)
        except InputError as error:
            refusals.append(error)
            continue
        points = boxes[-1].points
        return made, with_probabilities(answer, last.model, points, points if given is None else given(points))
    if refusals:
        raise refusals[0]
    raise InputError(f"from_sklearn: {_told(last)} {remedy(last.model)}")


def _by_client(step: _Step) -> str:
    """Return the remedy for a step before the last one of a pipeline."""
    after = step.place + 1
    return f"; or the client computes it: rs.from_sklearn(model[{after}:], model[:{after}].transform(data))"


def _told(step: _Step) -> str:
    kind = type(step.model).__name__
    return f"{kind} is not supported:" if step.name == kind else f"{kind} (step {step.name}) is not supported:"


def _called(step: _Step, method: str, first: Callable[[Array], Any] | None, after: str = "") -> Rows:
    """Return a method of a step as a function of rows; what it raises is refused with the step's name."""
    if not hasattr(step.model, method):
        raise InputError(f"from_sklearn: {_told(step)} {remedy(step.model)}{after}")
    return _guarded(step, method, getattr(step.model, method), first, after)


def _guarded(step: _Step, method: str, function: Any, first: Callable[[Array], Any] | None, after: str = "") -> Rows:
    def called(rows: Array) -> Any:
        try:
            return function(rows if first is None else first(rows))
        except RingsmithError:
            raise
        except Exception as error:  # an estimator may raise anything
            raise InputError(_failure(step, method, error) + after) from None

    return called


def _failure(step: _Step, method: str, error: Exception) -> str:
    kind = type(step.model).__name__
    if type(error).__name__ == "NotFittedError":
        return f"from_sklearn: the {kind} is not fitted; call its fit(X, y) first"
    said = " ".join(str(error).split())
    return (
        f"from_sklearn: {kind}.{method} of numbers (rows, features) ends with {type(error).__name__}: {said[:160]}; "
        f"{remedy(step.model)}"
    )


def _own_answers(last: _Step, box: Box, first: Callable[[Array], Any] | None) -> list[Answer]:
    """Return the answers that are what the estimator itself says on the box's points."""
    method = "predict" if hasattr(last.model, "predict") else "transform"
    predict = _called(last, method, first)
    expected = predict(box.points)
    found = []
    for answer in _listed(last, box):
        guarded = Answer(_guarded(last, method, answer.scores, first), answer.decision, answer.parts)
        if guarded.is_of(lambda rows: expected, box):
            found.append(guarded)
    return found


def _listed(last: _Step, box: Box) -> Iterator[Answer]:
    """Yield the answers that an estimator may have, until its attributes are not what they look like."""
    try:
        yield from all_answers(last.model, box.points)
    except Exception as error:  # an estimator may raise anything
        tell(f"{last.name}: {type(error).__name__} in what looks like its parts")


def _chain(before: list[_Step], transforms: list[Rows], boxes: list[Box], last: _Step, answer: Answer) -> Map:
    """Return the map of steps and scores: all at once where that is simplest, else the first step and the others."""

    def whole(rows: Array) -> Array:
        for transform in transforms:
            rows = two_axes(transform(rows))
        return answer.scores(rows)

    tell(f"{last.name}: what {' and '.join(step.name for step in [*before, last])} compute")
    parts = () if before else (*structures(last.model, last.name), *_of_parts(answer, boxes[0], last.name))
    found = _best(whole, boxes[0], parts)
    if found is not None:
        return found
    if not before:
        raise InputError(f"from_sklearn: {_told(last)} {remedy(last.model)}")
    step, rest = before[0], _chain(before[1:], transforms[1:], boxes[1:], last, answer)
    here = _best(transforms[0], boxes[0], tuple(structures(step.model, step.name)))
    if here is None:
        raise InputError(f"from_sklearn: {_told(step)} {remedy(step.model)}{_by_client(step)}")
    return lambda value: rest(here(value))


def _best(function: Rows, box: Box, parts: tuple[Map, ...]) -> Map | None:
    """Return the map with the fewest products that a function is."""
    most = degree(function, box)
    candidates = [*parts] if most is None or most > 1 else []
    if most is not None:
        candidates += polynomial_maps(function, box, most)
    fitting = [made for made in candidates if _fits(made, function, box)]
    return min(fitting, key=lambda made: hidden(made, box.size), default=None)


def _fits(made: Map, function: Rows, box: Box) -> bool:
    try:
        return held(made, function, box)
    except (ValueError, IndexError):
        return False  # a guess whose shapes are not those of the estimator


def _of_parts(answer: Answer, box: Box, name: str) -> list[Map]:
    """Return the scores of an estimator as those of its parts, one beside the other."""
    if not answer.parts:
        return []
    try:
        steps = [
            [replace(step, name=f"{name}[{number}].{step.name}") for step in _steps(part)]
            for number, part in enumerate(answer.parts)
        ]
        made = [_converted(one, box, lambda rows: rows)[0] for one in steps]
    except InputError:
        return []
    return [beside(made, [applied(one, box.size, box.points[:1]).shape[1] for one in made])]
