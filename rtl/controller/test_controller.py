# SPDX-License-Identifier: Apache-2.0
"""rs_controller: the firmware feeds programs as the queue has room; wrong accesses stop it with a cause.

The core's registers are a model here: a queue that drains at random, an error when told so.
"""

from __future__ import annotations

import os
import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from dv.axi_lite import axil_read, axil_write, rest_axil
from dv.riscv import LB, LW, SB, SW, addi, halt, jalr, load, lui, store
from dv.stimulus import start
from dv.structs import Pins
from ringsmith.errors import ToolError
from ringsmith.hw import firmware, registers
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
WORDS = 128
BASE = 0x40000  # of the registers, for lui
DONE, FAILED, BUSY = 2, 4, 1
DEPTH = 4


def addresses() -> dict[str, int]:
    """The registers' addresses by name."""
    return {r.name: r.address for stem in registers.BLOCKS for r in registers.load(stem).registers}


class Core:
    """The core's registers behind axil: STATUS, and a command queue of four."""

    def __init__(self, dut, at: dict[str, int]) -> None:
        self.dut, self.at, self.rng, self.pins = dut, at, random.Random(5), Pins(dut)
        self.commands: list[int] = []
        self.queue, self.low, self.failed = 0, 0, False
        cocotb.start_soon(self._serve())

    def status(self) -> int:
        """Free places, failed, idle."""
        return DEPTH - self.queue << 16 | self.failed << 1 | (self.queue == 0)

    def write(self, address: int, value: int) -> int:
        """Take a write; the response."""
        if address == self.at["command_lo"]:
            self.low = value
        elif address == self.at["command_hi"]:
            assert self.queue < DEPTH, "a command into a full queue"
            self.queue += 1
            self.commands.append(value << 32 | self.low)
        elif address != self.at["control"]:
            return 2
        return 0

    async def _serve(self) -> None:
        dut, pins = self.dut, self.pins
        while True:
            await FallingEdge(dut.clk_i)
            if self.queue and self.rng.random() < 0.002:
                self.queue -= 1
            if pins["axil_o.awvalid"] and pins["axil_o.wvalid"]:
                pins.set({"axil_i.bresp": self.write(pins["axil_o.awaddr"], pins["axil_o.wdata"])})
                pins.set({"axil_i.awready": 1, "axil_i.wready": 1})
                await FallingEdge(dut.clk_i)
                pins.set({"axil_i.awready": 0, "axil_i.wready": 0})
                await self._answer("b")
            elif pins["axil_o.arvalid"]:
                known = pins["axil_o.araddr"] == self.at["status"]
                pins.set({"axil_i.rdata": self.status() if known else 0, "axil_i.rresp": 0 if known else 2})
                pins.set({"axil_i.arready": 1})
                await FallingEdge(dut.clk_i)
                pins.set({"axil_i.arready": 0})
                await self._answer("r")

    async def _answer(self, channel: str) -> None:
        pins, taken = self.pins, 0
        for _ in range(self.rng.randrange(3)):
            await FallingEdge(self.dut.clk_i)
        pins.set({f"axil_i.{channel}valid": 1})
        while not taken:
            await RisingEdge(self.dut.clk_i)
            taken = pins[f"axil_o.{channel}ready"]
            await FallingEdge(self.dut.clk_i)
        pins.set({f"axil_i.{channel}valid": 0})


class Host:
    """The host's side."""

    def __init__(self, dut, at: dict[str, int]) -> None:
        self.dut, self.at = dut, at

    async def write(self, name: str, value: int) -> None:
        """Write a register that exists."""
        assert await axil_write(self.dut, self.at[name], value, prefix="s_axil") == 0

    async def read(self, name: str) -> int:
        """Read a register."""
        return await axil_read(self.dut, self.at[name], prefix="s_axil")

    async def fill(self, address: int, words: list[int]) -> None:
        """Write words of the memory."""
        await self.write("controller_address", address)
        for word in words:
            await self.write("controller_data", word)

    async def boot(self, image: list[int]) -> None:
        """Reset the processor, load firmware, let it run."""
        await self.write("controller_control", 0)
        await self.fill(0, image)
        await self.write("controller_control", 1)

    async def start(self, address: int, program: list[int]) -> None:
        """Load a program and start it."""
        await self.fill(address, [half for word in program for half in (word & 0xFFFFFFFF, word >> 32)])
        await self.write("controller_program", len(program) << 16 | address)
        await self.write("controller_control", 3)

    async def ending(self, limit: int = 60_000) -> tuple[int, int, int]:
        """Wait for the interrupt; status, cause, address."""
        for _ in range(limit):
            if int(self.dut.irq_o.value):
                names = ("controller_status", "controller_error", "controller_error_address")
                status, cause, address = [await self.read(name) for name in names]
                return status, cause, address
            await FallingEdge(self.dut.clk_i)
        raise AssertionError("the controller hangs")


