# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringsmith.errors import InputError
from ringsmith.hw.board.pll import DETECTOR, INPUT, MOST, MOST_OUT, OSCILLATOR, TOLERANCE, pll_for


@given(st.floats(*INPUT), st.floats(1, 400))
def test_settings_are_within_the_limits_of_the_family(clock: float, wanted: float) -> None:
    try:
        pll = pll_for(clock, wanted)
    except InputError:
        return
    assert max(pll.input, pll.feedback) <= MOST
    assert pll.output <= MOST_OUT
    assert min(pll.input, pll.feedback, pll.output) >= 1
    assert DETECTOR[0] <= clock / pll.input <= DETECTOR[1]
    made = pll.mhz(clock)
    assert OSCILLATOR[0] <= made * pll.output <= OSCILLATOR[1]
    assert abs(made - wanted) <= (TOLERANCE + 1e-6) * wanted


@pytest.mark.parametrize(("clock", "wanted"), [(25, 25), (25, 50), (25, 40), (48, 64), (12, 60)])
def test_usual_clocks_are_met_to_the_hertz(clock: float, wanted: float) -> None:
    assert pll_for(clock, wanted).mhz(clock) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    ("clock", "wanted", "words"),
    [
        (25, math.pi * 100, "no PLL setting makes 314.159 MHz of 25; the nearest is 315.000"),
        (4, 50, "takes 8 to 400 MHz, not 4"),
        (25, 401, "makes 1 to 400 MHz, not 401"),
        (25, math.nan, "makes 1 to 400 MHz, not nan"),
        (math.nan, 25, "takes 8 to 400 MHz, not nan"),
    ],
)
def test_a_clock_that_cannot_be_made_is_refused(clock: float, wanted: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        pll_for(clock, wanted)
