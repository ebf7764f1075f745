# SPDX-License-Identifier: Apache-2.0
"""Comments: lines end at column 120, and no words that riddle.

Code may be longer where no tool breaks it; ruff holds all lines of Python. The list of words grows: what a reader had
to guess the meaning of is added here, with a line that has it below.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = 120
FOLDERS = ("bench", "crates", "fuzz", "python", "rtl", "spec", "tools")
#: Start of a comment, by the ending of a file's name.
MARKERS = {
    **dict.fromkeys((".c", ".cpp", ".h", ".rdl", ".rs", ".sv"), "//"),
    **dict.fromkeys((".sh", ".toml", ".yaml"), "#"),
}


def long_comments(root: Path) -> list[str]:
    """Lines of nothing but comment that are too long: file, line, columns."""
    return [
        f"{path.relative_to(root)}:{number}: {len(line)} columns"
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in MARKERS and "target" not in path.parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > COLUMNS and line.lstrip().startswith(MARKERS[path.suffix])
    ]


def test_lines_of_comment_end_at_column_120() -> None:
    assert long_comments(ROOT) == []


def test_a_long_line_of_comment_is_found(tmp_path: Path) -> None:
    (tmp_path / "crates").mkdir()
    words = "x" * (COLUMNS - 4)
    (tmp_path / "crates" / "lib.rs").write_text(f"/// {words}\n    // {words}\nlet code = 0; // {words}\n")
    assert long_comments(tmp_path) == ["crates/lib.rs:2: 123 columns"]


#: Words that hide the subject of a sentence. Name the thing in the code instead: the client, the worker, `count`.
RIDDLES = re.compile(
    r"\bnobody\b|\bwhoever\b|\bno one else\b|\bso many\b|\bthat which\b|\b(?:he|those) who\b|\bwhom\b|\bought to\b"
    r"|\bwhat is (?:no|none|told)\b|\bthat is none\b|\bnone (?:any more|of ours)\b"
    r"|\blets? go\b|\"\"\"(?:Know|Have|Tell)s?\b|/// (?:Know|Tell)s\b",
    re.IGNORECASE,
)
READ = ("bench", "crates", "examples", "fuzz", "python", "rtl", "tools")


def riddles(root: Path) -> list[str]:
    """Lines of Python, Rust and SystemVerilog with such a word, tests left out: file, line, word."""
    return [
        f"{path.relative_to(root)}:{number}: {found[0]}"
        for folder in READ
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in (".py", ".rs", ".sv") and not _left_out(path.relative_to(root))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (found := RIDDLES.search(line))
    ]


def riddles_in_pages(root: Path) -> list[str]:
    """Lines of pages with such a word: file, line, word. A printed table does not count."""
    pages = [*root.glob("*.md"), *(root / "docs").glob("*.md"), *(root / "examples").glob("*.md")]
    return [
        f"{path.relative_to(root)}:{number}: {found[0]}"
        for path in sorted(pages)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (found := RIDDLES.search(line)) and not line.startswith("median, with so many")
    ]


def test_no_word_riddles_in_pages() -> None:
    assert riddles_in_pages(ROOT) == []


def test_a_word_that_riddles_is_found_in_a_page(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("# A page\n\nWhoever reads it has to guess.\n")
    assert riddles_in_pages(tmp_path) == ["docs/page.md:3: Whoever"]


def _left_out(path: Path) -> bool:
    return path.name.startswith("test") or bool({"target", "tests"} & set(path.parts))


def test_no_word_riddles() -> None:
    assert riddles(ROOT) == []


@pytest.mark.parametrize(
    "line",
    [
        '"""Wait; whoever waits for a job is answered."""',
        "# Nobody reads stderr any more.",
        '"""Return how many of so many jobs make one bunch."""',
        '"""Return the jobs of a bunch, which is none any more."""',
        '"""Know it no more."""',
        '"""Have one."""',
        '"""Refuse what is no message."""',
        '"""Return the answer; Problem for a body that is none."""',
        '"""Tell whether it is done."""',
        "# What is told stands in one line.",
        "# The queue refuses those who filled it.",
        "# What the answer ought to be.",
        '"""Sum the bytes that scope and request let go."""',
    ],
)
def test_a_word_that_riddles_is_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "code.py").write_text(f"# Has an answer, and no more than that.\n{line}\n")
    (found,) = riddles(tmp_path)
    assert found.startswith("python/code.py:2: ")


def test_a_word_that_riddles_is_found_in_rtl(tmp_path: Path) -> None:
    (tmp_path / "rtl" / "core").mkdir(parents=True)
    (tmp_path / "rtl" / "core" / "unit.sv").write_text(
        'module unit;\n  initial $error("slots of nobody");\nendmodule\n'
    )
    assert riddles(tmp_path) == ["rtl/core/unit.sv:2: nobody"]
