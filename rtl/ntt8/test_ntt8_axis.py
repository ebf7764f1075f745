# SPDX-License-Identifier: Apache-2.0
"""rs_ntt8_axis: a result a beat in order, with a sink that stalls at random and one that never does."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

from dv.ntt8 import Ring
from dv.parameters import parameter
from ringsmith.hw.cocotb_runner import run_checks

WIDTH = parameter("W", 32)


def beat(values: list[int]) -> int:
    return sum(value << (32 * index) for index, value in enumerate(values))


async def start(dut: Any) -> Ring:
    ring = Ring.largest(WIDTH)
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    dut.rst_ni.value = 0
    for signal in (dut.s_axis_tvalid_i, dut.s_axis_tdata_i, dut.s_axis_tuser_i, dut.m_axis_tready_i):
        signal.value = 0
    dut.modulus_i.value = ring.modulus
    dut.mu_i.value = ring.barrett(WIDTH)
    dut.mod_bits_i.value = ring.modulus.bit_length()
    dut.twiddle_i.value = sum(value << (WIDTH * index) for index, value in enumerate(ring.twiddles()))
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)
    return ring


async def stream(dut: Any, polys: list[list[int]], takes: random.Random | None) -> tuple[list[int], int]:
    """Beats that came out, and the cycles from the first to the last of them."""
    sent = cycle = first = 0
    got: list[int] = []
    while len(got) < len(polys):
        dut.s_axis_tvalid_i.value = int(sent < len(polys))
        dut.s_axis_tdata_i.value = beat(polys[sent]) if sent < len(polys) else 0
        dut.m_axis_tready_i.value = 1 if takes is None else int(takes.random() < 0.4)
        await ReadOnly()
        taken = int(dut.s_axis_tvalid_i.value) and int(dut.s_axis_tready_o.value)
        if int(dut.m_axis_tvalid_o.value) and int(dut.m_axis_tready_i.value):
            first = first or cycle
            got.append(int(dut.m_axis_tdata_o.value))
        await RisingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
        sent += int(taken)
        cycle += 1
        assert cycle < 2000, "the stream hangs"
    return got, cycle - first


@cocotb.test()
async def check_back_to_back(dut: Any) -> None:
    ring = await start(dut)
    polys = ring.polynomials(60, seed=1)
    got, cycles = await stream(dut, polys, None)
    assert got == [beat(ring.forward(poly)) for poly in polys]
    assert cycles == len(polys)


@cocotb.test()
async def check_stalling_sink(dut: Any) -> None:
    ring = await start(dut)
    polys = ring.polynomials(150, seed=2)
    got, _ = await stream(dut, polys, random.Random(5))
    assert got == [beat(ring.forward(poly)) for poly in polys]


@cocotb.test()
async def check_reset_forgets_what_runs(dut: Any) -> None:
    """A reset of one cycle, wherever it falls, leaves no beat of the transforms before it."""
    ring = await start(dut)
    polys = ring.polynomials(12, seed=3)
    for delay in range(0, 40, 3):
        dut.m_axis_tready_i.value = delay % 2
        dut.s_axis_tvalid_i.value = 1
        dut.s_axis_tdata_i.value = beat(polys[0])
        for _ in range(1 + delay):
            await FallingEdge(dut.clk_i)
        dut.s_axis_tvalid_i.value = dut.rst_ni.value = 0
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        got, _ = await stream(dut, polys[1:], random.Random(delay))
        assert got == [beat(ring.forward(poly)) for poly in polys[1:]]


@pytest.mark.hw
@pytest.mark.parametrize("width", [14, pytest.param(32, marks=pytest.mark.slow)])
def test_ntt8_axis(width: int) -> None:
    run_checks("rs_ntt8_axis", {"W": width})
