# SPDX-License-Identifier: Apache-2.0
"""Every figure of ours by name: a claim's id, or the id of a run or record and a place (`heaws-multiply.cycles`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ringsmith import shipped
from ringsmith.claims.ledger import Figure, Ledger, load
from ringsmith.errors import InputError
from ringsmith.results import RESULTS, Record, Result, Run, load_records, load_runs, read, rounded
from ringsmith.results.peers import Machine, load_machines


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The ledger, the runs of the pages, what is stored of both, what was recorded once, and times of machines."""

    ledger: Ledger
    runs: tuple[Run, ...]
    stored: Mapping[str, Result]
    records: tuple[Record, ...] = ()
    machines: tuple[Machine, ...] = ()

    @cached_property
    def named(self) -> dict[str, Figure]:
        """Where each figure comes from."""
        found = {claim.id: claim.ours_at for claim in self.ledger.claims if claim.ours_at}
        found |= {f"{claim.id}:estimate": claim.estimate_at for claim in self.ledger.claims if claim.estimate_at}
        for run in self.runs:
            places = {f"{run.id}.{place}": Figure(command=run.command, path=place, scale=1.0) for place in run.places}
            found |= places
        return found

    @cached_property
    def recorded(self) -> dict[str, float]:
        """Each figure of the records, and of the machines beside other libraries."""
        found = {f"{record.id}.{place}": value for record in self.records for place, value in record.values.items()}
        for machine in self.machines:
            found |= machine.figures()
        return found

    @cached_property
    def wanted(self) -> dict[str, set[str]]:
        """The places to be kept of each command's JSON."""
        found = self.ledger.wanted()
        for run in self.runs:
            found.setdefault(run.command, set()).update(run.places)
        return found

    def value(self, name: str) -> float:
        """Return the stored value of a figure. Raises InputError where there is no such, or none is stored."""
        if name in self.recorded:
            return self.recorded[name]
        figure = self.named.get(name)
        if figure is None:
            raise InputError(f"no figure '{name}': no claim, run or record of that name (spec/results/*.toml)")
        result = self.stored.get(figure.command)
        if result is None or figure.path not in result.values:
            raise InputError(f"no value is stored of '{name}': ringsmith claims --measure --only '{figure.command}'")
        return rounded(result.values[figure.path] * figure.scale)

    def result(self, name: str) -> Result:
        """Return what is stored of the command that a figure comes from."""
        return self.stored[self.named[name].command]


def figures(spec: Path | None = None) -> Figures:
    """Return all figures of a folder of specifications."""
    results = RESULTS if spec is None else spec / "results"
    ledger = load((spec or shipped.spec()) / "claims.toml", results)
    runs, records = load_runs(results / "runs.toml"), load_records(results / "records.toml")
    if both := {run.id for run in runs} & {record.id for record in records}:
        raise InputError(f"{results}: '{min(both)}' is a run and a record: a name belongs to one of them")
    machines = load_machines(results / "peers")
    return Figures(ledger=ledger, runs=runs, stored=read(results), records=records, machines=machines)
