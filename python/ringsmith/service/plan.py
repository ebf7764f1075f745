# SPDX-License-Identifier: Apache-2.0
"""What jobs have in common, and what makes one submission the same as another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ringsmith.service.arena import Sent, view_of
from ringsmith.service.problems import Problem
from ringsmith.service.rows import Blob, Row
from ringsmith.service.tenants import Tenant

#: Bytes of the checksum that every object of the format ends with.
_CHECKSUM = 8


class Needs(NamedTuple):
    """What a job needs besides its inputs; jobs with equal needs can run in one task."""

    tenant: int
    program: bytes
    keys: bytes
    #: Plain arguments as JSON.
    plain: str
    #: Bytes in a worker's memory: of the program, and of the keys loaded for it.
    held: tuple[int, int]
    #: Butterflies of one job.
    work: int

    @property
    def name(self) -> tuple[bytes, bytes]:
        """The program and the keys that a worker must hold."""
        return self.program, self.keys

    def has(self, digest: bytes) -> bool:
        """Return whether a blob is among them."""
        return digest in self.name or digest.hex() in self.plain


@dataclass(frozen=True)
class Plan:
    """What many jobs may share: a tenant's program and keys, and plain arguments as JSON."""

    tenant: Tenant
    program: Blob
    keys: Blob
    plain: str
    #: Bytes in a worker's memory: of the program, and of the keys loaded for it.
    held: tuple[int, int]

    @cached_property
    def needs(self) -> Needs:
        """What each of the jobs needs."""
        work = int(self.program.facts["cost"]["work"])
        return Needs(self.tenant.number, self.program.digest, self.keys.digest, self.plain, self.held, work)


def plain_text(plain: Mapping[str, Any]) -> str:
    """Return plain arguments as JSON; Problem for other bytes."""
    try:
        return json.dumps(plain, sort_keys=True)
    except (ValueError, RecursionError, TypeError):
        raise Problem("bad_arguments", "plain arguments are numbers, nested lists of numbers, or arrays") from None


def request_hash(digests: Mapping[str, bytes], plain: Mapping[str, Any]) -> bytes:
    """Return what makes a submission the same as another."""
    parts = [digests["program"], digests["keys"], digests["inputs"], plain_text(plain).encode()]
    return hashlib.sha256(b"".join(parts)).digest()


def sign_of(body: Sent) -> bytes:
    """Return what tells arguments that came with a job from others: their length and the checksum at their end.

    Two messages with the same sign can only confuse their own sender.
    """
    return len(body).to_bytes(8, "little") + bytes(view_of(body)[-_CHECKSUM:])


class RequestSigns:
    """Signs of the submissions of one plan: `request_hash` of each, what they share being hashed once."""

    def __init__(self, plan: Plan) -> None:
        """Begin with what they share."""
        self._shared, self._plain = hashlib.sha256(plan.program.digest + plan.keys.digest), plan.plain.encode()

    def of(self, body: Sent) -> bytes:
        """Return the sign of the submission of these arguments."""
        sign = self._shared.copy()
        sign.update(sign_of(body) + self._plain)
        return sign.digest()


def check_same(known: Row, request: bytes) -> None:
    """Refuse a submission under the name of another."""
    if known.request != request:
        raise Problem("job_differs", f"there is another job {known.id}; choose a name of its own for each job")
