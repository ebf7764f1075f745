# SPDX-License-Identifier: Apache-2.0
"""The silicon figures of a large design by module: each is mapped, evaluated and analysed once, for all its instances.

A module's instances have their own values in the waveform; what counts is their mean activity, times their number. A
net that goes into a module loads its driver there, by what it drives in the module: C V^2 / 2 a change, as everywhere.
Paths from module to module are not timed.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ringsmith.errors import ToolError
from ringsmith.hw import paths
from ringsmith.hw.process import say
from ringsmith.hw.silicon import memories, sta
from ringsmith.hw.silicon.activity import CLOCK, Activity, Compared, compare_samples
from ringsmith.hw.silicon.estimate import LABEL, Operation, Sums, power_report, recorded
from ringsmith.hw.silicon.library import Library
from ringsmith.hw.silicon.mapping import Memory
from ringsmith.hw.silicon.modules import Modules, map_modules
from ringsmith.hw.silicon.netlist import HIGH, LOW, Netlist, read_module, write_structure
from ringsmith.hw.silicon.waveform import read_instances
from ringsmith.hw.synth.job import Design

NO_CLOCK = "not known by module: paths from one to another are not timed"
_PICO = 1e12


@dataclass(frozen=True)
class Measured:
    """A module under the mean activity of its instances: netlist, activity, figures of one instance."""

    netlist: Netlist
    activity: Activity
    copies: int
    sums: Sums


def estimate_by_module(
    design: Design,
    library: Library,
    *,
    operation: Operation | None = None,
    waveform: Path | None = None,
    quiet: bool = False,
) -> dict[str, Any]:
    """Area and, with an operation or a waveform, energy: one object for JSON, as `estimate` gives it, without a clock.

    Raises:
        ToolError: a tool is missing or failed; what was mapped stays in the cache.
        InputError: the waveform is of another design.
    """
    sta.require()
    modules = map_modules(design, library, quiet=quiet)
    places = modules.places()
    netlists = {name: _netlist(name, modules, library) for name in places}
    report = {
        "design": design.name,
        "top": design.top,
        "library": library.name,
        "voltage": library.voltage,
        "label": f"{library.name}, {library.voltage:g} V, {LABEL}",
        "by_module": True,
        "critical": None,
        "why_no_clock": NO_CLOCK,
        "memory_source": memories.SOURCE,
        "cells": sum(len(one.kinds) * len(places[name]) for name, one in netlists.items()),
    }
    work = Path(tempfile.mkdtemp(prefix=".silicon-", dir=paths.cache("cells")))
    try:
        found: list[Measured] = []
        if waveform is not None or operation is not None:
            file = waveform
            if file is None:
                assert operation is not None
                file = recorded(operation, work, quiet=quiet)
            found = list(_measured(design, file, netlists, places, modules.memories, work, quiet=quiet))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    known = {one.netlist.top: one for one in found}
    rows = [_row(netlist, len(places[name]), known.get(name)) for name, netlist in netlists.items()]
    rows.sort(key=lambda row: -float(row["area_um2"]))
    report |= {"area_um2": sum(float(row["area_um2"]) for row in rows), "modules": rows}
    listed = [
        (netlist, known[name].activity if name in known else None, len(places[name]))
        for name, netlist in netlists.items()
    ]
    report["memories"] = memories.by_kind(listed, modules.memories)
    if found:
        cycles = None if operation is None else operation.cycles
        name = operation.name if operation is not None else str(waveform)
        report["power"] = power_report(_total(found), report, cycles) | {"operation": name}
    return report


def _netlist(name: str, modules: Modules, library: Library) -> Netlist:
    """A module's netlist, large nets buffered; what it instantiates are boxes whose outputs have names.

    Raises:
        ToolError: it holds a cell that the library has not.
    """
    netlist = read_module(modules.netlists[name], name, {*modules.children[name].values()}, library)
    _name_clock(netlist)
    netlist.buffer_large_nets()
    netlist.group()
    for box in netlist.boxes:
        for port in box.outputs:
            netlist.names[f"{box.path}.{port}"] = box.ports[port]
    return netlist


def _name_clock(netlist: Netlist) -> None:
    """Give the port that clocks a module's registers the clock's name; where there is none, a port for it."""
    if CLOCK in netlist.ports:
        return
    edges = (
        (netlist.library.cells[kind].edge[0], pins) for kind, pins in zip(netlist.kinds, netlist.pins, strict=True)
    )
    clock = next((pins[edge] for edge, pins in edges if edge), netlist.nets)
    name = next((name for name, (_, bits) in netlist.ports.items() if bits == [clock]), CLOCK)
    netlist.ports.pop(name, None)
    netlist.ports[CLOCK] = ("input", [clock])
    netlist.nets = max(netlist.nets, clock + 1)


def _measured(
    design: Design,
    waveform: Path,
    netlists: dict[str, Netlist],
    places: dict[str, list[str]],
    kinds: dict[str, Memory],
    work: Path,
    *,
    quiet: bool,
) -> Iterator[Measured]:
    placed = [(netlist, places[name]) for name, netlist in netlists.items()]
    samples = read_instances(waveform, design.top, placed)
    compared = Compared()
    for number, (netlist, instances) in enumerate(placed, 1):
        if not quiet:
            count = f"{number} of {len(placed)}"
            say(f"{design.name}: power of module {count}, {netlist.top}, {len(instances)} instances")
        activity, own = compare_samples(netlist, next(samples))
        compared.add(own, f"{netlist.top}.")
        yield Measured(netlist, activity, len(instances), _power(netlist, activity, kinds, work))
    compared.check(design.top, waveform)


def _power(netlist: Netlist, activity: Activity, kinds: dict[str, Memory], work: Path) -> Sums:
    """Figures of one instance: inside cells by OpenSTA, on nets by the pins in this module that they load."""
    if not netlist.kinds:
        return Sums(changes=float(activity.changes.sum()), nets=netlist.nets, cycles=activity.cycles, route="rtl")
    structure = work / "structure.v"
    write_structure(netlist, structure)
    _, power = sta.analyse(netlist, netlist.library, structure, work, activity)
    if power is None:
        raise ToolError(f"OpenSTA gave no power of {netlist.top}")
    sums = Sums.of(power, activity)
    sums.switching = float(activity.changes @ loads(netlist, kinds)) * netlist.library.voltage**2 / 2
    return sums


def loads(netlist: Netlist, kinds: dict[str, Memory]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Capacitance in F of the pins on each net, clocks apart; a memory's pin counts as a flip-flop's."""
    found = np.zeros(netlist.nets)
    cells = netlist.library.cells
    flip_flop = next(c for c in cells.values() if c.sequential and c.edge[1] and len(c.inputs) == 2)
    (data,) = (value for pin, value in flip_flop.inputs.items() if pin != flip_flop.edge[0])
    clock = netlist.ports[CLOCK][1][0]
    for kind, pins in zip(netlist.kinds, netlist.pins, strict=True):
        cell = cells[kind]
        for pin, capacitance in cell.inputs.items():
            if pin != cell.edge[0]:
                found[pins[pin]] += capacitance
    for box in netlist.boxes:
        if box.module in kinds:
            for port, bits in box.ports.items():
                if port not in box.outputs:
                    np.add.at(found, bits, data)
    found[[LOW, HIGH, clock]] = 0
    return found * netlist.library.farad


def _row(netlist: Netlist, copies: int, measured: Measured | None) -> dict[str, Any]:
    cells = netlist.library.cells
    row: dict[str, Any] = {
        "module": netlist.top,
        "instances": copies,
        "cells": copies * len(netlist.kinds),
        "area_um2": copies * sum(cells[kind].area for kind in netlist.kinds),
    }
    if measured is not None:
        row["pj_per_cycle"] = copies * (measured.sums.internal + measured.sums.switching) * _PICO
        row["leakage_mw"] = copies * measured.sums.leakage * 1e3
    return row


def _total(found: list[Measured]) -> Sums:
    """The sums of all instances; cycles looked at are those of one."""
    total = Sums(cycles=min(one.sums.cycles // one.copies for one in found), route=found[0].sums.route)
    for one in found:
        for name in ("internal", "switching", "leakage", "missing", "changes", "nets"):
            setattr(total, name, getattr(total, name) + one.copies * getattr(one.sums, name))
    return total
