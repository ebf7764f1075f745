# SPDX-License-Identifier: Apache-2.0
"""Products of stacks of matrices, against numpy, encrypted and with a plain operand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringsmith as rs

SHAPES = [
    ((2, 3, 4), (2, 4, 5)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((4,), (2, 4, 5)),
    ((2, 3, 4), (4,)),
    ((2, 1, 3, 4), (3, 4, 2)),
]


def values(shape: tuple[int, ...], scheme: str) -> Any:
    rng = np.random.default_rng(len(shape))
    return rng.integers(-3, 4, shape) if scheme == "bfv" else rng.uniform(-1, 1, shape)


def checked(function: Any, scheme: str, plain: bool, *given: Any) -> None:
    names = "ab"[: 1 if plain else 2]
    declared: Any = {name: rs.Encrypted(*x.shape, bound=3.0) for name, x in zip(names, given, strict=False)}
    kernel = rs.kernel(**declared, scheme=scheme)
    made = kernel(lambda a: function(a, given[1])) if plain else kernel(lambda a, b: function(a, b))
    report = rs.run(made, dict(zip(names, given, strict=False)), seed="1")
    wanted = function(*given)
    assert report.output.shape == wanted.shape
    np.testing.assert_allclose(report.output, wanted, atol=0 if scheme == "bfv" else 1e-3)


@pytest.mark.parametrize("plain", [False, True], ids=["encrypted", "plain"])
@pytest.mark.parametrize("scheme", ["bfv", "ckks"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_a_product_of_stacks_is_numpys(shapes: Any, scheme: str, plain: bool) -> None:
    checked(np.matmul, scheme, plain, *(values(shape, scheme) for shape in shapes))


@pytest.mark.parametrize(
    ("function", "first", "second"),
    [
        (np.dot, (2, 3, 4), (2, 4, 3)),
        (np.dot, (2, 3, 4), (4,)),
        (np.dot, (4,), (2, 4, 3)),
        (np.inner, (2, 3, 4), (3, 2, 4)),
        (np.inner, (4,), (2, 3, 4)),
    ],
)
def test_dot_and_inner_of_more_axes_are_numpys(function: Any, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    checked(function, "ckks", True, values(first, "ckks"), values(second, "ckks"))


def test_attention_scores_and_channels_last() -> None:
    query, key = values((2, 3, 4), "ckks"), values((2, 5, 4), "ckks")
    checked(lambda q, k: q @ k.transpose(0, 2, 1), "ckks", False, query, key)
    checked(lambda image, weights: image @ weights, "bfv", True, values((4, 3, 2), "bfv"), values((2, 5), "bfv"))


@pytest.mark.parametrize(("first", "second"), [((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (3, 4, 5)), ((2, 3, 4), ())])
def test_stacks_that_do_not_fit_are_refused(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    kernel = rs.kernel(a=rs.Encrypted(*first, bound=1.0))(lambda a: a @ np.ones(second))
    with pytest.raises(rs.KernelError, match="matmul"):
        kernel.compile()
