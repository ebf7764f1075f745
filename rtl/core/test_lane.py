# SPDX-License-Identifier: Apache-2.0
"""rs_lane with its control played by the test: transforms, pointwise modes, the memory unit's paths, the fault hook."""

from __future__ import annotations

import random
from collections import defaultdict

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from dv.clock import start_clock
from dv.golden import bank, mirror, steps
from dv.oracle import bit_reverse, forward, inverse, root, twiddle_table
from dv.parameters import formula, parameter
from dv.primes import prime_above, prime_below
from dv.structs import ZERO_SOURCE, Pins
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
WIDTH, P, SLOTS = parameter("W", 32), parameter("P", 1), parameter("Slots", 3)
KIND, STYLE, MONT = parameter("MulKind", 0), parameter("MulStyle", 1), parameter("MontW", 8)
LOG2P = P.bit_length() - 1
LOG2N = parameter("NMaxLog2", 4)
#: Bits of an address in a bank, as bundles have it.
ADDRESS = 14
BUILD = (KIND, STYLE, WIDTH, parameter("ModMinBits", 5), MONT)
BUTTERFLY = formula("butterfly_latency", *BUILD)
ADDEND = formula("addsub_latency", STYLE) + formula("mod_mul_latency", *BUILD)

REST = dict.fromkeys(
    ("rd_valid_i", "read_i", "table_rd_en_i", "table_addr_i", "select_i", "stream_i", "addend_i", "mode_i", "result_i",
     "write_i", "memory_write_i", "fault_i", "memory_i", "load_data_i", "table_wr_en_i", "constant_i", "rns_data_i",
     "pointwise_from_i", "pointwise_data_i"), 0,
) | dict.fromkeys(
    ("select_i.from.v", "select_i.from.u", "select_i.from.w", "addend_i.from", "memory_i.from", "x_from_i",
     "own_from_i"), ZERO_SOURCE,
)  # fmt: skip


def join(word: list[int]) -> int:
    return sum(x << WIDTH * i for i, x in enumerate(word))


def split(word: int) -> list[int]:
    return [word >> WIDTH * i & (1 << WIDTH) - 1 for i in range(P)]


