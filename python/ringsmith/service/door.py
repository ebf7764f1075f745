# SPDX-License-Identifier: Apache-2.0
"""Which connections a server keeps when there are more than it has room for.

A connection has no owner until a request with a valid API key came over it. When all places are taken, a new one
takes the place of the oldest connection without an owner, from the address that has most of these; where all have
owners, that of an idle one, of the tenant that has most idle ones. So a flood without a key pushes out itself, and a
client with a key is served in the time that its first request takes.
"""

from __future__ import annotations

import resource
from collections import Counter
from typing import Protocol

#: Handles of the process beside its connections: database, log, lock, loop, arena; and of each worker.
_OWN_HANDLES, _WORKER_HANDLES = 64, 8
#: Handles of a connection: its own, and that of a file which is read or written for it.
_HANDLES = 2


class Line(Protocol):
    """A connection."""

    #: Where it comes from.
    address: str
    #: Number of the tenant whose API key came over it.
    tenant: int | None

    @property
    def busy(self) -> bool:
        """Whether a request is under way."""

    def turn_away(self) -> None:
        """Answer that there is no room, and close it."""


def room_for(wanted: int, workers: int) -> int:
    """Return how many connections fit the limit of open files, which is raised as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    own = _OWN_HANDLES + _WORKER_HANDLES * workers
    needed = own + _HANDLES * wanted
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return wanted
    return max(1, min(wanted, (soft - own) // _HANDLES))


class Door:
    """The connections of a server, in the order in which they came."""

    def __init__(self, most: int) -> None:
        """Keep at most `most`, a quarter of them from one address without a key."""
        self.most, self._most_unknown = most, max(1, most // 4)
        self._lines: dict[Line, None] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._lines)

    def enter(self, line: Line) -> None:
        """Let a connection in; it, or one that makes room for it, is turned away where there is none."""
        unknown = [other for other in self._lines if other.tenant is None] if self._is_tight() else []
        same = [other for other in unknown if other.address == line.address]
        self._lines[line] = None
        if len(same) >= self._most_unknown:
            self._turn_away(same[0])
        elif len(self._lines) > self.most:
            self._turn_away(self._least(unknown) or line)

    def leave(self, line: Line) -> None:
        """Forget a connection that is closed."""
        self._lines.pop(line, None)

    def _is_tight(self) -> bool:
        return len(self._lines) >= min(self.most, self._most_unknown)

    def _least(self, unknown: list[Line]) -> Line | None:
        """Return the connection that makes room; None where all have a key and a request under way."""
        if unknown:
            counts = Counter(line.address for line in unknown)
            return next(line for line in unknown if counts[line.address] == max(counts.values()))
        idle = [line for line in self._lines if line.tenant is not None and not line.busy]
        owners = Counter(line.tenant for line in idle)
        return next((line for line in idle if owners[line.tenant] == max(owners.values())), None)

    def _turn_away(self, line: Line) -> None:
        self._lines.pop(line, None)
        line.turn_away()
