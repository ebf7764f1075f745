# SPDX-License-Identifier: Apache-2.0
"""The search for parameters: complete, and a larger tolerance never fails where a smaller one works."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ringsmith as rs
from ringsmith.errors import ParameterError
from ringsmith.runtime.kernel import Kernel
from ringsmith.runtime.program import Program


def deep(operations: str, tolerance: float, length: int = 4) -> Kernel:
    """Return a kernel that squares, takes cubics, sums up and scales, one after the other."""

    @rs.kernel(tolerance=tolerance, x=rs.Encrypted(length, low=-1, high=1))
    def chain(x: Any) -> Any:
        for operation in operations:
            match operation:
                case "s":
                    x = x * x
                case "c":
                    x = x * x * x
                case "a":
                    x = x + np.roll(x, 1)
                case "w":
                    x = x * np.linspace(0.1, 0.9, length)
        return x

    return chain


def compiled(operations: str, tolerance: float) -> Program | None:
    try:
        return deep(operations, tolerance).compile()
    except ParameterError:
        return None


@settings(max_examples=12, deadline=None)
@given(st.text("scaw", min_size=1, max_size=7), st.floats(-24, 6), st.floats(0, 20))
def test_a_larger_tolerance_never_fails_where_a_smaller_one_works(operations: str, log2: float, more: float) -> None:
    tight = compiled(operations, 2.0**log2)
    if tight is None:
        return
    loose = compiled(operations, 2.0 ** (log2 + more))
    assert loose is not None
    assert loose.params.n <= tight.params.n
    assert loose.noise_bits <= log2 + more


@pytest.mark.parametrize("tolerance", [1.0, 1e-2, 1e-4])
def test_six_cubics(tolerance: float) -> None:
    program = deep("c" * 6, tolerance).compile()
    assert 2.0**program.noise_bits <= tolerance


@pytest.mark.parametrize("operations", ["c" * 12, "s" * 14], ids=["twelve cubics", "fourteen squarings"])
def test_deep_kernels_get_a_set(operations: str) -> None:
    program = deep(operations, 1e-2).compile()
    assert 2.0**program.noise_bits <= 1e-2


@pytest.mark.slow
def test_a_long_cumulative_sum_gets_a_set() -> None:
    @rs.kernel(tolerance=1e-2, x=rs.Encrypted(4096, low=-1, high=1))
    def running(x: Any) -> Any:
        total = x[0]
        for i in range(1, 4096):
            total = total + x[i]
        return total

    program = running.compile()
    assert 2.0**program.noise_bits <= 1e-2


def test_what_no_degree_holds_is_refused_with_the_reason() -> None:
    with pytest.raises(ParameterError, match=r"no parameter set is secure and accurate enough: n = 131072"):
        deep("s" * 200, 1e-2).compile()
    with pytest.raises(ParameterError, match=r"precision alone|at the largest scale"):
        deep("s", 1e-40).compile()
