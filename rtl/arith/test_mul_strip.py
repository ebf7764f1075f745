# SPDX-License-Identifier: Apache-2.0
"""rs_mul_strip: products of the largest and of random operands at every width, in registers and in the primitives."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from dv.clock import start_clock
from dv.parameters import formula, parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw


@cocotb.test()
async def check_products(dut):
    widths = aw, bw = parameter("AWidth"), parameter("BWidth")
    latency = formula("mul_latency", 1, aw, bw)
    source = random.Random(aw * bw)
    edges = [[0, 1, (1 << w) - 1, *(1 << i for i in range(w))] for w in widths]
    cases = [tuple(source.choice(edge) for edge in edges) for _ in range(200)]
    cases += [tuple(source.getrandbits(w) for w in widths) for _ in range(300)]
    await start_clock(dut.clk_i, 4)
    for cycle in range(len(cases) + latency):
        await FallingEdge(dut.clk_i)
        dut.a_i.value, dut.b_i.value = cases[min(cycle, len(cases) - 1)]
        await Timer(1, unit="step")
        if cycle >= latency:
            a, b = cases[cycle - latency]
            assert int(dut.p_o.value) == a * b, (a, b)


@pytest.mark.parametrize("primitive", [[], ["RINGSMITH_DSP48E2"]], ids=["registers", "dsp48e2"])
@pytest.mark.parametrize(("aw", "bw"), [(30, 30), (27, 34), (28, 18), (29, 29)])
def test_mul_strip(aw, bw, primitive):
    run_checks("rs_mul_strip", {"AWidth": aw, "BWidth": bw}, defines=primitive)


@pytest.mark.parametrize("aw", [26, 31])
def test_refused(aw):
    assert "AWidth must be 27 to 30 and BWidth 18 to 34" in elaboration_error("rs_mul_strip", {"AWidth": aw})


@pytest.mark.parametrize("bw", [17, 35])
def test_refused_by_the_chain(bw):
    assert "BWidth 18 to 34" in elaboration_error("rs_mul_strip", {"BWidth": bw})
