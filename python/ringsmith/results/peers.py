# SPDX-License-Identifier: Apache-2.0
"""`spec/results/peers/*.json`: times beside other libraries, a file for each machine; a run replaces its own alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from ringsmith.errors import InputError
from ringsmith.files import read_json, write_text
from ringsmith.results.store import RESULTS
from ringsmith.scalars import is_int, is_number

PEERS = RESULTS / "peers"
_MODEL = re.compile(r"family (\d+) model (\d+)")
#: The instructions that a row's times are of: the processor's best, AVX2 where it has more, no vectors.
Level = Literal["best", "avx2", "portable"]
#: Files of machines that are read; far more than anybody measures.
MOST = 100


@dataclass(frozen=True, kw_only=True)
class Row:
    """An operation of ours in µs (median; `spread` is a share of it) and the fastest library that is not ours.

    `ratio` is how many times as long that library takes; 0 where none has the operation.
    """

    operation: str
    n: int
    moduli: str
    threads: int
    ours_us: float
    spread: float
    peer: str = ""
    peer_us: float = 0.0
    ratio: float = 0.0
    level: Level = "best"


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One run on one machine.

    `machine` is what the system calls the processor; `left_out` has the reason for each peer that was not run;
    `tables` are further ones by title, as Markdown; `limits` is the transforms' bench, as text.
    """

    machine: str
    command: str
    commit: str
    date: str
    peers: tuple[str, ...]
    left_out: Mapping[str, str]
    rows: tuple[Row, ...]
    tables: Mapping[str, str]
    limits: str

    @property
    def slug(self) -> str:
        """The name of its file: the processor's family and model, else its name."""
        known = _MODEL.search(self.machine)
        text = f"family-{known[1]}-model-{known[2]}" if known else self.machine.lower()
        return re.sub(r"[^a-z0-9]+", "-", text).strip("-")[:60] or "unknown"

    def ratios(self, operation: str, level: Level = "best") -> list[float]:
        """Return the ratios of an operation on one thread at a level, the least first."""
        rows = [row for row in self.rows if (row.operation, row.threads, row.level) == (operation, 1, level)]
        return sorted(row.ratio for row in rows if row.ratio)

    def figures(self) -> dict[str, float]:
        """Return what pages may show, by name: the least and the greatest ratio of each operation, and its times.

        Names begin with `peers-` and the machine's slug, held to AVX2 with `-avx2` behind that.
        """
        found: dict[str, float] = {}
        levels: tuple[tuple[Level, str], ...] = (("best", f"peers-{self.slug}"), ("avx2", f"peers-{self.slug}-avx2"))
        for level, start in levels:
            rows = [row for row in self.rows if row.threads == 1 and row.level == level]
            for operation in {row.operation for row in rows}:
                if ratios := self.ratios(operation, level):
                    found |= {f"{start}.{operation}.least": ratios[0], f"{start}.{operation}.most": ratios[-1]}
            for row in rows:
                name = f"{start}.{row.operation}.{row.n}.{row.moduli}"
                found |= {f"{name}.us": row.ours_us} | ({f"{name}.peer_us": row.peer_us} if row.peer else {})
        return found


def load_machines(folder: Path | None = None) -> tuple[Machine, ...]:
    """Return the machines of a folder by the names of their files.

    Raises:
        InputError: a file is no run of the peers; the message names it and what is wrong.
    """
    paths = sorted((folder or PEERS).glob("*.json"))
    if len(paths) > MOST:
        raise InputError(f"{folder or PEERS}: {len(paths)} machines; the most are {MOST}")
    return tuple(_machine(path, read_json(path)) for path in paths)


def save_machine(machine: Machine, folder: Path | None = None) -> Path:
    """Write a machine's file, whatever it held before; those of other machines stay as they are."""
    folder = folder or PEERS
    folder.mkdir(parents=True, exist_ok=True)
    entry = asdict(machine)
    rows = ",\n".join(json.dumps(_plain(row), ensure_ascii=False) for row in entry.pop("rows"))
    head = json.dumps(entry, ensure_ascii=False, indent=1, sort_keys=True)[:-2]
    path = folder / f"{machine.slug}.json"
    write_text(path, f'{head},\n "rows": [\n{rows}\n]\n}}\n')
    return path


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row without what is not known."""
    return {key: value for key, value in row.items() if value not in ("", 0.0, "best") or key in ("ours_us", "spread")}


def _machine(path: Path, data: Any) -> Machine:
    names = {field.name for field in fields(Machine)}
    if not isinstance(data, dict) or set(data) != names:
        raise InputError(f"{path}: no run of the peers: it needs {', '.join(sorted(names))}; make bench WHAT=peers")
    for name in ("machine", "command", "commit", "date"):
        if not isinstance(data[name], str) or not data[name].isprintable():
            raise InputError(f"{path}: {name} must be text on one line")
    if not isinstance(data["rows"], list) or not _texts(data["peers"]) or not isinstance(data["limits"], str):
        raise InputError(f"{path}: rows and peers must be lists, limits text")
    for name in ("left_out", "tables"):
        if not isinstance(data[name], dict) or not _texts(list(data[name].values())):
            raise InputError(f"{path}: {name} must be texts by their name")
    rows = tuple(_row(path, number, entry) for number, entry in enumerate(data["rows"], 1))
    return Machine(**data | {"rows": rows, "peers": tuple(data["peers"])})


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _row(path: Path, number: int, entry: Any) -> Row:
    try:
        row = Row(**entry)
    except TypeError as error:
        raise InputError(f"{path}: row {number} is no row: {error}") from None
    numbers = (row.ours_us, row.spread, row.peer_us, row.ratio)
    texts = (row.operation, row.moduli, row.peer)
    if (
        not all(is_number(value) and 0 <= value < 1e12 for value in numbers)
        or not all(isinstance(text, str) and text.isprintable() and "|" not in text for text in texts)
        or not is_int(row.n)
        or not is_int(row.threads)
        or row.ours_us == 0
    ):
        raise InputError(f"{path}: row {number}: times must be above 0 and names text on one line without '|'")
    if row.level not in get_args(Level):
        raise InputError(f"{path}: row {number}: level must be one of {', '.join(get_args(Level))}, not {row.level!r}")
    return row
