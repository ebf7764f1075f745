# SPDX-License-Identifier: Apache-2.0
"""Clients and servers of SEAL and of ours together, where `make bench WHAT=interchange` has installed SEAL."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: The interpreter with TenSEAL: that of `make bench WHAT=interchange`, or another one's path in RINGSMITH_SEAL_PYTHON.
PYTHON = os.environ.get("RINGSMITH_SEAL_PYTHON", str(ROOT / "target" / "peers" / "venv" / "bin" / "python"))


@pytest.mark.slow
@pytest.mark.skipif(not Path(PYTHON).exists(), reason="no SEAL: make bench WHAT=interchange")
def test_clients_and_servers_of_both_libraries_agree() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "interchange.py"), "--check", "--python", PYTHON],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 7
