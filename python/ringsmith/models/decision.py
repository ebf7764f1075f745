# SPDX-License-Identifier: Apache-2.0
"""Decisions: what decrypted scores mean. The client computes them in the clear, so they may compare and branch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Values:
    """Scores (rows, outputs) are the answer, or what `link` makes of them: numbers of a regression or a transform."""

    link: Callable[[Array], Any] | None = None
    classes: None = None

    def labels(self, scores: Array) -> NDArray[Any]:
        """Return the values: (rows,) of a single output, else (rows, outputs)."""
        found = np.asarray(scores if self.link is None else self.link(scores))
        return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found

    def gap(self, scores: Array) -> Array:
        """Return how far each row's scores are from another answer: values have none that is right or wrong."""
        return np.full(len(scores), np.inf)


@dataclass(frozen=True, eq=False)
class Largest:
    """The class of the largest score; of a single score, the second class where it is positive."""

    classes: NDArray[Any]

    def labels(self, scores: Array) -> NDArray[Any]:
        """Return classes (rows,)."""
        if scores.shape[1] == 1:
            return np.asarray(self.classes[(scores[:, 0] > 0).astype(int)])
        return np.asarray(self.classes[scores.argmax(axis=1)])

    def gap(self, scores: Array) -> Array:
        """Return how far each row's scores are from another class."""
        if scores.shape[1] == 1:
            return np.abs(scores[:, 0])
        ordered = np.sort(scores, axis=1)
        return np.asarray(ordered[:, -1] - ordered[:, -2])


@dataclass(frozen=True, eq=False)
class Signs:
    """Multi-label: 1 where the score of a label is positive, else 0."""

    classes: NDArray[Any]

    def labels(self, scores: Array) -> NDArray[Any]:
        """Return 0 and 1 of (rows, labels)."""
        return (scores > 0).astype(int)

    def gap(self, scores: Array) -> Array:
        """Return how far each row's scores are from another answer."""
        return np.asarray(np.abs(scores).min(axis=1))


@dataclass(frozen=True, eq=False)
class Pairs:
    """One score for each pair of classes, (0, 1), (0, 2), ..., (1, 2), ...: positive, a vote for the first of the pair.

    `confident` breaks ties of votes by the sums of scores, each squeezed below a third of a vote, as scikit-learn does.
    """

    classes: NDArray[Any]
    confident: bool

    def labels(self, scores: Array) -> NDArray[Any]:
        """Return the classes with most votes (rows,)."""
        votes = self.ranks(scores) if self.confident else self._votes(scores)[0]
        return np.asarray(self.classes[votes.argmax(axis=1)])

    def ranks(self, scores: Array) -> Array:
        """Return a number for each class (rows, classes): its votes, and its squeezed sum of scores."""
        votes, sums = self._votes(scores)
        return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))

    def _votes(self, scores: Array) -> tuple[Array, Array]:
        votes = np.zeros((len(scores), len(self.classes)))
        sums = np.zeros_like(votes)
        for score, (i, j) in zip(scores.T, combinations(range(len(self.classes)), 2), strict=True):
            votes[:, i] += score > 0
            votes[:, j] += score <= 0
            sums[:, i] += score
            sums[:, j] -= score
        return votes, sums

    def gap(self, scores: Array) -> Array:
        """Return how far each row's scores are from another vote."""
        return np.asarray(np.abs(scores).min(axis=1))


@dataclass(frozen=True, eq=False)
class Several:
    """Several targets, each with its own columns of the scores: `widths` of them."""

    parts: tuple[Decision, ...]
    widths: tuple[int, ...]

    @property
    def classes(self) -> list[Any]:
        """The classes of each target."""
        return [part.classes for part in self.parts]

    def _split(self, scores: Array) -> list[Array]:
        return np.split(scores, np.cumsum(self.widths)[:-1], axis=1)

    def labels(self, scores: Array) -> NDArray[Any]:
        """Return the answers (rows, targets)."""
        return np.stack([p.labels(s) for p, s in zip(self.parts, self._split(scores), strict=True)], axis=1)

    def gap(self, scores: Array) -> Array:
        """Return how far each row's scores are from another answer."""
        return np.asarray(np.min([p.gap(s) for p, s in zip(self.parts, self._split(scores), strict=True)], axis=0))


@dataclass(frozen=True, eq=False)
class Combined:
    """What an ensemble says whose members have the scores (rows, scores): classes, or values (None).

    `ensemble` has scikit-learn's methods, which take scores in place of features.
    """

    ensemble: Any
    classes: NDArray[Any] | None

    def labels(self, scores: Array) -> NDArray[Any]:
        """Return classes or values (rows,)."""
        return np.asarray(self.ensemble.predict(scores))

    def gap(self, scores: Array) -> Array:
        """Return zeros: how far an ensemble is from another answer is not known."""
        return np.zeros(len(scores))


Decision = Values | Largest | Signs | Pairs | Several | Combined


def decision_of(classes: Any) -> Decision:
    """Return the decision of scores that have these classes; None: they are values."""
    return Values() if classes is None else Largest(np.asarray(list(classes)))
