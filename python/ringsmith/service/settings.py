# SPDX-License-Identifier: Apache-2.0
"""Settings of a server: places, limits, quotas."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@dataclass(frozen=True)
class Quota:
    """Quota of one tenant. Bytes stored; jobs not finished; bytes and seconds that one job takes."""

    bytes: int = 4 * GIB
    jobs: int = 256
    memory: int = 2 * GIB
    seconds: float = 600.0


@dataclass(frozen=True)
class Settings:
    """One server."""

    store: Path
    host: str = "127.0.0.1"
    port: int = 8470
    #: File of a Unix-domain socket to listen at in place of host and port.
    socket: Path | None = None
    #: Processes that evaluate, and threads of each.
    workers: int = 1
    threads: int = 1
    #: Address of the Ray cluster that evaluates; None: this machine.
    ray: str | None = None
    #: Bytes of evaluation keys held in memory, all workers together.
    key_memory: int = GIB
    #: Jobs waiting, all tenants together.
    queue: int = 1024
    quota: Quota = field(default_factory=Quota)
    #: Largest blob, and largest body of one request: longer blobs come in chunks.
    max_blob: int = GIB
    max_body: int = 8 * MIB
    #: Bodies of many jobs that workers read where they were received; more are copied.
    slots: int = 16
    #: Blobs up to this size lie in the database, others in files of their own.
    inline: int = 256 * KIB
    #: Connections at one time, and requests of one tenant, those that wait for a job included.
    connections: int = 1024
    requests: int = 256
    #: Seconds for the head of a request; for its body, with one more for each `body_rate` bytes.
    head_seconds: float = 10.0
    body_seconds: float = 20.0
    body_rate: int = 64 * KIB
    #: Seconds without a byte taken by the client before an answer is given up.
    send_seconds: float = 60.0
    #: Days that an unfinished upload is kept.
    upload_days: float = 7.0
    #: Seconds that running jobs get to finish when the server is stopped.
    drain_seconds: float = 10.0
    #: Whether programs below 128 bits of security are taken.
    allow_insecure: bool = False
    tls_certificate: Path | None = None
    tls_key: Path | None = None

    @property
    def worker_key_memory(self) -> int:
        """Bytes of keys that one worker holds."""
        return self.key_memory // self.workers

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.store / "ringsmith.sqlite3"
