# SPDX-License-Identifier: Apache-2.0
"""rs_decode against spec/isa.yaml and the rules of docs/hardware.md: refusals, slots, and what the units are told."""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import cocotb
import pytest
import yaml
from cocotb.triggers import Timer

from dv.parameters import parameter
from dv.structs import DECODED, ZERO_SOURCE, mask, unpack
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
ISA: dict[str, Any] = yaml.safe_load((Path(__file__).parents[2] / "spec" / "isa.yaml").read_text())
ZERO, TABLE, STREAM = ISA["zero_slot"], ISA["twiddle_slot"], ISA["stream_slot"]
BY_OPCODE = {i["opcode"]: i for i in ISA["instructions"] if i["status"] == "implemented"}
OPCODE, DEGREE, SLOT, INDEX, COMBINE = 1, 2, 3, 4, 5
MOVES = {"AUTO": "automorphisms", "DECOMP": "digits"}
ENTRIES = ("conversions", *MOVES.values())

Fields = dict[str, int]


def encode(fields: Fields) -> int:
    word, shift = 0, 0
    for field in ISA["fields"]:
        word |= fields[field["name"]] << shift
        shift += field["bits"]
    return word


class Build:
    """The build's parameters and the refusals that docs/hardware.md lists."""

    def __init__(self) -> None:
        self.p, self.slots = parameter("P", 1), parameter("Slots", 3)
        self.single, self.n_max = parameter("SinglePort", 0), parameter("NMaxLog2", 6)
        self.moduli, self.consts = parameter("Moduli", 1), parameter("Consts", 1)
        self.pmul, self.cyclic = parameter("EnPmul", 1), parameter("EnCyclic", 1)
        self.rns, self.moves = parameter("RnsRate", 0) > 0, parameter("Moves", 0) > 0
        self.stream = parameter("EnStream", 0)

    def single_port(self, slot: int) -> bool:
        return slot < 32 and self.single >> slot & 1 == 1

    def refusal(self, f: Fields, configured: int, entries: dict[str, int], own: int) -> int:
        """The first error of an instruction, 0 if none; masks of what was written, and which conversions scale."""
        insn = BY_OPCODE.get(f["opcode"])
        if insn is None or (insn["mnemonic"] == "PMUL" and not self.pmul):
            return OPCODE
        if "cyclic" in insn["modifiers"] and f["cyclic"] and not self.cyclic:
            return OPCODE
        if insn["unit"] == "rns" and not (self.moves if insn["mnemonic"] in MOVES else self.rns):
            return OPCODE
        if insn["mnemonic"] == "SYNC":
            return 0
        if not max(8, 4 * self.p) <= 1 << f["log2_n"] <= 1 << self.n_max:
            return DEGREE
        to_table = insn["mnemonic"] == "LOAD" and f["dst"] == TABLE
        read = [f[name] for name in insn["reads"] if not (name == "src_b" and self.streamed(f))]
        if any(slot != ZERO and slot >= self.slots for slot in read):
            return SLOT
        to_stream = self.stream and insn["mnemonic"] == "LOAD" and f["dst"] == STREAM
        if any(f[name] >= self.slots for name in insn["writes"]) and not (to_table or to_stream):
            return SLOT
        uses_modulus = insn["unit"] == "compute" and insn["mnemonic"] != "PMUL"
        if (insn["unit"] == "compute" or to_table) and f["mod_idx"] >= self.moduli:
            return INDEX
        if uses_modulus and not configured >> f["mod_idx"] & 1:
            return INDEX
        if insn["unit"] == "rns":
            kind = MOVES.get(insn["mnemonic"], "conversions")
            other = kind == "conversions" and own >> f["const_idx"] & 1 != (insn["mnemonic"] == "SCALE")
            if not entries[kind] >> f["const_idx"] & 1 or other:
                return INDEX
        elif "const_idx" in insn["modifiers"] and f["const_idx"] >= self.consts:
            return INDEX
        return COMBINE if self.clash(insn, f) else 0

    def streamed(self, f: Fields) -> bool:
        """Whether a product takes its second operand from the stream."""
        mnemonic = BY_OPCODE[f["opcode"]]["mnemonic"]
        return bool(self.stream) and mnemonic in ("PMODMUL", "PMAC") and f["src_b"] == STREAM

    def clash(self, insn: dict[str, Any], f: Fields) -> bool:
        """Slots that cannot be combined."""
        name, dst, a, c = insn["mnemonic"], f["dst"], f["src_a"], f["src_c"]
        if name in ("NTT", "INTT"):
            if name == "INTT" and (c < 2 or (c == dst and self.single_port(c))):
                return True
            return dst < 2 and a < 2 and (dst == a) != (f["log2_n"] % 2 == 0)
        if (name == "PMUL" and dst == c) or (name in ("MEMCPYR", "AUTO") and dst == a):
            return True
        if name == "SCALE" and a == f["src_b"]:
            return True
        sources = [f[r] for r in insn["reads"]]
        return any(self.single_port(f[w]) and f[w] in sources for w in insn["writes"])


