# SPDX-License-Identifier: Apache-2.0
"""tools/compare_netlists.py: which modules it takes for equal, what it adds up, what it says of unknown names."""

from __future__ import annotations

from typing import Any

import pytest
from loading import loaded

from ringsmith.hw.synth.cells import Resources

# A top of two halves, each with a slot; `rs_slot_2` is a variant of the module `rs_slot`.
SLOTS = "module \\rs_slot\n  wire width 8 \\a\nend\nattribute \\x 1\nmodule \\rs_slot_2\n  wire width 9 \\a\nend\n"
HALVES = "".join(
    f"module \\rs_{side}\n  cell \\rs_slot{number} \\u_slot\n  end\n  cell $add $n0\n  end\nend\n"
    for side, number in (("left", ""), ("right", "_2"))
)
TOP = "module \\rs_top\n" + "".join(f"  cell \\rs_{side} \\u_{side}\n  end\n" for side in ("left", "right", "left"))
DESIGN = SLOTS + HALVES + TOP + "end\n"


@pytest.fixture
def tool() -> Any:
    return loaded("tools/compare_netlists.py")


def test_modules_and_how_often_they_stand_in_the_design(tool: Any) -> None:
    modules = tool.bodies(DESIGN)
    assert [*modules] == [f"\\rs_{name}" for name in ("slot", "slot_2", "left", "right", "top")]
    assert tool.children(modules["\\rs_top"]) == ["\\rs_left", "\\rs_right", "\\rs_left"]
    assert tool.instances(modules, "rs_top") == {
        "\\rs_top": 1, "\\rs_left": 2, "\\rs_right": 1, "\\rs_slot": 2, "\\rs_slot_2": 1,
    }  # fmt: skip


def test_a_change_reaches_all_above_it_and_nothing_else(tool: Any) -> None:
    before, after = tool.bodies(DESIGN), tool.bodies(DESIGN.replace("width 9", "width 10"))
    assert tool.differing(before, before) == set()
    assert tool.differing(before, after) == {"\\rs_slot_2", "\\rs_right", "\\rs_top"}


def test_the_number_of_a_variant_is_no_change(tool: Any) -> None:
    swapped = DESIGN.replace("rs_slot_2", "rs_slot_x").replace("rs_slot\n", "rs_slot_2\n")
    swapped = swapped.replace("rs_slot ", "rs_slot_2 ").replace("rs_slot_x", "rs_slot")
    assert swapped != DESIGN
    assert tool.differing(tool.bodies(DESIGN), tool.bodies(swapped)) == set()


def test_variants_add_up_and_the_table_shows_what_changed(tool: Any) -> None:
    copies = {"\\rs_slot": 2, "\\rs_slot_2": 1}
    before = tool.by_base({"\\rs_slot": Resources(lut=10, ff=1), "\\rs_slot_2": Resources(lut=3)}, copies)
    after = tool.by_base({"\\rs_slot": Resources(lut=10, ff=1), "\\rs_slot_2": Resources(lut=5, bram36=0.5)}, copies)
    assert before == {"rs_slot": Resources(lut=23, ff=2)}
    head, slot, total = tool.table(before, after)
    assert head.split() == ["module", "lut", "ff", "dsp", "bram36", "uram"]
    assert slot.split() == ["rs_slot", "23", "→", "25", "2", "0", "0", "→", "0.5", "0"]
    assert total.split()[1:] == slot.split()[1:]


@pytest.mark.parametrize(
    ("arguments", "words"), [(["no-such-commit"], "invalid reference: no-such-commit"), (["HEAD", "tyny"], "tyny")]
)
def test_what_it_cannot_find_is_named(tool: Any, capsys: Any, arguments: list[str], words: str) -> None:
    assert tool.main(arguments) == 2
    assert words in capsys.readouterr().err


@pytest.mark.hw
@pytest.mark.slow
def test_a_part_is_as_at_the_commit(tool: Any, capsys: Any) -> None:
    assert tool.main(["HEAD", "mod-mul"]) == 0
    said = capsys.readouterr()
    assert "modules are the same on both sides" in said.err
    assert said.out.splitlines()[-1].split() == ["sum", "0", "0", "0", "0", "0"]
