# SPDX-License-Identifier: Apache-2.0
"""Values of a netlist's registers, memories and inputs in pairs of consecutive cycles, from an RTL waveform (VCD).

A signal's value in a cycle is the one just before the clock's rising edge. A waveform of our simulated devices has
these values at times that count cycles; any other has the clock itself, and its rising edges end the cycles.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ringsmith.errors import InputError
from ringsmith.files import reason
from ringsmith.hw.silicon.netlist import HIGH, LOW, Netlist, Words

_VARIABLE = re.compile(r"\s*\$var\s+\w+\s+(\d+)\s+(\S+)\s+(\S+)(?:\s+\[[-\d:]+\])?\s+\$end")
_ELEMENT = re.compile(r"\[\d+\]$")
MAX_SAMPLES = 65536
# Of a netlist's sources the part that a waveform must have: one that it lacks is 0 where the RTL has something else,
# and all that is computed from it is wrong.
LEAST_COVERED = 0.99
# A signal's variables, highest bits first: identifier, width.
Parts = Sequence[tuple[str, int]]
# Signals by name.
Signals = Mapping[str, Parts]


@dataclass(frozen=True)
class Samples:
    """Pairs of consecutive cycles: values of nets in the first and in the second, nets by words of 64 pairs.

    `known` marks the nets that the waveform gives; `pairs` counts the pairs of all instances, the bits in use.
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
    return next(read_instances(path, netlist.top, [(netlist, [""])], clock))


def read_instances(
    path: Path, top: str, placed: Sequence[tuple[Netlist, Sequence[str]]], clock: str = "clk_i"
) -> Iterator[Samples]:
    """The samples of several netlists, each of all its instances below `top` one after another.

    An instance is its path; the top's own is empty. The waveform is read once.

    Raises:
        InputError: as above; `LEAST_COVERED` of what all of them need must be there.
    """
    wanted = [_wanted(netlist) for netlist, _ in placed]
    needed = {
        _join(place, name)
        for names, (_, places) in zip(wanted, placed, strict=True)
        for place in places
        for name in names
    }
    try:
        with path.open(errors="replace") as file:
            arrays = {name[:-3] for name in needed if name.endswith("[0]")}
            variables = _declared(path, file, top, needed | arrays | {clock})
            signals = [
                [_present(names, variables, place) for place in places]
                for names, (_, places) in zip(wanted, placed, strict=True)
            ]
            _check(path, top, placed, wanted, signals)
            codes = {code for found in signals for known in found for parts in known.values() for code, _ in parts}
            times, rows = _sampled(file, codes, variables[clock][0][0] if clock in variables else "")
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}") from None
    pairs = [at for at in range(len(times) - 1) if times[at + 1] == times[at] + 1][:MAX_SAMPLES]
    if not pairs:
        raise InputError(f"{path}: no two consecutive cycles of {clock}: a waveform must hold what the design did")
    for names, (netlist, _), found in zip(wanted, placed, signals, strict=True):
        yield _joined(netlist, names, found, rows, len(times), np.array(pairs))


def _present(names: Mapping[str, Sequence[int]], variables: Signals, place: str) -> Signals:
    """The signals of an instance; a whole array may bear its first element's name."""
    found = {name: known for name in names if (known := variables.get(_join(place, name)))}
    for name in [name for name in found if name.endswith("[0]")]:
        if _width(found[name]) < len(names[name]):
            found[name] = variables.get(_join(place, name[:-3]), ())
            if _width(found[name]) < len(names[name]):
                del found[name]
    return found


