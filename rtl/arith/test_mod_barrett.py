# SPDX-License-Identifier: Apache-2.0
"""rs_mod_barrett against Python integers: sums of products, ends of the range, moduli that stay and that move along."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.operands import any_moduli, signed
from dv.parameters import formula, matrix, parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw


def cases(width: int, smallest: int, guard: int, moving: bool) -> list[tuple[int, int]]:
    """Moduli with values: both ends, multiples of the modulus and their neighbours, random ones."""
    source = random.Random(width)
    found = []
    for modulus in any_moduli(width, smallest):
        limit = modulus << width + guard
        values = [0, 1, modulus - 1, modulus, 2 * modulus - 1, limit - 1, limit - 2]
        values += [limit - modulus, limit - modulus - 1]
        values += [source.randrange(limit) for _ in range(60)]
        values += [source.randrange(limit // modulus) * modulus + source.choice((0, modulus - 1)) for _ in range(30)]
        found += [(modulus, value) for value in values]
    if moving:
        source.shuffle(found)
    return found


@cocotb.test()
async def check_results(dut):
    width, smallest, guard = parameter("W", 32), parameter("ModMinBits", 5), parameter("Guard", 0)
    style, moving = parameter("MulStyle", 1), parameter("Moving", 0) == 1
    latency = formula("reduce_barrett_latency", style, width, smallest, guard)
    await start_clock(dut.clk_i, 2)
    todo = cases(width, smallest, guard, moving)
    before, results = 0, 0
    line: list[tuple[int, int] | None] = [None] * latency
    while todo or any(line):
        await FallingEdge(dut.clk_i)
        if (due := line.pop(0)) is not None:
            modulus, value = due
            seen = signed(int(dut.result_o.value), width + 1)
            assert -modulus <= seen < modulus, (modulus, value, seen)
            assert (seen - value) % modulus == 0, (modulus, value, seen)
            results += 1
        # A modulus that stays changes only once nothing is on its way.
        ready = todo and (moving or todo[0][0] == before or not any(line))
        line.append(todo.pop(0) if ready else None)
        if ready:
            modulus, value = line[-1]
            before, bits = modulus, modulus.bit_length()
            dut.modulus_i.value, dut.mod_bits_i.value, dut.t_i.value = modulus, bits, value
            dut.mu_i.value = (1 << bits + width + guard + 2) // modulus
    assert results > 500


EVERY = [(w, s, m, g, v) for w in (14, 30, 52, 60, 64) for s in (0, 1, 2) for m in (5, w) for g, v in ((0, 1), (4, 0))]
FAST = [(30, 1, 5, 0, 1), (52, 0, 52, 4, 0), (36, 2, 30, 4, 0)]


@pytest.mark.parametrize(("width", "style", "smallest", "guard", "moving"), matrix(FAST, EVERY))
def test_mod_barrett(width, style, smallest, guard, moving):
    parameters = {"W": width, "MulStyle": style, "ModMinBits": smallest, "Guard": guard, "Moving": moving}
    run_checks("rs_mod_barrett", parameters)


def test_refused():
    refusal = elaboration_error("rs_mod_barrett", {"W": 32, "ModMinBits": 4})
    assert "ModMinBits must be 5 to W" in (refusal or "")
