# SPDX-License-Identifier: Apache-2.0
"""rs_mul_barrett against Python integers: residue and range of every result, the whole product, both at their cycle."""

from __future__ import annotations

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from dv.clock import start_clock
from dv.operands import any_moduli, operands, signed
from dv.parameters import formula, matrix, parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw


@cocotb.test()
async def check_results(dut):
    width, smallest, style = parameter("W", 32), parameter("ModMinBits", 5), parameter("MulStyle", 1)
    product_at = formula("mul_latency", style, width, width)
    result_at = formula("barrett_latency", style, width, smallest)
    await start_clock(dut.clk_i, 4)
    for modulus in any_moduli(width, smallest):
        bits = modulus.bit_length()
        dut.modulus_i.value, dut.mod_bits_i.value = modulus, bits
        dut.mu_i.value = (1 << bits + width + 2) // modulus
        # The first operands wait until the modulus has reached every stage.
        cases = [(0, 0)] * (result_at + 1) + list(operands(modulus, 150, modulus))
        extremes = {-modulus: 0, 0: 0}
        for cycle in range(len(cases) + result_at):
            await FallingEdge(dut.clk_i)
            dut.a_i.value, dut.b_i.value = cases[min(cycle, len(cases) - 1)]
            await Timer(1, unit="step")
            if product_at <= cycle < product_at + len(cases):
                a, b = cases[cycle - product_at]
                assert int(dut.product_o.value) == a * b, (modulus, a, b)
            if cycle >= 2 * result_at + 1:
                a, b = cases[cycle - result_at]
                seen = signed(int(dut.result_o.value), width + 1)
                assert -modulus <= seen < modulus, (modulus, a, b, seen)
                assert (seen - a * b) % modulus == 0, (modulus, a, b, seen)
                extremes[-modulus if seen < 0 else 0] += 1
        # Most quotients are exact: their result lies below zero.
        assert extremes[-modulus] > extremes[0]


STYLES = [(w, s, m) for w in (14, 30, 60, 64, 109, 128) for s in (0, 1, 2, 3) for m in (5, w)]
FAST = [(14, 3, 5), (60, 1, 5), (109, 0, 109), (64, 2, 64)]


@pytest.mark.parametrize(("width", "style", "smallest"), matrix(FAST, STYLES))
def test_mul_barrett(width, style, smallest):
    run_checks("rs_mul_barrett", {"W": width, "MulStyle": style, "ModMinBits": smallest})


@pytest.mark.parametrize("smallest", [4, 33])
def test_refused(smallest):
    refusal = elaboration_error("rs_mul_barrett", {"W": 32, "ModMinBits": smallest})
    assert "ModMinBits must be 5 to W" in (refusal or "")
