# SPDX-License-Identifier: Apache-2.0
"""Predictions on a Ray cluster: tasks of some points each, the programs in its object store, the same results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from ringsmith.errors import ToolError
from ringsmith.explore.evaluate import ATTEMPTS, Packed, Result, Task, load, predicted
from ringsmith.runtime.cluster import connect_ray

#: Points of a task: what the last one has left to do is small.
_POINTS = 4

_loaded: list[str] = []


class ClusterEvaluator(AbstractContextManager["ClusterEvaluator"]):
    """Predicts programs on builds, on all cores of a cluster; what a worker that dies had is done again."""

    def __init__(self, programs: Mapping[str, Packed], address: str) -> None:
        """Join a cluster and put the programs there.

        Raises:
            InputError: no cluster at this address, or ray is not installed.
        """
        self._where = connect_ray(address)
        import ray

        self._programs = ray.put(dict(programs))
        self._task: Any = ray.remote(max_retries=ATTEMPTS)(_some)

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yield (number of the task, result) as they are done."""
        import ray

        starts = range(0, len(tasks), _POINTS)
        waiting = {self._task.remote(self._key, self._programs, tasks[i : i + _POINTS]): i for i in starts}
        while waiting:
            done, _ = ray.wait(list(waiting))
            for one in done:
                first = waiting.pop(one)
                try:
                    results: list[Result] = ray.get(one)
                except ray.exceptions.RayError as error:
                    reason = (str(error).splitlines() or [""])[0]
                    raise ToolError(f"the cluster gave up some points: {reason[:200]}") from None
                yield from ((first + number, result) for number, result in enumerate(results))

    @property
    def _key(self) -> str:
        return str(self._programs)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the cluster; what is under way there is given up."""
        import ray

        ray.shutdown()


def _some(key: str, programs: Mapping[str, Packed], tasks: Sequence[Task]) -> list[Result]:
    """Predict some points in a worker; programs stay loaded from task to task."""
    if _loaded != [key]:
        load(programs)
        _loaded[:] = [key]
    return [predicted(*task) for task in tasks]
