# SPDX-License-Identifier: Apache-2.0
"""Cycles of points: the engine plans the very program for each build and times the plan, without data or keys.

Workers are processes that hold the programs as bytes; what they return does not depend on which of them worked when.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from multiprocessing import get_context
from types import TracebackType
from typing import Any, Protocol

from ringsmith import _native
from ringsmith.errors import DeviceError, RingsmithError, ToolError
from ringsmith.presets import Preset

#: A program's bytes and how its parameters are judged.
Packed = tuple[bytes, dict[str, Any]]
#: Usage of the device, or why the build does not take the program.
Result = dict[str, Any] | str
#: A program's name, a build, runs of the program as a batch.
Task = tuple[str, Preset, int]
#: How often work that a dead worker had is done again.
ATTEMPTS = 3

_programs: dict[str, _native.Program] = {}


class Predicts(Protocol):
    """An evaluator: workers of this machine or of a cluster."""

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yield (number of the task, result) as they are done."""
        ...


class Evaluator(AbstractContextManager["Evaluator"]):
    """Predicts programs on builds, in `jobs` processes; one works here."""

    def __init__(self, programs: Mapping[str, Packed], jobs: int) -> None:
        """Take the programs by name."""
        self._packed = dict(programs)
        self.jobs = jobs
        self._pool = self._opened() if jobs > 1 else None
        if self._pool is None:
            load(self._packed)

    def _opened(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.jobs, get_context("spawn"), initializer=_start, initargs=(self._packed,))

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yield (number of the task, result) as they are done; what a worker that dies had is done again."""
        if self._pool is None:
            yield from ((number, predicted(*task)) for number, task in enumerate(tasks))
            return
        left = dict(enumerate(tasks))
        for _ in range(ATTEMPTS):
            try:
                for number, result in self._finished(left):
                    del left[number]
                    yield number, result
                return
            except BrokenProcessPool:
                self._pool = self._opened()
        raise ToolError(f"a worker died {ATTEMPTS} times, {len(left)} points left; fewer --jobs take less memory")

    def _finished(self, tasks: Mapping[int, Task]) -> Iterator[tuple[int, Result]]:
        assert self._pool is not None
        try:
            waiting: dict[Future[Result], int] = {
                self._pool.submit(predicted, *task): number for number, task in list(tasks.items())
            }
        except OSError as error:
            # A pool whose workers died closes its pipes while it may still start others.
            raise BrokenProcessPool("its pipes are closed") from error
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield waiting.pop(future), future.result()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the workers; what they have begun is given up."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def predicted(program: str, preset: Preset, runs: int = 1) -> Result:
    """Return the usage of a device with a preset after a batch of a loaded program, or why it cannot run it."""
    try:
        return _native.predict(_programs[program], list(preset.operations), preset.numbers(), preset.port_memory, runs)
    except DeviceError as error:
        return str(error)


def _start(packed: Mapping[str, Packed]) -> None:
    """Begin a worker: an interrupt is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load(packed)


def load(packed: Mapping[str, Packed]) -> None:
    """Read the programs that `predicted` names.

    Raises:
        ToolError: bytes that are no program.
    """
    _programs.clear()
    for name, (data, policy) in packed.items():
        try:
            _programs[name] = _native.Program.from_bytes(data, **policy)
        except RingsmithError as error:
            raise ToolError(f"the program for {name} cannot be handed to a worker: {error}") from None
