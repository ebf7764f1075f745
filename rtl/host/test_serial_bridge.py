# SPDX-License-Identifier: Apache-2.0
import random

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge

from dv.stimulus import receive, send, start
from dv.structs import Pins
from ringsmith.hw.cocotb_runner import run_checks

OK, BAD = 0xA5, 0x5A


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
    rest = dict.fromkeys(
        ("abort_i", "rx_valid_i", "tx_ready_i", "din_left_i", "din_ready_i", "dout_left_i", "dout_valid_i", "axil_i"), 0
    )
    await start(dut, **rest)
    cocotb.start_soon(register_bus(dut, words))
    return words


async def frame(dut, data: list[int], answer: int) -> list[int]:
    await send(dut, "rx_valid_i", "rx_ready_o", [{"rx_data_i": b} for b in data], random.Random(2))
    return [b for (b,) in await receive(dut, "tx_valid_o", "tx_ready_i", ["tx_data_o"], answer, random.Random(3))]


@cocotb.test()
async def check_registers(dut):
    words = await begin(dut)
    assert await frame(dut, [0x00, 0xFF, 0x10, 0x24, 0x01, 0x78, 0x56, 0x34, 0x12], 1) == [OK]
    assert words == {0x124: 0x12345678}
    assert await frame(dut, [0x11, 0x24, 0x01], 5) == [OK, 0x78, 0x56, 0x34, 0x12]
    assert await frame(dut, [0x11, 0xF4, 0x0F], 1) == [BAD]
    assert await frame(dut, [0x10, 0xF4, 0x0F, 0, 0, 0, 0], 1) == [BAD]
    assert await frame(dut, [0x42], 1) == [BAD]
    assert await frame(dut, [0x11, 0x24, 0x01], 5) == [OK, 0x78, 0x56, 0x34, 0x12]


@cocotb.test()
async def check_data(dut):
    """LOAD data pass on byte by byte; too many, none waiting, or no room for them: Bad, and nothing passes."""
    await begin(dut)
    seen: list[int] = []

    async def watch() -> None:
        while True:
            await RisingEdge(dut.clk_i)
            if int(dut.din_valid_o.value) and int(dut.din_ready_i.value):
                seen.append(int(dut.din_data_o.value))

    cocotb.start_soon(watch())
    dut.din_left_i.value, dut.din_ready_i.value = 6, 1
    assert await frame(dut, [0x20, 6, 0, 0, 0, 1, 2, 3, 4, 5, 6], 1) == [OK]
    assert seen == [1, 2, 3, 4, 5, 6]
    assert await frame(dut, [0x20, 7, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7], 1) == [BAD]
    dut.din_left_i.value = 0
    assert await frame(dut, [0x20, 1, 0, 0, 0, 9], 1) == [BAD]
    assert seen == [1, 2, 3, 4, 5, 6]
    dut.din_left_i.value, dut.din_ready_i.value = 6, 0
    assert await frame(dut, [0x20, 2, 0, 0, 0, 7, 8], 1) == [BAD]
    assert await frame(dut, [0x21, 2, 0, 0, 0], 1) == [BAD]
    dut.dout_left_i.value, dut.dout_valid_i.value, dut.dout_data_i.value = 300, 1, 0x77
    assert await frame(dut, [0x21, 0x02, 0x01, 0, 0], 259) == [OK] + [0x77] * 258


@cocotb.test()
async def check_abort(dut):
    """An aborted frame leaves nothing behind, wherever it is cut."""
    words = await begin(dut)
    whole = [0x10, 0x24, 0x01, 0x78, 0x56, 0x34, 0x12]
    for cut in range(1, len(whole)):
        await send(dut, "rx_valid_i", "rx_ready_o", [{"rx_data_i": b} for b in whole[:cut]], random.Random(4))
        dut.abort_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.abort_i.value = 0
        assert int(dut.between_o.value) == 1
    assert words == {}
    assert await frame(dut, whole, 1) == [OK]
    assert words == {0x124: 0x12345678}


@cocotb.test()
async def check_abort_of_an_access(dut):
    """A register access whose frame is aborted is finished, and its answer is not that of the next frame."""
    words = await begin(dut)
    for delay in range(14):
        for whole in ([0x10, 0x24, 0x01, delay, 0, 0, 0], [0x11, 0x24, 0x01]):
            await send(dut, "rx_valid_i", "rx_ready_o", [{"rx_data_i": b} for b in whole], random.Random(4))
            for _ in range(delay):
                await FallingEdge(dut.clk_i)
            dut.abort_i.value = 1
            await FallingEdge(dut.clk_i)
            dut.abort_i.value = 0
            while not int(dut.between_o.value):
                assert not int(dut.tx_valid_o.value)
                await FallingEdge(dut.clk_i)
        assert words == {0x124: delay}
        assert await frame(dut, [0x11, 0x24, 0x01], 5) == [OK, delay, 0, 0, 0]


def test_serial_bridge():
    run_checks("rs_serial_bridge")
