# SPDX-License-Identifier: Apache-2.0
"""A simulated board behind AXI, as the files that Linux has for it: `python -m ringsmith.hw.linux tiny uio`.

It prints what a program is started with and the board's address, and holds the board until its input ends. `uio` is a
core in the chip of its host, with a u-dma-buf; `xdma` one on a card. Faults can be asked for.
"""

from __future__ import annotations

import argparse
import hashlib
import platform
import select
import socket
import struct
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ringsmith.errors import InputError, RingsmithError, ToolError
from ringsmith.hw import paths, stored
from ringsmith.hw.device import build_device
from ringsmith.hw.linux import files
from ringsmith.hw.linux.core import NOTHING, REGISTERS, Core
from ringsmith.hw.linux.fuse import FileSystem, Folder, Node
from ringsmith.hw.process import checked, run
from ringsmith.hw.registers import load
from ringsmith.hw.toolchain import exclusive
from ringsmith.presets import load_any, parse_overrides

#: Cycles that are simulated before files are looked at again: after an access, about what one takes; while none comes.
FEW, MANY = 16, 1024
_ASKED = struct.Struct("<QII")


def build_trap() -> Path:
    """The library that has mapped registers answer, for the program that maps them; built once. Raises ToolError."""
    if platform.machine() != "x86_64":
        raise ToolError(f"registers behind a mapping are decoded on x86-64 only, this is {platform.machine()}")
    source = Path(__file__).parent / "trap.cpp"
    command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC"]
    key = hashlib.sha256(" ".join(command).encode() + source.read_bytes()).hexdigest()[:16]
    target = paths.cache("linux") / f"trap-{key}.so"
    with exclusive(paths.cache("locks") / target.name):
        if not stored.intact(target):
            made = target.with_name(f".{target.name}")
            checked("compiling trap.cpp", run([*command, "-o", made, source], timeout_s=120))
            stored.keep(made, target)
    return target


class Board:
    """A board: core, files, faults."""

    def __init__(self, core: Core, asked: argparse.Namespace, folder: Path) -> None:
        """Make the files in a tree; `folder` is for the board's own."""
        self.core, self.asked, self.root = core, asked, Folder()
        self.push = load()["command_hi"].address
        self.accesses = 0
        self.pushes = 0
        self.gone = False
        self.buffer: files.DmaBuffer | None = None
        self.running = self.pushed = False
        wired = not asked.no_interrupt
        self.events: files.UioFile | files.EventsFile = (
            files.UioFile(wired) if asked.kind == "uio" else files.EventsFile(wired)
        )
        (self._uio if asked.kind == "uio" else self._xdma)(folder)

    def _uio(self, folder: Path) -> None:
        asked = self.asked
        self.root.at("dev").entries["uio0"] = self.events
        self.root.at("sys/class/uio").entries["uio0"] = files.uio_attributes(asked.name, REGISTERS * self.core.cores)
        file = folder / "memory"
        self.buffer = files.DmaBuffer(asked.name, self.core, asked.address, asked.bytes, file, asked.coherent)
        self.buffer.put(self.root)

    def _xdma(self, folder: Path) -> None:
        del folder
        memory = files.CardFile(self.core)
        self.root.at("dev").entries |= {
            "xdma0_user": files.UserFile(self.read, self.write),
            "xdma0_h2c_0": memory,
            "xdma0_c2h_0": memory,
            "xdma0_events_0": self.events,
        }

    def read(self, address: int) -> int:
        """Read a register, as the bus does."""
        return NOTHING if self.gone else self.core.read(address)

    def write(self, address: int, value: int) -> None:
        """Write a register; a command is where faults begin."""
        if address == self.push:
            self.pushes += 1
            if self.buffer and self.buffer.coherent and not self.core.busy:
                self.buffer.to_device(0, self.buffer.size)
            self.pushed = True
            self.gone = self.gone or self.pushes == self.asked.lose_after
            if self.pushes == self.asked.reset_after:
                self.core.reset()
        if not self.gone:
            self.core.write(address, value)
            self.running = True

    def clock(self, cycles: int) -> Node | None:
        """Let cycles pass while the core works; the file whose interrupt has come."""
        if self.running:
            self.core.clock(cycles)
            if not self.core.busy:
                self.running = False
                if self.buffer and self.buffer.coherent and self.pushed:
                    self.buffer.to_processor(0, self.buffer.size)
                self.pushed = False
        return self.events if self.events.line(self.core.interrupt and not self.gone) else None


