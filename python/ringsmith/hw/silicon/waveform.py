# SPDX-License-Identifier: Apache-2.0
"""Values of a netlist's registers, memories and inputs in pairs of consecutive cycles, from an RTL waveform (VCD).

A signal's value in a cycle is the one just before the clock's rising edge. A waveform of our simulated devices has
these values at times that count cycles; any other has the clock itself, and its rising edges end the cycles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ringsmith.errors import InputError
from ringsmith.files import reason
from ringsmith.hw.silicon.netlist import LOW, Netlist, Words

_VARIABLE = re.compile(r"\s*\$var\s+\w+\s+(\d+)\s+(\S+)\s+(\S+)(?:\s+\[[-\d:]+\])?\s+\$end")
MAX_SAMPLES = 65536


@dataclass(frozen=True)
class Samples:
    """Pairs of consecutive cycles: values of nets in the first and in the second, nets by words of 64 pairs.

    `known` marks the nets that the waveform gives; `pairs` counts the pairs, the bits in use.
    """

    first: Words
    second: Words
    known: npt.NDArray[np.bool_]
    pairs: int


def read_samples(path: Path, netlist: Netlist, clock: str = "clk_i") -> Samples:
    """The samples that a waveform has of a netlist's sources, by the design's own names.

    Raises:
        InputError: no VCD, without two consecutive cycles, or of another design: the message names what is missing.
    """
    wanted = _wanted(netlist)
    try:
        with path.open(errors="replace") as file:
            variables = _declared(path, file, netlist.top)
            known = {name: variables[name] for name in wanted if name in variables}
            _check(path, netlist, wanted, known, variables)
            clock_id = variables.get(clock, ("", 1))[0]
            times, rows = _sampled(file, {code for code, _ in known.values()}, clock_id)
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}") from None
    pairs = [at for at in range(len(times) - 1) if times[at + 1] == times[at] + 1][:MAX_SAMPLES]
    if not pairs:
        raise InputError(f"{path}: no two consecutive cycles of {clock}: a waveform must hold what the design did")
    words = -(-len(pairs) // 64)
    first, second = (np.zeros((netlist.nets, words), dtype=np.uint64) for _ in range(2))
    given = np.zeros(netlist.nets, dtype=np.bool_)
    at = np.array(pairs)
    for name, (code, width) in known.items():
        bits = _bits(rows.get(code, []), width, len(times))
        for index, net in enumerate(wanted[name]):
            if net != LOW and net != 1 and not given[net]:
                first[net], second[net] = _packed(bits[at, index], words), _packed(bits[at + 1, index], words)
                given[net] = True
    return Samples(first, second, given, len(pairs))


def _wanted(netlist: Netlist) -> dict[str, list[int]]:
    """Nets by name, of every signal with a register, a memory's output or an input of the top in it."""
    sources = netlist.sources()
    return {name: bits for name, bits in netlist.names.items() if not sources.isdisjoint(bits)}


def _declared(path: Path, file: Iterator[str], top: str) -> dict[str, tuple[str, int]]:
    """Identifier and width of each variable by its path below the top; leaves the file behind the declarations."""
    scopes: list[str] = []
    found: dict[str, tuple[str, int]] = {}
    for line in file:
        if line.lstrip().startswith("$scope"):
            scopes.append(line.split()[2])
        elif line.lstrip().startswith("$upscope"):
            scopes.pop()
        elif match := _VARIABLE.match(line):
            if top in scopes:
                below = scopes[scopes.index(top) + 1 :]
                found[".".join([*below, match[3]])] = (match[2], int(match[1]))
        elif "$enddefinitions" in line:
            if not found:
                raise InputError(f"{path}: no scope {top} with signals: it is a waveform of another design")
            return found
    raise InputError(f"{path}: no waveform: a VCD file has $enddefinitions")


def _check(
    path: Path,
    netlist: Netlist,
    wanted: Mapping[str, Sequence[int]],
    known: Mapping[str, tuple[str, int]],
    variables: Mapping[str, tuple[str, int]],
) -> None:
    for name, (_, width) in known.items():
        if width < len(wanted[name]):  # synthesis cuts upper bits that nothing reads
            raise InputError(
                f"{path}: {name} has {width} bits, in the netlist of {netlist.top} {len(wanted[name])}: a waveform of "
                "another build"
            )
    sources = netlist.sources()
    covered = {net for name in known for net in wanted[name]} & sources
    missing = [name for name in wanted if name not in known and not covered.issuperset(sources & set(wanted[name]))]
    if len(covered) < 0.9 * len(sources):
        raise InputError(
            f"{path}: {len(covered)} of {len(sources)} registers, inputs and memory words of {netlist.top} are in the "
            f"waveform, {missing[0]} is not: a waveform of another build, or of its top alone"
        )


def _sampled(file: Iterator[str], codes: set[str], clock: str) -> tuple[list[int], dict[str, list[tuple[int, str]]]]:
    """Cycle number of each sample, and by identifier (sample, value) where the value is another than before."""
    times: list[int] = []
    rows: dict[str, list[tuple[int, str]]] = {}
    pending: dict[str, str] = {}  # changes since the last sample
    block: dict[str, str] = {}  # changes of the present time
    now, rose, edges = None, False, False
    level = ""

    def sample(time: int) -> None:
        for code, value in pending.items():
            rows.setdefault(code, []).append((len(times), value))
        pending.clear()
        times.append(time)

    def end_block() -> None:
        nonlocal edges
        if rose:
            if not edges:  # what was sampled at every time so far belongs to no cycle
                edges = True
            sample(len(times))
        pending.update(block)
        block.clear()

    per_time: list[int] = []
    for line in file:
        mark = line[0]
        if mark == "#":
            end_block()
            if not edges and now is not None:
                per_time.append(now)
                sample(now)
            now, rose = int(line[1:]), False
        elif mark in "01xzXZ":
            code = line[1:].strip()
            if code == clock:
                rose = rose or (level == "0" and mark == "1")
                level = mark
            if code in codes:
                block[code] = mark
        elif mark in "bB":
            value, code = line[1:].split()
            if code in codes:
                block[code] = value
    end_block()
    if not edges and now is not None:
        sample(now)
    elif edges and per_time:
        # The first times, before the first edge, were taken as cycles: they are none.
        times[: len(per_time)] = [-2] * len(per_time)
    return times, rows


def _bits(changes: Sequence[tuple[int, str]], width: int, samples: int) -> npt.NDArray[np.uint8]:
    """Samples by bits, lowest first; unknown values are 0."""
    values = np.zeros((samples, width), dtype=np.uint8)
    for place, (sample, text) in enumerate(changes):
        end = changes[place + 1][0] if place + 1 < len(changes) else samples
        number = int(re.sub("[xzXZ]", "0", text), 2)
        raw = np.frombuffer(number.to_bytes(-(-width // 8), "little"), dtype=np.uint8)
        values[sample:end] = np.unpackbits(raw, bitorder="little")[:width]
    return values


def _packed(bits: npt.NDArray[np.uint8], words: int) -> Words:
    padded = np.zeros(words * 64, dtype=np.uint8)
    padded[: len(bits)] = bits
    return np.packbits(padded, bitorder="little").view(np.uint64)
