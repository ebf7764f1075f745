# SPDX-License-Identifier: Apache-2.0
"""rs_mul_tiled against Python integers: exact, modulo a power of two, and truncated within its bound."""

from __future__ import annotations

import os
import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.parameters import WIDTHS, matrix, parameter
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw

TILE = {0: None, 1: 17, 2: 18}


def pairs(aw: int, bw: int):
    source = random.Random(1)
    for a in (0, 1, (1 << aw) - 1):
        yield from ((a, b) for b in (0, 1, (1 << bw) - 1))
    yield from ((source.getrandbits(aw), source.getrandbits(bw)) for _ in range(200))


@cocotb.test()
async def check_product(dut):
    aw, bw, out = parameter("AWidth"), parameter("BWidth"), parameter("OutWidth")
    drop, style = parameter("DropBelow"), parameter("MulStyle")
    tile = TILE[style] or (max(aw, bw) + 1) // 2
    error = -(-bw // tile) << drop if drop else 1
    await start_clock(dut.clk_i, 2)
    expected = []
    latency = int(os.environ["LATENCY"])
    worst = 0
    for cycle, (a, b) in enumerate([*pairs(aw, bw), *([(0, 0)] * latency)]):
        await FallingEdge(dut.clk_i)
        if cycle >= latency:
            product, seen = expected[cycle - latency], int(dut.p_o.value)
            missing = (product - seen) % (1 << out)
            assert missing < error, (cycle, hex(product), hex(seen))
            worst = max(worst, missing)
        dut.a_i.value, dut.b_i.value = a, b
        expected.append(a * b)
    assert (worst > 0) == (os.environ["TRUNCATES"] == "1")


def latency(style: int, aw: int, bw: int) -> int:
    if style == 0:
        return 2
    tile_a, tile_b = (26, 17) if style == 1 else (18, 18)
    vectors = -(-bw // tile_b) * (1 if aw <= tile_a else 2)
    return 2 + (vectors - 1).bit_length()


CASES = [
    *((w, w, 2 * w, 0, style) for w, style in ((64, 2), (128, 1))),
    (60, 60, 61, 0, 1),
    (33, 32, 65, 40, 2),
    (47, 13, 60, 0, 1),
    (109, 109, 218, 0, 0),
]
REST = [(63, 62, 125, 60, 1), *((w, w, 2 * w, 0, style) for w in WIDTHS for style in (0, 1, 2))]


@pytest.mark.parametrize(("aw", "bw", "out", "drop", "style"), matrix(CASES, REST))
def test_mul_tiled(aw, bw, out, drop, style):
    parameters = {"AWidth": aw, "BWidth": bw, "OutWidth": out, "DropBelow": drop, "MulStyle": style}
    env = {"LATENCY": str(latency(style, aw, bw)), "TRUNCATES": "1" if drop else "0"}
    run_checks("rs_mul_tiled", parameters, env=env)
