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
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
OKAY, DECODE_ERROR = 0, 3
ANSWERS = ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp")


class Cores:
    """Registers of all cores: each takes address and data when it likes, and answers later."""

    def __init__(self, dut) -> None:
        self.dut, self.count, self.rng = dut, parameter("Cores"), random.Random(3)
        self.written: list[tuple[int, int]] = []
        self.read: list[int] = []
        cocotb.start_soon(self._serve())

    async def _serve(self) -> None:
        dut, count = self.dut, self.count
        parts = [{"aw": False, "w": False, "ar": False} for _ in range(count)]
        while True:
            offer = {name: [self.rng.random() < 0.5 for _ in range(count)] for name in ("aw", "w", "b", "ar", "r")}
            for c, part in enumerate(parts):
                offer["b"][c] &= part["aw"] and part["w"]
                offer["r"][c] &= part["ar"]
            pins = {"aw": "awready", "w": "wready", "b": "bvalid", "ar": "arready", "r": "rvalid"}
            for name, pin in pins.items():
                getattr(dut, f"axil_{pin}_i").value = sum(on << c for c, on in enumerate(offer[name]))
            await RisingEdge(dut.clk_i)
            asked = {"aw": "awvalid", "w": "wvalid", "b": "bready", "ar": "arvalid", "r": "rready"}
            seen = {name: int(getattr(dut, f"axil_{pin}_o").value) for name, pin in asked.items()}
            address = int(dut.s_axil_awaddr_i.value)
            await FallingEdge(dut.clk_i)
            for c, part in enumerate(parts):
                taken = {name: offer[name][c] and seen[name] >> c & 1 for name in offer}
                for name in ("aw", "w", "ar"):
                    assert not (taken[name] and part[name]), "a second access before the answer"
                    part[name] = part[name] or bool(taken[name])
                if taken["aw"]:
                    self.written.append((c, address & 4095))
                if taken["b"]:
                    part["aw"] = part["w"] = False
                if taken["r"]:
                    self.read.append(c)
                    part["ar"] = False


async def access(dut, kind: str, address: int, rng: random.Random) -> tuple[int, int]:
    """One access with pauses on every channel; response and data."""
    channels = ["aw", "w"] if kind == "write" else ["ar"]
    answer = "b" if kind == "write" else "r"
    getattr(dut, f"s_axil_{channels[0]}addr_i").value = address
    left = set(channels)
    offered: set[str] = set()
    for _ in range(200):
        offered |= {channel for channel in left if rng.random() < 0.5}
        for channel in channels:
            getattr(dut, f"s_axil_{channel}valid_i").value = channel in left & offered
        wants = int(rng.random() < 0.5)
        getattr(dut, f"s_axil_{answer}ready_i").value = wants
        await RisingEdge(dut.clk_i)
        taken = {channel for channel in left & offered if int(getattr(dut, f"s_axil_{channel}ready_o").value)}
        valid = int(getattr(dut, f"s_axil_{answer}valid_o").value)
        response, data = int(getattr(dut, f"s_axil_{answer}resp_o").value), int(dut.s_axil_rdata_o.value)
        await FallingEdge(dut.clk_i)
        left -= taken
        if valid and wants:
            assert not left
            for channel in channels:
                getattr(dut, f"s_axil_{channel}valid_i").value = 0
            getattr(dut, f"s_axil_{answer}ready_i").value = 0
            return response, data
    raise AssertionError(f"{kind} at {address:#x} is never answered")


@cocotb.test()
async def check_windows(dut):
    cores, rng = parameter("Cores"), random.Random(1)
    await start(dut, **rest_axil("s_axil_"), **{f"axil_{name}_i": 0 for name in ANSWERS})
    dut.axil_rdata_i.value = sum((0x1000 + c) << 32 * c for c in range(cores))
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
