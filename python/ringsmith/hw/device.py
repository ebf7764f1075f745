# SPDX-License-Identifier: Apache-2.0
"""From a preset to hardware: the top's parameters, and the shared library with the Verilated top in it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ringsmith.hw import registers, sources
from ringsmith.hw.toolchain import verilator
from ringsmith.hw.verilator import HARNESS, Parameters, build_library, digest
from ringsmith.presets import Preset

TOPS = {"axi4": "rs_top_axi", "serial": "rs_top_serial"}
UART_DIVISOR = 64


def top_of(preset: Preset) -> str:
    """Name of the top module for a preset's host."""
    return TOPS[preset.host]


def top_parameters(preset: Preset, *, clock_mhz: float | None = None) -> dict[str, int | str]:
    """Parameters of the top for a preset, at one of its clocks (default: the last, which is the fastest)."""
    clock_khz = round((clock_mhz or preset.clock_mhz[-1]) * 1000)
    parameters: dict[str, int | str] = {**preset.parameters(), "ClockKhz": clock_khz}
    if preset.host == "serial":
        del parameters["WidePort"]  # of the AXI4 shell
    if preset.host == "serial":
        parameters |= {"SerialKhz": round(preset.serial_mhz * 1000), "UartDivisor": UART_DIVISOR}
    return parameters


def build_hash(top: str, parameters: Parameters) -> str:
    """Hash of the RTL and its parameters, as the info block's BUILD registers show it: 32 hex digits."""
    inputs = digest(verilator(), top, parameters, sources.closure(top), [])
    return hashlib.sha256(inputs.encode()).hexdigest()[:32]


def build_device(preset: Preset, *, clock_mhz: float | None = None) -> Path:
    """The shared library that simulates a preset (C ABI: harness/abi.h); built once, then from the cache."""
    top = top_of(preset)
    parameters = top_parameters(preset, clock_mhz=clock_mhz)
    parameters["BuildHash"] = f"128'h{build_hash(top, parameters)}"
    host = HARNESS / ("serial_host.cpp" if preset.host == "serial" else "axi_host.cpp")
    return build_library(
        top,
        parameters,
        harness=[HARNESS / "abi.cpp", HARNESS / "simulation.cpp", host],
        headers={"registers.h": registers.c_header()},
        # A simulated device is for testing the driver too: it has the pin that makes results wrong.
        defines={"RS_UART_DIVISOR": UART_DIVISOR, "VL_USER_STOP": 1, "VL_USER_FATAL": 1, "RINGSMITH_FAULT_PIN": 1},
    )