class Lane:
    """The lane's pins as a plan: what each shall be in which cycle. `play` carries it out."""

    def __init__(self, dut, modulus: int) -> None:
        self.dut, self.modulus, self.pins = dut, modulus, Pins(dut)
        self.plan: defaultdict[int, dict[str, int]] = defaultdict(dict)
        self.seen: dict[int, int] = {}
        self.words: dict[int, tuple[int, int]] = {}
        self.radix = pow(2, -(-WIDTH // MONT) * MONT, modulus) if KIND else 1
        dut.modulus_i.value, dut.mod_bits_i.value = modulus, modulus.bit_length()
        dut.aux_i.value = modulus >> MONT if KIND else (1 << modulus.bit_length() + WIDTH + 2) // modulus
        dut.minus_one_i.value = -self.radix % modulus

    def at(self, cycle: int, port: str = "", **pins: int) -> None:
        """Set pins in a cycle, or fields of a bundle; what several users of a pin set is joined."""
        for name, value in pins.items():
            pin = f"{port}.{name}" if port else name
            self.plan[cycle][pin] = self.plan[cycle].get(pin, 0) | value

    def select(self, cycle: int, **sources: int) -> None:
        """Choose the slots of operands."""
        self.at(cycle, "select_i.from", **sources)

    def port(self, cycle: int, kind: str, slot: int, *words: int, enable: str = "en") -> None:
        """Drive a slot's ports, read or write, for these words: one, or a pair in both banks."""
        port = f"{kind}_i[{slot}]"
        if kind == "read":
            self.at(cycle, port, first=bank(words[0]))
        for word in words:
            if enable == "memory":
                self.at(cycle, memory_write_i=1 << 2 * slot + bank(word))
            else:
                self.at(cycle, port, **{enable: 1 << bank(word)})
            self.at(cycle, port, addr=word >> 1 << bank(word) * ADDRESS)

    async def play(self) -> None:
        """Carry the plan out and forget it, keeping what the memory unit's read register showed."""
        self.seen = {}
        for cycle in range(max(self.plan) + 3):
            await FallingEdge(self.dut.clk_i)
            self.pins.set(REST | self.plan[cycle])
            await Timer(1, unit="step")
            self.seen[cycle] = int(self.dut.memory_data_o.value)
            self.words[cycle] = (int(self.dut.x_data_o.value), int(self.dut.own_data_o.value))
        self.plan.clear()

    async def load(self, slot: int, values: list[int]) -> None:
        """Fill a slot through the memory unit's port."""
        for word in range(len(values) // P):
            self.port(word + 1, "write", slot, word, enable="memory")
            self.at(word, "memory_i", load=1)
            self.at(word, load_data_i=join(values[word * P : word * P + P]))
        await self.play()

    async def load_table(self, values: list[int]) -> None:
        """Fill the twiddle table, in the form the multiplier wants."""
        for word in range(len(values) // P):
            chunk = [x * self.radix % self.modulus for x in values[word * P : word * P + P]]
            self.at(word, "memory_i", load=1)
            self.at(word, load_data_i=join(chunk))
            self.at(word + 1, table_wr_en_i=1, table_addr_i=word)
        await self.play()

    async def read(self, slot: int, n: int) -> list[int]:
        """A slot's first n coefficients through the memory unit's port."""
        for word in range(n // P):
            self.port(word, "read", slot, word)
            self.at(word + 1, "memory_i", **{"from": slot})
        await self.play()
        return [x for word in range(n // P) for x in split(self.seen[word + 2])]

    async def copy_reversed(self, dst: int, src: int, log2n: int) -> None:
        """Bit-reversed copy: a coefficient a cycle, a word written as its last one comes."""
        for i in range(1 << log2n):
            there = bit_reverse(i, log2n)
            self.port(i, "read", src, there // P)
            self.at(i + 1, "memory_i", **{"from": src})
            self.at(i + 2, "memory_i", reverse=1, pick=there % P, place=i % P)
            if i % P == P - 1:
                self.port(i + 2, "write", dst, i // P, enable="memory")
        await self.play()

    async def transform(self, slots: list[int], log2n: int, *, inverse: bool, cyclic: bool, addend: int = 32) -> None:
        """A whole transform; `slots`: the source, then the result of each stage. Stages do not overlap."""
        n = 1 << log2n
        for number, step in enumerate(steps(n, P, inverse=inverse, cyclic=cyclic)):
            start = number + step.stage * (BUTTERFLY + 3)
            log2m = log2n - 1 - step.stage if inverse else step.stage
            plain = mirror(step.twiddle_word) if inverse else step.twiddle_word
            self.port(start, "read", slots[step.stage], *step.reads)
            self.at(start, rd_valid_i=1, table_rd_en_i=1, table_addr_i=step.twiddle_word)
            self.select(start + 1, v=slots[step.stage])
            self.at(start + 1, "select_i", pair=1, inverse=inverse, cyclic=cyclic)
            self.at(start + 1, "select_i", v_bank=bank(step.reads[1]), straight=not inverse)
            self.at(start + 1, "select_i", level=min(log2m, LOG2P), first_word=plain == 0)
            self.at(start + 2, "mode_i", crossed=inverse, halve=inverse)
            if addend < 32 and step.stage == log2n - 1:
                self.port(start + ADDEND, "read", addend, *step.writes)
                self.at(start + ADDEND + 1, "addend_i", bank=bank(step.writes[0]), **{"from": addend})
            end = start + 2 + BUTTERFLY
            self.port(end, "write", slots[step.stage + 1], *step.writes)
            self.at(end, "result_i", forward=not inverse, bank=bank(step.writes[0]))
        self.default_zero_addend()
        await self.play()

    def default_zero_addend(self) -> None:
        """No addend and no operand where the plan names none."""
        for pins in self.plan.values():
            for name in ("select_i.from.u", "select_i.from.w", "addend_i.from"):
                pins.setdefault(name, ZERO_SOURCE)

    async def pointwise(self, dst: int, roles: dict[str, int], count: int, *, high: int = 32, **mode: int) -> None:
        """A pointwise instruction on `count` words: the slots of v, u and w, the butterfly's mode, a constant."""
        constant = mode.pop("constant", 0)
        for word in range(count):
            self.at(word + 1, "select_i", v_bank=bank(word), straight=1, constant=int(constant > 0))
            self.at(word + 1, constant_i=constant)
            self.at(word, rd_valid_i=1)
            for slot in set(roles.values()):
                self.port(word, "read", slot, word)
            self.select(word + 1, **{role: roles.get(role, ZERO_SOURCE) for role in "vuw"})
            self.at(word + 2, "mode_i", **{name: value for name, value in mode.items() if name != "fault"})
            end = word + 2 + BUTTERFLY
            self.port(end, "write", dst, word)
            self.at(end, "result_i", bank=bank(word))
            self.at(end, fault_i=mode.get("fault", 0))
            if high < 32:
                self.port(end, "write", high, word)
                self.at(end, f"write_i[{high}]", high=1)
        await self.play()


async def started(dut, modulus: int) -> Lane:
    Pins(dut).set(REST)
    await start_clock(dut.clk_i, 4)
    return Lane(dut, modulus)


def moduli() -> list[int]:
    step = 1 << max(LOG2N + 1, MONT if KIND else 0)
    return [prime_below(WIDTH, step), prime_above(max(WIDTH - 2, step.bit_length() + 1), step)]


def residues(modulus: int, seed: int, n: int = 1 << LOG2N) -> list[int]:
    draw = random.Random(seed)
    return [modulus - 1, 0, 1, modulus - 1, *(draw.randrange(modulus) for _ in range(n - 4))]


@cocotb.test()
async def check_transforms(dut):
    """Every size, both directions and rings, from and to either kind of slot, with and without an addend."""
    for modulus in moduli():
        lane = await started(dut, modulus)
        last, addend = SLOTS - 1, SLOTS - 2
        for log2n in range(max(3, LOG2P + 2), LOG2N + 1):
            n = 1 << log2n
            psi = root(modulus, n)
            await lane.load_table(twiddle_table(modulus, psi, n))
            data, extra = residues(modulus, log2n, n), residues(modulus, 99, n)
            await lane.load(last, data)
            await lane.load(addend, extra)
            for cyclic in (False, True):
                # Work slots 0 and 1 take turns.
                forth = [last, *[s % 2 for s in range(log2n - 1)], last]
                await lane.transform(forth, log2n, inverse=False, cyclic=cyclic)
                values = forward(data, psi, modulus, cyclic=cyclic)
                assert await lane.read(last, n) == values, (log2n, cyclic)
                await lane.transform(forth, log2n, inverse=True, cyclic=cyclic, addend=addend if cyclic else 32)
                back = inverse(values, psi, modulus, cyclic=cyclic)
                assert back == data
                if cyclic:
                    back = [(x + y) % modulus for x, y in zip(back, extra, strict=True)]
                assert await lane.read(last, n) == back, (log2n, cyclic)
                await lane.load(last, data)
            assert await lane.read(addend, n) == extra


@cocotb.test()
async def check_pointwise(dut):
    """The modes of the pointwise instructions on every mixture of slots, the zero source among them."""
    for modulus in moduli():
        lane = await started(dut, modulus)
        n, undo = 1 << LOG2N, pow(lane.radix, -1, modulus)
        a, b, c = (residues(modulus, seed) for seed in (1, 2, 3))
        b.reverse()
        slots = {0: a, 1: b, SLOTS - 1: c}
        for slot, values in slots.items():
            await lane.load(slot, values)
        mask, last, constant = (1 << WIDTH) - 1, SLOTS - 1, modulus - 5
        form = constant * lane.radix % modulus
        cases = [
            ({"v": 0, "u": 1}, {"crossed": 1}, [(x + y) % modulus for x, y in zip(b, a, strict=True)]),
            ({"v": 0, "u": 1}, {"crossed": 1, "sub": 1}, [(x - y) % modulus for x, y in zip(b, a, strict=True)]),
            ({"v": 0, "w": 1}, {}, [x * y * undo % modulus for x, y in zip(a, b, strict=True)]),
            ({"v": 0, "w": 0}, {}, [x * x * undo % modulus for x in a]),
            ({"v": 1, "w": 0, "u": last}, {}, [(x * y * undo + z) % modulus for x, y, z in zip(a, b, c, strict=True)]),
            ({"v": last}, {"constant": form}, [x * constant % modulus for x in c]),
            ({"w": 1, "u": 0}, {}, a),
        ]
        for roles, mode, wanted in cases:
            await lane.pointwise(2, roles, n // P, **mode)
            assert await lane.read(2, n) == wanted, (roles, mode)
        await lane.pointwise(2, {"v": 0, "w": 1}, n // P, high=3, product=1)
        products = [x * y for x, y in zip(a, b, strict=True)]
        assert await lane.read(2, n) == [p & mask for p in products]
        assert await lane.read(3, n) == [p >> WIDTH for p in products]
        # The fault flips bit 0 of coefficient 0 of each word.
        await lane.pointwise(2, {"w": 1, "u": 0}, n // P, fault=1)
        assert await lane.read(2, n) == [x ^ int(i % P == 0) for i, x in enumerate(a)]
        assert [await lane.read(slot, n) for slot in slots] == list(slots.values())


@cocotb.test()
async def check_reversed_copies(dut):
    lane = await started(dut, moduli()[0])
    for log2n in range(max(3, LOG2P + 2), LOG2N + 1):
        n = 1 << log2n
        data = residues(lane.modulus, log2n, n)
        await lane.load(1, data)
        await lane.copy_reversed(SLOTS - 1, 1, log2n)
        assert await lane.read(SLOTS - 1, n) == [data[bit_reverse(i, log2n)] for i in range(n)]
        assert await lane.read(1, n) == data


@cocotb.test(skip=not parameter("RnsRate") | parameter("Moves"))
async def check_conversion_ports(dut):
    """Words of two slots come a cycle after they are asked for, zero sources as 0; results reach their slot."""
    lane = await started(dut, moduli()[0])
    words, last = (1 << LOG2N) // P, SLOTS - 1
    a, b, c = (residues(lane.modulus, seed) for seed in (1, 2, 3))
    await lane.load(0, a)
    await lane.load(last, b)
    for word in range(words):
        zero = word % 5 == 3
        lane.port(word, "read", 0, word)
        lane.port(word, "read", last, words - 1 - word)
        lane.at(word + 1, x_from_i=ZERO_SOURCE if zero else 0)
        lane.at(word + 1, own_from_i=last)
        lane.port(word + 1, "write", 2, word, enable="rns")
        lane.at(word + 1, rns_data_i=join(c[word * P : word * P + P]))
    await lane.play()
    for word in range(words):
        x, own = (split(data) for data in lane.words[word + 1])
        assert x == ([0] * P if word % 5 == 3 else a[word * P : word * P + P]), word
        assert own == b[(words - 1 - word) * P : (words - word) * P], word
    assert await lane.read(2, 1 << LOG2N) == c
    assert [await lane.read(slot, 1 << LOG2N) for slot in (0, last)] == [a, b]


BUILDS = [
    {"P": 1, "W": 14, "MulStyle": 0, "NMaxLog2": 5, "SinglePort": 0b110000},
    {
        "P": 4,
        "W": 30,
        "MulStyle": 1,
        "NMaxLog2": 5,
        "MulKind": 1,
        "MontW": 11,
        "MontSteps": 2,
        "SinglePort": 0b100000,
        "RnsRate": 1,
    },
    {"P": 8, "W": 20, "MulStyle": 0, "NMaxLog2": 6, "SinglePort": 0},
    {"P": 2, "W": 16, "MulStyle": 0, "NMaxLog2": 5, "SinglePort": 0b11000000000, "Slots": 11},
]
WIDER = [
    {"P": 2, "W": 60, "MulStyle": 2, "NMaxLog2": 5, "SinglePort": 0b111000, "Moves": 4},
    {"P": 32, "W": 14, "MulStyle": 0, "NMaxLog2": 7, "SinglePort": 0b100000},
    {"P": 1, "W": 128, "MulStyle": 1, "NMaxLog2": 4, "MulKind": 1, "MontW": 16, "SinglePort": 0b110000},
]


@pytest.mark.parametrize("build", [*BUILDS, *(pytest.param(b, marks=pytest.mark.slow) for b in WIDER)], ids=str)
def test_lane(build):
    run_checks("rs_lane", {"Slots": 6, "TwTables": 1, **build}, defines=["RINGSMITH_FAULT_PIN"])
