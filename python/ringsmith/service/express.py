# SPDX-License-Identifier: Apache-2.0
"""A short way for the requests that count, a job's and many jobs', as our client writes them.

What is written otherwise goes the long way through the framework, to the same end (`Service.run`, `Batch`): this is
faster, and nothing else. The framework takes most of the time that a small job costs beside the engine's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from pydantic import ValidationError
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, JSONResponse, Response

from ringsmith.service.arena import Body
from ringsmith.service.batch import Batch, jobs_of
from ringsmith.service.guard import App, Receive, Send
from ringsmith.service.requests import BYTES, Terms
from ringsmith.service.service import Service
from ringsmith.service.tenants import Tenant

#: Address and query of a job in one request, and of many.
_RUN, _MANY = re.compile(r"/v1/jobs/([A-Za-z0-9][A-Za-z0-9._-]{0,63})/run"), "/v1/jobs/run"
_QUERY = re.compile(
    rb"program=([0-9a-f]{64})&keys=([0-9a-f]{64})&plain=([^&]{0,8192})&keep=([0-9.]{1,15})&wait=([0-9.]{1,9})"
)
_HEADERS = [(b"content-type", BYTES.encode())]


class _Run:
    """A name in logs and metrics: the framework's for the same address."""

    path = "/v1/jobs/{id}/run"


class _Many:
    """The same for many jobs."""

    path = _MANY


class Express:
    """In front of the framework."""

    def __init__(self, app: App, service: Callable[[], Service]) -> None:
        """Pass everything else on to `app`."""
        self._app, self._service = app, service

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and (terms := _terms(scope["query_string"])) is not None:
            method, path = scope["method"], scope["path"]
            if method == "POST" and path == _MANY:
                scope["route"] = _Many
                await self._many(self._service().sender(scope), terms, scope, receive, send)
                return
            if method == "PUT" and (found := _RUN.fullmatch(path)) is not None:
                scope["route"] = _Run
                await self._run(self._service().sender(scope), found[1], terms, scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _run(
        self, tenant: Tenant, id: str, terms: Terms, scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        body = await _body(scope, receive)
        sent = body.part(0, len(body.view)) if isinstance(body, Body) else body
        del body  # Its place in the arena is free when the job has its end, or the store has it.
        outcome = await self._service().run(tenant, id, terms, sent)
        if not isinstance(outcome, bytes):
            await run_answer(outcome)(scope, receive, send)
            return
        headers = [(b"content-length", b"%d" % len(outcome)), *_HEADERS]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": outcome})

    async def _many(
        self, tenant: Tenant, terms: Terms, scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        jobs = jobs_of(await _body(scope, receive))
        scope["jobs"] = len(jobs)
        batch = Batch(self._service(), tenant, terms, jobs)
        del jobs
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        async for frames in batch.answers():
            await send({"type": "http.response.body", "body": frames, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def _terms(query: bytes) -> Terms | None:
    """Return the terms of a query as our client writes it; None for one that the framework has to judge."""
    found = _QUERY.fullmatch(query)
    if found is None:
        return None
    program, keys, plain, keep, wait = (part.decode("ascii", "replace") for part in found.groups())
    plain = "{}" if plain == "%7B%7D" else unquote_plus(plain)
    try:
        return Terms.model_validate({"program": program, "keys": keys, "plain": plain, "keep": keep, "wait": wait})
    except ValidationError:
        return None


def run_answer(outcome: bytes | Path | dict[str, Any]) -> Response:
    """Return what is answered to a job in one request: its result, or what there is to say of it."""
    if isinstance(outcome, dict):
        return JSONResponse(outcome, 202)
    if isinstance(outcome, bytes):
        return Response(outcome, media_type=BYTES)
    return FileResponse(outcome, media_type=BYTES)


async def _body(scope: MutableMapping[str, Any], receive: Receive) -> bytes | Body:
    """Return a request's body, or where it lies in the arena; scope and request no longer hold it."""
    parts: list[bytes] = []
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    if "intake" in scope:
        body: Body = scope.pop("intake").body
        return body
    return parts[0] if len(parts) == 1 else b"".join(parts)
