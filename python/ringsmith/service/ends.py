# SPDX-License-Identifier: Apache-2.0
"""Ends of jobs: kept by the store, then told."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from ringsmith.service.files import own_name
from ringsmith.service.job import Job
from ringsmith.service.kinds import RESULT
from ringsmith.service.logs import log
from ringsmith.service.pool import Lost
from ringsmith.service.problems import Problem
from ringsmith.service.rows import Blob, End
from ringsmith.service.store import Store
from ringsmith.service.worker import Done, Failed, Outcomes

#: Stands for the outcomes of no task, of which there is no result.
_NOTHING = Outcomes()


def end_of(job: Job, outcome: Done | Failed, outcomes: Outcomes | Lost) -> End:
    """Return a job's end as the store keeps it."""
    if isinstance(outcome, Failed):
        return End(job.row, "failed", json.dumps({"code": outcome.code, "message": outcome.message}))
    assert not isinstance(outcome.result, tuple), "a result that was not copied"
    assert isinstance(outcomes, Outcomes), "a result of a worker that was lost"
    report = {
        "warm_keys": outcomes.warm,
        "load_seconds": outcomes.load_seconds,
        "run_seconds": outcome.run_seconds,
        "operations": {name: round(seconds, 6) for name, seconds in outcome.operations.items()},
        "worker_memory": outcomes.memory,
        "wait_seconds": (job.bunch.started or time.time()) - job.row.created,
    }
    blob = Blob(own_name(), RESULT, outcome.size, outcomes.facts)
    return End(job.row, "done", None, (blob, outcome.result), json.dumps(report))


class Ends:
    """Keeps the ends of jobs, and tells of each when the store has it."""

    def __init__(self, store: Store, tell: Callable[[Job, str, Done | Failed], None]) -> None:
        """Call `tell` with a job, its state and its outcome."""
        self._store, self._tell = store, tell
        #: What is being written.
        self.writing: set[asyncio.Task[None]] = set()

    def keep(self, ends: Sequence[tuple[Job, Done | Failed]], outcomes: Outcomes | Lost = _NOTHING) -> None:
        """Store ends and tell the clients.

        Jobs of which nothing is kept are not written; those that the store lacks are written with their ends.
        `outcomes`: of the task, for the facts that its results share.
        """
        together: list[tuple[Job, Done | Failed]] = []
        for job, outcome in ends:
            job.state = "running"
            if job.unkept and (isinstance(outcome, Failed) or isinstance(outcome.result, bytes)):
                self._tell(job, "done" if isinstance(outcome, Done) else "failed", outcome)
            elif job.unwritten:
                job.to_be_kept()
                job.keeping = asyncio.get_running_loop().create_future()
                together.append((job, outcome))
            else:
                self.write(self._keep_end(job, outcome, outcomes))
        if together:
            self.write(self._keep_new(together, outcomes))

    async def _keep_new(self, ends: list[tuple[Job, Done | Failed]], outcomes: Outcomes | Lost) -> None:
        """Write jobs that the store lacks, together with their ends."""
        try:
            await self._store.add_ended([end_of(job, outcome, outcomes) for job, outcome in ends])
            for job, outcome in ends:
                self._tell(job, "done" if isinstance(outcome, Done) else "failed", outcome)
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
                    self._tell(job, "done", outcome)
                return
            except Problem as problem:
                outcome = Failed(problem.code, problem.message)
        await self._keep_failure(job, outcome, new=False)

    async def _keep_failure(self, job: Job, outcome: Failed, *, new: bool) -> None:
        end = end_of(job, outcome, _NOTHING)
        try:
            await (self._store.add_ended([end]) if new else self._store.end_job(end))
        except Problem:
            # Not even that can be written: the job stays queued in the store; clients that wait get the failure now.
            log("end_not_kept", job=job.row.id, tenant=job.row.tenant)
        self._tell(job, "failed", outcome)

    def write(self, writing: Any) -> None:
        """Go on with a writing beside what runs."""
        task = asyncio.ensure_future(writing)
        self.writing.add(task)
        task.add_done_callback(self.writing.discard)
