# SPDX-License-Identifier: Apache-2.0
"""A client-aided program: one program for each round, and the client's functions between them.

```
RoundsClient.conversation ── encrypted arguments ──> RoundsServer.evaluate ─┐
          ^ decrypts, applies functions in the clear <── encrypted values ──┘  once for each round
```
A server has programs and evaluation keys, as for any program; functions stay at the client. All programs have one
parameter set, so one secret key serves them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.compiler.rounds import Applied, Plan, Round, cut
from ringsmith.compiler.signature import Signature
from ringsmith.compiler.together import compile_together
from ringsmith.errors import InputError
from ringsmith.files import replacing
from ringsmith.frontend.definition import KernelDefinition, Shapes
from ringsmith.ir.clear_function import cut as cut_to
from ringsmith.ir.graph import Graph
from ringsmith.runtime.client import Client
from ringsmith.runtime.engine import Engine
from ringsmith.runtime.engines import open_engine
from ringsmith.runtime.messages import Encryptions, Keys
from ringsmith.runtime.program import Program
from ringsmith.runtime.randomness import Seed
from ringsmith.runtime.rounds_bytes import decoded, encoded
from ringsmith.runtime.server import Execution, Progress, Server

Array = NDArray[Any]
#: Yields the encrypted arguments of each round, is sent its result; returns the answer.
Conversation = Generator[Encryptions, Encryptions, Array]


@dataclass(frozen=True, eq=False)
class Rounds:
    """A client-aided program; `plan` leads from round to round, `signature` is that of the whole kernel."""

    signature: Signature
    programs: tuple[Program, ...]
    plan: Plan

    @property
    def digest(self) -> bytes:
        """A hash of the programs and of what is between them, functions by name."""
        parts = [program.identity.digest for program in self.programs]
        return hashlib.sha256(b"".join(parts) + repr(self.plan).encode()).digest()

    @property
    def distinct(self) -> dict[bytes, Program]:
        """The programs by identity: rounds that do the same are one program, with one set of keys."""
        return {program.identity.digest: program for program in self.programs}

    def with_functions(self, **functions: Callable[[Array], Any]) -> Rounds:
        """Return the same with functions by name, as a client needs that read it from a file."""
        known = {applied.function.name for one in self.plan.rounds for applied in one.applied} - {""}
        strange = sorted(set(functions) - known)
        if strange:
            raise InputError(
                f"{self.signature.name} applies no function {strange[0]}; it has {', '.join(sorted(known))}"
            )

        def named(applied: Applied) -> Applied:
            own = applied.function
            return replace(applied, function=replace(own, function=functions.get(own.name, own.function)))

        def given(one: Round) -> Round:
            return replace(one, applied=tuple(map(named, one.applied)))

        return replace(self, plan=replace(self.plan, rounds=tuple(map(given, self.plan.rounds))))

    @property
    def counts(self) -> dict[str, int]:
        """Operations of all rounds by name."""
        counts: Counter[str] = Counter()
        for program in self.programs:
            counts.update(program.counts)
        return dict(counts)

    @property
    def deepest(self) -> Program:
        """The program with the most levels."""
        return min(self.programs, key=lambda program: program.native.lowest_level)

    def on(self, engine: Engine) -> Rounds:
        """Return the same with programs that run on an engine of this machine."""
        placed = (replace(one, device=engine.device, recording=engine.recording) for one in self.programs)
        return replace(self, programs=tuple(placed))

    def client(self, seed: Seed = None, *, on: str | Engine = "cpu", **options: bool) -> RoundsClient:
        """Generate keys; `on` is the engine of the client's encryption and decryption. `options`: those of `Client`."""
        return RoundsClient(self, seed, on=on, **options)

    def server(
        self, evaluation_keys: Sequence[Keys], *, threads: int | None = None, key_memory: int | None = None
    ) -> RoundsServer:
        """Return the side that evaluates. `evaluation_keys`: `client.evaluation_keys`, those of each program.
        `key_memory`: of the keys of refreshes of each, see `Server`."""
        return RoundsServer(self, evaluation_keys, threads=threads, key_memory=key_memory)

    def run(self, encrypted: Mapping[str, Any], plain: Mapping[str, Any]) -> Array:
        """Lead all rounds in this process, with fresh keys."""
        client = self.client()
        server = self.server(client.evaluation_keys)
        return converse(client.conversation(encrypted), lambda sent: server.run(sent, plain).result)

    def to_bytes(self) -> bytes:
        """Return it as an object of the byte format: programs, and functions by name only."""
        return encoded(self.signature, self.programs, self.plan)

    @classmethod
    def of_parts(cls, parts: Sequence[bytes], **policy: Any) -> Rounds:
        """Return what the parts of such an object hold, checked as a stranger's. `policy` as of a program."""
        return cls(*decoded(parts, policy))

    def save(self, path: str | Path) -> None:
        """Write the bytes to a file; `ringsmith.load` reads it. Functions stay behind, their names do not."""
        data = self.to_bytes()
        with replacing(Path(path)) as file:
            file.write(data)

    def __repr__(self) -> str:
        """Return the name, the number of rounds and the degree."""
        return f"<Rounds {self.signature.name}: {len(self.programs)} rounds, n = {self.programs[0].params.n}>"


