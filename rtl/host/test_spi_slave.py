# SPDX-License-Identifier: Apache-2.0
import random

import cocotb
from cocotb.triggers import RisingEdge

from dv.serial_lines import spi_exchange
from dv.stimulus import cycles, send, start
from ringsmith.hw.cocotb_runner import run_checks

REST = {"spi_sck_i": 0, "spi_csn_i": 1, "spi_mosi_i": 0, "tx_valid_i": 0}


async def watch(dut, seen: list[int]) -> None:
    while True:
        await RisingEdge(dut.clk_i)
        if int(dut.rx_valid_o.value):
            seen.append(int(dut.rx_data_o.value))


@cocotb.test()
async def check_both_ways(dut):
    """At a fifth and at a half of the core's clock: bytes in arrive once and in order, bytes out follow one another."""
    rng = random.Random(1)
    for low, high in ((3, 2), (1, 1), (9, 9)):
        seen: list[int] = []
        await start(dut, **REST)
        watcher = cocotb.start_soon(watch(dut, seen))
        values, answers = [rng.randrange(256) for _ in range(24)], [rng.randrange(1, 256) for _ in range(20)]
        dut.spi_csn_i.value = 0
        await cycles(dut, 6)
        cocotb.start_soon(send(dut, "tx_valid_i", "tx_ready_o", [{"tx_data_i": v} for v in answers], random.Random(2)))
        got = await spi_exchange(dut, values, low=low, high=high)
        await cycles(dut, 6)
        assert seen == values
        assert got[0] == 0
        first = next(i for i, v in enumerate(got) if v)
        assert got[first : first + 20] == answers[: 24 - first]
        dut.spi_csn_i.value = 1
        await cycles(dut, 6)
        watcher.cancel()


@cocotb.test()
async def check_abort(dut):
    """Raising the select in the middle of a byte drops that byte and the one held to be sent."""
    seen: list[int] = []
    await start(dut, **REST)
    cocotb.start_soon(watch(dut, seen))
    dut.spi_csn_i.value = 0
    await cycles(dut, 6)
    dut.tx_data_i.value, dut.tx_valid_i.value = 0x99, 1
    await cycles(dut, 1)
    dut.tx_valid_i.value = 0
    dut.spi_mosi_i.value = 1
    for _ in range(5):
        dut.spi_sck_i.value = 1
        await cycles(dut, 2)
        dut.spi_sck_i.value = 0
        await cycles(dut, 2)
    dut.spi_csn_i.value = 1
    await cycles(dut, 8)
    dut.spi_csn_i.value = 0
    await cycles(dut, 6)
    assert await spi_exchange(dut, [0x42, 0x43, 0x44]) == [0, 0, 0]
    await cycles(dut, 6)
    assert seen == [0x42, 0x43, 0x44]


def test_spi_slave():
    run_checks("rs_spi_slave")
