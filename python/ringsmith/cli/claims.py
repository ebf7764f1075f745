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

from ringsmith.claims.ledger import CLAIMS, PAPERS, Ledger, load, read_measured
from ringsmith.claims.measure import drift, measure, store
from ringsmith.claims.page import number, page, times, unit
from ringsmith.errors import InputError
from ringsmith.files import check_place, write_text
from ringsmith.report.terminal import plain_console

EXAMPLES = """Examples:

ringsmith claims: the ledger as a table

ringsmith claims --paper cofhee --json: one paper, one JSON object

ringsmith claims --html claims.html: a self-contained, sortable page

ringsmith claims --measure: run every command and store our values (long)

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
    measured: Annotated[bool, typer.Option("--measure", help="Run every command and store our values.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="With --measure: only what CI regenerates.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Run the fast commands; status 1 if a stored value is off.")
    ] = False,
) -> None:
    """Print the ledger, write its page, or regenerate our values."""
    if html is not None:
        check_place(html)
    ledger = _select(load(file), paper)
    status = 0
    if measured or check:
        status = _regenerate(ledger, only_fast=check or fast, compare=check)
        ledger = _select(load(file), paper)
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


def _regenerate(ledger: Ledger, *, only_fast: bool, compare: bool) -> int:
    """Run the commands; store their values, or with `compare` only compare them with the stored ones."""
    chosen = [claim for claim in ledger.claims if claim.fast or not only_fast]
    fresh, failures = measure(chosen, progress=lambda line: print(line, file=sys.stderr, flush=True))
    for name, reason in failures.items():
        print(f"{name}: {reason}", file=sys.stderr)
    if not compare:
        store(fresh)
        return 1 if failures else 0
    differences = drift(read_measured(), fresh)
    for line in differences:
        print(line, file=sys.stderr)
    return 1 if failures or differences else 0


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
