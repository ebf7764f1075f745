# SPDX-License-Identifier: Apache-2.0
"""Elaboration stops at every parameter that cannot be: the first values outside of what spec/build.yaml says."""

from __future__ import annotations

import pytest

from ringsmith import shipped
from ringsmith.gen import build
from ringsmith.hw.verilator import elaboration_error, lint

VALUES = [
    value
    for value in build.load(shipped.spec() / "build.yaml").values
    if value.parameter and value.legal and not value.legal.boolean and value.name != "montgomery_bits"
]
BETWEEN = [
    ({"P": 32}, "n_max must be at least 4 * butterflies = 128"),
    (
        {"W": 14, "MulKind": 1, "NMaxLog2": 12},
        "W (word_bits) must be at least 15 with reduction = montgomery at n_max = 4096",
    ),
    ({"RnsRate": 2, "W": 65}, "W (word_bits) must be at most 64 with base conversion (rns_rate)"),
    ({"SinglePort": 17}, "SinglePort (single_port_mask) must be 0 in its two lowest bits"),
    ({"TwTables": 3, "Moduli": 2}, "TwTables (twiddle_tables) must be 1 or moduli_slots"),
    ({"W": 14, "ModMinBits": 15}, "ModMinBits (modulus_bits_min) must be 5..word_bits = 14"),
    ({"FifoDepth": 12}, "FifoDepth (fifo_depth) must be a power of two from 2 to 1024"),
]


def outside() -> list[tuple[str, int]]:
    """One less than the least and one more than the most that each parameter may be."""
    found = []
    for value in VALUES:
        assert value.parameter is not None
        assert value.legal is not None
        is_logarithm = value.name == "n_max"
        ends = [value.legal.least - 1, None if value.legal.most is None else value.legal.most + 1]
        if is_logarithm:
            ends = [2, 16]
        found += [(value.parameter.name, end) for end in ends if end is not None and end >= 0]
    return [(name, end) for name, end in found if (name, end) not in (("RnsRate", 0),)]


def test_what_is_least_elaborates() -> None:
    assert lint("rs_build_check", {}) == []


@pytest.mark.parametrize(("name", "value"), outside())
def test_a_value_outside_is_refused(name: str, value: int) -> None:
    refusal = elaboration_error("rs_build_check", {name: value}) or ""
    assert f"{name} " in refusal
    assert "must be" in refusal


@pytest.mark.parametrize(("parameters", "words"), BETWEEN)
def test_what_parameters_owe_each_other(parameters: dict[str, int], words: str) -> None:
    assert words in (elaboration_error("rs_build_check", parameters) or "")
