# SPDX-License-Identifier: Apache-2.0
"""Records of the store: blobs, uploads, jobs and their ends."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ringsmith.service.kinds import Facts


@dataclass(frozen=True)
class Blob:
    """A blob without its bytes."""

    digest: bytes
    kind: str
    size: int
    facts: Facts

    def view(self) -> dict[str, Any]:
        """Return what its holder is told."""
        return {"hash": self.digest.hex(), "kind": self.kind, "size": self.size, "facts": self.facts}


@dataclass(frozen=True)
class Upload:
    """A blob that comes in chunks."""

    id: str
    tenant: int
    digest: bytes
    size: int


class Row(NamedTuple):
    """A job as the store has it: `state` is queued, done, failed or cancelled; the scheduler knows if it runs."""

    tenant: int
    id: str
    number: int
    request: bytes
    program: bytes
    keys: bytes
    inputs: bytes
    plain: str
    state: str
    created: float
    finished: float | None
    attempts: int
    result: bytes | None
    error: str | None
    report: str | None
    expires: float


@dataclass(frozen=True)
class End:
    """How a job ended: done, failed or cancelled; `error` and `report` as JSON."""

    row: Row
    state: str
    error: str | None = None
    result: tuple[Blob, bytes | Path] | None = None
    report: str | None = None

    def ended(self, finished: float) -> Row:
        """Return the job's row with this end."""
        result = self.result[0].digest if self.result else None
        return self.row._replace(
            state=self.state, finished=finished, result=result, error=self.error, report=self.report
        )


def blob_of(row: tuple[Any, ...]) -> Blob:
    """Return the blob of a row: hash, kind, size, facts."""
    return Blob(row[0], row[1], row[2], read(row[3]))


@lru_cache(256)
def read(facts: str) -> Facts:
    """Return the facts of a blob, which never change; those that every job needs are read once."""
    found: Facts = json.loads(facts)
    return found
