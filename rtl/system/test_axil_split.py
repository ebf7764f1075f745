# SPDX-License-Identifier: Apache-2.0
"""rs_axil_split: each access reaches the core of its window, in any order of address and data; others are refused."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from dv.axi_lite import rest_axil
from dv.parameters import parameter
from dv.stimulus import start
from dv.structs import Pins
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
OKAY, DECODE_ERROR = 0, 3


class Cores:
    """Registers of all cores: each takes address and data when it likes, and answers later."""

    def __init__(self, dut) -> None:
        self.dut, self.count, self.rng, self.pins = dut, parameter("Cores"), random.Random(3), Pins(dut)
        self.written: list[tuple[int, int]] = []
        self.read: list[int] = []
        cocotb.start_soon(self._serve())

    async def _serve(self) -> None:
        dut, count, pins = self.dut, self.count, self.pins
        parts = [{"aw": False, "w": False, "ar": False} for _ in range(count)]
        while True:
            offer = {name: [self.rng.random() < 0.5 for _ in range(count)] for name in ("aw", "w", "b", "ar", "r")}
            for c, part in enumerate(parts):
                offer["b"][c] &= part["aw"] and part["w"]
                offer["r"][c] &= part["ar"]
            answers = {"aw": "awready", "w": "wready", "b": "bvalid", "ar": "arready", "r": "rvalid"}
            pins.set({f"axil_i[{c}].{pin}": offer[name][c] for name, pin in answers.items() for c in range(count)})
            await RisingEdge(dut.clk_i)
            asked = {"aw": "awvalid", "w": "wvalid", "b": "bready", "ar": "arvalid", "r": "rready"}
            seen = {name: [pins[f"axil_o[{c}].{pin}"] for c in range(count)] for name, pin in asked.items()}
            addresses = [pins[f"axil_o[{c}].awaddr"] for c in range(count)]
            await FallingEdge(dut.clk_i)
            for c, part in enumerate(parts):
                taken = {name: offer[name][c] and seen[name][c] for name in offer}
                for name in ("aw", "w", "ar"):
                    assert not (taken[name] and part[name]), "a second access before the answer"
                    part[name] = part[name] or bool(taken[name])
                if taken["aw"]:
                    self.written.append((c, addresses[c]))
                if taken["b"]:
                    part["aw"] = part["w"] = False
                if taken["r"]:
                    self.read.append(c)
                    part["ar"] = False


async def access(dut, kind: str, address: int, rng: random.Random) -> tuple[int, int]:
    """One access with pauses on every channel; response and data."""
    channels = ["aw", "w"] if kind == "write" else ["ar"]
    answer = "b" if kind == "write" else "r"
    pins = Pins(dut)
    pins.set({f"s_axil_i.{channels[0]}addr": address & 4095, f"{channels[0]}_core_i": address >> 12})
    left = set(channels)
    offered: set[str] = set()
    for _ in range(200):
        offered |= {channel for channel in left if rng.random() < 0.5}
        wants = rng.random() < 0.5
        pins.set({f"s_axil_i.{channel}valid": channel in left & offered for channel in channels})
        pins.set({f"s_axil_i.{answer}ready": wants})
        await RisingEdge(dut.clk_i)
        taken = {channel for channel in left & offered if pins[f"s_axil_o.{channel}ready"]}
        valid, response, data = (pins[f"s_axil_o.{name}"] for name in (f"{answer}valid", f"{answer}resp", "rdata"))
        await FallingEdge(dut.clk_i)
        left -= taken
        if valid and wants:
            assert not left
            pins.set({"s_axil_i": 0})
            return response, data
    raise AssertionError(f"{kind} at {address:#x} is never answered")


@cocotb.test()
async def check_windows(dut):
    cores, rng = parameter("Cores"), random.Random(1)
    await start(dut, **rest_axil("s_axil"), aw_core_i=0, ar_core_i=0, axil_i=0)
    Pins(dut).set({f"axil_i[{c}].rdata": 0x1000 + c for c in range(cores)})
    served = Cores(dut)
    windows = 1 << (cores - 1).bit_length()
    for number in range(60):
        core, place = rng.randrange(windows), 4 * rng.randrange(1024)
        kind = ("write", "read")[number % 2]
        writes, reads = len(served.written), len(served.read)
        response, data = await access(dut, kind, core << 12 | place, rng)
        await FallingEdge(dut.clk_i)
        if core >= cores:
            assert response == DECODE_ERROR
            assert (len(served.written), len(served.read)) == (writes, reads)
        elif kind == "write":
            assert (response, served.written[writes:]) == (OKAY, [(core, place)])
        else:
            assert (response, data, served.read[reads:]) == (OKAY, 0x1000 + core, [core])


@pytest.mark.parametrize("cores", [2, 3, pytest.param(8, marks=pytest.mark.slow)])
def test_axil_split(cores):
    run_checks("rs_axil_split", {"Cores": cores})
