# SPDX-License-Identifier: Apache-2.0
"""The driver of the 8-point accelerators, on their Verilated RTL; every load and store crosses the simulated bus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringsmith.errors import DeviceError
from ringsmith.hw import registers
from ringsmith.hw.device import build_device
from ringsmith.hw.simulator import Simulator
from ringsmith.ntt8.preset import Ntt8Preset
from ringsmith.ntt8.ring import N, Ring
from ringsmith.ntt8.top import transform_latency

POLLS = 1000


@dataclass
class Traffic:
    """Transactions on the bus so far, and clock cycles since reset."""

    writes: int = 0
    reads: int = 0
    polls: int = 0
    beats: int = 0
    cycles: int = 0

    def __sub__(self, earlier: Traffic) -> Traffic:
        """The traffic since `earlier`."""
        mine, theirs = vars(self), vars(earlier)
        return Traffic(**{name: mine[name] - theirs[name] for name in mine})


class Device:
    """An open accelerator, configured for its preset's ring. Not for several threads at once."""

    def __init__(self, preset: Ntt8Preset) -> None:
        """Build, open, identify and configure the device; DeviceError if it is not what the preset says."""
        self.preset = preset
        self.ring = Ring(preset.prime)
        self._map = registers.load(registers.NTT8)
        self._traffic = Traffic()
        self._simulator = Simulator(build_device(preset))
        if not preset.streams:
            self._identify()
        self._configure()

    @property
    def traffic(self) -> Traffic:
        """Bus transactions and cycles so far."""
        return Traffic(**{**vars(self._traffic), "cycles": self._simulator.cycles()})

    def transform(self, poly: Sequence[int], *, inverse: bool = False) -> list[int]:
        """One transform: write, start, poll, read (or one beat)."""
        if self.preset.streams:
            return self.transform_many([poly], inverse=inverse)[0]
        self._send(poly)
        self._start(inverse=inverse)
        self._wait()
        return self._receive()

    def transform_many(self, polys: Sequence[Sequence[int]], *, inverse: bool = False) -> list[list[int]]:
        """Transforms with transfers and compute overlapped: the next input is written while the present one runs.

        Through registers the last result is read while nothing is left to send; through AXI4-Stream a beat a cycle.
        """
        if self.preset.streams:
            return self._stream(polys, inverse=inverse)
        results: list[list[int]] = []
        for index, poly in enumerate(polys):
            if index == 0:
                self._send(poly)
            self._start(inverse=inverse)
            if index + 1 < len(polys):
                self._send(polys[index + 1])
            if index + 1 == len(polys) or transform_latency(self.preset) > 2 * N:
                self._wait()
            results.append(self._receive())
        return results

    def step(self, cycles: int) -> None:
        """Let the clock run while the host is busy elsewhere."""
        self._simulator.step(cycles)

    def write(self, name: str, value: int, index: int = 0) -> None:
        """Write a register by name; DeviceError if the bus refuses."""
        self._traffic.writes += 1
        self._simulator.write(self._address(name, index), value & 0xFFFFFFFF)

    def read(self, name: str, index: int = 0) -> int:
        """Read a register by name; DeviceError if the bus refuses."""
        self._traffic.reads += 1
        return self._simulator.read(self._address(name, index))

    def field(self, name: str, field: str) -> int:
        """Read a field of a register."""
        found = next(f for f in self._map[name].fields if f.name == field)
        return self.read(name) >> found.low & ((1 << found.width) - 1)

    def _address(self, name: str, index: int) -> int:
        return self._map[name].address + 4 * index

    def _identify(self) -> None:
        magic, expected = self.read("magic"), self._map["magic"].fields[0].reset
        if magic != expected:
            raise DeviceError(f"{self.preset.name}: identifies as {magic:#010x}, not {expected:#010x}")
        knobs = self.preset.numbers()
        for knob in ("word_bits", "variant"):
            if (found := self.field("shape", knob)) != knobs[knob]:
                raise DeviceError(f"{self.preset.name}: is built with {knob} = {found}, not {knobs[knob]}")

    def _configure(self) -> None:
        barrett = self.ring.barrett(self.preset.word_bits)
        self.write("modulus", self.ring.modulus)
        self.write("modulus_bits", self.ring.modulus.bit_length())
        self.write("barrett", barrett)
        self.write("barrett", barrett >> 32, 1)
        for index, value in enumerate(self.ring.twiddles):
            self.write("twiddle", value, index)

    def _send(self, poly: Sequence[int]) -> None:
        for index, value in enumerate(self._reduced(poly)):
            self.write("input", value, index)

    def _reduced(self, poly: Sequence[int]) -> Sequence[int]:
        if len(poly) != N or not all(0 <= value < self.ring.modulus for value in poly):
            raise DeviceError(f"{self.preset.name} takes {N} residues below {self.ring.modulus}, got {list(poly)}")
        return poly

    def _start(self, *, inverse: bool) -> None:
        self.write("control", 1 | int(inverse) << 1)

    def _wait(self) -> None:
        for _ in range(POLLS):
            self._traffic.polls += 1
            if self.field("status", "done"):
                return
        raise DeviceError(f"{self.preset.name}: no result after {POLLS} polls")

    def _receive(self) -> list[int]:
        return [self.read("output", index) for index in range(N)]

    def _stream(self, polys: Sequence[Sequence[int]], *, inverse: bool) -> list[list[int]]:
        flat = [value for poly in polys for value in self._reduced(poly)]
        output = self._simulator.stream(flat, len(polys), int(inverse))
        self._traffic.beats += 2 * len(polys)
        return [output[N * i : N * (i + 1)] for i in range(len(polys))]
