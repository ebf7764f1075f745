# SPDX-License-Identifier: Apache-2.0
import random

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge

from dv.serial_frames import FRAME, entries
from dv.stimulus import start
from dv.structs import Pins
from ringsmith.hw.cocotb_runner import run_checks

REST = ("command_i", "in_valid_i", "din_left_i", "din_ready_i", "dout_left_i", "dout_valid_i", "axil_i")


async def register_bus(dut, words: dict[int, int]) -> None:
    """An AXI4-Lite slave with registers at 0 to 0xff0 and random waits; elsewhere it answers an error."""
    rng, pins = random.Random(1), Pins(dut)

    async def wait() -> None:
        for _ in range(rng.randrange(4)):
            await FallingEdge(dut.clk_i)

    async def pulse(answer: str, request: str) -> None:
        await wait()
        while not pins[f"axil_o.{request}"]:
            await FallingEdge(dut.clk_i)
        pins.set({f"axil_i.{answer}": 1})
        await FallingEdge(dut.clk_i)
        pins.set({f"axil_i.{answer}": 0})

    while True:
        await FallingEdge(dut.clk_i)
        if pins["axil_o.awvalid"]:
            where, value = pins["axil_o.awaddr"], pins["axil_o.wdata"]
            assert pins["axil_o.wstrb"] == 15
            await pulse("wready", "wvalid")
            await pulse("awready", "awvalid")
            words[where] = value
            pins.set({"axil_i.bresp": 0 if where < 0xFF0 else 2})
            await pulse("bvalid", "bready")
        elif pins["axil_o.arvalid"]:
            where = pins["axil_o.araddr"]
            await pulse("arready", "arvalid")
            pins.set({"axil_i.rdata": words.get(where, 0), "axil_i.rresp": 0 if where < 0xFF0 else 2})
            await pulse("rvalid", "rready")


async def begin(dut) -> dict[int, int]:
    words: dict[int, int] = {}
    await start(dut, **dict.fromkeys(REST, 0))
    cocotb.start_soon(register_bus(dut, words))
    return words


async def do(dut, kind: int, *, address: int = 0, length: int = 0, data: bytes = b"") -> bytes | None:
    """Have a command done; the data of its answer, None if it is refused."""
    pins, rng, out = Pins(dut), random.Random(kind), bytearray()
    given = 0
    fields = {"valid": 1, "kind": kind, "length": len(data) or length, "address": address}
    pins.set({f"command_i.{name}": value for name, value in fields.items()})
    while True:
        offered = given < len(data) and rng.random() < 0.7
        pins.set({"in_valid_i": offered, "in_data_i": data[given] if offered else rng.randrange(256)})
        await RisingEdge(dut.clk_i)
        given += offered and pins["in_ready_o"]
        if pins["out_valid_o"]:
            out.append(pins["out_data_o"])
        done, refused = pins["done_o"], pins["refused_o"]
        await FallingEdge(dut.clk_i)
        if done:
            pins.set({"command_i.valid": 0, "in_valid_i": 0})
            await FallingEdge(dut.clk_i)
            assert refused or given == len(data)
            return None if refused else bytes(out)


@cocotb.test()
async def check_registers(dut):
    words = await begin(dut)
    assert await do(dut, FRAME.Greet) == bytes([FRAME.Version, 11])
    writes = [(0x124, 0x12345678), (0x128, 9), (0x12C, 0xFFFFFFFF)]
    assert await do(dut, FRAME.WriteReg, data=entries(writes)) == b""
    assert words == dict(writes)
    wanted = b"".join(value.to_bytes(4, "little") for _, value in writes)
    assert await do(dut, FRAME.ReadReg, address=0x124, length=12) == wanted
    assert await do(dut, FRAME.ReadReg, address=0x128, length=4) == wanted[4:8]


@cocotb.test()
async def check_refusals(dut):
    """What is no register ends a command, as a length does that is none of registers."""
    words = await begin(dut)
    assert await do(dut, FRAME.ReadReg, address=0xFF4, length=4) is None
    assert await do(dut, FRAME.ReadReg, address=0xFEC, length=8) is None
    assert await do(dut, FRAME.ReadReg, address=0x124, length=6) is None
    assert await do(dut, FRAME.WriteReg, data=entries([(0x10, 1), (0xFF0, 2), (0x14, 3)])) is None
    assert 0x10 in words
    assert 0x14 not in words
    for cut in range(1, 6):
        assert await do(dut, FRAME.WriteReg, data=entries([(0x20, 1), (0x24, 2)])[: 6 + cut]) is None
    assert 0x24 not in words
    assert await do(dut, FRAME.WriteReg, data=entries([(0x24, 2)])) == b""


@cocotb.test()
async def check_data(dut):
    """LOAD data pass on byte by byte; too many, or none waiting: refused, and nothing passes. So of STORE."""
    await begin(dut)
    seen, rng = bytearray(), random.Random(5)

    async def core() -> None:
        while True:
            dut.din_ready_i.value = int(rng.random() < 0.6)
            await RisingEdge(dut.clk_i)
            if int(dut.din_valid_o.value) and int(dut.din_ready_i.value):
                seen.append(int(dut.din_data_o.value))
            await FallingEdge(dut.clk_i)

    cocotb.start_soon(core())
    dut.din_left_i.value = 6
    assert await do(dut, FRAME.WriteData, data=bytes(range(1, 7))) == b""
    assert await do(dut, FRAME.WriteData, data=bytes(7)) is None
    dut.din_left_i.value = 0
    assert await do(dut, FRAME.WriteData, data=b"\7") is None
    assert seen == bytes(range(1, 7))
    assert await do(dut, FRAME.ReadData, length=2) is None
    dut.dout_left_i.value, dut.dout_data_i.value = 300, 0x77

    async def give() -> None:
        while True:
            dut.dout_valid_i.value = int(rng.random() < 0.6)
            await FallingEdge(dut.clk_i)

    cocotb.start_soon(give())
    assert await do(dut, FRAME.ReadData, length=258) == b"\x77" * 258


@cocotb.test()
async def check_a_transfer_taken_back(dut):
    """A reset of the core in the middle of its data ends the command, refused."""
    await begin(dut)
    for kind, left in ((FRAME.WriteData, dut.din_left_i), (FRAME.ReadData, dut.dout_left_i)):
        left.value = 9
        data = bytes(9) if kind == FRAME.WriteData else b""
        running = cocotb.start_soon(do(dut, kind, length=9, data=data))
        for _ in range(6):
            await FallingEdge(dut.clk_i)
        left.value = 0
        assert await running is None


def test_serial_bridge():
    run_checks("rs_serial_bridge")
