# SPDX-License-Identifier: Apache-2.0
"""Every assertion of core, arithmetic, memories and system fires once: a fault is planted, its words must come.

`PLAYED`: pins of the module itself do what they must not. `PLANTED`: a line of a copy is changed, and the module's own
checks run on it.
"""

from __future__ import annotations

import json
import os
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv import riscv
from dv.clock import start_clock
from dv.structs import COMPUTE, CONVERSION, DECODED, MEMORY, ZERO_SOURCE, Pins, pack
from ringsmith.hw import sources
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
HERE = Path(__file__).parent
Values = dict[str, int]


@cocotb.test()
async def check_play(dut):
    """Play PLAY: its first entry from before the reset on, then one entry a cycle; the last stays for 60 cycles."""
    rest, *steps = json.loads(os.environ["PLAY"])
    pins = Pins(dut)
    pins.set(rest)
    resets = "rst_ni" in rest
    await start_clock(dut.clk_i, 2)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    if resets:
        dut.rst_ni.value = 1
    for step in [*steps, *[{}] * 60]:
        await FallingEdge(dut.clk_i)
        pins.set(step)


@dataclass(frozen=True)
class Bench:
    """A module with parameters that its own test builds too, and pins at rest."""

    top: str
    parameters: dict[str, int]
    rest: Values
    defines: tuple[str, ...] = ()


