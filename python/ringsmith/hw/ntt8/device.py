# SPDX-License-Identifier: Apache-2.0
"""The driver of the 8-point accelerators, on their Verilated RTL; every load and store crosses the simulated bus."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from ringsmith.errors import DeviceError
from ringsmith.gen import ntt8
from ringsmith.hw.ntt8.preset import Ntt8Preset
from ringsmith.hw.ntt8.ring import N, Ring
from ringsmith.hw.verilator import HARNESS, build_library

POLLS = 1000
_ANSWERS = {1: "answered with a bus error", 2: "did not answer within 1000 cycles", 3: "has no such port"}


@dataclass
class Traffic:
    """Transactions on the bus so far, and clock cycles since reset."""

    writes: int = 0
    reads: int = 0
    polls: int = 0
    beats: int = 0
    cycles: int = 0

    def __sub__(self, earlier: Traffic) -> Traffic:
        """What came in between."""
        mine, theirs = vars(self), vars(earlier)
        return Traffic(**{name: mine[name] - theirs[name] for name in mine})


def build(preset: Ntt8Preset) -> Path:
    """The shared library with the preset's RTL and its bus master; built once, then from the cache."""
    shell = "axis" if preset.variant == "stream" else "axil"
    return build_library(
        preset.top,
        preset.parameters,
        harness=[HARNESS / f"ntt8_{shell}.cpp"],
        defines={"RS_WORD_BITS": preset.word_bits},
        # Eight points take a few dozen cycles: the compiler would work longer than the simulation.
        optimise="-O0",
    )


class Device:
    """An open accelerator, configured for its preset's ring. Not for several threads at once; a context manager."""

    def __init__(self, preset: Ntt8Preset) -> None:
        """Build, open, identify and configure the device; DeviceError if it is not what the preset says."""
        self.preset = preset
        self.ring = Ring(preset.prime)
        self._library = ctypes.CDLL(str(build(preset)))
        self._library.rs8_open.restype = ctypes.c_void_p
        self._library.rs8_cycles.restype = ctypes.c_uint64
        self._map = ntt8.load(ntt8.HOME)
        self._traffic = Traffic()
        self._handle = ctypes.c_void_p(self._library.rs8_open())
        if self.streams:
            self._configure_stream()
        else:
            self._identify()
            self._configure_registers()

    def __enter__(self) -> Device:
        """The device itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the device."""
        self.close()

    def close(self) -> None:
        """Free the simulation; further calls raise DeviceError."""
        if self._handle:
            self._library.rs8_close(self._handle)
            self._handle = ctypes.c_void_p()

    @property
    def streams(self) -> bool:
        """Whether polynomials go through AXI4-Stream."""
        return self.preset.variant == "stream"

    @property
    def traffic(self) -> Traffic:
        """Bus transactions and cycles so far."""
        cycles = int(self._library.rs8_cycles(self._open()))
        return Traffic(**{**vars(self._traffic), "cycles": cycles})

    def transform(self, poly: Sequence[int], *, inverse: bool = False) -> list[int]:
        """One transform: write, start, poll, read (or one beat)."""
        if self.streams:
            return self.transform_many([poly], inverse=inverse)[0]
        self._send(poly)
        self._start(inverse=inverse)
        self._wait()
        return self._receive()

    def transform_many(self, polys: Sequence[Sequence[int]], *, inverse: bool = False) -> list[list[int]]:
        """Transforms with transfers and compute overlapped: the next input is written while the present one runs.

        Through registers the last result is read while nothing is left to send; through AXI4-Stream a beat a cycle.
        """
        if self.streams:
            return self._stream(polys, inverse=inverse)
        results: list[list[int]] = []
        for index, poly in enumerate(polys):
            if index == 0:
                self._send(poly)
            self._start(inverse=inverse)
            if index + 1 < len(polys):
                self._send(polys[index + 1])
            if index + 1 == len(polys) or self.preset.latency > 2 * N:
                self._wait()
            results.append(self._receive())
        return results

    def step(self, cycles: int) -> None:
        """Let the clock run while the host is busy elsewhere."""
        self._library.rs8_step(self._open(), ctypes.c_uint64(cycles))

    def write(self, name: str, value: int, index: int = 0) -> None:
        """Write a register by name; DeviceError if the bus refuses."""
        self._traffic.writes += 1
        self._check(self._library.rs8_write(self._open(), self._address(name, index), value & 0xFFFFFFFF), name)

    def read(self, name: str, index: int = 0) -> int:
        """Read a register by name; DeviceError if the bus refuses."""
        value = ctypes.c_uint32()
        self._traffic.reads += 1
        status = self._library.rs8_read(self._open(), self._address(name, index), ctypes.byref(value))
        self._check(status, name)
        return value.value

    def _open(self) -> ctypes.c_void_p:
        if not self._handle:
            raise DeviceError(f"{self.preset.name} is closed")
        return self._handle

    def _address(self, name: str, index: int) -> int:
        return self._map.registers[name].address + 4 * index

    def _check(self, status: int, what: str) -> None:
        if status:
            raise DeviceError(f"{self.preset.name}: {what}: the device {_ANSWERS.get(status, f'failed ({status})')}")

    def _identify(self) -> None:
        magic, shape = self.read("magic"), self.read("shape")
        if magic != self._map.magic:
            raise DeviceError(f"{self.preset.name}: identifies as {magic:#010x}, not {self._map.magic:#010x}")
        word_bits, variant = shape & 0xFF, shape >> 8 & 0xF
        wanted = (self.preset.word_bits, self._map.variants[self.preset.variant])
        if (word_bits, variant) != wanted:
            raise DeviceError(
                f"{self.preset.name}: is built for (word bits, variant) {(word_bits, variant)}, not {wanted}"
            )

    def _configure_registers(self) -> None:
        barrett = self.ring.barrett(self.preset.word_bits)
        self.write("modulus", self.ring.modulus)
        self.write("modulus_bits", self.ring.modulus.bit_length())
        self.write("barrett", barrett)
        self.write("barrett", barrett >> 32, 1)
        for index, value in enumerate(self.ring.twiddles):
            self.write("twiddle", value, index)

    def _configure_stream(self) -> None:
        table = (ctypes.c_uint32 * N)(*self.ring.twiddles)
        barrett = ctypes.c_uint64(self.ring.barrett(self.preset.word_bits))
        bits = self.ring.modulus.bit_length()
        self._check(self._library.rs8_configure(self._open(), self.ring.modulus, bits, barrett, table), "configuration")

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
            if self.read("status") & 1:
                return
        raise DeviceError(f"{self.preset.name}: no result after {POLLS} polls")

    def _receive(self) -> list[int]:
        return [self.read("output", index) for index in range(N)]

    def _stream(self, polys: Sequence[Sequence[int]], *, inverse: bool) -> list[list[int]]:
        flat = [value for poly in polys for value in self._reduced(poly)]
        words = ctypes.c_uint32 * len(flat)
        output = words()
        count = ctypes.c_uint64(len(polys))
        status = self._library.rs8_stream(self._open(), words(*flat), int(inverse), output, count)
        self._check(status, "stream")
        self._traffic.beats += 2 * len(polys)
        return [list(output[N * i : N * (i + 1)]) for i in range(len(polys))]
