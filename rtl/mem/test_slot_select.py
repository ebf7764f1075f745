# SPDX-License-Identifier: Apache-2.0
"""rs_slot_select: the word of each slot, and nothing of its neighbours."""

from __future__ import annotations

import random

import cocotb
import pytest
from cocotb.triggers import Timer

from dv.parameters import parameter
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

pytestmark = pytest.mark.hw


@cocotb.test()
async def check_every_word(dut):
    bits, slots = parameter("WordBits"), parameter("Slots")
    source = random.Random(slots)
    for _ in range(4):
        words = [source.getrandbits(bits) for _ in range(slots)]
        dut.words_i.value = sum(word << bits * i for i, word in enumerate(words))
        for place in source.sample(range(slots), slots):
            dut.slot_i.value = place
            await Timer(1, unit="step")
            assert int(dut.word_o.value) == words[place], place


@pytest.mark.parametrize(("bits", "slots"), [(14, 2), pytest.param(60, 7, marks=pytest.mark.slow), (256, 64)])
def test_slot_select(bits, slots):
    run_checks("rs_slot_select", {"WordBits": bits, "Slots": slots})


@pytest.mark.parametrize("slots", [1, 65])
def test_refused(slots):
    assert "Slots must be 2 to 64" in (elaboration_error("rs_slot_select", {"Slots": slots}) or "")