def _width(parts: Parts) -> int:
    return sum(width for _, width in parts)


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _joined(
    netlist: Netlist,
    names: Mapping[str, Sequence[int]],
    found: Sequence[Signals],
    rows: Mapping[str, Sequence[tuple[int, str]]],
    samples: int,
    pairs: npt.NDArray[np.int64],
) -> Samples:
    """Samples of a netlist's instances, the pairs of one behind those of another."""
    count = len(pairs) * len(found)
    words = -(-count // 64)
    first, second = (np.zeros((netlist.nets, words), dtype=np.uint64) for _ in range(2))
    given = np.zeros(netlist.nets, dtype=np.bool_)
    for name, nets in names.items():
        if not all(name in known for known in found):
            continue
        values = [
            np.concatenate([_bits(rows.get(code, []), width, samples) for code, width in known[name][::-1]], axis=1)
            for known in found
        ]
        bits = np.concatenate([value[pairs[:, None] + [0, 1], : len(nets)] for value in values])
        for index, net in enumerate(nets):
            if net not in (LOW, HIGH) and not given[net]:
                first[net], second[net] = _packed(bits[:, 0, index], words), _packed(bits[:, 1, index], words)
                given[net] = True
    return Samples(first, second, given, count)


def _wanted(netlist: Netlist) -> dict[str, list[int]]:
    """Nets by name, of every signal with a register, a box's output or an input of the top in it."""
    sources = netlist.sources()
    return {name: bits for name, bits in netlist.names.items() if not sources.isdisjoint(bits)}


def _declared(path: Path, file: Iterator[str], top: str, wanted: Container[str]) -> dict[str, Parts]:
    """Parts of each wanted signal by its path below the top; leaves the file behind the declarations.

    A structure that is not packed is a scope of its members, the highest first; an array that is not has its elements,
    the lowest first.
    """
    scopes: list[str] = []
    found: dict[str, list[tuple[str, int]]] = {}
    any_below = False
    for line in file:
        if line.lstrip().startswith("$scope"):
            scopes.append(line.split()[2])
        elif line.lstrip().startswith("$upscope"):
            scopes.pop()
        elif match := _VARIABLE.match(line):
            if top in scopes:
                any_below = True
                below = [*scopes[scopes.index(top) + 1 :], match[3]]
                part = (match[2], int(match[1]))
                for depth in range(len(below), 0, -1):
                    name = ".".join(below[:depth])
                    if name in wanted:
                        found.setdefault(name, []).append(part)
                array = _ELEMENT.sub("", ".".join(below))
                if below[-1].endswith("]") and array in wanted:
                    found.setdefault(array, []).insert(0, part)
        elif "$enddefinitions" in line:
            if not any_below:
                raise InputError(f"{path}: no scope {top} with signals: it is a waveform of another design")
            return {name: tuple(parts) for name, parts in found.items()}
    raise InputError(f"{path}: no waveform: a VCD file has $enddefinitions")


def _check(
    path: Path,
    top: str,
    placed: Sequence[tuple[Netlist, Sequence[str]]],
    wanted: Sequence[Mapping[str, Sequence[int]]],
    signals: Sequence[Sequence[Signals]],
) -> None:
    needed = there = 0
    missing = ""
    for (netlist, places), names, found in zip(placed, wanted, signals, strict=True):
        sources = netlist.sources()
        for place, known in zip(places, found, strict=True):
            for name, parts in known.items():
                width = _width(parts)
                if width < len(names[name]):  # synthesis cuts upper bits that nothing reads
                    raise InputError(
                        f"{path}: {_join(place, name)} has {width} bits, in the netlist of {netlist.top} "
                        f"{len(names[name])}: a waveform of another build"
                    )
            covered = {net for name in known for net in names[name]} & sources
            lacking = (n for n in names if n not in known and not covered.issuperset(sources & set(names[n])))
            missing = missing or _join(place, next(lacking, ""))
            needed, there = needed + len(sources), there + len(covered)
    if there < LEAST_COVERED * needed:
        raise InputError(
            f"{path}: {there} of {needed} registers, inputs and memory words of {top} are in the "
            f"waveform, {missing} is not: a waveform of another build, or of its top alone"
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
        # The first times, before the first edge, were taken as cycles: they are not.
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
