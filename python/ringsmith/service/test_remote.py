# SPDX-License-Identifier: Apache-2.0
"""The client against a server: the same answers as here, no secret on the wire, safe repetition, jobs that stay."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.errors import InputError
from ringsmith.remote import steps
from ringsmith.remote.connections import Connections
from ringsmith.remote.steps import Reply
from ringsmith.service.conftest import ROWS, WEIGHTS, Asker, score, turning, votes

EXPECTED = (ROWS @ WEIGHTS) ** 2


@rs.kernel(z=rs.Encrypted(2, bound=2.0, complex=True), w=rs.Plain(2, bound=2.0, complex=True), tolerance=1e-3)
def spun(z: Any, w: Any) -> Any:
    return z * w


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=9))
def averaged(x: Any) -> Any:
    return x.mean()


class Tap:
    """Passes connections on to a server and keeps every byte that the client sends."""

    def __init__(self, url: str) -> None:
        self._to, self.sent = ("127.0.0.1", int(url.rsplit(":", 1)[1])), bytearray()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Tap:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._to)
                for source, target, kept in ((client, server, self.sent), (server, client, None)):
                    threading.Thread(target=self._pass_on, args=(source, target, kept), daemon=True).start()

    @staticmethod
    def _pass_on(source: socket.socket, target: socket.socket, kept: bytearray | None) -> None:
        with contextlib.suppress(OSError), source, target:
            while data := source.recv(1 << 16):
                if kept is not None:
                    kept += data
                target.sendall(data)


class Watched(Connections):
    """Keeps what is asked, and can lose requests before and answers after the server has seen them."""

    def __init__(self, url: str, lose: Callable[[], bool] = lambda: False) -> None:
        super().__init__(url)
        self.requests: list[tuple[str, str]] = []
        self._lose = lose

    def exchange(self, method: str, target: str, *more: Any) -> Reply:
        if self._lose():
            raise ConnectionRefusedError("lost on the way")
        self.requests.append((method, target))
        answer = super().exchange(method, target, *more)
        if self._lose():
            raise TimeoutError("the answer was lost")
        return answer


def watched(remote: rs.remote.Remote, lose: Callable[[], bool] = lambda: False) -> Watched:
    """Put a watch on a connection."""
    remote.wire._connections = watch = Watched(remote.wire.url, lose)
    return watch


def windows(secret: bytes, size: int = 16) -> Iterator[bytes]:
    yield from (secret[place : place + size] for place in range(0, len(secret) - size, size))


def test_a_kernel_on_a_server_is_the_kernel(alice: Asker) -> None:
    with alice.remote() as remote:
        assert np.abs(score.on(remote)(ROWS, WEIGHTS) - EXPECTED).max() < 1e-3
        x, w = np.arange(-4, 4), np.arange(8)
        assert votes.on(remote)(x, w=w).tolist() == votes(x, w).tolist()
        z, own = np.array([1 + 2j, -0.5j]), np.array([1j, 2.0])
        assert np.abs(spun.on(remote)(z, w=own) - z * own).max() < 1e-3
        assert averaged.on(remote)(x).item() == np.mean(x)
        assert alice.key not in repr(remote)


def test_the_secret_key_never_leaves(alice: Asker) -> None:
    async def run(url: str, client: rs.Client) -> None:
        async with rs.connect_async(url, alice.key) as remote:
            await remote.program(client.program, client)(x=ROWS, w=WEIGHTS)

    with Tap(alice.url) as tap, rs.connect(tap.url, alice.key) as remote:
        kernel = score.on(remote)
        kernel(ROWS, WEIGHTS)
        kernel.submit(ROWS, WEIGHTS).result()
        client = kernel.program(x=(2, 4)).client
        asyncio.run(run(tap.url, client))
        sent = bytes(tap.sent)
        # Every aligned window of the serialized key: the envelope and the key's public identity may be seen.
        secret = client.secret_key[48:-8]
        found = [window for window in windows(secret) if len(set(window)) > 2 and window in sent]
        assert not found
        assert len(secret) > 4096
        # The test sees what is there: evaluation keys went over this wire.
        assert all(window in sent for window in windows(client.evaluation_keys.galois[-4096:]))
        for data in (client.secret_key, client.to_bytes()):
            with pytest.raises(InputError, match="does not leave this machine"):
                remote.wire.run(steps.upload(data))
            with pytest.raises(InputError, match="does not leave this machine"):
                remote.wire.run(steps.evaluate("0" * 64, "0" * 64, data, {}, "x", None, 0))


def test_keys_are_uploaded_once(alice: Asker) -> None:
    with alice.remote() as remote:
        watch, kernel = watched(remote), score.on(remote)
        kernel(ROWS, WEIGHTS)
        first = len(watch.requests)
        kernel(ROWS, WEIGHTS)
        assert [path.split("/")[2] for _, path in watch.requests[first:]] == ["jobs"]
        # Another process with the same client sends neither program nor keys.
        again = kernel.program(x=(2, 4)).client
        watch.requests.clear()
        remote.program(again.program, again)(x=ROWS, w=WEIGHTS)
        assert [method for method, path in watch.requests if "blobs" in path] == ["GET", "GET"]


def test_what_is_lost_on_the_way_is_sent_again(alice: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringsmith.remote.wire._FIRST_PAUSE", 0.001)
    monkeypatch.setattr(steps, "_WHOLE", 20_000)  # Keys go in chunks.
    dice = random.Random(7)
    with alice.remote() as remote:
        watched(remote, lambda: dice.random() < 0.25)
        for _ in range(8):
            assert np.abs(score.on(remote)(ROWS, WEIGHTS) - EXPECTED).max() < 1e-3
        jobs = remote.jobs()
    assert len(jobs) == 8
    assert {job["state"] for job in jobs} == {"done"}


def test_a_server_that_is_not_there_is_named(alice: Asker) -> None:
    with (
        rs.connect("http://127.0.0.1:9", "key", patience=0.1) as remote,
        pytest.raises(rs.RemoteError, match="cannot be reached"),
    ):
        remote.jobs()
    with rs.connect(alice.url, "wrong") as remote, pytest.raises(rs.RemoteError, match="an API key") as refused:
        remote.jobs()
    assert refused.value.code == "unauthorized"
    for url, match in (
        ("ftp://x", "address of a server"),
        ("http://example.org", "in the clear"),
        ("x", "address of a server"),
    ):
        with pytest.raises(InputError, match=match):
            rs.connect(url, "key")
    with pytest.raises(InputError, match="an API key is"):
        rs.connect(alice.url, "a\nb")


def test_failures_come_with_their_reason(alice: Asker) -> None:
    with alice.remote() as remote:
        program = remote.program(score.compile(x=(2, 4)))
        with pytest.raises(InputError, match="takes the plain arguments"):
            program(x=ROWS)
        other = remote.program(votes.compile())
        with pytest.raises(InputError, match="another program"):
            remote.program(score.compile(x=(2, 4)), other.client)
        with pytest.raises(rs.RemoteError, match="no such job"):
            remote.job("none", program.client).result()
        job = program.submit({"x": ROWS, "w": WEIGHTS})
        with pytest.raises(rs.KeyMismatchError):
            remote.job(job.id, score.compile(x=(2, 4)).client()).result()
        job.result()
        job.delete()
        with pytest.raises(rs.RemoteError, match="no such job"):
            job.state()


def test_progress_and_cancelling(alice: Asker) -> None:
    told: list[tuple[int, int]] = []
    with alice.remote() as remote:
        job = turning.on(remote).submit(np.zeros(8))

        def progress(done: int, total: int) -> None:
            told.append((done, total))
            job.cancel()

        with pytest.raises(rs.RemoteError) as refused:
            job.result(progress)
        assert refused.value.code == "job_cancelled"
        assert told
        assert 0 < told[0][0] <= told[0][1]


def test_many_threads_share_a_connection(alice: Asker) -> None:
    with alice.remote() as remote, ThreadPoolExecutor(8) as pool:
        kernel = votes.on(remote)
        w = np.arange(8)
        arguments = [np.arange(n, n + 8) for n in range(-20, 20)]
        answers = list(pool.map(lambda x: kernel(x, w), arguments))
    assert [a.tolist() for a in answers] == [((x * w - 3) * x).tolist() for x in arguments]


def test_asynchronous(alice: Asker) -> None:
    async def run() -> None:
        async with rs.connect_async(alice.url, alice.key) as remote:
            kernel = score.on(remote)
            answers = await asyncio.gather(*(kernel(ROWS * scale, WEIGHTS) for scale in (1, 0.5, -0.5)))
            for answer, scale in zip(answers, (1, 0.5, -0.5), strict=True):
                assert np.abs(answer - EXPECTED * scale**2).max() < 1e-3
            assert len(await remote.jobs()) == 3
            with pytest.raises(InputError, match=r"needs rs\.connect"):
                kernel.submit(ROWS, WEIGHTS)

    asyncio.run(run())


KERNEL = """
import numpy as np, ringsmith as rs
@rs.kernel(x=rs.Encrypted(None, 4, bound=2.0), w=rs.Plain(4, bound=1.0), tolerance=1e-3)
def score(x, w):
    return x @ w
