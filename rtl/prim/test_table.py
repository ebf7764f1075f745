# SPDX-License-Identifier: Apache-2.0
"""rs_table: random writes beside reads, against a list."""

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
    source = random.Random(3)
    words = [source.getrandbits(bits) for _ in range(depth)]
    await start_clock(dut.clk_i, 2)
    dut.wr_en_i.value = 1
    for address, word in enumerate(words):
        dut.wr_addr_i.value, dut.wr_data_i.value, dut.rd_addr_i.value = address, word, (address + 1) % depth
        await FallingEdge(dut.clk_i)
    expected = None
    for _ in range(400):
        if expected is not None:
            assert int(dut.rd_data_o.value) == expected
        place, address, word = source.randrange(depth), source.randrange(depth), source.getrandbits(bits)
        write = source.random() < 0.5 and place != address
        dut.wr_en_i.value, dut.wr_addr_i.value, dut.wr_data_i.value = write, place, word
        dut.rd_addr_i.value, expected = address, words[address]
        if write:
            words[place] = word
        await FallingEdge(dut.clk_i)


@pytest.mark.parametrize(("bits", "depth"), [(9, 12), (71, 2)])
def test_table(bits, depth):
    run_checks("rs_table", {"Width": bits, "DepthWords": depth})


def test_refused():
    assert "DepthWords must be 2 or more" in (elaboration_error("rs_table", {"DepthWords": 1}) or "")
