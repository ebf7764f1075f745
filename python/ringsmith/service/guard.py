# SPDX-License-Identifier: Apache-2.0
"""Between the network and the service: limits on heads, bodies and patience, a log line each, one kind of error."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

from httptools import HttpRequestParser
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ringsmith.service.arena import Arena
from ringsmith.service.door import Door
from ringsmith.service.intake import LEAST, Intake
from ringsmith.service.logs import log
from ringsmith.service.metrics import Metrics
from ringsmith.service.problems import Problem, store_full
from ringsmith.service.settings import Settings
from ringsmith.service.traffic import Traffic

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

#: The requests whose bodies are received in place.
IN_PLACE = re.compile(r"/v1/jobs/([^/]+/)?run")
#: Bytes of a request's line and headers.
_MAX_HEAD = 32 << 10
_SECURITY = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
]


class Patient(HttpToolsProtocol):
    """Closes a connection that takes too long to say what it wants, or says too much."""

    #: Set by `protocol`.
    settings: Settings
    arena: Arena | None
    door: Door
    #: As of a line.
    address = ""
    tenant: int | None = None
    _head_bytes = 0
    _clock: asyncio.TimerHandle | None = None
    _head_is_new = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._wait_for_head()
        self.door.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_clock()
        self.door.leave(self)
        super().connection_lost(exc)

    @property
    def busy(self) -> bool:
        """Whether a request is under way."""
        return self.cycle is not None and not self.cycle.response_complete

    def belongs_to(self, tenant: int) -> None:
        """Set the tenant of this connection."""
        self.tenant = tenant

    def turn_away(self) -> None:
        """Answer that there is no room, and close; an answer that was begun is cut short."""
        if self.busy:
            self.transport.abort()
            return
        self._refuse(Problem("no_room", "all connections of the server are taken", retry_after=1.0))

    def data_received(self, data: bytes) -> None:
        """Take bytes of a head, or of a body; the rest of a long one goes to the arena."""
        self._head_is_new = False
        super().data_received(data)
        if self._clock is not None:
            self._head_bytes += len(data)
            if self._head_bytes > _MAX_HEAD:
                self.transport.abort()
        elif self._head_is_new and self.arena is not None and not self.transport.is_closing():
            self._take_in(self.arena)

    def _take_in(self, arena: Arena) -> None:
        """Receive what is to come of a request's body in place, if it is of those for which that pays."""
        cycle, length = self.cycle, _length(self.scope)
        began = cycle.more_body and not self.pipeline and not cycle.waiting_for_100_continue and self.scheme == "http"
        if not IN_PLACE.fullmatch(self.scope["path"]) or not began or length is None or length < LEAST:
            return
        body = arena.take(length) if length <= self.settings.max_body else None
        if body is None:
            return
        intake = Intake(self, body, cycle.body)
        cycle.body = bytearray()
        cast(MutableMapping[str, Any], self.scope)["intake"] = intake
        self._hand_over(intake)

    def taken_in(self, intake: Intake) -> None:
        """Go on with the request: its body is whole. The parser saw none of it, and a new one reads what follows."""
        self.parser = HttpRequestParser(self)
        self._hand_over(self)
        self.on_message_complete()

    def _hand_over(self, protocol: asyncio.BaseProtocol) -> None:
        """Let another protocol have what comes from now on."""
        self.flow.pause_reading()
        self.transport.set_protocol(protocol)
        self.flow.resume_reading()

    def send_400_response(self, msg: str) -> None:
        """Refuse in our form."""
        self._refuse(Problem("bad_request", "no HTTP request that can be read"))

    def _refuse(self, problem: Problem) -> None:
        """Answer without the application, and close."""
        body = json.dumps(problem.body()).encode()
        headers = [*headers_of(problem, body), *_SECURITY, (b"connection", b"close")]
        status = HTTPStatus(problem.status)
        lines = [
            f"HTTP/1.1 {status.value} {status.phrase}".encode(),
            *(name + b": " + value for name, value in headers),
            b"",
            body,
        ]
        self.transport.write(b"\r\n".join(lines))
        self.transport.close()

    def on_message_begin(self) -> None:
        """Wait for a head."""
        super().on_message_begin()
        if self._clock is None:
            self._wait_for_head()

    def on_headers_complete(self) -> None:
        """Hold it."""
        self._stop_clock()
        cast(MutableMapping[str, Any], self.scope)["line"] = self
        super().on_headers_complete()
        self._head_is_new = True

    def _wait_for_head(self) -> None:
        self._head_bytes = 0
        self._clock = self.loop.call_later(self.settings.head_seconds, self.transport.abort)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None


def protocol(settings: Settings, arena: Arena | None) -> type[Patient]:
    """Return uvicorn's protocol with limits on the size of a head, the time for it, and the number of connections."""
    return type("Patient", (Patient,), {"settings": settings, "arena": arena, "door": Door(settings.connections)})


