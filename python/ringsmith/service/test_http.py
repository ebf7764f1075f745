# SPDX-License-Identifier: Apache-2.0
"""The interface in wrong hands: one clear refusal each, nothing half-written, no access to other tenants."""

from __future__ import annotations

import hashlib
import io
import json
import socket
import time
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np
import pytest

from ringsmith.remote.steps import address
from ringsmith.service.conftest import ROWS, WEIGHTS, Asker, no_defects, score, turning, votes
from ringsmith.service.harness import Running
from ringsmith.service.problems import STATUS, Problem

NOWHERE = "0" * 64


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.fixture(scope="module")
def program() -> Any:
    return score.compile(x=(2, 4))


@pytest.fixture(scope="module")
def client(program: Any) -> Any:
    return program.client()


@pytest.fixture
def ready(alice: Asker, program: Any, client: Any) -> dict[str, str]:
    """The hashes of everything that a job needs."""
    return {**alice.prepared(program, client), "inputs": alice.put(client.encrypt(x=ROWS).to_bytes())}


def job(ready: dict[str, str], **changes: Any) -> dict[str, Any]:
    return {**ready, "plain": {"w": WEIGHTS.tolist()}, **changes}


def test_without_a_key_there_is_nothing(running: Running) -> None:
    for headers in (
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": "Basic eDp5"},
        {"authorization": "Bearer " + "x" * 9999},
    ):
        for method, path in (
            ("GET", "/v1/jobs"),
            ("PUT", f"/v1/blobs/{NOWHERE}"),
            ("GET", "/v1/jobs/%00%ff"),
            ("GET", "/v1/status"),
        ):
            answer = httpx.request(method, running.url + path, headers=headers, trust_env=False)
            assert answer.status_code == 401
            assert answer.json()["error"]["code"] == "unauthorized"
            assert answer.headers["www-authenticate"] == "Bearer"
    for path in ("/", "/page.js", "/healthz", "/readyz", "/metrics", "/openapi.json"):
        answer = httpx.get(running.url + path, trust_env=False)
        assert answer.status_code == 200, path
        assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_whole_job_by_hash(alice: Asker, ready: dict[str, str], client: Any, program: Any) -> None:
    told = alice.ask("PUT", "/v1/jobs/first", 201, json=job(ready))
    assert told["state"] in ("queued", "running")
    told = alice.ask("GET", "/v1/jobs/first?wait=30", 200)
    assert told["state"] == "done", told
    assert told["report"]["run_seconds"] > 0
    result = alice.ask("GET", "/v1/jobs/first/result", 200)
    import ringsmith as rs

    answer = client.decrypt(rs.Encryptions.from_bytes(result))
    assert np.abs(answer - (ROWS @ WEIGHTS) ** 2).max() < 1e-3
    # Fetched twice: the same. Submitted twice: the same job, whatever came since.
    assert alice.ask("GET", "/v1/jobs/first/result", 200) == result
    assert alice.ask("PUT", "/v1/jobs/first", 200, json=job(ready))["number"] == told["number"]
    assert alice.refused("PUT", "/v1/jobs/first", "job_differs", json=job(ready, plain={"w": [0, 0, 0, 0]}))
    # With an array in place of numbers, and the arguments in the request.
    array = alice.put(npy(WEIGHTS))
    query = {"program": ready["program"], "keys": ready["keys"], "plain": json.dumps({"w": {"blob": array}})}
    body = client.encrypt(x=ROWS).to_bytes()
    second = alice.ask("PUT", "/v1/jobs/second/run", 200, params=query, content=body)
    assert np.abs(client.decrypt(rs.Encryptions.from_bytes(second)) - (ROWS @ WEIGHTS) ** 2).max() < 1e-3
    assert alice.ask("PUT", "/v1/jobs/second/run", 200, params=query, content=body) == second
    # The same written in another order goes the long way, to the same job.
    plain = json.dumps({"w": WEIGHTS.tolist()})
    ours: dict[str, Any] = {
        "program": ready["program"],
        "keys": ready["keys"],
        "plain": plain,
        "keep": 60.0,
        "wait": 20.0,
    }
    third = alice.ask("PUT", "/v1/jobs/third/run", 200, params=ours, content=body)
    assert third == alice.ask("PUT", "/v1/jobs/third/run", 200, params=dict(reversed(ours.items())), content=body)
    alice.refused("PUT", "/v1/jobs/third/run", "job_differs", params=ours, content=client.encrypt(x=ROWS).to_bytes())
    for wrong, code in (
        ({"plain": "{"}, "bad_request"), ({"keys": NOWHERE}, "not_found"), ({"wait": 61.0}, "bad_request"),
    ):  # fmt: skip
        for order in (1, -1):
            query = dict(list((ours | wrong).items())[::order])
            alice.refused("PUT", "/v1/jobs/fourth/run", code, params=query, content=body)
    # Arguments that came with a job are the job's own and gone with its end.
    alice.refused("GET", f"/v1/blobs/{address(body)}", "not_found")
    assert [one["id"] for one in alice.ask("GET", "/v1/jobs", 200)["jobs"]] == ["third", "second", "first"]
    alice.ask("DELETE", "/v1/jobs/first", 204)
    alice.refused("GET", "/v1/jobs/first", "not_found")
    alice.refused("DELETE", "/v1/jobs/first", "not_found")


