# SPDX-License-Identifier: Apache-2.0
"""What a top module says of itself to builds, simulated devices and packages."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from ringsmith.hw import registers, sources
from ringsmith.hw.toolchain import verilator
from ringsmith.hw.verilator import Parameters, digest
from ringsmith.presets import AnyPreset

TEMPLATES = Path(__file__).parents[1] / "templates"


class Top(ABC):
    """A top module with the parameters of one preset."""

    #: Name of the module.
    module: ClassVar[str]
    #: What it is, for a reader.
    kind: ClassVar[str]
    #: C++ of `harness/` that drives its pins, and the headers that this includes.
    harness: ClassVar[tuple[str, ...]]
    headers: ClassVar[tuple[str, ...]]
    #: Register maps that the harness names, and the prefix of their C names.
    maps: ClassVar[Mapping[str, str]]
    #: Templates of the testbench and of `docs/driver.md`.
    testbench: ClassVar[str]
    driver: ClassVar[str]
    #: The oldest Verilator that reads the sources.
    oldest_verilator: ClassVar[str] = "5.036"
    #: Effort of the C++ compiler for a test of one transform, and for longer simulations.
    test_optimise: ClassVar[str] = "-O1"
    optimise: ClassVar[str] = "-O2"
    #: Whether it has the pin that makes results wrong (RINGSMITH_FAULT_PIN).
    fault_pin: ClassVar[bool] = False

    def __init__(self, preset: AnyPreset) -> None:
        """Describe the top of `preset`."""
        self.name = preset.name
        self.clock_mhz = preset.clock_mhz[-1]

    @abstractmethod
    def parameters(self, *, clock_mhz: float | None = None) -> dict[str, int | str]:
        """Parameters of the module, at one of the preset's clocks (default: the last, which is the fastest)."""

    @abstractmethod
    def defines(self) -> dict[str, int | str]:
        """Macros of the harness's C++."""

    @abstractmethod
    def vectors(self) -> str:
        """The testbench's `vectors.h`: known answers from the transform's definition."""

    @abstractmethod
    def texts(self) -> dict[str, str]:
        """Values of the placeholders in the templates of documents and constraints that only this top knows."""

    def documented(self) -> tuple[str, ...]:
        """Register maps that the hardware's host sees, the most important first."""
        return ()

    def write_extras(self, work: Path) -> None:  # noqa: B027 # most tops have none
        """Write the files of a package at `work` that only packages of this top have."""

    def identified(self, parameters: Parameters) -> dict[str, int | str]:
        """Parameters with the build's hash, where the module takes one."""
        return dict(parameters)

    def build_hash(self, parameters: Parameters) -> str:
        """Hash of the RTL and its parameters: 32 hex digits."""
        inputs = digest(verilator(), self.module, parameters, sources.design(self.module, parameters), [])
        return hashlib.sha256(inputs.encode()).hexdigest()[:32]

    def c_headers(self) -> dict[str, str]:
        """The C headers of the register maps, by file name."""
        return {f"{stem}.h": registers.c_header(registers.load(stem), prefix) for stem, prefix in self.maps.items()}
