# SPDX-License-Identifier: Apache-2.0
"""Writing a result: .npy or .csv, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError


def check_output(path: Path) -> None:
    """Refuse a place or kind of file that a result cannot be written to, before anything runs."""
    if path.suffix.lower() not in (".npy", ".csv"):
        raise InputError(f"{path}: unknown kind of file; results are written as .npy or .csv")
    if not path.resolve().parent.is_dir():
        raise InputError(f"{path}: no such folder")


def write_output(path: Path, values: NDArray[Any]) -> None:
    """Write an array; a csv has one row for each index of the first axis. The file appears when it is complete."""
    check_output(path)
    with tempfile.NamedTemporaryFile(dir=path.resolve().parent, delete=False) as file:
        try:
            if path.suffix.lower() == ".npy":
                np.save(file, values)
            else:
                rows = values.reshape(values.shape[0] if values.ndim else 1, -1)
                np.savetxt(file, rows, delimiter=",", fmt="%d" if values.dtype.kind in "iu" else "%.17g")
        except BaseException:
            os.unlink(file.name)
            raise
    os.replace(file.name, path)
