# SPDX-License-Identifier: Apache-2.0
"""rs_mod_addsub against Python integers: sums, differences, halves, unreduced second operands."""

from __future__ import annotations

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.operands import any_moduli, operands
from dv.parameters import WIDTHS, matrix, parameter
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw

WIDTH = parameter("W", 0)
STAGES = 1 if parameter("MulStyle", 1) == 0 else 3


@cocotb.test()
async def check_all(dut):
    await start_clock(dut.clk_i, 2)
    for modulus in any_moduli(WIDTH, 5):
        odd = modulus & 1
        await FallingEdge(dut.clk_i)
        dut.modulus_i.value = modulus
        cases = [
            (a, b, sub, halve)
            for a, c in operands(modulus, 40, modulus)
            for b in (c, c - modulus)
            for sub in (0, 1)
            for halve in ((0, 1) if odd else (0,))
        ]
        for cycle in range(len(cases) + STAGES):
            if cycle >= STAGES:
                a, b, sub, halve = cases[cycle - STAGES]
                factor = (modulus + 1) // 2 if halve else 1
                expected = (a - b if sub else a + b) * factor % modulus
                assert int(dut.result_o.value) == expected, (modulus, a, b, sub, halve)
            if cycle < len(cases):
                a, b, sub, halve = cases[cycle]
                dut.a_i.value, dut.b_i.value = a, b % (1 << WIDTH + 1)
                dut.sub_i.value, dut.halve_i.value = sub, halve
            await FallingEdge(dut.clk_i)


@pytest.mark.parametrize(
    ("width", "style"), matrix([(14, 1), (60, 1), (128, 1)], [(w, s) for w in WIDTHS for s in (0, 1)])
)
def test_mod_addsub(width, style):
    run_checks("rs_mod_addsub", {"W": width, "MulStyle": style})


def test_one_stage():
    run_checks("rs_mod_addsub", {"W": 30, "MulStyle": 0})
