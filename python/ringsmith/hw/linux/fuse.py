# SPDX-License-Identifier: Apache-2.0
"""A file system in this process, by the kernel's own protocol at /dev/fuse (include/uapi/linux/fuse.h, version 7).

As much of it as device files and attributes take: reads that wait, writes, poll, symbolic links; nothing is created or
renamed. Reads and writes reach a file as they are made (FOPEN_DIRECT_IO). A file may be mapped; it has no pages then,
so an access to a mapping is a bus error (see `trap.cpp`).
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ringsmith.errors import ToolError

_IN, _OUT = struct.Struct("<IIQQIIIHH"), struct.Struct("<IiQ")
_ATTR = struct.Struct("<6Q10I")
_ENTRY, _ATTR_OUT = struct.Struct("<QQQQII"), struct.Struct("<QII")
_READ, _POLL = struct.Struct("<QQII"), struct.Struct("<QQII")
_DIRENT = struct.Struct("<QQII")
_INIT_OUT = struct.Struct("<IIIIHHIIHHII24x")

_LOOKUP, _FORGET, _GETATTR, _SETATTR, _READLINK, _OPEN, _READ_OP, _WRITE_OP = 1, 2, 3, 4, 5, 14, 15, 16
_STATFS, _RELEASE, _FSYNC, _FLUSH, _INIT, _OPENDIR, _READDIR, _RELEASEDIR = 17, 18, 20, 25, 26, 27, 28, 29
_INTERRUPT, _DESTROY, _POLL_OP, _BATCH_FORGET = 36, 38, 40, 42
#: Opcodes without an answer.
_SILENT = (_FORGET, _BATCH_FORGET)
_DIRECT_IO = 1
#: Large transfers; more flags follow; direct files can be mapped.
_BIG_WRITES, _MAX_PAGES, _INIT_EXT = 1 << 5, 1 << 22, 1 << 30
_ALLOW_MMAP = 1 << 36 - 32
_NOTIFY_POLL = 1
_POLLIN, _POLLOUT = 1, 4
#: Bytes of a request's data, and of a request.
MOST = 1 << 20
_REQUEST = MOST + (1 << 16)
_MNT_DETACH, _NOSUID, _NODEV = 2, 2, 4
ROOT = 1


class Waiting(Exception):  # noqa: N818 # no error: the answer comes later
    """A read has nothing yet: the file answers it later."""


class Node:
    """A file. What it does not have is refused as the kernel refuses it."""

    def read(self, offset: int, size: int) -> bytes:
        """Read; raises OSError, or Waiting, after which `answer` is called with the reader's `ticket`."""
        raise OSError(errno.EINVAL, f"no reads of {size} bytes at {offset}")

    def write(self, offset: int, data: bytes) -> int:
        """Write; the number of bytes taken."""
        raise OSError(errno.EINVAL, f"no writes of {len(data)} bytes at {offset}")

    def readable(self) -> bool:
        """Whether a read would not wait."""
        return True


@dataclass
class Folder(Node):
    """A folder of nodes by name."""

    entries: dict[str, Node] = field(default_factory=dict)

    def at(self, path: str) -> Folder:
        """A folder inside, made where there is none."""
        inside = self
        for name in path.split("/"):
            made = inside.entries.setdefault(name, Folder())
            assert isinstance(made, Folder)
            inside = made
        return inside


@dataclass
class Link(Node):
    """A symbolic link."""

    target: str


@dataclass
class Text(Node):
    """An attribute: what it reads, and what a write of a text does."""

    show: Callable[[], str]
    store: Callable[[str], None] | None = None

    def read(self, offset: int, size: int) -> bytes:
        """Read the text and the end of its line."""
        return f"{self.show()}\n".encode()[offset : offset + size]

    def write(self, offset: int, data: bytes) -> int:
        """Take a text."""
        if self.store is None or offset:
            raise OSError(errno.EACCES, "read only")
        self.store(data.decode().strip())
        return len(data)


def unmount(mount: Path) -> None:
    """Take a tree away, in use or not, also one whose server is gone."""
    ctypes.CDLL(None).umount2(os.fsencode(mount), _MNT_DETACH)


