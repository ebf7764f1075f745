# SPDX-License-Identifier: Apache-2.0
"""Approximations: fits against numpy's least squares, errors measured elsewhere, promises, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Chebyshev

import ringsmith as rs
from ringsmith.frontend.approximation import FUNCTIONS
from ringsmith.frontend.pointwise import Pointwise
from ringsmith.frontend.series import Series

INTERVALS = {"log": (0.5, 4.0), "sqrt": (0.0, 2.0), "inverse": (1.0, 5.0), "inverse_sqrt": (0.5, 3.0)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_ready_function_is_as_near_as_it_says(name: str) -> None:
    low, high = INTERVALS.get(name, (-3.0, 3.0))
    found = rs.approximate(name, low, high, degree=9)
    x = np.random.default_rng(0).uniform(low, high, 5000)
    exact = np.array([REFERENCE[name](v) for v in x])
    deviation = np.abs(found(x) - exact).max()
    assert deviation <= found.error * 1.001
    assert deviation >= found.error * 0.2
    nodes = np.cos(np.linspace(0, np.pi, 4001)[1:-1])
    weight = (1 - nodes**2) ** -0.25
    points = (low + high) / 2 + (high - low) / 2 * nodes
    fit = np.polynomial.chebyshev.chebfit(nodes, [REFERENCE[name](v) for v in points], 9, w=weight**0)
    np.testing.assert_allclose(found.coefficients, fit, atol=2e-3)


REFERENCE: dict[str, Any] = {
    "sigmoid": lambda v: 1 / (1 + math.exp(-v)),
    "tanh": math.tanh,
    "relu": lambda v: max(v, 0.0),
    "gelu": lambda v: v * (1 + math.erf(v / 2**0.5)) / 2,
    "silu": lambda v: v / (1 + math.exp(-v)),
    "softplus": lambda v: math.log(1 + math.exp(v)),
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "inverse": lambda v: 1 / v,
    "inverse_sqrt": lambda v: v**-0.5,
    "abs": abs,
    "sin": math.sin,
    "cos": math.cos,
}


def test_the_least_degree_that_reaches_an_error_is_taken() -> None:
    found = rs.approximate("sigmoid", -6, 6, error=1e-3)
    assert found.error <= 1e-3 < rs.approximate("sigmoid", -6, 6, degree=found.degree - 2).error
    assert found.depth == found.degree.bit_length()
    assert rs.approximate(np.sin, -1, 1, error=1e-10).error <= 1e-10


def test_the_error_of_a_fit_is_near_the_best_there_is() -> None:
    """Of degree 1 to |x| the best leaves 1/2, of degree 2 1/8 (Chebyshev); least squares at most a few times that."""
    assert 0.125 <= rs.approximate(np.abs, -1, 1, degree=2).error <= 0.25


@pytest.mark.parametrize("gap", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("reach", [1.0, 7.0])
def test_steps_are_right_outside_of_their_gap(gap: float, reach: float) -> None:
    sign = rs.approximate("sign", -reach, reach, gap=gap * reach, error=1e-3)
    x = np.random.default_rng(1).uniform(gap * reach, reach, 4000)
    for values, expected in ((x, 1.0), (-x, -1.0)):
        assert np.abs(sign(values) - expected).max() <= sign.error * 1.001 <= 1.001e-3
    positive = rs.approximate("positive", -reach, reach, gap=gap * reach, error=1e-3)
    assert np.abs(positive(-x)).max() <= 1e-3
    assert np.abs(positive(x) - 1).max() <= 1e-3
    assert sign.depth == sum(stage.depth for stage in sign.stages)


@pytest.mark.parametrize("degree", [1, 3, 9, 15])
def test_encrypted_it_is_the_same_polynomial(degree: int) -> None:
    p = rs.approximate("tanh", -2, 4, degree=degree)

    @rs.kernel(x=rs.Encrypted(8, low=-2, high=4), y=rs.Plain(8, low=-2, high=4), tolerance=1e-3)
    def both(x: Any, y: Any) -> Any:
        return p(x) - 2 * p(y)

    x, y = np.random.default_rng(degree).uniform(-2, 4, (2, 8))
    polynomial = Chebyshev(p.coefficients, domain=[-2, 4])
    found = both(x, y)
    np.testing.assert_allclose(found, polynomial(x) - 2 * polynomial(y), atol=1e-3)
    np.testing.assert_allclose(both.clear(x=x, y=y), polynomial(x) - 2 * polynomial(y), atol=1e-12)


def test_the_guarantee_of_a_deep_polynomial_is_met() -> None:
    p = rs.approximate("relu", -3, 3, degree=31)

    @rs.kernel(x=rs.Encrypted(64, bound=3.0), tolerance=1e-4)
    def relu(x: Any) -> Any:
        return p(x)

    program = relu.compile()
    x = np.linspace(-3, 3, 64)
    client = program.client()
    found = client.decrypt(program.server(client.evaluation_keys).evaluate(client.encrypt(x=x)))
    assert np.abs(found - p(x)).max() <= 2.0**program.noise_bits <= 1e-4


def test_a_value_outside_is_named_in_the_clear() -> None:
    p = rs.approximate("exp", 0, 1, degree=5)

    @rs.kernel(x=rs.Encrypted(4, bound=2.0))
    def kernel(x: Any) -> Any:
        return p(x)

    with pytest.raises(rs.KernelError, match=r"stands for its function on \[0, 1\], a value is -1; widen"):
        kernel.clear(x=np.array([0.5, -1, 0, 0]))
    with pytest.raises(rs.KernelError, match=r"exp.*a value is 1.5"):
        p(np.array([1.5]))


def bfv(x: Any) -> Any:
    return rs.approximate("exp", 0, 1)(x)


def manual(x: Any) -> Any:
    return rs.approximate("exp", 0, 1)(x)


@pytest.mark.parametrize(
    ("kernel", "line"),
    [
        (rs.kernel(scheme="bfv", x=rs.Encrypted(4, bound=2))(bfv), "computes on reals, BFV on integers"),
        (rs.kernel(mode="manual", x=rs.Encrypted(4, bound=2), output=rs.Output(4))(manual), "in a manual kernel"),
        (rs.kernel(x=rs.Encrypted(4, low=2, high=3))(bfv), r"values are sure to lie outside.*\[2, 3\]; widen"),
    ],
)
def test_kernels_it_is_refused_in(kernel: rs.Kernel, line: str) -> None:
    with pytest.raises(rs.KernelError, match=line) as caught:
        kernel.compile()
    assert "test_approximation.py" in str(caught.value)


def nothing(x: Any) -> Any:
    return x[:1]


@pytest.mark.parametrize(
    ("arguments", "options", "line"),
    [
        (("sigmoid", 1, 1), {}, r"the interval \[1, 1\]; two finite numbers, low < high"),
        (("sigmoid", 0, math.inf), {}, "the interval"),
        (("sigmoid", "0", 1), {}, "the interval"),
        (("sigmoid", 0, 1), {"degree": 0}, "degree=0; an integer from 1 to 1023"),
        (("sigmoid", 0, 1), {"degree": True}, "degree=True"),
        (("sigmoid", 0, 1), {"degree": 5000}, "degree=5000"),
        (("sigmoid", 0, 1), {"degree": 3, "error": 1e-3}, "degree or error, not both"),
        (("sigmoid", 0, 1), {"error": 0}, "error=0; a positive number"),
        (("sigmoid", 0, 1), {"gap": 0.1}, "gap= belongs to sign and positive"),
        (("sigmod", 0, 1), {}, "no function is named 'sigmod'; one of sigmoid, tanh"),
        ((3, 0, 1), {}, "a int; a function of arrays"),
        (("log", 0, 1), {}, "log is -inf at 0; take an interval on which it is finite"),
        ((lambda x: x + 1j, 0, 1), {}, "complex128 values"),
        ((nothing, 0, 1), {}, r"nothing gives shape \(1,\)"),
        (("abs", -1, 1), {"error": 1e-9}, "with degree 1023, the largest, 1e-09 is wanted"),
        (("sign", -1, 1), {}, "sign jumps at 0; give gap=G"),
        (("sign", -1, 1), {"gap": 2}, "give gap=G, 0 < G < 1"),
        (("sign", -1, 1), {"gap": 0.1, "degree": 7}, "not degree="),
        (("sign", -1, 1), {"gap": 1e-30}, "after 24 polynomials; a larger gap or error"),
    ],
)
def test_bad_input(arguments: tuple[Any, ...], options: dict[str, Any], line: str) -> None:
    with pytest.raises(rs.InputError, match=line) as caught:
        rs.approximate(*arguments, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_depth_that_no_ring_allows_is_refused() -> None:
    p = rs.approximate("sign", -1, 1, gap=1e-6, error=1e-3)

    @rs.kernel(x=rs.Encrypted(4, bound=1.0), tolerance=1e-6)
    def kernel(x: Any) -> Any:
        for _ in range(3):
            x = p(x)
        return x

    with pytest.raises(rs.ParameterError, match=r"no parameter set is secure .*errors and ranges grow most in line"):
        kernel.compile()


def test_series_are_sampled_inside_their_interval_only() -> None:
    def checked(x: Any) -> Any:
        assert x.min() >= 0.1
        assert x.max() <= 0.7
        return x

    Series(Pointwise(checked, "checked"), 0.1, 0.7).least_degree(1e-9)


def test_what_it_says_of_itself() -> None:
    assert repr(rs.approximate("exp", 0, 1, degree=3)) == "<exp on [0, 1]: degree 3, 2 levels, error 0.00057>"


def test_a_one_hot_argmax_by_pairs_compiles_into_few_steps() -> None:
    sign = rs.approximate("sign", -1, 1, gap=0.01, error=1e-3)

    def largest(x: Any) -> Any:
        marks = []
        for i in range(4):
            mark = 1.0
            for j in range(4):
                if i != j:
                    mark = mark * ((sign(x[i] - x[j]) + 1) / 2)
            marks.append(mark)
        return np.stack(marks)

    kernel = rs.kernel(x=rs.Encrypted(4, bound=0.5), tolerance=1e-2)(largest)
    assert kernel.compile().native.steps < 400
    np.testing.assert_allclose(kernel.clear(x=[0.1, 0.3, -0.2, 0.25]), [0, 1, 0, 0], atol=5e-3)