def test_what_is_anothers_does_not_exist(asker: Callable[[], Asker], program: Any, client: Any) -> None:
    alice, mallory = asker(), asker()
    ready = {**alice.prepared(program, client), "inputs": alice.put(client.encrypt(x=ROWS).to_bytes())}
    alice.ask("PUT", "/v1/jobs/hers?wait=30", 201, json=job(ready))
    begun = alice.ask("POST", "/v1/uploads", 201, json={"hash": NOWHERE, "size": 10})["upload"]
    blob, upload = f"/v1/blobs/{ready['keys']}", f"/v1/uploads/{begun}"
    paths = [
        ("GET", blob, "/v1/blobs/" + NOWHERE),
        ("GET", blob + "/facts", f"/v1/blobs/{NOWHERE}/facts"),
        ("DELETE", blob, "/v1/blobs/" + NOWHERE),
        ("GET", "/v1/jobs/hers", "/v1/jobs/none"),
        ("GET", "/v1/jobs/hers/result", "/v1/jobs/none/result"),
        ("GET", "/v1/jobs/hers/events", "/v1/jobs/none/events"),
        ("POST", "/v1/jobs/hers/cancel", "/v1/jobs/none/cancel"),
        ("DELETE", "/v1/jobs/hers", "/v1/jobs/none"),
        ("GET", upload, "/v1/uploads/" + "0" * 32),
        ("DELETE", upload, "/v1/uploads/" + "0" * 32),
        ("PUT", upload + "?offset=0", f"/v1/uploads/{'0' * 32}?offset=0"),
    ]
    for method, hers, nobodys in paths:
        answers = [mallory.http.request(method, path) for path in (hers, nobodys)]
        assert [answer.status_code for answer in answers] == [404, 404], hers
        assert answers[0].content == answers[1].content
        assert [k for k in answers[0].headers if k != "date"] == [k for k in answers[1].headers if k != "date"]
    assert mallory.refused("PUT", "/v1/jobs/mine", "not_found", json=job(ready))
    assert mallory.ask("GET", "/v1/jobs", 200) == {"jobs": []}
    assert mallory.ask("GET", "/v1/blobs", 200) == {"blobs": []}
    # The same name is another job; knowing a hash is not having the bytes.
    mallory.refused("GET", "/v1/jobs/hers", "not_found")
    assert alice.ask("GET", "/v1/jobs/hers", 200)["state"] == "done"
    assert len(alice.ask("GET", "/v1/blobs", 200)["blobs"]) == 3


def test_secret_keys_are_refused_before_they_are_kept(running: Running, alice: Asker, client: Any) -> None:
    for data in (client.secret_key, client.to_bytes()):
        alice.refused("PUT", f"/v1/blobs/{address(data)}", "secret_key", content=data)
        begun = alice.ask("POST", "/v1/uploads", 201, json={"hash": address(data), "size": len(data)})
        alice.refused("PUT", f"/v1/uploads/{begun['upload']}?offset=0", "secret_key", content=data[:100])
        alice.refused("PUT", "/v1/jobs/x/run", "not_found", params={"program": NOWHERE, "keys": NOWHERE}, content=data)
        alice.refused("GET", f"/v1/uploads/{begun['upload']}", "not_found")
    stored = b"".join(path.read_bytes() for path in running.settings.store.rglob("*") if path.is_file())
    assert client.secret_key[40:200] not in stored


