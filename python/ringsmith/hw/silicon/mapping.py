# SPDX-License-Identifier: Apache-2.0
"""A design mapped to standard cells: its flat netlist, its modules, its memories as boxes of their own."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringsmith.hw import paths
from ringsmith.hw.silicon.library import Library
from ringsmith.hw.synth.job import Design, run_yosys, settings_of
from ringsmith.hw.synth.rtlil import merge_equal_modules
from ringsmith.hw.synth.store import key_of
from ringsmith.hw.toolchain import exclusive

# Modules that hold a memory; small tables (rs_table) and queues become flip-flops.
MEMORIES = ("rs_ram_1r1w", "rs_ram_1rw")
# Delay first, then area where there is slack; no net inside a module drives more cells than this.
FANOUT = 16
SCRIPT = f"strash\nifraig\nscorr\ndc2\nstrash\ndch\nmap -B 0.9\ntopo\nbuffer -p -N {FANOUT}\nupsize\ndnsize\nstime -p\n"
# Changes with the commands below, so that older netlists are not taken for theirs.
FLOW = "4"
_MODULE = re.compile(r"^module \\(\S+)$\n(.*?)^end$", re.M | re.S)
_MEMORY = re.compile(r"^  memory width (\d+) size (\d+) ", re.M)
_CELL = re.compile(r"^  cell \\(\S+) \\(\S+)$", re.M)


@dataclass(frozen=True)
class Memory:
    """A kind of memory: its module, bits of a word, words."""

    module: str
    width: int
    words: int


@dataclass(frozen=True)
class Mapped:
    """A mapped design in the cache's folder: `netlist.json` flat, `memories.v` the memories' behaviour.

    `children` gives each module its instances with their modules; `memories` the kinds of memory by module.
    """

    top: str
    folder: Path
    children: dict[str, dict[str, str]]
    memories: dict[str, Memory]

    def module_of(self, path: str) -> str:
        """The module that holds what stands at a path of the flat netlist."""
        module, rest = self.top, path
        while True:
            below = self.children.get(module, {})
            found = next((name for name in below if rest.startswith(f"{name}.")), None)
            if found is None or below[found] not in self.children:
                return module
            module, rest = below[found], rest[len(found) + 1 :]


def map_design(design: Design, library: Library, *, quiet: bool = False) -> Mapped:
    """The design in cells of the library, from the cache or anew; processes that want the same take turns.

    Raises:
        ToolError: Yosys failed or was killed; nothing is stored then.
    """
    digest = hashlib.sha256(library.path.read_bytes()).hexdigest()
    key = key_of([*settings_of(design, "cells"), FLOW, SCRIPT, *MEMORIES, digest], design.files())[:24]
    folder = paths.cache("cells") / f"{design.top}-{key}"
    with exclusive(paths.cache("locks") / folder.name):
        if not (folder / "facts.json").exists():
            work = Path(tempfile.mkdtemp(prefix=".cells-", dir=folder.parent))
            try:
                _make(design, library, work, quiet=quiet)
                work.replace(folder)
            finally:
                shutil.rmtree(work, ignore_errors=True)
    facts: dict[str, Any] = json.loads((folder / "facts.json").read_text())
    memories = {name: Memory(name, *shape) for name, shape in facts["memories"].items()}
    return Mapped(design.top, folder, facts["children"], memories)


@dataclass(frozen=True)
class Elaborated:
    """A design before mapping, equal modules once: RTLIL by module, instances by module, kinds of memory."""

    bodies: dict[str, str]
    children: dict[str, dict[str, str]]
    memories: dict[str, Memory]


def elaborate(design: Design, work: Path, *, quiet: bool) -> Elaborated:
    """Elaborate a design; `merged.il` in the folder `work` is then its RTLIL.

    Raises:
        ToolError: Yosys failed or was killed.
    """
    elaborated = work / "elaborated.il"
    run_yosys(design.elaborate(elaborated), f"{design.name}: elaboration", elaborated, quiet=quiet)
    text = merge_equal_modules(elaborated.read_text(), design.top)
    (work / "merged.il").write_text(text)
    bodies = dict(_MODULE.findall(text))
    memories = {
        name: Memory(name, int(shape[1]), int(shape[2]))
        for name, body in bodies.items()
        if name.startswith(MEMORIES) and (shape := _MEMORY.search(body))
    }
    children = {name: {place: kind for kind, place in _CELL.findall(body)} for name, body in bodies.items()}
    return Elaborated(bodies, {name: below for name, below in children.items() if name not in memories}, memories)


def to_cells(top: str, library: Library, work: Path) -> list[str]:
    """Yosys commands that map a design, or a module, to cells of a library; a file for them goes into `work`."""
    (work / "abc.script").write_text(SCRIPT)
    liberty = f"-liberty {library.path}"
    return [
        f"synth -top {top} -nofsm -booth",
        f"dfflibmap {liberty}",
        f"abc {liberty} -script {work / 'abc.script'}",
        "setundef -zero",
    ]


def _make(design: Design, library: Library, work: Path, *, quiet: bool) -> None:
    found = elaborate(design, work, quiet=quiet)
    memories, merged, netlist = found.memories, work / "merged.il", work / "netlist.json"
    mapped = [
        f"read_rtlil {merged}",
        *(f"blackbox {name}" for name in memories),
        *to_cells(design.top, library, work),
        "setattr -mod -unset keep_hierarchy *",
        "flatten",
        "delete t:$scopeinfo",
        "opt_clean",
        "setattr -unset src */*",
        f"write_json {netlist}",
    ]
    run_yosys(mapped, f"{design.name}: {library.name}", netlist, quiet=quiet)
    behaviour = work / "memories.v"
    behaviour.touch()
    if memories:
        kept = [f"read_rtlil {merged}", f"select {' '.join(memories)}", "proc", "opt_clean"]
        kept.append(f"write_verilog -noattr -selected {behaviour}")
        run_yosys(kept, f"{design.name}: memories", behaviour, quiet=True)
    for name in ("elaborated.il", "merged.il", "tool.log", "passes.json", "abc.script"):
        (work / name).unlink(missing_ok=True)
    shapes = {name: [memory.width, memory.words] for name, memory in memories.items()}
    (work / "facts.json").write_text(json.dumps({"memories": shapes, "children": found.children}))
