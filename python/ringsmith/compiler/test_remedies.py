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


def named(error: pytest.ExceptionInfo[rs.RingsmithError], pattern: str) -> re.Match[str]:
    """Return what a refusal names."""
    found = re.search(pattern, str(error.value))
    assert found is not None, str(error.value)
    return found


def in_steps(count: int, step: Any, refreshed: Any = lambda x: x) -> Any:
    def function(x: Any) -> Any:
        for _ in range(count):
            x = refreshed(step(x))
        return x

    return function


SHRINKING: dict[str, Any] = {"scheme": "ckks", "x": rs.Encrypted(8, bound=1), "tolerance": 1e-3}
EXACT: dict[str, Any] = {"scheme": "bfv", "x": rs.Encrypted(8, low=0, high=2)}


def test_integers_too_deep_for_every_set_are_refreshed_around_their_line() -> None:
    # Slots modulo 65537 end at n = 32768.
    options, step, count = {**EXACT, "plain_modulus": 65537}, lambda x: rs.within(x * x - 2 * x, 3), 30
    with pytest.raises(rs.ParameterError) as refused:
        rs.kernel(**options)(in_steps(count, step)).compile()
    assert named(refused, r"most products follow each other in line (\d+) \(.*\), 30 of 30")
    found = named(refused, r"rs.refresh\(...\) around line \d+ compiles at n = (\d+), in (\d+)")
    rounds = rs.kernel(**options)(in_steps(count, step, rs.refresh)).rounds()
    assert (rounds.programs[0].params.n, len(rounds.programs)) == (int(found[1]), int(found[2]))


@pytest.mark.slow
def test_a_circuit_too_deep_for_every_other_set_gets_one_with_a_bootstrapping() -> None:
    program = rs.kernel(**SHRINKING)(in_steps(90, lambda x: x * x * 0.5)).compile()
    assert program.counts["bootstrap"] >= 10


def steep(x: Any) -> Any:
    y = x * x - 50 * x
    return y**6 - y**5


def promised(bound: int) -> Any:
    def function(x: Any) -> Any:
        y = x * x - 50 * x
        return rs.within(y**6 - y**5, bound)

    return function


def test_integers_beyond_every_modulus_are_refused_with_the_line_and_remedies_that_work() -> None:
    kernel = rs.kernel(scheme="bfv", x=rs.Encrypted(8, low=0, high=50))
    with pytest.raises(rs.ParameterError, match=r"values grow most in line \d+ \(return y\*\*6 - y\*\*5\)") as refused:
        kernel(steep).compile()
    found = named(
        refused, r"rs.within\(..., (\d+)\) around line \d+ compiles at n = (\d+); rs.calibrate\(kernel, samples"
    )
    made = kernel(promised(int(found[1])))
    assert made.compile().params.n == int(found[2])
    x = np.arange(8) * 6
    assert made(x).tolist() == (steep(x.astype(object))).tolist()
    samples = np.random.default_rng(0).integers(0, 51, (200, 8))
    assert rs.calibrate(kernel(steep), {"x": samples}).compile().params.n == int(found[2])


def test_integers_that_do_grow_are_computed_modulo_a_prime() -> None:
    squared = in_steps(5, lambda x: x * x + 1)
    kernel = rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=10))(squared)
    with pytest.raises(rs.ParameterError, match=r"grow most in line \d+ .*by up to 2\^10\d") as refused:
        kernel.compile()
    found = named(refused, r"plain_modulus=(\d+), by which results are reduced, compiles at n = (\d+)")
    t = int(found[1])
    reduced = kernel.options(plain_modulus=t)
    assert reduced.compile().params.n == int(found[2])
    wanted = squared(np.arange(8).astype(object)) % t
    assert (reduced(np.arange(8)) % t).tolist() == wanted.tolist()


PINNED: dict[str, tuple[dict[str, Any], Any, str]] = {
    "levels": (
        {"params": rs.ParamRequest(n=8192, data_bits=(40, 30), special_bits=(40,), log2_scale=30)}, 3, "level 3",
    ),
    "room": (
        {"params": rs.ParamRequest(n=8192, data_bits=(40, 30, 30, 30), special_bits=(40,), log2_scale=30)},
        3, "bits more",
    ),
    "error": (
        {"params": rs.ParamRequest(n=8192, data_bits=(60, 28), special_bits=(60,), log2_scale=28), "tolerance": 1e-6},
        1, "error may reach",
    ),
    "noise": (
        {
            "scheme": "bfv",
            "params": rs.ParamRequest(n=8192, data_bits=(40, 40), special_bits=(40,), plain_modulus=65537),
        },
        2, "noise may exceed",
    ),
    "wraps": (
        {
            "scheme": "bfv",
            "params": rs.ParamRequest(n=8192, data_bits=(40, 40, 40), special_bits=(40,), plain_modulus=65537),
        },
        3, "wrap modulo t = 65537",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PINNED)
def test_given_parameters_without_room_are_refused_with_what_the_compiler_would_take(name: str) -> None:
    options, products, told = PINNED[name]
    made = rs.kernel(**{"x": rs.Encrypted(8, bound=6), "tolerance": 1e-2, **options})
    kernel = made(in_steps(products, lambda x: x * x))
    with pytest.raises((rs.ParameterError, rs.KernelError), match=told) as refused:
        kernel.compile()
    free = kernel.options(params=None).compile()
    assert f"without params= it compiles at n = {free.params.n}" in str(refused.value)


def test_rounds_are_refused_with_remedies_for_kernels_of_rounds() -> None:
    def bounded(bound: float | None) -> Any:
        def function(x: Any) -> Any:
            y = rs.refresh(x, lambda v: np.clip(v, 0, 1), low=0, high=1)
            for _ in range(7):
                y = 3.7 * y * (1 - y) if bound is None else rs.within(3.7 * y * (1 - y), bound)
            return y

        return function

    kernel = rs.kernel(x=rs.Encrypted(8, bound=1), tolerance=1e-3)
    with pytest.raises(rs.ParameterError, match=r"grow most in line \d+ \(y = 3.7") as refused:
        kernel(bounded(None)).rounds()
    assert "calibrate" not in str(refused.value)
    found = named(refused, r"rs.within\(..., ([\d.]+)\) around line \d+ compiles at n = (\d+)")
    assert kernel(bounded(float(found[1]))).rounds().deepest.params.n == int(found[2])


def test_kernels_that_share_no_parameters_are_compiled_apart() -> None:
    few = rs.kernel(scheme="bfv", plain_modulus=65537, x=rs.Encrypted(8, bound=1))(lambda x: x * x)
    many = rs.kernel(**EXACT)(in_steps(40, lambda x: rs.within(x * x - 2 * x, 3)))
    with pytest.raises(rs.ParameterError, match=r"takes n = 4096, .*takes n = 65536, .*compile them apart"):
        rs.compile([few, many])
    assert [rs.compile([one])[0].params.n for one in (few, many)] == [4096, 65536]


def test_a_kernel_among_several_whose_values_exceed_every_number_hears_of_its_line() -> None:
    square = rs.kernel(x=rs.Encrypted(8, bound=1), tolerance=1e-3)(lambda x: x * x)
    with pytest.raises(rs.KernelError, match=r"exceed what float64 holds; errors and ranges grow most in line \d+"):
        rs.compile([square, logistic_map(10)])