SCOREBOARD = Bench(
    "rs_scoreboard",
    {"Slots": 5, "SinglePort": 16, "PipeLatency": 12, "P": 1},
    dict.fromkeys(
        ("rst_ni", "head_i", "head_valid_i", "take_i", "sources_done_i", "table_busy_i", "finish_i",
         "memory_done_i", "rns_done_i", "pointwise_done_i"), 0)
    | {"compute_ready_i": 1, "memory_ready_i": 1},
)  # fmt: skip
SEQUENCER = Bench(
    "rs_compute_seq",
    {"WordAddrBits": 6, "P": 1, "SumLatency": 3, "MulLatency": 5, "PipeLatency": 14},
    {"rst_ni": 0, "start_i": 0, "instr_i": 0, "stream_ready_i": 0},
)
MEMORY_UNIT = Bench(
    "rs_mem_unit",
    {"P": 1, "Lanes": 1, "WordAddrBits": 5, "WordBits": 14},
    dict.fromkeys(
        ("rst_ni", "start_i", "instr_i", "rd_data_i", "port_i", "stream_ready_i"), 0),
)  # fmt: skip
PORTS = Bench(
    "rs_slot_ports",
    {"Slots": 3, "WordAddrBits": 3, "Lanes": 1},
    dict.fromkeys(
        ("read_i", "late_i", "memory_read_i", "x_read_i", "own_read_i", "pointwise_read_i", "result_i",
         "pointwise_result_i", "memory_write_valid_i", "memory_write_i", "rns_write_valid_i", "rns_write_i"), 0),
)  # fmt: skip
LANE = Bench(
    "rs_lane",
    {"P": 1, "W": 14, "MulStyle": 0, "NMaxLog2": 5, "SinglePort": 0b110000, "Slots": 6, "TwTables": 1},
    dict.fromkeys(
        ("rd_valid_i", "read_i", "table_rd_en_i", "table_addr_i", "select_i", "stream_i", "addend_i", "mode_i",
         "result_i", "write_i", "memory_write_i", "fault_i", "memory_i", "load_data_i", "table_wr_en_i", "constant_i",
         "aux_i", "minus_one_i", "rns_data_i", "pointwise_from_i", "pointwise_data_i"), 0)
    | dict.fromkeys(("select_i.from.v", "select_i.from.u", "select_i.from.w", "addend_i.from", "memory_i.from",
                     "x_from_i", "own_from_i"), ZERO_SOURCE)
    | {"modulus_i": 97, "mod_bits_i": 7},
    ("RINGSMITH_FAULT_PIN",),
)  # fmt: skip
RNS_SEQ = Bench(
    "rs_rns_seq",
    {"P": 1, "RnsRate": 4, "WordAddrBits": 5},
    {"rst_ni": 0, "start_i": 0, "log2_n_i": 4, "primes_i": 5, "own_i": 0, "base_i": 0},
)
RNS = Bench(
    "rs_rns",
    {"W": 14, "Lanes": 2, "P": 1, "RnsRate": 1, "MulStyle": 0, "ModMinBits": 14, "WordAddrBits": 5},
    dict.fromkeys(
        ("rst_ni", "cfg_we_i", "cfg_sel_i", "cfg_lane_i", "cfg_idx_i", "cfg_data_i", "start_i", "conv_i", "x_i",
         "own_i"), 0)
    | {"log2_n_i": 4},
)  # fmt: skip
RNS_UNIT = Bench(
    "rs_rns_unit",
    {"W": 14, "Lanes": 2, "P": 1, "RnsRate": 1, "MulStyle": 0, "ModMinBits": 14, "NMaxLog2": 5, "RnsConversions": 4},
    dict.fromkeys(
        ("rst_ni", "constant_i", "start_i", "x_i", "own_i"), 0)
    | {"instr_i": pack(CONVERSION, {"log2_n": 4})},
)  # fmt: skip
MOVE = Bench(
    "rs_move",
    {"W": 14, "Lanes": 2, "P": 1, "Moves": 4, "WordAddrBits": 5},
    dict.fromkeys(
        ("rst_ni", "auto_we_i", "digit_we_i", "cfg_lane_i", "cfg_idx_i", "cfg_data_i", "start_i", "auto_i", "idx_i",
         "words_i"), 0)
    | {"log2_n_i": 5},
)  # fmt: skip
RNS_DOT = Bench(
    "rs_rns_dot",
    {"FactorBits": 14, "OperandBits": 14, "RnsRate": 2, "MulStyle": 0},
    {"first_i": 0, "last_i": 0, "factor_i": 0, "operand_i": 0},
)
RNS_GROUP = Bench("rs_rns_group", {"W": 9, "P": 1, "RnsRate": 4}, {"load_i": 0, "take_i": 0, "word_i": 0})
SHARE = Bench(
    "rs_port_share",
    {"Cores": 3, "PortBits": 8},
    dict.fromkeys(("rst_ni", "core_rst_ni", "base_i", "core_i", "st_data_i", "port_i"), 0) | {"idle_i": 1},
)
SPLIT = Bench(
    "rs_axil_split",
    {"Cores": 3},
    dict.fromkeys(("rst_ni", "s_axil_i", "aw_core_i", "ar_core_i", "axil_i"), 0),
)
ARBITER = Bench(
    "rs_axil_arbiter",
    {},
    dict.fromkeys(("rst_ni", "s_axil_i", "axil_i"), 0),
)
POINTWISE = Bench(
    "rs_pointwise_unit",
    {"W": 14, "P": 1, "NMaxLog2": 5, "MulStyle": 1, "Slots": 6, "EnPointwise": 1},
    dict.fromkeys(
        ("rst_ni", "constant_i", "start_i", "instr_i", "mod_idx_i", "stream_ready_i", "stream_i", "v_i", "u_i",
         "w_i"), 0),
)  # fmt: skip
STREAM = Bench(
    "rs_stream", {"Width": 9}, dict.fromkeys(("rst_ni", "push_i", "word_i", "claim_i", "take_i", "drain_i"), 0)
)
RAM = {"rd_en_i": 0, "wr_en_i": 0, "wr_data_i": 0}
RAM_1R1W = Bench("rs_ram_1r1w", {"Width": 9, "DepthWords": 12}, RAM | {"rd_addr_i": 0, "wr_addr_i": 0})
RAM_1RW = Bench("rs_ram_1rw", {"Width": 9, "DepthWords": 12}, RAM | {"addr_i": 0})


def head(**fields: int) -> int:
    """An instruction at the scoreboard's head."""
    return pack(DECODED, {"c.log2_n": 5, **{name.replace("c_", "c."): value for name, value in fields.items()}})


LOAD, STORE = (pack(MEMORY, {kind: 1, "dst": 2, "log2_n": 5}) for kind in ("load", "store"))
NTT = pack(COMPUTE, {"transform": 1, "log2_n": 5, "v": 2, "dst": 2})
SUM = pack(COMPUTE, {"crossed": 1, "log2_n": 5, "v": 2, "u": 3, "w": ZERO_SOURCE, "dst": 2})


def shape(min_bits: int, primes: int) -> Values:
    """A conversion's shape on its way into the base-conversion unit."""
    return {"cfg_we_i": 1, "cfg_sel_i": 8, "cfg_data_i": min_bits << 12 | primes << 7}


