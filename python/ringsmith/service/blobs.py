# SPDX-License-Identifier: Apache-2.0
"""Blobs of tenants, without HTTP: stored whole or in chunks, within a quota of bytes, and deleted."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from ringsmith.runtime.messages import HEAD
from ringsmith.service import kinds
from ringsmith.service.files import digest_of
from ringsmith.service.problems import Problem, not_found, store_full
from ringsmith.service.rows import Blob, Upload
from ringsmith.service.settings import Settings
from ringsmith.service.store import Store
from ringsmith.service.tenants import Tenant

#: Seconds for which a sum of a tenant's bytes serves.
_SUM_SERVES = 2.0


class Blobs:
    """All blobs of one server."""

    def __init__(self, settings: Settings, store: Store, user: Callable[[Tenant, bytes], str | None]) -> None:
        """Keep them in a store. `user`: tells the unfinished job of a tenant's that needs a blob."""
        self.settings, self.store, self._user = settings, store, user
        self._sums: dict[int, tuple[float, int]] = {}
        self._one_large = asyncio.Semaphore(1)
        self._chunks: dict[str, asyncio.Lock] = {}

    def used_bytes(self, tenant: Tenant) -> int:
        """Return the bytes a tenant has taken, uploads with what they may grow to."""
        now = time.monotonic()
        since, total = self._sums.get(tenant.number, (0.0, 0))
        if now - since > _SUM_SERVES:
            total = self.store.used_bytes(tenant.number) + self.store.upload_bytes(tenant.number)
            self._sums[tenant.number] = now, total
        return total

    def take_bytes(self, tenant: Tenant, size: int) -> None:
        """Count bytes that a tenant is about to take; Problem if they are more than is granted."""
        used, granted = self.used_bytes(tenant), self.settings.quota.bytes
        if used + size > granted:
            raise Problem("over_quota", f"{size} bytes more than the {used} kept; {granted} are granted")
        since, total = self._sums[tenant.number]
        self._sums[tenant.number] = since, total + size

    def let_go(self, tenant: Tenant) -> None:
        """Drop the stored sum of a tenant's bytes after it deleted some: the next use sums them anew."""
        self._sums.pop(tenant.number, None)

    # ---------------------------------------------------------------- blobs

    def held(self, tenant: Tenant, digest: bytes) -> Blob:
        """Return a tenant's blob; the same refusal for one that is not there and one of others."""
        found = self.store.blob(tenant.number, digest)
        if found is None:
            raise not_found("blob")
        return found

    async def put(self, tenant: Tenant, digest: bytes, data: bytes) -> tuple[Blob, bool]:
        """Keep bytes that came whole; returns the blob and whether it is new to the tenant."""
        await asyncio.to_thread(kinds.refuse_secret_within, data)
        if hashlib.sha256(data).digest() != digest:
            raise Problem("hash_mismatch", "the bytes have another SHA-256 than the address they were sent to")
        known = self.store.blob(tenant.number, digest)
        if known is not None:
            return known, False
        self.take_bytes(tenant, len(data))
        blob = await self._inspected(digest, data)
        await self.store.keep(tenant.number, blob, await self.placed(data))
        return blob, True

    def of_kind(self, tenant: Tenant, digest: bytes, kind: str) -> Blob:
        """Return a tenant's blob of a kind; Problem for another."""
        blob = self.held(tenant, digest)
        if blob.kind != kind:
            raise Problem("wrong_kind", f"{digest.hex()[:16]} is of kind {blob.kind}; {kind} is needed there")
        return blob

    async def _inspected(self, digest: bytes, data: bytes) -> Blob:
        allow = self.settings.allow_insecure
        kind, facts = await asyncio.to_thread(kinds.inspect, data, allow_insecure=allow)
        return Blob(digest, kind, len(data), facts)

    async def placed(self, data: bytes) -> bytes | Path:
        """Return bytes for the database, or a part file that holds them."""
        if len(data) <= self.settings.inline:
            return data
        try:
            return await asyncio.to_thread(self.store.files.write_part, data)
        except OSError as error:
            raise store_full(error) or error from error

    async def delete(self, tenant: Tenant, digest: bytes) -> None:
        """Release a blob, unless a job of the tenant's still needs it."""
        self.held(tenant, digest)
        user = self._user(tenant, digest)
        if user is not None:
            raise Problem("in_use", f"job {user} needs this blob; wait for it or cancel it")
        if not await self.store.release(tenant.number, digest):
            raise not_found("blob")
        self.let_go(tenant)

    # ---------------------------------------------------------------- uploads

    async def begin_upload(self, tenant: Tenant, digest: bytes, size: int) -> Upload | Blob:
        """Return the upload of a blob, a new one or the one that was begun, or the blob if the tenant has it."""
        known = self.store.blob(tenant.number, digest)
        if known is not None:
            return known
        if size > self.settings.max_blob:
            raise Problem("too_large", f"{size} bytes; a blob may have {self.settings.max_blob}")
        begun = self.store.upload(tenant.number, digest=digest)
        if begun is not None and begun.size == size:
            return begun
        if begun is not None:
            await self.store.end_upload(begun)
        self.take_bytes(tenant, size)
        await self.store.begin_upload(Upload(secrets.token_hex(16), tenant.number, digest, size))
        kept = self.store.upload(tenant.number, digest=digest)
        if kept is None:
            raise not_found("upload")
        return kept

    def upload(self, tenant: Tenant, id: str) -> Upload:
        """Return a tenant's upload."""
        found = self.store.upload(tenant.number, id=id)
        if found is None:
            raise not_found("upload")
        return found

    def offset(self, upload: Upload) -> int:
        """Return how many bytes of it there are."""
        return self.store.files.size_of_part(upload.id)

    async def add_chunk(self, tenant: Tenant, id: str, offset: int, data: bytes) -> tuple[int, Blob | None]:
        """Add a chunk behind `offset` bytes; returns how many there are now, and the blob when it is whole."""
        async with self._chunks.setdefault(self.upload(tenant, id).id, asyncio.Lock()):
            upload = self.upload(tenant, id)
            there = self.offset(upload)
            if offset != there:
                raise Problem("wrong_offset", f"{there} bytes are there; go on from them", offset=there)
            if offset + len(data) > upload.size:
                raise Problem("too_large", f"{offset + len(data)} bytes; the upload was announced with {upload.size}")
            await self._refuse_secret(upload, data)
            try:
                there = await asyncio.to_thread(self.store.files.append, upload.id, offset, data)
            except OSError as error:
                raise store_full(error) or error from error
            if there < upload.size:
                return there, None
            blob = await self._completed(tenant, upload)
            self._chunks.pop(id, None)
            return there, blob

    async def _refuse_secret(self, upload: Upload, data: bytes) -> None:
        """Refuse a chunk with which a secret key begins or goes on, and remove what came of it before."""
        try:
            tail = await asyncio.to_thread(self.store.files.tail, upload.id, HEAD - 1)
            await asyncio.to_thread(kinds.refuse_secret_within, tail + data)
        except Problem:
            await self.store.end_upload(upload)
            raise

    async def _completed(self, tenant: Tenant, upload: Upload) -> Blob:
        """Make a blob of a complete upload; an invalid one is removed."""
        path = self.store.files.part(upload.id)
        try:
            async with self._one_large:
                if await asyncio.to_thread(digest_of, path) != upload.digest:
                    raise Problem(
                        "hash_mismatch", "the bytes have another SHA-256 than was announced; they are removed"
                    )
                data = await asyncio.to_thread(path.read_bytes)
                blob = await self._inspected(upload.digest, data)
            small = upload.size <= self.settings.inline
            await self.store.keep(tenant.number, blob, data if small else path, upload.id)
        except Problem as problem:
            if problem.code != "store_full":
                await self.store.end_upload(upload)
            raise
        if small:
            self.store.files.drop_part(upload.id)
        return blob

    async def drop_upload(self, tenant: Tenant, id: str) -> None:
        """Forget an upload."""
        await self.store.end_upload(self.upload(tenant, id))
        self._chunks.pop(id, None)
        self.let_go(tenant)
