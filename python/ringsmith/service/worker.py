# SPDX-License-Identifier: Apache-2.0
"""A worker process: holds evaluation keys, runs one task at a time; spawned, never forked; it ends with its server."""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from ringsmith.errors import RingsmithError
from ringsmith.runtime import frames
from ringsmith.runtime.arrays import array_of
from ringsmith.runtime.cache import Cache, Name, TooLargeError
from ringsmith.runtime.messages import Keys
from ringsmith.runtime.program import Program
from ringsmith.runtime.server import Answer, Progress, Server
from ringsmith.service.arena import Arena, Place
from ringsmith.service.files import Files
from ringsmith.service.problems import Problem, of_error

T = TypeVar("T")
#: A blob's bytes, or the file or the place in the arena that holds them.
Source = bytes | Path | Place
#: Evaluates a message and returns the result's.
Answering = Callable[[bytes | memoryview, Progress | None], Answer]
#: Told the place of a job in its task, how many of its operations are done, of how many.
Told = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Task:
    """Jobs as a worker needs them, alike but for their inputs.

    `program` and `keys` are None where the worker is known to hold them; `held`: bytes that each takes there. `names`:
    of the jobs, where their results are to be frames.
    """

    number: int
    name: Name
    program: Source | None
    keys: Source | None
    held: tuple[int, int]
    inputs: Sequence[Source]
    plain: dict[str, Any]
    names: Sequence[str] | None = None


@dataclass(frozen=True)
class Held:
    """The keys and programs in a worker's cache after a task."""

    names: list[Name]
    size: int
    evictions: int


class Done(NamedTuple):
    """A result; large ones lie in a part file. Seconds: of the run, and by kind of operation."""

    result: bytes | Path | Place
    size: int
    run_seconds: float
    operations: Mapping[str, float]


class Failed(NamedTuple):
    """A job without result: a problem's code and message; `cancelled` when it was told to stop."""

    code: str
    message: str
    cancelled: bool = False


@dataclass
class Outcomes:
    """What became of a task's jobs, in order, and what they have in common.

    `facts`: of the results. `warm`: whether the keys were held; `load_seconds` if not; `memory`: the worker's bytes.
    `frames` in place of `each`: one for each result, where all have one; seconds are then those of all.
    """

    each: list[Done | Failed] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    warm: bool = True
    load_seconds: float = 0.0
    memory: int = 0
    frames: bytes | Place | None = None
    run_seconds: float = 0.0
    operations: dict[str, float] = field(default_factory=dict)

    def frame(self, place: Place) -> None:
        """Replace the results by their frames at a place."""
        for one in self.each:
            assert isinstance(one, Done), "a frame for each result"
            self.run_seconds += one.run_seconds
            for name, seconds in one.operations.items():
                self.operations[name] = self.operations.get(name, 0.0) + seconds
        self.each, self.frames = [], place

    def unframe(self) -> None:
        """Split joined results into single ones, each with an equal share of the seconds."""
        if self.frames is None:
            return
        assert isinstance(self.frames, bytes), "results that were not copied"
        found = list(frames.places(self.frames))
        operations = {name: seconds / len(found) for name, seconds in self.operations.items()}
        for _, _, start, size in found:
            result = self.frames[start : start + size]
            self.each.append(Done(result, size, self.run_seconds / len(found), operations))
        self.frames = None


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


@dataclass(frozen=True)
class _Loaded:
    """A program with keys, and the facts of its results."""

    server: Server
    facts: dict[str, Any]


