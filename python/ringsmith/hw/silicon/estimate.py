# SPDX-License-Identifier: Apache-2.0
"""The silicon figures of a design: area by module, critical path, and energy of an operation under its own activity."""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from ringsmith.hw import paths
from ringsmith.hw.device import Waveform, build_device
from ringsmith.hw.process import say
from ringsmith.hw.silicon import memories, sta
from ringsmith.hw.silicon.activity import Activity, of_saif, of_samples
from ringsmith.hw.silicon.library import Library
from ringsmith.hw.silicon.mapping import Mapped, map_design
from ringsmith.hw.silicon.netlist import Netlist, read_netlist, write_behaviour, write_structure
from ringsmith.hw.silicon.waveform import read_samples
from ringsmith.hw.synth.job import Design
from ringsmith.presets import AnyPreset

LABEL = "before layout, cells only"
# Pairs of cycles that the RTL's waveform has, about.
PAIRS = 256


class Route(StrEnum):
    """Where activities come from: an RTL waveform, the netlist's own simulation."""

    RTL = "rtl"
    NETLIST = "netlist"


@dataclass(frozen=True)
class Operation:
    """A real operation: the preset, its name, cycles in which it computes, how to run it, instructions in those cycles.

    `run` takes the simulator's library, the file of its waveform, and one cycle in how many it holds.
    """

    preset: AnyPreset
    name: str
    cycles: int
    run: Callable[[Path, Path, int], None]
    executed: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def estimate(
    design: Design,
    library: Library,
    *,
    operation: Operation | None = None,
    waveform: Path | None = None,
    route: Route = Route.RTL,
    quiet: bool = False,
) -> dict[str, Any]:
    """Area, clock and, with an operation or a waveform, energy: one object for JSON.

    Raises:
        ToolError: a tool is missing or failed.
        InputError: the waveform is of another design.
    """
    sta.require()
    mapped = map_design(design, library, quiet=quiet)
    netlist = read_netlist(mapped, library)
    buffers = netlist.buffer_large_nets()
    netlist.group()
    work = Path(tempfile.mkdtemp(prefix=".silicon-", dir=paths.cache("cells")))
    try:
        activity = None
        if waveform is not None:
            activity = of_samples(netlist, read_samples(waveform, netlist), waveform)
        elif operation is not None:
            activity = _measured(netlist, mapped, operation, route, work, quiet=quiet)
        structure = work / "structure.v"
        write_structure(netlist, structure)
        if not quiet:
            say(f"{design.name}: timing{'' if activity is None else ' and power'} of {len(netlist.kinds):,} cells")
        path, power = sta.analyse(netlist, library, structure, work, activity)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    report = {
        "design": design.name,
        "top": design.top,
        "library": library.name,
        "voltage": library.voltage,
        "label": f"{library.name}, {library.voltage:g} V, {LABEL}",
        "cells": len(netlist.kinds),
        "fanout_buffers": buffers,
        **_area(netlist, mapped, power),
        "critical": _critical(netlist, path),
        "memories": memories.by_kind([(netlist, activity, 1)], mapped.memories),
        "memory_source": memories.SOURCE,
    }
    if activity is not None and power is not None:
        cycles = None if operation is None else operation.cycles
        sums = Sums.of(power, activity)
        report["power"] = power_report(sums, report, cycles) | {
            "operation": operation.name if operation is not None else str(waveform)
        }
    return report


@dataclass
class Sums:
    """Energies of cells in J a cycle, leakage in W; cells without a figure; changes of all nets in a cycle, nets."""

    internal: float = 0.0
    switching: float = 0.0
    leakage: float = 0.0
    missing: int = 0
    changes: float = 0.0
    nets: int = 0
    cycles: int = 0
    route: str = ""

    @classmethod
    def of(cls, power: sta.Power, activity: Activity) -> Sums:
        """The sums of a netlist."""
        internal, switching, leakage = (float(p.sum()) for p in (power.internal, power.switching, power.leakage))
        changes = float(activity.changes.sum())
        nets = len(activity.changes)
        return cls(internal, switching, leakage, power.missing, changes, nets, activity.cycles, activity.route)


