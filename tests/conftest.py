# SPDX-License-Identifier: Apache-2.0
"""The wheel, built once for all tests that install it."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree; processes of one test run share it."""
    own = tmp_path_factory.getbasetemp()
    place = (own.parent if own.name.startswith("popen-") else own) / "wheel"
    with open(own.parent / "wheel.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(place.glob("*.whl")):
            pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
            options = ["--no-deps", "--no-build-isolation", "--wheel-dir", place]
            subprocess.run([*pip, "wheel", *options, ROOT], check=True, capture_output=True)
    return next(place.glob("ringsmith-*-abi3-*.whl"))
