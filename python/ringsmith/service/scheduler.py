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
from functools import partial
from pathlib import Path
from typing import Any

from ringsmith.service import cost
from ringsmith.service.arena import Arena, Lent
from ringsmith.service.cost import Speed
from ringsmith.service.ends import end_of
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
#: Stands for the outcomes of no task, of which there is no result.
_NOTHING = Outcomes()
#: Short jobs that go to a worker together: so many at most, of so many seconds in all.
_TOGETHER, _TOGETHER_SECONDS = 32, 0.02


class Scheduler:
    """The queue and the workers."""

    def __init__(self, settings: Settings, store: Store, metrics: Metrics, arena: Arena | None) -> None:
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
            held = cost.held(facts, _stored(store, row.keys), settings.threads)
            self._enqueue(Job(row, facts, held, attempts=row.attempts))
        self.pool = Pool(settings, arena, self.dispatch)
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
        """Queue a new job, for the next `dispatch` to start; Problem if there is no room."""
        if self.stopping:
            raise Problem("stopping", "the server is being stopped", retry_after=5.0)
        if len(self) >= self._settings.queue:
            wait = min(max(1.0, self.wait_seconds()), 600.0)
            raise Problem("queue_full", f"{len(self)} jobs wait already", retry_after=wait)
        self._enqueue(job)

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
        most = min(_TOGETHER, -(-(len(self) + 1) // idle), int(_TOGETHER_SECONDS / seconds))
        while waiting and len(taken) + 1 < most:
            other = waiting[0]
            if other.attempts or other.name != job.name or other.row.plain != job.row.plain:
                break
            taken.append(waiting.popleft())
        if not waiting:
            del self._waiting[job.row.tenant]
        return taken

    def _start(self, jobs: list[Job], hand: Hand) -> None:
        first = jobs[0]
        held = first.name in hand.held
        self._metrics.key_loads.labels("held" if held else "loaded").inc(len(jobs))
        sources = [None if held else self._store.source(digest) for digest in first.name]
        plain = {name: self._plain(value) for name, value in json.loads(first.row.plain).items()}
        gone = (not held and None in sources) or any(value is None for value in plain.values())
        started: list[Job] = []
        inputs: list[Source] = []
        for job in jobs:
            given = job.inputs
            source = given.place if isinstance(given, Lent) else given or self._store.source(job.row.inputs)
            if gone or source is None:
                self._end([(job, Failed("gone", "a blob that the job needs was deleted"))])
                continue
            started.append(job)
            inputs.append(source)
        if not started:
            return
        number, now = self.pool.number(), time.time()
        task = Task(number, first.name, sources[0], sources[1], first.held, inputs, plain)
        self.pool.start(hand, task, partial(self._progress, started), partial(self._ended, started))
        timer = asyncio.get_running_loop().call_later(self._settings.quota.seconds, self._overdue, started, number)
        for job in started:
            job.task, job.state, job.started, job.timer = number, "running", now, timer
            job.change()

    def _plain(self, value: Any) -> Any:
        """Return a plain argument as a worker takes it: numbers, or the bytes of an array by its hash."""
        return self._store.source(bytes.fromhex(value["blob"])) if isinstance(value, dict) else value

    # ---------------------------------------------------------------- what workers tell

    def _progress(self, jobs: list[Job], place: int, done: int, total: int) -> None:
        jobs[place].progress = (done, total)
        jobs[place].change()

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
        self._end(ends, outcomes)
        self.dispatch()

    def _lost(self, job: Job, lost: Lost) -> bool:
        """Count a worker's death; returns whether that was the job's last try."""
        self._metrics.worker_deaths.inc()
        if lost.begun and not self.stopping:
            job.attempts += 1
            log("worker_died", job=job.row.id, tenant=job.row.tenant, attempts=job.attempts)
            if not job.unkept:
                self._write(self._count_attempt(job))
        if job.attempts >= MAX_ATTEMPTS:
            self._end([(job, Failed("job_failed", f"{MAX_ATTEMPTS} workers died with this job"))])
            return True
        return False

    async def _count_attempt(self, job: Job) -> None:
        await job.kept_by_store()
        await self._store.count_attempt(*job.key)

    def _end(self, ends: Sequence[tuple[Job, Done | Failed]], outcomes: Outcomes | Lost = _NOTHING) -> None:
        """Keep ends and tell of them: of what nobody is to keep at once, of what was never written with one change.

        `outcomes`: of the task, for what its results have in common.
        """
        together: list[tuple[Job, Done | Failed]] = []
        for job, outcome in ends:
            job.state = "running"
            if job.unkept and (isinstance(outcome, Failed) or isinstance(outcome.result, bytes)):
                self._told(job, "done" if isinstance(outcome, Done) else "failed", outcome)
            elif job.unwritten:
                job.to_be_kept()
                job.keeping = asyncio.get_running_loop().create_future()
                together.append((job, outcome))
            else:
                self._write(self._keep_end(job, outcome, outcomes))
        if together:
            self._write(self._keep_new(together, outcomes))

    async def _keep_new(self, ends: list[tuple[Job, Done | Failed]], outcomes: Outcomes | Lost) -> None:
        """Write jobs that nobody was told of once, with their ends."""
        try:
            await self._store.add_ended([end_of(job, outcome, outcomes) for job, outcome in ends])
            for job, outcome in ends:
                self._told(job, "done" if isinstance(outcome, Done) else "failed", outcome)
        except Problem as problem:
            if len(ends) > 1:
                for end in ends:
                    await self._keep_new([end], outcomes)
                return
            await self._keep_failure(ends[0][0], Failed(problem.code, problem.message), new=True)
        finally:
            for job, _ in ends:
                if job.keeping is not None and not job.keeping.done():
                    job.keeping.set_result(None)

    async def _keep_end(self, job: Job, outcome: Done | Failed, outcomes: Outcomes | Lost) -> None:
        """Write the end of a job that the store has, or is about to have."""
        try:
            await job.kept_by_store()
        except Exception:
            return  # It was taken back, and its sender told why.
        if isinstance(outcome, Done):
            try:
                if await self._store.end_job(end_of(job, outcome, outcomes)):
                    self._told(job, "done", outcome)
                return
            except Problem as problem:
                outcome = Failed(problem.code, problem.message)
        await self._keep_failure(job, outcome, new=False)

    async def _keep_failure(self, job: Job, outcome: Failed, *, new: bool) -> None:
        end = end_of(job, outcome, _NOTHING)
        try:
            await (self._store.add_ended([end]) if new else self._store.end_job(end))
        except Problem:
            # Not even that can be written: it stays queued in the store, and whoever waits is told for now.
            log("end_not_kept", job=job.row.id, tenant=job.row.tenant)
        self._told(job, "failed", outcome)

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
