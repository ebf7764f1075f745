# SPDX-License-Identifier: Apache-2.0
"""`ringsmith convert`: parameters, keys and ciphertexts between ringsmith's bytes and those of other libraries."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from ringsmith.cli.common import policy, print_json
from ringsmith.errors import InputError
from ringsmith.files import replacing
from ringsmith.interchange.objects import FORMATS, object_bytes, read_context, read_file, write_object
from ringsmith.interchange.ring import Object

EXAMPLES = """Examples:

ringsmith convert parms.seal --to ringsmith -o set.rsp

ringsmith convert relin.seal --to ringsmith --parameters parms.seal -o relin.rsk

ringsmith convert result.rsc --to seal --parameters set.rsp -o result.seal

ringsmith convert answer.seal --to ringsmith --parameters set.rsp --owner public.rsk

ringsmith convert relin.bin --to ringsmith --parameters relin.bin -o relin.rsk

ringsmith convert result.rsc --to openfhe --parameters relin.bin -o result.bin
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(name="convert", epilog=EXAMPLES)(convert)


def convert(
    file: Annotated[Path, typer.Argument(help="parameters, public, relinearization or rotation keys, a ciphertext")],
    to: Annotated[str, typer.Option("--to", help=f"format to write: {', '.join(FORMATS)}")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="file to write (default: FILE with the format as suffix)")
    ] = None,
    parameters: Annotated[
        Path | None, typer.Option("--parameters", help="parameters that a key or ciphertext belongs to, in any format")
    ] = None,
    owner: Annotated[
        Path | None,
        typer.Option("--owner", help="a key or ciphertext of ringsmith's, whose key identity the object gets"),
    ] = None,
    scale_bits: Annotated[
        float | None, typer.Option("--scale-bits", help="log2 of the scale of CKKS parameters that name none")
    ] = None,
    security: Annotated[int | None, typer.Option("--security", help="wanted bits: 128, 192 or 256")] = None,
    standard: Annotated[str | None, typer.Option("--standard", help="security table: 2024 or 2018")] = None,
    allow_insecure: Annotated[
        bool, typer.Option("--allow-insecure", help="accept parameters below the wanted security")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object on stdout")] = False,
) -> None:
    """Write an object of ringsmith in the format of SEAL or OpenFHE, or the other way round; its bytes say what it is.

    Secret keys are not converted: they stay where they were made.
    """
    if to not in FORMATS:
        raise InputError(f"--to {to}: {', '.join(FORMATS)}")
    judged = policy(security, standard, allow_insecure)
    scale = None if scale_bits is None else _scale(scale_bits)
    if parameters is None:
        context = read_context(file, judged, scale)
        found: Object = context
    else:
        context = read_context(parameters, judged, scale)
        whose = None if owner is None else read_file(owner, context)
        found = read_file(file, context, owner=whose)
    target = output or file.with_name(f"{file.name}.{to}")
    if target.resolve() == file.resolve():
        raise InputError(f"--output {target}: the file that is read; name another")
    data = write_object(found, context, to, object_bytes(parameters or file))
    with replacing(target) as out:
        out.write(data)
    facts = {"object": type(found).__name__, "format": to, "file": str(target), "bytes": len(data)}
    if json:
        print_json(facts)
    else:
        print(f"{facts['object']}: {target}, {len(data)} bytes")


def _scale(bits: float) -> float:
    if not (math.isfinite(bits) and 1 <= bits <= 120):
        raise InputError(f"--scale-bits {bits:g}: 1 to 120")
    return float(2.0**bits)
