# SPDX-License-Identifier: Apache-2.0
"""Routes of the service over HTTP, and nothing that a route does not need."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Path as InPath
from fastapi.responses import FileResponse, JSONResponse, StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST

from ringsmith._native import __version__
from ringsmith.service.batch import Batch, jobs_of
from ringsmith.service.express import run_answer
from ringsmith.service.job import ENDED, Job
from ringsmith.service.kinds import KEYS, digest_from
from ringsmith.service.page import files as page_files
from ringsmith.service.problems import not_found
from ringsmith.service.requests import (
    BYTES,
    JOB_ID,
    MAX_WAIT,
    BeginUpload,
    SubmitJob,
    Terms,
    body_of,
    bytes_body,
    json_body,
    read,
)
from ringsmith.service.rows import Blob, Row
from ringsmith.service.service import Service
from ringsmith.service.tenants import Tenant

#: Seconds between signs of life in a stream of events.
_PULSE = 15.0
#: Longest stream of events; a client opens another.
_STREAM_SECONDS = 3600.0


async def _service(request: Request) -> Service:  # A plain function would be run in a thread, each time.
    service: Service = request.app.state.service
    return service


Serving = Annotated[Service, Depends(_service)]


async def _tenant(request: Request, service: Serving) -> Tenant:
    return service.sender(request.scope)


Sender = Annotated[Tenant, Depends(_tenant)]
HashPath = Annotated[str, InPath(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the bytes")]
JobId = Annotated[str, InPath(pattern=JOB_ID, description="a name of the client's choice")]
Wait = Annotated[float, Query(ge=0, le=MAX_WAIT, description="seconds to wait for the job's end")]
RunTerms = Annotated[Terms, Query()]
Limit = Annotated[int, Query(ge=1, le=1000)]

public, routes = APIRouter(), APIRouter(prefix="/v1")


def _json(content: Any, status: int = 200) -> JSONResponse:
    return JSONResponse(content, status)


def _bytes(source: bytes | Path, headers: dict[str, str] | None = None) -> Response:
    """Answer with a blob's bytes; files may be asked for in parts (Range)."""
    if isinstance(source, bytes):
        return Response(source, media_type=BYTES, headers=headers)
    return FileResponse(source, media_type=BYTES, headers=headers)


# ---------------------------------------------------------------- blobs


@routes.get("/blobs", summary="The blobs you hold")
async def list_blobs(
    service: Serving,
    tenant: Sender,
    kind: Annotated[str | None, Query(pattern="^[a-z]{1,16}$")] = None,
    after: Annotated[str, Query(pattern="^([0-9a-f]{64})?$", description="the last hash of the page before")] = "",
    limit: Limit = 100,
) -> Response:
    """Programs, evaluation keys, arguments and arrays, by hash, a page at a time."""
    return _json({"blobs": [b.view() for b in service.store.blobs(tenant.number, kind, bytes.fromhex(after), limit)]})


@routes.put("/blobs/{hash}", summary="Keep a blob", openapi_extra=bytes_body("a file that ringsmith saved, or a .npy"))
async def put_blob(service: Serving, tenant: Sender, request: Request, hash: HashPath) -> Response:
    """Send a blob whole, to the address that its SHA-256 is. Longer ones go in chunks (`POST /v1/uploads`)."""
    blob, new = await service.blobs.put(tenant, digest_from(hash), await body_of(request))
    return _json(blob.view(), 201 if new else 200)


@routes.get("/blobs/{hash}", summary="A blob's bytes")
async def get_blob(service: Serving, tenant: Sender, hash: HashPath) -> Response:
    """Get back what you keep."""
    blob = service.blobs.held(tenant, digest_from(hash))
    source = service.store.source(blob.digest)
    if source is None:
        raise not_found("blob")
    return _bytes(source)


@routes.get("/blobs/{hash}/facts", summary="What a blob is")
async def blob_facts(service: Serving, tenant: Sender, hash: HashPath) -> Response:
    """Kind, size, and what there is to say of it; also the way to ask whether you hold it."""
    return _json(service.blobs.held(tenant, digest_from(hash)).view())