def test_blobs_that_are_none_are_refused(alice: Asker, program: Any, client: Any) -> None:
    good = program.to_bytes()
    cases: dict[str, list[tuple[str | None, bytes]]] = {
        "hash_mismatch": [(address(b"other"), good)],
        "bad_blob": [
            (None, b"junk"),
            (None, good[:-1]),
            (None, good + b"x"),
            (None, good[:50] + b"\1" + good[51:]),
            (None, b""),
            (None, b"\x93NUMPY junk"),
            (None, npy(np.array(["a"]))),
        ],
        "wrong_kind": [(None, client.public_key.to_bytes()), (None, bytes(program.native.parameters_bytes))],
        "bad_parameters": [],
    }
    for code, blobs in cases.items():
        for where, data in blobs:
            told = alice.refused("PUT", f"/v1/blobs/{where or address(data)}", code, content=data)
            assert "\n" not in told["message"]
    for path in ("/v1/blobs/..%2f..%2fetc%2fpasswd", "/v1/blobs/" + "A" * 64, "/v1/blobs/" + "0" * 63, "/v1/blobs/%00"):
        answer = alice.http.put(path, content=b"x")
        assert answer.status_code in (400, 404), (path, answer.text)
    assert alice.ask("GET", "/v1/blobs", 200) == {"blobs": []}


def test_an_insecure_program_is_refused(alice: Asker) -> None:
    import ringsmith as rs
    from ringsmith.cli.common import load_kernels  # noqa: F401

    @rs.kernel(x=rs.Encrypted(2, bound=1.0), tolerance=1.0, params="zynq-toy", allow_insecure=True)
    def toy(x: Any) -> Any:
        return x + 1

    data = toy.compile().to_bytes()
    alice.refused("PUT", f"/v1/blobs/{address(data)}", "bad_parameters", content=data)


def test_jobs_that_cannot_be_are_refused(alice: Asker, ready: dict[str, str], client: Any) -> None:
    other = votes.compile()
    stranger, twin = other.client(), score.compile(x=(2, 4)).client()
    their = alice.prepared(other, stranger)
    keys = alice.put(twin.evaluation_keys.to_bytes())
    array, wrong = alice.put(npy(WEIGHTS)), alice.put(npy(np.ones(5)))
    cases: list[tuple[str, dict[str, Any]]] = [
        ("wrong_kind", job(ready, program=ready["keys"])),
        ("wrong_kind", job(ready, inputs=ready["keys"])),
        ("wrong_kind", job(ready, plain={"w": {"blob": ready["keys"]}})),
        ("not_found", job(ready, keys=NOWHERE)),
        ("not_found", job(ready, plain={"w": {"blob": NOWHERE}})),
        ("mismatch", job(ready, keys=their["keys"])),
        ("mismatch", job(ready, program=their["program"])),
        ("mismatch", job(ready, keys=keys)),
        ("bad_arguments", job(ready, plain={})),
        ("bad_arguments", job(ready, plain={"w": WEIGHTS.tolist(), "v": 1})),
        ("bad_arguments", job(ready, plain={"w": {"blob": wrong}})),
        ("bad_request", job(ready, plain={"w": {"file": "/etc/passwd"}})),
        ("bad_request", job(ready, plain={"w": {"blob": "../../etc/passwd"}})),
        ("bad_request", job(ready, plain={"w": "text"})),
        ("bad_request", job(ready, plain={"w": None})),
        ("bad_request", job(ready, extra=1)),
        ("bad_request", job(ready, keys="x")),
        ("bad_request", {"program": ready["program"]}),
        ("bad_request", job(ready, keep_seconds=1e300)),
    ]
    for code, body in cases:
        told = alice.refused("PUT", "/v1/jobs/bad", code, json=body)
        assert "passwd" not in told["message"]
    for text in (
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"program":1}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 5000,
        b'{"program": "\\ud800"}',
        b"9" * 10_000,
    ):
        alice.refused("PUT", "/v1/jobs/bad", "bad_request", content=text)
    for name in ("..", "a/b", "%2e%2e%2f", "a" * 65, "-x", "%00", "ä"):
        assert alice.http.put(f"/v1/jobs/{name}", json=job(ready)).status_code in (400, 404, 405)
    # Values are looked at by the worker: the job fails with the reason.
    values: list[Any] = [
        [1, 2, 3],
        [9.0] * 4,
        [[1], [2, 3]],
        [float("nan")] * 4,
        [1e400] * 4,
        10**5000,
        True,
        [[[[]]]],
        {"blob": wrong},
    ]
    for number, value in enumerate(values[:-1]):
        sent = (
            json.dumps(job(ready, plain={"w": value}))
            if value != 10**5000
            else json.dumps(job(ready, plain={"w": 7})).replace("7}", "7" * 5000 + "}")
        )
        answer = alice.http.put(f"/v1/jobs/value-{number}?wait=30", content=sent)
        if answer.status_code == 201:
            answer = alice.http.get(f"/v1/jobs/value-{number}/result")
        assert 400 <= answer.status_code < 500, (value, answer.text)
    assert (
        alice.ask("PUT", "/v1/jobs/good?wait=30", 201, json=job(ready, plain={"w": {"blob": array}}))["state"] == "done"
    )


