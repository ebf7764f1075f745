# SPDX-License-Identifier: Apache-2.0
import random

import cocotb
import pytest

from dv.parameters import parameter
from dv.stimulus import receive, start
from ringsmith.hw.cocotb_runner import run_checks


@cocotb.test()
async def check_bursts(dut):
    """Every byte of every stretch is asked for once, in order, in legal bursts, for every size."""
    beat, stretches, stride = parameter("BeatBytes"), parameter("Stretches"), parameter("StrideLog2")
    await start(dut, start_i=0, ready_i=0, stop_i=0)
    for log2_bytes in range((4 * beat).bit_length() - 1, stride + 1):
        base = random.Random(log2_bytes).randrange(1 << 20) << stride
        dut.address_i.value, dut.log2_bytes_i.value, dut.start_i.value = base, log2_bytes, 1
        await cocotb.triggers.FallingEdge(dut.clk_i)
        dut.start_i.value = 0
        size = min(256 * beat, 4096, 1 << log2_bytes)
        between = log2_bytes if parameter("Contiguous") else stride
        count = stretches * (1 << log2_bytes) // size
        got = await receive(dut, "valid_o", "ready_i", ["address_o", "length_o"], count, random.Random(7))
        wanted = [
            (base + (stretch << between) + at, size // beat - 1)
            for stretch in range(stretches)
            for at in range(0, 1 << log2_bytes, size)
        ]
        assert got == wanted
        await cocotb.triggers.FallingEdge(dut.clk_i)
        assert int(dut.idle_o.value) == 1


@pytest.mark.parametrize(
    ("beat", "stretches", "stride", "contiguous"),
    [
        (2, 1, 8, 0),
        (16, 3, 15, 0),
        (128, 3, 17, 1),
        (128, 60, 13, 1),
        (128, 15, 19, 0),
        pytest.param(4, 2, 10, 0, marks=pytest.mark.slow),
    ],
)
def test_axi_bursts(beat, stretches, stride, contiguous):
    shape = {"BeatBytes": beat, "Stretches": stretches, "StrideLog2": stride, "Contiguous": contiguous}
    run_checks("rs_axi_bursts", shape)
