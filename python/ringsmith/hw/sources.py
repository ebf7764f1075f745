# SPDX-License-Identifier: Apache-2.0
"""RTL source files: which files a top needs, in compile order (packages first, then children before parents).

One module, interface or package stands in one file of its name, so names found in a file are its dependencies.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from ringsmith import shipped
from ringsmith.errors import ToolError
from ringsmith.hw import registers

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")


def library(*directories: Path) -> dict[str, Path]:
    """Design units by name: every .sv file below the directories (default: rtl/ and the generated register block)."""
    found: dict[str, Path] = {}
    for directory in directories or (shipped.rtl(), registers.block()):
        for path in sorted(directory.rglob("*.sv")):
            if "sim_build" not in path.parts:
                found.setdefault(path.stem, path)
    return found


@lru_cache(maxsize=1024)
def _identifiers(path: Path, _mtime_ns: int) -> frozenset[str]:
    text = _STRING.sub(" ", _COMMENT.sub(" ", path.read_text()))
    return frozenset(_IDENTIFIER.findall(text))


def closure(top: str, units: dict[str, Path] | None = None) -> list[Path]:
    """Files needed by `top`, dependencies first; packages before all modules. Raises ToolError on an unknown top."""
    known = library() if units is None else units
    if top not in known:
        raise ToolError(f"no module {top}: there is no {top}.sv below {shipped.rtl()}")
    order: list[str] = []
    visiting: set[str] = set()

    def visit(name: str) -> None:
        if name in visiting:
            return
        visiting.add(name)
        path = known[name]
        for used in sorted(_identifiers(path, path.stat().st_mtime_ns) & known.keys()):
            visit(used)
        order.append(name)

    visit(top)
    return [known[name] for name in sorted(order, key=lambda name: not name.endswith("_pkg"))]
