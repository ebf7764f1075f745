# SPDX-License-Identifier: Apache-2.0
"""A simulation starts with random registers and memories: the same for a seed, others for another."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
WORDS = 12


@cocotb.test()
async def check_contents(dut: Any) -> None:
    """Write down what a memory holds before anything was written to it."""
    dut.wr_en_i.value, dut.rd_en_i.value = 0, 1
    cocotb.start_soon(Clock(dut.clk_i, 2, unit="step").start())  # type: ignore[arg-type]
    found = []
    for word in range(WORDS):
        dut.rd_addr_i.value = word
        await FallingEdge(dut.clk_i)
        found.append(int(dut.rd_data_o.value))
    Path(os.environ["FOUND"]).write_text(str(found))


def test_memories_start_with_what_the_seed_gives(tmp_path: Path) -> None:
    found = []
    for run, seed in enumerate((1, 1, 2, 3)):
        place = tmp_path / f"{run}"
        run_checks("rs_ram_1r1w", {"Width": 9, "DepthWords": WORDS}, env={"FOUND": str(place)}, seed=seed)
        found.append(place.read_text())
    assert found[0] == found[1]
    assert len(set(found)) == 3
    assert str([0] * WORDS) not in found
