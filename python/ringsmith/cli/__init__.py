# SPDX-License-Identifier: Apache-2.0
"""The command line: one module per verb, each with a `register(app)` function."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from ringsmith._native import __version__
from ringsmith.cli.outcome import TRACEBACK, guarded
from ringsmith.progress import telling

# One verb, one module of this package; a verb's module exposes `register(app: typer.Typer) -> None`.
VERBS: tuple[str, ...] = (
    "run",
    "compile",
    "show",
    "convert",
    "params",
    "claims",
    "synth",
    "explore",
    "generate",
    "bitstream",
    "simulate",
    "serve",
    "jobs",
    "help",
)
STATUS = """Exit status: 0 right, 1 the answer is wrong or a check failed, 2 the input or the machine does not allow it,
70 a defect of ringsmith, 130 interrupted, 141 the output was not read to its end."""
FLAG = "--traceback"


def application(verbs: Sequence[str] = VERBS) -> typer.Typer:
    """Return the command line with these verbs; only their modules are imported."""
    # A report of typer's own would print every local variable: rows of data, seeds, keys.
    app = typer.Typer(
        name="ringsmith",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        pretty_exceptions_show_locals=False,
    )
    app.callback(epilog=STATUS)(_root)
    for verb in verbs:
        importlib.import_module(f"ringsmith.cli.{verb}").register(app)
    return app


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ringsmith {__version__}")
        raise typer.Exit


def _root(
    traceback: Annotated[
        bool, typer.Option(FLAG, help="anywhere: where an error came from, without values (RINGSMITH_TRACEBACK=1)")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="print the version")
    ] = False,
) -> None:
    """Computations on encrypted data, on a CPU or on a co-processor that ringsmith generates itself."""


def main() -> None:
    """Run the command line; the exit status is one of `STATUS`."""
    arguments = [argument for argument in sys.argv[1:] if argument != FLAG]
    if len(arguments) < len(sys.argv) - 1:
        os.environ[TRACEBACK] = "1"
    # The verbs show what they do themselves.
    with telling(lambda _: None):
        sys.exit(guarded(lambda: _status(arguments)))


def _status(arguments: list[str]) -> int:
    # The verb is the first word that is no option; the error for an unknown verb lists all verbs.
    word = next((argument for argument in arguments if not argument.startswith("-")), "")
    command = typer.main.get_command(application((word,) if word in VERBS else VERBS))
    with command.make_context("ringsmith", arguments) as context:
        command.invoke(context)
    return 0
