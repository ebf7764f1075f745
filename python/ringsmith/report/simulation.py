# SPDX-License-Identifier: Apache-2.0
"""The report of `ringsmith simulate` for a preset of any top: its head as data, and the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from ringsmith.presets import AnyPreset
from ringsmith.report.terminal import plain_console

#: The figures of a measurement of any operation.
HEAD = ("cycles", "predicted_cycles", "correct")


def head(preset: AnyPreset, engine: str, operation: str, n: int, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Return what every report begins with; `outcome` has cycles, predicted_cycles (None: no formula) and correct."""
    cycles, predicted, clock = outcome["cycles"], outcome["predicted_cycles"], preset.clock_mhz[-1]
    error = None if predicted is None else 100 * (predicted - cycles) / max(cycles, 1)
    return {
        "preset": preset.name,
        "engine": engine,
        "operation": operation,
        "n": n,
        "cycles": cycles,
        "predicted_cycles": predicted,
        "prediction_error_percent": error,
        "correct": outcome["correct"],
        "clock_mhz": clock,
        "time_us": cycles / clock,
        "time_us_by_clock": {f"{mhz:g}": cycles / mhz for mhz in preset.clock_mhz},
    }


def speed(wall_s: float, cycles: int) -> dict[str, Any]:
    """Return how long a simulation took, by its clock cycles; 0 cycles: nothing was simulated."""
    return {"wall_s": wall_s, "cycles": cycles, "kcycles_per_s": cycles / wall_s / 1e3 if cycles else None}


def show(report: Mapping[str, Any], rows: Mapping[str, str]) -> None:
    """Print the head of a report as a table, `rows` behind it."""
    first = {"cycles": f"{report['cycles']:,}"}
    if report["predicted_cycles"] is not None:
        first["predicted"] = f"{report['predicted_cycles']:,} ({report['prediction_error_percent']:+.2f} %)"
    first["result"] = "correct" if report["correct"] else "WRONG"
    for clock, time_us in report["time_us_by_clock"].items():
        first[f"time at {clock} MHz"] = f"{time_us:,.1f} us"
    table(report, {**first, **rows})


def table(report: Mapping[str, Any], rows: Mapping[str, str]) -> None:
    """Print rows as a table that is named after what was measured: `engine`, `operation` and `n` of the report."""
    made = Table(title=f"{report['engine']}: {report['operation']}, n = {report['n']}", show_header=False)
    for name, value in rows.items():
        made.add_row(name, value)
    plain_console().print(made)
