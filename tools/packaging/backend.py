# SPDX-License-Identifier: Apache-2.0
"""Build backend (PEP 517): maturin's, with specifications, RTL, pages and licence inside the wheel as `ringsmith/data`.

maturin packs nothing from outside its Python folder. So the data is added to the wheel that it has built, in a folder
of its own: the tree is only read, and a build that is killed leaves nothing in it.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import maturin
from maturin import (  # noqa: F401 (hooks that frontends look for here)
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

ROOT = Path(__file__).resolve().parents[2]
#: What the wheel holds of the checkout, and the names that are left out of it.
_CODE = ("*.py", "__pycache__", "sim_build", "vectors", "formal", "dv")
_SHIPPED = {"rtl": _CODE, "spec": _CODE, "docs": ("img", "*.svg"), "LICENSE": ()}


def _shipped() -> Iterator[Path]:
    """Each file that the wheel holds, by its path in the checkout."""
    for place, left_out in _SHIPPED.items():
        found = [ROOT / place] if (ROOT / place).is_file() else sorted((ROOT / place).rglob("*"))
        for path in found:
            own = path.relative_to(ROOT)
            if path.is_file() and not any(fnmatch(part, name) for part in own.parts for name in left_out):
                yield own


def _line(name: str, data: bytes) -> tuple[str, str, int]:
    """A file's line of RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return name, f"sha256={digest}", len(data)


def _add_data(built: Path, target: Path) -> None:
    """Write the wheel `built` with the data as `target`."""
    with ZipFile(built) as source, ZipFile(target, "w", ZIP_DEFLATED) as wheel:
        [record] = [info for info in source.infolist() if info.filename.endswith(".dist-info/RECORD")]
        lines: list[tuple[str, str, int] | list[str]] = list(csv.reader(io.StringIO(source.read(record).decode())))
        for path in _shipped():
            name, data = f"ringsmith/data/{path.as_posix()}", (ROOT / path).read_bytes()
            made = ZipInfo(name, record.date_time)
            made.external_attr, made.compress_type = 0o644 << 16, ZIP_DEFLATED
            wheel.writestr(made, data)
            lines.insert(-1, _line(name, data))
        for info in source.infolist():
            if info is not record:
                wheel.writestr(info, source.read(info))
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(lines)
        wheel.writestr(record, text.getvalue())


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build the wheel with its data."""
    with tempfile.TemporaryDirectory(dir=wheel_directory) as folder:
        name: str = maturin.build_wheel(folder, config_settings, metadata_directory)
        whole = Path(folder) / f"{name}.whole"
        _add_data(Path(folder) / name, whole)
        os.replace(whole, Path(wheel_directory) / name)
    return name
