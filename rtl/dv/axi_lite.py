# SPDX-License-Identifier: Apache-2.0
"""Registers through an AXI4-Lite slave: `prefix` is `axil` for the bundles `axil_i`, `axil_o`, `s_axil_` for pins."""

from __future__ import annotations

from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, RisingEdge

from dv.structs import Pins


def _pin(prefix: str, name: str, side: str) -> str:
    return f"{prefix}{name}_{side}" if prefix.endswith("_") else f"{prefix}_{side}.{name}"


def _inputs(prefix: str, **values: int) -> dict[str, int]:
    """Values by the names of the slave's inputs."""
    return {_pin(prefix, name, "i"): value for name, value in values.items()}


def _outputs(pins: Pins, prefix: str, *names: str) -> list[int]:
    return [pins[_pin(prefix, name, "o")] for name in names]


async def axil_write(dut: SimHandleBase, address: int, value: int, *, prefix: str = "axil") -> int:
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


async def axil_read(dut: SimHandleBase, address: int, *, prefix: str = "axil") -> int:
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


def rest_axil(prefix: str = "axil") -> dict[str, int]:
    """Values of the slave's inputs at rest."""
    return (
        _inputs(prefix, awvalid=0, wvalid=0, bready=0, arvalid=0, rready=0)
        if prefix.endswith("_")
        else {f"{prefix}_i": 0}
    )