def test_uploads_go_on_where_they_stopped(running: Running, alice: Asker, client: Any) -> None:
    data = client.evaluation_keys.to_bytes()
    where, third = address(data), len(data) // 3
    announced = {"hash": where, "size": len(data)}
    begun = alice.ask("POST", "/v1/uploads", 201, json=announced)
    path = f"/v1/uploads/{begun['upload']}"
    assert alice.ask("PUT", f"{path}?offset=0", 200, content=data[:third]) == {"offset": third}
    told = alice.refused("PUT", f"{path}?offset=0", "wrong_offset", content=data[:third])
    assert told["offset"] == third
    assert alice.ask("POST", "/v1/uploads", 201, json=announced)["offset"] == third
    alice.refused("PUT", f"{path}?offset={third}", "too_large", content=data + b"more")
    alice.refused("GET", f"/v1/blobs/{where}", "not_found")
    done = alice.ask("PUT", f"{path}?offset={third}", 201, content=data[third:])
    assert done["blob"]["kind"] == "keys"
    assert alice.ask("GET", f"/v1/blobs/{where}", 200) == data
    assert "blob" in alice.ask("POST", "/v1/uploads", 200, json=announced)
    alice.refused("PUT", f"{path}?offset=0", "not_found", content=data)
    # Announced one thing, sent another: removed at once.
    begun = alice.ask("POST", "/v1/uploads", 201, json={"hash": address(b"x"), "size": 4})
    alice.refused("PUT", f"/v1/uploads/{begun['upload']}?offset=0", "hash_mismatch", content=b"junk")
    alice.refused("GET", f"/v1/uploads/{begun['upload']}", "not_found")
    assert not list((running.settings.store / "parts").glob(begun["upload"]))
    for body, code in (
        ({"hash": where[:-1], "size": 1}, "bad_request"),
        ({"hash": NOWHERE, "size": 0}, "bad_request"),
        ({"hash": NOWHERE, "size": 1 << 40}, "too_large"),
        ({"hash": NOWHERE, "size": "1"}, "bad_request"),
        ({"hash": NOWHERE, "size": 10**30}, "too_large"),
    ):
        alice.refused("POST", "/v1/uploads", code, json=body)


def test_a_tenants_bytes_are_bounded(alice: Asker) -> None:
    for number in range(4):
        alice.ask("POST", "/v1/uploads", 201, json={"hash": f"{number:064x}", "size": 60 << 20})
    alice.refused("POST", "/v1/uploads", "over_quota", json={"hash": f"{9:064x}", "size": 60 << 20})
    alice.refused("PUT", f"/v1/blobs/{NOWHERE}", "hash_mismatch", content=b"x")