def unit_shape(min_bits: int, primes: int) -> Values:
    """The same on its way into the unit around it."""
    fields = {name[4:-2]: value for name, value in shape(min_bits, primes).items()}
    return {f"constant_i.{name}": value + 4 * (name == "sel") for name, value in fields.items()}


def automorphism(element: int) -> list[Values]:
    """An automorphism on its way into the unit for moves."""
    return [{"auto_we_i": 1, "cfg_data_i": element}, {"auto_we_i": 0}]


START: list[Values] = [{"cfg_we_i": 0, "start_i": 1}, {"start_i": 0}]
PLAYED: list[tuple[Bench, list[Values], str]] = [
    (SCOREBOARD, [{"take_i": 1, "head_i": head(compute=1)}], "an instruction is taken past a hazard"),
    (SCOREBOARD, [{"finish_i.valid": 1}], "an instruction ends that never started"),
    (SCOREBOARD, [{"take_i": 1, "head_valid_i": 1, "head_i": head(compute=1, writes=4)},
                  {"take_i": 0, "finish_i.valid": 1, "finish_i.writes": 8}],
     "a slot is given back that was not claimed"),
    (SCOREBOARD, [{"take_i": 1, "head_valid_i": 1, "head_i": head(compute=1, writes=4)},
                  {"take_i": 0, "finish_i.valid": 1}, {"finish_i.valid": 0}],
     "slots are claimed while no instruction runs"),
    (SCOREBOARD, [{"memory_done_i": 1}], "the memory unit ends what never started"),
    (SCOREBOARD, [{"take_i": 1, "head_valid_i": 1, "head_i": head(compute=1, memory=1)}],
     "an instruction for two units"),
    (SCOREBOARD, [{"rns_done_i": 1}], "the base-conversion unit ends what never started"),
    (SCOREBOARD, [{"pointwise_done_i": 1}], "the pointwise unit ends what never started"),
    # The sequencer would take another; its results are not written yet.
    (POINTWISE, [{"start_i": 1, "instr_i": SUM}, *[{"start_i": 0}] * 33, {"start_i": 1}],
     "an instruction starts in another"),
    (POINTWISE, [{"start_i": 1, "instr_i": NTT}], "a transform or an unreduced product"),
    (POINTWISE, [{"start_i": 1, "instr_i": SUM}, {"start_i": 0, "constant_i.we": 1}], "the modulus in use is written"),
    (SEQUENCER, [{"start_i": 1, "instr_i": NTT}], "instruction taken while one is issued"),
    (SEQUENCER, [{"start_i": 1, "instr_i": pack(COMPUTE, {"log2_n": 7})}, {"start_i": 0}], "a degree out of range"),
    (MEMORY_UNIT, [{"start_i": 1, "instr_i": LOAD}], "instruction taken while one runs"),
    (MEMORY_UNIT, [{"start_i": 1, "instr_i": pack(MEMORY, {"log2_n": 6})}, {"start_i": 0}], "a degree out of range"),
    (MEMORY_UNIT, [{"start_i": 1, "instr_i": LOAD | STORE}, {"start_i": 0}], "a LOAD that is a STORE"),
    (PORTS, [{"read_i.valid": 1, "late_i.valid": 1}], "two readers at one port"),
    (PORTS, [{"result_i.valid": 1, "memory_write_valid_i": 1}], "two writers at one port"),
    (PORTS, [{"result_i.valid": 1, "result_i.high_valid": 1}], "two writers at one port"),
    (PORTS, [{"read_i.valid": 1, "read_i.from.w": 3}], "an operand's slot that is not there"),
    (PORTS, [{"memory_read_i.valid": 1, "memory_read_i.from": 7}], "a slot is read that is not there"),
    (PORTS, [{"memory_write_valid_i": 1, "memory_write_i.slot": 31}], "a slot is written that is not there"),
    (LANE, [{"rd_valid_i": 1, "select_i.constant": 1, "constant_i": 97}], "an operand is not below the modulus"),
    (LANE, [{"memory_i.load": 1, "load_data_i": 98}, {"memory_write_i": 3}, {"memory_write_i": 0, "read_i[0].en": 3},
            {"addend_i.from": 0}], "an addend is not below the modulus"),
    (LANE, [{"write_i[0].en": 1, "modulus_i": 0}], "a result is not below the modulus"),
    (LANE, [{"rd_valid_i": 1, "select_i.level": 7}], "a twiddle level beyond a word"),
    (LANE, [{"rd_valid_i": 1, "mode_i.sub": 1}], "a butterfly mode that does not exist"),
    (LANE, [{"rd_valid_i": 1, "mode_i.product": 1, "mode_i.crossed": 1}], "a butterfly mode that does not exist"),
    (RAM_1R1W, [{"rd_en_i": 1, "wr_en_i": 1}], "a word is read while it is written"),
    (RAM_1RW, [{"rd_en_i": 1, "wr_en_i": 1}], "read and write in one cycle"),
    (RNS_SEQ, [{"start_i": 1}], "a conversion is taken while one runs"),
    (RNS_SEQ, [{"start_i": 1, "primes_i": 0}, {"start_i": 0}], "input primes out of range"),
    (RNS_SEQ, [{"start_i": 1, "log2_n_i": 6}, {"start_i": 0}], "a degree out of range"),
    (RNS, [{"start_i": 1}, {"start_i": 0}], "a conversion that was never written"),
    (RNS, [shape(14, 2), *START, {"cfg_we_i": 1}], "constants are written while a conversion runs"),
    (RNS, [shape(14, 3), *START], "more input primes than lanes"),
    (RNS, [shape(13, 2), *START], "the narrowest prime is out of range"),
    (RNS_UNIT, [unit_shape(14, 2), {"constant_i.we": 0, "start_i": 1}], "an instruction is taken while one runs"),
    (RNS_UNIT, [unit_shape(14, 2), {"constant_i.we": 0, "start_i": 1,
                                    "instr_i": pack(CONVERSION, {"log2_n": 4, "entry": 4})}, {"start_i": 0}],
     "a conversion that is not there"),
    (MOVE, [{"start_i": 1}, {"start_i": 0}], "an entry that was never written"),
    (MOVE, [*automorphism(5), {"start_i": 1, "auto_i": 1}], "a move is taken while one runs"),
    (MOVE, [*automorphism(5), {"start_i": 1, "auto_i": 1}, {"start_i": 0, "digit_we_i": 1}],
     "tables are written while a move runs"),
    (MOVE, [*automorphism(4), {"start_i": 1, "auto_i": 1}, {"start_i": 0}], "an automorphism by an even number"),
    (MOVE, [*automorphism(5), {"start_i": 1, "auto_i": 1, "log2_n_i": 6}, {"start_i": 0}], "a degree out of range"),
    (MOVE, [{"digit_we_i": 1, "cfg_lane_i": 1, "cfg_data_i": 3 << 128}, {"digit_we_i": 0, "start_i": 1},
            {"start_i": 0}], "a source lane that is not there"),
    (RNS_DOT, [*[{"last_i": 0}] * 9, {"last_i": 1}], "two sums end at once"),
    (RNS_GROUP, [{"take_i": 1}], "a group is taken before its last word"),
    (STREAM, [{"claim_i": 1}], "a word is claimed that is not there"),
    (STREAM, [{"push_i": 1}, {"push_i": 0, "take_i": 1}], "a word is taken that was not claimed"),
    (STREAM, [{"push_i": 1}] * 10, "a word is lost"),
    (STREAM, [{"push_i": 1}, {"push_i": 0, "claim_i": 1}, {"claim_i": 0, "drain_i": 1}],
     "words go nowhere that were claimed"),
    (SHARE, [{"port_i.ld_valid": 1}], "a loaded word without a request"),
    (SHARE, [{"port_i.st_done": 1}], "a store ends that no core began"),
    # An answer to a core that was not asked, and one before data have come.
    (SPLIT, [{"s_axil_i.awvalid": 1, "axil_i[0].awready": 1}, {"s_axil_i.awvalid": 0, "axil_i[0].bvalid": 1}],
     "a write answer without a request"),
    (SPLIT, [{"s_axil_i.arvalid": 1, "axil_i[0].arready": 1}, {"s_axil_i.arvalid": 0, "axil_i[1].rvalid": 1}],
     "a read answer without a request"),
    (ARBITER, [{"s_axil_i[0].awvalid": 1}, {"axil_i.bvalid": 1}], "a write answer without a request"),
    (ARBITER, [{"s_axil_i[0].arvalid": 1}, {"axil_i.rvalid": 1}], "a read answer without a request"),
]  # fmt: skip


