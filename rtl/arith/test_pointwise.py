# SPDX-License-Identifier: Apache-2.0
"""rs_pointwise against Python integers: products and sums in random order, one a cycle."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.operands import word_moduli
from dv.parameters import WIDTHS, formula, matrix, parameter
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw


@cocotb.test()
async def check_modes(dut):
    width, kind, word = parameter("W", 32), parameter("MulKind", 0), parameter("MontW", 8)
    build = (kind, parameter("MulStyle", 1), width, parameter("ModMinBits", 5), word)
    latency = formula("mod_mul_latency", *build) + formula("addsub_latency", build[1])
    await start_clock(dut.clk_i, 2)
    source = random.Random(width)
    for m in word_moduli(width, word):
        r = pow(2, -(-(-width // word) * word), m) if kind else 1
        dut.modulus_i.value, dut.mod_bits_i.value = m, m.bit_length()
        dut.aux_i.value = m >> word if kind else (1 << m.bit_length() + width + 2) // m

        def operand(m: int = m) -> int:
            return source.choice((0, 1, m - 1, source.randrange(m)))

        cases = [(source.choice(("product", "add", "sub")), *(operand() for _ in "uvw")) for _ in range(200)]
        for cycle in range(len(cases) + latency):
            if cycle >= latency:
                mode, u, v, w = cases[cycle - latency]
                want = {"product": u + v * w * r, "add": u + v, "sub": u - v}[mode] % m
                assert int(dut.x_o.value) == want, (m, cases[cycle - latency])
            if cycle < len(cases):
                mode, dut.u_i.value, dut.v_i.value, dut.w_i.value = cases[cycle]
                dut.crossed_i.value, dut.sub_i.value = mode != "product", mode == "sub"
            await FallingEdge(dut.clk_i)


CASES = [(w, k, s) for w in WIDTHS for k in (0, 1) for s in (0, 1, 2)]


@pytest.mark.parametrize(("width", "kind", "style"), matrix([(32, 1, 1), (60, 0, 1)], CASES))
def test_pointwise(width, kind, style):
    run_checks("rs_pointwise", {"W": width, "MulKind": kind, "MulStyle": style, "MontW": min(15, width // 2 - 1)})
