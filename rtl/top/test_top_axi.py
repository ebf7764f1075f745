# SPDX-License-Identifier: Apache-2.0
"""rs_top_axi through its two buses alone: info block, tables, a program on polynomials in memory, a bus error."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from dv.axi_lite import axil_read, axil_write, rest_axil
from dv.host import CLEAR, RESET, Host, check_counters, check_info, program
from dv.instructions import TABLE, Insn
from dv.parameters import parameter
from dv.stimulus import cycles, start
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
BASE = 0x12345000
MEMORY_BYTES = 1 << 16
OKAY, SLVERR = 0, 2


class Memory:
    """Host memory behind the AXI4 master: bursts one at a time, pauses, errors beyond its end; checks the protocol."""

    def __init__(self, dut) -> None:
        self.dut, self.data, self.random = dut, bytearray(MEMORY_BYTES), random.Random(5)
        self.beat = len(dut.m_axi_rdata_i) // 8
        self.base, self.beats_read = BASE, 0
        cocotb.start_soon(self._reads())
        cocotb.start_soon(self._writes())

    async def _pause(self) -> None:
        while self.random.random() < 0.3:
            await FallingEdge(self.dut.clk_i)

    async def _address(self, channel: str) -> tuple[int, int]:
        """Take a burst's address: where it starts in this memory and its beats."""
        dut = self.dut
        valid, ready = getattr(dut, f"m_axi_{channel}valid_o"), getattr(dut, f"m_axi_{channel}ready_i")
        while not int(valid.value):
            await FallingEdge(dut.clk_i)
        await self._pause()
        where, beats, size, burst = (
            int(getattr(dut, f"m_axi_{channel}{name}_o").value) for name in ("addr", "len", "size", "burst")
        )
        beats += 1
        assert (1 << size, burst) == (self.beat, 1)
        assert where % self.beat == 0
        assert where // 4096 == (where + beats * self.beat - 1) // 4096
        ready.value = 1
        await FallingEdge(dut.clk_i)
        ready.value = 0
        return where - self.base, beats

    async def _reads(self) -> None:
        dut = self.dut
        while True:
            where, beats = await self._address("ar")
            self.beats_read += beats
            for beat in range(beats):
                await self._pause()
                at = where + beat * self.beat
                inside = 0 <= at < MEMORY_BYTES
                word = self.data[at : at + self.beat] if inside else b"\xee" * self.beat
                dut.m_axi_rdata_i.value = int.from_bytes(word, "little")
                dut.m_axi_rresp_i.value, dut.m_axi_rlast_i.value = (OKAY if inside else SLVERR), beat == beats - 1
                dut.m_axi_rvalid_i.value, taken = 1, 0
                while not taken:
                    await RisingEdge(dut.clk_i)
                    taken = int(dut.m_axi_rready_o.value)
                    await FallingEdge(dut.clk_i)
                dut.m_axi_rvalid_i.value = 0

    async def _writes(self) -> None:
        dut = self.dut
        while True:
            where, beats = await self._address("aw")
            for beat in range(beats):
                await self._pause()
                dut.m_axi_wready_i.value, taken = 1, 0
                while not taken:
                    await RisingEdge(dut.clk_i)
                    taken, word = int(dut.m_axi_wvalid_o.value), int(dut.m_axi_wdata_o.value)
                    strobe, last = int(dut.m_axi_wstrb_o.value), int(dut.m_axi_wlast_o.value)
                    await FallingEdge(dut.clk_i)
                dut.m_axi_wready_i.value = 0
                assert (strobe, last) == ((1 << self.beat) - 1, beat == beats - 1)
                at = where + beat * self.beat
                self.data[at : at + self.beat] = word.to_bytes(self.beat, "little")
            dut.m_axi_bresp_i.value, dut.m_axi_bvalid_i.value, taken = OKAY, 1, 0
            while not taken:
                await RisingEdge(dut.clk_i)
                taken = int(dut.m_axi_bready_o.value)
                await FallingEdge(dut.clk_i)
            dut.m_axi_bvalid_i.value = 0


