# SPDX-License-Identifier: Apache-2.0
"""The service's logic, without HTTP: whose request it is, jobs submitted, looked at, cancelled."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, MutableMapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ringsmith.runtime.messages import HEAD
from ringsmith.service import cost, kinds
from ringsmith.service.arena import Arena, Sent, view_of
from ringsmith.service.blobs import Blobs
from ringsmith.service.files import own_name
from ringsmith.service.job import ENDED, LEAST_KEEP, Bunch, Job, Key, Named, together
from ringsmith.service.kinds import ARGUMENTS, ARRAY, KEYS, PROGRAM, Facts
from ringsmith.service.metrics import Metrics
from ringsmith.service.plan import Plan, RequestSigns, check_same, plain_text, request_hash, sign_of
from ringsmith.service.problems import Problem, not_found
from ringsmith.service.requests import Terms, plain_of
from ringsmith.service.rows import Blob, Row
from ringsmith.service.scheduler import Scheduler
from ringsmith.service.settings import Settings
from ringsmith.service.store import Store
from ringsmith.service.tenants import Tenant
from ringsmith.service.traffic import Traffic

#: Interval at which finished jobs whose time is over are looked for.
_EXPIRY_SECONDS = 60.0
#: Seconds after which a job whose sender waits is written, its end or not.
_SOON = 0.25


def _authorization(scope: MutableMapping[str, Any]) -> str:
    for name, value in scope["headers"]:
        if name == b"authorization":
            return str(value.decode("latin-1"))
    return ""


def _all_arguments(sent: Sequence[Named]) -> bool:
    """Return whether each job's inputs begin like encrypted arguments."""
    try:
        for head in {bytes(view_of(body)[:HEAD]) for _, body in sent}:
            kinds.check_arguments(head)
    except Problem:
        return False
    return True