@routes.delete("/blobs/{hash}", summary="Release a blob")
async def delete_blob(service: Serving, tenant: Sender, hash: HashPath) -> Response:
    """Refused while a job of yours needs it."""
    await service.blobs.delete(tenant, digest_from(hash))
    return Response(status_code=204)


# ---------------------------------------------------------------- uploads


@routes.post("/uploads", summary="Begin, or go on with, a blob in chunks", openapi_extra=json_body(BeginUpload))
async def begin_upload(service: Serving, tenant: Sender, request: Request) -> Response:
    """Say what will come. If you hold it already there is nothing to do (`blob`); else chunks go to the `upload`."""
    wanted = await read(request, BeginUpload)
    found = await service.blobs.begin_upload(tenant, digest_from(wanted.hash), wanted.size)
    if isinstance(found, Blob):
        return _json({"blob": found.view()})
    return _json({"upload": found.id, "offset": service.blobs.offset(found), "chunk": service.settings.max_body}, 201)


@routes.put("/uploads/{upload}", summary="A chunk", openapi_extra=bytes_body("the next bytes"))
async def add_chunk(
    service: Serving,
    tenant: Sender,
    request: Request,
    upload: Annotated[str, InPath(pattern="^[0-9a-f]{32}$")],
    offset: Annotated[int, Query(ge=0, le=1 << 50, description="bytes that were sent before")],
) -> Response:
    """Acknowledged bytes are on the disk. A wrong offset is refused with the right one, so nothing is sent twice."""
    there, blob = await service.blobs.add_chunk(tenant, upload, offset, await body_of(request))
    if blob is None:
        return _json({"offset": there})
    return _json({"offset": there, "blob": blob.view()}, 201)


@routes.get("/uploads/{upload}", summary="How far an upload is")
async def get_upload(
    service: Serving, tenant: Sender, upload: Annotated[str, InPath(pattern="^[0-9a-f]{32}$")]
) -> Response:
    """The offset to go on from."""
    found = service.blobs.upload(tenant, upload)
    return _json({"upload": found.id, "offset": service.blobs.offset(found), "size": found.size})


@routes.delete("/uploads/{upload}", summary="Give up an upload")
async def delete_upload(
    service: Serving, tenant: Sender, upload: Annotated[str, InPath(pattern="^[0-9a-f]{32}$")]
) -> Response:
    """Forget it and its bytes."""
    await service.blobs.drop_upload(tenant, upload)
    return Response(status_code=204)


# ---------------------------------------------------------------- jobs


@routes.put("/jobs/{id}", summary="Submit a job", openapi_extra=json_body(SubmitJob))
async def submit_job(service: Serving, tenant: Sender, request: Request, id: JobId, wait: Wait = 0.0) -> Response:
    """Everything by hash. The same submission again is the same job: safe to repeat."""
    wanted = await read(request, SubmitJob)
    hashes = {name: bytes.fromhex(getattr(wanted, name)) for name in ("program", "keys", "inputs")}
    job, new = await service.submit(tenant, id, hashes, wanted.arguments(), wanted.keep_seconds)
    job = await service.wait(tenant, job, wait)
    return _json(await service.told(job), 201 if new else 200)


@routes.put(
    "/jobs/{id}/run", summary="Submit arguments and wait", openapi_extra=bytes_body("a message of encrypted arguments")
)
async def run_job(service: Serving, tenant: Sender, request: Request, id: JobId, terms: RunTerms) -> Response:
    """One request for a whole job: the result (200), or the job (202) if it is not done when the wait is over."""
    return run_answer(await service.run(tenant, id, terms, await body_of(request)))


@routes.post("/jobs/run", summary="Many jobs in one request", openapi_extra=bytes_body("frames of name and arguments"))
async def run_jobs(service: Serving, tenant: Sender, request: Request, terms: RunTerms) -> Response:
    """Each frame is a job of its own; the answer has a frame for each, in the order in which they end."""
    jobs = jobs_of(await body_of(request))
    request.scope["jobs"] = len(jobs)
    return StreamingResponse(Batch(service, tenant, terms, jobs).answers(), media_type=BYTES)


