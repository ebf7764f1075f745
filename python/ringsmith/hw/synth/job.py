# SPDX-License-Identifier: Apache-2.0
"""One synthesis: Yosys in a child process, its cells counted by module, the result cached by its inputs."""

from __future__ import annotations

import importlib.metadata
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ringsmith.errors import InputError, ToolError
from ringsmith.extras import to_install
from ringsmith.hw import core_cfg, sources
from ringsmith.hw.synth.carry import gates_behind_luts
from ringsmith.hw.synth.cells import Resources, count
from ringsmith.hw.synth.follow import run_tool
from ringsmith.hw.synth.rtlil import merge_equal_modules
from ringsmith.hw.synth.store import Store, key_of

PASS = re.compile(r"^(\d+(?:\.\d+)*)\. (Executing .*)$")
# Changes with the commands below, so that older results are not taken for theirs.
FLOW = "3"
XILINX_REST = ("begin:prepare", "map_memory:")
# Modules too small to count apart; inlined, their constant inputs and registers are optimised with what surrounds them.
INLINED = ("rs_delay", "rs_mod_", "rs_mul_", "rs_halve")


class Family(StrEnum):
    """Targets: UltraScale+, 7 series, Lattice ECP5."""

    XCUP = "xcup"
    XC7 = "xc7"
    ECP5 = "ecp5"


@dataclass(frozen=True, kw_only=True)
class Design:
    """A top module with its parameters."""

    name: str
    top: str
    parameters: Mapping[str, int | str]

    def files(self) -> list[Path]:
        """Sources, dependencies first."""
        return sources.design(self.top, self.parameters)

    def elaborate(self, output: Path, defines: Sequence[str] = ()) -> list[str]:
        """Yosys commands that elaborate the design into RTLIL, small arithmetic inlined where it is used."""
        macros = " ".join(f"-D {name}" for name in ("SYNTHESIS", *defines))
        listed = self.files()
        parameters = core_cfg.packed(listed[-1], self.parameters)
        settings = " ".join(f"-G {name}={value}" for name, value in sorted(parameters.items()))
        files = sources.slang_list(listed, output.with_suffix(".f"))
        return [
            f"read_slang --keep-hierarchy --ignore-assertions --top {self.top} {macros} {settings} {files}",
            f"hierarchy -top {self.top}",
            "setattr -mod -set keep_hierarchy 1 *",
            *(f"setattr -mod -unset keep_hierarchy {prefix}*" for prefix in INLINED),
            "flatten",
            "delete t:$scopeinfo",
            "clean",
            f"write_rtlil {output}",
        ]


@dataclass(frozen=True)
class Mapped:
    """Yosys commands in one run or in two, between which the operands of adders are put in order.

    `defines` names the macros of the elaboration: which primitives the RTL may instantiate.
    """

    first: Sequence[str]
    rest: Sequence[str] = ()
    defines: Sequence[str] = ()

    def then(self, command: str) -> Mapped:
        """One more command at the end."""
        first, rest = (self.first, [*self.rest, command]) if self.rest else ([*self.first, command], self.rest)
        return Mapped(first, rest, self.defines)


def mapping(design: Design, family: Family, *, uram: bool = False, netlist: Path | None = None) -> Mapped:
    """The Yosys commands that map the elaborated design to the family's primitives."""
    if family is Family.ECP5:
        return Mapped([f"synth_ecp5 -top {design.top} -noabc9" + (f" -json {netlist}" if netlist else "")])
    options = "-noiopad -noclkbuf" + (" -uram" if uram else "")
    command = f"synth_xilinx -family {family} -top {design.top} {options}"
    # The libraries of primitives are loaded anew after the adders' operands have been put in order.
    defines = ["RINGSMITH_DSP48E2", *(["RINGSMITH_URAM"] if uram else [])] if family is Family.XCUP else []
    return Mapped([f"{command} -run begin:map_memory"], [f"{command} -run {part}" for part in XILINX_REST], defines)


