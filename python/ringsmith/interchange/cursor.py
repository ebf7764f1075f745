# SPDX-License-Identifier: Apache-2.0
"""Reading bytes that a stranger may have written: nothing beyond their end, no array before its bytes are there."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from ringsmith.errors import FormatError

Words = npt.NDArray[np.uint64]


class Cursor:
    """A place in bytes. What it takes is a view of them, not a copy."""

    def __init__(self, data: bytes | memoryview, library: str) -> None:
        """Start at the front; `library` names the format in errors."""
        self.data = memoryview(data)
        self.library = library
        self.at = 0
        #: The version of the library that wrote them, where a header says it.
        self.version = (0, 0)

    @property
    def left(self) -> int:
        """Bytes that are left."""
        return len(self.data) - self.at

    def fail(self, text: str) -> FormatError:
        """Return the error of these bytes."""
        return FormatError(f"{self.library} bytes: {text}")

    def take(self, count: int, what: str) -> memoryview:
        """Return the next bytes. Raises FormatError where fewer are left."""
        if count > self.left:
            raise self.fail(f"truncated: {what} needs {count} bytes, {self.left} are left")
        found = self.data[self.at : self.at + count]
        self.at += count
        return found

    def unpack(self, form: str, what: str) -> tuple[int | float, ...]:
        """Return fields of a `struct` form, little-endian."""
        return struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}"), what))

    def number(self, what: str, size: int = 8) -> int:
        """Return an unsigned integer."""
        return int.from_bytes(self.take(size, what), "little")

    def ranged(self, what: str, low: int, high: int, size: int = 8) -> int:
        """Return an unsigned integer from low to high. Raises FormatError for any other."""
        value = self.number(what, size)
        if not low <= value <= high:
            raise self.fail(f"{what} is {value}; allowed: {low} to {high}")
        return value

    def words(self, count: int, what: str) -> Words:
        """Return `count` integers of 64 bits."""
        return np.frombuffer(self.take(8 * count, what), dtype="<u8")

    def finish(self) -> None:
        """Raise FormatError unless all bytes were taken."""
        if self.left:
            raise self.fail(f"{self.left} bytes are left over after the end of the object")
