# SPDX-License-Identifier: Apache-2.0
"""Means and variances in BFV kernels: exact integers over a divisor, against Python's fractions and numpy."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs

RNG = np.random.default_rng(19)
MASK = np.arange(8) < 3

#: Function and divisor.
FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], int]] = {
    "mean": (lambda x, y: np.mean(x), 8),
    "along an axis": (lambda x, y: x.reshape(2, 4).mean(axis=1, keepdims=True), 4),
    "where": (lambda x, y: np.mean(x, where=MASK), 3),
    "where, several counts": (lambda x, y: np.mean(x.reshape(2, 4), axis=1, where=MASK.reshape(2, 4) | [True] * 4), 4),
    "counts that differ": (
        lambda x, y: np.mean(x.reshape(2, 4), axis=1, where=np.array([[1] * 4, [1, 1, 1, 0]]) > 0),
        12,
    ),
    "variance": (lambda x, y: np.var(x), 64),
    "ddof": (lambda x, y: x.var(ddof=1), 56),
    "products": (lambda x, y: x.mean() * y - y.mean() * 3, 8),
    "sums": (lambda x, y: x.reshape(2, 4).mean(axis=1) + y[:3].mean() - 1, 12),
    "centred": (lambda x, y: (x - x.mean()) ** 2, 64),
    "covariance": (lambda x, y: np.mean((x - x.mean()) * (y - y.mean())), 512),
    "dot": (lambda x, y: np.dot(x - x.mean(), y), 8),
    "means of means": (lambda x, y: np.mean(np.mean(x.reshape(2, 4), axis=0)), 8),
    "pad": (lambda x, y: np.pad(x.reshape(4, 2).mean(axis=1), 1, constant_values=7), 2),
    "initial": (lambda x, y: np.sum(x.reshape(4, 2).mean(axis=1), initial=3), 2),
    "polynomial": (lambda x, y: rs.polynomial(x.mean(), [1, 2, 3]), 64),
    "divided": (lambda x, y: x.mean() / -3, 24),
    "negated": (lambda x, y: -x.mean() + 0 * y, 8),
    "promised": (lambda x, y: rs.within(x.mean(), 50) * 2, 8),
    "joined": (lambda x, y: rs.stack([x.mean(), y.var(), y[0]]), 64),
    "matrix": (lambda x, y: np.arange(16).reshape(2, 8) @ (x - y.mean()), 8),
    "variance of what was centred": (lambda x, y: np.var(x - x.mean()), 4096),
    "views": (lambda x, y: x.reshape(2, 2, 2).mean(axis=0).T[::-1].ravel(), 2),
}


def kernel(function: Callable[..., Any], **options: Any) -> rs.Kernel:
    declared = {"x": rs.Encrypted(8, bound=50), "y": rs.Encrypted(8, bound=50)}
    return rs.kernel(**{"scheme": "bfv", "name": "k", **declared, **options})(function)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_answer_is_the_quotient(name: str) -> None:
    function, divisor = FUNCTIONS[name]
    x, y = RNG.integers(-50, 51, (2, 8))
    own = kernel(lambda x, y: function(x, y))
    program = own.compile()
    answer, expected = own(x, y), np.asarray(function(x, y))
    assert program.native.divisor == divisor
    assert f"divided by {divisor} after decryption" in program.box()
    assert answer.shape == expected.shape
    assert answer.dtype == np.float64
    np.testing.assert_allclose(answer, expected, rtol=1e-13, atol=1e-11)
    assert np.array_equal(own.clear(x, y), answer)
    assert np.array_equal(np.rint(answer * divisor) / divisor, answer)


def test_a_large_quotient_is_rounded_once() -> None:
    x = [2**57 + 1, 2**57 - 3, 2**56 + 7]
    own = rs.kernel(scheme="bfv", x=rs.Encrypted(3, low=0, high=2**57 + 1))(lambda x: x.mean())
    exact = sum(Fraction(one) for one in x) / 3
    assert own(x).item() == float(exact) == own.clear(x).item()


def test_a_program_read_from_a_file_divides(tmp_path: Path) -> None:
    program = kernel(lambda x, y: np.mean(x * y)).compile()
    program.save(tmp_path / "p.rsp")
    again = rs.load(tmp_path / "p.rsp")
    x, y = RNG.integers(-50, 51, (2, 8))
    client = again.client()
    answer = client.decrypt(again.server(client.evaluation_keys).evaluate(client.encrypt(x=x, y=y)))
    assert answer.item() == np.mean(x * y) == again.clear(x=x, y=y).item()
    assert again.identity == program.identity
    assert again.identity != kernel(lambda x, y: np.sum(x * y)).compile().identity


def test_a_run_compares_with_floats() -> None:
    own = kernel(lambda x, y: x.var() * 3, reference=lambda x, y: np.var(x) * 3)
    assert rs.run(own, seed="2").correct
    wrong = kernel(lambda x, y: x.var() * 3, reference=lambda x, y: np.var(x) * 3 + 1 / 64)
    assert not rs.run(wrong, seed="2").correct


REFUSED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "by a tensor": (lambda x, y: x.mean() / y, "divided by one integer"),
    "by zero": (lambda x, y: x.mean() / 0, "not 0"),
    "by a fraction": (lambda x, y: x.mean() / 0.5, "divided by one integer"),
    "fraction": (lambda x, y: x.mean() * 0.5, "not an integer"),
    "complex": (lambda x, y: x.mean() * 1j, "do not meet"),
    "divisor": (lambda x, y: x.mean() ** 22, "66|67 bits"),
    "ddof": (lambda x, y: x.var(ddof=0.5), "a whole number in BFV"),
    "ufunc": (lambda x, y: np.exp(x.mean()), "numpy.exp"),
    "function": (lambda x, y: np.median(x.reshape(2, 4).mean(axis=0)), "numpy.median"),
    "comparison": (lambda x, y: x.mean() > y, "comparisons"),
    "in place": (lambda x, y: x.mean().__isub__(1), "write x = x -"),
    "refresh": (lambda x, y: rs.refresh(x.mean(), low=-9, high=9), "go apart"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_exact_quotient_is_refused(name: str) -> None:
    function, words = REFUSED[name]
    with pytest.raises(rs.KernelError, match=words):
        kernel(function).compile()


def test_sums_that_wrap_leave_nothing_to_divide() -> None:
    with pytest.raises(rs.KernelError, match="wrap modulo plain_modulus 65537"):
        kernel(lambda x, y: np.mean(x * y * y), plain_modulus=65537).compile()
    x, y = RNG.integers(-50, 51, (2, 8))
    assert kernel(lambda x, y: np.mean(x * y), plain_modulus=65537)(x, y).item() == np.mean(x * y)


def test_a_client_aided_kernel_refuses_a_quotient() -> None:
    own = kernel(lambda x, y: rs.refresh(x * y, low=-2500, high=2500).mean())
    with pytest.raises(rs.KernelError, match="results of their own"):
        own.rounds()
