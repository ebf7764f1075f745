# SPDX-License-Identifier: Apache-2.0
"""Stimulus of the host shell: clock and reset, random valid/ready streams, words of coefficients."""

from __future__ import annotations

import random

from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, RisingEdge, Timer

from dv.structs import Pins

PERIOD_NS = 4


async def start(dut: SimHandleBase, **inputs: int) -> None:
    """Start the clock, set the given inputs, and pulse the reset; returns just after a falling edge."""
    Pins(dut).set(inputs)
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
    """Offer items on a valid/ready port, each a map of pins (see dv.structs) to values, with random pauses."""
    pins = Pins(dut)
    for item in items:
        while rng.random() < 0.3:
            await FallingEdge(dut.clk_i)
        pins.set({**item, valid: 1})
        while True:
            await RisingEdge(dut.clk_i)
            taken = pins[ready]
            await FallingEdge(dut.clk_i)
            if taken:
                break
        pins.set({valid: 0})


async def receive(
    dut: SimHandleBase, valid: str, ready: str, signals: list[str], count: int, rng: random.Random
) -> list[tuple[int, ...]]:
    """Take `count` items from a valid/ready port with random pauses; the pins' values of each."""
    pins = Pins(dut)
    found: list[tuple[int, ...]] = []
    while len(found) < count:
        wants = int(rng.random() < 0.7)
        pins.set({ready: wants})
        await RisingEdge(dut.clk_i)
        if wants and pins[valid]:
            found.append(tuple(pins[name] for name in signals))
        await FallingEdge(dut.clk_i)
    pins.set({ready: 0})
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
