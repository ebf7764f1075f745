# SPDX-License-Identifier: Apache-2.0
"""The search: every point of the space, those that cannot be better than another's result left out by a bound.

A point is infeasible if its parameters do not do, its build does not fit the board, or work that belongs on the device
would stay on the host. Of the others, one is evaluated unless some evaluated point is nowhere worse than it could be:
its resources, error and traffic are known beforehand, its latency and its energy have a lower bound; latency is the
device's cycles and, at measured prices, what it leaves to the host. The Pareto front
is that of the whole space, whatever the order of work.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ringsmith.errors import InputError, ParameterError
from ringsmith.explore.boards import port_ms
from ringsmith.explore.energy import COMPUTE, Energy, Executed, Work, knobs_of, model
from ringsmith.explore.evaluate import Packed, Predicts, Result, Task
from ringsmith.explore.host import host_ms, operations
from ringsmith.explore.parameters import Candidate, Refused
from ringsmith.explore.point import Point, dominates, pareto
from ringsmith.explore.resources import estimates, lacking, share_of
from ringsmith.explore.space import Hardware, Values, builds, preset_of, size, word_bits
from ringsmith.explore.store import Results
from ringsmith.hw.synth import Board
from ringsmith.presets import Preset
from ringsmith.specs import checked_name

#: Points evaluated between two looks at the front: the same for any number of workers.
_ROUND = 64
#: Runs of a batch at most.
LARGEST_BATCH = 4096
#: Homomorphic operations that a design has to do itself.
_DEVICE_WORK = ("tensor", "key-switch", "polymul", "rescale")
#: Instructions of the unit for base conversion.
_CONVERTING = {"lift", "scale"}
#: The build of a family that its bound comes from: one butterfly, memory for everything.
_ROOMY = {"butterflies": 1, "dual_port_slots": 16}

#: Told how many points are decided, of how many, and how many of them were evaluated.
Progress = Callable[[int, int, int], None]
#: What the engine predicts of a program on a build.
Usage = Mapping[str, Any]
#: Programs that take the same least cycles: parameters, lanes, moves, several sets of moduli, a unit that converts.
Family = tuple[str, int, int, bool, bool]


@dataclass(frozen=True)
class Bound:
    """What no build of a family is better than.

    `cycles` and `batch_cycles`: issue cycles of one core with one butterfly, of a run and of a batch. `host_operations`
    are left to the host, whose time for them is `host_ms`, `batch_host_ms` for a batch; `parts` of the batch have
    nothing in common, so that as many cores have work; `executed` are the compute unit's instructions of a run.
    """

    cycles: int
    batch_cycles: int
    host_operations: int
    host_ms: float
    batch_host_ms: float
    parts: int
    executed: Executed


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
    def on_device(self) -> list[Point]:
        """The points of the front that leave nothing to the host."""
        return [point for point in self.front if not point.host_operations]

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
    runs: int = 1,
) -> Search:
    """Search the space of parameter sets and builds for a board, for batches of `runs` runs too."""
    able = {one.name: one for one in found if isinstance(one, Candidate)}
    refused = [one for one in found if isinstance(one, Refused)]
    search = Search(board, able, refused, len(found) * size(values))
    for one in refused:
        search.infeasible[f"{one.name}: {one.reason}"] += size(values)
    run = _Run(search, results, evaluator, progress, runs)
    run.decide(list(run.fitting(values)))
    return search


class _Run:
    """A search under way."""

    def __init__(self, search: Search, results: Results, evaluator: Predicts, progress: Progress, runs: int) -> None:
        self._search = search
        self._runs = runs
        self._results = results
        self._evaluator = evaluator
        self._progress = progress
        self._hashes = {name: one.compiled.native.hash().hex() for name, one in search.candidates.items()}

    def fitting(self, values: Values) -> Iterator[Point]:
        """Yield the points whose build exists, has work for all its cores and fits the board."""
        search, board = self._search, self._search.board
        for family, bound in self._bounds(values).items():
            name, shape = family[0], _shape(values, family)
            if bound is None:
                search.pruned += size(shape)
                continue
            if isinstance(bound, str):
                search.infeasible[bound] += size(shape)
                continue
            useful = {**shape, "cores": _useful(values["cores"], bound.parts)}
            search.pruned += size(shape) - size(useful)
            candidate = search.candidates[name]
            known = (candidate.error_bits, candidate.traffic_bytes, candidate.params.security.bits)
            shapes = list(builds(useful))
            energies = _least_uj(candidate, shapes, bound)
            for (hardware, taken), energy in zip(estimates(candidate, shapes, board), energies, strict=True):
                point = Point(name, hardware, taken.to_dict(), share_of(taken, board), *known)
                lacks = lacking(taken, board) or impossible(candidate, hardware, board)
                if lacks is None:
                    yield self._bounded(replace(point, energy_bound_uj=energy), bound)
                    continue
                search.infeasible[lacks.split(":")[0]] += 1
                miss = (point.share, point.name, lacks)
                search.nearest = min(search.nearest or miss, miss)

    def _bounded(self, point: Point, bound: Bound) -> Point:
        """Return a point with what it cannot be better than: all butterflies of all cores at work all the time."""
        at_once = point.hardware.cores * point.hardware.butterflies
        return replace(
            point, bound_ms=self._ms(bound.cycles / at_once) + bound.host_ms,
            batch_bound_ms=self._ms(bound.batch_cycles / at_once) + bound.batch_host_ms,
            runs=self._runs, host_operations=bound.host_operations,
        )  # fmt: skip

    def decide(self, left: list[Point]) -> None:
        """Evaluate what may be better than what is known, the most promising first."""
        left.sort(key=lambda point: ((point.bound_ms + point.batch_bound_ms) * point.share, point.name))
        front: list[tuple[float, ...]] = []
        while left:
            taken, left = self._round(left, front)
            for point in self.evaluated(taken):
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

    def _bounds(self, values: Values) -> dict[Family, Bound | str | None]:
        """Return the bound of each family, or why no build of it does; None if its unit for conversions has no work."""
        # With several sets of moduli there are fewer transforms than with one
        # (crates/backend/src/lower/key_switch/special_together.rs).
        several_or_one = {count > 1 for count in values["moduli_slots"]}
        converts = {rate > 0 for rate in values["rns_rate"]}
        kinds = (values["lanes"], values["moves"], several_or_one, converts)
        families = sorted(itertools.product(self._search.candidates, *kinds))
        found: dict[Family, Bound | str | None] = {}
        tasks: dict[Family, list[Task]] = {}
        for family in families:
            try:
                tasks[family] = self._tasks(family, values)
            except ParameterError as error:
                found[family] = f"no such build ({error})"
        results = iter(self._predicted([task for group in tasks.values() for task in group]))
        for family in tasks:
            run, batch, spread = (next(results) for _ in range(3))
            if isinstance(run, str) or isinstance(batch, str) or isinstance(spread, str):
                found[family] = next(str(one) for one in (run, batch, spread) if isinstance(one, str))
            else:
                idle = family[-1] and 0 in values["rns_rate"] and not _CONVERTING & batch["executed"].keys()
                found[family] = None if idle else _stays(run) or self._bound(family[0], run, batch, spread)
        return found

    def _tasks(self, family: Family, values: Values) -> list[Task]:
        """Return what a family's bound comes from: its roomy build with a run, a batch, and a batch on all cores."""
        params, lanes, moves, several, converts = family
        made = {"moduli_slots": 2 if several else 1, "rns_rate": max(values["rns_rate"]) if converts else 0}
        made |= {"single_port_slots": min(values["single_port_slots"]), "wide_port": max(values["wide_port"])}
        roomy = Hardware(lanes=lanes, moves=moves, **made, **_ROOMY)  # type: ignore[arg-type]
        candidate, board = self._search.candidates[params], self._search.board
        one, all_cores = (
            preset_of(candidate, replace(roomy, cores=cores), board) for cores in (1, max(values["cores"]))
        )
        return [(params, one, 1), (params, one, self._runs), (params, all_cores, self._runs)]

    def _bound(self, params: str, run: Usage, batch: Usage, spread: Usage) -> Bound:
        """Return the bound of a family from its roomy build: a run, a batch on one core, and on all of them."""
        executed = {kind: one for kind, one in run["executed"].items() if kind in COMPUTE}
        host = [self._host_ms(params, one) for one in (run, batch, spread)]
        return Bound(
            run["least_cycles"], batch["least_cycles"], operations(run["host_work"]), host[0], min(host[1:]),
            spread["cores"], executed,
        )  # fmt: skip

    def evaluated(self, points: Sequence[Point]) -> Iterator[Point]:
        """Yield the points with their results, or with why they have none."""
        presets = [preset_of(self._search.candidates[p.params], p.hardware, self._search.board) for p in points]
        tasks = [(point.params, preset, 1) for point, preset in zip(points, presets, strict=True)]
        batches = [(name, preset, self._runs) for name, preset, _ in tasks]
        results, batched = self._predicted(tasks), self._predicted(batches)
        for point, preset, result, batch in zip(points, presets, results, batched, strict=True):
            why = _stays(result)
            if why is not None or isinstance(result, str) or isinstance(batch, str):
                self._search.infeasible[str(why)] += 1
                yield point.ended("infeasible", str(why))
                continue
            host_ms, host = self._host_ms(point.params, result), operations(result["host_work"])
            port = port_ms(self._search.board, result)
            latency = self._ms(result["cycles"]) + host_ms + port
            batch_ms = self._ms(batch["cycles"]) + self._host_ms(point.params, batch)
            batch_ms += port_ms(self._search.board, batch)
            assert latency >= point.bound_ms, f"{point.name} takes less than its bound"
            assert batch_ms >= point.batch_bound_ms, f"a batch on {point.name} takes less than its bound"
            assert host >= point.host_operations, f"{point.name} leaves less to the host than its family"
            energy = energy_of(preset, result)
            assert energy.total >= point.energy_bound_uj, f"{point.name} takes less energy than its bound"
            yield replace(
                point, latency_ms=latency, host_ms=host_ms, port_ms=port, batch_ms=batch_ms,
                host_operations=host, cycles=result["cycles"], usage=result, cells_uj=float(energy.cells),
                memories_uj=float(energy.memories), status="done",
            )  # fmt: skip

    def _predicted(self, tasks: Sequence[Task]) -> list[Result]:
        """Return the prediction of each task, from the file or computed and put there."""
        keys = [self._results.key(self._hashes[name], preset, runs) for name, preset, runs in tasks]
        known = self._results.get(keys)
        first = {key: number for number, key in reversed(list(enumerate(keys)))}
        new = [number for number, key in enumerate(keys) if key not in known and first[key] == number]
        fresh: dict[str, Result] = {}
        try:
            for number, result in self._evaluator.run([tasks[number] for number in new]):
                fresh[keys[new[number]]] = result
        finally:
            self._results.put(fresh.items())
        known |= fresh
        return [known[key] for key in keys]

    def _host_ms(self, params: str, usage: Usage) -> float:
        return host_ms(usage["host_work"], self._search.candidates[params].params)

    def _ms(self, cycles: float) -> float:
        return cycles / self._search.board.clock_mhz / 1e3