"""


def ringsmith(*arguments: Any) -> str:
    command = [sys.executable, "-m", "ringsmith", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def shell(alice: Asker, tmp_path: Path) -> tuple[Path, tuple[Any, ...]]:
    """A kernel's file, and the options that say where to run it."""
    (tmp_path / "k.py").write_text(KERNEL)
    (tmp_path / "key").write_text(alice.key + "\n")
    return tmp_path / "k.py", ("--at", alice.url, "--api-key-file", tmp_path / "key")


def test_a_job_outlives_the_process_that_sent_it(shell: tuple[Path, tuple[Any, ...]], tmp_path: Path) -> None:
    (file, at), owner, answer = shell, tmp_path / "mine.rsc", tmp_path / "answer.npy"
    np.save(tmp_path / "x.npy", ROWS)
    np.save(tmp_path / "w.npy", WEIGHTS)
    inputs = ("--input", f"x={tmp_path / 'x.npy'}", "--input", f"w={tmp_path / 'w.npy'}")
    submitted = json.loads(ringsmith("run", file, *at, *inputs, "--client", owner, "--detach"))
    ringsmith("jobs", submitted["job"], *at, "--client", owner, "--output", answer, "--delete")
    assert np.abs(np.load(answer) - ROWS @ WEIGHTS).max() < 1e-3


