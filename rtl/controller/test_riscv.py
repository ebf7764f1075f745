# SPDX-License-Identifier: Apache-2.0
"""rs_riscv: a program runs the same whatever its buses take to answer, and from the start again after a reset."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from dv.clock import start_clock
from dv.riscv import LB, LHU, LW, SB, SW, add, addi, bne, halt, jalr, load, lui, sll, store, xor
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw

# Fibonacci numbers in a loop, a call, a shift, narrow loads and stores; what each leaves stands in RESULTS.
PROGRAM = [
    addi(1, 0, 0), addi(2, 0, 1), addi(3, 0, 20),
    add(4, 1, 2), addi(1, 2, 0), addi(2, 4, 0), addi(3, 3, -1), bne(3, 0, -16),
    lui(5, 0x1), store(SW, 1, 5, 0),
    addi(6, 0, 13), sll(7, 1, 6), store(SW, 7, 5, 4),
    jalr(8, 0, 4 * 16), halt(), halt(),
    store(SB, 7, 5, 9), load(LW, 9, 5, 0), load(LHU, 10, 5, 0), xor(11, 9, 10), store(SW, 11, 5, 12),
    addi(12, 0, -3), store(SB, 12, 5, 16), load(LB, 13, 5, 16), store(SW, 13, 5, 20), store(SW, 8, 5, 24), halt(),
]  # fmt: skip
FIBONACCI = 6765
RESULTS = {
    0: FIBONACCI, 4: FIBONACCI << 13 & 0xFFFFFFFF, 8: (FIBONACCI << 13 & 0xFF) << 8, 12: 0,
    16: 0xFD, 20: 0xFFFFFFFD, 24: 4 * 14,
}  # fmt: skip


async def serve(dut, memory: dict[int, int], rng: random.Random) -> None:
    """Answer both buses after random waits, each request once."""
    while True:
        await FallingEdge(dut.clk_i)
        fetch, data = int(dut.ibus_cyc_o.value), int(dut.dbus_cyc_o.value)
        if not (fetch or data) or rng.random() < 0.5:
            continue
        address = int((dut.ibus_addr_o if fetch else dut.dbus_addr_o).value) & ~3
        word = memory.get(address, 0)
        if data and int(dut.dbus_we_o.value):
            strobe, new = int(dut.dbus_strb_o.value), int(dut.dbus_wdata_o.value)
            mask = sum(0xFF << 8 * b for b in range(4) if strobe >> b & 1)
            memory[address] = word & ~mask | new & mask
        (dut.ibus_rdata_i if fetch else dut.dbus_rdata_i).value = word
        ack = dut.ibus_ack_i if fetch else dut.dbus_ack_i
        ack.value = 1
        await FallingEdge(dut.clk_i)
        ack.value = 0


async def run(dut, cycles: int) -> dict[int, int]:
    memory = {4 * place: word for place, word in enumerate(PROGRAM)}
    for pin in (dut.ibus_ack_i, dut.dbus_ack_i, dut.ibus_rdata_i, dut.dbus_rdata_i):
        pin.value = 0
    dut.rst_i.value = 1
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    assert not int(dut.ibus_cyc_o.value)
    assert not int(dut.dbus_cyc_o.value)
    dut.rst_i.value = 0
    task = cocotb.start_soon(serve(dut, memory, random.Random(cycles)))
    for _ in range(cycles):
        await RisingEdge(dut.clk_i)
    task.cancel()
    return {address - 0x1000: word for address, word in memory.items() if address >= 0x1000}


@cocotb.test()
async def check_program(dut):
    dut.rst_i.value = 1
    await start_clock(dut.clk_i, 10)
    # Once to the end, once broken off in the loop, once more.
    assert await run(dut, 12_000) == RESULTS
    assert await run(dut, 1_000) == {}
    assert await run(dut, 12_001) == RESULTS


def test_riscv():
    run_checks("rs_riscv")
