# SPDX-License-Identifier: Apache-2.0
"""`ringsmith synth`: resources of a design by module, cell area, placed-and-routed clock, utilisation of a board."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from ringsmith.cli.synth_cells import CellOptions, synth_cells
from ringsmith.errors import InputError, ParameterError
from ringsmith.hw.synth import Board, Design, Family, load_board, synthesise
from ringsmith.hw.synth.cells import Resources
from ringsmith.hw.synth.liberty import cell_area
from ringsmith.hw.synth.place import Placer, median_of
from ringsmith.hw.synth.targets import design_of
from ringsmith.report.terminal import plain_console

NOT_AVAILABLE = "not available: no open place and route for this family"
EXAMPLES = """Examples:

ringsmith synth bfv-client: UltraScale+ resources by module

ringsmith synth zynq-pn3 --family ecp5 --place: the same, and the clock after place and route

ringsmith synth butterfly --set word_bits=60: a part alone

ringsmith synth cofhee --board vu9p-f1 --json: used, available, percent

ringsmith synth tiny --liberty cells.lib: standard-cell area

ringsmith synth bfv-client --cells --operation zero-encrypt --scale 28,0.64
"""


Seeds = Annotated[int, typer.Option(help="With --place: the median of this odd number of seeds.", min=1, max=99)]
PlacerName = Annotated[
    Placer | None, typer.Option(help="With --place: heap (default) for speed, static for congested designs.")
]
Cells = Annotated[
    bool, typer.Option("--cells", help="Standard cells instead: area, clock, power (180 nm, or --liberty's).")
]
Operation = Annotated[
    str | None, typer.Option(help="With --cells: OP of ringsmith simulate whose energy to estimate (default: ntt).")
]
Route = Annotated[str, typer.Option(help="Activity from the rtl's waveform or a simulation of the netlist.")]
ByModule = Annotated[
    bool, typer.Option("--by-module", help="With --cells: each module once, for large designs; without a clock.")
]
Insecure = Annotated[bool, typer.Option("--allow-insecure", help="With --operation: accept a set below 128 bits.")]


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("synth", help="Size a design with open tools.", epilog=EXAMPLES)(synth)


def synth(
    design: Annotated[str, typer.Argument(help="A preset, a preset file, or a part such as butterfly.")],
    family: Annotated[str | None, typer.Option(help="xcup, xc7 or ecp5 (default: the board's, else xcup).")] = None,
    board: Annotated[str | None, typer.Option(help="Compare with a board of spec/boards.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value, repeatable.")] = None,
    liberty: Annotated[Path | None, typer.Option(help="Give the cell area with this liberty file instead.")] = None,
    placed: Annotated[bool, typer.Option("--place", help="Place and route too (ecp5; up to an hour).")] = False,
    seeds: Seeds = 1,
    placer: PlacerName = None,
    uram: Annotated[bool, typer.Option("--uram", help="Let large memories become URAM (xcup).")] = False,
    cells: Cells = False,
    operation: Operation = None,
    n: Annotated[int | None, typer.Option("--n", help="With --operation: ring degree (default: at most 4096).")] = None,
    primes: Annotated[int | None, typer.Option(help="With --operation: data primes.", min=1, max=32)] = None,
    route: Route = "rtl",
    waveform: Annotated[Path | None, typer.Option(help="With --cells: activity from this VCD file.")] = None,
    by_module: ByModule = False,
    scale: Annotated[str | None, typer.Option(help="With --cells: scale the figures to the node NM,VOLT.")] = None,
    allow_insecure: Insecure = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Synthesise, count, compare."""
    chosen = design_of(design, settings or [])
    if cells:
        if family or board or placed or placer or uram:
            raise InputError("--cells is no FPGA: without --family, --board, --place, --placer and --uram")
        options = CellOptions(
            liberty=liberty,
            operation=operation,
            n=n,
            primes=primes,
            waveform=waveform,
            route=route,
            scale=scale,
            allow_insecure=allow_insecure,
            by_module=by_module,
        )
        synth_cells(design, settings or [], chosen, options, as_json=as_json)
        return
    if operation or n or primes or waveform or scale or allow_insecure or by_module or route != "rtl":
        raise InputError(
            "--operation, --n, --primes, --route, --waveform, --by-module, --scale and --allow-insecure go with --cells"
        )
    device = load_board(board) if board is not None else None
    target = _family(family, device)
    if liberty is not None:
        _print({"design": chosen.name, "liberty": str(liberty), **cell_area(chosen, liberty)}, as_json=as_json)
        return
    place = _placement(placed, seeds, placer, target)
    report: dict[str, Any] = {"design": chosen.name, "top": chosen.top, "family": str(target)}
    report |= synthesise(chosen, target, uram=uram or bool(device and device.uram and target is Family.XCUP))
    report |= place.clock(chosen)
    overflow = _beside(report, device)
    _print(report, as_json=as_json)
    if overflow is not None:
        raise ParameterError(f"{chosen.name} does not fit: {overflow}")


