# SPDX-License-Identifier: Apache-2.0
"""Ports of a board, by what follows `board:`.

    /dev/ttyUSB0?baud=1000000&wait=1                       a serial port
    uio:NAME?buffers=NAME&done=interrupt                   a core in the chip of its host
    xdma:0?memory=0:0x400000000&done=poll                  a card on PCIe behind AMD's XDMA

`root=DIR` looks for the files of the last two in DIR/dev and DIR/sys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol
from urllib.parse import parse_qsl

from ringsmith import _native
from ringsmith.errors import InputError
from ringsmith.hw.board.pinout import load_pinout, pinout_names
from ringsmith.hw.vivado.platform import KINDS
from ringsmith.presets import OPERATIONS
from ringsmith.specs import shown

KIND = "board"
#: Baud that a port may be asked for, seconds that a board may take to begin an answer.
BAUDS, WAITS = (9_600, 12_500_000), (0.01, 60.0)
#: Bits on a serial line for each byte: a start and a stop bit around it.
LINE_BITS = 10
#: How a program's end is learnt: the core's interrupt, or a look at its state now and then.
DONE = ("interrupt", "poll")
#: Numbers of cards, and bytes that a card's memory may be named by.
CARDS, MEMORY = 256, 1 << 63


class Address(Protocol):
    """Where a board is."""

    @property
    def name(self) -> str:
        """As in reports."""

    def open(self) -> _native.Device:
        """Open it. Raises DeviceError: none answers, the port is another program's or none."""

    def facts(self) -> dict[str, int]:
        """What a report tells of the port beside its use."""

    def ms(self, size: int) -> float:
        """Milliseconds that `size` bytes take on the line; 0 where only a measurement tells."""


@dataclass(frozen=True)
class Serial:
    """A serial port, its rate, the seconds that a board there may take to begin an answer."""

    port: str
    baud: int
    wait: float = 1.0

    options: ClassVar = ("baud", "wait")

    @property
    def name(self) -> str:
        """As in reports."""
        return f"{KIND}:{self.port}"

    def open(self) -> _native.Device:
        """Open the board."""
        return _native.Device.serial(self.name, list(OPERATIONS), self.port, self.baud, self.wait)

    def facts(self) -> dict[str, int]:
        """Its rate."""
        return {"baud": self.baud}

    def ms(self, size: int) -> float:
        """At the line's rate."""
        return size * LINE_BITS / self.baud * 1e3


@dataclass(frozen=True)
class Uio:
    """A core in the chip of its host: the UIO device of a name (in the device tree, or `uioN`), its u-dma-buf."""

    device: str
    buffers: str | None = None
    polls: bool = False
    root: str = "/"

    options: ClassVar = ("buffers", "done", "root")

    @property
    def name(self) -> str:
        """As in reports."""
        return f"{KIND}:uio:{self.device}"

    def open(self) -> _native.Device:
        """Open the board."""
        return _native.Device.uio(
            self.name, list(OPERATIONS), self.device, self.buffers, polls=self.polls, root=self.root
        )

    def facts(self) -> dict[str, int]:
        """Nothing."""
        return {}

    def ms(self, size: int) -> float:
        """Not known."""
        return 0.0 * size


@dataclass(frozen=True)
class Xdma:
    """A core on card N behind XDMA; first address and bytes of the card's memory that core and DMA share."""

    card: int
    memory: tuple[int, int] = (0, 1 << KINDS["xdma"])
    polls: bool = False
    root: str = "/"

    options: ClassVar = ("memory", "done", "root")

    @property
    def name(self) -> str:
        """As in reports."""
        return f"{KIND}:xdma:{self.card}"

    def open(self) -> _native.Device:
        """Open the board."""
        return _native.Device.xdma(
            self.name, list(OPERATIONS), self.card, self.memory, polls=self.polls, root=self.root
        )

    def facts(self) -> dict[str, int]:
        """Nothing."""
        return {}

    def ms(self, size: int) -> float:
        """Not known."""
        return 0.0 * size


def address(text: str) -> Address:
    """Read what follows `board:`. Raises InputError: no port, no such kind or option, a value out of range."""
    port, _, query = text.partition("?")
    kind, _, name = port.partition(":")
    if not port:
        raise InputError(f"--on {KIND}: needs a port, such as {_KNOWN}")
    if "/" in kind:
        made = _options(port, query, Serial.options)
        usual = str(load_pinout(pinout_names()[0]).baud)
        baud = _number(port, "baud", made.get("baud", usual), BAUDS, whole=True)
        return Serial(port, int(baud), _number(port, "wait", made.get("wait", "1"), WAITS))
    if kind == "uio":
        if not name or "/" in name:
            raise InputError(f"{KIND}:{port}: a UIO device has a name, such as uio:ringsmith")
        made = _options(port, query, Uio.options)
        return Uio(name, made.get("buffers"), _polls(port, made), made.get("root", "/"))
    if kind == "xdma":
        if not (name.isascii() and name.isdecimal() and int(name) < CARDS):
            raise InputError(f"{KIND}:{port}: a card has a number from 0 to {CARDS - 1}, such as xdma:0")
        made = _options(port, query, Xdma.options)
        memory = _memory(port, made["memory"]) if "memory" in made else Xdma.memory
        return Xdma(int(name), memory, _polls(port, made), made.get("root", "/"))
    raise InputError(f"{KIND}:{shown(port)} is no port that is known; there are {_KNOWN}")


_KNOWN = f"{KIND}:/dev/ttyUSB0 (a serial port), {KIND}:uio:ringsmith (UIO), {KIND}:xdma:0 (a PCIe card)"


def _options(port: str, query: str, known: tuple[str, ...]) -> Mapping[str, str]:
    """The options behind a port."""
    options = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := sorted(options.keys() - set(known)):
        raise InputError(f"{KIND}:{port}: no option {unknown[0]!r}; there are {', '.join(known)}")
    return options


def _polls(port: str, options: Mapping[str, str]) -> bool:
    done = options.get("done", DONE[0])
    if done not in DONE:
        raise InputError(f"{KIND}:{port}: done={done!r} must be {' or '.join(DONE)}")
    return done == "poll"


def _memory(port: str, text: str) -> tuple[int, int]:
    """Read `START:BYTES`, decimal or with 0x."""
    try:
        start, size = (int(part, 0) for part in text.split(":"))
    except ValueError:
        start, size = -1, -1
    if not (start >= 0 and size > 0 and start + size < MEMORY):
        raise InputError(f"{KIND}:{port}: memory={text!r} must be START:BYTES below 2^63, such as 0:0x400000000")
    return start, size


def _number(port: str, name: str, text: str, limits: tuple[float, float], *, whole: bool = False) -> float:
    try:
        value = float(int(text)) if whole else float(text)
    except ValueError:
        value = float("nan")
    if not limits[0] <= value <= limits[1]:
        raise InputError(f"{KIND}:{port}: {name}={text!r} must be from {limits[0]:,} to {limits[1]:,}")
    return value
