# SPDX-License-Identifier: Apache-2.0
"""rs_delay: what goes in comes out the given number of cycles later."""

from __future__ import annotations

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.parameters import parameter
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
STAGES = parameter("Stages")


@cocotb.test()
async def check_delay(dut):
    await start_clock(dut.clk_i, 2)
    for cycle in range(60):
        await FallingEdge(dut.clk_i)
        if cycle > STAGES:
            assert int(dut.data_o.value) == (cycle - STAGES) * 7 % 256
        dut.data_i.value = cycle * 7 % 256


@pytest.mark.parametrize(("stages", "short"), [(1, 2), (3, 2), (3, 3), (9, 2)])
def test_delay(stages, short):
    run_checks("rs_delay", {"Width": 8, "Stages": stages, "ShortStages": short})
