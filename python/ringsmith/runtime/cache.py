# SPDX-License-Identifier: Apache-2.0
"""Sessions with loaded keys, within a limit of bytes: the least recently used is evicted."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")
#: A program's hash, its keys' hash.
Name = tuple[bytes, bytes]


class TooLargeError(Exception):
    """A single entry exceeds the limit."""


class Cache(Generic[V]):
    """Values by name with a size each."""

    def __init__(self, limit: int) -> None:
        """Hold `limit` bytes at most."""
        self.limit, self.size, self.evictions = limit, 0, 0
        self._held: OrderedDict[Name, tuple[V, int]] = OrderedDict()

    def take(self, name: Name, size: int, make: Callable[[], V]) -> tuple[V, bool]:
        """Return the value of a name and whether it was there; else room is made for `size` bytes, then it is made."""
        if name in self._held:
            self._held.move_to_end(name)
            return self._held[name][0], True
        if size > self.limit:
            raise TooLargeError(f"keys of {size} bytes; a worker holds {self.limit}")
        while self.size + size > self.limit:
            _, (_, freed) = self._held.popitem(last=False)
            self.size -= freed
            self.evictions += 1
        value = make()
        self._held[name] = value, size
        self.size += size
        return value, False

    def drop(self, name: Name) -> None:
        """Forget a value."""
        if name in self._held:
            self.size -= self._held.pop(name)[1]

    def names(self) -> list[Name]:
        """Return the entries, the next to evict first."""
        return list(self._held)
