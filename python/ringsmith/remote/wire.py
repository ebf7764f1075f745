# SPDX-License-Identifier: Apache-2.0
"""Transport of steps to a server, blocking or asynchronous (httpx); failures on the way are retried, as all may be."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlencode

from ringsmith._native import __version__
from ringsmith.errors import InputError
from ringsmith.extras import to_install
from ringsmith.remote.address import socket_of
from ringsmith.remote.steps import (
    CONNECT,
    PASSING,
    Answer,
    Parts,
    RemoteError,
    Reply,
    Request,
    Steps,
    refusal,
    too_long,
    whole,
)

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0
#: Statuses of an answer with the requested content; redirections are refused.
_SUCCESSES = (200, 201, 202, 204)
#: Seconds between two bytes.
_SILENCE = 60.0


def headers_of(api_key: str) -> dict[str, str]:
    """Return what every request says of its sender."""
    return {"authorization": f"Bearer {api_key.strip()}", "user-agent": f"ringsmith/{__version__}"}


class Patience:
    """Retry policy of a request: growing pauses, and the time after which it gives up."""

    def __init__(self, seconds: float) -> None:
        """Give up when this many seconds have passed since the first failure."""
        self._seconds, self._since, self._pause = seconds, 0.0, _FIRST_PAUSE

    def pause(self, wanted: float | None) -> float | None:
        """Return how long to wait before the next try, None to give up. `wanted`: what the server asked for."""
        now = time.monotonic()
        self._since = self._since or now
        pause = min(_LONGEST_PAUSE, self._pause) * random.uniform(0.7, 1.3)
        self._pause *= 2
        pause = max(pause, wanted or 0.0)
        return pause if now + pause - self._since <= self._seconds else None


def _spelled(request: Request) -> tuple[str, dict[str, str], bytes | Parts | None]:
    """Return a request's target, headers of its own, and body."""
    query = "?" + urlencode(request.query) if request.query else ""
    if request.json is not None:
        return request.path + query, {"content-type": "application/json"}, json.dumps(request.json).encode()
    if request.body is None:
        return request.path + query, {}, None
    kind = {"content-type": "application/octet-stream"}
    if not isinstance(request.body, bytes):
        kind["content-length"] = str(request.body.length)
    return request.path + query, kind, request.body


def _wanted_pause(response: Reply) -> float | None:
    value = response.headers.get("retry-after", "")
    return float(value) if value.isdecimal() and len(value) < 6 else None


def _answer(request: Request, response: Reply) -> Answer:
    """Return an answer; RemoteError for a refusal that the steps do not expect."""
    is_json = response.headers.get("content-type", "").startswith("application/json")
    try:
        told = json.loads(bytes(response.content)) if is_json else None
        answer = Answer(response.status_code, told, response.content)
        if response.status_code in _SUCCESSES:
            return answer
        code = answer.json["error"]["code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RemoteError("bad_answer", f"status {response.status_code} without a reason: is this ringsmith?") from None
    if code in request.expected:
        return answer
    raise refusal(answer.json)


def _unreachable(url: str, error: Exception | None, response: Reply | None) -> RemoteError:
    if response is not None and response.status_code == 429:
        return RemoteError("queue_full", f"{url}: the server is busy; it was asked until patience ended")
    reason = type(error).__name__ if error is not None else f"status {response.status_code if response else '?'}"
    return RemoteError("unreachable", f"{url}: cannot be reached ({reason})")


class Wire:
    """Blocking; may be used by several threads."""

    def __init__(self, url: str, api_key: str, patience: float) -> None:
        """Talk to `url`; failures on the way are tried again for `patience` seconds."""
        from ringsmith.remote.connections import Broken, Connections

        self.url, self._patience, self._headers = url, patience, headers_of(api_key)
        self._connections, self._broken = Connections(url), Broken

    def run(self, steps: Steps[T]) -> T:
        """Make the requests of steps and return what they return."""
        try:
            request = next(steps)
            while True:
                request = steps.send(self._ask(request))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _ask(self, request: Request) -> Answer:
        patience = Patience(self._patience)
        target, kind, body = _spelled(request)
        while True:
            error: Exception | None = None
            response = None
            try:
                silence = _SILENCE + request.wait
                headers = self._headers | kind
                response = self._connections.exchange(
                    request.method, target, headers, body, silence, request.most, request.fleeting
                )
                if response.status_code not in PASSING:
                    return _answer(request, response)
            except self._broken as raised:
                error = raised
            pause = patience.pause(_wanted_pause(response) if response is not None else None)
            if pause is None:
                raise _unreachable(self.url, error, response)
            time.sleep(pause)

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()


class AsyncWire:
    """The same on asyncio."""

    def __init__(self, url: str, api_key: str, patience: float) -> None:
        """Talk to `url`; failures on the way are tried again for `patience` seconds."""
        import httpx

        self.url, self._patience = url, patience
        timeout, file = httpx.Timeout(_SILENCE, connect=CONNECT), socket_of(url)
        self._http = httpx.AsyncClient(
            base_url=url if file is None else "http://localhost", headers=headers_of(api_key), timeout=timeout,
            transport=None if file is None else httpx.AsyncHTTPTransport(uds=file), trust_env=False,
        )  # fmt: skip

    async def run(self, steps: Steps[T]) -> T:
        """Make the requests of steps and return what they return; the event loop goes on between."""
        try:
            request = next(steps)
            while True:
                request = steps.send(await self._ask(request))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    async def _ask(self, request: Request) -> Answer:
        import asyncio

        import httpx

        patience = Patience(self._patience)
        target, kind, body = _spelled(request)
        while True:
            error: Exception | None = None
            response = None
            try:
                timeout = httpx.Timeout(_SILENCE + request.wait, connect=CONNECT)
                content = body if isinstance(body, bytes) or body is None else whole(body)
                async with self._http.stream(
                    request.method, target, content=content, headers=kind, timeout=timeout
                ) as stream:
                    response = await _reply(stream, request.most)
                if response.status_code not in PASSING:
                    return _answer(request, response)
            except httpx.TransportError as raised:
                error = raised
            pause = patience.pause(_wanted_pause(response) if response is not None else None)
            if pause is None:
                raise _unreachable(self.url, error, response)
            await asyncio.sleep(pause)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()


async def _reply(response: httpx.Response, most: int) -> Reply:
    content = bytearray()
    async for part in response.aiter_bytes():
        content += part
        if len(content) > most:
            raise too_long(most)
    return Reply(response.status_code, dict(response.headers), bytes(content))


def needed(make: Callable[[], T]) -> T:
    """Return what `make` makes; InputError where httpx is missing."""
    try:
        return make()
    except ImportError as error:
        raise InputError(f"talking to a server needs {error.name}: {to_install('remote')}") from None
