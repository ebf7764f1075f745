# SPDX-License-Identifier: Apache-2.0
"""rs_mod_montgomery against Python integers: sums of products, ends of the range, moduli that stay or move along."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.operands import signed, word_moduli
from dv.parameters import formula, matrix, parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw


def cases(width: int, word: int, guard: int, moving: bool) -> list[tuple[int, int]]:
    """Moduli with values: both ends of the range, multiples of the modulus, random ones."""
    source = random.Random(width)
    steps = -(-(width + guard) // word)
    found = []
    for modulus in word_moduli(width, word):
        limit = min(modulus << word * steps, 1 << 2 * width + guard)
        values = [0, 1, modulus - 1, modulus, limit - 1, limit - 2, limit // modulus * modulus - 1]
        values += [source.randrange(limit) for _ in range(100)]
        found += [(modulus, value) for value in values]
    if moving:
        source.shuffle(found)
    return found


@cocotb.test()
async def check_results(dut):
    width, word, guard = parameter("W", 32), parameter("MontW", 13), parameter("Guard", 0)
    style, moving = parameter("MulStyle", 1), parameter("Moving", 0) == 1
    latency = formula("reduce_montgomery_latency", style, width, word, guard)
    shift = word * -(-(width + guard) // word)
    await start_clock(dut.clk_i, 2)
    todo = cases(width, word, guard, moving)
    before, results = 0, 0
    line: list[tuple[int, int] | None] = [None] * latency
    while todo or any(line):
        await FallingEdge(dut.clk_i)
        if (due := line.pop(0)) is not None:
            modulus, value = due
            seen = signed(int(dut.result_o.value), width + 1)
            assert -modulus < seen < modulus, (modulus, value, seen)
            assert (seen * (1 << shift) - value) % modulus == 0, (modulus, value, seen)
            results += 1
        # A modulus that stays changes only once nothing is on its way.
        ready = todo and (moving or todo[0][0] == before or not any(line))
        line.append(todo.pop(0) if ready else None)
        if ready:
            before = line[-1][0]
            dut.modulus_high_i.value, dut.t_i.value = before >> word, line[-1][1]
    assert results > 200


EVERY = [
    (w, s, m, g, v) for w in (14, 30, 60, 64) for s in (0, 1, 2) for m in (5, w // 2 - 1) for g, v in ((0, 1), (4, 0))
]
FAST = [(30, 1, 14, 0, 1), (60, 0, 15, 4, 0), (20, 2, 9, 4, 0)]


@pytest.mark.parametrize(("width", "style", "word", "guard", "moving"), matrix(FAST, EVERY))
def test_mod_montgomery(width, style, word, guard, moving):
    parameters = {"W": width, "MulStyle": style, "MontW": word, "Guard": guard, "Moving": moving}
    run_checks("rs_mod_montgomery", parameters)


@pytest.mark.parametrize(("width", "word", "guard", "moving"), [(30, 13, 4, 0), (30, 13, 0, 1), (60, 15, 4, 0)])
def test_steps_in_luts(width, word, guard, moving):
    parameters = {"W": width, "MontW": word, "Guard": guard, "Moving": moving, "StepLuts": 1}
    run_checks("rs_mod_montgomery", parameters)


@pytest.mark.parametrize("style", [0, 2])
def test_steps_in_luts_are_for_tiles_of_26x17(style):
    refusal = elaboration_error("rs_mod_montgomery", {"MulStyle": style, "StepLuts": 1})
    assert "StepLuts needs MulStyle 1" in (refusal or "")


@pytest.mark.parametrize("word", [1, 31])
def test_refused(word):
    refusal = elaboration_error("rs_mod_montgomery", {"W": 32, "MontW": word})
    assert "MontW must be from 2 to W - 2" in (refusal or "")
