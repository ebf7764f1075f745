# SPDX-License-Identifier: Apache-2.0
"""The search: every point of the space, those that cannot be better than another's result left out by a bound.

A point is infeasible if its parameters do not do, its build does not fit the board, or work that belongs on the device
would stay on the host. Of the others, one is evaluated unless some evaluated point is nowhere worse than it could be:
its resources, error and traffic are known beforehand, its latency has a lower bound. The Pareto front is that of the
whole space, whatever the order of work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ringsmith.errors import InputError, ParameterError
from ringsmith.explore.evaluate import Packed, Predicts, Result
from ringsmith.explore.parameters import Candidate, Refused
from ringsmith.explore.point import Point, dominates, pareto
from ringsmith.explore.resources import estimates, lacking, share_of
from ringsmith.explore.space import Hardware, Values, builds, preset_of, size
from ringsmith.explore.store import Results
from ringsmith.hw.synth import Board
from ringsmith.presets import Preset
from ringsmith.specs import checked_name

#: Points evaluated between two looks at the front: the same for any number of workers.
_ROUND = 64
#: Homomorphic operations that a design has to do itself.
_DEVICE_WORK = ("tensor", "key-switch", "polymul", "rescale")
#: The build of a family that its bound comes from: one butterfly, memory for everything.
_ROOMY = {"butterflies": 1, "dual_port_slots": 16, "single_port_slots": 0, "wide_port": True}

#: Told how many points are decided, of how many, and how many of them were evaluated.
Progress = Callable[[int, int, int], None]
#: Programs that take the same least cycles: parameters, lanes, moves.
Family = tuple[str, int, int]
#: Least cycles with one butterfly, operations left to the host.
Bound = tuple[int, int]


@dataclass
class Search:
    """What a search found."""

    board: Board
    candidates: Mapping[str, Candidate]
    refused: Sequence[Refused]
    total: int
    points: list[Point] = field(default_factory=list)
    infeasible: Counter[str] = field(default_factory=Counter)
    nearest: tuple[float, str, str] | None = None
    pruned: int = 0

    @property
    def front(self) -> list[Point]:
        """The Pareto front by rising latency."""
        return pareto([point for point in self.points if point.status == "done"])

    @property
    def exact(self) -> bool:
        """Whether results are exact (BFV): a point's error is then minus its noise budget."""
        return all(one.params.scheme == "bfv" for one in self.candidates.values())

    def preset(self, point: Point) -> Preset:
        """Return the design of a point."""
        return named_preset(self.candidates[point.params], point.hardware, self.board)


def explore(
    found: Sequence[Candidate | Refused],
    values: Values,
    board: Board,
    results: Results,
    evaluator: Predicts,
    progress: Progress = lambda done, total, evaluated: None,
) -> Search:
    """Search the space of parameter sets and builds for a board."""
    able = {one.name: one for one in found if isinstance(one, Candidate)}
    refused = [one for one in found if isinstance(one, Refused)]
    search = Search(board, able, refused, len(found) * size(values))
    for one in refused:
        search.infeasible[f"{one.name}: {one.reason}"] += size(values)
    run = _Run(search, results, evaluator, progress)
    run.decide(list(run.fitting(values)))
    return search