class Worker:
    """The state of a worker process: its store, and its cache of programs and of keys loaded for them."""

    def __init__(
        self, store: Path | None, key_memory: int, threads: int, inline: int, allow_insecure: bool,
        arena: Arena | None, index: int = 0,
    ) -> None:  # fmt: skip
        """Start without keys. Results longer than `inline` go to the store; without one they are bytes too.

        `arena`: where arguments may lie, and results of the worker of this `index`.
        """
        self._arena, self._results = arena, None if arena is None else arena.results(index)
        self._files = None if store is None else Files(store)
        self._threads, self._inline = threads, inline
        self._insecure = allow_insecure
        self.cache: Cache[Any] = Cache(key_memory)

    def run(self, task: Task, progress: Told, outcomes: Outcomes) -> None:
        """Add the outcome of each of a task's jobs; no input of a tenant raises."""
        if self._results is not None:
            self._results.clear()
        outcomes.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        answer = _caught(lambda: self._answering(task, outcomes))
        for place, source in enumerate(task.inputs):
            if isinstance(answer, Failed):
                outcomes.each.append(answer)
            else:
                name = None if task.names is None else task.names[place]
                outcomes.each.append(_caught(partial(self._done, answer, source, name, partial(progress, place))))
        if task.names and self._results is not None and self._results.frames == len(task.names):
            outcomes.frame(self._results.whole())

    def _answering(self, task: Task, outcomes: Outcomes) -> Answering:
        """Return what evaluates the task's messages: keys loaded, plain arguments read."""
        start = time.perf_counter()
        of_program, of_keys = task.held
        if of_program + of_keys > self.cache.limit:
            raise TooLargeError(f"keys of {of_program + of_keys} bytes; a worker holds {self.cache.limit}")
        own = task.name[0], b""
        program = self.cache.take(own, of_program, partial(self._program, task))[0]
        loaded, outcomes.warm = self.cache.take(task.name, of_keys, partial(self._load, task, program, of_keys))
        self.cache.take(own, of_program, lambda: program)  # Used after its keys, so none of them outlives it.
        outcomes.load_seconds, outcomes.facts = time.perf_counter() - start, loaded.facts
        server: Server = loaded.server
        return server.answering({name: _array(value) for name, value in task.plain.items()})

    def _done(self, answer: Answering, source: Source, name: str | None, progress: Callable[[int, int], None]) -> Done:
        start = time.perf_counter()
        data, operations = answer(view_of(source, self._arena), progress)
        content: bytes | Path | Place = content_of(data, self._inline, self._files)
        if self._results is not None and isinstance(content, bytes):
            content = self._results.put(content, name) or content
        return Done(content, len(data), time.perf_counter() - start, operations)

    def _program(self, task: Task) -> Program:
        return Program.from_bytes(bytes_of(_there(task.program)), allow_insecure=self._insecure)

    def _load(self, task: Task, program: Program, of_keys: int) -> _Loaded:
        """Return the session of a program and keys, which take `of_keys` bytes as they came and loaded."""
        # Nothing stays between runs beside what `cost.held` counts.
        data = bytes_of(_there(task.keys))
        keys = Keys.from_bytes(data)
        room = _room(program, of_keys - len(data))
        server = Server(program, keys, threads=self._threads, memory=0, key_memory=room)
        facts = {
            "identity": program.identity.digest.hex(),
            "sections": {section: value.hex() for section, value in program.identity.sections},
            "key": server.keys.label.key,
            "ciphertexts": len(program.native.outputs()),
        }
        return _Loaded(server, facts)


def _room(program: Program, loaded: int) -> int | None:
    """Return the bytes that the keys of refreshes may take where all keys take `loaded`; None for all they want."""
    own = program.native.bootstrapping
    given_up = int(program.native.cost()["keys"]) - loaded
    return None if own is None or given_up <= 0 else max(own.key_memory[1] - given_up, own.key_memory[0])


def _there(source: Source | None) -> Source:
    if source is None:
        raise Problem("internal", "the worker no longer holds these keys")
    return source


def _caught(action: Callable[[], T]) -> T | Failed:
    """Return what an action returns, or the failure that its error is."""
    try:
        return action()
    except TooLargeError as error:
        return Failed("over_quota", str(error))
    except RingsmithError as error:
        problem = of_error(error)
        return Failed(problem.code, problem.message)
    except Problem as problem:
        return Failed(problem.code, problem.message)
    except MemoryError:
        return Failed("over_quota", "this machine has not enough memory for the job")


def content_of(data: bytes, inline: int, files: Files | None) -> bytes | Path:
    """Return a result as the server takes it: as bytes, or in a part file if it is long and there is a store."""
    return data if files is None or len(data) <= inline else files.write_part(data)


def view_of(source: Source, arena: Arena | None) -> bytes | memoryview:
    """Return what a source holds; of what lies in the arena no copy is made."""
    if isinstance(source, tuple):
        assert arena is not None
        return arena.at(*source)
    return source.read_bytes() if isinstance(source, Path) else source


def bytes_of(source: Source, arena: Arena | None = None) -> bytes:
    """Return a copy of what a source holds."""
    return bytes(view_of(source, arena))


def _array(value: Any) -> Any:
    """Return a plain argument: numbers of JSON as they are, bytes or files as numpy's arrays."""
    return array_of(bytes_of(value)) if isinstance(value, (bytes, Path)) else value


class Evaluator(Protocol):
    """Runs tasks: a `Worker`, or a remote proxy of one."""

    cache: Any

    def run(self, task: Task, progress: Told, outcomes: Outcomes) -> None:
        """Add the outcome of each of a task's jobs."""


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
            connection.send((_outcomes(worker, interrupt, task, connection), held_by(worker)))
    except (EOFError, OSError):
        return


def _outcomes(worker: Evaluator, interrupt: _Interrupt, task: Task, connection: Connection) -> Outcomes:
    """Return what became of each job; those that a signal kept from their end are cancelled."""
    outcomes = Outcomes()
    told = 0.0

    def progress(place: int, done: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= 0.1:
            told = now
            interrupt.undisturbed(partial(connection.send, (place, done, total)))

    try:
        interrupt.run(task.number, partial(worker.run, task, progress, outcomes))
    except _Cancelled:
        worker.cache.drop(task.name)  # It may have been on its way in.
        missing = 0 if outcomes.frames else len(task.inputs) - len(outcomes.each)
        outcomes.each += [Failed("job_cancelled", "the job was cancelled", cancelled=True)] * missing
    return outcomes


def held_by(worker: Evaluator) -> Held:
    """Return the keys and programs in a worker's cache."""
    names = [name for name in worker.cache.names() if name[1]]  # Programs have no keys' hash.
    return Held(names, worker.cache.size, worker.cache.evictions)
