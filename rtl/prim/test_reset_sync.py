# SPDX-License-Identifier: Apache-2.0
"""rs_reset_sync: low at once, high Stages edges after the reset was released, whenever that was."""

from __future__ import annotations

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer

from dv.clock import start_clock
from dv.parameters import parameter
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw


@cocotb.test()
async def check_release(dut):
    stages = parameter("Stages")
    dut.rst_ni.value = 1
    await start_clock(dut.clk_i, 10)
    for phase in range(1, 10):
        await RisingEdge(dut.clk_i)
        await Timer(phase, unit="step")
        dut.rst_ni.value = 0
        await Timer(1, unit="step")
        assert not int(dut.rst_no.value), "falls without an edge"
        await Timer(30, unit="step")
        dut.rst_ni.value = 1
        for edge in range(1, stages + 3):
            await RisingEdge(dut.clk_i)
            await Timer(1, unit="step")
            assert int(dut.rst_no.value) == (edge >= stages), (phase, edge)


@pytest.mark.parametrize("stages", [2, 3])
def test_reset_sync(stages: int) -> None:
    run_checks("rs_reset_sync", {"Stages": stages})
