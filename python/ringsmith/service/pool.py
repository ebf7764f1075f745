# SPDX-License-Identifier: Apache-2.0
"""Worker processes and the lines to them; one that dies is replaced."""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import os
import pickle
import signal
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from ringsmith.runtime.cache import Name
from ringsmith.service import distant, worker
from ringsmith.service.arena import Arena
from ringsmith.service.logs import log
from ringsmith.service.settings import Settings
from ringsmith.service.worker import Done, Outcomes, Task, Told

#: Seconds that a worker gets to notice that its task was cancelled.
_PATIENCE = 5.0
#: Seconds before the next try when a worker died while it started.
_PAUSE = 1.0
_SPAWN = multiprocessing.get_context("spawn")
#: Longest message whose length `multiprocessing.connection.Connection` writes in 4 bytes.
_SHORT = 0x7FFFFFFF


@dataclass(frozen=True)
class Lost:
    """The worker died, or was killed, while it had a task; `begun` is False if it never got it."""

    begun: bool


@dataclass
class Hand:
    """One worker as the server sees it. `held` and `size`: its keys; `busy`: the number of its task, 0 for none."""

    index: int
    held: list[Name] = field(default_factory=list)
    size: int = 0
    evictions: int = 0
    busy: int = 0
    process: Any = None
    ready: bool = False
    restarts: int = 0
    line: _Line | None = None
    order: _Order | None = None


@dataclass(frozen=True)
class _Order:
    """A task, and the future that gets its result."""

    task: Task
    progress: Told
    ended: Callable[[Outcomes | Lost], None]
    sent: bool


class _Line(asyncio.Protocol):
    """The server's end of a worker's pipe, in the framing of `multiprocessing.connection.Connection`; no thread."""

    def __init__(self, heard: Callable[[Any], None]) -> None:
        """Call `heard` with each message."""
        self._heard, self._data, self._wanted = heard, bytearray(), 0
        self._transport: asyncio.Transport | None = None
        self.gone = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what to write to."""
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Mark the worker as gone."""
        self._transport = None
        if not self.gone.done():
            self.gone.set_result(None)

    def data_received(self, data: bytes) -> None:
        """Cut what came into messages."""
        self._data += data
        while len(self._data) >= self._wanted:
            head = 4 if self._data[:4] != b"\xff\xff\xff\xff" else 12
            if len(self._data) < head:
                return
            length = struct.unpack("!i" if head == 4 else "!4xQ", self._data[:head])[0]
            self._wanted = head + length
            if len(self._data) < self._wanted:
                return
            message = pickle.loads(memoryview(self._data)[head : self._wanted])
            del self._data[: self._wanted]
            self._wanted = 0
            self._heard(message)

    def send(self, message: Any) -> bool:
        """Send a message; False if the worker is gone."""
        if self._transport is None or self._transport.is_closing():
            return False
        data = pickle.dumps(message, 5)
        head = struct.pack("!i", len(data)) if len(data) <= _SHORT else struct.pack("!iQ", -1, len(data))
        self._transport.writelines((head, data))
        return True

    def close(self) -> None:
        """Close this end."""
        if self._transport is not None:
            self._transport.abort()


