# SPDX-License-Identifier: Apache-2.0
"""rs_msub_luts: differences of the largest and of random operands, as rs_msub_tile has them."""

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
async def check_differences(dut):
    widths = [parameter(name) for name in ("AWidth", "BWidth", "Width")]
    latency, source = 3 + parameter("Extra"), random.Random(sum(widths))
    cases = [tuple(source.choice([0, 1, (1 << w) - 1, 1 << (w - 1)]) for w in widths) for _ in range(100)]
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


@pytest.mark.parametrize(
    ("aw", "bw", "width", "extra"), [(17, 13, 44, 0), (1, 4, 9, 1), (44, 16, 107, 2), (2, 3, 5, 0), (9, 32, 31, 0)]
)
def test_msub_luts(aw, bw, width, extra):
    run_checks("rs_msub_luts", {"AWidth": aw, "BWidth": bw, "Width": width, "Extra": extra})


def test_refused():
    assert "BWidth must be at most 32" in (elaboration_error("rs_msub_luts", {"BWidth": 33}) or "")
