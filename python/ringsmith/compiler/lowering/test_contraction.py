# SPDX-License-Identifier: Apache-2.0
"""Products with plain matrices: zeros of constants cost nothing, and rows that do not fit together come in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.compiler.lowering.choices import Choices
from ringsmith.compiler.lowering.lower import lowered
from ringsmith.compiler.lowering.price import key_switches
from ringsmith.compiler.lowering.test_layouts import graph_of
from ringsmith.compiler.lowering.test_lowering import clear_run, random_arrays, scheduled_circuit
from ringsmith.ir.geometry import Slots

RANDOM = np.random.default_rng(3)
BAND = np.tril(np.triu(RANDOM.integers(1, 9, (60, 60)), -2), 1)
LOWER = np.tril(RANDOM.integers(1, 9, (40, 40)), -1)
EMPTY_COLUMNS = RANDOM.integers(1, 9, (5, 60)) * (np.arange(60) < 3)


def switches(function: Callable[[Any], Any], shape: tuple[int, ...], slots: Slots) -> int:
    """Return the key switches of a kernel, whose program computes as numpy does."""
    declared: Any = {"x": rs.Encrypted(*shape, bound=3)}
    kernel = rs.kernel(**declared, scheme="bfv" if slots.rows == 2 else "ckks")(function)
    program = lowered(graph_of(kernel), kernel.arguments, slots, Choices({}))
    arrays = random_arrays(kernel)
    found = clear_run(scheduled_circuit(kernel, program), arrays)
    np.testing.assert_allclose(found, function(arrays["x"]), rtol=1e-9, atol=1e-9)
    return key_switches(program)


@pytest.mark.parametrize("slots", [Slots(1, 256), Slots(2, 32), Slots(1, 64), Slots(2, 128)])
@pytest.mark.parametrize("matrix", [BAND, BAND.T, EMPTY_COLUMNS, np.zeros((4, 60), int), np.eye(60, dtype=int)[::-1]])
def test_constants_that_are_zero_change_no_value(matrix: Any, slots: Slots) -> None:
    switches(lambda x: matrix @ x, (60,), slots)
    switches(lambda x: x @ matrix.T, (5, 60), slots)


def test_a_band_takes_its_own_diagonals_alone() -> None:
    assert switches(lambda x: BAND @ x, (60,), Slots(1, 256)) <= 3
    assert switches(lambda x: x @ BAND.T, (4, 60), Slots(1, 256)) <= 3
    assert switches(lambda x: BAND @ x, (60,), Slots(2, 32)) <= 8


@pytest.mark.parametrize("matrix", [LOWER, RANDOM.integers(1, 9, (40, 40)), RANDOM.integers(1, 9, (90, 40))])
@pytest.mark.parametrize("slots", [Slots(1, 256), Slots(2, 128), Slots(1, 64)])
def test_rows_that_do_not_fit_into_a_row_of_slots_are_multiplied_in_turn(matrix: Any, slots: Slots) -> None:
    assert switches(lambda x: matrix @ x, (40, 8), slots) <= 300
