# SPDX-License-Identifier: Apache-2.0
"""A search of spaces too large to look at every point: NSGA-II with constraints, by optuna.

A generation is drawn, evaluated together and told to the sampler. A point that does not do is told as a violation, not
as a result: how much it exceeds the board, or 1 where the reason is another. What is found is a front of the points
that were looked at; nothing says that it is the space's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ringsmith.errors import InputError
from ringsmith.explore.evaluate import Predicts
from ringsmith.explore.parameters import Candidate, Refused
from ringsmith.explore.point import Point
from ringsmith.explore.resources import estimates, lacking, share_of
from ringsmith.explore.search import Progress, Search, _Run, impossible
from ringsmith.explore.space import Hardware, Values
from ringsmith.explore.store import Results
from ringsmith.extras import to_install
from ringsmith.hw.synth import Board

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import Trial, TrialState

#: Points of a generation.
POPULATION = 64
#: Points at most.
LARGEST_NSGA2 = 1_000_000
#: Generations in a row without a new point after which the search ends, and points looked at for each evaluated one.
_STALE, _LOOKS = 3, 8
_VIOLATION = "violation"
_SET = "set"
#: What a point without a result is told to have; its violation decides.
_NOTHING = 1e12


def evolve(
    found: Sequence[Candidate | Refused],
    values: Values,
    board: Board,
    results: Results,
    evaluator: Predicts,
    evaluations: int,
    progress: Progress = lambda done, total, evaluated: None,
    runs: int = 1,
    seed: int = 1,
) -> Search:
    """Look at points until `evaluations` were evaluated, or none is new; the same seed looks at the same points.

    Where next to nothing fits it ends earlier, after eight points looked at for each that was to be evaluated.

    Raises:
        InputError: optuna is not installed, or no parameter set does.
    """
    try:
        import optuna
    except ImportError:
        raise InputError(f"a search by NSGA-II needs optuna: {to_install('search')}") from None
    able = {one.name: one for one in found if isinstance(one, Candidate)}
    refused = [one for one in found if isinstance(one, Refused)]
    search = Search(board, able, refused, 0)
    if not able:
        return search
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.NSGAIISampler(population_size=POPULATION, seed=seed)
    study = optuna.create_study(directions=["minimize"] * len(_OBJECTIVES), sampler=sampler)
    run = _Run(search, results, evaluator, lambda *_: None, runs)
    known: dict[str, Point] = {}
    stale = 0
    most = max(_LOOKS * evaluations, POPULATION)
    while stale < _STALE and len(search.points) < evaluations and len(known) < most:
        trials = [study.ask() for _ in range(POPULATION)]
        drawn = [_drawn(trial, able, values) for trial in trials]
        fresh = {_name(name, build): (name, build) for name, build in drawn if _name(name, build) not in known}
        stale = 0 if fresh else stale + 1
        open_points = []
        for label, (name, build) in list(fresh.items())[: evaluations - len(search.points)]:
            point = _estimated(search, able[name], build, board, runs)
            known[label] = point
            if point.status == "open":
                open_points.append(point)
            else:
                search.infeasible[point.reason] += 1
        for point in run.evaluated(open_points):
            known[_name(point.params, point.hardware)] = point
            search.points.append(point)
        search.total = len(known)
        for trial, (name, build) in zip(trials, drawn, strict=True):
            _tell(study, trial, known.get(_name(name, build)), optuna.trial.TrialState.FAIL)
        progress(len(search.points), evaluations, len(search.points))
    return search


def _tell(study: Study, trial: Trial, point: Point | None, failed: TrialState) -> None:
    """Give a trial the objectives of its point; one without a point fails, so that none stays under way."""
    if point is None:
        # Optuna looks through all trials that are under way whenever it is asked for another.
        study.tell(trial, state=failed)
        return
    trial.set_constraint(_VIOLATION, _violation(point))
    study.tell(trial, list(point.objectives()) if point.status == "done" else [_NOTHING] * len(_OBJECTIVES))


#: As `Point.objectives` gives them.
_OBJECTIVES = ("latency", "batch", "share", "error", "traffic", "host", "energy")


def _violation(point: Point) -> float:
    """Return how far a point is from one that does; at most 0: it does."""
    return 0.0 if point.status == "done" else max(point.share - 1.0, 0.0) or 1.0


def _name(name: str, build: Hardware) -> str:
    return f"{name}-{build.name}"


def _drawn(trial: Trial, able: dict[str, Candidate], values: Values) -> tuple[str, Hardware]:
    """Return a parameter set and a build that the sampler asks for."""
    name = trial.suggest_categorical(_SET, list(able))
    chosen: list[Any] = [trial.suggest_categorical(field.name, list(values[field.name])) for field in fields(Hardware)]
    return str(name), Hardware.of(chosen)


def _estimated(search: Search, candidate: Candidate, build: Hardware, board: Board, runs: int) -> Point:
    """Return a point with all that is known without its program, infeasible where that is too much."""
    ((_, taken),) = estimates(candidate, [build], board)
    known = (candidate.error_bits, candidate.traffic_bytes, candidate.params.security.bits)
    point = Point(candidate.name, build, taken.to_dict(), share_of(taken, board), *known, runs=runs)
    lacks = lacking(taken, board) or impossible(candidate, build, board)
    if lacks is None:
        return point
    miss = (point.share, point.name, lacks)
    search.nearest = min(search.nearest or miss, miss)
    return replace(point, status="infeasible", reason=lacks.split(":")[0])
