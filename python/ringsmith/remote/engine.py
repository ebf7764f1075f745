# SPDX-License-Identifier: Apache-2.0
"""A server as the engine of a run: keys, encryption and decryption here, evaluation there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ringsmith.errors import InputError
from ringsmith.remote import steps
from ringsmith.remote.connect import Remote
from ringsmith.runtime.client import Client
from ringsmith.runtime.messages import Encryptions
from ringsmith.runtime.objects import load
from ringsmith.runtime.program_data import ProgramData
from ringsmith.runtime.randomness import Seed
from ringsmith.runtime.server import Execution, Progress


class RemoteEngine:
    """Evaluates on a server. With a file, the client is kept there, so that its keys are uploaded once."""

    device = None
    recording = None

    def __init__(self, remote: Remote, file: Path | None = None) -> None:
        """Use a server; `file`: the client, written at its first use."""
        self._remote, self._file = remote, file
        self._facts: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """The engine's name in reports: the address of the server."""
        return self._remote.wire.url

    def report(self, seconds: float) -> dict[str, Any]:
        """Return the job and the server's facts about it."""
        return self._facts

    @property
    def keeps_client(self) -> bool:
        """Whether the client is kept in a file."""
        return self._file is not None

    def client(self, program: ProgramData, make: Callable[[], Client]) -> Client:
        """Return the client of the file, or a new one, which is then kept there."""
        if self._file is None:
            return make()
        if not self._file.exists():
            made = make()
            made.save(self._file)
            return made
        kept = load(self._file)
        if not isinstance(kept, Client):
            raise InputError(f"{self._file}: not a client with its keys; name the file that --client wrote")
        if kept.program.identity != program.identity:
            differs = ", ".join(program.identity.differing(kept.program.identity))
            raise InputError(
                f"{self._file}: the client of another program, which differs in {differs}; name another file"
            )
        return kept

    def server(self, client: Client) -> _Evaluator:
        """Return what evaluates for this client."""
        return _Evaluator(self._remote, client, self._facts)

    def submit(self, program: ProgramData, arrays: Mapping[str, Any]) -> str:
        """Submit a job that goes on by itself and return its name."""
        client = self.client(program, lambda: Client(program))
        return self._remote.program(client.program, client).submit(arrays).id


class _Evaluator:
    """One client's jobs on a server."""

    def __init__(self, remote: Remote, client: Client, facts: dict[str, Any]) -> None:
        self._remote, self._client, self._facts = remote, client, facts

    def run(
        self, sent: Encryptions, plain: Mapping[str, Any], seed: Seed = None, progress: Progress | None = None
    ) -> Execution:
        """Evaluate there. Zeros that the server encrypts are its own: `seed` says nothing of them."""
        client, wire = self._client, self._remote.wire
        arrays = client.program.signature.check(plain, encrypted=False)
        places = self._remote.program(client.program, client).prepare()
        given = wire.run(steps.plain_arguments(arrays))
        id = steps.new_job()
        wire.run(steps.submit(*places, sent.to_bytes(), given, id))
        result = self._remote.result(id, progress, client.program.result_bytes)
        report = self._remote.job(id, client).state().get("report", {})
        self._facts |= {"job": id, "server": report}
        return Execution(result, report.get("operations", {}), report.get("run_seconds"))
