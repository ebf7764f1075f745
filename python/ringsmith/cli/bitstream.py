# SPDX-License-Identifier: Apache-2.0
"""`ringsmith bitstream PRESET --board BOARD -o DIR`: a preset as a board's bitstream, with open tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ringsmith.hw.board import load_pinout, write_bitstream
from ringsmith.hw.synth.place import Placer
from ringsmith.presets import load_any, parse_overrides

EXAMPLES = """Examples:

ringsmith bitstream ulx3s --board ulx3s-85f -o out: ten to twenty minutes, then load out/ulx3s-ulx3s-85f.bit

ringsmith bitstream ulx3s --board ulx3s-85f -o out --clock 40 --seeds 5

ringsmith bitstream ulx3s --board ulx3s-85f --set n_max=512 -o small --json

ringsmith bitstream ulx3s --board colorlight-i9 -o i9 --placer heap: the other way to place
"""

BoardName = Annotated[str, typer.Option("--board", help="Board of spec/pinouts, such as ulx3s-85f.")]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="Directory to write: new, empty, or a bitstream (--force).")
]
Clock = Annotated[
    float | None, typer.Option("--clock", help="MHz of the core, made by the PLL (default: the board's).", min=1)
]
Baud = Annotated[int | None, typer.Option("--baud", help="Rate of the serial port (default: the board's).", min=1)]
Seeds = Annotated[
    int, typer.Option("--seeds", help="Placements to try until one is routed and meets the clock.", min=1, max=99)
]
Seed = Annotated[int, typer.Option("--seed", help="The first placement's seed.", min=1, max=10_000)]
PlacerName = Annotated[Placer, typer.Option("--placer", help="static takes less wire; heap heeds the clock more.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a bitstream there, if unchanged; other files stay.")]


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("bitstream", help="Make a board's bitstream with open tools.", epilog=EXAMPLES)(bitstream)


def bitstream(
    preset: Annotated[str, typer.Argument(help="Preset name, or the path of a preset file.")],
    board: BoardName,
    output: Output,
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value; overrides the preset.")] = None,
    clock: Clock = None,
    baud: Baud = None,
    seeds: Seeds = 4,
    seed: Seed = 1,
    placer: PlacerName = Placer.STATIC,
    force: Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Synthesise, place at the board's pins, check the clock, pack."""
    made = write_bitstream(
        load_any(preset, parse_overrides(settings or [])),
        load_pinout(board),
        output,
        core_mhz=clock,
        baud=baud,
        seeds=range(seed, seed + seeds),
        placer=placer,
        force=force,
    )
    if as_json:
        print(json.dumps(made.to_dict()))
        return
    used = ", ".join(f"{of['used']:,} of {of['available']:,} {what}" for what, of in made.utilisation.items())
    print(f"{made.directory}/{made.name}.bit: {made.bytes:,} bytes for {made.board}")
    print(f"clock: {made.core_mhz:g} MHz asked for, {made.fmax_mhz:.2f} MHz reached (seed {made.seed})")
    print(f"uses {used}")