class AxiHost(Host):
    """Registers of a core over AXI4-Lite; data go their own way."""

    def __init__(self, dut, core: int = 0) -> None:
        super().__init__(dut)
        self.window = core << 12

    async def read(self, where: int) -> int:
        return await axil_read(self.dut, self.window + where, prefix="s_axil_")

    async def write(self, where: int, value: int) -> None:
        assert await axil_write(self.dut, self.window + where, value, prefix="s_axil_") == OKAY

    async def serve(self) -> None:
        await cycles(self.dut, 20)


async def started(dut) -> tuple[AxiHost, Memory]:
    quiet = ("arready", "rvalid", "rdata", "rresp", "rlast", "awready", "wready", "bvalid", "bresp")
    await start(dut, **rest_axil("s_axil_"), **{f"m_axi_{name}_i": 0 for name in quiet})
    host, memory = AxiHost(dut), Memory(dut)
    await host.set("dma_base_lo", BASE)
    await host.configure()
    return host, memory


async def run_program(host: AxiHost, memory: Memory, seed: int) -> None:
    """Run the common program; the buffers it leaves are right, and nothing else has changed."""
    insns, given, wanted = program(host, seed)
    host.lay(memory.data, given)
    expected = bytearray(memory.data)
    host.lay(expected, wanted)
    await host.push(*insns)
    assert await host.wait() & 1
    assert await host.get("error") == 0
    assert memory.data == expected


@cocotb.test()
async def check_info_block(dut):
    host, _ = await started(dut)
    await check_info(host, serial=False)
    assert await host.get("ports") >> 16 == len(dut.m_axi_rdata_i)


