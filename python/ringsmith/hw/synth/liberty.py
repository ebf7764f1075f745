# SPDX-License-Identifier: Apache-2.0
"""Cell area with a standard-cell library that the user brings as a liberty file."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from ringsmith.errors import InputError
from ringsmith.files import read_text
from ringsmith.hw.synth.job import Design, Mapped, settings_of, synthesised
from ringsmith.hw.synth.store import Store, key_of

MAX_BYTES = 128 << 20
# Characters that would end a word or command of a script.
_UNSAFE = re.compile(r"[^\w./+,:@%=~-]", re.ASCII)
LIBRARY = re.compile(r"^\s*library\s*\([^)]*\)\s*\{", re.MULTILINE)


def check_liberty(path: Path) -> None:
    """Refuse a file that is not a liberty file: unreadable, oversized, or without a `library (…)` group."""
    if _UNSAFE.search(str(path)):
        raise InputError(f"{path}: Yosys's scripts take no spaces, quotes, ; or # in a name; rename it")
    head = read_text(path, MAX_BYTES)[: 1 << 16]
    if not LIBRARY.search(head):
        raise InputError(f"{path}: not a liberty file: no 'library (…) {{' in its first 64 KiB")


def cell_area(design: Design, library: Path, *, store: Store | None = None, quiet: bool = False) -> dict[str, Any]:
    """Standard-cell area in the library's own unit: {"area", "modules"}; memories become flip-flops."""
    check_liberty(library)
    key = key_of(settings_of(design, "liberty"), [*design.files(), library])

    def make() -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="ringsmith-area-") as folder:
            commands = [
                f"synth -top {design.top}",
                f"dfflibmap -liberty {library}",
                f"abc -liberty {library}",
                "opt_clean -purge",
                f"stat -json -liberty {library}",
            ]
            what = f"{design.name} with {library.name}"
            statistics = synthesised(design, Mapped(commands), what, Path(folder), quiet=quiet)
            modules = {name.removeprefix("\\"): data.get("area") for name, data in statistics["modules"].items()}
            return {"area": float(statistics["design"]["area"]), "modules": modules}

    return (store or Store()).get_or_make(key, f"{design.name} area", make)
