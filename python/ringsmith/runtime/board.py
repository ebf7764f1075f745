# SPDX-License-Identifier: Apache-2.0
"""A board at a serial port as an engine: `--on board:/dev/ttyUSB0?baud=1000000&wait=1`.

The board says itself what it is. The time on the port and the time it computes are told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from ringsmith import _native
from ringsmith.errors import InputError, ParameterError
from ringsmith.hw.board.pinout import load_pinout, pinout_names
from ringsmith.presets import OPERATIONS, Preset
from ringsmith.runtime.coprocessor import DeviceEngine
from ringsmith.runtime.engine import Engine, EngineOptions

KIND = "board"
#: Baud that a port may be asked for, seconds that a board may take to begin an answer.
BAUDS, WAITS = (9_600, 12_500_000), (0.01, 60.0)


@dataclass(frozen=True)
class Address:
    """A board's port, its rate, the seconds it may take to begin an answer."""

    port: str
    baud: int
    wait: float = 1.0

    @property
    def name(self) -> str:
        """As in reports."""
        return f"{KIND}:{self.port}"


def address(text: str) -> Address:
    """Read what follows `board:`, a port with options such as `?baud=115200&wait=2`."""
    port, _, query = text.partition("?")
    usual = load_pinout(pinout_names()[0]).baud
    if not port:
        raise InputError(f"--on {KIND}: needs a serial port, such as --on {KIND}:/dev/ttyUSB0?baud={usual}")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := sorted(options.keys() - {"baud", "wait"}):
        raise InputError(f"{KIND}:{port}: no option {unknown[0]!r}; there are baud, wait")
    baud, wait = options.get("baud", str(usual)), options.get("wait", "1")
    return Address(port, int(_number(port, "baud", baud, BAUDS, whole=True)), _number(port, "wait", wait, WAITS))


def _number(port: str, name: str, text: str, limits: tuple[float, float], *, whole: bool = False) -> float:
    try:
        value = float(int(text)) if whole else float(text)
    except ValueError:
        value = float("nan")
    if not limits[0] <= value <= limits[1]:
        raise InputError(f"{KIND}:{port}: {name}={text!r} must be from {limits[0]:,} to {limits[1]:,}")
    return value


def open_native(where: Address) -> _native.Device:
    """Open the board at a port. Raises DeviceError: none answers, the port is another program's or no serial port."""
    return _native.Device.board(where.name, list(OPERATIONS), where.port, where.baud, where.wait)


def open_for(preset: Preset, where: Address) -> _native.Device:
    """Open a board that is to be a preset's. Raises ParameterError where another bitstream answers."""
    device = open_native(where)
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
        """Milliseconds to move `size` bytes at the port's rate, ten bits a byte; `cycles` are not known."""
        return size * 10 / self.where.baud * 1e3 if cycles >= 0 else 0.0

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
        facts["port"] = {**spent, "seconds": round(spent["seconds"], 6), "baud": self._board.where.baud}
        facts["compute"] = {"cycles": busy, "ms": round(busy / self._board.clock_mhz / 1e3, 6)}
        facts["device"] |= {"cycles": busy, "simulation_s": 0.0}
        return facts


def open_board(text: str, options: EngineOptions) -> Engine:
    """Return the engine of the board at a port."""
    if options.extra.get("polynomial"):
        raise InputError(f"the engine {KIND} takes no --polynomial; the recorder does: --on record:FILE")
    if options.overrides:
        raise InputError(f"a board is what its bitstream made it: --on {KIND}:PORT takes no --set")
    if options.trace is not None:
        raise InputError(f"a board records no instructions: --on {KIND}:PORT takes no --trace, rtl:PRESET does")
    where = address(text)
    return BoardEngine(OpenBoard(where, open_native(where)), options)