class Pool:
    """All workers. Everything happens in the event loop's thread, but for starting and burying processes."""

    def __init__(self, settings: Settings, arena: Arena | None, changed: Callable[[], None]) -> None:
        """Start the workers; `changed` is called when one gets ready."""
        self._settings, self._arena, self._changed = settings, arena, changed
        self._loop = asyncio.get_running_loop()
        self._stopping = False
        self._numbers = itertools.count(1)
        self.hands = [Hand(index) for index in range(settings.workers)]
        self._wanted = [_SPAWN.Value("q", 0, lock=False) for _ in self.hands]
        self._lives = [asyncio.ensure_future(self._live(hand)) for hand in self.hands]

    def number(self) -> int:
        """Return a new task's number."""
        return next(self._numbers)

    def idle(self, name: Name) -> Hand | None:
        """Return a worker without a task: one that holds the keys if there is one, else the emptiest."""
        free = [hand for hand in self.hands if hand.ready and not hand.busy]
        return min(free, key=lambda hand: (name not in hand.held, hand.size), default=None)

    def start(
        self,
        hand: Hand,
        task: Task,
        progress: Told,
        ended: Callable[[Outcomes | Lost], None],
    ) -> None:
        """Give an idle worker a task. `ended` is called once, when the worker is free again."""
        hand.busy = task.number
        # One that is gone already is mourned soon, by its line's end.
        sent = hand.line is not None and hand.line.send(task)
        hand.order = _Order(task, progress, ended, sent)

    def cancel(self, number: int) -> None:
        """Stop a task: by a signal that its run notices, by the worker's end if it does not."""
        for hand in self.hands:
            if hand.busy == number and hand.process is not None:
                self._wanted[hand.index].value = number
                with suppress(OSError, TypeError, ValueError):  # The worker may have ended already.
                    os.kill(hand.process.pid, signal.SIGUSR1)
                self._loop.call_later(_PATIENCE, self._insist, hand, number)

    def _insist(self, hand: Hand, number: int) -> None:
        if hand.busy == number and hand.process is not None:
            log("worker_killed", worker=hand.index)
            with suppress(OSError, ValueError):
                hand.process.kill()

    def stop(self) -> None:
        """End all workers, whatever they do."""
        self._stopping = True
        for hand in self.hands:
            with suppress(OSError, ValueError):
                if hand.process is not None:
                    hand.process.kill()

    async def join(self) -> None:
        """Wait until the workers are gone, a second at most."""
        _, late = await asyncio.wait(self._lives, timeout=1.0)
        for life in late:
            life.cancel()

    # ---------------------------------------------------------------- one worker's life

    async def _live(self, hand: Hand) -> None:
        while not self._stopping:
            line = _Line(lambda message: self._heard(hand, message))
            process = await self._spawned(hand, line)
            if process is not None:
                await line.gone
                line.close()
                started = hand.ready
                self._mourn(hand)
                await asyncio.to_thread(_buried, process)
                if started:
                    continue
            if not self._stopping:
                await asyncio.sleep(_PAUSE)  # A machine in trouble is not helped by a storm of new processes.

    async def _spawned(self, hand: Hand, line: _Line) -> Any:
        """Start a worker; None if that failed."""
        settings = self._settings
        ours, theirs = _SPAWN.Pipe()
        evaluates = (
            settings.store, settings.worker_key_memory, settings.threads, settings.inline, settings.allow_insecure,
            self._arena, hand.index,
        )  # fmt: skip
        make: Callable[[], worker.Evaluator] = partial(worker.Worker, *evaluates)
        if settings.ray is not None:
            make = partial(distant.Distant, settings.ray, *evaluates)
        arguments = theirs, self._wanted[hand.index], make
        process = _SPAWN.Process(target=worker.main, args=arguments, name=f"ringsmith-worker-{hand.index}", daemon=True)
        try:
            end = socket.socket(fileno=os.dup(ours.fileno()))
            end.setblocking(False)
            await self._loop.create_unix_connection(lambda: line, sock=end)
            await asyncio.to_thread(process.start)
        except OSError as error:
            log("worker_not_started", worker=hand.index, kind=type(error).__name__)
            line.close()
            return None
        finally:
            ours.close()
            theirs.close()
        hand.process, hand.line = process, line
        if self._stopping:
            process.kill()
        return process

    def _heard(self, hand: Hand, message: Any) -> None:
        if isinstance(message, str):  # Ready: the engine is loaded.
            hand.ready, hand.held, hand.size = True, [], 0
            self._changed()
            return
        order = hand.order
        if order is None:
            return
        if isinstance(message[0], int):
            order.progress(*message)
            return
        outcomes, held = message
        self._take_out(outcomes)
        hand.busy, hand.order = 0, None
        hand.held, hand.size, hand.evictions = held.names, held.size, held.evictions
        order.ended(outcomes)

    def _take_out(self, outcomes: Outcomes) -> None:
        """Take results out of the arena, where the worker's next ones go."""
        if isinstance(outcomes.frames, tuple):
            assert self._arena is not None
            outcomes.frames = bytes(self._arena.at(*outcomes.frames))
        for place, outcome in enumerate(outcomes.each):
            if isinstance(outcome, Done) and isinstance(outcome.result, tuple):
                assert self._arena is not None
                outcomes.each[place] = Done(bytes(self._arena.at(*outcome.result)), *outcome[1:])

    def _mourn(self, hand: Hand) -> None:
        order = hand.order
        hand.process, hand.line, hand.ready, hand.held, hand.size, hand.busy = None, None, False, [], 0, 0
        hand.order = None
        hand.restarts += 1
        if order is not None:
            order.ended(Lost(order.sent))


def _buried(process: Any) -> None:
    process.kill()
    process.join()
    process.close()
