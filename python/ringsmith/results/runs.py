# SPDX-License-Identifier: Apache-2.0
"""`spec/results/runs.toml`: the commands that pages take figures from, beside those of the claims ledger."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringsmith.errors import InputError
from ringsmith.files import read_toml
from ringsmith.results.store import RESULTS

_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, kw_only=True)
class Run:
    """A command with a name; pages call its values `id.place`, of which `places` are kept."""

    id: str
    command: str
    places: tuple[str, ...]


def load_runs(path: Path | None = None) -> tuple[Run, ...]:
    """Return the runs of the file; none where it is missing.

    Raises:
        InputError: an entry is no run, or a name or a command stands twice.
    """
    path = path or RESULTS / "runs.toml"
    entries = read_toml(path).get("run", []) if path.exists() else []
    if not isinstance(entries, list):
        raise InputError(f"{path}: run is no list of tables: write [[run]]")
    runs = tuple(_run(path, number, entry) for number, entry in enumerate(entries, 1))
    for what in ("id", "command"):
        seen: set[str] = set()
        for value in (getattr(run, what) for run in runs):
            if value in seen:
                raise InputError(f"{path}: the {what} '{value}' stands twice")
            seen.add(value)
    return runs


def _run(path: Path, number: int, entry: Any) -> Run:
    places = entry.get("values") if isinstance(entry, dict) else None
    if not isinstance(places, list) or set(entry) != {"id", "command", "values"}:
        raise InputError(f"{path}: run {number} needs id, command and values, the places in its JSON")
    texts = [entry["id"], entry["command"], *places]
    if not all(isinstance(text, str) and text.isprintable() and text for text in texts):
        raise InputError(f"{path}: run {number}: id, command and each of values must be text on one line")
    if not _NAME.fullmatch(entry["id"]):
        raise InputError(f"{path}: run {number}: the id '{entry['id']}' must be small letters, digits and hyphens")
    return Run(id=entry["id"], command=entry["command"], places=tuple(places))
