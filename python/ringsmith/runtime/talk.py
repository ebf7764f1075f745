# SPDX-License-Identifier: Apache-2.0
"""A client and a server in conversation, with the bytes and the time of each round: client, wire, server."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ringsmith.runtime.engine import Elsewhere, Engine, Evaluator
from ringsmith.runtime.messages import Encryptions
from ringsmith.runtime.randomness import Seed
from ringsmith.runtime.rounds import Rounds, RoundsClient, converse, used
from ringsmith.runtime.server import Progress

Array = NDArray[Any]


@dataclass
class RoundTold:
    """One round: bytes, ciphertexts each way; seconds at the client before it is sent, on the wire, at the server."""

    sent: int
    received: int
    ciphertexts: tuple[int, int]
    client: float
    wire: float
    server: float

    def json(self) -> dict[str, Any]:
        """Return it with milliseconds."""
        return {
            "sent_bytes": self.sent,
            "received_bytes": self.received,
            "sent": self.ciphertexts[0],
            "received": self.ciphertexts[1],
            "client_ms": round(self.client * 1e3, 3),
            "wire_ms": round(self.wire * 1e3, 3),
            "server_ms": round(self.server * 1e3, 3),
        }


class Talk:
    """A conversation that is timed. `rounds` has what each round took; the last client's part stands in `last`."""

    def __init__(
        self, rounds: Rounds, client: RoundsClient, engine: Engine | None = None, key_memory: int | None = None
    ) -> None:
        """Evaluate in this process, the keys of refreshes in at most `key_memory` bytes, or where the engine does."""
        self._client, self._programs = client, rounds
        self.rounds: list[RoundTold] = []
        self.last = 0.0
        self._digest = hashlib.sha256()
        self._local = self._there = None
        if isinstance(engine, Elsewhere):
            self._there = {digest: engine.server(own) for digest, own in client.clients.items()}
        else:
            self._local = rounds.server(client.evaluation_keys, key_memory=key_memory)

    @property
    def digest(self) -> str:
        """SHA-256 of all ciphertext bytes that came back, in hexadecimal."""
        return self._digest.hexdigest()

    def run(
        self, encrypted: Mapping[str, Any], plain: Mapping[str, Any], seed: Seed = None,
        progress: Progress | None = None,
    ) -> Array:  # fmt: skip
        """Lead all rounds and return the answer."""
        self._asked = time.perf_counter()

        def evaluate(sent: Encryptions) -> Encryptions:
            start = time.perf_counter()
            server, given = self._server(sent, plain)
            done = server.run(sent, given, seed, progress)
            end = time.perf_counter()
            elapsed = end - start if done.elapsed is None else min(done.elapsed, end - start)
            counts = len(sent.ciphertexts), len(done.result.ciphertexts)
            told = RoundTold(
                sent.nbytes, done.result.nbytes, counts, start - self._asked, end - start - elapsed, elapsed
            )
            self.rounds.append(told)
            self._digest.update(b"".join(done.result.ciphertexts))
            self._asked = time.perf_counter()
            return done.result

        answer = converse(self._client.conversation(encrypted), evaluate)
        self.last = time.perf_counter() - self._asked
        return answer

    def split(self) -> dict[str, float]:
        """Return the milliseconds of all rounds at the client, on the wire, at the server."""
        parts = {
            "client": sum(one.client for one in self.rounds) + self.last,
            "wire": sum(one.wire for one in self.rounds),
            "server": sum(one.server for one in self.rounds),
        }
        return {name: seconds * 1e3 for name, seconds in parts.items()}

    def _server(self, sent: Encryptions, plain: Mapping[str, Any]) -> tuple[Evaluator, Mapping[str, Any]]:
        if self._there is None:
            assert self._local is not None
            return self._local, plain
        digest = sent.label.program.digest
        return self._there[digest], used(self._client.clients[digest].program.signature, plain)
