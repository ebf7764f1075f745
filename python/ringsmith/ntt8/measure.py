# SPDX-License-Identifier: Apache-2.0
"""`ringsmith simulate` for the 8-point accelerators: one object, as JSON or as tables."""

from __future__ import annotations

import time
from typing import Any

from rich.table import Table

from ringsmith.cli.common import print_json
from ringsmith.errors import InputError
from ringsmith.ntt8.preset import Ntt8Preset
from ringsmith.ntt8.ring import N
from ringsmith.ntt8.simulate import NOTICE, compare, simulate
from ringsmith.report import simulation
from ringsmith.report.terminal import plain_console

EXPLANATION = (
    "Simulated at each accelerator's clock (the study's for cn, pn1 and pn3). fabric: cycles in which a transform "
    "computes; bus: the rest, by a master that loses no cycle. Overlapped: the next input is sent while a transform "
    "runs, which saves the polls; through AXI4-Stream a polynomial is one beat and transforms follow each other.\n"
    "* In Python on this computer, as is the rest of an encryption (sampling, encoding, products: {host:.1f} µs). The "
    "study's Cortex-A9 takes 33.21 µs in all, 17.42 µs with cn."
)


def measured(preset: Ntt8Preset, operation: str, n: int | None, *, every_variant: bool, json: bool) -> int:
    """Measure and print; returns the exit status. `every_variant`: all that ship, side by side as in the study."""
    if n not in (None, N):
        raise InputError(f"{preset.name} transforms {N} points, not {n}")
    if every_variant:
        reports = compare()
        side_by_side(reports)
        return 0 if all(report["correct"] for report in reports) else 1
    begin = time.perf_counter()
    outcome = simulate(preset, operation)
    cycles = outcome.pop("simulated_cycles")
    report = {
        **simulation.head(preset, f"rtl:{preset.name}", operation, N, outcome),
        "moduli_bits": [preset.prime.bit_length()],
        **{key: value for key, value in outcome.items() if key not in simulation.HEAD},
        "simulation": simulation.speed(time.perf_counter() - begin, cycles),
    }
    if json:
        print_json(report)
    else:
        simulation.show(report, _rows(report))
    return 0 if report["correct"] else 1


def side_by_side(reports: list[dict[str, Any]]) -> None:
    """The study's table: encryption by the processor alone and with each accelerator, at each one's clock."""
    times = Table(title="Transforms of one encryption, in µs (three of degree 8)", title_justify="left")
    for column in ("", "MHz", "one by one", "fabric", "bus", "overlapped", "gain"):
        times.add_column(column, justify="right" if column else "left", no_wrap=True)
    alone = min(report["split"]["processor_us"] for report in reports)
    times.add_row("processor alone*", "-", f"{alone:.2f}", *["-"] * 4)
    traffic = Table(title="On the bus, for each transform", title_justify="left")
    for column in ("", "writes", "reads", "(polls)", "beats", "cycles", "overlapped"):
        traffic.add_column(column, justify="right" if column else "left", no_wrap=True)
    for report in reports:
        split, per = report["split"], report["per_transform"]
        times.add_row(
            report["preset"],
            f"{report['clock_mhz']:g}",
            f"{report['time_us']:.2f}",
            f"{split['fabric_us']:.2f}",
            f"{split['bus_us']:.2f}",
            f"{report['time_us_overlapped']:.2f}",
            f"{report['overlap_gain']:.2f}×",
        )
        counts = [per["alone"][name] for name in ("writes", "reads", "polls", "beats", "cycles")]
        traffic.add_row(report["preset"], *map("{:g}".format, counts), f"{per['overlapped']['cycles']:.1f}")
    host = min(report["split"]["host_us"] for report in reports)
    console = plain_console()
    console.print(NOTICE, style="bold yellow")
    console.print(times)
    console.print(traffic)
    console.print(EXPLANATION.format(host=host))
    wrong = [report["preset"] for report in reports if not report["correct"]]
    console.print(f"WRONG results from {', '.join(wrong)}" if wrong else "All ciphertexts are equal and decrypt.")


def _rows(report: dict[str, Any]) -> dict[str, str]:
    keys = ("time_us_overlapped", "overlap_gain", "accepts_every_cycles")
    rows = {key.replace("_", " "): f"{report[key]:g}" for key in keys if key in report}
    for mode, per in report["per_transform"].items():
        counts = ", ".join(f"{value:g} {name}" for name, value in per.items() if value)
        rows[f"per transform, {mode}"] = counts
    return rows
