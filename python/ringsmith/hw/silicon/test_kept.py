# SPDX-License-Identifier: Apache-2.0
"""Reports that are kept: the same design from the cache, another, or another operation, anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ringsmith.errors import ToolError
from ringsmith.hw import sources
from ringsmith.hw.silicon import kept
from ringsmith.hw.silicon.estimate import Operation
from ringsmith.hw.silicon.kept import kept_by_module
from ringsmith.hw.silicon.library import load_library
from ringsmith.hw.silicon.test_silicon import LIBERTY
from ringsmith.hw.synth.job import Design
from ringsmith.presets import load_preset

DESIGN = Design(name="sum", top="rs_mod_addsub", parameters={"W": 8})


@pytest.mark.hw
def test_what_is_the_same_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment changes nothing; logic, a parameter and the operation do, and a failure is not kept."""
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "toy.lib").write_text(LIBERTY)
    library = load_library(tmp_path / "toy.lib")
    operation = Operation(load_preset("tiny"), "ntt", 7, lambda *_: None, {"ntt": {"count": 1.0}})
    made: list[str] = []

    def measure(design: Design, *_: Any, **__: Any) -> dict[str, Any]:
        made.append(design.name)
        if design.name == "broken":
            raise ToolError("no power")
        return {"number": len(made)}

    monkeypatch.setattr(kept, "estimate_by_module", measure)

    def number(design: Design = DESIGN, operation: Operation = operation) -> int:
        return int(kept_by_module(design, library, operation)["number"])

    assert [number(), number()] == [1, 1]
    assert number(operation=replace(operation, executed={"ntt": {"count": 2.0}})) == 2
    assert number(replace(DESIGN, parameters={"W": 9})) == 3
    for _ in range(2):
        with pytest.raises(ToolError, match="no power"):
            number(replace(DESIGN, name="broken", parameters={"W": 10}))
    assert made.count("broken") == 2
    listed = sources.design(DESIGN.top, DESIGN.parameters)
    _with(listed, tmp_path, monkeypatch, "", "// a comment\n")
    assert number() == 1
    _with(listed, tmp_path, monkeypatch, "t + addend", "t - addend")
    assert number() == 6


def _with(listed: Sequence[Path], folder: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    """Let the module's file be a copy with other text in the place of the first `old`."""
    changed = []
    for path in listed:
        changed.append(path)
        if path.stem == DESIGN.top:
            text = path.read_text()
            assert old in text
            changed[-1] = folder / path.name
            changed[-1].write_text(text.replace(old, new, 1))
    monkeypatch.setattr(sources, "design", lambda *_: changed)
