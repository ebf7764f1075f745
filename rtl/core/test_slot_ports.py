# SPDX-License-Identifier: Apache-2.0
"""rs_slot_ports: every user's words reach their slot, bank and place, and no port is driven without a use."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from dv.clock import start_clock
from dv.parameters import parameter
from dv.structs import ZERO_SOURCE, Pins
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw

RNS, POINTWISE = parameter("EnRns", 0), parameter("EnPointwise", 0)
#: Bits of an address in a bank, as bundles have it.
ADDRESS = 14
Ports = dict[tuple[int, int], int]


def place(word: int) -> tuple[int, int]:
    """Bank and address in it: the parity, and the address without its lowest bit."""
    return word.bit_count() & 1, word >> 1


def use(ports: Ports, slot: int, *words: int) -> None:
    """A slot's ports at the places of one word or two."""
    for word in words:
        bank, address = place(word)
        ports[slot, bank] = address


def pair(source: random.Random, bits: int) -> tuple[int, int]:
    """Two words of a pair: neighbours, or far apart at any n."""
    first = source.getrandbits(bits)
    return first, first ^ 1 << source.choice((0, source.randrange(bits)))


class Traffic:
    """One cycle's users on slots of their own, and what the ports must be."""

    def __init__(self, source: random.Random, slots: int, bits: int, lanes: int) -> None:
        self.reads: Ports = {}
        self.firsts: dict[int, int] = {}
        self.writes: Ports = {}
        self.inputs: dict[str, int] = {}
        self.high, self.memory, self.converted, self.multiplied = 0, 0, 0, 0
        self._read(source, slots, bits)
        self._write(source, slots, bits, lanes)

    def _read(self, source: random.Random, slots: int, bits: int) -> None:
        free = source.sample(range(slots), slots)
        words, late_words, single = pair(source, bits), pair(source, bits), source.getrandbits(bits)
        valid, paired, late, memory = (source.random() < 0.7 for _ in range(4))
        late_slot, memory_slot = free.pop(), free.pop()
        late, memory = late and source.random() < 0.8, memory and bool(free)
        for name in ("x", "own"):
            word, reads = source.getrandbits(bits), RNS and len(free) > 1 and source.random() < 0.7
            slot = free.pop() if reads else late_slot
            if reads:
                self._use(slot, word)
            self.inputs |= {f"{name}_read_i.valid": reads, f"{name}_read_i.from": slot, f"{name}_read_i.word": word}
        self._multiply(source, bits, free, late_slot)
        roles = [source.choice([*(free or [late_slot]), ZERO_SOURCE | late_slot]) for _ in "vuw"]
        valid = valid and bool(free)
        users = [r for r in (roles[:1] if paired else roles) if r < ZERO_SOURCE] if valid else []
        for slot in users:
            self._use(slot, *(words if paired else words[:1]))
        if late:
            self._use(late_slot, *late_words)
        if memory:
            self._use(memory_slot, single)
        self.inputs |= {
            "read_i.valid": valid, "read_i.pair": paired, "read_i.from.v": roles[0], "read_i.from.u": roles[1],
            "read_i.from.w": roles[2], "read_i.word0": words[0], "read_i.word1": words[1],
            "late_i.valid": late, "late_i.from": late_slot, "late_i.word0": late_words[0],
            "late_i.word1": late_words[1], "memory_read_i.valid": memory, "memory_read_i.from": memory_slot,
            "memory_read_i.word": single,
        }  # fmt: skip

    def _use(self, slot: int, *words: int) -> None:
        use(self.reads, slot, *words)
        self.firsts[slot] = place(words[0])[0]

    def _multiply(self, source: random.Random, bits: int, free: list[int], other: int) -> None:
        """Reads of the unit of pointwise instructions, on slots that it alone has, and perhaps the zero slot."""
        word, reads = source.getrandbits(bits), POINTWISE and len(free) > 3 and source.random() < 0.7
        mine = [free.pop(), free.pop()] if reads else [other]
        roles = [source.choice([*mine, ZERO_SOURCE | other]) for _ in "vuw"]
        for slot in {role for role in roles if role < ZERO_SOURCE} if reads else ():
            self._use(slot, word)
        self.inputs |= {"pointwise_read_i.valid": reads, "pointwise_read_i.word0": word}
        self.inputs |= {f"pointwise_read_i.from.{name}": role for name, role in zip("vuw", roles, strict=True)}

    def _write(self, source: random.Random, slots: int, bits: int, lanes: int) -> None:
        result, high, memory, *others = source.sample(range(slots), min(slots, 5))
        converts, word = bool(RNS and others and source.random() < 0.7), source.getrandbits(bits)
        convert = others[0] if converts else result
        if converts:
            self.converted = 1 << 2 * convert + place(word)[0]
        self.conversion_place = (convert, *place(word)) if converts else None
        self.inputs |= {"rns_write_valid_i": converts, "rns_write_i.slot": convert, "rns_write_i.word": word}
        multiplies, word = bool(POINTWISE and len(others) > 1 and source.random() < 0.7), source.getrandbits(bits)
        product = others[1] if multiplies else result
        if multiplies:
            self.multiplied = 1 << 2 * product + place(word)[0]
        self.product_place = (product, *place(word)) if multiplies else None
        self.inputs |= {"pointwise_result_i.valid": multiplies, "pointwise_result_i.slot": product}
        self.inputs["pointwise_result_i.word0"] = word
        words, single = pair(source, bits), source.getrandbits(bits)
        valid, paired, has_high = source.random() < 0.7, source.random() < 0.5, source.random() < 0.5
        hit = source.getrandbits(lanes) if source.random() < 0.7 else 0
        if valid:
            use(self.writes, result, *(words if paired else words[:1]))
        if valid and has_high:
            use(self.writes, high, words[0])
            self.high = 1 << high
        for lane in range(lanes):
            if hit >> lane & 1:
                self.memory |= 1 << (lane * slots + memory) * 2 + place(single)[0]
        self.memory_place = (memory, *place(single)) if hit else None
        # The second word of a product's pair does not exist.
        self.inputs |= {
            "result_i.valid": valid, "result_i.pair": paired, "result_i.slot": result, "result_i.high_valid": has_high,
            "result_i.high": high, "result_i.word0": words[0], "result_i.word1": words[1],
            "memory_write_valid_i": hit, "memory_write_i.slot": memory, "memory_write_i.word": single,
        }  # fmt: skip


