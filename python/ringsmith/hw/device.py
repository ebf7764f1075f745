# SPDX-License-Identifier: Apache-2.0
"""From a preset of any top to hardware: the top's parameters, and the shared library with the Verilated top in it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

from ringsmith.hw import registers, sources
from ringsmith.hw.toolchain import verilator
from ringsmith.hw.verilator import HARNESS, Parameters, build_library, digest
from ringsmith.presets import AnyPreset, Ntt8Preset

TOPS = {"axi4": "rs_top_axi", "serial": "rs_top_serial"}
UART_DIVISOR = 64
# The C++ drivers of the pins, by top.
HOSTS = {
    "rs_top_axi": "axi_host.cpp",
    "rs_top_serial": "serial_host.cpp",
    "rs_ntt8_axil": "ntt8_axil.cpp",
    "rs_ntt8_axis": "ntt8_axis.cpp",
}


def top_of(preset: AnyPreset) -> str:
    """Name of the top module of a preset: by its host, or the shell of an 8-point accelerator."""
    if isinstance(preset, Ntt8Preset):
        return "rs_ntt8_axis" if preset.streams else "rs_ntt8_axil"
    return TOPS[preset.host]


def top_parameters(preset: AnyPreset, *, clock_mhz: float | None = None) -> dict[str, int | str]:
    """Parameters of the top for a preset, at one of its clocks (default: the last, which is the fastest)."""
    parameters: dict[str, int | str] = {**preset.parameters()}
    if isinstance(preset, Ntt8Preset):
        if preset.streams:
            del parameters["Variant"]  # that shell has one
        return parameters
    parameters["ClockKhz"] = round((clock_mhz or preset.clock_mhz[-1]) * 1000)
    if preset.host == "serial":
        for name in ("AddrWidth", "WidePort", "EnStream", "Cores"):  # of the AXI4 shell
            del parameters[name]
        parameters |= {"SerialKhz": round(preset.serial_mhz * 1000), "UartDivisor": UART_DIVISOR}
    return parameters


def harness_files(preset: AnyPreset) -> tuple[str, ...]:
    """The C++ sources of the harness of a preset's top."""
    shared = ("abi.cpp", "simulation.cpp")
    return (*shared, *(() if isinstance(preset, Ntt8Preset) else ("coprocessor.cpp",)), HOSTS[top_of(preset)])


def build_hash(top: str, parameters: Parameters) -> str:
    """Hash of the RTL and its parameters, as the info block's BUILD registers show it: 32 hex digits."""
    inputs = digest(verilator(), top, parameters, sources.design(top, parameters), [])
    return hashlib.sha256(inputs.encode()).hexdigest()[:32]


class Waveform(IntEnum):
    """Signals that a simulated device can write: their values (VCD), or how often each changes (SAIF)."""

    VCD = 1
    SAIF = 2


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
    top = top_of(preset)
    parameters = top_parameters(preset, clock_mhz=clock_mhz)
    defines: dict[str, int | str] = {"VL_USER_STOP": 1, "VL_USER_FATAL": 1}
    headers = {}
    if isinstance(preset, Ntt8Preset):
        headers["registers.h"] = registers.c_header(registers.load(registers.NTT8), "RS8")
        defines["RS_WORD_BITS"] = preset.word_bits
    else:
        headers = {f"{stem}.h": registers.c_header(registers.load(stem)) for stem in registers.BLOCKS}
        parameters["BuildHash"] = f"128'h{build_hash(top, parameters)}"
        # A simulated device is for testing the driver too: it has the pin that makes results wrong.
        defines["RS_UART_DIVISOR"] = UART_DIVISOR
        if netlist is None and waveform is None:
            defines["RINGSMITH_FAULT_PIN"] = 1
    flags: list[str] = []
    if waveform is not None:
        defines["RS_WAVEFORM"] = int(waveform)
        flags = ["--trace-vcd" if waveform is Waveform.VCD else "--trace-saif", *_WAVEFORM]
    return build_library(
        top,
        parameters,
        harness=[HARNESS / name for name in harness_files(preset)],
        headers=headers,
        defines=defines,
        # Eight points, or a netlist's one operation: the compiler would work longer than the simulation.
        optimise="-O0" if isinstance(preset, Ntt8Preset) or netlist is not None else "-O2",
        files=netlist,
        flags=flags,
    )
