# SPDX-License-Identifier: Apache-2.0
"""`ringsmith params` of a kernel that is refreshed: what a smaller tolerance would cost."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ringsmith.cli import main
from ringsmith.compiler.params import planned
from ringsmith.errors import ParameterError
from ringsmith.frontend.param_request import BootstrapGoal, ParamRequest

KERNEL = """
import ringsmith as rs

@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance={tolerance})
def deep(x):
    for _ in range({turns}):
        x = x * x * 0.5 + 0.25
    return x
"""


def told(capsys: pytest.CaptureFixture[str], folder: Path, turns: int, tolerance: float, *words: str) -> str:
    """Run the verb on a kernel; return what it wrote."""
    source = folder / "kernel.py"
    source.write_text(KERNEL.format(turns=turns, tolerance=tolerance))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["ringsmith", "params", str(source), *words])
        with pytest.raises(SystemExit) as ended:
            main()
    assert not ended.value.code
    return capsys.readouterr().out


@pytest.mark.slow
def test_the_price_of_a_smaller_tolerance_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # 40 turns are deeper than any set without refreshes.
    assert "would take ckks-refreshed-65536, n = 65536: 5 refreshes, keys of" in told(capsys, tmp_path, 40, 1e-3)
    assert json.loads(told(capsys, tmp_path, 2, 1e-3, "--json"))["smaller_tolerance"] == ""


@pytest.mark.slow
def test_a_planned_set_may_be_closer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    closer = json.loads(told(capsys, tmp_path, 40, 1e-6, "--json"))["smaller_tolerance"]
    assert "would take planned, n = 65536: " in closer


def test_that_no_set_is_closer_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_: BootstrapGoal, __: int, ___: str) -> ParamRequest:
        raise ParameterError("no set reaches this")

    monkeypatch.setattr(planned, "planned", none)
    assert "beyond every set" in json.loads(told(capsys, tmp_path, 40, 1e-6, "--json"))["smaller_tolerance"]
