# SPDX-License-Identifier: Apache-2.0
"""rs_mul_cross: products of the largest and of random operands, in plain registers and in the primitives."""

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
    cases = [tuple(source.choice(edge) for edge in edges) for _ in range(300)]
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
@pytest.mark.parametrize(("aw", "bw"), [(60, 60), (54, 54), (57, 59)])
def test_mul_cross(aw, bw, primitive):
    run_checks("rs_mul_cross", {"AWidth": aw, "BWidth": bw}, defines=primitive)


@pytest.mark.parametrize("parameters", [{"AWidth": 53}, {"BWidth": 61}])
def test_refused(parameters):
    assert "AWidth and BWidth must be 54 to 60" in (elaboration_error("rs_mul_cross", parameters) or "")
