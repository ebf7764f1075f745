# SPDX-License-Identifier: Apache-2.0
"""Jobs that have no end yet, and the bunches in which they wait and run.

```
request ──> bunch ──> queue ──> worker ──┬─ frames of all results ──> answer           a bunch without `Job`s
                                         └─ an outcome for each ──> `Job` ──> store, watchers
```
A bunch is what the queue holds and what a worker gets: jobs that differ in their inputs only, evaluated one after the
other. A job submitted by itself is a bunch of one. Short jobs of one request of which nothing is kept have no `Job`
at first, only a name and inputs. `unfold` makes a `Job` for each when one matters by itself: its owner asks for it by
name, it fails, its worker dies, or its sender is answered before its end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ringsmith.runtime import frames
from ringsmith.service.arena import RESULTS, Lent, Sent
from ringsmith.service.cost import Speed
from ringsmith.service.metrics import ENDED
from ringsmith.service.plan import Needs
from ringsmith.service.problems import Problem
from ringsmith.service.rows import Row
from ringsmith.service.worker import Source

__all__ = ["ENDED", "LEAST_KEEP", "Bunch", "Job", "Key", "Named", "together"]
#: Seconds for which a job is kept at least once it is written.
LEAST_KEEP = 3600.0
#: Most jobs of a bunch, and most seconds that a bunch of several takes.
TOGETHER, TOGETHER_SECONDS = 32, 0.04
#: Most bytes of a frame besides its result: its name has up to 64 characters.
_HEAD = frames.OVERHEAD + 64
#: Tenant and name of a job.
Key = tuple[int, str]
#: Name and arguments of a job.
Named = tuple[str, Sent]


@dataclass(eq=False, slots=True)
class Job:
    """A job that has no end yet, or whose end is being written."""

    row: Row
    needs: Needs
    #: Inputs that came with the job, until the store has them or the job has ended.
    inputs: Sent | None = None
    #: Workers that died while they ran it.
    attempts: int = 0
    state: str = "queued"
    #: Operations done, and all of them.
    progress: tuple[int, int] = (0, 0)
    #: Its end is not logged: one line of its request stands for all jobs.
    quiet: bool = False
    #: The problem with which it is to end: cancelled, or over its quota.
    stop: Problem | None = None
    result: bytes | None = None
    #: Why it has no result, once it has ended.
    problem: Problem | None = None
    #: Writes the job to the store; None for one that came from there.
    keep: Callable[[Job], Awaitable[None]] | None = None
    #: That writing, once it has begun.
    keeping: asyncio.Future[None] | None = None
    #: Where it waits or runs, or ran last.
    bunch: Bunch = field(init=False)
    watchers: set[asyncio.Event] = field(default_factory=set)

    @property
    def key(self) -> Key:
        """Its tenant and name."""
        return self.row.tenant, self.row.id

    @property
    def unkept(self) -> bool:
        """Whether the store has no record of it and needs none: its result goes only to its sender."""
        return self.row.expires <= self.row.created and self.unwritten

    @property
    def unwritten(self) -> bool:
        """Whether writing it has not begun, so that job and end can be written at once."""
        return self.keep is not None and self.keeping is None

    def uses(self, digest: bytes) -> bool:
        """Return whether a blob must stay until the job has ended."""
        return digest == self.row.inputs or self.needs.has(digest)

    def to_be_kept(self) -> None:
        """Keep a job that was not to be kept for `LEAST_KEEP` seconds."""
        if self.unkept:
            self.row = self.row._replace(expires=time.time() + LEAST_KEEP)

    async def kept_by_store(self) -> None:
        """Wait until the store has the job: its state may be told only then. Raises what stopped the writing."""
        if self.keeping is None and self.keep is not None:
            self.to_be_kept()
            self.keeping = asyncio.ensure_future(self.keep(self))
        if self.keeping is not None:
            await asyncio.shield(self.keeping)

    def end(self, state: str) -> None:
        """Finish: free the inputs, notify the watchers."""
        self.state, self.inputs, self.keep = state, None, None
        self.change()

    def change(self) -> None:
        """Notify the watchers."""
        for watcher in self.watchers:
            watcher.set()


class Bunch:
    """Jobs of one tenant with the same needs: one entry of the queue, one task of a worker."""

    def __init__(self, needs: Needs, sent: Sequence[Named], make: Callable[[Bunch], list[Job]]) -> None:
        """Hold jobs by name and inputs; `make` makes a `Job` of each."""
        self.needs, self.sent, self._make = needs, sent, make
        self.created = time.time()
        #: Number of the task that runs them; 0 while they wait, and afterwards.
        self.task = 0
        self.started: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        #: Place in the bunch of the job that runs, its operations done, and all of them.
        self.progress = (0, 0, 0)
        #: The answer of a bunch that was never unfolded: a frame for each job.
        self.frames: bytes | None = None
        #: The jobs, once they are made.
        self.jobs: list[Job] | None = None
        #: Set at the end, and when the jobs are made.
        self.watcher: asyncio.Event | None = None

    @classmethod
    def of(cls, job: Job) -> Bunch:
        """Return the bunch of one job, which is queued from now on."""
        bunch = cls(job.needs, (), lambda _: [job])
        bunch.unfold()
        return bunch

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.sent) if self.jobs is None else len(self.jobs)

    @property
    def tried(self) -> bool:
        """Whether a worker died with one of the jobs."""
        return any(job.attempts for job in self.jobs or ())

    def uses(self, digest: bytes) -> bool:
        """Return whether a blob must stay until the jobs have ended."""
        return self.needs.has(digest)

    def names(self) -> list[str]:
        """Return the name of each job that is not made yet."""
        return [id for id, _ in self.sent]

    def members(self) -> dict[Key, Job | Bunch]:
        """Return each job by its key; the bunch itself in place of those that are not made."""
        if self.jobs is None:
            return dict.fromkeys(((self.needs.tenant, id) for id in self.names()), self)
        return {job.key: job for job in self.jobs}

    def unfold(self) -> list[Job]:
        """Return the jobs; make them first, in the bunch's state, if they are not made yet."""
        if self.jobs is None:
            self.jobs, self.sent = self._make(self), ()
            self._adopt(self.jobs)
            if self.task:
                place, done, total = self.progress
                self.jobs[place].progress = done, total
            self.change()
        return self.jobs

    def join(self, other: Bunch) -> None:
        """Take over the jobs of another bunch that waits; both are unfolded."""
        jobs = other.unfold()
        self._adopt(jobs)
        self.unfold().extend(jobs)

    def _adopt(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            job.bunch, job.state, job.progress = self, "running" if self.task else "queued", (0, 0)

    def inputs(self, stored: Callable[[bytes], Source | None]) -> list[Source | None]:
        """Return where a worker finds the inputs of each job; None where the store (`stored`) lacks them."""
        if self.jobs is None:
            return [_source(sent) for _, sent in self.sent]
        return [stored(job.row.inputs) if job.inputs is None else _source(job.inputs) for job in self.jobs]

    def start(self, task: int, timer: asyncio.TimerHandle) -> None:
        """Run from now on, as a task."""
        self.task, self.started, self._timer = task, time.time(), timer
        self.progress = (0, 0, 0)
        for job in self.jobs or ():
            job.state = "running"
            job.change()

    def advance(self, place: int, done: int, total: int) -> None:
        """Record the progress of the job at a place."""
        self.progress = place, done, total
        if self.jobs is not None:
            self.jobs[place].progress = done, total
            self.jobs[place].change()

    def stop(self) -> None:
        """Run no more."""
        self.task = 0
        if self._timer is not None:
            self._timer.cancel()

    def answer(self, frames: bytes) -> None:
        """Store the answer and free the inputs."""
        self.frames, self.sent = frames, ()
        self.change()

    def change(self) -> None:
        """Notify the watcher of the bunch; its jobs have their own."""
        if self.watcher is not None:
            self.watcher.set()


def _source(sent: Sent) -> Source:
    return sent.place if isinstance(sent, Lent) else sent


def together(needs: Needs, result_bytes: int, count: int, workers: int, speed: Speed) -> int:
    """Return how many jobs, of `count` new ones with the same needs, make one bunch: what a worker does in one go."""
    seconds = max(1e-9, speed.run(needs.program, needs.work))
    room = RESULTS // (result_bytes + _HEAD)
    return min(TOGETHER, -(-count // workers), int(TOGETHER_SECONDS / seconds), room)
