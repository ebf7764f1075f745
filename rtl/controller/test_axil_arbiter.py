# SPDX-License-Identifier: Apache-2.0
"""rs_axil_arbiter: accesses of two masters at once reach the slave whole, each with its own answer, in turns."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from dv.stimulus import start
from dv.structs import Pins
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw


async def slave(dut, log: list[tuple[str, int, int]], rng: random.Random) -> None:
    """Answers reads with address + 5, and anything at 0xff0 and above with an error; logs accesses; at random times."""
    write: dict[str, int] = {}
    read: list[int] = []
    pins = Pins(dut)
    while True:
        offer = {name: int(rng.random() < 0.6) for name in ("awready", "wready", "arready")}
        offer["bvalid"] = int(len(write) == 2 and rng.random() < 0.6)
        offer["rvalid"] = int(bool(read) and rng.random() < 0.6)
        answers = {"bresp": 2 * (write.get("aw", 0) >= 0xFF0), "rresp": 2 * (bool(read) and read[0] >= 0xFF0)}
        answers["rdata"] = read[0] + 5 if read else 0
        pins.set({f"axil_i.{name}": value for name, value in {**offer, **answers}.items()})
        await RisingEdge(dut.clk_i)
        taken = {
            name: offer[name] and pins[f"axil_o.{other}"]
            for name, other in (
                ("awready", "awvalid"), ("wready", "wvalid"), ("arready", "arvalid"), ("bvalid", "bready"),
                ("rvalid", "rready"),
            )
        }  # fmt: skip
        awaddr, wdata, araddr, strobe = (pins[f"axil_o.{name}"] for name in ("awaddr", "wdata", "araddr", "wstrb"))
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
    request, reply = f"s_axil_i[{master}]", f"s_axil_o[{master}]"
    pins.set({f"{request}.{channels[0]}addr": address})
    if kind == "write":
        pins.set({f"{request}.wdata": data, f"{request}.wstrb": data & 15})
    left, offered = set(channels), set()
    for _ in range(300):
        offered |= {channel for channel in left if rng.random() < 0.5}
        wants = rng.random() < 0.5
        pins.set({f"{request}.{channel}valid": channel in left & offered for channel in channels})
        pins.set({f"{request}.{answer}ready": wants})
        await RisingEdge(dut.clk_i)
        taken = {channel for channel in left & offered if pins[f"{reply}.{channel}ready"]}
        valid, response, word = (pins[f"{reply}.{name}"] for name in (f"{answer}valid", f"{answer}resp", "rdata"))
        await FallingEdge(dut.clk_i)
        left -= taken
        if valid and wants:
            assert not left
            pins.set(
                {f"{request}.{name}": 0 for name in (*(f"{channel}valid" for channel in channels), f"{answer}ready")}
            )
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
    await start(dut, s_axil_i=0, axil_i=0)
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
    await start(dut, s_axil_i=0, axil_i=0)
    for number in (0, 1):
        request = {"araddr": 16 * number, "arvalid": 1, "rready": 1}
        pins.set({f"s_axil_i[{number}].{name}": value for name, value in request.items()})
    served = []
    for _ in range(6):
        pins.set({"axil_i.arready": 1})
        while not pins["axil_o.arvalid"]:
            await FallingEdge(dut.clk_i)
        served.append(pins["axil_o.araddr"] // 16)
        await FallingEdge(dut.clk_i)
        pins.set({"axil_i.arready": 0, "axil_i.rvalid": 1})
        await FallingEdge(dut.clk_i)
        pins.set({"axil_i.rvalid": 0})
        await FallingEdge(dut.clk_i)
    assert served in ([0, 1] * 3, [1, 0] * 3)


def test_axil_arbiter():
    run_checks("rs_axil_arbiter")
