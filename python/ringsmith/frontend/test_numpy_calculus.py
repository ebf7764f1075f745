# SPDX-License-Identifier: Apache-2.0
"""Polynomials, gradients, covariances and Fourier transforms of traced tensors against numpy's, by all arguments."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.errors import KernelError
from ringsmith.frontend.complex_tensor import ComplexTensor
from ringsmith.frontend.numpy_transforms import _MOST
from ringsmith.frontend.test_numpy_functions import SAMPLES, SHAPES, check, data, outcome, tensor_of, value_of

SOME = [(), (3,), (1,), (2, 3), (2, 3, 4)]
TRANSFORMS = (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft)
RNG = np.random.default_rng(7)


@pytest.mark.parametrize("coefficients", [[3], [2, 0, 1], np.array([1.5, -2, 0, 1]), [0, 0], [0, 1, 2]])
def test_polynomials(coefficients: Any) -> None:
    for shape in SHAPES:
        assert check(lambda x: np.polyval(coefficients, x), [data(shape)], {}, set())
        assert check(lambda x: np.polyval(p=coefficients, x=x), [data(shape)], {}, set())
        assert check(lambda p, x: np.polyval(p, x), [np.asarray(coefficients, float), data(shape)], {}, set())
        assert check(lambda p, s=shape: np.polyval(p, data(s)), [np.asarray(coefficients, float)], {}, set())
    for wrong in (np.ones((2, 2)), 3):
        assert isinstance(outcome(lambda w=wrong: np.polyval(w, tensor_of(data((3,)), "x"))), KernelError)  # type: ignore[misc]


SPACINGS: list[tuple[Any, ...]] = [
    (), (2,), (0.5,), (-3,), (1, 2), (0.5, np.array([0.0, 1.0, 3.0])), (np.array([0.0, 1.0, 3.0]),), ([0, 1],),
    (1, 2, 3), (np.array([0.0, 2.0, 3.0, 7.0]),),
]  # fmt: skip


@pytest.mark.parametrize("edge_order", [1, 2, 3])
@pytest.mark.parametrize("spacing", SPACINGS, ids=str)
def test_gradients(spacing: tuple[Any, ...], edge_order: int) -> None:
    count = 0
    for shape, axis in itertools.product([*SHAPES, (5,), (4, 3), (3, 3)], [None, 0, -1, 1, (0, 1), (1,), 9]):
        given = {"axis": axis, "edge_order": edge_order}
        count += check(lambda x, **more: np.gradient(x, *spacing, **more), [data(shape)], given, set())
    assert count or edge_order > 1


@pytest.mark.parametrize("step", [1, 3, -2])
def test_gradients_of_integers_are_quotients(step: int) -> None:
    x = RNG.integers(-50, 51, (5, 4))
    kernel = rs.kernel(scheme="bfv", x=rs.Encrypted(5, 4, bound=50))(
        lambda x: np.gradient(x, step, axis=0, edge_order=2)
    )
    np.testing.assert_allclose(kernel(x), np.gradient(x, step, axis=0, edge_order=2), rtol=1e-14)
    both = rs.kernel(scheme="bfv", x=rs.Encrypted(5, 4, bound=50))(lambda x: np.gradient(x.mean(axis=1), 2 * step))
    assert both.clear(x) == pytest.approx(np.gradient(x.mean(axis=1), 2 * step))
    for odd in (0.5, np.arange(5) ** 2):
        refused = rs.kernel(scheme="bfv", x=rs.Encrypted(5, bound=50))(lambda x, odd=odd: np.gradient(x, odd))
        with pytest.raises(KernelError, match="one whole number, or scheme"):
            refused.compile()


def test_spacings_without_extent_are_refused() -> None:
    for values in (data((4,)), data((4,)).astype(np.int64)):
        x = tensor_of(values, "x")
        for spacing in (0, np.array([0.0, 1.0, 1.0, 2.0]), np.nan, True):
            if spacing is not True or x.node.exact:
                assert isinstance(outcome(partial(np.gradient, x, spacing)), KernelError), spacing


WEIGHTS: dict[str, list[Any]] = {
    "rowvar": [True, False],
    "bias": [False, True],
    "ddof": [None, 0, 1, 2, 0.5],
    "fweights": [None, [1, 2, 3], [0, 2, 1], [1, 1], [0.5, 1, 1], [1, -1, 2]],
    "aweights": [None, [0.5, 1.0, 2.0], [[1.0, 2.0, 3.0]]],
}


def test_covariances() -> None:
    count = 0
    chosen = list(itertools.product(*WEIGHTS.values()))
    for shape in [(3,), (2, 3), (3, 2), (3, 3), (1, 3), (2, 3, 4)]:
        for values in chosen:
            given = dict(zip(WEIGHTS, values, strict=True))
            wanted = outcome(lambda s=shape, g=given: np.cov(data(s), **g))  # type: ignore[misc]
            if isinstance(wanted, np.ndarray) and not np.isfinite(wanted).all():
                assert isinstance(outcome(lambda s=shape, g=given: np.cov(tensor_of(data(s), "x"), **g)), KernelError)  # type: ignore[misc]
                continue
            count += check(lambda x, **more: np.cov(x, **more), [data(shape)], given, set())
    assert count > 100
    for rowvar, (first, second) in itertools.product(
        (True, False), itertools.product([(3,), (2, 3), (1, 3), (3, 2)], repeat=2)
    ):
        x, y = data(first), data(second, 1)
        check(lambda x, y, r=rowvar: np.cov(x, y, rowvar=r), [x, y], {}, set())
        check(lambda x, y=y, r=rowvar: np.cov(x, y, rowvar=r), [x], {}, set())
        check(lambda y, x=x, r=rowvar: np.cov(x, y, rowvar=r), [y], {}, set())
    assert check(lambda x, y: np.cov(x, y), [data((3,)), data((3,), 1)], {}, set())


def test_the_covariance_of_integers_is_exact() -> None:
    x = RNG.integers(900, 1000, (3, 20))
    counts = RNG.integers(1, 4, 20)
    made = rs.kernel(scheme="bfv", x=rs.Encrypted(3, 20, low=900, high=1000))(lambda x: np.cov(x, fweights=counts))
    np.testing.assert_allclose(made(x), np.cov(x, fweights=counts), rtol=1e-14)
    shares = rs.kernel(scheme="bfv", x=rs.Encrypted(3, 20, bound=9))(lambda x: np.cov(x, aweights=counts / 2))
    with pytest.raises(KernelError, match=r'aweights= leave the integers.*fweights=, or scheme="ckks"'):
        shares.compile()


def test_a_covariance_far_from_zero_takes_no_more_than_one_near_it() -> None:
    far, near = (
        rs.kernel(x=rs.Encrypted(3, 500, low=low, high=low + 2), tolerance=1e-3)(lambda x: np.cov(x))
        for low in (999, -1)
    )
    x = RNG.uniform(999, 1001, (3, 500))
    assert np.abs(far(x) - np.cov(x)).max() < 1e-3
    assert far.compile().params.n == near.compile().params.n


def complex_of(values: Any) -> tuple[ComplexTensor, dict[str, Any]]:
    parts = {"re": values.real.copy(), "im": values.imag.copy()}
    return ComplexTensor(*(tensor_of(part, name) for name, part in parts.items())), parts


def numbers_of(found: Any, inputs: dict[str, Any]) -> Any:
    if isinstance(found, ComplexTensor):
        return value_of(found.real, inputs) + 1j * value_of(found.imag, inputs)
    return value_of(found, inputs)


@pytest.mark.parametrize("function", TRANSFORMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_transforms(function: Any, kind: str) -> None:
    count = 0
    for shape, n, axis, norm in itertools.product(SOME, (None, 1, 4, 5, 0, 1.5), (-1, 0, 7), SAMPLES["norm"]):
        values = data(shape) + (1j * data(shape, 1) if kind == "complex" else 0)
        wanted = outcome(lambda v=values, n=n, a=axis, m=norm: function(v, n, a, m))  # type: ignore[misc]
        traced, inputs = complex_of(values) if kind == "complex" else (tensor_of(values, "x"), {"x": values})
        found = outcome(lambda t=traced, i=inputs, n=n, a=axis, m=norm: numbers_of(function(t, n, a, m), i))  # type: ignore[misc]
        if isinstance(found, Exception):
            assert isinstance(found, KernelError)
            assert isinstance(wanted, Exception), (shape, n, axis, norm, found)
            continue
        assert not isinstance(wanted, Exception), (shape, n, axis, norm)
        np.testing.assert_allclose(found, wanted, atol=1e-9)
        count += 1
    assert count > 100 or (function is np.fft.rfft and kind == "complex")


def test_a_spectrum_is_complex_and_comes_back() -> None:
    x = RNG.uniform(-1, 1, 24)
    declared = rs.Encrypted(24, bound=1.0)
    np.testing.assert_allclose(
        rs.kernel(x=declared, tolerance=1e-4)(lambda x: np.fft.rfft(x))(x), np.fft.rfft(x), atol=1e-4
    )
    power = rs.kernel(x=declared, tolerance=1e-3)(lambda x: rs.abs_squared(np.fft.fft(x)))
    np.testing.assert_allclose(power(x), np.abs(np.fft.fft(x)) ** 2, atol=1e-3)
    low_pass = rs.kernel(x=declared, tolerance=1e-4)(lambda x: np.fft.irfft(np.fft.rfft(x) * (np.arange(13) < 5), 24))
    np.testing.assert_allclose(low_pass(x), np.fft.irfft(np.fft.rfft(x) * (np.arange(13) < 5), 24), atol=1e-4)


def test_transforms_that_do_not_go() -> None:
    x = tensor_of(data((_MOST + 1,)), "x")
    with pytest.raises(KernelError, match="two smaller transforms"):
        np.fft.fft(x)
    whole = tensor_of(data((4,)).astype(np.int64), "x")
    for function in TRANSFORMS:
        with pytest.raises(KernelError, match='scheme="ckks"'):
            function(whole)


@pytest.mark.parametrize("function", [np.fft.fft2, np.fft.ifft2, np.fft.fftn], ids=lambda f: f.__name__)
def test_a_transform_of_two_axes_names_the_code_for_it(function: Any) -> None:
    values = data((2, 3))
    x = tensor_of(values, "x")
    with pytest.raises(KernelError, match="one axis after the other") as refused:
        function(x)
    found = eval(str(refused.value).splitlines()[0].split("other: ")[1], {"np": np, "x": x})
    np.testing.assert_allclose(numbers_of(found, {"x": values}), function(values), atol=1e-9)
