# SPDX-License-Identifier: Apache-2.0
"""`tools/build.py`: how far the compiler is, and what is said when it fails."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from loading import loaded


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module: ModuleType = loaded("tools/build.py")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "LOG", tmp_path / "build/build.log")
    return module


def test_progress_is_read_from_the_bar(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    build: Any = tool.Build(first=True)
    monkeypatch.setattr(tool.time, "monotonic", lambda: build.started + 50.0)
    assert str(build) == "build: compiling the engine, 50 s"
    for line in (
        "   Compiling syn v2.0.119",
        "   Compiling ringsmith-ntt v0.1.0 (crates/ntt)",
        "   Compiling ringsmith-ckks v0.1.0 (crates/ckks)",
        "    Building [=====>      ] 60/124: ringsmith-ckks, ringsmith-ntt                ",
    ):
        build.read(line)
    assert str(build).startswith("build: compiling the engine, 50 s, crate 60 of 124, about ")
    assert str(build).endswith(" s left (ringsmith-ckks, ringsmith-ntt)")
    before = build.share_done()
    build.read("    Building [=====>      ] 61/124: ringsmith-ckks  ")
    assert before < build.share_done() < 1
    build.first = False
    assert "left" not in str(build)


def test_shares_sum_to_a_whole(tool: ModuleType) -> None:
    assert 50 < sum(tool.SHARE.values()) < 100
    build: Any = tool.Build(first=True)
    build.seen, build.done, build.total = set(tool.SHARE), 124, 124
    assert build.share_done() == pytest.approx(1, abs=0.01)


def test_a_failure_shows_the_end_of_the_log(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    script = "import sys; print('line', *range(3), sep='\\n'); print('error: no linker', file=sys.stderr); sys.exit(3)"
    monkeypatch.setattr(tool, "COMMAND", [sys.executable, "-c", script])
    assert tool.main() == 3
    said = capfd.readouterr().out
    for part in ("failed with status 3", "error: no linker", "build/build.log"):
        assert part in said


def test_success_ends_in_one_line(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "COMMAND", [sys.executable, "-c", ""])
    assert tool.main() == 0
    assert capfd.readouterr().out.splitlines()[-1].startswith("build: the engine is compiled, ")
