# SPDX-License-Identifier: Apache-2.0
"""A short fuzz of the decoders of other projects' text; `make fuzz` has the long one."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[1] / "fuzz" / "doors.py"


def fuzzer() -> ModuleType:
    """Load the fuzzer, which stands in no package."""
    spec = importlib.util.spec_from_file_location("doors", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["fhetch", "json", "heir"])
def test_changed_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    assert list(fuzzer().fuzz(name, 200, 7, tmp_path)) == []


def test_the_files_it_begins_with_are_valid(tmp_path: Path) -> None:
    doors = fuzzer()
    texts = {"t.fhetch": doors.TRACE, "t.json": doors.BESIDE, "t.mlir": doors.HEIR}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    doors.run_trace(tmp_path)
    doors.run_heir(tmp_path)
    (tmp_path / "t.json").unlink()
    (tmp_path / "fhetch_replay.json").write_text(doors.MANIFEST)
    (tmp_path / "t.outputs.json").write_text(doors.OUTPUTS)
    doors.run_trace(tmp_path)


def test_a_planted_fault_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    doors = fuzzer()
    monkeypatch.setattr(doors, "ARTIFACTS", tmp_path / "kept")
    (tmp_path / "files").mkdir()

    def run(_: Path) -> None:
        raise IndexError("planted")

    monkeypatch.setitem(doors.DECODERS, "heir", (doors.heir_files, run))
    [wrong] = doors.fuzz("heir", 1, 0, tmp_path / "files")
    assert "IndexError: planted" in wrong
    assert (tmp_path / "kept" / "heir-0-0" / "t.mlir").exists()
