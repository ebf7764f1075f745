# SPDX-License-Identifier: Apache-2.0
"""Folders of the RTL and of the flow's cache."""

from __future__ import annotations

import os
from pathlib import Path

from ringsmith.errors import ToolError
from ringsmith.files import reason
from ringsmith.shipped import INSTALLED, root


def default_cache() -> Path:
    """The folder `build` of a checkout; the user's cache folder (XDG) where the package is installed."""
    if root() != INSTALLED:
        return root() / "build"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ringsmith"


def cache(kind: str) -> Path:
    """Directory of one kind of cached build results, created on demand (`RINGSMITH_CACHE`, else `default_cache`)."""
    base = os.environ.get("RINGSMITH_CACHE")
    path = (Path(base).absolute() if base else default_cache()) / kind  # builds run in folders of their own
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ToolError(f"{path}: {reason(error)}; RINGSMITH_CACHE names another folder for build results") from None
    if not os.access(path, os.W_OK):
        raise ToolError(f"{path}: not writable; RINGSMITH_CACHE names another folder for build results")
    return path
