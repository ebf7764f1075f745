# SPDX-License-Identifier: Apache-2.0
"""Connections to one server that stay open between requests: the standard library's, which cost less than httpx."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from ringsmith.remote.address import socket_of
from ringsmith.remote.steps import CONNECT, Parts, Reply, too_long

#: Idle connections that are kept at most.
_IDLE = 64
#: Bytes that are sent with one call of the system at least, but for the last, and parts at most: longer pieces wake
#: the server less often.
_PIECE, _PARTS = 1 << 20, 512
#: Bytes of an answer for which room is taken at first.
_ROOM = 1 << 20
#: Exceptions of a connection that the server has closed, or of a server that is gone.
Broken = (OSError, http.client.HTTPException)


class Connections:
    """As many as threads ask at one time."""

    def __init__(self, url: str) -> None:
        """Connect at the first request."""
        parts, self._file = urlsplit(url), socket_of(url)
        self._host, self._port = parts.hostname or "", parts.port
        self._base = parts.path if self._file is None else ""
        self._context = ssl.create_default_context() if parts.scheme == "https" else None
        self._idle: list[http.client.HTTPConnection] = []
        self._room = _Room()

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | Parts | None, silence: float,
        most: int, fleeting: bool = False,
    ) -> Reply:  # fmt: skip
        """Make one request; raises one of `Broken`, or RemoteError for an answer of more than `most` bytes.

        `silence`: seconds without a byte before that is given up. `fleeting`: as of a request.
        """
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # Another thread took it.
                break
            try:
                return self._asked(connection, method, target, headers, body, silence, most, fleeting)
            except (http.client.RemoteDisconnected, ConnectionError):
                connection.close()  # The server had closed it while it was idle; any request may be made again.
        return self._asked(self._opened(), method, target, headers, body, silence, most, fleeting)

    def _opened(self) -> http.client.HTTPConnection:
        if self._file is not None:
            return _AtFile(self._file)
        if self._context is not None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=CONNECT, context=self._context)
        return http.client.HTTPConnection(self._host, self._port, timeout=CONNECT)

    def _asked(
        self, connection: http.client.HTTPConnection, method: str, target: str, headers: Mapping[str, str],
        body: bytes | Parts | None, silence: float, most: int, fleeting: bool,
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
            if fleeting and answer.status == 200:
                content: bytes | memoryview = self._room.read(answer, most)
            else:
                content = _within(answer.read(most + 1), most)
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


class _AtFile(http.client.HTTPConnection):
    """A connection through a file of this machine."""

    def __init__(self, file: str) -> None:
        super().__init__("localhost", timeout=CONNECT)
        self._file = file

    def connect(self) -> None:
        """Connect to the server that listens there."""
        self.sock = socket.socket(socket.AF_UNIX)
        try:
            self.sock.settimeout(self.timeout)
            # What does not go in one piece wakes the server for each; the system grants less if that is too much.
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _PIECE)
            self.sock.connect(self._file)
        except BaseException:
            self.close()
            raise


class _Room(threading.local):
    """A thread's memory for answers, used again for each: new memory costs more than what is read into it."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def read(self, answer: http.client.HTTPResponse, most: int) -> memoryview:
        """Return an answer's body, as long as no other is read; RemoteError if it has more than `most` bytes."""
        got = 0
        while True:
            if got == len(self._bytes):
                self._bytes = self._bytes + bytes(max(_ROOM, got))  # Not in place: what was read before may be in use.
            count = answer.readinto(memoryview(self._bytes)[got:])
            if count == 0:
                return memoryview(self._bytes)[:got]
            got += count
            if got > most:
                raise too_long(most)


def _within(content: bytes, most: int) -> bytes:
    if len(content) > most:
        raise too_long(most)
    return content


def _send_all(line: socket.socket, body: Parts) -> None:
    """Send a body, many frames with one call."""
    for size, parts in _pieces(body):
        if isinstance(line, ssl.SSLSocket):
            line.sendall(b"".join(parts))
            continue
        sent = line.sendmsg(parts)
        if sent < size:
            _send_rest(line, parts, sent)


def _send_rest(line: socket.socket, parts: Sequence[bytes], sent: int) -> None:
    """Send the rest of the parts, of which `sent` bytes are sent."""
    for part in parts:
        if sent < len(part):
            line.sendall(memoryview(part)[sent:])
        sent = max(0, sent - len(part))


def _pieces(body: Parts) -> Iterator[tuple[int, list[bytes]]]:
    """Yield frames by the piece."""
    piece, size = list[bytes](), 0
    for length, parts in body:
        if piece and (size >= _PIECE or len(piece) + len(parts) > _PARTS):
            yield size, piece
            piece, size = [], 0
        piece += parts if len(parts) <= _PARTS else [b"".join(parts)]
        size += length
    yield size, piece
