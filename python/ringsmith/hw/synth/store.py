# SPDX-License-Identifier: Apache-2.0
"""Results of synthesis by the hash of their inputs, in SQLite: whole results only, so a killed run leaves no trace."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ringsmith.errors import ToolError
from ringsmith.files import reason
from ringsmith.hw import paths


def key_of(parts: Iterable[str], files: Iterable[Path]) -> str:
    """Hash of the settings and of every input file's name and bytes."""
    state = hashlib.sha256()
    for part in parts:
        state.update(part.encode() + b"\0")
    for path in files:
        state.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return state.hexdigest()


class Store:
    """A table of finished results."""

    def __init__(self, path: Path | None = None) -> None:
        """Open, or make, the database (default: in the flow's cache)."""
        self._path = path or paths.cache("synth") / "results.sqlite"
        with self._told():
            self._connection = sqlite3.connect(self._path, timeout=60)
            self._connection.execute(
                "create table if not exists result "
                "(key text primary key, what text, value text, seconds real, made real)"
            )

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what SQLite says of a database (no such folder, damaged, full disk) into a ToolError that names it."""
        try:
            yield
        except sqlite3.Error as error:
            raise ToolError(f"{self._path}: {reason(error)}; remove it, or name another RINGSMITH_CACHE") from None

    def get(self, key: str) -> dict[str, Any] | None:
        """The stored result, or None."""
        with self._told():
            row = self._connection.execute("select value from result where key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def get_or_make(self, key: str, what: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The stored result, or the one that `make` returns, stored once it is whole."""
        found = self.get(key)
        if found is not None:
            return found
        started = time.monotonic()
        value = make()
        row = (key, what, json.dumps(value), time.monotonic() - started, time.time())
        with self._told(), self._connection:
            self._connection.execute("insert or replace into result values (?, ?, ?, ?, ?)", row)
        return value
