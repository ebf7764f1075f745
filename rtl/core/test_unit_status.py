# SPDX-License-Identifier: Apache-2.0
"""rs_unit_status: cycles of work since the restart, the index of the instruction that started last."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.parameters import parameter
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw


@cocotb.test()
async def check_unit(dut):
    source, busy, index, present = random.Random(4), 0, 0, parameter("Present", 1)
    await start_clock(dut.clk_i, 4)
    for cycle in range(300):
        restart, start, idle = int(cycle == 0 or source.random() < 0.02), int(cycle == 0), source.getrandbits(1)
        start |= int(source.random() < 0.2)
        number = source.getrandbits(32)
        dut.restart_i.value, dut.start_i.value, dut.idle_i.value, dut.index_i.value = restart, start, idle, number
        await FallingEdge(dut.clk_i)
        busy, index = 0 if restart else busy + 1 - idle, number if start else index
        assert (int(dut.busy_o.value), int(dut.index_o.value)) == ((busy, index) if present else (0, 0))


@pytest.mark.parametrize("present", [0, 1])
def test_unit_status(present):
    run_checks("rs_unit_status", {"Present": present})
