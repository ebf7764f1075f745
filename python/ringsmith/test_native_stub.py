# SPDX-License-Identifier: Apache-2.0
"""`_native.pyi` against the built module: every name, every signature."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ringsmith import _native


def test_stub_matches_the_module(tmp_path: Path) -> None:
    built = Path(_native.__file__)
    # On its own: inside the package the whole package is read first, which takes four times as long, and leaves mypy's
    # cache useless for the next `make lint`.
    for file in (built, built.with_name("_native.pyi")):
        shutil.copy(file, tmp_path)
    result = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "_native", "--concise"],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "MYPYPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
