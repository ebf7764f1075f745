# SPDX-License-Identifier: Apache-2.0
"""rs_rns_quotient: v by its definition; at the seam of the rounding, at the longest sums, for every narrowest prime."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.conversion import Conversion
from dv.parameters import formula, matrix, parameter
from dv.primes import prime_above, primes
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw


def bases(width: int, lowest: int) -> list[tuple[int, ...]]:
    """Input primes: eight of the full width, mixed widths, one alone, 2^(b-1) + a little: the largest C."""
    above = prime_above(width, 2)
    mixed = primes([lowest + (width - lowest) * i // 4 for i in range(5)], 2, [above])
    return [tuple(primes([width] * 8, 2)), tuple(mixed), (mixed[0],), (above, *primes([width] * 2, 2, [above]))]


def seams(base: tuple[int, ...], count: int, seed: int) -> list[list[int]]:
    """Residues y of values around D/2, and y at its ends."""
    conversion = Conversion(base, (3,))
    found = [[q - 1 for q in base], [0] * len(base), [1] * len(base)]
    for value in conversion.values(count, seed):
        found.append([value % q * f % q for q, f in zip(base, conversion.factors, strict=True)])
    return found[:count]


@cocotb.test()
async def check_quotients(dut):
    width, rate, lowest, style = (parameter(name, 1) for name in ("W", "RnsRate", "Lowest", "MulStyle"))
    latency = formula("quotient_latency", style, width)
    source = random.Random(width)
    dut.last_i.value = 0
    await start_clock(dut.clk_i, 2)
    seen = set()
    for base in bases(width, max(lowest, 12)):
        conversion = Conversion(base, (3,))
        bits = 51 + conversion.min_bits
        dut.min_bits_i.value = conversion.min_bits
        length = max(len(base), rate)
        values = seams(base, 25 * rate, width)
        for _ in range(latency + rate + 2):
            dut.last_i.value = 0
            await FallingEdge(dut.clk_i)
        due: dict[int, int] = {}
        for now in range(25 * length + latency + rate):
            await FallingEdge(dut.clk_i)
            if now in due:
                assert int(dut.v_o.value) == due.pop(now), (base, now)
            group, step = divmod(now, length)
            live = group < 25 and step < len(base)
            dut.first_i.value, dut.last_i.value = live and step == 0, live and step == len(base) - 1
            dut.reciprocal_i.value = conversion.reciprocals[step] if live else source.getrandbits(52)
            words = []
            for column in range(rate):
                at = now - column
                word = source.getrandbits(width)
                if at >= 0 and at // length < 25 and at % length < len(base):
                    word = values[at // length * rate + column][at % length]
                words.append(word)
            dut.y_i.value = sum(word << width * column for column, word in enumerate(words))
            if live and step == len(base) - 1:
                for column in range(rate):
                    y = values[group * rate + column]
                    total = sum(a * c for a, c in zip(y, conversion.reciprocals, strict=True))
                    due[now + latency + column] = total + (1 << bits - 1) >> bits
                    seen.add(due[now + latency + column])
        assert not due
    assert {0, 8} <= seen
    assert len(seen) > 5


EVERY = [(w, r, low, s) for w in (14, 30, 40, 54, 64) for r in (1, 2, 4) for low in (5, w - 2) for s in (0, 1, 2)]
FAST = [(30, 2, 17, 1), (54, 1, 50, 0)]


@pytest.mark.parametrize(("width", "rate", "lowest", "style"), matrix(FAST, EVERY))
def test_rns_quotient(width, rate, lowest, style):
    run_checks("rs_rns_quotient", {"W": width, "RnsRate": rate, "Lowest": lowest, "MulStyle": style})


@pytest.mark.parametrize("lowest", [4, 33])
def test_refused(lowest):
    refusal = elaboration_error("rs_rns_quotient", {"W": 32, "Lowest": lowest})
    assert "Lowest must be 5 to W" in (refusal or "")
