# SPDX-License-Identifier: Apache-2.0
"""`spec/results/records.toml`: figures that were read once, on a processor or with a tool that is not at hand always.

They are told from results by what they lack: a command that prints them as JSON wherever it runs. So nothing measures
them anew by itself, and each says when, at which commit and on what it was read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringsmith.errors import InputError
from ringsmith.files import read_toml
from ringsmith.results.store import RESULTS
from ringsmith.scalars import is_number

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_PLACE = re.compile(r"[a-z0-9][a-z0-9_.]*")
_TEXTS = ("id", "command", "commit", "date", "on")


@dataclass(frozen=True, kw_only=True)
class Record:
    """What somebody read once from a command: `on` is the processor or the tool; pages call a value `id.place`."""

    id: str
    command: str
    commit: str
    date: str
    on: str
    values: Mapping[str, float]


def load_records(path: Path | None = None) -> tuple[Record, ...]:
    """Return the records of the file; none where it is missing.

    Raises:
        InputError: an entry is no record, or a name stands twice; the message names the file and the entry.
    """
    path = path or RESULTS / "records.toml"
    entries = read_toml(path).get("record", []) if path.exists() else []
    if not isinstance(entries, list):
        raise InputError(f"{path}: record is no list of tables: write [[record]]")
    records = tuple(_record(path, number, entry) for number, entry in enumerate(entries, 1))
    seen: set[str] = set()
    for record in records:
        if record.id in seen:
            raise InputError(f"{path}: the id '{record.id}' stands twice")
        seen.add(record.id)
    return records


def _record(path: Path, number: int, entry: Any) -> Record:
    if not isinstance(entry, dict) or set(entry) != {*_TEXTS, "values"}:
        raise InputError(f"{path}: record {number} needs {', '.join(_TEXTS)} and values, and nothing else")
    texts = [entry[name] for name in _TEXTS]
    if not all(isinstance(text, str) and text.isprintable() and text for text in texts):
        raise InputError(f"{path}: record {number}: {', '.join(_TEXTS)} must be text on one line")
    if not _NAME.fullmatch(entry["id"]):
        raise InputError(f"{path}: record {number}: the id '{entry['id']}' must be small letters, digits and hyphens")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", entry["date"]):
        raise InputError(
            f"{path}: the record '{entry['id']}': the date '{entry['date']}' must be written as 2026-11-23"
        )
    values = entry["values"]
    if not isinstance(values, dict) or not values:
        raise InputError(f"{path}: the record '{entry['id']}': values must be a table of numbers")
    for place, value in values.items():
        if not _PLACE.fullmatch(place) or not is_number(value) or abs(value) >= 1e300:
            raise InputError(f"{path}: the record '{entry['id']}': values.{place!r} must be a number by a small name")
    return Record(**entry | {"values": {place: float(value) for place, value in values.items()}})
