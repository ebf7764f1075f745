# SPDX-License-Identifier: Apache-2.0
"""All that outlives the server: blobs by content, who holds them, uploads on their way, jobs with their ends."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ringsmith.errors import InputError
from ringsmith.service import tenants
from ringsmith.service.database import Writer, connect
from ringsmith.service.files import Files, make_private
from ringsmith.service.kinds import Facts
from ringsmith.service.problems import Problem, store_full
from ringsmith.service.rows import Blob, End, Row, Upload, blob_of, read
from ringsmith.service.tenants import Tenant

T = TypeVar("T")
#: Seconds for which a tenant that was looked up is known; tenants, and blobs of tenants, remembered at most.
_SERVES = 1.0
_REMEMBERED = 4096


_ROW = ", ".join(Row._fields)


class Store:
    """One server's store. Methods that write return when the disk has it."""

    def __init__(self, folder: Path, inline: int) -> None:
        """Open or make it; InputError when another server has it, or it cannot be written.

        `inline`: largest blob that lies in the database.
        """
        try:
            make_private(folder)
            self._lock = _locked(folder / "lock")
            self.files = Files(folder)
        except OSError as error:
            raise InputError(f"{folder}: cannot be used as a store: {error.strerror}") from None
        self.folder, self.inline = folder, inline
        database = folder / "ringsmith.sqlite3"
        self._dropped: list[bytes] = []
        self._tenants: dict[bytes, tuple[float, Tenant | None]] = {}
        # Only this process takes holdings away, and a removed tenant's number is never given again.
        self._held: dict[tuple[int, bytes], Blob] = {}
        self.writer = Writer(database, self._after_commit)
        self._reader = connect(database)
        self._number = self._one("SELECT coalesce(max(number), 0) FROM jobs")[0]

    def close(self) -> None:
        """Write pending changes and release the folder."""
        self.writer.close()
        self._reader.close()
        os.close(self._lock)

    def _one(self, query: str, *values: Any) -> Any:
        return self._reader.execute(query, values).fetchone()

    async def _write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await self.writer.write(change)
        except sqlite3.IntegrityError as error:
            if "FOREIGN KEY" not in str(error):
                raise
            raise Problem("unauthorized", "this API key was taken back") from None
        except (sqlite3.OperationalError, OSError) as error:
            raise store_full(error) or error from error

    def _after_commit(self, connection: sqlite3.Connection) -> None:
        """Remove the files of blobs that are gone, in the thread that writes: none can come back meanwhile."""
        while self._dropped:
            digest = self._dropped.pop()
            if not connection.execute("SELECT 1 FROM blobs WHERE hash = ?", (digest,)).fetchone():
                self.files.drop(digest)

    def _forget_unused(self, connection: sqlite3.Connection, digests: Iterable[bytes | None]) -> None:
        """Delete blobs that no tenant holds and no job needs."""
        for digest in {d for d in digests if d is not None}:
            # Asked before it goes: RETURNING gives wrong answers about NULL in some versions of SQLite.
            unused = connection.execute(
                "SELECT data IS NULL FROM blobs WHERE hash = ?1 "
                "AND NOT EXISTS (SELECT 1 FROM holdings WHERE hash = ?1) "
                "AND NOT EXISTS (SELECT 1 FROM jobs WHERE inputs = ?1 AND state = 'queued') "
                "AND NOT EXISTS (SELECT 1 FROM jobs WHERE result = ?1)",
                (digest,),
            ).fetchone()
            if unused is None:
                continue
            connection.execute("DELETE FROM blobs WHERE hash = ?", (digest,))
            if unused[0]:
                self._dropped.append(digest)

    # ---------------------------------------------------------------- start

    def recover(self, upload_days: float) -> list[Row]:
        """Clean up after a killed server and return the unfinished jobs, oldest first."""

        def change(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM uploads WHERE created < ?", (time.time() - 86400 * upload_days,))
            held = "SELECT 1 FROM holdings WHERE holdings.hash = blobs.hash"
            used = "SELECT 1 FROM jobs WHERE (inputs = blobs.hash AND state = 'queued') OR result = blobs.hash"
            connection.execute(f"DELETE FROM blobs WHERE NOT EXISTS ({held}) AND NOT EXISTS ({used})")

        self.writer.submit(change).result()
        known = (row[0] for row in self._reader.execute("SELECT hash FROM blobs WHERE data IS NULL"))
        self.files.sweep(known, [row[0] for row in self._reader.execute("SELECT id FROM uploads")])
        query = f"SELECT {_ROW} FROM jobs WHERE state = 'queued' ORDER BY number"
        return [Row(*row) for row in self._reader.execute(query)]

    # ---------------------------------------------------------------- tenants

    def tenant(self, key: str) -> Tenant | None:
        """Return whose API key this is, as it was a second ago at the most."""
        digest, now = tenants.hash_of(key), time.monotonic()
        since, found = self._tenants.get(digest, (-_SERVES, None))
        if now - since >= _SERVES:
            found = tenants.find(self._reader, digest)
            if found is None:
                self._tenants.pop(digest, None)
                return None
            if len(self._tenants) >= _REMEMBERED:
                self._tenants.clear()
            self._tenants[digest] = now, found
        return found

    def used_bytes(self, tenant: int) -> int:
        """Return the bytes that a tenant's blobs, inputs on their way and results take."""
        held = "SELECT coalesce(sum(size), 0) FROM blobs JOIN holdings USING (hash) WHERE tenant = ?1"
        own = (
            "SELECT coalesce(sum(size), 0) FROM jobs JOIN blobs ON blobs.hash = coalesce(result, inputs) "
            "WHERE tenant = ?1 AND state IN ('queued', 'done') "
            "AND NOT EXISTS (SELECT 1 FROM holdings h WHERE h.tenant = ?1 AND h.hash = blobs.hash)"
        )
        return int(self._one(held, tenant)[0] + self._one(own, tenant)[0])

    # ---------------------------------------------------------------- blobs

    def blob(self, tenant: int, digest: bytes) -> Blob | None:
        """Return a blob that the tenant holds; what others hold does not exist for it."""
        found = self._held.get((tenant, digest))
        if found is None:
            query = "SELECT hash, kind, size, facts FROM blobs JOIN holdings USING (hash) WHERE tenant = ? AND hash = ?"
            row = self._one(query, tenant, digest)
            if row is None:
                return None
            if len(self._held) >= _REMEMBERED:
                self._held.clear()
            found = self._held[tenant, digest] = blob_of(row)
        return found

    def blobs(self, tenant: int, kind: str | None, after: bytes, limit: int) -> list[Blob]:
        """Return a page of a tenant's blobs, by hash."""
        query = (
            "SELECT hash, kind, size, facts FROM blobs JOIN holdings USING (hash) "
            "WHERE tenant = ?1 AND hash > ?2 AND (?3 IS NULL OR kind = ?3) ORDER BY hash LIMIT ?4"
        )
        return [blob_of(row) for row in self._reader.execute(query, (tenant, after, kind, limit))]

    def source(self, digest: bytes) -> bytes | Path | None:
        """Return a blob's bytes, or the file they lie in; None if it is gone. Who may have it was asked before."""
        row = self._one("SELECT data FROM blobs WHERE hash = ?", digest)
        if row is None:
            return None
        return self.files.blob(digest) if row[0] is None else bytes(row[0])

    def facts(self, digest: bytes) -> Facts:
        """Return the facts kept of a blob that is there."""
        return read(self._one("SELECT facts FROM blobs WHERE hash = ?", digest)[0])

    async def keep(self, tenant: int, blob: Blob, content: bytes | Path, upload: str | None = None) -> None:
        """Keep a blob for a tenant. A file among the parts takes its place with the commit; `upload` ends."""

        def change(connection: sqlite3.Connection) -> None:
            self._put(connection, blob, content)
            connection.execute(
                "INSERT INTO holdings (tenant, hash, created) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (tenant, blob.digest, time.time()),
            )
            if upload is not None:
                connection.execute("DELETE FROM uploads WHERE id = ?", (upload,))

        await self._write(change)

    def _put(self, connection: sqlite3.Connection, blob: Blob, content: bytes | Path) -> None:
        data = content if isinstance(content, bytes) else None
        connection.execute(
            "INSERT INTO blobs (hash, kind, size, facts, data) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (blob.digest, blob.kind, blob.size, json.dumps(blob.facts), data),
        )
        if isinstance(content, Path):
            self.files.settle(content, blob.digest)

    async def release(self, tenant: int, digest: bytes) -> bool:
        """Release a tenant's blob; returns whether the tenant held it."""

        self._held.pop((tenant, digest), None)

        def change(connection: sqlite3.Connection) -> bool:
            held = connection.execute("DELETE FROM holdings WHERE tenant = ? AND hash = ?", (tenant, digest)).rowcount
            self._forget_unused(connection, [digest])
            return held > 0

        try:
            return await self._write(change)
        finally:
            self._held.pop((tenant, digest), None)  # Somebody may have asked meanwhile.

    # ---------------------------------------------------------------- uploads

    def upload(self, tenant: int, *, id: str | None = None, digest: bytes | None = None) -> Upload | None:
        """Return a tenant's upload by its name or its content."""
        query = "SELECT id, tenant, hash, size FROM uploads WHERE tenant = ? AND (id = ? OR hash = ?)"
        row = self._one(query, tenant, id, digest)
        return Upload(*row) if row else None

    def upload_bytes(self, tenant: int) -> int:
        """Return how many bytes a tenant's uploads may grow to."""
        return int(self._one("SELECT coalesce(sum(size), 0) FROM uploads WHERE tenant = ?", tenant)[0])

    async def begin_upload(self, upload: Upload) -> None:
        """Keep that an upload is on its way."""
        values = (upload.id, upload.tenant, upload.digest, upload.size, time.time())
        query = "INSERT INTO uploads (id, tenant, hash, size, created) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        await self._write(lambda connection: connection.execute(query, values))

    async def end_upload(self, upload: Upload) -> None:
        """Forget an upload and its bytes."""
        await self._write(lambda connection: connection.execute("DELETE FROM uploads WHERE id = ?", (upload.id,)))
        self.files.drop_part(upload.id)

    # ---------------------------------------------------------------- jobs

    def next_number(self) -> int:
        """Return the place of a new job in the order of all jobs."""
        self._number += 1
        return int(self._number)

    def job(self, tenant: int, id: str) -> Row | None:
        """Return a tenant's job."""
        row = self._one(f"SELECT {_ROW} FROM jobs WHERE tenant = ? AND id = ?", tenant, id)
        return Row(*row) if row else None

    def jobs_named(self, tenant: int, ids: Sequence[str]) -> dict[str, Row]:
        """Return those of a tenant's jobs that have one of these names."""
        marks = ", ".join("?" * len(ids))
        query = f"SELECT {_ROW} FROM jobs WHERE tenant = ? AND id IN ({marks})"
        return {row[1]: Row(*row) for row in self._reader.execute(query, (tenant, *ids))}

    def jobs(self, tenant: int, before: int, limit: int) -> list[Row]:
        """Return a page of a tenant's jobs, newest first."""
        query = f"SELECT {_ROW} FROM jobs WHERE tenant = ? AND number < ? ORDER BY number DESC LIMIT ?"
        return [Row(*row) for row in self._reader.execute(query, (tenant, before, limit))]

    async def add_job(self, row: Row, inputs: tuple[Blob, bytes | Path] | None) -> None:
        """Keep a new job; `inputs` that came with it are the job's own and go when it ends."""

        def change(connection: sqlite3.Connection) -> None:
            if inputs is not None:
                self._put(connection, *inputs)
            _insert(connection, [row])

        await self._write(change)

    async def end_job(self, end: End) -> bool:
        """Keep how a job ended. The first end stands: returns False, and keeps nothing, if it has one already."""
        tenant, id = end.row.tenant, end.row.id

        def change(connection: sqlite3.Connection) -> bool:
            found = connection.execute(
                "SELECT inputs FROM jobs WHERE tenant = ? AND id = ? AND state = 'queued'", (tenant, id)
            ).fetchone()
            if found is None:
                return False
            digest = None
            if end.result is not None:
                self._put(connection, *end.result)
                digest = end.result[0].digest
            connection.execute(
                "UPDATE jobs SET state = ?, finished = ?, result = ?, error = ?, report = ? "
                "WHERE tenant = ? AND id = ?",
                (end.state, time.time(), digest, end.error, end.report, tenant, id),
            )
            self._forget_unused(connection, [found[0]])
            return True

        return await self._write(change)

    async def add_ended(self, ends: Sequence[End]) -> None:
        """Keep jobs that were not kept before together with their ends; their inputs are never kept."""

        def change(connection: sqlite3.Connection) -> None:
            now = time.time()
            for end in ends:
                if end.result is not None:
                    self._put(connection, *end.result)
            _insert(connection, [end.ended(now) for end in ends])

        await self._write(change)

    async def count_attempt(self, tenant: int, id: str) -> None:
        """Keep that a job's worker died."""
        query = "UPDATE jobs SET attempts = attempts + 1 WHERE tenant = ? AND id = ?"
        await self._write(lambda connection: connection.execute(query, (tenant, id)))

    async def delete_job(self, tenant: int, id: str) -> bool:
        """Forget a finished job and its result; returns whether there was one."""
        where = "tenant = ? AND id = ? AND state != 'queued'"
        return await self._write(lambda connection: self._delete_jobs(connection, where, (tenant, id)) > 0)

    async def expire_jobs(self) -> int:
        """Forget finished jobs whose time is over; returns how many."""
        where = "number IN (SELECT number FROM jobs WHERE state != 'queued' AND expires < ? LIMIT 1000)"
        return await self._write(lambda connection: self._delete_jobs(connection, where, (time.time(),)))

    def _delete_jobs(self, connection: sqlite3.Connection, where: str, values: tuple[Any, ...]) -> int:
        gone = connection.execute(f"SELECT result FROM jobs WHERE {where}", values).fetchall()
        connection.execute(f"DELETE FROM jobs WHERE {where}", values)
        self._forget_unused(connection, (row[0] for row in gone))
        return len(gone)

    def totals(self) -> dict[str, int]:
        """Return what the whole store holds: blobs, their bytes."""
        count, size = self._one("SELECT count(*), coalesce(sum(size), 0) FROM blobs")
        return {"blobs": count, "bytes": size}


def _insert(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    connection.executemany(f"INSERT INTO jobs ({_ROW}) VALUES ({', '.join('?' * len(Row._fields))})", rows)


def _locked(path: Path) -> int:
    """Take the folder for this process alone, until it ends however it does."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(handle, 20, 0).decode(errors="replace").strip()
        os.close(handle)
        raise InputError(
            f"{path.parent}: process {holder or '(unknown)'} serves this store; stop it, or name another --store"
        ) from None
    os.ftruncate(handle, 0)
    os.pwrite(handle, str(os.getpid()).encode(), 0)
    return handle
