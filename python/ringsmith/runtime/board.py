# SPDX-License-Identifier: Apache-2.0
"""A board as an engine: `--on board:/dev/ttyUSB0`, `board:uio:NAME`, `board:xdma:N` (see `ports`).

The board says itself what it is. The time on the port and the time it computes are told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ringsmith import _native
from ringsmith.errors import InputError, ParameterError
from ringsmith.presets import Preset
from ringsmith.runtime.coprocessor import DeviceEngine
from ringsmith.runtime.engine import Engine, EngineOptions
from ringsmith.runtime.ports import KIND, Address, address


def open_for(preset: Preset, where: Address) -> _native.Device:
    """Open a board that is to be a preset's. Raises ParameterError where another bitstream answers."""
    device = where.open()
    model = _native.Device.model(preset.name, [], preset.numbers(), preset.port_memory)
    told, wanted = device.info(), model.info()
    wrong = [key for key in wanted if key in told and not _agree(key, told[key], wanted[key])]
    if wrong:
        key = wrong[0]
        raise ParameterError(
            f"{where.name}: another build than {preset.name} is on this board: {key} {told[key]}, not {wanted[key]}; "
            f"load its bitstream, or name the preset that it was made from"
        )
    return device


def _agree(key: str, told: Any, wanted: Any) -> bool:
    """Whether a fact of a build is the wanted one; hardware does not name instructions of units that it lacks."""
    if key.startswith("memory_"):
        return True
    return bool(told & ~wanted == 0 if key == "instructions" else told == wanted)


@dataclass(frozen=True)
class OpenBoard:
    """A board as an engine's device."""

    where: Address
    native: _native.Device

    @property
    def name(self) -> str:
        """As in reports."""
        return self.where.name

    @property
    def clock_mhz(self) -> float:
        """The clock that the board's core says it has."""
        return float(self.used["clock_khz"]) / 1e3

    @property
    def used(self) -> dict[str, Any]:
        """What the port took so far."""
        used = self.native.port_use()
        assert used is not None  # a board
        return used

    def link_ms(self, size: int, cycles: int) -> float:
        """Milliseconds to move `size` bytes at the port's rate; `cycles` are not known."""
        return self.where.ms(size) if cycles >= 0 else 0.0

    def lacks(self, operation: str) -> str:
        """Say why the host did all of an operation."""
        return f"the board's build lacks what {operation} needs, or fewer polynomials cross so"


class BoardEngine(DeviceEngine):
    """A board that runs programs."""

    def __init__(self, device: OpenBoard, options: EngineOptions) -> None:
        """Use an opened board."""
        super().__init__(device, options)
        self._board, self._before = device, device.used

    def report(self, seconds: float) -> dict[str, Any]:
        """Return the report of a device, with the port's seconds and the board's computing apart."""
        facts = super().report(seconds)
        now, before = self._board.used, self._before
        self._before = now
        spent = {key: now[key] - before[key] for key in now if key != "clock_khz"}
        busy = spent.pop("busy_cycles")
        facts["port"] = {**spent, "seconds": round(spent["seconds"], 6), **self._board.where.facts()}
        facts["compute"] = {"cycles": busy, "ms": round(busy / self._board.clock_mhz / 1e3, 6)}
        facts["device"] |= {"cycles": busy, "simulation_s": 0.0}
        return facts


def open_board(text: str, options: EngineOptions) -> Engine:
    """Return the engine of the board at a port; `text` is what `ports.address` reads."""
    if options.extra.get("polynomial"):
        raise InputError(f"the engine {KIND} takes no --polynomial; the recorder does: --on record:FILE")
    if options.overrides:
        raise InputError(f"a board is what its bitstream made it: --on {KIND}:PORT takes no --set")
    if options.trace is not None:
        raise InputError(f"a board records no instructions: --on {KIND}:PORT takes no --trace, rtl:PRESET does")
    where = address(text)
    return BoardEngine(OpenBoard(where, where.open()), options)
