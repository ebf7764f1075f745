# SPDX-License-Identifier: Apache-2.0
"""Statistics of many values: the bound of an error does not grow with their number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.runtime.program import Program


def centred(x: Any) -> Any:
    return ((x - x.mean()) ** 2).mean()


def covariance(x: Any) -> Any:
    own = x - x.mean(axis=0)
    return own.T @ own * (1 / (x.shape[0] - 1))


def compiled(function: Any, *shape: int, **declared: Any) -> Program:
    return rs.kernel(x=rs.Encrypted(*shape, **declared), tolerance=1e-3)(function).compile()


@pytest.mark.parametrize("function", [np.var, centred], ids=["numpy", "centred"])
def test_the_scale_of_a_variance_does_not_grow_with_the_count(function: Any) -> None:
    few, many = (compiled(lambda x: function(x), count, bound=10.0) for count in (24, 5000))
    assert many.params.log2_scale <= few.params.log2_scale + 2 <= 36
    assert many.params.n == few.params.n == 8192


@pytest.mark.parametrize("count", [2145, pytest.param(100_000, marks=pytest.mark.slow)])
def test_the_variance_of_many_values_is_right(count: int) -> None:
    x = np.random.default_rng(count).uniform(-10, 10, count)
    made = rs.kernel(x=rs.Encrypted(count, bound=10.0), tolerance=1e-3)(lambda x: np.var(x, ddof=1))
    assert abs(float(made(x)) - np.var(x, ddof=1)) < 1e-3


def test_a_covariance_of_many_values() -> None:
    program = compiled(covariance, 1000, 4, bound=10.0)
    assert program.params.n <= 16384


@pytest.mark.parametrize("axis", [0, 1, None])
def test_a_variance_far_from_zero_is_taken_around_the_middle_of_its_range(axis: int | None) -> None:
    x = np.random.default_rng(3).uniform(1000, 1001, (12, 5))
    made = rs.kernel(x=rs.Encrypted(12, 5, low=1000, high=1001), tolerance=1e-3)(lambda x: np.var(x, axis=axis))
    assert np.abs(made(x) - np.var(x, axis=axis)).max() < 1e-3
    near = rs.kernel(x=rs.Encrypted(12, 5, bound=0.5), tolerance=1e-3)(lambda x: np.var(x, axis=axis))
    assert made.compile().params.log2_scale <= near.compile().params.log2_scale + 8


def test_an_exact_variance_far_from_zero_takes_a_small_plaintext_modulus() -> None:
    x = np.random.default_rng(4).integers(1000, 1011, 50)
    made = rs.kernel(scheme="bfv", x=rs.Encrypted(50, low=1000, high=1010))(lambda x: np.var(x))
    assert made(x) == pytest.approx(np.var(x), abs=1e-12)
    assert made.compile().params.plain_modulus < 1 << 18