@dataclass(frozen=True)
class Placement:
    """Whether and how a design is placed; `why` says why it is not."""

    seeds: int
    placer: Placer
    why: str | None

    def clock(self, design: Design) -> dict[str, Any]:
        """Return the clock after place and route, the median of the seeds."""
        if self.why is not None:
            return {"fmax_mhz": None, "fmax": self.why}
        return median_of(design, range(1, self.seeds + 1), placer=self.placer)


def _placement(placed: bool, seeds: int, placer: Placer | None, target: Family) -> Placement:
    if placed and target is not Family.ECP5:
        raise InputError(f"--place needs --family ecp5: {NOT_AVAILABLE} ({target})")
    if seeds != 1 and not placed:
        raise InputError(f"--seeds {seeds} goes with --place")
    if placer is not None and not placed:
        raise InputError(f"--placer {placer} goes with --place")
    if seeds % 2 == 0:
        raise InputError(f"--seeds {seeds}: an odd number, so that one of them is the median")
    why = "not asked for: --place" if target is Family.ECP5 else NOT_AVAILABLE
    return Placement(seeds, placer or Placer.HEAP, None if placed else why)


def _beside(report: dict[str, Any], board: Board | None) -> str | None:
    """Add what a board has to the report; return what does not fit."""
    if board is None:
        return None
    used = Resources(**report["total"])
    report["board"] = board.name
    report["utilisation"] = [
        {"resource": name, "used": amount, "available": available, "percent": percent}
        for name, amount, available, percent in board.utilisation(used)
    ]
    return board.overflow(used)


def _family(name: str | None, board: Board | None) -> Family:
    if name is None:
        return Family(board.family) if board is not None else Family.XCUP
    if name not in set(Family):
        raise InputError(f"--family {name}: no such family; there is {', '.join(Family)}")
    if board is not None and board.family != name:
        raise InputError(f"--family {name} contradicts --board {board.name}, which is {board.family}")
    return Family(name)


def _print(report: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report))
        return
    console = plain_console()
    if "area" in report:
        console.print(f"{report['design']}: cell area {report['area']:g} (in the unit of {report['liberty']})")
        return
    console.print(_modules(report))
    console.print(f"clock after place and route: {_clock(report)}")
    if report.get("critical"):
        console.print(f"critical path: {report['critical']}")
    for row in report.get("utilisation", []):
        percent = "-" if row["percent"] is None else f"{row['percent']:.1f} %"
        console.print(f"{report['board']}: {row['resource']:7} {row['used']:>9g} of {row['available']:>9g}  {percent}")


def _modules(report: dict[str, Any]) -> Table:
    """The resources by module and in all."""
    columns = ("lut", "ff", "dsp", "bram36", "uram")
    table = Table(
        title=f"{report['design']} on {report['family']}", caption="of one instance each; the total counts all"
    )
    table.add_column("module")
    for name in ("instances", *columns):
        table.add_column(name, justify="right")
    for row in report["modules"]:
        table.add_row(row["module"], str(row["instances"]), *(f"{row[name]:g}" for name in columns))
    table.add_section()
    table.add_row("total", "", *(f"{report['total'][name]:g}" for name in columns), style="bold")
    return table


def _clock(report: dict[str, Any]) -> str:
    """The clock with what it is of, or why there is none."""
    fmax: str = report.get("fmax", "")
    if report["fmax_mhz"]:
        fmax = f"{report['fmax_mhz']} MHz on {report['device']}, {report['placer']} placer"
    if len(report.get("seeds", {})) > 1:
        fmax += f", the median of {', '.join(f'{mhz:g}' for mhz in report['seeds'].values())} (seeds 1, 2, ...)"
    if report.get("chained_pins"):
        fmax += f"; a register at each of its {report['chained_pins']} pins, more than a package has"
    return fmax