def compile_rounds(kernel: KernelDefinition, shapes: Shapes, graph: Graph) -> Rounds:
    """Compile the traced kernel, with any number of refreshes."""
    kernels, plan = cut(kernel, graph)
    own = [{name: _fixed(argument.shape) for name, argument in one.arguments.items()} for one in kernels]
    arguments = {n: (shapes[n], a.encrypted, a.low, a.high) for n, a in kernel.arguments.items()}
    signature = Signature(kernel.name, kernel.variant, kernel.scheme, kernel.tolerance, arguments)
    return Rounds(signature, tuple(Program.of(made) for made in compile_together(kernels, own)), plan)


def _fixed(shape: tuple[int | None, ...]) -> tuple[int, ...]:
    return tuple(extent for extent in shape if extent is not None)


class RoundsClient:
    """Holds the secret key: one client for each distinct program, of one key."""

    def __init__(
        self, rounds: Rounds, seed: Seed = None, *, on: str | Engine = "cpu", sample_data: bool = False
    ) -> None:
        """Generate keys. `seed` and `sample_data` as of `Client`; `on` is the engine of its cryptography."""
        self.rounds = rounds
        device = (open_engine(on) if isinstance(on, str) else on).device
        self.clients: dict[bytes, Client] = {}
        for digest, program in rounds.distinct.items():
            placed = replace(program, device=device)
            first = next(iter(self.clients.values()), None)
            make = partial(Client, placed) if first is None else partial(first.for_program, placed)
            self.clients[digest] = make(seed, sample_data=sample_data)

    @property
    def evaluation_keys(self) -> tuple[Keys, ...]:
        """The evaluation keys of each distinct program, for the server."""
        return tuple(client.evaluation_keys for client in self.clients.values())

    def conversation(self, arguments: Mapping[str, Any], rounds: Rounds | None = None) -> Conversation:
        """Yield what goes to the server in each round and take what comes back; returns the answer.

        `rounds`: the same program with other functions.
        """
        rounds = rounds or self.rounds
        arrays = rounds.signature.check(arguments, encrypted=True)
        slack = rounds.signature.tolerance if rounds.signature.scheme == "ckks" else 0.0
        values: list[Array] = []
        for program, one in zip(rounds.programs, rounds.plan.rounds, strict=True):
            client = self.clients[program.identity.digest]
            given = {}
            for name, source in one.inputs.items():
                _, _, low, high = program.signature.arguments[name]
                value = arrays[source] if isinstance(source, str) else values[source]
                given[name] = value if isinstance(source, str) else cut_to(value, low, high, slack, name)
            values.extend(_parted((client.decrypt((yield client.encrypt(**given)))), one))
            for applied in one.applied:
                values.append(applied.function(values[applied.of], slack))
        return values[rounds.plan.result]


def _parted(result: Array, one: Round) -> Iterator[Array]:
    """Yield the values of a round's result."""
    flat, start = result.reshape(-1), 0
    for shape in one.values:
        size = int(np.prod(shape))
        yield flat[start : start + size].reshape(shape)
        start += size


class RoundsServer:
    """Evaluates each round with evaluation keys only; which one the message itself says."""

    def __init__(
        self, rounds: Rounds, evaluation_keys: Sequence[Keys], *, threads: int | None = None,
        key_memory: int | None = None,
    ) -> None:  # fmt: skip
        """Check the keys, in any order, against the programs; `threads`, `key_memory`: see `Server`."""
        programs = rounds.distinct
        if len(evaluation_keys) != len(programs):
            raise InputError(
                f"{len(evaluation_keys)} sets of keys, {rounds.signature.name} has {len(programs)} programs; pass "
                "client.evaluation_keys"
            )
        self._servers: dict[bytes, Server] = {}
        for keys, program in zip(evaluation_keys, programs.values(), strict=True):
            own = programs.get(keys.label.program.digest, program) if isinstance(keys, Keys) else program
            self._servers[own.identity.digest] = Server(own, keys, threads=threads, key_memory=key_memory)

    def evaluate(self, sent: Encryptions, *, seed: Seed = None, **plain: Any) -> Encryptions:
        """Evaluate the round that the message is of. `plain`: the plain arguments of the whole kernel."""
        return self.run(sent, plain, seed).result

    def run(
        self, sent: Encryptions, plain: Mapping[str, Any], seed: Seed = None, progress: Progress | None = None
    ) -> Execution:
        """Evaluate and return the result with the time each kind of operation took."""
        server = self._servers.get(sent.label.program.digest) if isinstance(sent, Encryptions) else None
        if server is None:
            raise InputError("a message of none of these rounds; send what the client's conversation yields")
        return server.run(sent, used(server.program.signature, plain), seed, progress)


def used(signature: Signature, plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the whole kernel's plain arguments that a round has."""
    names = signature.names(encrypted=False)
    return {name: value for name, value in plain.items() if name in names}


def converse(talk: Conversation, evaluate: Callable[[Encryptions], Encryptions]) -> Array:
    """Lead a conversation to its end."""
    sent = next(talk)
    while True:
        result = evaluate(sent)
        try:
            sent = talk.send(result)
        except StopIteration as end:
            answer: Array = end.value
            return answer
