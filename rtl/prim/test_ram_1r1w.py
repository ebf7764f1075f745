# SPDX-License-Identifier: Apache-2.0
"""rs_ram_1r1w: random reads and writes, both in one cycle too, against a list."""

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
    source, words, expected = random.Random(2), [0] * depth, None
    await start_clock(dut.clk_i, 2)
    dut.rd_en_i.value = 0
    for address in range(depth):
        words[address] = source.getrandbits(bits)
        dut.wr_en_i.value, dut.wr_addr_i.value, dut.wr_data_i.value = 1, address, words[address]
        await FallingEdge(dut.clk_i)
    reads, together = 0, 0
    for _ in range(800):
        write, read = source.random() < 0.5, source.random() < 0.7
        place, address, data = source.randrange(depth), source.randrange(depth), source.getrandbits(bits)
        read = read and not (write and place == address)
        dut.wr_en_i.value, dut.wr_addr_i.value, dut.wr_data_i.value = write, place, data
        dut.rd_en_i.value, dut.rd_addr_i.value = read, address
        if read:
            expected, reads, together = words[address], reads + 1, together + write
        if write:
            words[place] = data
        await FallingEdge(dut.clk_i)
        # Without an enable the last word stays.
        if expected is not None:
            assert int(dut.rd_data_o.value) == expected
    assert reads > 300
    assert together > 100


@pytest.mark.parametrize(("bits", "depth"), [(9, 12), (128, 2)])
def test_ram_1r1w(bits, depth):
    run_checks("rs_ram_1r1w", {"Width": bits, "DepthWords": depth})


def test_refused():
    assert "DepthWords must be 2 or more" in (elaboration_error("rs_ram_1r1w", {"DepthWords": 1}) or "")
