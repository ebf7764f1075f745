# SPDX-License-Identifier: Apache-2.0
"""A design mapped module by module: each alone, once, with what it instantiates as boxes, cached by its own text.

What two designs have in common is mapped once for both, and a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from ringsmith.hw import paths
from ringsmith.hw.process import say
from ringsmith.hw.silicon.library import Library
from ringsmith.hw.silicon.mapping import FLOW, SCRIPT, Elaborated, Memory, elaborate, to_cells
from ringsmith.hw.synth.job import Design, run_yosys, yosys_version
from ringsmith.hw.synth.store import key_of
from ringsmith.hw.toolchain import exclusive

_PORT = re.compile(r"^  wire (?:.* )?(?:input|output|inout) \d+ .*$", re.M)


@dataclass(frozen=True)
class Modules:
    """A design by modules: the netlist file of each, its instances with their modules, kinds of memory."""

    top: str
    netlists: dict[str, Path]
    children: dict[str, dict[str, str]]
    memories: dict[str, Memory]

    def places(self) -> dict[str, list[str]]:
        """Paths of each module's instances below the top, whose own path is empty; memories do not count."""
        found: dict[str, list[str]] = defaultdict(list)

        def visit(module: str, path: str) -> None:
            found[module].append(path)
            for name, below in self.children[module].items():
                if below in self.children:
                    visit(below, f"{path}.{name}" if path else name)

        visit(self.top, "")
        return dict(found)


def map_modules(design: Design, library: Library, *, quiet: bool = False) -> Modules:
    """The modules of a design in cells of the library, each from the cache or anew.

    Raises:
        ToolError: Yosys failed or was killed; the modules that were finished stay in the cache.
    """
    folder = paths.cache("cells") / "modules"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ringsmith-cells-") as work:
        elaborated = elaborate(design, Path(work), quiet=quiet)
    digest = hashlib.sha256(library.path.read_bytes()).hexdigest()
    version = yosys_version()
    netlists: dict[str, Path] = {}
    for name in elaborated.children:
        text = _alone(name, elaborated)
        file = folder / f"{name}-{key_of([version, FLOW, SCRIPT, digest, text], ())[:24]}.json"
        with exclusive(paths.cache("locks") / file.name):
            if not file.exists():
                _make(name, text, library, file)
                if not quiet:
                    say(f"{design.name}: {len(netlists) + 1} of {len(elaborated.children)} modules mapped, {name}")
        netlists[name] = file
    return Modules(design.top, netlists, elaborated.children, elaborated.memories)


def _alone(name: str, elaborated: Elaborated) -> str:
    """RTLIL of a module with the ports of what it instantiates."""
    below = dict.fromkeys(elaborated.children[name].values())
    boxes = [
        f"attribute \\blackbox 1\nmodule \\{kind}\n" + "\n".join(_PORT.findall(elaborated.bodies[kind])) + "\nend"
        for kind in below
    ]
    return "\n".join([*boxes, f"module \\{name}\n{elaborated.bodies[name]}end", ""])


def _make(name: str, text: str, library: Library, file: Path) -> None:
    work = Path(tempfile.mkdtemp(prefix=".module-", dir=file.parent))
    try:
        source, netlist = work / "module.il", work / "netlist.json"
        source.write_text(text)
        commands = [f"read_rtlil {source}", *to_cells(name, library, work)]
        commands += ["delete t:$scopeinfo", "opt_clean", "setattr -unset src */*", f"write_json {netlist}"]
        run_yosys(commands, f"{name}: {library.name}", netlist, quiet=True)
        netlist.replace(file)
    finally:
        shutil.rmtree(work, ignore_errors=True)
