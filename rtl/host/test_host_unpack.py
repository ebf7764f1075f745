# SPDX-License-Identifier: Apache-2.0
import random

import cocotb
import pytest
from test_host_pack import SHAPES, SLOW, WORDS

from dv.parameters import parameter
from dv.stimulus import coefficients, receive, send, start
from ringsmith.hw.cocotb_runner import run_checks


@cocotb.test()
async def check_unpack(dut):
    """Beats with random pauses become the same coefficients; an error in any beat of a word marks that word only."""
    w, p, coeff, beat = (parameter(n) for n in ("W", "P", "CoeffBits", "BeatBits"))
    rng = random.Random(4)
    per_word = -(-p * coeff // beat)
    # Padding with anything in it.
    words = [rng.getrandbits(per_word * beat) for _ in range(WORDS)]
    errors = [[int(rng.random() < 0.1 / per_word) for _ in range(per_word)] for _ in words]
    errors[3][-1] = errors[5][0] = 1
    beats = [
        {"beat_data_i": word >> (i * beat) & ((1 << beat) - 1), "beat_err_i": bad[i]}
        for word, bad in zip(words, errors, strict=True)
        for i in range(per_word)
    ]
    await start(dut, clear_i=0, beat_valid_i=0, word_ready_i=0)
    cocotb.start_soon(send(dut, "beat_valid_i", "beat_ready_o", beats, random.Random(5)))
    signals = ["word_data_o", "word_err_o"]
    got = await receive(dut, "word_valid_o", "word_ready_i", signals, WORDS, random.Random(6))
    for (data, bad), word, wrong in zip(got, words, errors, strict=True):
        assert coefficients(data, p, w) == [c & ((1 << w) - 1) for c in coefficients(word, p, coeff)]
        assert bad == any(wrong)


@pytest.mark.parametrize(
    ("w", "p", "coeff", "beat"), [*SHAPES, *(pytest.param(*shape, marks=pytest.mark.slow) for shape in SLOW)]
)
def test_host_unpack(w, p, coeff, beat):
    run_checks("rs_host_unpack", {"W": w, "P": p, "CoeffBits": coeff, "BeatBits": beat})
