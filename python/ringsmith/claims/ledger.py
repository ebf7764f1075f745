# SPDX-License-Identifier: Apache-2.0
"""The ledger's entries: read from `spec/claims.toml`, checked, joined with our values in the store of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from ringsmith import shipped
from ringsmith.errors import InputError
from ringsmith.files import read_toml
from ringsmith.results import Record, Result, Run, load_records, load_runs, read, rounded
from ringsmith.results.expression import evaluate, names_in
from ringsmith.results.peers import Machine, load_machines
from ringsmith.scalars import is_int, is_number

CLAIMS = shipped.spec() / "claims.toml"
PAPERS = ("cofhee", "zynq", "bfv-client", "heaws", "coxhe", "fhe-benchmarking")
BETTER = ("lower", "higher", "none")
REQUIRED = ("id", "paper", "where", "quantity", "published", "unit", "better", "includes", "source")


def _finite(value: Any) -> bool:
    return is_number(value) and abs(value) < 1e300


def _text(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()


def _count(value: Any) -> bool:
    return is_int(value) and 0 < value < 1000


def _counts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_count, value))


# Checks of a field's values, and their descriptions, by type.
_FITS: dict[str, Callable[[Any], bool]] = {
    "str": _text,
    "str | None": _text,
    "float": _finite,
    "float | int | str": lambda value: _finite(value) or _text(value),
    "bool": lambda value: isinstance(value, bool),
    "int": _count,
    "tuple[int, ...]": _counts,
}
_WORDS = {
    "str": "text on one line",
    "str | None": "text on one line",
    "float": "a number",
    "float | int | str": "a number or text on one line",
    "bool": "true or false",
    "int": "a number from 1 to 999",
    "tuple[int, ...]": "a list of numbers from 1 to 999",
}


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """A place where a paper is wrong or contradicts itself."""

    number: int
    paper: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A number among those that a command prints: its place in the JSON, times `scale`."""

    command: str
    path: str
    scale: float


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One published figure and, where it can be had, the command that gives ours.

    `path` names the value in the command's JSON; `scale` multiplies it; `fast` marks what is regenerated in CI.
    Without a command, `reason` says why the entry is open. `ours` is the value in the store of results. An open
    entry may have an estimate, under a heading of its own and without a ratio: what `estimate_command` prints at
    `estimate_path`, times `estimate_scale`. In place of a command and its path, `figure` or `estimate_figure` is an
    expression of what `spec/results/runs.toml` and `records.toml` name (`heaws-multiply.cycles / 200`).
    """

    id: str
    paper: str
    where: str
    quantity: str
    published: float | int | str
    unit: str
    better: str
    includes: str
    source: str
    note: str = ""
    errata: tuple[int, ...] = ()
    command: str | None = None
    path: str | None = None
    scale: float = 1.0
    fast: bool = False
    figure: str | None = None
    reason: str | None = None
    ours: float | None = None
    estimate_command: str | None = None
    estimate_path: str | None = None
    estimate_scale: float = 1.0
    estimate_figure: str | None = None
    estimate: float | None = None

    @property
    def ours_at(self) -> Figure | None:
        """Where our value comes from."""
        return Figure(command=self.command, path=self.path or "", scale=self.scale) if self.command else None

    @property
    def estimate_at(self) -> Figure | None:
        """Where the estimate comes from."""
        command, path = self.estimate_command, self.estimate_path or ""
        return Figure(command=command, path=path, scale=self.estimate_scale) if command else None

    @property
    def ratio(self) -> float | None:
        """How many times better ours is: published / ours where lower is better, ours / published where higher is."""
        if self.ours is None or isinstance(self.published, str) or self.better == "none":
            return None
        if not self.ours or not self.published:
            return None
        return self.published / self.ours if self.better == "lower" else self.ours / self.published

    @property
    def why_open(self) -> str | None:
        """Why there is no value of ours, or None if there is one."""
        if self.ours is not None:
            return None
        return self.reason or "not measured yet: make claims"

    def row(self) -> dict[str, Any]:
        """The entry as `ringsmith claims --json` prints it."""
        return {
            "id": self.id,
            "paper": self.paper,
            "where": self.where,
            "quantity": self.quantity,
            "published": self.published,
            "unit": self.unit,
            "better": self.better,
            "includes": self.includes,
            "ours": self.ours,
            "ratio": self.ratio,
            "command": self.command or self.figure,
            "source": self.source,
            "estimate": self.estimate,
            "estimate_command": self.estimate_command or self.estimate_figure,
            "reason": self.why_open,
            "note": self.note,
            "errata": list(self.errata),
        }


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """All claims and the papers' errors."""

    claims: tuple[Claim, ...]
    errata: tuple[Erratum, ...]

    def wanted(self) -> dict[str, set[str]]:
        """The places of all values and estimates in the JSON of their commands, by command."""
        found: dict[str, set[str]] = {}
        for figure in (figure for claim in self.claims for figure in (claim.ours_at, claim.estimate_at) if figure):
            found.setdefault(figure.command, set()).add(figure.path)
        return found

    def as_dict(self) -> dict[str, Any]:
        """The whole ledger as JSON-ready data."""
        return {
            "claims": [claim.row() for claim in self.claims],
            "errata": [{"number": e.number, "paper": e.paper, "text": e.text} for e in self.errata],
        }


