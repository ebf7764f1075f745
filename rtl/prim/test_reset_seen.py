# SPDX-License-Identifier: Apache-2.0
"""rs_reset_seen: says nothing before the first reset, however long that takes; then it is the reset itself."""

from __future__ import annotations

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer

from dv.clock import start_clock
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw


@cocotb.test()
async def check_seen(dut):
    dut.rst_ni.value = 1
    await start_clock(dut.clk_i, 10)
    if not int(dut.seen_o.value):  # else the random pins of time 0 made an edge of reset
        for _ in range(5):
            await RisingEdge(dut.clk_i)
            await Timer(1, unit="step")
            assert not int(dut.seen_o.value)
    for released in (0, 1, 0, 1):
        dut.rst_ni.value = released
        await Timer(1, unit="step")
        assert int(dut.seen_o.value) == released
        await RisingEdge(dut.clk_i)
        await Timer(1, unit="step")
        assert int(dut.seen_o.value) == released


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (3, 4))])
def test_reset_seen(seed: int) -> None:
    run_checks("rs_reset_seen", seed=seed)