def value(found: Fields, role: str, slots: list[int]) -> int:
    seen = found[f"c.{role}"]
    if role == "w" and found["c.stream"]:
        assert seen & ZERO_SOURCE
        return slots[STREAM % 32]
    return 0 if seen & ZERO_SOURCE else slots[seen]


def computed(found: Fields, slots: list[int], constant: int) -> int:
    """The datapath's result for a pointwise instruction's roles (rs_butterfly), over the integers."""
    u, v, w = (value(found, role, slots) for role in "uvw")
    if found["c.crossed"]:
        return u - v if found["c.sub"] else u + v
    return u + v * (constant if found["c.constant"] else w)


def wanted(name: str, a: int, b: int, c: int, constant: int) -> int:
    """The result of a pointwise instruction by the instruction set."""
    return {
        "PMODADD": a + b, "PMODSUB": a - b, "PMODMUL": a * b, "PMODSQR": a * a,
        "CMODMUL": a * constant + c, "PMUL": a * b, "PMAC": a * b + c,
    }[name]  # fmt: skip


def check_compute(name: str, f: Fields, found: Fields) -> None:
    transform = name in ("NTT", "INTT")
    assert (found["c.transform"], found["needs_table"]) == (transform, transform)
    assert (found["c.log2_n"], found["c.dst"], found["mod_idx"]) == (f["log2_n"], f["dst"], f["mod_idx"])
    assert found["c.product"] == (name == "PMUL")
    if name == "PMUL":
        assert found["c.high"] == f["src_c"]
    if name == "CMODMUL":
        assert found["c.const_idx"] == f["const_idx"]
    if not transform:
        slots = [1009 + 13 * s * s for s in range(32)]
        a, b, c = (0 if f[s] == ZERO else slots[f[s] % 32] for s in ("src_a", "src_b", "src_c"))
        assert computed(found, slots, 7) == wanted(name, a, b, c, 7)
        return
    assert (found["c.inverse"], found["c.crossed"], found["c.cyclic"]) == (name == "INTT", name == "INTT", f["cyclic"])
    zero = f["src_a"] == ZERO
    assert (found["c.v"] >= ZERO_SOURCE) == zero
    assert zero or found["c.v"] == f["src_a"]
    addend = f["src_c"] if name == "INTT" else ZERO
    assert (found["c.e"] >= ZERO_SOURCE) == (addend == ZERO)
    assert addend == ZERO or found["c.e"] == addend
    # Stage s writes work slot first_work ^ s, the last one dst: no stage may write the slot that it reads.
    between = [found["c.first_work"] ^ s & 1 for s in range(f["log2_n"] - 1)]
    chain = [f["src_a"], *between, f["dst"]]
    assert all(read != written or read >= 2 for read, written in itertools.pairwise(chain)), chain


def check_memory(name: str, f: Fields, found: Fields) -> None:
    seen = (found["m.load"], found["m.store"], found["m.reverse"])
    assert seen == (name == "LOAD", name == "STORE", name == "MEMCPYR")
    assert found["m.log2_n"] == f["log2_n"]
    if name in ("LOAD", "STORE"):
        assert found["m.buf_idx"] == f["buf_idx"]
    if name != "LOAD":
        assert (found["m.src"] >= ZERO_SOURCE) == (f["src_a"] == ZERO)
        assert f["src_a"] == ZERO or found["m.src"] == f["src_a"]
    if name != "STORE":
        assert (found["m.table_dst"], found["m.stream"]) == (f["dst"] == TABLE, f["dst"] == STREAM)
        assert found["m.mod_idx"] == f["mod_idx"]
        assert f["dst"] in (TABLE, STREAM) or found["m.dst"] == f["dst"]


def check_conversion(name: str, f: Fields, found: Fields) -> None:
    assert (found["r.moves"], found["r.automorphism"]) == (name in MOVES, name == "AUTO")
    for role, name in (("x", "src_a"), ("own", "src_b")):
        seen = found[f"r.{role}"]
        assert (seen >= ZERO_SOURCE) == (f[name] == ZERO)
        # Roles that a LIFT or a move does not read are not checked.
        assert f[name] == ZERO or seen == f[name] or (role == "own" and found["reads"] == mask(f["src_a"]))
    assert (found["r.dst"], found["r.log2_n"], found["r.entry"]) == (f["dst"], f["log2_n"], f["const_idx"])


