# SPDX-License-Identifier: Apache-2.0
"""Registers through the AXI4-Lite slave pins of the host shell."""

from __future__ import annotations

from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, RisingEdge


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
