# SPDX-License-Identifier: Apache-2.0
import random

import cocotb
import pytest

from dv.parameters import parameter
from dv.stimulus import receive, start
from ringsmith.hw.cocotb_runner import run_checks


@cocotb.test()
async def check_bursts(dut):
    """Every byte of every lane is asked for once, in order, in legal bursts, for every size of polynomial."""
    beat, lanes, stride = parameter("BeatBytes"), parameter("Lanes"), parameter("LaneStrideLog2")
    await start(dut, start_i=0, ready_i=0, stop_i=0)
    for log2_bytes in range((4 * beat).bit_length() - 1, stride + 1):
        base = random.Random(log2_bytes).randrange(1 << 20) << stride
        dut.address_i.value, dut.log2_bytes_i.value, dut.start_i.value = base, log2_bytes, 1
        await cocotb.triggers.FallingEdge(dut.clk_i)
        dut.start_i.value = 0
        size = min(256 * beat, 4096, 1 << log2_bytes)
        count = lanes * (1 << log2_bytes) // size
        got = await receive(dut, "valid_o", "ready_i", ["address_o", "length_o"], count, random.Random(7))
        wanted = [
            (base + (lane << stride) + at, size // beat - 1)
            for lane in range(lanes)
            for at in range(0, 1 << log2_bytes, size)
        ]
        assert got == wanted
        await cocotb.triggers.FallingEdge(dut.clk_i)
        assert int(dut.idle_o.value) == 1


@pytest.mark.parametrize(
    ("beat", "lanes", "stride"), [(2, 1, 8), (16, 3, 15), (128, 15, 19), pytest.param(4, 2, 10, marks=pytest.mark.slow)]
)
def test_axi_bursts(beat, lanes, stride):
    run_checks("rs_axi_bursts", {"BeatBytes": beat, "Lanes": lanes, "LaneStrideLog2": stride})
