# SPDX-License-Identifier: Apache-2.0
"""rs_rns_factor: [x f]_q with another prime each cycle, x any words, each column at its cycle."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.conversion import Arithmetic
from dv.parameters import formula, matrix, parameter
from dv.primes import primes
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw


@cocotb.test()
async def check_residues(dut):
    width, rate, kind, style = (parameter(name, 1) for name in ("W", "RnsRate", "MulKind", "MulStyle"))
    smallest, word = parameter("ModMinBits", 5), parameter("MontW", 8)
    build = Arithmetic(width, kind, word)
    low = word + 4 if kind else smallest
    moduli = primes([width, width, max(low, width - 3), low], 1 << word if kind else 2)
    latency = formula("factor_latency", kind, style, width, smallest, word)
    source = random.Random(width)
    await start_clock(dut.clk_i, 2)
    due: dict[tuple[int, int], int] = {}
    cycles = 300
    for now in range(cycles + latency + rate):
        await FallingEdge(dut.clk_i)
        shown = int(dut.y_o.value)
        for column in range(rate):
            if (now, column) in due:
                assert shown >> width * column & (1 << width) - 1 == due.pop((now, column)), (now, column)
        if now >= cycles:
            continue
        q = source.choice(moduli)
        f = source.choice((0, 1, q - 1, source.randrange(q), source.randrange(q)))
        x = [source.choice((0, 1, q - 1, (1 << width) - 1, source.randrange(q))) for _ in range(rate)]
        stored = f * build.factor(0) % q
        dut.modulus_i.value, dut.factor_i.value = q, stored
        dut.mod_bits_i.value = q.bit_length()
        dut.aux_i.value = q >> word if kind else build.aux(q, 0) >> 8
        dut.x_i.value = sum(a << width * column for column, a in enumerate(x))
        for column, a in enumerate(x):
            due[now + latency + column, column] = a * f % q
    assert not due


EVERY = [(w, r, k, s) for w in (14, 30, 60, 64) for r in (1, 4) for k in (0, 1) for s in (0, 1, 2)]
FAST = [(30, 2, 1, 1), (20, 1, 0, 0)]


@pytest.mark.parametrize(("width", "rate", "kind", "style"), matrix(FAST, EVERY))
def test_rns_factor(width, rate, kind, style):
    word, smallest = min(16, width // 2 - 1), max(width - 6, 8)
    parameters = {
        "W": width,
        "RnsRate": rate,
        "MulKind": kind,
        "MulStyle": style,
        "ModMinBits": smallest,
        "MontW": word,
    }
    run_checks("rs_rns_factor", parameters)
