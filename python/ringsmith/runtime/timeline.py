# SPDX-License-Identifier: Apache-2.0
"""The timeline of a device program as a Perfetto trace, one track per unit, with a summary in ten lines.

The same from the model and from the RTL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from ringsmith.files import replacing
from ringsmith.runtime.perfetto import part, process, trace, track

UNITS = ("compute", "memory", "rns", "pointwise")
_PROCESS = 1

#: index in the program, mnemonic, unit, first cycle, cycle after the last write.
Event = tuple[int, str, str, int, int]


def write_trace(path: Path, name: str, profile: Mapping[str, Any], clock_mhz: float, assembly: str = "") -> None:
    """Write a profile as a Perfetto trace; times are those of the clock."""
    with replacing(path) as file:
        file.write(trace_bytes(name, profile, clock_mhz, assembly))


def trace_bytes(name: str, profile: Mapping[str, Any], clock_mhz: float, assembly: str = "") -> bytes:
    """Return the bytes of a Perfetto trace of a profile."""
    lines = [line for line in assembly.splitlines() if not line.startswith(";")]
    tracks = {unit: number for number, unit in enumerate(units_of(profile["events"]), start=2)}
    packets = [process(_PROCESS, name), *(track(number, unit, _PROCESS) for unit, number in tracks.items())]
    for unit, number in tracks.items():
        packets += slices(number, [e for e in profile["events"] if e[2] == unit], 1e3 / clock_mhz, lines=lines)
    return trace(packets)


def units_of(events: Sequence[Event]) -> list[str]:
    """Return the units that have a track: few builds convert bases or have a unit for pointwise instructions."""
    there = {event[2] for event in events}
    return [unit for unit in UNITS if unit in ("compute", "memory") or unit in there]


def slices(
    number: int, events: Sequence[Event], ns: float, start_ns: float = 0.0, lines: Sequence[str] = ()
) -> Iterator[bytes]:
    """Yield the slices of a unit's instructions, `ns` nanoseconds a cycle, from `start_ns` on.

    A drain that the next instruction overlaps is cut, so that slices stay apart.
    """
    for place, (index, mnemonic, _, start, end) in enumerate(events):
        following = events[place + 1][3] if place + 1 < len(events) else end
        ends = min(end, max(following, start))
        label = lines[index] if index < len(lines) else mnemonic
        numbers, texts = {"instruction": index, "cycles": end - start}, {"assembly": label}
        yield from part(number, mnemonic, "instruction", start_ns + start * ns, start_ns + ends * ns, numbers, texts)


def summary(name: str, profile: Mapping[str, Any], clock_mhz: float) -> list[str]:
    """Return ten lines or so: time, busy share of each unit, stalls, and the five longest waits."""
    cycles = max(profile["cycles"], 1)
    share = {key: f"{profile[key]:,} cycles, {100 * profile[key] / cycles:.1f} %" for key in profile if key != "events"}
    waits = sorted(_waits(profile["events"]), reverse=True)[:5]
    rows = [f"  {wait:,} cycles: {what}" for wait, what in waits if wait > 0]
    return [
        f"{name}: {profile['cycles']:,} cycles, {profile['cycles'] / clock_mhz:,.1f} us at {clock_mhz:g} MHz",
        f"compute unit busy {share['busy_compute']}",
        f"memory unit busy {share['busy_memory']}",
        *([f"base-conversion unit busy {share['busy_rns']}"] if profile["busy_rns"] else []),
        f"next instruction waited for a slot {share['stall_hazard']}; for its unit {share['stall_unit']}",
        "longest waits:" if rows else "no instruction waited",
        *rows,
    ]


def _waits(events: Sequence[Event]) -> Iterator[tuple[int, str]]:
    """Yield how long each instruction stood at the head of the queue, and behind what."""
    for before, event in pairwise(events):
        wait = event[3] - before[3] - 1
        same = [e for e in events if e[0] < event[0] and e[2] == event[2]]
        other = [e for e in events if e[0] < event[0] and e[2] != event[2] and abs(e[4] + 1 - event[3]) <= 1]
        blocker = other[-1] if other else (same[-1] if same else before)
        reason = "its unit" if blocker[2] == event[2] else "a slot"
        yield wait, f"{event[0]} {event[1]} waited for {reason}, behind {blocker[0]} {blocker[1]}"
