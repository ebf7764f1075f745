# SPDX-License-Identifier: Apache-2.0
"""`ringsmith params`: the parameter box of a kernel, why that set, and alternatives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from ringsmith.cli.common import console, load_kernels, option_changes, print_json, user_code
from ringsmith.compiler.rounds import ClientAidedError
from ringsmith.errors import RingsmithError
from ringsmith.progress import Told, telling
from ringsmith.runtime.box import box, by_line, depth_of, guarantees, others_of, refreshes, why
from ringsmith.runtime.cost import amount
from ringsmith.runtime.kernel import Kernel
from ringsmith.runtime.program import Program
from ringsmith.runtime.report import params_json
from ringsmith.runtime.rounds import Rounds
from ringsmith.runtime.runner import complete_inputs

EXAMPLES = """Examples:

ringsmith params examples/kernels/matmul-plain-1x10.py

ringsmith params kernel.py --security 192

ringsmith params kernel.py --standard 2018 --json
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(name="params", epilog=EXAMPLES)(params)


def params(
    file: Annotated[Path, typer.Argument(help="Python file with a kernel")],
    kernel: Annotated[str | None, typer.Option("--kernel", help="name of the kernel (default: the first)")] = None,
    variant: Annotated[str | None, typer.Option("--variant", help="packing of the kernel (default: the first)")] = None,
    security: Annotated[int | None, typer.Option("--security", help="wanted bits: 128, 192 or 256")] = None,
    standard: Annotated[str | None, typer.Option("--standard", help="security table: 2024 or 2018")] = None,
    chosen_set: Annotated[str | None, typer.Option("--params", help="look at a named set instead of choosing")] = None,
    allow_insecure: Annotated[
        bool, typer.Option("--allow-insecure", help="accept parameters below the wanted security, and say so")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object on stdout")] = False,
) -> None:
    """Print the parameters of a kernel, why they were chosen, their security, alternatives, and what a run costs."""
    changes = option_changes(chosen_set, security, standard, allow_insecure)
    picked = load_kernels(file).pick(kernel, variant).options(**changes)
    with user_code(file), console().status("") as status:
        made = compiled(picked, {}, lambda text: status.update(Text(f"{picked.name}: {text}")))
        program = made.deepest if isinstance(made, Rounds) else made
        closer = closer_set(picked, program)
    if json:
        print_json(_facts(program) | {"smaller_tolerance": closer})
    else:
        print(box(program))
        if closer:
            print(closer)
        print(program.cost())


def compiled(kernel: Kernel, shapes: Mapping[str, tuple[int, ...]], progress: Told | None = None) -> Program | Rounds:
    """Compile for these shapes and the declared ones, or for those of the sample data where one is left open."""
    if any(None in argument.shape and name not in shapes for name, argument in kernel.arguments.items()):
        arrays = complete_inputs(kernel, {}, None)
        shapes = {name: array.shape for name, array in arrays.items()} | dict(shapes)
    with telling(progress):
        try:
            return kernel.compile(**shapes)
        except ClientAidedError:
            return kernel.rounds(**shapes)


def closer_set(kernel: Kernel, program: Program) -> str:
    """Return what a refreshed kernel would cost with a tolerance that its set does not reach; nothing for others."""
    tolerance = float(f"{2.0**program.noise_bits / 2:.2g}")
    shapes = {name: argument.fix(name, None) for name, argument in program.signature.declared.items()}
    if not program.native.refreshes or kernel.params is not None:
        return ""
    try:
        other = compiled(kernel.options(tolerance=tolerance), shapes)
    except RingsmithError:
        return f"a tolerance of {tolerance:g} is beyond every set: this one reaches {2.0**program.noise_bits:.2g}"
    assert isinstance(other, Program)
    size, count = amount(other.keys.nbytes(other.params)), other.native.refreshes
    taken = f"{other.params.name}, n = {other.params.n}: {count} refreshes, keys of {size}"
    return f"a tolerance of {tolerance:g} would take {taken}"


def _facts(program: Program) -> dict[str, Any]:
    """Return the box as one JSON object."""
    others = others_of(program)
    return {
        "kernel": program.signature.name,
        "variant": program.signature.variant,
        "scheme": program.params.scheme,
        "params": params_json(program.params),
        "depth": depth_of(program),
        "operations": program.counts,
        "rotations": list(program.native.rotations()),
        "swap_rows": program.native.required_keys()["swap_rows"],
        "keys": {"sent": program.keys.nbytes(program.params), "memory": program.native.cost()["keys"]},
        "evaluation": program.cost().to_json(),
        "refreshes": refreshes(program),
        "guarantees": guarantees(program),
        "why": why(program),
        "cost": [
            {"file": c.where.file, "line": c.where.line, "key_switches": c.key_switches, "products": c.products}
            for c in by_line(program)
        ],
        "layouts": [
            {"decisions": dict(note.decisions), "price": note.price, "key_switches": note.key_switches}
            for note in program.layouts
        ],
        "alternatives": [
            {"name": o.name, "n": o.n, "moduli_bits": list(o.bits), "log2_qp": sum(o.bits), "note": o.note}
            for o in others
        ],
    }