def test_bodies_are_bounded_and_must_come(running: Running, alice: Asker) -> None:
    big = b"x" * (2 * (1 << 20) + 1)
    alice.refused("PUT", f"/v1/blobs/{NOWHERE}", "too_large", content=big)
    alice.refused("PUT", f"/v1/blobs/{NOWHERE}", "too_large", content=iter([big[: 1 << 20]] * 3))
    host, port = running.url.removeprefix("http://").split(":")

    def slow(first: bytes, then: bytes, pause: float) -> tuple[bytes, float]:
        start = time.monotonic()
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(first)
            answer = b""
            try:
                while time.monotonic() - start < 10:
                    connection.settimeout(pause)
                    try:
                        part = connection.recv(4096)
                        if not part:
                            break
                        answer += part
                    except TimeoutError:
                        connection.sendall(then)
            except ConnectionError:
                pass
        return answer, time.monotonic() - start

    head = f"PUT /v1/blobs/{NOWHERE} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {alice.key}\r\n".encode()
    for first, then in ((b"", b""), (b"GET", b" "), (head, b"x: y\r\n")):
        answer, seconds = slow(first, then, 0.1)
        assert seconds < 5, first
        assert answer == b""
    answer, seconds = slow(head + b"content-length: 1000\r\n\r\n", b"x", 0.1)
    assert b"408" in answer.split(b"\r\n")[0]
    assert seconds < 5
    answer, seconds = slow(head + b"x: " + b"y" * 100_000, b"y", 0.1)
    assert seconds < 5


def test_events_and_cancelling(alice: Asker) -> None:
    program = turning.compile()
    client = program.client()
    ready = {
        **alice.prepared_large(program, client),
        "inputs": alice.put_large(client.encrypt(x=np.zeros(8)).to_bytes()),
    }
    alice.ask("PUT", "/v1/jobs/long", 201, json={**ready, "plain": {}})
    alice.refused("GET", "/v1/jobs/long/result", "job_unfinished")
    alice.refused("DELETE", "/v1/jobs/long", "job_unfinished")
    alice.refused("DELETE", f"/v1/blobs/{ready['keys']}", "in_use")
    states: list[dict[str, Any]] = []
    with alice.http.stream("GET", "/v1/jobs/long/events") as events:
        assert events.headers["content-type"].startswith("text/event-stream")
        for line in events.iter_lines():
            if line.startswith("data: "):
                states.append(json.loads(line[6:]))
                if states[-1].get("progress", {}).get("done", 0) > 0 and len(states) < 1000:
                    assert alice.ask("POST", "/v1/jobs/long/cancel", 200)["state"] == "cancelled"
    assert states[-1]["state"] == "cancelled"
    assert any(state["state"] == "running" for state in states)
    told = alice.refused("GET", "/v1/jobs/long/result", "job_cancelled")
    assert told["cause"] == "job_cancelled"
    assert alice.ask("POST", "/v1/jobs/long/cancel", 200)["state"] == "cancelled"
    # The worker is free again, and alive.
    start = time.monotonic()
    alice.ask("PUT", "/v1/jobs/after", 201, json={**ready, "plain": {}})
    while alice.ask("GET", "/v1/jobs/after", 200)["state"] == "queued":
        assert time.monotonic() - start < 30
        time.sleep(0.05)
    alice.ask("POST", "/v1/jobs/after/cancel", 200)
    alice.ask("DELETE", f"/v1/blobs/{ready['inputs']}", 204)


def test_metrics_tell_no_tenant(alice: Asker, ready: dict[str, str], running: Running) -> None:
    alice.ask("PUT", "/v1/jobs/measured?wait=30", 201, json=job(ready))
    text = httpx.get(running.url + "/metrics", trust_env=False).text
    for name in (
        "ringsmith_requests_total",
        "ringsmith_jobs_total",
        "ringsmith_key_bytes_held",
        "ringsmith_store_bytes",
    ):
        assert name in text
    assert "tenant" not in text
    lines = json.dumps(running.log)
    assert "measured" in lines  # The job's name is in the log; keys, hashes and values are not.
    for secret in (alice.key, ready["keys"], str(WEIGHTS[1])):
        assert secret not in text + lines


def test_each_code_has_a_status_and_a_line_in_the_documentation() -> None:
    from pathlib import Path

    text = (Path(__file__).parents[3] / "docs" / "service.md").read_text()
    for code, status in STATUS.items():
        assert f"| `{code}` | {status} |" in text, code
        assert Problem(code, "x").status == status


def test_hashes_are_those_of_the_bytes() -> None:
    assert address(b"abc") == hashlib.sha256(b"abc").hexdigest()


def test_nothing_unforeseen_happened(running: Running) -> None:
    no_defects(running)
    assert all(line["status"] < 500 for line in running.log if line["event"] == "request")
