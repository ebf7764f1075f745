# SPDX-License-Identifier: Apache-2.0
"""rs_ram_1rw: random reads and writes, one a cycle, against a list."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.parameters import parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw


@cocotb.test()
async def check_contents(dut):
    bits, depth = parameter("Width"), parameter("DepthWords")
    source, words, expected, reads = random.Random(2), [0] * depth, None, 0
    await start_clock(dut.clk_i, 2)
    dut.rd_en_i.value = 0
    for address in range(depth):
        words[address] = source.getrandbits(bits)
        dut.wr_en_i.value, dut.addr_i.value, dut.wr_data_i.value = 1, address, words[address]
        await FallingEdge(dut.clk_i)
    for _ in range(800):
        write, address, data = source.random() < 0.4, source.randrange(depth), source.getrandbits(bits)
        read = not write and source.random() < 0.8
        dut.wr_en_i.value, dut.rd_en_i.value = write, read
        dut.addr_i.value, dut.wr_data_i.value = address, data
        if read:
            expected, reads = words[address], reads + 1
        if write:
            words[address] = data
        await FallingEdge(dut.clk_i)
        # Neither a write nor an idle cycle changes the last word read.
        if expected is not None:
            assert int(dut.rd_data_o.value) == expected
    assert reads > 300


@pytest.mark.parametrize(("bits", "depth"), [(9, 12), (128, 2)])
def test_ram_1rw(bits, depth):
    run_checks("rs_ram_1rw", {"Width": bits, "DepthWords": depth})


def test_refused():
    assert "DepthWords must be 2 or more" in (elaboration_error("rs_ram_1rw", {"DepthWords": 1}) or "")
