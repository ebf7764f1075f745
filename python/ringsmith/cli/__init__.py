# SPDX-License-Identifier: Apache-2.0
"""The command line: one module per verb, each with a `register(app)` function."""

from __future__ import annotations

import importlib
import sys

import typer

from ringsmith.errors import RingsmithError

# One verb, one module of this package; a verb's module exposes `register(app: typer.Typer) -> None`.
VERBS: tuple[str, ...] = ("run", "params", "claims", "synth", "generate", "simulate")

app = typer.Typer(name="ringsmith", no_args_is_help=True, add_completion=False, rich_markup_mode="rich")


@app.callback()
def _root() -> None:
    """Computations on encrypted data, on a CPU or on a co-processor that ringsmith generates itself."""


for _verb in VERBS:
    importlib.import_module(f"ringsmith.cli.{_verb}").register(app)


def main() -> None:
    """Run the command line: exit status 0 right, 1 wrong answer or failed check, 2 bad input."""
    try:
        app()
    except RingsmithError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
