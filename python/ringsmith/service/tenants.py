# SPDX-License-Identifier: Apache-2.0
"""Tenants and their API keys. A key has 256 random bits, so one SHA-256 keeps it safe; it is shown once."""

from __future__ import annotations

import hashlib
import re
import secrets
import sqlite3
import time
from dataclasses import dataclass

from ringsmith.errors import InputError

_PREFIX = "rsk_"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class Tenant:
    """A tenant of the server; the API key of a request names it."""

    number: int
    name: str


def hash_of(key: str) -> bytes:
    """Return what the store keeps of an API key."""
    return hashlib.sha256(key.encode("utf-8", errors="surrogatepass")).digest()


def add(connection: sqlite3.Connection, name: str) -> str:
    """Add a tenant, or give one that is there a new key in place of the old; returns the key."""
    if not _NAME.fullmatch(name):
        raise InputError(f"tenant {name[:80]!r}: letters, digits, `.`, `_` and `-`, at most 64, the first no sign")
    key = _PREFIX + secrets.token_urlsafe(32)
    # A random number: that of a tenant that was removed is never another's.
    connection.execute(
        "INSERT INTO tenants (id, name, key_hash, created) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (name) DO UPDATE SET key_hash = excluded.key_hash",
        (secrets.randbits(47), name, hash_of(key), time.time()),
    )
    return key


def remove(connection: sqlite3.Connection, name: str) -> None:
    """Remove a tenant with its jobs; its blobs go when the server starts next. InputError if there is none."""
    if not connection.execute("DELETE FROM tenants WHERE name = ?", (name,)).rowcount:
        raise InputError(f"there is no tenant {name[:80]!r}")


def names(connection: sqlite3.Connection) -> list[str]:
    """Return all tenants."""
    return [row[0] for row in connection.execute("SELECT name FROM tenants ORDER BY name")]


def find(connection: sqlite3.Connection, key_hash: bytes) -> Tenant | None:
    """Return whose API key has this hash."""
    row = connection.execute("SELECT id, name FROM tenants WHERE key_hash = ?", (key_hash,)).fetchone()
    return Tenant(*row) if row else None
