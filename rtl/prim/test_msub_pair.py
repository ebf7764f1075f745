# SPDX-License-Identifier: Apache-2.0
"""rs_msub_pair: differences of the largest and of random operands, in plain registers and in the primitives."""

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
async def check_differences(dut):
    widths = [parameter(name) for name in ("AWidth", "BWidth", "Width")]
    latency = formula("mul_latency", 1, *widths[:2]) + 1
    source = random.Random(sum(widths))
    edges = [[0, 1, (1 << 26) % (1 << w), (1 << w) - 1, 1 << (w - 1), (1 << w) - (1 << w // 2)] for w in widths]
    cases = [tuple(source.choice(edge) for edge in edges) for _ in range(200)]
    cases += [tuple(source.getrandbits(w) for w in widths) for _ in range(300)]
    await start_clock(dut.clk_i, 4)
    # New operands every cycle: a register too many or too few shows another difference.
    for cycle in range(len(cases) + latency):
        await FallingEdge(dut.clk_i)
        dut.a_i.value, dut.b_i.value, dut.c_i.value = cases[min(cycle, len(cases) - 1)]
        await Timer(1, unit="step")
        if cycle >= latency:
            a, b, c = cases[cycle - latency]
            assert int(dut.r_o.value) == (c - a * b) % (1 << widths[2]), (a, b, c)


@pytest.mark.parametrize("primitive", [[], ["RINGSMITH_DSP48E2"]], ids=["registers", "dsp48e2"])
@pytest.mark.parametrize(("aw", "bw", "width"), [(45, 15, 61), (45, 15, 106), (52, 17, 74), (27, 13, 75), (30, 2, 30)])
def test_msub_pair(aw, bw, width, primitive):
    run_checks("rs_msub_pair", {"AWidth": aw, "BWidth": bw, "Width": width}, defines=primitive)


@pytest.mark.parametrize("parameters", [{"AWidth": 26}, {"AWidth": 53}, {"BWidth": 18}, {"BWidth": 15, "Width": 42}])
def test_refused(parameters):
    assert "AWidth must be 27 to 52, BWidth 1 to 17" in (elaboration_error("rs_msub_pair", parameters) or "")
