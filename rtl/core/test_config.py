# SPDX-License-Identifier: Apache-2.0
"""rs_config: entries of every lane and index; a modulus counts once the last lane has it."""

from __future__ import annotations

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
WIDTH, LANES, MODULI, CONSTS = 16, 3, 2, 4


def entry(sel: int, lane: int, index: int) -> int:
    return {0: 1001, 1: 70000, 2: 10, 3: 500}[sel] + 2 * index + 32 * lane


@cocotb.test()
async def check_entries(dut):
    dut.rst_ni.value, dut.we_i.value, dut.mod_idx_i.value = 0, 0, 0
    await start_clock(dut.clk_i, 2)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for index in range(MODULI):
        for lane in range(LANES):
            assert int(dut.configured_o.value) == (1 << index) - 1
            for sel in (1, 2, 0):
                dut.we_i.value, dut.sel_i.value, dut.lane_i.value, dut.idx_i.value = 1, sel, lane, index
                dut.data_i.value = entry(sel, lane, index)
                await FallingEdge(dut.clk_i)
    for index in range(CONSTS):
        for lane in range(LANES):
            dut.sel_i.value, dut.lane_i.value, dut.idx_i.value, dut.data_i.value = 3, lane, index, entry(3, lane, index)
            await FallingEdge(dut.clk_i)
    dut.we_i.value = 0
    assert int(dut.configured_o.value) == 3
    for index in range(MODULI):
        dut.mod_idx_i.value, dut.const_idx_i.value = index, index + 1
        await FallingEdge(dut.clk_i)
        for lane in range(LANES):
            assert int(dut.modulus_o.value) >> WIDTH * lane & 0xFFFF == entry(0, lane, index)
            assert int(dut.aux_o.value) >> (WIDTH + 3) * lane & 0x7FFFF == entry(1, lane, index)
            assert int(dut.mod_bits_o.value) >> 8 * lane & 255 == entry(2, lane, index)
            assert int(dut.minus_one_o.value) >> WIDTH * lane & 0xFFFF == entry(0, lane, index) - 1
            assert int(dut.constant_o.value) >> WIDTH * lane & 0xFFFF == entry(3, lane, index + 1)


def test_config():
    run_checks("rs_config", {"W": WIDTH, "Lanes": LANES, "Moduli": MODULI, "Consts": CONSTS})
