# SPDX-License-Identifier: Apache-2.0
"""Sizes that read well: no function of Python over 60 lines, no source file over 600."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

from ringsmith.gen.files import generated

ROOT = Path(__file__).resolve().parents[1]
FUNCTION, FILE = 60, 600


def long_functions(root: Path, paths: list[str]) -> list[str]:
    """Return the functions that are too long, tests left out: file, name, lines."""
    return [
        f"{path}: {node.name}: {lines} lines"
        for path in paths
        if path.endswith(".py") and not Path(path).name.startswith("test_")
        for node in ast.walk(ast.parse((root / path).read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or 0) - node.lineno + 1) > FUNCTION
    ]


def long_files(root: Path, paths: list[str]) -> list[str]:
    """Return the source files that are too long: file, lines."""
    return [
        f"{path}: {lines} lines"
        for path in paths
        if path.endswith((".py", ".rs", ".sv", ".c", ".cpp", ".h", ".js"))
        and (lines := len((root / path).read_text(encoding="utf-8").splitlines())) > FILE
    ]


def by_hand() -> list[str]:
    """Return the files of the tree that are written by hand."""
    listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True).split("\n")
    made = {str(path) for path in generated()}
    return [path for path in listed if path and path not in made and (ROOT / path).is_file()]


def test_no_function_is_too_long() -> None:
    assert long_functions(ROOT, by_hand()) == []


def test_no_file_is_too_long() -> None:
    assert long_files(ROOT, by_hand()) == []


def test_what_is_too_long_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n" + "    x = 1\n" * FUNCTION)
    (tmp_path / "b.rs").write_text("// line\n" * (FILE + 1))
    assert long_functions(tmp_path, ["a.py", "b.rs"]) == [f"a.py: f: {FUNCTION + 1} lines"]
    assert long_files(tmp_path, ["a.py", "b.rs"]) == [f"b.rs: {FILE + 1} lines"]
