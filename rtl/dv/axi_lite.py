# SPDX-License-Identifier: Apache-2.0
"""Registers through an AXI4-Lite slave: the bundles `axil_i` and `axil_o`, or pins with a prefix of their own."""

from __future__ import annotations

from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, RisingEdge

from dv.structs import Pins


def _inputs(prefix: str, **values: int) -> dict[str, int]:
    """Values by the names of the slave's inputs."""
    return {f"{prefix}{name}_i" if prefix else f"axil_i.{name}": value for name, value in values.items()}


def _outputs(pins: Pins, prefix: str, *names: str) -> list[int]:
    return [pins[f"{prefix}{name}_o" if prefix else f"axil_o.{name}"] for name in names]


async def axil_write(dut: SimHandleBase, address: int, value: int, *, prefix: str = "") -> int:
    """Write a register through the slave; the response code."""
    pins = Pins(dut)
    pins.set(_inputs(prefix, awaddr=address, wdata=value, wstrb=15, awvalid=1, wvalid=1, bready=1))
    while True:
        await RisingEdge(dut.clk_i)
        aw, w, b, answer = _outputs(pins, prefix, "awready", "wready", "bvalid", "bresp")
        await FallingEdge(dut.clk_i)
        if aw:
            pins.set(_inputs(prefix, awvalid=0))
        if w:
            pins.set(_inputs(prefix, wvalid=0))
        if b:
            pins.set(_inputs(prefix, bready=0))
            return answer


async def axil_read(dut: SimHandleBase, address: int, *, prefix: str = "") -> int:
    """Read a register through the slave; -1 if the answer is an error."""
    pins = Pins(dut)
    pins.set(_inputs(prefix, araddr=address, arvalid=1, rready=1))
    while True:
        await RisingEdge(dut.clk_i)
        ar, r, data, answer = _outputs(pins, prefix, "arready", "rvalid", "rdata", "rresp")
        await FallingEdge(dut.clk_i)
        if ar:
            pins.set(_inputs(prefix, arvalid=0))
        if r:
            pins.set(_inputs(prefix, rready=0))
            return -1 if answer else data


def rest_axil(prefix: str = "") -> dict[str, int]:
    """Values of the slave's inputs at rest."""
    return _inputs(prefix, awvalid=0, wvalid=0, bready=0, arvalid=0, rready=0) if prefix else {"axil_i": 0}
