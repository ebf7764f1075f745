# SPDX-License-Identifier: Apache-2.0
"""A job that has no end yet, as the scheduler has it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from ringsmith.service.arena import Sent
from ringsmith.service.kinds import Facts
from ringsmith.service.metrics import ENDED
from ringsmith.service.problems import Problem
from ringsmith.service.rows import Row

__all__ = ["ENDED", "LEAST_KEEP", "Job"]
#: Seconds for which a job is kept at least once it is written.
LEAST_KEEP = 3600.0


@dataclass(eq=False, slots=True)
class Job:
    """A job that has no end yet, or whose end is just being written."""

    row: Row
    program: Facts
    #: Bytes in a worker's memory: of the program, and of the keys loaded for it.
    held: tuple[int, int]
    #: Inputs that came with the job, until the store has them, or its end.
    inputs: Sent | None = None
    attempts: int = 0
    state: str = "queued"
    started: float | None = None
    progress: tuple[int, int] = (0, 0)
    task: int = 0
    #: Whether its request says in the log that it was done, for all of its jobs.
    quiet: bool = False
    #: Its end was asked for: `cancelled`, or the problem it fails with.
    stop: Problem | None = None
    result: bytes | None = None
    #: Why it has no result, once it has ended.
    problem: Problem | None = None
    #: Writes the job to the store; None for one that it had.
    keep: Callable[[Job], Awaitable[None]] | None = None
    #: That writing, once it has begun.
    keeping: asyncio.Future[None] | None = None
    timer: asyncio.TimerHandle | None = None
    watchers: set[asyncio.Event] = field(default_factory=set)

    @property
    def key(self) -> tuple[int, str]:
        """Its tenant and name."""
        return self.row.tenant, self.row.id

    @property
    def name(self) -> tuple[bytes, bytes]:
        """The program and the keys that a worker must hold to run it."""
        return self.row.program, self.row.keys

    @property
    def unkept(self) -> bool:
        """Whether the store has nothing of it, and is to have nothing: the answer to its sender is all there is."""
        return self.row.expires <= self.row.created and self.keep is not None and self.keeping is None

    @property
    def unwritten(self) -> bool:
        """Whether nobody was told of it, so that it may be written once, with its end."""
        return self.keep is not None and self.keeping is None

    @property
    def work(self) -> int:
        """Butterflies."""
        return int(self.program["cost"]["work"])

    def to_be_kept(self) -> None:
        """Let the store have it after all, for a while."""
        if self.unkept:
            self.row = self.row._replace(expires=time.time() + LEAST_KEEP)

    async def kept_by_store(self) -> None:
        """Wait until the store has the job, which is when anybody may be told of it; raises what stopped that."""
        if self.keeping is None and self.keep is not None:
            self.to_be_kept()
            self.keeping = asyncio.ensure_future(self.keep(self))
        if self.keeping is not None:
            await asyncio.shield(self.keeping)

    def end(self, state: str) -> None:
        """Have an end: what it was made of is let go, and all who watch are woken."""
        self.state, self.inputs, self.keep = state, None, None
        self.change()

    def change(self) -> None:
        """Wake all who watch."""
        for watcher in self.watchers:
            watcher.set()
