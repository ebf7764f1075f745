# SPDX-License-Identifier: Apache-2.0
"""Kernels and programs on a server: compiled, keyed, encrypted and decrypted here, evaluated there."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from numpy.typing import NDArray

from ringsmith.compiler.rounds import ClientAidedError
from ringsmith.errors import InputError
from ringsmith.remote import many, steps
from ringsmith.remote.rounds import AsyncRemoteRounds, RemoteRounds
from ringsmith.remote.wire import AsyncWire, Wire
from ringsmith.runtime.client import Client
from ringsmith.runtime.kernel import Kernel
from ringsmith.runtime.messages import Encryptions
from ringsmith.runtime.program_data import ProgramData
from ringsmith.runtime.rounds import Rounds, RoundsClient

Array = NDArray[Any]


@dataclass(frozen=True)
class _Side:
    """A program and the client of it: all that is secret stays in `client`."""

    program: ProgramData
    client: Client

    @classmethod
    def of(cls, program: ProgramData, client: Client | None) -> _Side:
        """Make a client unless one is given; it must be of this program."""
        if client is None:
            return cls(program, Client(program))
        if client.program.identity != program.identity:
            raise InputError(f"this client is of another program than {program.signature.name}; make one of its own")
        return cls(program, client)

    def blobs(self) -> tuple[bytes, bytes]:
        """Return the program and the evaluation keys as they travel."""
        return self.program.to_bytes(), self.client.evaluation_keys.to_bytes()

    def split(self, arguments: Mapping[str, Any]) -> tuple[Encryptions, dict[str, Array]]:
        """Return the encrypted arguments and the plain ones as checked arrays."""
        names = self.program.signature.names(encrypted=False)
        plain = {name: arguments[name] for name in names if name in arguments}
        encrypted = {name: value for name, value in arguments.items() if name not in names}
        checked = self.program.signature.check(plain, encrypted=False)
        return self.client.encrypt(**encrypted), checked


def _prepared(side: _Side) -> steps.Steps[tuple[str, str]]:
    """Store program and keys on the server; returns their addresses."""
    program, keys = side.blobs()
    return (yield from steps.upload(program)), (yield from steps.upload(keys))


def _submitted(
    places: tuple[str, str], sent: bytes, arrays: Mapping[str, Array], id: str
) -> steps.Steps[dict[str, Any]]:
    plain = yield from steps.plain_arguments(arrays)
    return (yield from steps.submit(*places, sent, plain, id))


def _evaluated(
    places: tuple[str, str], sent: Encryptions, arrays: Mapping[str, Array], progress: steps.Progress | None, most: int
) -> steps.Steps[Encryptions]:
    plain = yield from steps.plain_arguments(arrays)
    data = yield from steps.evaluate(*places, sent.to_bytes(), plain, steps.new_job(), progress, most)
    return Encryptions.from_bytes(data)


class RemoteProgram:
    """A program on a server with the keys of one client, uploaded once. Threads may share it."""

    def __init__(self, wire: Wire, program: ProgramData, client: Client | None = None) -> None:
        """Make keys unless a client is given; nothing is sent before the first run."""
        self._wire, self._side = wire, _Side.of(program, client)
        self._lock = threading.Lock()
        self._places: tuple[str, str] | None = None

    @property
    def program(self) -> ProgramData:
        """The program."""
        return self._side.program

    @property
    def client(self) -> Client:
        """The holder of the secret key; save it to decrypt in another process."""
        return self._side.client

    def prepare(self) -> tuple[str, str]:
        """Upload program and keys if the server lacks them; returns their hashes."""
        with self._lock:
            if self._places is None:
                self._places = self._wire.run(_prepared(self._side))
            return self._places

    def run(self, arguments: Mapping[str, Any], progress: steps.Progress | None = None) -> Array:
        """Encrypt, evaluate there, decrypt."""
        sent, arrays = self._side.split(arguments)
        return self.client.decrypt(self.evaluate(sent, arrays, progress))

    def evaluate(
        self, sent: Encryptions, plain: Mapping[str, Array], progress: steps.Progress | None = None
    ) -> Encryptions:
        """Evaluate there what is encrypted already."""
        return self._wire.run(_evaluated(self.prepare(), sent, plain, progress, self.program.result_bytes))

    def evaluate_many(
        self, batch: Iterable[Encryptions], *, keep: float = many.KEEP, **plain: Any
    ) -> Iterator[Encryptions]:
        """Evaluate there many messages with the same plain arguments: a job each, results in order, as they are ready.

        `keep`: seconds that the server keeps each result; 0: it keeps nothing, which is faster, and a job whose answer
        is lost on the way is run again.
        """
        kept, checked = many.checked_keep(keep), self.program.signature.check(plain, encrypted=False)
        places, shared = self.prepare(), self._wire.run(many.shared(checked, kept, self.program.result_bytes))
        return many.mapped(lambda group: self._wire.run(many.evaluate(places, group, shared)), batch, shared.most)

    def map(self, *encrypted: Iterable[Any], keep: float = many.KEEP, **plain: Any) -> Iterator[Array]:
        """Encrypt, evaluate there, decrypt many: like `map`, an iterable for each encrypted argument; the plain ones
        stay the same. `keep` as of `evaluate_many`."""
        sent = many.encrypted(self.client, encrypted)
        return map(self.client.decrypt, self.evaluate_many(sent, keep=keep, **plain))

    def submit(self, arguments: Mapping[str, Any], id: str | None = None) -> RemoteJob:
        """Encrypt and submit; the job goes on without this process. `id`: a name of one's own, the same to repeat."""
        sent, arrays = self._side.split(arguments)
        name = id or steps.new_job()
        self._wire.run(_submitted(self.prepare(), sent.to_bytes(), arrays, name))
        return RemoteJob(self._wire, name, self._side.client)

    def __call__(self, **arguments: Any) -> Array:
        """Encrypt, evaluate there, decrypt."""
        return self.run(arguments)


