# SPDX-License-Identifier: Apache-2.0
"""`ringsmith compile`: a kernel as a program file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ringsmith.cli.common import console, load_kernels, option_changes, print_json, user_code
from ringsmith.cli.params import compiled
from ringsmith.errors import InputError
from ringsmith.files import check_place
from ringsmith.runtime.box import box
from ringsmith.runtime.describe import facts_of
from ringsmith.runtime.rounds import Rounds

EXAMPLES = """Examples:

ringsmith compile examples/kernels/matmul-plain-1x10.py -o matmul.rsp

ringsmith compile kernel.py --shape rows=285,30 --security 192 -o score.rsp

ringsmith show score.rsp

ringsmith run score.rsp --input rows=rows.csv
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(name="compile", epilog=EXAMPLES)(compile_)


def compile_(
    file: Annotated[Path, typer.Argument(help="Python file with a kernel")],
    output: Annotated[Path, typer.Option("--output", "-o", help="the program file to write")],
    kernel: Annotated[str | None, typer.Option("--kernel", help="name of the kernel (default: the first)")] = None,
    variant: Annotated[str | None, typer.Option("--variant", help="packing of the kernel (default: the first)")] = None,
    shapes: Annotated[
        list[str] | None,
        typer.Option("--shape", help="ARGUMENT=N,M,...: an open first extent (default: that of the sample data)"),
    ] = None,
    params: Annotated[str | None, typer.Option("--params", help="a named parameter set (default: chosen)")] = None,
    security: Annotated[int | None, typer.Option("--security", help="wanted bits: 128, 192 or 256")] = None,
    standard: Annotated[str | None, typer.Option("--standard", help="security table: 2024 or 2018")] = None,
    allow_insecure: Annotated[
        bool, typer.Option("--allow-insecure", help="accept parameters below the wanted security, and say so")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object on stdout")] = False,
) -> None:
    """Choose parameters for a kernel and write the program: all that a client and a server need, and no Python."""
    check_place(output)
    changes = option_changes(params, security, standard, allow_insecure)
    picked = load_kernels(file).pick(kernel, variant).options(**changes)
    with user_code(file), console().status("") as status:
        program = compiled(picked, _shapes(shapes or []), lambda text: status.update(Text(f"{picked.name}: {text}")))
    program.save(output)
    if json:
        print_json({"file": str(output), **facts_of(program)})
    else:
        deepest = program.deepest if isinstance(program, Rounds) else program
        print(box(deepest))
        what = f"{len(program.programs)} rounds, the deepest" if isinstance(program, Rounds) else "program"
        print(f"{output}: {output.stat().st_size} bytes, {what} {deepest.native.hash().hex()[:16]}", file=sys.stderr)


def _shapes(given: list[str]) -> dict[str, tuple[int, ...]]:
    found = {}
    for entry in given:
        name, _, extents = entry.partition("=")
        try:
            found[name] = tuple(int(extent) for extent in extents.split(",") if extent)
        except ValueError:
            raise InputError(f"--shape {entry}: ARGUMENT=N,M,... with whole numbers is needed") from None
    return found
