# SPDX-License-Identifier: Apache-2.0
"""rs_system: registers and data port of one core without buses: a program, the counters, reset, a waiting transfer."""

from __future__ import annotations

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.axi_lite import axil_read, axil_write, rest_axil
from dv.data_port import DATA_PORT_AT_REST, DataPort
from dv.host import RESET, TRANSFER, Host, check_counters, check_info, program
from dv.instructions import Insn
from dv.parameters import parameter
from dv.stimulus import cycles, start
from dv.structs import Pins
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
QUIET = ("port_busy", "transfer")
UNWRITTEN = 6


class System(Host):
    """Registers through the pins of the slave; data through the core's own port."""

    async def read(self, where: int) -> int:
        return await axil_read(self.dut, where)

    async def write(self, where: int, value: int) -> None:
        assert await axil_write(self.dut, where, value) == 0

    async def serve(self) -> None:
        await cycles(self.dut, 20)


async def started(dut) -> tuple[System, DataPort]:
    await start(dut, **rest_axil(), **DATA_PORT_AT_REST, **{f"{name}_i": 0 for name in QUIET})
    host = System(dut)
    port = DataPort(dut, host)
    port.stutter = True
    cocotb.start_soon(port.serve())
    await host.configure()
    return host, port


@cocotb.test()
async def check_info_block(dut):
    host, _ = await started(dut)
    await check_info(host, serial=bool(parameter("Serial")))
    assert await host.get("ports") >> 16 == parameter("DataWidth")


@cocotb.test()
async def check_program(dut):
    """Buffers are what the definition says, counters tell the work, and the base address goes to the data port."""
    host, port = await started(dut)
    await host.set("dma_base_lo", 0x12345000)
    assert int(dut.dma_base_o.value) == 0x12345000
    insns, given, wanted = program(host, seed=1)
    port.buffers.update(given)
    await host.push(*insns)
    assert await host.wait() & 1
    assert {number: port.buffers[number] for number in wanted} == wanted
    await check_counters(host, len(insns), host.lanes * (1 << host.log2n) // host.p)


@cocotb.test()
async def check_reset(dut):
    """CONTROL.reset holds core and data port in reset, registers not; what was loaded before counts as unwritten."""
    host, port = await started(dut)
    port.buffers[1] = [[3] * (1 << host.log2n)] * host.lanes
    await host.set("dma_base_lo", 0x4000)
    await host.push(Insn("LOAD", 2, buf=1, log2n=host.log2n))
    assert await host.wait() & 1
    assert int(dut.dma_rst_no.value) == 1
    await host.set("control", RESET)
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    assert int(dut.dma_rst_no.value) == 0
    await cycles(dut, 12)
    assert int(dut.dma_rst_no.value) == 1
    assert int(dut.dma_base_o.value) == 0x4000
    await host.configure()
    await host.push(Insn("STORE", a=2, buf=2, log2n=host.log2n))
    await cycles(dut, 50)
    assert await host.get("error") == UNWRITTEN


@cocotb.test()
async def check_transfer(dut):
    """A transfer that waits is in its register and in the status, and raises the interrupt."""
    host, _ = await started(dut)
    await host.set("irq_enable", TRANSFER)
    await host.set("irq_status", 15)
    assert int(dut.irq_o.value) == 0
    waiting = {"valid": 1, "store": 1, "buf_idx": 0x54321, "log2_n": host.log2n}
    Pins(dut).set({f"transfer_i.{field}": value for field, value in waiting.items()})
    await cycles(dut, 3)
    assert int(dut.irq_o.value) == 1
    assert await host.get("transfer") == 1 << 31 | 1 << 28 | host.log2n << 24 | 0x54321
    assert await host.get("status") & TRANSFER


SHAPES = [
    {"W": 30, "P": 2, "Lanes": 2, "NMaxLog2": 4, "MulStyle": 0, "EnPmul": 0, "EnCyclic": 0, "Slots": 4, "Serial": 1},
    {"W": 20, "P": 1, "Lanes": 3, "NMaxLog2": 3, "MulStyle": 0, "EnPmul": 0, "EnCyclic": 0, "Slots": 4, "WidePort": 1},
]


@pytest.mark.parametrize("shape", [SHAPES[0], pytest.param(SHAPES[1], marks=pytest.mark.slow)], ids=str)
def test_system(shape):
    run_checks("rs_system", {**shape, "DataWidth": 64, "BuildHash": "128'h0123456789abcdef0123456789abcdef"})
