# SPDX-License-Identifier: Apache-2.0
"""`spec/results/*.json`: a line for each command with the values kept of its JSON and where they come from.

The name of a file is the command's verb. Lines are sorted, so a change of a figure is a change of one line.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ringsmith import shipped
from ringsmith.errors import InputError
from ringsmith.files import read_json, write_text
from ringsmith.scalars import is_number

RESULTS = shipped.spec() / "results"
#: Digits kept of a value: more than any page shows, fewer than a sum in another order changes.
DIGITS = 9


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a command printed once.

    `values` by their place in the JSON ("a.b[c=d].e", whose last word says the unit: cycles, lut, time_us); `commit`
    is the tree that it ran in, with a `+` where that had changes of its own; `tools` are the versions of the tools, or
    the processor, that a value depends on; `sources` is the hash of each part of the tree that it depends on, empty
    where it is not known, as of a figure that was entered from a page; `seconds` is how long it took.
    """

    command: str
    values: Mapping[str, float]
    commit: str = ""
    date: str = ""
    tools: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None


def read(folder: Path | None = None) -> dict[str, Result]:
    """Return all results by command; none where nothing was measured yet.

    Raises:
        InputError: a file is no list of results, or a command stands twice.
    """
    found: dict[str, Result] = {}
    for path in sorted((folder or RESULTS).glob("*.json")):
        data = read_json(path)
        if not isinstance(data, list):
            raise InputError(f"{path}: not a list of results; make claims writes it anew")
        for number, entry in enumerate(data, 1):
            result = _result(path, number, entry)
            if result.command in found:
                raise InputError(f"{path}: the command of result {number} stands twice: a figure has one home")
            found[result.command] = result
    return found


def save(results: Iterable[Result], folder: Path | None = None) -> None:
    """Write results, those of the same commands replaced, others kept; each file is replaced whole."""
    folder = folder or RESULTS
    fresh = {result.command: result for result in results}
    lines: dict[str, list[str]] = defaultdict(list)
    for command, result in sorted((read(folder) | fresh).items()):
        lines[verb(command)].append(json.dumps(_plain(result), ensure_ascii=False))
    for name in {verb(command) for command in fresh}:
        folder.mkdir(exist_ok=True)
        write_text(folder / f"{name}.json", "[\n" + ",\n".join(lines[name]) + "\n]\n")


def verb(command: str) -> str:
    """Return the second word of a command without its folder and ending: the name of its file."""
    words = command.split()
    return Path(words[1]).stem if len(words) > 1 else "other"


def rounded(value: float) -> float:
    """Return a value to the digits that are kept."""
    return float(f"{value:.{DIGITS}g}")


def _plain(result: Result) -> dict[str, Any]:
    """Return a result as its line says it: sorted, without what is not known, whole numbers as such."""
    values = {key: int(value) if value == int(value) else value for key, value in sorted(result.values.items())}
    entry = asdict(result) | {"values": values, "sources": dict(sorted(result.sources.items()))}
    return {key: value for key, value in entry.items() if value not in ("", None, {}) or key == "values"}


def _result(path: Path, number: int, entry: Any) -> Result:
    """Return a result that was read, or say what is wrong with it."""
    if not isinstance(entry, dict) or not _text(entry.get("command")):
        raise InputError(f"{path}: result {number} has no command; make claims writes the file anew")
    command = entry["command"]
    if unknown := set(entry) - {"command", "values", "commit", "date", "tools", "sources", "seconds"}:
        raise InputError(f"{path}: '{command}' has the unknown key {min(unknown)!r}")
    values, sources = entry.get("values"), entry.get("sources", {})
    if not isinstance(values, dict) or not all(is_number(value) and abs(value) < 1e300 for value in values.values()):
        raise InputError(f"{path}: '{command}': values must be numbers by their place in the command's JSON")
    if not isinstance(sources, dict) or not all(map(_text, sources.values())):
        raise InputError(f"{path}: '{command}': sources must be hashes by the name of a part")
    if not all(_text(entry.get(key, "")) for key in ("commit", "date", "tools")):
        raise InputError(f"{path}: '{command}': commit, date and tools must be text on one line")
    if not is_number(seconds := entry.get("seconds", 0)) or not 0 <= seconds < 1e9:
        raise InputError(f"{path}: '{command}': seconds must be a time")
    return Result(**entry | {"values": {key: float(value) for key, value in values.items()}})


def _text(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()
