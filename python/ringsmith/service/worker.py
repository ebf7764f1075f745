# SPDX-License-Identifier: Apache-2.0
"""A worker process: holds evaluation keys, runs one task at a time; spawned, never forked; it ends with its server."""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from ringsmith.errors import RingsmithError
from ringsmith.runtime.arrays import array_of
from ringsmith.runtime.cache import Cache, Name, TooLargeError
from ringsmith.runtime.messages import Encryptions, Keys
from ringsmith.runtime.program import Program
from ringsmith.runtime.server import Server
from ringsmith.service.arena import Arena, Lent, Place
from ringsmith.service.files import Files, own_name
from ringsmith.service.problems import Problem, of_error

#: A blob's bytes, or the file or the place in the arena that holds them.
Source = bytes | Path | Lent | Place
#: Told the place of a job in its task, how many of its operations are done, of how many.
Told = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Task:
    """Jobs as a worker needs them, alike but for their inputs.

    `program` and `keys` are None where the worker is known to hold them.
    """

    number: int
    name: Name
    program: Source | None
    keys: Source | None
    key_bytes: int
    inputs: Sequence[Source]
    plain: dict[str, Any]


@dataclass(frozen=True)
class Held:
    """The keys and programs in a worker's cache after a task."""

    names: list[Name]
    size: int
    evictions: int


@dataclass(frozen=True)
class Done:
    """A result, with its name; large ones lie in a part file. `report`: seconds by kind of operation, memory."""

    result: bytes | Path | Place
    digest: bytes
    size: int
    facts: dict[str, Any]
    report: dict[str, Any]


@dataclass(frozen=True)
class Failed:
    """A task without result: a problem's code and message; `cancelled` when it was told to stop."""

    code: str
    message: str
    cancelled: bool = False


class _Cancelled(BaseException):
    """Raised inside a run by the signal that ends it."""


class _Interrupt:
    """Lets a signal end the task it was meant for, and only while that runs."""

    def __init__(self, wanted: Any) -> None:
        self._wanted, self._running = wanted, 0
        signal.signal(signal.SIGUSR1, lambda *_: self._raise())

    def _raise(self) -> None:
        if self._running and self._wanted.value == self._running:
            raise _Cancelled

    def run(self, number: int, action: Callable[[], Any]) -> Any:
        """Return `action()`; _Cancelled if the signal for task `number` comes, or came before."""
        try:
            self._running = number
            self._raise()
            return action()
        finally:
            self._running = 0

    def undisturbed(self, action: Callable[[], None]) -> None:
        """Do what must not be cut in two, such as writing to a pipe; the signal counts when it is done."""
        running, self._running = self._running, 0
        action()
        self._running = running
        self._raise()


