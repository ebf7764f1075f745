# SPDX-License-Identifier: Apache-2.0
"""Reading arguments from files: .npy, .npz and .csv, with errors that name the row and the column."""

from __future__ import annotations

import csv
import io
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError
from ringsmith.files import parsed, read_bytes, read_text
from ringsmith.limits import VARIABLE, max_file, max_unpacked
from ringsmith.runtime.arrays import archive_of, array_of

Array = NDArray[Any]

#: Longest line of a .csv file, in characters.
MAX_LINE = 1 << 22
_FORMATS = ".npy, .npz or .csv"
# The syntax of float() without underscores, digits of other scripts, infinities and hexadecimal.
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


def read_arguments(path: str | Path) -> dict[str, Array]:
    """Return the arrays of a file: by name from .npz, one under the empty name from .npy and .csv."""
    path = Path(path)
    if path.suffix.lower() == ".npz":
        return parsed(path, "a numpy archive", lambda data: archive_of(data, max_unpacked(len(data))), _bytes_of(path))
    return {"": read_table(path)}


def read_table(path: str | Path) -> Array:
    """Return the numbers of a .npy or .csv file (a csv gives a 2-D float64 array; a header line is skipped)."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return parsed(path, "a numpy file", array_of, _bytes_of(path))
    if suffix in (".csv", ".txt"):
        return parsed(path, "a table", lambda text: _read_csv(path, text), _text_of(path))
    raise InputError(f"{path}: unknown kind of file; {_FORMATS} are read")


def _bytes_of(path: Path) -> bytes:
    return read_bytes(path, max_file(), f"raise {VARIABLE}")


def _text_of(path: Path) -> str:
    # A number of text takes a few times its length while it is read.
    return read_text(path, max_file() // 4, f"raise {VARIABLE}")


def _read_csv(path: Path, text: str) -> Array:
    """Return the rows of comma-separated text; blank lines are skipped, every row has as many cells."""
    values = array("d")  # Row by row: a list of numbers takes ten times as much.
    width = 0
    for number, cells in _lines(path, text):
        if not width and not any(map(_is_number, cells)):
            width = -1  # The header; only a first line can be one.
            continue
        width = len(cells) if width <= 0 else width
        values.extend(_row(path, number, cells, width))
    if not values:
        raise InputError(f"{path}: no rows of numbers")
    return np.frombuffer(values).reshape(-1, width)


def _lines(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not blank."""
    reader = csv.reader(_short_lines(path, text), strict=True)
    for cells in reader:
        if any(cells):
            yield reader.line_num, cells


def _short_lines(path: Path, text: str) -> Iterator[str]:
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        if len(line) > MAX_LINE:
            raise InputError(f"{path}: row {number} has {len(line)} characters; at most {MAX_LINE} are read")
        yield line


def _is_number(cell: str) -> bool:
    """Whether a cell was meant as a number, if not as one that is taken."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _row(path: Path, number: int, cells: Sequence[str], width: int) -> list[float]:
    if len(cells) != width:
        raise InputError(f"{path}: row {number} has {len(cells)} cells, the first has {width}")
    for column, cell in enumerate(cells, start=1):
        if not _NUMBER.fullmatch(cell) or math.isinf(float(cell)):
            shown = cell.strip() if len(cell) <= 40 else f"{cell.strip()[:40]}..."
            raise InputError(f"{path}: row {number}, column {column}: {shown!r} is not a finite number")
    return [float(cell) for cell in cells]
