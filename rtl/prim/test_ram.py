# SPDX-License-Identifier: Apache-2.0
"""rs_ram_1r1w and rs_ram_1rw: random reads and writes against a list."""

from __future__ import annotations

import os
import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from ringsmith.flow.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
DUAL = os.environ.get("RAM") == "rs_ram_1r1w"


@cocotb.test()
async def check_contents(dut):
    dut.rd_en_i.value, dut.wr_en_i.value = 0, 0
    cocotb.start_soon(Clock(dut.clk_i, 2, unit="step").start())
    source, words, expected, reads = random.Random(2), {}, None, 0
    for _ in range(800):
        await FallingEdge(dut.clk_i)
        if expected is not None:
            assert int(dut.rd_data_o.value) == expected
        write, place, address, data = (
            source.random() < 0.5,
            source.randrange(12),
            source.randrange(12),
            source.getrandbits(9),
        )
        read = address in words and not (address == place and write) if DUAL else not write and address in words
        dut.wr_en_i.value, dut.rd_en_i.value, dut.wr_data_i.value = write, read, data
        if DUAL:
            dut.wr_addr_i.value, dut.rd_addr_i.value = place, address
        else:
            dut.addr_i.value = place if write else address
        if read:
            expected, reads = words[address], reads + 1
        if write:
            words[place] = data
    assert reads > 100


@pytest.mark.parametrize("ram", ["rs_ram_1r1w", "rs_ram_1rw"])
def test_ram(ram):
    run_checks(ram, {"Width": 9, "DepthWords": 12}, env={"RAM": ram})
