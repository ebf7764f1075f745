# SPDX-License-Identifier: Apache-2.0
"""rs_rns_lane: sums with and without kept residues, multiples, moduli by conversion, groups and words."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.conversion import GUARD, Arithmetic
from dv.parameters import formula, matrix, parameter
from dv.primes import primes
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
WIDTH, P, RATE, KIND = (parameter(name, 1) for name in ("W", "P", "RnsRate", "MulKind"))
STYLE, SMALLEST, WORD = (parameter(name, 5) for name in ("MulStyle", "ModMinBits", "MontW"))
BUILD = Arithmetic(WIDTH, KIND, WORD)
STROBES = ("x_load_i", "x_take_i", "own_load_i", "own_take_i", "first_i", "last_i", "own_step_i")


def pack(values: list[int], bits: int = WIDTH) -> int:
    return sum(value << bits * i for i, value in enumerate(values))


async def write(dut, strobe: str, index: int, data: int) -> None:
    """One constant."""
    pin = getattr(dut, strobe)
    pin.value, dut.cfg_idx_i.value, dut.cfg_data_i.value = 1, index, data
    await FallingEdge(dut.clk_i)
    pin.value = 0


async def load(dut, port: str, group: list[int], source: random.Random) -> None:
    """One group of RnsRate = P coefficients into `x` or `own`."""
    getattr(dut, f"{port}_i").value = pack(group)
    getattr(dut, f"{port}_load_i").value = getattr(dut, f"{port}_take_i").value = 1
    await FallingEdge(dut.clk_i)
    getattr(dut, f"{port}_load_i").value = getattr(dut, f"{port}_take_i").value = 0
    getattr(dut, f"{port}_i").value = source.getrandbits(P * WIDTH)


@cocotb.test()
async def check_sums(dut):
    source = random.Random(WIDTH)
    moduli = primes([WIDTH, WIDTH - 1], 1 << WORD if KIND else 2)
    dot = formula("dot_latency", STYLE, WIDTH, WIDTH)
    reduced = dot + formula("reduce_latency", KIND, STYLE, WIDTH, SMALLEST, WORD, GUARD)
    result = reduced + formula("addsub_latency", STYLE)
    for name in (*STROBES, "row_we_i", "multiple_we_i", "modulus_we_i", "aux_we_i"):
        getattr(dut, name).value = 0
    await start_clock(dut.clk_i, 2)
    for number, p in enumerate(moduli):
        await write(dut, "modulus_we_i", number, p)
        await write(dut, "aux_we_i", number, BUILD.aux(p, GUARD))
    for turn in range(12):
        number, own, primes_in = turn % 2, source.randrange(2), source.randrange(1, 9)
        p, steps = moduli[number], own + primes_in
        largest = turn > 8
        rows = [p - 1 if largest else source.randrange(p) for _ in range(steps)]
        multiples = [source.choice((0, p - 1, source.randrange(p))) for _ in range(9)]
        for step, row in enumerate(rows):
            await write(dut, "row_we_i", 5 + step, row * BUILD.factor(GUARD) % p)
        for v, multiple in enumerate(multiples):
            await write(dut, "multiple_we_i", 5 + v, multiple)
        dut.conv_i.value = number
        group = [source.getrandbits(WIDTH) for _ in range(RATE)]
        await load(dut, "x", group, source)
        assert int(dut.x_o.value) == pack(group)
        kept = [source.randrange(p) for _ in range(RATE)]
        await load(dut, "own", kept, source)
        assert int(dut.x_o.value) == pack(group)
        # Quiet until every stage has the modulus.
        for _ in range(2 * result):
            await FallingEdge(dut.clk_i)
        operands = [
            [(1 << WIDTH) - 1 if largest else source.getrandbits(WIDTH) for _ in range(steps)] for _ in range(RATE)
        ]
        quotients = [source.randrange(9) for _ in range(RATE)]
        for now in range(steps + result + RATE - 1):
            # Column 0's step 0 is cycle 1.
            dut.row_i.value = 5 + now if now < steps else source.randrange(32)
            dut.first_i.value, dut.last_i.value, dut.own_step_i.value = now == 1, now == steps, own and now == 1
            words = []
            for column, operand in enumerate(operands):
                step = now - 1 - column
                live = 0 <= step < steps and not (own and step == 0)
                words.append(operand[step] if live else source.getrandbits(WIDTH))
            dut.y_i.value = pack(words)
            column = now - (steps + reduced - 1)
            dut.multiple_i.value = 5 + quotients[column] if 0 <= column < RATE else source.randrange(32)
            place = now - (steps + result)
            dut.place_i.value = place if 0 <= place < P else 0
            await FallingEdge(dut.clk_i)
        # The word is whole in the cycle of its last coefficient.
        seen = int(dut.word_o.value)
        expected = []
        for column in range(RATE):
            terms = [kept[column], *operands[column][1:]] if own else operands[column]
            total = sum(a * b for a, b in zip(terms, rows, strict=True)) + multiples[quotients[column]]
            expected.append(total % p)
        assert seen == pack(expected), (turn, own, primes_in)


FAST = [(30, 2, 1, 1), (20, 4, 0, 0)]
EVERY = [(w, r, k, s) for w in (14, 40, 64) for r in (2, 4) for k in (0, 1) for s in (0, 1, 2)]


@pytest.mark.parametrize(("width", "rate", "kind", "style"), matrix(FAST, EVERY))
def test_rns_lane(width, rate, kind, style):
    parameters = {"W": width, "P": rate, "RnsRate": rate, "MulKind": kind, "MulStyle": style, "ModMinBits": width - 2}
    run_checks("rs_rns_lane", parameters | {"MontW": min(13, width // 2 - 1), "RnsConversions": 2})
