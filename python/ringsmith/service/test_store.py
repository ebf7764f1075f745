# SPDX-License-Identifier: Apache-2.0
"""The store by itself: commits shared without sharing failures, what a killed process leaves, one server a folder."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from ringsmith.errors import InputError
from ringsmith.runtime.cache import Cache, TooLargeError
from ringsmith.service import tenants
from ringsmith.service.database import Writer, connect
from ringsmith.service.kinds import ARRAY
from ringsmith.service.problems import Problem
from ringsmith.service.rows import Blob, End, Row, Upload
from ringsmith.service.store import Store

INLINE = 1000


def opened(folder: Path) -> Store:
    store = Store(folder, INLINE)
    with closing(connect(folder / "ringsmith.sqlite3")) as connection:
        for name in ("alice", "bob"):
            if name not in tenants.names(connection):
                tenants.add(connection, name)
                # Numbers are random; here 1 and 2.
                connection.execute("UPDATE tenants SET id = ? WHERE name = ?", (1 if name == "alice" else 2, name))
    return store


def blob_of(data: bytes) -> Blob:
    return Blob(hashlib.sha256(data).digest(), ARRAY, len(data), {})


def row_of(store: Store, id: str, inputs: bytes, expires: float = 1e12) -> Row:
    return Row(1, id, store.next_number(), b"r", b"p", b"k", inputs, "{}", "queued", time.time(), None, 0, None, None,
               None, expires)  # fmt: skip


def end_of(store: Store, id: str, state: str, content: bytes) -> End:
    row = store.job(1, id)
    assert row is not None
    return End(row, state, None, (blob_of(content), content))


async def keep(store: Store, tenant: int, data: bytes) -> Blob:
    blob = blob_of(data)
    await store.keep(tenant, blob, data if len(data) <= INLINE else store.files.write_part(data))
    return blob


def insert(name: str, key: bytes, connection: sqlite3.Connection) -> int:
    values = "INSERT INTO tenants (name, key_hash, created) VALUES (?, ?, 0)"
    return connection.execute(values, (name, key)).rowcount


def test_a_change_that_fails_takes_no_other_with_it(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "db", lambda _: None)
    try:
        # The writer is held up, so that the changes after it share one commit.
        begun, go_on = threading.Event(), threading.Event()

        def hold(_: sqlite3.Connection) -> None:
            begun.set()
            go_on.wait(10)

        held = writer.submit(hold)
        begun.wait(10)
        good = [writer.submit(partial(insert, f"t{n}", bytes([n]))) for n in range(3)]
        bad = writer.submit(partial(insert, "t0", b"x"))
        after = writer.submit(partial(insert, "t9", b"9"))
        go_on.set()
        held.result()
        assert [future.result() for future in (*good, after)] == [1, 1, 1, 1]
        with pytest.raises(sqlite3.IntegrityError):
            bad.result()
        assert writer.commits == 2
    finally:
        writer.close()


def test_blobs_are_kept_once_and_seen_by_holders_only(tmp_path: Path) -> None:
    store = opened(tmp_path)

    async def run() -> None:
        for data in (b"small", b"large" * INLINE):
            blob = await keep(store, 1, data)
            await keep(store, 1, data)
            assert store.blob(2, blob.digest) is None
            await keep(store, 2, data)
            assert store.totals()["blobs"] == 1
            assert store.used_bytes(1) == store.used_bytes(2) == len(data)
            file = store.files.blob(blob.digest)
            assert file.exists() == (len(data) > INLINE)
            assert await store.release(1, blob.digest)
            assert not await store.release(1, blob.digest)
            assert store.blob(1, blob.digest) is None
            assert store.blob(2, blob.digest) is not None
            await store.release(2, blob.digest)
            assert store.totals()["blobs"] == 0
            await store.release(2, blob.digest)
            assert not file.exists()

    asyncio.run(run())
    store.close()


def test_a_job_has_one_end(tmp_path: Path) -> None:
    store = opened(tmp_path)

    async def run() -> None:
        for name, content in (("a", b"in"), ("b", b"IN" * INLINE)):
            inputs = blob_of(content)
            place = content if len(content) <= INLINE else store.files.write_part(content)
            await store.add_job(row_of(store, name, inputs.digest), (inputs, place))
            assert store.used_bytes(1) >= len(content)
            ends = [store.end_job(end_of(store, name, state, f"{name}{state}".encode()))
                    for state in ("done", "failed", "done")]  # fmt: skip
            assert sorted(await asyncio.gather(*ends)) == [False, False, True]
            job = store.job(1, name)
            assert job is not None
            assert job.state == "done"
            # Its own inputs went with the end; the loser's result was never kept.
            assert store.source(inputs.digest) is None
            assert store.totals()["blobs"] == (1 if name == "a" else 2)
            assert store.job(2, name) is None
        assert await store.delete_job(1, "a")
        assert not await store.delete_job(1, "a")
        assert store.totals()["blobs"] == 1

    asyncio.run(run())
    store.close()


def test_finished_jobs_expire(tmp_path: Path) -> None:
    store = opened(tmp_path)

    async def run() -> None:
        inputs = blob_of(b"in")
        for name, expires in (("old", 1.0), ("new", 1e12), ("waits", 1.0)):
            await store.add_job(row_of(store, name, inputs.digest, expires), (inputs, b"in"))
        for name in ("old", "new"):
            await store.end_job(end_of(store, name, "done", name.encode()))
        assert await store.expire_jobs() == 1
        assert [row.id for row in store.jobs(1, 1 << 60, 10)] == ["waits", "new"]

    asyncio.run(run())
    store.close()


def test_what_a_killed_server_left_is_cleared(tmp_path: Path) -> None:
    store = opened(tmp_path)

    async def run() -> None:
        held = await keep(store, 1, b"held" * INLINE)
        upload = Upload("0" * 32, 1, b"d" * 32, 10_000)
        await store.begin_upload(upload)
        store.files.append(upload.id, 0, b"half")
        inputs = blob_of(b"in")
        await store.add_job(row_of(store, "job", inputs.digest), (inputs, b"in"))
        stray = store.files.write_part(b"stray")
        lost = store.files.blob(b"l" * 32)
        lost.parent.mkdir()
        lost.write_bytes(b"renamed, not committed")
        store.close()
        again = opened(tmp_path)
        assert [row.id for row in again.recover(7.0)] == ["job"]
        assert not stray.exists()
        assert not lost.exists()
        assert again.files.blob(held.digest).exists()
        assert again.files.size_of_part(upload.id) == 4
        assert again.source(inputs.digest) == b"in"
        again.close()

    asyncio.run(run())


def test_one_server_a_store(tmp_path: Path) -> None:
    first = Store(tmp_path / "s", INLINE)
    with pytest.raises(InputError, match=r"process \d+ serves this store"):
        Store(tmp_path / "s", INLINE)
    first.close()
    Store(tmp_path / "s", INLINE).close()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be used as a store"):
        Store(tmp_path / "file", INLINE)


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    connect(tmp_path / "db").close()
    with closing(sqlite3.connect(tmp_path / "db")) as connection:
        connection.execute("PRAGMA user_version=99")
    with pytest.raises(InputError, match="a store of version 99"):
        connect(tmp_path / "db")


def test_what_a_removed_tenant_sends_is_refused(tmp_path: Path) -> None:
    store = opened(tmp_path)
    with closing(connect(tmp_path / "ringsmith.sqlite3")) as connection:
        key = tenants.add(connection, "carol")
        carol = store.tenant(key)
        assert carol is not None
        tenants.remove(connection, "carol")
    with pytest.raises(Problem) as refused:
        asyncio.run(keep(store, carol.number, b"late"))
    assert refused.value.code == "unauthorized"
    time.sleep(1.1)
    assert store.tenant(key) is None
    store.close()


def test_api_keys_are_kept_as_hashes(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "db")) as connection:
        key = tenants.add(connection, "alice")
        found = tenants.find(connection, tenants.hash_of(key))
        assert found is not None
        assert found.name == "alice"
        renewed = tenants.add(connection, "alice")
        assert tenants.find(connection, tenants.hash_of(key)) is None
        assert tenants.find(connection, tenants.hash_of(renewed)) == found
        for bad in ("", "../x", "a b", "-a", "x" * 65, "ä"):
            with pytest.raises(InputError):
                tenants.add(connection, bad)
        tenants.remove(connection, "alice")
        with pytest.raises(InputError):
            tenants.remove(connection, "alice")
        # The number of a removed tenant is not given again, and what it sent too late is refused as its key is.
        assert (again := tenants.find(connection, tenants.hash_of(tenants.add(connection, "alice")))) is not None
        assert again.number != found.number
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert key.encode() not in data
    assert renewed.encode() not in data


def test_the_cache_holds_no_more_than_its_limit() -> None:
    cache: Cache[str] = Cache(100)
    names = [(bytes([n]), b"k") for n in range(5)]
    made: list[int] = []

    def take(number: int, size: int) -> tuple[str, bool]:
        def make() -> str:
            assert cache.size + size <= 100  # Room is made first.
            made.append(number)
            return f"value {number}"

        return cache.take(names[number], size, make)

    assert take(0, 40) == ("value 0", False)
    assert take(1, 40) == ("value 1", False)
    assert take(0, 40) == ("value 0", True)
    assert take(2, 40) == ("value 2", False)  # Drops 1, used longest ago.
    assert cache.names() == [names[0], names[2]]
    assert take(3, 100) == ("value 3", False)
    assert (cache.names(), cache.size, cache.evictions) == ([names[3]], 100, 3)
    with pytest.raises(TooLargeError):
        take(4, 101)
    assert cache.names() == [names[3]]
    cache.drop(names[3])
    cache.drop(names[3])
    assert cache.size == 0
    assert made == [0, 1, 2, 3]
