# SPDX-License-Identifier: Apache-2.0
"""rs_butterfly against Python integers: all modes in random order, one a cycle."""

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


def outputs(mode: str, u: int, v: int, w: int, e0: int, e1: int, m: int, r: int) -> tuple[int | None, int | None]:
    """The outputs of each mode; None for an unused output."""
    half = (m + 1) // 2
    return {
        "ct": ((u + v * w * r) % m, (u - v * w * r) % m),
        "gs": (((u + v) * half + e0) % m, ((v - u) * half * w * r + e1) % m),
        "add": ((u + v + e0) % m, None),
        "sub": ((u - v + e0) % m, None),
    }[mode]


@cocotb.test()
async def check_modes(dut):
    width, kind, word = parameter("W", 32), parameter("MulKind", 0), parameter("MontW", 8)
    build = (kind, parameter("MulStyle", 1), width, parameter("ModMinBits", 5), word)
    latency, late = formula("butterfly_latency", *build), formula("addsub_latency", build[1])
    late += formula("mod_mul_latency", *build)
    await start_clock(dut.clk_i, 2)
    dut.product_i.value = 0
    source = random.Random(width)
    for m in word_moduli(width, word):
        r = pow(2, -(-(-width // word) * word), m) if kind else 1
        dut.modulus_i.value, dut.mod_bits_i.value = m, m.bit_length()
        dut.aux_i.value = m >> word if kind else (1 << m.bit_length() + width + 2) // m

        def operand(m: int = m) -> int:
            return source.choice((0, 1, m - 1, source.randrange(m)))

        modes = [source.choice(("ct", "gs", "add", "sub")) for _ in range(200)]
        cases = [(mode, *(operand() for _ in range(5))) for mode in modes]
        for cycle in range(len(cases) + latency):
            if cycle >= latency:
                expected = outputs(*cases[cycle - latency], m, r)
                for want, port in zip(expected, (dut.x_o, dut.y_o), strict=True):
                    assert want is None or int(port.value) == want, (m, cases[cycle - latency])
            if cycle < len(cases):
                mode, u, v, w, _, _ = cases[cycle]
                dut.u_i.value, dut.v_i.value, dut.w_i.value = u, v, w
                dut.cross_i.value, dut.sub_i.value, dut.halve_i.value = mode != "ct", mode == "sub", mode == "gs"
            if late <= cycle < late + len(cases):
                dut.e0_i.value, dut.e1_i.value = cases[cycle - late][4:]
            await FallingEdge(dut.clk_i)


CASES = [(w, k, s) for w in WIDTHS for k in (0, 1) for s in (0, 1, 2)]


@pytest.mark.parametrize(("width", "kind", "style"), matrix([(32, 1, 1), (60, 0, 1)], CASES))
def test_butterfly(width, kind, style):
    run_checks("rs_butterfly", {"W": width, "MulKind": kind, "MulStyle": style, "MontW": min(15, width // 2 - 1)})
