# SPDX-License-Identifier: Apache-2.0
"""A worker whose evaluation happens on a Ray cluster: this process hands tasks on to one actor and brings results.

```
server ── pipe ──> worker process (Distant) ── Ray ──> actor (There): programs with loaded keys, anywhere
```
To the server it is a worker like any other: when the actor or its node dies the process ends, a new one takes its place
and the task is done again. Cluster and server trust each other; bytes travel inside Ray's messages.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from ringsmith.runtime.cache import Name
from ringsmith.runtime.cluster import connect_ray
from ringsmith.service.arena import Arena
from ringsmith.service.files import Files
from ringsmith.service.worker import Done, Held, Outcomes, Source, Task, Told, Worker, bytes_of, content_of, held_by

#: Seconds between two looks at how far a task is.
_LOOK = 0.1
#: Exit status of a process whose actor is gone.
_GONE = 3


class There:
    """The actor: a worker of the service on whatever node it is placed."""

    def __init__(self, key_memory: int, threads: int, allow_insecure: bool) -> None:
        """Start without keys."""
        self._worker = Worker(None, key_memory, threads, 0, allow_insecure, None)
        self._progress = (0, 0, 0)

    def ready(self) -> None:
        """Answer once the engine is there."""

    def progress(self) -> tuple[int, int, int]:
        """Return which job of the task runs, how many of its operations are done, of how many; answered meanwhile."""
        return self._progress

    def run(self, task: Task) -> tuple[Outcomes, Held]:
        """Return the outcomes of a task's jobs, and the cache's contents after them."""

        def told(place: int, done: int, total: int) -> None:
            self._progress = place, done, total

        self._progress = 0, 0, 0
        outcomes = Outcomes()
        self._worker.run(task, told, outcomes)
        return outcomes, held_by(self._worker)


class _Told:
    """Contents of the actor's cache as last reported, with the interface of a cache."""

    def __init__(self) -> None:
        self.held = Held([], 0, 0)

    @property
    def size(self) -> int:
        return self.held.size

    @property
    def evictions(self) -> int:
        return self.held.evictions

    def names(self) -> list[Name]:
        return self.held.names

    def drop(self, name: Name) -> None:
        """Nothing: a cancelled task ends its actor, with all that it held."""


class Distant:
    """In place of a `Worker`: the same face, an actor behind it."""

    def __init__(
        self, address: str, store: Path, key_memory: int, threads: int, inline: int, insecure: bool,
        arena: Arena | None, index: int,
    ) -> None:  # fmt: skip
        """Join the cluster and place an actor there; returns when it answers."""
        connect_ray(address)
        self._options = key_memory, threads, insecure
        self._files, self._inline, self._arena = Files(store), inline, arena
        self._place()

    def _place(self) -> None:
        import ray

        self.cache = _Told()
        # Two methods at a time: `progress` is asked while `run` runs.
        made: Any = ray.remote(num_cpus=self._options[1])(There)
        self._actor = made.options(max_concurrency=2).remote(*self._options)
        ray.get(self._actor.ready.remote())

    def run(self, task: Task, progress: Told, outcomes: Outcomes) -> None:
        """Add the outcome of each of a task's jobs. The process ends if the actor is gone."""
        import ray

        inputs = [bytes_of(source, self._arena) for source in task.inputs]
        whole = replace(task, program=_read(task.program), keys=_read(task.keys), inputs=inputs)
        plain = {name: _read(value) if isinstance(value, Path) else value for name, value in task.plain.items()}
        try:
            running = self._actor.run.remote(replace(whole, plain=plain))
            while not ray.wait([running], timeout=_LOOK)[0]:
                place, done, total = ray.get(self._actor.progress.remote())
                if total:
                    progress(place, done, total)
            answer: tuple[Outcomes, Held] = ray.get(running)
            found, self.cache.held = answer
        except (ray.exceptions.RayError, ConnectionError):
            os._exit(_GONE)
        except BaseException:  # Cancelled: only the actor's end stops what it does.
            ray.kill(self._actor)
            self._place()
            raise
        for place, outcome in enumerate(found.each):
            if isinstance(outcome, Done) and isinstance(outcome.result, bytes):
                found.each[place] = outcome._replace(result=content_of(outcome.result, self._inline, self._files))
        vars(outcomes).update(vars(found))


def _read(source: Source | None) -> bytes | None:
    return None if source is None else bytes_of(source)
