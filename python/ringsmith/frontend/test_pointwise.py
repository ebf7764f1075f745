# SPDX-License-Identifier: Apache-2.0
"""Functions of one number: what looks at several elements is refused, and a run compares with the function itself."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringsmith as rs


def softmax(t: Any) -> Any:
    e = np.exp(t - t.max())
    return e / e.sum()


def first(t: Any) -> Any:
    return t - t[0]


def few(t: Any) -> Any:
    return t if len(t) > 10 else 0 * t


ACROSS: list[Callable[[Any], Any]] = [
    lambda t: t - t.mean(), lambda t: t - np.median(t), lambda t: t / np.abs(t).max(), lambda t: t - t.min(),
    lambda t: t * np.arange(len(t)), lambda t: np.where(t == t.max(), 1, 0), lambda t: np.roll(t, 1),
    lambda t: t + np.random.default_rng().normal(size=t.shape), softmax, first, few,
    np.sort, np.flip, np.argsort, np.cumsum, np.gradient,
]  # fmt: skip


@pytest.mark.parametrize("function", ACROSS)
def test_a_function_of_several_elements_is_refused(function: Any) -> None:
    with pytest.raises(rs.InputError, match=r"is not a function of one number: at .* rs\.refresh\(x, function, low=A"):
        rs.approximate(function, -4, 4, degree=3)


def step(t: Any) -> Any:
    return 1 if t > 0 else 0


def in_place(t: Any) -> Any:
    t[t < 0] = 0
    return t


@pytest.mark.parametrize(
    ("function", "same"),
    [
        (math.sin, np.sin),
        (lambda t: math.exp(-t), lambda t: np.exp(-t)),
        (lambda t: max(t, 0), lambda t: np.maximum(t, 0)),
        # The first value is an integer: a type taken from it would cut off the others.
        (np.vectorize(lambda t: max(t, 0)), lambda t: np.maximum(t, 0)),
        (step, lambda t: (t > 0).astype(float)),
        (lambda t: t > 0, lambda t: (t > 0).astype(float)),
        (in_place, lambda t: np.maximum(t, 0)),
        (float, lambda t: t),
    ],
)
def test_functions_of_numbers_work_as_those_of_arrays(function: Any, same: Any) -> None:
    found, expected = (rs.approximate(one, -3, 3, degree=9) for one in (function, same))
    # Arrays have functions of their own on some processors, which differ in the last bit.
    assert found.coefficients == pytest.approx(expected.coefficients, rel=1e-12, abs=1e-12)
    assert found.error == pytest.approx(expected.error, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (np.maximum, r"maximum takes 2 arrays, a function of one is needed: lambda t: np.maximum\(t, 0.5\)"),
        (np.modf, r"gives shape \(2, 16385\)"),
        (math.log, r"log fails at -.*math domain error; .* defined on the whole interval"),
        (lambda a, b: a + b, "missing 1 required positional argument"),
        (lambda t: t.nothing, "no attribute 'nothing'"),
        (lambda t: t + np.zeros(2048), "could not be broadcast"),
        (lambda t: 1 / 0, "division by zero"),
        (lambda t: [1, [2]], r"gives shape \(0,\)"),
        (lambda t: "a", r"gives shape \(\)"),
    ],
)
def test_what_fails_is_refused_in_one_line(function: Any, line: str) -> None:
    with pytest.raises(rs.InputError, match=line) as caught:
        rs.approximate(function, -4, 4)
    assert "\n" not in str(caught.value)


def test_the_function_that_the_refusal_of_a_binary_one_names_works() -> None:
    assert rs.approximate(lambda t: np.maximum(t, 0.5), -4, 4).error < 0.1


def of(function: Any, size: int = 5, tolerance: float = 1e-3) -> rs.Kernel:
    return rs.kernel(x=rs.Encrypted(size, bound=4.0), tolerance=tolerance)(lambda x: function(x))


def test_a_run_compares_with_the_function_itself() -> None:
    """A function that shows what it is on five values alone passes every check that is made beforehand."""

    def centred(t: Any) -> Any:
        return t - t.mean() if len(t) == 5 else t

    report = rs.run(of(rs.approximate(centred, -4, 4, degree=3)), {"x": [3, 1, -1, 1, 1]}, seed="0")
    assert not report.correct
    assert report.max_abs_error <= report.tolerance
    assert report.function_error == pytest.approx(1, abs=1e-3)
    (use,) = report.approximated
    assert (use.name, use.holds) == ("centred", False)
    assert use.found == pytest.approx(1)
    assert report.json()["approximated"] == [use.json()]


def test_a_run_tells_how_far_its_answer_is_from_the_functions() -> None:
    tanh, x = rs.approximate("tanh", -4, 4, degree=5), np.linspace(-4, 4, 5)
    report = rs.run(of(lambda x: 2 * tanh(x) + 1), {"x": x}, seed="0")
    assert report.correct
    assert report.function_error == pytest.approx(np.abs(report.output - 2 * np.tanh(x) - 1).max())
    assert report.function_error is not None
    assert report.function_error > 10 * report.max_abs_error
    assert report.approximated[0].found <= report.approximated[0].stated == tanh.error


def test_values_in_a_gap_are_counted_and_held_to_nothing() -> None:
    sign = rs.approximate("sign", -4, 4, gap=2, error=0.05)
    report = rs.run(of(sign), {"x": [-4, -2, 0.5, 2, 3]}, seed="0")
    assert report.correct
    (use,) = report.approximated
    assert (use.values, use.in_gap, use.holds) == (5, 1, True)
    assert report.function_error is not None
    assert report.function_error > 0.1


def test_without_a_polynomial_there_is_no_other_answer() -> None:
    report = rs.run(of(lambda x: x * x), seed="0")
    assert (report.function_error, list(report.approximated)) == (None, [])
    assert "function_error" not in report.json()


def test_copies_and_pickles_keep_the_polynomial() -> None:
    made = rs.approximate(lambda t: t**3, -2, 2, degree=3)
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again == made
        assert again(1.5) == pytest.approx(1.5**3)
    assert rs.run(of(pickle.loads(pickle.dumps(rs.approximate("exp", -4, 4)))), seed="0").correct


def test_complex_numbers_are_refused_where_they_are_known() -> None:
    with pytest.raises(rs.KernelError, match="of reals only"):
        rs.approximate("exp", -1, 1)(np.array([1j]))