def _length(scope: Any) -> int | None:
    """Return the length that a request announces for its body; None for one in chunks, or none at all."""
    length = None
    for name, value in scope["headers"]:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            length = int(value) if len(value) <= 18 else None
    return length


class Guard:
    """The outermost part of the application."""

    def __init__(self, app: App, settings: Settings, traffic: Traffic) -> None:
        """Guard `app`."""
        self._app, self._settings, self._traffic = app, settings, traffic
        self.metrics = Metrics()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            await _Request(self._settings, self.metrics, scope, receive, send).serve(self._app)
        finally:
            self._traffic.leave(scope)


class _Request:
    """One request on its way."""

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        scope: MutableMapping[str, Any],
        receive: Receive,
        send: Send,
    ) -> None:
        self._settings, self._metrics, self._scope = settings, metrics, scope
        self._receive, self._send = receive, send
        self._start = time.perf_counter()
        self._body, self._whole = 0, False
        self._body_start: float | None = None
        self._status = 0
        self._bytes_out = 0

    async def serve(self, app: App) -> None:
        try:
            self._check_length()
            await app(self._scope, self.receive, self.send)
        except ClientDisconnect:
            pass  # The client is gone.
        except Exception as error:
            await self._answer(error)
        finally:
            self._scope.pop("intake", None)  # A connection that stays open keeps no slot.
            self._tell()

    def _check_length(self) -> None:
        for name, value in self._scope["headers"]:
            if name == b"content-length" and (len(value) > 18 or int(value) > self._settings.max_body):
                raise self._too_large()

    def _too_large(self) -> Problem:
        limit = self._settings.max_body
        return Problem("too_large", f"a body of more than {limit} bytes; send a blob in chunks (POST /v1/uploads)")

    async def receive(self) -> Message:
        """Return the next part of the body, within the bytes and the time that are granted."""
        if self._whole:
            return await self._receive()
        settings = self._settings
        self._body_start = self._body_start or time.monotonic()
        while (message := await self._in_time(got := self._received())) is None:
            if self._received() == got:
                raise Problem("timeout", f"the body came slower than {settings.body_rate} bytes a second")
        intake = self._scope.get("intake")  # What it has is in no message.
        self._body = self._body + len(message.get("body", b"")) if intake is None else intake.got
        self._whole = not message.get("more_body", False)
        if self._body > settings.max_body:
            raise self._too_large()
        return message

    def _received(self) -> int:
        intake = self._scope.get("intake")
        return self._body if intake is None else intake.got

    async def _in_time(self, received: int) -> Message | None:
        """Return the next part of the body; None if it does not come in the time granted for its bytes."""
        granted = self._settings.body_seconds + received / self._settings.body_rate
        assert self._body_start is not None
        try:
            async with asyncio.timeout(max(0.0, self._body_start + granted - time.monotonic())):
                return await self._receive()
        except TimeoutError:
            return None

    async def send(self, message: Message) -> None:
        """Pass an answer on to a client that takes it."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = [*message.get("headers", ()), *_SECURITY]
            if not self._whole and self._scope["method"] in ("PUT", "POST"):
                headers.append((b"connection", b"close"))  # The rest of the body is not read.
            message = {**message, "headers": headers}
        self._bytes_out += len(message.get("body", b""))
        async with asyncio.timeout(self._settings.send_seconds):
            await self._send(message)

    async def _answer(self, error: Exception) -> None:
        """Answer an unhandled error."""
        problem = error if isinstance(error, Problem) else store_full(error)
        if problem is None and not isinstance(error, TimeoutError):
            log("defect", logging.ERROR, route=self._route(), kind=type(error).__name__, place=_place(error))
        if self._status:
            return  # Answered, or cut short: a client that takes nothing.
        problem = problem or Problem("internal", "a defect of the server; its log says where")
        body = json.dumps(problem.body()).encode()
        await self.send({"type": "http.response.start", "status": problem.status, "headers": headers_of(problem, body)})
        await self.send({"type": "http.response.body", "body": body})

    def _route(self) -> str:
        """Return the pattern of the path: what a client wrote itself stands in no log."""
        route = self._scope.get("route")
        return getattr(route, "path", "(none)")

    def _tell(self) -> None:
        seconds, route = time.perf_counter() - self._start, self._route()
        tenant = self._scope.get("state", {}).get("tenant")
        self._metrics.answered(self._scope["method"][:8], route, self._status, seconds)
        log(
            "request", method=self._scope["method"][:8], route=route, status=self._status, tenant=tenant,
            jobs=self._scope.get("jobs"), ms=round(seconds * 1e3, 2), bytes_in=self._body, bytes_out=self._bytes_out,
        )  # fmt: skip


def headers_of(problem: Problem, body: bytes) -> list[tuple[bytes, bytes]]:
    """Return the headers of a refusal."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if problem.retry_after is not None:
        headers.append((b"retry-after", str(max(1, round(problem.retry_after))).encode()))
    if problem.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    return headers


def _place(error: BaseException) -> str:
    """Return file and line of the innermost place, no values."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"