class Service:
    """One server."""

    def __init__(
        self, settings: Settings, store: Store, arena: Arena | None = None, traffic: Traffic | None = None
    ) -> None:
        """Take up what the store has and start the workers; called inside the event loop."""
        self.settings, self.store, self.metrics = settings, store, Metrics()
        self.scheduler = Scheduler(settings, self.store, self.metrics, arena)
        self.blobs = Blobs(settings, store, self._user)
        self._traffic = traffic or Traffic(settings.requests)
        self._expiry = asyncio.ensure_future(self._expire())

    async def close(self) -> None:
        """Let running jobs end, within the time granted, and close the store."""
        self._expiry.cancel()
        await self.scheduler.finish()
        self.store.close()

    async def _expire(self) -> None:
        while True:
            try:
                while await self.store.expire_jobs():
                    pass
            except Problem:
                pass  # A full store; the next round may find room.
            await asyncio.sleep(_EXPIRY_SECONDS)

    def sender(self, scope: MutableMapping[str, Any]) -> Tenant:
        """Return whose API key a request carries, and count the request; a removed key is refused within a second."""
        scheme, _, key = _authorization(scope).partition(" ")
        found = None
        if scheme.lower() == "bearer" and len(key) < 256:
            found = self.store.tenant(key.strip())
        if found is None:
            raise Problem("unauthorized", "an API key of this server is needed: Authorization: Bearer KEY")
        self._traffic.admit(scope, found)
        return found

    def _user(self, tenant: Tenant, digest: bytes) -> str | None:
        """Return the name of an unfinished job that needs a blob."""
        return self.scheduler.needing(tenant.number, digest)

    # ---------------------------------------------------------------- jobs

    async def submit(
        self, tenant: Tenant, id: str, hashes: Mapping[str, bytes], plain: Mapping[str, Any], keep: float,
        body: Sent | None = None,
    ) -> tuple[Job | Row, bool]:  # fmt: skip
        """Submit a job, or return the one of that name if it is the same; with whether it is new.

        `hashes`: of program and keys, and of the inputs unless they come as the `body`. With a body, the job is on
        the disk only when its end is, or `told` has been awaited.
        """
        digests = dict(hashes)
        if body is not None:
            digests["inputs"] = sign_of(body)
        request = request_hash(digests, plain)
        if body is not None:
            digests["inputs"] = own_name()
        known = self.job(tenant, id)
        if known is not None:
            check_same(known.row if isinstance(known, Job) else known, request)
            if isinstance(known, Job) and body is None:
                await known.kept_by_store()
            return known, False
        inputs = None if body is not None else self.blobs.of_kind(tenant, digests["inputs"], ARGUMENTS)
        plan = self.plan(tenant, digests, plain, inputs)
        unfinished = self.scheduler.unfinished(tenant.number)
        job = self.new_job(plan, id, request, digests["inputs"], keep, body, unfinished)
        self.scheduler.dispatch()
        if body is None or len(body) > self.settings.inline:
            await job.kept_by_store()
        else:
            self.keep_soon([job])
        return job, True

    async def run(self, tenant: Tenant, id: str, terms: Terms, body: Sent) -> bytes | Path | dict[str, Any]:
        """Submit a job with its arguments and wait: its result, or what its owner is told if it has none yet."""
        job, _ = await self.submit(tenant, id, terms.hashes(), plain_of(terms.plain), terms.keep, body)
        if isinstance(job, Job):
            if job.state not in ENDED:
                await self.scheduler.ended(job, terms.wait)
            if job.result is not None:
                return job.result
            if job.problem is not None:
                raise job.problem
        newest = self.job(tenant, id)
        if newest is None:
            raise Problem("store_full", "the server's store is full; the job's end was not kept", retry_after=60.0)
        return self.result(newest) if isinstance(newest, Row) else await self.told(newest)

    def keep_soon(self, jobs: Sequence[Job]) -> None:
        """Write jobs whose sender waits for their results, unless these come before: one commit then holds all."""
        asyncio.get_running_loop().call_later(_SOON, self._keep_late, jobs)

    def _keep_late(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            if job.state not in ENDED and job.keeping is None and not job.unkept:
                self.scheduler.keep(job)

    async def _keep_job(self, job: Job) -> None:
        """Write a new job to the store. It may run already; its state is told only afterwards."""
        try:
            blob = None
            if job.inputs is not None:
                data = bytes(view_of(job.inputs))
                await asyncio.to_thread(kinds.refuse_secret_within, data)
                blob = Blob(job.row.inputs, ARGUMENTS, len(data), {}), await self.blobs.placed(data)
            await self.store.add_job(job.row, blob)
        except Exception as error:
            job.problem = error if isinstance(error, Problem) else None
            self.scheduler.drop(job)
            raise
        job.inputs = None  # The queue holds no bytes.

    def plan(self, tenant: Tenant, hashes: Mapping[str, bytes], plain: Mapping[str, Any], inputs: Blob | None) -> Plan:
        """Return what jobs of this program, keys and plain arguments share, checked: all there, together, in quota.

        `inputs`: those of the job if they are a blob; those that come with it are the worker's to read.
        """
        settings, of_kind = self.settings, self.blobs.of_kind
        program, keys = of_kind(tenant, hashes["program"], PROGRAM), of_kind(tenant, hashes["keys"], KEYS)
        kinds.check_together(program.facts, keys.facts, inputs.facts if inputs else keys.facts)
        self._check_plain(tenant, program.facts, plain)
        limit = settings.worker_key_memory
        held = cost.held(program.facts, keys.size, settings.threads, limit)
        cost.check(program.facts, sum(held), settings.quota, limit, settings.threads, self.scheduler.speed)
        return Plan(tenant, program, keys, plain_text(plain), held)

    def new_job(
        self,
        plan: Plan,
        id: str,
        request: bytes,
        inputs: bytes,
        keep: float,
        body: Sent | None,
        unfinished: int,
    ) -> Job:
        """Queue a job of a plan; Problem if it is beyond the tenant's quotas, of which `unfinished` jobs are used."""
        tenant, settings = plan.tenant, self.settings
        if body is not None:
            kinds.check_arguments(bytes(view_of(body)[:HEAD]))
        if unfinished >= settings.quota.jobs:
            wait = max(1.0, self.scheduler.speed.seconds(plan.needs.work))
            raise Problem("too_many_jobs", f"{settings.quota.jobs} jobs are granted at a time", retry_after=wait)
        if body is None or len(body) > settings.inline:
            keep = keep or LEAST_KEEP  # The queue holds no large bytes: the store does.
        if keep > 0:
            self.blobs.take_bytes(tenant, int(plan.program.facts["result_bytes"]) + len(body or b""))
        job = self._job(plan, id, request, inputs, body, (now := time.time()), now + keep)
        self.scheduler.add(Bunch.of(job))
        return job

    def _job(
        self, plan: Plan, id: str, request: bytes, inputs: bytes, body: Sent | None, created: float, expires: float
    ) -> Job:
        row = Row(
            plan.tenant.number, id, self.store.next_number(), request, plan.program.digest, plan.keys.digest, inputs,
            plan.plain, "queued", created, None, 0, None, None, None, expires,
        )  # fmt: skip
        return Job(row, plan.needs, body, keep=self._keep_job)

    def bunches(self, plan: Plan, sent: Sequence[Named]) -> list[Bunch]:
        """Queue jobs of which nothing is kept, as bunches; an empty list if one of them needs a check of its own."""
        keys = [(plan.tenant.number, id) for id, _ in sent]
        result_bytes, workers = int(plan.program.facts["result_bytes"]), self.settings.workers
        size = together(plan.needs, result_bytes, len(sent), workers, self.scheduler.speed)
        if size < 2 or not self._all_new(keys, sent) or not _all_arguments(sent):
            return []
        jobs = partial(self._unfolded, plan)
        found = [Bunch(plan.needs, sent[start : start + size], jobs) for start in range(0, len(sent), size)]
        for bunch in found:
            self.scheduler.add(bunch)
        return found

    def _all_new(self, keys: Sequence[Key], sent: Sequence[Named]) -> bool:
        """Return whether the names are new and the jobs within the quotas and the room in the queue."""
        scheduler, settings, tenant = self.scheduler, self.settings, keys[0][0]
        return not (
            len(set(keys)) < len(keys)
            or max(len(body) for _, body in sent) > settings.inline
            or scheduler.stopping
            or scheduler.knows(keys)
            or self.store.jobs_named(tenant, [id for id, _ in sent])
            or scheduler.unfinished(tenant) + len(sent) > settings.quota.jobs
            or len(scheduler) + len(sent) > settings.queue
        )

    def _unfolded(self, plan: Plan, bunch: Bunch) -> list[Job]:
        """Return the jobs of a bunch, as if they had been submitted one by one."""
        signs, created, jobs = RequestSigns(plan), bunch.created, list[Job]()
        for id, body in bunch.sent:
            jobs.append(self._job(plan, id, signs.of(body), own_name(), body, created, created))
            jobs[-1].quiet = True
        return jobs

    def _check_plain(self, tenant: Tenant, program: Facts, plain: Mapping[str, Any]) -> None:
        wanted = {entry["name"]: entry["shape"] for entry in program["arguments"] if not entry["encrypted"]}
        if sorted(plain) != sorted(wanted):
            names = ", ".join(wanted) or "(none)"
            raise Problem("bad_arguments", f"the program takes the plain arguments {names}; {len(plain)} came")
        for name, value in plain.items():
            if not isinstance(value, dict):
                continue
            shape = self.blobs.of_kind(tenant, kinds.digest_from(value["blob"]), ARRAY).facts["shape"]
            if shape != wanted[name]:
                raise Problem("bad_arguments", f"argument {name} has shape {wanted[name]}, the array {shape}")

    def job(self, tenant: Tenant, id: str) -> Job | Row | None:
        """Return a tenant's job: the scheduler's while it has no end, the store's after."""
        return self.scheduler.job((tenant.number, id)) or self.store.job(tenant.number, id)

    def jobs(self, tenant: Tenant, before: int, limit: int) -> list[dict[str, Any]]:
        """Return a page of a tenant's jobs, newest first."""
        rows = self.store.jobs(tenant.number, before, limit)
        return [self.view(self.scheduler.job((tenant.number, row.id)) or row) for row in rows]

    def view(self, job: Job | Row) -> dict[str, Any]:
        """Return a job's status for its owner."""
        row = job.row if isinstance(job, Job) else job
        told: dict[str, Any] = {
            "id": row.id, "number": row.number, "state": job.state, "program": row.program.hex(),
            "keys": row.keys.hex(), "created": row.created, "attempts": row.attempts,
        }  # fmt: skip
        if isinstance(job, Job):
            done, total = job.progress
            return {
                **told,
                "attempts": job.attempts,
                "started": job.bunch.started,
                "progress": {"done": done, "total": total},
            }
        told |= {"finished": row.finished, "expires": row.expires}
        for name, text in (("error", row.error), ("report", row.report)):
            if text is not None:
                told[name] = json.loads(text)
        return told

    async def told(self, job: Job | Row) -> dict[str, Any]:
        """Return a job's status for its owner, once it is stored."""
        if isinstance(job, Job) and job.state not in ENDED:
            await job.kept_by_store()
        return self.view(job)

    async def wait(self, tenant: Tenant, job: Job | Row, seconds: float) -> Job | Row:
        """Return a job as it is at its end, or after `seconds`."""
        if isinstance(job, Job) and job.state not in ENDED and seconds > 0:
            await self.scheduler.ended(job, seconds)
        return self._newest(tenant, job)

    def _newest(self, tenant: Tenant, job: Job | Row) -> Job | Row:
        """Return a job, as the store's row if it has ended."""
        if isinstance(job, Row) or job.state not in ENDED:
            return job
        return self.job(tenant, job.row.id) or job

    def result(self, job: Job | Row) -> bytes | Path:
        """Return a job's result; Problem if there is none."""
        if isinstance(job, Job):
            if job.state not in ENDED:
                raise Problem("job_unfinished", f"job {job.row.id} is {job.state}", state=job.state)
            raise not_found("job")
        if job.error is not None:
            error = json.loads(job.error)
            code = "job_cancelled" if job.state == "cancelled" else "job_failed"
            raise Problem(code, error["message"], cause=error["code"])
        source = self.store.source(job.result) if job.result is not None else None
        if source is None:
            raise Problem("gone", "the result is no longer kept")
        return source

    async def cancel(self, tenant: Tenant, id: str) -> Job | Row:
        """Cancel a job; one that has ended stays as it is."""
        job = self.job(tenant, id)
        if job is None:
            raise not_found("job")
        if isinstance(job, Job):
            await self.scheduler.cancel(job)
        return self._newest(tenant, job)

    async def delete_job(self, tenant: Tenant, id: str) -> None:
        """Forget a finished job with its result."""
        job = self.job(tenant, id)
        if job is None:
            raise not_found("job")
        if isinstance(job, Job):
            raise Problem("job_unfinished", f"job {id} is {job.state}; cancel it first", state=job.state)
        if not await self.store.delete_job(tenant.number, id):
            raise not_found("job")
        self.blobs.let_go(tenant)

    # ---------------------------------------------------------------- what people and monitors see

    def gauges(self) -> dict[str, float]:
        """Return the figures of now for monitors."""
        hands, totals = self.scheduler.pool.hands, self.store.totals()
        return {
            "queue_jobs": len(self.scheduler),
            "running_jobs": sum(bool(hand.busy) for hand in hands),
            "workers_ready": sum(hand.ready for hand in hands),
            "keys_held": sum(len(hand.held) for hand in hands),
            "key_bytes_held": sum(hand.size for hand in hands),
            "key_evictions": sum(hand.evictions for hand in hands),
            "store_blobs": totals["blobs"],
            "store_bytes": totals["bytes"],
            "store_commits": self.store.writer.commits,
        }

    def status(self, tenant: Tenant) -> dict[str, Any]:
        """Return what a tenant may know of the server: limits, its own use, keys of its own in memory."""
        settings, quota = self.settings, self.settings.quota
        held = [name for hand in self.scheduler.pool.hands for name in hand.held]
        own = [keys.hex() for _, keys in held if self.store.blob(tenant.number, keys) is not None]
        return {
            "tenant": tenant.name,
            "workers": settings.workers,
            "threads": settings.threads,
            "queue": {"jobs": len(self.scheduler), "limit": settings.queue, "seconds": self.scheduler.wait_seconds()},
            "key_memory": {"held": sum(h.size for h in self.scheduler.pool.hands), "limit": settings.key_memory},
            "keys_in_memory": sorted(own),
            "used": {"bytes": self.blobs.used_bytes(tenant), "jobs": self.scheduler.unfinished(tenant.number)},
            "quota": {"bytes": quota.bytes, "jobs": quota.jobs, "memory": quota.memory, "seconds": quota.seconds},
            "limits": {"body": settings.max_body, "blob": settings.max_blob},
        }
