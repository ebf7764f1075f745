# SPDX-License-Identifier: Apache-2.0
"""Connections to one server that stay open between requests: the standard library's, which cost less than httpx."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from ringsmith.remote.steps import CONNECT, Parts, Reply

#: Idle connections that are kept at most.
_IDLE = 64
#: Bytes that are sent with one call of the system at least, but for the last.
_PIECE = 64 << 10
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
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | Parts | None, silence: float
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
        body: bytes | Parts | None, silence: float,
    ) -> Reply:  # fmt: skip
        try:
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(silence)
            try:
                if body is None or isinstance(body, bytes):
                    connection.request(method, self._base + target, body, dict(headers))
                else:
                    connection.request(method, self._base + target, None, dict(headers))
                    _send_all(connection.sock, body)
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


def _send_all(line: socket.socket, parts: Iterable[bytes]) -> None:
    """Send the parts of a body one behind the other, short ones with what follows them."""
    for waiting in _pieces(parts):
        if isinstance(line, ssl.SSLSocket):
            line.sendall(b"".join(waiting))
            continue
        sent = line.sendmsg(waiting)
        for part in waiting:
            if sent < len(part):
                line.sendall(memoryview(part)[sent:])
            sent = max(0, sent - len(part))


def _pieces(parts: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield parts by the piece."""
    piece, size = list[bytes](), 0
    for part in parts:
        piece.append(part)
        size += len(part)
        if size >= _PIECE:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece
