# SPDX-License-Identifier: Apache-2.0
"""rs_hold: slots are held from an instruction's start to its end, and never where the build has no such unit."""

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
async def check_hold(dut):
    source, held, busy, seen = random.Random(3), 0, 0, 0
    dut.rst_ni.value, dut.take_i.value, dut.done_i.value = 0, 0, 0
    await start_clock(dut.clk_i, 4)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for _ in range(200):
        take, done = int(not busy and source.random() < 0.5), int(busy and source.random() < 0.3)
        slots = source.getrandbits(32)
        dut.take_i.value, dut.done_i.value, dut.slots_i.value = take, done, slots
        await FallingEdge(dut.clk_i)
        if take and parameter("Present", 1):
            held, busy = slots, 1
        elif done:
            held, busy = 0, 0
        seen += busy
        assert (int(dut.slots_o.value), int(dut.busy_o.value)) == (held, busy)
    assert bool(seen) == bool(parameter("Present", 1))


@pytest.mark.parametrize("present", [0, 1])
def test_hold(present):
    run_checks("rs_hold", {"Present": present})
