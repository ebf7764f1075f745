# SPDX-License-Identifier: Apache-2.0
"""What a server keeps: its owner's alone to read, and never a secret key, in whatever pieces or wrapping it comes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ringsmith as rs
from ringsmith.remote.steps import address
from ringsmith.runtime.messages import HEAD, Encryptions, secret_within
from ringsmith.service.conftest import ROWS, WEIGHTS, Asker, no_defects, score, store_of
from ringsmith.service.harness import Running


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def readable(folder: Path) -> list[str]:
    """Files and folders, this one included, to which group or others have any permission."""
    places = [folder, *folder.rglob("*")]
    return [str(path) for path in places if stat.S_IMODE(path.lstat().st_mode) & 0o077]


@pytest.mark.usefixtures("open_umask")
def test_a_store_is_its_owners_alone(tmp_path: Path) -> None:
    store = tmp_path / "store"
    (store / "blobs").mkdir(parents=True)
    for name in ("", "-wal", "-shm"):
        (store / f"ringsmith.sqlite3{name}").touch()
    assert len(readable(store)) == 5
    with Running(store, workers=1, inline=1024) as server:
        alice = Asker(server, "alice")
        assert alice.remote().kernel(score)(ROWS, WEIGHTS).shape == (2,)
        assert {path.name for path in store.iterdir()} >= {"ringsmith.sqlite3-wal", "ringsmith.sqlite3-shm", "lock"}
        assert list(store.glob("blobs/??/*"))
        assert readable(store) == []


def serve(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ringsmith", "serve", "--store", "store", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("open_umask")
def test_a_key_file_is_its_owners_alone_and_serves_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("of others\n")
    (tmp_path / "key").chmod(0o644)
    done = serve(tmp_path, "--add-tenant", "alice", "--key-file", "key")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert readable(tmp_path / "store") == []
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert (tmp_path / "key").read_text().startswith("rsk_")
    rs.connect("http://127.0.0.1:1", (tmp_path / "key").read_text())
    for words, told in (
        (("--key-file", "key"), "--key-file goes with --add-tenant"),
        (("--add-tenant", "alice", "--key-file", "none/key"), "no such folder"),
    ):
        done = serve(tmp_path, *words)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def secrets_of(alice: Asker) -> dict[str, bytes]:
    """Bytes with a secret key, by how it is wrapped."""
    program = score.compile(x=(2, 4))
    client = program.client()
    secret = client.to_bytes()
    sent = client.encrypt(x=ROWS)
    nested = Encryptions.of_parts(sent.label, [*sent.ciphertexts, secret]).to_bytes()
    return {"alone": secret, "nested": nested, "behind others": b"\x93NUMPY" + bytes(100) + secret}


def kept(server: Running) -> bytes:
    return b"".join(path.read_bytes() for path in store_of(server).rglob("*") if path.is_file())


@pytest.mark.parametrize("wrapped", ["alone", "nested", "behind others"])
@pytest.mark.parametrize("first", [1, 7, 8, HEAD, 5000])
def test_an_upload_in_pieces_keeps_nothing_of_a_secret_key(
    alice: Asker, running: Running, wrapped: str, first: int
) -> None:
    data = secrets_of(alice)[wrapped]
    begun = alice.ask("POST", "/v1/uploads", 201, json={"hash": address(data), "size": len(data) + 10})
    place, sent = f"/v1/uploads/{begun['upload']}", 0
    for size in (first, len(data) - first):
        answer = alice.http.put(place, params={"offset": sent}, content=data[sent : sent + size])
        sent += size
        if answer.status_code == 422:
            break
    assert answer.json()["error"]["code"] == "secret_key"
    alice.refused("GET", place, "not_found")
    assert not secret_within(kept(running))


@pytest.mark.parametrize("wrapped", ["alone", "nested", "behind others"])
def test_no_request_keeps_a_secret_key(alice: Asker, running: Running, wrapped: str) -> None:
    data = secrets_of(alice)[wrapped]
    alice.refused("PUT", f"/v1/blobs/{address(data)}", "secret_key", content=data)
    program = score.compile(x=(2, 4))
    places = alice.prepared(program, program.client())
    query: dict[str, str | float] = {**places, "plain": '{"w": [1, 1, 1, 1]}', "wait": 5.0}
    answer = alice.http.put("/v1/jobs/secret/run", params=query, content=data)
    assert answer.status_code >= 400, answer.text
    assert not secret_within(kept(running))
    no_defects(running)


def test_what_looks_like_a_secret_key_is_found_anywhere() -> None:
    head = b"RSMI\x01\x00\x10\x00"
    for place in (0, 1, 31, 4096):
        assert secret_within(bytes(place) + head + bytes(64))
        assert secret_within(b"RSMI" * 3 + bytes(place) + head)
    assert not secret_within(head[:7])
    assert not secret_within(b"RSMI\x01\x00\x11\x00" + bytes(64))