@pytest.mark.parametrize(("bench", "steps", "words"), PLAYED, ids=[f"{b.top}: {words}" for b, _, words in PLAYED])
def test_pins_that_break_the_contract_are_noticed(bench: Bench, steps: list[Values], words: str) -> None:
    env = {"PLAY": json.dumps([bench.rest, *steps])}
    with pytest.raises(AssertionError, match=re.escape(words)):
        run_checks(bench.top, bench.parameters, env=env, defines=bench.defines)


@pytest.mark.parametrize(
    "bench",
    [SCOREBOARD, SEQUENCER, MEMORY_UNIT, PORTS, LANE, RNS, RNS_UNIT, MOVE, STREAM, SHARE, SPLIT, ARBITER],
    ids=lambda bench: bench.top,
)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_pins_at_rest_break_nothing(bench: Bench, seed: int) -> None:
    run_checks(bench.top, bench.parameters, env={"PLAY": json.dumps([bench.rest])}, defines=bench.defines, seed=seed)


@dataclass(frozen=True)
class Plant:
    """In `unit`, `old` becomes `new`; then the checks of `test` on `top` end with `words`."""

    unit: str
    old: str
    new: str
    words: str
    test: str
    top: str
    parameters: dict[str, int] = field(default_factory=dict)
    checks: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    play: list[Values] = field(default_factory=list)  # instead of the checks of `test`