async def begin(dut) -> tuple[Core, Host, list[int]]:
    image = bytes.fromhex(os.environ["FIRMWARE"])
    words = [int.from_bytes(image[i : i + 4], "little") for i in range(0, len(image), 4)]
    await start(dut, **rest_axil("s_axil"), axil_i=0)
    at = addresses()
    return Core(dut, at), Host(dut, at), words


@cocotb.test()
async def check_programs(dut):
    core, host, image = await begin(dut)
    assert await host.read("controller") == WORDS
    await host.boot(image)
    rng = random.Random(1)
    for count in (0, 1, 3, 11, (WORDS - len(image)) // 2):
        program = [rng.getrandbits(64) for _ in range(count)]
        core.commands.clear()
        await host.start(4 * len(image), program)
        assert not int(dut.irq_o.value)
        assert await host.ending() == (DONE, 0, 0)
        assert (core.commands, core.queue) == (program, 0)
        # What is in the memory runs again without another word.
        await host.write("controller_control", 3)
        assert await host.read("controller_status") == BUSY
        assert await host.ending() == (DONE, 0, 0)
        assert core.commands == program * 2
        await host.write("controller_control", 5)
        assert not int(dut.irq_o.value)


@cocotb.test()
async def check_errors_of_the_core(dut):
    core, host, image = await begin(dut)
    await host.boot(image)
    core.failed = True
    await host.start(4 * len(image), [1, 2, 3])
    assert await host.ending() == (FAILED, 4, 0)
    core.failed = False
    await host.start(4 * len(image), [4])
    assert await host.ending() == (DONE, 0, 0)
    assert core.commands[-1] == 4
    # A register that does not exist is refused to the host, and changes nothing.
    assert await axil_write(dut, 0x7F0, 1, prefix="s_axil") != 0
    assert await axil_read(dut, 0xFF0, prefix="s_axil") == -1


# First instructions of a firmware, why they stop it, and the address they asked for.
WRONG = [
    ([lui(1, BASE), load(LW, 2, 1, 0x7F0)], 1, 0x400007F0),
    ([lui(1, BASE), store(SW, 0, 1, 0x7F0)], 1, 0x400007F0),
    ([lui(1, BASE + 1), addi(1, 1, -16), load(LW, 2, 1, 0)], 1, 0x40000FF0),
    ([lui(1, BASE + 1), load(LW, 2, 1, 0)], 2, 0x40001000),
    ([lui(1, 0x80000), store(SW, 0, 1, 4)], 2, 0x80000004),
    ([load(LW, 2, 0, 4 * WORDS)], 2, 4 * WORDS),
    ([jalr(0, 0, 4 * WORDS)], 2, 4 * WORDS),
    ([load(LW, 2, 0, 6)], 3, 4),
    ([lui(1, BASE), load(LB, 2, 1, 0x104)], 3, 0x40000104),
    ([lui(1, BASE), store(SB, 2, 1, 0x104)], 3, 0x40000104),
]


@cocotb.test()
async def check_wrong_accesses(dut):
    core, host, image = await begin(dut)
    for code, cause, address in WRONG:
        await host.boot([*code, halt()])
        status, found, where = await host.ending(2_000)
        assert (status, found, where & ~3) == (FAILED, cause, address), f"{code}"
        # It stays stopped, started or not, until it is reset.
        await host.write("controller_control", 3)
        for _ in range(300):
            await FallingEdge(dut.clk_i)
        assert (await host.read("controller_status"), await host.read("controller_error")) == (FAILED, cause)
        await host.boot(image)
        await host.start(4 * len(image), [cause])
        assert await host.ending() == (DONE, 0, where)
        assert core.commands[-1] == cause


@cocotb.test()
async def check_reset_in_midst(dut):
    """The processor is reset while it works, at any time: no access is left over."""
    core, host, image = await begin(dut)
    for wait in range(40, 110):
        await host.boot(image)
        await host.start(4 * len(image), [wait] * 20)
        for _ in range(wait * 7):
            await FallingEdge(dut.clk_i)
        await host.write("controller_control", 0)
        assert await host.read("controller_status") == 0
        given = len(core.commands)
        for _ in range(100):
            await FallingEdge(dut.clk_i)
        assert len(core.commands) <= given + 1


@pytest.mark.parametrize(
    "check", ["check_programs", "check_errors_of_the_core", "check_wrong_accesses", "check_reset_in_midst"]
)
def test_controller(check):
    try:
        image = firmware.build()
    except ToolError as error:
        pytest.skip(str(error))
    run_checks("rs_controller", {"Words": WORDS}, checks=check, env={"FIRMWARE": image.hex()}, optimise="-O1")
