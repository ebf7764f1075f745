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


def anchors(text: str) -> set[str]:
    """Return the names by which a page's headings are linked, numbered where a heading stands again."""
    lines = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).splitlines()
    titles = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#")) for line in lines if re.match("#+ ", line)]
    names = [re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles]
    return {f"{name}-{count}" if (count := names[:at].count(name)) else name for at, name in enumerate(names)}


def lost_anchors(page: Path) -> list[str]:
    """Return the links of a page to headings that are not there."""
    links = re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", page.read_text())
    targets = [(page.parent / file if file else page, name) for file, name in links]
    return [f"{path.name}#{name}" for path, name in targets if path.is_file() and name not in anchors(path.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_anchors_exist(page: Path) -> None:
    assert lost_anchors(page) == []


def test_a_lost_anchor_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A `page`: one\n## Two\n## Two\n[a](#a-page-one) [b](#two-1) [c](page.md#two-2) [d](#three)\n")
    assert lost_anchors(page) == ["page.md#two-2", "page.md#three"]


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
