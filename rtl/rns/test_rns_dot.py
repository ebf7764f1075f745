# SPDX-License-Identifier: Apache-2.0
"""rs_rns_dot: sums of every length, random and largest, column after column, each at its cycle."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.parameters import formula, matrix, parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw


@cocotb.test()
async def check_sums(dut):
    aw, bw, rate, style = (parameter(name, 1) for name in ("FactorBits", "OperandBits", "RnsRate", "MulStyle"))
    latency = formula("dot_latency", style, aw, bw)
    source = random.Random(aw)
    # By cycle: column 0's control and factor, each column's operand, the sum that is due.
    control: dict[int, tuple[bool, bool, int]] = {}
    operands: dict[tuple[int, int], int] = {}
    due: dict[int, int] = {}
    cycle, last_end = 1, -rate
    for turn in range(40):
        length = turn % 9 + 1
        # As soon as it may be: the steps follow those of the sum before, the ends are `rate` cycles apart.
        cycle = max(cycle, last_end + rate - (length - 1)) + source.randrange(2) * source.randrange(3)
        last_end = cycle + length - 1
        factors = [(1 << aw) - 1 if turn > 30 else source.getrandbits(aw) for _ in range(length)]
        for column in range(rate):
            words = [(1 << bw) - 1 if turn > 30 else source.getrandbits(bw) for _ in range(length)]
            for step, word in enumerate(words):
                operands[cycle + step + column, column] = word
            due[last_end + latency + column] = sum(a * b for a, b in zip(factors, words, strict=True))
        for step, factor in enumerate(factors):
            control[cycle + step] = (step == 0, step == length - 1, factor)
        cycle += length
    dut.last_i.value = 0
    await start_clock(dut.clk_i, 2)
    for _ in range(2 * latency + rate):
        await FallingEdge(dut.clk_i)
    for now in range(cycle + latency + rate):
        await FallingEdge(dut.clk_i)
        if now in due:
            assert int(dut.sum_o.value) == due.pop(now), now
        first, last, factor = control.get(now, (False, False, source.getrandbits(aw)))
        dut.first_i.value, dut.last_i.value, dut.factor_i.value = first, last, factor
        words = [operands.get((now, column), source.getrandbits(bw)) for column in range(rate)]
        dut.operand_i.value = sum(word << bw * column for column, word in enumerate(words))
    assert not due


EVERY = [
    (a, b, r, s)
    for a, b in ((14, 14), (52, 14), (52, 30), (40, 40), (64, 64), (53, 64))
    for r in (1, 2, 4)
    for s in (0, 1, 2)
]
FAST = [(30, 30, 2, 1), (27, 27, 4, 1), (30, 28, 1, 1), (53, 60, 1, 2), (52, 20, 4, 0)]


@pytest.mark.parametrize(("factor_bits", "operand_bits", "rate", "style"), matrix(FAST, EVERY))
def test_rns_dot(factor_bits, operand_bits, rate, style):
    parameters = {"FactorBits": factor_bits, "OperandBits": operand_bits, "RnsRate": rate, "MulStyle": style}
    run_checks("rs_rns_dot", parameters)


def test_refused():
    assert "RnsRate must be 1, 2 or 4" in (elaboration_error("rs_rns_dot", {"RnsRate": 3}) or "")
