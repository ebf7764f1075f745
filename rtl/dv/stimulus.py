# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the host shell: clock and reset, random valid/ready streams, words of coefficients."""

from __future__ import annotations

import random

from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, RisingEdge, Timer

PERIOD_NS = 4


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
