# SPDX-License-Identifier: Apache-2.0
"""rs_mul_montgomery against Python integers: a b / R and its range, the whole product, both at their cycle."""

from __future__ import annotations

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from dv.clock import start_clock
from dv.operands import operands, signed, word_moduli
from dv.parameters import formula, matrix, parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw


@cocotb.test()
async def check_results(dut):
    width, word, style = parameter("W", 32), parameter("MontW", 13), parameter("MulStyle", 1)
    product_at = formula("mul_latency", style, width, width)
    result_at = formula("montgomery_latency", style, width, word)
    steps = -(-width // word)
    await start_clock(dut.clk_i, 4)
    for modulus in word_moduli(width, word):
        dut.modulus_high_i.value = modulus >> word
        undo = pow(2, -word * steps, modulus)
        # The first operands wait until the modulus has reached every stage.
        cases = [(0, 0)] * (result_at + 1) + list(operands(modulus, 150, modulus))
        signs = set()
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
                assert -modulus < seen < modulus, (modulus, a, b, seen)
                assert (seen - a * b * undo) % modulus == 0, (modulus, a, b, seen)
                signs.add(seen < 0)
        assert signs == {False, True}


# Words that divide the width and words that do not, the narrowest and the widest.
SHAPES = [(w, m, s) for w in (14, 30, 60, 64, 109, 128) for m in (w // 2 - 1, 5) for s in (0, 1, 2)]
FAST = [(14, 7, 0), (60, 15, 1), (64, 17, 2), (30, 24, 1)]


@pytest.mark.parametrize(("width", "word", "style"), matrix(FAST, SHAPES))
def test_mul_montgomery(width, word, style):
    run_checks("rs_mul_montgomery", {"W": width, "MontW": word, "MulStyle": style})


@pytest.mark.parametrize("word", [1, 31])
def test_refused(word):
    refusal = elaboration_error("rs_mul_montgomery", {"W": 32, "MontW": word})
    assert "MontW must be from 2 to W - 2" in (refusal or "")
