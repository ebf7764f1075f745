# SPDX-License-Identifier: Apache-2.0
"""From a preset of any top to hardware: the top's parameters, and the shared library with the Verilated top in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

from ringsmith.errors import InputError
from ringsmith.hw.tops import describe
from ringsmith.hw.verilator import HARNESS, build_library
from ringsmith.presets import AnyPreset

# C++ of every harness, whatever the top.
SHARED = ("abi.cpp", "simulation.cpp")


def top_of(preset: AnyPreset) -> str:
    """Name of the top module of a preset."""
    return describe(preset).module


def top_parameters(preset: AnyPreset, *, clock_mhz: float | None = None) -> dict[str, int | str]:
    """Parameters of the top for a preset, at one of its clocks (default: the last, which is the fastest)."""
    return describe(preset).parameters(clock_mhz=clock_mhz)


class Waveform(IntEnum):
    """Signals that a simulated device can write: their values (VCD), or how often each changes (SAIF)."""

    VCD = 1
    SAIF = 2


EFFORTS = ("-O0", "-O1", "-O2", "-O3")


def effort(usual: str) -> str:
    """The compiler's effort on a simulated device: `usual`, or what RINGSMITH_SIM_EFFORT allows where that is less.

    Raises InputError where that variable holds none of EFFORTS.
    """
    most = os.environ.get("RINGSMITH_SIM_EFFORT") or EFFORTS[-1]
    if most not in EFFORTS:
        raise InputError(f"RINGSMITH_SIM_EFFORT is {most!r}; it takes one of {', '.join(EFFORTS)}")
    return min(usual, most)


# Queues and small tables are written, memories are not.
_WAVEFORM = ("--trace-max-array", "1024", "--trace-max-width", "8192")


def build_device(
    preset: AnyPreset,
    *,
    clock_mhz: float | None = None,
    waveform: Waveform | None = None,
    netlist: Sequence[Path] | None = None,
) -> Path:
    """The shared library that simulates a preset (C ABI: harness/abi.h); built once, then from the cache.

    `netlist` stands in for the RTL: Verilog of the same top; it has no pin that makes results wrong.
    """
    top = describe(preset)
    flags: list[str] = []
    defines: dict[str, int | str] = {"VL_USER_STOP": 1, "VL_USER_FATAL": 1, **top.defines()}
    # A simulated device is for testing the driver too: it has the pin that makes results wrong.
    if top.fault_pin and netlist is None and waveform is None:
        defines["RINGSMITH_FAULT_PIN"] = 1
    if waveform is not None:
        defines["RS_WAVEFORM"] = int(waveform)
        flags = ["--trace-vcd" if waveform is Waveform.VCD else "--trace-saif", *_WAVEFORM]
    return build_library(
        top.module,
        top.identified(top.parameters(clock_mhz=clock_mhz)),
        harness=[HARNESS / name for name in (*SHARED, *top.harness)],
        headers=top.c_headers(),
        defines=defines,
        # Of a netlist one operation is simulated: the compiler would work longer.
        optimise=effort(top.optimise) if netlist is None else "-O0",
        files=netlist,
        flags=flags,
    )
