# SPDX-License-Identifier: Apache-2.0
"""rs_rns_group: words in, groups out, in order, each staying until the next; words that are not loaded are random."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.parameters import parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw


def pack(values: list[int], bits: int) -> int:
    return sum(value << bits * i for i, value in enumerate(values))


@cocotb.test()
async def check_order(dut):
    bits, p, rate = parameter("W"), parameter("P"), parameter("RnsRate")
    source = random.Random(p)
    stream = [source.getrandbits(bits) for _ in range(40 * max(p, rate))]
    await start_clock(dut.clk_i, 2)
    words = (pack(stream[i : i + p], bits) for i in range(0, len(stream), p))
    shown = None
    for group in range(0, len(stream), rate):
        loads = rate // p if rate >= p else int(group % p == 0)
        for left in reversed(range(max(loads, 1))):
            dut.load_i.value, dut.take_i.value = loads > 0, left == 0
            dut.word_i.value = next(words) if loads else source.getrandbits(p * bits)
            await FallingEdge(dut.clk_i)
            if left == 0:
                shown = pack(stream[group : group + rate], bits)
            assert shown is None or int(dut.group_o.value) == shown
        for _ in range(source.randrange(3)):
            dut.load_i.value, dut.take_i.value = 0, 0
            dut.word_i.value = source.getrandbits(p * bits)
            await FallingEdge(dut.clk_i)
            assert int(dut.group_o.value) == shown


@pytest.mark.parametrize(("p", "rate"), [(2, 2), (8, 2), (1, 4)])
def test_rns_group(p, rate):
    run_checks("rs_rns_group", {"W": 9, "P": p, "RnsRate": rate})


def test_refused():
    assert "P and RnsRate must be powers of two" in (elaboration_error("rs_rns_group", {"P": 3}) or "")
