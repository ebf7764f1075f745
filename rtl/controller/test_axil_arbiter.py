# SPDX-License-Identifier: Apache-2.0
"""rs_axil_arbiter: accesses of two masters at once reach the slave whole, each with its own answer, in turns."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from dv.stimulus import start
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
REST = ("awvalid", "wvalid", "bready", "arvalid", "rready", "awaddr", "araddr", "wdata", "wstrb")
SLAVE = ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp")


class Pins:
    """Inputs of both masters, of which each sets its own bits."""

    def __init__(self, dut) -> None:
        self.dut, self.values = dut, dict.fromkeys(REST, 0)

    def set(self, name: str, master: int, value: int, width: int = 1) -> None:
        mask = (1 << width) - 1 << width * master
        self.values[name] = self.values[name] & ~mask | value << width * master
        getattr(self.dut, f"s_axil_{name}_i").value = self.values[name]

    def seen(self, name: str, master: int) -> int:
        return int(getattr(self.dut, f"s_axil_{name}_o").value) >> master & 1


async def slave(dut, log: list[tuple[str, int, int]], rng: random.Random) -> None:
    """Answers reads with address + 5, and anything at 0xff0 and above with an error; logs accesses; at random times."""
    write: dict[str, int] = {}
    read: list[int] = []
    while True:
        offer = {name: int(rng.random() < 0.6) for name in ("awready", "wready", "arready")}
        offer["bvalid"] = int(len(write) == 2 and rng.random() < 0.6)
        offer["rvalid"] = int(bool(read) and rng.random() < 0.6)
        for name, value in offer.items():
            getattr(dut, f"axil_{name}_i").value = value
        dut.axil_bresp_i.value = 2 * (write.get("aw", 0) >= 0xFF0)
        dut.axil_rresp_i.value = 2 * (bool(read) and read[0] >= 0xFF0)
        dut.axil_rdata_i.value = read[0] + 5 if read else 0
        await RisingEdge(dut.clk_i)
        taken = {
            name: offer[name] and int(getattr(dut, f"axil_{other}_o").value)
            for name, other in (
                ("awready", "awvalid"), ("wready", "wvalid"), ("arready", "arvalid"), ("bvalid", "bready"),
                ("rvalid", "rready"),
            )
        }  # fmt: skip
        awaddr, wdata, araddr = (int(getattr(dut, f"axil_{n}_o").value) for n in ("awaddr", "wdata", "araddr"))
        strobe = int(dut.axil_wstrb_o.value)
        await FallingEdge(dut.clk_i)
        if taken["bvalid"]:
            log.append(("write", write["aw"], write["w"]))
            write.clear()
        if taken["rvalid"]:
            log.append(("read", read.pop(), 0))
        if taken["awready"]:
            assert "aw" not in write, "a second address before the answer"
            write["aw"] = awaddr
        if taken["wready"]:
            assert "w" not in write, "second data before the answer"
            write["w"] = wdata << 4 | strobe
        if taken["arready"]:
            assert not read, "a second read before the answer"
            read.append(araddr)


async def access(pins: Pins, master: int, kind: str, address: int, data: int, rng: random.Random) -> tuple[int, int]:
    """One access with pauses on every channel; response and data."""
    dut = pins.dut
    channels, answer = (["aw", "w"], "b") if kind == "write" else (["ar"], "r")
    pins.set(f"{channels[0]}addr", master, address, 12)
    if kind == "write":
        pins.set("wdata", master, data, 32)
        pins.set("wstrb", master, data & 15, 4)
    left, offered = set(channels), set()
    for _ in range(300):
        offered |= {channel for channel in left if rng.random() < 0.5}
        for channel in channels:
            pins.set(f"{channel}valid", master, channel in left & offered)
        wants = int(rng.random() < 0.5)
        pins.set(f"{answer}ready", master, wants)
        await RisingEdge(dut.clk_i)
        taken = {channel for channel in left & offered if pins.seen(f"{channel}ready", master)}
        valid = pins.seen(f"{answer}valid", master)
        response = int(getattr(dut, f"s_axil_{answer}resp_o").value)
        word = int(dut.s_axil_rdata_o.value)
        await FallingEdge(dut.clk_i)
        left -= taken
        if valid and wants:
            assert not left
            for channel in channels:
                pins.set(f"{channel}valid", master, 0)
            pins.set(f"{answer}ready", master, 0)
            return response, word
    raise AssertionError(f"master {master}: {kind} at {address:#x} is never answered")


async def master(pins: Pins, number: int, done: list[tuple[str, int, int]], reads: bool) -> None:
    rng = random.Random(10 * number + reads)
    for _ in range(80):
        address, data = 4 * rng.randrange(1024), rng.getrandbits(32)
        kind = "read" if reads else "write"
        response, word = await access(pins, number, kind, address, data, rng)
        assert response == 2 * (address >= 0xFF0)
        assert not reads or word == address + 5
        done.append((kind, address, 0 if reads else data << 4 | data & 15))


@cocotb.test()
async def check_two_masters(dut):
    pins, log, done = Pins(dut), [], []
    await start(dut, **{f"s_axil_{n}_i": 0 for n in REST}, **{f"axil_{n}_i": 0 for n in SLAVE})
    cocotb.start_soon(slave(dut, log, random.Random(1)))
    running = [cocotb.start_soon(master(pins, m, done, reads)) for m in (0, 1) for reads in (False, True)]
    for task in running:
        await task
    # Whole accesses, address and data of one master together, none twice and none lost.
    assert len(log) == 320
    assert sorted(log) == sorted(done)


@cocotb.test()
async def check_turns(dut):
    """A master that asks all the time gives the other one every second turn."""
    pins = Pins(dut)
    await start(dut, **{f"s_axil_{n}_i": 0 for n in REST}, **{f"axil_{n}_i": 0 for n in SLAVE})
    for name in ("arready", "rvalid"):
        getattr(dut, f"axil_{name}_i").value = 0
    for number in (0, 1):
        pins.set("araddr", number, 16 * number, 12)
        pins.set("arvalid", number, 1)
        pins.set("rready", number, 1)
    served = []
    for _ in range(6):
        dut.axil_arready_i.value = 1
        while not int(dut.axil_arvalid_o.value):
            await FallingEdge(dut.clk_i)
        served.append(int(dut.axil_araddr_o.value) // 16)
        await FallingEdge(dut.clk_i)
        dut.axil_arready_i.value = 0
        dut.axil_rvalid_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.axil_rvalid_i.value = 0
        await FallingEdge(dut.clk_i)
    assert served in ([0, 1] * 3, [1, 0] * 3)


def test_axil_arbiter():
    run_checks("rs_axil_arbiter")
