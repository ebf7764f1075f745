# SPDX-License-Identifier: Apache-2.0
"""rs_ntt8_row: every stage in both directions, one after the other in random order; three of them are the transform."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer
from test_ntt8_engine import WIDTH, split, words

from dv.clock import start_clock
from dv.ntt8 import Ring
from dv.parameters import parameter
from ringsmith.gen import latency
from ringsmith.hw.cocotb_runner import run_checks

STYLE = parameter("MulStyle", 3)


def row(ring: Ring, data: list[int], stage: int, *, inverse: bool) -> list[int]:
    """One stage in constant geometry; of the inverse, a third of the division by 8."""
    m, psi, half = ring.modulus, ring.twiddles(), (ring.modulus + 1) // 2
    result = [0] * 8
    for k in range(4):
        if inverse:
            blocks = 4 >> stage
            u, v, factor = data[2 * k], data[2 * k + 1], pow(psi[blocks + k % blocks], -1, m)
            result[k], result[k + 4] = (u + v) * half % m, (u - v) * half * factor % m
        else:
            u, v = data[k], data[k + 4] * psi[(1 << stage) + k % (1 << stage)]
            result[2 * k], result[2 * k + 1] = (u + v) % m, (u - v) % m
    return result


async def start(dut: Any) -> Ring:
    ring = Ring.largest(WIDTH)
    await start_clock(dut.clk_i, 4)
    dut.modulus_i.value, dut.mod_bits_i.value = ring.modulus, ring.modulus.bit_length()
    dut.mu_i.value, dut.twiddle_i.value = ring.barrett(WIDTH), words(ring.twiddles())
    return ring


async def run_rows(dut: Any, batch: list[tuple[list[int], int, bool]]) -> list[list[int]]:
    """A row a cycle; their results."""
    late = latency.value("butterfly_latency", kind=0, style=STYLE, w=WIDTH, minbits=5, mw=0)
    results = []
    for cycle in range(len(batch) + late):
        await FallingEdge(dut.clk_i)
        data, stage, inverse = batch[min(cycle, len(batch) - 1)]
        dut.data_i.value, dut.stage_i.value, dut.inverse_i.value = words(data), stage, int(inverse)
        await Timer(1, unit="step")
        if cycle >= late:
            results.append(split(int(dut.data_o.value)))
    return results


@cocotb.test()
async def check_rows(dut: Any) -> None:
    ring, source = await start(dut), random.Random(1)
    batch = [(poly, source.randrange(3), source.random() < 0.5) for poly in ring.polynomials(200, seed=1)]
    wanted = [row(ring, data, stage, inverse=inverse) for data, stage, inverse in batch]
    assert await run_rows(dut, batch) == wanted


@cocotb.test()
async def check_transforms(dut: Any) -> None:
    """Three rows by the definition of the transform, which knows no stages."""
    ring = await start(dut)
    polys = ring.polynomials(20, seed=2)
    values = [ring.forward(poly) for poly in polys]
    for inverse, given, wanted in ((False, polys, values), (True, values, polys)):
        for stage in range(3):
            given = await run_rows(dut, [(data, stage, inverse) for data in given])
        assert given == wanted


@pytest.mark.hw
@pytest.mark.parametrize(("width", "style"), [(14, 3), (32, 0), (30, 1)])
def test_ntt8_row(width: int, style: int) -> None:
    run_checks("rs_ntt8_row", {"W": width, "MulStyle": style})