def load(path: Path = CLAIMS, results: Path | None = None) -> Ledger:
    """Read and check the ledger.

    Raises:
        InputError: a file cannot be parsed, or an entry lacks a field, has one of another type or of several lines,
            names an unknown paper, repeats an id, or has neither a command nor a reason; the message names the file,
            the entry and what is missing.
    """
    data = read_toml(path)
    errata = tuple(_erratum(path, index, entry) for index, entry in enumerate(_entries(path, data, "erratum")))
    known = _Known(
        read(results),
        load_runs(_beside(results, "runs.toml")),
        load_records(_beside(results, "records.toml")),
        load_machines(_beside(results, "peers")),
    )
    numbers = {erratum.number for erratum in errata}
    seen: set[str] = set()
    claims = []
    for index, entry in enumerate(_entries(path, data, "claim")):
        claim = _claim(path, index, entry, known)
        if claim.id in seen:
            raise InputError(f"{path}: claim '{claim.id}' stands twice; ids are unique")
        if unknown := set(claim.errata) - numbers:
            raise InputError(f"{path}: claim '{claim.id}' cites erratum {min(unknown)}, which does not exist")
        seen.add(claim.id)
        claims.append(claim)
    return Ledger(claims=tuple(claims), errata=errata)


def _entries(path: Path, data: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The tables `[[name]]` of the file."""
    entries = data.get(name, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{path}: {name} is no list of tables: write [[{name}]]")
    return entries


def _check_types(path: Path, what: str, entry: Mapping[str, Any], kind: type[Claim | Erratum]) -> None:
    """Refuse an unknown key and a value that its field cannot hold."""
    known = {field.name: str(field.type) for field in fields(kind)}
    for value in ("ours", "estimate"):
        known.pop(value, None)
    for key, value in entry.items():
        if key not in known:
            raise InputError(f"{path}: {what} has the unknown key {key!r}; known: {', '.join(sorted(known))}")
        if not _FITS[known[key]](value):
            raise InputError(f"{path}: {what}: {key} must be {_WORDS[known[key]]}")


def _erratum(path: Path, index: int, entry: Mapping[str, Any]) -> Erratum:
    _check_types(path, f"erratum number {index + 1}", entry, Erratum)
    try:
        return Erratum(**entry)
    except TypeError:
        raise InputError(f"{path}: erratum number {index + 1} needs number, paper and text") from None


def _beside(results: Path | None, name: str) -> Path | None:
    return None if results is None else results / name


class _Known:
    """The values that claims take: stored ones, and those that runs and records give a name."""

    def __init__(
        self,
        stored: Mapping[str, Result],
        runs: tuple[Run, ...],
        records: tuple[Record, ...],
        machines: tuple[Machine, ...],
    ) -> None:
        self.stored = stored
        self.places = {f"{run.id}.{place}": (run.command, place) for run in runs for place in run.places}
        self.recorded = {f"{record.id}.{place}": value for record in records for place, value in record.values.items()}
        for machine in machines:
            self.recorded |= machine.figures()

    def at(self, figure: Figure | None) -> float | None:
        """Return the stored value of a figure, scaled; None where it was not measured."""
        result = None if figure is None else self.stored.get(figure.command)
        value = None if result is None or figure is None else result.values.get(figure.path)
        return None if value is None or figure is None else rounded(value * figure.scale)

    def of(self, expression: str | None) -> float | None:
        """Return the value of an expression; None where there is none or a run of it was not measured.

        Raises:
            InputError: it cannot be read, or names what is neither a run's place nor a record's.
        """
        if expression is None:
            return None
        values: dict[str, float | None] = {}
        for name in names_in(expression):
            if name not in self.places and name not in self.recorded:
                raise InputError(f"no run and no record has '{name}' (spec/results/*.toml)")
            command, place = self.places.get(name, ("", ""))
            result = self.stored.get(command)
            values[name] = self.recorded.get(name, result.values.get(place) if result else None)
        found = {name: value for name, value in values.items() if value is not None}
        return rounded(evaluate(expression, found.__getitem__)) if len(found) == len(values) else None


def _claim(path: Path, index: int, entry: Mapping[str, Any], known: _Known) -> Claim:
    name = entry["id"] if _text(entry.get("id")) else f"number {index + 1}"
    _check_types(path, f"claim '{name}'", entry, Claim)
    for key in REQUIRED:
        if entry.get(key) in (None, ""):
            raise InputError(f"{path}: claim '{name}' has no {key}; every claim needs {', '.join(REQUIRED)}")
    if entry["paper"] not in PAPERS:
        raise InputError(f"{path}: claim '{name}' names the paper '{entry['paper']}'; known: {', '.join(PAPERS)}")
    if entry["better"] not in BETTER:
        raise InputError(f"{path}: claim '{name}' says better = '{entry['better']}'; known: {', '.join(BETTER)}")
    if sum(key in entry for key in ("command", "figure", "reason")) != 1 or ("command" in entry) != ("path" in entry):
        raise InputError(
            f"{path}: claim '{name}' needs a command with its path, or a figure, or else a reason why it is open"
        )
    if ("estimate_command" in entry) != ("estimate_path" in entry):
        raise InputError(f"{path}: claim '{name}' needs estimate_command and estimate_path together")
    if "estimate_command" in entry and "estimate_figure" in entry:
        raise InputError(f"{path}: claim '{name}' has an estimate_command and an estimate_figure: one of them")
    if ("estimate_command" in entry or "estimate_figure" in entry) and "reason" not in entry:
        raise InputError(f"{path}: claim '{name}' has a value of ours and needs no estimate")
    claim = Claim(**{**entry, "errata": tuple(entry.get("errata", ()))})
    try:
        ours, estimate = known.of(claim.figure), known.of(claim.estimate_figure)
    except InputError as error:
        raise InputError(f"{path}: claim '{name}': {error}") from None
    return replace(
        claim,
        ours=known.at(claim.ours_at) if ours is None else ours,
        estimate=known.at(claim.estimate_at) if estimate is None else estimate,
    )
