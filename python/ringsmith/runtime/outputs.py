# SPDX-License-Identifier: Apache-2.0
"""Writing a result: .npy or .csv, whole or not at all."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError
from ringsmith.files import check_place, replacing


def check_output(path: Path) -> None:
    """Refuse a place or kind of file that a result cannot be written to, before anything runs."""
    if path.suffix.lower() not in (".npy", ".csv"):
        raise InputError(f"{path}: unknown kind of file; results are written as .npy or .csv")
    check_place(path)


def write_output(path: Path, values: NDArray[Any]) -> None:
    """Write an array; a csv has one row for each index of the first axis. The file appears when it is complete."""
    check_output(path)
    text = io.BytesIO()
    if path.suffix.lower() == ".npy":
        np.save(text, values)
    else:
        if values.dtype.kind == "c":
            raise InputError(f"{path}: a table holds real numbers, the result is complex; write it as .npy")
        rows = values.reshape(values.shape[0] if values.ndim else 1, -1)
        np.savetxt(text, rows, delimiter=",", fmt="%d" if values.dtype.kind in "iu" else "%.17g")
    with replacing(path) as file:
        file.write(text.getbuffer())
