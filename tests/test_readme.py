# SPDX-License-Identifier: Apache-2.0
"""What README.md and docs/ show is true: code blocks run, make targets and linked files exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FIRST = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "examples/README.md")]
PAGES = sorted([*FIRST, *(ROOT / "docs").glob("*.md")])


def make_targets() -> set[str]:
    """Targets that `make help` lists."""
    shown = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^ +make ([\w-]+)", shown, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_and_links_exist(page: Path) -> None:
    text = page.read_text()
    named = set(re.findall(r"(?:^ {4,}(?:\$ )?|`)make ([a-z][a-z-]*)\b(?= |$|`)", text, re.MULTILINE))
    assert named <= make_targets()
    links = {link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link}
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    assert [page.name for page in (ROOT / "docs").glob("*.md") if f"({page.name})" not in index] == ["index.md"]


def test_the_readme_kernel_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    for number, block in enumerate(blocks):
        file = tmp_path / f"readme_{number}.py"
        file.write_text(block)
        done = subprocess.run([sys.executable, file], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert float(done.stdout) < 1e-3
        done = subprocess.run([sys.executable, "-m", "ringsmith", "run", file], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_the_targets_of_ci_exist() -> None:
    assert set(re.findall(r"make ([\w-]+)", (ROOT / ".ci" / "run").read_text())) <= make_targets()
