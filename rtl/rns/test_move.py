# SPDX-License-Identifier: Apache-2.0
"""rs_move against Python integers: automorphisms as maps of exponents, digits lane by lane, at their cycles."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.moves import permuted
from dv.parameters import formula, parameter
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
WIDTH, LANES, P = (parameter(n, 1) for n in ("W", "Lanes", "P"))
MOVES, WORD_BITS = parameter("Moves", 4), parameter("WordAddrBits", 4)
MASK = (1 << WIDTH) - 1
Rows = list[list[int]]


async def configure(dut, kind: str, lane: int, number: int, data: int) -> None:
    dut.auto_we_i.value, dut.digit_we_i.value = kind == "auto", kind == "digit"
    dut.cfg_lane_i.value, dut.cfg_idx_i.value, dut.cfg_data_i.value = lane, number, data
    await FallingEdge(dut.clk_i)
    dut.auto_we_i.value = dut.digit_we_i.value = 0


async def move(dut, source: Rows, *, auto: bool, number: int) -> tuple[Rows, int]:
    """One instruction on rows by lane, what is not asked for random; the result and the cycles it took."""
    n, draw = len(source[0]), random.Random(5)
    dut.start_i.value, dut.auto_i.value, dut.idx_i.value = 1, auto, number
    dut.log2_n_i.value = n.bit_length() - 1
    result: Rows = [[-1] * n for _ in source]
    asked, cycles, done = None, 0, False
    while not done:
        await FallingEdge(dut.clk_i)
        # The next instruction waits meanwhile.
        dut.start_i.value, dut.auto_i.value, dut.idx_i.value = 0, draw.randrange(2), draw.randrange(32)
        cycles += 1
        assert cycles < 2 * n + 40, "no end"
        words = draw.getrandbits(LANES * P * WIDTH)
        if asked is not None:
            values = [row[asked * P + p] for row in source for p in range(P)]
            words = sum(value << WIDTH * at for at, value in enumerate(values))
        dut.words_i.value = words
        asked = int(dut.rd_word_o.value) if int(dut.rd_valid_o.value) else None
        if int(dut.wr_valid_o.value):
            word, data = int(dut.wr_word_o.value), int(dut.wr_data_o.value)
            for lane, row in enumerate(result):
                for p in range(P):
                    assert row[word * P + p] == -1, "a word is written twice"
                    row[word * P + p] = data >> WIDTH * (lane * P + p) & MASK
        done = bool(int(dut.done_o.value))
    return result, cycles


@cocotb.test()
async def check_moves(dut):
    draw = random.Random(1)
    for pin in ("rst_ni", "auto_we_i", "digit_we_i", "start_i", "auto_i", "idx_i", "words_i", "cfg_lane_i"):
        getattr(dut, pin).value = 0
    await start_clock(dut.clk_i, 2)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)
    n_max = P << WORD_BITS
    elements = [1, 5, 2 * n_max - 1, *(2 * draw.randrange(n_max) + 1 for _ in range(MOVES - 3))]
    shares = []
    for number, element in enumerate(elements):
        await configure(dut, "auto", 0, number, element)
        share = [(draw.randrange(LANES), draw.getrandbits(WIDTH), draw.getrandbits(WIDTH)) for _ in range(LANES)]
        for lane, (source, bound, offset) in enumerate(share):
            assert int(dut.digits_o.value) == (1 << number) - 1, "valid before its last lane"
            await configure(dut, "digit", lane, number, source << 128 | offset << 64 | bound)
        shares.append(share)
    assert int(dut.digits_o.value) == int(dut.automorphisms_o.value) == (1 << MOVES) - 1
    for log2n in range(P.bit_length() + 1, n_max.bit_length()):
        n, cycles = 1 << log2n, formula("move_words", log2n, P)
        rows = [[draw.getrandbits(WIDTH) for _ in range(n)] for _ in range(LANES)]
        for source, bound, _ in (share for by_lane in shares for share in by_lane):
            rows[source][draw.randrange(n)] = bound
        for number, element in enumerate(elements):
            found = await move(dut, rows, auto=True, number=number)
            assert found == ([permuted(row, element) for row in rows], cycles), (n, element)
            wanted = [
                [x + offset & MASK if x >= bound else x for x in rows[source]]
                for source, bound, offset in shares[number]
            ]
            assert await move(dut, rows, auto=False, number=number) == (wanted, cycles), (n, number)


@pytest.mark.parametrize(
    "build",
    [
        {"W": 14, "P": 1, "Lanes": 1, "WordAddrBits": 4, "Moves": 4},
        {"W": 30, "P": 2, "Lanes": 3, "WordAddrBits": 5, "Moves": 8},
        {"W": 64, "P": 8, "Lanes": 8, "WordAddrBits": 4, "Moves": 4},
        {"W": 30, "P": 2, "Lanes": 15, "WordAddrBits": 4, "Moves": 4},
        pytest.param({"W": 20, "P": 32, "Lanes": 2, "WordAddrBits": 4, "Moves": 32}, marks=pytest.mark.slow),
        pytest.param({"W": 54, "P": 4, "Lanes": 5, "WordAddrBits": 7, "Moves": 16}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_move(build):
    run_checks("rs_move", build)