def synthesised(design: Design, commands: Mapped, what: str, folder: Path, *, quiet: bool) -> dict[str, Any]:
    """Elaborate, merge equal modules and run `commands`, the last of which prints the statistics; returns them.

    Raises:
        ToolError: Yosys failed or was killed.
    """
    elaborated, merged, coarse, ordered, result = (
        folder / name for name in ("elaborated.il", "merged.il", "coarse.il", "ordered.il", "stat.json")
    )
    run_yosys(design.elaborate(elaborated, commands.defines), f"{what}: elaboration", elaborated, quiet=quiet)
    merged.write_text(merge_equal_modules(elaborated.read_text(), design.top))
    first, rest = [f"read_rtlil {merged}", *commands.first], commands.rest
    if rest:
        run_yosys([*first, f"write_rtlil -selected {coarse}"], f"{what}: word level", coarse, quiet=quiet)
        ordered.write_text(gates_behind_luts(coarse.read_text()))
        first = [f"read_rtlil {ordered}", *rest]
    run_yosys([*first[:-1], f"tee -q -o {result} {first[-1]}"], f"{what}: synthesis", result, quiet=quiet)
    statistics: dict[str, Any] = json.loads(result.read_text())
    return statistics


def synthesise(
    design: Design, family: Family, *, uram: bool = False, store: Store | None = None, quiet: bool = False
) -> dict[str, Any]:
    """Resources of a design: `total` and `modules` (each for one instance, with their number), from the cache or anew.

    Raises:
        ToolError: Yosys failed or was killed; nothing is stored then.
        InputError: the design holds cells that the family has no primitive for.
    """
    key = key_of(settings_of(design, f"{family} uram={uram}"), design.files())

    def make() -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="ringsmith-synth-") as folder:
            commands = mapping(design, family, uram=uram).then("stat -json")
            what = f"{design.name} on {family}"
            return tally(synthesised(design, commands, what, Path(folder), quiet=quiet), design.top)

    return (store or Store()).get_or_make(key, f"{design.name} {family}", make)


def settings_of(design: Design, target: str) -> list[str]:
    """Cache key of a result beside the sources: tool version, target, top and parameters."""
    return [yosys_version(), FLOW, target, design.top, json.dumps(dict(sorted(design.parameters.items())))]


def yosys_version() -> str:
    """Return the version of the installed Yosys; ToolError where there is none."""
    try:
        return importlib.metadata.version("pyosys")
    except importlib.metadata.PackageNotFoundError:
        raise ToolError(f"Yosys is not installed: {to_install('hw')}") from None


def run_yosys(commands: Sequence[str], what: str, result: Path, *, quiet: bool = False) -> str:
    """Run Yosys commands in a child process, with a progress line every ten seconds; returns its log.

    Raises:
        ToolError: the child failed or was killed, or `result` was not written.
    """
    script = result.with_name("passes.json")
    script.write_text(json.dumps(list(commands)))
    return run_tool(["yosys", str(script)], what, result, step=_last_pass, quiet=quiet)


def _last_pass(tail: Sequence[str]) -> str:
    """The step that Yosys is in, from the end of its log."""
    steps = [match for line in tail if (match := PASS.match(line))]
    return f"step {steps[-1][1]} {steps[-1][2]}" if steps else "reading"


def tally(statistics: Mapping[str, Any], top: str) -> dict[str, Any]:
    """Count `stat -json`: own cells of each module, instances below the top, the total."""
    modules = {name.removeprefix("\\"): data for name, data in statistics["modules"].items()}
    own: dict[str, Resources] = {}
    children: dict[str, dict[str, int]] = {}
    for name, data in modules.items():
        cells = data.get("num_cells_by_type", {})
        own[name], others = count(cells)
        children[name] = {}
        for kind in others:
            if kind.removeprefix("\\") in modules:
                children[name][kind.removeprefix("\\")] = cells[kind]
            elif not kind.startswith("$"):
                raise InputError(f"{name} holds {cells[kind]} cells '{kind}' that the family has no primitive for")
    instances = dict.fromkeys(modules, 0)

    def visit(name: str, copies: int) -> None:
        instances[name] += copies
        for child, number in children[name].items():
            visit(child, copies * number)

    root = next(name for name in modules if name == top or name.startswith((f"{top}$", f"{top}(")))
    visit(root, 1)
    total = Resources()
    rows = []
    for name, copies in instances.items():
        if copies:
            total += own[name].times(copies)
            rows.append({"module": name, "instances": copies, **own[name].to_dict()})
    rows.sort(key=lambda row: -float(row["lut"]) * int(row["instances"]))
    return {"total": total.to_dict(), "modules": rows}