class RemoteJob:
    """A job on a server."""

    def __init__(self, wire: Wire, id: str, client: Client) -> None:
        """Name a job; nothing is asked."""
        self._wire, self.id, self._client = wire, id, client

    def state(self) -> dict[str, Any]:
        """Return state, progress, times, error."""
        told: dict[str, Any] = self._wire.run(steps.ask("GET", f"/v1/jobs/{self.id}"))
        return told

    def result(self, progress: steps.Progress | None = None) -> Array:
        """Wait for the end and return the result in the clear; RemoteError if there is none."""
        return self._client.decrypt(
            Encryptions.from_bytes(self._wire.run(steps.result(self.id, progress, self._client.program.result_bytes)))
        )

    def cancel(self) -> dict[str, Any]:
        """Cancel it; one that has ended stays as it is."""
        told: dict[str, Any] = self._wire.run(steps.ask("POST", f"/v1/jobs/{self.id}/cancel"))
        return told

    def delete(self) -> None:
        """Forget it with its result."""
        self._wire.run(steps.ask("DELETE", f"/v1/jobs/{self.id}"))

    def __repr__(self) -> str:
        """Return the name."""
        return f"<RemoteJob {self.id}>"


class AsyncRemoteProgram:
    """A program on a server with the keys of one client, uploaded once; on asyncio."""

    def __init__(self, wire: AsyncWire, program: ProgramData, client: Client | None = None) -> None:
        """Make keys unless a client is given; nothing is sent before the first run."""
        self._wire, self._side = wire, _Side.of(program, client)
        import asyncio

        self._lock = asyncio.Lock()
        self._places: tuple[str, str] | None = None

    @property
    def client(self) -> Client:
        """The holder of the secret key."""
        return self._side.client

    async def prepare(self) -> tuple[str, str]:
        """Upload program and keys if the server lacks them; returns their hashes."""
        async with self._lock:
            if self._places is None:
                self._places = await self._wire.run(_prepared(self._side))
            return self._places

    async def run(self, arguments: Mapping[str, Any], progress: steps.Progress | None = None) -> Array:
        """Encrypt, evaluate there, decrypt; cryptography runs in a thread."""
        import asyncio

        sent, arrays = await asyncio.to_thread(self._side.split, arguments)
        evaluated = await self.evaluate(sent, arrays, progress)
        return await asyncio.to_thread(self.client.decrypt, evaluated)

    async def evaluate(
        self, sent: Encryptions, plain: Mapping[str, Array], progress: steps.Progress | None = None
    ) -> Encryptions:
        """Evaluate there what is encrypted already."""
        return await self._wire.run(
            _evaluated(await self.prepare(), sent, plain, progress, self._side.program.result_bytes)
        )

    async def evaluate_many(
        self, batch: Iterable[Encryptions], *, keep: float = many.KEEP, **plain: Any
    ) -> AsyncIterator[Encryptions]:
        """Yield the results of many messages, as `RemoteProgram.evaluate_many`."""
        kept, checked = many.checked_keep(keep), self._side.program.signature.check(plain, encrypted=False)
        places, shared = (
            await self.prepare(),
            await self._wire.run(many.shared(checked, kept, self._side.program.result_bytes)),
        )
        async for result in many.mapped_async(
            lambda group: self._wire.run(many.evaluate(places, group, shared)), batch, shared.most
        ):
            yield result

    async def map(self, *encrypted: Iterable[Any], keep: float = many.KEEP, **plain: Any) -> AsyncIterator[Array]:
        """Yield the results of many arguments in the clear, as `RemoteProgram.map`."""
        import asyncio

        sent = many.encrypted(self.client, encrypted)
        async for result in self.evaluate_many(sent, keep=keep, **plain):
            yield await asyncio.to_thread(self.client.decrypt, result)

    async def __call__(self, **arguments: Any) -> Array:
        """Encrypt, evaluate there, decrypt."""
        return await self.run(arguments)


