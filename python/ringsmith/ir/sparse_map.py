# SPDX-License-Identifier: Apache-2.0
"""Linear maps by their entries that are not zero: convolutions, poolings, selections of elements.

A convolution has as many distinct weights as its kernel, however large the image: entries name a weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.ir.geometry import Index
from ringsmith.ir.graph import Shape

Array = NDArray[np.float64]
Numbers = NDArray[np.int32]

#: Factors that one evaluation holds at a time.
_AT_ONCE = 1 << 23


@dataclass(frozen=True, eq=False)
class SparseMap:
    """y[row] = sum of weights[pick] * x[column] over the entries of a row: from tensors of shape `given` to `made`.

    Entries are sorted by row and column, no two of one place; rows and columns number elements row-major. `stride`: an
    image's element (y, x) is made around the given image's (y * stride[0], x * stride[1]).
    """

    given: Shape
    made: Shape
    rows: Numbers
    columns: Numbers
    picks: Numbers
    weights: Array
    stride: tuple[int, int] = (1, 1)

    @property
    def size(self) -> int:
        """Entries."""
        return len(self.rows)

    @property
    def width(self) -> int:
        """Elements of what is given."""
        return math.prod(self.given)

    @property
    def height(self) -> int:
        """Elements of what is made."""
        return math.prod(self.made)

    @property
    def values(self) -> Array:
        """The weight of each entry."""
        return self.weights[self.picks]

    def __call__(self, x: Array) -> Array:
        """Return the map of vectors (..., width), as (..., height)."""
        flat = np.asarray(x, dtype=np.float64).reshape(-1, self.width)
        found = np.zeros((len(flat), self.height))
        if self.size:
            for rows, columns, values in self._products():
                each = max(_AT_ONCE // columns.size, 1)
                for first in range(0, len(flat), each):
                    some = np.moveaxis(flat[first : first + each][:, columns], 0, 1)
                    found[first : first + each, rows] = np.moveaxis(some @ values, 1, 0)
        return found.reshape(*np.shape(x)[:-1], self.height)

    def _products(self) -> Iterator[tuple[Index, Index, Array]]:
        """Yield products of matrices that make the map: result elements (count, r), the elements (count, c) that they
        are made of, and weights (count, c, r).

        A convolution makes the elements of one place in all its channels of the same elements.
        """
        held, starts = np.unique(self.rows, return_index=True)
        counts = np.diff(np.r_[starts, self.size])
        marks = np.random.default_rng(3).integers(1 << 63, size=self.width, dtype=np.uint64)
        alike = np.stack([np.add.reduceat(marks[self.columns], starts), counts.astype(np.uint64)])
        _, group = np.unique(alike, axis=1, return_inverse=True)
        order = np.argsort(group.reshape(-1), kind="stable")
        sizes = np.bincount(group.reshape(-1))
        firsts = np.cumsum(sizes) - sizes
        values, shapes = self.values, np.stack([counts[order[firsts]], sizes])
        for length, size in np.unique(shapes, axis=1).T:
            own = firsts[(shapes[0] == length) & (shapes[1] == size)]
            members = order[own[:, None] + np.arange(size)]
            entries = starts[members][..., None] + np.arange(length)
            yield held[members], self.columns[entries[:, 0]], np.moveaxis(values[entries], 1, 2)

    @property
    def is_identity(self) -> bool:
        """Return whether each element stays where it is."""
        same = self.width == self.height == self.size and np.array_equal(self.weights, [1.0])
        return bool(same and np.array_equal(self.rows, self.columns))

    def dense(self) -> Array:
        """Return the matrix (width, height) of x @ matrix."""
        matrix = np.zeros((self.width, self.height))
        matrix[self.columns, self.rows] = self.values
        return matrix

    def scaled(self, factors: Array | float) -> SparseMap:
        """Return the map of factors * x; factors (width,), or one for all."""
        own = np.broadcast_to(factors, (self.width,))
        return _of(self, self.rows, self.columns, self.values * own[self.columns])

    def shaped(self, given: Shape, made: Shape) -> SparseMap:
        """Return the same map between tensors of other shapes."""
        return SparseMap(given, made, self.rows, self.columns, self.picks, self.weights, self.stride)

    def products(self, after: SparseMap) -> int:
        """Return how many products of entries `then` takes."""
        counts = np.bincount(self.rows, minlength=self.height)
        return int(counts[after.columns].sum())

    def then(self, after: SparseMap) -> SparseMap:
        """Return the map that is this one and then another."""
        counts = np.bincount(self.rows, minlength=self.height)
        starts = np.cumsum(counts) - counts
        each = counts[after.columns]
        outer = np.repeat(np.arange(after.size), each)
        inner = np.arange(len(outer)) - np.repeat(np.cumsum(each) - each, each) + starts[after.columns][outer]
        places = after.rows[outer].astype(np.int64) * self.width + self.columns[inner]
        order = np.argsort(places, kind="stable")
        held, first = np.unique(places[order], return_index=True)
        terms = (after.values[outer] * self.values[inner])[order]
        values = np.add.reduceat(terms, first) if len(terms) else terms
        stride = self.stride[0] * after.stride[0], self.stride[1] * after.stride[1]
        like = SparseMap(self.given, after.made, self.rows, self.columns, self.picks, self.weights, stride)
        return _of(like, held // self.width, held % self.width, values)


def _of(like: SparseMap, rows: Any, columns: Any, values: Array) -> SparseMap:
    """Return the map of these entries between the same tensors, equal weights once and zeros left out."""
    kept = values != 0
    weights = np.unique(values[kept])
    picks = np.searchsorted(weights, values[kept])
    row, column, pick = (np.asarray(own, dtype=np.int32) for own in (rows[kept], columns[kept], picks))
    return SparseMap(like.given, like.made, row, column, pick, weights, like.stride)


def sparse_map(
    given: Shape, made: Shape, rows: Any, columns: Any, values: Any, stride: tuple[int, int] = (1, 1)
) -> SparseMap:
    """Return the map of entries in any order; those of one place are added."""
    places = np.asarray(rows, dtype=np.int64) * math.prod(given) + np.asarray(columns, dtype=np.int64)
    order = np.argsort(places, kind="stable")
    ranked, terms = places[order], np.asarray(values, dtype=np.float64)[order]
    first = np.r_[True, np.diff(ranked) != 0] if len(ranked) else np.zeros(0, dtype=bool)
    held = ranked[first]
    total = np.zeros(len(held))
    np.add.at(total, np.cumsum(first) - 1, terms)
    none = np.zeros(0, dtype=np.int32)
    like = SparseMap(given, made, none, none, none, np.zeros(0), stride)
    return _of(like, held // math.prod(given), held % math.prod(given), total)


def of_matrix(matrix: Array, given: Shape, made: Shape) -> SparseMap:
    """Return the map x @ matrix of a matrix (width, height)."""
    columns, rows = np.nonzero(matrix)
    return sparse_map(given, made, rows, columns, matrix[columns, rows])
