# SPDX-License-Identifier: Apache-2.0
"""Blobs too large for the database: one file each, named by its SHA-256, whole or not there."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_CHUNK = 1 << 20


def make_private(folder: Path) -> None:
    """Make a folder that its owner alone may enter; one that is there loses the permissions of all others.

    Raises:
        OSError: it cannot be made, or belongs to another user.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(folder.stat().st_mode) & 0o077:
        folder.chmod(0o700)


class Files:
    """The folders of blobs and of what is on its way to become one."""

    def __init__(self, store: Path) -> None:
        """Make the folders."""
        self._blobs, self._parts = store / "blobs", store / "parts"
        for folder in (self._blobs, self._parts):
            make_private(folder)

    def blob(self, digest: bytes) -> Path:
        """Return where a blob lies."""
        name = digest.hex()
        return self._blobs / name[:2] / name[2:]

    def part(self, name: str) -> Path:
        """Return where an upload or a worker's result grows; `name` is ours, never a client's."""
        return self._parts / name

    def new_part(self) -> Path:
        """Return a new path for a file."""
        return self.part(secrets.token_hex(16))

    def size_of_part(self, name: str) -> int:
        """Return how many bytes of an upload there are."""
        try:
            return self.part(name).stat().st_size
        except FileNotFoundError:
            return 0

    def tail(self, name: str, count: int) -> bytes:
        """Return the last `count` bytes of an upload, fewer where there are not as many."""
        try:
            with open(self.part(name), "rb") as file:
                file.seek(max(0, self.size_of_part(name) - count))
                return file.read(count)
        except FileNotFoundError:
            return b""

    def append(self, name: str, offset: int, data: bytes) -> int:
        """Write a chunk behind `offset` bytes, on the disk when this returns; nothing of it stays if that fails."""
        handle = os.open(self.part(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                _write(handle, offset, data)
                os.fsync(handle)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(handle, offset)
                raise
        finally:
            os.close(handle)
        return offset + len(data)

    def write_part(self, data: bytes) -> Path:
        """Return a new part file of these bytes, on the disk."""
        path = self.new_part()
        try:
            self.append(path.name, 0, data)
        except OSError:
            with suppress(OSError):
                path.unlink()
            raise
        return path

    def drop_part(self, name: str) -> None:
        """Remove a part."""
        with suppress(FileNotFoundError):
            self.part(name).unlink()

    def settle(self, part: Path, digest: bytes) -> None:
        """Give a finished part its place as a blob, on the disk when this returns; its equal there is replaced."""
        path = self.blob(digest)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        os.replace(part, path)
        for folder in (path.parent, self._blobs):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def drop(self, digest: bytes) -> None:
        """Remove a blob."""
        with suppress(FileNotFoundError):
            self.blob(digest).unlink()

    def sweep(self, known: Iterable[bytes], uploads: Iterable[str]) -> int:
        """Remove what a killed server left: blobs and parts that the database does not know. Returns how many."""
        blobs, parts, removed = {digest.hex() for digest in known}, set(uploads), 0
        for path in self._blobs.glob("??/*"):
            if path.parent.name + path.name not in blobs:
                path.unlink()
                removed += 1
        for path in self._parts.iterdir():
            if path.name not in parts:
                path.unlink()
                removed += 1
        return removed


def _write(handle: int, offset: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(handle, view, offset)
        view, offset = view[written:], offset + written


def own_name() -> bytes:
    """Return a random name for bytes of one job, which are never addressed by content and so not hashed."""
    return secrets.token_bytes(32)


def digest_of(path: Path) -> bytes:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
