# SPDX-License-Identifier: Apache-2.0
"""One server for all tests of this folder that only ask, and what they ask with."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the packages of requirements/service.txt are not installed")

import httpx

import ringsmith as rs
from ringsmith.remote.steps import address
from ringsmith.service.harness import Running
from ringsmith.service.settings import MIB, Quota

#: Key switches of `turning`: a second or more.
TURNS = 6000


@rs.kernel(scheme="ckks", x=rs.Encrypted(None, 4, bound=2.0), w=rs.Plain(4, bound=1.0), tolerance=1e-3)
def score(x: Any, w: Any) -> Any:
    """A weighted sum of each row, squared."""
    return (x @ w) ** 2


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, low=-50, high=50), w=rs.Plain(8, low=-9, high=9))
def votes(x: Any, w: Any) -> Any:
    """Exact."""
    return (x * w - 3) * x


@rs.kernel(mode="manual", params="seal-ckks-8192", x=rs.Encrypted(8, bound=1.0), output=rs.Output(8), tolerance=1e-2)
def turning(x: Any) -> Any:
    """Long enough to be cancelled: as many key switches, one after the other, with one key."""
    for _ in range(TURNS):
        x = rs.rotate(x, 1)
    return x


ROWS = np.array([[1.0, 0.5, -1.0, 2.0], [0.0, 1.0, 1.0, -2.0]])
WEIGHTS = np.array([0.5, -0.25, 1.0, 0.125])
_names = itertools.count()


class Asker:
    """One tenant with a plain HTTP client."""

    def __init__(self, running: Running, name: str) -> None:
        """Add the tenant."""
        self.url, self.key = running.url, running.tenant(name)
        self.http = httpx.Client(
            base_url=running.url, headers={"authorization": f"Bearer {self.key}"}, timeout=60, trust_env=False
        )

    def ask(self, method: str, path: str, status: int, **more: Any) -> Any:
        """Make a request that has to end so; returns its JSON, or the bytes."""
        answer = self.http.request(method, path, **more)
        assert answer.status_code == status, (answer.status_code, answer.text[:500])
        if answer.headers.get("content-type", "").startswith("application/json"):
            return answer.json()
        return answer.content

    def refused(self, method: str, path: str, code: str, **more: Any) -> dict[str, Any]:
        """Make a request that has to be refused with a code."""
        answer = self.http.request(method, path, **more)
        told: dict[str, Any] = answer.json()["error"]
        assert told["code"] == code, told
        assert answer.status_code >= 400
        return told

    def put(self, data: bytes) -> str:
        """Keep a blob."""
        self.http.put(f"/v1/blobs/{address(data)}", content=data).raise_for_status()
        return address(data)

    def prepared(self, program: rs.Program, client: rs.Client) -> dict[str, str]:
        """Keep program and keys."""
        return {"program": self.put(program.to_bytes()), "keys": self.put(client.evaluation_keys.to_bytes())}

    def put_large(self, data: bytes) -> str:
        """Keep a blob in chunks."""
        begun = self.ask("POST", "/v1/uploads", 201, json={"hash": address(data), "size": len(data)})
        for offset in range(0, len(data), begun["chunk"]):
            path = f"/v1/uploads/{begun['upload']}?offset={offset}"
            self.http.put(path, content=data[offset : offset + begun["chunk"]]).raise_for_status()
        return address(data)

    def prepared_large(self, program: rs.Program, client: rs.Client) -> dict[str, str]:
        """Keep program and keys, in chunks."""
        keys = self.put_large(client.evaluation_keys.to_bytes())
        return {"program": self.put(program.to_bytes()), "keys": keys}

    def remote(self, **more: Any) -> rs.remote.Remote:
        """Return a connection as users make it."""
        return rs.connect(self.url, self.key, **more)


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of two workers with small limits."""
    settings: dict[str, Any] = {
        "workers": 2, "max_body": 2 * MIB, "max_blob": 64 * MIB, "head_seconds": 1.0, "body_seconds": 1.0,
        "body_rate": 1 << 30, "quota": Quota(bytes=256 * MIB),
    }  # fmt: skip
    with Running(tmp_path_factory.mktemp("served") / "store", **settings) as server:
        yield server


@pytest.fixture
def asker(running: Running) -> Iterator[Callable[[], Asker]]:
    """A maker of new tenants."""
    made: list[Asker] = []

    def make() -> Asker:
        made.append(Asker(running, f"tenant-{next(_names)}"))
        return made[-1]

    yield make
    for one in made:
        one.http.close()


@pytest.fixture
def alice(asker: Callable[[], Asker]) -> Asker:
    """A tenant of one's own."""
    return asker()


def no_defects(server: Running) -> None:
    """Fail if the server met something that it did not foresee."""
    odd = [line for line in server.log if line["event"] in ("defect", "text", "worker_died")]
    assert not odd, odd


def store_of(server: Running) -> Path:
    """Return the folder of a server."""
    return server.settings.store
