# SPDX-License-Identifier: Apache-2.0
"""rs_pointwise_unit beside slots in Python: every instruction, at every n, one after another; a streamed factor."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from dv.clock import start_clock
from dv.operands import word_moduli
from dv.parameters import formula, parameter
from dv.structs import COMPUTE, ZERO_SOURCE, Pins, pack
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
ZERO = ZERO_SOURCE | 31
MODES = ("add", "sub", "product", "square", "multiply-add", "constant", "constant-add")


class Unit:
    """The unit, the slots and the stream beside it; moduli by index and lane."""

    def __init__(self, dut, source: random.Random) -> None:
        self.dut, self.source = dut, source
        self.width, self.p, self.lanes = parameter("W", 32), parameter("P", 1), parameter("Lanes", 1)
        self.kind, self.mont = parameter("MulKind", 0), parameter("MontW", 8)
        self.stream = parameter("EnStream", 0)
        moduli = word_moduli(self.width, self.mont)
        self.moduli = [[source.choice(moduli) for _ in range(self.lanes)] for _ in range(parameter("Moduli", 1))]
        self.constants = [[source.randrange(min(row[lane] for row in self.moduli)) for lane in range(self.lanes)]
                          for _ in range(parameter("Consts", 1))]  # fmt: skip
        words = 1 << parameter("NMaxLog2", 6) - self.p.bit_length() + 1
        # [slot][word][lane][coefficient]
        self.slots = [[[[0] * self.p for _ in range(self.lanes)] for _ in range(words)] for _ in range(5)]
        self.waiting: list[list[list[int]]] = []

    def joined(self, word: list[list[int]]) -> int:
        flat = [value for lane in word for value in lane]
        return sum(value << self.width * at for at, value in enumerate(flat))

    async def configure(self, sel: int, lane: int, index: int, data: int) -> None:
        pins, fields = Pins(self.dut), {"we": 1, "sel": sel, "lane": lane, "idx": index, "data": data}
        pins.set({f"constant_i.{name}": value for name, value in fields.items()})
        await FallingEdge(self.dut.clk_i)
        pins.set({"constant_i.we": 0})

    async def start(self) -> None:
        dut = self.dut
        for name in ("rst_ni", "constant_i", "start_i", "stream_ready_i", "stream_i", "v_i", "u_i", "w_i"):
            getattr(dut, name).value = 0
        await start_clock(dut.clk_i, 2)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        for index, row in enumerate(self.moduli):
            for lane, m in enumerate(row):
                aux = m >> self.mont if self.kind else (1 << m.bit_length() + self.width + 2) // m
                for sel, data in ((0, m), (1, aux), (2, 0 if self.kind else m.bit_length())):
                    await self.configure(sel, lane, index, data)
        for index, row in enumerate(self.constants):
            for lane, value in enumerate(row):
                await self.configure(3, lane, index, value)

    async def run(self, instr: dict[str, int], mod: int) -> int:
        """Start an instruction and serve its reads and writes; the cycles to its end."""
        dut, pins = self.dut, Pins(self.dut)
        dut.start_i.value, dut.instr_i.value, dut.mod_idx_i.value = 1, pack(COMPUTE, instr), mod
        ready, address, cycles = 0, None, 0
        while True:
            # What was read at t0 comes at t1.
            await FallingEdge(dut.clk_i)
            dut.start_i.value, cycles = 0, cycles + 1
            if address is not None:
                for name in "vuw":
                    slot = pins[f"select_o.{name}"]
                    # The zero slot's words are anything.
                    word = self.slots[slot][address] if slot < ZERO_SOURCE else self.noise()
                    getattr(dut, f"{name}_i").value = self.joined(word)
            dut.stream_ready_i.value = ready
            await Timer(1, unit="step")
            if int(dut.stream_take_o.value):
                dut.stream_i.value = self.joined(self.waiting.pop(0))
            address = pins["read_o.word0"] if pins["read_o.valid"] else None
            ready = int(self.source.random() < 0.7)
            if pins["result_o.valid"]:
                data, mask = int(dut.data_o.value), (1 << self.width) - 1
                flat = [data >> self.width * at & mask for at in range(self.lanes * self.p)]
                word = [flat[lane * self.p : (lane + 1) * self.p] for lane in range(self.lanes)]
                self.slots[pins["result_o.slot"]][pins["result_o.word0"]] = word
            if int(dut.done_o.value):
                return cycles

    def noise(self) -> list[list[int]]:
        return [[self.source.getrandbits(self.width) for _ in range(self.p)] for _ in range(self.lanes)]

    def fill(self, mod: int) -> None:
        for slot in self.slots:
            for word in slot:
                for lane, m in enumerate(self.moduli[mod]):
                    values = (0, 1, m - 1)
                    word[lane] = [
                        self.source.choice((*values, self.source.randrange(m))) for _ in range(self.p)
                    ]  # fmt: skip


def expected(unit: Unit, mode: str, mod: int, const: int, operands: list[int], lane: int) -> int:
    """A coefficient of the result; products carry the factor that Montgomery reduction takes off."""
    m, (a, b, c) = unit.moduli[mod][lane], operands
    r = pow(2, -(-(-unit.width // unit.mont) * unit.mont), m) if unit.kind else 1
    k = unit.constants[const][lane]
    return {
        "add": a + b, "sub": a - b, "product": a * b * r, "square": a * a * r, "multiply-add": a * b * r + c,
        "constant": a * k * r, "constant-add": a * k * r + c,
    }[mode] % m  # fmt: skip


@cocotb.test()
async def check_instructions(dut):
    unit = Unit(dut, random.Random(parameter("W", 32)))
    await unit.start()
    source = unit.source
    pipe = formula("pointwise_pipe", unit.kind, parameter("MulStyle", 1), unit.width, 5, unit.mont)
    least = max(3, unit.p.bit_length() + 1)
    for number in range(40):
        mode, log2n = MODES[number % len(MODES)], source.randrange(least, parameter("NMaxLog2", 6) + 1)
        mod, const = source.randrange(len(unit.moduli)), source.randrange(len(unit.constants))
        streams = bool(unit.stream and mode in ("product", "multiply-add") and source.random() < 0.6)
        unit.fill(mod)
        a, b, c, dst = (source.randrange(5) for _ in range(4))
        sources = {"v": a, "w": ZERO, "u": ZERO}
        if mode in ("add", "sub"):
            sources |= {"u": a, "v": b}
        if mode in ("product", "multiply-add"):
            sources["w"] = ZERO if streams else b
        if mode == "square":
            sources["w"] = a
        if mode.endswith("-add"):
            sources["u"] = c
        words = (1 << log2n) // unit.p
        before = [[[list(lane) for lane in word] for word in slot] for slot in unit.slots]
        if streams:
            unit.waiting = [before[b][word] for word in range(words)]
        cycles = await unit.run(
            {
                **sources, "e": ZERO, "dst": dst, "log2_n": log2n, "const_idx": const, "stream": streams,
                "crossed": mode in ("add", "sub"), "sub": mode == "sub", "constant": mode.startswith("constant"),
            },
            mod,
        )  # fmt: skip
        assert streams or cycles == words + pipe, (mode, log2n)
        for word in range(words):
            for lane in range(unit.lanes):
                for at in range(unit.p):
                    operands = [before[slot][word][lane][at] for slot in (a, b, c)]
                    want = expected(unit, mode, mod, const, operands, lane)
                    assert unit.slots[dst][word][lane][at] == want, (mode, log2n, word, lane, at)
        # Words beyond n and other slots stay.
        for slot in range(5):
            assert unit.slots[slot][words if slot == dst else 0 :] == before[slot][words if slot == dst else 0 :]


SMALL = {"NMaxLog2": 6, "Slots": 5, "Moduli": 2, "TwTables": 2, "Consts": 3, "EnPointwise": 1, "ModMinBits": 5}


@pytest.mark.parametrize(
    "build",
    [
        {"W": 20, "P": 2, "Lanes": 2, "MulStyle": 1, "MulKind": 1, "MontW": 8},
        {"W": 32, "P": 4, "Lanes": 1, "MulStyle": 0, "MontW": 8, "WidePort": 1, "EnStream": 1},
        pytest.param({"W": 60, "P": 8, "Lanes": 3, "MulStyle": 2, "MontW": 8}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_pointwise_unit(build):
    run_checks("rs_pointwise_unit", SMALL | build)
