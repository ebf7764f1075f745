# SPDX-License-Identifier: Apache-2.0
"""Short jobs of one request of which nothing is to be kept: queued, evaluated and answered as one.

```
request ── bunches ──> queue ──> worker ── frames of all results ──> answer
              └── unfold: a Job for each, in the state that the bunch is in
```
A `Job` for each is made only when one matters by itself: somebody asks for it by name, it fails, its worker dies, it is
told of before its end. From then on they are jobs like any other, and the bunch is nothing but their list.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from ringsmith.runtime import frames
from ringsmith.service.arena import RESULTS, Sent
from ringsmith.service.cost import Speed
from ringsmith.service.job import Job
from ringsmith.service.plan import Plan

#: Name and arguments of a job.
Named = tuple[str, Sent]
#: Short jobs that go to a worker together: so many at most, of so many seconds in all.
TOGETHER, TOGETHER_SECONDS = 32, 0.04
#: Bytes of a frame beside a result at most: its name has 64 characters.
_HEAD = frames.OVERHEAD + 64


def together(plan: Plan, count: int, workers: int, speed: Speed) -> int:
    """Return how many of so many jobs of a plan make one bunch: what a worker does in one go."""
    facts = plan.program.facts
    seconds = max(1e-9, speed.run(plan.program.digest, int(facts["cost"]["work"])))
    room = RESULTS // (int(facts["result_bytes"]) + _HEAD)
    return min(TOGETHER, -(-count // workers), int(TOGETHER_SECONDS / seconds), room)


class Bunch:
    """Jobs of one plan, none of which anybody knows by name, that are run by one worker one after the other."""

    def __init__(self, plan: Plan, sent: Sequence[Named], make: Callable[[Bunch], list[Job]]) -> None:
        """Take them; `make` makes the jobs that they are."""
        self.plan, self.sent, self._make = plan, sent, make
        self.created = time.time()
        #: The task that runs them, 0 until then.
        self.task = 0
        self.started: float | None = None
        self.timer: asyncio.TimerHandle | None = None
        #: Place of the one that runs, and how many of its operations are done, of how many.
        self.progress = (0, 0, 0)
        #: The answer: a frame for each, once they have ended.
        self.frames: bytes | None = None
        #: What they have become instead.
        self.jobs: list[Job] | None = None
        self.watcher: asyncio.Event | None = None

    def __len__(self) -> int:
        """Return how many they are."""
        return len(self.sent)

    @property
    def tenant(self) -> int:
        """Whose they are."""
        return self.plan.tenant.number

    @property
    def name(self) -> tuple[bytes, bytes]:
        """The program and the keys that a worker must hold to run them."""
        return self.plan.program.digest, self.plan.keys.digest

    @property
    def work(self) -> int:
        """Butterflies of all."""
        return len(self.sent) * int(self.plan.program.facts["cost"]["work"])

    def needs(self, digest: bytes) -> bool:
        """Whether a blob must stay until they have ended."""
        return digest in self.name or digest.hex() in self.plan.plain

    def names(self) -> list[tuple[int, str]]:
        """Return tenant and name of each."""
        tenant = self.tenant
        return [(tenant, id) for id, _ in self.sent]

    def unfolded(self) -> list[Job]:
        """Return the jobs that they are from now on, in the state that they are in."""
        self.jobs = self._make(self)
        for job in self.jobs:
            if self.task:
                job.task, job.state, job.started, job.timer = self.task, "running", self.started, self.timer
        place, *progress = self.progress
        self.jobs[place].progress = (progress[0], progress[1])
        self.change()
        return self.jobs

    def end(self, frames: bytes) -> None:
        """Have an answer; what they were made of is let go."""
        self.frames, self.sent = frames, ()
        self.change()

    def change(self) -> None:
        """Wake who waits for them."""
        if self.watcher is not None:
            self.watcher.set()


class Bunches:
    """All bunches that have no end."""

    def __init__(self) -> None:
        """Start with none."""
        #: Each by the tenant and the name of each of its jobs.
        self.named: dict[tuple[int, str], Bunch] = {}

    def add(self, bunch: Bunch) -> None:
        """Know one by the names in it."""
        self.named.update(dict.fromkeys(bunch.names(), bunch))

    def remove(self, bunch: Bunch) -> None:
        """Know it no more."""
        for name in bunch.names():
            del self.named[name]

    def each(self) -> set[Bunch]:
        """Return each once."""
        return set(self.named.values())

    def count(self, tenant: int) -> int:
        """Return how many jobs of a tenant are in bunches."""
        return sum(len(bunch) for bunch in self.each() if bunch.tenant == tenant)

    def needing(self, tenant: int, digest: bytes) -> str | None:
        """Return the name of a tenant's job that needs a blob."""
        needing = (name for (owner, name), bunch in self.named.items() if owner == tenant and bunch.needs(digest))
        return next(needing, None)
