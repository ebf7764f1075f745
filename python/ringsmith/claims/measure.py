# SPDX-License-Identifier: Apache-2.0
"""Regenerating our values: each command runs once, and its JSON serves every claim that names it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ringsmith import shipped
from ringsmith.claims.ledger import MEASURED, Claim, estimate_key, read_measured
from ringsmith.errors import ToolError
from ringsmith.files import write_text
from ringsmith.scalars import is_number

STEP = re.compile(r"^(?P<key>[^\[\]]+)(\[(?P<field>\w+)=(?P<value>[^\]]+)\])?$")


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
    """Run one of the ledger's `ringsmith …` commands from the repository root and parse its JSON.

    Raises:
        ToolError: it fails, answers wrongly or prints no JSON; the message holds its last words.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ToolError(f"'{command}' is not a ringsmith command: {error}") from None
    if words[:1] != ["ringsmith"]:
        raise ToolError(f"'{command}' is not a ringsmith command")
    done = subprocess.run(
        [sys.executable, "-m", "ringsmith", *words[1:]],
        cwd=shipped.root(),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise ToolError(f"'{command}' ended with status {done.returncode}: {last}")
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        raise ToolError(f"'{command}' printed no JSON: {error}") from error


def measure(
    claims: Iterable[Claim], *, progress: Callable[[str], None], run: Callable[[str], Any] = run_command
) -> tuple[dict[str, float], dict[str, str]]:
    """Values by claim id, and by claim id the reason why one could not be had."""
    wanted = [figure for claim in claims for figure in _figures(claim)]
    outputs: dict[str, Any] = {}
    values: dict[str, float] = {}
    failures: dict[str, str] = {}
    commands = list(dict.fromkeys(command for _, command, _, _ in wanted))
    for number, command in enumerate(commands, 1):
        progress(f"[{number}/{len(commands)}] {command}")
        try:
            outputs[command] = run(command)
        except ToolError as error:
            outputs[command] = error
    for name, command, path, scale in wanted:
        output = outputs[command]
        try:
            if isinstance(output, ToolError):
                raise output
            values[name] = round(pick(output, path) * scale, 6)
        except ToolError as error:
            failures[name] = str(error)
    return values, failures


def _figures(claim: Claim) -> Iterator[tuple[str, str, str, float]]:
    """Name, command, path and scale of what a claim has of ours: a value, or an estimate."""
    if claim.command:
        yield claim.id, claim.command, claim.path or "", claim.scale
    if claim.estimate_command:
        yield estimate_key(claim.id), claim.estimate_command, claim.estimate_path or "", claim.estimate_scale


def store(values: dict[str, float], path: Path = MEASURED) -> None:
    """Add `values` to the stored ones; the file is replaced whole, so that an interruption loses nothing."""
    merged = dict(sorted({**read_measured(path), **values}.items()))
    write_text(path, json.dumps(merged, indent=1) + "\n")


def drift(stored: dict[str, float], fresh: dict[str, float]) -> list[str]:
    """Differences of fresh values from the stored ones; cycles and counts are exact, so any one counts."""
    return [
        f"{key}: stored {stored.get(key)}, now {value}"
        for key, value in sorted(fresh.items())
        if stored.get(key) != value
    ]