class RemoteKernel:
    """A kernel on a server: call it as the kernel itself. One client serves all calls with the same shapes."""

    def __init__(
        self, kernel: Kernel, place: Callable[[ProgramData, Client | None], RemoteProgram | AsyncRemoteProgram]
    ) -> None:
        """Compile at the first call; `place` puts a program on the server."""
        self._kernel, self._place = kernel, place
        self._programs: dict[bytes, RemoteProgram | AsyncRemoteProgram] = {}
        self._rounds: dict[tuple[bytes, ...], tuple[RoundsClient, dict[bytes, Any]]] = {}

    def program(self, **shapes: tuple[int, ...]) -> Any:
        """Return the program for these shapes, on the server."""
        try:
            compiled = self._kernel.compile(**shapes)
        except ClientAidedError:
            return self._aided(self._kernel.rounds(**shapes))
        found = self._programs.get(compiled.identity.digest)
        if found is None:
            found = self._programs[compiled.identity.digest] = self._place(compiled, None)
        return found

    def _aided(self, rounds: Rounds) -> RemoteRounds:
        """Return a client-aided program on the server; the same programs keep their client, whatever the functions."""
        key = tuple(rounds.distinct)
        found = self._rounds.get(key)
        if found is None:
            client = rounds.client()
            places = {digest: self._place(own.program, own) for digest, own in client.clients.items()}
            found = self._rounds[key] = client, places
        asynchronous = any(isinstance(place, AsyncRemoteProgram) for place in found[1].values())
        return (AsyncRemoteRounds if asynchronous else RemoteRounds)(rounds, *found)

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, dict[str, Array]]:
        arrays = self._kernel.bind(args, kwargs)
        return self.program(**{name: array.shape for name, array in arrays.items()}), arrays

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Encrypt, evaluate there, decrypt; numpy in, numpy out. With an `AsyncRemote`: await it."""
        program, arrays = self._bound(args, kwargs)
        return program.run(arrays)

    def run(self, *args: Any, progress: steps.Progress | None = None, **kwargs: Any) -> Any:
        """Return the same, telling `progress` how many operations are done, of how many."""
        program, arrays = self._bound(args, kwargs)
        return program.run(arrays, progress)

    def map(self, *encrypted: Iterable[Any], keep: float = many.KEEP, **plain: Any) -> Any:
        """Run many: like `map`, an iterable for each encrypted argument in the kernel's order; the plain ones by name.

        Results come in order, as they are ready: `for answer in kernel.on(remote).map(rows, w=weights)`; with an
        `AsyncRemote`: `async for`. `keep`: seconds that the server keeps each result; 0: not at all, which is faster.
        """
        names = [name for name, argument in self._kernel.arguments.items() if argument.encrypted]
        if len(encrypted) != len(names):
            raise InputError(f"{len(encrypted)} iterables; the kernel has the encrypted arguments {', '.join(names)}")
        columns = [iter(column) for column in encrypted]
        first = [next(column, None) for column in columns]
        if any(value is None for value in first):
            return iter(())
        program, _ = self._bound((), {**dict(zip(names, first, strict=True)), **plain})
        if not isinstance(program, RemoteProgram | AsyncRemoteProgram):
            raise InputError("a kernel with rs.refresh needs its client in every round: call it for each")
        whole = [chain([value], column) for value, column in zip(first, columns, strict=True)]
        return program.map(*whole, keep=keep, **plain)

    def submit(self, *args: Any, **kwargs: Any) -> RemoteJob:
        """Encrypt and submit; the job goes on without this process (`client.save` keeps what decrypts its result)."""
        program, arrays = self._bound(args, kwargs)
        if isinstance(program, RemoteRounds):
            raise InputError("a kernel with rs.refresh needs its client in every round: call it, no job does it alone")
        if not isinstance(program, RemoteProgram):
            raise InputError("submit() needs rs.connect(...); an asynchronous connection awaits the result itself")
        return program.submit(arrays)
