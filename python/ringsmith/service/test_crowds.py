# SPDX-License-Identifier: Apache-2.0
"""Many connections and requests: one tenant, or a stranger without a key, keeps no other tenant from its answers."""

from __future__ import annotations

import socket
import time
from collections import OrderedDict, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ringsmith.service.conftest import ROWS, WEIGHTS, Asker, no_defects, score, turning
from ringsmith.service.door import Door, room_for
from ringsmith.service.harness import Running
from ringsmith.service.job import Bunch
from ringsmith.service.plan import Needs
from ringsmith.service.problems import Problem
from ringsmith.service.scheduler import Scheduler
from ringsmith.service.settings import MIB, Settings
from ringsmith.service.tenants import Tenant
from ringsmith.service.traffic import Traffic

#: Open files that the server may have, and half-sent requests: more than it has room for.
HANDLES, FLOOD = 256, 300


class Line:
    """A connection as the door sees it."""

    def __init__(self, address: str, tenant: int | None = None, busy: bool = False) -> None:
        self.address, self.tenant, self.busy, self.away = address, tenant, busy, False

    def turn_away(self) -> None:
        self.away = True


def lines(door: Door, count: int, *args: Any) -> list[Line]:
    found = [Line(*args) for _ in range(count)]
    for line in found:
        door.enter(line)
    return found


def test_a_flood_from_an_address_pushes_out_its_own_oldest() -> None:
    door = Door(16)
    other, flood = lines(door, 1, "other"), lines(door, 40, "flood")
    assert [line.away for line in flood] == [True] * 36 + [False] * 4
    assert not other[0].away


def test_a_full_server_takes_places_of_strangers_then_of_idle_connections_of_the_largest_tenant() -> None:
    door = Door(8)
    working = lines(door, 3, "b", 1, True)
    idle, one, stranger = lines(door, 3, "b", 1), lines(door, 1, "a", 2), lines(door, 1, "x")
    first, second = lines(door, 1, "c", 3, True), lines(door, 1, "c", 3, True)
    assert stranger[0].away
    assert [line.away for line in idle] == [True, False, False]
    assert not any(line.away for line in (*working, *one, *first, *second))


def test_a_server_full_of_working_connections_turns_the_new_one_away() -> None:
    door = Door(4)
    working, new = lines(door, 4, "a", 1, True), Line("b", 2, True)
    door.enter(new)
    assert new.away
    assert not any(line.away for line in working)
    assert len(door) == 4


def test_there_are_fewer_connections_than_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [(1024, 1024)]
    monkeypatch.setattr("resource.getrlimit", lambda _: given[-1])
    monkeypatch.setattr("resource.setrlimit", lambda _, limits: given.append(limits))
    assert room_for(1024, 2) == (1024 - 64 - 16) // 2
    given[:] = [(1024, 4096)]
    assert room_for(1024, 2) == 1024
    assert given[-1] == (64 + 16 + 2048, 4096)


def test_requests_of_a_tenant_are_counted_until_they_are_answered() -> None:
    traffic, tenant, other = Traffic(2), Tenant(1, "a"), Tenant(2, "b")
    scopes: list[dict[str, Any]] = [{}, {}, {}]
    for scope in scopes[:2]:
        traffic.admit(scope, tenant)
        traffic.admit(scope, tenant)  # Asked for twice by one request, counted once.
    with pytest.raises(Problem, match="2 requests of this tenant"):
        traffic.admit(scopes[2], tenant)
    traffic.admit(scopes[2], other)
    traffic.leave(scopes[0])
    traffic.leave(scopes[0])
    assert (traffic.of(1), traffic.of(2)) == (1, 1)


def test_a_full_queue_turns_away_the_tenant_that_filled_it() -> None:
    own: Any = Scheduler.__new__(Scheduler)
    own.jobs, own._waiting, own.stopping, own._queued = {}, OrderedDict[int, deque[Bunch]](), False, 0
    own._settings, own.wait_seconds = Settings(Path(), queue=4), lambda: 1.0

    def job(tenant: int, number: int) -> Bunch:
        return Bunch(Needs(tenant, b"p", b"k", "{}", (1, 1), 1), [(str(number), b"in")], lambda _: [])

    for number in range(4):
        own.add(job(1, number))
    with pytest.raises(Problem, match="4 jobs wait"):
        own.add(job(1, 4))
    for number in range(2):
        own.add(job(2, number))
    with pytest.raises(Problem, match="6 jobs wait"):
        own.add(job(2, 2))
    own.add(job(3, 0))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with few open files, and few requests for each tenant."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({HANDLES}, {HANDLES}))\n"
    place = tmp_path_factory.mktemp("crowd") / "store"
    with Running(place, preamble=limit, workers=1, requests=8, head_seconds=60.0, max_body=2 * MIB) as server:
        yield server


def test_a_flood_of_half_sent_requests_keeps_no_tenant_out(small: Running) -> None:
    host, port = small.url.removeprefix("http://").split(":")
    with ExitStack() as flood:
        for _ in range(FLOOD):
            line = flood.enter_context(socket.create_connection((host, int(port)), timeout=10))
            line.sendall(b"PUT /v1/blobs/00 HTTP/1.1\r\nhost: x\r\n")
        alice = Asker(small, "flooded")
        program = score.compile(x=(2, 4))
        start = time.monotonic()
        alice.prepared_large(program, program.client())
        assert alice.remote().kernel(score)(ROWS, WEIGHTS).shape == (2,)
        assert time.monotonic() - start < 30  # A minute is what the flood may hold its connections for.
    no_defects(small)


def test_a_tenant_whose_requests_wait_keeps_no_other_out(small: Running) -> None:
    bob, alice = Asker(small, "waiting"), Asker(small, "served")
    program = turning.compile()
    client = program.client()
    places = bob.prepared(program, client)
    places["inputs"] = bob.put(client.encrypt(x=[0.5] * 8).to_bytes())
    for number in range(2):
        bob.ask("PUT", f"/v1/jobs/long{number}", 201, json=places)
    with ThreadPoolExecutor(16) as threads:
        waits = [threads.submit(bob.http.get, "/v1/jobs/long1", params={"wait": 5.0}) for _ in range(16)]
        time.sleep(0.5)
        kept = alice.ask("GET", "/v1/jobs", 200)
        answers = [wait.result().status_code for wait in waits]
    assert kept == {"jobs": []}
    assert sorted(answers) == [200] * 8 + [429] * 8
    for number in range(2):
        bob.ask("POST", f"/v1/jobs/long{number}/cancel", 200)
    no_defects(small)
