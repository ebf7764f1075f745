# SPDX-License-Identifier: Apache-2.0
"""Values captured by a kernel are part of its computation; its promises about them are held against known numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ringsmith as rs

WEIGHTS = np.array([1, 2, 3])
SETTINGS = SimpleNamespace(weights=np.array([1, 2, 3]), model={"w": np.array([1, 2, 3])})


def helper(x: Any) -> Any:
    return x * WEIGHTS


def change_global() -> None:
    global WEIGHTS
    WEIGHTS = WEIGHTS + 10


def change_in_place() -> None:
    WEIGHTS[1] += 5


def change_attribute() -> None:
    SETTINGS.weights = SETTINGS.weights * 2


def change_nested() -> None:
    SETTINGS.model["w"][0] += 1


def change_function() -> None:
    helper.__defaults__ = None
    change_in_place()


CASES: list[tuple[Callable[[Any], Any], Callable[[], None]]] = [
    (lambda x: x * WEIGHTS, change_global),
    (lambda x: x * WEIGHTS, change_in_place),
    (lambda x: x * SETTINGS.weights, change_attribute),
    (lambda x: x + SETTINGS.model["w"], change_nested),
    (lambda x: helper(x), change_function),
    (lambda x: rs.rotate(x, int(WEIGHTS[0])), change_global),
    (lambda x: x[WEIGHTS % 3], change_in_place),
    (lambda x: rs.within(x, int(WEIGHTS.sum())) * 2, change_in_place),
    (lambda x: rs.polynomial(x, WEIGHTS.tolist()), change_in_place),
]


@pytest.mark.parametrize(("function", "change"), CASES, ids=range(len(CASES)))
def test_a_change_of_what_is_captured_compiles_anew(function: Any, change: Callable[[], None]) -> None:
    kernel = rs.kernel(scheme="bfv", x=rs.Encrypted(3, bound=5))(function)
    first = kernel.compile()
    assert kernel.compile() is first
    change()
    assert kernel.compile() is not first
    assert kernel([1, 2, 3]).tolist() == kernel.clear([1, 2, 3]).tolist()
    assert kernel.compile() is kernel.compile()


def test_closures_and_defaults_too() -> None:
    factor = [2]

    def function(x: Any, extra: Any = [3]) -> Any:  # noqa: B006
        return x * factor[0] + extra[0]

    kernel = rs.kernel(scheme="bfv", x=rs.Encrypted(2, bound=5))(function)
    assert kernel([1, 2]).tolist() == [5, 7]
    factor[0] = 4
    assert kernel([1, 2]).tolist() == [7, 11]
    assert function.__defaults__ is not None
    function.__defaults__[0][0] = 0
    assert kernel([1, 2]).tolist() == [4, 8]


def test_manual_kernels_too() -> None:
    factor = np.array([2.0])

    def function(x: Any) -> Any:
        return rs.rescale(x[0] * factor[0])

    declared: dict[str, Any] = {"x": rs.Encrypted(1, 4, bound=1), "output": rs.Output(4)}
    kernel = rs.kernel(mode="manual", params="seal-ckks-8192", tolerance=1e-3, **declared)(function)
    first = kernel.compile()
    assert kernel.compile() is first
    factor[0] = 0.5
    assert kernel.compile() is not first
    np.testing.assert_allclose(kernel(np.ones((1, 4))), 0.5, atol=1e-3)


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_a_false_promise_is_found_in_the_clear(scheme: str) -> None:
    kernel = rs.kernel(scheme=scheme, tolerance=1e-3, x=rs.Encrypted(3, bound=10))(lambda x: rs.within(x, 4) * x)
    values = [1, -5, 2]
    for attempt in (lambda: kernel.clear(values), lambda: rs.run(kernel, {"x": values}, seed="w")):
        with pytest.raises(rs.KernelError, match=r"promise \|value\| <= 4.* is false, a value is -5") as caught:
            attempt()
        assert caught.value.where is not None
        assert caught.value.where.file == __file__
        assert caught.value.where.line == kernel.where.line
    assert np.allclose(kernel.clear([1, -4, 2]), [1, 16, 4])


def test_a_false_promise_about_a_plain_argument_is_found_by_the_server() -> None:
    kernel = rs.kernel(tolerance=1e-3, x=rs.Encrypted(2, bound=1), w=rs.Plain(2, bound=10))(
        lambda x, w: x * rs.within(w, 2.0)
    )
    program = kernel.compile()
    client = program.client()
    with pytest.raises(rs.InputError, match="a value is 3"):
        program.server(client.evaluation_keys).evaluate(client.encrypt(x=[1, 1]), w=[3, 0])


def test_a_promise_that_cannot_hold_is_refused_at_once() -> None:
    kernel = rs.kernel(x=rs.Encrypted(2, low=5, high=10))(lambda x: rs.within(x, 4.0))
    with pytest.raises(rs.KernelError, match="cannot hold"):
        kernel.compile()
    for bound in (0, -1, np.nan, np.inf, "1", None, np.ones(2)):
        told = "a positive bound, or finite low < high" if bound is None else "positive finite number"
        with pytest.raises(rs.KernelError, match=told):
            rs.kernel(x=rs.Encrypted(2, bound=1))(lambda x, bound=bound: rs.within(x, bound)).compile()


def test_rounding_breaks_no_promise() -> None:
    kernel = rs.kernel(x=rs.Encrypted(3, bound=1))(lambda x: rs.within(x * 0.1 + x * 0.2, 0.3))
    assert kernel.clear(np.ones(3)).max() > 0.3


def test_a_manual_promise_is_about_values_that_matter() -> None:
    mask = np.zeros(4096)
    mask[[0, 2, 3]] = 1

    def function(x: Any) -> Any:
        return rs.rescale(rs.within(x[0], 0.5) * mask)

    declared: dict[str, Any] = {"x": rs.Encrypted(1, 4, bound=1), "output": rs.Output(4)}
    kernel = rs.kernel(mode="manual", params="seal-ckks-8192", tolerance=1e-3, **declared)(function)
    assert kernel.clear([[0.5, 1.0, 0.2, 0.1]]).tolist() == [0.5, 0.0, 0.2, 0.1]
    with pytest.raises(rs.KernelError, match=r"a value is 1\.0"):
        kernel.clear([[1.0, 0.0, 0.2, 0.1]])
