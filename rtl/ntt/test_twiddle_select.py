# SPDX-License-Identifier: Apache-2.0
"""rs_twiddle_select against the golden model: every stage of every form."""

from __future__ import annotations

import cocotb
import pytest
from cocotb.triggers import Timer

from dv.golden import twiddle_lanes
from dv.parameters import parameter
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
P, WIDTH, MINUS_ONE = parameter("P", 1), 8, 200


@cocotb.test()
async def check_factors(dut):
    word = [10 + i for i in range(P)]
    dut.word_i.value = sum(x << WIDTH * i for i, x in enumerate(word))
    dut.minus_one_i.value = MINUS_ONE
    levels = P.bit_length() - 1
    cases = [(s, i, c, w) for s in range(levels + 1) for i in (0, 1) for c in (0, 1) for w in (0, 1)]
    for level, inverse, cyclic, later in cases:
        # Below a whole word, and in the first whole-word stage of the cyclic form, only word 0 is used.
        if (later and level < levels) or (not later and level == levels and not cyclic and P > 1):
            continue
        dut.level_i.value, dut.inverse_i.value, dut.cyclic_i.value = level, inverse, cyclic
        dut.first_word_i.value = int(not later)
        await Timer(1, unit="step")
        seen = int(dut.factors_o.value)
        lanes = [seen >> WIDTH * i & 255 for i in range(P)]
        plain = [*([MINUS_ONE] if inverse and cyclic and not later else word[:1]), *word[1:]]
        m = 1 << level if level < levels else max(P, 2 * P * later)
        expected = twiddle_lanes(plain, m, later, inverse=bool(inverse), cyclic=bool(cyclic))
        assert lanes == expected, (level, inverse, cyclic, later)


@pytest.mark.parametrize("p", [1, 8, *(pytest.param(p, marks=pytest.mark.slow) for p in (2, 32))])
def test_twiddle_select(p):
    run_checks("rs_twiddle_select", {"P": p, "W": WIDTH})