DECODE = {"Slots": 5, "SinglePort": 16, "Moduli": 2, "Consts": 4}
CORE = {"W": 20, "P": 1, "NMaxLog2": 5, "Slots": 5, "SinglePort": 16, "ModMinBits": 9, "MulStyle": 0}


def decode(old: str, new: str, words: str, seed: int = 1) -> Plant:
    """A fault in the decoder; with the seed, the first random word that meets it is wrong in nothing else."""
    return Plant("rs_decode", old, new, words, "core/test_decode.py", "rs_decode", DECODE, env={"SEED": str(seed)})


def share(old: str, new: str, words: str, checks: str) -> Plant:
    """A fault in the arbiter of the data port, between three cores."""
    return Plant(
        "rs_port_share", old, new, words, "system/test_port_share.py", "rs_port_share", SHARE.parameters, checks
    )


def arbiter(old: str, new: str, words: str) -> Plant:
    """A fault in the arbiter between host and controller."""
    return Plant("rs_axil_arbiter", old, new, words, "controller/test_axil_arbiter.py", "rs_axil_arbiter")


def controller(old: str, new: str, words: str, check: str) -> Plant:
    """A fault in the controller, whose firmware reports the end of a program for ever."""
    report = [riscv.lui(1, 0x40001), riscv.store(riscv.SW, 0, 1, 0x814 - 0x1000), riscv.jal(0, -4)]
    env = {"FIRMWARE": b"".join(word.to_bytes(4, "little") for word in report).hex()}
    test = "controller/test_controller.py"
    return Plant("rs_controller", old, new, words, test, "rs_controller", {"Words": 128}, check, env)


def core(unit: str, old: str, new: str, words: str, check: str = "check_random_programs") -> Plant:
    """A fault that random programs on the core meet, or another of its checks."""
    programs = {"CORE_PROGRAMS": "6"}
    return Plant(unit, old, new, words, "core/test_core.py", "rs_core", CORE, check, programs)


def arithmetic(unit: str, old: str, new: str, words: str, modulus: Values, **parameters: int) -> Plant:
    """A fault in an arithmetic module or a multiplier's reduction; operands below 97, or 16001 = 125 * 2^7 + 1."""
    below, source = modulus.get("modulus_i", 16001), random.Random(1)
    play = [modulus | {"a_i": source.randrange(below), "b_i": source.randrange(below)} for _ in range(400)]
    top = unit.replace("rs_mod_barrett", "rs_mul_barrett").replace("rs_mod_montgomery", "rs_mul_montgomery")
    return Plant(unit, old, new, words, "test_assertions.py", top, parameters, "check_play", play=play)


