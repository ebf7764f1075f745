# SPDX-License-Identifier: Apache-2.0
"""Scheduler of jobs: the next job, its worker, the clients that are told. All of it runs in the event loop's thread.

A job is *queued* from its submission until the store has its end; that it runs, and how far it is, is known here only.
So a server that is killed finds in its store exactly the jobs that it has to run again, and what ended has one end.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ringsmith.service.cost import Speed
from ringsmith.service.kinds import RESULT, Facts
from ringsmith.service.logs import log
from ringsmith.service.metrics import Metrics
from ringsmith.service.pool import Hand, Lost, Pool
from ringsmith.service.problems import Problem
from ringsmith.service.settings import Settings
from ringsmith.service.store import Blob, Row, Store
from ringsmith.service.worker import Done, Failed, Task

#: A job whose worker died so many times fails: it may be what kills them.
MAX_ATTEMPTS = 3
ENDED = ("done", "failed", "cancelled")


@dataclass(eq=False)
class Job:
    """A job that has no end yet, or whose end is just being written."""

    row: Row
    program: Facts
    key_bytes: int
    #: Inputs that came with the job, until the store has them.
    inputs: bytes | None = None
    attempts: int = 0
    state: str = "queued"
    started: float | None = None
    progress: tuple[int, int] = (0, 0)
    task: int = 0
    #: Its end was asked for: `cancelled`, or the problem it fails with.
    stop: Problem | None = None
    result: bytes | None = None
    #: Writes the job to the store; None for one that it had.
    keep: Callable[[], Awaitable[None]] | None = None
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
    def work(self) -> int:
        """Butterflies."""
        return int(self.program["cost"]["work"])

    async def kept_by_store(self) -> None:
        """Wait until the store has the job, which is when anybody may be told of it; raises what stopped that."""
        if self.keeping is None and self.keep is not None:
            self.keeping = asyncio.ensure_future(self.keep())
        if self.keeping is not None:
            await asyncio.shield(self.keeping)

    def change(self) -> None:
        """Wake all who watch."""
        for watcher in self.watchers:
            watcher.set()


class Scheduler:
    """The queue and the workers."""

    def __init__(self, settings: Settings, store: Store, metrics: Metrics) -> None:
        """Take up the jobs that the store has, and start the workers."""
        self._settings, self._store, self._metrics = settings, store, metrics
        self.jobs: dict[tuple[int, str], Job] = {}
        # Tenants take turns; within one, the oldest job first.
        self._waiting: OrderedDict[int, deque[Job]] = OrderedDict()
        self.speed = Speed(settings.threads)
        self.stopping = False
        self._writing: set[asyncio.Task[None]] = set()
        for row in store.recover(settings.upload_days):
            facts = store.facts(row.program)
            self._enqueue(Job(row, facts, int(facts["session"]) + _stored(store, row.keys), attempts=row.attempts))
        self.pool = Pool(settings, self.dispatch)
        self.dispatch()

    # ---------------------------------------------------------------- the queue

    def __len__(self) -> int:
        """Return how many jobs wait."""
        return sum(map(len, self._waiting.values()))

    def of_tenant(self, tenant: int) -> list[Job]:
        """Return a tenant's jobs without an end."""
        return [job for job in self.jobs.values() if job.row.tenant == tenant]

    def wait_seconds(self) -> float:
        """Return how long the queue takes, by the work in it."""
        work = sum(job.work for job in self.jobs.values())
        return self.speed.seconds(work) / self._settings.workers

    def add(self, job: Job) -> None:
        """Queue a new job; Problem if there is no room."""
        if self.stopping:
            raise Problem("stopping", "the server is being stopped", retry_after=5.0)
        if len(self) >= self._settings.queue:
            wait = min(max(1.0, self.wait_seconds()), 600.0)
            raise Problem("queue_full", f"{len(self)} jobs wait already", retry_after=wait)
        self._enqueue(job)
        self.dispatch()

    def _enqueue(self, job: Job) -> None:
        job.state, job.started, job.progress = "queued", None, (0, 0)
        self.jobs[job.key] = job
        self._waiting.setdefault(job.row.tenant, deque()).append(job)

    def _again(self, job: Job) -> None:
        """Put a job whose worker died before all others of its tenant."""
        self._enqueue(job)
        self._waiting[job.row.tenant].rotate(1)

    def _next(self) -> Job | None:
        while self._waiting:
            tenant, jobs = next(iter(self._waiting.items()))
            job = jobs.popleft() if jobs else None
            self._waiting.move_to_end(tenant)
            if not jobs:
                del self._waiting[tenant]
            if job is not None:
                return job
        return None

    def dispatch(self) -> None:
        """Give idle workers what waits."""
        while not self.stopping and self._waiting and self.pool.idle((b"", b"")) is not None:
            job = self._next()
            if job is None:
                return
            hand = self.pool.idle(job.name)
            if hand is not None:
                self._start(job, hand)

    def _start(self, job: Job, hand: Hand) -> None:
        held = job.name in hand.held
        self._metrics.key_loads.labels("held" if held else "loaded").inc()
        sources = [None if held else self._store.source(digest) for digest in job.name]
        inputs = job.inputs if job.inputs is not None else self._store.source(job.row.inputs)
        plain = {name: self._plain(value) for name, value in json.loads(job.row.plain).items()}
        gone = inputs is None or any(value is None for value in plain.values())
        if gone or (not held and None in sources):
            self._end(job, Failed("gone", "a blob that the job needs was deleted"))
            return
        job.task = self.pool.number()
        job.state, job.started = "running", time.time()
        assert inputs is not None
        task = Task(job.task, job.name, sources[0], sources[1], job.key_bytes, inputs, plain)
        self.pool.start(hand, task, lambda *done: self._progress(job, done), lambda outcome: self._ended(job, outcome))
        job.timer = asyncio.get_running_loop().call_later(self._settings.quota.seconds, self._overdue, job, job.task)
        job.change()

    def _plain(self, value: Any) -> Any:
        """Return a plain argument as a worker takes it: numbers, or the bytes of an array by its hash."""
        return self._store.source(bytes.fromhex(value["blob"])) if isinstance(value, dict) else value

    # ---------------------------------------------------------------- what workers tell

    def _progress(self, job: Job, done: tuple[int, ...]) -> None:
        job.progress = (done[0], done[1])
        job.change()

    def _overdue(self, job: Job, task: int) -> None:
        if job.task == task and job.state == "running":
            limit = self._settings.quota.seconds
            self.stop(job, Problem("over_quota", f"the job ran longer than the {limit:g} seconds granted"))

    def _ended(self, job: Job, outcome: Done | Failed | Lost) -> None:
        job.task = 0
        if job.timer is not None:
            job.timer.cancel()
        if isinstance(outcome, Lost) and job.stop is None:
            self._lost(job, outcome)
        elif isinstance(outcome, Done) and job.stop is None:
            self.speed.learn(job.work, outcome.report["run_seconds"])
            self._end(job, outcome)
        elif job.stop is None or job.stop.code != "job_cancelled":
            stopped = job.stop and Failed(job.stop.code, job.stop.message)
            self._end(job, stopped or outcome)  # type: ignore[arg-type]
        self.dispatch()

    def _lost(self, job: Job, lost: Lost) -> None:
        self._metrics.worker_deaths.inc()
        if lost.begun and not self.stopping:
            job.attempts += 1
            log("worker_died", job=job.row.id, tenant=job.row.tenant, attempts=job.attempts)
            self._write(self._count_attempt(job))
        if job.attempts >= MAX_ATTEMPTS:
            self._end(job, Failed("job_failed", f"{MAX_ATTEMPTS} workers died with this job"))
            return
        self._again(job)
        job.change()

    async def _count_attempt(self, job: Job) -> None:
        await job.kept_by_store()
        await self._store.count_attempt(*job.key)

    def _end(self, job: Job, outcome: Done | Failed) -> None:
        job.state = "running"
        self._write(self._keep_end(job, outcome))

    async def _keep_end(self, job: Job, outcome: Done | Failed) -> None:
        started = job.started or time.time()
        # One that nobody was told of is written once, with its end.
        new = job.row if job.keep is not None and job.keeping is None else None
        if new is None:
            try:
                await job.kept_by_store()
            except Exception:
                return  # It was taken back, and its sender told why.
        else:
            job.keeping = asyncio.get_running_loop().create_future()
        try:
            await self._write_end(job, outcome, started, new)
        finally:
            if new is not None and job.keeping is not None:
                job.keeping.set_result(None)

    async def _write_end(self, job: Job, outcome: Done | Failed, started: float, new: Row | None) -> None:
        if isinstance(outcome, Done):
            blob = Blob(outcome.digest, RESULT, outcome.size, outcome.facts)
            report = {**outcome.report, "wait_seconds": started - job.row.created}
            try:
                kept = await self._store.end_job(*job.key, "done", None, (blob, outcome.result), report, new)
                if kept:
                    self._told(job, "done", outcome)
                return
            except Problem as problem:
                outcome = Failed(problem.code, problem.message)
        error = {"code": outcome.code, "message": outcome.message}
        try:
            await self._store.end_job(*job.key, "failed", error, new=new)
        except Problem:
            # Not even that can be written: it stays queued in the store, and whoever waits is told for now.
            log("end_not_kept", job=job.row.id, tenant=job.row.tenant)
        self._told(job, "failed", outcome)

    def _told(self, job: Job, state: str, outcome: Done | Failed) -> None:
        """Forget a job that has its end, and wake all who wait for it."""
        job.state = state
        if isinstance(outcome, Done) and isinstance(outcome.result, bytes):
            job.result = outcome.result
        if self.jobs.get(job.key) is job:
            del self.jobs[job.key]
        self._metrics.jobs.labels(state).inc()
        seconds = time.time() - job.row.created
        self._metrics.job_seconds.observe(seconds)
        code = outcome.code if isinstance(outcome, Failed) else None
        log("job_ended", job=job.row.id, tenant=job.row.tenant, state=state, code=code, seconds=round(seconds, 4))
        job.change()

    def _write(self, writing: Any) -> None:
        task = asyncio.ensure_future(writing)
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    # ---------------------------------------------------------------- what clients want

    def keep(self, job: Job) -> None:
        """Have the store take a job in that nobody waits to be told of."""
        self._write(self._kept(job))

    async def _kept(self, job: Job) -> None:
        with suppress(Exception):  # Its sender is told when it asks.
            await job.kept_by_store()

    def drop(self, job: Job) -> None:
        """Take back a job that the store did not take."""
        self.jobs.pop(job.key, None)
        self._take_out(job)
        job.state = "failed"
        job.change()

    def _take_out(self, job: Job) -> None:
        waiting = self._waiting.get(job.row.tenant)
        if waiting is not None and job in waiting:
            waiting.remove(job)
        elif job.task:
            job.stop = job.stop or Problem("job_cancelled", "cancelled")
            self.pool.cancel(job.task)

    def stop(self, job: Job, problem: Problem) -> None:
        """End a running job with a problem."""
        job.stop = problem
        self.pool.cancel(job.task)

    async def cancel(self, job: Job) -> None:
        """Cancel a job: first in the store, so that it stays so, then where it runs."""
        error = {"code": "job_cancelled", "message": "the job was cancelled"}
        await job.kept_by_store()
        if not await self._store.end_job(*job.key, "cancelled", error):
            return
        job.stop = Problem("job_cancelled", "the job was cancelled")
        self._take_out(job)
        self._told(job, "cancelled", Failed("job_cancelled", "the job was cancelled", cancelled=True))

    async def ended(self, job: Job, seconds: float) -> bool:
        """Wait for a job's end, so many seconds at most; returns whether it has come."""
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
        """Start nothing more; whoever waits for a job that waits is answered."""
        self.stopping = True
        for job in self.jobs.values():
            job.change()

    async def finish(self) -> None:
        """Let running jobs end within the time granted; the others are in the store and run again."""
        self.begin_stop()
        deadline = time.monotonic() + self._settings.drain_seconds
        while any(hand.busy for hand in self.pool.hands) and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        self.pool.stop()
        while self._writing:
            await asyncio.gather(*self._writing, return_exceptions=True)
        await self.pool.join()


def _stored(store: Store, digest: bytes) -> int:
    source = store.source(digest)
    if source is None:
        return 0
    return source.stat().st_size if isinstance(source, Path) else len(source)
