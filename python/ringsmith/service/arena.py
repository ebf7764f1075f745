# SPDX-License-Identifier: Apache-2.0
"""Memory that the server and its workers share: bodies are received into it and read where they lie.

```
client ── socket ──> slot of the arena <── worker reads a message, by its place
```
A slot is free again when nothing of the server refers to its body any more: its request, and every job in it, has its
end.
"""

from __future__ import annotations

import logging
import mmap
import os
from multiprocessing import reduction
from typing import Any

from ringsmith.runtime import frames
from ringsmith.service.logs import log

#: Bytes of one worker's results.
RESULTS = 1 << 20


#: Where bytes lie in the arena: their start, and how many they are.
Place = tuple[int, int]


class Arena:
    """Slots of one size, and room for the results of each worker; memory is taken when it is first used."""

    def __init__(self, slots: int, size: int, workers: int = 0, handle: int | None = None) -> None:
        """Make it; `handle`: one that another process made."""
        self._slots, self._size, self._workers = slots, size, workers
        self._handle = os.memfd_create("ringsmith-arena", os.MFD_CLOEXEC) if handle is None else handle
        whole = slots * size + workers * RESULTS
        if handle is None:
            os.ftruncate(self._handle, whole)
        self._memory = memoryview(mmap.mmap(self._handle, whole))
        self._free = list(range(slots))

    def take(self, length: int) -> Body | None:
        """Return room for a body; None if it is too long or all slots are in use."""
        if length > self._size or not self._free:
            return None
        return Body(self, self._free.pop(), length)

    def give_back(self, slot: int) -> None:
        """Take a slot back; the one used last is used next."""
        self._free.append(slot)

    def at(self, place: int, length: int) -> memoryview:
        """Return bytes by their place."""
        return self._memory[place : place + length]

    def start(self, slot: int) -> int:
        """Return a slot's place."""
        return slot * self._size

    def results(self, worker: int) -> Results:
        """Return a worker's room for results."""
        return Results(self, self._slots * self._size + worker * RESULTS)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pass it to a process that is being started."""
        return _opened, (self._slots, self._size, self._workers, reduction.DupFd(self._handle))


def _opened(slots: int, size: int, workers: int, handle: Any) -> Arena:
    return Arena(slots, size, workers, handle.detach())


class Results:
    """A worker's room for the results of one task, which the server copies before it sends the next."""

    def __init__(self, arena: Arena, start: int) -> None:
        """Begin at a place."""
        self._arena, self._start, self._used = arena, start, 0
        #: Results of this task that are in frames.
        self.frames = 0

    def clear(self) -> None:
        """Begin a task."""
        self._used = self.frames = 0

    def put(self, data: bytes, name: str | None) -> Place | None:
        """Return where the bytes are now, behind the head of a frame if they have a name; None if they have no room."""
        head = b"" if name is None else frames.head(name, 200, len(data))
        if self._used + len(head) + len(data) > RESULTS:
            return None
        start = self._start + self._used
        place = start + len(head), len(data)
        self._arena.at(start, len(head))[:] = head
        self._arena.at(*place)[:] = data
        self._used += len(head) + len(data)
        self.frames += name is not None
        return place

    def whole(self) -> Place:
        """Return where all of them are."""
        return self._start, self._used


def shared(slots: int, size: int, workers: int) -> Arena | None:
    """Return a new arena; None where the system has none to give: bodies are then copied."""
    try:
        return Arena(slots, size, workers)
    except (OSError, AttributeError, ValueError) as error:
        log("no_arena", logging.WARNING, kind=type(error).__name__)
        return None


class Body:
    """A body in a slot, which is given back with the last reference to this."""

    def __init__(self, arena: Arena, slot: int, length: int) -> None:
        """Hold a slot."""
        self._arena, self._slot = arena, slot
        self.start = arena.start(slot)
        self.view = arena.at(self.start, length)

    def part(self, start: int, length: int) -> Lent:
        """Return a part of it, which keeps the whole."""
        return Lent(self, (self.start + start, length), self.view[start : start + length])

    def __del__(self) -> None:
        """Give the slot back."""
        self._arena.give_back(self._slot)


class Lent:
    """Bytes of a body, which keep the whole of it in its slot. A worker is told their `place`."""

    __slots__ = ("_body", "place", "view")

    def __init__(self, body: Body, place: Place, view: memoryview) -> None:
        """Refer to them."""
        self._body, self.place, self.view = body, place, view

    def __len__(self) -> int:
        """Return how many they are."""
        return len(self.view)


#: Arguments that came with a job, copied or where they were received.
Sent = bytes | Lent


def view_of(sent: Sent) -> bytes | memoryview:
    """Return their bytes, of which no copy is made."""
    return sent.view if isinstance(sent, Lent) else sent
