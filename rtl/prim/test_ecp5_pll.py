# SPDX-License-Identifier: Apache-2.0
"""rs_ecp5_pll: the model's clock is its input, and the lock comes once and stays; divisors out of range are refused."""

from __future__ import annotations

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge, Timer

from dv.clock import start_clock
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw


@cocotb.test()
async def check_lock(dut):
    await start_clock(dut.clk_i, 10)
    locked = []
    for _ in range(40):
        await RisingEdge(dut.clk_i)
        await Timer(1, unit="step")
        assert int(dut.clk_o.value)
        await FallingEdge(dut.clk_i)
        await Timer(1, unit="step")
        assert not int(dut.clk_o.value)
        locked.append(int(dut.locked_o.value))
    assert locked == sorted(locked)
    assert (locked[0], locked[-1]) == (0, 1)


@pytest.mark.parametrize("divisors", [(1, 1, 1), (1, 2, 12), (80, 80, 128)])
def test_ecp5_pll(divisors: tuple[int, int, int]) -> None:
    run_checks("rs_ecp5_pll", dict(zip(("InputDiv", "FeedbackDiv", "OutputDiv"), divisors, strict=True)))
