# SPDX-License-Identifier: Apache-2.0
"""The service's logic, without HTTP: blobs kept and let go, uploads, jobs submitted, looked at, cancelled."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ringsmith.runtime.messages import HEAD
from ringsmith.service import cost, kinds
from ringsmith.service.arena import Arena, Lent
from ringsmith.service.files import digest_of, own_name
from ringsmith.service.job import ENDED, LEAST_KEEP, Job
from ringsmith.service.kinds import ARGUMENTS, ARRAY, KEYS, PROGRAM, Facts
from ringsmith.service.metrics import Metrics
from ringsmith.service.plan import Plan, check_same, plain_text, request_hash, sign_of
from ringsmith.service.problems import Problem, not_found, store_full
from ringsmith.service.scheduler import Scheduler
from ringsmith.service.settings import Settings
from ringsmith.service.store import Blob, Row, Store, Upload
from ringsmith.service.tenants import Tenant
from ringsmith.service.worker import bytes_of

#: Seconds for which a sum of a tenant's bytes serves.
_SUM_SERVES = 2.0
#: Interval at which finished jobs whose time is over are looked for.
_EXPIRY_SECONDS = 60.0
#: Seconds after which a job whose sender waits is written, its end or not.
_SOON = 0.25
#: Blobs above this size are hashed and read one at a time.
_LARGE = 16 << 20


class Service:
    """One server."""

    def __init__(self, settings: Settings, store: Store, arena: Arena | None = None) -> None:
        """Take up what the store has and start the workers; called inside the event loop."""
        self.settings, self.store, self.metrics = settings, store, Metrics()
        self.scheduler = Scheduler(settings, self.store, self.metrics, arena)
        self.waiting = 0
        self._sums: dict[int, tuple[float, int]] = {}
        self._one_large = asyncio.Semaphore(1)
        self._chunks: dict[str, asyncio.Lock] = {}
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

    def sender(self, authorization: str) -> Tenant:
        """Return whose API key a request carries; one that was removed is refused within a second."""
        scheme, _, key = authorization.partition(" ")
        found = None
        if scheme.lower() == "bearer" and len(key) < 256:
            found = self.store.tenant(key.strip())
        if found is None:
            raise Problem("unauthorized", "an API key of this server is needed: Authorization: Bearer KEY")
        return found

    # ---------------------------------------------------------------- quotas

    def used_bytes(self, tenant: Tenant) -> int:
        """Return the bytes a tenant has taken, uploads with what they may grow to."""
        now = time.monotonic()
        since, total = self._sums.get(tenant.number, (0.0, 0))
        if now - since > _SUM_SERVES:
            total = self.store.used_bytes(tenant.number) + self.store.upload_bytes(tenant.number)
            self._sums[tenant.number] = now, total
        return total

    def _take_bytes(self, tenant: Tenant, size: int) -> None:
        used, granted = self.used_bytes(tenant), self.settings.quota.bytes
        if used + size > granted:
            raise Problem("over_quota", f"{size} bytes more than the {used} kept; {granted} are granted")
        since, total = self._sums[tenant.number]
        self._sums[tenant.number] = since, total + size

    # ---------------------------------------------------------------- blobs

    def blob(self, tenant: Tenant, digest: bytes) -> Blob:
        """Return a tenant's blob; the same refusal for one that is not there and one of others."""
        found = self.store.blob(tenant.number, digest)
        if found is None:
            raise not_found("blob")
        return found

    async def put_blob(self, tenant: Tenant, digest: bytes, data: bytes) -> tuple[Blob, bool]:
        """Keep bytes that came whole; returns the blob and whether it is new to the tenant."""
        kinds.refuse_secret(data[:HEAD])
        if hashlib.sha256(data).digest() != digest:
            raise Problem("hash_mismatch", "the bytes have another SHA-256 than the address they were sent to")
        known = self.store.blob(tenant.number, digest)
        if known is not None:
            return known, False
        self._take_bytes(tenant, len(data))
        blob = await self._inspected(digest, data)
        await self.store.keep(tenant.number, blob, await self._placed(data))
        return blob, True

    async def _inspected(self, digest: bytes, data: bytes) -> Blob:
        allow = self.settings.allow_insecure
        kind, facts = await asyncio.to_thread(kinds.inspect, data, allow_insecure=allow)
        return Blob(digest, kind, len(data), facts)

    async def _placed(self, data: bytes) -> bytes | Path:
        """Return bytes for the database, or a part file that holds them."""
        if len(data) <= self.settings.inline:
            return data
        try:
            return await asyncio.to_thread(self.store.files.write_part, data)
        except OSError as error:
            raise store_full(error) or error from error

    async def delete_blob(self, tenant: Tenant, digest: bytes) -> None:
        """Let go of a blob, unless a job of the tenant's still needs it."""
        self.blob(tenant, digest)
        for job in self.scheduler.of_tenant(tenant.number):
            if digest in (job.row.program, job.row.keys, job.row.inputs) or digest.hex() in job.row.plain:
                raise Problem("in_use", f"job {job.row.id} needs this blob; wait for it or cancel it")
        if not await self.store.release(tenant.number, digest):
            raise not_found("blob")
        self._sums.pop(tenant.number, None)

    # ---------------------------------------------------------------- uploads

    async def begin_upload(self, tenant: Tenant, digest: bytes, size: int) -> Upload | Blob:
        """Return the upload of a blob, a new one or the one that was begun, or the blob if the tenant has it."""
        known = self.store.blob(tenant.number, digest)
        if known is not None:
            return known
        if size > self.settings.max_blob:
            raise Problem("too_large", f"{size} bytes; a blob may have {self.settings.max_blob}")
        begun = self.store.upload(tenant.number, digest=digest)
        if begun is not None and begun.size == size:
            return begun
        if begun is not None:
            await self.store.end_upload(begun)
        self._take_bytes(tenant, size)
        await self.store.begin_upload(Upload(secrets.token_hex(16), tenant.number, digest, size))
        kept = self.store.upload(tenant.number, digest=digest)
        if kept is None:
            raise not_found("upload")
        return kept

    def upload(self, tenant: Tenant, id: str) -> Upload:
        """Return a tenant's upload."""
        found = self.store.upload(tenant.number, id=id)
        if found is None:
            raise not_found("upload")
        return found

    def offset(self, upload: Upload) -> int:
        """Return how many bytes of it there are."""
        return self.store.files.size_of_part(upload.id)

    async def add_chunk(self, tenant: Tenant, id: str, offset: int, data: bytes) -> tuple[int, Blob | None]:
        """Add a chunk behind `offset` bytes; returns how many there are now, and the blob when it is whole."""
        async with self._chunks.setdefault(self.upload(tenant, id).id, asyncio.Lock()):
            upload = self.upload(tenant, id)
            there = self.offset(upload)
            if offset != there:
                raise Problem("wrong_offset", f"{there} bytes are there; go on from them", offset=there)
            if offset + len(data) > upload.size:
                raise Problem("too_large", f"{offset + len(data)} bytes; the upload was announced with {upload.size}")
            if offset == 0:
                kinds.refuse_secret(data[:HEAD])
            try:
                there = await asyncio.to_thread(self.store.files.append, upload.id, offset, data)
            except OSError as error:
                raise store_full(error) or error from error
            if there < upload.size:
                return there, None
            blob = await self._completed(tenant, upload)
            self._chunks.pop(id, None)
            return there, blob

    async def _completed(self, tenant: Tenant, upload: Upload) -> Blob:
        """Make a blob of a complete upload; an invalid one is removed."""
        path = self.store.files.part(upload.id)
        try:
            async with self._one_large:
                if await asyncio.to_thread(digest_of, path) != upload.digest:
                    raise Problem(
                        "hash_mismatch", "the bytes have another SHA-256 than was announced; they are removed"
                    )
                data = await asyncio.to_thread(path.read_bytes)
                blob = await self._inspected(upload.digest, data)
            small = upload.size <= self.settings.inline
            await self.store.keep(tenant.number, blob, data if small else path, upload.id)
        except Problem as problem:
            if problem.code != "store_full":
                await self.store.end_upload(upload)
            raise
        if small:
            self.store.files.drop_part(upload.id)
        return blob

    async def drop_upload(self, tenant: Tenant, id: str) -> None:
        """Forget an upload."""
        await self.store.end_upload(self.upload(tenant, id))
        self._chunks.pop(id, None)
        self._sums.pop(tenant.number, None)

    # ---------------------------------------------------------------- jobs

    async def submit(
        self, tenant: Tenant, id: str, hashes: Mapping[str, bytes], plain: Mapping[str, Any], keep: float,
        body: bytes | Lent | None = None,
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
            check_same(known, request)
            if isinstance(known, Job) and body is None:
                await known.kept_by_store()
            return known, False
        inputs = None if body is not None else self._of_kind(tenant, digests["inputs"], ARGUMENTS)
        plan = self.plan(tenant, digests, plain, inputs)
        unfinished = len(self.scheduler.of_tenant(tenant.number))
        job = self.new_job(plan, id, request, digests["inputs"], keep, body, unfinished)
        self.scheduler.dispatch()
        if body is None or len(body) > self.settings.inline:
            await job.kept_by_store()
        else:
            self.keep_soon([job])
        return job, True

    async def run(
        self, tenant: Tenant, id: str, hashes: Mapping[str, bytes], plain: Mapping[str, Any], keep: float,
        body: bytes | Lent, wait: float,
    ) -> bytes | Path | dict[str, Any]:  # fmt: skip
        """Submit a job with its arguments and wait: its result, or what its owner is told if it has none yet."""
        job, _ = await self.submit(tenant, id, hashes, plain, keep, body)
        if isinstance(job, Job):
            if job.state not in ENDED:
                await self.finished(job, wait)
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

    async def _keep_job(self, job: Job, body: bytes | Lent | None) -> None:
        """Write a new job to the store; it may run already, but nobody is told of it before this."""
        try:
            blob = None
            if body is not None:
                data = bytes_of(body)
                blob = Blob(job.row.inputs, ARGUMENTS, len(data), {}), await self._placed(data)
            await self.store.add_job(job.row, blob)
        except Exception:
            self.scheduler.drop(job)
            raise
        job.inputs = None  # The queue holds no bytes.

    def plan(self, tenant: Tenant, hashes: Mapping[str, bytes], plain: Mapping[str, Any], inputs: Blob | None) -> Plan:
        """Return what jobs of this program, keys and plain arguments share, checked: all there, together, in quota.

        `inputs`: those of the job if they are a blob; those that come with it are the worker's to read.
        """
        settings = self.settings
        program, keys = self._of_kind(tenant, hashes["program"], PROGRAM), self._of_kind(tenant, hashes["keys"], KEYS)
        kinds.check_together(program.facts, keys.facts, inputs.facts if inputs else keys.facts)
        self._check_plain(tenant, program.facts, plain)
        key_bytes = int(program.facts["session"]) + keys.size
        limit = settings.worker_key_memory
        cost.check(program.facts, key_bytes, settings.quota, limit, settings.threads, self.scheduler.speed)
        return Plan(tenant, program, keys, plain_text(plain), key_bytes)

    def new_job(
        self,
        plan: Plan,
        id: str,
        request: bytes,
        inputs: bytes,
        keep: float,
        body: bytes | Lent | None,
        unfinished: int,
    ) -> Job:
        """Queue a job of a plan; Problem if it is beyond the tenant's quotas, of which `unfinished` jobs are used."""
        tenant, settings = plan.tenant, self.settings
        data = body.view if isinstance(body, Lent) else body
        if data is not None:
            kinds.check_arguments(bytes(data[:HEAD]))
        if unfinished >= settings.quota.jobs:
            wait = max(1.0, self.scheduler.speed.seconds(int(plan.program.facts["cost"]["work"])))
            raise Problem("too_many_jobs", f"{settings.quota.jobs} jobs are granted at a time", retry_after=wait)
        if data is None or len(data) > settings.inline:
            keep = keep or LEAST_KEEP  # The queue holds no large bytes: the store does.
        if keep > 0:
            self._take_bytes(tenant, int(plan.program.facts["result_bytes"]) + len(data or b""))
        now = time.time()
        row = Row(
            tenant.number, id, self.store.next_number(), request, plan.program.digest, plan.keys.digest, inputs,
            plan.plain, "queued", now, None, 0, None, None, None, now + keep,
        )  # fmt: skip
        job = Job(row, plan.program.facts, plan.key_bytes, body)
        job.keep = partial(self._keep_job, job, body)
        self.scheduler.add(job)
        return job

    def _of_kind(self, tenant: Tenant, digest: bytes, kind: str) -> Blob:
        blob = self.blob(tenant, digest)
        if blob.kind != kind:
            raise Problem("wrong_kind", f"{digest.hex()[:16]} is of kind {blob.kind}; {kind} is needed there")
        return blob

    def _check_plain(self, tenant: Tenant, program: Facts, plain: Mapping[str, Any]) -> None:
        wanted = {entry["name"]: entry["shape"] for entry in program["arguments"] if not entry["encrypted"]}
        if sorted(plain) != sorted(wanted):
            names = ", ".join(wanted) or "(none)"
            raise Problem("bad_arguments", f"the program takes the plain arguments {names}; {len(plain)} came")
        for name, value in plain.items():
            if not isinstance(value, dict):
                continue
            shape = self._of_kind(tenant, kinds.digest_from(value["blob"]), ARRAY).facts["shape"]
            if shape != wanted[name]:
                raise Problem("bad_arguments", f"argument {name} has shape {wanted[name]}, the array {shape}")

    def job(self, tenant: Tenant, id: str) -> Job | Row | None:
        """Return a tenant's job: the scheduler's while it has no end, the store's after."""
        return self.scheduler.jobs.get((tenant.number, id)) or self.store.job(tenant.number, id)

    def jobs(self, tenant: Tenant, before: int, limit: int) -> list[dict[str, Any]]:
        """Return a page of a tenant's jobs, newest first."""
        rows = self.store.jobs(tenant.number, before, limit)
        return [self.view(self.scheduler.jobs.get((tenant.number, row.id)) or row) for row in rows]

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
                "started": job.started,
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
        """Return a job as it is when it has ended, or after so many seconds."""
        if isinstance(job, Job) and job.state not in ENDED and seconds > 0:
            await self.finished(job, seconds)
        return self._newest(tenant, job)

    async def finished(self, job: Job, seconds: float) -> None:
        """Wait for a job's end, so many seconds at most; Problem if too many wait already."""
        if self.waiting >= self.settings.waiting:
            raise Problem("busy", f"{self.waiting} requests wait for jobs already", retry_after=1.0)
        self.waiting += 1
        try:
            await self.scheduler.ended(job, seconds)
        finally:
            self.waiting -= 1

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
        self._sums.pop(tenant.number, None)

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
            "used": {"bytes": self.used_bytes(tenant), "jobs": len(self.scheduler.of_tenant(tenant.number))},
            "quota": {"bytes": quota.bytes, "jobs": quota.jobs, "memory": quota.memory, "seconds": quota.seconds},
            "limits": {"body": settings.max_body, "blob": settings.max_blob},
        }
