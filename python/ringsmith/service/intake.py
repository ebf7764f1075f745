# SPDX-License-Identifier: Apache-2.0
"""Long bodies of a request are received where workers read them, past the web server: no copy is made of them here."""

from __future__ import annotations

import asyncio
from typing import Protocol

from ringsmith.service.arena import Body

#: Bodies below this size are not worth it.
LEAST = 64 << 10


class Connection(Protocol):
    """The connection's own protocol."""

    def taken_in(self, intake: Intake) -> None:
        """Go on with a request whose body is whole."""

    def connection_lost(self, exc: Exception | None) -> None:
        """As of `asyncio.Protocol`."""

    def eof_received(self) -> None:
        """As of `asyncio.Protocol`."""

    def pause_writing(self) -> None:
        """As of `asyncio.Protocol`."""

    def resume_writing(self) -> None:
        """As of `asyncio.Protocol`."""


class Intake(asyncio.BufferedProtocol):
    """Stands in for the connection's own protocol until the body is whole."""

    def __init__(self, own: Connection, body: Body, got: bytes | bytearray) -> None:
        """Go on behind the bytes that came with the head."""
        self._own, self.body, self.got = own, body, len(got)
        body.view[: self.got] = got

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where the next bytes go: no further than the body's end."""
        return self.body.view[self.got :]

    def buffer_updated(self, nbytes: int) -> None:
        """Count them; at the end the connection goes on as before."""
        self.got += nbytes
        if self.got == len(self.body.view):
            self._own.taken_in(self)

    def eof_received(self) -> None:
        """Pass it on."""
        return self._own.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass it on."""
        self._own.connection_lost(exc)

    def pause_writing(self) -> None:
        """Pass it on."""
        self._own.pause_writing()

    def resume_writing(self) -> None:
        """Pass it on."""
        self._own.resume_writing()
