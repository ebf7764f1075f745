# SPDX-License-Identifier: Apache-2.0
"""rs_ntt8_engine: every variant against the definition, its latency and its throughput."""

from __future__ import annotations

import itertools
import os
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

from dv.ntt8 import Ring
from dv.parameters import parameter
from ringsmith.gen import latency
from ringsmith.hw.cocotb_runner import run_checks

WIDTH = parameter("W", 32)
VARIANT = parameter("Variant", 0)
BITS = int(os.environ.get("MODULUS_BITS", str(WIDTH)))
EXPECTED = int(os.environ.get("EXPECTED_LATENCY", "0"))
FOLDED = 2


def words(values: list[int]) -> int:
    return sum(value << (WIDTH * index) for index, value in enumerate(values))


def split(packed: int) -> list[int]:
    return [(packed >> (WIDTH * index)) & ((1 << WIDTH) - 1) for index in range(8)]


async def start(dut: Any) -> Ring:
    ring = Ring.largest(BITS)
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    dut.rst_ni.value = 0
    dut.valid_i.value = 0
    dut.inverse_i.value = 0
    dut.data_i.value = 0
    dut.modulus_i.value = ring.modulus
    dut.mu_i.value = ring.barrett(WIDTH)
    dut.mod_bits_i.value = ring.modulus.bit_length()
    dut.twiddle_i.value = words(ring.twiddles())
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)
    return ring


async def run_batch(dut: Any, batch: list[tuple[list[int], bool]]) -> list[tuple[int, int, list[int]]]:
    """Push operands as fast as ready_o allows; (accepted in cycle, shown in cycle, result) of each."""
    accepted: list[int] = []
    results: list[tuple[int, int, list[int]]] = []
    cycle = 0
    while len(results) < len(batch):
        waiting = len(accepted) < len(batch)
        dut.valid_i.value = int(waiting)
        if waiting:
            poly, inverse = batch[len(accepted)]
            dut.data_i.value = words(poly)
            dut.inverse_i.value = int(inverse)
        await ReadOnly()
        if waiting and int(dut.ready_o.value):
            accepted.append(cycle)
        await RisingEdge(dut.clk_i)
        cycle += 1
        await ReadOnly()
        if int(dut.valid_o.value):
            results.append((accepted[len(results)], cycle, split(int(dut.data_o.value))))
        await FallingEdge(dut.clk_i)
        assert cycle < 100 + 8 * len(batch), "the engine hangs"
    return results


@cocotb.test()
async def check_forward_and_inverse(dut: Any) -> None:
    ring = await start(dut)
    polys = ring.polynomials(40, seed=VARIANT)
    batch = [(poly, False) for poly in polys] + [(ring.forward(poly), True) for poly in polys]
    results = await run_batch(dut, batch)
    for (_, _, result), poly in zip(results, polys, strict=False):
        assert result == ring.forward(poly)
    for (_, _, result), poly in zip(results[len(polys) :], polys, strict=True):
        assert result == poly


@cocotb.test()
async def check_latency_and_throughput(dut: Any) -> None:
    ring = await start(dut)
    results = await run_batch(dut, [(poly, index % 2 == 1) for index, poly in enumerate(ring.polynomials(30, seed=9))])
    assert {shown - accepted for accepted, shown, _ in results} == {EXPECTED}
    gaps = {later[0] - sooner[0] for sooner, later in itertools.pairwise(results)}
    assert gaps == {3 if VARIANT == FOLDED else 1}


@pytest.mark.hw
@pytest.mark.parametrize(
    ("variant", "width", "bits", "style"),
    # Every variant, width and style once; their products among the slow ones.
    [(0, 32, 32, 1), (1, 14, 14, 1), (2, 14, 14, 1), (3, 14, 13, 0), (4, 32, 32, 1)]
    + [
        pytest.param(*shape, marks=pytest.mark.slow)
        for shape in [*((v, 32, 32, 1) for v in (1, 2, 3)), (0, 14, 14, 1), (0, 30, 20, 1), (3, 30, 30, 2)]
    ],
)
def test_ntt8_engine(variant: int, width: int, bits: int, style: int) -> None:
    expected = latency.value("ntt8_latency", variant=variant, style=style, w=width, minbits=5)
    run_checks(
        "rs_ntt8_engine",
        {"Variant": variant, "W": width, "MulStyle": style},
        env={"MODULUS_BITS": str(bits), "EXPECTED_LATENCY": str(expected)},
    )
