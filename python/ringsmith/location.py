# SPDX-License-Identifier: Apache-2.0
"""Source location of an operation in the user's file: line, and the columns a caret points at."""

from __future__ import annotations

import linecache
import sys
import sysconfig
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType


def _folder(package: str) -> str:
    """Return the folder of an installed package without importing it."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).resolve().parent)


_PACKAGE = str(Path(__file__).resolve().parent)
_NUMPY = _folder("numpy")
_STANDARD = sysconfig.get_path("stdlib")


@dataclass(frozen=True)
class Location:
    """A place in a source file; `column` and `end_column` count from 0 and may be equal when unknown."""

    file: str
    line: int
    column: int
    end_column: int

    def __str__(self) -> str:
        """Return `file:line`."""
        return f"{self.file}:{self.line}"

    def text(self) -> str:
        """Return the source line, empty when the file is gone."""
        return linecache.getline(self.file, self.line).rstrip("\n")

    def caret(self) -> str:
        """Return the source line with carets under the columns, or an empty string when the file is gone."""
        text = self.text()
        if not text.strip():
            return ""
        indent = len(text) - len(text.lstrip())
        start = max(self.column - indent, 0)
        width = min(max(self.end_column - self.column, 1), max(len(text) - self.column, 1))
        return f"    {text.strip()}\n    {' ' * start}{'^' * width}"


@lru_cache(maxsize=1024)
def _is_library(file: str) -> bool:
    """Return whether a frame is ours, numpy's or the standard library's; our own tests count as users."""
    if file.startswith(_PACKAGE):
        return not Path(file).name.startswith("test_")
    return file.startswith(_NUMPY) or (file.startswith(_STANDARD) and "site-packages" not in file)


def _columns(code: CodeType, instruction: int) -> tuple[int, int, int, int]:
    """Return (line, end line, column, end column) of the instruction at byte offset `instruction`."""
    found = next(islice(code.co_positions(), instruction // 2, None), (None, None, None, None))
    line, end_line, column, end_column = (0 if value is None else value for value in found)
    return line, end_line, column, end_column


def here() -> Location:
    """Return the innermost place on the call stack that is outside this package and the libraries under it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (_is_library(frame.f_code.co_filename) or frame.f_code.co_filename.startswith("<")):
        frame = frame.f_back
    if frame is None:
        return Location("<unknown>", 0, 0, 0)
    line, end_line, column, end_column = _columns(frame.f_code, frame.f_lasti)
    if end_line != line:
        end_column = 10_000
    return Location(frame.f_code.co_filename, line or frame.f_lineno, column, end_column)
