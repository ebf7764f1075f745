# SPDX-License-Identifier: Apache-2.0
"""rs_ntt8_axil: transforms through the registers, and what the map refuses."""

from __future__ import annotations

import os
import random
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from dv.ntt8 import Ring
from dv.parameters import parameter
from ringsmith.hw import registers
from ringsmith.hw.cocotb_runner import run_checks

WIDTH = parameter("W", 32)
VARIANT = parameter("Variant", 0)
MAP = registers.load(registers.NTT8)
SIGNALS = ("awvalid", "awready", "awaddr", "wvalid", "wready", "wdata", "wstrb", "bvalid", "bready", "bresp")
SIGNALS += ("arvalid", "arready", "araddr", "rvalid", "rready", "rdata", "rresp")


class Port:
    """The DUT's AXI4-Lite port under the names that the bus model expects."""

    def __init__(self, dut: Any) -> None:
        for signal in SIGNALS:
            suffix = "o" if hasattr(dut, f"s_axil_{signal}_o") else "i"
            setattr(self, f"s_axil_{signal}", getattr(dut, f"s_axil_{signal}_{suffix}"))
        self._name = dut._name
        self._log = dut._log


class Device:
    """Registers by name."""

    def __init__(self, bus: AxiLiteMaster) -> None:
        self.bus = bus

    async def write(self, name: str, value: int, index: int = 0) -> None:
        await self.bus.write_dword(MAP[name].address + 4 * index, value)

    async def read(self, name: str, index: int = 0) -> int:
        return await self.bus.read_dword(MAP[name].address + 4 * index)

    async def configure(self, ring: Ring) -> None:
        await self.write("modulus", ring.modulus)
        await self.write("modulus_bits", ring.modulus.bit_length())
        for index in range(2):
            await self.write("barrett", ring.barrett(WIDTH) >> (32 * index) & 0xFFFFFFFF, index)
        for index, value in enumerate(ring.twiddles()):
            await self.write("twiddle", value, index)

    async def transform(self, data: list[int], *, inverse: bool) -> list[int]:
        for index, value in enumerate(data):
            await self.write("input", value, index)
        await self.write("control", 1 | int(inverse) << 1)
        for _ in range(100):
            if (status := await self.read("status")) & 1:
                assert status >> 8 == int(os.environ["EXPECTED_LATENCY"])
                return [await self.read("output", index) for index in range(8)]
        raise AssertionError("the transform never finishes")


async def open_device(dut: Any) -> Device:
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    dut.rst_ni.value = 0
    bus = AxiLiteMaster(AxiLiteBus.from_prefix(Port(dut), "s_axil"), dut.clk_i, dut.rst_ni, reset_active_level=False)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)
    return Device(bus)


@cocotb.test()
async def check_transforms(dut: Any) -> None:
    device = await open_device(dut)
    ring = Ring.largest(WIDTH)
    await device.configure(ring)
    for poly in ring.polynomials(8, seed=3):
        values = await device.transform(poly, inverse=False)
        assert values == ring.forward(poly)
        assert await device.transform(values, inverse=True) == poly


@cocotb.test()
async def check_info(dut: Any) -> None:
    device = await open_device(dut)
    assert await device.read("magic") == MAP["magic"].fields[0].reset
    shape = await device.read("shape")
    assert shape & 0xFF == WIDTH
    assert shape >> 8 & 0xF == VARIANT
    assert shape >> 16 & 0xFF == int(os.environ["EXPECTED_LATENCY"])


@cocotb.test()
async def check_refusals(dut: Any) -> None:
    device = await open_device(dut)
    for address in (0x80, 0xFC):
        assert (await device.bus.read(address, 4)).resp == AxiResp.SLVERR
        assert (await device.bus.write(address, b"1234")).resp == AxiResp.SLVERR
    for name in ("magic", "shape", "status", "output"):
        assert (await device.bus.write(MAP[name].address, b"1234")).resp == AxiResp.SLVERR
    assert (await device.bus.read(MAP["control"].address, 4)).resp == AxiResp.SLVERR


@cocotb.test()
async def check_refused_writes_change_nothing(dut: Any) -> None:
    """A part of a word; a start, or a table entry, while a transform runs: refused, and the result is the right one."""
    device = await open_device(dut)
    ring = Ring.largest(WIDTH)
    await device.configure(ring)
    assert (await device.bus.write(MAP["modulus"].address, b"12")).resp == AxiResp.SLVERR
    assert await device.read("modulus") == ring.modulus
    first, second = ring.polynomials(2, seed=4)
    for index, value in enumerate(first):
        await device.write("input", value, index)
    control, twiddle = (MAP[name].address for name in ("control", "twiddle"))
    writes = [(control, 1), (control, 3), (twiddle, 7), (control, 1)]
    pending = [device.bus.init_write(where, value.to_bytes(4, "little")) for where, value in writes]
    for event in pending:
        await event.wait()
    answers = [event.data.resp for event in pending]
    assert answers[0] == AxiResp.OKAY
    for _ in range(100):
        if await device.read("status") & 1:
            break
    # A write that came after the end of the transform was accepted, and the output is another.
    if answers[1:] == [AxiResp.SLVERR] * 3:
        assert [await device.read("output", index) for index in range(8)] == ring.forward(first)
    await device.configure(ring)
    assert await device.transform(second, inverse=False) == ring.forward(second)


@cocotb.test()
async def check_back_pressure(dut: Any) -> None:
    """The same answers with pauses on every channel."""
    device = await open_device(dut)
    pauses = random.Random(6)
    reads, writes = device.bus.read_if, device.bus.write_if
    for channel in (reads.ar_channel, reads.r_channel, writes.aw_channel, writes.w_channel, writes.b_channel):
        channel.set_pause_generator(iter(lambda: pauses.random() < 0.4, None))
    ring = Ring.largest(WIDTH)
    await device.configure(ring)
    for poly in ring.polynomials(3, seed=5):
        assert await device.transform(poly, inverse=False) == ring.forward(poly)


@pytest.mark.hw
@pytest.mark.parametrize(
    ("variant", "width"),
    [(0, 32), (2, 14), *(pytest.param(*shape, marks=pytest.mark.slow) for shape in ((1, 30), (3, 32)))],
)
def test_ntt8_axil(variant: int, width: int) -> None:
    from ringsmith.gen import latency

    expected = latency.value("ntt8_latency", variant=variant, style=1, w=width, minbits=5)
    run_checks(
        "rs_ntt8_axil",
        {"Variant": variant, "W": width},
        env={"EXPECTED_LATENCY": str(expected)},
    )
