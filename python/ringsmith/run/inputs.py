# SPDX-License-Identifier: Apache-2.0
"""Reading arguments from files: .npy, .npz and .csv, with errors that name the row and the column."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError

Array = NDArray[Any]

#: Larger files are refused before they are read: such inputs do not fit the memory of an encrypted run anyway.
MAX_BYTES = 1 << 30
_FORMATS = ".npy, .npz or .csv"


def read_arguments(path: str | Path) -> dict[str, Array]:
    """Return the arrays of a file: by name from .npz, one under the empty name from .npy and .csv."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return _read_npz(path)
    return {"": read_table(path)}


def read_table(path: str | Path) -> Array:
    """Return the numbers of a .npy or .csv file (a csv gives a 2-D float64 array; a header line is skipped)."""
    path = Path(path)
    _check_file(path)
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return _numbers(path, _load(path))
    if suffix in (".csv", ".txt"):
        return _read_csv(path)
    raise InputError(f"{path}: unknown kind of file; {_FORMATS} are read")


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"{path}: {path.stat().st_size} bytes, more than the {MAX_BYTES} that are read")


def _load(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not a numpy file ({str(error).splitlines()[0]})") from None


def _read_npz(path: Path) -> dict[str, Array]:
    _check_file(path)
    archive = _load(path)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise InputError(f"{path}: not an .npz archive")
    try:
        return {name: _numbers(path, archive[name], name) for name in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not a numpy archive ({str(error).splitlines()[0]})") from None


def _numbers(path: Path, array: Any, name: str = "") -> Array:
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "bifu":
        kind = getattr(array, "dtype", type(array).__name__)
        raise InputError(f"{path}{': ' + name if name else ''}: holds {kind}, real numbers are needed")
    return array


def _read_csv(path: Path) -> Array:
    """Return the rows of a comma-separated file; blank lines are skipped, every row has as many cells."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8") from None
    lines = [(number, cells) for number, cells in enumerate(csv.reader(text.splitlines()), start=1) if any(cells)]
    if lines and not any(_is_number(cell) for cell in lines[0][1]):
        lines = lines[1:]
    if not lines:
        raise InputError(f"{path}: no rows of numbers")
    width = len(lines[0][1])
    return np.array([_row(path, number, cells, width) for number, cells in lines], dtype=np.float64)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _row(path: Path, number: int, cells: Sequence[str], width: int) -> list[float]:
    if len(cells) != width:
        raise InputError(f"{path}: row {number} has {len(cells)} cells, the first has {width}")
    for column, cell in enumerate(cells, start=1):
        if not _is_number(cell) or not np.isfinite(float(cell)):
            raise InputError(f"{path}: row {number}, column {column}: {cell.strip()!r} is not a finite number")
    return [float(cell) for cell in cells]
