# SPDX-License-Identifier: Apache-2.0
"""Jobs of which nothing is kept, many in a request: what happens to one of them happens to it alone."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ringsmith as rs
from ringsmith.runtime import frames
from ringsmith.service.conftest import Asker, no_defects, votes
from ringsmith.service.harness import Running
from ringsmith.service.settings import MIB, Quota
from ringsmith.service.test_many import Sender, W, expected, framed, inputs


@pytest.fixture
def sender(alice: Asker) -> Sender:
    return Sender(alice)


def codes(answers: dict[str, tuple[int, bytes]]) -> dict[str, str]:
    """Return why those without a result have none."""
    told = {name: json.loads(data)["error"] for name, (status, data) in answers.items() if status >= 400}
    return {name: error.get("cause", error["code"]) for name, error in told.items()}


def test_one_that_is_damaged_has_its_own_end(sender: Sender, running: Running) -> None:
    good, other = sender.message(W), sender.program.client().encrypt(x=W).to_bytes()
    damaged = bytearray(good)
    damaged[len(good) // 2] ^= 1
    many = {"a": good, "b": sender.message(W + 1), "c": bytes(damaged), "d": other, "e": good[:-1], "f": good}
    answers = sender.post(framed(many), keep=0)
    assert codes(answers) == {"c": "bad_blob", "d": "mismatch", "e": "bad_blob"}
    assert sender.read(answers["a"]) == sender.read(answers["f"]) == expected(W)
    assert sender.read(answers["b"]) == expected(W + 1)
    # With a head that is none, the others are no bunch, and have their ends all the same.
    answers = sender.post(framed(many | {"g": b"", "h": b"x" * 300}), keep=0)
    assert codes(answers) == {"c": "bad_blob", "d": "mismatch", "e": "bad_blob", "g": "wrong_kind", "h": "wrong_kind"}
    assert sender.read(answers["b"]) == expected(W + 1)
    assert sender.asker.ask("GET", "/v1/jobs", 200)["jobs"] == []
    assert sender.asker.ask("GET", "/v1/status", 200)["used"]["jobs"] == 0
    no_defects(running)


def test_two_of_one_name_are_one_job_or_a_refusal(sender: Sender) -> None:
    one, two = sender.message(W), sender.message(W + 1)
    body = framed({"x": one, "y": one}) + framed({"x": two})
    answer = sender.asker.ask("POST", "/v1/jobs/run", 200, params=sender.query(keep=0), content=body)
    found = [(name, status) for name, status, _, _ in frames.places(answer)]
    assert sorted(found) == [("x", 200), ("x", 409), ("y", 200)]


def test_those_beyond_the_quota_are_refused_alone(tmp_path: Path) -> None:
    with Running(tmp_path / "store", workers=2, quota=Quota(jobs=5)) as server:
        sender = Sender(asker := Asker(server, "a"))
        many = {f"q{number}": sender.message(x) for number, x in enumerate(inputs(8))}
        answers = sender.post(framed(many), keep=0)
        assert [answers[name][0] for name in many] == [200] * 5 + [429] * 3
        assert [sender.read(answers[f"q{number}"]) for number in range(5)] == [expected(x) for x in inputs(8)[:5]]
        assert asker.ask("GET", "/v1/status", 200)["used"]["jobs"] == 0
        no_defects(server)


def meanwhile(sender: Sender, act: Callable[[], Any], count: int = 120) -> tuple[dict[str, tuple[int, bytes]], Any]:
    """Return the answers to many jobs, and what `act` returned that was called while they waited or ran."""
    xs = inputs(count)
    body = framed({f"m{number}": sender.message(x) for number, x in enumerate(xs)})
    answers: dict[str, tuple[int, bytes]] = {}
    asking = threading.Thread(target=lambda: answers.update(sender.post(body, keep=0)))
    asking.start()
    deadline = time.monotonic() + 20
    while sender.asker.ask("GET", "/v1/status", 200)["used"]["jobs"] == 0 and asking.is_alive():
        assert time.monotonic() < deadline
    found = act()
    asking.join(60)
    assert len(answers) == count
    for number, x in enumerate(xs):
        if answers[f"m{number}"][0] == 200:
            assert sender.read(answers[f"m{number}"]) == expected(x)
    return answers, found


def test_one_is_cancelled_in_the_middle(tmp_path: Path) -> None:
    with Running(tmp_path / "store", workers=1, max_body=16 * MIB) as server:
        sender = Sender(asker := Asker(server, "a"))
        cancelled = 0

        def cancel(name: str) -> int:
            return asker.http.post(f"/v1/jobs/{name}/cancel").status_code

        for _ in range(5):  # A machine in haste may have them all done before.
            answers, statuses = meanwhile(sender, lambda: [cancel(name) for name in ("m3", "m60", "m119")])
            assert set(statuses) <= {200, 404}
            lost = codes(answers)
            assert set(lost.values()) <= {"job_cancelled"}
            assert set(lost) <= {"m3", "m60", "m119"}
            assert len(lost) <= statuses.count(200)
            cancelled += len(lost)
            for name in lost:
                assert asker.ask("GET", f"/v1/jobs/{name}", 200)["state"] == "cancelled"
                asker.ask("DELETE", f"/v1/jobs/{name}", 204)
        assert cancelled
        assert asker.ask("GET", "/v1/status", 200)["used"]["jobs"] == 0
        no_defects(server)


def test_one_that_is_asked_for_is_a_job_like_any_other(tmp_path: Path) -> None:
    with Running(tmp_path / "store", workers=1, max_body=16 * MIB) as server:
        asker, bob = Asker(server, "a"), Asker(server, "b")
        sender = Sender(asker)

        def ask() -> tuple[int, Any, int, int]:
            program = sender.places["program"]
            other = bob.http.get("/v1/jobs/m119").status_code
            kept = asker.http.delete(f"/v1/blobs/{program}")
            found = asker.http.get("/v1/jobs/m119")
            return found.status_code, found.json(), other, kept.status_code

        seen = []
        for _ in range(5):
            answers, (status, told, other, kept) = meanwhile(sender, ask)
            assert other == 404
            assert codes(answers) == {}
            assert {name: answer[0] for name, answer in answers.items() if name != "m119"} == dict.fromkeys(
                (f"m{number}" for number in range(119)), 200
            )
            if status == 200:
                assert told["state"] in ("queued", "running", "done")
                assert kept == 409
                seen.append(told["state"])
                break
            sender.places = asker.prepared(sender.program, sender.client)
        assert seen
        no_defects(server)


def test_a_server_that_is_stopped_answers_those_that_wait(tmp_path: Path) -> None:
    with Running(tmp_path / "store", workers=1) as server, rs.connect(server.url, server.tenant("a")) as remote:
        place = remote.program(votes.compile())
        xs = inputs(400)
        results = iter(place.evaluate_many([place.client.encrypt(x=x) for x in xs], keep=0, w=W))
        done = [next(results)]
        port = int(server.url.rsplit(":", 1)[1])
        assert server.stop() == 0
        server.settings = type(server.settings)(**{**vars(server.settings), "port": port})
        server.start()
        done += list(results)
        assert [place.client.decrypt(one).tolist() for one in done] == [expected(x) for x in xs]
        no_defects(server)
