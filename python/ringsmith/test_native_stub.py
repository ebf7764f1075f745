# SPDX-License-Identifier: Apache-2.0
"""`_native.pyi` against the built module: every name, every signature."""

from __future__ import annotations

import subprocess
import sys


def test_stub_matches_the_module() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "ringsmith._native", "--concise"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
