# SPDX-License-Identifier: Apache-2.0
"""The top of a board's bitstream and its pin file, written from a preset and the board's pins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ringsmith.errors import InputError
from ringsmith.hw import sources
from ringsmith.hw.board.pinout import Pinout
from ringsmith.hw.board.pll import Pll, pll_for
from ringsmith.hw.documents import template
from ringsmith.hw.synth.job import Design
from ringsmith.hw.tops import describe
from ringsmith.presets import AnyPreset, Preset

#: The written module.
MODULE = "rs_board"
#: Core cycles of a UART bit, as rs_top_serial takes them.
DIVISORS = (4, 65_535)


@dataclass(frozen=True)
class BoardTop:
    """What goes onto a board: the preset's parameters, the clock made by the PLL, the rate of the serial port."""

    preset: Preset
    pinout: Pinout
    pll: Pll
    core_mhz: float
    baud: int

    @property
    def divisor(self) -> int:
        """Core cycles of a bit on the serial line."""
        return round(self.core_mhz * 1e6 / self.baud)

    def parameters(self) -> dict[str, int | str]:
        """Parameters of `rs_top_serial`, with the hash that the info block shows."""
        top = describe(self.preset)
        made = {**top.parameters(clock_mhz=self.core_mhz), "SerialKhz": 1000, "UartDivisor": self.divisor}
        return top.identified(made)

    def systemverilog(self) -> str:
        """The text of the top."""
        listed = [f"    .{name}({value})" for name, value in self.parameters().items()]
        return template(
            "board/ecp5.sv",
            preset=self.preset.name,
            board=self.pinout.name,
            clock=f"{self.pinout.clock_mhz:g}",
            core=f"{self.core_mhz:g}",
            baud=f"{self.baud:,}",
            input=str(self.pll.input),
            feedback=str(self.pll.feedback),
            output=str(self.pll.output),
            lamp="rst_n && !irq" if self.pinout.led_lit == "high" else "!rst_n || irq",
            parameters=",\n".join(listed),
        )

    def pin_file(self) -> str:
        """The pins as nextpnr reads them (LPF); what the board pulls up is pulled up here too."""
        lines = ["# SPDX-License-Identifier: Apache-2.0", f"# {self.pinout.name}: {self.pinout.source}"]
        pulled = {"rst_ni", "uart_rx_i"}
        for port, site in self.pinout.pins().items():
            pull = "UP" if port in pulled else "NONE"
            lines += [
                f'LOCATE COMP "{port}" SITE "{site}";',
                f'IOBUF PORT "{port}" PULLMODE={pull} IO_TYPE={self.pinout.io_type_of(port)};',
            ]
        lines += [f'FREQUENCY PORT "clk_i" {self.pinout.clock_mhz:g} MHZ;', "SYSCONFIG COMPRESS_CONFIG=ON;"]
        return "\n".join(lines) + "\n"

    def design(self, folder: Path) -> Design:
        """Write the top and return it as a design to synthesise."""
        file = folder / f"{MODULE}.sv"
        file.write_text(self.systemverilog())
        return _Written(name=f"{self.preset.name} on {self.pinout.name}", top=MODULE, parameters={}, file=file)


@dataclass(frozen=True, kw_only=True)
class _Written(Design):
    """A design whose top is a written file."""

    file: Path

    def files(self) -> list[Path]:
        """Sources, dependencies first, the written top last."""
        return sources.design(self.top, {}, {**sources.library(), self.top: self.file})


def board_top(preset: AnyPreset, pinout: Pinout, *, core_mhz: float | None = None, baud: int | None = None) -> BoardTop:
    """The top of a preset on a board, by default at the board's clock and rate.

    Raises:
        InputError: the preset has no serial host or a controller, no PLL makes the clock, the clock makes no such rate.
    """
    if not isinstance(preset, Preset) or preset.host != "serial":
        raise InputError(f'{preset.name} has no serial port: a preset with host = "serial", or --set host=serial')
    if preset.controller != "none":
        raise InputError(f"{preset.name} has a controller, whose firmware no bitstream holds: --set controller=none")
    wanted = core_mhz if core_mhz is not None else pinout.core_mhz
    pll = pll_for(pinout.clock_mhz, wanted)
    top = BoardTop(preset, pinout, pll, pll.mhz(pinout.clock_mhz), baud if baud is not None else pinout.baud)
    _check_rate(top)
    return top


def _check_rate(top: BoardTop) -> None:
    """A bit is a whole number of cycles, near enough for ten of them in a row."""
    if not DIVISORS[0] <= top.divisor <= DIVISORS[1]:
        low, high = (top.core_mhz * 1e6 / cycles for cycles in reversed(DIVISORS))
        raise InputError(f"{top.baud} baud at {top.core_mhz:g} MHz: from {low:.0f} to {high:.0f} baud")
    made = top.core_mhz * 1e6 / top.divisor
    if abs(made - top.baud) > 0.02 * top.baud:
        raise InputError(f"{top.baud} baud at {top.core_mhz:g} MHz: the nearest is {made:.0f} baud, more than 2 % away")
