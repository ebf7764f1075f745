# SPDX-License-Identifier: Apache-2.0
"""rs_fifo: order, level, full and empty under random traffic; clear."""

from __future__ import annotations

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw
DEPTH = 4


@cocotb.test()
async def check_order(dut):
    dut.rst_ni.value, dut.clear_i.value, dut.valid_i.value, dut.ready_i.value = 0, 0, 0, 0
    await start_clock(dut.clk_i, 2)
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    source, held, seen_full = random.Random(1), deque(), False
    for cycle in range(600):
        await FallingEdge(dut.clk_i)
        assert int(dut.level_o.value) == len(held)
        assert int(dut.ready_o.value) == (len(held) < DEPTH)
        assert int(dut.valid_o.value) == (len(held) > 0)
        if held:
            assert int(dut.data_o.value) == held[0]
        push, pop, clear = source.random() < 0.6, source.random() < 0.4 + 0.2 * (cycle > 300), cycle == 250
        data = source.getrandbits(8)
        dut.valid_i.value, dut.ready_i.value, dut.clear_i.value, dut.data_i.value = push, pop, clear, data
        seen_full |= len(held) == DEPTH
        take, give = push and len(held) < DEPTH, pop and bool(held)
        if clear:
            held.clear()
            continue
        if give:
            held.popleft()
        if take:
            held.append(data)
    assert seen_full


def test_fifo():
    run_checks("rs_fifo", {"Width": 8, "Depth": DEPTH})


def test_refused():
    assert "Depth must be a power of two from 2 to 1024" in (elaboration_error("rs_fifo", {"Depth": 6}) or "")
