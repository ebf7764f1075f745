# SPDX-License-Identifier: Apache-2.0
"""Kills, a full disk, malformed requests, many tenants: nothing acknowledged is lost, half-written or grows."""

from __future__ import annotations

import contextlib
import math
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import ringsmith as rs
from ringsmith.remote.steps import address, new_job
from ringsmith.service import cost, kinds
from ringsmith.service.conftest import ROWS, WEIGHTS, Asker, no_defects, score, votes
from ringsmith.service.cost import Speed
from ringsmith.service.harness import Running, alive
from ringsmith.service.problems import Problem
from ringsmith.service.settings import GIB, MIB, Quota

#: Counts of the slow tests, and the minutes after which each of them ends whatever its count.
KILLS, REQUESTS, TENANTS, MINUTES = (
    int(os.environ.get(f"RINGSMITH_{name}") or count)
    for name, count in (("KILLS", 30), ("REQUESTS", 10_000), ("TENANTS", 100), ("MINUTES", 5))
)
#: Jobs that may wait for their answers while more are submitted.
OPEN_JOBS = 40


class Budget:
    """Counts up to a number within some minutes, and tells every few seconds how far it is; for several threads."""

    def __init__(
        self, what: str, count: int, minutes: float = math.inf, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        """Count `what`."""
        self._what, self._count, self._tell = what, count, tell
        self._lock, self._begun, self.done = threading.Lock(), time.monotonic(), 0
        self._deadline, self._next = self._begun + 60 * minutes, self._begun + 5

    def more(self) -> bool:
        """Count one more, if number and time allow it."""
        now = time.monotonic()
        with self._lock:
            if self.done == self._count or now > self._deadline:
                return False
            self.done += 1
            if now > self._next:
                self._tell(str(self))
                self._next = now + 5
            return True

    def __str__(self) -> str:
        """Return how far it is."""
        return f"{self._what}: {self.done:,} of {self._count:,} in {time.monotonic() - self._begun:.0f} s"


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Iterator[Callable[[str], None]]:
    """Says how far a slow test is, on stderr, whatever is captured."""
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        stderr = os.dup(2)

    def told(text: str) -> None:
        os.write(stderr, f"\n{text}".encode())

    yield told
    os.close(stderr)


class Journal:
    """The jobs that the server acknowledged, and the results it gave."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.acknowledged: dict[str, np.ndarray[Any, Any]] = {}
        self.results: dict[str, bytes] = {}

    def fetch(self, asker: Asker, server: Running) -> None:
        """Ask for the oldest results that are not there yet, so that no backlog grows while the server is killed."""
        with self.lock:
            missing = [name for name in self.acknowledged if name not in self.results][:OPEN_JOBS]
        with (
            contextlib.suppress(httpx.TransportError),
            httpx.Client(base_url=server.url, headers=asker.http.headers, trust_env=False, timeout=20) as http,
        ):
            for name in missing:
                told = http.get(f"/v1/jobs/{name}/result")
                if told.status_code == 200:
                    self.answered(name, told.content)
        time.sleep(0.05)

    def answered(self, name: str, data: bytes) -> None:
        """Remember a result; a job that is answered twice is answered with the same bytes."""
        with self.lock:
            assert self.results.setdefault(name, data) == data, f"job {name} was answered twice differently"


def submitting(
    asker: Asker,
    server: Running,
    ready: dict[str, str],
    client: Any,
    journal: Journal,
    stop: threading.Event,
    seed: int,
) -> None:
    """Submit jobs and fetch some results until told to stop; a submission that fails on the way is not counted."""
    rng, number = np.random.default_rng(seed), 0
    while not stop.is_set():
        if len(journal.acknowledged) - len(journal.results) > OPEN_JOBS:
            journal.fetch(asker, server)
            continue
        number += 1
        name, x = f"job-{seed}-{number}", rng.integers(-50, 51, 8)
        with contextlib.suppress(httpx.TransportError, AssertionError):
            http = httpx.Client(base_url=server.url, headers=asker.http.headers, trust_env=False, timeout=20)
            body = client.encrypt(x=x).to_bytes()
            inputs = address(body)
            http.put(f"/v1/blobs/{inputs}", content=body).raise_for_status()
            sent = http.put(f"/v1/jobs/{name}", json={**ready, "inputs": inputs, "plain": {"w": list(range(8))}})
            if sent.status_code in (200, 201):
                with journal.lock:
                    journal.acknowledged[name] = x
            told = http.get(f"/v1/jobs/{name}/result")
            if told.status_code == 200:
                journal.answered(name, told.content)
        time.sleep(0.01)


def kills(server: Running, moments: Budget, dice: random.Random, journal: Journal) -> Iterator[str]:
    """Kill the server or a worker at random `moments`, each after some job was acknowledged since the last."""
    while moments.more():
        there, deadline = len(journal.acknowledged), time.monotonic() + 30
        while len(journal.acknowledged) == there and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(dice.uniform(0.0, 0.4))
        workers = server.workers()
        if dice.random() < 0.5 or not workers:
            orphans = workers
            server.kill()
            server.start()
            yield "server"
            deadline = time.monotonic() + 20
            while any(map(alive, orphans)) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not any(map(alive, orphans)), "a worker outlived its server"
        else:
            with contextlib.suppress(ProcessLookupError):
                os.kill(dice.choice(workers), signal.SIGKILL)
            yield "worker"


def survives(folder: Path, moments: Budget) -> dict[str, int]:
    """Kill a busy server; then every acknowledged job ends, rightly, and with one result."""
    dice, journal, stop = random.Random(3), Journal(), threading.Event()
    program = votes.compile()
    client = program.client()
    with Running(folder / "store", workers=2, quota=Quota(jobs=100_000), queue=100_000) as server:
        asker = Asker(server, "alice")
        ready = asker.prepared(program, client)
        arguments = asker, server, ready, client, journal, stop
        threads = [threading.Thread(target=submitting, args=(*arguments, seed)) for seed in range(2)]
        for thread in threads:
            thread.start()
        try:
            killed = list(kills(server, moments, dice, journal))
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        asker.http.base_url = httpx.URL(server.url)
        for name, x in journal.acknowledged.items():
            deadline = time.monotonic() + 120
            while (told := asker.ask("GET", f"/v1/jobs/{name}?wait=20", 200))["state"] in ("queued", "running"):
                assert time.monotonic() < deadline
            if told["state"] == "failed":  # Three workers of its own were killed under it.
                assert told["attempts"] == 3, told
                continue
            data = asker.ask("GET", f"/v1/jobs/{name}/result", 200)
            journal.answered(name, data)
            answer = client.decrypt(rs.Encryptions.from_bytes(data))
            assert answer.tolist() == ((x * np.arange(8) - 3) * x).tolist()
        # A worker whose server is killed while it starts says so in its own words.
        assert not [line for line in server.log if line["event"] == "defect"]
    return {
        "acknowledged": len(journal.acknowledged),
        "server": killed.count("server"),
        "worker": killed.count("worker"),
    }


def test_a_few_kills_lose_nothing(tmp_path: Path) -> None:
    assert survives(tmp_path, Budget("kills", 3))["acknowledged"] > 0


@pytest.mark.slow
def test_many_kills_lose_nothing(tmp_path: Path, tell: Callable[[str], None]) -> None:
    moments = Budget("kills", KILLS, MINUTES, tell)
    seen = survives(tmp_path, moments)
    tell(f"{moments}: {seen}")
    assert moments.done >= min(KILLS, 10)


def test_a_stopped_server_gives_back_what_it_has_not_done(tmp_path: Path, alice: Asker) -> None:
    from ringsmith.service.conftest import turning

    program = turning.compile()
    client = program.client()
    with Running(tmp_path / "store", workers=1, drain_seconds=0.1) as server:
        asker = Asker(server, "alice")
        ready = {
            **asker.prepared_large(program, client),
            "inputs": asker.put(client.encrypt(x=np.arange(8) / 8).to_bytes()),
        }
        for name in ("first", "second"):
            asker.ask("PUT", f"/v1/jobs/{name}", 201, json={**ready, "plain": {}})
        assert server.stop() == 0
        assert not server.workers()
        server.start()
        asker.http.base_url = httpx.URL(server.url)
        for name in ("first", "second"):
            while asker.ask("GET", f"/v1/jobs/{name}?wait=30", 200)["state"] != "done":
                pass
            answer = client.decrypt(rs.Encryptions.from_bytes(asker.ask("GET", f"/v1/jobs/{name}/result", 200)))
            assert answer.shape == (8,)
        assert asker.ask("GET", "/v1/jobs/first", 200)["attempts"] == 0


def test_a_full_disk_keeps_what_was_there(tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))\n"
    program = votes.compile()
    client = program.client()
    with Running(tmp_path / "store", preamble=limit, workers=1) as server:
        asker = Asker(server, "alice")
        ready = asker.prepared(program, client)
        data = os.urandom(4 << 20)
        npy = (
            b"\x93NUMPY\x01\x00\x76\x00"
            + f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(data)},), }}".encode().ljust(117)
            + b"\n"
            + data
        )
        asker.refused("PUT", f"/v1/blobs/{address(npy)}", "store_full", content=npy)
        # Now the database itself: small blobs until its log may not grow.
        refused = 0
        for number in range(60):
            small = client.encrypt(x=np.full(8, number % 50)).to_bytes()
            answer = asker.http.put(f"/v1/blobs/{address(small)}", content=small)
            assert answer.status_code in (201, 507), answer.text
            refused += answer.status_code == 507
            if answer.status_code == 507:
                assert answer.json()["error"]["code"] == "store_full"
                asker.refused("GET", f"/v1/blobs/{address(small)}", "not_found")
        assert refused, "the limit was never met"
        assert asker.ask("GET", f"/v1/blobs/{ready['keys']}", 200) == client.evaluation_keys.to_bytes()
        assert not list((tmp_path / "store" / "parts").iterdir())
        no_defects(server)


METHODS = ("GET", "PUT", "POST", "DELETE", "HEAD", "PATCH", "OPTIONS", "TRACE", "FOO")


def malformed(dice: random.Random, key: str, good: dict[str, Any]) -> dict[str, Any]:
    """Return a request that is wrong somewhere."""
    junk = dice.randbytes(dice.choice((0, 1, 40, 3000)))
    hashes = [*good["hashes"], "0" * 64, junk.hex()[:64], "../" * 5, "%00", "\u00e9" * 9, ""]
    one = dice.choice(hashes)
    path = dice.choice(
        (
            f"/v1/blobs/{one}",
            f"/v1/blobs/{one}/facts",
            f"/v1/jobs/{one[:70]}",
            f"/v1/jobs/{one[:9]}/run",
            "/v1/jobs/run",
            "/v1/jobs/run",
            f"/v1/jobs/{one[:9]}/result",
            f"/v1/jobs/{one[:9]}/events",
            f"/v1/jobs/{one[:9]}/cancel",
            "/v1/jobs",
            "/v1/blobs",
            "/v1/uploads",
            f"/v1/uploads/{one[:32]}",
            "/v1/status",
            "/",
            "//",
            "/v1/../../etc/passwd",
            "/metrics",
            "/openapi.json",
            "/nothing",
        )
    )
    value = dice.choice(("", "0", "-1", "1e999", "nan", "99999999999999999999", "\x00", one, "{", '{"w":[1]}', "é"))
    query = {
        name: value
        for name in ("wait", "limit", "before", "after", "offset", "program", "keys", "plain", "keep", "kind")
        if dice.random() < 0.2
    }
    if query.get("wait"):
        query["wait"] = dice.choice(("-1", "nan", "61", "x"))
    blob = bytearray(dice.choice(good["blobs"]))
    for _ in range(dice.choice((0, 1, 1, 5))):
        blob[dice.randrange(len(blob))] ^= 1 << dice.randrange(8)
    body = dice.choice(
        (
            b"",
            junk,
            bytes(blob),
            bytes(blob[: dice.randrange(len(blob))]),
            good["json"],
            good["json"].replace(b'"', b"'"),
            good["json"].replace(b"0.5", dice.choice((b"NaN", b"null", b"9" * 400, b"[[[]]]", b"{}"))),
            b"[" * 3000,
            b'{"hash":"%s","size":%d}' % (b"0" * 64, dice.randrange(-5, 9)),
            b"x" * (2 * MIB + 1),
        )
    )
    headers = {
        "authorization": dice.choice(
            (f"Bearer {key}", f"Bearer {key}", f"Bearer {key}", "Bearer x", "", "Basic " + one.encode().hex())
        )
    }
    if dice.random() < 0.1:
        headers["content-type"] = dice.choice(("application/json", "text/html", "multipart/form-data; boundary=x", "x"))
    return {
        "method": dice.choice(METHODS[: dice.choice((4, 9))]),
        "path": path,
        "query": query,
        "body": body,
        "headers": headers,
    }


def attacked(server: Running, requests: Budget) -> dict[int, int]:
    """Send malformed requests as a tenant of one's own; returns how often each status came."""
    alice, mallory = Asker(server, "alice-attacked"), Asker(server, "mallory")
    program = score.compile(x=(2, 4))
    client = program.client()
    ready = {**alice.prepared(program, client), "inputs": alice.put(client.encrypt(x=ROWS).to_bytes())}
    body = httpx.Request("PUT", "http://x", json={**ready, "plain": {"w": WEIGHTS.tolist()}}).content
    good = {
        "hashes": list(ready.values()),
        "json": body,
        "blobs": [program.to_bytes(), client.encrypt(x=ROWS).to_bytes()],
    }
    before = alice.ask("GET", "/v1/blobs", 200)

    def some(seed: int) -> dict[int, int]:
        dice, statuses = random.Random(seed), dict[int, int]()
        with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as http:
            while requests.more():
                wrong = malformed(dice, mallory.key, good)
                try:
                    answer = http.request(
                        wrong["method"],
                        wrong["path"],
                        params=wrong["query"],
                        content=wrong["body"],
                        headers=wrong["headers"],
                    )
                except (httpx.TransportError, httpx.InvalidURL, UnicodeEncodeError):
                    continue  # Refused before it was read to its end; or not even httpx sends that.
                statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
                assert answer.status_code < 500, (wrong, answer.text)
                if answer.status_code >= 400 and wrong["method"] != "HEAD":
                    assert set(answer.json()["error"]) >= {"code", "message"}, (wrong, answer.text)
        return statuses

    total: dict[int, int] = {}
    with ThreadPoolExecutor(4) as pool:
        for statuses in pool.map(some, range(4)):
            for status, number in statuses.items():
                total[status] = total.get(status, 0) + number
    assert alice.ask("GET", "/v1/blobs", 200) == before
    for blob in mallory.ask("GET", "/v1/blobs?limit=1000", 200)["blobs"]:
        assert blob["hash"] not in (ready["keys"], ready["inputs"])
    alice.ask("PUT", f"/v1/jobs/{new_job()}?wait=60", 201, json={**ready, "plain": {"w": WEIGHTS.tolist()}})
    no_defects(server)
    return total


def test_some_malformed_requests(running: Running) -> None:
    statuses = attacked(running, Budget("requests", 800))
    assert {400, 401, 404, 405} <= set(statuses)


@pytest.mark.slow
def test_many_malformed_requests_make_nothing_grow(running: Running, tell: Callable[[str], None]) -> None:
    attacked(running, Budget("first requests", 2000, MINUTES / 2, tell))
    before = running.memory()
    requests = Budget("requests", REQUESTS, MINUTES, tell)
    statuses = attacked(running, requests)
    tell(f"{requests}: statuses {statuses}; {before >> 20} MiB before, {running.memory() >> 20} after")
    assert running.memory() < before + 64 * MIB
    assert requests.done >= min(REQUESTS, 1000)


def registered(server: Running, joining: Budget, jobs: Budget) -> tuple[int, int, int]:
    """Register keys of many tenants and run each one's job twice; returns memory before and after, and evictions."""
    program = votes.compile()
    data, w = program.to_bytes(), list(range(8))
    tenants: list[tuple[Asker, Any, dict[str, str]]] = []
    while joining.more():
        number = len(tenants)
        asker, client = Asker(server, f"many-{number}"), program.client()
        tenants.append((asker, client, asker.prepared(program, client)))
        assert tenants[-1][2]["program"] == address(data)
    count = len(tenants)
    order = [*range(count), *random.Random(5).sample(range(count), count)]
    before = 0
    for place, number in enumerate(order):
        if not jobs.more():
            break
        asker, client, ready = tenants[number]
        x = np.random.default_rng(number).integers(-50, 51, 8)
        query = {**ready, "plain": httpx.Request("PUT", "http://x", json={"w": w}).content.decode()}
        body = client.encrypt(x=x).to_bytes()
        result = asker.ask("PUT", f"/v1/jobs/{place}/run", 200, params=query, content=body)
        assert client.decrypt(rs.Encryptions.from_bytes(result)).tolist() == ((x * np.arange(8) - 3) * x).tolist()
        if place == count // 4:
            before = server.memory()
    for asker, _, _ in tenants:
        asker.http.close()
    text = httpx.get(server.url + "/metrics", trust_env=False).text
    figures = {line.split()[0]: float(line.split()[1]) for line in text.splitlines() if line[0] != "#"}
    assert figures["ringsmith_key_bytes_held"] <= server.settings.key_memory
    return before, server.memory(), int(figures["ringsmith_key_evictions"])


def test_keys_of_many_tenants_within_the_memory_granted(tmp_path: Path) -> None:
    with Running(tmp_path / "store", workers=2, key_memory=6 * MIB) as server:
        _, _, evictions = registered(server, Budget("tenants", 8), Budget("jobs", 16))
        assert evictions > 4
        no_defects(server)


@pytest.mark.slow
def test_keys_of_many_more_tenants_within_the_memory_granted(tmp_path: Path, tell: Callable[[str], None]) -> None:
    with Running(tmp_path / "store", workers=2, key_memory=GIB) as server:
        joining, jobs = (
            Budget("tenants", TENANTS, MINUTES / 2, tell),
            Budget("jobs", 2 * TENANTS, MINUTES, tell),
        )
        before, after, evictions = registered(server, joining, jobs)
        tell(f"{joining}, {jobs}; {before >> 20} MiB at a quarter, {after >> 20} at the end; {evictions} evictions")
        assert jobs.done >= min(2 * TENANTS, 40)
        assert after < before + 64 * MIB + GIB * 3 // 4  # It was taken when a quarter of the keys was there.
        no_defects(server)


def test_a_full_queue_says_when_to_come_again(tmp_path: Path) -> None:
    from ringsmith.service.conftest import turning

    program, small = turning.compile(), votes.compile()
    client, other = program.client(), small.client()
    with Running(tmp_path / "store", workers=1, queue=2, quota=Quota(jobs=6)) as server:
        asker = Asker(server, "alice")
        ready = {
            **asker.prepared_large(program, client),
            "inputs": asker.put(client.encrypt(x=np.zeros(8)).to_bytes()),
            "plain": {},
        }
        statuses = [asker.http.put(f"/v1/jobs/{number}", json=ready) for number in range(5)]
        full = [answer for answer in statuses if answer.status_code == 429]
        assert full
        assert full[0].json()["error"]["code"] == "queue_full"
        assert int(full[0].headers["retry-after"]) >= 1
        # A client of ours waits, and comes again until there is room.
        for number in range(5):
            asker.http.post(f"/v1/jobs/{number}/cancel")
        with rs.connect(server.url, asker.key) as remote:
            assert remote.program(small, other)(x=np.arange(8), w=np.arange(8)).tolist() == [
                (n * n - 3) * n for n in range(8)
            ]


def test_a_job_over_quota_is_refused_before_it_starts() -> None:
    _, facts = kinds.inspect(votes.compile().to_bytes())
    keys, speed = facts["session"], Speed(1)
    granted: dict[str, Any] = {"key_bytes": keys, "key_limit": 1 << 30, "threads": 1, "speed": speed}
    cost.check(facts, quota=Quota(), **granted)
    for quota, changes, match in (
        (Quota(memory=1 << 16), {}, "bytes of memory"),
        (Quota(seconds=1e-7), {}, "seconds"),
        (Quota(), {"key_limit": keys - 1}, "its keys take"),
    ):
        with pytest.raises(Problem, match=match) as refused:
            cost.check(facts, quota=quota, **(granted | changes))
        assert refused.value.code == "over_quota"
    # Slower machines refuse sooner, by what they have seen.
    before = speed.seconds(10**9)
    speed.learn(b"p", 10**9, 100.0)
    assert speed.seconds(10**9) > 5 * before
    speed.learn(b"p", 1, 1e-6)
    assert speed.seconds(10**9) > 5 * before


def test_a_job_that_runs_too_long_is_ended(tmp_path: Path) -> None:
    from ringsmith.service.conftest import turning

    program = turning.compile()
    client = program.client()
    hopeful = "import ringsmith.service.cost as cost; cost._FIRST = 0.0\n"  # The estimate lets it start.
    with Running(tmp_path / "store", preamble=hopeful, workers=1, quota=Quota(seconds=0.1)) as server:
        asker = Asker(server, "alice")
        ready = {
            **asker.prepared_large(program, client),
            "inputs": asker.put(client.encrypt(x=np.zeros(8)).to_bytes()),
            "plain": {},
        }
        asker.ask("PUT", "/v1/jobs/slow", 201, json=ready)
        told = asker.ask("GET", "/v1/jobs/slow?wait=60", 200)
        assert (told["state"], told["error"]["code"]) == ("failed", "over_quota"), told
        deadline = time.monotonic() + 30
        while not server.workers():
            assert time.monotonic() < deadline, (server.process.poll(), server.log)
            time.sleep(0.1)