def serve(board: Board, system: FileSystem, bus: socket.socket) -> None:
    """Answer files and bus until the standard input ends."""
    connections: list[socket.socket] = []
    while True:
        waiting = [system.descriptor, bus, *connections, sys.stdin]
        ready = select.select(waiting, [], [], 0 if board.running else None)[0]
        if sys.stdin in ready:
            return
        if bus in ready:
            connections.append(bus.accept()[0])
        for connection in [one for one in connections if one in ready]:
            if not _on_bus(board, connection):
                connections.remove(connection)
                connection.close()
        if system.descriptor in ready:
            system.serve()
        came = board.clock(FEW if ready else MANY)
        if came is not None:
            system.wake(came)


def _on_bus(board: Board, connection: socket.socket) -> bool:
    """Do an access of a program that maps registers; false if it is gone."""
    try:
        request = connection.recv(_ASKED.size)
        if not request:
            return False
        address, store, value = _ASKED.unpack(request)
        if store:
            board.write(address, value)
        connection.send(struct.pack("<I", 0 if store else board.read(address)))
    except OSError:
        return False
    return True


def main(arguments: Sequence[str] | None = None) -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(
        prog="python -m ringsmith.hw.linux", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", help="preset of the core, or its simulator library (.so)")
    parser.add_argument("kind", choices=("uio", "xdma"), help="how Linux reaches it")
    parser.add_argument("--set", action="append", default=[], help="key=value; overrides the preset")
    parser.add_argument("--name", default="ringsmith", help="of the UIO device and its u-dma-buf (%(default)s)")
    parser.add_argument("--address", type=_number, default=1 << 20, help="physical address of the u-dma-buf")
    parser.add_argument("--bytes", type=_number, default=1 << 20, help="its size; of a card: of the memory")
    parser.add_argument("--coherent", action="store_true", help="hardware keeps cache and memory in step")
    parser.add_argument("--no-interrupt", action="store_true", help="fault: the interrupt's wire is cut")
    parser.add_argument("--lose-after", type=int, help="fault: commands after which the bus answers nothing")
    parser.add_argument("--reset-after", type=int, help="fault: commands after which the bitstream is loaded anew")
    asked = parser.parse_args(arguments)
    library = (
        Path(asked.what)
        if asked.what.endswith(".so")
        else build_device(load_any(asked.what, parse_overrides(asked.set)))
    )
    with tempfile.TemporaryDirectory(prefix="ringsmith-linux-") as made:
        _hold(asked, library, Path(made))


def _hold(asked: argparse.Namespace, library: Path, folder: Path) -> None:
    """Hold the board, with a folder for its files, until the input ends."""
    mount = folder / "root"
    mount.mkdir()
    # A buffer out of the core's reach is refused before anything is there.
    memory = asked.bytes if asked.kind == "xdma" else min(asked.address + asked.bytes, 1 << 36)
    board = Board(Core(library, memory), asked, folder)
    path = folder / "bus"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as bus:
        bus.bind(str(path))
        bus.listen()
        system = FileSystem(board.root, mount)
        try:
            if asked.kind == "uio":
                print(f"LD_PRELOAD={build_trap()} RINGSMITH_BUS={mount}:{path}", end=" ")
                print(f"board:uio:{asked.name}?root={mount}", flush=True)
            else:
                print(f"board:xdma:0?memory=0:{asked.bytes}&root={mount}", flush=True)
            serve(board, system, bus)
        finally:
            system.close()


def _number(text: str) -> int:
    value = int(text, 0)
    if value < 0:
        raise InputError(f"{text} is below 0")
    return value


if __name__ == "__main__":
    try:
        main()
    except RingsmithError as error:
        print(f"linux: {error}", file=sys.stderr)
        sys.exit(2)