class Worker:
    """The state of a worker process: its store and its cache of servers."""

    def __init__(
        self, store: Path | None, key_memory: int, threads: int, inline: int, allow_insecure: bool,
        arena: Arena | None, index: int = 0,
    ) -> None:  # fmt: skip
        """Start without keys. Results longer than `inline` go to the store; without one they are bytes too.

        `arena`: where arguments may lie, and results of the worker of this `index`.
        """
        self._arena, self._results = arena, None if arena is None else arena.results(index)
        self._told: tuple[Name, dict[str, Any]] = ((b"", b""), {})
        self._files = None if store is None else Files(store)
        self._threads, self._inline = threads, inline
        self._insecure = allow_insecure
        self.cache: Cache[Server] = Cache(key_memory)

    def run(self, task: Task, progress: Told, ended: Callable[[Done | Failed], None]) -> None:
        """Tell the outcome of each of a task's jobs; no input of a tenant raises."""
        if self._results is not None:
            self._results.clear()
        for place, inputs in enumerate(task.inputs):
            ended(self._outcome(task, inputs, partial(progress, place)))

    def _outcome(self, task: Task, inputs: Source, progress: Callable[[int, int], None]) -> Done | Failed:
        try:
            return self._done(task, inputs, progress)
        except TooLargeError as error:
            return Failed("over_quota", str(error))
        except RingsmithError as error:
            problem = of_error(error)
            return Failed(problem.code, problem.message)
        except Problem as problem:
            return Failed(problem.code, problem.message)
        except MemoryError:
            return Failed("over_quota", "this machine has not enough memory for the job")

    def _done(self, task: Task, inputs: Source, progress: Callable[[int, int], None]) -> Done:
        start = time.perf_counter()
        server, warm = self.cache.take(task.name, task.key_bytes, partial(self._load, task))
        loaded = time.perf_counter()
        sent = Encryptions.from_bytes(bytes_of(inputs, self._arena))
        plain = {name: _array(value) for name, value in task.plain.items()}
        execution = server.run(sent, plain, None, progress)
        data = execution.result.to_bytes()
        end = time.perf_counter()
        report = {
            "warm_keys": warm,
            "load_seconds": loaded - start,
            "run_seconds": end - loaded,
            "operations": {name: round(seconds, 6) for name, seconds in execution.seconds.items()},
            "worker_memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
        content: bytes | Path | Place = content_of(data, self._inline, self._files)
        if self._results is not None and isinstance(content, bytes):
            content = self._results.put(content) or content
        return Done(content, own_name(), len(data), self._facts(task.name, execution.result), report)

    def _facts(self, name: Name, result: Encryptions) -> dict[str, Any]:
        """Return what the store keeps of a result: the same for all of a task, and then told once."""
        if self._told[0] != name:
            identity = result.label.program
            facts = {
                "identity": identity.digest.hex(),
                "sections": {section: value.hex() for section, value in identity.sections},
                "key": result.label.key,
                "ciphertexts": len(result.ciphertexts),
            }
            self._told = name, facts
        return self._told[1]

    def _load(self, task: Task) -> Server:
        """Return the session of a program and keys."""
        if task.program is None or task.keys is None:
            raise Problem("internal", "the worker no longer holds these keys")
        program = Program.from_bytes(bytes_of(task.program), allow_insecure=self._insecure)
        return Server(program, Keys.from_bytes(bytes_of(task.keys)), threads=self._threads)


def content_of(data: bytes, inline: int, files: Files | None) -> bytes | Path:
    """Return a result as the server takes it: as bytes, or in a part file if it is long and there is a store."""
    return data if files is None or len(data) <= inline else files.write_part(data)


def bytes_of(source: Source, arena: Arena | None = None) -> bytes:
    """Return what a source holds."""
    match source:
        case Path():
            return source.read_bytes()
        case Place():
            assert arena is not None
            return bytes(arena.at(source.start, source.length))
        case Lent():
            return bytes(source.view)
    return source


def _array(value: Any) -> Any:
    """Return a plain argument: numbers of JSON as they are, bytes or files as numpy's arrays."""
    return array_of(bytes_of(value)) if isinstance(value, (bytes, Path)) else value


class Evaluator(Protocol):
    """Runs tasks: a `Worker`, or a remote proxy of one."""

    cache: Any

    def run(self, task: Task, progress: Told, ended: Callable[[Done | Failed], None]) -> None:
        """Tell the outcome of each of a task's jobs."""


def main(connection: Connection, wanted: Any, make: Callable[[], Evaluator]) -> None:
    """Serve tasks with what `make` makes until the server closes its end. Ctrl-C is the server's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    interrupt = _Interrupt(wanted)
    worker = make()
    try:
        connection.send("ready")
        while True:
            task: Task = connection.recv()
            connection.send((_outcomes(worker, interrupt, task, connection), _held(worker)))
    except (EOFError, OSError):
        return


def _outcomes(worker: Evaluator, interrupt: _Interrupt, task: Task, connection: Connection) -> list[Done | Failed]:
    """Return what became of each job; those that a signal kept from their end are cancelled."""
    outcomes: list[Done | Failed] = []
    told = 0.0

    def progress(place: int, done: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= 0.1:
            told = now
            interrupt.undisturbed(partial(connection.send, (place, done, total)))

    try:
        interrupt.run(task.number, partial(worker.run, task, progress, outcomes.append))
    except _Cancelled:
        worker.cache.drop(task.name)  # It may have been on its way in.
        missing = len(task.inputs) - len(outcomes)
        outcomes += [Failed("job_cancelled", "the job was cancelled", cancelled=True)] * missing
    return outcomes


def _held(worker: Evaluator) -> Held:
    return Held(worker.cache.names(), worker.cache.size, worker.cache.evictions)
