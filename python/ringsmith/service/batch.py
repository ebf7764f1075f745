# SPDX-License-Identifier: Apache-2.0
"""Many jobs in one request: each with its own name, state, result and end; what they share is checked once."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from ringsmith.errors import FormatError
from ringsmith.runtime import frames
from ringsmith.service.arena import Body, Sent
from ringsmith.service.files import own_name
from ringsmith.service.job import ENDED, Bunch, Job
from ringsmith.service.plan import Plan, RequestSigns, check_same
from ringsmith.service.problems import Problem
from ringsmith.service.requests import JOB_ID, Terms, plain_of
from ringsmith.service.rows import Row
from ringsmith.service.service import Service
from ringsmith.service.tenants import Tenant

#: Jobs of one request at most.
MOST = 256
_ID = re.compile(JOB_ID)
#: What a job's sender is told: its result, its state, or why it has no result.
Outcome = bytes | dict[str, Any] | Problem


def jobs_of(body: bytes | Body) -> list[tuple[str, Sent]]:
    """Return name and arguments of each job of a request; Problem for a body of another kind."""
    found: list[tuple[str, Sent]]
    try:
        if isinstance(body, bytes):
            found = [(name, body[start : start + length]) for name, _, start, length in frames.places(body)]
        else:
            found = [(name, body.part(start, length)) for name, _, start, length in frames.places(body.view)]
    except FormatError as error:
        raise Problem("bad_request", str(error)) from None
    if not 1 <= len(found) <= MOST:
        raise Problem("bad_request", f"{len(found)} jobs; a request has 1 to {MOST}")
    for number, (name, _) in enumerate(found):
        if not _ID.fullmatch(name):
            raise Problem("bad_request", f"frame {number}: its name has to be 1 to 64 of A-Z a-z 0-9 . _ -")
    return found


class Batch:
    """The jobs of one request."""

    def __init__(self, service: Service, tenant: Tenant, terms: Terms, jobs: Sequence[tuple[str, Sent]]) -> None:
        """Queue the jobs; Problem for what is wrong with all of them."""
        self._service, self._tenant = service, tenant
        self._deadline = time.monotonic() + terms.wait
        self._changed = asyncio.Event()
        self._waiting: dict[str, Job] = {}
        self._bunches: list[Bunch] = []
        self._known: list[tuple[str, Outcome]] = []
        self._submit(service.plan(tenant, terms.hashes(), plain_of(terms.plain), None), terms.keep, jobs)

    def _submit(self, plan: Plan, keep: float, jobs: Sequence[tuple[str, Sent]]) -> None:
        service, tenant = self._service, self._tenant
        if keep == 0 and (bunches := service.bunches(plan, jobs)):
            for bunch in bunches:
                bunch.watcher = self._changed
            self._bunches = bunches
            service.scheduler.dispatch()
            return
        ended = service.store.jobs_named(tenant.number, [id for id, _ in jobs])
        unfinished = service.scheduler.unfinished(tenant.number)
        signs, new = RequestSigns(plan), list[Job]()
        for id, body in jobs:
            request = signs.of(body)
            try:
                known = service.scheduler.job((tenant.number, id)) or ended.get(id)
                if known is None:
                    known = self._new(plan, id, request, keep, body, unfinished + len(new))
                    new.append(known)
                else:
                    check_same(known.row if isinstance(known, Job) else known, request)
            except Problem as problem:
                self._known.append((id, problem))
                continue
            if isinstance(known, Row):
                self._known.append((id, self._of_row(known)))
            else:
                known.watchers.add(self._changed)
                self._waiting[id] = known
        service.scheduler.dispatch()
        service.keep_soon(new)
        refused = [outcome for _, outcome in self._known if isinstance(outcome, Problem) and outcome.retry_after]
        if len(refused) == len(jobs):
            raise refused[0]  # The same request again may succeed, and its sender knows how to wait.

    def _new(self, plan: Plan, id: str, request: bytes, keep: float, body: Sent, unfinished: int) -> Job:
        job = self._service.new_job(plan, id, request, own_name(), keep, body, unfinished)
        job.quiet = True
        if len(body) > self._service.settings.inline:
            self._service.scheduler.keep(job)
        return job

    async def answers(self) -> AsyncIterator[bytes]:
        """Yield a frame for each job: as they end, and at the deadline for those that have not."""
        service = self._service
        try:
            if self._known:
                yield _framed(self._known)
            while self._waiting or self._bunches:
                for answered in self._answered():
                    yield answered
                ended = {id: job for id, job in self._waiting.items() if job.state in ENDED}
                for id in ended:
                    del self._waiting[id]
                if ended:
                    yield _framed([(id, job.result or await self._of_ended(job)) for id, job in ended.items()])
                    continue
                if self._unfolded(over := self._deadline <= time.monotonic()):
                    continue
                left = {
                    id: job for id, job in self._waiting.items()
                    if over or (service.scheduler.stopping and job.state == "queued")
                }  # fmt: skip
                for id in left:
                    self._waiting.pop(id).watchers.discard(self._changed)
                if left:
                    yield _framed([(id, await self._state(job)) for id, job in left.items()])
                elif self._waiting or self._bunches:
                    await self._woken()
        finally:
            for bunch in self._bunches:
                bunch.watcher = None
            for job in self._waiting.values():
                job.watchers.discard(self._changed)

    def _answered(self) -> list[bytes]:
        """Return the answers; where a bunch was unfolded, wait for its jobs."""
        found = [bunch.frames for bunch in self._bunches if bunch.frames is not None]
        for job in (job for bunch in self._bunches for job in bunch.jobs or ()):
            job.watchers.add(self._changed)
            self._waiting[job.row.id] = job
        self._bunches = [bunch for bunch in self._bunches if bunch.frames is None and bunch.jobs is None]
        return found

    def _unfolded(self, over: bool) -> bool:
        """Unfold the bunches whose sender is answered before their end; returns whether there are any."""
        scheduler = self._service.scheduler
        left = [bunch for bunch in self._bunches if over or (scheduler.stopping and not bunch.task)]
        for bunch in left:
            scheduler.unfold(bunch)
        return bool(left)

    async def _woken(self) -> None:
        try:
            async with asyncio.timeout(max(0.0, self._deadline - time.monotonic())):
                await self._changed.wait()
            self._changed.clear()
        except TimeoutError:
            pass

    async def _state(self, job: Job) -> Outcome:
        if job.state in ENDED:  # While others were written.
            return await self._of_ended(job)
        try:
            return await self._service.told(job)
        except Problem as problem:
            return problem

    async def _of_ended(self, job: Job) -> Outcome:
        if job.result is not None:
            return job.result
        if job.problem is not None:
            return job.problem
        newest = self._service.store.job(*job.key)
        if newest is None:
            return Problem("store_full", "the server's store is full; the job's end was not kept", retry_after=60.0)
        outcome = self._of_row(newest)
        return await asyncio.to_thread(outcome.read_bytes) if isinstance(outcome, Path) else outcome

    def _of_row(self, row: Row) -> Any:
        try:
            return self._service.result(row)
        except Problem as problem:
            return problem


def _framed(outcomes: Sequence[tuple[str, Outcome]]) -> bytes:
    """Return outcomes as frames."""
    parts: list[bytes] = []
    for id, outcome in outcomes:
        status, data = _spelled(outcome)
        parts += frames.head(id, status, len(data)), data
    return b"".join(parts)


def _spelled(outcome: Outcome) -> tuple[int, bytes]:
    if isinstance(outcome, bytes):
        return 200, outcome
    if isinstance(outcome, Problem):
        return outcome.status, json.dumps(outcome.body()).encode()
    return 202, json.dumps(outcome).encode()
