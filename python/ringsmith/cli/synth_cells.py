# SPDX-License-Identifier: Apache-2.0
"""`ringsmith synth --cells`: standard cells, their clock, and the energy of an operation of the design."""

from __future__ import annotations

import ctypes
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from ringsmith import _native
from ringsmith.cli.measure import Whole, measure
from ringsmith.errors import InputError, ToolError
from ringsmith.hw.silicon import sta
from ringsmith.hw.silicon.by_module import estimate_by_module
from ringsmith.hw.silicon.estimate import Operation, Route, estimate
from ringsmith.hw.silicon.library import OSU018, default_library, load_library
from ringsmith.hw.silicon.scaling import Node, scaled
from ringsmith.hw.synth.job import Design
from ringsmith.hw.synth.targets import PARTS
from ringsmith.presets import Preset, load_any, parse_overrides
from ringsmith.report.terminal import plain_console
from ringsmith.runtime.devices import OpenDevice, open_device
from ringsmith.specs import shown

NO_OPERATION = "not available: {} runs no operation of ringsmith simulate by itself; --waveform takes a waveform of one"
# The node of a user's own library is not in its file.
DEFAULT_NM = 180.0


@dataclass(frozen=True, kw_only=True)
class CellOptions:
    """Options of `ringsmith synth` that go with --cells."""

    liberty: Path | None = None
    operation: str | None = None
    n: int | None = None
    primes: int | None = None
    waveform: Path | None = None
    route: str = "rtl"
    scale: str | None = None
    allow_insecure: bool = False
    by_module: bool = False


def synth_cells(name: str, settings: Sequence[str], design: Design, options: CellOptions, *, as_json: bool) -> None:
    """Map to standard cells, time, run the operation, print."""
    if options.route not in set(Route):
        raise InputError(f"--route {shown(options.route)}: {' or '.join(Route)}")
    if options.by_module and options.route != Route.RTL:
        raise InputError(f"--by-module takes its activity from the RTL: without --route {options.route}")
    if options.waveform is not None and options.operation is not None:
        raise InputError("--waveform brings the activity itself: without --operation")
    if options.waveform is not None and not options.waveform.is_file():
        raise InputError(f"{options.waveform}: no such file")
    node = _node(options.scale)
    if node is not None and options.liberty is not None and options.liberty != OSU018:
        raise InputError(f"--scale goes from the 180 nm of {OSU018.name}; with --liberty the node is not known")
    preset = None if name in PARTS else load_any(name, parse_overrides(list(settings)))
    runs = isinstance(preset, Preset)
    if options.operation is not None and not runs:
        raise InputError(f"--operation {shown(options.operation)}: {NO_OPERATION.format(name)}")
    operation = None
    if isinstance(preset, Preset) and options.waveform is None:
        operation = operation_of(preset, options)
    # A library of the user's own is read first: what is wrong with it needs no tool to be told.
    own = None if options.liberty is None else load_library(options.liberty)
    sta.require()
    library = own or load_library(default_library())
    if options.by_module:
        report = estimate_by_module(design, library, operation=operation, waveform=options.waveform)
    else:
        report = estimate(design, library, operation=operation, waveform=options.waveform, route=Route(options.route))
    if options.liberty is None:
        report["label"] = f"{DEFAULT_NM:g} nm, " + report["label"]
    if "power" not in report:
        report["why_no_power"] = NO_OPERATION.format(name)
    if node is not None:
        report["scaled"] = scaled(report, Node(DEFAULT_NM, library.voltage), node)
    if as_json:
        print(json.dumps(report))
    else:
        _print(report)


def _node(text: str | None) -> Node | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,3}(?:\.\d+)?),(\d(?:\.\d+)?)", text)
    if match is None or not 1 <= float(match[1]) <= DEFAULT_NM or not 0.1 <= float(match[2]) <= 5:
        raise InputError(f"--scale {shown(text)}: a node from 1 to 180 nm and a voltage from 0.1 to 5 V, as in 28,0.64")
    return Node(float(match[1]), float(match[2]))


def operation_of(preset: Preset, options: CellOptions) -> Operation:
    """The operation, its cycles by the model, which are the RTL's."""
    name = options.operation or "ntt"
    n = min(preset.n_max, 4096) if options.n is None else options.n
    if not (8 <= n <= 32768 and n & (n - 1) == 0):
        raise InputError(f"--n {n}: a power of two from 8 to 32768")
    what = Whole(allow_insecure=options.allow_insecure, primes=options.primes)
    outcome = measure(open_device("model", preset), name, n, what)

    def run(library: Path, file: Path, every: int) -> None:
        loaded = ctypes.CDLL(str(library))
        loaded.rs_waveform(str(file).encode(), ctypes.c_uint64(every))
        try:
            native = _native.Device.rtl(f"rtl:{preset.name}", list(preset.operations), library, preset.port_memory)
            found = measure(OpenDevice("rtl", preset, native), name, n, what)
            del native
        finally:
            loaded.rs_waveform(b"", ctypes.c_uint64(1))
        if not found["correct"]:
            raise ToolError(f"{preset.name}: the result of {name} is wrong, so its activity means nothing")

    return Operation(preset, f"{name}, n = {n}", _working(outcome), run, _executed(outcome))


