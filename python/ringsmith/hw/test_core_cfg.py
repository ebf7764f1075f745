# SPDX-License-Identifier: Apache-2.0
"""The parameters of a core reach a module built alone through one packed struct."""

from __future__ import annotations

import pytest

from ringsmith.hw import core_cfg, sources
from ringsmith.hw.verilator import elaboration_error
from ringsmith.knobs import CORE_CFG


def field(literal: str, name: str) -> int:
    """A field of the literal, counted from its lowest bit."""
    bits, _, digits = literal.partition("'h")
    word, above = int(digits, 16), 0
    assert int(bits) == sum(width for width, _ in CORE_CFG.values())
    for other, (width, _) in reversed(CORE_CFG.items()):
        if other == name:
            return word >> above & (1 << width) - 1
        above += width
    raise KeyError(name)


def test_what_is_left_out_is_as_in_a_small_core() -> None:
    settings = core_cfg.packed(sources.library()["rs_system"], {"W": 30, "DataWidth": 64})
    assert settings.keys() == {"Cfg", "DataWidth"}
    assert field(str(settings["Cfg"]), "W") == 30
    assert {name: field(str(settings["Cfg"]), name) for name in CORE_CFG if name != "W"} == {
        name: small for name, (_, small) in CORE_CFG.items() if name != "W"
    }


def test_other_modules_keep_their_parameters() -> None:
    assert core_cfg.packed(sources.library()["rs_butterfly"], {"W": 30}) == {"W": 30}


@pytest.mark.hw
@pytest.mark.parametrize(("name", "value", "words"), [
    ("W", 129, "W (word_bits) must be 14..128"),
    ("MontW", 31, None),
    ("SinglePort", 1, "SinglePort (single_port_mask) must be 0 in its two lowest bits"),
])  # fmt: skip
def test_each_end_of_the_struct_is_read_as_written(name: str, value: int, words: str | None) -> None:
    refusal = elaboration_error("rs_build_check", {name: value})
    assert refusal is None if words is None else words in (refusal or "")
