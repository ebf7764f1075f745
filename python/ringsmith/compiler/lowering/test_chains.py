# SPDX-License-Identifier: Apache-2.0
"""Rotations one after the other: the same results by a few keys."""

from __future__ import annotations

import numpy as np
import pytest

from ringsmith.compiler.lowering.few_keys import in_chains, rotations
from ringsmith.compiler.lowering.lower import lower
from ringsmith.compiler.lowering.test_lowering import clear_run, random_arrays, scheduled_circuit
from ringsmith.compiler.lowering.test_sparse import convolution, on
from ringsmith.frontend.tensor import linear
from ringsmith.frontend.trace import trace
from ringsmith.ir.geometry import Slots


@pytest.mark.parametrize("pad", [0, 2])
def test_a_convolution_in_chains(pad: int) -> None:
    first = convolution((1, 8, 8), 4, 5, 1, pad)
    second = convolution((4, 4 + 2 * pad, 4 + 2 * pad), 4, 3, 1, 1)
    made = on(first.given)(lambda x: linear(linear(x, first) ** 2, second))
    arrays = random_arrays(made, 0)
    program = lower(trace(made, {"x": first.given}), made.arguments, Slots(1, 1024))
    chained = in_chains(program)
    assert len(rotations(chained)) < len(rotations(program)) / 2
    found = clear_run(scheduled_circuit(made, chained), arrays)
    np.testing.assert_allclose(found, made.function(**arrays), atol=1e-9)
    # Twice is once: what is left is short.
    assert rotations(in_chains(chained)) == rotations(chained)
