# SPDX-License-Identifier: Apache-2.0
"""Results of a search in SQLite, each under the hash of the program, the build and the models that gave it.

An interrupted search begins again where it was: what is there is not computed again. A change of the program, of a
latency formula or of the engine changes the key.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ringsmith import _native, shipped
from ringsmith.errors import InputError
from ringsmith.explore.evaluate import Result
from ringsmith.files import reason
from ringsmith.hw import paths
from ringsmith.presets import Preset

#: Version of the tables, kept in `user_version`.
VERSION = 1


def models_hash() -> str:
    """Return the hash of what cycles follow from beside the program: the engine and the formulas of spec/."""
    state = hashlib.sha256(_native.__version__.encode())
    for name in ("latency.yaml", "isa.yaml", "build.yaml"):
        state.update((shipped.spec() / name).read_bytes())
    state.update(Path(_native.__file__).read_bytes())
    return state.hexdigest()


class Results:
    """Predictions by key."""

    def __init__(self, path: Path | None = None) -> None:
        """Open or make the file (default: in the flow's cache).

        Raises:
            InputError: a file that cannot be opened, is none of these, or of another version.
        """
        self.path = path or paths.cache("explore") / "results.sqlite"
        self._models = models_hash()
        with self._told():
            self._connection = sqlite3.connect(self.path, timeout=60)
            found = self._connection.execute("pragma user_version").fetchone()[0]
            tables = self._connection.execute("select count(*) from sqlite_master").fetchone()[0]
            if tables and found != VERSION:
                raise InputError(
                    f"{self.path}: results of version {found}, this ringsmith writes {VERSION}; name another file"
                )
            with self._connection:
                self._connection.execute("create table if not exists prediction (key text primary key, value text)")
                self._connection.execute(f"pragma user_version = {VERSION}")

    def key(self, program: str, preset: Preset, runs: int = 1) -> str:
        """Return the key of a batch of a program (its hash) on a build."""
        numbers = json.dumps([preset.numbers(), preset.operations, preset.port_memory, runs], sort_keys=True)
        return hashlib.sha256(f"{self._models}\0{program}\0{numbers}".encode()).hexdigest()

    def get(self, keys: Iterable[str]) -> dict[str, Result]:
        """Return what is known of some keys."""
        found = {}
        with self._told():
            for key in keys:
                row = self._connection.execute("select value from prediction where key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = json.loads(row[0])
        return found

    def put(self, results: Iterable[tuple[str, Result]]) -> None:
        """Keep results, all or none of them."""
        rows = [(key, json.dumps(value)) for key, value in results]
        with self._told(), self._connection:
            self._connection.executemany("insert or replace into prediction values (?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what SQLite says of a file (no such folder, damaged, a full disk) into one line that names it."""
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: {reason(error)}; make room, or name another file with --results") from None