@cocotb.test()
async def check_programs(dut):
    """Two programs in a row, the second after a reset; the interrupt comes when asked for."""
    host, memory = await started(dut)
    await host.set("irq_enable", 1)
    await host.set("irq_status", 15)
    assert int(dut.irq_o.value) == 0
    await run_program(host, memory, 1)
    assert int(dut.irq_o.value) == 1
    await check_counters(host, 8, host.lanes * (1 << host.log2n) // parameter("P"))
    await host.set("irq_status", 1)
    assert int(dut.irq_o.value) == 0
    await host.set("control", RESET)
    await cycles(dut, 12)
    await host.configure()
    await run_program(host, memory, 2)


@cocotb.test()
async def check_bus_error(dut):
    """A bus error stops the program with its cause, index and instruction; clear makes the core usable again."""
    host, memory = await started(dut)
    common = {"log2n": host.log2n}
    beyond = Insn("LOAD", 3, buf=MEMORY_BYTES // host.start_of(1), **common)
    await host.push(Insn("LOAD", 2, buf=0, **common), beyond, Insn("LOAD", TABLE, buf=0, **common))
    while not await host.wait() & 2:
        pass
    assert (await host.get("error"), await host.get("error_index")) == (7, 1)
    assert await host.get("error_command") | await host.get("error_command", 1) << 32 == beyond.word()
    await host.set("control", CLEAR)
    await run_program(host, memory, 3)


@cocotb.test()
async def check_addresses(dut):
    """Bits that no address has read 0; a host buffer that ends beyond the last address stops the program, untouched."""
    host, memory = await started(dut)
    bits = parameter("AddrWidth", 40)
    assert await host.get("host_port") == bits == len(dut.m_axi_araddr_o)
    for half in ("dma_base_hi", "dma_base_lo"):
        await host.set(half, 0xFFFFFFFF)
    assert await host.get("dma_base_hi") << 32 | await host.get("dma_base_lo") == (1 << bits) - 4096
    memory.base = (1 << bits) - 4096
    common = {"log2n": host.log2n}
    fits = 4096 // host.start_of(1)
    for beyond in (Insn("STORE", a=2, buf=fits, **common), Insn("LOAD", 3, buf=fits, **common)):
        before = bytearray(memory.data)
        read = memory.beats_read
        await host.push(Insn("LOAD", 2, buf=0, **common), Insn("STORE", a=2, buf=fits - 1, **common), beyond)
        while not await host.wait() & 2:
            pass
        assert (await host.get("error"), await host.get("error_index")) == (9, 2)
        while not await host.get("status") & 1:
            pass
        host.lay(before, {fits - 1: [[0] * (1 << host.log2n)] * host.lanes})
        assert memory.data == before
        assert (memory.beats_read - read) * memory.beat == host.start_of(1)
        await host.set("control", CLEAR)
    await host.set("dma_base_hi", 1 << 12)
    assert await host.get("dma_base_hi") == (1 << 12 if bits > 44 else 0)


async def all_cores(host: AxiHost, bases: list[int]) -> list[AxiHost]:
    """Every core with moduli and the start of its host buffers set."""
    hosts = [host, *(AxiHost(host.dut, core) for core in range(1, parameter("Cores", 1)))]
    for other, base in zip(hosts, bases, strict=True):
        assert await other.get("shape") >> 28 == len(hosts)
        await other.set("dma_base_lo", base)
        await other.configure()
    return hosts


async def run_on_all(hosts: list[AxiHost], memory: Memory, places: list[int], seeds: list[int]) -> None:
    """Run the common program on every core at the same time, each with its buffers and seed; memory is right."""
    programs = [program(host, seed) for host, seed in zip(hosts, seeds, strict=True)]
    expected = None
    for wanted in (False, True):
        data = bytearray(memory.data)
        for host, place, (_, given, left) in zip(hosts, places, programs, strict=True):
            part = bytearray(data[place:])
            host.lay(part, left if wanted else given)
            data[place:] = part
        if wanted:
            expected = data
        else:
            memory.data[:] = data
    for insns in zip(*(insns for insns, _, _ in programs), strict=True):
        for host, insn in zip(hosts, insns, strict=True):
            await host.push(insn)
    for host in hosts:
        assert await host.wait() & 1
        assert await host.get("error") == 0
        await check_counters(host, 8, host.lanes * (1 << host.log2n) // parameter("P"))
    assert memory.data == expected


@cocotb.test()
async def check_cores(dut):
    """Cores work at the same time, each on its own buffers; what they load in common is fetched once."""
    count = parameter("Cores", 1)
    if count == 1:
        return
    host, memory = await started(dut)
    places = [core << 12 for core in range(count)]
    hosts = await all_cores(host, [BASE + place for place in places])
    await run_on_all(hosts, memory, places, list(range(count)))
    apart = memory.beats_read
    for other in hosts:
        await other.set("control", CLEAR)
    hosts = await all_cores(host, [BASE] * count)
    await run_on_all(hosts, memory, [0] * count, [7] * count)
    # All wait for the first LOAD while the host fills their queues.
    assert memory.beats_read - apart < apart
    assert await axil_read(dut, (1 << (count - 1).bit_length()) - 1 << 12, prefix="s_axil_") == (
        0x52534350 if count & (count - 1) == 0 else -1
    )


SHAPES = [
    {
        "W": 30,
        "P": 2,
        "Lanes": 2,
        "NMaxLog2": 5,
        "MulStyle": 0,
        "EnPmul": 0,
        "EnCyclic": 0,
        "Slots": 4,
        "AddrWidth": 64,
    },
    {"W": 64, "P": 1, "Lanes": 1, "NMaxLog2": 4, "MulStyle": 1, "Slots": 5},
    # A beat of a word of every lane, and rows of two beats.
    {"W": 30, "P": 2, "Lanes": 3, "NMaxLog2": 5, "MulStyle": 0, "EnPmul": 0, "EnCyclic": 0, "Slots": 4, "WidePort": 1},
    {"W": 64, "P": 8, "Lanes": 3, "NMaxLog2": 5, "MulStyle": 0, "EnPmul": 0, "Slots": 4, "WidePort": 1},
    # Several cores.
    {
        "W": 30,
        "P": 2,
        "Lanes": 2,
        "NMaxLog2": 5,
        "MulStyle": 0,
        "EnPmul": 0,
        "EnCyclic": 0,
        "Slots": 4,
        "Cores": 2,
        "AddrWidth": 33,
    },
    {"W": 30, "P": 2, "Lanes": 3, "NMaxLog2": 5, "MulStyle": 0, "Slots": 4, "WidePort": 1, "Cores": 3},
]
SLOW = [pytest.param(SHAPES[at], marks=pytest.mark.slow) for at in (1, 3, 5)]


@pytest.mark.parametrize("shape", [SHAPES[0], SHAPES[2], SHAPES[4], *SLOW], ids=str)
def test_top_axi(shape):
    run_checks("rs_top_axi", {**shape, "BuildHash": "128'h0123456789abcdef0123456789abcdef"})
