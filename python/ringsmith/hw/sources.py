# SPDX-License-Identifier: Apache-2.0
"""RTL source files: which files a top needs, in compile order (packages first, then children before parents).

One module, interface or package stands in one file of its name, so names found in a file are its dependencies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from ringsmith import shipped
from ringsmith.errors import ToolError
from ringsmith.extras import to_install
from ringsmith.hw import registers

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")


# The controller and the module around its processor, and the package that has the processor.
_CONTROLLER = ("rs_controller", "rs_riscv")
_SERV = "pythondata-cpu-serv"
# Files of our own, all under Apache-2.0, are SystemVerilog; the processor's are Verilog, under its licence.
_OURS, _PROCESSORS = ".sv", "ISC"


def library(*directories: Path) -> dict[str, Path]:
    """Design units by name: every .sv file below the directories (default: rtl/ and the generated register blocks)."""
    found: dict[str, Path] = {}
    for directory in directories or (shipped.rtl(), *map(registers.block, registers.BLOCKS)):
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


def design(top: str, parameters: Mapping[str, int | str], units: dict[str, Path] | None = None) -> list[Path]:
    """Files of `top` with these parameters: its closure, without the controller where it has none.

    The controller's processor, which is a package's, comes first. Raises ToolError where that is not installed.
    """
    known = library() if units is None else units
    if top not in _CONTROLLER and not int(parameters.get("Controller", 0)):
        return closure(top, {name: path for name, path in known.items() if name not in _CONTROLLER})
    files = closure(top, known)
    return [*(processor() if any(path.stem in _CONTROLLER for path in files) else []), *files]


def processor() -> list[Path]:
    """Verilog of the controller's processor, from its package. Raises ToolError where that is not installed."""
    found = find_spec(_SERV.replace("-", "_"))
    if found is None or found.origin is None:
        raise ToolError(f"the controller's processor, {_SERV}, is not installed: {to_install('hw')}")
    folder = Path(found.origin).parent / "verilog" / "rtl"
    # The wrapper is another top; the decoder of compressed instructions and the aligner are not instantiated.
    return sorted(path for path in folder.glob("serv_*.v") if path.stem != "serv_synth_wrapper")


def licence(files: Sequence[Path]) -> str:
    """Licence of a design made of these files, as SPDX writes it."""
    return "Apache-2.0" if all(path.suffix == _OURS for path in files) else f"Apache-2.0 AND {_PROCESSORS}"


def slang_list(files: Sequence[Path], target: Path) -> str:
    """Write a list of files for Yosys's command read_slang, and return the option that names it.

    The command splits its line at spaces and knows no quotes; the list may have paths with spaces.
    """
    target.write_text("".join(f'"{path}"\n' for path in files))
    return f"-f {target}"
