# SPDX-License-Identifier: Apache-2.0
"""The co-processor's tops: what all have in common, whatever their host."""

from __future__ import annotations

import shutil
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from ringsmith import shipped
from ringsmith.gen import isa_doc
from ringsmith.gen.isa import load_isa
from ringsmith.hw import registers, sources
from ringsmith.hw.firmware import constants, firmware
from ringsmith.hw.tops import answers
from ringsmith.hw.tops.top import Top
from ringsmith.hw.verilator import Parameters
from ringsmith.presets import Preset


class System(Top):
    """One co-processor or several behind a host, `rtl/top`."""

    kind = "co-processor"
    maps: ClassVar[Mapping[str, str]] = dict.fromkeys(registers.BLOCKS, "RS")
    testbench = "system/testbench.cpp"
    driver = "system/driver.md"
    fault_pin = True
    #: Cycles of a UART bit.
    uart_divisor: ClassVar[int] = 64

    def __init__(self, preset: Preset) -> None:
        """Describe the top of `preset`."""
        super().__init__(preset)
        self.preset = preset

    def parameters(self, *, clock_mhz: float | None = None) -> dict[str, int | str]:
        """Knobs of the preset and the clock."""
        return {**self.preset.parameters(), "ClockKhz": round((clock_mhz or self.clock_mhz) * 1000)}

    def defines(self) -> dict[str, int | str]:
        """The rate of a UART's bits."""
        return {"RS_UART_DIVISOR": self.uart_divisor}

    def identified(self, parameters: Parameters) -> dict[str, int | str]:
        """Parameters with the hash that the info block's BUILD registers show."""
        return {**parameters, "BuildHash": f"128'h{self.build_hash(parameters)}"}

    def documented(self) -> tuple[str, ...]:
        """The co-processor's registers, and a controller's."""
        return registers.BLOCKS if self.preset.controller != "none" else (registers.HOST,)

    def vectors(self) -> str:
        """A transform of every lane."""
        return answers.system(self.preset)

    def write_extras(self, work: Path) -> None:
        """Write the instruction set, and a controller's firmware."""
        (work / "docs" / "isa.md").write_text(isa_doc.render(load_isa(shipped.root() / "spec" / "isa.yaml")))
        for name in ("isa.yaml", "latency.yaml"):
            shutil.copyfile(shipped.root() / "spec" / name, work / "docs" / name)
        if self.preset.controller != "none":
            _write_controller(self.preset, work)

    def texts(self) -> dict[str, str]:
        """What driver and integrator read."""
        preset, montgomery = self.preset, self.preset.reduction == "montgomery"
        reciprocal = "upper part is (m - 1) >> w" if montgomery else "reciprocal is floor(2^(k+W+2) / m)"
        return {
            "shape": "\n".join(f"| {name} | {value} |" for name, value in self._shape().items()),
            "word_bytes": str(preset.word_bytes),
            "layout_note": _layout(preset),
            "reciprocal_note": f"The {reciprocal}.",
            "reduction_entry": "-R mod m, R = 2^(w ceil(W/w))" if montgomery else "bit length k of m",
            "slots": str(preset.slots),
            "controller_note": _CONTROLLER if preset.controller != "none" else "",
            "pins_note": _FAULT_NOTE,
            "shell_reset": _SHELL_RESET,
        }

    def _shape(self) -> dict[str, object]:
        preset = self.preset
        return {
            "coefficient": f"{preset.word_bits} bits",
            "lanes": preset.lanes,
            "butterflies per lane": preset.butterflies,
            "ring degree": f"8 to {preset.n_max}",
            "slots": f"{preset.slots}; 0 to {preset.dual_port_slots - 1} dual-port, 0 and 1 the transforms' work slots",
            "moduli, constants per lane": f"{preset.moduli_slots}, {preset.constants}",
            "reduction": preset.reduction,
            "data port": self.data_port(),
            "command queue": preset.fifo_depth,
        }

    @abstractmethod
    def data_port(self) -> str:
        """How polynomials travel."""


def _layout(preset: Preset) -> str:
    """Layout of a lane's coefficients in a host buffer."""
    start = f"b * {preset.buffer_bytes} + l * {preset.piece_bytes}"
    if not preset.wide_port:
        return f"one after another: lane l of buffer b starts at {start} bytes"
    return (
        f"in pieces of {preset.butterflies} coefficients, side by side in rows.\n"
        f"  Piece j of lane l of buffer b starts at {start} + j * {preset.row_bytes} bytes; rows may end in padding"
    )


def _write_controller(preset: Preset, work: Path) -> None:
    """Firmware of the controller: image, source, link script; the licence of its processor."""
    folder = work / "firmware"
    folder.mkdir()
    (folder / "firmware.bin").write_bytes(firmware(preset))
    for name in ("firmware.rs", "firmware.ld"):
        shutil.copyfile(shipped.rtl() / "controller" / name, folder / name)
    (folder / "registers.rs").write_text(constants())
    shutil.copyfile(sources.processor()[0].parents[1] / "LICENSE", work / "rtl" / "LICENSE.serv")


_FAULT_NOTE = """
The pin that falsifies results for tests of drivers exists only with the macro `RINGSMITH_FAULT_PIN`."""

_SHELL_RESET = """
- The shell keeps the core in reset for 8 cycles after `rst_ni` rises; registers answer at once.
- CONTROL.reset resets core and data port alone, from a register in the clock's domain."""

_CONTROLLER = """
## Controller
A processor on the chip can feed the queue ([controller/index.html](controller/index.html)): its registers begin at
0x800 behind those of its core.
1. Once: write `firmware/firmware.bin` through CONTROLLER_ADDRESS and CONTROLLER_DATA, then set CONTROLLER_CONTROL.run.
2. For a program: its commands behind the firmware, two words each, and CONTROLLER_PROGRAM.
3. For each run: CONTROLLER_CONTROL.start; the interrupt line rises at the end, and CONTROLLER_STATUS says how it went.

`firmware/` has the source too. The processor's licence: [../rtl/LICENSE.serv](../rtl/LICENSE.serv).
"""
