# SPDX-License-Identifier: Apache-2.0
"""Where the checkout, its RTL and the flow's cache are."""

from __future__ import annotations

import os
from pathlib import Path

from ringsmith.errors import ToolError
from ringsmith.files import reason


def root() -> Path:
    """The checkout this package runs from (`RINGSMITH_ROOT` overrides); the RTL lives in it."""
    override = os.environ.get("RINGSMITH_ROOT")
    candidate = Path(override) if override else Path(__file__).resolve().parents[3]
    if not (candidate / "rtl").is_dir():
        raise ToolError(f"no rtl/ directory under {candidate}: run from a checkout or set RINGSMITH_ROOT to one")
    return candidate


def rtl() -> Path:
    """Directory of the SystemVerilog sources."""
    return root() / "rtl"


def cache(kind: str) -> Path:
    """Directory for cached build results of one kind, created on demand (`RINGSMITH_CACHE` overrides build/)."""
    base = os.environ.get("RINGSMITH_CACHE")
    path = (Path(base) if base else root() / "build") / kind
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ToolError(f"{path}: {reason(error)}; RINGSMITH_CACHE names another folder for build results") from None
    if not os.access(path, os.W_OK):
        raise ToolError(f"{path}: not writable; RINGSMITH_CACHE names another folder for build results")
    return path
