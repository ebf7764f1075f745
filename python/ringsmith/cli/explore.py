# SPDX-License-Identifier: Apache-2.0
"""`ringsmith explore`: parameters and hardware for a kernel on a board, every point a design that can be made."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ringsmith.cli.common import console, load_kernels, print_json, user_code
from ringsmith.cli.synth_cells import CellOptions, operation_of
from ringsmith.errors import InputError
from ringsmith.explore import energy as energies
from ringsmith.explore.boards import searched_board
from ringsmith.explore.calibrate import calibrate
from ringsmith.explore.calibrate_energy import Figures, calibrate_energy, energy_file
from ringsmith.explore.cluster import ClusterEvaluator
from ringsmith.explore.design import parameters_text, preset_text
from ringsmith.explore.evaluate import Evaluator
from ringsmith.explore.evolve import LARGEST_NSGA2, evolve
from ringsmith.explore.page import page
from ringsmith.explore.parameters import Candidate, Refused, candidates
from ringsmith.explore.report import as_json, nothing_fits, summary, write_csv
from ringsmith.explore.resources import families, trust
from ringsmith.explore.search import LARGEST_BATCH, Search, explore, packed, point_named
from ringsmith.explore.space import values_with
from ringsmith.explore.store import Results
from ringsmith.explore.verify import ENGINES, Verified, verify
from ringsmith.files import check_place, write_text
from ringsmith.hw.device import top_of, top_parameters
from ringsmith.hw.silicon.kept import kept_by_module
from ringsmith.hw.silicon.library import default_library, load_library
from ringsmith.hw.synth import Board, Design
from ringsmith.parallel import workers
from ringsmith.presets import Preset
from ringsmith.report.terminal import plain_console
from ringsmith.runtime.kernel import Kernel
from ringsmith.runtime.runner import complete_inputs

EXAMPLES = """Examples:

ringsmith explore kernel.py --board zcu104

ringsmith explore kernel.py --board zcu102 --vary lanes=4,8 --vary butterflies=8 --csv points.csv

ringsmith explore kernel.py --board zcu104 --params n8192q33x2p33d2s30 --vary butterflies=16 --tolerance 1e-4

ringsmith explore kernel.py --board zcu102 --batch 48

ringsmith explore kernel.py --board ulx3s-85f --csv points.csv

