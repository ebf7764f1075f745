# SPDX-License-Identifier: Apache-2.0
"""rs_slot: both banks of both kinds keep their words apart."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
BITS, WORDS = 20, 8


@cocotb.test()
async def check_banks(dut):
    dut.rd_en_i.value, dut.wr_en_i.value = 0, 0
    await start_clock(dut.clk_i, 2)
    source = random.Random(3)
    words = [[source.getrandbits(BITS) for _ in range(WORDS)] for _ in range(2)]
    for address in range(WORDS):
        await FallingEdge(dut.clk_i)
        other = WORDS - 1 - address
        dut.wr_en_i.value, dut.wr_addr_i.value = 3, address | other << 3
        dut.wr_data_i.value = words[0][address] | words[1][other] << BITS
    await FallingEdge(dut.clk_i)
    dut.wr_en_i.value = 0
    for _ in range(40):
        places = [source.randrange(WORDS), source.randrange(WORDS)]
        first = source.randrange(2)
        dut.rd_en_i.value, dut.rd_addr_i.value, dut.rd_first_i.value = 3, places[0] | places[1] << 3, first
        await FallingEdge(dut.clk_i)
        assert int(dut.rd_word_o.value) == words[first][places[first]]
        assert int(dut.rd_data_o.value) == words[0][places[0]] | words[1][places[1]] << BITS
    for _ in range(40):
        bank, place = source.randrange(2), source.randrange(WORDS)
        dut.rd_en_i.value, dut.rd_addr_i.value, dut.rd_first_i.value = 1 << bank, place << 3 * bank, bank
        for _ in range(source.randrange(1, 4)):  # the word stays until the next read
            await FallingEdge(dut.clk_i)
            dut.rd_en_i.value, dut.rd_first_i.value = 0, source.randrange(2)
            assert int(dut.rd_word_o.value) == words[bank][place]


@pytest.mark.parametrize("single", [0, 1])
def test_slot(single):
    run_checks("rs_slot", {"WordBits": BITS, "BankWords": WORDS, "SinglePort": single})