def _measured(
    netlist: Netlist, mapped: Mapped, operation: Operation, route: Route, work: Path, *, quiet: bool
) -> Activity:
    """Run the operation on the simulated device and take its activity."""
    if route is Route.RTL:
        file = recorded(operation, work, quiet=quiet)
        return of_samples(netlist, read_samples(file, netlist), file)
    behaviour = work / f"{netlist.top}.v"
    write_behaviour(netlist, behaviour)
    file = work / "activity.saif"
    sources = [behaviour, mapped.folder / "memories.v"] if mapped.memories else [behaviour]
    device = build_device(operation.preset, waveform=Waveform.SAIF, netlist=sources)
    if not quiet:
        say(f"{operation.preset.name}: {operation.name} on the netlist")
    operation.run(device, file, 1)
    return of_saif(netlist, file)


def recorded(operation: Operation, work: Path, *, quiet: bool) -> Path:
    """Run the operation on the simulated RTL; a file in the folder `work` is then its waveform."""
    file = work / "waveform.vcd"
    device = build_device(operation.preset, waveform=Waveform.VCD)
    every = max(1, operation.cycles // PAIRS)
    if every > 2:
        every |= 1  # no multiple of what a transform does in turns of two
    if not quiet:
        say(f"{operation.preset.name}: {operation.name} on the RTL, one cycle in {every} looked at")
    operation.run(device, file, every)
    return file


def _area(netlist: Netlist, mapped: Mapped, power: sta.Power | None) -> dict[str, Any]:
    """Cells, area and energy by module, all of its instances together."""
    known: dict[str, str] = {}
    rows: dict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    for place, (kind, path) in enumerate(zip(netlist.kinds, netlist.paths, strict=True)):
        parent = path.rsplit(".", 1)[0] if "." in path else ""
        module = known.get(parent) or known.setdefault(parent, mapped.module_of(path))
        row = rows[module]
        row[0] += 1
        row[1] += netlist.library.cells[kind].area
        if power is not None:
            row[2] += float(power.internal[place] + power.switching[place])
    listed: list[dict[str, Any]] = [
        {"module": module, "cells": int(row[0]), "area_um2": row[1]}
        | ({"pj_per_cycle": row[2] * 1e12} if power is not None else {})
        for module, row in rows.items()
    ]
    listed.sort(key=lambda row: -float(row["area_um2"]))
    return {"area_um2": sum(float(row["area_um2"]) for row in listed), "modules": listed}


def _critical(netlist: Netlist, path: sta.LongestPath | None) -> dict[str, Any] | None:
    if path is None:
        return None
    ends = [_place(netlist, *path.cells[at][:2]) for at in (0, -1)]
    return {"ns": round(path.ns, 3), "mhz": round(1000 / path.ns, 1), "gates": len(path.cells) - 2,
            "from": ends[0], "to": ends[1]}  # fmt: skip


def _place(netlist: Netlist, role: str, number: int) -> str:
    """Where a cell of the longest path stands: a module's path, a memory's, or a port of the top."""
    if role == "g":
        return netlist.paths[number].split("$", 1)[0].rstrip(".")
    boxes = (box.path for box in netlist.boxes if any(number in bits for bits in box.ports.values()))
    ports = (name for name, (_, bits) in netlist.ports.items() if number in bits)
    return next(boxes, None) or next(ports, "")


def power_report(sums: Sums, report: Mapping[str, Any], cycles: int | None) -> dict[str, Any]:
    """Energies a cycle and of an operation of `cycles` cycles; memories and clock as a report has them."""
    memory = sum(float(row["pj_per_cycle"]) for row in report["memories"])
    internal, switching = sums.internal * 1e12, sums.switching * 1e12
    critical = report["critical"]
    found: dict[str, Any] = {
        "route": sums.route,
        "cycles_looked_at": sums.cycles,
        "changes_per_net_and_cycle": sums.changes / max(sums.nets, 1),
        "internal_pj_per_cycle": internal,
        "switching_pj_per_cycle": switching,
        "memory_pj_per_cycle": memory,
        "leakage_mw": sums.leakage * 1e3,
        "cells_without_a_figure": sums.missing,
    }
    if critical is not None:
        found["mw_at_its_clock"] = (internal + switching) * critical["mhz"] * 1e-3 + found["leakage_mw"]
    if cycles is not None:
        found |= {
            "cycles": cycles,
            "cells_uj": (internal + switching) * cycles * 1e-6,
            "memories_uj": memory * cycles * 1e-6,
        }
    return found
