# SPDX-License-Identifier: Apache-2.0
"""rs_mac_tile: sums of random and of the largest products, of every length, one after another."""

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


@cocotb.test()
async def check_sums(dut):
    aw, bw, acc = parameter("AWidth"), parameter("BWidth"), parameter("AccWidth")
    latency = 3 if parameter("MulStyle") == 2 else 2
    source = random.Random(4)
    steps: list[tuple[bool, int, int]] = []
    for length in [*range(1, 17), *range(1, 17)]:
        largest = len(steps) > 130
        for place in range(length):
            a, b = ((1 << aw) - 1, (1 << bw) - 1) if largest else (source.getrandbits(aw), source.getrandbits(bw))
            steps.append((place == 0, a, b))
    await start_clock(dut.clk_i, 2)
    expected: list[int] = []
    for cycle in range(len(steps) + latency):
        await FallingEdge(dut.clk_i)
        if cycle >= latency:
            assert int(dut.acc_o.value) == expected[cycle - latency]
        first, a, b = steps[min(cycle, len(steps) - 1)]
        dut.first_i.value, dut.a_i.value, dut.b_i.value = first, a, b
        expected.append(((0 if first else expected[-1]) + a * b) % (1 << acc))


@pytest.mark.parametrize(("aw", "bw", "style"), [(26, 17, 1), (4, 13, 1), (18, 18, 2), (32, 31, 0)])
def test_mac_tile(aw, bw, style):
    run_checks("rs_mac_tile", {"AWidth": aw, "BWidth": bw, "AccWidth": aw + bw + 4, "MulStyle": style})


@pytest.mark.parametrize(("aw", "bw"), [(26, 17), (4, 13)])
def test_in_the_primitive(aw, bw):
    parameters = {"AWidth": aw, "BWidth": bw, "AccWidth": aw + bw + 4, "MulStyle": 1}
    run_checks("rs_mac_tile", parameters, defines=["RINGSMITH_DSP48E2"])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"MulStyle": 3}, "MulStyle must be 0 (asic), 1 (dsp26x17) or 2 (dsp18x18)"),
        ({"MulStyle": 0, "AccWidth": 35}, "AccWidth must be at least AWidth + BWidth"),
        ({"MulStyle": 1, "AWidth": 27}, "AWidth, BWidth and AccWidth must be at most 26, 17 and 48 in MulStyle 1"),
    ],
)
def test_refused(parameters, words):
    assert words in (elaboration_error("rs_mac_tile", parameters) or "")
