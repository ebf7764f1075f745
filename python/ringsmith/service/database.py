# SPDX-License-Identifier: Apache-2.0
"""The store's database: one thread writes, requests that come together share a commit, and an answer waits for it.

A commit costs one write to the disk (`synchronous=FULL`, write-ahead log). What `write` returned is on the disk; a
process that is killed before loses only changes that were never acknowledged.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ringsmith.errors import InputError

T = TypeVar("T")
#: Changes of one commit at most.
_TOGETHER = 256
#: Schema version: raised when a table changes its form.
VERSION = 1

_SCHEMA = """
CREATE TABLE tenants (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, key_hash BLOB NOT NULL UNIQUE, created REAL NOT NULL
) STRICT;
CREATE TABLE blobs (
    hash BLOB PRIMARY KEY, kind TEXT NOT NULL, size INTEGER NOT NULL, facts TEXT NOT NULL, data BLOB
) STRICT;
CREATE TABLE holdings (
    tenant INTEGER NOT NULL REFERENCES tenants ON DELETE CASCADE, hash BLOB NOT NULL REFERENCES blobs,
    created REAL NOT NULL, PRIMARY KEY (tenant, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX holdings_of_blob ON holdings (hash);
CREATE TABLE uploads (
    id TEXT PRIMARY KEY, tenant INTEGER NOT NULL REFERENCES tenants ON DELETE CASCADE, hash BLOB NOT NULL,
    size INTEGER NOT NULL, created REAL NOT NULL, UNIQUE (tenant, hash)
) STRICT;
CREATE TABLE jobs (
    tenant INTEGER NOT NULL REFERENCES tenants ON DELETE CASCADE, id TEXT NOT NULL, number INTEGER NOT NULL,
    request BLOB NOT NULL, program BLOB NOT NULL, keys BLOB NOT NULL, inputs BLOB NOT NULL, plain TEXT NOT NULL,
    state TEXT NOT NULL, created REAL NOT NULL, finished REAL, attempts INTEGER NOT NULL DEFAULT 0,
    result BLOB, error TEXT, report TEXT, expires REAL NOT NULL, PRIMARY KEY (tenant, id)
) STRICT;
CREATE UNIQUE INDEX jobs_by_number ON jobs (number);
CREATE INDEX jobs_of_tenant ON jobs (tenant, number);
CREATE INDEX jobs_queued ON jobs (inputs) WHERE state = 'queued';
CREATE INDEX jobs_of_result ON jobs (result) WHERE result IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (expires) WHERE state != 'queued';
"""


def connect(path: Path) -> sqlite3.Connection:
    """Open the database, whose form it makes or checks; InputError for one of another version."""
    _make_private(path)
    fresh = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30.0)
    fresh.execute("PRAGMA journal_mode=WAL")
    fresh.execute("PRAGMA synchronous=FULL")
    fresh.execute("PRAGMA foreign_keys=ON")
    fresh.execute("BEGIN IMMEDIATE")
    version = fresh.execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        for statement in _SCHEMA.split(";"):
            fresh.execute(statement)
        fresh.execute(f"PRAGMA user_version={VERSION}")
    fresh.execute("COMMIT")
    if version not in (0, VERSION):
        fresh.close()
        raise InputError(f"{path}: a store of version {version}; this server has version {VERSION}")
    return fresh


def _make_private(path: Path) -> None:
    """Let the owner alone read the database; SQLite gives its other files the permissions of the first."""
    # Only a new file is opened here: closing one that SQLite has open in this process would drop its locks.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        with suppress(FileNotFoundError):
            file.chmod(0o600)


_Waiting = Future[Any] | asyncio.Future[Any]
_Change = tuple[Callable[[sqlite3.Connection], Any], _Waiting]


class Writer:
    """The thread that writes."""

    def __init__(self, path: Path, after_commit: Callable[[sqlite3.Connection], None]) -> None:
        """Open the database and start. `after_commit` is called in the thread that writes."""
        self._connection = connect(path)
        self._after_commit = after_commit
        self._changes: queue.SimpleQueue[_Change | None] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.commits = 0
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, change: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Return the future of `change(connection)`: done when it is committed, failed when it is not."""
        future: Future[T] = Future()
        self._changes.put((change, future))
        return future

    async def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Return `change(connection)` once it is on the disk. The change is made even if the waiting task goes away."""
        self._loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = self._loop.create_future()
        self._changes.put((change, future))
        return await future

    def close(self) -> None:
        """Commit what was submitted and end."""
        self._changes.put(None)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while (first := self._changes.get()) is not None:
            batch, last = [first], False
            while len(batch) < _TOGETHER:
                try:
                    following = self._changes.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    last = True
                    break
                batch.append(following)
            self._commit(batch)
            if last:
                return

    def _commit(self, batch: list[_Change]) -> None:
        """Make all changes in one commit; one that fails takes no other with it."""
        connection, failed = self._connection, list[tuple[_Waiting, Exception]]()
        made: list[tuple[_Waiting, Any]] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            for change, future in batch:
                if len(batch) > 1:
                    connection.execute("SAVEPOINT change")
                try:
                    made.append((future, change(connection)))
                except Exception as error:
                    if len(batch) == 1:
                        raise
                    connection.execute("ROLLBACK TO change")
                    failed.append((future, error))
                if len(batch) > 1:
                    connection.execute("RELEASE change")
            connection.execute("COMMIT")
            self.commits += 1
        except Exception as error:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            known = {id(future) for future, _ in failed}
            failed += [(future, error) for _, future in batch if id(future) not in known]
            made.clear()
        self._tell(made, failed)
        if made:
            with suppress(OSError, sqlite3.Error):  # What stays behind is swept away at the next start.
                self._after_commit(connection)

    def _tell(self, made: list[tuple[_Waiting, Any]], failed: list[tuple[_Waiting, Exception]]) -> None:
        """Resolve all futures; those of the event loop with one call into it."""

        def tell(kind: type) -> None:
            for future, value in made:
                if isinstance(future, kind) and not future.done():
                    future.set_result(value)
            for future, error in failed:
                if isinstance(future, kind) and not future.done():
                    future.set_exception(error)

        tell(Future)
        if self._loop is not None:
            with suppress(RuntimeError):  # The loop has ended: no request waits.
                self._loop.call_soon_threadsafe(tell, asyncio.Future)
