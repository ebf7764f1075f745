# SPDX-License-Identifier: Apache-2.0
"""Ranges from data: smaller sets, bounds that hold on what was measured, refusals of bad samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringsmith as rs

_RNG = np.random.default_rng(19)
_A = _RNG.uniform(-1, 1, (16, 16))


@rs.kernel(x=rs.Encrypted(16, bound=100.0), tolerance=1e-3)
def quadratic(x: Any) -> Any:
    return (_A @ x) * (_A.T @ x) + x


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=1000), w=rs.Plain(8, bound=1000))
def exact(x: Any, w: Any) -> Any:
    return rs.sum(x * w) * rs.sum(x * x)


@rs.kernel(z=rs.Encrypted(4, bound=50.0, complex=True), tolerance=1e-3)
def power(z: Any) -> Any:
    return rs.abs_squared(z) * 0.5


def _samples(count: int = 40) -> Any:
    return _RNG.normal(0, 1, (count, 16))


def test_measured_ranges_make_smaller_sets() -> None:
    rows = _samples()
    kernel = rs.calibrate(quadratic, {"x": rows}, margin=0.25)
    wide, narrow = quadratic.compile(), kernel.compile()
    assert narrow.params.log2_qp < wide.params.log2_qp - 10
    assert np.abs(rows).max() <= kernel.arguments["x"].high <= 1.6 * np.abs(rows).max()
    assert kernel.measured is not None
    assert kernel.measured.bounds
    assert "ranges measured on 40 samples, widened by 0.25 of their extent" in narrow.box().replace("\n", " ")
    for x in rows[:2]:
        assert np.abs(kernel(x) - quadratic.clear(x)).max() <= 2.0**narrow.noise_bits <= 1e-3
    assert rs.run(kernel, {"x": rows[0]}).correct
    again = rs.Program.from_bytes(narrow.to_bytes())
    assert again.noise_bits == narrow.noise_bits


def test_integers_get_a_smaller_modulus() -> None:
    x, w = _RNG.integers(-9, 10, (20, 8)), _RNG.integers(-5, 6, (20, 8))
    kernel = rs.calibrate(exact, [{"x": a, "w": b} for a, b in zip(x, w, strict=True)])
    small, large = kernel.compile().params, exact.compile().params
    assert small.plain_modulus < large.plain_modulus / 2**20
    assert kernel(x[0], w[0]) == exact.clear(x[0], w[0])
    assert (kernel.arguments["x"].low, kernel.arguments["x"].high) == (-18, 18)


def test_complex_values() -> None:
    z = _RNG.normal(0, 1, (10, 4)) + 1j * _RNG.normal(0, 1, (10, 4))
    kernel = rs.calibrate(power, {"z": z})
    assert kernel.compile().params.log2_qp < power.compile().params.log2_qp
    assert np.abs(kernel(z[3]) - np.abs(z[3]) ** 2 / 2).max() < 1e-3


def test_what_lies_outside_is_found() -> None:
    rows = _samples()
    kernel = rs.calibrate(quadratic, {"x": rows}, margin=0)
    high = min(kernel.arguments["x"].high, -kernel.arguments["x"].low)
    with pytest.raises(rs.InputError, match="outside the declared"):
        kernel(np.full(16, 99.0))
    # Inside the arguments' range, beyond what the samples gave inside the kernel.
    worst = high * np.sign(_A[np.abs(_A).sum(axis=1).argmax()]) * 0.99
    for look in (kernel.clear, lambda x: rs.run(kernel, {"x": x})):
        with pytest.raises(rs.KernelError, match=r"the promise \|value\| <= .* is false"):
            look(worst)
    assert np.isfinite(quadratic.clear(worst)).all()


_SCALE = [1.0]


@rs.kernel(x=rs.Encrypted(None, bound=9.0), tolerance=1e-3)
def captured(x: Any) -> Any:
    return rs.sum(x * _SCALE[0]) ** 2


def test_a_kernel_that_has_changed_is_calibrated_anew() -> None:
    kernel = rs.calibrate(captured, {"x": _RNG.uniform(-1, 1, (5, 8))})
    kernel.compile(x=(8,))
    with pytest.raises(rs.KernelError, match="was calibrated with shapes other than those it is compiled with"):
        kernel.compile(x=(16,))
    _SCALE[0] = 2.0
    try:
        with pytest.raises(rs.KernelError, match="with other values of what it captures than it is compiled with"):
            kernel.compile(x=(8,))
    finally:
        _SCALE[0] = 1.0


@rs.kernel(scheme="bfv", x=rs.Encrypted(4, bound=9))
def aided(x: Any) -> Any:
    return rs.refresh(x * x, abs, low=0, high=81) + 1


_taking = rs.kernel(y=rs.Encrypted(of=quadratic), tolerance=1e-3, name="taking")(lambda y: y * y)


@pytest.mark.parametrize(
    ("act", "line"),
    [
        (lambda: rs.calibrate(quadratic, {"x": np.ones(16)}), r"argument x has shape \(\), the kernel declares"),
        (lambda: rs.calibrate(quadratic, {"x": np.ones((3, 15))}), r"argument x has shape \(15,\)"),
        (lambda: rs.calibrate(quadratic, {"x": np.full((2, 16), np.nan)}), "argument x"),
        (lambda: rs.calibrate(quadratic, {"x": np.full((2, 16), 101.0)}), "outside the declared"),
        (lambda: rs.calibrate(quadratic, {"x": np.ones((0, 16))}), "no samples; give at least one"),
        (lambda: rs.calibrate(quadratic, []), "no samples; give at least one"),
        (lambda: rs.calibrate(quadratic, {"x": 3.0}), "samples of x are one number"),
        (lambda: rs.calibrate(quadratic, np.ones((3, 16))), "samples are a mapping of arrays"),  # type: ignore[arg-type]
        (lambda: rs.calibrate(quadratic, {"y": np.ones((3, 16))}), "samples of exactly x are needed"),
        (lambda: rs.calibrate(exact, {"x": np.ones((3, 8)), "w": np.ones((4, 8))}), "there are 3 of x, 4 of w"),
        (lambda: rs.calibrate(exact, [{"x": np.ones(8)}]), "missing"),
        (lambda: rs.calibrate(exact, {"x": np.full((1, 8), 0.5), "w": np.ones((1, 8))}), "argument x"),
        (lambda: rs.calibrate(quadratic, {"x": _samples()}, margin=-0.5), "margin=-0.5; a number from 0 to 10"),
        (lambda: rs.calibrate(quadratic, {"x": _samples()}, margin=float("nan")), "margin=nan"),
        (lambda: rs.calibrate(3, {"x": _samples()}), "calibrate takes an automatic kernel"),  # type: ignore[arg-type]
        (lambda: rs.calibrate(aided, {"x": np.ones((2, 4), dtype=int)}), "client-aided kernel"),
        (lambda: rs.calibrate(_taking, {"y": np.ones((2, 16))}), "y is the result of another kernel"),
        (lambda: rs.calibrate(captured, [{"x": np.ones(3)}, {"x": np.ones(4)}]), r"sample 1 of x has shape \(4,\)"),
    ],
)  # fmt: skip
def test_bad_samples(act: Callable[[], Any], line: str) -> None:
    with pytest.raises(rs.RingsmithError, match=line):
        act()
