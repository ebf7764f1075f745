# SPDX-License-Identifier: Apache-2.0
"""`spec/operations.yaml`: mistakes are refused by entry, lost parts of files are written again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ringsmith.errors import FormatError
from ringsmith.gen.files import REPO, stale, write_all
from ringsmith.gen.operations import load_operations

SPEC = REPO / "spec" / "operations.yaml"
PAGE = Path("docs/format.md")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("code: 2\n", "code: 3\n", "codes count from 0, this is number 2"),
        ("name: sub\n", "name: add\n", "two operations have one name"),
        ("schemes: [bfv]", "schemes: [bgv]", "there are"),
        ("operands: [a, b]", "operands: [a, b, c]", "at most 2"),
        ("attributes: [rotation]", "attributes: [turn]", "there are, in this order"),
        ("scale: divided", "scale: halved", "scale is 'halved'"),
        ("takes: 3", "takes: 5", "takes is 5"),
        ("    level: chosen\n", "", "missing or unknown: level"),
        ("    level: top\n", "    level: same\n", "it has no operands"),
        ("    runs: false\n", "    runs: maybe\n", "runs is 'maybe'"),
    ],
)
def test_a_mistake_is_refused_by_entry(old: str, new: str, words: str, tmp_path: Path) -> None:
    text = SPEC.read_text()
    assert old in text
    path = tmp_path / "operations.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(FormatError, match=words):
        load_operations(path)


def test_a_generated_part_is_renewed_and_its_lines_are_needed(tmp_path: Path) -> None:
    shutil.copytree(REPO / "spec", tmp_path / "spec")
    file = tmp_path / PAGE
    file.parent.mkdir(parents=True)
    shutil.copy(REPO / PAGE, file)
    write_all(tmp_path)
    whole = file.read_text()
    spec = tmp_path / "spec" / "operations.yaml"
    spec.write_text(spec.read_text().replace("A fresh", "Another fresh"))
    assert PAGE in stale(tmp_path)
    write_all(tmp_path)
    changed = file.read_text()
    assert changed != whole
    assert stale(tmp_path) == []
    file.write_text(changed.replace("generated from spec/operations.yaml", "written", 1))
    with pytest.raises(FormatError, match="1 lines with"):
        write_all(tmp_path)
