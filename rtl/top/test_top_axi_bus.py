# SPDX-License-Identifier: Apache-2.0
"""rs_top_axi between two independent bus models that pause on every channel: programs, errors, resets anywhere."""

from __future__ import annotations

import os
import random

import cocotb
import pytest
from cocotb.triggers import with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp
from test_top_axi import SHAPES, SLOW

from dv.axi_lite import rest_axil
from dv.axi_memory import SLAVE_AT_REST, AxiMemory, Pins
from dv.host import CLEAR, FAILED, RESET, Host, program
from dv.instructions import TABLE, Insn
from dv.stimulus import PERIOD_NS, cycles, start
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
BASE = 0x12345000
MEMORY_BYTES = 1 << 14
SEED = int(os.environ.get("AXI_SEED", "1"))
IDLE = 1


class BusHost(Host):
    """Registers by cocotbext-axi's AXI4-Lite master, polynomials in a slave of its own."""

    def __init__(self, dut) -> None:
        """Attach both models."""
        super().__init__(dut)
        self.random = random.Random(SEED)
        lite = AxiLiteBus.from_prefix(Pins(dut, "s_axil"), "s_axil")
        self.bus = AxiLiteMaster(lite, dut.clk_i, dut.rst_ni, reset_active_level=False)
        reads, writes = self.bus.read_if, self.bus.write_if
        for channel in (reads.ar_channel, reads.r_channel, writes.aw_channel, writes.w_channel, writes.b_channel):
            channel.set_pause_generator(iter(lambda: self.random.random() < 0.3, None))
        self.memory = AxiMemory(dut, Pins(dut, "m_axi"), BASE, MEMORY_BYTES, SEED)

    async def read(self, where: int) -> int:
        """Read a register."""
        return await with_timeout(cocotb.start_soon(self.bus.read_dword(where)), 2000 * PERIOD_NS, "ns")

    async def write(self, where: int, value: int) -> None:
        """Write a register."""
        answer = await self.bus.write(where, value.to_bytes(4, "little"))
        assert answer.resp == AxiResp.OKAY

    async def serve(self) -> None:
        """Data go their own way."""
        await cycles(self.dut, 20)

    def put(self, buffers: dict[int, list[list[int]]]) -> None:
        """Write polynomials to host memory."""
        self.lay(self.memory.data, buffers)

    async def reset(self) -> None:
        """Reset the core, once or twice in a row, wait for idle and write the tables again."""
        for _ in range(1 + self.random.randrange(2)):
            await self.set("control", RESET)
        assert not await self.wait() & FAILED
        await self.configure()


async def started(dut) -> BusHost:
    await start(dut, **rest_axil("s_axil_"), **SLAVE_AT_REST)
    host = BusHost(dut)
    await host.set("dma_base_lo", BASE)
    while not await host.get("status") & IDLE:
        pass
    await host.configure()
    return host


async def run_program(host: BusHost, seed: int) -> None:
    """Run the common program; the buffers it leaves are right, and nothing else has changed."""
    insns, given, wanted = program(host, seed)
    host.put(given)
    before = bytes(host.memory.data)
    await host.push(*insns)
    assert await host.wait() & IDLE
    assert await host.get("error") == 0
    found = bytes(host.memory.data)
    host.memory.data[:] = before
    host.put(wanted)
    assert bytes(host.memory.data) == found


@cocotb.test()
async def check_programs(dut):
    """Two programs, the second on a slave that takes the address of a burst only after its data."""
    host = await started(dut)
    await run_program(host, SEED)
    host.memory.data_first()
    await run_program(host, SEED + 1)


@cocotb.test()
async def check_resets(dut):
    """CONTROL.reset in a LOAD, a STORE, a transform or nothing: idle means a quiet bus, and programs are right."""
    host = await started(dut)
    common = {"log2n": host.log2n}
    for number in range(8):
        insns, given, _ = program(host, SEED + number)
        host.put(given)
        begun = [insns[0:2], [*insns[0:3], Insn("STORE", a=2, buf=3, **common)], insns[0:3], []][number % 4]
        await host.push(*begun)
        await cycles(dut, host.random.randrange(400))
        await host.reset()
        assert not any(
            int(pin.value) for pin in (dut.m_axi_arvalid_o, dut.m_axi_awvalid_o, dut.m_axi_wvalid_o, dut.m_axi_rvalid_i)
        )
        await run_program(host, SEED + 20 + number)


@cocotb.test()
async def check_bus_errors(dut):
    """SLVERR in the middle of a LOAD and of a STORE: cause and place, then the core works on after a clear."""
    host = await started(dut)
    common = {"log2n": host.log2n}
    beat = len(dut.m_axi_rdata_i) // 8
    at = host.start_of(1) + host.start_of(1) // 2
    for insn in (Insn("LOAD", 3, buf=1, **common), Insn("STORE", a=2, buf=1, **common)):
        host.memory.bad = range(at, at + beat)
        await host.set("control", CLEAR)
        await host.push(Insn("LOAD", 2, buf=0, **common), insn, Insn("LOAD", TABLE, buf=0, **common))
        while not await host.wait() & FAILED:
            pass
        assert (await host.get("error"), await host.get("error_index")) == (7, 1)
        host.memory.bad = range(0)
        await host.set("control", CLEAR)
        await run_program(host, SEED + 40)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
@pytest.mark.parametrize("shape", [SHAPES[0], SHAPES[2], *SLOW], ids=str)
def test_top_axi_bus(shape: dict[str, int], seed: int) -> None:
    build = {**shape, "BuildHash": "128'h0123456789abcdef0123456789abcdef"}
    run_checks("rs_top_axi", build, env={"AXI_SEED": str(seed)})
