# SPDX-License-Identifier: Apache-2.0
"""`ringsmith claims`: the ledger of published figures beside ours."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from ringsmith.claims.figures import Figures, figures
from ringsmith.claims.ledger import CLAIMS, PAPERS, Ledger, load
from ringsmith.claims.page import number, page, times, unit
from ringsmith.errors import InputError, ToolError
from ringsmith.files import check_place, write_text
from ringsmith.hw.process import terminate_as_interrupt
from ringsmith.report.terminal import plain_console
from ringsmith.results.measure import measure, run_command, stale, values_of

EXAMPLES = """Examples:

ringsmith claims: the ledger as a table

ringsmith claims --paper cofhee --json: one paper, one JSON object

ringsmith claims --html claims.html: a self-contained, sortable page

ringsmith claims --stale: results whose sources have changed, with the reason, the cheapest first

ringsmith claims --measure: run the commands of stale results and store their values (long; can be resumed)

ringsmith claims --measure --only 'simulate heaws': of those, the commands with these words

ringsmith claims --measure --all --only 'synth cofhee': fresh results too

ringsmith claims --check: run the fast ones and compare with the stored values
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("claims", help="Every published figure beside ours, like for like.", epilog=EXAMPLES)(claims)


def claims(
    paper: Annotated[str | None, typer.Option(help=f"Only one paper: {', '.join(PAPERS)}.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write the ledger as a self-contained HTML page.")] = None,
    file: Annotated[Path, typer.Option("--file", help="Another ledger file.")] = CLAIMS,
    old: Annotated[bool, typer.Option("--stale", help="List results whose sources have changed.")] = False,
    measured: Annotated[bool, typer.Option("--measure", help="Measure stale results and store them.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="With --measure: fresh results too.")] = False,
    only: Annotated[str, typer.Option(help="With --stale and --measure: only commands that contain this.")] = "",
    fast: Annotated[bool, typer.Option("--fast", help="With --measure: only what --check runs.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Run the fast commands; status 1 if a stored value is off.")
    ] = False,
) -> None:
    """Print the ledger, write its page, or regenerate our values."""
    if html is not None:
        check_place(html)
    ledger = _select(load(file), paper)
    status = 0
    if old or measured:
        chosen = _chosen(figures(), only, fast=fast, everything=everything)
        if old:
            raise typer.Exit(_list(chosen))
        status = _measure(figures(), chosen)
        ledger = _select(load(file), paper)
    if check:
        status = _check(figures())
    if html is not None:
        write_text(html, page(ledger))
    if as_json:
        print(json.dumps(ledger.as_dict()))
    elif html is None and not check:
        _table(ledger)
    raise typer.Exit(status)


def _select(ledger: Ledger, paper: str | None) -> Ledger:
    if paper is None:
        return ledger
    if paper not in PAPERS:
        raise InputError(f"--paper {paper}: no such paper; known: {', '.join(PAPERS)}")
    return Ledger(
        claims=tuple(claim for claim in ledger.claims if claim.paper == paper),
        errata=tuple(erratum for erratum in ledger.errata if erratum.paper == paper),
    )


def _chosen(known: Figures, only: str, *, fast: bool, everything: bool) -> dict[str, str]:
    """Return the commands that are stale, or all, with the reason, as far as the options want them."""
    quick = _quick(known.ledger)
    stored = {} if everything else known.stored
    reasons = {command: "" if everything else reason for command, reason in stale(known.wanted, stored).items()}
    chosen = {name: why for name, why in reasons.items() if only in name and (not fast or name in quick)}
    if only and not any(only in command for command in known.wanted):
        raise InputError(f"--only {only!r}: no command contains that; ringsmith claims --json shows them")
    return chosen


def _quick(ledger: Ledger) -> set[str]:
    return {claim.command for claim in ledger.claims if claim.fast and claim.command}


def _list(chosen: dict[str, str]) -> int:
    """Print the commands that are stale."""
    for command, reason in chosen.items():
        print(f"{command}\n    {reason}")
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _measure(known: Figures, chosen: dict[str, str]) -> int:
    """Run the commands and store their values as each ends."""
    with terminate_as_interrupt():
        failures = measure(known.wanted, chosen, progress=_say)
    for command, reason in failures.items():
        _say(f"{command}: {reason}")
    return 1 if failures else 0


def _check(known: Figures) -> int:
    """Run the fast commands and say which values differ from the stored ones."""
    status = 0
    for command in sorted(_quick(known.ledger)):
        _say(command)
        try:
            fresh = values_of(run_command(command), known.wanted[command])
        except ToolError as error:
            _say(str(error))
            status = 1
            continue
        stored = known.stored[command].values if command in known.stored else {}
        for place in (place for place, value in fresh.items() if stored.get(place) != value):
            _say(f"{command}: {place}: stored {stored.get(place)}, now {fresh[place]}")
            status = 1
    return status


def _table(ledger: Ledger) -> None:
    table = Table(title="published beside ours (a ratio above 1: ours is better)")
    table.add_column("quantity", ratio=1)
    for name in ("published", "ours", "ratio"):
        table.add_column(name, justify="right", no_wrap=True)
    for claim in ledger.claims:
        ratio = claim.ratio
        style = "" if ratio is None else "green" if ratio >= 1 else "red"
        guess = "" if claim.estimate is None else f"\nestimate, no value of ours: {number(claim.estimate)}{unit(claim)}"
        why = (f"\nopen: {claim.why_open}", "dim") if claim.why_open else ""
        table.add_row(
            Text.assemble((claim.id, "bold"), f" {claim.quantity}", why, (guess, "dim")),
            number(claim.published) + unit(claim),
            number(claim.ours),
            Text("" if ratio is None else times(ratio), style),
        )
    plain_console().print(table)
