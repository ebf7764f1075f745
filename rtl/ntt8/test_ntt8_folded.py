# SPDX-License-Identifier: Apache-2.0
"""rs_ntt8_folded: transforms back to back and with pauses, three cycles each, in both directions."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge
from test_ntt8_engine import run_batch, split, start, words

from ringsmith.hw.cocotb_runner import run_checks


@cocotb.test()
async def check_back_to_back(dut: Any) -> None:
    ring, source = await start(dut), random.Random(3)
    polys = ring.polynomials(60, seed=3)
    directions = [source.random() < 0.5 for _ in polys]
    batch = [(ring.forward(p) if back else p, back) for p, back in zip(polys, directions, strict=True)]
    results = await run_batch(dut, batch)
    assert [r for _, _, r in results] == [
        p if back else ring.forward(p) for p, back in zip(polys, directions, strict=True)
    ]
    assert [accepted for accepted, _, _ in results] == [3 * i for i in range(len(polys))]
    assert {shown - accepted for accepted, shown, _ in results} == {3}


@cocotb.test()
async def check_pauses(dut: Any) -> None:
    """Operands are taken in the cycle of valid_i only, and a result stands until the next transform starts."""
    ring, source = await start(dut), random.Random(4)
    for poly in ring.polynomials(20, seed=4):
        dut.valid_i.value, dut.inverse_i.value, dut.data_i.value = 1, 0, words(poly)
        assert int(dut.ready_o.value)
        for cycle in range(1, 4 + source.randrange(5)):
            await FallingEdge(dut.clk_i)
            # Neither new operands nor a new direction may reach a transform that runs.
            dut.valid_i.value, dut.inverse_i.value, dut.data_i.value = 0, source.getrandbits(1), source.getrandbits(64)
            assert int(dut.ready_o.value) == (cycle >= 3)
            assert int(dut.valid_o.value) == (cycle == 3)
            if cycle >= 3:
                assert split(int(dut.data_o.value)) == ring.forward(poly)


@pytest.mark.hw
@pytest.mark.parametrize("width", [14, pytest.param(32, marks=pytest.mark.slow)])
def test_ntt8_folded(width: int) -> None:
    run_checks("rs_ntt8_folded", {"W": width})