class _Run:
    """A search under way."""

    def __init__(self, search: Search, results: Results, evaluator: Predicts, progress: Progress) -> None:
        self._search = search
        self._results = results
        self._evaluator = evaluator
        self._progress = progress
        self._hashes = {name: one.compiled.native.hash().hex() for name, one in search.candidates.items()}

    def fitting(self, values: Values) -> Iterator[Point]:
        """Yield the points whose build exists and fits the board."""
        board = self._search.board
        for name, candidate in self._search.candidates.items():
            known = (candidate.error_bits, candidate.traffic_bytes, candidate.params.security.bits)
            for hardware, taken in estimates(candidate, list(builds(values)), board):
                point = Point(name, hardware, taken.to_dict(), share_of(taken, board), *known)
                lacks = lacking(taken, board) or _impossible(candidate, hardware, board)
                if lacks is None:
                    yield point
                    continue
                self._search.infeasible[lacks.split(":")[0]] += 1
                miss = (point.share, point.name, lacks)
                self._search.nearest = min(self._search.nearest or miss, miss)

    def decide(self, points: list[Point]) -> None:
        """Evaluate what may be better than what is known, the most promising first."""
        bounds = self._bounds({_family(point) for point in points})
        left = []
        for point in points:
            bound = bounds[_family(point)]
            if isinstance(bound, str):
                self._search.infeasible[bound] += 1
                continue
            cycles, host = bound
            bound_ms = self._ms(cycles / point.hardware.butterflies)
            left.append(replace(point, bound_ms=bound_ms, host_operations=host))
        left.sort(key=lambda point: (point.bound_ms * point.share, point.name))
        front: list[tuple[float, ...]] = []
        while left:
            taken, left = self._round(left, front)
            for point in self._evaluated(taken):
                self._search.points.append(point)
                if point.status == "done":
                    front = _with(front, point.objectives())
            self._progress(self._search.total - len(left), self._search.total, len(self._search.points))

    def _round(self, left: list[Point], front: list[tuple[float, ...]]) -> tuple[list[Point], list[Point]]:
        """Return the next points to evaluate, and those after them; what the front makes superfluous is counted."""
        taken = []
        for number, point in enumerate(left):
            if any(dominates(known, point.objectives()) for known in front):
                self._search.pruned += 1
                continue
            taken.append(point)
            if len(taken) == _ROUND:
                return taken, left[number + 1 :]
        return taken, []

    def _bounds(self, families: set[Family]) -> dict[Family, Bound | str]:
        """Return the least cycles of each family with one butterfly and its host's work, or why no build of it does."""
        order = sorted(families)
        tasks = []
        for params, lanes, moves in order:
            hardware = Hardware(lanes=lanes, moves=moves, moduli_slots=1, **_ROOMY)  # type: ignore[arg-type]
            tasks.append((params, preset_of(self._search.candidates[params], hardware, self._search.board)))
        found: dict[Family, Bound | str] = {}
        for family, result in zip(order, self._predicted(tasks), strict=True):
            why = _stays(result)
            if isinstance(result, str) or why is not None:
                found[family] = str(why)
            else:
                found[family] = result["least_cycles"], _host(result)
        return found

    def _evaluated(self, points: Sequence[Point]) -> Iterator[Point]:
        presets = [preset_of(self._search.candidates[p.params], p.hardware, self._search.board) for p in points]
        tasks = [(point.params, preset) for point, preset in zip(points, presets, strict=True)]
        for point, result in zip(points, self._predicted(tasks), strict=True):
            why = _stays(result)
            if why is not None or isinstance(result, str):
                self._search.infeasible[str(why)] += 1
                yield point.ended("infeasible", str(why))
                continue
            latency = self._ms(result["cycles"])
            host = _host(result)
            assert latency >= point.bound_ms, f"{point.name} takes less than its bound"
            assert host >= point.host_operations, f"{point.name} leaves less to the host than its family"
            yield replace(
                point, latency_ms=latency, host_operations=host, cycles=result["cycles"], usage=result, status="done"
            )

    def _predicted(self, tasks: Sequence[tuple[str, Preset]]) -> list[Result]:
        """Return the prediction of each task, from the file or computed and put there."""
        keys = [self._results.key(self._hashes[name], preset) for name, preset in tasks]
        known = self._results.get(keys)
        new = [number for number, key in enumerate(keys) if key not in known]
        fresh: dict[str, Result] = {}
        try:
            for number, result in self._evaluator.run([tasks[number] for number in new]):
                fresh[keys[new[number]]] = result
        finally:
            self._results.put(fresh.items())
        known |= fresh
        return [known[key] for key in keys]

    def _ms(self, cycles: float) -> float:
        return cycles / self._search.board.clock_mhz / 1e3


def named_preset(candidate: Candidate, hardware: Hardware, board: Board) -> Preset:
    """Return a design under the name of its point."""
    name = checked_name("a point", f"{candidate.name}-{hardware.name}")
    return replace(preset_of(candidate, hardware, board), name=name)


def point_named(name: str, found: Sequence[Candidate | Refused], board: Board) -> tuple[Candidate, Preset]:
    """Return the parameter set and the design of a name that a search gave.

    Raises:
        InputError: no point has that name; ParameterError: its parameter set or its build does not do, and why.
    """
    params, _, build = name.rpartition("-")
    one = next((one for one in found if one.name == params), None)
    if one is None:
        raise InputError(f"no point {name!r}: parameter sets of this kernel are {', '.join(o.name for o in found)}")
    if isinstance(one, Refused):
        raise ParameterError(f"point {name}: {one.reason}")
    return one, named_preset(one, Hardware.named(build), board)


def packed(found: Sequence[Candidate | Refused]) -> dict[str, Packed]:
    """Return the programs of the sets as workers take them."""
    programs = {}
    for one in found:
        if isinstance(one, Candidate):
            judged = one.params.security
            policy = {"security": judged.wanted, "table": judged.table, "allow_insecure": not judged.enough}
            programs[one.name] = (bytes(one.compiled.native.to_bytes()), policy)
    return programs


def _impossible(candidate: Candidate, hardware: Hardware, board: Board) -> str | None:
    """Say why no build can be like that."""
    try:
        preset_of(candidate, hardware, board)
    except ParameterError as error:
        return f"no such build ({error})"
    return None


def _family(point: Point) -> Family:
    return point.params, point.hardware.lanes, point.hardware.moves


def _stays(result: Result) -> str | None:
    """Say what a build cannot do or leaves to the host."""
    if isinstance(result, str):
        return result
    left = [f"{count} {name}" for name, count in sorted(result["on_host"].items()) if name in _DEVICE_WORK]
    return f"{' and '.join(left)} would stay on the host" if left else None


def _host(result: Result) -> int:
    """Return how many operations on polynomials that depend on the inputs the host does."""
    return 0 if isinstance(result, str) else sum(result["host_work"].values())


def _with(front: list[tuple[float, ...]], new: tuple[float, ...]) -> list[tuple[float, ...]]:
    """Return a front with one more result."""
    if any(dominates(known, new) for known in front):
        return front
    return [known for known in front if not dominates(new, known)] + [new]
