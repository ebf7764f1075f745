# SPDX-License-Identifier: Apache-2.0
"""Refusals of kernels whose ranges or errors explode: the line, and remedies that work."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.compiler.compile import layouts_of


def logistic_map(steps: int, bound: float | None = None) -> rs.Kernel:
    def iterated(x: Any) -> Any:
        for _ in range(steps):
            x = 3.7 * x * (1 - x)
        return x

    def promised(x: Any) -> Any:
        for _ in range(steps):
            x = rs.within(3.7 * x * (1 - x), bound or 1.0)
        return x

    function = iterated if bound is None else promised
    return rs.kernel(x=rs.Encrypted(8, low=0, high=1), tolerance=1e-3)(function)


SAMPLES = np.random.default_rng(1).uniform(0, 1, (200, 8))
INSIDE = np.random.default_rng(2).uniform(0.05, 0.95, 8)


@pytest.mark.slow
def test_ranges_that_explode_are_refused_with_the_line_and_remedies_that_work() -> None:
    kernel = logistic_map(8)
    with pytest.raises(rs.ParameterError, match=r"grow most in line \d+ \(x = 3.7 \* x \* \(1 - x\)\)") as refused:
        kernel.compile()
    remedies = r"rs.within\(..., ([\d.]+)\) around line \d+ compiles at n = (\d+); rs.calibrate\(kernel, samples\)"
    found = re.search(remedies, str(refused.value))
    assert found is not None
    assert logistic_map(8, float(found[1])).compile().params.n == int(found[2])
    fitted = rs.calibrate(kernel, {"x": SAMPLES})
    assert fitted.compile().params.n <= 65536


def test_ranges_beyond_every_number_are_calibrated() -> None:
    kernel = logistic_map(10)
    with pytest.raises(rs.KernelError, match="values may exceed what float64 holds"):
        layouts_of(kernel, {"x": (8,)})
    fitted = rs.calibrate(kernel, {"x": SAMPLES}, margin=0.1)
    assert fitted.measured is not None
    assert max(fitted.measured.bounds.values()) < 2
    assert np.abs(fitted.clear(INSIDE) - kernel.clear(INSIDE)).max() == 0


def test_errors_beyond_any_set_are_refused_with_the_line() -> None:
    def cubed(x: Any) -> Any:
        small = x * 0.5
        for _ in range(4):
            x = x * x * x
        return x + small

    with pytest.raises(
        rs.ParameterError, match=r"grow most in line \d+ \(x = x \* x \* x\), by up to 2\^\d+"
    ) as refused:
        rs.kernel(x=rs.Encrypted(4, bound=8.0), tolerance=1e-6)(cubed).compile()
    assert "ask for less depth or precision" in str(refused.value)


def test_a_calibration_bounds_products_that_are_used_again() -> None:
    fitted = rs.calibrate(logistic_map(4), {"x": SAMPLES}, margin=0.1)
    assert fitted.compile().params.n <= 16384
    assert np.abs(fitted(INSIDE) - fitted.clear(INSIDE)).max() < 1e-3
