# SPDX-License-Identifier: Apache-2.0
"""rs_mult_chain: products and sums of the largest and of random operands, in plain registers and in the primitives."""

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


@cocotb.test()
async def check_sums(dut):
    aw, bw, extra, stages = (parameter(name) for name in ("AWidth", "BWidth", "Extra", "Stages"))
    latency, addend = 3 + stages, 2 + stages
    out = aw + bw + extra
    widths = (aw, bw, out - 17)
    source = random.Random(out)
    cases = [tuple(source.choice([0, 1, (1 << w) - 1, 1 << (w - 1)]) for w in widths) for _ in range(100)]
    cases += [tuple(source.getrandbits(w) for w in widths) for _ in range(300)]
    await start_clock(dut.clk_i, 4)
    for cycle in range(len(cases) + latency):
        await FallingEdge(dut.clk_i)
        dut.a_i.value, dut.b_i.value, _ = cases[min(cycle, len(cases) - 1)]
        dut.c_i.value = cases[min(max(cycle - addend, 0), len(cases) - 1)][2]
        await Timer(1, unit="step")
        if cycle >= latency:
            a, b, c = cases[cycle - latency]
            assert int(dut.p_o.value) == (a * b + (c << 17)) % (1 << out), (a, b, c)


@pytest.mark.parametrize("primitive", [[], ["RINGSMITH_DSP48E2"]], ids=["registers", "dsp48e2"])
@pytest.mark.parametrize(
    ("aw", "bw", "extra", "stages"), [(26, 30, 4, 1), (26, 34, 5, 1), (9, 18, 0, 1), (26, 34, 0, 0), (8, 28, 2, 0)]
)
def test_mult_chain(aw, bw, extra, stages, primitive):
    run_checks("rs_mult_chain", {"AWidth": aw, "BWidth": bw, "Extra": extra, "Stages": stages}, defines=primitive)


@pytest.mark.parametrize(
    "parameters", [{"AWidth": 27}, {"BWidth": 17}, {"BWidth": 35}, {"AWidth": 26, "BWidth": 34, "Extra": 6}]
)
def test_refused(parameters):
    assert "AWidth must be at most 26, BWidth 18 to 34" in (elaboration_error("rs_mult_chain", parameters) or "")


def test_stages_refused():
    assert "Stages must be 0 or 1" in (elaboration_error("rs_mult_chain", {"Stages": 2}) or "")
