# SPDX-License-Identifier: Apache-2.0
"""Bytes on the serial lines of the host shell: SPI, UART."""

from __future__ import annotations

from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge

from dv.stimulus import cycles


async def spi_exchange(dut: SimHandleBase, out: list[int], *, low: int = 3, high: int = 2) -> list[int]:
    """Exchange bytes in SPI mode 0 inside an open frame; `low` and `high` are core cycles of the SPI clock's phases."""
    received = []
    for value in out:
        got = 0
        for bit in range(7, -1, -1):
            dut.spi_mosi_i.value = value >> bit & 1
            await cycles(dut, low)
            got = got << 1 | int(dut.spi_miso_o.value)
            dut.spi_sck_i.value = 1
            await cycles(dut, high)
            dut.spi_sck_i.value = 0
        received.append(got)
    return received


async def uart_send(dut: SimHandleBase, value: int, divisor: int, *, stop: int = 1) -> None:
    """Send a byte on the UART line; `stop` 0 makes a break of it."""
    for bit in [0, *[value >> i & 1 for i in range(8)], stop]:
        dut.uart_rx_i.value = bit
        await cycles(dut, divisor)
    dut.uart_rx_i.value = 1


async def uart_receive(dut: SimHandleBase, divisor: int) -> int:
    """Receive a byte from the UART line."""
    while int(dut.uart_tx_o.value):
        await FallingEdge(dut.clk_i)
    await cycles(dut, divisor // 2)
    value = 0
    for bit in range(8):
        await cycles(dut, divisor)
        value |= int(dut.uart_tx_o.value) << bit
    await cycles(dut, divisor)
    assert int(dut.uart_tx_o.value) == 1, "stop bit"
    return value