@routes.get("/jobs", summary="Your jobs")
async def list_jobs(
    service: Serving, tenant: Sender, before: Annotated[int, Query(ge=0, le=1 << 60)] = 1 << 60, limit: Limit = 100
) -> Response:
    """Newest first; `before` is the last `number` of the page before."""
    return _json({"jobs": service.jobs(tenant, before, limit)})


def _job(service: Service, tenant: Tenant, id: str) -> Job | Row:
    found = service.job(tenant, id)
    if found is None:
        raise not_found("job")
    return found


@routes.get("/jobs/{id}", summary="A job's state")
async def get_job(service: Serving, tenant: Sender, id: JobId, wait: Wait = 0.0) -> Response:
    """With `wait` the answer comes when the job has ended, or after that time."""
    return _json(await service.told(await service.wait(tenant, _job(service, tenant, id), wait)))


@routes.get("/jobs/{id}/result", summary="A job's result")
async def get_result(service: Serving, tenant: Sender, id: JobId) -> Response:
    """The same bytes each time, until the job is deleted or its time is over."""
    return _bytes(service.result(_job(service, tenant, id)))


@routes.get("/jobs/{id}/events", summary="A job's progress as server-sent events")
async def get_events(service: Serving, tenant: Sender, id: JobId) -> Response:
    """An event `state` for each change, the last one with the end; comments keep the connection alive."""
    job = _job(service, tenant, id)
    return StreamingResponse(_events(service, tenant, job), media_type="text/event-stream")


async def _events(service: Service, tenant: Tenant, job: Job | Row) -> AsyncIterator[str]:
    async def event(job: Job | Row) -> str:
        return f"event: state\ndata: {json.dumps(await service.told(job))}\n\n"

    if isinstance(job, Job):
        yield await event(job)
        async for changed in service.scheduler.watch(job, time.monotonic() + _STREAM_SECONDS, _PULSE):
            if changed and job.state not in ENDED:
                yield await event(job)
            elif not changed:
                yield ": still there\n\n"
    yield await event(await service.wait(tenant, job, 0))


@routes.post("/jobs/{id}/cancel", summary="Cancel a job")
async def cancel_job(service: Serving, tenant: Sender, id: JobId) -> Response:
    """One that has ended stays as it is."""
    return _json(service.view(await service.cancel(tenant, id)))


@routes.delete("/jobs/{id}", summary="Forget a job")
async def delete_job(service: Serving, tenant: Sender, id: JobId) -> Response:
    """With its result; refused while it has not ended."""
    await service.delete_job(tenant, id)
    return Response(status_code=204)


@routes.get("/status", summary="Limits, what you use, keys in memory")
async def status(service: Serving, tenant: Sender) -> Response:
    """The server's state for the status page: limits, use, keys in memory."""
    keys = service.store.blobs(tenant.number, KEYS, b"", 1000)
    return _json({"version": __version__, **service.status(tenant), "keys": [blob.view() for blob in keys]})


# ---------------------------------------------------------------- for everybody


@public.get("/healthz", summary="The process lives")
async def healthz() -> Response:
    """Always 200."""
    return _json({"status": "ok"})


@public.get("/readyz", summary="Jobs are taken and a worker is there")
async def readyz(service: Serving) -> Response:
    """503 while the server starts or stops."""
    ready = not service.scheduler.stopping and any(hand.ready for hand in service.scheduler.pool.hands)
    return _json({"ready": ready}, 200 if ready else 503)


@public.get("/metrics", summary="Prometheus metrics")
async def metrics(service: Serving) -> Response:
    """Counts and sizes of the whole server; no tenant, no name."""
    return Response(service.metrics.text(service.gauges()), media_type=CONTENT_TYPE_LATEST)


def _page(path: str, content: bytes, media: str) -> None:
    @public.get(path, include_in_schema=False)
    async def answer() -> Response:
        return Response(content, media_type=media)


for _path, (_content, _media) in page_files().items():
    _page(_path, _content, _media)
