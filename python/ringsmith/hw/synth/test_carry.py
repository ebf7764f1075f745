# SPDX-License-Identifier: Apache-2.0
"""The order of an adder's operands: only where it saves LUTs, and without changing the sum."""

from __future__ import annotations

import pytest

from ringsmith.hw.synth.carry import gates_behind_luts

MODULE = """module \\m
  wire width 8 $masked
  cell $mux $choice
    parameter \\WIDTH 8
    connect \\A 8'00000000
    connect \\B \\modulus
    connect \\S \\negative
    connect \\Y $masked
  end
  cell $alu $sum
    parameter \\A_SIGNED 0
    parameter \\A_WIDTH 8
    parameter \\B_SIGNED 1
    parameter \\B_WIDTH 9
    parameter \\Y_WIDTH 9
    connect \\A {first}
    connect \\B {second}
    connect \\BI {invert}
    connect \\CI 1'0
    connect \\Y \\r
  end
end
"""


def text(first: str, second: str, invert: str = "1'0") -> str:
    return MODULE.replace("{first}", first).replace("{second}", second).replace("{invert}", invert)


def test_a_computed_operand_goes_to_b_with_its_width_and_sign() -> None:
    result = gates_behind_luts(text("$masked", "\\t"))
    swapped = text("\\t", "$masked").replace("\\A_SIGNED 0", "\\A_SIGNED 1").replace("\\B_SIGNED 1", "\\B_SIGNED 0")
    swapped = swapped.replace("\\A_WIDTH 8", "\\A_WIDTH 9").replace("\\B_WIDTH 9", "\\B_WIDTH 8")
    assert sorted(result.splitlines()) == sorted(swapped.splitlines())


@pytest.mark.parametrize(
    ("first", "second", "invert"),
    [
        ("\\t", "$masked", "1'0"),  # in order
        ("$masked", "{ 1'0 $masked [7:1] }", "1'0"),  # nothing to gain
        ("$masked", "\\t", "1'1"),  # a difference does not commute
        ("$masked", "\\t", "\\sub"),
    ],
)
def test_other_adders_stay(first: str, second: str, invert: str) -> None:
    assert gates_behind_luts(text(first, second, invert)) == text(first, second, invert)


def test_gates_of_one_module_say_nothing_about_another() -> None:
    other = text("$masked", "\\t").replace("module \\m", "module \\n").replace("cell $mux", "cell $dff")
    both = text("\\t", "$masked") + other
    assert gates_behind_luts(both) == both
