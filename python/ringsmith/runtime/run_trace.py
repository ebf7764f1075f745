# SPDX-License-Identifier: Apache-2.0
"""A whole run as a Perfetto trace: its steps on this machine and, beside them, every program of a co-processor.

A simulation takes longer than the device would. In the trace time passes as it would beside the device itself: while a
program is simulated, by the program's cycles.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, count
from pathlib import Path
from typing import Any

from ringsmith.files import replacing
from ringsmith.runtime.perfetto import part, process, trace, track
from ringsmith.runtime.timeline import Event, slices, units_of


@dataclass(frozen=True)
class Step:
    """A step of a run: when it began, in seconds of `time.perf_counter`; its milliseconds and those of its parts."""

    name: str
    begun: float
    ms: float
    parts_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Ran:
    """A device program: when its simulation began and ended, in seconds of `time.perf_counter`; cycles, instructions.

    `programs`: 1, or those that the last entry sums up without their instructions.
    """

    begun: float
    ended: float
    cycles: int
    events: Sequence[Event]
    programs: int


def take_ran(device: Any, since: float) -> list[list[Ran]]:
    """Take the timeline of a native device: of each core its programs.

    `since`: when the run began, in seconds of `time.perf_counter`; none of its programs began before.
    """
    # The device tells ages. It looks at its clock after this process did, on a busy machine much later.
    now = time.perf_counter()
    cores = device.take_timeline()
    oldest = max((one["begun_s_ago"] for core in cores for one in core), default=0.0)
    now = max(now, since + oldest)
    return [
        [
            Ran(now - one["begun_s_ago"], now - one["ended_s_ago"], one["cycles"], one["events"], one["programs"])
            for one in core
        ]
        for core in cores
    ]


class DeviceClock:
    """The time beside a device, in nanoseconds from an origin in seconds of `time.perf_counter`."""

    def __init__(self, origin: float, cores: Iterable[Iterable[Ran]] = (), clock_mhz: float = 1.0) -> None:
        """Take what ran on the cores of a device with that clock."""
        self._origin = origin
        self._rounds = list(_rounds(cores, 1e3 / clock_mhz))
        gains = ((took - (ended - begun) * 1e9) for begun, ended, took in self._rounds)
        self._gained = list(accumulate(gains, initial=0.0))

    def at(self, seconds: float) -> float:
        """Return the time beside the device; all that passes during a program counts from its begin."""
        over = bisect_right(self._rounds, seconds, key=lambda one: one[1])
        inside = over < len(self._rounds) and self._rounds[over][0] < seconds
        since = (self._rounds[over][0] if inside else seconds) - self._origin
        return since * 1e9 + self._gained[over]


def _rounds(cores: Iterable[Iterable[Ran]], ns: float) -> Iterator[tuple[float, float, float]]:
    """Yield begin and end of each simulation with the device's nanoseconds; cores that run together are one."""
    found: list[tuple[float, float, float]] = []
    for one in sorted((ran for core in cores for ran in core), key=lambda ran: ran.begun):
        begun, ended, took = one.begun, one.ended, one.cycles * ns
        if found and begun < found[-1][1]:
            first, last, most = found.pop()
            begun, ended, took = first, max(last, ended), max(most, took)
        found.append((begun, ended, took))
    yield from found


def write_run(
    path: Path,
    name: str,
    steps: Sequence[Step],
    cores: Sequence[Sequence[Ran]] = (),
    *,
    device: str = "",
    clock_mhz: float = 1.0,
) -> None:
    """Write a run of a kernel: its steps, and what the cores of a device ran."""
    with replacing(path) as file:
        file.write(run_bytes(name, steps, cores, device=device, clock_mhz=clock_mhz))


def run_bytes(
    name: str,
    steps: Sequence[Step],
    cores: Sequence[Sequence[Ran]] = (),
    *,
    device: str = "",
    clock_mhz: float = 1.0,
) -> bytes:
    """Return the bytes of a Perfetto trace of a run. Parts of a step may overlap: they are numbers beside it."""
    clock = DeviceClock(steps[0].begun, cores, clock_mhz)
    uuids = count(1)
    own = next(uuids)
    line = next(uuids)
    packets = [process(own, name), track(line, "steps", own)]
    for step in steps:
        parts = {f"{which}, us": round(ms * 1e3) for which, ms in step.parts_ms.items()}
        begun, ended = step.begun, step.begun + step.ms / 1e3
        packets += part(line, step.name, "step", clock.at(begun), clock.at(ended), parts)
    for number, core in enumerate(cores):
        title = device if len(cores) == 1 else f"{device}, core {number}"
        packets += _core(title, core, clock, 1e3 / clock_mhz, uuids)
    return trace(packets)


def _core(title: str, core: Sequence[Ran], clock: DeviceClock, ns: float, uuids: Iterator[int]) -> Iterator[bytes]:
    """Yield the tracks of a core, its programs on the first, their instructions on one for each unit."""
    own, programs = next(uuids), next(uuids)
    yield process(own, title)
    yield track(programs, "programs", own)
    tracks = {unit: next(uuids) for unit in units_of([event for ran in core for event in ran.events])}
    for unit, number in tracks.items():
        yield track(number, unit, own)
    for place, ran in enumerate(core):
        start = clock.at(ran.begun)
        label = f"program {place}" if ran.programs == 1 else f"{ran.programs:,} programs, without their instructions"
        numbers = {"cycles": ran.cycles, "instructions": len(ran.events)}
        yield from part(programs, label, "program", start, start + ran.cycles * ns, numbers)
        for unit, number in tracks.items():
            yield from slices(number, [event for event in ran.events if event[2] == unit], ns, start)