def _working(outcome: dict[str, Any]) -> int:
    """Cycles with a transform, product or conversion in flight; of several submissions all cycles."""
    if outcome["usage"]["submissions"] > 1:
        return int(outcome["cycles"])
    return sum(end - start for start, end in _spans(outcome))


def _spans(outcome: dict[str, Any]) -> list[tuple[int, int]]:
    """Intervals with a transform, product or conversion in flight, none of which overlap."""
    found: list[tuple[int, int]] = []
    until = 0
    for start, end in sorted((event[3], event[4]) for event in outcome["profile"]["events"] if event[2] != "memory"):
        if end > max(start, until):
            found.append((max(start, until), end))
            until = end
    return found


def _executed(outcome: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Instructions by mnemonic as the engine counts them; of transfers the part within the working cycles.

    Operands and results of an operation on chip cross in submissions of their own, beside which the cycles and the
    profile are those of one: it shows every instruction that is no transfer.
    """
    executed: dict[str, dict[str, float]] = outcome["usage"]["executed"]
    computing = sum(one["count"] for kind, one in executed.items() if kind not in ("load", "store", "memcpy"))
    shown = sum(event[2] != "memory" for event in outcome["profile"]["events"])
    if outcome["usage"]["submissions"] > 1 and shown != computing:
        return executed
    spans = _spans(outcome)
    inside = Counter[str]()
    for _, mnemonic, unit, start, end in outcome["profile"]["events"]:
        if unit == "memory" and end > start:
            inside[mnemonic] += sum(max(0, min(end, e) - max(start, s)) for s, e in spans) / (end - start)
    parts = {kind: inside[kind] / one["count"] if kind in ("load", "store") else 1.0 for kind, one in executed.items()}
    return {
        kind: {what: round(value * parts[kind], 3) for what, value in one.items()}
        for kind, one in executed.items()
        if parts[kind] > 0
    }


def _print(report: dict[str, Any]) -> None:
    console = plain_console()
    power = report.get("power")
    table = Table(title=f"{report['design']}: {report['label']}", caption="all instances of a module together")
    table.add_column("module")
    for name in ("cells", "mm2", *(["pJ a cycle"] if power else [])):
        table.add_column(name, justify="right")
    for row in report["modules"]:
        energy = [f"{row['pj_per_cycle']:,.1f}"] if power else []
        table.add_row(row["module"], f"{row['cells']:,}", f"{row['area_um2'] / 1e6:.4f}", *energy)
    table.add_section()
    energy = [f"{power['internal_pj_per_cycle'] + power['switching_pj_per_cycle']:,.1f}"] if power else []
    table.add_row("cells in all", f"{report['cells']:,}", f"{report['area_um2'] / 1e6:.4f}", *energy, style="bold")
    for row in report["memories"]:
        shape = f"{row['instances']} x {row['memory']}, {row['words']} x {row['width']} bits"
        energy = [f"{row['pj_per_cycle']:,.1f}"] if power else []
        table.add_row(shape, "-", f"{row['area_um2'] / 1e6:.4f}", *energy)
    console.print(table)
    if report["memories"]:
        console.print(f"memories: {report['memory_source']}")
    critical = report["critical"]
    if critical is None:
        console.print(f"clock: {report.get('why_no_clock', 'no path between registers')}")
    else:
        where = f"{critical['gates']} gates from {critical['from'] or 'the top'} to {critical['to'] or 'the top'}"
        console.print(f"clock: {critical['ns']} ns, {critical['mhz']} MHz ({where})")
    if power is None:
        console.print(f"power: {report['why_no_power']}")
        return
    for line in _power_lines(power, report.get("scaled")):
        console.print(line)


def _power_lines(power: dict[str, Any], scaled_to: dict[str, Any] | None) -> list[str]:
    clock = f"; {power['mw_at_its_clock']:,.1f} mW at the clock above" if "mw_at_its_clock" in power else ""
    lines = [
        f"cells while it works: {power['internal_pj_per_cycle']:,.1f} pJ a cycle inside, "
        f"{power['switching_pj_per_cycle']:,.1f} pJ on nets, leakage {power['leakage_mw']:.4g} mW{clock}",
        f"activity: {power['operation']}, {power['route']}, {power['cycles_looked_at']:,} cycles, "
        f"{power['changes_per_net_and_cycle']:.3f} changes a net and cycle",
    ]
    if "cycles" in power:
        lines.append(
            f"energy of {power['operation']}: cells {power['cells_uj']:,.3f} uJ, memories {power['memories_uj']:,.3f} "
            f"uJ in {power['cycles']:,} cycles"
        )
    if scaled_to is not None:
        lines.append(f"scaled to {scaled_to['nm']:g} nm, {scaled_to['voltage']:g} V ({scaled_to['rule']}):")
        lines.append(f"  cells {scaled_to['area_mm2']:.4f} mm2, memories {scaled_to['memory_mm2']:.4f} mm2")
        if "cells_uj" in scaled_to:
            lines.append(f"  cells {scaled_to['cells_uj']:.4g} uJ, memories {scaled_to['memories_uj']:.4g} uJ")
    return lines
