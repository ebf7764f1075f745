# SPDX-License-Identifier: Apache-2.0
"""Reports of designs by module, kept: a run of many that was killed goes on behind the last that was finished."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from ringsmith.hw.silicon.by_module import estimate_by_module
from ringsmith.hw.silicon.estimate import Operation
from ringsmith.hw.silicon.library import Library
from ringsmith.hw.silicon.mapping import elaborate
from ringsmith.hw.synth.job import Design, settings_of
from ringsmith.hw.synth.store import Store, key_of


def kept_by_module(design: Design, library: Library, operation: Operation) -> dict[str, Any]:
    """What `estimate_by_module` says of an operation, from the cache or anew.

    Raises:
        ToolError: a tool is missing or failed; nothing is stored then, but modules that were mapped stay in the cache.
    """
    what = f"{design.name}: {operation.name}"
    return Store().get_or_make(
        _key(design, library, operation),
        what,
        lambda: estimate_by_module(design, library, operation=operation, quiet=True),
    )


def _key(design: Design, library: Library, operation: Operation) -> str:
    """Hash of all that a report comes from.

    That is the elaborated design, whatever the text of its RTL, so that a change elsewhere, or of a comment, costs
    nothing; library and tools; the operation with what it executes; and this package itself.
    """
    with tempfile.TemporaryDirectory(prefix="ringsmith-cells-") as work:
        elaborate(design, Path(work), quiet=True)
        merged = (Path(work) / "merged.il").read_text()
    executed = json.dumps(operation.executed, sort_keys=True)
    parts = [*settings_of(design, "cells by module"), merged, operation.name, str(operation.cycles), executed]
    own = sorted(path for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("test_"))
    return key_of(parts, [library.path, *own])