def _least_uj(candidate: Candidate, hardware: Sequence[Hardware], bound: Bound) -> list[float]:
    """Return the energy that each build is not below: the compute unit's work, in as few cycles as there can be.

    No coefficient of the model is negative: what else a run does, and further cycles, only add.
    """
    columns = {field.name: [getattr(one, field.name) for one in hardware] for field in fields(Hardware)}
    columns |= {"word_bits": [word_bits(candidate, one) for one in hardware]}
    knobs = knobs_of(columns | {"n_max": [candidate.params.n] * len(hardware)})
    work = Work.of(bound.executed, bound.cycles / (knobs["cores"] * knobs["butterflies"]))
    found: list[float] = model().of(knobs, work).total.tolist()
    return found


def energy_of(preset: Preset, usage: Mapping[str, Any]) -> Energy:
    """Return the energy of a run: its instructions, and the cycles in which all registers are clocked."""
    return model().of(knobs_of(preset.to_dict()), Work.of(usage["executed"], usage["cycles"]))


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


def impossible(candidate: Candidate, hardware: Hardware, board: Board) -> str | None:
    """Say why no build can be like that."""
    try:
        preset_of(candidate, hardware, board)
    except ParameterError as error:
        return f"no such build ({error})"
    return None


def _shape(values: Values, family: Family) -> dict[str, tuple[int, ...]]:
    """Return the values of a family's builds."""
    _, lanes, moves, several, converts = family
    moduli = tuple(count for count in values["moduli_slots"] if (count > 1) == several)
    rates = tuple(rate for rate in values["rns_rate"] if (rate > 0) == converts)
    return {**values, "lanes": (lanes,), "moves": (moves,), "moduli_slots": moduli, "rns_rate": rates}


def _useful(cores: Sequence[int], parts: int) -> tuple[int, ...]:
    """Return the numbers of cores that have work for all, and the next one."""
    enough = min((count for count in cores if count >= parts), default=parts)
    return tuple(count for count in cores if count <= enough)


def _stays(result: Result) -> str | None:
    """Say what a build cannot do or leaves to the host."""
    if isinstance(result, str):
        return result
    left = [f"{count} {name}" for name, count in sorted(result["on_host"].items()) if name in _DEVICE_WORK]
    return f"{' and '.join(left)} would stay on the host" if left else None


def _with(front: list[tuple[float, ...]], new: tuple[float, ...]) -> list[tuple[float, ...]]:
    """Return a front with one more result."""
    if any(dominates(known, new) for known in front):
        return front
    return [known for known in front if not dominates(new, known)] + [new]
