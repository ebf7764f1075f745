# SPDX-License-Identifier: Apache-2.0
"""rs_ntt8_unrolled: a transform a cycle with gaps and changes of direction; each shape's latency."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge
from test_ntt8_engine import WIDTH, split, start, words

from dv.parameters import parameter
from ringsmith.gen import latency
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error


@cocotb.test()
async def check_stream(dut: Any) -> None:
    ring, source = await start(dut), random.Random(5)
    late = latency.value(
        "ntt8_unrolled_latency",
        style=parameter("MulStyle", 3),
        w=WIDTH,
        minbits=5,
        registers=parameter("RowRegisters", 0),
    )
    polys = iter(ring.polynomials(90, seed=5))
    wanted: list[list[int] | None] = []
    for cycle in range(110 + late):
        if cycle >= late:
            expected = wanted[cycle - late]
            assert int(dut.valid_o.value) == (expected is not None), cycle
            assert expected is None or split(int(dut.data_o.value)) == expected, cycle
        poly = next(polys, None) if source.random() < 0.8 else None
        back = source.random() < 0.5
        dut.valid_i.value, dut.inverse_i.value = int(poly is not None), int(back)
        values = ring.forward(poly) if poly else None
        dut.data_i.value = words((values if back else poly) or [1] * 8)
        wanted.append(poly if back else values)
        await FallingEdge(dut.clk_i)
    assert sum(expected is not None for expected in wanted) > 60


@pytest.mark.hw
@pytest.mark.parametrize(
    ("width", "style", "registers"),
    [(32, 3, 0), (14, 3, 1), *(pytest.param(*shape, marks=pytest.mark.slow) for shape in ((20, 0, 0), (30, 1, 0)))],
)
def test_ntt8_unrolled(width: int, style: int, registers: int) -> None:
    run_checks("rs_ntt8_unrolled", {"W": width, "MulStyle": style, "RowRegisters": registers})


@pytest.mark.hw
def test_refused() -> None:
    refusal = elaboration_error("rs_ntt8_unrolled", {"MulStyle": 1, "RowRegisters": 1})
    assert "RowRegisters must be 0 unless MulStyle is 3 (combinational)" in (refusal or "")
