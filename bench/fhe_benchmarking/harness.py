# SPDX-License-Identifier: Apache-2.0
"""Runs a workload's stages as processes of their own, times them, checks the answer and writes the figures.

A stopped run goes on where it was stopped: after each step the steps done, with their seconds, are written to
`io/SIZE/progress.json`, and the same run of the same programs takes them over.
"""

from __future__ import annotations

import compileall
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from layout import Folders

import ringsmith

HERE = Path(__file__).parent


class StoppedError(Exception):
    """The run ends here: one line, and the status of the command."""

    def __init__(self, line: str, status: int) -> None:
        """Keep both."""
        super().__init__(line)
        self.status = status


@dataclass(frozen=True)
class Step:
    """A step by its name in the figures: stages, which are programs of the submission, or a part of the harness.

    `sizes` are what is measured after it: a name in the figures, and a file or a folder in `io/SIZE`.
    """

    title: str
    stages: tuple[str, ...] = ()
    own: Callable[[Folders, int], None] | None = None
    sizes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Workload:
    """A workload: its sizes, its steps (once, and then of every run), and its own check of an answer.

    `argument` is what a stage is called with for a size; `about` holds entries of the figures that name what ran;
    `prepare` makes what every run needs and none is timed for, once, in the workload's root.
    """

    name: str
    sizes: tuple[str, ...]
    once: tuple[Step, ...]
    each: tuple[Step, ...]
    check: ModuleType
    argument: Callable[[str], str]
    about: tuple[tuple[str, str], ...] = ()
    prepare: Callable[[Path], None] = lambda root: None

    @property
    def submission(self) -> Path:
        """The folder of its stages."""
        return HERE / self.name.replace("-", "_") / "submission"


@dataclass(frozen=True)
class Request:
    """What to run: a size, how often, from which seed, on how many threads of the server, where.

    `again` further evaluations in the server's process tell what one takes that is not the first.
    """

    workload: Workload
    folders: Folders
    runs: int
    seed: int
    threads: int
    again: int = 0

    @property
    def key(self) -> str:
        """The name of this run for who goes on with it: all that decides what it does, the programs included."""
        digest = hashlib.sha256()
        for file in sorted([*HERE.rglob("*.py"), *(HERE.parents[1] / "python" / "ringsmith").glob("_native*.so")]):
            state = file.stat()
            digest.update(f"{file}:{state.st_size}:{state.st_mtime_ns};".encode())
        asked = (
            self.workload.name,
            self.folders.size,
            self.folders.counted,
            self.runs,
            self.seed,
            self.threads,
            self.again,
        )
        return f"{asked} {digest.hexdigest()}"


class Journal:
    """The steps done, kept in a file."""

    def __init__(self, request: Request, *, fresh: bool) -> None:
        """Take over what a stopped run of the same request has done, or start in an empty `io/SIZE`."""
        self.file = request.folders.io / "progress.json"
        self.key = request.key
        self.done: dict[str, Any] = {}
        try:
            kept = json.loads(self.file.read_text("utf-8"))
            if kept["key"] == self.key and not fresh:
                self.done = kept["done"]
        except (OSError, ValueError, KeyError, TypeError):
            pass
        if not self.done:
            shutil.rmtree(request.folders.io, ignore_errors=True)
            request.folders.io.mkdir(parents=True)
            request.folders.data.mkdir(parents=True, exist_ok=True)

    def add(self, name: str, figures: dict[str, Any]) -> None:
        """Keep a step's figures."""
        self.done[name] = figures
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps({"key": self.key, "done": self.done}), "utf-8")
        part.replace(self.file)


def run(request: Request, *, fresh: bool = False) -> list[dict[str, Any]]:
    """Run all steps, write `measurements/SIZE/results-N.json` and return their content; `fresh` goes on with nothing.

    Raises:
        StoppedError: a stage failed, or an answer is wrong; the steps before stay done.
    """
    # As an installed package has it: without, each stage compiles every module that it imports before it begins.
    compileall.compile_dir(Path(ringsmith.__file__).parent, quiet=2)
    request.workload.prepare(request.folders.root)
    journal = Journal(request, fresh=fresh)
    if journal.done:
        say(f"goes on after {len(journal.done)} steps of a run that was stopped")
    titles = [step.title for step in (*request.workload.once, *request.workload.each)]
    for step in request.workload.once:
        _done(request, journal, step, step.title, titles, request.seed)
    found = []
    for number in range(1, request.runs + 1):
        for step in request.workload.each:
            _done(request, journal, step, f"{number}: {step.title}", titles, request.seed + number)
        found.append(_concluded(request, journal, number))
    journal.file.unlink()
    return found