PLANTED = [
    arithmetic("rs_mod_addsub", "sub_i == b_i[W];", "sub_i != b_i[W];", "a result is not below the modulus",
               {"modulus_i": 97, "sub_i": 0, "halve_i": 0}, W=14, MulStyle=1),
    arithmetic("rs_mod_barrett", "- {1'b0, modulus_rest};", "+ {1'b0, modulus_rest};", "a result is not in [-m, m)",
               {"modulus_i": 16001, "mu_i": (1 << 30) // 16001, "mod_bits_i": 14}, W=14, MulStyle=0, ModMinBits=5),
    arithmetic("rs_mod_montgomery", "- Bits'(multiple);", "+ Bits'(multiple);", "a result is not in (-m, m)",
               {"modulus_high_i": 125}, W=14, MontW=7, MulStyle=0),
    controller("halted_q     <= 1'b1;", "halted_q     <= 1'b0;", "a wrong access that did not stop the processor",
               "check_wrong_accesses"),
]  # fmt: skip
SHARED = "first_q <= owner_q == CoreBits'(Cores - 1) ? '0 : owner_q + 1'b1;"
RNS_RUN: list[Values] = [RNS_SEQ.rest | {"primes_i": 1}, {"start_i": 1}, {"start_i": 0}]
SLOW = [
    Plant("rs_rns_seq", "(terms > 4'(RnsRate) ? terms : 4'(RnsRate)) - 4'd1", "terms - 4'd1",
          "the results of two groups meet", "test_assertions.py", "rs_rns_seq", RNS_SEQ.parameters, "check_play",
          play=RNS_RUN),
    Plant("rs_rns_seq", "if (done_o) busy_q <= 1'b0;", "if (group_end) busy_q <= 1'b0;", "a result of nothing",
          "test_assertions.py", "rs_rns_seq", RNS_SEQ.parameters, "check_play", play=RNS_RUN),
    share(SHARED, "first_q <= owner_q;", "a core starves", "check_turns"),
    share("(!wanted.store && !core_i[c].transfer.store &&", "((wanted.store == core_i[c].transfer.store) &&",
          "two cores store at a time", "check_common_loads"),
    decode("decoded_o.memory      = memory;", "decoded_o.memory      = 1'b1;",
           "an instruction without a unit of its own"),
    decode("(early | late) & AllSlots", "early & AllSlots", "a slot read late that is not read"),
    decode("writes & AllSlots", "writes | 32'h8000_0000", "a slot that is not there"),
    decode("int'(instr.log2_n) < int'(NMinLog2) ||", "1'b0 ||", "a degree out of range", seed=3),
    decode("(compute || table_dst) && int'(instr.mod_idx) >= int'(Cfg.Moduli)", "1'b0",
           "a modulus index out of range", seed=5),
    decode("writes_dst && !table_dst && !stream_dst && int'(instr.dst) >= int'(Cfg.Slots)", "1'b0",
           "a result without a slot"),
    decode("in_place_clash || work_addend", "work_addend", "a single-port slot is read and written"),
    decode("first_work = ~instr.src_a[0];", "first_work = instr.src_a[0];", "a transform writes the slot it reads"),
    Plant("rs_fifo", "if (push) words_q[tail_q] <= data_i;", "words_q[tail_q-1'b1] <= data_i;",
          "the head changes before it is taken", "test_assertions.py", "rs_fifo", {"Width": 8, "Depth": 4},
          "check_play", play=[{"rst_ni": 0, "clear_i": 0, "ready_i": 0, "valid_i": 0, "data_i": 0},
                {"valid_i": 1, "data_i": 5}, {"data_i": 6}, {"valid_i": 0}]),
    core("rs_mem_unit", "if (state_q == Request && port_i.ready) state_q", "if (state_q == Request) state_q",
         "a request is withdrawn"),
    core("rs_mem_unit", "assign room = ahead_q < LevelBits'(QueueWords);", "assign room = 1'b1;",
         "more words read ahead than the queue holds"),
    core("rs_scoreboard", "assign memory_clear = (touched & (busy_slots | rns_q | pointwise_q)) == '0 &&",
         "assign memory_clear =", "two units hold a slot"),
    core("rs_scoreboard", "{1'b1, compute_idle_o && memory_idle_o && rns_idle_o && pointwise_idle_o}", "{1'b1, 1'b1}",
         "SYNC while a unit works"),
    core("rs_scoreboard", "(count_q == '0 || mod_idx_q == head_i.mod_idx) &&",
         "(count_q == '0 || mod_idx_q == head_i.mod_idx || head_i.compute) &&",
         "the modulus changes while results are in flight", "check_moduli_in_turn"),
    core("rs_scoreboard", "!(head_i.m.table_dst && table_busy_i)",
         "!(head_i.m.table_dst && table_busy_i && !head_i.memory)",
         "the twiddle table is read while it is written"),
    core("rs_core", "assign start.memory  = take && head_q.memory;", "assign start.memory  = take;",
         "one instruction for two units"),
    arbiter("wr_busy_q  <= !b_take;", "{wr_busy_q, wr_owner_q}  <= {!b_take, !wr_owner_q};", "a write changed hands"),
    arbiter("rd_busy_q  <= !r_take;", "{rd_busy_q, rd_owner_q}  <= {!r_take, !rd_owner_q};", "a read changed hands"),
    Plant("rs_riscv", "ibus_cyc_o = ibus_cyc &&", "ibus_cyc_o = (ibus_cyc || dbus_cyc) &&", "two accesses at once",
          "controller/test_riscv.py", "rs_riscv"),
    controller("&& busy_q) begin\n        busy_q   <= 1'b0;", "&& busy_q) begin\n        busy_q   <= 1'b1;",
               "a program that has ended and has not", "check_programs"),
    controller("own_over && !own_error && !given_up_q", "own_over && !given_up_q", "a wrong access that was answered",
               "check_wrong_accesses"),
    core("rs_compute_seq", "in_last_stage_q <= !instr_q.transform || stage_q == instr_q.log2_n - 4'd2;",
         "in_last_stage_q <= !instr_q.transform || stage_q == instr_q.log2_n - 4'd3;", "a stage beyond the transform"),
    core("rs_compute_seq", "at_last_step_q  <= 1'b0;", "at_last_step_q  <= 1'b1;", "a step beyond the stage"),
    core("rs_compute_seq", "end_q   <= instr_end;", "end_q   <= instr_end || start_i;",
         "an instruction ends without a write"),
]  # fmt: skip


@pytest.mark.parametrize(
    "plant",
    [*PLANTED, *(pytest.param(plant, marks=pytest.mark.slow) for plant in SLOW)],
    ids=lambda plant: f"{plant.unit}: {plant.words}",
)
def test_a_planted_fault_is_noticed(plant: Plant, tmp_path: Path) -> None:
    original = sources.library()[plant.unit]
    text = original.read_text()
    changed = tmp_path / original.name
    changed.write_text(text.replace(plant.old, plant.new))
    env = {"PLAY": json.dumps(plant.play)} if plant.play else plant.env
    with pytest.raises(AssertionError, match=re.escape(plant.words)):
        run_checks(plant.top, plant.parameters, checks=plant.checks, env=env, extra=[changed], module=HERE / plant.test)


def test_each_fault_to_plant_fits_its_text() -> None:
    """Also of the slow ones: a change of a module carries its faults along."""
    library = sources.library()
    for plant in [*PLANTED, *SLOW]:
        found = library[plant.unit].read_text().count(plant.old)
        assert found == 1, f"{plant.unit}: {plant.old!r} stands there {found} times"


def test_every_assertion_is_played_or_planted() -> None:
    """No assertion of these files without its fault, but those older than this test, which their own tests hold."""
    held = {words for _, _, words in PLAYED} | {plant.words for plant in [*PLANTED, *SLOW]} | set(OLDER)
    for folder in ("core", "arith", "mem", "ntt", "prim", "rns", "system", "controller"):
        for path in sorted((HERE / folder).glob("rs_*.sv")):
            for words in re.findall(r"else \$error\(\"%m: (.*)\"\)", path.read_text()):
                assert words in held, f"{path.name}: nothing makes {words!r} fire"


# Assertions that no change of a single line breaks: arguments are in the modules, proofs in hw/prove.py.
OLDER = {
    "the words of a pair share a bank",
    "the results of a pair share a bank",
    "a word read ahead is lost",
    "more words queued than read",
    "a stored word is withdrawn",
    "level and pointers disagree",
    "more words than Depth",
    "more compute instructions in flight than indices kept",
    "an end without a start",
    "the modulus in use is written",
}
