# SPDX-License-Identifier: Apache-2.0
"""rs_rns_unit between slots in Python: the words it asks for, from which slot and bank, and where its results go."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.conversion import Arithmetic, Conversion
from dv.parameters import formula, parameter
from dv.primes import primes
from dv.structs import CONVERSION, ZERO_SOURCE, Pins, pack
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
WIDTH, LANES, P, RATE = (parameter(n, 1) for n in ("W", "Lanes", "P", "RnsRate"))
KIND, STYLE, SMALLEST, WORD = (parameter(n, 1) for n in ("MulKind", "MulStyle", "ModMinBits", "MontW"))
N = 4 * max(P, RATE)

Slot = list[list[int]]  # by lane


def join(words: list[int], bits: int) -> int:
    return sum(word << bits * i for i, word in enumerate(words))


class Slots:
    """Slots behind the unit's read and write pins; what is not asked for is random."""

    def __init__(self, dut, held: dict[int, Slot]) -> None:
        self.dut, self.held, self.source, self.pins = dut, held, random.Random(4), Pins(dut)
        self.asked: dict[str, tuple[int, int] | None] = {"x": None, "own": None}

    def word(self, slot: int, place: int) -> int:
        if slot >= ZERO_SOURCE:
            return 0
        return join([join(lane[place * P : place * P + P], WIDTH) for lane in self.held[slot]], P * WIDTH)

    async def step(self) -> None:
        """One cycle: words asked for in the last one arrive by their selection, results are taken."""
        dut, pins = self.dut, self.pins
        await FallingEdge(dut.clk_i)
        for name in ("x", "own"):
            valid, slot, place = (pins[f"{name}_read_o.{field}"] for field in ("valid", "from", "word"))
            asked, data = self.asked[name], self.source.getrandbits(LANES * P * WIDTH)
            if asked is not None:
                assert slot == asked[0], name
                data = self.word(*asked)
            getattr(dut, f"{name}_i").value = data
            self.asked[name] = (slot, place) if valid else None
        if pins["write_valid_o"]:
            word, place = pins["data_o"], pins["write_o.word"]
            for lane in range(LANES):
                chunk = [word >> (lane * P + i) * WIDTH & (1 << WIDTH) - 1 for i in range(P)]
                self.held[pins["write_o.slot"]][lane][place * P : place * P + P] = chunk


@cocotb.test()
async def check_instructions(dut):
    step = 1 << WORD if KIND else 2
    q = primes([WIDTH] * (LANES - 1), step)
    p = primes([WIDTH] * LANES, step, q)
    lift = Conversion(tuple(q), tuple(p), first=1)
    scale = Conversion(tuple(q), tuple(p), 33, first=1)
    slots = Slots(dut, {})
    for name in ("rst_ni", "start_i", "constant_i", "instr_i", "x_i", "own_i"):
        getattr(dut, name).value = 0
    await start_clock(dut.clk_i, 2)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    last = parameter("RnsConversions", 4) - 1
    for number, base, conversion in ((0, 0, lift), (last, LANES, scale)):
        for sel, lane, index, data in conversion.words(Arithmetic(WIDTH, KIND, WORD), number, base, LANES):
            fields = {"we": 1, "sel": 4 + sel, "lane": lane, "idx": index, "data": data}
            slots.pins.set({f"constant_i.{name}": value for name, value in fields.items()})
            await FallingEdge(dut.clk_i)
    slots.pins.set({"constant_i.we": 0})
    await slots.step()
    assert (int(dut.configured_o.value), int(dut.own_o.value)) == (1 | 1 << last, 1 << last)

    draw, pipe = random.Random(2), formula("convert_pipe", KIND, STYLE, WIDTH, SMALLEST, WORD, P, RATE)
    cases = [
        (lift, 0, {"x": 3, "own": 5, "dst": 7}),
        (scale, last, {"x": 3, "own": 5, "dst": 31}),
        (scale, last, {"x": ZERO_SOURCE | 9, "own": 5, "dst": 0}),
        (scale, last, {"x": 3, "own": ZERO_SOURCE | 1, "dst": 1}),
        (scale, last, {"x": 3, "own": 5, "dst": 5}),
        (lift, 0, {"x": 3, "own": 3, "dst": 3}),
    ]
    for conversion, number, fields in cases:
        slots.held.clear()
        slots.held |= {slot: [[0] * N for _ in range(LANES)] for slot in (0, 1, 7, 31)}
        slots.held[3] = [[0] * N, *([draw.randrange(m) for _ in range(N)] for m in q)]
        slots.held[5] = [[draw.randrange(m) for _ in range(N)] for m in p]
        zeros = [[0] * N for _ in range(LANES)]
        x, own = (slots.held.get(fields[role], zeros) for role in ("x", "own"))
        columns = zip(zip(*x[1:], strict=True), zip(*own, strict=True), strict=True)
        wanted = [conversion.defined(residues, kept) for residues, kept in columns]
        dut.instr_i.value = pack(CONVERSION, fields | {"log2_n": N.bit_length() - 1, "entry": number})
        dut.start_i.value = 1
        await slots.step()
        # The next instruction waits at the head meanwhile.
        dut.start_i.value, dut.instr_i.value = 0, pack(CONVERSION, {"x": 30, "own": 30, "dst": 30, "log2_n": 3})
        cycles = 1
        while not int(dut.done_o.value):
            await slots.step()
            cycles += 1
            assert cycles < 1000, "no end"
        assert cycles == formula("convert", N.bit_length() - 1, conversion.steps, RATE, pipe), fields
        assert [list(row) for row in zip(*slots.held[fields["dst"]], strict=True)] == wanted, fields
        await slots.step()


@pytest.mark.parametrize(
    "build",
    [
        {"W": 20, "P": 2, "RnsRate": 4, "MulKind": 0, "MulStyle": 0, "ModMinBits": 20, "RnsConversions": 4},
        {"W": 30, "P": 4, "RnsRate": 2, "MulKind": 1, "MulStyle": 1, "MontW": 10, "MontSteps": 1, "RnsConversions": 32},
    ],
    ids=str,
)
def test_rns_unit(build):
    run_checks("rs_rns_unit", {"Lanes": 3, "NMaxLog2": 3 + build["P"].bit_length(), **build})
