# SPDX-License-Identifier: Apache-2.0
"""Location of the files shipped with the package: specifications, RTL, pages of documentation, licence."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from ringsmith.errors import ToolError

PACKAGE = Path(str(files("ringsmith"))).resolve()
#: A checkout has them at its root; an installed wheel holds a copy of them in the package.
CHECKOUT = PACKAGE.parents[1]
INSTALLED = PACKAGE / "data"


def root() -> Path:
    """Return the folder of `spec/`, `rtl/` and `LICENSE` (`RINGSMITH_ROOT` overrides)."""
    override = os.environ.get("RINGSMITH_ROOT")
    return Path(override) if override else CHECKOUT if (CHECKOUT / "spec" / "presets").is_dir() else INSTALLED


def spec() -> Path:
    """Return the folder of the specifications (`RINGSMITH_SPEC` overrides)."""
    override = os.environ.get("RINGSMITH_SPEC")
    return Path(override) if override else root() / "spec"


def pages() -> dict[str, Path]:
    """Return the pages of the documentation by topic, sorted; empty where they are not shipped."""
    return {path.stem: path for path in sorted((root() / "docs").glob("*.md"))}


def rtl() -> Path:
    """Return the folder of the SystemVerilog sources. Raises ToolError where it is missing."""
    folder = root() / "rtl"
    if not folder.is_dir():
        raise ToolError(f"no folder {folder}: RINGSMITH_ROOT names a checkout; `make wheel` builds a complete wheel")
    return folder
