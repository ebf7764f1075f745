# SPDX-License-Identifier: Apache-2.0
"""Maps by their entries are the matrices that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from ringsmith.ir.sparse_map import SparseMap, of_matrix, sparse_map

RNG = np.random.default_rng(3)


def random_map(given: tuple[int, ...], made: tuple[int, ...], share: float = 0.3) -> tuple[SparseMap, np.ndarray]:
    matrix = RNG.normal(size=(int(np.prod(given)), int(np.prod(made))))
    matrix *= RNG.random(matrix.shape) < share
    return of_matrix(matrix, given, made), matrix


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_a_map_is_its_matrix(share: float) -> None:
    found, matrix = random_map((2, 3), (7,), share)
    x = RNG.normal(size=(4, 6))
    np.testing.assert_allclose(found(x), x @ matrix, atol=1e-12)
    np.testing.assert_allclose(found(x[0]), x[0] @ matrix, atol=1e-12)
    np.testing.assert_array_equal(found.dense(), matrix)
    factors = RNG.normal(size=6)
    np.testing.assert_allclose(found.scaled(factors).dense(), factors[:, None] * matrix)


def test_rows_of_the_same_elements_are_one_product() -> None:
    # Two channels of three places each, whose elements differ from place to place.
    matrix = np.zeros((6, 6))
    for place, columns in enumerate([[0, 1], [1, 2, 5], [3]]):
        matrix[np.ix_(columns, [place, 3 + place])] = RNG.normal(size=(len(columns), 2))
    found = of_matrix(matrix, (6,), (2, 3))
    assert [(rows.shape, columns.shape) for rows, columns, _ in found._products()] == [
        ((1, 2), (1, 1)), ((1, 2), (1, 2)), ((1, 2), (1, 3)),
    ]  # fmt: skip
    x = RNG.normal(size=(5, 6))
    np.testing.assert_allclose(found(x), x @ matrix, atol=1e-12)


def test_maps_one_after_the_other() -> None:
    (a, first), (b, second) = random_map((5,), (2, 4)), random_map((2, 4), (3,))
    both = a.then(b)
    np.testing.assert_allclose(both.dense(), first @ second, atol=1e-12)
    assert both.size <= a.products(b)
    assert both.made == (3,)


def test_entries_of_one_place_are_added_and_zeros_left_out() -> None:
    found = sparse_map((3,), (2,), [1, 0, 1, 0], [2, 0, 2, 1], [1.0, 5.0, 2.0, 0.0])
    assert found.size == 2
    np.testing.assert_array_equal(found.dense(), [[5, 0], [0, 0], [0, 3]])


def test_equal_weights_are_held_once() -> None:
    every = np.arange(100)
    found = sparse_map((100,), (100,), every, every, np.full(100, 0.5))
    assert found.weights.tolist() == [0.5]
    assert not found.is_identity
    assert sparse_map((100,), (100,), every, every, np.ones(100)).is_identity
    assert not sparse_map((100,), (100,), every, every[::-1], np.ones(100)).is_identity


def test_many_rows_are_taken_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found, matrix = random_map((6,), (5,))
    monkeypatch.setattr("ringsmith.ir.sparse_map._AT_ONCE", 20)
    x = RNG.normal(size=(9, 6))
    np.testing.assert_allclose(found(x), x @ matrix, atol=1e-12)
