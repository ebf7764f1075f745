# SPDX-License-Identifier: Apache-2.0
"""Elaboration of an 8-point accelerator stops at every parameter that cannot be."""

from __future__ import annotations

import pytest

from ringsmith.hw.verilator import elaboration_error, lint

REFUSED = [
    ({"Variant": 5}, "Variant (variant) must be cn, pn3, pn1, pn3d or stream"),
    ({"W": 13}, "W (word_bits) must be 14..32"),
    ({"W": 33}, "W (word_bits) must be 14..32"),
    ({"MulStyle": 3}, "MulStyle (multiplier) must be asic, dsp26x17 or dsp18x18"),
    ({"W": 20, "ModMinBits": 21}, "ModMinBits (modulus_bits_min) must be 5..word_bits = 20"),
]


@pytest.mark.hw
def test_what_is_least_elaborates() -> None:
    assert lint("rs_ntt8_check", {}) == []


@pytest.mark.hw
@pytest.mark.parametrize(("parameters", "words"), REFUSED)
def test_a_value_outside_is_refused(parameters: dict[str, int], words: str) -> None:
    assert words in (elaboration_error("rs_ntt8_check", parameters) or "")
    assert any(words in line for line in lint("rs_ntt8_engine", parameters))
