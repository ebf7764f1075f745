# SPDX-License-Identifier: Apache-2.0
"""How often each net of a netlist changes in a cycle of an operation, without glitches: two independent routes.

RTL: registers, inputs and memories have the values of an RTL waveform in pairs of consecutive cycles, and the gates
between are evaluated. Netlist: the netlist itself is simulated, and the simulator counts every net's changes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ringsmith.errors import InputError, ToolError
from ringsmith.hw.silicon.netlist import Instances, Netlist, Words, evaluated
from ringsmith.hw.silicon.waveform import Samples

_SAIF = re.compile(r"\(n(\d+)\b.*?\(T0 (\d+)\).*?\(T1 (\d+)\).*?\(TC (\d+)\)", re.S)
# The clock whose cycles count; registers of another one (a serial link's) are as the waveform has them.
CLOCK = "clk_i"
# Values of registers that the netlist computes otherwise than the RTL, in parts of all that were compared. Some may: a
# value that the RTL leaves open is random in its simulation, and fixed in the netlist.
MOST_WRONG = 0.001


@dataclass(frozen=True)
class Activity:
    """Changes in a cycle and share of ones of each net; clock cycles that were looked at."""

    changes: npt.NDArray[np.float64]
    ones: npt.NDArray[np.float64]
    cycles: int
    route: str


@dataclass
class Compared:
    """Values of registers that the netlist computed, those that the RTL has otherwise, a register with one of them."""

    values: int = 0
    wrong: int = 0
    worst: str = ""

    def add(self, other: Compared, where: str = "") -> None:
        """Count another's too; its register stands below `where`."""
        self.values, self.wrong = self.values + other.values, self.wrong + other.wrong
        self.worst = self.worst or (other.worst and f"{where}{other.worst}")

    def check(self, top: str, path: Path) -> None:
        """Raise InputError where too many are wrong: a waveform of another design, or a wrong netlist."""
        if self.wrong > MOST_WRONG * self.values:
            raise InputError(
                f"{path}: does not match the netlist: {self.wrong} of {self.values} values of registers of {top} (one "
                f"in {self.worst}) are others than the netlist computes; take a waveform of this build"
            )


def of_samples(netlist: Netlist, samples: Samples, path: Path) -> Activity:
    """Activity by the RTL's waveform.

    Raises:
        InputError: the netlist computes other values for registers than it has; the message counts them.
    """
    activity, compared = compare_samples(netlist, samples)
    compared.check(netlist.top, path)
    return activity


def compare_samples(netlist: Netlist, samples: Samples) -> tuple[Activity, Compared]:
    """Activity by the RTL's waveform, and whether it is this netlist's.

    What the netlist computes for a register must be what the RTL has in the next cycle: so a waveform of another
    design, and a netlist that is wrong, are found.
    """
    groups = netlist.group()
    for values in (samples.first, samples.second):
        if len(values) < netlist.nets:
            values.resize((netlist.nets, values.shape[1]), refcheck=False)
    known = np.zeros(netlist.nets, dtype=np.bool_)
    known[: len(samples.known)] = samples.known
    used = np.zeros(samples.first.shape[1] * 64, dtype=np.uint8)
    used[: samples.pairs] = 1
    mask: Words = np.packbits(used, bitorder="little").view(np.uint64)
    clock = netlist.ports[CLOCK][1][0]
    netlist.evaluate(samples.first)
    _follow(netlist, samples, known)
    netlist.evaluate(samples.second)
    compared = Compared()
    for found in groups.values():
        if not found.cell.sequential or not found.cell.edge[1]:
            continue
        after = _next(found, samples.first)
        for pin, form in found.cell.functions.items():
            nets = found.nets[pin]
            own = known[nets] & (found.nets[found.cell.edge[0]] == clock)
            expected = ~after if form == "~Q" else after
            off = np.bitwise_count((expected ^ samples.second[nets]) & mask).sum(axis=1)
            off[~own] = 0
            worst = netlist.paths[int(found.places[int(np.argmax(off))])] if off.any() else ""
            compared.add(Compared(int(own.sum()) * samples.pairs, int(off.sum()), worst))
    changes = np.bitwise_count((samples.first ^ samples.second) & mask).sum(axis=1) / samples.pairs
    ones = np.bitwise_count(samples.first & mask).sum(axis=1) / samples.pairs
    return Activity(changes.astype(np.float64), ones.astype(np.float64), samples.pairs, "rtl"), compared


def _next(found: Instances, values: Words) -> Words:
    """What flip-flops of a kind hold after the clock's edge: their state, or what an asynchronous set or reset says."""
    pins = {pin: values[found.nets[pin]] for pin in found.cell.inputs}
    setting, clearing = (evaluated(text, pins) for text in found.cell.asynchronous)
    return (evaluated(found.cell.state, pins) | setting) & ~clearing


def _follow(netlist: Netlist, samples: Samples, known: npt.NDArray[np.bool_]) -> None:
    """Registers that the waveform lacks take the value that the netlist computes for the second cycle."""
    for found in netlist.group().values():
        if found.cell.sequential:
            after = _next(found, samples.first)
            for pin, form in found.cell.functions.items():
                unknown = ~known[found.nets[pin]]
                samples.second[found.nets[pin][unknown]] = (~after if form == "~Q" else after)[unknown]


def of_saif(netlist: Netlist, path: Path) -> Activity:
    """Activity by a simulation of the netlist, whose nets are n0, n1, ….

    Raises:
        ToolError: the file lacks most of the nets.
    """
    netlist.group()
    changes, ones = (np.zeros(netlist.nets) for _ in range(2))
    cycles = found = 0
    for match in _SAIF.finditer(path.read_text()):
        net, low, high, count = (int(text) for text in match.groups())
        if net < netlist.nets:
            cycles = max(cycles, low + high)
            changes[net], ones[net] = count, high
            found += 1
    if not cycles or found < 0.9 * netlist.nets:
        raise ToolError(f"{path}: {found} of {netlist.nets} nets in the simulator's file: no activity of this netlist")
    return Activity(changes / cycles, ones / cycles, cycles, "netlist")
