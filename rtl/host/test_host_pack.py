# SPDX-License-Identifier: Apache-2.0
import random

import cocotb
import pytest

from dv.parameters import parameter
from dv.stimulus import coefficients, packed, receive, send, start
from ringsmith.hw.cocotb_runner import run_checks
from ringsmith.hw.verilator import elaboration_error

# (W, P, CoeffBits, BeatBits): narrow and wide coefficients, one and many beats per word, the serial host's
# bytes, rows that end in padding.
SHAPES = [(14, 1, 16, 16), (128, 1, 128, 8), (109, 32, 128, 1024), (43, 6, 48, 256)]
SLOW = [(40, 2, 64, 128), (60, 4, 64, 64), (18, 5, 24, 128)]
WORDS = 40


@cocotb.test()
async def check_pack(dut):
    w, p, coeff, beat = (parameter(n) for n in ("W", "P", "CoeffBits", "BeatBits"))
    rng = random.Random(1)
    words = [rng.getrandbits(p * w) for _ in range(WORDS)]
    await start(dut, clear_i=0, word_valid_i=0, beat_ready_i=0)
    source = send(dut, "word_valid_i", "word_ready_o", [{"word_data_i": word} for word in words], random.Random(2))
    cocotb.start_soon(source)
    per_word = -(-p * coeff // beat)
    beats = await receive(dut, "beat_valid_o", "beat_ready_i", ["beat_data_o"], WORDS * per_word, random.Random(3))
    for i, word in enumerate(words):
        got = packed([b for (b,) in beats[i * per_word : (i + 1) * per_word]], beat)
        assert coefficients(got, p, coeff) == coefficients(word, p, w)


@cocotb.test()
async def check_pack_full_rate(dut):
    """With both sides always ready a beat leaves in every cycle, also across words."""
    per_word = -(-parameter("P") * parameter("CoeffBits") // parameter("BeatBits"))
    await start(dut, clear_i=0, word_valid_i=1, beat_ready_i=1, word_data_i=1)
    await cocotb.triggers.FallingEdge(dut.clk_i)
    for _ in range(4 * per_word):
        assert int(dut.beat_valid_o.value) == 1
        await cocotb.triggers.FallingEdge(dut.clk_i)


@pytest.mark.parametrize(
    ("w", "p", "coeff", "beat"), [*SHAPES, *(pytest.param(*shape, marks=pytest.mark.slow) for shape in SLOW)]
)
def test_host_pack(w, p, coeff, beat):
    run_checks("rs_host_pack", {"W": w, "P": p, "CoeffBits": coeff, "BeatBits": beat})


def test_refuses_shapes():
    assert "must be at least W" in elaboration_error("rs_host_pack", {"W": 40, "CoeffBits": 32})