ringsmith explore kernel.py --board zcu104 --point NAME --preset point.toml
"""


Nsga2 = Annotated[int | None, typer.Option("--nsga2", help="search by NSGA-II with this many evaluations")]
ResultsFile = Annotated[Path | None, typer.Option("--results", help="file of results, or :memory: (default: cache)")]
Calibrate = Annotated[
    bool, typer.Option("--calibrate", help="synthesise the resource model's training points anew (an hour)")
]
CalibrateEnergy = Annotated[
    bool, typer.Option("--calibrate-energy", help="measure the energy model's training points anew (15 minutes)")
]


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("explore", help="Find parameters and hardware for a kernel on a board.", epilog=EXAMPLES)(run)


def run(
    file: Annotated[Path | None, typer.Argument(help="Python file with a kernel")] = None,
    board: Annotated[str | None, typer.Option("--board", help="a board of spec/boards or spec/pinouts")] = None,
    kernel: Annotated[str | None, typer.Option("--kernel", help="name of the kernel (default: the first)")] = None,
    variant: Annotated[str | None, typer.Option("--variant", help="packing of the kernel (default: the first)")] = None,
    sets: Annotated[list[str] | None, typer.Option("--params", help="only the set of this name; repeatable")] = None,
    tolerance: Annotated[float | None, typer.Option("--tolerance", help="in place of the kernel's")] = None,
    vary: Annotated[list[str] | None, typer.Option("--vary", help="KNOB=VALUE,VALUE of the search; repeatable")] = None,
    nsga2: Nsga2 = None,
    batch: Annotated[int, typer.Option("--batch", help="also minimise the time of this many runs on all cores")] = 1,
    jobs: Annotated[int | None, typer.Option("--jobs", help="processes (default: one for each core)")] = None,
    ray: Annotated[str | None, typer.Option("--ray", help="address of a Ray cluster that does the work")] = None,
    results: ResultsFile = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="write the evaluated points to this file")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="write one page for a browser to this file")] = None,
    count: Annotated[int, typer.Option("--verify", help="run this many random points of the front")] = 0,
    on: Annotated[str, typer.Option("--verify-on", help="where they run: rtl or model")] = "rtl",
    point: Annotated[str | None, typer.Option("--point", help="print a point's preset and parameter set")] = None,
    preset: Annotated[Path | None, typer.Option("--preset", help="with --point: write its preset to this file")] = None,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object on stdout")] = False,
    anew: Calibrate = False,
    energy_anew: CalibrateEnergy = False,
) -> None:
    """Search, show a point, or refresh the models of resources and of energy."""
    began = time.perf_counter()
    if anew or energy_anew:
        _calibrate(energy=energy_anew)
        return
    if file is None or board is None:
        raise InputError("a kernel's file and --board NAME are needed: ringsmith explore kernel.py --board zcu104")
    device = searched_board(board)
    if preset is not None and point is None:
        raise InputError("--preset goes with --point NAME")
    options = SearchOptions(values_with(vary or [], device.family), nsga2, batch, jobs, ray, results)
    ending = Ending(csv, html, count, on, json)
    options.check()
    ending.check(preset)
    picked = load_kernels(file).pick(kernel, variant)
    if tolerance is not None:
        with user_code(file):
            picked = picked.options(tolerance=tolerance)
    found = _candidates(file, picked, sets or ())
    if point is not None:
        candidate, design = point_named(point, found, device)
        _show(candidate, preset_text(design), preset)
        return
    search = _searched(f"{picked.name} on {board}", found, device, options)
    ending.tell(picked, search, began)


@dataclass(frozen=True)
class SearchOptions:
    """What is searched and with what: values of knobs, points of NSGA-II, runs of a batch, processes or a cluster."""

    values: Mapping[str, tuple[int, ...]]
    nsga2: int | None
    batch: int
    jobs: int | None
    ray: str | None
    results: Path | None

    def check(self) -> None:
        """Refuse numbers out of range, and processes beside a cluster."""
        if self.jobs is not None and not 1 <= self.jobs <= 256:
            raise InputError(f"--jobs {self.jobs}: 1 to 256 processes")
        if self.nsga2 is not None and not 1 <= self.nsga2 <= LARGEST_NSGA2:
            raise InputError(f"--nsga2 {self.nsga2}: 1 to {LARGEST_NSGA2} points")
        if not 1 <= self.batch <= LARGEST_BATCH:
            raise InputError(f"--batch {self.batch}: 1 to {LARGEST_BATCH} runs")
        if self.ray is not None and self.jobs is not None:
            raise InputError("--jobs goes without --ray: a cluster's cores are what it has")


@dataclass(frozen=True)
class Ending:
    """What is done with the points that were found: files, points of the front that are run, JSON."""

    csv: Path | None
    html: Path | None
    count: int
    on: str
    json: bool

    def check(self, preset: Path | None) -> None:
        """Refuse counts and engines that cannot be, and places that cannot be written."""
        if not 0 <= self.count <= 1000 or self.on not in ENGINES:
            raise InputError(
                f"--verify {self.count} --verify-on {self.on}: 0 to 1000 points, on {' or '.join(ENGINES)}"
            )
        for path in (self.csv, self.html, preset):
            if path is not None:
                check_place(path)

    def tell(self, picked: Kernel, search: Search, began: float) -> None:
        """Run points of the front, write the files, print; exit status 1 if a run was wrong."""
        seconds = time.perf_counter() - began
        if not search.front:
            raise nothing_fits(search)
        with console().status("") as status:
            ran = verify(picked, search, self.count, self.on, lambda name: status.update(Text(f"{self.on}: {name}")))
        if self.csv is not None:
            write_csv(self.csv, search)
        if self.html is not None:
            write_text(self.html, page(picked.name, search, {one.name: one for one in ran}))
        _tell(search, ran, seconds, json=self.json)
        if not all(one.correct for one in ran):
            raise typer.Exit(1)


def _candidates(file: Path, picked: Kernel, sets: Sequence[str]) -> list[Candidate | Refused]:
    """Return the parameter sets for a kernel at the shapes of its sample data."""
    with console().status(Text(f"{picked.name}: parameter sets")), user_code(file):
        shapes = {name: array.shape for name, array in complete_inputs(picked, {}, None).items()}
        return candidates(picked, shapes, sets)


def _searched(what: str, found: list[Candidate | Refused], board: Board, options: SearchOptions) -> Search:
    """Search, by NSGA-II where it is asked for, and show how far it is."""
    programs = packed(found)
    opened = (
        ClusterEvaluator(programs, options.ray)
        if options.ray is not None
        else Evaluator(programs, options.jobs or workers())
    )
    with console().status("") as status, opened as evaluator:

        def told(done: int, total: int, evaluated: int) -> None:
            status.update(Text(f"{what}: {done:,} of {total:,} points, {evaluated:,} evaluated"))

        space = (found, options.values, board, Results(options.results), evaluator)
        if options.nsga2:
            return evolve(*space, options.nsga2, told, options.batch)
        return explore(*space, told, options.batch)


def _calibrate(*, energy: bool) -> None:
    shown = console()
    with shown.status("") as status:

        def told(text: str) -> None:
            status.update(Text(text))
            if not shown.is_terminal:  # a log of a run of an hour
                shown.print(Text(text))

        if energy:
            calibrate_energy(energy_file(), _figures, told)
        else:
            calibrate(told)
    print(energies.trust() if energy else "\n".join(map(trust, families())))


def _figures(preset: Preset, operation: str, n: int) -> Figures:
    """Run an operation on a preset's RTL and map its modules to cells, or take both from the cache."""
    made = operation_of(preset, CellOptions(operation=operation, n=n, allow_insecure=True))
    design = Design(name=preset.name, top=top_of(preset), parameters=top_parameters(preset))
    return Figures(made.cycles, made.executed, kept_by_module(design, load_library(default_library()), made))


def _tell(search: Search, ran: Sequence[Verified], seconds: float, *, json: bool) -> None:
    if json:
        print_json(as_json(search, ran) | {"seconds": round(seconds, 3)})
    else:
        plain_console().print(summary(search, ran))
        print(f"searched in {seconds:.1f} s")


def _show(candidate: Candidate, text: str, preset: Path | None) -> None:
    if preset is not None:
        write_text(preset, text)
    else:
        print(text)
    print(f"# params = {parameters_text(candidate)}")
