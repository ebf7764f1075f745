# SPDX-License-Identifier: Apache-2.0
"""`ringsmith simulate PRESET OP --on board:PORT`: an operation on a board, its port's time and the core's work apart.

A board records no instructions. Its counters tell the cycles in which its units computed, transfers left out; the model
predicts these.
"""

from __future__ import annotations

from typing import Any

from ringsmith.cli.measure import Whole, measure
from ringsmith.errors import InputError
from ringsmith.presets import Preset
from ringsmith.report import simulation
from ringsmith.runtime import board
from ringsmith.runtime.devices import OpenDevice, open_device
from ringsmith.runtime.ports import KIND, address

#: Units whose cycles a board's counters add up.
_UNITS = ("compute", "rns", "pointwise")


def is_board(on: str) -> bool:
    """Whether `--on` names a board."""
    return on.startswith(f"{KIND}:")


def measured_on_board(made: Preset, on: str, op: str, n: int, whole: Whole) -> dict[str, Any]:
    """Run an operation on the board that holds the preset's bitstream, and on the model, and return the report.

    Raises:
        InputError: more than one operation is asked for (`whole.batch`).
        DeviceError: no board answers, or it fails.
        ParameterError: another bitstream is on it.
    """
    if whole.batch != 1:
        raise InputError(f"--batch {whole.batch} is not measured on a board: one operation at a time")
    where = address(on.removeprefix(f"{KIND}:"))
    # The model refuses what the board would: before the port is opened.
    predicted = measure(open_device("model", made), op, n, whole)["profile"]
    opened = board.OpenBoard(where, board.open_for(made, where))
    before = opened.used
    outcome = measure(OpenDevice(where.name, made, opened.native), op, n, whole)
    after = opened.used
    port = {key: after[key] - before[key] for key in ("seconds", "frames", "resent")}
    cycles = after["busy_cycles"] - before["busy_cycles"]
    return {
        "preset": made.name,
        "engine": where.name,
        "operation": op,
        "n": n,
        "correct": outcome["correct"],
        "clock_mhz": opened.clock_mhz,
        "compute": {
            "cycles": cycles,
            "us": cycles / opened.clock_mhz,
            "predicted_cycles": sum(predicted[f"busy_{unit}"] for unit in _UNITS),
        },
        "port": {**port, **where.facts()},
    }


def show_board(report: dict[str, Any]) -> None:
    """Print the report as a table."""
    compute, port = report["compute"], report["port"]
    rows = {
        "result": "correct" if report["correct"] else "WRONG",
        "computing": f"{compute['cycles']:,} cycles, {compute['us']:,.1f} us at {report['clock_mhz']:g} MHz",
        "predicted": f"{compute['predicted_cycles']:,} cycles",
        "port": _port(port),
    }
    simulation.table(report, rows)


def _port(port: dict[str, Any]) -> str:
    """Say what a port took."""
    took = f"{port['seconds'] * 1e3:,.1f} ms"
    if "baud" in port:
        return f"{took} at {port['baud']:,} baud, {port['frames']:,} frames, {port['resent']:,} sent again"
    return f"{took}, {port['frames']:,} accesses"
