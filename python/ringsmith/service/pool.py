# SPDX-License-Identifier: Apache-2.0
"""Worker processes and the threads that talk with them; one that dies is replaced."""

from __future__ import annotations

import asyncio
import itertools
import logging
import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ringsmith.service import worker
from ringsmith.service.cache import Name
from ringsmith.service.logs import log
from ringsmith.service.settings import Settings
from ringsmith.service.worker import Done, Failed, Held, Task

#: Seconds that a worker gets to notice that its task was cancelled.
_PATIENCE = 5.0
_SPAWN = multiprocessing.get_context("spawn")


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


@dataclass(frozen=True)
class _Order:
    """A task, and whom to tell."""

    task: Task
    progress: Callable[[int, int], None]
    ended: Callable[[Done | Failed | Lost], None]


class Pool:
    """All workers. Its methods are called in the event loop's thread, and so is what they call back."""

    def __init__(self, settings: Settings, changed: Callable[[], None]) -> None:
        """Start the workers; `changed` is called when one gets ready."""
        self._settings, self._changed = settings, changed
        self._loop = asyncio.get_running_loop()
        self._stopping = False
        self._numbers = itertools.count(1)
        self.hands = [Hand(index) for index in range(settings.workers)]
        self._wanted = [_SPAWN.Value("q", 0, lock=False) for _ in self.hands]
        self._orders: list[queue.SimpleQueue[_Order | None]] = [queue.SimpleQueue() for _ in self.hands]
        self._threads = [
            threading.Thread(target=self._serve, args=(hand,), name=f"worker-{hand.index}", daemon=True)
            for hand in self.hands
        ]
        for thread in self._threads:
            thread.start()

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
        progress: Callable[[int, int], None],
        ended: Callable[[Done | Failed | Lost], None],
    ) -> None:
        """Give an idle worker a task. `ended` is called once, when the worker is free again."""
        hand.busy = task.number
        self._orders[hand.index].put(_Order(task, progress, ended))

    def cancel(self, number: int) -> None:
        """Stop a task: by a signal that its run notices, by the worker's end if it does not."""
        for hand in self.hands:
            if hand.busy == number and hand.process is not None:
                self._wanted[hand.index].value = number
                with suppress(OSError, TypeError, ValueError):  # It may be gone, and its thread may know already.
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
        for hand, orders in zip(self.hands, self._orders, strict=True):
            orders.put(None)
            with suppress(OSError, ValueError):
                if hand.process is not None:
                    hand.process.kill()

    def join(self) -> None:
        """Wait until the threads are gone, a second at most."""
        for thread in self._threads:
            thread.join(1.0)

    # ---------------------------------------------------------------- in a worker's own thread

    def _serve(self, hand: Hand) -> None:
        orders = self._orders[hand.index]
        process = connection = order = None
        while not self._stopping:
            begun = False
            try:
                if connection is None:
                    process, connection = self._spawn(hand)
                    self._tell(self._welcome, hand, process)
                order = orders.get() if order is None else order
                if order is None:
                    break
                connection.send(order.task)
                begun = True
                while not isinstance((message := connection.recv())[0], Done | Failed):
                    self._tell(order.progress, *message)
                outcome, held = message
                self._tell(self._free, hand, order, outcome, held)
            except Exception as error:  # EOFError and OSError: it died. Whatever it was, another takes its place.
                if not isinstance(error, EOFError | OSError):
                    log("defect", logging.ERROR, kind=type(error).__name__, place="pool")
                if process is not None:
                    process.kill()
                    process.join()
                    process.close()
                if connection is not None:
                    connection.close()
                process = connection = None
                self._tell(self._mourn, hand, order, begun)
            order = None
        if process is not None:
            process.kill()
            process.join()

    def _spawn(self, hand: Hand) -> tuple[Any, Any]:
        settings = self._settings
        ours, theirs = _SPAWN.Pipe()
        arguments = (
            theirs, self._wanted[hand.index], settings.store, settings.worker_key_memory, settings.threads,
            settings.inline, settings.allow_insecure,
        )  # fmt: skip
        process = _SPAWN.Process(target=worker.main, args=arguments, name=f"ringsmith-worker-{hand.index}", daemon=True)
        try:
            process.start()
            theirs.close()
            ours.recv()  # Ready: the engine is loaded.
        except (EOFError, OSError):
            ours.close()
            process.kill()
            threading.Event().wait(1.0)  # A machine in trouble is not helped by a storm of new processes.
            raise
        return process, ours

    def _tell(self, function: Callable[..., None], *values: Any) -> None:
        with suppress(RuntimeError):  # The loop has ended: nobody is there to be told.
            self._loop.call_soon_threadsafe(function, *values)

    # ---------------------------------------------------------------- in the event loop's thread

    def _welcome(self, hand: Hand, process: Any) -> None:
        hand.process, hand.ready, hand.held, hand.size = process, True, [], 0
        self._changed()

    def _free(self, hand: Hand, order: _Order, outcome: Done | Failed, held: Held) -> None:
        hand.busy, hand.held, hand.size, hand.evictions = 0, held.names, held.size, held.evictions
        order.ended(outcome)

    def _mourn(self, hand: Hand, order: _Order | None, begun: bool) -> None:
        hand.process, hand.ready, hand.held, hand.size, hand.busy = None, False, [], 0, 0
        hand.restarts += 1
        if order is not None:
            order.ended(Lost(begun))
