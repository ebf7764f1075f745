# SPDX-License-Identifier: Apache-2.0
"""Timelines as Perfetto traces: of a co-processor, one track per unit, with a summary in ten lines; of a run's steps.

The same from the model and from the RTL. The trace is written in the protobuf encoding directly: a `Trace` is a list of
`TracePacket`s (field 1), each a track descriptor (field 60) or a slice's begin or end (field 11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from ringsmith.files import replacing

UNITS = ("compute", "memory", "rns")
_PROCESS = 1
_SEQUENCE = 1
_BEGIN, _END = 1, 2

#: index in the program, mnemonic, unit, first cycle, cycle after the last write.
Event = tuple[int, str, str, int, int]


def write_trace(path: Path, name: str, profile: Mapping[str, Any], clock_mhz: float, assembly: str = "") -> None:
    """Write a profile as a Perfetto trace; times are those of the clock."""
    with replacing(path) as file:
        file.write(trace_bytes(name, profile, clock_mhz, assembly))


def trace_bytes(name: str, profile: Mapping[str, Any], clock_mhz: float, assembly: str = "") -> bytes:
    """Return the bytes of a Perfetto trace of a profile."""
    lines = [line for line in assembly.splitlines() if not line.startswith(";")]
    packets = [_descriptor(_PROCESS, _text(2, name), _message(3, _number(1, _PROCESS) + _text(6, name)))]
    # Few builds have a base-conversion unit.
    there = [unit for unit in UNITS if unit != "rns" or any(e[2] == unit for e in profile["events"])]
    for track, unit in enumerate(there, start=2):
        packets.append(_descriptor(track, _text(2, unit), _number(5, _PROCESS)))
    for track, unit in enumerate(there, start=2):
        packets += _slices(track, [e for e in profile["events"] if e[2] == unit], 1e3 / clock_mhz, lines)
    return b"".join(_message(1, packet) for packet in packets)


def write_steps(
    path: Path, name: str, times_ms: Mapping[str, float], parts_ms: Mapping[str, Mapping[str, float]]
) -> None:
    """Write the steps of a run as a Perfetto trace, in milliseconds; see `steps_bytes`."""
    with replacing(path) as file:
        file.write(steps_bytes(name, times_ms, parts_ms))


def steps_bytes(name: str, times_ms: Mapping[str, float], parts_ms: Mapping[str, Mapping[str, float]]) -> bytes:
    """Return the bytes of a Perfetto trace of steps, one after another on one track.

    `parts_ms`: by step, the time of each part of it. Parts may overlap, so a step shows them as microseconds beside it.
    """
    packets = [
        _descriptor(_PROCESS, _text(2, name), _message(3, _number(1, _PROCESS) + _text(6, name))),
        _descriptor(2, _text(2, "steps"), _number(5, _PROCESS)),
    ]
    start = 0.0
    for step, spent in times_ms.items():
        parts = b"".join(_annotation(f"{part}, us", round(ms * 1e3)) for part, ms in parts_ms.get(step, {}).items())
        body = _number(9, _BEGIN) + _number(11, 2) + _text(23, step) + _text(22, "step")
        packets.append(_event(start * 1e6, body + parts))
        start += spent
        packets.append(_event(start * 1e6, _number(9, _END) + _number(11, 2)))
    return b"".join(_message(1, packet) for packet in packets)


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


def _slices(track: int, events: Sequence[Event], ns: float, lines: Sequence[str]) -> Iterator[bytes]:
    """Yield begin and end of each instruction; a drain that the next one overlaps is cut, so that slices stay apart."""
    for place, (index, mnemonic, _, start, end) in enumerate(events):
        following = events[place + 1][3] if place + 1 < len(events) else end
        label = lines[index] if index < len(lines) else mnemonic
        detail = _annotation("instruction", index) + _annotation("cycles", end - start)
        body = _number(9, _BEGIN) + _number(11, track) + _text(23, mnemonic) + _text(22, "instruction")
        yield _event(start * ns, body + detail + _message(4, _text(10, "assembly") + _text(6, label)))
        yield _event(min(end, max(following, start)) * ns, _number(9, _END) + _number(11, track))


def _annotation(name: str, value: int) -> bytes:
    return _message(4, _text(10, name) + _number(3, value))


def _event(time_ns: float, body: bytes) -> bytes:
    return _number(8, round(time_ns)) + _number(10, _SEQUENCE) + _message(11, body)


def _descriptor(uuid: int, *fields: bytes) -> bytes:
    return _number(10, _SEQUENCE) + _message(60, _number(1, uuid) + b"".join(fields))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(body)) + body


def _text(field: int, text: str) -> bytes:
    return _message(field, text.encode())
