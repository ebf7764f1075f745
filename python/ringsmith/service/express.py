# SPDX-License-Identifier: Apache-2.0
"""A short way for the request that counts: `PUT /v1/jobs/ID/run` as our client writes it.

What is written otherwise goes the long way through the framework, to the same end (`Service.run`): this is faster,
and nothing else. The framework takes most of the time that a small job costs beside the engine's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, JSONResponse, Response

from ringsmith.service.arena import Body, Lent
from ringsmith.service.guard import App, Receive, Send
from ringsmith.service.requests import BYTES, MAX_KEEP, MAX_WAIT, plain_of
from ringsmith.service.service import Service

#: Its name in logs and metrics: the framework's for the same address.
_ROUTE = "/v1/jobs/{id}/run"
_PATH = re.compile(r"/v1/jobs/([A-Za-z0-9][A-Za-z0-9._-]{0,63})/run")
_QUERY = re.compile(
    rb"program=([0-9a-f]{64})&keys=([0-9a-f]{64})&plain=([^&]{0,8192})&keep=([0-9]{1,8}(?:\.[0-9]{1,6})?)"
    rb"&wait=([0-9]{1,2}(?:\.[0-9]{1,6})?)"
)


class _Route:
    path = _ROUTE


class Express:
    """In front of the framework."""

    def __init__(self, app: App, service: Callable[[], Service]) -> None:
        """Pass everything else on to `app`."""
        self._app, self._service = app, service

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["method"] == "PUT":
            path, query = _PATH.fullmatch(scope["path"]), _QUERY.fullmatch(scope["query_string"])
            if path is not None and query is not None:
                keep, wait = float(query[4]), float(query[5])
                if 0 <= keep <= MAX_KEEP and wait <= MAX_WAIT:
                    scope["route"] = _Route
                    await self._run(scope, receive, send, path[1], query, keep, wait)
                    return
        await self._app(scope, receive, send)

    async def _run(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Send, id: str, query: re.Match[bytes],
        keep: float, wait: float,
    ) -> None:  # fmt: skip
        service = self._service()
        tenant = service.sender(_key(scope))
        scope["state"] = {"tenant": tenant.number}
        plain = {} if query[3] == b"%7B%7D" else plain_of(unquote_plus(query[3].decode("ascii", "replace")))
        hashes = {"program": bytes.fromhex(query[1].decode()), "keys": bytes.fromhex(query[2].decode())}
        outcome = await service.run(tenant, id, hashes, plain, keep, await _body(scope, receive), wait)
        if not isinstance(outcome, bytes):
            await run_answer(outcome)(scope, receive, send)
            return
        headers = [(b"content-length", b"%d" % len(outcome)), (b"content-type", BYTES.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": outcome})


def run_answer(outcome: bytes | Path | dict[str, Any]) -> Response:
    """Return what is answered to a job in one request: its result, or what there is to say of it."""
    if isinstance(outcome, dict):
        return JSONResponse(outcome, 202)
    if isinstance(outcome, bytes):
        return Response(outcome, media_type=BYTES)
    return FileResponse(outcome, media_type=BYTES)


async def _body(scope: MutableMapping[str, Any], receive: Receive) -> bytes | Lent:
    parts: list[bytes] = []
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    if "intake" in scope:  # It lies in the arena.
        whole: Body = scope.pop("intake").body
        return whole.part(0, len(whole.view))
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _key(scope: MutableMapping[str, Any]) -> str:
    for name, value in scope["headers"]:
        if name == b"authorization":
            return str(value.decode("latin-1"))
    return ""
