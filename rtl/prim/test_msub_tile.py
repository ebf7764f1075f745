# SPDX-License-Identifier: Apache-2.0
"""rs_msub_tile: differences of the largest and of random operands, in plain registers and in the primitive."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from dv.clock import start_clock
from dv.parameters import parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw
LATENCY = 3


@cocotb.test()
async def check_differences(dut):
    widths = [parameter(name) for name in ("AWidth", "BWidth", "Width")]
    source = random.Random(sum(widths))
    cases = [tuple(source.choice([0, 1, (1 << w) - 1, 1 << (w - 1)]) for w in widths) for _ in range(100)]
    cases += [tuple(source.getrandbits(w) for w in widths) for _ in range(300)]
    await start_clock(dut.clk_i, 4)
    # New operands every cycle: a register too many or too few shows another difference.
    for cycle in range(len(cases) + LATENCY):
        await FallingEdge(dut.clk_i)
        dut.a_i.value, dut.b_i.value, dut.c_i.value = cases[min(cycle, len(cases) - 1)]
        await Timer(1, unit="step")
        if cycle >= LATENCY:
            a, b, c = cases[cycle - LATENCY]
            assert int(dut.r_o.value) == (c - a * b) % (1 << widths[2]), (a, b, c)


@pytest.mark.parametrize("primitive", [[], ["RINGSMITH_DSP48E2"]], ids=["registers", "dsp48e2"])
@pytest.mark.parametrize(("aw", "bw", "width"), [(26, 17, 48), (17, 13, 31), (17, 13, 52), (26, 17, 49)])
def test_msub_tile(aw, bw, width, primitive):
    run_checks("rs_msub_tile", {"AWidth": aw, "BWidth": bw, "Width": width}, defines=primitive)


def test_refused():
    for wide in ({"AWidth": 27}, {"BWidth": 18}):
        assert "AWidth and BWidth must be at most 26 and 17" in elaboration_error("rs_msub_tile", wide)
