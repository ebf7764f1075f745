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
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ringsmith.runtime.cache import Name
from ringsmith.service import cost
from ringsmith.service.arena import Arena, Lent
from ringsmith.service.bunch import TOGETHER, TOGETHER_SECONDS, Bunch, Bunches
from ringsmith.service.cost import Speed
from ringsmith.service.ends import Ends
from ringsmith.service.job import ENDED, Job
from ringsmith.service.logs import log
from ringsmith.service.metrics import Metrics
from ringsmith.service.pool import Hand, Lost, Pool
from ringsmith.service.problems import Problem
from ringsmith.service.rows import End
from ringsmith.service.settings import Settings
from ringsmith.service.store import Store
from ringsmith.service.worker import Done, Failed, Outcomes, Source, Task

#: A job whose worker died so many times fails: it may be what kills them.
MAX_ATTEMPTS = 3


class Scheduler:
    """The queue and the workers."""

    def __init__(self, settings: Settings, store: Store, metrics: Metrics, arena: Arena | None) -> None:
        """Take up the jobs that the store has, and start the workers."""
        self._settings, self._store, self._metrics = settings, store, metrics
        self.jobs: dict[tuple[int, str], Job] = {}
        # Tenants take turns; within one, the oldest job first.
        self._waiting: OrderedDict[int, deque[Job | Bunch]] = OrderedDict()
        self.bunches = Bunches()
        self._more = 0  # Jobs in bunches that wait beyond one for each bunch.
        self.speed = Speed(settings.threads)
        self.stopping = False
        self._ends = Ends(store, self._told)
        for row in store.recover(settings.upload_days):
            facts = store.facts(row.program)
            held = cost.held(facts, _stored(store, row.keys), settings.threads)
            self._enqueue(Job(row, facts, held, attempts=row.attempts))
        self.pool = Pool(settings, arena, self.dispatch)
        self.dispatch()

    # ---------------------------------------------------------------- the queue

    def __len__(self) -> int:
        """Return how many jobs wait."""
        return sum(map(len, self._waiting.values())) + self._more

    def of_tenant(self, tenant: int) -> list[Job]:
        """Return a tenant's jobs without an end."""
        return [job for job in self.jobs.values() if job.row.tenant == tenant]

    def unfinished(self, tenant: int) -> int:
        """Return how many jobs of a tenant have no end, in bunches or not."""
        return len(self.of_tenant(tenant)) + self.bunches.count(tenant)

    def job(self, key: tuple[int, str]) -> Job | None:
        """Return the job of a tenant and a name; one of a bunch becomes a job by being asked for."""
        if key in self.bunches.named:
            self.unfold(self.bunches.named[key])
        return self.jobs.get(key)

    def knows(self, keys: Sequence[tuple[int, str]]) -> bool:
        """Whether one of these is a job without an end."""
        return not (self.bunches.named.keys().isdisjoint(keys) and self.jobs.keys().isdisjoint(keys))

    def wait_seconds(self) -> float:
        """Return how long the queue takes, by the work in it."""
        work = sum(job.work for job in self.jobs.values()) + sum(bunch.work for bunch in self.bunches.each())
        return self.speed.seconds(work) / self._settings.workers

    def add(self, job: Job) -> None:
        """Queue a new job, for the next `dispatch` to start; Problem if there is no room."""
        if self.stopping:
            raise Problem("stopping", "the server is being stopped", retry_after=5.0)
        if len(self) >= self._settings.queue and self._has_share(job.row.tenant):
            wait = min(max(1.0, self.wait_seconds()), 600.0)
            raise Problem("queue_full", f"{len(self)} jobs wait already", retry_after=wait)
        self._enqueue(job)

    def _has_share(self, tenant: int) -> bool:
        """Whether a tenant has an equal share of the queue: a full queue turns away who filled it, not the others."""
        own = sum(len(one) if isinstance(one, Bunch) else 1 for one in self._waiting.get(tenant, ()))
        return own >= self._settings.queue // len(self._waiting.keys() | {tenant})

    def add_bunch(self, bunch: Bunch) -> None:
        """Queue jobs that none is known to, within the quotas and the room in the queue."""
        self.bunches.add(bunch)
        self._waiting.setdefault(bunch.tenant, deque()).append(bunch)
        self._more += len(bunch) - 1

    def unfold(self, bunch: Bunch) -> list[Job]:
        """Return the jobs of a bunch, which is none any more: where it waited they wait, where it runs they run."""
        if bunch.jobs is not None:
            return bunch.jobs
        self.bunches.remove(bunch)
        jobs = bunch.unfolded()
        self.jobs.update((job.key, job) for job in jobs)
        waiting = self._waiting.get(bunch.tenant)
        if not bunch.task and waiting is not None and bunch in waiting:
            self._more -= len(bunch) - 1
            place = waiting.index(bunch)
            del waiting[place]
            waiting.rotate(-place)
            waiting.extendleft(reversed(jobs))
            waiting.rotate(place)
        return jobs

    def _enqueue(self, job: Job) -> None:
        job.state, job.started, job.progress = "queued", None, (0, 0)
        self.jobs[job.key] = job
        self._waiting.setdefault(job.row.tenant, deque()).append(job)

    def _again(self, job: Job) -> None:
        """Put a job whose worker died before all others of its tenant."""
        self._enqueue(job)
        self._waiting[job.row.tenant].rotate(1)

    def _next(self) -> Job | Bunch | None:
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
            assert hand is not None, "a worker was idle"
            if isinstance(job, Bunch):
                self._start_bunch(job, hand)
            else:
                self._start([job, *self._alike(job)], hand)

    def _alike(self, job: Job) -> list[Job]:
        """Take what a worker does in one go with a short job: short ones behind it with its keys and plain arguments.

        Idle workers share what waits. One whose worker died runs alone: it may be what kills them.
        """
        taken: list[Job] = []
        waiting = self._waiting.get(job.row.tenant)
        if not waiting or job.attempts:
            return taken
        idle = sum(hand.ready and not hand.busy for hand in self.pool.hands)
        seconds = max(1e-9, self.speed.run(job.row.program, job.work))
        most = min(TOGETHER, -(-(len(self) + 1) // idle), int(TOGETHER_SECONDS / seconds))
        while waiting and len(taken) + 1 < most:
            other = waiting[0]
            if isinstance(other, Bunch) or other.attempts or other.name != job.name or other.row.plain != job.row.plain:
                break
            taken.append(other)
            waiting.popleft()
        if not waiting:
            del self._waiting[job.row.tenant]
        return taken

    def _start(self, jobs: list[Job], hand: Hand) -> None:
        first = jobs[0]
        task = self._task(first.name, first.held, first.row.plain, hand)
        started: list[Job] = []
        inputs: list[Source] = []
        for job in jobs:
            given = job.inputs
            source = given.place if isinstance(given, Lent) else given or self._store.source(job.row.inputs)
            if task is None or source is None:
                self._ends.keep([(job, Failed("gone", "a blob that the job needs was deleted"))])
                continue
            started.append(job)
            inputs.append(source)
        if task is None or not started:
            return
        self._count_keys(hand, first.name, len(started))
        now, task = time.time(), replace(task, inputs=inputs)
        self.pool.start(hand, task, partial(self._progress, started), partial(self._ended, started))
        timer = asyncio.get_running_loop().call_later(self._settings.quota.seconds, self._overdue, started, task.number)
        for job in started:
            job.task, job.state, job.started, job.timer = task.number, "running", now, timer
            job.change()

    def _start_bunch(self, bunch: Bunch, hand: Hand) -> None:
        self._more -= len(bunch) - 1
        task = self._task(bunch.name, bunch.plan.held, bunch.plan.plain, hand)
        if task is None:  # A blob that they need is gone, as each of them is told.
            self._start(self.unfold(bunch), hand)
            return
        self._count_keys(hand, bunch.name, len(bunch))
        inputs = [sent.place if isinstance(sent, Lent) else sent for _, sent in bunch.sent]
        task = replace(task, inputs=inputs, names=[id for id, _ in bunch.sent])
        bunch.task, bunch.started = task.number, time.time()
        seconds, late = self._settings.quota.seconds, partial(self._bunch_overdue, bunch)
        bunch.timer = asyncio.get_running_loop().call_later(seconds, late)
        self.pool.start(hand, task, partial(self._bunch_progress, bunch), partial(self._bunch_ended, bunch))

    def _count_keys(self, hand: Hand, name: Name, jobs: int) -> None:
        self._metrics.key_loads.labels("held" if name in hand.held else "loaded").inc(jobs)

    def _task(self, name: Name, held: tuple[int, int], plain: str, hand: Hand) -> Task | None:
        """Return a task without its inputs; None if a blob that it needs is gone."""
        there = name in hand.held
        sources = [None if there else self._store.source(digest) for digest in name]
        arrays = {argument: self._plain(value) for argument, value in json.loads(plain).items()}
        if (not there and None in sources) or any(value is None for value in arrays.values()):
            return None
        return Task(self.pool.number(), name, sources[0], sources[1], held, (), arrays)

    def _plain(self, value: Any) -> Any:
        """Return a plain argument as a worker takes it: numbers, or the bytes of an array by its hash."""
        return self._store.source(bytes.fromhex(value["blob"])) if isinstance(value, dict) else value

    # ---------------------------------------------------------------- what workers tell

    def _progress(self, jobs: list[Job], place: int, done: int, total: int) -> None:
        jobs[place].progress = (done, total)
        jobs[place].change()

    def _bunch_progress(self, bunch: Bunch, place: int, done: int, total: int) -> None:
        bunch.progress = place, done, total
        if bunch.jobs is not None:
            self._progress(bunch.jobs, *bunch.progress)

    def _bunch_overdue(self, bunch: Bunch) -> None:
        self._overdue(self.unfold(bunch), bunch.task)

    def _bunch_ended(self, bunch: Bunch, outcomes: Outcomes | Lost) -> None:
        """Answer a bunch that is one still and has all results; what has none is a job's own affair."""
        if bunch.jobs is not None or isinstance(outcomes, Lost) or not isinstance(outcomes.frames, bytes):
            if isinstance(outcomes, Outcomes):
                outcomes.unframe()
            self._ended(self.unfold(bunch), outcomes)
            return
        if bunch.timer is not None:
            bunch.timer.cancel()
        self.bunches.remove(bunch)
        count, facts = len(bunch), bunch.plan.program
        self.speed.learn(facts.digest, bunch.work // count, outcomes.run_seconds / count)
        self._metrics.ended("done", time.time() - bunch.created, count)
        bunch.end(outcomes.frames)
        self.dispatch()

    def _overdue(self, jobs: list[Job], task: int) -> None:
        """Stop the job of a task that runs: the last that was heard of."""
        running = [job for job in jobs if job.task == task and job.state == "running"]
        if running:
            limit = self._settings.quota.seconds
            late = max(running, key=lambda job: (job.progress != (0, 0)) * jobs.index(job))
            self.stop(late, Problem("over_quota", f"the job ran longer than the {limit:g} seconds granted"))

    def _ended(self, jobs: list[Job], outcomes: Outcomes | Lost) -> None:
        ends: list[tuple[Job, Done | Failed]] = []
        again: list[Job] = []
        each = [outcomes] * len(jobs) if isinstance(outcomes, Lost) else outcomes.each
        if jobs[0].timer is not None:  # One for all of the task.
            jobs[0].timer.cancel()
        for job, outcome in zip(jobs, each, strict=True):
            job.task = 0
            if job.stop is not None:
                if job.stop.code != "job_cancelled":
                    ends.append((job, Failed(job.stop.code, job.stop.message)))
            elif isinstance(outcome, Lost):
                if not self._lost(job, outcome):
                    again.append(job)
            elif isinstance(outcome, Failed) and outcome.cancelled:
                again.append(job)  # Another job of the task was cancelled.
            else:
                ends.append((job, outcome))
                if isinstance(outcome, Done):
                    self.speed.learn(job.row.program, job.work, outcome.run_seconds)
        for job in reversed(again):
            self._again(job)
            job.change()
        self._ends.keep(ends, outcomes)
        self.dispatch()

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
        """Have the store take a job in that nobody waits to be told of."""
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
        error = json.dumps({"code": "job_cancelled", "message": "the job was cancelled"})
        await job.kept_by_store()
        if not await self._store.end_job(End(job.row, "cancelled", error)):
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
        for bunch in self.bunches.each():
            bunch.change()

    async def finish(self) -> None:
        """Let running jobs end within the time granted; the others are in the store and run again."""
        self.begin_stop()
        deadline = time.monotonic() + self._settings.drain_seconds
        while any(hand.busy for hand in self.pool.hands) and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        self.pool.stop()
        while self._ends.writing:
            await asyncio.gather(*self._ends.writing, return_exceptions=True)
        await self.pool.join()


def _stored(store: Store, digest: bytes) -> int:
    source = store.source(digest)
    if source is None:
        return 0
    return source.stat().st_size if isinstance(source, Path) else len(source)
