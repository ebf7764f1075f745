# SPDX-License-Identifier: Apache-2.0
"""`ringsmith show`: what a file of ours holds, in words; never a secret."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringsmith.cli.common import print_json
from ringsmith.runtime.describe import describe

EXAMPLES = """Examples:

ringsmith show score.rsp

ringsmith show score.rsp --listing

ringsmith show second.rsp --made-by first.rsp

ringsmith show keys.rsk --json
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(name="show", epilog=EXAMPLES)(show)


def show(
    file: Annotated[Path, typer.Argument(help="a program, key, ciphertext, message or parameter file")],
    listing: Annotated[bool, typer.Option("--listing", help="every operation of a program, one a line")] = False,
    made_by: Annotated[
        list[Path] | None,
        typer.Option("--made-by", help="a program whose result this one takes: compare what this one says of it"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object on stdout")] = False,
) -> None:
    """Say what a file is: kind, parameters, sizes, counts. Secret keys are named, never shown."""
    facts, text = describe(file, listing=listing, producers=made_by or ())
    if json:
        print_json(facts)
    else:
        width = max(map(len, facts))
        for name, value in facts.items():
            print(f"{name.replace('_', ' '):<{width}}  {_words(value)}")
        print(text, end="")


def _words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(map(str, value)) or "none"
    return str(value)
