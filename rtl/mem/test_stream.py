# SPDX-License-Identifier: Apache-2.0
"""rs_stream: words come out in order, only claimed ones, a claim only for a word that is there; a drain empties it."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.parameters import parameter
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
INPUTS = ("push_i", "word_i", "claim_i", "take_i", "drain_i")


@cocotb.test()
async def check_order(dut):
    width, depth, source = parameter("Width", 32), parameter("Depth", 8), random.Random(3)
    for name in ("rst_ni", *INPUTS):
        getattr(dut, name).value = 0
    await start_clock(dut.clk_i, 2)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    pushed, claimed, taken, full, empty = [], 0, 0, 0, 0
    for cycle in range(4000):
        # Fast and slow on each side by turns.
        give, want = ((0.9, 0.3), (0.3, 0.9), (1.0, 1.0))[cycle // 500 % 3]
        await FallingEdge(dut.clk_i)
        waiting = len(pushed) - taken
        assert int(dut.push_ready_o.value) == (waiting < depth)
        assert int(dut.claim_ready_o.value) == (len(pushed) > claimed)
        full, empty = full + (waiting == depth), empty + (len(pushed) == claimed)
        push = waiting < depth and source.random() < give
        claim = len(pushed) > claimed and source.random() < want
        take = claimed > taken and source.random() < want
        if take:
            assert int(dut.word_o.value) == pushed[taken]
        word = source.getrandbits(width)
        dut.push_i.value, dut.claim_i.value, dut.take_i.value, dut.word_i.value = push, claim, take, word
        claimed, taken = claimed + claim, taken + take
        if push:
            pushed.append(word)
    assert taken > 1000
    assert full > 50
    assert empty > 50


@cocotb.test()
async def check_drain(dut):
    for name in ("rst_ni", *INPUTS):
        getattr(dut, name).value = 0
    await start_clock(dut.clk_i, 2)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value, dut.push_i.value = 1, 1
    for _ in range(parameter("Depth", 8)):
        await FallingEdge(dut.clk_i)
    assert not int(dut.push_ready_o.value)
    # A word that comes meanwhile goes the same way.
    dut.push_i.value, dut.drain_i.value = 0, 1
    for number in range(parameter("Depth", 8) + 4):
        await FallingEdge(dut.clk_i)
        dut.push_i.value = number == 2
    assert not int(dut.claim_ready_o.value)
    assert int(dut.push_ready_o.value)


@pytest.mark.parametrize(("width", "depth"), [(32, 8), (7, 2)])
def test_stream(width, depth):
    run_checks("rs_stream", {"Width": width, "Depth": depth})
