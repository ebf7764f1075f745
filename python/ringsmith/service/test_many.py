# SPDX-License-Identifier: Apache-2.0
"""Many jobs in a request: each has its own name, state, result and end, whatever becomes of its neighbours."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.errors import InputError
from ringsmith.runtime import frames
from ringsmith.service.arena import Arena
from ringsmith.service.conftest import ROWS, WEIGHTS, Asker, no_defects, score, votes
from ringsmith.service.harness import Running
from ringsmith.service.settings import MIB, Quota

W = np.arange(8)


def inputs(count: int, seed: int = 1) -> list[np.ndarray[Any, Any]]:
    return list(np.random.default_rng(seed).integers(-50, 51, (count, 8)))


def expected(x: np.ndarray[Any, Any]) -> list[int]:
    found: list[int] = ((x * W - 3) * x).tolist()
    return found


def framed(many: dict[str, bytes]) -> bytes:
    return b"".join(frames.head(name, 0, len(data)) + data for name, data in many.items())


class Sender:
    """A tenant with a program and keys on the server, that writes its requests itself."""

    def __init__(self, asker: Asker) -> None:
        self.asker, self.program = asker, votes.compile()
        self.client = self.program.client()
        self.places = asker.prepared(self.program, self.client)

    def query(self, **more: Any) -> dict[str, Any]:
        return {**self.places, "plain": json.dumps({"w": W.tolist()}), "wait": 30, **more}

    def message(self, x: np.ndarray[Any, Any]) -> bytes:
        return self.client.encrypt(x=x).to_bytes()

    def post(self, body: bytes, **more: Any) -> dict[str, tuple[int, bytes]]:
        """Return status and data of each job of a request."""
        answer = self.asker.ask("POST", "/v1/jobs/run", 200, params=self.query(**more), content=body)
        return {name: (status, answer[start : start + size]) for name, status, start, size in frames.places(answer)}

    def read(self, answer: tuple[int, bytes]) -> list[int]:
        assert answer[0] == 200, answer
        found: list[int] = self.client.decrypt(rs.Encryptions.from_bytes(answer[1])).tolist()
        return found


@pytest.fixture
def sender(alice: Asker) -> Sender:
    return Sender(alice)


@pytest.mark.parametrize("keep", [600.0, 0.0])
def test_results_come_in_order(alice: Asker, keep: float) -> None:
    with alice.remote() as remote:
        place = remote.program(votes.compile())
        xs = inputs(150)
        sent = [place.client.encrypt(x=x) for x in xs]
        results = list(place.evaluate_many(iter(sent), keep=keep, w=W))
        assert [place.client.decrypt(one).tolist() for one in results] == [expected(x) for x in xs]
        assert list(place.evaluate_many([], w=W)) == []
        jobs = remote.jobs()
        assert len(jobs) == (150 if keep else 0)
        assert all(job["state"] == "done" for job in jobs)
        if jobs:
            assert len({alice.ask("GET", f"/v1/jobs/{job['id']}/result", 200) for job in jobs}) == 150


def test_a_kernel_is_mapped(alice: Asker) -> None:
    xs = inputs(9)
    with alice.remote() as remote:
        there = votes.on(remote)
        assert [one.tolist() for one in there.map(iter(xs), w=W)] == [expected(x) for x in xs]
        assert list(there.map([], w=W)) == []
        rows = [ROWS, ROWS / 2, ROWS / 4]
        for row, got in zip(rows, score.on(remote).map(rows, w=WEIGHTS, keep=0), strict=True):
            assert np.allclose(got, (row @ WEIGHTS) ** 2, atol=1e-3)
        for wrong, match in (
            (lambda: there.map(w=W), "0 iterables; the kernel has the encrypted arguments x"),
            (lambda: there.map(xs, xs, w=W), "2 iterables; the kernel has the encrypted arguments x"),
            (lambda: there.map(xs, w=W, keep=-1), "keep=-1"),
            (lambda: list(there.map([xs[0], xs[1][:3]], w=W)), "shape"),
        ):
            with pytest.raises(InputError, match=match):
                wrong()


def test_the_same_on_asyncio(alice: Asker) -> None:
    xs = inputs(70)

    async def run() -> list[list[int]]:
        async with rs.connect_async(alice.url, alice.key) as remote:
            return [one.tolist() async for one in votes.on(remote).map(xs, w=W, keep=0)]

    assert asyncio.run(run()) == [expected(x) for x in xs]


def test_each_job_has_its_own_end(sender: Sender, running: Running) -> None:
    good, other = sender.message(W), sender.program.client().encrypt(x=W).to_bytes()
    damaged = bytearray(good)
    damaged[len(good) // 2] ^= 1
    many = {"a": good, "b": bytes(damaged), "c": other, "d": good[:-1], "e": b"", "f": good, "g": os.urandom(300)}
    answers = sender.post(framed(many))
    assert list(answers) != []
    assert set(answers) == set(many)
    assert sender.read(answers["a"]) == sender.read(answers["f"]) == expected(W)
    codes = {name: json.loads(data)["error"] for name, (status, data) in answers.items() if status != 200}
    assert {name: error.get("cause", error["code"]) for name, error in codes.items()} == {
        "b": "bad_blob", "c": "mismatch", "d": "bad_blob", "e": "wrong_kind", "g": "wrong_kind",
    }  # fmt: skip
    states = {name: sender.asker.ask("GET", f"/v1/jobs/{name}", 200)["state"] for name in "abcdf"}
    assert states == {"a": "done", "b": "failed", "c": "failed", "d": "failed", "f": "done"}
    sender.asker.refused("GET", "/v1/jobs/e", "not_found")
    # Again: what has an end keeps it, byte for byte; what was refused is refused.
    again = sender.post(framed(many))
    assert {name: again[name] for name in "af"} == {name: answers[name] for name in "af"}
    assert [again[name][0] for name in "bcde"] == [answers[name][0] for name in "bcde"]
    no_defects(running)


def test_names_belong_to_one_job(sender: Sender) -> None:
    one, two = sender.message(W), sender.message(W + 1)
    answers = sender.asker.ask(
        "POST", "/v1/jobs/run", 200, params=sender.query(), content=framed({"x": one}) + framed({"x": two})
    )
    found = [(status, answers[start : start + size]) for _, status, start, size in frames.places(answers)]
    refused, done = sorted(found, reverse=True)
    assert refused[0] == 409
    assert json.loads(refused[1])["error"]["code"] == "job_differs"
    assert sender.read(done) == expected(W)
    # The same job alone, and by another request; another's name is free.
    run = sender.asker.ask("PUT", "/v1/jobs/x/run", 200, params=sender.query(), content=one)
    assert run == done[1]
    sender.asker.refused("PUT", "/v1/jobs/x/run", "job_differs", params=sender.query(), content=two)


@pytest.mark.parametrize(
    ("body", "query", "code"),
    [
        (b"", {}, "bad_request"),
        (b"\x01\x00\x00", {}, "bad_request"),
        (frames.head("a", 0, 9), {}, "bad_request"),
        (frames.head("../a", 0, 0), {}, "bad_request"),
        (frames.head("a" * 65, 0, 0), {}, "bad_request"),
        (b"".join(frames.head(f"j{number}", 0, 0) for number in range(257)), {}, "bad_request"),
        (frames.head("a", 0, 0), {"keep": -1}, "bad_request"),
        (frames.head("a", 0, 0), {"keep": "nan"}, "bad_request"),
        (frames.head("a", 0, 0), {"wait": 61}, "bad_request"),
        (frames.head("a", 0, 0), {"program": "0" * 64}, "not_found"),
        (frames.head("a", 0, 0), {"plain": "{}"}, "bad_arguments"),
        (frames.head("a", 0, 0), {"plain": "["}, "bad_request"),
        (bytes(3 * MIB), {}, "too_large"),
    ],
)
def test_a_request_that_is_none(sender: Sender, body: bytes, query: dict[str, Any], code: str) -> None:
    told = sender.asker.refused("POST", "/v1/jobs/run", code, params=sender.query(**query), content=body)
    assert len(told["message"]) > 10
    assert sender.asker.ask("GET", "/v1/jobs", 200)["jobs"] == []


def test_another_tenants_keys_do_not_exist(sender: Sender, asker: Callable[[], Asker]) -> None:
    bob = asker()
    body = framed({"a": sender.message(W)})
    bob.refused("POST", "/v1/jobs/run", "not_found", params=sender.query(), content=body)
    headers = {"authorization": "Bearer nobody"}
    bob.refused("POST", "/v1/jobs/run", "unauthorized", params=sender.query(), content=body, headers=headers)


def test_a_wait_that_is_over_tells_states(sender: Sender) -> None:
    answers = sender.post(framed({f"w{number}": sender.message(W) for number in range(3)}), wait=0, keep=0)
    for name, (status, data) in answers.items():
        assert status in (200, 202)
        if status == 202:  # Told of, so kept after all.
            assert json.loads(data)["id"] == name
            while (job := sender.asker.ask("GET", f"/v1/jobs/{name}?wait=20", 200))["state"] in ("queued", "running"):
                pass
            assert job["state"] == "done"
            assert job["expires"] > time.time() + 3000


def served(folder: Path, **settings: Any) -> contextlib.AbstractContextManager[Running]:
    return Running(folder / "store", **({"workers": 2} | settings))


def test_more_than_is_granted_at_a_time_is_done_in_turns(tmp_path: Path) -> None:
    with served(tmp_path, quota=Quota(jobs=5), queue=3) as server, rs.connect(server.url, server.tenant("a")) as remote:
        xs = inputs(40)
        assert [one.tolist() for one in votes.on(remote).map(xs, w=W)] == [expected(x) for x in xs]
        no_defects(server)


@pytest.mark.parametrize("keep", [600.0, 0.0])
def test_kills_on_the_way_change_no_result(tmp_path: Path, keep: float) -> None:
    xs = inputs(600)
    with served(tmp_path) as server, rs.connect(server.url, server.tenant("a"), patience=60) as remote:
        place = remote.program(votes.compile())
        sent = [place.client.encrypt(x=x) for x in xs]
        results = iter(place.evaluate_many(sent, keep=keep, w=W))
        done = [next(results)]
        os.kill(server.workers()[0], signal.SIGKILL)
        done += [next(results) for _ in range(70)]
        port = int(server.url.rsplit(":", 1)[1])
        server.kill()
        server.settings = type(server.settings)(**{**vars(server.settings), "port": port})
        server.start()
        done += list(results)
        assert [place.client.decrypt(one).tolist() for one in done] == [expected(x) for x in xs]
        if keep:
            stored = {job["id"]: job["state"] for job in remote.jobs()}
            assert len(stored) == 600
            assert set(stored.values()) == {"done"}


def test_a_slow_body_and_one_that_ends_early_give_their_slot_back(sender: Sender, running: Running) -> None:
    body = framed({f"s{number}": sender.message(W) for number in range(20)})
    assert len(body) > 1 << 16
    host, port = running.url.removeprefix("http://").split(":")
    target = "/v1/jobs/run?" + "&".join(f"{name}={value}" for name, value in sender.places.items())
    head = (
        f"POST {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {sender.asker.key}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    for part in (70_000, 0, 100, len(body) - 1):  # More often than there are slots.
        for _ in range(8):
            with socket.create_connection((host, int(port))) as gone:
                gone.sendall(head + body[:part])
    with socket.create_connection((host, int(port))) as slow:
        slow.sendall(head + body[:70_000])
        assert b"HTTP/1.1 408" in slow.recv(4096)
    query = sender.query()
    for _ in range(2):  # On one connection: what follows a body that was taken in is read.
        answers = sender.asker.ask("POST", "/v1/jobs/run", 200, params=query, content=body)
        assert {status for _, status, _, _ in frames.places(answers)} == {200}
    no_defects(running)


def test_clients_that_go_away_leave_the_others_alone(tmp_path: Path) -> None:
    with served(tmp_path, slots=2) as server:
        askers = [Sender(Asker(server, f"t{number}")) for number in range(3)]
        failed: list[BaseException] = []

        def ask(own: Sender, seed: int) -> None:
            try:
                for round_ in range(3):
                    xs = {f"{seed}-{round_}-{place}": x for place, x in enumerate(inputs(40, seed))}
                    answers = own.post(framed({name: own.message(x) for name, x in xs.items()}), keep=0)
                    assert {name: own.read(answers[name]) for name in xs} == {n: expected(x) for n, x in xs.items()}
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=ask, args=(own, seed)) for seed, own in enumerate(askers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed
        no_defects(server)


def test_slots_are_given_back() -> None:
    arena = Arena(2, 1000)
    assert arena.take(1001) is None
    one, two = arena.take(1000), arena.take(1)
    assert one is not None
    assert two is not None
    assert arena.take(1) is None
    one.view[3:6] = b"abc"
    part = one.part(3, 3)
    assert bytes(arena.at(*part.place)) == b"abc"
    del one
    assert arena.take(1) is None, "a part keeps its body"
    del part
    assert arena.take(1000) is not None


@pytest.fixture(autouse=True)
def _few_seconds() -> Iterator[None]:
    """A test that hangs is a failure."""
    start = time.monotonic()
    yield
    assert time.monotonic() - start < 150
