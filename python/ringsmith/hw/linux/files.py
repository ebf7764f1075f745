# SPDX-License-Identifier: Apache-2.0
"""Device files and attributes of a board behind AXI, as the drivers of Linux have them."""

from __future__ import annotations

import errno
import mmap
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ringsmith.hw.linux.core import Core
from ringsmith.hw.linux.fuse import Folder, Link, Node, Text, Waiting

_WORD = struct.Struct("=I")


@dataclass
class UioFile(Node):
    """/dev/uioN of uio_pdrv_genirq with an interrupt by level: it is masked when it comes, until a write of 1."""

    wired: bool = True
    count: int = 0
    _seen: int = 0
    _allowed: bool = True

    def line(self, level: bool) -> bool:
        """The interrupt's level; whether it has come."""
        if not (level and self._allowed and self.wired):
            return False
        self.count += 1
        self._allowed = False
        return True

    def readable(self) -> bool:
        """Whether an interrupt has come since the last read."""
        return self.count != self._seen

    def read(self, offset: int, size: int) -> bytes:
        """Wait for an interrupt; how many have come."""
        del offset
        if size != 4:
            raise OSError(errno.EINVAL, "4 bytes at a time")
        if not self.readable():
            raise Waiting
        self._seen = self.count
        return _WORD.pack(self.count)

    def write(self, offset: int, data: bytes) -> int:
        """Mask the interrupt (0) or let it come (1)."""
        del offset
        if len(data) != 4:
            raise OSError(errno.EINVAL, "4 bytes")
        self._allowed = bool(_WORD.unpack(data)[0])
        return 4


@dataclass
class EventsFile(Node):
    """/dev/xdmaN_events_0: counts edges of the interrupt; a read waits for one and forgets them."""

    wired: bool = True
    count: int = 0
    _level: bool = False

    def line(self, level: bool) -> bool:
        """The interrupt's level; whether it has come."""
        rises, self._level = level and not self._level, level
        self.count += rises and self.wired
        return rises and self.wired

    def readable(self) -> bool:
        """Whether an interrupt has come."""
        return self.count > 0

    def read(self, offset: int, size: int) -> bytes:
        """Wait for an interrupt; how many have come."""
        if size != 4 or offset % 4:
            raise OSError(errno.EPROTO, "4 bytes")
        if not self.readable():
            raise Waiting
        came, self.count = self.count, 0
        return _WORD.pack(came)


@dataclass
class UserFile(Node):
    """/dev/xdmaN_user: a register at a time, at a multiple of 4."""

    load: Callable[[int], int]
    store: Callable[[int, int], None]

    def read(self, offset: int, size: int) -> bytes:
        """Read a register."""
        if offset % 4 or size < 4:
            raise OSError(errno.EPROTO, "whole registers")
        return _WORD.pack(self.load(offset))

    def write(self, offset: int, data: bytes) -> int:
        """Write a register."""
        if offset % 4 or len(data) < 4:
            raise OSError(errno.EPROTO, "whole registers")
        self.store(offset, _WORD.unpack_from(data)[0])
        return 4


@dataclass
class CardFile(Node):
    """/dev/xdmaN_h2c_0 and _c2h_0: the card's memory. A transfer of more than `most` bytes is cut short."""

    core: Core
    most: int = 1 << 16

    def read(self, offset: int, size: int) -> bytes:
        """DMA from the card."""
        try:
            return self.core.load(offset, min(size, self.most))
        except ValueError as error:
            raise OSError(errno.EIO, str(error)) from None

    def write(self, offset: int, data: bytes) -> int:
        """DMA to the card."""
        try:
            self.core.store(offset, data[: self.most])
        except ValueError as error:
            raise OSError(errno.EIO, str(error)) from None
        return min(len(data), self.most)


@dataclass
class DmaBuffer:
    """A u-dma-buf: what the processor sees of it is a file, as its cache would be, what the core sees its memory.

    Without hardware that keeps the two in step (`coherent`) they differ until an attribute is written: both begin with
    contents of their own.
    """

    name: str
    core: Core
    address: int
    size: int
    file: Path
    coherent: bool = False
    offset: int = 0
    length: int = 0
    _map: mmap.mmap = field(init=False)

    def __post_init__(self) -> None:
        """Make the file."""
        draw = random.Random(self.name)
        self.file.write_bytes(draw.randbytes(self.size))
        if self.address + self.size <= self.core.memory:
            self.core.store(self.address, draw.randbytes(self.size))
        with self.file.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), self.size)
        self.length = self.size

    def to_device(self, start: int, end: int) -> None:
        """Write lines of the cache back to memory."""
        self.core.store(self.address + start, self._map[start:end])

    def to_processor(self, start: int, end: int) -> None:
        """Forget lines of the cache: the processor sees memory."""
        self._map[start:end] = self.core.load(self.address + start, end - start)

    def put(self, root: Folder) -> None:
        """Put device file and attributes into a tree."""
        root.at("dev").entries[self.name] = Link(str(self.file))
        root.at(f"sys/class/u-dma-buf/{self.name}").entries |= {
            "phys_addr": Text(lambda: f"0x{self.address:016x}"),
            "size": Text(lambda: str(self.size)),
            "dma_coherent": Text(lambda: str(int(self.coherent))),
            "sync_offset": self._number("offset"),
            "sync_size": self._number("length"),
            "sync_direction": Text(lambda: "0", lambda _: None),
            "sync_for_device": Text(lambda: "0", lambda _: self._synchronise(self.to_device)),
            "sync_for_cpu": Text(lambda: "0", lambda _: self._synchronise(self.to_processor)),
        }

    def _number(self, name: str) -> Text:
        return Text(lambda: str(getattr(self, name)), lambda text: setattr(self, name, int(text, 0)))

    def _synchronise(self, move: Callable[[int, int], None]) -> None:
        if not (self.offset >= 0 and self.length > 0 and self.offset + self.length <= self.size):
            raise OSError(errno.EINVAL, f"{self.length} bytes at {self.offset} of {self.size}")
        move(self.offset, self.offset + self.length)


def uio_attributes(name: str, size: int) -> Folder:
    """What /sys/class/uio/uioN tells of a device with one map."""
    folder = Folder({"name": Text(lambda: name)})
    folder.at("maps/map0").entries |= {
        "addr": Text(lambda: "0x00000000a0000000"),
        "name": Text(lambda: name),
        "offset": Text(lambda: "0x0"),
        "size": Text(lambda: f"0x{size:016x}"),
    }
    return folder
