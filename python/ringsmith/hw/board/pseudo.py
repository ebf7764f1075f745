# SPDX-License-Identifier: Apache-2.0
"""A simulated board behind a pseudo-terminal: `python -m ringsmith.hw.board.pseudo ulx3s --board ulx3s-85f`.

It prints the terminal's path, which a driver opens as a serial port, and clocks the board until its input ends. Faults
of a line and of a board can be asked for. With `--netlist out/ulx3s-ulx3s-85f.json` the board is the netlist of that
bitstream, its LUTs and flip-flops, ten times slower.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import select
import sys
import tty
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ringsmith.errors import InputError, RingsmithError, ToolError
from ringsmith.hw.board.pinout import load_pinout
from ringsmith.hw.board.simulated import build_board, build_gates
from ringsmith.hw.board.top import board_top
from ringsmith.presets import load_any, parse_overrides

#: Cycles that are simulated before the terminal is looked at again.
SLICE = 256
#: What happens to a byte of a line.
FAULTS = ("lose", "double", "flip")


@dataclass
class Noise:
    """Bytes of a line that are lost, doubled or flipped in a bit: each third of `rate`, and those at given places."""

    rate: float
    random: random.Random
    #: What happens to a byte by its place on the line: `lose`, `double`, `flip`.
    places: dict[int, str] = field(default_factory=dict)
    #: Bytes that have passed.
    passed: int = field(default=0, init=False)

    def over(self, data: bytes) -> bytes:
        """Return what arrives."""
        start = self.passed
        self.passed += len(data)
        return b"".join(self._byte(start + i, byte) for i, byte in enumerate(data))

    def _byte(self, place: int, byte: int) -> bytes:
        fault = self.places.get(place)
        if fault is None and self.random.random() < self.rate:
            fault = self.random.choice(FAULTS)
        if fault is None:
            return bytes([byte])
        return {"lose": b"", "double": bytes([byte, byte])}.get(fault, bytes([byte ^ 1 << self.random.randrange(8)]))


class Pins:
    """The UART pins of a simulated board, byte by byte."""

    def __init__(self, library: Path) -> None:
        """Open the board of a simulator library (see `build_board`)."""
        self._library = ctypes.CDLL(str(library))
        self._library.rs_open.restype = ctypes.c_void_p
        self._library.rs_line.restype = ctypes.c_int64
        for name in ("rs_open_error", "rs_error"):
            getattr(self._library, name).restype = ctypes.c_char_p
        opened = self._library.rs_open(b"link=pins")
        if not opened:
            raise ToolError(f"{library}: {self._library.rs_open_error().decode()}")
        self._handle = ctypes.c_void_p(opened)
        self._room = ctypes.create_string_buffer(SLICE)

    def clock(self, data: bytes) -> bytes:
        """Let SLICE cycles pass while bytes go to the board; what came from it."""
        count = self._library.rs_line(
            self._handle, data, ctypes.c_uint64(len(data)), self._room, ctypes.c_uint64(SLICE), ctypes.c_uint64(SLICE)
        )
        if count < 0:
            raise ToolError(self._library.rs_error(self._handle).decode())
        return self._room.raw[:count]

    def reset(self) -> None:
        """Press the board's reset button."""
        self._library.rs_reset(self._handle)


def _places(text: str) -> dict[int, str]:
    """Faults such as `lose:100,flip:250` by the places of their bytes."""
    made = {}
    for item in filter(None, text.split(",")):
        fault, _, place = item.partition(":")
        if fault not in FAULTS or not place.isdecimal():
            raise InputError(f"{item!r} is no fault; they are such as {', '.join(f'{known}:100' for known in FAULTS)}")
        made[int(place)] = fault
    return made


def serve(pins: Pins, faults: argparse.Namespace) -> None:
    """Hold the board behind a terminal until the standard input ends, or a fault ends it."""
    master, slave = os.openpty()
    tty.setraw(slave)
    print(os.ttyname(slave), flush=True)
    draw = random.Random(faults.seed)
    to_board = Noise(faults.noise, draw, _places(faults.to_board))
    from_board = Noise(faults.noise, draw, _places(faults.from_board))
    reset = False
    while not select.select([sys.stdin], [], [], 0)[0]:
        data = b""
        if select.select([master], [], [], 0)[0]:
            data = to_board.over(os.read(master, 512))
        if faults.close_after is not None and to_board.passed >= faults.close_after:
            break
        if faults.reset_after is not None and to_board.passed >= faults.reset_after and not reset:
            reset = True
            pins.reset()
        came = from_board.over(pins.clock(data))
        if came:
            os.write(master, came)
    os.close(slave)
    os.close(master)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", help="preset on the board, or the simulator library (.so) of one")
    parser.add_argument("--board", default="ulx3s-85f", help="board of spec/pinouts (%(default)s)")
    parser.add_argument("--set", action="append", default=[], help="key=value; overrides the preset")
    parser.add_argument("--baud", type=int, help="rate of the serial port (the board's)")
    parser.add_argument("--netlist", type=Path, help="NAME.json or NAME.routed.json of the same preset's bitstream")
    parser.add_argument("--noise", type=float, default=0.0, help="share of bytes that are lost, doubled or flipped")
    parser.add_argument("--seed", type=int, default=1, help="of the noise")
    parser.add_argument("--to-board", default="", help="faults of bytes by their places, such as lose:100,flip:250")
    parser.add_argument("--from-board", default="", help="the same of what comes from the board")
    parser.add_argument("--reset-after", type=int, help="bytes to the board after which it is reset, once")
    parser.add_argument("--close-after", type=int, help="bytes to the board after which the port goes away")
    asked = parser.parse_args(arguments)
    serve(Pins(_library(asked)), asked)


def _library(asked: argparse.Namespace) -> Path:
    """The simulator library that is asked for, built where it is none yet."""
    if asked.what.endswith(".so"):
        return Path(asked.what)
    preset = load_any(asked.what, parse_overrides(asked.set))
    top = board_top(preset, load_pinout(asked.board), baud=asked.baud)
    return build_board(top) if asked.netlist is None else build_gates(top, asked.netlist)


if __name__ == "__main__":
    try:
        main()
    except RingsmithError as error:
        print(f"pseudo: {error}", file=sys.stderr)
        sys.exit(2)
