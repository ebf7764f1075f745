# SPDX-License-Identifier: Apache-2.0
"""Short jobs that a worker has together: which are taken, and what the end of one means for the others."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from types import SimpleNamespace
from typing import Any

import pytest

from ringsmith.service import worker
from ringsmith.service.job import Job
from ringsmith.service.pool import Lost
from ringsmith.service.problems import Problem
from ringsmith.service.rows import Row
from ringsmith.service.scheduler import MAX_ATTEMPTS, Scheduler
from ringsmith.service.worker import Done, Failed, Outcomes, Task, Told

DONE = Done(b"result", 6, 0.001, {})
STOPPED = Failed("job_cancelled", "cancelled", cancelled=True)


def job_of(name: str, *, keys: bytes = b"k", plain: str = "{}", attempts: int = 0) -> Job:
    now = time.time()
    row = Row(1, name, 1, b"r", b"p", keys, b"i", plain, "queued", now, None, 0, None, None, None, now)

    async def keep(job: Job) -> None:
        raise AssertionError("nothing of these is to be written")

    return Job(row, {"cost": {"work": 1000}}, (1, 1), b"in", attempts, keep=keep)


class Nothing(Scheduler):
    """A scheduler without processes and store, whose jobs are never kept."""

    def __init__(self, workers: int = 1, seconds: float = 0.001) -> None:
        self.jobs, self._waiting, self.stopping = {}, OrderedDict[int, deque[Job]](), False
        self.pool: Any = SimpleNamespace(hands=[SimpleNamespace(ready=True, busy=0) for _ in range(workers)])
        self.speed: Any = SimpleNamespace(run=lambda *_: seconds, learn=lambda *_: None)
        self._metrics: Any = SimpleNamespace(ended=lambda *_: None, worker_deaths=SimpleNamespace(inc=lambda: None))

    def dispatch(self) -> None:
        """Start nothing."""

    def taken(self, *jobs: Job) -> list[str]:
        """Return the names of those that go together with the first."""
        for job in jobs:
            self._enqueue(job)
        first = self._next()
        assert first is not None
        return [job.row.id for job in (first, *self._alike(first))]


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([job_of("b"), job_of("c")], ["a", "b", "c"]),
        ([job_of("b"), job_of("c", keys=b"K"), job_of("d")], ["a", "b"]),
        ([job_of("b", plain="[1]"), job_of("c")], ["a"]),
        ([job_of("b", attempts=1), job_of("c")], ["a"]),
        ([job_of(str(number)) for number in range(40)], ["a", *map(str, range(19))]),
    ],
)
def test_those_that_are_alike_are_taken(others: list[Job], expected: list[str]) -> None:
    assert Nothing().taken(job_of("a"), *others) == expected


def test_long_jobs_and_those_that_died_go_alone_and_workers_share() -> None:
    four = "abcd"
    assert Nothing(seconds=0.015).taken(*map(job_of, four)) == ["a"]
    assert Nothing(workers=2).taken(*map(job_of, four)) == ["a", "b"]
    assert Nothing().taken(job_of("a", attempts=1), job_of("b")) == ["a"]


def ended(jobs: list[Job], outcomes: Any) -> Nothing:
    own = Nothing()
    for job in jobs:
        own.jobs[job.key] = job
    own._ended(jobs, outcomes if isinstance(outcomes, Lost) else Outcomes(outcomes))
    return own


def test_a_cancelled_job_takes_none_with_it() -> None:
    jobs = [job_of(name) for name in "abcd"]
    jobs[1].stop = Problem("job_cancelled", "cancelled")
    own = ended(jobs, [DONE, STOPPED, STOPPED, STOPPED])
    assert jobs[0].state == "done"
    assert jobs[0].result == b"result"
    assert [job.row.id for job in own._waiting[1]] == ["c", "d"]
    assert [job.attempts for job in jobs] == [0, 0, 0, 0]


def test_one_that_is_overdue_fails_alone() -> None:
    jobs = [job_of(name) for name in "abc"]
    jobs[0].stop = Problem("over_quota", "too long")
    own = ended(jobs, [STOPPED, STOPPED, STOPPED])
    assert jobs[0].state == "failed"
    assert jobs[0].problem is not None
    assert jobs[0].problem.more["cause"] == "over_quota"
    assert [job.row.id for job in own._waiting[1]] == ["b", "c"]


def test_a_death_counts_for_all_and_the_third_is_the_end() -> None:
    jobs = [job_of("a", attempts=MAX_ATTEMPTS - 1), job_of("b")]
    own = ended(jobs, Lost(begun=True))
    assert jobs[0].state == "failed"
    assert [job.row.id for job in own._waiting[1]] == ["b"]
    assert jobs[1].attempts == 1
    own = ended([jobs[1]], Lost(begun=False))
    assert jobs[1].attempts == 1


class Stops:
    """An evaluator whose second job is told to stop."""

    def __init__(self) -> None:
        self.dropped: list[Any] = []
        self.cache = SimpleNamespace(drop=self.dropped.append)

    def run(self, task: Task, progress: Told, outcomes: Outcomes) -> None:
        outcomes.each.append(DONE)
        raise worker._Cancelled


def test_a_worker_tells_what_was_done_before_a_signal() -> None:
    task = Task(7, (b"p", b"k"), None, None, (1, 1), [b"1", b"2", b"3"], {})
    stops = Stops()
    at_once: Any = SimpleNamespace(run=lambda _, action: action())
    outcomes = worker._outcomes(stops, at_once, task, None).each  # type: ignore[arg-type]
    assert outcomes[0] == DONE
    assert all(isinstance(one, Failed) and one.cancelled for one in outcomes[1:])
    assert len(outcomes) == 3
    assert stops.dropped == [task.name]