def enabled(word: int) -> set[tuple[int, int]]:
    """Slots and banks whose bit is set."""
    return {divmod(i, 2) for i in range(word.bit_length()) if word >> i & 1}


@cocotb.test()
async def check_ports(dut):
    slots, bits, lanes = parameter("Slots", 3), parameter("WordAddrBits", 4), parameter("Lanes", 1)
    source, pins = random.Random(slots), Pins(dut)
    users = set()
    await start_clock(dut.clk_i, 4)
    for _ in range(1000):
        await FallingEdge(dut.clk_i)
        traffic = Traffic(source, slots, bits, lanes)
        pins.set(traffic.inputs)
        await Timer(1, unit="step")

        def address(port: str, slot: int, bank: int) -> int:
            return pins[f"{port}_o[{slot}].addr"] >> bank * ADDRESS & (1 << ADDRESS) - 1

        def joined(field: str) -> int:
            """A field of every slot's port, one behind the other."""
            bits = 1 if field in ("read_o.first", "write_o.high") else 2
            port, _, name = field.partition(".")
            return sum(pins[f"{port}[{slot}].{name}"] << bits * slot for slot in range(slots))

        assert enabled(joined("read_o.en")) == traffic.reads.keys(), traffic.inputs
        assert {slot: pins[f"read_o[{slot}].first"] for slot in traffic.firsts} == traffic.firsts, traffic.inputs
        for port, wanted in traffic.reads.items():
            assert address("read", *port) == wanted, (port, traffic.inputs)
        assert enabled(joined("write_o.en")) == traffic.writes.keys(), traffic.inputs
        for port, wanted in traffic.writes.items():
            assert address("write", *port) == wanted, (port, traffic.inputs)
        assert joined("write_o.high") == traffic.high
        assert pins["memory_write_o"] == traffic.memory, traffic.inputs
        assert joined("write_o.rns") == traffic.converted, traffic.inputs
        assert joined("write_o.pointwise") == traffic.multiplied, traffic.inputs
        if traffic.product_place:
            *port, wanted = traffic.product_place
            assert address("write", *port) == wanted, traffic.inputs
        if traffic.conversion_place:
            *port, wanted = traffic.conversion_place
            assert address("write", *port) == wanted, traffic.inputs
        if traffic.memory_place:
            *port, wanted = traffic.memory_place
            assert address("write", *port) == wanted, traffic.inputs
        users |= {name for name, value in traffic.inputs.items() if "valid" in name and value}
    conversion = {"x_read_i.valid", "own_read_i.valid", "rns_write_valid_i"}
    absent = set() if RNS else conversion
    absent |= set() if POINTWISE else {"pointwise_read_i.valid", "pointwise_result_i.valid"}
    assert users == {name for name in traffic.inputs if "valid" in name} - absent


@pytest.mark.parametrize(
    ("slots", "bits", "lanes", "rns", "pointwise"),
    [(3, 3, 1, 0, 0), pytest.param(7, 11, 3, 1, 0, marks=pytest.mark.slow), (12, 6, 2, 0, 1), (32, 13, 8, 1, 1)],
)
def test_slot_ports(slots, bits, lanes, rns, pointwise):
    parameters = {"Slots": slots, "WordAddrBits": bits, "Lanes": lanes, "EnRns": rns, "EnPointwise": pointwise}
    run_checks("rs_slot_ports", parameters)
