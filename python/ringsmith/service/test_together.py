# SPDX-License-Identifier: Apache-2.0
"""Bunches: which jobs a worker gets in one task, and what the end of one job means for the others."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ringsmith.runtime import frames
from ringsmith.service import worker
from ringsmith.service.ends import Ends
from ringsmith.service.job import Bunch, Job
from ringsmith.service.plan import Needs
from ringsmith.service.pool import Lost
from ringsmith.service.problems import Problem
from ringsmith.service.rows import Row
from ringsmith.service.scheduler import MAX_ATTEMPTS, Scheduler
from ringsmith.service.settings import Settings
from ringsmith.service.worker import Done, Failed, Outcomes, Task, Told

DONE = Done(b"result", 6, 0.001, {})
STOPPED = Failed("job_cancelled", "cancelled", cancelled=True)


def job_of(name: str, *, keys: bytes = b"k", plain: str = "{}", attempts: int = 0) -> Job:
    now = time.time()
    row = Row(1, name, 1, b"r", b"p", keys, b"i", plain, "queued", now, None, 0, None, None, None, now)

    async def keep(job: Job) -> None:
        raise AssertionError("nothing of these is to be written")

    return Job(row, needs_of(keys, plain), b"in", attempts, keep=keep)


def needs_of(keys: bytes = b"k", plain: str = "{}") -> Needs:
    return Needs(1, b"p", keys, plain, (1, 1), 1000)


class Nothing(Scheduler):
    """A scheduler without processes and store, whose jobs are never kept."""

    def __init__(self, workers: int = 1, seconds: float = 0.001) -> None:
        self.jobs, self._waiting, self.stopping = {}, OrderedDict[int, deque[Bunch]](), False
        self._queued, self._ends = 0, Ends(cast(Any, None), self._told)
        self.pool: Any = SimpleNamespace(hands=[SimpleNamespace(ready=True, busy=0) for _ in range(workers)])
        self.speed: Any = SimpleNamespace(run=lambda *_: seconds, learn=lambda *_: None)
        self._metrics: Any = SimpleNamespace(ended=lambda *_: None, worker_deaths=SimpleNamespace(inc=lambda: None))

    def dispatch(self) -> None:
        """Start nothing."""

    def taken(self, *jobs: Job) -> list[str]:
        """Return the names of those that go together with the first."""
        for job in jobs:
            self._enqueue(Bunch.of(job))
        first = self._next()
        assert first is not None
        self._join(first)
        assert len(self) == len(jobs) - len(first)
        return [job.row.id for job in first.unfold()]


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
    bunch = Bunch.of(jobs[0])
    for job in jobs[1:]:
        bunch.join(Bunch.of(job))
    own.jobs |= bunch.members()
    own._ended(bunch, outcomes if isinstance(outcomes, Lost) else Outcomes(outcomes))
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
    return [name for bunch in own._waiting[1] for _, name in bunch.members()]


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
    """Return a bunch of `count` jobs that are not made yet."""
    sent = [(f"{prefix}{number}", b"in") for number in range(count)]
    return Bunch(needs_of(), sent, lambda own: [job_of(id) for id in own.names()])


def test_a_bunch_that_is_unfolded_waits_where_it_waited() -> None:
    own, bunch = Nothing(), bunch_of(3)
    for one in (Bunch.of(job_of("a")), bunch, Bunch.of(job_of("b")), bunch_of(2, "y")):
        own._enqueue(one)
    assert (len(own), own.unfinished(1), own.unfinished(2)) == (7, 7, 0)
    assert own.needing(1, b"p") == own.needing(1, b"k") == own.needing(1, b"i") == "a"
    assert own.needing(2, b"p") is own.needing(1, b"q") is None
    found = own.job((1, "x1"))
    assert found is not None
    assert (found.state, found.bunch) == ("queued", bunch)
    assert waiting(own) == ["a", "x0", "x1", "x2", "b", "y0", "y1"]
    assert (len(own), own.unfinished(1)) == (7, 7)
    assert own.unfold(bunch) == [own.jobs[1, name] for name in ("x0", "x1", "x2")]  # Made once only.
    assert own.job((2, "x1")) is own.job((1, "z")) is None


def test_jobs_taken_out_of_a_bunch_that_waits_leave_the_others() -> None:
    own, bunch = Nothing(), bunch_of(3)
    own._enqueue(bunch)
    jobs = own.unfold(bunch)[:]
    own.drop(jobs[1])
    assert (waiting(own), len(own), own.unfinished(1)) == (["x0", "x2"], 2, 2)
    own.drop(jobs[0])
    own.drop(jobs[2])
    assert (own._waiting, len(own), own.unfinished(1), own._next()) == ({}, 0, 0, None)


def test_jobs_whose_inputs_were_deleted_fail_and_the_others_run() -> None:
    own, bunch = Nothing(), bunch_of(3)
    own.jobs |= bunch.members()
    own._fail_without(bunch, [b"in", None, b"in"])
    assert bunch.jobs is not None
    assert [job.row.id for job in bunch.jobs] == ["x0", "x2"]
    assert sorted(own.jobs) == [(1, "x0"), (1, "x2")]


def running(count: int) -> tuple[Nothing, Bunch]:
    """Return a bunch that a worker has."""
    own, bunch = Nothing(), bunch_of(count)
    own._enqueue(bunch)
    assert own._next() is bunch
    bunch.start(7, cast(Any, SimpleNamespace(cancel=lambda: None)))
    return own, bunch


def results(count: int) -> Outcomes:
    """Return what a worker tells of results in frames."""
    found = Outcomes(memory=1, run_seconds=3.0, operations={"add": 6.0})
    found.frames = b"".join(frames.head(f"x{n}", 200, 2) + b"r%d" % n for n in range(count))
    return found


def test_a_bunch_is_answered_as_one() -> None:
    own, bunch = running(3)
    own._ended(bunch, results(3))
    assert bunch.frames == results(3).frames
    assert (len(own), own.unfinished(1), own.jobs, len(bunch.sent)) == (0, 0, {}, 0)


def test_one_that_is_asked_for_while_it_runs_has_its_own_result() -> None:
    own, bunch = running(3)
    bunch.advance(1, 2, 9)
    job = own.job((1, "x1"))
    assert job is not None
    assert (job.state, job.bunch, job.progress) == ("running", bunch, (2, 9))
    bunch.advance(2, 1, 9)
    assert own.unfold(bunch)[2].progress == (1, 9)
    own._ended(bunch, results(3))
    assert bunch.frames is None
    assert bunch.jobs is not None
    assert [one.result for one in bunch.jobs] == [b"r0", b"r1", b"r2"]
    assert own.jobs == {}


def test_a_failure_a_cancellation_and_a_death_in_a_bunch_are_those_of_a_job() -> None:
    own, bunch = running(3)
    own._ended(bunch, Outcomes([DONE, Failed("bad_blob", "damaged"), DONE]))
    assert bunch.jobs is not None
    assert [job.state for job in bunch.jobs] == ["done", "failed", "done"]
    own, bunch = running(3)
    stopped = own.job((1, "x1"))
    assert stopped is not None
    stopped.stop = Problem("job_cancelled", "cancelled")
    own._ended(bunch, Outcomes([DONE, STOPPED, STOPPED]))
    assert waiting(own) == ["x2"]
    own, bunch = running(2)
    own._ended(bunch, Lost(begun=True))
    assert waiting(own) == ["x0", "x1"]
    assert bunch.jobs is not None
    assert [job.attempts for job in bunch.jobs] == [1, 1]


@pytest.mark.parametrize("unfolded", [False, True])
def test_the_job_that_runs_is_the_one_that_is_overdue(unfolded: bool) -> None:
    own, bunch = running(3)
    own._settings, stopped = Settings(Path()), list[int]()
    own.pool.cancel = stopped.append
    if unfolded:
        own.unfold(bunch)
    bunch.advance(1, 2, 9)
    own._overdue(bunch)
    own._overdue(bunch)
    assert stopped == [7]
    assert [job.stop is not None for job in own.unfold(bunch)] == [False, True, False]


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