def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    """Run the command line in this process; returns its status and what it printed."""
    monkeypatch.setattr(sys, "argv", ["ringsmith", *map(str, arguments)])
    from ringsmith.cli import application
    from ringsmith.cli.outcome import outcome

    lines: list[str] = []
    try:
        application()(standalone_mode=False, args=list(map(str, arguments)))
        status = 0
    except BaseException as error:
        status, lines = outcome(error)
    return status, capsys.readouterr().out, "\n".join(lines)


def test_jobs_from_the_shell(
    alice: Asker,
    shell: tuple[Path, tuple[Any, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file, at = shell
    key, owner = tmp_path / "key", tmp_path / "mine.rsc"
    for _ in range(2):  # The second time with the keys of the first.
        status, out, error = told(monkeypatch, capsys, "run", file, *at, "--client", owner, "--json")
        report = json.loads(out)
        assert (status, report["correct"], report["engine"]) == (0, True, alice.url), error
    assert len(alice.ask("GET", "/v1/blobs?kind=keys", 200)["blobs"]) == 1
    listed = json.loads(told(monkeypatch, capsys, "jobs", *at, "--json")[1])["jobs"]
    assert [job["state"] for job in listed] == ["done", "done"]
    assert listed[0]["id"] in told(monkeypatch, capsys, "jobs", *at)[1]
    for arguments, message in (
        (("jobs", "none", *at), "no such job"),
        (("jobs", "../x", *at), "a name as ringsmith jobs lists them"),
        (("jobs", *at, "--cancel"), "name the job"),
        (("run", file, "--detach"), "go with --at"),
        (("run", file, *at, "--detach"), "needs --client"),
        (("run", file, *at, "--on", "model:cofhee"), "give one of them"),
        (("run", file, "--at", alice.url, "--api-key-file", tmp_path / "none"), "no such file"),
        (("run", file, "--at", alice.url), "needs --api-key-file"),
        (("run", file, *at, "--client", key), "key: "),
        (("run", file, *at, "--client", owner, "--security", 192), "differs in parameters"),
        (("jobs", "--at", "http://example.org", "--api-key-file", key), "in the clear"),
        (("serve", "--store", key), "cannot be used as a store"),
        (("serve", "--store", tmp_path / "s", "--add-tenant", "../x"), "tenant"),
        (("serve", "--store", tmp_path / "s", "--host", "no such host"), "cannot listen there"),
        (("serve", "--store", tmp_path / "s", "--tls-key", key), "go together"),
    ):
        status, _, error = told(monkeypatch, capsys, *arguments)
        assert (status, len(error.splitlines())) == (2, 1), error
        assert message in error, error
        assert alice.key not in error
