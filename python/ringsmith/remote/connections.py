# SPDX-License-Identifier: Apache-2.0
"""Connections to one server that stay open between requests: the standard library's, which cost less than httpx."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from ringsmith.remote.steps import CONNECT, Reply

#: Idle connections that are kept at most.
_IDLE = 64
#: Exceptions of a connection that the server has closed, or of a server that is gone.
Broken = (OSError, http.client.HTTPException)


class Connections:
    """As many as threads ask at one time."""

    def __init__(self, url: str) -> None:
        """Connect at the first request."""
        parts = urlsplit(url)
        self._host, self._port, self._base = parts.hostname or "", parts.port, parts.path
        self._context = ssl.create_default_context() if parts.scheme == "https" else None
        self._idle: list[http.client.HTTPConnection] = []

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | Sequence[bytes] | None, silence: float
    ) -> Reply:
        """Make one request; raises one of `Broken`. `silence`: seconds without a byte before that is given up."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # Another thread took it.
                break
            try:
                return self._asked(connection, method, target, headers, body, silence)
            except (http.client.RemoteDisconnected, ConnectionError):
                connection.close()  # The server had closed it while it was idle; any request may be made again.
        return self._asked(self._opened(), method, target, headers, body, silence)

    def _opened(self) -> http.client.HTTPConnection:
        if self._context is not None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=CONNECT, context=self._context)
        return http.client.HTTPConnection(self._host, self._port, timeout=CONNECT)

    def _asked(
        self, connection: http.client.HTTPConnection, method: str, target: str, headers: Mapping[str, str],
        body: bytes | Sequence[bytes] | None, silence: float,
    ) -> Reply:  # fmt: skip
        try:
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(silence)
            try:
                connection.request(method, self._base + target, body, dict(headers))
            except (BrokenPipeError, ConnectionResetError):
                # A server that refuses a body does not read it to its end; its answer may lie there.
                if body is None:
                    raise
            answer = connection.getresponse()
            content = answer.read()
        except BaseException:
            connection.close()
            raise
        if connection.sock is not None and len(self._idle) < _IDLE:
            self._idle.append(connection)
        names = answer.getheaders()
        return Reply(answer.status, {name.lower(): value for name, value in names}, content)

    def close(self) -> None:
        """Close those that are idle."""
        while self._idle:
            self._idle.pop().close()
