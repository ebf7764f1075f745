# SPDX-License-Identifier: Apache-2.0
"""`ringsmith show`: what a file of ours holds, in words, never a secret; a hardware preset, key by key."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from ringsmith.cli.common import HEIR, print_json
from ringsmith.cli.fhetch import SUFFIX, show_trace
from ringsmith.errors import InputError, ParameterError
from ringsmith.heir.describe import describe_heir
from ringsmith.presets import EVERY, load_any, parse_overrides, preset_names, resolved
from ringsmith.runtime.describe import describe

EXAMPLES = """Examples:

ringsmith show score.rsp

ringsmith show score.rsp --listing

ringsmith show second.rsp --made-by first.rsp

ringsmith show keys.rsk --json

ringsmith show steps.txt.fhetch

ringsmith show network.mlir

ringsmith show heaws-x6 --set cores=4
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(name="show", epilog=EXAMPLES)(show)


def show(
    file: Annotated[
        Path,
        typer.Argument(
            help="program, key, ciphertext, message, parameters, .fhetch trace, .mlir file; a preset's name or .toml"
        ),
    ],
    listing: Annotated[bool, typer.Option("--listing", help="every operation of a program, one a line")] = False,
    made_by: Annotated[
        list[Path] | None,
        typer.Option("--made-by", help="the program whose result this one takes: check this one's claims about it"),
    ] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value; overrides a preset's key")] = None,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object on stdout")] = False,
) -> None:
    """Print what a file holds: kind, parameters, sizes, counts. Secret keys are named, never shown.

    Of a hardware preset: every key, its value, and where that comes from.
    """
    if _is_preset(file):
        if listing or made_by:
            raise InputError(f"{file}: a preset, which has no listing and no producers")
        _show_preset(str(file), settings or [], json=json)
        return
    if settings:
        raise InputError(f"{file}: --set goes with a preset: {', '.join(preset_names(*EVERY))}, or a .toml file")
    if file.suffix == SUFFIX:
        if listing or made_by:
            raise InputError(f"{file}: a trace, which is its own listing and has no producers")
        show_trace(file, json=json)
        return
    if file.suffix == HEIR:
        if listing or made_by:
            raise InputError(f"{file}: a file of HEIR's, which is its own listing and has no producers")
        facts, text = describe_heir(file), ""
    else:
        facts, text = describe(file, listing=listing, producers=made_by or ())
    if json:
        print_json(facts)
    else:
        width = max(map(len, facts))
        for name, value in facts.items():
            print(f"{name.replace('_', ' '):<{width}}  {_words(value)}")
        print(text, end="")


def _is_preset(file: Path) -> bool:
    """Whether a preset is asked for: a file of TOML, or a name that is no file."""
    if file.suffix == ".toml":
        return True
    if file.exists() or file.name != str(file) or file.suffix:
        return False
    names = preset_names(*EVERY)
    if str(file) not in names:
        raise ParameterError(f"{file}: no such file, nor a preset; presets: {', '.join(names)}")
    return True


def _show_preset(name: str, settings: list[str], *, json: bool) -> None:
    """Print each key of a preset with where its value comes from."""
    overrides = parse_overrides(settings)
    preset = load_any(name, overrides)
    _, found = resolved(name, overrides)
    if json:
        print_json({key: {"value": getattr(preset, key), "source": made.source} for key, made in found.items()})
        return
    widths = max(map(len, found)), max(len(made.source) for made in found.values())
    for key, made in found.items():
        print(f"{key:<{widths[0]}}  {made.source:<{widths[1]}}  {_toml(getattr(preset, key))}")


def _toml(value: object) -> str:
    """Write a value as a preset's file does."""
    return dumps(list(value) if isinstance(value, tuple) else value)


def _words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(map(str, value)) or "none"
    return str(value)