def _done(request: Request, journal: Journal, step: Step, name: str, titles: list[str], seed: int) -> None:
    """Do a step that is not done yet."""
    if name in journal.done:
        return
    reported = request.folders.io / "server_reported_steps.json"
    reported.unlink(missing_ok=True)
    begin = time.perf_counter()
    for stage in step.stages:
        _called(request, stage)
    if step.own:
        step.own(request.folders, seed)
    seconds = time.perf_counter() - begin
    figures = {
        "seconds": seconds,
        "bytes": {label: _bytes(request.folders.io / path) for label, path in step.sizes},
        "server": json.loads(reported.read_text("utf-8")) if reported.exists() else {},
    }
    journal.add(name, figures)
    say(f"{titles.index(step.title) + 1:2}: {name} (elapsed: {seconds:.4f}s)")
    for label, size in figures["bytes"].items():
        say(f"    {label}: {readable(size)}")
    for label, value in figures["server"].items():
        say(f"    [server] {label}: {value * 1e3:.2f} ms")


def _called(request: Request, stage: str) -> None:
    """Run a stage as a process; one that the submission does not have is left out, as some stages may be."""
    file = request.workload.submission / f"{stage}.py"
    if not file.exists():
        return
    arguments = [request.workload.argument(request.folders.size)]
    arguments += ["--count_only"] if request.folders.counted else []
    counts = {"BENCHMARK_THREADS": str(request.threads), "BENCHMARK_AGAIN": str(request.again)}
    program(file, arguments, request.folders.root, counts)


def program(file: Path, arguments: list[str], root: Path, environment: dict[str, str]) -> None:
    """Run a program of a submission in the workload's root.

    Raises:
        StoppedError: its status is not 0.
    """
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, str(file), *arguments]
    # In a session of its own: an interrupt at the terminal is for the harness, which then ends the stage.
    process = subprocess.Popen(
        command, cwd=root, env=os.environ | {"PYTHONPATH": path} | environment, start_new_session=True
    )
    try:
        status = process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    if status:
        raise StoppedError(f"{file.stem} of {file.parents[1].name} ended with status {status}", status)


def _concluded(request: Request, journal: Journal, number: int) -> dict[str, Any]:
    """Check the answer of a run and write its figures; a run that was checked before a stop is read again."""
    file = request.folders.measurements / f"results-{number}.json"
    name = f"{number}: checked"
    if name in journal.done:
        return dict(json.loads(file.read_text("utf-8")))
    right, line = request.workload.check.verdict(request.folders)
    say(f"{'PASS' if right else 'FAIL'} ({line})")
    if not right:
        raise StoppedError(f"{request.workload.name}, {request.folders.size}, run {number}: wrong: {line}", 1)
    figures = _figures(request, journal, number)
    quality = getattr(request.workload.check, "quality", None)
    if quality and request.folders.size != "single":
        figures["Quality"] = quality(request.folders)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    journal.add(name, {})
    say(f"[total latency] {figures['Timing']['Total']}")
    return figures


def _figures(request: Request, journal: Journal, number: int) -> dict[str, Any]:
    """The figures of a run: those of what is done once, then its own."""
    steps = [journal.done[step.title] | {"title": step.title} for step in request.workload.once]
    steps += [journal.done[f"{number}: {step.title}"] | {"title": step.title} for step in request.workload.each]
    timing = {step["title"]: f"{step['seconds']:.4f}s" for step in steps}
    timing["Total"] = f"{sum(step['seconds'] for step in steps):.4f}s"
    sizes = {label: readable(size) for step in steps for label, size in step["bytes"].items()}
    server = {label: f"{value}s" for step in steps for label, value in step["server"].items()}
    return dict(request.workload.about) | {"Timing": timing, "Bandwidth": sizes, "Server Reported": server}


def _bytes(path: Path) -> int:
    """The bytes of a file, or of all files in a folder; 0 where nothing is."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def readable(size: float) -> str:
    """Bytes as the figures of the other submissions write them."""
    units = iter("BKMGT")
    unit = next(units)
    while size >= 1024 and (larger := next(units, "")):
        size, unit = size / 1024, larger
    return f"{size:.1f}{unit}"


def say(line: str) -> None:
    """A line of progress."""
    print(f"{time.strftime('%H:%M:%S')} [harness] {line}", file=sys.stderr, flush=True)
