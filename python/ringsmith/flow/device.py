# SPDX-License-Identifier: Apache-2.0
"""From a preset to hardware: the top's parameters, and the shared library with the Verilated top in it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ringsmith.flow import registers, sources
from ringsmith.flow.toolchain import verilator
from ringsmith.flow.verilator import HARNESS, Parameters, build_library, digest
from ringsmith.presets import Preset

TOPS = {"axi4": "rs_top_axi", "serial": "rs_top_serial"}
MULTIPLIERS = {"asic": 0, "dsp26x17": 1, "dsp18x18": 2}
REDUCTIONS = {"barrett": 0, "montgomery": 1}
UART_DIVISOR = 64


def top_of(preset: Preset) -> str:
    """Name of the top module for a preset's host."""
    return TOPS[preset.host]


def top_parameters(preset: Preset, *, clock_mhz: float | None = None) -> dict[str, int | str]:
    """Parameters of the top for a preset, at one of its clocks (default: the last, which is the fastest)."""
    slots = preset.slots
    parameters: dict[str, int | str] = {
        "W": preset.word_bits,
        "P": preset.butterflies,
        "Lanes": preset.lanes,
        "NMaxLog2": preset.n_max.bit_length() - 1,
        "Slots": slots,
        "SinglePort": (1 << slots) - (1 << preset.dual_port_slots),
        "Moduli": preset.moduli_slots,
        "TwTables": preset.twiddle_tables,
        "Consts": preset.constants,
        "MulKind": REDUCTIONS[preset.reduction],
        "MontW": preset.n_max.bit_length(),
        "MulStyle": MULTIPLIERS[preset.multiplier],
        "ModMinBits": preset.modulus_bits_min,
        "EnPmul": int(preset.pmul),
        "EnCyclic": int(preset.cyclic),
        "FifoDepth": preset.fifo_depth,
        "RnsRate": preset.rns_rate,
        "RnsConversions": max(preset.rns_conversions, 2),
        "RnsEntries": max(preset.rns_entries, 16),
        "ClockKhz": round((clock_mhz or preset.clock_mhz[-1]) * 1000),
    }
    if preset.host == "axi4":
        parameters["WidePort"] = int(preset.wide_port)
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