def check_accepted(f: Fields, found: Fields) -> None:
    insn = BY_OPCODE[f["opcode"]]
    name = insn["mnemonic"]
    unit = insn["unit"]
    if parameter("EnPointwise", 0) and unit == "compute" and name not in ("NTT", "INTT", "PMUL"):
        unit = "pointwise"
    units = ("compute", "memory", "rns", "pointwise")
    assert [found[k] for k in (*units, "sync")] == [*(unit == one for one in units), name == "SYNC"]
    assert found["reads"] == mask(*(f[r] for r in insn["reads"]))
    assert found["writes"] == mask(*(f[w] for w in insn["writes"]))
    assert found["late"] == (mask(f["src_c"]) if name == "INTT" else 0)
    assert found["works"] == (3 if name in ("NTT", "INTT") else 0)
    if insn["unit"] == "compute":
        check_compute(name, f, found)
    elif insn["unit"] == "memory":
        check_memory(name, f, found)
    elif insn["unit"] == "rns":
        check_conversion(name, f, found)


def draw(build: Build, source: random.Random) -> Fields:
    """An instruction that is legal more often than not, each field now and then anything."""

    def slot() -> int:
        usual = source.randrange(build.slots)
        return source.choice((usual, usual, usual, usual, usual, ZERO, TABLE, STREAM, source.randrange(64)))

    def mostly(usual: int, bits: int) -> int:
        return usual if source.random() < 0.93 else source.getrandbits(bits)

    return {
        "opcode": mostly(source.choice(list(BY_OPCODE)), 6),
        **{name: slot() for name in ("dst", "src_a", "src_b", "src_c")},
        "log2_n": mostly(source.randrange(max(3, (4 * build.p).bit_length() - 1), build.n_max + 1), 4),
        "mod_idx": mostly(source.randrange(build.moduli), 4),
        "cyclic": int(source.random() < 0.3),
        "const_idx": mostly(source.randrange(build.consts), 5),
        "buf_idx": source.getrandbits(20),
    }


@cocotb.test()
async def check_random_words(dut):
    build, source = Build(), random.Random(int(os.environ.get("SEED", "1")))
    seen: Counter[tuple[str, int]] = Counter()
    for number in range(3000):
        f = draw(build, source)
        configured = source.getrandbits(16) | source.choice((0xFFFF, 0xFFFF, 0))
        entries = {kind: source.getrandbits(32) | source.choice((0xFFFFFFFF, 0)) for kind in ENTRIES}
        own = source.getrandbits(32)
        dut.word_i.value, dut.configured_i.value, dut.own_i.value = encode(f), configured, own
        for kind, mask_ in entries.items():
            getattr(dut, f"{kind}_i").value = mask_
        await Timer(1, unit="step")
        found = unpack(DECODED, int(dut.decoded_o.value))
        refusal = build.refusal(f, configured, entries, own)
        assert found["error"] == refusal, (number, f, hex(configured))
        if not refusal:
            check_accepted(f, found)
        seen[BY_OPCODE.get(f["opcode"], {"mnemonic": "none"})["mnemonic"], refusal] += 1
    # Each instruction was accepted, and every refusal met, unless the build cannot have it.
    left_out = (set() if build.pmul else {"PMUL"}) | (set() if build.rns else {"LIFT", "SCALE"})
    left_out |= set() if build.moves else set(MOVES)
    for insn in BY_OPCODE.values():
        assert seen[insn["mnemonic"], 0] > 5 or insn["mnemonic"] in left_out, insn["mnemonic"]
    assert {error for _, error in seen} == {0, OPCODE, DEGREE, SLOT, INDEX, COMBINE}


BUILDS = [
    {"P": 1, "Slots": 6, "SinglePort": 0b111000, "NMaxLog2": 13, "Moduli": 2, "Consts": 4, "RnsRate": 2},
    {
        "P": 8,
        "Slots": 4,
        "SinglePort": 0b1000,
        "NMaxLog2": 7,
        "Moduli": 3,
        "Consts": 1,
        "EnPmul": 0,
        "EnCyclic": 0,
        "Moves": 4,
    },
    {
        "P": 32,
        "Slots": 32,
        "SinglePort": 0xFFFF0000,
        "NMaxLog2": 15,
        "Moduli": 16,
        "Consts": 32,
        "WidePort": 1,
        "EnStream": 1,
        "EnPointwise": 1,
        "RnsRate": 4,
        "Moves": 32,
    },
]


@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_decode(build):
    run_checks("rs_decode", build)
