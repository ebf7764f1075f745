# SPDX-License-Identifier: Apache-2.0
"""Short jobs that a worker has together: which are taken, and what the end of one means for the others."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ringsmith.runtime import frames
from ringsmith.service import worker
from ringsmith.service.bunch import Bunch, Bunches
from ringsmith.service.ends import Ends
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
        self.jobs, self._waiting, self.stopping = {}, OrderedDict[int, deque[Job | Bunch]](), False
        self.bunches, self._more, self._ends = Bunches(), 0, Ends(cast(Any, None), self._told)
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
        assert isinstance(first, Job)
        return [job.row.id for job in (first, *self._alike(first))]


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([job_of("b"), job_of("c")], ["a", "b", "c"]),
        ([job_of("b"), job_of("c", keys=b"K"), job_of("d")], ["a", "b"]),
        ([job_of("b", plain="[1]"), job_of("c")], ["a"]),
        ([job_of("b", attempts=1), job_of("c")], ["a"]),
        ([job_of(str(number)) for number in range(40)], ["a", *map(str, range(31))]),
    ],
)
def test_those_that_are_alike_are_taken(others: list[Job], expected: list[str]) -> None:
    assert Nothing().taken(job_of("a"), *others) == expected


def test_long_jobs_and_those_that_died_go_alone_and_workers_share() -> None:
    four = "abcd"
    assert Nothing(seconds=0.03).taken(*map(job_of, four)) == ["a"]
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
    assert waiting(own) == ["c", "d"]
    assert [job.attempts for job in jobs] == [0, 0, 0, 0]


def test_one_that_is_overdue_fails_alone() -> None:
    jobs = [job_of(name) for name in "abc"]
    jobs[0].stop = Problem("over_quota", "too long")
    own = ended(jobs, [STOPPED, STOPPED, STOPPED])
    assert jobs[0].state == "failed"
    assert jobs[0].problem is not None
    assert jobs[0].problem.more["cause"] == "over_quota"
    assert waiting(own) == ["b", "c"]


def waiting(own: Nothing) -> list[str]:
    """Return the names of the jobs that wait, in order."""
    return [job.row.id for job in own._waiting[1] if isinstance(job, Job)]


def test_a_death_counts_for_all_and_the_third_is_the_end() -> None:
    jobs = [job_of("a", attempts=MAX_ATTEMPTS - 1), job_of("b")]
    own = ended(jobs, Lost(begun=True))
    assert jobs[0].state == "failed"
    assert waiting(own) == ["b"]
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


def bunch_of(count: int, prefix: str = "x") -> Bunch:
    """Return a bunch of so many jobs."""
    plan: Any = SimpleNamespace(
        tenant=SimpleNamespace(number=1), plain="{}", held=(1, 1),
        program=SimpleNamespace(digest=b"p", facts={"cost": {"work": 1000}}), keys=SimpleNamespace(digest=b"k"),
    )  # fmt: skip
    return Bunch(plan, [(f"{prefix}{n}", b"in") for n in range(count)], lambda own: [job_of(id) for id, _ in own.sent])


def test_what_a_bunch_becomes_waits_where_it_waited() -> None:
    own, bunch = Nothing(), bunch_of(3)
    own._enqueue(job_of("a"))
    own.add_bunch(bunch)
    own._enqueue(job_of("b"))
    own.add_bunch(bunch_of(2, "y"))
    assert (len(own), own.unfinished(1), own.unfinished(2)) == (7, 7, 0)
    assert own.bunches.needing(1, b"p") == own.bunches.needing(1, b"k") == "x0"
    assert own.bunches.needing(2, b"p") is own.bunches.needing(1, b"q") is None
    found = own.job((1, "x1"))
    assert found is not None
    assert found.state == "queued"
    assert waiting(own) == ["a", "x0", "x1", "x2", "b"]
    assert (len(own), own.unfinished(1)) == (7, 7)
    assert own.unfold(bunch) == [own.jobs[1, name] for name in ("x0", "x1", "x2")]  # Once only.
    assert own.job((2, "x1")) is own.job((1, "z")) is None


def running(count: int) -> tuple[Nothing, Bunch]:
    """Return a bunch that a worker has."""
    own, bunch = Nothing(), bunch_of(count)
    own.add_bunch(bunch)
    assert own._next() is bunch
    own._more -= count - 1
    bunch.task, bunch.started = 7, 1.0
    return own, bunch


def results(count: int) -> Outcomes:
    """Return what a worker tells of results in frames."""
    found = Outcomes(memory=1, run_seconds=3.0, operations={"add": 6.0})
    found.frames = b"".join(frames.head(f"x{n}", 200, 2) + b"r%d" % n for n in range(count))
    return found


def test_a_bunch_is_answered_as_one() -> None:
    own, bunch = running(3)
    own._bunch_ended(bunch, results(3))
    assert bunch.frames == results(3).frames
    assert (len(own), own.unfinished(1), own.jobs, len(bunch.sent)) == (0, 0, {}, 0)


def test_one_that_is_asked_for_while_it_runs_has_its_own_result() -> None:
    own, bunch = running(3)
    own._bunch_progress(bunch, 1, 2, 9)
    job = own.job((1, "x1"))
    assert job is not None
    assert (job.state, job.task, job.started, job.progress) == ("running", 7, 1.0, (2, 9))
    own._bunch_progress(bunch, 2, 1, 9)
    assert own.jobs[1, "x2"].progress == (1, 9)
    own._bunch_ended(bunch, results(3))
    assert bunch.frames is None
    assert bunch.jobs is not None
    assert [one.result for one in bunch.jobs] == [b"r0", b"r1", b"r2"]
    assert own.jobs == {}


def test_a_failure_a_cancellation_and_a_death_in_a_bunch_are_those_of_a_job() -> None:
    own, bunch = running(3)
    own._bunch_ended(bunch, Outcomes([DONE, Failed("bad_blob", "damaged"), DONE]))
    assert bunch.jobs is not None
    assert [job.state for job in bunch.jobs] == ["done", "failed", "done"]
    own, bunch = running(3)
    stopped = own.job((1, "x1"))
    assert stopped is not None
    stopped.stop = Problem("job_cancelled", "cancelled")
    own._bunch_ended(bunch, Outcomes([DONE, STOPPED, STOPPED]))
    assert waiting(own) == ["x2"]
    own, bunch = running(2)
    own._bunch_ended(bunch, Lost(begun=True))
    assert waiting(own) == ["x0", "x1"]
    assert [job.attempts for job in own.jobs.values()] == [1, 1]


def test_results_in_frames_are_those_of_each_again() -> None:
    each = [Done(b"", 3, 1.0, {"add": 0.5}), Done(b"", 2, 2.0, {"add": 0.25, "multiply": 1.0})]
    outcomes = Outcomes(list(each))
    outcomes.frame((0, 9))
    assert outcomes.each == []
    outcomes.frames = frames.head("a", 200, 3) + b"abc" + frames.head("b", 200, 2) + b"de"
    outcomes.unframe()
    operations = {"add": 0.375, "multiply": 0.5}
    assert outcomes.each == [Done(b"abc", 3, 1.5, operations), Done(b"de", 2, 1.5, operations)]
    outcomes.unframe()
    assert len(outcomes.each) == 2