class FileSystem:
    """A mounted tree; `serve` answers one request."""

    def __init__(self, root: Folder, mount: Path) -> None:
        """Mount a tree. Raises ToolError where this system or user mounts nothing."""
        self.mount = mount
        self._nodes: dict[int, Node] = {ROOT: root}
        self._numbers = {id(root): ROOT}
        self._reads: dict[int, tuple[Node, int, int]] = {}
        self._polls: dict[int, Node] = {}
        try:
            self.descriptor = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise ToolError(f"/dev/fuse cannot be opened: {os.strerror(error.errno or errno.EIO)}") from None
        options = f"fd={self.descriptor},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
        if ctypes.CDLL(None, use_errno=True).mount(
            b"ringsmith", os.fsencode(mount), b"fuse", _NOSUID | _NODEV, options.encode()
        ):
            why = os.strerror(ctypes.get_errno())
            os.close(self.descriptor)
            raise ToolError(f"a file system cannot be mounted at {mount}: {why}")

    def close(self) -> None:
        """Take the tree away, in use or not."""
        unmount(self.mount)
        os.close(self.descriptor)

    def serve(self) -> None:
        """Answer one request; raises EOFError when the tree is no longer mounted."""
        try:
            request = os.read(self.descriptor, _REQUEST)
        except OSError as error:
            if error.errno == errno.ENODEV:
                raise EOFError from None
            if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                return
            raise
        _, opcode, unique, number, *_ = _IN.unpack_from(request)
        body = request[_IN.size :]
        if opcode in _SILENT:
            return
        if opcode == _INTERRUPT:
            self._interrupt(struct.unpack_from("<Q", body)[0])
            return
        try:
            self._reply(unique, 0, self._answer(opcode, unique, self._nodes[number] if number else None, body))
        except Waiting:
            return
        except OSError as error:
            self._reply(unique, -(error.errno or errno.EIO))

    def wake(self, node: Node) -> None:
        """Answer reads of a node that waited, and tell who polls it."""
        for unique, (waiting, offset, size) in list(self._reads.items()):
            if waiting is node and node.readable():
                del self._reads[unique]
                self._reply(unique, 0, node.read(offset, size))
        for handle, polled in list(self._polls.items()):
            if polled is node and node.readable():
                del self._polls[handle]
                self._reply(0, _NOTIFY_POLL, struct.pack("<Q", handle))

    def _reply(self, unique: int, error: int, data: bytes = b"") -> None:
        try:
            os.write(self.descriptor, _OUT.pack(_OUT.size + len(data), error, unique) + data)
        except OSError as failure:
            # The one who asked is gone.
            if failure.errno not in (errno.ENOENT, errno.ENODEV):
                raise

    def _interrupt(self, unique: int) -> None:
        if self._reads.pop(unique, None) is not None:
            self._reply(unique, -errno.EINTR)

    def _answer(self, opcode: int, unique: int, node: Node | None, body: bytes) -> bytes:
        if opcode == _INIT:
            return self._init(body)
        if node is None or opcode in (_RELEASE, _RELEASEDIR, _FLUSH, _FSYNC, _DESTROY):
            return b""
        if opcode == _STATFS:
            return bytes(80)
        if opcode in (_GETATTR, _SETATTR):
            return _ATTR_OUT.pack(0, 0, 0) + self._attributes(node)
        if opcode == _LOOKUP:
            return self._lookup(node, body[:-1].decode())
        if opcode == _READLINK and isinstance(node, Link):
            return node.target.encode()
        if opcode in (_OPEN, _OPENDIR):
            return struct.pack("<QII", self._number(node), _DIRECT_IO if opcode == _OPEN else 0, 0)
        if opcode == _READDIR:
            _, offset, size, _ = _READ.unpack_from(body)
            return self._listing(node, offset, size)
        if opcode == _READ_OP:
            return self._read(unique, node, body)
        if opcode == _WRITE_OP:
            _, offset, size, _ = _READ.unpack_from(body)
            return struct.pack("<II", node.write(offset, body[40 : 40 + size]), 0)
        if opcode == _POLL_OP:
            return self._poll(node, body)
        raise OSError(errno.ENOSYS, f"no operation {opcode}")

    def _init(self, body: bytes) -> bytes:
        _, minor, readahead, flags = struct.unpack_from("<4I", body)
        wanted = flags & (_BIG_WRITES | _MAX_PAGES | _INIT_EXT)
        offered = struct.unpack_from("<I", body, 16)[0] if flags & _INIT_EXT else 0
        pages = MOST // os.sysconf("SC_PAGESIZE")
        return _INIT_OUT.pack(7, min(minor, 36), readahead, wanted, 16, 12, MOST, 1, pages, 0, offered & _ALLOW_MMAP, 0)

    def _number(self, node: Node) -> int:
        number = self._numbers.setdefault(id(node), len(self._numbers) + 1)
        self._nodes[number] = node
        return number

    def _attributes(self, node: Node) -> bytes:
        kind = stat.S_IFDIR if isinstance(node, Folder) else stat.S_IFLNK if isinstance(node, Link) else stat.S_IFREG
        mode = kind | (0o755 if isinstance(node, Folder) else 0o777 if isinstance(node, Link) else 0o666)
        return _ATTR.pack(self._number(node), *[0] * 8, mode, 1, os.getuid(), os.getgid(), 0, 4096, 0)

    def _lookup(self, node: Node, name: str) -> bytes:
        if not isinstance(node, Folder):
            raise OSError(errno.ENOTDIR, name)
        if name not in node.entries:
            raise OSError(errno.ENOENT, name)
        found = node.entries[name]
        return _ENTRY.pack(self._number(found), 0, 0, 0, 0, 0) + self._attributes(found)

    def _listing(self, node: Node, offset: int, size: int) -> bytes:
        assert isinstance(node, Folder)
        listed = b""
        for place, (name, entry) in list(enumerate(node.entries.items(), 1))[offset:]:
            text = name.encode()
            one = _DIRENT.pack(self._number(entry), place, len(text), 0) + text
            one += bytes(-len(one) % 8)
            if len(listed) + len(one) > size:
                break
            listed += one
        return listed

    def _read(self, unique: int, node: Node, body: bytes) -> bytes:
        _, offset, size, _ = _READ.unpack_from(body)
        try:
            return node.read(offset, size)
        except Waiting:
            self._reads[unique] = (node, offset, size)
            raise

    def _poll(self, node: Node, body: bytes) -> bytes:
        _, handle, flags, _ = _POLL.unpack_from(body)
        if not node.readable() and flags & 1:
            self._polls[handle] = node
        return struct.pack("<II", (_POLLIN if node.readable() else 0) | _POLLOUT, 0)
