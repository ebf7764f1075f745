# SPDX-License-Identifier: Apache-2.0
"""Bodies on their way over a socket: whole, in order, whatever the sizes of frames and of the socket's buffers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.client import HTTPResponse

import pytest

from ringsmith.remote.connections import _Room, _send_all


class Frames:
    """A body of frames."""

    def __init__(self, frames: list[list[bytes]]) -> None:
        self.frames = frames
        self.whole = b"".join(part for frame in frames for part in frame)
        self.length = len(self.whole)

    def __iter__(self) -> Iterator[tuple[int, list[bytes]]]:
        for frame in self.frames:
            yield sum(map(len, frame)), list(frame)


def _bytes(count: int, seed: int) -> bytes:
    return bytes((seed + 7 * place) % 251 for place in range(count))


BODIES = {
    "nothing": [],
    "an empty frame": [[], [b""]],
    "more parts than a call of the system takes": [[_bytes(9, number) for number in range(3000)]],
    "many frames of few bytes": [[_bytes(3, number), b"", _bytes(5, number)] for number in range(2000)],
    "many frames of a page": [[_bytes(900, number), _bytes(1100, number)] for number in range(200)],
    "longer than all buffers": [[_bytes(700_001, 1), _bytes(3, 2)], [_bytes(2_500_000, 3)], [_bytes(1, 4)]],
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("timeout", [None, 20.0])
def test_a_body_arrives_as_it_is(name: str, timeout: float | None) -> None:
    """Calls of the system that take a part only go on behind it."""
    body, got = Frames(BODIES[name]), bytearray()
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    ours.settimeout(timeout)

    def receive() -> None:
        while part := theirs.recv(50_000):
            got.extend(part)

    reader = threading.Thread(target=receive)
    reader.start()
    _send_all(ours, body)
    ours.close()
    reader.join(20)
    theirs.close()
    assert bytes(got) == body.whole


def _answer(chunks: list[bytes]) -> HTTPResponse:
    """Return an HTTP response in chunks, to be read."""
    framed = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    ours, theirs = socket.socketpair()

    def send() -> None:
        theirs.sendall(head + framed + b"0\r\n\r\n")
        theirs.close()

    threading.Thread(target=send).start()
    answer = HTTPResponse(ours)
    answer.begin()
    ours.close()
    return answer


def test_a_thread_reads_answer_after_answer_into_the_same_memory() -> None:
    """Longer than the room, as long, shorter, empty: each is whole, and nothing of the one before is in it."""
    room = _Room()
    longest = 1 << 20
    for chunks in (
        [_bytes(longest, 1), _bytes(longest, 2), _bytes(77, 3)], [_bytes(longest, 4)], [_bytes(10, 5), _bytes(1, 6)], []
    ):  # fmt: skip
        assert bytes(room.read(_answer(chunks), 1 << 30)) == b"".join(chunks)
