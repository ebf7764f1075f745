# SPDX-License-Identifier: Apache-2.0
"""`tools/audit.sh`: what the databases say decides its status; what was not looked at is not called safe.

The tools answer in the words that they were seen to use; the databases themselves are not asked.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SAFE = "echo 'No known vulnerabilities found'"
FOUND = "echo 'numpy 2.3.4 PYSEC-2026-1 2.3.5'; exit 1"
#: Behind a mirror of PyPI that has packages and nothing about them: all is well.
UNKNOWN = "echo 'numpy Dependency not found on PyPI and could not be audited: numpy (2.3.4)'"
AWAY = "echo 'requests.exceptions.ConnectionError: Max retries exceeded'; exit 1"
DENY_AWAY = "case $* in *advisories*) echo 'failed to fetch advisory database'; exit 1;; esac"
DENY_FOUND = "case $* in *advisories*) echo 'error[vulnerability]: RUSTSEC-2026-0176'; exit 1;; esac"


def script(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("packages", "crates", "status", "said"),
    [
        (SAFE, "", 0, "requirements/core.txt: nothing found"),
        (FOUND, "", 1, "requirements/core.txt: FOUND"),
        (UNKNOWN, "", 2, "requirements/core.txt: NOT CHECKED"),
        (f"{UNKNOWN}; {FOUND}", "", 1, "requirements/core.txt: FOUND"),
        (AWAY, "", 2, "requirements/core.txt: NOT CHECKED"),
        (SAFE, DENY_AWAY, 2, "Cargo.toml: advisories: NOT CHECKED"),
        (SAFE, DENY_FOUND, 1, "Cargo.toml: advisories: FOUND"),
        (AWAY, DENY_FOUND, 1, "Cargo.toml: advisories: FOUND"),
        (FOUND, DENY_AWAY, 1, "requirements/core.txt: FOUND"),
    ],
    ids=[
        "safe",
        "found",
        "unknown",
        "unknown-and-found",
        "away",
        "deny-away",
        "deny-found",
        "away-and-found",
        "found-and-away",
    ],
)
def test_the_status_says_what_was_found_and_what_was_not_looked_at(
    packages: str, crates: str, status: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools/audit.sh", tmp_path / "tools")
    script(tmp_path / "tools/apart.sh", "")
    script(tmp_path / "build/tools/bin/pip-audit", packages)
    script(tmp_path / "bin/cargo", crates)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    ran = subprocess.run(
        ["tools/audit.sh"], cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True
    )
    assert said in ran.stdout + ran.stderr
    assert ran.returncode == status
