# SPDX-License-Identifier: Apache-2.0
"""OpenSTA on a flat netlist: the critical path, and the power of every cell under given activities."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ringsmith.errors import ToolError
from ringsmith.hw.process import checked, run
from ringsmith.hw.silicon.activity import Activity
from ringsmith.hw.silicon.library import Cell, Library, pins_of
from ringsmith.hw.silicon.netlist import Netlist

COMMAND, PACKAGE = "sta", "opensta"
# Any period serves: energies are by cycle, and the critical path's length is the period less the slack.
PERIOD_NS = 100.0
# Cells that OpenSTA may give no number for, in parts of all.
MOST_WITHOUT = 1e-4
_STEP = re.compile(r"^\s*([\d.-]+)\s+([\d.-]+)\s+[v^]\s+([gst])(\d+)/(\w+) \((\w+)\)$")
_SLACK = re.compile(r"^\s*(-?[\d.]+)\s+slack", re.M)


@dataclass(frozen=True)
class LongestPath:
    """The longest path between registers: length with setup in ns; cells from start to end.

    A cell is its role (g: a cell of the netlist, s, t: a flip-flop in place of a source or a memory's input), its place
    or net, its kind.
    """

    ns: float
    cells: tuple[tuple[str, int, str], ...]


@dataclass(frozen=True)
class Power:
    """Of each cell, in the netlist's order: internal and switching energy in J per cycle, leakage in W.

    `missing` counts the cells for which OpenSTA gave no number; they count as 0.
    """

    internal: npt.NDArray[np.float64]
    switching: npt.NDArray[np.float64]
    leakage: npt.NDArray[np.float64]
    missing: int


def require() -> None:
    """Raise ToolError, which names the package, where OpenSTA is missing."""
    if shutil.which(COMMAND) is None:
        raise ToolError(f"OpenSTA ({COMMAND}) is missing: install it (Debian and Ubuntu: apt install {PACKAGE})")


def analyse(
    netlist: Netlist, library: Library, structure: Path, work: Path, activity: Activity | None, clock: str = "clk_i"
) -> tuple[LongestPath | None, Power | None]:
    """Longest path between registers (None: there is none) and, under an activity, power.

    A memory of `structure` is a flip-flop at each of its pins. The clock and the reset are ideal.

    Raises:
        ToolError: OpenSTA is missing or failed.
    """
    require()
    powers = work / "power.txt"
    script = work / "analyse.tcl"
    commands = [
        f"read_liberty {{{library.path}}}",
        f"read_verilog {{{structure}}}",
        f"link_design {netlist.top}",
        f"create_clock -name clk -period {PERIOD_NS} [get_ports {clock}]",
    ]
    if activity is not None:
        # Activities that come before the first report are lost; what it would propagate is then overwritten. Where that
        # gives a cell no number, it cannot print the sum.
        commands += [
            f"catch {{report_power > {{{work / 'first.txt'}}}}}",
            "proc a {name changes ones} {sta::set_power_pin_activity [sta::find_pin $name] $changes $ones}",
            f"source {{{_activities(netlist, activity, work / 'activity.tcl')}}}",
            f"set file [open {{{powers}}} w]",
            "proc figures {cell} {sta::instance_power $cell [sta::cmd_corner]}",
            'foreach cell [get_cells g*] {puts $file "[get_full_name $cell] [figures $cell]"}',
            "close $file",
        ]
    # An activity is by the cycle of the clock that reaches a pin: paths are taken away when power is known.
    resets = [f"s{bits[0]}" for name, (_, bits) in netlist.ports.items() if name.startswith("rst_n")]
    commands += [
        f"set ideal [get_cells -quiet {{{' '.join(['c*', *resets])}}}]",
        "if {[llength $ideal]} {set_false_path -from $ideal}",
        "report_checks -path_delay max -path_group clk -format full -digits 4",
    ]
    script.write_text("\n".join([*commands, "exit", ""]))
    done = checked("OpenSTA", run([COMMAND, "-no_splash", "-exit", script], timeout_s=3600, log=work / "sta.log"))
    errors = [line for line in done.output.splitlines() if line.startswith("Error")]
    if errors:
        raise ToolError(f"OpenSTA: {errors[0]}")
    power = _power(netlist, powers.read_text()) if activity is not None else None
    return _longest(done.output), power


def _power(netlist: Netlist, text: str) -> Power:
    """Return the power from OpenSTA's lines, one a cell: name, internal, switching, leakage, total.

    Raises:
        ToolError: cells are missing, or more than MOST_WITHOUT of them have no number.
    """
    figures = np.zeros((3, len(netlist.kinds)))
    rows = [line.split() for line in text.splitlines()]
    if len(rows) != len(netlist.kinds):
        raise ToolError(f"OpenSTA gave the power of {len(rows)} cells, there are {len(netlist.kinds)}")
    for name, internal, switching, leakage, _ in rows:
        figures[:, int(name[1:])] = float(internal), float(switching), float(leakage)
    bad = np.flatnonzero(~np.isfinite(figures).all(axis=0))
    if len(bad) > MOST_WITHOUT * len(netlist.kinds):
        where = netlist.paths[bad[0]]
        raise ToolError(
            f"OpenSTA gave no number for the power of {len(bad)} cells, a {netlist.kinds[bad[0]]} at {where}"
        )
    figures[:, bad] = 0
    seconds = PERIOD_NS * 1e-9
    return Power(figures[0] * seconds, figures[1] * seconds, figures[2], len(bad))


def _longest(output: str) -> LongestPath | None:
    slack = _SLACK.search(output)
    if slack is None:
        return None
    steps = (match for line in output.splitlines() if (match := _STEP.match(line)))
    # The first cell stands there twice, with its clock and with its output.
    cells = dict.fromkeys((step[3], int(step[4]), step[6]) for step in steps)
    return LongestPath(PERIOD_NS - float(slack[1]), tuple(cells))


def _activities(netlist: Netlist, activity: Activity, path: Path) -> Path:
    """Activities of all pins as commands.

    OpenSTA 2.0.17 takes a gate's internal energy by its inputs' changes, each weighted by how likely the output follows
    (from the other inputs' share of ones, as if they were independent). Here the output's own changes are known: one
    input, the one that changes most, gets them, and the others the values with which the output follows it.
    """
    changes, ones = activity.changes, activity.ones
    with path.open("w") as file:
        for found in netlist.group().values():
            cell = found.cell
            for row, place in enumerate(found.places):
                nets = {pin: int(found.nets[pin][row]) for pin in found.nets}
                for pin in cell.functions:
                    if pin in netlist.pins[place]:
                        file.write(f"a g{place}/{pin} {changes[nets[pin]]:.5g} {ones[nets[pin]]:.4g}\n")
                output, text = next(iter(cell.functions.items()))
                followed = {} if cell.sequential else sensitive(cell, text)
                chosen = max(followed, key=lambda pin: changes[nets[pin]], default="")
                for pin in cell.inputs:
                    if pin == cell.edge[0]:
                        continue
                    if not chosen:
                        file.write(f"a g{place}/{pin} {changes[nets[pin]]:.5g} {ones[nets[pin]]:.4g}\n")
                    elif pin == chosen:
                        file.write(f"a g{place}/{pin} {changes[nets[output]]:.5g} 0.5\n")
                    else:
                        file.write(f"a g{place}/{pin} 0 {followed[chosen].get(pin, 0)}\n")
    return path


def sensitive(cell: Cell, text: str) -> dict[str, dict[str, int]]:
    """For each input that an output follows, values of the others with which it does."""
    return _sensitive(tuple(cell.inputs), text)


@lru_cache(maxsize=4096)
def _sensitive(inputs: tuple[str, ...], text: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    used = set(pins_of(text))
    for pin in inputs:
        others = [name for name in inputs if name != pin and name in used]
        for values in _assignments(others) if pin in used else ():
            low, high = (_value(text, {**values, pin: bit}) for bit in (0, 1))
            if low != high:
                found[pin] = values
                break
    return found


def _assignments(names: list[str]) -> Iterator[dict[str, int]]:
    for bits in itertools.product((0, 1), repeat=len(names)):
        yield dict(zip(names, bits, strict=True))


def _value(text: str, pins: dict[str, int]) -> int:
    result: int = eval(text, {"__builtins__": {}}, {**pins, "K0": 0, "K1": -1})
    return result & 1
