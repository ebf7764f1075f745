# SPDX-License-Identifier: Apache-2.0
"""rs_rns against big integers and the definition: lifts, scaling, rescaling; seams, extremes, cycles, pauses."""

from __future__ import annotations

import random
from itertools import chain, islice

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.conversion import Arithmetic, Conversion
from dv.parameters import formula, matrix, parameter
from dv.primes import primes
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import lint

pytestmark = pytest.mark.hw

WIDTH, LANES, P, RATE = (parameter(n, 1) for n in ("W", "Lanes", "P", "RnsRate"))
KIND, STYLE, SMALLEST, WORD = (parameter(n, 1) for n in ("MulKind", "MulStyle", "ModMinBits", "MontW"))
OWN = parameter("EnOwn", 1)
BUILD = Arithmetic(WIDTH, KIND, WORD)
HEAWS_Q = (1068564481, 1069219841, 1070727169, 1071513601, 1072496641, 1073479681)
HEAWS_P = (1068433409, 1068236801, 1065811969, 1065484289, 1064697857, 1063452673, 1063321601)


def conversions() -> list[Conversion]:
    """Lift and back, scaling, rescaling by one prime, primes of mixed widths: as many as the lanes allow."""
    # Widths may differ by 40 bits less the logarithm of their number (docs/arithmetic.md).
    spread = 40 - (max(LANES, 1) - 1).bit_length()
    low = max(SMALLEST if KIND == 0 else WORD + 4, 12, WIDTH - spread)
    step = 1 << WORD if KIND else 2
    few, many = max(LANES - 1, 1), LANES
    q = primes([WIDTH] * few, step)
    p = primes([WIDTH] * many, step, q)
    found = [Conversion(tuple(q), tuple(p)), Conversion(tuple(p), tuple(q))]
    if low < WIDTH:
        widths = [low + (WIDTH - low) * i // max(many - 1, 1) for i in range(many)]
        mixed = primes(widths, step, [*q, *p])
        found.append(Conversion(tuple(mixed), tuple(q)))
    if OWN:
        found += [Conversion(tuple(q), tuple(p), 33), Conversion((p[0],), tuple(q), 1, LANES - 1)]
    return found


def samples(conversion: Conversion, count: int, seed: int) -> list[tuple[list[int], list[int]]]:
    """Residues of x and of the kept moduli; the definition is held to the exact value on the way."""
    values = list(conversion.values(count, seed))
    found = [([v % q for q in conversion.source], [v % p for p in conversion.target]) for v in values]
    for value, (x, kept) in zip(values, found, strict=True):
        defined = conversion.defined(x, kept)
        exact = conversion.exact(value)
        assert any([e % p for p in conversion.target] == defined for e in exact), (conversion, value)
    return list(islice(chain(conversion.extremes(), found), count))


def pack(words: list[int], bits: int) -> int:
    return sum(word << bits * i for i, word in enumerate(words))


class Unit:
    """The unit between two memories of words; what is not asked for is random."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.source = random.Random(5)
        self.cycle = 0
        self.asked: list[int | None] = [None, None]
        self.memories: list[list[int]] = [[], []]
        self.written: dict[int, int] = {}

    async def step(self) -> None:
        """One cycle: what was asked for arrives, what is asked for now is noted."""
        await FallingEdge(self.dut.clk_i)
        self.cycle += 1
        ports = (self.dut.x_i, self.dut.own_i)
        for port, asked, memory in zip(ports, self.asked, self.memories, strict=True):
            port.value = self.source.getrandbits(LANES * P * WIDTH) if asked is None else memory[asked]
        requests = ((self.dut.x_rd_valid_o, self.dut.x_rd_word_o), (self.dut.own_rd_valid_o, self.dut.own_rd_word_o))
        self.asked = [int(word.value) if int(valid.value) else None for valid, word in requests]
        if int(self.dut.wr_valid_o.value):
            place = int(self.dut.wr_word_o.value)
            assert place == len(self.written), "words out of order"
            self.written[place] = int(self.dut.wr_data_o.value)

    async def reset(self) -> None:
        self.dut.rst_ni.value, self.dut.start_i.value, self.dut.cfg_we_i.value = 0, 0, 0
        await start_clock(self.dut.clk_i, 2)
        for _ in range(3):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    async def configure(self, conversion: Conversion, number: int, base: int) -> None:
        assert not int(self.dut.configured_o.value) >> number & 1
        for sel, lane, idx, data in conversion.words(BUILD, number, base, LANES):
            self.dut.cfg_sel_i.value, self.dut.cfg_lane_i.value = sel, lane
            self.dut.cfg_idx_i.value, self.dut.cfg_data_i.value = idx, data
            self.dut.cfg_we_i.value = 1
            await self.step()
        self.dut.cfg_we_i.value = 0
        await self.step()
        assert int(self.dut.configured_o.value) >> number & 1
        assert int(self.dut.own_o.value) >> number & 1 == conversion.own

    async def convert(self, number: int, log2n: int, x: list[list[int]], kept: list[list[int]]) -> tuple[list, int]:
        """Residues by coefficient and lane in and out, and the cycles from the start to the last write."""
        self.memories = [self.words(x), self.words(kept)]
        self.written = {}
        assert int(self.dut.ready_o.value)
        self.dut.start_i.value, self.dut.conv_i.value, self.dut.log2_n_i.value = 1, number, log2n
        begun = self.cycle
        await self.step()
        # Settings of an instruction behind this one.
        self.dut.start_i.value, self.dut.conv_i.value, self.dut.log2_n_i.value = 0, 0, 3
        while not int(self.dut.done_o.value):
            assert not int(self.dut.ready_o.value)
            assert self.cycle - begun < 40000, "no end"
            await self.step()
        return self.coefficients(), self.cycle - begun

    def words(self, residues: list[list[int]]) -> list[int]:
        """Memory words of all lanes: word w holds coefficients wP .. wP + P - 1, the first lowest."""
        found = []
        for start in range(0, len(residues), P):
            rows = residues[start : start + P]
            lanes = [
                [row[lane] if lane < len(row) else self.source.getrandbits(WIDTH) for row in rows]
                for lane in range(LANES)
            ]
            found.append(pack([pack(lane, WIDTH) for lane in lanes], P * WIDTH))
        return found

    def coefficients(self) -> list[list[int]]:
        mask = (1 << WIDTH) - 1
        words = [self.written[w] for w in range(len(self.written))]
        return [
            [word >> (lane * P + place) * WIDTH & mask for lane in range(LANES)] for word in words for place in range(P)
        ]


@cocotb.test()
async def check_conversions(dut):
    log2n = max(P.bit_length() + 1, 3)
    await check(dut, conversions(), [log2n, log2n + 2, log2n])


@cocotb.test()
async def check_heaws(dut):
    """The published set: lift q to p, scale by t/q to p, lift back, whole polynomials of 4096 coefficients."""
    lift, back, scale = Conversion(HEAWS_Q, HEAWS_P), Conversion(HEAWS_P, HEAWS_Q), Conversion(HEAWS_Q, HEAWS_P, 33)
    await check(dut, [lift, scale, back], [12])


async def check(dut, chosen: list[Conversion], sizes: list[int]) -> None:
    """Configure the conversions, then run each of them at every size."""
    unit = Unit(dut)
    await unit.reset()
    bases = [0]
    for number, conversion in enumerate(chosen):
        await unit.configure(conversion, number, bases[-1])
        bases.append(bases[-1] + len(conversion.source) + 1)
    pipe = formula("convert_pipe", KIND, STYLE, WIDTH, SMALLEST, WORD, P, RATE)
    for turn, size in enumerate(sizes):
        for number, conversion in enumerate(chosen):
            cases, beside = samples(conversion, 1 << size, turn), [1] * conversion.first
            got, cycles = await unit.convert(number, size, [beside + x for x, _ in cases], [kept for _, kept in cases])
            assert cycles == formula("convert", size, conversion.steps, RATE, pipe), (cycles, conversion.steps)
            for place, (x, kept) in enumerate(cases):
                padding = [0] * (LANES - len(conversion.target))
                assert got[place] == conversion.defined(x, kept) + padding, (number, place, x, kept)
            # At once, or after a while.
            for _ in range(random.Random(turn).randrange(9) if turn else 0):
                await unit.step()


def shape(width, lanes, p, rate, kind, style, smallest, **others):
    """Parameters of a build; the conversions of eight lanes need 44 entries."""
    return {
        "W": width, "Lanes": lanes, "P": p, "RnsRate": rate, "MulKind": kind, "MulStyle": style, "WordAddrBits": 6,
        "ModMinBits": smallest, "MontW": min(16, width // 2 - 1), "RnsConversions": 5, "RnsEntries": 64,
        "MontSteps": 2 if (rate, kind, style) == (4, 1, 1) else 0,
    } | others  # fmt: skip


FAST = [
    (30, 3, 2, 4, 1, 1, 30),
    (20, 3, 4, 2, 0, 0, 12),
    (36, 2, 1, 2, 0, 2, 36),
]
EVERY = [
    (w, lanes, p, rate, kind, style, smallest)
    for w, lanes in ((14, 3), (30, 7), (40, 8), (54, 5), (60, 2), (64, 8))
    for p, rate in ((1, 1), (2, 2), (8, 4), (1, 4))
    for kind, style in ((0, 0), (0, 1), (1, 1), (1, 2))
    for smallest in ((12, w) if kind == 0 else (w,))
]


@pytest.mark.parametrize(("width", "lanes", "p", "rate", "kind", "style", "smallest"), matrix(FAST, EVERY))
def test_rns(width, lanes, p, rate, kind, style, smallest):
    run_checks("rs_rns", shape(width, lanes, p, rate, kind, style, smallest), checks="check_conversions")


@pytest.mark.slow
def test_heaws():
    parameters = shape(30, 7, 2, 2, 1, 1, 30, WordAddrBits=11, MontW=16, MontSteps=1, RnsConversions=4, RnsEntries=32)
    run_checks("rs_rns", parameters, checks="check_heaws")


def test_without_kept_residues():
    run_checks("rs_rns", shape(18, 1, 2, 1, 0, 0, 18, EnOwn=0), checks="check_conversions")


@pytest.mark.parametrize("case", FAST)
def test_lint(case):
    assert lint("rs_rns", shape(*case)) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"W": 65}, "W must be 14 to 64"),
        ({"W": 13, "ModMinBits": 12}, "W must be 14 to 64"),
        ({"Lanes": 9}, "Lanes must be 1 to 8"),
        ({"RnsRate": 3}, "RnsRate must be a power of two up to 4"),
        ({"RnsConversions": 1}, "RnsConversions must be 2 to 32"),
        ({"RnsEntries": 8}, "RnsEntries must be 16 to 128"),
        ({"MulKind": 1, "MontW": 3}, "MontW must be from 4 to W - 2"),
    ],
)
def test_refused(change, words):
    assert any(words in line for line in lint("rs_rns", change))
