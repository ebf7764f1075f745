# SPDX-License-Identifier: Apache-2.0
"""Lines of comment end at column 120. Code may be longer where no tool breaks it; ruff holds all lines of Python."""

from __future__ import annotations

from pathlib import Path

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
