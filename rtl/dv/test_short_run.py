# SPDX-License-Identifier: Apache-2.0
"""The short run leaves out what repeats, and no file, no test and no kind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from dv.short_run import kinds, repeats

RTL = Path(__file__).parents[1]


def test_sizes_and_seeds_repeat_and_kinds_do_not() -> None:
    builds = [{"W": 14, "MulStyle": 0}, {"W": 30, "MulStyle": 0}, {"W": 30, "MulStyle": 1, "MulKind": 0}]
    cases = [{"build": build, "seed": seed} for build in builds for seed in (1, 2)]
    assert repeats(cases) == [False, True, True, True, False, True]
    assert set(kinds({"style": 2, "width": 14})) == {("style", "2")}


def test_a_feature_that_no_case_before_has_is_a_kind() -> None:
    builds = [{"W": 14, "MulStyle": 0}, {"W": 14, "MulStyle": 0, "EnStream": 1}, {"W": 30, "EnStream": 0, "Moves": 8}]
    builds += [{"W": 30, "EnStream": 1}, {"W": 30, "Moves": 16}, {"W": 30, "Moves": 16, "MontSteps": 2}]
    assert repeats([{"build": build} for build in builds]) == [False, False, False, True, True, False]


def test_no_file_is_left_out() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", "-m", "not slow", RTL]
    told = subprocess.run(command, capture_output=True, text=True, cwd=RTL.parent, check=True).stdout
    files = {line.split("::")[0] for line in told.splitlines() if "::" in line}
    assert files == {str(path.relative_to(RTL.parent)) for path in RTL.rglob("test_*.py")}
