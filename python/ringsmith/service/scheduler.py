# SPDX-License-Identifier: Apache-2.0
"""Scheduler of jobs: what runs next and where, and who is told. All of it runs in the event loop's thread.

A job is *queued* from its submission until the store has its end; that it runs, and how far it is, is known here only.
So a server that is killed finds in its store exactly the jobs that it has to run again, and what ended has one end.
The queue holds bunches (`job.py`): a job by itself is a bunch of one.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ringsmith.service import cost
from ringsmith.service.arena import Arena
from ringsmith.service.cost import Speed
from ringsmith.service.ends import Ends
from ringsmith.service.job import ENDED, TOGETHER, TOGETHER_SECONDS, Bunch, Job, Key
from ringsmith.service.logs import log
from ringsmith.service.metrics import Metrics
from ringsmith.service.plan import Needs
from ringsmith.service.pool import Hand, Lost, Pool
from ringsmith.service.problems import Problem
from ringsmith.service.rows import End, Row
from ringsmith.service.settings import Settings
from ringsmith.service.store import Store
from ringsmith.service.worker import Done, Failed, Outcomes, Source, Task

#: A job fails when this many workers died while they ran it: it may be the cause.
MAX_ATTEMPTS = 3
#: The end of a job whose program, keys or arguments were deleted.
GONE = Failed("gone", "a blob that the job needs was deleted")


class Scheduler:
    """The queue and the workers."""

    def __init__(self, settings: Settings, store: Store, metrics: Metrics, arena: Arena | None) -> None:
        """Take up the jobs that the store has, and start the workers."""
        self._settings, self._store, self._metrics = settings, store, metrics
        #: Each job without an end; its bunch until a `Job` is made.
        self.jobs: dict[Key, Job | Bunch] = {}
        # Tenants take turns; within one, the oldest bunch first.
        self._waiting: OrderedDict[int, deque[Bunch]] = OrderedDict()
        self._queued = 0  # Jobs in `_waiting`.
        self.speed = Speed(settings.threads)
        self.stopping = False
        self._ends = Ends(store, self._told)
        for row in store.recover(settings.upload_days):
            self._enqueue(Bunch.of(Job(row, self._needs(row), attempts=row.attempts)))
        self.pool = Pool(settings, arena, self.dispatch)
        self.dispatch()

    def _needs(self, row: Row) -> Needs:
        """Return what a stored job needs."""
        facts = self._store.facts(row.program)
        settings = self._settings
        held = cost.held(facts, _stored(self._store, row.keys), settings.threads, settings.worker_key_memory)
        return Needs(row.tenant, row.program, row.keys, row.plain, held, int(facts["cost"]["work"]))

    # ---------------------------------------------------------------- the queue

    def __len__(self) -> int:
        """Return the number of jobs that wait."""
        return self._queued

    def needing(self, tenant: int, digest: bytes) -> str | None:
        """Return the name of a tenant's job that needs a blob."""
        return next((id for (owner, id), one in self.jobs.items() if owner == tenant and one.uses(digest)), None)

    def unfinished(self, tenant: int) -> int:
        """Return the number of a tenant's jobs without an end."""
        return sum(owner == tenant for owner, _ in self.jobs)

    def job(self, key: Key) -> Job | None:
        """Return a job by its key; a bunch that holds it is unfolded first."""
        found = self.jobs.get(key)
        if isinstance(found, Bunch):
            self.unfold(found)
            found = self.jobs[key]
            assert isinstance(found, Job), "an unfolded bunch"
        return found

    def knows(self, keys: Sequence[Key]) -> bool:
        """Return whether one of these is a job without an end."""
        return not self.jobs.keys().isdisjoint(keys)

    def wait_seconds(self) -> float:
        """Return how long the queue takes, by the work in it."""
        work = sum(one.needs.work for one in self.jobs.values())
        return self.speed.seconds(work) / self._settings.workers

    def add(self, bunch: Bunch) -> None:
        """Queue a bunch, for the next `dispatch` to start; Problem if there is no room."""
        if self.stopping:
            raise Problem("stopping", "the server is being stopped", retry_after=5.0)
        if len(self) + len(bunch) > self._settings.queue and self._has_share(bunch.needs.tenant):
            wait = min(max(1.0, self.wait_seconds()), 600.0)
            raise Problem("queue_full", f"{len(self)} jobs wait already", retry_after=wait)
        self._enqueue(bunch)

    def _has_share(self, tenant: int) -> bool:
        """Return whether a tenant fills its equal share: a full queue refuses tenants that filled it, not others."""
        own = sum(map(len, self._waiting.get(tenant, ())))
        return own >= self._settings.queue // len(self._waiting.keys() | {tenant})

    def unfold(self, bunch: Bunch) -> list[Job]:
        """Return the jobs of a bunch; they are known by name from now on."""
        if bunch.jobs is None:
            bunch.unfold()
            self.jobs |= bunch.members()
        return bunch.unfold()

    def _enqueue(self, bunch: Bunch, *, first: bool = False) -> None:
        """Let a bunch wait behind its tenant's others, or before them."""
        self.jobs |= bunch.members()
        waiting = self._waiting.setdefault(bunch.needs.tenant, deque())
        (waiting.appendleft if first else waiting.append)(bunch)
        self._queued += len(bunch)

    def _next(self) -> Bunch | None:
        """Take a bunch out of the queue; None if it is empty."""
        if not self._waiting:
            return None
        tenant, waiting = next(iter(self._waiting.items()))
        bunch = waiting.popleft()
        self._queued -= len(bunch)
        self._waiting.move_to_end(tenant)
        self._prune(tenant)
        return bunch

    def _prune(self, tenant: int) -> None:
        """Forget a tenant of which no bunch waits."""
        if not self._waiting[tenant]:
            del self._waiting[tenant]

    def dispatch(self) -> None:
        """Give waiting bunches to idle workers."""
        while not self.stopping and self.pool.idle((b"", b"")) is not None:
            bunch = self._next()
            if bunch is None:
                return
            hand = self.pool.idle(bunch.needs.name)
            assert hand is not None, "a worker was idle"
            self._join(bunch)
            self._start(bunch, hand)

    def _join(self, bunch: Bunch) -> None:
        """Add to a bunch the jobs that wait behind it and have the same needs, while the whole is short.

        Idle workers share what waits. A job whose worker died runs alone: it may be the cause.
        """
        needs = bunch.needs
        if bunch.jobs is None or bunch.tried or needs.tenant not in self._waiting:
            return
        waiting = self._waiting[needs.tenant]
        idle = sum(hand.ready and not hand.busy for hand in self.pool.hands)
        seconds = max(1e-9, self.speed.run(needs.program, needs.work))
        most = min(TOGETHER, -(-(len(self) + len(bunch)) // idle), int(TOGETHER_SECONDS / seconds))
        while waiting and len(bunch) + len(waiting[0]) <= most:
            other = waiting[0]
            if other.jobs is None or other.tried or other.needs != needs:
                break
            waiting.popleft()
            self._queued -= len(other)
            bunch.join(other)
        self._prune(needs.tenant)

    def _start(self, bunch: Bunch, hand: Hand) -> None:
        task = self._task(bunch, hand)
        if task is None:
            return
        self._metrics.key_loads.labels("held" if task.name in hand.held else "loaded").inc(len(bunch))
        self.pool.start(hand, task, bunch.advance, partial(self._ended, bunch))
        timer = asyncio.get_running_loop().call_later(self._settings.quota.seconds, self._overdue, bunch)
        bunch.start(task.number, timer)

    def _task(self, bunch: Bunch, hand: Hand) -> Task | None:
        """Return what the worker gets; jobs whose blobs were deleted fail, and None is returned if no job is left."""
        needs, source = bunch.needs, self._store.source
        held = needs.name in hand.held
        program, keys = (None if held else source(digest) for digest in needs.name)
        arrays = {argument: self._plain(value) for argument, value in json.loads(needs.plain).items()}
        whole = (held or (program is not None and keys is not None)) and all(one is not None for one in arrays.values())
        found = bunch.inputs(source) if whole else [None] * len(bunch)
        inputs = [one for one in found if one is not None]
        if len(inputs) < len(found):
            self._fail_without(bunch, found)
        names = bunch.names() if bunch.jobs is None else None
        return (
            Task(self.pool.number(), needs.name, program, keys, needs.held, inputs, arrays, names) if inputs else None
        )

    def _fail_without(self, bunch: Bunch, inputs: Sequence[Source | None]) -> None:
        """Take the jobs without inputs out of a bunch, and fail them."""
        pairs = list(zip(self.unfold(bunch), inputs, strict=True))
        bunch.jobs = [job for job, one in pairs if one is not None]
        self._ends.keep([(job, GONE) for job, one in pairs if one is None])

    def _plain(self, value: Any) -> Any:
        """Return a plain argument as a worker takes it: numbers, or the bytes of an array by its hash."""
        return self._store.source(bytes.fromhex(value["blob"])) if isinstance(value, dict) else value

    # ---------------------------------------------------------------- what workers tell

    def _overdue(self, bunch: Bunch) -> None:
        """Stop the job of a bunch that runs: the last whose progress was told."""
        late, limit = self.unfold(bunch)[bunch.progress[0]], self._settings.quota.seconds
        if late.state == "running" and late.stop is None:
            self.stop(late, Problem("over_quota", f"the job ran longer than the {limit:g} seconds granted"))

    def _ended(self, bunch: Bunch, outcomes: Outcomes | Lost) -> None:
        """Answer a bunch that was never unfolded and has all results; otherwise end each of its jobs."""
        if bunch.jobs is None and isinstance(outcomes, Outcomes) and isinstance(outcomes.frames, bytes):
            self._answer(bunch, outcomes, outcomes.frames)
        else:
            self._settle(self.unfold(bunch), outcomes)
        bunch.stop()
        self.dispatch()

    def _answer(self, bunch: Bunch, outcomes: Outcomes, frames: bytes) -> None:
        needs, count = bunch.needs, len(bunch)
        for key in bunch.members():
            del self.jobs[key]
        self.speed.learn(needs.program, needs.work, outcomes.run_seconds / count)
        self._metrics.ended("done", time.time() - bunch.created, count)
        bunch.answer(frames)

    def _settle(self, jobs: list[Job], outcomes: Outcomes | Lost) -> None:
        """Keep the end of each job, or queue it again: its worker died, or another job of its task was cancelled."""
        ends: list[tuple[Job, Done | Failed]] = []
        again: list[Job] = []
        for job, outcome in zip(jobs, _each(outcomes, len(jobs)), strict=True):
            if job.stop is not None:
                if job.stop.code != "job_cancelled":
                    ends.append((job, Failed(job.stop.code, job.stop.message)))
            elif isinstance(outcome, Lost):
                if not self._lost(job, outcome):
                    again.append(job)
            elif isinstance(outcome, Failed) and outcome.cancelled:
                again.append(job)
            else:
                ends.append((job, outcome))
                if isinstance(outcome, Done):
                    self.speed.learn(job.row.program, job.needs.work, outcome.run_seconds)
        for job in reversed(again):
            self._enqueue(Bunch.of(job), first=True)
            job.change()
        self._ends.keep(ends, outcomes)

    def _lost(self, job: Job, lost: Lost) -> bool:
        """Count a worker's death; returns whether that was the job's last try."""
        self._metrics.worker_deaths.inc()
        if lost.begun and not self.stopping:
            job.attempts += 1
            log("worker_died", job=job.row.id, tenant=job.row.tenant, attempts=job.attempts)
            if not job.unkept:
                self._ends.write(self._count_attempt(job))
        if job.attempts >= MAX_ATTEMPTS:
            self._ends.keep([(job, Failed("job_failed", f"{MAX_ATTEMPTS} workers died with this job"))])
            return True
        return False

    async def _count_attempt(self, job: Job) -> None:
        await job.kept_by_store()
        await self._store.count_attempt(*job.key)

    def _told(self, job: Job, state: str, outcome: Done | Failed) -> None:
        """Forget a job that has its end, and wake all who wait for it."""
        if isinstance(outcome, Failed):
            code = "job_cancelled" if state == "cancelled" else "job_failed"
            job.problem = Problem(code, outcome.message, cause=outcome.code)
        elif isinstance(outcome.result, bytes):
            job.result = outcome.result
        if self.jobs.get(job.key) is job:
            del self.jobs[job.key]
        seconds = time.time() - job.row.created
        self._metrics.ended(state, seconds)
        if not job.quiet or state != "done":
            cause = outcome.code if isinstance(outcome, Failed) else None
            log("job_ended", job=job.row.id, tenant=job.row.tenant, state=state, code=cause, seconds=round(seconds, 4))
        job.end(state)

    # ---------------------------------------------------------------- what clients want

    def keep(self, job: Job) -> None:
        """Store a job without waiting for the write."""
        self._ends.write(self._kept(job))

    async def _kept(self, job: Job) -> None:
        with suppress(Exception):  # Its sender is told when it asks.
            await job.kept_by_store()

    def drop(self, job: Job) -> None:
        """Take back a job that the store did not take."""
        self.jobs.pop(job.key, None)
        self._take_out(job)
        job.end("failed")

    def _take_out(self, job: Job) -> None:
        """Take a job out of the queue, or stop the task that runs it."""
        bunch, tenant = job.bunch, job.row.tenant
        if bunch.task:
            job.stop = job.stop or Problem("job_cancelled", "cancelled")
            self.pool.cancel(bunch.task)
        elif bunch in self._waiting.get(tenant, ()):
            bunch.unfold().remove(job)
            self._queued -= 1
            if not bunch:
                self._waiting[tenant].remove(bunch)
                self._prune(tenant)

    def stop(self, job: Job, problem: Problem) -> None:
        """End a running job with a problem."""
        job.stop = problem
        self.pool.cancel(job.bunch.task)

    async def cancel(self, job: Job) -> None:
        """Cancel a job: first in the store, so that it stays so, then where it runs."""
        error = json.dumps({"code": "job_cancelled", "message": "the job was cancelled"})
        await job.kept_by_store()
        if not await self._store.end_job(End(job.row, "cancelled", error)):
            return
        job.stop = Problem("job_cancelled", "the job was cancelled")
        self._take_out(job)
        self._told(job, "cancelled", Failed("job_cancelled", "the job was cancelled", cancelled=True))

    async def ended(self, job: Job, seconds: float) -> bool:
        """Wait up to `seconds` for a job's end; returns whether it has come."""
        deadline = time.monotonic() + seconds
        async for _ in self.watch(job, deadline):
            pass
        return job.state in ENDED

    async def watch(self, job: Job, deadline: float, pulse: float = 3600.0) -> AsyncIterator[bool]:
        """Yield True at changes, False every `pulse` seconds, until the job's end, the deadline or the server's end."""
        event = asyncio.Event()
        job.watchers.add(event)
        try:
            while job.state not in ENDED and not (self.stopping and job.state == "queued"):
                left = min(deadline - time.monotonic(), pulse)
                if left <= 0:
                    return
                try:
                    async with asyncio.timeout(left):
                        await event.wait()
                    event.clear()
                    yield True
                except TimeoutError:
                    yield False
        finally:
            job.watchers.discard(event)

    # ---------------------------------------------------------------- the end

    def begin_stop(self) -> None:
        """Stop; answer all clients of queued jobs."""
        self.stopping = True
        for one in self.jobs.values():
            one.change()

    async def finish(self) -> None:
        """Wait for running jobs within the time granted; the others are in the store and run at the next start."""
        self.begin_stop()
        deadline = time.monotonic() + self._settings.drain_seconds
        while any(hand.busy for hand in self.pool.hands) and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        self.pool.stop()
        while self._ends.writing:
            await asyncio.gather(*self._ends.writing, return_exceptions=True)
        await self.pool.join()


def _each(outcomes: Outcomes | Lost, count: int) -> Sequence[Done | Failed | Lost]:
    if isinstance(outcomes, Lost):
        return [outcomes] * count
    outcomes.unframe()
    return outcomes.each


def _stored(store: Store, digest: bytes) -> int:
    source = store.source(digest)
    if source is None:
        return 0
    return source.stat().st_size if isinstance(source, Path) else len(source)
