# SPDX-License-Identifier: Apache-2.0
"""rs_mod_mul against Python integers: Barrett and Montgomery, moduli at both ends, a result every cycle."""

from __future__ import annotations

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.operands import any_moduli, operands, signed, word_moduli
from dv.parameters import WIDTHS, matrix, parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw


async def measure(dut) -> int:
    """Cycles until a product of 1 and 1 replaces that of 0 and 0."""
    dut.a_i.value, dut.b_i.value = 0, 0
    for _ in range(120):
        await FallingEdge(dut.clk_i)
    before = int(dut.result_o.value)
    dut.a_i.value, dut.b_i.value = 1, 1
    for cycle in range(1, 120):
        await FallingEdge(dut.clk_i)
        if int(dut.result_o.value) != before:
            return cycle
    raise AssertionError("no result")


@cocotb.test()
async def check_products(dut):
    width, kind, word = parameter("W"), parameter("MulKind"), parameter("MontW")
    factor_bits = -(-width // word) * word if kind else 0
    await start_clock(dut.clk_i, 2)
    moduli = word_moduli(width, word) if kind else any_moduli(width, parameter("ModMinBits"))
    for modulus in moduli:
        bits = modulus.bit_length()
        dut.a_i.value, dut.b_i.value = 0, 0
        dut.modulus_i.value, dut.mod_bits_i.value = modulus, bits
        dut.aux_i.value = modulus >> word if kind else (1 << bits + width + 2) // modulus
        latency = await measure(dut)
        inverse = pow(2, -factor_bits, modulus) if kind else 1
        cases = list(operands(modulus, 150, modulus))
        for cycle in range(len(cases) + latency):
            if cycle >= latency:
                a, b = cases[cycle - latency]
                seen = signed(int(dut.result_o.value), width + 1)
                assert -modulus <= seen < modulus, (modulus, a, b, seen)
                assert (seen - a * b * inverse) % modulus == 0, (modulus, a, b, seen)
                if parameter("KeepProduct"):
                    assert int(dut.product_o.value) == a * b
            if cycle < len(cases):
                dut.a_i.value, dut.b_i.value = cases[cycle]
            await FallingEdge(dut.clk_i)


BARRETT = [(w, s, m) for w in WIDTHS for s in (0, 1, 2) for m in (5, w)]
MONTGOMERY = [(w, s) for w in WIDTHS for s in (0, 1, 2)]


@pytest.mark.parametrize(("width", "style", "smallest"), matrix(BARRETT[2::18], BARRETT))
def test_barrett(width, style, smallest):
    run_checks("rs_mod_mul", {"W": width, "MulStyle": style, "ModMinBits": smallest, "KeepProduct": int(style == 0)})


@pytest.mark.parametrize(("width", "style"), matrix(MONTGOMERY[1::18], MONTGOMERY))
def test_montgomery(width, style):
    word = min(15, width // 2 - 1)
    run_checks("rs_mod_mul", {"W": width, "MulStyle": style, "MulKind": 1, "MontW": word})


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"MulKind": 2}, "MulKind must be 0 (Barrett) or 1 (Montgomery)"),
        ({"ModMinBits": 4}, "ModMinBits must be 5 to W"),
        ({"MulKind": 1, "MontW": 31}, "MontW must be from 2 to W - 2"),
    ],
)
def test_refused(parameters, words):
    assert words in (elaboration_error("rs_mod_mul", parameters) or "")
