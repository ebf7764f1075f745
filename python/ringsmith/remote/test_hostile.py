# SPDX-License-Identifier: Apache-2.0
"""A server that is none, or means harm: the client ends with `bad_answer`, in bounded memory."""

from __future__ import annotations

import asyncio
import itertools
import threading
import tracemalloc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.remote import steps

JSON = {"content-type": "application/json"}


@contextmanager
def serving(status: int, headers: dict[str, str], body: Iterable[bytes]) -> Iterator[str]:
    """Answer every request so; gives the address."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            with suppress(OSError):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for part in body:
                    self.wfile.write(part)

        do_GET = do_PUT = do_POST = do_DELETE = answer  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@rs.kernel(x=rs.Encrypted(4, bound=1.0), tolerance=1e-3)
def double(x: Any) -> Any:
    """Short."""
    return 2 * x


ANSWERS: dict[str, tuple[int, dict[str, str], Iterable[bytes]]] = {
    "a redirection": (302, {"location": "http://127.0.0.1:9/"}, ()),
    "nothing": (200, {}, ()),
    "no JSON": (200, JSON, (b"{",)),
    "JSON nested deeply": (200, JSON, (b"[" * 1_000_000,)),
    "a list": (200, JSON, (b"[]",)),
    "a word": (200, JSON, (b'"x"',)),
    "other fields": (200, JSON, (b'{"offset": true, "state": 1, "upload": [], "chunk": 0, "limits": 3, "jobs": 1}',)),
    "a refusal without a reason": (404, JSON, (b'{"error": 3}',)),
    "a refusal nested deeply": (404, JSON, (b'{"error":' * 500_000,)),
    "jobs of no form": (200, JSON, (b'{"jobs": [1], "limits": {"body": -5}}',)),
    "an endless page of jobs": (200, JSON, (b'{"jobs": [{"number": 7}], "state": "done"}',)),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_no_answer_of_ours_is_called_bad(name: str) -> None:
    with serving(*ANSWERS[name]) as url, rs.connect(url, "key", patience=0.0) as remote:
        for ask in (
            remote.jobs,
            remote.status,
            lambda: remote.result("x"),
            lambda: remote.wire.run(steps.upload(bytes(5 << 20))),
            lambda: double.on(remote)(np.zeros(4)),
            lambda: list(double.on(remote).map([np.zeros(4)] * 2)),
        ):
            try:
                ask()
            except rs.RemoteError as error:
                assert error.code in ("bad_answer", "unreachable"), error  # noqa: PT017
            except rs.RingsmithError:  # Bytes that are no result.
                pass


@pytest.mark.parametrize("headers", [{}, JSON, {"content-type": "application/octet-stream"}])
def test_an_endless_answer_is_given_up(headers: dict[str, str]) -> None:
    endless = itertools.repeat(bytes(1 << 20), 4096)
    with serving(200, headers, endless) as url:
        tracemalloc.start()
        try:
            with rs.connect(url, "key", patience=0.0) as remote, pytest.raises(rs.RemoteError, match="more than"):
                remote.jobs()
            assert tracemalloc.get_traced_memory()[1] < 100 << 20
        finally:
            tracemalloc.stop()


def test_an_endless_answer_is_given_up_on_asyncio() -> None:
    async def ask(url: str) -> None:
        async with rs.connect_async(url, "key", patience=0.0) as remote:
            with pytest.raises(rs.RemoteError, match="more than"):
                await remote.jobs()

    with serving(200, {}, itertools.repeat(bytes(1 << 20), 4096)) as url:
        asyncio.run(ask(url))
