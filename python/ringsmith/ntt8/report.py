# SPDX-License-Identifier: Apache-2.0
"""`ringsmith simulate` for the 8-point accelerators: one object, as JSON or as tables."""

from __future__ import annotations

import json as encoder
from typing import Any

from rich.console import Console
from rich.table import Table

from ringsmith.errors import InputError
from ringsmith.ntt8.preset import load_ntt8
from ringsmith.ntt8.ring import N
from ringsmith.ntt8.simulate import NOTICE, compare, simulate
from ringsmith.presets import parse_overrides


def simulate_ntt8(name: str, operation: str, n: int | None, settings: list[str], *, json: bool) -> int:
    """Measure and print; returns the exit status. An `encrypt` without `--json` shows all variants side by side."""
    if n not in (None, N):
        raise InputError(f"{name} transforms {N} points, not {n}")
    preset = load_ntt8(name, parse_overrides(settings))
    report = simulate(preset, operation)
    if json:
        print(encoder.dumps(report))
    elif operation == "encrypt" and not settings:
        side_by_side(compare())
    else:
        _print(report)
    return 0 if report["correct"] else 1


def side_by_side(reports: list[dict[str, Any]]) -> None:
    """The study's table: encryption by the processor alone and with each accelerator, at each one's clock."""
    table = Table(title=f"CKKS encryption, three transforms each. {NOTICE}")
    for column in ("variant", "MHz", "µs", "overlapped", "gain", "transactions", "cycles"):
        table.add_column(column, justify="left" if column == "variant" else "right")
    host = min(report["host"]["software_transforms_us"] for report in reports)
    table.add_row("processor alone", "-", f"{host:.1f}", *["-"] * 4)
    for report in reports:
        per = report["per_transform"]["alone"]
        count = per["writes"] + per["reads"] + per["beats"]
        table.add_row(
            report["preset"],
            f"{report['clock_mhz']:g}",
            f"{report['time_us']:.2f}",
            f"{report['time_us_overlapped']:.2f}",
            f"{report['overlap_gain']:.2f}×",
            f"{count:g}" + (f" ({per['polls']:g} polls)" if per["polls"] else ""),
            f"{per['cycles']:.1f}",
        )
    console = Console()
    console.print(table)
    console.print(
        "Every variant's ciphertexts are the same and decrypt. Bus cycles are those of an ideal AXI4-Lite master."
    )


def _print(report: dict[str, Any]) -> None:
    console = Console()
    mark = "correct" if report["correct"] else "WRONG"
    console.print(f"{report['preset']} {report['operation']}: {report['cycles']} cycles, {mark}", highlight=False)
    for key in ("predicted_cycles", "time_us", "time_us_overlapped", "overlap_gain", "accepts_every_cycles"):
        if report.get(key) is not None:
            console.print(f"  {key.replace('_', ' ')}: {report[key]:g}", highlight=False)
    for mode, per in report["per_transform"].items():
        line = ", ".join(f"{value:g} {name}" for name, value in per.items() if value)
        console.print(f"  per transform, {mode}: {line}", highlight=False)
