# SPDX-License-Identifier: Apache-2.0
"""A connection to a server, blocking or asynchronous."""

from __future__ import annotations

from typing import Any, Self

from ringsmith.remote import steps
from ringsmith.remote.address import checked
from ringsmith.remote.kernel import AsyncRemoteProgram, RemoteJob, RemoteKernel, RemoteProgram
from ringsmith.remote.wire import AsyncWire, Wire, needed
from ringsmith.runtime.client import Client
from ringsmith.runtime.kernel import Kernel
from ringsmith.runtime.messages import Encryptions
from ringsmith.runtime.program_data import ProgramData
from ringsmith.scalars import seconds

#: Seconds for which what fails on the way is tried again.
PATIENCE = 60.0


class Remote:
    """A server to run kernels on: `kernel.on(remote)(args)`. Threads may share it."""

    def __init__(self, wire: Wire) -> None:
        """Talk through a wire."""
        self.wire = wire

    def program(self, program: ProgramData, client: Client | None = None) -> RemoteProgram:
        """Return a program with a client's keys, to be run there; without a client one is made."""
        return RemoteProgram(self.wire, program, client)

    def kernel(self, kernel: Kernel) -> RemoteKernel:
        """Return a kernel to be run there; `kernel.on(remote)` says the same."""
        return RemoteKernel(kernel, self.program)

    def jobs(self) -> list[dict[str, Any]]:
        """Return all your jobs, newest first: id, state, times, error."""
        return self.wire.run(steps.jobs())

    def job(self, id: str, client: Client) -> RemoteJob:
        """Return a job by its name, for the client that decrypts its result."""
        return RemoteJob(self.wire, id, client)

    def result(self, id: str, progress: steps.Progress | None = None, most: int = steps.UNKNOWN) -> Encryptions:
        """Return a job's encrypted result of `most` bytes (`program.result_bytes`), waiting for its end."""
        return Encryptions.from_bytes(self.wire.run(steps.result(id, progress, most)))

    def ask(self, method: str, path: str) -> Any:
        """Make one request; its answer as JSON. For what has no method of its own (docs/service.md)."""
        return self.wire.run(steps.ask(method, path))

    def status(self) -> dict[str, Any]:
        """Return limits, what you use, and which keys are in memory."""
        return steps.Answer(200, self.ask("GET", "/v1/status"), b"").told(kind=dict)

    def __enter__(self) -> Self:
        """Use as a context."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections; jobs go on."""
        self.wire.close()

    def __repr__(self) -> str:
        """Return the address, no key."""
        return f"<Remote {self.wire.url}>"


class AsyncRemote:
    """The same on asyncio: `await kernel.on(remote)(args)`."""

    def __init__(self, wire: AsyncWire) -> None:
        """Talk through a wire."""
        self.wire = wire

    def program(self, program: ProgramData, client: Client | None = None) -> AsyncRemoteProgram:
        """Return a program with a client's keys, to be run there; without a client one is made."""
        return AsyncRemoteProgram(self.wire, program, client)

    def kernel(self, kernel: Kernel) -> RemoteKernel:
        """Return a kernel to be run there; `kernel.on(remote)` says the same."""
        return RemoteKernel(kernel, self.program)

    async def jobs(self) -> list[dict[str, Any]]:
        """Return all your jobs, newest first."""
        return await self.wire.run(steps.jobs())

    async def result(self, id: str, progress: steps.Progress | None = None, most: int = steps.UNKNOWN) -> Encryptions:
        """Return a job's encrypted result of `most` bytes, waiting for its end."""
        return Encryptions.from_bytes(await self.wire.run(steps.result(id, progress, most)))

    async def __aenter__(self) -> Self:
        """Use as a context."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        await self.close()

    async def close(self) -> None:
        """Close the connections; jobs go on."""
        await self.wire.close()

    def __repr__(self) -> str:
        """Return the address, no key."""
        return f"<AsyncRemote {self.wire.url}>"


def connect(url: str, api_key: str, *, patience: float = PATIENCE, allow_http: bool = False) -> Remote:
    """Return a server to run kernels on.

    `patience`: seconds for which what fails on the way is tried again (each request may be). `allow_http`: let the API
    key travel in the clear to another machine.
    """
    address = checked(url, api_key, allow_http=allow_http)
    return Remote(Wire(address, api_key, seconds("patience", patience)))


def connect_async(url: str, api_key: str, *, patience: float = PATIENCE, allow_http: bool = False) -> AsyncRemote:
    """Return the same for asyncio; options as of `connect`."""
    address = checked(url, api_key, allow_http=allow_http)
    return needed(lambda: AsyncRemote(AsyncWire(address, api_key, seconds("patience", patience))))
