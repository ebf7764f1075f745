# SPDX-License-Identifier: Apache-2.0
"""Build backend (PEP 517): maturin's, with specifications, RTL, pages and licence inside the wheel as `ringsmith/data`.

maturin packs nothing from outside its Python folder, so a copy stands there while it builds.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
DATA = ROOT / "python" / "ringsmith" / "data"
_UNSHIPPED = shutil.ignore_patterns("*.py", "__pycache__", "sim_build", "vectors", "formal", "dv")


@contextmanager
def _staged() -> Iterator[None]:
    shutil.rmtree(DATA, ignore_errors=True)
    try:
        for folder in ("rtl", "spec"):
            shutil.copytree(ROOT / folder, DATA / folder, ignore=_UNSHIPPED)
        shutil.copytree(ROOT / "docs", DATA / "docs", ignore=shutil.ignore_patterns("img", "*.svg"))
        shutil.copyfile(ROOT / "LICENSE", DATA / "LICENSE")
        yield
    finally:
        shutil.rmtree(DATA, ignore_errors=True)


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build the wheel with its data."""
    with _staged():
        name: str = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    return name
