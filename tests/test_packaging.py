# SPDX-License-Identifier: Apache-2.0
"""The build backend adds specifications, RTL, pages and licence to a wheel, and only reads the tree."""

from __future__ import annotations

import base64
import csv
import hashlib
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest
from loading import loaded

ROOT = Path(__file__).resolve().parents[1]
RECORD = "thing-1.dist-info/RECORD"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of one module, with what the backend adds."""
    pytest.importorskip("maturin", reason="the packages of requirements/dev.txt are not installed")
    backend = loaded("tools/packaging/backend.py")
    folder = tmp_path_factory.mktemp("wheels")
    with ZipFile(folder / "built.whl", "w") as built:
        built.writestr("ringsmith/__init__.py", "")
        built.writestr(RECORD, f"ringsmith/__init__.py,,0\n{RECORD},,\n")
    backend._add_data(folder / "built.whl", folder / "whole.whl")
    return folder / "whole.whl"


def test_the_record_has_every_file_with_its_hash(wheel: Path) -> None:
    with ZipFile(wheel) as whole:
        assert whole.testzip() is None
        lines = list(csv.reader(whole.read(RECORD).decode().splitlines()))
        assert sorted(name for name, _, _ in lines) == sorted(whole.namelist())
        assert whole.namelist()[-1] == lines[-1][0] == RECORD
        added = {name: (digest, int(size)) for name, digest, size in lines if name.startswith("ringsmith/data/")}
        for name, told in added.items():
            data = whole.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert told == (f"sha256={digest}", len(data)), name
            assert data == (ROOT / name.removeprefix("ringsmith/data/")).read_bytes(), name


def test_designs_and_facts_are_shipped_and_tests_are_not(wheel: Path) -> None:
    with ZipFile(wheel) as whole:
        names = {name.removeprefix("ringsmith/data/") for name in whole.namelist()}
    assert {"LICENSE", "rtl/core/rs_core.sv", "spec/isa.yaml", "docs/install.md"} <= names
    assert not [name for name in names if name.startswith(("rtl/dv", "spec/vectors", "docs/img"))]
    assert [name for name in names if name.endswith(".py")] == ["ringsmith/__init__.py"]


def test_the_tree_holds_no_copy_of_the_data() -> None:
    """A copy in python/ringsmith would be installed in place of the files that it was made from."""
    told = subprocess.run(["git", "ls-files", "python/ringsmith/data"], cwd=ROOT, capture_output=True, text=True)
    if told.returncode:
        pytest.skip("not a checkout")
    assert told.stdout == ""
    assert not (ROOT / "python" / "ringsmith" / "data").exists()
