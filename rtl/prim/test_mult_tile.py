# SPDX-License-Identifier: Apache-2.0
"""rs_mult_tile against Python integers: every style at its widest tile, whole and cut products, its latency."""

from __future__ import annotations

import random
from collections.abc import Iterator

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from dv.clock import start_clock
from dv.parameters import parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw
#: Registers between operands and product, by style: asic, dsp26x17, dsp18x18, combinational.
REGISTERS = (1, 2, 2, 0)


def pairs(a_bits: int, b_bits: int) -> Iterator[tuple[int, int]]:
    """Every pair of 0, 1 and the two largest operands, single bits, then random pairs."""
    tops = [[0, 1, (1 << bits) - 2, (1 << bits) - 1] for bits in (a_bits, b_bits)]
    yield from ((a, b) for a in tops[0] for b in tops[1])
    yield from ((1 << i, 1 << j) for i in range(a_bits) for j in (0, b_bits - 1))
    source = random.Random(a_bits * b_bits)
    yield from ((source.getrandbits(a_bits), source.getrandbits(b_bits)) for _ in range(300))


@cocotb.test()
async def check_products(dut):
    a_bits, b_bits, out = parameter("AWidth"), parameter("BWidth"), parameter("OutWidth")
    registers = REGISTERS[parameter("MulStyle")]
    await start_clock(dut.clk_i, 4)
    cases = list(pairs(a_bits, b_bits))
    # A new pair every cycle: a register too many or too few shows another pair's product.
    for cycle in range(len(cases) + registers):
        await FallingEdge(dut.clk_i)
        dut.a_i.value, dut.b_i.value = cases[min(cycle, len(cases) - 1)]
        await Timer(1, unit="step")
        if cycle >= registers:
            a, b = cases[cycle - registers]
            assert int(dut.p_o.value) == a * b % (1 << out), (a, b)


SHAPES = [
    (0, 64, 64, 128),
    (0, 9, 14, 15),
    (1, 26, 17, 43),
    (1, 20, 5, 18),
    (2, 18, 18, 36),
    (2, 7, 18, 9),
    (3, 16, 16, 32),
]


@pytest.mark.parametrize(("style", "a_bits", "b_bits", "out"), SHAPES)
def test_mult_tile(style, a_bits, b_bits, out):
    run_checks("rs_mult_tile", {"MulStyle": style, "AWidth": a_bits, "BWidth": b_bits, "OutWidth": out})


@pytest.mark.parametrize(("a_bits", "b_bits", "out"), [(26, 17, 43), (20, 5, 18)])
def test_in_the_primitive(a_bits, b_bits, out):
    parameters = {"MulStyle": 1, "AWidth": a_bits, "BWidth": b_bits, "OutWidth": out}
    run_checks("rs_mult_tile", parameters, defines=["RINGSMITH_DSP48E2"])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"AWidth": 4, "BWidth": 4, "OutWidth": 9}, "OutWidth must be at most AWidth + BWidth"),
        ({"MulStyle": 1, "AWidth": 27, "BWidth": 17}, "AWidth and BWidth must be at most 26 and 17 in MulStyle 1"),
        ({"MulStyle": 1, "AWidth": 26, "BWidth": 18}, "AWidth and BWidth must be at most 26 and 17 in MulStyle 1"),
        ({"MulStyle": 2, "AWidth": 18, "BWidth": 19}, "AWidth and BWidth must be at most 18 in MulStyle 2"),
    ],
)
def test_refused(parameters, words):
    assert words in (elaboration_error("rs_mult_tile", parameters) or "")
