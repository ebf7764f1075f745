# SPDX-License-Identifier: Apache-2.0
"""rs_mod_reduce against Python integers: sums of nine products, both reductions, at their cycle."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.operands import any_moduli, signed, word_moduli
from dv.parameters import formula, matrix, parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw
GUARD = 4


@cocotb.test()
async def check_results(dut):
    width, kind, style = parameter("W", 32), parameter("MulKind", 0), parameter("MulStyle", 1)
    smallest, word = parameter("ModMinBits", 5), parameter("MontW", 8)
    latency = formula("reduce_latency", kind, style, width, smallest, word, GUARD)
    shift = word * -(-(width + GUARD) // word) if kind else 0
    source = random.Random(width)
    await start_clock(dut.clk_i, 2)
    for modulus in word_moduli(width, word) if kind else any_moduli(width, smallest):
        bits = modulus.bit_length()
        await FallingEdge(dut.clk_i)
        dut.modulus_i.value, dut.mod_bits_i.value = modulus, bits
        # Montgomery takes nothing from here.
        dut.aux_i.value = source.getrandbits(width) if kind else (1 << bits + width + GUARD + 2) // modulus
        top = (1 << width) - 1
        sums = [0, 1, modulus, 9 * top * (modulus - 1)]
        sums += [sum(source.getrandbits(width) * source.randrange(modulus) for _ in range(9)) for _ in range(80)]
        for cycle in range(len(sums) + 2 * latency):
            # The first value waits until the modulus has reached every stage.
            if cycle >= 2 * latency:
                seen = signed(int(dut.result_o.value), width + 1)
                assert -modulus <= seen < modulus, (modulus, seen)
                assert (seen * (1 << shift) - sums[cycle - 2 * latency]) % modulus == 0, (modulus, seen)
            dut.t_i.value = sums[max(0, min(cycle - latency, len(sums) - 1))]
            await FallingEdge(dut.clk_i)


EVERY = [(w, k, s, m) for w in (14, 30, 60, 64) for k in (0, 1) for s in (0, 1, 2) for m in (5, w)]
FAST = [(30, 1, 1, 30), (40, 0, 1, 5)]


@pytest.mark.parametrize(("width", "kind", "style", "smallest"), matrix(FAST, EVERY))
def test_mod_reduce(width, kind, style, smallest):
    word = min(16, width // 2 - 1)
    run_checks("rs_mod_reduce", {"W": width, "MulKind": kind, "MulStyle": style, "ModMinBits": smallest, "MontW": word})


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"MulKind": 2}, "MulKind must be 0 (Barrett) or 1 (Montgomery)"),
        ({"MulKind": 0, "ModMinBits": 4}, "ModMinBits must be 5 to W"),
        ({"MulKind": 1, "MontW": 31}, "MontW must be from 2 to W - 2"),
    ],
)
def test_refused(parameters, words):
    assert words in (elaboration_error("rs_mod_reduce", parameters) or "")
