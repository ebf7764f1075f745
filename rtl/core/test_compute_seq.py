# SPDX-License-Identifier: Apache-2.0
"""rs_compute_seq against the golden schedule: words read and written, twiddle words, slots, gaps, at their cycles."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from dv.clock import start_clock
from dv.golden import steps
from dv.parameters import parameter
from dv.structs import COMPUTE, Pins, pack
from ringsmith.hw.cocotb_runner import run_checks

pytestmark = pytest.mark.hw
P, WORD_BITS, SUM, MUL = parameter("P", 2), 6, 3, 5
PIPE = 2 * SUM + MUL + 3
SOURCE, RESULT, NONE = 4, 5, 32


def transform(log2n: int, *, inverse: bool, cyclic: bool, first_work: int) -> int:
    """The packed compute_t of a transform from slot SOURCE to slot RESULT."""
    sources = {"v": SOURCE, "u": NONE, "w": NONE, "e": NONE}
    kind = {"transform": 1, "inverse": inverse, "crossed": inverse, "cyclic": cyclic, "first_work": first_work}
    return pack(COMPUTE, {**kind, **sources, "dst": RESULT, "log2_n": log2n})


@cocotb.test()
async def check_schedule(dut):
    dut.rst_ni.value, dut.start_i.value, dut.stream_ready_i.value = 0, 0, 0
    await start_clock(dut.clk_i, 2)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for log2n in range(P.bit_length() + 2, WORD_BITS + P.bit_length()):
        for inverse, cyclic in ((False, False), (True, False), (False, True), (True, True)):
            await check_transform(dut, log2n, inverse, cyclic, first_work=log2n % 2)


async def check_transform(dut, log2n: int, inverse: bool, cyclic: bool, *, first_work: int) -> None:
    n = 1 << log2n
    issue, gap, pins = log2n * n // (2 * P), max(0, PIPE - n // (4 * P)), Pins(dut)
    assert int(dut.ready_o.value)
    dut.instr_i.value = transform(log2n, inverse=inverse, cyclic=cyclic, first_work=first_work)
    dut.start_i.value = 1
    reads, writes, ends = [], [], []
    for cycle in range(1, issue + (log2n - 1) * gap + PIPE + 3):
        await FallingEdge(dut.clk_i)
        dut.start_i.value = 0
        if pins["read_o.valid"]:
            words = pins["read_o.word0"], pins["read_o.word1"]
            reads.append((cycle, pins["read_o.from.v"] & 31, words, pins["table_word_o"]))
        if pins["result_o.valid"]:
            words = pins["result_o.word0"], pins["result_o.word1"]
            writes.append((cycle, pins["result_o.slot"], words))
        if pins["finish_o.valid"]:
            ends.append(cycle)
    works = [first_work ^ s & 1 for s in range(log2n - 1)]
    sources, results = [SOURCE, *works], [*works, RESULT]
    expected = list(steps(n, P, inverse=inverse, cyclic=cyclic))
    for number, step in enumerate(expected):
        # t0 of the first step is two cycles after the start.
        time = 2 + number + step.stage * gap
        assert reads[number] == (time, sources[step.stage], step.reads, step.twiddle_word), (log2n, number)
        assert writes[number] == (time + PIPE - 1, results[step.stage], step.writes), (log2n, number)
    assert len(reads) == len(writes) == len(expected) == issue
    assert ends == [issue + (log2n - 1) * gap + PIPE]


@cocotb.test()
async def check_stream(dut):
    """A product issues a step when a word is there to be claimed, and takes it as its operands are selected."""
    source, pins = random.Random(5), Pins(dut)
    dut.rst_ni.value, dut.start_i.value, dut.stream_ready_i.value = 0, 0, 0
    await start_clock(dut.clk_i, 2)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for log2n in range(P.bit_length() + 2, WORD_BITS + P.bit_length()):
        fields = {"stream": 1, "v": SOURCE, "w": NONE, "u": NONE, "e": NONE, "dst": RESULT, "log2_n": log2n}
        dut.instr_i.value, dut.start_i.value = pack(COMPUTE, fields), 1
        claims, reads, takes, writes, cycle = [], [], [], [], 0
        while not pins["finish_o.valid"]:
            await FallingEdge(dut.clk_i)
            cycle += 1
            dut.start_i.value, dut.stream_ready_i.value = 0, int(source.random() < 0.6)
            await Timer(1, unit="step")
            claims += [cycle] if int(dut.stream_claim_o.value) else []
            reads += [(cycle, pins["read_o.word0"])] if pins["read_o.valid"] else []
            takes += [cycle] if pins["select_o.stream"] else []
            writes += [(cycle, pins["result_o.word0"])] if pins["result_o.valid"] else []
            assert not int(dut.stream_claim_o.value) or int(dut.stream_ready_i.value)
            assert cycle < 10_000
        words = (1 << log2n) // P
        assert len(claims) == words
        assert reads == [(at + 1, word) for word, at in enumerate(claims)]
        assert takes == [at + 2 for at in claims]
        assert writes == [(at + PIPE, word) for word, at in enumerate(claims)]
        await FallingEdge(dut.clk_i)


@pytest.mark.parametrize("p", [1, pytest.param(2, marks=pytest.mark.slow), 8])
def test_compute_seq(p):
    parameters = {"WordAddrBits": WORD_BITS, "P": p, "SumLatency": SUM, "MulLatency": MUL, "PipeLatency": PIPE}
    run_checks("rs_compute_seq", parameters)
