# SPDX-License-Identifier: Apache-2.0
"""Stimulus shared by the tests of the host shell: clock and reset, random valid/ready streams, serial lines."""

from __future__ import annotations

import os
import random

from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, RisingEdge, Timer

PERIOD_NS = 4


def parameter(name: str, default: int = 0) -> int:
    """A parameter of the module under test, as run_checks passed it."""
    return int(os.environ.get(f"PARAM_{name}", default))


async def start(dut: SimHandleBase, **inputs: int) -> None:
    """Start the clock, set the given inputs, and pulse the reset; returns just after a falling edge."""
    for name, value in inputs.items():
        getattr(dut, name).value = value
    # Pins start at random: the reset comes before the first edge.
    dut.clk_i.value = dut.rst_ni.value = 0
    if "spi_csn_i" in inputs:
        # The SPI clock stands still: a simulator resets what follows it on the edges of reset and select only.
        dut.rst_ni.value, dut.spi_csn_i.value = 1, 1 - inputs["spi_csn_i"]
        await Timer(1, "ns")
        dut.rst_ni.value, dut.spi_csn_i.value = 0, inputs["spi_csn_i"]
    await Timer(1, "ns")
    Clock(dut.clk_i, PERIOD_NS, "ns").start()
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)


async def send(dut: SimHandleBase, valid: str, ready: str, items: list[dict[str, int]], rng: random.Random) -> None:
    """Offer items on a valid/ready port, each a map of signals to values, with random pauses."""
    for item in items:
        while rng.random() < 0.3:
            await FallingEdge(dut.clk_i)
        for name, value in item.items():
            getattr(dut, name).value = value
        getattr(dut, valid).value = 1
        while True:
            await RisingEdge(dut.clk_i)
            taken = int(getattr(dut, ready).value)
            await FallingEdge(dut.clk_i)
            if taken:
                break
        getattr(dut, valid).value = 0


async def receive(
    dut: SimHandleBase, valid: str, ready: str, signals: list[str], count: int, rng: random.Random
) -> list[tuple[int, ...]]:
    """Take `count` items from a valid/ready port with random pauses; the signals' values of each."""
    found: list[tuple[int, ...]] = []
    while len(found) < count:
        getattr(dut, ready).value = int(rng.random() < 0.7)
        await RisingEdge(dut.clk_i)
        if int(getattr(dut, valid).value) and int(getattr(dut, ready).value):
            found.append(tuple(int(getattr(dut, name).value) for name in signals))
        await FallingEdge(dut.clk_i)
    getattr(dut, ready).value = 0
    return found


def coefficients(word: int, count: int, bits: int) -> list[int]:
    """The coefficients packed in a word, least significant first."""
    return [word >> (i * bits) & ((1 << bits) - 1) for i in range(count)]


def packed(values: list[int], bits: int) -> int:
    """A word of coefficients, least significant first."""
    return sum(value << (i * bits) for i, value in enumerate(values))


async def cycles(dut: SimHandleBase, count: int) -> None:
    """Wait for falling edges of the clock."""
    for _ in range(count):
        await FallingEdge(dut.clk_i)


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


async def axil_write(dut: SimHandleBase, address: int, value: int, *, prefix: str = "axil_") -> int:
    """Write a register through the AXI4-Lite slave pins; the response code."""
    pins = {
        name: getattr(dut, f"{prefix}{name}_i") for name in ("awvalid", "awaddr", "wvalid", "wdata", "wstrb", "bready")
    }
    answers = [getattr(dut, f"{prefix}{name}_o") for name in ("awready", "wready", "bvalid", "bresp")]
    pins["awaddr"].value, pins["wdata"].value, pins["wstrb"].value = address, value, 15
    pins["awvalid"].value = pins["wvalid"].value = pins["bready"].value = 1
    while True:
        await RisingEdge(dut.clk_i)
        aw, w, b, answer = (int(s.value) for s in answers)
        await FallingEdge(dut.clk_i)
        if aw:
            pins["awvalid"].value = 0
        if w:
            pins["wvalid"].value = 0
        if b:
            pins["bready"].value = 0
            return answer


async def axil_read(dut: SimHandleBase, address: int, *, prefix: str = "axil_") -> int:
    """Read a register through the AXI4-Lite slave pins; -1 if the answer is an error."""
    pins = {name: getattr(dut, f"{prefix}{name}_i") for name in ("arvalid", "araddr", "rready")}
    answers = [getattr(dut, f"{prefix}{name}_o") for name in ("arready", "rvalid", "rdata", "rresp")]
    pins["araddr"].value = address
    pins["arvalid"].value = pins["rready"].value = 1
    while True:
        await RisingEdge(dut.clk_i)
        ar, r, data, answer = (int(s.value) for s in answers)
        await FallingEdge(dut.clk_i)
        if ar:
            pins["arvalid"].value = 0
        if r:
            pins["rready"].value = 0
            return -1 if answer else data


def rest_axil(prefix: str = "axil_") -> dict[str, int]:
    """Values of the AXI4-Lite slave pins at rest."""
    names = ("awvalid", "wvalid", "bready", "arvalid", "rready")
    return dict.fromkeys((f"{prefix}{name}_i" for name in names), 0)
