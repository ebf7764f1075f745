# SPDX-License-Identifier: Apache-2.0
"""Clients and servers of other libraries and of ours, where `make bench WHAT=interchange` has installed them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Interpreters with a library: those of `make bench WHAT=interchange`, or others' paths in these variables.
PYTHONS = {
    name: os.environ.get(variable, str(ROOT / "target" / "peers" / folder / "bin" / "python"))
    for name, variable, folder in (
        ("seal", "RINGSMITH_SEAL_PYTHON", "venv"),
        ("openfhe", "RINGSMITH_OPENFHE_PYTHON", "venv310"),
    )
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PYTHONS))
def test_clients_and_servers_of_both_libraries_agree(name: str) -> None:
    if not Path(PYTHONS[name]).exists():
        pytest.skip(f"no {name}: make bench WHAT=interchange")
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench/interchange.py"), "--check", "--library", name, "--python", PYTHONS[name]],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 7
