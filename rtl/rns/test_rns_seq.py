# SPDX-License-Identifier: Apache-2.0
"""rs_rns_seq against its timetable: every read, step and write at its cycle, for every shape of words and groups."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from dv.clock import start_clock
from dv.parameters import parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw
P, RATE = parameter("P", 2), parameter("RnsRate", 2)
FACTOR, DOT, TAIL = parameter("FactorLatency", 8), parameter("DotLatency", 4), parameter("TailLatency", 6)
Timetable = dict[str, dict[int, int]]


def timetable(n: int, primes: int, own: int, base: int) -> Timetable:
    """By signal and cycle after the start: the value it must have; a signal with valid in its name is 0 elsewhere."""
    terms = primes + own
    period, words = max(terms, RATE), max(RATE // P, 1)
    events: Timetable = {name: {} for name in SIGNALS}
    for group in range(n // RATE):
        begin = 1 + group * period
        loads = group * RATE % P == 0
        select, column0 = begin + 1 + words, begin + 2 + words + FACTOR
        for word in range(words if loads else 0):
            address = group * RATE // P + word
            events["x_rd_valid_o"][begin + word], events["x_rd_word_o"][begin + word] = 1, address
            events["x_load_o"][begin + word + 1] = 1
            if own:
                # The group must stand at column 0's step 0: its last word is taken a cycle before.
                asked = column0 - words - 1 + word
                events["own_rd_valid_o"][asked], events["own_rd_word_o"][asked] = 1, address
                events["own_load_o"][asked + 1] = 1
        events["x_take_o"][begin + words] = 1
        if own:
            events["own_take_o"][column0 - 1] = 1
        for step in range(terms):
            if step >= own:
                events["prime_o"][select + step] = step - own
                events["prime_entry_o"][select + step] = base + step
            events["row_entry_o"][column0 + step - 1] = base + step
            events["first_o"][column0 + step] = step == 0
            events["first_prime_o"][column0 + step] = step == own
            events["own_step_o"][column0 + step] = own and step == 0
        events["last_o"][column0 + terms - 1] = 1
        for column in range(RATE):
            place = group * RATE + column
            at = column0 + terms - 1 + DOT + TAIL + column
            events["place_o"][at] = place % P
            if place % P == P - 1:
                events["wr_valid_o"][at], events["wr_word_o"][at] = 1, place // P
    events["done_o"][max(events["wr_valid_o"])] = 1
    return events


SIGNALS = (
    "x_rd_valid_o", "x_rd_word_o", "own_rd_valid_o", "own_rd_word_o", "x_load_o", "x_take_o", "own_load_o",
    "own_take_o", "prime_o", "prime_entry_o", "row_entry_o", "first_o", "first_prime_o", "last_o", "own_step_o",
    "place_o", "wr_valid_o", "wr_word_o", "done_o",
)  # fmt: skip
# 0 in every cycle without an entry.
QUIET = {name for name in SIGNALS if name.endswith(("valid_o", "load_o", "take_o"))} | {"last_o", "done_o"}


@cocotb.test()
async def check_timetable(dut):
    source = random.Random(P * RATE)
    dut.rst_ni.value, dut.start_i.value = 0, 0
    await start_clock(dut.clk_i, 2)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)
    smallest = max(P, RATE, 8).bit_length() - 1
    for turn in range(12):
        primes, own, base = turn % 8 + 1, source.randrange(2), source.randrange(20)
        log2n = smallest + turn % 3
        expected = timetable(1 << log2n, primes, own, base)
        [end] = expected["done_o"]
        assert int(dut.ready_o.value) == 1
        dut.start_i.value, dut.log2_n_i.value = 1, log2n
        for now in range(1, end + 1):
            await FallingEdge(dut.clk_i)
            dut.start_i.value, dut.log2_n_i.value = 0, source.randrange(16)
            dut.primes_i.value, dut.own_i.value, dut.base_i.value = primes, own, base
            for name in SIGNALS:
                due = expected[name].get(now, 0 if name in QUIET else None)
                if due is not None:
                    assert int(getattr(dut, name).value) == due, (name, now, turn)
            assert int(dut.ready_o.value) == (now == end)


SHAPES = [(2, 2), (1, 4), (8, 2), (4, 1)]


@pytest.mark.parametrize(("p", "rate"), SHAPES)
def test_rns_seq(p, rate):
    latencies = {"FactorLatency": 5 + p, "DotLatency": 3, "TailLatency": 4 + rate}
    run_checks("rs_rns_seq", {"P": p, "RnsRate": rate, "WordAddrBits": 5, **latencies})


def test_refused():
    parameters = {"P": 1, "RnsRate": 4, "WordAddrBits": 2}
    assert "the largest n must be 2 RnsRate or more" in (elaboration_error("rs_rns_seq", parameters) or "")
